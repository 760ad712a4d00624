// SPDX-License-Identifier: MIT
#include "meridian/core/config_target.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace meridian {
namespace {

ConfigTarget target_of(const char* preset, ConfigPlatform platform = ConfigPlatform::x64) {
  ConfigTarget target;
  EXPECT_TRUE(set_build(target, preset)) << preset;
  target.platform = platform;
  return target;
}

constexpr const char* kPresets[] = {"debug", "beta", "bankrelease", "release", "profile", "final"};

// CONF-2
TEST(ConfigTarget, PresetsSetTheSwitchesThatTheyAreMadeOf) {
  struct {
    const char* preset;
    bool dev, optimized, bank, profile, final;
  } const kRows[] = {
      {"debug", true, false, true, false, false},       {"beta", true, true, true, false, false},
      {"bankrelease", false, true, true, false, false}, {"release", false, true, false, false, false},
      {"profile", false, true, false, true, false},     {"FINAL", false, true, false, false, true},
  };
  for (const auto& row : kRows) {
    ConfigTarget target{true, true, true, true, true};
    ASSERT_TRUE(set_build(target, row.preset));
    EXPECT_EQ(target.dev, row.dev) << row.preset;
    EXPECT_EQ(target.optimized, row.optimized) << row.preset;
    EXPECT_EQ(target.bank, row.bank) << row.preset;
    EXPECT_EQ(target.profile, row.profile) << row.preset;
    EXPECT_EQ(target.final, row.final) << row.preset;
  }
}

TEST(ConfigTarget, AnUnknownPresetChangesNothing) {
  ConfigTarget target{true, false, true, false, true, ConfigPlatform::ps4, {}};
  for (const char* const preset : {"", "fast", "dev", "any", "debugx"}) EXPECT_FALSE(set_build(target, preset));
  EXPECT_TRUE(target.dev && !target.optimized && target.bank && !target.profile && target.final);
}

// CONF-2: every build word for every preset. Columns in the order of kPresets; written by hand from the meaning of the
// words and the switches of the presets.
TEST(ConfigTarget, EachBuildWordMatchesTheBuildsThatItNames) {
  struct {
    const char* word;
    const char* row;
  } const kTable[] = {{"any", "yyyyyy"},     {"bank", "yyy..."},    {"bankrelease", "..y..."}, {"beta", ".y...."},
                      {"debug", "y....."},   {"dev", "yy...."},     {"final", ".....y"},       {"nonfinal", "yyyyy."},
                      {"profile", "....y."}, {"release", "...yy."}, {"unknown", "......"},     {"deb", "......"},
                      {"x64", "......"}};
  for (const auto& line : kTable) {
    for (size_t i = 0; i < std::size(kPresets); ++i) {
      // The platform plays no part in it.
      for (const ConfigPlatform platform : {ConfigPlatform::none, ConfigPlatform::x64, ConfigPlatform::linux_pc})
        EXPECT_EQ(config_matches({line.word, "", ""}, target_of(kPresets[i], platform)), line.row[i] == 'y')
            << line.word << " for " << kPresets[i];
    }
  }
}

// CONF-2: switches that no preset has together. From the definitions, one by one.
TEST(ConfigTarget, WordsLookAtTheSwitchesAndNotAtPresets) {
  const auto matches = [](const char* word, const ConfigTarget& target) {
    return config_matches({word, "", ""}, target);
  };
  const ConfigTarget nothing{};
  EXPECT_TRUE(matches("release", nothing));
  EXPECT_TRUE(matches("nonfinal", nothing));
  EXPECT_FALSE(matches("debug", nothing)) << "not dev";
  const ConfigTarget dev_only{.dev = true};
  EXPECT_TRUE(matches("debug", dev_only)) << "bank plays no part";
  EXPECT_FALSE(matches("bank", dev_only));
  EXPECT_FALSE(matches("release", dev_only));
  const ConfigTarget final_bank{.bank = true, .final = true};
  EXPECT_TRUE(matches("bankrelease", final_bank));
  EXPECT_TRUE(matches("final", final_bank));
  EXPECT_FALSE(matches("release", final_bank));
  EXPECT_FALSE(matches("nonfinal", final_bank));
  const ConfigTarget final_profile{.profile = true, .final = true};
  EXPECT_TRUE(matches("profile", final_profile));
  EXPECT_FALSE(matches("release", final_profile));
}

// CONF-2: every platform word for every platform. Columns: none ps3 psp2 x64 xbox360 xboxone ps4 xbsx ps5 linux.
TEST(ConfigTarget, EachPlatformWordMatchesThePlatformThatItNames) {
  using enum ConfigPlatform;
  constexpr ConfigPlatform kPlatforms[] = {none, ps3, psp2, x64, xbox360, xboxone, ps4, xbsx, ps5, linux_pc};
  struct {
    const char* word;
    const char* row;
    ConfigPlatform named;
  } const kTable[] = {
      {"any", "yyyyyyyyyy", none},      {"ps3", ".y........", ps3},         {"psn", ".y........", ps3},
      {"psp2", "..y.......", psp2},     {"x64", "...y.....y", x64},         {"xbox360", "....y.....", xbox360},
      {"xenon", "....y.....", xbox360}, {"xboxone", ".....y....", xboxone}, {"ps4", "......y...", ps4},
      {"xbsx", ".......y..", xbsx},     {"scarlett", ".......y..", xbsx},   {"ps5", "........y.", ps5},
      {"prospero", "........y.", ps5},  {"linux", ".........y", linux_pc},  {"toaster", "..........", none},
      {"final", "..........", none},
  };
  for (const auto& line : kTable) {
    EXPECT_EQ(find_config_platform(line.word), line.named) << line.word;
    for (size_t i = 0; i < std::size(kPlatforms); ++i) {
      for (const char* const preset : kPresets)
        EXPECT_EQ(config_matches({"", line.word, ""}, target_of(preset, kPlatforms[i])), line.row[i] == 'y')
            << line.word << " on " << i << " in " << preset;
    }
  }
}

// CONF-2
TEST(ConfigTarget, OneOfSeveralWordsMustMatchInAnyCase) {
  const ConfigTarget release = target_of("release");
  EXPECT_TRUE(config_matches({}, release)) << "nothing filters nothing";
  EXPECT_TRUE(config_matches({" ,| ", "\t\r\n", ""}, release)) << "no word, either";
  EXPECT_TRUE(config_matches({"debug|Release", "PS4, X64", ""}, release));
  EXPECT_TRUE(config_matches({"debug release", "ps4|x64", ""}, release));
  EXPECT_TRUE(config_matches({"nonsense,release", "x64,toaster", ""}, release));
  EXPECT_FALSE(config_matches({"debug|beta", "x64", ""}, release));
  EXPECT_FALSE(config_matches({"debugrelease", "x64", ""}, release));
  EXPECT_FALSE(config_matches({"release;any", "", ""}, release)) << "';' stands in no list";
}

// CONF-2: all eight ways in which build, platform and parameter match or don't.
TEST(ConfigTarget, BuildPlatformAndParameterMustAllMatch) {
  const NameHash parameters[] = {hash_name("bigworld"), hash_name("fast")};
  ConfigTarget target = target_of("beta", ConfigPlatform::ps5);
  target.parameters = parameters;
  for (int i = 0; i < 8; ++i) {
    const ConfigFilter filter{(i & 1) != 0 ? "beta" : "final", (i & 2) != 0 ? "ps5" : "ps4",
                              (i & 4) != 0 ? "BigWorld" : "small"};
    EXPECT_EQ(config_matches(filter, target), i == 7) << i;
  }
  EXPECT_TRUE(config_matches({"", "", "small fast"}, target)) << "one of several";
  target.parameters = {};
  EXPECT_FALSE(config_matches({"beta", "ps5", "bigworld"}, target));
}

// CONF-2
TEST(ConfigTarget, FinalBuildsDoNotLookAtParameters) {
  EXPECT_TRUE(config_matches({"any", "any", "usefatcuts"}, target_of("final")));
  EXPECT_FALSE(config_matches({"nonfinal", "any", "usefatcuts"}, target_of("final")));
  EXPECT_FALSE(config_matches({"any", "any", "usefatcuts"}, target_of("release")));
}

// CONF-2
TEST(ConfigTarget, UnknownWordsAreSaidOnceForEachFilter) {
  std::vector<std::string> said;
  set_log_sink({[](void* user, const LogMessage& message) {
                  static_cast<std::vector<std::string>*>(user)->emplace_back(message.text);
                },
                &said});
  OnceSet reported;
  const ConfigTarget target = target_of("final");
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(config_matches({"final Toaster", "ps4 x64", "anything"}, target, &reported));
    EXPECT_FALSE(config_matches({"TOASTER", "toaster", ""}, target, &reported));
    EXPECT_FALSE(config_matches({"ps4", "any", ""}, target, &reported));
    EXPECT_FALSE(config_matches({"quiet", "quiet", ""}, target));
  }
  set_log_sink({});
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(said[0], "unknown build 'Toaster' in a filter of the game configuration matches nothing");
  EXPECT_EQ(said[1], "unknown platform 'toaster' in a filter of the game configuration matches nothing");
  EXPECT_EQ(said[2], "unknown build 'ps4' in a filter of the game configuration matches nothing");
}

}  // namespace
}  // namespace meridian
