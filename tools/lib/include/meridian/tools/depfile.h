// SPDX-License-Identifier: MIT
#pragma once
/// Dependency files in the Makefile syntax that Make and Ninja read.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace meridian::tools {

struct DepfileRule {
  std::string target;                ///< spelled as the build knows it
  std::vector<std::string> sources;  ///< all that was read for it
};

/// True if Make's syntax can say this path: it has no line break.
bool depfile_can_name(std::string_view path);

/// A path with its blanks, `#`, `$` and `:` escaped.
std::string escape_depfile_path(std::string_view path);

/// One rule a target. A source that is named twice in a rule stands once.
/// Requires: depfile_can_name() of each path.
std::string depfile_text(std::span<const DepfileRule> rules);

}  // namespace meridian::tools
