// SPDX-License-Identifier: MIT
#include "meridian/tools/config_filter.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace meridian::tools {
namespace {

ConfigTarget target_for(const std::string& text) {
  ConfigTarget target;
  std::string error;
  EXPECT_TRUE(parse_config_target(text, target, error)) << error;
  return target;
}

TEST(ConfigFilter, EachBuildWordMatchesTheBuildsThatItNames) {
  // Columns in the order of kBuilds; written out by hand from the meaning of the words.
  const char* const kBuilds[] = {"debug", "beta", "bankrelease", "release", "profile", "final"};
  const std::map<std::string, std::string> kWords = {
      {"any", "yyyyyy"},     {"bank", "yyy..."},    {"bankrelease", "..y..."}, {"beta", ".y...."},
      {"debug", "y....."},   {"dev", "yy...."},     {"final", ".....y"},       {"nonfinal", "yyyyy."},
      {"profile", "....y."}, {"release", "...yy."}, {"unknown", "......"}};
  for (const auto& [word, row] : kWords)
    for (size_t i = 0; i < 6; ++i)
      EXPECT_EQ(build_word_matches(target_for("build=" + std::string(kBuilds[i]) + ",platform=x64"), word),
                row[i] == 'y')
          << word << " for " << kBuilds[i];
}

TEST(ConfigFilter, PlatformsHaveTwoNamesAndLinuxTakesX64) {
  const auto matches = [](const std::string& platform, const char* word) {
    return platform_word_matches(target_for("build=final,platform=" + platform), word);
  };
  EXPECT_TRUE(matches("ps3", "psn"));
  EXPECT_TRUE(matches("psn", "PS3"));
  EXPECT_TRUE(matches("xenon", "xbox360"));
  EXPECT_TRUE(matches("scarlett", "xbsx"));
  EXPECT_TRUE(matches("prospero", "ps5"));
  EXPECT_TRUE(matches("linux", "x64"));
  EXPECT_FALSE(matches("x64", "linux"));
  EXPECT_TRUE(matches("psp2", "any"));
  EXPECT_FALSE(matches("ps4", "xboxone"));
  EXPECT_FALSE(matches("ps4", "toaster"));
}

TEST(ConfigFilter, OneOfSeveralWordsMustMatchAndAllThreeFiltersMust) {
  const ConfigTarget release = target_for("build=release,platform=x64,param=bigworld");
  EXPECT_TRUE(config_matches(release, {}));
  EXPECT_TRUE(config_matches(release, {"debug|release", "ps4, x64", "small bigworld"}));
  EXPECT_FALSE(config_matches(release, {"debug|beta", "x64", "bigworld"}));
  EXPECT_FALSE(config_matches(release, {"any", "ps4", "bigworld"}));
  EXPECT_FALSE(config_matches(release, {"any", "any", "small"}));
  EXPECT_TRUE(config_matches(target_for("build=final,platform=x64"), {"any", "any", "small"}));
}

TEST(ConfigFilter, TargetsThatSayTooLittleOrNonsenseAreRefused) {
  for (const char* const text :
       {"", "build=release", "platform=x64", "build=fast,platform=x64", "build=final,platform=toaster",
        "build=final,platform=x64,colour=red", "build=final,platform=x64,param="}) {
    ConfigTarget target;
    std::string error;
    EXPECT_FALSE(parse_config_target(text, target, error)) << text;
    EXPECT_FALSE(error.empty());
  }
}

}  // namespace
}  // namespace meridian::tools
