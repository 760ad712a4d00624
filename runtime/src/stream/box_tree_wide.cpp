// SPDX-License-Identifier: MIT
// The decisions of box_query.h for 4, 8 and 16 boxes at a time: Highway compiles this file once for each width.
#include "base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stream/box_tree_wide.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <bit>

#include "stream/box_query.h"

HWY_BEFORE_NAMESPACE();
namespace meridian::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kBoxTreeWidth>;
using Ints = hn::RebindToSigned<Floats>;
using F = hn::Vec<Floats>;
using M = hn::Mask<Floats>;
constexpr Floats kFloats;
constexpr size_t kStep = hn::MaxLanes(Floats());

/// As many boxes as a vector has lanes.
struct Boxes {
  F lo[3], hi[3];
};

F splat(float value) { return hn::Set(kFloats, value); }

template <class Tag, class Mask>
HWY_INLINE uint32_t bits_of(Tag tag, Mask mask) {
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(tag, mask, bytes);
  return static_cast<uint32_t>(bytes[0] | bytes[1] << 8);
}

HWY_INLINE Boxes load(const float* node, size_t first) {
  Boxes boxes;
  for (size_t axis = 0; axis < 3; ++axis) {
    boxes.lo[axis] = hn::LoadU(kFloats, node + axis * kBoxTreeWidth + first);
    boxes.hi[axis] = hn::LoadU(kFloats, node + (axis + 3) * kBoxTreeWidth + first);
  }
  return boxes;
}

class BoxTest {
 public:
  explicit BoxTest(const BoxQuery& q) {
    for (int i = 0; i < 3; ++i) {
      min_[i] = splat(q.min[i]);
      max_[i] = splat(q.max[i]);
    }
  }
  HWY_INLINE M overlaps(const Boxes& box) const {
    M in = hn::And(hn::Le(box.lo[0], max_[0]), hn::Ge(box.hi[0], min_[0]));
    for (int i = 1; i < 3; ++i) in = hn::And(in, hn::And(hn::Le(box.lo[i], max_[i]), hn::Ge(box.hi[i], min_[i])));
    return in;
  }
  HWY_INLINE uint32_t lanes(const float* node) const {
    uint32_t out = 0;
    for (size_t i = 0; i < kBoxTreeWidth; i += kStep) out |= bits_of(kFloats, overlaps(load(node, i))) << i;
    return out;
  }

 private:
  F min_[3], max_[3];
};

class SphereTest {
 public:
  explicit SphereTest(const BoxQuery& q)
      : query_(q),
        at_{splat(q.at[0]), splat(q.at[1]), splat(q.at[2])},
        sure_in_(splat(q.sure_in)),
        sure_out_(splat(q.sure_out)) {}

  HWY_INLINE uint32_t lanes(const float* node) const {
    uint32_t in = 0, possible = 0;
    for (size_t i = 0; i < kBoxTreeWidth; i += kStep) {
      const Boxes box = load(node, i);
      F square[3];
      for (int axis = 0; axis < 3; ++axis) {
        const F outside = hn::Max(hn::Sub(box.lo[axis], at_[axis]), hn::Sub(at_[axis], box.hi[axis]));
        const F d = hn::Max(outside, hn::Zero(kFloats));
        square[axis] = hn::Mul(d, d);
      }
      const F all = hn::Add(hn::Add(square[0], square[1]), square[2]);
      in |= bits_of(kFloats, hn::Le(all, sure_in_)) << i;
      possible |= bits_of(kFloats, hn::Le(all, sure_out_)) << i;
    }
    if (HWY_UNLIKELY(in != possible)) in |= touched_lanes(query_, node, possible & ~in);
    return in;
  }

 private:
  const BoxQuery& query_;
  F at_[3], sure_in_, sure_out_;
};

class SegmentTest {
 public:
  explicit SegmentTest(const BoxQuery& q)
      : query_(q), overlap_(q), sure_in_(splat(q.sure_in)), sure_out_(splat(q.sure_out)) {
    for (size_t i = 0; i < 3; ++i) {
      from_[i] = splat(q.from[i]);
      to_[i] = splat(q.to[i]);
      scale_[i] = splat(q.scale[i]);
      grown_[i] = splat(q.grown[i]);
      near_[i] = (q.is_down[i] ? i + 3 : i) * kBoxTreeWidth;
      far_[i] = (q.is_down[i] ? i : i + 3) * kBoxTreeWidth;
    }
  }
  HWY_INLINE uint32_t lanes(const float* node) const {
    uint32_t in = 0, possible = 0;
    for (size_t i = 0; i < kBoxTreeWidth; i += kStep) {
      F enter = hn::Zero(kFloats), back = hn::Zero(kFloats);  // how far from its begin and its end the common part is
      for (size_t axis = 0; axis < 3; ++axis) {
        const F near = hn::LoadU(kFloats, node + near_[axis] + i), far = hn::LoadU(kFloats, node + far_[axis] + i);
        enter = hn::Max(hn::Sub(hn::Mul(hn::Sub(near, from_[axis]), scale_[axis]), grown_[axis]), enter);
        back = hn::Max(hn::Sub(hn::Mul(hn::Sub(to_[axis], far), scale_[axis]), grown_[axis]), back);
      }
      const F all = hn::Add(enter, back);
      in |= bits_of(kFloats, hn::Le(all, sure_in_)) << i;
      possible |= bits_of(kFloats, hn::Not(hn::Gt(all, sure_out_))) << i;  // so written that NaN is possible
    }
    // Slabs say nothing of axes without a difference. What they are sure of on the others overlaps there, too.
    if (query_.is_extent_needed) {
      const uint32_t overlapping = overlap_.lanes(node);
      in &= overlapping;
      possible &= overlapping;
    }
    if (HWY_UNLIKELY(in != possible)) in |= touched_lanes(query_, node, possible & ~in);
    return in;
  }

 private:
  const BoxQuery& query_;
  BoxTest overlap_;
  F from_[3], to_[3], scale_[3], grown_[3], sure_in_, sure_out_;
  size_t near_[3], far_[3];  ///< where the planes stand in a node
};

HWY_INLINE uint32_t item_lanes(const uint32_t* children) {
  constexpr Ints kInts;
  uint32_t out = 0;
  for (size_t i = 0; i < kBoxTreeWidth; i += kStep) {
    const auto child = hn::BitCast(kInts, hn::LoadU(hn::RebindToUnsigned<Ints>(), children + i));
    out |= bits_of(kInts, hn::Lt(child, hn::Zero(kInts))) << i;  // kBoxTreeItem is the sign
  }
  return out;
}

#include "stream/box_walk-inl.h"

}  // namespace

const BoxKernels& box_kernels_here();
const BoxKernels& box_kernels_here() { return kKernels; }

}  // namespace meridian::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace meridian {

const BoxKernels& wide_box_kernels(SimdWidth width) {
  return MERIDIAN_SIMD_DISPATCH(width, box_kernels_here, scalar_box_kernels);
}

}  // namespace meridian
#endif
