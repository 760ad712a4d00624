// SPDX-License-Identifier: MIT
#pragma once
/// Changes to a source that put a finding right: only the bytes that must change, so that a rewritten file differs from
/// its author's only where it was wrong.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/tools/diagnostics.h"

namespace meridian::tools {

class SourceMap;

/// The edits that give the value at `path` this text. Three numbers with blanks between are the attributes x, y and z.
/// A missing element is put behind its last sibling, indented like it. Empty: there is no place for it.
std::vector<TextEdit> edits_for_value(SourceMap& places, std::string_view source, std::string_view path,
                                      std::string_view text);

/// Applies edits; the order does not matter, and of two that touch the same bytes the first one wins.
std::string apply_edits(std::string_view source, std::vector<TextEdit> edits);

/// Puts a text in place of a source's file, with the byte order mark that it had. False: `problem` says why not
/// (UTF-16 sources, or what the system says).
bool rewrite_source(const SourceText& source, std::string_view text, std::string& problem);

/// A unified difference of two texts, with three lines around each change; empty if they are equal.
std::string unified_diff(std::string_view path, std::string_view before, std::string_view after);

}  // namespace meridian::tools
