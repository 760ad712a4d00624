// SPDX-License-Identifier: MIT
#include "meridian/tools/parsed_target.h"

#include <algorithm>

#include "text_values.h"

namespace meridian::tools {

bool parse_config_target(std::string_view text, ParsedTarget& parsed, std::string& error) {
  parsed = {};
  error.clear();
  ConfigTarget& target = parsed.build_and_platform;
  bool has_build = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = std::min(part.find('='), part.size());
    const std::string_view key = part.substr(0, equals);
    const std::string word = fold(part.substr(std::min(equals + 1, part.size())));
    if (key == "build") {
      if (!set_build(target, word)) {
        error = "no build '" + word + "'; there are debug, beta, bankrelease, release, profile and final";
        return false;
      }
      has_build = true;
    } else if (key == "platform") {
      target.platform = find_config_platform(word);
      if (target.platform == ConfigPlatform::none) {
        error = "no platform '" + word + "'";
        return false;
      }
    } else if (key == "param" && !word.empty()) {
      parsed.parameters.push_back(hash_name(word));
    } else {
      error = "'" + std::string(part) + "' is none of build=WORD, platform=WORD, param=WORD";
      return false;
    }
  }
  if (!has_build || target.platform == ConfigPlatform::none) error = "build=WORD and platform=WORD are both needed";
  return error.empty();
}

}  // namespace meridian::tools
