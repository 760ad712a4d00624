// SPDX-License-Identifier: MIT
// READ-4: what `dump_xml` writes compiles to the same bytes, and is the source after the documented normalisation.
#include <gtest/gtest.h>
#include <tinyxml2.h>

#include <string>

#include "meridian/base/name_hash.h"
#include "meridian/schemas/imap_generated.h"
#include "support/compile_kit.h"

namespace meridian::test {
namespace {

using schema::MapData;

std::string trip(uint32_t kind, std::string xml) {
  const Compiled c = compile(kind, std::move(xml));
  return expect_round_trip(kind, c);
}

// No element of the dump has an attribute twice: an ordinary XML parser would refuse it.
void expect_well_formed(const std::string& dump) {
  tinyxml2::XMLDocument doc;
  ASSERT_EQ(doc.Parse(dump.c_str()), tinyxml2::XML_SUCCESS) << dump;
  const auto visit = [&](const auto& self, const tinyxml2::XMLElement* e) -> void {
    for (const auto* a = e->FirstAttribute(); a != nullptr; a = a->Next())
      for (const auto* b = a->Next(); b != nullptr; b = b->Next())
        EXPECT_STRNE(a->Name(), b->Name()) << "in " << e->Name() << "\n" << dump;
    for (const auto* k = e->FirstChildElement(); k != nullptr; k = k->NextSiblingElement()) self(self, k);
  };
  visit(visit, doc.RootElement());
}

TEST(RoundTrip, EmptyRootsOfEveryKind) {
  for (const auto& [kind, root] :
       {std::pair{kImap, "CMapData"}, {kItyp, "CMapTypes"}, {kGcfg, "fwAllConfigs"}, {kYmfm, "CPackFileMetaData"}})
    trip(kind, "<" + std::string(root) + "/>");
}

TEST(RoundTrip, DefaultsAreFilledInSchemaOrder) {
  const std::string dump = trip(kImap, one_entity("<lodDist value=\"5\"/><position x=\"1\" y=\"2\" z=\"3\"/>"));
  size_t last = dump.find("<entities>");
  for (const char* element :
       {"<Item type=\"CEntityDef\">", "<archetypeName>qa_box</archetypeName>", "<flags value=\"0\" />",
        "<guid value=\"0\" />", "<position x=\"1\" y=\"2\" z=\"3\" />", "<rotation x=\"0\" y=\"0\" z=\"0\" w=\"1\" />",
        "<scaleXY value=\"1\" />", "<scaleZ value=\"1\" />", "<parentIndex value=\"-1\" />", "<lodDist value=\"5\" />",
        "<childLodDist value=\"0\" />", "<lodLevel>LODTYPES_DEPTH_ORPHANHD</lodLevel>", "<numChildren value=\"0\" />",
        "<priorityLevel>PRI_REQUIRED</priorityLevel>", "<ambientOcclusionMultiplier value=\"255\" />",
        "<artificialAmbientOcclusion value=\"255\" />", "<tintValue value=\"0\" />", "<extensions />"}) {
    const size_t at = dump.find(element, last);
    EXPECT_NE(at, std::string::npos) << element << "\n" << dump;
    if (at != std::string::npos) last = at;
  }
}

TEST(RoundTrip, NumbersAreTheShortest) {
  const std::string dump = trip(
      kImap, one_entity("<position x=\"1.00000000\" y=\"0.1000000015\" z=\"1e-006\"/><lodDist value=\"16777217\"/>"));
  EXPECT_TRUE(contains(dump, "<position x=\"1\" y=\"0.1\" z=\"1e-06\" />")) << dump;
  EXPECT_TRUE(contains(dump, "<lodDist value=\"16777216\" />")) << dump;
}

TEST(RoundTrip, OneSpellingForEachHashTheFirstInDocumentOrder) {
  const std::string dump =
      trip(kImap,
           "<CMapData><entities><Item type=\"CEntityDef\"><archetypeName>QA_Box</archetypeName></Item><Item "
           "type=\"CEntityDef\"><archetypeName>qa_box</archetypeName></Item></entities><name>QA_BOX</name></CMapData>");
  EXPECT_TRUE(contains(dump, "<name>QA_Box</name>")) << dump;
  EXPECT_FALSE(contains(dump, "qa_box")) << dump;
  EXPECT_FALSE(contains(dump, "QA_BOX")) << dump;
}

TEST(RoundTrip, HashLiteralsAreCanonicalAndNamedWhereTheNameIsKnown) {
  char literal[16];
  std::snprintf(literal, sizeof literal, "0x%x", hash_name("qa_box").value);
  const std::string dump = trip(kImap, "<CMapData><name>m</name><parent>0xab</parent><entities>" + entity("") +
                                           "<Item type=\"CEntityDef\"><archetypeName>" + literal +
                                           "</archetypeName></Item></entities></CMapData>");
  EXPECT_TRUE(contains(dump, "<parent>hash_000000AB</parent>")) << dump;
  EXPECT_EQ(dump.find(literal), std::string::npos) << dump;
}

TEST(RoundTrip, NamesThatLookLikeNumbersOrLiterals) {
  trip(kImap,
       "<CMapData><name>12345</name><parent>hash_123456789</parent><physicsDictionaries><Item>0x123456789</"
       "Item><Item>0</Item><Item>hash_00000000</Item><Item/><Item>0xFFFFFFFF</Item></physicsDictionaries></CMapData>");
}

TEST(RoundTrip, TextWithEverythingThatNeedsEscaping) {
  for (const char* text :
       {"a &lt; b &gt; c &amp; d", "&quot;x&quot; 'y'", "a\nb", "a&#13;b", "a&#10;b", "  lead", "trail  ",
        "\n  both \n", "a\r\nb", "&#9;tab", "]]&gt;", "x&#xA0;", "\xE2\x82\xAC", "<![CDATA[<q a=\"1\">]]>"}) {
    SCOPED_TRACE(text);
    trip(kImap, map_of("<block><exportedBy>" + std::string(text) + "</exportedBy></block>"));
    trip(kImap, map_of("<qaKept a=\"x\"><b>" + std::string(text) + "</b></qaKept>"));
    trip(kImap, "<CMapData><name>" + std::string(text) + "</name></CMapData>");
  }
}

TEST(RoundTrip, KeptAttributesWithQuotesAndBreaks) {
  for (const char* value : {"a&quot;b", "a'b", "&lt;&gt;&amp;", "a&#10;b", "a&#13;b", "a&#9;b", " a ", "a\nb", ""}) {
    SCOPED_TRACE(value);
    expect_well_formed(trip(kImap, "<CMapData qa=\"" + std::string(value) + "\"><name qb=\"" + value +
                                       "\">m</name><qaOdd c=\"" + value + "\"/></CMapData>"));
  }
}

TEST(RoundTrip, StrayTextOfSeveralPieces) {
  const std::string dump =
      trip(kImap, "<CMapData>one<name>m</name>two<entities>three" + entity("four") + "five</entities>six</CMapData>");
  for (const char* word : {"one", "two", "three", "four", "five", "six"}) EXPECT_TRUE(contains(dump, word)) << word;
  trip(kImap, map_of("<lodDistX>a<!-- c -->b</lodDistX>"));
  trip(kImap, one_entity("<lodDist value=\"5\">a<!-- c -->b</lodDist>"));
}

TEST(RoundTrip, TextBesideKeptChildren) {
  trip(kImap,
       with_extension("<Item type=\"CExtensionDefParticleEffect\"><name>x</name><fxName>foo<qa/></fxName></Item>"));
  trip(kImap,
       with_extension("<Item type=\"CExtensionDefParticleEffect\"><name>x</name><fxName>foo <qa/></fxName></Item>"));
  trip(kImap, with_extension(
                  "<Item type=\"CExtensionDefParticleEffect\"><name>x</name><fxName> foo<qa/>bar </fxName></Item>"));
  trip(kImap, one_entity("<lodDist>5<qa/></lodDist>"));
  trip(kImap, one_entity("<lodDist value=\"5\" qb=\"1\">text<qa/></lodDist>"));
  trip(kImap, "<CMapData><name>m<qa/></name></CMapData>");
  trip(kImap, "<CMapData><name>m <qa/></name></CMapData>");
  trip(kImap, map_of("<flags value=\"1\"><qa/></flags><streamingExtentsMin x=\"1\" y=\"2\" "
                     "z=\"3\">text<qa/></streamingExtentsMin>"));
}

TEST(RoundTrip, AValueAttributeBesideText) {
  trip(kImap, "<CMapData><name value=\"x\">m</name></CMapData>");
  trip(kImap, "<CMapData><name value=\"x\">hash_00000000</name></CMapData>");
  trip(kImap, "<CMapData><name value=\"x\"/></CMapData>");
  trip(kImap, map_of("<block><owner value=\"x\">m</owner><time value=\"t\"/></block>"));
}

TEST(RoundTrip, HashNumbersGivenAsNames) {
  const std::string dump = trip(
      kImap, with_extension(
                 "<Item type=\"CExtensionDefAudioEmitter\"><name>x</name><effectHash value=\"some_sound\"/></Item>"));
  EXPECT_TRUE(contains(dump, "<effectHash")) << dump;
}

TEST(RoundTrip, KeptThingsOnItemsOfNamesAndTextsStayThere) {
  const Compiled c = compile(kImap, map_of("<physicsDictionaries><Item qa=\"1\">a</Item><Item "
                                           "qa=\"2\">b</Item><Item>c<qaChild/></Item></physicsDictionaries>"));
  const std::string dump = expect_round_trip(kImap, c);
  expect_well_formed(dump);
  EXPECT_TRUE(contains(dump, "<Item qa=\"1\">a</Item>")) << dump;
  EXPECT_TRUE(contains(dump, "<Item qa=\"2\">b</Item>")) << dump;
  const Compiled t = compile(kGcfg, config_of("<Threads><Item key=\"Update\"><CpuAffinity><Core value=\"0\" "
                                              "qa=\"1\"/><Core value=\"1\" qa=\"2\"/></CpuAffinity></Item></Threads>"));
  expect_well_formed(expect_round_trip(kGcfg, t));
}

TEST(RoundTrip, KeptThingsOnEveryKindOfOwner) {
  const std::string x = "<qaOdd a=\"1\"><b>c</b></qaOdd>";
  const Compiled c = compile(
      kImap,
      "<CMapData qa=\"0\">" + x + "<name qa=\"1\">m</name><entities qa=\"2\">" + x +
          "<Item type=\"CMloInstanceDef\" qa=\"3\"><archetypeName>a</archetypeName>" + x + "<extensions qa=\"4\">" + x +
          "<Item type=\"CExtensionDefLightEffect\" qa=\"5\"><name>n</name>" + x + "<instances qa=\"6\">" + x +
          "<Item qa=\"7\">" + x + "<posn qa=\"8\">1 2 3" + x +
          "</posn><colour qa=\"8b\">1 2 3</colour></Item></instances></Item></extensions><defaultEntitySets qa=\"9\">" +
          x + "</defaultEntitySets><groupId value=\"1\" qa=\"10\">" + x +
          "</groupId></Item></entities>"
          "<instancedData qa=\"11\">" +
          x + "<GrassInstanceList qa=\"12\"><Item qa=\"13\"><archetypeName>g</archetypeName><BatchAABB qa=\"14\">" + x +
          "<min x=\"1\" y=\"2\" z=\"3\" w=\"4\" qa=\"15\"/></BatchAABB><InstanceList qa=\"16\"><Item qa=\"17\">" + x +
          "</Item></InstanceList></Item></GrassInstanceList></instancedData>"
          "<LODLightsSOA qa=\"18\"><direction qa=\"19\"><Item qa=\"20\"><x value=\"1\" qa=\"21\"/><y value=\"2\"/><z "
          "value=\"3\"/></Item></direction><falloff qa=\"22\">1 2</falloff></LODLightsSOA></CMapData>");
  const std::string dump = expect_round_trip(kImap, c);
  expect_well_formed(dump);
  for (int i = 0; i <= 22; ++i) EXPECT_TRUE(contains(dump, "qa=\"" + std::to_string(i) + "\"")) << i << "\n" << dump;
  for (const auto& [element, attribute] : {std::pair{"<falloff", "22"},
                                           {"<posn", "8"},
                                           {"<min x=\"1\" y=\"2\" z=\"3\" w=\"4\"", "15"},
                                           {"<groupId value=\"1\"", "10"},
                                           {"<extensions", "4"},
                                           {"<InstanceList", "16"}})
    EXPECT_TRUE(contains(dump, std::string(element) + " qa=\"" + attribute + "\"")) << element << "\n" << dump;
}

TEST(RoundTrip, ForeignTypes) {
  expect_well_formed(
      trip(kGcfg,
           "<fwAllConfigs><ConfigArray><Item><Config "
           "type=\"CQaConfig\"><DebugScriptsPath>x</DebugScriptsPath></Config></Item></ConfigArray></fwAllConfigs>"));
  expect_well_formed(trip(kImap, "<CMapData type=\"CMapData\"><name type=\"string\">m</name><entities>" +
                                     entity("", "CQaEntityDef") +
                                     "</entities><block type=\"CBlockDesc\"><owner>o</owner></block></CMapData>"));
  expect_well_formed(trip(
      kItyp, types_of(archetype("", "CQaArchetypeDef") + archetype("<timeFlags value=\"1\"/>", "CBaseArchetypeDef"))));
}

TEST(RoundTrip, RoomsWithAndWithoutTheirVisibilityDepth) {
  // Its default is -1: the element may be there or not, the bytes are the same.
  const auto room = [](std::string_view body) {
    return types_of(
        archetype("<rooms><Item><name>limbo</name>" + std::string(body) + "</Item></rooms>", "CMloArchetypeDef"));
  };
  trip(kItyp, room(""));
  trip(kItyp, room("<exteriorVisibiltyDepth value=\"-1\"/>"));
  trip(kItyp, room("<exteriorVisibiltyDepth value=\"0\"/>"));
  EXPECT_TRUE(compile(kItyp, room("")).result.bytes ==
              compile(kItyp, room("<exteriorVisibiltyDepth value=\"-1\"/>")).result.bytes);
}

TEST(RoundTrip, EmptyContainersAreAbsentOnes) {
  const std::string plain = "<CMapData><name>m</name></CMapData>";
  const std::string empty =
      "<CMapData><name>m</name><entities/><block/><instancedData><GrassInstanceList/></"
      "instancedData><LODLightsSOA><falloff/></LODLightsSOA><block2/></CMapData>";
  trip(kImap, plain);
  trip(kImap, empty);
  trip(kGcfg, config_of("<ConfigPopulation/><PoolSizes/><PoolSizes2/><Threads/>"));
  trip(kGcfg, config_of("<ConfigPopulation qa=\"1\"/><PoolSizes><Entries qa=\"2\"/></PoolSizes><DebugScriptsPath "
                        "qa=\"3\"/><DebugScriptsPath/><Threads><Item/></Threads>"));
}

TEST(RoundTrip, KeptXmlInSparseTables) {
  const std::string dump = trip(
      kGcfg,
      config_of(
          "<ConfigPopulation><qaOdd/><VehicleSpacing qa=\"1\"><VehicleSpacing_3 value=\"4\" "
          "qb=\"2\"/><VehicleSpacing_99 value=\"1\"/></VehicleSpacing></ConfigPopulation><timeStamp>x</timeStamp>"));
  for (const char* text : {"<qaOdd/>", "VehicleSpacing_99", "<timeStamp>x</timeStamp>", "qb=\"2\""})
    EXPECT_TRUE(contains(dump, text)) << text << dump;
}

TEST(RoundTrip, KeptXmlFollowsTheKnownMembersInDocumentOrder) {
  const std::string dump = trip(kImap, "<CMapData><qaTwo/><qaOne/><name>m</name><qaThree/></CMapData>");
  EXPECT_LT(dump.find("<block"), dump.find("<qaTwo/>"));
  EXPECT_LT(dump.find("<qaTwo/>"), dump.find("<qaOne/>"));
  EXPECT_LT(dump.find("<qaOne/>"), dump.find("<qaThree/>"));
}

TEST(RoundTrip, KeptXmlHasNoLayoutButKeepsItsText) {
  const std::string dump =
      trip(kImap, map_of("<qaOdd>\n   <a>\n  text \n  more\n </a>\n   <b> x </b><!-- c -->\n </qaOdd>"));
  EXPECT_TRUE(contains(dump, "<qaOdd><a>text \n  more</a><b> x </b></qaOdd>")) << dump;
}

TEST(RoundTrip, MixedContentOfKeptElements) {
  trip(kImap, map_of("<qaOdd>a<b/>c<d> e </d>\n f\n<g/></qaOdd>"));
  trip(kImap, map_of("<qaOdd> a <b/> c </qaOdd>"));
}

TEST(RoundTrip, UnknownExtensionsOfArchetypesInteriorsAndSets) {
  const std::string odd =
      "<extensions><Item type=\"QaOdd\"><name>n</name></Item><Item "
      "type=\"CExtensionDefBuoyancy\"><name>b</name></Item></extensions>";
  const std::string dump =
      trip(kItyp, types_of(archetype(odd) + "<Item type=\"CMloArchetypeDef\"><name>qa_m</name>" + odd + "<entities>" +
                           entity(odd) + "</entities><entitySets><Item><name>s</name><entities>" + entity(odd) +
                           "</entities></Item></entitySets></Item>"));
  size_t count = 0;
  for (size_t at = dump.find("<Item type=\"QaOdd\"><name>n</name></Item>"); at != std::string::npos;
       at = dump.find("<Item type=\"QaOdd\"", at + 1))
    ++count;
  EXPECT_EQ(count, 4u) << dump;
}

TEST(RoundTrip, LongArrays) {
  std::string numbers, hex;
  for (int i = 0; i < 1000; ++i) {
    numbers += std::to_string(i * 0.125) + (i % 7 == 0 ? "\n" : " ");
    hex += "A" + std::to_string(i % 10) + " ";
  }
  const std::string dump =
      trip(kImap, map_of("<LODLightsSOA><falloff>" + numbers + "</falloff></LODLightsSOA><occludeModels><Item><verts>" +
                         hex + "</verts></Item></occludeModels>"));
  EXPECT_TRUE(contains(dump, "0 0.125 0.25 0.375 0.5 0.625 0.75 0.875 1 1.125\n")) << "ten a line";
}

TEST(RoundTrip, StrayAttributesOfHexAndNumberArrays) {
  trip(kImap, map_of("<occludeModels><Item><dataSize value=\"2\"/><verts content=\"char_array\" qa=\"1\">10 "
                     "20</verts></Item></occludeModels>"));
}

TEST(Dump, SchemaEndsWithANewlineAndBeginsWithADeclaration) {
  const std::string dump = trip(kImap, "<CMapData/>");
  EXPECT_TRUE(dump.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<CMapData>\n"));
  EXPECT_TRUE(dump.ends_with("</CMapData>\n"));
}

}  // namespace
}  // namespace meridian::test
