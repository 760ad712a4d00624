// SPDX-License-Identifier: MIT
// PERF-5: opening a resource of 4 MB in place, beside its parts alone (checksum, verifier, semantic checks), memcpy,
// and parsing the same map from XML.
// WIDX-1: opening the index of a world of 8000 maps and 30000 archetypes in place, and asking it what is near.
#define XXH_INLINE_ALL
#include <benchmark/benchmark.h>
#include <tinyxml2.h>
#include <xxhash.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "meridian/resource/resource.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/tools/binding.h"
#include "meridian/tools/compile.h"
#include "meridian/tools/world_index_writer.h"
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

std::vector<Block> aligned(const std::vector<uint8_t>& bytes) {
  std::vector<Block> blocks((bytes.size() + 15) / 16);
  std::memcpy(blocks.data(), bytes.data(), bytes.size());
  return blocks;
}

std::span<const std::byte> resource() {
  static const std::vector<Block> storage = aligned(compile().bytes);
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

// As large as worldgen's preset gta: areas of small maps, and one in ten seen from afar.
constexpr uint32_t kMaps = 8000, kArchetypes = 30000, kTypeFiles = 700;

std::span<const std::byte> index_bytes() {
  static const std::vector<Block> storage = [] {
    std::mt19937 random(1);
    const auto number = [&](double high) {
      return static_cast<float>(static_cast<double>(random()) / 4294967296.0 * high);
    };
    WorldIndexInput in;
    std::vector<std::string> texts(kMaps + kArchetypes + kTypeFiles);
    for (size_t i = 0; i < texts.size(); ++i) texts[i] = "bench_" + std::to_string(i);
    const auto name = [&](size_t i) { return hash_name(texts[i]); };
    for (const std::string& text : texts) in.names.emplace_back(hash_name(text).value, text);
    for (uint32_t i = 0; i < kTypeFiles; ++i) {
      in.types.emplace_back().slot.name = name(kMaps + kArchetypes + i);
      if (i > 0) in.types.back().types.push_back(in.types[i / 2].slot.name.value);
    }
    for (uint32_t i = 0; i < kArchetypes; ++i) {
      in.archetypes.emplace_back().row.name = name(kMaps + i);
      in.archetypes.back().file = in.types[i % kTypeFiles].slot.name;
    }
    for (uint32_t i = 0; i < kMaps; ++i) {
      WorldIndexMap& map = in.maps.emplace_back();
      map.slot.name = name(i);
      map.slot.parent = i % 10 == 0 ? NameHash{} : name(i / 10 * 10);
      const float range = i % 10 == 0 ? 1000 + number(5000) : 50 + number(200);
      const Vec3 at{number(9000), number(12000), number(100)};
      map.slot.entities = {at, {at.x + 80, at.y + 80, at.z + 40}};
      map.slot.streaming = {{at.x - range, at.y - range, at.z - range},
                            {at.x + 80 + range, at.y + 80 + range, at.z + 40 + range}};
      for (int k = 0; k < 3; ++k) map.types.push_back(in.types[random() % kTypeFiles].slot.name.value);
    }
    std::vector<uint8_t> bytes;
    std::string error;
    (void)build_world_index(std::move(in), bytes, error);
    return aligned(bytes);
  }();
  return std::as_bytes(std::span(storage));  // resources are a multiple of 16 long
}

void BM_open_index(benchmark::State& state) {
  for (auto _ : state) {
    const Result<WorldIndex> r = open_world_index(index_bytes());
    if (!r.ok()) state.SkipWithError(r.status().message);
    benchmark::DoNotOptimize(r.ok());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * index_bytes().size()));
}

// Places inside maps, one after the other.
void BM_index_sphere(benchmark::State& state) {
  const WorldIndex index = open_world_index(index_bytes()).value();
  std::vector<uint32_t> out(kMaps);
  size_t next = 0;
  for (auto _ : state) {
    const Vec3 at = index.maps()[next].entities.min;
    next = (next + 1) % index.maps().size();
    benchmark::DoNotOptimize(query_sphere(index.streaming_tree(), at, 30, out));
  }
}

void BM_index_scan(benchmark::State& state) {  // the same by a look at each box
  const WorldIndex index = open_world_index(index_bytes()).value();
  std::vector<uint32_t> out(kMaps);
  size_t next = 0;
  for (auto _ : state) {
    const Vec3 at = index.maps()[next].entities.min;
    next = (next + 1) % index.maps().size();
    uint32_t found = 0;
    for (uint32_t i = 0; i < kMaps; ++i) {
      const Aabb& b = index.maps()[i].streaming;
      const auto gap = [](float low, float high, float v) { return v < low ? low - v : v > high ? v - high : 0; };
      const float x = gap(b.min.x, b.max.x, at.x), y = gap(b.min.y, b.max.y, at.y), z = gap(b.min.z, b.max.z, at.z);
      if (x * x + y * y + z * z <= 30 * 30) out[found++] = i;
    }
    benchmark::DoNotOptimize(found);
  }
}

BENCHMARK(BM_open_index)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_index_sphere)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_index_scan)->Unit(benchmark::kMicrosecond);
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
