// SPDX-License-Identifier: MIT
#include "metac.h"

#include "meridian/resource/resource.h"
#include "meridian/tools/compiler_driver.h"

namespace meridian::tools {

int run_metac(std::span<const char* const> args, ToolIo& io) {
  CompilerTool tool;
  tool.doc.name = "metac";
  tool.doc.summary = "compile XML of any schema to a resource";
  tool.doc.operands = "INPUT...";
  tool.doc.description =
      "Compiles XML to resources by a FlatBuffers schema: the built-in one whose root element the source has (map "
      "data, "
      "archetype definitions, game configurations, packfile manifests), or your own with --schema. Your schema needs a "
      "root_type and a file_identifier. An INPUT is a file, a folder (searched with all below it; files of another "
      "kind "
      "are passed over), a pattern or '-'; @FILE stands for the arguments in FILE, one a line.";
  tool.doc.limits = "It checks what the schema says, and nothing about meaning that a schema cannot say.";
  tool.doc.examples = {{"metac --schema weapons.fbs weapons.xml", "compile to weapons.mmeta by your own schema"},
                       {"metac _manifest.ymf.xml", "compile a packfile manifest to _manifest.ymfm"}};
  tool.kinds = {kind_of("IMAP"), kind_of("ITYP"), kind_of("GCFG"), kind_of("YMFM")};
  tool.takes_schema = true;
  return run_compiler(tool, args, io);
}

}  // namespace meridian::tools
