// SPDX-License-Identifier: MIT
#include "meridian/base/log.h"

#include <cstdarg>
#include <cstdio>
#include <utility>

namespace meridian {
namespace {

void write_to_stderr(void*, const LogMessage& message) {
  std::fprintf(stderr, "meridian: %s: %.*s\n", to_string(message.level), static_cast<int>(message.text.size()),
               message.text.data());
}

// Set once at start-up, before threads exist, so plain values are enough.
constinit LogSink g_sink{write_to_stderr, nullptr};
constinit NameLookup g_names{};

}  // namespace

const char* to_string(LogLevel level) {
  switch (level) {
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "unknown";
}

LogSink set_log_sink(LogSink sink) {
  return std::exchange(g_sink, sink.write != nullptr ? sink : LogSink{write_to_stderr, nullptr});
}

void set_name_lookup(NameLookup lookup) { g_names = lookup; }

NameText name_text(NameHash name) {
  NameText out;
  const std::string_view text = g_names.find != nullptr ? g_names.find(g_names.user, name) : std::string_view();
  if (text.empty()) {
    std::snprintf(out.text, sizeof out.text, "0x%08X", name.value);
    return out;
  }
  constexpr int kAround = 17;  // quotes, blank, number in parentheses, 0
  const int room = static_cast<int>(sizeof out.text) - kAround;
  const int size = static_cast<int>(text.size() < sizeof out.text ? text.size() : sizeof out.text);
  std::snprintf(out.text, sizeof out.text, "'%.*s' (0x%08X)", size < room ? size : room, text.data(), name.value);
  return out;
}

void log_message(LogLevel level, NameHash name, const char* format, ...) {
  char text[kMaxLogText + 1];
  std::va_list arguments;
  va_start(arguments, format);
  const int wanted =
      std::vsnprintf(text, sizeof text, format, arguments);  // NOLINT(clang-analyzer-valist.Uninitialized)
  va_end(arguments);
  size_t size = wanted < 0 ? 0 : static_cast<size_t>(wanted);
  if (size > kMaxLogText) {
    size = kMaxLogText;
    text[size - 3] = text[size - 2] = text[size - 1] = '.';
  }
  g_sink.write(g_sink.user, {level, name, {text, size}});
}

bool OnceSet::first(uint32_t key) {
  if (key == 0) {
    const bool is_new = !has_zero_;
    has_zero_ = true;
    return is_new;
  }
  uint32_t slot = key * 0x9E3779B1u >> 24;  // Fibonacci hashing into 256 places
  for (uint32_t i = 0; i < kSlots; ++i, slot = (slot + 1) % kSlots) {
    if (keys_[slot] == key) return false;
    if (keys_[slot] != 0) continue;
    keys_[slot] = key;
    return true;
  }
  ++suppressed_;
  return false;
}

}  // namespace meridian
