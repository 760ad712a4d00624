// SPDX-License-Identifier: MIT
// Rules: STORE-1 (one template for all stores, slots by the gameconfig), STORE-3 (slots at run time, garbage), STR-2
// (dependencies first), STR-3 (nothing that is needed leaves).
#include "meridian/stream/asset_store.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "meridian/stream/thread_io.h"
#include "support/asset_kit.h"
#include "support/captured.h"
#include "support/checked_memory.h"

namespace meridian {
namespace {

using test::AssetWorld;
using test::kModelKind;
using test::kTextureKind;
using Store = AssetStore<CountedAsset>;
using Lines = std::vector<std::string>;

constexpr NameHash kBark = hash_name("bark"), kWood = hash_name("wood"), kStone = hash_name("stone");
constexpr StreamKeeper kScript = StreamKeeper::script, kCode = StreamKeeper::code;

struct Textures : AssetWorld {
  Store store{kTxdStore.module};
  MountId base;
  Textures() {
    base =
        mount({{kTextureKind, "bark", "brown"}, {kTextureKind, "wood", "brownish"}, {kTextureKind, "stone", "grey"}});
    EXPECT_TRUE(store.init({.slots = 8, .mounts = &mounts, .kind = kTextureKind, .parents = &store}, loader()).ok());
  }
  ~Textures() { finish(); }
  uint32_t add(NameHash name) {
    const Result<uint32_t> slot = store.add(name);
    EXPECT_TRUE(slot.ok());
    return slot.ok() ? slot.value() : kNoStreamSlot;
  }
  StreamIndex at(NameHash name) { return store.index(add(name)); }
};

// STORE-1
TEST(AssetStore, ObjectsAreMadeOfTheBytesOfTheirNames) {
  Textures t;
  t.start({{&t.store}});
  const uint32_t bark = t.add(kBark);
  EXPECT_EQ(t.store.get(bark), nullptr);
  t.engine.keep(t.store.index(bark), kScript);
  t.settle();
  const CountedAsset* const there = t.store.find_object(kBark);
  ASSERT_NE(there, nullptr);
  EXPECT_EQ(there, t.store.get(bark));
  EXPECT_EQ(there->name, kBark);
  EXPECT_EQ(there->bytes, 5u);
  EXPECT_EQ(there->checksum, test::xxh3("brown"));
  EXPECT_EQ(t.store.loaded(), 1u);
  EXPECT_EQ(t.counter.live(), 1u);
  EXPECT_EQ(t.counter.bytes(), 5u);
  EXPECT_EQ(t.counter.prepared(), 1u);
  EXPECT_EQ(t.store.find_object(kWood), nullptr);
  EXPECT_EQ(t.store.get(7), nullptr);
  EXPECT_EQ(t.store.get(kNoStreamSlot), nullptr);
  t.finish();
  EXPECT_EQ(t.store.get(bark), nullptr);
  EXPECT_EQ(t.counter.live(), 0u);
  EXPECT_EQ(t.counter.bytes(), 0u);
  EXPECT_EQ(t.counter.loads(), 1u);
  EXPECT_EQ(t.counter.unloads(), 1u);
}

// STORE-1
TEST(AssetStore, SlotsComeFromTheGameconfigByTheNameOfTheModule) {
  test::CapturedLog log;
  constexpr PoolSizeRow kRows[] = {{hash_name("txdstore"), 380000}, {hash_name("AnimStore"), 22100}};
  const ConfigSource sources[] = {{.filter = {"any", "any", ""}, .pools = kRows}};
  GameConfig config;
  ASSERT_TRUE(config.load(sources, ConfigTarget{}).ok());
  EXPECT_EQ(configured_slots(config, kTxdStore).value(), 380000u);
  EXPECT_EQ(configured_slots(config, kClipDictionaryStore).value(), 22100u);
  EXPECT_EQ(configured_slots(config, kDrawableStore).value(), kDrawableStore.slots);
  std::set<std::string> modules;
  for (const StoreSize& size : kStoreSizes) {
    modules.insert(size.module);
    EXPECT_GT(size.slots, kFromConfig) << size.module;
  }
  EXPECT_EQ(modules, (std::set<std::string>{"DrawableStore", "DwdStore", "FragmentStore", "TxdStore", "StaticBounds",
                                            "PhysicsBounds", "AnimStore"}));
}

// STR-2: a drawable -> its textures -> their parent.
TEST(AssetStore, ParentsLoadFirstAndLeaveLast) {
  Textures t;
  t.mount({{kModelKind, "tree", "triangles"}});
  Store models(kDrawableStore.module);
  ASSERT_TRUE(models.init({.slots = 4, .mounts = &t.mounts, .kind = kModelKind, .parents = &t.store}, t.loader()).ok());
  t.start({{&t.store}, {&models}});
  const uint32_t tree = models.add(hash_name("tree")).value();
  ASSERT_TRUE(models.set_parent(tree, t.at(kBark)).ok());
  ASSERT_TRUE(t.store.set_parent(t.add(kBark), t.at(kWood)).ok());
  EXPECT_EQ(models.parent(tree), t.at(kBark));
  EXPECT_EQ(t.store.children(t.add(kBark)), 1u);
  t.engine.keep(models.index(tree), kScript);
  t.settle();
  EXPECT_EQ(t.take_journal(), (Lines{"+wood", "+bark", "+tree"}));
  t.finish();
  EXPECT_EQ(t.take_journal(), (Lines{"-tree", "-bark", "-wood"}));
}

// STR-3: room for two; what is needed stays, the rest goes by age.
TEST(AssetStore, EvictionKeepsWhatIsReferredTo) {
  Textures t;
  t.start({{&t.store, 2}});
  ASSERT_TRUE(t.engine.load_now(t.at(kBark)).ok());
  t.engine.add_ref(t.at(kBark), StreamRef::entity);
  ASSERT_TRUE(t.engine.load_now(t.at(kWood)).ok());
  ASSERT_TRUE(t.engine.load_now(t.at(kStone)).ok());
  EXPECT_EQ(t.take_journal(), (Lines{"+bark", "+wood", "-wood", "+stone"}));
  t.engine.remove_ref(t.at(kBark), StreamRef::entity);
  ASSERT_TRUE(t.store.set_parent(t.add(kStone), t.at(kBark)).ok());
  t.engine.reload(t.at(kStone));
  ASSERT_TRUE(t.engine.load_now(t.at(kStone)).ok());
  t.take_journal();
  t.engine.keep(t.at(kStone), kScript);
  t.engine.request(t.at(kWood));
  t.settle();
  EXPECT_EQ(t.take_journal(), Lines());  // both places are needed: one is kept, the other its parent
  EXPECT_EQ(t.engine.why(t.at(kWood)).denial, StreamDenial::slots);
  t.engine.drop(t.at(kStone), kScript);
  t.settle();
  EXPECT_EQ(t.take_journal(), (Lines{"-stone", "+wood"}));
  EXPECT_TRUE(t.engine.is_loaded(t.at(kBark)));
}

TEST(AssetStore, CirclesOfParentsAreRefused) {
  Textures t;
  t.start({{&t.store}});
  ASSERT_TRUE(t.store.set_parent(t.add(kBark), t.at(kWood)).ok());
  ASSERT_TRUE(t.store.set_parent(t.add(kWood), t.at(kStone)).ok());
  const Status circle = t.store.set_parent(t.add(kStone), t.at(kBark));
  EXPECT_EQ(circle.code, StatusCode::bad_structure);
  EXPECT_EQ(circle.name, kStone);
  EXPECT_EQ(circle.detail, t.at(kBark));
  EXPECT_EQ(t.store.set_parent(t.add(kBark), t.at(kBark)).code, StatusCode::bad_structure);
  EXPECT_EQ(t.store.parent(t.add(kStone)), kNoStream);
  EXPECT_EQ(t.store.parent(t.add(kBark)), t.at(kWood));
  StreamIndex found[4];
  EXPECT_EQ(t.engine.find_cycle(found), 0u);
  ASSERT_TRUE(t.store.set_parent(t.add(kWood), kNoStream).ok());
  EXPECT_TRUE(t.store.set_parent(t.add(kStone), t.at(kBark)).ok());
}

TEST(AssetStore, CirclesThroughTwoStoresAreRefused) {
  AssetWorld world;
  Store one("One"), two("Two");
  ASSERT_TRUE(one.init({.slots = 4, .mounts = &world.mounts, .parents = &two}, world.loader()).ok());
  ASSERT_TRUE(two.init({.slots = 4, .mounts = &world.mounts, .parents = &one}, world.loader()).ok());
  world.start({{&one}, {&two}});
  const uint32_t a = one.add(kBark).value(), b = two.add(kBark).value();
  ASSERT_EQ(a, b);  // the same number in both is no circle by itself
  ASSERT_TRUE(one.set_parent(a, two.index(b)).ok());
  EXPECT_EQ(two.set_parent(b, one.index(a)).code, StatusCode::bad_structure);
  EXPECT_EQ(two.children(b), 1u);
  EXPECT_EQ(one.children(a), 0u);
  world.finish();
}

TEST(AssetStore, ParentsAreOfTheStoreOfParents) {
  Textures t;
  Store loners("Loners");
  ASSERT_TRUE(loners.init({.slots = 4, .mounts = &t.mounts, .kind = kModelKind}, t.loader()).ok());
  t.start({{&t.store}, {&loners}});
  const uint32_t one = loners.add(kBark).value();
  EXPECT_EQ(loners.set_parent(one, t.at(kWood)).code, StatusCode::bad_value);
  EXPECT_EQ(loners.adopt(one, kWood).code, StatusCode::not_found);
  EXPECT_EQ(t.store.set_parent(t.add(kBark), loners.index(one)).code, StatusCode::bad_value);
  EXPECT_EQ(t.store.set_parent(t.add(kBark), t.store.index(7)).code, StatusCode::bad_value);  // not used
  EXPECT_EQ(t.store.parent(t.add(kBark)), kNoStream);
  test::BrokenContracts contracts;
  EXPECT_EQ(t.store.set_parent(7, kNoStream).code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts));
  t.finish();
}

TEST(AssetStore, TheFirstParentIsAdoptedAndOthersAreTold) {
  Textures t;
  t.start({{&t.store}});
  (void)t.add(kWood);
  EXPECT_EQ(t.store.adopt(t.add(kBark), hash_name("nothing")).code, StatusCode::not_found);
  EXPECT_TRUE(t.store.adopt(t.add(kBark), kWood).ok());
  EXPECT_TRUE(t.store.adopt(t.add(kBark), kWood).ok());
  const Status other = t.store.adopt(t.add(kBark), kStone);
  EXPECT_EQ(other.code, StatusCode::in_use);
  EXPECT_EQ(other.name, kWood);
}

TEST(AssetStore, WhatTheLoaderRefusesFails) {
  Textures t;
  struct Refusing {
    static CountedAsset* load(void*, NameHash, std::span<const std::byte>) { return nullptr; }
  };
  Store strict("Strict"), picky("Picky");
  AssetLoader<CountedAsset> loader = t.loader();
  loader.load = Refusing::load;
  ASSERT_TRUE(strict.init({.slots = 2, .mounts = &t.mounts, .kind = kTextureKind}, loader).ok());
  loader = t.loader();
  loader.prepare = [](void*, NameHash name, std::span<const std::byte> bytes) -> Status {
    if (bytes.size() != 8) return {StatusCode::bad_magic, "not eight bytes", bytes.size(), name};
    return {};
  };
  ASSERT_TRUE(picky.init({.slots = 2, .mounts = &t.mounts, .kind = kTextureKind}, loader).ok());
  t.start({{&strict}, {&picky}});
  const test::CapturedLog log;
  const StreamIndex refused = strict.index(strict.add(kBark).value());
  EXPECT_EQ(t.engine.load_now(refused).code, StatusCode::bad_value);
  EXPECT_EQ(t.engine.state(refused), StreamState::failed);
  const StreamIndex bark = picky.index(picky.add(kBark).value()), wood = picky.index(picky.add(kWood).value());
  EXPECT_EQ(t.engine.load_now(bark).code, StatusCode::bad_magic);
  EXPECT_TRUE(t.engine.load_now(wood).ok());
  EXPECT_EQ(t.counter.live(), 1u);
  EXPECT_EQ(strict.loaded(), 0u);
  t.finish();
}

TEST(AssetStore, CostCountsTowardsBudgets) {
  Textures t;
  AssetLoader<CountedAsset> loader = t.loader();
  loader.cost = [](void*, NameHash name) -> StreamCost { return {.entities = name == kBark ? 3u : 2u}; };
  Store store("Costly");
  ASSERT_TRUE(store.init({.slots = 4, .mounts = &t.mounts, .kind = kTextureKind}, loader).ok());
  t.engine.set_budget({.entities = 4});
  t.start({{&store}});
  const StreamIndex bark = store.index(store.add(kBark).value()), wood = store.index(store.add(kWood).value());
  t.engine.keep(bark, kCode);
  t.engine.keep(wood, kCode);
  t.settle();
  EXPECT_EQ(t.engine.resident_entities(), 3u);
  EXPECT_EQ(t.engine.why(wood).denial, StreamDenial::entities);
  t.engine.set_budget({.entities = 5});
  t.settle();
  EXPECT_TRUE(t.engine.is_loaded(wood));
  t.finish();
}

// STORE-1: reads and checks happen on loader threads, objects are made on the owner's.
TEST(AssetStore, PreparesOnLoaderThreadsAndLoadsOnTheOwners) {
  ThreadIo io;
  ASSERT_TRUE(io.start({.threads = 2}).ok());
  AssetWorld world;
  world.mount({{kTextureKind, "bark", "brown"}});
  struct Threads {
    std::thread::id prepare, load;
    CountedAsset asset;
  } threads;
  AssetLoader<CountedAsset> loader;
  loader.prepare = [](void* user, NameHash, std::span<const std::byte>) {
    static_cast<Threads*>(user)->prepare = std::this_thread::get_id();
    return Status{};
  };
  loader.load = [](void* user, NameHash, std::span<const std::byte>) {
    static_cast<Threads*>(user)->load = std::this_thread::get_id();
    return &static_cast<Threads*>(user)->asset;
  };
  loader.unload = [](void*, CountedAsset&) {};
  loader.user = &threads;
  Store store("Threaded");
  ASSERT_TRUE(store.init({.slots = 2, .mounts = &world.mounts, .kind = kTextureKind}, loader).ok());
  StreamingEngine engine;
  ASSERT_TRUE(engine.init({.mounts = &world.mounts, .io = &io}).ok());
  ASSERT_TRUE(engine.add_module(store, {.slots = 2}).ok());
  ASSERT_TRUE(engine.start().ok());
  ASSERT_TRUE(engine.load_now(store.index(store.add(kBark).value())).ok());
  EXPECT_EQ(threads.load, std::this_thread::get_id());
  EXPECT_NE(threads.prepare, std::thread::id());
  EXPECT_NE(threads.prepare, std::this_thread::get_id());
  engine.shutdown();
}

TEST(AssetStore, NeedsALoaderAndMemory) {
  AssetWorld world;
  test::BrokenContracts contracts;
  Store store("Store");
  EXPECT_EQ(store.init({.slots = 2, .mounts = &world.mounts}, {}).code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts));
  for (int allocations = 0;; ++allocations) {
    test::CheckedMemory memory;
    Store tried("Store");
    memory.fail_after(allocations);
    const Status made = tried.init({.slots = 2, .mounts = &world.mounts}, world.loader(), memory);
    if (made.ok()) {
      EXPECT_GT(allocations, 1);
      break;
    }
    EXPECT_EQ(made.code, StatusCode::out_of_memory);
    EXPECT_EQ(memory.blocks(), 0u);
  }
}

// STORE-3
TEST(AssetStore, SlotsOfAMountThatWentAreCollected) {
  const test::CapturedLog log;
  Textures t;
  t.start({{&t.store}});
  const MountId event = t.mount({{kTextureKind, "snow", "white"}, {kTextureKind, "ice", "blue"}});
  const uint32_t snow = t.store.add_temporary(hash_name("snow")).value();
  const uint32_t ice = t.store.add_temporary(hash_name("ice")).value();
  const uint32_t bark = t.store.add_temporary(kBark).value();  // stays: the base has it
  const uint32_t moss = t.add(hash_name("moss"));              // stays: it is not temporary
  ASSERT_TRUE(t.store.set_parent(snow, t.store.index(ice)).ok());
  ASSERT_TRUE(t.engine.load_now(t.store.index(snow)).ok());
  EXPECT_EQ(t.store.collect_garbage(t.engine), 0u);
  t.engine.keep(t.store.index(ice), kScript);
  for (int i = 0; i < 10 && !t.engine.evacuate(event); ++i) t.engine.update({});
  EXPECT_EQ(t.take_journal(), (Lines{"+ice", "+snow", "-snow", "-ice"}));
  t.engine.keep(t.store.index(ice), kScript);
  ASSERT_TRUE(t.mounts.unmount(event).ok());
  t.settle();
  EXPECT_EQ(t.engine.state(t.store.index(ice)), StreamState::failed);  // still kept, and nowhere
  EXPECT_EQ(t.store.collect_garbage(t.engine), 1u);
  EXPECT_FALSE(t.store.is_used(snow));
  EXPECT_TRUE(t.store.is_used(ice));
  t.engine.drop(t.store.index(ice), kScript);
  EXPECT_EQ(t.store.collect_garbage(t.engine), 1u);
  EXPECT_FALSE(t.store.is_used(ice));
  EXPECT_TRUE(t.store.is_used(bark));
  EXPECT_TRUE(t.store.is_used(moss));
  EXPECT_EQ(t.store.used(), 2u);
  EXPECT_EQ(t.store.find(hash_name("ice")), kNoStreamSlot);
}

// STORE-3: a number that failed serves the next name.
TEST(AssetStore, ASlotThatFailedIsAsGoodAsNewOnceCollected) {
  const test::CapturedLog log;
  Textures t;
  t.start({{&t.store}});
  const uint32_t lost = t.store.add_temporary(hash_name("lost")).value();
  EXPECT_EQ(t.engine.load_now(t.store.index(lost)).code, StatusCode::not_found);
  EXPECT_EQ(t.store.collect_garbage(t.engine), 1u);
  const uint32_t wood = t.add(kWood);
  ASSERT_EQ(wood, lost);
  EXPECT_FALSE(t.store.is_temporary(wood));
  EXPECT_TRUE(t.engine.load_now(t.store.index(wood)).ok());
  EXPECT_NE(t.store.get(wood), nullptr);
}

TEST(AssetStore, SlotsWithObjectsOrChildrenAreNotFreed) {
  Textures t;
  t.start({{&t.store}});
  ASSERT_TRUE(t.store.set_parent(t.add(kBark), t.at(kWood)).ok());
  ASSERT_TRUE(t.engine.load_now(t.at(kStone)).ok());
  test::BrokenContracts contracts;
  t.store.free_slot(t.add(kWood));
  EXPECT_TRUE(test::broke(contracts));
  t.store.free_slot(t.add(kStone));
  EXPECT_TRUE(test::broke(contracts));
  t.store.free_slot(6);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(t.store.used(), 3u);
  t.store.free_slot(t.add(kBark));
  EXPECT_EQ(t.store.children(t.add(kWood)), 0u);
  t.store.free_slot(t.add(kWood));
  EXPECT_TRUE(test::broke(contracts, 0));
  EXPECT_EQ(t.store.used(), 1u);
  const uint32_t again = t.add(kBark);
  EXPECT_EQ(t.store.parent(again), kNoStream);
}

}  // namespace
}  // namespace meridian
