// SPDX-License-Identifier: MIT
#include "meridian/entity/entity_table.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "support/captured.h"
#include "support/checked_memory.h"

// POOL-3 for entities: handles go stale, and are never given twice.

namespace meridian {
namespace {

using Key = std::pair<uint32_t, uint32_t>;
Key key_of(EntityHandle handle) { return {handle.generation, handle.slot}; }

TEST(EntityTable, GroupIsOneSlot) {
  EntityTable table;
  ASSERT_TRUE(table.init({.groups = 4, .singles = 0, .entity_bits = 3}).ok());
  Entity a, b;
  std::vector<Entity*> town = {&a, nullptr, &b};
  const EntityHandle first = table.add_group(town, hash_name("town"));
  EXPECT_EQ(first.generation & 1, 1u) << "odd while it lives";
  EXPECT_EQ(first.slot, 0u);
  EXPECT_EQ(a.handle(), first);
  EXPECT_EQ(b.handle(), entity_of_group(first, 2));
  EXPECT_EQ(table.get(a.handle()), &a);
  EXPECT_EQ(table.get(entity_of_group(first, 1)), nullptr) << "was not created";
  EXPECT_EQ(table.get(b.handle()), &b);
  EXPECT_EQ(table.get(entity_of_group(first, 3)), nullptr) << "beyond the group";
  EXPECT_EQ(table.get({}), nullptr);
  std::vector<Entity*> second_town(8);
  const EntityHandle second = table.add_group(second_town, hash_name("second_town"));
  EXPECT_EQ(second.slot, 8u) << "group 1, by the bits of an index";
  EXPECT_EQ(table.group_of(entity_of_group(second, 7)), 1u);
  EXPECT_EQ(table.index_of(entity_of_group(second, 7)), 7u);
  EXPECT_EQ(table.first_of(1), second);
  EXPECT_FALSE(table.first_of(2));
  EXPECT_FALSE(table.first_of(kNoEntityGroup));
  EXPECT_EQ(table.group_of({}), kNoEntityGroup);
  EXPECT_EQ(table.groups(), 2u);
  const EntityHandle old_b = b.handle();
  table.remove_group(first);
  EXPECT_FALSE(a.handle());
  EXPECT_EQ(table.get(old_b), nullptr);
  EXPECT_FALSE(table.first_of(0));
  table.remove_group(second);
}

TEST(EntityTable, EntitiesComeAndGoAlone) {
  EntityTable table;
  ASSERT_TRUE(table.init({}).ok());
  std::vector<Entity*> town(300);
  const EntityHandle first = table.add_group(town, hash_name("town"));
  auto lamp = std::make_unique<Entity>();
  table.put(first, 299, lamp.get());
  const EntityHandle handle = lamp->handle();
  EXPECT_EQ(table.get(handle), lamp.get());
  table.put(first, 299, nullptr);
  EXPECT_EQ(table.get(handle), nullptr);
  EXPECT_FALSE(lamp->handle());
  lamp = std::make_unique<Entity>();
  table.put(first, 299, lamp.get());
  EXPECT_EQ(table.get(handle), lamp.get()) << "made anew in its place";
  test::BrokenContracts contracts;
  Entity other;
  table.put(first, 299, &other);
  EXPECT_TRUE(test::broke(contracts)) << "the place is taken";
  table.put(first, 300, &other);
  EXPECT_TRUE(test::broke(contracts));
  table.put(first, 5, lamp.get());
  EXPECT_TRUE(test::broke(contracts)) << "it has a handle";
  EXPECT_EQ(table.get(handle), lamp.get());
  EXPECT_FALSE(other.handle());
  table.remove_group(first);
  table.remove_group(first);
  EXPECT_TRUE(test::broke(contracts)) << "it is gone";
  table.put(first, 0, &other);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(table.groups(), 0u);
}

// Many at once, as a map that is loaded in pieces makes them.
TEST(EntityTable, EntitiesComeInRows) {
  EntityTable table;
  ASSERT_TRUE(table.init({.groups = 2, .singles = 2, .entity_bits = 5}).ok());
  std::vector<Entity> made(10);
  std::vector<Entity*> town(10);
  const EntityHandle first = table.add_group(town, hash_name("town"));
  for (uint32_t i = 0; i < 10; ++i) town[i] = i == 4 ? nullptr : &made[i];
  table.put_stored(first, 2, 6);
  for (uint32_t i = 0; i < 10; ++i) {
    const bool is_told = i >= 2 && i < 6 && i != 4;
    EXPECT_EQ(made[i].handle(), is_told ? entity_of_group(first, i) : EntityHandle{}) << i;
  }
  table.put_stored(first, 0, 2);
  table.put_stored(first, 6, 10);
  table.put_stored(first, 10, 10);
  for (uint32_t i = 0; i < 10; ++i) EXPECT_EQ(table.get(entity_of_group(first, i)), town[i]) << i;
  {
    test::BrokenContracts contracts;
    table.put_stored(first, 5, 11);
    table.put_stored({first.generation + 2, first.slot}, 0, 1);
    EXPECT_EQ(contracts.count(), test::kAsserts ? 2u : 0u);
  }
  table.remove_group(first);
}

TEST(EntityTable, SinglesHaveTheTopBit) {
  EntityTable table;
  ASSERT_TRUE(table.init({.groups = 1, .singles = 2}).ok());
  Entity car, ped;
  const EntityHandle first = table.register_single(car);
  EXPECT_EQ(first.slot >> 31, 1u);
  EXPECT_EQ(car.handle(), first);
  EXPECT_EQ(table.get(first), &car);
  EXPECT_EQ(table.group_of(first), kNoEntityGroup);
  table.unregister(car);
  EXPECT_FALSE(car.handle());
  EXPECT_EQ(table.get(first), nullptr);
  const EntityHandle second = table.register_single(ped), third = table.register_single(car);
  EXPECT_NE(second.slot, first.slot) << "the slot that was released last is used last";
  EXPECT_EQ(third.slot, first.slot);
  EXPECT_NE(third.generation, first.generation);
  EXPECT_EQ(table.get(first), nullptr);
  EXPECT_EQ(table.get(third), &car);
  EXPECT_EQ(table.get({third.generation, 2u | 1u << 31}), nullptr) << "beyond the singles";
  test::BrokenContracts contracts;
  EXPECT_EQ(table.register_single(car), third);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(table.singles(), 2u);
  table.unregister(car);
  table.unregister(car);
  EXPECT_TRUE(test::broke(contracts));
  table.unregister(ped);
}

// CORE-11: no room is told once for each name.
TEST(EntityTable, FullTablesSaySoOnce) {
  test::CapturedLog log;
  EntityTable table;
  ASSERT_TRUE(table.init({.groups = 1, .singles = 1, .entity_bits = 2}).ok());
  std::vector<Entity*> four(4), five(5);
  EXPECT_FALSE(table.add_group(five, hash_name("huge")));
  EXPECT_EQ(log.count(), 1u);
  const EntityHandle first = table.add_group(four, hash_name("town"));
  EXPECT_TRUE(first);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(table.add_group(four, hash_name("harbour")));
  ASSERT_EQ(log.count(), 2u) << log.all();
  EXPECT_EQ(log.said()[1].name, hash_name("harbour"));
  Entity a, b;
  EXPECT_TRUE(table.register_single(a));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(table.register_single(b));
  EXPECT_EQ(log.count(), 3u) << log.all();
  EXPECT_EQ(table.denied(), 7u);
  table.remove_group(first);
  EXPECT_TRUE(table.add_group(four, hash_name("harbour"))) << "there is room again";
  table.unregister(a);
}

TEST(EntityTable, ConfigurationsAreChecked) {
  const auto code = [](const EntityTableConfig& config) {
    test::CheckedMemory memory;
    EntityTable table;
    return table.init(config, memory).code;
  };
  EXPECT_EQ(code({.groups = 1u << 13, .singles = 1, .entity_bits = 18}), StatusCode::ok);
  EXPECT_EQ(code({.groups = (1u << 13) + 1, .entity_bits = 18}), StatusCode::bad_value);
  EXPECT_EQ(code({.groups = 2, .entity_bits = 30}), StatusCode::ok);
  EXPECT_EQ(code({.groups = 3, .entity_bits = 30}), StatusCode::bad_value);
  EXPECT_EQ(code({.groups = 0, .entity_bits = 31}), StatusCode::bad_value);
  EXPECT_EQ(code({.groups = 0, .entity_bits = 0}), StatusCode::bad_value);
  EXPECT_EQ(code({.singles = 1u << 31}), StatusCode::bad_value);
  EXPECT_EQ(code({.max_uses = 0}), StatusCode::bad_value);
  test::CheckedMemory none;
  none.fail_after(0);
  EntityTable table;
  EXPECT_EQ(table.init({}, none).code, StatusCode::out_of_memory);
  EXPECT_EQ(table.get({1, 0}), nullptr) << "a table without memory knows nobody";
  EXPECT_EQ(table.get({1, 1u << 31}), nullptr);
  test::BrokenContracts contracts;
  none.fail_after(-1);
  EXPECT_TRUE(table.init({}, none).ok());
  EXPECT_EQ(table.init({}, none).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts));
}

/// A table and what it should know, after random operations.
class TableModel {
 public:
  TableModel(uint32_t seed, const EntityTableConfig& config) : random_(seed), config_(config) {
    EXPECT_TRUE(table_.init(config, memory_).ok());
    calls_ = memory_.calls();
  }
  ~TableModel() {
    while (!groups_.empty()) remove_group(groups_.begin());
    while (!singles_.empty()) unregister(0);
  }
  TableModel(const TableModel&) = delete;
  TableModel& operator=(const TableModel&) = delete;

  void step() {
    switch (random_() % 8) {
      case 0:
        return add_group();
      case 1:
        if (!groups_.empty() && random_() % 2 == 0) remove_group(any_group());
        return;
      case 2:
      case 3:
        return put();
      case 4:
        return register_single();
      case 5:
        if (!singles_.empty()) unregister(random_() % singles_.size());
        return;
      default:
        return look_up();
    }
  }
  void check_counts() const {
    ASSERT_EQ(table_.groups(), groups_.size());
    ASSERT_EQ(table_.singles(), singles_.size());
    ASSERT_EQ(table_.retired(), retired_groups_ + retired_singles_);
    ASSERT_EQ(memory_.calls(), calls_) << "nothing is allocated but in init";
  }
  /// Every handle that was ever given, and its neighbours.
  void check_all() const {
    for (const EntityHandle handle : issued_) {
      for (const uint32_t slot : {handle.slot, handle.slot + 1, handle.slot ^ 1u << 31}) {
        const EntityHandle asked{handle.generation, slot};
        const auto at = live_.find(key_of(asked));
        ASSERT_EQ(table_.get(asked), at == live_.end() ? nullptr : at->second);
      }
    }
  }
  uint32_t denials() const { return denials_; }
  uint32_t retired() const { return retired_groups_ + retired_singles_; }

 private:
  struct Group {
    EntityHandle first;
    std::vector<Entity*> entities;
  };
  using GroupAt = std::vector<std::unique_ptr<Group>>::iterator;

  GroupAt any_group() { return groups_.begin() + static_cast<std::ptrdiff_t>(random_() % groups_.size()); }
  Entity* make() {
    entities_.push_back(std::make_unique<Entity>());
    return entities_.back().get();
  }
  void know(EntityHandle handle, Entity* entity) {
    live_[key_of(handle)] = entity;
    ASSERT_EQ(entity->handle(), handle);
  }
  void forget(EntityHandle handle, const Entity* entity) {
    live_.erase(key_of(handle));
    ASSERT_FALSE(entity->handle());
  }
  /// A first handle of a group, or a single's, is new each time.
  void issue(EntityHandle handle) {
    ASSERT_TRUE(handle);
    ASSERT_TRUE(ever_.emplace(key_of(handle), true).second) << "given twice";
    if (issued_.size() < 4000) issued_.push_back(handle);
    ++uses_[handle.slot];
  }
  void add_group() {
    auto group = std::make_unique<Group>();
    const uint32_t most = 1u << config_.entity_bits;
    const uint32_t count = random_() % 20 == 0 ? most + random_() % 2 : random_() % 6;
    group->entities.resize(count);
    for (Entity*& entity : group->entities) entity = random_() % 3 != 0 ? make() : nullptr;
    const bool fits = count <= most && groups_.size() + retired_groups_ < config_.groups;
    group->first = table_.add_group(group->entities, {count});
    ASSERT_EQ(static_cast<bool>(group->first), fits);
    if (!fits) {
      ++denials_;
      return;
    }
    issue(group->first);
    for (uint32_t i = 0; i < count; ++i) {
      if (group->entities[i] != nullptr) know(entity_of_group(group->first, i), group->entities[i]);
    }
    groups_.push_back(std::move(group));
  }
  void remove_group(GroupAt at) {
    const Group& group = **at;
    table_.remove_group(group.first);
    for (uint32_t i = 0; i < group.entities.size(); ++i) {
      if (group.entities[i] != nullptr) forget(entity_of_group(group.first, i), group.entities[i]);
    }
    if (uses_[group.first.slot] == config_.max_uses) ++retired_groups_;
    groups_.erase(at);
  }
  void put() {
    if (groups_.empty()) return;
    Group& group = **any_group();
    if (group.entities.empty()) return;
    const auto i = static_cast<uint32_t>(random_() % group.entities.size());
    const EntityHandle handle = entity_of_group(group.first, i);
    if (Entity* const before = group.entities[i]) {
      table_.put(group.first, i, nullptr);
      forget(handle, before);
    } else {
      Entity* const entity = make();
      table_.put(group.first, i, entity);
      know(handle, entity);
    }
  }
  void register_single() {
    Entity* const entity = make();
    const EntityHandle handle = table_.register_single(*entity);
    ASSERT_EQ(static_cast<bool>(handle), singles_.size() + retired_singles_ < config_.singles);
    if (!handle) {
      ++denials_;
      return;
    }
    issue(handle);
    know(handle, entity);
    singles_.push_back(entity);
  }
  void unregister(size_t i) {
    Entity* const entity = singles_[i];
    const EntityHandle handle = entity->handle();
    table_.unregister(*entity);
    forget(handle, entity);
    if (uses_[handle.slot] == config_.max_uses) ++retired_singles_;
    singles_.erase(singles_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  void look_up() {
    if (issued_.empty()) return;
    EntityHandle handle = issued_[random_() % issued_.size()];
    handle.slot += static_cast<uint32_t>(random_() % 7);
    if (random_() % 10 == 0) handle.generation += static_cast<uint32_t>(random_() % 3);
    if (random_() % 50 == 0) handle = {static_cast<uint32_t>(random_()), static_cast<uint32_t>(random_())};
    const auto at = live_.find(key_of(handle));
    ASSERT_EQ(table_.get(handle), at == live_.end() ? nullptr : at->second);
  }

  std::mt19937 random_;
  EntityTableConfig config_;
  test::CheckedMemory memory_;
  EntityTable table_;
  uint64_t calls_ = 0;
  std::vector<std::unique_ptr<Entity>> entities_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<Entity*> singles_;
  std::map<Key, Entity*> live_;
  std::map<Key, bool> ever_;
  std::map<uint32_t, uint32_t> uses_;
  std::vector<EntityHandle> issued_;
  uint32_t retired_groups_ = 0, retired_singles_ = 0, denials_ = 0;
};

void run(uint32_t seed, const EntityTableConfig& config, int steps, bool retires) {
  SCOPED_TRACE(seed);
  const test::CapturedLog log;
  TableModel model(seed, config);
  for (int step = 0; step < steps; ++step) {
    model.step();
    if (::testing::Test::HasFatalFailure()) return;
    model.check_counts();
    if (step % 5000 == 0) model.check_all();
    if (::testing::Test::HasFatalFailure()) return;
  }
  model.check_all();
  EXPECT_GT(model.denials(), 0u) << "the model never met a full table";
  EXPECT_EQ(model.retired() > 0, retires);
}

TEST(EntityTableRandom, DoesAsTheModel) { run(1, {.groups = 12, .singles = 30, .entity_bits = 4}, 100000, false); }

TEST(EntityTableRandom, DoesAsTheModelWhileSlotsRetire) {
  run(2, {.groups = 40, .singles = 60, .entity_bits = 5, .max_uses = 100}, 50000, true);
  run(3, {.groups = 8, .singles = 8, .entity_bits = 1, .max_uses = 1}, 5000, true);
}

}  // namespace
}  // namespace meridian
