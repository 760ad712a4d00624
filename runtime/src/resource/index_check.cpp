// SPDX-License-Identifier: MIT
#include "resource/index_check.h"

#include <algorithm>

#include "meridian/schemas/world_index_generated.h"
#include "resource/bad_field.h"

namespace meridian::detail {
namespace {

// The layout of trees, written down a second time: stream/, which owns it, stands above this area. A unit test holds
// the two against each other.
constexpr uint32_t kWidth = 16, kFloats = 6 * kWidth, kMaxDepth = 16, kItem = 0x80000000, kNone = 0xFFFFFFFF;

/// The first row of [first, last) that is not above the one before it, or `last`. Numbers or names.
template <class Vector, class Key>
uint32_t first_disorder(const Vector& vector, uint32_t first, uint32_t last, const Key& key) {
  for (uint32_t i = first; i + 1 < last; ++i)
    if (key(vector.Get(i)) >= key(vector.Get(i + 1))) return i + 1;
  return last;
}
uint32_t first_disorder(const flatbuffers::Vector<uint32_t>& vector, uint32_t first, uint32_t last) {
  return first_disorder(vector, first, last, [](uint32_t v) { return v; });
}

/// Rows sorted by a name that is not 0, each name once.
template <class Vector>
Status check_names(const Vector& rows, const char* field) {
  const auto name = [](const auto* row) { return row->name(); };
  if (rows.size() != 0 && rows.Get(0)->name() == 0) return bad_field("row has no name; detail = its index", 0, field);
  const uint32_t at = first_disorder(rows, 0, rows.size(), name);
  if (at < rows.size()) return bad_field("rows do not ascend by name; detail = index of the row", at, field);
  return {};
}

// --- rows --------------------------------------------------------------------------------------------

Status check_lists(const schema::WorldIndex& index) {
  const auto& lists = *index.dependency_lists();
  if (lists.size() == 0 || lists.Get(0) != 0 || lists.Get(lists.size() - 1) != index.dependencies()->size())
    return bad_field("lists are not all of the dependencies; detail = lists", lists.size(), "dependency_lists");
  for (uint32_t i = 0; i + 1 < lists.size(); ++i) {
    // Ascending up to the last, which is the end of the array: so all are inside.
    if (lists.Get(i) > lists.Get(i + 1))
      return bad_field("list ends before it begins; detail = its index", i, "dependency_lists");
  }
  for (uint32_t i = 0; i + 1 < lists.size(); ++i) {
    const uint32_t last = lists.Get(i + 1);
    if (const uint32_t at = first_disorder(*index.dependencies(), lists.Get(i), last); at < last)
      return bad_field("list of dependencies does not ascend; detail = index of the name", at, "dependencies");
  }
  return {};
}

Status check_maps(const schema::WorldIndex& index) {
  const auto& maps = *index.maps();
  const auto& children = *index.children();
  if (Status status = check_names(maps, "maps"); !status.ok()) return status;
  uint32_t next = 0;
  for (uint32_t i = 0; i < maps.size(); ++i) {
    const schema::IndexMap& map = *maps.Get(i);
    if (map.asset() < schema::BoxAsset::map_high || map.asset() > schema::BoxAsset::map_low)
      return bad_field("asset is none of a map; detail = index of the map", i, "asset");
    if (map.dependencies() >= index.dependency_lists()->size() - 1)
      return bad_field("list of dependencies is none; detail = index of the map", i, "maps");
    if (map.first_child() != next || map.child_count() > children.size() - next)
      return bad_field("children do not follow each other; detail = index of the map", i, "first_child");
    next += map.child_count();
    if (const uint32_t at = first_disorder(children, map.first_child(), next); at < next)
      return bad_field("children do not ascend; detail = index of the child", at, "children");
    for (uint32_t c = map.first_child(); c < next; ++c) {
      const uint32_t child = children.Get(c);
      if (child >= maps.size() || child == i || maps.Get(child)->parent() != map.name())
        return bad_field("child is no map or names another parent; detail = index of the child", c, "children");
    }
  }
  if (next != children.size()) return bad_field("child belongs to no map; detail = its index", next, "children");
  return {};
}

Status check_types(const schema::WorldIndex& index) {
  const auto& types = *index.types();
  if (Status status = check_names(types, "types"); !status.ok()) return status;
  for (uint32_t i = 0; i < types.size(); ++i)
    if (types.Get(i)->dependencies() >= index.dependency_lists()->size() - 1)
      return bad_field("list of dependencies is none; detail = index of the type file", i, "types");
  const auto& archetypes = *index.archetypes();
  if (Status status = check_names(archetypes, "archetypes"); !status.ok()) return status;
  for (uint32_t i = 0; i < archetypes.size(); ++i)
    if (archetypes.Get(i)->types() >= types.size())
      return bad_field("archetype's type file is none; detail = index of the archetype", i, "archetypes");
  return {};
}

Status check_groups(const schema::WorldIndex& index, uint64_t budget) {
  const auto& groups = *index.groups();
  if (Status status = check_names(groups, "groups"); !status.ok()) return status;
  for (uint32_t i = 0; i < groups.size(); ++i) {
    const schema::IndexGroup& group = *groups.Get(i);
    for (const auto* vector : {group.weather_types(), group.maps(), group.bounds()}) {
      // Groups of an honest file share nothing; each of many could have the one long array otherwise.
      const uint64_t bytes = uint64_t{vector->size()} * sizeof(uint32_t);
      if (bytes > budget)
        return {StatusCode::bad_structure, "groups share their arrays too often; detail = index of the group", i,
                NameHash{hash_type("groups").value}};
      budget -= bytes;
      if (first_disorder(*vector, 0, vector->size()) < vector->size())
        return bad_field("array of a group does not ascend; detail = index of the group", i, "groups");
    }
    const auto& maps = *group.maps();
    if (maps.size() != 0 && maps.Get(maps.size() - 1) >= index.maps()->size())
      return bad_field("group has a map that is none; detail = index of the group", i, "groups");
  }
  return {};
}

// --- trees -------------------------------------------------------------------------------------------

struct Box {
  float min[3], max[3];

  static Box of(const schema::Vec3& a, const schema::Vec3& b) { return {{a.x(), a.y(), a.z()}, {b.x(), b.y(), b.z()}}; }
  bool inside_out() const { return min[0] > max[0] || min[1] > max[1] || min[2] > max[2]; }
  bool operator==(const Box& b) const {
    for (int axis = 0; axis < 3; ++axis)
      if (min[axis] != b.min[axis] || max[axis] != b.max[axis]) return false;
    return true;
  }
  void add(const Box& b) {
    for (int axis = 0; axis < 3; ++axis) {
      min[axis] = std::min(min[axis], b.min[axis]);
      max[axis] = std::max(max[axis], b.max[axis]);
    }
  }
};

using MapBox = Box (*)(const schema::IndexMap& map);

class TreeCheck {
 public:
  TreeCheck(const schema::WorldIndex& index, const schema::BoxTree& tree, MapBox box_of, const char* field)
      : maps_(*index.maps()), tree_(tree), children_(*tree.children()), box_of_(box_of), field_(field) {}

  Status run() {
    const uint64_t nodes = children_.size() / kWidth;
    if (children_.size() % kWidth != 0 || tree_.bounds()->size() != nodes * kFloats)
      return fail("tree's arrays do not fit each other; detail = children", children_.size());
    if (tree_.places()->size() != maps_.size())
      return fail("not one place for each map; detail = places", tree_.places()->size());
    if (Status status = check_outside(); !status.ok()) return status;
    if (Status status = check_nodes(static_cast<uint32_t>(nodes)); !status.ok()) return status;
    // Each item's place leads back to it, so none is there twice; with those outside they are all.
    if (items_ + tree_.outside()->size() != maps_.size())
      return fail("not every map is in the tree or outside; detail = maps found", items_ + tree_.outside()->size());
    return {};
  }

 private:
  Status fail(const char* message, uint64_t at) const { return bad_field(message, at, field_); }

  Box box_at(uint32_t child) const {
    const float* const run = tree_.bounds()->data() + size_t{child / kWidth} * kFloats + child % kWidth;
    return {{run[0], run[kWidth], run[2 * kWidth]}, {run[3 * kWidth], run[4 * kWidth], run[5 * kWidth]}};
  }

  Status check_outside() const {
    const auto& outside = *tree_.outside();
    if (const uint32_t at = first_disorder(outside, 0, outside.size()); at < outside.size())
      return fail("maps outside do not ascend; detail = index", at);
    for (uint32_t i = 0; i < outside.size(); ++i) {
      const uint32_t map = outside.Get(i);
      if (map >= maps_.size() || tree_.places()->Get(map) != kNone || !box_of_(*maps_.Get(map)).inside_out())
        return fail("map outside is none, or belongs inside; detail = index", i);
    }
    return {};
  }

  /// Nodes are numbered in the order in which they are named: so each but the root is named once, by one before it.
  Status check_nodes(uint32_t nodes) {
    uint32_t next = nodes == 0 ? 0 : 1, level_end = next, levels = next;
    for (uint32_t node = 0; node < nodes; ++node) {
      if (node >= next) return fail("node is named by none; detail = node", node);
      if (node == level_end) {
        level_end = next;
        ++levels;
      }
      if (levels > kMaxDepth) return fail("tree is too deep; detail = node", node);
      uint32_t used = 0;
      while (used < kWidth && children_.Get(node * kWidth + used) != kNone) ++used;
      if (used == 0) return fail("node has no child; detail = node", node);
      for (uint32_t lane = 0; lane < kWidth; ++lane)
        if (Status status = check_child(node * kWidth + lane, lane < used, nodes, next); !status.ok()) return status;
    }
    return {};
  }

  Status check_child(uint32_t at, bool is_used, uint32_t nodes, uint32_t& next) {
    const uint32_t child = children_.Get(at);
    const Box box = box_at(at);
    if (!is_used) {
      if (child != kNone || !box.inside_out()) return fail("unused child could be found; detail = child", at);
      return {};
    }
    if ((child & kItem) != 0) {
      const uint32_t map = child & ~kItem;
      if (map >= maps_.size() || tree_.places()->Get(map) != at)
        return fail("child and map do not name each other; detail = child", at);
      if (box.inside_out() || !(box == box_of_(*maps_.Get(map))))
        return fail("child's box is not that of its map; detail = child", at);
      ++items_;
      return {};
    }
    if (child != next || child >= nodes) return fail("nodes are not in order; detail = child", at);
    ++next;
    Box all = box_at(child * kWidth);
    for (uint32_t lane = 1; lane < kWidth && children_.Get(child * kWidth + lane) != kNone; ++lane)
      all.add(box_at(child * kWidth + lane));
    if (!(box == all)) return fail("node's box is not that of its children; detail = child", at);
    return {};
  }

  const flatbuffers::Vector<const schema::IndexMap*>& maps_;
  const schema::BoxTree& tree_;
  const flatbuffers::Vector<uint32_t>& children_;
  MapBox box_of_;
  const char* field_;
  uint64_t items_ = 0;
};

Box entities_box(const schema::IndexMap& map) { return Box::of(map.entities_min(), map.entities_max()); }
Box streaming_box(const schema::IndexMap& map) { return Box::of(map.streaming_min(), map.streaming_max()); }

}  // namespace

Status check_world_index(const schema::WorldIndex& index, uint64_t payload_bytes) {
  if (Status status = check_lists(index); !status.ok()) return status;
  if (Status status = check_maps(index); !status.ok()) return status;
  if (Status status = check_types(index); !status.ok()) return status;
  if (Status status = check_groups(index, payload_bytes); !status.ok()) return status;
  if (Status status = TreeCheck(index, *index.entities_tree(), entities_box, "entities_tree").run(); !status.ok())
    return status;
  return TreeCheck(index, *index.streaming_tree(), streaming_box, "streaming_tree").run();
}

}  // namespace meridian::detail
