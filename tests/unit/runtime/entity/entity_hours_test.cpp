// SPDX-License-Identifier: MIT
#include "meridian/entity/entity_hours.h"

#include <gtest/gtest.h>

#include "meridian/schemas/ityp_generated.h"
#include "support/captured.h"

// ENTY-10

namespace meridian {
namespace {

// Bit h of schema::TimeFlags is hour h, by name.
TEST(EntityHours, MaskHasOneBitAnHour) {
  const auto six = static_cast<uint32_t>(schema::TimeFlags::hour_06);
  const auto last = static_cast<uint32_t>(schema::TimeFlags::hour_23);
  for (uint32_t hour = 0; hour < 24; ++hour) {
    EXPECT_EQ(is_active_at(six | last, hour), hour == 6 || hour == 23) << hour;
    EXPECT_TRUE(is_active_at(kAllHours, hour));
    EXPECT_FALSE(is_active_at(static_cast<uint32_t>(schema::TimeFlags::allow_swap_while_visible), hour));
  }
  test::BrokenContracts contracts;
  EXPECT_TRUE(is_active_at(1, 24));  // midnight again
  EXPECT_TRUE(test::broke(contracts));
}

// A lamp from 20:00 to 06:00 through two days: it changes twice a day, when the clock says so.
TEST(EntityHours, EntityChangesOnTheHour) {
  uint32_t night = 0;
  for (const uint32_t hour : {20u, 21u, 22u, 23u, 0u, 1u, 2u, 3u, 4u, 5u}) night |= 1u << hour;
  EXPECT_EQ(night, 0xF0003Fu);
  Entity lamp;
  EXPECT_TRUE(is_active(lamp, true));
  for (uint32_t hour = 0; hour < 48; ++hour) {
    const bool is_night = hour % 24 >= 20 || hour % 24 < 6;
    const bool changed = set_hour(lamp, true, night, hour % 24);
    EXPECT_EQ(is_active(lamp, true), is_night) << hour;
    EXPECT_EQ(changed, hour % 24 == 6 || hour % 24 == 20) << hour;
  }
}

TEST(EntityHours, EntityThatIgnoresHoursIsAlwaysThere) {
  Entity lamp;
  lamp.set_flags(BaseFlag::ignore_hours);
  EXPECT_FALSE(is_timed(lamp, true));
  EXPECT_FALSE(set_hour(lamp, true, 0, 12));
  EXPECT_TRUE(is_active(lamp, true));
  lamp.set_flags(BaseFlag::ignore_hours, false);
  EXPECT_TRUE(is_timed(lamp, true));
  EXPECT_FALSE(is_active(lamp, true)) << "the hour was kept";
  EXPECT_TRUE(is_active(lamp, false)) << "an archetype without hours";
  EXPECT_FALSE(set_hour(lamp, false, 0, 13));
}

}  // namespace
}  // namespace meridian
