// SPDX-License-Identifier: MIT
#pragma once
/// The rules about meaning, on one resource that was just compiled: a world of one map or one type file.

#include "lint/repair.h"
#include "meridian/resource/resource.h"
#include "meridian/tools/compile.h"
#include "meridian/tools/lint.h"

namespace meridian::tools {

/// A unit for a compiled resource, or one without any root if no rule looks at its kind. `bytes` must outlive it.
LintUnit unit_of(std::span<const uint8_t> bytes, NameTexts names);

LintUnit unit_of(const Resource& resource, NameTexts names);

/// Adds findings with places to `result.findings`, and says what --extents and --flags ask for. Does nothing for kinds
/// without rules.
MapRepair lint_compiled(const SourceText& source, const CompileOptions& options, CompileResult& result);

}  // namespace meridian::tools
