// SPDX-License-Identifier: MIT
#include <bit>
#include <charconv>

#include "resource/convert_plan.h"

// Single values: which type holds which, and defaults that a schema gives as text.

namespace meridian::detail {
namespace {

bool is_signed(reflection::BaseType type) {
  return type == reflection::Byte || type == reflection::Short || type == reflection::Int || type == reflection::Long;
}

/// The next word of a list of numbers, taken off the list.
std::string_view next_word(std::string_view& list) {
  const size_t begin = list.find_first_not_of(" \t,");
  if (begin == std::string_view::npos) {
    list = {};
    return {};
  }
  const size_t end = list.find_first_of(" \t,", begin);
  const std::string_view word = list.substr(begin, end == std::string_view::npos ? end : end - begin);
  list = end == std::string_view::npos ? std::string_view() : list.substr(end);
  return word;
}

}  // namespace

bool widens(reflection::BaseType from, reflection::BaseType to) {
  if (from == to) return true;
  if (from == reflection::UType || to == reflection::UType || to == reflection::Bool) return false;
  if (from == reflection::Bool) return true;
  const uint32_t from_bits = 8 * scalar_size(from), to_bits = 8 * scalar_size(to);
  if (is_float(from)) return from == reflection::Float && to == reflection::Double;
  // A float holds integers of up to 24 bits, a double of up to 53.
  if (is_float(to)) return from_bits <= (to == reflection::Float ? 16u : 32u);
  if (is_signed(from) && !is_signed(to)) return false;
  return to_bits > from_bits;
}

uint64_t widen(reflection::BaseType from, reflection::BaseType to, uint64_t bits) {
  if (from == to) return bits;
  if (from == reflection::Float) {
    return std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  }
  int64_t value = static_cast<int64_t>(bits);
  switch (from) {
    case reflection::Bool:
      value = bits != 0;
      break;
    case reflection::Byte:
      value = static_cast<int8_t>(bits);
      break;
    case reflection::Short:
      value = static_cast<int16_t>(bits);
      break;
    case reflection::Int:
      value = static_cast<int32_t>(bits);
      break;
    default:
      break;  // unsigned, already zero-extended
  }
  if (to == reflection::Float) return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (to == reflection::Double) return std::bit_cast<uint64_t>(static_cast<double>(value));
  const uint32_t size = scalar_size(to);
  return size < 8 ? static_cast<uint64_t>(value) & ((uint64_t{1} << (8 * size)) - 1) : static_cast<uint64_t>(value);
}

/// Writes one default: a number, true or false, or an enumerator's name. Anything else leaves 0.
bool ConvertPlan::put_default(const reflection::Field& field, std::string_view text, std::byte* out) const {
  const reflection::BaseType base = field.type()->base_type();
  const char *begin = text.data(), *end = text.data() + text.size();
  if (base == reflection::Float) {
    float value = 0;
    if (std::from_chars(begin, end, value).ptr != end) return false;
    std::memcpy(out, &value, sizeof value);
    return true;
  }
  if (base == reflection::Double) {
    double value = 0;
    if (std::from_chars(begin, end, value).ptr != end) return false;
    std::memcpy(out, &value, sizeof value);
    return true;
  }
  int64_t value = 0;
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (text == "true") {
    value = 1;
  } else if (std::from_chars(hex ? begin + 2 : begin, end, value, hex ? 16 : 10).ptr != end) {
    uint64_t large = 0;  // above the largest signed number
    if (std::from_chars(begin, end, large).ptr == end) {
      value = static_cast<int64_t>(large);
    } else {
      const int32_t index = field.type()->index();
      if (index < 0) return false;
      for (const reflection::EnumVal* item : *enum_at(to_, index).values()) {
        if (text_of(item->name()) == text) value = item->value();
      }
    }
  }
  std::memcpy(out, &value, scalar_size(base));  // little endian: the low bytes
  return true;
}

/// The struct's bytes with every default filled in. A default of a field of struct type lists its lanes.
void ConvertPlan::fill_image(const reflection::Object& object, std::byte* out, std::string_view* lanes) {
  const FieldOrder order(object);
  for (uint32_t i = 0; i < order.size(); ++i) {
    const reflection::Field& field = order.field(object, i);
    const reflection::KeyValue* attribute = find_attribute(field.attributes(), "default");
    std::string_view own = attribute != nullptr ? text_of(attribute->value()) : std::string_view();
    std::string_view* list = lanes != nullptr ? lanes : own.empty() ? nullptr : &own;
    if (field.type()->base_type() == reflection::Obj) {
      fill_image(object_at(to_, field.type()->index()), out + field.offset(), list);
    } else if (list != nullptr) {
      const std::string_view word = next_word(*list);
      if (!word.empty()) put_default(field, word, out + field.offset());
    }
  }
}

}  // namespace meridian::detail
