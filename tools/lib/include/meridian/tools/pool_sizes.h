// SPDX-License-Identifier: MIT
#pragma once
/// What a game configuration gives to pools, for people and scripts.
///
/// Threads: main; it takes the runtime's log for the time of the call, and leaves the default one.

#include <string>

#include "meridian/core/config_target.h"
#include "meridian/tools/resource_view.h"

namespace meridian::tools {

/// The sizes for a target as the runtime selects and merges them, by name; as lines, or as JSON {"path", "pools":
/// [{"name", "size", "configuration"}], "messages"}. `configuration` is the place in the file of the one that counts;
/// messages are what the runtime says while it loads. False: `error` says why.
bool pool_sizes(const LoadedResource& resource, const ConfigTarget& target, bool json, std::string& out,
                std::string& error);

}  // namespace meridian::tools
