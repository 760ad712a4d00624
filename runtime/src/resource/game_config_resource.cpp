// SPDX-License-Identifier: MIT
#include "meridian/resource/game_config_resource.h"

#include "meridian/resource/file_mapping.h"
#include "meridian/resource/resource.h"
#include "resource/game_config_rows.h"

namespace meridian {
namespace {

Status load_file(GameConfig& config, const char* path, const ConfigTarget& target, const GameConfigOptions& options,
                 Allocator& scratch, bool& missing) {
  const Result<FileMapping> file = FileMapping::open(path);
  missing = file.status().code == StatusCode::not_found;
  return file.ok() ? load_game_config(config, file.value().bytes(), target, options, scratch) : file.status();
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
