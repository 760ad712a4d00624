// SPDX-License-Identifier: MIT
#include "world_gen/lod_lights.h"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

namespace meridian::tools::world {
namespace {

using schema::LodLightCategory;

/// By category: small, medium, large.
constexpr size_t kMaxLights[3] = {1000, 3500, 100};
constexpr double kLodMargin[3] = {450, 950, 2700}, kDistantMargin[3] = {450, 300, 2700};

size_t index_of(LodLightCategory category) { return static_cast<size_t>(category); }

/// Whole tenths of a metre, cut off towards zero, as the words of the hash.
void append_tenths(std::array<uint32_t, 7>& words, size_t at, const Point& p) {
  const double lanes[3] = {p.x, p.y, p.z};
  for (size_t i = 0; i < 3; ++i) words[at + i] = static_cast<uint32_t>(static_cast<int32_t>(lanes[i] * 10));
}

uint8_t part_of_255(double value, double whole) { return static_cast<uint8_t>(value / whole * 255); }

}  // namespace

uint32_t lookup3(std::span<const uint32_t> words) {
  uint32_t a = 0xDEADBEEFu + (static_cast<uint32_t>(words.size()) << 2), b = a, c = a;
  const auto step = [](uint32_t& x, uint32_t y, uint32_t& z, int turn) {
    x -= z;
    x ^= std::rotl(z, turn);
    z += y;
  };
  while (words.size() > 3) {
    a += words[0];
    b += words[1];
    c += words[2];
    step(a, b, c, 4);
    step(b, c, a, 6);
    step(c, a, b, 8);
    step(a, b, c, 16);
    step(b, c, a, 19);
    step(c, a, b, 4);
    words = words.subspan(3);
  }
  if (words.empty()) return c;
  if (words.size() > 2) c += words[2];
  if (words.size() > 1) b += words[1];
  a += words[0];
  const auto last = [](uint32_t& x, uint32_t y, int turn) {
    x ^= y;
    x -= std::rotl(y, turn);
  };
  last(c, b, 14);
  last(a, c, 11);
  last(b, a, 25);
  last(c, b, 16);
  last(a, c, 4);
  last(b, a, 14);
  last(c, b, 24);
  return c;
}

LodLightCategory category_of(const Area& area) {
  const uint32_t kind = area.index % 8;
  return kind == 7   ? LodLightCategory::large_lights
         : kind == 3 ? LodLightCategory::small_lights
                     : LodLightCategory::medium_lights;
}

double lod_light_margin(LodLightCategory category) { return kLodMargin[index_of(category)]; }
double distant_light_margin(LodLightCategory category) { return kDistantMargin[index_of(category)]; }

std::vector<LodLight> lod_lights(const Plan& plan, const Area& area, const std::vector<Placed>& entities) {
  std::vector<LodLight> lights;
  for (const Placed& p : entities) {
    if (plan.roles[p.archetype] != Role::lamp) continue;
    if (lights.size() == kMaxLights[index_of(category_of(area))]) break;
    const Bounds box = p.bounds(plan);
    std::array<uint32_t, 7> words{};  // the last one: the light's index on its entity
    append_tenths(words, 0, box.min);
    append_tenths(words, 3, box.max);
    lights.push_back({centimetres(p.orientation.turn(kLampLight) + p.position), lookup3(words), p.guid % 8 != 0});
  }
  std::sort(lights.begin(), lights.end(), [](const LodLight& a, const LodLight& b) {
    return std::tuple(!a.is_street_light, a.hash, a.position.x, a.position.y) <
           std::tuple(!b.is_street_light, b.hash, b.position.x, b.position.y);
  });
  return lights;
}

Bounds light_bounds(const std::vector<LodLight>& lights) {
  Bounds box;
  for (const LodLight& light : lights) box.add(light.position);
  return box;
}

TableMaker lod_lights_table(const TypePlan& map, const std::vector<LodLight>& lights) {
  using schema::LodLightsSoa;
  const size_t count = lights.size();
  std::vector<uint32_t> flags, hashes;
  for (const LodLight& light : lights) {
    const auto street =
        static_cast<uint32_t>(light.is_street_light ? schema::LodLightFlags::street_light : schema::LodLightFlags{});
    flags.push_back(kNight | static_cast<uint32_t>(schema::LodLightFlags::type_spot) | street);
    hashes.push_back(light.hash);
  }
  TableMaker out(map, static_cast<uint16_t>(schema::MapData::VT_LOD_LIGHTS_SOA));
  constexpr double kInner = kLampInnerAngle, kOuter = kLampOuterAngle;
  out.items(LodLightsSoa::VT_DIRECTION, std::vector<schema::FloatXYZ>(count, schema::FloatXYZ(0, 0, -1)))
      .items(LodLightsSoa::VT_FALLOFF, std::vector<float>(count, kLampFalloff))
      .items(LodLightsSoa::VT_FALLOFF_EXPONENT, std::vector<float>(count, kLampExponent))
      .items(LodLightsSoa::VT_TIME_AND_STATE_FLAGS, flags)
      .items(LodLightsSoa::VT_HASH, hashes)
      .items(LodLightsSoa::VT_CONE_INNER_ANGLE, std::vector<uint8_t>(count, part_of_255(kInner, 180)))
      .items(LodLightsSoa::VT_CONE_OUTER_ANGLE_OR_CAP_EXT, std::vector<uint8_t>(count, part_of_255(kOuter, 180)))
      .items(LodLightsSoa::VT_CORONA_INTENSITY, std::vector<uint8_t>(count, part_of_255(1, 32)));
  return out;
}

TableMaker distant_lights_table(const TypePlan& map, const std::vector<LodLight>& lights, LodLightCategory category) {
  using schema::DistantLodLightsSoa;
  std::vector<schema::FloatXYZ> positions;
  uint16_t street_lights = 0;
  for (const LodLight& light : lights) {
    const schema::Vec3 p = stored(light.position);
    positions.emplace_back(p.x(), p.y(), p.z());
    if (light.is_street_light) ++street_lights;
  }
  // Intensity 6 of 48, then red, green and blue.
  constexpr uint32_t kWarm = (uint32_t{6 * 255 / 48} << 24) | 0xFFD6AA;
  TableMaker out(map, static_cast<uint16_t>(schema::MapData::VT_DISTANT_LOD_LIGHTS_SOA));
  out.items(DistantLodLightsSoa::VT_POSITION, positions)
      .items(DistantLodLightsSoa::VT_RGBI, std::vector<uint32_t>(lights.size(), kWarm))
      .number(DistantLodLightsSoa::VT_NUM_STREET_LIGHTS, street_lights)
      .number(DistantLodLightsSoa::VT_CATEGORY, category);
  return out;
}

}  // namespace meridian::tools::world
