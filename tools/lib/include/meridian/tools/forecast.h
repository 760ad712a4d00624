// SPDX-License-Identifier: MIT
#pragma once
/// What a world needs of pools, memory and streaming slots where it needs most, before anything runs.
///
///   for (const ForecastRow& row : forecast_world(world, {}).rows)
///     if (row.limit && row.most > *row.limit) ...   // "Building will overflow near (1204, -332): 24310 of 21000"
///
/// A map is needed where its streaming box, grown by the streamer's release margin, holds the place; so are its
/// ancestors, and all type files that the world index lists for it. Maps that stream in by name only are left out.
/// Interiors come with the map that places them, with the entity sets that the placement switches on. The worst place
/// is exact: it is searched among all places, not among samples.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "meridian/tools/compile.h"
#include "meridian/tools/lint.h"
#include "meridian/tools/parsed_target.h"

namespace meridian::tools {

struct ForecastOptions {
  double margin = 20;  ///< how far outside its box a map is still kept. [m]
  /// Configurations for this target count; null: those for any build and platform.
  const ParsedTarget* target = nullptr;
  /// Size of what is loaded for a unit; null: no row of bytes. [bytes]
  std::function<uint64_t(const LintUnit&)> resource_bytes = {};
  /// Names of type files that are there at every place.
  std::unordered_set<uint32_t> permanent_types = {};
  uint32_t grid_side = 0;  ///< cells along the longer side of the grid; 0: none
  /// Whether maps get the boxes that their authors wrote, or computed ones.
  Repair extents = Repair::keep;
};

/// One file's part in a need.
struct ForecastUser {
  const LintUnit* unit = nullptr;
  uint64_t amount = 0;
};

struct ForecastPlace {
  double x = 0, y = 0, z = 0;  // [m]
};

/// One pool, or another thing that runs out.
struct ForecastRow {
  enum class Limit : uint8_t {
    none,
    config,   ///< a game configuration of the world gives it
    built_in  ///< the runtime's own, unless a game configuration says otherwise
  };

  std::string_view name;       ///< of the pool, as game configurations spell it; else what it is
  bool is_bytes = false;       ///< a size in memory, not a count
  bool is_everywhere = false;  ///< needed wherever one is: there is no worst place
  uint64_t most = 0;           ///< needed at `place`
  uint64_t bound = 0;          ///< proven upper bound; `most`, but in worlds too tangled to search
  ForecastPlace place;
  std::vector<ForecastUser> heaviest;  ///< at `place`, most first; at most kForecastUsers
  ForecastUser largest;                ///< the one map that needs most
  Limit limit_from = Limit::none;
  uint64_t limit = 0;

  bool overflows() const { return limit_from != Limit::none && most > limit; }
};
inline constexpr size_t kForecastUsers = 5;

/// How much is needed on a grid over the world: for maps of it. Row by row from south to north.
struct ForecastGrid {
  double min_x = 0, min_y = 0, cell = 0;  // [m]
  uint32_t columns = 0, rows = 0;
  std::vector<uint64_t> entities;  ///< at the middle of each cell, at the worst height
};

struct Forecast {
  std::vector<ForecastRow> rows;  ///< in a fixed order; without what the world has none of
  uint64_t maps = 0;              ///< that stream in by place
  uint64_t maps_by_name = 0;      ///< that do not
  uint64_t maps_without_box = 0;  ///< whose streaming box is empty or infinite: nowhere
  ForecastGrid grid;              ///< empty unless it was asked for
};

/// Threads: reentrant on a linked world; uses oneTBB inside.
Forecast forecast_world(const LintWorld& world, const ForecastOptions& options);

/// A table for people: a line each, overflows first told in full.
std::string forecast_text(const Forecast& forecast);
/// The same for programs: one object, its keys in docs/worldc.md.
std::string forecast_json(const Forecast& forecast);

}  // namespace meridian::tools
