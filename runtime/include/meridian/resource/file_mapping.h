// SPDX-License-Identifier: MIT
#pragma once
/// A whole file as memory, read-only: how a pack is used where it lies on disk. Nothing is read at open; pages come
/// when they are touched, and the system drops them again when it wants the memory.
///
///   Result<FileMapping> file = FileMapping::open("world.mpk");
///   if (file.ok()) {
///     std::span<const std::byte> bytes = file.value().bytes();   // page-aligned, until `file` goes
///   }
///
/// A mapped file must not get shorter: touching what is gone is SIGBUS. Replace a file by rename, as our tools do, and
/// the mapping keeps the old one.
///
/// Threads: open is reentrant; the bytes are immutable.
/// Memory:  address space only; no allocation.

#include <cstddef>
#include <span>

#include "meridian/base/status.h"

namespace meridian {

class FileMapping {
 public:
  FileMapping() = default;
  ~FileMapping() { close(); }
  FileMapping(FileMapping&& other) noexcept;
  FileMapping& operator=(FileMapping&& other) noexcept;
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  /// Maps a file. Nobody keeps the path; messages do not hold it.
  /// Errors: not_found; wrong_kind (a folder, a pipe or a device); too_small (it is empty); out_of_memory (no address
  ///         space); io_error (may not be read, or the system failed; `detail` is errno's value).
  static Result<FileMapping> open(const char* path);

  /// The file as it was at open; empty where nothing is open.
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Gives the memory back; nothing may use the bytes afterwards.
  void close();

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace meridian
