// SPDX-License-Identifier: MIT
// PACK-2: what packing maps saves, and what reading them back costs: stored, zstd at three levels, without and with a
// dictionary, for small maps (10 and 50 entities) and a large one (20 000). The writer's defaults are argued from this
// in docs/packs.md. Counters: ratio is raw bytes through stored bytes (dictionary included), pack_MBps the writer's
// speed by CPU time, on one thread.
// PERF-5: opening a stored entry of a trusted pack through mounts (look-up, pin, open_resource), for three sizes: time
// and heap allocations.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "meridian/resource/fingerprint.h"
#include "meridian/resource/mount.h"
#include "meridian/resource/pack_decompressor.h"
#include "meridian/tools/binding.h"
#include "meridian/tools/compile.h"
#include "meridian/tools/pack_view.h"
#include "meridian/tools/pack_writer.h"

#define MERIDIAN_DEFINE_COUNTING_ALLOCATOR
#include "support/counting_allocator.h"
#include "support/map_xml.h"

namespace {

using namespace meridian;
using namespace meridian::tools;

constexpr uint32_t kMap = kind_of("IMAP");

/// Maps of one size, another seed each.
const std::vector<PackInput>& maps(uint32_t entities) {
  static std::map<uint32_t, std::vector<PackInput>> made;
  std::vector<PackInput>& inputs = made[entities];
  const uint32_t count = entities < 1000 ? 400 : 1;
  for (uint32_t i = static_cast<uint32_t>(inputs.size()); i < count; ++i) {
    const auto source = SourceText::from_memory("map.ymap.xml", test::map_xml(entities, i + 1));
    const CompileResult compiled = compile_xml(*source, *Binding::builtin(kMap), {});
    inputs.push_back(pack_input(kMap, "map_" + std::to_string(i), compiled.bytes, i));
  }
  return inputs;
}

struct Packed {
  std::unique_ptr<PackFile> file;
  PackReport report;
  double seconds = 0;  ///< of CPU time: flushing to disk is not compression's business
};

const Packed& packed(uint32_t entities, int level, bool dictionary) {
  static std::map<std::tuple<uint32_t, int, bool>, Packed> made;
  Packed& out = made[{entities, level, dictionary}];
  if (out.file) return out;
  const std::string path = (std::filesystem::temp_directory_path() / "meridian_pack_bench.mpk").string();
  PackWriteOptions options;
  options.level = level;
  options.train_dictionaries = dictionary;
  options.store_below = 0;
  options.min_saving_percent = 0;
  options.dictionary_below = UINT32_MAX;
  options.jobs = 1;
  options.mode = WriteMode::always;
  (void)maps(entities);  // compiled before the clock runs
  // Training is no part of the speed: dictionaries are kept.
  if (dictionary) {
    const auto first = write_pack(path, maps(entities), options);
    std::string error;
    int code = 0;
    const auto file = PackFile::open(path, error, code);
    for (const PackEntry& entry : file->pack().of_kind(kPackDictionaryKind)) {
      const auto bytes = file->pack().stored_bytes(entry);
      const auto* const data = reinterpret_cast<const uint8_t*>(bytes.data());
      options.dictionaries[kMap] = {data, data + bytes.size()};
    }
  }
  const std::clock_t begin = std::clock();
  out.report = write_pack(path, maps(entities), options).report;
  out.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::string bytes, error;
  read_file(path, bytes);
  std::remove(path.c_str());
  out.file = PackFile::from_bytes(path, bytes, error);
  return out;
}

void BM_read_pack(benchmark::State& state) {
  const auto entities = static_cast<uint32_t>(state.range(0));
  const Packed& p = packed(entities, static_cast<int>(state.range(1)), state.range(2) != 0);
  const Pack& pack = p.file->pack();
  PackDecompressor decompressor;
  if (!decompressor.prepare(pack).ok()) return state.SkipWithError("cannot prepare");
  uint32_t largest = 0;
  uint64_t in_pack = 0;
  for (const PackEntry& entry : pack.entries()) {
    largest = std::max(largest, entry.raw_size);
    in_pack += entry.stored_size;
  }
  std::vector<std::byte> memory(largest);
  for (auto _ : state)
    for (const PackEntry& entry : pack.of_kind(kMap))
      if (!decompressor.read(pack, entry, memory).ok()) return state.SkipWithError("cannot read");
  state.SetBytesProcessed(static_cast<int64_t>(static_cast<uint64_t>(state.iterations()) * p.report.raw_bytes));
  state.counters["file_bytes"] = static_cast<double>(p.report.raw_bytes) / static_cast<double>(p.report.entries);
  state.counters["ratio"] = static_cast<double>(p.report.raw_bytes) / static_cast<double>(in_pack);
  state.counters["pack_MBps"] = static_cast<double>(p.report.raw_bytes) / 1e6 / p.seconds;
  state.counters["with_dict"] = static_cast<double>(p.report.with_dictionary);
}

// Stored entries used in place: their hash, and no copy.
void BM_in_place(benchmark::State& state) {
  const Packed& p = packed(static_cast<uint32_t>(state.range(0)), 0, false);
  for (auto _ : state)
    for (const PackEntry& entry : p.file->pack().of_kind(kMap))
      benchmark::DoNotOptimize(p.file->pack().in_place(entry).ok());
  state.SetBytesProcessed(static_cast<int64_t>(static_cast<uint64_t>(state.iterations()) * p.report.raw_bytes));
}

/// The table of a whole world: 38 000 entries.
void BM_open_pack(benchmark::State& state) {
  static const std::unique_ptr<PackFile> file = [] {
    std::vector<PackInput> inputs;
    std::set<uint32_t> hashes;  // some of so many names collide
    for (uint32_t i = 0; inputs.size() < 38'000; ++i) {
      PackInput input = pack_input(kMap, "map_" + std::to_string(i), {1, 2, 3}, i);
      if (hashes.insert(input.name.value).second) inputs.push_back(std::move(input));
    }
    const std::string path = (std::filesystem::temp_directory_path() / "meridian_pack_bench.mpk").string();
    (void)write_pack(path, inputs, {});
    std::string bytes, error;
    read_file(path, bytes);
    std::remove(path.c_str());
    return PackFile::from_bytes(path, bytes, error);
  }();
  const auto all = file->pack().entries();
  // The bytes as a whole, which the view knows the begin and end of.
  const std::byte* const begin = file->pack().stored_bytes(all[file->pack().order()[0]]).data() - sizeof(PackHeader);
  PackHeader header;
  std::memcpy(&header, begin, sizeof header);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        open_pack({begin, static_cast<size_t>(header.file_size)}, {.trusted = state.range(0) != 0}).ok());
}

/// A mounted file of a thousand small resources and one of `size` bytes. A trusted one is opened by its trailer alone,
/// so what the payload says does not matter.
const ResourceMounts& mounted_entry(uint32_t size) {
  static std::map<uint32_t, std::unique_ptr<ResourceMounts>> made;
  std::unique_ptr<ResourceMounts>& mounts = made[size];
  if (mounts) return *mounts;
  const BuiltinSchema& schema = *find_builtin_schema(kMap);
  const auto sealed = [&](const std::string& name, uint32_t bytes) {
    const std::vector<std::byte> payload(bytes - sizeof(ResourceTrailer), std::byte{1});
    std::vector<uint8_t> out(bytes);
    seal_resource(std::as_writable_bytes(std::span(out)), payload, {}, kMap, schema.layout_fingerprint);
    return pack_input(kMap, name, std::move(out));
  };
  std::vector<PackInput> inputs = {sealed("wanted", size)};
  for (uint32_t i = 0; i < 1000; ++i) inputs.push_back(sealed("map_" + std::to_string(i), 256));
  PackWriteOptions options;
  options.level = 0;
  const std::string path = (std::filesystem::temp_directory_path() / "meridian_pack_bench.mpk").string();
  (void)write_pack(path, inputs, options);
  mounts = std::make_unique<ResourceMounts>();
  if (mounts->init({}).ok()) (void)mounts->mount_pack(path.c_str(), {.trusted = true}).ok();
  std::remove(path.c_str());  // the mapping keeps it
  return *mounts;
}

template <uint32_t kBytes>
void BM_open_trusted_entry(benchmark::State& state) {
  const ResourceMounts& mounts = mounted_entry(kBytes);
  bool good = true;
  const uint64_t before = test::allocation_count();
  for (auto _ : state) {
    const Result<PinnedResource> pin = mounts.pin(mounts.find(kMap, hash_name("wanted")));
    good = good && pin.ok() && pin.value().is_in_place() &&
           open_resource(pin.value().bytes(), {.kind = kMap, .trusted = pin.value().trusted()}).ok();
  }
  state.counters["allocations"] =
      static_cast<double>(test::allocation_count() - before) / static_cast<double>(state.iterations());
  if (!good) state.SkipWithError("cannot open");
}

BENCHMARK_TEMPLATE(BM_open_trusted_entry, 4u << 10)->Name("BM_open_trusted_entry_4KB")->Unit(benchmark::kMicrosecond);
BENCHMARK_TEMPLATE(BM_open_trusted_entry, 4u << 20)->Name("BM_open_trusted_entry_4MB")->Unit(benchmark::kMicrosecond);
BENCHMARK_TEMPLATE(BM_open_trusted_entry, 64u << 20)->Name("BM_open_trusted_entry_64MB")->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_read_pack)
    ->ArgNames({"entities", "level", "dictionary"})
    ->ArgsProduct({{10, 50, 20'000}, {0, 3, 9, 19}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_in_place)->ArgName("entities")->Arg(10)->Arg(50)->Arg(20'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_open_pack)->ArgName("trusted")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
