// SPDX-License-Identifier: MIT
#pragma once
/// Checks vectors of structs at the speed of memory. The struct is flattened into a small plan on the stack: masks over
/// 32-bit words that repeat every few elements, so that one loop without branches tests all floats and all ordinary
/// 32-bit enums; other closed enums become strided loads against a 64-bit set. A bad vector is only known to be bad;
/// the caller finds the place with the slow check.

#include <cstddef>
#include <cstdint>

#include "resource/data_view.h"

namespace meridian::detail {

class StructScan {
 public:
  StructScan(const reflection::Schema& schema, const reflection::Object& object);

  /// False if something in the `count` structs at `data` may be bad; true: all are good.
  /// Also false where the struct does not fit a plan (very large, enums beyond 64): then the slow check decides.
  bool all_good(const std::byte* data, uint32_t count) const;

 private:
  struct EnumCheck {
    uint64_t known = 0;  // bit v: value v is an enumerator
    uint32_t offset = 0, size = 0;
  };
  static constexpr uint32_t kMaxWords = 256;  // of the repeating mask
  static constexpr uint32_t kMaxChecks = 24;

  void add_enum(const reflection::Enum& item, reflection::BaseType base, uint32_t offset);
  void add(const reflection::Schema& schema, const reflection::Object& object, uint32_t base);
  bool words_good(const std::byte* data, uint32_t count) const;
  bool doubles_good(const std::byte* data, uint32_t count) const;
  template <class T>
  bool enum_good(const std::byte* data, uint32_t count, const EnumCheck& check) const;

  uint32_t size_;
  uint32_t words_ = 0;  // in the masks: the least multiple of the struct's size and 16 bytes
  bool fits_ = true, any_word_ = false;
  uint32_t enum_count_ = 0, double_count_ = 0;
  EnumCheck enums_[kMaxChecks];
  uint32_t doubles_[kMaxChecks];
  // A word is bad if bit 31 of ((word & kept) + added) | (word & sign) is set.
  //   float:           kept = exponent, added = lowest exponent bit: overflows only if all exponent bits are set
  //   enum [0, last]:  kept = all but bit 31, added = 0x7FFFFFFF - last, sign = bit 31: set only above `last`
  //   anything else:   all 0
  alignas(16) uint32_t kept_[kMaxWords] = {};
  alignas(16) uint32_t added_[kMaxWords] = {};
  alignas(16) uint32_t sign_[kMaxWords] = {};
};

/// True if the enum is marked `closed`: only its enumerators may occur.
inline bool is_closed(const reflection::Enum& item) { return find_attribute(item.attributes(), "closed") != nullptr; }

inline bool is_known(const reflection::Enum& item, int64_t value) {
  for (const reflection::EnumVal* known : *item.values()) {
    if (known->value() == value) return true;
  }
  return false;
}

}  // namespace meridian::detail
