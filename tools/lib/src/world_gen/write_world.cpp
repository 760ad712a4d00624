// SPDX-License-Identifier: MIT
// Makes the parts of a world in parallel and writes each file as soon as it is made.
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "meridian/tools/file_io.h"
#include "meridian/tools/resource_view.h"
#include "meridian/tools/world_gen.h"
#include "meridian/tools/world_index_writer.h"
#include "resource_builder.h"
#include "world_gen/map_maker.h"
#include "world_gen/pack_files.h"
#include "world_gen/plan.h"

namespace meridian::tools {
namespace {

using namespace world;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class WorldWriter {
 public:
  WorldWriter(const WorldOptions& options, const WorldRun& run) : run_(run), start_(Clock::now()) {
    plan_ = make_plan(options);
    maps_.resize(plan_.maps.size());
    file_count_ = plan_.maps.size() + plan_.type_files.size() + plan_.packs.size() + 1 + (run.compiled ? 1 : 0);
    if (run.compiled) index_.maps.resize(plan_.maps.size());
    result_.totals.plan_seconds = seconds_since(start_);
  }

  WorldResult write() {
    if (make_folders()) {
      const size_t threads = run_.jobs != 0 ? run_.jobs : std::max(1u, std::thread::hardware_concurrency());
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      tbb::task_arena arena(static_cast<int>(threads));
      // Areas, the regions above them, shared types. Areas first: they are the large ones.
      const size_t areas = plan_.areas.size(), regions = plan_.regions.size();
      arena.execute([&] {
        each(areas, [&](uint32_t a) { write_area(plan_.areas[a]); });
        each(regions, [&](uint32_t r) { write_region(r); });
        each(plan_.shared_files, [&](uint32_t f) { write_types(plan_.first_shared + f); });
        write_top();
        each(plan_.packs.size(), [&](uint32_t p) {
          put(plan_.packs[p] + "/_manifest", ".ymf", "YMFM", make_manifest(plan_, p, maps_), {});
        });
        if (!stopped_) put("gameconfig", "", "GCFG", make_game_config(plan_, find_peak(maps_)), {});
        if (!stopped_ && run_.compiled) write_index();
      });
    }
    finish_totals();
    return std::move(result_);
  }

 private:
  bool make_folders() {
    for (const std::string& pack : plan_.packs)
      for (const char* part : {"/maps/x", "/types/x"})
        if (const int error = create_parent_folders(run_.folder + "/" + pack + part); error != 0) {
          fail(run_.folder + "/" + pack, "cannot make the folder: " + error_text(error));
          return false;
        }
    return true;
  }

  template <class Step>
  void each(size_t count, Step&& step) {
    tbb::parallel_for(size_t{0}, count, [&](size_t i) {
      if (run_.cancel != nullptr && run_.cancel->load(std::memory_order_relaxed)) stopped_ = cancelled_ = true;
      if (!stopped_) step(static_cast<uint32_t>(i));
    });
  }

  std::string folder_of_region(uint32_t region) const { return plan_.packs[1 + region]; }

  void write_area(const Area& area) {
    const std::string folder = folder_of_region(area.region);
    make_area(plan_, area, sink(folder));
    write_types(area.types);
    for (uint32_t i = 0; i < area.interiors; ++i)  // what stands inside is of the area's first palette
      write_types(plan_.first_interior_file + area.interior_first + i, {plan_.type_files[area.palette[0]].name});
  }

  void write_region(uint32_t region) {
    make_region(plan_, region, sink(folder_of_region(region)));
    write_types(plan_.regions[region].types);
  }

  void write_top() {
    if (stopped_) return;
    make_world_map(plan_, sink(plan_.packs[0]));
    write_types(0);
  }

  MapSink sink(const std::string& folder) {
    return [this, folder](TableMaker&& root, MapSummary&& summary) {
      const uint32_t map = summary.map;
      put(folder + "/maps/" + std::string(plan_.names.text(plan_.maps[map])), ".ymap", "IMAP", std::move(root),
          [&](std::span<const uint8_t> bytes) { add_to_index(summary, bytes); });
      maps_[map] = std::move(summary);  // no two threads have one map
    };
  }

  void write_types(uint32_t file, std::vector<uint32_t> needs = {}) {
    const TypeFile& types = plan_.type_files[file];
    InteriorCounts counts;
    TableMaker root = make_type_file(plan_, file, counts);
    put(plan_.packs[types.pack] + "/types/" + std::string(plan_.names.text(types.name)), ".ytyp", "ITYP",
        std::move(root), [&](std::span<const uint8_t> bytes) { add_to_index(types, bytes, std::move(needs)); });
    const std::lock_guard lock(mutex_);
    result_.totals.interior_entities += counts.entities;
    result_.totals.portals += counts.portals;
    result_.totals.extensions += counts.extensions;
  }

  void add_to_index(const MapSummary& summary, std::span<const uint8_t> bytes) {
    WorldIndexMap& map = index_.maps[summary.map];  // no two threads have one map
    map.slot = map_slot(*flatbuffers::GetRoot<schema::MapData>(bytes.data()), NameHash{plan_.maps[summary.map]},
                        static_cast<uint32_t>(bytes.size()));
    for (const uint32_t file : summary.type_files) map.types.push_back(plan_.type_files[file].name);
  }

  void add_to_index(const TypeFile& file, std::span<const uint8_t> bytes, std::vector<uint32_t> needs) {
    const std::lock_guard lock(mutex_);
    add_types(index_, *flatbuffers::GetRoot<schema::MapTypes>(bytes.data()), NameHash{file.name},
              static_cast<uint32_t>(bytes.size()), false, [](uint32_t, bool) { return true; });
    index_.types.back().types = std::move(needs);
  }

  void write_index() {
    for (const WorldIndexMap& m : index_.maps) add_name(m.slot.name);
    for (const WorldIndexTypes& t : index_.types) add_name(t.slot.name);
    for (const WorldIndexArchetype& a : index_.archetypes) add_name(a.row.name);
    std::vector<uint8_t> bytes;
    std::string error;
    const std::string target = run_.folder + "/world.widx";
    if (!build_world_index(std::move(index_), bytes, error)) return fail(target, error);
    store(target, bytes);
  }

  void add_name(NameHash name) { index_.names.emplace_back(name.value, plan_.names.text(name.value)); }

  using OnBuilt = std::function<void(std::span<const uint8_t> bytes)>;

  /// Builds the resource, as its compiler would, and writes it or the XML that it would come from. `on_built` gets what
  /// is written, if that is the resource.
  void put(const std::string& path, const char* source_extension, const char (&kind)[5], TableMaker&& maker,
           const OnBuilt& on_built) {
    if (stopped_) return;
    const Binding& binding = *Binding::builtin(kind_of(kind));
    TableValue root = std::move(maker).take();
    std::vector<NameUse> names;
    for (const uint32_t hash : names_in(root)) names.push_back({hash, std::string(plan_.names.text(hash)), 0});
    const BuildResult built = build_resource(root, binding, names, {});
    const std::string target =
        run_.folder + "/" + path + (run_.compiled ? "." + binding.extension() : std::string(source_extension) + ".xml");
    if (built.bytes.empty())
      return fail(target, "needs " + std::to_string(built.too_large) + " bytes, more than a resource holds");
    if (run_.compiled) {
      if (on_built) on_built(built.bytes);
      return store(target, built.bytes);
    }
    LoadedResource loaded;
    std::string error;
    if (!view_resource(target, built.bytes, {}, loaded, error)) return fail(target, error);
    const std::string text = dump_xml(loaded);
    store(target, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }

  void store(const std::string& target, std::span<const uint8_t> bytes) {
    const WriteResult written = write_file(target, bytes, WriteMode::if_changed);
    if (written.outcome == WriteOutcome::failed) return fail(target, "cannot write: " + error_text(written.error));
    const std::lock_guard lock(mutex_);
    ++result_.totals.files;
    if (written.outcome == WriteOutcome::unchanged) ++result_.totals.unchanged;
    result_.totals.bytes += bytes.size();
    if (run_.on_file) run_.on_file(target, file_count_);
  }

  void fail(const std::string& path, std::string message) {
    const std::lock_guard lock(mutex_);
    if (result_.error.empty()) {
      result_.error = std::move(message);
      result_.error_path = path;
    }
    stopped_ = true;
  }

  void finish_totals() {
    WorldTotals& t = result_.totals;
    t.areas = plan_.areas.size();
    t.maps = plan_.maps.size();
    t.type_files = plan_.type_files.size();
    t.archetypes = plan_.archetypes.size();
    t.interiors = plan_.options.interiors;
    for (const MapSummary& m : maps_) {
      t.entities += m.entities;
      t.extensions += m.extensions;
      t.car_generators += m.car_generators;
      t.lod_lights += m.lod_lights;
      t.grass_instances += m.grass_instances;
      t.occluders += m.occluders;
    }
    t.total_seconds = seconds_since(start_);
    result_.cancelled = cancelled_;
  }

  const WorldRun& run_;
  Clock::time_point start_;
  Plan plan_;
  std::vector<MapSummary> maps_;
  WorldIndexInput index_;
  uint64_t file_count_ = 0;
  std::mutex mutex_;
  std::atomic<bool> stopped_{false}, cancelled_{false};
  WorldResult result_;
};

struct Preset {
  std::string_view name;
  WorldOptions options;
};

constexpr std::array<Preset, 4> kPresets = {{
    {"small", {1, 12, 1200, 160, 2}},
    {"city", {1, 300, 60000, 3000, 20}},
    {"gta", {1, 8000, 1200000, 30000, 400}},
    {"huge", {1, 100000, 20000000, 150000, 3000}},
}};
constexpr std::array<std::string_view, kPresets.size()> kPresetNames = {"small", "city", "gta", "huge"};

}  // namespace

std::span<const std::string_view> world_presets() { return kPresetNames; }

std::optional<WorldOptions> world_preset(std::string_view name) {
  for (const Preset& preset : kPresets)
    if (preset.name == name) return preset.options;
  return std::nullopt;
}

std::string check_world_options(const WorldOptions& options) {
  std::vector<Area> areas;
  std::vector<Region> regions;
  return count_areas(options, areas, regions);
}

WorldResult write_world(const WorldOptions& options, const WorldRun& run) { return WorldWriter(options, run).write(); }

}  // namespace meridian::tools
