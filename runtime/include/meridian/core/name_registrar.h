// SPDX-License-Identifier: MIT
#pragma once
/// From a name to an index: which slot is 'lamp_3' in? A hash table of fixed capacity, whose keys are hashes already.
///
///   NameRegistrar slots;
///   if (const Status status = slots.init(1000, default_allocator()); !status.ok()) return status;
///
///   if (const Status status = slots.insert(hash_name("lamp_3"), 17); !status.ok()) return status;  // full, or there
///   const uint32_t slot = slots.find(hash_name("lamp_3"));                                         // 17
///   const bool has_tree = slots.find(hash_name("tree")) != kNoNameIndex;                           // false
///   uint32_t highest = 0;
///   for (const NameRegistrar::Entry& entry : slots) highest = std::max(highest, entry.index);
///   slots.remove(hash_name("lamp_3"));
///
/// Open addressing with linear probing; the table is at most three quarters full. Erasing leaves no marks, so a table
/// that is used for long stays as fast as a new one.
///
/// Threads: main; readers while nobody changes it.
/// Memory:  one block, in init: a power of two of 8-byte slots, 11 to 22 bytes for each name of the capacity. Nothing
///          later.
/// Source:  D. E. Knuth, "The Art of Computer Programming", vol. 3, 6.4, algorithms L and R.

#include <cstddef>
#include <cstdint>

#include "meridian/base/memory.h"
#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"

namespace meridian {

/// What find returns for a name that isn't there. No name can have it.
inline constexpr uint32_t kNoNameIndex = 0xFFFFFFFF;
/// Largest capacity. [count]
inline constexpr uint32_t kMaxRegisteredNames = 1u << 30;

class NameRegistrar {
 public:
  /// A name and its index.
  struct Entry {
    NameHash name;
    uint32_t index = kNoNameIndex;
  };

  NameRegistrar() = default;
  ~NameRegistrar();
  NameRegistrar(const NameRegistrar&) = delete;
  NameRegistrar& operator=(const NameRegistrar&) = delete;

  /// Takes the memory for `capacity` names; until then there is room for none. `allocator` outlives the registrar.
  /// Requires: not called before.
  /// Errors:   out_of_memory, too_large (beyond kMaxRegisteredNames); it's as before.
  Status init(uint32_t capacity, Allocator& allocator);

  /// Adds a name. The empty name (0) is one like any other.
  /// Requires: index != kNoNameIndex.
  /// Errors:   in_use, detail = the index that the name has already, and keeps; out_of_slots, detail = capacity;
  ///           bad_value for kNoNameIndex. All carry the name.
  Status insert(NameHash name, uint32_t index);
  /// The name's index, or kNoNameIndex. Looks at 2.5 slots on average where the table is fullest, 8.5 if the name isn't
  /// there; most tables have more room.
  uint32_t find(NameHash name) const;
  bool contains(NameHash name) const { return find(name) != kNoNameIndex; }
  /// Takes a name out. False if it wasn't there.
  bool remove(NameHash name);
  /// Takes all names out. O(capacity).
  void clear();

  uint32_t capacity() const { return capacity_; }
  uint32_t count() const { return count_; }

  /// Goes over the entries in the order of their slots: no order to speak of, but the same after the same calls.
  /// Dies with the next insert, remove or clear.
  class Iterator {
   public:
    const Entry& operator*() const { return *at_; }
    Iterator& operator++() {
      ++at_;
      skip_free();
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    friend class NameRegistrar;
    Iterator(const Entry* at, const Entry* end) : at_(at), end_(end) { skip_free(); }
    void skip_free() {
      while (at_ != end_ && at_->index == kNoNameIndex) ++at_;
    }
    const Entry* at_;
    const Entry* end_;
  };
  Iterator begin() const { return {slots_, slots_ + slot_count_}; }
  Iterator end() const { return {slots_ + slot_count_, slots_ + slot_count_}; }

 private:
  uint32_t home_of(NameHash name) const;
  /// The slot of `name`, or the free one where it belongs. Requires: init was called.
  uint32_t slot_of(NameHash name) const;

  Allocator* allocator_ = nullptr;
  Entry* slots_ = nullptr;  ///< free: index == kNoNameIndex
  uint32_t slot_count_ = 0;
  uint32_t capacity_ = 0;
  uint32_t count_ = 0;
};

}  // namespace meridian
