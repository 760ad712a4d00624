// SPDX-License-Identifier: MIT
#pragma once
/// Reads a FlatBuffer by positions, after a verifier (the generated one, or check_structure) accepted it.
/// Loads go through memcpy: alignment of vector elements is not what verifiers check.
///
/// Threads: immutable.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "flatbuffers/reflection_generated.h"
#include "resource/schema_view.h"

namespace meridian::detail {

/// Positions are byte offsets from the first byte; a FlatBuffer is smaller than 2 GiB.
class DataView {
 public:
  explicit DataView(std::span<const std::byte> bytes) : base_(bytes.data()) {}

  template <class T>
  T load(uint32_t at) const {
    T value;
    std::memcpy(&value, base_ + at, sizeof value);
    return value;
  }
  const std::byte* data(uint32_t at) const { return base_ + at; }

  uint32_t follow(uint32_t at) const { return at + load<uint32_t>(at); }
  uint32_t root() const { return load<uint32_t>(0); }

  /// Position of a table's field, or 0 if it is absent. `slot`: offset in the vtable, as reflection gives it.
  uint32_t field(uint32_t table, uint32_t slot) const {
    const uint32_t vtable = static_cast<uint32_t>(int64_t{table} - load<int32_t>(table));
    if (slot + 2 > load<uint16_t>(vtable)) return 0;
    const uint32_t offset = load<uint16_t>(vtable + slot);
    return offset != 0 ? table + offset : 0;
  }

  /// An integer scalar, sign- or zero-extended. `base`: any integer type.
  int64_t integer(reflection::BaseType base, uint32_t at) const {
    switch (base) {
      case reflection::Byte:
        return load<int8_t>(at);
      case reflection::Short:
        return load<int16_t>(at);
      case reflection::UShort:
        return load<uint16_t>(at);
      case reflection::Int:
        return load<int32_t>(at);
      case reflection::UInt:
        return load<uint32_t>(at);
      case reflection::Long:
      case reflection::ULong:
        return load<int64_t>(at);
      default:
        return load<uint8_t>(at);  // Bool, UByte, UType
    }
  }

  /// True if the float or double there is neither infinite nor NaN: by exponent bits, so -ffast-math cannot lie.
  bool finite(reflection::BaseType base, uint32_t at) const {
    if (base == reflection::Float) return (load<uint32_t>(at) & 0x7F800000u) != 0x7F800000u;
    return (load<uint64_t>(at) & 0x7FF0000000000000u) != 0x7FF0000000000000u;
  }

 private:
  const std::byte* base_;
};

}  // namespace meridian::detail
