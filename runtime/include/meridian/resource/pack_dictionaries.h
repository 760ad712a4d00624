// SPDX-License-Identifier: MIT
#pragma once
/// The zstd dictionaries of packs, in the form that decompression wants. Digesting one costs its size and 30 KB, so it
/// is done once for all packs with the same dictionary and all contexts that read them.
///
///   PackDictionaries dictionaries;
///   if (dictionaries.prepare(pack).ok()) {
///     const ZSTD_DDict_s* digested = dictionaries.find(pack, entry->dictionary);   // until release(pack)
///   }
///
/// Threads: readers (find beside find; nothing beside prepare and release). A digested dictionary is immutable.
/// Memory:  prepare allocates through libzstd.

#include <cstddef>
#include <cstdint>

#include "meridian/base/status.h"
#include "meridian/resource/pack.h"

struct ZSTD_DDict_s;

namespace meridian {

class PackDictionaries {
 public:
  /// Of all packs together; equal ones count once.
  static constexpr size_t kMaxDictionaries = 64;

  PackDictionaries() = default;
  ~PackDictionaries();
  PackDictionaries(const PackDictionaries&) = delete;
  PackDictionaries& operator=(const PackDictionaries&) = delete;

  /// Digests what is not yet there. All or nothing: after an error the pack is not prepared.
  /// Errors: bad_checksum or bad_value (a dictionary is damaged; `name` says which), out_of_slots.
  Status prepare(const Pack& pack);
  /// Undoes one prepare(); frees what no other pack uses. Requires: the pack is prepared.
  void release(const Pack& pack);
  /// A prepared dictionary by its name in the pack, or null.
  const ZSTD_DDict_s* find(const Pack& pack, NameHash name) const;
  size_t count() const { return count_; }  ///< digested now

 private:
  struct Prepared {
    uint64_t hash = 0;  ///< XXH3-64 of the dictionary
    ZSTD_DDict_s* dictionary = nullptr;
    uint32_t users = 0;  ///< prepared packs [count]
  };
  Prepared* find_hash(uint64_t hash);
  Status add(const Pack& pack, const PackEntry& entry);
  void remove(const PackEntry& entry);

  Prepared prepared_[kMaxDictionaries];
  size_t count_ = 0;
};

}  // namespace meridian
