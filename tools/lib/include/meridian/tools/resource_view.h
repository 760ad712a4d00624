// SPDX-License-Identifier: MIT
#pragma once
/// Compiled resources seen by tools: loaded, checked, and shown as XML, JSON, statistics or differences. Everything is
/// driven by the binding of the schema that the file was written by, so no format is known here.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/resource/resource.h"
#include "meridian/tools/binding.h"

namespace meridian::tools {

struct LoadOptions {
  /// Reflection schema to read the file by (generic metadata); empty: embedded in the file, or built in.
  std::vector<uint8_t> schema;
};

/// Something kept that the schema lacks. Kind 0 element, 1 attribute, 2 text.
struct KeptView {
  uint8_t kind = 0;
  std::string_view name, text;
};

/// A resource in memory. Movable; views stay valid as long as it lives.
struct LoadedResource {
  std::string path;
  std::vector<uint64_t> storage;  ///< 8-aligned by type; 16-aligned by the offset below
  std::span<const std::byte> bytes;
  Resource resource;
  std::shared_ptr<const Binding> binding;
  uint32_t format_version = 0;
  std::map<uint32_t, std::string_view> names;                      ///< hash -> text
  std::map<std::string, std::vector<KeptView>, std::less<>> kept;  ///< owner path -> in order
  std::string warning;  ///< what conversion changed; empty if the file was used as it is
};

/// Reads and opens a resource; a different layout is converted if a schema is at hand.
/// False: `error` says why and `exit_code` is 1 (refused) or 3 (cannot be read).
bool load_resource(const std::string& path, const LoadOptions& options, LoadedResource& out, std::string& error,
                   int& exit_code);

/// The same from memory; `name` is what messages show.
bool view_resource(const std::string& name, std::span<const uint8_t> bytes, const LoadOptions& options,
                   LoadedResource& out, std::string& error);

/// The XML that compiles to the same bytes. Ends with a newline.
/// Requires: not of a kind that only the linker makes (binding->root().cooked).
std::string dump_xml(const LoadedResource& resource);
/// {"kind", "root": {...}, "kept": [...]}: members by their FlatBuffers names, names as text, enumerations as in XML.
std::string dump_json(const LoadedResource& resource);
/// What is in it and how large it is: vectors with counts and bytes, sections, names; of a world index also what it
/// costs a map and an archetype, and its trees.
std::string stats_text(const LoadedResource& resource);
std::string stats_json(const LoadedResource& resource);
/// The schema that the file is read by, as .fbs-like text with the docs.
std::string schema_text(const LoadedResource& resource);
/// One line for each difference, "path: old -> new"; elements of arrays are matched by content first. Empty: equal.
std::vector<std::string> diff_lines(const LoadedResource& a, const LoadedResource& b);

}  // namespace meridian::tools
