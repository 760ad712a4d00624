// SPDX-License-Identifier: MIT
// MAP-1: map/map_parts.h, from what maps store to metres, radians and directions. Expected values by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>
#include <string_view>
#include <vector>

#include "meridian/map/map_parts.h"
#include "support/captured.h"

namespace meridian {
namespace {

void expect_near(const Vec3& got, const Vec3& expected, float tolerance) {
  EXPECT_NEAR(got.x, expected.x, tolerance);
  EXPECT_NEAR(got.y, expected.y, tolerance);
  EXPECT_NEAR(got.z, expected.z, tolerance);
}

// MAP-1, SG-8: a shift in floats would lose the quarter metre.
TEST(MovedOrigin, IsAddedInDoublePrecision) {
  const WorldOrigin back{-16777215.75, 0.5, -1};
  EXPECT_EQ(moved(Vec3{16777216, 2, 3}, back), (Vec3{0.25f, 2.5f, 2}));
  EXPECT_EQ(moved(Aabb{{16777216, 0, 1}, {16777218, 1, 2}}, back), (Aabb{{0.25f, 0.5f, 0}, {2.25f, 1.5f, 1}}));
  EXPECT_EQ(moved(Vec3{1, 2, 3}, {}), (Vec3{1, 2, 3}));
}

TEST(BoxOccluder, IdentityHasItsLengthAlongY) {  // MAP-1
  const BoxOccluder box{40, -20, 8, 16384, 16, 8, 4, 0};
  const Result<OccluderBox> got = occluder_box(box);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got.value().centre, (Vec3{10, -5, 2}));
  EXPECT_EQ(got.value().x_axis, (Vec3{1, 0, 0}));
  EXPECT_EQ(got.value().y_axis, (Vec3{0, 1, 0}));
  EXPECT_EQ(got.value().z_axis, (Vec3{0, 0, 1}));
  EXPECT_EQ(got.value().half, (Vec3{1, 2, 0.5f}));
  EXPECT_EQ(got.value().bounds, (Aabb{{9, -7, 1.5f}, {11, -3, 2.5f}}));
}

TEST(BoxOccluder, AQuarterTurnHasItsLengthAlongX) {  // MAP-1
  const BoxOccluder box{40, -20, 8, 0, 16, 8, 4, 16384};
  const OccluderBox got = occluder_box(box).value();
  EXPECT_EQ(got.x_axis, (Vec3{0, -1, 0}));
  EXPECT_EQ(got.y_axis, (Vec3{1, 0, 0}));
  const Vec3 corners[8] = {{8, -4, 1.5f}, {8, -6, 1.5f}, {12, -4, 1.5f}, {12, -6, 1.5f},
                           {8, -4, 2.5f}, {8, -6, 2.5f}, {12, -4, 2.5f}, {12, -6, 2.5f}};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(got.corners[i], corners[i]) << i;
  EXPECT_EQ(got.bounds, (Aabb{{8, -6, 1.5f}, {12, -4, 2.5f}}));
}

// The triangle of 3, 4 and 5: 10 m along (0.6, 0.8), 5 m along (0.8, -0.6). Length 5000 instead of 16384 is no matter.
TEST(BoxOccluder, TurnsByWhatSineAndCosinePointAt) {  // MAP-1
  const OccluderBox got = occluder_box({0, 0, 0, 4000, 40, 20, 0, 3000}, {100, 200, 300}).value();
  expect_near(got.y_axis, {0.6f, 0.8f, 0}, 1e-7f);
  expect_near(got.x_axis, {0.8f, -0.6f, 0}, 1e-7f);
  expect_near(got.corners[3], {105, 202.5f, 300}, 1e-4f);
  expect_near(got.corners[2], {101, 205.5f, 300}, 1e-4f);
  expect_near(got.corners[4], {95, 197.5f, 300}, 1e-4f);
}

TEST(BoxOccluder, AFarOneIsExactAfterTheOriginMoved) {  // MAP-1, SG-8
  const OccluderBox got = occluder_box({32767, -32768, 0, 16384, 1, 1, 1, 0}, {-8191.5, 8192.125, 0}).value();
  EXPECT_EQ(got.centre, (Vec3{0.25f, 0.125f, 0}));
  EXPECT_EQ(got.half, (Vec3{0.125f, 0.125f, 0.125f}));
  EXPECT_EQ(got.bounds, (Aabb{{0.125f, 0, -0.125f}, {0.375f, 0.25f, 0.125f}}));
}

TEST(BoxOccluder, OnesThatMeanNothingAreRefused) {  // MAP-1
  const BoxOccluder good{0, 0, 0, 16384, 4, 4, 4, 0};
  std::vector<BoxOccluder> bad(4, good);
  bad[0].length = -1;
  bad[1].width = -32768;
  bad[2].height = -4;
  bad[3].cos_z = 0;
  for (const BoxOccluder& box : bad) EXPECT_EQ(occluder_box(box).status().code, StatusCode::bad_value);
  for (int16_t BoxOccluder::*size : {&BoxOccluder::length, &BoxOccluder::width, &BoxOccluder::height}) {
    BoxOccluder wall = good;
    wall.*size = 0;
    EXPECT_TRUE(occluder_box(wall).ok());
  }
}

// MAP-1. Against the angle from +Y that the two numbers stand for, turned by the library's sine and cosine.
TEST(BoxOccluder, RandomOnesAgreeWithTheAngle) {
  constexpr uint32_t kSeed = 1701;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const auto number = [&](int low, int high) {
    return static_cast<int16_t>(low + static_cast<int>(random() % static_cast<uint32_t>(high - low + 1)));
  };
  for (int round = 0; round < 20000; ++round) {
    BoxOccluder box;
    for (int16_t BoxOccluder::*member : {&BoxOccluder::center_x, &BoxOccluder::center_y, &BoxOccluder::center_z,
                                         &BoxOccluder::cos_z, &BoxOccluder::sin_z})
      box.*member = number(-32768, 32767);
    for (int16_t BoxOccluder::*member : {&BoxOccluder::length, &BoxOccluder::width, &BoxOccluder::height})
      box.*member = number(0, 2000);
    if (box.sin_z == 0 && box.cos_z == 0) continue;
    const WorldOrigin offset{number(-100, 100) / 3.0, number(-100, 100) / 3.0, 0.1};
    const OccluderBox got = occluder_box(box, offset).value();
    const double angle = std::atan2(box.sin_z, box.cos_z);  // from +Y towards +X
    for (unsigned i = 0; i < 8; ++i) {
      const double across = ((i & 1) != 0 ? 1 : -1) * box.width / 8.0,
                   along = ((i & 2) != 0 ? 1 : -1) * box.length / 8.0;
      const double up = ((i & 4) != 0 ? 1 : -1) * box.height / 8.0;
      const double x = box.center_x / 4.0 + offset.x + across * std::cos(angle) + along * std::sin(angle);
      const double y = box.center_y / 4.0 + offset.y - across * std::sin(angle) + along * std::cos(angle);
      const double z = box.center_z / 4.0 + offset.z + up;
      // Half a step of a float beyond 8192 m.
      ASSERT_NEAR(got.corners[i].x, x, 5e-4) << round;
      ASSERT_NEAR(got.corners[i].y, y, 5e-4) << round;
      ASSERT_NEAR(got.corners[i].z, z, 5e-4) << round;
      ASSERT_LE(got.bounds.min.x, x + 1e-9) << round;
      ASSERT_GE(got.bounds.max.x, x - 1e-9) << round;
      ASSERT_LE(got.bounds.min.y, y + 1e-9) << round;
      ASSERT_GE(got.bounds.max.y, y - 1e-9) << round;
    }
  }
}

/// Arrays of one light.
struct OneLight {
  Vec3 direction{0, 0, -1};
  float falloff = 12, exponent = 8;
  uint32_t flags = 0, hash = 77;
  uint8_t inner = 51, outer = 102, corona = 51;
  LodLights lights() const {
    return {{&direction, 1}, {&falloff, 1}, {&exponent, 1}, {&flags, 1},
            {&hash, 1},      {&inner, 1},   {&outer, 1},    {&corona, 1}};
  }
};

TEST(LodLight, ASpotHasACone) {  // MAP-1
  OneLight one;
  one.flags = 1u << 0 | 1u << 20 | 1u << 23 | 1u << 24 | 1u << 27 | 1u << 29 | 1u << 31;
  const LodLight got = lod_light(one.lights(), 0);
  EXPECT_EQ(got.direction, (Vec3{0, 0, -1}));
  EXPECT_EQ(got.falloff, 12);
  EXPECT_EQ(got.falloff_exponent, 8);
  EXPECT_EQ(got.hash, 77u);
  EXPECT_EQ(got.type, LodLightType::spot);
  EXPECT_EQ(got.flags, (Flags<LodLightFlag>{LodLightFlag::street_light, LodLightFlag::not_in_cutscene}));
  EXPECT_FLOAT_EQ(got.inner_angle, static_cast<float>(std::numbers::pi / 5));      // 36 degrees
  EXPECT_FLOAT_EQ(got.outer_angle, static_cast<float>(std::numbers::pi * 2 / 5));  // 72 degrees
  EXPECT_EQ(got.capsule_length, 0);
  EXPECT_FLOAT_EQ(got.corona, 6.4f);
  for (uint32_t hour = 0; hour < 24; ++hour) EXPECT_EQ(got.is_lit(hour), hour == 0 || hour == 20 || hour == 23) << hour;
}

TEST(LodLight, ACapsuleHasALength) {  // MAP-1
  OneLight one;
  one.flags = 1u << 28 | 1u << 25;
  one.outer = 51;
  one.corona = 255;
  one.inner = 255;
  const LodLight got = lod_light(one.lights(), 0);
  EXPECT_EQ(got.type, LodLightType::capsule);
  EXPECT_TRUE(got.flags.has(LodLightFlag::corona_only));
  EXPECT_FLOAT_EQ(got.capsule_length, 28);
  EXPECT_EQ(got.outer_angle, 0);
  EXPECT_FLOAT_EQ(got.inner_angle, static_cast<float>(std::numbers::pi));
  EXPECT_EQ(got.corona, 32);
  EXPECT_EQ(got.hours, 0u);
  one.flags = 1u << 26;
  EXPECT_EQ(lod_light(one.lights(), 0).type, LodLightType::point);
  one.flags = 7u << 26;
  EXPECT_EQ(static_cast<int>(lod_light(one.lights(), 0).type), 7);
}

TEST(DistantLight, ColourAndIntensityShareAWord) {  // MAP-1
  const Vec3 positions[2] = {{1, 2, 3}, {16777216, 5, 6}};
  const uint32_t rgbi[2] = {0x55102033, 0xFF000000};
  const DistantLights lights{positions, rgbi, 1, LightCategory::large};
  const DistantLight first = distant_light(lights, 0), second = distant_light(lights, 1, {-16777215.75, 0, 0});
  EXPECT_EQ(first.position, (Vec3{1, 2, 3}));
  EXPECT_EQ(first.color, (Rgb8{0x10, 0x20, 0x33}));
  expect_near(color_of(first.color), {16 / 255.f, 32 / 255.f, 0.2f}, 1e-7f);
  EXPECT_EQ(first.intensity, 16);  // 85 of 255 is a third
  EXPECT_TRUE(first.is_street_light);
  EXPECT_EQ(second.position, (Vec3{0.25f, 5, 6}));
  EXPECT_EQ(second.color, Rgb8{});
  EXPECT_EQ(second.intensity, 48);
  EXPECT_FALSE(second.is_street_light);

  OneLight one;
  EXPECT_EQ(paired_light_count(one.lights(), lights), 1u);
  EXPECT_EQ(paired_light_count(one.lights(), {}), 0u);
}

/// The byte-wise form of lookup3, from its macros; the word-wise one is the same on little-endian words.
uint32_t hash_little(std::string_view bytes) {
  const auto rot = [](uint32_t x, int n) { return (x << n) | (x >> (32 - n)); };
  uint32_t a = 0xdeadbeef + static_cast<uint32_t>(bytes.size()), b = a, c = a;
  const auto add = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) {
      uint32_t& word = i < 4 ? a : i < 8 ? b : c;
      word += uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * (i % 4));
    }
    bytes.remove_prefix(count);
  };
  while (bytes.size() > 12) {
    add(12);
    a -= c, a ^= rot(c, 4), c += b;
    b -= a, b ^= rot(a, 6), a += c;
    c -= b, c ^= rot(b, 8), b += a;
    a -= c, a ^= rot(c, 16), c += b;
    b -= a, b ^= rot(a, 19), a += c;
    c -= b, c ^= rot(b, 4), b += a;
  }
  if (bytes.empty()) return c;
  add(bytes.size());
  c ^= b, c -= rot(b, 14);
  a ^= c, a -= rot(c, 11);
  b ^= a, b -= rot(a, 25);
  c ^= b, c -= rot(b, 16);
  a ^= c, a -= rot(c, 4);
  b ^= a, b -= rot(a, 14);
  c ^= b, c -= rot(b, 24);
  return c;
}

uint32_t hash_of_words(const std::vector<int64_t>& words) {
  std::string bytes;
  for (const int64_t word : words)
    for (int k = 0; k < 4; ++k) bytes.push_back(static_cast<char>(static_cast<uint64_t>(word) >> (8 * k) & 255));
  return hash_little(bytes);
}

TEST(LodLightHash, IsLookup3OfTenthsOfTheBox) {  // MAP-1
  ASSERT_EQ(hash_little(""), 0xdeadbeefu);       // both published with lookup3.c
  ASSERT_EQ(hash_little("Four score and seven years ago"), 0x17770551u);
  EXPECT_EQ(lod_light_hash({{1, 2, 3}, {4, 5, 6}}, 7), hash_of_words({10, 20, 30, 40, 50, 60, 7}));
  EXPECT_EQ(lod_light_hash({{-1.29f, -0.05f, 0.7f}, {1.29f, 0.05f, 8000.3f}}, 0),
            hash_of_words({-12, 0, 7, 12, 0, 80003, 0}));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(lod_light_hash({{-kInfinity, std::nanf(""), -1e30f}, {kInfinity, 1e30f, 0}}, 0xFFFFFFFF),
            hash_of_words({-2147483648, 0, -2147483648, 2147483647, 2147483647, 0, 0xFFFFFFFF}));
}

TEST(CarGenerator, HeadingIsAVectorAsLongAsTheSlot) {  // MAP-1
  CarGenerator generator;
  generator.position = {16777216, 10, 5};
  generator.orient = {3, 4};
  generator.width = 2.5f;
  const CarSlot slot = car_slot(generator, {-16777215.75, 0, 1});
  EXPECT_EQ(slot.centre, (Vec3{0.25f, 10, 6}));
  expect_near(slot.forward, {0.6f, 0.8f, 0}, 1e-7f);
  expect_near(slot.right, {0.8f, -0.6f, 0}, 1e-7f);
  EXPECT_EQ(slot.length, 5);
  EXPECT_EQ(slot.width, 2.5f);
  generator.orient = {};
  const CarSlot none = car_slot(generator);
  EXPECT_EQ(none.forward, Vec3{});
  EXPECT_EQ(none.right, Vec3{});
  EXPECT_EQ(none.length, 0);
}

TEST(CarGenerator, CreationRuleIsTheTopFourBits) {  // MAP-1
  CarGenerator generator;
  for (uint32_t rule = 0; rule < 16; ++rule) {
    generator.flags = Flags<CarGeneratorFlag>::from_bits(rule << 28 | 3680 | 1u << 20);
    EXPECT_EQ(static_cast<uint32_t>(generator.creation_rule()), rule);
  }
  // 3680 = 2^5 + 2^6 + 2^9 + 2^10 + 2^11, the common value
  for (const CarGeneratorFlag flag :
       {CarGeneratorFlag::during_day, CarGeneratorFlag::at_night, CarGeneratorFlag::single_player,
        CarGeneratorFlag::network_player, CarGeneratorFlag::low_priority})
    EXPECT_TRUE(generator.flags.has(flag));
  EXPECT_FALSE(generator.flags.has(CarGeneratorFlag::prevent_entry));
  generator.flags = Flags<CarGeneratorFlag>::from_bits(0xCFFFFFFF);
  EXPECT_EQ(generator.creation_rule(), CreationRule::can_be_broken_down);
}

// MAP-1. Against a walk around the clock from the first hour to the last.
TEST(TimeCycleBox, HoldsFromItsFirstHourToItsLast) {
  for (uint32_t start = 0; start < 24; ++start) {
    for (uint32_t end = 0; end < 24; ++end) {
      bool expected[24] = {};
      for (uint32_t hour = start;; hour = (hour + 1) % 24) {
        expected[hour] = true;
        if (hour == end) break;
      }
      TimeCycleBox box;
      box.start_hour = start;
      box.end_hour = end;
      for (uint32_t hour = 0; hour < 24; ++hour)
        ASSERT_EQ(box.holds_at(hour), expected[hour]) << start << " " << end << " " << hour;
    }
  }
}

TEST(GrassTuft, PlaceAndSizeCountInTheBatch) {  // MAP-1
  GrassBatch batch;
  batch.box = {{10, 20, 30}, {20, 40, 30}};
  batch.min_scale = 0.5f;
  batch.max_scale = 1.5f;
  GrassInstance instance;
  instance.position[0] = 13107;  // a fifth of 65535
  instance.position[1] = 65535;
  instance.position[2] = 40000;  // in a flat box
  instance.normal_x = instance.normal_y = 127;
  instance.scale = 51;
  instance.ao = 51;
  const GrassTuft got = grass_tuft(batch, instance);
  EXPECT_EQ(got.position, (Vec3{12, 40, 30}));
  EXPECT_FLOAT_EQ(got.scale, 0.7f);
  EXPECT_FLOAT_EQ(got.sky, 0.2f);
  expect_near(got.normal, {-1 / 255.f, -1 / 255.f, 0.9999846f}, 1e-7f);  // sqrt(1 - 2 / 65025)

  batch.box = {{16777216, 0, 0}, {16777218, 1, 1}};
  instance.position[0] = 65535;
  EXPECT_EQ(grass_tuft(batch, instance, {-16777215.75, 0, 0}).position.x, 2.25f);
}

TEST(GrassTuft, EveryNormalHasLengthOneAndPointsUp) {  // MAP-1
  for (int x = 0; x < 256; ++x) {
    for (int y = 0; y < 256; ++y) {
      GrassInstance instance;
      instance.normal_x = static_cast<uint8_t>(x);
      instance.normal_y = static_cast<uint8_t>(y);
      const Vec3 n = grass_tuft({}, instance).normal;
      ASSERT_NEAR(length(n), 1, 1e-6) << x << " " << y;
      ASSERT_GE(n.z, 0);
      const double nx = x / 255.0 * 2 - 1, ny = y / 255.0 * 2 - 1;
      const double out = std::max(1.0, std::hypot(nx, ny));  // pulled back onto the circle
      ASSERT_NEAR(n.x, nx / out, 1e-6);
      ASSERT_NEAR(n.y, ny / out, 1e-6);
    }
  }
}

TEST(MapPartContracts, BrokenOnesAreHarmless) {  // MAP-1
  test::BrokenContracts contracts;
  OneLight one;
  one.flags = 0xFFFFFFFF;
  EXPECT_EQ(lod_light(one.lights(), 1).hours, 0u);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_FALSE(lod_light(one.lights(), 0).is_lit(24));
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_FALSE(TimeCycleBox{}.holds_at(24));
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(distant_light({}, 0).intensity, 0);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(OccluderMesh().vertex(0), Vec3{});
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(OccluderMesh().triangle(0), MeshTriangle{});
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(MapParts().occluder_mesh(0).status().code, StatusCode::not_found);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_TRUE(MapParts().grass_batch(0).instances.empty());
  EXPECT_TRUE(test::broke(contracts));
}

}  // namespace
}  // namespace meridian
