// SPDX-License-Identifier: MIT
#include "imapc.h"

#include "meridian/resource/resource.h"
#include "meridian/tools/compiler_driver.h"

namespace meridian::tools {

int run_imapc(std::span<const char* const> args, ToolIo& io) {
  CompilerTool tool;
  tool.doc.name = "imapc";
  tool.doc.summary = "compile map data from IMAP XML to .imap";
  tool.doc.operands = "INPUT...";
  tool.doc.description =
      "Compiles map data (root CMapData) to resources that the runtime uses where they lie. An INPUT is a file, a "
      "folder (searched with all below it; files of another kind are passed over), a pattern or '-'; @FILE stands for "
      "the arguments in FILE, one a line. Without -o or --out-dir each output stands beside its input: a.ymap.xml "
      "gives a.imap.";
  tool.doc.limits =
      "It reads XML only, no compiled game files, changes no source without --fix, and looks at each map alone: "
      "archetypes are checked with --types, links between maps by worldc. Maps are not moved, turned or merged.";
  tool.doc.examples = {{"imapc maps/ --out-dir build/maps", "compile all maps below maps/ in parallel"},
                       {"imapc town.ymap.xml -o town.imap --depfile town.d", "one step of a Ninja or Make build"}};
  tool.kinds = {kind_of("IMAP")};
  tool.checks_maps = true;
  return run_compiler(tool, args, io);
}

}  // namespace meridian::tools
