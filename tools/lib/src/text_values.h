// SPDX-License-Identifier: MIT
#pragma once
/// Numbers, booleans, hashes and hex blobs as the XML formats write them. Pure functions; no locale, no allocation.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "meridian/tools/binding.h"

namespace meridian::tools {

inline constexpr size_t npos = std::string_view::npos;

uint32_t scalar_size(Scalar scalar);
int64_t scalar_min(Scalar scalar);
int64_t scalar_max(Scalar scalar);  ///< u64 is read up to INT64_MAX in ranges, and in full by parse_integer
inline bool is_float(Scalar scalar) { return scalar == Scalar::f32 || scalar == Scalar::f64; }
/// A double as the bits of an f32 or f64.
uint64_t float_bits(Scalar scalar, double value);
/// Copies the low bytes of `bits`. Nearly every field has four: a copy of known size is one move.
inline void store_bits(uint8_t* at, uint32_t size, uint64_t bits) {
  if (size == 4)
    std::memcpy(at, &bits, 4);
  else
    std::memcpy(at, &bits, size);
}
/// The value as a scalar of that size holds it.
uint64_t low_bits(uint64_t bits, uint32_t size);
inline uint64_t load_bits(const uint8_t* at, uint32_t size) {
  uint64_t bits = 0;
  if (size == 4)
    std::memcpy(&bits, at, 4);
  else
    std::memcpy(&bits, at, size);
  return bits;
}
/// Sign-extends the value that load_bits gave.
int64_t signed_value(Scalar scalar, uint64_t bits);
/// A number written in a schema attribute. False: it does not fit.
bool store_number(std::string_view text, Scalar scalar, uint8_t* at);

/// XML's white space.
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
std::string_view trim(std::string_view text);
/// Calls f(word) for each run of non-blanks; the words point into `text`.
template <class Function>
void for_each_word(std::string_view text, Function&& f) {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && !is_blank(text[end])) ++end;
    if (end > i) f(text.substr(i, end - i));
    i = end + 1;
  }
}
/// Appends text as XML holds it; line breaks survive in attribute values too.
void append_escaped(std::string& out, std::string_view text, bool in_attribute);

enum class NumberError : uint8_t {
  none,
  empty,
  not_a_number,
  decimal_comma,
  out_of_range,    ///< integer outside the type
  not_finite,      ///< nan, inf, overflow
  not_an_integer,  ///< 12.5 in an integer field
  exact_float,     ///< 12.0 or 1e3 in an integer field: value is valid, worth a warning
  underflow,       ///< value is (signed) zero, worth a note
};

struct ParsedNumber {
  NumberError error = NumberError::none;
  uint64_t bits = 0;  ///< as load_bits gives
  bool usable() const {
    return error == NumberError::none || error == NumberError::exact_float || error == NumberError::underflow;
  }
};

/// Decimal or 0x, optional sign, blanks around it.
ParsedNumber parse_integer(std::string_view text, Scalar scalar);
/// Decimal, exponent allowed. Nearest value of the type.
ParsedNumber parse_float(std::string_view text, Scalar scalar);
/// true/false in any case, 1, 0. Otherwise -1.
int parse_boolean(std::string_view text);
/// `hash_` or `0x` and 1 to 8 hex digits.
bool parse_hash_literal(std::string_view text, uint32_t& hash);

/// Appends the shortest text that reads back to the same bits.
void append_number(std::string& out, Scalar scalar, uint64_t bits);
void append_hash_literal(std::string& out, uint32_t hash);

/// Lower-cases A-Z only.
std::string fold(std::string_view text);
/// The candidate nearest to `text` by edit distance, or empty if none is near.
std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates);

/// Appends a character. Requires: code is a scalar value of Unicode.
void append_utf8(std::string& out, uint32_t code);

}  // namespace meridian::tools
