// SPDX-License-Identifier: MIT
#pragma once
/// The configurations of a .gcfg as plain rows, for GameConfig::load().
///
/// Threads: reentrant. Memory: two arrays, through the allocator.

#include <cstddef>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/core/game_config.h"
#include "meridian/resource/resource.h"

namespace meridian::detail {

/// Rows point into the resource, which must outlive them.
class GameConfigRows {
 public:
  explicit GameConfigRows(Allocator& allocator) : allocator_(allocator) {}
  ~GameConfigRows();
  GameConfigRows(const GameConfigRows&) = delete;
  GameConfigRows& operator=(const GameConfigRows&) = delete;

  /// Requires: opened as GCFG by the built-in schema; called once.
  /// Errors:   out_of_memory.
  Status read(const Resource& resource);
  std::span<const ConfigSource> sources() const { return sources_; }

 private:
  Allocator& allocator_;
  std::span<ConfigSource> sources_{};
  std::span<ConfigValue> values_{};
};

}  // namespace meridian::detail
