// SPDX-License-Identifier: MIT
#pragma once
/// The parallel part of a compiler: sources through compile, collision check and write, reported in input order.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "meridian/tools/compile.h"
#include "meridian/tools/depfile.h"
#include "meridian/tools/inputs.h"
#include "meridian/tools/progress.h"
#include "meridian/tools/tool_options.h"

namespace meridian::tools {

/// A compiler's roots: which binding reads a root element.
class RootTable {
 public:
  explicit RootTable(std::vector<const Binding*> bindings) : bindings_(std::move(bindings)) {}

  /// The binding whose root has this name, or null.
  const Binding* find(std::string_view root) const;
  /// What to read a file by whose root is none of ours or cannot be found: the reader then says what is wrong.
  const Binding& fallback() const { return *bindings_.front(); }
  bool has_extension(std::string_view extension) const;
  bool single() const { return bindings_.size() == 1; }
  /// "'CMapData'", or a list of them.
  std::string names() const;

 private:
  std::vector<const Binding*> bindings_;
};

/// One source and where its resource goes.
struct CompileJob {
  InputFile file;
  std::string blocked;  ///< why its output cannot be written; known before anything was read
  bool make_parents = false;
};

struct RunTotals {
  CompileStats sum;
  uint64_t inputs = 0, written = 0, unchanged = 0;
  double write_seconds = 0, total_seconds = 0;
};

/// What becomes of values that a rule knows to be wrong, in the sources.
enum class FixMode { none, write, preview };

struct RunSettings {
  const RootTable* roots = nullptr;
  const CompileOptionsGroup* compile = nullptr;
  const DiagOptions* diag = nullptr;
  WriteMode write = WriteMode::if_changed;
  uint32_t jobs = 0;
  bool fail_fast = false;
  FixMode fix = FixMode::none;
  ProgressStyle progress = ProgressStyle::none;
  std::string tool;
};

/// Compiles all jobs. Diagnostics, failed and unchanged lists go to `report` in input order; rules for outputs that are
/// in place to `rules` (source and target only).
RunTotals run_jobs(std::span<const CompileJob> jobs, const RunSettings& settings, ToolIo& io, Report& report,
                   std::vector<DepfileRule>& rules);

/// Standard input as a source; it is read once. Null and errno's value on failure.
std::shared_ptr<const SourceText> read_stdin(ToolIo& io, uint64_t max_bytes, int& error);

}  // namespace meridian::tools
