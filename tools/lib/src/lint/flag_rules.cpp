// SPDX-License-Identifier: MIT
// FLG001, FLG002, FLG004: flag words of a map against what it holds.
#include "lint/lint_context.h"
#include "lint/map_flags.h"
#include "meridian/schemas/imap_generated.h"

namespace meridian::tools {
namespace {

struct ContentBit {
  uint32_t bit;
  const char* what;
};
// The bits that all tools read alike; the others are kept as authored.
constexpr ContentBit kBits[] = {{1, "HD entities"},          {2, "LOD entities"}, {8, "interiors"},
                                {32, "occluders"},           {64, "physics"},     {128, "LOD lights"},
                                {256, "distant LOD lights"}, {1024, "grass"}};

bool has_any(const LintUnit& unit, bool (*wanted)(schema::LodLevel)) {
  if (unit.map->entities() == nullptr) return false;
  for (const schema::EntityDef* e : *unit.map->entities())
    if (wanted(e->lod_level())) return true;
  return false;
}

bool is_hd(schema::LodLevel l) { return l == schema::LodLevel::HD || l == schema::LodLevel::ORPHANHD; }
bool is_lod(schema::LodLevel l) { return l == schema::LodLevel::LOD; }
bool is_slod1(schema::LodLevel l) { return l == schema::LodLevel::SLOD1; }
bool is_coarse(schema::LodLevel l) { return !is_hd(l); }

template <class Vector>
bool filled(const Vector* v) {
  return v != nullptr && v->size() != 0;
}

std::string hex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%X", value);
  return text;
}

}  // namespace

uint32_t content_bits(const schema::MapData& map) {
  uint32_t bits = 0;
  if (map.entities() != nullptr)
    for (const schema::EntityDef* e : *map.entities())
      bits |= is_hd(e->lod_level()) ? 1u : is_lod(e->lod_level()) ? 2u : 0u;
  if (filled(map.mlo_instances())) bits |= 8;
  if (filled(map.box_occluders()) || filled(map.occlude_models())) bits |= 32;
  if (filled(map.physics_dictionaries())) bits |= 64;
  if (map.lod_lights_soa() != nullptr && filled(map.lod_lights_soa()->hash())) bits |= 128;
  if (map.distant_lod_lights_soa() != nullptr && filled(map.distant_lod_lights_soa()->position())) bits |= 256;
  if (map.instanced_data() != nullptr && filled(map.instanced_data()->grass_instance_list())) bits |= 1024;
  return bits;
}

static uint32_t content_flags_of(const schema::MapData& map, bool has_slod1) {
  uint32_t known = 0;
  for (const ContentBit& b : kBits) known |= b.bit;
  const auto authored = static_cast<uint32_t>(map.content_flags());
  uint32_t bits = content_bits(map);
  if (has_slod1) bits |= authored & 2u;  // one tool counts SLOD1 as LOD, another does not
  return (authored & ~known) | bits;
}

uint32_t fixed_content_flags(const LintUnit& unit) { return content_flags_of(*unit.map, has_any(unit, is_slod1)); }

std::optional<uint32_t> fixed_map_flags(const LintWorld& world, const LintUnit& unit) {
  if (!world.options().maps_are_known) return std::nullopt;
  const auto authored = static_cast<uint32_t>(unit.map->flags());
  const bool is_parent = !world.children_of(unit).empty();
  // Some tools set the bit for what a map holds, others for what it is to other maps: either reason is good enough.
  const bool may_be = has_any(unit, is_coarse) || (content_bits(*unit.map) & 256u) != 0;
  if (is_parent) return authored | 2u;
  return may_be ? authored : authored & ~2u;
}

void lint_map_flags(LintContext& c) {
  const auto authored = static_cast<uint32_t>(c.unit.map->content_flags());
  const uint32_t fixed = fixed_content_flags(c.unit);
  if (authored != fixed) {
    std::string claims, lacks;
    for (const ContentBit& b : kBits) {
      if ((authored & ~fixed & b.bit) != 0) claims += (claims.empty() ? "claims " : ", ") + std::string(b.what);
      if ((fixed & ~authored & b.bit) != 0)
        lacks += (lacks.empty() ? "lacks " : ", ") + hex(b.bit) + " (" + b.what + ")";
    }
    std::string message = "contentFlags " + hex(authored) + ": ";
    if (!claims.empty()) message += claims + ", has none";
    if (!claims.empty() && !lacks.empty()) message += "; ";
    c.report(rules::content_flags, "contentFlags", "", message + lacks)
        .fixes.push_back({"contentFlags", std::to_string(fixed)});
  }
  const std::optional<uint32_t> flags = fixed_map_flags(c.world, c.unit);
  if (flags && *flags != static_cast<uint32_t>(c.unit.map->flags())) {
    const bool lacks_bit = (*flags & 2u) != 0;
    const auto children = c.world.children_of(c.unit);
    LintFinding& f = c.report(
        rules::map_flags, "flags", "",
        lacks_bit
            ? "flag bit 1 (parent) is clear, but map '" + children.front()->stem + "' names this one as its parent"
            : "flag bit 1 (parent) is set, but no map names this one and it holds no LOD level");
    if (lacks_bit) f.related.push_back({children.front(), "parent", "here"});
    f.fixes.push_back({"flags", std::to_string(*flags)});
  }
  const LintUnit* const parent = c.world.parent_of(c.unit);
  if (parent != nullptr && parent != &c.unit &&
      ((static_cast<uint32_t>(parent->map->flags()) ^ static_cast<uint32_t>(c.unit.map->flags())) & 1u) != 0) {
    const bool own = (static_cast<uint32_t>(c.unit.map->flags()) & 1u) != 0;
    LintFinding& f = c.report(rules::scripted_mismatch, "flags", "",
                              std::string("flag bit 0 (scripted) is ") + (own ? "set" : "clear") + ", but " +
                                  (own ? "clear" : "set") + " in the parent map '" + parent->stem + "'");
    f.related.push_back({parent, "flags", "the parent's flags"});
  }
}

}  // namespace meridian::tools
