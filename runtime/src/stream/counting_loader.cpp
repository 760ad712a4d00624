// SPDX-License-Identifier: MIT
#include "meridian/stream/counting_loader.h"

#include "resource/checksum.h"

namespace meridian {

AssetLoader<CountedAsset> CountingLoader::loader() {
  return {
      .load = [](void* user, NameHash name,
                 std::span<const std::byte> bytes) { return static_cast<CountingLoader*>(user)->load(name, bytes); },
      .unload = [](void* user, CountedAsset& asset) { static_cast<CountingLoader*>(user)->unload(asset); },
      .prepare =
          [](void* user, NameHash, std::span<const std::byte>) {
            static_cast<CountingLoader*>(user)->prepared_.fetch_add(1, std::memory_order_relaxed);
            return Status{};
          },
      .cost = nullptr,
      .user = this};
}

CountedAsset* CountingLoader::load(NameHash name, std::span<const std::byte> bytes) {
  const uint32_t id = live_.push_back();
  if (id == kNoNode) {
    ++refused_;
    return nullptr;
  }
  ++loads_;
  bytes_ += bytes.size();
  live_[id] = {
      .name = name, .bytes = static_cast<uint32_t>(bytes.size()), .checksum = detail::checksum(bytes), .id = id};
  return &live_[id];
}

void CountingLoader::unload(CountedAsset& asset) {
  ++unloads_;
  bytes_ -= asset.bytes;
  live_.remove(asset.id);
}

}  // namespace meridian
