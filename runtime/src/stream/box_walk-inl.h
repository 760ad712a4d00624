// SPDX-License-Identifier: MIT
// The way down a tree of boxes: the same for all widths and shapes, compiled for each of them, so that what is prepared
// stays in registers. Included once for each width, inside its namespace; so there is no guard.
//
// Before it stands, for a Test: Test(const BoxQuery&) and
//   uint32_t lanes(const float* node) const                     the lanes of a node that are touched
//   uint32_t item_lanes(const uint32_t* children)               those that hold items, or nothing

/// Calls take(node, lanes of items that are touched) for each node where there are some.
template <class Test, class Take>
void walk(const BoxTree& tree, const BoxQuery& query, Take&& take) {
  if (tree.children.empty()) return;
  const Test test(query);
  const float* const bounds = tree.bounds.data();
  const uint32_t* const children = tree.children.data();
  // A node leaves at most 15 more than it took, on each level.
  uint32_t stack[kMaxBoxTreeDepth * kBoxTreeWidth];
  uint32_t waiting = 0;
  stack[waiting++] = 0;
  while (waiting != 0) {
    const uint32_t node = stack[--waiting];
    const uint32_t touched = test.lanes(bounds + size_t{node} * kBoxTreeFloats);
    if (touched == 0) continue;
    const uint32_t* const of_node = children + size_t{node} * kBoxTreeWidth;
    const uint32_t items = item_lanes(of_node);
    for (uint32_t mask = touched & ~items; mask != 0; mask &= mask - 1)
      stack[waiting++] = of_node[std::countr_zero(mask)];
    if ((touched & items) != 0) take(node, touched & items);
  }
}

template <class Test>
uint32_t list_boxes(const BoxTree& tree, const BoxQuery& query, std::span<uint32_t> out) {
  uint32_t found = 0;
  walk<Test>(tree, query, [&](uint32_t node, uint32_t mask) {
    const uint32_t* const children = tree.children.data() + size_t{node} * kBoxTreeWidth;
    const bool has_room = out.size() >= size_t{found} + kBoxTreeWidth;
    for (; mask != 0; mask &= mask - 1) {
      const uint32_t child = children[std::countr_zero(mask)];
      if (child == kBoxTreeNone) continue;  // an unused box touches queries as large as all floats
      if (has_room || found < out.size()) out[found] = child & ~kBoxTreeItem;
      ++found;
    }
  });
  return found;
}

inline void mark_lanes(uint64_t* words, uint32_t node, uint32_t mask) {
  words[node / 4] |= uint64_t{mask} << (node % 4 * kBoxTreeWidth);
}

template <class Test>
void mark_boxes(const BoxTree& tree, const BoxQuery& query, uint64_t* words) {
  walk<Test>(tree, query, [&](uint32_t node, uint32_t mask) { mark_lanes(words, node, mask); });
}

template <class Test>
void mark_flat_boxes(const float* nodes, uint32_t count, const BoxQuery& query, uint64_t* words) {
  const Test test(query);
  for (uint32_t node = 0; node < count; ++node)
    mark_lanes(words, node, test.lanes(nodes + size_t{node} * kBoxTreeFloats));
}

inline constexpr BoxKernels kKernels = {
    {list_boxes<BoxTest>, list_boxes<SphereTest>, list_boxes<SegmentTest>},
    {mark_boxes<BoxTest>, mark_boxes<SphereTest>, mark_boxes<SegmentTest>},
    {mark_flat_boxes<BoxTest>, mark_flat_boxes<SphereTest>, mark_flat_boxes<SegmentTest>}};
