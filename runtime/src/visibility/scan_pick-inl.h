// SPDX-License-Identifier: MIT
// From blocks to candidates: the slots that are near enough. Included once for each width, inside its namespace; so there
// is no guard.
//
// Most of what stands in a container that a shape touches is too far away to be drawn. So distances come first, and
// what is near goes into lists, candidates, that are tested against shapes as many at a time as a vector has lanes.

/// Slots of a container that are near enough to be seen, or that a shape may ask for, side by side.
struct Candidates {
  static constexpr uint32_t kRoom = kContainerSlots + kWideLanes;  ///< whole vectors may be read and written
  static constexpr uint32_t kNear = 1u << 31;
  uint32_t count = 0;
  uint32_t slot[kRoom];
  float distance[kRoom], near[kRoom], fade[kRoom];
  /// kNear, and phases of shapes that only stream and have it near; not set where all are near, see Container.
  uint32_t whose[kRoom];
  uint32_t seen[kRoom], asked[kRoom];  ///< phases
  uint32_t alpha[kRoom];
};

/// The container whose slots are looked at.
struct Container {
  const Prepared* prepared = nullptr;
  const ScanSlice* slice = nullptr;
  const ContainerView* view = nullptr;
  const ContainerLinks* links = nullptr;
  DescLanes lanes;
  bool sees_primary = false;
  bool splits_near = false;      ///< candidates may be none for shapes that draw
  bool has_plain_grass = false;  ///< it is as all else for all shapes

  void begin(const ScanInput& in, std::span<const ReadyShape> shapes, const Prepared& from) {
    prepared = &from;
    slice = from.slice;
    view = &in.containers->views[slice->container];
    links = &in.containers->links[slice->container];
    lanes = desc_lanes(*view);
    sees_primary = slice->sees_primary;
    splits_near = from.askers != 0 || !in.windows.empty();
    has_plain_grass = in.lod.grass_scale == 1;
    for (uint32_t left = from.askers; left != 0; left &= left - 1)
      has_plain_grass = has_plain_grass && shapes[static_cast<size_t>(std::countr_zero(left))].lod.grass_scale == 1;
  }
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

/// Finds the candidates of a container, block by block.
class SlotPicker {
 public:
  HWY_INLINE SlotPicker(const ScanInput& in, std::span<const ReadyShape> shapes, const Container& at, Candidates& out,
                        ScanCounters& counters)
      : in_(in),
        shapes_(shapes),
        at_(at),
        all_(out),
        counters_(counters),
        origin_{splat(in.lod.camera.x), splat(in.lod.camera.y), splat(in.lod.camera.z)} {}

  HWY_INLINE void pick(uint32_t number) {
    const Prepared& prepared = *at_.prepared;
    const uint32_t first = number * kSubBlockSlots, count = at_.view->slots - first;
    const uint32_t there = count < kSubBlockSlots ? (1u << count) - 1 : kAllSlots;
    uint32_t ok = 0, kept = 0;
    block_ = number;
    level_ = prepared.levels[number];
    const bool has_links = !at_.links->rows.empty(), is_asked = (prepared.asked_blocks >> number & 1) != 0;
    if (level_ < kLodLevels && at_.has_plain_grass && (at_.sees_primary || !has_links)) {
      const float scale = at_.sees_primary ? in_.lod.scales[level_] : in_.lod.default_scale;
      if (is_asked) {
        has_links ? pick_uniform<true, true>(first, there, scale, ok, kept)
                  : pick_uniform<false, true>(first, there, scale, ok, kept);
      } else {
        has_links ? pick_uniform<true, false>(first, there, scale, ok, kept)
                  : pick_uniform<false, false>(first, there, scale, ok, kept);
      }
    } else {
      for (uint32_t i = 0; i < kSubBlockSlots && i < count; i += kStep)
        pick_group(first + i, there >> i & kStepBits, i, is_asked, ok, kept);
    }
    counters_.entities += count_of(there);
    counters_.entities_hidden += count_of(there & ~ok);
    counters_.entities_too_far += count_of(ok & ~kept);
  }

 private:
  HWY_INLINE F load(const float* lane, uint32_t slot) const { return hn::LoadU(kFloats, lane + slot); }
  HWY_INLINE W load(const uint16_t* lane, uint32_t slot) const {
    return hn::PromoteTo(kWords, hn::LoadU(kShorts, lane + slot));
  }
  HWY_INLINE W load(const uint8_t* lane, uint32_t slot) const {
    return hn::PromoteTo(kWords, hn::LoadU(kBytes, lane + slot));
  }

  HWY_INLINE F scales_of(W level, M has_level_scale) const {
    const F own = hn::GatherIndex(kFloats, in_.lod.scales, hn::BitCast(kInts, level));
    return at_.sees_primary ? own : hn::IfThenElse(has_level_scale, own, splat(in_.lod.default_scale));
  }

  /// slot_pivot()
  HWY_INLINE void load_own_pivots(uint32_t slot, F (&pivot)[3]) const {
    pivot[0] = hn::Add(load(at_.lanes.centre_x, slot), load_halves(at_.lanes.pivot_x + slot));
    pivot[1] = hn::Add(load(at_.lanes.centre_y, slot), load_halves(at_.lanes.pivot_y + slot));
    pivot[2] = hn::Add(load(at_.lanes.centre_z, slot), load_halves(at_.lanes.pivot_z + slot));
  }

  /// detail::pivot_of(), for the lanes in `ok`.
  HWY_INLINE void load_pivots(uint32_t slot, W flags, M is_child, uint32_t ok, F (&pivot)[3]) const {
    const auto rows = static_cast<uint32_t>(at_.links->rows.size());
    const uint32_t children = rows == 0 ? 0 : bits_of(is_child) & ok;
    for (F& axis : pivot) axis = hn::Zero(kFloats);
    if (children != ok) load_own_pivots(slot, pivot);
    if (children == 0) return;
    W row = load(at_.lanes.lod_set, slot);
    if (uint32_t left = bits_of(has(flags, kDescSetParent)) & children; left != 0) {
      uint32_t of_lane[kStep];
      hn::StoreU(row, kWords, of_lane);
      for (; left != 0; left &= left - 1) {
        uint32_t& at = of_lane[std::countr_zero(left)];
        if (at < rows) at = at_.links->rows[at].up;
      }
      row = hn::LoadU(kWords, of_lane);
    }
    const M is_linked = hn::And(is_child, hn::RebindMask(kFloats, hn::Lt(row, hn::Set(kWords, rows))));
    // A row that is none: as if it were no child.
    if (children == ok && (bits_of(is_linked) & ok) != ok) load_own_pivots(slot, pivot);
    static_assert(sizeof(LodLinkRow) == 6 * sizeof(float) && offsetof(LodLinkRow, pivot) == 2 * sizeof(float));
    const W safe = hn::IfThenElseZero(hn::RebindMask(kWords, is_linked), row);
    const auto index = hn::BitCast(kInts, hn::Add(hn::ShiftLeft<2>(safe), hn::ShiftLeft<1>(safe)));
    const auto* const from = &at_.links->rows[0].pivot.x;
    for (int axis = 0; axis < 3; ++axis)
      pivot[axis] = hn::IfThenElse(is_linked, hn::GatherIndex(kFloats, from + axis, index), pivot[axis]);
  }

  static HWY_INLINE F squared_distance(const F (&from)[3], const F (&pivot)[3]) {
    const F x = hn::Sub(from[0], pivot[0]), y = hn::Sub(from[1], pivot[1]), z = hn::Sub(from[2], pivot[2]);
    return hn::Add(hn::Add(hn::Mul(x, x), hn::Mul(y, y)), hn::Mul(z, z));
  }

  /// How far the LOD view of a shape that only streams reaches, squared.
  static HWY_INLINE F reach_squared(const ReadyLod& lod, F near, F fade) {
    const F reach = hn::Add(hn::Add(near, fade), splat(lod.pre_stream));
    return hn::Mul(reach, reach);
  }

  /// Calls ask(number of the asker, its shape) for the shapes that may ask for something in this block.
  template <class Ask>
  HWY_INLINE void for_askers(const Ask& ask) const {
    const Prepared& prepared = *at_.prepared;
    uint32_t asker = 0;
    for (uint32_t left = prepared.askers; left != 0; left &= left - 1, ++asker)
      if ((prepared.asked[asker] >> block_ & 1) != 0) ask(asker, shapes_[static_cast<size_t>(std::countr_zero(left))]);
  }

  /// is_asked_near() of all these, by phase. `near_of`: near_distance() by a LOD view.
  template <class NearOf>
  HWY_INLINE W phases_that_ask(const F (&pivot)[3], F fade, const NearOf& near_of) const {
    W out = hn::Zero(kWords);
    for_askers([&](uint32_t, const ReadyShape& shape) {
      const Vec3& camera = shape.lod.camera;
      const F from[3] = {splat(camera.x), splat(camera.y), splat(camera.z)};
      const M is_near = hn::Le(squared_distance(from, pivot), reach_squared(shape.lod, near_of(shape.lod), fade));
      out = hn::Or(out, hn::IfThenElseZero(hn::RebindMask(kWords, is_near), hn::Set(kWords, shape.bit)));
    });
    return out;
  }

  /// Where all slots have one level, and grass is as all else: as pick_group, with what does not change in registers.
  template <bool kHasLinks, bool kIsAsked>
  void pick_uniform(uint32_t first, uint32_t there, float scale, uint32_t& all_ok, uint32_t& all_kept) {
    const DescLanes lanes = at_.lanes;
    const F at[3] = {origin_[0], origin_[1], origin_[2]};
    const F scales = splat(scale), pre_stream = splat(at_.sees_primary ? in_.lod.pre_stream : 0);
    const F long_fade = splat(kLodFade);
    const F short_fade = splat(level_ == kOrphanLevel ? kShortFade : kLodFade);
    const F short_distance = splat(kShortFadeDistance);
    const W shown = hn::Set(kWords, kDescActive), tested = hn::Set(kWords, kDescActive | kDescHidden);
    const auto shorts = [](const uint16_t* lane) { return hn::PromoteTo(kWords, hn::LoadU(kShorts, lane)); };
    const F nearest = splat(at_.prepared->squared[block_]);
    const uint32_t drawn = at_.prepared->draws ? kAllSlots : 0;
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
      const auto near_of = [&](const ReadyLod& lod) { return hn::Mul(distance, splat(lod.scales[level_])); };
      // Most are seen from less far than their block is away: where they stand then does not matter.
      M may_be_near = hn::Le(nearest, most);
      if constexpr (kIsAsked) {
        for_askers([&](uint32_t asker, const ReadyShape& shape) {
          const F from = splat(at_.prepared->asked_squared[asker][block_]);
          may_be_near = hn::Or(may_be_near, hn::Le(from, reach_squared(shape.lod, near_of(shape.lod), fade)));
        });
      }
      if ((bits_of(may_be_near) & ok) == 0) continue;
      F pivot[3];
      if constexpr (kHasLinks) {
        load_pivots(slot, flags, has(flags, kDescLodChild), ok, pivot);
      } else {
        load_own_pivots(slot, pivot);
      }
      const F squared = squared_distance(at, pivot);
      const uint32_t is_near = bits_of(hn::Le(squared, most)) & ok & drawn;
      W asks = hn::Zero(kWords);
      if constexpr (kIsAsked) asks = phases_that_ask(pivot, fade, near_of);
      const uint32_t kept = kIsAsked ? is_near | (bits_of(has(asks, kPhaseBits)) & ok) : is_near;
      all_kept |= kept << i;
      if (kept != 0) keep(slot, flags, kept, is_near, asks, hn::Sqrt(squared), near, fade);
    }
  }

  HWY_INLINE void pick_group(uint32_t slot, uint32_t there, uint32_t at, bool is_asked, uint32_t& all_ok,
                             uint32_t& all_kept) {
    const W flags = load(at_.lanes.flags, slot), distances = load(at_.lanes.distance, slot);
    const auto is_shown =
        hn::Eq(hn::And(flags, hn::Set(kWords, kDescActive | kDescHidden)), hn::Set(kWords, kDescActive));
    const uint32_t ok = bits_of_words(hn::And(is_shown, hn::Ne(distances, hn::Zero(kWords)))) & there;
    all_ok |= ok << at;
    if (ok == 0) return;

    const M is_child = at_.links->rows.empty() ? nowhere() : has(flags, kDescLodChild);
    F pivot[3];
    load_pivots(slot, flags, is_child, ok, pivot);
    const F squared = squared_distance(origin_, pivot);
    const F distance = hn::ConvertTo(kFloats, hn::BitCast(kInts, distances));
    const W type_level = load(at_.lanes.type_level, slot);
    const W level = hn::ShiftRight<5>(type_level), type = hn::And(type_level, hn::Set(kWords, 31));
    const M is_grass =
        hn::RebindMask(kFloats, hn::Eq(type, hn::Set(kWords, static_cast<uint32_t>(EntityClass::grass_batch))));
    const auto with_grass = [&](F near, const ReadyLod& lod) {
      return hn::IfThenElse(is_grass, hn::Mul(near, splat(lod.grass_scale)), near);
    };
    const F near = with_grass(hn::Mul(distance, scales_of(level, is_child)), in_.lod);
    const M is_orphan = hn::RebindMask(kFloats, hn::Eq(level, hn::Set(kWords, kOrphanLevel)));
    const M is_short = hn::And(is_orphan, hn::Le(distance, splat(kShortFadeDistance)));
    const F fade = hn::IfThenElse(is_short, splat(kShortFade), splat(kLodFade));
    F reach = hn::Add(near, fade);
    if (at_.sees_primary) reach = hn::Add(reach, splat(in_.lod.pre_stream));
    const uint32_t is_near = at_.prepared->draws ? bits_of(hn::Le(squared, hn::Mul(reach, reach))) & ok : 0;
    uint32_t kept = is_near;
    W asks = hn::Zero(kWords);
    if (is_asked) {
      asks = phases_that_ask(pivot, fade, [&](const ReadyLod& lod) {
        return with_grass(hn::Mul(distance, hn::GatherIndex(kFloats, lod.scales, hn::BitCast(kInts, level))), lod);
      });
      kept |= bits_of(has(asks, kPhaseBits)) & ok;
    }
    all_kept |= kept << at;
    if (kept != 0) keep(slot, flags, kept, is_near, asks, hn::Sqrt(squared), near, fade);
  }

  HWY_INLINE void keep(uint32_t slot, W flags, uint32_t kept, uint32_t is_near, W asks, F d, F near, F fade) {
    ask_for_more(slot);
    const uint32_t at = all_.count;
    all_.count += count_of(kept);
    const LanePacker<Words> pack(kept);
    hn::StoreU(pack(kWords, hn::Add(hn::Set(kWords, slot), hn::Iota(kWords, 0))), kWords, all_.slot + at);
    hn::StoreU(pack(kFloats, d), kFloats, all_.distance + at);
    hn::StoreU(pack(kFloats, near), kFloats, all_.near + at);
    hn::StoreU(pack(kFloats, fade), kFloats, all_.fade + at);
    if (!at_.splits_near) return;
    hn::StoreU(pack(kWords, hn::Or(asks, words_in(is_near, Candidates::kNear))), kWords, all_.whose + at);
    if (const uint32_t maybe = bits_of(has(flags, kDescMaybeInCullBox)); !in_.windows.empty() && (maybe & kept) != 0)
      look_through_windows(at, slot, maybe);
  }

  /// Of the candidates from `at` on, those that cull windows hide are not near.
  void look_through_windows(uint32_t at, uint32_t slot, uint32_t maybe) {
    const DescLanes& lanes = at_.lanes;
    for (; at < all_.count; ++at) {
      const uint32_t i = all_.slot[at];
      if ((maybe >> (i - slot) & 1) == 0) continue;
      const Vec3 centre{lanes.centre_x[i], lanes.centre_y[i], lanes.centre_z[i]};
      const Vec3 half{lanes.half_x[i], lanes.half_y[i], lanes.half_z[i]};
      if (!passes_windows(in_.windows, {centre - half, centre + half}, all_.distance[at]))
        all_.whose[at] &= ~Candidates::kNear;
    }
  }

  /// The lanes that tests against shapes and entries need.
  HWY_INLINE void ask_for_more(uint32_t slot) const {
    const DescLanes& lanes = at_.lanes;
    for (const float* const lane : {lanes.half_x, lanes.half_y, lanes.half_z}) prefetch(lane + slot, 1);
    prefetch(lanes.mask + slot, 1);
    prefetch(lanes.entity + slot, 1);
    prefetch(lanes.lod_set + slot, 1);
    prefetch(lanes.type_level + slot, 1);
    prefetch(lanes.alpha + slot, 1);
  }

  const ScanInput& in_;
  const std::span<const ReadyShape> shapes_;
  const Container& at_;
  Candidates& all_;
  ScanCounters& counters_;
  const F origin_[3];
  uint32_t block_ = 0;
  uint32_t level_ = kLodLevels;  ///< of all slots of the block, if they have one
};
