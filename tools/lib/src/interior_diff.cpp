// SPDX-License-Identifier: MIT
#include "interior_diff.h"

#include <bit>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "meridian/schemas/ityp_generated.h"
#include "vector_size.h"

namespace meridian::tools {
namespace {

/// One version of an interior, with a name for everything in it.
struct Names {
  explicit Names(const schema::MloArchetypeDef& mlo) {
    std::set<std::string> taken;
    std::map<std::string, uint32_t> counts;
    const auto unique = [&](const std::string& name) {
      std::string out = name;
      while (!taken.insert(out).second)
        out = name + " (" + std::to_string(++counts.try_emplace(name, 1).first->second) + ")";
      return out;
    };
    for (uint32_t i = 0; i < size_of(mlo.rooms()); ++i) {
      const auto* const name = mlo.rooms()->Get(i)->name();
      rooms.push_back(unique("room " + (name == nullptr || name->size() == 0 ? "''" : name->str())));
    }
    for (uint32_t i = 0; i < size_of(mlo.portals()); ++i) {
      const schema::MloPortalDef& p = *mlo.portals()->Get(i);
      portals.push_back(unique("portal " + room_name(p.room_from()) + " - " + room_name(p.room_to())));
    }
    locations.resize(size_of(mlo.entities()));
    for (uint32_t i = 0; i < rooms.size(); ++i) attach(mlo.rooms()->Get(i)->attached_objects(), rooms[i]);
    for (uint32_t i = 0; i < portals.size(); ++i) attach(mlo.portals()->Get(i)->attached_objects(), portals[i]);
    for (std::string& location : locations)
      if (location.empty()) location = "(none)";
  }

  std::string room_name(uint32_t room) const {
    return room < rooms.size() ? rooms[room].substr(5) : "[" + std::to_string(room) + "]";
  }
  void attach(const flatbuffers::Vector<uint32_t>* objects, const std::string& name) {
    if (objects == nullptr) return;
    for (const uint32_t entity : *objects)
      if (entity < locations.size()) locations[entity] += (locations[entity].empty() ? "" : " and ") + name;
  }

  std::vector<std::string> rooms, portals, locations;
};

void align(const std::vector<std::string>& before, const std::vector<std::string>& after,
           std::vector<std::pair<uint32_t, uint32_t>>& pairs, std::vector<std::string>& lines) {
  std::unordered_map<std::string_view, uint32_t> where;
  for (uint32_t i = 0; i < after.size(); ++i) where.emplace(after[i], i);
  std::vector<bool> is_paired(after.size());
  for (uint32_t i = 0; i < before.size(); ++i) {
    const auto found = where.find(before[i]);
    if (found == where.end()) {
      lines.push_back(before[i] + " removed");
      continue;
    }
    pairs.emplace_back(i, found->second);
    is_paired[found->second] = true;
  }
  for (uint32_t i = 0; i < after.size(); ++i)
    if (!is_paired[i]) lines.push_back(after[i] + " added");
}

/// A guid, or archetype and place bit by bit; and the how-many-th of those it is.
using EntityKey = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;

std::map<EntityKey, uint32_t> keys_of(const schema::MloArchetypeDef& mlo) {
  std::map<uint32_t, uint32_t> guids;
  for (uint32_t i = 0; i < size_of(mlo.entities()); ++i) ++guids[mlo.entities()->Get(i)->guid()];
  std::map<EntityKey, uint32_t> out, counts;
  for (uint32_t i = 0; i < size_of(mlo.entities()); ++i) {
    const schema::EntityDef& e = *mlo.entities()->Get(i);
    const schema::Vec3& p = e.position();
    EntityKey key = e.guid() != 0 && guids[e.guid()] == 1 ? EntityKey{e.guid(), 0, 0, 0, 0, 0}
                                                          : EntityKey{0,
                                                                      e.archetype_name(),
                                                                      std::bit_cast<uint32_t>(p.x()),
                                                                      std::bit_cast<uint32_t>(p.y()),
                                                                      std::bit_cast<uint32_t>(p.z()),
                                                                      0};
    std::get<5>(key) = counts[key]++;
    out.emplace(key, i);
  }
  return out;
}

}  // namespace

InteriorDiff diff_interiors(const schema::MloArchetypeDef& before, const schema::MloArchetypeDef& after) {
  InteriorDiff out;
  const Names a(before), b(after);
  align(a.rooms, b.rooms, out.rooms, out.lines);
  align(a.portals, b.portals, out.portals, out.lines);
  const std::map<EntityKey, uint32_t> now = keys_of(after);
  std::map<uint32_t, uint32_t> same;  // in the order of before
  for (const auto& [key, i] : keys_of(before))
    if (const auto found = now.find(key); found != now.end()) same.emplace(i, found->second);
  for (const auto& [i, j] : same)
    if (a.locations[i] != b.locations[j])
      out.lines.push_back("entity " + std::to_string(i) + (i == j ? "" : " (now " + std::to_string(j) + ")") + ": " +
                          a.locations[i] + " -> " + b.locations[j]);
  return out;
}

}  // namespace meridian::tools
