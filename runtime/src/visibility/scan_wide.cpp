// SPDX-License-Identifier: MIT
// The scan's loops for 4, 8 and 16 boxes at a time: Highway compiles this file once for each width. Operation by
// operation the same as scan_scalar.cpp and scan_slot.cpp, but that boxes inside of planes are not tested again.
#include "base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "visibility/scan_wide.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

#include "base/packed_lanes.h"
#include "scene/block_walk.h"
#include "scene/desc_bounds.h"
#include "visibility/scan_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace meridian::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kWideLanes>;
using F = hn::Vec<Floats>;
using M = hn::Mask<Floats>;
using Words = hn::RebindToUnsigned<Floats>;
using W = hn::Vec<Words>;
using Ints = hn::RebindToSigned<Floats>;
constexpr Floats kFloats;
constexpr Words kWords;
constexpr Ints kInts;
constexpr hn::Rebind<uint16_t, Floats> kShorts;
constexpr hn::Rebind<uint8_t, Floats> kBytes;
constexpr size_t kStep = hn::MaxLanes(Floats());
constexpr uint32_t kStepBits = (uint32_t{1} << kStep) - 1;

HWY_INLINE F splat(float value) { return hn::Set(kFloats, value); }
HWY_INLINE uint32_t bits_of(M mask) {
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(kFloats, mask, bytes);
  return static_cast<uint32_t>(bytes[0] | bytes[1] << 8);
}
HWY_INLINE uint32_t bits_of_words(hn::Mask<Words> mask) { return bits_of(hn::RebindMask(kFloats, mask)); }

HWY_INLINE uint32_t count_of(uint32_t bits) { return static_cast<uint32_t>(std::popcount(bits)); }
/// Lanes with at least one of these bits.
HWY_INLINE M has(W words, uint32_t bits) {
  return hn::RebindMask(kFloats, hn::Ne(hn::And(words, hn::Set(kWords, bits)), hn::Zero(kWords)));
}
/// The word in the lanes of `bits`, 0 in others.
HWY_INLINE W words_in(uint32_t bits, uint32_t word) {
  const uint8_t bytes[8] = {static_cast<uint8_t>(bits), static_cast<uint8_t>(bits >> 8)};
  return hn::IfThenElseZero(hn::LoadMaskBits(kWords, bytes), hn::Set(kWords, word));
}

/// As many widened boxes as a vector has lanes: lo x, y, z, hi x, y, z; each kCornerStride bytes behind the one before.
struct Boxes {
  alignas(64) float of[6][kCornerStride / sizeof(float)];
  HWY_INLINE F at(size_t i) const { return hn::Load(kFloats, of[i]); }
  HWY_INLINE void set(size_t i, F numbers) { hn::Store(numbers, kFloats, of[i]); }
  /// By ReadyShape::corners.
  HWY_INLINE F corner(size_t offset) const {
    return hn::Load(kFloats, reinterpret_cast<const float*>(reinterpret_cast<const std::byte*>(of) + offset));
  }
};
static_assert(sizeof(Boxes) == 6 * kCornerStride && kStep * sizeof(float) <= kCornerStride);

/// ready_bound()
HWY_INLINE void load_bounds(const float* boxes, const F (&origin)[3], Boxes& out) {
  for (size_t axis = 0; axis < 3; ++axis) {
    const F lo = hn::Sub(hn::LoadU(kFloats, boxes + axis * kWideLanes), origin[axis]);
    const F hi = hn::Sub(hn::LoadU(kFloats, boxes + (axis + 3) * kWideLanes), origin[axis]);
    const F slack = hn::Mul(hn::Max(hn::Abs(lo), hn::Abs(hi)), splat(kBoundSlack));
    out.set(axis, hn::Sub(lo, slack));
    out.set(axis + 3, hn::Add(hi, slack));
  }
}

/// ready_slot(), along one axis
HWY_INLINE void widen_slots(F centre, F half, F origin, size_t axis, Boxes& out) {
  const F c = hn::Sub(centre, origin);
  const F h = hn::Add(half, hn::Mul(hn::Add(hn::Abs(c), half), splat(kSlotSlack)));
  out.set(axis, hn::Sub(c, h));
  out.set(axis + 3, hn::Add(c, h));
}

/// What a plane's limit is compared with, for the corner that is farthest inside.
HWY_INLINE F reach(float nx, float ny, float nz, const uint16_t* corner, const Boxes& box) {
  const F x = hn::Mul(splat(nx), box.corner(corner[0])), y = hn::Mul(splat(ny), box.corner(corner[1]));
  return hn::Add(hn::Add(x, y), hn::Mul(splat(nz), box.corner(corner[2])));
}
HWY_INLINE F reach(const Plane& plane, const uint16_t* corner, const Boxes& box) {
  return reach(plane.normal.x, plane.normal.y, plane.normal.z, corner, box);
}
/// The same for the corner that is farthest outside.
HWY_INLINE F least(const Plane& plane, const uint16_t* corner, const Boxes& box) {
  const auto opposite = [&](size_t axis) { return box.corner((axis * 2 + 3) * kCornerStride - corner[axis]); };
  const F x = hn::Mul(splat(plane.normal.x), opposite(0)), y = hn::Mul(splat(plane.normal.y), opposite(1));
  return hn::Add(hn::Add(x, y), hn::Mul(splat(plane.normal.z), opposite(2)));
}

HWY_INLINE M nowhere() { return hn::Lt(hn::Zero(kFloats), hn::Zero(kFloats)); }

HWY_INLINE M in_sphere(const ReadyShape& shape, const Boxes& box) {
  const float at[3] = {shape.sphere.x, shape.sphere.y, shape.sphere.z};
  F square[3];
  for (size_t axis = 0; axis < 3; ++axis) {
    const F p = splat(at[axis]);
    const F outside = hn::Max(hn::Sub(box.at(axis), p), hn::Sub(p, box.at(axis + 3)));
    const F d = hn::Max(outside, hn::Zero(kFloats));
    square[axis] = hn::Mul(d, d);
  }
  return hn::Le(hn::Add(hn::Add(square[0], square[1]), square[2]), splat(shape.sphere_r2));
}

/// Of the boxes in `bits`, those that touch the shape. Of its planes those in `planes` are tested.
HWY_INLINE uint32_t touches(const ReadyShape& shape, const Boxes& box, uint32_t planes, uint32_t bits) {
  uint32_t in_frustum = (shape.flags & kCullUseFrustum) != 0 ? bits : 0;
  for (uint32_t left = planes & shape.all_planes(); left != 0 && in_frustum != 0; left &= left - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(left));
    const Plane& plane = shape.planes[i];
    in_frustum &= ~bits_of(hn::Lt(reach(plane, shape.corners[i], box), splat(-plane.d)));
  }
  if (shape.sphere_r2 < 0) return in_frustum;
  return in_frustum | (bits & bits_of(in_sphere(shape, box)));
}

#include "base/pack_lanes-inl.h"

// Containers first: slots use what boxes are found by.
#include "visibility/scan_walk-inl.h"

// Then what stands in them: blocks, candidates, entries.
#include "visibility/scan_blocks-inl.h"

#include "visibility/scan_pick-inl.h"

#include "visibility/scan_slots-inl.h"

constexpr ScanKernels kKernels = {find, scan};

}  // namespace

const ScanKernels& scan_kernels_here();
const ScanKernels& scan_kernels_here() { return kKernels; }

}  // namespace meridian::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace meridian {

const ScanKernels& wide_scan_kernels(SimdWidth width) {
  return MERIDIAN_SIMD_DISPATCH(width, scan_kernels_here, scalar_scan_kernels);
}

}  // namespace meridian
#endif
