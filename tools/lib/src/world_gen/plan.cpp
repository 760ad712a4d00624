// SPDX-License-Identifier: MIT
// Options into counts, counts into names.
#include "world_gen/plan.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "meridian/base/name_hash.h"

namespace meridian::tools::world {
namespace {

constexpr uint64_t kMapsPerArea = 32, kAreasPerRegion = 16, kArchetypesPerSharedFile = 512;
/// Archetypes of the files that are not an area's: the world's, a region's, an interior's.
constexpr uint32_t kWorldTypes = 2, kRegionTypes = 4, kInteriorTypes = 2;
constexpr uint32_t kMinAreaTypes = 3, kMinSharedTypes = 16;

struct Counts {
  uint64_t areas, regions, slod3, hd_maps, area_entities, shared_types, area_types;
};

/// The share of one of `parts` when `whole` is dealt out evenly; the shares add up to `whole`.
uint32_t share(uint64_t whole, uint64_t part, uint64_t parts) {
  if (parts == 0) return 0;
  return static_cast<uint32_t>(whole * (part + 1) / parts - whole * part / parts);
}

std::string needs(const char* option, uint64_t given, const std::string& least) {
  return std::string(option) + " " + std::to_string(given) + " is too few: this world needs at least " + least;
}

uint64_t slod3_count(uint64_t areas, uint64_t regions) {
  uint64_t count = 0;
  for (uint64_t r = 0; r < regions; ++r) count += (share(areas, r, regions) + kSlod2PerSlod3 - 1) / kSlod2PerSlod3;
  return count;
}

std::string count_world(const WorldOptions& o, Counts& out) {
  if (o.maps > 1000000 || o.entities > 400000000 || o.archetypes > 4000000 || o.interiors > 500000)
    return "at most 1000000 maps, 400000000 entities, 4000000 archetypes and 500000 interiors";
  out.areas = std::max<uint64_t>(1, o.maps / kMapsPerArea);
  out.regions = std::max<uint64_t>(1, out.areas / kAreasPerRegion);
  const uint64_t other_maps = 1 + out.regions + o.interiors + 5 * out.areas;
  if (o.maps < other_maps + out.areas) return needs("--maps", o.maps, std::to_string(other_maps + out.areas));
  out.hd_maps = o.maps - other_maps;
  out.slod3 = slod3_count(out.areas, out.regions);
  const uint64_t upper = out.areas + out.slod3 + out.regions;
  const uint64_t least = upper + out.areas * 60 + o.interiors * 6 + out.hd_maps * 4;
  if (o.entities < least) return needs("--entities", o.entities, std::to_string(least));
  out.area_entities = o.entities - upper;
  const uint64_t fixed_types = kWorldTypes + kRegionTypes * out.regions + kInteriorTypes * o.interiors;
  const uint64_t least_types = fixed_types + kMinSharedTypes + kMinAreaTypes * out.areas * 4 / 3 + 4;
  if (o.archetypes < least_types) return needs("--archetypes", o.archetypes, std::to_string(least_types));
  const uint64_t rest = o.archetypes - fixed_types;
  out.shared_types = std::max<uint64_t>(kMinSharedTypes, rest / 4);
  out.area_types = rest - out.shared_types;
  return {};
}

std::string numbered(const char* format, uint32_t n) {
  char text[48];
  std::snprintf(text, sizeof text, format, n);
  return text;
}

void name_maps(Plan& plan) {
  plan.maps.push_back(plan.names.add("wg_world"));
  for (uint32_t r = 0; r < plan.regions.size(); ++r) plan.maps.push_back(plan.names.add(numbered("r%03u_slod", r)));
  for (Area& area : plan.areas) {
    area.map_first = static_cast<uint32_t>(plan.maps.size());
    const std::string stem = numbered("a%04u", area.index);
    const auto add = [&](const std::string& tail) { plan.maps.push_back(plan.names.add(stem + tail)); };
    for (const char* tail : {"", "_occl", "_grass_0", "_distlights", "_lodlights"}) add(tail);
    for (uint32_t i = 0; i < area.stream_maps; ++i) add(numbered("_strm_%u", i));
    for (uint32_t i = 0; i < area.long_maps; ++i) add(numbered("_long_%u", i));
    for (uint32_t i = 0; i < area.interiors; ++i) add(numbered("_interior_int%04u_milo_", area.interior_first + i));
  }
}

void add_type_file(Plan& plan, const std::string& name, uint32_t count, uint32_t pack) {
  const uint32_t first = plan.type_files.empty() ? 0 : plan.type_files.back().first + plan.type_files.back().count;
  plan.type_files.push_back({plan.names.add(name), first, count, pack});
}

void name_types(Plan& plan, const Counts& counts) {
  const auto next = [&] { return static_cast<uint32_t>(plan.type_files.size()); };
  add_type_file(plan, "wg_world_types", kWorldTypes, 0);
  for (uint32_t r = 0; r < plan.regions.size(); ++r) {
    plan.regions[r].types = next();
    add_type_file(plan, numbered("r%03u_types", r), kRegionTypes, 1 + r);
  }
  plan.first_shared = next();
  plan.shared_files = static_cast<uint32_t>(std::max<uint64_t>(1, counts.shared_types / kArchetypesPerSharedFile));
  for (uint32_t f = 0; f < plan.shared_files; ++f)
    add_type_file(plan, numbered("wg_props_%03u", f), share(counts.shared_types, f, plan.shared_files), 0);
  plan.first_area_file = next();
  for (Area& area : plan.areas) {
    area.types = next();
    add_type_file(plan, numbered("a%04u_types", area.index), share(counts.area_types, area.index, plan.areas.size()),
                  1 + area.region);
    Random random(plan.options.seed, Stream::area, {area.index, 0});
    for (uint32_t& file : area.palette) file = plan.first_shared + random.below(plan.shared_files);
  }
  plan.first_interior_file = next();
  for (const Area& area : plan.areas)
    for (uint32_t i = 0; i < area.interiors; ++i)
      add_type_file(plan, numbered("wg_int_%04u_types", area.interior_first + i), kInteriorTypes, 1 + area.region);
}

/// Given names come first: it is the made-up ones that give way.
void add_words(Plan& plan) {
  add_pool_names(plan.names);
  const auto words = [&](std::initializer_list<const char*> texts) {
    std::vector<uint32_t> out;
    for (const char* text : texts) out.push_back(plan.names.word(text));
    return out;
  };
  Words& w = plan.words;
  w.time_cycles = words({"wg_tc_street", "wg_tc_park", "wg_tc_harbour", "wg_tc_tunnel", "wg_tc_hall", "wg_tc_cellar"});
  w.sounds = words({"wg_snd_fan", "wg_snd_water", "wg_snd_hum", "wg_snd_gate"});
  w.car_groups = words({"wg_cars_common", "wg_cars_rich", "wg_cars_work", "wg_cars_country"});
  w.car_models = words({"wg_car_sedan", "wg_car_van", "wg_car_bus", "wg_car_pickup"});
  w.scenarios = words({"wg_sit_bench", "wg_lean_wall", "wg_smoke", "wg_sweep", "wg_guard"});
  w.rooms = words({"hall", "office", "store", "kitchen", "archive", "workshop", "stairs", "lobby"});
  w.sets = words({"wg_set_tidy", "wg_set_wrecked", "wg_set_night"});
  w.expressions = words({"wg_expr_dict", "wg_expr_sway", "wg_expr_meta"});
  w.metal = plan.names.word("wg_col_metal");
  w.grass_collision[0] = plan.names.word("v_proc1");
  w.grass_collision[1] = plan.names.word("v_proc2");
  w.default_ladder = plan.names.word("default");
  w.limbo = plan.names.word("limbo");
}

}  // namespace

uint32_t NameBook::add(const std::string& wanted) {
  std::string name = wanted;
  for (uint32_t n = 2;; ++n) {
    const uint32_t hash = hash_name(name).value;
    if (hash != 0 && names_.try_emplace(hash, name).second) return hash;
    name = wanted + "_x" + std::to_string(n);
  }
}

uint32_t NameBook::word(std::string_view text) {
  const uint32_t hash = hash_name(text).value;
  names_.try_emplace(hash, text);
  return hash;
}

std::string count_areas(const WorldOptions& options, std::vector<Area>& areas, std::vector<Region>& regions) {
  Counts counts{};
  if (std::string wrong = count_world(options, counts); !wrong.empty()) return wrong;
  areas.assign(counts.areas, {});
  regions.assign(counts.regions, {});
  for (uint32_t r = 0, area = 0; r < regions.size(); ++r) {
    regions[r].first = area;
    regions[r].count = share(counts.areas, r, counts.regions);
    regions[r].slod3 = (regions[r].count + kSlod2PerSlod3 - 1) / kSlod2PerSlod3;
    for (uint32_t i = 0; i < regions[r].count; ++i) areas[area++].region = r;
  }
  for (uint32_t i = 0, interior = 0; i < areas.size(); ++i) {
    Area& a = areas[i];
    a.index = i;
    a.entities = share(counts.area_entities, i, counts.areas);
    a.interior_first = interior;
    a.interiors = share(options.interiors, i, counts.areas);
    interior += a.interiors;
    a.lods = std::max(a.interiors + 1, a.entities / 12);
    a.slod1 = (a.lods + kLodsPerSlod1 - 1) / kLodsPerSlod1;
    const uint32_t hd = a.entities - a.lods - a.slod1 - a.interiors;
    const uint32_t hd_maps = share(counts.hd_maps, i, counts.areas);
    a.linked = std::max(a.lots(), hd * 2 / 5);
    a.orphans = hd - a.linked;
    a.far_linked = a.lots() == a.far_lots() ? a.linked : std::max(a.far_lots(), a.linked / 5);
    if (hd_maps >= 3) a.long_maps = std::max(1u, (hd_maps * a.far_linked + hd - 1) / hd);
    if (hd - a.far_linked > (hd_maps - a.long_maps) * kMaxEntitiesPerMap) a.long_maps = 0;  // no room
    a.stream_maps = hd_maps - a.long_maps;
    const uint32_t far = a.long_maps != 0 ? a.far_linked : 0;
    const uint32_t near = hd - far;
    if (near > a.stream_maps * kMaxEntitiesPerMap || far > a.long_maps * kMaxEntitiesPerMap || near < a.stream_maps ||
        far < a.long_maps)
      return "--entities " + std::to_string(options.entities) + " does not go with --maps " +
             std::to_string(options.maps) + ": each of the " + std::to_string(counts.hd_maps) +
             " maps of high-detail entities holds 1 to " + std::to_string(kMaxEntitiesPerMap);
  }
  return {};
}

std::pair<uint32_t, uint32_t> Plan::own_range(uint32_t file, Role role) const {
  const TypeFile& f = type_files[file];
  uint32_t first = f.first;
  while (first < f.first + f.count && roles[first] != role) ++first;
  uint32_t last = first;
  while (last < f.first + f.count && roles[last] == role) ++last;
  return {first, last - first};
}

Bounds Plan::bounds_of(uint32_t archetype) const {
  return {point_of(archetypes[archetype].bb_min()), point_of(archetypes[archetype].bb_max())};
}

Plan make_plan(const WorldOptions& options) {
  Plan plan;
  plan.options = options;
  Counts counts{};
  count_world(options, counts);
  count_areas(options, plan.areas, plan.regions);
  lay_out(options.seed, options.maps, plan.areas);
  plan.packs.emplace_back("common");
  for (uint32_t r = 0; r < plan.regions.size(); ++r) plan.packs.push_back(numbered("r%03u", r));
  add_words(plan);
  name_maps(plan);
  name_types(plan, counts);
  make_archetypes(plan);
  return plan;
}

}  // namespace meridian::tools::world
