// SPDX-License-Identifier: MIT
// Rules: STORE-2 (any root type, in place, converted where the layout differs, loose sources by mounts, a box streamer
// that ignores all until told otherwise), STORE-1 (slots by the gameconfig).
#include "meridian/map/metadata_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "flatbuffers/idl.h"
#include "meridian/resource/convert.h"
#include "meridian/stream/streaming.h"
#include "meridian/stream/thread_io.h"
#include "support/asset_kit.h"
#include "support/captured.h"
#include "support/checked_memory.h"
#include "support/schema_text.h"

namespace meridian {
namespace {

using test::AssetWorld;
using test::Bytes;

constexpr uint32_t kWeapons = kind_of("WPNS"), kPeds = kind_of("PEDS"), kTypes = kind_of("ITYP");
constexpr StreamKeeper kScript = StreamKeeper::script;

Bytes schema(const std::string& types, const char* kind) {
  return test::compile_schema(types + " root_type R; file_identifier \"" + kind + "\";");
}
std::string text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::string json_of(std::span<const std::byte> payload, std::span<const std::byte> bfbs) {
  flatbuffers::IDLOptions options;
  options.indent_step = -1;
  options.strict_json = false;
  options.output_default_scalars_in_json = false;
  flatbuffers::Parser parser(options);
  EXPECT_TRUE(parser.Deserialize(reinterpret_cast<const uint8_t*>(bfbs.data()), bfbs.size()));
  std::string text;
  EXPECT_TRUE(flatbuffers::GenerateText(parser, payload.data(), &text));
  return text;
}

/// With the schema in its info section.
Bytes with_schema(const Bytes& from, const std::string& json, uint32_t kind) {
  std::string numbers;
  for (const std::byte b : from) numbers += std::to_string(static_cast<int>(b)) + ",";
  const Bytes info_schema = test::compile_schema(
      "table N { h:uint; } table K { h:uint; } table ResourceInfo { format_version:uint; schema_fingerprint:ulong; "
      "names:[N]; kept:[K]; schema:[ubyte]; } root_type ResourceInfo; file_identifier \"MINF\";");
  return test::resource_of(from, json, kind,
                           test::payload_of(info_schema, "{format_version:1, schema:[" + numbers + "]}"));
}

struct Schemas {
  Bytes weapons = schema("table R { damage:int; name:string; }", "WPNS");
  Bytes old_weapons = schema("struct S { x:int; } table R { name:string; damage:short; }", "WPNS");
  Bytes peds = schema("struct P { speed:float; } table R { all:[P]; }", "PEDS");
};
const Schemas& schemas() {
  static const Schemas all;
  return all;
}

/// Notes which thread asked last.
class NotingMemory final : public Allocator {
 public:
  void* allocate(size_t bytes, size_t alignment) override {
    thread_.store(std::this_thread::get_id());
    return memory.allocate(bytes, alignment);
  }
  void deallocate(void* pointer, size_t bytes, size_t alignment) override {
    memory.deallocate(pointer, bytes, alignment);
  }
  std::thread::id thread() const { return thread_.load(); }
  test::CheckedMemory memory;  // locks

 private:
  std::atomic<std::thread::id> thread_{};
};

struct Meta {
  test::CheckedMemory conversion_memory;  // locks, so it serves loader threads
  MetaDataStore store;
  AssetWorld world;  // last: its engine goes first

  explicit Meta(MetaDataStoreConfig config = {}, uint32_t slots = 16) {
    const MetaDataKind kinds[] = {{kWeapons, schemas().weapons}, {kPeds, schemas().peds}, {kTypes}};
    config.slots = slots;
    config.mounts = &world.mounts;
    config.engine = &world.engine;
    config.kinds = kinds;
    config.conversion_memory = &conversion_memory;
    const Status made = store.init(config);
    EXPECT_TRUE(made.ok()) << made.message;
    world.start({{&store}});
  }
  StreamIndex at(const char* name) {
    const Result<uint32_t> slot = store.add(hash_name(name));
    EXPECT_TRUE(slot.ok());
    return store.index(slot.value());
  }
  Status load(const char* name) { return world.engine.load_now(at(name)); }
  const Resource* get(const char* name) { return store.find_resource(hash_name(name)); }
  void look_from(Vec3 position, float seconds = 0.1f) {
    const StreamSource source{.id = 1, .position = position, .velocity = {}};
    EXPECT_TRUE(store.update({&source, 1}, {}, seconds).ok());
    world.settle();
  }
};

Aabb box_at(float x) { return {{x, 0, 0}, {x + 1, 1, 1}}; }

// STORE-2
TEST(MetaDataStore, AnyRootTypeIsUsedWhereItLies) {
  Meta m;
  const Bytes ityp = test::resource_of(find_builtin_schema(kTypes)->bfbs, "{name:77}", kTypes);
  m.world.mount({{kWeapons, "guns", text_of(test::resource_of(schemas().weapons, "{damage:7,name:'x'}", kWeapons))},
                 {kPeds, "cops", text_of(test::resource_of(schemas().peds, "{all:[{speed:1.5},{speed:2}]}", kPeds))},
                 {kTypes, "props", text_of(ityp)}});
  EXPECT_EQ(m.get("guns"), nullptr);
  for (const char* name : {"guns", "cops", "props"}) ASSERT_TRUE(m.load(name).ok()) << name;
  EXPECT_EQ(json_of(m.get("guns")->payload(), schemas().weapons), "{damage: 7,name: \"x\"}");
  EXPECT_EQ(json_of(m.get("cops")->payload(), schemas().peds), "{all: [{speed: 1.5},{speed: 2.0}]}");
  EXPECT_EQ(m.get("props")->kind(), kTypes);
  const auto pack = m.world.packs.back().span();
  for (const char* name : {"guns", "cops", "props"}) {
    const std::byte* const first = m.get(name)->payload().data();
    EXPECT_TRUE(first >= pack.data() && first < pack.data() + pack.size()) << name;
  }
  EXPECT_EQ(m.store.conversions(), 0u);
  EXPECT_EQ(m.conversion_memory.calls(), 0u);
  m.world.finish();
  EXPECT_EQ(m.get("guns"), nullptr);
}

// STORE-2: on a loader thread, through the given memory, and told once.
TEST(MetaDataStore, AnotherLayoutIsConvertedByItsEmbeddedSchema) {
  const test::CapturedLog log;
  ThreadIo io;
  ASSERT_TRUE(io.start({.threads = 2}).ok());
  NotingMemory memory;
  AssetWorld world;  // for its mounts
  const MetaDataKind kinds[] = {{kWeapons, schemas().weapons}};
  StreamingEngine engine;
  MetaDataStore store;
  ASSERT_TRUE(
      store.init({.slots = 4, .mounts = &world.mounts, .engine = &engine, .kinds = kinds, .conversion_memory = &memory})
          .ok());
  world.mount({{kWeapons, "old", text_of(with_schema(schemas().old_weapons, "{damage:-9,name:'sling'}", kWeapons))}});
  ASSERT_TRUE(engine.init({.mounts = &world.mounts, .io = &io}).ok());
  ASSERT_TRUE(engine.add_module(store, {.slots = 4, .leaves_at_once = true}).ok());
  ASSERT_TRUE(engine.start().ok());
  const StreamIndex old = store.index(store.add(hash_name("old")).value());
  for (int round = 0; round < 3; ++round) {
    engine.keep(old, kScript);
    ASSERT_TRUE(engine.load_now(old).ok());
    const Resource* const there = store.find_resource(hash_name("old"));
    ASSERT_NE(there, nullptr);
    EXPECT_EQ(json_of(there->payload(), schemas().weapons), "{damage: -9,name: \"sling\"}");
    EXPECT_EQ(there->layout_fingerprint(), layout_fingerprint(schemas().weapons));
    EXPECT_EQ(store.conversions(), 1u);
    EXPECT_GT(memory.memory.bytes(), 0u);
    EXPECT_NE(memory.thread(), std::thread::id());
    EXPECT_NE(memory.thread(), std::this_thread::get_id());
    ASSERT_TRUE(store.update({}, {}, 0.1f).ok());  // nothing is given up while it is used
    EXPECT_EQ(store.conversions(), 1u);
    engine.drop(old, kScript);
    for (int i = 0; i < 4; ++i) engine.update({});
    EXPECT_EQ(store.find_resource(hash_name("old")), nullptr);
    ASSERT_TRUE(store.update({}, {}, 0.1f).ok());
    EXPECT_EQ(store.conversions(), 1u);  // the bytes are cached, and so is what was made of them
    if (round == 1) {                    // they go, and come back
      engine.reload(old);
      engine.update({});
      ASSERT_TRUE(store.update({}, {}, 0.1f).ok());
      EXPECT_EQ(store.conversions(), 0u);
      EXPECT_EQ(memory.memory.blocks(), 0u);
    }
  }
  ASSERT_EQ(log.count(), 1u) << log.all();
  EXPECT_EQ(log.said()[0].level, LogLevel::info);
  EXPECT_EQ(log.said()[0].name, hash_name("old"));
  engine.shutdown();
  ASSERT_TRUE(store.update({}, {}, 0.1f).ok());
}

// STORE-2: the host knows the old layout.
TEST(MetaDataStore, TheHostMayKnowTheSchemaOfAFile) {
  const test::CapturedLog log;
  struct Asked {
    uint32_t kind = 0;
    uint64_t layout = 0;
  } asked;
  MetaDataStoreConfig config;
  config.schema_of = [](void* user, uint32_t kind, uint64_t layout) -> std::span<const std::byte> {
    *static_cast<Asked*>(user) = {kind, layout};
    return schemas().old_weapons;
  };
  config.user = &asked;
  Meta m(config);
  m.world.mount(
      {{kWeapons, "old", text_of(test::resource_of(schemas().old_weapons, "{damage:5,name:'bow'}", kWeapons))}});
  ASSERT_TRUE(m.load("old").ok());
  EXPECT_EQ(asked.kind, kWeapons);
  EXPECT_EQ(asked.layout, layout_fingerprint(schemas().old_weapons));
  EXPECT_EQ(json_of(m.get("old")->payload(), schemas().weapons), "{damage: 5,name: \"bow\"}");
  // The same slot, read anew from a file in today's layout: what was converted goes.
  m.world.mount({{kWeapons, "old", text_of(test::resource_of(schemas().weapons, "{damage:6}", kWeapons))}});
  m.world.engine.reload(m.at("old"));
  m.world.settle();
  ASSERT_TRUE(m.load("old").ok());
  EXPECT_EQ(json_of(m.get("old")->payload(), schemas().weapons), "{damage: 6}");
  EXPECT_EQ(m.store.conversions(), 0u);
  EXPECT_EQ(m.conversion_memory.blocks(), 0u);
}

TEST(MetaDataStore, WhatCannotBeReadFails) {
  const test::CapturedLog log;
  Meta m;
  const Bytes lossy = schema("table R { damage:long; name:string; }", "WPNS");
  Bytes damaged = test::resource_of(schemas().weapons, "{damage:5}", kWeapons);
  damaged[0] ^= std::byte{1};
  m.world.mount({{kWeapons, "unknown", text_of(test::resource_of(schemas().old_weapons, "{damage:5}", kWeapons))},
                 {kWeapons, "lossy", text_of(with_schema(lossy, "{damage:5}", kWeapons))},
                 {kWeapons, "damaged", text_of(damaged)},
                 {kWeapons, "stranger", text_of(test::resource_of(schemas().peds, "{}", kind_of("NONE")))},
                 {kind_of("NONE"), "unread", "text"}});
  EXPECT_EQ(m.load("unknown").code, StatusCode::layout_differs);
  EXPECT_EQ(m.load("lossy").code, StatusCode::no_conversion);
  EXPECT_EQ(m.load("damaged").code, StatusCode::bad_checksum);
  EXPECT_EQ(m.load("stranger").code, StatusCode::wrong_kind);
  EXPECT_EQ(m.load("unread").code, StatusCode::not_found);
  EXPECT_EQ(m.load("nowhere").code, StatusCode::not_found);
  for (const char* name : {"unknown", "lossy", "damaged", "stranger"}) {
    EXPECT_EQ(m.get(name), nullptr);
    EXPECT_EQ(m.world.engine.state(m.at(name)), StreamState::failed);
  }
  EXPECT_EQ(m.conversion_memory.blocks(), 0u);
}

TEST(MetaDataStore, WithoutMemoryAConversionFailsAndNothingIsLost) {
  const test::CapturedLog log;
  bool has_failed = false;
  for (int allocations = 0; allocations < 100; ++allocations) {
    Meta m;
    m.world.mount({{kWeapons, "old", text_of(with_schema(schemas().old_weapons, "{damage:-9}", kWeapons))}});
    m.conversion_memory.fail_after(allocations);
    const Status loaded = m.load("old");
    if (loaded.ok()) {
      EXPECT_TRUE(has_failed);
      return;
    }
    has_failed = true;
    EXPECT_EQ(loaded.code, StatusCode::out_of_memory);
    EXPECT_EQ(m.conversion_memory.blocks(), 0u);
    EXPECT_EQ(m.store.conversions(), 0u);
  }
  ADD_FAILURE() << "it never had enough";
}

// STORE-2: loose XML in development builds is a mount like any other.
TEST(MetaDataStore, SourcesThatMakeResourcesAreMounts) {
  struct Source final : SourceProvider {
    void list(void (*found)(void*, PackKey), void* user) override { found(user, {kWeapons, hash_name("loose")}); }
    Status load(PackKey, Allocator& memory, std::span<std::byte>& out) override {
      const Bytes made = test::resource_of(schemas().weapons, "{damage:12}", kWeapons);
      out = {static_cast<std::byte*>(memory.allocate(made.size(), kPackAlignment)), made.size()};
      std::memcpy(out.data(), made.data(), made.size());
      return {};
    }
  } source;
  Meta m;
  ASSERT_TRUE(m.world.mounts.mount_source(source, "xml").ok());
  ASSERT_TRUE(m.load("loose").ok());
  EXPECT_EQ(json_of(m.get("loose")->payload(), schemas().weapons), "{damage: 12}");
}

// STORE-2: every slot is ignored until it is made streamable; 50 m ahead.
TEST(MetaDataStore, OnlySlotsThatWereGivenABoxStreamByPosition) {
  const test::CapturedLog log;
  Meta m;
  const std::string weapons = text_of(test::resource_of(schemas().weapons, "{damage:1}", kWeapons));
  m.world.mount({{kWeapons, "near", weapons}, {kWeapons, "far", weapons}, {kWeapons, "other", weapons}});
  (void)m.at("other");
  m.look_from({0, 0, 0});
  EXPECT_EQ(m.world.engine.statistics(0).loaded, 0u);
  ASSERT_TRUE(m.store.make_streamable(hash_name("near"), box_at(49.5f)).ok());
  ASSERT_TRUE(m.store.make_streamable(hash_name("far"), box_at(50.5f)).ok());
  EXPECT_TRUE(m.store.is_streamable(m.store.find(hash_name("near"))));
  EXPECT_FALSE(m.store.is_streamable(m.store.find(hash_name("other"))));
  m.look_from({0, 0, 0});
  EXPECT_NE(m.get("near"), nullptr);
  EXPECT_EQ(m.get("far"), nullptr);
  EXPECT_EQ(m.get("other"), nullptr);
  EXPECT_FLOAT_EQ(m.store.distance(m.store.find(hash_name("near"))), 49.5f);
  EXPECT_TRUE(std::isinf(m.store.distance(m.store.find(hash_name("other")))));
  EXPECT_TRUE(m.world.engine.is_kept(m.at("near"), StreamKeeper::box_streamer));
  EXPECT_TRUE(m.store.streamer().is_in_world(m.store.find(hash_name("near"))));
  m.look_from({2, 0, 0});
  EXPECT_NE(m.get("far"), nullptr);

  // What the streamer lets go of may go; what somebody else keeps stays kept.
  m.world.engine.keep(m.at("far"), kScript);
  EXPECT_TRUE(m.store.stop_streaming(hash_name("far")));
  EXPECT_FALSE(m.store.stop_streaming(hash_name("far")));
  EXPECT_FALSE(m.store.stop_streaming(hash_name("unheard")));
  m.look_from({2, 0, 0});
  EXPECT_FALSE(m.world.engine.is_kept(m.at("far"), StreamKeeper::box_streamer));
  EXPECT_TRUE(m.world.engine.is_kept(m.at("far"), kScript));
  m.look_from({-1000, 0, 0}, 10);
  m.look_from({-1000, 0, 0}, 10);
  EXPECT_FALSE(m.world.engine.is_kept(m.at("near")));
}

// STORE-2: what is within 30 m comes first, whatever the weights of sources make of distances.
TEST(MetaDataStore, WhatIsWithinThirtyMetresHasPriority) {
  Meta m;
  const std::string weapons = text_of(test::resource_of(schemas().weapons, "{damage:1}", kWeapons));
  m.world.mount({{kWeapons, "a", weapons}, {kWeapons, "b", weapons}});
  ASSERT_TRUE(m.store.make_streamable(hash_name("a"), box_at(35)).ok());
  ASSERT_TRUE(m.store.make_streamable(hash_name("b"), box_at(1025)).ok());
  const StreamSource sources[] = {{.id = 1, .position = {0, 0, 0}, .velocity = {}, .weight = 100},
                                  {.id = 2, .position = {1000, 0, 0}, .velocity = {}, .weight = 1}};
  ASSERT_TRUE(m.store.update(sources, {}, 0.1f).ok());
  EXPECT_LT(m.store.distance(m.store.find(hash_name("a"))), m.store.distance(m.store.find(hash_name("b"))));
  for (int i = 0; i < 10 && m.world.engine.statistics(0).loaded == 0; ++i) m.world.engine.update({.max_chunks = 1});
  EXPECT_EQ(m.get("a"), nullptr);
  EXPECT_NE(m.get("b"), nullptr);
}

TEST(MetaDataStore, BoxesThatCannotBeAreRefused) {
  Meta m({.max_boxes = 1}, 2);
  const float nan = std::nanf("");
  EXPECT_EQ(m.store.make_streamable(hash_name("a"), {{0, 0, 0}, {nan, 1, 1}}).code, StatusCode::bad_value);
  EXPECT_EQ(m.store.make_streamable(hash_name("a"), {{2, 0, 0}, {1, 1, 1}}).code, StatusCode::bad_value);
  EXPECT_EQ(m.store.used(), 0u);  // no slot stays for nothing
  ASSERT_TRUE(m.store.make_streamable(hash_name("a"), box_at(0)).ok());
  EXPECT_EQ(m.store.make_streamable(hash_name("b"), box_at(0)).code, StatusCode::out_of_slots);
  const uint32_t a = m.store.find(hash_name("a"));
  m.store.free_slot(a);
  EXPECT_FALSE(m.store.is_streamable(a));
  EXPECT_TRUE(m.store.make_streamable(hash_name("b"), box_at(0)).ok());
  const test::CapturedLog log;
  (void)m.at("c");
  EXPECT_EQ(m.store.make_streamable(hash_name("d"), box_at(0)).code, StatusCode::out_of_slots);
}

TEST(MetaDataStore, KindsHaveSchemas) {
  AssetWorld world;
  MetaDataStore store;
  const auto with = [&](std::span<const MetaDataKind> kinds) {
    return store.init({.slots = 2, .mounts = &world.mounts, .engine = &world.engine, .kinds = kinds}).code;
  };
  const MetaDataKind strange[] = {{kWeapons}};
  EXPECT_EQ(with(strange), StatusCode::bad_value);
  EXPECT_EQ(with({}), StatusCode::bad_value);
  const std::vector<MetaDataKind> many(MetaDataStore::kMaxKinds + 1, {kTypes});
  EXPECT_EQ(with(many), StatusCode::bad_value);
  alignas(8) const std::byte noise[16] = {};
  const MetaDataKind bad[] = {{kWeapons, noise}};
  EXPECT_EQ(with(bad), StatusCode::bad_schema);
  test::BrokenContracts contracts;
  EXPECT_EQ(store.init({.slots = 2}).code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts));
  // STORE-1
  constexpr PoolSizeRow kRows[] = {{hash_name("MetaDataStore"), 6000}};
  const ConfigSource sources[] = {{.filter = {"any", "any", ""}, .pools = kRows}};
  GameConfig config;
  ASSERT_TRUE(config.load(sources, ConfigTarget{}).ok());
  EXPECT_EQ(configured_slots(config, kMetaDataStore).value(), 6000u);
}

// STORE-2: against distances by hand.
TEST(MetaDataStore, RandomBoxesAndPlacesAgreeWithDistances) {
  const test::CapturedLog log;
  uint32_t near = 0;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto number = [&](float most) { return std::uniform_real_distribution<float>(-most, most)(random); };
    Meta m;
    constexpr uint32_t kNames = 12;
    const std::string weapons = text_of(test::resource_of(schemas().weapons, "{damage:1}", kWeapons));
    std::vector<test::AssetFile> files;
    for (uint32_t i = 0; i < kNames; ++i) files.push_back({kWeapons, "n" + std::to_string(i), weapons});
    m.world.mount(files);
    std::map<uint32_t, Aabb> boxes;
    for (int step = 0; step < 120; ++step) {
      const auto i = static_cast<uint32_t>(random() % kNames);
      const NameHash name = hash_name("n" + std::to_string(i));
      if (random() % 3 == 0) {
        ASSERT_EQ(m.store.stop_streaming(name), boxes.erase(i) == 1);
      } else {
        const Vec3 low{number(150), number(150), number(20)};
        boxes[i] = {low, {low.x + 10, low.y + 5, low.z + 2}};
        ASSERT_TRUE(m.store.make_streamable(name, boxes[i]).ok());
      }
      const Vec3 eye{number(150), number(150), number(20)};
      m.look_from(eye);
      for (uint32_t j = 0; j < kNames; ++j) {
        const NameHash other = hash_name("n" + std::to_string(j));
        const uint32_t slot = m.store.find(other);
        ASSERT_EQ(slot != kNoStreamSlot && m.store.is_streamable(slot), boxes.count(j) == 1);
        if (boxes.count(j) == 0) {
          ASSERT_FALSE(slot != kNoStreamSlot && m.world.engine.is_kept(m.store.index(slot)));
          continue;
        }
        const Aabb& box = boxes[j];
        const auto gap = [](float at, float low, float high) {
          return at < low ? low - at : at > high ? at - high : 0;
        };
        const double x = gap(eye.x, box.min.x, box.max.x), y = gap(eye.y, box.min.y, box.max.y),
                     z = gap(eye.z, box.min.z, box.max.z);
        const double distance = std::sqrt(x * x + y * y + z * z);
        ASSERT_NEAR(m.store.distance(slot), distance, 1e-3);
        if (distance < 49.99) {
          ASSERT_NE(m.store.get(slot), nullptr) << j << ' ' << distance;
          ++near;
        }
        // The margin and the time for which it lingers are the streamer's; far beyond them nothing is wanted anew.
        ASSERT_FALSE(distance > 50.01 && m.store.streamer().is_required(slot));
      }
    }
  }
  EXPECT_GT(near, 100u);
}

}  // namespace
}  // namespace meridian
