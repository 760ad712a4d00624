// SPDX-License-Identifier: MIT
#include "meridian/core/extension.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/captured.h"
#include "support/counting_allocator.h"

namespace meridian {
namespace {

struct Thing : Extensible {};

struct Any : Extension {
  explicit Any(uint32_t kind) : Extension(ExtensionKind{kind}) { ++g_alive; }
  ~Any() override { --g_alive; }
  static inline int g_alive = 0;
};
struct Ladder final : Extension {
  static constexpr ExtensionKind kKind{3};
  Ladder() : Extension(kKind) {}
  float height = 4;
};
struct Smoke final : Extension {
  static constexpr ExtensionKind kKind{200};
  Smoke() : Extension(kKind) {}
};

// EXTN-1: kinds below 32 are in the mask, others are not, and both are found.
TEST(ExtensionList, FindsKindsBelowAndAbove32) {
  static_assert(sizeof(ExtensionList) == 16);
  Thing thing;
  ExtensionList& list = thing.extensions();
  EXPECT_TRUE(list.empty());
  Any a(0), b(31), c(32), d(255);
  for (Any* any : {&a, &b, &c, &d}) {
    EXPECT_FALSE(list.has(any->kind()));
    EXPECT_EQ(list.find(any->kind()), nullptr);
    list.add(*any);
    EXPECT_TRUE(list.has(any->kind()));
    EXPECT_EQ(list.find(any->kind()), any);
  }
  EXPECT_EQ(list.mask(), 0x80000001u);
  EXPECT_FALSE(list.has(ExtensionKind{64}));  // not the bit of kind 0
  EXPECT_FALSE(list.has(ExtensionKind{63}));
  EXPECT_EQ(list.first(), &d);
  EXPECT_EQ(d.next(), &c);
  EXPECT_EQ(a.next(), nullptr);
  list.unlink(b);
  EXPECT_EQ(list.mask(), 1u);
  EXPECT_EQ(list.unlink(ExtensionKind{0}), &a);
  EXPECT_EQ(list.unlink(ExtensionKind{0}), nullptr);
  EXPECT_EQ(list.unlink(ExtensionKind{255}), &d);
  EXPECT_EQ(list.unlink(ExtensionKind{32}), &c);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.mask(), 0u);
}

TEST(ExtensionList, SeveralOfAKindAreFoundLatestFirst) {
  for (const uint32_t kind : {5u, 77u}) {
    Thing thing;
    Any first(kind), second(kind), other(6);
    thing.extensions().add(first);
    thing.extensions().add(other);
    thing.extensions().add(second);
    EXPECT_EQ(thing.extensions().find(ExtensionKind{kind}), &second);
    EXPECT_EQ(thing.extensions().unlink(ExtensionKind{kind}), &second);
    EXPECT_TRUE(thing.extensions().has(ExtensionKind{kind}));  // EXTN-1: the mask still says so
    EXPECT_EQ(thing.extensions().find(ExtensionKind{kind}), &first);
    thing.extensions().unlink(first);
    EXPECT_FALSE(thing.extensions().has(ExtensionKind{kind}));
    EXPECT_EQ(thing.extensions().find(ExtensionKind{kind}), nullptr);
    thing.extensions().clear();
  }
}

TEST(ExtensionList, FindsByClass) {
  Thing thing;
  Ladder ladder;
  Smoke smoke;
  EXPECT_EQ(thing.extensions().find<Ladder>(Ladder::kKind), nullptr);
  thing.extensions().add(ladder);
  thing.extensions().add(smoke);
  EXPECT_EQ(thing.extensions().find<Ladder>(Ladder::kKind), &ladder);
  EXPECT_EQ(thing.extensions().find<Smoke>(Smoke::kKind), &smoke);
  thing.extensions().clear();
}

// EXTN-2: unlink hands back to the caller, clear and death destroy what has a factory.
TEST(ExtensionList, UnlinkHandsBackAndClearDestroys) {
  PoolFactory<Ladder, Extension> ladders;
  ASSERT_TRUE(ladders.init({.name = "LadderExtension", .capacity = 10}).ok());
  Any of_the_caller(9);
  {
    Thing thing;
    const auto add = [&] {
      Extension* const made = ladders.create(0);
      made->set_factory(&ladders);
      thing.extensions().add(*made);
      return made;
    };
    thing.extensions().add(of_the_caller);
    Extension* const a = add();
    Extension* const b = add();
    Extension* const c = add();
    EXPECT_EQ(ladders.pool().used(), 3u);
    thing.extensions().unlink(*b);
    EXPECT_EQ(ladders.pool().used(), 3u);
    thing.extensions().destroy(*c);
    EXPECT_EQ(ladders.pool().used(), 2u);
    EXPECT_EQ(thing.extensions().find<Ladder>(Ladder::kKind), a);
    thing.extensions().add(*b);  // may come back
    thing.extensions().clear();
    EXPECT_EQ(ladders.pool().used(), 0u);
    EXPECT_TRUE(thing.extensions().empty());
    EXPECT_EQ(thing.extensions().mask(), 0u);
    add();
    thing.extensions().add(of_the_caller);
  }
  EXPECT_EQ(ladders.pool().used(), 0u);  // by death
  Thing next;
  next.extensions().add(of_the_caller);  // in no list since its object died
  EXPECT_TRUE(next.extensions().has(ExtensionKind{9}));
  next.extensions().clear();
}

/// Looks at its object's list while it dies.
struct Curious final : Extension {
  explicit Curious(Thing* t = nullptr) : Extension(ExtensionKind{4}), thing(t) {}
  ~Curious() override {
    if (thing == nullptr) return;
    was_there = thing->extensions().has(kind()) || thing->extensions().find(kind()) != nullptr;
    saw_ladder = thing->extensions().find<Ladder>(Ladder::kKind) != nullptr;
  }
  Thing* thing;
  static inline bool was_there = true, saw_ladder = false;
};
TEST(ExtensionList, ADestructorMayLookAtTheList) {
  PoolFactory<Curious, Extension> factory;
  ASSERT_TRUE(factory.init({.name = "Curious", .capacity = 1}).ok());
  Thing thing;
  Ladder ladder;
  thing.extensions().add(ladder);
  auto* const curious = static_cast<Curious*>(factory.create(0));
  curious->thing = &thing;
  curious->set_factory(&factory);
  thing.extensions().add(*curious);
  thing.extensions().clear();
  EXPECT_FALSE(Curious::was_there);
  EXPECT_TRUE(Curious::saw_ladder);
}

TEST(ExtensionList, CopiesAreInNoListAndOfNoFactory) {
  Thing thing, other;
  Ladder ladder;
  ladder.height = 9;
  thing.extensions().add(ladder);
  Ladder copy(ladder);
  EXPECT_EQ(copy.height, 9);
  EXPECT_EQ(copy.kind(), Ladder::kKind);
  EXPECT_EQ(copy.next(), nullptr);
  other.extensions().add(copy);
  copy = ladder;
  EXPECT_EQ(other.extensions().find<Ladder>(Ladder::kKind), &copy);
  other.extensions().clear();
  thing.extensions().clear();
}

// EXTN-1, EXTN-2
TEST(ExtensionList, BrokenContractsDoNoHarm) {
  PoolFactory<Ladder, Extension> ladders;
  ASSERT_TRUE(ladders.init({.name = "LadderExtension", .capacity = 10}).ok());
  Thing thing, other;
  Extension* const ladder = ladders.create(0);
  ladder->set_factory(&ladders);
  thing.extensions().add(*ladder);
  test::BrokenContracts contracts;
  thing.extensions().add(*ladder);  // twice
  EXPECT_TRUE(test::broke(contracts));
  other.extensions().add(*ladder);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_TRUE(other.extensions().empty());
  other.extensions().unlink(*ladder);
  EXPECT_TRUE(test::broke(contracts));
  other.extensions().destroy(*ladder);  // another list holds it
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(ladders.pool().used(), 1u);
  EXPECT_EQ(thing.extensions().first(), ladder);
  EXPECT_EQ(ladder->next(), nullptr);
  Any loose(6);
  thing.extensions().add(loose);
  thing.extensions().destroy(loose);  // of no factory: taken out, and the caller's
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_FALSE(thing.extensions().has(ExtensionKind{6}));
}
TEST(ExtensionListDeathTest, AnExtensionIsInOneList) {
  if (!test::kAsserts) GTEST_SKIP() << "no asserts";
  Thing thing, other;
  Any any(2);
  thing.extensions().add(any);
  EXPECT_DEATH(other.extensions().add(any), "contract broken: an extension is in one list at a time");
  EXPECT_DEATH(
      {
        Any dies_listed(1);
        thing.extensions().add(dies_listed);
      },
      "contract broken: an extension is taken out of its list before it dies");
  EXPECT_DEATH(Any(256), "contract broken: kinds of extensions are numbered below");
  thing.extensions().clear();
}

// EXTN-1, EXTN-2: against vectors; kinds below and above 32, several of one kind.
TEST(ExtensionList, RandomOperationsDoAsVectors) {
  for (const uint32_t seed : {51u, 52u}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const uint32_t kinds[] = {0, 1, 5, 31, 32, 33, 63, 64, 255};
    std::vector<std::unique_ptr<Any>> all;  // outlives the lists
    std::vector<Thing> things(3);
    std::vector<std::vector<Extension*>> model(3);  // latest first
    std::vector<Any*> loose;
    for (int i = 0; i < 40; ++i) {
      all.push_back(std::make_unique<Any>(kinds[random() % std::size(kinds)]));
      loose.push_back(all.back().get());
    }
    for (int i = 0; i < 60000; ++i) {
      const size_t t = random() % things.size();
      ExtensionList& list = things[t].extensions();
      std::vector<Extension*>& expected = model[t];
      switch (random() % 8) {
        case 0:
        case 1:
        case 2:
          if (loose.empty()) break;
          std::swap(loose[random() % loose.size()], loose.back());
          list.add(*loose.back());
          expected.insert(expected.begin(), loose.back());
          loose.pop_back();
          break;
        case 3:
        case 4:
          if (expected.empty()) break;
          {
            const auto at = expected.begin() + static_cast<std::ptrdiff_t>(random() % expected.size());
            list.unlink(**at);
            loose.push_back(static_cast<Any*>(*at));
            expected.erase(at);
          }
          break;
        case 5: {
          const ExtensionKind kind{kinds[random() % std::size(kinds)]};
          const auto at =
              std::find_if(expected.begin(), expected.end(), [&](Extension* e) { return e->kind() == kind; });
          ASSERT_EQ(list.unlink(kind), at == expected.end() ? nullptr : *at);
          if (at == expected.end()) break;
          loose.push_back(static_cast<Any*>(*at));
          expected.erase(at);
          break;
        }
        case 6:
          if (random() % 32 != 0) break;
          list.clear();
          for (Extension* e : expected) loose.push_back(static_cast<Any*>(e));
          expected.clear();
          break;
        default: {
          const ExtensionKind kind{kinds[random() % std::size(kinds)]};
          const auto at =
              std::find_if(expected.begin(), expected.end(), [&](Extension* e) { return e->kind() == kind; });
          ASSERT_EQ(list.find(kind), at == expected.end() ? nullptr : *at);
          ASSERT_EQ(list.has(kind), at != expected.end());
        }
      }
      if (i % 7 != 0) continue;
      uint32_t mask = 0;
      const Extension* next = list.first();
      for (const Extension* e : expected) {
        ASSERT_EQ(next, e);
        next = next->next();
        if (e->kind().id < 32) mask |= 1u << e->kind().id;
      }
      ASSERT_EQ(next, nullptr);
      ASSERT_EQ(list.mask(), mask);
      ASSERT_EQ(list.empty(), expected.empty());
    }
  }
  EXPECT_EQ(Any::g_alive, 0);
}

// EXTN-2: no allocation per attach.
TEST(ExtensionList, OperationsOfAFrameDoNotAllocate) {
  PoolFactory<Ladder, Extension> ladders;
  ASSERT_TRUE(ladders.init({.name = "LadderExtension", .capacity = 10}).ok());
  ExtensionRegistry registry;
  registry.add_factory(Ladder::kKind, "LadderExtension", ladders);
  Thing thing;
  Any any(100);
  const uint64_t before = test::allocation_count();
  for (int i = 0; i < 100; ++i) {
    thing.extensions().add(*registry.create(Ladder::kKind, 0));
    thing.extensions().add(any);
    EXPECT_TRUE(thing.extensions().has(any.kind()));
    thing.extensions().unlink(any);
    thing.extensions().destroy(*thing.extensions().find<Ladder>(Ladder::kKind));
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
}

}  // namespace
}  // namespace meridian
