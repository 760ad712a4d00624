// SPDX-License-Identifier: MIT
// What is asked for, what of it has changed, and what the target is told.
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/float_mode.h"
#include "meridian/base/assert.h"
#include "meridian/base/geometry.h"
#include "meridian/stream/box_streamer.h"
#include "stream/box_streamer_state.h"

namespace meridian {
namespace {

constexpr float kLeastLookAhead = 1;  ///< [m]

bool is_usable(const StreamSource& s) {
  return is_finite(s.position) && is_finite(s.velocity) && is_finite(s.radius) && s.radius >= 0 &&
         is_finite(s.weight) && s.weight > 0;
}

bool is_usable(const StreamSearch& s) {
  if (!is_finite(s.a) || !is_finite(s.view)) return false;
  switch (s.shape) {
    case BoxShape::box:
      return meridian::is_usable(Aabb{s.a, s.b});
    case BoxShape::sphere:
      return is_finite(s.radius) && s.radius >= 0;
    case BoxShape::segment:
      return is_finite(s.b) && is_finite(s.radius) && s.radius >= 0;
  }
  return false;
}

/// The box `margin` larger on all sides, as far as floats go.
Aabb grown(const Aabb& box, double margin) {
  const auto by = static_cast<float>(margin);
  const Vec3 all{by, by, by}, end{kMostFloat, kMostFloat, kMostFloat};
  return {max(box.min - all, end * -1.0f), min(box.max + all, end)};
}

double along(const Vec3& v, const double (&axis)[3]) {
  return double{v.x} * axis[0] + double{v.y} * axis[1] + double{v.z} * axis[2];
}

}  // namespace

StreamSearch stream_sphere(const Vec3& centre, float radius) {
  StreamSearch out;
  out.a = centre;
  out.radius = radius;
  return out;
}

StreamSearch stream_box(const Aabb& box) {
  StreamSearch out;
  out.shape = BoxShape::box;
  out.a = box.min;
  out.b = box.max;
  return out;
}

StreamSearch stream_segment(const Vec3& a, const Vec3& b, float radius) {
  StreamSearch out;
  out.shape = BoxShape::segment;
  out.a = a;
  out.b = b;
  out.radius = radius;
  return out;
}

Status BoxStreamer::check_input(std::span<const StreamSource> sources, std::span<const StreamSearch> searches,
                                float seconds) const {
  if (sources.size() > config_.max_sources)
    return {StatusCode::too_large, "more sources than max_sources; detail = sources", sources.size()};
  if (searches.size() > config_.max_searches)
    return {StatusCode::too_large, "more searches than max_searches; detail = searches", searches.size()};
  if (!is_finite(seconds) || seconds < 0)
    return {StatusCode::bad_value, "the time since the last update is negative or not finite"};
  for (size_t i = 0; i < sources.size(); ++i)
    if (!is_usable(sources[i]))
      return {StatusCode::bad_value, "a source is out of its ranges or not finite; detail = index", i};
  for (size_t i = 0; i < searches.size(); ++i)
    if (!is_usable(searches[i]))
      return {StatusCode::bad_value, "a search is out of its ranges or not finite; detail = index", i};
  return {};
}

/// All that the last update's sources and searches ask, `margin` further. Returns how many.
uint32_t BoxStreamer::prepare(double margin, Asked* out) const {
  uint32_t count = 0, present = dynamic().kinds;
  for (uint32_t i = 0; i < tree_count_; ++i) present |= layers_[order_[i]].kinds;
  for (uint32_t i = 0; i < source_count_; ++i) {
    const StreamSource& s = sources_[i];
    const Vec3 end = s.position + s.velocity * config_.look_ahead;
    const bool looks_ahead =
        length(s.velocity) * double{config_.look_ahead} > double{kLeastLookAhead} && is_finite(end);
    for (uint32_t g = 0; g < group_count_; ++g) {
      const uint32_t kinds = groups_[g].kinds & present;
      if (kinds == 0) continue;
      const double reach = double{s.radius} + double{groups_[g].distance} + margin;
      out[count] = Asked{};
      out[count].query = sphere_query(s.position, reach);
      out[count].kinds = kinds;
      out[count++].id = s.id;
      if (!looks_ahead) continue;
      out[count] = Asked{};
      out[count].query = segment_query(s.position, end, reach);
      out[count].kinds = kinds;
      out[count].reason = BoxReason::look_ahead;
      out[count++].id = s.id;
    }
  }
  for (uint32_t i = 0; i < search_count_; ++i) {
    const StreamSearch& s = searches_[i];
    if ((s.assets & present) == 0) continue;
    Asked& asked = out[count++] = Asked{};
    asked.kinds = s.assets & present;
    asked.reason = BoxReason::search;
    asked.id = i;
    const double radius = double{s.radius} + margin;
    asked.query = s.shape == BoxShape::box      ? box_query(grown({s.a, s.b}, margin))
                  : s.shape == BoxShape::sphere ? sphere_query(s.a, radius)
                                                : segment_query(s.a, s.b, radius);
    const double size = length(s.view);
    asked.has_view = size > 0;
    if (!asked.has_view) continue;
    asked.view[0] = double{s.view.x} / size;
    asked.view[1] = double{s.view.y} / size;
    asked.view[2] = double{s.view.z} / size;
    const double eye =
        s.shape != BoxShape::box ? along(s.a, asked.view) : (along(s.a, asked.view) + along(s.b, asked.view)) / 2;
    asked.behind = eye - margin;
  }
  return count;
}

/// Whether nothing of the slot's content is before the plane of a search with a view.
bool BoxStreamer::is_behind(const Asked& asked, uint32_t slot) const {
  const Aabb box = content_box(slot);
  const Vec3 foremost{asked.view[0] > 0 ? box.max.x : box.min.x, asked.view[1] > 0 ? box.max.y : box.min.y,
                      asked.view[2] > 0 ? box.max.z : box.min.z};
  return along(foremost, asked.view) < asked.behind;
}

/// The same decision as the queries', for one slot. Requires: has_box(slot).
bool BoxStreamer::asks_for(const Asked& asked, uint32_t slot) const {
  return (asked.kinds >> asset_of(slot) & 1) != 0 && touches(asked.query, range_box(slot)) &&
         !(asked.has_view && is_behind(asked, slot));
}

/// Fills layer.pinned if pins or boxes have changed.
void BoxStreamer::mark_pins(Layer& layer) const {
  if (!layer.is_pinned_stale) return;
  layer.is_pinned_stale = false;
  std::fill(layer.pinned, layer.pinned + layer.words, 0);
  for (uint32_t i = 0; i < config_.max_pins; ++i)
    if (pins_[i].generation % 2 != 0) layer.mark(box_query(pins_[i].box), layer.pinned);
}

/// Brings layer.current up to date, and touches the slots for which it has changed.
void BoxStreamer::find_wanted(Layer& layer) {
  const uint32_t words = layer.words;
  mark_pins(layer);
  std::copy(layer.pinned, layer.pinned + words, layer.now);
  for (uint32_t i = 0; i < asked_count_; ++i) {
    const Asked& asked = asked_[i];
    const uint32_t kinds = asked.kinds & layer.kinds;
    if (kinds == 0) continue;
    if (kinds == layer.kinds && !asked.has_view) {
      layer.mark(asked.query, layer.now);
      continue;
    }
    std::fill(layer.scratch, layer.scratch + words, 0);
    layer.mark(asked.query, layer.scratch);
    for (uint32_t w = 0; w < words; ++w) {
      uint64_t bits = layer.scratch[w] & layer.allowed[w];
      if (bits == 0) continue;
      bits &= layer.select(w, kinds);
      for (uint64_t left = asked.has_view ? bits : 0; left != 0; left &= left - 1) {
        const uint32_t place = w * 64 + static_cast<uint32_t>(std::countr_zero(left));
        if (is_behind(asked, slot_at(layer, place))) bits &= ~(left & (~left + 1));
      }
      layer.now[w] |= bits;
    }
  }
  // Most often nothing has changed; then this is all.
  uint64_t any = 0;
  for (uint32_t w = 0; w < words; ++w) any |= (layer.now[w] & layer.allowed[w]) ^ layer.current[w];
  for (uint32_t w = 0; any != 0 && w < words; ++w) {
    const uint64_t now = layer.now[w] & layer.allowed[w];
    for (uint64_t changed = now ^ layer.current[w]; changed != 0; changed &= changed - 1)
      touch(slot_at(layer, w * 64 + static_cast<uint32_t>(std::countr_zero(changed))));
    layer.current[w] = now;
  }
}

bool BoxStreamer::is_wanted_box(uint32_t slot) const {
  return has_box(slot) && test_bit(layers_[layer_of_[slot]].current, place_of_[slot]);
}

void BoxStreamer::wait_for(uint32_t slot) {
  if ((state_[slot] & kWaiting) != 0) return;
  state_[slot] |= kWaiting;
  waiting_[waiting_count_++] = slot;
}

/// Makes a slot's state that which its box and flags ask for.
void BoxStreamer::settle(uint32_t slot, uint32_t& candidates) {
  uint16_t& state = state_[slot];
  const bool is_wanted = (state & kIgnored) == 0 && ((state & kLocked) != 0 || is_wanted_box(slot));
  const bool was_wanted = (state & (kHeld | kLingering)) == kHeld;
  if (is_wanted == was_wanted) return;
  if (!is_wanted) {
    state |= kLingering;
    lingering_[lingering_count_++] = slot;
    --stats_.required;
    return;
  }
  since_[slot] = time_;
  ++stats_.required;
  if ((state & kLingering) != 0) {  // its bit is still set; release_lingering takes it off the list
    state &= static_cast<uint16_t>(~kLingering);
    if ((state & kInWorld) == 0) wait_for(slot);
    return;
  }
  state |= kHeld;
  candidates_[candidates++] = {.distance = 0, .slot = slot, .is_near = false, .is_new = true};
}

bool BoxStreamer::lingers_on(uint32_t slot, uint32_t wide_count) const {
  if ((state_[slot] & kIgnored) != 0 || !has_box(slot)) return false;
  if (time_ - since_[slot] < double{config_.min_residence}) return true;
  for (uint32_t i = 0; i < wide_count; ++i)
    if (asks_for(asked_wide_[i], slot)) return true;
  return false;
}

void BoxStreamer::release_lingering() {
  if (lingering_count_ == 0) return;
  const uint32_t wide_count = prepare(double{config_.release_margin}, asked_wide_);
  uint32_t kept = 0;
  const uint32_t count = lingering_count_;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t slot = lingering_[i];
    if ((state_[slot] & kLingering) == 0) continue;
    if (lingers_on(slot, wide_count)) {
      lingering_[kept++] = slot;
      continue;
    }
    state_[slot] &= static_cast<uint16_t>(~(kLingering | kHeld));
    ++stats_.released;
    target_->release(slot);
  }
  lingering_count_ = kept;
}

/// Takes off the list what has come or is not wanted any more; what is idle is to be requested again.
void BoxStreamer::look_after_waiting(uint32_t& candidates) {
  uint32_t kept = 0;
  is_asking_ = true;
  for (uint32_t i = 0; i < waiting_count_; ++i) {
    const uint32_t slot = waiting_[i];
    if ((state_[slot] & (kInWorld | kHeld | kLingering)) != kHeld) {
      state_[slot] &= static_cast<uint16_t>(~kWaiting);
      continue;
    }
    waiting_[kept++] = slot;
    if (target_->is_idle(slot)) candidates_[candidates++] = {.slot = slot};
  }
  is_asking_ = false;
  waiting_count_ = kept;
}

bool BoxStreamer::is_near(uint32_t slot) const {
  if (!check(slot, false)) return false;
  if (is_held_fast(slot)) return true;
  if (!has_box(slot)) return false;
  const Aabb box = content_box(slot);
  const double radius = double{config_.priority_radius[asset_of(slot)]};
  for (uint32_t i = 0; i < source_count_; ++i)
    if (double{distance_squared(box, sources_[i].position)} <= radius * radius) return true;
  return false;
}

void BoxStreamer::tell(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    candidates_[i].distance = distance(candidates_[i].slot);
    candidates_[i].is_near = is_near(candidates_[i].slot);
  }
  std::sort(candidates_, candidates_ + count, [](const Candidate& a, const Candidate& b) {
    if (a.is_near != b.is_near) return a.is_near;
    return a.distance != b.distance ? a.distance < b.distance : a.slot < b.slot;
  });
  for (uint32_t i = 0; i < count; ++i) {
    const Candidate& c = candidates_[i];
    const bool is_in_world = (state_[c.slot] & kInWorld) != 0;
    if (c.is_new && (is_in_world || !target_->is_idle(c.slot))) {
      ++stats_.kept;
      target_->keep(c.slot);
    } else {
      ++(c.is_new ? stats_.requested : stats_.again);
      target_->request(c.slot, c.is_near);
    }
    if ((state_[c.slot] & kInWorld) == 0) wait_for(c.slot);
  }
}

Status BoxStreamer::update(std::span<const StreamSource> sources, std::span<const StreamSearch> searches,
                           float seconds) {
  MERIDIAN_ASSERT(block_ != nullptr && !is_updating_, "a box streamer is initialised, and updated by one");
  if (block_ == nullptr || is_updating_) return {StatusCode::in_use, "the box streamer can't be updated now"};
  if (const Status status = check_input(sources, searches, seconds); !status.ok()) return status;
  const FloatMode mode;
  is_updating_ = true;
  time_ += double{seconds};
  std::copy(sources.begin(), sources.end(), sources_);
  std::copy(searches.begin(), searches.end(), searches_);
  source_count_ = static_cast<uint32_t>(sources.size());
  search_count_ = static_cast<uint32_t>(searches.size());
  asked_count_ = prepare(0, asked_);

  for (uint32_t i = 0; i < tree_count_; ++i) find_wanted(layers_[order_[i]]);
  if (dynamic_count_ != 0) find_wanted(dynamic());
  uint32_t candidates = 0;
  for (uint32_t i = 0; i < touched_count_; ++i) {
    state_[touched_[i]] &= static_cast<uint16_t>(~kTouched);
    settle(touched_[i], candidates);
  }
  touched_count_ = 0;

  look_after_waiting(candidates);
  release_lingering();
  tell(candidates);
  stats_.lingering = lingering_count_;
  stats_.waiting = 0;
  for (uint32_t i = 0; i < waiting_count_; ++i) stats_.waiting += (state_[waiting_[i]] & kInWorld) == 0 ? 1 : 0;
  ++stats_.updates;
  is_updating_ = false;
  return {};
}

}  // namespace meridian
