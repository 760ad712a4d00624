// SPDX-License-Identifier: MIT
#include "world_gen/map_maker.h"

#include <algorithm>

#include "meridian/resource/resource.h"

namespace meridian::tools::world {
namespace {

using schema::MapContentFlags;
using schema::MapData;

/// Bits of an entity's level; bit 4 is set by describe() as all tools understand it.
MapContentFlags content_of(schema::LodLevel level) {
  switch (level) {
    case schema::LodLevel::HD:
    case schema::LodLevel::ORPHANHD:
      return MapContentFlags::hd;
    case schema::LodLevel::LOD:
    case schema::LodLevel::SLOD1:
      return MapContentFlags::lod;
    default:
      return MapContentFlags::slod2;
  }
}

}  // namespace

MapMaker::MapMaker(const Plan& plan, uint32_t map, uint32_t parent, bool is_parent)
    : plan_(plan), root_(Binding::builtin(meridian::kind_of("IMAP"))->root()) {
  summary_.map = map;
  root_.number(MapData::VT_NAME, plan.maps[map]);
  if (parent != kNoParent) root_.number(MapData::VT_PARENT, plan.maps[parent]);
  if (is_parent) root_.number(MapData::VT_FLAGS, schema::MapFlags::is_parent);
}

const TypePlan& MapMaker::extension_plan() const {
  return *TableMaker::plan_of(plan(), MapData::VT_ENTITY_EXTENSIONS).type;
}

uint32_t MapMaker::add(const Placed& entity) {
  entities_.push_back(entity.stored(plan_));
  contains(content_of(entity.level));
  if (entity.is_interior(plan_)) contains(MapContentFlags::interior);
  // A millimetre: more than whoever computes the box from the stored floats can be off by.
  include(entity.bounds(plan_).grown(0.001), entity.range);
  add_types_of(entity.archetype);
  ++summary_.entities;
  return last();
}

void MapMaker::extend(TableMaker&& extension) {
  extensions_.emplace_back(last(), std::move(extension));
  ++summary_.extensions;
}

void MapMaker::include(const Bounds& box, double margin) {
  contents_.add(box);
  summary_.streaming.add(box.grown(margin));
}

void MapMaker::add_collision(const std::vector<uint32_t>& names) {
  root_.items(MapData::VT_PHYSICS_DICTIONARIES, names);
  contains(MapContentFlags::physics);
}

void MapMaker::add_types_of(uint32_t archetype) {
  const auto after = std::upper_bound(plan_.type_files.begin(), plan_.type_files.end(), archetype,
                                      [](uint32_t a, const TypeFile& f) { return a < f.first; });
  const auto file = static_cast<uint32_t>(after - plan_.type_files.begin() - 1);
  std::vector<uint32_t>& files = summary_.type_files;
  const auto at = std::lower_bound(files.begin(), files.end(), file);
  if (at == files.end() || *at != file) files.insert(at, file);
}

void MapMaker::describe() {
  using schema::BlockDesc;
  TableMaker block(plan(), static_cast<uint16_t>(MapData::VT_BLOCK));
  block.text(BlockDesc::VT_NAME, std::string(plan_.names.text(plan_.maps[summary_.map])))
      .text(BlockDesc::VT_EXPORTED_BY, "worldgen");
  root_.table(MapData::VT_BLOCK, std::move(block));
  contains(MapContentFlags::slod_or_block);
}

std::pair<TableMaker, MapSummary> MapMaker::finish() && {
  const Bounds contents = rounded_out(contents_);
  summary_.streaming = rounded_out(summary_.streaming);
  root_.number(MapData::VT_CONTENT_FLAGS, content_)
      .structure(MapData::VT_STREAMING_EXTENTS_MIN, stored(summary_.streaming.min))
      .structure(MapData::VT_STREAMING_EXTENTS_MAX, stored(summary_.streaming.max))
      .structure(MapData::VT_ENTITIES_EXTENTS_MIN, stored(contents.min))
      .structure(MapData::VT_ENTITIES_EXTENTS_MAX, stored(contents.max));
  if (!entities_.empty())
    root_.items(MapData::VT_ENTITIES, entities_)
        .records(MapData::VT_MLO_INSTANCES, MapData::VT_ENTITIES, std::move(instances_))
        .records(MapData::VT_ENTITY_EXTENSIONS, MapData::VT_ENTITIES, std::move(extensions_));
  return {std::move(root_), std::move(summary_)};
}

void make_region(const Plan& plan, uint32_t region, const MapSink& sink) {
  const Region& r = plan.regions[region];
  Random random(plan.options.seed, Stream::region, {region});
  MapMaker map(plan, plan.region_map(region), plan.world_map(), true);
  const auto [slod2, slod2_count] = plan.own_range(r.types, Role::slod2);
  const auto [slod3, slod3_count] = plan.own_range(r.types, Role::slod3);
  std::vector<Bounds> ground(r.slod3);
  for (uint32_t i = 0; i < r.count; ++i) {
    const Area& area = plan.areas[r.first + i];
    const double x = (area.x0 + area.x1) / 2, y = (area.y0 + area.y1) / 2;
    Placed p;
    p.archetype = slod2 + random.below(slod2_count);
    p.position = centimetres(Point{x, y, plan.ground(x, y)});
    p.flags = schema::EntityFlags{};
    p.parent = static_cast<int32_t>(r.count + i / kSlod2PerSlod3);
    p.lod_dist = 3000;
    p.child_lod_dist = 1200;
    p.range = 3000;
    p.level = schema::LodLevel::SLOD2;
    p.children = area.slod1;
    p.guid = random.next();
    map.add(p);
    ground[i / kSlod2PerSlod3].add(p.position);
  }
  for (uint32_t i = 0; i < r.slod3; ++i) {
    Placed p;
    p.archetype = slod3 + random.below(slod3_count);
    p.position = centimetres(ground[i].centre());
    p.flags = schema::EntityFlags::lod_in_parent;
    p.parent = static_cast<int32_t>(region);
    p.lod_dist = 6000;
    p.child_lod_dist = 3000;
    p.range = 6000;
    p.level = schema::LodLevel::SLOD3;
    p.children = std::min(kSlod2PerSlod3, r.count - i * kSlod2PerSlod3);
    p.guid = random.next();
    map.add(p);
  }
  map.describe();
  auto [root, summary] = std::move(map).finish();
  sink(std::move(root), std::move(summary));
}

void make_world_map(const Plan& plan, const MapSink& sink) {
  Random random(plan.options.seed, Stream::region, {plan.regions.size()});
  MapMaker map(plan, plan.world_map(), MapMaker::kNoParent, true);
  for (const Region& r : plan.regions) {
    Bounds ground;
    for (uint32_t i = 0; i < r.count; ++i) {
      const Area& area = plan.areas[r.first + i];
      ground.add(Point{area.x0, area.y0, 0});
      ground.add(Point{area.x1, area.y1, 0});
    }
    Placed p;
    p.archetype = plan.type_files[0].first + random.below(plan.type_files[0].count);
    p.position = centimetres(ground.centre());
    p.flags = schema::EntityFlags{};
    p.lod_dist = 15000;
    p.child_lod_dist = 6000;
    p.range = 15000;
    p.level = schema::LodLevel::SLOD4;
    p.children = r.slod3;
    p.guid = random.next();
    map.add(p);
  }
  map.describe();
  auto [root, summary] = std::move(map).finish();
  sink(std::move(root), std::move(summary));
}

}  // namespace meridian::tools::world
