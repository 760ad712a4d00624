// SPDX-License-Identifier: MIT
#pragma once
/// When things are there: an archetype with hours appears and vanishes as the game's clock strikes.
///
///   const uint32_t night = 0xF0003F;                    // 20:00 to 06:00, one bit an hour
///   Entity lamp;
///   if (set_hour(lamp, /*is_timed=*/true, night, /*hour=*/21)) { /* its descriptor is to be renewed */ }
///   assert(is_active(lamp, true));
///
/// Threads: main for what changes an entity, immutable otherwise.

#include <cstdint>

#include "meridian/base/assert.h"
#include "meridian/entity/entity.h"

namespace meridian {

inline constexpr uint32_t kHours = 24;  ///< of a day [count]
inline constexpr uint32_t kAllHours = (1u << kHours) - 1;

/// Whether a mask of hours holds `hour`, that is [hour:00, hour+1:00). Bits from 24 on have no say (schema::TimeFlags).
/// Requires: hour < 24 (asserted; otherwise it wraps).
constexpr bool is_active_at(uint32_t hour_mask, uint32_t hour) {
  MERIDIAN_ASSERT(hour < kHours, "a day has 24 hours");
  return (hour_mask >> hour % kHours & 1) != 0;
}

/// The hours of its archetype apply to the entity. `is_timed` is ArchetypeTraits::is_timed.
inline bool is_timed(const Entity& entity, bool is_timed) { return is_timed && !entity.has(BaseFlag::ignore_hours); }

/// The hour is right, or does not matter.
inline bool is_active(const Entity& entity, bool is_timed) {
  return !is_timed || entity.has(BaseFlag::ignore_hours) || !entity.has(BaseFlag::off_hours);
}

/// Tells an entity the hour. True if is_active() changed: its descriptor is to be renewed.
/// Requires: hour < 24 (asserted; otherwise it wraps).
inline bool set_hour(Entity& entity, bool is_timed, uint32_t hour_mask, uint32_t hour) {
  const bool before = is_active(entity, is_timed);
  entity.set_flags(BaseFlag::off_hours, !is_active_at(hour_mask, hour));
  return is_active(entity, is_timed) != before;
}

}  // namespace meridian
