// SPDX-License-Identifier: MIT
#pragma once
/// Offline selection of configurations (gameconfigc --for).

#include "meridian/core/config_target.h"
#include "value.h"

namespace meridian::tools {

/// Removes the elements of `config_array` whose filters do not match. Other roots are left alone.
void select_configs(TableValue& root, const ConfigTarget& target);

}  // namespace meridian::tools
