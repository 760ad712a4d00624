// SPDX-License-Identifier: MIT
// Descriptors of maps: the linker's and those made at load say the same (DESC-4), the host has its say (DESC-1), and
// archetypes may change under entities that are there (ARCH-7, P089).
#include <gtest/gtest.h>

#include "unit/runtime/map/map_kit.h"

namespace meridian {
namespace {

using test::kInParent;

constexpr NameHash kLamp = hash_name("lamp"), kCrate = hash_name("crate");
constexpr uint32_t kDynamic = 1u << 17;

/// All of a descriptor that readers see. The handle of a map's is an index.
void expect_same(const EntityDesc& a, const EntityDesc& b) {
  EXPECT_EQ(a.handle, b.handle);
  EXPECT_EQ(a.centre, b.centre);
  EXPECT_EQ(a.half, b.half);
  EXPECT_EQ(a.pivot, b.pivot);
  EXPECT_EQ(a.distance, b.distance);
  EXPECT_EQ(a.mask, b.mask);
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.level, b.level);
  EXPECT_EQ(a.alpha, b.alpha);
  EXPECT_EQ(a.flags, b.flags);
  EXPECT_EQ(a.lod_set == kNoLodSet, b.lod_set == kNoLodSet);
}

struct MapBlocks : testing::Test {
  MapBlocks() {
    for (uint32_t i = 0; i < 12; ++i) {
      const float size = 1.0f + static_cast<float>(i);
      names.push_back(hash_name(("thing_" + std::to_string(i)).c_str()));
      props.base(names.back(), {.lod = 30.0f + 10 * size,
                                .flags = i % 4 == 1   ? kDynamic
                                         : i % 4 == 2 ? 1u << 13
                                                      : 0,
                                .type = i % 5 == 4 ? schema::AssetType::FRAGMENT : schema::AssetType::DRAWABLE,
                                .bb_min = {-size, -2, -1},
                                .bb_max = {size, 3, 2 * size}});
    }
    props.time(hash_name("stall"), 0xFFF, {.lod = 70});
    names.push_back(hash_name("stall"));
  }
  void start() {
    ASSERT_TRUE(kit.init().ok());
    file.emplace(props.finish("props"));
    kit.types(*file, 3);
    before = kit.account();
  }
  /// A map with LOD links, scales, turns and slips.
  test::MapMaker random_town(uint32_t seed, uint32_t count) const {
    std::mt19937 random(seed);
    const auto number = [&random](float low, float high) {
      return low + (high - low) * static_cast<float>(random() % 4096) / 4096;
    };
    test::MapMaker out{.name = hash_name("town")};
    const uint32_t hds = count * 3 / 4;
    for (uint32_t i = 0; i < count; ++i) {
      test::EntityItem e;
      e.archetype = names[random() % names.size()];
      e.at.x = number(-500, 500);
      e.at.y = number(-500, 500);
      e.at.z = number(0, 40);
      e.rotation = test::about_z(number(0, 360));
      if (random() % 3 == 0) e.rotation = {number(-1, 1), number(-1, 1), number(-1, 1), number(-1, 1)};
      if (random() % 4 == 0) e.flags |= 1;
      if (random() % 4 == 0) e.flags |= 1u << (22 + random() % 8);
      if (random() % 4 == 0) e.scale_xy = number(0.5f, 3);
      if (random() % 4 == 0) e.scale_z = number(-3, 3);
      if (random() % 3 == 0) e.lod = number(0, 300);
      if (random() % 30 == 0) e.rotation = {0, 0, 0, 0};
      e.level = schema::LodLevel::ORPHANHD;
      if (i >= hds) {
        e.level = schema::LodLevel::LOD;
        e.children = 10000;
        if (random() % 2 == 0) e.child_lod = number(50, 300);
      } else if (random() % 2 == 0) {
        e.parent = static_cast<int32_t>(hds + random() % (count - hds));
        e.level = schema::LodLevel::HD;
      }
      out.add(e);
    }
    return out;
  }
  std::vector<NameHash> names;
  int filled = 0;
  test::TypesItem props;
  std::optional<test::TypesFile> file;
  test::Account before;
  test::MapKit kit;
  test::CapturedLog log;
};

// DESC-4: blocks of the linker and blocks made at load, entity by entity: the same descriptors, also where some of the
// entities are not there.
TEST_F(MapBlocks, CopiedAndBuiltAreTheSame) {
  start();
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    test::MapMaker town = random_town(seed, seed * 97 % 900 + 3);
    if (seed % 3 == 0) {
      for (size_t i = 0; i < town.entities.size(); i += 5) {
        town.entities[i].priority = schema::PriorityLevel::OPTIONAL_LOW;
      }
    }
    const test::MapFile plain = town.finish(), linked = town.finish(props.traits());
    const test::Account empty = kit.account();
    MapContents* const built = kit.load(plain, {.slot = 1, .priority_cap = 2});
    MapContents* const copied = kit.load(linked, {.slot = 2, .priority_cap = 2});
    ASSERT_TRUE(built != nullptr && copied != nullptr);
    EXPECT_FALSE(built->used_cooked_blocks());
    EXPECT_TRUE(copied->used_cooked_blocks());
    EXPECT_EQ(built->created(), copied->created());
    for (uint32_t i = 0; i < built->entity_count(); ++i) {
      SCOPED_TRACE(i);
      const Entity *const a = built->entity(i), *const b = copied->entity(i);
      ASSERT_EQ(a == nullptr, b == nullptr);
      if (a == nullptr) continue;
      EXPECT_EQ(kit.entity_of_slot(*a), a);
      EXPECT_EQ(kit.entity_of_slot(*b), b);
      expect_same(kit.desc(*a), kit.desc(*b));
    }
    // Both hold what describe_map says of the definitions.
    const schema::MapData& map = plain.map();
    std::vector<const ArchetypeTraits*> traits;
    const test::TraitsByName known = props.traits();
    for (const test::EntityItem& e : town.entities) traits.push_back(&known.at(e.archetype.value));
    const test::BuiltBlocks expected = test::build({&map, traits, {}});
    for (uint32_t i = 0; i < built->entity_count(); ++i) {
      const Entity* const entity = built->entity(i);
      EXPECT_EQ(entity != nullptr,
                is_made(expected.status[i]) && town.entities[i].priority != schema::PriorityLevel::OPTIONAL_LOW);
      if (entity == nullptr) continue;
      EXPECT_EQ(kit.desc(*entity).centre, expected.descs[i].centre);
      EXPECT_EQ(kit.desc(*entity).distance, std::ceil(expected.descs[i].distance));
    }
    // Lanes of those that are not there are never visible: as many used slots as entities.
    for (const MapContents* const of : {built, copied}) {
      uint32_t used = 0;
      for (uint32_t c = of->node()->first_container(); c != kNoContainer; c = kit.graph.next_container(c)) {
        const ContainerView& view = kit.graph.containers().views[c];
        for (uint32_t s = 0; s < view.slots; ++s) used += desc_lanes(view).distance[s] != 0 ? 1 : 0;
      }
      EXPECT_EQ(used, of->created());
    }
    kit.unload(built);
    kit.unload(copied);
    EXPECT_EQ(kit.account(), empty);
  }
}

// DESC-4: an archetype that changed since is noticed, told once, and the blocks are made anew with what holds now.
TEST_F(MapBlocks, OfOtherArchetypesAreNotUsed) {
  start();
  test::MapMaker town{.name = hash_name("town")};
  town.add({.archetype = names[0], .at = {10, 0, 0}});
  town.add({.archetype = names[3], .at = {20, 0, 0}});
  struct Case {
    const char* what;
    void (*change)(test::Definition&);
    bool is_rebuilt;
  };
  const Case cases[] = {{"nothing", [](test::Definition&) {}, false},
                        {"its bound",
                         [](test::Definition& d) {
                           d.bb_max = {4, 3, 17};
                         },
                         true},
                        {"its distance", [](test::Definition& d) { d.lod = 61; }, true},
                        {"what it is", [](test::Definition& d) { d.flags = kDynamic; }, true},
                        {"a texture, which no descriptor knows", [](test::Definition& d) { d.textures = 9; }, false}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    test::TypesItem then = props;
    c.change(then.bases[3].definition);
    const test::MapFile linked = town.finish(then.traits());
    kit.maps.reset_messages();
    log.clear();
    MapContents* const map = kit.load(linked, 1);
    ASSERT_NE(map, nullptr);
    EXPECT_EQ(map->used_cooked_blocks(), !c.is_rebuilt);
    EXPECT_EQ(log.count(), c.is_rebuilt ? 1u : 0u) << log.all();
    // names[3]: size 4, so the box is (-4, -2, -1) to (4, 3, 8), the distance 70.
    const EntityDesc desc = kit.desc(*map->entity(1));
    test::expect_near(test::box_of(desc).max, {24, 3, 8});
    EXPECT_EQ(desc.distance, 70);
    EXPECT_EQ(desc.type, EntityClass::building);
    MapContents* const again = kit.load(linked, 2);
    EXPECT_EQ(log.count(), c.is_rebuilt ? 1u : 0u) << "told once: " << log.all();
    kit.unload(map);
    kit.unload(again);
  }
  EXPECT_EQ(kit.account(), before);
}

// DESC-4: blocks of another layout, or of a LOD parent that stands elsewhere now, are not used either.
TEST_F(MapBlocks, OfAnotherParentAreNotUsed) {
  start();
  test::MapMaker lods{.name = hash_name("lods")}, near{.name = hash_name("near")};
  lods.add({.archetype = names[11], .at = {5, 6, 7}, .child_lod = 99, .level = schema::LodLevel::LOD, .children = 1});
  lods.lod_sets = {{0, 99}};
  near.add({.archetype = names[0], .flags = kInParent, .parent = 0, .level = schema::LodLevel::HD});
  const test::MapFile parent_file = lods.finish();
  MapContents* const parent = kit.load(parent_file, 1);
  const LodParent parents[] = {{{5, 6, 7}, 99}, {{5, 6, 8}, 99}, {{5, 6, 7}, 98}, {}};
  for (const LodParent& known : parents) {
    const test::MapFile linked = near.finish(props.traits(), {known});
    MapContents* const child = kit.load(linked, 2, parent);
    ASSERT_NE(child, nullptr);
    EXPECT_EQ(child->used_cooked_blocks(), &known == parents);
    EXPECT_EQ(kit.desc(*child->entity(0)).pivot, (Vec3{5, 6, 7}));
    EXPECT_EQ(kit.desc(*child->entity(0)).distance, 99);
    kit.unload(child);
  }
  kit.unload(parent);
}

// A map that places nothing has no blocks that could be wrong.
TEST_F(MapBlocks, OfAMapWithoutEntitiesAreNoMatter) {
  start();
  const test::MapFile linked = test::MapMaker{.name = hash_name("lights")}.finish(props.traits());
  ASSERT_NE(linked.map().cooked(), nullptr);
  MapContents* const map = kit.load(linked, 1);
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(log.all(), "");
  EXPECT_EQ(kit.maps.statistics().blocks_built, 0u);
  kit.unload(map);
  EXPECT_EQ(kit.account(), before);
}

// DESC-1: where the host fills descriptors of a class, cooked ones cannot be right.
TEST_F(MapBlocks, AreBuiltWhereAHostFillsDescriptors) {
  const DescHook hook{[](void* user, const Entity&, EntityDesc& out) {
                        ++*static_cast<int*>(user);
                        out.half = out.half + Vec3{100, 100, 100};
                      },
                      &filled};
  kit.classes.add<Entity>(EntityClass::dummy_object, "Dummy", {}, hook);
  start();
  test::MapMaker town, plain;
  town.add({.archetype = names[0]});
  town.add({.archetype = names[1]});  // dynamic: a dummy object
  plain.add({.archetype = names[0]});
  const test::MapFile with = town.finish(props.traits()), without = plain.finish(props.traits());
  MapContents* const map = kit.load(with, 1);
  ASSERT_NE(map, nullptr);
  EXPECT_FALSE(map->used_cooked_blocks());
  EXPECT_EQ(log.count(), 0u) << "nothing is wrong with the file: " << log.all();
  EXPECT_EQ(filled, 1);
  EXPECT_GT(kit.desc(*map->entity(1)).half.x, 100);
  EXPECT_LT(kit.desc(*map->entity(0)).half.x, 100);
  const Aabb all = test::box_of(kit.desc(*map->entity(1)));
  const DescBounds& bounds = kit.graph.containers().bounds[map->entity(1)->container().container()];
  EXPECT_LE(bounds.box_min.x, all.min.x) << "blocks enclose what the host said";
  EXPECT_GE(bounds.box_max.z, all.max.z);
  MapContents* const other = kit.load(without, 2);
  EXPECT_TRUE(other->used_cooked_blocks()) << "no entity of such a class";
  kit.unload(map);
  kit.unload(other);
  EXPECT_EQ(kit.account(), before);
}

// DESC-4: a host that chooses other classes than the linker knew of gets them in descriptors too.
TEST_F(MapBlocks, HaveTheClassesThatTheHostChose) {
  constexpr EntityClass kTree{kFirstHostClass};
  kit.classes.add<Entity>(kTree, "Tree");
  kit.classes.set_chooser({.choose =
                               [](void* user, const ClassQuery& query) {
                                 return query.name == *static_cast<const NameHash*>(user) ? EntityClass{kFirstHostClass}
                                                                                          : query.by_rule;
                               },
                           .user = names.data()});
  start();
  test::MapMaker town;
  town.add({.archetype = names[0]});
  town.add({.archetype = names[3]});
  const test::MapFile plain = town.finish(), linked = town.finish(props.traits());
  for (const test::MapFile* const bytes : {&plain, &linked}) {
    SCOPED_TRACE(bytes == &linked);
    MapContents* const map = kit.load(*bytes, 1);
    ASSERT_NE(map, nullptr);
    EXPECT_EQ(map->entity(0)->type(), kTree);
    EXPECT_EQ(kit.desc(*map->entity(0)).type, kTree);
    EXPECT_EQ(kit.desc(*map->entity(1)).type, EntityClass::building);
    kit.unload(map);
  }
}

// DESC-4: what a host hid when it was told of the entity is hidden, whoever made the blocks.
TEST_F(MapBlocks, KnowWhatTheHostHidMeanwhile) {
  EntityVisibility visibility;
  ASSERT_TRUE(visibility.init({.capacity = 10}).ok());
  kit.map_config.host = {.user = &visibility, .on_create = [](void* user, Entity& entity) {
                           if (entity.position().x < 5) return;
                           auto& self = *static_cast<EntityVisibility*>(user);
                           EXPECT_TRUE(self.set_visible(entity, VisibilityModule::script, false).ok());
                         }};
  start();
  test::MapMaker town;
  town.add({.archetype = names[0]});
  town.add({.archetype = names[0], .at = {9, 0, 0}});
  const test::MapFile plain = town.finish(), linked = town.finish(props.traits());
  for (const test::MapFile* const bytes : {&plain, &linked}) {
    SCOPED_TRACE(bytes == &linked);
    MapContents* const map = kit.load(*bytes, 1);
    ASSERT_NE(map, nullptr);
    EXPECT_EQ(map->used_cooked_blocks(), bytes == &linked);
    EXPECT_EQ(kit.desc(*map->entity(0)).flags & kDescHidden, 0u);
    EXPECT_NE(kit.desc(*map->entity(1)).flags & kDescHidden, 0u);
    kit.unload(map);
  }
  EXPECT_EQ(visibility.hidden(), 0u);
}

/// Files that define the lamp at two distances, the second in a layer above.
struct MapOverride : MapBlocks {
  MapOverride() {
    props = {};
    props.base(kLamp, {.lod = 60}).base(kCrate, {.lod = 45});
    above.base(kLamp, {.lod = 200, .bb_min = {-10, -10, -10}, .bb_max = {10, 10, 10}});
    town.name = hash_name("town");
    town.add({.archetype = kLamp, .at = {100, 0, 0}});
    town.add({.archetype = kCrate, .at = {200, 0, 0}});
    town.add({.archetype = kLamp, .at = {300, 0, 0}, .lod = 77, .tint = 5});
  }
  void expect_distance(const MapContents* map, float distance, Vec3 smallest) {
    SCOPED_TRACE(distance);
    EXPECT_EQ(map->entity(0)->lod().distance, distance);
    EXPECT_EQ(map->entity(0)->archetype(), kit.archetypes.find(kLamp));
    EXPECT_EQ(map->entity(0)->position(), (Vec3{100, 0, 0}));
    const EntityDesc desc = kit.desc(*map->entity(0));
    EXPECT_EQ(desc.distance, distance);
    test::expect_near(test::box_of(desc).min, Vec3{100, 0, 0} + smallest, 1e-3f);
    EXPECT_EQ(kit.desc(*map->entity(1)).distance, 45);
    EXPECT_EQ(kit.desc(*map->entity(2)).distance, 77) << "one of its own counts";
    EXPECT_EQ(map->entity(2)->tint(), 5);
    EXPECT_EQ(map->entity(2)->archetype(), kit.archetypes.find(kLamp));
    for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(kit.entity_of_slot(*map->entity(i)), map->entity(i));
  }
  test::TypesItem above;
  test::MapMaker town;
};

// ARCH-7, P089: 60, 200, 60 again, with entities that are there all the time. The file of the override can go at once,
// and everything is exactly as it was.
TEST_F(MapOverride, ComesAndGoesUnderResidentEntities) {
  start();
  const test::MapFile plain = town.finish(), linked = town.finish(props.traits());
  for (const test::MapFile* const bytes : {&plain, &linked}) {
    SCOPED_TRACE(bytes == &linked);
    MapContents* const map = kit.load(*bytes, 1);
    ASSERT_NE(map, nullptr);
    const Entity* const lamp = map->entity(0);
    const EntityHandle handle = map->handle(0);
    const test::Account with_map = kit.account();
    expect_distance(map, 60, {-1, -2, -3});
    const EntityDesc at_first = kit.desc(*lamp);
    {
      const test::TypesFile patch = above.finish("patch");
      kit.types(patch, 5, /*layer=*/1);
      expect_distance(map, 200, {-10, -10, -10});
      EXPECT_EQ(kit.archetypes.archetypes(5)[0]->references(), 2u);
      EXPECT_EQ(kit.archetypes.archetypes(3)[0]->references(), 0u);
      EXPECT_EQ(unload_map_types(kit.archetypes, 3).code, StatusCode::in_use) << "the crate is of that file";
      EXPECT_EQ(unload_map_types(kit.archetypes, 5).code, StatusCode::in_use);
      EXPECT_TRUE(kit.archetypes.withdraw_types(5).ok());
      expect_distance(map, 60, {-1, -2, -3});
      EXPECT_TRUE(unload_map_types(kit.archetypes, 5).ok());
    }  // the bytes of the override are gone
    expect_distance(map, 60, {-1, -2, -3});
    EXPECT_EQ(map->entity(0), lamp);
    EXPECT_EQ(kit.table.get(handle), lamp);
    expect_same(kit.desc(*lamp), at_first);
    EXPECT_TRUE(kit.world.rebase({1, 0, 0}).ok());
    EXPECT_TRUE(kit.world.rebase({-1, 0, 0}).ok());
    expect_distance(map, 60, {-1, -2, -3});
    EXPECT_EQ(kit.account(), with_map);
    kit.unload(map);
    EXPECT_EQ(kit.account(), before);
  }
}

// ARCH-7: under a lock, entities and what readers see of them stay as they are until the unlock.
TEST_F(MapOverride, ShowsAtTheUnlock) {
  start();
  const test::MapFile bytes = town.finish();
  MapContents* const map = kit.load(bytes, 1);
  const test::TypesFile patch = above.finish("patch");
  kit.world.lock();
  kit.types(patch, 5, 1);
  EXPECT_EQ(map->entity(0)->lod().distance, 60);
  EXPECT_EQ(kit.desc(*map->entity(0)).distance, 60);
  EXPECT_EQ(unload_map_types(kit.archetypes, 3).code, StatusCode::in_use);
  kit.world.unlock();
  expect_distance(map, 200, {-10, -10, -10});
  kit.unload(map);
}

// ARCH-7: links of resident entities survive. The set's distance is that of its children, 60 and then 200.
TEST_F(MapOverride, KeepsLodLinks) {
  start();
  test::MapMaker city{.name = hash_name("city")};
  city.add({.archetype = kLamp, .parent = 2, .level = schema::LodLevel::HD});
  city.add({.archetype = kCrate, .parent = 2, .level = schema::LodLevel::HD});
  city.add({.archetype = kLamp, .at = {9, 9, 9}, .lod = 500, .level = schema::LodLevel::LOD, .children = 2});
  const test::MapFile bytes = city.finish();
  MapContents* const map = kit.load(bytes, 1);
  EXPECT_EQ(kit.desc(*map->entity(1)).distance, 60);
  const test::TypesFile patch = above.finish("patch");
  kit.types(patch, 5, 1);
  for (const uint32_t i : {0u, 1u}) {
    EXPECT_EQ(map->lod_parent(*map->entity(i)), map->entity(2));
    EXPECT_EQ(kit.desc(*map->entity(i)).distance, 200);
    EXPECT_EQ(kit.desc(*map->entity(i)).pivot, (Vec3{9, 9, 9}));
  }
  EXPECT_EQ(map->entity(2)->lod().bound_children, 2);
  kit.unload(map);
  EXPECT_TRUE(unload_map_types(kit.archetypes, 5).ok());
  EXPECT_EQ(kit.account(), before);
}

// Entities that were left out still count for the distance of their set: descriptors do not change by being made anew.
TEST_F(MapOverride, LeavesSetsAsTheyWereWhenBlocksAreMadeAnew) {
  start();
  test::MapMaker city{.name = hash_name("city")};
  city.add({.archetype = kCrate, .parent = 2, .level = schema::LodLevel::HD});
  city.add({.archetype = kLamp,
            .parent = 2,
            .level = schema::LodLevel::HD,
            .priority = schema::PriorityLevel::OPTIONAL_LOW});  // above the cap; 60 of the archetype counts
  city.add({.archetype = kCrate, .at = {9, 9, 9}, .lod = 500, .level = schema::LodLevel::LOD, .children = 2});
  const test::MapFile bytes = city.finish();
  MapContents* const map = kit.load(bytes, {.slot = 1, .priority_cap = 2});
  ASSERT_NE(map, nullptr);
  ASSERT_EQ(map->entity(1), nullptr);
  EXPECT_EQ(kit.desc(*map->entity(0)).distance, 60);
  EXPECT_TRUE(kit.world.rebase({1, 2, 3}).ok());
  EXPECT_EQ(kit.desc(*map->entity(0)).distance, 60);
  EXPECT_EQ(kit.desc(*map->entity(0)).pivot, (Vec3{10, 11, 12}));
  kit.unload(map);
}

}  // namespace
}  // namespace meridian
