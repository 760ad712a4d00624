// SPDX-License-Identifier: MIT
// Rules: STR-1 (states, keepers), STR-3 (references), STR-5 and P067 (cancelling and asking again in each state), P082
// (shutdown from each state).
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "meridian/stream/streaming.h"
#include "support/captured.h"
#include "support/stream_kit.h"

namespace meridian {
namespace {

using test::ManualIo;
using test::StreamKit;
using test::StreamThings;

constexpr auto kCode = StreamKeeper::code;

/// Every state that a slot may be in, and how it gets there. Slot 0 in Things, which leave at once.
enum class At { absent, requested, reading, read, half, loaded, leaving, half_leaving, cached, retrying, failed };
constexpr At kAll[] = {At::absent,  At::requested,    At::reading, At::read,     At::half,  At::loaded,
                       At::leaving, At::half_leaving, At::cached,  At::retrying, At::failed};

struct Stand {
  explicit Stand(At at)
      : kit({.io = &io, .retry = {.io_retries = 3, .first_pause = 10}}),
        things(kit.add("Things", {.slots = 2, .leaves_at_once = true})) {
    things.at(0).chunks = 3;
    kit.mount_all();
    kit.start();
    if (at == At::absent) return;
    kit.engine.keep(0, kCode);
    if (at == At::requested) return;
    kit.update();
    if (at == At::reading) return;
    if (at == At::retrying || at == At::failed) {
      io.fail_at(0, at == At::retrying ? StatusCode::io_error : StatusCode::bad_checksum);
      kit.update();
      return;
    }
    io.finish_at(0);
    kit.update(at == At::half || at == At::half_leaving ? 1 : at == At::read ? 0 : 100);
    if (at == At::leaving || at == At::half_leaving || at == At::cached) kit.engine.drop(0, kCode);
    if (at == At::cached) kit.update();
  }
  void rest() {
    for (int i = 0; i < 6; ++i) {
      io.finish_all();
      kit.engine.update({.seconds = 20});
    }
  }

  test::CapturedLog log;
  ManualIo io;
  StreamKit kit;
  StreamThings& things;
};

// STR-1
TEST(StreamingState, IsWhatTheHeaderSays) {
  const StreamState states[] = {StreamState::not_loaded, StreamState::requested, StreamState::loading,
                                StreamState::loading,    StreamState::loading,   StreamState::loaded,
                                StreamState::leaving,    StreamState::leaving,   StreamState::not_loaded,
                                StreamState::failed,     StreamState::failed};
  const StreamReason reasons[] = {StreamReason::not_wanted,   StreamReason::queued,       StreamReason::reading,
                                  StreamReason::to_be_placed, StreamReason::to_be_placed, StreamReason::loaded,
                                  StreamReason::leaving,      StreamReason::leaving,      StreamReason::not_wanted,
                                  StreamReason::failed,       StreamReason::failed};
  for (size_t i = 0; i < std::size(kAll); ++i) {
    SCOPED_TRACE(i);
    Stand stand(kAll[i]);
    EXPECT_EQ(stand.kit.engine.state(0), states[i]);
    EXPECT_EQ(stand.kit.engine.why(0).reason, reasons[i]);
    EXPECT_EQ(stand.things.at(0).told, states[i]);
    EXPECT_EQ(!stand.kit.engine.bytes_of(0).empty(), kAll[i] == At::read || kAll[i] == At::half ||
                                                         kAll[i] == At::loaded || kAll[i] == At::leaving ||
                                                         kAll[i] == At::half_leaving || kAll[i] == At::cached);
  }
}

// P067, STR-5: all sequences of up to three calls in each state; the last one counts, and nothing is made twice (which
// the things check).
TEST(StreamingState, TheLastCallCounts) {
  using Call = void (*)(Stand&);
  const Call calls[] = {[](Stand& s) { s.kit.engine.keep(0, kCode); }, [](Stand& s) { s.kit.engine.drop(0, kCode); },
                        [](Stand& s) { s.kit.engine.reload(0); }, [](Stand& s) { s.kit.update(1); },
                        [](Stand& s) {
                          s.io.finish_all();
                          s.kit.update(1);
                        }};
  constexpr size_t kCalls = std::size(calls);
  for (const At at : kAll) {
    for (size_t a = 0; a < kCalls; ++a) {
      for (size_t b = 0; b < kCalls; ++b) {
        for (size_t c = 0; c < 2; ++c) {  // keep or drop
          SCOPED_TRACE(testing::Message()
                       << "state " << static_cast<int>(at) << ", calls " << a << ' ' << b << ' ' << c);
          Stand stand(at);
          for (const size_t call : {a, b, c}) calls[call](stand);
          ASSERT_LE(stand.io.count(), 1u);
          stand.rest();
          const StreamState now = stand.kit.engine.state(0);
          const bool may_fail = at == At::failed && a != 2 && b != 2;  // only reload() or a remount helps
          if (c == 1) {
            ASSERT_TRUE(now == StreamState::not_loaded || now == StreamState::failed) << to_string(now);
            ASSERT_FALSE(stand.things.at(0).is_live);
          } else {
            ASSERT_EQ(now, may_fail ? StreamState::failed : StreamState::loaded);
          }
        }
      }
    }
  }
}

// P067: taken back and asked for again while it is read: it is not read a second time.
TEST(StreamingState, AReadThatIsWantedAgainIsUsed) {
  Stand stand(At::reading);
  stand.kit.engine.drop(0, kCode);
  EXPECT_TRUE(stand.io.is_cancelled(0));
  stand.kit.update();
  stand.kit.engine.keep(0, kCode);
  EXPECT_FALSE(stand.io.is_cancelled(0));
  stand.rest();
  EXPECT_TRUE(stand.kit.engine.is_loaded(0));
  EXPECT_EQ(stand.kit.engine.statistics(0).reads, 1u);
  EXPECT_EQ(stand.kit.engine.statistics(0).reused, 1u);
  EXPECT_EQ(stand.kit.engine.statistics(0).cancelled, 1u);
}

// P067: the loader saw that it was cancelled before it was wanted again.
TEST(StreamingState, AReadThatWasGivenUpIsBegunAnew) {
  Stand stand(At::reading);
  stand.kit.engine.drop(0, kCode);
  stand.io.finish_at(0);
  stand.kit.engine.keep(0, kCode);
  stand.rest();
  EXPECT_TRUE(stand.kit.engine.is_loaded(0));
  EXPECT_EQ(stand.things.at(0).prepares.load(), 1u);
  EXPECT_EQ(stand.kit.engine.statistics(0).reads, 2u);
}

// STR-1: a bit each.
TEST(StreamingState, EachKeeperTakesBackOnlyItsOwn) {
  StreamKit kit;
  kit.add("Things", {.slots = 1, .leaves_at_once = true});
  kit.mount_all();
  kit.start();
  for (uint32_t k = 0; k < kStreamKeepers; ++k) kit.engine.keep(0, static_cast<StreamKeeper>(k));
  kit.updates(2);
  for (uint32_t k = 0; k < kStreamKeepers; ++k) {
    EXPECT_TRUE(kit.engine.is_loaded(0));
    EXPECT_TRUE(kit.engine.is_kept(0));
    kit.engine.drop(0, static_cast<StreamKeeper>(k));
    kit.engine.drop(0, static_cast<StreamKeeper>(k));
    kit.update();
  }
  EXPECT_FALSE(kit.engine.is_kept(0));
  EXPECT_EQ(kit.engine.state(0), StreamState::not_loaded);
}

// STR-3: counts by kind; the last one that goes lets go; what must leave waits for them.
TEST(StreamingState, ReferencesHoldWhatIsLoaded) {
  StreamKit kit;
  StreamThings& things = kit.add("Things", {.slots = 1, .leaves_at_once = true});
  kit.mount_all();
  kit.start();
  kit.engine.keep(0, kCode);
  kit.updates(2);
  kit.engine.add_ref(0, StreamRef::entity);
  kit.engine.add_ref(0, StreamRef::entity);
  kit.engine.add_ref(0, StreamRef::render);
  kit.engine.drop(0, kCode);
  kit.updates(2);
  EXPECT_TRUE(kit.engine.is_loaded(0));
  EXPECT_EQ(kit.engine.refs(0, StreamRef::entity), 2u);
  EXPECT_EQ(kit.engine.refs(0, StreamRef::script), 0u);
  EXPECT_EQ(kit.engine.refs(0), 3u);
  kit.engine.remove_ref(0, StreamRef::render);
  kit.engine.remove_ref(0, StreamRef::entity);
  kit.engine.reload(0);
  kit.updates(3);
  EXPECT_EQ(kit.engine.state(0), StreamState::leaving);
  EXPECT_TRUE(things.at(0).is_live);
  kit.engine.remove_ref(0, StreamRef::entity);
  kit.updates(3);
  EXPECT_EQ(kit.engine.state(0), StreamState::not_loaded);
}

// STR-3: a dependency that must leave while somebody asks for what depends on it.
TEST(StreamingState, ADependencyMayLeaveUnderARequest) {
  for (const uint32_t between : {0u, 1u, 2u}) {
    SCOPED_TRACE(between);
    ManualIo io;
    StreamKit kit({.io = &io});
    StreamThings& things = kit.add("Things", {.slots = 2});
    things.at(1).on = {{0, false}};
    kit.mount_all();
    kit.start();
    kit.engine.keep(0, kCode);
    for (int i = 0; i < 3; ++i) {
      kit.update();
      io.finish_all();
    }
    kit.update();
    ASSERT_TRUE(kit.engine.is_loaded(0));
    kit.engine.keep(1, kCode);
    kit.updates(between);
    if (between == 2) io.finish_all();
    kit.engine.reload(0);
    for (int i = 0; i < 5; ++i) {
      kit.update();
      io.finish_all();
    }
    EXPECT_TRUE(kit.engine.is_loaded(0));
    EXPECT_TRUE(kit.engine.is_loaded(1));
    EXPECT_EQ(things.at(0).placed, 2u);
  }
}

// STR-4: a locked world holds removals and placing up, and is no work.
TEST(StreamingState, BlockedStepsWait) {
  StreamKit kit;
  StreamThings& a = kit.add("A", {.slots = 1, .leaves_at_once = true}, "a");
  StreamThings& b = kit.add("B", {.slots = 1, .leaves_at_once = true}, "b");
  kit.mount_all();
  kit.start();
  a.at(0).places.assign(3, StreamStep::Kind::blocked);
  kit.engine.keep(0, kCode);
  kit.engine.keep(1, kCode);
  kit.update();
  EXPECT_EQ(kit.update(1).chunks, 1u);
  EXPECT_TRUE(b.at(0).is_live);  // its module is not blocked
  EXPECT_EQ(kit.engine.why(0).reason, StreamReason::blocked);
  EXPECT_EQ(kit.engine.why(0).status.code, StatusCode::in_use);
  kit.updates(3);
  EXPECT_TRUE(a.at(0).is_live);
  a.at(0).removes.assign(2, StreamStep::Kind::blocked);
  kit.engine.drop(0, kCode);
  kit.updates(2);
  EXPECT_TRUE(a.at(0).is_live);
  EXPECT_EQ(kit.engine.state(0), StreamState::leaving);
  kit.update();
  EXPECT_FALSE(a.at(0).is_live);
}

// P082: from each state, with reads under way, with dependants, twice; then it may start again.
TEST(StreamingState, ShutsDownFromEachState) {
  for (const At at : kAll) {
    SCOPED_TRACE(static_cast<int>(at));
    Stand stand(at);
    stand.kit.engine.shutdown();
    EXPECT_FALSE(stand.kit.engine.is_started());
    EXPECT_EQ(stand.kit.memory.bytes(), 0u);
    EXPECT_EQ(stand.io.count(), 0u);
    EXPECT_EQ(stand.things.live(), 0u);
    EXPECT_EQ(stand.things.at(0).told, StreamState::not_loaded);
    stand.kit.engine.shutdown();
    EXPECT_EQ(stand.kit.engine.update({}).chunks, 0u);

    ASSERT_TRUE(stand.kit.engine.init({.mounts = &stand.kit.mounts, .io = &stand.io}, stand.kit.memory).ok());
    ASSERT_TRUE(stand.kit.engine.add_module(stand.things, {.slots = 2}).ok());
    ASSERT_TRUE(stand.kit.engine.start().ok());
    EXPECT_EQ(stand.kit.engine.decision_hash(), 0u);
    EXPECT_TRUE(stand.kit.engine.load_now(0).ok());
    EXPECT_TRUE(stand.things.at(0).is_live);
  }
}

// P082: what a module can't remove is asserted and forgotten, without a leak.
TEST(StreamingState, ShutdownForgetsWhatCannotBeRemoved) {
  test::BrokenContracts contracts;
  StreamKit kit;
  StreamThings& things = kit.add("Things", {.slots = 2});
  things.at(0).on = {{1, false}};
  kit.mount_all();
  kit.start();
  kit.engine.keep(0, kCode);
  kit.updates(3);
  things.at(0).removes.assign(10, StreamStep::Kind::blocked);
  kit.engine.shutdown();
  EXPECT_TRUE(test::broke(contracts, 2));  // it, and what it depends on
  EXPECT_EQ(kit.memory.bytes(), 0u);
  things.at(0).is_live = things.at(1).is_live = false;
}

TEST(StreamingState, StartsOrLeavesNothingBehind) {
  for (int fail = 0; fail < 5; ++fail) {
    StreamKit kit;
    kit.add("Things", {.slots = 1});
    kit.memory.fail_after(fail);
    EXPECT_EQ(kit.engine.start().code, StatusCode::out_of_memory);
    EXPECT_EQ(kit.memory.bytes(), 0u);
    kit.memory.fail_after(-1);
    EXPECT_TRUE(kit.engine.start().ok());
  }
}

}  // namespace
}  // namespace meridian
