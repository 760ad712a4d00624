// SPDX-License-Identifier: MIT
#include "meridian/core/decorator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "support/captured.h"
#include "support/checked_memory.h"
#include "support/counting_allocator.h"

namespace meridian {
namespace {

struct Ped : Extensible {};

constexpr NameHash kSpeed = hash_name("Speed"), kStolen = hash_name("Stolen"), kBounty = hash_name("Bounty"),
                   kOwner = hash_name("Owner"), kSince = hash_name("Since"), kUnknown = hash_name("Unheard_Of");

struct World {
  DecoratorRegistry registry;
  Decorators decorators{registry};
  explicit World(const DecoratorSession& session = {}, Allocator& allocator = default_allocator()) {
    EXPECT_TRUE(registry.add(kSpeed, DecoratorKind::real, "a.sc").ok());
    EXPECT_TRUE(registry.add(kStolen, DecoratorKind::boolean, "b.sc").ok());
    EXPECT_TRUE(registry.add(kBounty, DecoratorKind::integer, "c.sc").ok());
    EXPECT_TRUE(registry.add(kOwner, DecoratorKind::string, "d.sc").ok());
    EXPECT_TRUE(registry.add(kSince, DecoratorKind::time, "e.sc").ok());
    EXPECT_TRUE(decorators.begin_session(session, allocator).ok());
  }
};

std::vector<DecoratorEntry> list_of(const Decorators& decorators, const Ped& ped) {
  std::vector<DecoratorEntry> out(64);
  size_t found = 0;
  EXPECT_TRUE(decorators.list(ped, out, found).ok());
  out.resize(found);
  return out;
}

TEST(DecoratorValue, KeepsItsKindAndBits) {
  static_assert(sizeof(DecoratorValue) == 8);
  EXPECT_EQ(DecoratorValue::of_float(-2.5f).as_float(), -2.5f);
  EXPECT_EQ(DecoratorValue::of_int(-7).as_int(), -7);
  EXPECT_TRUE(DecoratorValue::of_bool(true).as_bool());
  EXPECT_EQ(DecoratorValue::of_string(kOwner).as_string(), kOwner);
  EXPECT_EQ(DecoratorValue::of_time(0xFFFFFFFF).as_time(), 0xFFFFFFFFu);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(DecoratorValue::of_float(nan), DecoratorValue::of_float(nan));
  EXPECT_FALSE(DecoratorValue::of_float(0.f) == DecoratorValue::of_float(-0.f));
  EXPECT_FALSE(DecoratorValue::of_int(1) == DecoratorValue::of_bool(true));
  test::BrokenContracts contracts;
  (void)DecoratorValue::of_int(1).as_float();
  EXPECT_TRUE(test::broke(contracts));
  const char* const words[] = {"real", "boolean", "integer", "string", "time"};
  for (uint8_t i = 0; i < 5; ++i) EXPECT_STREQ(to_string(static_cast<DecoratorKind>(i)), words[i]);
}

// DEC-2
TEST(DecoratorRegistry, AnotherKindIsRefusedAndNamesBoth) {
  test::CapturedLog log;
  DecoratorRegistry registry;
  ASSERT_TRUE(registry.add(kBounty, DecoratorKind::integer, "police.sc").ok());
  ASSERT_TRUE(registry.add(kBounty, DecoratorKind::integer, "other.sc").ok());  // the same again is fine
  EXPECT_EQ(registry.count(), 1u);
  EXPECT_EQ(log.count(), 0u);
  const Status status = registry.add(kBounty, DecoratorKind::time, "bail.sc");
  EXPECT_EQ(status.code, StatusCode::wrong_kind);
  EXPECT_EQ(status.name, kBounty);
  EXPECT_EQ(status.detail, static_cast<uint64_t>(DecoratorKind::integer));
  ASSERT_EQ(log.count(), 1u);
  EXPECT_NE(log.said()[0].text.find("police.sc"), std::string::npos);
  EXPECT_NE(log.said()[0].text.find("bail.sc"), std::string::npos);
  EXPECT_NE(log.said()[0].text.find("integer"), std::string::npos);
  EXPECT_NE(log.said()[0].text.find("time"), std::string::npos);
  EXPECT_EQ(log.said()[0].name, kBounty);
  EXPECT_TRUE(registry.check(kBounty, DecoratorKind::integer).ok());  // the first stays
  EXPECT_EQ(registry.check(kBounty, DecoratorKind::time).code, StatusCode::wrong_kind);
  EXPECT_EQ(registry.check(kUnknown, DecoratorKind::time).code, StatusCode::not_found);
  EXPECT_TRUE(registry.knows(kBounty));
  EXPECT_FALSE(registry.knows(kUnknown));
}

// DEC-2: locked for a session, unlocked at its end.
TEST(DecoratorRegistry, LockEndsWithTheSession) {
  World world;
  world.registry.lock();
  EXPECT_TRUE(world.registry.is_locked());
  const Status status = world.registry.add(kUnknown, DecoratorKind::real, "late.sc");
  EXPECT_EQ(status.code, StatusCode::in_use);
  EXPECT_EQ(status.name, kUnknown);
  EXPECT_TRUE(world.registry.add(kSpeed, DecoratorKind::real, "late.sc").ok());  // known, and of that kind
  world.decorators.end_session();
  EXPECT_FALSE(world.registry.is_locked());
  EXPECT_TRUE(world.registry.add(kUnknown, DecoratorKind::real, "late.sc").ok());
}

TEST(DecoratorRegistry, HoldsAsManyAsItSays) {
  static_assert(sizeof(DecoratorRegistry) <= 8 * 1024 + 16);
  const auto registry = std::make_unique<DecoratorRegistry>();
  for (uint32_t i = 0; i < DecoratorRegistry::kMaxKeys; ++i) {
    ASSERT_TRUE(registry->add(NameHash{i * 2654435761u}, static_cast<DecoratorKind>(i % 5), "x").ok());
  }
  EXPECT_EQ(registry->count(), DecoratorRegistry::kMaxKeys);
  const Status status = registry->add(kUnknown, DecoratorKind::real, "x");
  EXPECT_EQ(status.code, StatusCode::out_of_slots);
  EXPECT_EQ(status.detail, DecoratorRegistry::kMaxKeys);
  for (uint32_t i = 0; i < DecoratorRegistry::kMaxKeys; ++i) {
    EXPECT_TRUE(registry->check(NameHash{i * 2654435761u}, static_cast<DecoratorKind>(i % 5)).ok()) << i;
  }
}

// DEC-1, DEC-4
TEST(Decorators, SetGetAndRemove) {
  World world;
  Decorators& d = world.decorators;
  Ped ped, other;
  EXPECT_TRUE(d.set(ped, kSpeed, DecoratorValue::of_float(1.5f)).ok());
  EXPECT_TRUE(d.set(ped, kStolen, DecoratorValue::of_bool(true)).ok());
  EXPECT_TRUE(d.set(ped, kBounty, DecoratorValue::of_int(-500)).ok());
  EXPECT_TRUE(d.set(ped, kOwner, DecoratorValue::of_string(hash_name("franz"))).ok());
  EXPECT_TRUE(d.set(ped, kSince, DecoratorValue::of_time(123456)).ok());
  float speed = 0;
  bool stolen = false;
  int32_t bounty = 0;
  NameHash owner;
  uint32_t since = 0;
  EXPECT_TRUE(d.get(ped, kSpeed, speed).ok());
  EXPECT_TRUE(d.get(ped, kStolen, stolen).ok());
  EXPECT_TRUE(d.get(ped, kBounty, bounty).ok());
  EXPECT_TRUE(d.get(ped, kOwner, owner).ok());
  EXPECT_TRUE(d.get_time(ped, kSince, since).ok());
  EXPECT_EQ(speed, 1.5f);
  EXPECT_TRUE(stolen);
  EXPECT_EQ(bounty, -500);
  EXPECT_EQ(owner, hash_name("FRANZ"));
  EXPECT_EQ(since, 123456u);
  EXPECT_EQ(d.used(), 5u);
  EXPECT_EQ(ped.extensions().mask(), 1u << kDecoratorExtension.id);  // one extension for all
  EXPECT_FALSE(d.exists(other, kSpeed));
  EXPECT_TRUE(d.set(ped, kBounty, DecoratorValue::of_int(7)).ok());  // replaces
  EXPECT_TRUE(d.get(ped, kBounty, bounty).ok());
  EXPECT_EQ(bounty, 7);
  EXPECT_EQ(d.used(), 5u);
  EXPECT_TRUE(d.remove(ped, kBounty));
  EXPECT_FALSE(d.remove(ped, kBounty));
  EXPECT_FALSE(d.remove(other, kBounty));
  EXPECT_FALSE(d.exists(ped, kBounty));
  EXPECT_EQ(d.get(ped, kBounty, bounty).code, StatusCode::not_found);
  EXPECT_EQ(bounty, 7);
  d.remove_all(ped);
  d.remove_all(ped);
  EXPECT_EQ(d.used(), 0u);
  EXPECT_TRUE(ped.extensions().empty());
  EXPECT_TRUE(d.set(ped, kBounty, DecoratorValue::of_int(1)).ok());
  EXPECT_TRUE(d.remove(ped, kBounty));  // the last takes the extension with it
  EXPECT_TRUE(ped.extensions().empty());
}

// DEC-3: the wrong kind fails and leaves the output alone. DEC-2: unregistered keys are refused.
TEST(Decorators, WrongKindsFailAndLeaveTheOutputAlone) {
  World world;
  Decorators& d = world.decorators;
  Ped ped;
  ASSERT_TRUE(d.set(ped, kBounty, DecoratorValue::of_int(500)).ok());
  float real = 4.5f;
  bool boolean = true;
  int32_t integer = 77;
  NameHash string{78};
  uint32_t time = 79;
  DecoratorValue any = DecoratorValue::of_time(80);
  EXPECT_EQ(d.get(ped, kBounty, real).code, StatusCode::wrong_kind);
  EXPECT_EQ(d.get(ped, kBounty, boolean).code, StatusCode::wrong_kind);
  EXPECT_EQ(d.get(ped, kBounty, string).code, StatusCode::wrong_kind);
  EXPECT_EQ(d.get_time(ped, kBounty, time).code, StatusCode::wrong_kind);
  EXPECT_EQ(d.get(ped, kBounty, DecoratorKind::time, any).code, StatusCode::wrong_kind);
  EXPECT_EQ(d.get(ped, kStolen, integer).code, StatusCode::wrong_kind);
  EXPECT_EQ(d.get(ped, kUnknown, integer).code, StatusCode::not_found);
  EXPECT_EQ(d.get(ped, kUnknown, integer).name, kUnknown);
  EXPECT_EQ(real, 4.5f);
  EXPECT_TRUE(boolean);
  EXPECT_EQ(integer, 77);
  EXPECT_EQ(string.value, 78u);
  EXPECT_EQ(time, 79u);
  EXPECT_EQ(any, DecoratorValue::of_time(80));
  EXPECT_EQ(d.set(ped, kBounty, DecoratorValue::of_time(1)).code, StatusCode::wrong_kind);
  EXPECT_EQ(d.set(ped, kUnknown, DecoratorValue::of_int(1)).code, StatusCode::not_found);
  EXPECT_TRUE(d.get(ped, kBounty, DecoratorKind::integer, any).ok());
  EXPECT_EQ(any, DecoratorValue::of_int(500));
  EXPECT_EQ(d.used(), 1u);
}

// DEC-4: list, latest first; a name that is set again keeps its place.
TEST(Decorators, ListsWhatAnObjectHas) {
  World world;
  Ped ped;
  EXPECT_TRUE(list_of(world.decorators, ped).empty());
  (void)world.decorators.set(ped, kBounty, DecoratorValue::of_int(1));
  (void)world.decorators.set(ped, kStolen, DecoratorValue::of_bool(false));
  (void)world.decorators.set(ped, kSpeed, DecoratorValue::of_float(3));
  (void)world.decorators.set(ped, kBounty, DecoratorValue::of_int(2));
  EXPECT_EQ(list_of(world.decorators, ped), (std::vector<DecoratorEntry>{{kSpeed, DecoratorValue::of_float(3)},
                                                                         {kStolen, DecoratorValue::of_bool(false)},
                                                                         {kBounty, DecoratorValue::of_int(2)}}));
  DecoratorEntry two[2];
  size_t found = 0;
  const Status status = world.decorators.list(ped, two, found);
  EXPECT_EQ(status.code, StatusCode::too_small);
  EXPECT_EQ(status.detail, 3u);
  EXPECT_EQ(found, 3u);
  EXPECT_EQ(two[1].key, kStolen);
}

// DEC-1: pools "Decorator" (600 by default) and the extension's; CORE-11: full ones say so once.
TEST(Decorators, FullPoolsRefuseAndChangeNothing) {
  EXPECT_EQ(DecoratorSession().decorators, 600u);
  test::CapturedLog log;
  World world({.decorators = 3, .decorated_objects = 1});
  Decorators& d = world.decorators;
  Ped ped, other;
  ASSERT_TRUE(d.set(ped, kBounty, DecoratorValue::of_int(1)).ok());
  Status status = d.set(other, kBounty, DecoratorValue::of_int(1));  // no more objects
  EXPECT_EQ(status.code, StatusCode::out_of_slots);
  EXPECT_EQ(status.name, kBounty);
  EXPECT_EQ(status.detail, 1u);
  EXPECT_EQ(d.used(), 1u);
  EXPECT_TRUE(other.extensions().empty());
  EXPECT_NE(
      log.all().find("DecoratorExtension pool full (capacity 1): raise PoolSize 'DecoratorExtension' in gameconfig"),
      std::string::npos);
  ASSERT_TRUE(d.set(ped, kStolen, DecoratorValue::of_bool(true)).ok());
  ASSERT_TRUE(d.set(ped, kSince, DecoratorValue::of_time(1)).ok());
  log.clear();
  for (int i = 0; i < 3; ++i) {
    status = d.set(ped, kSpeed, DecoratorValue::of_float(1));
    EXPECT_EQ(status.code, StatusCode::out_of_slots);
    EXPECT_EQ(status.detail, 3u);
  }
  EXPECT_EQ(log.all(), "Decorator pool full (capacity 3): raise PoolSize 'Decorator' in gameconfig\n");
  EXPECT_TRUE(d.set(ped, kBounty, DecoratorValue::of_int(2)).ok());  // needs no slot
  EXPECT_EQ(d.used(), 3u);
}

// DEC-4: replace_all is all or nothing.
TEST(Decorators, ReplaceAllIsAllOrNothing) {
  test::CapturedLog log;
  World world({.decorators = 4, .decorated_objects = 2});
  Decorators& d = world.decorators;
  Ped ped, other, third;
  ASSERT_TRUE(d.set(ped, kBounty, DecoratorValue::of_int(1)).ok());
  ASSERT_TRUE(d.set(ped, kStolen, DecoratorValue::of_bool(true)).ok());
  ASSERT_TRUE(d.set(other, kBounty, DecoratorValue::of_int(9)).ok());
  const auto before = list_of(d, ped);
  const DecoratorEntry speed{kSpeed, DecoratorValue::of_float(1)}, since{kSince, DecoratorValue::of_time(2)},
      owner{kOwner, DecoratorValue::of_string(kOwner)}, bounty{kBounty, DecoratorValue::of_int(3)},
      wrong{kBounty, DecoratorValue::of_float(3)}, unknown{kUnknown, DecoratorValue::of_float(3)};
  const auto replace = [&](Ped& p, std::vector<DecoratorEntry> entries) { return d.replace_all(p, entries); };
  EXPECT_EQ(replace(ped, {speed, wrong}).code, StatusCode::wrong_kind);
  EXPECT_EQ(replace(ped, {speed, unknown}).code, StatusCode::not_found);
  EXPECT_EQ(replace(ped, {speed, since, owner, bounty}).code, StatusCode::out_of_slots);  // 3 at most: 4 - 1
  EXPECT_EQ(list_of(d, ped), before);
  EXPECT_EQ(replace(third, {speed}).code, StatusCode::out_of_slots);  // two objects at most
  EXPECT_TRUE(third.extensions().empty());
  EXPECT_TRUE(replace(third, {}).ok());
  EXPECT_TRUE(replace(ped, {speed, since, owner}).ok());
  EXPECT_EQ(list_of(d, ped), (std::vector<DecoratorEntry>{owner, since, speed}));
  EXPECT_EQ(d.used(), 4u);
  EXPECT_TRUE(replace(ped, {}).ok());
  EXPECT_TRUE(ped.extensions().empty());
  EXPECT_TRUE(replace(third, {speed, bounty}).ok());
  test::BrokenContracts contracts;
  EXPECT_TRUE(replace(third, {bounty, {kBounty, DecoratorValue::of_int(4)}}).ok());  // the last wins
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(list_of(d, third), (std::vector<DecoratorEntry>{{kBounty, DecoratorValue::of_int(4)}}));
}

// DEC-4: pools live for a session.
TEST(Decorators, EndWithTheirSession) {
  test::CheckedMemory memory;
  MemoryTracker tracker;
  World world({.decorators = 10, .decorated_objects = 5, .tracker = &tracker}, memory);
  EXPECT_EQ(memory.blocks(), 2u);
  EXPECT_EQ(tracker.total_bytes(), memory.bytes());
  Ped lives;
  {
    Ped dies;
    ASSERT_TRUE(world.decorators.set(dies, kBounty, DecoratorValue::of_int(1)).ok());
    ASSERT_TRUE(world.decorators.set(dies, kStolen, DecoratorValue::of_bool(true)).ok());
    ASSERT_TRUE(world.decorators.set(lives, kBounty, DecoratorValue::of_int(1)).ok());
    EXPECT_EQ(world.decorators.used(), 3u);
  }
  EXPECT_EQ(world.decorators.used(), 1u);
  world.decorators.end_session();
  EXPECT_TRUE(lives.extensions().empty());
  EXPECT_FALSE(world.decorators.in_session());
  EXPECT_EQ(memory.bytes(), 0u);
  EXPECT_FALSE(world.decorators.exists(lives, kBounty));
  world.decorators.remove_all(lives);
  world.decorators.end_session();
  ASSERT_TRUE(world.decorators.begin_session({.decorators = 1, .tracker = &tracker}, memory).ok());
  EXPECT_TRUE(world.decorators.set(lives, kBounty, DecoratorValue::of_int(1)).ok());
}

TEST(Decorators, ASessionWithoutMemoryDoesNotBegin) {
  test::CapturedLog log;
  DecoratorRegistry registry;
  ASSERT_TRUE(registry.add(kBounty, DecoratorKind::integer, "x").ok());
  Decorators decorators(registry);
  test::CheckedMemory memory;
  for (int allocations = 0; allocations < 2; ++allocations) {
    memory.fail_after(allocations);
    EXPECT_EQ(decorators.begin_session({}, memory).code, StatusCode::out_of_memory);
    EXPECT_FALSE(decorators.in_session());
    EXPECT_EQ(memory.blocks(), 0u);
  }
  Ped ped;
  test::BrokenContracts contracts;
  EXPECT_EQ(decorators.set(ped, kBounty, DecoratorValue::of_int(1)).code, StatusCode::out_of_slots);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_TRUE(ped.extensions().empty());
}

TEST(Decorators, ASecondSessionEndsTheFirst) {
  World world;
  Ped ped;
  ASSERT_TRUE(world.decorators.set(ped, kBounty, DecoratorValue::of_int(1)).ok());
  test::BrokenContracts contracts;
  EXPECT_TRUE(world.decorators.begin_session({}).ok());
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_TRUE(ped.extensions().empty());
}

TEST(Decorators, AnObjectHasThoseOfOneOnly) {
  World first, second;
  Ped ped;
  ASSERT_TRUE(first.decorators.set(ped, kBounty, DecoratorValue::of_int(1)).ok());
  test::BrokenContracts contracts;
  EXPECT_EQ(second.decorators.set(ped, kStolen, DecoratorValue::of_bool(true)).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(second.decorators.replace_all(ped, {}).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(first.decorators.used(), 1u);
  EXPECT_EQ(second.decorators.used(), 0u);
  first.decorators.remove_all(ped);
  EXPECT_TRUE(second.decorators.set(ped, kStolen, DecoratorValue::of_bool(true)).ok());
}

TEST(Decorators, OperationsOfAFrameDoNotAllocate) {
  World world;
  Ped ped;
  const DecoratorEntry entries[] = {{kSpeed, DecoratorValue::of_float(1)}, {kBounty, DecoratorValue::of_int(1)}};
  DecoratorEntry out[4];
  size_t found = 0;
  int32_t bounty = 0;
  const uint64_t before = test::allocation_count();
  for (int i = 0; i < 100; ++i) {
    (void)world.decorators.set(ped, kBounty, DecoratorValue::of_int(i));
    (void)world.decorators.get(ped, kBounty, bounty);
    (void)world.decorators.exists(ped, kSince);
    (void)world.decorators.replace_all(ped, entries);
    (void)world.decorators.list(ped, out, found);
    world.decorators.remove(ped, kSpeed);
    world.decorators.remove_all(ped);
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_EQ(found, 2u);
}

// DEC-3: also where another Decorators, with another idea of the key, has set it.
TEST(Decorators, AnotherRegistrysKindIsNotRead) {
  DecoratorRegistry whole, real;
  ASSERT_TRUE(whole.add(hash_name("Speed"), DecoratorKind::integer, "whole").ok());
  ASSERT_TRUE(real.add(hash_name("Speed"), DecoratorKind::real, "real").ok());
  Decorators first(whole), second(real);
  ASSERT_TRUE(first.begin_session({}).ok());
  ASSERT_TRUE(second.begin_session({}).ok());
  Ped ped;
  ASSERT_TRUE(first.set(ped, hash_name("Speed"), DecoratorValue::of_int(7)).ok());
  float speed = 1.5f;
  EXPECT_EQ(second.get(ped, hash_name("Speed"), speed).code, StatusCode::wrong_kind);
  EXPECT_EQ(speed, 1.5f);
}

}  // namespace
}  // namespace meridian
