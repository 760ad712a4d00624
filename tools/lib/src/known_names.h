// SPDX-License-Identifier: MIT
#pragma once
/// Lists of names that the schema attribute `known` refers to.

#include <span>
#include <string_view>

namespace meridian::tools {

struct Rule;

struct KnownNames {
  std::string_view list;       ///< the attribute's value
  const Rule* rule = nullptr;  ///< what an unknown one is
  std::string_view noun;       ///< "pool"
  std::span<const std::string_view> names;
  bool folded = false;  ///< compared without case
};

/// The list, or null. Threads: immutable.
const KnownNames* find_known_names(std::string_view list);

}  // namespace meridian::tools
