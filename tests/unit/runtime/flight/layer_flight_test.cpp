// SPDX-License-Identifier: MIT
// P089, STR-6, ARCH-7, MDS-1: what is laid over a world in flight, and what is left when it goes.
#include <algorithm>
#include <set>

#include "unit/runtime/flight/flight_kit.h"

namespace meridian::test {
namespace {

const Vec3 kEye{125, 125, 2};  // in hd_2_2

/// What searches find: archetypes, places and the distances up to which they are drawn.
std::multiset<std::string> found_at(FlightKit& kit, const Vec3& at, float radius) {
  std::vector<EntityHandle> handles(4096);
  SearchResult result;
  kit.world.lock();
  EXPECT_TRUE(kit.world.search_now({.volume = sphere_volume(at, radius)}, handles, result).ok());
  std::multiset<std::string> out;
  for (uint32_t i = 0; i < result.stored; ++i) {
    const Entity& e = *kit.table.get(handles[i]);
    char text[120];
    std::snprintf(text, sizeof(text), "%08x at %.2f %.2f %.2f to %.1f", e.archetype()->name().value,
                  static_cast<double>(e.position().x), static_cast<double>(e.position().y),
                  static_cast<double>(e.position().z), static_cast<double>(e.archetype()->traits().lod_distance));
    out.insert(text);
  }
  kit.world.unlock();
  return out;
}

float distance_of(const FlightKit& kit, const char* archetype) {
  const Archetype* const a = kit.archetypes.find(hash_name(archetype));
  return a != nullptr ? a->traits().lod_distance : 0;
}

/// hd_2_2 with its first entity elsewhere, and "near" with houses that are seen from farther away.
WorldPlan overlay(const WorldPlan& base) {
  WorldPlan out;
  out.maps.push_back(base.map("hd_2_2"));
  out.maps[0].entities[0].at = {130, 130, 7};
  out.types.push_back({.name = "near", .archetypes = {{"house", 200}}});
  out.types.push_back({.name = "edge_2", .archetypes = {{"fence_2", 45}}});
  return out;
}

void unmount(FlightKit& kit, MountId mount, const Vec3& eye) {
  ASSERT_TRUE(kit.streaming.begin_unmount(mount).ok());
  for (uint32_t i = 0; i < 300 && kit.streaming.is_unmounting(); ++i) ASSERT_TRUE(kit.frame(eye).ok());
  EXPECT_FALSE(kit.streaming.is_unmounting());
  EXPECT_FALSE(kit.mounts.info(mount).ok()) << "the mount is gone";
}

}  // namespace

TEST(LayerFlight, AnOverlayThatGoesLeavesTheWorldAsItWas) {
  const WorldPlan base = grid_world({});
  FlightKit never, kit;
  never.start();
  never.mount(base, true);
  never.settle(kEye);
  kit.start();
  kit.mount(base, true);
  kit.settle(kEye);
  for (int round = 0; round < 3; ++round) {
    const MountId over = kit.mount(overlay(base));
    kit.settle(kEye);
    EXPECT_EQ(distance_of(kit, "house"), 200);
    EXPECT_EQ(distance_of(kit, "fence_2"), 45);
    EXPECT_EQ(kit.contents("hd_2_2")->entity(0)->position(), (Vec3{130, 130, 7}));
    EXPECT_NE(found_at(kit, kEye, 100), found_at(never, kEye, 100));
    unmount(kit, over, kEye);
    kit.settle(kEye);
    EXPECT_EQ(distance_of(kit, "house"), 60);
    EXPECT_EQ(distance_of(kit, "fence_2"), 40);
    EXPECT_EQ(kit.picture(base), never.picture(base));
    EXPECT_EQ(found_at(kit, kEye, 300), found_at(never, kEye, 300));
    EXPECT_FALSE(found_at(kit, kEye, 300).empty());
  }
  // Away and back, so that nothing depends on what was loaded when.
  for (FlightKit* const each : {&kit, &never}) {
    each->leave();
    each->settle(kEye);
  }
  EXPECT_EQ(kit.picture(base), never.picture(base));
  EXPECT_EQ(kit.counts().archetypes, never.counts().archetypes);
  EXPECT_EQ(kit.counts().maps, never.counts().maps);
  EXPECT_EQ(kit.counts().lod_sets, never.counts().lod_sets);
}

// ARCH-6, P089: a file that is permanent in the base is overridden like any other.
TEST(LayerFlight, APermanentTypeFileIsOverriddenAndRestored) {
  const WorldPlan base = grid_world({});
  for (const bool is_permanent : {false, true}) {
    SCOPED_TRACE(is_permanent ? "permanent above" : "streamed above");
    FlightKit kit;
    kit.start();
    kit.mount(base, true);
    kit.settle(kEye);
    const auto before = kit.picture(base);
    WorldPlan over;
    over.types.push_back({.name = "far", .archetypes = {{"block", 350}, {"quarter", 2500}}});
    over.types[0].is_permanent = is_permanent;
    const MountId first = kit.mount(over);
    kit.settle(kEye);
    EXPECT_EQ(distance_of(kit, "block"), 350);
    EXPECT_TRUE(kit.has("lod_1_1"));
    over.types[0].archetypes[0].lod = 370;
    const MountId second = kit.mount(over);  // and that one again
    kit.settle(kEye);
    EXPECT_EQ(distance_of(kit, "block"), 370);
    unmount(kit, first, kEye);  // from the middle
    kit.settle(kEye);
    EXPECT_EQ(distance_of(kit, "block"), 370);
    EXPECT_TRUE(kit.has("lod_1_1"));
    unmount(kit, second, kEye);
    kit.settle(kEye);
    EXPECT_EQ(distance_of(kit, "block"), 300);
    EXPECT_EQ(distance_of(kit, "quarter"), 2000);
    EXPECT_EQ(kit.picture(base), before);
    EXPECT_EQ(kit.streaming.permanent_left(), 0u);
    EXPECT_EQ(kit.archetypes.permanent_used(), 2u);
  }
}

TEST(LayerFlight, AMountMayGoWhileItIsRead) {
  const WorldPlan base = grid_world({});
  for (uint32_t wait = 0; wait < 12; ++wait) {
    SCOPED_TRACE(wait);
    FlightKit kit;
    kit.start();
    kit.mount(base, true);
    kit.settle(kEye);
    const auto before = kit.picture(base);
    const auto searched = found_at(kit, kEye, 300);
    kit.shuffled.set_seed(wait);
    kit.shuffled.per_update = 1;
    kit.max_chunks = 2;
    const MountId over = kit.mount(overlay(base));
    kit.frames(wait, kEye);
    unmount(kit, over, kEye);
    kit.settle(kEye);
    EXPECT_EQ(kit.picture(base), before);
    EXPECT_EQ(found_at(kit, kEye, 300), searched);
  }
}

TEST(LayerFlight, AShutdownMayComeInTheMiddleOfAnUnmount) {
  const WorldPlan base = grid_world({});
  for (uint32_t wait = 0; wait < 6; ++wait) {
    FlightKit kit;
    kit.start();
    kit.mount(base, true);
    kit.settle(kEye);
    const MountId over = kit.mount(overlay(base));
    kit.settle(kEye);
    kit.max_chunks = 1;
    ASSERT_TRUE(kit.streaming.begin_unmount(over).ok());
    kit.frames(wait, kEye);
    kit.streaming.shutdown();
    EXPECT_EQ(kit.maps.loaded_maps(), 0u);
    EXPECT_EQ(kit.archetypes.streamed_used() + kit.archetypes.permanent_used(), 0u);
  }
}

// STR-6: a patch takes a map away, also while another layer leaves.
TEST(LayerFlight, APatchTakesAMapAwayUntilItGoes) {
  const WorldPlan base = grid_world({});
  FlightKit kit;
  kit.start();
  kit.mount(base, true);
  kit.settle(kEye);
  const auto before = kit.picture(base);
  WorldPlan patch;
  patch.removed = {"hd_2_2"};
  const MountId gone = kit.mount(patch);
  const MountId over = kit.mount({.types = {{.name = "extra", .archetypes = {{"extra", 10}}}}});
  kit.settle(kEye);
  EXPECT_FALSE(kit.has("hd_2_2"));
  EXPECT_EQ(kit.streaming.explain_map(hash_name("hd_2_2")).reason, ExplainReason::removed);
  // The LOD of its place stays.
  EXPECT_TRUE(kit.has("lod_1_1"));
  kit.max_chunks = 1;
  ASSERT_TRUE(kit.streaming.begin_unmount(over).ok());
  for (uint32_t i = 0; i < 40; ++i) {
    ASSERT_TRUE(kit.frame(kEye).ok());
    EXPECT_FALSE(kit.has("hd_2_2"));
    EXPECT_EQ(kit.streaming.explain_map(hash_name("hd_2_2")).reason, ExplainReason::removed);
  }
  EXPECT_FALSE(kit.streaming.is_unmounting());
  unmount(kit, gone, kEye);
  kit.settle(kEye);
  EXPECT_EQ(kit.picture(base), before);
}

TEST(LayerFlight, LooseFilesWithoutAnIndexCoverThePack) {
  const WorldPlan base = grid_world({});
  FlightKit kit;
  kit.start();
  kit.mount(base, true);
  kit.settle(kEye);
  const auto before = kit.picture(base);
  WorldPlan loose = overlay(base);
  loose.maps.push_back({.name = "shed", .content = 1});
  loose.maps[1].box = {{110, 110, 0}, {120, 120, 5}};
  loose.maps[1].range = grown(loose.maps[1].box, 20);
  loose.maps[1].entities = {{.archetype = "shed", .at = {115, 115, 1}}, {.archetype = "house", .at = {112, 112, 1}}};
  loose.types.push_back({.name = "sheds", .archetypes = {{"shed", 33}}});
  const TempDir folder;
  loose.write(folder);
  const Result<MountId> mounted = kit.mounts.mount_folder(folder.path().c_str());
  ASSERT_TRUE(mounted.ok());
  ASSERT_TRUE(kit.streaming.mount(mounted.value()).ok());
  kit.settle(kEye);
  EXPECT_TRUE(kit.has("shed"));
  EXPECT_EQ(kit.contents("shed")->created(), 2u);
  EXPECT_EQ(kit.contents("hd_2_2")->entity(0)->position(), (Vec3{130, 130, 7}));
  EXPECT_EQ(kit.contents("hd_2_2")->created(), 4u);
  EXPECT_EQ(distance_of(kit, "house"), 200);
  // A pack above the folder counts for more: its box, and its bytes.
  WorldPlan above;
  above.maps.push_back(base.map("hd_2_2"));
  above.maps[0].range = grown(above.maps[0].box, 400);
  above.maps[0].entities[0].at = {101, 102, 3};
  const MountId top = kit.mount(above);
  kit.settle(kEye);
  EXPECT_EQ(kit.contents("hd_2_2")->entity(0)->position(), (Vec3{101, 102, 3}));
  kit.settle({500, 125, 2});
  EXPECT_TRUE(kit.has("hd_2_2"));
  EXPECT_EQ(kit.streaming.maps().streamer().range_box(kit.slot("hd_2_2")), above.maps[0].range);
  unmount(kit, top, kEye);
  EXPECT_EQ(kit.streaming.maps().streamer().range_box(kit.slot("hd_2_2")), base.map("hd_2_2").range);
  unmount(kit, mounted.value(), kEye);
  kit.leave();  // what lingers from the place beside it goes too
  kit.settle(kEye);
  EXPECT_EQ(kit.picture(base), before);
  EXPECT_EQ(kit.slot("shed"), kNoStreamSlot);
}

TEST(LayerFlight, LooseMapsFindTheirTypeFilesByArchetypes) {
  FlightKit kit;
  kit.start();
  kit.mount(grid_world({}), true);
  WorldPlan loose;
  loose.maps.push_back({.name = "kiosk", .range = {{0, 0, 0}, {900, 900, 9}}, .box = {{0, 0, 0}, {9, 9, 9}}});
  loose.maps[0].entities = {{.archetype = "fence_5", .at = {5, 5, 1}}};
  loose.maps[0].grass = {"fence_6"};
  const TempDir folder;
  loose.write(folder);
  const Result<MountId> mounted = kit.mounts.mount_folder(folder.path().c_str());
  ASSERT_TRUE(mounted.ok());
  ASSERT_TRUE(kit.streaming.mount(mounted.value()).ok());
  kit.settle({600, 600, 2});
  ASSERT_TRUE(kit.has("kiosk"));
  EXPECT_EQ(kit.contents("kiosk")->created(), 1u);
  EXPECT_NE(kit.contents("kiosk")->batch(0), nullptr);
  std::set<uint32_t> needs;
  for (const NameHash n : kit.streaming.maps().definition(kit.slot("kiosk")).dependencies) needs.insert(n.value);
  // The fences' own files, and what those need.
  EXPECT_EQ(needs, (std::set<uint32_t>{hash_name("edge_5").value, hash_name("edge_6").value, hash_name("near").value}));
}

TEST(LayerFlight, ALooseFileThatCannotBeOpenedIsToldOnceAndStreamsNowhere) {
  const CapturedLog log;
  FlightKit kit;
  kit.start();
  kit.mount(grid_world({}), true);
  WorldPlan loose;
  loose.maps.push_back({.name = "ruin", .range = {{0, 0, 0}, {9, 9, 9}}, .box = {{0, 0, 0}, {9, 9, 9}}});
  loose.maps[0].is_corrupt = true;
  const TempDir folder;
  loose.write(folder);
  const Result<MountId> mounted = kit.mounts.mount_folder(folder.path().c_str());
  ASSERT_TRUE(mounted.ok());
  ASSERT_TRUE(kit.streaming.mount(mounted.value()).ok());
  kit.settle({0, 0, 0});
  uint32_t told = 0;
  for (const Said& said : log.said()) told += said.name == hash_name("ruin") ? 1 : 0;
  EXPECT_EQ(told, 1u) << log.all();
  EXPECT_TRUE(kit.streaming.maps().streamer().is_resident({{1, 1, 1}, {2, 2, 2}}));
}

// MAP-4, P094: a world that comes later has children of the first one's parents.
TEST(LayerFlight, ASecondIndexMayHaveChildrenOfTheFirstOnes) {
  const WorldPlan base = grid_world({});
  FlightKit kit;
  kit.start();
  kit.mount(base, true);
  kit.settle(kEye);
  const auto before = kit.picture(base);
  WorldPlan more;
  more.types.push_back({.name = "new_types", .archetypes = {{"tower", 90}}});
  PlanMap map{.name = "new_town", .parent = "lod_1_1"};
  map.box = {{110, 110, 0}, {120, 120, 5}};
  map.range = grown(map.box, 60);
  map.types = {"near", "new_types"};
  map.entities = {{.archetype = "tower",
                   .at = {115, 115, 1},
                   .level = schema::LodLevel::HD,
                   .parent = 0,
                   .in_parent = true,
                   .lod = 60}};
  more.maps.push_back(map);
  const MountId second = kit.mount(more);
  kit.settle(kEye);
  ASSERT_TRUE(kit.has("new_town"));
  EXPECT_EQ(kit.contents("new_town")->lod_parent(*kit.contents("new_town")->entity(0)),
            kit.contents("lod_1_1")->entity(0));
  // The parent's layer stays when the child's goes, and the other way round the child would lose its link.
  unmount(kit, second, kEye);
  kit.settle(kEye);
  EXPECT_EQ(kit.picture(base), before);
  EXPECT_EQ(kit.archetypes.find(hash_name("tower")), nullptr);
}

TEST(LayerFlight, ThereMayBeAsManyLayersAsTheConfigSays) {
  FlightKit kit;
  kit.config.max_layers = 24;
  kit.start();
  const WorldPlan base = grid_world({.columns = 4, .rows = 4});
  std::vector<MountId> mounts{kit.mount(base, true)};
  for (uint32_t i = 1; i < 24; ++i) {
    WorldPlan over;
    over.maps.push_back(base.map("hd_1_1"));
    over.maps[0].entities[0].at.z = static_cast<float>(i);
    mounts.push_back(kit.mount(over));
  }
  const Vec3 eye{75, 75, 2};
  kit.settle(eye);
  EXPECT_EQ(kit.contents("hd_1_1")->entity(0)->position().z, 23);
  while (mounts.size() > 1) {
    unmount(kit, mounts.back(), eye);
    mounts.pop_back();
  }
  kit.settle(eye);
  EXPECT_EQ(kit.contents("hd_1_1")->entity(0)->position().z, 1);
}

// What cannot be mounted leaves no trace.
TEST(LayerFlight, AMountThatIsRefusedChangesNothing) {
  const CapturedLog log;
  const WorldPlan base = grid_world({.columns = 4, .rows = 4});
  const Vec3 eye{75, 75, 2};
  FlightKit kit;
  kit.config.map_slots = 40;
  kit.start();
  kit.mount(base, true);
  kit.settle(eye);
  const auto before = kit.picture(base);
  const FlightCounts counts = kit.counts();
  {
    WorldPlan circle;
    circle.types = {{.name = "edge_1", .archetypes = {{"fence_1", 40}}, .needs = {"near"}},
                    {.name = "near", .archetypes = {{"house", 99}}, .needs = {"edge_1"}}};
    const MountId id = kit.add_pack(circle);
    const Status refused = kit.streaming.mount(id);
    EXPECT_EQ(refused.code, StatusCode::bad_structure);
    EXPECT_NE(log.all().find("->"), std::string::npos) << log.all();
    kit.settle(eye);
    EXPECT_EQ(distance_of(kit, "house"), 60);
    EXPECT_TRUE(kit.mounts.unmount(id).ok());
  }
  {
    WorldPlan many;  // more than there are slots; one of them stands above one of the base
    many.maps.push_back(base.map("hd_1_1"));
    many.maps[0].entities[0].at.z = 9;
    for (int i = 0; i < 40; ++i) {
      many.maps.push_back({.name = "loose_" + std::to_string(i), .range = {{0, 0, 0}, {9, 9, 9}}});
    }
    const TempDir folder;
    many.write(folder);
    const Result<MountId> id = kit.mounts.mount_folder(folder.path().c_str());
    ASSERT_TRUE(id.ok());
    EXPECT_EQ(kit.streaming.mount(id.value()).code, StatusCode::out_of_slots);
    kit.settle(eye);
    EXPECT_TRUE(kit.mounts.unmount(id.value()).ok());
  }
  kit.settle(eye);
  EXPECT_EQ(kit.picture(base), before);
  EXPECT_EQ(kit.streaming.maps().used(), base.maps.size());
  EXPECT_EQ(kit.counts().maps, counts.maps);
  EXPECT_EQ(kit.counts().archetypes, counts.archetypes);
}

}  // namespace meridian::test
