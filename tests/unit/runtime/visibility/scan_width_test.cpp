// SPDX-License-Identifier: MIT
// SCAN-11: whatever the width of vectors and the state that a thread's floats are in, a scan sees the same, bit for
// bit.
#include <gtest/gtest.h>

#include <random>

#include "meridian/base/simd.h"
#include "support/scan_views.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace meridian {
namespace {

using test::cube_at;
using test::ScanKit;
using test::ScanView;
using test::ScanWorld;
using test::sphere_shape;

#ifndef MERIDIAN_SCAN_WORLDS
#define MERIDIAN_SCAN_WORLDS 120
#endif

TEST(ScanWidth, SCAN11_AllWidthsSeeTheSame) {
  const uint32_t seed = std::random_device()();
  uint64_t compared = 0;
  for (uint32_t i = 0; i < MERIDIAN_SCAN_WORLDS && !HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed + i));
    const bool is_far = i % 2 == 1;
    ScanWorld world(seed + i, is_far ? Vec3{-16000, 16000, 0} : Vec3{}, is_far ? 300.0f : 60.0f);
    for (int v = 0; v < 4; ++v) {
      SCOPED_TRACE("view " + std::to_string(v));
      ScanView view;
      random_view(world, view);
      compared += expect_equal_widths(world.kit, view.frame, view.shapes);
    }
  }
  EXPECT_TRUE(compared > MERIDIAN_SCAN_WORLDS * 100 || best_simd_width() == SimdWidth::scalar) << compared;
}

// Containers of all sizes: the last group of lanes is cut wherever the end is.
TEST(ScanWidth, SCAN11_ContainersOfEveryLength) {
  ScanKit kit;
  StreamedNode& node = kit.add_node();
  for (uint32_t count = 1; count <= kContainerSlots; ++count) {
    kit.add(cube_at({static_cast<float>(count % 20), static_cast<float>(count / 20), 0}), &node);
    const CullShape all = sphere_shape(3, {}, 1000);
    expect_equal_widths(kit, {}, std::span(&all, 1));
    ASSERT_EQ(kit.scan.results().needed, count);
    ASSERT_FALSE(HasFailure());
  }
}

#if defined(__x86_64__)
/// Runs each job at once, with the thread's floats set as no job should find them.
class OddModeJobs final : public JobSystem {
 public:
  explicit OddModeJobs(uint32_t mode) : mode_(mode) {}
  void run(const Job& job, JobPriority, JobCounter& counter) override {
    counter.add(1);
    const uint32_t before = _mm_getcsr();
    _mm_setcsr(before | mode_);
    job.function(job.context, job.begin, job.end);
    EXPECT_EQ(_mm_getcsr() & 0xE040, mode_) << "and as it was, for the next one";
    _mm_setcsr(before);
    counter.finish();
  }
  void parallel_for(uint32_t count, uint32_t grain, JobFunction function, void* context, JobPriority priority,
                    JobCounter& counter) override {
    for (uint32_t i = 0; i < count; i += grain)
      run({function, context, i, std::min(count, i + grain)}, priority, counter);
  }
  void wait(JobCounter& counter) override { EXPECT_TRUE(counter.is_done()); }
  bool try_run_one(JobCounter&) override { return false; }
  uint32_t worker_count() const override { return 0; }

 private:
  uint32_t mode_;
};

constexpr uint32_t kFlushToZero = 0x8040, kRoundUp = 0x4000, kRoundDown = 0x2000;

TEST(ScanWidth, SCAN11_TheStateOfAThreadsFloatsIsOfNoMatter) {
  const uint32_t seed = std::random_device()();
  for (const uint32_t mode : {kFlushToZero, kRoundUp, kRoundDown, kFlushToZero | kRoundUp}) {
    OddModeJobs odd(mode);
    for (uint32_t i = 0; i < 10; ++i) {
      SCOPED_TRACE("seed " + std::to_string(seed + i));
      ScanWorld world(seed + i, {16000, 16000, 0}, 100);
      ScanView view;
      random_view(world, view);
      const std::vector<PvsEntry> expected = world.kit.run(view.frame, view.shapes);
      ASSERT_EQ(test::run_scan(world.kit.scan, view.frame, view.shapes, odd), expected) << mode;
    }
  }
}

// Squares of 1e-20 are numbers still, but not for who flushes them to zero: 1.1e-20 m away is outside of 1e-20 m.
TEST(ScanWidth, SCAN11_SmallNumbersAreNotLost) {
  ScanKit kit;
  EntityDesc point = cube_at({1.1e-20f, 0, 0});
  point.half = {};
  kit.add(point);
  point.centre.x = 0.9e-20f;
  const EntityHandle inside = kit.add(point);
  const CullShape shape = sphere_shape(0, {}, 1e-20f);
  OddModeJobs odd(kFlushToZero);
  for (const SimdWidth width : {SimdWidth::scalar, SimdWidth::bits128, SimdWidth::bits256, SimdWidth::bits512}) {
    if (!set_simd_width(width)) continue;
    const std::vector<PvsEntry> seen = test::run_scan(kit.scan, {}, std::span(&shape, 1), odd);
    ASSERT_EQ(seen.size(), 1u) << to_string(width);
    EXPECT_EQ(seen[0].entity, inside);
  }
  EXPECT_TRUE(set_simd_width(best_simd_width()));
}
#endif

}  // namespace
}  // namespace meridian
