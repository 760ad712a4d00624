// SPDX-License-Identifier: MIT
#pragma once
/// What cannot be judged because another source failed. That one has to be repaired anyway; a list of missing
/// archetypes, parents and children on top of it would only hide what is wrong. Source: own.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/tools/lint.h"
#include "meridian/tools/source_text.h"

namespace meridian::tools {

struct FailedSource {
  std::string path, stem;
  int layer = 0;
  uint32_t kind = 0;
  std::shared_ptr<const SourceText> text;  ///< null: gone
};

/// Threads: immutable once all are added.
class FailedSources {
 public:
  explicit FailedSources(const LintWorld& world) : world_(world) {}
  void add(FailedSource source) { sources_.push_back(std::move(source)); }
  bool empty() const { return sources_.empty(); }

  /// Paths of those that a file rests on. A failed type file counts as the home of each name that stands in its text.
  std::set<std::string> needed_by(const LintUnit& unit) const;
  /// Whether a failed map names this one, so that children of it may be missing.
  bool may_hold_children_of(const LintUnit& unit) const;

 private:
  void need_archetype(const LintUnit& user, uint32_t name, std::set<std::string>& out) const;
  void need_named(uint32_t kind, uint32_t name, std::set<std::string>& out) const;
  void needs_of_manifest(const LintUnit& unit, std::set<std::string>& out) const;

  const LintWorld& world_;
  std::vector<FailedSource> sources_;
};

/// A finding that would be another with more child maps at hand.
bool counts_children(const LintFinding& finding);

}  // namespace meridian::tools
