// SPDX-License-Identifier: MIT
#include "meridian/core/world_grid.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "meridian/base/assert.h"

namespace meridian {
namespace {

/// Where cell `index` begins. Grows with the index whatever is rounded.
double border(float range_min, float cell_size, uint32_t index) {
  return double{range_min} + static_cast<double>(index) * cell_size;
}

/// The cell that begins at or below `v`. Requires: v >= range_min, and not so far that no index holds it.
uint32_t cell_index(float v, float range_min, float cell_size) {
  auto index = static_cast<uint32_t>((double{v} - range_min) / cell_size);
  // The quotient may be rounded across a border; the borders themselves decide.
  while (index > 0 && v < border(range_min, cell_size, index)) --index;
  while (v >= border(range_min, cell_size, index + 1)) ++index;
  return index;
}

struct Size {
  uint32_t tiles_x = 0, tiles_y = 0;
  size_t tiles = 0, cells = 0;
  size_t bytes() const { return (tiles + cells) * sizeof(WorldCell); }
};

/// Tiles that cover a range; 0 if they are too many. Cells that begin at its far border are not in it.
uint32_t tiles_along(float range_min, float range_max, const WorldGridConfig& config) {
  const double cells = (double{range_max} - range_min) / config.cell_size;
  if (!(cells <= double{kMaxWorldGridCells})) return 0;
  uint32_t count = cell_index(range_max, range_min, config.cell_size);
  if (border(range_min, config.cell_size, count) < range_max) ++count;
  return (count + config.tile_cells - 1) / config.tile_cells;
}

/// All zero for a config out of its ranges.
Size size_of(const WorldGridConfig& config) {
  const Aabb& r = config.range;
  if (!is_finite(r.min) || !is_finite(r.max) || !(r.min.x < r.max.x) || !(r.min.y < r.max.y) || !(r.min.z <= r.max.z))
    return {};
  if (!is_finite(config.cell_size) || config.cell_size <= 0 || config.tile_cells < 1 || config.tile_cells > 64)
    return {};
  // Cells finer than doubles can tell apart would make borders coincide.
  const double largest = std::max(
      {std::abs(double{r.min.x}), std::abs(double{r.max.x}), std::abs(double{r.min.y}), std::abs(double{r.max.y})});
  if (config.cell_size < largest * 1e-12) return {};
  Size out;
  out.tiles_x = tiles_along(r.min.x, r.max.x, config);
  out.tiles_y = tiles_along(r.min.y, r.max.y, config);
  const uint64_t tiles = uint64_t{out.tiles_x} * out.tiles_y;
  const uint64_t per_tile = uint64_t{config.tile_cells} * config.tile_cells;
  if (tiles == 0 || tiles > kMaxWorldGridCells / (per_tile + 1)) return {};
  out.tiles = tiles;
  out.cells = tiles * per_tile;
  return out;
}

}  // namespace

WorldGrid::~WorldGrid() {
  if (allocator_ != nullptr) allocator_->deallocate(tiles_, memory_bytes(config_), alignof(WorldCell));
}

size_t WorldGrid::memory_bytes(const WorldGridConfig& config) { return size_of(config).bytes(); }

Status WorldGrid::init(const WorldGridConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(tiles_ == nullptr, "a world grid is initialised once");
  if (tiles_ != nullptr) return {StatusCode::in_use, "the world grid is initialised already"};
  const Size size = size_of(config);
  if (size.tiles == 0) return {StatusCode::bad_value, "a world grid's configuration is out of its ranges"};
  void* const memory = allocator.allocate(size.bytes(), alignof(WorldCell));
  if (memory == nullptr) return {StatusCode::out_of_memory, "no memory for a world grid; detail = bytes", size.bytes()};
  config_ = config;
  allocator_ = &allocator;
  tiles_x_ = size.tiles_x;
  tiles_y_ = size.tiles_y;
  tiles_ = static_cast<WorldCell*>(memory);
  cells_ = tiles_ + size.tiles;
  for (size_t i = 0; i < size.tiles + size.cells; ++i) new (tiles_ + i) WorldCell;
  return {};
}

void WorldGrid::clear() {
  if (tiles_ == nullptr) return;
  const Size size = size_of(config_);
  std::fill(tiles_, tiles_ + size.tiles + size.cells, WorldCell{});
}

bool WorldGrid::run_of(float low, float high, float range_min, float range_max, float cell_size, Run& run) {
  // An interval counts if it has a part inside [range_min, range_max): a length of it, or itself if it is a point.
  const bool outside = low >= range_max || (low == high ? low < range_min : high <= range_min);
  if (outside) return false;
  run.cut = low < range_min || high > range_max;
  run.first = cell_index(std::max(low, range_min), range_min, cell_size);
  const float end = std::min(high, range_max);
  run.last = run.first;
  if (end > low) {
    run.last = cell_index(end, range_min, cell_size);
    // It has no length in a cell that begins where it ends.
    if (run.last > run.first && border(range_min, cell_size, run.last) >= end) --run.last;
  }
  return true;
}

void WorldGrid::add(WorldCell& cell, float min_z, float max_z, NameHash name) {
  const bool first = cell.count == 0;
  if (first || max_z > cell.max_z || (max_z == cell.max_z && name < cell.top)) cell.top = name;
  cell.min_z = first ? min_z : std::min(cell.min_z, min_z);
  cell.max_z = first ? max_z : std::max(cell.max_z, max_z);
  if (cell.count != UINT32_MAX) ++cell.count;
}

WorldGridCounts WorldGrid::fill(std::span<const PlacedBox> boxes) {
  MERIDIAN_ASSERT(tiles_ != nullptr, "a world grid is initialised before it is filled");
  WorldGridCounts counts;
  const Aabb& range = config_.range;
  for (const PlacedBox& placed : boxes) {
    const Aabb& b = placed.box;
    if (!is_finite(b.min) || !is_finite(b.max) || b.min.x > b.max.x || b.min.y > b.max.y || b.min.z > b.max.z) {
      ++counts.bad;
      continue;
    }
    Run x, y;
    if (tiles_ == nullptr || !run_of(b.min.x, b.max.x, range.min.x, range.max.x, config_.cell_size, x) ||
        !run_of(b.min.y, b.max.y, range.min.y, range.max.y, config_.cell_size, y)) {
      ++counts.outside;
      continue;
    }
    ++counts.placed;
    if (x.cut || y.cut) ++counts.cut;
    const float min_z = std::clamp(b.min.z, range.min.z, range.max.z);
    const float max_z = std::clamp(b.max.z, range.min.z, range.max.z);
    if (min_z != b.min.z || max_z != b.max.z) ++counts.z_clamped;
    for (uint32_t cy = y.first; cy <= y.last; ++cy)
      for (uint32_t cx = x.first; cx <= x.last; ++cx) add(cells_[cell_slot(cx, cy)], min_z, max_z, placed.name);
    const uint32_t n = config_.tile_cells;
    for (uint32_t ty = y.first / n; ty <= y.last / n; ++ty)
      for (uint32_t tx = x.first / n; tx <= x.last / n; ++tx)
        add(tiles_[size_t{ty} * tiles_x_ + tx], min_z, max_z, placed.name);
  }
  return counts;
}

size_t WorldGrid::cell_slot(uint32_t x, uint32_t y) const {
  const uint32_t n = config_.tile_cells;
  const size_t tile = size_t{y / n} * tiles_x_ + x / n;
  return (tile * n + y % n) * n + x % n;
}

bool WorldGrid::locate(Vec2 position, GridIndex& index) const {
  const Aabb& r = config_.range;
  // So written that NaN is outside.
  const bool inside = position.x >= r.min.x && position.x < r.max.x && position.y >= r.min.y && position.y < r.max.y;
  if (tiles_ == nullptr || !inside) return false;
  index = {cell_index(position.x, r.min.x, config_.cell_size), cell_index(position.y, r.min.y, config_.cell_size)};
  return true;
}

const WorldCell* WorldGrid::cell_at(Vec2 position) const {
  GridIndex index;
  return locate(position, index) ? cells_ + cell_slot(index.x, index.y) : nullptr;
}

const WorldCell* WorldGrid::tile_at(Vec2 position) const {
  GridIndex index;
  if (!locate(position, index)) return nullptr;
  return tiles_ + size_t{index.y / config_.tile_cells} * tiles_x_ + index.x / config_.tile_cells;
}

const WorldCell* WorldGrid::cell(GridIndex index) const {
  const bool inside = index.x < cell_count_x() && index.y < cell_count_y();
  MERIDIAN_ASSERT(inside, "no such cell in the world grid");
  return inside ? cells_ + cell_slot(index.x, index.y) : nullptr;
}

const WorldCell* WorldGrid::tile(GridIndex index) const {
  const bool inside = index.x < tiles_x_ && index.y < tiles_y_;
  MERIDIAN_ASSERT(inside, "no such tile in the world grid");
  return inside ? tiles_ + size_t{index.y} * tiles_x_ + index.x : nullptr;
}

std::span<const WorldCell> WorldGrid::cells_of_tile(GridIndex index) const {
  const WorldCell* const at = tile(index);
  if (at == nullptr) return {};
  const size_t per_tile = size_t{config_.tile_cells} * config_.tile_cells;
  return {cells_ + static_cast<size_t>(at - tiles_) * per_tile, per_tile};
}

Aabb WorldGrid::cell_bounds(GridIndex index) const {
  MERIDIAN_ASSERT(index.x < cell_count_x() && index.y < cell_count_y(), "no such cell in the world grid");
  const Aabb& r = config_.range;
  const float size = config_.cell_size;
  return {{round_up(border(r.min.x, size, index.x)), round_up(border(r.min.y, size, index.y)), r.min.z},
          {round_up(border(r.min.x, size, index.x + 1)), round_up(border(r.min.y, size, index.y + 1)), r.max.z}};
}

}  // namespace meridian
