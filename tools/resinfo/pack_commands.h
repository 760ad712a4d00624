// SPDX-License-Identifier: MIT
#pragma once
/// What resinfo does with packs.

#include <memory>
#include <string>
#include <vector>

#include "meridian/tools/cli.h"
#include "meridian/tools/pack_view.h"
#include "meridian/tools/tool_options.h"

namespace meridian::tools {

/// Reads every entry as a loader does, and reports each fault with the entry's name.
void verify_pack(const PackFile& file, const LoadOptions& load, const ToolIo& io, Report& report);

/// Writes entries as files below `folder`, which is made if it is not there: all, or those with the given names, where
/// a name is a text or hash literal, with an extension if it shall be of one kind only. Dictionaries go along only
/// where they are named. Names that are no file names everywhere are changed, with NAM006.
void extract_pack(const PackFile& file, const std::vector<std::string>& names, const std::string& folder,
                  const DiagnosticPolicy& policy, const ToolIo& io, Report& report);

}  // namespace meridian::tools
