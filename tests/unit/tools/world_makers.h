// SPDX-License-Identifier: MIT
#pragma once
/// Tiny worlds: type files of plain archetypes, maps that place them, and building them.

#include <string>
#include <vector>

#include "support/temp_dir.h"
#include "tool_runner.h"
#include "worldc.h"

namespace meridian::test {

struct Placed {
  std::string archetype;
  double x = 0, y = 0, z = 0;
  unsigned guid = 0;
  std::string more{};  ///< further elements of the entity
};

/// A type file of archetypes with a box of two metres.
inline std::string types_of(const std::vector<std::string>& names) {
  std::string out = "<CMapTypes><archetypes>\n";
  for (const std::string& name : names)
    out +=
        "<Item type=\"CBaseArchetypeDef\"><lodDist value=\"60\"/><bbMin x=\"-1\" y=\"-1\" z=\"-1\"/>"
        "<bbMax x=\"1\" y=\"1\" z=\"1\"/><bsRadius value=\"2\"/><name>" +
        name + "</name><assetType>ASSET_TYPE_DRAWABLE</assetType></Item>\n";
  return out + "</archetypes></CMapTypes>\n";
}

/// A map; entity n stands in line n + 2. Its extents hold what stands within 99 metres.
inline std::string map_of(const std::vector<Placed>& entities, const std::string& more = "") {
  std::string out =
      "<CMapData><contentFlags value=\"1\"/><streamingExtentsMin x=\"-500\" y=\"-500\" z=\"-500\"/>"
      "<streamingExtentsMax x=\"500\" y=\"500\" z=\"500\"/><entitiesExtentsMin x=\"-99\" y=\"-99\" z=\"-99\"/>"
      "<entitiesExtentsMax x=\"99\" y=\"99\" z=\"99\"/>" +
      more + "<entities>\n";
  for (const Placed& e : entities)
    out += "<Item type=\"CEntityDef\"><archetypeName>" + e.archetype + "</archetypeName><guid value=\"" +
           std::to_string(e.guid) + "\"/><position x=\"" + std::to_string(e.x) + "\" y=\"" + std::to_string(e.y) +
           "\" z=\"" + std::to_string(e.z) + "\"/>" + e.more + "</Item>\n";
  return out + "</entities></CMapData>\n";
}

/// `worldc build SOURCES -o OUTPUT`, and more options.
inline ToolRun build(const TempDir& sources, const TempDir& output, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"build", sources.path(), "-o", output.path()};
  words.insert(words.end(), more.begin(), more.end());
  return run_tool(tools::run_worldc, words);
}

}  // namespace meridian::test
