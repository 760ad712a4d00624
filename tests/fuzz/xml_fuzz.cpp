// SPDX-License-Identifier: MIT
// Any bytes as the XML of one root (MERIDIAN_FUZZ_KIND). What compiles opens, dumps, and compiles to the same bytes
// again; what does not has an error; the window size changes nothing (P050, READ-4, REL-1).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "meridian/resource/resource.h"
#include "meridian/tools/binding.h"
#include "meridian/tools/compile.h"
#include "meridian/tools/resource_view.h"

namespace {

using namespace meridian;
using namespace meridian::tools;

constexpr uint32_t kKind = kind_of(MERIDIAN_FUZZ_KIND);

[[noreturn]] void broken(const char* property, const std::string& text) {
  std::fprintf(stderr, "property broken: %s\n%s\n", property, text.c_str());
  std::abort();
}

CompileResult compile(const std::string& text, size_t window_bytes) {
  CompileOptions options;
  options.jobs = 1;
  options.window_bytes = window_bytes;
  options.limits.max_resource_bytes = 64 << 20;
  return compile_xml(*SourceText::from_memory("fuzz.xml", text), *Binding::builtin(kKind), options);
}

std::string describe(const CompileResult& result) {
  std::string out;
  for (const Finding& f : result.findings)
    out += std::string(f.rule->code) + " at " + std::to_string(f.offset) + ": " + f.message + "\n";
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1 << 16) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const CompileResult whole = compile(text, 0);
  const CompileResult windows = compile(text, 1);
  if (whole.bytes != windows.bytes || whole.findings.size() != windows.findings.size())
    broken("window size changes nothing", describe(whole) + "---\n" + describe(windows));
  if (whole.bytes.empty()) {
    if (!whole.has_errors() && !whole.other_root) broken("what does not compile has an error", describe(whole));
    return 0;
  }
  if (whole.has_errors()) broken("what has an error does not compile", describe(whole));

  LoadedResource loaded;
  std::string error;
  if (!view_resource("fuzz", whole.bytes, {}, loaded, error)) broken("what compiles opens", error);
  const std::string dump = dump_xml(loaded);
  const CompileResult again = compile(dump, 0);
  if (again.bytes != whole.bytes) broken("a dump compiles to the same bytes", dump + "\n" + describe(again));
  (void)dump_json(loaded);
  return 0;
}
