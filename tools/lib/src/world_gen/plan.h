// SPDX-License-Identifier: MIT
#pragma once
/// What is known of a world before its contents are made: how it is cut into areas, how many of each thing an area
/// holds, all names and all archetypes. Immutable once made; any thread makes any area from it.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "meridian/schemas/ityp_generated.h"
#include "meridian/tools/world_gen.h"
#include "world_gen/geometry.h"
#include "world_gen/random.h"

namespace meridian::tools::world {

/// No map of high-detail entities holds more than this.
inline constexpr uint32_t kMaxEntitiesPerMap = 512;
/// LOD entities that share one SLOD1, and SLOD2 entities that share one SLOD3.
inline constexpr uint32_t kLodsPerSlod1 = 8, kSlod2PerSlod3 = 4;

/// All names of a world by hash. No two names have one hash: the later one is called otherwise.
class NameBook {
 public:
  /// A name for one thing, `wanted` or the like of it.
  uint32_t add(const std::string& wanted);
  /// A word that may be used many times, such as the name of a time-cycle modifier.
  uint32_t word(std::string_view text);
  /// Requires: `hash` came from this book.
  std::string_view text(uint32_t hash) const { return names_.find(hash)->second; }

 private:
  std::unordered_map<uint32_t, std::string> names_;
};

/// What an archetype is for.
enum class Role : uint8_t {
  lamp,
  grass,
  door,
  furniture,
  tree,
  timed,
  prop,
  rubble,  // shared by all areas
  building,
  tower,
  lod,
  slod1,
  slod2,
  slod3,
  slod4,
  interior,
  shell  // of one place
};

/// Archetypes that one file defines.
struct TypeFile {
  uint32_t name = 0;
  uint32_t first = 0, count = 0;  ///< archetypes
  uint32_t pack = 0;
};

/// One part of the world. Maps and archetypes are numbered through the whole world.
struct Area {
  uint32_t index = 0, region = 0;
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;  ///< [m]
  uint32_t entities = 0;                  ///< in all its maps
  uint32_t interior_first = 0, interiors = 0;
  uint32_t lods = 0;                 ///< one a lot, then one an interior
  uint32_t slod1 = 0;                ///< one for kLodsPerSlod1 LODs
  uint32_t linked = 0, orphans = 0;  ///< high-detail entities with and without a LOD
  uint32_t far_linked = 0;           ///< of `linked`, those that are seen from afar
  uint32_t stream_maps = 0, long_maps = 0;
  uint32_t map_first = 0;    ///< LOD, occluders, grass, distant lights, LOD lights, stream, long, interiors
  uint32_t types = 0;        ///< its type file
  uint32_t palette[3] = {};  ///< shared type files that it uses

  uint32_t lots() const { return lods - interiors; }
  uint32_t far_lots() const { return (lots() + 4) / 5; }  ///< each fifth lot is a tower
  uint32_t lod_map() const { return map_first; }
  uint32_t occluder_map() const { return map_first + 1; }
  uint32_t grass_map() const { return map_first + 2; }
  uint32_t distant_light_map() const { return map_first + 3; }
  uint32_t lod_light_map() const { return map_first + 4; }
  uint32_t stream_map(uint32_t i) const { return map_first + 5 + i; }
  uint32_t long_map(uint32_t i) const { return stream_map(stream_maps) + i; }
  uint32_t interior_map(uint32_t i) const { return long_map(long_maps) + i; }
  uint32_t maps() const { return 5 + stream_maps + long_maps + interiors; }
};

struct Region {
  uint32_t first = 0, count = 0;  ///< areas
  uint32_t slod3 = 0;
  uint32_t types = 0;
};

/// Words that stand for things outside the generated world, such as effects and population groups.
struct Words {
  std::vector<uint32_t> time_cycles, sounds, car_groups, car_models, scenarios, rooms, sets, expressions;
  uint32_t metal = 0, grass_collision[2] = {}, default_ladder = 0, limbo = 0;
};

struct Plan {
  WorldOptions options;
  std::vector<Area> areas;
  std::vector<Region> regions;
  std::vector<TypeFile> type_files;
  std::vector<schema::ArchetypeDef> archetypes;
  std::vector<Role> roles;         ///< of archetypes
  std::vector<uint32_t> maps;      ///< names: the world's, the regions', the areas'
  std::vector<std::string> packs;  ///< folders: "common", then one a region
  NameBook names;
  Words words;
  uint32_t first_shared = 0, shared_files = 0, first_area_file = 0, first_interior_file = 0;

  uint32_t world_map() const { return 0; }
  uint32_t region_map(uint32_t region) const { return 1 + region; }
  /// Height of the ground. [m]
  double ground(double x, double y) const;
  /// An archetype of a shared file. Requires: a role that is shared.
  uint32_t pick_shared(uint32_t file, Role role, Random& random) const;
  /// Archetypes [first, first + count) of an area's or region's own file that have the role.
  std::pair<uint32_t, uint32_t> own_range(uint32_t file, Role role) const;
  Bounds bounds_of(uint32_t archetype) const;
};

/// Counts and sizes of all areas, without their places. A text if the options do not fit together.
std::string count_areas(const WorldOptions& options, std::vector<Area>& areas, std::vector<Region>& regions);
/// Cuts the world's rectangle into the areas' rectangles: small ones where the cities are.
void lay_out(uint64_t seed, uint64_t maps, std::vector<Area>& areas);
/// Takes the names of the game configuration's pools, which are given, into the book.
void add_pool_names(NameBook& names);
/// Defines the archetypes of all type files. Requires: files and their counts are set.
void make_archetypes(Plan& plan);
/// Everything. Requires: check_world_options(options) is empty.
Plan make_plan(const WorldOptions& options);

}  // namespace meridian::tools::world
