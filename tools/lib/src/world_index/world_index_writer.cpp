// SPDX-License-Identifier: MIT
#include "meridian/tools/world_index_writer.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "meridian/schemas/world_index_generated.h"
#include "meridian/tools/binding.h"
#include "meridian/tools/compile.h"
#include "resource_builder.h"
#include "text_values.h"
#include "world_index/box_tree_builder.h"

namespace meridian::tools {
namespace {

bool is_finite_box(const Aabb& box) { return is_finite(box.min) && is_finite(box.max); }

void sort_unique(std::vector<uint32_t>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

/// Lists of names one behind the other; equal ones are there once.
class ListPool {
 public:
  ListPool() { (void)add({}); }

  uint32_t add(const std::vector<uint32_t>& list) {
    const auto [it, is_new] = known_.try_emplace(list, static_cast<uint32_t>(known_.size()));
    if (is_new) {
      all_.insert(all_.end(), list.begin(), list.end());
      ends_.push_back(static_cast<uint32_t>(all_.size()));
    }
    return it->second;
  }
  const std::vector<uint32_t>& all() const { return all_; }
  const std::vector<uint32_t>& ends() const { return ends_; }  ///< a 0 before the first

 private:
  std::map<std::vector<uint32_t>, uint32_t> known_;
  std::vector<uint32_t> all_, ends_{0};
};

class IndexWriter {
 public:
  IndexWriter(WorldIndexInput in, std::string& error) : in_(std::move(in)), error_(error) {
    std::stable_sort(in_.names.begin(), in_.names.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  bool write(std::vector<uint8_t>& out) {
    if (!sort_rows() || !place_archetypes()) return false;
    list_types();
    list_maps();
    find_children();
    find_groups();
    return finish(out);
  }

 private:
  // ---- messages

  std::string quoted(NameHash name) const {
    const std::string_view text = text_of(name.value);
    if (!text.empty()) return "'" + std::string(text) + "'";
    std::string out;
    append_hash_literal(out, name.value);
    return out;
  }
  std::string_view text_of(uint32_t name) const {
    const auto at = std::lower_bound(in_.names.begin(), in_.names.end(), name,
                                     [](const auto& entry, uint32_t wanted) { return entry.first < wanted; });
    return at != in_.names.end() && at->first == name ? at->second : std::string_view();
  }
  bool fail(std::string message) {
    error_ = std::move(message);
    return false;
  }

  // ---- rows

  template <class Rows, class NameOf>
  bool sort_by_name(Rows& rows, const char* noun, const NameOf& name_of) {
    std::sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) { return name_of(a) < name_of(b); });
    if (!rows.empty() && name_of(rows.front()).value == 0) return fail(std::string(noun) + " without a name");
    for (size_t i = 1; i < rows.size(); ++i)
      if (name_of(rows[i - 1]) == name_of(rows[i]))
        return fail(std::string(noun) + " " + quoted(name_of(rows[i])) + " is there twice");
    return true;
  }

  bool sort_rows() {
    if (in_.maps.size() > kMaxBoxTreeItems) return fail("more maps than a tree holds");
    if (!sort_by_name(in_.maps, "map", [](const WorldIndexMap& m) { return m.slot.name; }) ||
        !sort_by_name(in_.types, "type file", [](const WorldIndexTypes& t) { return t.slot.name; }) ||
        !sort_by_name(in_.archetypes, "archetype", [](const WorldIndexArchetype& a) { return a.row.name; }) ||
        !sort_by_name(in_.groups, "map group", [](const WorldIndexGroup& g) { return g.name; }))
      return false;
    for (WorldIndexMap& m : in_.maps) {
      if (!is_finite_box(m.slot.entities) || !is_finite_box(m.slot.streaming))
        return fail("map " + quoted(m.slot.name) + ": a box is infinite or NaN");
      m.slot.asset = map_asset(m.slot.content_flags);
    }
    for (const WorldIndexArchetype& a : in_.archetypes)
      if (!is_finite_box(a.row.box) || !is_finite(a.row.sphere_centre) || !is_finite(a.row.sphere_radius) ||
          !is_finite(a.row.lod_distance))
        return fail("archetype " + quoted(a.row.name) + ": a number is infinite or NaN");
    return true;
  }

  bool place_archetypes() {
    for (WorldIndexArchetype& a : in_.archetypes) {
      a.row.types = types_slot(a.file.value);
      if (a.row.types == kNone)
        return fail("archetype " + quoted(a.row.name) + ": its type file " + quoted(a.file) + " is not in the index");
    }
    return true;
  }

  /// Slot of a type file, or kNone.
  uint32_t types_slot(uint32_t name) const {
    const auto at =
        std::lower_bound(in_.types.begin(), in_.types.end(), name,
                         [](const WorldIndexTypes& t, uint32_t wanted) { return t.slot.name.value < wanted; });
    return at != in_.types.end() && at->slot.name.value == name ? static_cast<uint32_t>(at - in_.types.begin()) : kNone;
  }

  // ---- dependencies

  void list_types() {
    for (WorldIndexTypes& t : in_.types) {
      sort_unique(t.types);
      std::erase(t.types, t.slot.name.value);  // props of its own
      t.slot.dependencies = lists_.add(t.types);
    }
  }

  /// All that a map needs: what it uses, and from there on along what type files need, whatever circles there are.
  void list_maps() {
    std::vector<uint32_t> seen_by(in_.types.size(), kNone);
    for (uint32_t m = 0; m < in_.maps.size(); ++m) {
      std::vector<uint32_t> all = std::move(in_.maps[m].types);
      for (size_t i = 0; i < all.size(); ++i) {
        const uint32_t slot = types_slot(all[i]);
        if (slot == kNone || seen_by[slot] == m) continue;
        seen_by[slot] = m;
        const std::vector<uint32_t>& more = in_.types[slot].types;
        all.insert(all.end(), more.begin(), more.end());
      }
      sort_unique(all);
      in_.maps[m].slot.dependencies = lists_.add(all);
    }
  }

  // ---- maps among each other

  uint32_t map_slot_of(uint32_t name) const {
    const auto at =
        std::lower_bound(in_.maps.begin(), in_.maps.end(), name,
                         [](const WorldIndexMap& m, uint32_t wanted) { return m.slot.name.value < wanted; });
    return at != in_.maps.end() && at->slot.name.value == name ? static_cast<uint32_t>(at - in_.maps.begin()) : kNone;
  }

  void find_children() {
    std::vector<std::pair<uint32_t, uint32_t>> links;  // parent, child
    for (uint32_t m = 0; m < in_.maps.size(); ++m) {
      const NameHash parent = in_.maps[m].slot.parent;
      const uint32_t slot = parent.value == 0 ? kNone : map_slot_of(parent.value);
      if (slot != kNone && slot != m) links.emplace_back(slot, m);
    }
    std::sort(links.begin(), links.end());
    size_t next = 0;
    for (uint32_t m = 0; m < in_.maps.size(); ++m) {
      MapSlot& slot = in_.maps[m].slot;
      slot.first_child = static_cast<uint32_t>(next);
      for (; next < links.size() && links[next].first == m; ++next) children_.push_back(links[next].second);
      slot.child_count = static_cast<uint32_t>(next) - slot.first_child;
    }
  }

  void find_groups() {
    group_maps_.resize(in_.groups.size());
    std::vector<uint32_t> seen_by(in_.maps.size(), kNone);
    for (uint32_t g = 0; g < in_.groups.size(); ++g) {
      sort_unique(in_.groups[g].weather_types);
      sort_unique(in_.groups[g].bounds);
      std::vector<uint32_t>& maps = group_maps_[g];
      const uint32_t top = map_slot_of(in_.groups[g].name.value);
      if (top == kNone) continue;
      maps.push_back(top);
      seen_by[top] = g;
      for (size_t i = 0; i < maps.size(); ++i) {
        const MapSlot& slot = in_.maps[maps[i]].slot;
        for (uint32_t c = 0; c < slot.child_count; ++c) {
          const uint32_t child = children_[slot.first_child + c];
          if (seen_by[child] == g) continue;  // parents in a circle
          seen_by[child] = g;
          maps.push_back(child);
        }
      }
      std::sort(maps.begin(), maps.end());
    }
  }

  // ---- bytes

  template <class Struct, class Rows, class RowOf>
  flatbuffers::Offset<flatbuffers::Vector<const Struct*>> put_rows(flatbuffers::FlatBufferBuilder& fbb,
                                                                   const Rows& rows, const RowOf& row_of) const {
    Struct* to = nullptr;
    const auto vector = fbb.CreateUninitializedVectorOfStructs<Struct>(rows.size(), &to);
    for (size_t i = 0; i < rows.size(); ++i) std::memcpy(static_cast<void*>(to + i), &row_of(rows[i]), sizeof(Struct));
    return vector;
  }

  flatbuffers::Offset<schema::BoxTree> put_tree(flatbuffers::FlatBufferBuilder& fbb, Aabb MapSlot::*box) const {
    std::vector<Aabb> boxes;
    boxes.reserve(in_.maps.size());
    for (const WorldIndexMap& m : in_.maps) boxes.push_back(m.slot.*box);
    const BuiltBoxTree tree = build_box_tree(boxes);
    const auto bounds = fbb.CreateVector(tree.bounds);
    const auto children = fbb.CreateVector(tree.children), places = fbb.CreateVector(tree.places),
               outside = fbb.CreateVector(tree.outside);
    return schema::CreateBoxTree(fbb, bounds, children, places, outside);
  }

  bool finish(std::vector<uint8_t>& out) {
    const uint64_t expected = in_.maps.size() * (sizeof(MapSlot) + 80) + in_.types.size() * sizeof(TypesSlot) +
                              in_.archetypes.size() * sizeof(ArchetypeRow) + lists_.all().size() * 4 + 4096;
    if (expected > kMaxResourceBytes / 10 * 9) return fail("the index would be too large [FMT001]");
    flatbuffers::FlatBufferBuilder fbb(expected);
    const auto streaming = put_tree(fbb, &MapSlot::streaming), entities = put_tree(fbb, &MapSlot::entities);
    std::vector<flatbuffers::Offset<schema::IndexGroup>> groups;
    for (size_t g = 0; g < in_.groups.size(); ++g) {
      const WorldIndexGroup& group = in_.groups[g];
      const auto weather = fbb.CreateVector(group.weather_types), maps = fbb.CreateVector(group_maps_[g]),
                 bounds = fbb.CreateVector(group.bounds);
      groups.push_back(schema::CreateIndexGroup(fbb, group.name.value,
                                                static_cast<schema::MapDataGroupFlags>(group.flags),
                                                static_cast<schema::TimeFlags>(group.hours), weather, maps, bounds));
    }
    const auto group_vector = fbb.CreateVector(groups);
    const auto children = fbb.CreateVector(children_), dependencies = fbb.CreateVector(lists_.all()),
               lists = fbb.CreateVector(lists_.ends());
    const auto archetypes = put_rows<schema::IndexArchetype>(
        fbb, in_.archetypes, [](const WorldIndexArchetype& a) -> const ArchetypeRow& { return a.row; });
    const auto types = put_rows<schema::IndexTypes>(
        fbb, in_.types, [](const WorldIndexTypes& t) -> const TypesSlot& { return t.slot; });
    const auto maps =
        put_rows<schema::IndexMap>(fbb, in_.maps, [](const WorldIndexMap& m) -> const MapSlot& { return m.slot; });
    schema::FinishWorldIndexBuffer(fbb, schema::CreateWorldIndex(fbb, maps, types, archetypes, lists, dependencies,
                                                                 children, group_vector, entities, streaming));
    const std::span<const uint8_t> payload(fbb.GetBufferPointer(), fbb.GetSize());
    out = seal_payload(std::as_bytes(payload), used_names(), *Binding::builtin(kWorldIndexKind), {});
    if (out.empty()) return fail("the index would be too large [FMT001]");
    return true;
  }

  /// The texts of the names that occur, by hash.
  std::vector<NameUse> used_names() const {
    if (in_.names.empty()) return {};
    std::vector<uint32_t> hashes = lists_.all();
    for (const WorldIndexMap& m : in_.maps) hashes.insert(hashes.end(), {m.slot.name.value, m.slot.parent.value});
    for (const WorldIndexTypes& t : in_.types) hashes.push_back(t.slot.name.value);
    for (const WorldIndexArchetype& a : in_.archetypes) hashes.push_back(a.row.name.value);
    for (const WorldIndexGroup& g : in_.groups) {
      hashes.push_back(g.name.value);
      hashes.insert(hashes.end(), g.weather_types.begin(), g.weather_types.end());
      hashes.insert(hashes.end(), g.bounds.begin(), g.bounds.end());
    }
    sort_unique(hashes);
    std::vector<NameUse> out;
    for (const uint32_t hash : hashes)
      if (const std::string_view text = text_of(hash); !text.empty()) out.push_back({hash, std::string(text), 0});
    return out;
  }

  static constexpr uint32_t kNone = UINT32_MAX;

  WorldIndexInput in_;
  std::string& error_;
  ListPool lists_;
  std::vector<uint32_t> children_;
  std::vector<std::vector<uint32_t>> group_maps_;
};

}  // namespace

bool build_world_index(WorldIndexInput in, std::vector<uint8_t>& out, std::string& error) {
  return IndexWriter(std::move(in), error).write(out);
}

}  // namespace meridian::tools
