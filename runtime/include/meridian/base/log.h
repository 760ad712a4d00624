// SPDX-License-Identifier: MIT
#pragma once
/// Where the runtime says what a person should know: a full pool, an extension of an unknown kind. Such things are
/// data, not faults of the program: one entity is left out, the rest goes on. What a caller must act on is a Status
/// instead.
///
///   set_log_sink({[](void*, const LogMessage& message) { std::puts(std::string(message.text).c_str()); }});
///   log_message(LogLevel::warning, hash_name("town"), "%s has %u lamps too many", "town", 3u);
///
/// The runtime knows hashes, not texts. Where the host has texts (a mounted name table), it gives them here, and every
/// message shows them.
///
/// Threads: set sink and names before anything else runs (main); messages come from any thread, so both must bear that.
/// Memory:  none; a message is formatted on the stack, and cut at kMaxLogText.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "meridian/base/name_hash.h"

namespace meridian {

enum class LogLevel : uint8_t {
  info,
  warning,  ///< something was left out
  error,    ///< a whole request failed, or a configuration can't be used as it is
};

/// A stable word for a level ("warning"). Threads: immutable.
const char* to_string(LogLevel level);

/// Longest text of a message; more is cut and ends with "...". [bytes]
inline constexpr size_t kMaxLogText = 1024;

struct LogMessage {
  LogLevel level = LogLevel::info;
  NameHash name{};        ///< what it is about: a pool, an archetype, a resource; 0 if none
  std::string_view text;  ///< one line, no newline at its end; lives until the sink returns
};

/// What to do with messages. `user` comes back in each call.
struct LogSink {
  void (*write)(void* user, const LogMessage& message) = nullptr;
  void* user = nullptr;
};

/// Sets the sink, and returns the one before. An empty one restores the default, which writes "meridian: warning:
/// <text>" to standard error.
/// Threads: main, before any other use.
LogSink set_log_sink(LogSink sink);

/// Gives texts for hashes. `find` returns an empty view for what it does not know; texts live as long as it is set.
struct NameLookup {
  std::string_view (*find)(void* user, NameHash name) = nullptr;
  void* user = nullptr;
};

/// Sets where texts come from; an empty one means none. Threads: main, while no other thread logs.
void set_name_lookup(NameLookup lookup);

/// A name as messages show it: `'lamp_3' (0x1A2B3C4D)` where its text is known, otherwise `0x1A2B3C4D`.
struct NameText {
  char text[96] = {};  ///< ends with 0; a long text is cut, the number never
};
NameText name_text(NameHash name);

/// Formats like printf and hands the text to the sink. `name` is what the message is about; say it in the text too.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void log_message(LogLevel level, NameHash name, const char* format, ...);

/// Remembers what was said, so that a thing that is missing a thousand times is named once.
///
///   if (warned_.first(archetype.value)) log_message(LogLevel::warning, archetype, ...);
///
/// Holds 256 keys; once full, new keys are as if they were said before, and `suppressed` counts them.
/// Threads: main. Memory: 1 KiB, inside.
class OnceSet {
 public:
  /// True the first time that `key` is given.
  bool first(uint32_t key);
  uint64_t suppressed() const { return suppressed_; }  ///< keys that found no place [count]
  void clear() { *this = OnceSet(); }

 private:
  static constexpr uint32_t kSlots = 256;
  uint32_t keys_[kSlots] = {};  ///< 0: free; key 0 is kept in has_zero_
  bool has_zero_ = false;
  uint64_t suppressed_ = 0;
};

}  // namespace meridian
