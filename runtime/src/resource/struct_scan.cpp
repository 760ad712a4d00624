// SPDX-License-Identifier: MIT
#include "resource/struct_scan.h"

#include <numeric>

namespace meridian::detail {
namespace {
constexpr uint32_t kExponent = 0x7F800000;
constexpr uint32_t kLowestExponentBit = 0x00800000;
}  // namespace

StructScan::StructScan(const reflection::Schema& schema, const reflection::Object& object)
    : size_(static_cast<uint32_t>(object.bytesize())) {
  add(schema, object, 0);
  if (!any_float_ || !fits_) return;
  words_ = std::lcm(size_, 16u) / 4;
  if (size_ % 4 != 0 || words_ > kMaxWords) {
    fits_ = false;
    return;
  }
  for (uint32_t word = size_ / 4; word < words_; ++word) mask_[word] = mask_[word - size_ / 4];
}

void StructScan::add(const reflection::Schema& schema, const reflection::Object& object, uint32_t base) {
  for (const reflection::Field* field : *object.fields()) {
    const uint32_t offset = base + field->offset();
    const reflection::Type& type = *field->type();
    if (type.base_type() == reflection::Obj) {
      add(schema, object_at(schema, type.index()), offset);
    } else if (type.base_type() == reflection::Float) {
      any_float_ = true;
      if (offset % 4 != 0 || offset / 4 >= kMaxWords)
        fits_ = false;
      else
        mask_[offset / 4] = kExponent;
    } else if (type.base_type() == reflection::Double) {
      if (double_count_ == kMaxChecks)
        fits_ = false;
      else
        doubles_[double_count_++] = offset;
    } else if (type.index() >= 0 && is_closed(enum_at(schema, type.index()))) {
      EnumCheck check{0, offset, scalar_size(type.base_type())};
      for (const reflection::EnumVal* value : *enum_at(schema, type.index()).values()) {
        if (value->value() < 0 || value->value() > 63)
          fits_ = false;
        else
          check.known |= uint64_t{1} << value->value();
      }
      if (enum_count_ == kMaxChecks)
        fits_ = false;
      else
        enums_[enum_count_++] = check;
    }
  }
}

bool StructScan::floats_good(const std::byte* data, uint32_t count) const {
  const size_t total = size_t{count} * size_ / 4;
  // Masked exponent plus its lowest bit overflows into bit 31 only if all exponent bits are set: infinite or NaN.
  // Words that are no floats are masked to 0 and never do. Four lanes, so that compilers make one SSE loop of it.
  uint32_t seen[4] = {};
  size_t done = 0;
  for (; done + words_ <= total; done += words_) {
    for (uint32_t word = 0; word < words_; word += 4) {
      uint32_t value[4];
      std::memcpy(value, data + (done + word) * 4, sizeof value);
      for (uint32_t lane = 0; lane < 4; ++lane) seen[lane] |= (value[lane] & mask_[word + lane]) + kLowestExponentBit;
    }
  }
  for (uint32_t word = 0; done < total; ++done, ++word) {
    uint32_t value;
    std::memcpy(&value, data + done * 4, sizeof value);
    seen[0] |= (value & mask_[word]) + kLowestExponentBit;
  }
  return ((seen[0] | seen[1] | seen[2] | seen[3]) & 0x80000000u) == 0;
}

bool StructScan::doubles_good(const std::byte* data, uint32_t count) const {
  bool bad = false;
  for (uint32_t check = 0; check < double_count_; ++check) {
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t high;  // the half with the exponent
      std::memcpy(&high, data + size_t{i} * size_ + doubles_[check] + 4, sizeof high);
      bad |= (high & 0x7FF00000u) == 0x7FF00000u;
    }
  }
  return !bad;
}

template <class T>
bool StructScan::enum_good(const std::byte* data, uint32_t count, const EnumCheck& check) const {
  uint64_t bad = 0;
  for (uint32_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, data + size_t{i} * size_ + check.offset, sizeof value);
    bad |= (value >> 3 >> 3) | (~(check.known >> (value & 63)) & 1);
  }
  return bad == 0;
}

bool StructScan::all_good(const std::byte* data, uint32_t count) const {
  if (!fits_) return false;
  // Slices that stay in the first-level cache while every check passes over them. A multiple of 4 elements keeps the
  // mask's phase.
  const uint32_t slice = size_ < 4096 ? 16384 / size_ & ~3u : 4;
  for (uint32_t first = 0; first < count; first += slice) {
    const uint32_t here = count - first < slice ? count - first : slice;
    const std::byte* at = data + size_t{first} * size_;
    if (any_float_ && !floats_good(at, here)) return false;
    if (double_count_ != 0 && !doubles_good(at, here)) return false;
    for (uint32_t i = 0; i < enum_count_; ++i) {
      const EnumCheck& check = enums_[i];
      const bool good = check.size == 1   ? enum_good<uint8_t>(at, here, check)
                        : check.size == 2 ? enum_good<uint16_t>(at, here, check)
                        : check.size == 4 ? enum_good<uint32_t>(at, here, check)
                                          : enum_good<uint64_t>(at, here, check);
      if (!good) return false;
    }
  }
  return true;
}

}  // namespace meridian::detail
