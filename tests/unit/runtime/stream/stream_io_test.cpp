// SPDX-License-Identifier: MIT
// Rules: STR-4 (loader threads; nothing is allocated and nothing locked while files are read), P082 (threads are
// started and joined when told).
#include "meridian/stream/stream_io.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "meridian/stream/slow_io.h"
#include "meridian/stream/thread_io.h"
#include "support/captured.h"
#include "support/stream_kit.h"

// After what brings intrinsics, which declare posix_memalign their own way.
#include "support/counting_allocator.h"

namespace meridian {
namespace {

using test::StreamKit;
using test::StreamThings;

constexpr auto kCode = StreamKeeper::code;

// STR-4, REL-2
TEST(ThreadIo, LoadsEverythingOnAnyNumberOfThreads) {
  for (const uint32_t threads : {1u, 2u, 3u, 8u, 16u}) {
    ThreadIo io;
    ASSERT_TRUE(io.start({.threads = threads}).ok());
    EXPECT_EQ(io.start({}).code, StatusCode::in_use);
    StreamKit kit({.io = &io});
    StreamThings& things = kit.add("Things", {.slots = 200});
    for (uint32_t i = 1; i < 200; ++i) {
      if (i % 15 != 0) things.at(i).on = {{i - 1, false}};
    }
    kit.mount_all(5000, threads % 2 == 0);
    kit.start();
    for (uint32_t i = 0; i < 200; ++i) EXPECT_TRUE(kit.engine.load_now(i).ok());
    EXPECT_EQ(things.live(), 200u);
    EXPECT_EQ(kit.engine.statistics(0).reads, 200u);
  }
}

// P082
TEST(ThreadIo, StopsAndStartsAgain) {
  const test::CapturedLog log;
  ThreadIo io;
  EXPECT_EQ(io.start({.threads = 0}).code, StatusCode::bad_value);
  EXPECT_EQ(io.start({.threads = ThreadIo::kMaxThreads + 1}).code, StatusCode::bad_value);
  test::CheckedMemory memory;
  memory.fail_after(0);
  EXPECT_EQ(io.start({}, memory).code, StatusCode::out_of_memory);
  memory.fail_after(-1);
  io.stop();
  StreamKit kit({.io = &io, .retry = {.first_pause = 0}});
  kit.add("Things", {.slots = 50});
  kit.mount_all();
  kit.start();
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(io.start({.threads = 2}, memory).ok());
    EXPECT_TRUE(io.is_running());
    for (uint32_t i = 0; i < 50; ++i) {
      kit.engine.reload(i);
      kit.engine.keep(i, kCode);
    }
    kit.update();
    io.stop();  // what did not begin fails, and is tried again
    EXPECT_FALSE(io.is_running());
    kit.update();
    kit.engine.retry_failed();
  }
  ASSERT_TRUE(io.start({}, memory).ok());
  for (uint32_t i = 0; i < 50; ++i) EXPECT_TRUE(kit.engine.load_now(i).ok());
  kit.engine.shutdown();
  io.stop();
}

TEST(ThreadIo, RefusesMoreThanItHolds) {
  const test::CapturedLog log;
  ThreadIo io;
  StreamKit kit({.io = &io});
  kit.add("Things", {.slots = 1});
  kit.mount_all();
  kit.start();
  kit.engine.keep(0, kCode);  // it does not run
  kit.updates(2);
  EXPECT_EQ(kit.engine.state(0), StreamState::failed);
  EXPECT_EQ(kit.engine.why(0).status.code, StatusCode::io_error);
}

// By hand: 0.5 s a read at 200 bytes a second, which wait for each other; a latency of 0.25 s, which overlaps.
TEST(SlowIo, TakesTheTimeThatItShould) {
  for (const bool in_place : {true, false}) {
    SerialIo serial;
    SlowIo slow(serial, {.latency = 0.25, .bytes_per_second = 200});
    StreamKit kit({.io = &slow});
    StreamThings& things = kit.add("Things", {.slots = 3});
    kit.mount_all(100, in_place);
    kit.start();
    for (uint32_t i = 0; i < 3; ++i) kit.engine.keep(i, kCode);
    kit.engine.update({});  // begins at 0: due at 0.75, 1.25, 1.75
    std::vector<double> seen;
    for (int i = 1; i <= 32; ++i) {
      const uint32_t before = things.live();
      kit.engine.update({.seconds = 0.0625f});
      if (things.live() != before) seen.push_back(i * 0.0625);
    }
    EXPECT_EQ(seen, (std::vector<double>{0.75, 1.25, 1.75}));
    EXPECT_EQ(slow.failed(), 0u);
  }
}

TEST(SlowIo, FailsAsOftenAsItShould) {
  const test::CapturedLog log;
  SerialIo serial;
  SlowIo slow(serial, {.failure_rate = 1});
  StreamKit kit({.io = &slow, .retry = {.io_retries = 1, .first_pause = 0.01f}});
  kit.add("Things", {.slots = 8});
  kit.mount_all();
  kit.start();
  for (uint32_t i = 0; i < 8; ++i) kit.engine.keep(i, kCode);
  kit.updates(6);
  EXPECT_EQ(slow.failed(), 16u);  // each twice
  EXPECT_EQ(kit.engine.statistics(0).failed, 8u);
  slow.set_failure_rate(0);
  kit.engine.retry_failed();
  kit.updates(3);
  EXPECT_EQ(kit.engine.statistics(0).loaded, 8u);
}

/// Gives from a block and takes back by size: what an arena for the engine could be.
class BlockMemory final : public Allocator {
 public:
  void* allocate(size_t bytes, size_t) override {
    ++calls;
    const size_t size = rounded(bytes);
    for (Free& f : free_) {
      if (f.size != size || f.count == 0) continue;
      return f.blocks[--f.count];
    }
    if (used_ + size > sizeof(block_)) return nullptr;
    void* const out = block_ + used_;
    used_ += size;
    return out;
  }
  void deallocate(void* pointer, size_t bytes, size_t) override {
    if (pointer == nullptr) return;
    for (Free& f : free_) {
      if (f.size != 0 && f.size != rounded(bytes)) continue;
      f.size = rounded(bytes);
      f.blocks[f.count++] = pointer;
      return;
    }
  }
  uint64_t calls = 0;

 private:
  struct Free {
    size_t size = 0;
    uint32_t count = 0;
    void* blocks[64] = {};
  };
  static size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }
  alignas(64) std::byte block_[1 << 20] = {};
  size_t used_ = 0;
  Free free_[16];
};

// STR-4, REL-2: loading and unloading in steady state calls malloc never; the engine's allocator once for each list of
// dependencies, and where bytes are copied once for each of these.
TEST(StreamIo, SteadyStateAllocatesNothing) {
  for (const bool in_place : {true, false}) {
    for (const bool threaded : {false, true}) {
      const auto memory = std::make_unique<BlockMemory>();
      test::CopyDecompressor copies;
      ResourceMounts mounts;
      ASSERT_TRUE(mounts.init({.decompressor = &copies}).ok());
      StreamingEngine engine;
      std::vector<std::unique_ptr<StreamThings>> all;
      all.push_back(std::make_unique<StreamThings>("Things", mounts, engine, all, 20, "thing"));
      StreamThings& things = *all[0];
      test::PackMaker maker;
      for (uint32_t i = 0; i < 20; ++i) {
        const std::string bytes = StreamKit::bytes_for(things.at(i).name, 100);
        if (in_place) {
          maker.store(test::kThingKind, things.at(i).name, bytes);
        } else {
          maker.frame(test::kThingKind, things.at(i).name, bytes, bytes);
        }
        if (i >= 10) things.at(i).on = {{i - 10, false}};
      }
      const test::PackBuffer pack = maker.make();
      ASSERT_TRUE(mounts.mount_pack(pack.span()).ok());
      SerialIo serial;
      ThreadIo threads;
      if (threaded) {
        ASSERT_TRUE(threads.start({.threads = 1}).ok());
      }
      StreamIo& io = threaded ? static_cast<StreamIo&>(threads) : serial;
      ASSERT_TRUE(
          engine.init({.mounts = &mounts, .io = &io, .budget = {.bytes = 800}, .max_resident = 32}, *memory).ok());
      ASSERT_TRUE(engine.add_module(things, {.slots = 20, .leaves_at_once = true}).ok());
      ASSERT_TRUE(engine.start().ok());
      const auto fly = [&](uint32_t frames) {
        for (uint32_t frame = 0; frame < frames; ++frame) {
          engine.keep(10 + frame / 8 % 10, StreamKeeper::box_streamer);
          engine.drop(10 + (frame / 8 + 7) % 10, StreamKeeper::box_streamer);
          engine.update({.seconds = 0.01f, .max_chunks = 3});
        }
      };
      EXPECT_TRUE(engine.load_now(0).ok());  // the thread has come
      fly(200);
      const uint64_t calls_before = memory->calls, reads_before = engine.statistics(0).reads;
      const uint64_t placed_before = engine.statistics(0).placed, before = test::allocation_count();
      fly(1000);
      EXPECT_EQ(test::allocation_count() - before, 0u);
      const uint64_t reads = engine.statistics(0).reads - reads_before;
      if (!threaded) {
        EXPECT_GT(reads, 100u);
        EXPECT_GT(engine.statistics(0).placed - placed_before, 100u);
      }
      const uint64_t calls = memory->calls - calls_before;
      if (!threaded) {
        EXPECT_GT(calls, 0u);
      }
      engine.shutdown();
    }
  }
}

}  // namespace
}  // namespace meridian
