// SPDX-License-Identifier: MIT
#include "meridian/tools/compile.h"

#include <algorithm>
#include <chrono>

#include "lint/lint_compiled.h"
#include "meridian/resource/resource.h"
#include "meridian/tools/binding.h"
#include "resource_builder.h"
#include "rules/checks.h"
#include "select_configs.h"
#include "text_values.h"
#include "xml_reader.h"
#include "xml_scan.h"

namespace meridian::tools {
namespace {

class Clock {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// NAM001: a hash that two different names of this source have.
void find_collisions(const std::vector<NameUse>& names, std::vector<Finding>& findings) {
  for (size_t i = 1; i < names.size(); ++i) {
    if (names[i].hash != names[i - 1].hash) continue;
    std::string hash;
    append_hash_literal(hash, names[i].hash);
    Finding finding{&rules::name_collision,
                    Severity::error,
                    names[i].offset,
                    {},
                    "'" + names[i].text + "' and '" + names[i - 1].text + "' share " + hash,
                    {}};
    finding.related.push_back({names[i - 1].offset, "'" + names[i - 1].text + "' is used here"});
    findings.push_back(std::move(finding));
  }
}

}  // namespace

bool CompileResult::has_errors() const {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.severity == Severity::error; });
}

std::string_view sniff_root(std::string_view text) {
  for (size_t p = text.find('<'); p != npos; p = text.find('<', p)) {
    const std::string_view rest = text.substr(p);
    if (rest.starts_with("<!--")) {
      p = text.find("-->", p + 4);
    } else if (rest.starts_with("<?")) {
      p = text.find("?>", p + 2);
    } else if (rest.starts_with("<!")) {
      p = text.find('>', p);
    } else {
      const size_t end = text.find_first_of(" \t\r\n/>", p + 1);
      return end == npos ? std::string_view() : text.substr(p + 1, end - p - 1);
    }
    if (p == npos) break;
  }
  return {};
}

std::string_view sniff_binary(std::string_view bytes) {
  if (bytes.starts_with("RSC7") || bytes.starts_with("7CSR"))
    return "a compiled RSC7 resource (export it as XML first)";
  if (bytes.starts_with("RSC8") || bytes.starts_with("8CSR"))
    return "a compiled RSC8 resource (export it as XML first)";
  if (bytes.starts_with("PSIN")) return "a compiled PSO resource (export it as XML first)";
  if (bytes.starts_with("RBF0")) return "a compiled RBF resource (export it as XML first)";
  if (bytes.size() >= sizeof(ResourceTrailer) &&
      bytes.substr(bytes.size() - sizeof(ResourceTrailer)).starts_with("MRDN"))
    return "a Meridian resource (use resinfo)";
  if (bytes.starts_with("\x1F\x8B") || bytes.starts_with("PK\x03\x04")) return "a compressed archive";
  if (bytes.starts_with("\x28\xB5\x2F\xFD")) return "a zstd frame";
  const std::string_view head = bytes.substr(0, 4096);
  const bool utf16 = head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF") ||
                     (head.size() > 1 && (head[0] == '<' || head[0] == 0) && (head[1] == 0 || head[1] == '<'));
  if (!utf16 && head.find('\0') != npos && head.find('<') == npos) return "a binary file";
  return {};
}

CompileResult compile_xml(const SourceText& source, const Binding& binding, const CompileOptions& options) {
  CompileResult result;
  Clock clock;
  const std::string_view text = source.text();
  result.stats.source_bytes = source.file_bytes();
  const auto fail = [&](const Rule& rule, size_t offset, std::string message) {
    result.findings.push_back({&rule, Severity::error, offset, {}, std::move(message), {}});
  };
  if (source.file_bytes() > options.limits.max_bytes) {
    fail(rules::limit_exceeded, 0,
         std::to_string(source.file_bytes()) + " bytes of source, at most " + std::to_string(options.limits.max_bytes) +
             " (--max-bytes)");
    return result;
  }
  if (!source.encoding_error().empty()) {
    fail(rules::malformed_xml, 0, source.encoding_error());
    return result;
  }
  if (trim(text).empty()) {
    fail(rules::wrong_root, 0, "the file is empty");
    return result;
  }
  // Templates say one thing only: what was not filled in.
  for (const size_t place : find_placeholders(text)) {
    const std::string_view rest = text.substr(place);
    fail(rules::unfilled_placeholder, place,
         "placeholder " + std::string(rest.substr(0, std::min<size_t>(rest.find('}') + 1, 80))) + " was not filled in");
  }
  if (!result.findings.empty()) return result;
  const size_t bad = find_bad_text(text);
  if (bad != npos) {
    fail(rules::malformed_xml, bad, text[bad] == 0 ? "a NUL byte" : "a byte sequence that is not UTF-8");
    return result;
  }
  result.root = sniff_root(text);
  if (result.root.empty() || result.root == "Item") {
    const size_t tag = text.find('<');
    if (tag == npos)
      fail(rules::wrong_root, 0, "this is not XML: there is no tag in it");
    else if (result.root.empty())
      fail(rules::wrong_root, text.find("<>") == npos ? 0 : text.find("<>"), "no root element");
    else
      fail(rules::wrong_root, static_cast<size_t>(text.find("<Item")) + 1,
           "a fragment: Items without a root element (" + binding.root().xml + ")");
    return result;
  }
  if (!binding.reads_root(result.root)) {
    result.other_root = true;
    return result;
  }

  XmlRead source_read(text, binding, options);
  const ScanResult& scan = source_read.scan();
  result.waivers = scan.waivers;
  result.stats.elements = scan.elements;
  result.stats.windows = scan.windows.size();
  result.stats.scan_seconds = clock.lap();
  if (!scan.findings.empty()) {
    result.findings = scan.findings;
    return result;
  }

  ReadResult read = source_read.read();
  result.findings = std::move(read.findings);
  result.stats.items = read.items;
  result.names = read.names.take();
  result.stats.names = result.names.size();
  if (read.cancelled) {
    result.cancelled = true;
    return result;
  }
  if (read.malformed) {
    result.names.clear();
    return result;
  }
  find_collisions(result.names, result.findings);
  if (options.config_target != nullptr) select_configs(read.root, options.config_target->target());
  if (options.lint) run_checks(text, read.root, result.findings);
  result.stats.read_seconds = clock.lap();
  if (result.has_errors()) return result;

  if (options.repair != nullptr) apply_repair(*options.repair, read.root);
  BuildResult built = build_resource(read.root, binding, result.names, options);
  if (built.too_large != 0) {
    std::string message = "the resource needs about " + std::to_string(built.too_large) + " bytes, more than fit (" +
                          std::to_string(std::min<uint64_t>(options.limits.max_resource_bytes, kMaxResourceBytes)) +
                          ")";
    if (!built.largest_array.empty()) message += "; split '" + built.largest_array + "' over several files";
    fail(rules::resource_too_large, scan.root.begin + 1, std::move(message));
    return result;
  }
  result.bytes = std::move(built.bytes);
  result.stats.build_seconds = clock.lap();
  if (options.lint && options.lint_content) {
    const MapRepair repair = lint_compiled(source, options, result);
    result.stats.lint_seconds = clock.lap();
    if (result.has_errors()) {
      result.bytes.clear();
      return result;
    }
    if (repair.any()) {
      apply_repair(repair, read.root);
      result.bytes = build_resource(read.root, binding, result.names, options).bytes;
    }
  }
  result.stats.kept = built.kept;
  result.stats.resource_bytes = result.bytes.size();
  return result;
}

}  // namespace meridian::tools
