// SPDX-License-Identifier: MIT
#pragma once
/// Loads a compiled game configuration (.gcfg) into a GameConfig. The file has the list of all configurations with
/// their filters; those for the target are selected and merged here (core/game_config.h says how), and the file is let
/// go.
///
///   GameConfig config;
///   ConfigTarget target;
///   (void)set_build(target, "final");
///   target.platform = find_config_platform("x64");
///   Status status = load_game_config(config, {.path = "common/gameconfig.gcfg"}, target);
///   if (!status.ok()) log_message(LogLevel::error, status.name, "no game configuration: %s", status.message);
///
/// Pools come from `pool_sizes`; every other member of schemas/meridian/gameconfig.fbs becomes a value under its path.
/// That goes by the schema itself, so a member that is added to it needs no code here.
///
/// Threads: as GameConfig: main.
/// Memory:  `scratch` gives the file's bytes and a table of rows, and has both back when the call returns.

#include <cstddef>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/core/game_config.h"

namespace meridian {

/// Merges what lies in memory. `bytes` may go afterwards.
/// Requires: bytes.data() is 16-aligned.
/// Errors:   as open_resource (layout_differs: see resource/convert.h), GameConfig::load; out_of_memory. On failure
///           `config` is as before.
Status load_game_config(GameConfig& config, std::span<const std::byte> bytes, const ConfigTarget& target,
                        const GameConfigOptions& options = {}, Allocator& scratch = default_allocator());

struct GameConfigFiles {
  const char* path = "";
  /// Taken instead of `path` if it exists; if not, that is said through the log, and `path` is taken. Null or empty:
  /// none. One that exists but is damaged is an error: whoever asked for it would not notice the other.
  const char* alternative = nullptr;
};

/// Reads and merges a file.
/// Errors: not_found, wrong_kind (no file), io_error, too_large, and those above.
Status load_game_config(GameConfig& config, const GameConfigFiles& files, const ConfigTarget& target,
                        const GameConfigOptions& options = {}, Allocator& scratch = default_allocator());

}  // namespace meridian
