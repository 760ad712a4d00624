// SPDX-License-Identifier: MIT
// What loader threads do.
#include "meridian/stream/stream_io.h"
#include "meridian/stream/streaming.h"

namespace meridian {
namespace {

constexpr size_t kPage = 4096;

/// Brings pages of a mapped file in, so that the owner's thread does not wait for them.
void touch(std::span<const std::byte> bytes) {
  for (size_t at = 0; at < bytes.size(); at += kPage) {
    (void)*const_cast<const volatile std::byte*>(bytes.data() + at);
  }
}

}  // namespace

void StreamJob::run() {
  if (is_cancelled()) {
    was_cancelled_ = true;
    status_ = {StatusCode::not_found, "nobody wants it any more"};
  } else {
    status_ = read();
    if (status_.ok()) status_ = module_->prepare(index_ - module_->base(), payload_);
  }
  finish();
}

void StreamJob::fail(const Status& why) {
  status_ = why;
  finish();
}

void StreamJob::finish() { engine_->push_done(*this); }

Status StreamJob::read() {
  Result<PinnedResource> pinned = mounts_->pin(location_);
  if (!pinned.ok()) return pinned.status();
  pin_ = std::move(pinned.value());
  payload_.trusted = pin_.trusted();
  if (pin_.is_in_place()) {
    touch(pin_.bytes());
    payload_.bytes = pin_.bytes();
    return {};
  }
  if (is_from_source_) {
    const Result<std::span<std::byte>> loaded = mounts_->load(pin_, default_allocator());
    if (!loaded.ok()) return loaded.status();
    buffer_ = loaded.value();
    payload_.bytes = buffer_;
    bytes_ = static_cast<uint32_t>(buffer_.size());
  } else {
    bytes_ = pin_.raw_size();
    if (buffer_.size() < bytes_) {
      needs_more_ = true;
      return {StatusCode::too_small, "memory is smaller than the resource; detail = its size", bytes_, payload_.name};
    }
    if (const Status s = mounts_->read(pin_, buffer_); !s.ok()) return s;
    payload_.bytes = buffer_.first(bytes_);
  }
  pin_.release();
  return {};
}

}  // namespace meridian
