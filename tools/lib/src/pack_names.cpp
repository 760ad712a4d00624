// SPDX-License-Identifier: MIT
#include "pack_names.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "raw_hash.h"
#include "text_values.h"

namespace meridian::tools {

uint64_t raw_hash(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string kind_text(uint32_t kind) {
  std::string letters;
  for (uint32_t shift = 0; shift < 32; shift += 8) {
    const char c = static_cast<char>(kind >> shift & 0xFF);
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (!plain) {
      char number[16];
      std::snprintf(number, sizeof number, "0x%08X", kind);
      return number;
    }
    letters += c;
  }
  return letters;
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F) {
      out += c;
      continue;
    }
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\x%02X", byte);
    out += escape;
  }
  return out;
}

std::string pack_name_text(uint32_t kind, NameHash name, std::string_view text) {
  std::string out = kind_text(kind) + " ";
  if (!text.empty()) return out + "'" + printable(text) + "'";
  append_hash_literal(out, name.value);
  return out;
}

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::NameEntry>>> build_pack_names(
    flatbuffers::FlatBufferBuilder& builder, std::vector<PackName> names,
    const std::function<void(std::string)>& collision) {
  std::sort(names.begin(), names.end(), [](const PackName& a, const PackName& b) {
    return std::pair(a.hash, std::string_view(a.text)) < std::pair(b.hash, std::string_view(b.text));
  });
  std::vector<flatbuffers::Offset<schema::NameEntry>> rows;
  const PackName* last = nullptr;
  for (const PackName& name : names) {
    if (last != nullptr && last->hash == name.hash) {
      if (fold(last->text) != fold(name.text))
        collision("the names '" + last->text + "' and '" + name.text + "' have the same hash");
      continue;
    }
    rows.push_back(schema::CreateNameEntry(builder, name.hash, builder.CreateString(name.text)));
    last = &name;
  }
  return builder.CreateVector(rows);
}

}  // namespace meridian::tools
