// SPDX-License-Identifier: MIT
#include "meridian/tools/json_reader.h"

#include <string>

#include <gtest/gtest.h>

namespace meridian::tools {
namespace {

using Kind = JsonValue::Kind;

JsonValue read(std::string_view text) {
  JsonValue out;
  JsonError error;
  EXPECT_TRUE(read_json(text, out, error)) << text << ": " << error.message;
  return out;
}

/// "offset message"
std::string refusal(std::string_view text) {
  JsonValue out;
  JsonError error;
  if (read_json(text, out, error)) return "taken";
  return std::to_string(error.offset) + " " + error.message;
}

TEST(JsonReader, ReadsEachKindAndKnowsItsPlace) {
  const JsonValue root = read(R"( {"a": [1, -2.5e2, "x", true, false, null], "b": {}} )");
  ASSERT_EQ(root.kind, Kind::object);
  EXPECT_EQ(root.offset, 1u);
  ASSERT_EQ(root.members.size(), 2u);
  EXPECT_EQ(root.members[0].offset, 2u);
  const JsonValue* const a = root.find("a");
  ASSERT_NE(a, nullptr);
  ASSERT_EQ(a->items.size(), 6u);
  EXPECT_EQ(a->offset, 7u);
  EXPECT_EQ(a->items[0].number, 1);
  EXPECT_EQ(a->items[1].number, -250);
  EXPECT_EQ(a->items[1].text, "-2.5e2");
  EXPECT_EQ(a->items[2].text, "x");
  EXPECT_EQ(a->items[2].offset, 19u);
  EXPECT_TRUE(a->items[3].kind == Kind::boolean && a->items[3].boolean);
  EXPECT_TRUE(a->items[4].kind == Kind::boolean && !a->items[4].boolean);
  EXPECT_EQ(a->items[5].kind, Kind::null);
  EXPECT_EQ(root.find("b")->kind, Kind::object);
  EXPECT_EQ(root.find("c"), nullptr);
}

TEST(JsonReader, ResolvesEscapes) {
  EXPECT_EQ(read(R"("\"\\\/\b\f\n\r\t")").text, "\"\\/\b\f\n\r\t");
  EXPECT_EQ(read(R"("\u0041\u00e9\u20AC\ud83d\ude00")").text, "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(read("\"\xC3\xA9\"").text, "\xC3\xA9");
}

TEST(JsonReader, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal(""), "0 a value is missing: the text ends here");
  EXPECT_EQ(refusal("{\"a\": 1,}"), "8 a comma stands before the closing brace");
  EXPECT_EQ(refusal("[1,]"), "3 a comma stands before the closing bracket");
  EXPECT_EQ(refusal("[1 2]"), "3 a comma or a closing bracket is expected here");
  EXPECT_EQ(refusal("{\"a\" 1}"), "5 a colon is expected here");
  EXPECT_EQ(refusal("{a: 1}"), "1 a name in quotes is expected here");
  EXPECT_EQ(refusal("{\"a\": 1, \"a\": 2}"), "9 'a' stands here twice");
  EXPECT_EQ(refusal("[1] x"), "4 something stands behind the end of the document");
  EXPECT_EQ(refusal("[ // one\n1]"), "2 JSON has no comments");
  EXPECT_EQ(refusal("\"abc"), "0 a string without its closing quote");
  EXPECT_EQ(refusal("\"a\nb\""), "0 a string without its closing quote");
  EXPECT_EQ(refusal("\"a\tb\""), "2 a control character in a string");
  EXPECT_EQ(refusal(R"("C:\maps")"), "3 no such escape; a backslash is written twice");
  EXPECT_EQ(refusal(R"("\u12G4")"), "1 \\u takes four hexadecimal digits");
  EXPECT_EQ(refusal(R"("\ud83d")"), "1 half of a surrogate pair");
  EXPECT_EQ(refusal(R"("\ude00")"), "1 half of a surrogate pair");
  EXPECT_EQ(refusal("\"\xC0\xAF\""), "1 bytes that are no UTF-8");      // overlong
  EXPECT_EQ(refusal("\"\xED\xA0\x80\""), "1 bytes that are no UTF-8");  // a surrogate
  EXPECT_EQ(refusal("\"\xE2\x82\""), "1 bytes that are no UTF-8");      // cut off
  EXPECT_EQ(refusal("01"), "0 a number begins with a needless zero");
  EXPECT_EQ(refusal("1."), "2 a digit is missing: the text ends here");
  EXPECT_EQ(refusal("1e999"), "0 the number has too large an exponent");
  EXPECT_EQ(refusal("nul"), "0 a value is expected here");
}

TEST(JsonReader, RefusesWhatIsTooDeep) {
  const auto nested = [](int n) {
    return std::string(static_cast<size_t>(n), '[') + std::string(static_cast<size_t>(n), ']');
  };
  EXPECT_EQ(refusal(nested(kMaxJsonDepth)), "taken");
  EXPECT_EQ(refusal(nested(100'000)), std::to_string(kMaxJsonDepth + 1) + " values are nested too deep");
}

TEST(JsonReader, NoPrefixOfADocumentIsOne) {
  const std::string whole = R"({"a": [1, {"b": "\u0041"}], "c": -1.5e3})";
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(refusal(whole.substr(0, size)), "taken") << size;
  EXPECT_EQ(refusal(whole), "taken");
}

}  // namespace
}  // namespace meridian::tools
