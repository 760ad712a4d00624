// SPDX-License-Identifier: MIT
#include "meridian/core/config_target.h"

#include <algorithm>
#include <cstddef>

namespace meridian {
namespace {

/// `lower` is in lower case.
bool is_word(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
  });
}

struct BuildPreset {
  std::string_view name;
  bool dev, optimized, bank, profile, final;
};
constexpr BuildPreset kPresets[] = {
    {"debug", true, false, true, false, false},       {"beta", true, true, true, false, false},
    {"bankrelease", false, true, true, false, false}, {"release", false, true, false, false, false},
    {"profile", false, true, false, true, false},     {"final", false, true, false, false, true},
};

struct BuildWord {
  std::string_view word;
  bool (*matches)(const ConfigTarget&);
};
constexpr BuildWord kBuildWords[] = {
    {"any", [](const ConfigTarget&) { return true; }},
    {"bank", [](const ConfigTarget& t) { return t.bank; }},
    {"bankrelease", [](const ConfigTarget& t) { return t.bank && !t.dev; }},
    {"beta", [](const ConfigTarget& t) { return t.dev && t.optimized; }},
    {"debug", [](const ConfigTarget& t) { return t.dev && !t.optimized; }},
    {"dev", [](const ConfigTarget& t) { return t.dev; }},
    {"final", [](const ConfigTarget& t) { return t.final; }},
    {"nonfinal", [](const ConfigTarget& t) { return !t.final; }},
    {"profile", [](const ConfigTarget& t) { return t.profile; }},
    {"release", [](const ConfigTarget& t) { return !t.dev && !t.bank && !t.final; }},
};

struct PlatformWord {
  std::string_view word;
  ConfigPlatform platform;
};
constexpr PlatformWord kPlatformWords[] = {
    {"ps3", ConfigPlatform::ps3},         {"psn", ConfigPlatform::ps3},         {"psp2", ConfigPlatform::psp2},
    {"x64", ConfigPlatform::x64},         {"xbox360", ConfigPlatform::xbox360}, {"xenon", ConfigPlatform::xbox360},
    {"xboxone", ConfigPlatform::xboxone}, {"ps4", ConfigPlatform::ps4},         {"xbsx", ConfigPlatform::xbsx},
    {"scarlett", ConfigPlatform::xbsx},   {"ps5", ConfigPlatform::ps5},         {"prospero", ConfigPlatform::ps5},
    {"linux", ConfigPlatform::linux_pc},
};

enum class Match : uint8_t { no, yes, unknown };

Match match_build(std::string_view word, const ConfigTarget& target) {
  for (const BuildWord& known : kBuildWords)
    if (is_word(word, known.word)) return known.matches(target) ? Match::yes : Match::no;
  return Match::unknown;
}

Match match_platform(std::string_view word, const ConfigTarget& target) {
  if (is_word(word, "any")) return Match::yes;
  const ConfigPlatform platform = find_config_platform(word);
  if (platform == ConfigPlatform::none) return Match::unknown;
  const bool fits =
      platform == target.platform || (platform == ConfigPlatform::x64 && target.platform == ConfigPlatform::linux_pc);
  return fits ? Match::yes : Match::no;
}

Match match_parameter(std::string_view word, const ConfigTarget& target) {
  const NameHash name = hash_name(word);
  return std::find(target.parameters.begin(), target.parameters.end(), name) != target.parameters.end() ? Match::yes
                                                                                                        : Match::no;
}

/// True if a word of `list` matches, or there is none. Looks at all of them, so that what is reported doesn't hang on
/// the target.
bool any_matches(std::string_view list, const ConfigTarget& target,
                 Match (*match)(std::string_view, const ConfigTarget&), const char* what, OnceSet* reported) {
  constexpr std::string_view kBetween = " \t\r\n,|";
  bool is_empty = true, found = false;
  for (size_t at = list.find_first_not_of(kBetween); at != std::string_view::npos;) {
    const size_t end = std::min(list.find_first_of(kBetween, at), list.size());
    const std::string_view word = list.substr(at, end - at);
    const Match result = match(word, target);
    is_empty = false;
    found = found || result == Match::yes;
    if (result == Match::unknown && reported != nullptr) {
      const NameHash name = hash_name(word);
      // One set for both kinds of words: `ps4` is unknown among builds, whatever was said among platforms.
      const uint32_t key = name.value ^ hash_type(what).value;
      constexpr size_t kShown = 64;
      if (reported->first(key)) {
        log_message(LogLevel::warning, name, "unknown %s '%.*s' in a filter of the game configuration matches nothing",
                    what, static_cast<int>(std::min(word.size(), kShown)), word.data());
      }
    }
    at = list.find_first_not_of(kBetween, end);
  }
  return is_empty || found;
}

}  // namespace

bool set_build(ConfigTarget& target, std::string_view preset) {
  for (const BuildPreset& known : kPresets) {
    if (!is_word(preset, known.name)) continue;
    target.dev = known.dev;
    target.optimized = known.optimized;
    target.bank = known.bank;
    target.profile = known.profile;
    target.final = known.final;
    return true;
  }
  return false;
}

ConfigPlatform find_config_platform(std::string_view word) {
  for (const PlatformWord& known : kPlatformWords)
    if (is_word(word, known.word)) return known.platform;
  return ConfigPlatform::none;
}

bool config_matches(const ConfigFilter& filter, const ConfigTarget& target, OnceSet* reported) {
  const bool build = any_matches(filter.build, target, match_build, "build", reported);
  const bool platform = any_matches(filter.platforms, target, match_platform, "platform", reported);
  return build && platform &&
         (target.final || any_matches(filter.parameter, target, match_parameter, "parameter", reported));
}

}  // namespace meridian
