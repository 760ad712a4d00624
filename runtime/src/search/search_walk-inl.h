// SPDX-License-Identifier: MIT
// The way from the hierarchy to containers, sub-blocks and slots: the same for all widths and kinds of volumes,
// compiled for each of them, so that what is prepared stays in registers. Included once for each width, inside its namespace;
// so there is no guard.
//
// Before it stands, for a Test: Test(const SearchVolume&), kIsCandidate, and
//   uint32_t boxes(const float* boxes) const                               16 boxes laid out as WideBoxes
//   uint32_t slots(const float* centre_x, size_t capacity) const           16 slots, arrays `capacity` apart
//   uint32_t used_slots(const uint16_t* distance)                          16 slots, those that are not 0

/// The arrays of a container's block that a search reads, in the order of DescLanes.
struct SlotArrays {
  const float* centre_x;  ///< the other five follow, a capacity apart each
  const uint32_t* entity;
  const uint16_t* distance;
  const uint16_t* flags;
  const uint8_t* type_level;

  explicit SlotArrays(const ContainerView& view) {
    const size_t capacity = view.capacity;
    centre_x = reinterpret_cast<const float*>(view.lanes);
    entity = reinterpret_cast<const uint32_t*>(view.lanes + 24 * capacity);
    distance = reinterpret_cast<const uint16_t*>(view.lanes + 36 * capacity);
    flags = reinterpret_cast<const uint16_t*>(view.lanes + 40 * capacity);
    type_level = reinterpret_cast<const uint8_t*>(view.lanes + 42 * capacity);
  }
};

inline uint32_t filtered(const PreparedQuery& query, const SlotArrays& slots, uint32_t first, uint32_t mask) {
  uint32_t out = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint32_t flags = slots.flags[first + lane], type_level = slots.type_level[first + lane];
    const uint32_t passes = query.types >> (type_level & 31u) &
                            static_cast<uint32_t>(query.levels) >> (type_level >> 5) &
                            static_cast<uint32_t>((flags & query.needed_desc_flags) == query.needed_desc_flags) &
                            static_cast<uint32_t>((flags & query.unwanted_desc_flags) == 0) & 1u;
    out |= passes << lane;
  }
  return out;
}

inline void store(const ContainerView& view, const SlotArrays& slots, uint32_t first, uint32_t mask, SearchSink& sink) {
  for (; mask != 0; mask &= mask - 1) {
    const uint32_t slot = first + static_cast<uint32_t>(std::countr_zero(mask));
    if (sink.found < sink.capacity) {
      sink.out[sink.found] =
          view.handles != nullptr ? view.handles[slot] : entity_of_group(view.group, slots.entity[slot]);
    }
    ++sink.found;
  }
}

/// A sub-block that is to be looked at.
struct PendingBlock {
  const ContainerView* view;
  uint32_t first_slot;
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
      for (uint32_t mask = test_.boxes(node.boxes.min_x); mask != 0; mask &= mask - 1) {
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
      // Lanes behind the last sub-block are empty.
      uint32_t mask = test_.boxes(table_.sub_boxes[containers_[i]].min_x) & ((1u << blocks) - 1);
      for (; mask != 0; mask &= mask - 1) {
        const uint32_t first = static_cast<uint32_t>(std::countr_zero(mask)) * kSubBlockSlots;
        const SlotArrays slots(view);
        for (uint32_t k = 0; k < 6; ++k)
          prefetch(slots.centre_x + k * view.capacity + first, kSubBlockSlots * sizeof(float));
        prefetch(slots.distance + first, 1);
        prefetch(slots.entity + first, kSubBlockSlots * sizeof(uint32_t));
        blocks_[block_count_++] = {&view, first};
      }
      if (block_count_ > kBlockBatch - kContainerSubBlocks) search_blocks();
    }
    container_count_ = 0;
  }

  void search_blocks() {
    for (uint32_t i = 0; i < block_count_ && !is_stopped_; ++i) {
      const ContainerView& view = *blocks_[i].view;
      const SlotArrays slots(view);
      const uint32_t begin = blocks_[i].first_slot, count = view.slots;
      const uint32_t end = begin + kSubBlockSlots < count ? begin + kSubBlockSlots : count;
      for (uint32_t first = begin; first < end; first += kLanes) {
        uint32_t mask = test_.slots(slots.centre_x + first, view.capacity);
        if (mask == 0) continue;
        mask &= used_slots(slots.distance + first);
        if (end - first < kLanes) mask &= (1u << (end - first)) - 1;
        if (query_.is_filtered) mask = filtered(query_, slots, first, mask);
        if constexpr (Test::kIsCandidate) {
          if (mask != 0) mask = exact_hits(query_.volume, view, first, mask);
        }
        store(view, slots, first, mask, sink_);
      }
      if (sink_.take != nullptr && sink_.found + kSubBlockSlots > sink_.capacity) is_stopped_ = !sink_.take(sink_);
    }
    block_count_ = 0;
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
