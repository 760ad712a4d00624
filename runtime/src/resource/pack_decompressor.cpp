// SPDX-License-Identifier: MIT
#include "meridian/resource/pack_decompressor.h"

#include "resource/zstd_entry.h"

namespace meridian {

PackDecompressor::~PackDecompressor() { ZSTD_freeDCtx(context_); }

Status PackDecompressor::prepare(const Pack& pack) {
  if (context_ == nullptr) context_ = ZSTD_createDCtx();
  if (context_ == nullptr) return {StatusCode::out_of_memory, "no memory for a decompression context"};
  return dictionaries_.prepare(pack);
}

Status PackDecompressor::read(const Pack& pack, const PackEntry& entry, std::span<std::byte> to) {
  bool done = false;
  if (const Status status = detail::begin_entry(pack, entry, to, done); !status.ok() || done) return status;
  MERIDIAN_ASSERT(context_ != nullptr, "prepare() comes before read()");
  if (context_ == nullptr) return {StatusCode::out_of_slots, "there is no decompression context yet", 0, entry.name};
  return detail::decompress_entry(context_, dictionaries_.find(pack, entry.dictionary), pack, entry, to);
}

}  // namespace meridian
