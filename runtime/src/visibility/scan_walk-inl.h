// SPDX-License-Identifier: MIT
// From the hierarchy to containers. Included once for each width, inside its namespace; so there is no guard.

/// Which of 16 boxes each of a number of shapes touches.
struct Touched {
  uint32_t any = 0;                             ///< lanes that at least one shape touches
  uint32_t lanes[kMaxCullShapes];               ///< by shape, in the order of the bits asked for
  uint16_t planes[kMaxCullShapes][kWideLanes];  ///< likewise: planes that each lane crosses
};

/// `planes`: of each of the shapes, in the order of their bits, those that still count. Where there is a sphere, all
/// count as crossed.
HWY_INLINE void touch(const ReadyShape* shapes, uint32_t active, const uint16_t* planes, const float* boxes,
                      const F (&origin)[3], uint32_t used, Touched& out) {
  out.any = 0;
  for (int i = 0, count = std::popcount(active); i < count; ++i) out.lanes[i] = 0;
  for (size_t lane = 0; lane < kWideLanes; lane += kStep) {
    const uint32_t bits = used >> lane & kStepBits;
    if (bits == 0) continue;
    Boxes box;
    load_bounds(boxes + lane, origin, box);
    uint32_t rank = 0;
    for (uint32_t left = active; left != 0; left &= left - 1, ++rank) {
      const ReadyShape& shape = shapes[std::countr_zero(left)];
      const uint32_t touched = touches(shape, box, planes[rank], bits);
      out.lanes[rank] |= touched << lane;
      out.any |= touched << lane;
      if (touched == 0) continue;
      W crossed = hn::Zero(kWords);
      for (uint32_t p = planes[rank] & shape.all_planes(); p != 0; p &= p - 1) {
        const auto i = static_cast<uint32_t>(std::countr_zero(p));
        const M is_inside = hn::Ge(least(shape.planes[i], shape.corners[i], box), splat(-shape.planes[i].d));
        crossed = hn::Or(crossed, hn::IfThenZeroElse(hn::RebindMask(kWords, is_inside), hn::Set(kWords, 1u << i)));
      }
      if (shape.sphere_r2 >= 0) crossed = hn::Set(kWords, kAllPlanes);
      hn::StoreU(hn::TruncateTo(kShorts, crossed), kShorts, out.planes[rank] + lane);
    }
  }
}

/// What one lane is to the shapes: which touch it, and what they have left of their planes, in their order.
HWY_INLINE uint32_t take_lane(const Touched& touched, uint32_t active, uint32_t lane, uint16_t* planes) {
  uint32_t out = 0, rank = 0;
  for (uint32_t left = active; left != 0; left &= left - 1, ++rank) {
    if ((touched.lanes[rank] >> lane & 1) == 0) continue;
    out |= left & (~left + 1);
    *planes++ = touched.planes[rank][lane];
  }
  return out;
}

inline void find(const ScanInput& in, std::span<const ReadyShape> shapes, HierarchyWalk& walk, uint32_t most,
                 SliceList& out, ScanCounters& counters) {
  const F origin[3] = {splat(in.lod.camera.x), splat(in.lod.camera.y), splat(in.lod.camera.z)};
  Touched touched;
  while (walk.depth != 0 && out.count < most) {
    const HierarchyWalk::Entry at = walk.stack[--walk.depth];
    const BoxHierarchy::Node& node = in.hierarchy->node(at.node);
    uint32_t used = 0;  // no plane test can tell with numbers as large as those of empty lanes
    for (size_t lane = 0; lane < kWideLanes; lane += kStep) {
      const W child = hn::LoadU(kWords, node.child + lane);
      used |= bits_of_words(hn::Ne(child, hn::Set(kWords, BoxHierarchy::kNone))) << lane;
    }
    touch(shapes.data(), at.shapes, at.planes, node.boxes.min_x, origin, used, touched);
    const bool is_leaf = used != 0 && (node.child[std::countr_zero(used)] & BoxHierarchy::kItem) != 0;
    if (is_leaf) {
      counters.containers += static_cast<uint32_t>(std::popcount(used));
      counters.containers_outside += static_cast<uint32_t>(std::popcount(used & ~touched.any));
    }
    for (uint32_t left = touched.any; left != 0; left &= left - 1) {
      const uint32_t child = node.child[std::countr_zero(left)] & ~BoxHierarchy::kItem;
      if (is_leaf) {
        prefetch(&in.containers->bounds[child], sizeof(DescBounds));
        prefetch(&in.containers->views[child], 1);
      } else {
        prefetch(&in.hierarchy->node(child), sizeof(BoxHierarchy::Node));
      }
    }
    for (uint32_t left = touched.any; left != 0; left &= left - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(left));
      const uint32_t child = node.child[lane];
      if (is_leaf) {
        uint16_t planes[kMaxCullShapes];
        const uint32_t touching = take_lane(touched, at.shapes, lane, planes);
        keep_container(in, shapes, child & ~BoxHierarchy::kItem, touching, planes, out, counters);
      } else {
        HierarchyWalk::Entry& entry = walk.stack[walk.depth++];
        entry.node = child;
        entry.shapes = take_lane(touched, at.shapes, lane, entry.planes);
      }
    }
  }
}
