// SPDX-License-Identifier: MIT
#pragma once
/// A coarse map of the world: of each cell, how low and high things in it reach, how many there are, and what stands
/// highest. Filled once from placed boxes; then asked by position: how high must a helicopter be here, is this a
/// crowded place?
///
///   WorldGrid grid;
///   Status made = grid.init({}, default_allocator());          // 50 m cells, 3 x 3 a tile, the classic range
///   const WorldGridCounts counts = grid.fill(placed_boxes);
///   const WorldCell* cell = grid.cell_at({x, y});
///   if (cell != nullptr && cell->count != 0) safe_height = cell->max_z + 10;
///
/// Cells make up square tiles, which have the same map once more, coarser. Cells are half-open, [min, max), on x and y:
/// a position on a border belongs to the cell that begins there, and the far borders of the range are outside it.
/// Positions outside are refused: their cell is null. A box counts in the cells that it has an area in; one without a
/// size along an axis in the cell where it lies; what it touches with its border only doesn't count.
///
/// Threads: main while it is filled or cleared; immutable after that.
/// Memory:  one allocation in init (memory_bytes): 16 bytes a cell and a tile, 791 KiB for the classic range.
/// Source:  own.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/math.h"
#include "meridian/base/memory.h"
#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"

namespace meridian {

inline constexpr float kWorldCellSize = 50;     ///< [m]
inline constexpr uint32_t kWorldTileCells = 3;  ///< along each side of a tile, which so has 150 m
inline constexpr Aabb kWorldRange{{-4050, -4050, 0}, {5100, 8400, 816}};  ///< 61 x 83 tiles
inline constexpr uint64_t kMaxWorldGridCells = 1u << 26;                  ///< tiles counted as well; 1 GiB

struct WorldGridConfig {
  Aabb range = kWorldRange;               ///< finite, with an area; z may have no height [m]
  float cell_size = kWorldCellSize;       ///< [> 0] [m]
  uint32_t tile_cells = kWorldTileCells;  ///< along each side of a tile [1, 64] [count]
};

/// One cell, or one tile.
struct WorldCell {
  float min_z = 0;     ///< of all boxes in it, within the range; 0 if there are none [m]
  float max_z = 0;     ///< as min_z [m]
  uint32_t count = 0;  ///< its density: boxes in it [count]
  NameHash top;        ///< of the box that reaches highest; of several the smallest hash
};
static_assert(sizeof(WorldCell) == 16);

/// What is placed in the world.
struct PlacedBox {
  Aabb box;
  NameHash name;
};

/// What became of boxes.
struct WorldGridCounts {
  uint64_t placed = 0;     ///< boxes that count in at least one cell
  uint64_t outside = 0;    ///< refused: no part within the range on x and y
  uint64_t bad = 0;        ///< refused: inside out or not finite
  uint64_t cut = 0;        ///< of the placed ones: reach beyond the range on x or y; what is inside counts
  uint64_t z_clamped = 0;  ///< of the placed ones: z was clamped to the range
};

/// A cell's or tile's place in the grid, x to the east.
struct GridIndex {
  uint32_t x = 0, y = 0;
  friend constexpr bool operator==(GridIndex, GridIndex) = default;
};

class WorldGrid {
 public:
  WorldGrid() = default;
  ~WorldGrid();
  WorldGrid(const WorldGrid&) = delete;
  WorldGrid& operator=(const WorldGrid&) = delete;

  /// What init will ask the allocator for. 0 for a config out of its ranges. [bytes]
  static size_t memory_bytes(const WorldGridConfig& config);
  /// Gets the memory; all cells are empty. `allocator` must outlive the grid. Requires: not initialised before.
  /// Errors: bad_value for a config out of its ranges, also one of more than kMaxWorldGridCells; out_of_memory.
  Status init(const WorldGridConfig& config, Allocator& allocator);

  /// Adds boxes to those already there. The result does not depend on their order, or on how many calls they come in.
  /// Returns what became of these. Requires: initialised (otherwise all are outside).
  WorldGridCounts fill(std::span<const PlacedBox> boxes);
  /// Empties all cells.
  void clear();

  /// Null outside the range, and for NaN. Pointers die with the grid.
  const WorldCell* cell_at(Vec2 position) const;
  const WorldCell* tile_at(Vec2 position) const;
  /// Which cell a position is in; false outside the range, and `index` is left alone.
  bool locate(Vec2 position, GridIndex& index) const;

  /// Requires: below cell_count_x() and cell_count_y() (asserted; otherwise null).
  const WorldCell* cell(GridIndex index) const;
  /// Requires: below tile_count_x() and tile_count_y() (asserted; otherwise null).
  const WorldCell* tile(GridIndex index) const;
  /// The cells of a tile, row by row from the south, tile_cells in a row. Some may lie beyond the range; they are
  /// empty.
  std::span<const WorldCell> cells_of_tile(GridIndex index) const;
  /// [min, max) of a cell on x and y; z as the range. Borders are computed in doubles and rounded up, so a float is
  /// beyond one exactly if it is beyond the rounded one. Requires: as cell().
  Aabb cell_bounds(GridIndex index) const;

  uint32_t cell_count_x() const { return tiles_x_ * config_.tile_cells; }
  uint32_t cell_count_y() const { return tiles_y_ * config_.tile_cells; }
  uint32_t tile_count_x() const { return tiles_x_; }
  uint32_t tile_count_y() const { return tiles_y_; }

 private:
  /// First and last cell along one axis that an interval counts in.
  struct Run {
    uint32_t first = 0, last = 0;
    bool cut = false;
  };
  static bool run_of(float low, float high, float range_min, float range_max, float cell_size, Run& run);
  size_t cell_slot(uint32_t x, uint32_t y) const;
  void add(WorldCell& cell, float min_z, float max_z, NameHash name);

  WorldGridConfig config_;
  Allocator* allocator_ = nullptr;
  WorldCell* tiles_ = nullptr;  ///< row by row
  WorldCell* cells_ = nullptr;  ///< tile by tile in the order of tiles_, row by row within one
  uint32_t tiles_x_ = 0, tiles_y_ = 0;
};

}  // namespace meridian
