// SPDX-License-Identifier: MIT
#pragma once
/// Reads a scanned source into values, by the plans of a binding. The skeleton is read first; windows are read in
/// parallel, each thread with a Reader of its own, and put back in document order.

#include <string>
#include <string_view>
#include <vector>

#include "meridian/tools/compile.h"
#include "name_table.h"
#include "value.h"
#include "xml_scan.h"

namespace meridian::tools {

struct ReadResult {
  TableValue root;
  std::vector<Finding> findings;
  NameTable names;
  uint64_t items = 0;
  bool cancelled = false;
  bool malformed = false;  ///< the values have holes; the one finding says where the text is wrong
};

/// Requires: scan has no findings and its root element has the name of binding.root().
ReadResult read_xml(std::string_view text, const ScanResult& scan, const Binding& binding,
                    const CompileOptions& options);

/// The offset of a child's value inside the element whose name begins at `element`, for findings made after reading:
/// its `value` attribute or text; the element's own offset if there is no such child.
size_t locate_value(std::string_view text, size_t element, std::string_view child);

}  // namespace meridian::tools
