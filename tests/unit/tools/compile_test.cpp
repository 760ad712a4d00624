// SPDX-License-Identifier: MIT
// From XML to bytes that the generated accessors read in place (FMT-10, FMT-11, FMT-12, FMT-13, FMT-23, P033, P050,
// P084, P091).
#include "meridian/tools/compile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "meridian/base/name_hash.h"
#include "meridian/schemas/gameconfig_generated.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "meridian/schemas/manifest_generated.h"
#include "meridian/schemas/resource_info_generated.h"
#include "support/compile_kit.h"

namespace meridian::test {
namespace {

using schema::GameConfigSet;
using schema::MapData;
using schema::MapTypes;
using schema::PackFileMetaData;
using tools::CompileOptions;

uint32_t h(std::string_view name) { return hash_name(name).value; }

// FMT-10: sizes by hand, from the members' sizes and alignment.
static_assert(sizeof(schema::EntityDef) == 4 + 4 + 4 + 12 + 16 + 4 + 4 + 4 + 4 + 4 + 4 + 4 + 4 + 4 + 4 + 4);
static_assert(sizeof(schema::GrassInstance) == 16);
static_assert(sizeof(schema::BoxOccluder) == 16);
static_assert(sizeof(schema::TimeCycleModifier) == 44);
static_assert(sizeof(schema::CarGen) == 12 + 4 + 4 + 4 + 4 + 4 + 16 + 4 + 4);
static_assert(sizeof(schema::ContainerLod) == 8);
static_assert(sizeof(schema::Vec3) == 12 && sizeof(schema::Quat) == 16 && sizeof(schema::FloatXYZ) == 12);
static_assert(sizeof(schema::ArchetypeDef) == 4 + 4 + 4 + 12 + 12 + 12 + 4 * 9);

#define EXPECT_VEC3(v, X, Y, Z) \
  do {                          \
    EXPECT_EQ((v).x(), X);      \
    EXPECT_EQ((v).y(), Y);      \
    EXPECT_EQ((v).z(), Z);      \
  } while (false)

TEST(MapData, EveryMemberOfEveryEntityReadsBack) {
  const Compiled c = compile_clean(kImap, R"(<CMapData>
 <name>qa_map</name><parent>qa_parent</parent><flags value="3"/><contentFlags value="73"/>
 <streamingExtentsMin x="-1" y="-2" z="-3"/><streamingExtentsMax x="1" y="2" z="3"/>
 <entitiesExtentsMin x="-0.5" y="-0.25" z="-0.125"/><entitiesExtentsMax x="0.5" y="0.25" z="0.125"/>
 <entities>
  <Item type="CEntityDef"><archetypeName>qa_a</archetypeName><flags value="1572865"/><guid value="218153065"/>
   <position x="1" y="2" z="3"/><rotation x="0.5" y="-0.5" z="0.25" w="0.75"/><scaleXY value="1.5"/><scaleZ value="2.5"/>
   <parentIndex value="7"/><lodDist value="60"/><childLodDist value="30"/><lodLevel>LODTYPES_DEPTH_SLOD3</lodLevel>
   <numChildren value="9"/><priorityLevel>PRI_OPTIONAL_MEDIUM</priorityLevel><extensions/>
   <ambientOcclusionMultiplier value="100"/><artificialAmbientOcclusion value="-5"/><tintValue value="17"/></Item>
 </entities></CMapData>)");
  const auto* map = root_of<MapData>(c);
  EXPECT_EQ(map->name(), h("qa_map"));
  EXPECT_EQ(map->parent(), h("qa_parent"));
  EXPECT_EQ(static_cast<uint32_t>(map->flags()), 3u);
  EXPECT_EQ(static_cast<uint32_t>(map->content_flags()), 73u);
  EXPECT_VEC3(*map->streaming_extents_min(), -1, -2, -3);
  EXPECT_VEC3(*map->streaming_extents_max(), 1, 2, 3);
  EXPECT_VEC3(*map->entities_extents_min(), -0.5f, -0.25f, -0.125f);
  EXPECT_VEC3(*map->entities_extents_max(), 0.5f, 0.25f, 0.125f);
  const auto& e = *map->entities()->Get(0);
  EXPECT_EQ(e.archetype_name(), h("qa_a"));
  EXPECT_EQ(static_cast<uint32_t>(e.flags()), 1572865u);
  EXPECT_EQ(e.guid(), 218153065u);
  EXPECT_VEC3(e.position(), 1, 2, 3);
  EXPECT_EQ(e.rotation().x(), 0.5f);
  EXPECT_EQ(e.rotation().y(), -0.5f);
  EXPECT_EQ(e.rotation().z(), 0.25f);
  EXPECT_EQ(e.rotation().w(), 0.75f);  // as authored, not normalised
  EXPECT_EQ(e.scale_xy(), 1.5f);
  EXPECT_EQ(e.scale_z(), 2.5f);
  EXPECT_EQ(e.parent_index(), 7);
  EXPECT_EQ(e.lod_dist(), 60.f);
  EXPECT_EQ(e.child_lod_dist(), 30.f);
  EXPECT_EQ(e.lod_level(), schema::LodLevel::SLOD3);
  EXPECT_EQ(e.num_children(), 9u);
  EXPECT_EQ(e.priority_level(), schema::PriorityLevel::OPTIONAL_MEDIUM);
  EXPECT_EQ(e.ambient_occlusion_multiplier(), 100);
  EXPECT_EQ(e.artificial_ambient_occlusion(), -5);
  EXPECT_EQ(e.tint_value(), 17u);
  expect_round_trip(kImap, c);
}

TEST(MapData, EveryOtherPartReadsBack) {
  const Compiled c = compile_clean(kImap, R"(<CMapData><name>m</name>
 <containerLods><Item><name>cl</name><parentIndex value="4294967295"/></Item></containerLods>
 <boxOccluders><Item><iCenterX value="-32768"/><iCenterY value="2"/><iCenterZ value="3"/><iCosZ value="4"/><iLength value="5"/><iWidth value="6"/><iHeight value="7"/><iSinZ value="32767"/></Item></boxOccluders>
 <occludeModels><Item><bmin x="0" y="1" z="2"/><bmax x="3" y="4" z="5"/><dataSize value="15"/><verts>00 00 80 3F 00 00 00 40 00 00 40 40 00 00 00</verts>
  <numVertsInBytes value="12"/><numTris value="32769"/><flags value="1"/></Item></occludeModels>
 <physicsDictionaries><Item>pa</Item><Item>hash_00000007</Item></physicsDictionaries>
 <instancedData><ImapLink>il</ImapLink><PropInstanceList/><GrassInstanceList><Item><BatchAABB><min x="1" y="2" z="3" w="4"/><max x="5" y="6" z="7" w="8"/></BatchAABB>
  <ScaleRange x="0.5" y="1.5" z="0.25"/><archetypeName>gr</archetypeName><lodDist value="120"/><LodFadeStartDist value="21"/><LodInstFadeRange value="0.5"/><OrientToTerrain value="0.75"/>
  <InstanceList><Item><Position>0 32768 65535</Position><NormalX value="1"/><NormalY value="2"/><Color>3 4 5</Color><Scale value="6"/><Ao value="7"/><Pad>8 9 10</Pad></Item></InstanceList></Item></GrassInstanceList></instancedData>
 <timeCycleModifiers><Item><name>tc</name><minExtents x="1" y="2" z="3"/><maxExtents x="4" y="5" z="6"/><percentage value="50"/><range value="7"/><startHour value="8"/><endHour value="9"/></Item></timeCycleModifiers>
 <carGenerators><Item><position x="1" y="2" z="3"/><orientX value="4"/><orientY value="5"/><perpendicularLength value="6"/><carModel>cm</carModel><flags value="3680"/>
  <bodyColorRemap1 value="1"/><bodyColorRemap2 value="2"/><bodyColorRemap3 value="3"/><bodyColorRemap4 value="4"/><popGroup>pg</popGroup><livery value="-128"/></Item></carGenerators>
 <LODLightsSOA><direction><Item><x value="1"/><y value="2"/><z value="3"/></Item></direction><falloff>4</falloff><falloffExponent>5</falloffExponent><timeAndStateFlags>4294967295</timeAndStateFlags>
  <hash>6</hash><coneInnerAngle>7</coneInnerAngle><coneOuterAngleOrCapExt>8</coneOuterAngleOrCapExt><coronaIntensity>9</coronaIntensity></LODLightsSOA>
 <DistantLODLightsSOA><position><Item><x value="1"/><y value="2"/><z value="3"/></Item></position><RGBI>4278190335</RGBI><numStreetLights value="65535"/><category value="2"/></DistantLODLightsSOA>
 <block><version value="1"/><flags value="2"/><name>n</name><exportedBy>e b</exportedBy><owner>o</owner><time>t</time></block></CMapData>)");
  const auto* m = root_of<MapData>(c);
  EXPECT_EQ(m->container_lods()->Get(0)->name(), h("cl"));
  EXPECT_EQ(m->container_lods()->Get(0)->parent_index(), 4294967295u);
  const auto* b = m->box_occluders()->Get(0);
  EXPECT_EQ(b->center_x(), -32768);
  EXPECT_EQ(b->center_y(), 2);
  EXPECT_EQ(b->center_z(), 3);
  EXPECT_EQ(b->cos_z(), 4);
  EXPECT_EQ(b->length(), 5);
  EXPECT_EQ(b->width(), 6);
  EXPECT_EQ(b->height(), 7);
  EXPECT_EQ(b->sin_z(), 32767);
  const auto* o = m->occlude_models()->Get(0);
  EXPECT_VEC3(*o->bmin(), 0, 1, 2);
  EXPECT_VEC3(*o->bmax(), 3, 4, 5);
  EXPECT_EQ(o->data_size(), 15u);
  ASSERT_EQ(o->verts()->size(), 15u);
  float vertex[3];
  std::memcpy(vertex, o->verts()->data(), sizeof vertex);
  EXPECT_EQ(vertex[0], 1.f);
  EXPECT_EQ(vertex[1], 2.f);
  EXPECT_EQ(vertex[2], 3.f);
  EXPECT_EQ(o->num_verts_in_bytes(), 12);
  EXPECT_EQ(o->num_tris(), 0x8001);
  EXPECT_EQ(static_cast<uint32_t>(o->flags()), 1u);
  EXPECT_EQ(m->physics_dictionaries()->Get(0), h("pa"));
  EXPECT_EQ(m->physics_dictionaries()->Get(1), 7u);
  EXPECT_EQ(m->instanced_data()->imap_link(), h("il"));
  const auto* g = m->instanced_data()->grass_instance_list()->Get(0);
  EXPECT_EQ(g->batch_aabb()->min().w(), 4.f);
  EXPECT_EQ(g->batch_aabb()->max().x(), 5.f);
  EXPECT_VEC3(*g->scale_range(), 0.5f, 1.5f, 0.25f);
  EXPECT_EQ(g->archetype_name(), h("gr"));
  EXPECT_EQ(g->lod_dist(), 120u);
  EXPECT_EQ(g->lod_fade_start_dist(), 21.f);
  EXPECT_EQ(g->lod_inst_fade_range(), 0.5f);
  EXPECT_EQ(g->orient_to_terrain(), 0.75f);
  const auto* gi = g->instance_list()->Get(0);
  EXPECT_EQ(gi->position().y(), 32768);
  EXPECT_EQ(gi->position().z(), 65535);
  EXPECT_EQ(gi->normal_x(), 1);
  EXPECT_EQ(gi->normal_y(), 2);
  EXPECT_EQ(gi->color().r(), 3);
  EXPECT_EQ(gi->color().b(), 5);
  EXPECT_EQ(gi->scale(), 6);
  EXPECT_EQ(gi->ao(), 7);
  EXPECT_EQ(gi->padding().z(), 10);
  const auto* t = m->time_cycle_modifiers()->Get(0);
  EXPECT_EQ(t->name(), h("tc"));
  EXPECT_VEC3(t->max_extents(), 4, 5, 6);
  EXPECT_EQ(t->percentage(), 50.f);
  EXPECT_EQ(t->range(), 7.f);
  EXPECT_EQ(t->start_hour(), 8u);
  EXPECT_EQ(t->end_hour(), 9u);
  const auto* cg = m->car_generators()->Get(0);
  EXPECT_VEC3(cg->position(), 1, 2, 3);
  EXPECT_EQ(cg->orient_x(), 4.f);
  EXPECT_EQ(cg->orient_y(), 5.f);
  EXPECT_EQ(cg->perpendicular_length(), 6.f);
  EXPECT_EQ(cg->car_model(), h("cm"));
  EXPECT_EQ(static_cast<uint32_t>(cg->flags()), 3680u);
  EXPECT_EQ(cg->body_color_remap_2(), 2);
  EXPECT_EQ(cg->body_color_remap_4(), 4);
  EXPECT_EQ(cg->pop_group(), h("pg"));
  EXPECT_EQ(cg->livery(), -128);
  const auto* l = m->lod_lights_soa();
  EXPECT_EQ(l->direction()->Get(0)->z(), 3.f);
  EXPECT_EQ(l->falloff()->Get(0), 4.f);
  EXPECT_EQ(l->falloff_exponent()->Get(0), 5.f);
  EXPECT_EQ(l->time_and_state_flags()->Get(0), 4294967295u);
  EXPECT_EQ(l->hash()->Get(0), 6u);
  EXPECT_EQ(l->cone_inner_angle()->Get(0), 7);
  EXPECT_EQ(l->cone_outer_angle_or_cap_ext()->Get(0), 8);
  EXPECT_EQ(l->corona_intensity()->Get(0), 9);
  const auto* d = m->distant_lod_lights_soa();
  EXPECT_EQ(d->position()->Get(0)->x(), 1.f);
  EXPECT_EQ(d->rgbi()->Get(0), 0xFF0000FFu);
  EXPECT_EQ(d->num_street_lights(), 65535);
  EXPECT_EQ(static_cast<int>(d->category()), 2);
  EXPECT_EQ(m->block()->version(), 1u);
  EXPECT_EQ(m->block()->flags(), 2u);
  EXPECT_EQ(m->block()->exported_by()->str(), "e b");
  EXPECT_EQ(m->block()->time()->str(), "t");
  expect_round_trip(kImap, c);
}

// FMT-12: records are sorted by entity, order within one is kept, parent indices count all entities.
TEST(MapData, P033MloInstancesAreHoistedWithZeroOneAndThreeSets) {
  const auto sets = [](std::string_view items) {
    return "<groupId value=\"3\"/><floorId value=\"4\"/><defaultEntitySets>" + std::string(items) +
           "</defaultEntitySets><numExitPortals value=\"5\"/><MLOInstflags value=\"6\"/>";
  };
  const Compiled c = compile_clean(
      kImap, entities(entity("") + entity(sets(""), "CMloInstanceDef") + entity("") +
                      entity(sets("<Item>qa_xmas</Item>"), "CMloInstanceDef") +
                      entity(sets("<Item>a</Item><Item>b</Item><Item>hash_00000009</Item>"), "CMloInstanceDef")));
  const auto* m = root_of<MapData>(c);
  ASSERT_EQ(m->entities()->size(), 5u);
  const auto* v = m->mlo_instances();
  ASSERT_EQ(v->size(), 3u);
  EXPECT_EQ(v->Get(0)->owner(), 1u);
  EXPECT_EQ(v->Get(1)->owner(), 3u);
  EXPECT_EQ(v->Get(2)->owner(), 4u);
  EXPECT_TRUE(v->Get(0)->default_entity_sets() == nullptr || v->Get(0)->default_entity_sets()->size() == 0);
  EXPECT_EQ(v->Get(1)->default_entity_sets()->Get(0), h("qa_xmas"));
  ASSERT_EQ(v->Get(2)->default_entity_sets()->size(), 3u);
  EXPECT_EQ(v->Get(2)->default_entity_sets()->Get(2), 9u);
  for (const auto* i : *v) {
    EXPECT_EQ(i->group_id(), 3u);
    EXPECT_EQ(i->floor_id(), 4u);
    EXPECT_EQ(i->num_exit_portals(), 5u);
    EXPECT_EQ(static_cast<uint32_t>(i->mlo_inst_flags()), 6u);
  }
  expect_round_trip(kImap, c);
}

TEST(MapData, ExtensionsAreHoistedByEntityInTheirOrder) {
  const auto ext = [](std::string_view name) {
    return "<Item type=\"CExtensionDefBuoyancy\"><name>" + std::string(name) + "</name></Item>";
  };
  const Compiled c = compile_clean(
      kImap, entities(entity("") + entity("<extensions>" + ext("a") + ext("b") + "</extensions>") + entity("") +
                      entity("<extensions>" + ext("c") + "</extensions><groupId value=\"1\"/>", "CMloInstanceDef")));
  const auto* v = root_of<MapData>(c)->entity_extensions();
  ASSERT_EQ(v->size(), 3u);
  EXPECT_EQ(v->Get(0)->owner(), 1u);
  EXPECT_EQ(v->Get(1)->owner(), 1u);
  EXPECT_EQ(v->Get(2)->owner(), 3u);
  EXPECT_EQ(v->Get(0)->definition_as_BuoyancyDef()->name(), h("a"));
  EXPECT_EQ(v->Get(1)->definition_as_BuoyancyDef()->name(), h("b"));
  EXPECT_EQ(v->Get(2)->definition_as_BuoyancyDef()->name(), h("c"));
  expect_round_trip(kImap, c);
}

// SCHEMA 1.12: every kind, every member another value.
constexpr std::string_view kHead = "<name>qa_ext</name><offsetPosition x=\"1.5\" y=\"-2.5\" z=\"3.5\"/>";
constexpr std::string_view kTurn = "<offsetRotation x=\"0.1\" y=\"0.2\" z=\"0.3\" w=\"0.4\"/>";

template <class T>
const T* one_extension(const Compiled& c) {
  const auto* v = root_of<MapData>(c)->entity_extensions();
  const T* t = v->Get(0)->definition_as<T>();
  EXPECT_NE(t, nullptr);
  EXPECT_EQ(t->name(), h("qa_ext"));
  EXPECT_VEC3(*t->offset_position(), 1.5f, -2.5f, 3.5f);
  return t;
}
template <class T>
void expect_turn(const T* t) {
  EXPECT_EQ(t->offset_rotation()->x(), 0.1f);
  EXPECT_EQ(t->offset_rotation()->y(), 0.2f);
  EXPECT_EQ(t->offset_rotation()->z(), 0.3f);
  EXPECT_EQ(t->offset_rotation()->w(), 0.4f);
}
Compiled extension(std::string_view type, std::string_view body, bool turn = false) {
  Compiled c = compile_clean(kImap, with_extension("<Item type=\"" + std::string(type) + "\">" + std::string(kHead) +
                                                   (turn ? std::string(kTurn) : "") + std::string(body) + "</Item>"));
  expect_round_trip(kImap, c);
  return c;
}

TEST(Extensions, ParticleEffect) {
  const Compiled c =
      extension("CExtensionDefParticleEffect",
                "<fxName>fx &amp; name</fxName><fxType value=\"3\"/><boneTag value=\"-1\"/><scale "
                "value=\"0.75\"/><probability value=\"80\"/><flags value=\"5\"/><color value=\"0xFF010203\"/>",
                true);
  const auto* t = one_extension<schema::ParticleEffectDef>(c);
  expect_turn(t);
  EXPECT_EQ(t->fx_name()->str(), "fx & name");
  EXPECT_EQ(static_cast<int>(t->fx_type()), 3);
  EXPECT_EQ(t->bone_tag(), -1);
  EXPECT_EQ(t->scale(), 0.75f);
  EXPECT_EQ(t->probability(), 80);
  EXPECT_EQ(static_cast<uint32_t>(t->flags()), 5u);
  EXPECT_EQ(t->color(), 0xFF010203u);
}
TEST(Extensions, AudioCollisionSettings) {
  const Compiled c = extension("CExtensionDefAudioCollisionSettings", "<settings>AM_X</settings>");
  EXPECT_EQ(one_extension<schema::AudioCollisionDef>(c)->settings(), h("am_x"));
}
TEST(Extensions, AudioEmitter) {
  const Compiled c = extension("CExtensionDefAudioEmitter", "<effectHash value=\"4123456789\"/>", true);
  const auto* t = one_extension<schema::AudioEmitterDef>(c);
  expect_turn(t);
  EXPECT_EQ(t->effect_hash(), 4123456789u);
  // A name or a literal is read too, and survives the round trip.
  EXPECT_EQ(one_extension<schema::AudioEmitterDef>(
                extension("CExtensionDefAudioEmitter", "<effectHash value=\"hash_1A2B3C4D\"/>"))
                ->effect_hash(),
            0x1A2B3C4Du);
  EXPECT_EQ(one_extension<schema::AudioEmitterDef>(
                extension("CExtensionDefAudioEmitter", "<effectHash>Collectibles</effectHash>"))
                ->effect_hash(),
            h("collectibles"));
}
TEST(Extensions, ExplosionEffect) {
  const Compiled c = extension("CExtensionDefExplosionEffect",
                               "<explosionName>exp_tag_x</explosionName><boneTag value=\"12\"/><explosionTag "
                               "value=\"13\"/><explosionType value=\"2\"/><flags value=\"6\"/>",
                               true);
  const auto* t = one_extension<schema::ExplosionEffectDef>(c);
  expect_turn(t);
  EXPECT_EQ(t->explosion_name()->str(), "exp_tag_x");
  EXPECT_EQ(t->bone_tag(), 12);
  EXPECT_EQ(t->explosion_tag(), 13);
  EXPECT_EQ(static_cast<int>(t->explosion_type()), 2);
  EXPECT_EQ(static_cast<uint32_t>(t->flags()), 6u);
}
TEST(Extensions, Door) {
  const Compiled c = extension(
      "CExtensionDefDoor",
      "<enableLimitAngle value=\"true\"/><startsLocked value=\"false\"/><canBreak value=\"true\"/><limitAngle "
      "value=\"1.25\"/><doorTargetRatio value=\"0.5\"/><audioHash>dr_x</audioHash>");
  const auto* t = one_extension<schema::DoorDef>(c);
  EXPECT_TRUE(t->enable_limit_angle());
  EXPECT_FALSE(t->starts_locked());
  EXPECT_TRUE(t->can_break());
  EXPECT_EQ(t->limit_angle(), 1.25f);
  EXPECT_EQ(t->door_target_ratio(), 0.5f);
  EXPECT_EQ(t->audio_hash(), h("dr_x"));
}
TEST(Extensions, Ladder) {
  const Compiled c = extension("CExtensionDefLadder",
                               "<bottom x=\"1\" y=\"2\" z=\"3\"/><top x=\"4\" y=\"5\" z=\"6\"/><normal x=\"7\" y=\"8\" "
                               "z=\"9\"/><materialType>WOODEN_LADDER</materialType><template>default</"
                               "template><canGetOffAtTop value=\"false\"/>");
  const auto* t = one_extension<schema::LadderDef>(c);
  EXPECT_VEC3(*t->bottom(), 1, 2, 3);
  EXPECT_VEC3(*t->top(), 4, 5, 6);
  EXPECT_VEC3(*t->normal(), 7, 8, 9);
  EXPECT_EQ(t->material_type(), schema::LadderMaterial::WOODEN_LADDER);
  EXPECT_EQ(t->template_name(), h("default"));
  EXPECT_FALSE(t->can_get_off_at_top());
  EXPECT_TRUE(t->can_get_off_at_bottom());  // missing: true
}
TEST(Extensions, SpawnPoint) {
  const Compiled c =
      extension("CExtensionDefSpawnPoint",
                "<spawnType>st</spawnType><pedType>pt</pedType><group>g</group><interior>i</interior><requiredImap>ri</"
                "requiredImap><availableInMpSp>kOnlyMp</availableInMpSp>"
                "<probability value=\"0.5\"/><timeTillPedLeaves value=\"6\"/><radius value=\"7\"/><start "
                "value=\"8\"/><end value=\"24\"/><flags>IgnoreMaxInRange, IgnoreWeatherRestrictions</flags><highPri "
                "value=\"true\"/><extendedRange value=\"false\"/><shortRange value=\"true\"/>",
                true);
  const auto* t = one_extension<schema::SpawnPointDef>(c);
  expect_turn(t);
  EXPECT_EQ(t->spawn_type(), h("st"));
  EXPECT_EQ(t->ped_type(), h("pt"));
  EXPECT_EQ(t->group(), h("g"));
  EXPECT_EQ(t->interior(), h("i"));
  EXPECT_EQ(t->required_imap(), h("ri"));
  EXPECT_EQ(static_cast<int>(t->available_in_mp_sp()), 2);
  EXPECT_EQ(t->probability(), 0.5f);
  EXPECT_EQ(t->time_till_ped_leaves(), 6.f);
  EXPECT_EQ(t->radius(), 7.f);
  EXPECT_EQ(t->start_hour(), 8);
  EXPECT_EQ(t->end_hour(), 24);
  EXPECT_EQ(static_cast<uint32_t>(t->flags()), 0x40000001u);
  EXPECT_TRUE(t->high_pri());
  EXPECT_FALSE(t->extended_range());
  EXPECT_TRUE(t->short_range());
}
TEST(Extensions, SpawnPointOverride) {
  const Compiled c =
      extension("CExtensionDefSpawnPointOverride",
                "<ScenarioType>sc</ScenarioType><iTimeStartOverride value=\"3\"/><iTimeEndOverride "
                "value=\"4\"/><Group>gr</Group><ModelSet>ms</ModelSet><AvailabilityInMpSp>kOnlySp</"
                "AvailabilityInMpSp><Flags>NoSpawn</Flags><Radius value=\"5\"/><TimeTillPedLeaves value=\"6\"/>");
  const auto* t = one_extension<schema::SpawnPointOverrideDef>(c);
  EXPECT_EQ(t->scenario_type(), h("sc"));
  EXPECT_EQ(t->time_start_override(), 3);
  EXPECT_EQ(t->time_end_override(), 4);
  EXPECT_EQ(t->group(), h("gr"));
  EXPECT_EQ(t->model_set(), h("ms"));
  EXPECT_EQ(static_cast<int>(t->availability_in_mp_sp()), 1);
  EXPECT_EQ(static_cast<uint32_t>(t->flags()), 2u);
  EXPECT_EQ(t->radius(), 5.f);
  EXPECT_EQ(t->time_till_ped_leaves(), 6.f);
}
TEST(Extensions, Buoyancy) { one_extension<schema::BuoyancyDef>(extension("CExtensionDefBuoyancy", "")); }
TEST(Extensions, Expression) {
  const Compiled c = extension(
      "CExtensionDefExpression",
      "<expressionDictionaryName>ed</expressionDictionaryName><expressionName>en</"
      "expressionName><creatureMetadataName>cm</creatureMetadataName><initialiseOnCollision value=\"true\"/>");
  const auto* t = one_extension<schema::ExpressionDef>(c);
  EXPECT_EQ(t->expression_dictionary_name(), h("ed"));
  EXPECT_EQ(t->expression_name(), h("en"));
  EXPECT_EQ(t->creature_metadata_name(), h("cm"));
  EXPECT_TRUE(t->initialise_on_collision());
}
TEST(Extensions, WindDisturbance) {
  const Compiled c = extension("CExtensionDefWindDisturbance",
                               "<disturbanceType value=\"-1\"/><boneTag value=\"2\"/><size x=\"3\" y=\"4\" z=\"5\" "
                               "w=\"6\"/><strength value=\"7\"/><flags value=\"-8\"/>",
                               true);
  const auto* t = one_extension<schema::WindDisturbanceDef>(c);
  expect_turn(t);
  EXPECT_EQ(t->disturbance_type(), -1);
  EXPECT_EQ(t->bone_tag(), 2);
  EXPECT_EQ(t->size()->w(), 6.f);
  EXPECT_EQ(t->strength(), 7.f);
  EXPECT_EQ(t->flags(), -8);
}
TEST(Extensions, ProcObject) {
  const Compiled c =
      extension("CExtensionDefProcObject",
                "<radiusInner value=\"1\"/><radiusOuter value=\"2\"/><spacing value=\"3\"/><minScale "
                "value=\"4\"/><maxScale value=\"5\"/><minScaleZ value=\"6\"/><maxScaleZ value=\"7\"/><minZOffset "
                "value=\"-8\"/><maxZOffset value=\"9\"/><objectHash value=\"3000000000\"/><flags value=\"11\"/>");
  const auto* t = one_extension<schema::ProcObjectDef>(c);
  EXPECT_EQ(t->radius_inner(), 1.f);
  EXPECT_EQ(t->radius_outer(), 2.f);
  EXPECT_EQ(t->spacing(), 3.f);
  EXPECT_EQ(t->min_scale(), 4.f);
  EXPECT_EQ(t->max_scale(), 5.f);
  EXPECT_EQ(t->min_scale_z(), 6.f);
  EXPECT_EQ(t->max_scale_z(), 7.f);
  EXPECT_EQ(t->min_z_offset(), -8.f);
  EXPECT_EQ(t->max_z_offset(), 9.f);
  EXPECT_EQ(t->object_hash(), 3000000000u);
  EXPECT_EQ(t->flags(), 11u);
}
TEST(Extensions, LightShaft) {
  const Compiled c =
      extension("CExtensionDefLightShaft",
                "<cornerA x=\"1\" y=\"2\" z=\"3\"/><cornerB x=\"4\" y=\"5\" z=\"6\"/><cornerC x=\"7\" y=\"8\" "
                "z=\"9\"/><cornerD x=\"10\" y=\"11\" z=\"12\"/><direction x=\"13\" y=\"14\" z=\"15\"/>"
                "<directionAmount value=\"16\"/><length value=\"17\"/><fadeInTimeStart value=\"18\"/><fadeInTimeEnd "
                "value=\"19\"/><fadeOutTimeStart value=\"20\"/><fadeOutTimeEnd value=\"21\"/><fadeDistanceStart "
                "value=\"22\"/><fadeDistanceEnd value=\"23\"/>"
                "<color value=\"0x80706050\"/><intensity value=\"24\"/><flashiness value=\"9\"/><flags "
                "value=\"115\"/><densityType>LIGHTSHAFT_DENSITYTYPE_SOFT_SHADOW_HD</"
                "densityType><volumeType>LIGHTSHAFT_VOLUMETYPE_CYLINDER</volumeType><softness "
                "value=\"25\"/><scaleBySunIntensity value=\"true\"/>");
  const auto* t = one_extension<schema::LightShaftDef>(c);
  EXPECT_VEC3(*t->corner_a(), 1, 2, 3);
  EXPECT_VEC3(*t->corner_b(), 4, 5, 6);
  EXPECT_VEC3(*t->corner_c(), 7, 8, 9);
  EXPECT_VEC3(*t->corner_d(), 10, 11, 12);
  EXPECT_VEC3(*t->direction(), 13, 14, 15);
  EXPECT_EQ(t->direction_amount(), 16.f);
  EXPECT_EQ(t->length(), 17.f);
  EXPECT_EQ(t->fade_in_time_start(), 18.f);
  EXPECT_EQ(t->fade_in_time_end(), 19.f);
  EXPECT_EQ(t->fade_out_time_start(), 20.f);
  EXPECT_EQ(t->fade_out_time_end(), 21.f);
  EXPECT_EQ(t->fade_distance_start(), 22.f);
  EXPECT_EQ(t->fade_distance_end(), 23.f);
  EXPECT_EQ(t->color(), 0x80706050u);
  EXPECT_EQ(t->intensity(), 24.f);
  EXPECT_EQ(static_cast<int>(t->flashiness()), 9);
  EXPECT_EQ(static_cast<uint32_t>(t->flags()), 115u);
  EXPECT_EQ(static_cast<int>(t->density_type()), 3);
  EXPECT_EQ(static_cast<int>(t->volume_type()), 1);
  EXPECT_EQ(t->softness(), 25.f);
  EXPECT_TRUE(t->scale_by_sun_intensity());
}
TEST(Extensions, LightEffectWithEveryLane) {
  const Compiled c = extension(
      "CExtensionDefLightEffect",
      "<instances itemType=\"CLightAttrDef\"><Item><posn>1 2 3</posn><colour>4 5 6</colour><flashiness "
      "value=\"7\"/><intensity value=\"8\"/><flags value=\"9\"/><boneTag value=\"-10\"/><lightType value=\"4\"/>"
      "<groupId value=\"11\"/><timeFlags value=\"12\"/><falloff value=\"13\"/><falloffExponent "
      "value=\"14\"/><cullingPlane>15 16 17 18</cullingPlane><shadowBlur value=\"19\"/><padding1 "
      "value=\"20\"/><padding2 value=\"-21\"/><padding3 value=\"22\"/>"
      "<volIntensity value=\"23\"/><volSizeScale value=\"24\"/><volOuterColour>25 26 27</volOuterColour><lightHash "
      "value=\"28\"/><volOuterIntensity value=\"29\"/><coronaSize value=\"30\"/><volOuterExponent "
      "value=\"31\"/><lightFadeDistance value=\"32\"/>"
      "<shadowFadeDistance value=\"33\"/><specularFadeDistance value=\"34\"/><volumetricFadeDistance "
      "value=\"35\"/><shadowNearClip value=\"36\"/><coronaIntensity value=\"37\"/><coronaZBias "
      "value=\"38\"/><direction>39 40 41</direction><tangent>42 43 44</tangent>"
      "<coneInnerAngle value=\"45\"/><coneOuterAngle value=\"46\"/><extents>47 48 49</extents><projectedTextureKey "
      "value=\"50\"/></Item></instances>");
  const auto* t = one_extension<schema::LightEffectDef>(c);
  ASSERT_EQ(t->instances()->size(), 1u);
  const auto& l = *t->instances()->Get(0);
  EXPECT_VEC3(l.posn(), 1, 2, 3);
  EXPECT_EQ(l.colour().r(), 4);
  EXPECT_EQ(l.colour().g(), 5);
  EXPECT_EQ(l.colour().b(), 6);
  EXPECT_EQ(static_cast<int>(l.flashiness()), 7);
  EXPECT_EQ(l.intensity(), 8.f);
  EXPECT_EQ(static_cast<uint32_t>(l.flags()), 9u);
  EXPECT_EQ(l.bone_tag(), -10);
  EXPECT_EQ(static_cast<int>(l.light_type()), 4);
  EXPECT_EQ(l.group_id(), 11);
  EXPECT_EQ(static_cast<uint32_t>(l.time_flags()), 12u);
  EXPECT_EQ(l.falloff(), 13.f);
  EXPECT_EQ(l.falloff_exponent(), 14.f);
  EXPECT_EQ(l.culling_plane().x(), 15.f);
  EXPECT_EQ(l.culling_plane().w(), 18.f);
  EXPECT_EQ(l.shadow_blur(), 19);
  EXPECT_EQ(l.padding_1(), 20);
  EXPECT_EQ(l.padding_2(), -21);
  EXPECT_EQ(l.padding_3(), 22u);
  EXPECT_EQ(l.volume_intensity(), 23.f);
  EXPECT_EQ(l.volume_size_scale(), 24.f);
  EXPECT_EQ(l.volume_outer_colour().b(), 27);
  EXPECT_EQ(l.light_hash(), 28);
  EXPECT_EQ(l.volume_outer_intensity(), 29.f);
  EXPECT_EQ(l.corona_size(), 30.f);
  EXPECT_EQ(l.volume_outer_exponent(), 31.f);
  EXPECT_EQ(l.light_fade_distance(), 32);
  EXPECT_EQ(l.shadow_fade_distance(), 33);
  EXPECT_EQ(l.specular_fade_distance(), 34);
  EXPECT_EQ(l.volumetric_fade_distance(), 35);
  EXPECT_EQ(l.shadow_near_clip(), 36.f);
  EXPECT_EQ(l.corona_intensity(), 37.f);
  EXPECT_EQ(l.corona_z_bias(), 38.f);
  EXPECT_VEC3(l.direction(), 39, 40, 41);
  EXPECT_VEC3(l.tangent(), 42, 43, 44);
  EXPECT_EQ(l.cone_inner_angle(), 45.f);
  EXPECT_EQ(l.cone_outer_angle(), 46.f);
  EXPECT_VEC3(l.extents(), 47, 48, 49);
  EXPECT_EQ(l.projected_texture_key(), 50u);
}

TEST(MapTypes, ArchetypesOfAllKindsReadBack) {
  const Compiled c = compile_clean(kItyp, R"(<CMapTypes><extensions/><archetypes>
 <Item type="CBaseArchetypeDef"><lodDist value="1"/><flags value="4294967295"/><specialAttribute value="31"/><bbMin x="1" y="2" z="3"/><bbMax x="4" y="5" z="6"/><bsCentre x="7" y="8" z="9"/><bsRadius value="10"/>
  <hdTextureDist value="11"/><name>qa_base</name><textureDictionary>td</textureDictionary><clipDictionary>cd</clipDictionary><drawableDictionary>dd</drawableDictionary><physicsDictionary>pd</physicsDictionary><assetType>ASSET_TYPE_DRAWABLEDICTIONARY</assetType><assetName>an</assetName>
  <extensions><Item type="CExtensionDefBuoyancy"><name>b</name></Item></extensions></Item>
 <Item type="CTimeArchetypeDef"><name>qa_time</name><timeFlags value="15728671"/></Item>
 <Item type="CMloArchetypeDef"><name>qa_mlo</name><mloFlags value="256"/>
  <entities><Item type="CEntityDef"><archetypeName>in_a</archetypeName><extensions><Item type="CExtensionDefDoor"><name>d</name></Item></extensions></Item><Item type="CMloInstanceDef"><archetypeName>in_b</archetypeName><groupId value="5"/></Item></entities>
  <rooms><Item><name>limbo</name></Item><Item><name>hall</name><bbMin x="1" y="2" z="3"/><bbMax x="4" y="5" z="6"/><blend value="0.5"/><timecycleName>tn</timecycleName><secondaryTimecycleName>sn</secondaryTimecycleName><flags value="96"/><portalCount value="1"/><floorId value="-2"/><exteriorVisibiltyDepth value="-1"/><attachedObjects>0 1</attachedObjects></Item></rooms>
  <portals><Item><roomFrom value="1"/><roomTo value="0"/><flags value="8256"/><mirrorPriority value="3"/><opacity value="4"/><audioOcclusion value="4294967295"/><corners><Item>1, 2, 3</Item></corners><attachedObjects>1</attachedObjects></Item></portals>
  <entitySets><Item><name>qa_set</name><locations>0 2147483648</locations><entities><Item type="CEntityDef"><archetypeName>s_a</archetypeName></Item><Item type="CEntityDef"><archetypeName>s_b</archetypeName><extensions><Item type="CExtensionDefBuoyancy"><name>sb</name></Item></extensions></Item></entities></Item></entitySets>
  <timeCycleModifiers><Item><name>mt</name><sphere x="1" y="2" z="3" w="4"/><percentage value="5"/><range value="6"/><startHour value="7"/><endHour value="8"/></Item></timeCycleModifiers></Item>
 </archetypes><name>qa_types</name><dependencies><Item>dep</Item></dependencies>
 <compositeEntityTypes><Item><Name>ce</Name><lodDist value="1"/><flags value="2"/><specialAttribute value="3"/><bbMin x="1" y="2" z="3"/><bbMax x="4" y="5" z="6"/><bsCentre x="7" y="8" z="9"/><bsRadius value="4"/><StartModel>sm</StartModel><EndModel>em</EndModel><StartImapFile>si</StartImapFile><EndImapFile>ei</EndImapFile><PtFxAssetName>pa</PtFxAssetName>
  <Animations><Item><AnimDict>ad</AnimDict><AnimName>an</AnimName><AnimatedModel>am</AnimatedModel><punchInPhase value="0.25"/><punchOutPhase value="0.75"/><effectsData><Item><fxType value="1"/><fxOffsetPos x="1" y="2" z="3"/><fxOffsetRot x="0.1" y="0.2" z="0.3" w="0.4"/><boneTag value="4"/><startPhase value="5"/><endPhase value="6"/><ptFxIsTriggered value="true"/><ptFxTag>tag</ptFxTag><ptFxScale value="7"/><ptFxProbability value="8"/><ptFxHasTint value="true"/><ptFxTintR value="9"/><ptFxTintG value="10"/><ptFxTintB value="11"/><ptFxSize x="12" y="13" z="14"/></Item></effectsData></Item></Animations></Item></compositeEntityTypes></CMapTypes>)");
  const auto* t = root_of<MapTypes>(c);
  ASSERT_EQ(t->archetypes()->size(), 3u);
  const auto& a = *t->archetypes()->Get(0);
  EXPECT_EQ(a.lod_dist(), 1.f);
  EXPECT_EQ(static_cast<uint32_t>(a.flags()), 4294967295u);
  EXPECT_EQ(static_cast<uint32_t>(a.special_attribute()), 31u);
  EXPECT_VEC3(a.bb_min(), 1, 2, 3);
  EXPECT_VEC3(a.bb_max(), 4, 5, 6);
  EXPECT_VEC3(a.bs_centre(), 7, 8, 9);
  EXPECT_EQ(a.bs_radius(), 10.f);
  EXPECT_EQ(a.hd_texture_dist(), 11.f);
  EXPECT_EQ(a.name(), h("qa_base"));
  EXPECT_EQ(a.texture_dictionary(), h("td"));
  EXPECT_EQ(a.clip_dictionary(), h("cd"));
  EXPECT_EQ(a.drawable_dictionary(), h("dd"));
  EXPECT_EQ(a.physics_dictionary(), h("pd"));
  EXPECT_EQ(a.asset_type(), schema::AssetType::DRAWABLEDICTIONARY);
  EXPECT_EQ(a.asset_name(), h("an"));
  ASSERT_EQ(t->archetype_extensions()->size(), 1u);
  EXPECT_EQ(t->archetype_extensions()->Get(0)->owner(), 0u);
  ASSERT_EQ(t->time_archetypes()->size(), 1u);
  EXPECT_EQ(t->time_archetypes()->Get(0)->owner(), 1u);
  EXPECT_EQ(static_cast<uint32_t>(t->time_archetypes()->Get(0)->time_flags()), 15728671u);
  EXPECT_EQ(t->archetypes()->Get(1)->bs_radius(), 0.f);
  ASSERT_EQ(t->mlo_archetypes()->size(), 1u);
  const auto* m = t->mlo_archetypes()->Get(0);
  EXPECT_EQ(m->owner(), 2u);
  EXPECT_EQ(static_cast<uint32_t>(m->mlo_flags()), 256u);
  ASSERT_EQ(m->entities()->size(), 2u);
  EXPECT_EQ(m->entities()->Get(1)->archetype_name(), h("in_b"));
  EXPECT_EQ(m->mlo_instances()->Get(0)->owner(), 1u);
  EXPECT_EQ(m->mlo_instances()->Get(0)->group_id(), 5u);
  EXPECT_EQ(m->entity_extensions()->Get(0)->owner(), 0u);
  EXPECT_EQ(m->entity_extensions()->Get(0)->definition_as_DoorDef()->name(), h("d"));
  ASSERT_EQ(m->rooms()->size(), 2u);
  EXPECT_EQ(m->rooms()->Get(0)->name()->str(), "limbo");
  EXPECT_EQ(m->rooms()->Get(0)->blend(), 1.f);
  EXPECT_EQ(m->rooms()->Get(0)->exterior_visibility_depth(), -1);
  const auto* r = m->rooms()->Get(1);
  EXPECT_VEC3(*r->bb_min(), 1, 2, 3);
  EXPECT_VEC3(*r->bb_max(), 4, 5, 6);
  EXPECT_EQ(r->blend(), 0.5f);
  EXPECT_EQ(r->timecycle_name(), h("tn"));
  EXPECT_EQ(r->secondary_timecycle_name(), h("sn"));
  EXPECT_EQ(static_cast<uint32_t>(r->flags()), 96u);
  EXPECT_EQ(r->portal_count(), 1u);
  EXPECT_EQ(r->floor_id(), -2);
  EXPECT_EQ(r->exterior_visibility_depth(), -1);
  EXPECT_EQ(r->attached_objects()->Get(1), 1u);
  const auto* p = m->portals()->Get(0);
  EXPECT_EQ(p->room_from(), 1u);
  EXPECT_EQ(p->room_to(), 0u);
  EXPECT_EQ(static_cast<uint32_t>(p->flags()), 8256u);
  EXPECT_EQ(p->mirror_priority(), 3u);
  EXPECT_EQ(p->opacity(), 4u);
  EXPECT_EQ(p->audio_occlusion(), 4294967295u);
  EXPECT_VEC3(*p->corners()->Get(0), 1, 2, 3);
  EXPECT_EQ(p->attached_objects()->Get(0), 1u);
  const auto* s = m->entity_sets()->Get(0);
  EXPECT_EQ(s->name(), h("qa_set"));
  EXPECT_EQ(s->locations()->Get(1), 0x80000000u);
  EXPECT_EQ(s->entities()->Get(1)->archetype_name(), h("s_b"));
  EXPECT_EQ(s->entity_extensions()->Get(0)->owner(), 1u);
  const auto* tc = m->time_cycle_modifiers()->Get(0);
  EXPECT_EQ(tc->name(), h("mt"));
  EXPECT_EQ(tc->sphere().w(), 4.f);
  EXPECT_EQ(tc->percentage(), 5.f);
  EXPECT_EQ(tc->range(), 6.f);
  EXPECT_EQ(tc->start_hour(), 7u);
  EXPECT_EQ(tc->end_hour(), 8u);
  EXPECT_EQ(t->name(), h("qa_types"));
  EXPECT_EQ(t->dependencies()->Get(0), h("dep"));
  const auto* ce = t->composite_entity_types()->Get(0);
  EXPECT_EQ(ce->name()->str(), "ce");
  EXPECT_EQ(ce->bs_radius(), 4.f);
  EXPECT_EQ(ce->start_model()->str(), "sm");
  EXPECT_EQ(ce->end_imap_file(), h("ei"));
  const auto* an = ce->animations()->Get(0);
  EXPECT_EQ(an->anim_dict()->str(), "ad");
  EXPECT_EQ(an->punch_out_phase(), 0.75f);
  const auto* fx = an->effects_data()->Get(0);
  EXPECT_EQ(fx->fx_type(), 1u);
  EXPECT_EQ(fx->fx_offset_rot()->w(), 0.4f);
  EXPECT_TRUE(fx->pt_fx_is_triggered());
  EXPECT_EQ(fx->pt_fx_tag()->str(), "tag");
  EXPECT_EQ(fx->pt_fx_tint_b(), 11);
  EXPECT_VEC3(*fx->pt_fx_size(), 12, 13, 14);
  expect_round_trip(kItyp, c);
}

TEST(GameConfig, EverySectionReadsBackAndAbsentDiffersFromZero) {
  std::string lanes, lanes_base;
  for (int i = 0; i < 16; ++i) {
    lanes += "<VehicleSpacing_" + std::to_string(i) + " value=\"" + std::to_string(100 + i) + "\"/>";
    lanes_base += "<VehicleSpacing_" + std::to_string(i) + "_Base value=\"" + std::to_string(200 + i) + "\"/>";
  }
  const Compiled c = compile_clean(
      kGcfg,
      "<fwAllConfigs><ConfigArray><Item><Build>Any</Build><Platforms>x64</Platforms><Param>usefatcuts</"
      "Param><SubPlatforms>sp</SubPlatforms><Config type=\"CGameConfig\">"
      "<PoolSizes><Entries><Item><PoolName>Dummy Object</PoolName><PoolSize value=\"7\"/></Item></Entries></PoolSizes>"
      "<ConfigPopulation><ScenarioPedsMultiplier_Base value=\"1\"/><ScenarioPedsMultiplier "
      "value=\"0\"/><VehicleSpacing_Base>" +
          lanes_base + "</VehicleSpacing_Base><VehicleSpacing>" + lanes +
          "</VehicleSpacing></ConfigPopulation>"
          "<Config2dEffects><MaxAttrsAudio value=\"3\"/><hash_FC5DD116 "
          "value=\"4\"/></Config2dEffects><ConfigModelInfo><defaultPlayerName>player_one</"
          "defaultPlayerName><MaxMloInstances value=\"5\"/></ConfigModelInfo>"
          "<ConfigExtensions><MaxClothCollisionsExtensions "
          "value=\"6\"/></ConfigExtensions><ConfigStreamingEngine><VirtualStreamingBuffer "
          "value=\"0\"/></ConfigStreamingEngine>"
          "<UseVehicleBurnoutTexture>CB_TRUE</UseVehicleBurnoutTexture><DebugScriptsPath>p:\\x</DebugScriptsPath>"
          "<Threads><Item key=\"Update\"><Priority>PRIO_HIGHEST</Priority><CpuAffinity><Core value=\"0\"/><Core "
          "value=\"5\"/></CpuAffinity></Item></Threads>"
          "<ConfigOnlineServices><RosTitleName>gta</RosTitleName><SteamAppId "
          "value=\"271590\"/></ConfigOnlineServices><ConfigUGCDescriptions><MaxNumDescriptions "
          "value=\"8\"/></ConfigUGCDescriptions>"
          "<ConfigNetScriptBroadcastData><HostBroadcastData><Item><SizeOfData value=\"1\"/><MaxParticipants "
          "value=\"2\"/><NumInstances value=\"3\"/></Item></HostBroadcastData></ConfigNetScriptBroadcastData>"
          "<ConfigScriptStackSizes><StackSizeData><Item><StackName>MICRO</StackName><SizeOfStack "
          "value=\"128\"/><NumberOfStacksOfThisSize value=\"20\"/></Item></StackSizeData></ConfigScriptStackSizes>"
          "<ConfigScriptResourceExpectedMaximums><ExpectedMaximumsArray><Item><ResourceTypeName>PTFX</"
          "ResourceTypeName><ExpectedMaximum "
          "value=\"9\"/></Item></ExpectedMaximumsArray></ConfigScriptResourceExpectedMaximums>"
          "<ConfigScriptTextLines><ArrayOfMaximumTextLines><Item><NameOfScriptTextLine>TL</"
          "NameOfScriptTextLine><MaximumNumber value=\"10\"/></Item></ArrayOfMaximumTextLines></ConfigScriptTextLines>"
          "<ConfigMediaTranscoding><TranscodingSmallObjectBuffer "
          "value=\"4096\"/></ConfigMediaTranscoding></Config></Item></ConfigArray></fwAllConfigs>");
  const auto* item = root_of<GameConfigSet>(c)->config_array()->Get(0);
  EXPECT_EQ(item->build()->str(), "Any");
  EXPECT_EQ(item->platforms()->str(), "x64");
  EXPECT_EQ(item->param()->str(), "usefatcuts");
  EXPECT_EQ(item->sub_platforms()->str(), "sp");
  const auto* g = item->config();
  EXPECT_EQ(g->pool_sizes()->entries()->Get(0)->name(), h("dummy object"));
  EXPECT_EQ(g->pool_sizes()->entries()->Get(0)->size(), 7);
  EXPECT_EQ(g->population()->scenario_peds_multiplier_base(), 1);
  ASSERT_TRUE(g->population()->scenario_peds_multiplier().has_value());
  EXPECT_EQ(*g->population()->scenario_peds_multiplier(), 0);
  EXPECT_FALSE(g->population()->ambient_peds_multiplier().has_value());
  EXPECT_EQ(g->population()->vehicle_spacing()->lane0(), 100);
  EXPECT_EQ(g->population()->vehicle_spacing()->lane15(), 115);
  EXPECT_EQ(g->population()->vehicle_spacing_base()->lane10(), 210);
  EXPECT_EQ(g->population()->player_road_density_inc(), nullptr);
  EXPECT_EQ(g->effects_2d()->max_attrs_audio(), 3);
  EXPECT_EQ(g->effects_2d()->unnamed_fc5dd116(), 4);
  EXPECT_EQ(g->model_info()->default_player_name()->str(), "player_one");
  EXPECT_EQ(g->model_info()->max_mlo_instances(), 5);
  EXPECT_EQ(g->extensions()->max_cloth_collisions_extensions(), 6);
  ASSERT_TRUE(g->streaming_engine()->virtual_streaming_buffer().has_value());
  EXPECT_FALSE(g->streaming_engine()->archive_count().has_value());
  EXPECT_EQ(g->use_vehicle_burnout_texture()->str(), "CB_TRUE");
  EXPECT_EQ(g->debug_scripts_path()->str(), "p:\\x");
  EXPECT_EQ(g->threads()->Get(0)->key()->str(), "Update");
  EXPECT_EQ(g->threads()->Get(0)->priority()->str(), "PRIO_HIGHEST");
  EXPECT_EQ(g->threads()->Get(0)->cpu_affinity()->Get(1), 5);
  EXPECT_EQ(g->online_services()->ros_title_name()->str(), "gta");
  EXPECT_EQ(g->online_services()->steam_app_id(), 271590);
  EXPECT_EQ(g->ugc_descriptions()->max_num_descriptions(), 8);
  EXPECT_EQ(g->net_script_broadcast_data()->host_broadcast_data()->Get(0)->num_instances(), 3);
  EXPECT_EQ(g->script_stack_sizes()->stack_size_data()->Get(0)->stack_name(), h("micro"));
  EXPECT_EQ(g->script_resource_maximums()->expected_maximums()->Get(0)->expected_maximum(), 9);
  EXPECT_EQ(g->script_text_lines()->maximum_text_lines()->Get(0)->maximum_number(), 10);
  EXPECT_EQ(g->media_transcoding()->transcoding_small_object_buffer(), 4096);
  const std::string dump = expect_round_trip(kGcfg, c);
  EXPECT_FALSE(contains(dump, "AmbientPedsMultiplier"));
  EXPECT_FALSE(contains(dump, "PlayerRoadDensityInc"));
  EXPECT_TRUE(contains(dump, "<VehicleSpacing_15_Base value=\"215\" />")) << dump;
}

TEST(Manifest, EveryPartReadsBack) {
  const Compiled c = compile_clean(
      kYmfm,
      "<CPackFileMetaData><MapDataGroups><Item><Name>grp</Name><Bounds><Item>b1</Item><Item>b2</Item></"
      "Bounds><Flags>TIME_DEPENDENT, "
      "WEATHER_DEPENDENT</Flags><WeatherTypes><Item>RAIN</Item></WeatherTypes><HoursOnOff "
      "value=\"255\"/></Item></MapDataGroups>"
      "<HDTxdBindingArray><Item><assetType>AT_DWD</assetType><targetAsset>Ta</targetAsset><HDTxd>Hd+hi</HDTxd></Item></"
      "HDTxdBindingArray>"
      "<imapDependencies><Item><imapName>i</imapName><itypName>t</itypName><packFileName>p</packFileName></Item></"
      "imapDependencies>"
      "<imapDependencies_2><Item><imapName>i2</imapName><manifestFlags>INTERIOR_DATA</"
      "manifestFlags><itypDepArray><Item>t1</Item><Item>t2</Item></itypDepArray></Item></imapDependencies_2>"
      "<itypDependencies_2><Item><itypName>t3</itypName><manifestFlags/><itypDepArray><Item>t4</Item></itypDepArray></"
      "Item></itypDependencies_2>"
      "<Interiors><Item><Name>in</Name><Bounds><Item>b3</Item></Bounds></Item></Interiors></CPackFileMetaData>");
  const auto* m = root_of<PackFileMetaData>(c);
  const auto* g = m->map_data_groups()->Get(0);
  EXPECT_EQ(g->name(), h("grp"));
  EXPECT_EQ(g->bounds()->Get(1), h("b2"));
  EXPECT_EQ(static_cast<int>(g->flags()), 3);
  EXPECT_EQ(g->weather_types()->Get(0), h("rain"));
  EXPECT_EQ(static_cast<uint32_t>(g->hours_on_off()), 255u);
  const auto* hd = m->hd_txd_bindings()->Get(0);
  EXPECT_EQ(static_cast<int>(hd->asset_type()), 2);
  EXPECT_EQ(hd->target_asset()->str(), "Ta");
  EXPECT_EQ(hd->hd_txd()->str(), "Hd+hi");
  EXPECT_EQ(m->imap_dependencies()->Get(0)->pack_file_name(), h("p"));
  EXPECT_EQ(m->imap_dependencies_2()->Get(0)->ityp_dep_array()->Get(1), h("t2"));
  EXPECT_EQ(static_cast<int>(m->imap_dependencies_2()->Get(0)->manifest_flags()), 1);
  EXPECT_EQ(m->ityp_dependencies_2()->Get(0)->ityp_name(), h("t3"));
  EXPECT_EQ(m->interiors()->Get(0)->bounds()->Get(0), h("b3"));
  expect_round_trip(kYmfm, c);
}

// --- the container ---------------------------------------------------------------------------------------------------

TEST(Resource, Fmt13InfoStandsBehindThePayloadAndNamesNothingOfTheMachine) {
  CompileOptions options;
  options.stem = "qa_stem";
  const Compiled c = compile(
      kImap, "<CMapData><parent>QA_Parent</parent><entities>" + entity("<qaOdd/>") + "</entities></CMapData>", options);
  const Result<ResourceSections> s = read_sections(c.bytes());
  ASSERT_TRUE(s.ok());
  EXPECT_EQ(s.value().trailer.kind, kImap);
  EXPECT_EQ((s.value().info.data() - c.bytes().data()) % 16, 0);
  const auto* info = flatbuffers::GetRoot<schema::ResourceInfo>(s.value().info.data());
  EXPECT_GE(info->format_version(), 1u);
  ASSERT_EQ(info->names()->size(), 3u);  // qa_stem, QA_Parent, qa_box
  for (unsigned i = 1; i < 3; ++i) EXPECT_LT(info->names()->Get(i - 1)->hash(), info->names()->Get(i)->hash());
  EXPECT_EQ(info->names()->LookupByKey(h("qa_parent"))->text()->str(), "QA_Parent");
  ASSERT_EQ(info->kept()->size(), 1u);
  EXPECT_EQ(info->kept()->Get(0)->path()->str(), "entities[0]");
  EXPECT_EQ(info->kept()->Get(0)->text()->str(), "<qaOdd/>");
  EXPECT_EQ(info->schema(), nullptr);
  const std::string_view bytes(reinterpret_cast<const char*>(c.result.bytes.data()), c.result.bytes.size());
  EXPECT_FALSE(contains(bytes, "qa.xml"));
}

TEST(Resource, Fmt11KeptNamesStayWithoutTheNamesTable) {
  CompileOptions options;
  options.names = false;
  const Compiled c = compile(kImap, one_entity("<qaOdd>some_name</qaOdd>"), options);
  const auto loaded = load(c.result.bytes);
  EXPECT_TRUE(loaded->names.empty());
  const std::string dump = tools::dump_xml(*loaded);
  EXPECT_TRUE(contains(dump, "<qaOdd>some_name</qaOdd>"));
  EXPECT_FALSE(contains(dump, "qa_box"));
  expect_round_trip(*tools::Binding::builtin(kImap), c, options);
}

TEST(Resource, AnEmbeddedSchemaVerifiesAndChangesNoPayload) {
  CompileOptions options;
  const Compiled plain = compile(kImap, one_entity(""));
  options.embed_schema = true;
  const Compiled c = compile(kImap, one_entity(""), options);
  const auto s = read_sections(c.bytes());
  const auto* info = flatbuffers::GetRoot<schema::ResourceInfo>(s.value().info.data());
  ASSERT_NE(info->schema(), nullptr);
  EXPECT_TRUE(open_resource(c.bytes()).ok());
  const auto p = read_sections(plain.bytes());
  EXPECT_TRUE(std::equal(s.value().payload.begin(), s.value().payload.end(), p.value().payload.begin(),
                         p.value().payload.end()));
}

TEST(Resource, TheSameMeaningGivesTheSameBytes) {
  const Compiled a = compile(kImap, one_entity("<lodDist value=\"60\"/><scaleXY value=\"1\"/>"));
  const Compiled b = compile(kImap,
                             "<?xml version=\"1.0\"?>\n<CMapData>\n  <entities>\n    <Item type=\"CEntityDef\">\n "
                             "<lodDist value=\"60.000\"/>\n <archetypeName>\n "
                             "qa_box\n</archetypeName></Item>\n</entities><name>qa_map</name><!-- c --></CMapData>");
  EXPECT_TRUE(a.result.bytes == b.result.bytes);
}

// --- P084, FMT-23: too large -----------------------------------------------------------------------------------------

TEST(Fmt001, P084NamesTheArrayToSplitAndTheEstimate) {
  std::string items;
  for (int i = 0; i < 1000; ++i) items += entity("");
  const std::string xml = entities(items);
  CompileOptions options;
  options.limits.max_resource_bytes = 50000;  // 1000 entities of 84 bytes do not fit
  const Compiled c = compile(kImap, xml, options);
  ASSERT_EQ(c.diagnostics.size(), 1u) << c.all();
  EXPECT_EQ(c.diagnostics[0].rule->code, "FMT001");
  EXPECT_EQ(c.diagnostics[0].severity, tools::Severity::error);
  EXPECT_TRUE(contains(c.diagnostics[0].message, "entities")) << c.all();
  EXPECT_TRUE(c.result.bytes.empty());
  // The estimate in the message is near what it really takes.
  const size_t real = compile(kImap, xml).result.bytes.size();
  const size_t digits = c.diagnostics[0].message.find_first_of("0123456789");
  const double estimate = std::stod(c.diagnostics[0].message.substr(digits));
  EXPECT_GT(estimate, 0.9 * static_cast<double>(real));
  EXPECT_LT(estimate, 1.1 * static_cast<double>(real) + 1000);
  // Near miss: exactly what it takes.
  options.limits.max_resource_bytes = real;
  EXPECT_EQ(compile(kImap, xml, options).all(), "");
  options.limits.max_resource_bytes = real - 1;
  EXPECT_TRUE(compile(kImap, xml, options).result.has_errors());
}

TEST(Fmt001, Fmt23NamesTheArrayWhateverItHolds) {
  const auto message = [](uint32_t kind, const std::string& xml) {
    CompileOptions options;
    options.limits.max_resource_bytes = 1000;
    const Compiled c = compile(kind, xml, options);
    EXPECT_TRUE(c.result.has_errors());
    return c.messages();
  };
  std::string manifest, extensions, verts, text, names;
  for (int i = 0; i < 500; ++i) {
    manifest += "<Item><imapName>a</imapName><itypName>b</itypName></Item>";
    extensions += "<Item type=\"CExtensionDefBuoyancy\"><name>n</name></Item>";
    verts += "AA BB CC ";
    names += "<Item>n" + std::to_string(i) + "</Item>";
  }
  EXPECT_TRUE(contains(
      message(kYmfm, "<CPackFileMetaData><imapDependencies>" + manifest + "</imapDependencies></CPackFileMetaData>"),
      "imapDependencies"));
  EXPECT_TRUE(contains(message(kImap, with_extension(extensions)), "entities"))
      << message(kImap, with_extension(extensions));
  EXPECT_TRUE(contains(
      message(kImap, map_of("<occludeModels><Item><verts>" + verts + "</verts></Item></occludeModels>")), "verts"));
  EXPECT_TRUE(contains(message(kImap, map_of("<physicsDictionaries>" + names + "</physicsDictionaries>")),
                       "physicsDictionaries"));
}

TEST(Fmt001, KeptXmlAndNamesCountToo) {
  CompileOptions options;
  options.limits.max_resource_bytes = 20000;
  EXPECT_TRUE(compile(kImap, map_of("<qaOdd>" + std::string(30000, 'x') + "</qaOdd>"), options).result.has_errors());
}

// --- P091: what is in a struct can always be changed in place --------------------------------------------------------

TEST(P091, DefaultValuedMembersOfStructsAreStoredAndCanBeChanged) {
  Compiled c = compile_clean(kImap, one_entity(""));
  auto* e = const_cast<schema::EntityDef*>(root_of<MapData>(c)->entities()->Get(0));
  e->mutate_flags(static_cast<schema::EntityFlags>(32));
  e->mutable_position().mutate_x(5);
  EXPECT_EQ(static_cast<uint32_t>(e->flags()), 32u);
  EXPECT_EQ(e->position().x(), 5.f);
}

TEST(Compile, CancelledGivesNoBytes) {
  const std::atomic<bool> yes{true};
  CompileOptions options;
  options.cancel = &yes;
  std::string items;
  for (int i = 0; i < 3000; ++i) items += entity("");
  const Compiled c = compile(kImap, entities(items), options);
  EXPECT_TRUE(c.result.cancelled);
  EXPECT_TRUE(c.result.bytes.empty());
}

TEST(Compile, StatsCount) {
  const Compiled c = compile(kImap, entities(entity("") + entity("")));
  EXPECT_EQ(c.result.stats.source_bytes, c.source->text().size());
  EXPECT_EQ(c.result.stats.resource_bytes, c.result.bytes.size());
  EXPECT_EQ(c.result.stats.elements, 7u);  // CMapData, name, entities, 2 Items, 2 archetypeNames
  EXPECT_EQ(c.result.stats.items, 2u);
  EXPECT_EQ(c.result.stats.names, 2u);
}

TEST(SniffRoot, SkipsWhatStandsBefore) {
  using tools::sniff_root;
  EXPECT_EQ(sniff_root("<?xml ?><!-- <a> --><!DOCTYPE x><CMapData/>"), "CMapData");
  EXPECT_EQ(sniff_root(" \n<CMapData>"), "CMapData");
  EXPECT_EQ(sniff_root("<CMapData a='1'>"), "CMapData");
  EXPECT_EQ(sniff_root(""), "");
  EXPECT_EQ(sniff_root("<!-- open"), "");
  EXPECT_EQ(sniff_root("text"), "");
}

TEST(SniffBinary, NamesWhatItIs) {
  using tools::sniff_binary;
  EXPECT_TRUE(contains(sniff_binary("RSC7\x02"), "RSC7"));
  EXPECT_TRUE(contains(sniff_binary("PSIN...."), "PSO"));
  const Compiled c = compile(kImap, "<CMapData/>");
  EXPECT_TRUE(contains(sniff_binary({reinterpret_cast<const char*>(c.result.bytes.data()), c.result.bytes.size()}),
                       "Meridian"));
  EXPECT_EQ(sniff_binary("<CMapData/>"), "");
  EXPECT_EQ(sniff_binary(std::string_view("\xFF\xFE<\0", 4)), "");
  EXPECT_EQ(sniff_binary(""), "");
}

}  // namespace
}  // namespace meridian::test
