// SPDX-License-Identifier: MIT
#pragma once
/// The packfile manifest of a world (`_manifest.ymf.xml`): which type files each map and each interior needs, computed
/// from what they use, so that nobody keeps the lists by hand.
///
///   imapDependencies_2   maps in force with the type files that they use; INTERIOR_DATA where they place interiors
///   itypDependencies_2   type files of interiors with those of their props
///   MapDataGroups        as the sources' manifests have them; a world.json sets hours and weathers, one entry a map
///   HDTxdBindingArray    as the sources' manifests have them
///   Interiors            likewise
///
/// Of two manifests that say different things of one map, file or interior, the later layer's counts, then the first in
/// order; lists of collision files are put together. Only the newer form of dependencies is written, sorted by name,
/// so that the same world gives the same text.
///
/// A type file that is not in this world (one of the game's own) stays listed where a manifest lists it for a map that
/// places archetypes which this world does not define.

#include <string>

#include "meridian/tools/world_manifest.h"

namespace meridian::tools {

/// The manifest as XML, in the layout of `resinfo dump --xml`. `manifest` may be null.
/// Threads: reentrant on a linked world.
std::string packfile_manifest_text(const LintWorld& world, const WorldManifest* manifest);

/// `worldc manifest`: compiles and checks the world of `options` (its output is not looked at) and writes the manifest
/// to `path`, "-" for standard output. A file that would not change is left alone. With errors nothing is written.
void write_packfile_manifest(WorldBuildOptions options, const WorldManifest* manifest, const std::string& path,
                             ToolIo& io, Report& report);

}  // namespace meridian::tools
