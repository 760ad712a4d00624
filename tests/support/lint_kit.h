// SPDX-License-Identifier: MIT
#pragma once
/// Worlds of a few maps, type files, configurations and manifests for tests of what looks at several files.
///
///   World w;
///   w.map("qa_p", list(placed("qa_a"))).types("qa_types", box_type("qa_a"));
///   EXPECT_EQ(w.said("qa_p", "REF001"), "");

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lint/lint_compiled.h"
#include "meridian/tools/lint.h"
#include "support/compile_kit.h"

namespace meridian::test {

using tools::LintFinding;
using tools::LintUnit;
using tools::LintWorld;

/// Sources by name, compiled and linked.
class World {
 public:
  explicit World(tools::LintOptions options = {.types_are_known = true, .maps_are_known = true}) : world_(options) {}

  World& map(std::string stem, const std::string& body, int layer = 0) {
    return add(kImap, std::move(stem), ".ymap.xml", "<CMapData>" + body + "</CMapData>", layer);
  }
  World& types(std::string stem, const std::string& archetypes, int layer = 0) {
    return add(kItyp, std::move(stem), ".ytyp.xml",
               "<CMapTypes><archetypes>" + archetypes + "</archetypes></CMapTypes>", layer);
  }
  World& config(std::string stem, const std::string& items, int layer = 0) {
    return add(kGcfg, std::move(stem), ".xml", "<fwAllConfigs><ConfigArray>" + items + "</ConfigArray></fwAllConfigs>",
               layer);
  }
  World& manifest(const std::string& body) {
    return add(kYmfm, "_manifest", ".ymf.xml", "<CPackFileMetaData>" + body + "</CPackFileMetaData>", 0);
  }

  const std::vector<LintFinding>& lint(std::string_view stem, size_t which = 0) {
    link();
    for (const auto& unit : world_.units())
      if (unit->stem == stem && which-- == 0) return found_ = tools::lint_unit(world_, *unit);
    ADD_FAILURE() << "no unit " << stem;
    return found_ = {};
  }
  /// The findings of one rule in one unit, one line each.
  std::string said(std::string_view stem, std::string_view code, size_t which = 0) {
    std::string out;
    for (const LintFinding& f : lint(stem, which)) {
      if (f.rule->code != code) continue;
      const char* severity = f.severity == tools::Severity::error     ? "error "
                             : f.severity == tools::Severity::warning ? "warning "
                                                                      : "note ";
      out += severity + f.path + ": " + f.message + "\n";
    }
    return out;
  }
  const LintFinding& only(std::string_view stem, std::string_view code) {
    lint(stem);
    std::erase_if(found_, [&](const LintFinding& f) { return f.rule->code != code; });
    EXPECT_EQ(found_.size(), 1u) << code;
    if (found_.empty()) found_.emplace_back();
    return found_.front();
  }
  const LintWorld& linked() { return link(), world_; }
  const std::string& source(size_t i) const { return sources_[i]; }

 private:
  World& add(uint32_t kind, std::string stem, std::string_view suffix, std::string xml, int layer) {
    sources_.push_back(xml);
    auto& c = *compiled_.emplace_back(std::make_unique<Compiled>(compile(kind, std::move(xml))));
    EXPECT_FALSE(c.result.has_errors()) << c.all();
    std::vector<std::pair<uint32_t, std::string_view>> names;
    for (const tools::NameUse& use : c.result.names) names.emplace_back(use.hash, use.text);
    LintUnit unit = tools::unit_of(c.result.bytes, tools::NameTexts(std::move(names)));
    unit.path = stem + std::string(suffix);
    unit.stem = std::move(stem);
    unit.layer = layer;
    world_.add(std::move(unit));
    return *this;
  }
  void link() {
    if (!is_linked_) world_.link();
    is_linked_ = true;
  }

  std::vector<std::unique_ptr<Compiled>> compiled_;
  std::vector<std::string> sources_;
  LintWorld world_;
  std::vector<LintFinding> found_;
  bool is_linked_ = false;
};

inline std::string value(std::string_view name, std::string_view v) {
  return "<" + std::string(name) + " value=\"" + std::string(v) + "\"/>";
}
inline std::string placed(std::string_view archetype, std::string_view body = "",
                          std::string_view type = "CEntityDef") {
  return "<Item type=\"" + std::string(type) + "\"><archetypeName>" + std::string(archetype) + "</archetypeName>" +
         std::string(body) + "</Item>";
}
inline std::string level(std::string_view word) {
  return "<lodLevel>LODTYPES_DEPTH_" + std::string(word) + "</lodLevel>";
}
inline std::string list(std::string_view items) { return "<entities>" + std::string(items) + "</entities>"; }
inline std::string parent(std::string_view name) { return "<parent>" + std::string(name) + "</parent>"; }
inline std::string child(std::string_view index, std::string_view more = "") {
  return placed("qa_hd", value("flags", "8") + value("parentIndex", index) + level("HD") + std::string(more));
}
inline std::string box_type(std::string_view name, std::string_view lod_dist = "60") {
  return "<Item type=\"CBaseArchetypeDef\">" + value("lodDist", lod_dist) +
         "<bbMin x=\"-1\" y=\"-1\" z=\"-1\"/><bbMax x=\"1\" y=\"1\" z=\"1\"/><name>" + std::string(name) +
         "</name><assetType>ASSET_TYPE_DRAWABLE</assetType></Item>";
}

}  // namespace meridian::test
