// SPDX-License-Identifier: MIT
// MAP-1: everything of a map that is no entity can be queried, as it was written. Units: map_part_units_test.cpp.
#include "meridian/map/map_parts.h"

#include <gtest/gtest.h>

#include <vector>

#include "unit/runtime/map/opened_map.h"

namespace meridian {
namespace {

using test::add_mesh;
using test::Builder;
using test::kQuad;
using test::Mesh;
using test::mesh_of;
using test::OpenedMap;

/// One map with at least one of everything, all values different.
void add_everything(Builder& b) {
  const std::vector<schema::ContainerLod> containers = {{21, 22}, {23, 24}};
  const std::vector<schema::BoxOccluder> boxes = {{1, -2, 3, -4, 5, 6, 7, 8}};
  Mesh water = mesh_of(kQuad, {0, 1, 2, 0, 2, 3});
  water.flags = 5;
  const std::vector meshes = {add_mesh(b, mesh_of({}, {})), add_mesh(b, water)};
  const std::vector<uint32_t> collision = {31, 32, 33};
  const schema::Box batch_box({-1, -2, -3, 0}, {4, 5, 6, 0});
  const schema::Vec3 scales(0.5f, 2, 0.25f);
  const std::vector<schema::GrassInstance> tufts = {
      {{100, 200, 300}, 41, 42, {43, 44, 45}, 46, 47, {48, 49, 50}}, {}, {}};
  const std::vector batches = {
      schema::CreateGrassInstanceListDefDirect(b, &batch_box, &scales, 51, 52, 53, 0.5f, 0.25f, &tufts),
      schema::CreateGrassInstanceListDefDirect(b, nullptr, nullptr, 54)};
  const std::vector props = {schema::CreatePropInstanceListDef(b), schema::CreatePropInstanceListDef(b)};
  const auto instanced = schema::CreateInstancedMapDataDirect(b, 61, &props, &batches);
  const std::vector<schema::TimeCycleModifier> cycles = {{71, {1, 2, 3}, {4, 5, 6}, 72, 73, 22, 4}};
  const std::vector<schema::CarGen> cars = {
      {}, {{1, 2, 3}, 4, 5, 6, 81, static_cast<schema::CarGenFlags>(0x90000E60), 82, 83, 84, 85, 86, -5, 0, 0}};
  const std::vector<schema::FloatXYZ> directions = {{0, 0, -1}, {0, 1, 0}}, places = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  const std::vector<float> falloffs = {91, 92}, exponents = {93, 94};
  const std::vector<uint32_t> light_flags = {1u << 5, 1u << 6}, hashes = {95, 96}, rgbi = {97, 98, 99};
  const std::vector<uint8_t> inner = {1, 2}, outer = {3, 4}, corona = {5, 6};
  const auto lights = schema::CreateLodLightsSoaDirect(b, &directions, &falloffs, &exponents, &light_flags, &hashes,
                                                       &inner, &outer, &corona);
  const auto distant =
      schema::CreateDistantLodLightsSoaDirect(b, &places, &rgbi, 2, schema::LodLightCategory::medium_lights);
  const auto block = schema::CreateBlockDescDirect(b, 3, 4, "town", "us", "all", "noon");
  const auto container_vector = b.CreateVectorOfStructs(containers);
  const auto box_vector = b.CreateVectorOfStructs(boxes);
  const auto mesh_vector = b.CreateVector(meshes);
  const auto collision_vector = b.CreateVector(collision);
  const auto cycle_vector = b.CreateVectorOfStructs(cycles);
  const auto car_vector = b.CreateVectorOfStructs(cars);
  const schema::Vec3 corners[4] = {{-1, -2, -3}, {4, 5, 6}, {-0.5f, -1, -2}, {1, 2, 3}};
  schema::MapDataBuilder map(b);
  map.add_name(11);
  map.add_parent(12);
  map.add_flags(static_cast<schema::MapFlags>(3));
  map.add_content_flags(static_cast<schema::MapContentFlags>(0x7E0));
  map.add_streaming_extents_min(&corners[0]);
  map.add_streaming_extents_max(&corners[1]);
  map.add_entities_extents_min(&corners[2]);
  map.add_entities_extents_max(&corners[3]);
  map.add_container_lods(container_vector);
  map.add_box_occluders(box_vector);
  map.add_occlude_models(mesh_vector);
  map.add_physics_dictionaries(collision_vector);
  map.add_instanced_data(instanced);
  map.add_time_cycle_modifiers(cycle_vector);
  map.add_car_generators(car_vector);
  map.add_lod_lights_soa(lights);
  map.add_distant_lod_lights_soa(distant);
  map.add_block(block);
  schema::FinishMapDataBuffer(b, map.Finish());
}

void expect_everything(const MapParts& parts) {
  EXPECT_EQ(parts.counts(), (MapPartCounts{2, 1, 2, 3, 2, 2, 3, 1, 2, 2, 3}));
  const MapHead head = parts.head();
  EXPECT_EQ(head.name, NameHash{11});
  EXPECT_EQ(head.parent, NameHash{12});
  EXPECT_EQ(head.flags, 3u);
  EXPECT_EQ(head.content_flags, 0x7E0u);
  EXPECT_EQ(head.streaming, (Aabb{{-1, -2, -3}, {4, 5, 6}}));
  EXPECT_EQ(head.contents, (Aabb{{-0.5f, -1, -2}, {1, 2, 3}}));
  ASSERT_TRUE(parts.has_block());
  const BlockInfo block = parts.block();
  EXPECT_EQ(block.version, 3u);
  EXPECT_EQ(block.flags, 4u);
  EXPECT_EQ(block.name, "town");
  EXPECT_EQ(block.exported_by, "us");
  EXPECT_EQ(block.owner, "all");
  EXPECT_EQ(block.time, "noon");

  ASSERT_EQ(parts.container_lods().size(), 2u);
  EXPECT_EQ(parts.container_lods()[1].name, NameHash{23});
  EXPECT_EQ(parts.container_lods()[1].parent_index, 24u);
  const BoxOccluder& box = parts.box_occluders()[0];
  EXPECT_EQ(box.center_x, 1);
  EXPECT_EQ(box.center_y, -2);
  EXPECT_EQ(box.center_z, 3);
  EXPECT_EQ(box.cos_z, -4);
  EXPECT_EQ(box.length, 5);
  EXPECT_EQ(box.width, 6);
  EXPECT_EQ(box.height, 7);
  EXPECT_EQ(box.sin_z, 8);

  const Result<OccluderMesh> none = parts.occluder_mesh(0), mesh = parts.occluder_mesh(1);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none.value().vertex_count() + none.value().triangle_count(), 0u);
  EXPECT_EQ(none.value().bounds, Aabb{});
  EXPECT_FALSE(none.value().water_only);
  ASSERT_TRUE(mesh.ok());
  EXPECT_TRUE(mesh.value().water_only);
  EXPECT_EQ(mesh.value().flags, 5u);
  EXPECT_EQ(mesh.value().authored_bounds, (Aabb{{-9, -9, -9}, {9, 9, 9}}));
  EXPECT_EQ(mesh.value().bounds, (Aabb{{1, 2, -4}, {5, 6, 3}}));
  ASSERT_EQ(mesh.value().vertex_count(), 4u);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(mesh.value().vertex(i), kQuad[i]);
  ASSERT_EQ(mesh.value().triangle_count(), 2u);
  EXPECT_EQ(mesh.value().triangle(0), (MeshTriangle{{0, 1, 2}}));
  EXPECT_EQ(mesh.value().triangle(1), (MeshTriangle{{0, 2, 3}}));

  ASSERT_EQ(parts.physics_dictionaries().size(), 3u);
  EXPECT_EQ(parts.physics_dictionaries()[2], NameHash{33});
  EXPECT_EQ(parts.instance_link(), NameHash{61});
  EXPECT_EQ(parts.prop_list_count(), 2u);
  const TimeCycleBox& cycle = parts.time_cycle_boxes()[0];
  EXPECT_EQ(cycle.name, NameHash{71});
  EXPECT_EQ(cycle.box, (Aabb{{1, 2, 3}, {4, 5, 6}}));
  EXPECT_EQ(cycle.percentage, 72);
  EXPECT_EQ(cycle.range, 73);
  EXPECT_EQ(cycle.start_hour, 22u);
  EXPECT_EQ(cycle.end_hour, 4u);
  const CarGenerator& car = parts.car_generators()[1];
  EXPECT_EQ(car.position, (Vec3{1, 2, 3}));
  EXPECT_EQ(car.orient, (Vec2{4, 5}));
  EXPECT_EQ(car.width, 6);
  EXPECT_EQ(car.model, NameHash{81});
  EXPECT_EQ(car.flags.bits(), 0x90000E60u);
  EXPECT_EQ(car.creation_rule(), CreationRule::boats);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(car.color_remaps[i], 82 + i);
  EXPECT_EQ(car.vehicle_set, NameHash{86});
  EXPECT_EQ(car.livery, -5);
}

void expect_grass_and_lights(const MapParts& parts) {
  const GrassBatch batch = parts.grass_batch(0), bare = parts.grass_batch(1);
  EXPECT_EQ(batch.box, (Aabb{{-1, -2, -3}, {4, 5, 6}}));
  EXPECT_EQ(batch.min_scale, 0.5f);
  EXPECT_EQ(batch.max_scale, 2);
  EXPECT_EQ(batch.random_scale, 0.25f);
  EXPECT_EQ(batch.archetype, NameHash{51});
  EXPECT_EQ(batch.lod_distance, 52u);
  EXPECT_EQ(batch.fade_start, 53);
  EXPECT_EQ(batch.instance_fade_range, 0.5f);
  EXPECT_EQ(batch.orient_to_terrain, 0.25f);
  ASSERT_EQ(batch.instances.size(), 3u);
  const GrassInstance& tuft = batch.instances[0];
  for (uint16_t i = 0; i < 3; ++i) EXPECT_EQ(tuft.position[i], 100 * (i + 1));
  EXPECT_EQ(tuft.normal_x, 41);
  EXPECT_EQ(tuft.normal_y, 42);
  EXPECT_EQ(tuft.color, (Rgb8{43, 44, 45}));
  EXPECT_EQ(tuft.scale, 46);
  EXPECT_EQ(tuft.ao, 47);
  for (uint8_t i = 0; i < 3; ++i) EXPECT_EQ(tuft.padding[i], 48 + i);
  EXPECT_EQ(bare.archetype, NameHash{54});
  EXPECT_EQ(bare.box, Aabb{});
  EXPECT_EQ(bare.min_scale, 0.7f);
  EXPECT_EQ(bare.max_scale, 1);
  EXPECT_EQ(bare.random_scale, 0.2f);
  EXPECT_EQ(bare.lod_distance, 100u);  // the schema's defaults
  EXPECT_EQ(bare.fade_start, 20);
  EXPECT_EQ(bare.instance_fade_range, 0.75f);
  EXPECT_EQ(bare.orient_to_terrain, 1);
  EXPECT_TRUE(bare.instances.empty());

  const Result<LodLights> lights = parts.lod_lights();
  ASSERT_TRUE(lights.ok());
  ASSERT_EQ(lights.value().count(), 2u);
  const LodLight light = lod_light(lights.value(), 1);
  EXPECT_EQ(light.direction, (Vec3{0, 1, 0}));
  EXPECT_EQ(light.falloff, 92);
  EXPECT_EQ(light.falloff_exponent, 94);
  EXPECT_EQ(light.hash, 96u);
  EXPECT_TRUE(light.is_lit(6));
  EXPECT_FALSE(light.is_lit(5));
  EXPECT_EQ(lights.value().inner_angles[1], 2);
  EXPECT_EQ(lights.value().outer_angles[1], 4);
  EXPECT_EQ(lights.value().corona_strengths[1], 6);
  const Result<DistantLights> distant = parts.distant_lights();
  ASSERT_TRUE(distant.ok());
  ASSERT_EQ(distant.value().count(), 3u);
  EXPECT_EQ(distant.value().positions[2], (Vec3{7, 8, 9}));
  EXPECT_EQ(distant.value().rgbi[2], 99u);
  EXPECT_EQ(distant.value().street_light_count, 2u);
  EXPECT_EQ(distant.value().category, LightCategory::medium);
}

TEST(MapParts, AreReadAsTheyWereWritten) {  // MAP-1
  Builder builder;
  add_everything(builder);
  const OpenedMap map(builder);
  for (const MapParts* parts : {&map.checked(), &map.trusted()}) {
    expect_everything(*parts);
    expect_grass_and_lights(*parts);
  }
}

void expect_nothing(const MapParts& parts) {
  EXPECT_EQ(parts.counts(), MapPartCounts{});
  EXPECT_EQ(parts.head().name, NameHash{});
  EXPECT_EQ(parts.head().streaming, Aabb{});
  EXPECT_FALSE(parts.has_block());
  EXPECT_TRUE(parts.block().name.empty());
  EXPECT_TRUE(parts.container_lods().empty());
  EXPECT_TRUE(parts.box_occluders().empty());
  EXPECT_EQ(parts.occluder_mesh_count(), 0u);
  EXPECT_TRUE(parts.physics_dictionaries().empty());
  EXPECT_TRUE(parts.car_generators().empty());
  EXPECT_TRUE(parts.time_cycle_boxes().empty());
  EXPECT_EQ(parts.instance_link(), NameHash{});
  EXPECT_EQ(parts.prop_list_count(), 0u);
  EXPECT_EQ(parts.grass_batch_count(), 0u);
  ASSERT_TRUE(parts.lod_lights().ok());
  EXPECT_EQ(parts.lod_lights().value().count(), 0u);
  ASSERT_TRUE(parts.distant_lights().ok());
  EXPECT_EQ(parts.distant_lights().value().count(), 0u);
}

TEST(MapParts, AMapWithoutAnythingHasNone) {  // MAP-1
  expect_nothing(MapParts());
  Builder bare;
  schema::FinishMapDataBuffer(bare, schema::MapDataBuilder(bare).Finish());
  expect_nothing(OpenedMap(bare).checked());

  // The tables are there, with nothing inside.
  Builder hollow;
  const auto instanced = schema::CreateInstancedMapData(hollow);
  const auto lights = schema::CreateLodLightsSoa(hollow);
  const auto distant = schema::CreateDistantLodLightsSoa(hollow);
  schema::MapDataBuilder map(hollow);
  map.add_instanced_data(instanced);
  map.add_lod_lights_soa(lights);
  map.add_distant_lod_lights_soa(distant);
  schema::FinishMapDataBuffer(hollow, map.Finish());
  expect_nothing(OpenedMap(hollow).checked());

  Builder nameless;
  const auto block = schema::CreateBlockDesc(nameless, 1);
  schema::MapDataBuilder with_block(nameless);
  with_block.add_block(block);
  schema::FinishMapDataBuffer(nameless, with_block.Finish());
  const OpenedMap opened(nameless);
  EXPECT_TRUE(opened.checked().has_block());
  EXPECT_EQ(opened.checked().block().version, 1u);
  EXPECT_TRUE(opened.checked().block().owner.empty());
}

}  // namespace
}  // namespace meridian
