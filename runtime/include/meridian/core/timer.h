// SPDX-License-Identifier: MIT
#pragma once
/// Game time. One clock is not enough: a menu animates while the game is paused, a camera turns at full speed in slow
/// motion, a network message is stamped with real time. So a Timer keeps nine times side by side, its domains, and each
/// system reads the one that it means.
///
///   Timer timer;
///   const double real_step_s = 1.0 / 60.0;                        // measured by the host
///   timer.update(real_step_s);                                    // once a frame, before all else
///   float height = 10.0f;
///   height -= 2.0f * timer.time(TimeDomain::game).step_s;         // game code
///   timer.set_warp(WarpSource::script, 0.25);                     // slow motion from the next update on
///   timer.pause(PauseSource::user);                               // and a menu opens
///
/// A step is scaled first (slow motion), then clipped (no frame of a domain is too short or too long to simulate), then
/// added up. A domain differs from the next in which of these it does, and whether a pause stops it:
///
/// | domain                        | scaled          | clipped | in a pause             |
/// |-------------------------------|-----------------|---------|------------------------|
/// | system                        | no              | no      | goes on                |
/// | game                          | yes             | yes     | stops                  |
/// | non_paused_game               | yes             | yes     | goes on                |
/// | scaled_non_clipped            | yes             | no      | stops                  |
/// | non_scaled_clipped            | no              | yes     | stops                  |
/// | camera                        | if switched on  | yes     | stops; its step is set |
/// | non_pausable_camera           | if switched on  | yes     | goes on                |
/// | non_paused_non_scaled_clipped | no              | yes     | goes on                |
/// | replay                        | yes             | yes     | stops                  |
///
/// Time is added up in whole picoseconds, so it does not drift: a frame is off by half a picosecond at most, a million
/// frames by half a microsecond. No clock is read in here: the same steps give the same times, on every machine.
///
/// Threads: main for whatever is not const; readers between two updates.
/// Memory:  none.
/// Source:  own; docs/architecture.md#time.

#include <cstdint>

namespace meridian {

enum class TimeDomain : uint8_t {
  system,                         ///< as the host measured it: profiles, network, logs
  game,                           ///< what simulation runs by
  non_paused_game,                ///< as game, and goes on in a pause: a menu's world behind it
  scaled_non_clipped,             ///< game time that loses nothing in a long frame: sound, cutscenes
  non_scaled_clipped,             ///< simulation that slow motion leaves alone
  camera,                         ///< scaled only with TimerConfig::scale_cameras; in a pause its step is still set, so
                                  ///< that a camera may move while the time of its tracks stands
  non_pausable_camera,            ///< as camera, and goes on in a pause: a free camera
  non_paused_non_scaled_clipped,  ///< user interface
  replay,                         ///< what is recorded: as game, kept apart so that a replay may set it
};
inline constexpr uint32_t kTimeDomainCount = 9;

enum class TimeScaling : uint8_t { none, warp, warp_if_cameras };
enum class TimePausing : uint8_t { goes_on, stops, stops_but_steps };

/// How a domain makes its time of a step.
struct TimeDomainRule {
  const char* name;  ///< the enumerator, for logs and overlays
  TimeScaling scaling;
  bool is_clipped;
  TimePausing pausing;
};

/// The table above, in the order of TimeDomain.
inline constexpr TimeDomainRule kTimeDomainRules[kTimeDomainCount] = {
    {"system", TimeScaling::none, false, TimePausing::goes_on},
    {"game", TimeScaling::warp, true, TimePausing::stops},
    {"non_paused_game", TimeScaling::warp, true, TimePausing::goes_on},
    {"scaled_non_clipped", TimeScaling::warp, false, TimePausing::stops},
    {"non_scaled_clipped", TimeScaling::none, true, TimePausing::stops},
    {"camera", TimeScaling::warp_if_cameras, true, TimePausing::stops_but_steps},
    {"non_pausable_camera", TimeScaling::warp_if_cameras, true, TimePausing::goes_on},
    {"non_paused_non_scaled_clipped", TimeScaling::none, true, TimePausing::goes_on},
    {"replay", TimeScaling::warp, true, TimePausing::stops},
};

/// One domain's time. While it stands (a pause), its frames do not count and its step is 0, but for the step of camera.
/// Before the first update the step is 1/20 s, so that nothing divides by zero that runs too early.
struct TimeSet {
  uint64_t milliseconds = 0;           ///< whole ones so far; scripts take the low 32 bits [ms]
  uint64_t previous_milliseconds = 0;  ///< those before the last update [ms]
  uint64_t frame_count = 0;            ///< updates in which it did not stand [count]
  float step_s = 0.05f;                ///< length of the last update [>= 0] [s]
  float step_ms = 50.0f;               ///< the same [>= 0] [ms]
  float inverse_step = 20.0f;          ///< 1 / step_s; 0 for a step of 0 [1/s]
  uint32_t remainder_ps = 0;           ///< what is past the whole milliseconds [0, 10^9) [ps]
};

/// Who slows time down. The smallest wins while it is below 1.
enum class WarpSource : uint8_t { camera, script, ui, special_ability };
inline constexpr uint32_t kWarpSourceCount = 4;

/// Who wants a pause. It lasts until nobody does: a menu that closes does not end the pause of a script.
enum class PauseSource : uint8_t { user, script, debug };

struct TimerConfig {
  double min_step_s = 1.0 / 3000.0;  ///< clipped domains step at least this much: 100 times slow motion at 30 Hz
                                     ///< [> 0, <= max_step_s] [s]
  double max_step_s = 1.0 / 15.0;    ///< and at most this much [s]
  double fixed_step_s = 0;     ///< step of all domains but system, before scaling, instead of the real one; 0: off
                               ///< [>= 0] [s]
  double forced_rate_hz = 0;   ///< each update, of system too, is 1 / this long: to render a film; 0: off [>= 0]
  double max_rate_hz = 0;      ///< a frame counts as 1 / this long at least, before scaling, in all domains but
                               ///< system; the host waits for missing_s(); 0: off [>= 0]
  bool scale_cameras = false;  ///< slow motion slows the camera domains too
  bool is_final = false;       ///< ignore the debug scale
};

/// Longest step that an update takes as it is. [s]
inline constexpr double kMaxTimeStep = 1e6;

class Timer {
 public:
  explicit Timer(const TimerConfig& config = {});

  /// Another configuration, from the next update on.
  /// Requires: what TimerConfig says of its fields.
  void configure(const TimerConfig& config);
  const TimerConfig& config() const { return config_; }

  /// How much longer the host should wait before it calls update, so that max_rate_hz is kept. 0: no need. [s]
  double missing_s(double elapsed_s) const;

  /// Brings all domains forward by a frame. What was asked for since the last update takes effect now: pause and
  /// resume, single step, warp, configuration.
  /// Give a double that was computed as one: a float may be off by a millisecond in five hours.
  /// Requires: 0 <= real_step_s <= kMaxTimeStep. What is not is taken as the nearest that is, NaN as 0.
  void update(double real_step_s);

  /// The time of a domain, as the last update left it.
  const TimeSet& time(TimeDomain domain) const;
  /// Sets a domain's time, as a loaded game does. Previous time and remainder follow; frames go on counting.
  void set_milliseconds(TimeDomain domain, uint64_t milliseconds);

  /// Asks for a scale; 1 takes it back. Requires: finite, >= 0 (otherwise ignored; so for the next two).
  void set_warp(WarpSource source, double scale);
  /// Scale while no source is below 1. Requires: finite, >= 0.
  void set_global_scale(double scale);
  /// Comes on top of all others; ignored with is_final. Requires: finite, >= 0.
  void set_debug_scale(double scale);
  /// The scale of the next update: the smallest source if below 1, else the global scale; times the debug scale.
  double warp() const;

  /// Asks for a pause, which begins with the next update.
  void pause(PauseSource source);
  /// Takes back what pause asked for; time goes on with the next update, if nobody else wants a pause.
  void resume(PauseSource source);
  /// Whether the last update was in a pause. The same for all of a frame, whatever was asked for since.
  bool is_paused() const { return is_paused_; }
  /// Whether the next one will be.
  bool will_pause() const { return pauses_ != 0; }
  /// Lets all domains run for the next update, if it is in a pause; otherwise it has no effect.
  void single_step() { wants_single_step_ = true; }

 private:
  TimerConfig config_;
  TimeSet times_[kTimeDomainCount];
  double warps_[kWarpSourceCount] = {1, 1, 1, 1};
  double global_scale_ = 1;
  double debug_scale_ = 1;
  uint8_t pauses_ = 0;  ///< a bit for each PauseSource
  bool is_paused_ = false;
  bool wants_single_step_ = false;
};

}  // namespace meridian
