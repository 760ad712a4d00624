// SPDX-License-Identifier: MIT
#include "world_build/lod_links.h"

#include <algorithm>
#include <map>

#include "lint/entity_links.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian::tools {
namespace {

struct Set {
  float farthest = 0;
  std::vector<LodSetChildrenRow> rows;  // by map, in the order met
};

void add_children(const LintWorld& world, const LintUnit& map, bool in_parent, uint32_t count,
                  std::map<uint32_t, Set>& sets) {
  if (map.map->entities() == nullptr) return;
  for (const schema::EntityDef* e : *map.map->entities()) {
    if (e->parent_index() < 0 || static_cast<uint32_t>(e->parent_index()) >= count) continue;
    if (lod_in_parent(*e) != in_parent) continue;
    Set& set = sets[static_cast<uint32_t>(e->parent_index())];
    set.farthest = std::max(set.farthest, own_lod_distance(world, *e));
    if (set.rows.empty() || set.rows.back().map.value != map.name) set.rows.push_back({NameHash{map.name}, 0, 0, 0, 0});
    LodSetChildrenRow& row = set.rows.back();
    switch (e->priority_level()) {
      case schema::PriorityLevel::REQUIRED:
        ++row.required;
        break;
      case schema::PriorityLevel::OPTIONAL_HIGH:
        ++row.optional_high;
        break;
      case schema::PriorityLevel::OPTIONAL_MEDIUM:
        ++row.optional_medium;
        break;
      case schema::PriorityLevel::OPTIONAL_LOW:
        ++row.optional_low;
        break;
    }
  }
}

}  // namespace

std::vector<LodSetInput> lod_sets_of(const LintWorld& world, const LintUnit& map) {
  std::vector<LodSetInput> out;
  const auto* const entities = map.map->entities();
  if (entities == nullptr) return out;
  std::map<uint32_t, Set> sets;
  add_children(world, map, false, entities->size(), sets);
  for (const LintUnit* child : world.children_of(map)) add_children(world, *child, true, entities->size(), sets);
  for (auto& [index, set] : sets) {
    const float given = entities->Get(index)->child_lod_dist();
    const float distance = given > 0 ? given : set.farthest;
    if (distance > 0) out.push_back({index, distance, std::move(set.rows)});
  }
  return out;
}

LodParent lod_parent(const LodSetTable& sets, const LintUnit& map, uint32_t parent_index) {
  const auto found = sets.find(&map);
  if (found == sets.end()) return {};
  const auto at = std::lower_bound(found->second.begin(), found->second.end(), parent_index,
                                   [](const LodSetInput& set, uint32_t index) { return set.parent_index < index; });
  if (at == found->second.end() || at->parent_index != parent_index) return {};
  const schema::Vec3& p = map.map->entities()->Get(parent_index)->position();
  return {{p.x(), p.y(), p.z()}, at->distance};
}

}  // namespace meridian::tools
