// SPDX-License-Identifier: MIT
#include "meridian/core/timer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "meridian/base/assert.h"
#include "support/captured.h"

namespace meridian {
namespace {

using enum TimeDomain;

constexpr TimeDomain kAll[] = {system,
                               game,
                               non_paused_game,
                               scaled_non_clipped,
                               non_scaled_clipped,
                               camera,
                               non_pausable_camera,
                               non_paused_non_scaled_clipped,
                               replay};
static_assert(std::size(kAll) == kTimeDomainCount);

/// A domain as design and seed have it, written down a second time, by hand.
struct Expected {
  TimeDomain domain;
  bool is_scaled, is_scaled_with_cameras, is_clipped, runs_in_pause;
};
constexpr Expected kExpected[] = {
    {system, false, false, false, true},
    {game, true, true, true, false},
    {non_paused_game, true, true, true, true},
    {scaled_non_clipped, true, true, false, false},
    {non_scaled_clipped, false, false, true, false},
    {camera, false, true, true, false},
    {non_pausable_camera, false, true, true, true},
    {non_paused_non_scaled_clipped, false, false, true, true},
    {replay, true, true, true, false},
};

std::string name_of(TimeDomain domain) { return kTimeDomainRules[static_cast<size_t>(domain)].name; }

/// A domain's time as one number. Fits for half a year.
uint64_t picoseconds(const Timer& timer, TimeDomain domain) {
  const TimeSet& time = timer.time(domain);
  return time.milliseconds * 1'000'000'000 + time.remainder_ps;
}

/// How often one broken contract is told.
constexpr size_t kOneAssert = test::kAsserts ? 1 : 0;

// TIME-1: before anything ran.
TEST(Timer, StartsAtZeroWithATwentiethAsStep) {
  const Timer timer;
  for (const TimeDomain domain : kAll) {
    const TimeSet& time = timer.time(domain);
    EXPECT_EQ(time.milliseconds, 0u);
    EXPECT_EQ(time.frame_count, 0u);
    EXPECT_EQ(time.step_s, 0.05f);
    EXPECT_EQ(time.step_ms, 50.0f);
    EXPECT_EQ(time.inverse_step, 20.0f);
  }
}

// TIME-1: the table of scaling, clipping and pausing, by what the domains do. TIME-3: non_scaled_clipped is clipped.
TEST(Timer, EveryDomainScalesAndClipsAsTheTableSays) {
  for (const bool cameras : {false, true}) {
    for (const Expected& expected : kExpected) {
      SCOPED_TRACE(name_of(expected.domain) + (cameras ? " with cameras" : ""));
      const bool is_scaled = cameras ? expected.is_scaled_with_cameras : expected.is_scaled;
      Timer timer({.scale_cameras = cameras});
      timer.set_warp(WarpSource::script, 0.5);
      timer.update(1.0 / 32);  // 31.25 ms: inside of all limits, and so is its half
      EXPECT_EQ(picoseconds(timer, expected.domain), is_scaled ? 15'625'000'000u : 31'250'000'000u);
      EXPECT_EQ(timer.time(expected.domain).step_s, is_scaled ? 0.015625f : 0.03125f);
      EXPECT_EQ(timer.time(expected.domain).inverse_step, is_scaled ? 64.0f : 32.0f);
      EXPECT_EQ(timer.time(expected.domain).step_ms, is_scaled ? 15.625f : 31.25f);
      EXPECT_EQ(timer.time(expected.domain).frame_count, 1u);

      const uint64_t before = picoseconds(timer, expected.domain);
      timer.update(4.0);  // far too long; a fifteenth is 66 666 666 666.67 ps
      const uint64_t step = picoseconds(timer, expected.domain) - before;
      EXPECT_EQ(step, expected.is_clipped ? 66'666'666'667u : is_scaled ? 2'000'000'000'000u : 4'000'000'000'000u);
    }
  }
}

// TIME-1: what goes on in a pause. TIME-4: a pause takes effect with the next update, and so does its end.
TEST(Timer, APauseBeginsAndEndsWithAnUpdate) {
  Timer timer;
  timer.update(0.03125);
  timer.pause(PauseSource::user);
  EXPECT_FALSE(timer.is_paused());
  EXPECT_TRUE(timer.will_pause());
  EXPECT_EQ(timer.time(game).step_s, 0.03125f);

  timer.update(0.03125);
  EXPECT_TRUE(timer.is_paused());
  for (const Expected& expected : kExpected) {
    SCOPED_TRACE(name_of(expected.domain));
    const TimeSet& time = timer.time(expected.domain);
    EXPECT_EQ(time.frame_count, expected.runs_in_pause ? 2u : 1u);
    EXPECT_EQ(picoseconds(timer, expected.domain), expected.runs_in_pause ? 62'500'000'000u : 31'250'000'000u);
    EXPECT_EQ(time.previous_milliseconds, 31u);
    const bool has_step = expected.runs_in_pause || expected.domain == camera;  // the camera's step is still set
    EXPECT_EQ(time.step_s, has_step ? 0.03125f : 0.0f);
    EXPECT_EQ(time.inverse_step, has_step ? 32.0f : 0.0f);
  }

  timer.resume(PauseSource::user);
  EXPECT_TRUE(timer.is_paused());
  timer.update(0.03125);
  EXPECT_FALSE(timer.is_paused());
  EXPECT_EQ(picoseconds(timer, game), 62'500'000'000u);
  EXPECT_EQ(picoseconds(timer, system), 93'750'000'000u);
}

// TIME-4
TEST(Timer, APauseLastsUntilNobodyWantsIt) {
  Timer timer;
  timer.pause(PauseSource::user);
  timer.pause(PauseSource::script);
  timer.update(0.03125);
  timer.resume(PauseSource::user);
  timer.update(0.03125);
  EXPECT_TRUE(timer.is_paused());
  timer.resume(PauseSource::script);
  timer.resume(PauseSource::debug);  // never asked for: nothing
  timer.update(0.03125);
  EXPECT_FALSE(timer.is_paused());
  EXPECT_EQ(timer.time(game).frame_count, 1u);
}

// TIME-4
TEST(Timer, APauseThatIsTakenBackBeforeTheUpdateNeverWas) {
  Timer timer;
  timer.pause(PauseSource::user);
  timer.resume(PauseSource::user);
  timer.update(0.03125);
  EXPECT_FALSE(timer.is_paused());
  EXPECT_EQ(timer.time(game).frame_count, 1u);
}

// TIME-4
TEST(Timer, ASingleStepLetsOneFrameOfAPauseRun) {
  Timer timer;
  timer.single_step();  // no pause: no effect, and it is not kept for later
  timer.update(0.03125);
  timer.pause(PauseSource::debug);
  timer.update(0.03125);
  EXPECT_EQ(timer.time(game).frame_count, 1u);
  timer.single_step();
  timer.update(0.03125);
  EXPECT_TRUE(timer.is_paused());
  for (const Expected& expected : kExpected) {
    EXPECT_EQ(timer.time(expected.domain).frame_count, expected.runs_in_pause ? 3u : 2u) << name_of(expected.domain);
  }
  EXPECT_EQ(timer.time(game).step_s, 0.03125f);
  timer.update(0.03125);
  EXPECT_EQ(timer.time(game).frame_count, 2u);
  EXPECT_EQ(timer.time(game).step_s, 0.0f);
}

// TIME-4: both take effect at one update, so a pause may be asked for together with its first step.
TEST(Timer, ASingleStepThatComesWithThePauseRuns) {
  Timer timer;
  timer.pause(PauseSource::debug);
  timer.single_step();
  timer.update(0.03125);
  EXPECT_TRUE(timer.is_paused());
  EXPECT_EQ(timer.time(game).frame_count, 1u);
}

// TIME-1: a million frames at 144 Hz drift less than 1 ms. The exact time is 10^6 / 144 s = 6 944 444 444 444 444.4 ps;
// half a picosecond a frame is the most that rounding may cost.
TEST(Timer, AMillionFramesAt144HzDoNotDrift) {
  Timer timer;
  for (int i = 0; i < 1'000'000; ++i) timer.update(1.0 / 144);
  constexpr uint64_t kExact = 1'000'000ull * 1'000'000'000'000ull / 144;
  static_assert(kExact == 6'944'444'444'444'444);
  for (const TimeDomain domain : kAll) {
    SCOPED_TRACE(name_of(domain));
    const uint64_t time = picoseconds(timer, domain);
    EXPECT_LE(time > kExact ? time - kExact : kExact - time, 500'000u);
    EXPECT_EQ(timer.time(domain).milliseconds, 6'944'444u);
    EXPECT_EQ(timer.time(domain).frame_count, 1'000'000u);
  }
}

// TIME-1: the same for steps that differ, in whole nanoseconds, against a sum of integers; scaled by a third too.
TEST(Timer, RandomStepsAddUpToTheirSum) {
  constexpr uint32_t kSeed = 20240607;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  Timer timer;
  timer.set_warp(WarpSource::camera, 0.25);
  uint64_t total_ns = 0, clipped_ps = 0;
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t step_ns = 1'000 + random() % 100'000'000;  // 1 us to 100 ms
    timer.update(static_cast<double>(step_ns) * 1e-9);
    total_ns += step_ns;
    clipped_ps += step_ns < 333'334 ? 333'333'333 : step_ns >= 66'666'667 ? 66'666'666'667 : step_ns * 1000;
    ASSERT_EQ(picoseconds(timer, system), total_ns * 1000) << i;
    ASSERT_EQ(picoseconds(timer, scaled_non_clipped), total_ns * 250) << i;
    ASSERT_EQ(picoseconds(timer, non_scaled_clipped), clipped_ps) << i;
    ASSERT_LE(timer.time(system).previous_milliseconds, timer.time(system).milliseconds);
    ASSERT_LT(timer.time(system).remainder_ps, 1'000'000'000u);
  }
}

// TIME-1
TEST(Timer, MillisecondsCarryTheirRemainder) {
  Timer timer;
  const uint64_t expected[] = {0, 1, 1, 2, 3, 3};  // 0.625, 1.25, 1.875, 2.5, 3.125, 3.75
  uint64_t previous = 0;
  for (const uint64_t milliseconds : expected) {
    timer.update(0.000625);
    EXPECT_EQ(timer.time(game).milliseconds, milliseconds);
    EXPECT_EQ(timer.time(game).previous_milliseconds, previous);
    previous = milliseconds;
  }
  EXPECT_EQ(timer.time(game).remainder_ps, 750'000'000u);
}

// TIME-2
TEST(Timer, WarpIsTheSmallestSourceBelowOneOrElseTheGlobalScale) {
  Timer timer;
  EXPECT_EQ(timer.warp(), 1.0);
  timer.set_global_scale(2.0);
  EXPECT_EQ(timer.warp(), 2.0);
  timer.set_warp(WarpSource::camera, 3.0);  // not below 1
  EXPECT_EQ(timer.warp(), 2.0);
  const WarpSource sources[] = {WarpSource::script, WarpSource::ui, WarpSource::special_ability, WarpSource::camera};
  const double scales[] = {0.5, 0.75, 0.25, 0.125};
  const double expected[] = {0.5, 0.5, 0.25, 0.125};
  for (int i = 0; i < 4; ++i) {
    timer.set_warp(sources[i], scales[i]);
    EXPECT_EQ(timer.warp(), expected[i]);
  }
  timer.set_debug_scale(4.0);
  EXPECT_EQ(timer.warp(), 0.5);
  for (const WarpSource source : sources) timer.set_warp(source, 1.0);
  EXPECT_EQ(timer.warp(), 8.0);
}

// TIME-2
TEST(Timer, FinalBuildsIgnoreTheDebugScale) {
  Timer timer({.is_final = true});
  timer.set_debug_scale(4.0);
  timer.set_global_scale(0.5);
  EXPECT_EQ(timer.warp(), 0.5);
  timer.update(0.03125);
  EXPECT_EQ(timer.time(game).step_s, 0.015625f);
}

// TIME-3: scaling first, then [1/3000, 1/15].
TEST(Timer, ClippingComesAfterScaling) {
  Timer timer;
  timer.set_global_scale(1.0 / 1024);
  timer.update(0.0625);  // 61 us: below 333 333 333 ps
  EXPECT_EQ(picoseconds(timer, game), 333'333'333u);
  EXPECT_EQ(picoseconds(timer, scaled_non_clipped), 61'035'156u);  // 62.5e9 / 1024 = 61 035 156.25
  EXPECT_EQ(timer.time(game).inverse_step, 3000.0f);
  timer.set_global_scale(2.0);
  timer.update(0.0625);
  EXPECT_EQ(timer.time(game).step_s, static_cast<float>(1.0 / 15));
}

// TIME-3: a scale of 0 stops what isn't clipped, and slows the rest to the shortest step.
TEST(Timer, AStepOfZeroHasNoInverse) {
  Timer timer;
  timer.set_warp(WarpSource::ui, 0.0);
  timer.update(0.03125);
  EXPECT_EQ(timer.time(scaled_non_clipped).step_s, 0.0f);
  EXPECT_EQ(timer.time(scaled_non_clipped).inverse_step, 0.0f);
  EXPECT_EQ(timer.time(scaled_non_clipped).frame_count, 1u);
  EXPECT_EQ(picoseconds(timer, game), 333'333'333u);
}

// TIME-4
TEST(Timer, AFixedStepReplacesAllButRealTime) {
  Timer timer({.fixed_step_s = 0.03125});
  timer.set_warp(WarpSource::script, 0.5);
  timer.update(0.5);
  timer.update(0.001);
  EXPECT_EQ(picoseconds(timer, system), 501'000'000'000u);
  EXPECT_EQ(picoseconds(timer, game), 31'250'000'000u);
  EXPECT_EQ(picoseconds(timer, scaled_non_clipped), 31'250'000'000u);
  EXPECT_EQ(picoseconds(timer, non_scaled_clipped), 62'500'000'000u);
}

// TIME-4
TEST(Timer, AForcedRateReplacesRealTimeToo) {
  Timer timer({.forced_rate_hz = 32});
  timer.update(0.5);
  for (const TimeDomain domain : kAll) EXPECT_EQ(picoseconds(timer, domain), 31'250'000'000u) << name_of(domain);
}

// TIME-4: a maximum rate is a shortest frame; slow motion may still be slower.
TEST(Timer, AMaximumRateIsAShortestFrame) {
  Timer timer({.max_rate_hz = 64});
  EXPECT_DOUBLE_EQ(timer.missing_s(0.005), 0.010625);
  EXPECT_EQ(timer.missing_s(0.02), 0.0);
  timer.update(0.005);
  EXPECT_EQ(picoseconds(timer, system), 5'000'000'000u);
  EXPECT_EQ(picoseconds(timer, game), 15'625'000'000u);
  timer.set_warp(WarpSource::camera, 0.125);
  timer.update(0.005);
  EXPECT_EQ(picoseconds(timer, game), 15'625'000'000u + 1'953'125'000u);
  EXPECT_EQ(Timer().missing_s(0), 0.0);
}

TEST(Timer, AConfigurationTakesEffectWithTheNextUpdate) {
  Timer timer;
  timer.update(0.03125);
  timer.configure({.max_step_s = 0.015625});
  EXPECT_EQ(timer.time(game).step_s, 0.03125f);
  timer.update(0.03125);
  EXPECT_EQ(timer.time(game).step_s, 0.015625f);
}

TEST(Timer, ASetTimeGoesOnFromThere) {
  Timer timer;
  timer.update(0.03125);
  timer.set_milliseconds(game, 5000);
  EXPECT_EQ(timer.time(game).previous_milliseconds, 5000u);
  timer.update(0.03125);
  EXPECT_EQ(picoseconds(timer, game), 5'031'250'000'000u);
  EXPECT_EQ(timer.time(game).frame_count, 2u);
  EXPECT_EQ(picoseconds(timer, system), 62'500'000'000u);
}

TEST(Timer, StepsThatAreNoTimeAreAFaultAndDoNoHarm) {
  const test::BrokenContracts contracts;
  Timer timer;
  timer.update(-1.0);
  timer.update(std::nan(""));
  EXPECT_EQ(picoseconds(timer, system), 0u);
  timer.update(std::numeric_limits<double>::infinity());
  EXPECT_EQ(timer.time(system).milliseconds, 1'000'000'000u);
  EXPECT_EQ(contracts.count(), 3 * kOneAssert);
}

TEST(Timer, ScalesAndLimitsThatMakeNoSenseAreAFault) {
  const test::BrokenContracts contracts;
  Timer timer;
  timer.set_warp(WarpSource::ui, -0.5);
  timer.set_global_scale(std::nan(""));
  timer.set_debug_scale(std::numeric_limits<double>::infinity());
  timer.configure({.min_step_s = 0.1, .max_step_s = 0.05});
  EXPECT_EQ(contracts.count(), 4 * kOneAssert);
  EXPECT_EQ(timer.warp(), 1.0);
  timer.update(0.03125);
  EXPECT_EQ(timer.time(scaled_non_clipped).step_s, 0.03125f);
}

}  // namespace
}  // namespace meridian
