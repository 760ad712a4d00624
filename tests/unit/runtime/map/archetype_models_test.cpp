// SPDX-License-Identifier: MIT
// Rules: STR-8 (archetypes are dummies), STR-2 (archetype -> model -> textures -> their parent), STR-3 (what is needed
// stays), ARCH-5 (a missing entry flags the model and stalls nothing; conflicting textures are reported).
#include "meridian/map/archetype_models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models_kit.h"
#include "support/captured.h"
#include "support/checked_memory.h"

namespace meridian {
namespace {

using test::Definition;
using test::file_with;
using test::Host;
using test::kFragmentKind;
using test::kModelKind;
using test::kModelsKind;
using test::kTextureKind;
using test::kTypesKind;
using test::model_of;
using Lines = std::vector<std::string>;

constexpr StreamKeeper kScript = StreamKeeper::script, kCode = StreamKeeper::code;

// STR-8, STR-2
TEST(ArchetypeModels, AChainLoadsInOrderAndLeavesInReverse) {
  Host h;
  test::TypesMaker maker;
  maker.base("vase", model_of(schema::AssetType::DRAWABLEDICTIONARY, "vase_model", "vases", "china"));
  h.bring({{kTypesKind, "props", file_with(maker, "props")},
           {kModelsKind, "vases", "models"},
           {kTextureKind, "china", "white"},
           {kTextureKind, "shared", "all"}});
  h.world.mount({{kTextureKind, "more", "0123456789"}});
  h.entries[hash_name("vases").value] = {hash_name("jar"), hash_name("cup"), hash_name("vase_model")};
  ASSERT_TRUE(h.textures.adopt(h.textures.find(hash_name("china")), hash_name("shared")).ok());
  h.load_types("props");
  Archetype& vase = h.archetype("vase");
  EXPECT_EQ(vase.dictionary_entry(), kNoDictionaryEntry);
  EXPECT_EQ(vase.drawable_slot(), kNoDrawableSlot);
  const StreamIndex index = h.index("vase");
  EXPECT_EQ(index, h.models.index(vase.model_id().archetype));
  h.engine().keep(index, kScript);
  h.world.settle();
  EXPECT_TRUE(h.engine().is_loaded(index));
  EXPECT_EQ(h.world.take_journal(), (Lines{"+shared", "+china", "+vases"}));
  EXPECT_EQ(vase.dictionary_entry(), 2);
  EXPECT_EQ(vase.drawable_slot(), h.dictionaries.find(hash_name("vases")));
  EXPECT_FALSE(h.models.is_model_missing(vase.model_id().archetype));
  EXPECT_EQ(h.models.archetype(vase.model_id().archetype), &vase);

  // All of it is needed: nothing goes, however short memory is.
  h.engine().set_budget({.bytes = 1});
  ASSERT_TRUE(h.textures.add(hash_name("more")).ok());
  h.engine().request(h.textures.find_index(hash_name("more")));
  h.world.settle();
  EXPECT_EQ(h.world.take_journal(), Lines());
  EXPECT_TRUE(h.engine().is_loaded(h.types.find_index(hash_name("props"))));
  h.engine().cancel(h.textures.find_index(hash_name("more")));
  h.engine().set_budget({});

  h.engine().drop(index, kScript);
  h.world.settle();
  EXPECT_EQ(h.engine().state(index), StreamState::not_loaded);
  EXPECT_EQ(vase.dictionary_entry(), kNoDictionaryEntry);
  EXPECT_EQ(vase.drawable_slot(), kNoDrawableSlot);
  h.world.finish();
  EXPECT_EQ(h.world.take_journal(), (Lines{"-vases", "-china", "-shared"}));
  EXPECT_EQ(h.store.find(hash_name("vase")), nullptr);
}

// STR-8
TEST(ArchetypeModels, EachKindNeedsItsFile) {
  Host h;
  test::TypesMaker maker;
  maker.base("house", model_of(schema::AssetType::DRAWABLE, "house_model", "", "bricks"));
  maker.base("fence", model_of(schema::AssetType::FRAGMENT, "fence_model"));
  maker.base("cave", model_of(schema::AssetType::ASSETLESS, ""));
  maker.base("ghost", model_of(schema::AssetType::UNINITIALIZED, ""));
  h.bring({{kTypesKind, "town", file_with(maker, "town")},
           {kModelKind, "house_model", "h"},
           {kFragmentKind, "fence_model", "f"},
           {kTextureKind, "bricks", "red"}});
  h.load_types("town");
  const StreamIndex types = h.types.find_index(hash_name("town"));
  const auto needs = [&](const char* name) {
    StreamDependency out[4];
    const uint32_t count = h.models.dependencies(h.archetype(name).model_id().archetype, out);
    std::vector<StreamIndex> indices;
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_FALSE(out[i].soft);
      indices.push_back(out[i].index);
    }
    return indices;
  };
  for (const char* name : {"house", "fence", "cave", "ghost"}) h.engine().request(h.index(name));
  EXPECT_EQ(needs("house"), (std::vector{types, h.drawables.find_index(hash_name("house_model"))}));
  EXPECT_EQ(needs("fence"), (std::vector{types, h.fragments.find_index(hash_name("fence_model"))}));
  EXPECT_EQ(needs("cave"), std::vector{types});
  EXPECT_EQ(needs("ghost"), std::vector{types});
  EXPECT_TRUE(h.models.is_dummy(0));
  EXPECT_FALSE(h.models.locate(0));
  for (const char* name : {"house", "fence", "cave", "ghost"}) h.engine().keep(h.index(name), kCode);
  h.world.settle();
  for (const char* name : {"house", "fence", "cave", "ghost"}) EXPECT_TRUE(h.engine().is_loaded(h.index(name))) << name;
  Lines journal = h.world.take_journal();
  ASSERT_EQ(journal.size(), 3u);
  EXPECT_LT(std::find(journal.begin(), journal.end(), "+bricks"),
            std::find(journal.begin(), journal.end(), "+house_model"));
  EXPECT_EQ(h.archetype("cave").drawable_slot(), kNoDrawableSlot);
}

// ARCH-5
TEST(ArchetypeModels, AMissingEntryFlagsTheModelAndStallsNothing) {
  Host h;
  test::TypesMaker maker;
  maker.base("lost", model_of(schema::AssetType::DRAWABLEDICTIONARY, "lost_model", "vases"));
  maker.base("cup", model_of(schema::AssetType::DRAWABLEDICTIONARY, "cup_model", "vases"));
  h.bring({{kTypesKind, "props", file_with(maker, "props")}, {kModelsKind, "vases", "models"}});
  h.entries[hash_name("vases").value] = {hash_name("cup_model")};
  h.load_types("props");
  const test::CapturedLog log;
  for (int round = 0; round < 3; ++round) {
    h.engine().keep(h.index("lost"), kScript);
    h.engine().keep(h.index("cup"), kScript);
    h.world.settle();
    EXPECT_TRUE(h.engine().is_loaded(h.index("lost")));
    EXPECT_TRUE(h.engine().is_loaded(h.index("cup")));
    EXPECT_TRUE(h.archetype("lost").is_model_missing());
    EXPECT_TRUE(h.models.is_model_missing(h.archetype("lost").model_id().archetype));
    EXPECT_EQ(h.archetype("lost").dictionary_entry(), kNoDictionaryEntry);
    EXPECT_FALSE(h.archetype("cup").is_model_missing());
    EXPECT_EQ(h.archetype("cup").dictionary_entry(), 0);
    h.engine().drop(h.index("lost"), kScript);
    h.engine().drop(h.index("cup"), kScript);
    h.world.settle();
    EXPECT_FALSE(h.models.is_model_missing(h.archetype("lost").model_id().archetype));
  }
  ASSERT_EQ(log.count(), 1u) << log.all();
  EXPECT_EQ(log.said()[0].name, hash_name("lost"));
}

TEST(ArchetypeModels, AModelWithoutASlotIsMissingAndToldOnce) {
  Host h;
  test::TypesMaker maker;
  maker.base("shed", model_of(schema::AssetType::DRAWABLE, "shed_model"));
  maker.base("jar", model_of(schema::AssetType::DRAWABLEDICTIONARY, "jar_model", "jars"));
  h.bring({{kTypesKind, "town", file_with(maker, "town")}});
  h.load_types("town");
  const test::CapturedLog log;
  for (int round = 0; round < 2; ++round) {
    for (const char* name : {"shed", "jar"}) {
      h.engine().keep(h.index(name), kScript);
      h.world.settle();
      EXPECT_TRUE(h.engine().is_loaded(h.index(name)));
      EXPECT_TRUE(h.models.is_model_missing(h.archetype(name).model_id().archetype));
      EXPECT_EQ(h.archetype(name).drawable_slot(), kNoDrawableSlot);
      h.engine().drop(h.index(name), kScript);
      h.world.settle();
    }
  }
  EXPECT_EQ(
      std::count_if(log.said().begin(), log.said().end(),
                    [](const test::Said& said) { return said.text.find("has no slot for") != std::string::npos; }),
      2);
}

// ARCH-5: of one dictionary.
TEST(ArchetypeModels, TheTexturesOfTheFirstCountForADictionary) {
  Host h;
  test::TypesMaker maker;
  maker.base("one", model_of(schema::AssetType::DRAWABLEDICTIONARY, "one_model", "vases", "china"));
  maker.base("two", model_of(schema::AssetType::DRAWABLEDICTIONARY, "two_model", "vases", "clay"));
  h.bring({{kTypesKind, "props", file_with(maker, "props")},
           {kModelsKind, "vases", "models"},
           {kTextureKind, "china", "white"},
           {kTextureKind, "clay", "brown"}});
  h.entries[hash_name("vases").value] = {hash_name("one_model"), hash_name("two_model")};
  const test::CapturedLog log;
  h.load_types("props");
  ASSERT_EQ(log.count(), 1u) << log.all();
  h.engine().keep(h.index("two"), kScript);  // the second comes first, and gets what the first one asks for
  h.engine().keep(h.index("one"), kScript);
  h.world.settle();
  EXPECT_EQ(h.world.take_journal(), (Lines{"+china", "+vases"}));
  EXPECT_EQ(h.archetype("two").dictionary_entry(), 1);
  EXPECT_EQ(log.count(), 1u) << log.all();
}

// ARCH-5: of one model in a file of its own.
TEST(ArchetypeModels, TexturesThatAModelCannotHaveAreTold) {
  Host h;
  test::TypesMaker maker;
  maker.base("one", model_of(schema::AssetType::DRAWABLE, "model", "", "china"));
  maker.base("two", model_of(schema::AssetType::DRAWABLE, "model", "", "clay"));
  maker.base("bare", model_of(schema::AssetType::DRAWABLE, "other", "", "nowhere"));
  h.bring({{kTypesKind, "props", file_with(maker, "props")},
           {kModelKind, "model", "m"},
           {kModelKind, "other", "o"},
           {kTextureKind, "china", "white"},
           {kTextureKind, "clay", "brown"}});
  h.load_types("props");
  const test::CapturedLog log;
  for (const char* name : {"one", "two", "bare", "two", "bare"}) {
    h.engine().keep(h.index(name), kScript);
    h.world.settle();
    EXPECT_TRUE(h.engine().is_loaded(h.index(name)));
    h.engine().drop(h.index(name), kScript);
    h.world.settle();
  }
  EXPECT_EQ(h.drawables.parent(h.drawables.find(hash_name("model"))), h.textures.find_index(hash_name("china")));
  ASSERT_EQ(log.count(), 2u) << log.all();
  EXPECT_EQ(log.said()[0].name, hash_name("two"));
  EXPECT_EQ(log.said()[1].name, hash_name("bare"));
}

// STR-3: one place for drawables.
TEST(ArchetypeModels, EvictionKeepsWhatIsReferredTo) {
  Host h(20, 1);
  test::TypesMaker maker;
  maker.base("house", model_of(schema::AssetType::DRAWABLE, "house_model"));
  maker.base("barn", model_of(schema::AssetType::DRAWABLE, "barn_model"));
  h.bring({{kTypesKind, "town", file_with(maker, "town")},
           {kModelKind, "house_model", "h"},
           {kModelKind, "barn_model", "b"}});
  h.load_types("town");
  h.engine().keep(h.index("house"), kScript);
  h.world.settle();
  h.engine().add_ref(h.index("house"), StreamRef::entity);
  h.engine().drop(h.index("house"), kScript);
  h.engine().keep(h.index("barn"), kScript);
  h.world.settle();
  EXPECT_EQ(h.world.take_journal(), Lines{"+house_model"});
  EXPECT_FALSE(h.engine().is_loaded(h.index("barn")));
  h.engine().remove_ref(h.index("house"), StreamRef::entity);
  h.world.settle();
  EXPECT_EQ(h.world.take_journal(), (Lines{"-house_model", "+barn_model"}));
  EXPECT_TRUE(h.engine().is_loaded(h.index("barn")));
}

TEST(ArchetypeModels, TheTypeFileStaysWhileAModelIsLoaded) {
  Host h;
  test::TypesMaker maker;
  maker.base("cave", model_of(schema::AssetType::ASSETLESS, ""));
  h.bring({{kTypesKind, "caves", file_with(maker, "caves")}});
  const StreamIndex types = h.types.find_index(hash_name("caves"));
  h.load_types("caves");
  const StreamIndex cave = h.index("cave");
  h.engine().keep(cave, kScript);
  h.world.settle();
  h.engine().set_max_loaded(0, 1);
  test::TypesMaker other;
  other.base("hut", model_of(schema::AssetType::ASSETLESS, ""));
  h.bring({{kTypesKind, "huts", file_with(other, "huts")}});
  h.engine().request(h.types.find_index(hash_name("huts")));
  h.world.settle();
  EXPECT_TRUE(h.engine().is_loaded(types));
  EXPECT_FALSE(h.engine().is_loaded(h.types.find_index(hash_name("huts"))));
  h.engine().drop(cave, kScript);
  h.world.settle();
  EXPECT_FALSE(h.engine().is_loaded(types));
  EXPECT_TRUE(h.engine().is_loaded(h.types.find_index(hash_name("huts"))));
  EXPECT_EQ(h.store.find(hash_name("cave")), nullptr);
}

// STR-8: slots without an archetype, and slots of another archetype.
TEST(ArchetypeModels, EmptySlotsFailAndServeTheNextArchetype) {
  Host h(1);  // one streamed slot: the next archetype has the same
  test::TypesMaker maker;
  maker.base("cave", model_of(schema::AssetType::ASSETLESS, ""));
  h.bring({{kTypesKind, "caves", file_with(maker, "caves")}});
  h.load_types("caves");
  const ArchetypeSlot slot = h.archetype("cave").model_id().archetype;
  const StreamIndex index = h.models.index(slot);
  h.unload(h.types.find_index(hash_name("caves")));
  ASSERT_EQ(h.store.find(hash_name("cave")), nullptr);
  EXPECT_EQ(h.models.archetype(slot), nullptr);
  EXPECT_EQ(h.models.dependencies(slot, {}), 0u);
  EXPECT_TRUE(h.models.is_dummy(slot));
  EXPECT_EQ(h.models.archetype(1000), nullptr);
  EXPECT_EQ(h.models.dependencies(1000, {}), 0u);
  const test::CapturedLog log;
  EXPECT_EQ(h.engine().load_now(index).code, StatusCode::not_found);
  EXPECT_EQ(h.engine().state(index), StreamState::failed);
  EXPECT_EQ(h.models.forget_departed(h.engine()), 0u);  // it is as it was when it failed

  test::TypesMaker other;
  other.base("hut", model_of(schema::AssetType::DRAWABLE, "hut_model"));
  h.bring({{kTypesKind, "huts", file_with(other, "huts")}, {kModelKind, "hut_model", "h"}});
  h.load_types("huts");
  ASSERT_EQ(h.index("hut"), index);
  EXPECT_EQ(h.models.forget_departed(h.engine()), 1u);
  EXPECT_EQ(h.models.forget_departed(h.engine()), 0u);
  EXPECT_TRUE(h.engine().is_idle(index));
  h.engine().keep(index, kScript);
  h.world.settle();
  EXPECT_TRUE(h.engine().is_loaded(index));
  EXPECT_EQ(h.world.take_journal(), Lines{"+hut_model"});
}

TEST(ArchetypeModels, AModelThatFailedIsForgottenWithItsArchetype) {
  Host h(1);
  test::TypesMaker maker;
  maker.base("barn", model_of(schema::AssetType::DRAWABLE, "barn_model"));
  h.bring({{kTypesKind, "farm", file_with(maker, "farm")}});
  ASSERT_TRUE(h.drawables.add(hash_name("barn_model")).ok());  // a slot, and no mount
  h.load_types("farm");
  const StreamIndex index = h.index("barn");
  const test::CapturedLog log;
  EXPECT_EQ(h.engine().load_now(index).code, StatusCode::not_found);
  EXPECT_EQ(h.models.slot_name(h.archetype("barn").model_id().archetype), hash_name("barn"));
  EXPECT_EQ(h.models.forget_departed(h.engine()), 0u);
  h.unload(h.types.find_index(hash_name("farm")));
  EXPECT_EQ(h.models.forget_departed(h.engine()), 1u);
  EXPECT_EQ(h.engine().state(index), StreamState::not_loaded);
}

// What was asked for first counts until the slot is given up, whatever names come to mean.
TEST(ArchetypeModels, NamesThatChangeMeanwhileCountFromTheNextRequest) {
  Host h;
  test::TypesMaker maker;
  maker.base("house", model_of(schema::AssetType::DRAWABLE, "house_model"));
  h.bring({{kTypesKind, "town", file_with(maker, "town")}, {kModelKind, "house_model", "h"}});
  h.load_types("town");
  const uint32_t before = h.drawables.find(hash_name("house_model"));
  h.engine().keep(h.index("house"), kScript);
  h.world.settle();
  EXPECT_EQ(h.archetype("house").drawable_slot(), before);
  const uint32_t after = h.drawables.add_aside(hash_name("house_model")).value();
  h.drawables.lead_to(after);
  StreamDependency needed[2];
  ASSERT_EQ(h.models.dependencies(h.archetype("house").model_id().archetype, needed), 2u);
  EXPECT_EQ(needed[1].index, h.drawables.index(before));
  h.engine().drop(h.index("house"), kScript);
  h.world.settle();
  h.engine().keep(h.index("house"), kScript);
  h.world.settle();
  EXPECT_EQ(h.archetype("house").drawable_slot(), after);
  EXPECT_NE(h.drawables.get(after), nullptr);
}

TEST(ArchetypeModels, IndicesAreOfArchetypesInTheStore) {
  Host h;
  const Archetype stranger;
  EXPECT_EQ(h.models.index_of(stranger), kNoStream);
  ArchetypeModels few;
  test::BrokenContracts contracts;
  EXPECT_EQ(few.init({}).code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts));
  ArchetypeModelsConfig config = h.config(10);
  config.entries = nullptr;
  EXPECT_EQ(few.init(config).code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(few.init(h.config(0)).code, StatusCode::bad_value);
  EXPECT_EQ(few.init(h.config(kMaxModelSlots + 1)).code, StatusCode::bad_value);
  test::CheckedMemory memory;
  memory.fail_after(0);
  EXPECT_EQ(few.init(h.config(10), memory).code, StatusCode::out_of_memory);
}

}  // namespace
}  // namespace meridian
