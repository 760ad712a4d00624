// SPDX-License-Identifier: MIT
// What an update does: takes what was read, begins reads, places and removes within its budget.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cmath>

#include "meridian/base/assert.h"
#include "meridian/base/log.h"
#include "meridian/stream/stream_trace.h"
#include "meridian/stream/streaming.h"

namespace meridian {
namespace {

using Clock = std::chrono::steady_clock;

/// In records: run() saw that nobody wanted it.
constexpr auto kCancelled = static_cast<StatusCode>(0xFFFF);

constexpr double kNever = std::numeric_limits<float>::infinity();

uint64_t mixed(uint64_t state, uint64_t value) {
  state = (state ^ value) * 0x9E3779B97F4A7C15u;
  return state ^ state >> 29;
}

}  // namespace

/// How much of an update's budget is left. Reads no clock where only chunks count.
class StreamingEngine::ChunkBudget {
 public:
  explicit ChunkBudget(const StreamUpdate& how)
      : start_(how.max_microseconds != 0 ? Clock::now() : Clock::time_point()),
        most_(how.max_chunks),
        microseconds_(how.max_microseconds) {}

  /// True if another chunk may begin. The first one always may.
  bool any() const {
    if (used_ >= most_) return false;
    return microseconds_ == 0 || used_ == 0 || nanoseconds() < uint64_t{microseconds_} * 1000;
  }
  void use() { ++used_; }
  uint32_t used() const { return used_; }
  uint64_t nanoseconds() const {
    if (microseconds_ == 0) return 0;
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count());
  }

 private:
  Clock::time_point start_;
  uint32_t most_, microseconds_, used_ = 0;
};

void StreamingEngine::decide(Decision what, StreamIndex index) {
  decisions_ = mixed(decisions_, static_cast<uint64_t>(what) << 32 | index);
}

// --- what was read -------------------------------------------------------------------------------------

/// From any thread.
void StreamingEngine::push_done(StreamJob& job) {
  StreamJob* head = done_.load(std::memory_order_relaxed);
  do {
    job.next_ = head;
  } while (!done_.compare_exchange_weak(head, &job, std::memory_order_release, std::memory_order_relaxed));
}

/// Appends what is done to what has arrived, in the order of arrival.
void StreamingEngine::take_done() {
  StreamJob* job = done_.exchange(nullptr, std::memory_order_acquire);
  StreamJob* first = nullptr;
  StreamJob* const last = job;
  while (job != nullptr) {
    StreamJob* const next = job->next_;
    job->next_ = first;
    first = job;
    job = next;
  }
  if (first == nullptr) return;
  (last_arrived_ != nullptr ? last_arrived_->next_ : arrived_) = first;
  last_arrived_ = last;
}

/// The job of a slot, out of those that have arrived, or null.
StreamJob* StreamingEngine::take_arrived(StreamIndex index) {
  StreamJob* before = nullptr;
  for (StreamJob* job = arrived_; job != nullptr; before = job, job = job->next_) {
    if (job->index_ != index) continue;
    (before != nullptr ? before->next_ : arrived_) = job->next_;
    if (last_arrived_ == job) last_arrived_ = before;
    return job;
  }
  return nullptr;
}

void StreamingEngine::collect(bool wait_for_one) {
  if (replay_ != nullptr) {
    collect_replayed();
    return;
  }
  take_done();
  while (wait_for_one && arrived_ == nullptr && statistics_.in_flight > 0) {
    config_.io->wait();
    take_done();
  }
  while (arrived_ != nullptr) {
    StreamJob* const job = arrived_;
    arrived_ = job->next_;
    if (arrived_ == nullptr) last_arrived_ = nullptr;
    complete(*job);
  }
}

/// What the record saw, in its order, however long it takes.
void StreamingEngine::collect_replayed() {
  StreamTraceReader::Completion next;
  while (replay_->next_completion(next)) {
    if (!is_valid(next.index) || at(next.index).load == kNone || !loads_[at(next.index).load].is_submitted) {
      continue;  // it has diverged; the decisions will say so
    }
    StreamJob* job = nullptr;
    for (take_done(); (job = take_arrived(next.index)) == nullptr; take_done()) config_.io->wait();
    job->was_cancelled_ = next.code == kCancelled;
    if (next.code != job->status_.code && next.code != StatusCode::ok) {
      job->status_ = {next.code, "it failed in the record"};  // the device failed then
    }
    complete(*job);
  }
}

void StreamingEngine::complete(StreamJob& job) {
  const StreamIndex index = job.index_;
  Slot& s = at(index);
  Load& load = loads_[s.load];
  if (recorder_ != nullptr) recorder_->completion(index, job.was_cancelled_ ? kCancelled : job.status_.code);
  load.is_submitted = false;
  --statistics_.in_flight;
  const bool is_kept = is_wanted(s) && (s.bits & (kMustLeave | kDisplaced)) == 0;
  if (job.status_.code == StatusCode::too_small && job.needs_more_ && is_kept && !is_closing_) {
    // Its size was not known, or has changed: it is requested once more, for as much as budgets bear.
    load.known_bytes = job.bytes_;
    drop_bytes(load);
    count(load, false);
    enlist(index, List::requested);
    set_state(index, StreamState::requested);
    return;
  }
  if (job.status_.ok() && !job.was_cancelled_) {
    s.bits |= kPrepared;
    s.retries = 0;
    s.cause = kNone;
    // What it takes is known only now, where a source made it.
    const size_t bytes = job.buffer_.data() != nullptr ? job.buffer_.size() : job.payload_.bytes.size();
    set_bytes(load, static_cast<uint32_t>(bytes));
    if (is_kept) {
      if (load.is_wanted_again) ++statistics_of(s).reused;
      enlist(index, List::ready);
      return;
    }
  } else if (is_kept && !job.was_cancelled_) {
    fail(index, job.status_);
    return;
  }
  stop_loading(index);  // the bytes stay, if there are any
  s.bits = static_cast<uint16_t>(s.bits & ~(kMustLeave | kDisplaced));
  settle(index);  // it may be wanted again since it was cancelled
}

void StreamingEngine::fail(StreamIndex index, const Status& why, StreamIndex cause) {
  Slot& s = at(index);
  s.why = why;
  s.cause = cause;
  if (s.why.name.value == 0) s.why.name = module_at(s).slot_name(local(index));
  ++statistics_of(s).failures;
  if (s.retries == 0) {
    const NameHash name = module_at(s).slot_name(local(index));
    const char* const kind = module_at(s).name();
    if (cause != kNone) {
      log_message(LogLevel::error, name, "%s %s: %s: %s", kind, name_text(name).text, why.message,
                  name_text(s.why.name).text);
    } else {
      log_message(LogLevel::error, name, "%s %s: %s (%" PRIu64 ")", kind, name_text(name).text, why.message,
                  why.detail);
    }
  }
  const bool is_read = why.code == StatusCode::io_error;
  const bool again = is_read && s.retries < config_.retry.io_retries;
  const double pause = std::ldexp(static_cast<double>(config_.retry.first_pause), s.retries);
  s.retry_at = again ? static_cast<float>(clock_ + pause) : static_cast<float>(kNever);
  if (s.retries < 0xFF) ++s.retries;
  s.bits = static_cast<uint16_t>(s.bits & ~(kMustLeave | kDisplaced | kEvicted));
  delist(index);
  set_state(index, StreamState::failed);
  decide(kFailed, index);
  free_load(index);
  settle(index);
}

/// Whatever failed and is still wanted, when its pause is over.
void StreamingEngine::retry_waiting() {
  for (StreamIndex i = lists_[static_cast<unsigned>(List::failed)].first; i != kNone;) {
    const StreamIndex next = at(i).next;
    want(i);
    i = next;
  }
}

void StreamingEngine::retry_failed() {
  if (!config_.retry.after_remount) return;
  for (StreamIndex i = 0; i < slot_count_; ++i) {
    Slot& s = at(i);
    if (s.state != StreamState::failed) continue;
    delist(i);
    s.retries = 0;
    set_state(i, StreamState::not_loaded);
    settle(i);
  }
}

// --- what leaves ---------------------------------------------------------------------------------------

/// True if it is gone. `by_force`: whatever state it is in.
bool StreamingEngine::remove_one(StreamIndex index, bool by_force) {
  Slot& s = at(index);
  const bool is_there = s.state == StreamState::loaded || s.state == StreamState::leaving || (s.bits & kBegun) != 0;
  if (is_there) {
    const StreamStep step = module_at(s).remove(local(index));
    if (step.kind != StreamStep::Kind::done) return false;
    ++statistics_of(s).removed;
    ++departures_;
    decide(kRemoved, index);
  }
  Load& load = loads_[s.load];
  use_dependencies(load, false);
  if (s.state == StreamState::leaving) going_.subtract(tally_of(load));
  const bool keeps = !by_force && (s.bits & (kMustLeave | kDisplaced)) == 0;
  const bool is_next_to_go = (s.bits & kEvicted) != 0;
  s.bits = static_cast<uint16_t>(s.bits & ~(kBegun | kFull | kMustLeave | kDisplaced | kEvicted));
  keep_bytes(index, keeps, is_next_to_go);
  settle(index);
  return true;
}

void StreamingEngine::remove_leaving(ChunkBudget& budget) {
  // From the last one on, who came first. What waits for its dependants to leave is passed over.
  for (StreamIndex i = lists_[static_cast<unsigned>(List::leaving)].last; i != kNone && budget.any();) {
    const StreamIndex before = at(i).previous;
    if (may_go_now(at(i)) && remove_one(i, false)) budget.use();  // false: the world is locked, or it is in use
    i = before;
  }
}

/// Whatever state it is in, it goes with its bytes; what is wanted is read anew.
void StreamingEngine::must_leave(StreamIndex index) {
  Slot& s = at(index);
  if (s.state == StreamState::failed) {
    delist(index);
    s.retries = 0;
    set_state(index, StreamState::not_loaded);
    settle(index);
  }
  if (s.load == kNone) return;
  s.bits |= kMustLeave;
  switch (s.state) {
    case StreamState::loaded:
      leave(index);
      return;
    case StreamState::leaving:
    case StreamState::failed:
      return;
    case StreamState::requested:
    case StreamState::loading:
      stop_loading(index);
      break;
    case StreamState::not_loaded:  // cached
      --statistics_of(s).cached;
      delist(index);
      free_load(index);
      break;
  }
  if (s.state != StreamState::not_loaded) return;  // it takes an update
  s.bits = static_cast<uint16_t>(s.bits & ~kMustLeave);
  settle(index);
}

/// What depends on something that must leave must leave too. False: there was nothing left to mark.
bool StreamingEngine::spread_leaving() {
  bool any = false;
  for (bool more = true; more;) {
    more = false;
    for (uint32_t l = 0; l < config_.max_resident; ++l) {
      const Load& load = loads_[l];
      if (load.slot == kNone || (at(load.slot).bits & kMustLeave) != 0) continue;
      const StreamState state = at(load.slot).state;
      if (state != StreamState::loaded && state != StreamState::loading && state != StreamState::leaving) continue;
      bool goes = false;
      for (uint32_t i = 0; i < load.dependency_count && !goes; ++i) {
        const StreamDependency& on = load.dependencies[i];
        goes = !on.soft && is_valid(on.index) && (at(on.index).bits & kMustLeave) != 0;
      }
      if (!goes) continue;
      must_leave(load.slot);
      more = any = true;
    }
  }
  return any;
}

void StreamingEngine::reload(StreamIndex index) {
  MERIDIAN_ASSERT(is_valid(index), "a slot of a module");
  if (!is_valid(index)) return;
  must_leave(index);
  (void)spread_leaving();
}

void StreamingEngine::reload_moved() {
  for (uint32_t l = 0; l < config_.max_resident; ++l) {
    const Load& load = loads_[l];
    if (load.slot == kNone || !load.mount) continue;
    if (!load.is_submitted && (at(load.slot).bits & kPrepared) == 0) continue;  // it will be found anew
    if (module_at(at(load.slot)).locate(local(load.slot)).mount != load.mount) reload(load.slot);
  }
}

bool StreamingEngine::evacuate(MountId mount) {
  bool any = false;
  for (uint32_t l = 0; l < config_.max_resident; ++l) {
    const Load& load = loads_[l];
    if (load.slot == kNone || load.mount != mount) continue;
    if (!load.is_submitted && (at(load.slot).bits & kPrepared) == 0) continue;  // it will be found elsewhere
    any = true;
    if ((at(load.slot).bits & kMustLeave) == 0) must_leave(load.slot);
  }
  return !spread_leaving() && !any;
}

// --- what comes ----------------------------------------------------------------------------------------

/// Places as much as the budget bears, but one chunk in any case: if time ran out between here and the call, a replay
/// could not know that it had begun. True if it is complete. Requires: there was budget.
bool StreamingEngine::place_one(StreamIndex index, ChunkBudget& budget) {
  Slot& s = at(index);
  const StreamPayload& payload = loads_[s.load].job.payload_;
  use_dependencies(loads_[s.load], true);
  do {
    const StreamStep step = module_at(s).place(local(index), payload);
    if (step.kind != StreamStep::Kind::blocked) budget.use();  // then nothing was done
    switch (step.kind) {
      case StreamStep::Kind::more:
        s.bits |= kBegun;
        s.why = {};
        continue;
      case StreamStep::Kind::done:
        s.bits = static_cast<uint16_t>(s.bits & ~kBegun);
        s.why = {};
        delist(index);
        set_state(index, StreamState::loaded);
        ++statistics_of(s).placed;
        decide(kPlaced, index);
        arrive(index);
        return true;
      case StreamStep::Kind::blocked:
        s.why = step.why;
        if (s.why.ok()) s.why = {StatusCode::in_use, "the module cannot place it now"};
        if ((s.bits & kBegun) == 0) use_dependencies(loads_[s.load], false);
        return false;
      case StreamStep::Kind::full:
        s.why = step.why;
        s.bits = static_cast<uint16_t>((s.bits | kFull) & ~kBegun);
        use_dependencies(loads_[s.load], false);
        decide(kFoundFull, index);
        return false;
      case StreamStep::Kind::failed:
        s.bits = static_cast<uint16_t>(s.bits & ~kBegun);
        use_dependencies(loads_[s.load], false);
        fail(index, step.why);
        return false;
    }
  } while (budget.any());
  return false;
}

/// What waits for something that failed for good fails too. Before anything is placed and however little may be: a
/// replay knows how many chunks were placed, not when time was up.
void StreamingEngine::fail_ready() {
  for (bool any = true; any;) {
    any = false;
    for (StreamIndex i = lists_[static_cast<unsigned>(List::ready)].first; i != kNone && !any; i = at(i).next) {
      const StreamIndex missing = missing_dependency(loads_[at(i).load], true);
      if (missing == kNone) continue;
      const Slot& on = at(missing);
      if ((at(i).bits & kBegun) != 0) continue;
      fail(i, {StatusCode::not_found, "what it depends on failed", 0, module_at(on).slot_name(local(missing))},
           missing);
      any = true;
    }
  }
}

/// Of those that found a pool full: the first one gets room, unless something that leaves may be enough.
void StreamingEngine::make_room_in_pools() {
  Key first;
  for (StreamIndex i = lists_[static_cast<unsigned>(List::ready)].first; i != kNone; i = at(i).next) {
    if ((at(i).bits & kFull) == 0) continue;
    ++statistics_.denied;
    const Key key = key_of(i);
    if (first.slot == kNone || key < first) first = key;
  }
  if (first.slot != kNone) evict_for_pool(first);
}

void StreamingEngine::place_ready(ChunkBudget& budget) {
  if (departures_ != departures_seen_) {
    departures_seen_ = departures_;
    for (StreamIndex i = lists_[static_cast<unsigned>(List::ready)].first; i != kNone; i = at(i).next) {
      at(i).bits = static_cast<uint16_t>(at(i).bits & ~kFull);
    }
  }
  uint32_t blocked = 0;  // modules, a bit each
  for (bool any = true; any && budget.any();) {
    any = false;
    uint32_t number = 0;
    for (StreamIndex i = lists_[static_cast<unsigned>(List::ready)].first; i != kNone; i = at(i).next) {
      if ((at(i).bits & kFull) != 0 || (blocked >> at(i).module & 1) != 0) continue;
      Key key = key_of(i);
      if ((at(i).bits & kBegun) != 0) key = {-1, 0, i, true};  // what has begun is ended first
      keys_[number++] = key;
    }
    std::sort(keys_, keys_ + number);
    for (uint32_t k = 0; k < number && budget.any(); ++k) {
      const StreamIndex index = keys_[k].slot;
      const Slot& s = at(index);
      if (s.state != StreamState::loading || (s.bits & kInList) == 0 || (blocked >> s.module & 1) != 0) continue;
      if (missing_dependency(loads_[s.load], false) != kNone) continue;
      const uint32_t before = budget.used();
      any = place_one(index, budget) || any;
      if (budget.used() == before) blocked |= 1u << s.module;
    }
  }
}

StreamProgress StreamingEngine::run_update(const StreamUpdate& how, bool wait_for_one) {
  StreamUpdate limits = how;
  ++update_;
  ++statistics_.updates;
  clock_ += static_cast<double>(how.seconds);
  config_.io->pump(how.seconds);
  if (replay_ != nullptr) {
    collect(wait_for_one);
    limits = {.seconds = how.seconds, .max_microseconds = 0, .max_chunks = replay_->chunks()};
  }
  ChunkBudget budget(limits);
  if (replay_ == nullptr) collect(wait_for_one);
  retry_waiting();
  trim();
  StreamProgress progress;
  has_victims_ = false;
  dispatch_requests(progress, false);
  remove_leaving(budget);
  fail_ready();
  place_ready(budget);
  make_room_in_pools();
  // Into what came free.
  if (lists_[static_cast<unsigned>(List::requested)].count > 0) dispatch_requests(progress, true);
  statistics_.peak_bytes = std::max(statistics_.peak_bytes, used_.bytes);
  progress.chunks = budget.used();
  progress.left = lists_[static_cast<unsigned>(List::ready)].count + lists_[static_cast<unsigned>(List::leaving)].count;
  statistics_.chunks += progress.chunks;
  statistics_.longest_update = std::max(statistics_.longest_update, budget.nanoseconds());
  if (recorder_ != nullptr) recorder_->end_update(progress.chunks, decisions_);
  if (replay_ != nullptr) (void)replay_->end_update(decisions_);
  return progress;
}

StreamProgress StreamingEngine::update(const StreamUpdate& how) {
  if (slots_ == nullptr) return {};
  return run_update(how, false);
}

Status StreamingEngine::load_now(StreamIndex index) {
  MERIDIAN_ASSERT(is_valid(index), "a slot of a module");
  if (!is_valid(index)) return {StatusCode::bad_value, "no such slot; detail = the index", index};
  awaited_ = index;  // so that it does not leave before this returns
  request(index, true);
  const Status status = wait_for(index);
  awaited_ = kNone;
  Slot& s = at(index);
  s.bits = static_cast<uint16_t>(s.bits & ~kAsked);
  if (status.ok() && !is_wanted(s)) {
    s.priorities = 0;
    enlist(index, List::idle);
  } else {
    settle(index);
  }
  return status;
}

Status StreamingEngine::wait_for(StreamIndex index) {
  bool has_waited = false;
  for (uint32_t idle = 0; !is_loaded(index);) {
    const uint32_t in_flight = statistics_.in_flight;
    const StreamProgress progress = run_update({}, has_waited);
    if (!has_waited) ++statistics_.stalls;
    has_waited = true;
    if (at(index).state == StreamState::failed) return at(index).why;
    // Nothing moves any more: it is held back by something that only the caller can change.
    const bool moved = progress.chunks > 0 || progress.started > 0 || in_flight != statistics_.in_flight;
    idle = moved ? 0 : idle + 1;
    if (idle < 4) continue;
    StreamWhy reason = why(index);
    for (uint32_t i = 0; reason.reason == StreamReason::waits_for && i < module_count_ * 4; ++i) {
      reason = why(reason.cause);
    }
    if (!reason.status.ok()) return reason.status;
    return {StatusCode::out_of_slots, "held back by a budget; detail = StreamDenial",
            static_cast<uint64_t>(reason.denial), module_at(at(index)).slot_name(local(index))};
  }
  return {};
}

}  // namespace meridian
