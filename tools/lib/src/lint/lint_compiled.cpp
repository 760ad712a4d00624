// SPDX-License-Identifier: MIT
#include "lint/lint_compiled.h"

#include <cstring>

#include "meridian/resource/resource.h"
#include "meridian/schemas/gameconfig_generated.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "meridian/schemas/manifest_generated.h"
#include "meridian/tools/inputs.h"
#include "meridian/tools/source_map.h"

namespace meridian::tools {

namespace {

LintUnit unit_of_payload(uint32_t kind, const void* payload, NameTexts names) {
  LintUnit unit;
  unit.names = std::move(names);
  if (kind == kind_of("IMAP"))
    unit.map = flatbuffers::GetRoot<schema::MapData>(payload);
  else if (kind == kind_of("ITYP"))
    unit.types = flatbuffers::GetRoot<schema::MapTypes>(payload);
  else if (kind == kind_of("YMFM"))
    unit.manifest = flatbuffers::GetRoot<schema::PackFileMetaData>(payload);
  else if (kind == kind_of("GCFG"))
    unit.config = flatbuffers::GetRoot<schema::GameConfigSet>(payload);
  return unit;
}

}  // namespace

LintUnit unit_of(std::span<const uint8_t> bytes, NameTexts names) {
  ResourceTrailer trailer;
  if (bytes.size() >= sizeof trailer)
    std::memcpy(&trailer, bytes.data() + bytes.size() - sizeof trailer, sizeof trailer);
  return unit_of_payload(trailer.kind, bytes.data(), std::move(names));
}

LintUnit unit_of(const Resource& resource, NameTexts names) {
  return unit_of_payload(resource.kind(), resource.payload().data(), std::move(names));
}

MapRepair lint_compiled(const SourceText& source, const CompileOptions& options, CompileResult& result) {
  std::vector<std::pair<uint32_t, std::string_view>> names;
  names.reserve(result.names.size());
  for (const NameUse& use : result.names) names.emplace_back(use.hash, use.text);
  LintUnit unit = unit_of(result.bytes, NameTexts(std::move(names)));
  if (unit.map == nullptr && unit.types == nullptr) return {};
  unit.path = source.path();
  unit.stem = options.stem;
  LintWorld world({.types_are_known = options.types != nullptr,
                   .maps_are_known = false,
                   .allow_missing_archetypes = options.allow_missing_archetypes,
                   .lod_size = options.lod_size});
  if (options.types != nullptr) world.use_types_of(*options.types);
  const LintUnit& linked = world.add(std::move(unit));
  world.link();
  std::vector<LintFinding> findings = lint_unit(world, linked);
  MapRepair repair;
  if (linked.map != nullptr) repair = plan_repair(world, linked, options.extents, options.flags);
  if (findings.empty()) return repair;
  settle_findings(repair, findings);
  SourceMap places(source.text());
  for (LintFinding& finding : findings)
    result.findings.push_back(to_finding(std::move(finding), linked, source.text(), places, nullptr));
  return repair;
}

}  // namespace meridian::tools
