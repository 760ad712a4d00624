// SPDX-License-Identifier: MIT
#include "resource/struct_scan.h"

#include <numeric>

namespace meridian::detail {
namespace {
constexpr uint32_t kExponent = 0x7F800000, kLowestExponentBit = 0x00800000, kTopBit = 0x80000000;
// Four words at once, on every compiler that we use: loops over arrays are not reliably turned into this.
using FourWords = uint32_t __attribute__((vector_size(16)));
}  // namespace

StructScan::StructScan(const reflection::Schema& schema, const reflection::Object& object)
    : size_(static_cast<uint32_t>(object.bytesize())) {
  add(schema, object, 0);
  if (!any_word_ || !fits_) return;
  words_ = std::lcm(size_, 16u) / 4;
  if (size_ % 4 != 0 || words_ > kMaxWords) {
    fits_ = false;
    return;
  }
  for (uint32_t word = size_ / 4; word < words_; ++word) {
    kept_[word] = kept_[word - size_ / 4];
    added_[word] = added_[word - size_ / 4];
    sign_[word] = sign_[word - size_ / 4];
  }
}

void StructScan::add_enum(const reflection::Enum& item, reflection::BaseType base, uint32_t offset) {
  EnumCheck check{0, offset, scalar_size(base)};
  uint32_t last = 0;
  for (const reflection::EnumVal* value : *item.values()) {
    if (value->value() < 0 || value->value() > 63) {
      fits_ = false;
      return;
    }
    check.known |= uint64_t{1} << value->value();
    if (value->value() > last) last = static_cast<uint32_t>(value->value());
  }
  const bool without_gaps = last < 63 && check.known == (uint64_t{1} << (last + 1)) - 1;
  if (check.size == 4 && offset % 4 == 0 && offset / 4 < kMaxWords && size_ % 4 == 0 && without_gaps) {
    any_word_ = true;
    kept_[offset / 4] = ~kTopBit;
    added_[offset / 4] = ~kTopBit - last;
    sign_[offset / 4] = kTopBit;
  } else if (enum_count_ < kMaxChecks) {
    enums_[enum_count_++] = check;
  } else {
    fits_ = false;
  }
}

void StructScan::add(const reflection::Schema& schema, const reflection::Object& object, uint32_t base) {
  for (const reflection::Field* field : *object.fields()) {
    const uint32_t offset = base + field->offset();
    const reflection::Type& type = *field->type();
    if (type.base_type() == reflection::Obj) {
      add(schema, object_at(schema, type.index()), offset);
    } else if (type.base_type() == reflection::Float) {
      any_word_ = true;
      if (offset % 4 != 0 || offset / 4 >= kMaxWords) {
        fits_ = false;
      } else {
        kept_[offset / 4] = kExponent;
        added_[offset / 4] = kLowestExponentBit;
      }
    } else if (type.base_type() == reflection::Double) {
      if (double_count_ < kMaxChecks)
        doubles_[double_count_++] = offset;
      else
        fits_ = false;
    } else if (type.index() >= 0 && is_closed(enum_at(schema, type.index()))) {
      add_enum(enum_at(schema, type.index()), type.base_type(), offset);
    }
  }
}

bool StructScan::words_good(const std::byte* data, uint32_t count) const {
  const size_t period = size_t{words_} * 4, total = size_t{count} * size_;
  FourWords seen = {};
  size_t done = 0;
  for (; done + period <= total; done += period) {
    for (size_t at = 0; at < period; at += sizeof(FourWords)) {
      FourWords word, kept, added, sign;
      std::memcpy(&word, data + done + at, sizeof word);
      std::memcpy(&kept, reinterpret_cast<const std::byte*>(kept_) + at, sizeof kept);
      std::memcpy(&added, reinterpret_cast<const std::byte*>(added_) + at, sizeof added);
      std::memcpy(&sign, reinterpret_cast<const std::byte*>(sign_) + at, sizeof sign);
      seen |= ((word & kept) + added) | (word & sign);
    }
  }
  uint32_t all = seen[0] | seen[1] | seen[2] | seen[3];
  for (size_t i = 0; done < total; ++i, done += 4) {
    uint32_t word;
    std::memcpy(&word, data + done, sizeof word);
    all |= ((word & kept_[i]) + added_[i]) | (word & sign_[i]);
  }
  return (all & kTopBit) == 0;
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
    if (any_word_ && !words_good(at, here)) return false;
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
