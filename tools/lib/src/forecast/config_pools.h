// SPDX-License-Identifier: MIT
#pragma once
// The sizes that a world's game configurations give to pools.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "meridian/tools/lint.h"
#include "meridian/tools/parsed_target.h"

namespace meridian::tools {

/// One entry of one configuration.
struct PoolEntry {
  const LintUnit* unit = nullptr;
  std::string path;  ///< of the size, in the unit's source
  uint32_t name = 0;
  int32_t size = 0;
};

class ConfigPools {
 public:
  /// `target` null: configurations for any build and platform, and no parameter.
  ConfigPools(const LintWorld& world, const ParsedTarget* target);

  /// What is in force under a name, by the order of layers, files and configurations.
  std::optional<uint64_t> size_of(std::string_view name) const;
  const PoolEntry* find(uint32_t name) const;

 private:
  std::unordered_map<uint32_t, PoolEntry> entries_;
};

/// All entries of a file that could be in force for somebody: those that a later configuration with the same filter
/// replaces are left out.
std::vector<PoolEntry> effective_entries(const LintUnit& config);

}  // namespace meridian::tools
