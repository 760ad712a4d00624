// SPDX-License-Identifier: MIT
// Deals the contents of an area out to its maps.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "world_gen/area.h"
#include "world_gen/interiors.h"
#include "world_gen/lod_lights.h"
#include "world_gen/map_maker.h"

namespace meridian::tools::world {
namespace {

using schema::MapContentFlags;
using schema::MapData;

/// Seen from this far beyond their box. [m]
constexpr double kOccluderMargin = 100;
constexpr uint32_t kMaxOccluders = 200, kGrassBatches = 3, kEntitiesPerCarGenerator = 40;

class AreaMaps {
 public:
  AreaMaps(const Plan& plan, const Area& area, const MapSink& sink)
      : plan_(plan), area_(area), sink_(sink), contents_(fill_area(plan, area)) {}

  void run() {
    write_lods();
    write_occluders();
    write_grass();
    const std::vector<LodLight> lights = lod_lights(plan_, area_, contents_.details);
    write_distant_lights(lights);
    write_lod_lights(lights);
    write_details();
    write_interiors();
  }

 private:
  void put(MapMaker&& map) {
    auto [root, summary] = std::move(map).finish();
    sink_(std::move(root), std::move(summary));
  }

  void write_lods() {
    MapMaker map(plan_, area_.lod_map(), plan_.region_map(area_.region), true);
    for (const Placed& p : contents_.lods) map.add(p);
    map.describe();
    put(std::move(map));
  }

  // ---- details

  void write_details() {
    const auto count = static_cast<uint32_t>(contents_.details.size());
    const uint32_t far = area_.long_maps != 0 ? area_.far_linked : 0;
    std::vector<uint32_t> far_ones(far), near_ones(count - far);
    for (uint32_t i = 0; i < count; ++i) (i < far ? far_ones[i] : near_ones[i - far]) = i;
    const auto groups = cut_in_groups(contents_.details, std::move(near_ones), area_.stream_maps);
    for (uint32_t i = 0; i < groups.size(); ++i) write_detail_map(area_.stream_map(i), groups[i], true, i % 4 == 0);
    if (area_.long_maps == 0) return;
    const auto far_groups = cut_in_groups(contents_.details, std::move(far_ones), area_.long_maps);
    for (uint32_t i = 0; i < far_groups.size(); ++i) write_detail_map(area_.long_map(i), far_groups[i], false, false);
  }

  void write_detail_map(uint32_t number, const std::vector<uint32_t>& group, bool has_traffic, bool has_mood) {
    MapMaker map(plan_, number, area_.lod_map(), false);
    Random random(plan_.options.seed, Stream::area, {area_.index, 2, number});
    std::vector<schema::CarGen> cars;
    Bounds ground;
    uint32_t orphans = 0;
    for (const uint32_t i : group) {
      const Placed& p = contents_.details[i];
      map.add(p);
      ground.add(p.position);
      switch (plan_.roles[p.archetype]) {
        case Role::lamp:
          map.extend(lamp_extension(plan_, map.extension_plan(), p.archetype));
          break;
        case Role::door:
          map.extend(door_extension(plan_, map.extension_plan(), random));
          break;
        case Role::prop:
          if (random.one_in(60)) map.extend(spawn_point_override(plan_, map.extension_plan(), random));
          break;
        default:
          break;
      }
      if (has_traffic && p.parent < 0 && orphans++ % kEntitiesPerCarGenerator == 0) add_car(map, p, random, cars);
    }
    if (!cars.empty()) map.root().items(MapData::VT_CAR_GENERATORS, cars);
    map.summary().car_generators = static_cast<uint32_t>(cars.size());
    if (has_mood) add_time_box(map, ground, random);
    map.add_collision({plan_.maps[number]});
    put(std::move(map));
  }

  /// A parking place on the road at the foot of the lot, along x.
  void add_car(MapMaker& map, const Placed& p, Random& random, std::vector<schema::CarGen>& cars) {
    using schema::CarGenFlags;
    const Lot& lot = contents_.lots[p.lot];
    const Point at = centimetres(Point{p.position.x, lot.y0 - 1, lot.z});
    constexpr double kLength = 5.5, kWidth = 2.6;
    const bool fixed = random.one_in(8);
    cars.emplace_back(stored(at), static_cast<float>(random.one_in(2) ? kLength : -kLength), 0.0f,
                      static_cast<float>(kWidth), fixed ? plan_.words.car_models[random.below(4)] : 0,
                      CarGenFlags::during_day | CarGenFlags::at_night | CarGenFlags::single_player |
                          CarGenFlags::network_player | CarGenFlags::low_priority,
                      -1, -1, -1, -1, fixed ? 0 : plan_.words.car_groups[random.below(4)], int8_t{-1}, uint8_t{0},
                      uint16_t{0});
    map.include(Bounds{at - Point{kLength / 2, kWidth / 2, 0}, at + Point{kLength / 2, kWidth / 2, 0}}, 0);
  }

  void add_time_box(MapMaker& map, const Bounds& ground, Random& random) {
    const Bounds box{centimetres(ground.min - Point{1, 1, 1}), centimetres(ground.max + Point{1, 1, 20})};
    const bool night = random.one_in(2);
    const std::vector<schema::TimeCycleModifier> modifiers{
        {plan_.words.time_cycles[random.below(4)], stored(box.min), stored(box.max),
         static_cast<float>(10 * (1 + random.below(10))), 5.0f, night ? 20u : 0u, night ? 5u : 23u}};
    map.root().items(MapData::VT_TIME_CYCLE_MODIFIERS, modifiers);
    map.include(box, 0);
    map.summary().time_boxes = 1;
  }

  // ---- interiors

  void write_interiors() {
    using schema::MloInstanceDef;
    for (uint32_t i = 0; i < area_.interiors; ++i) {
      const uint32_t interior = area_.interior_first + i;
      const uint32_t sets = entity_set_count(plan_.options.seed, interior);
      const InteriorShape shape = make_interior_shape(plan_.options.seed, interior);
      MapMaker map(plan_, area_.interior_map(i), area_.lod_map(), false);
      map.add(contents_.interiors[i]);
      TableMaker record(map.plan(), static_cast<uint16_t>(MapData::VT_MLO_INSTANCES));
      record.number(MloInstanceDef::VT_NUM_EXIT_PORTALS, shape.exits())
          .number(MloInstanceDef::VT_MLO_INST_FLAGS, schema::MloInstanceFlags::turn_on_gps);
      if (sets != 0)
        record.items(MloInstanceDef::VT_DEFAULT_ENTITY_SETS, std::vector<uint32_t>{plan_.words.sets[interior % sets]});
      map.add_interior(std::move(record));
      map.add_collision({plan_.archetypes[contents_.interiors[i].archetype].name()});
      map.summary().interiors = 1;
      map.summary().inside = max_interior_entities(shape);
      map.summary().portals = static_cast<uint32_t>(shape.portals.size());
      put(std::move(map));
    }
  }

  // ---- occluders

  void write_occluders() {
    MapMaker map(plan_, area_.occluder_map(), MapMaker::kNoParent, false);
    Random random(plan_.options.seed, Stream::area, {area_.index, 3});
    // An occluder in front of an exit portal would hide what is seen through it.
    std::vector<Bounds> kept_free;
    for (const Placed& p : contents_.interiors) kept_free.push_back(p.bounds(plan_).grown(1));
    std::vector<schema::BoxOccluder> boxes;
    std::vector<TableMaker> models;
    for (const Lot& lot : contents_.lots) {
      if (boxes.size() + models.size() == kMaxOccluders) break;
      if (!random.one_in(3) && &lot != &contents_.lots.front()) continue;
      const Point c = lot.centre();
      const Point half{(lot.x1 - lot.x0) * 0.4, (lot.y1 - lot.y0) * 0.4, random.between(8, 40) / 4.0};
      const Bounds box{c - Point{half.x, half.y, 0}, c + Point{half.x, half.y, half.z * 2}};
      if (std::any_of(kept_free.begin(), kept_free.end(), [&](const Bounds& b) { return b.meets(box); })) continue;
      add_occluder(map, box, random.one_in(4), boxes, models);
    }
    // Where interiors leave no room, a slab deep under the ground keeps the map from being empty.
    if (boxes.empty() && models.empty()) {
      const Point c = contents_.lots.front().centre() - Point{0, 0, 200};
      add_occluder(map, {c - Point{2, 2, 0}, c + Point{2, 2, 4}}, true, boxes, models);
    }
    map.summary().occluders = static_cast<uint32_t>(boxes.size() + models.size());
    map.root().items(MapData::VT_BOX_OCCLUDERS, boxes).tables(MapData::VT_OCCLUDE_MODELS, std::move(models));
    map.contains(MapContentFlags::occlusion);
    put(std::move(map));
  }

  /// Boxes hold quarter metres in 16 bits, so that far from the origin only a model will do.
  void add_occluder(MapMaker& map, const Bounds& box, bool as_model, std::vector<schema::BoxOccluder>& boxes,
                    std::vector<TableMaker>& models) {
    const auto quarters = [](double metres) { return std::floor(metres * 4); };
    const Point c = box.centre();
    if (as_model || std::max(std::abs(c.x), std::abs(c.y)) > 8000) {
      models.push_back(box_model(map.plan(), {centimetres(box.min), centimetres(box.max)}));
      map.include(Bounds{centimetres(box.min), centimetres(box.max)}, kOccluderMargin);
      return;
    }
    const double x = quarters(c.x), y = quarters(c.y), z = quarters(c.z), length = quarters(box.max.y - box.min.y),
                 width = quarters(box.max.x - box.min.x), height = quarters(box.max.z - box.min.z);
    // Cosine 1 and sine 0: the length lies along y.
    const auto word = [](double v) { return static_cast<int16_t>(v); };
    boxes.emplace_back(word(x), word(y), word(z), int16_t{16384}, word(length), word(width), word(height), int16_t{0});
    const Point centre = Point{x, y, z} * 0.25, half = Point{width, length, height} * 0.125;
    map.include(Bounds{centre - half, centre + half}, kOccluderMargin);
  }

  static TableMaker box_model(const TypePlan& map, const Bounds& box) {
    using schema::OccludeModel;
    constexpr uint8_t kTriangles[12][3] = {{0, 1, 3}, {0, 3, 2}, {4, 6, 7}, {4, 7, 5}, {0, 4, 5}, {0, 5, 1},
                                           {2, 3, 7}, {2, 7, 6}, {0, 2, 6}, {0, 6, 4}, {1, 5, 7}, {1, 7, 3}};
    std::vector<uint8_t> bytes(8 * 12 + sizeof kTriangles);
    for (uint32_t corner = 0; corner < 8; ++corner) {
      const schema::Vec3 v =
          stored({(corner & 1) != 0 ? box.max.x : box.min.x, (corner & 2) != 0 ? box.max.y : box.min.y,
                  (corner & 4) != 0 ? box.max.z : box.min.z});
      std::memcpy(bytes.data() + corner * 12, &v, 12);
    }
    std::memcpy(bytes.data() + 96, kTriangles, sizeof kTriangles);
    TableMaker out(map, static_cast<uint16_t>(MapData::VT_OCCLUDE_MODELS));
    constexpr uint16_t kFloatVertices = 0x8000;
    out.structure(OccludeModel::VT_BMIN, stored(box.min))
        .structure(OccludeModel::VT_BMAX, stored(box.max))
        .number(OccludeModel::VT_DATA_SIZE, static_cast<uint32_t>(bytes.size()))
        .items(OccludeModel::VT_VERTS, bytes)
        .number(OccludeModel::VT_NUM_VERTS_IN_BYTES, uint16_t{96})
        .number(OccludeModel::VT_NUM_TRIS, static_cast<uint16_t>(12 | kFloatVertices));
    return out;
  }

  // ---- grass

  void write_grass() {
    using schema::GrassInstanceListDef;
    using schema::InstancedMapData;
    MapMaker map(plan_, area_.grass_map(), MapMaker::kNoParent, false);
    Random random(plan_.options.seed, Stream::area, {area_.index, 4});
    TableMaker data(map.plan(), static_cast<uint16_t>(MapData::VT_INSTANCED_DATA));
    std::vector<TableMaker> batches;
    for (uint32_t b = 0; b < kGrassBatches; ++b) {
      const Lot& lot = contents_.lots[random.below(area_.lots())];
      const Bounds box{centimetres(Point{lot.x0, lot.y0, lot.z}), centimetres(Point{lot.x1, lot.y1, lot.z + 0.5})};
      const uint32_t archetype = plan_.pick_shared(area_.palette[b], Role::grass, random);
      const auto lod_dist = static_cast<uint32_t>(plan_.archetypes[archetype].lod_dist());
      std::vector<schema::GrassInstance> instances;
      for (uint32_t n = 32 + random.below(96); n > 0; --n) {
        const auto place = [&] { return static_cast<uint16_t>(random.below(65536)); };
        const auto byte = [&](int32_t low, int32_t high) { return static_cast<uint8_t>(random.between(low, high)); };
        const schema::U16x3 at(place(), place(), place());
        const uint8_t nx = byte(118, 137), ny = byte(118, 137);
        const schema::Rgb8 color(byte(60, 120), byte(90, 150), byte(30, 70));
        const uint8_t scale = byte(80, 255), shade = byte(150, 255);
        instances.emplace_back(at, nx, ny, color, scale, shade, schema::U8x3(0, 0, 0));
      }
      map.summary().grass_instances += static_cast<uint32_t>(instances.size());
      const auto corner = [](const Point& p) {
        return schema::Vec4(static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z), 0);
      };
      batches.emplace_back(data.plan(), static_cast<uint16_t>(InstancedMapData::VT_GRASS_INSTANCE_LIST))
          .structure(GrassInstanceListDef::VT_BATCH_AABB, schema::Box(corner(box.min), corner(box.max)))
          .structure(GrassInstanceListDef::VT_SCALE_RANGE, schema::Vec3(0.75f, 1.25f, 0.25f))
          .number(GrassInstanceListDef::VT_ARCHETYPE_NAME, plan_.archetypes[archetype].name())
          .number(GrassInstanceListDef::VT_LOD_DIST, lod_dist)
          .number(GrassInstanceListDef::VT_LOD_FADE_START_DIST, 20.0f)
          .number(GrassInstanceListDef::VT_LOD_INST_FADE_RANGE, 0.75f)
          .number(GrassInstanceListDef::VT_ORIENT_TO_TERRAIN, 1.0f)
          .items(GrassInstanceListDef::VT_INSTANCE_LIST, instances);
      // Tufts reach beyond their places by their own size, twice as large at most.
      const Bounds tuft = plan_.bounds_of(archetype);
      map.include(box.grown(std::max({tuft.max.x, tuft.max.y, tuft.max.z}) * 2), lod_dist);
      map.add_types_of(archetype);
    }
    data.tables(InstancedMapData::VT_GRASS_INSTANCE_LIST, std::move(batches));
    map.root().table(MapData::VT_INSTANCED_DATA, std::move(data));
    map.summary().grass_batches = kGrassBatches;
    map.add_collision({plan_.words.grass_collision[0], plan_.words.grass_collision[1]});
    map.contains(MapContentFlags::grass);
    put(std::move(map));
  }

  // ---- lights

  void write_distant_lights(const std::vector<LodLight>& lights) {
    MapMaker map(plan_, area_.distant_light_map(), MapMaker::kNoParent, true);
    map.root().table(MapData::VT_DISTANT_LOD_LIGHTS_SOA, distant_lights_table(map.plan(), lights, category_of(area_)));
    map.contains(MapContentFlags::distant_lod_lights);
    map.include(light_bounds(lights).grown(kLightBox), distant_light_margin(category_of(area_)) - kLightBox);
    put(std::move(map));
  }

  void write_lod_lights(const std::vector<LodLight>& lights) {
    MapMaker map(plan_, area_.lod_light_map(), area_.distant_light_map(), false);
    map.root().table(MapData::VT_LOD_LIGHTS_SOA, lod_lights_table(map.plan(), lights));
    map.contains(MapContentFlags::lod_lights);
    map.include(light_bounds(lights).grown(kLightBox), lod_light_margin(category_of(area_)) - kLightBox);
    map.summary().lod_lights = static_cast<uint32_t>(lights.size());
    put(std::move(map));
  }

  const Plan& plan_;
  const Area& area_;
  const MapSink& sink_;
  AreaContents contents_;
};

}  // namespace

void make_area(const Plan& plan, const Area& area, const MapSink& sink) { AreaMaps(plan, area, sink).run(); }

}  // namespace meridian::tools::world
