// SPDX-License-Identifier: MIT
#pragma once
/// A streaming engine with a module whose things are told what to do, and which checks what it is told.
///
///   test::StreamKit kit;
///   test::StreamThings& things = kit.add("Things", {.slots = 3});
///   things.at(0).on = {{things.index(1), false}};            // after start(), when index() is known
///   kit.mount({{"thing0", "bytes"}, {"thing1", "bytes"}});   // slots are called thing0, thing1, ...
///   kit.start();
///   kit.engine.keep(things.index(0), StreamKeeper::code);
///   kit.update();
///   EXPECT_TRUE(things.at(0).is_live);
///
/// A thing fails the test when it is placed twice, placed without what it depends on, removed while something that
/// depends on it is there, or removed while it is not there.
/// Threads: main, but prepare().

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meridian/stream/stream_io.h"
#include "meridian/stream/streaming.h"
#include "support/checked_memory.h"
#include "support/mount_kit.h"
#include "support/pack_maker.h"

namespace meridian::test {

inline constexpr uint32_t kThingKind = kind_of("STRM");

/// Entries that are not used in place, without a library: their stored bytes are the raw ones.
class CopyDecompressor final : public EntryDecompressor {
 public:
  Status prepare(const Pack&) override { return {}; }
  void release(const Pack&) override {}
  Status read(const Pack& pack, const PackEntry& entry, std::span<std::byte> to) override {
    if (const Status status = pack.check_stored(entry); !status.ok()) return status;
    const std::span<const std::byte> bytes = pack.stored_bytes(entry);
    std::memcpy(to.data(), bytes.data(), bytes.size());
    return {};
  }
};

/// What one slot is like, and what was seen of it.
struct StreamThing {
  std::string name;
  bool is_dummy = false;
  std::vector<StreamDependency> on;
  StreamCost cost{};
  float distance = std::numeric_limits<float>::infinity();
  uint32_t chunks = 1;
  std::deque<StreamStep::Kind> places, removes;  ///< answers to the next calls, before the usual ones
  StatusCode prepared = StatusCode::ok;          ///< while it is read, it does not change
  std::string text;                              ///< what its bytes must be; empty: whatever

  bool is_live = false;
  uint32_t half = 0;  ///< chunks placed, while it is not complete
  uint32_t place_calls = 0, remove_calls = 0, placed = 0;
  std::atomic<uint32_t> prepares{0};
  StreamState told = StreamState::not_loaded;  ///< by state_changed
};

class StreamThings final : public StreamModule {
 public:
  StreamThings(const char* name, ResourceMounts& mounts, StreamingEngine& engine,
               std::vector<std::unique_ptr<StreamThings>>& all, uint32_t count, const std::string& prefix)
      : StreamModule(name), mounts_(mounts), engine_(engine), all_(all) {
    for (uint32_t i = 0; i < count; ++i) things_.emplace_back().name = prefix + std::to_string(i);
  }

  StreamThing& at(uint32_t slot) { return things_[slot]; }
  const StreamThing& at(uint32_t slot) const { return things_[slot]; }
  uint32_t size() const { return static_cast<uint32_t>(things_.size()); }
  void hide(MountId mount) { hidden_ = mount; }                ///< locate() does not find it any more
  void set_log(std::vector<std::string>* log) { log_ = log; }  ///< of "+thing0" and "-thing0"
  uint32_t live() const {
    uint32_t number = 0;
    for (const StreamThing& t : things_) number += t.is_live || t.half > 0 ? 1 : 0;
    return number;
  }

  NameHash slot_name(uint32_t slot) const override { return hash_name(things_[slot].name); }
  ResourceLocation locate(uint32_t slot) const override {
    for (uint32_t i = mounts_.count(); i-- > 0;) {
      if (mounts_.at(i) == hidden_) continue;
      const ResourceLocation found = mounts_.find_in(mounts_.at(i), kThingKind, slot_name(slot));
      if (found) return found;
    }
    return {};
  }
  bool is_dummy(uint32_t slot) const override { return things_[slot].is_dummy; }
  StreamCost cost(uint32_t slot) const override { return things_[slot].cost; }
  uint32_t dependencies(uint32_t slot, std::span<StreamDependency> out) const override {
    const std::vector<StreamDependency>& on = things_[slot].on;
    for (size_t i = 0; i < on.size() && i < out.size(); ++i) out[i] = on[i];
    return static_cast<uint32_t>(on.size());
  }
  float distance(uint32_t slot) const override { return things_[slot].distance; }

  Status prepare(uint32_t slot, StreamPayload& payload) const override {
    const StreamThing& thing = things_[slot];
    const_cast<StreamThing&>(thing).prepares.fetch_add(1, std::memory_order_relaxed);
    if (thing.prepared != StatusCode::ok) return {thing.prepared, "the thing does not like its bytes"};
    payload.user = payload.bytes.size();
    return {};
  }
  StreamStep place(uint32_t slot, const StreamPayload& payload) override {
    StreamThing& thing = things_[slot];
    ++thing.place_calls;
    EXPECT_FALSE(thing.is_live) << thing.name << " is placed twice";
    for (const StreamDependency& on : thing.on) {
      if (on.soft || on.index >= engine_.slot_count() || on.index == index(slot)) continue;
      EXPECT_TRUE(engine_.is_loaded(on.index)) << thing.name << " is placed before slot " << on.index;
    }
    if (!thing.is_dummy) {
      EXPECT_EQ(payload.name, slot_name(slot));
      EXPECT_EQ(payload.user, payload.bytes.size());
      if (!thing.text.empty()) {
        EXPECT_EQ(text_of(payload.bytes), thing.text);
      }
    }
    const StreamStep::Kind kind =
        take(thing.places, thing.half + 1 < thing.chunks ? StreamStep::Kind::more : StreamStep::Kind::done);
    if (kind == StreamStep::Kind::more) ++thing.half;
    if (kind == StreamStep::Kind::done || kind == StreamStep::Kind::full || kind == StreamStep::Kind::failed) {
      thing.half = 0;
    }
    thing.is_live = kind == StreamStep::Kind::done;
    if (thing.is_live) {
      ++thing.placed;
      note('+', thing);
    }
    if (kind == StreamStep::Kind::failed) return {kind, {StatusCode::bad_structure, "the thing can't be made"}};
    if (kind == StreamStep::Kind::full) return {kind, {StatusCode::out_of_slots, "no room for the thing"}};
    return {kind};
  }
  StreamStep remove(uint32_t slot) override {
    StreamThing& thing = things_[slot];
    ++thing.remove_calls;
    EXPECT_TRUE(thing.is_live || thing.half > 0) << thing.name << " is removed though it is not there";
    EXPECT_EQ(engine_.refs(index(slot)), 0u) << thing.name << " is removed though it is referred to";
    for (const auto& module : all_) {
      for (const StreamThing& other : module->things_) {
        if (!other.is_live && other.half == 0) continue;
        for (const StreamDependency& on : other.on) {
          EXPECT_TRUE(on.soft || on.index != index(slot) || &other == &thing)
              << thing.name << " is removed before " << other.name;
        }
      }
    }
    const StreamStep::Kind kind = take(thing.removes, StreamStep::Kind::done);
    if (kind != StreamStep::Kind::done) return {kind};
    thing.is_live = false;
    thing.half = 0;
    note('-', thing);
    return {};
  }
  void state_changed(uint32_t slot, StreamState to) override { things_[slot].told = to; }

 private:
  static StreamStep::Kind take(std::deque<StreamStep::Kind>& from, StreamStep::Kind usual) {
    if (from.empty()) return usual;
    const StreamStep::Kind kind = from.front();
    from.pop_front();
    return kind;
  }
  void note(char sign, const StreamThing& thing) {
    if (log_ != nullptr) log_->push_back(sign + thing.name);
  }

  ResourceMounts& mounts_;
  StreamingEngine& engine_;
  std::vector<std::unique_ptr<StreamThings>>& all_;
  std::deque<StreamThing> things_;
  MountId hidden_;
  std::vector<std::string>* log_ = nullptr;
};

/// A device whose reads end when the test says so, in any order. One that is waited for ends the oldest.
class ManualIo final : public StreamIo {
 public:
  Status submit(StreamJob& job) override {
    if (!refuses.ok()) return refuses;
    jobs_.push_back(&job);
    return {};
  }
  void wait() override {
    if (!jobs_.empty()) finish_at(0);
  }

  size_t count() const { return jobs_.size(); }
  StreamIndex index_at(size_t position) const { return jobs_[position]->index(); }
  bool is_cancelled(size_t position) const { return jobs_[position]->is_cancelled(); }
  void finish_at(size_t position) { take(position).run(); }
  void fail_at(size_t position, StatusCode code = StatusCode::io_error) {
    take(position).fail({code, "the test's device failed"});
  }
  void finish_all() {
    while (!jobs_.empty()) finish_at(0);
  }
  /// Of a slot; false: it is not read.
  bool finish(StreamIndex index) {
    for (size_t i = 0; i < jobs_.size(); ++i) {
      if (jobs_[i]->index() != index) continue;
      finish_at(i);
      return true;
    }
    return false;
  }

  Status refuses{};  ///< to everything, if it is not ok

 private:
  StreamJob& take(size_t position) {
    StreamJob& job = *jobs_[position];
    jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(position));
    return job;
  }
  std::vector<StreamJob*> jobs_;
};

/// Engine, mounts, packs in memory, a serial device; all memory of the engine is checked.
class StreamKit {
 public:
  using Entries = std::vector<std::pair<std::string, std::string>>;

  explicit StreamKit(const StreamingConfig& config = {}) {
    EXPECT_TRUE(mounts.init({.max_mounts = 8, .decompressor = &decompressor}).ok());
    StreamingConfig filled = config;
    filled.mounts = &mounts;
    if (filled.io == nullptr) filled.io = &serial;
    EXPECT_TRUE(engine.init(filled, memory).ok());
  }
  ~StreamKit() {
    engine.shutdown();
    EXPECT_EQ(memory.bytes(), 0u);
    for (const auto& module : modules) EXPECT_EQ(module->live(), 0u);
  }
  StreamKit(const StreamKit&) = delete;
  StreamKit& operator=(const StreamKit&) = delete;

  /// Slots are called prefix0, prefix1, ...
  StreamThings& add(const char* name, const StreamModuleOptions& options, const std::string& prefix = "thing") {
    modules.push_back(std::make_unique<StreamThings>(name, mounts, engine, modules, options.slots, prefix));
    EXPECT_TRUE(engine.add_module(*modules.back(), options).ok());
    return *modules.back();
  }
  /// In place, or copied from the pack.
  MountId mount(const Entries& entries, bool in_place = true) {
    PackMaker maker;
    for (const auto& [name, bytes] : entries) {
      if (in_place) {
        maker.store(kThingKind, name, bytes);
      } else {
        maker.frame(kThingKind, name, bytes, bytes);
      }
    }
    packs.push_back(maker.make());
    const Result<MountId> id = mounts.mount_pack(packs.back().span());
    EXPECT_TRUE(id.ok()) << id.status().message;
    return id.ok() ? id.value() : MountId();
  }
  /// A pack with an entry of `size` bytes for each slot of each module.
  MountId mount_all(size_t size = 64, bool in_place = true) {
    Entries entries;
    for (const auto& module : modules) {
      for (uint32_t i = 0; i < module->size(); ++i) {
        if (!module->at(i).is_dummy) entries.emplace_back(module->at(i).name, bytes_for(module->at(i).name, size));
      }
    }
    return mount(entries, in_place);
  }
  static std::string bytes_for(const std::string& name, size_t size) {
    std::string out = name + ':';
    out.resize(size, '.');
    return out;
  }
  std::span<std::byte> pack_bytes(size_t pack) { return packs[pack].span(); }

  void start() { ASSERT_TRUE(engine.start().ok()); }
  StreamProgress update(uint32_t chunks = 0xFFFFFFFF) { return engine.update({.seconds = 0.1f, .max_chunks = chunks}); }
  void updates(uint32_t number) {
    for (uint32_t i = 0; i < number; ++i) update();
  }

  CheckedMemory memory;
  SerialIo serial;
  CopyDecompressor decompressor;
  std::deque<PackBuffer> packs;
  ResourceMounts mounts;
  std::vector<std::unique_ptr<StreamThings>> modules;
  StreamingEngine engine;
};

}  // namespace meridian::test
