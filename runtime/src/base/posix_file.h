// SPDX-License-Identifier: MIT
#pragma once
/// Descriptors that close, calls that signals do not break, and errno as a Status.

#include <cerrno>
#include <cstddef>
#include <span>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meridian/base/status.h"

namespace meridian::detail {

/// Closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_;
};

/// For reading. Never waits for the other end of a pipe.
inline int open_to_read(const char* path) {
  int number;
  do number = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  while (number < 0 && errno == EINTR);
  return number;
}

/// Why a file cannot be had.
inline Status file_error(int error) {
  const auto detail = static_cast<uint64_t>(error);
  if (error == ENOENT || error == ENOTDIR) return {StatusCode::not_found, "no such file; detail = errno", detail};
  if (error == EACCES || error == EPERM) {
    return {StatusCode::io_error, "file may not be read; detail = errno", detail};
  }
  if (error == ENOMEM) return {StatusCode::out_of_memory, "no address space for a file; detail = errno", detail};
  return {StatusCode::io_error, "file cannot be read; detail = errno", detail};
}

/// Size of an open regular file, or why it is none.
inline Result<size_t> regular_size(int number) {
  struct stat status {};
  if (::fstat(number, &status) != 0) return file_error(errno);
  if (S_ISDIR(status.st_mode)) return Status{StatusCode::wrong_kind, "a folder stands where a file should"};
  if (!S_ISREG(status.st_mode)) return Status{StatusCode::wrong_kind, "neither a file nor a folder"};
  return static_cast<size_t>(status.st_size);
}

/// Fills `to` from `offset`. False: an error (errno), or the file ends before (errno 0).
inline bool read_exactly(int number, std::span<std::byte> to, size_t offset) {
  while (!to.empty()) {
    const ssize_t got = ::pread(number, to.data(), to.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      if (got == 0) errno = 0;
      return false;
    }
    to = to.subspan(static_cast<size_t>(got));
    offset += static_cast<size_t>(got);
  }
  return true;
}

/// The same, with the reason. Errors: as file_error; too_small (the file is shorter than `to`).
inline Status read_start(int number, std::span<std::byte> to) {
  if (read_exactly(number, to, 0)) return {};
  if (errno != 0) return file_error(errno);
  return {StatusCode::too_small, "the file became shorter while it was read; detail = the size it had", to.size()};
}

}  // namespace meridian::detail
