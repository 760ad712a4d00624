// SPDX-License-Identifier: MIT
// Slots, lists and wishes. How requests become reads: streaming_dispatch.cpp; what an update does:
// streaming_update.cpp.
#include "meridian/stream/streaming.h"

#include <cmath>
#include <iterator>
#include <new>
#include <utility>

#include "meridian/base/assert.h"
#include "meridian/base/log.h"

namespace meridian {

const char* to_string(StreamState state) {
  static constexpr const char* kWords[] = {"not_loaded", "requested", "loading", "loaded", "leaving", "failed"};
  const auto at = static_cast<unsigned>(state);
  return at < std::size(kWords) ? kWords[at] : "?";
}
const char* to_string(StreamDenial denial) {
  static constexpr const char* kWords[] = {"none",     "in_flight",   "residents", "slots", "bytes",
                                           "entities", "descriptors", "memory",    "pool"};
  const auto at = static_cast<unsigned>(denial);
  return at < std::size(kWords) ? kWords[at] : "?";
}
const char* to_string(StreamReason reason) {
  static constexpr const char* kWords[] = {"loaded",    "not_wanted",   "queued",  "denied",  "reading",
                                           "waits_for", "to_be_placed", "blocked", "leaving", "failed"};
  const auto at = static_cast<unsigned>(reason);
  return at < std::size(kWords) ? kWords[at] : "?";
}

// --- setting up ----------------------------------------------------------------------------------------

Status StreamingEngine::init(const StreamingConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(slots_ == nullptr && module_count_ == 0, "initialised once");
  if (slots_ != nullptr || module_count_ != 0) return {StatusCode::in_use, "the engine is initialised"};
  MERIDIAN_ASSERT(config.mounts != nullptr && config.io != nullptr, "mounts and io are given");
  if (config.mounts == nullptr || config.io == nullptr || config.max_resident == 0 || config.max_in_flight == 0) {
    return {StatusCode::bad_value, "a streaming engine needs mounts, io, residents and reads"};
  }
  config_ = config;
  allocator_ = &allocator;
  return {};
}

Status StreamingEngine::add_module(StreamModule& module, const StreamModuleOptions& options) {
  MERIDIAN_ASSERT(allocator_ != nullptr && slots_ == nullptr, "modules come after init() and before start()");
  if (allocator_ == nullptr || slots_ != nullptr) return {StatusCode::in_use, "modules come before start()"};
  if (module_count_ == kMaxModules) return {StatusCode::out_of_slots, "too many modules; detail = most", kMaxModules};
  if (options.slots == 0) return {StatusCode::bad_value, "a module has slots"};
  if (options.slots > kNone - 1 - slot_count_) return {StatusCode::too_large, "too many slots", options.slots};
  modules_[module_count_++] = {.module = &module, .options = options};
  module.base_ = slot_count_;
  module.slot_count_ = options.slots;
  slot_count_ += options.slots;
  return {};
}

Status StreamingEngine::start() {
  MERIDIAN_ASSERT(slots_ == nullptr, "started once");
  if (slots_ != nullptr) return {StatusCode::in_use, "the engine is started"};
  if (module_count_ == 0) return {StatusCode::bad_value, "a streaming engine needs modules"};
  const auto get = [&]<class T>(T*& out, uint32_t count) {
    out = static_cast<T*>(allocator_->allocate(count * sizeof(T), alignof(T)));
    return out != nullptr;
  };
  // All of them are asked for, so that free_memory() finds each null or whole.
  const bool has_slots = get(slots_, slot_count_), has_loads = get(loads_, config_.max_resident),
             has_keys = get(keys_, slot_count_), has_victims = get(victims_, config_.max_resident),
             has_marked = get(marked_, slot_count_);
  if (!has_slots || !has_loads || !has_keys || !has_victims || !has_marked) {
    free_memory();
    return {StatusCode::out_of_memory, "no memory for the streaming engine; detail = slots", slot_count_};
  }
  for (uint32_t m = 0; m < module_count_; ++m) {
    const StreamModule& module = *modules_[m].module;
    for (uint32_t i = 0; i < module.slot_count(); ++i) {
      Slot* const slot = new (&slots_[module.base() + i]) Slot;
      slot->module = static_cast<uint8_t>(m);
    }
  }
  update_ = departures_ = departures_seen_ = 0;
  clock_ = 0;
  decisions_ = 0;
  statistics_ = {};
  free_load_ = kNone;
  for (uint32_t i = config_.max_resident; i-- > 0;) {
    new (&loads_[i]) Load;
    loads_[i].next_free = free_load_;
    free_load_ = i;
  }
  return {};
}

/// What start() took, as far as it got it.
void StreamingEngine::free_memory() {
  const auto give_back = [&]<class T>(T*& block, uint32_t count) {
    allocator_->deallocate(block, count * sizeof(T), alignof(T));
    block = nullptr;
  };
  give_back(slots_, slot_count_);
  give_back(loads_, config_.max_resident);
  give_back(keys_, slot_count_);
  give_back(victims_, config_.max_resident);
  give_back(marked_, slot_count_);
}

void StreamingEngine::shutdown() {
  if (allocator_ == nullptr) return;
  if (slots_ != nullptr) {
    is_closing_ = true;
    recorder_ = nullptr;  // what comes now belongs to no update
    replay_ = nullptr;
    for (uint32_t i = 0; i < slot_count_; ++i) {
      Slot& s = slots_[i];
      s.keepers = 0;
      s.bits = static_cast<uint16_t>(s.bits & ~kAsked);
      s.priorities = 0;
      for (uint32_t& refs : s.refs) refs = 0;
      if (s.load != kNone) loads_[s.load].job.cancelled_.store(true, std::memory_order_relaxed);
    }
    while (statistics_.in_flight > 0) collect(true);
    // Dependants first: whatever uses others goes before them, so each round frees more.
    for (bool any = true; any;) {
      any = false;
      for (uint32_t l = 0; l < config_.max_resident; ++l) {
        const StreamIndex index = loads_[l].slot;
        if (index == kNone || at(index).users != 0) continue;
        any = remove_one(index, true) || any;
      }
    }
    for (uint32_t l = 0; l < config_.max_resident; ++l) {
      MERIDIAN_ASSERT(loads_[l].slot == kNone, "at shutdown all can be removed: the world is not locked");
      if (loads_[l].slot != kNone) free_load(loads_[l].slot);
      loads_[l].~Load();
    }
    for (uint32_t i = 0; i < slot_count_; ++i) set_state(i, StreamState::not_loaded);  // what waited, or failed
    free_memory();
  }
  is_closing_ = false;
  for (uint32_t m = 0; m < module_count_; ++m) modules_[m] = {};
  module_count_ = slot_count_ = 0;
  for (Ends& list : lists_) list = {};
  used_ = going_ = {};
  allocator_ = nullptr;
}

// --- lists ---------------------------------------------------------------------------------------------

/// Puts it into a list, out of the one that it is in: at the front, or at the end, where those stand that go first.
void StreamingEngine::enlist(StreamIndex index, List list, bool at_end) {
  delist(index);
  Slot& s = at(index);
  Ends& ends = lists_[static_cast<unsigned>(list)];
  s.list = list;
  s.bits |= kInList;
  s.previous = at_end ? ends.last : kNone;
  s.next = at_end ? kNone : ends.first;
  (s.previous != kNone ? at(s.previous).next : ends.first) = index;
  (s.next != kNone ? at(s.next).previous : ends.last) = index;
  ++ends.count;
}

void StreamingEngine::delist(StreamIndex index) {
  Slot& s = at(index);
  if ((s.bits & kInList) == 0) return;
  Ends& ends = lists_[static_cast<unsigned>(s.list)];
  (s.previous != kNone ? at(s.previous).next : ends.first) = s.next;
  (s.next != kNone ? at(s.next).previous : ends.last) = s.previous;
  s.next = s.previous = kNone;
  s.bits = static_cast<uint16_t>(s.bits & ~kInList);
  --ends.count;
}

void StreamingEngine::set_state(StreamIndex index, StreamState state) {
  Slot& s = at(index);
  if (s.state == state) return;
  const auto number = [&](StreamState of) -> uint32_t* {
    StreamModuleStatistics& statistics = statistics_of(s);
    switch (of) {
      case StreamState::requested:
        return &statistics.requested;
      case StreamState::loading:
        return &statistics.loading;
      case StreamState::loaded:
        return &statistics.loaded;
      case StreamState::failed:
        return &statistics.failed;
      case StreamState::not_loaded:
      case StreamState::leaving:
        return nullptr;
    }
    return nullptr;
  };
  if (uint32_t* const before = number(s.state)) --*before;
  if (uint32_t* const now = number(state)) ++*now;
  s.state = state;
  module_at(s).state_changed(local(index), state);
}

// --- wishes --------------------------------------------------------------------------------------------

bool StreamingEngine::is_held(const Slot& s) { return s.holders != 0 || refs_of(s) != 0; }

bool StreamingEngine::is_wanted(const Slot& s) {
  return s.keepers != 0 || (s.bits & kAsked) != 0 || s.soft_holders != 0 || is_held(s);
}

void StreamingEngine::set_priority(Slot& slot, uint8_t bit, bool on) {
  slot.priorities = static_cast<uint8_t>(on ? slot.priorities | bit : slot.priorities & ~bit);
}

void StreamingEngine::want(StreamIndex index) {
  Slot& s = at(index);
  if (s.state == StreamState::failed && clock_ >= static_cast<double>(s.retry_at)) {
    delist(index);
    set_state(index, StreamState::not_loaded);
  }
  settle(index);
}

/// Takes a slot to where it belongs, after what is wanted of it changed.
void StreamingEngine::settle(StreamIndex index) {
  Slot& s = at(index);
  if (is_closing_) return;
  s.priorities = static_cast<uint8_t>(s.priorities & (s.keepers | ((s.bits & kAsked) != 0 ? kAskedOnce : 0)));
  if (is_wanted(s)) {
    switch (s.state) {
      case StreamState::not_loaded:
        if ((s.bits & kMustLeave) != 0) return;
        s.since = update_;
        s.denial = StreamDenial::none;
        enlist(index, List::requested);
        set_state(index, StreamState::requested);
        ++statistics_of(s).misses;
        if (s.load != kNone) --statistics_of(s).cached;
        return;
      case StreamState::loading:
        if ((s.bits & kMustLeave) == 0) set_cancelled(loads_[s.load], false);
        return;
      case StreamState::loaded:
        delist(index);
        return;
      case StreamState::leaving:
        if ((s.bits & (kMustLeave | kDisplaced)) == 0) stay(index);
        return;
      case StreamState::failed:
        if ((s.bits & kInList) == 0 && std::isfinite(s.retry_at)) enlist(index, List::failed);
        return;
      case StreamState::requested:
        return;
    }
    return;
  }
  switch (s.state) {
    case StreamState::requested:
    case StreamState::loading:
      if (s.load == kNone || !loads_[s.load].is_submitted || !loads_[s.load].is_cancelled) {
        ++statistics_of(s).cancelled;
      }
      stop_loading(index);
      return;
    case StreamState::loaded:
      if (modules_[s.module].options.leaves_at_once) {
        leave(index);
      } else if ((s.bits & kInList) == 0) {
        enlist(index, List::idle);
      }
      return;
    case StreamState::failed:
      delist(index);  // it is not tried again by itself
      return;
    case StreamState::not_loaded:
    case StreamState::leaving:
      return;
  }
}

/// Loader threads need not go on, or should after all. In a replay all is read: the record says what was seen.
void StreamingEngine::set_cancelled(Load& load, bool on) {
  if (!load.is_submitted) return;
  load.is_wanted_again = load.is_wanted_again || (load.is_cancelled && !on);
  load.is_cancelled = on;
  if (replay_ == nullptr) load.job.cancelled_.store(on, std::memory_order_relaxed);
}

/// Of one that is requested or loading, and not wanted any more, or must go.
void StreamingEngine::stop_loading(StreamIndex index) {
  Slot& s = at(index);
  if (s.load != kNone && loads_[s.load].is_submitted) {  // complete() sees to it
    set_cancelled(loads_[s.load], true);
    return;
  }
  if ((s.bits & kBegun) != 0) {
    leave(index);
    return;
  }
  s.bits = static_cast<uint16_t>(s.bits & ~kFull);
  keep_bytes(index, (s.bits & (kPrepared | kMustLeave)) == kPrepared, false);
}

/// It is not there any more, at most its bytes are. Lets go of what it depends on last: where dependencies form a
/// circle, that comes back to it.
void StreamingEngine::keep_bytes(StreamIndex index, bool keeps, bool is_next_to_go) {
  Slot& s = at(index);
  delist(index);
  if (s.load == kNone || !keeps || loads_[s.load].bytes == 0) {
    set_state(index, StreamState::not_loaded);
    free_load(index);
    return;
  }
  Load& load = loads_[s.load];
  count(load, false);
  ++statistics_of(s).cached;
  enlist(index, List::idle, is_next_to_go);
  set_state(index, StreamState::not_loaded);
  release_dependencies(load);
}

/// Half placed or loaded, it goes when an update comes to it.
void StreamingEngine::leave(StreamIndex index) {
  Slot& s = at(index);
  if (s.state == StreamState::leaving) return;
  enlist(index, List::leaving);
  set_state(index, StreamState::leaving);
  going_.add(tally_of(loads_[s.load]));
}

/// It need not leave after all.
void StreamingEngine::stay(StreamIndex index) {
  Slot& s = at(index);
  going_.subtract(tally_of(loads_[s.load]));
  ++statistics_of(s).hits;
  s.bits = static_cast<uint16_t>(s.bits & ~kEvicted);
  delist(index);
  if ((s.bits & kBegun) != 0) {
    enlist(index, List::ready);
    set_state(index, StreamState::loading);
  } else {
    set_state(index, StreamState::loaded);
    arrive(index);
  }
}

/// It is loaded, so who asked once has got it.
void StreamingEngine::arrive(StreamIndex index) {
  if (index != awaited_) at(index).bits = static_cast<uint16_t>(at(index).bits & ~kAsked);
  settle(index);
}

void StreamingEngine::keep(StreamIndex index, StreamKeeper keeper, bool priority) {
  MERIDIAN_ASSERT(is_valid(index), "a slot of a module");
  if (!is_valid(index)) return;
  Slot& s = at(index);
  const auto bit = static_cast<uint8_t>(1u << static_cast<unsigned>(keeper));
  if ((s.keepers & bit) == 0 && s.state == StreamState::loaded) ++statistics_of(s).hits;
  s.keepers |= bit;
  set_priority(s, bit, priority);
  want(index);
}

void StreamingEngine::drop(StreamIndex index, StreamKeeper keeper) {
  MERIDIAN_ASSERT(is_valid(index), "a slot of a module");
  if (!is_valid(index) || !is_kept(index, keeper)) return;
  Slot& s = at(index);
  s.keepers = static_cast<uint8_t>(s.keepers & ~(1u << static_cast<unsigned>(keeper)));
  settle(index);
}

bool StreamingEngine::is_kept(StreamIndex index, StreamKeeper keeper) const {
  return is_valid(index) && (at(index).keepers >> static_cast<unsigned>(keeper) & 1) != 0;
}
bool StreamingEngine::is_kept(StreamIndex index) const { return is_valid(index) && at(index).keepers != 0; }

void StreamingEngine::request(StreamIndex index, bool priority) {
  MERIDIAN_ASSERT(is_valid(index), "a slot of a module");
  if (!is_valid(index)) return;
  Slot& s = at(index);
  if (s.state == StreamState::loaded) {
    ++statistics_of(s).hits;
    if ((s.bits & kInList) != 0) enlist(index, List::idle);  // needed just now
    return;
  }
  s.bits |= kAsked;
  set_priority(s, kAskedOnce, priority);
  want(index);
}

void StreamingEngine::cancel(StreamIndex index) {
  MERIDIAN_ASSERT(is_valid(index), "a slot of a module");
  if (!is_valid(index) || (at(index).bits & kAsked) == 0) return;
  at(index).bits = static_cast<uint16_t>(at(index).bits & ~kAsked);
  settle(index);
}

void StreamingEngine::add_ref(StreamIndex index, StreamRef kind) {
  MERIDIAN_ASSERT(is_valid(index) && is_loaded(index), "only what is loaded can be referred to");
  if (!is_valid(index) || !is_loaded(index)) return;
  ++at(index).refs[static_cast<unsigned>(kind)];
  settle(index);
}

void StreamingEngine::remove_ref(StreamIndex index, StreamRef kind) {
  MERIDIAN_ASSERT(refs(index, kind) > 0, "a reference of this kind was taken");
  if (refs(index, kind) == 0) return;
  --at(index).refs[static_cast<unsigned>(kind)];
  settle(index);
}

uint32_t StreamingEngine::refs(StreamIndex index, StreamRef kind) const {
  return is_valid(index) ? at(index).refs[static_cast<unsigned>(kind)] : 0;
}
uint32_t StreamingEngine::refs(StreamIndex index) const { return is_valid(index) ? refs_of(at(index)) : 0; }
uint32_t StreamingEngine::refs_of(const Slot& slot) {
  uint32_t all = 0;
  for (const uint32_t refs : slot.refs) all += refs;
  return all;
}

void StreamingEngine::forget_soft(StreamIndex index) {
  MERIDIAN_ASSERT(is_valid(index), "a slot of a module");
  if (!is_valid(index) || slots_ == nullptr || at(index).soft_holders == 0) return;
  for (uint32_t l = 0; l < config_.max_resident; ++l) {
    Load& load = loads_[l];
    for (uint32_t i = 0; i < load.dependency_count && load.slot != index; ++i) {
      StreamDependency& on = load.dependencies[i];
      if (!on.soft || on.index != index) continue;
      on.index = kNone;  // passed over from now on
      --at(index).soft_holders;
    }
  }
  settle(index);
}

void StreamingEngine::move_wishes(StreamIndex from, StreamIndex to) {
  MERIDIAN_ASSERT(is_loaded(from) && is_loaded(to) && from != to, "one loaded slot takes another's place");
  if (!is_loaded(from) || !is_loaded(to) || from == to) return;
  Slot &a = at(from), &b = at(to);
  b.keepers |= a.keepers;
  a.keepers = 0;
  for (unsigned kind = 0; kind < kStreamRefs; ++kind) b.refs[kind] += std::exchange(a.refs[kind], 0u);
  for (uint32_t l = 0; l < config_.max_resident; ++l) {
    Load& load = loads_[l];
    if (load.slot == kNone || load.slot == to) continue;
    for (uint32_t i = 0; i < load.dependency_count; ++i) {
      StreamDependency& on = load.dependencies[i];
      if (on.index != from) continue;
      on.index = to;
      --(on.soft ? a.soft_holders : a.holders);
      ++(on.soft ? b.soft_holders : b.holders);
      if (on.soft || !load.is_using) continue;
      --a.users;
      ++b.users;
    }
  }
  settle(to);
  settle(from);
}

void StreamingEngine::exchange(StreamIndex a, StreamIndex b) {
  const bool may = is_loaded(a) && is_loaded(b) && a != b && at(a).module == at(b).module;
  MERIDIAN_ASSERT(may, "two loaded slots of a module change places");
  if (!may) return;
  Load &x = loads_[at(a).load], &y = loads_[at(b).load];
  std::swap(at(a).load, at(b).load);
  std::swap(x.slot, y.slot);
  std::swap(x.job.index_, y.job.index_);
  settle(a);
  settle(b);
}

// --- questions -----------------------------------------------------------------------------------------

StreamState StreamingEngine::state(StreamIndex index) const {
  return is_valid(index) ? at(index).state : StreamState::not_loaded;
}

StreamModule* StreamingEngine::module_of(StreamIndex index) const {
  return is_valid(index) ? modules_[at(index).module].module : nullptr;
}

const StreamPayload* StreamingEngine::payload_of(StreamIndex index) const {
  if (!is_valid(index) || at(index).load == kNone || (at(index).bits & kPrepared) == 0) return nullptr;
  return &loads_[at(index).load].job.payload_;
}

std::span<const std::byte> StreamingEngine::bytes_of(StreamIndex index) const {
  const StreamPayload* const payload = payload_of(index);
  return payload != nullptr ? payload->bytes : std::span<const std::byte>();
}

StreamWhy StreamingEngine::why(StreamIndex index) const {
  if (!is_valid(index)) return {};
  const Slot& s = at(index);
  switch (s.state) {
    case StreamState::loaded:
      return {.reason = StreamReason::loaded};
    case StreamState::leaving:
      return {.reason = StreamReason::leaving};
    case StreamState::failed:
      return {.reason = StreamReason::failed, .cause = s.cause, .status = s.why};
    case StreamState::not_loaded:
      return {};
    case StreamState::requested: {
      if (s.load != kNone && loads_[s.load].is_held) {
        const StreamIndex missing = missing_dependency(loads_[s.load], false);
        if (missing != kNone) return {.reason = StreamReason::waits_for, .denial = s.denial, .cause = missing};
      }
      if (s.denial == StreamDenial::none) return {.reason = StreamReason::queued};
      return {.reason = StreamReason::denied, .denial = s.denial};
    }
    case StreamState::loading: {
      const Load& load = loads_[s.load];
      if (load.is_submitted) return {.reason = StreamReason::reading};
      const StreamIndex missing = missing_dependency(load, false);
      if (missing != kNone) return {.reason = StreamReason::waits_for, .cause = missing};
      if ((s.bits & kFull) != 0) {
        return {.reason = StreamReason::denied, .denial = StreamDenial::pool, .status = s.why};
      }
      if (!s.why.ok()) return {.reason = StreamReason::blocked, .status = s.why};
      return {.reason = StreamReason::to_be_placed};
    }
  }
  return {};
}

}  // namespace meridian
