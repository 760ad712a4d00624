// SPDX-License-Identifier: MIT
#pragma once
/// One map on its way: gathers what stands in it and keeps its boxes, flags and needs up to date.

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "meridian/schemas/imap_generated.h"
#include "world_gen/entities.h"
#include "world_gen/plan.h"
#include "world_gen/table_maker.h"

namespace meridian::tools::world {

/// What is known of a map once it is made: for the manifest, the game configuration and the statistics. `inside` is
/// how many entities its interiors hold at most.
struct MapSummary {
  uint32_t map = 0;
  Bounds streaming;
  uint32_t entities = 0, interiors = 0, inside = 0, portals = 0, extensions = 0, car_generators = 0, lod_lights = 0,
           grass_batches = 0, grass_instances = 0, occluders = 0, time_boxes = 0;
  std::vector<uint32_t> type_files;  ///< sorted
};

class MapMaker {
 public:
  static constexpr uint32_t kNoParent = UINT32_MAX;

  MapMaker(const Plan& plan, uint32_t map, uint32_t parent, bool is_parent);

  const TypePlan& plan() const { return root_.plan(); }
  TableMaker& root() { return root_; }
  MapSummary& summary() { return summary_; }
  /// Wrapper of entity extensions.
  const TypePlan& extension_plan() const;

  /// Adds an entity; its range must be known. Gives its index.
  uint32_t add(const Placed& entity);
  /// Adds an extension to the entity added last.
  void extend(TableMaker&& extension);
  /// Data of the interior instance added last.
  void add_interior(TableMaker&& record) { instances_.emplace_back(last(), std::move(record)); }
  /// Counts something into the boxes: seen from `margin` around it.
  void include(const Bounds& box, double margin);
  void contains(schema::MapContentFlags content) { content_ = content_ | content; }
  void add_collision(const std::vector<uint32_t>& names);
  void add_types_of(uint32_t archetype);
  /// Who made it; level-of-detail maps carry that.
  void describe();

  /// The map as a value.
  std::pair<TableMaker, MapSummary> finish() &&;

 private:
  uint32_t last() const { return static_cast<uint32_t>(entities_.size()) - 1; }

  const Plan& plan_;
  TableMaker root_;
  MapSummary summary_;
  Bounds contents_;
  schema::MapContentFlags content_{};
  std::vector<schema::EntityDef> entities_;
  std::vector<std::pair<uint32_t, TableMaker>> extensions_, instances_;
};

using MapSink = std::function<void(TableMaker&& root, MapSummary&& summary)>;

/// All maps of an area, in the order of their numbers.
void make_area(const Plan& plan, const Area& area, const MapSink& sink);
/// The SLOD2 and SLOD3 entities of a region.
void make_region(const Plan& plan, uint32_t region, const MapSink& sink);
/// The SLOD4 entities.
void make_world_map(const Plan& plan, const MapSink& sink);

}  // namespace meridian::tools::world
