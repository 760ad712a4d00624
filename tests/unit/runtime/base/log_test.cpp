// SPDX-License-Identifier: MIT
#include "meridian/base/log.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>
#include <string>

#include "support/captured.h"

namespace meridian {
namespace {

TEST(Log, LevelsHaveStableWords) {
  EXPECT_STREQ(to_string(LogLevel::info), "info");
  EXPECT_STREQ(to_string(LogLevel::warning), "warning");
  EXPECT_STREQ(to_string(LogLevel::error), "error");
  EXPECT_STREQ(to_string(static_cast<LogLevel>(77)), "unknown");
}

// CORE-11: through the log sink, with the name of the thing.
TEST(Log, SinkGetsLevelNameAndFormattedText) {
  test::CapturedLog log;
  log_message(LogLevel::error, hash_name("lamp_3"), "%s has %d of %u", "lamp_3", -4, 7u);
  log_message(LogLevel::info, {}, "plain 100%%");
  ASSERT_EQ(log.count(), 2u);
  EXPECT_EQ(log.said()[0].level, LogLevel::error);
  EXPECT_EQ(log.said()[0].name, hash_name("LAMP_3"));
  EXPECT_EQ(log.said()[0].text, "lamp_3 has -4 of 7");
  EXPECT_EQ(log.said()[1].level, LogLevel::info);
  EXPECT_EQ(log.said()[1].name, NameHash{});
  EXPECT_EQ(log.said()[1].text, "plain 100%");
}

TEST(Log, SinkGetsItsUserBack) {
  int calls = 0;
  set_log_sink({[](void* user, const LogMessage&) { ++*static_cast<int*>(user); }, &calls});
  log_message(LogLevel::info, {}, "one");
  log_message(LogLevel::info, {}, "two");
  set_log_sink({});
  EXPECT_EQ(calls, 2);
}

TEST(LogDeathTest, DefaultSinkWritesToStandardError) {
  const auto say = [] {
    { const test::CapturedLog replaced; }  // an empty sink restores the default
    log_message(LogLevel::warning, {}, "%d lamps left out", 7);
    std::exit(0);
  };
  EXPECT_EXIT(say(), testing::ExitedWithCode(0), "^meridian: warning: 7 lamps left out\n$");
}

TEST(Log, TextIsCutAtTheLimitAndSaysSo) {
  test::CapturedLog log;
  for (const size_t length : {kMaxLogText - 1, kMaxLogText, kMaxLogText + 1, kMaxLogText + 1000}) {
    log.clear();
    std::string text(length, 'x');
    for (size_t i = 0; i < length; ++i) text[i] = static_cast<char>('a' + i % 26);
    log_message(LogLevel::info, {}, "%s", text.c_str());
    ASSERT_EQ(log.count(), 1u);
    const std::string& said = log.said()[0].text;
    if (length <= kMaxLogText) {
      EXPECT_EQ(said, text);
    } else {
      EXPECT_EQ(said, text.substr(0, kMaxLogText - 3) + "...");
    }
  }
  log.clear();
  log_message(LogLevel::info, {}, "%s", "");
  EXPECT_EQ(log.said().at(0).text, "");
}

struct Names {
  static std::string_view find(void* user, NameHash name) {
    const auto* const known = static_cast<const std::string*>(user);
    return hash_name(*known) == name ? std::string_view(*known) : std::string_view();
  }
};

// CORE-2: where texts are mounted, messages show them; without, the runtime does with hashes.
TEST(Log, NamesAreTextAndNumberOrNumberAlone) {
  EXPECT_STREQ(name_text(NameHash{0x1A2B3C4D}).text, "0x1A2B3C4D");
  EXPECT_STREQ(name_text(NameHash{}).text, "0x00000000");
  std::string known = "a";  // Jenkins' hash of "a" is 0xCA2E9442
  set_name_lookup({Names::find, &known});
  EXPECT_STREQ(name_text(NameHash{0xCA2E9442}).text, "'a' (0xCA2E9442)");
  EXPECT_STREQ(name_text(NameHash{0xCA2E9443}).text, "0xCA2E9443");
  set_name_lookup({});
  EXPECT_STREQ(name_text(NameHash{0xCA2E9442}).text, "0xCA2E9442");
}

TEST(Log, LongNamesAreCutButNotTheirNumbers) {
  for (size_t length = 1; length < 300; ++length) {
    std::string known(length, 'y');
    const NameHash name = hash_name(known);
    set_name_lookup({Names::find, &known});
    const std::string text = name_text(name).text;
    set_name_lookup({});
    char number[16];
    std::snprintf(number, sizeof number, "' (0x%08X)", name.value);
    ASSERT_LT(text.size(), sizeof(NameText::text));
    ASSERT_EQ(text.front(), '\'');
    ASSERT_GE(text.size(), 14u);
    ASSERT_EQ(text.substr(text.size() - 14), number) << length;
    const size_t shown = text.size() - 15;
    ASSERT_EQ(text.substr(1, shown), std::string(shown, 'y'));
    if (length <= 64) {
      ASSERT_EQ(shown, length);
    }
  }
}

// CORE-11: once.
TEST(OnceSet, EachKeyIsNewOnce) {
  OnceSet set;
  EXPECT_TRUE(set.first(0));
  EXPECT_FALSE(set.first(0));
  EXPECT_TRUE(set.first(0xFFFFFFFF));
  EXPECT_FALSE(set.first(0xFFFFFFFF));
  set.clear();
  EXPECT_TRUE(set.first(0));
  EXPECT_TRUE(set.first(0xFFFFFFFF));
  EXPECT_EQ(set.suppressed(), 0u);
  EXPECT_LE(sizeof(OnceSet), 1024u + 16);
}

TEST(OnceSet, AgreesWithASetUntilItIsFullAndThenSaysNothingNew) {
  for (const uint32_t seed : {1u, 2u, 3u, 4u}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    OnceSet set;
    std::set<uint32_t> model;
    uint64_t suppressed = 0;
    for (int i = 0; i < 20000; ++i) {
      // Few bits, so that keys come again and collide; others differ in the top bits only.
      const uint32_t key =
          seed % 2 == 0 ? static_cast<uint32_t>(random() % 600) : static_cast<uint32_t>(random() % 300) << 20 | 1u;
      const bool has_room = model.size() < 256;
      const bool is_known = model.count(key) != 0;
      if (key != 0 && !is_known && !has_room) {
        ASSERT_FALSE(set.first(key));
        ++suppressed;
        continue;
      }
      if (key == 0) {  // has a place of its own
        (void)set.first(0);
        ASSERT_FALSE(set.first(0));
        continue;
      }
      ASSERT_EQ(set.first(key), !is_known);
      model.insert(key);
    }
    EXPECT_EQ(set.suppressed(), suppressed);
    for (const uint32_t key : model) ASSERT_FALSE(set.first(key));
  }
}

}  // namespace
}  // namespace meridian
