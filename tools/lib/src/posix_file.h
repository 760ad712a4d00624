// SPDX-License-Identifier: MIT
#pragma once
/// What writing an output whole takes: descriptors that close, calls that signals don't break, and names that appear
/// only when all is there. Behind file_io.h and staged_file.h.

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "signals.h"

namespace meridian::tools {

/// A file descriptor that is closed at the end of its scope.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  /// Network file systems report a failed write here. EINTR: Linux has closed it all the same.
  int close() {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    return ::close(descriptor) == 0 || errno == EINTR ? 0 : errno;
  }

 private:
  int descriptor_;
};

inline int open_retrying(const char* path, int flags, mode_t mode = 0) {
  int descriptor;
  do descriptor = ::open(path, flags | O_CLOEXEC, mode);
  while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

inline ssize_t read_retrying(int descriptor, void* to, size_t size) {
  ssize_t got;
  do got = ::read(descriptor, to, size);
  while (got < 0 && errno == EINTR);
  return got;
}

inline int write_all(int descriptor, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return 0;
}

/// Short and without the output's name, so that an output whose name is as long as the system allows has one too.
inline std::string temporary_path(const std::string& target) {
  static std::atomic<uint32_t> counter{0};
  const std::string name = ".meridian-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
  const size_t slash = target.rfind('/');
  return slash == std::string::npos ? name : target.substr(0, slash + 1) + name;
}

/// Gives a whole file the target's name by way of a temporary one. `make` creates that and returns errno's value.
template <class Make>
int rename_into_place(const std::string& target, Make&& make) {
  // Another host that shares the folder may have a process of the same number: EEXIST, next name.
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string temporary = temporary_path(target);
    const TemporaryFileName registered(temporary);  // before it exists, or a signal in between would leave it
    int error = make(temporary.c_str());
    if (error == EEXIST) continue;
    if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
    if (error != 0) ::unlink(temporary.c_str());
    return error;
  }
  return EEXIST;
}

/// Where a link leads, so that the link stays one. A link to nothing is replaced.
inline std::string behind_links(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::is_symlink(std::filesystem::symlink_status(path, ec))) return path;
  const std::filesystem::path real = std::filesystem::canonical(path, ec);
  return ec ? path : real.string();
}

}  // namespace meridian::tools
