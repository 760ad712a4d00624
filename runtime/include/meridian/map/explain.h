// SPDX-License-Identifier: MIT
#pragma once
/// Why is it not there? The first reason why a map is not in the world, an entity not made or not seen, an archetype
/// not known - with what causes it, so that one can ask on.
///
///   Explanation why = streaming.explain_entity(hash_name("town"), 12);
///   char line[256];
///   std::puts(to_text(why, line));              // "the type file 'props' (0x...) failed: the checksum differs"
///
/// Threads: main. Memory: none.

#include <cstdint>
#include <span>

#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"
#include "meridian/stream/box_streamer.h"
#include "meridian/stream/streaming.h"

namespace meridian {

enum class ExplainReason : uint8_t {
  present,         ///< it is there: in the world and shown
  unknown,         ///< no layer knows the name
  removed,         ///< an index knows it, and no mount has it
  not_required,    ///< no source is inside its range; `distance` from the nearest
  manual,          ///< streams only while it is active
  group_off,       ///< its group is off at this hour or in this weather
  swapped_out,     ///< another map stands in its place
  not_swapped_in,  ///< it is loaded for a swap that is not ready; `number` is the swap
  queued,          ///< its turn has not come
  denied,          ///< a budget or pool is full: `denial`
  reading,
  waits_for,  ///< `cause` has to be loaded first
  to_be_placed,
  blocked,  ///< `status`
  leaving,
  failed,               ///< `status`; `cause`, if any, failed before it
  archetype_unknown,    ///< no type file in force has the archetype; `cause` is its name
  archetype_elsewhere,  ///< a type file has it that the map does not depend on; `cause` is that file
  above_cap,            ///< its priority is above the cap; `number` is the cap
  bad_definition,       ///< rotation, scale, distance or box cannot be used; the log said which
  destroyed,            ///< by itself, after it was made
  map_absent,           ///< its map is not in the world; `inner` says why
  hidden,               ///< by a visibility module (EntityVisibility::hidden_by), or with what it is attached to
  off_hours,
  lod_parent_shows,  ///< its LOD set is not ready, so the parent stands for it
  no_such_entity,    ///< the file has no entity of that number; `number` is how many it has
};
/// A stable word ("not_required").
const char* to_string(ExplainReason reason);

struct Explanation {
  ExplainReason reason = ExplainReason::unknown;
  ExplainReason inner = ExplainReason::present;  ///< of map_absent
  NameHash subject{};                            ///< what was asked about
  NameHash cause{};                              ///< what it is waiting for or lacks
  StreamIndex index = kNoStream, cause_index = kNoStream;
  StreamDenial denial = StreamDenial::none;
  float distance = 0;  ///< of not_required; infinite for what has no place [m]
  uint32_t number = 0;
  Status status{};
};

/// One line for a person, cut to what fits, ended by 0. Returns text.data(). Requires: text is not empty.
const char* to_text(const Explanation& explanation, std::span<char> text);

}  // namespace meridian
