// SPDX-License-Identifier: MIT
#pragma once
/// Reads every value of a FlatBuffer by its reflection schema, like a program that trusts an opened resource, and
/// checks that each read lies inside. Written apart from the runtime's own walks.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "flatbuffers/reflection_generated.h"

namespace meridian::test {

class Traversal {
 public:
  Traversal(std::span<const std::byte> payload, std::span<const std::byte> bfbs)
      : bytes_(payload), schema_(*reflection::GetSchema(bfbs.data())) {}

  /// False if a read would be outside the payload, or misaligned.
  bool run() {
    table(load<uint32_t>(0), *schema_.root_table());
    return inside_;
  }
  uint64_t sum() const { return sum_; }  ///< of all values, so that reads are not optimised away

 private:
  template <class T>
  T load(uint64_t at) {
    T value{};
    if (at > bytes_.size() || sizeof(T) > bytes_.size() - at || at % alignof(T) != 0)
      inside_ = false;
    else
      std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  uint64_t follow(uint64_t at) { return at + load<uint32_t>(at); }
  const reflection::Object& object(const reflection::Type& type) {
    return *schema_.objects()->Get(static_cast<uint32_t>(type.index()));
  }

  static uint64_t scalar_size(reflection::BaseType base) {
    constexpr uint8_t sizes[] = {0, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 4};
    return base <= reflection::String ? sizes[base] : 4;
  }
  void scalar(reflection::BaseType base, uint64_t at) {
    switch (scalar_size(base)) {
      case 1:
        sum_ += load<uint8_t>(at);
        break;
      case 2:
        sum_ += load<uint16_t>(at);
        break;
      case 4:
        sum_ += load<uint32_t>(at);
        break;
      default:
        sum_ += load<uint64_t>(at);
        break;
    }
  }
  void structure(uint64_t at, const reflection::Object& type) {
    for (const auto* field : *type.fields()) {
      if (field->type()->base_type() == reflection::Obj)
        structure(at + field->offset(), object(*field->type()));
      else
        scalar(field->type()->base_type(), at + field->offset());
    }
  }
  void text(uint64_t at) {
    const uint64_t size = load<uint32_t>(at);
    for (uint64_t i = 0; i < size && inside_; ++i) sum_ += load<uint8_t>(at + 4 + i);
    if (load<uint8_t>(at + 4 + size) != 0) inside_ = false;
  }
  void vector(uint64_t at, const reflection::Type& type) {
    const uint64_t count = load<uint32_t>(at);
    const bool is_object = type.element() == reflection::Obj;
    const bool is_struct = is_object && object(type).is_struct();
    const uint64_t size = is_struct ? static_cast<uint64_t>(object(type).bytesize()) : scalar_size(type.element());
    for (uint64_t i = 0; i < count && inside_; ++i) {
      const uint64_t element = at + 4 + i * size;
      if (is_struct)
        structure(element, object(type));
      else if (is_object)
        table(follow(element), object(type));
      else if (type.element() == reflection::String)
        text(follow(element));
      else
        scalar(type.element(), element);
    }
  }
  void table(uint64_t at, const reflection::Object& type) {
    const auto vtable = static_cast<uint64_t>(static_cast<int64_t>(at) - load<int32_t>(at));
    for (const auto* field : *type.fields()) {
      if (!inside_) return;
      if (field->deprecated() || field->offset() + 2u > load<uint16_t>(vtable)) continue;
      const uint64_t offset = load<uint16_t>(vtable + field->offset());
      if (offset == 0) continue;
      const uint64_t place = at + offset;
      switch (field->type()->base_type()) {
        case reflection::String:
          text(follow(place));
          break;
        case reflection::Vector:
          vector(follow(place), *field->type());
          break;
        case reflection::Obj:
          if (object(*field->type()).is_struct())
            structure(place, object(*field->type()));
          else
            table(follow(place), object(*field->type()));
          break;
        case reflection::Union: {
          const uint64_t tag = load<uint16_t>(vtable + field->offset() - 2u);
          const int64_t member = tag == 0 ? 0 : load<uint8_t>(at + tag);
          if (member == 0) break;
          const auto* known =
              schema_.enums()->Get(static_cast<uint32_t>(field->type()->index()))->values()->LookupByKey(member);
          if (known == nullptr)
            inside_ = false;
          else
            table(follow(place), object(*known->union_type()));
          break;
        }
        default:
          scalar(field->type()->base_type(), place);
          break;
      }
    }
  }

  std::span<const std::byte> bytes_;
  const reflection::Schema& schema_;
  bool inside_ = true;
  uint64_t sum_ = 0;
};

}  // namespace meridian::test
