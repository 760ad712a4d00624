// SPDX-License-Identifier: MIT
#include "meridian/core/world_grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

// UTIL-5: the world grid.

namespace meridian {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

PlacedBox box(float x0, float y0, float z0, float x1, float y1, float z1, uint32_t name = 1) {
  return {{{x0, y0, z0}, {x1, y1, z1}}, NameHash{name}};
}

void expect_cell(const WorldCell* cell, float min_z, float max_z, uint32_t count, uint32_t top) {
  ASSERT_NE(cell, nullptr);
  EXPECT_EQ(cell->min_z, min_z);
  EXPECT_EQ(cell->max_z, max_z);
  EXPECT_EQ(cell->count, count);
  EXPECT_EQ(cell->top.value, top);
}

// UTIL-5: (5100 + 4050) / 150 = 61 and (8400 + 4050) / 150 = 83 tiles.
TEST(WorldGrid, HasTheClassicRange) {
  static_assert(kWorldCellSize == 50 && kWorldTileCells == 3);
  WorldGrid grid;
  ASSERT_TRUE(grid.init({}, default_allocator()).ok());
  EXPECT_EQ(grid.tile_count_x(), 61u);
  EXPECT_EQ(grid.tile_count_y(), 83u);
  EXPECT_EQ(grid.cell_count_x(), 183u);
  EXPECT_EQ(grid.cell_count_y(), 249u);
  EXPECT_EQ(WorldGrid::memory_bytes({}), (61u * 83 + 183 * 249) * 16);
  EXPECT_EQ(grid.cell_bounds({0, 0}), (Aabb{{-4050, -4050, 0}, {-4000, -4000, 816}}));
  EXPECT_EQ(grid.cell_bounds({182, 248}), (Aabb{{5050, 8350, 0}, {5100, 8400, 816}}));
}

// UTIL-5, by hand: borders are half-open.
TEST(WorldGrid, PositionsOnBordersBelongToTheCellThatBeginsThere) {
  WorldGrid grid;
  ASSERT_TRUE(grid.init({}, default_allocator()).ok());
  GridIndex at;
  ASSERT_TRUE(grid.locate({-4050, -4050}, at));
  EXPECT_EQ(at, (GridIndex{0, 0}));
  ASSERT_TRUE(grid.locate({-4000, std::nextafter(-4000.0f, -kInf)}, at));
  EXPECT_EQ(at, (GridIndex{1, 0}));
  ASSERT_TRUE(grid.locate({0, 0}, at));
  EXPECT_EQ(at, (GridIndex{81, 81}));
  ASSERT_TRUE(grid.locate({-1e-30f, 1e-30f}, at));  // doubles round these to 4050 from the border
  EXPECT_EQ(at, (GridIndex{80, 81}));
  ASSERT_TRUE(grid.locate({std::nextafter(5100.0f, 0.0f), std::nextafter(8400.0f, 0.0f)}, at));
  EXPECT_EQ(at, (GridIndex{182, 248}));
}

// UTIL-5: outside is refused.
TEST(WorldGrid, PositionsOutsideHaveNoCell) {
  WorldGrid grid;
  ASSERT_TRUE(grid.init({}, default_allocator()).ok());
  EXPECT_NE(grid.cell_at({0, 0}), nullptr);
  for (const Vec2 at : {Vec2{5100, 0}, Vec2{0, 8400}, Vec2{std::nextafter(-4050.0f, -kInf), 0}, Vec2{0, -4051},
                        Vec2{kNan, 0}, Vec2{0, kNan}, Vec2{kInf, 0}, Vec2{0, -kInf}, Vec2{1e30f, 1e30f}}) {
    GridIndex index{7, 7};
    EXPECT_EQ(grid.cell_at(at), nullptr);
    EXPECT_EQ(grid.tile_at(at), nullptr);
    EXPECT_FALSE(grid.locate(at, index));
    EXPECT_EQ(index, (GridIndex{7, 7}));
  }
}

// UTIL-5, by hand.
TEST(WorldGrid, MapsHeightDensityAndTheHighestThing) {
  WorldGrid grid;
  ASSERT_TRUE(grid.init({}, default_allocator()).ok());
  const PlacedBox boxes[] = {box(10, 10, 20, 30, 30, 45, 100),     // cell 81, 81
                             box(20, 20, 5, 60, 40, 30, 200),      // and its neighbour to the east
                             box(120, 10, 50, 130, 20, 60, 300)};  // two cells on, in the same tile
  const WorldGridCounts counts = grid.fill(boxes);
  EXPECT_EQ(counts.placed, 3u);
  EXPECT_EQ(counts.outside + counts.bad + counts.cut + counts.z_clamped, 0u);
  expect_cell(grid.cell_at({0, 0}), 5, 45, 2, 100);
  expect_cell(grid.cell_at({99, 49}), 5, 30, 1, 200);
  expect_cell(grid.cell_at({100, 0}), 50, 60, 1, 300);
  expect_cell(grid.cell_at({0, 50}), 0, 0, 0, 0);
  expect_cell(grid.tile_at({149, 149}), 5, 60, 3, 300);
  expect_cell(grid.tile_at({150, 0}), 0, 0, 0, 0);
  const std::span<const WorldCell> cells = grid.cells_of_tile({27, 27});
  ASSERT_EQ(cells.size(), 9u);
  EXPECT_EQ(&cells[0], grid.cell_at({0, 0}));
  EXPECT_EQ(&cells[2], grid.cell_at({100, 0}));
  EXPECT_EQ(&cells[3], grid.cell_at({0, 50}));
  EXPECT_EQ(&cells[8], grid.cell({83, 83}));
  EXPECT_EQ(grid.tile({27, 27}), grid.tile_at({0, 0}));
}

// UTIL-5
TEST(WorldGrid, WhatOnlyTouchesACellDoesNotCountInIt) {
  WorldGrid grid;
  ASSERT_TRUE(grid.init({}, default_allocator()).ok());
  EXPECT_EQ(grid.fill(std::vector{box(0, 0, 1, 50, 50, 2)}).placed, 1u);  // exactly one cell
  EXPECT_EQ(grid.cell_at({0, 0})->count, 1u);
  for (const Vec2 beside : {Vec2{50, 0}, Vec2{0, 50}, Vec2{-1, 0}, Vec2{0, -1}, Vec2{50, 50}})
    EXPECT_EQ(grid.cell_at(beside)->count, 0u);
  // A wall without a thickness is in the cell that begins where it stands, a point likewise.
  EXPECT_EQ(grid.fill(std::vector{box(100, 0, 1, 100, 50, 2), box(150, 150, 0, 150, 150, 0)}).placed, 2u);
  EXPECT_EQ(grid.cell_at({100, 0})->count, 1u);
  EXPECT_EQ(grid.cell_at({99, 0})->count, 0u);
  EXPECT_EQ(grid.cell_at({150, 150})->count, 1u);
}

// UTIL-5: what is refused, cut or clamped is counted.
TEST(WorldGrid, CountsWhatIsOutside) {
  WorldGrid grid;
  ASSERT_TRUE(grid.init({}, default_allocator()).ok());
  const std::vector<PlacedBox> boxes = {
      box(5100, 0, 0, 5200, 10, 10),                     // outside: begins at the far border
      box(-5000, 0, 0, -4050, 10, 10),                   // outside: ends at the near one
      box(0, 9000, 0, 10, 9010, 10),                     // outside
      box(5100, 0, 0, 5100, 10, 10),                     // outside: flat, on the far border
      box(-4050, 0, 0, -4050, 10, 10),                   // placed: flat, on the near border
      box(5000, 0, 0, 6000, 10, 10),                     // cut
      box(-1e30f, -1e30f, -1e30f, 1e30f, 1e30f, 1e30f),  // cut and clamped: everywhere
      box(0, 0, -20, 10, 10, 900),                       // clamped
      box(0, 0, 900, 10, 10, 1000),                      // clamped: above, still there
      box(10, 0, 0, 0, 10, 10),                          // bad: inside out
      box(0, 0, kNan, 10, 10, 10),                       // bad
      box(0, 0, 0, kInf, 10, 10)};                       // bad
  const WorldGridCounts counts = grid.fill(boxes);
  EXPECT_EQ(counts.outside, 4u);
  EXPECT_EQ(counts.placed, 5u);
  EXPECT_EQ(counts.cut, 2u);
  EXPECT_EQ(counts.z_clamped, 3u);
  EXPECT_EQ(counts.bad, 3u);
  expect_cell(grid.cell_at({0, 0}), 0, 816, 3, 1);
  EXPECT_EQ(grid.cell_at({5099, 0})->count, 2u);
  EXPECT_EQ(grid.cell_at({-4050, 0})->count, 2u);
  EXPECT_EQ(grid.cell_at({-4050, 8399})->count, 1u);
  grid.clear();
  expect_cell(grid.cell_at({0, 0}), 0, 0, 0, 0);
  expect_cell(grid.tile_at({5099, 8399}), 0, 0, 0, 0);
}

// UTIL-5
TEST(WorldGrid, RefusesConfigurationsOutOfRange) {
  const WorldGridConfig bad[] = {{.cell_size = 0},
                                 {.cell_size = -1},
                                 {.cell_size = kNan},
                                 {.cell_size = kInf},
                                 {.cell_size = 0.1f},  // 11 thousand millions of cells
                                 {.cell_size = 1e-30f},
                                 {.tile_cells = 0},
                                 {.tile_cells = 65},
                                 {.range = {{0, 0, 0}, {0, 10, 0}}},
                                 {.range = {{0, 0, 5}, {10, 10, 0}}},
                                 {.range = {{0, kNan, 0}, {10, 10, 0}}},
                                 {.range = {{-3e38f, 0, 0}, {3e38f, 10, 0}}}};
  for (const WorldGridConfig& config : bad) {
    WorldGrid grid;
    EXPECT_EQ(grid.init(config, default_allocator()).code, StatusCode::bad_value) << &config - bad;
    EXPECT_EQ(WorldGrid::memory_bytes(config), 0u);
    EXPECT_EQ(grid.cell_at({0, 0}), nullptr);
    EXPECT_EQ(grid.tile_count_x(), 0u);
  }
}

struct NoMemory final : Allocator {
  void* allocate(size_t, size_t) override { return nullptr; }
  void deallocate(void*, size_t, size_t) override { ADD_FAILURE(); }
};

// UTIL-5
TEST(WorldGrid, SaysThatThereIsNoMemory) {
  NoMemory none;
  WorldGrid grid;
  const Status status = grid.init({}, none);
  EXPECT_EQ(status.code, StatusCode::out_of_memory);
  EXPECT_EQ(status.detail, WorldGrid::memory_bytes({}));
}

// UTIL-5: a range that is no multiple of a tile is covered, and still ends where it ends.
TEST(WorldGrid, TheLastTileMayReachBeyondTheRange) {
  WorldGrid grid;
  ASSERT_TRUE(grid.init({.range = {{0, 0, 0}, {110, 151, 9}}}, default_allocator()).ok());
  EXPECT_EQ(grid.tile_count_x(), 1u);
  EXPECT_EQ(grid.tile_count_y(), 2u);
  EXPECT_NE(grid.cell_at({109.9f, 150.9f}), nullptr);
  EXPECT_EQ(grid.cell_at({110, 10}), nullptr);
  const WorldGridCounts counts = grid.fill(std::vector{box(0, 0, 0, 200, 200, 5)});
  EXPECT_EQ(counts.cut, 1u);
  EXPECT_EQ(grid.cell({2, 3})->count, 1u);
  EXPECT_EQ(grid.cell({2, 4})->count, 0u);  // beyond 151
}

struct Random {
  std::mt19937 engine;
  explicit Random(uint32_t seed) : engine(seed) {}
  float operator()(float low, float high) { return std::uniform_real_distribution<float>(low, high)(engine); }
  uint32_t whole(uint32_t below) { return std::uniform_int_distribution<uint32_t>(0, below - 1)(engine); }
};

/// Whether an interval has a part of [from, to): a length, or itself.
bool counts_in(float low, float high, double from, double to) {
  if (from >= to) return false;
  return low == high ? low >= from && low < to : low < to && high > from;
}

// UTIL-5: every cell and tile against all boxes, in doubles; cells of sizes that floats cannot say exactly, borders hit
// often; and the same again in another order.
TEST(WorldGrid, EqualsAllCellsTimesAllBoxes) {
  const WorldGridConfig configs[] = {
      {.range = {{-100, -70, 0}, {110, 95, 60}}, .cell_size = 10, .tile_cells = 3},
      {.range = {{-1.3f, 2.7f, -5}, {2.2f, 4.9f, 5}}, .cell_size = 0.1f, .tile_cells = 4},
      {.range = {{-4050, -4050, 0}, {-2000, -3000, 816}}, .cell_size = 36.6f, .tile_cells = 1}};
  uint32_t seed = 20260161;
  for (const WorldGridConfig& config : configs) {
    SCOPED_TRACE(++seed);
    Random random(seed);
    WorldGrid grid;
    ASSERT_TRUE(grid.init(config, default_allocator()).ok());
    const Aabb& r = config.range;
    const double size = config.cell_size;
    const auto coordinate = [&](float low, float high) {
      const float v = random(low - (high - low) / 5, high + (high - low) / 5);
      if (random.whole(3) != 0) return v;
      // On a border of a cell, as near as a float comes.
      return static_cast<float>(low + std::floor((double{v} - low) / size) * size);
    };
    std::vector<PlacedBox> boxes;
    for (uint32_t i = 0; i < 300; ++i) {
      PlacedBox b;
      b.name.value = 1 + random.whole(20);
      b.box.min = {coordinate(r.min.x, r.max.x), coordinate(r.min.y, r.max.y), coordinate(r.min.z, r.max.z)};
      b.box.max = b.box.min;
      if (random.whole(5) != 0) b.box.max.x += random(0, config.cell_size * 4);
      if (random.whole(5) != 0) b.box.max.y += random(0, config.cell_size * 4);
      if (random.whole(5) != 0) b.box.max.z = std::max(b.box.max.z, coordinate(r.min.z, r.max.z));
      boxes.push_back(b);
    }

    for (int order = 0; order < 2; ++order) {
      grid.clear();
      // In two calls; counts add up.
      const WorldGridCounts a = grid.fill(std::span(boxes).first(100)), b = grid.fill(std::span(boxes).subspan(100));
      uint64_t inside = 0, cut = 0;
      for (const PlacedBox& p : boxes) {
        if (!counts_in(p.box.min.x, p.box.max.x, r.min.x, r.max.x) ||
            !counts_in(p.box.min.y, p.box.max.y, r.min.y, r.max.y))
          continue;
        ++inside;
        cut += p.box.min.x < r.min.x || p.box.max.x > r.max.x || p.box.min.y < r.min.y || p.box.max.y > r.max.y;
      }
      EXPECT_EQ(a.placed + b.placed, inside);
      EXPECT_EQ(a.cut + b.cut, cut);
      EXPECT_EQ(a.outside + b.outside, boxes.size() - inside);

      const auto expect = [&](const WorldCell& got, double x0, double y0, double x1, double y1) {
        WorldCell want;
        for (const PlacedBox& p : boxes) {
          if (!counts_in(p.box.min.x, p.box.max.x, x0, std::min(x1, double{r.max.x})) ||
              !counts_in(p.box.min.y, p.box.max.y, y0, std::min(y1, double{r.max.y})))
            continue;
          const float low = std::min(std::max(p.box.min.z, r.min.z), r.max.z);
          const float high = std::min(std::max(p.box.max.z, r.min.z), r.max.z);
          if (want.count == 0 || high > want.max_z || (high == want.max_z && p.name.value < want.top.value))
            want.top = p.name;
          want.min_z = want.count == 0 ? low : std::min(want.min_z, low);
          want.max_z = want.count == 0 ? high : std::max(want.max_z, high);
          ++want.count;
        }
        ASSERT_EQ(got.count, want.count);
        ASSERT_EQ(got.min_z, want.min_z);
        ASSERT_EQ(got.max_z, want.max_z);
        ASSERT_EQ(got.top.value, want.top.value);
      };
      for (uint32_t y = 0; y < grid.cell_count_y(); ++y)
        for (uint32_t x = 0; x < grid.cell_count_x(); ++x)
          expect(*grid.cell({x, y}), r.min.x + x * size, r.min.y + y * size, r.min.x + (x + 1) * size,
                 r.min.y + (y + 1) * size);
      const uint32_t n = config.tile_cells;
      for (uint32_t y = 0; y < grid.tile_count_y(); ++y)
        for (uint32_t x = 0; x < grid.tile_count_x(); ++x)
          expect(*grid.tile({x, y}), r.min.x + x * n * size, r.min.y + y * n * size, r.min.x + (x + 1) * n * size,
                 r.min.y + (y + 1) * n * size);
      std::shuffle(boxes.begin(), boxes.end(), random.engine);
    }

    // Positions, also on borders: in the cell whose bounds they are in.
    for (int i = 0; i < 20000; ++i) {
      Vec2 at{coordinate(r.min.x, r.max.x), coordinate(r.min.y, r.max.y)};
      if (random.whole(4) == 0) at.x = std::nextafter(at.x, random.whole(2) == 0 ? kInf : -kInf);
      const bool inside = at.x >= r.min.x && at.x < r.max.x && at.y >= r.min.y && at.y < r.max.y;
      GridIndex index;
      ASSERT_EQ(grid.locate(at, index), inside);
      if (!inside) continue;
      ASSERT_EQ(grid.cell_at(at), grid.cell(index));
      ASSERT_EQ(grid.tile_at(at), grid.tile({index.x / config.tile_cells, index.y / config.tile_cells}));
      const Aabb bounds = grid.cell_bounds(index);
      ASSERT_TRUE(at.x >= bounds.min.x && at.x < bounds.max.x && at.y >= bounds.min.y && at.y < bounds.max.y);
    }
  }
}

}  // namespace
}  // namespace meridian
