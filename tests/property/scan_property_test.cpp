// SPDX-License-Identifier: MIT
// SCAN-7, SCAN-8, SCAN-11, P064, P073, P074: 10 000 random views of random worlds. Scans see what a plain list of all
// entities says; no width of vectors changes a bit. MERIDIAN_PROPERTY_SEED sets another seed.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/scan_oracle.h"

namespace meridian::test {
namespace {

uint32_t number_of(const char* variable, uint32_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : otherwise;
}
uint32_t first_seed() { return number_of("MERIDIAN_PROPERTY_SEED", 1); }
uint32_t all_views() {
#ifdef NDEBUG
  return 10 * number_of("MERIDIAN_PROPERTY_CASES", 1000);
#else
  return 10 * number_of("MERIDIAN_PROPERTY_CASES", 100);
#endif
}
constexpr uint32_t kViewsOfAWorld = 5;

struct Place {
  const char* name;
  Vec3 middle;
  float reach;
};
constexpr Place kPlaces[] = {{"at the origin", {}, 100},
                             {"at 16 km", {16000, -16000, 40}, 150},
                             {"at 65 km", {65000, 65000, -300}, 400},
                             {"wide", {-3000, 2000, 0}, 1500},
                             {"small", {0.25f, 0.125f, 1}, 12}};

/// Calls `body` for each of the worlds with a trace of its seed.
template <class Body>
void for_all_worlds(uint32_t views, Body&& body) {
  for (uint32_t i = 0; i < std::max(views / kViewsOfAWorld, 1u); ++i) {
    const Place& place = kPlaces[i % std::size(kPlaces)];
    const uint32_t seed = first_seed() + i;
    SCOPED_TRACE("MERIDIAN_PROPERTY_SEED=" + std::to_string(seed) + ", " + place.name);
    ScanWorld world(seed, place.middle, place.reach);
    for (uint32_t v = 0; v < kViewsOfAWorld; ++v) {
      SCOPED_TRACE("view " + std::to_string(v));
      ScanView view;
      random_view(world, view);
      body(world, view);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(ScanProperty, SeesWhatAPlainListSees) {
  ScanTally tally;
  for_all_worlds(all_views(), [&](ScanWorld& world, const ScanView& view) {
    compare(world.entities, view, world.kit.scan, world.kit.run(view.frame, view.shapes), tally);
  });
  std::printf("%llu entities, %llu seen by a phase; of those %.4f %% beside a volume, of the alphas %.2f %% exact\n",
              static_cast<unsigned long long>(tally.entities), static_cast<unsigned long long>(tally.seen),
              100.0 * static_cast<double>(tally.false_visible) / static_cast<double>(tally.seen),
              100.0 * static_cast<double>(tally.exact_alphas) / static_cast<double>(tally.entries));
  EXPECT_GT(tally.seen, tally.entities / 20);
  EXPECT_GT(tally.exact_alphas, tally.loose_alphas * 20);
  EXPECT_LT(tally.false_visible * 100, tally.seen);
}

// 10 million entities, each for each of the shapes, in each width.
TEST(ScanProperty, AllWidthsSeeTheSame) {
  uint64_t compared = 0;
  const uint64_t wanted = uint64_t{all_views()} * 1000;
  for_all_worlds(all_views() * 4, [&](ScanWorld& world, const ScanView& view) {
    if (compared < wanted) compared += expect_equal_widths(world.kit, view.frame, view.shapes);
  });
  std::printf("%llu cases\n", static_cast<unsigned long long>(compared));
  EXPECT_TRUE(compared >= wanted || best_simd_width() == SimdWidth::scalar) << compared;
}

}  // namespace
}  // namespace meridian::test
