// SPDX-License-Identifier: MIT
#pragma once
/// Rotations of generated worlds, and how their numbers are rounded. Only +, -, *, /, sqrt and rounding are used, in
/// double, so that every machine stores the same floats.

#include <cmath>
#include <cstdint>

#include "bounds.h"
#include "meridian/schemas/common_generated.h"

namespace meridian::tools::world {

using tools::Bounds;
using tools::Point;

/// Metres as a float of a whole number of centimetres, which is short in XML.
inline double centimetres(double metres) {
  return static_cast<double>(static_cast<float>(std::floor(metres * 100 + 0.5) / 100));
}
inline Point centimetres(const Point& p) { return {centimetres(p.x), centimetres(p.y), centimetres(p.z)}; }

inline schema::Vec3 stored(const Point& p) {
  return {static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)};
}
/// The smallest box of 64ths of a metre around this one: exact as floats up to 262 km from the origin.
inline Bounds rounded_out(const Bounds& box) {
  const auto down = [](double v) { return std::floor(v * 64) / 64; };
  const auto up = [](double v) { return std::ceil(v * 64) / 64; };
  return {{down(box.min.x), down(box.min.y), down(box.min.z)}, {up(box.max.x), up(box.max.y), up(box.max.z)}};
}

/// A unit quaternion as it is stored, that is, with float components.
struct Rotation {
  float x = 0, y = 0, z = 0, w = 1;

  Rotation inverse() const { return {0 - x, 0 - y, 0 - z, w}; }  // 0 - x: no negative zeros
  schema::Quat stored() const { return {x, y, z, w}; }

  Point turn(const Point& p) const {
    const double qx = x, qy = y, qz = z, qw = w;
    // t = 2 q x p;  p' = p + w t + q x t
    const Point t{2 * (qy * p.z - qz * p.y), 2 * (qz * p.x - qx * p.z), 2 * (qx * p.y - qy * p.x)};
    return {p.x + qw * t.x + qy * t.z - qz * t.y, p.y + qw * t.y + qz * t.x - qx * t.z,
            p.z + qw * t.z + qx * t.y - qy * t.x};
  }
};

/// Headings in 64 steps around a full turn, nearly even. The half angle's tangent is rational, so that sine and cosine
/// need no more than a division: sin = 2t / (1 + t^2), cos = (1 - t^2) / (1 + t^2).
inline Rotation heading(uint32_t step) {
  const uint32_t quarter = (step / 16) % 4;
  const double t = static_cast<double>(step % 16) / 38.6;  // tan(90 / 4 degrees) = 0.4142 = 16 / 38.6
  const double s = 2 * t / (1 + t * t), c = (1 - t * t) / (1 + t * t);
  // Half angles of the quarter turns are 0, 45, 90 and 135 degrees.
  const double h = std::sqrt(0.5);
  const double qs[4] = {0, h, 1, h}, qc[4] = {1, h, 0, -h};
  return {0, 0, static_cast<float>(s * qc[quarter] + c * qs[quarter]),
          static_cast<float>(c * qc[quarter] - s * qs[quarter])};
}

/// A heading and a lean to the side of up to 20 degrees, for rocks and rubbish.
inline Rotation leaning(uint32_t step, int32_t lean) {
  const Rotation h = heading(step);
  const double t = static_cast<double>(lean) / 100;  // tan of a quarter of the lean, [-0.09, 0.09]
  const double s = 2 * t / (1 + t * t), c = (1 - t * t) / (1 + t * t);
  // h * (s, 0, 0, c)
  return {static_cast<float>(h.w * s), static_cast<float>(h.z * s), static_cast<float>(h.z * c),
          static_cast<float>(h.w * c)};
}

/// The box around a turned and scaled box: each axis takes the absolute rotation matrix.
inline Bounds placed(const Bounds& box, const Rotation& orientation, double scale_xy, double scale_z,
                     const Point& position) {
  const Point half{(box.max.x - box.min.x) / 2 * scale_xy, (box.max.y - box.min.y) / 2 * scale_xy,
                   (box.max.z - box.min.z) / 2 * scale_z};
  const Point c = box.centre();
  const Point centre = orientation.turn({c.x * scale_xy, c.y * scale_xy, c.z * scale_z}) + position;
  const Point ax = orientation.turn({half.x, 0, 0}), ay = orientation.turn({0, half.y, 0}),
              az = orientation.turn({0, 0, half.z});
  const Point e{std::abs(ax.x) + std::abs(ay.x) + std::abs(az.x), std::abs(ax.y) + std::abs(ay.y) + std::abs(az.y),
                std::abs(ax.z) + std::abs(ay.z) + std::abs(az.z)};
  return {centre - e, centre + e};
}

}  // namespace meridian::tools::world
