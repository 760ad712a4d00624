// SPDX-License-Identifier: MIT
#include "name_table.h"

#include <algorithm>
#include <tuple>

namespace meridian::tools {

bool NameTable::equal_folded(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

void NameTable::grow() {
  std::vector<uint32_t> bigger(slots_.size() * 2, 0);
  for (uint32_t n = 0; n < uses_.size(); ++n) {
    size_t i = uses_[n].hash & (bigger.size() - 1);
    while (bigger[i] != 0) i = (i + 1) & (bigger.size() - 1);
    bigger[i] = n + 1;
  }
  slots_ = std::move(bigger);
}

std::vector<NameUse> NameTable::take() {
  std::sort(uses_.begin(), uses_.end(), [](const NameUse& a, const NameUse& b) {
    return std::tie(a.hash, a.offset, a.text) < std::tie(b.hash, b.offset, b.text);
  });
  std::fill(slots_.begin(), slots_.end(), 0u);
  return std::move(uses_);
}

}  // namespace meridian::tools
