// SPDX-License-Identifier: MIT
#include "meridian/tools/config_filter.h"

#include <algorithm>

#include "text_values.h"

namespace meridian::tools {
namespace {

struct Build {
  std::string_view word;
  bool dev, optimized, bank, profile, final;
};
constexpr Build kBuilds[] = {
    {"debug", true, false, true, false, false},       {"beta", true, true, true, false, false},
    {"bankrelease", false, true, true, false, false}, {"release", false, true, false, false, false},
    {"profile", false, true, false, true, false},     {"final", false, true, false, false, true},
};

/// Names of platforms; those in one row mean the same one.
constexpr std::string_view kPlatforms[][2] = {{"ps3", "psn"},       {"psp2", "psp2"},       {"x64", "x64"},
                                              {"xbox360", "xenon"}, {"xboxone", "xboxone"}, {"ps4", "ps4"},
                                              {"xbsx", "scarlett"}, {"ps5", "prospero"},    {"linux", "linux"}};

/// The first name of a platform's row, or empty.
std::string_view platform_of(std::string_view word) {
  for (const auto& names : kPlatforms)
    if (std::find(std::begin(names), std::end(names), word) != std::end(names)) return names[0];
  return {};
}

/// Calls `matches` with each word until one does. An empty list filters nothing.
template <class Matches>
bool any_word(std::string_view list, Matches&& matches) {
  constexpr std::string_view kBetween = " \t\r\n,|";
  bool is_empty = true;
  for (size_t at = list.find_first_not_of(kBetween); at != std::string_view::npos;) {
    const size_t end = std::min(list.find_first_of(kBetween, at), list.size());
    is_empty = false;
    if (matches(list.substr(at, end - at))) return true;
    at = list.find_first_not_of(kBetween, end);
  }
  return is_empty;
}

}  // namespace

bool parse_config_target(std::string_view text, ConfigTarget& target, std::string& error) {
  target = {};
  bool has_build = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = std::min(part.find('='), part.size());
    const std::string_view key = part.substr(0, equals);
    const std::string word = fold(part.substr(std::min(equals + 1, part.size())));
    if (key == "build") {
      const auto build =
          std::find_if(std::begin(kBuilds), std::end(kBuilds), [&](const Build& b) { return b.word == word; });
      if (build == std::end(kBuilds)) {
        error = "no build '" + word + "'; there are debug, beta, bankrelease, release, profile and final";
        return false;
      }
      target.dev = build->dev;
      target.optimized = build->optimized;
      target.bank = build->bank;
      target.profile = build->profile;
      target.final = build->final;
      has_build = true;
    } else if (key == "platform") {
      target.platform = platform_of(word);
      if (target.platform.empty()) {
        error = "no platform '" + word + "'";
        return false;
      }
    } else if (key == "param" && !word.empty()) {
      target.parameters.push_back(word);
    } else {
      error = "'" + std::string(part) + "' is none of build=WORD, platform=WORD, param=WORD";
      return false;
    }
  }
  if (!has_build || target.platform.empty()) error = "build=WORD and platform=WORD are both needed";
  return error.empty();
}

bool build_word_matches(const ConfigTarget& target, std::string_view text) {
  const std::string word = fold(text);
  if (word == "any") return true;
  if (word == "bank") return target.bank;
  if (word == "bankrelease") return target.bank && !target.dev;
  if (word == "beta") return target.dev && target.optimized;
  if (word == "debug") return target.dev && !target.optimized;
  if (word == "dev") return target.dev;
  if (word == "final") return target.final;
  if (word == "nonfinal") return !target.final;
  if (word == "profile") return target.profile;
  if (word == "release") return !target.dev && !target.bank && !target.final;
  return false;
}

bool platform_word_matches(const ConfigTarget& target, std::string_view text) {
  const std::string word = fold(text);
  if (word == "any") return true;
  const std::string_view platform = platform_of(word);
  if (platform.empty()) return false;
  // Files of the field know no Linux; what they say for desktop PCs is what fits it.
  return platform == platform_of(target.platform) || (target.platform == "linux" && platform == "x64");
}

bool config_matches(const ConfigTarget& target, const ConfigFilter& filter) {
  if (!any_word(filter.build, [&](std::string_view word) { return build_word_matches(target, word); })) return false;
  if (!any_word(filter.platform, [&](std::string_view word) { return platform_word_matches(target, word); }))
    return false;
  if (target.final) return true;
  return any_word(filter.parameter, [&](std::string_view word) {
    return std::find(target.parameters.begin(), target.parameters.end(), fold(word)) != target.parameters.end();
  });
}

}  // namespace meridian::tools
