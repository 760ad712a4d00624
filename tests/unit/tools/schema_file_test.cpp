// SPDX-License-Identifier: MIT
// FMT-1: one line in a .fbs is all that a new member needs. FMT-2: attributes. FMT-3: schemas of users.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "meridian/base/name_hash.h"
#include "meridian/resource/fingerprint.h"
#include "support/compile_kit.h"
#include "support/temp_dir.h"
#include "support/test_paths.h"

namespace meridian::test {
namespace {

std::unique_ptr<const tools::Binding> bind_schema(const std::string& path,
                                                  const std::vector<std::string>& include_dirs = {}) {
  std::vector<std::string> read;
  std::string error;
  const std::vector<uint8_t> bfbs = tools::compile_schema_file(path, include_dirs, read, error);
  EXPECT_FALSE(bfbs.empty()) << error;
  if (bfbs.empty()) return nullptr;
  EXPECT_TRUE(verify_schema(std::as_bytes(std::span(bfbs))).ok());
  auto binding = tools::Binding::create(bfbs, error);
  EXPECT_NE(binding, nullptr) << error;
  return binding;
}

std::unique_ptr<const tools::Binding> bind_fbs(const std::string& fbs) {
  const TempDir dir;
  return bind_schema(dir.write("qa.fbs", fbs));
}

/// Copies our schemas and edits one of them.
struct SchemaCopy {
  SchemaCopy() {
    for (const auto& entry : std::filesystem::directory_iterator(MERIDIAN_SOURCE_DIR "/schemas/meridian")) {
      std::ifstream in(entry.path());
      text[entry.path().filename().string()] = std::string(std::istreambuf_iterator<char>(in), {});
    }
  }
  void insert_after(const std::string& file, const std::string& line, const std::string& added) {
    const size_t at = text[file].find(line);
    ASSERT_NE(at, std::string::npos) << line;
    text[file].insert(text[file].find('\n', at) + 1, added + "\n");
  }
  std::unique_ptr<const tools::Binding> bind_file(const std::string& file) {
    for (const auto& [name, content] : text) dir.write("meridian/" + name, content);
    return bind_schema(dir.path("meridian/" + file), {dir.path()});
  }
  TempDir dir;
  std::map<std::string, std::string> text;
};

TEST(Fmt1, AStructMemberAddedToACopyOfTheSchemaWorksEverywhere) {
  SchemaCopy copy;
  copy.insert_after(
      "common.fbs", "tint_value:uint (xml:\"tintValue\");",
      "  qa_weight:float (xml:\"qaWeight\", default:\"2.5\");\n  qa_owner:uint (xml:\"qaOwner\", joaat);");
  const auto binding = copy.bind_file("imap.fbs");
  ASSERT_NE(binding, nullptr);
  EXPECT_NE(binding->layout_fingerprint(), tools::Binding::builtin(kImap)->layout_fingerprint());

  const Compiled c =
      expect_found(*binding, entities(entity("<qaWeight value=\"7.25\"/><qaOwner>QA_Me</qaOwner>") + entity("")), {});
  const std::string dump = expect_round_trip(*binding, c, {}, binding->bfbs());
  EXPECT_TRUE(contains(dump, "<qaWeight value=\"7.25\" />")) << dump;
  EXPECT_TRUE(contains(dump, "<qaOwner>QA_Me</qaOwner>")) << dump;
  EXPECT_TRUE(contains(dump, "<qaWeight value=\"2.5\" />")) << "the default of the second entity\n" << dump;
  // Bad values have their place and rule.
  expect_found(*binding, one_entity("<qaWeight value=\"@x\"/>"), {"error XML005"});
  // JSON and differences know it.
  const auto a = load(c.result.bytes, binding->bfbs());
  const Compiled other =
      compile_with(*binding, entities(entity("<qaWeight value=\"8\"/><qaOwner>QA_Me</qaOwner>") + entity("")));
  const auto b = load(other.result.bytes, binding->bfbs());
  EXPECT_TRUE(contains(tools::dump_json(*a), "\"qa_weight\""));
  const std::vector<std::string> lines = tools::diff_lines(*a, *b);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], "entities[0].qa_weight: 7.25 -> 8");
  // The built-in reader refuses what it cannot read in place.
  EXPECT_EQ(open_resource(c.bytes(), {.kind = kImap}).status().code, StatusCode::layout_differs);
}

TEST(Fmt1, ATableMemberAddedToACopyOfTheSchemaWorksEverywhere) {
  SchemaCopy copy;
  copy.insert_after("imap.fbs", "  block:BlockDesc;",
                    "  qa_note:string (xml:\"qaNote\");\n  qa_marks:[Vec3] (xml:\"qaMarks\");\n  qa_level:int = -3 "
                    "(xml:\"qaLevel\");");
  copy.insert_after("extensions.fbs", "initialise_on_collision:bool (xml:\"initialiseOnCollision\");",
                    "  qa_speed:float = 4 (xml:\"qaSpeed\");");
  const auto binding = copy.bind_file("imap.fbs");
  ASSERT_NE(binding, nullptr);
  const std::string xml = map_of("<qaNote>hello</qaNote><qaMarks><Item x=\"1\" y=\"2\" z=\"3\"/></qaMarks><entities>" +
                                 entity("<extensions><Item type=\"CExtensionDefExpression\"><name>n</name><qaSpeed "
                                        "value=\"9\"/></Item></extensions>") +
                                 "</entities>");
  const Compiled c = expect_found(*binding, xml, {});
  const std::string dump = expect_round_trip(*binding, c, {}, binding->bfbs());
  for (const char* text :
       {"<qaNote>hello</qaNote>", "<qaSpeed value=\"9\" />", "<qaLevel value=\"-3\" />", "x=\"1\" y=\"2\" z=\"3\""})
    EXPECT_TRUE(contains(dump, text)) << text << "\n" << dump;
  const auto a = load(c.result.bytes, binding->bfbs());
  const auto b = load(compile_with(*binding, map_of("<qaLevel value=\"5\"/>")).result.bytes, binding->bfbs());
  std::string all;
  for (const std::string& line : tools::diff_lines(*a, *b)) all += line + "\n";
  EXPECT_TRUE(contains(all, "qa_level: -3 -> 5")) << all;
  EXPECT_TRUE(contains(all, "qa_note")) << all;
  // The shipped schema does not know it: it is kept.
  const Compiled old = compile(kImap, map_of("<qaNote>hello</qaNote>"));
  EXPECT_EQ(old.places(), (std::vector<std::string>{"1:31 warning XML002"}));
}

TEST(Fmt1, ANewExtensionKindIsOneTableAndOneUnionMember) {
  SchemaCopy copy;
  const size_t at = copy.text["extensions.fbs"].find("table UnknownExtension");
  ASSERT_NE(at, std::string::npos);
  copy.text["extensions.fbs"].insert(
      copy.text["extensions.fbs"].rfind("\n\n", at) + 1,
      "table QaSirenDef (xml:\"CExtensionDefQaSiren\") { name:uint (joaat); loud:bool; }\n");
  const size_t u = copy.text["extensions.fbs"].find("union ExtensionDef");
  const size_t end = copy.text["extensions.fbs"].find('}', u);
  copy.text["extensions.fbs"].insert(end, ",\n  QaSirenDef\n");
  const auto binding = copy.bind_file("imap.fbs");
  ASSERT_NE(binding, nullptr);
  const Compiled c = expect_found(
      *binding, with_extension("<Item type=\"CExtensionDefQaSiren\"><name>s</name><loud value=\"true\"/></Item>"), {});
  EXPECT_TRUE(contains(expect_round_trip(*binding, c, {}, binding->bfbs()), "<loud value=\"true\" />"));
}

TEST(Fmt2, XmlFbsIsFoundFromAnywhere) {
  const auto b = bind_fbs(
      "include \"meridian/xml.fbs\";\nnamespace qa; table Boat (xml:\"CBoat\", noun:\"boat\") { draught:float "
      "(xml:\"maxDraught\"); }\nroot_type Boat; file_identifier \"BOAT\";");
  ASSERT_NE(b, nullptr);
  const Compiled c = expect_found(*b, "<CBoat><maxDraught value=\"1.25\"/></CBoat>", {});
  EXPECT_TRUE(contains(expect_round_trip(*b, c, {}, b->bfbs()), "<maxDraught value=\"1.25\" />"));
}

TEST(Fmt2, FieldsAreWrittenInDeclarationOrderNotByName) {
  const auto b = bind_fbs(
      "struct S { zz:int; aa:int; mm:int; }\ntable R { z:int; a:int; m:S; }\nroot_type R; file_identifier \"QAQA\";");
  const std::string dump = expect_round_trip(
      *b, compile_with(*b, "<R><a value=\"2\"/><m><mm value=\"5\"/><zz value=\"3\"/></m><z value=\"1\"/></R>"), {},
      b->bfbs());
  size_t last = 0;
  for (const char* e : {"<z value=\"1\"", "<a value=\"2\"", "<zz value=\"3\"", "<aa value=\"0\"", "<mm value=\"5\""}) {
    EXPECT_GT(dump.find(e), last) << e << dump;
    last = dump.find(e);
  }
}

TEST(Fmt3, EveryTypeWithoutAnyAttribute) {
  const auto b = bind_fbs(
      "enum E : short { a = -5, b = 7 }\nstruct P { x:float; y:double; }\ntable T { n:int; t:T; }\n"
      "table R { b:bool; i8:byte; u8:ubyte; i16:short; u16:ushort; i32:int; u32:uint; i64:long; u64:ulong; f:float; "
      "d:double; s:string; e:E = b; p:P; t:T; o:int = null; vi:[int]; vd:[double]; vu:[ulong]; vb:[bool]; vs:[string]; "
      "vp:[P]; vt:[T]; ve:[E]; }\n"
      "root_type R; file_identifier \"QAQA\"; file_extension \"qa\";");
  ASSERT_NE(b, nullptr);
  const std::string xml =
      "<R><b value=\"true\"/><i8 value=\"-128\"/><u8 value=\"255\"/><i16 value=\"-32768\"/><u16 value=\"65535\"/><i32 "
      "value=\"-2147483648\"/><u32 value=\"4294967295\"/><i64 value=\"-9223372036854775808\"/><u64 "
      "value=\"18446744073709551615\"/>"
      "<f value=\"0.1\"/><d value=\"0.1\"/><s>text</s><e value=\"-5\"/><p><x value=\"1\"/><y value=\"0.1\"/></p><t><n "
      "value=\"1\"/><t><n value=\"2\"/></t></t><o value=\"0\"/><vi>1 -2 3</vi><vd>0.1 "
      "1e300</vd><vu>18446744073709551615</vu><vb>true false 1</vb><vs><Item>a</Item><Item/><Item>c d</Item></vs>"
      "<vp><Item><x value=\"1\"/><y value=\"2\"/></Item></vp><vt><Item/><Item><n value=\"9\"/></Item></vt><ve>7 "
      "-5</ve></R>";
  const Compiled c = compile_with(*b, xml);
  EXPECT_EQ(c.all(), "");
  const std::string dump = expect_round_trip(*b, c, {}, b->bfbs());
  for (const char* text : {"<b value=\"true\" />", "<i8 value=\"-128\" />", "<u64 value=\"18446744073709551615\" />",
                           "<i64 value=\"-9223372036854775808\" />", "<d value=\"0.1\" />", "<f value=\"0.1\" />",
                           "<s>text</s>", "<e value=\"-5\" />", "<o value=\"0\" />", "<vi>1 -2 3</vi>",
                           "<vd>0.1 1e+300</vd>", "<vu>18446744073709551615</vu>", "<vb>true false true</vb>",
                           "<Item>c d</Item>", "<n value=\"9\" />", "<ve>7 -5</ve>"})
    EXPECT_TRUE(contains(dump, text)) << text << "\n" << dump;
  // Absent: defaults, and the optional one stays absent.
  const Compiled empty = compile_with(*b, "<R/>");
  const std::string defaults = expect_round_trip(*b, empty, {}, b->bfbs());
  EXPECT_TRUE(contains(defaults, "<e value=\"7\" />")) << defaults;
  EXPECT_FALSE(contains(defaults, "<o ")) << defaults;
}

TEST(Fmt3, NegativeAndFractionalDefaultsAreTheSameWrittenOrNot) {
  const auto b = bind_fbs(
      "table R { a:int = -1; c:short = -7; d:long = -9; f:float = 0.1; g:double = 0.1; e:byte = -128; }\nroot_type R; "
      "file_identifier \"QAQA\";");
  const Compiled empty = compile_with(*b, "<R/>");
  expect_round_trip(*b, empty, {}, b->bfbs());
  const Compiled full = compile_with(*b,
                                     "<R><a value=\"-1\"/><c value=\"-7\"/><d value=\"-9\"/><f value=\"0.1\"/><g "
                                     "value=\"0.1\"/><e value=\"-128\"/></R>");
  EXPECT_EQ(full.all(), "");
  EXPECT_TRUE(full.result.bytes == empty.result.bytes);
}

TEST(Fmt3, RequiredMembersThatAreMissingStillOpenOrAreRefused) {
  const auto b = bind_fbs(
      "table T { n:int; }\ntable R { s:string (required); v:[int] (required); t:T (required); }\nroot_type R; "
      "file_identifier \"QAQA\";");
  for (const char* xml :
       {"<R/>", "<R><s>x</s></R>", "<R><s/><v/><t/></R>", "<R><s>x</s><v>1</v><t><n value=\"1\"/></t></R>"}) {
    const Compiled c = compile_with(*b, xml);
    if (c.result.bytes.empty()) {
      EXPECT_TRUE(c.result.has_errors()) << xml;
      continue;
    }
    EXPECT_TRUE(open_resource(c.bytes(), {.schema = std::as_bytes(b->bfbs())}).ok())
        << xml << ": compiles, and does not open (P050)";
  }
}

TEST(Fmt3, TheExamplesOfTheSchemaDocument) {
  const auto trip = [](const std::string& fbs, const std::string& root, const std::string& xml,
                       std::initializer_list<const char*> parts) {
    const auto b =
        bind_fbs("include \"meridian/xml.fbs\";\n" + fbs + "\nroot_type " + root + "; file_identifier \"QAQA\";");
    if (b == nullptr) return;
    const Compiled c = compile_with(*b, xml);
    EXPECT_EQ(c.all(), "") << xml;
    const std::string dump = expect_round_trip(*b, c, {}, b->bfbs());
    for (const char* part : parts) EXPECT_TRUE(contains(dump, part)) << part << "\n" << dump;
  };
  trip("enum Rig : uint (prefix:\"RIG_\") { SLOOP = 0, KETCH = 1 } table R { rig:Rig (enum_text); }", "R",
       "<R><rig>RIG_KETCH</rig></R>", {"<rig>RIG_KETCH</rig>"});
  trip("struct Point (xml_attrs) { x:float; y:float; } table R { at:Point; }", "R", "<R><at x=\"1\" y=\"2\"/></R>",
       {"<at x=\"1\" y=\"2\" />"});
  trip("struct Point (xml_text) { x:float; y:float; } table R { at:Point; }", "R", "<R><at>1 2</at></R>",
       {"<at>1 2</at>"});
  trip("struct Point { x:float; y:float; } table R { at:Point (xml_text); }", "R", "<R><at>1 2</at></R>",
       {"<at>1 2</at>"});
  trip("table Berth { number:string (xml_attr:\"no\"); free:bool; } table R { berths:[Berth]; }", "R",
       "<R><berths><Item no=\"4a &amp; b\"><free value=\"true\"/></Item></berths></R>", {"<Item no=\"4a &amp; b\">"});
  trip("table R { no:string (xml_attr:\"no\"); n:int; size:int (xml_attr:\"size\"); }", "R",
       "<R no=\"x\" size=\"3\"><n value=\"1\"/></R>", {"no=\"x\"", "size=\"3\""});
  trip("table R { tides:[int] (item:\"Tide\"); }", "R", "<R><tides><Tide value=\"3\"/><Tide value=\"-1\"/></tides></R>",
       {"<Tide value=\"3\" />", "<Tide value=\"-1\" />"});
  trip("struct Lanes3 { lane0:int; lane1:int; lane2:int; } table R { depth:Lanes3 (named_lanes:\"depth_{}\"); }", "R",
       "<R><depth><depth_0 value=\"3\"/><depth_1 value=\"4\"/><depth_2 value=\"5\"/></depth></R>",
       {"<depth_2 value=\"5\" />"});
  trip("enum Signals : uint (bit_flags) { Lamp = 0, Horn = 1, Bell = 2 } table R { signals:Signals (flag_text); }", "R",
       "<R><signals>Lamp, Bell</signals></R>", {"<signals>Lamp, Bell</signals>"});
  trip(
      "struct Quat (xml_attrs) { x:float; y:float; z:float; w:float; } struct Buoy { scale:float (default:\"1\"); "
      "turn:Quat (default:\"0 0 0 1\"); } table R { b:[Buoy]; }",
      "R", "<R><b><Item/></b></R>", {"<scale value=\"1\" />", "<turn x=\"0\" y=\"0\" z=\"0\" w=\"1\" />"});
  trip(
      "struct Boat (xml:\"CBoat\") { length:float; } table Ferry { owner:uint (owner); seats:uint; } table Flag { "
      "owner:uint (owner); text:string; }"
      "table Harbour (xml:\"CHarbour\") { boats:[Boat]; ferries:[Ferry] (hoist_from:\"boats\", item_type:\"CFerry\"); "
      "boat_flags:[Flag] (hoist_from:\"boats\", xml:\"flags\"); }",
      "Harbour",
      "<CHarbour><boats><Item type=\"CBoat\"><length "
      "value=\"9\"/><flags><Item><text>A</text></Item></flags></Item><Item type=\"CFerry\"><length "
      "value=\"40\"/><seats value=\"120\"/></Item></boats></CHarbour>",
      {"<Item type=\"CFerry\">", "<seats value=\"120\" />", "<text>A</text>"});
  trip(
      "table Lamp (xml:\"CLamp\") { watts:float; } table Horn (xml:\"CHorn\") { hertz:float; } table Unknown "
      "(unknown_item) { type:uint; } union Gear { Lamp, Horn, Unknown } table Fitting (item_union:\"gear\") { "
      "gear:Gear; } table R { fittings:[Fitting]; }",
      "R", "<R><fittings><Item type=\"CHorn\"><hertz value=\"140\"/></Item><Item type=\"CLamp\"/></fittings></R>",
      {"<Item type=\"CHorn\">", "<hertz value=\"140\" />", "<Item type=\"CLamp\">"});
  trip("table Boat { colour:uint (color_word); home:uint (joaat); sound:uint (hash_number); } table R { boat:Boat; }",
       "R", "<R><boat><colour value=\"0xFF2040C0\"/><home>north_pier</home><sound value=\"439041101\"/></boat></R>",
       {"<colour value=\"0xFF2040C0\" />", "<home>north_pier</home>", "<sound value=\"439041101\" />"});
}

TEST(Fmt3, AnItemUnionWithoutAnUnknownMemberKeepsTheItemAndOpens) {
  const auto b = bind_fbs(
      "include \"meridian/xml.fbs\";\ntable Lamp (xml:\"CLamp\") { watts:float; } union Gear { Lamp } table Fitting "
      "(item_union:\"gear\") { gear:Gear; } table R { fittings:[Fitting]; }\nroot_type R; file_identifier \"QAQA\";");
  const Compiled c = compile_with(
      *b, "<R><fittings><Item type=\"CHorn\"/><Item type=\"CLamp\"><watts value=\"5\"/></Item></fittings></R>");
  ASSERT_FALSE(c.result.bytes.empty()) << c.all();
  EXPECT_TRUE(open_resource(c.bytes(), {.schema = std::as_bytes(b->bfbs())}).ok());
  EXPECT_TRUE(contains(expect_round_trip(*b, c, {}, b->bfbs()), "<Item type=\"CHorn\"/>"));
}

TEST(SchemaFile, ErrorsSayWhereAndWhat) {
  const TempDir dir;
  const auto error_of = [&](const std::string& fbs) {
    std::vector<std::string> read;
    std::string error;
    const auto bfbs = tools::compile_schema_file(dir.write("bad.fbs", fbs), {}, read, error);
    if (bfbs.empty()) return error;
    EXPECT_EQ(tools::Binding::create(bfbs, error), nullptr) << fbs;
    return error;
  };
  EXPECT_TRUE(contains(error_of("table R {\n a:nope; }\nroot_type R;"), "bad.fbs"))
      << error_of("table R {\n a:nope; }\nroot_type R;");
  EXPECT_TRUE(contains(error_of("table R { a:int; }"), "root_type"));
  EXPECT_TRUE(contains(error_of("table R { a:int; } root_type R;"), "file_identifier"));
  const std::string head = "include \"meridian/xml.fbs\";\n", tail = "\nroot_type R; file_identifier \"QAQA\";";
  EXPECT_TRUE(contains(error_of(head + "table R { name:int (joaat); }" + tail), "joaat"));
  EXPECT_TRUE(contains(error_of(head + "table R { e:int (enum_text); }" + tail), "enum_text"));
  EXPECT_TRUE(contains(error_of(head + "table R { e:int (derive:\"nope\"); }" + tail), "nope"));
  EXPECT_TRUE(contains(error_of(head + "table R { e:int (range:\"5\"); }" + tail), "range"));
  EXPECT_TRUE(contains(error_of(head + "struct S { a:ubyte (default:\"256\"); } table R { s:S; }" + tail), "256"));
  EXPECT_TRUE(contains(error_of(head + "table T { o:uint (owner); } table R { t:[T] (hoist_from:\"nope\"); }" + tail),
                       "hoist_from"));
  EXPECT_TRUE(contains(
      error_of(head + "struct S { a:int; } table T { x:uint; } table R { s:[S]; t:[T] (hoist_from:\"s\"); }" + tail),
      "owner"));
  EXPECT_TRUE(contains(error_of(head + "struct S { a:[int:4]; } table R { s:S; }" + tail), "array"));
  EXPECT_TRUE(contains(error_of("table A { a:int; } union U { A } table R { u:U; }" + tail), "item_union"));
  std::vector<std::string> read;
  std::string error;
  EXPECT_TRUE(tools::compile_schema_file(dir.path("missing.fbs"), {}, read, error).empty());
  EXPECT_TRUE(contains(error, "missing.fbs"));
}

TEST(SchemaFile, ListsEveryFileThatWasRead) {
  const TempDir dir;
  dir.write("inc/part.fbs", "struct P { x:int; }");
  const std::string path = dir.write(
      "qa.fbs",
      "include \"meridian/xml.fbs\";\ninclude \"part.fbs\";\ntable R { p:P; } root_type R; file_identifier \"QAQA\";");
  std::vector<std::string> read;
  std::string error;
  ASSERT_FALSE(tools::compile_schema_file(path, {dir.path("inc")}, read, error).empty()) << error;
  ASSERT_EQ(read.size(), 2u);
  EXPECT_TRUE(contains(read[0] + read[1], "part.fbs"));
  EXPECT_TRUE(contains(read[0] + read[1], "qa.fbs"));
}

}  // namespace
}  // namespace meridian::test
