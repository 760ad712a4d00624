// SPDX-License-Identifier: MIT
// Opens a compiled map and its type files, puts them into a world, asks three questions, and prints the answers.

#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meridian/meridian.h"
#include "meridian/schemas/resource_info_generated.h"

namespace {

using namespace meridian;  // NOLINT(google-build-using-namespace): a program of one file

/// Maps a file into memory, read-only. Empty if that cannot be, and says why. Pages begin at multiples of 4096, so the
/// bytes are aligned as open_resource wants them. They stay mapped until the program ends.
std::span<const std::byte> map_file(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  struct stat info {};
  const bool known = file >= 0 && ::fstat(file, &info) == 0;
  const bool has_bytes = known && S_ISREG(info.st_mode) && info.st_size > 0;
  const auto size = has_bytes ? static_cast<size_t>(info.st_size) : 0;
  void* const pages = has_bytes ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  const bool is_odd = known && !has_bytes;
  if (pages == MAP_FAILED) {
    std::fprintf(stderr, "hello_map: cannot read %s: %s\n", path, is_odd ? "empty, or no file" : std::strerror(errno));
  }
  if (file >= 0) ::close(file);
  if (pages == MAP_FAILED) return {};
  return {static_cast<const std::byte*>(pages), size};
}

/// What a program needs for a world: the parts, each of which can be had alone, and how they know of each other.
struct Game {
  EntityTable table;            // handles of entities
  EntityClassRegistry classes;  // what entities are made of
  SceneGraph graph;             // what jobs read
  SceneRepresentation scene;    // from entities to the graph
  World world;
  ArchetypeStore archetypes;
  MapWorld maps;  // from map files to entities

  Status init() {
    if (const Status s = table.init({}); !s.ok()) return s;
    if (const Status s = graph.init({}); !s.ok()) return s;
    if (const Status s = scene.init({.graph = &graph, .table = &table, .classes = &classes}); !s.ok()) return s;
    scene.set_search(&search_scene);
    if (const Status s = world.init({.table = &table}); !s.ok()) return s;
    if (const Status s = world.add_representation(scene); !s.ok()) return s;
    if (const Status s = archetypes.init({}); !s.ok()) return s;
    return maps.init({.world = &world, .scene = &scene, .archetypes = &archetypes});
  }
};

/// The texts behind hashes, from the tool data behind the payloads of files. A game would not need them; messages of the
/// runtime are easier to read with them.
class Names {
 public:
  Names() {
    set_name_lookup({[](void* self, NameHash name) { return static_cast<Names*>(self)->find(name); }, this});
  }
  ~Names() { set_name_lookup({}); }
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  void add(const Resource& resource) {
    if (!resource.info().empty()) infos_.push_back(schema::GetResourceInfo(resource.info().data()));
  }
  /// Empty where no file knows it: they may have been compiled without texts.
  std::string_view find(NameHash name) const {
    for (const schema::ResourceInfo* info : infos_) {
      const auto* const entry = info->names() != nullptr ? info->names()->LookupByKey(name.value) : nullptr;
      if (entry != nullptr) return entry->text()->string_view();
    }
    return {};
  }

 private:
  std::vector<const schema::ResourceInfo*> infos_;
};

/// Asks the world and prints what it says, ten entities at most.
void ask(Game& game, const char* question, const Volume& volume) {
  std::vector<EntityHandle> found(game.graph.capacities().descriptors);
  SearchResult result;
  const Status asked = game.world.search_now({.volume = volume}, found, result);
  if (!asked.ok()) return std::printf("%s %s\n", question, asked.message), void();
  std::printf("%s %u entities\n", question, result.found);
  for (uint32_t i = 0; i < result.stored && i < 10; ++i) {
    const Entity& entity = *game.table.get(found[i]);
    const Vec3 at = entity.position();
    std::printf("  %-36s at (%.2f, %.2f, %.2f) m\n", name_text(entity.archetype()->name()).text,
                static_cast<double>(at.x), static_cast<double>(at.y), static_cast<double>(at.z));
  }
  if (result.stored > 10) std::printf("  ... and %u more\n", result.stored - 10);
}

int fail(const char* path, const Status& why) {
  if (why.code == StatusCode::wrong_kind) {  // the kind is four letters
    const auto kind = static_cast<uint32_t>(why.detail);
    char letters[sizeof(kind) + 1] = {};
    std::memcpy(letters, &kind, sizeof(kind));
    std::fprintf(stderr, "hello_map: %s: its kind is %s; the map comes first, then its type files\n", path, letters);
    return 1;
  }
  std::fprintf(stderr, "hello_map: %s: %s (%" PRIu64 ")\n", path, why.message, why.detail);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: hello_map MAP.imap TYPES.ityp...\n"
                 "Puts a compiled map into a world, and asks what stands where. The types are those that it places.\n");
    return 2;
  }
  Names names;
  Game game;
  if (const Status s = game.init(); !s.ok()) return fail("the world", s);

  // What entities can be: each type file gets a slot, which a game's streaming would hand out.
  std::vector<ItypSlot> slots;
  for (int i = 2; i < argc; ++i) {
    const std::span<const std::byte> bytes = map_file(argv[i]);
    if (bytes.empty()) return 3;
    const Result<Resource> opened = open_resource(bytes, {.kind = kind_of("ITYP")});
    if (!opened.ok()) return fail(argv[i], opened.status());
    names.add(opened.value());
    const auto slot = static_cast<ItypSlot>(i);
    if (const Status s = load_map_types(game.archetypes, opened.value(), {.slot = slot}); !s.ok())
      return fail(argv[i], s);
    slots.push_back(slot);
  }

  // What stands where. From here on everything was checked: reading is pointer arithmetic in the mapped file.
  const std::span<const std::byte> bytes = map_file(argv[1]);
  if (bytes.empty()) return 3;
  const Result<Resource> opened = open_resource(bytes, {.kind = kind_of("IMAP")});
  if (!opened.ok()) return fail(argv[1], opened.status());
  names.add(opened.value());
  const Result<MapContents*> loaded = load_map_data(game.maps, opened.value(), {.slot = 1, .dependencies = slots});
  if (!loaded.ok()) return fail(argv[1], loaded.status());
  const MapContents& map = *loaded.value();
  std::printf("%u of %u entities, descriptors %s\n", map.created(), map.entity_count(),
              map.used_cooked_blocks() ? "as the linker made them" : "made while loading");

  // Readers may ask from any thread while the world is locked.
  game.world.lock();
  if (map.node() != nullptr) {
    const DescBounds& all = game.graph.node_bounds()[map.node()->index()];
    const Vec3 middle = (all.box_min + all.box_max) * 0.5f;
    ask(game, "Within 30 m of the middle:", sphere_volume(middle, 30));
    const Vec3 west{all.box_min.x, middle.y, middle.z}, east{all.box_max.x, middle.y, middle.z};
    ask(game, "On a line through it, from west to east:", segment_volume(west, east));
    const Vec3 ground{all.box_max.x, all.box_max.y, all.box_min.z + 1};
    ask(game, "In the lowest metre:", box_volume({all.box_min, ground}));
  }
  game.world.unlock();

  // The runtime goes on without what it cannot make, and has named each archetype that it lacks.
  const uint32_t left_out = map.entity_count() - map.created();
  if (left_out > 0) std::fprintf(stderr, "hello_map: %u entities are left out: is a type file missing?\n", left_out);

  const Status gone = unload_map_data(game.maps, *loaded.value());
  if (!gone.ok()) return fail(argv[1], gone);
  return left_out > 0 ? 1 : 0;
}
