// SPDX-License-Identifier: MIT
#pragma once
/// Patch packs of whole worlds: what players who have the last release must fetch for this one.
///
///   std::unique_ptr<PackFile> old = open_patch_base("release/1.0/world.mpk", report);
///   build_world(options, io, report);
///   if (report.exit_code() == kExitDone) write_world_patch(*old, options, io, report);
///
/// A game mounts the patch over its base: an entry of the patch goes before the base's, and what the patch lists as
/// removed is not there. Together they are the new world.mpk, entry by entry.

#include <memory>
#include <string>

#include "meridian/tools/pack_view.h"
#include "meridian/tools/world_build.h"

namespace meridian::tools {

/// Opens the pack that a patch starts from. Null: `report` says why (unreadable, no pack, itself a patch, or the pack
/// in the folder `output`, which the build replaces: the next patch would start from nothing that players have).
std::unique_ptr<PackFile> open_patch_base(const std::string& path, const std::string& output, Report& report);

/// Compares `world.mpk` in the output folder with `base` by raw size and raw hash, and writes `patch.mpk` beside it:
/// new and changed entries, and the keys of those that are gone. Nothing changed: a patch without entries, so that the
/// file always fits the world beside it. Compressed as `options` say.
/// Requires: build_world(options, ...) succeeded and wrote a pack.
/// Threads: main; uses up to `jobs` inside. Memory: what is compressed at a time, as write_pack().
PackReport write_world_patch(const PackFile& base, const WorldBuildOptions& options, ToolIo& io, Report& report);

}  // namespace meridian::tools
