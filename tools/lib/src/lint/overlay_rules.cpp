// SPDX-License-Identifier: MIT
// NAM004 (as a note), NAM007: maps of one name in several layers.
#include <algorithm>

#include "lint/lint_context.h"
#include "lint/map_changes.h"
#include "meridian/schemas/imap_generated.h"

namespace meridian::tools {
namespace {

constexpr size_t kShownChanges = 10;

std::string joined(const std::vector<std::string>& members) {
  std::string out;
  for (const std::string& member : members) out += (out.empty() ? "" : ", ") + member;
  return out;
}

/// What an overlay did to an entity of the base.
struct Version {
  bool is_removed = false;
  uint32_t index = 0;
  std::vector<std::string> members;  ///< that differ from the base

  bool is_changed() const { return is_removed || !members.empty(); }
  std::string path() const { return is_removed ? "" : indexed("entities", index); }
  std::string text() const { return is_removed ? "taken away" : "changed (" + joined(members) + ")"; }
};

Version version_of(const schema::MapData& base, uint32_t index, const schema::MapData& overlay,
                   const EntityPairs& pairs) {
  Version out;
  const int64_t there = pairs.after_of[index];
  if (there < 0) {
    out.is_removed = true;
    return out;
  }
  out.index = static_cast<uint32_t>(there);
  out.members = changed_members(base, index, overlay, out.index, pairs);
  return out;
}

}  // namespace

void lint_shadowed(LintContext& c) {
  const LintUnit& other = *c.unit.shadowed_by;
  const char* const kind = c.unit.map != nullptr ? "map" : c.unit.types != nullptr ? "type file" : "configuration";
  std::string message = std::string(kind) + " '" + c.unit.stem + "' is shadowed by a later layer's";
  std::vector<EntityChange> changes;
  if (c.unit.map != nullptr) changes = entity_changes(*c.unit.map, *other.map);
  if (!changes.empty()) message += ": " + summary_of(changes);
  LintFinding& f = c.report(rules::duplicate_map, Severity::note, "", "", std::move(message));
  f.related.push_back({&other, "", "this one is used"});
  for (size_t i = 0; i < std::min(changes.size(), kShownChanges); ++i) {
    const EntityChange& change = changes[i];
    const LintUnit& unit = change.kind == EntityChange::Kind::removed ? c.unit : other;
    f.related.push_back(
        {&unit, indexed("entities", change.index),
         "entity " + std::to_string(change.index) + ", " + unit.names.quoted(change.archetype) + ", " + change.text()});
  }
  if (changes.size() > kShownChanges)
    f.related.push_back(
        {&other, "",
         "and " + std::to_string(changes.size() - kShownChanges) + " more; 'worldc check --conflicts' lists all"});
}

void lint_overlay(LintContext& c) {
  const std::span<const LintUnit* const> versions = c.world.versions_of(c.unit);
  const auto self = std::find(versions.begin(), versions.end(), &c.unit);
  if (self == versions.end() || self - versions.begin() < 2) return;  // a base, and an overlay before this one
  const schema::MapData& base = *versions.front()->map;
  const EntityPairs own_pairs = pair_entities(base, *c.unit.map);
  std::vector<bool> is_told(own_pairs.after_of.size(), false);
  // The nearest overlay before this one is what an author compares with first.
  for (auto at = self - 1; at != versions.begin(); --at) {
    const LintUnit& earlier = **at;
    const EntityPairs pairs = pair_entities(base, *earlier.map), between = pair_entities(*earlier.map, *c.unit.map);
    for (uint32_t i = 0; i < own_pairs.after_of.size(); ++i) {
      if (is_told[i]) continue;
      const Version there = version_of(base, i, *earlier.map, pairs);
      if (!there.is_changed()) continue;
      const Version here = version_of(base, i, *c.unit.map, own_pairs);
      if (!here.is_changed() || (here.is_removed && there.is_removed)) continue;
      const bool differ = here.is_removed || there.is_removed ||
                          !changed_members(*earlier.map, there.index, *c.unit.map, here.index, between).empty();
      if (!differ) continue;
      is_told[i] = true;
      const std::string name = versions.front()->names.quoted(base.entities()->Get(i)->archetype_name());
      LintFinding& f = c.report(
          rules::conflicting_overlays, here.path(), here.is_removed ? "" : "entity " + std::to_string(here.index),
          (here.is_removed ? "entity " + std::to_string(i) + " of the lowest layer, " : std::string()) + name + " is " +
              here.text() + " here, and " + there.text() + " by a layer between; the later one counts");
      f.related.push_back({&earlier, there.path(), there.text() + " here"});
      f.related.push_back({versions.front(), indexed("entities", i), "the entity that both start from"});
    }
  }
}

}  // namespace meridian::tools
