// SPDX-License-Identifier: MIT
#include "itypc.h"

#include "meridian/resource/resource.h"
#include "meridian/tools/compiler_driver.h"

namespace meridian::tools {

int run_itypc(std::span<const char* const> args, ToolIo& io) {
  CompilerTool tool;
  tool.doc.name = "itypc";
  tool.doc.summary = "compile archetype definitions from ITYP XML to .ityp";
  tool.doc.operands = "INPUT...";
  tool.doc.description =
      "Compiles archetype definitions (root CMapTypes) to resources that the runtime uses where they lie. An INPUT is "
      "a "
      "file, a folder (searched with all below it; files of another kind are passed over), a pattern or '-'; @FILE "
      "stands for the arguments in FILE, one a line. Without -o or --out-dir each output stands beside its input: "
      "a.ytyp.xml gives a.ityp.";
  tool.doc.limits = "It reads XML only, no compiled game files, and does not look whether models and textures exist.";
  tool.doc.examples = {{"itypc types/ --out-dir build/types", "compile all definitions below types/ in parallel"},
                       {"itypc props.ytyp.xml -o - | resinfo dump -", "look at what a source becomes"}};
  tool.kinds = {kind_of("ITYP")};
  tool.checks_types = true;
  return run_compiler(tool, args, io);
}

}  // namespace meridian::tools
