// SPDX-License-Identifier: MIT
#pragma once
/// Placed entities and the extensions that entities and archetypes carry.

#include <cstdint>

#include "world_gen/plan.h"
#include "world_gen/table_maker.h"

namespace meridian::tools::world {

/// An entity on its way into a map or an interior.
struct Placed {
  uint32_t archetype = 0;
  Point position;        ///< whole centimetres
  Rotation orientation;  ///< in the world; entities store its inverse
  float scale_xy = 1, scale_z = 1;
  schema::EntityFlags flags = schema::EntityFlags::cast_static_shadows | schema::EntityFlags::cast_dynamic_shadows;
  int32_t parent = -1;
  float lod_dist = -1, child_lod_dist = 0;
  schema::LodLevel level = schema::LodLevel::ORPHANHD;
  uint32_t children = 0;
  schema::PriorityLevel priority = schema::PriorityLevel::REQUIRED;
  uint32_t tint = 0, guid = 0;
  double range = 0;  ///< effective draw distance: the parent's child_lod_dist, else lod_dist, else the archetype's [m]
  uint32_t lot = 0;

  bool is_interior(const Plan& plan) const { return plan.roles[archetype] == Role::interior; }
  schema::EntityDef stored(const Plan& plan) const;
  Bounds bounds(const Plan& plan) const;
};

/// Radius of a light's reach and other values that a lamp and its LOD light share.
inline constexpr float kLampFalloff = 12, kLampExponent = 8, kLampInnerAngle = 40, kLampOuterAngle = 60;
/// Where a lamp's light is in its model. [m]
inline constexpr Point kLampLight{0.4, 0, 5.5};
/// Hours of street lights: from 20:00 to 06:00.
inline constexpr uint32_t kNight = 0xF0003F;

TableMaker door_extension(const Plan& plan, const TypePlan& wrapper, Random& random);
/// The light of a street lamp.
TableMaker lamp_extension(const Plan& plan, const TypePlan& wrapper, uint32_t archetype);
TableMaker spawn_point_override(const Plan& plan, const TypePlan& wrapper, Random& random);
/// One of the kinds that archetypes carry, chosen by `kind`. [0, kArchetypeExtensions)
inline constexpr uint32_t kArchetypeExtensions = 11;
TableMaker archetype_extension(const Plan& plan, const TypePlan& wrapper, uint32_t archetype, uint32_t kind);

}  // namespace meridian::tools::world
