// SPDX-License-Identifier: MIT
#pragma once
/// The distinct names of a source: hash, first spelling in document order, place. Several threads fill tables of their
/// own; merging gives the same result whatever the split, because the smaller offset wins.

#include <cstdint>
#include <string_view>
#include <vector>

#include "meridian/tools/compile.h"

namespace meridian::tools {

class NameTable {
 public:
  /// Notes a use at `offset()`.
  template <class Offset>
  void add(uint32_t hash, std::string_view text, Offset&& offset) {
    if (uses_.size() * 2 >= slots_.size()) grow();
    for (size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i] == 0) {
        uses_.push_back({hash, std::string(text), offset()});
        slots_[i] = static_cast<uint32_t>(uses_.size());
        return;
      }
      NameUse& use = uses_[slots_[i] - 1];
      if (use.hash != hash || !same(use, text, offset)) continue;
      return;
    }
  }

  void merge(const NameTable& other) {
    for (const NameUse& use : other.uses_) add(use.hash, use.text, [&] { return use.offset; });
  }

  /// Sorted by hash, then by first use. A hash that stands twice belongs to two different names.
  std::vector<NameUse> take();

 private:
  // True if `use` is this name; keeps the earlier spelling.
  template <class Offset>
  static bool same(NameUse& use, std::string_view text, Offset&& offset) {
    const bool equal = use.text == text;
    if (!equal && !equal_folded(use.text, text)) return false;
    const size_t at = offset();  // threads meet windows out of order: the earliest place wins
    if (at < use.offset) {
      use.offset = at;
      if (!equal) use.text = text;
    }
    return true;
  }
  static bool equal_folded(std::string_view a, std::string_view b);
  void grow();

  std::vector<NameUse> uses_;
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(64, 0);  // index into uses_ + 1
};

}  // namespace meridian::tools
