// SPDX-License-Identifier: MIT
// PERF-4: compiling one map of 50 MB, beside what tinyxml2 and pugixml need for a plain parse of the same text.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <tinyxml2.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <pugixml.hpp>

#include "meridian/resource/resource.h"
#include "meridian/tools/binding.h"
#include "meridian/tools/compile.h"
#include "meridian/tools/file_io.h"
#include "support/map_xml.h"

namespace {

using namespace meridian;
using namespace meridian::tools;

constexpr uint32_t kEntities = 75'000;  // 50 MB

const std::string& text() {
  static const std::string t = test::map_xml(kEntities);
  return t;
}

const std::string& path() {
  static const std::string p = [] {
    const auto at =
        std::filesystem::temp_directory_path() / ("meridian_bench_" + std::to_string(getpid()) + ".ymap.xml");
    std::ofstream(at, std::ios::binary) << text();
    return at.string();
  }();
  return p;
}

// The whole job of imapc: map the file, check, parse, extract, build, write, rename.
void compile(benchmark::State& state, uint32_t jobs, size_t window_bytes) {
  const Binding* const binding = Binding::builtin(kind_of("IMAP"));
  const std::string in = path(), out = in + ".imap";
  for (auto _ : state) {
    int error = 0;
    const auto source = SourceText::open(in, error);
    CompileOptions options;
    options.jobs = jobs;
    options.window_bytes = window_bytes;
    const CompileResult result = compile_xml(*source, *binding, options);
    if (result.bytes.empty()) state.SkipWithError("did not compile");
    std::ofstream(out, std::ios::binary)
        .write(reinterpret_cast<const char*>(result.bytes.data()), static_cast<std::streamsize>(result.bytes.size()));
  }
  std::filesystem::remove(out);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text().size()));
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * kEntities);
}

void BM_imapc_one_thread(benchmark::State& state) { compile(state, 1, CompileOptions{}.window_bytes); }
void BM_imapc_two_threads(benchmark::State& state) { compile(state, 2, CompileOptions{}.window_bytes); }
void BM_imapc_window(benchmark::State& state) { compile(state, 1, static_cast<size_t>(state.range(0))); }
void BM_imapc_no_window(benchmark::State& state) { compile(state, 1, 0); }

void BM_tinyxml2_plain_parse(benchmark::State& state) {
  for (auto _ : state) {
    tinyxml2::XMLDocument document;
    if (document.Parse(text().data(), text().size()) != tinyxml2::XML_SUCCESS) state.SkipWithError("did not parse");
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text().size()));
}

void BM_pugixml_plain_parse(benchmark::State& state) {
  for (auto _ : state) {
    pugi::xml_document document;
    if (!document.load_buffer(text().data(), text().size())) state.SkipWithError("did not parse");
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text().size()));
}

BENCHMARK(BM_imapc_one_thread)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_imapc_two_threads)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_tinyxml2_plain_parse)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_pugixml_plain_parse)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_imapc_window)
    ->Arg(4 << 10)
    ->Arg(16 << 10)
    ->Arg(64 << 10)
    ->Arg(256 << 10)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(BM_imapc_no_window)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

int main(int argc, char** argv) {
  // `compile_bench --make FILE` writes the map, for measuring the program itself (memory, start-up).
  if (argc == 3 && std::string_view(argv[1]) == "--make") {
    std::ofstream(argv[2], std::ios::binary) << text();
    return 0;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove(path());
  return 0;
}
