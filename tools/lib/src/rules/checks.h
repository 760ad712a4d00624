// SPDX-License-Identifier: MIT
#pragma once
/// Rule checks on what was read, selected by the schema attribute `check`. Each looks at one table and sees only it;
/// places come from the source by locate_value().

#include <string_view>
#include <vector>

#include "meridian/tools/diagnostics.h"
#include "value.h"

namespace meridian::tools {

/// Runs every check that the types of `root` and below ask for. Threads: reentrant.
void run_checks(std::string_view text, TableValue& root, std::vector<Finding>& findings);

/// The text of a value that begins at `offset`, up to its closing quote or tag.
std::string_view value_text(std::string_view text, size_t offset);

// One function for each check name, in the file of its family.
void check_hours(std::string_view text, TableValue& time_archetype, const std::string& label,
                 std::vector<Finding>& findings);
void check_pool_sizes(std::string_view text, TableValue& pool_sizes, const std::string& label,
                      std::vector<Finding>& findings);

}  // namespace meridian::tools
