// SPDX-License-Identifier: MIT
#include "meridian/resource/file_mapping.h"

#include <sys/mman.h>

#include "base/posix_file.h"

namespace meridian {

FileMapping::FileMapping(FileMapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

FileMapping& FileMapping::operator=(FileMapping&& other) noexcept {
  if (this == &other) return *this;
  close();
  bytes_ = std::exchange(other.bytes_, {});
  return *this;
}

Result<FileMapping> FileMapping::open(const char* path) {
  const detail::Descriptor file(detail::open_to_read(path));
  if (!file.is_open()) return detail::file_error(errno);
  const Result<size_t> size = detail::regular_size(file.number());
  if (!size.ok()) return size.status();
  if (size.value() == 0) return Status{StatusCode::too_small, "file is empty"};
  void* const at = ::mmap(nullptr, size.value(), PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (at == MAP_FAILED) return detail::file_error(errno);
  FileMapping out;
  out.bytes_ = {static_cast<const std::byte*>(at), size.value()};
  return out;
}

void FileMapping::close() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  bytes_ = {};
}

}  // namespace meridian
