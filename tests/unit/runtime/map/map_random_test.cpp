// SPDX-License-Identifier: MIT
// Random operations over several maps with small pools, against a plain model that knows only the definitions and what
// was asked for: MAP-1, MAP-4, MAP-5, INT-2, SG-3, SG-4, SG-8, ARCH-7.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "unit/runtime/map/map_kit.h"

namespace meridian {
namespace {

constexpr uint32_t kMaps = 8, kParents = 2;  // maps 0 and 1 hold LODs of the others, map i those of all with i % 2
constexpr NameHash kSets[] = {hash_name("red"), hash_name("blue")};
constexpr float kBaseLod = 60, kOtherLod = 200;

std::string thing(uint32_t i) { return "thing_" + std::to_string(i); }

/// What a map should be like.
struct Model {
  MapContents* contents = nullptr;  ///< null: it is not loaded
  bool is_shown = false, shows_at_unlock = false;
  int parent = -1;          ///< map that it is bound to
  std::set<uint32_t> gone;  ///< entities that were destroyed
  std::set<uint32_t> sets;  ///< of its interior, that are on
};

struct Random {
  explicit Random(uint32_t seed) : engine(seed) {
    for (uint32_t i = 0; i < 4; ++i) props.base(hash_name(thing(i).c_str()), {.lod = kBaseLod});
    props.base(hash_name("block"), {.lod = 400});
    test::InteriorItem shop{.name = hash_name("shop")};
    shop.archetype.lod = 90;
    shop.rooms = {{}, {.min = {0, 0, 0}, .max = {4, 4, 3}, .objects = {0, 2}}};
    shop.portals = {{.from = 1, .to = 0, .corners = {{0, 1, 0}, {0, 1, 2}, {0, 2, 2}, {0, 2, 0}}, .objects = {1}}};
    for (uint32_t i = 0; i < 3; ++i) {
      shop.entities.push_back({.archetype = hash_name(thing(i).c_str()), .at = {static_cast<float>(i), 1, 0}});
    }
    for (uint32_t s = 0; s < 2; ++s) {
      shop.sets.push_back({.name = kSets[s], .locations = {1, 0}});
      for (uint32_t i = 0; i < 2; ++i) {
        shop.sets[s].entities.push_back(
            {.archetype = hash_name(thing(i).c_str()), .at = {2, static_cast<float>(s), 1}});
      }
    }
    props.interiors = {shop};
    above.base(hash_name(thing(1).c_str()), {.lod = kOtherLod, .bb_min = {-9, -9, -9}});
    for (uint32_t m = 0; m < kMaps; ++m) makers.push_back(make_map(m));
  }

  uint32_t below(uint32_t end) { return static_cast<uint32_t>(engine() % end); }
  float number(float low, float high) { return low + (high - low) * static_cast<float>(engine() % 4096) / 4096; }

  test::MapMaker make_map(uint32_t m) {
    test::MapMaker out{.name = hash_name(("map_" + std::to_string(m)).c_str())};
    const uint32_t count = m < kParents ? 6 : 20 + 60 * m;
    for (uint32_t i = 0; i < count; ++i) {
      test::EntityItem e{.archetype = hash_name(m < kParents ? "block" : thing(below(4)).c_str())};
      e.at.x = number(-300, 300);
      e.at.y = number(-300, 300);
      e.rotation = test::about_z(number(0, 360));
      if (below(4) == 0) e.lod = number(5, 50);
      if (m < kParents) {
        e.level = schema::LodLevel::LOD;
        e.children = 100000;
        out.lod_sets.push_back({i, 100 + 10 * static_cast<float>(i)});
      } else if (below(3) == 0) {
        e.flags = test::kInParent;
        e.parent = static_cast<int32_t>(below(8));  // 6 and 7 are not there
        e.level = schema::LodLevel::HD;
      } else if (i > 0 && below(4) == 0) {
        e.parent = 0;
        e.level = schema::LodLevel::HD;
      }
      if (i == 0) e.children = 100000;
      out.add(e);
    }
    if (m >= kParents && m % 3 != 0) {
      test::EntityItem e{.archetype = hash_name("shop")};
      e.at = {number(-300, 300), number(-300, 300), 0};
      e.rotation = test::about_z(number(0, 360));
      out.add_interior(e, m % 2 == 0 ? std::vector<uint32_t>{kSets[0].value} : std::vector<uint32_t>{});
    }
    return out;
  }
  bool has_shop(uint32_t m) const { return !makers[m].instances.empty(); }

  std::mt19937 engine;
  test::TypesItem props, above;
  std::vector<test::MapMaker> makers;
};

class RandomMaps : public testing::TestWithParam<uint32_t> {
 protected:
  RandomMaps() : random(GetParam()) {
    kit.map_config.maps = 6;
    kit.map_config.interiors = 3;
    kit.scene_capacities.streamed_nodes = 6;
    kit.scene_capacities.interior_nodes = 2;
    kit.scene_capacities.room_nodes = 4;
    kit.scene_capacities.portal_nodes = 4;
    kit.scene_capacities.containers = 30;
    kit.scene_capacities.soa_containers = 9;
    kit.scene_capacities.descriptors = 1200;
    kit.table_config.groups = 9;
  }

  void load(uint32_t m) {
    Model& model = models[m];
    if (model.contents != nullptr) return;
    MapPlacement placement{.slot = m};
    const uint32_t above = m % kParents;
    if (m >= kParents && models[above].contents != nullptr && random.below(2) == 0) {
      placement.parent = models[above].contents;
    }
    placement.postponed = random.below(4) == 0;
    const bool is_linked = random.below(2) == 0;
    const test::Account at_first = kit.account();
    const bool may_fail = random.below(12) == 0;
    if (may_fail) kit.memory.fail_after(static_cast<int>(random.below(8)));
    const Result<MapContents*> loaded = kit.try_load(is_linked ? linked[m] : plain[m], placement);
    kit.memory.fail_after(-1);
    if (!loaded.ok()) {
      ++refused;
      EXPECT_TRUE(loaded.status().code == StatusCode::out_of_slots ||
                  (may_fail && loaded.status().code == StatusCode::out_of_memory))
          << loaded.status().message;
      EXPECT_EQ(kit.account(), at_first) << "a load that fails leaves nothing";
      return;
    }
    ++loads;
    model = {};
    model.contents = loaded.value();
    model.is_shown = !placement.postponed && !is_locked;
    model.shows_at_unlock = !placement.postponed && is_locked;
    if (placement.parent != nullptr) model.parent = static_cast<int>(above);
    if (random.has_shop(m) && m % 2 == 0) model.sets.insert(0);
  }
  void unload(uint32_t m) {
    Model& model = models[m];
    if (model.contents == nullptr) return;
    const Status done = unload_map_data(kit.maps, *model.contents);
    EXPECT_EQ(done.code, is_locked ? StatusCode::in_use : StatusCode::ok);
    if (!done.ok()) return;
    model = {};
    for (Model& other : models) {
      if (other.parent == static_cast<int>(m)) other.parent = -1;
    }
  }
  void show_or_hide(uint32_t m) {
    Model& model = models[m];
    if (model.contents == nullptr) return;
    const bool show = random.below(2) == 0;
    const Status done = show ? model.contents->show() : model.contents->hide();
    EXPECT_EQ(done.ok(), show == model.is_shown || !is_locked);
    if (done.ok()) model.is_shown = show;
  }
  void bind_or_unbind(uint32_t m) {
    Model& model = models[m];
    const uint32_t above = m % kParents;
    if (m < kParents || model.contents == nullptr) return;
    if (model.parent >= 0) {
      model.contents->unbind_parent();
      model.parent = -1;
    } else if (models[above].contents != nullptr) {
      const Status done = model.contents->bind_parent(*models[above].contents);
      EXPECT_TRUE(done.ok() || (is_locked && done.code == StatusCode::in_use)) << done.message;
      if (done.ok()) model.parent = static_cast<int>(above);
    }
  }
  void switch_set(uint32_t m) {
    Model& model = models[m];
    if (model.contents == nullptr || !random.has_shop(m)) return;
    Interior* const in = kit.interior_of(*model.contents, model.contents->entity_count() - 1);
    if (in == nullptr) return;
    const uint32_t s = random.below(2);
    const bool on = random.below(2) == 0;
    const Status done = in->set_entity_set(kSets[s], on);
    EXPECT_TRUE(done.ok() || is_locked || done.code == StatusCode::out_of_slots) << done.message;
    if (done.ok() && on) model.sets.insert(s);
    if (done.ok() && !on) model.sets.erase(s);
  }
  void destroy_one(uint32_t m) {
    Model& model = models[m];
    if (model.contents == nullptr) return;
    const uint32_t i = random.below(model.contents->entity_count());
    if (random.has_shop(m) && i + 1 == model.contents->entity_count()) return;  // its shop stays
    const Status done = model.contents->destroy_entity(i);
    if (model.gone.count(i) != 0) {
      EXPECT_EQ(done.code, StatusCode::not_found);
    } else if (is_locked) {
      EXPECT_EQ(done.code, StatusCode::in_use);
    } else {
      EXPECT_TRUE(done.ok());
      model.gone.insert(i);
    }
  }
  void rebase() {
    if (is_locked) return;
    const Vec3 delta{random.number(-500, 500), random.number(-500, 500), 0};
    EXPECT_TRUE(kit.world.rebase(delta).ok());
    origin = {origin.x + delta.x, origin.y + delta.y, origin.z + delta.z};
  }
  void change_types() {
    if (is_locked) return;
    if (!has_override) {
      kit.types(*patch, 5, 1);
    } else {
      EXPECT_TRUE(kit.archetypes.withdraw_types(5).ok());
      EXPECT_TRUE(unload_map_types(kit.archetypes, 5).ok());
    }
    has_override = !has_override;
  }
  void step() {
    const uint32_t m = random.below(kMaps);
    switch (random.below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return load(m);
      case 4:
      case 5:
        return unload(m);
      case 6:
      case 7:
        return show_or_hide(m);
      case 8:
      case 9:
        return bind_or_unbind(m);
      case 10:
      case 11:
        return switch_set(m);
      case 12:
        return destroy_one(m);
      case 13:
        return random.below(4) == 0 ? rebase() : (void)kit.maps.retry_waiting();
      case 14:
        is_locked ? kit.world.unlock() : kit.world.lock();
        is_locked = !is_locked;
        for (Model& each : models) {
          if (is_locked || !each.shows_at_unlock) continue;
          each.is_shown = true;
          each.shows_at_unlock = false;
        }
        return;
      default:
        return random.below(6) == 0 ? change_types() : kit.world.pre_scan();
    }
  }

  float lod_of(const test::EntityItem& e) const {
    if (e.lod > 0) return e.lod;
    if (e.archetype == hash_name("block")) return 400;
    if (e.archetype == hash_name("shop")) return 90;
    return has_override && e.archetype == hash_name(thing(1).c_str()) ? kOtherLod : kBaseLod;
  }
  Vec3 moved_by_origin(const Vec3& at) const {
    return {static_cast<float>(at.x + origin.x), static_cast<float>(at.y + origin.y),
            static_cast<float>(at.z + origin.z)};
  }

  void check_map(uint32_t m, std::map<NameHash, uint32_t>& references) {
    const Model& model = models[m];
    SCOPED_TRACE("map " + std::to_string(m));
    EXPECT_EQ(kit.maps.find(m), model.contents);
    if (model.contents == nullptr) return;
    const MapContents& map = *model.contents;
    const test::MapMaker& maker = random.makers[m];
    EXPECT_EQ(map.is_shown(), model.is_shown);
    EXPECT_EQ(map.parent(), model.parent < 0 ? nullptr : models[static_cast<uint32_t>(model.parent)].contents);
    EXPECT_EQ(map.created(), maker.entities.size() - model.gone.size());
    std::vector<uint32_t> children(maker.entities.size());
    for (uint32_t i = 0; i < maker.entities.size(); ++i) {
      const test::EntityItem& e = maker.entities[i];
      const Entity* const entity = map.entity(i);
      ASSERT_EQ(entity == nullptr, model.gone.count(i) != 0) << i;
      EXPECT_EQ(kit.table.get(map.handle(i)), entity);
      if (entity == nullptr) continue;
      ++references[e.archetype];
      EXPECT_EQ(entity->archetype(), kit.archetypes.find(e.archetype));
      EXPECT_EQ(entity->position(), moved_by_origin(e.at));
      EXPECT_EQ(entity->lod().distance, lod_of(e));
      EXPECT_EQ(kit.is_in_world(*entity), model.is_shown);
      EXPECT_EQ(kit.entity_of_slot(*entity), entity);
      const EntityDesc desc = kit.desc(*entity);
      const CentredBox box = world_box(entity->transform(), entity->archetype()->box());
      test::expect_near(desc.centre, box.centre, 0.002f);
      // The parent, if it is there.
      const Entity* parent = nullptr;
      if (e.parent >= 0 && e.flags == 0) parent = map.entity(static_cast<uint32_t>(e.parent));
      if (e.parent >= 0 && e.flags != 0 && model.parent >= 0) {
        const Model& above = models[static_cast<uint32_t>(model.parent)];
        parent = above.contents->entity(static_cast<uint32_t>(e.parent));
        // A parent that is there decides where and how far a child is seen, whoever was the parent before.
        if (parent != nullptr && !is_locked) {
          test::expect_near(desc.pivot, parent->position(), 0.002f);
          EXPECT_EQ(desc.distance, 100 + 10 * e.parent);
        }
      }
      EXPECT_EQ(map.lod_parent(*entity), parent) << i;
      if (parent != nullptr && e.flags == 0) ++children[static_cast<uint32_t>(e.parent)];
    }
    if (m < kParents) {
      for (const Model& child : models) {
        if (child.contents == nullptr || child.parent != static_cast<int>(m)) continue;
        const auto& items = random.makers[static_cast<size_t>(&child - models)].entities;
        for (uint32_t i = 0; i < items.size(); ++i) {
          const auto index = static_cast<size_t>(items[i].parent);
          const bool counts = items[i].flags != 0 && index < children.size() && child.gone.count(i) == 0;
          children[counts ? index : 0] += counts ? 1 : 0;
        }
      }
    }
    for (uint32_t i = 0; i < children.size(); ++i) {
      if (map.entity(i) == nullptr) continue;
      EXPECT_EQ(map.entity(i)->lod().bound_children, children[i]) << i;
    }
    if (random.has_shop(m)) check_shop(m, references);
  }

  void check_shop(uint32_t m, std::map<NameHash, uint32_t>& references) {
    const Model& model = models[m];
    const Interior* const in = kit.interior_of(*model.contents, model.contents->entity_count() - 1);
    ASSERT_NE(in, nullptr);
    ++interiors;
    if (in->is_waiting()) {
      ++waiting;
      EXPECT_EQ(in->created(), 0u);
    }
    const test::InteriorItem& item = random.props.interiors[0];
    const Transform& at = in->instance().transform();
    for (uint32_t i = 0; i < 7; ++i) {
      const uint32_t s = i < 3 ? 0 : (i - 3) / 2;
      const bool is_there = !in->is_waiting() && (i < 3 || model.sets.count(s) != 0);
      const Entity* const entity = in->entity(i);
      ASSERT_EQ(entity != nullptr, is_there) << i;
      EXPECT_TRUE(i < 3 || in->is_set_on(kSets[s]) == (model.sets.count(s) != 0));
      if (entity == nullptr) continue;
      const test::EntityItem& e = i < 3 ? item.entities[i] : item.sets[s].entities[(i - 3) % 2];
      ++references[e.archetype];
      EXPECT_EQ(entity->archetype(), kit.archetypes.find(e.archetype));
      EXPECT_EQ(entity->lod().distance, lod_of(e));
      test::expect_near(entity->position(), at.point(e.at), 0.002f);
      EXPECT_EQ(kit.is_in_world(*entity), model.is_shown) << i;
      EXPECT_EQ(kit.entity_of_slot(*entity), entity);
      const CentredBox box = world_box(entity->transform(), entity->archetype()->box());
      test::expect_near(kit.desc(*entity).centre, box.centre, 0.002f);
    }
  }

  void check() {
    std::map<NameHash, uint32_t> references;
    interiors = waiting = 0;
    for (uint32_t m = 0; m < kMaps; ++m) check_map(m, references);
    EXPECT_EQ(kit.maps.interior_count(), interiors);
    for (const auto& [name, count] : references) EXPECT_EQ(kit.archetypes.find(name)->references(), count);
    EXPECT_EQ(kit.account().references, [&] {
      uint64_t sum = 0;
      for (const auto& row : references) sum += row.second;
      return sum;
    }());
  }

  Random random;
  test::MapKit kit;
  test::CapturedLog log;
  std::vector<test::MapFile> plain, linked;
  std::optional<test::TypesFile> props, patch;
  Model models[kMaps];
  WorldOrigin origin;
  bool is_locked = false, has_override = false;
  uint32_t interiors = 0, waiting = 0, loads = 0, refused = 0, ever_waiting = 0;
};

TEST_P(RandomMaps, AreAsTheModelSays) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  ASSERT_TRUE(kit.init().ok());
  props.emplace(random.props.finish("props"));
  patch.emplace(random.above.finish("patch"));
  kit.types(*props, 3);
  const test::TraitsByName traits = random.props.traits();
  for (uint32_t m = 0; m < kMaps; ++m) {
    plain.push_back(random.makers[m].finish());
    std::vector<LodParent> parents;
    for (const test::EntityItem& e : random.makers[m].entities) {
      const auto index = static_cast<size_t>(e.parent);
      const bool is_known = e.parent >= 0 && e.flags != 0 && index < random.makers[m % kParents].entities.size();
      parents.push_back(
          is_known ? LodParent{random.makers[m % kParents].entities[index].at, 100 + 10 * static_cast<float>(e.parent)}
                   : LodParent{});
    }
    linked.push_back(random.makers[m].finish(traits, parents));
  }
  const test::Account before = kit.account();
  test::BrokenContracts contracts;
  for (int i = 0; i < 1500; ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    step();
    if (i % 3 == 0 || HasFailure()) check();
    ever_waiting += waiting > 0 ? 1 : 0;
    if (HasFatalFailure() || HasNonfatalFailure()) break;
  }
  EXPECT_EQ(contracts.count(), 0u) << "refusals are no mistakes of the caller";
  EXPECT_GT(loads, 50u);
  EXPECT_GT(refused, 5u) << "pools were too large to be full";
  EXPECT_GT(ever_waiting, 5u);
  if (is_locked) kit.world.unlock();
  is_locked = false;
  if (has_override) change_types();
  for (uint32_t m = 0; m < kMaps; ++m) unload(m);
  EXPECT_EQ(kit.account(), before);
  EXPECT_TRUE(kit.record.alive.empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomMaps, testing::Values(1u, 2u, 3u, 4u));

}  // namespace
}  // namespace meridian
