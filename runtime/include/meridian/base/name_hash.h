// SPDX-License-Identifier: MIT
#pragma once
/// Names are 32-bit hashes (Jenkins one-at-a-time). Two strong types, because the formats use two case rules:
/// NameHash folds A-Z (asset and content names), TypeHash takes the text as written (structure and field names).
///
///   constexpr NameHash lamp = hash_name("Prop_Lamp");   // == hash_name("prop_lamp")
///
/// Threads: immutable. Source: Bob Jenkins, "A hash function for hash table lookup", 1997.

#include <cstdint>
#include <string_view>

namespace meridian {

/// Hash of a content name. 0 is the empty name.
struct NameHash {
  uint32_t value = 0;
  friend constexpr bool operator==(NameHash, NameHash) = default;
  friend constexpr auto operator<=>(NameHash, NameHash) = default;
};

/// Hash of a structure, field or enumerator name, case kept. 0 is the empty name.
struct TypeHash {
  uint32_t value = 0;
  friend constexpr bool operator==(TypeHash, TypeHash) = default;
  friend constexpr auto operator<=>(TypeHash, TypeHash) = default;
};

namespace detail {
template <bool kFold>
constexpr uint32_t joaat(std::string_view text) {
  uint32_t h = 0;
  for (const char c : text) {
    auto b = static_cast<unsigned char>(c);
    if (kFold && b >= 'A' && b <= 'Z') b = static_cast<unsigned char>(b + ('a' - 'A'));
    h += b;
    h += h << 10;
    h ^= h >> 6;
  }
  h += h << 3;
  h ^= h >> 11;
  h += h << 15;
  return h;
}
}  // namespace detail

/// Hashes the UTF-8 bytes with only A-Z lowered. Does not look for `hash_` literals (the tools do).
constexpr NameHash hash_name(std::string_view text) { return {detail::joaat<true>(text)}; }
/// Hashes the bytes as they are.
constexpr TypeHash hash_type(std::string_view text) { return {detail::joaat<false>(text)}; }

}  // namespace meridian
