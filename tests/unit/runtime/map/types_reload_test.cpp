// SPDX-License-Identifier: MIT
// New versions of type files: MDS-5, ARCH-4 (what is in use or protected stays), ARCH-7 (who counts), P089.
#include <gtest/gtest.h>

#include "unit/runtime/map/reload_kit.h"

namespace meridian {
namespace {

using test::MapText;
using test::ReloadKit;
using test::Seen;
using test::TypesText;

constexpr NameHash kProps = hash_name("props"), kStone = hash_name("stone"), kBrick = hash_name("brick");

/// Whether the file is for good, from a layer below which nothing is unmounted.
struct TypesReloadTest : testing::TestWithParam<bool> {
  TypesReloadTest() {
    kit.types(props(1));
    kit.types({.name = "other", .archetypes = {{"pole", 50}}});
    MapText town{.name = "town", .types = {"other", "props"}}, hill{.name = "hill", .types = {"other", "props"}};
    for (int i = 0; i < 6; ++i) {
      town.entities.push_back({i % 2 == 0 ? "stone" : "brick", {static_cast<float>(i), 0, 0}});
      hill.entities.push_back({i % 2 == 0 ? "brick" : "pole", {static_cast<float>(i), 9, 0}});
    }
    kit.map(town);
    kit.map(hill);
  }
  TypesText props(uint32_t version) const {
    const auto n = static_cast<float>(version);
    return {.name = "props",
            .archetypes = {{"stone", 100 + n, 0, n}, {"brick", 200 + n, 0, n}},
            .is_permanent = GetParam()};
  }
  void start(const test::ReloadConfig& config = {}) {
    kit.start(config);
    kit.settle();
    ASSERT_EQ(kit.seen(), (Seen{{"hill", 1}, {"town", 1}}));
  }
  Status reload() { return kit.streaming.reload_types(kProps); }
  MapTypesStore& types() { return kit.streaming.types(); }

  /// The version that all entities of both maps are of, in every respect; 0: they are not of one.
  uint32_t version() {
    std::set<float> versions;
    for (const char* const map : {"town", "hill"}) {
      const MapContents* const in = kit.contents(map);
      if (in == nullptr) continue;
      for (uint32_t i = 0; i < in->entity_count(); ++i) {
        if (in->entity(i) == nullptr) return 0;
        const Entity& entity = *in->entity(i);
        if (entity.archetype()->name() == hash_name("pole")) continue;
        const float base = entity.archetype()->name() == kStone ? 100 : 200;
        const ContainerTag tag = entity.container();
        const EntityDesc desc = kit.graph.read({tag.container(), tag.slot()});
        versions.insert(entity.archetype()->traits().lod_distance - base);
        versions.insert(desc.distance - base);
        versions.insert(desc.half.x);  // as large as its version
        EXPECT_TRUE(entity.archetype()->is_in_force());
      }
    }
    for (const NameHash name : {kStone, kBrick}) {
      const Archetype* const archetype = kit.archetypes.find(name);
      if (archetype == nullptr) return 0;
      versions.insert(archetype->traits().lod_distance - (name == kStone ? 100 : 200));
    }
    return versions.size() == 1 ? static_cast<uint32_t>(*versions.begin()) : 0;
  }
  uint64_t placed() { return kit.streaming.engine().statistics(1).placed; }
  void finish(uint32_t before, uint32_t after) {
    bool is_new = false;
    for (int i = 0; i < 30; ++i) {
      kit.update();
      const uint32_t now = version();
      EXPECT_TRUE(now == after || (now == before && !is_new)) << now << " in update " << i;
      is_new = now == after && after != before;
      EXPECT_EQ(kit.seen(), (Seen{{"hill", 1}, {"town", 1}}));
    }
    EXPECT_EQ(version(), after);
    EXPECT_EQ(types().used(), 2u) << "the old version's slot is free again";
  }

  test::CapturedLog log;
  ReloadKit kit;
};

TEST_P(TypesReloadTest, EntitiesGoOnWithItInOneUpdate) {
  start();
  const uint64_t bytes = kit.memory.bytes(), maps_placed = placed();
  EXPECT_EQ(version(), 1u);
  kit.max_chunks = 1;
  for (uint32_t next = 2; next < 5; ++next) {
    kit.types(props(next));
    kit.io.holds = true;
    EXPECT_TRUE(reload().ok());
    EXPECT_EQ(reload().code, StatusCode::in_use);
    for (int i = 0; i < 4; ++i) {
      kit.update();
      EXPECT_EQ(version(), next - 1);
    }
    kit.io.holds = false;
    finish(next - 1, next);
    EXPECT_EQ(placed(), maps_placed) << "no map is loaded anew";
    EXPECT_EQ(kit.archetypes.is_published(static_cast<ItypSlot>(types().find(kProps))), true);
    EXPECT_EQ(kit.archetypes.permanent_used(), GetParam() ? 2u : 0u);
    EXPECT_EQ(kit.archetypes.streamed_used(), GetParam() ? 1u : 3u);
  }
  EXPECT_EQ(kit.streaming.permanent_left(), 0u);
  EXPECT_EQ(kit.memory.bytes(), bytes);
  EXPECT_EQ(log.count(), 0u) << log.all();
  EXPECT_EQ(kit.streaming.reload_types(hash_name("nowhere")).code, StatusCode::not_found);
}

// ARCH-4: an archetype that the new version lacks stays, with its file, as long as entities are of it.
TEST_P(TypesReloadTest, WhatVanishesStaysWhileItIsUsed) {
  start();
  kit.types({.name = "props", .archetypes = {{"brick", 202, 0, 2}}, .is_permanent = GetParam()});
  EXPECT_TRUE(reload().ok());
  const auto expect_old_stones = [&] {
    const MapContents& town = *kit.contents("town");
    for (uint32_t i = 0; i < 6; ++i) {
      ASSERT_NE(town.entity(i), nullptr);
      EXPECT_EQ(town.entity(i)->archetype()->traits().lod_distance, i % 2 == 0 ? 101 : 202);
    }
  };
  kit.settle(20);
  expect_old_stones();
  EXPECT_EQ(kit.archetypes.find(kStone), nullptr);
  EXPECT_EQ(types().used(), 3u) << "the old version is there yet";
  EXPECT_EQ(kit.seen(), (Seen{{"hill", 1}, {"town", 1}}));
  // It comes back in a third version: they go on with that.
  EXPECT_EQ(reload().code, StatusCode::in_use);
  kit.camera.position = {5000, 0, 0};
  kit.settle();
  EXPECT_EQ(kit.maps.loaded_maps(), 0u);
  EXPECT_EQ(types().used(), 2u);
  kit.camera.position = {};
  kit.settle();
  EXPECT_EQ(kit.contents("town")->created(), 3u) << "bricks only";
  kit.types(props(3));
  EXPECT_TRUE(reload().ok());
  kit.settle();
  EXPECT_EQ(kit.contents("town")->created(), 3u) << "what was left out is not made";
  kit.streaming.engine().reload(kit.index("town"));
  kit.settle();
  EXPECT_EQ(version(), 3u);
}

// ARCH-4: a protected archetype keeps its file until the renderer has done with it.
TEST_P(TypesReloadTest, WhatIsProtectedStays) {
  start();
  const Archetype* const old = kit.archetypes.find(kStone);
  kit.archetypes.protect(*old);
  kit.types(props(2));
  EXPECT_TRUE(reload().ok());
  kit.settle(20);
  EXPECT_EQ(version(), 2u);
  EXPECT_EQ(types().used(), 3u);
  EXPECT_EQ(old->traits().lod_distance, 101);
  kit.archetypes.unprotect(*old, 7);
  kit.settle(4);
  EXPECT_EQ(types().used(), 3u);
  kit.archetypes.release_fenced(7);
  kit.settle(4);
  EXPECT_EQ(types().used(), 2u);
}

// A map that is half placed when the versions change goes on with the new one; so do those that wait for it.
TEST_P(TypesReloadTest, MapsThatLoadGoOnWithIt) {
  for (int stage = 0; stage < 8; ++stage) {
    SCOPED_TRACE(stage);
    ReloadKit now;
    now.types(props(1));
    now.types(kit.base.types.at("other"));
    MapText large = kit.base.maps.at("town");
    for (int i = 0; i < 2500; ++i) large.entities.push_back({"stone", {static_cast<float>(i % 50), 5, 0}});
    now.map(large);
    now.start();
    for (const NameHash file : {kProps, hash_name("other")}) {  // code keeps them, as it may
      now.streaming.engine().keep(now.streaming.types().find_index(file), StreamKeeper::code);
    }
    now.camera.position = {5000, 0, 0};
    now.settle();
    now.types(props(2));
    EXPECT_TRUE(now.streaming.reload_types(kProps).ok());
    now.camera.position = {};
    now.max_chunks = 1;
    now.io.holds = true;
    now.update();
    now.io.finish(1);
    for (int i = 0; i < stage; ++i) now.update();
    now.io.holds = false;
    now.max_chunks = 3;
    now.settle(20);
    now.max_chunks = 0xFFFFFFFF;
    now.settle();
    ASSERT_NE(now.contents("town"), nullptr);
    EXPECT_EQ(now.contents("town")->created(), 2506u);
    for (uint32_t i = 0; i < 2506; ++i) {
      const Archetype& of = *now.contents("town")->entity(i)->archetype();
      EXPECT_TRUE(of.is_in_force());
      EXPECT_EQ(of.traits().lod_distance, of.name() == kStone ? 102 : 202);
    }
    const StreamIndex file = now.streaming.types().find_index(kProps);
    EXPECT_TRUE(now.streaming.engine().is_kept(file, StreamKeeper::code)) << "wishes move along";
    EXPECT_FALSE(now.streaming.engine().is_kept(file, StreamKeeper::version));
    EXPECT_EQ(now.streaming.types().used(), 2u);
  }
}

// More names at once than are remembered one by one, some of which vanish and come back later.
TEST_P(TypesReloadTest, ManyNamesAtOnce) {
  std::deque<std::string> names;
  const auto many = [&](float distance, uint32_t from, uint32_t to) {
    TypesText out{.name = "many", .is_permanent = GetParam()};
    for (uint32_t i = from; i < to; ++i) out.archetypes.push_back({names[i].c_str(), distance + static_cast<float>(i)});
    return out;
  };
  for (uint32_t i = 0; i < 300; ++i) names.push_back("thing" + std::to_string(i));
  kit.types(many(1000, 0, 300));
  MapText town = kit.base.maps.at("town");
  town.types.push_back("many");
  for (const std::string& name : names) town.entities.push_back({name.c_str()});
  kit.map(town);
  start();
  const auto expect = [&](auto distance) {
    for (uint32_t i = 0; i < 300; ++i) {
      const Entity* const entity = kit.contents("town")->entity(6 + i);
      ASSERT_NE(entity, nullptr);
      EXPECT_EQ(entity->archetype()->traits().lod_distance, distance(i) + static_cast<float>(i)) << i;
    }
  };
  expect([](uint32_t) { return 1000.0f; });
  kit.types(many(2000, 0, 300));
  EXPECT_TRUE(kit.streaming.reload_types(hash_name("many")).ok());
  kit.settle();
  expect([](uint32_t) { return 2000.0f; });
  kit.types(many(3000, 100, 250));
  EXPECT_TRUE(kit.streaming.reload_types(hash_name("many")).ok());
  kit.settle();
  const auto mixed = [](uint32_t i) { return i >= 100 && i < 250 ? 3000.0f : 2000.0f; };
  expect(mixed);
  // Another file brings back what was lost.
  test::LayerText layer;
  TypesText rest{.name = "rest"};
  for (uint32_t i = 0; i < 300; ++i) rest.archetypes.push_back({names[i].c_str(), 4000 + static_cast<float>(i)});
  layer.put(rest);
  const MountId mount = kit.mount(layer);
  kit.streaming.engine().keep(types().find_index(hash_name("rest")), StreamKeeper::code);
  kit.settle();
  expect([](uint32_t) { return 4000.0f; });
  EXPECT_EQ(types().used(), 4u) << "nobody is of the old version any more";
  kit.streaming.engine().drop(types().find_index(hash_name("rest")), StreamKeeper::code);
  (void)mount;
}

// ARCH-7: of two files that define a name, the one that came first counts, in its new version too.
TEST_P(TypesReloadTest, ItsPlaceAmongThoseThatDefineTheNameStays) {
  kit.types({.name = "rival", .archetypes = {{"stone", 999}, {"brick", 999}, {"moss", 999}}});
  start();
  kit.streaming.engine().keep(types().find_index(hash_name("rival")), StreamKeeper::code);
  kit.settle();
  EXPECT_EQ(version(), 1u);
  log.clear();
  kit.types(props(2));
  EXPECT_TRUE(reload().ok());
  kit.settle();
  EXPECT_EQ(version(), 2u);
  EXPECT_EQ(log.count(), 0u) << log.all();
  kit.types({.name = "rival", .archetypes = {{"stone", 777}, {"moss", 777}}});
  EXPECT_TRUE(kit.streaming.reload_types(hash_name("rival")).ok());
  kit.settle();
  EXPECT_EQ(version(), 2u) << "the one that waits, waits on";
  EXPECT_EQ(kit.archetypes.find(hash_name("moss"))->traits().lod_distance, 777);
  // What the first one loses, the other has.
  kit.types({.name = "props", .archetypes = {{"brick", 203, 0, 3}}, .is_permanent = GetParam()});
  EXPECT_TRUE(reload().ok());
  kit.settle();
  EXPECT_EQ(kit.archetypes.find(kStone)->traits().lod_distance, 777);
  EXPECT_EQ(kit.contents("town")->entity(0)->archetype(), kit.archetypes.find(kStone));
  EXPECT_EQ(types().used(), 3u);
}

// Damaged, unreadable, or without room for both: the old one stays, it is told once, and mended it goes.
TEST_P(TypesReloadTest, WhereItFailsTheOldOneStays) {
  const bool is_permanent = GetParam();
  for (int fault = 0; fault < 3; ++fault) {
    SCOPED_TRACE(fault);
    ReloadKit now;
    now.types(props(1));
    now.types(kit.base.types.at("other"));
    for (const auto& [name, text] : kit.base.maps) now.map(text);
    test::ReloadConfig config;
    if (fault == 2) config.model_slots = is_permanent ? ModelSlots{3, 8} : ModelSlots{8, 4};
    now.start(config);
    now.settle();
    const std::vector<std::string> before = now.picture();
    const uint64_t bytes = now.memory.bytes();
    now.types(props(2));
    const std::vector<std::byte> good = now.base.files.at(kind_of("ITYP"), kProps);
    for (int round = 0; round < 2; ++round) {
      log.clear();
      if (fault == 0) now.damage_types("props");
      now.io.holds = fault == 1;
      EXPECT_TRUE(now.streaming.reload_types(kProps).ok());
      for (int i = 0; i < 100; ++i) {
        now.update();
        EXPECT_EQ(now.picture(), before);
        if (i == 2) now.io.fail();
      }
      EXPECT_EQ(test::count_said(log, ": the new version is not used"), 1u) << log.all();
      EXPECT_EQ(now.streaming.types().used(), 2u);
      EXPECT_EQ(now.memory.bytes(), bytes);
    }
    now.io.holds = false;
    now.base.files.put(kind_of("ITYP"), kProps, good);
    EXPECT_TRUE(now.streaming.reload_types(kProps).ok());
    if (fault == 2) {
      now.settle(4);
      EXPECT_EQ(now.picture(), before);
      continue;
    }
    now.settle();
    EXPECT_EQ(now.archetypes.find(kStone)->traits().lod_distance, 102);
    EXPECT_EQ(now.contents("town")->entity(0)->archetype(), now.archetypes.find(kStone));
  }
}

// P089: a layer overrides the file while its new version is made, and leaves again.
TEST_P(TypesReloadTest, LayersComeAndGoMeanwhile) {
  start();
  test::LayerText layer;
  TypesText over = props(9);
  over.is_permanent = false;
  layer.put(over);
  for (int stage = 0; stage < 4; ++stage) {
    SCOPED_TRACE(stage);
    kit.types(props(2));
    kit.io.holds = stage % 2 == 0;
    EXPECT_TRUE(reload().ok());
    for (int i = 0; i < stage; ++i) kit.update();
    const MountId mount = kit.mount(layer);
    kit.settle(2);
    kit.io.holds = false;
    kit.settle(30);
    EXPECT_EQ(version(), 9u);
    kit.io.holds = stage % 2 == 0;
    EXPECT_TRUE(reload().ok());
    for (int i = 0; i < stage; ++i) kit.update();
    EXPECT_TRUE(kit.streaming.begin_unmount(mount).ok());
    kit.settle(2);
    kit.io.holds = false;
    kit.settle(30);
    EXPECT_FALSE(kit.streaming.is_unmounting());
    EXPECT_EQ(version(), 2u);
    EXPECT_EQ(types().used(), 2u);
  }
}

TEST_P(TypesReloadTest, WhileItIsNotThereItOnlyForgets) {
  if (GetParam()) return;  // those are always there
  kit.camera.position = {5000, 0, 0};
  kit.start();
  kit.settle();
  kit.types(props(2));
  EXPECT_TRUE(reload().ok());
  EXPECT_EQ(types().used(), 2u);
  kit.camera.position = {};
  kit.settle();
  EXPECT_EQ(version(), 2u);
}

TEST_P(TypesReloadTest, ShutsDownInEachState) {
  for (int stage = 0; stage < 8; ++stage) {
    SCOPED_TRACE(stage);
    ReloadKit now;
    now.types(props(1));
    now.types(kit.base.types.at("other"));
    for (const auto& [name, text] : kit.base.maps) now.map(text);
    now.start();
    now.settle();
    now.max_chunks = 1;
    now.types({.name = "props", .archetypes = {{"brick", 202, 0, 2}}, .is_permanent = GetParam()});
    EXPECT_TRUE(now.streaming.reload_types(kProps).ok());
    for (int i = 0; i < stage; ++i) now.update();
    now.streaming.shutdown();
    EXPECT_EQ(now.maps.loaded_maps(), 0u);
    EXPECT_EQ(now.archetypes.permanent_used() + now.archetypes.streamed_used(), 0u);
  }  // CheckedMemory counts
}

std::string name_of_case(const testing::TestParamInfo<bool>& of) { return of.param ? "Permanent" : "Streamed"; }
INSTANTIATE_TEST_SUITE_P(Permanence, TypesReloadTest, testing::Bool(), name_of_case);

}  // namespace
}  // namespace meridian
