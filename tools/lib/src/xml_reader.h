// SPDX-License-Identifier: MIT
#pragma once
/// Reads a source into values, by the plans of a binding. Windows are read in parallel, each thread with a Reader of
/// its own, and put back in document order, where the skeleton says that they belong.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/tools/compile.h"
#include "name_table.h"
#include "value.h"
#include "xml_scan.h"

namespace meridian::tools {

class Reader;
struct WindowTask;

struct ReadResult {
  TableValue root;
  std::vector<Finding> findings;
  NameTable names;
  uint64_t items = 0;
  bool cancelled = false;
  bool malformed = false;  ///< the values have holes; the one finding says where the text is wrong
};

/// Scans a source and reads it. With several threads, windows are read while the scan goes on: where they stand says
/// what they hold. The skeleton, read behind the scan, has the last word: if it has other uses for one of them, all are
/// read again. What was read of a source that does not pass the scan is dropped, so nothing depends on threads.
///
///   XmlRead read(text, binding, options);
///   if (read.scan().findings.empty()) use(read.read());
///
/// Threads: reentrant; uses up to `options.jobs` threads inside.
class XmlRead {
 public:
  /// All of them must outlive this.
  XmlRead(std::string_view text, const Binding& binding, const CompileOptions& options);
  ~XmlRead();
  XmlRead(const XmlRead&) = delete;
  XmlRead& operator=(const XmlRead&) = delete;

  /// Requires: the root element has the name of binding.root(); called once.
  const ScanResult& scan();
  /// Requires: scan() gave no findings; called once.
  ReadResult read();

 private:
  struct Threads;
  struct EarlyRead;
  void read_early(EarlyWindow&& early);
  std::vector<bool> take_early(const std::vector<WindowTask>& tasks, std::vector<ItemList>& lists,
                               std::vector<Reader>& readers);
  void read_rest(const std::vector<WindowTask>& tasks, const std::vector<bool>& done, std::vector<ItemList>& lists,
                 std::vector<Reader>& readers);

  const std::string_view text_;
  const Binding& binding_;
  const CompileOptions& options_;
  ScanResult scan_;
  std::unique_ptr<Threads> threads_;  // null: one thread does it all
};

/// The offset of a child's value inside the element whose name begins at `element`, for findings made after reading:
/// its `value` attribute or text; the element's own offset if there is no such child.
size_t locate_value(std::string_view text, size_t element, std::string_view child);

}  // namespace meridian::tools
