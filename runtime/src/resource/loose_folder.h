// SPDX-License-Identifier: MIT
#pragma once
/// The compiled resources in a folder and below it, as a sorted table.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/resource/pack.h"

namespace meridian::detail {

struct LooseFile {
  PackKey key;
  uint32_t path = 0;  ///< where its text begins, which ends with 0 [byte]
};

/// A block of an Allocator that grows by doubling. Elements are plain.
template <class T>
struct GrowingBlock {
  T* data = nullptr;
  size_t count = 0, capacity = 0;

  bool append(Allocator& memory, const T* from, size_t number) {
    if (number > capacity - count) {
      const size_t wanted = capacity * 2 > count + number ? capacity * 2 : count + number + 64;
      T* const larger = static_cast<T*>(memory.allocate(wanted * sizeof(T), alignof(T)));
      if (larger == nullptr) return false;
      for (size_t i = 0; i < count; ++i) larger[i] = data[i];
      memory.deallocate(data, capacity * sizeof(T), alignof(T));
      data = larger;
      capacity = wanted;
    }
    for (size_t i = 0; i < number; ++i) data[count + i] = from[i];
    count += number;
    return true;
  }
  void free(Allocator& memory) {
    memory.deallocate(data, capacity * sizeof(T), alignof(T));
    *this = {};
  }
  std::span<T> all() const { return {data, count}; }
};

struct LooseFolder {
  GrowingBlock<LooseFile> files;  ///< sorted by key
  GrowingBlock<char> paths;

  const char* path_of(const LooseFile& file) const { return paths.data + file.path; }
  void free(Allocator& memory) {
    files.free(memory);
    paths.free(memory);
  }
};

/// Looks through `path`. What is left out is said in the log. After an error `out` is empty.
Status scan_loose_folder(const char* path, uint32_t max_files, Allocator& memory, LooseFolder& out);

}  // namespace meridian::detail
