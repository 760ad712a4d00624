// SPDX-License-Identifier: MIT
#pragma once
/// What a box streamer keeps. Bits are by *place*, the lane of a node, not by item: a query marks a leaf's lanes with
/// one OR, and what has changed since the last update is found word by word.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "meridian/stream/box_streamer.h"
#include "stream/box_query.h"

namespace meridian {

/// A static tree, or all dynamic boxes, whose nodes have nothing above them.
struct BoxStreamer::Layer {
  BoxTree range, content;
  bool is_dynamic = false, is_used = false, has_content = false;
  bool is_pinned_stale = true;
  uint32_t generation = 0;
  uint32_t words = 0;         ///< of each bitmap
  uint32_t kinds = 0;         ///< that some item is of
  uint32_t* slots = nullptr;  ///< of items; of dynamic boxes by place
  uint64_t* now = nullptr;    ///< what this update's queries touch; scratch otherwise
  uint64_t* scratch = nullptr;
  uint64_t* current = nullptr;  ///< wanted as of the last update
  uint64_t* allowed = nullptr;  ///< the box is its slot's, and the slot is not ignored
  uint64_t* pinned = nullptr;   ///< what pins touch
  uint64_t* of_kind[kBoxAssets] = {};
  void* block = nullptr;
  size_t block_bytes = 0;

  void mark(const BoxQuery& query, uint64_t* out) const {
    const BoxKernels& kernels = box_kernels();
    const auto shape = static_cast<size_t>(query.shape);
    if (is_dynamic)
      kernels.mark_flat[shape](range.bounds.data(), static_cast<uint32_t>(range.bounds.size() / kBoxTreeFloats), query,
                               out);
    else
      kernels.mark[shape](range, query, out);
  }
  /// Of the places in `word`, those whose items are of these kinds.
  uint64_t select(uint32_t word, uint32_t of_kinds) const {
    uint64_t out = 0;
    for (; of_kinds != 0; of_kinds &= of_kinds - 1) out |= of_kind[std::countr_zero(of_kinds)][word];
    return out;
  }
};

/// A question, prepared for an update.
struct BoxStreamer::Asked {
  BoxQuery query;
  uint32_t kinds = 0;  ///< bits of BoxAsset
  BoxReason reason = BoxReason::source;
  uint32_t id = 0;
  bool has_view = false;
  double view[3] = {};  ///< boxes wholly below `behind` along it are left out
  double behind = 0;
};

struct BoxStreamer::Pin {
  Aabb box;
  uint32_t generation = 0;  ///< odd while it is used
};

/// What the target is to be told of.
struct BoxStreamer::Candidate {
  float distance = 0;
  uint32_t slot = 0;
  bool is_near = false;  ///< within the priority radius
  bool is_new = false;   ///< became wanted in this update
};

inline bool test_bit(const uint64_t* words, uint32_t bit) { return (words[bit / 64] >> bit % 64 & 1) != 0; }
inline void set_bit(uint64_t* words, uint32_t bit, bool value) {
  const uint64_t mask = uint64_t{1} << bit % 64;
  words[bit / 64] = value ? words[bit / 64] | mask : words[bit / 64] & ~mask;
}

inline void set_lane(float* bounds, uint32_t place, const Aabb& box) {
  float* const lane = bounds + size_t{place / kBoxTreeWidth} * kBoxTreeFloats + place % kBoxTreeWidth;
  const float values[6] = {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z};
  for (uint32_t i = 0; i < 6; ++i) lane[i * kBoxTreeWidth] = values[i];
}
inline Aabb lane_of(std::span<const float> bounds, uint32_t place) {
  const float* const lane = &bounds[size_t{place / kBoxTreeWidth} * kBoxTreeFloats + place % kBoxTreeWidth];
  return {{lane[0], lane[kBoxTreeWidth], lane[2 * kBoxTreeWidth]},
          {lane[3 * kBoxTreeWidth], lane[4 * kBoxTreeWidth], lane[5 * kBoxTreeWidth]}};
}

inline bool is_usable(const Aabb& box) {
  return is_finite(box.min) && is_finite(box.max) && box.min.x <= box.max.x && box.min.y <= box.max.y &&
         box.min.z <= box.max.z;
}

/// Cuts a block into arrays; without one it only measures.
class BlockCutter {
 public:
  explicit BlockCutter(void* block) : block_(static_cast<std::byte*>(block)) {}
  template <class T>
  T* take(size_t count) {
    used_ = (used_ + alignof(T) - 1) & ~(alignof(T) - 1);
    std::byte* const at = block_ != nullptr ? block_ + used_ : nullptr;
    used_ += count * sizeof(T);
    for (size_t i = 0; at != nullptr && i < count; ++i) new (at + i * sizeof(T)) T{};
    return reinterpret_cast<T*>(at);
  }
  size_t used() const { return used_; }

 private:
  std::byte* block_;
  size_t used_ = 0;
};
inline constexpr size_t kStreamerAlignment = 64;

}  // namespace meridian
