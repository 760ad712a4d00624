// SPDX-License-Identifier: MIT
#include "meridian/resource/pack_decompressor.h"

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

namespace meridian {
namespace {

Status fault(StatusCode code, const char* message, uint64_t where, NameHash name) {
  return {code, message, where, name};
}

}  // namespace

PackDecompressor::~PackDecompressor() {
  for (size_t i = 0; i < prepared_count_; ++i) ZSTD_freeDDict(prepared_[i].dictionary);
  ZSTD_freeDCtx(context_);
}

Status PackDecompressor::prepare(const Pack& pack) {
  if (context_ == nullptr) context_ = ZSTD_createDCtx();
  if (context_ == nullptr) return {StatusCode::out_of_memory, "no memory for a decompression context"};
  for (const PackEntry& entry : pack.of_kind(kPackDictionaryKind)) {
    if (find(pack, entry.name) != nullptr) continue;
    if (prepared_count_ == kMaxDictionaries) {
      return fault(StatusCode::out_of_slots, "too many dictionaries for one decompressor; detail = limit",
                   kMaxDictionaries, entry.name);
    }
    const Result<std::span<const std::byte>> bytes = pack.in_place(entry);
    if (!bytes.ok()) return bytes.status();
    ZSTD_DDict* const dictionary = ZSTD_createDDict(bytes.value().data(), bytes.value().size());
    // libzstd does not say which of the two it was; what can be read without memory can be told apart.
    if (dictionary == nullptr) {
      return fault(StatusCode::bad_value, "dictionary is damaged, or there was no memory for it; detail = its offset",
                   entry.offset, entry.name);
    }
    prepared_[prepared_count_++] = {entry.raw_hash, dictionary};
  }
  return {};
}

const ZSTD_DDict* PackDecompressor::find(const Pack& pack, NameHash name) const {
  const PackEntry* const entry = pack.find(kPackDictionaryKind, name);
  for (size_t i = 0; entry != nullptr && i < prepared_count_; ++i) {
    if (prepared_[i].hash == entry->raw_hash) return prepared_[i].dictionary;
  }
  return nullptr;
}

Status PackDecompressor::read(const Pack& pack, const PackEntry& entry, std::span<std::byte> to) {
  if (to.size() < entry.raw_size) {
    return fault(StatusCode::too_small, "memory is smaller than the entry; detail = its raw size", entry.raw_size,
                 entry.name);
  }
  if (const Status status = pack.check_stored(entry); !status.ok()) return status;
  const std::span<const std::byte> stored = pack.stored_bytes(entry);
  if (entry.is_stored()) {
    if (!stored.empty()) std::memcpy(to.data(), stored.data(), stored.size());
    return {};
  }
  MERIDIAN_ASSERT(context_ != nullptr, "prepare() comes before read()");
  const unsigned long long claimed = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (claimed == ZSTD_CONTENTSIZE_ERROR) {
    return fault(StatusCode::bad_value, "entry is no zstd frame; detail = its offset", entry.offset, entry.name);
  }
  if (claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed != entry.raw_size) {
    return fault(StatusCode::bad_value, "frame claims another size than the table; detail = that size", claimed,
                 entry.name);
  }
  const ZSTD_DDict* dictionary = nullptr;
  if (entry.dictionary.value != 0) {
    dictionary = find(pack, entry.dictionary);
    if (dictionary == nullptr) {
      return fault(StatusCode::not_found, "the dictionary was not prepared; detail = its name", entry.dictionary.value,
                   entry.name);
    }
  }
  // In one pass straight into `to`: no window is allocated, whatever the frame asks for.
  const size_t size =
      ZSTD_decompress_usingDDict(context_, to.data(), entry.raw_size, stored.data(), stored.size(), dictionary);
  if (ZSTD_isError(size) != 0 || size != entry.raw_size) {
    return fault(StatusCode::bad_structure, "frame is damaged, or has another size; detail = its offset", entry.offset,
                 entry.name);
  }
  if (!pack.trusted() && XXH3_64bits(to.data(), entry.raw_size) != entry.raw_hash) {
    return fault(StatusCode::bad_checksum, "checksum of the decompressed bytes does not match; detail = its offset",
                 entry.offset, entry.name);
  }
  return {};
}

}  // namespace meridian
