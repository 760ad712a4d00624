// SPDX-License-Identifier: MIT
// Random operations over maps that load in steps side by side (STR-4, MAP-4, MAP-5, ARCH-7, ENTY-10, SG-4, SG-8): each
// is compared with one that is loaded at once at the moment when it is done, searches with what entities say, and all
// pools with what they were.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "unit/runtime/map/map_picture.h"

namespace meridian {
namespace {

constexpr uint32_t kMaps = 7, kParents = 2;  // maps 0 and 1 hold LODs of the others, by i % 2
constexpr ImapSlot kTwin = 90;

NameHash thing(uint32_t i) { return hash_name(("thing_" + std::to_string(i)).c_str()); }

struct Model {
  MapContents* contents = nullptr;
  bool is_done = false;
  std::set<uint32_t> gone;
};

class RandomSteps : public testing::TestWithParam<uint32_t> {
 protected:
  RandomSteps() : engine(GetParam()) {
    for (uint32_t i = 0; i < 3; ++i) props.base(thing(i), {.lod = 60 + 10 * static_cast<float>(i)});
    props.time(thing(3), 0x000F0F, {.lod = 80});
    props.base(thing(5), {.lod = 400}).base(thing(6), {.lod = 45});
    test::InteriorItem shop{.name = hash_name("shop")};
    shop.archetype.lod = 90;
    shop.rooms = {{}, {.min = {0, 0, 0}, .max = {4, 4, 3}, .objects = {0, 2}}};
    shop.portals = {{.from = 1, .to = 0, .corners = {{0, 1, 0}, {0, 1, 2}, {0, 2, 2}, {0, 2, 0}}, .objects = {1}}};
    for (uint32_t i = 0; i < 6; ++i) {
      shop.entities.push_back({.archetype = thing(i), .at = {static_cast<float>(i), 1, 0}});
    }
    props.interiors = {shop};
    above.base(thing(1), {.lod = 200, .bb_min = {-9, -9, -9}}).base(thing(6), {.lod = 33});
    later.base(thing(4), {.lod = 70});
    for (uint32_t m = 0; m < kMaps; ++m) makers.push_back(make_map(m));
    kit.door_capacity = 1000;  // a full pool gives extensions to whoever comes first
  }
  uint32_t below(uint32_t end) { return static_cast<uint32_t>(engine() % end); }
  float number(float low, float high) { return low + (high - low) * static_cast<float>(engine() % 4096) / 4096; }

  test::MapMaker make_map(uint32_t m) {
    test::MapMaker out{.name = hash_name(("map_" + std::to_string(m)).c_str())};
    const uint32_t count = m < kParents ? 5 : 30 + 90 * (m - kParents);
    for (uint32_t i = 0; i < count; ++i) {
      test::EntityItem e{.archetype = m < kParents ? thing(5) : thing(below(5))};
      e.at = {number(-300, 300), number(-300, 300), number(0, 20)};
      e.rotation = test::about_z(number(0, 360));
      if (m < kParents) {
        e.level = schema::LodLevel::LOD;
        e.children = 100000;
        out.lod_sets.push_back({i, 100 + 10 * static_cast<float>(i)});
      } else if (below(3) == 0) {
        e.flags = test::kInParent;
        e.parent = static_cast<int32_t>(below(7));  // 5 and 6 are not there
        e.level = schema::LodLevel::HD;
      } else if (i > 0 && below(4) == 0) {
        e.parent = 0;
        e.level = schema::LodLevel::HD;
      }
      if (i == 0) e.children = 100000;
      out.add(e);
      if (below(20) == 0) out.extensions.push_back({i, schema::ExtensionDef::DoorDef});
    }
    if (m % 2 == 1 && m > kParents) {
      out.add_interior({.archetype = hash_name("shop"), .at = {number(-300, 300), number(-300, 300), 0}});
    }
    for (uint32_t i = 0; i < m % 4; ++i) {
      const Vec3 at{number(-300, 300), number(-300, 300), 0};
      out.grass.push_back(
          {.plant = i == 2 ? thing(4) : thing(6), .box = {at, at + Vec3{10, 20, 3}}, .distance = 50 * i});
    }
    out.prop_lists = m == 4 ? 1 : 0;
    return out;
  }

  MapContents* parent_for(uint32_t m) const {
    const Model& above_it = models[m % kParents];
    return m >= kParents && above_it.is_done ? above_it.contents : nullptr;
  }
  void begin(uint32_t m) {
    Model& model = models[m];
    if (model.contents != nullptr) return;
    MapPlacement placement{.slot = m, .dependencies = kTypes};
    if (below(2) == 0) placement.parent = parent_for(m);
    is_linked[m] = below(2) == 0;
    const test::MapFile& file = is_linked[m] ? linked[m] : plain[m];
    const Result<MapContents*> begun = begin_map_load(kit.maps, file.resource(), placement);
    ASSERT_TRUE(begun.ok()) << begun.status().message;
    model = {begun.value(), false, {}};
  }
  void step(uint32_t m) {
    Model& model = models[m];
    if (model.contents == nullptr || model.is_done) return;
    const uint32_t most = below(3) == 0 ? 1 + below(12) : 1 + below(400);
    const Result<MapLoadProgress> done = step_map_load(kit.maps, *model.contents, most);
    if (!done.ok()) {
      ASSERT_EQ(done.status().code, StatusCode::in_use) << done.status().message;
      EXPECT_TRUE(is_locked);
      ++waits;
      return;
    }
    ++steps;
    model.is_done = done.value().done;
    EXPECT_EQ(model.contents->is_loading(), !model.is_done);
    if (!model.is_done) return;
    ++loads;
    if (is_locked) unlock();
    compare(m);
  }
  /// With one that is loaded at once, here and now.
  void compare(uint32_t m) {
    MapContents& map = *models[m].contents;
    const std::string in_steps = test::picture(kit, map);
    const test::MapFile& file = is_linked[m] ? linked[m] : plain[m];
    MapContents* const twin =
        kit.load(file, {.slot = kTwin, .dependencies = kTypes, .parent = map.parent(), .postponed = true});
    ASSERT_NE(twin, nullptr);
    for (const uint32_t i : models[m].gone) (void)twin->destroy_entity(i);
    std::string at_once = test::picture(kit, *twin);
    const std::string twins = " imap " + std::to_string(kTwin) + ' ', own = " imap " + std::to_string(m) + ' ';
    for (size_t at = 0; (at = at_once.find(twins, at)) != std::string::npos;) at_once.replace(at, twins.size(), own);
    EXPECT_EQ(in_steps, at_once);
    kit.unload(twin);
  }
  void unload(uint32_t m) {
    if (models[m].contents == nullptr) return;
    const Status done = unload_map_data(kit.maps, *models[m].contents);
    EXPECT_EQ(done.code, is_locked ? StatusCode::in_use : StatusCode::ok);
    if (!done.ok()) return;
    given_up += models[m].is_done ? 0 : 1;
    models[m] = {};
  }
  void bind_or_unbind(uint32_t m) {
    MapContents* const map = models[m].contents;
    if (map == nullptr || m < kParents) return;
    if (map->parent() != nullptr) {
      map->unbind_parent();
    } else if (MapContents* const above_it = parent_for(m)) {
      const Status done = map->bind_parent(*above_it);
      EXPECT_TRUE(done.ok() || is_locked) << done.message;
    }
  }
  void destroy_one(uint32_t m) {
    Model& model = models[m];
    if (model.contents == nullptr) return;
    const uint32_t i = below(model.contents->entity_count());
    const bool was_there = model.contents->entity(i) != nullptr;
    const Status done = model.contents->destroy_entity(i);
    if (done.ok()) model.gone.insert(i);
    EXPECT_TRUE(done.ok() || is_locked || !was_there);
    EXPECT_TRUE(is_locked || model.contents->entity(i) == nullptr);
  }
  void toggle(const test::TypesFile& file, ItypSlot slot, LayerId layer, bool& is_there) {
    if (!is_there) {
      kit.types(file, slot, layer);
      is_there = true;
      return;
    }
    // Entities of it may have nothing else to go on with: then only the names go.
    EXPECT_TRUE(kit.archetypes.withdraw_types(slot).ok());
    if (kit.archetypes.close_types(slot).ok()) {
      is_there = false;
    } else {
      EXPECT_TRUE(kit.archetypes.publish_types(slot).ok());
    }
  }
  void unlock() {
    kit.world.unlock();
    is_locked = false;
  }
  /// Searches find what entities say, and nothing of maps that load.
  void check_search() {
    std::set<uint64_t> expected, found;
    const auto add = [&](const Entity* entity) {
      if (entity != nullptr && kit.is_in_world(*entity)) expected.insert(desc_handle(entity->handle()));
    };
    for (const Model& model : models) {
      if (model.contents == nullptr) continue;
      const MapContents& map = *model.contents;
      const size_t before_it = expected.size();
      for (uint32_t i = 0; i < map.entity_count(); ++i) add(map.entity(i));
      for (uint32_t i = 0; i < map.batch_count(); ++i) add(map.batch(i));
      for (int32_t n = 0; n < static_cast<int32_t>(kMaxInteriors); ++n) {
        const Interior* const in = kit.maps.interior(n);
        if (in == nullptr || &in->map() != &map) continue;
        for (uint32_t i = 0; i < in->entity_count(); ++i) add(in->entity(i));
      }
      EXPECT_EQ(expected.size() > before_it, map.is_shown() && map.created() > 0);
    }
    std::vector<EntityHandle> out(4000);
    SearchResult result;
    EntityQuery query;
    query.volume = box_volume({{-9000, -9000, -9000}, {9000, 9000, 9000}});
    ASSERT_TRUE(kit.world.search_now(query, out, result).ok());
    ASSERT_EQ(result.found, result.stored);
    for (uint32_t i = 0; i < result.stored; ++i) found.insert(desc_handle(out[i]));
    EXPECT_EQ(found, expected);
  }
  void operate() {
    const uint32_t m = below(kMaps);
    switch (below(40)) {
      case 0:
      case 1:
      case 2:
        return begin(m);
      case 3:
        return unload(m);
      case 4:
        return bind_or_unbind(m);
      case 5:
        return destroy_one(m);
      case 6: {
        if (models[m].contents == nullptr) return;
        const Status done = below(3) != 0 ? models[m].contents->show() : models[m].contents->hide();
        EXPECT_TRUE(done.ok() || is_locked || !models[m].is_done);
        return;
      }
      case 7:
        if (!is_locked && below(3) == 0) toggle(*above_file, 4, 1, has_above);
        return;
      case 8:
        if (!is_locked && below(3) == 0) toggle(*later_file, 5, 0, has_later);
        return;
      case 9:
        if (is_locked || below(4) != 0) return;
        EXPECT_TRUE(kit.world.rebase({number(-99, 99), number(-99, 99), 0}).ok());
        return;
      case 10:
        if (is_locked) return;
        EXPECT_TRUE(kit.scene.set_hour(below(24)).ok());
        return;
      case 11:
        is_locked ? unlock() : kit.world.lock();
        is_locked = kit.world.is_locked();
        return;
      case 12:
        return kit.world.pre_scan();
      case 13:
        if (is_locked && !has_above) toggle(*above_file, 4, 1, has_above);
        return;
      default:
        return step(m);
    }
  }

  std::mt19937 engine;
  test::TypesItem props, above, later;
  std::vector<test::MapMaker> makers;
  static constexpr ItypSlot kTypes[] = {3, 4, 5};
  test::MapKit kit;
  test::CapturedLog log;
  std::vector<test::MapFile> plain, linked;
  std::optional<test::TypesFile> props_file, above_file, later_file;
  Model models[kMaps];
  bool is_linked[kMaps] = {};
  bool is_locked = false, has_above = false, has_later = false;
  uint32_t steps = 0, loads = 0, given_up = 0, waits = 0;
};

TEST_P(RandomSteps, EndAsIfLoadedAtOnce) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  ASSERT_TRUE(kit.init().ok());
  props_file.emplace(props.finish("props"));
  above_file.emplace(above.finish("above"));
  later_file.emplace(later.finish("later"));
  kit.types(*props_file, 3);
  for (const test::MapMaker& maker : makers) {
    plain.push_back(maker.finish());
    linked.push_back(maker.finish(props.traits()));
  }
  const test::Account before = kit.account();
  test::BrokenContracts contracts;
  for (int i = 0; i < 6000; ++i) {
    SCOPED_TRACE("operation " + std::to_string(i));
    operate();
    if (i % 50 == 0) check_search();
    if (HasFatalFailure() || HasNonfatalFailure()) break;
  }
  EXPECT_EQ(contracts.count(), 0u) << "refusals are no mistakes of the caller";
  EXPECT_GT(loads, 30u);
  EXPECT_GT(given_up, 10u);
  EXPECT_GT(kit.maps.statistics().restarts, 10u);
  EXPECT_GT(steps, 10 * loads);
  if (is_locked) unlock();
  for (uint32_t m = 0; m < kMaps; ++m) unload(m);
  for (const ItypSlot slot : {ItypSlot{4}, ItypSlot{5}}) {
    if (!kit.archetypes.is_loaded(slot)) continue;
    EXPECT_TRUE(kit.archetypes.close_types(slot).ok());
  }
  EXPECT_EQ(kit.account(), before);
  EXPECT_TRUE(kit.record.alive.empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSteps, testing::Values(1u, 2u, 3u, 4u, 5u, 6u));

}  // namespace
}  // namespace meridian
