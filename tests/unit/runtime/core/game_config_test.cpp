// SPDX-License-Identifier: MIT
#include "meridian/core/game_config.h"

#include <map>
#include <new>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace meridian {
namespace {

using enum ConfigValueKind;

/// What was said while it lives.
class Messages {
 public:
  Messages() {
    set_log_sink({[](void* user, const LogMessage& message) {
                    auto& self = *static_cast<Messages*>(user);
                    self.texts.push_back(std::string(to_string(message.level)) + ": " + std::string(message.text));
                    self.names.push_back(message.name);
                  },
                  this});
  }
  ~Messages() { set_log_sink({}); }
  std::vector<std::string> texts;
  std::vector<NameHash> names;
};

/// Counts, and fails from the n-th request on.
class CountingAllocator final : public Allocator {
 public:
  void* allocate(size_t bytes, size_t alignment) override {
    if (requests++ >= fail_from) return nullptr;
    live += bytes;
    return ::operator new(bytes, std::align_val_t(alignment));
  }
  void deallocate(void* pointer, size_t bytes, size_t alignment) override {
    if (pointer == nullptr) return;
    live -= bytes;
    ::operator delete(pointer, std::align_val_t(alignment));
  }
  size_t requests = 0, fail_from = SIZE_MAX, live = 0;
};

constexpr NameHash kPeds = hash_name("Peds"), kBuilding = hash_name("Building"), kObject = hash_name("Object");

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
ConfigValue integer_value(const char* path, int64_t value) {
  return {.path = hash_type(path), .kind = integer, .integer = value};
}
ConfigValue text_value(const char* path, std::string_view value) {
  return {.path = hash_type(path), .kind = text, .bytes = bytes_of(value)};
}

ConfigTarget release_x64() {
  ConfigTarget target;
  EXPECT_TRUE(set_build(target, "release"));
  target.platform = ConfigPlatform::x64;
  return target;
}

uint32_t size_of(const GameConfig& config, NameHash name, uint32_t default_size) {
  const Result<uint32_t> size = config.size_of_pool(name, default_size);
  EXPECT_TRUE(size.ok());
  return size.ok() ? size.value() : 0;
}

TEST(GameConfig, WithoutALoadEverythingIsTheDefault) {
  const GameConfig config;
  EXPECT_EQ(size_of(config, kPeds, 256), 256u);
  EXPECT_FALSE(config.find_int("a"));
  EXPECT_TRUE(config.pools().empty());
  EXPECT_EQ(config.model_slots().permanent, 32200u);
  EXPECT_EQ(config.model_slots().streamed, 33334u) << "0xFFFE - 32200";
}

// CONF-1
TEST(GameConfig, TheListIsSelectedFromWhenItIsLoaded) {
  const PoolSizeRow all[] = {{kPeds, 100}}, console[] = {{kPeds, 50}}, debug[] = {{kPeds, 400}}, big[] = {{kPeds, 900}};
  const ConfigSource sources[] = {{.filter = {"Any", "Any", ""}, .pools = all},
                                  {.filter = {"any", "ps4", ""}, .pools = console},
                                  {.filter = {"Debug", "any", ""}, .pools = debug},
                                  {.filter = {"any", "any", "big"}, .pools = big}};
  GameConfig config;
  ConfigTarget target = release_x64();
  ASSERT_TRUE(config.load(sources, target).ok());
  EXPECT_EQ(size_of(config, kPeds, 1), 100u);
  target.platform = ConfigPlatform::ps4;
  ASSERT_TRUE(config.load(sources, target).ok());
  EXPECT_EQ(size_of(config, kPeds, 1), 50u);
  ASSERT_TRUE(set_build(target, "debug"));
  ASSERT_TRUE(config.load(sources, target).ok());
  EXPECT_EQ(size_of(config, kPeds, 1), 400u);
  const NameHash parameters[] = {hash_name("BIG")};
  target.parameters = parameters;
  ASSERT_TRUE(config.load(sources, target).ok());
  EXPECT_EQ(size_of(config, kPeds, 1), 900u);
}

// CONF-3
TEST(GameConfig, LaterPoolSizesReplaceEarlierByNameInAnyCase) {
  const PoolSizeRow first[] = {{hash_name("BUILDING"), 10}, {kPeds, 7}, {kPeds, 8}}, second[] = {{kBuilding, 5}};
  const ConfigSource sources[] = {{.pools = first}, {.pools = second}};
  GameConfig config;
  ASSERT_TRUE(config.load(sources, release_x64()).ok());
  ASSERT_EQ(config.pools().size(), 2u);
  EXPECT_EQ(size_of(config, kBuilding, 1), 5u) << "later, not larger";
  EXPECT_EQ(size_of(config, kPeds, 1), 8u) << "later inside one configuration, too";
  for (const ConfiguredPool& pool : config.pools()) EXPECT_EQ(pool.source, pool.name == kBuilding ? 1u : 0u);
}

// CONF-3
TEST(GameConfig, OtherValuesMergeFieldByFieldAndAbsentOnesStay) {
  const int32_t lanes[] = {1, 2, 3}, fewer[] = {9};
  const auto list_value = [](std::span<const int32_t> values) {
    return ConfigValue{.path = hash_type("lanes"), .kind = list, .element_bytes = 4, .bytes = std::as_bytes(values)};
  };
  const ConfigValue first[] = {integer_value("pop.max", 128),
                               integer_value("pop.cars", 60),
                               text_value("who", "michael"),
                               list_value(lanes),
                               {.path = hash_type("scale"), .kind = number, .number = 0.25}};
  const ConfigValue second[] = {integer_value("pop.max", 0), text_value("who", ""), list_value(fewer)};
  const ConfigSource sources[] = {{.values = first}, {.filter = {"", "x64", ""}, .values = second}};
  GameConfig config;
  ConfigTarget target = release_x64();
  target.platform = ConfigPlatform::ps4;
  ASSERT_TRUE(config.load(sources, target).ok());
  EXPECT_EQ(config.find_int("pop.max"), 128);
  EXPECT_EQ(config.find_text("who"), "michael");
  ASSERT_TRUE(config.find_list<int32_t>("lanes"));
  EXPECT_EQ(std::vector(config.find_list<int32_t>("lanes")->begin(), config.find_list<int32_t>("lanes")->end()),
            (std::vector<int32_t>{1, 2, 3}));
  target.platform = ConfigPlatform::x64;
  ASSERT_TRUE(config.load(sources, target).ok());
  EXPECT_EQ(config.find_int("pop.max"), 0) << "0 is a value, not an absence";
  EXPECT_EQ(config.find_int("pop.cars"), 60);
  EXPECT_EQ(config.find_number("scale"), 0.25);
  ASSERT_TRUE(config.find_text("who"));
  EXPECT_EQ(*config.find_text("who"), "");
  ASSERT_EQ(config.find_list<int32_t>("lanes")->size(), 1u) << "a list is one value";
  EXPECT_EQ(config.find_list<int32_t>("lanes")->front(), 9);
}

TEST(GameConfig, AskingForAnotherKindOrAnUnknownPathGivesNothing) {
  const ConfigValue values[] = {integer_value("a", 1), text_value("b", "x")};
  const ConfigSource sources[] = {{.values = values}};
  GameConfig config;
  ASSERT_TRUE(config.load(sources, release_x64()).ok());
  EXPECT_FALSE(config.find_number("a"));
  EXPECT_FALSE(config.find_text("a"));
  EXPECT_FALSE(config.find_int("b"));
  EXPECT_FALSE(config.find_list<char>("b"));
  EXPECT_FALSE(config.find_int("A")) << "paths are as written";
}

// CONF-4: entry below, at and above the default; with and without prefer_larger; locked or not.
TEST(GameConfig, SizeOfPoolByTheTable) {
  struct {
    int entry;  // < 0: none
    uint32_t default_size;
    bool prefer_larger, is_locked;
    uint32_t expected;
    bool says_small, says_locked;
  } const kRows[] = {
      {-1, 40, false, false, 40, false, false}, {-1, 40, true, false, 40, false, false},
      {-1, 40, false, true, 40, false, false},  {30, 40, false, false, 30, true, false},
      {30, 40, true, false, 40, false, false},  {30, 40, false, true, 40, false, true},
      {30, 40, true, true, 40, false, true},    {40, 40, false, false, 40, false, false},
      {50, 40, false, false, 50, false, false}, {50, 40, true, false, 50, false, false},
      {50, 40, false, true, 40, false, true},   {0, 40, false, false, 0, true, false},
      {0, 0, false, false, 0, false, false},    {2147483647, 40, false, false, 2147483647u, false, false},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(testing::Message() << row.entry << " " << row.prefer_larger << " " << row.is_locked);
    Messages messages;
    GameConfig config;
    if (row.is_locked) {
      EXPECT_TRUE(config.lock_pool(kObject).ok());
    }
    const PoolSizeRow pools[] = {{kObject, row.entry}};
    const ConfigSource sources[] = {{.pools = std::span(pools).first(row.entry < 0 ? 0 : 1)}};
    ASSERT_TRUE(config.load(sources, release_x64(), {.prefer_larger = row.prefer_larger}).ok());
    EXPECT_EQ(messages.texts.size(), row.says_locked ? 1u : 0u);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(size_of(config, kObject, row.default_size), row.expected);
    ASSERT_EQ(messages.texts.size(), (row.says_locked ? 1u : 0u) + (row.says_small ? 1u : 0u)) << "once, not twice";
    for (const NameHash name : messages.names) EXPECT_EQ(name, kObject);
    for (const std::string& said : messages.texts) EXPECT_TRUE(said.starts_with("warning: ")) << said;
  }
}

// CONF-4
TEST(GameConfig, APoolMayBeLockedAfterTheLoad) {
  const PoolSizeRow pools[] = {{kObject, 50}};
  const ConfigSource sources[] = {{.pools = pools}};
  GameConfig config;
  ASSERT_TRUE(config.load(sources, release_x64()).ok());
  Messages messages;
  EXPECT_TRUE(config.lock_pool(kPeds).ok());
  EXPECT_TRUE(messages.texts.empty()) << "no entry";
  EXPECT_TRUE(config.lock_pool(kObject).ok());
  EXPECT_TRUE(config.lock_pool(kObject).ok());
  EXPECT_EQ(messages.texts.size(), 1u);
  EXPECT_EQ(size_of(config, kObject, 40), 40u);
  ASSERT_TRUE(config.load(sources, release_x64()).ok());
  EXPECT_EQ(size_of(config, kObject, 40), 40u) << "locks stay";
  EXPECT_EQ(messages.texts.size(), 2u);
}

TEST(GameConfig, LocksBeyondTheLimitAreRefused) {
  GameConfig config;
  for (uint32_t i = 1; i <= GameConfig::kMaxLockedPools; ++i) ASSERT_TRUE(config.lock_pool({i}).ok());
  EXPECT_EQ(config.lock_pool({1000}).code, StatusCode::out_of_slots);
  EXPECT_TRUE(config.lock_pool({1}).ok()) << "it is locked already";
  EXPECT_FALSE(config.is_locked({1000}));
}

// CONF-5
TEST(GameConfig, APoolThatMustBeConfiguredIsNamedWhereItIsNot) {
  set_name_lookup(
      {[](void*, NameHash name) { return name == kPeds ? std::string_view("Peds") : std::string_view(); }, nullptr});
  Messages messages;
  const PoolSizeRow pools[] = {{kObject, 50}, {kBuilding, 1}};
  const ConfigSource sources[] = {{.pools = pools}};
  GameConfig config;
  ASSERT_TRUE(config.load(sources, release_x64()).ok());
  EXPECT_EQ(size_of(config, kObject, kFromConfig), 50u);
  EXPECT_EQ(size_of(config, kBuilding, kFromConfig), 1u);
  EXPECT_TRUE(messages.texts.empty());
  const Status missing = config.size_of_pool(kPeds, kFromConfig).status();
  set_name_lookup({});
  EXPECT_EQ(missing.code, StatusCode::not_found);
  EXPECT_EQ(missing.name, kPeds);
  ASSERT_EQ(messages.texts.size(), 1u);
  EXPECT_TRUE(messages.texts[0].starts_with("error: ")) << messages.texts[0];
  EXPECT_NE(messages.texts[0].find("'Peds'"), std::string::npos) << messages.texts[0];
  EXPECT_EQ(static_cast<uint32_t>(kFromConfig), 1u);
}

// CONF-6
TEST(GameConfig, PermanentAndStreamedModelsShareSixteenBits) {
  struct {
    int64_t entry;  // < 0: none
    uint32_t wanted_streamed;
    bool is_refused;
    uint32_t permanent, streamed;
    bool says_reduced;
  } const kRows[] = {
      // 0xFFFE is 65534; at most 35000 stream.
      {-1, 0, false, 32200, 33334, false},
      {-1, 2000, false, 32200, 2000, false},
      {-1, 33334, false, 32200, 33334, false},
      {-1, 33335, false, 32200, 33334, true},
      {-1, 35000, false, 32200, 33334, true},
      {1000, 0, false, 1000, 35000, false},
      {1000, 35000, false, 1000, 35000, false},
      {1000, 35001, false, 1000, 35000, true},
      {65521, 0, false, 65521, 13, false},
      {65521, 2000, false, 65521, 13, true},
      {65534, 0, false, 65534, 0, false},
      {65534, 1, false, 65534, 0, true},
      {65535, 0, true, 0, 0, false},
      {2147483647, 0, true, 0, 0, false},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(testing::Message() << row.entry << " " << row.wanted_streamed);
    Messages messages;
    const PoolSizeRow pools[] = {{hash_name("fwArchetypePooledMap"), static_cast<int32_t>(row.entry)}};
    const ConfigSource sources[] = {{.pools = std::span(pools).first(row.entry < 0 ? 0 : 1)}};
    GameConfig config;
    const Status status = config.load(sources, release_x64(), {.streamed_model_slots = row.wanted_streamed});
    if (row.is_refused) {
      EXPECT_EQ(status.code, StatusCode::too_large);
      EXPECT_EQ(status.detail, static_cast<uint64_t>(row.entry));
      EXPECT_EQ(status.name, hash_name("fwArchetypePooledMap"));
      EXPECT_TRUE(config.pools().empty());
      continue;
    }
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(config.model_slots().permanent, row.permanent);
    EXPECT_EQ(config.model_slots().streamed, row.streamed);
    EXPECT_EQ(messages.texts.size(), row.says_reduced ? 1u : 0u);
  }
}

// CONF-6
TEST(GameConfig, ALockedOrPreferredDefaultOfModelsIsTheOneThatCounts) {
  const PoolSizeRow pools[] = {{kModelInfoPool, 65535}}, small[] = {{kModelInfoPool, 5}};
  const ConfigSource large_source[] = {{.pools = pools}}, small_source[] = {{.pools = small}};
  GameConfig config;
  ASSERT_TRUE(config.load(small_source, release_x64(), {.prefer_larger = true}).ok());
  EXPECT_EQ(config.model_slots().permanent, 32200u);
  Messages messages;
  ASSERT_TRUE(config.lock_pool(kModelInfoPool).ok());
  ASSERT_TRUE(config.load(large_source, release_x64()).ok());
  EXPECT_EQ(config.model_slots().permanent, 32200u);
}

TEST(GameConfig, NegativeSizesAreSaidAndLeftOut) {
  Messages messages;
  const PoolSizeRow first[] = {{kObject, 20}}, second[] = {{kObject, -1}};
  const ConfigSource sources[] = {{.pools = first}, {.pools = second}};
  GameConfig config;
  ASSERT_TRUE(config.load(sources, release_x64()).ok());
  EXPECT_EQ(size_of(config, kObject, 10), 20u);
  ASSERT_EQ(messages.texts.size(), 1u);
  EXPECT_EQ(messages.names[0], kObject);
}

TEST(GameConfig, AFailedLoadChangesNothingAndGivesItsMemoryBack) {
  const PoolSizeRow pools[] = {{kObject, 20}}, other[] = {{kObject, 30}};
  const ConfigValue values[] = {text_value("a", "some text"), integer_value("b", 3)};
  const ConfigSource good[] = {{.pools = pools, .values = values}}, next[] = {{.pools = other, .values = values}};
  CountingAllocator allocator;
  {
    GameConfig config(allocator);
    ASSERT_TRUE(config.load(good, release_x64()).ok());
    const size_t live = allocator.live;
    const size_t requests = allocator.requests;
    for (size_t fail = 0; fail < requests; ++fail) {
      allocator.requests = 0;
      allocator.fail_from = fail;
      EXPECT_EQ(config.load(next, release_x64()).code, StatusCode::out_of_memory);
      EXPECT_EQ(size_of(config, kObject, 1), 20u);
      EXPECT_EQ(config.find_text("a"), "some text");
      EXPECT_EQ(allocator.live, live);
    }
    allocator.fail_from = SIZE_MAX;
    ASSERT_TRUE(config.load(next, release_x64()).ok());
    EXPECT_EQ(allocator.live, live) << "one block, as large as before";
    allocator.requests = 0;
    EXPECT_EQ(size_of(config, kObject, 1), 30u);
    EXPECT_EQ(config.find_int("b"), 3);
    EXPECT_EQ(allocator.requests, 0u) << "queries allocate nothing";
    ASSERT_TRUE(config.load({}, release_x64()).ok());
    EXPECT_EQ(allocator.live, 0u);
  }
  EXPECT_EQ(allocator.live, 0u);
}

TEST(GameConfig, MoreThanAConfigurationMayKeepIsRefused) {
  static const std::string kLong(kMaxConfigBytes / 2, 'x');
  const ConfigValue values[] = {text_value("a", kLong), text_value("b", kLong)};
  const ConfigSource sources[] = {{.values = values}};
  GameConfig config;
  EXPECT_EQ(config.load(sources, release_x64()).code, StatusCode::too_large);
}

TEST(GameConfig, SourcesMayGoAfterTheLoad) {
  GameConfig config;
  {
    const std::string word = "PRIO_HIGHEST";
    const std::vector<ConfigValue> values = {text_value("threads.Render.priority", word)};
    const std::vector<ConfigSource> sources = {{.values = values}};
    ASSERT_TRUE(config.load(sources, release_x64()).ok());
  }
  EXPECT_EQ(config.find_text("threads.Render.priority"), "PRIO_HIGHEST");
}

// CONF-3, against a plain map that is written to in the order of the file.
TEST(GameConfig, RandomListsMergeLikeAPlainMap) {
  const uint32_t seed = 20261130;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(random); };
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    const bool applies[] = {below(2) == 0, true};
    std::vector<std::vector<PoolSizeRow>> pools(below(6));
    std::vector<std::vector<ConfigValue>> values(pools.size());
    std::vector<ConfigSource> sources(pools.size());
    std::map<uint32_t, uint32_t> pool_model;
    std::map<uint32_t, int64_t> value_model;
    for (size_t i = 0; i < sources.size(); ++i) {
      const bool matches = applies[below(2)];
      for (uint32_t n = below(8); n > 0; --n) {
        pools[i].push_back({{below(10)}, static_cast<int32_t>(below(100))});
        if (matches) pool_model[pools[i].back().name.value] = static_cast<uint32_t>(pools[i].back().size);
      }
      for (uint32_t n = below(8); n > 0; --n) {
        values[i].push_back({.path = {below(10)}, .kind = integer, .integer = below(100)});
        if (matches) value_model[values[i].back().path.value] = values[i].back().integer;
      }
      sources[i] = {.filter = {matches ? "release" : "debug", "", ""}, .pools = pools[i], .values = values[i]};
    }
    GameConfig config;
    ASSERT_TRUE(config.load(sources, release_x64()).ok());
    std::map<uint32_t, uint32_t> seen_pools;
    for (const ConfiguredPool& pool : config.pools()) seen_pools[pool.name.value] = pool.size;
    EXPECT_EQ(seen_pools, pool_model);
    EXPECT_EQ(config.pools().size(), pool_model.size());
    std::map<uint32_t, int64_t> seen_values;
    for (const ConfigValue& value : config.values()) seen_values[value.path.value] = value.integer;
    EXPECT_EQ(seen_values, value_model);
    EXPECT_EQ(config.values().size(), value_model.size());
    for (uint32_t name = 0; name < 10; ++name)
      EXPECT_EQ(size_of(config, {name}, 0), pool_model.contains(name) ? pool_model[name] : 0);
  }
}

// CONF-6: locked after loading, the pool of archetypes has the code's size, and the streamed ones get the rest.
TEST(GameConfig, LockingThePoolOfArchetypesAfterwardsSharesAnew) {
  constexpr PoolSizeRow kPools[] = {{kModelInfoPool, 40000}};
  const ConfigSource sources[] = {{.filter = {"any", "any", ""}, .pools = kPools}};
  GameConfig config;
  ASSERT_TRUE(config.load(sources, {}).ok());
  EXPECT_EQ(config.model_slots().permanent, 40000u);
  EXPECT_EQ(config.model_slots().streamed, 0xFFFEu - 40000u);
  set_log_sink({[](void*, const LogMessage&) {}});
  EXPECT_TRUE(config.lock_pool(kModelInfoPool).ok());
  set_log_sink({});
  EXPECT_EQ(config.model_slots().permanent, 32200u);
  EXPECT_EQ(config.model_slots().streamed, 0xFFFEu - 32200u);
}

}  // namespace
}  // namespace meridian
