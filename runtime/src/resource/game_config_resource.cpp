// SPDX-License-Identifier: MIT
#include "meridian/resource/game_config_resource.h"

#include <cerrno>

#include "meridian/resource/resource.h"
#include "resource/file_bytes.h"
#include "resource/game_config_rows.h"

namespace meridian {
namespace {

bool is_missing(const Status& status) {
  return status.code == StatusCode::not_found && (status.detail == ENOENT || status.detail == ENOTDIR);
}

Status load_file(GameConfig& config, const char* path, const ConfigTarget& target, const GameConfigOptions& options,
                 Allocator& scratch, bool& missing) {
  detail::FileBytes file(scratch);
  const Status status = file.read(path);
  missing = is_missing(status);
  return status.ok() ? load_game_config(config, file.bytes(), target, options, scratch) : status;
}

}  // namespace

Status load_game_config(GameConfig& config, std::span<const std::byte> bytes, const ConfigTarget& target,
                        const GameConfigOptions& options, Allocator& scratch) {
  const Result<Resource> opened = open_resource(bytes, {.kind = kind_of("GCFG")});
  if (!opened.ok()) return opened.status();
  detail::GameConfigRows rows(scratch);
  if (const Status status = rows.read(opened.value()); !status.ok()) return status;
  return config.load(rows.sources(), target, options);
}

Status load_game_config(GameConfig& config, const GameConfigFiles& files, const ConfigTarget& target,
                        const GameConfigOptions& options, Allocator& scratch) {
  bool missing = false;
  if (files.alternative != nullptr && files.alternative[0] != '\0') {
    const Status status = load_file(config, files.alternative, target, options, scratch, missing);
    if (!missing) return status;
    log_message(LogLevel::warning, {}, "there is no game configuration '%s'; '%s' is used instead", files.alternative,
                files.path);
  }
  return load_file(config, files.path, target, options, scratch, missing);
}

}  // namespace meridian
