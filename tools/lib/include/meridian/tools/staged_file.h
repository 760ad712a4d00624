// SPDX-License-Identifier: MIT
#pragma once
/// A large output written piece by piece beside its target, flushed to disk, and put in the target's place when it is
/// whole. write_file() is for outputs that fit into memory.
///
///   StagedFile file("world.mpk");
///   file.append(first);
///   file.write_at(0, header);                      // what is known last may stand first
///   WriteResult result = file.commit(WriteMode::always);

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "meridian/tools/file_io.h"

namespace meridian::tools {

/// Whatever ends the process, the target is the old file or the new one. A kill leaves nothing where the system knows
/// files without a name, else perhaps a temporary file. The first error sticks: later calls do nothing, commit() tells.
/// Threads: main.
class StagedFile {
 public:
  /// Links are followed. Errors: what open says; EISDIR for a folder, ESPIPE for what has no places, as a pipe.
  explicit StagedFile(const std::string& target);
  /// Without commit() nothing is left.
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  /// Writes behind all that was written. Blocks of zeros become holes where the file system has them.
  void append(std::span<const std::byte> bytes);
  /// Zeros up to the next multiple of `alignment`.
  void pad_to(uint64_t alignment);
  /// Requires: offset + bytes.size() <= size().
  void write_at(uint64_t offset, std::span<const std::byte> bytes);

  uint64_t size() const { return size_; }
  int error() const { return error_; }  ///< errno's value, 0: none so far

  /// Flushes file, then folder, so that after a loss of power too the target is one of the two.
  /// if_changed compares with the target first and leaves an equal one alone.
  WriteResult commit(WriteMode mode);

 private:
  struct Stage;
  bool equals_target() const;
  void put(uint64_t offset, std::span<const std::byte> bytes);

  std::unique_ptr<Stage> stage_;
  uint64_t size_ = 0;
  int error_ = 0;
};

}  // namespace meridian::tools
