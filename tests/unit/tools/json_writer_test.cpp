// SPDX-License-Identifier: MIT
#include "meridian/tools/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "json_checker.h"

namespace meridian::tools {
namespace {

using test::JsonReader;

template <class Write>
std::string written(int indent, Write write) {
  std::string out;
  JsonWriter json(out, indent);
  write(json);
  return out;
}

template <class T>
std::string one(T value) {
  return written(2, [&](JsonWriter& json) { json.value(value); });
}

TEST(JsonWriter, IndentsMembersAndKeepsTheirOrder) {
  const std::string out = written(2, [](JsonWriter& json) {
    json.begin_object();
    json.member("z", 1);
    json.key("a");
    json.begin_array();
    json.value("x");
    json.null();
    json.end_array();
    json.end_object();
  });
  EXPECT_EQ(out, "{\n  \"z\": 1,\n  \"a\": [\n    \"x\",\n    null\n  ]\n}");
}

TEST(JsonWriter, WritesOneLineWithoutBlanksWhenIndentIsZero) {
  const std::string out = written(0, [](JsonWriter& json) {
    json.begin_object();
    json.member("a", true);
    json.key("b");
    json.begin_array();
    json.value(1);
    json.value(2);
    json.end_array();
    json.end_object();
  });
  EXPECT_EQ(out, "{\"a\":true,\"b\":[1,2]}");
}

TEST(JsonWriter, KeepsAOneLineArrayAndAllInItOnOneLine) {
  const std::string out = written(2, [](JsonWriter& json) {
    json.begin_array();
    json.begin_array(/*one_line=*/true);
    json.value(1.5f);
    json.begin_object();
    json.member("k", "v");
    json.member("l", false);
    json.end_object();
    json.end_array();
    json.end_array();
  });
  EXPECT_EQ(out, "[\n  [1.5, {\"k\": \"v\", \"l\": false}]\n]");
}

TEST(JsonWriter, WritesEmptyContainersWithoutLineBreak) {
  const std::string out = written(2, [](JsonWriter& json) {
    json.begin_array();
    json.begin_object();
    json.end_object();
    json.begin_array();
    json.end_array();
    json.end_array();
  });
  EXPECT_EQ(out, "[\n  {},\n  []\n]");
}

TEST(JsonWriter, EscapesQuotesBackslashesAndControlCharacters) {
  EXPECT_EQ(one(std::string_view("a\"b\\c\n\r\t\x01\0z", 11)), "\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u0000z\"");
}

TEST(JsonWriter, KeepsUtf8AsItIs) {
  // e acute, euro sign, and a character outside the basic plane
  EXPECT_EQ(one("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"");
}

TEST(JsonWriter, ReplacesEachBadByteByTheReplacementCharacter) {
  EXPECT_EQ(one("a\xFFz"), "\"a\\ufffdz\"");
  EXPECT_EQ(one("\xC3"), "\"\\ufffd\"");                                   // cut short
  EXPECT_EQ(one("\xC0\xAF"), "\"\\ufffd\\ufffd\"");                        // overlong '/'
  EXPECT_EQ(one("\xED\xA0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");             // a surrogate
  EXPECT_EQ(one("\xF4\x90\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");  // past U+10FFFF
}

TEST(JsonWriter, WritesFloatsInTheirShortestExactForm) {
  EXPECT_EQ(one(0.1f), "0.1");
  EXPECT_EQ(one(0.1), "0.1");
  EXPECT_EQ(one(-0.0f), "-0");
  EXPECT_EQ(one(16777216.f), "16777216");
  EXPECT_EQ(one(1.1754944e-38f), "1.1754944e-38");  // FLT_MIN
  EXPECT_EQ(one(1e300), "1e+300");
}

TEST(JsonWriter, WritesNullForWhatIsNotFinite) {
  EXPECT_EQ(one(std::numeric_limits<float>::infinity()), "null");
  EXPECT_EQ(one(-std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(one(std::nanf("")), "null");
}

TEST(JsonWriter, WritesTheWholeRangeOfIntegers) {
  EXPECT_EQ(one(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(one(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(one(uint32_t{4294967291u}), "4294967291");
  EXPECT_EQ(one(-1), "-1");
}

TEST(JsonWriter, TreatsALiteralAsTextAndNotAsBoolean) { EXPECT_EQ(one("false"), "\"false\""); }

TEST(JsonWriter, WritesWhatAnotherReaderAccepts) {
  const std::string out = written(2, [](JsonWriter& json) {
    json.begin_object();
    json.member("text", "\x7F \x1F \xE2\x82 \"");
    json.member("float", 3.4028235e38f);
    json.key("nan");
    json.value(std::nan(""));
    json.end_object();
  });
  const auto read = JsonReader::read(out);
  ASSERT_TRUE(read.has_value()) << out;
  EXPECT_EQ(read->keys(), "text,float,nan");
  EXPECT_EQ((*read)["float"].text, "3.4028235e+38");
}

#ifndef NDEBUG
TEST(JsonWriterDeathTest, RefusesAValueWithoutKeyInAnObject) {
  std::string out;
  EXPECT_DEATH(
      {
        JsonWriter json(out);
        json.begin_object();
        json.value(1);
      },
      "needs a key");
}
#endif

}  // namespace
}  // namespace meridian::tools
