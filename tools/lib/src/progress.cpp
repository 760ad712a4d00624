// SPDX-License-Identifier: MIT
#include "meridian/tools/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace meridian::tools {
namespace {

constexpr std::chrono::milliseconds kQuietTime{1000};
constexpr std::chrono::milliseconds kRedraw{100};
constexpr size_t kBarWidth = 24;

std::string minutes(double seconds) {
  const auto whole = static_cast<uint64_t>(std::llround(seconds));
  const std::string rest = std::to_string(whole % 60);
  return std::to_string(whole / 60) + (rest.size() == 1 ? ":0" : ":") + rest;
}

}  // namespace

Progress::Progress(std::FILE* stream, ProgressStyle style, std::string tool, size_t total, Clock::time_point now)
    : stream_(stream), style_(style), tool_(std::move(tool)), total_(total), start_(now), drawn_(now) {}

void Progress::advance(std::string_view what, Clock::time_point now) {
  ++done_;
  if (style_ == ProgressStyle::lines) {
    const std::string line =
        tool_ + ": " + std::to_string(done_) + "/" + std::to_string(total_) + " " + std::string(what) + "\n";
    std::fwrite(line.data(), 1, line.size(), stream_);
    std::fflush(stream_);
  }
  if (style_ != ProgressStyle::bar || now - start_ < kQuietTime || now - drawn_ < kRedraw) return;
  drawn_ = now;
  visible_ = true;
  // Carriage return and "erase to the end of the line", so that a shorter text leaves nothing behind.
  const std::string text =
      "\r" + progress_bar(done_, total_, std::chrono::duration<double>(now - start_).count()) + "\x1b[K";
  std::fwrite(text.data(), 1, text.size(), stream_);
  std::fflush(stream_);
}

void Progress::finish() {
  if (!visible_) return;
  visible_ = false;
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
}

std::string progress_bar(size_t done, size_t total, double seconds) {
  done = std::min(done, total);
  const size_t filled = total == 0 ? kBarWidth : done * kBarWidth / total;
  std::string out = "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '-') + "] " +
                    std::to_string(done) + "/" + std::to_string(total);
  if (seconds <= 0 || done == 0) return out;
  const double rate = static_cast<double>(done) / seconds;
  const auto tenths = static_cast<uint64_t>(std::llround(rate * 10));
  out += "  " + std::to_string(tenths / 10);
  if (tenths < 100) out += "." + std::to_string(tenths % 10);
  out += "/s  " + minutes(static_cast<double>(total - done) / rate) + " left";
  return out;
}

}  // namespace meridian::tools
