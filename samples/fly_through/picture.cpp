// SPDX-License-Identifier: MIT
#include "picture.h"

#include <algorithm>
#include <cstdio>

namespace {

struct View {
  float west = 0, north = 0, scale = 1;
  double x(float at) const { return static_cast<double>((at - west) * scale); }
  double y(float at) const { return static_cast<double>((north - at) * scale); }  // north is up
};

void draw_maps(std::FILE* out, const FlightPicture& picture, const View& view) {
  for (const FlightPicture::Map& map : picture.maps) {
    const double width = view.x(map.box.max.x) - view.x(map.box.min.x),
                 height = view.y(map.box.min.y) - view.y(map.box.max.y);
    const char* const colour = map.loads == 0   ? "none"
                               : map.loads == 1 ? "#2f7ed8"
                               : map.loads < 5  ? "#8bbc21"
                                                : "#d84a2f";
    std::fprintf(out,
                 R"(<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" fill-opacity="0.12" stroke="#888" )"
                 R"(stroke-width="0.3"/>)"
                 "\n",
                 view.x(map.box.min.x), view.y(map.box.max.y), width, height, colour);
  }
}

}  // namespace

bool write_picture(const FlightPicture& picture, const std::string& path) {
  std::FILE* const out = std::fopen(path.c_str(), "w");
  if (out == nullptr) return false;
  meridian::Aabb all{{1e30f, 1e30f, 0}, {-1e30f, -1e30f, 0}};
  const auto include = [&](const meridian::Vec3& p) {
    all.min.x = std::min(all.min.x, p.x), all.min.y = std::min(all.min.y, p.y);
    all.max.x = std::max(all.max.x, p.x), all.max.y = std::max(all.max.y, p.y);
  };
  for (const FlightPicture::Point& point : picture.way) include(point.at);
  for (const FlightPicture::Map& map : picture.maps) {
    if (map.loads == 0) continue;
    include(map.box.min);
    include(map.box.max);
  }
  const float size = std::max({all.max.x - all.min.x, all.max.y - all.min.y, 1.0f});
  const View view{all.min.x, all.max.y, 1000 / size};
  std::fprintf(out,
               R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -30 1020 %.0f">)"
               "\n",
               view.y(all.min.y) + 50);
  std::fprintf(out,
               R"(<rect x="-10" y="-30" width="1020" height="%.0f" fill="white"/>)"
               "\n",
               view.y(all.min.y) + 50);
  std::fprintf(out,
               R"(<text x="0" y="-10" font-family="sans-serif" font-size="14">%s</text>)"
               "\n",
               picture.title.c_str());
  draw_maps(out, picture, view);
  std::fprintf(out, R"(<polyline fill="none" stroke="black" stroke-width="1.5" points=")");
  for (const FlightPicture::Point& point : picture.way) {
    std::fprintf(out, "%.1f,%.1f ", view.x(point.at.x), view.y(point.at.y));
  }
  std::fprintf(out, R"("/>)"
                    "\n");
  for (const FlightPicture::Point& point : picture.way) {
    if (!point.is_late) continue;
    std::fprintf(out,
                 R"(<circle cx="%.1f" cy="%.1f" r="3" fill="red"/>)"
                 "\n",
                 view.x(point.at.x), view.y(point.at.y));
  }
  std::fprintf(out, "</svg>\n");
  const bool is_written = std::ferror(out) == 0;
  return std::fclose(out) == 0 && is_written;
}
