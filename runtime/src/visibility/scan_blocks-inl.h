// SPDX-License-Identifier: MIT
// From containers to their blocks: which of them shapes touch, and which are near enough. Included once for each width,
// inside its namespace; so there is no guard.

/// Planes that a container crosses, of all shapes that are nothing but frusta, in one list: what is outside of one of
/// them is found without a branch for each shape. How many planes a shape has left cannot be foretold.
struct PlaneList {
  struct Test {  // not set before it is added: there is room for many, and few are there
    float x, y, z;
    float limit;  ///< what reaches less is outside
    uint16_t corner[3];
    uint32_t bit;  ///< phase of its shape
  };
  uint32_t phases = 0;  ///< of these shapes
  uint32_t count = 0;
  Test tests[kMaxCullShapes * kMaxReadyPlanes];

  void add(const ReadyShape& shape, uint32_t planes) {
    phases |= shape.bit;
    for (uint32_t left = planes & shape.all_planes(); left != 0; left &= left - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(left));
      const Plane& plane = shape.planes[i];
      const uint16_t* const corner = shape.corners[i];
      tests[count++] = {plane.normal.x, plane.normal.y, plane.normal.z, -plane.d, {corner[0], corner[1], corner[2]},
                        shape.bit};
    }
  }
  /// Phases that do not see a box. Those of planes that were not added see it.
  HWY_INLINE W outside(const Boxes& box) const {
    W out = hn::Zero(kWords);
    for (uint32_t i = 0; i < count; ++i) {
      const Test& test = tests[i];
      const M is_outside = hn::Lt(reach(test.x, test.y, test.z, test.corner, box), splat(test.limit));
      out = hn::Or(out, hn::IfThenElseZero(hn::RebindMask(kWords, is_outside), hn::Set(kWords, test.bit)));
    }
    return out;
  }
};

/// What is known of a container before its descriptors are read.
struct Prepared {
  const ScanSlice* slice = nullptr;
  bool draws = true;                    ///< at least one shape does not only stream
  uint32_t near = 0;                    ///< blocks whose slots are looked at
  uint8_t levels[kContainerSubBlocks];  ///< by block: the level of all its slots, or kLodLevels
  float squared[kContainerSubBlocks];   ///< by block: how near its pivots come to the camera, squared
  uint32_t touched = 0;                 ///< blocks that at least one shape touches
  PlaneList frusta;
  uint32_t others = 0;              ///< shapes that are not in that list
  uint16_t planes[kMaxCullShapes];  ///< of these, in order: those that the container crosses
  uint32_t blocks[kMaxCullShapes];  ///< likewise: blocks that they touch

  uint32_t askers = 0;                                       ///< shapes that only stream, each by its own LOD view
  uint32_t asked_blocks = 0;                                 ///< in which at least one of them may ask for something
  uint32_t asked[kMaxCullShapes];                            ///< of each, in order: the blocks in which it may
  float asked_squared[kMaxCullShapes][kContainerSubBlocks];  ///< likewise: how near pivots come to its camera, squared
};

/// Which blocks of containers count.
class BlockScan {
 public:
  HWY_INLINE BlockScan(const ScanInput& in, std::span<const ReadyShape> shapes, ScanCounters& counters)
      : in_(in),
        shapes_(shapes),
        counters_(counters),
        origin_{splat(in.lod.camera.x), splat(in.lod.camera.y), splat(in.lod.camera.z)} {}

  /// Finds the blocks that count, and asks for their descriptors, so that memory is on its way while another container
  /// is looked at.
  void prepare(const ScanSlice& slice, const uint16_t* masks, Prepared& out) {
    const ContainerView& view = in_.containers->views[slice.container];
    out.slice = &slice;
    out.near = 0;
    out.askers = in_.streaming & slice.shapes;
    out.draws = out.askers != slice.shapes;
    take_planes(slice, masks, out);
    const WideBoxes& boxes = in_.containers->sub_boxes[slice.container];
    const uint32_t blocks = (view.slots + kSubBlockSlots - 1) / kSubBlockSlots;
    uint32_t used = 0;
    for (size_t lane = 0; lane < kWideLanes; lane += kStep) {
      const M is_box = hn::Le(hn::LoadU(kFloats, boxes.min_x + lane), hn::LoadU(kFloats, boxes.max_x + lane));
      used |= bits_of(is_box) << lane;
    }
    used &= (1u << blocks) - 1;
    touch_blocks(boxes, used, out);
    ++counters_.slices;
    counters_.blocks += blocks;
    counters_.blocks_outside += blocks - count_of(out.touched);
    const float* const scales = slice.sees_primary ? in_.lod.scales : in_.farthest.scales;
    const DescBounds* const bounds = &in_.containers->sub_blocks[slice.container * kContainerSubBlocks];
    const DescLanes lanes = desc_lanes(view);
    begin_asking(out);
    for (uint32_t left = out.touched; left != 0; left &= left - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(left));
      bool counts = take_bounds(bounds[i], in_.lod, scales, slice.sees_primary, out.levels[i], out.squared[i]);
      counts = counts && out.draws;
      if (out.askers != 0) counts = is_asked_for(bounds[i], i, out) || counts;
      if (!counts) continue;
      out.near |= 1u << i;
      ask_for(lanes, i * kSubBlockSlots);  // at once: many together wait for each other
    }
    counters_.blocks_too_far += count_of(out.touched & ~out.near);
  }

 private:
  /// Of the shapes' planes, those that the container crosses.
  void take_planes(const ScanSlice& slice, const uint16_t* masks, Prepared& out) const {
    out.frusta.count = out.frusta.phases = out.others = 0;
    uint16_t* others = out.planes;
    const uint32_t masked = slice.is_interior ? slice.shapes : slice.masked;
    for (uint32_t left = masked; left != 0; left &= left - 1, ++masks) {
      const uint32_t bit = left & (~left + 1);
      if ((slice.shapes & bit) == 0) continue;
      const ReadyShape& shape = shapes_[static_cast<size_t>(std::countr_zero(left))];
      const uint16_t planes = slice.is_interior ? kAllPlanes : *masks;
      if ((shape.flags & kCullUseFrustum) != 0 && shape.sphere_r2 < 0 && !shape.is_streaming && !shape.has_ranges) {
        out.frusta.add(shape, planes);
      } else {
        out.others |= bit;
        *others++ = planes;
      }
    }
  }

  /// Of a container's blocks, those that are `used`, what is touched.
  void touch_blocks(const WideBoxes& boxes, uint32_t used, Prepared& out) const {
    out.touched = 0;
    for (int i = 0, count = std::popcount(out.others); i < count; ++i) out.blocks[i] = 0;
    for (size_t lane = 0; lane < kWideLanes; lane += kStep) {
      const uint32_t bits = used >> lane & kStepBits;
      if (bits == 0) continue;
      Boxes box;
      load_bounds(boxes.min_x + lane, origin_, box);
      const W seen = hn::AndNot(out.frusta.outside(box), hn::Set(kWords, out.frusta.phases));
      uint32_t any = bits_of_words(hn::Ne(seen, hn::Zero(kWords))) & bits, rank = 0;
      for (uint32_t left = out.others; left != 0; left &= left - 1, ++rank) {
        const ReadyShape& shape = shapes_[static_cast<size_t>(std::countr_zero(left))];
        const uint32_t by_it = touches(shape, box, out.planes[rank], bits);
        out.blocks[rank] |= by_it << lane;
        any |= by_it;
      }
      out.touched |= any << lane;
    }
  }

  static void begin_asking(Prepared& out) {
    out.asked_blocks = 0;
    for (int i = 0, count = std::popcount(out.askers); i < count; ++i) out.asked[i] = 0;
  }
  /// Whether shapes that only stream may ask for something in a block.
  HWY_NOINLINE bool is_asked_for(const DescBounds& bounds, uint32_t block, Prepared& out) const {
    uint32_t rank = 0, asker = 0;
    for (uint32_t left = out.others; left != 0; left &= left - 1, ++rank) {
      const ReadyShape& shape = shapes_[static_cast<size_t>(std::countr_zero(left))];
      if (!shape.is_streaming) continue;
      const uint32_t at = asker++;
      if ((out.blocks[rank] >> block & 1) == 0) continue;
      if (!take_bounds(bounds, shape.lod, shape.lod.scales, true, out.levels[block], out.asked_squared[at][block]))
        continue;
      out.asked[at] |= 1u << block;
      out.asked_blocks |= 1u << block;
    }
    return (out.asked_blocks >> block & 1) != 0;
  }

  /// Whether a block may be near enough, is_block_too_far(), how near its pivots come, and which level all its slots have.
  static HWY_INLINE bool take_bounds(const DescBounds& bounds, const ReadyLod& lod, const float* scales,
                                     bool sees_primary, uint8_t& level, float& squared) {
    constexpr hn::CappedTag<float, 8> kEight;
    constexpr hn::Rebind<uint16_t, decltype(kEight)> kEightShorts;
    constexpr hn::RebindToSigned<decltype(kEight)> kEightInts;
    static_assert(offsetof(DescBounds, masks) == offsetof(DescBounds, distance) + kLodLevels * sizeof(uint16_t));
    auto near = hn::Zero(kEight);
    uint32_t levels = 0;
    for (size_t i = 0; i < 8; i += hn::MaxLanes(kEight)) {  // the last one is no distance, and its scale is 0
      const auto metres =
          hn::ConvertTo(kEight, hn::PromoteTo(kEightInts, hn::LoadU(kEightShorts, bounds.distance + i)));
      near = hn::Max(near, hn::Mul(metres, hn::LoadU(kEight, scales + i)));
      uint8_t bytes[8] = {};
      hn::StoreMaskBits(kEight, hn::Gt(metres, hn::Zero(kEight)), bytes);
      levels |= static_cast<uint32_t>(bytes[0]) << i;
    }
    levels &= kAllLevels;
    const bool is_one = levels != 0 && (levels & (levels - 1)) == 0;
    level = static_cast<uint8_t>(is_one ? std::countr_zero(levels) : static_cast<int>(kLodLevels));
    const float far = hn::GetLane(hn::MaxOfLanes(kEight, near)) * std::max(1.0f, lod.grass_scale) + kLodFade;
    const float reach = sees_primary ? far + lod.pre_stream : far;
    const Vec3 &lo = bounds.pivot_min, &hi = bounds.pivot_max, &at = lod.camera;
    const float x = std::max(std::max(lo.x - at.x, at.x - hi.x), 0.0f);
    const float y = std::max(std::max(lo.y - at.y, at.y - hi.y), 0.0f);
    const float z = std::max(std::max(lo.z - at.z, at.z - hi.z), 0.0f);
    squared = (x * x + y * y) + z * z;
    return squared <= reach * reach;
  }

  /// The lanes that distances need; most slots are too far for the others to be read.
  static HWY_INLINE void ask_for(const DescLanes& lanes, uint32_t first) {
    constexpr size_t kFloatBytes = kSubBlockSlots * sizeof(float), kShortBytes = kSubBlockSlots * sizeof(uint16_t);
    for (const float* const lane : {lanes.centre_x, lanes.centre_y, lanes.centre_z})
      prefetch(lane + first, kFloatBytes);
    for (const uint16_t* const lane : {lanes.pivot_x, lanes.pivot_y, lanes.pivot_z, lanes.distance, lanes.flags})
      prefetch(lane + first, kShortBytes);
  }

  const ScanInput& in_;
  const std::span<const ReadyShape> shapes_;
  ScanCounters& counters_;
  const F origin_[3];
};
