// SPDX-License-Identifier: MIT
// Listeners for maps that go (MAP-6): they are told while everything is still there, and of nothing that nobody knew.
#include <gtest/gtest.h>

#include "unit/runtime/map/map_kit.h"

namespace meridian {
namespace {

constexpr NameHash kLamp = hash_name("lamp");

/// Writes down who goes, and looks whether all of it is there.
struct Recorder {
  test::MapKit* kit = nullptr;
  std::vector<ImapSlot> gone;
  uint32_t entities = 0;
  bool all_told = true;
  void (*also)(Recorder& self, MapContents& contents) = nullptr;

  static void note(void* user, MapContents& contents) {
    auto& self = *static_cast<Recorder*>(user);
    self.gone.push_back(contents.slot());
    EXPECT_EQ(self.kit->maps.find(contents.slot()), &contents);
    for (uint32_t i = 0; i < contents.entity_count(); ++i) {
      Entity* const entity = contents.entity(i);
      if (entity == nullptr) continue;
      ++self.entities;
      EXPECT_EQ(self.kit->table.get(contents.handle(i)), entity);
      EXPECT_TRUE(!self.all_told || self.kit->record.alive.count(entity) == 1) << "the host was told that it dies";
      EXPECT_EQ(self.kit->entity_of_slot(*entity), entity) << "its descriptor is there";
    }
    if (self.also != nullptr) self.also(self, contents);
  }
  MapUnloadListener listener(ImapSlot slot = kNoImap) { return {&note, this, slot}; }
};

struct MapUnload : testing::Test {
  void start() {
    props.base(kLamp, {.lod = 60});
    for (int i = 0; i < 9; ++i) town.add({.archetype = kLamp, .at = {static_cast<float>(i), 0, 0}});
    ASSERT_TRUE(kit.init().ok());
    types.emplace(props.finish("props"));
    kit.types(*types, 3);
    file.emplace(town.finish());
    first.kit = second.kit = &kit;
    before = kit.account();
  }
  test::TypesItem props;
  test::MapMaker town{.name = hash_name("town")};
  std::optional<test::TypesFile> types;
  std::optional<test::MapFile> file;
  test::Account before;
  test::MapKit kit;
  Recorder first, second;
};

// MAP-6: one that waits for a slot, and one that waits for any.
TEST_F(MapUnload, IsToldBeforeAnythingGoes) {
  start();
  ASSERT_TRUE(kit.maps.add_unload_listener(first.listener(7)).ok());
  ASSERT_TRUE(kit.maps.add_unload_listener(second.listener()).ok());
  MapContents* const town_7 = kit.load(*file, 7);
  MapContents* const town_8 = kit.load(*file, {.slot = 8, .postponed = true});
  kit.world.lock();
  EXPECT_EQ(unload_map_data(kit.maps, *town_7).code, StatusCode::in_use);
  EXPECT_TRUE(second.gone.empty()) << "it does not go yet";
  kit.world.unlock();
  kit.unload(town_8);
  EXPECT_TRUE(first.gone.empty());
  EXPECT_EQ(second.gone, std::vector<ImapSlot>{8});
  kit.unload(town_7);
  EXPECT_EQ(first.gone, std::vector<ImapSlot>{7});
  EXPECT_EQ(second.gone, (std::vector<ImapSlot>{8, 7}));
  EXPECT_EQ(first.entities, 9u);
  EXPECT_EQ(second.entities, 18u);
  kit.maps.remove_unload_listener(second.listener());
  kit.unload(kit.load(*file, 7));
  EXPECT_EQ(first.gone.size(), 2u);
  EXPECT_EQ(second.gone.size(), 2u);
  kit.maps.remove_unload_listener(first.listener(7));
  EXPECT_EQ(kit.account(), before);
}

// MAP-6: a load that is given up before the host knew of it is nobody's business; later it is.
TEST_F(MapUnload, IsToldOfHalfAMapOnceTheHostWas) {
  start();
  ASSERT_TRUE(kit.maps.add_unload_listener(first.listener()).ok());
  constexpr ItypSlot kTypes[] = {3};
  bool was_done = false, was_told = false;
  for (uint32_t steps = 0; !was_done; ++steps) {
    SCOPED_TRACE(steps);
    const Result<MapContents*> map = begin_map_load(kit.maps, file->resource(), {.slot = 5, .dependencies = kTypes});
    ASSERT_TRUE(map.ok());
    // A host is told of entities one after the other: what it does not know yet is not looked for.
    first.all_told = false;
    for (uint32_t i = 0; i < steps && !was_done; ++i) was_done = step_map_load(kit.maps, *map.value(), 4).value().done;
    const bool is_told = !kit.record.alive.empty();
    first.gone.clear();
    kit.unload(map.value());
    EXPECT_EQ(first.gone.size(), is_told ? 1u : 0u);
    was_told |= is_told && !was_done;
    EXPECT_EQ(kit.account(), before);
  }
  EXPECT_TRUE(was_told);
  kit.maps.remove_unload_listener(first.listener());
}

// MAP-6, ARCH-7: entities that the host knew go too where a load begins anew.
TEST_F(MapUnload, IsToldWhereALoadBeginsAnew) {
  start();
  ASSERT_TRUE(kit.maps.add_unload_listener(first.listener()).ok());
  constexpr ItypSlot kTypes[] = {3};
  const Result<MapContents*> map = begin_map_load(kit.maps, file->resource(), {.slot = 5, .dependencies = kTypes});
  ASSERT_TRUE(map.ok());
  first.all_told = false;
  while (kit.record.alive.empty()) ASSERT_FALSE(step_map_load(kit.maps, *map.value(), 4).value().done);
  const uint64_t told = kit.record.created;
  EXPECT_LE(told, 4u);
  ASSERT_TRUE(kit.world.rebase({1, 2, 3}).ok());
  EXPECT_TRUE(first.gone.empty());
  while (!step_map_load(kit.maps, *map.value(), 9).value().done) {
  }
  EXPECT_EQ(first.gone.size(), 1u);
  EXPECT_EQ(first.entities, 9u);
  EXPECT_EQ(kit.record.created, told + 9) << "told twice of some";
  EXPECT_EQ(map.value()->entity(3)->position(), (Vec3{4, 2, 3}));
  kit.unload(map.value());
  EXPECT_EQ(first.gone.size(), 2u);
  kit.maps.remove_unload_listener(first.listener());
  EXPECT_EQ(kit.account(), before);
}

// MAP-6: a listener may take things out of the map, and go or come itself; it must not unload the map.
TEST_F(MapUnload, MayChangeWhatGoes) {
  start();
  static Recorder* late = nullptr;
  late = &second;
  first.also = [](Recorder& self, MapContents& contents) {
    EXPECT_TRUE(contents.destroy_entity(4).ok());
    EXPECT_TRUE(contents.hide().ok());
    self.kit->maps.remove_unload_listener(self.listener());
    EXPECT_TRUE(self.kit->maps.add_unload_listener(late->listener()).ok());
    test::BrokenContracts contracts;
    EXPECT_EQ(unload_map_data(self.kit->maps, contents).code, StatusCode::in_use);
    EXPECT_EQ(contracts.count(), test::kAsserts ? 1u : 0u);
  };
  ASSERT_TRUE(kit.maps.add_unload_listener(first.listener()).ok());
  kit.unload(kit.load(*file, 7));
  EXPECT_EQ(first.gone.size(), 1u);
  EXPECT_TRUE(second.gone.empty()) << "it came when the map was going already";
  kit.unload(kit.load(*file, 7));
  EXPECT_EQ(first.gone.size(), 1u);
  EXPECT_EQ(second.gone.size(), 1u);
  kit.maps.remove_unload_listener(second.listener());
  EXPECT_TRUE(kit.record.alive.empty());
  EXPECT_EQ(kit.account(), before);
}

TEST_F(MapUnload, HasRoomForSoManyListeners) {
  start();
  for (ImapSlot slot = 0; slot < kMaxUnloadListeners; ++slot) {
    ASSERT_TRUE(kit.maps.add_unload_listener(first.listener(slot)).ok());
    EXPECT_EQ(kit.maps.add_unload_listener(first.listener(slot)).code, StatusCode::in_use) << "it listens already";
  }
  EXPECT_EQ(kit.maps.add_unload_listener(first.listener(99)).code, StatusCode::out_of_slots);
  kit.maps.remove_unload_listener(first.listener(3));
  EXPECT_TRUE(kit.maps.add_unload_listener(first.listener(99)).ok());
  test::BrokenContracts contracts;
  kit.maps.remove_unload_listener(first.listener(3));
  EXPECT_EQ(kit.maps.add_unload_listener({}).code, StatusCode::bad_value);
  EXPECT_EQ(contracts.count(), test::kAsserts ? 2u : 0u);
}

// MAP-6: whoever forgets its maps at the end has them unloaded, and is told.
TEST_F(MapUnload, IsToldAtTheEndToo) {
  auto late = std::make_unique<test::MapKit>();
  Recorder recorder;
  recorder.kit = late.get();
  ASSERT_TRUE(late->init().ok());
  props.base(kLamp, {.lod = 60});
  town.add({.archetype = kLamp});
  const test::TypesFile types_file = props.finish("props");
  const test::MapFile map_file = town.finish();
  late->types(types_file, 3);
  late->load(map_file, 7);
  ASSERT_TRUE(late->maps.add_unload_listener(recorder.listener()).ok());
  late.reset();
  EXPECT_EQ(recorder.gone, std::vector<ImapSlot>{7});
}

}  // namespace
}  // namespace meridian
