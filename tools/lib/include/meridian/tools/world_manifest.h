// SPDX-License-Identifier: MIT
#pragma once
/// `world.json`: what belongs to a world beside its sources, so that everybody who builds it gets the same one without
/// a long command line.
///
///   {
///     "layers": [{"name": "base", "path": "maps"}, {"name": "winter", "path": "winter"}],
///     "groups": [{"name": "market", "maps": ["market_night"], "hours": [20, 21, 22], "weathers": ["clear"]}],
///     "permanent": ["common_props"],
///     "rules": {"REF002": "error", "lod-size": "note", "NAM002": "off"},
///     "extents": "fix", "flags": "keep"
///   }
///
/// All keys may be left out; others than these are errors. Paths are relative to the file. The table of keys is in
/// docs/worldc.md. What is wrong is said with its line, in words of the key that it is about.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "meridian/tools/lint.h"
#include "meridian/tools/world_build.h"

namespace meridian::tools {

/// The file's name in a source folder.
inline constexpr const char kWorldManifestName[] = "world.json";

/// A name in the file and where it stands.
struct PlacedName {
  std::string text;
  size_t offset = 0;  ///< [byte]
};

/// Maps that are switched on and off together.
struct WorldGroup {
  std::string name;
  std::vector<PlacedName> maps;       ///< the group's own name where the file gives none
  std::optional<uint32_t> hours;      ///< bit n: on in [n:00, n+1:00); none: at all hours
  std::vector<std::string> weathers;  ///< on in these; empty: in all
};

struct WorldManifest {
  std::string path;
  std::shared_ptr<const SourceText> source;
  std::vector<WorldLayer> layers;  ///< with paths as the process sees them; empty: the file's folder is the world
  std::vector<WorldGroup> groups;
  std::vector<PlacedName> permanent;  ///< type files that are never unloaded
  struct RuleSetting {
    const Rule* rule = nullptr;
    std::optional<Severity> severity;  ///< none: off
  };
  std::vector<RuleSetting> rules;
  std::optional<Repair> extents, flags;

  /// Hash of what bears on check_world_manifest() and on no other option.
  uint64_t content_hash() const;
};

/// Reads a manifest. Null: `report` has each thing that is wrong, with its place, and the exit code: wrong content as
/// a wrong command line (USE001), what cannot be read as such (ENV001). `layer_paths`, if not null, gets the paths of
/// layers even then: whoever waits for the world to be put right looks there too.
std::shared_ptr<const WorldManifest> read_world_manifest(const std::string& path, Report& report,
                                                         std::vector<std::string>* layer_paths = nullptr);

/// The manifest among sources: a file *.json, else a world.json at the top of a folder. Empty: there is none.
/// False: `error` says that there are two.
bool find_world_manifest(std::span<const std::string> sources, std::string& path, std::string& error);

/// The layers of a build, lowest first: the sources, then the manifest's, then `overlays` of the command line. Where
/// the manifest lists layers, they stand for the folder that it was found in. `manifest` may be null.
std::vector<WorldLayer> world_layers(const WorldManifest* manifest, std::span<const std::string> sources,
                                     std::span<const std::string> overlays);

/// Puts the manifest's severities into `options.policy`, where the command line says nothing of a rule, its checks into
/// `options.inspect`, its groups and permanent type files into `options.index`.
void use_world_manifest(const std::shared_ptr<const WorldManifest>& manifest, WorldBuildOptions& options);

/// What the manifest names and the linked world lacks: maps of groups, permanent type files (REF004, as warnings).
std::vector<Diagnostic> check_world_manifest(const WorldManifest& manifest, const LintWorld& world,
                                             const DiagnosticPolicy& policy);

}  // namespace meridian::tools
