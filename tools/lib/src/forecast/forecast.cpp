// SPDX-License-Identifier: MIT
#include "meridian/tools/forecast.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include <oneapi/tbb/parallel_for.h>

#include "forecast/config_pools.h"
#include "forecast/map_needs.h"
#include "forecast/peak_search.h"
#include "lint/extents.h"
#include "lint/repair.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "meridian/tools/world_index_writer.h"

namespace meridian::tools {
namespace {

struct StreamedMap {
  const LintUnit* unit = nullptr;
  MapNeeds needs;
  Bounds box;                          ///< empty: nowhere
  std::vector<const LintUnit*> types;  ///< all that it needs, directly or not
};

constexpr size_t kMaxAncestors = 32;  // far more than there are LOD levels; parents may name each other in circles

/// Which type files need which, and which maps do: what the world index says.
class TypeNeeds {
 public:
  explicit TypeNeeds(const LintWorld& world)
      : world_(world), input_(world_index_input(world, [](const LintUnit&) { return 0u; }, {.names = false})) {
    for (const WorldIndexMap& map : input_.maps) maps_.emplace(map.slot.name.value, &map.types);
    for (const WorldIndexTypes& types : input_.types) types_.emplace(types.slot.name.value, &types.types);
  }

  std::vector<const LintUnit*> of_map(const LintUnit& map) const {
    std::vector<const LintUnit*> out;
    std::unordered_set<uint32_t> seen;
    std::vector<uint32_t> open;
    if (const auto found = maps_.find(map.name); found != maps_.end()) open = *found->second;
    while (!open.empty()) {
      const uint32_t name = open.back();
      open.pop_back();
      if (!seen.insert(name).second) continue;
      if (const LintUnit* const unit = world_.find_types(name); unit != nullptr) out.push_back(unit);
      if (const auto found = types_.find(name); found != types_.end())
        open.insert(open.end(), found->second->begin(), found->second->end());
    }
    return out;
  }

 private:
  const LintWorld& world_;
  WorldIndexInput input_;
  std::unordered_map<uint32_t, const std::vector<uint32_t>*> maps_, types_;
};

bool is_place(const Bounds& b) {
  for (int axis = 0; axis < 3; ++axis)
    if (!std::isfinite(b.min[axis]) || !std::isfinite(b.max[axis]) || b.min[axis] > b.max[axis]) return false;
  return true;
}

/// Maps and type files with the boxes in which they are needed.
class StreamedWorld {
 public:
  StreamedWorld(const LintWorld& world, const ForecastOptions& options) : world_(world) {
    const TypeNeeds types(world);
    for (const auto& unit : world.units())
      if (unit->map != nullptr && !unit->is_shadowed && !unit->is_context) maps_.push_back({unit.get(), {}, {}, {}});
    std::sort(maps_.begin(), maps_.end(),
              [](const StreamedMap& a, const StreamedMap& b) { return a.unit->name < b.unit->name; });
    tbb::parallel_for(size_t{0}, maps_.size(), [&](size_t i) {
      StreamedMap& m = maps_[i];
      m.needs = needs_of_map(world, *m.unit);
      m.types = types.of_map(*m.unit);
      const MapRepair repair = plan_repair(world, *m.unit, options.extents, Repair::keep);
      const Bounds box = streaming_box(repair, *m.unit->map);
      if (is_place(box)) m.box = box.grown(options.margin);
    });
    for (size_t i = 0; i < maps_.size(); ++i) index_.emplace(maps_[i].unit, i);
    share_boxes();
  }

  const LintWorld& world() const { return world_; }
  const std::vector<StreamedMap>& maps() const { return maps_; }
  const std::vector<const LintUnit*>& types() const { return types_; }
  static bool by_name_only(const LintUnit& unit) {
    return (static_cast<uint32_t>(unit.map->flags()) & static_cast<uint32_t>(schema::MapFlags::scripted)) != 0;
  }

  /// Owners are maps() by index.
  PeakSearch map_search() const { return search(map_boxes_); }
  /// Owners are maps() by index, then types().
  PeakSearch full_search() const {
    std::vector<std::vector<Bounds>> all = map_boxes_;
    all.insert(all.end(), type_boxes_.begin(), type_boxes_.end());
    return search(all);
  }

 private:
  static PeakSearch search(const std::vector<std::vector<Bounds>>& owned) {
    std::vector<Bounds> boxes;
    std::vector<uint32_t> owners;
    for (uint32_t owner = 0; owner < owned.size(); ++owner)
      for (const Bounds& b : owned[owner]) {
        boxes.push_back(b);
        owners.push_back(owner);
      }
    return {boxes, owners};
  }

  /// A map is needed where its own box or that of a descendant is, a type file where a map is that uses it.
  void share_boxes() {
    map_boxes_.resize(maps_.size());
    std::unordered_map<const LintUnit*, std::vector<Bounds>> of_types;
    for (size_t i = 0; i < maps_.size(); ++i) {
      const StreamedMap& m = maps_[i];
      if (m.box.empty() || by_name_only(*m.unit)) continue;
      size_t at = i;
      for (size_t steps = 0; steps < kMaxAncestors; ++steps) {
        map_boxes_[at].push_back(m.box);
        for (const LintUnit* types : maps_[at].types) of_types[types].push_back(m.box);
        const LintUnit* const parent = world_.parent_of(*maps_[at].unit);
        const auto found = parent == nullptr ? index_.end() : index_.find(parent);
        if (found == index_.end()) break;
        at = found->second;
      }
    }
    for (const auto& [types, boxes] : of_types) types_.push_back(types);
    std::sort(types_.begin(), types_.end(), [](const LintUnit* a, const LintUnit* b) { return a->name < b->name; });
    for (const LintUnit* types : types_) type_boxes_.push_back(std::move(of_types[types]));
  }

  const LintWorld& world_;
  std::vector<StreamedMap> maps_;
  std::vector<const LintUnit*> types_;
  std::unordered_map<const LintUnit*, size_t> index_;
  std::vector<std::vector<Bounds>> map_boxes_, type_boxes_;
};

void sort_users(std::vector<ForecastUser>& users) {
  std::stable_sort(users.begin(), users.end(),
                   [](const ForecastUser& a, const ForecastUser& b) { return a.amount > b.amount; });
}

class Forecaster {
 public:
  Forecaster(const LintWorld& world, const ForecastOptions& options) : streamed_(world, options), options_(options) {}

  Forecast run() {
    Forecast out;
    for (const StreamedMap& m : streamed_.maps()) {
      if (StreamedWorld::by_name_only(*m.unit))
        ++out.maps_by_name;
      else if (m.box.empty())
        ++out.maps_without_box;
      else
        ++out.maps;
    }
    std::vector<ForecastRow> rows(kNeedCount);
    const PeakSearch maps = streamed_.map_search();
    tbb::parallel_for(size_t{0}, kNeedCount, [&](size_t n) { rows[n] = map_row(maps, static_cast<Need>(n)); });
    add_type_rows(rows);
    add_world_rows(rows);
    std::erase_if(rows, [](const ForecastRow& r) { return r.most == 0; });
    const ConfigPools pools(streamed_.world(), options_.target);
    for (ForecastRow& row : rows) {
      const std::optional<uint64_t> limit = pools.size_of(row.name);
      if (limit) row.limit = *limit, row.limit_from = ForecastRow::Limit::config;
    }
    out.rows = std::move(rows);
    out.grid = grid();
    return out;
  }

 private:
  ForecastRow map_row(const PeakSearch& search, Need need) const {
    std::vector<uint64_t> weights;
    for (const StreamedMap& m : streamed_.maps()) weights.push_back(m.needs[need]);
    ForecastRow row = peak_row(search, weights);
    row.name = need_info(need).pool;
    if (need_info(need).built_in_limit != 0)
      row.limit = need_info(need).built_in_limit, row.limit_from = ForecastRow::Limit::built_in;
    return row;
  }

  /// Type files count once, however many maps use them; permanent ones count everywhere, used or not.
  void add_type_rows(std::vector<ForecastRow>& rows) const {
    const size_t maps = streamed_.maps().size(), all = maps + streamed_.types().size();
    const PeakSearch search = streamed_.full_search();
    const auto add = [&](std::string_view name, bool is_bytes, const auto& weight_of_map, const auto& weight_of_types) {
      std::vector<uint64_t> weights(all, 0);
      uint64_t always = 0;
      for (size_t i = 0; i < maps; ++i) weights[i] = weight_of_map(unit_of_owner(i));
      for (size_t i = maps; i < all; ++i)
        if (!is_permanent(unit_of_owner(i))) weights[i] = weight_of_types(unit_of_owner(i));
      for (const auto& unit : streamed_.world().units())
        if (unit->types != nullptr && !unit->is_shadowed && !unit->is_context && is_permanent(*unit))
          always += weight_of_types(*unit);
      ForecastRow& row = rows.emplace_back(peak_row(search, weights));
      row.name = name;
      row.is_bytes = is_bytes;
      row.most += always;
      row.bound += always;
    };
    const auto none = [](const LintUnit&) { return uint64_t{0}; };
    add("type files", false, none, [](const LintUnit&) { return uint64_t{1}; });
    add("fwArchetypePooledMap", false, none, [](const LintUnit& unit) {
      const auto* const archetypes = unit.types->archetypes();
      return archetypes == nullptr ? uint64_t{0} : archetypes->size();
    });
    if (options_.resource_bytes) add("resources", true, options_.resource_bytes, options_.resource_bytes);
  }

  bool is_permanent(const LintUnit& types) const { return options_.permanent_types.contains(types.name); }

  /// What is there for good: slots of stores, and one proxy for each placed interior.
  void add_world_rows(std::vector<ForecastRow>& rows) const {
    uint64_t types = 0, interiors = 0;
    for (const auto& unit : streamed_.world().units())
      types += unit->types != nullptr && !unit->is_shadowed && !unit->is_context ? 1 : 0;
    for (const StreamedMap& m : streamed_.maps()) interiors += m.needs[Need::interior_nodes];
    const std::pair<std::string_view, uint64_t> totals[] = {
        {"MapDataStore", streamed_.maps().size()}, {"MapTypesStore", types}, {"InteriorProxy", interiors}};
    for (const auto& [name, most] : totals) {
      ForecastRow& row = rows.emplace_back();
      row.name = name;
      row.is_everywhere = true;
      row.most = row.bound = most;
    }
  }

  ForecastRow peak_row(const PeakSearch& search, const std::vector<uint64_t>& weights) const {
    const Peak peak = search.find(weights);
    ForecastRow row;
    row.most = peak.most;
    row.bound = peak.bound;
    row.place = {peak.place.x, peak.place.y, peak.place.z};
    for (size_t i = 0; i < weights.size(); ++i)
      if (weights[i] > row.largest.amount) row.largest = {&unit_of_owner(i), weights[i]};
    if (peak.most == 0) {
      // Nothing of it streams in by place. What the largest map needs, it may still need.
      row.most = row.bound = row.largest.amount;
      if (row.largest.unit != nullptr) row.heaviest.push_back(row.largest);
      row.is_everywhere = true;
      return row;
    }
    for (const uint32_t owner : search.owners_at(peak.place))
      if (weights[owner] != 0) row.heaviest.push_back({&unit_of_owner(owner), weights[owner]});
    sort_users(row.heaviest);
    if (row.heaviest.size() > kForecastUsers) row.heaviest.resize(kForecastUsers);
    return row;
  }

  ForecastGrid grid() const {
    ForecastGrid grid;
    Bounds all;
    for (const StreamedMap& m : streamed_.maps())
      if (!m.box.empty() && !StreamedWorld::by_name_only(*m.unit)) all.add(m.box);
    if (all.empty() || options_.grid_side == 0) return grid;
    const double width = all.max.x - all.min.x, height = all.max.y - all.min.y;
    grid.min_x = all.min.x;
    grid.min_y = all.min.y;
    grid.cell = std::max(std::max(width, height) / options_.grid_side, 1.0);
    grid.columns = static_cast<uint32_t>(std::ceil(width / grid.cell)) + (width == 0 ? 1 : 0);
    grid.rows = static_cast<uint32_t>(std::ceil(height / grid.cell)) + (height == 0 ? 1 : 0);
    grid.entities.resize(size_t{grid.columns} * grid.rows);
    tbb::parallel_for(uint32_t{0}, grid.rows, [&](uint32_t r) {
      std::vector<std::pair<double, int64_t>> steps;  // of height: what begins and ends there
      for (uint32_t c = 0; c < grid.columns; ++c) {
        const double x = grid.min_x + (c + 0.5) * grid.cell, y = grid.min_y + (r + 0.5) * grid.cell;
        steps.clear();
        for (const StreamedMap& m : streamed_.maps()) {
          if (m.box.empty() || StreamedWorld::by_name_only(*m.unit)) continue;
          if (x < m.box.min.x || x > m.box.max.x || y < m.box.min.y || y > m.box.max.y) continue;
          const auto entities = static_cast<int64_t>(m.needs.entities());
          steps.emplace_back(m.box.min.z, entities);
          steps.emplace_back(m.box.max.z, -entities);
        }
        // Where one ends and one begins, both are there.
        std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) {
          return a.first != b.first ? a.first < b.first : a.second > b.second;
        });
        int64_t now = 0, most = 0;
        for (const auto& [z, entities] : steps) most = std::max(most, now += entities);
        grid.entities[size_t{r} * grid.columns + c] = static_cast<uint64_t>(most);
      }
    });
    return grid;
  }

  const LintUnit& unit_of_owner(size_t owner) const {
    const size_t maps = streamed_.maps().size();
    return owner < maps ? *streamed_.maps()[owner].unit : *streamed_.types()[owner - maps];
  }

  StreamedWorld streamed_;
  const ForecastOptions& options_;
};

}  // namespace

Forecast forecast_world(const LintWorld& world, const ForecastOptions& options) {
  return Forecaster(world, options).run();
}

}  // namespace meridian::tools
