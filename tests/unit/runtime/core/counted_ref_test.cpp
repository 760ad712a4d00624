// SPDX-License-Identifier: MIT
#include "meridian/core/counted_ref.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/captured.h"
#include "support/counting_allocator.h"

namespace meridian {
namespace {

struct Ped : Trackable {};
using Ref = CountedRef<Ped>;

std::vector<RefHolder> holders_of(const KnownRefs& known, const Ped* ped) {
  std::vector<RefHolder> out;
  known.for_each(
      ped, [](void* user, const RefHolder& holder) { static_cast<std::vector<RefHolder>*>(user)->push_back(holder); },
      &out);
  return out;
}

// TREF-2: the call sites of the holders, for leak reports.
TEST(CountedRef, RemembersTheLineThatPointedIt) {
  KnownRefs known;
  ASSERT_TRUE(known.init(10).ok());
  Ped ped, other;
  const uint32_t first = __LINE__ + 1;
  Ref a(known, &ped);
  Ref b(known);
  EXPECT_EQ(known.count(), 1u);
  const uint32_t second = __LINE__ + 1;
  b.set(&ped);
  const uint32_t third = __LINE__ + 1;
  const Ref c(a);
  auto holders = holders_of(known, &ped);
  ASSERT_EQ(holders.size(), 3u);
  std::set<uint32_t> lines;
  for (const RefHolder& holder : holders) {
    EXPECT_NE(std::string_view(holder.file).find("counted_ref_test.cpp"), std::string_view::npos);
    EXPECT_NE(std::string_view(holder.function).find("TestBody"), std::string_view::npos);
    EXPECT_EQ(holder.object, &ped);
    lines.insert(holder.line);
  }
  EXPECT_EQ(lines, (std::set<uint32_t>{first, second, third}));
  const uint32_t fourth = __LINE__ + 1;
  a.set(&other);
  EXPECT_EQ(holders_of(known, &ped).size(), 2u);
  holders = holders_of(known, &other);
  ASSERT_EQ(holders.size(), 1u);
  EXPECT_EQ(holders[0].line, fourth);
  EXPECT_EQ(holders_of(known, nullptr).size(), 3u);
}

TEST(CountedRef, IsAReferenceLikeTheOthers) {
  KnownRefs known;
  ASSERT_TRUE(known.init(10).ok());
  std::optional<Ref> ref;
  {
    Ped ped;
    ref.emplace(known, &ped);
    EXPECT_TRUE(*ref);
    EXPECT_EQ(ref->get(), &ped);
    EXPECT_EQ(&**ref, &ped);
    EXPECT_EQ(ped.reference_count(), 1u);
  }
  EXPECT_FALSE(*ref);
  EXPECT_EQ(ref->get(), nullptr);
  EXPECT_EQ(known.count(), 1u);  // not cleared since
  EXPECT_TRUE(holders_of(known, nullptr).empty());
  ref->set(nullptr);
  EXPECT_EQ(known.count(), 0u);
  Ped other;
  ref->set(&other);
  EXPECT_EQ(known.count(), 1u);
  ref.reset();
  EXPECT_EQ(known.count(), 0u);
  EXPECT_FALSE(other.is_referenced());
}

// TREF-2: pool "Known Refs"; CORE-11: a full one says so once, and the references work.
TEST(CountedRef, AFullPoolLeavesReferencesOutOfTheListOnly) {
  test::CapturedLog log;
  KnownRefs known;
  ASSERT_TRUE(known.init(2).ok());
  Ped ped;
  auto a = std::make_unique<Ref>(known, &ped);
  const Ref b(known, &ped);
  Ref c(known, &ped), d(known, &ped);
  EXPECT_EQ(log.all(), "Known Refs pool full (capacity 2): raise PoolSize 'Known Refs' in gameconfig\n");
  EXPECT_EQ(known.count(), 2u);
  EXPECT_EQ(ped.reference_count(), 4u);
  EXPECT_EQ(c.get(), &ped);
  a.reset();
  EXPECT_EQ(known.count(), 1u);
  c.set(&ped);  // there is room now
  EXPECT_EQ(known.count(), 2u);
  EXPECT_EQ(holders_of(known, &ped).size(), 2u);
  d.set(nullptr);
  EXPECT_EQ(known.count(), 2u);
}

TEST(CountedRef, RandomOperationsListWhatPointsToSomething) {
  SCOPED_TRACE("seed 41");
  std::mt19937 random(41);
  KnownRefs known;
  ASSERT_TRUE(known.init(30).ok());
  std::vector<std::unique_ptr<Ped>> peds;
  for (int i = 0; i < 4; ++i) peds.push_back(std::make_unique<Ped>());
  std::vector<std::unique_ptr<Ref>> refs;
  std::vector<const Ped*> model(30, nullptr);
  for (int i = 0; i < 30; ++i) refs.push_back(std::make_unique<Ref>(known));
  for (int i = 0; i < 30000; ++i) {
    const size_t r = random() % refs.size(), p = random() % peds.size();
    switch (random() % 6) {
      case 0:
        refs[r]->set(nullptr);
        model[r] = nullptr;
        break;
      case 1: {
        const size_t from = random() % refs.size();
        if (from == r) break;
        refs[r].reset();
        refs[r] = std::make_unique<Ref>(*refs[from]);
        model[r] = model[from];
        break;
      }
      case 2:
        for (const Ped*& at : model) at = at == peds[p].get() ? nullptr : at;
        peds[p] = std::make_unique<Ped>();
        break;
      default:
        refs[r]->set(peds[p].get());
        model[r] = peds[p].get();
    }
    if (i % 23 != 0) continue;
    size_t all = 0;
    for (const auto& ped : peds) {
      const size_t expected = static_cast<size_t>(std::count(model.begin(), model.end(), ped.get()));
      ASSERT_EQ(holders_of(known, ped.get()).size(), expected);
      ASSERT_EQ(ped->reference_count(), expected);
      all += expected;
    }
    ASSERT_EQ(holders_of(known, nullptr).size(), all);
    for (size_t k = 0; k < refs.size(); ++k) ASSERT_EQ(refs[k]->get(), model[k]);
  }
  refs.clear();
  EXPECT_EQ(known.count(), 0u);
}

TEST(CountedRef, NothingAllocatesAfterInit) {
  KnownRefs known;
  ASSERT_TRUE(known.init(4).ok());
  Ped ped;
  const uint64_t before = test::allocation_count();
  for (int i = 0; i < 100; ++i) {
    Ref a(known, &ped);
    const Ref b(a);
    a.set(nullptr);
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
}

}  // namespace
}  // namespace meridian
