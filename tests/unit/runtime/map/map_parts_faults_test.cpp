// SPDX-License-Identifier: MIT
// MAP-1: map/map_parts.h, parts of a map that open_resource takes and that do not fit all the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
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

void add_meshes(Builder& b, const std::vector<Mesh>& meshes) {
  std::vector<flatbuffers::Offset<schema::OccludeModel>> offsets;
  for (const Mesh& mesh : meshes) offsets.push_back(add_mesh(b, mesh));
  const auto vector = b.CreateVector(offsets);
  schema::MapDataBuilder map(b);
  map.add_occlude_models(vector);
  schema::FinishMapDataBuffer(b, map.Finish());
}

TEST(MapParts, MeshesThatDoNotFitAreLeftOut) {  // MAP-1
  const Mesh good = mesh_of(kQuad, {0, 1, 2, 0, 2, 3});
  const std::vector<Vec3> full(256, Vec3{1, 1, 1}), too_many(257, Vec3{1, 1, 1});
  const std::vector<Vec3> holed = {{1, 2, 3}, {1, std::numeric_limits<float>::quiet_NaN(), 3}};
  std::vector<Mesh> meshes(8, good);
  meshes[1].triangles = 2;                                  // bit 15 is missing
  meshes[2].data_size = 53;                                 // verts holds 54
  meshes[3].vertex_bytes = 36;                              // 36 + 6 < 54
  meshes[4].vertex_bytes = 50, meshes[4].bytes.resize(56);  // fits, but 50 is not 12 a vertex
  meshes[4].data_size = 56;
  meshes[5] = mesh_of(kQuad, {0, 1, 2, 0, 4, 3});  // vertex 4 of 4
  meshes[6] = mesh_of(holed, {0, 1, 0});
  meshes[7] = mesh_of(too_many, {0, 1, 2});
  meshes.push_back(mesh_of(full, {0, 1, 255}));
  Builder builder;
  add_meshes(builder, meshes);
  const OpenedMap map(builder);
  const struct {
    StatusCode code;
    uint64_t detail;
  } expected[9] = {{StatusCode::ok, 0},
                   {StatusCode::bad_structure, 2},
                   {StatusCode::bad_structure, 54},
                   {StatusCode::bad_structure, 54},
                   {StatusCode::bad_structure, 56},
                   {StatusCode::bad_value, 1},
                   {StatusCode::bad_value, 1},
                   {StatusCode::too_large, 257},
                   {StatusCode::ok, 0}};
  ASSERT_EQ(map.checked().counts().occluder_meshes, 9u);
  for (uint32_t i = 0; i < 9; ++i) {
    const Status status = map.checked().occluder_mesh(i).status();
    EXPECT_EQ(status.code, expected[i].code) << i << " " << status.message;
    EXPECT_EQ(status.detail, expected[i].detail) << i << " " << status.message;
  }
}

// MAP-1. Random heads over random bytes: taken exactly if a plain reading of the rules says so.
TEST(MapParts, RandomMeshesAreTakenExactlyIfTheyFit) {
  constexpr uint32_t kSeed = 20260;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  std::vector<Mesh> meshes;
  std::vector<std::vector<Vec3>> vertices;
  for (int i = 0; i < 3000; ++i) {
    std::vector<Vec3> points(below(6));
    for (Vec3& p : points)
      p = {static_cast<float>(below(100)), static_cast<float>(below(100)) - 50, static_cast<float>(below(100))};
    std::vector<uint8_t> indices(points.empty() ? 0 : 3 * below(5));
    for (uint8_t& index : indices)
      index = static_cast<uint8_t>(below(static_cast<uint32_t>(points.size()) + (i % 4 == 0)));
    Mesh mesh = mesh_of(points, indices);
    const uint32_t slip = below(8);
    if (slip == 0) mesh.vertex_bytes = static_cast<uint16_t>(mesh.vertex_bytes + below(25));
    if (slip == 1) mesh.triangles = static_cast<uint16_t>(0x8000u | below(8));
    if (slip == 2) mesh.data_size += below(3);
    if (slip == 3) mesh.triangles = static_cast<uint16_t>(mesh.triangles ^ 0x8000u);
    meshes.push_back(mesh);
    vertices.push_back(points);
  }
  Builder builder;
  add_meshes(builder, meshes);
  const OpenedMap map(builder);
  uint32_t taken = 0;
  for (uint32_t i = 0; i < meshes.size(); ++i) {
    const Mesh& mesh = meshes[i];
    bool fits = mesh.triangles >= 0x8000 && mesh.data_size == mesh.bytes.size() && mesh.vertex_bytes % 12 == 0 &&
                mesh.vertex_bytes + (mesh.triangles - 0x8000) * 3 == static_cast<int>(mesh.bytes.size());
    if (fits)
      fits = std::all_of(mesh.bytes.begin() + mesh.vertex_bytes, mesh.bytes.end(),
                         [&](uint8_t index) { return index < mesh.vertex_bytes / 12; });
    const Result<OccluderMesh> got = map.checked().occluder_mesh(i);
    ASSERT_EQ(got.ok(), fits) << i << " " << got.status().message;
    if (!fits) continue;
    ++taken;
    // Whatever the slip was, what was taken has the vertices that it was made of.
    ASSERT_EQ(got.value().vertex_count(), vertices[i].size());
    for (uint32_t v = 0; v < vertices[i].size(); ++v) {
      ASSERT_EQ(got.value().vertex(v), vertices[i][v]);
      ASSERT_EQ(max(got.value().bounds.max, vertices[i][v]), got.value().bounds.max);
      ASSERT_EQ(min(got.value().bounds.min, vertices[i][v]), got.value().bounds.min);
    }
  }
  EXPECT_GT(taken, 1000u);
  EXPECT_LT(taken, 2900u);
}

TEST(MapParts, LightsWhoseArraysDifferInLengthAreLeftOut) {  // MAP-1
  for (int shorter = -1; shorter < 9; ++shorter) {
    const auto count = [&](int array) { return array == shorter ? 1u : 2u; };
    Builder b;
    const std::vector<schema::FloatXYZ> directions(count(0)), places(2);
    const std::vector<float> falloffs(count(1)), exponents(count(2));
    const std::vector<uint32_t> flags(count(3)), hashes(count(4)), rgbi(count(8));
    const std::vector<uint8_t> inner(count(5)), outer(count(6)), corona(count(7));
    const auto lights = schema::CreateLodLightsSoaDirect(b, &directions, &falloffs, &exponents, &flags, &hashes, &inner,
                                                         &outer, &corona);
    const auto distant = schema::CreateDistantLodLightsSoaDirect(b, &places, &rgbi);
    schema::MapDataBuilder map(b);
    map.add_name(11);
    map.add_lod_lights_soa(lights);
    map.add_distant_lod_lights_soa(distant);
    schema::FinishMapDataBuffer(b, map.Finish());
    const OpenedMap opened(b);
    const Status near = opened.checked().lod_lights().status(), far = opened.checked().distant_lights().status();
    const bool near_fits = shorter == -1 || shorter == 8, far_fits = shorter != 8;
    EXPECT_EQ(near.code, near_fits ? StatusCode::ok : StatusCode::bad_structure) << shorter;
    EXPECT_EQ(far.code, far_fits ? StatusCode::ok : StatusCode::bad_structure) << shorter;
    // With short hashes, it is the first array that differs from them.
    EXPECT_EQ(near.detail, near_fits ? 0u : shorter == 4 ? 2u : 1u) << shorter;
    EXPECT_EQ(far.detail, far_fits ? 0u : 1u) << shorter;
    EXPECT_EQ(near.name, near_fits ? NameHash{} : NameHash{11}) << shorter;
    EXPECT_EQ(opened.checked().counts().lod_lights, near_fits ? 2u : 0u) << shorter;
    EXPECT_EQ(opened.checked().counts().distant_lights, far_fits ? 2u : 0u) << shorter;
  }
}

}  // namespace
}  // namespace meridian
