// SPDX-License-Identifier: MIT
#pragma once
/// From XML text to the bytes of a resource, by a schema. This is all that the compilers have in common; the rest of a
/// compiler is command line.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/tools/diagnostics.h"
#include "meridian/tools/parsed_target.h"
#include "meridian/tools/source_text.h"

namespace meridian::tools {

class Binding;    // tools/binding.h
class LintWorld;  // tools/lint.h
struct MapRepair;

enum class Dialect { automatic, gta5, rdr3 };

/// What becomes of extents and flags that differ from the content.
enum class Repair { keep, fix, unite };

/// tinyxml2 parses documents of this depth and no deeper (its own limit of 100 counts the document and the text).
inline constexpr uint32_t kMaxDepth = 98;

struct CompileLimits {
  uint64_t max_bytes = uint64_t{1} << 32;     ///< of source text [bytes]
  uint32_t max_depth = kMaxDepth;             ///< of nested elements [1, kMaxDepth]
  uint64_t max_elements = uint64_t{1} << 30;  ///< [count]
  uint64_t max_resource_bytes = 0x7FFFFFFF;   ///< of the output [bytes]
};

struct CompileOptions {
  CompileLimits limits;
  Dialect dialect = Dialect::automatic;
  bool names = true;          ///< keep the names table
  bool embed_schema = false;  ///< put the reflection schema into the info section
  bool lint = true;           ///< run the rule checks; without, only what cannot be read is reported
  bool lint_content = true;  ///< with `lint`: the rules of lint.h on the resource too; without, only what reading finds
  bool note_missing = false;  ///< look for missing elements (XML013); costs time, so only when switched on
  std::string stem;           ///< file stem that a missing `name` takes; empty: name 0
  std::shared_ptr<const ParsedTarget> config_target;  ///< keep only the configurations for it; null: all
  std::shared_ptr<const LintWorld> types;     ///< all type files (linked): archetypes are looked up; null: unknown
  bool allow_missing_archetypes = false;      ///< REF001 is a warning
  bool lod_size = false;                      ///< look for LOD007
  Repair extents = Repair::keep;              ///< of a map, in the resource; fix and unite need `types`
  Repair flags = Repair::keep;                ///< keep or fix
  const MapRepair* repair = nullptr;          ///< values that replace the source's (lint/repair.h); null: none
  uint32_t jobs = 0;                          ///< threads for one file; 0: all, 1: none
  size_t window_bytes = 16 * 1024;            ///< target size of a window; 0: the whole file at once (same results)
  const std::atomic<bool>* cancel = nullptr;  ///< checked now and then; a cancelled result has no bytes
};

/// Seconds and sizes, for --stats.
struct CompileStats {
  uint64_t source_bytes = 0, resource_bytes = 0, elements = 0, items = 0, windows = 0, names = 0, kept = 0;
  double scan_seconds = 0, read_seconds = 0, build_seconds = 0, lint_seconds = 0;
};

/// One spelling of a name in one source, for the check of collisions over a whole build.
struct NameUse {
  uint32_t hash = 0;
  std::string text;
  size_t offset = 0;  ///< of its first use [byte of the source text]
};

struct CompileResult {
  std::vector<Finding> findings;
  std::vector<Waiver> waivers;
  std::vector<uint8_t> bytes;  ///< the sealed resource; empty if there were errors
  std::vector<NameUse> names;  ///< distinct names, by hash
  std::string root;            ///< the root element's name, where one was found
  bool other_root = false;     ///< the root is not the binding's (and no finding was made about it)
  bool cancelled = false;
  CompileStats stats;

  bool has_errors() const;
};

/// Compiles one source. Bad input gives findings, never an exception or a crash.
/// A root other than the binding's gives `other_root` and no finding; the caller decides whether that matters.
/// Threads: reentrant; uses up to `jobs` threads inside.
CompileResult compile_xml(const SourceText& source, const Binding& binding, const CompileOptions& options);

/// The root element's name without a full parse (skips what stands before it), or empty. For sorting inputs.
std::string_view sniff_root(std::string_view text);

/// What bytes that are no XML look like: "a compiled RSC7 resource", "a Meridian resource", or "" if it may be XML.
std::string_view sniff_binary(std::string_view bytes);

}  // namespace meridian::tools
