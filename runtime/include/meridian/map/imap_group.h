// SPDX-License-Identifier: MIT
#pragma once
/// Groups of maps: on and off by hour and weather, and swaps of one group for another - the intact bridge for the
/// ruined one - in a single update, so that no frame shows both or neither.
///
///   MapGroups groups;
///   Status ready = groups.init({.store = &map_store, .layers = &layers});
///   groups.set_hour(21);
///   groups.set_weather(hash_name("SNOW"));
///   Result<uint32_t> swap = groups.begin_swap(hash_name("bridge"), hash_name("bridge_ruined"));
///   // each frame, after maps.update() and while the world is not locked:
///   groups.update();
///   if (groups.swap_state(swap.value()) == SwapState::swapped) ready = groups.end_swap(swap.value());
///
/// A name is that of a group of the index, or of a single map. The maps that come are loaded first, and not shown; only
/// what streams here and now, or is kept by somebody, is waited for, so that a far bridge falls at once. Until it is
/// swapped, a swap can be aborted, and if one of its maps fails, is switched off, or leaves with its layer, it is taken
/// back by itself; everything is as before then. A map that was swapped out is not shown, whoever keeps it, until
/// another swap brings it back. What failed before is tried anew by a swap.
///
/// A map in several groups is on while all of them are. Groups that depend on neither hour nor weather always are.
///
/// Threads: main.
/// Memory:  none.

#include <cstdint>

#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"
#include "meridian/map/map_store.h"
#include "meridian/map/world_layers.h"

namespace meridian {

enum class SwapState : uint8_t {
  none,        ///< not in use
  preloading,  ///< maps that come are loaded
  ready,       ///< all are there; it is swapped by the next update, or by commit_swap() if it waits for that
  swapped,
  aborted,
  failed,  ///< a map could not be loaded or shown: see swap_failure()
};
/// A stable word ("preloading").
const char* to_string(SwapState state);

struct MapGroupsConfig {
  MapStore* store = nullptr;            ///< not null; both outlive the groups
  const WorldLayers* layers = nullptr;  ///< not null
};

struct SwapOptions {
  bool is_script = false;  ///< takes number 0, which is kept for scripts
  bool waits = false;      ///< for commit_swap()
};

class MapGroups {
 public:
  static constexpr uint32_t kMaxSwaps = 7;  ///< at once, that of scripts among them
  static constexpr uint32_t kMaxMaps = 64;  ///< of one side of a swap

  MapGroups() = default;
  ~MapGroups() = default;
  MapGroups(const MapGroups&) = delete;
  MapGroups& operator=(const MapGroups&) = delete;

  /// Errors: bad_value.
  Status init(const MapGroupsConfig& config);

  /// Groups of the index that depend on it follow. Requires: hour < 24 (asserted; otherwise it wraps).
  void set_hour(uint32_t hour);
  void set_weather(NameHash weather);
  uint32_t hour() const { return hour_; }
  NameHash weather() const { return weather_; }
  /// The layers changed.
  void refresh() { apply(); }
  /// Whether a group is on at this hour and in this weather. Groups that depend on neither are.
  bool is_on(const MapGroup& group) const;

  /// Has all manual maps of a group, or one, stream or no longer.
  /// Errors: not_found, bad_value (none is manual), in_use (one of them comes in a swap: abort that).
  Status set_active(NameHash name, bool active);

  /// Begins to swap. The number of the swap.
  /// Errors: not_found (a name that is neither group nor map), out_of_slots (kMaxSwaps; the script's is taken),
  ///         too_large (kMaxMaps), in_use (a map is in another swap, or on both sides).
  Result<uint32_t> begin_swap(NameHash from, NameHash to, const SwapOptions& options = {});
  /// Swaps now what is ready. Errors: in_use (it is not ready; the world is locked), and what showing a map says: the
  /// swap has failed then, and is taken back.
  Status commit_swap(uint32_t swap);
  /// Takes back what is not swapped yet. Errors: in_use (it is swapped; the world is locked), not_found.
  Status abort_swap(uint32_t swap);
  /// Forgets a swap that is swapped, aborted or failed. Errors: in_use.
  Status end_swap(uint32_t swap);
  SwapState swap_state(uint32_t swap) const { return swap < kMaxSwaps ? swaps_[swap].state : SwapState::none; }
  /// Why it failed; `name` is the map's.
  Status swap_failure(uint32_t swap) const { return swap < kMaxSwaps ? swaps_[swap].failure : Status{}; }
  /// The swap that a map is part of, or kMaxSwaps.
  uint32_t swap_of(uint32_t slot) const;

  /// Once a frame, after MapStore::update() and StreamingEngine::update(), while the world is not locked.
  void update();

 private:
  /// Maps by name, since a layer that is unmounted takes its slots along.
  struct Side {
    NameHash maps[kMaxMaps] = {};
    uint8_t was_off[kMaxMaps] = {};  // MapOff: manual and swapped_out
    uint32_t count = 0;
    bool has(NameHash map) const;
  };
  struct Swap {
    SwapState state = SwapState::none;
    bool waits = false, has_asked = false;
    NameHash from, to;
    Side out, in;
    Status failure{};
  };
  bool find_group(NameHash name, MapGroup& out, uint32_t& layer) const;
  Status gather(NameHash name, Side& out) const;
  void apply();
  bool is_ready(const Swap& swap, Status& failure) const;
  bool is_locked() const;
  bool is_kept_by_others(uint32_t slot) const;
  Status exchange(Swap& swap);
  void fail(Swap& swap, const Status& why);
  void take_back(Swap& swap, SwapState state);

  MapGroupsConfig config_{};
  Swap swaps_[kMaxSwaps];
  uint32_t hour_ = 12;
  NameHash weather_{};
};

}  // namespace meridian
