// SPDX-License-Identifier: MIT
#pragma once
/// Loads and unloads slots of modules: reads on loader threads, places on the owner's, in order of need, within
/// budgets.
///
///   ThreadIo io;                                                     // stream/thread_io.h
///   StreamingEngine engine;
///   Status ready = io.start({.threads = 2});
///   ready = engine.init({.mounts = &mounts, .io = &io});
///   ready = engine.add_module(types, {.slots = 4000});               // what others depend on comes first
///   ready = engine.add_module(map_store, {.slots = 9000, .max_loaded = 1000, .leaves_at_once = true});
///   ready = engine.start();
///
///   engine.keep(map_store.index(17), StreamKeeper::script);          // stays wanted until drop()
///   engine.update({.seconds = seconds, .max_microseconds = 500});    // once a frame
///   if (engine.state(map_store.index(17)) == StreamState::failed) show(engine.why(map_store.index(17)));
///   engine.shutdown();
///
/// A slot is *wanted* while somebody keeps it, refers to it, or something wanted depends on it; request() wants it
/// once, until it is loaded. What is wanted is requested, what it depends on before it, in the order: priority,
/// distance, age. What is loaded and not wanted stays until its room is needed, the one that was needed longest ago
/// goes first; maps leave the world at once (leaves_at_once), and their bytes stay. Under pressure what only the box
/// streamer keeps gives way to what is nearer.
///
/// Nothing here aborts: a budget or a pool that is full holds requests back (statistics.denied), a resource that cannot
/// be read leaves its slot failed, with a message, and is tried again as StreamRetry says.
///
/// What depends on others gets room for all of them at once, or waits; dependencies may be 16 deep. What is known only
/// when it is there (what a source makes) is counted then, and may be over a budget for a while.
///
/// Requests may be taken back at any time. A read that is under way ends, and its bytes are used if the slot is wanted
/// again by then; nothing is ever read twice at once, and the last call counts.
///
/// The same calls, with the same completions seen in the same updates and the same chunks placed, give the same
/// decisions; stream/stream_trace.h records and replays them.
///
/// Threads: main. Loader threads only run StreamJob.
/// Memory:  about 130 bytes a slot and 400 a resident, in start(); lists of dependencies and bytes that are not used in
///          place from the allocator, when a read begins. With a RegionAllocator nothing calls malloc after start().

#include <atomic>
#include <cstdint>
#include <limits>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/resource/mount.h"
#include "meridian/stream/stream_io.h"
#include "meridian/stream/stream_module.h"

namespace meridian {

class StreamTraceWriter;
class StreamTraceReader;

/// When a slot that failed is tried again, if it is still wanted.
struct StreamRetry {
  uint32_t io_retries = 4;    ///< a failed read, after a pause that doubles each time; then it waits for a remount
  float first_pause = 0.5f;   ///< [s]
  bool after_remount = true;  ///< whatever failed, when retry_failed() is called
};

/// What may be resident at once; 0: no limit. Counted from the start of a read until it left.
struct StreamBudget {
  uint64_t bytes = 0;  ///< of resources, cached ones and reads under way among them
  uint64_t entities = 0;
  uint64_t descriptors = 0;
};

struct StreamingConfig {
  ResourceMounts* mounts = nullptr;  ///< not null, like io; both outlive the engine
  StreamIo* io = nullptr;
  StreamBudget budget{};
  uint32_t max_resident = 8192;  ///< slots that are read, placed or cached at once [count]
  uint32_t max_in_flight = 32;   ///< reads at once [count]
  StreamRetry retry{};
  /// Something nearer displaces what the box streamer keeps if that is farther than distance * factor + margin.
  float displace_factor = 1.1f, displace_margin = 5.0f;
};

struct StreamModuleOptions {
  uint32_t slots = 0;           ///< [count]
  uint32_t max_loaded = 0;      ///< loaded or loading at once; 0: no limit [count]
  bool leaves_at_once = false;  ///< is removed as soon as it is not wanted; its bytes stay while there is room
};

/// How much an update may do.
struct StreamUpdate {
  float seconds = 0;                 ///< since the last one, for pauses and slow devices [s]
  uint32_t max_microseconds = 0;     ///< 0: no limit. One chunk is placed in any case
  uint32_t max_chunks = 0xFFFFFFFF;  ///< with max_microseconds 0, no clock is read
};
struct StreamProgress {
  uint32_t chunks = 0;   ///< placed or removed
  uint32_t started = 0;  ///< reads
  uint32_t left = 0;     ///< slots that are read and wait to be placed, or wait to leave
};

/// Why a request waits.
enum class StreamDenial : uint8_t { none, in_flight, residents, slots, bytes, entities, descriptors, memory, pool };
const char* to_string(StreamDenial denial);

enum class StreamReason : uint8_t {
  loaded,
  not_wanted,  ///< nobody asks for it
  queued,      ///< its turn has not come
  denied,      ///< a budget or pool is full: see denial
  reading,
  waits_for,     ///< `cause` must be loaded first
  to_be_placed,  ///< it is read, the rest is a matter of updates
  blocked,       ///< the module cannot place it now: see status
  leaving,
  failed,  ///< see status; `cause`, if any, is what failed first
};
const char* to_string(StreamReason reason);

/// The first reason why a slot is not loaded.
struct StreamWhy {
  StreamReason reason = StreamReason::not_wanted;
  StreamDenial denial = StreamDenial::none;
  StreamIndex cause = kNoStream;
  Status status{};
};

struct StreamModuleStatistics {
  uint32_t loaded = 0, requested = 0, loading = 0, failed = 0;  ///< slots now [count]
  uint32_t cached = 0;                                          ///< bytes without the thing, slots now [count]
  uint64_t bytes = 0;                                           ///< resident now, cached ones among them [bytes]
  uint64_t hits = 0, misses = 0;          ///< requests for what was loaded, and what was not [count]
  uint64_t reads = 0, reused = 0;         ///< begun; saved because bytes were cached or under way [count]
  uint64_t placed = 0, removed = 0;       ///< [count]
  uint64_t evictions = 0, displaced = 0;  ///< for room, by what is nearer [count]
  uint64_t cancelled = 0, failures = 0;   ///< [count]
};
struct StreamStatistics {
  uint64_t updates = 0;
  uint64_t denied = 0;          ///< updates in which a budget or pool held a request back, summed [count]
  uint64_t stalls = 0;          ///< load_now() had to wait [count]
  uint64_t chunks = 0;          ///< [count]
  uint64_t longest_update = 0;  ///< with max_microseconds only [ns]
  uint64_t peak_bytes = 0;      ///< [bytes]
  uint32_t in_flight = 0;       ///< now [count]
};

class StreamingEngine {
 public:
  static constexpr uint32_t kMaxModules = 16;

  StreamingEngine() = default;
  ~StreamingEngine() { shutdown(); }
  StreamingEngine(const StreamingEngine&) = delete;
  StreamingEngine& operator=(const StreamingEngine&) = delete;

  /// Requires: not started; mounts and io (asserted; otherwise in_use, bad_value).
  Status init(const StreamingConfig& config, Allocator& allocator = default_allocator());
  /// The module's slots follow those of the modules before. Requires: before start(); it outlives shutdown().
  /// Errors: out_of_slots (kMaxModules), bad_value (no slots), too_large.
  Status add_module(StreamModule& module, const StreamModuleOptions& options);
  /// Errors: out_of_memory, bad_value (no modules).
  Status start();
  /// Cancels and waits for what is read, then removes all that is loaded, dependants first, wanted or not. From any
  /// state, also twice. Requires: the world is not locked (what a module cannot remove is asserted and forgotten).
  void shutdown();
  bool is_started() const { return slots_ != nullptr; }

  // --- wishes ---

  /// Wants a slot until drop() by the same keeper. Twice is once, and the last word on priority counts.
  void keep(StreamIndex index, StreamKeeper keeper, bool priority = false);
  /// Takes it back. What nobody wants is cancelled, or may go.
  void drop(StreamIndex index, StreamKeeper keeper);
  bool is_kept(StreamIndex index, StreamKeeper keeper) const;
  bool is_kept(StreamIndex index) const;
  /// Wants it once: until it is loaded, or cancel().
  void request(StreamIndex index, bool priority = false);
  void cancel(StreamIndex index);
  /// Holds what is loaded. Requires: loaded (asserted; otherwise nothing).
  void add_ref(StreamIndex index, StreamRef kind);
  void remove_ref(StreamIndex index, StreamRef kind);
  uint32_t refs(StreamIndex index, StreamRef kind) const;
  uint32_t refs(StreamIndex index) const;
  /// Has all read anew whose bytes are not from where their module finds them now: something was mounted over them, or
  /// will be unmounted. Walks all residents.
  void reload_moved();
  /// Has it read anew: it leaves, and what depends on it before, and comes back if it is wanted. What is referred to
  /// waits for that. What failed is tried again.
  void reload(StreamIndex index);

  /// Nobody wants it any more only because it is what something else softly depends on: it is switched off.
  void forget_soft(StreamIndex index);
  /// Has all who keep, hold or refer to a slot do so with another one: a new version takes its place.
  /// Requires: both are loaded (asserted; otherwise nothing).
  void move_wishes(StreamIndex from, StreamIndex to);
  /// Swaps what two slots of a module have loaded; wishes stay with the slots. The module's part is its own.
  /// Requires: both are loaded (asserted; otherwise nothing).
  void exchange(StreamIndex a, StreamIndex b);

  // --- progress ---

  StreamProgress update(const StreamUpdate& how);
  /// Loads it before it returns, whatever budgets of time say; other slots may be placed as well. It stays as anything
  /// that was requested once; what leaves at once stays too, until its room is needed or nobody keeps it any more who
  /// did. For tools, tests and start-up.
  /// Errors: what why() says then: io_error ..., out_of_slots (denied), in_use (blocked).
  Status load_now(StreamIndex index);
  /// Whatever failed is tried again when it is wanted: something was mounted.
  void retry_failed();
  /// Has all leave that came from a mount, kept or not, and what depends on it; only references are waited for. True
  /// when all is gone. Call it after each update until then; what is still wanted is found anew, so the mount must not
  /// be found any more.
  bool evacuate(MountId mount);
  /// Looks for a circle of strong dependencies. Fills `out` with one in order, first slot first; gives its length, 0 if
  /// there is none. Walks all slots of all modules.
  uint32_t find_cycle(std::span<StreamIndex> out) const;

  // --- questions ---

  StreamState state(StreamIndex index) const;
  bool is_loaded(StreamIndex index) const { return state(index) == StreamState::loaded; }
  /// Neither loaded nor on its way.
  bool is_idle(StreamIndex index) const {
    const StreamState now = state(index);
    return now == StreamState::not_loaded || now == StreamState::failed;
  }
  StreamWhy why(StreamIndex index) const;
  /// Bytes that are resident, whether the slot is loaded or only cached; empty if none are.
  std::span<const std::byte> bytes_of(StreamIndex index) const;
  /// Null where it is not resident.
  const StreamPayload* payload_of(StreamIndex index) const;
  /// Bytes are here, or are read.
  bool is_resident(StreamIndex index) const { return is_valid(index) && at(index).load != kNone; }
  /// Where the bytes came from; none where they are not resident.
  MountId mount_of(StreamIndex index) const { return is_resident(index) ? loads_[at(index).load].mount : MountId(); }
  StreamModule* module_of(StreamIndex index) const;
  uint32_t slot_count() const { return slot_count_; }
  uint32_t module_count() const { return module_count_; }
  StreamModule& module(uint32_t at) const { return *modules_[at].module; }
  const StreamModuleStatistics& statistics(uint32_t module) const { return modules_[module].statistics; }
  const StreamStatistics& statistics() const { return statistics_; }
  uint64_t resident_bytes() const { return used_.bytes; }
  uint64_t resident_entities() const { return used_.entities; }
  const StreamBudget& budget() const { return config_.budget; }
  /// May be lowered at any time; what is over it and not wanted goes.
  void set_budget(const StreamBudget& budget) { config_.budget = budget; }
  /// Of the gameconfig's or the host's wish, for tests and tools.
  void set_max_loaded(uint32_t module, uint32_t most) { modules_[module].options.max_loaded = most; }

  // --- records ---

  /// Writes down what each update saw; null: stops. Requires: between updates.
  void set_recorder(StreamTraceWriter* writer) { recorder_ = writer; }
  /// Takes completions and chunks from a record instead of what comes; waits for what the record says. Null: stops.
  void set_replay(StreamTraceReader* reader) { replay_ = reader; }
  /// Of all decisions since start(): reads begun, placed, removed, failed, in order.
  uint64_t decision_hash() const { return decisions_; }

 private:
  friend class StreamJob;
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  static constexpr uint8_t kAskedOnce = 1u << 7;  // beside the keepers
  enum Bits : uint16_t {
    kAsked = 1,      // request() without a keeper
    kMustLeave = 4,  // whoever keeps it; the bytes go too
    kDisplaced = 8,  // leaves for something nearer, though it is kept
    kBegun = 16,     // half placed
    kPrepared = 32,  // bytes are there
    kFull = 64,      // the module had no room; waits until something left
    kInList = 128,
    kBeginning = 512,  // its dependencies are looked at
    kEvicted = 256,    // leaves because its room is needed: its bytes are the next to go
  };
  /// A slot is in at most one. idle: loaded or cached, and not wanted; failed: to be tried again by itself.
  enum class List : uint8_t { requested, ready, leaving, idle, failed };
  static constexpr uint32_t kLists = 5;

  struct Slot {
    StreamState state = StreamState::not_loaded;
    uint8_t keepers = 0;
    uint8_t priorities = 0;  // by keeper; who asked once has the last bit
    uint16_t bits = 0;
    StreamDenial denial = StreamDenial::none;
    List list = List::requested;
    uint8_t module = 0, retries = 0, visit = 0;
    uint32_t holders = 0, soft_holders = 0;  // that depend on it and are wanted
    uint32_t reserved_by = 0;                // the last reservation that it was part of
    uint32_t released = 0;                   // scratch: of the holders, those that would go
    uint32_t users = 0;                      // of the holders: placed, or half; they go before it
    uint32_t refs[kStreamRefs] = {};
    uint32_t load = kNone;
    StreamIndex next = kNone, previous = kNone;  // in its list
    StreamIndex cause = kNone;                   // what failed before it
    uint32_t since = 0;                          // update of the request
    float retry_at = 0;                          // [s]
    Status why;                                  // of failed and full
  };
  struct Load {
    StreamJob job;
    StreamIndex slot = kNone;
    StreamDependency* dependencies = nullptr;
    uint32_t dependency_count = 0;
    uint32_t bytes = 0;        // accounted
    uint32_t known_bytes = 0;  // of a loose file, since a loader looked
    StreamCost cost{};         // accounted while it is more than cached
    MountId mount;             // where the bytes came from
    uint32_t next_free = kNone;
    bool is_submitted = false, is_counted = false, is_held = false, is_using = false;
    bool is_cancelled = false;  // while it is read: nobody wanted it any more at the last call
    bool is_wanted_again = false;
  };
  struct Module {
    StreamModule* module = nullptr;
    StreamModuleOptions options{};
    StreamModuleStatistics statistics{};
  };
  struct Ends {
    StreamIndex first = kNone, last = kNone;
    uint32_t count = 0;
  };
  /// What budgets count.
  struct Tally {
    uint64_t bytes = 0, entities = 0, descriptors = 0;
    uint32_t records = 0;              // of residents
    uint32_t slots[kMaxModules] = {};  // loaded or on the way
    void add(const Tally& other);
    void subtract(const Tally& other);
  };
  /// In which order requests are served.
  struct Key {
    float distance = 0;
    uint32_t since = 0;
    StreamIndex slot = kNone;
    bool priority = false;
    friend bool operator<(const Key& a, const Key& b) {
      if (a.priority != b.priority) return a.priority;
      if (a.distance != b.distance) return a.distance < b.distance;
      if (a.since != b.since) return a.since < b.since;
      return a.slot < b.slot;
    }
  };
  class ChunkBudget;

  Slot& at(StreamIndex index) { return slots_[index]; }
  const Slot& at(StreamIndex index) const { return slots_[index]; }
  StreamModule& module_at(const Slot& slot) const { return *modules_[slot.module].module; }
  StreamModuleStatistics& statistics_of(const Slot& slot) { return modules_[slot.module].statistics; }
  uint32_t local(StreamIndex index) const { return index - module_at(at(index)).base(); }
  Key key_of(StreamIndex index) const;
  bool is_valid(StreamIndex index) const { return index < slot_count_; }
  static bool is_wanted(const Slot& slot);
  static bool is_held(const Slot& slot);

  void free_memory();
  void enlist(StreamIndex index, List list, bool at_end = false);
  void delist(StreamIndex index);
  void set_state(StreamIndex index, StreamState state);
  void want(StreamIndex index);
  void set_priority(Slot& slot, uint8_t bit, bool on);
  void settle(StreamIndex index);
  void stop_loading(StreamIndex index);
  void keep_bytes(StreamIndex index, bool keeps, bool is_next_to_go);
  void arrive(StreamIndex index);
  void set_cancelled(Load& load, bool on);
  void must_leave(StreamIndex index);
  bool spread_leaving();
  void leave(StreamIndex index);
  bool may_go_now(const Slot& slot) const { return slot.users == 0 && refs_of(slot) == 0; }
  static uint32_t refs_of(const Slot& slot);
  void stay(StreamIndex index);

  uint32_t take_load(StreamIndex index);
  void free_load(StreamIndex index);
  void drop_bytes(Load& load);
  Status hold_dependencies(StreamIndex index);
  void release_dependencies(Load& load);
  void use_dependencies(Load& load, bool on);
  void count(Load& load, bool on);
  void set_bytes(Load& load, uint32_t bytes);

  /// The first budget that would not bear it, and all of them.
  struct Over {
    StreamDenial why = StreamDenial::none;
    bool residents = false, bytes = false, entities = false, descriptors = false;
    uint32_t modules = 0;  // whose slots do not suffice, a bit each
  };
  Tally tally_of(const Load& load) const;
  Over over(const Tally& need, const Tally& less, bool is_any = false) const;
  bool helps(const Load& load, const Over& over) const;
  StreamDenial make_room(const Tally& need, const Key& key);
  bool give_way(const Tally& need, const Key& key);
  void plan(StreamIndex index, Tally& less, bool is_going);
  void take_back(Tally& planned, Tally before) const;
  void give_up(const Tally& need, const Over& over);
  bool is_hopeless(const Tally& need) const;
  void evict(StreamIndex index);
  void evict_for_pool(const Key& key);
  void trim();
  void gather_victims();
  static bool may_yield(const Slot& slot);
  bool yields(const Key& victim, const Key& to) const;
  void displace_slot(StreamIndex index);
  bool look_up(StreamIndex index, ResourceLocation& location, ResourceShape& shape, Tally& need) const;
  Tally need_of_all(StreamIndex index, uint32_t serial);
  /// Room for a request and all that it depends on, as far as these have not begun.
  struct Reservation {
    Tally left{};
    uint32_t serial = 0;
  };
  struct Found {
    ResourceLocation location;
    ResourceShape shape;
    Tally need{};
  };
  StreamDenial dispatch(StreamIndex index, const Key& key, uint32_t depth, Reservation* room);
  StreamDenial begin(StreamIndex index, const Key& key, uint32_t depth, Reservation* from);
  StreamDenial begin_with_room(StreamIndex index, const Found& found, const Key& key, uint32_t depth,
                               Reservation& room);
  StreamDenial dispatch_dependencies(StreamIndex index, const Key& key, uint32_t depth, Reservation& room);
  bool begin_read(StreamIndex index, Load& load, uint32_t bytes, bool needs_buffer);
  void* take_buffer(uint32_t bytes);
  void retry_waiting();

  void collect(bool wait_for_one);
  void collect_replayed();
  void complete(StreamJob& job);
  StreamJob* take_arrived(StreamIndex index);
  void fail(StreamIndex index, const Status& why, StreamIndex cause = kNone);
  void push_done(StreamJob& job);
  void take_done();

  void dispatch_requests(StreamProgress& progress, bool counts_denied);
  void remove_leaving(ChunkBudget& budget);
  bool remove_one(StreamIndex index, bool by_force);
  void place_ready(ChunkBudget& budget);
  bool place_one(StreamIndex index, ChunkBudget& budget);
  void fail_ready();
  void make_room_in_pools();
  StreamProgress run_update(const StreamUpdate& how, bool wait_for_one);
  void clear_visits() const;
  Status wait_for(StreamIndex index);
  StreamIndex lost_dependency(StreamIndex index, uint32_t depth) const;
  StreamIndex missing_dependency(const Load& load, bool for_good) const;
  enum Decision : uint32_t { kBegunReading = 1, kPlaced, kRemoved, kFailed, kFoundFull };
  void decide(Decision what, StreamIndex index);

  StreamingConfig config_{};
  Allocator* allocator_ = nullptr;
  Module modules_[kMaxModules] = {};
  uint32_t module_count_ = 0, slot_count_ = 0;
  Slot* slots_ = nullptr;
  Load* loads_ = nullptr;
  uint32_t free_load_ = kNone;
  Ends lists_[kLists] = {};
  Tally used_{}, going_{};  // resident; of that, on its way out
  Key* keys_ = nullptr;     // scratch: one for each slot that can be in a list
  Key* victims_ = nullptr;  // scratch: kept by the box streamer only, nearest first
  uint32_t victim_count_ = 0;
  Tally promised_{};  // in this round of requests: room that comes, and for whom
  Tally hopeless_{};  // in this round of requests: this much finds no room
  bool has_victims_ = false;
  StreamIndex* marked_ = nullptr;  // scratch: a request and what it depends on, never taken for its own room
  uint32_t marked_count_ = 0, planned_count_ = 0;
  StreamIndex awaited_ = kNone;  // by load_now()
  bool is_closing_ = false;
  uint32_t update_ = 0, reservations_ = 0;
  uint32_t departures_ = 0, departures_seen_ = 0;  // so that what found a pool full waits until something left
  double clock_ = 0;
  uint64_t decisions_ = 0;
  std::atomic<StreamJob*> done_{nullptr};
  StreamJob *arrived_ = nullptr, *last_arrived_ = nullptr;  // done, in order of arrival, not looked at yet
  StreamTraceWriter* recorder_ = nullptr;
  StreamTraceReader* replay_ = nullptr;
  StreamStatistics statistics_{};
};

}  // namespace meridian
