// SPDX-License-Identifier: MIT
// What budgets bear, and who gives way to whom.
#include <algorithm>

#include "meridian/base/assert.h"
#include "meridian/stream/streaming.h"

namespace meridian {
namespace {

/// What is left of a number, never below 0: a plan may count the same room twice.
template <class T>
T left(T all, T less) {
  return all > less ? all - less : 0;
}

}  // namespace

void StreamingEngine::Tally::add(const Tally& other) {
  bytes += other.bytes;
  entities += other.entities;
  descriptors += other.descriptors;
  records += other.records;
  for (uint32_t m = 0; m < kMaxModules; ++m) slots[m] += other.slots[m];
}

void StreamingEngine::Tally::subtract(const Tally& other) {
  bytes -= other.bytes;
  entities -= other.entities;
  descriptors -= other.descriptors;
  records -= other.records;
  for (uint32_t m = 0; m < kMaxModules; ++m) slots[m] -= other.slots[m];
}

StreamingEngine::Tally StreamingEngine::tally_of(const Load& load) const {
  Tally out;
  out.bytes = load.bytes;
  out.records = 1;
  if (!load.is_counted) return out;
  out.entities = load.cost.entities;
  out.descriptors = load.cost.descriptors;
  out.slots[at(load.slot).module] = 1;
  return out;
}

/// Counts a slot towards budgets while it is more than bytes.
void StreamingEngine::count(Load& load, bool on) {
  if (load.is_counted == on || load.slot == kNone) return;
  load.is_counted = on;
  uint32_t& slots = used_.slots[at(load.slot).module];
  if (on) {
    ++slots;
    used_.entities += load.cost.entities;
    used_.descriptors += load.cost.descriptors;
  } else {
    --slots;
    used_.entities -= load.cost.entities;
    used_.descriptors -= load.cost.descriptors;
  }
}

void StreamingEngine::set_bytes(Load& load, uint32_t bytes) {
  StreamModuleStatistics& statistics = statistics_of(at(load.slot));
  used_.bytes = used_.bytes - load.bytes + bytes;
  statistics.bytes = statistics.bytes - load.bytes + bytes;
  load.bytes = bytes;
}

/// Once `less` has gone. `is_any`: also what nothing is needed of.
StreamingEngine::Over StreamingEngine::over(const Tally& need, const Tally& less, bool is_any) const {
  Over out;
  const auto check = [&](StreamDenial denial, uint64_t used, uint64_t going, uint64_t needed, uint64_t limit) {
    if (limit == 0 || (!is_any && needed == 0) || left(used, going) + needed <= limit) return false;
    if (out.why == StreamDenial::none) out.why = denial;
    return true;
  };
  for (uint32_t m = 0; m < module_count_; ++m) {
    if (!check(StreamDenial::slots, used_.slots[m], less.slots[m], need.slots[m], modules_[m].options.max_loaded))
      continue;
    out.modules |= 1u << m;
  }
  const StreamBudget& most = config_.budget;
  out.residents = check(StreamDenial::residents, used_.records, less.records, need.records, config_.max_resident);
  out.bytes = check(StreamDenial::bytes, used_.bytes, less.bytes, need.bytes, most.bytes);
  out.entities = check(StreamDenial::entities, used_.entities, less.entities, need.entities, most.entities);
  out.descriptors =
      check(StreamDenial::descriptors, used_.descriptors, less.descriptors, need.descriptors, most.descriptors);
  return out;
}

/// True if one of those budgets gets room by the leaving of what `load` is for.
bool StreamingEngine::helps(const Load& load, const Over& over) const {
  if (over.residents || (over.bytes && load.bytes != 0)) return true;
  if (!load.is_counted) return false;
  return (over.modules >> at(load.slot).module & 1) != 0 || (over.entities && load.cost.entities != 0) ||
         (over.descriptors && load.cost.descriptors != 0);
}

/// Of one that is idle: bytes go at once, the thing when an update comes to it.
void StreamingEngine::evict(StreamIndex index) {
  Slot& s = at(index);
  ++statistics_of(s).evictions;
  if (s.state == StreamState::loaded) {
    s.bits |= kEvicted;
    leave(index);
    return;
  }
  --statistics_of(s).cached;
  delist(index);
  free_load(index);
}

/// Lets go of what is not wanted and is above a budget that was lowered.
void StreamingEngine::trim() {
  Over why = over({}, going_, true);
  for (StreamIndex i = lists_[static_cast<unsigned>(List::idle)].last; i != kNone && why.why != StreamDenial::none;) {
    const StreamIndex before = at(i).previous;
    if (helps(loads_[at(i).load], why)) {
      evict(i);
      why = over({}, going_, true);
    }
    i = before;
  }
}

/// What only the box streamer keeps, or soft dependants want, nearest first.
void StreamingEngine::gather_victims() {
  has_victims_ = true;
  victim_count_ = 0;
  hopeless_.bytes = hopeless_.entities = hopeless_.descriptors = ~uint64_t{0};
  hopeless_.records = ~0u;
  for (uint32_t& slots : hopeless_.slots) slots = ~0u;
  constexpr auto kBoxOnly = static_cast<uint8_t>(1u << static_cast<unsigned>(StreamKeeper::box_streamer));
  for (uint32_t l = 0; l < config_.max_resident; ++l) {
    const Load& load = loads_[l];
    if (load.slot == kNone || load.is_submitted) continue;
    const Slot& s = at(load.slot);
    const bool is_waiting = s.state == StreamState::requested;  // at most its bytes go, whoever wants it
    const bool is_soft = s.keepers == 0 && s.soft_holders != 0 && (s.bits & kAsked) == 0;  // it may leave first
    if (!is_waiting && ((s.keepers != kBoxOnly && !is_soft) || is_held(s) || !may_yield(s))) continue;
    victims_[victim_count_++] = key_of(load.slot);
  }
  std::sort(victims_, victims_ + victim_count_);
}

bool StreamingEngine::may_yield(const Slot& s) {
  return s.load != kNone &&
         (s.state == StreamState::loaded || s.state == StreamState::loading || s.state == StreamState::requested);
}

/// True if what stands at `victim` may give way to a request. Never true both ways, so two can't take turns.
bool StreamingEngine::yields(const Key& victim, const Key& to) const {
  if (at(victim.slot).state == StreamState::requested) return to < victim;
  if (victim.priority != to.priority) return to.priority;
  return victim.distance > to.distance * config_.displace_factor + config_.displace_margin;
}

/// Has one slot go, though it is kept.
void StreamingEngine::displace_slot(StreamIndex index) {
  Slot& s = at(index);
  ++statistics_of(s).displaced;
  if (s.state == StreamState::loaded || (s.bits & kBegun) != 0) {
    s.bits |= kDisplaced;
    leave(index);
    return;
  }
  if (s.state == StreamState::requested) {
    free_load(index);  // cached bytes; it waits on
    return;
  }
  s.bits |= kMustLeave;
  stop_loading(index);
  s.bits &= static_cast<uint16_t>(~kMustLeave);
  settle(index);
}

/// Counts what gets free when a slot goes: its own, and what nobody would want any more then.
void StreamingEngine::plan(StreamIndex index, Tally& less, bool is_going) {
  const Load& load = loads_[at(index).load];
  if (!is_going) less.add(tally_of(load));
  for (uint32_t i = 0; i < load.dependency_count; ++i) {
    const StreamDependency& on = load.dependencies[i];
    if (on.soft || !is_valid(on.index) || on.index == index) continue;
    Slot& s = at(on.index);
    if (s.visit != 0) continue;
    if (s.released++ == 0) marked_[marked_count_ + planned_count_++] = on.index;
    const bool is_free = s.released == s.holders && s.keepers == 0 && s.soft_holders == 0 && refs_of(s) == 0 &&
                         (s.bits & (kAsked | kMustLeave | kDisplaced)) == 0;
    if (is_free && s.load != kNone && !loads_[s.load].is_submitted) plan(on.index, less, false);
  }
}

/// Of what was planned to go, that which is gone already.
void StreamingEngine::take_back(Tally& planned, Tally before) const {
  before.subtract(used_);
  planned.subtract(before);
}

/// Has others go for a request: what is not wanted, the one that was needed longest ago first, then what is farther,
/// the farthest first. All that is necessary, or nothing: nobody goes in vain.
bool StreamingEngine::give_way(const Tally& need, const Key& key) {
  if (!has_victims_) gather_victims();
  if (is_hopeless(need)) return false;
  Tally needed;  // of what might go, but the request depends on it
  for (const bool acts : {false, true}) {
    Tally less = going_;
    planned_count_ = 0;
    for (StreamIndex i = lists_[static_cast<unsigned>(List::leaving)].first; i != kNone; i = at(i).next) {
      plan(i, less, true);
    }
    Over why = over(need, less);
    for (StreamIndex i = lists_[static_cast<unsigned>(List::idle)].last; i != kNone && why.why != StreamDenial::none;) {
      const StreamIndex before = at(i).previous;
      const Load& load = loads_[at(i).load];
      if (at(i).visit != 0) {
        if (!acts) needed.add(tally_of(load));
      } else if (helps(load, why) || load.dependency_count != 0) {
        plan(i, less, false);
        if (acts) {
          const Tally before_it = used_;
          evict(i);
          take_back(less, before_it);
        }
        why = over(need, less);
      }
      i = before;
    }
    for (uint32_t v = victim_count_; v-- > 0 && why.why != StreamDenial::none;) {
      const StreamIndex index = victims_[v].slot;
      if (index == kNone || index == key.slot || !yields(victims_[v], key)) continue;
      const Slot& s = at(index);
      if ((is_held(s) && s.state != StreamState::requested) || (s.bits & kBeginning) != 0 || !may_yield(s)) continue;
      const Load& load = loads_[s.load];
      if (load.is_submitted) continue;  // since they were gathered
      if (s.visit != 0) {
        if (!acts) needed.add(tally_of(load));
      } else if (helps(load, why) || load.dependency_count != 0) {
        plan(index, less, false);
        if (acts) {
          const Tally before_it = used_;
          victims_[v].slot = kNone;
          displace_slot(index);
          take_back(less, before_it);
        }
        why = over(need, less);
      }
    }
    for (; planned_count_ > 0; --planned_count_) at(marked_[marked_count_ + planned_count_ - 1]).released = 0;
    if (why.why == StreamDenial::none) continue;
    if (!acts) {
      less.add(needed);
      give_up(need, over(need, less));
    }
    return false;
  }
  return true;
}

/// What did not fit even if all went that may, will not fit for those behind either: they may ask of less.
void StreamingEngine::give_up(const Tally& need, const Over& over) {
  if (over.bytes) hopeless_.bytes = std::min(hopeless_.bytes, need.bytes);
  if (over.entities) hopeless_.entities = std::min(hopeless_.entities, need.entities);
  if (over.descriptors) hopeless_.descriptors = std::min(hopeless_.descriptors, need.descriptors);
  if (over.residents) hopeless_.records = std::min(hopeless_.records, need.records);
  for (uint32_t m = 0; m < module_count_; ++m) {
    if ((over.modules >> m & 1) != 0) hopeless_.slots[m] = std::min(hopeless_.slots[m], need.slots[m]);
  }
}
bool StreamingEngine::is_hopeless(const Tally& need) const {
  bool is = need.bytes >= hopeless_.bytes || need.entities >= hopeless_.entities ||
            need.descriptors >= hopeless_.descriptors || need.records >= hopeless_.records;
  for (uint32_t m = 0; m < module_count_; ++m) is = is || need.slots[m] >= hopeless_.slots[m];
  return is;
}

/// Makes room as far as that may be. What leaves needs updates for it, so the room may come later; until the end of
/// this round of requests it is promised, so that none of those behind takes it.
StreamDenial StreamingEngine::make_room(const Tally& need, const Key& key) {
  const Over now = over(need, {});
  if (now.why == StreamDenial::none) return StreamDenial::none;
  if (over(need, going_).why != StreamDenial::none && !give_way(need, key)) return now.why;
  const StreamDenial why = over(need, {}).why;
  if (why != StreamDenial::none) {
    promised_.add(need);
    used_.add(need);
  }
  return why;
}

/// A module had no room for a slot: lets the one go that was needed longest ago, or that is farther.
void StreamingEngine::evict_for_pool(const Key& key) {
  for (StreamIndex i = lists_[static_cast<unsigned>(List::leaving)].first; i != kNone; i = at(i).next) {
    if (may_go_now(at(i))) return;  // that may be enough
  }
  for (StreamIndex i = lists_[static_cast<unsigned>(List::idle)].last; i != kNone; i = at(i).previous) {
    if (at(i).state != StreamState::loaded) continue;
    evict(i);
    return;
  }
  gather_victims();
  for (uint32_t v = victim_count_; v-- > 0;) {
    const Slot& s = at(victims_[v].slot);
    if (victims_[v].slot == key.slot || !yields(victims_[v], key)) continue;
    if (s.state != StreamState::loaded && (s.bits & kBegun) == 0) continue;
    displace_slot(victims_[v].slot);
    return;
  }
}

}  // namespace meridian
