// SPDX-License-Identifier: MIT
#pragma once
// The second half of what worldc does: outputs written as far as they differ, and what the next build needs to know.

#include <string>
#include <unordered_map>
#include <vector>

#include "world_build/build_run.h"
#include "world_build/build_state.h"
#include "world_build/linked_world.h"
#include "world_build/lod_links.h"
#include "world_build/output_lock.h"
#include "world_build/output_parts.h"

namespace meridian::tools {

class WorldOutputs {
 public:
  WorldOutputs(BuildRun& run, LinkedWorld& linked);

  /// Locks the output folder and reads what the last build left. False: that failed, and it was said.
  bool prepare();
  KnownSources known_sources() const;
  int64_t known_since() const { return before_.started; }
  /// Whether sources and outputs are what they were after the last build. Then what was said is said again.
  bool are_up_to_date();
  /// Makes the tables by which outputs are linked. Call once, after the rules ran.
  void link();
  /// Size of what a unit becomes. 0: it cannot be made. Threads: reentrant after link(). [bytes]
  uint64_t linked_size(const WorldUnit& unit) const;
  /// Writes what differs, and removes what is no longer wanted. Requires: link().
  void write(const std::vector<Diagnostic>& diagnostics);

 private:
  uint64_t settings_hash() const;
  uint64_t checks_hash() const;
  bool is_in_place(const BuiltOutput& output) const;
  bool look_at(BuiltOutput& output) const;
  bool announce(const std::vector<const WorldUnit*>& wanted);
  void refuse(const WorldUnit& unit, std::string message);
  bool linked_bytes(const WorldUnit& unit, std::vector<uint8_t>& out, std::string& error, std::string& problem) const;
  bool write_index(const std::vector<const WorldUnit*>& wanted, std::vector<BuiltOutput>& outputs);
  using KnownOutputs = std::unordered_map<std::string, const BuiltOutput*>;
  bool pack(const std::vector<const WorldUnit*>& wanted, std::vector<BuiltOutput>& outputs, const KnownOutputs& known);
  void remove_old(const std::vector<BuiltOutput>& outputs);
  void save(std::vector<BuiltOutput> outputs, const std::vector<Diagnostic>& diagnostics);

  BuildRun& run_;
  LinkedWorld& linked_;
  OutputLock lock_;
  std::string state_path_;
  BuildStateData before_;
  bool has_state_ = false, is_same_question_ = false;
  int64_t started_ = 0;  // [ns]
  ArchetypeTable archetypes_;
  LodSetTable sets_;
};

}  // namespace meridian::tools
