// SPDX-License-Identifier: MIT
#include <bit>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "meridian/base/version.h"
#include "meridian/resource/resource.h"
#include "resource/checksum.h"

static_assert(std::endian::native == std::endian::little, "resources are read in place, and are little endian");

namespace meridian {
namespace detail {

uint64_t checksum(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

namespace {
constexpr uint64_t padded(uint64_t bytes) {
  return (bytes + kResourceAlignment - 1) & ~uint64_t{kResourceAlignment - 1};
}
constexpr size_t kChecksumSize = sizeof(ResourceTrailer::checksum);
}  // namespace
}  // namespace detail

Result<ResourceSections> read_sections(std::span<const std::byte> bytes) {
  // Size first: everything else reads from the end. This also keeps 2 GiB away from the FlatBuffers verifier, which
  // asserts on it.
  if (bytes.size() < sizeof(ResourceTrailer)) {
    return Status{StatusCode::too_small, "resource is shorter than its trailer; detail = size", bytes.size()};
  }
  if (bytes.size() > kMaxResourceBytes) {
    return Status{StatusCode::too_large, "resource is 2 GiB or larger; detail = size", bytes.size()};
  }
  ResourceSections out;
  const size_t end = bytes.size() - sizeof(ResourceTrailer);
  std::memcpy(&out.trailer, bytes.data() + end, sizeof(ResourceTrailer));
  if (out.trailer.magic != kTrailerMagic) {
    return Status{StatusCode::bad_magic, "no Meridian resource, or cut off; detail = offset of the trailer", end};
  }
  if (out.trailer.version != kTrailerVersion) {
    return Status{StatusCode::bad_version, "trailer version is not known; detail = version", out.trailer.version};
  }
  const uint64_t info_begin = detail::padded(out.trailer.payload_size);
  if (info_begin > end || bytes.size() % kResourceAlignment != 0) {
    return Status{StatusCode::bad_structure, "payload does not fit the resource; detail = payload size",
                  out.trailer.payload_size};
  }
  out.payload = bytes.first(out.trailer.payload_size);
  out.info = bytes.subspan(static_cast<size_t>(info_begin), end - static_cast<size_t>(info_begin));
  return out;
}

uint64_t sealed_size(uint64_t payload_bytes, uint64_t info_bytes) {
  return detail::padded(payload_bytes) + detail::padded(info_bytes) + sizeof(ResourceTrailer);
}

void seal_resource(std::span<std::byte> out, std::span<const std::byte> payload, std::span<const std::byte> info,
                   uint32_t kind, uint64_t layout_fingerprint) {
  MERIDIAN_ASSERT(out.size() == sealed_size(payload.size(), info.size()), "seal_resource needs exactly sealed_size()");
  MERIDIAN_ASSERT(out.size() <= kMaxResourceBytes, "a resource is smaller than 2 GiB");
  const size_t info_begin = static_cast<size_t>(detail::padded(payload.size()));
  const size_t trailer_begin = out.size() - sizeof(ResourceTrailer);
  // The parts may already lie in place (a builder that leaves room): memmove, not memcpy.
  if (!payload.empty()) std::memmove(out.data(), payload.data(), payload.size());
  std::memset(out.data() + payload.size(), 0, info_begin - payload.size());
  if (!info.empty()) std::memmove(out.data() + info_begin, info.data(), info.size());
  std::memset(out.data() + info_begin + info.size(), 0, trailer_begin - info_begin - info.size());
  ResourceTrailer trailer{kTrailerMagic,      kind, kTrailerVersion, static_cast<uint32_t>(payload.size()),
                          layout_fingerprint, 0};
  std::memcpy(out.data() + trailer_begin, &trailer, sizeof trailer);
  trailer.checksum = detail::checksum(out.first(out.size() - detail::kChecksumSize));
  std::memcpy(out.data() + trailer_begin, &trailer, sizeof trailer);
}

}  // namespace meridian
