// SPDX-License-Identifier: MIT
#pragma once
/// The one pass over a source's bytes before tinyxml2 sees them. It reports what tinyxml2 does not see or places badly
/// (truncation, NUL, bad UTF-8, a second root, DOCTYPE, undefined entities, limits, `${...}`), finds waivers, and cuts
/// long runs of Items into windows. It reads names and nesting, never values.

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "meridian/tools/compile.h"

namespace meridian::tools {

/// A run of whole sibling Items, [begin, end): begins at the first one's `<`, ends after the last one's `>`.
struct Window {
  size_t begin = 0, end = 0;
  uint32_t items = 0;
  uint32_t depth = 0;  ///< of the Items, root = 1
};

/// Half-open byte range.
struct ByteRange {
  size_t begin = 0, end = 0;
};

struct ScanResult {
  std::vector<Finding> findings;  ///< errors; when there are any, nothing else is valid
  std::vector<Waiver> waivers;
  std::vector<Window> windows;          ///< sorted, disjoint
  std::vector<ByteRange> instructions;  ///< processing instructions inside the root; tinyxml2 refuses them there
  ByteRange root;                       ///< the root element
  uint64_t elements = 0;
};

/// A window known while the scan goes on: of an array that stands in no Item, in a source that has had no processing
/// instruction so far. If the scan finds no error, it is in the result.
struct EarlyWindow {
  Window window;
  std::vector<std::string_view> path;  ///< names of the elements around it, the root first, the array last
  uint32_t first_item = 0;             ///< Items of the array before it
};
using EarlyWindowSink = std::function<void(EarlyWindow&&)>;

/// Tells `early`, if there is one, what it can of the windows, in document order and before the scan is over.
/// Requires: text is what SourceText gave. `window_bytes` 0: no windows.
ScanResult scan_xml(std::string_view text, const CompileLimits& limits, size_t window_bytes,
                    const EarlyWindowSink& early = {});

/// Offset of the first byte that is not valid UTF-8 or is NUL, or npos.
size_t find_bad_text(std::string_view text);

/// The place of each `${` outside comments.
std::vector<size_t> find_placeholders(std::string_view text);

}  // namespace meridian::tools
