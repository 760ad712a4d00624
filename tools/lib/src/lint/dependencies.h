// SPDX-License-Identifier: MIT
#pragma once
/// Which type files a map or an interior needs: what manifests list and the world index stores.

#include <map>
#include <string>

#include "meridian/tools/lint.h"

namespace meridian::tools {

/// Type files whose archetypes a unit uses, each with the path of its first user.
std::map<const LintUnit*, std::string> needed_types(const LintWorld& world, const LintUnit& unit);

}  // namespace meridian::tools
