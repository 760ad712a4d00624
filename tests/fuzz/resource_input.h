// SPDX-License-Identifier: MIT
#pragma once
/// Makes an input look like a resource as far as the first checks go, so that mutations reach the later ones: magic,
/// version, fingerprint and checksum are put right; everything else is the fuzzer's.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "meridian/base/version.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/resource/resource.h"

namespace meridian::test {

/// A 16-aligned copy that ends where its memory ends.
class AlignedInput {
 public:
  explicit AlignedInput(std::span<const uint8_t> bytes)
      : size_(bytes.size() / 16 * 16), data_(static_cast<std::byte*>(std::malloc(size_ == 0 ? 1 : size_))) {
    if (size_ != 0) std::memcpy(data_, bytes.data(), size_);
  }
  AlignedInput(const AlignedInput&) = delete;
  AlignedInput& operator=(const AlignedInput&) = delete;
  ~AlignedInput() { std::free(data_); }

  std::span<std::byte> bytes() { return {data_, size_}; }

  /// False if there is no room for a trailer, or the sections do not fit.
  bool repair(uint32_t kind, uint64_t layout_fingerprint) {
    if (size_ < sizeof(ResourceTrailer)) return false;
    ResourceTrailer trailer;
    std::byte* at = data_ + size_ - sizeof trailer;
    std::memcpy(&trailer, at, sizeof trailer);
    trailer.magic = kTrailerMagic;
    trailer.version = kTrailerVersion;
    trailer.kind = kind;
    trailer.layout_fingerprint = layout_fingerprint;
    const auto room = static_cast<uint32_t>(size_ - sizeof trailer);
    if (trailer.payload_size > room) trailer.payload_size = room;  // inputs that are a payload and no more
    std::memcpy(at, &trailer, sizeof trailer);
    const Result<ResourceSections> sections = read_sections(bytes());
    if (!sections.ok()) return false;
    // The identifier too: one in four billion inputs would have it.
    if (trailer.payload_size >= 8) std::memcpy(data_ + 4, &kind, sizeof kind);
    seal_resource(bytes(), sections.value().payload, sections.value().info, kind, layout_fingerprint);
    return true;
  }

 private:
  size_t size_;
  std::byte* data_;
};

/// Ends the program if `condition` is false, whatever the build: the property that a fuzz target checks.
inline void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace meridian::test
