// SPDX-License-Identifier: MIT
#pragma once
/// Names that the examples in public headers leave open: the caller's bytes, packs, maps. Declared, never defined; the
/// examples are compiled and not linked.

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "meridian/meridian.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"

using namespace meridian;  // NOLINT(google-build-using-namespace): examples are written for readers inside it

extern std::span<const std::byte> bytes, mapped_file, schema_of_file, current_schema;
extern std::span<std::byte> memory;
extern Allocator& allocator;
extern const Pack& pack;
extern const PackEntry* entry;
extern const WorldIndex& world;
extern const Vec3 camera, position;
extern const Transform camera_to_world;
extern const Aabb room;
extern std::span<const Vec3> points, other_points;
extern std::span<const PlacedBox> placed_boxes;
extern std::vector<float> distances, brightness;
extern JobSystem& jobs;
extern EntryDecompressor& decompressor;
Status make_town(PackKey key, Allocator& memory, std::span<std::byte>& out);
extern const schema::ArchetypeDef& definition;
extern const schema::EntityDef& entity;
extern const schema::MapData* map;
extern const Resource& resource;
extern std::vector<const ArchetypeTraits*> archetypes;
extern std::vector<LodParent> parents;
extern std::span<std::byte> scratch;
extern BlockSpans blocks;
extern uint32_t entity_flags, archetype_flags;
extern std::span<const uint64_t> resident_bits;
extern SceneGraph& scene;
extern EntityTable& table;
extern EntityClassRegistry& classes;
extern MapWorld& maps;
extern MapContents* town;
extern const InteriorLocation bank_door;
extern const EntityHandle handle;
extern const EntityDesc desc;
extern const Resource& props;
extern Entity& lamp;
extern OccluderSet& occluders;
extern Scan& scan;
extern ScanCursor cursor;
extern SceneGraph& graph;
extern LodSetTable& sets;
extern const CullShape &gbuffer, &shadows;
extern const Vec3 right, forward, up;
extern const ViewLens lens;
extern const Transform at;
extern WorldStreaming& streaming;
extern WorldLayers& layers;
extern StreamingEngine& engine;
extern MapTypesStore& types;
extern MapStore& map_store;
extern MapWorld& map_world;
extern ArchetypeStore& store;
extern ResourceMounts& mounts;
extern StreamIo& io;
extern std::span<const StreamSource> sources;
extern const Aabb town_square;
extern const Vec3 eye, speed;
extern const MountId mount, base;
extern const float seconds;
extern std::span<const std::byte> saved;
void draw();
void draw(std::span<const PvsEntry> block);
void draw(EntityHandle seen, uint32_t alpha);
void keep_models(EntityHandle wanted);
void grow_pvs(uint32_t entries);
void save(std::span<const std::byte> record);
void show(const StreamWhy& why);
void tell(const Explanation& why);
void load_soon(const Aabb& range);
/// A host's own pool of threads.
struct ThreadPool {
  uint32_t thread_count() const;
  template <class Task>
  void post(Task) {}
};
template <class T>
void use(const T& value);
void request(const MapSlot& map);
void request_types(NameHash types);
