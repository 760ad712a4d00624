// SPDX-License-Identifier: MIT
#include "meridian/core/tracked_ref.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "meridian/core/pool.h"
#include "support/captured.h"
#include "support/counting_allocator.h"

namespace meridian {
namespace {

struct Ped : Trackable {
  explicit Ped(int h = 100) : health(h) {}
  int health;
};
using Ref = TrackedRef<Ped>;

// TREF-1: one pointer in the object, 24 bytes in the reference.
static_assert(sizeof(Trackable) == sizeof(void*));
static_assert(sizeof(Ref) == 24);
// Through the base, a copy would put a reference into a list that does not know it.
static_assert(!std::is_copy_assignable_v<TrackedRefBase> && std::is_copy_assignable_v<Ref>);

// TREF-1
TEST(TrackedRef, BecomesNullWhenItsObjectDies) {
  Ref a, b;
  Ref never;
  {
    Ped ped;
    EXPECT_FALSE(ped.is_referenced());
    a = &ped;
    b = a;
    EXPECT_TRUE(a && b);
    EXPECT_EQ(a.get(), &ped);
    EXPECT_EQ(a->health, 100);
    (*b).health = 7;
    EXPECT_EQ(ped.health, 7);
    EXPECT_TRUE(a == b);
    EXPECT_TRUE(a == &ped);
    EXPECT_FALSE(a == never);
    EXPECT_EQ(ped.reference_count(), 2u);
  }
  EXPECT_FALSE(a);
  EXPECT_FALSE(b);
  EXPECT_EQ(a.get(), nullptr);
  EXPECT_TRUE(a == never);
  EXPECT_TRUE(a == nullptr);
}

TEST(TrackedRef, ReferencesMayDieFirstInAnyOrder) {
  int order[] = {0, 1, 2, 3};
  do {
    Ped ped;
    std::unique_ptr<Ref> refs[4];
    for (auto& ref : refs) ref = std::make_unique<Ref>(&ped);
    size_t left = 4;
    for (const int i : order) {
      refs[i].reset();
      EXPECT_EQ(ped.reference_count(), --left);
      for (const auto& ref : refs) {
        if (ref != nullptr) {
          EXPECT_EQ(ref->get(), &ped);
        }
      }
    }
    EXPECT_FALSE(ped.is_referenced());
  } while (std::next_permutation(std::begin(order), std::end(order)));
}

TEST(TrackedRef, AssignmentMovesBetweenObjects) {
  Ped a(1), b(2);
  Ref ref(&a), other(&a);
  ref = &b;
  EXPECT_EQ(a.reference_count(), 1u);
  EXPECT_EQ(b.reference_count(), 1u);
  ref = static_cast<Ped*>(nullptr);
  EXPECT_FALSE(ref);
  EXPECT_FALSE(b.is_referenced());
  ref = other;
  EXPECT_EQ(a.reference_count(), 2u);
  ref.reset();
  ref.reset();
  EXPECT_EQ(a.reference_count(), 1u);
  EXPECT_EQ(other.get(), &a);
}

TEST(TrackedRef, SelfAssignmentChangesNothing) {
  Ped ped;
  Ref before(&ped), ref(&ped), after(&ped), empty;
  Ref& same = ref;
  ref = same;
  ref = &ped;
  ref = std::move(same);
  EXPECT_EQ(ref.get(), &ped);
  EXPECT_EQ(ped.reference_count(), 3u);
  Ref& same_empty = empty;
  empty = same_empty;
  EXPECT_FALSE(empty);
}

TEST(TrackedRef, CopiesAreReferencesOfTheirOwn) {
  Ped ped;
  auto first = std::make_unique<Ref>(&ped);
  const Ref second(*first);
  std::vector<Ref> many(5, *first);
  many.resize(100, second);  // reallocates: references move in memory
  many.erase(many.begin() + 10, many.begin() + 30);
  EXPECT_EQ(ped.reference_count(), 82u);
  first.reset();
  EXPECT_EQ(ped.reference_count(), 81u);
  for (const Ref& ref : many) EXPECT_EQ(ref.get(), &ped);
  many.clear();
  EXPECT_EQ(ped.reference_count(), 1u);
  EXPECT_EQ(second.get(), &ped);
}

TEST(TrackedRef, ObjectsThatAreCopiedOrMovedKeepTheirOwnReferences) {
  Ped a(1), b(2);
  Ref to_a(&a), to_b(&b);
  Ped copy(a);
  EXPECT_EQ(copy.health, 1);
  EXPECT_FALSE(copy.is_referenced());
  Ped moved(std::move(a));
  EXPECT_FALSE(moved.is_referenced());
  b = copy;
  EXPECT_EQ(b.health, 1);
  b = std::move(copy);
  EXPECT_EQ(to_a.get(), &a);
  EXPECT_EQ(to_b.get(), &b);
  EXPECT_EQ(b.reference_count(), 1u);
  a = b;
  EXPECT_EQ(a.reference_count(), 1u);
  EXPECT_EQ(to_a.get(), &a);
}

/// Refers to others of its kind, to itself, and to one of its members.
struct Node : Trackable {
  TrackedRef<Node> next, self;
  Ped inner;
  TrackedRef<Ped> to_inner;
};
TEST(TrackedRef, HoldersMayReferToThemselvesAndToEachOther) {
  {
    Node node;
    node.self = &node;
    node.next = &node;
    node.to_inner = &node.inner;
    EXPECT_EQ(node.reference_count(), 2u);
  }
  auto a = std::make_unique<Node>(), b = std::make_unique<Node>();
  a->next = b.get();
  b->next = a.get();
  b->self = b.get();
  b->to_inner = &a->inner;
  a.reset();
  EXPECT_FALSE(b->next);
  EXPECT_FALSE(b->to_inner);
  EXPECT_EQ(b->self.get(), b.get());
  b.reset();
}

/// Says in its destructor that it is gone, before its members are.
struct Pooled : Trackable {
  explicit Pooled(TrackedRef<Pooled>* w = nullptr) : witness(w) {}
  ~Pooled() {
    clear_references();
    was_null = witness == nullptr || !*witness;
    if (witness != nullptr) *witness = this;  // too late, and taken back all the same
  }
  TrackedRef<Pooled>* witness;
  static inline bool was_null = false;
};
TEST(TrackedRef, ReferencesCanBeClearedBeforeTheObjectDies) {
  TrackedRef<Pooled> ref;
  Pool<Pooled> pool;
  ASSERT_TRUE(pool.init({.name = "Pooled", .capacity = 2}).ok());
  Pooled* const pooled = pool.create(&ref);
  ref = pooled;
  TrackedRef<Pooled> other(pooled);
  pool.destroy(*pooled);
  EXPECT_TRUE(Pooled::was_null);
  EXPECT_FALSE(ref);
  EXPECT_FALSE(other);
  Pooled* const again = pool.create();
  Pooled* const same = pool.create();
  ref = same == pooled ? same : again;  // the address is used again; old references stay null
  EXPECT_FALSE(other);
  EXPECT_TRUE(ref);
}

struct Base1 {
  virtual ~Base1() = default;
  int one = 1;
};
struct Second : Base1, Trackable {
  int two = 2;
};
TEST(TrackedRef, TheTrackableBaseNeedNotComeFirst) {
  Second object;
  const TrackedRef<Second> ref(&object);
  EXPECT_EQ(ref.get(), &object);
  EXPECT_EQ(ref->two, 2);
  EXPECT_EQ(TrackedRef<Second>(ref)->one, 1);
}

TEST(TrackedRefDeathTest, ADeadObjectIsNotUsed) {
  if (!test::kAsserts) GTEST_SKIP() << "no asserts";
  const Ref ref;
  EXPECT_DEATH((void)ref->health, "contract broken: the object is gone");
  EXPECT_DEATH((void)(*ref).health, "contract broken: the object is gone");
}

// TREF-1: it cannot run out, and needs no memory.
TEST(TrackedRef, NothingAllocates) {
  Ped peds[4];
  Ref refs[100];
  const uint64_t before = test::allocation_count();
  for (size_t i = 0; i < 10000; ++i) {
    refs[i * 7 % 100] = &peds[i % 4];
    refs[i * 13 % 100].reset();
    refs[i * 3 % 100] = refs[i % 100];
    const Ref copy(refs[i % 100]);
    if (i % 1000 == 0) {
      const Ped dies;
      Ref to_dead(const_cast<Ped*>(&dies));
    }
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
}

TEST(TrackedRef, RandomOperationsDoAsAMapOfPointers) {
  for (const uint32_t seed : {31u, 32u}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::vector<std::unique_ptr<Ped>> peds;
    for (int i = 0; i < 6; ++i) peds.push_back(std::make_unique<Ped>(i));
    std::vector<std::unique_ptr<Ref>> refs(40);
    std::vector<Ped*> model(40, nullptr);
    for (auto& ref : refs) ref = std::make_unique<Ref>();
    for (int i = 0; i < 60000; ++i) {
      const size_t r = random() % refs.size(), other = random() % refs.size(), p = random() % peds.size();
      switch (random() % 8) {
        case 0:
        case 1:
          *refs[r] = peds[p].get();
          model[r] = peds[p].get();
          break;
        case 2:
          *refs[r] = *refs[other];
          model[r] = model[other];
          break;
        case 3:
          refs[r]->reset();
          model[r] = nullptr;
          break;
        case 4:  // another reference in its place
          refs[r] = std::make_unique<Ref>(*refs[other]);
          model[r] = model[other];
          break;
        case 5:  // an object dies
          for (Ped*& at : model) at = at == peds[p].get() ? nullptr : at;
          peds[p] = std::make_unique<Ped>(i);
          break;
        case 6:
          std::swap(*refs[r], *refs[other]);
          std::swap(model[r], model[other]);
          break;
        default:
          refs[r] = std::make_unique<Ref>(peds[p].get());
          model[r] = peds[p].get();
      }
      ASSERT_EQ(refs[r]->get(), model[r]);
      if (i % 61 != 0) continue;
      std::map<const Ped*, size_t> counts;
      for (size_t k = 0; k < refs.size(); ++k) {
        ASSERT_EQ(refs[k]->get(), model[k]);
        ASSERT_EQ(static_cast<bool>(*refs[k]), model[k] != nullptr);
        ++counts[model[k]];
      }
      for (const auto& ped : peds) {
        ASSERT_EQ(ped->reference_count(), counts[ped.get()]);
        ASSERT_EQ(ped->is_referenced(), counts[ped.get()] != 0);
      }
    }
  }
}

}  // namespace
}  // namespace meridian
