// SPDX-License-Identifier: MIT
#include "text_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace meridian::tools {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool equal_folded(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

bool has_decimal_comma(std::string_view t) {
  const size_t comma = t.find(',');
  if (comma == std::string_view::npos || comma == 0 || comma + 1 >= t.size()) return false;
  return std::all_of(t.begin(), t.end(), [](char c) {
    return (c >= '0' && c <= '9') || c == ',' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
  });
}

// from_chars says "out of range" for both ends. Which one it was follows from the decimal exponent of the first digit
// that is not 0.
bool is_underflow(std::string_view t) {
  const size_t e = t.find_first_of("eE");
  const std::string_view mantissa = t.substr(0, e);
  int64_t exponent = 0;
  if (e != std::string_view::npos) {
    std::string_view digits = t.substr(e + 1);
    const bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+')) digits.remove_prefix(1);
    for (const char c : digits) exponent = std::min<int64_t>(exponent * 10 + (c - '0'), 1'000'000'000);
    if (negative) exponent = -exponent;
  }
  const size_t dot = std::min(mantissa.find('.'), mantissa.size());
  const size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  const int64_t position = first < dot ? static_cast<int64_t>(dot - first) - 1 : -static_cast<int64_t>(first - dot);
  return position + exponent < 0;
}

template <class F>
ParsedNumber parse_as(std::string_view t) {
  ParsedNumber out;
  const bool plus = t[0] == '+';
  if (plus) t.remove_prefix(1);
  F value{};
  const auto [end, ec] = std::from_chars(t.data(), t.data() + t.size(), value);
  if (ec == std::errc::invalid_argument || end != t.data() + t.size() ||
      (plus && !t.empty() && (t[0] == '-' || t[0] == '+'))) {
    out.error = has_decimal_comma(t) ? NumberError::decimal_comma : NumberError::not_a_number;
    // Spellings of nan and inf that from_chars does not take are still that.
    for (const std::string_view word : {"1.#inf", "1.#qnan", "-1.#inf", "-1.#ind", "infinity", "-infinity"})
      if (equal_folded(t, word)) out.error = NumberError::not_finite;
    return out;
  }
  if (ec == std::errc::result_out_of_range) {
    if (!is_underflow(t)) {
      out.error = NumberError::not_finite;
      return out;
    }
    value = t[0] == '-' ? -F{0} : F{0};
    out.error = NumberError::underflow;
  } else if (!std::isfinite(value)) {
    out.error = NumberError::not_finite;
    return out;
  }
  if constexpr (sizeof(F) == 4)
    out.bits = std::bit_cast<uint32_t>(value);
  else
    out.bits = std::bit_cast<uint64_t>(value);
  return out;
}

bool is_signed(Scalar s) { return s == Scalar::i8 || s == Scalar::i16 || s == Scalar::i32 || s == Scalar::i64; }

// The common spelling of a number: '-' perhaps, digits, for a decimal a point between two of them. What is longer or
// has anything else in it (blanks, '+', exponent, 0x) is left to the careful way.
struct PlainNumber {
  int64_t digits = 0;   // all of them as one integer, with the sign
  uint32_t places = 0;  // of the digits, how many stand behind the point
  bool negative = false;
};

bool read_plain(std::string_view text, bool decimal, PlainNumber& out) {
  const char* p = text.data();
  const char* const end = p + text.size();
  out.negative = p != end && *p == '-';
  if (out.negative) ++p;
  if (p == end || end - p > 18) return false;
  int64_t digits = 0;
  const char* point = nullptr;
  const char* const first = p;
  for (; p != end; ++p) {
    const unsigned digit = static_cast<unsigned char>(*p) - unsigned{'0'};
    if (digit <= 9) {
      digits = digits * 10 + static_cast<int64_t>(digit);
    } else if (*p == '.' && decimal && point == nullptr && p != first && p + 1 != end) {
      point = p;
    } else {
      return false;
    }
  }
  out.digits = out.negative ? -digits : digits;
  out.places = point == nullptr ? 0 : static_cast<uint32_t>(end - point - 1);
  return true;
}

bool parse_plain_integer(std::string_view text, Scalar scalar, uint64_t& bits) {
  PlainNumber n;
  if (scalar == Scalar::boolean || !read_plain(text, false, n)) return false;
  // Shifted so that the type's least value is 0, what does not fit has higher bits.
  const uint32_t width = scalar_size(scalar) * 8;
  const uint64_t least = is_signed(scalar) ? uint64_t{1} << (width - 1) : 0;
  if (width < 64 ? (static_cast<uint64_t>(n.digits) + least) >> width != 0 : least == 0 && n.digits < 0) return false;
  bits = low_bits(static_cast<uint64_t>(n.digits), scalar_size(scalar));
  return true;
}

// Clinger, "How to read floating point numbers accurately" (1990): an integer below 2^53 and a power of ten up to 10^22
// are doubles, so their quotient is rounded once, which is what from_chars gives. Rounded again to a float it could go
// wrong only from a double that lies half way between two floats: then the careful way decides.
bool parse_plain_float(std::string_view text, Scalar scalar, uint64_t& bits) {
  static constexpr double powers[] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,
                                      1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17};
  PlainNumber n;
  if (FLT_EVAL_METHOD != 0 || !read_plain(text, true, n)) return false;
  if (n.digits > (int64_t{1} << 53) || n.digits < -(int64_t{1} << 53)) return false;
  double value = static_cast<double>(n.digits) / powers[n.places];
  if (n.digits == 0 && n.negative) value = -0.0;
  const uint64_t exact = std::bit_cast<uint64_t>(value);
  constexpr uint64_t dropped = (uint64_t{1} << 29) - 1;  // bits of a double's fraction that a float lacks
  if (scalar == Scalar::f32 && (exact & dropped) == (dropped + 1) / 2) return false;
  bits = float_bits(scalar, value);
  return true;
}

uint64_t mask(Scalar scalar) { return low_bits(~uint64_t{0}, scalar_size(scalar)); }

}  // namespace

uint32_t scalar_size(Scalar scalar) {
  switch (scalar) {
    case Scalar::none:
      return 0;
    case Scalar::u8:
    case Scalar::i8:
    case Scalar::boolean:
      return 1;
    case Scalar::u16:
    case Scalar::i16:
      return 2;
    case Scalar::u32:
    case Scalar::i32:
    case Scalar::f32:
      return 4;
    case Scalar::u64:
    case Scalar::i64:
    case Scalar::f64:
      return 8;
  }
  return 0;
}

int64_t scalar_min(Scalar s) {
  if (!is_signed(s)) return 0;
  return s == Scalar::i64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (scalar_size(s) * 8 - 1));
}

int64_t scalar_max(Scalar s) {
  if (s == Scalar::boolean) return 1;
  if (scalar_size(s) == 8) return std::numeric_limits<int64_t>::max();
  return is_signed(s) ? (int64_t{1} << (scalar_size(s) * 8 - 1)) - 1 : (int64_t{1} << (scalar_size(s) * 8)) - 1;
}

uint64_t float_bits(Scalar scalar, double value) {
  return scalar == Scalar::f32 ? std::bit_cast<uint32_t>(static_cast<float>(value)) : std::bit_cast<uint64_t>(value);
}

uint64_t low_bits(uint64_t bits, uint32_t size) { return size >= 8 ? bits : bits & ((uint64_t{1} << (size * 8)) - 1); }

int64_t signed_value(Scalar s, uint64_t bits) {
  switch (s) {
    case Scalar::i8:
      return static_cast<int8_t>(bits);
    case Scalar::i16:
      return static_cast<int16_t>(bits);
    case Scalar::i32:
      return static_cast<int32_t>(bits);
    default:
      return static_cast<int64_t>(bits);
  }
}

bool store_number(std::string_view text, Scalar scalar, uint8_t* at) {
  ParsedNumber n;
  if (scalar == Scalar::boolean) {
    const int b = parse_boolean(text);
    if (b < 0) return false;
    n.bits = static_cast<uint64_t>(b);
  } else {
    n = is_float(scalar) ? parse_float(text, scalar) : parse_integer(text, scalar);
  }
  if (n.error != NumberError::none) return false;
  store_bits(at, scalar_size(scalar), n.bits);
  return true;
}

std::string_view trim(std::string_view t) {
  while (!t.empty() && is_blank(t.front())) t.remove_prefix(1);
  while (!t.empty() && is_blank(t.back())) t.remove_suffix(1);
  return t;
}

void append_escaped(std::string& out, std::string_view text, bool in_attribute) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        in_attribute ? out += "&quot;" : out += c;
        break;
      case '\n':
        in_attribute ? out += "&#10;" : out += c;
        break;
      case '\r':
        out += "&#13;";
        break;
      default:
        out += c;
    }
  }
}

ParsedNumber parse_integer(std::string_view text, Scalar scalar) {
  ParsedNumber out;
  if (parse_plain_integer(text, scalar, out.bits)) return out;
  std::string_view t = trim(text);
  if (t.empty()) return {NumberError::empty, 0};
  const std::string_view whole = t;
  bool negative = false;
  if (t[0] == '+' || t[0] == '-') {
    negative = t[0] == '-';
    t.remove_prefix(1);
  }
  int base = 10;
  if (t.size() > 2 && t[0] == '0' && (t[1] == 'x' || t[1] == 'X')) {
    base = 16;
    t.remove_prefix(2);
  }
  uint64_t magnitude = 0;
  const auto [end, ec] = std::from_chars(t.data(), t.data() + t.size(), magnitude, base);
  if (ec == std::errc::invalid_argument || end != t.data() + t.size()) {
    const bool float_form =
        ec != std::errc::invalid_argument ? *end == '.' || *end == 'e' || *end == 'E' : t.starts_with('.');
    if (base == 10 && float_form) {
      // A float in an integer field: fine where it is one exactly. Doubles hold every 32-bit integer.
      const ParsedNumber f = parse_float(whole, Scalar::f64);
      const double value = std::bit_cast<double>(f.bits);
      if (f.error == NumberError::none) {
        if (value != std::floor(value)) return {NumberError::not_an_integer, 0};
        if (value < static_cast<double>(scalar_min(scalar)) || value > static_cast<double>(scalar_max(scalar)) ||
            std::fabs(value) > 9007199254740992.0)
          return {NumberError::out_of_range, 0};
        return {NumberError::exact_float, static_cast<uint64_t>(static_cast<int64_t>(value)) & mask(scalar)};
      }
      if (f.error == NumberError::not_finite) return {NumberError::out_of_range, 0};
      if (f.error == NumberError::underflow) return {NumberError::not_an_integer, 0};
    }
    out.error = has_decimal_comma(whole) ? NumberError::decimal_comma : NumberError::not_a_number;
    return out;
  }
  // Magnitude of the smallest signed value is one more than of the largest.
  const uint64_t limit = scalar == Scalar::u64 ? ~uint64_t{0} : static_cast<uint64_t>(scalar_max(scalar));
  const uint64_t limit_here = negative ? (is_signed(scalar) ? limit + 1 : 0) : limit;
  // 0xFFFFFFFF in a signed 32-bit field is -1 spelt as a bit pattern.
  const bool pattern = base == 16 && is_signed(scalar) && !negative && magnitude <= mask(scalar);
  if (ec == std::errc::result_out_of_range || (magnitude > limit_here && !pattern))
    return {NumberError::out_of_range, 0};
  out.bits = (negative ? ~magnitude + 1 : magnitude) & mask(scalar);
  return out;
}

ParsedNumber parse_float(std::string_view text, Scalar scalar) {
  ParsedNumber out;
  if (parse_plain_float(text, scalar, out.bits)) return out;
  const std::string_view t = trim(text);
  if (t.empty()) return {NumberError::empty, 0};
  return scalar == Scalar::f32 ? parse_as<float>(t) : parse_as<double>(t);
}

int parse_boolean(std::string_view text) {
  const std::string_view t = trim(text);
  if (t == "true" || t == "1") return 1;
  if (t == "false" || t == "0") return 0;
  if (equal_folded(t, "true")) return 1;
  return equal_folded(t, "false") ? 0 : -1;
}

bool parse_hash_literal(std::string_view t, uint32_t& hash) {
  size_t prefix = 0;
  if (t.starts_with("hash_")) prefix = 5;
  if (t.starts_with("0x") || t.starts_with("0X")) prefix = 2;
  if (prefix == 0 || t.size() == prefix || t.size() > prefix + 8) return false;
  const auto [end, ec] = std::from_chars(t.data() + prefix, t.data() + t.size(), hash, 16);
  return ec == std::errc() && end == t.data() + t.size();
}

void append_number(std::string& out, Scalar scalar, uint64_t bits) {
  std::array<char, 32> text;
  std::to_chars_result r{};
  char* const begin = text.data();
  char* const end = begin + text.size();
  switch (scalar) {
    case Scalar::f32:
      r = std::to_chars(begin, end, std::bit_cast<float>(static_cast<uint32_t>(bits)));
      break;
    case Scalar::f64:
      r = std::to_chars(begin, end, std::bit_cast<double>(bits));
      break;
    case Scalar::boolean:
      out += bits != 0 ? "true" : "false";
      return;
    default:
      r = is_signed(scalar) ? std::to_chars(begin, end, signed_value(scalar, bits)) : std::to_chars(begin, end, bits);
  }
  out.append(begin, r.ptr);
}

void append_hash_literal(std::string& out, uint32_t hash) {
  constexpr char digits[] = "0123456789ABCDEF";
  out += "hash_";
  for (int shift = 28; shift >= 0; shift -= 4) out += digits[hash >> shift & 15];
}

std::string fold(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates) {
  const std::string wanted = fold(text.substr(0, 64));
  std::string_view best;
  size_t best_distance = wanted.size() / 3 + 1;  // further away is no help
  // Insertions, deletions, replacements and swaps of neighbours (optimal string alignment): three rows of the table.
  std::vector<size_t> before_last, last, row;
  for (const std::string_view candidate : candidates) {
    const std::string c = fold(candidate.substr(0, 64));
    row.resize(c.size() + 1);
    for (size_t j = 0; j <= c.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= wanted.size(); ++i) {
      before_last = last;
      last = row;
      row[0] = i;
      for (size_t j = 1; j <= c.size(); ++j) {
        row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (wanted[i - 1] == c[j - 1] ? 0 : 1)});
        const bool swapped = i > 1 && j > 1 && wanted[i - 1] == c[j - 2] && wanted[i - 2] == c[j - 1];
        if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    if (row[c.size()] < best_distance) {
      best_distance = row[c.size()];
      best = candidate;
    }
  }
  return best;
}

void append_utf8(std::string& out, uint32_t code) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0u | (code >> 6));
  } else {
    if (code < 0x10000) {
      put(0xE0u | (code >> 12));
    } else {
      put(0xF0u | (code >> 18));
      put(0x80u | ((code >> 12) & 0x3Fu));
    }
    put(0x80u | ((code >> 6) & 0x3Fu));
  }
  put(0x80u | (code & 0x3Fu));
}

}  // namespace meridian::tools
