// SPDX-License-Identifier: MIT
#include "meridian/tools/file_io.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "posix_file.h"

namespace meridian::tools {
namespace {

constexpr size_t kBlock = 64 * 1024;

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

void remove_stray_files(const std::string& folder, int64_t least_age_seconds) {
  DIR* const handle = ::opendir(folder.c_str());
  if (handle == nullptr) return;
  while (const dirent* const entry = ::readdir(handle)) {
    int pid = 0, end = 0;
    unsigned number = 0;
    // As temporary_path makes them.
    if (std::sscanf(entry->d_name, ".meridian-%d-%u.tmp%n", &pid, &number, &end) != 2 || end == 0 ||
        entry->d_name[end] != '\0' || pid <= 0 || ::kill(pid, 0) == 0 || errno != ESRCH)
      continue;
    struct stat status {};
    if (::fstatat(::dirfd(handle), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
        ::time(nullptr) - status.st_mtim.tv_sec >= least_age_seconds)
      ::unlinkat(::dirfd(handle), entry->d_name, 0);
  }
  ::closedir(handle);
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

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::string file_identity(const std::string& path) {
  std::error_code ec;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(parent_folder(path), ec);
  const std::string name = path.substr(path.rfind('/') + 1);
  return (ec ? parent_folder(path) : folder.string()) + "/" + name;
}

}  // namespace meridian::tools
