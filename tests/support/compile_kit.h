// SPDX-License-Identifier: MIT
#pragma once
/// Compiles XML that stands in a test, and compares findings with marks in it.
///
///   expect_found(kImap, "<CMapData><flags value=\"@x\"/></CMapData>", {"error XML005"});
///
/// Each '@' marks the place of one expected finding, in order, and is taken out before compiling. So a test states
/// line and column by where the mark is, not by what the code says.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "meridian/resource/resource.h"
#include "meridian/tools/binding.h"
#include "meridian/tools/compile.h"
#include "meridian/tools/diagnostics.h"
#include "meridian/tools/resource_view.h"
#include "meridian/tools/source_text.h"
#include "support/temp_dir.h"

namespace meridian::test {

inline constexpr uint32_t kImap = kind_of("IMAP"), kItyp = kind_of("ITYP"), kGcfg = kind_of("GCFG"),
                          kYmfm = kind_of("YMFM");

/// What a compile said and made.
struct Compiled {
  std::shared_ptr<const tools::SourceText> source;
  tools::CompileResult result;
  std::vector<tools::Diagnostic> diagnostics;

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(result.bytes)); }
  /// "line:column severity CODE", sorted by place.
  std::vector<std::string> places() const {
    std::vector<std::string> out;
    for (const tools::Diagnostic& d : diagnostics) {
      const char* severity = d.severity == tools::Severity::error     ? "error"
                             : d.severity == tools::Severity::warning ? "warning"
                                                                      : "note";
      out.push_back(std::to_string(d.line) + ":" + std::to_string(d.column) + " " + severity + " " +
                    std::string(d.rule->code));
    }
    return out;
  }
  /// Everything of every finding, one line each.
  std::string all() const {
    std::string out;
    const std::vector<std::string> where = places();
    for (size_t i = 0; i < where.size(); ++i) {
      out += where[i] + " [" + diagnostics[i].object + "] " + diagnostics[i].message;
      for (const tools::RelatedPlace& r : diagnostics[i].related)
        out += " {" + std::to_string(r.line) + ":" + std::to_string(r.column) + " " + r.message + "}";
      out += '\n';
    }
    return out;
  }
  /// Objects and messages only.
  std::string messages() const {
    std::string out;
    for (const tools::Diagnostic& d : diagnostics) out += (d.object.empty() ? "" : d.object + ": ") + d.message + '\n';
    return out;
  }
};

inline Compiled compile_with(const tools::Binding& binding, std::string xml, const tools::CompileOptions& options = {},
                             const tools::DiagnosticPolicy& policy = {}) {
  Compiled c;
  c.source = tools::SourceText::from_memory("qa.xml", std::move(xml));
  // These are tests of reading and writing; what the content means has its own (lint_test.cpp).
  tools::CompileOptions reading = options;
  reading.lint_content = false;
  c.result = tools::compile_xml(*c.source, binding, reading);
  c.diagnostics = tools::resolve(*c.source, c.result.findings, c.result.waivers, policy);
  return c;
}

inline Compiled compile(uint32_t kind, std::string xml, const tools::CompileOptions& options = {}) {
  return compile_with(*tools::Binding::builtin(kind), std::move(xml), options);
}

/// Takes the marks out of `marked` and gives "line:column" of each.
inline std::string unmark(std::string_view marked, std::vector<std::string>& places) {
  std::string xml;
  unsigned line = 1, column = 1;
  for (size_t i = 0; i < marked.size(); ++i) {
    const char c = marked[i];
    if (c == '@') {
      places.push_back(std::to_string(line) + ":" + std::to_string(column));
      continue;
    }
    xml += c;
    ++column;
    const char* const next = i + 1 < marked.size() ? &marked[i + 1] : nullptr;
    if (c == '\n' || (c == '\r' && (next == nullptr || *next != '\n'))) {
      ++line;
      column = 1;
    }
  }
  return xml;
}

/// Compiles `marked` without its marks; the findings must be exactly these, each at its mark.
inline Compiled expect_found(const tools::Binding& binding, std::string_view marked, std::vector<std::string> findings,
                             const tools::CompileOptions& options = {}) {
  std::vector<std::string> marks;
  const std::string xml = unmark(marked, marks);
  EXPECT_EQ(marks.size(), findings.size()) << "the test itself: one mark for each finding";
  for (size_t i = 0; i < findings.size() && i < marks.size(); ++i) findings[i] = marks[i] + " " + findings[i];
  Compiled c = compile_with(binding, xml, options);
  EXPECT_EQ(c.places(), findings) << xml << "\n" << c.all();
  EXPECT_EQ(c.result.bytes.empty(), c.result.has_errors()) << "bytes exactly if there are no errors (P050)\n"
                                                           << c.all();
  return c;
}
inline Compiled expect_found(uint32_t kind, std::string_view marked, std::vector<std::string> findings,
                             const tools::CompileOptions& options = {}) {
  return expect_found(*tools::Binding::builtin(kind), marked, std::move(findings), options);
}

/// Compiles without any finding, and opens.
inline Compiled compile_clean(uint32_t kind, std::string xml, const tools::CompileOptions& options = {}) {
  Compiled c = compile(kind, std::move(xml), options);
  EXPECT_EQ(c.all(), "") << c.source->text();
  EXPECT_FALSE(c.result.bytes.empty());
  EXPECT_TRUE(open_resource(c.bytes(), {.kind = kind}).ok());
  return c;
}

/// The root of what was compiled. Requires: it compiled.
template <class Root>
const Root* root_of(const Compiled& c) {
  const Result<Resource> r = open_resource(c.bytes());
  if (!r.ok()) {
    ADD_FAILURE() << "does not open: " << r.status().message << " detail " << r.status().detail << "\n"
                  << c.all() << c.source->text();
    return nullptr;
  }
  return r.value().root<Root>();
}

/// A resource as the tools load it.
inline std::unique_ptr<tools::LoadedResource> load(const std::vector<uint8_t>& bytes,
                                                   std::span<const uint8_t> schema = {}) {
  const TempDir dir;
  const std::string path =
      dir.write("qa.bin", std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  auto loaded = std::make_unique<tools::LoadedResource>();
  std::string error;
  int exit_code = 0;
  tools::LoadOptions options;
  options.schema.assign(schema.begin(), schema.end());
  if (!tools::load_resource(path, options, *loaded, error, exit_code)) {
    ADD_FAILURE() << "does not load: " << error;
    return nullptr;
  }
  return loaded;
}

inline std::string dump_of(const std::vector<uint8_t>& bytes, std::span<const uint8_t> schema = {}) {
  const auto loaded = load(bytes, schema);
  return loaded == nullptr ? std::string() : tools::dump_xml(*loaded);
}

/// READ-4: the dump of `c` compiles to the same bytes, and its dump is the same text. Gives the dump.
inline std::string expect_round_trip(const tools::Binding& binding, const Compiled& c,
                                     const tools::CompileOptions& options = {}, std::span<const uint8_t> schema = {}) {
  if (c.result.bytes.empty()) {
    ADD_FAILURE() << "did not compile\n" << c.all() << c.source->text();
    return {};
  }
  const std::string first = dump_of(c.result.bytes, schema);
  const Compiled again = compile_with(binding, first, options);
  EXPECT_FALSE(again.result.has_errors()) << again.all() << first;
  const std::string second = again.result.bytes.empty() ? std::string() : dump_of(again.result.bytes, schema);
  EXPECT_EQ(second, first) << "from\n" << c.source->text();
  EXPECT_TRUE(again.result.bytes == c.result.bytes) << "other bytes after a dump\n"
                                                    << c.source->text() << "\ndump\n"
                                                    << first;
  return first;
}
inline std::string expect_round_trip(uint32_t kind, const Compiled& c, const tools::CompileOptions& options = {}) {
  return expect_round_trip(*tools::Binding::builtin(kind), c, options);
}

/// Pieces that many tests need.
inline std::string map_of(std::string_view body) {
  return "<CMapData><name>qa_map</name>" + std::string(body) + "</CMapData>";
}
inline std::string entity(std::string_view body, std::string_view type = "CEntityDef") {
  return "<Item type=\"" + std::string(type) + "\"><archetypeName>qa_box</archetypeName>" + std::string(body) +
         "</Item>";
}
inline std::string entities(std::string_view items) {
  return map_of("<entities>" + std::string(items) + "</entities>");
}
inline std::string one_entity(std::string_view body) { return entities(entity(body)); }
inline std::string with_extension(std::string_view item) {
  return one_entity("<extensions>" + std::string(item) + "</extensions>");
}
inline std::string types_of(std::string_view archetypes) {
  return "<CMapTypes><archetypes>" + std::string(archetypes) + "</archetypes><name>qa_types</name></CMapTypes>";
}
inline std::string archetype(std::string_view body, std::string_view type = "CBaseArchetypeDef") {
  return "<Item type=\"" + std::string(type) + "\"><name>qa_a</name>" + std::string(body) + "</Item>";
}
inline std::string config_of(std::string_view body) {
  return "<fwAllConfigs><ConfigArray><Item><Build>Any</Build><Platforms>Any</Platforms><Config type=\"CGameConfig\">" +
         std::string(body) + "</Config></Item></ConfigArray></fwAllConfigs>";
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace meridian::test
