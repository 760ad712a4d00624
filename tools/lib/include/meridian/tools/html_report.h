// SPDX-License-Identifier: MIT
#pragma once
/// A page about a world, for people: counts, sizes, findings, what the pools need where, LOD trees, and the maps and
/// type files that cost most. One HTML file that needs nothing beside it and loads nothing.

#include <string>

#include "meridian/tools/forecast.h"
#include "meridian/tools/world_build.h"

namespace meridian::tools {

/// The same world gives the same bytes. Threads: reentrant on a linked world; uses oneTBB inside.
std::string html_report(const CheckedWorld& world, const ForecastOptions& options);

}  // namespace meridian::tools
