// SPDX-License-Identifier: MIT
// What can be asked of a box streamer, and pins.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/float_mode.h"
#include "meridian/base/assert.h"
#include "meridian/base/geometry.h"
#include "meridian/stream/box_streamer.h"
#include "stream/box_streamer_state.h"

namespace meridian {

const char* to_string(BoxReason reason) {
  switch (reason) {
    case BoxReason::not_required:
      return "not_required";
    case BoxReason::ignored:
      return "ignored";
    case BoxReason::no_box:
      return "no_box";
    case BoxReason::source:
      return "source";
    case BoxReason::look_ahead:
      return "look_ahead";
    case BoxReason::search:
      return "search";
    case BoxReason::pin:
      return "pin";
    case BoxReason::locked:
      return "locked";
    case BoxReason::lingering:
      return "lingering";
  }
  return "?";
}

// --- pins -------------------------------------------------------------------------------------------------

Result<PinId> BoxStreamer::pin(const Aabb& box) {
  MERIDIAN_ASSERT(block_ != nullptr && !is_updating_, "boxes are pinned after init and not during an update");
  if (block_ == nullptr || is_updating_) return Status{StatusCode::in_use, "the box streamer takes no pins now"};
  if (!is_usable(box)) return Status{StatusCode::bad_value, "a pinned box is inside out or not finite"};
  for (uint32_t i = 0; i < config_.max_pins; ++i) {
    if (pins_[i].generation % 2 != 0) continue;
    pins_[i].box = box;
    ++pins_[i].generation;
    set_pins_stale();
    return PinId{.generation = pins_[i].generation, .slot = i};
  }
  return Status{StatusCode::out_of_slots, "too many pins; detail = max_pins", config_.max_pins};
}

void BoxStreamer::unpin(PinId id) {
  const bool is_there =
      block_ != nullptr && id.slot < config_.max_pins && id && pins_[id.slot].generation == id.generation;
  MERIDIAN_ASSERT(is_there && !is_updating_, "a pin is taken out once, and not during an update");
  if (!is_there || is_updating_) return;
  ++pins_[id.slot].generation;
  set_pins_stale();
}

void BoxStreamer::set_pins_stale() {
  for (uint32_t i = 0; i < tree_count_; ++i) layers_[order_[i]].is_pinned_stale = true;
  dynamic().is_pinned_stale = true;
}

// --- is it there ------------------------------------------------------------------------------------------

/// Calls visit(slot) for each slot that counts and whose range touches the box, until it says false.
template <class Visit>
void BoxStreamer::visit_touched(const Aabb& box, Visit&& visit) const {
  const FloatMode mode;
  const BoxQuery query = box_query(box);
  const auto visit_layer = [&](const Layer& layer) {
    std::fill(layer.now, layer.now + layer.words, 0);
    layer.mark(query, layer.now);
    for (uint32_t w = 0; w < layer.words; ++w)
      for (uint64_t bits = layer.now[w] & layer.allowed[w]; bits != 0; bits &= bits - 1)
        if (!visit(slot_at(layer, w * 64 + static_cast<uint32_t>(std::countr_zero(bits))))) return false;
    return true;
  };
  for (uint32_t i = 0; i < tree_count_; ++i)
    if (!visit_layer(layers_[order_[i]])) return;
  if (dynamic_count_ != 0) visit_layer(dynamic());
}

void BoxStreamer::for_each_missing(const Aabb& box, StreamSlotVisitor visitor, void* user) const {
  const bool is_possible = is_usable(box) && visitor != nullptr && !is_updating_;
  MERIDIAN_ASSERT(is_possible, "what is asked for is finite and not inside out, and not during an update");
  if (!is_possible) return;
  visit_touched(box, [&](uint32_t slot) { return (state_[slot] & kInWorld) != 0 || visitor(user, slot); });
}

bool BoxStreamer::is_resident(const Aabb& box) const {
  const bool is_possible = is_usable(box) && !is_updating_;
  MERIDIAN_ASSERT(is_possible, "what is asked for is finite and not inside out, and not during an update");
  bool is_there = is_possible;
  if (is_possible) visit_touched(box, [&](uint32_t slot) { return is_there = (state_[slot] & kInWorld) != 0; });
  return is_there;
}

// --- one slot ---------------------------------------------------------------------------------------------

bool BoxStreamer::is_required(uint32_t slot) const {
  return check(slot, false) && (state_[slot] & (kHeld | kLingering)) == kHeld;
}

bool BoxStreamer::is_held(uint32_t slot) const { return check(slot, false) && (state_[slot] & kHeld) != 0; }

float BoxStreamer::distance(uint32_t slot) const {
  float nearest = std::numeric_limits<float>::infinity();
  if (!check(slot, false)) return nearest;
  if (is_held_fast(slot)) return 0;
  if (!has_box(slot)) return nearest;
  const Aabb box = content_box(slot);
  const auto consider = [&](float distance) { nearest = distance < nearest ? distance : nearest; };
  for (uint32_t i = 0; i < source_count_; ++i) {
    consider(std::sqrt(distance_squared(box, sources_[i].position)) / sources_[i].weight);
  }
  const FloatMode mode;
  for (uint32_t i = 0; i < asked_count_; ++i) {
    if (asked_[i].reason != BoxReason::search || !asks_for(asked_[i], slot)) continue;
    const StreamSearch& search = searches_[asked_[i].id];
    // What is asked for is as near as the middle of the question; a segment begins where somebody looks from.
    const Vec3 from = search.shape == BoxShape::box ? (search.a + search.b) * 0.5f : search.a;
    consider(std::sqrt(distance_squared(box, from)));
  }
  return nearest;
}

/// Locked in, or in a pinned area: somebody waits for it.
bool BoxStreamer::is_held_fast(uint32_t slot) const {
  if ((state_[slot] & kIgnored) != 0) return false;
  if ((state_[slot] & kLocked) != 0) return true;
  if (!has_box(slot)) return false;
  for (uint32_t i = 0; i < config_.max_pins; ++i) {
    if (pins_[i].generation % 2 != 0 && touches(box_query(pins_[i].box), range_box(slot))) return true;
  }
  return false;
}

BoxWhy BoxStreamer::why(uint32_t slot) const {
  if (!check(slot, false)) return {};
  if ((state_[slot] & kIgnored) != 0) return {.reason = BoxReason::ignored};
  if ((state_[slot] & kLocked) != 0) return {.reason = BoxReason::locked};
  if (!has_box(slot)) return {.reason = BoxReason::no_box};
  if ((state_[slot] & kLingering) != 0) {
    const double left = double{config_.min_residence} - (time_ - since_[slot]);
    return {.reason = BoxReason::lingering, .seconds_left = left > 0 ? static_cast<float>(left) : 0};
  }
  if ((state_[slot] & kHeld) == 0) return {};
  const FloatMode mode;
  for (uint32_t i = 0; i < asked_count_; ++i)
    if (asks_for(asked_[i], slot)) return {.reason = asked_[i].reason, .id = asked_[i].id};
  for (uint32_t i = 0; i < config_.max_pins; ++i)
    if (pins_[i].generation % 2 != 0 && touches(box_query(pins_[i].box), range_box(slot)))
      return {.reason = BoxReason::pin, .id = i};
  return {};  // what asked has gone since the last update
}

}  // namespace meridian
