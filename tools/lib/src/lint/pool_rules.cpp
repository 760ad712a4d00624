// SPDX-License-Identifier: MIT
// CFG001: pools of a game configuration against what the world needs at its worst place.
#include <cmath>

#include "forecast/config_pools.h"
#include "lint/lint_context.h"
#include "meridian/base/name_hash.h"
#include "meridian/tools/forecast.h"

namespace meridian::tools {
namespace {

std::string shown_near(const ForecastPlace& p) {
  return "near (" + shown(std::round(p.x)) + ", " + shown(std::round(p.y)) + ")";
}

/// Whether a configuration of a later layer sets the pool for everybody.
bool is_overridden(const PoolEntry& entry, const ConfigPools& pools) {
  const PoolEntry* const last = pools.find(entry.name);
  return last != nullptr && last->unit->layer > entry.unit->layer;
}

}  // namespace

void lint_pools(LintContext& c) {
  if (!c.world.options().maps_are_known || !c.world.options().types_are_known) return;
  const std::vector<PoolEntry> entries = effective_entries(c.unit);
  if (entries.empty()) return;
  const ConfigPools pools(c.world, nullptr);
  ForecastOptions options;
  options.permanent_types = c.world.options().permanent_types;
  options.extents = c.world.options().extents;
  for (const ForecastRow& row : forecast_world(c.world, options).rows) {
    const uint32_t name = hash_name(row.name).value;
    for (const PoolEntry& entry : entries) {
      if (entry.name != name || entry.size < 0 || is_overridden(entry, pools)) continue;
      const auto size = static_cast<uint64_t>(entry.size);
      if (row.most <= size && row.largest.amount <= size) continue;
      const std::string of = " of " + std::to_string(size);
      // Certain: there is no place at which it does not happen, or no way to load that one map.
      const bool is_certain = row.is_everywhere || row.largest.amount > size;
      const bool is_one_map = row.largest.amount > size;
      std::string message =
          is_one_map ? "will overflow: one " + std::string(row.largest.unit->types != nullptr ? "type file" : "map") +
                           " alone needs " + std::to_string(row.largest.amount) + of
          : row.is_everywhere ? "will overflow: the world needs " + std::to_string(row.most) + of
                              : "will overflow " + shown_near(row.place) + ": " + std::to_string(row.most) + of;
      LintFinding& finding = c.report(rules::pool_overflow, is_certain ? Severity::error : Severity::warning,
                                      entry.path, "pool '" + std::string(row.name) + "'", std::move(message));
      const std::vector<ForecastUser> users = is_one_map ? std::vector<ForecastUser>{row.largest} : row.heaviest;
      for (const ForecastUser& user : users)
        finding.related.push_back({user.unit, "", "'" + user.unit->stem + "' needs " + std::to_string(user.amount)});
    }
  }
}

}  // namespace meridian::tools
