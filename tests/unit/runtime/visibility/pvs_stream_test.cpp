// SPDX-License-Identifier: MIT
// SCAN-9, SCAN-14: readers that sleep for blocks are always woken, however the steps of readers and jobs fall together.
#include "visibility/pvs_stream.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace meridian {
namespace {

constexpr uint32_t kBlocks = 64;

/// Streams, one after the other, each read by all readers to its end.
class ManyStreams {
 public:
  ManyStreams(uint32_t readers, bool is_ordered) : is_ordered_(is_ordered), entries_(kBlocks), blocks_(3 * kBlocks) {
    for (uint32_t i = 0; i < kBlocks; ++i) order_.push_back(i);
    stream_.init(entries_, blocks_, slices_);
    for (uint32_t i = 0; i < readers; ++i) threads_.emplace_back([this] { read(); });
  }
  ~ManyStreams() {
    round_ = kStop;
    for (std::thread& thread : threads_) thread.join();
  }
  ManyStreams(const ManyStreams&) = delete;
  ManyStreams& operator=(const ManyStreams&) = delete;

  void run(uint32_t round) {
    done_ = 0;
    stream_.begin(round, is_ordered_);
    if (is_ordered_) stream_.set_order(kBlocks, order_);
    const uint64_t before = sleeps_;
    round_ = round;
    while (sleeps_ == before) std::this_thread::yield();  // there is nothing to read: at least one goes to sleep
    const PvsEntry entry{};
    for (uint32_t i = 0; i < kBlocks; ++i) {
      stream_.write(i, &entry, 1);
      stream_.finish_slice(i);
      // Now and then as long as a reader takes to fall asleep.
      for (uint32_t pause = (round * 7 + i * 13) % 200; pause > 0; --pause)
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    stream_.end();
    const auto begin = std::chrono::steady_clock::now();
    while (done_ != threads_.size()) {
      std::this_thread::yield();
      if (std::chrono::steady_clock::now() - begin < std::chrono::seconds(30)) continue;
      std::fprintf(stderr, "a reader was not woken in stream %u\n", round);
      std::_Exit(1);  // it can't be joined
    }
  }
  uint64_t blocks_read() const { return read_; }
  uint64_t sleeps() const { return sleeps_; }

 private:
  static constexpr uint32_t kStop = 0xFFFFFFFF;

  void read() {
    for (uint32_t last = 0;;) {
      uint32_t round = last;
      while ((round = round_) == last) std::this_thread::yield();
      if (round == kStop) return;
      last = round;
      uint32_t at = 0, slice = 0, seen = 0;
      std::span<const PvsEntry> block;
      for (PvsStream::Next next; (next = stream_.next(at, slice, block, seen)) != PvsStream::Next::end;) {
        if (next == PvsStream::Next::block) {
          read_.fetch_add(1, std::memory_order_relaxed);
        } else {
          sleeps_.fetch_add(1, std::memory_order_relaxed);
          stream_.sleep(seen);
        }
      }
      ++done_;
    }
  }

  const bool is_ordered_;
  std::vector<PvsEntry> entries_;
  std::vector<PvsStream::Block> blocks_;
  std::vector<PvsStream::Slice> slices_ = std::vector<PvsStream::Slice>(kBlocks);
  std::vector<uint32_t> order_;
  PvsStream stream_;
  std::vector<std::thread> threads_;
  std::atomic<uint32_t> round_{0};
  std::atomic<size_t> done_{0};
  std::atomic<uint64_t> read_{0}, sleeps_{0};
};

// A mark that a writer took away although its reader slept on what came after was lost once in a million sleeps.
TEST(PvsStream, SCAN14_SleepersAreAlwaysWoken) {
  for (const uint32_t readers : {1u, 2u, 5u}) {
    for (const bool is_ordered : {false, true}) {
      SCOPED_TRACE(testing::Message() << readers << " readers, ordered " << is_ordered);
      ManyStreams streams(readers, is_ordered);
      const auto begin = std::chrono::steady_clock::now();
      uint32_t rounds = 0;
      while (rounds < 20000 && std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1500))
        streams.run(++rounds);
      EXPECT_EQ(streams.blocks_read(), uint64_t{rounds} * readers * kBlocks);
      EXPECT_GE(streams.sleeps(), rounds);
    }
  }
}

}  // namespace
}  // namespace meridian
