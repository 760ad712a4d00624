// SPDX-License-Identifier: MIT
// From the entities of a map to their descriptors: links, descriptors, fingerprint.
#include <algorithm>
#include <array>

#define XXH_INLINE_ALL  // hashes of 16 bytes are a few instructions if the compiler knows how many there are
#include <xxhash.h>

#include "meridian/base/assert.h"
#include "meridian/scene/desc_block.h"
#include "meridian/schemas/imap_generated.h"
#include "resource/flat_vector.h"

namespace meridian {
namespace {

using schema::EntityDef;
using schema::EntityFlags;

uint32_t entity_count(const schema::MapData& map) { return map.entities() != nullptr ? map.entities()->size() : 0; }

bool names_parent_map(const EntityDef& entity) {
  return (static_cast<uint32_t>(entity.flags()) & static_cast<uint32_t>(EntityFlags::lod_in_parent)) != 0;
}

/// The entity that `i` names as LOD parent, if there can be one.
struct Named {
  bool any = false, in_parent = false;
  uint32_t index = 0;
};
Named named_parent(const schema::MapData& map, uint32_t i) {
  const EntityDef& entity = *map.entities()->Get(i);
  if (entity.parent_index() < 0) return {};
  const Named out{true, names_parent_map(entity), static_cast<uint32_t>(entity.parent_index())};
  if (!out.in_parent && (out.index >= entity_count(map) || out.index == i)) return {};
  return out;
}

LodLinkRow row_of(uint32_t parent_index, bool in_parent) {
  LodLinkRow row;
  row.parent_index = parent_index;
  row.in_parent = in_parent;
  return row;
}

bool before(const LodLinkRow& a, bool in_parent, uint32_t index) {
  return a.in_parent != in_parent ? in_parent : a.parent_index < index;
}

constexpr uint32_t kNoRow = 0xFFFFFFFF;

/// Row of a set, or kNoRow. Wider than a row of the final table: before sets without a distance are taken out, there
/// can be more.
uint32_t find_row(std::span<const LodLinkRow> rows, bool in_parent, uint32_t index) {
  const auto at = std::lower_bound(rows.begin(), rows.end(), index,
                                   [&](const LodLinkRow& row, uint32_t i) { return before(row, in_parent, i); });
  if (at == rows.end() || at->in_parent != in_parent || at->parent_index != index) return kNoRow;
  return static_cast<uint32_t>(at - rows.begin());
}

constexpr uint16_t row_number(uint32_t row) { return row == kNoRow ? kNoLodSet : static_cast<uint16_t>(row); }

const LodParent* parent_elsewhere(const MapDescInput& in, uint32_t i) {
  if (i >= in.parents.size()) return nullptr;
  const LodParent& parent = in.parents[i];
  return parent.distance > 0 && is_finite(parent.distance) && is_finite(parent.pivot) ? &parent : nullptr;
}

/// Largest distance of the children that this map has; used where neither the linker nor the author gave one.
void gather_distances(const MapDescInput& in, std::span<LodLinkRow> rows) {
  const schema::MapData& map = *in.map;
  for (uint32_t i = 0; i < entity_count(map); ++i) {
    const Named named = named_parent(map, i);
    if (!named.any || named.in_parent) continue;
    LodLinkRow& row = rows[find_row(rows, false, named.index)];
    const float own = lod_distance(map.entities()->Get(i)->lod_dist(),
                                   in.archetypes[i] != nullptr ? in.archetypes[i]->lod_distance : 0.0f);
    row.distance = std::max(row.distance, own);
  }
  for (LodLinkRow& row : rows) {
    if (row.in_parent) continue;
    const EntityDef& parent = *map.entities()->Get(row.parent_index);
    if (parent.child_lod_dist() > 0) row.distance = parent.child_lod_dist();
    row.pivot = {parent.position().x(), parent.position().y(), parent.position().z()};
  }
  if (map.lod_sets() == nullptr) return;
  for (const schema::LodSet* set : *map.lod_sets()) {
    const uint32_t row = find_row(rows, false, set->parent_index());
    if (row != kNoRow && set->distance() > 0) rows[row].distance = set->distance();
  }
}

/// Sets `up` of each row, and cuts what goes in circles. Chains are short, so each row looks up its own.
void chain_rows(const schema::MapData& map, std::span<LodLinkRow> rows) {
  for (LodLinkRow& row : rows) {
    row.up = kNoLodSet;
    if (row.in_parent) continue;
    const Named named = named_parent(map, row.parent_index);
    if (named.any) row.up = row_number(find_row(rows, named.in_parent, named.index));
  }
  for (LodLinkRow& row : rows) {
    uint32_t steps = 0;
    for (uint16_t up = row.up; up != kNoLodSet && steps <= kMaxLodChain; up = rows[up].up) ++steps;
    if (steps >= kMaxLodChain) row.up = kNoLodSet;
  }
}

uint64_t mix(uint64_t state, uint64_t value) {
  const std::array<uint64_t, 2> words{state, value};
  return XXH3_64bits(words.data(), sizeof(words));
}

/// Remembers the hashes of traits: a map places few archetypes, many times each.
class TraitsHashes {
 public:
  uint64_t of(const ArchetypeTraits* traits) {
    if (traits == nullptr) return 0;
    Entry* entry = &entries_[(reinterpret_cast<uintptr_t>(traits) * 0x9E3779B97F4A7C15u) >> 56];
    if (entry->traits != traits && entry->traits != nullptr) entry = &entries_[(entry - entries_) ^ 1];
    if (entry->traits != traits) *entry = {traits, traits_hash(*traits)};
    return entry->hash;
  }

 private:
  struct Entry {
    const ArchetypeTraits* traits = nullptr;
    uint64_t hash = 0;
  };
  Entry entries_[256];
};

}  // namespace

size_t lod_link_bound(const schema::MapData& map) {
  size_t bound = map.lod_sets() != nullptr ? map.lod_sets()->size() : 0;
  for (uint32_t i = 0; i < entity_count(map); ++i) bound += named_parent(map, i).any ? 1 : 0;
  return bound;
}

Result<uint32_t> link_map(const MapDescInput& in, std::span<LodLinkRow> rows) {
  const schema::MapData& map = *in.map;
  const uint32_t entities = entity_count(map);
  MERIDIAN_ASSERT(in.archetypes.size() == entities, "one archetype for each entity");
  MERIDIAN_ASSERT(rows.size() >= lod_link_bound(map), "rows are fewer than lod_link_bound");
  size_t count = 0;
  for (uint32_t i = 0; i < entities; ++i) {
    const Named named = named_parent(map, i);
    const LodParent* elsewhere = named.in_parent ? parent_elsewhere(in, i) : nullptr;
    if (!named.any || (named.in_parent && elsewhere == nullptr)) continue;
    LodLinkRow row = row_of(named.index, named.in_parent);
    if (elsewhere != nullptr) {
      row.pivot = elsewhere->pivot;
      row.distance = elsewhere->distance;
    }
    rows[count++] = row;
  }
  if (map.lod_sets() != nullptr) {
    for (const schema::LodSet* set : *map.lod_sets())
      if (set->parent_index() < entities) rows[count++] = row_of(set->parent_index(), false);
  }
  // Of equal rows the first stays: those of one parent elsewhere are alike, unless the caller contradicts itself; the
  // order must not depend on how the sort moves equal ones then.
  const auto less = [](const LodLinkRow& a, const LodLinkRow& b) {
    if (a.in_parent != b.in_parent || a.parent_index != b.parent_index) return before(a, b.in_parent, b.parent_index);
    if (a.distance != b.distance) return a.distance > b.distance;
    if (a.pivot.x != b.pivot.x) return a.pivot.x < b.pivot.x;
    if (a.pivot.y != b.pivot.y) return a.pivot.y < b.pivot.y;
    return a.pivot.z < b.pivot.z;
  };
  std::sort(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(count), less);
  const auto same = [](const LodLinkRow& a, const LodLinkRow& b) {
    return a.in_parent == b.in_parent && a.parent_index == b.parent_index;
  };
  auto end = std::unique(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(count), same);
  gather_distances(in, std::span(rows.begin(), end));
  end = std::remove_if(rows.begin(), end, [](const LodLinkRow& row) { return !(row.distance > 0); });
  count = static_cast<size_t>(end - rows.begin());
  if (count > kMaxLodSets) {
    return Status{StatusCode::too_large, "map refers to too many LOD sets; detail = sets", count};
  }
  chain_rows(map, rows.first(count));
  return static_cast<uint32_t>(count);
}

const LodLinkRow* find_link(std::span<const LodLinkRow> links, bool in_parent, uint32_t parent_index) {
  const uint32_t row = find_row(links, in_parent, parent_index);
  return row != kNoRow ? &links[row] : nullptr;
}

EntityLink link_of(const schema::MapData& map, std::span<const LodLinkRow> links, uint32_t i) {
  EntityLink out;
  uint16_t child_of = kNoLodSet;
  if (const uint32_t own = find_row(links, false, i); own != kNoRow) {
    out.lod_set = row_number(own);
    out.is_parent = true;
    child_of = links[own].up;  // not what the entity says: it may have been cut
  } else if (const Named named = named_parent(map, i); named.any) {
    child_of = row_number(find_row(links, named.in_parent, named.index));
    out.lod_set = child_of;
  }
  if (child_of != kNoLodSet) out.parent = {links[child_of].pivot, links[child_of].distance};
  return out;
}

void describe_map(const MapDescInput& in, std::span<const LodLinkRow> links, std::span<EntityDesc> out,
                  std::span<DescStatus> status) {
  const schema::MapData& map = *in.map;
  const uint32_t entities = entity_count(map);
  MERIDIAN_ASSERT(in.archetypes.size() == entities && out.size() == entities, "one of each for each entity");
  MERIDIAN_ASSERT(status.empty() || status.size() == entities, "one status for each entity");
  detail::ByOwner<schema::MloInstanceDef> instances(map.mlo_instances());
  for (uint32_t i = 0; i < entities; ++i) {
    const bool is_interior = instances.next(i) != nullptr;
    const DescStatus made =
        describe_entity(*map.entities()->Get(i), is_interior, in.archetypes[i], link_of(map, links, i), out[i]);
    out[i].handle = i;
    if (!status.empty()) status[i] = made;
  }
}

uint64_t descriptor_fingerprint(const MapDescInput& in) {
  return descriptor_fingerprint(in, kFingerprintStart, 0, entity_count(*in.map));
}

uint64_t descriptor_fingerprint(const MapDescInput& in, uint64_t state, uint32_t first, uint32_t last) {
  const schema::MapData& map = *in.map;
  MERIDIAN_ASSERT(in.archetypes.size() == entity_count(map), "one archetype for each entity");
  MERIDIAN_ASSERT(first <= last && last <= in.archetypes.size(), "a range of the entities");
  TraitsHashes hashes;
  for (uint32_t i = first; i < last; ++i) {
    state = mix(state, hashes.of(in.archetypes[i]));
    const EntityDef& entity = *map.entities()->Get(i);
    if (entity.parent_index() < 0 || !names_parent_map(entity)) continue;
    uint64_t parent_hash = 0;
    if (const LodParent* parent = parent_elsewhere(in, i)) {
      const std::array<float, 4> values{parent->pivot.x, parent->pivot.y, parent->pivot.z, parent->distance};
      parent_hash = XXH3_64bits(values.data(), sizeof(values));
    }
    state = mix(state, parent_hash);
  }
  return state;
}

}  // namespace meridian
