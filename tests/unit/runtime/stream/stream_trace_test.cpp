// SPDX-License-Identifier: MIT
// Rules: REL-6 (a recorded flight replayed gives the same decisions, for any number of threads).
#include "meridian/stream/stream_trace.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "meridian/base/random.h"
#include "meridian/stream/slow_io.h"
#include "meridian/stream/thread_io.h"
#include "support/captured.h"
#include "support/stream_kit.h"

namespace meridian {
namespace {

using test::StreamKit;
using test::StreamThings;
using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes out;
  for (const int v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}
Bytes bytes_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

const Bytes kHeader = bytes_of({'M', 'R', 'D', 'S', 'T', 'R', 'C', '1'});
/// An input with tag 300 and two bytes; slot 5 read; slot 200 failed with code 4; an update of 130 chunks.
const Bytes kBody = bytes_of({1, 0xAC, 0x02, 2, 0xAA, 0xBB, 2, 5, 0, 2, 0xC8, 0x01, 4,  //
                              3, 0x82, 0x01, 8, 7,    6,    5, 4, 3, 2, 1});
constexpr uint64_t kHash = 0x0102030405060708;

// By hand, both ways.
TEST(StreamTrace, IsKindsAndNumbersOfSevenBits) {
  StreamTraceWriter writer;
  EXPECT_TRUE(writer.bytes().empty());
  const Bytes data = bytes_of({0xAA, 0xBB});
  writer.input(300, data);
  writer.completion(5, StatusCode::ok);
  writer.completion(200, static_cast<StatusCode>(4));
  writer.end_update(130, kHash);
  Bytes expected = kHeader;
  expected.insert(expected.end(), kBody.begin(), kBody.end());
  EXPECT_EQ(bytes_of(writer.bytes()), expected);

  StreamTraceReader reader;
  ASSERT_TRUE(reader.open(expected).ok());
  uint32_t tag = 0;
  std::span<const std::byte> read;
  ASSERT_TRUE(reader.has_more() && reader.next_input(tag, read));
  EXPECT_EQ(tag, 300u);
  EXPECT_EQ(bytes_of(read), data);
  EXPECT_FALSE(reader.next_input(tag, read));
  StreamTraceReader::Completion completion;
  ASSERT_TRUE(reader.next_completion(completion));
  EXPECT_EQ(completion.index, 5u);
  EXPECT_EQ(completion.code, StatusCode::ok);
  ASSERT_TRUE(reader.next_completion(completion));
  EXPECT_EQ(completion.index, 200u);
  EXPECT_EQ(completion.code, static_cast<StatusCode>(4));
  EXPECT_FALSE(reader.next_completion(completion));
  EXPECT_EQ(reader.chunks(), 130u);
  EXPECT_EQ(reader.end_update(kHash), 130u);
  EXPECT_FALSE(reader.has_more());
  EXPECT_FALSE(reader.has_diverged());
  EXPECT_EQ(reader.updates(), 1u);
}

TEST(StreamTrace, SaysWhatIsNotARecord) {
  StreamTraceReader reader;
  EXPECT_TRUE(reader.open({}).ok());
  EXPECT_FALSE(reader.has_more());
  EXPECT_EQ(reader.open(bytes_of({'M', 'R', 'D'})).code, StatusCode::bad_magic);
  EXPECT_EQ(reader.open(bytes_of({'m', 'R', 'D', 'S', 'T', 'R', 'C', '1'})).code, StatusCode::bad_magic);
  EXPECT_EQ(reader.open(bytes_of({'M', 'R', 'D', 'S', 'T', 'R', 'C', '2'})).code, StatusCode::bad_version);
}

TEST(StreamTrace, TellsOtherDecisions) {
  Bytes record = kHeader;
  record.insert(record.end(), kBody.begin() + 6, kBody.end());
  StreamTraceReader reader;
  ASSERT_TRUE(reader.open(record).ok());
  StreamTraceReader::Completion completion;
  while (reader.next_completion(completion)) {
  }
  EXPECT_EQ(reader.end_update(kHash + 1), 130u);
  EXPECT_TRUE(reader.has_diverged());
  EXPECT_EQ(reader.updates(), 0u);
}

TEST(StreamTrace, EndsWhereMemoryEnds) {
  test::CheckedMemory memory;
  StreamTraceWriter writer(memory);
  memory.fail_after(1);
  for (int i = 0; i < 3000; ++i) writer.end_update(1, 2);
  EXPECT_FALSE(writer.is_complete());
  EXPECT_LE(writer.bytes().size(), 4096u);
  EXPECT_EQ((writer.bytes().size() - 8) % 10, 0u);  // whole records
  writer.clear();
  EXPECT_TRUE(writer.is_complete());
  EXPECT_EQ(memory.bytes(), 0u);
}

/// A flight: what is kept changes with every update, by the seed only.
struct Flight {
  Flight(StreamIo& io, uint64_t seed)
      : kit({.io = &io,
             .budget = {.bytes = 1500, .entities = 60},
             .max_resident = 14,
             .max_in_flight = 4,
             .retry = {.io_retries = 2, .first_pause = 0.2f}}),
        random(seed),
        types(kit.add("Types", {.slots = 8}, "types")),
        maps(kit.add("Maps", {.slots = 20, .max_loaded = 8, .leaves_at_once = true}, "map")) {
    for (uint32_t i = 0; i < 20; ++i) {
      maps.at(i).on = {{random.below(8), false}, {8 + random.below(i + 1), true}};
      maps.at(i).cost = {.bytes = 0, .entities = random.below(15), .descriptors = 0};
      maps.at(i).chunks = 1 + random.below(3);
    }
    maps.at(3).on.push_back({8 + 2, false});
    maps.at(7).prepared = StatusCode::bad_structure;
    kit.mount_all(150, seed % 2 == 0);
    kit.start();
  }
  void wish() {
    for (uint32_t i = 0; i < 20; ++i) maps.at(i).distance = random.between(0.f, 300.f);
    for (int n = 0; n < 3; ++n) {
      const StreamIndex i = random.below(28);
      const auto keeper = static_cast<StreamKeeper>(random.below(2));
      const uint32_t call = random.below(12);
      if (call < 5) kit.engine.keep(i, keeper, random.chance(0.2f));
      if (call >= 5 && call < 10) kit.engine.drop(i, keeper);
      if (call == 10) kit.engine.reload(i);
      if (call == 11) kit.engine.request(i);
    }
    if (random.chance(0.05f)) maps.at(random.below(20)).places = {StreamStep::Kind::full};
    if (random.chance(0.05f)) maps.at(random.below(20)).places = {StreamStep::Kind::failed};
    if (random.chance(0.02f)) kit.engine.retry_failed();
  }
  StreamKit kit;
  Random random;
  StreamThings &types, &maps;
};

struct Recorded {
  Bytes bytes;
  std::vector<uint64_t> hashes;
  uint64_t failures = 0, cancelled = 0;
};

Recorded record(StreamIo& io, uint64_t seed, bool by_time) {
  Flight flight(io, seed);
  StreamTraceWriter writer;
  flight.kit.engine.set_recorder(&writer);
  Recorded out;
  Random chunks(seed + 1000);
  for (int i = 0; i < 400; ++i) {
    flight.wish();
    flight.kit.engine.update(by_time ? StreamUpdate{.seconds = 0.05f, .max_microseconds = 1 + chunks.below(20)}
                                     : StreamUpdate{.seconds = 0.05f, .max_chunks = chunks.below(6)});
    out.hashes.push_back(flight.kit.engine.decision_hash());
  }
  out.failures = flight.kit.engine.statistics(1).failures;
  out.cancelled = flight.kit.engine.statistics(1).cancelled;
  flight.kit.engine.shutdown();  // reads may be under way: they belong to no update
  out.bytes = bytes_of(writer.bytes());
  return out;
}

void replay(StreamIo& io, uint64_t seed, const Recorded& recorded) {
  Flight flight(io, seed);
  StreamTraceReader reader;
  ASSERT_TRUE(reader.open(recorded.bytes).ok());
  flight.kit.engine.set_replay(&reader);
  size_t update = 0;
  for (; reader.has_more(); ++update) {
    ASSERT_LT(update, recorded.hashes.size());
    flight.wish();
    flight.kit.engine.update({.seconds = 0.05f});
    ASSERT_EQ(flight.kit.engine.decision_hash(), recorded.hashes[update]) << "update " << update;
    ASSERT_FALSE(reader.has_diverged()) << "update " << update;
  }
  EXPECT_EQ(update, recorded.hashes.size());
}

// REL-6: recorded from slow and failing devices and from threads, by chunks and by time.
TEST(StreamTrace, REL6_AReplayTakesTheSameDecisions) {
  const test::CapturedLog log;
  uint64_t failures = 0, cancelled = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    SerialIo serial;
    SlowIo slow(serial, {.latency = 0.1, .bytes_per_second = 20'000, .failure_rate = 0.1, .seed = seed});
    ThreadIo threads;
    ASSERT_TRUE(threads.start({.threads = 2}).ok());
    StreamIo& device = seed % 3 == 0 ? static_cast<StreamIo&>(threads) : slow;
    const Recorded recorded = record(device, seed, seed % 2 == 0);
    failures += recorded.failures;
    cancelled += recorded.cancelled;
    threads.stop();
    SerialIo again;
    replay(again, seed, recorded);
    for (const uint32_t number : {1u, 2u, 3u, 8u}) {
      SCOPED_TRACE(testing::Message() << number << " threads");
      ThreadIo io;
      ASSERT_TRUE(io.start({.threads = number}).ok());
      replay(io, seed, recorded);
    }
  }
  EXPECT_GT(failures, 0u);  // the flights are not just fair weather
  EXPECT_GT(cancelled, 0u);
}

// REL-6: time may run out between any two steps, also between one that was to be placed and its first chunk.
TEST(StreamTrace, REL6_AReplayKnowsNoClock) {
  const test::CapturedLog log;
  for (uint64_t seed = 100; seed < 200 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    SerialIo first, again;
    const Recorded recorded = record(first, seed, true);
    replay(again, seed, recorded);
  }
}

// Damage ends a replay, or shows as other decisions; it never hangs, and never goes unnoticed but where it changed
// nothing that counts.
TEST(StreamTrace, DamagedRecordsAreTold) {
  const test::CapturedLog log;
  SerialIo serial;
  SlowIo slow(serial, {.latency = 0.1, .failure_rate = 0.1});
  const Recorded recorded = record(slow, 1, false);
  Random random(77);
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    Bytes damaged = recorded.bytes;
    const size_t at = 8 + random.below(static_cast<uint32_t>(damaged.size() - 8));
    const bool is_cut = round % 3 == 0;
    if (is_cut) {
      damaged.resize(at);
    } else {
      damaged[at] ^= static_cast<std::byte>(1 + random.below(255));
    }
    SerialIo io;
    Flight flight(io, 1);
    StreamTraceReader reader;
    ASSERT_TRUE(reader.open(damaged).ok());
    flight.kit.engine.set_replay(&reader);
    size_t update = 0;
    for (; reader.has_more() && update < 1000; ++update) {
      uint32_t tag = 0;
      std::span<const std::byte> data;
      while (reader.next_input(tag, data)) {
      }
      flight.wish();
      flight.kit.engine.update({.seconds = 0.05f});
    }
    ASSERT_LT(update, 1000u);
    EXPECT_TRUE(reader.has_diverged() || update <= recorded.hashes.size());
    if (!is_cut && !reader.has_diverged()) {
      EXPECT_EQ(flight.kit.engine.decision_hash(), recorded.hashes.back());
    }
    if (is_cut && !reader.has_diverged()) {  // cut between two updates
      EXPECT_EQ(flight.kit.engine.decision_hash(), update == 0 ? 0 : recorded.hashes[update - 1]);
    }
  }
}

}  // namespace
}  // namespace meridian
