// SPDX-License-Identifier: MIT
// Random scenes of boxes and meshes, seen from anywhere, against rays in doubles. OCCL-1, OCCL-2, P096
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "meridian/base/random.h"
#include "meridian/base/simd.h"
#include "meridian/jobs/serial_jobs.h"
#include "meridian/visibility/occlusion_buffer.h"
#include "support/occlusion_reference.h"

namespace meridian {
namespace {

struct Frame {
  Vec3 x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
};

/// Any way round, or upright, or along the axes.
Frame random_frame(Random& random) {
  const uint32_t kind = random.below(4);
  if (kind == 0) return {};
  const double turn = random.between(-3.2f, 3.2f), tilt = kind == 1 ? 0 : random.between(-1.5f, 1.5f);
  const double roll = kind == 1 ? 0 : random.between(-3.2f, 3.2f);
  const test::V3 y{-std::sin(turn) * std::cos(tilt), std::cos(turn) * std::cos(tilt), std::sin(tilt)};
  const test::V3 level{std::cos(turn), std::sin(turn), 0};
  const test::V3 rest = level % y;
  const test::V3 x = level * std::cos(roll) + rest * std::sin(roll), z = x % y;
  const auto narrow = [](const test::V3& v) {
    return Vec3{static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
  };
  return {narrow(x), narrow(y), narrow(z)};
}

float size_of(Random& random) {
  switch (random.below(8)) {
    case 0:
      return 0;
    case 1:
      return random.between(0.0001f, 0.05f);
    case 2:
      return random.between(100.0f, 5000.0f);
    default:
      return random.between(0.2f, 20.0f);
  }
}

Vec3 around(Random& random, const Vec3& at, float reach) {
  return at + Vec3{random.between(-reach, reach), random.between(-reach, reach), random.between(-reach, reach)};
}

struct Scene {
  OccluderSet set;
  OcclusionView view;
  uint32_t width = 0, height = 0;
  std::vector<Aabb> tested;
};

void add_mesh(Random& random, Scene& scene, const Vec3& eye, uint32_t index) {
  const Vec3 at = around(random, eye, random.below(3) == 0 ? 2.0f : 40.0f);
  std::vector<Vec3> vertices;
  std::vector<uint8_t> triangles;
  const uint32_t kind = random.below(3);
  if (kind == 0) {  // whatever
    for (uint32_t i = 0; i < 12; ++i) vertices.push_back(around(random, at, 15));
    for (uint32_t i = 0; i < 24; ++i) triangles.push_back(static_cast<uint8_t>(random.below(12)));
  } else if (kind == 1) {  // closed, of four sides
    const float reach = random.between(0.5f, 30.0f);
    for (uint32_t i = 0; i < 4; ++i) vertices.push_back(around(random, at, reach));
    triangles = {0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0};
  } else {  // ground
    constexpr uint32_t kSide = 6;
    for (uint32_t y = 0; y < kSide; ++y) {
      for (uint32_t x = 0; x < kSide; ++x) {
        vertices.push_back(at + Vec3{12.0f * static_cast<float>(x) - 30, 12.0f * static_cast<float>(y) - 30,
                                     random.between(-6.0f, 4.0f)});
      }
    }
    for (uint32_t y = 0; y + 1 < kSide; ++y) {
      for (uint32_t x = 0; x + 1 < kSide; ++x) {
        const auto v = static_cast<uint8_t>(y * kSide + x);
        const auto up = static_cast<uint8_t>(v + kSide);
        for (const int corner : {v + 0, v + 1, up + 0, v + 1, up + 1, up + 0}) {
          triangles.push_back(static_cast<uint8_t>(corner));
        }
      }
    }
  }
  ASSERT_TRUE(scene.set.add_mesh({.imap = 2, .index = index}, {vertices, triangles, random.below(10) == 0}).ok());
}

void make_scene(Random& random, Scene& scene) {
  const bool is_far = random.below(4) == 0;
  const float away = is_far ? 16000.0f : 50.0f;
  OcclusionView& view = scene.view;
  view.position = around(random, {is_far ? 16000.0f : 0, is_far ? -16000.0f : 0, 0}, is_far ? 300.0f : away);
  const Frame frame = random_frame(random);
  view.right = frame.x;
  view.forward = frame.y;
  view.up = frame.z;
  view.is_orthographic = random.below(5) == 0;
  view.is_strict = random.below(4) == 0;
  view.with_water_only = random.below(8) == 0;
  view.half_width = view.is_orthographic ? random.between(2.0f, 60.0f) : random.between(0.2f, 2.0f);
  view.half_height = view.half_width * random.between(0.4f, 1.2f);
  view.near_distance = random.below(3) == 0 ? random.between(0.5f, 3.0f) : 0.1f;
  if (view.is_orthographic) view.near_distance = random.between(-20.0f, 5.0f);
  scene.width = kOcclusionTileWidth * (1 + random.below(3));
  scene.height = kOcclusionTileHeight * (1 + random.below(7));

  ASSERT_TRUE(scene.set.init({.occluders = 64, .mesh_bytes = 1u << 16, .imap_slots = 8}).ok());
  const uint32_t boxes = 1 + random.below(14), meshes = random.below(4);
  for (uint32_t i = 0; i < boxes; ++i) {
    const Frame axes = random_frame(random);
    OccludingBox box{.centre = {},
                     .x_axis = axes.x,
                     .y_axis = axes.y,
                     .z_axis = axes.z,
                     .half = {size_of(random), size_of(random), size_of(random)}};
    switch (random.below(5)) {
      case 0:  // the camera inside, or at a side
        box.centre = around(random, view.position, 0.5f);
        break;
      case 1:  // the camera on the plane of a side, nearly or exactly
        box.centre = view.position + axes.x * box.half.x + axes.y * random.between(-30.0f, 30.0f);
        break;
      default:
        box.centre = view.position + view.forward * random.between(1.0f, 60.0f);
        box.centre = around(random, box.centre, 30);
    }
    ASSERT_TRUE(scene.set.add_box({.imap = 1, .index = i}, box).ok());
  }
  for (uint32_t i = 0; i < meshes; ++i) add_mesh(random, scene, view.position, i);

  for (uint32_t i = 0; i < 32; ++i) {
    Vec3 at = around(random, view.position + view.forward * random.between(0.0f, 120.0f), 40);
    Vec3 half{random.between(0.0f, 3.0f), random.between(0.0f, 3.0f), random.between(0.0f, 3.0f)};
    if (random.below(4) == 0) {  // behind an occluder, or what it is in itself
      const Occluder& o = scene.set[random.below(scene.set.count())];
      at = random.below(2) == 0 ? o.centre : o.centre + (o.centre - view.position) * random.between(0.0f, 1.0f);
      half = half * 0.3f;
    }
    scene.tested.push_back({at - half, at + half});
  }
}

/// Everything that a picture says.
struct Answers {
  std::vector<float> nearness;
  uint32_t hidden = 0;
  friend bool operator==(const Answers& a, const Answers& b) {
    return a.hidden == b.hidden && a.nearness.size() == b.nearness.size() &&
           std::memcmp(a.nearness.data(), b.nearness.data(), a.nearness.size() * sizeof(float)) == 0;
  }
};

/// The boxes as they are tested 32 at a time: rounded to centres and extents, outwards.
struct Columns {
  float of[6][32];
  explicit Columns(const std::vector<Aabb>& boxes) {
    for (size_t i = 0; i < 32; ++i) {
      const Aabb& b = boxes[i];
      const float low[3] = {b.min.x, b.min.y, b.min.z}, high[3] = {b.max.x, b.max.y, b.max.z};
      for (size_t k = 0; k < 3; ++k) {
        const float centre = low[k] + (high[k] - low[k]) / 2;
        of[k][i] = centre;
        of[k + 3][i] = std::nextafter(std::max(high[k] - centre, centre - low[k]), 1e30f);
      }
    }
  }
};

Answers draw_and_test(const Scene& scene, OcclusionBuffer& buffer) {
  SerialJobs jobs;
  EXPECT_TRUE(buffer.rasterise(scene.set, scene.view, jobs).ok());
  Answers out;
  out.nearness.assign(buffer.nearness().begin(), buffer.nearness().end());
  const Columns columns(scene.tested);
  out.hidden = buffer.hidden({columns.of[0], columns.of[1], columns.of[2], columns.of[3], columns.of[4], columns.of[5]},
                             0xFFFFFFFF);
  return out;
}

struct Totals {
  uint64_t pixels = 0, drawn = 0, hidden = 0, found = 0;
};

/// Points of a pixel where the exact picture is looked at: its centre, and for strict views its corners and others.
std::vector<std::pair<double, double>> samples_of(const OcclusionView& view, Random& random) {
  if (!view.is_strict) return {{0.5, 0.5}};
  std::vector<std::pair<double, double>> out{{0.5, 0.5}, {0, 0}, {1, 0}, {0, 1}, {1, 1}};
  for (int i = 0; i < 3; ++i) out.emplace_back(random.unit(), random.unit());
  return out;
}

void check_scene(Random& random, Scene& scene, Totals& totals) {
  OcclusionBuffer buffer;
  ASSERT_TRUE(buffer.init({.width = scene.width, .height = scene.height, .occluders = 64, .primitives = 1024}).ok());
  ASSERT_TRUE(set_simd_width(SimdWidth::scalar));
  const Answers answers = draw_and_test(scene, buffer);
  for (const SimdWidth width : {SimdWidth::bits128, SimdWidth::bits256, SimdWidth::bits512}) {
    if (!set_simd_width(width)) continue;
    EXPECT_TRUE(draw_and_test(scene, buffer) == answers) << to_string(width);
  }
  set_simd_width(best_simd_width());

  const test::OcclusionReference reference(scene.set, scene.view, scene.width, scene.height);
  const auto samples = samples_of(scene.view, random);
  uint32_t shown = 0, covering = 0;
  std::vector<test::OcclusionReference::Box> boxes;
  for (size_t i = 0; i < 32; ++i) {
    boxes.push_back(reference.box_of(scene.tested[i]));
    if (reference.nearest_corner(scene.tested[i]) < scene.view.near_distance) shown |= 1u << i;
  }
  for (uint32_t y = 0; y < scene.height; ++y) {
    for (uint32_t x = 0; x < scene.width; ++x) {
      const float nearness = answers.nearness[size_t{y} * scene.width + x];
      for (const auto& [dx, dy] : samples) {
        const double exact = reference.distance(x + dx, y + dy);
        const double bound = scene.view.is_orthographic ? -exact : 1 / exact;
        const bool is_drawn = nearness != OcclusionBuffer::kNothing;
        // Only what is there is drawn, and as far away or farther.
        if (is_drawn && (exact == test::OcclusionReference::kFar || static_cast<double>(nearness) > bound)) {
          ADD_FAILURE() << "pixel " << x << ' ' << y << ": " << nearness << " where there is " << bound;
          return;
        }
        if (dx == 0.5 && dy == 0.5 && buffer.statistics().around == 0) {
          totals.pixels += exact != test::OcclusionReference::kFar ? 1 : 0;
          totals.drawn += is_drawn ? 1 : 0;
        }
        for (size_t i = 0; i < 32; ++i) {
          if ((shown >> i & 1) != 0) continue;
          const double at = reference.distance_of(boxes[i], x + dx, y + dy);
          if (at < exact) shown |= 1u << i;
          if (at != test::OcclusionReference::kFar) covering |= 1u << i;
        }
      }
    }
  }
  EXPECT_EQ(answers.hidden & shown, 0u) << "something is hidden that can be seen";
  totals.hidden += static_cast<uint64_t>(__builtin_popcount(covering & ~shown));
  totals.found += static_cast<uint64_t>(__builtin_popcount(answers.hidden & covering));
}

uint64_t first_seed() {
  const char* const text = std::getenv("MERIDIAN_PROPERTY_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 0) : 1;
}

TEST(OcclusionProperty, NothingIsHiddenThatTheExactPictureShows) {
  Totals all[2];  // usual views and strict ones
  for (uint64_t seed = first_seed(); seed < first_seed() + MERIDIAN_OCCLUSION_SCENES; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, 96);
    Scene scene;
    ASSERT_NO_FATAL_FAILURE(make_scene(random, scene));
    ASSERT_NO_FATAL_FAILURE(check_scene(random, scene, all[scene.view.is_strict ? 1 : 0]));
    if (HasFailure()) return;
  }
  // A few pixels of outlines may be lost to rounding, all of them to strictness; scenes with occluders around the
  // camera do not count. Boxes count as near as their nearest corner, and by the squares that hold their rectangles.
  const double least_drawn[2] = {0.999, 0.8}, least_found[2] = {0.7, 0.5};
  for (int strict = 0; strict < 2; ++strict) {
    const Totals& t = all[strict];
    if (t.pixels == 0 || t.hidden == 0) continue;  // few scenes
    const double drawn = static_cast<double>(t.drawn) / static_cast<double>(t.pixels);
    const double found = static_cast<double>(t.found) / static_cast<double>(t.hidden);
    std::printf("%s views: %.2f %% of the exact pixels are drawn, %.1f %% of what they hide is found\n",
                strict != 0 ? "strict" : "usual", drawn * 100, found * 100);
    EXPECT_GT(drawn, least_drawn[strict]);
    EXPECT_GT(found, least_found[strict]);
  }
}

}  // namespace
}  // namespace meridian
