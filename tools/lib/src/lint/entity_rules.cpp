// SPDX-License-Identifier: MIT
// REF001, REF003, ENT001 to ENT005, FLG003: what one entity says of itself.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "lint/geometry.h"
#include "lint/lint_context.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

std::string literal(uint32_t hash) {
  std::string out;
  append_hash_literal(out, hash);
  return out;
}

/// How many unknown names of a file are looked up in all known ones: each costs a walk over them.
constexpr size_t kMostSuggestions = 20;

void missing_archetype(LintContext& c, uint32_t name, std::string path, std::string object) {
  const std::string_view text = c.unit.names.find(name);
  std::string message = "archetype " + c.unit.names.quoted(name);
  if (!text.empty()) message += " (" + literal(name) + ")";
  message += " is in none of " + std::to_string(c.world.type_file_count()) + " type file(s)";
  auto known = c.suggestions.find(name);
  if (known == c.suggestions.end() && !text.empty() && c.suggestions.size() < kMostSuggestions)
    known = c.suggestions.emplace(name, c.world.nearest_archetype(text)).first;
  if (known != c.suggestions.end() && !known->second.empty())
    message += "; did you mean '" + std::string(known->second) + "'?";
  c.report(rules::missing_archetype, c.world.options().allow_missing_archetypes ? Severity::warning : Severity::error,
           std::move(path), std::move(object), std::move(message));
}

struct FlagPair {
  unsigned no, only;
  const char* where;
};
constexpr FlagPair kRenderPairs[] = {
    {22, 23, "shadows"}, {24, 25, "reflections"}, {26, 27, "water reflections"}, {28, 29, "mirror reflections"}};

}  // namespace

void lint_entity(LintContext& c, const schema::EntityDef& e, const EntityPlace& place) {
  const schema::Quat& q = e.rotation();
  const double norm =
      std::sqrt(double{q.x()} * q.x() + double{q.y()} * q.y() + double{q.z()} * q.z() + double{q.w()} * q.w());
  if (norm < 1e-6)
    c.report(rules::bad_rotation, place.path(".rotation"), place.object(),
             "the rotation is zero, which is no direction: the entity is left out when loaded");
  else if (std::abs(norm - 1) > 0.01)
    c.report(rules::bad_rotation, place.path(".rotation"), place.object(),
             "the rotation has length " + shown(norm) + ", not 1; it is normalised when loaded");

  if (e.scale_xy() == 0 || e.scale_z() == 0)
    c.report(rules::bad_scale, place.path(e.scale_xy() == 0 ? ".scaleXY" : ".scaleZ"), place.object(),
             "the scale is 0, so that nothing is left of the entity");
  else if (e.scale_xy() < 0 || e.scale_z() < 0)
    c.report(rules::bad_scale, Severity::warning, place.path(e.scale_xy() < 0 ? ".scaleXY" : ".scaleZ"), place.object(),
             "the scale is negative, which mirrors the model; not every engine allows that");

  const auto flags = static_cast<uint32_t>(e.flags());
  if ((flags & 1u) == 0 && norm >= 1e-6 && std::max(std::abs(q.x()), std::abs(q.y())) > 0.05 * norm)
    c.report(rules::flattened_rotation, place.path(".rotation"), place.object(),
             "the entity leans, but flag bit 0 (allow full rotation) is clear: a game may keep the heading only");
  for (const FlagPair& pair : kRenderPairs)
    if ((flags >> pair.no & 1u) != 0 && (flags >> pair.only & 1u) != 0)
      c.report(rules::contradictory_render_flags, place.path(".flags"), place.object(),
               std::string("flag bits ") + std::to_string(pair.no) + " and " + std::to_string(pair.only) +
                   " say both not in and only in " + pair.where + "; 'not' wins");
}

namespace {

/// What makes two entities the same thing placed twice.
struct PlacedKey {
  uint32_t archetype = 0;
  schema::LodLevel level{};
  std::array<float, 9> place{};  ///< position, rotation, scale
  bool operator==(const PlacedKey&) const = default;

  uint64_t hash() const {
    uint64_t h = archetype + (static_cast<uint64_t>(level) << 32);
    for (const float f : place) h = (h ^ std::bit_cast<uint32_t>(f + 0.0f)) * 0x9E3779B97F4A7C15u;  // -0 is 0
    return h ^ h >> 32;
  }
};

PlacedKey key_of(const schema::EntityDef& e) {
  const schema::Vec3& p = e.position();
  const schema::Quat& q = e.rotation();
  return {
      e.archetype_name(), e.lod_level(), {p.x(), p.y(), p.z(), q.x(), q.y(), q.z(), q.w(), e.scale_xy(), e.scale_z()}};
}

constexpr uint32_t kNone = UINT32_MAX;

/// For each entity the first one before it that is the same, or kNone. Sorting costs less than a table of as many
/// nodes. `hash(i)` 0: it is compared with none. `same(i, j)` of equal hashes.
template <class Hash, class Same>
std::vector<uint32_t> first_alike(uint32_t count, const Hash& hash, const Same& same) {
  std::vector<std::pair<uint64_t, uint32_t>> sorted;
  sorted.reserve(count);
  for (uint32_t i = 0; i < count; ++i)
    if (const uint64_t h = hash(i); h != 0) sorted.emplace_back(h, i);
  std::sort(sorted.begin(), sorted.end());
  std::vector<uint32_t> first(count, kNone);
  for (size_t begin = 0; begin < sorted.size();) {
    size_t end = begin + 1;
    while (end < sorted.size() && sorted[end].first == sorted[begin].first) ++end;
    for (size_t k = begin + 1; k < end; ++k)
      for (size_t before = begin; before < k; ++before) {
        if (first[sorted[before].second] != kNone || !same(sorted[before].second, sorted[k].second)) continue;
        first[sorted[k].second] = sorted[before].second;
        break;
      }
    begin = end;
  }
  return first;
}

}  // namespace

void lint_references(LintContext& c) {
  if (const schema::MapData* const map = c.unit.map) {
    if (c.world.options().types_are_known) {
      if (map->entities() != nullptr)
        for (uint32_t i = 0; i < map->entities()->size(); ++i) {
          const uint32_t name = map->entities()->Get(i)->archetype_name();
          if (name != 0 && c.world.find_archetype(name) == nullptr)
            missing_archetype(c, name, indexed("entities", i) + ".archetypeName", "entity " + std::to_string(i));
        }
      const auto* const grass =
          map->instanced_data() == nullptr ? nullptr : map->instanced_data()->grass_instance_list();
      if (grass != nullptr)
        for (uint32_t i = 0; i < grass->size(); ++i) {
          const uint32_t name = grass->Get(i)->archetype_name();
          if (name != 0 && c.world.find_archetype(name) == nullptr)
            missing_archetype(c, name, "instancedData." + indexed("GrassInstanceList", i) + ".archetypeName",
                              "grass batch " + std::to_string(i));
        }
    }
    if (c.world.options().maps_are_known && map->parent() != 0 && c.world.find_map(map->parent()) == nullptr)
      c.report(rules::missing_parent_map, "parent", "",
               "the parent map " + c.unit.names.quoted(map->parent()) + " is not among the maps of this world");
  }
  if (c.unit.types != nullptr && c.world.options().types_are_known) {
    const auto* const mlos = c.unit.types->mlo_archetypes();
    if (mlos == nullptr) return;
    for (const schema::MloArchetypeDef* mlo : *mlos) {
      const std::string base = indexed("archetypes", mlo->owner());
      const std::string label = "archetype " + std::to_string(mlo->owner());
      const auto check = [&](const flatbuffers::Vector<const schema::EntityDef*>* entities, const std::string& where,
                             const std::string& whose) {
        if (entities == nullptr) return;
        for (uint32_t i = 0; i < entities->size(); ++i) {
          const uint32_t name = entities->Get(i)->archetype_name();
          if (name != 0 && c.world.find_archetype(name) == nullptr)
            missing_archetype(c, name, where + indexed("entities", i) + ".archetypeName",
                              whose + ", entity " + std::to_string(i));
        }
      };
      check(mlo->entities(), base + ".", label);
      if (mlo->entity_sets() != nullptr)
        for (uint32_t s = 0; s < mlo->entity_sets()->size(); ++s)
          check(mlo->entity_sets()->Get(s)->entities(), base + "." + indexed("entitySets", s) + ".",
                label + ", entity set " + std::to_string(s));
    }
  }
}

void lint_entities(LintContext& c) {
  const auto* const entities = c.unit.map->entities();
  if (entities == nullptr) return;
  const uint32_t count = entities->size();
  const std::vector<uint32_t> same_guid = first_alike(
      count, [&](uint32_t i) { return uint64_t{entities->Get(i)->guid()}; }, [](uint32_t, uint32_t) { return true; });
  const std::vector<uint32_t> same_place = first_alike(
      count,
      [&](uint32_t i) {
        const PlacedKey key = key_of(*entities->Get(i));
        return key.archetype == 0 || !(key == key) ? 0 : key.hash() | 1u;  // NaN is at no place
      },
      [&](uint32_t i, uint32_t j) { return key_of(*entities->Get(i)) == key_of(*entities->Get(j)); });
  for (uint32_t i = 0; i < count; ++i) {
    const schema::EntityDef& e = *entities->Get(i);
    const EntityPlace place{"", "", i};
    lint_entity(c, e, place);
    if (const uint32_t first = same_guid[i]; first != kNone) {
      LintFinding& f = c.report(rules::duplicate_guid, place.path(".guid"), place.object(),
                                "guid " + std::to_string(e.guid()) + " is entity " + std::to_string(first) +
                                    "'s too; merging and comparing rely on guids");
      f.related.push_back({&c.unit, indexed("entities", first) + ".guid", "the first one"});
    }
    if (const uint32_t first = same_place[i]; first != kNone) {
      LintFinding& f = c.report(rules::duplicate_entity, place.path(), place.object(),
                                c.unit.names.quoted(e.archetype_name()) + " stands here already (entity " +
                                    std::to_string(first) + "), placed and turned the same");
      f.related.push_back({&c.unit, indexed("entities", first), "the first one"});
    }
  }
}

}  // namespace meridian::tools
