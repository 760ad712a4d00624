// SPDX-License-Identifier: MIT
// The formulas of search_volume.h for 4, 8 and 16 boxes at a time: Highway compiles this file once for each width.
#include "base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search/search_wide.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <bit>
#include <cstddef>

#include "base/packed_lanes.h"
#include "search/search_kernel.h"
#include "search/search_walk.h"

HWY_BEFORE_NAMESPACE();
namespace meridian::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kWideLanes>;
using Words = hn::CappedTag<uint16_t, kLanes>;  // 16: what bits_of takes
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
uint32_t bits_of(Tag tag, Mask mask) {
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(tag, mask, bytes);
  return static_cast<uint32_t>(bytes[0] | bytes[1] << 8);
}

struct Sphere {
  static constexpr bool kIsCandidate = false, kKnowsWhole = true, kKnowsLevel = false;
  F p[3], limit;

  explicit Sphere(const SearchVolume& v)
      : p{splat(v.source->a.x), splat(v.source->a.y), splat(v.source->a.z)}, limit(splat(v.radius_squared)) {}
  M passes(const Boxes& box) const {
    F square[3];
    for (int i = 0; i < 3; ++i) {
      const F outside = hn::Max(hn::Sub(box.lo[i], p[i]), hn::Sub(p[i], box.hi[i]));
      const F d = hn::Max(outside, hn::Zero(kFloats));
      square[i] = hn::Mul(d, d);
    }
    return hn::Le(hn::Add(hn::Add(square[0], square[1]), square[2]), limit);
  }
  /// By the farthest corner: nothing in the box gives a larger d.
  M holds(const Boxes& box) const {
    F square[3];
    for (int i = 0; i < 3; ++i) {
      const F d = hn::Max(hn::Sub(box.hi[i], p[i]), hn::Sub(p[i], box.lo[i]));
      square[i] = hn::Mul(d, d);
    }
    return hn::Le(hn::Add(hn::Add(square[0], square[1]), square[2]), limit);
  }
};

struct Overlap {
  static constexpr bool kIsCandidate = false, kKnowsWhole = true, kKnowsLevel = true;
  F min[3], max[3];

  explicit Overlap(const SearchVolume& v)
      : min{splat(v.min.x), splat(v.min.y), splat(v.min.z)}, max{splat(v.max.x), splat(v.max.y), splat(v.max.z)} {}
  M passes(const Boxes& box, int axis) const {
    return hn::And(hn::Le(box.lo[axis], max[axis]), hn::Ge(box.hi[axis], min[axis]));
  }
  M passes_level(const Boxes& box) const { return hn::And(passes(box, 0), passes(box, 1)); }
  M passes(const Boxes& box) const { return hn::And(passes_level(box), passes(box, 2)); }
  M holds(const Boxes& box, int axis) const {
    return hn::And(hn::Ge(box.lo[axis], min[axis]), hn::Le(box.hi[axis], max[axis]));
  }
  M holds_level(const Boxes& box) const { return holds(box, 2); }
  M holds(const Boxes& box) const { return hn::And(hn::And(holds(box, 0), holds(box, 1)), holds(box, 2)); }
};

struct Planes {
  static constexpr bool kIsCandidate = false, kKnowsWhole = true, kKnowsLevel = false;
  const SearchVolume& volume;

  explicit Planes(const SearchVolume& v) : volume(v) {}
  M passes(const Boxes& box) const {
    M outside = hn::Lt(hn::Zero(kFloats), hn::Zero(kFloats));  // nowhere
    for (uint32_t i = 0; i < volume.plane_count; ++i)
      outside = hn::Or(outside, hn::Lt(side(volume.planes[i], box.hi, box.lo), hn::Zero(kFloats)));
    return hn::Not(outside);
  }
  /// By the corner that is farthest out.
  M holds(const Boxes& box) const {
    M inside = hn::Eq(hn::Zero(kFloats), hn::Zero(kFloats));  // everywhere
    for (uint32_t i = 0; i < volume.plane_count; ++i)
      inside = hn::And(inside, hn::Ge(side(volume.planes[i], box.lo, box.hi), hn::Zero(kFloats)));
    return inside;
  }

 private:
  /// Of the corner that is `up` where the normal points upwards.
  static F side(const Plane& plane, const F (&up)[3], const F (&down)[3]) {
    const Vec3& n = plane.normal;
    const F x = hn::Mul(splat(n.x), n.x >= 0 ? up[0] : down[0]);
    const F y = hn::Mul(splat(n.y), n.y >= 0 ? up[1] : down[1]);
    const F z = hn::Mul(splat(n.z), n.z >= 0 ? up[2] : down[2]);
    return hn::Add(hn::Add(hn::Add(x, y), z), splat(plane.d));
  }
};

struct Oriented {
  static constexpr bool kIsCandidate = true, kKnowsWhole = false, kKnowsLevel = false;
  Overlap overlap;
  Planes planes;

  explicit Oriented(const SearchVolume& v) : overlap(v), planes(v) {}
  M passes(const Boxes& box) const {
    Boxes cut;
    for (int i = 0; i < 3; ++i) {
      cut.lo[i] = hn::Max(box.lo[i], overlap.min[i]);
      cut.hi[i] = hn::Min(box.hi[i], overlap.max[i]);
    }
    return hn::And(overlap.passes(box), planes.passes(cut));
  }
};

/// Boxes of a WideBoxes, and of slots.
HWY_INLINE Boxes load_boxes(const float* boxes) {
  Boxes out;
  for (size_t axis = 0; axis < 3; ++axis) {
    out.lo[axis] = hn::LoadU(kFloats, boxes + axis * kWideLanes);
    out.hi[axis] = hn::LoadU(kFloats, boxes + (axis + 3) * kWideLanes);
  }
  return out;
}
HWY_INLINE Boxes load_slots(const float* centre_x, size_t capacity) {
  Boxes out;
  for (size_t axis = 0; axis < 3; ++axis) {
    const F centre = hn::LoadU(kFloats, centre_x + axis * capacity);
    const F half = hn::LoadU(kFloats, centre_x + (axis + 3) * capacity);
    out.lo[axis] = hn::Sub(centre, half);
    out.hi[axis] = hn::Add(centre, half);
  }
  return out;
}

/// The tests of volumes that are about as long as wide.
template <class Shape>
class WideTest {
 public:
  static constexpr bool kIsCandidate = Shape::kIsCandidate, kIsThin = false;
  explicit WideTest(const SearchVolume& volume) : shape_(volume) {}

  HWY_INLINE uint32_t boxes(const float* boxes) const {
    uint32_t mask = 0;
    for (size_t i = 0; i < kWideLanes; i += kStep) mask |= bits_of(kFloats, shape_.passes(load_boxes(boxes + i))) << i;
    return mask;
  }
  HWY_INLINE uint32_t reaches(const float* boxes) const { return this->boxes(boxes); }
  HWY_INLINE SubBlocks sub_blocks(const float* boxes) const {
    SubBlocks out{0, 0, 0};
    for (size_t i = 0; i < kWideLanes; i += kStep) {
      const Boxes box = load_boxes(boxes + i);
      out.touched |= bits_of(kFloats, shape_.passes(box)) << i;
      if constexpr (Shape::kKnowsWhole) out.whole |= bits_of(kFloats, shape_.holds(box)) << i;
      if constexpr (Shape::kKnowsLevel) out.level |= bits_of(kFloats, shape_.holds_level(box)) << i;
    }
    return out;
  }
  template <bool kIsLevel>
  HWY_INLINE uint32_t slots(const float* centre_x, size_t capacity, uint32_t) const {
    uint32_t mask = 0;
    for (size_t i = 0; i < kSubBlockSlots; i += kStep) {
      const Boxes box = load_slots(centre_x + i, capacity);
      if constexpr (kIsLevel && Shape::kKnowsLevel) {
        mask |= bits_of(kFloats, shape_.passes_level(box)) << i;
      } else {
        mask |= bits_of(kFloats, shape_.passes(box)) << i;
      }
    }
    return mask;
  }
  uint32_t confirmed(const DescLanes&, uint32_t, uint32_t mask) const { return mask; }

 private:
  Shape shape_;
};

/// The tests of segments and sweeps. A line meets little, so what is decided last is the extent: where no inverse is 0,
/// hardly a box passes the rest and not that.
template <bool kIsSwept>
class ThinTest {
 public:
  static constexpr bool kIsCandidate = kIsSwept, kIsThin = true;

  explicit ThinTest(const SearchVolume& v) : volume_(v), extent_(v), limit_(splat(kSegmentLimit)) {
    for (size_t axis = 0; axis < 3; ++axis) {
      const SegmentAxis& along = v.axes[axis];
      from_[axis] = splat(along.from);
      to_[axis] = splat(along.to);
      inverse_[axis] = splat(along.inverse);
      sign_[axis] = splat(along.is_down ? -0.0f : 0.0f);
      near_[axis] = (along.is_down ? axis + 3 : axis) * kWideLanes;
      far_[axis] = (along.is_down ? axis : axis + 3) * kWideLanes;
      is_steep_ = is_steep_ && along.inverse != 0;
    }
  }

  HWY_INLINE uint32_t boxes(const float* boxes) const {
    uint32_t mask = 0;
    for (size_t i = 0; i < kWideLanes; i += kStep) {
      const M in_extent = extent_.passes(load_boxes(boxes + i));
      mask |= bits_of(kFloats, hn::And(in_extent, crosses(boxes + i))) << i;
    }
    return mask;
  }
  HWY_INLINE uint32_t reaches(const float* boxes) const {
    if (!is_steep_) return this->boxes(boxes);
    uint32_t mask = 0;
    for (size_t i = 0; i < kWideLanes; i += kStep) mask |= bits_of(kFloats, crosses(boxes + i)) << i;
    return mask;
  }
  HWY_INLINE SubBlocks sub_blocks(const float* boxes) const { return {reaches(boxes), 0, 0}; }
  template <bool>
  HWY_INLINE uint32_t slots(const float* centre_x, size_t capacity, uint32_t) const {
    uint32_t mask = 0;
    for (size_t i = 0; i < kSubBlockSlots; i += kStep) {
      F near[3], far[3];
      for (size_t axis = 0; axis < 3; ++axis) {
        const F centre = hn::LoadU(kFloats, centre_x + axis * capacity + i);
        // Downwards, near is hi: the centre minus the negative half, which rounds as the sum does.
        const F half = hn::Xor(hn::LoadU(kFloats, centre_x + (axis + 3) * capacity + i), sign_[axis]);
        near[axis] = hn::Sub(centre, half);
        far[axis] = hn::Add(centre, half);
      }
      mask |= bits_of(kFloats, crosses(near, far)) << i;
    }
    return mask;
  }
  uint32_t confirmed(const DescLanes& lanes, uint32_t first, uint32_t mask) const {
    uint32_t out = 0;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
      const uint32_t lane = static_cast<uint32_t>(std::countr_zero(left)), slot = first + lane;
      const float x = lanes.centre_x[slot], y = lanes.centre_y[slot], z = lanes.centre_z[slot];
      const float hx = lanes.half_x[slot], hy = lanes.half_y[slot], hz = lanes.half_z[slot];
      const Vec3 &min = volume_.min, &max = volume_.max;
      const bool passes = (x - hx <= max.x) & (x + hx >= min.x) & (y - hy <= max.y) & (y + hy >= min.y) &
                          (z - hz <= max.z) & (z + hz >= min.z);
      out |= static_cast<uint32_t>(passes) << lane;
    }
    return out;
  }

 private:
  HWY_INLINE M crosses(const F (&near)[3], const F (&far)[3]) const {
    F enter = hn::Zero(kFloats), back = hn::Zero(kFloats);
    for (size_t axis = 0; axis < 3; ++axis) {
      enter = hn::Max(hn::Mul(hn::Sub(near[axis], from_[axis]), inverse_[axis]), enter);
      back = hn::Max(hn::Mul(hn::Sub(to_[axis], far[axis]), inverse_[axis]), back);
    }
    return hn::Le(hn::Add(enter, back), limit_);
  }
  HWY_INLINE M crosses(const float* boxes) const {
    F near[3], far[3];
    for (size_t axis = 0; axis < 3; ++axis) {
      near[axis] = hn::LoadU(kFloats, boxes + near_[axis]);
      far[axis] = hn::LoadU(kFloats, boxes + far_[axis]);
    }
    return crosses(near, far);
  }

  const SearchVolume& volume_;
  Overlap extent_;
  F from_[3], to_[3], inverse_[3], sign_[3], limit_;
  size_t near_[3], far_[3];  ///< of a WideBoxes, which array [floats]
  bool is_steep_ = true;     ///< no inverse is 0
};

using SphereTest = WideTest<Sphere>;
using BoxTest = WideTest<Overlap>;
using OrientedTest = WideTest<Oriented>;
using SegmentTest = ThinTest<false>;
using SweptTest = ThinTest<true>;
using FrustumTest = WideTest<Planes>;

HWY_INLINE uint32_t used_slots(const uint16_t* distance) {
  constexpr Words kWords;
  uint32_t mask = 0;
  for (size_t i = 0; i < kSubBlockSlots; i += hn::MaxLanes(kWords)) {
    const auto empty = hn::Eq(hn::LoadU(kWords, distance + i), hn::Zero(kWords));
    mask |= bits_of(kWords, hn::Not(empty)) << i;
  }
  return mask;
}

#include "base/pack_lanes-inl.h"

// Written as pairs of lanes.
static_assert(sizeof(EntityHandle) == 8 && offsetof(EntityHandle, generation) == 0 &&
              offsetof(EntityHandle, slot) == 4);

HWY_INLINE void write_group(const uint32_t* entity, uint32_t mask, EntityHandle group, EntityHandle* out) {
  constexpr hn::CappedTag<uint32_t, kWideLanes> kIndices;
  constexpr hn::RepartitionToWide<decltype(kIndices)> kPairs;
  constexpr hn::Half<decltype(kIndices)> kHalf;
  constexpr size_t kCount = hn::MaxLanes(kIndices);
  const auto generation = hn::Set(kPairs, uint64_t{group.generation});
  const auto slot = hn::Set(kIndices, group.slot);
  for (size_t i = 0; i < kSubBlockSlots; i += kCount) {
    const uint32_t part = mask >> i & ((1u << kCount) - 1);
    const auto packed = LanePacker<decltype(kIndices)>(part)(kIndices, hn::Add(hn::LoadU(kIndices, entity + i), slot));
    const auto low = hn::PromoteTo(kPairs, hn::LowerHalf(kHalf, packed));
    const auto high = hn::PromoteTo(kPairs, hn::UpperHalf(kHalf, packed));
    auto* const to = reinterpret_cast<uint32_t*>(out);
    hn::StoreU(hn::BitCast(kIndices, hn::Or(hn::ShiftLeft<32>(low), generation)), kIndices, to);
    hn::StoreU(hn::BitCast(kIndices, hn::Or(hn::ShiftLeft<32>(high), generation)), kIndices, to + kCount);
    out += std::popcount(part);
  }
}

#include "search/search_walk-inl.h"

}  // namespace

const SearchKernels& search_kernels_here();
const SearchKernels& search_kernels_here() { return kKernels; }

}  // namespace meridian::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace meridian {

const SearchKernels& wide_search_kernels(SimdWidth width) {
  return MERIDIAN_SIMD_DISPATCH(width, search_kernels_here, scalar_search_kernels);
}

}  // namespace meridian
#endif
