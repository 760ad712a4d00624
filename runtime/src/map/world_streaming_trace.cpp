// SPDX-License-Identifier: MIT
// Inputs of a world in flight, written down and replayed.
#include <array>
#include <cstring>

#include "meridian/base/log.h"
#include "meridian/map/world_streaming.h"

namespace meridian {
namespace {

constexpr uint32_t kMostRecorded = 64;  // sources, and searches, of one frame

/// Sizes of a frame; its sources and searches follow.
struct FrameHead {
  float seconds = 0;
  uint32_t max_microseconds = 0, max_chunks = 0, sources = 0, searches = 0;
};

bool read_words(std::span<const std::byte> data, std::span<uint32_t> out) {
  if (data.size() != out.size_bytes()) return false;
  std::memcpy(out.data(), data.data(), data.size());
  return true;
}

}  // namespace

void WorldStreaming::set_recorder(StreamTraceWriter* writer) {
  recorder_ = writer;
  engine_.set_recorder(writer);
}

void WorldStreaming::record_words(uint32_t tag, std::span<const uint32_t> words) {
  if (recorder_ != nullptr) recorder_->input(tag, std::as_bytes(words));
}
void WorldStreaming::record_number(uint32_t tag, uint32_t value) { record_words(tag, std::span(&value, 1)); }

// --- what is written down, and handed on ---------------------------------------------------------------

Result<uint32_t> WorldStreaming::begin_swap(NameHash from, NameHash to, const SwapOptions& options) {
  const uint32_t words[] = {from.value, to.value, options.is_script ? 1u : 0u, options.waits ? 1u : 0u};
  record_words(kTagSwap, words);
  return groups_.begin_swap(from, to, options);
}
Status WorldStreaming::commit_swap(uint32_t swap) {
  record_number(kTagCommit, swap);
  return groups_.commit_swap(swap);
}
Status WorldStreaming::abort_swap(uint32_t swap) {
  record_number(kTagAbort, swap);
  return groups_.abort_swap(swap);
}
Status WorldStreaming::end_swap(uint32_t swap) {
  record_number(kTagEnd, swap);
  return groups_.end_swap(swap);
}
Status WorldStreaming::set_active(NameHash name, bool active) {
  const uint32_t words[] = {name.value, active ? 1u : 0u};
  record_words(kTagActive, words);
  return groups_.set_active(name, active);
}
Result<PinId> WorldStreaming::pin(const Aabb& box) {
  uint32_t words[6];
  static_assert(sizeof(words) == sizeof(box));
  std::memcpy(words, &box, sizeof(words));
  record_words(kTagPin, words);
  return maps_.streamer().pin(box);
}
void WorldStreaming::unpin(PinId pin) {
  const uint32_t words[] = {pin.generation, pin.slot};
  record_words(kTagUnpin, words);
  maps_.streamer().unpin(pin);
}

// --- frames and replays --------------------------------------------------------------------------------

void WorldStreaming::record_frame(const WorldFrame& frame) {
  if (recorder_ == nullptr) return;
  if (frame.sources.size() > kMostRecorded || frame.searches.size() > kMostRecorded) {
    log_message(LogLevel::error, {}, "a frame has %zu sources and %zu searches, records hold %u: the record ends",
                frame.sources.size(), frame.searches.size(), kMostRecorded);
    recorder_->give_up();
    set_recorder(nullptr);
    return;
  }
  const FrameHead head{frame.seconds, frame.max_microseconds, frame.max_chunks,
                       static_cast<uint32_t>(frame.sources.size()), static_cast<uint32_t>(frame.searches.size())};
  std::array<std::byte, sizeof(FrameHead) + kMostRecorded*(sizeof(StreamSource) + sizeof(StreamSearch))> buffer;
  size_t at = 0;
  const auto put = [&](const void* data, size_t bytes) {
    if (bytes != 0) std::memcpy(buffer.data() + at, data, bytes);
    at += bytes;
  };
  put(&head, sizeof(head));
  put(frame.sources.data(), head.sources * sizeof(StreamSource));
  put(frame.searches.data(), head.searches * sizeof(StreamSearch));
  recorder_->input(kTagFrame, std::span(buffer.data(), at));
}

/// Does what an input says. False: it is none of ours, or damaged.
bool WorldStreaming::apply_input(uint32_t tag, std::span<const std::byte> data, bool& was_update) {
  uint32_t words[6] = {};
  switch (tag) {
    case kTagFrame: {
      FrameHead head;
      if (data.size() < sizeof(head)) return false;
      std::memcpy(&head, data.data(), sizeof(head));
      if (head.sources > kMostRecorded || head.searches > kMostRecorded) return false;
      const size_t sources = head.sources * sizeof(StreamSource), searches = head.searches * sizeof(StreamSearch);
      if (data.size() != sizeof(head) + sources + searches) return false;
      std::array<StreamSource, kMostRecorded> from;
      std::array<StreamSearch, kMostRecorded> asked;
      if (sources != 0) std::memcpy(from.data(), data.data() + sizeof(head), sources);
      if (searches != 0) std::memcpy(asked.data(), data.data() + sizeof(head) + sources, searches);
      was_update = update({.sources = std::span(from).first(head.sources),
                           .searches = std::span(asked).first(head.searches),
                           .seconds = head.seconds,
                           .max_microseconds = head.max_microseconds,
                           .max_chunks = head.max_chunks})
                       .ok();
      return true;  // what was refused then is refused now
    }
    case kTagHour:
      return read_words(data, std::span(words, 1)) && words[0] < 24 && set_hour(words[0]).ok();
    case kTagWeather:
      if (!read_words(data, std::span(words, 1))) return false;
      set_weather(NameHash{words[0]});
      return true;
    case kTagSwap:
      if (!read_words(data, std::span(words, 4))) return false;
      (void)begin_swap(NameHash{words[0]}, NameHash{words[1]}, {words[2] != 0, words[3] != 0});
      return true;
    case kTagAbort:
      if (!read_words(data, std::span(words, 1))) return false;
      (void)abort_swap(words[0]);
      return true;
    case kTagCommit:
      if (!read_words(data, std::span(words, 1))) return false;
      (void)commit_swap(words[0]);
      return true;
    case kTagEnd:
      if (!read_words(data, std::span(words, 1))) return false;
      (void)end_swap(words[0]);
      return true;
    case kTagActive:
      if (!read_words(data, std::span(words, 2))) return false;
      (void)set_active(NameHash{words[0]}, words[1] != 0);
      return true;
    case kTagPin: {
      Aabb box;
      if (!read_words(data, words)) return false;
      std::memcpy(&box, words, sizeof(box));
      (void)pin(box);
      return true;
    }
    case kTagUnpin:
      if (!read_words(data, std::span(words, 2))) return false;
      unpin({words[0], words[1]});
      return true;
    case kTagUnmount:
      if (!read_words(data, std::span(words, 1))) return false;
      for (uint32_t at = 0; at < layers_.count(); ++at) {
        if (layers_.layer(at).mount.slot == words[0]) return begin_unmount(layers_.layer(at).mount).ok();
      }
      return false;
    case kTagReloadMap:
      if (!read_words(data, std::span(words, 1))) return false;
      (void)reload_map(NameHash{words[0]});
      return true;
    case kTagReloadTypes:
      if (!read_words(data, std::span(words, 1))) return false;
      (void)reload_types(NameHash{words[0]});
      return true;
    default:
      return false;
  }
}

bool WorldStreaming::replay_update(StreamTraceReader& reader) {
  engine_.set_replay(&reader);
  bool was_update = false;
  uint32_t tag = 0;
  std::span<const std::byte> data;
  while (!was_update && reader.next_input(tag, data)) {
    if (!apply_input(tag, data, was_update)) {
      was_update = false;
      break;
    }
  }
  engine_.set_replay(nullptr);
  return was_update && !reader.has_diverged();
}

}  // namespace meridian
