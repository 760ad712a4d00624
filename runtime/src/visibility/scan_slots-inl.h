// SPDX-License-Identifier: MIT
// From candidates to entries. Included once for each width, inside its namespace; so there is no guard.

/// fade_alpha()
HWY_INLINE W fade_alphas(F distance, F near, F fade) {
  const F far = hn::Add(near, fade), full = splat(255.0f);
  const F part = hn::Min(hn::Div(hn::Mul(hn::Sub(far, distance), full), fade), full);
  const F between = hn::IfThenElseZero(hn::Lt(distance, far), part);
  return hn::BitCast(kWords, hn::ConvertTo(kInts, hn::IfThenElse(hn::Le(distance, near), full, between)));
}

/// What shapes exclude candidates by, of as many as a vector has lanes.
struct Kinds {
  W types;         ///< type_bit()
  W levels_masks;  ///< 1 << level, and 16 bits higher the phases that may see it
  W levels;        ///< as an index of CullShape::ranges
  /// Of the candidates in `bits`, those that the shape does not exclude.
  HWY_INLINE uint32_t of(const ReadyShape& shape, uint32_t filter, uint32_t bits) const {
    const M is_wanted = hn::And(has(types, shape.types), has(levels_masks, shape.levels & filter));
    return bits & bits_of(hn::And(is_wanted, has(levels_masks, shape.visibility << 16)));
  }
  /// is_in_range()
  HWY_INLINE uint32_t in_ranges(const CullShape& shape, F distance, uint32_t bits) const {
    static_assert(sizeof(LodRange) == 2 * sizeof(float) && offsetof(LodRange, max) == sizeof(float));
    const auto at = hn::BitCast(kInts, hn::Add(levels, levels));
    const M is_behind = hn::Ge(distance, hn::GatherIndex(kFloats, &shape.ranges[0].min, at));
    M is_in = hn::And(is_behind, hn::Le(distance, hn::GatherIndex(kFloats, &shape.ranges[0].min + 1, at)));
    for (const DistanceCap& cap : shape.caps) {
      if (cap.types == 0) continue;
      is_in = hn::And(is_in, hn::Or(hn::Not(has(types, cap.types)), hn::Le(distance, splat(cap.distance))));
    }
    return bits & bits_of(is_in);
  }
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
        picker_(in, shapes, at_, all_, counters) {}

  void run(const Prepared& prepared) {
    if (prepared.near == 0) return;
    begin(prepared);
    for (uint32_t left = prepared.near; left != 0; left &= left - 1)
      picker_.pick(static_cast<uint32_t>(std::countr_zero(left)));
    if (all_.count == 0) return;
    bool takes_all = takes_all_;
    for (uint32_t i = 0; i < all_.count && takes_all; ++i)
      takes_all = (at_.lanes.mask[all_.slot[i]] & visibility_) == visibility_;
    takes_all ? test<true>() : test<false>();
    write();
  }

 private:
  void begin(const Prepared& prepared) {
    at_.begin(in_, shapes_, prepared);
    has_occlusion_ = in_.has_occlusion && !at_.slice->is_interior;
    takes_all_ = true;
    has_ranges_ = false;
    visibility_ = 0;
    for (uint32_t left = at_.slice->shapes; left != 0; left &= left - 1) {
      const ReadyShape& shape = shapes_[static_cast<size_t>(std::countr_zero(left))];
      visibility_ |= shape.visibility;
      takes_all_ = takes_all_ && shape.takes_all && (filter_of(shape) & kAllLevels) == kAllLevels;
      has_ranges_ = has_ranges_ || shape.has_ranges;
    }
    all_.count = 0;
  }
  uint32_t filter_of(const ReadyShape& shape) const {
    return shape.is_streaming ? in_.stream_filter : in_.level_filter;
  }

  template <bool kTakesAll>
  void test() {
    for (uint32_t first = 0; first < all_.count; first += kStep) test_chunk<kTakesAll>(first);
  }

  /// As many candidates as a vector has lanes, against all shapes. `kTakesAll`: no shape excludes any of them.
  template <bool kTakesAll>
  HWY_INLINE void test_chunk(uint32_t first) {
    const Prepared& prepared = *at_.prepared;
    const uint32_t count = all_.count - first;
    const uint32_t there = count < kStep ? (1u << count) - 1 : kStepBits;
    uint32_t near = there, asking = 0;
    W asks = hn::Zero(kWords);  // phases
    if (at_.splits_near) {
      const W whose = hn::LoadU(kWords, all_.whose + first);
      near &= bits_of(has(whose, Candidates::kNear));
      asks = hn::And(whose, hn::Set(kWords, kPhaseBits));
      asking = there & bits_of(has(whose, kPhaseBits));
    }
    // Of shapes that are more than frusta only those that touch one of the blocks that these are from.
    const uint32_t last = all_.slot[first + (count < kStep ? count : kStep) - 1];
    const uint32_t blocks = (2u << last / kSubBlockSlots) - (1u << all_.slot[first] / kSubBlockSlots);
    Boxes box;
    load_chunk(first, count, box);
    Kinds kinds;
    if (!kTakesAll || has_ranges_) load_kinds(first, there, kinds);
    W seen = hn::Zero(kWords), asked = hn::Zero(kWords);
    uint32_t included = kTakesAll ? near | asking : 0, rank = 0;
    if constexpr (kTakesAll) {
      seen = words_in(near, prepared.frusta.phases);
    } else {
      for (uint32_t left = at_.slice->shapes & ~prepared.others; left != 0; left &= left - 1) {
        const ReadyShape& shape = shapes_[static_cast<size_t>(std::countr_zero(left))];
        const uint32_t bits = kinds.of(shape, in_.level_filter, near);
        included |= bits;
        seen = hn::Or(seen, words_in(bits, shape.bit));
      }
    }
    seen = hn::AndNot(prepared.frusta.outside(box), seen);
    for (uint32_t left = prepared.others; left != 0; left &= left - 1, ++rank) {
      const ReadyShape& shape = shapes_[static_cast<size_t>(std::countr_zero(left))];
      uint32_t bits = near;
      if (shape.is_streaming) bits = there & bits_of(has(asks, shape.bit));
      if constexpr (!kTakesAll) {
        bits = kinds.of(shape, filter_of(shape), bits);
        included |= bits;
      }
      if ((prepared.blocks[rank] & blocks) == 0) continue;
      bits = touches(shape, box, prepared.planes[rank], bits);
      if (bits == 0) continue;
      if (shape.is_streaming) {
        if (shape.has_ranges) bits = asked_in_ranges(shape, first, bits);
        asked = hn::Or(asked, words_in(bits, shape.bit));
      } else {
        if (shape.has_ranges) bits = kinds.in_ranges(*shape.shape, hn::LoadU(kFloats, all_.distance + first), bits);
        seen = hn::Or(seen, words_in(bits, shape.bit));
      }
    }
    hn::StoreU(seen, kWords, all_.seen + first);
    hn::StoreU(asked, kWords, all_.asked + first);
    const uint32_t found = bits_of_words(hn::Ne(hn::Or(seen, asked), hn::Zero(kWords)));
    counters_.entities_outside += count_of(included & ~found);
    counters_.entities_excluded += count_of((near | asking) & ~included);
    counters_.entities_too_far += count_of(there & ~near & ~asking);
    if (found == 0) return;
    // What fades by its own distance alone; LOD sets come after.
    const F d = hn::LoadU(kFloats, all_.distance + first), fade = hn::LoadU(kFloats, all_.fade + first);
    hn::StoreU(fade_alphas(d, hn::LoadU(kFloats, all_.near + first), fade), kWords, all_.alpha + first);
  }

  /// ready_slot(), of candidates. Those behind the last one are whatever they are.
  HWY_INLINE void load_chunk(uint32_t first, uint32_t count, Boxes& out) const {
    const uint32_t slot = all_.slot[first];
    const float* const from = at_.lanes.centre_x;
    const size_t capacity = at_.view->capacity;
    if (count >= kStep && all_.slot[first + kStep - 1] == slot + kStep - 1) {
      for (size_t i = 0; i < 3; ++i)
        widen_slots(hn::LoadU(kFloats, from + i * capacity + slot),
                    hn::LoadU(kFloats, from + (i + 3) * capacity + slot), origin_[i], i, out);
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

  /// Lanes behind the last candidate are none of any kind.
  HWY_INLINE void load_kinds(uint32_t first, uint32_t there, Kinds& out) const {
    uint32_t types[kStep] = {}, levels_masks[kStep] = {}, levels[kStep] = {};
    for (uint32_t lane = 0; lane < kStep && there >> lane != 0; ++lane) {
      const uint32_t slot = all_.slot[first + lane];
      const uint8_t type_level = at_.lanes.type_level[slot];
      types[lane] = type_bit(type_of(type_level));
      levels_masks[lane] = 1u << level_of(type_level) | uint32_t{at_.lanes.mask[slot]} << 16;
      levels[lane] = level_of(type_level) % kLodLevels;
    }
    out.types = hn::LoadU(kWords, types);
    out.levels_masks = hn::LoadU(kWords, levels_masks);
    out.levels = hn::LoadU(kWords, levels);
  }

  /// Of those that a shape asks for, what it has in its ranges, which count from its own camera.
  uint32_t asked_in_ranges(const ReadyShape& shape, uint32_t first, uint32_t bits) const {
    for (uint32_t left = bits; left != 0; left &= left - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(left));
      const uint32_t slot = all_.slot[first + lane];
      const Vec3 pivot = detail::pivot_of(at_.lanes, slot, at_.links->rows);
      const float distance = std::sqrt(distance_squared(pivot, shape.lod.camera));
      if (!is_in_range(*shape.shape, at_.lanes.type_level[slot], distance)) bits &= ~(1u << lane);
    }
    return bits;
  }

  /// LOD sets, occlusion, and out.
  void write() {
    const uint8_t where = at_.slice->is_interior ? kPvsInterior : 0;
    for (uint32_t first = 0; first < all_.count; first += kSubBlockSlots) {
      const uint32_t count = all_.count - first < kSubBlockSlots ? all_.count - first : kSubBlockSlots;
      uint8_t flags[kSubBlockSlots];
      uint32_t found = 0, visible = 0;
      for (uint32_t i = 0; i < count; ++i)
        if ((all_.seen[first + i] | all_.asked[first + i]) != 0) found |= 1u << i;
      if (in_.sets != nullptr && !at_.links->rows.empty()) ask_for_sets(first, found);
      for (uint32_t left = found; left != 0; left &= left - 1) {
        const auto i = static_cast<uint32_t>(std::countr_zero(left));
        const uint32_t at = first + i;
        const SlotFate fate = slot_fate(in_, *at_.links, at_.lanes, all_.slot[at], all_.alpha[at], weights_);
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
        const EntityHandle entity = at_.view->handles != nullptr
                                        ? at_.view->handles[slot]
                                        : entity_of_group(at_.view->group, at_.lanes.entity[slot]);
        sink_.add(entity, all_.distance[at], all_.seen[at], all_.asked[at], all_.alpha[at], at_.lanes.type_level[slot],
                  static_cast<uint8_t>(flags[i] | where));
      }
    }
  }

  void ask_for_sets(uint32_t first, uint32_t found) const {
    for (uint32_t left = found; left != 0; left &= left - 1) {
      const uint32_t slot = all_.slot[first + static_cast<uint32_t>(std::countr_zero(left))];
      if (const uint16_t row = at_.lanes.lod_set[slot]; row != kNoLodSet)
        WeightCache::ask_for(in_, *at_.links, row, at_.lanes.flags[slot]);
    }
  }

  void occlude(uint32_t first, uint32_t visible, uint8_t* flags) {
    OcclusionSlots slots;
    for (uint32_t left = visible; left != 0; left &= left - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(left));
      slots.set(i, at_.lanes, all_.slot[first + i]);
      slots.phases[i] = all_.seen[first + i];
    }
    for (uint32_t left = occluded_slots(in_, shapes_, at_.slice->shapes, visible, slots); left != 0; left &= left - 1) {
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

  // The container that is looked at.
  Container at_;
  bool has_occlusion_ = false;
  bool takes_all_ = true;    ///< no shape excludes a type or level
  bool has_ranges_ = false;  ///< some do by distance
  uint32_t visibility_ = 0;  ///< what shapes ask for
  WeightCache weights_;
  Candidates all_;
  SlotPicker picker_;
};

inline void scan(const ScanInput& in, std::span<const ReadyShape> shapes, const SliceRun& run, PvsSink& sink,
                 ScanCounters& counters) {
  BlockScan blocks(in, shapes, counters);
  SlotScan slots(in, shapes, sink, counters);
  Prepared prepared[2];
  const auto prepare = [&](uint32_t i) {
    const ScanSlice& slice = run.slices[run.numbers[i]];
    blocks.prepare(slice, run.masks + slice.first_mask, prepared[i & 1]);
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
