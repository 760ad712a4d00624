// SPDX-License-Identifier: MIT
#pragma once
/// A small finite state machine: numbered states, each of which answers to four events.
///
///   class Door final : public Fsm {
///    public:
///     enum : int32_t { closed, open };
///     enum : int32_t { knock, slam };
///     Door() : Fsm(closed) {}
///
///    private:
///     FsmResult handle(int32_t state, int32_t message, FsmEvent event) override {
///       switch (state) {
///         case closed:
///           if (event != FsmEvent::message || message != knock) return FsmResult::unhandled;
///           set_state(open);
///           return FsmResult::handled;
///         case open:
///           if (event != FsmEvent::update) return FsmResult::unhandled;
///           if (time_in_state() > 3.0) set_state(closed);
///           return FsmResult::handled;
///         case kFsmGlobalState:  // messages that the state itself doesn't want
///           if (message == slam) set_state(closed);
///           return FsmResult::handled;
///         default: return FsmResult::unhandled;
///       }
///     }
///   };
///
///   Door door;
///   door.set_message(Door::knock);
///   door.update(1.0 / 60.0);  // `closed` gets the message
///   door.update(1.0 / 60.0);  // `closed` exits, `open` enters and updates
///   const bool is_open = door.state() == Door::open;
///
/// An update sends events until one is handled. Which is next:
///   1. a transition was asked for: the old state gets `exit`, and the machine is in the new one;
///   2. a message waits: the state gets `message`, and if it doesn't handle that, the global handler does;
///   3. the state is new: it gets `enter`;
///   4. it gets `update`. This one ends the call, handled or not.
/// So a handler that returns `unhandled` from `exit` and `enter` goes through Exit, Enter and Update in one frame, and
/// one that returns `handled` spreads them over frames. Every `enter` has one `exit`; a state that was left before it
/// was entered gets neither.
///
/// Threads: reentrant; a machine is for one thread.
/// Memory:  none.
/// Source:  own.

#include <cstdint>

#include "meridian/base/assert.h"

namespace meridian {

enum class FsmEvent : uint8_t { enter, update, exit, message };

enum class FsmResult : uint8_t {
  unhandled,  ///< not wanted, or done and the next event may come in the same call; of a message: the global handler
              ///< gets it as well
  handled,    ///< enough for this call
  quit,       ///< as handled; the caller is told that the machine has done its work
};

/// What `handle` gets as state for a message that the state itself left unhandled.
inline constexpr int32_t kFsmGlobalState = -1;
/// What `handle` gets as message with any other event.
inline constexpr int32_t kFsmNoMessage = -1;
/// Transitions, and messages, that one update goes through. More are taken for a circle of handlers. [count]
inline constexpr uint32_t kMaxFsmTransitions = 64;

class Fsm {
 public:
  virtual ~Fsm() = default;

  /// Brings the times forward and sends events until one is handled. Returns the last answer: `unhandled` only if that
  /// was to `update`.
  /// Requires: step_s >= 0; not called by a handler of this machine; handlers set no more than kMaxFsmTransitions
  /// states and as many messages in one call. One more stays pending, and the call ends as if it were handled.
  FsmResult update(double step_s);

  /// Asks for a transition, which begins with the next event, or ends the update that is under way. The last one that
  /// asks wins; one that comes during `exit` leads the transition elsewhere. To the present state: it exits and enters
  /// again.
  /// Requires: state >= 0.
  void set_state(int32_t state);

  /// Leaves a message for the next update, or for this one if a handler sends it. There is room for one. If neither the
  /// state nor the global handler wants it, it's gone.
  /// Requires: message >= 0; has_message() is false (otherwise the first is kept).
  void set_message(int32_t message);

  /// The state; during `exit` still the old one.
  int32_t state() const { return state_; }
  bool has_message() const { return message_ != kFsmNoMessage; }
  /// Whether a transition was asked for that hasn't happened yet.
  bool is_leaving() const { return next_ != kNone; }
  /// Whether the state got its `enter`.
  bool has_entered() const { return has_entered_; }
  /// Sum of the steps of updates since the state was set; 0 in its first `update` if the machine came here in the same
  /// call. [s]
  double time_in_state() const { return time_in_state_; }
  /// Sum of the steps of all updates. [s]
  double total_time() const { return total_time_; }

 protected:
  /// The machine enters `initial_state` with the first update. Requires: initial_state >= 0.
  explicit Fsm(int32_t initial_state) : state_(initial_state) {
    MERIDIAN_ASSERT(initial_state >= 0, "states are numbers from 0");
  }
  /// Copies state, times and what waits; a copy is in no update, wherever it is taken.
  Fsm(const Fsm& other) : Fsm(other.state_) { *this = other; }
  Fsm& operator=(const Fsm& other) {
    if (this == &other) return *this;
    state_ = other.state_;
    next_ = other.next_;
    message_ = other.message_;
    has_entered_ = other.has_entered_;
    time_in_state_ = other.time_in_state_;
    total_time_ = other.total_time_;
    return *this;
  }

 private:
  virtual FsmResult handle(int32_t state, int32_t message, FsmEvent event) = 0;
  FsmResult run();

  static constexpr int32_t kNone = -1;

  int32_t state_;
  int32_t next_ = kNone;
  int32_t message_ = kFsmNoMessage;
  bool has_entered_ = false;
  bool is_updating_ = false;
  double time_in_state_ = 0;
  double total_time_ = 0;
};

inline void Fsm::set_state(int32_t state) {
  MERIDIAN_ASSERT(state >= 0, "states are numbers from 0");
  if (state >= 0) next_ = state;
}

inline void Fsm::set_message(int32_t message) {
  MERIDIAN_ASSERT(message >= 0, "messages are numbers from 0");
  MERIDIAN_ASSERT(!has_message(), "a message waits already");
  if (message >= 0 && !has_message()) message_ = message;
}

inline FsmResult Fsm::update(double step_s) {
  MERIDIAN_ASSERT(!is_updating_, "a handler does not update its own machine");
  if (is_updating_) return FsmResult::handled;
  MERIDIAN_ASSERT(step_s >= 0, "a step is not negative");
  total_time_ += step_s;
  time_in_state_ += step_s;
  is_updating_ = true;
  const FsmResult result = run();
  is_updating_ = false;
  return result;
}

inline FsmResult Fsm::run() {
  uint32_t transitions = 0, messages = 0;
  for (;;) {
    FsmResult result = FsmResult::unhandled;
    if (is_leaving()) {
      const bool is_within_limit = transitions++ < kMaxFsmTransitions;
      MERIDIAN_ASSERT(is_within_limit, "more than kMaxFsmTransitions transitions in one update");
      if (!is_within_limit) return FsmResult::handled;
      if (has_entered_) result = handle(state_, kFsmNoMessage, FsmEvent::exit);
      state_ = next_;  // read after the handler, which may have led it elsewhere
      next_ = kNone;
      has_entered_ = false;
      time_in_state_ = 0;
    } else if (has_message()) {
      const bool is_within_limit = messages++ < kMaxFsmTransitions;
      MERIDIAN_ASSERT(is_within_limit, "more than kMaxFsmTransitions messages in one update");
      if (!is_within_limit) return FsmResult::handled;
      const int32_t message = message_;
      message_ = kFsmNoMessage;  // so that the handler may send another
      result = handle(state_, message, FsmEvent::message);
      if (result == FsmResult::unhandled) result = handle(kFsmGlobalState, message, FsmEvent::message);
    } else if (!has_entered_) {
      has_entered_ = true;  // so that a transition out of `enter` exits
      result = handle(state_, kFsmNoMessage, FsmEvent::enter);
    } else {
      return handle(state_, kFsmNoMessage, FsmEvent::update);
    }
    if (result != FsmResult::unhandled) return result;
  }
}

}  // namespace meridian
