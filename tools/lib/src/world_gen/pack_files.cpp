// SPDX-License-Identifier: MIT
#include "world_gen/pack_files.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "meridian/base/name_hash.h"
#include "meridian/resource/resource.h"
#include "meridian/schemas/gameconfig_generated.h"
#include "meridian/schemas/manifest_generated.h"

namespace meridian::tools::world {
namespace {

/// Every so many-th shared archetype carries an extension.
constexpr uint32_t kExtensionEvery = 4;

const Area& area_of_interior(const Plan& plan, uint32_t interior) {
  const auto after = std::upper_bound(plan.areas.begin(), plan.areas.end(), interior,
                                      [](uint32_t i, const Area& a) { return i < a.interior_first + a.interiors; });
  return *after;
}

schema::TimeFlags hours_of(uint32_t archetype) {
  const bool night = archetype % 2 == 0;
  const uint32_t swap = archetype % 3 == 0 ? static_cast<uint32_t>(schema::TimeFlags::allow_swap_while_visible) : 0;
  return schema::TimeFlags{(night ? kNight : ~kNight & 0xFFFFFF) | swap};
}

TableMaker imap_dependency(const Plan& plan, const TypePlan& root, const MapSummary& map) {
  using schema::ImapDependencies;
  std::vector<uint32_t> files;
  for (const uint32_t f : map.type_files) files.push_back(plan.type_files[f].name);
  TableMaker out(root, static_cast<uint16_t>(schema::PackFileMetaData::VT_IMAP_DEPENDENCIES_2));
  out.number(ImapDependencies::VT_IMAP_NAME, plan.maps[map.map]).items(ImapDependencies::VT_ITYP_DEP_ARRAY, files);
  if (map.interiors != 0) out.number(ImapDependencies::VT_MANIFEST_FLAGS, schema::ManifestFlags::INTERIOR_DATA);
  return out;
}

/// What a pool has to hold: files for good, the rest as far as it is in the world at one time.
enum class Need : uint8_t {
  collision_files,
  map_files,
  type_files,
  manifests,
  archetypes,
  entities,
  nodes,
  interiors,
  all_interiors,
  portals,
  batches,
  cars,
  moods,
  lights,
  extensions
};

struct Pool {
  std::string_view name;
  Need need;
};

/// Which class an entity gets is the game's affair, so each class takes them all.
constexpr Pool kPools[] = {
    {"MapDataStore", Need::map_files},
    {"StaticBounds", Need::collision_files},
    {"MapTypesStore", Need::type_files},
    {"MetaDataStore", Need::manifests},
    {"fwArchetypePooledMap", Need::archetypes},
    {"DrawableStore", Need::archetypes},
    {"DwdStore", Need::archetypes},
    {"FragmentStore", Need::archetypes},
    {"TxdStore", Need::archetypes},
    {"PhysicsBounds", Need::archetypes},
    {"Building", Need::entities},
    {"AnimatedBuilding", Need::entities},
    {"Dummy Object", Need::entities},
    {"Object", Need::entities},
    {"fwMatrixTransform", Need::entities},
    {"fwQuaternionTransform", Need::entities},
    {"fwSimpleTransform", Need::entities},
    {"fwLodNode", Need::entities},
    {"fwDynamicEntityComponent", Need::entities},
    {"phInstGta", Need::entities},
    {"PtFxSortedEntity", Need::entities},
    {"ScenarioPoint", Need::entities},
    {"fwEntityContainer", Need::nodes},
    {"MapDataLoadedNode", Need::nodes},
    {"InteriorInst", Need::interiors},
    {"OcclusionInteriorInfo", Need::interiors},
    {"InteriorProxy", Need::all_interiors},
    {"PortalInst", Need::portals},
    {"OcclusionPortalInfo", Need::portals},
    {"OcclusionPortalEntity", Need::portals},
    {"EntityBatch", Need::batches},
    {"GrassBatch", Need::batches},
    {"CCargen", Need::cars},
    {"tcBox", Need::moods},
    {"LightEntity", Need::lights},
    {"cspawnpointoverrideextension", Need::extensions},
};

uint64_t wanted_of(const Plan& plan, const Peak& peak, Need need) {
  const WorldOptions& o = plan.options;
  switch (need) {
    case Need::collision_files:
      return o.maps + o.interiors;
    case Need::map_files:
      return o.maps;
    case Need::type_files:
      return plan.type_files.size();
    case Need::manifests:
      return plan.packs.size();
    case Need::archetypes:
      return o.archetypes;
    case Need::entities:
      return peak.entities;
    case Need::nodes:  // a map has one, and each room of an interior
      return peak.maps + peak.interiors * 8;
    case Need::interiors:
      return peak.interiors;
    case Need::all_interiors:
      return o.interiors;
    case Need::portals:
      return peak.portals;
    case Need::batches:
      return peak.grass_batches;
    case Need::cars:
      return peak.car_generators;
    case Need::moods:
      return peak.time_boxes + peak.interiors;
    case Need::lights:
      return peak.lod_lights + peak.extensions;
    default:
      return peak.extensions;
  }
}

int32_t with_reserve(uint64_t wanted) {
  return static_cast<int32_t>(std::min<uint64_t>(wanted + wanted / 4 + 16, INT32_MAX));
}

}  // namespace

void add_pool_names(NameBook& names) {
  for (const Pool& pool : kPools) names.word(pool.name);
}

TableMaker make_type_file(const Plan& plan, uint32_t file, InteriorCounts& counts) {
  using schema::MapTypes;
  const TypeFile& types = plan.type_files[file];
  TableMaker out(Binding::builtin(kind_of("ITYP"))->root());
  const TypePlan& mlo_plan = *TableMaker::plan_of(out.plan(), MapTypes::VT_MLO_ARCHETYPES).type;
  const TypePlan& extension_plan = *TableMaker::plan_of(out.plan(), MapTypes::VT_ARCHETYPE_EXTENSIONS).type;
  const std::vector<schema::ArchetypeDef> archetypes(plan.archetypes.begin() + types.first,
                                                     plan.archetypes.begin() + types.first + types.count);
  std::vector<std::pair<uint32_t, TableMaker>> timed, interiors, extensions;
  for (uint32_t i = 0; i < types.count; ++i) {
    const uint32_t id = types.first + i;
    switch (plan.roles[id]) {
      case Role::timed: {
        TableMaker record(out.plan(), static_cast<uint16_t>(MapTypes::VT_TIME_ARCHETYPES));
        record.number(schema::TimeArchetypeDef::VT_TIME_FLAGS, hours_of(id));
        timed.emplace_back(i, std::move(record));
        break;
      }
      case Role::interior: {
        const uint32_t interior = file - plan.first_interior_file;
        interiors.emplace_back(i, make_interior(plan, area_of_interior(plan, interior), interior, mlo_plan, counts));
        break;
      }
      case Role::prop:
      case Role::furniture:
      case Role::rubble:
        if (i % kExtensionEvery == 1)
          extensions.emplace_back(
              i, archetype_extension(plan, extension_plan, id, id / kExtensionEvery % kArchetypeExtensions));
        break;
      default:
        break;
    }
  }
  counts.extensions += extensions.size();
  out.items(MapTypes::VT_ARCHETYPES, archetypes)
      .records(MapTypes::VT_TIME_ARCHETYPES, MapTypes::VT_ARCHETYPES, std::move(timed))
      .records(MapTypes::VT_MLO_ARCHETYPES, MapTypes::VT_ARCHETYPES, std::move(interiors))
      .records(MapTypes::VT_ARCHETYPE_EXTENSIONS, MapTypes::VT_ARCHETYPES, std::move(extensions))
      .number(MapTypes::VT_NAME, types.name);
  return out;
}

TableMaker make_manifest(const Plan& plan, uint32_t pack, const std::vector<MapSummary>& maps) {
  using schema::InteriorBoundsFiles;
  using schema::ItypDependencies;
  using schema::PackFileMetaData;
  TableMaker out(Binding::builtin(kind_of("YMFM"))->root());
  std::vector<TableMaker> map_needs, type_needs, interiors;
  const auto add_map = [&](uint32_t map) {
    if (!maps[map].type_files.empty()) map_needs.push_back(imap_dependency(plan, out.plan(), maps[map]));
  };
  if (pack == 0) {
    add_map(plan.world_map());
  } else {
    const Region& region = plan.regions[pack - 1];
    add_map(plan.region_map(pack - 1));
    for (uint32_t a = region.first; a < region.first + region.count; ++a) {
      const Area& area = plan.areas[a];
      for (uint32_t m = 0; m < area.maps(); ++m) add_map(area.map_first + m);
      for (uint32_t i = 0; i < area.interiors; ++i) {
        const TypeFile& types = plan.type_files[plan.first_interior_file + area.interior_first + i];
        type_needs.emplace_back(out.plan(), static_cast<uint16_t>(PackFileMetaData::VT_ITYP_DEPENDENCIES_2))
            .number(ItypDependencies::VT_ITYP_NAME, types.name)
            .number(ItypDependencies::VT_MANIFEST_FLAGS, schema::ManifestFlags::INTERIOR_DATA)
            .items(ItypDependencies::VT_ITYP_DEP_ARRAY, std::vector<uint32_t>{plan.type_files[area.palette[0]].name});
        const uint32_t name = plan.archetypes[types.first].name();
        interiors.emplace_back(out.plan(), static_cast<uint16_t>(PackFileMetaData::VT_INTERIORS))
            .number(InteriorBoundsFiles::VT_NAME, name)
            .items(InteriorBoundsFiles::VT_BOUNDS, std::vector<uint32_t>{name});
      }
    }
  }
  out.tables(PackFileMetaData::VT_IMAP_DEPENDENCIES_2, std::move(map_needs))
      .tables(PackFileMetaData::VT_ITYP_DEPENDENCIES_2, std::move(type_needs))
      .tables(PackFileMetaData::VT_INTERIORS, std::move(interiors));
  return out;
}

Peak find_peak(const std::vector<MapSummary>& maps) {
  constexpr uint32_t kCells = 128;
  constexpr size_t kCounters = 10;
  using Counters = std::array<int64_t, kCounters>;
  Bounds world;
  for (const MapSummary& m : maps) world.add(m.streaming);
  // Each map adds to the corners of its rectangle of cells; summing up both ways then gives what covers each cell.
  std::vector<Counters> grid(size_t{kCells + 1} * (kCells + 1), Counters{});
  const auto cell = [&](double v, double low, double high) {
    const double share = high > low ? (v - low) / (high - low) : 0;
    return static_cast<uint32_t>(std::clamp(share * kCells, 0.0, kCells - 1.0));
  };
  for (const MapSummary& m : maps) {
    const Counters counts{1,
                          int64_t{m.entities} + m.inside,
                          m.interiors,
                          m.portals,
                          m.extensions,
                          m.car_generators,
                          m.lod_lights,
                          m.grass_batches,
                          m.time_boxes,
                          m.occluders};
    const uint32_t x0 = cell(m.streaming.min.x, world.min.x, world.max.x),
                   x1 = cell(m.streaming.max.x, world.min.x, world.max.x) + 1,
                   y0 = cell(m.streaming.min.y, world.min.y, world.max.y),
                   y1 = cell(m.streaming.max.y, world.min.y, world.max.y) + 1;
    const auto add = [&](uint32_t x, uint32_t y, int64_t sign) {
      for (size_t k = 0; k < kCounters; ++k) grid[size_t{y} * (kCells + 1) + x][k] += sign * counts[k];
    };
    add(x0, y0, 1);
    add(x1, y0, -1);
    add(x0, y1, -1);
    add(x1, y1, 1);
  }
  Counters most{};
  for (uint32_t y = 0; y <= kCells; ++y)
    for (uint32_t x = 0; x <= kCells; ++x) {
      Counters& here = grid[size_t{y} * (kCells + 1) + x];
      for (size_t k = 0; k < kCounters; ++k) {
        if (x > 0) here[k] += grid[size_t{y} * (kCells + 1) + x - 1][k];
        if (y > 0) here[k] += grid[size_t{y - 1} * (kCells + 1) + x][k];
        if (x > 0 && y > 0) here[k] -= grid[size_t{y - 1} * (kCells + 1) + x - 1][k];
        most[k] = std::max(most[k], here[k]);
      }
    }
  const auto n = [&](size_t k) { return static_cast<uint64_t>(most[k]); };
  return {n(0), n(1), n(2), n(3), n(4), n(5), n(6), n(7), n(8), n(9)};
}

TableMaker make_game_config(const Plan& plan, const Peak& peak) {
  using schema::ConfigItem;
  using schema::GameConfig;
  using schema::GameConfigSet;
  std::vector<schema::PoolSize> pools;
  for (const Pool& pool : kPools)
    pools.emplace_back(hash_name(pool.name).value, with_reserve(wanted_of(plan, peak, pool.need)));
  const WorldOptions& o = plan.options;

  TableMaker out(Binding::builtin(kind_of("GCFG"))->root());
  const TypePlan& item_plan = *TableMaker::plan_of(out.plan(), GameConfigSet::VT_CONFIG_ARRAY).type;
  TableMaker config(item_plan, static_cast<uint16_t>(ConfigItem::VT_CONFIG));
  TableMaker pool_sizes(config.plan(), static_cast<uint16_t>(GameConfig::VT_POOL_SIZES));
  pool_sizes.items(schema::PoolSizes::VT_ENTRIES, pools);
  TableMaker models(config.plan(), static_cast<uint16_t>(GameConfig::VT_MODEL_INFO));
  models.number(schema::ModelInfoConfig::VT_MAX_BASE_MODEL_INFOS, with_reserve(o.archetypes))
      .number(schema::ModelInfoConfig::VT_MAX_MLO_INSTANCES, with_reserve(o.interiors))
      .number(schema::ModelInfoConfig::VT_MAX_MLO_MODEL_INFOS, with_reserve(o.interiors))
      .number(schema::ModelInfoConfig::VT_MAX_TIME_MODEL_INFOS, with_reserve(o.archetypes));
  TableMaker extensions(config.plan(), static_cast<uint16_t>(GameConfig::VT_EXTENSIONS));
  extensions.number(schema::ExtensionConfig::VT_MAX_DOOR_EXTENSIONS, with_reserve(peak.extensions + peak.portals))
      .number(schema::ExtensionConfig::VT_MAX_LIGHT_EXTENSIONS, with_reserve(peak.extensions))
      .number(schema::ExtensionConfig::VT_MAX_SPAWN_POINT_OVERRIDE_EXTENSIONS, with_reserve(peak.extensions))
      .number(schema::ExtensionConfig::VT_MAX_EXPRESSION_EXTENSIONS, with_reserve(o.archetypes));
  config.table(GameConfig::VT_POOL_SIZES, std::move(pool_sizes))
      .table(GameConfig::VT_MODEL_INFO, std::move(models))
      .table(GameConfig::VT_EXTENSIONS, std::move(extensions));
  std::vector<TableMaker> items;
  items.emplace_back(item_plan)
      .text(ConfigItem::VT_BUILD, "Any")
      .text(ConfigItem::VT_PLATFORMS, "Any")
      .table(ConfigItem::VT_CONFIG, std::move(config));
  out.tables(GameConfigSet::VT_CONFIG_ARRAY, std::move(items));
  return out;
}

}  // namespace meridian::tools::world
