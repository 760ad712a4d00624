// SPDX-License-Identifier: MIT
#pragma once
/// How names and kinds of packs look to people, and the table of names in a pack.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/schemas/pack_generated.h"
#include "meridian/tools/pack_writer.h"

namespace meridian::tools {

/// The four letters, or 0x and 8 digits where they are no letters or digits of ASCII.
std::string kind_text(uint32_t kind);
/// Control characters as \xNN: a name out of a pack shall not talk to the terminal.
std::string printable(std::string_view text);
/// "IMAP 'town'", or "IMAP hash_1A2B3C4D" where there is no text.
std::string pack_name_text(uint32_t kind, NameHash name, std::string_view text);
inline std::string pack_name_text(const PackInput& input) { return pack_name_text(input.kind, input.name, input.text); }

struct PackName {
  uint32_t hash = 0;
  std::string text;
};

/// Sorted by hash, each once, in the spelling that sorts first. `collision` is told of two different names of one hash,
/// and does not return.
flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::NameEntry>>> build_pack_names(
    flatbuffers::FlatBufferBuilder& builder, std::vector<PackName> names,
    const std::function<void(std::string)>& collision);

}  // namespace meridian::tools
