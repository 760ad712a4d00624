// SPDX-License-Identifier: MIT
// From what maps store - quarter metres, 255ths, bits - to metres, radians and directions.
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/double3.h"
#include "meridian/base/assert.h"
#include "meridian/map/map_parts.h"

namespace meridian {
namespace {

constexpr uint32_t kHourBits = (1u << 24) - 1;
constexpr Flags<LodLightFlag> kNamedLightFlags{LodLightFlag::street_light, LodLightFlag::corona_only,
                                               LodLightFlag::not_in_cutscene};
constexpr double kPiDouble = 3.14159265358979323846;
constexpr double kQuarterMetre = 0.25;  // a step of box occluders
constexpr double kMaxCapsule = 140;     // 255 of a capsule's length [m]
constexpr double kMaxCorona = 32;       // 255 of a corona's brightness
constexpr double kMaxIntensity = 48;    // 255 of a distant light's intensity

/// A byte as a part of `whole`.
double part(uint32_t byte, double whole) { return byte * whole / 255; }

Double3 moved_exactly(const Double3& point, const WorldOrigin& offset) {
  return point + Double3(offset.x, offset.y, offset.z);
}

/// Tenths of a metre as lookup3 sees them. Single precision on purpose: 0.7f * 10 then is 7, as an author sees it.
uint32_t tenths(float v) {
  const float scaled = v * 10;
  constexpr float kLimit = 2147483648.f;
  if (scaled >= kLimit) return 0x7FFFFFFFu;
  if (scaled < -kLimit) return 0x80000000u;
  return scaled == scaled ? static_cast<uint32_t>(static_cast<int32_t>(scaled)) : 0;
}

}  // namespace

Vec3 color_of(Rgb8 color) { return Double3(part(color.r, 1), part(color.g, 1), part(color.b, 1)).rounded(); }

// --- occluders ---------------------------------------------------------------------------------------

Result<OccluderBox> occluder_box(const BoxOccluder& box, const WorldOrigin& offset) {
  if (box.length < 0 || box.width < 0 || box.height < 0)
    return Status{StatusCode::bad_value, "box occluder has a negative size"};
  // Whole numbers below 2^15: their squares and the sum are exact.
  const double s = box.sin_z, k = box.cos_z, norm = std::sqrt(s * s + k * k);
  if (!(norm > 0)) return Status{StatusCode::bad_value, "box occluder has no orientation: sine and cosine are 0"};

  const Double3 x(k / norm, -s / norm, 0), y(s / norm, k / norm, 0), z(0, 0, 1);
  const Double3 half(box.width * (kQuarterMetre / 2), box.length * (kQuarterMetre / 2),
                     box.height * (kQuarterMetre / 2));
  const Double3 centre =
      moved_exactly({box.center_x * kQuarterMetre, box.center_y * kQuarterMetre, box.center_z * kQuarterMetre}, offset);
  OccluderBox out;
  out.centre = centre.rounded();
  out.x_axis = x.rounded();
  out.y_axis = y.rounded();
  out.z_axis = z.rounded();
  out.half = half.rounded();
  Double3 low, high;
  for (unsigned i = 0; i < 8; ++i) {
    const Double3 corner = centre + x * ((i & 1) != 0 ? half.x : -half.x) + y * ((i & 2) != 0 ? half.y : -half.y) +
                           z * ((i & 4) != 0 ? half.z : -half.z);
    out.corners[i] = corner.rounded();
    if (i == 0) low = high = corner;
    low = {std::min(low.x, corner.x), std::min(low.y, corner.y), std::min(low.z, corner.z)};
    high = {std::max(high.x, corner.x), std::max(high.y, corner.y), std::max(high.z, corner.z)};
  }
  out.bounds = {{round_down(low.x), round_down(low.y), round_down(low.z)},
                {round_up(high.x), round_up(high.y), round_up(high.z)}};
  return out;
}

// --- lights ------------------------------------------------------------------------------------------

bool LodLight::is_lit(uint32_t hour) const {
  MERIDIAN_ASSERT(hour < 24, "a day has hours 0 to 23");
  return hour < 24 && (hours >> hour & 1) != 0;
}

LodLight lod_light(const LodLights& lights, uint32_t index) {
  MERIDIAN_ASSERT(index < lights.count(), "a light's index is below count()");
  LodLight out;
  if (index >= lights.count()) return out;
  const uint32_t flags = lights.flags[index];
  out.direction = lights.directions[index];
  out.falloff = lights.falloffs[index];
  out.falloff_exponent = lights.falloff_exponents[index];
  out.hash = lights.hashes[index];
  out.hours = flags & kHourBits;
  out.flags = Flags<LodLightFlag>::from_bits(flags) & kNamedLightFlags;
  out.type = static_cast<LodLightType>(flags >> 26 & 7);
  out.inner_angle = static_cast<float>(part(lights.inner_angles[index], kPiDouble));
  if (out.type == LodLightType::capsule)
    out.capsule_length = static_cast<float>(part(lights.outer_angles[index], kMaxCapsule));
  else
    out.outer_angle = static_cast<float>(part(lights.outer_angles[index], kPiDouble));
  out.corona = static_cast<float>(part(lights.corona_strengths[index], kMaxCorona));
  return out;
}

DistantLight distant_light(const DistantLights& lights, uint32_t index, const WorldOrigin& offset) {
  MERIDIAN_ASSERT(index < lights.count(), "a light's index is below count()");
  DistantLight out;
  if (index >= lights.count()) return out;
  const uint32_t word = lights.rgbi[index];
  out.position = moved(lights.positions[index], offset);
  out.color = {static_cast<uint8_t>(word >> 16 & 255), static_cast<uint8_t>(word >> 8 & 255),
               static_cast<uint8_t>(word & 255)};
  out.intensity = static_cast<float>(part(word >> 24, kMaxIntensity));
  out.is_street_light = index < lights.street_light_count;
  return out;
}

uint32_t paired_light_count(const LodLights& lights, const DistantLights& of_parent) {
  return std::min(lights.count(), of_parent.count());
}

uint32_t lod_light_hash(const Aabb& box, uint32_t index) {
  const uint32_t words[7] = {tenths(box.min.x),
                             tenths(box.min.y),
                             tenths(box.min.z),
                             tenths(box.max.x),
                             tenths(box.max.y),
                             tenths(box.max.z),
                             index};
  uint32_t a = 0xDEADBEEFu + static_cast<uint32_t>(sizeof(words)), b = a, c = a;
  const auto mix = [](uint32_t& x, uint32_t& y, uint32_t& z, int turn) {
    x -= z;
    x ^= std::rotl(z, turn);
    z += y;
  };
  for (unsigned first = 0; first < 6; first += 3) {
    a += words[first];
    b += words[first + 1];
    c += words[first + 2];
    mix(a, b, c, 4);
    mix(b, c, a, 6);
    mix(c, a, b, 8);
    mix(a, b, c, 16);
    mix(b, c, a, 19);
    mix(c, a, b, 4);
  }
  a += words[6];
  const auto finish = [](uint32_t& x, uint32_t y, int turn) { x = (x ^ y) - std::rotl(y, turn); };
  finish(c, b, 14);
  finish(a, c, 11);
  finish(b, a, 25);
  finish(c, b, 16);
  finish(a, c, 4);
  finish(b, a, 14);
  finish(c, b, 24);
  return c;
}

// --- car generators, time-cycle boxes, grass ---------------------------------------------------------

CarSlot car_slot(const CarGenerator& generator, const WorldOrigin& offset) {
  CarSlot out;
  out.centre = moved(generator.position, offset);
  out.width = generator.width;
  const Vec3 along{generator.orient.x, generator.orient.y, 0};
  out.length = static_cast<float>(length(along));
  out.forward = normalize(along);
  out.right = {out.forward.y, 0 - out.forward.x, 0};  // 0 - x: no negative zero
  return out;
}

bool TimeCycleBox::holds_at(uint32_t hour) const {
  MERIDIAN_ASSERT(hour < 24, "a day has hours 0 to 23");
  if (hour >= 24) return false;
  const bool begun = hour >= start_hour, not_over = hour <= end_hour;
  return start_hour <= end_hour ? begun && not_over : begun || not_over;
}

GrassTuft grass_tuft(const GrassBatch& batch, const GrassInstance& instance, const WorldOrigin& offset) {
  GrassTuft out;
  const Double3 min(batch.box.min), size = Double3(batch.box.max) - min;
  const auto along = [](uint16_t step, double extent) { return extent * step / 65535; };
  const Double3 inside(along(instance.position[0], size.x), along(instance.position[1], size.y),
                       along(instance.position[2], size.z));
  out.position = moved_exactly(min + inside, offset).rounded();
  const double x = part(instance.normal_x, 2) - 1, y = part(instance.normal_y, 2) - 1, level = x * x + y * y;
  // Beyond the unit circle no z makes the length 1: the slope is as steep as it can be.
  const Double3 normal = level < 1 ? Double3(x, y, std::sqrt(1 - level)) : Double3(x, y, 0) * (1 / std::sqrt(level));
  out.normal = normal.rounded();
  out.scale =
      static_cast<float>(batch.min_scale + (double{batch.max_scale} - batch.min_scale) * part(instance.scale, 1));
  out.sky = static_cast<float>(part(instance.ao, 1));
  return out;
}

}  // namespace meridian
