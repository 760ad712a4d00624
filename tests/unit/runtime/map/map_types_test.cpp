// SPDX-License-Identifier: MIT
#include "meridian/map/map_types.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "map/extension_type.h"
#include "support/captured.h"
#include "support/checked_memory.h"
#include "support/test_paths.h"
#include "unit/runtime/map/types_file.h"

namespace meridian {
namespace {

using test::TypesFile;
using test::TypesMaker;

constexpr NameHash kLamp = hash_name("lamp"), kShop = hash_name("shop"), kFlat = hash_name("flat");

struct Door final : Extension {
  static constexpr ExtensionKind kKind{2};
  Door() : Extension(kKind) { ++g_alive; }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  ~Door() override { --g_alive; }
  float limit = 0;
  static inline int g_alive = 0;
};
struct Ladder final : Extension {
  static constexpr ExtensionKind kKind{3};
  Ladder() : Extension(kKind) {}
};

struct World {
  test::CheckedMemory memory;
  SiloFactory<Door, Extension> doors;
  PoolFactory<Ladder, Extension> ladders;
  ExtensionRegistry effects;
  ArchetypeStore store;

  explicit World(ArchetypeStoreConfig config = {.slots = {50, 200}, .types = 30, .components = 10}) {
    EXPECT_TRUE(doors.init(30, memory).ok());
    EXPECT_TRUE(ladders.init({.name = "ArchetypeLadder", .capacity = 3}, memory).ok());
    effects.add_factory(Door::kKind, "ArchetypeDoor", doors);
    effects.add_factory(Ladder::kKind, "ArchetypeLadder", ladders);
    effects.associate(hash_type("CExtensionDefDoor"), Door::kKind);
    effects.associate(hash_type("CExtensionDefLadder"), Ladder::kKind);
    config.effects = &effects;
    config.read_effect = {[](void* user, Extension& effect, const Archetype&, const schema::Extension& definition) {
                            ++*static_cast<int*>(user);
                            if (effect.kind() != Door::kKind) return;
                            static_cast<Door&>(effect).limit = definition.definition_as_DoorDef()->limit_angle();
                          },
                          &effects_read};
    EXPECT_TRUE(store.init(config, memory).ok());
    store.add_effect_silo(hash_type("CExtensionDefDoor"), doors);
  }
  int effects_read = 0;
};

/// One of each.
TypesFile town() {
  TypesMaker maker;
  const uint32_t lamp = maker.base(kLamp, {.lod = 60, .clips = 21, .physics = 22});
  const uint32_t shop = maker.time(kShop, 0x00FF00, {.lod = 70});
  maker.interior(kFlat, 2, {.lod = 80, .type = schema::AssetType::ASSETLESS});
  const uint32_t bench = maker.base("bench", {.lod = 0, .type = schema::AssetType::FRAGMENT});
  maker.composite("Tower");
  maker.door(lamp, 0.5f);
  maker.door(lamp, 0.75f);
  maker.ladder(shop);
  maker.door(bench, 1.5f);
  return maker.finish("town");
}

// ARCH-1, ARCH-2
TEST(MapTypes, MakesEachKind) {
  World world;
  const TypesFile file = town();
  ASSERT_TRUE(load_map_types(world.store, file.resource(), {.slot = 3, .layer = 2, .file = file.name()}).ok());
  const auto all = world.store.archetypes(3);
  ASSERT_EQ(all.size(), 5u);
  const NameHash names[] = {kLamp, kShop, kFlat, hash_name("bench"), hash_name("tower")};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(all[i]->name(), names[i]) << "the author's order";
    EXPECT_EQ(world.store.find(names[i]), all[i]);
    EXPECT_EQ(all[i]->model_id().types, 3);
  }
  EXPECT_EQ(all[0]->form(), ArchetypeForm::base);
  EXPECT_EQ(all[0]->lod_distance(), 60);
  EXPECT_EQ(all[0]->clip_dictionary(), NameHash{21});
  EXPECT_EQ(all[0]->physics_dictionary(), NameHash{22});
  EXPECT_EQ(all[1]->component(), nullptr) << "it has no dictionaries";
  const TimeArchetype* const shop = all[1]->as<TimeArchetype>();
  ASSERT_NE(shop, nullptr);
  EXPECT_TRUE(!shop->is_there_at(7) && shop->is_there_at(8) && shop->is_there_at(15) && !shop->is_there_at(16));
  const InteriorArchetype* const flat = all[2]->as<InteriorArchetype>();
  ASSERT_NE(flat, nullptr);
  EXPECT_EQ(flat->definition(), file.types().mlo_archetypes()->Get(0)) << "in place";
  EXPECT_EQ(all[3]->lod_distance(), 0) << "as the definition has it";
  EXPECT_EQ(all[3]->drawable_kind(), DrawableKind::fragment);
  const CompositeArchetype* const tower = all[4]->as<CompositeArchetype>();
  ASSERT_NE(tower, nullptr);
  EXPECT_EQ(tower->definition(), file.types().composite_entity_types()->Get(0));
  EXPECT_EQ(tower->start_model(), hash_name("before"));
  // As descriptors are made from definitions.
  const ArchetypeForm forms[] = {ArchetypeForm::base, ArchetypeForm::time, ArchetypeForm::interior,
                                 ArchetypeForm::base};
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(traits_hash(all[i]->traits()),
              traits_hash(archetype_traits(*file.types().archetypes()->Get(i), forms[i])));
  }
  EXPECT_EQ(world.store.placement(3).layer, 2);
  EXPECT_EQ(world.store.placement(3).file, file.name());
}

// ARCH-2: one contiguous array for each kind.
TEST(MapTypes, KindsLieInArrays) {
  World world;
  TypesMaker maker;
  for (uint32_t i = 0; i < 30; ++i) {
    if (i % 3 == 1) {
      maker.time(NameHash{100 + i}, 1);
    } else {
      maker.base(NameHash{100 + i});
    }
  }
  const TypesFile file = maker.finish("many");
  ASSERT_TRUE(load_map_types(world.store, file.resource(), {.slot = 1}).ok());
  const Archetype* base = nullptr;
  const TimeArchetype* time = nullptr;
  for (const Archetype* archetype : world.store.archetypes(1)) {
    if (const TimeArchetype* const timed = archetype->as<TimeArchetype>()) {
      EXPECT_TRUE(time == nullptr || timed == time + 1);
      time = timed;
    } else {
      EXPECT_TRUE(base == nullptr || archetype == base + 1);
      base = archetype;
    }
  }
}

// EXTN-5, ARCH-4: 2D effects come from the registry of archetypes; their silo goes with the file.
TEST(MapTypes, MakesEffects) {
  World world;
  const TypesFile file = town();
  ASSERT_TRUE(load_map_types(world.store, file.resource(), {.slot = 3}).ok());
  EXPECT_EQ(world.doors.used(3), 3u);
  EXPECT_EQ(world.ladders.pool().used(), 1u);
  EXPECT_EQ(world.effects_read, 4);
  Archetype& lamp = *world.store.find(kLamp);
  const Door* const door = lamp.extensions().find<Door>(Door::kKind);
  ASSERT_NE(door, nullptr);
  EXPECT_EQ(door->limit, 0.75f) << "the last is found first";
  ASSERT_NE(door->next(), nullptr);
  EXPECT_EQ(static_cast<const Door*>(door->next())->limit, 0.5f);
  EXPECT_EQ(door->next(), &world.doors.elements(3)[0]);
  EXPECT_EQ(door, &world.doors.elements(3)[1]) << "one array for the file";
  EXPECT_TRUE(world.store.find(kShop)->extensions().has(Ladder::kKind));
  EXPECT_TRUE(world.store.find(kFlat)->extensions().empty());
  EXPECT_EQ(world.store.find(hash_name("bench"))->extensions().find<Door>(Door::kKind)->limit, 1.5f);
  EXPECT_EQ(world.effects.left_out(), 0u);
  ASSERT_TRUE(unload_map_types(world.store, 3).ok());
  EXPECT_FALSE(world.doors.is_open(3));
  EXPECT_EQ(Door::g_alive, 0);
  EXPECT_EQ(world.ladders.pool().used(), 0u);
}

// EXTN-5, ARCH-4
TEST(MapTypes, UnknownEffectsAreLeftOut) {
  World world;
  test::CapturedLog log;
  TypesMaker maker;
  for (uint32_t i = 0; i < 5; ++i) {
    maker.base(NameHash{100 + i});
    maker.unknown(i, hash_type("CExtensionDefNew"));
    maker.ladder(i);
    maker.unknown(i, hash_type("CExtensionDefDoor"));  // a kind that the schema lacks and the host knows by name
  }
  const TypesFile file = maker.finish("odd");
  // A store without a reader: that of `world` is not made for such doors.
  ArchetypeStore store;
  ASSERT_TRUE(store.init({.slots = {50, 200}, .types = 30, .effects = &world.effects}, world.memory).ok());
  store.add_effect_silo(hash_type("CExtensionDefDoor"), world.doors);
  ASSERT_TRUE(load_map_types(store, file.resource(), {.slot = 4}).ok());
  EXPECT_EQ(store.archetypes(4).size(), 5u);
  EXPECT_EQ(world.doors.used(4), 5u);
  EXPECT_EQ(world.ladders.pool().used(), 3u) << "as many as the pool holds";
  EXPECT_EQ(world.effects.left_out(), 5u + 2u);
  EXPECT_EQ(log.count(), 2u) << log.all();  // the unknown structure, the full pool
}

// ARCH-7, P089: distances 60 -> 200 -> 60.
TEST(MapTypes, AnOverrideThatLeavesRestoresWhatWasThere) {
  World world;
  test::CapturedLog log;
  TypesMaker first, second;
  first.base("qa_a", {.lod = 60});
  second.base("qa_a", {.lod = 200});
  const TypesFile original = first.finish("T1"), override_file = second.finish("T1 of another pack");
  const NameHash name = hash_name("qa_a");
  ASSERT_TRUE(load_map_types(world.store, original.resource(), {.slot = 1, .layer = 0}).ok());
  Archetype* const before = world.store.find(name);
  const ModelId id = before->model_id();
  EXPECT_EQ(before->lod_distance(), 60);
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(load_map_types(world.store, override_file.resource(), {.slot = 2, .layer = 1}).ok());
    EXPECT_EQ(world.store.find(name)->lod_distance(), 200);
    ASSERT_TRUE(unload_map_types(world.store, 2).ok());
    ASSERT_EQ(world.store.find(name), before);
    EXPECT_EQ(world.store.model_id(name), id);
    EXPECT_EQ(before->lod_distance(), 60);
  }
  // The other way round: what is hidden goes first.
  ASSERT_TRUE(load_map_types(world.store, override_file.resource(), {.slot = 2, .layer = 1}).ok());
  ASSERT_TRUE(unload_map_types(world.store, 1).ok());
  EXPECT_EQ(world.store.find(name)->lod_distance(), 200);
  ASSERT_TRUE(unload_map_types(world.store, 2).ok());
  EXPECT_EQ(world.store.find(name), nullptr);
  EXPECT_EQ(log.count(), 0u) << log.all();
}

// ARCH-4: a load that fails midway leaves no trace, whichever allocation fails.
TEST(MapTypes, LoadsAllOrNothing) {
  World world;
  const TypesFile file = town();
  const uint64_t before = world.memory.bytes();
  int failures = 0;
  for (;; ++failures) {
    world.memory.fail_after(failures);
    const Status status = load_map_types(world.store, file.resource(), {.slot = 3, .file = file.name()});
    world.memory.fail_after(-1);
    if (status.ok()) break;
    EXPECT_EQ(status.code, StatusCode::out_of_memory);
    EXPECT_EQ(status.name, file.name());
    EXPECT_EQ(world.memory.bytes(), before);
    EXPECT_FALSE(world.store.is_loaded(3));
    EXPECT_EQ(world.store.name_count(), 0u);
    EXPECT_EQ(world.store.streamed_used(), 0u);
    EXPECT_EQ(world.store.components().used(), 0u);
    EXPECT_EQ(Door::g_alive, 0);
  }
  EXPECT_EQ(failures, 6) << "the list, four kinds, the doors";
  EXPECT_TRUE(unload_map_types(world.store, 3).ok());
}

// ARCH-4
TEST(MapTypes, AThousandLoadsLeaveNothing) {
  World world;
  const TypesFile file = town();
  const uint64_t bytes = world.memory.bytes(), blocks = world.memory.blocks();
  for (int round = 0; round < 1000; ++round) {
    ASSERT_TRUE(load_map_types(world.store, file.resource(), {.slot = static_cast<ItypSlot>(round % 30)}).ok());
    ASSERT_EQ(world.store.streamed_used(), 5u);
    ASSERT_EQ(world.store.components().used(), 1u);
    ASSERT_TRUE(unload_map_types(world.store, static_cast<ItypSlot>(round % 30)).ok());
    ASSERT_EQ(world.memory.bytes(), bytes);
    ASSERT_EQ(world.memory.blocks(), blocks);
    ASSERT_EQ(world.store.streamed_used() + world.store.permanent_used() + world.store.name_count(), 0u);
    ASSERT_EQ(world.store.components().used() + world.ladders.pool().used(), 0u);
    ASSERT_EQ(Door::g_alive, 0);
  }
  EXPECT_EQ(world.store.left_out() + world.effects.left_out(), 0u);
}

// ARCH-1: without a component an archetype goes on.
TEST(MapTypes, AFullPoolOfComponentsCostsOnlyTheDictionaries) {
  World world({.slots = {50, 200}, .types = 30, .components = 1});
  test::CapturedLog log;
  TypesMaker maker;
  maker.base(kLamp, {.clips = 21});
  maker.base(kShop, {.physics = 22});
  const TypesFile file = maker.finish("two");
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(load_map_types(world.store, file.resource(), {.slot = 3}).ok());
    EXPECT_EQ(world.store.find(kLamp)->clip_dictionary(), NameHash{21});
    EXPECT_EQ(world.store.find(kShop)->physics_dictionary(), NameHash{});
    ASSERT_TRUE(unload_map_types(world.store, 3).ok());
  }
  EXPECT_EQ(log.count(), 2u) << log.all();  // of the pool, of the archetype
  EXPECT_EQ(log.said()[1].name, kShop);
}

// ARCH-3: where slots run out, the rest of the file is right, effects included.
TEST(MapTypes, LeavesOutWhatHasNoSlot) {
  World world({.slots = {0, 1}, .types = 30, .components = 10});
  test::CapturedLog log;
  const TypesFile file = town();
  ASSERT_TRUE(load_map_types(world.store, file.resource(), {.slot = 3}).ok());
  EXPECT_EQ(world.store.archetypes(3).size(), 1u);
  EXPECT_EQ(world.store.find(kLamp)->lod_distance(), 60);
  EXPECT_EQ(world.doors.used(3), 2u);
  EXPECT_EQ(world.store.left_out(), 4u);
  EXPECT_EQ(log.count(), 4u) << log.all();
}

TEST(MapTypes, LeavesOutWhatHasNoName) {
  World world;
  test::CapturedLog log;
  TypesMaker maker;
  maker.base(NameHash{});
  maker.composite(nullptr);
  maker.composite("");
  maker.base(kLamp);
  const TypesFile file = maker.finish("nameless");
  ASSERT_TRUE(load_map_types(world.store, file.resource(), {.slot = 3, .file = file.name()}).ok());
  EXPECT_EQ(world.store.archetypes(3).size(), 1u);
  EXPECT_EQ(world.store.left_out(), 3u);
  EXPECT_EQ(log.count(), 1u) << log.all();
}

TEST(MapTypes, TakesEmptyFilesAndNoOthers) {
  World world;
  TypesMaker maker;
  const TypesFile empty = maker.finish("empty");
  EXPECT_TRUE(load_map_types(world.store, empty.resource(), {.slot = 3}).ok());
  EXPECT_TRUE(world.store.is_published(3));
  EXPECT_TRUE(unload_map_types(world.store, 3).ok());
  EXPECT_EQ(unload_map_types(world.store, 3).code, StatusCode::not_found);

  flatbuffers::FlatBufferBuilder builder;
  schema::FinishMapTypesBuffer(builder, schema::CreateMapTypes(builder));  // nothing at all, not even empty lists
  const TypesFile bare({builder.GetBufferPointer(), builder.GetSize()}, NameHash{1});
  EXPECT_TRUE(load_map_types(world.store, bare.resource(), {.slot = 3}).ok());
  EXPECT_TRUE(unload_map_types(world.store, 3).ok());
  EXPECT_EQ(load_map_types(world.store, Resource{}, {.slot = 3}).code, StatusCode::wrong_kind);
  EXPECT_FALSE(world.store.is_loaded(3));
}

// Where a file says two things of one archetype, the last counts, as for the compiler.
TEST(MapTypes, TheLastRecordOfAnOwnerCounts) {
  World world;
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<schema::ArchetypeDef> definitions{test::definition_of(kLamp, {}), test::definition_of(kShop, {})};
  const std::vector<flatbuffers::Offset<schema::TimeArchetypeDef>> times{
      schema::CreateTimeArchetypeDef(builder, 0, schema::TimeFlags::hour_01),
      schema::CreateTimeArchetypeDef(builder, 0, schema::TimeFlags::hour_02),
      schema::CreateTimeArchetypeDef(builder, 1, schema::TimeFlags::hour_03)};
  const std::vector<flatbuffers::Offset<schema::MloArchetypeDef>> interiors{schema::CreateMloArchetypeDef(builder, 1)};
  schema::FinishMapTypesBuffer(
      builder, schema::CreateMapTypesDirect(builder, nullptr, &definitions, &times, &interiors, nullptr, 1));
  const TypesFile file({builder.GetBufferPointer(), builder.GetSize()}, NameHash{1});
  ASSERT_TRUE(load_map_types(world.store, file.resource(), {.slot = 3}).ok());
  EXPECT_EQ(world.store.find(kLamp)->as<TimeArchetype>()->hours(), 1u << 2);
  EXPECT_NE(world.store.find(kShop)->as<InteriorArchetype>(), nullptr) << "an interior, whatever its hours";
}

// EXTN-4, EXTN-5: the names of structures are those of the schema.
TEST(MapTypes, KnowsTheStructuresOfExtensions) {
  std::ifstream in(MERIDIAN_SOURCE_DIR "/schemas/meridian/extensions.fbs");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::string> members;
  const size_t at = text.find("union ExtensionDef {");
  ASSERT_NE(at, std::string::npos);
  const std::string body = text.substr(at + 20, text.find('}', at) - at - 20);
  const std::regex word("\\w+");
  for (auto i = std::sregex_iterator(body.begin(), body.end(), word); i != std::sregex_iterator(); ++i) {
    members.push_back(i->str());
  }
  ASSERT_EQ(members.size(), 15u);
  for (size_t i = 0; i + 1 < members.size(); ++i) {
    std::smatch found;
    ASSERT_TRUE(std::regex_search(text, found, std::regex("table " + members[i] + " \\(xml:\"(\\w+)\"")));
    EXPECT_EQ(detail::kExtensionStructures[i + 1], hash_type(found[1].str())) << members[i];
  }
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(schema::CreateExtension(builder));
  EXPECT_EQ(detail::extension_structure(*flatbuffers::GetRoot<schema::Extension>(builder.GetBufferPointer())),
            TypeHash{});
}

}  // namespace
}  // namespace meridian
