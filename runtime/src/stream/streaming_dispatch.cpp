// SPDX-License-Identifier: MIT
// From requests to reads, dependencies first. Budgets: streaming_budget.cpp.
#include <algorithm>
#include <cmath>
#include <new>

#include "meridian/base/assert.h"
#include "meridian/base/log.h"
#include "meridian/stream/streaming.h"

namespace meridian {
namespace {

constexpr uint32_t kMaxDepth = 16;    // of dependencies; circles are found by find_cycle
constexpr uint32_t kMostDenied = 32;  // in one update: those behind are farther, and would be denied as well

}  // namespace

StreamingEngine::Key StreamingEngine::key_of(StreamIndex index) const {
  const Slot& s = at(index);
  const float distance = module_at(s).distance(local(index));
  return {std::isnan(distance) ? std::numeric_limits<float>::infinity() : distance, s.since, index,
          s.priorities != 0 || module_at(s).has_priority(local(index))};
}

// --- residents -----------------------------------------------------------------------------------------

uint32_t StreamingEngine::take_load(StreamIndex index) {
  if (free_load_ == kNone) return kNone;
  const uint32_t load = free_load_;
  free_load_ = loads_[load].next_free;
  loads_[load].slot = index;
  at(index).load = load;
  ++used_.records;
  return load;
}

/// Gives up bytes, dependencies and the record. The slot's state is the caller's.
void StreamingEngine::free_load(StreamIndex index) {
  Slot& s = at(index);
  if (s.load == kNone) return;
  Load& load = loads_[s.load];
  MERIDIAN_ASSERT(!load.is_submitted, "a read that is under way keeps its record");
  count(load, false);
  drop_bytes(load);
  // Dependencies last: what is let go of may let go of this one, where they form a circle.
  const uint32_t number = s.load;
  s.load = kNone;
  s.bits &= static_cast<uint16_t>(~(kPrepared | kBegun | kFull));
  release_dependencies(load);
  load.slot = kNone;
  load.mount = {};
  load.cost = {};
  load.known_bytes = 0;
  load.next_free = free_load_;
  free_load_ = number;
  --used_.records;
}

void StreamingEngine::drop_bytes(Load& load) {
  StreamJob& job = load.job;
  set_bytes(load, 0);
  job.pin_.release();
  job.payload_ = {};
  if (job.buffer_.data() != nullptr) {
    Allocator& from = job.is_from_source_ ? default_allocator() : *allocator_;
    from.deallocate(job.buffer_.data(), job.buffer_.size(), kPackAlignment);
  }
  job.buffer_ = {};
}

// --- dependencies --------------------------------------------------------------------------------------

/// Holds all that a slot depends on, which makes it wanted.
Status StreamingEngine::hold_dependencies(StreamIndex index) {
  const Slot& s = at(index);
  Load& load = loads_[s.load];
  if (load.is_held) return {};
  StreamDependency few[64];
  const StreamModule& module = module_at(s);
  const uint32_t number = module.dependencies(local(index), few);
  if (number > 0) {
    auto* const list = static_cast<StreamDependency*>(
        allocator_->allocate(number * sizeof(StreamDependency), alignof(StreamDependency)));
    if (list == nullptr) return {StatusCode::out_of_memory, "no memory for dependencies; detail = how many", number};
    if (number <= std::size(few)) {
      std::copy_n(few, number, list);
    } else {
      (void)module.dependencies(local(index), {list, number});
    }
    load.dependencies = list;
  }
  load.dependency_count = number;
  load.is_held = true;
  for (uint32_t i = 0; i < number; ++i) {
    const StreamDependency& on = load.dependencies[i];
    if (!is_valid(on.index) || on.index == index) continue;
    ++(on.soft ? at(on.index).soft_holders : at(on.index).holders);
    want(on.index);
  }
  return {};
}

void StreamingEngine::release_dependencies(Load& load) {
  if (!load.is_held) return;
  load.is_held = false;
  StreamDependency* const list = load.dependencies;
  const uint32_t number = load.dependency_count;
  load.dependencies = nullptr;
  load.dependency_count = 0;
  const StreamIndex slot = load.slot;
  for (uint32_t i = 0; i < number; ++i) {
    const StreamDependency& on = list[i];
    if (!is_valid(on.index) || on.index == slot) continue;
    --(on.soft ? at(on.index).soft_holders : at(on.index).holders);
    settle(on.index);
  }
  if (list != nullptr) allocator_->deallocate(list, number * sizeof(StreamDependency), alignof(StreamDependency));
}

/// While it is placed, or half, what it depends on strongly must not go.
void StreamingEngine::use_dependencies(Load& load, bool on) {
  if (load.is_using == on) return;
  load.is_using = on;
  for (uint32_t i = 0; i < load.dependency_count; ++i) {
    const StreamDependency& used = load.dependencies[i];
    if (used.soft || !is_valid(used.index) || used.index == load.slot) continue;
    at(used.index).users += on ? 1u : ~0u;
  }
}

/// The first strong dependency that is not loaded; `for_good`: that failed and is not tried again by itself.
StreamIndex StreamingEngine::missing_dependency(const Load& load, bool for_good) const {
  for (uint32_t i = 0; i < load.dependency_count; ++i) {
    const StreamDependency& on = load.dependencies[i];
    if (on.soft || !is_valid(on.index) || on.index == load.slot) continue;
    const Slot& s = at(on.index);
    if (for_good ? s.state == StreamState::failed && (s.bits & kInList) == 0 : s.state != StreamState::loaded) {
      return on.index;
    }
  }
  return kNone;
}

uint32_t StreamingEngine::find_cycle(std::span<StreamIndex> out) const {
  if (slots_ == nullptr) return 0;
  // Depth first; the path and how many dependencies of each were looked at stand in the scratch of keys.
  constexpr uint8_t kNew = 0, kOnPath = 1, kDone = 2;
  for (uint32_t i = 0; i < slot_count_; ++i) slots_[i].visit = kNew;
  StreamDependency few[256];
  for (StreamIndex root = 0; root < slot_count_; ++root) {
    if (at(root).visit != kNew) continue;
    uint32_t depth = 0;
    keys_[depth++] = {0, 0, root, false};
    slots_[root].visit = kOnPath;
    while (depth > 0) {
      Key& top = keys_[depth - 1];
      const StreamModule& module = module_at(at(top.slot));
      const uint32_t number = std::min<uint32_t>(module.dependencies(local(top.slot), few), std::size(few));
      if (top.since == number) {
        slots_[top.slot].visit = kDone;
        --depth;
        continue;
      }
      const StreamDependency on = few[top.since++];
      if (on.soft || !is_valid(on.index)) continue;
      if (at(on.index).visit == kDone) continue;
      if (at(on.index).visit == kNew) {
        slots_[on.index].visit = kOnPath;
        keys_[depth++] = {0, 0, on.index, false};
        continue;
      }
      uint32_t first = depth - 1;
      while (keys_[first].slot != on.index) --first;
      for (uint32_t i = first; i < depth && i - first < out.size(); ++i) out[i - first] = keys_[i].slot;
      const uint32_t length = depth - first;
      clear_visits();
      return length;
    }
  }
  clear_visits();
  return 0;
}

/// Requests have marks of their own there.
void StreamingEngine::clear_visits() const {
  for (uint32_t i = 0; i < slot_count_; ++i) slots_[i].visit = 0;
}

// --- requests ------------------------------------------------------------------------------------------

/// Of one that was read: the first that must be requested anew before it can be placed.
StreamIndex StreamingEngine::lost_dependency(StreamIndex index, uint32_t depth) const {
  const Load& load = loads_[at(index).load];
  for (uint32_t i = 0; i < load.dependency_count && depth < kMaxDepth; ++i) {
    const StreamDependency& on = load.dependencies[i];
    if (on.soft || !is_valid(on.index) || on.index == index) continue;
    const Slot& s = at(on.index);
    if (s.state == StreamState::requested) return on.index;
    if (s.state != StreamState::loading) continue;
    const StreamIndex deeper = lost_dependency(on.index, depth + 1);
    if (deeper != kNone) return deeper;
  }
  return kNone;
}

void StreamingEngine::dispatch_requests(StreamProgress& progress, bool counts_denied) {
  uint32_t number = 0;
  for (StreamIndex i = lists_[static_cast<unsigned>(List::requested)].first; i != kNone; i = at(i).next) {
    keys_[number++] = key_of(i);
  }
  // What was read, and lost something that it depends on: that comes in its place.
  for (StreamIndex i = lists_[static_cast<unsigned>(List::ready)].first; i != kNone; i = at(i).next) {
    if (lost_dependency(i, 0) != kNone) keys_[number++] = key_of(i);
  }
  // Only the first few can begin; the rest need not be in order.
  const auto is_later = [](const Key& a, const Key& b) { return b < a; };
  std::make_heap(keys_, keys_ + number, is_later);
  uint32_t denied[kMaxModules] = {};
  while (number > 0) {
    std::pop_heap(keys_, keys_ + number, is_later);
    const Key key = keys_[--number];
    const uint32_t before = statistics_.in_flight;
    StreamDenial denial = StreamDenial::none;
    if (at(key.slot).state == StreamState::requested) {
      denial = dispatch(key.slot, key, 0, nullptr);
    } else if (at(key.slot).state == StreamState::loading && (at(key.slot).bits & kPrepared) != 0) {
      const StreamIndex lost = lost_dependency(key.slot, 0);
      if (lost != kNone) denial = dispatch(lost, key, 1, nullptr);
    }  // or it went along with another
    progress.started += statistics_.in_flight - before;
    if (denial == StreamDenial::none) continue;
    if (denial == StreamDenial::in_flight) break;
    if (counts_denied) ++statistics_.denied;
    const uint8_t module = at(key.slot).module;
    if (++denied[module] < kMostDenied) continue;
    number = static_cast<uint32_t>(
        std::remove_if(keys_, keys_ + number, [&](const Key& k) { return at(k.slot).module == module; }) - keys_);
    std::make_heap(keys_, keys_ + number, is_later);
  }
  used_.subtract(promised_);
  promised_ = {};
}

/// Where a slot's resource is, and what room it needs. False: no mount has it.
bool StreamingEngine::look_up(StreamIndex index, ResourceLocation& location, ResourceShape& shape, Tally& need) const {
  const Slot& s = at(index);
  const StreamModule& module = module_at(s);
  const StreamCost cost = module.cost(local(index));
  need.entities = cost.entities;
  need.descriptors = cost.descriptors;
  need.slots[s.module] = 1;
  need.records = s.load == kNone ? 1 : 0;
  if ((s.bits & kPrepared) != 0 || module.is_dummy(local(index))) return true;
  location = module.locate(local(index));
  const Result<ResourceShape> found = config_.mounts->shape(location);
  if (!found.ok()) return false;
  shape = found.value();
  need.bytes = shape.raw_size != 0 ? shape.raw_size : cost.bytes;
  if (shape.raw_size == 0 && s.load != kNone && loads_[s.load].known_bytes != 0) {
    need.bytes = loads_[s.load].known_bytes;
  }
  return true;
}

/// What a request and all that must be loaded before it need; marks these. Only a request that gets all of it may
/// begin: two that had a half each would wait for each other.
StreamingEngine::Tally StreamingEngine::need_of_all(StreamIndex index, uint32_t serial) {
  Tally all;
  marked_count_ = 0;
  marked_[marked_count_++] = index;
  at(index).visit = 1;
  for (uint32_t m = 0; m < marked_count_; ++m) {
    Slot& s = at(marked_[m]);
    const bool stays = s.state == StreamState::leaving && (s.bits & (kMustLeave | kDisplaced)) == 0;
    if (s.state == StreamState::loaded || s.state == StreamState::loading || s.state == StreamState::failed || stays) {
      continue;  // with all that it depends on
    }
    ResourceLocation location;
    ResourceShape shape;
    Tally need;
    if (!look_up(marked_[m], location, shape, need)) continue;  // it fails when its turn comes
    all.add(need);
    s.reserved_by = serial;
    StreamDependency few[256];
    std::span<const StreamDependency> list;
    if (s.load != kNone && loads_[s.load].is_held) {
      list = {loads_[s.load].dependencies, loads_[s.load].dependency_count};
    } else {
      const uint32_t number = module_at(s).dependencies(local(marked_[m]), few);
      list = std::span<const StreamDependency>(few).first(std::min<size_t>(number, std::size(few)));
    }
    for (const StreamDependency& on : list) {
      if (on.soft || !is_valid(on.index) || at(on.index).visit != 0) continue;
      at(on.index).visit = 1;
      marked_[marked_count_++] = on.index;
    }
  }
  return all;
}

/// Begins to load a slot, and before it what it depends on. What is denied holds nothing, so that others may have it.
StreamDenial StreamingEngine::dispatch(StreamIndex index, const Key& key, uint32_t depth, Reservation* room) {
  if (depth > kMaxDepth) {
    fail(index, {StatusCode::bad_structure, "dependencies are too deep; detail = levels", kMaxDepth});
    return StreamDenial::none;
  }
  Slot& s = at(index);
  s.bits |= kBeginning;
  const StreamDenial denial = begin(index, key, depth, room);
  s.bits = static_cast<uint16_t>(s.bits & ~kBeginning);
  s.denial = denial;
  if (denial != StreamDenial::none && denial != StreamDenial::in_flight && s.load != kNone) {
    Load& load = loads_[s.load];
    if (load.bytes != 0 || load.known_bytes != 0) {
      release_dependencies(load);
    } else {
      free_load(index);
    }
  }
  return denial;
}

StreamDenial StreamingEngine::begin(StreamIndex index, const Key& key, uint32_t depth, Reservation* from) {
  Slot& s = at(index);
  const StreamModule& module = module_at(s);
  const bool is_read = (s.bits & kPrepared) != 0 || module.is_dummy(local(index));
  if (!is_read && statistics_.in_flight >= config_.max_in_flight) return StreamDenial::in_flight;
  ResourceLocation location;
  ResourceShape shape;
  Tally need;
  if (!look_up(index, location, shape, need)) {
    fail(index, {StatusCode::not_found, "no mount has it", 0, module.slot_name(local(index))});
    return StreamDenial::none;
  }
  // What belongs to a request that was given room for all has it; soft dependencies ask for room of their own.
  Reservation own;
  const bool is_reserved = from != nullptr && s.reserved_by == from->serial;
  if (!is_reserved) {
    own.serial = ++reservations_;
    own.left = need_of_all(index, own.serial);
    const StreamDenial denial = make_room(own.left, key);
    while (marked_count_ > 0) at(marked_[--marked_count_]).visit = 0;
    if (denial != StreamDenial::none) return denial;
    if (s.state != StreamState::requested) return StreamDenial::none;  // only what made room for it wanted it
    used_.add(own.left);
  }
  const StreamDenial denial = begin_with_room(index, {location, shape, need}, key, depth, is_reserved ? *from : own);
  used_.subtract(own.left);
  return denial;
}

StreamDenial StreamingEngine::begin_with_room(StreamIndex index, const Found& found, const Key& key, uint32_t depth,
                                              Reservation& room) {
  Slot& s = at(index);
  const bool is_read = (s.bits & kPrepared) != 0 || module_at(s).is_dummy(local(index));
  Tally need = found.need;
  if (s.load == kNone) {
    used_.records -= need.records;
    room.left.records -= need.records;
    need.records = 0;
    if (take_load(index) == kNone) return StreamDenial::residents;
  }
  Load& load = loads_[s.load];
  load.cost = {.bytes = 0,
               .entities = static_cast<uint32_t>(need.entities),
               .descriptors = static_cast<uint32_t>(need.descriptors)};
  if (!hold_dependencies(index).ok()) return StreamDenial::memory;
  if (const StreamDenial d = dispatch_dependencies(index, key, depth, room); d != StreamDenial::none) return d;
  if (s.state != StreamState::requested) return StreamDenial::none;  // a dependency failed
  if (!is_read && statistics_.in_flight >= config_.max_in_flight) return StreamDenial::in_flight;
  if (!is_read) {
    load.job.location_ = found.location;
    load.job.is_from_source_ = found.shape.kind == MountKind::source;
    const bool needs_buffer = !found.shape.is_in_place && found.shape.kind != MountKind::source;
    if (!begin_read(index, load, static_cast<uint32_t>(need.bytes), needs_buffer)) return StreamDenial::memory;
  }
  used_.subtract(need);  // from here on it counts by itself
  room.left.subtract(need);
  s.reserved_by = 0;
  if (!is_read) {
    set_bytes(load, static_cast<uint32_t>(need.bytes));
  } else {
    if (load.bytes != 0) ++statistics_of(s).reused;
    s.bits |= kPrepared;
  }
  count(load, true);
  s.why = {};
  delist(index);
  if (is_read) enlist(index, List::ready);
  set_state(index, StreamState::loading);
  decide(kBegunReading, index);
  // After the state is right, since a job may be done at once.
  if (!is_read) {
    load.is_submitted = true;
    ++statistics_.in_flight;
    if (const Status taken = config_.io->submit(load.job); !taken.ok()) load.job.fail(taken);
  }
  return StreamDenial::none;
}

StreamDenial StreamingEngine::dispatch_dependencies(StreamIndex index, const Key& key, uint32_t depth,
                                                    Reservation& room) {
  for (const bool soft : {false, true}) {
    const Load& load = loads_[at(index).load];
    for (uint32_t i = 0; i < load.dependency_count; ++i) {
      const StreamDependency on = load.dependencies[i];
      if (on.soft != soft || !is_valid(on.index) || on.index == index) continue;
      Slot& s = at(on.index);
      if ((s.bits & kBeginning) != 0) {
        if (soft) continue;
        fail(index, {StatusCode::bad_structure, "it depends on itself", 0, module_at(s).slot_name(local(on.index))},
             on.index);
        return StreamDenial::none;
      }
      if (s.state == StreamState::requested) {
        const StreamDenial denial = dispatch(on.index, key, depth + 1, &room);
        if (denial != StreamDenial::none && !soft) return denial;
        if (at(index).state != StreamState::requested) return StreamDenial::none;
      }
      if (soft || s.state != StreamState::failed || (s.bits & kInList) != 0) continue;  // or it will be tried again
      fail(index, {StatusCode::not_found, "what it depends on failed", 0, module_at(s).slot_name(local(on.index))},
           on.index);
      return StreamDenial::none;
    }
  }
  return StreamDenial::none;
}

/// A block for bytes. Cached ones make room where memory is short, and where there are none, what is not wanted.
void* StreamingEngine::take_buffer(uint32_t bytes) {
  for (;;) {
    void* const block = allocator_->allocate(bytes, kPackAlignment);
    if (block != nullptr) return block;
    StreamIndex oldest = kNone, oldest_loaded = kNone;
    for (StreamIndex i = lists_[static_cast<unsigned>(List::idle)].last; i != kNone; i = at(i).previous) {
      if (loads_[at(i).load].job.buffer_.data() == nullptr) continue;
      StreamIndex& first = at(i).state == StreamState::not_loaded ? oldest : oldest_loaded;
      if (first == kNone) first = i;
    }
    if (oldest == kNone) {
      const bool is_going = lists_[static_cast<unsigned>(List::leaving)].count > 0;
      if (oldest_loaded != kNone && !is_going) evict(oldest_loaded);
      return nullptr;
    }
    evict(oldest);
  }
}

bool StreamingEngine::begin_read(StreamIndex index, Load& load, uint32_t bytes, bool needs_buffer) {
  StreamJob& job = load.job;
  if (needs_buffer && bytes > 0) {
    void* const block = take_buffer(bytes);
    if (block == nullptr) return false;
    job.buffer_ = {static_cast<std::byte*>(block), bytes};
  }
  const Slot& s = at(index);
  job.engine_ = this;
  job.module_ = &module_at(s);
  job.mounts_ = config_.mounts;
  job.payload_ = {};
  job.payload_.name = job.module_->slot_name(local(index));
  job.was_cancelled_ = job.needs_more_ = false;
  job.status_ = {};
  job.index_ = index;
  job.bytes_ = bytes;
  job.cancelled_.store(false, std::memory_order_relaxed);
  load.is_cancelled = load.is_wanted_again = false;
  load.mount = job.location_.mount;
  ++modules_[s.module].statistics.reads;
  return true;
}

}  // namespace meridian
