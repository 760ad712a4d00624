// SPDX-License-Identifier: MIT
#pragma once
/// What game configurations are selected for, as a command line says it.
///
///   ParsedTarget parsed;
///   std::string error;
///   if (!parse_config_target("build=release,platform=x64,param=bigworld", parsed, error)) return error;
///   if (config_matches({"nonfinal", "ps4 | x64", ""}, parsed.target())) ...   // core/config_target.h
///
/// Threads: reentrant.

#include <string>
#include <string_view>
#include <vector>

#include "meridian/core/config_target.h"

namespace meridian::tools {

/// A ConfigTarget that owns its parameters.
struct ParsedTarget {
  ConfigTarget build_and_platform;  ///< without parameters
  std::vector<NameHash> parameters;

  /// Lives as long as this.
  ConfigTarget target() const {
    ConfigTarget out = build_and_platform;
    out.parameters = parameters;
    return out;
  }
};

/// Reads `build=WORD,platform=WORD[,param=WORD]...`. Builds: debug, beta, bankrelease, release, profile, final. False:
/// `error` says which word is wrong, or that build or platform is missing.
bool parse_config_target(std::string_view text, ParsedTarget& parsed, std::string& error);

}  // namespace meridian::tools
