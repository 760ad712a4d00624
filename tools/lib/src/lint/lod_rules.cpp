// SPDX-License-Identifier: MIT
// LOD001 to LOD007: links to LOD parents, over all maps at hand, and distances.
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>

#include "lint/entity_links.h"
#include "lint/lint_context.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian::tools {
namespace {

/// Coarseness: ORPHANHD counts as HD, SLOD4 comes after SLOD3.
int rank_of(schema::LodLevel level) {
  switch (level) {
    case schema::LodLevel::HD:
    case schema::LodLevel::ORPHANHD:
      return 0;
    case schema::LodLevel::LOD:
      return 1;
    case schema::LodLevel::SLOD1:
      return 2;
    case schema::LodLevel::SLOD2:
      return 3;
    case schema::LodLevel::SLOD3:
      return 4;
    case schema::LodLevel::SLOD4:
      return 5;
  }
  return 0;
}

const char* word_of(schema::LodLevel level) {
  switch (level) {
    case schema::LodLevel::HD:
      return "HD";
    case schema::LodLevel::ORPHANHD:
      return "ORPHANHD";
    case schema::LodLevel::LOD:
      return "LOD";
    case schema::LodLevel::SLOD1:
      return "SLOD1";
    case schema::LodLevel::SLOD2:
      return "SLOD2";
    case schema::LodLevel::SLOD3:
      return "SLOD3";
    case schema::LodLevel::SLOD4:
      return "SLOD4";
  }
  return "?";
}

std::string range_text(uint32_t count) {
  return count == 0 ? "no entities" : std::to_string(count) + " entities (0.." + std::to_string(count - 1) + ")";
}

uint32_t count_of(const LintUnit& unit) { return unit.map->entities() == nullptr ? 0 : unit.map->entities()->size(); }

/// Whether the link would make sense in the parent map: its parent there is one level coarser.
bool fits_parent_map(const LintUnit* parent, const schema::EntityDef& e) {
  const auto index = static_cast<uint32_t>(e.parent_index());
  return parent != nullptr && index < count_of(*parent) &&
         rank_of(parent->map->entities()->Get(index)->lod_level()) == rank_of(e.lod_level()) + 1;
}

/// LOD001. True: the link leads to an entity, which is `target` in `where`.
bool resolve_link(LintContext& c, uint32_t i, const LintUnit*& where, const schema::EntityDef*& target) {
  const schema::EntityDef& e = *c.unit.map->entities()->Get(i);
  const std::string path = indexed("entities", i) + ".parentIndex", object = "entity " + std::to_string(i);
  const std::string said = "parentIndex " + std::to_string(e.parent_index());
  if (e.parent_index() < -1) {
    c.report(rules::parent_index, Severity::warning, path, object, said + " is taken as no parent, which is -1");
    return false;
  }
  if (lod_in_parent(e)) {
    if (c.unit.map->parent() == 0) {
      c.report(rules::parent_index, Severity::warning, path, object,
               said + " is meant for the parent map (flag bit 3), but this map has no parent; the link is not used");
      return false;
    }
    where = c.world.parent_of(c.unit);
    if (where == nullptr) return false;  // not at hand; REF003 tells where that can be known
    const uint32_t count = count_of(*where);
    if (static_cast<uint32_t>(e.parent_index()) >= count) {
      LintFinding& f = c.report(rules::parent_index, path, object,
                                said + ", but map '" + where->stem + "' has " + range_text(count));
      f.related.push_back({where, "entities", "the parent map's entities"});
      return false;
    }
  } else {
    where = &c.unit;
    const uint32_t count = count_of(c.unit);
    if (static_cast<uint32_t>(e.parent_index()) >= count) {
      std::string message = said + ", but this map has " + range_text(count);
      if (c.unit.map->parent() != 0)
        message += "; links into the parent map " + c.unit.names.quoted(c.unit.map->parent()) + " need flag bit 3";
      LintFinding& f = c.report(rules::parent_index, path, object, std::move(message));
      if (const LintUnit* const parent = c.world.parent_of(c.unit); fits_parent_map(parent, e)) {
        f.fixes.push_back(
            {indexed("entities", i) + ".flags", std::to_string(static_cast<uint32_t>(e.flags()) | kLodInParent)});
        f.related.push_back(
            {parent, indexed("entities", static_cast<uint32_t>(e.parent_index())), "what the index fits"});
      }
      return false;
    }
  }
  target = where->map->entities()->Get(static_cast<uint32_t>(e.parent_index()));
  return true;
}

void check_level(LintContext& c, uint32_t i, const LintUnit& where, const schema::EntityDef& parent) {
  const schema::EntityDef& e = *c.unit.map->entities()->Get(i);
  const int own = rank_of(e.lod_level()), above = rank_of(parent.lod_level());
  const std::string object = "entity " + std::to_string(i);
  const auto say = [&](Severity severity, std::string message) {
    LintFinding& f =
        c.report(rules::lod_level, severity, indexed("entities", i) + ".parentIndex", object, std::move(message));
    f.related.push_back(
        {&where, indexed("entities", static_cast<uint32_t>(e.parent_index())) + ".lodLevel", "its LOD parent"});
  };
  const std::string both =
      std::string("level ") + word_of(e.lod_level()) + " under a parent of level " + word_of(parent.lod_level());
  // An orphan as a parent is odd, but its model may well be the coarse one.
  if (parent.lod_level() == schema::LodLevel::ORPHANHD)
    say(Severity::warning, both + ", which is meant to be nobody's parent");
  else if (above <= own)
    say(Severity::error, both + ", which is not coarser");
  else if (above > own + 1)
    say(Severity::warning, both + " skips a level");
  else if (e.lod_level() == schema::LodLevel::ORPHANHD)
    say(Severity::warning, both + ", but an orphan has no parent");
}

/// LOD005: where the children go, the parent must still be there.
void check_range(LintContext& c, uint32_t i, const LintUnit& where, const schema::EntityDef& parent) {
  const schema::EntityDef& e = *c.unit.map->entities()->Get(i);
  const double child = parent.child_lod_dist() > 0 ? static_cast<double>(parent.child_lod_dist())
                                                   : static_cast<double>(own_lod_distance(c.world, e));
  const double above = static_cast<double>(own_lod_distance(c.world, parent));
  if (child <= 0 || above <= 0 || above >= child) return;
  LintFinding& f = c.report(rules::lod_range, indexed("entities", i) + ".lodDist", "entity " + std::to_string(i),
                            "seen up to " + shown(child) + " m, but its LOD parent ends at " + shown(above) +
                                " m: between, nothing takes over");
  f.related.push_back(
      {&where, indexed("entities", static_cast<uint32_t>(e.parent_index())) + ".lodDist", "the parent's distance"});
}

/// LOD002 inside one map. Between maps no cycle can close unless the maps' parents do.
void check_cycles(LintContext& c) {
  const auto* const entities = c.unit.map->entities();
  const uint32_t count = entities->size();
  std::vector<uint8_t> state(count, 0);  // 0 not seen, 1 on the way, 2 done
  std::vector<uint32_t> way;
  for (uint32_t start = 0; start < count; ++start) {
    way.clear();
    uint32_t at = start;
    while (at < count && state[at] == 0) {
      state[at] = 1;
      way.push_back(at);
      const schema::EntityDef& e = *entities->Get(at);
      at = lod_in_parent(e) || e.parent_index() < 0 ? count : static_cast<uint32_t>(e.parent_index());
    }
    if (at < count && state[at] == 1) {
      std::string chain;
      bool inside = false;
      for (const uint32_t step : way) {
        inside = inside || step == at;
        if (inside) chain += std::to_string(step) + " -> ";
      }
      c.report(rules::lod_cycle, indexed("entities", at) + ".parentIndex", "entity " + std::to_string(at),
               way.back() == at ? "is its own LOD parent" : "LOD parents in a circle: " + chain + std::to_string(at));
    }
    for (const uint32_t step : way) state[step] = 2;
  }
}

void check_map_cycle(LintContext& c) {
  std::set<const LintUnit*> seen;
  for (const LintUnit* at = c.world.parent_of(c.unit); at != nullptr && seen.insert(at).second;
       at = c.world.parent_of(*at))
    if (at == &c.unit) {
      c.report(rules::lod_cycle, "parent", "",
               seen.size() == 1 && c.world.parent_of(c.unit) == &c.unit ? "the map is its own parent"
                                                                        : "the maps' parents lead back to this one");
      return;
    }
}

void check_distance(LintContext& c, uint32_t i) {
  const schema::EntityDef& e = *c.unit.map->entities()->Get(i);
  const EntityPlace place{"", "", i};
  const float d = e.lod_dist();
  if (d <= 0 && d != -1 && d != -2 && d != 0)
    c.report(rules::odd_lod_distance, place.path(".lodDist"), place.object(),
             "lodDist " + shown(static_cast<double>(d)) + " taken as unset");
  if (!c.world.options().lod_size) return;
  const ArchetypeRef* const ref = c.world.find_archetype(e.archetype_name());
  if (ref == nullptr || ref->def->bs_radius() <= 0) return;
  const double radius = static_cast<double>(ref->def->bs_radius()),
               distance = static_cast<double>(own_lod_distance(c.world, e));
  if (distance > 400 * radius || (distance > 0 && distance < 5 * radius))
    c.report(rules::lod_size, place.path(".lodDist"), place.object(),
             "lodDist " + shown(distance) + " for a model of radius " + shown(radius) + "; " + shown(5 * radius) +
                 " to " + shown(400 * radius) + " would be in proportion");
}

/// One child of each entity in each child map, as far as a message shows them.
std::unordered_map<uint32_t, std::vector<LintFinding::Related>> some_children(LintContext& c) {
  constexpr size_t kShown = 3;
  std::unordered_map<uint32_t, std::vector<LintFinding::Related>> out;
  for (const LintUnit* child : c.world.children_of(c.unit)) {
    const auto* const others = child->map->entities();
    if (others == nullptr) continue;
    for (uint32_t k = 0; k < others->size(); ++k) {
      if (!lod_in_parent(*others->Get(k)) || others->Get(k)->parent_index() < 0) continue;
      auto& known = out[static_cast<uint32_t>(others->Get(k)->parent_index())];
      if (known.size() < kShown && (known.empty() || known.back().unit != child))
        known.push_back({child, indexed("entities", k) + ".parentIndex", "a child"});
    }
  }
  return out;
}

void check_child_counts(LintContext& c) {
  const std::span<const uint32_t> counts = c.world.child_counts(c.unit);
  const auto* const entities = c.unit.map->entities();
  std::optional<std::unordered_map<uint32_t, std::vector<LintFinding::Related>>> children;
  for (uint32_t i = 0; i < counts.size(); ++i) {
    const uint32_t declared = entities->Get(i)->num_children();
    if (declared == counts[i]) continue;
    const std::string path = indexed("entities", i) + ".numChildren";
    LintFinding& f = c.report(
        rules::child_count, path, "entity " + std::to_string(i),
        "numChildren is " + std::to_string(declared) + ", but the maps at hand have " + std::to_string(counts[i]) +
            (declared > counts[i] ? ": the LOD model never goes away" : ": holes while streaming"));
    f.fixes.push_back({path, std::to_string(counts[i])});
    if (!children) children = some_children(c);
    if (const auto found = children->find(i); found != children->end()) f.related = found->second;
  }
}

}  // namespace

void lint_lod(LintContext& c) {
  check_map_cycle(c);
  const auto* const entities = c.unit.map->entities();
  if (entities == nullptr) return;
  bool links_inside = false;
  for (uint32_t i = 0; i < entities->size(); ++i) {
    check_distance(c, i);
    const schema::EntityDef& e = *entities->Get(i);
    if (e.parent_index() == -1) continue;
    const LintUnit* where = nullptr;
    const schema::EntityDef* parent = nullptr;
    if (!resolve_link(c, i, where, parent)) continue;
    links_inside = links_inside || where == &c.unit;
    if (parent == &e) continue;  // LOD002 says it
    check_level(c, i, *where, *parent);
    check_range(c, i, *where, *parent);
  }
  if (links_inside) check_cycles(c);
  if (c.world.options().maps_are_known) check_child_counts(c);
}

}  // namespace meridian::tools
