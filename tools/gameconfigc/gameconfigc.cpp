// SPDX-License-Identifier: MIT
#include "gameconfigc.h"

#include "meridian/resource/resource.h"
#include "meridian/tools/compiler_driver.h"

namespace meridian::tools {

int run_gameconfigc(std::span<const char* const> args, ToolIo& io) {
  CompilerTool tool;
  tool.doc.name = "gameconfigc";
  tool.doc.summary = "compile game configurations from XML to .gcfg";
  tool.doc.operands = "INPUT...";
  tool.doc.description =
      "Compiles game configurations (pool sizes, streaming limits, threads) to resources that the runtime uses where "
      "they lie. All configurations of a file are kept with their build and platform filters; the runtime selects, "
      "or --for does it now. An "
      "INPUT is a file, a folder, a pattern or '-'; @FILE stands for the arguments in FILE, one a line. Without -o or "
      "--out-dir each output stands beside its input: gameconfig.xml gives gameconfig.gcfg.";
  tool.doc.limits = "It does not merge files and knows no world: whether a pool is large enough is checked elsewhere.";
  tool.doc.examples = {
      {"gameconfigc gameconfig.xml --for build=final,platform=x64 -o out/x64.gcfg", "only what the PC release needs"},
      {"gameconfigc gameconfig.xml -Werror -o out/gameconfig.gcfg", "refuse also what is only doubtful"}};
  tool.selects_configs = true;
  tool.kinds = {kind_of("GCFG")};
  return run_compiler(tool, args, io);
}

}  // namespace meridian::tools
