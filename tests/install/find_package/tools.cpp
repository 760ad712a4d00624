// SPDX-License-Identifier: MIT
// Links the library behind the programs.
#include <cstdlib>
#include <string_view>

#include "meridian/tools/rules.h"

int main() { return meridian::tools::find_rule("XML001") != nullptr ? EXIT_SUCCESS : EXIT_FAILURE; }
