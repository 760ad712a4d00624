// SPDX-License-Identifier: MIT
#pragma once
// Amounts as people read them.

#include <cstdint>
#include <cstdio>
#include <string>

namespace meridian::tools {

/// 24310 as "24 310".
inline std::string grouped(uint64_t amount) {
  std::string digits = std::to_string(amount);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, " ");
  return digits;
}

/// 1234567 bytes as "1.2 MB", 1234 as "1.2 kB".
inline std::string bytes_text(uint64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " bytes";
  char text[32];
  const bool is_small = bytes < 1'000'000;
  std::snprintf(text, sizeof text, "%.1f %s", static_cast<double>(bytes) / (is_small ? 1e3 : 1e6),
                is_small ? "kB" : "MB");
  return text;
}

}  // namespace meridian::tools
