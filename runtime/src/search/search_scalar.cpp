// SPDX-License-Identifier: MIT
// The reference: one box at a time, as search_volume.h writes the formulas.
#include <bit>

#include "search/search_kernel.h"
#include "search/search_walk.h"

namespace meridian {
namespace {

struct Box {
  float lo[3], hi[3];
};

/// What gives a value for NaN is written out: the vectors' maximum takes its second operand then.
float larger(float a, float b) { return a > b ? a : b; }
float smaller(float a, float b) { return a < b ? a : b; }

struct Sphere {
  static constexpr bool kIsCandidate = false;
  float p[3], limit;

  explicit Sphere(const SearchVolume& v) : p{v.source->a.x, v.source->a.y, v.source->a.z}, limit(v.radius_squared) {}
  bool passes(const Box& box) const {
    float d[3];
    for (int i = 0; i < 3; ++i) d[i] = larger(larger(box.lo[i] - p[i], p[i] - box.hi[i]), 0.0f);
    return (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2] <= limit;
  }
};

struct Overlap {
  static constexpr bool kIsCandidate = false;
  float min[3], max[3];

  explicit Overlap(const SearchVolume& v) : min{v.min.x, v.min.y, v.min.z}, max{v.max.x, v.max.y, v.max.z} {}
  bool passes(const Box& box) const {
    bool in = true;
    for (int i = 0; i < 3; ++i) in = in && box.lo[i] <= max[i] && box.hi[i] >= min[i];
    return in;
  }
};

struct Planes {
  static constexpr bool kIsCandidate = false;
  const SearchVolume& volume;

  explicit Planes(const SearchVolume& v) : volume(v) {}
  bool passes(const Box& box) const {
    for (uint32_t i = 0; i < volume.plane_count; ++i) {
      const Vec3& n = volume.planes[i].normal;
      const float x = n.x * (n.x >= 0 ? box.hi : box.lo)[0];
      const float y = n.y * (n.y >= 0 ? box.hi : box.lo)[1];
      const float z = n.z * (n.z >= 0 ? box.hi : box.lo)[2];
      if (((x + y) + z) + volume.planes[i].d < 0) return false;
    }
    return true;
  }
};

struct Oriented {
  static constexpr bool kIsCandidate = true;
  Overlap overlap;
  Planes planes;

  explicit Oriented(const SearchVolume& v) : overlap(v), planes(v) {}
  bool passes(const Box& box) const {
    Box cut;
    for (int i = 0; i < 3; ++i) {
      cut.lo[i] = larger(box.lo[i], overlap.min[i]);
      cut.hi[i] = smaller(box.hi[i], overlap.max[i]);
    }
    return overlap.passes(box) && planes.passes(cut);
  }
};

struct Segment {
  static constexpr bool kIsCandidate = false;
  Overlap overlap;
  const SegmentAxis* axes;

  explicit Segment(const SearchVolume& v) : overlap(v), axes(v.axes) {}
  bool passes(const Box& box) const {
    float enter = 0, back = 0;
    for (int i = 0; i < 3; ++i) {
      const float near = axes[i].is_down ? box.hi[i] : box.lo[i], far = axes[i].is_down ? box.lo[i] : box.hi[i];
      enter = larger((near - axes[i].from) * axes[i].inverse, enter);
      back = larger((axes[i].to - far) * axes[i].inverse, back);
    }
    return overlap.passes(box) && enter + back <= kSegmentLimit;
  }
};

struct Swept : Segment {
  static constexpr bool kIsCandidate = true;
  using Segment::Segment;
};

template <class Shape>
class ScalarTest {
 public:
  static constexpr bool kIsCandidate = Shape::kIsCandidate, kIsThin = false;
  explicit ScalarTest(const SearchVolume& volume) : shape_(volume) {}

  uint32_t boxes(const float* boxes) const {
    uint32_t mask = 0;
    for (uint32_t i = 0; i < kWideLanes; ++i) {
      const float* const b = boxes + i;
      const Box box{{b[0], b[16], b[32]}, {b[48], b[64], b[80]}};
      mask |= static_cast<uint32_t>(shape_.passes(box)) << i;
    }
    return mask;
  }
  uint32_t reaches(const float* boxes) const { return this->boxes(boxes); }
  SubBlocks sub_blocks(const float* boxes) const { return {this->boxes(boxes), 0, 0}; }
  template <bool>
  uint32_t slots(const float* centre_x, size_t capacity, uint32_t count) const {
    uint32_t mask = 0;
    for (uint32_t i = 0; i < kSubBlockSlots && i < count; ++i) {
      Box box;
      for (size_t axis = 0; axis < 3; ++axis) {
        const float centre = centre_x[axis * capacity + i], half = centre_x[(axis + 3) * capacity + i];
        box.lo[axis] = centre - half;
        box.hi[axis] = centre + half;
      }
      mask |= static_cast<uint32_t>(shape_.passes(box)) << i;
    }
    return mask;
  }
  uint32_t confirmed(const DescLanes&, uint32_t, uint32_t mask) const { return mask; }

 private:
  Shape shape_;
};

using SphereTest = ScalarTest<Sphere>;
using BoxTest = ScalarTest<Overlap>;
using OrientedTest = ScalarTest<Oriented>;
using SegmentTest = ScalarTest<Segment>;
using SweptTest = ScalarTest<Swept>;
using FrustumTest = ScalarTest<Planes>;

uint32_t used_slots(const uint16_t* distance) {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < kSubBlockSlots; ++i) mask |= static_cast<uint32_t>(distance[i] != 0) << i;
  return mask;
}

void write_group(const uint32_t* entity, uint32_t mask, EntityHandle group, EntityHandle* out) {
  for (; mask != 0; mask &= mask - 1) *out++ = entity_of_group(group, entity[std::countr_zero(mask)]);
}

#include "search/search_walk-inl.h"

}  // namespace

const SearchKernels& scalar_search_kernels() { return kKernels; }

}  // namespace meridian
