// SPDX-License-Identifier: MIT
// Numbers, booleans and hash literals of XML (READ-1, READ-2, READ-5, P016, P023, P051).
#include "text_values.h"

#include <gtest/gtest.h>

#include <bit>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

namespace meridian::tools {
namespace {

using namespace std::string_literals;

NumberError integer_error(std::string_view text, Scalar s = Scalar::u32) { return parse_integer(text, s).error; }
int64_t integer(std::string_view text, Scalar s) {
  const ParsedNumber n = parse_integer(text, s);
  EXPECT_EQ(n.error, NumberError::none) << text;
  return signed_value(s, n.bits);
}
float f32(std::string_view text) {
  const ParsedNumber n = parse_float(text, Scalar::f32);
  EXPECT_EQ(n.error, NumberError::none) << text;
  return std::bit_cast<float>(static_cast<uint32_t>(n.bits));
}
NumberError float_error(std::string_view text, Scalar s = Scalar::f32) { return parse_float(text, s).error; }

TEST(TextValues, IntegersReadExactlyUpToBothEndsOfEachType) {
  struct Type {
    Scalar s;
    const char *below, *min, *max, *above;
  };
  for (const Type& t :
       {Type{Scalar::u8, "-1", "0", "255", "256"}, Type{Scalar::i8, "-129", "-128", "127", "128"},
        Type{Scalar::u16, "-1", "0", "65535", "65536"}, Type{Scalar::i16, "-32769", "-32768", "32767", "32768"},
        Type{Scalar::u32, "-1", "0", "4294967295", "4294967296"},
        Type{Scalar::i32, "-2147483649", "-2147483648", "2147483647", "2147483648"},
        Type{Scalar::i64, "-9223372036854775809", "-9223372036854775808", "9223372036854775807",
             "9223372036854775808"}}) {
    EXPECT_EQ(std::to_string(integer(t.min, t.s)), t.min);
    EXPECT_EQ(std::to_string(integer(t.max, t.s)), t.max);
    EXPECT_EQ(integer_error(t.below, t.s), NumberError::out_of_range) << t.below;
    EXPECT_EQ(integer_error(t.above, t.s), NumberError::out_of_range) << t.above;
  }
  EXPECT_EQ(parse_integer("18446744073709551615", Scalar::u64).bits, 18446744073709551615u);
  EXPECT_EQ(integer_error("18446744073709551616", Scalar::u64), NumberError::out_of_range);
  EXPECT_EQ(integer_error("99999999999999999999999999999999", Scalar::u32), NumberError::out_of_range);
}

TEST(TextValues, P023LargeIdsKeepTheirLowDigits) {
  EXPECT_EQ(parse_integer("4294967291", Scalar::u32).bits, 4294967291u);
  EXPECT_EQ(parse_integer("16777217", Scalar::u32).bits, 16777217u);                  // not a float
  EXPECT_EQ(parse_integer("9007199254740993", Scalar::i64).bits, 9007199254740993u);  // not a double
}

TEST(TextValues, IntegersMayBeHexSignedAndHaveBlanksAround) {
  EXPECT_EQ(integer("0x20", Scalar::u32), 32);
  EXPECT_EQ(integer("0XfF", Scalar::u8), 255);
  EXPECT_EQ(integer("0xFFFFFFFF", Scalar::u32), 4294967295);
  EXPECT_EQ(integer("+7", Scalar::i32), 7);
  EXPECT_EQ(integer("-0", Scalar::u32), 0);
  EXPECT_EQ(integer("  12\t\n", Scalar::i32), 12);
  EXPECT_EQ(integer("0012", Scalar::i32), 12);  // decimal, not octal
  EXPECT_EQ(integer_error("0x100000000"), NumberError::out_of_range);
}

TEST(TextValues, WhatIsNotWhollyAnIntegerIsRefused) {
  EXPECT_EQ(integer_error(""), NumberError::empty);
  EXPECT_EQ(integer_error(" \n "), NumberError::empty);
  for (const char* text : {"12abc", "abc", "0x", "0xG1", "--1", "+-1", "-+1", "1 2", "- 1", "nan", "inf", "1_000",
                           "0b1", "#12", "1e", "e3"})
    EXPECT_EQ(integer_error(text, Scalar::i32), NumberError::not_a_number) << text;
  EXPECT_EQ(integer_error("1,5"), NumberError::decimal_comma);
  EXPECT_EQ(integer_error("1\0002"s), NumberError::not_a_number);
}

TEST(TextValues, WholeFloatsInIntegerFieldsAreExactOthersAreNot) {
  for (const auto& [text, value] : {std::pair{"12.0", 12u},
                                    {"1e3", 1000u},
                                    {"1E+3", 1000u},
                                    {"4294967295.0", 4294967295u},
                                    {"2.5e1", 25u},
                                    {"-0.0", 0u}}) {
    const ParsedNumber n = parse_integer(text, Scalar::u32);
    EXPECT_EQ(n.error, NumberError::exact_float) << text;
    EXPECT_EQ(n.bits, value) << text;
  }
  for (const char* text : {"12.5", "0.5", "1e-3", "-12.5"})
    EXPECT_EQ(integer_error(text, Scalar::i32), NumberError::not_an_integer) << text;
  EXPECT_EQ(integer_error(".5", Scalar::i32), NumberError::not_an_integer);
  EXPECT_EQ(integer_error("4294967296.0"), NumberError::out_of_range);
  EXPECT_EQ(integer_error("1e999"), NumberError::out_of_range);
  EXPECT_EQ(integer_error("-1.0"), NumberError::out_of_range);
}

TEST(TextValues, FloatsAreTheNearestOfTheirType) {
  EXPECT_EQ(f32("0.1"), 0.1f);
  EXPECT_EQ(f32("+1.5"), 1.5f);
  EXPECT_EQ(f32(" 2.5 "), 2.5f);
  EXPECT_EQ(f32("1e-006"), 1e-6f);
  EXPECT_EQ(f32("1.192093E-07"), 1.192093E-07f);
  EXPECT_EQ(f32("3.388132E-21"), 3.388132E-21f);
  EXPECT_EQ(f32("-3.402823E+38"), -3.402823E+38f);
  EXPECT_EQ(f32("340282346638528859811704183484516925440"), std::numeric_limits<float>::max());
  EXPECT_EQ(f32("16777217"), 16777216.0f);  // ties to even
  // Halfway by double rounding: the decimal is just above the middle of two floats.
  EXPECT_EQ(f32("1.00000005960464477540"), std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(f32("1.4e-45"), std::numeric_limits<float>::denorm_min());
}

// Most numbers take a short way (Clinger's); the C library reads the same text by another one.
TEST(TextValues, PlainDecimalsAreReadAsTheCLibraryReadsThem) {
  const auto check = [](const std::string& text) {
    EXPECT_EQ(parse_float(text, Scalar::f32).bits, std::bit_cast<uint32_t>(std::strtof(text.c_str(), nullptr))) << text;
    EXPECT_EQ(parse_float(text, Scalar::f64).bits, std::bit_cast<uint64_t>(std::strtod(text.c_str(), nullptr))) << text;
  };
  std::mt19937_64 random(20260727);
  for (int i = 0; i < 200000; ++i) {
    std::string text = std::to_string(random() >> random() % 64);
    text.resize(std::min<size_t>(text.size(), 1 + random() % 20));
    if (random() % 4 != 0 && text.size() > 1) text.insert(1 + random() % (text.size() - 1), ".");
    if (random() % 2 == 0) text.insert(0, random() % 8 == 0 ? "0" : "-");
    check(text);
  }
  for (const char* text : {"9007199254740992", "9007199254740993", "9007199254740991", "0.00000000000000001", "000.100",
                           "-0.0", "123456789012345678", "1234567890123456789", "99999999999999999.9"})
    check(text);
}

// A double that lies half way between two floats says no longer on which side of it the decimal was.
TEST(TextValues, DecimalsNextToTheMiddleOfTwoFloatsAreNotRoundedTwice) {
  std::mt19937 random(20260728);
  for (int i = 0; i < 100000; ++i) {
    const float low = std::bit_cast<float>(static_cast<uint32_t>(0x30000000u + random() % 0x1E000000u));
    const double middle = (static_cast<double>(low) + static_cast<double>(std::nextafter(low, 1e30f))) / 2;
    std::string text(64, '\0');
    text.resize(
        static_cast<size_t>(std::snprintf(text.data(), text.size(), "%.*f", static_cast<int>(random() % 18), middle)));
    EXPECT_EQ(parse_float(text, Scalar::f32).bits, std::bit_cast<uint32_t>(std::strtof(text.c_str(), nullptr))) << text;
  }
}

TEST(TextValues, IntegersAtTheEndsOfEachTypeAreInAndTheNextAreOut) {
  struct Ends {
    Scalar scalar;
    const char *below, *least, *most, *above;
  };
  for (const Ends& e :
       {Ends{Scalar::u8, "-1", "0", "255", "256"}, Ends{Scalar::i8, "-129", "-128", "127", "128"},
        Ends{Scalar::u16, "-1", "-0", "65535", "65536"}, Ends{Scalar::i16, "-32769", "-32768", "32767", "32768"},
        Ends{Scalar::u32, "-1", "0", "4294967295", "4294967296"},
        Ends{Scalar::i32, "-2147483649", "-2147483648", "2147483647", "2147483648"},
        Ends{Scalar::u64, "-1", "0", "18446744073709551615", "18446744073709551616"},
        Ends{Scalar::i64, "-9223372036854775809", "-9223372036854775808", "9223372036854775807",
             "9223372036854775808"}}) {
    EXPECT_EQ(integer_error(e.below, e.scalar), NumberError::out_of_range) << e.below;
    EXPECT_EQ(integer_error(e.above, e.scalar), NumberError::out_of_range) << e.above;
    EXPECT_EQ(integer(e.least, e.scalar), std::strtoll(e.least, nullptr, 10));
    EXPECT_EQ(static_cast<uint64_t>(integer(e.most, e.scalar)), std::strtoull(e.most, nullptr, 10));
  }
}

TEST(TextValues, TheSignOfMinusZeroIsKept) {
  EXPECT_TRUE(std::signbit(f32("-0.000000")));
  EXPECT_TRUE(std::signbit(f32("-0")));
  EXPECT_FALSE(std::signbit(f32("0")));
  const ParsedNumber n = parse_float("-1e-60", Scalar::f32);
  EXPECT_EQ(n.error, NumberError::underflow);
  EXPECT_EQ(n.bits, 0x80000000u);
}

TEST(TextValues, P051OverflowNanAndInfAreNotFinite) {
  for (const char* text : {"1e39", "-1e39", "3.5e38", "nan", "NaN", "-nan", "inf", "-inf", "+inf", "INF", "infinity",
                           "1e999", "nan(1)", "1.#INF", "-1.#IND"})
    EXPECT_EQ(float_error(text), NumberError::not_finite) << text;
  EXPECT_EQ(float_error("1e309", Scalar::f64), NumberError::not_finite);
  EXPECT_EQ(float_error("1e308", Scalar::f64), NumberError::none);
}

TEST(TextValues, OverflowIsToldFromUnderflowHoweverItIsWritten) {
  EXPECT_EQ(float_error("0.5e999"), NumberError::not_finite);  // begins with 0, is huge
  EXPECT_EQ(float_error("0.00001e99"), NumberError::not_finite);
  EXPECT_EQ(float_error("0e999"), NumberError::none);                                   // zero is zero
  EXPECT_EQ(float_error("1" + std::string(60, '0') + "e-1"), NumberError::not_finite);  // a minus, and huge
  EXPECT_EQ(float_error(std::string(60, '9')), NumberError::not_finite);
  EXPECT_EQ(float_error("1e-46"), NumberError::underflow);
  EXPECT_EQ(float_error("0." + std::string(60, '0') + "1"), NumberError::underflow);
  EXPECT_EQ(float_error("0." + std::string(60, '0') + "1e2"), NumberError::underflow);
  EXPECT_EQ(float_error("123456e-60"), NumberError::underflow);
}

TEST(TextValues, P016DecimalCommasAndOtherSpellingsAreNoFloats) {
  for (const char* text : {"12,5", "1,000.5", "-1,5", "1,5e3"})
    EXPECT_EQ(float_error(text), NumberError::decimal_comma) << text;
  for (const char* text : {"1.5m", "1.5f", "0x10", "--1", "1 2", "e5", "1e", ".", "-", "+", "1.2.3", "abc", "1;5"})
    EXPECT_EQ(float_error(text), NumberError::not_a_number) << text;
  EXPECT_EQ(float_error(""), NumberError::empty);
}

TEST(TextValues, Read5FloatTextIsTheShortestThatReadsBackToTheSameBits) {
  std::mt19937 random(20260101);
  for (int i = 0; i < 200000; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    const float value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) continue;
    std::string text;
    append_number(text, Scalar::f32, bits);
    // Read by the C library, not by us.
    EXPECT_EQ(std::bit_cast<uint32_t>(std::strtof(text.c_str(), nullptr)), bits) << text;
    EXPECT_EQ(parse_float(text, Scalar::f32).bits, bits) << text;
    if (i % 100 != 0 || value == 0) continue;
    // Brute force: no text with fewer significant digits reads back.
    size_t digits = 0;
    for (const char c : text.substr(0, text.find('e'))) digits += c >= '0' && c <= '9' ? 1 : 0;
    const std::string plain = text.substr(0, text.find('e'));
    const bool exponent = text.find('e') != std::string::npos;
    if (!exponent) continue;  // zeros before or behind the digits are places, not digits
    for (size_t n = 1; n < digits; ++n) {
      char shorter[64];
      std::snprintf(shorter, sizeof shorter, "%.*e", static_cast<int>(n - 1), static_cast<double>(value));
      EXPECT_NE(std::strtof(shorter, nullptr), value) << text << " could be " << shorter;
    }
  }
}

TEST(TextValues, IntegersAreWrittenSignedByTheirType) {
  std::string text;
  append_number(text, Scalar::i32, 0xFFFFFFFF);
  EXPECT_EQ(text, "-1");
  text.clear();
  append_number(text, Scalar::u32, 0xFFFFFFFF);
  EXPECT_EQ(text, "4294967295");
  text.clear();
  append_number(text, Scalar::i8, 0x80);
  EXPECT_EQ(text, "-128");
  text.clear();
  append_number(text, Scalar::u64, ~uint64_t{0});
  EXPECT_EQ(text, "18446744073709551615");
}

TEST(TextValues, BooleansAreTrueFalseInAnyCaseOneAndZero) {
  for (const char* t : {"true", "TRUE", "True", "tRuE", "1", " true "}) EXPECT_EQ(parse_boolean(t), 1) << t;
  for (const char* t : {"false", "FALSE", "False", "0", "\nfalse"}) EXPECT_EQ(parse_boolean(t), 0) << t;
  for (const char* t : {"", "yes", "no", "2", "-1", "tru", "truee", "t", "on", "01"})
    EXPECT_EQ(parse_boolean(t), -1) << t;
}

TEST(TextValues, HashLiteralsHaveOneToEightHexDigits) {
  uint32_t h = 0;
  for (const auto& [text, value] : {std::pair{"hash_1A2B3C4D", 0x1A2B3C4Du},
                                    {"hash_1a2b3c4d", 0x1A2B3C4Du},
                                    {"0x1A2B3C4D", 0x1A2B3C4Du},
                                    {"hash_0", 0u},
                                    {"0xF", 15u},
                                    {"hash_00000001", 1u}}) {
    EXPECT_TRUE(parse_hash_literal(text, h)) << text;
    EXPECT_EQ(h, value) << text;
  }
  for (const char* text : {"hash_", "0x", "hash_123456789", "0x123456789", "hash_xyz", "hash_12 ", "hash_-1", "0x-1",
                           "hash_+1", "HASH_12", "hash12", "12345678", "xhash_12", "hash_0x12", ""})
    EXPECT_FALSE(parse_hash_literal(text, h)) << text;
  std::string out;
  append_hash_literal(out, 0xAB);
  EXPECT_EQ(out, "hash_000000AB");
}

TEST(TextValues, TrimTakesXmlBlanksOnly) {
  EXPECT_EQ(trim(" \t\r\nx y\n "), "x y");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim("\xC2\xA0x"), "\xC2\xA0x");  // a no-break space is text
  EXPECT_EQ(trim("\vx"), "\vx");
}

TEST(TextValues, FoldLowersAsciiOnly) {
  EXPECT_EQ(fold("AZaz09_[@`{"), "azaz09_[@`{");
  EXPECT_EQ(fold("\xC3\x84"), "\xC3\x84");
}

// Edits and swaps of neighbours (optimal string alignment) over the whole table, as the reference.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

TEST(TextValues, NearestIsNearestByEditDistance) {
  EXPECT_EQ(nearest("lodDst", {"flags", "lodDist", "lodLevel"}), "lodDist");
  EXPECT_EQ(nearest("LODDIST", {"flags", "lodDist"}), "lodDist");
  EXPECT_EQ(nearest("zzzzzz", {"flags", "lodDist"}), "");
  EXPECT_EQ(nearest("", {"flags"}), "");
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    const auto word = [&] {
      std::string w;
      for (size_t n = random() % 8; n > 0; --n) w += static_cast<char>('a' + random() % 3);
      return w;
    };
    std::vector<std::string> words;
    for (int k = 0; k < 5; ++k) words.push_back(word());
    const std::string wanted = word();
    std::vector<std::string_view> candidates(words.begin(), words.end());
    const std::string_view found = nearest(wanted, candidates);
    if (found.empty()) continue;
    for (const std::string& w : words) EXPECT_LE(distance(wanted, std::string(found)), distance(wanted, w)) << wanted;
  }
}

TEST(TextValues, SchemaDefaultsThatDoNotFitAreRefused) {
  uint8_t at[8] = {};
  EXPECT_TRUE(store_number("-1", Scalar::i8, at));
  EXPECT_EQ(at[0], 0xFF);
  EXPECT_TRUE(store_number("true", Scalar::boolean, at));
  EXPECT_FALSE(store_number("256", Scalar::u8, at));
  EXPECT_FALSE(store_number("1.5", Scalar::u8, at));
  EXPECT_FALSE(store_number("x", Scalar::f32, at));
  EXPECT_FALSE(store_number("", Scalar::f32, at));
}

// P016: de_DE where the machine has it; else a locale whose numbers differ is still tried by name.
TEST(TextValues, TheProcessLocaleChangesNothing) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C.utf8"})
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  EXPECT_EQ(f32("12.5"), 12.5f);
  EXPECT_EQ(float_error("12,5"), NumberError::decimal_comma);
  std::string text;
  append_number(text, Scalar::f32, std::bit_cast<uint32_t>(12.5f));
  EXPECT_EQ(text, "12.5");
  std::setlocale(LC_ALL, before.c_str());
}

}  // namespace
}  // namespace meridian::tools
