// SPDX-License-Identifier: MIT
// Drawing occluders and testing boxes against the picture, on one thread, beside the plainest way to cull: a loop over
// the boxes of 100 000 entities and the planes of one frustum (PERF-8).
//
// occlusion_bench --profile KIND: 64 rounds with nothing timed, for profilers; KIND is raster or test.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "meridian/base/geometry.h"
#include "meridian/base/random.h"
#include "meridian/base/simd.h"
#include "meridian/jobs/serial_jobs.h"
#include "meridian/visibility/occlusion_buffer.h"

namespace {

using namespace meridian;

constexpr uint32_t kOccluders = 200;  // 2 400 triangles
constexpr uint32_t kTested = 10'000, kEntities = 100'000;

void require(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "occlusion_bench: %s\n", what);
  std::abort();
}

OcclusionView street() { return {.position = {0, 0, 6}, .half_width = 1, .half_height = 0.5f, .near_distance = 0.2f}; }

/// Houses of a city in front of the camera, each turned as it likes.
struct City {
  OccluderSet set;
  SerialJobs jobs;
  OcclusionBuffer buffer;
  std::vector<float> numbers[6];  // boxes to be tested: centres and half extents

  City() {
    require(set.init().ok() && buffer.init().ok(), "no memory");
    Random random(77);
    for (uint32_t i = 0; i < kOccluders; ++i) {
      const float far = 25 + 500 * random.unit() * random.unit(), side = random.between(-1.0f, 1.0f) * far;
      const float turn = random.between(0.0f, 1.57f), high = random.between(4.0f, 25.0f);
      const float s = std::sin(turn), c = std::cos(turn);
      const OccludingBox house{.centre = {side, far, high},
                               .x_axis = {c, s, 0},
                               .y_axis = {-s, c, 0},
                               .half = {random.between(4.0f, 14.0f), random.between(4.0f, 14.0f), high}};
      require(set.add_box({.imap = 1, .index = i}, house).ok(), "an occluder was refused");
    }
    for (auto& of : numbers) of.resize(kTested + 16);
    for (uint32_t i = 0; i < kTested; ++i) {
      const float far = 10 + 700 * random.unit();
      numbers[0][i] = random.between(-1.0f, 1.0f) * far;
      numbers[1][i] = far;
      numbers[2][i] = random.between(0.0f, 12.0f);
      for (uint32_t k = 3; k < 6; ++k) numbers[k][i] = random.between(0.2f, 4.0f);
    }
    draw();
  }
  void draw() { require(buffer.rasterise(set, street(), jobs).ok(), "no picture"); }
  uint32_t test() const {
    uint32_t hidden = 0;
    for (uint32_t i = 0; i < kTested; i += 32) {
      const OcclusionBoxes boxes{&numbers[0][i], &numbers[1][i], &numbers[2][i],
                                 &numbers[3][i], &numbers[4][i], &numbers[5][i]};
      const uint32_t count = kTested - i < 32 ? kTested - i : 32;
      const uint32_t mask = count < 32 ? (1u << count) - 1 : 0xFFFFFFFF;
      hidden += static_cast<uint32_t>(__builtin_popcount(buffer.hidden(boxes, mask)));
    }
    return hidden;
  }
};
City& city() {
  static City it;
  return it;
}

void occlusion_raster(benchmark::State& state, SimdWidth width) {
  require(set_simd_width(width), "no such width");
  for (auto _ : state) {
    city().draw();
    benchmark::DoNotOptimize(city().buffer.nearness().data());
  }
  state.counters["drawn"] = city().buffer.statistics().primitives;
  set_simd_width(best_simd_width());
}

void occlusion_test(benchmark::State& state, SimdWidth width) {
  require(set_simd_width(width), "no such width");
  uint32_t hidden = 0;
  for (auto _ : state) benchmark::DoNotOptimize(hidden = city().test());
  state.counters["hidden"] = hidden;
  set_simd_width(best_simd_width());
}

/// What a program without any structure does.
struct Entity {
  Vec3 centre, half;
  uint32_t more[2] = {};
};
void scalar_cull(benchmark::State& state) {
  std::vector<Entity> entities(kEntities);
  Random random(2024);
  for (Entity& e : entities) {
    e.centre = {random.between(-4500.0f, 4500.0f), random.between(-6000.0f, 6000.0f), random.between(0.0f, 60.0f)};
    e.half = {random.between(0.2f, 8.0f), random.between(0.2f, 8.0f), random.between(0.2f, 12.0f)};
  }
  // As maps bring them: those of a cell of 500 m one behind the other, which processors guess better.
  const auto cell = [](const Entity& e) { return std::floor(e.centre.y / 500) * 100 + std::floor(e.centre.x / 500); };
  std::sort(entities.begin(), entities.end(), [&](const Entity& a, const Entity& b) { return cell(a) < cell(b); });
  const float slant = 1 / std::sqrt(2.0f), low = 1 / std::sqrt(1.25f);
  const Vec3 eye = street().position;
  Plane planes[6] = {{{slant, slant, 0}, 0},     {{-slant, slant, 0}, 0}, {{0, low * 0.5f, low}, 0},
                     {{0, low * 0.5f, -low}, 0}, {{0, 1, 0}, -0.2f},      {{0, -1, 0}, 1000}};
  for (Plane& plane : planes) plane.d -= dot(plane.normal, eye);
  std::vector<uint32_t> seen(kEntities);
  uint32_t count = 0;
  for (auto _ : state) {
    count = 0;
    for (uint32_t i = 0; i < kEntities; ++i) {
      const Entity& e = entities[i];
      bool is_in = true;
      for (const Plane& p : planes) {
        const float reach =
            std::fabs(p.normal.x) * e.half.x + std::fabs(p.normal.y) * e.half.y + std::fabs(p.normal.z) * e.half.z;
        if (dot(p.normal, e.centre) + p.d < -reach) {
          is_in = false;
          break;
        }
      }
      if (is_in) seen[count++] = i;
    }
    benchmark::DoNotOptimize(seen.data());
    benchmark::ClobberMemory();
  }
  state.counters["seen"] = count;
}

/// Profilers collect in here alone.
__attribute__((noinline)) void profiled_frame(bool is_raster) {
  if (is_raster) {
    city().draw();
  } else {
    benchmark::DoNotOptimize(city().test());
  }
}

int profile(const std::string& kind) {
  require(kind == "raster" || kind == "test", "--profile raster or test");
  constexpr uint32_t kRounds = 64;
  for (uint32_t i = 0; i < kRounds; ++i) profiled_frame(kind == "raster");
  std::printf("%u frames\n", kRounds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--profile") == 0) return profile(argv[2]);
  benchmark::RegisterBenchmark("BM_scalar_cull", scalar_cull);
  constexpr struct {
    SimdWidth width;
    const char* name;
  } kWidths[] = {{SimdWidth::scalar, "scalar"},
                 {SimdWidth::bits128, "128"},
                 {SimdWidth::bits256, "256"},
                 {SimdWidth::bits512, "512"}};
  for (const auto& w : kWidths) {
    if (!has_simd_width(w.width)) continue;
    benchmark::RegisterBenchmark((std::string("BM_occlusion_raster_") + w.name).c_str(), occlusion_raster, w.width);
    benchmark::RegisterBenchmark((std::string("BM_occlusion_test_") + w.name).c_str(), occlusion_test, w.width);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
