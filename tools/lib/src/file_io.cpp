// SPDX-License-Identifier: MIT
#include "meridian/tools/file_io.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "signals.h"

namespace meridian::tools {
namespace {

constexpr size_t kBlock = 64 * 1024;

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

int open_retrying(const char* path, int flags, mode_t mode = 0) {
  int descriptor;
  do descriptor = ::open(path, flags | O_CLOEXEC, mode);
  while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

ssize_t read_retrying(int descriptor, void* to, size_t size) {
  ssize_t got;
  do got = ::read(descriptor, to, size);
  while (got < 0 && errno == EINTR);
  return got;
}

int write_all(int descriptor, std::span<const uint8_t> bytes) {
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

bool has_bytes(const std::string& path, uint64_t size, std::span<const uint8_t> bytes) {
  if (size != bytes.size()) return false;
  const File file(open_retrying(path.c_str(), O_RDONLY));
  if (!file.is_open()) return false;
  std::string block(kBlock, '\0');
  while (!bytes.empty()) {
    const ssize_t got = read_retrying(file.descriptor(), block.data(), std::min(block.size(), bytes.size()));
    if (got <= 0 || std::memcmp(block.data(), bytes.data(), static_cast<size_t>(got)) != 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
  char more;
  return read_retrying(file.descriptor(), &more, 1) == 0;
}

/// Short and without the output's name, so that an output whose name is as long as the system allows has one too.
std::string temporary_path(const std::string& target) {
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

/// Writes to a file without a name, which vanishes with the process however that ends, and names it when it is whole.
/// Empty: not possible here (network file systems, no /proc).
std::optional<int> write_unnamed(const std::string& target, std::span<const uint8_t> bytes) {
  File file(open_retrying(parent_folder(target).c_str(), O_WRONLY | O_TMPFILE, 0666));
  if (!file.is_open()) return std::nullopt;  // whatever the reason, the other way finds it too
  if (const int error = write_all(file.descriptor(), bytes); error != 0) return error;
  const std::string unnamed = "/proc/self/fd/" + std::to_string(file.descriptor());
  const auto link_to = [&](const char* path) {
    return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
  };
  const int error = link_to(target.c_str());
  if (error == 0) return 0;
  if (error != EEXIST) return std::nullopt;
  return rename_into_place(target, link_to);
}

int write_named(const std::string& target, std::span<const uint8_t> bytes) {
  return rename_into_place(target, [&](const char* temporary) {
    File file(open_retrying(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666));
    if (!file.is_open()) return errno;
    const int error = write_all(file.descriptor(), bytes);
    const int close_error = file.close();
    return error != 0 ? error : close_error;
  });
}

int write_whole(const std::string& target, std::span<const uint8_t> bytes) {
  const std::optional<int> error = write_unnamed(target, bytes);
  return error ? *error : write_named(target, bytes);
}

int write_in_place(const std::string& path, std::span<const uint8_t> bytes) {
  File file(open_retrying(path.c_str(), O_WRONLY));
  if (!file.is_open()) return errno;
  const int error = write_all(file.descriptor(), bytes);
  const int close_error = file.close();
  return error != 0 ? error : close_error;
}

/// Where a link leads, so that the link stays one. A link to nothing is replaced.
std::string behind_links(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::is_symlink(std::filesystem::symlink_status(path, ec))) return path;
  const std::filesystem::path real = std::filesystem::canonical(path, ec);
  return ec ? path : real.string();
}

WriteResult outcome(int error) { return {error == 0 ? WriteOutcome::written : WriteOutcome::failed, error}; }

}  // namespace

WriteResult write_file(const std::string& path, std::span<const uint8_t> bytes, WriteMode mode) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return outcome(EISDIR);
    // Renaming over /dev/null or a pipe would replace it for everybody.
    if (!S_ISREG(status.st_mode)) return outcome(write_in_place(path, bytes));
    if (mode == WriteMode::if_changed && has_bytes(path, static_cast<uint64_t>(status.st_size), bytes))
      return {WriteOutcome::unchanged, 0};
  }
  return outcome(write_whole(behind_links(path), bytes));
}

WriteResult write_file(const std::string& path, std::string_view text, WriteMode mode) {
  return write_file(path, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()), mode);
}

int write_stream(std::FILE* stream, std::string_view text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
  if (written) return 0;
  return errno != 0 ? errno : EIO;
}

int create_parent_folders(const std::string& path) {
  std::error_code ec;
  std::filesystem::create_directories(parent_folder(path), ec);
  return ec.value();
}

int read_file(const std::string& path, std::string& out) {
  const File file(open_retrying(path.c_str(), O_RDONLY));
  if (!file.is_open()) return errno;
  out.clear();
  std::array<char, kBlock> block;
  for (;;) {
    const ssize_t got = read_retrying(file.descriptor(), block.data(), block.size());
    if (got < 0) return errno;
    if (got == 0) return 0;
    out.append(block.data(), static_cast<size_t>(got));
  }
}

int read_stream(std::FILE* stream, uint64_t limit, bool (*cancelled)(const void*), const void* context,
                std::string& out) {
  out.clear();
  std::array<char, kBlock> block;
  const int descriptor = ::fileno(stream);
  while (out.size() <= limit) {
    ssize_t got;
    if (descriptor < 0) {  // a stream in memory
      got = static_cast<ssize_t>(std::fread(block.data(), 1, block.size(), stream));
    } else {
      // Waiting with a limit closes the gap between the look at the flag and the read that a signal would hit.
      pollfd wait{descriptor, POLLIN, 0};
      const int ready = ::poll(&wait, 1, 100);
      if (cancelled(context)) return EINTR;
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      got = ::read(descriptor, block.data(), block.size());
      if (got < 0 && errno == EINTR) continue;
    }
    if (got < 0) return errno;
    if (got == 0) return 0;
    out.append(block.data(), static_cast<size_t>(got));
  }
  return 0;
}

std::string error_text(int error) { return std::generic_category().message(error); }

std::string parent_folder(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string file_identity(const std::string& path) {
  std::error_code ec;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(parent_folder(path), ec);
  const std::string name = path.substr(path.rfind('/') + 1);
  return (ec ? parent_folder(path) : folder.string()) + "/" + name;
}

}  // namespace meridian::tools
