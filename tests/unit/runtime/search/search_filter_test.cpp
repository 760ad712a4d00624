// SPDX-License-Identifier: MIT
// SRCH-1, SRCH-3: which entities count, and visitors.
#include <gtest/gtest.h>

#include "support/search_worlds.h"

namespace meridian {
namespace {

using test::ContainerKit;
using test::Dice;
using test::PlacedEntity;

constexpr Volume kEverywhere = [] {
  Volume out;
  out.kind = VolumeKind::box;
  out.a = {-1e6f, -1e6f, -1e6f};
  out.b = {1e6f, 1e6f, 1e6f};
  return out;
}();

/// What the test knows of an entity.
struct Known {
  PlacedEntity entity;
  EntityHandle handle;
  uint32_t flags;  ///< of its container
};

bool is_wanted(const Known& known, const EntityQuery& query) {
  const PlacedEntity& e = known.entity;
  const auto has = [&](uint32_t flag) { return (known.flags & flag) != 0; };
  if (!e.is_used || !has(kContainerUsed) || !has(kContainerInWorld)) return false;
  if ((query.types & type_bit(e.type)) == 0) return false;
  if ((query.levels & 1 << e.level) == 0) return false;
  const bool is_inside = has(kContainerInterior) || has(kContainerStraddling), is_outside = !has(kContainerInterior);
  if (!(is_inside && (query.location & kInInterior) != 0) && !(is_outside && (query.location & kInExterior) != 0))
    return false;
  if (query.movement == Movement::only_static && has(kContainerDynamic)) return false;
  if (query.movement == Movement::only_dynamic && !has(kContainerDynamic)) return false;
  if (query.only_spawn_points && (e.flags & kDescSpawnPoints) == 0) return false;
  if (query.only_visible && ((e.flags & kDescHidden) != 0 || (e.flags & kDescActive) == 0)) return false;
  return true;
}

/// Every kind of container, three of each.
class SearchFilter : public testing::Test {
 protected:
  void SetUp() override {
    const uint32_t seed = std::random_device()();
    trace_ = "seed " + std::to_string(seed);
    dice_ = Dice(seed);
    constexpr uint32_t kWorld = ContainerKit::kInWorld;
    const uint32_t kinds[] = {kWorld,
                              kWorld | kContainerDynamic,
                              kWorld | kContainerInterior,
                              kWorld | kContainerStraddling | kContainerDynamic,
                              kWorld | kContainerLights,
                              kContainerUsed,
                              kContainerInWorld};
    uint32_t group = 1;
    for (const uint32_t kind : kinds) {
      for (int i = 0; i < 3; ++i) {
        std::vector<PlacedEntity> entities = test::random_entities(dice_, 1 + dice_.below(320), {}, 100);
        uint32_t flags = kind;
        if (i == 0)
          for (PlacedEntity& e : entities) e.flags = static_cast<uint16_t>(e.flags & ~kDescSpawnPoints);
        for (const PlacedEntity& e : entities)
          if ((e.flags & kDescSpawnPoints) != 0 && e.is_used) flags |= kContainerSpawnPoints;
        std::vector<EntityHandle> handles;
        for (uint32_t k = 0; k < entities.size(); ++k) handles.push_back({group, k});
        for (size_t k = 0; k < entities.size(); ++k) known_.push_back({entities[k], handles[k], flags});
        if (dice_.chance(0.5)) {
          kit_.add_map(entities, handles[0], flags);
        } else {
          kit_.add_container(entities, handles, flags);
        }
        ++group;
      }
    }
    kit_.finish();
  }

  std::vector<EntityHandle> expected(const EntityQuery& query) const {
    std::vector<EntityHandle> out;
    for (const Known& known : known_)
      if (is_wanted(known, query) && test::boxes_touch({query.volume.a, query.volume.b}, test::box_of(known.entity)))
        out.push_back(known.handle);
    std::sort(out.begin(), out.end(), test::by_slot);
    return out;
  }

  ContainerKit kit_;
  std::vector<Known> known_;
  Dice dice_{0};
  std::string trace_;
};

TEST_F(SearchFilter, SRCH1_EachFilterAlone) {
  SCOPED_TRACE(trace_);
  const EntityQuery all{.volume = kEverywhere};
  std::vector<EntityQuery> queries(1, all);
  for (uint32_t type = 0; type < 20; ++type) {
    queries.push_back(all);
    queries.back().types = type_bit(static_cast<EntityClass>(type));
  }
  for (unsigned level = 0; level < 7; ++level) {
    queries.push_back(all);
    queries.back().levels = static_cast<uint8_t>(1u << level);
  }
  for (const uint8_t levels : {kHdLevels, kLodOnlyLevels}) {
    queries.push_back(all);
    queries.back().levels = levels;
  }
  for (const uint8_t location : {kInExterior, kInInterior}) {
    queries.push_back(all);
    queries.back().location = location;
  }
  for (const Movement movement : {Movement::only_static, Movement::only_dynamic}) {
    queries.push_back(all);
    queries.back().movement = movement;
  }
  queries.push_back(all);
  queries.back().only_spawn_points = true;
  queries.push_back(all);
  queries.back().only_visible = true;
  const size_t everything = expected(all).size();
  for (size_t i = 0; i < queries.size(); ++i) {
    const std::vector<EntityHandle> found = test::search_all(kit_, queries[i]);
    EXPECT_EQ(found, expected(queries[i])) << "query " << i;
    if (i == 0) continue;
    EXPECT_FALSE(found.empty()) << "query " << i;
    EXPECT_LT(found.size(), everything) << "query " << i;
  }
}

TEST_F(SearchFilter, SRCH1_NothingOrNowhereFindsNothing) {
  EntityQuery query{.volume = kEverywhere};
  query.types = 0;
  EXPECT_TRUE(test::search_all(kit_, query).empty());
  query.types = kAllTypes;
  query.levels = 0;
  EXPECT_TRUE(test::search_all(kit_, query).empty());
  query.levels = kAllLevels;
  query.location = 0;
  EXPECT_TRUE(test::search_all(kit_, query).empty());
}

TEST_F(SearchFilter, SRCH1_FiltersTogether) {
  SCOPED_TRACE(trace_);
  size_t found_by_any = 0;
  for (int i = 0; i < 500; ++i) {
    const Vec3 a = dice_.vector(120), b = dice_.vector(120);
    EntityQuery query{.volume = box_volume({min(a, b), max(a, b)})};
    for (uint32_t type = 0; type < 32; ++type)
      if (dice_.chance(0.2)) query.types &= ~(1u << type);
    for (unsigned level = 0; level < 7; ++level)
      if (dice_.chance(0.2)) query.levels = static_cast<uint8_t>(query.levels & ~(1u << level));
    query.location = static_cast<uint8_t>(dice_.below(4));
    query.movement = static_cast<Movement>(dice_.below(3));
    query.only_spawn_points = dice_.chance(0.3);
    query.only_visible = dice_.chance(0.3);
    const std::vector<EntityHandle> found = test::search_all(kit_, query);
    ASSERT_EQ(found, expected(query));
    found_by_any += found.size();
  }
  EXPECT_GT(found_by_any, 1000u);
}

// SRCH-3: a visitor sees all, in the order of a search into an array, until it says stop.
TEST_F(SearchFilter, SRCH3_VisitorStopsWhenToldTo) {
  const EntityQuery query{.volume = kEverywhere};
  std::vector<EntityHandle> expected(known_.size());
  SearchResult searched;
  ASSERT_TRUE(search_now(kit_, query, expected, searched).ok());
  expected.resize(searched.found);
  struct Seen {
    std::vector<EntityHandle> handles;
    size_t enough;
  };
  const EntityVisitor visitor = [](void* user, EntityHandle handle) {
    Seen& seen = *static_cast<Seen*>(user);
    seen.handles.push_back(handle);
    return seen.handles.size() < seen.enough;
  };
  for (const size_t enough :
       {size_t{1}, size_t{2}, size_t{319}, expected.size() / 2, expected.size(), size_t{1} << 30}) {
    Seen seen{{}, enough};
    SearchResult result;
    ASSERT_TRUE(search_visit(kit_, query, visitor, &seen, result).ok());
    const size_t count = std::min(enough, expected.size());
    EXPECT_EQ(result.found, count);
    EXPECT_EQ(result.stored, count);
    EXPECT_TRUE(std::equal(seen.handles.begin(), seen.handles.end(), expected.begin(),
                           expected.begin() + static_cast<std::ptrdiff_t>(count)));
  }
}

// SG-1: a world asks one scene after the other, into one array.
TEST_F(SearchFilter, SG1_SearchesOfTablesAddToTheResult) {
  const EntityQuery query{.volume = kEverywhere};
  const size_t count = expected(query).size();
  std::vector<EntityHandle> out(count + 10);
  SearchResult result;
  ASSERT_TRUE(search_scene(kit_.containers(), kit_.hierarchy(), query, out, result).ok());
  ASSERT_TRUE(search_scene(kit_.containers(), kit_.hierarchy(), query, out, result).ok());
  EXPECT_EQ(result.found, 2 * count);
  EXPECT_EQ(result.stored, count + 10);
  EXPECT_TRUE(std::equal(out.begin() + static_cast<std::ptrdiff_t>(count), out.end(), out.begin()));
  EntityQuery bad = query;
  bad.volume.a.x = HUGE_VALF;
  EXPECT_EQ(search_scene(kit_.containers(), kit_.hierarchy(), bad, out, result).code, StatusCode::bad_value);
  EXPECT_EQ(result.found, 2 * count);
}

// SRCH-1: counted for the module that asked, and for no other.
TEST_F(SearchFilter, SRCH1_StatisticsAreKeptByModule) {
  for (uint32_t m = 0; m < kSearchModules; ++m) {
    const auto module = static_cast<SearchModule>(m);
    SearchCounts before[kSearchModules];
    for (uint32_t i = 0; i < kSearchModules; ++i) before[i] = search_counts(static_cast<SearchModule>(i));
    EntityQuery query{.volume = kEverywhere};
    query.module = module;
    const size_t found = test::search_all(kit_, query).size();  // two searches
    query.volume.a.x = HUGE_VALF;
    SearchResult result;
    EXPECT_FALSE(search_now(kit_, query, {}, result).ok());  // not counted
    for (uint32_t i = 0; i < kSearchModules; ++i) {
      const SearchCounts after = search_counts(static_cast<SearchModule>(i));
      EXPECT_EQ(after.searches - before[i].searches, i == m ? 2u : 0u);
      EXPECT_EQ(after.found - before[i].found, i == m ? 2 * found : 0u);
    }
  }
}

}  // namespace
}  // namespace meridian
