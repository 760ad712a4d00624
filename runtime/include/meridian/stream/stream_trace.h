// SPDX-License-Identifier: MIT
#pragma once
/// A record of a flight: what came from outside (inputs), which reads each update saw finished, and how many chunks it
/// placed. Everything else follows from these, so a replay takes the same decisions, bit for bit, whatever the number
/// of threads and the speed of the device.
///
///   StreamTraceWriter writer;
///   engine.set_recorder(&writer);                         // fly
///   save(writer.bytes());
///
///   StreamTraceReader reader;
///   Status ready = reader.open(saved);
///   engine.set_replay(&reader);                           // in a world that is as that one was
///   while (reader.has_more()) engine.update({});          // and what next_input() says between updates
///   assert(!reader.has_diverged());
///
/// Inputs are the caller's: a tag and bytes, in the order in which they came between updates. WorldStreaming
/// (map/world_streaming.h) writes and replays its own.
///
/// Threads: main.
/// Memory:  the writer's buffer doubles as it grows; about 10 bytes an update and 8 a read. The reader has none.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"

namespace meridian {

class StreamTraceWriter {
 public:
  explicit StreamTraceWriter(Allocator& allocator = default_allocator()) : allocator_(&allocator) {}
  ~StreamTraceWriter();
  StreamTraceWriter(const StreamTraceWriter&) = delete;
  StreamTraceWriter& operator=(const StreamTraceWriter&) = delete;

  void input(uint32_t tag, std::span<const std::byte> data);
  /// A read that this update saw: completion() for each, then end_update() once.
  void completion(uint32_t index, StatusCode code);
  void end_update(uint32_t chunks, uint64_t decisions);

  /// The record so far, with its header. Good until the next call.
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// What comes now cannot be written down: the record ends here.
  void give_up() { failed_ = true; }
  /// False after that, and after memory ran out.
  bool is_complete() const { return !failed_; }
  void clear();

 private:
  void byte(uint8_t value);
  void number(uint64_t value);
  bool reserve(size_t more);
  void begin();

  Allocator* allocator_;
  std::byte* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
  bool failed_ = false;
};

class StreamTraceReader {
 public:
  struct Completion {
    uint32_t index = 0;
    StatusCode code = StatusCode::ok;
  };

  StreamTraceReader() = default;
  /// Errors: bad_magic, bad_version. The bytes outlive the reader.
  Status open(std::span<const std::byte> bytes);

  bool has_more() const { return at_ < bytes_.size(); }
  /// True if an input comes next; takes it. False: an update comes next, or the end, or damage.
  bool next_input(uint32_t& tag, std::span<const std::byte>& data);
  /// The completions of the coming update, one by one, and then, where there is none left, false.
  bool next_completion(Completion& out);
  /// Takes the end of the update. The number of chunks that it placed; compares the decisions.
  uint32_t end_update(uint64_t decisions);
  /// Chunks of the coming update. Requires: its completions were taken.
  uint32_t chunks() const { return chunks_; }

  /// The decisions were not those of the record, or it is damaged; `updates` says since when.
  bool has_diverged() const { return diverged_; }
  uint64_t updates() const { return updates_; }

 private:
  bool number(uint64_t& out);
  bool take(uint8_t kind);
  void stop();

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  uint32_t chunks_ = 0;
  uint64_t hash_ = 0, updates_ = 0;
  bool diverged_ = false, has_end_ = false;
};

}  // namespace meridian
