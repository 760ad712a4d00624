// SPDX-License-Identifier: MIT
// What names mean in an ArchetypeStore: layers, listeners, maps that depend on types, dictionaries.
#include "meridian/entity/archetype_store.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>
#include <vector>

#include "unit/runtime/entity/store_kit.h"

namespace meridian {
namespace {

using test::kBase;
using test::kBox;
using test::kLamp;
using test::kTree;
using test::lines_with;
using test::Texts;
using test::World;

// ARCH-7
TEST(ArchetypeStore, HigherLayersHideLowerOnes) {
  World world;
  test::CapturedLog log;
  ASSERT_TRUE(world.load({.slot = 1, .layer = 5}, {kLamp}).ok());
  Archetype* const middle = world.store.find(kLamp);
  const ModelId id = middle->model_id();
  ASSERT_TRUE(world.load({.slot = 2, .layer = 9}, {kLamp}).ok());
  Archetype* const high = world.store.find(kLamp);
  EXPECT_EQ(high->model_id().types, 2);
  EXPECT_TRUE(high->is_in_force());
  EXPECT_FALSE(middle->is_in_force());
  EXPECT_TRUE(middle->is_published());
  ASSERT_TRUE(world.load({.slot = 3, .layer = 0}, {kLamp}).ok());  // comes later, lies lower
  EXPECT_EQ(world.store.find(kLamp), high);
  EXPECT_EQ(world.store.name_count(), 1u);
  EXPECT_EQ(world.store.at(id), middle) << "hidden, but there";

  ASSERT_TRUE(world.store.close_types(2).ok());
  EXPECT_EQ(world.store.find(kLamp), middle) << "the same object";
  EXPECT_EQ(world.store.model_id(kLamp), id) << "in the same slot";
  ASSERT_TRUE(world.store.close_types(1).ok());
  EXPECT_EQ(world.store.model_id(kLamp).types, 3);
  ASSERT_TRUE(world.store.close_types(3).ok());
  EXPECT_EQ(world.store.find(kLamp), nullptr);
  EXPECT_EQ(log.count(), 0u) << log.all();
}

// ARCH-7
TEST(ArchetypeStore, WithinALayerTheFirstCounts) {
  const Texts texts;
  World world;
  test::CapturedLog log;
  ASSERT_TRUE(world.load({.slot = 1, .layer = 5, .file = hash_name("town")}, {kLamp}).ok());
  Archetype* const first = world.store.find(kLamp);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(world.load({.slot = 2, .layer = 5, .file = hash_name("props")}, {kLamp, kBox}).ok());
    EXPECT_EQ(world.store.find(kLamp), first);
    EXPECT_EQ(world.store.archetypes(2).size(), 2u);
    EXPECT_EQ(log.count(), 1u) << log.all();
    if (round < 2) {
      ASSERT_TRUE(world.store.close_types(2).ok());
    }
  }
  EXPECT_EQ(log.said()[0].name, kLamp);
  EXPECT_EQ(lines_with(log, "'town'"), 1u);
  EXPECT_EQ(lines_with(log, "'props'"), 1u);
  ASSERT_TRUE(world.store.close_types(1).ok());
  EXPECT_EQ(world.store.find(kLamp), world.store.archetypes(2)[0]) << "the second takes over";
  world.store.reset_messages();
  ASSERT_TRUE(world.load({.slot = 1, .layer = 5, .file = hash_name("town")}, {kLamp}).ok());
  EXPECT_EQ(world.store.model_id(kLamp).types, 2) << "now town came second";
  EXPECT_EQ(log.count(), 2u);
}

// ARCH-7
TEST(ArchetypeStore, ANameTwiceInOneFileCountsOnce) {
  const Texts texts;
  World world;
  test::CapturedLog log;
  struct Told {
    int calls = 0;
  } told;
  const ArchetypeListener listener{
      [](void* user, NameHash, Archetype*, Archetype*) { ++static_cast<Told*>(user)->calls; }, &told};
  ASSERT_TRUE(world.store.add_listener(listener).ok());
  ASSERT_TRUE(world.load({.slot = 1, .file = hash_name("town")}, {kLamp, kLamp, kLamp}).ok());
  EXPECT_EQ(world.store.find(kLamp), world.store.archetypes(1)[0]);
  EXPECT_EQ(told.calls, 1);
  EXPECT_EQ(log.count(), 1u) << log.all();
  EXPECT_EQ(lines_with(log, "one of the same file"), 1u) << log.all();
  EXPECT_FALSE(world.store.archetypes(1)[1]->is_in_force());
  ASSERT_TRUE(world.store.close_types(1).ok());
  EXPECT_EQ(told.calls, 2) << "the others never counted";
  EXPECT_EQ(world.store.find(kLamp), nullptr);
  EXPECT_EQ(world.store.streamed_used(), 0u);
}

struct Change {
  NameHash name;
  Archetype *before, *now;
  friend bool operator==(const Change&, const Change&) = default;
};
struct Recorder {
  std::vector<Change> changes;
  ArchetypeStore* store = nullptr;
  ArchetypeListener listener() {
    return {[](void* user, NameHash name, Archetype* before, Archetype* now) {
              auto* const self = static_cast<Recorder*>(user);
              self->changes.push_back({name, before, now});
              EXPECT_FALSE(before != nullptr && before->is_in_force());
              EXPECT_TRUE(now == nullptr || now->is_in_force());
              EXPECT_EQ(self->store->find(name), now);
            },
            this};
  }
};

// ARCH-7: whoever has entities of a name hears of each change, in order.
TEST(ArchetypeStore, TellsWhatANameMeansNow) {
  World world;
  test::CapturedLog log;
  Recorder recorder{{}, &world.store};
  ASSERT_TRUE(world.store.add_listener(recorder.listener()).ok());
  EXPECT_EQ(world.store.add_listener(recorder.listener()).code, StatusCode::in_use);
  ASSERT_TRUE(world.load({.slot = 1, .layer = 1}, {kLamp, kBox}).ok());
  Archetype *const low = world.store.archetypes(1)[0], *const box = world.store.archetypes(1)[1];
  ASSERT_TRUE(world.load({.slot = 2, .layer = 2}, {kLamp}).ok());
  Archetype* const high = world.store.find(kLamp);
  ASSERT_TRUE(world.load({.slot = 3, .layer = 1}, {kLamp}).ok());  // waits behind both: no change
  ASSERT_TRUE(world.store.close_types(1).ok());                    // only the box changes
  ASSERT_TRUE(world.store.close_types(2).ok());
  Archetype* const last = world.store.archetypes(3)[0];
  ASSERT_TRUE(world.store.close_types(3).ok());
  const std::vector<Change> expected{{kLamp, nullptr, low}, {kBox, nullptr, box}, {kLamp, low, high},
                                     {kBox, box, nullptr},  {kLamp, high, last},  {kLamp, last, nullptr}};
  EXPECT_EQ(recorder.changes, expected);
  world.store.remove_listener(recorder.listener());
  ASSERT_TRUE(world.load({.slot = 1}, {kLamp}).ok());
  EXPECT_EQ(recorder.changes.size(), expected.size());
  test::BrokenContracts contracts;
  world.store.remove_listener(recorder.listener());
  EXPECT_TRUE(test::broke(contracts));
}

TEST(ArchetypeStore, HasRoomForSomeListeners) {
  World world;
  int calls[ArchetypeStore::kMaxListeners + 1] = {};
  const auto count = [](void* user, NameHash, Archetype*, Archetype*) { ++*static_cast<int*>(user); };
  for (uint32_t i = 0; i < ArchetypeStore::kMaxListeners; ++i) {
    ASSERT_TRUE(world.store.add_listener({count, &calls[i]}).ok());
  }
  EXPECT_EQ(world.store.add_listener({count, &calls[ArchetypeStore::kMaxListeners]}).code, StatusCode::out_of_slots);
  world.store.remove_listener({count, &calls[3]});
  ASSERT_TRUE(world.load({.slot = 1}, {kLamp}).ok());
  for (uint32_t i = 0; i < ArchetypeStore::kMaxListeners; ++i) EXPECT_EQ(calls[i], i == 3 ? 0 : 1) << i;
}

// ARCH-4, ARCH-7: what entities refer to stays; an override in use is withdrawn first, and listeners move the entities.
TEST(ArchetypeStore, KeepsWhatEntitiesReferTo) {
  World world;
  ASSERT_TRUE(world.load({.slot = 1, .layer = 1}, {kLamp}).ok());
  ASSERT_TRUE(world.load({.slot = 2, .layer = 2, .file = hash_name("props")}, {kBox, kLamp}).ok());
  struct Entity {
    Archetype* archetype;
  } entity{world.store.find(kLamp)};
  entity.archetype->add_reference();
  Archetype* const high = entity.archetype;

  const Status refused = world.store.close_types(2);
  EXPECT_EQ(refused.code, StatusCode::in_use);
  EXPECT_EQ(refused.detail, 1u);
  EXPECT_EQ(refused.name, hash_name("props"));
  EXPECT_EQ(world.store.find(kLamp), high) << "nothing has changed";
  EXPECT_NE(world.store.find(kBox), nullptr);

  const ArchetypeListener mover{[](void* user, NameHash, Archetype* before, Archetype* now) {
                                  auto* const self = static_cast<Entity*>(user);
                                  if (self->archetype != before || now == nullptr) return;
                                  before->remove_reference();
                                  now->add_reference();
                                  self->archetype = now;
                                },
                                &entity};
  ASSERT_TRUE(world.store.add_listener(mover).ok());
  ASSERT_TRUE(world.store.withdraw_types(2).ok());
  EXPECT_TRUE(world.store.is_loaded(2));
  EXPECT_FALSE(world.store.is_published(2));
  EXPECT_EQ(world.store.find(kBox), nullptr);
  EXPECT_EQ(world.store.at(high->model_id()), high);
  EXPECT_EQ(entity.archetype, world.store.archetypes(1)[0]);
  EXPECT_EQ(world.store.withdraw_types(2).code, StatusCode::not_found);
  ASSERT_TRUE(world.store.publish_types(2).ok());  // and back
  EXPECT_EQ(entity.archetype, high);
  ASSERT_TRUE(world.store.withdraw_types(2).ok());
  ASSERT_TRUE(world.store.close_types(2).ok());
  EXPECT_EQ(entity.archetype->references(), 1u);
  EXPECT_EQ(world.store.close_types(1).code, StatusCode::in_use);
  entity.archetype->remove_reference();
  EXPECT_TRUE(world.store.close_types(1).ok());
  EXPECT_EQ(world.store.close_types(1).code, StatusCode::not_found);
}

// MAP-2
TEST(ArchetypeStore, MapsGetWhatTheyDependOn) {
  World world;
  ASSERT_TRUE(world.load({.slot = 1, .layer = 1}, {kLamp, kBox}).ok());
  ASSERT_TRUE(world.load({.slot = 2, .layer = 2}, {kLamp}).ok());
  ASSERT_TRUE(world.load({.slot = 3, .layer = 0, .permanence = Permanence::permanent}, {kTree}).ok());
  ASSERT_TRUE(world.load({.slot = 4, .layer = 9}, {kTree}).ok());
  Archetype *const low = world.store.archetypes(1)[0], *const high = world.store.archetypes(2)[0];
  const ItypSlot one[] = {1}, two[] = {2}, others[] = {40, 17, 5}, many[] = {5, 6, 1};
  EXPECT_EQ(world.store.find_for(kLamp, one), high) << "its file defines the name, the override is what it means";
  EXPECT_EQ(world.store.find_for(kLamp, two), high);
  EXPECT_EQ(world.store.find_for(kLamp, many), high);
  EXPECT_EQ(world.store.find_for(kLamp, others), nullptr);
  EXPECT_EQ(world.store.find_for(kLamp, {}), nullptr);
  EXPECT_EQ(world.store.find_for(kBox, two), nullptr);
  EXPECT_EQ(world.store.find_for(kTree, {}), world.store.archetypes(4)[0]) << "a permanent file defines it";
  EXPECT_EQ(world.store.find_for(NameHash{}, one), nullptr);
  EXPECT_TRUE(ArchetypeStore::is_available_to(*low, one));
  EXPECT_FALSE(ArchetypeStore::is_available_to(*high, one));
  EXPECT_TRUE(ArchetypeStore::is_available_to(*world.store.archetypes(3)[0], {}));
  EXPECT_FALSE(ArchetypeStore::is_available_to(*world.store.archetypes(4)[0], {}));
}

/// A dictionary's archetypes, by name and textures.
void load_dictionary(World& world, const TypesPlacement& placement, NameHash dictionary,
                     const std::vector<std::pair<NameHash, NameHash>>& models) {
  const KindCount kinds[] = {{kBase, static_cast<uint32_t>(models.size())}};
  ASSERT_TRUE(world.store.open_types(placement, kinds).ok());
  for (const auto& [name, textures] : models) {
    Archetype* const made = world.store.create(placement.slot, kBase, name);
    made->set_drawable(DrawableKind::drawable_dictionary);
    made->set_model_names(name, dictionary, textures);
  }
  ASSERT_TRUE(world.store.publish_types(placement.slot).ok());
}

// ARCH-5
TEST(ArchetypeStore, FindsModelsInTheirDictionary) {
  const Texts texts;
  World world;
  test::CapturedLog log;
  load_dictionary(world, {.slot = 1}, hash_name("lods"), {{kLamp, {}}, {kBox, {}}});
  Archetype &lamp = *world.store.find(kLamp), &box = *world.store.find(kBox);
  const NameHash entries[] = {kTree, kBox, hash_name("other"), kBox};
  EXPECT_TRUE(world.store.resolve_dictionary_entry(box, entries).ok());
  EXPECT_EQ(box.dictionary_entry(), 1) << "the first of that name";
  EXPECT_FALSE(box.is_model_missing());
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(world.store.resolve_dictionary_entry(lamp, entries).code, StatusCode::not_found);
    EXPECT_EQ(lamp.dictionary_entry(), 0xFF);
    EXPECT_TRUE(lamp.is_model_missing());
  }
  EXPECT_EQ(log.count(), 1u) << log.all();
  EXPECT_EQ(lines_with(log, "'lamp'"), 1u);
  EXPECT_EQ(lines_with(log, "'lods'"), 1u);
  // Another version of the dictionary has it.
  world.store.forget_dictionary_entry(lamp);
  EXPECT_FALSE(lamp.is_model_missing());
  const NameHash complete[] = {kLamp};
  EXPECT_TRUE(world.store.resolve_dictionary_entry(lamp, complete).ok());
  EXPECT_EQ(lamp.dictionary_entry(), 0);
  world.store.forget_dictionary_entry(lamp);
  EXPECT_EQ(lamp.dictionary_entry(), 0xFF);

  std::vector<NameHash> many(300, NameHash{77});
  many[254] = kBox;
  many[255] = kLamp;  // 255 would read as "not found yet"
  EXPECT_TRUE(world.store.resolve_dictionary_entry(box, many).ok());
  EXPECT_EQ(box.dictionary_entry(), 254);
  EXPECT_EQ(world.store.resolve_dictionary_entry(lamp, many).code, StatusCode::not_found);
  EXPECT_EQ(world.store.resolve_dictionary_entry(lamp, {}).code, StatusCode::not_found);

  test::BrokenContracts contracts;
  lamp.set_drawable(DrawableKind::drawable, 3);
  EXPECT_EQ(world.store.resolve_dictionary_entry(lamp, entries).code, StatusCode::wrong_kind);
  EXPECT_TRUE(test::broke(contracts));
}

// ARCH-5
TEST(ArchetypeStore, ReportsDictionariesWithTwoTextures) {
  const Texts texts;
  World world;
  test::CapturedLog log;
  const NameHash bark = hash_name("bark"), leaves = hash_name("leaves"), lods = hash_name("lods");
  load_dictionary(world, {.slot = 1}, lods, {{kTree, {}}, {kLamp, bark}, {kBox, bark}});
  EXPECT_EQ(world.store.parent_textures(lods), bark);
  EXPECT_EQ(world.store.parent_textures(bark), NameHash{});
  EXPECT_EQ(log.count(), 0u) << log.all();
  load_dictionary(world, {.slot = 2}, lods, {{hash_name("lamp_model"), leaves}, {hash_name("again"), leaves}});
  EXPECT_EQ(world.store.parent_textures(lods), bark) << "the first wins";
  ASSERT_EQ(log.count(), 1u) << log.all();
  for (const char* part : {"'lamp'", "'lamp_model'", "'lods'", "'bark'", "'leaves'"}) {
    EXPECT_EQ(lines_with(log, part), 1u) << part;
  }
  ASSERT_TRUE(world.store.close_types(1).ok());
  EXPECT_EQ(world.store.parent_textures(lods), leaves) << "the first of those that are left";
  ASSERT_TRUE(world.store.close_types(2).ok());
  EXPECT_EQ(world.store.parent_textures(lods), NameHash{});
}

// ARCH-5, ARCH-7: an override that leaves gives the textures back, too.
TEST(ArchetypeStore, TexturesFollowTheNameInForce) {
  World world;
  test::CapturedLog log;
  const NameHash bark = hash_name("bark"), leaves = hash_name("leaves"), lods = hash_name("lods");
  load_dictionary(world, {.slot = 1, .layer = 1}, lods, {{kLamp, bark}});
  load_dictionary(world, {.slot = 2, .layer = 1}, lods, {{kBox, bark}});
  load_dictionary(world, {.slot = 3, .layer = 2}, lods, {{kLamp, leaves}});
  EXPECT_EQ(world.store.parent_textures(lods), bark) << "of the box";
  EXPECT_EQ(log.count(), 1u) << log.all();
  load_dictionary(world, {.slot = 4, .layer = 2}, lods, {{kBox, leaves}});
  EXPECT_EQ(world.store.parent_textures(lods), leaves);
  ASSERT_TRUE(world.store.close_types(3).ok());
  EXPECT_EQ(world.store.parent_textures(lods), bark) << "of the lamp, where it was before";
  EXPECT_EQ(world.store.close_types(4).ok(), true);
  EXPECT_EQ(world.store.parent_textures(lods), bark);
  EXPECT_EQ(log.count(), 1u) << log.all();
}

// ARCH-7: names that fall on one another's places in the table are all found, also while some of them leave.
TEST(ArchetypeStore, FindsAllNamesInAFullTable) {
  World world({.slots = {0, 1000}, .types = 50});
  std::vector<std::vector<NameHash>> files(10);
  // Names whose homes in the table are next to one another; how it spreads names is only known here.
  for (uint32_t name = 1, i = 0; i < 1000; ++name) {
    if ((name * 0x9E3779B1u >> 15 & 2047) < 40) files[i++ % 10].push_back(NameHash{name});
  }
  for (ItypSlot slot = 0; slot < 10; ++slot) ASSERT_TRUE(world.load({.slot = slot}, files[slot]).ok());
  const auto expect_all = [&](const std::vector<bool>& there) {
    for (size_t file = 0; file < files.size(); ++file) {
      for (size_t i = 0; i < files[file].size(); ++i) {
        ASSERT_EQ(world.store.find(files[file][i]),
                  there[file] ? world.store.archetypes(static_cast<ItypSlot>(file))[i] : nullptr)
            << file << ' ' << i;
      }
    }
  };
  std::vector<bool> there(10, true);
  expect_all(there);
  for (const ItypSlot slot : std::initializer_list<ItypSlot>{3, 0, 9, 5, 4, 1, 8, 2, 7, 6}) {
    ASSERT_TRUE(world.store.close_types(slot).ok());
    there[slot] = false;
    expect_all(there);
  }
  EXPECT_EQ(world.store.name_count(), 0u);
}

}  // namespace
}  // namespace meridian
