// SPDX-License-Identifier: MIT
// Reading XML: READ-1, READ-2, READ-3 and READ-6 sentence by sentence, and the rules XML001 to XML013, NAM001 to
// NAM003, ARC004 and CFG002 to CFG004 with their places. A '@' in a source is where a finding is expected
// (compile_kit.h).
#include "xml_reader.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>

#include "meridian/base/name_hash.h"
#include "meridian/schemas/gameconfig_generated.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "meridian/schemas/manifest_generated.h"
#include "support/compile_kit.h"

namespace meridian::test {
namespace {

using schema::GameConfigSet;
using schema::MapData;
using schema::MapTypes;
using tools::CompileOptions;

const schema::EntityDef& first_entity(const Compiled& c) { return *root_of<MapData>(c)->entities()->Get(0); }
uint32_t archetype_of(std::string_view text) {
  const Compiled c = compile(kImap, map_of("<entities><Item type=\"CEntityDef\"><archetypeName>" + std::string(text) +
                                           "</archetypeName></Item></entities>"));
  return c.result.bytes.empty() ? 0xDEAD : first_entity(c).archetype_name();
}
const schema::LodLightsSoa& lights(const Compiled& c) { return *root_of<MapData>(c)->lod_lights_soa(); }

// --- READ-1: names ---------------------------------------------------------------------------------------------------

TEST(Read1Names, PublishedHashes) {
  // SCHEMA 3.6: published values of the lower-cased names.
  EXPECT_EQ(archetype_of("a"), 0xCA2E9442u);
  EXPECT_EQ(archetype_of("adder"), 0xB779A091u);
  EXPECT_EQ(archetype_of("ADDER"), 0xB779A091u);
  EXPECT_EQ(archetype_of("Dummy Object"), 0xF17288D6u);
  EXPECT_EQ(archetype_of("AnimStore"), 0x938C2EA1u);
  EXPECT_EQ(archetype_of("CWeaponComponentInfo"), 0xBAE33CCFu);
  EXPECT_EQ(archetype_of("NoAmbientmult"), 2633803310u);
  EXPECT_EQ(archetype_of("INT_NoAmbientMult"), 2003616884u);
}

TEST(Read1Names, HashLiteralsAreTakenAsTheyAre) {
  EXPECT_EQ(archetype_of("hash_1A2B3C4D"), 0x1A2B3C4Du);
  EXPECT_EQ(archetype_of("hash_ab"), 0xABu);
  EXPECT_EQ(archetype_of("0x1a2B3c4D"), 0x1A2B3C4Du);
  EXPECT_EQ(archetype_of("0x1"), 1u);
  EXPECT_EQ(archetype_of("\n   hash_1A2B3C4D\n  "), 0x1A2B3C4Du);
}

TEST(Read1Names, WhatIsNoHashLiteralIsTextAndWarned) {
  for (const char* text : {"hash_123456789", "hash_xyz", "hash_", "0x123456789", "0xZZ"}) {
    const Compiled c = expect_found(kImap,
                                    map_of("<entities><Item type=\"CEntityDef\"><archetypeName>@" + std::string(text) +
                                           "</archetypeName></Item></entities>"),
                                    {"warning NAM002"});
    EXPECT_EQ(first_entity(c).archetype_name(), hash_name(text).value) << text;
  }
}

TEST(Read1Names, DecimalNamesAreTextAndHashed) {
  EXPECT_EQ(archetype_of("123456"), hash_name("123456").value);
  EXPECT_EQ(archetype_of("0"), hash_name("0").value);
}

TEST(Read1Names, Utf8BytesAreHashedWithOnlyAsciiLowered) {
  EXPECT_EQ(archetype_of("\xC3\x84x"), hash_name("\xC3\x84x").value);
  expect_found(
      kImap,
      map_of("<entities><Item type=\"CEntityDef\"><archetypeName>@qa_\xC3\xA4</archetypeName></Item></entities>"),
      {"warning NAM002"});
}

TEST(Read1Names, LayoutIsTrimmedButABlankOnTheTextsOwnLineBelongsToTheName) {
  EXPECT_EQ(archetype_of("\n    qa_box\n  "), hash_name("qa_box").value);
  EXPECT_EQ(archetype_of("\r\n\tqa_box\r\n"), hash_name("qa_box").value);
  const Compiled before = expect_found(
      kImap, map_of("<entities><Item type=\"CEntityDef\"><archetypeName>@ qa_box</archetypeName></Item></entities>"),
      {"warning NAM002"});
  EXPECT_EQ(first_entity(before).archetype_name(), hash_name(" qa_box").value);
  const Compiled behind = expect_found(
      kImap, map_of("<entities><Item type=\"CEntityDef\"><archetypeName>\n @qa_box </archetypeName></Item></entities>"),
      {"warning NAM002"});
  EXPECT_EQ(first_entity(behind).archetype_name(), hash_name("qa_box ").value);
}

TEST(Nam002, CopiesOfModellingToolsAndCapitals) {
  const auto name = [](std::string_view marked) {
    return map_of("<entities><Item type=\"CEntityDef\"><archetypeName>" + std::string(marked) +
                  "</archetypeName></Item></entities>");
  };
  expect_found(kImap, name("@qa_barrel.001"), {"warning NAM002"});
  expect_found(kImap, name("@qa_barrel.model"), {"warning NAM002"});
  expect_found(kImap, name("@qa barrel"), {"warning NAM002"});
  expect_found(kImap, name("@QA_Barrel"), {"note NAM002"});
  expect_found(kImap, name("qa_barrel_001"), {});
  expect_found(kImap, name("qa_barrel.v2x"), {});
}

TEST(Nam003, MissingIsAnErrorAtTheParentEmptyIsAWarning) {
  expect_found(kImap,
               "<CMapData><name>m</name><entities>\n <@Item type=\"CEntityDef\"><position x=\"0\" y=\"0\" "
               "z=\"0\"/></Item></entities></CMapData>",
               {"error NAM003"});
  const Compiled c = expect_found(
      kImap,
      "<CMapData><name>m</name><entities><Item type=\"CEntityDef\"><@archetypeName/></Item></entities></CMapData>",
      {"warning NAM003"});
  EXPECT_EQ(first_entity(c).archetype_name(), 0u);
  expect_found(kImap,
               "<CMapData><name>m</name><entities><Item type=\"CEntityDef\"><@archetypeName> \n "
               "</archetypeName></Item></entities></CMapData>",
               {"warning NAM003"});
  expect_found(kImap,
               "<CMapData><name>m</name><instancedData><GrassInstanceList><@Item><lodDist "
               "value=\"3\"/></Item></GrassInstanceList></instancedData></CMapData>",
               {"error NAM003"});
  expect_found(kItyp,
               "<CMapTypes><name>t</name><archetypes><@Item type=\"CBaseArchetypeDef\"><flags "
               "value=\"0\"/></Item></archetypes></CMapTypes>",
               {"error NAM003"});
  // The near miss: an entity whose name is a literal 0 or a word.
  expect_found(kImap, entities(entity("")), {});
}

TEST(Nam001, P038TwoNamesWithOneHashAreToldWithBothPlaces) {
  const Compiled c = expect_found(kItyp,
                                  "<CMapTypes><name>t</name><archetypes>\n"
                                  "<Item type=\"CBaseArchetypeDef\"><name>qa_coral_wall_401</name></Item>\n"
                                  "<Item type=\"CBaseArchetypeDef\"><name>@qa_maple_pipe_090</name></Item>\n"
                                  "</archetypes></CMapTypes>",
                                  {"error NAM001"});
  ASSERT_EQ(c.diagnostics.size(), 1u);
  EXPECT_TRUE(contains(c.messages(), "qa_coral_wall_401"));
  EXPECT_TRUE(contains(c.messages(), "qa_maple_pipe_090"));
  ASSERT_EQ(c.diagnostics[0].related.size(), 1u);
  EXPECT_EQ(c.diagnostics[0].related[0].line, 2u);
  EXPECT_EQ(c.diagnostics[0].related[0].column, 38u);
}

TEST(Nam001, CaseAloneAndALiteralAreNoCollision) {
  expect_found(kItyp,
               types_of("<Item "
                        "type=\"CBaseArchetypeDef\"><name>qa_x</name><assetName>QA_X</"
                        "assetName><clipDictionary>hash_C87100DB</clipDictionary>"
                        "<textureDictionary>qa_coral_wall_401</textureDictionary></Item>"),
               {});
}

// --- READ-1: values --------------------------------------------------------------------------------------------------

TEST(Read1Values, AScalarMayBeTextAndTextMayBeAValue) {
  const Compiled c = compile_clean(
      kImap,
      entities("<Item type=\"CEntityDef\"><archetypeName value=\"qa_v\"/><lodDist>12.5</lodDist><flags> 7 </flags>"
               "<lodLevel value=\"LODTYPES_DEPTH_SLOD2\"/></Item>"));
  EXPECT_EQ(first_entity(c).archetype_name(), hash_name("qa_v").value);
  EXPECT_EQ(first_entity(c).lod_dist(), 12.5f);
  EXPECT_EQ(static_cast<uint32_t>(first_entity(c).flags()), 7u);
  EXPECT_EQ(first_entity(c).lod_level(), schema::LodLevel::SLOD2);
  const std::string dump = expect_round_trip(kImap, c);
  EXPECT_TRUE(contains(dump, "<archetypeName>qa_v</archetypeName>")) << dump;
  EXPECT_TRUE(contains(dump, "<lodDist value=\"12.5\" />")) << dump;
  EXPECT_TRUE(contains(dump, "<lodLevel>LODTYPES_DEPTH_SLOD2</lodLevel>")) << dump;
}

TEST(Read1Values, VectorsAsAttributesInAnyOrder) {
  const Compiled c = compile_clean(
      kImap, one_entity("<rotation w=\"0.5\" z=\"0.4\" y=\"0.3\" x=\"0.2\"/><position z='3' x='1' y='2'/>"));
  EXPECT_EQ(first_entity(c).rotation().x(), 0.2f);
  EXPECT_EQ(first_entity(c).rotation().w(), 0.5f);
  EXPECT_EQ(first_entity(c).position().x(), 1.f);
  EXPECT_EQ(first_entity(c).position().z(), 3.f);
}

TEST(Read1Values, BooleansInAnyCaseOrAsDigits) {
  for (const auto& [text, value] :
       {std::pair{"true", true}, {"TRUE", true}, {"1", true}, {"False", false}, {"0", false}}) {
    const Compiled c =
        compile_clean(kImap, with_extension("<Item type=\"CExtensionDefDoor\"><name>d</name><startsLocked value=\"" +
                                            std::string(text) + "\"/></Item>"));
    EXPECT_EQ(root_of<MapData>(c)->entity_extensions()->Get(0)->definition_as_DoorDef()->starts_locked(), value)
        << text;
  }
  expect_found(kImap,
               with_extension("<Item type=\"CExtensionDefDoor\"><name>d</name><canBreak value=\"@yes\"/></Item>"),
               {"error XML012"});
  expect_found(kImap, with_extension("<Item type=\"CExtensionDefDoor\"><name>d</name><canBreak value=\"@2\"/></Item>"),
               {"error XML012"});
}

TEST(Read1Values, ColourWithPrefixOrLettersIsHexElseDecimal) {
  const auto colour = [](std::string_view text) {
    const Compiled c =
        compile_clean(kImap, with_extension("<Item type=\"CExtensionDefLightShaft\"><name>d</name><color value=\"" +
                                            std::string(text) + "\"/></Item>"));
    return root_of<MapData>(c)->entity_extensions()->Get(0)->definition_as_LightShaftDef()->color();
  };
  EXPECT_EQ(colour("0xFF2040C0"), 0xFF2040C0u);
  EXPECT_EQ(colour("FF2040C0"), 0xFF2040C0u);
  EXPECT_EQ(colour("ff"), 0xFFu);
  EXPECT_EQ(colour("12345678"), 12345678u);
  EXPECT_EQ(colour("4294967295"), 0xFFFFFFFFu);
  EXPECT_EQ(colour("0x10"), 0x10u);
  expect_found(kImap,
               with_extension("<Item type=\"CExtensionDefLightShaft\"><name>d</name><color value=\"@0xZZ\"/></Item>"),
               {"error XML005"});
  expect_found(
      kImap,
      with_extension("<Item type=\"CExtensionDefLightShaft\"><name>d</name><color value=\"@4294967296\"/></Item>"),
      {"error XML006"});
}

std::string occluder(std::string_view verts, int size) {
  return map_of("<occludeModels><Item><dataSize value=\"" + std::to_string(size) + "\"/>" + std::string(verts) +
                "</Item></occludeModels>");
}
std::vector<uint8_t> verts_of(const Compiled& c) {
  const auto* v = root_of<MapData>(c)->occlude_models()->Get(0)->verts();
  return v == nullptr ? std::vector<uint8_t>() : std::vector<uint8_t>(v->begin(), v->end());
}

TEST(Read1Values, VertsAreHexPairsUnlessTheDecimalCountIsDataSize) {
  using V = std::vector<uint8_t>;
  EXPECT_EQ(verts_of(compile_clean(kImap, occluder("<verts>0A ff\n10</verts>", 3))), (V{0x0A, 0xFF, 0x10}));
  EXPECT_EQ(verts_of(compile_clean(kImap, occluder("<verts content=\"char_array\">10\n200\n0</verts>", 3))),
            (V{10, 200, 0}));
  // Two digits each, but the count says that they are pairs.
  EXPECT_EQ(verts_of(compile_clean(kImap, occluder("<verts content=\"char_array\">10 20</verts>", 2))), (V{10, 20}));
  EXPECT_EQ(verts_of(compile_clean(kImap, occluder("<verts content=\"char_array\">1020</verts>", 2))), (V{0x10, 0x20}));
  EXPECT_EQ(verts_of(compile_clean(kImap, occluder("<verts content=\"char_array\">10 20</verts>", 7))),
            (V{0x10, 0x20}));
  // Without content: hex, whatever the count is.
  EXPECT_EQ(verts_of(compile_clean(kImap, occluder("<verts>10 20</verts>", 2))), (V{0x10, 0x20}));
  expect_found(kImap, occluder("<verts>0A 11\n @0G</verts>", 3), {"error XML005"});
  expect_found(kImap, occluder("<verts>0A @1</verts>", 2), {"error XML005"});
}

TEST(Read1Values, DataSizeMayStandBehindVertsOrAsText) {
  using V = std::vector<uint8_t>;
  EXPECT_EQ(verts_of(compile_clean(kImap, map_of("<occludeModels><Item><verts content=\"char_array\">10 "
                                                 "20</verts><dataSize value=\"2\"/></Item></occludeModels>"))),
            (V{10, 20}));
  EXPECT_EQ(verts_of(compile_clean(kImap, map_of("<occludeModels><Item><verts content=\"char_array\">10 "
                                                 "20</verts><dataSize>2</dataSize></Item></occludeModels>"))),
            (V{10, 20}));
}

TEST(Read1Values, NumberArraysInEveryLayout) {
  for (const char* text :
       {"<falloff>1 2.5 3</falloff>", "<falloff>\n 1\n 2.5\n 3\n</falloff>",
        "<falloff content=\"float_array\">\r\n1 2.5\r\n3\r\n</falloff>",
        "<falloff content='float_array'>1\t2.5\n3</falloff>", "<falloff>1 <!-- c -->2.5<!-- c --> 3</falloff>",
        "<falloff>1 <![CDATA[2.5 3]]></falloff>"}) {
    const Compiled c = compile_clean(kImap, map_of("<LODLightsSOA>" + std::string(text) + "</LODLightsSOA>"));
    const auto* v = lights(c).falloff();
    ASSERT_TRUE(v != nullptr) << text;
    EXPECT_EQ(std::vector<float>(v->begin(), v->end()), (std::vector<float>{1, 2.5f, 3})) << text;
  }
  const Compiled c =
      compile_clean(kImap, map_of("<LODLightsSOA><coronaIntensity content=\"char_array\">0 128 "
                                  "255</coronaIntensity><hash>0xFFFFFFFF 4294967295</hash></LODLightsSOA>"));
  EXPECT_EQ(lights(c).corona_intensity()->Get(2), 255);
  EXPECT_EQ(lights(c).hash()->Get(0), 0xFFFFFFFFu);
  EXPECT_EQ(lights(c).hash()->Get(1), 0xFFFFFFFFu);
}

TEST(Read1Values, EmptyElementsAndSelfClosingArrays) {
  const Compiled c = compile_clean(
      kImap,
      "<CMapData><name>m</name><parent/><entities "
      "itemType=\"CEntityDef\"/><boxOccluders></boxOccluders><physicsDictionaries>\n</physicsDictionaries>"
      "<LODLightsSOA><falloff/><direction/></LODLightsSOA></CMapData>");
  EXPECT_EQ(root_of<MapData>(c)->parent(), 0u);
}

TEST(Read1Values, PortalCornersOfEitherDialect) {
  const auto corners = [](std::string_view text) {
    const Compiled c = compile_clean(
        kItyp, types_of(archetype("<portals><Item>" + std::string(text) + "</Item></portals>", "CMloArchetypeDef")));
    std::vector<float> out;
    for (const schema::Vec3* v : *root_of<MapTypes>(c)->mlo_archetypes()->Get(0)->portals()->Get(0)->corners()) {
      out.insert(out.end(), {v->x(), v->y(), v->z()});
    }
    return out;
  };
  const std::vector<float> expected{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_EQ(
      corners(
          "<corners><Item>1, 2, 3</Item><Item>4, 5, 6</Item><Item>7,8,9</Item><Item> 10 , 11 , 12 </Item></corners>"),
      expected);
  EXPECT_EQ(corners("<corners><Item>1, 2, 3, 99</Item><Item>4, 5, 6, 99</Item><Item>7, 8, 9, 0</Item><Item>10, 11, 12, "
                    "1</Item></corners>"),
            expected);
  EXPECT_EQ(corners("<corners content=\"vector3_array\">\n1 2 3\n4 5 6\n7 8 9\n10 11 12\n</corners>"), expected);
  EXPECT_EQ(
      corners(
          "<corners content=\"vector3_array\">\r\n 1 2 3 99\r\n 4 5 6 99\r\n 7 8 9 99\r\n 10 11 12 99\r\n</corners>"),
      expected);
  EXPECT_EQ(corners("<corners content=\"vector3_array\">1 2 3\t4 5 6 7 8 9 10 11 12</corners>"), expected);
  EXPECT_EQ(corners("<corners><Item x=\"1\" y=\"2\" z=\"3\"/><Item x=\"4\" y=\"5\" z=\"6\"/><Item x=\"7\" y=\"8\" "
                    "z=\"9\"/><Item x=\"10\" y=\"11\" z=\"12\"/></corners>"),
            expected);
}

TEST(Read1Values, AFourthCornerNumberIsIgnoredWhateverItIs) {
  // SCHEMA 0.4: the padding word, often NaN-like garbage; w is ignored.
  const Compiled c = compile(
      kItyp,
      types_of(archetype(
          "<portals><Item><corners><Item>1, 2, 3, NaN</Item><Item>1, 2, 3, -1.#QNAN</Item></corners></Item></portals>",
          "CMloArchetypeDef")));
  EXPECT_EQ(c.all(), "");
}

TEST(Read1Values, CommentsAnywhere) {
  const Compiled c =
      compile_clean(kImap,
                    "<!-- a --><?xml version=\"1.0\"?><!-- b -->\n<CMapData><!-- c --><name><!-- d -->qa<!-- e "
                    "-->_m</name><entities><!-- f -->"
                    "<Item type=\"CEntityDef\"><!-- g --><archetypeName>qa_box</archetypeName><lodDist><!-- h "
                    "-->12<!-- i --></lodDist></Item><!-- <Item/> --></entities></CMapData><!-- z -->");
  EXPECT_EQ(root_of<MapData>(c)->name(), hash_name("qa_m").value);
  EXPECT_EQ(root_of<MapData>(c)->entities()->size(), 1u);
  EXPECT_EQ(first_entity(c).lod_dist(), 12.f);
}

TEST(Read1Values, ForeignAttributesThatSayNothingAreNotWarnedAbout) {
  compile_clean(
      kImap,
      "<CMapData xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><name>m</name><parent xsi:nil=\"true\"/>"
      "<entities itemType=\"CEntityDef\"/><LODLightsSOA><hash "
      "content=\"int_array\">1</hash></LODLightsSOA></CMapData>");
}

TEST(Read1Values, EntityReferencesAndCdata) {
  const Compiled c = compile(kImap, map_of("<block><exportedBy>a &lt;b&gt; &amp; &quot;c&quot; "
                                           "&#65;&#x42;</exportedBy><owner><![CDATA[<x> & y]]></owner></block>"));
  EXPECT_EQ(c.all(), "");
  EXPECT_EQ(root_of<MapData>(c)->block()->exported_by()->str(), "a <b> & \"c\" AB");
  EXPECT_EQ(root_of<MapData>(c)->block()->owner()->str(), "<x> & y");
}

TEST(Read1Values, SourcesWithBomAndUtf16) {
  const std::string xml = entities(entity(""));
  const std::vector<uint8_t> plain = compile_clean(kImap, xml).result.bytes;
  EXPECT_EQ(compile_clean(kImap, "\xEF\xBB\xBF" + xml).result.bytes, plain);
  std::string le = "\xFF\xFE", be = "\xFE\xFF";
  for (const char c : xml) {
    le += c;
    le += '\0';
    be += '\0';
    be += c;
  }
  EXPECT_EQ(compile_clean(kImap, le).result.bytes, plain);
  EXPECT_EQ(compile_clean(kImap, be).result.bytes, plain);
}

TEST(Read1Values, LineEndsDoNotMatter) {
  const std::string lf =
      "<CMapData>\n<name>\nqa_m\n</name>\n<entities>\n<Item "
      "type=\"CEntityDef\">\n<archetypeName>qa_b</archetypeName>\n</Item>\n</entities>\n<LODLightsSOA><falloff>\n1 "
      "2\n3\n</falloff></LODLightsSOA>\n</CMapData>\n";
  std::string crlf, cr;
  for (const char c : lf) {
    crlf += c == '\n' ? "\r\n" : std::string(1, c);
    cr += c == '\n' ? '\r' : c;
  }
  const auto plain = compile_clean(kImap, lf).result.bytes;
  EXPECT_EQ(compile_clean(kImap, crlf).result.bytes, plain);
  EXPECT_EQ(compile_clean(kImap, cr).result.bytes, plain);
}

// --- READ-2: what is unknown -----------------------------------------------------------------------------------------

TEST(Xml002, P055UnknownElementsNameTheNearestOne) {
  const Compiled c = expect_found(kImap, one_entity("<@lodDst value=\"50\"/>"), {"warning XML002"});
  EXPECT_TRUE(contains(c.messages(), "entity 0")) << c.all();
  EXPECT_TRUE(contains(c.messages(), "'lodDst'")) << c.all();
  EXPECT_TRUE(contains(c.messages(), "'lodDist'")) << c.all();
  EXPECT_EQ(first_entity(c).lod_dist(), -1.f);
  expect_found(kImap, one_entity("<lodDist value=\"50\"/>"), {});
}

TEST(Xml002, NamesAreCaseSensitive) {
  expect_found(kImap, one_entity("<@Position x=\"1\" y=\"2\" z=\"3\"/>"), {"warning XML002"});
  expect_found(kImap,
               with_extension("<Item type=\"CExtensionDefSpawnPointOverride\"><name>n</name><@radius "
                              "value=\"1\"/><Radius value=\"2\"/></Item>"),
               {"warning XML002"});
}

TEST(Xml002, AliasesAreReadWithAWarning) {
  const Compiled c = expect_found(
      kImap, with_extension("<Item type=\"@CExtensionProcObject\"><name>n</name><spacing value=\"2\"/></Item>"),
      {"warning XML002"});
  EXPECT_EQ(root_of<MapData>(c)->entity_extensions()->Get(0)->definition_as_ProcObjectDef()->spacing(), 2.f);
  const Compiled e = expect_found(
      kImap,
      with_extension(
          "<Item "
          "type=\"CExtensionDefExpression\"><name>n</name><@creatureMetadataname>cm</creatureMetadataname></Item>"),
      {"warning XML002"});
  EXPECT_EQ(root_of<MapData>(e)->entity_extensions()->Get(0)->definition_as_ExpressionDef()->creature_metadata_name(),
            hash_name("cm").value);
  const Compiled f = expect_found(
      kImap,
      with_extension("<Item type=\"CExtensionDefSpawnPointOverride\"><name>n</name><@flags>NoSpawn</flags></Item>"),
      {"warning XML002"});
  EXPECT_EQ(static_cast<uint32_t>(
                root_of<MapData>(f)->entity_extensions()->Get(0)->definition_as_SpawnPointOverrideDef()->flags()),
            2u);
}

TEST(Xml002, StrayTextInAContainerIsKept) {
  const Compiled c =
      expect_found(kImap,
                   "<CMapData>@oops<name>m</name><entities>@ah<Item "
                   "type=\"CEntityDef\">@hm<archetypeName>q</archetypeName></Item></entities></CMapData>",
                   {"warning XML002", "warning XML002", "warning XML002"});
  const std::string dump = expect_round_trip(kImap, c);
  for (const char* text : {"oops", "ah", "hm"}) EXPECT_TRUE(contains(dump, text)) << dump;
}

TEST(Xml002, UnknownAttributesAreKept) {
  const Compiled c = expect_found(
      kImap,
      "<CMapData @qa=\"1\"><name @qb=\"2\">m</name><entities @qc=\"3\"><Item @qd=\"4\" "
      "type=\"CEntityDef\"><archetypeName>q</archetypeName>"
      "<position x=\"1\" y=\"2\" z=\"3\" @w=\"4\"/><lodDist value=\"5\" @qe=\"5\"/></Item></entities></CMapData>",
      {"warning XML002", "warning XML002", "warning XML002", "warning XML002", "warning XML002", "warning XML002"});
  const std::string dump = expect_round_trip(kImap, c);
  for (const char* text : {"<CMapData qa=\"1\">", "<name qb=\"2\">m</name>", "<entities qc=\"3\">", "qd=\"4\"",
                           "<position x=\"1\" y=\"2\" z=\"3\" w=\"4\" />", "<lodDist value=\"5\" qe=\"5\" />"})
    EXPECT_TRUE(contains(dump, text)) << text << "\n" << dump;
}

TEST(Xml003, P009UnknownExtensionIsKeptAndWrittenBack) {
  const Compiled c =
      expect_found(kImap, with_extension("<Item type=\"@QaUnknownExt\"><name>foo</name><level value=\"3\"/></Item>"),
                   {"warning XML003"});
  EXPECT_TRUE(contains(c.messages(), "entity 0")) << c.all();
  EXPECT_TRUE(contains(c.messages(), "'QaUnknownExt'")) << c.all();
  const auto* e = root_of<MapData>(c)->entity_extensions()->Get(0);
  ASSERT_EQ(e->definition_type(), schema::ExtensionDef::UnknownExtension);
  EXPECT_EQ(e->definition_as_UnknownExtension()->type(), hash_type("QaUnknownExt").value);
  const std::string dump = expect_round_trip(kImap, c);
  EXPECT_TRUE(contains(dump, "<Item type=\"QaUnknownExt\"><name>foo</name><level value=\"3\"/></Item>")) << dump;
}

TEST(Xml003, KeptBetweenKnownOnesInTheirOrder) {
  const Compiled c =
      compile(kImap, with_extension("<Item type=\"CExtensionDefBuoyancy\"><name>one</name></Item><Item "
                                    "type=\"QaTwo\"/><Item type=\"CExtensionDefBuoyancy\"><name>three</name></Item>"));
  const auto* v = root_of<MapData>(c)->entity_extensions();
  ASSERT_EQ(v->size(), 3u);
  EXPECT_EQ(v->Get(1)->definition_type(), schema::ExtensionDef::UnknownExtension);
  EXPECT_EQ(v->Get(2)->definition_as_BuoyancyDef()->name(), hash_name("three").value);
  const std::string dump = expect_round_trip(kImap, c);
  EXPECT_LT(dump.find("one"), dump.find("QaTwo"));
  EXPECT_LT(dump.find("QaTwo"), dump.find("three"));
}

TEST(Xml003, AnItemWithoutTypeOrWithAnEmptyOne) {
  expect_round_trip(kImap, expect_found(kImap, with_extension("<@Item><name>x</name></Item>"), {"warning XML003"}));
  expect_round_trip(kImap, compile(kImap, with_extension("<Item type=\"\"><name>x</name></Item>")));
  expect_round_trip(kImap, compile(kImap, with_extension("<Item type=\"NULL\"/>")));
}

TEST(Xml003, StrictMakesXml002AndXml003Errors) {
  tools::DiagnosticPolicy strict;
  strict.set_strict(true);
  const auto& binding = *tools::Binding::builtin(kImap);
  for (const std::string& xml :
       {with_extension("<Item type=\"QaUnknownExt\"/>"), one_entity("<lodDst value=\"50\"/>")}) {
    const Compiled c = compile_with(binding, xml, {}, strict);
    ASSERT_EQ(c.diagnostics.size(), 1u);
    EXPECT_EQ(c.diagnostics[0].severity, tools::Severity::error);
  }
}

TEST(Xml004, TheFirstOneWinsAndTheSecondIsNamed) {
  const Compiled c = expect_found(
      kImap, one_entity("<lodDist value=\"60\"/><flags value=\"32\"/><@lodDist value=\"200\"/>"), {"warning XML004"});
  EXPECT_EQ(first_entity(c).lod_dist(), 60.f);
  const Compiled t =
      expect_found(kImap,
                   "<CMapData><name>a</name><flags value=\"1\"/><@name>b</name><entities/><@entities><Item "
                   "type=\"CEntityDef\"><archetypeName>q</archetypeName></Item></entities></CMapData>",
                   {"warning XML004", "warning XML004"});
  EXPECT_EQ(root_of<MapData>(t)->name(), hash_name("a").value);
  EXPECT_EQ(root_of<MapData>(t)->entities(), nullptr);
  expect_found(kImap, one_entity("<extensions/><@extensions/>"), {"warning XML004"});
  expect_found(kGcfg,
               config_of("<ConfigPopulation><VehicleSpacing><VehicleSpacing_0 value=\"1\"/><@VehicleSpacing_0 "
                         "value=\"2\"/></VehicleSpacing></ConfigPopulation>"),
               {"warning XML004"});
  // Repeated children of an array are elements, not duplicates.
  expect_found(kImap, entities(entity("") + entity("")), {});
}

// --- READ-2: numbers -------------------------------------------------------------------------------------------------

TEST(Xml005, P016DecimalCommaAndOtherNoNumbers) {
  const Compiled c = expect_found(kImap, one_entity("<position x=\"@12,5\" y=\"0\" z=\"3\"/>"), {"error XML005"});
  EXPECT_TRUE(contains(c.messages(), "position.x")) << c.all();
  EXPECT_TRUE(contains(c.messages(), "'12,5'")) << c.all();
  EXPECT_TRUE(contains(c.messages(), "'.'")) << c.all();
  expect_found(kImap, one_entity("<lodDist value=\"@12abc\"/><guid value=\"@x\"/><scaleXY value=\"@\"/><@scaleZ/>"),
               {"error XML005", "error XML005", "error XML005", "error XML005"});
  expect_found(kImap, one_entity("<position x=\"12.5\" y=\" 0 \" z=\"+3\"/>"), {});
}

TEST(Xml005, EachBadNumberOfAnArrayHasItsOwnPlace) {
  expect_found(kImap, map_of("<LODLightsSOA><falloff>\n 1 @x 2\n @1,5\n</falloff></LODLightsSOA>"),
               {"error XML005", "error XML005"});
  expect_found(kImap,
               map_of("<LODLightsSOA><direction><Item><x value=\"1\"/><y value=\"@b\"/><z "
                      "value=\"3\"/></Item></direction></LODLightsSOA>"),
               {"error XML005"});
}

TEST(Places, HoldWithCarriageReturns) {
  expect_found(kImap,
               "<CMapData>\r\n<name>m</name>\r\n<LODLightsSOA>\r\n<falloff>\r\n1 2\r\n3 "
               "@bad\r\n</falloff>\r\n</LODLightsSOA>\r\n</CMapData>",
               {"error XML005"});
  expect_found(kImap,
               "<CMapData>\r\n<name>m</name>\r\n<entities>\r\n<Item type=\"CEntityDef\">\r\n<archetypeName>\r\n   "
               "@qa_b.001\r\n</archetypeName></Item></entities></CMapData>",
               {"warning NAM002"});
  expect_found(
      kImap,
      "<CMapData>\r<name>m</name>\r<LODLightsSOA>\r<falloff>\r1 2\r3 @bad\r</falloff>\r</LODLightsSOA>\r</CMapData>",
      {"error XML005"});
}

TEST(Places, HoldBehindCommentsAndReferences) {
  expect_found(kImap, map_of("<LODLightsSOA><hash>1 2 <!-- c -->@x</hash></LODLightsSOA>"), {"error XML005"});
  expect_found(kImap, map_of("<LODLightsSOA><hash>1&#32;2&#32;@x</hash></LODLightsSOA>"), {"error XML005"});
  expect_found(
      kImap,
      map_of(
          "<entities><Item type=\"CEntityDef\"><archetypeName><!-- c -->@qa_b.001</archetypeName></Item></entities>"),
      {"warning NAM002"});
  expect_found(kImap, one_entity("<!-- \xC3\xA4 --><lodDist value=\"@x\"/>"), {"error XML005"});
}

TEST(Places, TextPointsAtItsFirstCharacterThatIsNoBlank) {
  expect_found(kImap, one_entity("<lodDist>\n   @x</lodDist>"), {"error XML005"});
  expect_found(kImap, one_entity("<lodLevel>\n   @x</lodLevel>"), {"error XML012"});
  expect_found(kImap, one_entity("<lodDist value=\"@x\"/>"), {"error XML005"});
}

TEST(Places, AByteOrderMarkCountsForNoColumn) {
  const Compiled c = compile(kImap, "\xEF\xBB\xBF<CMapData a=\"1\"><name>m</name></CMapData>");
  ASSERT_EQ(c.places(), (std::vector<std::string>{"1:11 warning XML002"}));
}

TEST(Xml006, P023OutOfRangeIntegers) {
  expect_found(kImap, one_entity("<guid value=\"@4294967296\"/><parentIndex value=\"@2147483648\"/>"),
               {"error XML006", "error XML006"});
  expect_found(kImap, one_entity("<guid value=\"@-1\"/>"), {"error XML006"});
  expect_found(
      kImap,
      map_of("<carGenerators><Item><livery value=\"@128\"/></Item></carGenerators><boxOccluders><Item><iCenterX "
             "value=\"@32768\"/></Item></boxOccluders>"),
      {"error XML006", "error XML006"});
  expect_found(kImap, map_of("<LODLightsSOA><coronaIntensity>1 @256</coronaIntensity></LODLightsSOA>"),
               {"error XML006"});
  const Compiled c =
      expect_found(kImap, entities(entity("<guid value=\"4294967291\"/>") + entity("<guid value=\"16777217\"/>")), {});
  EXPECT_EQ(root_of<MapData>(c)->entities()->Get(0)->guid(), 4294967291u);
  EXPECT_EQ(root_of<MapData>(c)->entities()->Get(1)->guid(), 16777217u);
  const std::string dump = expect_round_trip(kImap, c);
  EXPECT_TRUE(contains(dump, "4294967291"));
  EXPECT_TRUE(contains(dump, "16777217"));
}

TEST(Xml007, P051NanInfAndOverflow) {
  expect_found(kImap,
               one_entity("<position x=\"@nan\" y=\"0\" z=\"0\"/><lodDist value=\"@1e39\"/><scaleXY "
                          "value=\"@inf\"/><flags value=\"@4294967296\"/>"),
               {"error XML007", "error XML007", "error XML007", "error XML006"});
  expect_found(kImap, one_entity("<lodDist value=\"@0.5e999\"/>"), {"error XML007"});
  expect_found(kImap, one_entity("<lodDist value=\"3.4e38\"/>"), {});
}

TEST(Xml007, UnderflowIsZeroWithANote) {
  const Compiled c = expect_found(kImap, one_entity("<lodDist value=\"@1e-46\"/><childLodDist value=\"@-1e-60\"/>"),
                                  {"note XML007", "note XML007"});
  EXPECT_EQ(first_entity(c).lod_dist(), 0.f);
  EXPECT_TRUE(std::signbit(first_entity(c).child_lod_dist()));
}

TEST(Xml008, WholeFloatsAreWarnedFractionsAreErrors) {
  const Compiled c = expect_found(kImap, one_entity("<guid value=\"@1e3\"/><numChildren value=\"@12.0\"/>"),
                                  {"warning XML008", "warning XML008"});
  EXPECT_EQ(first_entity(c).guid(), 1000u);
  EXPECT_EQ(first_entity(c).num_children(), 12u);
  expect_found(kImap, one_entity("<numChildren value=\"@2.5\"/>"), {"error XML008"});
  expect_found(kImap, one_entity("<guid value=\"0x20\"/><numChildren value=\"+7\"/>"), {});
}

TEST(Numbers, TheSignOfMinusZeroSurvives) {
  const Compiled c = compile_clean(kImap, one_entity("<position x=\"-0.000000\" y=\"0\" z=\"-0\"/>"));
  EXPECT_TRUE(std::signbit(first_entity(c).position().x()));
  EXPECT_FALSE(std::signbit(first_entity(c).position().y()));
  expect_round_trip(kImap, c);
}

// --- READ-2: enumerations --------------------------------------------------------------------------------------------

TEST(Xml012, P029UnknownWordsAreErrorsWithTheKnownOnes) {
  const Compiled c = expect_found(kImap, one_entity("<lodLevel>@LODTYPES_DEPTH_HDD</lodLevel>"), {"error XML012"});
  EXPECT_TRUE(contains(c.messages(), "LODTYPES_DEPTH_HD?")) << c.all();
  for (const char* known : {"LODTYPES_DEPTH_HD", "LODTYPES_DEPTH_LOD", "LODTYPES_DEPTH_SLOD1", "LODTYPES_DEPTH_SLOD2",
                            "LODTYPES_DEPTH_SLOD3", "LODTYPES_DEPTH_ORPHANHD", "LODTYPES_DEPTH_SLOD4"})
    EXPECT_TRUE(contains(c.messages(), known)) << known;
  expect_found(kImap, one_entity("<priorityLevel>@REQUIRED</priorityLevel>"), {"error XML012"});
}

TEST(Xml012, ADecimalNumberIsAcceptedForAnEnum) {
  const Compiled c = compile_clean(kImap, one_entity("<lodLevel>6</lodLevel><priorityLevel value=\"3\"/>"));
  EXPECT_EQ(first_entity(c).lod_level(), schema::LodLevel::SLOD4);
  EXPECT_EQ(first_entity(c).priority_level(), schema::PriorityLevel::OPTIONAL_LOW);
}

TEST(Xml012, UnknownNumbersAreKeptInOpenEnumsAndRefusedInClosedOnes) {
  const Compiled c = expect_found(kItyp, types_of(archetype("<specialAttribute value=\"@77\"/>")), {"note XML012"});
  EXPECT_EQ(static_cast<uint32_t>(root_of<MapTypes>(c)->archetypes()->Get(0)->special_attribute()), 77u);
  EXPECT_TRUE(contains(expect_round_trip(kItyp, c), "<specialAttribute value=\"77\" />"));
  expect_found(kItyp, types_of(archetype("<specialAttribute value=\"4\"/>")), {});
  expect_found(
      kImap, with_extension("<Item type=\"CExtensionDefParticleEffect\"><name>n</name><fxType value=\"@88\"/></Item>"),
      {"note XML012"});
  expect_found(
      kImap, with_extension("<Item type=\"CExtensionDefLightShaft\"><name>n</name><flashiness value=\"@99\"/></Item>"),
      {"note XML012"});
  expect_found(kImap, map_of("<DistantLODLightsSOA><category value=\"@9\"/></DistantLODLightsSOA>"), {"note XML012"});
  // Closed: lodLevel, priorityLevel, assetType, ladder, light shaft, availability, HDTxd.
  expect_found(kImap, one_entity("<lodLevel>@7</lodLevel><priorityLevel>@4</priorityLevel>"),
               {"error XML012", "error XML012"});
  expect_found(kItyp, types_of(archetype("<assetType>@5</assetType>")), {"error XML012"});
  expect_found(
      kImap, with_extension("<Item type=\"CExtensionDefLadder\"><name>n</name><materialType>@3</materialType></Item>"),
      {"error XML012"});
  expect_found(kImap,
               with_extension("<Item "
                              "type=\"CExtensionDefLightShaft\"><name>n</name><densityType>@8</"
                              "densityType><volumeType>@2</volumeType></Item>"),
               {"error XML012", "error XML012"});
  expect_found(kImap,
               with_extension(
                   "<Item type=\"CExtensionDefSpawnPoint\"><name>n</name><availableInMpSp>@3</availableInMpSp></Item>"),
               {"error XML012"});
  expect_found(kYmfm,
               "<CPackFileMetaData><HDTxdBindingArray><Item><assetType>@4</assetType></Item></HDTxdBindingArray></"
               "CPackFileMetaData>",
               {"error XML012"});
}

TEST(Xml012, FlagNames) {
  const auto flags = [](std::string_view text) {
    return with_extension("<Item type=\"CExtensionDefSpawnPoint\"><name>n</name><flags>" + std::string(text) +
                          "</flags></Item>");
  };
  const auto value = [&](std::string_view text) {
    return static_cast<uint32_t>(root_of<MapData>(compile_clean(kImap, flags(text)))
                                     ->entity_extensions()
                                     ->Get(0)
                                     ->definition_as_SpawnPointDef()
                                     ->flags());
  };
  EXPECT_EQ(value("NoSpawn, InWater"), (1u << 1) | (1u << 16));
  EXPECT_EQ(value("InWater,NoSpawn"), (1u << 1) | (1u << 16));
  EXPECT_EQ(value("IgnoreMaxInRange"), 1u);
  EXPECT_EQ(value("IgnoreWeatherRestrictions"), 1u << 30);
  EXPECT_EQ(value(""), 0u);
  EXPECT_EQ(value("65538"), 65538u);
  EXPECT_EQ(value("\n  NoSpawn,\n  InWater\n"), (1u << 1) | (1u << 16));
  expect_found(kImap, flags("NoSpawn, @NoSpwan"), {"error XML012"});
  expect_found(kImap, flags("@nospawn"), {"error XML012"});
}

TEST(Xml002, ThreadPrioritiesAndSwitchWordsAreStoredAsNames) {
  const Compiled c = expect_found(
      kGcfg,
      config_of(
          "<UseVehicleBurnoutTexture>CB_TRUE</UseVehicleBurnoutTexture><AllowParachuting>@CB_MAYBE</AllowParachuting>"
          "<Threads><Item key=\"Update\"><Priority>PRIO_HIGHEST</Priority></Item><Item "
          "key=\"Render\"><Priority>@PRIO_ODD</Priority></Item></Threads>"),
      {"warning XML002", "warning XML002"});
  const auto* config = root_of<GameConfigSet>(c)->config_array()->Get(0)->config();
  EXPECT_EQ(config->allow_parachuting()->str(), "CB_MAYBE");
  EXPECT_EQ(config->threads()->Get(1)->priority()->str(), "PRIO_ODD");
  EXPECT_EQ(config->threads()->Get(0)->key()->str(), "Update");
}

// --- READ-2: what is missing -----------------------------------------------------------------------------------------

TEST(Read2Missing, AuthoringDefaultsOfAnEntity) {
  const Compiled c = compile_clean(kImap, one_entity(""));  // the entity lies in its bytes
  const schema::EntityDef& e = first_entity(c);
  EXPECT_EQ(e.scale_xy(), 1.f);
  EXPECT_EQ(e.scale_z(), 1.f);
  EXPECT_EQ(e.parent_index(), -1);
  EXPECT_EQ(e.lod_dist(), -1.f);
  EXPECT_EQ(e.child_lod_dist(), 0.f);
  EXPECT_EQ(e.rotation().x(), 0.f);
  EXPECT_EQ(e.rotation().w(), 1.f);
  EXPECT_EQ(e.lod_level(), schema::LodLevel::ORPHANHD);
  EXPECT_EQ(e.priority_level(), schema::PriorityLevel::REQUIRED);
  EXPECT_EQ(e.ambient_occlusion_multiplier(), 255);
  EXPECT_EQ(e.artificial_ambient_occlusion(), 255);
  EXPECT_EQ(e.tint_value(), 0u);
  EXPECT_EQ(e.guid(), 0u);
}

TEST(Read2Missing, LodLevelFollowsTheParentIndexWhereverThatStands) {
  EXPECT_EQ(first_entity(compile_clean(kImap, one_entity("<parentIndex value=\"0\"/>"))).lod_level(),
            schema::LodLevel::HD);
  EXPECT_EQ(first_entity(compile_clean(kImap, one_entity("<parentIndex value=\"-1\"/>"))).lod_level(),
            schema::LodLevel::ORPHANHD);
  EXPECT_EQ(first_entity(compile_clean(kImap, one_entity("<lodLevel>LODTYPES_DEPTH_HD</lodLevel>"))).lod_level(),
            schema::LodLevel::HD);
}

TEST(Read2Missing, OtherDefaults) {
  const Compiled c = compile_clean(
      kImap,
      map_of(
          "<timeCycleModifiers><Item><name>t</name></Item></timeCycleModifiers><carGenerators><Item/></carGenerators>"
          "<instancedData><GrassInstanceList><Item><archetypeName>g</archetypeName><InstanceList><Item/></"
          "InstanceList></Item></GrassInstanceList></instancedData>"));
  const auto* map = root_of<MapData>(c);
  const auto* t = map->time_cycle_modifiers()->Get(0);
  EXPECT_EQ(t->percentage(), 100.f);
  EXPECT_EQ(t->range(), 1.f);
  EXPECT_EQ(t->start_hour(), 0u);
  EXPECT_EQ(t->end_hour(), 23u);
  const auto* g = map->car_generators()->Get(0);
  EXPECT_EQ(g->body_color_remap_1(), -1);
  EXPECT_EQ(g->body_color_remap_4(), -1);
  EXPECT_EQ(g->livery(), -1);
  const auto* grass = map->instanced_data()->grass_instance_list()->Get(0);
  EXPECT_EQ(grass->lod_dist(), 100u);
  EXPECT_EQ(grass->lod_fade_start_dist(), 20.f);
  EXPECT_EQ(grass->lod_inst_fade_range(), 0.75f);
  EXPECT_EQ(grass->orient_to_terrain(), 1.f);
  EXPECT_EQ(grass->scale_range()->x(), 0.7f);
  EXPECT_EQ(grass->scale_range()->z(), 0.2f);
  EXPECT_EQ(grass->instance_list()->Get(0)->scale(), 255);
  EXPECT_EQ(grass->instance_list()->Get(0)->ao(), 255);
  expect_round_trip(kImap, c);
}

TEST(Read2Missing, DerivedValuesOfAnArchetypeByHand) {
  const Compiled c =
      compile_clean(kItyp, types_of(archetype("<bbMin x=\"-1\" y=\"-2\" z=\"0\"/><bbMax x=\"3\" y=\"4\" z=\"12\"/>")));
  const auto* a = root_of<MapTypes>(c)->archetypes()->Get(0);
  EXPECT_EQ(a->bs_centre().x(), 1.f);
  EXPECT_EQ(a->bs_centre().y(), 1.f);
  EXPECT_EQ(a->bs_centre().z(), 6.f);
  EXPECT_EQ(a->bs_radius(), 7.f);  // half of sqrt(4^2 + 6^2 + 12^2) = 14
  EXPECT_EQ(a->asset_name(), hash_name("qa_a").value);
  EXPECT_EQ(a->lod_dist(), 200.f);
  EXPECT_EQ(a->hd_texture_dist(), 100.f);
  EXPECT_EQ(a->asset_type(), schema::AssetType::UNINITIALIZED);
  // Present ones, also empty or odd, are never replaced.
  const Compiled p =
      compile_clean(kItyp, types_of(archetype("<assetName/><bbMin x=\"-1\" y=\"-2\" z=\"0\"/><bbMax x=\"3\" y=\"4\" "
                                              "z=\"12\"/><bsRadius value=\"0\"/><bsCentre x=\"0\" y=\"0\" z=\"0\"/>")));
  const auto* b = root_of<MapTypes>(p)->archetypes()->Get(0);
  EXPECT_EQ(b->asset_name(), 0u);
  EXPECT_EQ(b->bs_radius(), 0.f);
  EXPECT_EQ(b->bs_centre().z(), 0.f);
}

TEST(Read2Missing, TheNameIsTheFileStemOrZero) {
  CompileOptions named;
  named.stem = "QA_Harbour";
  EXPECT_EQ(root_of<MapData>(compile(kImap, "<CMapData/>", named))->name(), hash_name("qa_harbour").value);
  EXPECT_EQ(root_of<MapData>(compile(kImap, "<CMapData/>"))->name(), 0u);
  EXPECT_EQ(root_of<MapData>(compile(kImap, "<CMapData><name/></CMapData>", named))->name(), 0u);
  EXPECT_EQ(root_of<MapTypes>(compile(kItyp, "<CMapTypes/>", named))->name(), hash_name("qa_harbour").value);
}

TEST(Xml013, TellsWhatWasAssumedAtTheParent) {
  CompileOptions noting;
  noting.note_missing = true;
  tools::DiagnosticPolicy policy;
  ASSERT_TRUE(policy.apply("missing-element"));
  const Compiled c = compile_with(*tools::Binding::builtin(kImap), one_entity(""), noting, policy);
  bool scale = false, parent = false;
  for (const tools::Diagnostic& d : c.diagnostics) {
    if (d.rule->code != "XML013") continue;
    EXPECT_EQ(d.severity, tools::Severity::note);
    if (contains(d.message, "'scaleXY'")) {
      scale = true;
      EXPECT_TRUE(contains(d.message, "assumed 1")) << d.message;
      EXPECT_EQ(d.object, "entity 0");
      EXPECT_EQ(d.line, 1u);
      EXPECT_EQ(d.column, std::string("<CMapData><name>qa_map</name><entities><").size() + 1);
    }
    if (contains(d.message, "'parentIndex'")) parent = contains(d.message, "assumed -1");
  }
  EXPECT_TRUE(scale && parent) << c.all();
  EXPECT_EQ(compile(kImap, one_entity("")).all(), "");  // off by default
}

// --- READ-3: limits and malformed text -------------------------------------------------------------------------------

std::string nested(int depth) {  // `depth` elements inside each other, the root counted
  std::string open, close;
  for (int i = 1; i < depth; ++i) {
    open += "<e>";
    close += "</e>";
  }
  return "<CMapData><name>m</name>" + open + close + "</CMapData>";
}

// READ-3: tinyxml2's limit of 100 counts the document and the innermost text, which leaves 98 elements.
TEST(Read3Limits, NinetyEightLevelsAreReadAndNoMore) {
  for (const int depth : {50, 96, 97, 98}) {
    const Compiled c = compile(kImap, nested(depth));
    EXPECT_FALSE(c.result.has_errors()) << depth << " " << c.all();
    if (!c.result.bytes.empty()) expect_round_trip(kImap, c);
  }
  const Compiled c = compile(kImap, nested(99));
  ASSERT_EQ(c.diagnostics.size(), 1u) << c.all();
  EXPECT_EQ(c.diagnostics[0].rule->code, "XML009");
  EXPECT_EQ(c.diagnostics[0].column, std::string("<CMapData><name>m</name>").size() + 3 * 97 + 2);
  CompileOptions shallow;
  shallow.limits.max_depth = 4;
  EXPECT_FALSE(compile(kImap, nested(4), shallow).result.has_errors());
  EXPECT_TRUE(compile(kImap, nested(5), shallow).result.has_errors());
}

TEST(Read3Limits, ElementsAndBytes) {
  CompileOptions options;
  options.limits.max_elements = 4;  // CMapData, name, entities, Item
  expect_found(kImap,
               "<CMapData><name>m</name><entities><Item "
               "type=\"CEntityDef\"><@archetypeName>a</archetypeName></Item></entities></CMapData>",
               {"error XML009"}, options);
  options.limits.max_elements = 5;
  expect_found(kImap,
               "<CMapData><name>m</name><entities><Item "
               "type=\"CEntityDef\"><archetypeName>a</archetypeName></Item></entities></CMapData>",
               {}, options);
  options.limits.max_bytes = 10;
  expect_found(kImap, "@<CMapData/>", {"error XML009"}, options);
  options.limits.max_bytes = 11;
  expect_found(kImap, "<CMapData/>", {}, options);
}

TEST(Xml001, MalformedTextAndItsPlace) {
  expect_found(kImap, "<CMapData><name>m</name><entities>@", {"error XML001"});  // truncated: at the end
  expect_found(kImap, "<CMapData><name>m</name><entities><Item type=\"CEnt@", {"error XML001"});
  expect_found(kImap, "<CMapData><name>m</name><!-- never closed@", {"error XML001"});
  expect_found(kImap, "<CMapData><name>m</@nam></CMapData>", {"error XML001"});
  expect_found(kImap, "<CMapData><name>m</name></CMapData><@CMapData/>", {"error XML001"});  // a second root
  expect_found(kImap, "<CMapData/>@text", {"error XML001"});
  expect_found(kImap, "@<!DOCTYPE x [<!ENTITY a \"b\">]><CMapData/>", {"error XML001"});
  expect_found(kImap, "<CMapData><name>@&undefined;</name></CMapData>", {"error XML001"});
  expect_found(kImap, "<CMapData><name>a @& b</name></CMapData>", {"error XML001"});
  expect_found(kImap, "<CMapData><name>@&#0;</name></CMapData>", {"error XML001"});
  expect_found(kImap, "<CMapData><name>@&#xD800;</name></CMapData>", {"error XML001"});
  expect_found(kImap, "<CMapData a=\"@&x;\"/>", {"error XML001"});
  expect_found(kImap, std::string("<CMapData><name>a@") + '\0' + "b</name></CMapData>", {"error XML001"});
  expect_found(kImap, "<CMapData><name>a@\xFF</name></CMapData>", {"error XML001"});
  expect_found(kImap, "<CMapData><name>a@\xC0\x80</name></CMapData>", {"error XML001"});      // overlong
  expect_found(kImap, "<CMapData><name>a@\xED\xA0\x80</name></CMapData>", {"error XML001"});  // surrogate
  expect_found(kImap, "<CMapData><flags value=@5/></CMapData>", {"error XML001"});
  expect_found(kImap, "<CMapData><flags value@/></CMapData>", {"error XML001"});
}

TEST(Xml001, AnAttributeTwiceIsNotWellFormed) {
  expect_found(kImap, one_entity("<lodDist value=\"1\" @value=\"2\"/>"), {"error XML001"});
  expect_found(kImap, one_entity("<position x=\"1\" @x=\"2\" y=\"0\" z=\"0\"/>"), {"error XML001"});
  expect_found(kImap,
               map_of("<entities><Item type=\"CEntityDef\" "
                      "@type=\"CEntityDef\"><archetypeName>q</archetypeName></Item></entities>"),
               {"error XML001"});
  EXPECT_TRUE(compile(kImap, map_of("<flags qa=\"1\" qa=\"2\" value=\"3\"/>")).result.has_errors());
  EXPECT_TRUE(compile(kImap, map_of("<qa a=\"1\" a=\"2\"/>")).result.has_errors());
}

TEST(Xml001, NearMisses) {
  compile_clean(kImap, "<CMapData><name>a &amp; b</name></CMapData>" + std::string("\n\n"));
  compile_clean(kImap,
                "\n  <?xml version=\"1.0\" standalone=\"no\"?>\n<CMapData><name>m</name></CMapData><!-- end --><?pi?>");
  compile_clean(kImap, "<CMapData ><name >m</name ></CMapData >");
  compile_clean(kImap, "<CMapData><name>m</name><!-- & < > &x; \" --><flags value = '3' /></CMapData>");
  compile_clean(kImap, "<CMapData><?pi a=\"<\" ?><name>m</name><entities><?pi?></entities></CMapData>");
}

TEST(Xml010, EmptyFilesFragmentsAndOtherText) {
  expect_found(kImap, "@", {"error XML010"});
  expect_found(kImap, "@  \n\t ", {"error XML010"});
  for (const char* text : {"<Item type=\"CEntityDef\"/>", "<>", "hello", "<!-- only -->"}) {
    const Compiled c = compile(kImap, text);
    ASSERT_EQ(c.diagnostics.size(), 1u) << text << c.all();
    EXPECT_EQ(c.diagnostics[0].rule->code, "XML010") << text;
  }
  EXPECT_TRUE(compile(kImap, "<CMapTypes/>").result.other_root);
  EXPECT_TRUE(compile(kImap, "<CMapTypes/>").result.findings.empty());
}

TEST(Xml011, EveryPlaceholderOutsideCommentsAndNothingElse) {
  expect_found(
      kImap,
      "<CMapData><!-- ${NO} --><name>@${NAME}</name>@${FREE}<flags value=\"@${A}@${B}\"/><bad value='x'/><lodDist",
      {"error XML011", "error XML011", "error XML011", "error XML011"});
  expect_found(kImap, "<CMapData><name>@${N</name><flags value=\"1}\"/></CMapData>", {"error XML011"});
  expect_found(kImap, "<CMapData><name>qa$m</name><parent>{x}</parent></CMapData>", {});
}

TEST(Xml011, ManyPlaceholdersAreFoundInLinearTime) {
  std::string xml = "<CMapData><name>m</name>";
  for (int i = 0; i < 100000; ++i) xml += "<a>${X}</a>";
  xml += "</CMapData>";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(compile(kImap, xml).result.findings.size(), 100000u);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 5.0);
}

TEST(Read3, AllTextNodesAreJoined) {
  const Compiled c = compile_clean(kImap, "<CMapData><name>qa<!-- a -->_<![CDATA[m]]>ap</name></CMapData>");
  EXPECT_EQ(root_of<MapData>(c)->name(), hash_name("qa_map").value);
}

// --- READ-6 ----------------------------------------------------------------------------------------------------------

TEST(Read6, Rdr2FilesGetOneNoteAndKeepEverything) {
  const std::string xml =
      map_of("<redm_loves_you_0>1</redm_loves_you_0><entities>" +
             entity("<GtyHDFA_0x0DC5F270 value=\"1\"/><id value=\"0x4DC82E7C9D79A044\"/><powerGridId value=\"0\"/>") +
             entity("<Abc_0x12345678/>") + "</entities>");
  const Compiled c = compile(kImap, xml);
  ASSERT_EQ(c.diagnostics.size(), 1u) << c.all();
  EXPECT_EQ(c.diagnostics[0].severity, tools::Severity::note);
  EXPECT_TRUE(contains(c.diagnostics[0].message, "5")) << c.all();
  const std::string dump = expect_round_trip(kImap, c);
  for (const char* text :
       {"redm_loves_you_0", "GtyHDFA_0x0DC5F270", "0x4DC82E7C9D79A044", "powerGridId", "Abc_0x12345678"})
    EXPECT_TRUE(contains(dump, text)) << text;
}

TEST(Read6, UnknownNamesOfNeitherDialectStayWarnings) {
  const Compiled c = expect_found(kImap, map_of("<@redm_loves_you_0/><@qaOdd/>"), {"note XML002", "warning XML002"});
}

TEST(Read6, TheDialectCanBeSet) {
  CompileOptions gta5, rdr3;
  gta5.dialect = tools::Dialect::gta5;
  rdr3.dialect = tools::Dialect::rdr3;
  expect_found(kImap, map_of("<@redm_loves_you_0/><@powerGridId/>"), {"warning XML002", "warning XML002"}, gta5);
  expect_found(kImap, map_of("<@powerGridId/>"), {"note XML002"}, rdr3);
  expect_found(kImap, map_of("<@powerGridId/>"), {"warning XML002"});    // auto: nothing says that it is RDR 2
  expect_found(kImap, map_of("<@Abc_0x1234567/>"), {"warning XML002"});  // seven digits
}

// --- rules -----------------------------------------------------------------------------------------------------------

TEST(Arc004, P041HourMasks) {
  const auto timed = [](std::string_view marked) {
    return types_of(archetype("<timeFlags value=\"" + std::string(marked) + "\"/>", "CTimeArchetypeDef"));
  };
  expect_found(kItyp, timed("@0"), {"warning ARC004"});
  expect_found(kItyp, timed("@16777216"), {"warning ARC004"});  // the swap bit is no hour
  expect_found(kItyp, timed("@33554433"), {"warning ARC004"});  // bit 25 is unknown
  expect_found(kItyp, timed("1"), {});
  expect_found(kItyp, timed("33554431"), {});  // bits 0 to 24
  expect_found(kItyp, timed("15728671"), {});  // 20..23, 0..4
  const Compiled c = compile(kItyp, timed("0"));
  EXPECT_TRUE(contains(c.messages(), "archetype 0")) << c.all();
  const Compiled m = compile(kItyp, types_of("<Item type=\"CTimeArchetypeDef\"><name>qa_a</name></Item>"));
  ASSERT_EQ(m.places().size(), 1u);  // a missing mask is 0: no hour
}

TEST(Arc004, IsALintAndCanBeLeftOut) {
  CompileOptions plain;
  plain.lint = false;
  expect_found(kItyp, types_of(archetype("<timeFlags value=\"0\"/>", "CTimeArchetypeDef")), {}, plain);
}

TEST(Cfg, P035UnknownDuplicatedAndMisspeltPools) {
  const auto pool = [](std::string_view name, std::string_view size) {
    return "<Item><PoolName>" + std::string(name) + "</PoolName><PoolSize value=\"" + std::string(size) +
           "\"/></Item>\n";
  };
  const auto pools = [&](std::string_view items) {
    return config_of("<PoolSizes><Entries>\n" + std::string(items) + "</Entries></PoolSizes>");
  };
  const Compiled c =
      expect_found(kGcfg, pools(pool("PortalInst", "225") + pool("@PortalInts", "1")), {"warning CFG002"});
  EXPECT_TRUE(contains(c.messages(), "'PortalInst'")) << c.all();
  const Compiled d =
      expect_found(kGcfg, pools(pool("PortalInst", "225") + pool("portalinst", "@300")), {"error CFG003"});
  ASSERT_EQ(d.diagnostics[0].related.size(), 1u);
  EXPECT_EQ(d.diagnostics[0].related[0].line, 2u);
  expect_found(
      kGcfg,
      pools(pool("Building", "@12.5") + pool("TxdStore", "@-1") + pool("Peds", "@2147483648") + pool("Vehicles", "@x")),
      {"error CFG004", "error CFG004", "error CFG004", "error CFG004"});
  expect_found(kGcfg,
               pools(pool("Building", "2147483647") + pool("TxdStore", "0") + pool("Dummy Object", " 655360") +
                     pool("cbullet::sbulletinstance", "65521 ")),
               {});
  expect_found(kGcfg, pools(pool("PortalInst", "225") + pool("PortalInst", "225")),
               {});  // the same size twice hurts nobody
  // In two configurations it is an override.
  expect_found(kGcfg,
               "<fwAllConfigs><ConfigArray><Item><Config "
               "type=\"CGameConfig\"><PoolSizes><Entries><Item><PoolName>Peds</PoolName><PoolSize "
               "value=\"1\"/></Item></Entries></PoolSizes></Config></Item>"
               "<Item><Config type=\"CGameConfig\"><PoolSizes><Entries><Item><PoolName>Peds</PoolName><PoolSize "
               "value=\"2\"/></Item></Entries></PoolSizes></Config></Item></ConfigArray></fwAllConfigs>",
               {});
  EXPECT_TRUE(contains(expect_round_trip(kGcfg, compile(kGcfg, pools(pool("PortalInst", "225")))),
                       "<PoolName>PortalInst</PoolName>"));
}

TEST(Cfg, PoolSizesOnOverriddenNamesByHashAreFound) {
  // A hash literal and a name are one pool.
  const std::string hash = [] {
    std::string t;
    char b[16];
    std::snprintf(b, sizeof b, "hash_%08X", hash_name("peds").value);
    return std::string(b);
  }();
  expect_found(
      kGcfg,
      config_of("<PoolSizes><Entries><Item><PoolName>Peds</PoolName><PoolSize value=\"1\"/></Item><Item><PoolName>" +
                hash + "</PoolName><PoolSize value=\"@2\"/></Item></Entries></PoolSizes>"),
      {"error CFG003"});
}

TEST(MaxBytes, LongTextsAreRefused) {
  const std::string fits(63, 'x'), longer(64, 'x');
  expect_found(kYmfm,
               "<CPackFileMetaData><HDTxdBindingArray><Item><targetAsset>" + fits +
                   "</targetAsset></Item></HDTxdBindingArray></CPackFileMetaData>",
               {});
  const Compiled c = compile(kYmfm, "<CPackFileMetaData><HDTxdBindingArray><Item><targetAsset>" + longer +
                                        "</targetAsset></Item></HDTxdBindingArray></CPackFileMetaData>");
  EXPECT_TRUE(c.result.has_errors());
}

TEST(Waivers, CoverTheNextElementAndAllInIt) {
  expect_found(kImap,
               entities("<!-- lint-ok XML002: ours -->" + entity("<qa_a/>") +
                        "<Item type=\"CEntityDef\"><archetypeName>b</archetypeName><@qa_b/></Item>"),
               {"warning XML002"});
  expect_found(kImap,
               "<!-- lint-ok unknown-name: ours --><CMapData><name>m</name><qa_a/><entities><Item "
               "type=\"CEntityDef\"><archetypeName>b</archetypeName><qa_b/></Item></entities></CMapData>",
               {});
  expect_found(kImap, entities("@<!-- lint-ok XML002: nothing here -->" + entity("")), {"warning WVR001"});
  expect_found(kImap, one_entity("@<!-- lint-ok XML005: no --><lodDist value=\"@x\"/>"),
               {"warning WVR001", "error XML005"});
}

}  // namespace
}  // namespace meridian::test
