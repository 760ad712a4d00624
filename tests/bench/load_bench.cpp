// SPDX-License-Identifier: MIT
// PERF-5: opening a resource of 4 MB in place, beside its parts alone (checksum, verifier, semantic checks), memcpy,
// and parsing the same map from XML.
#define XXH_INLINE_ALL
#include <benchmark/benchmark.h>
#include <tinyxml2.h>
#include <xxhash.h>

#include <cstring>
#include <vector>

#include "meridian/resource/resource.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/tools/binding.h"
#include "meridian/tools/compile.h"
#include "support/map_xml.h"

namespace {

using namespace meridian;
using namespace meridian::tools;

constexpr uint32_t kEntities = 50'000;  // 4.2 MB of structs

const std::string& xml() {
  static const std::string t = test::map_xml(kEntities);
  return t;
}

CompileResult compile() {
  CompileOptions options;
  options.jobs = 1;
  return compile_xml(*SourceText::from_memory("bench.ymap.xml", xml()), *Binding::builtin(kind_of("IMAP")), options);
}

struct alignas(16) Block {
  std::byte bytes[16];
};

std::span<const std::byte> resource() {
  static const std::vector<Block> storage = [] {
    const CompileResult result = compile();
    std::vector<Block> blocks((result.bytes.size() + 15) / 16);
    std::memcpy(blocks.data(), result.bytes.data(), result.bytes.size());
    return blocks;
  }();
  static const size_t size = compile().bytes.size();
  return std::as_bytes(std::span(storage)).first(size);
}

void finish(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * resource().size()));
}

void BM_open_in_place(benchmark::State& state) {
  for (auto _ : state) {
    const Result<Resource> r = open_resource(resource(), {.kind = kind_of("IMAP")});
    if (!r.ok()) state.SkipWithError(r.status().message);
    benchmark::DoNotOptimize(r.ok());
  }
  finish(state);
}

void BM_open_trusted(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(open_resource(resource(), {.kind = kind_of("IMAP"), .trusted = true}).ok());
}

void BM_xxh3(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(XXH3_64bits(resource().data(), resource().size() - 8));
  finish(state);
}

void BM_flatbuffers_verifier(benchmark::State& state) {
  const auto payload = open_resource(resource()).value().payload();
  for (auto _ : state) {
    flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(payload.data()), payload.size());
    benchmark::DoNotOptimize(schema::VerifyMapDataBuffer(verifier));
  }
  finish(state);
}

// The same facts as the semantic pass, written by hand against the generated accessors: every float finite, every
// closed enumeration known.
void BM_semantic_by_hand(benchmark::State& state) {
  const auto* const map = open_resource(resource()).value().root<schema::MapData>();
  for (auto _ : state) {
    bool good = true;
    for (const schema::EntityDef* e : *map->entities()) {
      const float values[] = {e->position().x(), e->position().y(), e->position().z(),  e->rotation().x(),
                              e->rotation().y(), e->rotation().z(), e->rotation().w(),  e->scale_xy(),
                              e->scale_z(),      e->lod_dist(),     e->child_lod_dist()};
      for (const float v : values) {
        uint32_t bits;
        std::memcpy(&bits, &v, 4);
        good &= (bits & 0x7F800000u) != 0x7F800000u;
      }
      good &= static_cast<uint32_t>(e->lod_level()) <= 6 && static_cast<uint32_t>(e->priority_level()) <= 3;
    }
    benchmark::DoNotOptimize(good);
  }
  finish(state);
}

void BM_memcpy(benchmark::State& state) {
  std::vector<std::byte> to(resource().size());
  for (auto _ : state) {
    std::memcpy(to.data(), resource().data(), to.size());
    benchmark::ClobberMemory();
  }
  finish(state);
}

void BM_compile_from_xml(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(compile().bytes.size());
}

// What a loader of XML pays at the least.
void BM_parse_xml(benchmark::State& state) {
  for (auto _ : state) {
    tinyxml2::XMLDocument document;
    benchmark::DoNotOptimize(document.Parse(xml().data(), xml().size()));
  }
}

BENCHMARK(BM_open_in_place)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_open_trusted)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_xxh3)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_flatbuffers_verifier)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_semantic_by_hand)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_memcpy)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_parse_xml)->Unit(benchmark::kMicrosecond)->Iterations(1);
BENCHMARK(BM_compile_from_xml)->Unit(benchmark::kMicrosecond)->Iterations(1);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  (void)resource();  // compiled before any clock runs
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
