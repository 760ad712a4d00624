// SPDX-License-Identifier: MIT
#include "meridian/tools/depfile.h"

#include <set>

namespace meridian::tools {

bool depfile_can_name(std::string_view path) { return path.find_first_of("\n\r") == std::string_view::npos; }

std::string escape_depfile_path(std::string_view path) {
  std::string out;
  size_t backslashes = 0;
  for (const char c : path) {
    switch (c) {
      case ' ':
      case '\t':
      case '#':
        // Backslashes count as escapes only where they stand before one of these, so those are doubled.
        out.append(backslashes, '\\');
        out += '\\';
        break;
      case ':':
        out += '\\';
        break;
      case '$':
        out += '$';
        break;
      default:
        break;
    }
    backslashes = c == '\\' ? backslashes + 1 : 0;
    out += c;
  }
  // At the end they'd escape the blank that follows.
  out.append(backslashes, '\\');
  return out;
}

std::string depfile_text(std::span<const DepfileRule> rules) {
  std::string out;
  for (const DepfileRule& rule : rules) {
    out += escape_depfile_path(rule.target) + ":";
    std::set<std::string_view> seen;
    for (const std::string& source : rule.sources)
      if (seen.insert(source).second) out += " \\\n  " + escape_depfile_path(source);
    out += '\n';
  }
  return out;
}

}  // namespace meridian::tools
