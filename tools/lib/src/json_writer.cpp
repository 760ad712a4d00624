// SPDX-License-Identifier: MIT
#include "meridian/tools/json_writer.h"

#include <cassert>
#include <charconv>
#include <cmath>

namespace meridian::tools {
namespace {

template <class T>
void append_number(std::string& out, T number) {
  char text[32];  // the longest is a double: sign, 17 digits, point, exponent of 5
  const auto result = std::to_chars(text, text + sizeof text, number);
  out.append(text, result.ptr);
}

bool is_continuation(unsigned char byte) { return (byte & 0xC0u) == 0x80u; }

/// Length of the well-formed UTF-8 sequence at `at` (Unicode, table 3-7), or 0.
size_t sequence_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xC2 && first <= 0xDF ? 2 : first >= 0xE0 && first <= 0xEF ? 3 : 4;
  if (first < 0xC2 || first > 0xF4 || text.size() - at < length) return 0;
  const unsigned char second = byte(1);
  // The second byte's range rules out overlong forms, surrogates and code points past U+10FFFF.
  if (first == 0xE0 && second < 0xA0) return 0;
  if (first == 0xED && second > 0x9F) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second > 0x8F) return 0;
  for (size_t i = 1; i < length; ++i)
    if (!is_continuation(byte(i))) return 0;
  return length;
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  constexpr char kHex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kHex[byte >> 4];
  out += kHex[byte & 15u];
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  size_t run = 0;  // start of what can be copied as it stands
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool plain_ascii = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
    const size_t length = plain_ascii ? 1 : sequence_length(text, at);
    if (plain_ascii || length > 1) {
      at += length;
      continue;
    }
    out.append(text.substr(run, at - run));
    if (length == 0)
      out += "\\ufffd";
    else
      append_escaped(out, text[at]);
    run = ++at;
  }
  out.append(text.substr(run));
  out += '"';
}

}  // namespace

void JsonWriter::newline() {
  if (indent_ == 0 || (!levels_.empty() && levels_.back().one_line)) return;
  out_ += '\n';
  out_.append(levels_.size() * static_cast<size_t>(indent_), ' ');
}

/// Writes the comma and line break that stand before a value; nothing after a key.
void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  Level& level = levels_.back();
  assert(!level.is_object && "a value in an object needs a key");
  if (!level.empty) out_ += indent_ != 0 && level.one_line ? ", " : ",";
  level.empty = false;
  newline();
}

void JsonWriter::begin_object() {
  before_value();
  out_ += '{';
  levels_.push_back({.is_object = true, .one_line = !levels_.empty() && levels_.back().one_line});
}

void JsonWriter::end_object() {
  assert(!levels_.empty() && levels_.back().is_object && !after_key_);
  const Level level = levels_.back();
  levels_.pop_back();
  // The closing brace stands on its own line only where the members do.
  if (!level.empty && !level.one_line) newline();
  out_ += '}';
}

void JsonWriter::begin_array(bool one_line) {
  before_value();
  out_ += '[';
  levels_.push_back({.is_object = false, .one_line = one_line || (!levels_.empty() && levels_.back().one_line)});
}

void JsonWriter::end_array() {
  assert(!levels_.empty() && !levels_.back().is_object && !after_key_);
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.empty && !level.one_line) newline();
  out_ += ']';
}

void JsonWriter::key(std::string_view name) {
  assert(!levels_.empty() && levels_.back().is_object && !after_key_);
  Level& level = levels_.back();
  if (!level.empty) out_ += indent_ != 0 && level.one_line ? ", " : ",";
  level.empty = false;
  newline();
  append_string(out_, name);
  out_ += indent_ == 0 ? ":" : ": ";
  after_key_ = true;
}

void JsonWriter::value(std::string_view text) {
  before_value();
  append_string(out_, text);
}

void JsonWriter::value(bool b) {
  before_value();
  out_ += b ? "true" : "false";
}

void JsonWriter::value(int64_t number) {
  before_value();
  append_number(out_, number);
}

void JsonWriter::value(uint64_t number) {
  before_value();
  append_number(out_, number);
}

void JsonWriter::value(float number) {
  if (!std::isfinite(number)) return null();  // JSON has no word for them
  before_value();
  append_number(out_, number);
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  before_value();
  append_number(out_, number);
}

void JsonWriter::null() {
  before_value();
  out_ += "null";
}

}  // namespace meridian::tools
