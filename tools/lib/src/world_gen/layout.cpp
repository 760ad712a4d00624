// SPDX-License-Identifier: MIT
// Where the areas lie. Cities are heaps of density on a grid; a kd-tree cuts the grid so that all areas weigh the same.
#include <algorithm>
#include <cmath>

#include "world_gen/plan.h"

namespace meridian::tools::world {
namespace {

constexpr uint32_t kGrid = 512;  // cells a side
/// Weight of empty country, and of the middle of the largest city beyond that.
constexpr uint64_t kCountry = 24, kCity = 1000;

struct Cells {
  uint32_t x0 = 0, y0 = 0, x1 = kGrid, y1 = kGrid;
};

class Layout {
 public:
  Layout(uint64_t seed, uint64_t maps) {
    // 9 x 12 km for 8 000 maps; the same density for other numbers.
    const double scale = std::sqrt(static_cast<double>(maps) / 8000);
    width_ = std::max(400.0, std::floor(9000 * scale));
    height_ = std::max(500.0, std::floor(12000 * scale));
    make_sums(seed);
  }

  void cut(std::vector<Area>& areas) { cut(areas.data(), static_cast<uint32_t>(areas.size()), Cells{}); }

 private:
  double x_of(uint32_t cell) const { return std::floor(width_ * cell / kGrid - width_ / 2); }
  double y_of(uint32_t cell) const { return std::floor(height_ * cell / kGrid - height_ / 2); }

  // A city's weight falls with the fourth power of the distance outside its radius. Whole numbers throughout.
  void make_sums(uint64_t seed) {
    struct City {
      int64_t x, y, radius_squared;
      uint64_t peak;
    };
    Random random(seed, Stream::layout, {});
    const auto wanted = static_cast<uint32_t>(width_ * height_ / 12e6);
    std::vector<City> cities(1 + wanted);
    for (size_t i = 0; i < cities.size(); ++i) {
      const int32_t radius = i == 0 ? random.between(500, 800) : random.between(150, 600);
      // The first one is the capital, in the middle third.
      const int32_t share = i == 0 ? 6 : 2;
      const auto half_width = static_cast<int32_t>(width_) / share, half_height = static_cast<int32_t>(height_) / share;
      cities[i] = {random.between(-half_width, half_width), random.between(-half_height, half_height),
                   int64_t{radius} * radius, i == 0 ? kCity : kCity / (2 + random.below(6))};
    }
    sums_.assign(size_t{kGrid + 1} * (kGrid + 1), 0);
    for (uint32_t y = 0; y < kGrid; ++y)
      for (uint32_t x = 0; x < kGrid; ++x) {
        const auto mx = static_cast<int64_t>(x_of(x)), my = static_cast<int64_t>(y_of(y));
        uint64_t weight = kCountry;
        for (const City& city : cities) {
          const int64_t d = (mx - city.x) * (mx - city.x) + (my - city.y) * (my - city.y);
          const auto near = static_cast<uint64_t>((city.radius_squared << 16) / (city.radius_squared + d));
          weight += (city.peak * ((near * near) >> 16)) >> 16;
        }
        at(x + 1, y + 1) = weight + at(x, y + 1) + at(x + 1, y) - at(x, y);
      }
  }

  uint64_t& at(uint32_t x, uint32_t y) { return sums_[size_t{y} * (kGrid + 1) + x]; }
  uint64_t weight(const Cells& c) { return at(c.x1, c.y1) - at(c.x0, c.y1) - at(c.x1, c.y0) + at(c.x0, c.y0); }

  void cut(Area* areas, uint32_t count, const Cells& cells) {
    if (count == 1) {
      areas->x0 = x_of(cells.x0);
      areas->y0 = y_of(cells.y0);
      areas->x1 = x_of(cells.x1);
      areas->y1 = y_of(cells.y1);
      return;
    }
    const double width = x_of(cells.x1) - x_of(cells.x0), height = y_of(cells.y1) - y_of(cells.y0);
    const uint32_t columns = cells.x1 - cells.x0, rows = cells.y1 - cells.y0;
    const bool by_x = rows < 2 || (columns >= 2 && width >= height);
    const uint32_t first = by_x ? cells.x0 : cells.y0, last = by_x ? cells.x1 : cells.y1;
    const uint32_t lower = count / 2;
    Cells low = cells, high = cells;
    if (last - first >= 2) {  // else one cell holds several areas, which then lie upon each other
      // Each side keeps a cell for each of its areas.
      const uint32_t across = by_x ? rows : columns;
      const uint32_t from = first + std::max(1u, (lower + across - 1) / across);
      const uint32_t to = last - std::max(1u, (count - lower + across - 1) / across);
      const uint64_t goal = weight(cells) * lower / count;
      uint32_t line = std::min(from, last - 1);
      const auto set = [&](uint32_t l) {
        (by_x ? low.x1 : low.y1) = l;
        (by_x ? high.x0 : high.y0) = l;
      };
      set(line);
      while (line < to && weight(low) < goal) set(++line);
    }
    cut(areas, lower, low);
    cut(areas + lower, count - lower, high);
  }

  double width_ = 0, height_ = 0;
  std::vector<uint64_t> sums_;  // of the weights left of and below a corner
};

}  // namespace

void lay_out(uint64_t seed, uint64_t maps, std::vector<Area>& areas) { Layout(seed, maps).cut(areas); }

double Plan::ground(double x, double y) const {
  // Heights on a lattice of 512 m, straight between.
  const double cx = std::floor(x / 512), cy = std::floor(y / 512);
  const auto corner = [&](double dx, double dy) {
    Random random(
        options.seed, Stream::terrain,
        {static_cast<uint64_t>(static_cast<int64_t>(cx + dx)), static_cast<uint64_t>(static_cast<int64_t>(cy + dy))});
    return static_cast<double>(random.below(60));
  };
  const double fx = x / 512 - cx, fy = y / 512 - cy;
  const double south = corner(0, 0) + (corner(1, 0) - corner(0, 0)) * fx;
  const double north = corner(0, 1) + (corner(1, 1) - corner(0, 1)) * fx;
  return 2 + south + (north - south) * fy;
}

}  // namespace meridian::tools::world
