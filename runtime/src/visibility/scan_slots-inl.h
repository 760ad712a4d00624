// SPDX-License-Identifier: MIT
// From containers to entries. Included once for each width, inside its namespace; so there is no guard.
//
// Most of what stands in a container that a shape touches is too far away to be drawn. So distances come first, and
// what is near goes into lists, candidates, that are tested against shapes as many at a time as a vector has lanes.

/// Slots of a container that are near enough to be seen, or that a shape asks for, side by side.
struct Candidates {
  static constexpr uint32_t kRoom = kContainerSlots + kWideLanes;  ///< whole vectors may be read and written
  uint32_t count = 0;
  uint32_t slot[kRoom];
  float distance[kRoom], near[kRoom], fade[kRoom];
  uint32_t seen[kRoom], asked[kRoom];  ///< phases
  uint32_t alpha[kRoom];
  uint8_t is_near[kRoom];  ///< 0: only for shapes that stream; not set unless there are some, or windows
};

/// float_from_half()
HWY_INLINE F load_halves(const uint16_t* halves) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  constexpr hn::Rebind<hwy::float16_t, Floats> kHalves;
  return hn::PromoteTo(kFloats, hn::LoadU(kHalves, reinterpret_cast<const hwy::float16_t*>(halves)));
#else
  const W half = hn::PromoteTo(kWords, hn::LoadU(kShorts, halves));
  const W sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(kWords, 0x8000)));
  const W magnitude = hn::ShiftLeft<13>(hn::And(half, hn::Set(kWords, 0x7FFF)));
  const F value = hn::Mul(hn::BitCast(kFloats, magnitude), splat(0x1p112f));
  return hn::Or(value, hn::BitCast(kFloats, sign));
#endif
}

/// fade_alpha()
HWY_INLINE W fade_alphas(F distance, F near, F fade) {
  const F far = hn::Add(near, fade), full = splat(255.0f);
  const F part = hn::Min(hn::Div(hn::Mul(hn::Sub(far, distance), full), fade), full);
  const F between = hn::IfThenElseZero(hn::Lt(distance, far), part);
  return hn::BitCast(kWords, hn::ConvertTo(kInts, hn::IfThenElse(hn::Le(distance, near), full, between)));
}

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
  uint32_t near = 0;                    ///< blocks whose slots are looked at
  uint32_t streaming = 0;               ///< shapes that only stream
  uint8_t levels[kContainerSubBlocks];  ///< by block: the level of all its slots, or kLodLevels
  float squared[kContainerSubBlocks];   ///< by block: how near its pivots come to the camera, squared
  uint32_t touched = 0;                 ///< blocks that at least one shape touches
  PlaneList frusta;
  uint32_t others = 0;              ///< shapes that are not in that list
  uint16_t planes[kMaxCullShapes];  ///< of these, in order: those that the container crosses
  uint32_t blocks[kMaxCullShapes];  ///< likewise: blocks that they touch
};

/// The slots of containers, one container after the other.
class SlotScan {
 public:
  HWY_INLINE SlotScan(const ScanInput& in, std::span<const ReadyShape> shapes, PvsSink& sink, ScanCounters& counters)
      : in_(in),
        shapes_(shapes),
        sink_(sink),
        counters_(counters),
        origin_{splat(in.lod.camera.x), splat(in.lod.camera.y), splat(in.lod.camera.z)},
        grass_(std::max(1.0f, in.lod.grass_scale)) {}

  /// Finds the blocks that count, and asks for their descriptors, so that memory is on its way while another container
  /// is looked at.
  void prepare(const ScanSlice& slice, const uint16_t* masks, Prepared& out) {
    const ContainerView& view = in_.containers->views[slice.container];
    out.slice = &slice;
    out.near = 0;
    out.streaming = in_.streaming & slice.shapes;
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
    float scales[kLodLevels + 1];
    for (uint32_t i = 0; i <= kLodLevels; ++i)
      scales[i] = slice.sees_primary ? in_.lod.scales[i] : in_.farthest.scales[i];
    const DescLanes lanes = desc_lanes(view);
    for (uint32_t left = out.touched; left != 0; left &= left - 1) {
      const auto block = static_cast<uint32_t>(std::countr_zero(left));
      const DescBounds& bounds = in_.containers->sub_blocks[slice.container * kContainerSubBlocks + block];
      if (!take_bounds(bounds, scales, slice.sees_primary, out.levels[block], out.squared[block]) && out.streaming == 0)
        continue;
      out.near |= 1u << block;
      ask_for(lanes, block * kSubBlockSlots);
    }
    counters_.blocks_too_far += count_of(out.touched & ~out.near);
  }

  void run(const Prepared& prepared) {
    if (prepared.near == 0) return;
    begin(prepared);
    for (uint32_t left = prepared.near; left != 0; left &= left - 1) {
      const auto block = static_cast<uint32_t>(std::countr_zero(left));
      uniform_level_ = prepared.levels[block];
      nearest_ = prepared.squared[block];
      pick(block);
    }
    if (all_.count == 0) return;
    for (uint32_t i = 0; i < all_.count && all_masked_; ++i)
      all_masked_ = (lanes_.mask[all_.slot[i]] & visibility_) == visibility_;
    for (uint32_t first = 0; first < all_.count; first += kStep) test_chunk(first);
    write();
  }

 private:
  HWY_INLINE F load(const float* lane, uint32_t slot) const { return hn::LoadU(kFloats, lane + slot); }
  HWY_INLINE W load(const uint16_t* lane, uint32_t slot) const {
    return hn::PromoteTo(kWords, hn::LoadU(kShorts, lane + slot));
  }
  HWY_INLINE W load(const uint8_t* lane, uint32_t slot) const {
    return hn::PromoteTo(kWords, hn::LoadU(kBytes, lane + slot));
  }
  HWY_INLINE M has(W word, uint32_t bits) const {
    return hn::RebindMask(kFloats, hn::Ne(hn::And(word, hn::Set(kWords, bits)), hn::Zero(kWords)));
  }
  static uint32_t count_of(uint32_t bits) { return static_cast<uint32_t>(std::popcount(bits)); }

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

  /// The lanes that distances need; most slots are too far for the others to be read.
  HWY_INLINE void ask_for(const DescLanes& lanes, uint32_t first) const {
    constexpr size_t kFloatBytes = kSubBlockSlots * sizeof(float), kShortBytes = kSubBlockSlots * sizeof(uint16_t);
    for (const float* const lane : {lanes.centre_x, lanes.centre_y, lanes.centre_z})
      prefetch(lane + first, kFloatBytes);
    for (const uint16_t* const lane : {lanes.pivot_x, lanes.pivot_y, lanes.pivot_z, lanes.distance, lanes.flags})
      prefetch(lane + first, kShortBytes);
  }
  /// And those that tests against shapes and entries need.
  HWY_INLINE void ask_for_more(uint32_t slot) const {
    for (const float* const lane : {lanes_.half_x, lanes_.half_y, lanes_.half_z}) prefetch(lane + slot, 1);
    prefetch(lanes_.mask + slot, 1);
    prefetch(lanes_.entity + slot, 1);
    prefetch(lanes_.lod_set + slot, 1);
    prefetch(lanes_.type_level + slot, 1);
    prefetch(lanes_.alpha + slot, 1);
  }

  void begin(const Prepared& prepared) {
    prepared_ = &prepared;
    slice_ = prepared.slice;
    view_ = &in_.containers->views[slice_->container];
    links_ = &in_.containers->links[slice_->container];
    lanes_ = desc_lanes(*view_);
    sees_primary_ = slice_->sees_primary;
    splits_near_ = prepared.streaming != 0 || !in_.windows.empty();
    has_occlusion_ = in_.has_occlusion && !slice_->is_interior;
    takes_all_ = prepared.streaming == 0 && (in_.level_filter & kAllLevels) == kAllLevels;
    all_masked_ = true;
    visibility_ = 0;
    for (uint32_t left = slice_->shapes; left != 0; left &= left - 1) {
      const ReadyShape& shape = shapes_[static_cast<size_t>(std::countr_zero(left))];
      visibility_ |= shape.visibility;
      takes_all_ = takes_all_ && shape.takes_all;
    }
    all_.count = 0;
  }

  HWY_INLINE F scales_of(W level, M has_level_scale) const {
    const F own = hn::GatherIndex(kFloats, in_.lod.scales, hn::BitCast(kInts, level));
    return sees_primary_ ? own : hn::IfThenElse(has_level_scale, own, splat(in_.lod.default_scale));
  }

  /// slot_pivot()
  HWY_INLINE void load_own_pivots(uint32_t slot, F (&pivot)[3]) const {
    pivot[0] = hn::Add(load(lanes_.centre_x, slot), load_halves(lanes_.pivot_x + slot));
    pivot[1] = hn::Add(load(lanes_.centre_y, slot), load_halves(lanes_.pivot_y + slot));
    pivot[2] = hn::Add(load(lanes_.centre_z, slot), load_halves(lanes_.pivot_z + slot));
  }

  /// detail::pivot_of(), for the lanes in `ok`.
  HWY_INLINE void load_pivots(uint32_t slot, W flags, M is_child, uint32_t ok, F (&pivot)[3]) const {
    const auto rows = static_cast<uint32_t>(links_->rows.size());
    const uint32_t children = rows == 0 ? 0 : bits_of(is_child) & ok;
    for (F& axis : pivot) axis = hn::Zero(kFloats);
    if (children != ok) load_own_pivots(slot, pivot);
    if (children == 0) return;
    W row = load(lanes_.lod_set, slot);
    if (uint32_t left = bits_of(has(flags, kDescSetParent)) & children; left != 0) {
      uint32_t of_lane[kStep];
      hn::StoreU(row, kWords, of_lane);
      for (; left != 0; left &= left - 1) {
        uint32_t& at = of_lane[std::countr_zero(left)];
        if (at < rows) at = links_->rows[at].up;
      }
      row = hn::LoadU(kWords, of_lane);
    }
    const M is_linked = hn::And(is_child, hn::RebindMask(kFloats, hn::Lt(row, hn::Set(kWords, rows))));
    // A row that is none: as if it were no child.
    if (children == ok && (bits_of(is_linked) & ok) != ok) load_own_pivots(slot, pivot);
    static_assert(sizeof(LodLinkRow) == 6 * sizeof(float) && offsetof(LodLinkRow, pivot) == 2 * sizeof(float));
    const W safe = hn::IfThenElseZero(hn::RebindMask(kWords, is_linked), row);
    const auto index = hn::BitCast(kInts, hn::Add(hn::ShiftLeft<2>(safe), hn::ShiftLeft<1>(safe)));
    const auto* const from = &links_->rows[0].pivot.x;
    for (int axis = 0; axis < 3; ++axis)
      pivot[axis] = hn::IfThenElse(is_linked, hn::GatherIndex(kFloats, from + axis, index), pivot[axis]);
  }

  /// Whether a block may be near enough, is_block_too_far(), and which level all its slots have.
  HWY_INLINE bool take_bounds(const DescBounds& bounds, const float* scales, bool sees_primary, uint8_t& level,
                              float& squared) const {
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
    const float far = hn::GetLane(hn::MaxOfLanes(kEight, near)) * grass_ + kLodFade;
    const float reach = sees_primary ? far + in_.lod.pre_stream : far;
    const Vec3 &lo = bounds.pivot_min, &hi = bounds.pivot_max, &at = in_.lod.camera;
    const float x = std::max(std::max(lo.x - at.x, at.x - hi.x), 0.0f);
    const float y = std::max(std::max(lo.y - at.y, at.y - hi.y), 0.0f);
    const float z = std::max(std::max(lo.z - at.z, at.z - hi.z), 0.0f);
    squared = (x * x + y * y) + z * z;
    return squared <= reach * reach;
  }

  /// Finds the candidates of a block.
  void pick(uint32_t number) {
    const uint32_t first = number * kSubBlockSlots, count = view_->slots - first;
    const uint32_t there = count < kSubBlockSlots ? (1u << count) - 1 : kAllSlots;
    uint32_t ok = 0, kept = 0;
    const bool has_links = !links_->rows.empty();
    if (uniform_level_ < kLodLevels && in_.lod.grass_scale == 1 && prepared_->streaming == 0 &&
        (sees_primary_ || !has_links)) {
      const ReadyLod& lod = in_.lod;
      const float scale = sees_primary_ ? lod.scales[uniform_level_] : lod.default_scale;
      has_links ? pick_uniform<true>(first, there, scale, ok, kept)
                : pick_uniform<false>(first, there, scale, ok, kept);
    } else {
      for (uint32_t i = 0; i < kSubBlockSlots && i < count; i += kStep)
        pick_group(first + i, there >> i & kStepBits, i, ok, kept);
    }
    counters_.entities += count_of(there);
    counters_.entities_hidden += count_of(there & ~ok);
    counters_.entities_too_far += count_of(ok & ~kept);
  }

  /// Where all slots have one level, none is asked for, and grass is as all else: as pick_group, with what does not
  /// change in registers.
  template <bool kHasLinks>
  void pick_uniform(uint32_t first, uint32_t there, float scale, uint32_t& all_ok, uint32_t& all_kept) {
    const DescLanes lanes = lanes_;
    const F at[3] = {origin_[0], origin_[1], origin_[2]};
    const F scales = splat(scale), pre_stream = splat(sees_primary_ ? in_.lod.pre_stream : 0);
    const F long_fade = splat(kLodFade);
    const F short_fade = splat(uniform_level_ == kOrphanLevel ? kShortFade : kLodFade);
    const F short_distance = splat(kShortFadeDistance);
    const W shown = hn::Set(kWords, kDescActive), tested = hn::Set(kWords, kDescActive | kDescHidden);
    const auto shorts = [](const uint16_t* lane) { return hn::PromoteTo(kWords, hn::LoadU(kShorts, lane)); };
    const F nearest = splat(nearest_);
    for (uint32_t i = 0; i < kSubBlockSlots && there >> i != 0; i += kStep) {
      const uint32_t slot = first + i;
      const W flags = shorts(lanes.flags + slot), distances = shorts(lanes.distance + slot);
      const auto is_used = hn::And(hn::Eq(hn::And(flags, tested), shown), hn::Ne(distances, hn::Zero(kWords)));
      const uint32_t ok = bits_of_words(is_used) & (there >> i);
      all_ok |= ok << i;
      const F distance = hn::ConvertTo(kFloats, hn::BitCast(kInts, distances));
      const F near = hn::Mul(distance, scales);
      const F fade = hn::IfThenElse(hn::Le(distance, short_distance), short_fade, long_fade);
      const F reach = hn::Add(hn::Add(near, fade), pre_stream), most = hn::Mul(reach, reach);
      // Most are seen from less far than their block is away: where they stand then does not matter.
      if ((bits_of(hn::Le(nearest, most)) & ok) == 0) continue;
      F pivot[3];
      if constexpr (kHasLinks) {
        load_pivots(slot, flags, has(flags, kDescLodChild), ok, pivot);
      } else {
        load_own_pivots(slot, pivot);
      }
      const F x = hn::Sub(at[0], pivot[0]), y = hn::Sub(at[1], pivot[1]), z = hn::Sub(at[2], pivot[2]);
      const F squared = hn::Add(hn::Add(hn::Mul(x, x), hn::Mul(y, y)), hn::Mul(z, z));
      const uint32_t kept = bits_of(hn::Le(squared, most)) & ok;
      all_kept |= kept << i;
      if (kept != 0) keep(slot, flags, kept, kept, hn::Sqrt(squared), near, fade);
    }
  }

  HWY_INLINE void pick_group(uint32_t slot, uint32_t there, uint32_t at, uint32_t& all_ok, uint32_t& all_kept) {
    const W flags = load(lanes_.flags, slot), distances = load(lanes_.distance, slot);
    const auto is_shown =
        hn::Eq(hn::And(flags, hn::Set(kWords, kDescActive | kDescHidden)), hn::Set(kWords, kDescActive));
    const uint32_t ok = bits_of_words(hn::And(is_shown, hn::Ne(distances, hn::Zero(kWords)))) & there;
    all_ok |= ok << at;
    if (ok == 0) return;

    const M is_child = links_->rows.empty() ? nowhere() : has(flags, kDescLodChild);
    F pivot[3];
    load_pivots(slot, flags, is_child, ok, pivot);
    const F x = hn::Sub(origin_[0], pivot[0]), y = hn::Sub(origin_[1], pivot[1]), z = hn::Sub(origin_[2], pivot[2]);
    const F squared = hn::Add(hn::Add(hn::Mul(x, x), hn::Mul(y, y)), hn::Mul(z, z));
    const F distance = hn::ConvertTo(kFloats, hn::BitCast(kInts, distances));
    const W type_level = load(lanes_.type_level, slot);
    const W level = hn::ShiftRight<5>(type_level), type = hn::And(type_level, hn::Set(kWords, 31));
    F near = hn::Mul(distance, scales_of(level, is_child));
    const auto is_grass = hn::Eq(type, hn::Set(kWords, static_cast<uint32_t>(EntityClass::grass_batch)));
    near = hn::IfThenElse(hn::RebindMask(kFloats, is_grass), hn::Mul(near, splat(in_.lod.grass_scale)), near);
    const M is_orphan = hn::RebindMask(kFloats, hn::Eq(level, hn::Set(kWords, kOrphanLevel)));
    const M is_short = hn::And(is_orphan, hn::Le(distance, splat(kShortFadeDistance)));
    const F fade = hn::IfThenElse(is_short, splat(kShortFade), splat(kLodFade));
    F reach = hn::Add(near, fade);
    if (sees_primary_) reach = hn::Add(reach, splat(in_.lod.pre_stream));
    const uint32_t near_bits = bits_of(hn::Le(squared, hn::Mul(reach, reach))) & ok;
    const uint32_t kept = prepared_->streaming != 0 ? ok : near_bits;
    all_kept |= kept << at;
    if (kept != 0) keep(slot, flags, kept, near_bits, hn::Sqrt(squared), near, fade);
  }

  HWY_INLINE void keep(uint32_t slot, W flags, uint32_t kept, uint32_t near_bits, F d, F near, F fade) {
    ask_for_more(slot);
    const uint32_t at = all_.count;
    all_.count += count_of(kept);
    const LanePacker<Words> pack(kept);
    hn::StoreU(pack(kWords, hn::Add(hn::Set(kWords, slot), hn::Iota(kWords, 0))), kWords, all_.slot + at);
    hn::StoreU(pack(kFloats, d), kFloats, all_.distance + at);
    hn::StoreU(pack(kFloats, near), kFloats, all_.near + at);
    hn::StoreU(pack(kFloats, fade), kFloats, all_.fade + at);
    if (splits_near_) split_near(at, slot, flags, near_bits);
  }

  /// As many candidates as a vector has lanes, against all shapes.
  HWY_INLINE void test_chunk(uint32_t first) {
    const uint32_t count = all_.count - first;
    const uint32_t there = count < kStep ? (1u << count) - 1 : kStepBits;
    uint32_t near = there;
    if (splits_near_) {
      const W is_near = hn::PromoteTo(kWords, hn::LoadU(kBytes, all_.is_near + first));
      near &= bits_of_words(hn::Ne(is_near, hn::Zero(kWords)));
    }
    // Of shapes that are more than frusta only those that touch one of the blocks that these are from.
    const uint32_t last = all_.slot[first + (count < kStep ? count : kStep) - 1];
    const uint32_t blocks = (2u << last / kSubBlockSlots) - (1u << all_.slot[first] / kSubBlockSlots);
    const bool is_simple = takes_all_ && all_masked_;
    Boxes box;
    load_chunk(first, count, box);
    W seen = hn::Zero(kWords), asked = hn::Zero(kWords);
    uint32_t included = is_simple ? near : 0, rank = 0;
    if (is_simple) {
      seen = phases_in(near, prepared_->frusta.phases);
    } else {
      for (uint32_t left = slice_->shapes & ~prepared_->others; left != 0; left &= left - 1) {
        const ReadyShape& shape = shapes_[static_cast<size_t>(std::countr_zero(left))];
        const uint32_t bits = of_kind(shape, first, near);
        included |= bits;
        seen = hn::Or(seen, phases_in(bits, shape.bit));
      }
    }
    seen = hn::AndNot(prepared_->frusta.outside(box), seen);
    for (uint32_t left = prepared_->others; left != 0; left &= left - 1, ++rank) {
      const ReadyShape& shape = shapes_[static_cast<size_t>(std::countr_zero(left))];
      uint32_t bits = shape.is_streaming ? there : near;
      if (!is_simple) {
        bits = of_kind(shape, first, bits);
        included |= bits;
      }
      if ((prepared_->blocks[rank] & blocks) == 0) continue;
      bits = touches(shape, box, prepared_->planes[rank], bits);
      if (bits == 0) continue;
      if (shape.is_streaming) {
        bits = asked_for(shape, first, bits);
        asked = hn::Or(asked, phases_in(bits, shape.bit));
      } else {
        if (shape.has_ranges) bits = in_ranges(shape, first, bits);
        seen = hn::Or(seen, phases_in(bits, shape.bit));
      }
    }
    hn::StoreU(seen, kWords, all_.seen + first);
    hn::StoreU(asked, kWords, all_.asked + first);
    const uint32_t found = bits_of_words(hn::Ne(hn::Or(seen, asked), hn::Zero(kWords)));
    counters_.entities_outside += count_of(included & ~found);
    counters_.entities_excluded += count_of(near & ~included);
    counters_.entities_too_far += count_of(there & ~near & ~included);
    if (found == 0) return;
    // What fades by its own distance alone; LOD sets come after.
    const F d = hn::LoadU(kFloats, all_.distance + first), fade = hn::LoadU(kFloats, all_.fade + first);
    hn::StoreU(fade_alphas(d, hn::LoadU(kFloats, all_.near + first), fade), kWords, all_.alpha + first);
  }

  /// ready_slot(), of candidates. Those behind the last one are whatever they are.
  HWY_INLINE void load_chunk(uint32_t first, uint32_t count, Boxes& out) const {
    const uint32_t slot = all_.slot[first];
    const float* const from = lanes_.centre_x;
    const size_t capacity = view_->capacity;
    if (count >= kStep && all_.slot[first + kStep - 1] == slot + kStep - 1) {
      for (size_t i = 0; i < 3; ++i)
        widen_slots(load(from + i * capacity, slot), load(from + (i + 3) * capacity, slot), origin_[i], i, out);
      return;
    }
    float numbers[6][kStep];
    const uint32_t there = count < kStep ? count : static_cast<uint32_t>(kStep);
    for (uint32_t lane = 0; lane < kStep; ++lane) {
      const float* const at = from + all_.slot[first + (lane < there ? lane : 0)];
      for (size_t i = 0; i < 6; ++i) numbers[i][lane] = at[i * capacity];
    }
    for (size_t i = 0; i < 3; ++i)
      widen_slots(hn::LoadU(kFloats, numbers[i]), hn::LoadU(kFloats, numbers[i + 3]), origin_[i], i, out);
  }

  /// These phases in the lanes of `bits`, none in others.
  HWY_INLINE W phases_in(uint32_t bits, uint32_t phases) const {
    const uint8_t bytes[8] = {static_cast<uint8_t>(bits), static_cast<uint8_t>(bits >> 8)};
    return hn::IfThenElseZero(hn::LoadMaskBits(kWords, bytes), hn::Set(kWords, phases));
  }

  // --- what is rare, slot by slot --------------------------------------------------------------------------

  template <class Keep>
  static uint32_t keep_if(uint32_t bits, const Keep& keep) {
    for (uint32_t left = bits; left != 0; left &= left - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(left));
      if (!keep(lane)) bits &= ~(1u << lane);
    }
    return bits;
  }

  /// Which candidates from `at` on, those that were kept of a group, are near for the scan's own LOD view.
  void split_near(uint32_t at, uint32_t slot, W flags, uint32_t near_bits) {
    const uint32_t maybe = bits_of(has(flags, kDescMaybeInCullBox));
    for (; at < all_.count; ++at) {
      const uint32_t i = all_.slot[at], lane = i - slot;
      bool is_near = (near_bits >> lane & 1) != 0;
      if (is_near && (maybe >> lane & 1) != 0 && !in_.windows.empty()) {
        const Vec3 centre{lanes_.centre_x[i], lanes_.centre_y[i], lanes_.centre_z[i]};
        const Vec3 half{lanes_.half_x[i], lanes_.half_y[i], lanes_.half_z[i]};
        is_near = passes_windows(in_.windows, {centre - half, centre + half}, all_.distance[at]);
      }
      all_.is_near[at] = is_near ? 1 : 0;
    }
  }

  uint32_t of_kind(const ReadyShape& shape, uint32_t first, uint32_t bits) const {
    const uint32_t filter = shape.is_streaming ? in_.stream_filter : in_.level_filter;
    return keep_if(bits, [&](uint32_t lane) {
      const uint32_t slot = all_.slot[first + lane];
      const uint8_t type_level = lanes_.type_level[slot];
      return (lanes_.mask[slot] & shape.visibility) != 0 && (shape.types & type_bit(type_of(type_level))) != 0 &&
             (shape.levels & filter & (1u << level_of(type_level))) != 0;
    });
  }

  uint32_t asked_for(const ReadyShape& shape, uint32_t first, uint32_t bits) const {
    return keep_if(bits, [&](uint32_t lane) {
      const uint32_t slot = all_.slot[first + lane];
      const Vec3 pivot = detail::pivot_of(lanes_, slot, links_->rows);
      return is_asked_for(shape, pivot, lanes_.type_level[slot], static_cast<float>(lanes_.distance[slot]));
    });
  }

  uint32_t in_ranges(const ReadyShape& shape, uint32_t first, uint32_t bits) const {
    return keep_if(bits, [&](uint32_t lane) {
      return is_in_range(*shape.shape, lanes_.type_level[all_.slot[first + lane]], all_.distance[first + lane]);
    });
  }

  /// LOD sets, occlusion, and out.
  void write() {
    const uint8_t where = slice_->is_interior ? kPvsInterior : 0;
    for (uint32_t first = 0; first < all_.count; first += kSubBlockSlots) {
      const uint32_t count = all_.count - first < kSubBlockSlots ? all_.count - first : kSubBlockSlots;
      uint8_t flags[kSubBlockSlots];
      uint32_t found = 0, visible = 0;
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t at = first + i;
        if ((all_.seen[at] | all_.asked[at]) == 0) continue;
        found |= 1u << i;
        const SlotFate fate = slot_fate(in_, *links_, lanes_, all_.slot[at], all_.alpha[at], weights_);
        flags[i] = fate.flags;
        all_.alpha[at] = fate.alpha;
        all_.asked[at] |= all_.seen[at];
        if (all_.seen[at] == 0) continue;
        if (all_.alpha[at] != 0) {
          visible |= 1u << i;
        } else {
          ++counters_.entities_replaced;
          all_.seen[at] = 0;
        }
      }
      if (visible != 0 && has_occlusion_) occlude(first, visible, flags);
      for (uint32_t left = found; left != 0; left &= left - 1) {
        const auto i = static_cast<uint32_t>(std::countr_zero(left));
        const uint32_t at = first + i, slot = all_.slot[at];
        const EntityHandle entity =
            view_->handles != nullptr ? view_->handles[slot] : entity_of_group(view_->group, lanes_.entity[slot]);
        sink_.add(entity, all_.distance[at], all_.seen[at], all_.asked[at], all_.alpha[at], lanes_.type_level[slot],
                  static_cast<uint8_t>(flags[i] | where));
      }
    }
  }

  void occlude(uint32_t first, uint32_t visible, uint8_t* flags) {
    OcclusionSlots slots;
    for (uint32_t left = visible; left != 0; left &= left - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(left));
      slots.set(i, lanes_, all_.slot[first + i]);
      slots.phases[i] = all_.seen[first + i];
    }
    for (uint32_t left = occluded_slots(in_, shapes_, slice_->shapes, visible, slots); left != 0; left &= left - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(left));
      all_.seen[first + i] &= ~slots.hidden[i];
      flags[i] |= kPvsOccluded;
      if (all_.seen[first + i] == 0) ++counters_.entities_occluded;
    }
  }

  const ScanInput& in_;
  const std::span<const ReadyShape> shapes_;
  PvsSink& sink_;
  ScanCounters& counters_;
  const F origin_[3];
  const float grass_;

  // The container that is looked at.
  const Prepared* prepared_ = nullptr;
  const ScanSlice* slice_ = nullptr;
  const ContainerView* view_ = nullptr;
  const ContainerLinks* links_ = nullptr;
  DescLanes lanes_;
  bool sees_primary_ = false;
  bool splits_near_ = false;  ///< candidates may be none for shapes that draw
  bool has_occlusion_ = false;
  bool takes_all_ = true;                ///< no shape excludes a type or level, or streams
  bool all_masked_ = true;               ///< every candidate is visible in all that shapes ask for
  uint32_t visibility_ = 0;              ///< what shapes ask for
  uint32_t uniform_level_ = kLodLevels;  ///< of the block that is looked at
  float nearest_ = 0;                    ///< Prepared::squared of it
  WeightCache weights_;
  Candidates all_;
};

inline void scan(const ScanInput& in, std::span<const ReadyShape> shapes, const SliceRun& run, PvsSink& sink,
                 ScanCounters& counters) {
  SlotScan slots(in, shapes, sink, counters);
  Prepared prepared[2];
  const auto prepare = [&](uint32_t i) {
    const ScanSlice& slice = run.slices[run.numbers[i]];
    slots.prepare(slice, run.masks + slice.first_mask, prepared[i & 1]);
  };
  const auto count = static_cast<uint32_t>(run.numbers.size());
  if (count != 0) prepare(0);
  for (uint32_t i = 0; i < count; ++i) {
    if (!run.begin(run.user, run.numbers[i])) return;
    if (i + 2 < count) run.ask_for(in, i + 2);
    if (i + 1 < count) prepare(i + 1);
    slots.run(prepared[i & 1]);
    run.end(run.user, run.numbers[i]);
  }
}
