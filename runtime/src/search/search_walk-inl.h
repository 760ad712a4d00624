// SPDX-License-Identifier: MIT
// The way from the hierarchy to containers, sub-blocks and slots: the same for all widths and kinds of volumes,
// compiled for each of them, so that what is prepared stays in registers. Included once for each width, inside its
// namespace; so there is no guard.
//
// Before it stands, for a Test: Test(const SearchVolume&), kIsCandidate, kIsThin, and
//   uint32_t boxes(const float* boxes) const        16 boxes laid out as WideBoxes
//   uint32_t reaches(const float* boxes) const      the same, and maybe more: for boxes around others
//   SubBlocks sub_blocks(const float* boxes) const  16 boxes around slots
//   uint32_t slots<kIsLevel>(const float* centre_x, size_t capacity, uint32_t count) const
//                                                   32 slots, arrays `capacity` apart; bits from `count` on are open.
//                                                   May let more pass, which `confirmed` takes out
//   uint32_t confirmed(const DescLanes& lanes, uint32_t first, uint32_t mask) const
// and for the width
//   uint32_t used_slots(const uint16_t* distance)   32 slots, those that are not 0
//   void write_group(const uint32_t* entity, uint32_t mask, EntityHandle group, EntityHandle* out)
//                                                   the handles of 32 slots, those in `mask`; may write up to 32

// Arrays end in others of the same container, so that 32 slots can be read where only 16 are left.
static_assert(kSubBlockSlots == 2 * kLanes);

inline uint32_t filtered(const PreparedQuery& query, const DescLanes& lanes, uint32_t first, uint32_t mask) {
  uint32_t out = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint32_t flags = lanes.flags[first + lane], type_level = lanes.type_level[first + lane];
    const uint32_t passes = query.types >> (type_level & 31u) &
                            static_cast<uint32_t>(query.levels) >> (type_level >> 5) &
                            static_cast<uint32_t>((flags & query.needed_desc_flags) == query.needed_desc_flags) &
                            static_cast<uint32_t>((flags & query.unwanted_desc_flags) == 0) & 1u;
    out |= passes << lane;
  }
  return out;
}

/// A sub-block that is to be looked at.
struct PendingBlock {
  const ContainerView* view;
  uint16_t first_slot;
  bool is_whole;  ///< its box lies within the volume, so all that is in it does
  bool is_level;  ///< likewise in height
};

/// One walk. What it looks at is scattered over memory, so it is asked for some time before: nodes when their parent is
/// looked at, containers and sub-blocks in batches, so that many lines are on their way at once.
template <class Test>
class Walk {
 public:
  Walk(const ContainerTable& table, const BoxHierarchy& hierarchy, const PreparedQuery& query, SearchSink& sink)
      : test_(query.volume), table_(table), hierarchy_(hierarchy), query_(query), sink_(sink) {}

  void run() {
    uint32_t stack[kHierarchyStack];
    uint32_t waiting = 0;
    for (const uint32_t root : hierarchy_.roots()) stack[waiting++] = root;
    while (waiting != 0) {
      const BoxHierarchy::Node& node = hierarchy_.node(stack[--waiting]);
      for (uint32_t mask = test_.reaches(node.boxes.min_x); mask != 0; mask &= mask - 1) {
        const uint32_t child = node.child[std::countr_zero(mask)];
        if ((child & BoxHierarchy::kItem) == 0) {
          prefetch(&hierarchy_.node(child), sizeof(BoxHierarchy::Node));
          stack[waiting++] = child;
        } else if (child != BoxHierarchy::kNone) {  // empty lanes pass where a volume is as large as all floats
          const uint32_t container = child & ~BoxHierarchy::kItem;
          prefetch(&table_.views[container], sizeof(ContainerView));
          prefetch(&table_.sub_boxes[container], sizeof(WideBoxes));
          containers_[container_count_++] = container;
        }
      }
      if (container_count_ > kContainerBatch - kWideLanes) search_containers();
      if (is_stopped_) return;
    }
    search_containers();
    search_blocks();
    if (sink_.take != nullptr && !is_stopped_) sink_.take(sink_);
  }

 private:
  static constexpr uint32_t kContainerBatch = 3 * kWideLanes, kBlockBatch = 4 * kContainerSubBlocks;

  void search_containers() {
    for (uint32_t i = 0; i < container_count_; ++i) {
      const ContainerView& view = table_.views[containers_[i]];
      const bool counts = (view.flags & query_.needed_flags) == query_.needed_flags &&
                          (view.flags & query_.unwanted_flags) == 0 && (view.flags & query_.any_flags) != 0;
      if (!counts) continue;
      const uint32_t blocks = (view.slots + kSubBlockSlots - 1) / kSubBlockSlots;
      const SubBlocks in = test_.sub_blocks(table_.sub_boxes[containers_[i]].min_x);
      // Lanes behind the last sub-block are empty.
      for (uint32_t mask = in.touched & ((1u << blocks) - 1); mask != 0; mask &= mask - 1) {
        const auto block = static_cast<uint32_t>(std::countr_zero(mask));
        const bool is_whole = (in.whole >> block & 1) != 0, is_level = (in.level >> block & 1) != 0;
        ask_for(view, block * kSubBlockSlots, is_whole, is_level);
        blocks_[block_count_++] = {&view, static_cast<uint16_t>(block * kSubBlockSlots), is_whole, is_level};
      }
      if (block_count_ > kBlockBatch - kContainerSubBlocks) search_blocks();
    }
    container_count_ = 0;
  }

  static void ask_for(const ContainerView& view, uint32_t first, bool is_whole, bool is_level) {
    const DescLanes lanes = desc_lanes(view);
    constexpr size_t kBytes = kSubBlockSlots * sizeof(float);
    if (!is_whole) {
      for (const float* const lane : {lanes.centre_x, lanes.centre_y, lanes.half_x, lanes.half_y})
        prefetch(lane + first, kBytes);
      if (!is_level)
        for (const float* const lane : {lanes.centre_z, lanes.half_z}) prefetch(lane + first, kBytes);
    }
    prefetch(lanes.distance + first, 1);
    prefetch(lanes.entity + first, kBytes);
  }

  void search_blocks() {
    for (uint32_t i = 0; i < block_count_ && !is_stopped_; ++i) {
      const PendingBlock& block = blocks_[i];
      const ContainerView& view = *block.view;
      const DescLanes lanes = desc_lanes(view);
      const uint32_t first = block.first_slot, count = view.slots - first;
      uint32_t mask = kAllSlots;
      if (!block.is_whole) {
        const float* const centre_x = lanes.centre_x + first;
        mask = block.is_level ? test_.template slots<true>(centre_x, view.capacity, count)
                              : test_.template slots<false>(centre_x, view.capacity, count);
      }
      if (count < kSubBlockSlots) mask &= (1u << count) - 1;
      if (mask == 0) continue;
      mask &= used_slots(lanes.distance + first);
      mask = test_.confirmed(lanes, first, mask);
      if (query_.is_filtered) mask = filtered(query_, lanes, first, mask);
      if constexpr (Test::kIsCandidate) {
        if (mask != 0) mask = exact_hits(query_.volume, view, first, mask);
      }
      store(view, lanes, first, mask);
      if (sink_.take != nullptr && sink_.found + kSubBlockSlots > sink_.capacity) is_stopped_ = !sink_.take(sink_);
    }
    block_count_ = 0;
  }

  void store(const ContainerView& view, const DescLanes& lanes, uint32_t first, uint32_t mask) {
    const uint32_t found = sink_.found, room = found < sink_.capacity ? sink_.capacity - found : 0;
    sink_.found = found + static_cast<uint32_t>(std::popcount(mask));
    EntityHandle* out = sink_.out + (room != 0 ? found : 0);
    if (!Test::kIsThin && room >= kSubBlockSlots && view.handles == nullptr) {
      write_group(lanes.entity + first, mask, view.group, out);
      return;
    }
    const EntityHandle* const end = out + room;
    for (; mask != 0 && out != end; mask &= mask - 1) {
      const uint32_t slot = first + static_cast<uint32_t>(std::countr_zero(mask));
      *out++ = view.handles != nullptr ? view.handles[slot] : entity_of_group(view.group, lanes.entity[slot]);
    }
  }

  const Test test_;
  const ContainerTable& table_;
  const BoxHierarchy& hierarchy_;
  const PreparedQuery& query_;
  SearchSink& sink_;
  bool is_stopped_ = false;
  uint32_t container_count_ = 0, block_count_ = 0;
  uint32_t containers_[kContainerBatch];
  PendingBlock blocks_[kBlockBatch];
};

template <class Test>
void search_walk(const ContainerTable& table, const BoxHierarchy& hierarchy, const PreparedQuery& query,
                 SearchSink& sink) {
  Walk<Test>(table, hierarchy, query, sink).run();
}

template <class Test>
uint32_t test_boxes(const SearchVolume& volume, const float* boxes) {
  return Test(volume).boxes(boxes);
}

inline constexpr SearchKernels kKernels = {{search_walk<SphereTest>, search_walk<BoxTest>, search_walk<OrientedTest>,
                                            search_walk<SegmentTest>, search_walk<SweptTest>, search_walk<FrustumTest>},
                                           {test_boxes<SphereTest>, test_boxes<BoxTest>, test_boxes<OrientedTest>,
                                            test_boxes<SegmentTest>, test_boxes<SweptTest>, test_boxes<FrustumTest>}};
