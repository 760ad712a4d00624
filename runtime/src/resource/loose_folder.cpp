// SPDX-License-Identifier: MIT
#include "resource/loose_folder.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include <dirent.h>

#include "base/posix_file.h"
#include "meridian/base/log.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/resource/mount.h"
#include "meridian/resource/resource.h"

namespace meridian {

NameHash name_of_file(std::string_view stem) {
  constexpr std::string_view kPrefix = "hash_";
  if (stem.starts_with(kPrefix) && stem.size() > kPrefix.size() && stem.size() <= kPrefix.size() + 8) {
    uint32_t hash = 0;
    const auto [end, error] = std::from_chars(stem.data() + kPrefix.size(), stem.data() + stem.size(), hash, 16);
    if (error == std::errc() && end == stem.data() + stem.size()) return {hash};
  }
  return hash_name(stem);
}

namespace detail {
namespace {

constexpr int kMaxFolderDepth = 32;
constexpr size_t kMaxPath = 4096;

/// The kind that an extension stands for; 0 for .mmeta, which may hold any.
bool kind_of_extension(std::string_view extension, uint32_t& kind) {
  kind = 0;
  if (extension == "mmeta") return true;
  for (const BuiltinSchema& schema : builtin_schemas()) {
    if (extension != schema.extension) continue;
    kind = schema.kind;
    return true;
  }
  return false;
}

class Scan {
 public:
  Scan(uint32_t max_files, Allocator& memory, LooseFolder& out) : max_files_(max_files), memory_(memory), out_(out) {}

  Status run(const char* path) {
    size_ = std::strlen(path);
    if (size_ == 0 || size_ >= kMaxPath) return file_error(size_ == 0 ? ENOENT : ENAMETOOLONG);
    std::memcpy(path_, path, size_ + 1);
    while (size_ > 1 && path_[size_ - 1] == '/') path_[--size_] = '\0';
    struct stat status {};
    if (::stat(path_, &status) != 0) return file_error(errno);
    if (!S_ISDIR(status.st_mode)) return {StatusCode::wrong_kind, "not a folder"};
    if (const Status walked = folder(0); !walked.ok()) return walked;
    sort();
    return {};
  }

 private:
  Status folder(int depth) {
    DIR* const handle = ::opendir(path_);
    if (handle == nullptr) {
      if (depth == 0) return file_error(errno);
      log_message(LogLevel::warning, {}, "%s: folder cannot be read (%s)", path_, std::strerror(errno));
      return {};
    }
    Status status;
    while (status.ok()) {
      errno = 0;
      const dirent* const entry = ::readdir(handle);
      if (entry == nullptr) {
        if (errno != 0 && depth == 0) status = file_error(errno);
        if (errno != 0 && depth != 0) {
          log_message(LogLevel::warning, {}, "%s: folder cannot be read to its end (%s)", path_, std::strerror(errno));
        }
        break;
      }
      if (entry->d_name[0] != '.') status = visit(entry->d_name, depth);
    }
    ::closedir(handle);
    return status;
  }

  Status visit(const char* name, int depth) {
    const size_t length = std::strlen(name), before = size_;
    if (size_ + 1 + length >= kMaxPath) {
      log_message(LogLevel::warning, {}, "%s: '%s' is left out: its path is too long", path_, name);
      return {};
    }
    if (path_[size_ - 1] != '/') path_[size_++] = '/';
    std::memcpy(path_ + size_, name, length + 1);
    size_ += length;
    struct stat status {};
    Status result;
    if (::lstat(path_, &status) == 0 && S_ISDIR(status.st_mode)) {
      if (depth < kMaxFolderDepth) {
        result = folder(depth + 1);
      } else {
        log_message(LogLevel::warning, {}, "%s: left out: folders are nested too deep", path_);
      }
    } else {
      result = file({name, length});
    }
    size_ = before;
    path_[size_] = '\0';
    return result;
  }

  Status file(std::string_view name) {
    const size_t dot = name.rfind('.');
    uint32_t expected = 0;
    if (dot == std::string_view::npos || dot == 0 || !kind_of_extension(name.substr(dot + 1), expected)) return {};
    const Descriptor descriptor(open_to_read(path_));
    const Result<size_t> size = descriptor.is_open() ? regular_size(descriptor.number()) : file_error(errno);
    ResourceTrailer trailer;
    const char* fault = nullptr;
    if (!size.ok()) {
      fault = size.status().message;
    } else if (size.value() < sizeof trailer ||
               !read_exactly(descriptor.number(), std::as_writable_bytes(std::span(&trailer, 1)),
                             size.value() - sizeof trailer) ||
               trailer.magic != kTrailerMagic) {
      fault = "no Meridian resource";
    } else if (expected != 0 && trailer.kind != expected) {
      fault = "a resource of another kind than its extension";
    }
    if (fault != nullptr) {
      log_message(LogLevel::warning, {}, "%s: left out: %s", path_, fault);
      return {};
    }
    std::string_view stem = name.substr(0, dot);
    // `resinfo extract` puts the letters of other kinds before .mmeta.
    const std::string_view letters(reinterpret_cast<const char*>(&trailer.kind), sizeof trailer.kind);
    if (expected == 0 && stem.size() > 5 && stem.ends_with(letters) && stem[stem.size() - 5] == '.') {
      stem.remove_suffix(5);
    }
    if (out_.files.count == max_files_) {
      return {StatusCode::too_large, "a folder has more resources than allowed; detail = limit", max_files_};
    }
    const LooseFile row{{trailer.kind, name_of_file(stem)}, static_cast<uint32_t>(out_.paths.count)};
    if (out_.paths.count + size_ + 1 > UINT32_MAX || !out_.paths.append(memory_, path_, size_ + 1) ||
        !out_.files.append(memory_, &row, 1)) {
      return {StatusCode::out_of_memory, "no memory for the table of a folder; detail = files so far",
              out_.files.count};
    }
    return {};
  }

  void sort() {
    const std::span<LooseFile> files = out_.files.all();
    const auto path_of = [&](const LooseFile& file) { return out_.path_of(file); };
    std::sort(files.begin(), files.end(), [&](const LooseFile& a, const LooseFile& b) {
      return a.key != b.key ? a.key < b.key : std::strcmp(path_of(a), path_of(b)) < 0;
    });
    size_t kept = 0;
    for (const LooseFile& file : files) {
      if (kept > 0 && files[kept - 1].key == file.key) {
        log_message(LogLevel::warning, file.key.name, "%s: left out: %s has the same kind and name", path_of(file),
                    path_of(files[kept - 1]));
      } else {
        files[kept++] = file;
      }
    }
    out_.files.count = kept;
  }

  uint32_t max_files_;
  Allocator& memory_;
  LooseFolder& out_;
  char path_[kMaxPath] = {};
  size_t size_ = 0;
};

}  // namespace

Status scan_loose_folder(const char* path, uint32_t max_files, Allocator& memory, LooseFolder& out) {
  const Status status = Scan(max_files, memory, out).run(path);
  if (!status.ok()) out.free(memory);
  return status;
}

}  // namespace detail
}  // namespace meridian
