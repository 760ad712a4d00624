// SPDX-License-Identifier: MIT
#pragma once
/// A small file read whole, aligned as resources must be. For what is read once at start; worlds are mapped.
///
/// Threads: reentrant. Memory: one block, through the allocator.

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/resource/resource.h"

namespace meridian::detail {

class FileBytes {
 public:
  explicit FileBytes(Allocator& allocator) : allocator_(allocator) {}
  ~FileBytes() { allocator_.deallocate(data_, capacity_, kResourceAlignment); }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

  /// Errors: not_found (detail = errno), too_large, out_of_memory. Requires: called once.
  Status read(const char* path) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return failed(errno);
    const Status status = read_all(file);
    ::close(file);
    return status;
  }

 private:
  static Status failed(int number) {
    return {StatusCode::not_found, "file cannot be opened or read; detail = errno", static_cast<uint64_t>(number)};
  }

  Status read_all(int file) {
    struct stat about = {};
    if (::fstat(file, &about) != 0) return failed(errno);
    if (S_ISDIR(about.st_mode)) return failed(EISDIR);
    const auto size = static_cast<uint64_t>(about.st_size);
    if (size > kMaxResourceBytes) return {StatusCode::too_large, "file is larger than a resource; detail = size", size};
    data_ = static_cast<std::byte*>(allocator_.allocate(size, kResourceAlignment));
    if (data_ == nullptr) return {StatusCode::out_of_memory, "no memory to read a file; detail = bytes", size};
    capacity_ = size;
    while (size_ < capacity_) {
      const ssize_t got = ::read(file, data_ + size_, capacity_ - size_);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return failed(errno);
      if (got == 0) break;  // became shorter; the checksum will tell
      size_ += static_cast<size_t>(got);
    }
    return {};
  }

  Allocator& allocator_;
  std::byte* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace meridian::detail
