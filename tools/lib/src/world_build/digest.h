// SPDX-License-Identifier: MIT
#pragma once
/// Hashes by which builds know what they have seen: 128 bits, so that no two inputs of any world share one by accident.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

namespace meridian::tools {

struct Digest {
  uint64_t low = 0, high = 0;
  bool operator==(const Digest&) const = default;
  std::string hex() const {
    char text[40];
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(high),
                  static_cast<unsigned long long>(low));
    return text;
  }
};

Digest digest_of(const void* data, size_t size);
inline Digest digest_of(std::string_view text) { return digest_of(text.data(), text.size()); }

/// Collects values and hashes them as one run of bytes. Texts carry their lengths, so that neighbours cannot run
/// together.
class DigestBuilder {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void add(const T& value) {
    static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>, "padding has no value");
    add_bytes(&value, sizeof value);
  }
  void add_text(std::string_view text) {
    add(uint64_t{text.size()});
    bytes_ += text;
  }
  void add_bytes(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }
  Digest digest() const { return digest_of(bytes_); }
  uint64_t value() const { return digest().low; }

 private:
  std::string bytes_;
};

}  // namespace meridian::tools
