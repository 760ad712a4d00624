// SPDX-License-Identifier: MIT
#pragma once
/// Vectors of FlatBuffers, which may be absent.

#include <cstdint>
#include <span>

#include <flatbuffers/flatbuffers.h>

namespace meridian::detail {

/// Elements of a vector; 0 for one that is not there.
template <class Vector>
uint32_t size_of(const Vector* vector) {
  return vector != nullptr ? vector->size() : 0;
}

/// A vector of structs as structures of our own with the same layout.
template <class To, class From>
std::span<const To> records(const flatbuffers::Vector<const From*>* vector) {
  static_assert(sizeof(To) == sizeof(From) && alignof(To) == alignof(From));
  if (vector == nullptr) return {};
  return {reinterpret_cast<const To*>(vector->Data()), vector->size()};
}

/// Finds the records of one owner after the other in a list that is sorted by owner.
template <class Record>
class ByOwner {
 public:
  using List = flatbuffers::Vector<flatbuffers::Offset<Record>>;
  explicit ByOwner(const List* list) : list_(list) {}
  /// The same for who begins at `first`, by binary search.
  ByOwner(const List* list, uint32_t first) : list_(list) {
    uint32_t end = size_of(list);
    while (at_ < end) {
      const uint32_t middle = at_ + (end - at_) / 2;
      if (list->Get(middle)->owner() < first) {
        at_ = middle + 1;
      } else {
        end = middle;
      }
    }
  }
  /// The next record of `owner`, or null. Ask for owners in ascending order.
  const Record* next(uint32_t owner) {
    for (; at_ < size_of(list_) && list_->Get(at_)->owner() <= owner; ++at_) {
      if (list_->Get(at_)->owner() == owner) return list_->Get(at_++);
    }
    return nullptr;
  }
  /// The last one: the one that counts where there may be one.
  const Record* last(uint32_t owner) {
    const Record* last = nullptr;
    while (const Record* const record = next(owner)) last = record;
    return last;
  }

 private:
  const List* list_;
  uint32_t at_ = 0;
};

}  // namespace meridian::detail
