// SPDX-License-Identifier: MIT
// SCAN-2, SCAN-6, DESC-6, P095: what a shape may be, in which order shapes are looked at, what a lens does to levels.
#include "meridian/visibility/cull_shape.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/scan_kit.h"

namespace meridian {
namespace {

using test::Eye;
using test::phase_bit;
using test::primary_shape;
using test::ScanKit;
using test::sphere_shape;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

// --- what is refused -----------------------------------------------------------------------------------------

TEST(CullShape, SCAN2_UsableOnesAreTaken) {
  CullShape shape = primary_shape(23);
  EXPECT_TRUE(check(shape).ok());
  shape.ranges[3] = {10, kInf};
  shape.caps[0] = {type_bit(EntityClass::building), kInf};
  shape.caps[1] = {type_bit(EntityClass::building), 0};
  EXPECT_TRUE(check(shape).ok()) << "ranges and caps may be endless, or nothing";
  EXPECT_TRUE(check(sphere_shape(0, {}, 0)).ok()) << "a point is a sphere";
  shape.planes[5] = {{0, 1e-20f, 0}, 3};
  EXPECT_TRUE(check(shape).ok()) << "normals are of any length";
}

TEST(CullShape, SCAN2_CheckRefusesWhatNoScanCouldUse) {
  struct Slip {
    const char* what;
    std::function<void(CullShape&)> make;
  };
  const std::vector<Slip> slips = {
      {"phase", [](CullShape& s) { s.phase = 24; }},
      {"neither frustum nor sphere", [](CullShape& s) { s.flags &= ~uint32_t{kCullUseFrustum}; }},
      {"too many planes", [](CullShape& s) { s.plane_count = kMaxCullPlanes + 1; }},
      {"a frustum without planes", [](CullShape& s) { s.plane_count = 0; }},
      {"a plane without direction", [](CullShape& s) { s.planes[5].normal = {}; }},
      {"a plane of NaN", [](CullShape& s) { s.planes[0].normal.y = kNan; }},
      {"an endless plane", [](CullShape& s) { s.planes[2].d = -kInf; }},
      {"sphere at NaN", [](CullShape& s) { s.sphere_centre.z = kNan; }},
      {"negative radius", [](CullShape& s) { s.sphere_radius = -1; }},
      {"endless radius", [](CullShape& s) { s.sphere_radius = kInf; }},
      {"interior sphere at infinity", [](CullShape& s) { s.interior_centre.x = kInf; }},
      {"negative interior radius", [](CullShape& s) { s.interior_radius = -0.5f; }},
      {"camera", [](CullShape& s) { s.camera.x = kNan; }},
      {"projection x", [](CullShape& s) { s.screen.x.w = kNan; }},
      {"projection y", [](CullShape& s) { s.screen.y.x = kInf; }},
      {"projection w", [](CullShape& s) { s.screen.w.z = kNan; }},
      {"mirror without direction",
       [](CullShape& s) {
         s.flags |= kCullMirror;
         s.mirror.normal = {};
       }},
      {"mirror at infinity",
       [](CullShape& s) {
         s.flags |= kCullMirror;
         s.mirror.d = kInf;
       }},
      {"stores without a store", [](CullShape& s) { s.flags |= kCullClipAndStorePortals; }},
      {"stores in a fifth store",
       [](CullShape& s) {
         s.flags |= kCullClipAndStorePortals;
         s.quad_store = kScreenQuadStores;
       }},
      {"a primary one that only streams", [](CullShape& s) { s.flags |= kCullOnlyStreamEntities; }},
      {"a range from below 0", [](CullShape& s) { s.ranges[6].min = -1; }},
      {"a range to NaN", [](CullShape& s) { s.ranges[0].max = kNan; }},
      {"a negative cap", [](CullShape& s) { s.caps[2].distance = -1; }},
      {"a cap of NaN", [](CullShape& s) { s.caps[0].distance = kNan; }},
      {"its own LOD view", [](CullShape& s) { s.lod.zoom = 0; }},
      {"a type of picture that there is not", [](CullShape& s) { s.visibility = static_cast<VisibilityType>(16); }},
  };
  for (const Slip& slip : slips) {
    CullShape shape = primary_shape(0);
    ASSERT_TRUE(check(shape).ok());
    slip.make(shape);
    const Status status = check(shape);
    EXPECT_EQ(status.code, StatusCode::bad_value) << slip.what;
    EXPECT_STRNE(status.message, "") << slip.what;
  }
}

TEST(CullShape, SCAN6_CheckRefusesLodViewsThatMeanNothing) {
  const auto refuses = [](const std::function<void(LodView&)>& make) {
    LodView view;
    EXPECT_TRUE(check(view).ok());
    make(view);
    return check(view).code == StatusCode::bad_value;
  };
  for (const float bad : {kNan, kInf, -1.0f}) {
    EXPECT_TRUE(refuses([bad](LodView& v) { v.scales[0] = bad; })) << bad;
    EXPECT_TRUE(refuses([bad](LodView& v) { v.scales[kLodLevels - 1] = bad; })) << bad;
    EXPECT_TRUE(refuses([bad](LodView& v) { v.default_scale = bad; })) << bad;
    EXPECT_TRUE(refuses([bad](LodView& v) { v.grass_scale = bad; })) << bad;
    EXPECT_TRUE(refuses([bad](LodView& v) { v.zoom = bad; })) << bad;
    EXPECT_TRUE(refuses([bad](LodView& v) { v.pre_stream = bad; })) << bad;
  }
  EXPECT_TRUE(refuses([](LodView& v) { v.zoom = 0; }));
  EXPECT_TRUE(refuses([](LodView& v) { v.camera.y = kNan; }));
  EXPECT_TRUE(refuses([](LodView& v) { v.camera.z = kInf; }));
  LodView nothing;
  for (float& scale : nothing.scales) scale = 0;
  nothing.default_scale = nothing.grass_scale = 0;
  EXPECT_TRUE(check(nothing).ok()) << "nothing but what fades is a view too";
}

// --- frusta and pictures, by hand ----------------------------------------------------------------------------

void expect_plane(const Plane& plane, const Vec3& normal, float d) {
  EXPECT_EQ(plane.normal, normal);
  EXPECT_EQ(plane.d, d);
}

// Numbers that floats hold exactly: at (10, 20, 30), looking along y, twice as far to the sides as ahead.
TEST(CullShape, SCAN2_SetFrustumByHand) {
  CullShape shape;
  shape.camera = {10, 20, 30};
  set_frustum(shape, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
              {.tan_half_width = 2, .tan_half_height = 0.5f, .near_distance = 1, .far_distance = 100});
  ASSERT_EQ(shape.plane_count, 6u);
  expect_plane(shape.planes[0], {1, 2, 0}, -50);     // left:   (x - 10) + 2 (y - 20) >= 0
  expect_plane(shape.planes[1], {-1, 2, 0}, -30);    // right: -(x - 10) + 2 (y - 20) >= 0
  expect_plane(shape.planes[2], {0, 0.5f, 1}, -40);  // bottom:  (z - 30) + (y - 20) / 2 >= 0
  expect_plane(shape.planes[3], {0, 0.5f, -1}, 20);  // top:    -(z - 30) + (y - 20) / 2 >= 0
  expect_plane(shape.planes[4], {0, 1, 0}, -21);     // near: y >= 21
  expect_plane(shape.planes[5], {0, -1, 0}, 120);    // far:  y <= 120
}

// A camera that looks along -x, its top to the world's y; and one rolled so that z is to its right.
TEST(CullShape, SCAN2_SetFrustumFollowsTheAxes) {
  const auto holds = [](const CullShape& shape, const Vec3& p) {
    for (uint32_t i = 0; i < shape.plane_count; ++i)
      if (signed_distance(shape.planes[i], p) < 0) return false;
    return true;
  };
  const CullShape west =
      primary_shape(0, {.at = {5, 5, 5}, .right = {0, 0, 1}, .forward = {-1, 0, 0}, .up = {0, 1, 0}},
                    {.tan_half_width = 0.5f, .tan_half_height = 0.25f, .near_distance = 2, .far_distance = 40});
  EXPECT_TRUE(holds(west, {-5, 5, 5}));       // 10 m ahead
  EXPECT_TRUE(holds(west, {-5, 5, 10}));      // and 5 m to the right, the border there
  EXPECT_FALSE(holds(west, {-5, 5, 10.1f}));  // and more
  EXPECT_TRUE(holds(west, {-5, 2.5f, 5}));    // 2.5 m down
  EXPECT_FALSE(holds(west, {-5, 2.4f, 5}));
  EXPECT_FALSE(holds(west, {15, 5, 5}));  // behind
  EXPECT_FALSE(holds(west, {4, 5, 5}));   // before the near plane
  EXPECT_TRUE(holds(west, {-35, 5, 5}));  // on the far plane
  EXPECT_FALSE(holds(west, {-35.1f, 5, 5}));
}

TEST(CullShape, SCAN2_ScreenProjectionByHand) {
  const Vec3 at{10, 20, 30};
  const ScreenProjection screen =
      screen_projection(at, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {.tan_half_width = 2, .tan_half_height = 0.5f});
  EXPECT_EQ(screen.x, (Vec4{0.5f, 0, 0, -5}));
  EXPECT_EQ(screen.y, (Vec4{0, 0, 2, -60}));
  EXPECT_EQ(screen.w, (Vec4{0, 1, 0, -20}));
  const auto place = [&](const Vec3& p, float& x, float& y) {
    const auto row = [&p](const Vec4& v) { return v.x * p.x + v.y * p.y + v.z * p.z + v.w; };
    x = row(screen.x) / row(screen.w);
    y = row(screen.y) / row(screen.w);
    return row(screen.w);
  };
  float x = 9, y = 9;
  EXPECT_EQ(place({10, 30, 30}, x, y), 10);  // straight ahead: the middle
  EXPECT_EQ(x, 0);
  EXPECT_EQ(y, 0);
  place({30, 30, 25}, x, y);  // 20 m right, 5 m down of 10 m ahead: the corner
  EXPECT_EQ(x, 1);
  EXPECT_EQ(y, -1);
  EXPECT_LT(place({10, 10, 30}, x, y), 0);  // behind
}

// --- order ---------------------------------------------------------------------------------------------------

std::vector<CullShape> all_sorts() {
  std::vector<CullShape> out;
  constexpr uint32_t kFlags[] = {kCullClipAndStorePortals, kCullTraversePortals, kCullPrimary, kCullCascadeShadows};
  for (uint32_t bits = 0; bits < 16; ++bits) {
    for (const uint8_t phase : {uint8_t{0}, uint8_t{7}, uint8_t{23}}) {
      CullShape shape = sphere_shape(phase, {}, 1);
      for (uint32_t i = 0; i < 4; ++i)
        if ((bits >> i & 1) != 0) shape.flags |= kFlags[i];
      out.push_back(shape);
      if (bits % 5 == 0) out.push_back(shape);  // equal ones
    }
  }
  return out;
}

// What std::sort may rely on, on every triple: the comparison of cascades and primary ones is where this once failed.
TEST(CullShape, SCAN2_OrderIsAStrictWeakOne) {
  const std::vector<CullShape> shapes = all_sorts();
  const auto equivalent = [](const CullShape& a, const CullShape& b) {
    return !comes_before(a, b) && !comes_before(b, a);
  };
  uint32_t before = 0, ties = 0;
  for (const CullShape& a : shapes) {
    ASSERT_FALSE(comes_before(a, a));
    for (const CullShape& b : shapes) {
      ASSERT_FALSE(comes_before(a, b) && comes_before(b, a));
      for (const CullShape& c : shapes) {
        if (comes_before(a, b) && comes_before(b, c)) {
          ASSERT_TRUE(comes_before(a, c));
          ++before;
        }
        if (equivalent(a, b) && equivalent(b, c)) {
          ASSERT_TRUE(equivalent(a, c));
          ++ties;
        }
      }
    }
  }
  EXPECT_GT(before, 10000u);
  EXPECT_GT(ties, static_cast<uint32_t>(shapes.size()));
}

// One of each, written down in the order that is promised.
TEST(CullShape, SCAN2_OrderIsAsSaid) {
  std::vector<CullShape> in_order;
  const auto add = [&in_order](uint32_t flags, uint8_t phase) {
    in_order.push_back(test::with_flags(sphere_shape(phase, {}, 1), flags));
  };
  constexpr uint32_t kStores = kCullClipAndStorePortals, kLooks = kCullTraversePortals;
  add(kStores | kLooks | kCullPrimary, 20);  // those that store: primary, others by phase, cascades
  add(kStores | kLooks, 3);
  add(kStores, 5);
  add(kStores | kLooks | kCullCascadeShadows, 1);
  add(kLooks | kCullPrimary, 22);  // those that look through portals
  add(kLooks | kCullReflections, 2);
  add(kLooks, 9);
  add(kLooks | kCullCascadeShadows, 0);
  add(kCullPrimary, 23);  // the rest
  add(kCullHeightMap, 4);
  add(0, 6);
  add(kCullCascadeShadows, 7);
  add(kCullCascadeShadows, 8);
  for (size_t a = 0; a < in_order.size(); ++a)
    for (size_t b = 0; b < in_order.size(); ++b)
      EXPECT_EQ(comes_before(in_order[a], in_order[b]), a < b) << a << " " << b;
}

// A scan takes them in any order, and looks at them in that one.
TEST(CullShape, SCAN2_AScanSortsItsShapes) {
  ScanKit kit;
  ASSERT_TRUE(kit.scan.begin_frame({}).ok());
  ASSERT_TRUE(kit.scan.add(test::with_flags(sphere_shape(1, {}, 1), kCullCascadeShadows)).ok());
  ASSERT_TRUE(kit.scan.add(sphere_shape(9, {}, 1)).ok());
  ASSERT_TRUE(kit.scan.add(test::with_flags(sphere_shape(3, {}, 1), kCullTraversePortals)).ok());
  ASSERT_TRUE(kit.scan.add(primary_shape(12)).ok());
  CullShape storing = test::with_flags(sphere_shape(11, {}, 1), kCullClipAndStorePortals);
  storing.quad_store = 2;
  ASSERT_TRUE(kit.scan.add(storing).ok());
  ASSERT_TRUE(kit.scan.start(kit.jobs).ok());
  const uint8_t expected[] = {11, 3, 12, 9, 1};
  ASSERT_EQ(kit.scan.shape_count(), 5u);
  for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(kit.scan.shape(i).phase, expected[i]) << i;
  EXPECT_TRUE(kit.scan.join().ok());
}

// --- masks ---------------------------------------------------------------------------------------------------

// The mask of all reflections is made of masks: 4, 5 and 6 or-ed as numbers would be 7, the bits of no reflection.
TEST(CullShape, DESC6_ReflectionsAreAskedForByMask) {
  static_assert(kReflectionMask == ((1 << 4) | (1 << 5) | (1 << 6)));
  ScanKit kit;
  EntityDesc reflected = test::cube_at({0, 10, 0}), drawn = reflected;
  reflected.mask = kReflectionMask;
  drawn.mask = visibility_bit(VisibilityType::gbuffer);
  const EntityHandle in_mirrors = kit.add(reflected), in_picture = kit.add(drawn);
  std::vector<CullShape> shapes;
  constexpr VisibilityType kTypes[] = {VisibilityType::gbuffer,
                                       VisibilityType::cascade_shadows,
                                       VisibilityType::paraboloid_shadows,
                                       VisibilityType::paraboloid_reflection,
                                       VisibilityType::water_reflection,
                                       VisibilityType::mirror_reflection};
  for (uint8_t i = 0; i < 6; ++i) shapes.push_back(sphere_shape(i, {}, 100, kTypes[i]));
  const std::vector<PvsEntry> seen = kit.run({}, shapes);
  EXPECT_EQ(ScanKit::drawn(seen, in_mirrors), 0b111000u);
  EXPECT_EQ(ScanKit::drawn(seen, in_picture), 0b000001u);
}

// --- levels --------------------------------------------------------------------------------------------------

TEST(CullShape, P095_ZoomByHand) {
  EXPECT_EQ(lod_zoom(1, 1), 1);
  EXPECT_EQ(lod_zoom(0.75f, 0.25f), 3);
  EXPECT_EQ(lod_zoom(0.25f, 0.5f), 0.5f);
  // 90 degrees as usual, and a scope of 10.68: tan 45 / tan 5.35 = 1 / 0.0936.
  EXPECT_NEAR(lod_zoom(1, 0.093645f), 10.68f, 0.01f);
}

/// Entities of one LOD distance, straight ahead; and how much of each is drawn.
struct Row {
  explicit Row(float distance, std::vector<float> places) {
    for (const float d : places) things.push_back(kit.add_cube({0, d, 0}, distance));
  }
  std::vector<uint32_t> alphas(const LodView& view) {
    const std::vector<PvsEntry> seen = kit.run({.lod = view}, {primary_shape(0), sphere_shape(1, {}, 1e5f)});
    std::vector<uint32_t> out;
    for (const EntityHandle thing : things) {
      const PvsEntry* const at = ScanKit::find(seen, thing);
      out.push_back(at != nullptr ? uint32_t{at->alpha} : 0);
    }
    return out;
  }
  ScanKit kit;
  std::vector<EntityHandle> things;
};
uint32_t alpha_at(float distance, float d, const LodView& view) { return Row(distance, {d}).alphas(view)[0]; }

// Through a lens of 10.7 what is 500 m away is drawn as from 500 / 10.7 = 46.7 m.
TEST(CullShape, P095_AScopeShowsTheLevelOfTheDistanceThatItShows) {
  LodView plain, scope;
  scope.zoom = 10.7f;
  EXPECT_EQ(alpha_at(47, 500, plain), 0u);
  EXPECT_EQ(alpha_at(47, 500, scope), 255u) << "drawn in full up to 502.9 m";
  EXPECT_EQ(alpha_at(46, 500, scope), 255u * 122 / 200) << "492.2 m, and 7.8 m into the fade of 20 m";
  EXPECT_EQ(alpha_at(44, 500, scope), 0u) << "470.8 m";
  LodView by_scale;
  for (float& scale : by_scale.scales) scale = 10.7f;
  EXPECT_EQ(alpha_at(47, 500, by_scale), 255u) << "the scale of a level does the same";
}

TEST(CullShape, P095_LevelsFallWithDistanceAndRiseWithScale) {
  std::vector<float> places;
  for (float d = 1; d < 400; d += 3) places.push_back(d);
  for (const float distance : {10.0f, 60.0f, 300.0f}) {
    Row row(distance, places);
    std::vector<uint32_t> before(places.size(), 0);
    uint32_t changes = 0;
    for (int step = 1; step <= 12; ++step) {
      LodView view;
      view.zoom = 0.25f * static_cast<float>(step);
      const std::vector<uint32_t> now = row.alphas(view);
      for (size_t i = 0; i < now.size(); ++i) {
        ASSERT_GE(now[i], before[i]) << places[i] << " m at " << view.zoom;
        if (i > 0) {
          ASSERT_LE(now[i], now[i - 1]) << places[i] << " m at " << view.zoom;
        }
        changes += now[i] != before[i] ? 1 : 0;
      }
      before = now;
    }
    EXPECT_GT(changes, 10u);
  }
}

// Nothing is divided by a depth: a box around the camera is of the level of its distance, whichever way one looks.
TEST(CullShape, P095_ABoxAroundTheCameraIsOfOneLevelFromAllSides) {
  ScanKit kit;
  EntityDesc desc = test::cube_at({0, 60, 0}, 50);
  desc.half = {100, 100, 100};
  const EntityHandle hall = kit.add(desc);
  const Eye eyes[] = {{},
                      {.right = {-1, 0, 0}, .forward = {0, -1, 0}},
                      {.right = {0, 1, 0}, .forward = {-1, 0, 0}},
                      {.forward = {0, 0, 1}, .up = {0, -1, 0}},
                      {.forward = {0, 0, -1}, .up = {0, 1, 0}}};
  for (const Eye& eye : eyes) {
    const std::vector<PvsEntry> seen = kit.run({}, {primary_shape(0, eye)});
    const PvsEntry* const at = ScanKit::find(seen, hall);
    ASSERT_NE(at, nullptr);
    EXPECT_EQ(at->visible_phases, phase_bit(0));
    EXPECT_EQ(at->distance, 60);
    EXPECT_EQ(at->alpha, 127u) << "floor(255 * (50 + 20 - 60) / 20)";
  }
}

}  // namespace
}  // namespace meridian
