// SPDX-License-Identifier: MIT
#include "meridian/resource/game_config_resource.h"

#include "base/posix_file.h"
#include "meridian/resource/resource.h"
#include "resource/game_config_rows.h"

namespace meridian {
namespace {

/// Reads the file: what stands loose on disk may be rewritten while a mapping is read.
Status load_file(GameConfig& config, const char* path, const ConfigTarget& target, const GameConfigOptions& options,
                 Allocator& scratch) {
  const detail::Descriptor file(detail::open_to_read(path));
  if (!file.is_open()) return detail::file_error(errno);
  const Result<size_t> size = detail::regular_size(file.number());
  if (!size.ok()) return size.status();
  if (size.value() > kMaxResourceBytes) {
    return {StatusCode::too_large, "file is larger than a resource; detail = its size", size.value()};
  }
  auto* const block = static_cast<std::byte*>(scratch.allocate(size.value(), kResourceAlignment));
  if (block == nullptr) return {StatusCode::out_of_memory, "no memory to read a file; detail = bytes", size.value()};
  const std::span<std::byte> bytes(block, size.value());
  Status status = detail::read_start(file.number(), bytes);
  if (status.ok()) status = load_game_config(config, bytes, target, options, scratch);
  scratch.deallocate(block, size.value(), kResourceAlignment);
  return status;
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
  if (files.alternative != nullptr && files.alternative[0] != '\0') {
    const Status status = load_file(config, files.alternative, target, options, scratch);
    if (status.code != StatusCode::not_found) return status;
    log_message(LogLevel::warning, {}, "there is no game configuration '%s'; '%s' is used instead", files.alternative,
                files.path);
  }
  return load_file(config, files.path, target, options, scratch);
}

}  // namespace meridian
