// SPDX-License-Identifier: MIT
#include "meridian/tools/lint.h"

#include <memory>

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

RelatedSources::RelatedSources(Open open) : open_(std::move(open)) {}
RelatedSources::~RelatedSources() = default;

RelatedSources::File& RelatedSources::of(const LintUnit& unit) {
  const auto [it, is_new] = files_.try_emplace(&unit);
  File& file = it->second;
  if (is_new) {
    file.text = open_(unit);
    if (file.text != nullptr) file.places = std::make_unique<SourceMap>(file.text->text());
  }
  return file;
}

Finding to_finding(LintFinding finding, const LintUnit& unit, std::string_view source, SourceMap& places,
                   RelatedSources* others) {
  Finding out{finding.rule,
              finding.severity,
              places.find(finding.path).point(),
              std::move(finding.object),
              std::move(finding.message),
              {},
              {}};
  for (const LintFinding::Fix& fix : finding.fixes)
    for (TextEdit& edit : edits_for_value(places, source, fix.path, fix.text)) out.edits.push_back(std::move(edit));
  for (LintFinding::Related& related : finding.related) {
    Finding::Related& r = out.related.emplace_back();
    r.message = std::move(related.message);
    if (related.unit == &unit) {
      r.offset = places.find(related.path).point();
      continue;
    }
    r.file = related.unit->path;
    if (others == nullptr) continue;
    const RelatedSources::File& other = others->of(*related.unit);
    if (other.text == nullptr) continue;
    r.offset = other.places->find(related.path).point();
    r.place = other.text->place_of(r.offset);
    r.utf16_column = other.text->utf16_column_of(r.offset);
  }
  return out;
}

}  // namespace meridian::tools
