// SPDX-License-Identifier: MIT
#include "meridian/map/entity_arrays.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "support/captured.h"
#include "support/checked_memory.h"

namespace meridian {
namespace {

struct Tree : Entity {
  float sway[40] = {};
};
struct alignas(64) Wide : Entity {
  char more[3] = {};
};
constexpr EntityClass kTree{kFirstHostClass}, kWide{kFirstHostClass + 1};

struct Arrays : testing::Test {
  Arrays() {
    classes.add<Tree>(kTree, "Tree");
    classes.add<Wide>(kWide, "Wide");
    for (uint8_t i = kFirstHostClass + 2; i < kMaxEntityClasses; ++i) classes.add<Entity>(EntityClass{i}, "More");
  }
  uint32_t& count(EntityClass type) { return counts[static_cast<unsigned>(type)]; }
  void destroy_all(EntityClass type) {
    const std::span<std::byte> bytes = arrays.array_of(type);
    const uint32_t stride = classes.info(type).size;
    for (size_t at = 0; at < bytes.size(); at += stride) classes.destroy(*reinterpret_cast<Entity*>(bytes.data() + at));
  }
  test::CheckedMemory memory;
  EntityClassRegistry classes;
  uint32_t counts[kMaxEntityClasses] = {};
  EntityArrays arrays;
};

// MAP-1: one contiguous array for each class, whatever the order in which entities are made; the host's classes have
// sizes and alignments of their own.
TEST_F(Arrays, OfOneClassAreContiguous) {
  count(EntityClass::building) = 5;
  count(kTree) = 4;
  count(kWide) = 3;
  ASSERT_TRUE(arrays.init(classes, counts, 52, memory).ok());
  EXPECT_EQ(memory.blocks(), 1u);
  EXPECT_EQ(memory.bytes(), arrays.bytes());
  ASSERT_EQ(arrays.extra().size(), 52u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arrays.extra().data()) % 16, 0u);
  std::memset(arrays.extra().data(), 0xEE, 52);

  const EntityClass order[] = {
      kTree, EntityClass::building, kWide, kTree, EntityClass::building, kWide,
      kTree, EntityClass::building, kTree, kWide, EntityClass::building, EntityClass::building};
  std::vector<std::pair<Entity*, size_t>> extents;
  std::vector<std::vector<Entity*>> made(kMaxEntityClasses);
  for (const EntityClass type : order) {
    Entity* const entity = arrays.make(classes, type);
    ASSERT_NE(entity, nullptr);
    EXPECT_EQ(entity->type(), type);
    made[static_cast<unsigned>(type)].push_back(entity);
    extents.emplace_back(entity, classes.info(type).size);
  }
  EXPECT_EQ(sizeof(Tree), classes.info(kTree).size);
  for (const EntityClass type : {EntityClass::building, kTree, kWide}) {
    const auto& of = made[static_cast<unsigned>(type)];
    EXPECT_EQ(arrays.array_of(type).size(), of.size() * classes.info(type).size);
    for (size_t i = 0; i < of.size(); ++i) {
      EXPECT_EQ(reinterpret_cast<std::byte*>(of[i]), arrays.array_of(type).data() + i * classes.info(type).size);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(of[i]) % classes.info(type).alignment, 0u);
    }
    EXPECT_EQ(arrays.make(classes, type), nullptr) << "the array is full";
  }
  // None lies on another, nor on the bytes in front.
  for (size_t i = 0; i < extents.size(); ++i) {
    const auto* const a = reinterpret_cast<std::byte*>(extents[i].first);
    EXPECT_GE(a, arrays.extra().data() + 52);
    for (size_t k = 0; k < i; ++k) {
      const auto* const b = reinterpret_cast<std::byte*>(extents[k].first);
      EXPECT_TRUE(a + extents[i].second <= b || b + extents[k].second <= a);
    }
  }
  for (const std::byte b : arrays.extra()) EXPECT_EQ(b, std::byte{0xEE});
  for (const EntityClass type : {EntityClass::building, kTree, kWide}) destroy_all(type);
  arrays.free();
  EXPECT_EQ(memory.bytes(), 0u);
}

// All classes that there can be: their rows no longer fit into the object itself.
TEST_F(Arrays, HoldAllClassesAtOnce) {
  std::vector<EntityClass> types;
  for (unsigned i = 0; i < kMaxEntityClasses; ++i) {
    if (!classes.has(static_cast<EntityClass>(i))) continue;
    types.push_back(static_cast<EntityClass>(i));
    counts[i] = 2;
  }
  ASSERT_EQ(types.size(), 7u + 16u);
  ASSERT_TRUE(arrays.init(classes, counts, 3, memory).ok());
  EXPECT_EQ(memory.blocks(), 1u);
  for (int round = 0; round < 2; ++round) {
    for (const EntityClass type : types) {
      Entity* const entity = arrays.make(classes, type);
      ASSERT_NE(entity, nullptr);
      EXPECT_EQ(entity->type(), type);
    }
  }
  for (const EntityClass type : types) {
    EXPECT_EQ(arrays.array_of(type).size(), 2u * classes.info(type).size);
    destroy_all(type);
  }
}

TEST_F(Arrays, TakeBackTheLastOne) {
  count(EntityClass::dummy_object) = 2;
  ASSERT_TRUE(arrays.init(classes, counts, 0, memory).ok());
  Entity* const first = arrays.make(classes, EntityClass::dummy_object);
  Entity* const second = arrays.make(classes, EntityClass::dummy_object);
  classes.destroy(*second);
  arrays.unmake(EntityClass::dummy_object);
  EXPECT_EQ(arrays.array_of(EntityClass::dummy_object).size(), sizeof(Entity));
  EXPECT_EQ(arrays.make(classes, EntityClass::dummy_object), second);
  classes.destroy(*first);
  classes.destroy(*second);
}

TEST_F(Arrays, WithoutEntitiesTakeNoMemory) {
  ASSERT_TRUE(arrays.init(classes, counts, 0, memory).ok());
  EXPECT_EQ(memory.calls(), 0u);
  EXPECT_TRUE(arrays.extra().empty());
  EXPECT_TRUE(arrays.array_of(EntityClass::building).empty());
  EXPECT_EQ(arrays.make(classes, EntityClass::building), nullptr);
}

TEST_F(Arrays, ReportWhatTheyCannotDo) {
  counts[10] = 1;  // between the runtime's and the host's
  const Status unknown = arrays.init(classes, counts, 0, memory);
  EXPECT_EQ(unknown.code, StatusCode::bad_value);
  EXPECT_EQ(unknown.detail, 10u);
  counts[10] = 0;
  count(kTree) = 7;
  memory.fail_after(0);
  const Status denied = arrays.init(classes, counts, 0, memory);
  EXPECT_EQ(denied.code, StatusCode::out_of_memory);
  EXPECT_EQ(denied.detail, 7 * sizeof(Tree));
  memory.fail_after(-1);
  EXPECT_TRUE(arrays.init(classes, counts, 0, memory).ok()) << "it may be tried again";
}

TEST_F(Arrays, KeepAContract) {
  test::BrokenContracts contracts;
  arrays.unmake(EntityClass::building);
  EXPECT_TRUE(test::broke(contracts));
  count(EntityClass::building) = 1;
  ASSERT_TRUE(arrays.init(classes, counts, 0, memory).ok());
  arrays.unmake(EntityClass::building);  // none was made
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_NE(arrays.make(classes, EntityClass::building), nullptr);
  destroy_all(EntityClass::building);
}

}  // namespace
}  // namespace meridian
