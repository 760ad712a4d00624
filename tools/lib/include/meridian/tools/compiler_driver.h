// SPDX-License-Identifier: MIT
#pragma once
/// What all compilers are: a command line, inputs compiled in parallel, outputs by rename, one set of diagnostics and
/// an exit code. A compiler says which roots it takes and what its help tells.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "meridian/tools/cli.h"

namespace meridian::tools {

struct CompilerTool {
  ProgramDoc doc;
  std::vector<uint32_t> kinds;   ///< built-in kinds that it takes, the first one for files without a root
  bool takes_schema = false;     ///< has --schema and -I
  bool selects_configs = false;  ///< has --for
  bool checks_maps = false;      ///< has --types, --extents, --flags, --fix
  bool checks_types = false;     ///< has --types and --fix
};

/// Runs a compiler on arguments (without the program's name). Never throws.
/// Same outputs and diagnostics for any number of threads and any order of inputs' completion.
/// Memory: as many inputs at once as there are threads, twice; results are written and dropped in turn.
int run_compiler(const CompilerTool& tool, std::span<const char* const> args, ToolIo& io);

}  // namespace meridian::tools
