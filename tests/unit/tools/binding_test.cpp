// SPDX-License-Identifier: MIT
// Plans of the built-in schemas (FMT-2): names, order, sizes and defaults as the schema files say.
#include "meridian/tools/binding.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <thread>

#include "meridian/resource/fingerprint.h"
#include "support/compile_kit.h"

namespace meridian::test {
namespace {

using tools::Binding;
using tools::FieldPlan;
using tools::TypePlan;

const TypePlan& type(uint32_t kind, std::string_view name) {
  for (const auto& t : Binding::builtin(kind)->types())
    if (t->name == name) return *t;
  ADD_FAILURE() << name;
  return Binding::builtin(kind)->root();
}

TEST(Binding, AllBuiltInSchemasBind) {
  for (const auto& [kind, root, extension] : {std::tuple{kImap, "CMapData", "imap"},
                                              {kItyp, "CMapTypes", "ityp"},
                                              {kGcfg, "fwAllConfigs", "gcfg"},
                                              {kYmfm, "CPackFileMetaData", "ymfm"}}) {
    const Binding* b = Binding::builtin(kind);
    ASSERT_NE(b, nullptr);
    EXPECT_EQ(b->root().xml, root);
    EXPECT_EQ(b->extension(), extension);
    EXPECT_EQ(b->kind(), kind);
    EXPECT_EQ(b->layout_fingerprint(), find_builtin_schema(kind)->layout_fingerprint);
    EXPECT_EQ(b->schema_fingerprint(), find_builtin_schema(kind)->schema_fingerprint);
  }
  EXPECT_EQ(Binding::builtin(kind_of("NOPE")), nullptr);
}

TEST(Binding, IsMadeOnceForAllThreads) {
  std::vector<std::thread> threads;
  std::array<const Binding*, 8> got{};
  for (size_t i = 0; i < got.size(); ++i) threads.emplace_back([&got, i] { got[i] = Binding::builtin(kItyp); });
  for (std::thread& t : threads) t.join();
  for (const Binding* b : got) EXPECT_EQ(b, got[0]);
}

TEST(Binding, EntityMembersStandInTheOrderOfTheFormat) {
  const char* names[] = {"archetypeName",
                         "flags",
                         "guid",
                         "position",
                         "rotation",
                         "scaleXY",
                         "scaleZ",
                         "parentIndex",
                         "lodDist",
                         "childLodDist",
                         "lodLevel",
                         "numChildren",
                         "priorityLevel",
                         "ambientOcclusionMultiplier",
                         "artificialAmbientOcclusion",
                         "tintValue"};
  const TypePlan& e = type(kImap, "EntityDef");
  ASSERT_EQ(e.fields.size(), std::size(names));
  for (size_t i = 0; i < e.fields.size(); ++i) EXPECT_EQ(e.fields[i].xml, names[i]);
  EXPECT_EQ(e.xml, "CEntityDef");
  EXPECT_EQ(e.noun, "entity");
  EXPECT_TRUE(e.is_struct);
  EXPECT_EQ(e.size, 84u);
}

TEST(Binding, StructDefaultsAreTheAuthoringOnes) {
  const TypePlan& e = type(kImap, "EntityDef");
  const auto value = [&](std::string_view name) {
    for (const FieldPlan& f : e.fields)
      if (f.name == name) {
        float v;
        std::memcpy(&v, e.default_struct.data() + f.offset, 4);
        return v;
      }
    return -99.f;
  };
  EXPECT_EQ(value("scale_xy"), 1.f);
  EXPECT_EQ(value("lod_dist"), -1.f);
  EXPECT_EQ(value("child_lod_dist"), 0.f);
}

TEST(Binding, EveryNameOfEveryTypeIsFoundAndNoOther) {
  for (const uint32_t kind : {kImap, kItyp, kGcfg, kYmfm})
    for (const auto& t : Binding::builtin(kind)->types()) {
      std::set<std::string> seen;
      for (size_t i = 0; i < t->fields.size(); ++i) {
        const FieldPlan& f = t->fields[i];
        if (!f.in_xml || f.is_xml_attribute) continue;
        bool alias = true;
        EXPECT_EQ(t->find(f.xml, alias), static_cast<int>(i)) << t->name << "." << f.xml;
        EXPECT_FALSE(alias);
        EXPECT_TRUE(seen.insert(f.xml).second) << t->name << " has two members '" << f.xml << "'";
        for (const std::string& a : f.aliases) {
          EXPECT_EQ(t->find(a, alias), static_cast<int>(i));
          EXPECT_TRUE(alias);
        }
        bool dummy = false;
        EXPECT_EQ(t->find(f.xml + "x", dummy), -1);
      }
      bool dummy = false;
      EXPECT_EQ(t->find("", dummy), -1);
    }
}

// Fillers, owners and hoisted vectors have no element of their own.
TEST(Binding, WhatStandsInNoXmlIsNotFound) {
  bool alias = false;
  EXPECT_EQ(type(kImap, "CarGen").find("pad0", alias), -1);
  EXPECT_EQ(type(kImap, "MloInstanceDef").find("owner", alias), -1);
  EXPECT_EQ(type(kImap, "MapData").find("mlo_instances", alias), -1);
  EXPECT_EQ(type(kImap, "MapData").find("extensions", alias), -1);
  EXPECT_EQ(type(kImap, "Extension").find("definition", alias), -1);
}

// SCHEMA 1: every struct member that the format names is there, with the name's exact case.
TEST(Binding, NamesOfTheFormat) {
  const auto has = [](uint32_t kind, std::string_view t, std::initializer_list<const char*> names) {
    for (const char* n : names) {
      bool alias = true;
      EXPECT_GE(type(kind, t).find(n, alias), 0) << t << "." << n;
      EXPECT_FALSE(alias) << n;
    }
  };
  has(kImap, "MapData",
      {"name", "parent", "flags", "contentFlags", "streamingExtentsMin", "streamingExtentsMax", "entitiesExtentsMin",
       "entitiesExtentsMax", "entities", "containerLods", "boxOccluders", "occludeModels", "physicsDictionaries",
       "instancedData", "timeCycleModifiers", "carGenerators", "LODLightsSOA", "DistantLODLightsSOA", "block"});
  has(kItyp, "MloRoomDef",
      {"name", "bbMin", "bbMax", "blend", "timecycleName", "secondaryTimecycleName", "flags", "portalCount", "floorId",
       "exteriorVisibiltyDepth", "attachedObjects"});
  has(kItyp, "MloPortalDef",
      {"roomFrom", "roomTo", "flags", "mirrorPriority", "opacity", "audioOcclusion", "corners", "attachedObjects"});
  has(kImap, "LightAttrDef",
      {"posn",
       "colour",
       "flashiness",
       "intensity",
       "flags",
       "boneTag",
       "lightType",
       "groupId",
       "timeFlags",
       "falloff",
       "falloffExponent",
       "cullingPlane",
       "shadowBlur",
       "padding1",
       "padding2",
       "padding3",
       "volIntensity",
       "volSizeScale",
       "volOuterColour",
       "lightHash",
       "volOuterIntensity",
       "coronaSize",
       "volOuterExponent",
       "lightFadeDistance",
       "shadowFadeDistance",
       "specularFadeDistance",
       "volumetricFadeDistance",
       "shadowNearClip",
       "coronaIntensity",
       "coronaZBias",
       "direction",
       "tangent",
       "coneInnerAngle",
       "coneOuterAngle",
       "extents",
       "projectedTextureKey"});
  // 4.4: 34 pairs and three without a base.
  EXPECT_EQ(type(kGcfg, "PopulationConfig").fields.size(), 71u);
}

}  // namespace
}  // namespace meridian::test
