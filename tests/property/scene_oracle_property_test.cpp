// SPDX-License-Identifier: MIT
// SRCH-1, SRCH-3, SRCH-4, DESC-1, DESC-2, DESC-3, DESC-4, DESC-5, SG-4, SG-5, SG-7, SG-8, P073, P074, P078, P088:
// whatever is done with a world, searches give what a plain list of its entities gives, and descriptors are those that
// are made from scratch. 10 000 random steps through the whole of it: world, scene, maps.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "property/random_scene.h"
#include "support/captured.h"

namespace meridian::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

uint32_t number_of(const char* variable, uint32_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : otherwise;
}
uint32_t first_seed() { return number_of("MERIDIAN_PROPERTY_SEED", 1); }
uint32_t all_steps() {
#ifdef NDEBUG
  return 10 * number_of("MERIDIAN_PROPERTY_CASES", 1000);
#else
  return 10 * number_of("MERIDIAN_PROPERTY_CASES", 100);
#endif
}

/// Where a world is, and how its numbers came to be so.
struct Place {
  const char* name;
  Vec3 middle;      ///< of all that stands in it, as maps count
  bool is_rebased;  ///< so that the middle is near the origin
};
constexpr Place kPlaces[] = {{"at the origin", {}, false},
                             {"at 16 km", {15'900, -15'900, 40}, false},
                             {"at 60 km", {60'000, 60'000, -100}, false},
                             {"at 60 km, after a rebase", {60'000, -60'000, 300}, true}};

TEST(SceneOracleProperty, SearchesAndDescriptorsFollowAPlainList) {
  constexpr uint32_t kWorlds = 20;
  const CapturedLog log;  // of slips in maps
  const uint32_t steps = std::max(all_steps() / kWorlds, 1u);
  uint64_t found = 0, compared = 0, neighbours = 0, loads = 0;
  for (uint32_t world = 0; world < kWorlds; ++world) {
    const Place& place = kPlaces[world % std::size(kPlaces)];
    const uint32_t seed = first_seed() + world;
    SCOPED_TRACE("MERIDIAN_PROPERTY_SEED=" + std::to_string(seed) + ", " + place.name);
    RandomScene scene(seed, place.middle);
    ASSERT_TRUE(scene.init().ok());
    if (place.is_rebased) scene.rebase(place.middle * -1.0f);
    for (uint32_t step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      scene.step();
      scene.check();
    }
    scene.end();
    found += scene.found;
    compared += scene.flat.compared;
    neighbours += scene.flat.neighbours;
    loads += scene.loads;
    if (::testing::Test::HasFailure()) return;
  }
  // The test is worth nothing if nothing is found.
  EXPECT_GT(found, steps * kWorlds);
  EXPECT_GT(loads, 0u);
  // At 60 km doubles end at 2^-37 m, which decides about one of some hundred small boxes.
  EXPECT_LT(neighbours * 100, compared) << "boxes are a float apart too often to be ties";
}

// P078, SRCH-4: NaN and infinity are refused everywhere, and the world is what it was.
TEST(SceneOracleProperty, NumbersThatAreNoneAreRefusedAndChangeNothing) {
  const uint32_t seed = first_seed();
  SCOPED_TRACE("MERIDIAN_PROPERTY_SEED=" + std::to_string(seed));
  const CapturedLog log;
  RandomScene scene(seed, {});
  ASSERT_TRUE(scene.init().ok());
  for (int i = 0; i < 60; ++i) scene.step();
  for (const float bad : {kNan, kInf, -kInf}) {
    // Places, one number at a time.
    for (int number = 0; number < 12; ++number) {
      Listed& e = scene.any_in_world();
      Transform to = e.at;
      Vec4* const column[] = {&to.x, &to.y, &to.z, &to.position};
      Vec4& c = *column[number / 3];
      (number % 3 == 0 ? c.x : number % 3 == 1 ? c.y : c.z) = bad;
      EXPECT_EQ(scene.kit.world.move(*e.entity, to).code, StatusCode::bad_value);
      scene.check();
    }
    // Descriptors.
    for (int number = 0; number < 10; ++number) {
      EntityDesc desc;
      desc.half = {1, 1, 1};
      desc.distance = 50;
      float* const field[] = {&desc.centre.x, &desc.centre.y, &desc.centre.z, &desc.half.x,  &desc.half.y,
                              &desc.half.z,   &desc.pivot.x,  &desc.pivot.y,  &desc.pivot.z, &desc.distance};
      *field[number] = bad;
      SceneGraph& graph = scene.kit.graph;
      EXPECT_EQ(graph.insert(*graph.root(), ContainerUse::placed, {1, 1}, desc).status().code, StatusCode::bad_value);
      EXPECT_EQ(graph.set_light({1, 1}, desc).code, StatusCode::bad_value);
      Listed& e = scene.any_in_container();
      const ContainerTag tag = e.entity->container();
      EXPECT_EQ(graph.write({tag.container(), tag.slot()}, desc).code, StatusCode::bad_value);
      scene.check();
    }
    // Archetypes whose box or sphere is not finite.
    for (int number = 0; number < 6; ++number) {
      ArchetypeTraits traits;
      traits.box = {{-1, -1, -1}, {1, 1, 1}};
      traits.lod_distance = 50;
      float* const field[] = {&traits.box.min.x, &traits.box.min.y,       &traits.box.max.y,
                              &traits.box.max.z, &traits.sphere_centre.x, &traits.sphere_radius};
      *field[number] = bad;
      EXPECT_EQ(scene.add_of(traits).code, StatusCode::bad_value);
      scene.check();
    }
    // Questions.
    for (const VolumeKind kind : kAllKinds) {
      EntityQuery query;
      query.volume = scene.random_volume(kind);
      float* const field[] = {&query.volume.a.x, &query.volume.a.z, &query.volume.b.y, &query.volume.radius,
                              &query.volume.axes[1].y};
      for (float* number : field) {
        const float good = std::exchange(*number, bad);
        EntityHandle out[4];
        SearchResult result{7, 7};
        EXPECT_EQ(scene.kit.world.search_now(query, out, result).code, StatusCode::bad_value);
        EXPECT_EQ(result.found, 0u);
        EXPECT_EQ(out[0], EntityHandle{});
        *number = good;
      }
      if (kind != VolumeKind::frustum) continue;
      for (int i = 0; i < 4; ++i) {
        const Plane planes[] = {{{0, 0, 1}, 0},
                                {{i == 0 ? bad : 1, i == 1 ? bad : 0, i == 2 ? bad : 0}, i == 3 ? bad : 0}};
        EntityHandle out[1];
        SearchResult result;
        EXPECT_EQ(scene.kit.world.search_now({.volume = frustum_volume(planes, 2)}, out, result).code,
                  StatusCode::bad_value);
      }
    }
    // The origin.
    EXPECT_EQ(scene.kit.world.rebase({bad, 0, 0}).code, StatusCode::bad_value);
    EXPECT_EQ(scene.kit.world.rebase({0, 0, bad}).code, StatusCode::bad_value);
    scene.check();
  }
  // P088: outside of the world's limits is refused too; on the border of them is inside.
  Listed& e = scene.any_host_in_world();
  Transform to = e.at;
  to.position = {scene.kit.extent, -scene.kit.extent, 0, 1};
  EXPECT_TRUE(scene.kit.world.move(*e.entity, to).ok());
  e.at = to;
  scene.check();
  to.position.x = std::nextafter(scene.kit.extent, kInf);
  EXPECT_EQ(scene.kit.world.move(*e.entity, to).code, StatusCode::bad_value);
  scene.check();
  scene.end();
}

// SG-4: a locked world refuses changes, and what is deferred comes into effect at the unlock, in order.
TEST(SceneOracleProperty, ALockedWorldIsWhatItWasUntilTheUnlock) {
  const uint32_t seed = first_seed();
  SCOPED_TRACE("MERIDIAN_PROPERTY_SEED=" + std::to_string(seed));
  const CapturedLog log;
  RandomScene scene(seed, {100, 100, 0});
  ASSERT_TRUE(scene.init().ok());
  for (int i = 0; i < 80; ++i) scene.step();
  BrokenContracts contracts;
  World& world = scene.kit.world;
  Listed& e = scene.any_host_in_world();
  Transform to = e.at;
  to.position.z += 5;
  world.lock();
  EXPECT_EQ(world.move(*e.entity, to).code, StatusCode::in_use);
  EXPECT_EQ(world.remove(*e.entity).code, StatusCode::in_use);
  EXPECT_EQ(world.set_alpha(*e.entity, 3).code, StatusCode::in_use);
  EXPECT_EQ(world.set_visibility_mask(*e.entity, 3).code, StatusCode::in_use);
  EXPECT_EQ(world.rebase({1, 0, 0}).code, StatusCode::in_use);
  EXPECT_TRUE(broke(contracts, 5));
  scene.check();
  EXPECT_TRUE(world.defer(move_change(e.handle, to)).ok());
  EXPECT_TRUE(world.defer(alpha_change(e.handle, 3)).ok());
  EXPECT_TRUE(world.defer(alpha_change(e.handle, 77)).ok());
  world.lock();
  world.unlock();
  scene.check();
  world.unlock();
  e.at = to;
  e.alpha = 77;
  scene.check();
  EXPECT_TRUE(broke(contracts, 0));
  scene.end();
}

}  // namespace
}  // namespace meridian::test
