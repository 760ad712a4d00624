// SPDX-License-Identifier: MIT
// Records are a kind and numbers of seven bits a byte, low ones first.
#include "meridian/stream/stream_trace.h"

#include <cstring>

namespace meridian {
namespace {

constexpr char kMagic[8] = {'M', 'R', 'D', 'S', 'T', 'R', 'C', '1'};
enum Kind : uint8_t { kInput = 1, kCompletion = 2, kEnd = 3 };

}  // namespace

StreamTraceWriter::~StreamTraceWriter() { clear(); }

void StreamTraceWriter::clear() {
  if (data_ != nullptr) allocator_->deallocate(data_, capacity_, 16);
  data_ = nullptr;
  size_ = capacity_ = 0;
  failed_ = false;
}

bool StreamTraceWriter::reserve(size_t more) {
  if (failed_) return false;
  if (size_ + more <= capacity_) return true;
  size_t wanted = capacity_ == 0 ? 4096 : capacity_ * 2;
  while (wanted < size_ + more) wanted *= 2;
  auto* const grown = static_cast<std::byte*>(allocator_->allocate(wanted, 16));
  if (grown == nullptr) {
    failed_ = true;
    return false;
  }
  if (data_ != nullptr) {
    std::memcpy(grown, data_, size_);
    allocator_->deallocate(data_, capacity_, 16);
  }
  data_ = grown;
  capacity_ = wanted;
  return true;
}

void StreamTraceWriter::byte(uint8_t value) { data_[size_++] = static_cast<std::byte>(value); }

void StreamTraceWriter::number(uint64_t value) {
  for (; value >= 0x80; value >>= 7) byte(static_cast<uint8_t>(value | 0x80));
  byte(static_cast<uint8_t>(value));
}

void StreamTraceWriter::begin() {
  if (size_ != 0 || !reserve(sizeof(kMagic))) return;
  std::memcpy(data_, kMagic, sizeof(kMagic));
  size_ = sizeof(kMagic);
}

void StreamTraceWriter::input(uint32_t tag, std::span<const std::byte> data) {
  begin();
  if (!reserve(32 + data.size())) return;
  byte(kInput);
  number(tag);
  number(data.size());
  if (!data.empty()) std::memcpy(data_ + size_, data.data(), data.size());
  size_ += data.size();
}

void StreamTraceWriter::completion(uint32_t index, StatusCode code) {
  begin();
  if (!reserve(32)) return;
  byte(kCompletion);
  number(index);
  number(static_cast<uint64_t>(code));
}

void StreamTraceWriter::end_update(uint32_t chunks, uint64_t decisions) {
  begin();
  if (!reserve(32)) return;
  byte(kEnd);
  number(chunks);
  std::memcpy(data_ + size_, &decisions, sizeof(decisions));
  size_ += sizeof(decisions);
}

Status StreamTraceReader::open(std::span<const std::byte> bytes) {
  *this = {};
  if (bytes.empty()) return {};  // nothing happened
  if (bytes.size() < sizeof(kMagic) || std::memcmp(bytes.data(), kMagic, sizeof(kMagic) - 1) != 0) {
    return {StatusCode::bad_magic, "not a record of streaming"};
  }
  if (std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) != 0) {
    return {StatusCode::bad_version, "a record of streaming of another version"};
  }
  bytes_ = bytes;
  at_ = sizeof(kMagic);
  return {};
}

/// Damaged: there is nothing more to replay.
void StreamTraceReader::stop() {
  diverged_ = true;
  at_ = bytes_.size();
}

bool StreamTraceReader::number(uint64_t& out) {
  out = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ >= bytes_.size()) break;
    const auto next = static_cast<uint8_t>(bytes_[at_++]);
    out |= static_cast<uint64_t>(next & 0x7F) << shift;
    if ((next & 0x80) == 0) return true;
  }
  stop();
  return false;
}

bool StreamTraceReader::take(uint8_t kind) {
  if (at_ >= bytes_.size() || static_cast<uint8_t>(bytes_[at_]) != kind) return false;
  ++at_;
  return true;
}

bool StreamTraceReader::next_input(uint32_t& tag, std::span<const std::byte>& data) {
  uint64_t number_of = 0, size = 0;
  if (!take(kInput) || !number(number_of) || !number(size)) return false;
  if (size > bytes_.size() - at_) {
    stop();
    return false;
  }
  tag = static_cast<uint32_t>(number_of);
  data = bytes_.subspan(at_, static_cast<size_t>(size));
  at_ += static_cast<size_t>(size);
  return true;
}

bool StreamTraceReader::next_completion(Completion& out) {
  uint64_t index = 0, code = 0;
  if (take(kCompletion)) {
    if (!number(index) || !number(code)) return false;
    out = {static_cast<uint32_t>(index), static_cast<StatusCode>(code)};
    return true;
  }
  uint64_t chunks = 0;
  if (has_end_ || !take(kEnd)) {
    if (!has_end_) stop();
    return false;
  }
  if (!number(chunks)) return false;
  if (bytes_.size() - at_ < sizeof(hash_)) {
    stop();
    return false;
  }
  std::memcpy(&hash_, bytes_.data() + at_, sizeof(hash_));
  at_ += sizeof(hash_);
  chunks_ = static_cast<uint32_t>(chunks);
  has_end_ = true;
  return false;
}

uint32_t StreamTraceReader::end_update(uint64_t decisions) {
  if (!has_end_) return 0;
  has_end_ = false;
  if (!diverged_) {
    if (hash_ == decisions) {
      ++updates_;
    } else {
      diverged_ = true;
    }
  }
  return chunks_;
}

}  // namespace meridian
