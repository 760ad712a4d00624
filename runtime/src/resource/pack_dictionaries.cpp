// SPDX-License-Identifier: MIT
#include "meridian/resource/pack_dictionaries.h"

#include <zstd.h>

namespace meridian {

PackDictionaries::~PackDictionaries() {
  for (size_t i = 0; i < count_; ++i) ZSTD_freeDDict(prepared_[i].dictionary);
}

PackDictionaries::Prepared* PackDictionaries::find_hash(uint64_t hash) {
  for (size_t i = 0; i < count_; ++i) {
    if (prepared_[i].hash == hash) return &prepared_[i];
  }
  return nullptr;
}

Status PackDictionaries::add(const Pack& pack, const PackEntry& entry) {
  if (Prepared* const known = find_hash(entry.raw_hash); known != nullptr) {
    ++known->users;
    return {};
  }
  if (count_ == kMaxDictionaries) {
    return {StatusCode::out_of_slots, "too many dictionaries for one decompressor; detail = limit", kMaxDictionaries,
            entry.name};
  }
  const Result<std::span<const std::byte>> bytes = pack.in_place(entry);
  if (!bytes.ok()) return bytes.status();
  ZSTD_DDict* const dictionary = ZSTD_createDDict(bytes.value().data(), bytes.value().size());
  // libzstd does not say which of the two it was; what can be read without memory can be told apart.
  if (dictionary == nullptr) {
    return {StatusCode::bad_value, "dictionary is damaged, or there was no memory for it; detail = its offset",
            entry.offset, entry.name};
  }
  prepared_[count_++] = {entry.raw_hash, dictionary, 1};
  return {};
}

void PackDictionaries::remove(const PackEntry& entry) {
  Prepared* const known = find_hash(entry.raw_hash);
  MERIDIAN_ASSERT(known != nullptr, "a pack that was not prepared is released");
  if (known == nullptr || --known->users > 0) return;
  ZSTD_freeDDict(known->dictionary);
  *known = prepared_[--count_];
  prepared_[count_] = {};
}

Status PackDictionaries::prepare(const Pack& pack) {
  const std::span<const PackEntry> dictionaries = pack.of_kind(kPackDictionaryKind);
  for (const PackEntry& entry : dictionaries) {
    const Status status = add(pack, entry);
    if (status.ok()) continue;
    for (const PackEntry* done = dictionaries.data(); done != &entry; ++done) remove(*done);
    return status;
  }
  return {};
}

void PackDictionaries::release(const Pack& pack) {
  for (const PackEntry& entry : pack.of_kind(kPackDictionaryKind)) remove(entry);
}

const ZSTD_DDict* PackDictionaries::find(const Pack& pack, NameHash name) const {
  const PackEntry* const entry = pack.find(kPackDictionaryKind, name);
  for (size_t i = 0; entry != nullptr && i < count_; ++i) {
    if (prepared_[i].hash == entry->raw_hash) return prepared_[i].dictionary;
  }
  return nullptr;
}

}  // namespace meridian
