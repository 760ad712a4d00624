// SPDX-License-Identifier: MIT
// Drawing and testing for 4, 8 and 16 numbers at a time: Highway compiles this file once for each width.
#include "base/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "visibility/occlusion_wide.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <algorithm>
#include <bit>
#include <cstddef>

#include "visibility/occlusion_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace meridian::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using namespace detail;  // NOLINT(google-build-using-namespace): the kernel's own names, once for each width

constexpr uint32_t kRows = kOcclusionTileHeight;

using Floats = hn::CappedTag<float, 16>;
using Ints = hn::RebindToSigned<Floats>;
using F = hn::Vec<Floats>;
using M = hn::Mask<Floats>;
constexpr Floats kFloats;
constexpr size_t kStep = hn::MaxLanes(Floats());

using Doubles = hn::CappedTag<double, kRows>;
using D = hn::Vec<Doubles>;
constexpr Doubles kDoubles;
constexpr size_t kRowStep = hn::MaxLanes(Doubles());
using RowInts = hn::Rebind<int32_t, Doubles>;

HWY_INLINE F splat(float value) { return hn::Set(kFloats, value); }

// --- drawing -------------------------------------------------------------------------------------------

/// What a primitive covers of the rows of a tile.
struct Spans {
  alignas(32) int32_t begin[kRows], end[kRows];
  int32_t first, last;           ///< of all rows: the pixels that any covers
  int32_t full_begin, full_end;  ///< the pixels that all rows cover
};

HWY_INLINE void find_spans(const OcclusionPrimitive& p, int32_t top, int32_t width, Spans& out) {
  constexpr RowInts kRowInts;
  using V = hn::Vec<RowInts>;
  const D size = hn::Set(kDoubles, static_cast<double>(width)), half = hn::Set(kDoubles, 0.5);
  const V one = hn::Set(kRowInts, 1), none = hn::Zero(kRowInts), all = hn::Set(kRowInts, width);
  const V before = hn::Set(kRowInts, p.y_begin - top - 1), y_end = hn::Set(kRowInts, p.y_end - top);
  V first = all, last = none, full_begin = none, full_end = all;
  for (size_t i = 0; i < kRows; i += kRowStep) {
    const D y = hn::Add(hn::Iota(kDoubles, static_cast<double>(top) + static_cast<double>(i)), half);
    D low = hn::Zero(kDoubles), high = size;
    for (uint32_t e = 0; e < p.lefts; ++e) {
      const D x = hn::Add(hn::Mul(hn::Set(kDoubles, p.edges[e].slope), y), hn::Set(kDoubles, p.edges[e].at));
      low = hn::Max(low, x);
    }
    for (uint32_t e = kMaxOcclusionEdges - p.rights; e < kMaxOcclusionEdges; ++e) {
      const D x = hn::Add(hn::Mul(hn::Set(kDoubles, p.edges[e].slope), y), hn::Set(kDoubles, p.edges[e].at));
      high = hn::Min(high, x);
    }
    low = hn::Ceil(hn::Sub(hn::Min(low, size), half));
    high = hn::Floor(hn::Sub(hn::Max(high, hn::Zero(kDoubles)), half));
    const V begin = hn::DemoteTo(kRowInts, low);
    V end = hn::Add(hn::DemoteTo(kRowInts, high), one);
    const V row = hn::Iota(kRowInts, static_cast<int32_t>(i));
    end = hn::IfThenElseZero(hn::And(hn::Gt(row, before), hn::Lt(row, y_end)), end);
    hn::Store(begin, kRowInts, out.begin + i);
    hn::Store(end, kRowInts, out.end + i);
    const auto is_any = hn::Lt(begin, end);
    first = hn::Min(first, hn::IfThenElse(is_any, begin, all));
    last = hn::Max(last, hn::IfThenElseZero(is_any, end));
    full_begin = hn::Max(full_begin, begin);
    full_end = hn::Min(full_end, end);
  }
  out.first = hn::GetLane(hn::MinOfLanes(kRowInts, first));
  out.last = hn::GetLane(hn::MaxOfLanes(kRowInts, last));
  out.full_begin = hn::GetLane(hn::MaxOfLanes(kRowInts, full_begin));
  out.full_end = hn::GetLane(hn::MinOfLanes(kRowInts, full_end));
}

/// Numbers below which a row's pixels are cut off: nothing is, in 32 pixels in the middle; everything, beside them.
struct Window {
  alignas(64) float at[3 * kOcclusionTileWidth];
};
constexpr Window kWindow = [] {
  Window out{};
  for (uint32_t i = 0; i < 3 * kOcclusionTileWidth; ++i) {
    out.at[i] = i / kOcclusionTileWidth == 1 ? 3.4e38f : OcclusionBuffer::kNothing;
  }
  return out;
}();

/// What of a tile is drawn.
struct TileWork {
  const TilePlane* planes;
  float limit;
  const Spans& spans;
  int32_t x;
  float* pixels;
  size_t width;
};

template <uint32_t kPlanes, bool kIsLimited, bool kIsFull>
HWY_INLINE void draw_tile(const TileWork& work, OcclusionTile& tile) {
  constexpr size_t kSteps = kOcclusionTileWidth / kStep;
  F across[kPlanes][kSteps], down[kPlanes], at[kPlanes];
  for (uint32_t i = 0; i < kPlanes; ++i) {
    const F right = splat(work.planes[i].right);
    for (size_t x = 0; x < kSteps; ++x) across[i][x] = hn::Mul(right, hn::Iota(kFloats, static_cast<float>(x * kStep)));
    down[i] = splat(work.planes[i].down);
    at[i] = splat(work.planes[i].at);
  }
  const F limit = splat(work.limit);
  uint32_t drawn = 0xFFFFFFFF;
  for (size_t y = 0; y < kRows; ++y) {
    int32_t begin = 0, end = static_cast<int32_t>(kOcclusionTileWidth);
    if constexpr (!kIsFull) {
      begin = std::max(work.spans.begin[y] - work.x, begin);
      end = std::min(work.spans.end[y] - work.x, end);
      if (begin >= end) {
        drawn &= tile.rows[y];
        continue;
      }
      if constexpr (!kIsLimited) tile.rows[y] |= (0xFFFFFFFFu << begin) & (0xFFFFFFFFu >> (32 - end));
      drawn &= tile.rows[y];
    }
    F rows[kPlanes];
    const F line = splat(static_cast<float>(y));
    for (uint32_t i = 0; i < kPlanes; ++i) rows[i] = hn::Add(at[i], hn::Mul(down[i], line));
    float* const row = work.pixels + y * work.width;
    const float* const from_begin = kWindow.at + kOcclusionTileWidth - begin;
    const float* const to_end = kWindow.at + 2 * kOcclusionTileWidth - end;
    for (size_t x = static_cast<size_t>(begin) / kStep; x * kStep < static_cast<size_t>(end); ++x) {
      F v = hn::Add(rows[0], across[0][x]);
      for (uint32_t i = 1; i < kPlanes; ++i) v = hn::Min(v, hn::Add(rows[i], across[i][x]));
      if constexpr (kIsLimited) v = hn::IfThenElse(hn::Le(v, limit), v, splat(OcclusionBuffer::kNothing));
      if constexpr (!kIsFull) {
        v = hn::Min(v, hn::LoadU(kFloats, from_begin + x * kStep));
        v = hn::Min(v, hn::LoadU(kFloats, to_end + x * kStep));
      }
      hn::Store(hn::Max(hn::Load(kFloats, row + x * kStep), v), kFloats, row + x * kStep);
    }
  }
  if constexpr (kIsLimited) return;  // anything may have been cut off, so nothing is known
  const float floor = floor_of_tile(work.planes, kPlanes);
  if constexpr (kIsFull) {
    tile.floor = std::max(tile.floor, floor);
  } else {
    tile.next_floor = std::min(tile.next_floor, floor);
    if (drawn != 0xFFFFFFFF) return;
    tile.floor = std::max(tile.floor, tile.next_floor);
    tile.next_floor = 3.4e38f;
    for (uint32_t& bits : tile.rows) bits = 0;
  }
}

/// Leaves out planes that others are farther than in all of a tile, by more than rounding may be wrong.
HWY_INLINE uint32_t needed_planes(TilePlane* planes, uint32_t count) {
  const auto is_above = [](const TilePlane& a, const TilePlane& b) HWY_ATTR {
    const float right = (a.right - b.right) * (kOcclusionTileWidth - 1);
    const float down = (a.down - b.down) * (kOcclusionTileHeight - 1);
    const float least = ((a.at - b.at) + std::min(right, 0.0f)) + std::min(down, 0.0f);
    const float size = (size_of(a.at) + size_of(b.at)) + 32.0f * (size_of(a.right) + size_of(b.right)) +
                       8.0f * (size_of(a.down) + size_of(b.down));
    return least > size * 0x1p-18f;
  };
  for (uint32_t i = 0; i < count;) {
    bool is_needed = true;
    for (uint32_t j = 0; j < count && is_needed; ++j) is_needed = i == j || !is_above(planes[i], planes[j]);
    if (is_needed) {
      ++i;
    } else {
      planes[i] = planes[--count];
    }
  }
  return count;
}

using DrawTile = void (*)(const TileWork&, OcclusionTile&);
template <uint32_t kPlanes, bool kIsLimited, bool kIsFull>
void draw_tile_of(const TileWork& work, OcclusionTile& tile) {
  draw_tile<kPlanes, kIsLimited, kIsFull>(work, tile);
}
constexpr DrawTile kDrawTile[2][2][kMaxOcclusionPlanes] = {
    {{&draw_tile_of<1, false, false>, &draw_tile_of<2, false, false>, &draw_tile_of<3, false, false>},
     {&draw_tile_of<1, false, true>, &draw_tile_of<2, false, true>, &draw_tile_of<3, false, true>}},
    {{&draw_tile_of<1, true, false>, &draw_tile_of<2, true, false>, &draw_tile_of<3, true, false>},
     {&draw_tile_of<1, true, true>, &draw_tile_of<2, true, true>, &draw_tile_of<3, true, true>}}};

void draw_rows(const OcclusionTarget& target, const OcclusionPrimitive& p, uint32_t top) {
  OcclusionTile* const tiles = target.tiles + size_t{top / kRows} * (target.width / kOcclusionTileWidth);
  // Nothing of it is seen, as a rule, if it is far.
  uint32_t tile = static_cast<uint32_t>(p.x_begin) / kOcclusionTileWidth;
  uint32_t end = (static_cast<uint32_t>(p.x_end) + kOcclusionTileWidth - 1) / kOcclusionTileWidth;
  while (tile < end && p.nearest <= tiles[tile].floor) ++tile;
  while (tile < end && p.nearest <= tiles[end - 1].floor) --end;
  if (tile == end) return;
  const auto width = static_cast<int32_t>(target.width);
  Spans spans;
  find_spans(p, static_cast<int32_t>(top), width, spans);
  if (spans.first >= spans.last) return;
  tile = std::max(tile, static_cast<uint32_t>(spans.first) / kOcclusionTileWidth);
  end = std::min(end, (static_cast<uint32_t>(spans.last) + kOcclusionTileWidth - 1) / kOcclusionTileWidth);
  for (; tile < end; ++tile) {
    if (p.nearest <= tiles[tile].floor) continue;  // all its pixels are nearer already
    const uint32_t x = tile * kOcclusionTileWidth;
    TilePlane planes[kMaxOcclusionPlanes];
    for (uint32_t i = 0; i < p.plane_count; ++i) planes[i] = plane_of_tile(p.planes[i], x, top);
    const uint32_t count = needed_planes(planes, p.plane_count);
    const auto tile_x = static_cast<int32_t>(x);
    const bool is_full =
        tile_x >= spans.full_begin && tile_x + static_cast<int32_t>(kOcclusionTileWidth) <= spans.full_end;
    float* const pixels = target.levels[0] + size_t{top} * target.width + x;
    const TileWork work{planes, p.limit, spans, tile_x, pixels, target.width};
    kDrawTile[p.is_limited ? 1 : 0][is_full ? 1 : 0][count - 1](work, tiles[tile]);
  }
}

/// Each pixel of a level is the farthest of four of the one below.
void make_level(const float* from, size_t from_width, float* to, size_t rows) {
  const size_t width = from_width / 2;
  for (size_t y = 0; y < rows; ++y) {
    const float* const above = from + 2 * y * from_width;
    const float* const below = above + from_width;
    float* const out = to + y * width;
    size_t x = 0;
    for (; x + kStep <= width; x += kStep) {
      const F left = hn::Min(hn::LoadU(kFloats, above + 2 * x), hn::LoadU(kFloats, below + 2 * x));
      const F right = hn::Min(hn::LoadU(kFloats, above + 2 * x + kStep), hn::LoadU(kFloats, below + 2 * x + kStep));
      const F even = hn::ConcatEven(kFloats, right, left), odd = hn::ConcatOdd(kFloats, right, left);
      hn::StoreU(hn::Min(even, odd), kFloats, out + x);
    }
    for (; x < width; ++x) {
      out[x] = std::min(std::min(above[2 * x], above[2 * x + 1]), std::min(below[2 * x], below[2 * x + 1]));
    }
  }
}

void draw(const OcclusionTarget& target, uint32_t first, uint32_t last) {
  const size_t width = target.width, tiles_wide = width / kOcclusionTileWidth;
  std::fill(target.levels[0] + first * width, target.levels[0] + last * width, OcclusionBuffer::kNothing);
  std::fill(target.tiles + first / kRows * tiles_wide, target.tiles + last / kRows * tiles_wide,
            OcclusionTile{OcclusionBuffer::kNothing, 3.4e38f, {}});
  for (uint32_t i = 0; i < target.picked_count; ++i) {
    const OcclusionPicked& picked = target.picked[i];
    if (picked.y_end <= static_cast<int32_t>(first) || picked.y_begin >= static_cast<int32_t>(last)) continue;
    for (uint32_t j = 0; j < picked.count; ++j) {
      const OcclusionPrimitive& p = target.primitives[picked.first + j];
      const uint32_t begin = std::max(static_cast<uint32_t>(p.y_begin), first) / kRows * kRows;
      const uint32_t end = std::min(static_cast<uint32_t>(p.y_end), last);
      for (uint32_t top = begin; top < end; top += kRows) draw_rows(target, p, top);
    }
  }
  for (uint32_t level = 1; level <= kStripLevels; ++level) {
    const size_t from_width = width >> (level - 1);
    make_level(target.levels[level - 1] + (first >> (level - 1)) * from_width, from_width,
               target.levels[level] + (first >> level) * (width >> level), (last - first) >> level);
  }
}

// --- tests ---------------------------------------------------------------------------------------------

struct Points {
  F x, y, w;
};

/// What is left to be looked up of a vector of boxes.
struct Rectangles {
  alignas(64) int32_t x0[16], x1[16], y0[16], y1[16];
  alignas(64) float nearness[16];
};

/// Which lanes have a rectangle in the picture.
HWY_INLINE uint32_t project(const OcclusionTester& t, const OcclusionBoxes& boxes, size_t i, Rectangles& out) {
  const float* const centres[3] = {boxes.centre_x + i, boxes.centre_y + i, boxes.centre_z + i};
  const float* const halves[3] = {boxes.half_x + i, boxes.half_y + i, boxes.half_z + i};
  F d[3], half[3], size = hn::Zero(kFloats);
  for (int k = 0; k < 3; ++k) {
    d[k] = hn::Sub(hn::LoadU(kFloats, centres[k]), splat(t.position[k]));
    half[k] = hn::LoadU(kFloats, halves[k]);
    size = hn::Add(size, hn::Add(hn::Abs(d[k]), half[k]));
  }
  const auto along = [&](const float(&row)[3]) HWY_ATTR {
    const F xy = hn::Add(hn::Mul(splat(row[0]), d[0]), hn::Mul(splat(row[1]), d[1]));
    return hn::Add(xy, hn::Mul(splat(row[2]), d[2]));
  };
  const Points c{hn::Add(along(t.to_x), splat(t.add_x)), hn::Add(along(t.to_y), splat(t.add_y)), along(t.to_w)};
  Points reach[3];
  for (int k = 0; k < 3; ++k) {
    reach[k] = {hn::Mul(splat(t.to_x[k]), half[k]), hn::Mul(splat(t.to_y[k]), half[k]),
                hn::Mul(splat(t.to_w[k]), half[k])};
  }
  const F error = hn::Mul(size, splat(kTestError));
  F begin = c.w;
  for (const Points& r : reach) begin = hn::Sub(begin, hn::Abs(r.w));
  begin = hn::Sub(begin, error);
  M is_in = hn::And(hn::Lt(size, splat(kTestRange)), hn::Ge(begin, splat(t.near_distance)));
  if (hn::AllFalse(kFloats, is_in)) return 0;
  F x_min, x_max, y_min, y_max, off, nearness;
  if (t.is_orthographic) {
    const F x = hn::Add(hn::Add(hn::Abs(reach[0].x), hn::Abs(reach[1].x)), hn::Abs(reach[2].x));
    const F y = hn::Add(hn::Add(hn::Abs(reach[0].y), hn::Abs(reach[1].y)), hn::Abs(reach[2].y));
    x_min = hn::Sub(c.x, x);
    x_max = hn::Add(c.x, x);
    y_min = hn::Sub(c.y, y);
    y_max = hn::Add(c.y, y);
    off = hn::Add(error, splat(kTestError));
    nearness = hn::Sub(hn::Zero(kFloats), begin);
  } else {
    x_min = y_min = splat(1e30f);
    x_max = y_max = splat(-1e30f);
    const F one = splat(1.0f);
    const auto corner = [&](const Points& p) HWY_ATTR {
      const F scale = hn::Div(one, p.w), x = hn::Mul(p.x, scale), y = hn::Mul(p.y, scale);
      x_min = hn::Min(x_min, x);
      x_max = hn::Max(x_max, x);
      y_min = hn::Min(y_min, y);
      y_max = hn::Max(y_max, y);
    };
    const auto minus = [](const Points& a, const Points& b) HWY_ATTR {
      return Points{hn::Sub(a.x, b.x), hn::Sub(a.y, b.y), hn::Sub(a.w, b.w)};
    };
    const auto plus = [](const Points& a, const Points& b) HWY_ATTR {
      return Points{hn::Add(a.x, b.x), hn::Add(a.y, b.y), hn::Add(a.w, b.w)};
    };
    for (const Points& at_x : {minus(c, reach[0]), plus(c, reach[0])}) {
      for (const Points& at_y : {minus(at_x, reach[1]), plus(at_x, reach[1])}) {
        corner(minus(at_y, reach[2]));
        corner(plus(at_y, reach[2]));
      }
    }
    const F inverse = hn::Div(one, begin);
    off = hn::Mul(error, inverse);
    nearness = hn::Add(inverse, hn::Mul(inverse, splat(0x1p-22f)));
  }
  const F largest = splat(t.largest), width = splat(t.width), height = splat(t.height), zero = hn::Zero(kFloats);
  x_min = hn::Sub(x_min, hn::Mul(off, hn::Add(largest, hn::Abs(x_min))));
  x_max = hn::Add(x_max, hn::Mul(off, hn::Add(largest, hn::Abs(x_max))));
  y_min = hn::Sub(y_min, hn::Mul(off, hn::Add(largest, hn::Abs(y_min))));
  y_max = hn::Add(y_max, hn::Mul(off, hn::Add(largest, hn::Abs(y_max))));
  is_in = hn::And(is_in, hn::And(hn::Ge(x_max, zero), hn::Ge(y_max, zero)));
  is_in = hn::And(is_in, hn::And(hn::Lt(x_min, width), hn::Lt(y_min, height)));
  constexpr Ints kInts;
  const auto pixel = [&](F v, F pixels) HWY_ATTR {
    return hn::ConvertTo(kInts, hn::Min(hn::Max(v, zero), hn::Sub(pixels, splat(1.0f))));
  };
  hn::Store(pixel(x_min, width), kInts, out.x0 + i);
  hn::Store(pixel(x_max, width), kInts, out.x1 + i);
  hn::Store(pixel(y_min, height), kInts, out.y0 + i);
  hn::Store(pixel(y_max, height), kInts, out.y1 + i);
  hn::Store(nearness, kFloats, out.nearness + i);
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(kFloats, is_in, bytes);
  return static_cast<uint32_t>(bytes[0] | bytes[1] << 8) << i;
}

/// Rows of four squares; what is past the rectangle counts as endlessly near.
HWY_INLINE bool is_behind(const OcclusionTester& t, const Rectangles& r, size_t i) {
  constexpr hn::CappedTag<float, 4> kFour;
  constexpr size_t kLanes = hn::MaxLanes(kFour);
  const auto x0 = static_cast<uint32_t>(r.x0[i]), x1 = static_cast<uint32_t>(r.x1[i]);
  const auto y0 = static_cast<uint32_t>(r.y0[i]), y1 = static_cast<uint32_t>(r.y1[i]);
  // As level_of(), without its loop.
  const uint32_t span = std::max(x1 - x0, y1 - y0);
  uint32_t level = static_cast<uint32_t>(std::bit_width(span / 3));
  const uint32_t lower = level - (level > 0 ? 1 : 0);
  if ((x1 >> lower) - (x0 >> lower) < 4 && (y1 >> lower) - (y0 >> lower) < 4) level = lower;
  const size_t stride = level_size(static_cast<uint32_t>(t.width), level);
  const uint32_t left = x0 >> level, top = y0 >> level, bottom = y1 >> level;
  const float* const at = t.levels[level] + left;
  const uint32_t second = std::min(top + 1, bottom), third = std::min(top + 2, bottom);
  bool is_hidden = true;
  const auto nearness = hn::Set(kFour, r.nearness[i]);
  const auto count = hn::Set(kFour, static_cast<float>((x1 >> level) - left));
  for (size_t lane = 0; lane < 4; lane += kLanes) {
    const auto low = hn::Min(hn::LoadU(kFour, at + top * stride + lane), hn::LoadU(kFour, at + second * stride + lane));
    const auto high =
        hn::Min(hn::LoadU(kFour, at + third * stride + lane), hn::LoadU(kFour, at + bottom * stride + lane));
    const auto is_past = hn::Gt(hn::Iota(kFour, static_cast<float>(lane)), count);
    is_hidden = is_hidden && hn::AllTrue(kFour, hn::Or(hn::Lt(nearness, hn::Min(low, high)), is_past));
  }
  return is_hidden;
}

uint32_t test(const OcclusionTester& tester, const OcclusionBoxes& boxes, uint32_t mask) {
  Rectangles rectangles;
  uint32_t hidden = 0;
  for (size_t i = 0; i < 16; i += kStep) {
    const uint32_t lanes = mask >> i & ((uint32_t{1} << kStep) - 1);
    if (lanes == 0) continue;
    uint32_t left = project(tester, boxes, i, rectangles) & mask;
    for (; left != 0; left &= left - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(left));
      hidden |= static_cast<uint32_t>(is_behind(tester, rectangles, lane)) << lane;
    }
  }
  return hidden;
}

constexpr OcclusionKernels kKernels{&draw, &test};

}  // namespace

const OcclusionKernels& occlusion_kernels_here();
const OcclusionKernels& occlusion_kernels_here() { return kKernels; }

}  // namespace meridian::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace meridian::detail {

const OcclusionKernels& wide_occlusion_kernels(SimdWidth width) {
  return MERIDIAN_SIMD_DISPATCH(width, occlusion_kernels_here, scalar_occlusion_kernels);
}

}  // namespace meridian::detail
#endif
