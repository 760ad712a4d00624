// SPDX-License-Identifier: MIT
// REL-1: any text is refused with a place in it, or read; what was read and is written again reads as the same.

#include <string>
#include <string_view>

#include "fuzz/resource_input.h"
#include "meridian/tools/json_reader.h"
#include "meridian/tools/json_writer.h"

namespace {

using namespace meridian::tools;
using meridian::test::require;

/// Every value begins inside its parent, behind what stands before it.
void check_places(const JsonValue& value, size_t& last, size_t size) {
  require(value.offset >= last && value.offset < size);
  last = value.offset;
  for (const JsonValue& item : value.items) check_places(item, last, size);
  for (const JsonMember& member : value.members) {
    require(member.offset >= last && member.offset < member.value.offset);
    require(value.find(member.name) == &member.value);
    check_places(member.value, last, size);
  }
}

void write(const JsonValue& value, JsonWriter& to) {
  switch (value.kind) {
    case JsonValue::Kind::null:
      return to.null();
    case JsonValue::Kind::boolean:
      return to.value(value.boolean);
    case JsonValue::Kind::number:
      return to.value(value.number);
    case JsonValue::Kind::string:
      return to.value(value.text);
    case JsonValue::Kind::array:
      to.begin_array();
      for (const JsonValue& item : value.items) write(item, to);
      return to.end_array();
    case JsonValue::Kind::object:
      to.begin_object();
      for (const JsonMember& member : value.members) {
        to.key(member.name);
        write(member.value, to);
      }
      return to.end_object();
  }
}

bool same(const JsonValue& a, const JsonValue& b) {
  if (a.kind != b.kind || a.boolean != b.boolean || a.number != b.number || a.items.size() != b.items.size() ||
      a.members.size() != b.members.size() || (a.kind == JsonValue::Kind::string && a.text != b.text))
    return false;
  for (size_t i = 0; i < a.items.size(); ++i)
    if (!same(a.items[i], b.items[i])) return false;
  for (size_t i = 0; i < a.members.size(); ++i)
    if (a.members[i].name != b.members[i].name || !same(a.members[i].value, b.members[i].value)) return false;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);  // of just that size, for the sanitizers
  JsonValue value;
  JsonError error;
  if (!read_json(text, value, error)) {
    require(error.offset <= size && !error.message.empty());
    return 0;
  }
  size_t last = 0;
  check_places(value, last, size);
  std::string written;
  JsonWriter writer(written);
  write(value, writer);
  JsonValue again;
  require(read_json(written, again, error));
  require(same(value, again));
  return 0;
}
