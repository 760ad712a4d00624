// SPDX-License-Identifier: MIT
#include "meridian/core/fsm.h"

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "meridian/base/random.h"
#include "support/captured.h"

namespace meridian {
namespace {

using enum FsmResult;

/// How often one broken contract is told.
constexpr size_t kOneAssert = test::kAsserts ? 1 : 0;

std::string text_of(int32_t state, int32_t message, FsmEvent event) {
  const std::string name = state == kFsmGlobalState ? "global" : std::to_string(state);
  switch (event) {
    case FsmEvent::enter:
      return name + ".enter";
    case FsmEvent::update:
      return name + ".update";
    case FsmEvent::exit:
      return name + ".exit";
    case FsmEvent::message:
      return name + ".message" + std::to_string(message);
  }
  return "?";
}

/// What a handler does when it's called.
struct Action {
  FsmResult result = unhandled;
  std::optional<int32_t> set_state = std::nullopt;
  std::optional<int32_t> set_message = std::nullopt;
};

/// A machine whose handlers do what a table says, and nothing where it's silent.
class TableFsm final : public Fsm {
 public:
  struct Row {
    const char* event;
    Action action;
  };
  explicit TableFsm(std::vector<Row> table = {}, int32_t initial = 0) : Fsm(initial), table_(std::move(table)) {}

  /// The events of one update, with blanks between them.
  std::string run(double step_s = 1.0) {
    trace_.clear();
    last_ = update(step_s);
    return trace_;
  }
  FsmResult last() const { return last_; }

 private:
  FsmResult handle(int32_t state, int32_t message, FsmEvent event) override {
    EXPECT_EQ(message == kFsmNoMessage, event != FsmEvent::message);
    const std::string text = text_of(state, message, event);
    trace_ += (trace_.empty() ? "" : " ") + text;
    for (const Row& row : table_) {
      if (row.event != text) continue;
      if (row.action.set_state) set_state(*row.action.set_state);
      if (row.action.set_message) set_message(*row.action.set_message);
      return row.action.result;
    }
    return unhandled;
  }

  std::vector<Row> table_;
  std::string trace_;
  FsmResult last_ = handled;
};

// FSM-1: an unhandled update ends the call.
TEST(Fsm, EntersOnceAndThenUpdates) {
  TableFsm fsm;
  EXPECT_FALSE(fsm.has_entered());
  EXPECT_EQ(fsm.run(), "0.enter 0.update");
  EXPECT_EQ(fsm.last(), unhandled);
  EXPECT_TRUE(fsm.has_entered());
  EXPECT_EQ(fsm.run(), "0.update");
}

// FSM-1
TEST(Fsm, HandledEnterEndsTheUpdate) {
  TableFsm fsm({{"0.enter", {handled}}, {"0.update", {handled}}});
  EXPECT_EQ(fsm.run(), "0.enter");
  EXPECT_EQ(fsm.last(), handled);
  EXPECT_EQ(fsm.run(), "0.update");
  EXPECT_EQ(fsm.last(), handled);
}

// FSM-1: Exit, Enter and Update in one frame.
TEST(Fsm, ATransitionIsDoneInOneUpdateIfNothingHandlesIt) {
  TableFsm fsm({{"0.update", {unhandled, 1}}});
  EXPECT_EQ(fsm.run(), "0.enter 0.update");
  EXPECT_TRUE(fsm.is_leaving());
  EXPECT_EQ(fsm.state(), 0);
  EXPECT_EQ(fsm.run(), "0.exit 1.enter 1.update");
  EXPECT_EQ(fsm.state(), 1);
  EXPECT_FALSE(fsm.is_leaving());
}

// FSM-1
TEST(Fsm, ATransitionTakesAFrameForEachEventThatIsHandled) {
  TableFsm fsm({{"0.update", {handled, 1}}, {"0.exit", {handled}}, {"1.enter", {handled}}, {"1.update", {handled}}});
  EXPECT_EQ(fsm.run(), "0.enter 0.update");
  EXPECT_EQ(fsm.run(), "0.exit");
  EXPECT_EQ(fsm.state(), 1);
  EXPECT_FALSE(fsm.has_entered());
  EXPECT_EQ(fsm.run(), "1.enter");
  EXPECT_EQ(fsm.run(), "1.update");
}

// FSM-1: a chain of states that only pass on.
TEST(Fsm, EntersMayPassOn) {
  TableFsm fsm({{"0.enter", {unhandled, 1}}, {"1.enter", {unhandled, 2}}});
  EXPECT_EQ(fsm.run(), "0.enter 0.exit 1.enter 1.exit 2.enter 2.update");
}

TEST(Fsm, AStateThatWasNeverEnteredDoesNotExit) {
  TableFsm fsm;
  fsm.set_state(3);
  EXPECT_EQ(fsm.run(), "3.enter 3.update");
  TableFsm slow({{"0.exit", {handled}}});
  slow.run();
  slow.set_state(1);
  EXPECT_EQ(slow.run(), "0.exit");
  slow.set_state(2);  // 1 was set, and not entered
  EXPECT_EQ(slow.run(), "2.enter 2.update");
}

TEST(Fsm, TheLastTransitionAskedForWins) {
  TableFsm fsm({{"0.exit", {unhandled, 5}}});
  fsm.run();
  fsm.set_state(1);
  fsm.set_state(2);
  EXPECT_EQ(fsm.run(), "0.exit 5.enter 5.update");  // and an exit may lead elsewhere
}

TEST(Fsm, ATransitionToTheSameStateEntersItAgain) {
  TableFsm fsm;
  fsm.run();
  fsm.set_state(0);
  EXPECT_EQ(fsm.run(), "0.exit 0.enter 0.update");
}

// FSM-1: a message comes before enter and update, and after a transition.
TEST(Fsm, AMessageGoesToTheStateAndThenToTheGlobalHandler) {
  TableFsm fsm({{"1.message7", {handled}}, {"global.message8", {handled}}});
  fsm.set_message(7);
  EXPECT_EQ(fsm.run(), "0.message7 global.message7 0.enter 0.update");
  EXPECT_FALSE(fsm.has_message());
  fsm.set_message(8);
  EXPECT_EQ(fsm.run(), "0.message8 global.message8");
  EXPECT_EQ(fsm.last(), handled);
  fsm.set_state(1);
  fsm.set_message(7);
  EXPECT_EQ(fsm.run(), "0.exit 1.message7");
  EXPECT_EQ(fsm.run(), "1.enter 1.update");
}

// FSM-1
TEST(Fsm, AHandlerMayAnswerAMessageByAnother) {
  TableFsm fsm({{"0.message1", {unhandled, std::nullopt, 2}}, {"0.message2", {unhandled, 4}}});
  fsm.set_message(1);
  EXPECT_EQ(fsm.run(), "0.message1 global.message1 0.message2 global.message2 4.enter 4.update");
}

TEST(Fsm, QuitReachesTheCallerFromEveryEvent) {
  TableFsm fsm({{"0.enter", {quit}}, {"0.update", {quit}}, {"0.message1", {quit}}, {"0.exit", {quit}}});
  EXPECT_EQ(fsm.run(), "0.enter");
  EXPECT_EQ(fsm.last(), quit);
  EXPECT_EQ(fsm.run(), "0.update");
  EXPECT_EQ(fsm.last(), quit);
  fsm.set_message(1);
  EXPECT_EQ(fsm.run(), "0.message1");
  EXPECT_EQ(fsm.last(), quit);
  fsm.set_state(1);
  EXPECT_EQ(fsm.run(), "0.exit");
  EXPECT_EQ(fsm.last(), quit);
  EXPECT_EQ(fsm.state(), 1);
}

// FSM-1: time in state and total time.
TEST(Fsm, TimesCountFromTheTransition) {
  TableFsm fsm({{"1.enter", {handled}}});
  fsm.run(0.5);
  fsm.run(0.25);
  EXPECT_EQ(fsm.time_in_state(), 0.75);
  fsm.set_state(1);
  fsm.run(0.25);
  EXPECT_EQ(fsm.time_in_state(), 0.0);
  EXPECT_EQ(fsm.total_time(), 1.0);
  fsm.run(0.125);
  EXPECT_EQ(fsm.time_in_state(), 0.125);
  EXPECT_EQ(fsm.total_time(), 1.125);
}

/// Sees its own times and state in each event.
class WatchFsm final : public Fsm {
 public:
  WatchFsm() : Fsm(0) {}
  double at_exit = -1, at_enter = -1;

 private:
  FsmResult handle(int32_t state, int32_t, FsmEvent event) override {
    EXPECT_EQ(state, this->state());
    if (event == FsmEvent::exit) at_exit = time_in_state();
    if (event == FsmEvent::enter) at_enter = time_in_state();
    return unhandled;
  }
};

TEST(Fsm, AnExitStillSeesTheTimeInItsState) {
  WatchFsm fsm;
  fsm.update(0.5);
  fsm.set_state(1);
  fsm.update(0.25);
  EXPECT_EQ(fsm.at_exit, 0.75);
  EXPECT_EQ(fsm.at_enter, 0.0);
}

/// Passes on from each `enter` until it did so `turns` times.
class CircleFsm final : public Fsm {
 public:
  explicit CircleFsm(int turns) : Fsm(0), turns_(turns) {}
  int enters() const { return enters_; }

 private:
  FsmResult handle(int32_t state, int32_t, FsmEvent event) override {
    if (event == FsmEvent::enter && ++enters_ <= turns_) set_state(1 - state);
    return unhandled;
  }
  int turns_;
  int enters_ = 0;
};

// FSM-1: 64 transitions in one call are fine, one more asserts and waits for the next call.
TEST(Fsm, MoreThan64TransitionsInOneUpdateAreAFault) {
  const test::BrokenContracts contracts;
  CircleFsm most(64);
  EXPECT_EQ(most.update(1.0), unhandled);
  EXPECT_EQ(most.enters(), 65);
  EXPECT_EQ(contracts.count(), 0u);
  CircleFsm endless(1000);
  EXPECT_EQ(endless.update(1.0), handled);
  EXPECT_EQ(endless.enters(), 65);
  EXPECT_TRUE(endless.is_leaving());
  EXPECT_EQ(contracts.count(), kOneAssert);
  endless.update(1.0);
  EXPECT_EQ(endless.enters(), 129);
}

TEST(Fsm, AMessageThatAnswersItselfForEverIsAFault) {
  const test::BrokenContracts contracts;
  TableFsm fsm({{"global.message1", {unhandled, std::nullopt, 1}}});
  fsm.set_message(1);
  fsm.run();
  EXPECT_EQ(fsm.last(), handled);
  EXPECT_EQ(contracts.count(), kOneAssert);
}

// FSM-1: one pending message.
TEST(Fsm, ASecondMessageIsAFaultAndTheFirstStays) {
  const test::BrokenContracts contracts;
  TableFsm fsm;
  fsm.set_message(1);
  fsm.set_message(2);
  EXPECT_EQ(contracts.count(), kOneAssert);
  EXPECT_EQ(fsm.run(), "0.message1 global.message1 0.enter 0.update");
}

TEST(Fsm, NegativeNumbersAreAFault) {
  const test::BrokenContracts contracts;
  TableFsm fsm;
  fsm.set_state(-1);
  fsm.set_message(-1);
  EXPECT_EQ(contracts.count(), 2 * kOneAssert);
  EXPECT_EQ(fsm.run(), "0.enter 0.update");
}

class NestedFsm final : public Fsm {
 public:
  NestedFsm() : Fsm(0) {}

 private:
  FsmResult handle(int32_t, int32_t, FsmEvent) override { return update(1.0); }
};

TEST(Fsm, AHandlerThatUpdatesItsOwnMachineIsAFault) {
  const test::BrokenContracts contracts;
  NestedFsm fsm;
  EXPECT_EQ(fsm.update(1.0), handled);
  EXPECT_EQ(contracts.count(), kOneAssert);
}

/// What handlers do is drawn from a seed, by the number of the call.
Action action_of(uint32_t seed, size_t call, bool may_send) {
  Random random(seed, call);
  Action action;
  const uint32_t dice = random.below(16);
  action.result = dice < 9 ? unhandled : dice < 15 ? handled : quit;
  if (random.below(6) == 0) action.set_state = random.between(0, 5);
  if (may_send && random.below(8) == 0) action.set_message = random.between(0, 3);
  return action;
}

class RandomFsm final : public Fsm {
 public:
  explicit RandomFsm(uint32_t seed) : Fsm(2), seed_(seed) {}
  std::vector<std::string> trace;
  void reseed() { seed_ += 1000; }  // other handlers for the next frame

 private:
  FsmResult handle(int32_t state, int32_t message, FsmEvent event) override {
    const Action action = action_of(seed_, trace.size(), !has_message());
    trace.push_back(text_of(state, message, event));
    if (action.set_state) set_state(*action.set_state);
    if (action.set_message) set_message(*action.set_message);
    return action.result;
  }
  uint32_t seed_;
};

/// The rules once more, as a list of what is due: a message is in front of what is due in the state, a transition in
/// front of both.
struct ModelFsm {
  explicit ModelFsm(uint32_t the_seed) : seed(the_seed) {}
  uint32_t seed;
  int32_t state = 2;
  std::deque<FsmEvent> due{FsmEvent::enter};  // before it: updates for ever
  std::deque<int32_t> inbox, targets;
  double in_state = 0, total = 0;
  std::vector<std::string> trace;

  FsmResult call(int32_t to, int32_t message, FsmEvent event) {
    const Action action = action_of(seed, trace.size(), inbox.empty());
    trace.push_back(text_of(to, message, event));
    if (action.set_state) targets.push_back(*action.set_state);
    if (action.set_message) inbox.push_back(*action.set_message);
    return action.result;
  }
  FsmResult update(double step) {
    total += step;
    in_state += step;
    FsmResult result = unhandled;
    bool updated = false;
    while (result == unhandled && !updated) {
      if (!targets.empty()) {
        const bool was_entered = due.empty();
        if (was_entered) result = call(state, -1, FsmEvent::exit);
        state = targets.back();
        targets.clear();
        due = {FsmEvent::enter};
        in_state = 0;
        continue;
      }
      if (!inbox.empty()) {
        const int32_t message = inbox.front();
        inbox.pop_front();
        for (const int32_t to : {state, -1}) {
          if (result == unhandled) result = call(to, message, FsmEvent::message);
        }
        continue;
      }
      updated = due.empty();
      const FsmEvent event = updated ? FsmEvent::update : due.front();
      due.clear();
      result = call(state, -1, event);
    }
    return result;
  }
};

// FSM-1
TEST(Fsm, RandomHandlersRunAsInTheModel) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    RandomFsm fsm(seed);
    ModelFsm model(seed);
    for (int i = 0; i < 300; ++i) {
      if (random() % 5 == 0) {
        const auto state = static_cast<int32_t>(random() % 5);
        fsm.set_state(state);
        model.targets.push_back(state);
      }
      if (random() % 4 == 0 && !fsm.has_message()) {
        const auto message = static_cast<int32_t>(random() % 3);
        fsm.set_message(message);
        model.inbox.push_back(message);
      }
      const double step = static_cast<double>(random() % 8) / 8;
      const FsmResult expected = model.update(step);
      ASSERT_EQ(fsm.update(step), expected) << "update " << i;
      ASSERT_EQ(fsm.trace, model.trace);
      ASSERT_EQ(fsm.state(), model.state);
      ASSERT_EQ(fsm.has_message(), !model.inbox.empty());
      ASSERT_EQ(fsm.is_leaving(), !model.targets.empty());
      ASSERT_EQ(fsm.has_entered(), model.due.empty());
      ASSERT_EQ(fsm.time_in_state(), model.in_state);
      ASSERT_EQ(fsm.total_time(), model.total);
      fsm.trace.clear();
      model.trace.clear();
      model.seed += 1000;
      fsm.reseed();
    }
  }
}

/// Copies itself while a handler runs, as a growing vector does.
class Copied final : public Fsm {
 public:
  Copied() : Fsm(0) {}
  Copied* copy_to = nullptr;
  int updates = 0;

 private:
  FsmResult handle(int32_t, int32_t, FsmEvent event) override {
    if (event != FsmEvent::update) return FsmResult::unhandled;
    ++updates;
    if (copy_to != nullptr) *copy_to = *this;
    return FsmResult::handled;
  }
};

TEST(Fsm, ACopyTakenInAHandlerLives) {
  Copied first, second;
  first.copy_to = &second;
  first.update(0.5);
  second.copy_to = nullptr;
  EXPECT_EQ(second.updates, 1);
  second.update(0.25);
  EXPECT_EQ(second.updates, 2);
  EXPECT_EQ(second.total_time(), 0.75);
}

}  // namespace
}  // namespace meridian
