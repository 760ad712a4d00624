// SPDX-License-Identifier: MIT
#pragma once
/// How far the work is: a bar on a terminal once it lasts over a second, lines elsewhere if they were asked for.

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace meridian::tools {

enum class ProgressStyle { none, bar, lines };

/// Threads: main (one thread at a time).
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// `tool` begins each line. `now` is there for tests.
  Progress(std::FILE* stream, ProgressStyle style, std::string tool, size_t total,
           Clock::time_point now = Clock::now());
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// One more is done; `what` is its line in the lines style.
  void advance(std::string_view what, Clock::time_point now = Clock::now());
  /// Takes the bar away. Called before anything else is printed.
  void finish();

 private:
  std::FILE* stream_;
  ProgressStyle style_;
  std::string tool_;
  size_t total_, done_ = 0;
  Clock::time_point start_, drawn_;
  bool visible_ = false;
};

/// "[####----] 12/40  31/s  0:02 left", at most 79 characters.
std::string progress_bar(size_t done, size_t total, double seconds);

}  // namespace meridian::tools
