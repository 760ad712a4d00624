// SPDX-License-Identifier: MIT
// The formulas of search_volume.h for 4, 8 and 16 boxes at a time: Highway compiles this file once for each width.
#include "base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search/search_wide.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <bit>

#include "search/search_kernel.h"
#include "search/search_walk.h"

HWY_BEFORE_NAMESPACE();
namespace meridian::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kWideLanes>;
using Words = hn::CappedTag<uint16_t, kLanes>;
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
  static constexpr bool kIsCandidate = false;
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
};

struct Overlap {
  static constexpr bool kIsCandidate = false;
  F min[3], max[3];

  explicit Overlap(const SearchVolume& v)
      : min{splat(v.min.x), splat(v.min.y), splat(v.min.z)}, max{splat(v.max.x), splat(v.max.y), splat(v.max.z)} {}
  M passes(const Boxes& box) const {
    M in = hn::And(hn::Le(box.lo[0], max[0]), hn::Ge(box.hi[0], min[0]));
    for (int i = 1; i < 3; ++i) in = hn::And(in, hn::And(hn::Le(box.lo[i], max[i]), hn::Ge(box.hi[i], min[i])));
    return in;
  }
};

struct Planes {
  static constexpr bool kIsCandidate = false;
  const SearchVolume& volume;

  explicit Planes(const SearchVolume& v) : volume(v) {}
  M passes(const Boxes& box) const {
    M outside = hn::Lt(hn::Zero(kFloats), hn::Zero(kFloats));  // nowhere
    for (uint32_t i = 0; i < volume.plane_count; ++i) {
      const Vec3& n = volume.planes[i].normal;
      const F x = hn::Mul(splat(n.x), n.x >= 0 ? box.hi[0] : box.lo[0]);
      const F y = hn::Mul(splat(n.y), n.y >= 0 ? box.hi[1] : box.lo[1]);
      const F z = hn::Mul(splat(n.z), n.z >= 0 ? box.hi[2] : box.lo[2]);
      const F sum = hn::Add(hn::Add(hn::Add(x, y), z), splat(volume.planes[i].d));
      outside = hn::Or(outside, hn::Lt(sum, hn::Zero(kFloats)));
    }
    return hn::Not(outside);
  }
};

struct Oriented {
  static constexpr bool kIsCandidate = true;
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

struct Segment {
  static constexpr bool kIsCandidate = false;
  Overlap overlap;
  F from[3], to[3], inverse[3];
  M is_down[3];

  explicit Segment(const SearchVolume& v) : overlap(v) {
    for (int i = 0; i < 3; ++i) {
      from[i] = splat(v.axes[i].from);
      to[i] = splat(v.axes[i].to);
      inverse[i] = splat(v.axes[i].inverse);
      is_down[i] = hn::Lt(splat(v.axes[i].is_down ? -1.0f : 1.0f), hn::Zero(kFloats));
    }
  }
  M passes(const Boxes& box) const {
    F enter = hn::Zero(kFloats), back = hn::Zero(kFloats);
    for (int i = 0; i < 3; ++i) {
      const F near = hn::IfThenElse(is_down[i], box.hi[i], box.lo[i]);
      const F far = hn::IfThenElse(is_down[i], box.lo[i], box.hi[i]);
      enter = hn::Max(hn::Mul(hn::Sub(near, from[i]), inverse[i]), enter);
      back = hn::Max(hn::Mul(hn::Sub(to[i], far), inverse[i]), back);
    }
    return hn::And(overlap.passes(box), hn::Le(hn::Add(enter, back), splat(kSegmentLimit)));
  }
};

struct Swept : Segment {
  static constexpr bool kIsCandidate = true;
  using Segment::Segment;
};

template <class Shape>
class WideTest {
 public:
  static constexpr bool kIsCandidate = Shape::kIsCandidate;
  explicit WideTest(const SearchVolume& volume) : shape_(volume) {}

  HWY_INLINE uint32_t boxes(const float* boxes) const {
    uint32_t mask = 0;
    for (size_t i = 0; i < kWideLanes; i += kStep) {
      Boxes box;
      for (size_t axis = 0; axis < 3; ++axis) {
        box.lo[axis] = hn::LoadU(kFloats, boxes + axis * kWideLanes + i);
        box.hi[axis] = hn::LoadU(kFloats, boxes + (axis + 3) * kWideLanes + i);
      }
      mask |= bits_of(kFloats, shape_.passes(box)) << i;
    }
    return mask;
  }
  HWY_INLINE uint32_t slots(const float* centre_x, size_t capacity) const {
    uint32_t mask = 0;
    for (size_t i = 0; i < kLanes; i += kStep) {
      Boxes box;
      for (size_t axis = 0; axis < 3; ++axis) {
        const F centre = hn::LoadU(kFloats, centre_x + axis * capacity + i);
        const F half = hn::LoadU(kFloats, centre_x + (axis + 3) * capacity + i);
        box.lo[axis] = hn::Sub(centre, half);
        box.hi[axis] = hn::Add(centre, half);
      }
      mask |= bits_of(kFloats, shape_.passes(box)) << i;
    }
    return mask;
  }

 private:
  Shape shape_;
};

using SphereTest = WideTest<Sphere>;
using BoxTest = WideTest<Overlap>;
using OrientedTest = WideTest<Oriented>;
using SegmentTest = WideTest<Segment>;
using SweptTest = WideTest<Swept>;
using FrustumTest = WideTest<Planes>;

inline uint32_t used_slots(const uint16_t* distance) {
  constexpr Words kWords;
  uint32_t mask = 0;
  for (size_t i = 0; i < kLanes; i += hn::MaxLanes(kWords)) {
    const auto empty = hn::Eq(hn::LoadU(kWords, distance + i), hn::Zero(kWords));
    mask |= bits_of(kWords, hn::Not(empty)) << i;
  }
  return mask;
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
#if MERIDIAN_HAS_SIMD_256
  if (width == SimdWidth::bits512) return N_AVX3::search_kernels_here();
  if (width == SimdWidth::bits256) return N_AVX2::search_kernels_here();
  return N_SSE4::search_kernels_here();
#elif MERIDIAN_HAS_SIMD_128
  static_cast<void>(width);
  return N_NEON::search_kernels_here();
#else
  static_cast<void>(width);
  return scalar_search_kernels();
#endif
}

}  // namespace meridian
#endif
