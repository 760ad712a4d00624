// SPDX-License-Identifier: MIT
#pragma once
/// What the streaming engine asks of those whose things it streams. A *module* (a store of maps, of type files, of
/// drawables) has slots; each slot is a thing that is loaded or not. The engine decides when, the module knows how.
///
///   class Sounds final : public StreamModule {
///    public:
///     explicit Sounds(const ResourceMounts& from) : StreamModule("Sounds"), from_(from) {}
///     NameHash slot_name(uint32_t slot) const override { return names_[slot]; }
///     ResourceLocation locate(uint32_t slot) const override { return from_.find(kind_of("SOND"), names_[slot]); }
///     StreamStep place(uint32_t slot, const StreamPayload& payload) override {
///       samples_[slot] = payload.bytes;                             // on the owner's thread
///       return {};
///     }
///     StreamStep remove(uint32_t slot) override { return samples_[slot] = {}, StreamStep{}; }
///
///    private:
///     const ResourceMounts& from_;
///     NameHash names_[100];
///     std::span<const std::byte> samples_[100];
///   };
///
/// Threads: main, but for prepare(), which runs on loader threads, for different slots at once.

#include <cstdint>
#include <limits>
#include <span>

#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"
#include "meridian/resource/mount.h"
#include "meridian/resource/resource.h"

namespace meridian {

/// A slot of some module, counted over all modules.
using StreamIndex = uint32_t;
inline constexpr StreamIndex kNoStream = 0xFFFFFFFF;
/// No slot of a module.
inline constexpr uint32_t kNoStreamSlot = 0xFFFFFFFF;

enum class StreamState : uint8_t {
  not_loaded,
  requested,  ///< waits for its turn, or for a budget
  loading,    ///< is read, or waits to be placed
  loaded,     ///< placed: it can be used
  leaving,    ///< is about to go
  failed,     ///< could not be loaded; StreamingEngine::why says why
};
/// A stable word ("not_loaded").
const char* to_string(StreamState state);

/// Who wants a slot to stay; a bit each, so that nobody takes back what another asked for.
enum class StreamKeeper : uint8_t {
  box_streamer = 0,  ///< what is near; under pressure the farthest of it goes first
  script = 1,
  code = 2,
  group = 3,    ///< map groups
  owner = 4,    ///< whatever stays while something else does
  version = 5,  ///< a new version of something, until it is in force or given up
};
inline constexpr uint32_t kStreamKeepers = 6;

/// What holds a loaded slot by count.
enum class StreamRef : uint8_t { entity, script, render, other };
inline constexpr uint32_t kStreamRefs = 4;

/// What a slot needs first.
struct StreamDependency {
  StreamIndex index = kNoStream;
  bool soft = false;  ///< asked for first, but not waited for, and it may leave first
};

/// What a slot costs beside bytes, known before it is loaded.
struct StreamCost {
  uint32_t bytes = 0;  ///< of the resource, where its mount does not say [bytes]
  uint32_t entities = 0;
  uint32_t descriptors = 0;
};

/// A resource that was read.
struct StreamPayload {
  NameHash name{};
  std::span<const std::byte> bytes;  ///< stay until after remove()
  bool trusted = false;              ///< OpenOptions::trusted may be set
  Resource resource;                 ///< what prepare() opened
  uint64_t user = 0;                 ///< what prepare() likes to hand on
};

/// How far a step came.
struct StreamStep {
  enum class Kind : uint8_t {
    done,
    more,     ///< call it again for the next chunk
    blocked,  ///< not now, such as while the world is locked; nothing was done
    full,     ///< a pool has no room: again when something left. `why` says which
    failed,   ///< for `why`; everything is as if it had never begun
  };
  Kind kind = Kind::done;
  Status why{};
};

class StreamModule {
 public:
  /// `name` is static text: how gameconfig calls the module ("MapDataStore").
  explicit StreamModule(const char* name) : name_(name) {}
  virtual ~StreamModule() = default;
  StreamModule(const StreamModule&) = delete;
  StreamModule& operator=(const StreamModule&) = delete;

  const char* name() const { return name_; }
  /// Its first slot, counted over all modules. Requires: registered.
  StreamIndex base() const { return base_; }
  StreamIndex index(uint32_t slot) const { return base_ + slot; }
  uint32_t slot_count() const { return slot_count_; }
  bool owns(StreamIndex index) const { return index - base_ < slot_count_; }

  /// For messages.
  virtual NameHash slot_name(uint32_t slot) const = 0;
  /// Where its resource is now; nowhere: the request fails. Not asked of dummies.
  virtual ResourceLocation locate(uint32_t slot) const = 0;
  /// A dummy has no file: it is complete when its dependencies are.
  virtual bool is_dummy(uint32_t /*slot*/) const { return false; }
  virtual StreamCost cost(uint32_t /*slot*/) const { return {}; }
  /// Stores what fits of the slot's dependencies, and gives their full number.
  virtual uint32_t dependencies(uint32_t /*slot*/, std::span<StreamDependency> /*out*/) const { return 0; }
  /// How far away it is needed; nearer ones come first. [m]
  virtual float distance(uint32_t /*slot*/) const { return std::numeric_limits<float>::infinity(); }

  /// Comes before all that has none, whatever the distance.
  virtual bool has_priority(uint32_t /*slot*/) const { return false; }

  /// Checks the bytes, and opens them if they are a resource. On a loader thread; reads only what is in `payload`, and
  /// of the module only what never changes.
  virtual Status prepare(uint32_t /*slot*/, StreamPayload& /*payload*/) const { return {}; }
  /// Makes the thing, chunk by chunk: the first call begins, and the one that says done ends it. All that it depends on
  /// strongly is loaded. `failed` and `full`: it took back what it had begun.
  virtual StreamStep place(uint32_t slot, const StreamPayload& payload) = 0;
  /// Takes it away, complete or half placed. The bytes go after this. Kinds done and blocked; nothing holds it.
  virtual StreamStep remove(uint32_t slot) = 0;
  /// It reached another state; for who keeps lists by it. Must not call the engine.
  virtual void state_changed(uint32_t /*slot*/, StreamState /*to*/) {}

 private:
  friend class StreamingEngine;
  const char* name_;
  StreamIndex base_ = kNoStream;
  uint32_t slot_count_ = 0;
};

}  // namespace meridian
