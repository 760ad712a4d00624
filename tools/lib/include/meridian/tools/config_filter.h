// SPDX-License-Identifier: MIT
#pragma once
/// Which configurations of a game configuration file are for a build, a platform and a set of parameters.
///
///   ConfigTarget target;
///   std::string error;
///   if (!parse_config_target("build=release,platform=x64,param=bigworld", target, error)) ...
///   if (config_matches(target, {.build = "nonfinal", .platform = "ps4 | x64", .parameter = ""})) ...

#include <string>
#include <string_view>
#include <vector>

namespace meridian::tools {

/// What a selection is made for.
struct ConfigTarget {
  bool dev = false, optimized = false, bank = false, profile = false, final = false;
  std::string platform;                 ///< one word, lower case
  std::vector<std::string> parameters;  ///< those that are set, lower case
};

/// The filter texts of one configuration, as they stand in the file. An empty one filters nothing.
struct ConfigFilter {
  std::string_view build, platform, parameter;
};

/// Reads `build=WORD,platform=WORD[,param=WORD]...`. Builds: debug, beta, bankrelease, release, profile, final. False:
/// `error` says which word is wrong, or that build or platform is missing.
bool parse_config_target(std::string_view text, ConfigTarget& target, std::string& error);

/// True if build, platform and parameter all match. Several words of one filter stand apart by blanks, commas or `|`,
/// and one of them must match; case does not matter; an unknown word matches nothing. Final builds know no parameters
/// and don't look at theirs.
bool config_matches(const ConfigTarget& target, const ConfigFilter& filter);

/// One word of a build or platform filter.
bool build_word_matches(const ConfigTarget& target, std::string_view word);
bool platform_word_matches(const ConfigTarget& target, std::string_view word);

}  // namespace meridian::tools
