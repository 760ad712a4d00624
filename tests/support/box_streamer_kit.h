// SPDX-License-Identifier: MIT
#pragma once
/// A streaming module that only remembers what it was told, and a tree over boxes to hand to a box streamer.

#include <cstdint>
#include <ostream>
#include <span>
#include <vector>

#include "meridian/stream/box_streamer.h"
#include "support/box_trees.h"

namespace meridian::test {

struct StreamCall {
  enum Kind : uint8_t { request, request_first, keep, release } kind = request;
  uint32_t slot = 0;
  friend bool operator==(const StreamCall&, const StreamCall&) = default;
};
inline std::ostream& operator<<(std::ostream& out, const StreamCall& call) {
  constexpr const char* kNames[] = {"request", "request_first", "keep", "release"};
  return out << kNames[call.kind] << ' ' << call.slot;
}

class RecordingTarget final : public BoxStreamerTarget {
 public:
  explicit RecordingTarget(uint32_t capacity) : is_idle_(capacity, true) { calls.reserve(4 * size_t{capacity}); }

  bool is_idle(uint32_t slot) override { return is_idle_[slot]; }
  void request(uint32_t slot, bool priority) override {
    calls.push_back({priority ? StreamCall::request_first : StreamCall::request, slot});
    is_idle_[slot] = false;
    if (loads_at_once != nullptr) loads_at_once->set_in_world(slot, true);
  }
  void keep(uint32_t slot) override { calls.push_back({StreamCall::keep, slot}); }
  void release(uint32_t slot) override { calls.push_back({StreamCall::release, slot}); }

  /// Evicted, or its load has failed.
  void set_idle(uint32_t slot, bool value) { is_idle_[slot] = value; }
  std::vector<StreamCall> take() {
    std::vector<StreamCall> out;
    out.swap(calls);
    calls.reserve(out.capacity());
    return out;
  }

  std::vector<StreamCall> calls;
  BoxStreamer* loads_at_once = nullptr;

 private:
  std::vector<bool> is_idle_;
};

/// Item i is boxes[i] in slot slots[i].
struct StreamTree {
  std::vector<Aabb> ranges, contents;
  std::vector<uint32_t> slots;
  std::vector<BoxAsset> assets;
  PlainTree range_tree, content_tree;
  BoxTree content_view;

  void add(uint32_t slot, const Aabb& range, const Aabb& content, BoxAsset asset = BoxAsset::map_high) {
    ranges.push_back(range);
    contents.push_back(content);
    slots.push_back(slot);
    assets.push_back(asset);
  }
  void add(uint32_t slot, const Aabb& range, BoxAsset asset = BoxAsset::map_high) { add(slot, range, range, asset); }
  /// Valid as long as this.
  BoxTreeLayer layer() {
    range_tree = plain_tree(ranges);
    content_tree = plain_tree(contents);
    content_view = content_tree.view();
    BoxTreeLayer out;
    out.range = range_tree.view();
    out.content = &content_view;
    out.slots = slots;
    out.assets = assets;
    return out;
  }
};

inline constexpr float kFar = std::numeric_limits<float>::max();
inline constexpr Aabb kNoBox{{kFar, kFar, kFar}, {-kFar, -kFar, -kFar}};

}  // namespace meridian::test
