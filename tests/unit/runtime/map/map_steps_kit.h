// SPDX-License-Identifier: MIT
#pragma once
/// A town for tests of loading in steps: LOD links inside and to a parent map, hours, extensions, interiors, lists, and
/// an archetype that nobody defines yet. With the linker's blocks and without.
///
///   struct MyTest : test::MapSteps {};
///   start();
///   MapContents* const map = begin(*linked, nullptr);           // or at_once(*linked, nullptr), to compare

#include <optional>
#include <vector>

#include "unit/runtime/map/map_picture.h"

namespace meridian::test {

inline constexpr NameHash kLamp = hash_name("lamp"), kNight = hash_name("night"), kShop = hash_name("shop"),
                          kBlock = hash_name("block"), kLater = hash_name("later"), kGrass = hash_name("grass"),
                          kBar = hash_name("bar"), kFar = hash_name("far"), kStool = hash_name("stool");
inline constexpr ImapSlot kTown = 50, kLods = 40, kOther = 41;
inline constexpr uint32_t kEntities = 400;  // two containers of descriptors

struct MapSteps : testing::Test {
  MapSteps() {
    props.base(kLamp, {.lod = 60}).base(kBlock, {.lod = 300}).base(kGrass, {.lod = 40}).time(kNight, 0xF0003F);
    InteriorItem shop{.name = kShop};
    shop.archetype.lod = 100;
    shop.rooms = {{}, {.min = {0, 0, 0}, .max = {4, 4, 3}, .objects = {0, 1}}};
    shop.portals = {{.from = 1, .to = 0, .corners = {{0, 1, 0}, {0, 1, 2}, {0, 2, 2}, {0, 2, 0}}}};
    shop.entities = {{.archetype = kLamp, .at = {1, 1, 0}},
                     {.archetype = kLater, .at = {2, 2, 0}},
                     {.archetype = kStool, .at = {3, 1, 0}}};
    shop.sets = {{.name = kBar, .entities = {{.archetype = kNight, .at = {3, 3, 0}}}, .locations = {1}}};
    props.interiors.push_back(shop);
    above.base(kLamp, {.lod = 200, .bb_min = {-9, -9, -9}});
    later.base(kLater, {.lod = 70});
    props.base(kFar, {.lod = 500});
    farther.base(kFar, {.lod = 777});
    inner.base(kStool, {.lod = 20});
    // Without the author's word the set of its entity 0 switches at what its child has: 500, the archetype's.
    loose.name = hash_name("loose");
    loose.add({.archetype = kBlock, .at = {3, 4, 5}, .level = schema::LodLevel::LOD, .children = kEntities});
    loose.add({.archetype = kFar, .at = {6, 7, 8}, .parent = 0, .level = schema::LodLevel::HD});
    town.name = hash_name("town");
    for (uint32_t i = 0; i < kEntities; ++i) {
      const NameHash kinds[] = {kLamp, kBlock, kNight, kLater};
      EntityItem e{.archetype = kinds[i % 7 % 4]};
      e.at = {static_cast<float>(i % 37) * 9, static_cast<float>(i % 11) * 13, static_cast<float>(i % 5)};
      if (i % 3 == 0) {
        e.flags = kInParent;
        e.parent = static_cast<int32_t>(i % 4);
        e.level = schema::LodLevel::HD;
      } else if (i % 3 == 1 && i != 22) {
        e.parent = 22;
        e.level = schema::LodLevel::HD;
      }
      if (i == 22) e.children = kEntities;
      // One interior far from the other, so that steps end between the two.
      if (i == 50) town.add_interior({.archetype = kShop, .at = {100, 50, 0}}, {kBar.value});
      const uint32_t owner = town.add(e);
      if (i % 40 == 5) town.extensions.push_back({owner, schema::ExtensionDef::DoorDef});
      if (i % 40 == 6) town.extensions.push_back({owner, schema::ExtensionDef::SpawnPointDef});
    }
    town.lod_sets = {{22, 150}};
    town.add_interior({.archetype = kShop, .at = {200, 50, 0}});
    town.grass = {{.plant = kGrass, .box = {{10, 10, 0}, {20, 30, 5}}, .distance = 80}};
    town.prop_lists = 1;
    lods.name = hash_name("lods");
    for (uint32_t i = 0; i < 3; ++i) {
      lods.add({.archetype = kBlock,
                .at = {100 * static_cast<float>(i), 7, 7},
                .level = schema::LodLevel::LOD,
                .children = kEntities});
      lods.lod_sets.push_back({i, 100 + 10 * static_cast<float>(i)});
    }
  }
  void start() {
    ASSERT_TRUE(kit.init().ok());
    props_file.emplace(props.finish("props"));
    above_file.emplace(above.finish("above"));
    later_file.emplace(later.finish("later"));
    farther_file.emplace(farther.finish("farther"));
    inner_file.emplace(inner.finish("inner"));
    kit.types(*props_file, 3);
    std::vector<LodParent> known;
    for (const EntityItem& e : town.entities) {
      const bool is_known = e.flags == kInParent && e.parent < 3;
      known.push_back(
          is_known ? LodParent{{100 * static_cast<float>(e.parent), 7, 7}, 100 + 10 * static_cast<float>(e.parent)}
                   : LodParent{});
    }
    plain.emplace(town.finish());
    linked.emplace(town.finish(props.traits(), known));
    lods_file.emplace(lods.finish(props.traits()));
    other_file.emplace(lods.finish());
    loose_file.emplace(loose.finish());
    before = kit.account();
  }
  MapContents* begin(const MapFile& file, MapContents* parent) {
    const Result<MapContents*> begun =
        begin_map_load(kit.maps, file.resource(), {.slot = kTown, .dependencies = kTypes, .parent = parent});
    EXPECT_TRUE(begun.ok()) << begun.status().message;
    return begun.ok() ? begun.value() : nullptr;
  }
  MapContents* at_once(const MapFile& file, MapContents* parent) {
    return kit.load(file, {.slot = kTown, .dependencies = kTypes, .parent = parent, .postponed = true});
  }
  MapContents* parent() const { return kit.maps.find(kLods); }

  static constexpr ItypSlot kTypes[] = {3, 4, 5};
  TypesItem props, above, later, farther, inner;
  MapMaker town, lods, loose;
  std::optional<TypesFile> props_file, above_file, later_file, farther_file, inner_file;
  std::optional<MapFile> plain, linked, lods_file, other_file, loose_file;
  Account before;
  MapKit kit;
  CapturedLog log;
};

}  // namespace meridian::test
