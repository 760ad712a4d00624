// SPDX-License-Identifier: MIT
#include "meridian/entity/lod.h"

#include <gtest/gtest.h>

#include <iterator>

#include "support/captured.h"

// ENTY-1: LOD data in 16 bytes.

namespace meridian {
namespace {

TEST(LodData, LevelAndFlagsDoNotMeet) {
  constexpr LodFlag kAll[] = {LodFlag::parent_in_parent_map, LodFlag::bound, LodFlag::adopt_me, LodFlag::interior_lod};
  for (uint8_t level = 0; level < 7; ++level) {
    for (unsigned combination = 0; combination < 1u << std::size(kAll); ++combination) {
      LodData lod;
      for (unsigned i = 0; i < std::size(kAll); ++i) lod.set(kAll[i], (combination >> i & 1) != 0);
      lod.set_level(level);
      ASSERT_EQ(lod.level(), level);
      for (unsigned i = 0; i < std::size(kAll); ++i) ASSERT_EQ(lod.has(kAll[i]), (combination >> i & 1) != 0);
      lod.set(kAll[combination % std::size(kAll)], false);
      ASSERT_EQ(lod.level(), level);
    }
  }
}

TEST(LodData, StartsAloneAndOpaque) {
  const LodData lod;
  EXPECT_FALSE(lod.has_parent());
  EXPECT_EQ(lod.alpha, 255);
  EXPECT_EQ(lod.bound_children, 0);
  EXPECT_EQ(lod.level(), 0);
}

// P092: three children that share a parent keep their link, whichever comes off.
TEST(LodData, SharedParentsAreCounted) {
  LodData parent, children[3];
  for (LodData& child : children) EXPECT_TRUE(bind_lod(child, parent));
  EXPECT_EQ(parent.bound_children, 3);
  EXPECT_FALSE(bind_lod(children[1], parent)) << "bound once";
  EXPECT_EQ(parent.bound_children, 3);
  unbind_lod(children[0], parent);
  EXPECT_EQ(parent.bound_children, 2);
  EXPECT_FALSE(children[0].has(LodFlag::bound));
  EXPECT_TRUE(children[1].has(LodFlag::bound) && children[2].has(LodFlag::bound));
  unbind_lod(children[2], parent);
  unbind_lod(children[1], parent);
  EXPECT_EQ(parent.bound_children, 0);
}

TEST(LodData, CountsUpToItsLimit) {
  LodData parent, late;
  for (uint32_t i = 0; i < 65535; ++i) {
    LodData child;
    ASSERT_TRUE(bind_lod(child, parent));
  }
  EXPECT_FALSE(bind_lod(late, parent));
  EXPECT_FALSE(late.has(LodFlag::bound));
  EXPECT_EQ(parent.bound_children, 65535);
}

TEST(LodData, FaultsAreAsserted) {
  test::BrokenContracts contracts;
  LodData lod, parent;
  lod.set_level(7 + 8);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_FALSE(lod.has(LodFlag::parent_in_parent_map)) << "a level never spills into the flags";
  unbind_lod(lod, parent);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(parent.bound_children, 0);
}

}  // namespace
}  // namespace meridian
