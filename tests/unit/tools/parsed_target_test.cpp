// SPDX-License-Identifier: MIT
#include "meridian/tools/parsed_target.h"

#include <gtest/gtest.h>

namespace meridian::tools {
namespace {

TEST(ParsedTarget, BuildPlatformAndParametersAreReadInAnyCase) {
  ParsedTarget parsed;
  std::string error;
  ASSERT_TRUE(parse_config_target("build=BankRelease,param=Big,platform=PSN,param=world", parsed, error)) << error;
  const ConfigTarget target = parsed.target();
  EXPECT_FALSE(target.dev);
  EXPECT_TRUE(target.bank);
  EXPECT_TRUE(target.optimized);
  EXPECT_EQ(target.platform, ConfigPlatform::ps3);
  ASSERT_EQ(target.parameters.size(), 2u);
  EXPECT_TRUE(config_matches({"bankrelease", "ps3", "WORLD"}, target));
  EXPECT_FALSE(config_matches({"bankrelease", "ps3", "small"}, target));
}

TEST(ParsedTarget, TextThatSaysTooLittleOrNonsenseIsRefused) {
  for (const char* const text :
       {"", "build=release", "platform=x64", "build=fast,platform=x64", "build=final,platform=toaster",
        "build=final,platform=any", "build=final,platform=x64,colour=red", "build=final,platform=x64,param="}) {
    ParsedTarget parsed;
    std::string error;
    EXPECT_FALSE(parse_config_target(text, parsed, error)) << text;
    EXPECT_FALSE(error.empty());
  }
}

}  // namespace
}  // namespace meridian::tools
