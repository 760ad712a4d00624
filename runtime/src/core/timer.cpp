// SPDX-License-Identifier: MIT
#include "meridian/core/timer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "meridian/base/assert.h"

namespace meridian {
namespace {

// 2^64 ps are 213 days: enough for a step (kMaxTimeStep is 12 days), not for a time. That is whole milliseconds, and a
// remainder in picoseconds.
constexpr double kPerSecond = 1e12;
constexpr uint64_t kPerMillisecond = 1'000'000'000;

/// Whether `value` is a number in [low, high]. False for NaN.
constexpr bool is_within(double value, double low, double high) { return value >= low && value <= high; }

constexpr bool is_scale(double value) { return is_within(value, 0, std::numeric_limits<double>::max()); }

/// The nearest whole number of picoseconds. Takes any double.
uint64_t to_picoseconds(double picoseconds) {
  if (!(picoseconds > 0)) return 0;  // NaN as well
  return static_cast<uint64_t>(std::llround(std::min(picoseconds, kMaxTimeStep * kPerSecond)));
}

uint64_t scaled(uint64_t step, double scale) {
  return scale == 1 ? step : to_picoseconds(static_cast<double>(step) * scale);
}

void set_step(TimeSet& time, uint64_t step) {
  const double seconds = static_cast<double>(step) / kPerSecond;
  time.step_s = static_cast<float>(seconds);
  time.step_ms = static_cast<float>(seconds * 1e3);
  time.inverse_step = step != 0 ? static_cast<float>(1 / seconds) : 0.0f;
}

void advance(TimeSet& time, uint64_t step) {
  const uint64_t sum = time.remainder_ps + step;
  time.milliseconds += sum / kPerMillisecond;
  time.remainder_ps = static_cast<uint32_t>(sum % kPerMillisecond);
  ++time.frame_count;
}

constexpr uint8_t bit_of(PauseSource source) { return static_cast<uint8_t>(1u << static_cast<uint8_t>(source)); }

}  // namespace

Timer::Timer(const TimerConfig& config) { configure(config); }

void Timer::configure(const TimerConfig& config) {
  MERIDIAN_ASSERT(config.min_step_s > 0 && is_within(config.max_step_s, config.min_step_s, kMaxTimeStep),
                  "0 < min_step_s <= max_step_s <= kMaxTimeStep");
  MERIDIAN_ASSERT(is_within(config.fixed_step_s, 0, kMaxTimeStep), "0 <= fixed_step_s <= kMaxTimeStep");
  MERIDIAN_ASSERT(config.forced_rate_hz >= 0 && config.max_rate_hz >= 0, "a rate is not negative");
  config_ = config;
}

double Timer::missing_s(double elapsed_s) const {
  return config_.max_rate_hz > 0 ? std::max(0.0, 1 / config_.max_rate_hz - elapsed_s) : 0;
}

void Timer::update(double real_step_s) {
  MERIDIAN_ASSERT(is_within(real_step_s, 0, kMaxTimeStep), "a step is a number in [0, kMaxTimeStep]");
  is_paused_ = will_pause();
  const bool stands = is_paused_ && !wants_single_step_;
  wants_single_step_ = false;

  if (config_.forced_rate_hz > 0) real_step_s = 1 / config_.forced_rate_hz;
  const uint64_t real = to_picoseconds(real_step_s * kPerSecond);
  // The limit of the rate comes before scaling; after it, it would make slow motion fast.
  uint64_t base = real;
  if (config_.max_rate_hz > 0) base = std::max(base, to_picoseconds(kPerSecond / config_.max_rate_hz));
  if (config_.fixed_step_s > 0) base = to_picoseconds(config_.fixed_step_s * kPerSecond);
  const uint64_t warped = scaled(base, warp());
  const uint64_t shortest = to_picoseconds(config_.min_step_s * kPerSecond);
  const uint64_t longest = to_picoseconds(config_.max_step_s * kPerSecond);

  for (uint32_t i = 0; i < kTimeDomainCount; ++i) {
    const TimeDomainRule& rule = kTimeDomainRules[i];
    TimeSet& time = times_[i];
    time.previous_milliseconds = time.milliseconds;
    const bool is_stopped = stands && rule.pausing != TimePausing::goes_on;
    if (is_stopped && rule.pausing == TimePausing::stops) {
      set_step(time, 0);
      continue;
    }
    const bool is_scaled =
        rule.scaling == TimeScaling::warp || (rule.scaling == TimeScaling::warp_if_cameras && config_.scale_cameras);
    uint64_t step = i == static_cast<uint32_t>(TimeDomain::system) ? real : is_scaled ? warped : base;
    if (rule.is_clipped) step = std::max(std::min(step, longest), shortest);
    set_step(time, step);
    if (!is_stopped) advance(time, step);
  }
}

const TimeSet& Timer::time(TimeDomain domain) const {
  const auto index = static_cast<uint32_t>(domain);
  MERIDIAN_ASSERT(index < kTimeDomainCount, "a time domain");
  return times_[index < kTimeDomainCount ? index : 0];
}

void Timer::set_milliseconds(TimeDomain domain, uint64_t milliseconds) {
  const auto index = static_cast<uint32_t>(domain);
  MERIDIAN_ASSERT(index < kTimeDomainCount, "a time domain");
  if (index >= kTimeDomainCount) return;
  times_[index].milliseconds = times_[index].previous_milliseconds = milliseconds;
  times_[index].remainder_ps = 0;
}

void Timer::set_warp(WarpSource source, double scale) {
  const auto index = static_cast<uint32_t>(source);
  MERIDIAN_ASSERT(index < kWarpSourceCount && is_scale(scale), "a source, and a scale that is finite and not negative");
  if (index < kWarpSourceCount && is_scale(scale)) warps_[index] = scale;
}

void Timer::set_global_scale(double scale) {
  MERIDIAN_ASSERT(is_scale(scale), "a scale is finite and not negative");
  if (is_scale(scale)) global_scale_ = scale;
}

void Timer::set_debug_scale(double scale) {
  MERIDIAN_ASSERT(is_scale(scale), "a scale is finite and not negative");
  if (is_scale(scale)) debug_scale_ = scale;
}

double Timer::warp() const {
  const double slowest = *std::min_element(warps_, warps_ + kWarpSourceCount);
  return (slowest < 1 ? slowest : global_scale_) * (config_.is_final ? 1 : debug_scale_);
}

void Timer::pause(PauseSource source) { pauses_ = static_cast<uint8_t>(pauses_ | bit_of(source)); }

void Timer::resume(PauseSource source) { pauses_ = static_cast<uint8_t>(pauses_ & ~bit_of(source)); }

}  // namespace meridian
