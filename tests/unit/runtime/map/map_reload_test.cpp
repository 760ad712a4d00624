// SPDX-License-Identifier: MIT
// New versions of maps: MDS-5 (prepared aside, swapped in one update, rolled back on failure), MAP-4, MAP-6, P092,
// P094. Of type files: types_reload_test.cpp. Random ones: map_reload_random_test.cpp.
#include <gtest/gtest.h>

#include "unit/runtime/map/reload_kit.h"

namespace meridian {
namespace {

using test::MapText;
using test::ReloadKit;
using test::Seen;

constexpr NameHash kTown = hash_name("town");

std::vector<MapText::Item> stones(int count, float z = 0) {
  std::vector<MapText::Item> out;
  for (int i = 0; i < count; ++i) out.push_back({"stone", {static_cast<float>(i), 0, z}});
  return out;
}

/// A town, and a village below a far map.
struct MapReloadTest : testing::Test {
  MapReloadTest() {
    fill(kit);
    kit.map(town(1));
    kit.map(far(1));
    kit.map(near(1));
  }
  static void fill(ReloadKit& in) {
    in.types({.name = "props", .archetypes = {{"stone"}, {"tower", 400}, {"house", 200, 0, 6, {"stone", "stone"}}}});
  }
  static MapText town(uint32_t version) {
    return {.name = "town", .version = version, .entities = stones(2 + static_cast<int>(version))};
  }
  static MapText far(uint32_t version, uint32_t children = 2) {
    const auto at = static_cast<float>(version);
    return {.name = "far",
            .version = version,
            .range = 900,
            .entities = {{"tower", {at, 0, 0}, -1, children, 60 + at}},
            .sets = {{0, 60 + at, {{"near", children}}}}};
  }
  static MapText near(uint32_t version, int children = 2) {
    MapText out{.name = "near", .version = version, .parent = "far"};
    for (int i = 0; i < children; ++i) {
      out.entities.push_back({"stone", {static_cast<float>(i), static_cast<float>(version), 0}, 0});
    }
    return out;
  }
  void start(const test::ReloadConfig& config = {}) {
    kit.start(config);
    kit.settle();
  }
  Status reload(NameHash name = kTown) { return kit.streaming.reload_map(name); }
  MapStore& store() { return kit.streaming.maps(); }
  /// Updates one by one until no reload is under way; the town is always there, in one version.
  void finish(uint32_t version_before, uint32_t version_after) {
    bool is_new = false;
    for (int i = 0; i < 200 && store().reloads_under_way() > 0; ++i) {
      kit.update();
      const Seen seen = kit.seen();
      ASSERT_EQ(seen.count("town"), 1u) << "update " << i;
      const uint32_t version = seen.find("town")->second;
      EXPECT_TRUE(version == version_after || (version == version_before && !is_new)) << version;
      is_new = version == version_after && version_after != version_before;
    }
    EXPECT_EQ(store().reloads_under_way(), 0u);
    EXPECT_EQ(kit.seen().find("town")->second, version_after);
  }
  static void switch_off(ReloadKit& in, const char* map) {
    in.streaming.maps().set_off(in.slot(map), MapOff::manual, true);
    const uint32_t chunks = std::exchange(in.max_chunks, 0xFFFFFFFFu);
    for (int i = 0; i < 4; ++i) in.update();
    in.max_chunks = chunks;
    EXPECT_FALSE(in.sees(map));
  }
  /// The same files, never reloaded.
  void expect_like_a_fresh_world() {
    ReloadKit fresh;
    fill(fresh);
    for (const auto& [name, text] : kit.base.maps) fresh.map(text);
    fresh.start();
    fresh.settle();
    EXPECT_EQ(kit.picture(), fresh.picture());
  }

  test::CapturedLog log;
  ReloadKit kit;
};

// MDS-5: read slowly, made chunk by chunk: the old version until one update, the new one from then on.
TEST_F(MapReloadTest, TheNewVersionTakesItsPlaceInOneUpdate) {
  start();
  const uint64_t bytes = kit.memory.bytes();
  const uint32_t slot = kit.slot("town"), used = store().used();
  kit.max_chunks = 1;
  for (uint32_t version = 2; version < 5; ++version) {
    kit.map(town(version));
    kit.io.holds = true;
    EXPECT_TRUE(reload().ok());
    EXPECT_EQ(reload().code, StatusCode::in_use) << "twice";
    for (int i = 0; i < 4; ++i) {
      kit.update();
      EXPECT_EQ(kit.seen().count("town"), 1u);
      EXPECT_TRUE(kit.seen().contains("town") && kit.seen().find("town")->second == version - 1);
    }
    kit.io.holds = false;
    finish(version - 1, version);
    EXPECT_EQ(kit.slot("town"), slot);
    EXPECT_EQ(kit.contents("town")->slot(), slot);
    EXPECT_EQ(kit.contents("town")->node()->imap, slot);
    for (uint32_t i = 0; i < kit.contents("town")->entity_count(); ++i) {
      EXPECT_EQ(kit.contents("town")->entity(i)->imap(), slot);
    }
    EXPECT_EQ(store().used(), used) << "the slot beside is free again";
    EXPECT_EQ(kit.maps.loaded_maps(), 3u);
    EXPECT_EQ(store().reloads_done(), version - 1);
    expect_like_a_fresh_world();
  }
  EXPECT_EQ(store().reloads_failed(), 0u);
  kit.map(town(1));
  EXPECT_TRUE(reload().ok());
  finish(4, 1);
  EXPECT_EQ(kit.memory.bytes(), bytes) << "all is given back";
  EXPECT_EQ(log.count(), 0u) << log.all();
}

// Entities inside of interiors belong to the slot as well.
TEST_F(MapReloadTest, InteriorsComeAlong) {
  kit.map({.name = "town", .entities = {{.archetype = "house", .is_interior = true}}});
  start();
  EXPECT_EQ(kit.maps.interior_count(), 1u);
  kit.map({.name = "town", .version = 2, .entities = {{"stone"}, {.archetype = "house", .is_interior = true}}});
  EXPECT_TRUE(reload().ok());
  kit.settle();
  EXPECT_EQ(kit.maps.interior_count(), 1u);
  EXPECT_EQ(store().reloads_done(), 1u);
  uint32_t inside = 0;
  for (int32_t i = 0; i < static_cast<int32_t>(kMaxInteriors); ++i) {
    const Interior* const interior = kit.maps.interior(i);
    if (interior == nullptr) continue;
    for (uint32_t e = 0; e < interior->entity_count(); ++e) {
      ASSERT_NE(interior->entity(e), nullptr);
      EXPECT_EQ(interior->entity(e)->imap(), kit.slot("town"));
      ++inside;
    }
  }
  EXPECT_EQ(inside, 2u);
}

// Wishes and references stay with the slot, so does what others know of it.
TEST_F(MapReloadTest, WishesAndReferencesStay) {
  start();
  StreamingEngine& engine = kit.streaming.engine();
  engine.keep(kit.index("town"), StreamKeeper::script);
  engine.add_ref(kit.index("town"), StreamRef::script);
  engine.add_ref(kit.index("town"), StreamRef::render);
  kit.map(town(2));
  EXPECT_TRUE(reload().ok());
  finish(1, 2);
  EXPECT_TRUE(engine.is_kept(kit.index("town"), StreamKeeper::script));
  EXPECT_TRUE(engine.is_kept(kit.index("town"), StreamKeeper::box_streamer));
  EXPECT_FALSE(engine.is_kept(kit.index("town"), StreamKeeper::version));
  EXPECT_EQ(engine.refs(kit.index("town")), 2u);
  EXPECT_TRUE(store().streamer().is_resident({{-5, -5, -5}, {5, 5, 5}}));
  kit.camera.position = {5000, 0, 0};
  kit.settle();
  EXPECT_TRUE(kit.sees("town")) << "kept";
  engine.drop(kit.index("town"), StreamKeeper::script);
  engine.remove_ref(kit.index("town"), StreamRef::script);
  kit.settle();
  EXPECT_TRUE(kit.sees("town")) << "referred to";
  engine.remove_ref(kit.index("town"), StreamRef::render);
  kit.settle();
  EXPECT_EQ(kit.seen(), (Seen{})) << "far is wanted within 900 m only";
}

// MAP-6: listeners of the slot hear once that the old version's entities go, while they are there; the host as well.
TEST_F(MapReloadTest, ListenersHearThatTheOldVersionGoes) {
  struct Heard {
    ReloadKit* kit;
    std::vector<std::pair<ImapSlot, uint32_t>> told;  // slot, version
    int alive = 0;
  } heard{&kit, {}, 0};
  EntityHost host;
  host.on_create = [](void* user, Entity&) { ++static_cast<Heard*>(user)->alive; };
  host.on_destroy = [](void* user, Entity&) { --static_cast<Heard*>(user)->alive; };
  host.user = &heard;
  start({.host = host});
  EXPECT_EQ(heard.alive, 3 + 1 + 2);
  const auto listen = [](void* user, MapContents& in) {
    static_cast<Heard*>(user)->told.emplace_back(in.slot(), in.entity(0)->tint());
  };
  const MapUnloadListener of_town{listen, &heard, kit.slot("town")};
  ASSERT_TRUE(kit.maps.add_unload_listener(of_town).ok());
  kit.map(town(2));
  EXPECT_TRUE(reload().ok());
  finish(1, 2);
  EXPECT_EQ(heard.told, (std::vector<std::pair<ImapSlot, uint32_t>>{{kit.slot("town"), 1}}));
  EXPECT_EQ(heard.alive, 4 + 1 + 2);
  kit.streaming.shutdown();
  EXPECT_EQ(heard.alive, 0);
  EXPECT_EQ(heard.told.size(), 2u);
  kit.maps.remove_unload_listener(of_town);
}

// P064, MAP-4: a child's new version has the old one's place in its parent's LOD set, which stays ready throughout.
TEST_F(MapReloadTest, ChildrenAreReplacedBelowTheirParent) {
  start({.lod_ramp_seconds = 0.25f});
  const auto set = [&]() -> const LodSetRecord& {
    return *kit.maps.lod_sets().find(kit.contents("far")->lod_place(0).set);
  };
  EXPECT_EQ(set().ramp, 255u);
  kit.map(near(2));
  kit.max_chunks = 1;
  EXPECT_TRUE(reload(hash_name("near")).ok());
  for (int i = 0; i < 60 && store().reloads_under_way() > 0; ++i) {
    kit.update();
    EXPECT_TRUE(set().is_ready) << i;
    EXPECT_EQ(set().ramp, 255u) << i;
    EXPECT_EQ(kit.contents("far")->entity(0)->lod().bound_children, 2u) << i;
    EXPECT_EQ(kit.seen().count("near"), 1u);
  }
  EXPECT_EQ(store().reloads_done(), 1u);
  expect_like_a_fresh_world();
  EXPECT_EQ(log.count(), 0u) << log.all();
  // More children than the parent's file knows of: it waits for none that it does not list, and says so once.
  kit.map(near(3, 3));
  EXPECT_TRUE(reload(hash_name("near")).ok());
  kit.settle(40);
  EXPECT_EQ(kit.contents("far")->entity(0)->lod().bound_children, 3u);
  EXPECT_EQ(test::count_said(log, "declares 2 children, and has 3"), 1u) << log.all();
}

// P092, P094: children are bound to a parent's new version, with its pivots and distances.
TEST_F(MapReloadTest, ParentsAreReplacedAboveTheirChildren) {
  start();
  for (uint32_t version = 2; version < 4; ++version) {
    kit.map(far(version));
    kit.max_chunks = 1;
    EXPECT_TRUE(reload(hash_name("far")).ok());
    for (int i = 0; i < 60 && store().reloads_under_way() > 0; ++i) {
      kit.update();
      EXPECT_EQ(kit.seen().count("far"), 1u);
      EXPECT_EQ(kit.seen().count("near"), 1u);
      const MapContents& near_map = *kit.contents("near");
      EXPECT_EQ(near_map.parent(), kit.contents("far"));
      for (uint32_t e = 0; e < 2; ++e) {
        EXPECT_EQ(near_map.lod_parent(*near_map.entity(e)), kit.contents("far")->entity(0));
      }
    }
    EXPECT_EQ(kit.contents("far")->entity(0)->tint(), version);
    expect_like_a_fresh_world();
  }
  // Both at once.
  kit.map(far(4, 3));
  kit.map(near(4, 3));
  EXPECT_TRUE(reload(hash_name("near")).ok());
  EXPECT_TRUE(reload(hash_name("far")).ok());
  kit.settle(60);
  EXPECT_EQ(store().reloads_done(), 4u);
  expect_like_a_fresh_world();
}

// The parent comes, and goes, while a child's new version is made.
TEST_F(MapReloadTest, TheParentComesAndGoesMeanwhile) {
  kit.map({.name = "near", .parent = "far", .range = 3000, .entities = near(1).entities});
  for (const bool comes : {true, false}) {
    SCOPED_TRACE(comes);
    ReloadKit now;
    fill(now);
    for (const auto& [name, text] : kit.base.maps) now.map(text);
    now.start();
    now.settle();
    if (comes) switch_off(now, "far");
    MapText text = now.base.maps.at("near");
    text.version = 2;
    text.entities = near(2).entities;
    now.map(text);
    now.max_chunks = 1;
    EXPECT_TRUE(now.streaming.reload_map(hash_name("near")).ok());
    now.update();
    now.update();
    if (comes) {
      now.streaming.maps().set_off(now.slot("far"), MapOff::manual, false);
    } else {
      switch_off(now, "far");
    }
    now.max_chunks = 0xFFFFFFFF;
    now.settle(20);
    EXPECT_EQ(now.streaming.maps().reloads_done(), 1u);
    MapContents& child = *now.contents("near");
    EXPECT_EQ(child.parent(), now.contents("far"));
    EXPECT_EQ(child.parent() != nullptr, comes);
    for (uint32_t i = 0; i < 2; ++i) {
      EXPECT_EQ(child.entity(i)->tint(), 2u);
      EXPECT_EQ(child.lod_parent(*child.entity(i)) != nullptr, comes);
    }
    if (!comes) continue;
    ReloadKit fresh;
    fill(fresh);
    for (const auto& [name, map] : now.base.maps) fresh.map(map);
    fresh.start();
    fresh.settle(20);
    EXPECT_EQ(now.picture(), fresh.picture());
  }
}

/// Why a new version cannot be had.
enum class Fault { damaged, read, full_pool, full_maps };

struct MapReloadFaultTest : MapReloadTest, testing::WithParamInterface<Fault> {};

// The old version stays and all else too, it is told once, all memory comes back, and mended it goes.
TEST_P(MapReloadFaultTest, TheOldVersionStays) {
  const Fault fault = GetParam();
  test::ReloadConfig config;
  if (fault == Fault::full_maps) config.max_maps = 3;  // the world is full: nothing gives way
  if (fault == Fault::full_pool) config.streamed_nodes = 3;
  start(config);
  const std::vector<std::string> before = kit.picture();
  const uint64_t bytes = kit.memory.bytes();
  const uint32_t used = store().used();
  kit.map(town(2));
  const std::vector<std::byte> good = kit.base.files.at(kind_of("IMAP"), kTown);
  for (int round = 0; round < 2; ++round) {
    log.clear();
    if (fault == Fault::damaged) kit.damage_map("town");
    kit.io.holds = fault == Fault::read;
    EXPECT_TRUE(reload().ok());
    for (int i = 0; i < 100; ++i) {
      kit.update();
      EXPECT_EQ(kit.picture(), before) << i;
      EXPECT_EQ(kit.seen(), (Seen{{"far", 1}, {"near", 1}, {"town", 1}})) << i;
      if (i == 2) kit.io.fail();
    }
    EXPECT_EQ(store().reloads_under_way(), 0u);
    EXPECT_EQ(store().reloads_failed(), static_cast<uint64_t>(round + 1));
    EXPECT_EQ(store().used(), used);
    EXPECT_EQ(kit.memory.bytes(), bytes);
    EXPECT_EQ(test::count_said(log, ": the new version is not used"), 1u) << log.all();
  }
  // Mended.
  kit.io.holds = false;
  kit.base.files.put(kind_of("IMAP"), kTown, good);
  if (fault == Fault::full_maps) kit.streaming.engine().set_max_loaded(1, 4);
  if (fault == Fault::full_pool) {  // the far map leaves
    kit.streaming.maps().set_off(kit.slot("near"), MapOff::manual, true);
    kit.settle();
  }
  EXPECT_TRUE(reload().ok());
  finish(1, 2);
  EXPECT_EQ(store().reloads_done(), 1u);
}

std::string name_of_fault(const testing::TestParamInfo<Fault>& fault) {
  static const char* const kNames[] = {"Damaged", "Read", "FullPool", "FullMaps"};
  return kNames[static_cast<unsigned>(fault.param)];
}
INSTANTIATE_TEST_SUITE_P(Faults, MapReloadFaultTest,
                         testing::Values(Fault::damaged, Fault::read, Fault::full_pool, Fault::full_maps),
                         name_of_fault);

// Not while the world is locked; nothing is lost.
TEST_F(MapReloadTest, WaitsForTheUnlock) {
  start();
  kit.map(town(2));
  EXPECT_TRUE(reload().ok());
  kit.update();
  while (kit.streaming.engine().update({}).chunks > 0) {
  }
  kit.graph.lock();
  for (int i = 0; i < 3; ++i) store().update_reloads();
  kit.graph.unlock();
  EXPECT_EQ(kit.seen().find("town")->second, 1u);
  finish(1, 2);
}

// What is not loaded only forgets its bytes; what loads, begins anew; what leaves, leaves.
TEST_F(MapReloadTest, WhileItIsNotThereItOnlyForgets) {
  EXPECT_EQ((start(), reload(hash_name("nowhere")).code), StatusCode::not_found);
  const auto leave = [&](bool leaves) {
    kit.camera.position = leaves ? Vec3{5000, 0, 0} : Vec3{};
    kit.settle();
  };
  leave(true);
  EXPECT_FALSE(kit.sees("town"));
  kit.map(town(2));
  EXPECT_TRUE(reload().ok());
  EXPECT_EQ(store().reloads_under_way(), 0u);
  leave(false);
  EXPECT_EQ(kit.seen().find("town")->second, 2u);
  // While it is read: the device has not looked yet, or is half done.
  for (uint32_t version = 3; version < 9; ++version) {
    SCOPED_TRACE(version);
    leave(true);
    EXPECT_TRUE(reload().ok());
    kit.max_chunks = 1;
    kit.camera.position = {};
    for (uint32_t i = 3; i < version; ++i) kit.update();
    kit.map(town(version));
    EXPECT_TRUE(reload().ok());
    for (int i = 0; i < 20; ++i) {
      kit.update();
      EXPECT_LE(kit.seen().count("town"), 1u);
    }
    kit.max_chunks = 0xFFFFFFFF;
    kit.settle();
    EXPECT_EQ(kit.seen().find("town")->second, version);
  }
  // While it leaves.
  kit.map(town(9));
  kit.camera.position = {5000, 0, 0};
  kit.max_chunks = 0;
  kit.update();
  EXPECT_EQ(kit.state("town"), StreamState::leaving);
  EXPECT_TRUE(reload().ok());
  kit.max_chunks = 0xFFFFFFFF;
  leave(false);
  EXPECT_EQ(kit.seen().find("town")->second, 9u);
}

// The camera goes while the new version is read: both go, and the new one comes back.
TEST_F(MapReloadTest, TheOldVersionLeavesMeanwhile) {
  start();
  for (const bool returns : {false, true}) {
    SCOPED_TRACE(returns);
    const uint32_t version = returns ? 3 : 2;
    kit.map(town(version));
    kit.io.holds = true;
    EXPECT_TRUE(reload().ok());
    kit.update();
    kit.camera.position = {5000, 0, 0};
    kit.settle(4);
    EXPECT_FALSE(kit.sees("town"));
    if (returns) {
      kit.camera.position = {};
      kit.settle(2);
    }
    kit.io.holds = false;
    kit.settle();
    EXPECT_EQ(store().reloads_under_way(), 0u);
    EXPECT_EQ(kit.sees("town"), returns);
    kit.camera.position = {};
    kit.settle();
    EXPECT_EQ(kit.seen().find("town")->second, version);
  }
}

// Two maps, and one after the other; more than fit are refused.
TEST_F(MapReloadTest, AsManyAsFit) {
  static const char* const kNames[] = {"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8"};
  for (const char* const name : kNames) kit.map({.name = name, .entities = stones(1)});
  start();
  kit.io.holds = true;
  for (uint32_t i = 0; i < MapStore::kMaxReloads; ++i) {
    kit.map({.name = kNames[i], .version = 2, .entities = stones(1)});
    EXPECT_TRUE(reload(hash_name(kNames[i])).ok());
  }
  EXPECT_EQ(reload(hash_name("m8")).code, StatusCode::out_of_slots);
  kit.io.holds = false;
  kit.settle();
  const Seen seen = kit.seen();
  for (uint32_t i = 0; i < 9; ++i) EXPECT_EQ(seen.find(kNames[i])->second, i < MapStore::kMaxReloads ? 2u : 1u);
  EXPECT_TRUE(reload(hash_name("m8")).ok());
  kit.settle();
}

// A map that is preloaded for a swap is as hidden in its new version.
TEST_F(MapReloadTest, DuringASwapBothSidesMayBeReplaced) {
  kit.map({.name = "ruins", .is_manual = true, .entities = stones(2)});
  start();
  const Result<uint32_t> swap = kit.streaming.begin_swap(kTown, hash_name("ruins"), {.waits = true});
  ASSERT_TRUE(swap.ok());
  kit.settle();
  kit.map({.name = "ruins", .version = 2, .is_manual = true, .entities = stones(3)});
  kit.map(town(2));
  EXPECT_TRUE(reload(hash_name("ruins")).ok());
  EXPECT_TRUE(reload().ok());
  for (int i = 0; i < 12; ++i) {
    kit.update();
    EXPECT_EQ(kit.seen().count("town"), 1u);
    EXPECT_FALSE(kit.sees("ruins"));
  }
  EXPECT_EQ(store().reloads_done(), 2u);
  EXPECT_EQ(kit.contents("ruins")->entity(0)->tint(), 2u);
  EXPECT_TRUE(kit.streaming.groups().commit_swap(swap.value()).ok());
  EXPECT_EQ(kit.seen(), (Seen{{"far", 1}, {"near", 1}, {"ruins", 2}}));
  kit.settle();
  EXPECT_EQ(kit.seen(), (Seen{{"far", 1}, {"near", 1}, {"ruins", 2}}));
}

// P089: layers come and go meanwhile; what is in force in the end is what the mounts say, and nothing is used after it
// has gone.
TEST_F(MapReloadTest, LayersComeAndGoMeanwhile) {
  start();
  test::LayerText layer;
  layer.put({.name = "town", .version = 9, .entities = stones(2)});
  layer.put({.name = "extra", .version = 9, .entities = stones(2)});
  for (int stage = 0; stage < 4; ++stage) {
    SCOPED_TRACE(stage);
    kit.map(town(2));
    kit.io.holds = stage % 2 == 0;
    kit.max_chunks = 1;
    EXPECT_TRUE(reload().ok());
    for (int i = 0; i < stage; ++i) kit.update();
    const MountId mount = kit.mount(layer);
    kit.io.holds = false;
    kit.max_chunks = 0xFFFFFFFF;
    kit.settle(20);
    EXPECT_EQ(kit.seen(), (Seen{{"extra", 9}, {"far", 1}, {"near", 1}, {"town", 9}}));
    EXPECT_EQ(store().reloads_under_way(), 0u);
    // And away while new versions of both are made.
    kit.io.holds = stage % 2 == 0;
    EXPECT_TRUE(reload().ok());
    EXPECT_TRUE(reload(hash_name("extra")).ok());
    for (int i = 0; i < stage; ++i) kit.update();
    EXPECT_TRUE(kit.streaming.begin_unmount(mount).ok());
    for (int i = 0; i < 4; ++i) kit.update();
    kit.io.holds = false;
    kit.settle(20);
    EXPECT_FALSE(kit.streaming.is_unmounting());
    EXPECT_EQ(store().reloads_under_way(), 0u);
    EXPECT_EQ(kit.seen(), (Seen{{"far", 1}, {"near", 1}, {"town", 2}}));
    EXPECT_EQ(kit.slot("extra"), kNoStreamSlot);
    EXPECT_EQ(kit.maps.loaded_maps(), 3u);
  }
}

TEST_F(MapReloadTest, ShutsDownInEachState) {
  for (int stage = 0; stage < 8; ++stage) {
    SCOPED_TRACE(stage);
    ReloadKit other;
    fill(other);
    for (const auto& [name, text] : kit.base.maps) other.map(text);
    other.start();
    other.settle();
    other.max_chunks = 1;
    other.map(near(2));
    other.map(far(2));
    EXPECT_TRUE(other.streaming.reload_map(hash_name("near")).ok());
    EXPECT_TRUE(other.streaming.reload_map(hash_name("far")).ok());
    for (int i = 0; i < stage; ++i) other.update();
    other.streaming.shutdown();
    EXPECT_EQ(other.maps.loaded_maps(), 0u);
  }  // CheckedMemory counts
}

}  // namespace
}  // namespace meridian
