// SPDX-License-Identifier: MIT
#pragma once
/// Map data XML of any size for tests and benchmarks: the members and the style that real exporters write, always the
/// same text for the same arguments.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

namespace meridian::test {

/// A map with `entities` plain entities of 400 archetypes, about 665 bytes each.
inline std::string map_xml(uint32_t entities, uint32_t seed = 7) {
  std::mt19937 random(seed);
  const auto text_of = [](double value, int digits) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return std::string(text);
  };
  const auto any = [&](double low, double high) {
    // Not std::uniform_real_distribution: its sequence is not the same in every library.
    return low + (high - low) * (static_cast<double>(random()) / 4294967296.0);
  };
  const auto number = [&](double low, double high, int digits) { return text_of(any(low, high), digits); };
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<CMapData>\n <name>big</name>\n <parent />\n <flags value=\"0\" />\n"
      " <contentFlags value=\"1\" />\n <streamingExtentsMin x=\"-9000\" y=\"-9000\" z=\"-500\" />\n"
      " <streamingExtentsMax x=\"9000\" y=\"9000\" z=\"900\" />\n <entitiesExtentsMin x=\"-8000\" y=\"-8000\" "
      "z=\"-100\" />\n"
      " <entitiesExtentsMax x=\"8000\" y=\"8000\" z=\"500\" />\n <entities>\n";
  out.reserve(out.size() + size_t{entities} * 680 + 100);
  for (uint32_t i = 0; i < entities; ++i) {
    const double turn_z = any(-1, 1);
    out += "  <Item type=\"CEntityDef\">\n   <archetypeName>hv_prop_" + std::to_string(random() % 400) +
           "</archetypeName>\n   <flags value=\"1572864\" />\n   <guid value=\"" +
           std::to_string((i + 1) * 2654435761u) +  // odd: all differ
           "\" />\n   <position x=\"" + number(-8000, 8000, 6) + "\" y=\"" + number(-8000, 8000, 6) + "\" z=\"" +
           number(-100, 500, 6) + "\" />\n   <rotation x=\"0\" y=\"0\" z=\"" + text_of(turn_z, 7) + "\" w=\"" +
           text_of(std::sqrt(1 - turn_z * turn_z), 7) +
           "\" />\n   <scaleXY value=\"1\" />\n   <scaleZ value=\"1\" />\n   <parentIndex value=\"-1\" />\n   <lodDist "
           "value=\"" +
           number(20, 300, 4) +
           "\" />\n   <childLodDist value=\"0\" />\n   <lodLevel>LODTYPES_DEPTH_ORPHANHD</lodLevel>\n   <numChildren "
           "value=\"0\" />\n"
           "   <priorityLevel>PRI_REQUIRED</priorityLevel>\n   <extensions />\n   <ambientOcclusionMultiplier "
           "value=\"255\" />\n"
           "   <artificialAmbientOcclusion value=\"255\" />\n   <tintValue value=\"0\" />\n  </Item>\n";
  }
  return out + " </entities>\n</CMapData>\n";
}

}  // namespace meridian::test
