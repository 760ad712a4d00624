// SPDX-License-Identifier: MIT
// PERF-6: maps of plain entities with LOD links become entities, a node and descriptors, and go again; cooked blocks on
// their way into the scene, beside memcpy of the same bytes.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <vector>

#include "meridian/meridian.h"
#include "support/map_maker.h"

namespace {

using namespace meridian;

constexpr uint32_t kEntities = 4000;  // of a map
constexpr uint32_t kMaps = 16;        // 64 000 entities: with definitions and blocks 20 MB, which no core's cache holds
constexpr uint32_t kTypes = 60;
constexpr ItypSlot kTypesSlot = 1;

/// Memory that is taken once and used again, as games have it: what is measured is our work, not that of the operating
/// system, which clears pages.
class KeptMemory final : public Allocator {
 public:
  ~KeptMemory() override {
    for (const Piece& piece : pieces_) default_allocator().deallocate(piece.at, piece.bytes, kAlignment);
  }
  void* allocate(size_t bytes, size_t alignment) override {
    if (alignment > kAlignment) return nullptr;
    for (Piece& piece : pieces_) {
      if (piece.is_used || piece.bytes < bytes || piece.bytes > 2 * bytes) continue;
      piece.is_used = true;
      return piece.at;
    }
    void* const at = default_allocator().allocate(bytes, kAlignment);
    if (at == nullptr) return nullptr;
    std::memset(at, 0, bytes);
    pieces_.push_back({at, bytes, true});
    return at;
  }
  void deallocate(void* pointer, size_t, size_t) override {
    for (Piece& piece : pieces_) {
      if (piece.at == pointer) piece.is_used = false;
    }
  }

 private:
  static constexpr size_t kAlignment = 64;
  struct Piece {
    void* at;
    size_t bytes;
    bool is_used;
  };
  std::vector<Piece> pieces_;
};

/// What this thread has worked so far: others that want the same core do not count. [s]
double worked() {
  timespec at{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return static_cast<double>(at.tv_sec) + 1e-9 * static_cast<double>(at.tv_nsec);
}

struct Game {
  KeptMemory memory;
  EntityTable table;
  EntityClassRegistry classes;
  SceneGraph graph;
  SceneRepresentation scene;
  World world;
  ArchetypeStore archetypes;
  MapWorld maps;

  Status init() {
    if (const Status s = table.init({}, memory); !s.ok()) return s;
    if (const Status s = graph.init({.descriptors = 100'000}, memory); !s.ok()) return s;
    if (const Status s = scene.init({.graph = &graph, .table = &table, .classes = &classes}); !s.ok()) return s;
    if (const Status s = world.init({.table = &table}, memory); !s.ok()) return s;
    if (const Status s = world.add_representation(scene); !s.ok()) return s;
    if (const Status s = archetypes.init({}, memory); !s.ok()) return s;
    return maps.init({.world = &world, .scene = &scene, .archetypes = &archetypes}, memory);
  }
};

NameHash type_name(uint32_t i) { return NameHash{0x1000u + i}; }

std::vector<test::TypeToMake> types() {
  std::vector<test::TypeToMake> out;
  for (uint32_t i = 0; i < kTypes; ++i) {
    ArchetypeTraits t;
    const float size = 1 + static_cast<float>(i % 10);
    t.box = {{-size, -size, 0}, {size, size, 2 * size}};
    t.sphere_radius = 2 * size;
    t.lod_distance = 60 + size * 10;
    out.push_back({type_name(i), t, 0});
  }
  return out;
}

/// A piece of a town: things that are turned about, each with a LOD parent; one in twenty stands for the others.
test::MapMaker town(uint32_t seed) {
  std::mt19937 random(seed);
  const auto number = [&](double low, double high) {
    return static_cast<float>(low + (high - low) * (static_cast<double>(random()) / 4294967296.0));
  };
  test::MapMaker out;
  out.name = NameHash{0x2000u + seed};
  constexpr uint32_t kParents = kEntities / 20;
  for (uint32_t i = 0; i < kEntities; ++i) {
    Vec3 at;
    for (float* v : {&at.x, &at.y, &at.z}) *v = number(-250, 250);
    schema::EntityDef e = test::plain_entity(type_name(static_cast<uint32_t>(random() % kTypes)), at);
    const double angle = static_cast<double>(number(0, 3.14159));
    e.mutable_rotation() =
        schema::Quat(0, 0, static_cast<float>(std::sin(angle / 2)), static_cast<float>(std::cos(angle / 2)));
    if (i < kEntities - kParents) {
      e.mutate_parent_index(static_cast<int32_t>(kEntities - 1 - random() % kParents));
      e.mutate_lod_level(schema::LodLevel::HD);
    } else {
      e.mutate_lod_level(schema::LodLevel::LOD);
      e.mutate_num_children(kEntities);
    }
    out.entities.push_back(e);
  }
  for (uint32_t i = kEntities - kParents; i < kEntities; ++i) out.lod_sets.push_back({i, 150});
  return out;
}

Game& game() {
  static const std::unique_ptr<Game> one = [] {
    auto made = std::make_unique<Game>();
    if (!made->init().ok() || !test::make_types(made->archetypes, kTypesSlot, types()).ok()) std::abort();
    return made;
  }();
  return *one;
}

const std::vector<test::MadeMap>& towns() {
  static const std::vector<test::MadeMap> all = [] {
    std::vector<test::MadeMap> out;
    for (uint32_t m = 0; m < kMaps; ++m) {
      const test::MapMaker maker = town(m);
      std::vector<const ArchetypeTraits*> archetypes;
      for (const schema::EntityDef& e : maker.entities) {
        archetypes.push_back(&game().archetypes.find(NameHash{e.archetype_name()})->traits());
      }
      out.push_back(maker.finish(archetypes));
      if (!out.back().status.ok()) std::abort();
    }
    return out;
  }();
  return all;
}

/// Loads the first maps and takes them away again, round after round; times one of the two. One map by itself is in the
/// cache, as one that was just read is.
void load_and_unload(benchmark::State& state, bool times_load, bool cooked, uint32_t maps = 1) {
  Game& in = game();
  const ItypSlot dependencies[] = {kTypesSlot};
  // Blocks are made while loading where the world's origin has moved.
  if (!cooked && !in.world.rebase({1, 0, 0}).ok()) state.SkipWithError("no rebase");
  std::vector<MapContents*> loaded(maps);
  for (auto _ : state) {
    const double start = worked();
    for (uint32_t m = 0; m < maps; ++m) {
      const Result<MapContents*> map =
          load_map_data(in.maps, towns()[m].resource, {.slot = m, .dependencies = dependencies});
      if (!map.ok()) return state.SkipWithError(map.status().message);
      loaded[m] = map.value();
    }
    const double middle = worked();
    for (MapContents* map : loaded) {
      if (map->created() != kEntities || map->used_cooked_blocks() != cooked)
        state.SkipWithError("not as it should be");
    }
    const double rest = worked();
    for (MapContents* map : loaded) {
      if (!unload_map_data(in.maps, *map).ok()) return state.SkipWithError("did not unload");
    }
    const double end = worked();
    state.SetIterationTime(times_load ? middle - start : end - rest);
  }
  if (!cooked && !in.world.rebase({-1, 0, 0}).ok()) state.SkipWithError("no rebase");
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * maps * kEntities);
}

void BM_map_load(benchmark::State& state) { load_and_unload(state, true, true); }
void BM_map_unload(benchmark::State& state) { load_and_unload(state, false, true); }
void BM_map_load_many(benchmark::State& state) { load_and_unload(state, true, true, kMaps); }
void BM_map_load_building_blocks(benchmark::State& state) { load_and_unload(state, true, false); }

/// Blocks of all maps into containers of a node that is not in the world, and the same bytes by memcpy, to memory that
/// is as cold.
void BM_map_blocks(benchmark::State& state) {
  SceneGraph& graph = game().graph;
  int64_t bytes = 0;
  for (auto _ : state) {
    StreamedNode* nodes[kMaps];
    for (StreamedNode*& node : nodes) node = graph.create_streamed();
    const double start = worked();
    for (uint32_t m = 0; m < kMaps; ++m) {
      const CookedView view = cooked_view(towns()[m].data());
      const Status added =
          graph.add_blocks(*nodes[m], {view.containers, view.sub_blocks, view.lanes, view.links, {1, 0}});
      if (!added.ok()) return state.SkipWithError(added.message);
      bytes += static_cast<int64_t>(view.lanes.size());
    }
    state.SetIterationTime(worked() - start);
    for (StreamedNode* node : nodes) {
      if (!graph.destroy(*node).ok()) return state.SkipWithError("not destroyed");
    }
  }
  state.SetBytesProcessed(bytes);
}
void BM_map_blocks_memcpy(benchmark::State& state) {
  std::vector<std::vector<std::byte>> to;
  for (const test::MadeMap& map : towns()) to.emplace_back(cooked_view(map.data()).lanes.size());
  int64_t bytes = 0;
  for (auto _ : state) {
    const double start = worked();
    for (uint32_t m = 0; m < kMaps; ++m) {
      const std::span<const std::byte> lanes = cooked_view(towns()[m].data()).lanes;
      std::memcpy(to[m].data(), lanes.data(), lanes.size());
      benchmark::ClobberMemory();
      bytes += static_cast<int64_t>(lanes.size());
    }
    state.SetIterationTime(worked() - start);
  }
  state.SetBytesProcessed(bytes);
}

BENCHMARK(BM_map_load)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_map_unload)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_map_load_many)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_map_load_building_blocks)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_map_blocks)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_map_blocks_memcpy)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  (void)towns();  // made before any clock runs
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
