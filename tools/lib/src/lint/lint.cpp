// SPDX-License-Identifier: MIT
#include "meridian/tools/lint.h"

#include <map>
#include <memory>
#include <utility>

#include "lint/lint_context.h"
#include "meridian/tools/fix.h"
#include "meridian/tools/source_map.h"

namespace meridian::tools {

std::vector<LintFinding> lint_unit(const LintWorld& world, const LintUnit& unit) {
  std::vector<LintFinding> findings;
  LintContext c{world, unit, findings};
  if (unit.is_context) return findings;
  lint_clashes(c);
  if (unit.is_shadowed) return findings;
  lint_references(c);
  if (unit.map != nullptr) {
    lint_lod(c);
    lint_entities(c);
    lint_extents(c);
    lint_map_flags(c);
    lint_interior_instances(c);
    lint_occluders(c);
    lint_lights(c);
    lint_map_parts(c);
  }
  if (unit.types != nullptr) {
    lint_archetypes(c);
    lint_interiors(c);
  }
  if (unit.manifest != nullptr) lint_manifest(c);
  if (unit.config != nullptr) lint_pools(c);
  return findings;
}

Finding to_finding(LintFinding finding, const LintUnit& unit, std::string_view source, SourceMap& places,
                   SourceOf source_of, void* context) {
  Finding out{finding.rule,
              finding.severity,
              places.find(finding.path).point(),
              std::move(finding.object),
              std::move(finding.message),
              {},
              {}};
  for (const LintFinding::Fix& fix : finding.fixes)
    for (TextEdit& edit : edits_for_value(places, source, fix.path, fix.text)) out.edits.push_back(std::move(edit));
  // A finding may name many places of one other file, which is walked once for all of them.
  std::map<const LintUnit*, std::pair<std::shared_ptr<const SourceText>, std::unique_ptr<SourceMap>>> others;
  for (LintFinding::Related& related : finding.related) {
    Finding::Related& r = out.related.emplace_back();
    r.message = std::move(related.message);
    if (related.unit == &unit) {
      r.offset = places.find(related.path).point();
      continue;
    }
    r.file = related.unit->path;
    const auto [it, is_new] = others.try_emplace(related.unit);
    auto& [other, map] = it->second;
    if (is_new && source_of != nullptr) other = source_of(*related.unit, context);
    if (other == nullptr) continue;
    if (map == nullptr) map = std::make_unique<SourceMap>(other->text());
    r.offset = map->find(related.path).point();
    r.place = other->place_of(r.offset);
    r.utf16_column = other->utf16_column_of(r.offset);
  }
  return out;
}

}  // namespace meridian::tools
