// SPDX-License-Identifier: MIT
#pragma once
/// Where a thing is with regard to interiors: outside, in a room, or in a doorway that belongs to two rooms.
///
///   const InteriorLocation kitchen = InteriorLocation::in_room(/*interior=*/12, /*room=*/3);
///   const InteriorLocation door = InteriorLocation::at_portal(12, /*portal=*/0, /*to_exterior=*/true);
///   if (!kitchen.is_outside() && !kitchen.is_at_portal()) use(kitchen.room());
///
/// Room 0 of each interior is *limbo*: what is seen from it is the outside.
///
/// Threads: immutable. A value of 4 bytes.

#include <cstdint>

#include "meridian/base/assert.h"

namespace meridian {

inline constexpr uint32_t kMaxInteriors = 1200;       ///< placed at once [count]
inline constexpr uint32_t kMaxInteriorRooms = 32;     ///< in one interior, limbo among them [count]
inline constexpr uint32_t kMaxInteriorPortals = 256;  ///< in one interior [count]
inline constexpr uint32_t kLimboRoom = 0;

class InteriorLocation {
 public:
  /// Outside.
  constexpr InteriorLocation() = default;

  /// Requires: interior < kMaxInteriors, room < kMaxInteriorRooms (asserted; otherwise outside).
  static constexpr InteriorLocation in_room(uint32_t interior, uint32_t room) {
    const bool is_right = interior < kMaxInteriors && room < kMaxInteriorRooms;
    MERIDIAN_ASSERT(is_right, "a room of an interior");
    return is_right ? InteriorLocation(interior | room << kIndexShift) : InteriorLocation();
  }
  /// `to_exterior`: one of the portal's rooms is limbo.
  /// Requires: interior < kMaxInteriors, portal < kMaxInteriorPortals (asserted; otherwise outside).
  static constexpr InteriorLocation at_portal(uint32_t interior, uint32_t portal, bool to_exterior) {
    const bool is_right = interior < kMaxInteriors && portal < kMaxInteriorPortals;
    MERIDIAN_ASSERT(is_right, "a portal of an interior");
    if (!is_right) return {};
    return InteriorLocation(interior | kPortalBit | (to_exterior ? kExteriorBit : 0) | portal << kIndexShift);
  }
  /// From stored bits. What is beyond a limit, or is a room with a portal's bit, is outside.
  static constexpr InteriorLocation from_bits(uint32_t bits) {
    const uint32_t index = bits >> kIndexShift;
    const bool is_portal = (bits & kPortalBit) != 0;
    const uint32_t limit = is_portal ? kMaxInteriorPortals : kMaxInteriorRooms;
    const bool is_right =
        (bits & kInteriorMask) < kMaxInteriors && index < limit && (is_portal || (bits & kExteriorBit) == 0);
    return is_right ? InteriorLocation(bits) : InteriorLocation();
  }
  /// Bits 0 to 15: interior, as a signed number, -1 outside; 16: at a portal; 17: to the exterior; 18 to 31: room or
  /// portal.
  constexpr uint32_t bits() const { return bits_; }

  constexpr bool is_outside() const { return interior() < 0; }
  /// [0, kMaxInteriors), or -1 outside.
  constexpr int32_t interior() const { return static_cast<int16_t>(bits_ & kInteriorMask); }
  constexpr bool is_at_portal() const { return (bits_ & kPortalBit) != 0; }
  constexpr bool is_portal_to_exterior() const { return (bits_ & kExteriorBit) != 0; }
  /// Requires: in a room (asserted; otherwise limbo).
  constexpr uint32_t room() const {
    MERIDIAN_ASSERT(!is_outside() && !is_at_portal(), "only what is in a room has one");
    return !is_outside() && !is_at_portal() ? bits_ >> kIndexShift : kLimboRoom;
  }
  /// Requires: at a portal (asserted; otherwise 0).
  constexpr uint32_t portal() const {
    MERIDIAN_ASSERT(is_at_portal(), "only what is at a portal has one");
    return is_at_portal() ? bits_ >> kIndexShift : 0;
  }
  friend constexpr bool operator==(InteriorLocation, InteriorLocation) = default;

 private:
  static constexpr uint32_t kInteriorMask = 0xFFFF, kPortalBit = 1u << 16, kExteriorBit = 1u << 17, kIndexShift = 18;
  explicit constexpr InteriorLocation(uint32_t bits) : bits_(bits) {}
  uint32_t bits_ = kInteriorMask;
};
static_assert(sizeof(InteriorLocation) == 4);

}  // namespace meridian
