// SPDX-License-Identifier: MIT
#pragma once
// What happened on a flight, from above: maps by how often they came, the way, and where something was late.

#include <cstdint>
#include <string>
#include <vector>

#include "meridian/base/math.h"

struct FlightPicture {
  struct Map {
    meridian::Aabb box;
    uint32_t loads = 0;
  };
  struct Point {
    meridian::Vec3 at;
    bool is_late = false;
  };
  std::vector<Map> maps;
  std::vector<Point> way;
  std::string title;
};

/// Writes it as SVG. False: the file could not be written.
bool write_picture(const FlightPicture& picture, const std::string& path);
