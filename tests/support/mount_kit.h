// SPDX-License-Identifier: MIT
#pragma once
/// Resources in packs and folders for tests of mounts.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "meridian/resource/mount.h"
#include "meridian/resource/resource.h"
#include "support/pack_maker.h"

namespace meridian::test {

/// A sealed resource whose payload is `text`; as a loose file it is looked at no further than its trailer.
inline std::string sealed(uint32_t kind, std::string_view text) {
  std::string out(sealed_size(text.size(), 0), '\0');
  seal_resource(std::as_writable_bytes(std::span(out)), bytes_of(text), {}, kind, 1);
  return out;
}

/// The whole resource by find, pin and load; "-" where there is none, "!" and the code where that fails.
inline std::string contents(const ResourceMounts& mounts, const ResourceLocation& location) {
  if (!location) return "-";
  const Result<PinnedResource> pin = mounts.pin(location);
  if (!pin.ok()) return std::string("!") + to_string(pin.status().code);
  EXPECT_EQ(pin.value().key(), location.key);
  if (pin.value().is_in_place()) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pin.value().bytes().data()) % kResourceAlignment, 0u);
    return std::string(text_of(pin.value().bytes()));
  }
  const Result<std::span<std::byte>> bytes = mounts.load(pin.value(), default_allocator());
  if (!bytes.ok()) return std::string("!") + to_string(bytes.status().code);
  std::string out(text_of(bytes.value()));
  default_allocator().deallocate(bytes.value().data(), bytes.value().size(), kPackAlignment);
  return out;
}
inline std::string contents(const ResourceMounts& mounts, uint32_t kind, std::string_view name) {
  return contents(mounts, mounts.find(kind, hash_name(name)));
}

}  // namespace meridian::test
