// SPDX-License-Identifier: MIT
#include "world_gen/entities.h"

namespace meridian::tools::world {
namespace {

using schema::ExtensionDef;

/// A member of the union with what all kinds begin with: name and place.
template <class Def>
TableMaker begin(const TypePlan& wrapper, ExtensionDef kind, uint32_t name, const Point& place) {
  TableMaker out(union_member(wrapper, static_cast<int64_t>(kind)));
  out.number(Def::VT_NAME, name).structure(Def::VT_OFFSET_POSITION, stored(place));
  return out;
}

schema::Float3 float3(const Point& p) {
  return {static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)};
}

}  // namespace

schema::EntityDef Placed::stored(const Plan& plan) const {
  // Interior instances store the orientation itself, all others its inverse.
  const Rotation rotation = is_interior(plan) ? orientation : orientation.inverse();
  return {plan.archetypes[archetype].name(),
          flags,
          guid,
          world::stored(position),
          rotation.stored(),
          scale_xy,
          scale_z,
          parent,
          lod_dist,
          child_lod_dist,
          level,
          children,
          priority,
          255,
          255,
          tint};
}

Bounds Placed::bounds(const Plan& plan) const {
  return placed(plan.bounds_of(archetype), orientation, static_cast<double>(scale_xy), static_cast<double>(scale_z),
                position);
}

TableMaker door_extension(const Plan& plan, const TypePlan& wrapper, Random& random) {
  using schema::DoorDef;
  TableMaker door = begin<DoorDef>(wrapper, ExtensionDef::DoorDef, plan.words.sounds[3], {});
  const bool limited = random.one_in(2);
  door.number(DoorDef::VT_ENABLE_LIMIT_ANGLE, limited)
      .number(DoorDef::VT_STARTS_LOCKED, random.one_in(4))
      .number(DoorDef::VT_CAN_BREAK, random.one_in(3))
      .number(DoorDef::VT_LIMIT_ANGLE, limited ? 1.5f : 0.0f)
      .number(DoorDef::VT_AUDIO_HASH, plan.words.sounds[3]);
  return union_item(wrapper, std::move(door));
}

TableMaker lamp_extension(const Plan& plan, const TypePlan& wrapper, uint32_t archetype) {
  using schema::LightEffectDef;
  TableMaker effect =
      begin<LightEffectDef>(wrapper, ExtensionDef::LightEffectDef, plan.archetypes[archetype].name(), {});
  const schema::Rgb8 warm{255, 214, 170};
  const std::vector<schema::LightAttrDef> lights{{float3(kLampLight),
                                                  warm,
                                                  schema::Flashiness::constant,
                                                  6.0f,
                                                  schema::LightFlags{},
                                                  int16_t{0},
                                                  schema::LightType::spot,
                                                  uint8_t{0},
                                                  schema::TimeFlags{kNight},
                                                  kLampFalloff,
                                                  kLampExponent,
                                                  schema::Float4{0, 0, 1, 10},
                                                  uint8_t{0},
                                                  uint8_t{0},
                                                  int16_t{0},
                                                  uint32_t{0},
                                                  1.0f,
                                                  1.0f,
                                                  warm,
                                                  uint8_t{0},
                                                  1.0f,
                                                  0.3f,
                                                  1.0f,
                                                  uint8_t{60},
                                                  uint8_t{20},
                                                  uint8_t{40},
                                                  uint8_t{60},
                                                  0.01f,
                                                  1.0f,
                                                  0.1f,
                                                  float3({0, 0, -1}),
                                                  float3({1, 0, 0}),
                                                  kLampInnerAngle,
                                                  kLampOuterAngle,
                                                  float3({1, 1, 1}),
                                                  uint32_t{0}}};
  effect.items(LightEffectDef::VT_INSTANCES, lights);
  return union_item(wrapper, std::move(effect));
}

TableMaker spawn_point_override(const Plan& plan, const TypePlan& wrapper, Random& random) {
  using schema::SpawnPointOverrideDef;
  const uint32_t scenario = plan.words.scenarios[random.below(5)];
  TableMaker out = begin<SpawnPointOverrideDef>(wrapper, ExtensionDef::SpawnPointOverrideDef, scenario, {});
  out.number(SpawnPointOverrideDef::VT_SCENARIO_TYPE, scenario)
      .number(SpawnPointOverrideDef::VT_TIME_START_OVERRIDE, static_cast<uint8_t>(6 + random.below(6)))
      .number(SpawnPointOverrideDef::VT_TIME_END_OVERRIDE, static_cast<uint8_t>(18 + random.below(6)))
      .number(SpawnPointOverrideDef::VT_FLAGS, schema::ScenarioPointFlags::StationaryReactions)
      .number(SpawnPointOverrideDef::VT_RADIUS, 2.5f)
      .number(SpawnPointOverrideDef::VT_TIME_TILL_PED_LEAVES, 30.0f);
  return union_item(wrapper, std::move(out));
}

TableMaker archetype_extension(const Plan& plan, const TypePlan& wrapper, uint32_t archetype, uint32_t kind) {
  using namespace schema;
  const uint32_t name = plan.archetypes[archetype].name();
  const Bounds box = plan.bounds_of(archetype);
  const Point top = centimetres(Point{box.centre().x, box.centre().y, box.max.z});
  const Point middle = centimetres(box.centre());
  const Words& words = plan.words;
  const auto wrap = [&](TableMaker& member) { return union_item(wrapper, std::move(member)); };
  switch (kind) {
    case 0: {
      using D = ParticleEffectDef;
      TableMaker m = begin<D>(wrapper, ExtensionDef::ParticleEffectDef, name, top);
      m.text(D::VT_FX_NAME, "wg_fx_steam")
          .number(D::VT_SCALE, 1.5f)
          .number(D::VT_PROBABILITY, int32_t{60})
          .number(D::VT_FLAGS, ParticleFlags::has_tint)
          .number(D::VT_COLOR, uint32_t{0x80C0C0C0});
      return wrap(m);
    }
    case 1: {
      using D = AudioCollisionDef;
      TableMaker m = begin<D>(wrapper, ExtensionDef::AudioCollisionDef, name, {});
      m.number(D::VT_SETTINGS, words.metal);
      return wrap(m);
    }
    case 2: {
      using D = AudioEmitterDef;
      TableMaker m = begin<D>(wrapper, ExtensionDef::AudioEmitterDef, name, middle);
      m.number(D::VT_EFFECT_HASH, words.sounds[archetype % 3]);
      return wrap(m);
    }
    case 3: {
      using D = ExplosionEffectDef;
      TableMaker m = begin<D>(wrapper, ExtensionDef::ExplosionEffectDef, name, middle);
      m.text(D::VT_EXPLOSION_NAME, "exp_tag_barrel").number(D::VT_EXPLOSION_TYPE, ExplosionType::on_destroy);
      return wrap(m);
    }
    case 4: {
      using D = LadderDef;
      const Point foot = centimetres(Point{box.min.x, box.centre().y, 0});
      TableMaker m = begin<D>(wrapper, ExtensionDef::LadderDef, name, {});
      m.structure(D::VT_BOTTOM, stored(foot))
          .structure(D::VT_TOP, stored(Point{foot.x, foot.y, top.z}))
          .structure(D::VT_NORMAL, Vec3(-1, 0, 0))
          .number(D::VT_MATERIAL_TYPE, LadderMaterial::METAL_LIGHT_LADDER)
          .number(D::VT_TEMPLATE_NAME, words.default_ladder)
          .number(D::VT_CAN_GET_OFF_AT_TOP, true)
          .number(D::VT_CAN_GET_OFF_AT_BOTTOM, true);
      return wrap(m);
    }
    case 5: {
      TableMaker m = begin<BuoyancyDef>(wrapper, ExtensionDef::BuoyancyDef, name, {});
      return wrap(m);
    }
    case 6: {
      using D = LightShaftDef;
      TableMaker m = begin<D>(wrapper, ExtensionDef::LightShaftDef, name, top);
      m.structure(D::VT_CORNER_A, Vec3(-0.5f, 0, 2))
          .structure(D::VT_CORNER_B, Vec3(0.5f, 0, 2))
          .structure(D::VT_CORNER_C, Vec3(0.5f, 0, 1))
          .structure(D::VT_CORNER_D, Vec3(-0.5f, 0, 1))
          .structure(D::VT_DIRECTION, Vec3(0, 0, -1))
          .number(D::VT_DIRECTION_AMOUNT, 1.0f)
          .number(D::VT_LENGTH, 4.0f)
          .number(D::VT_FADE_IN_TIME_START, 6.0f)
          .number(D::VT_FADE_IN_TIME_END, 8.0f)
          .number(D::VT_FADE_OUT_TIME_START, 18.0f)
          .number(D::VT_FADE_OUT_TIME_END, 20.0f)
          .number(D::VT_FADE_DISTANCE_START, 20.0f)
          .number(D::VT_FADE_DISTANCE_END, 40.0f)
          .number(D::VT_COLOR, uint32_t{0xFFFFE0B0})
          .number(D::VT_INTENSITY, 0.25f)
          .number(D::VT_FLAGS, LightShaftFlags{35})  // the least of the combinations that occur
          .number(D::VT_DENSITY_TYPE, LightShaftDensity::LINEAR_GRADIENT)
          .number(D::VT_SOFTNESS, 0.5f)
          .number(D::VT_SCALE_BY_SUN_INTENSITY, true);
      return wrap(m);
    }
    case 7: {
      using D = SpawnPointDef;
      TableMaker m = begin<D>(wrapper, ExtensionDef::SpawnPointDef, name, centimetres(Point{box.max.x + 0.5, 0, 0}));
      m.structure(D::VT_OFFSET_ROTATION, heading(archetype % 64).stored())
          .number(D::VT_SPAWN_TYPE, words.scenarios[archetype % 5])
          .number(D::VT_TIME_TILL_PED_LEAVES, 60.0f)
          .number(D::VT_RADIUS, 5.0f)
          .number(D::VT_START_HOUR, uint8_t{6})
          .number(D::VT_END_HOUR, uint8_t{22})
          .number(D::VT_FLAGS, ScenarioPointFlags::StationaryReactions | ScenarioPointFlags::IgnoreMaxInRange);
      return wrap(m);
    }
    case 8: {
      using D = WindDisturbanceDef;
      TableMaker m = begin<D>(wrapper, ExtensionDef::WindDisturbanceDef, name, middle);
      m.structure(D::VT_SIZE, Vec4(2, 2, 2, 0)).number(D::VT_STRENGTH, 3.0f);
      return wrap(m);
    }
    case 9: {
      using D = ProcObjectDef;
      TableMaker m = begin<D>(wrapper, ExtensionDef::ProcObjectDef, name, {});
      m.number(D::VT_RADIUS_INNER, 1.0f)
          .number(D::VT_RADIUS_OUTER, 4.0f)
          .number(D::VT_SPACING, 1.5f)
          .number(D::VT_MIN_SCALE, 0.75f)
          .number(D::VT_MAX_SCALE, 1.25f)
          .number(D::VT_MIN_SCALE_Z, 0.75f)
          .number(D::VT_MAX_SCALE_Z, 1.25f)
          .number(D::VT_OBJECT_HASH, name);
      return wrap(m);
    }
    default: {
      using D = ExpressionDef;
      TableMaker m = begin<D>(wrapper, ExtensionDef::ExpressionDef, name, {});
      m.number(D::VT_EXPRESSION_DICTIONARY_NAME, words.expressions[0])
          .number(D::VT_EXPRESSION_NAME, words.expressions[1])
          .number(D::VT_CREATURE_METADATA_NAME, words.expressions[2]);
      return wrap(m);
    }
  }
}

}  // namespace meridian::tools::world
