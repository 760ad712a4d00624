// SPDX-License-Identifier: MIT
#include "meridian/tools/staged_file.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <sys/stat.h>

#include "posix_file.h"

namespace meridian::tools {
namespace {

constexpr size_t kBlock = 64 * 1024;

bool is_zero(std::span<const std::byte> bytes) {
  return bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

/// All of it, unless the file ends before.
bool read_at(int descriptor, uint64_t offset, std::span<std::byte> to) {
  while (!to.empty()) {
    ssize_t got;
    do got = ::pread(descriptor, to.data(), to.size(), static_cast<off_t>(offset));
    while (got < 0 && errno == EINTR);
    if (got <= 0) return false;
    to = to.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return true;
}

int flush(int descriptor) {
  int result;
  do result = ::fsync(descriptor);
  while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

}  // namespace

struct StagedFile::Stage {
  explicit Stage(int descriptor) : file(descriptor) {}

  File file;
  std::string target;
  std::string temporary;                          ///< its name; empty: it has none
  std::unique_ptr<TemporaryFileName> registered;  ///< while it has one
};

StagedFile::StagedFile(const std::string& target) {
  struct stat status {};
  if (::stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    error_ = S_ISDIR(status.st_mode) ? EISDIR : ESPIPE;
    return;
  }
  const std::string path = behind_links(target);
  stage_ = std::make_unique<Stage>(open_retrying(parent_folder(path).c_str(), O_RDWR | O_TMPFILE, 0666));
  // It gets its name through /proc; better no such file than one that can't be named at the end.
  const std::string unnamed = "/proc/self/fd/" + std::to_string(stage_->file.descriptor());
  if (!stage_->file.is_open() || ::access(unnamed.c_str(), F_OK) != 0) {
    stage_.reset();
    for (int attempt = 0; attempt < 100 && !stage_; ++attempt) {
      std::string temporary = temporary_path(path);
      auto registered = std::make_unique<TemporaryFileName>(temporary);
      const int descriptor = open_retrying(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL, 0666);
      if (descriptor < 0 && errno == EEXIST) continue;
      if (descriptor < 0) {
        error_ = errno;
        return;
      }
      stage_ = std::make_unique<Stage>(descriptor);
      stage_->temporary = std::move(temporary);
      stage_->registered = std::move(registered);
    }
    if (!stage_) {
      error_ = EEXIST;
      return;
    }
  }
  stage_->target = path;
}

StagedFile::~StagedFile() {
  if (stage_ && !stage_->temporary.empty()) ::unlink(stage_->temporary.c_str());
}

void StagedFile::put(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty() && error_ == 0) {
    const ssize_t put = ::pwrite(stage_->file.descriptor(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0) {
      if (errno != EINTR) error_ = errno;
      continue;
    }
    bytes = bytes.subspan(static_cast<size_t>(put));
    offset += static_cast<uint64_t>(put);
  }
}

void StagedFile::append(std::span<const std::byte> bytes) {
  uint64_t offset = size_;
  size_ += bytes.size();
  // Runs without zero blocks go out in one call.
  size_t run = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t block = std::min(kBlock, bytes.size() - at);
    const bool hole = is_zero(bytes.subspan(at, block));
    if (!hole) run += block;
    at += block;
    if (!hole && at < bytes.size()) continue;
    const size_t skipped = hole ? block : 0;
    put(offset, bytes.subspan(at - skipped - run, run));
    offset += run + skipped;
    run = 0;
  }
}

void StagedFile::pad_to(uint64_t alignment) { size_ = (size_ + alignment - 1) / alignment * alignment; }

void StagedFile::write_at(uint64_t offset, std::span<const std::byte> bytes) { put(offset, bytes); }

bool StagedFile::equals_target() const {
  const File old(open_retrying(stage_->target.c_str(), O_RDONLY));
  struct stat status {};
  if (!old.is_open() || ::fstat(old.descriptor(), &status) != 0 || static_cast<uint64_t>(status.st_size) != size_)
    return false;
  std::vector<std::byte> a(kBlock), b(kBlock);
  for (uint64_t at = 0; at < size_; at += kBlock) {
    const size_t block = static_cast<size_t>(std::min<uint64_t>(kBlock, size_ - at));
    const bool read = read_at(old.descriptor(), at, std::span(a).first(block)) &&
                      read_at(stage_->file.descriptor(), at, std::span(b).first(block));
    if (!read || std::memcmp(a.data(), b.data(), block) != 0) return false;
  }
  return true;
}

WriteResult StagedFile::commit(WriteMode mode) {
  // Zeros at the end were never written.
  if (error_ == 0 && ::ftruncate(stage_->file.descriptor(), static_cast<off_t>(size_)) != 0) error_ = errno;
  if (error_ == 0 && mode == WriteMode::if_changed && equals_target()) return {WriteOutcome::unchanged, 0};
  if (error_ == 0) error_ = flush(stage_->file.descriptor());
  if (error_ != 0) return {WriteOutcome::failed, error_};

  Stage& stage = *stage_;
  if (!stage.temporary.empty()) {
    if (::rename(stage.temporary.c_str(), stage.target.c_str()) != 0) error_ = errno;
    if (error_ == 0) stage.temporary.clear();
  } else {
    const std::string unnamed = "/proc/self/fd/" + std::to_string(stage.file.descriptor());
    const auto link_to = [&](const char* path) {
      return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
    };
    error_ = link_to(stage.target.c_str());
    if (error_ == EEXIST) error_ = rename_into_place(stage.target, link_to);
  }
  if (error_ == 0) error_ = stage.file.close();
  // The new name is in the folder, which is flushed apart. File systems that can't flush folders say EINVAL.
  const File folder(open_retrying(parent_folder(stage.target).c_str(), O_RDONLY | O_DIRECTORY));
  if (error_ == 0 && folder.is_open()) {
    const int error = flush(folder.descriptor());
    if (error != EINVAL) error_ = error;
  }
  return {error_ == 0 ? WriteOutcome::written : WriteOutcome::failed, error_};
}

}  // namespace meridian::tools
