// SPDX-License-Identifier: MIT
#include "meridian/entity/interior_location.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/captured.h"

// INT-1

namespace meridian {
namespace {

TEST(InteriorLocation, OutsideIsTheStart) {
  const InteriorLocation nowhere;
  EXPECT_TRUE(nowhere.is_outside());
  EXPECT_FALSE(nowhere.is_at_portal());
  EXPECT_EQ(nowhere.interior(), -1);
  EXPECT_EQ(nowhere.bits(), 0xFFFFu);
}

// Bits by hand: interior in 16, two switches, 14 for room or portal.
TEST(InteriorLocation, PacksInto32Bits) {
  const InteriorLocation room = InteriorLocation::in_room(0x123, 5);
  EXPECT_EQ(room.bits(), 0x123u | 5u << 18);
  EXPECT_EQ(room.interior(), 0x123);
  EXPECT_EQ(room.room(), 5u);
  EXPECT_FALSE(room.is_outside());
  EXPECT_FALSE(room.is_portal_to_exterior());
  const InteriorLocation door = InteriorLocation::at_portal(1199, 255, true);
  EXPECT_EQ(door.bits(), 1199u | 1u << 16 | 1u << 17 | 255u << 18);
  EXPECT_TRUE(door.is_at_portal());
  EXPECT_TRUE(door.is_portal_to_exterior());
  EXPECT_EQ(door.portal(), 255u);
  EXPECT_FALSE(InteriorLocation::at_portal(0, 0, false).is_portal_to_exterior());
  EXPECT_EQ(InteriorLocation::in_room(0, kLimboRoom).room(), 0u);
  EXPECT_NE(InteriorLocation::in_room(0, 0), InteriorLocation());
}

TEST(InteriorLocation, LimitsAreChecked) {
  test::BrokenContracts contracts;
  EXPECT_EQ(InteriorLocation::in_room(1199, 31).interior(), 1199);
  EXPECT_EQ(contracts.count(), 0u);
  EXPECT_TRUE(InteriorLocation::in_room(1200, 0).is_outside());
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_TRUE(InteriorLocation::in_room(0, 32).is_outside());
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_TRUE(InteriorLocation::at_portal(1200, 0, false).is_outside());
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_TRUE(InteriorLocation::at_portal(0, 256, false).is_outside());
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(InteriorLocation::at_portal(3, 7, false).room(), kLimboRoom);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(InteriorLocation::in_room(3, 7).portal(), 0u);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(InteriorLocation().room(), kLimboRoom);
  EXPECT_TRUE(test::broke(contracts));
}

// Every interior and index that fits comes back; all else is outside. By the limits themselves, over a lattice of bits.
TEST(InteriorLocation, StoredBitsAreTakenOnlyWithinTheLimits) {
  for (uint32_t interior = 0; interior < 0x10000; interior += 7) {
    for (uint32_t switches = 0; switches < 4; ++switches) {
      for (const uint32_t index : {0u, 1u, 31u, 32u, 255u, 256u, 0x3FFFu}) {
        const uint32_t bits = interior | switches << 16 | index << 18;
        const bool at_portal = (switches & 1) != 0;
        const bool fits = interior < 1200 && index < (at_portal ? 256u : 32u) && switches != 2;
        const InteriorLocation location = InteriorLocation::from_bits(bits);
        ASSERT_EQ(location.bits(), fits ? bits : 0xFFFFu) << bits;
        ASSERT_EQ(location.is_outside(), !fits) << bits;
      }
    }
  }
}

}  // namespace
}  // namespace meridian
