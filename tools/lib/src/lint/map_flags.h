// SPDX-License-Identifier: MIT
#pragma once
/// Flag words of maps as their content asks for. Shared by rules FLG001 and FLG002, `--fix` and `--flags`.

#include <cstdint>
#include <optional>

#include "meridian/tools/lint.h"

namespace meridian::tools {

/// The content bits that all tools compute alike.
uint32_t content_bits(const schema::MapData& map);
/// contentFlags with those bits put right; all others as authored.
uint32_t fixed_content_flags(const LintUnit& unit);
/// flags with bit 1 (parent) put right, where all maps are known.
std::optional<uint32_t> fixed_map_flags(const LintWorld& world, const LintUnit& unit);

}  // namespace meridian::tools
