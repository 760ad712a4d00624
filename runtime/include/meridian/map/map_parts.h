// SPDX-License-Identifier: MIT
#pragma once
/// What a compiled map holds beside its entities: occluders, LOD lights near and distant, car generators, time-cycle
/// boxes, grass, names of collision, and who exported it. All is read where it lies; nothing is copied.
///
///   const MapParts parts = map_parts(*map);
///   for (const CarGenerator& generator : parts.car_generators()) use(car_slot(generator).centre);
///   for (uint32_t i = 0; i < parts.occluder_mesh_count(); ++i)
///     if (const Result<OccluderMesh> mesh = parts.occluder_mesh(i); mesh.ok()) use(mesh.value().bounds);
///   if (const Result<LodLights> lights = parts.lod_lights(); lights.ok())
///     for (uint32_t i = 0; i < lights.value().count(); ++i)
///       if (lod_light(lights.value(), i).is_lit(21)) use(i);
///
/// Rows are as stored: quarter metres, 255ths, bits. The functions beside them give metres, radians and directions,
/// computed in double precision and rounded once. Places in the world take an WorldOrigin: what the host has moved its
/// world by, {} if it never does.
///
/// open_resource proves that rows lie inside the resource and that floats are finite, but not that arrays fit each
/// other. Where that matters a Result says so, and that one thing is left out.
///
/// Threads: immutable; a map's bytes must outlive all views of it.
/// Memory:  none.
/// Source:  own; members and their units are those of schemas/meridian/imap.fbs.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "meridian/base/flags.h"
#include "meridian/base/math.h"
#include "meridian/base/status.h"
#include "meridian/base/world_origin.h"

namespace meridian {

namespace schema {
struct MapData;
}

/// A colour as stored, 255 is full.
struct Rgb8 {
  uint8_t r = 0, g = 0, b = 0;
  friend constexpr bool operator==(const Rgb8&, const Rgb8&) = default;
};
/// Red, green and blue in [0, 1].
Vec3 color_of(Rgb8 color);

// --- the map itself ----------------------------------------------------------------------------------

struct MapHead {
  NameHash name;               ///< mostly the file's; grass maps carry that of the map that they belong to
  NameHash parent;             ///< 0 none
  uint32_t flags = 0;          ///< schema::MapFlags
  uint32_t content_flags = 0;  ///< schema::MapContentFlags
  Aabb streaming;              ///< a camera inside makes the map stream in; may be inside out [m]
  Aabb contents;               ///< may be inside out [m]
};

/// Who made a map, and when. Texts are as authored, empty where nothing was said.
struct BlockInfo {
  uint32_t version = 0, flags = 0;
  std::string_view name, exported_by, owner, time;
};

/// A parent link of a container; not known to be used by any map. Members are those of schema::ContainerLod.
struct ContainerLod {
  NameHash name;
  uint32_t parent_index = 0;  ///< as authored, not checked
};

// --- occluders ---------------------------------------------------------------------------------------

/// A box that hides what stands behind it. Members are those of schema::BoxOccluder.
struct BoxOccluder {
  int16_t center_x = 0, center_y = 0, center_z = 0;  ///< [1/4 m]
  int16_t cos_z = 0;                                 ///< y of the unit vector along the length [1/16384]
  int16_t length = 0, width = 0, height = 0;         ///< full sizes; 0 on one axis: a wall or a floor [1/4 m]
  int16_t sin_z = 0;                                 ///< x of the unit vector along the length [1/16384]
};

/// The same in metres: a right-handed frame, x along the width, y along the length, z up.
struct OccluderBox {
  Vec3 centre, x_axis, y_axis, z_axis;  ///< axes have length 1
  Vec3 half;                            ///< half extents along the axes, >= 0
  Vec3 corners[8];  ///< bit 0 of the index: at the far end of x, bit 1: of y, bit 2: of z; else at the near one
  Aabb bounds;      ///< around the corners before they were rounded; rounded outwards
};
/// Sine and cosine need not have length 1: what counts is where they point.
/// Errors: bad_value (a negative size; sine and cosine both 0).
Result<OccluderBox> occluder_box(const BoxOccluder& box, const WorldOrigin& offset = {});

/// A triangle of an occluder mesh.
struct MeshTriangle {
  uint8_t vertex[3] = {};
  friend constexpr bool operator==(const MeshTriangle&, const MeshTriangle&) = default;
};

/// A small mesh that hides what stands behind it. Checked: all indices are below vertex_count, all floats are finite.
struct OccluderMesh {
  Aabb bounds;                           ///< exactly around the vertices; zero without any [m]
  Aabb authored_bounds;                  ///< as stored, which may be anything [m]
  bool water_only = false;               ///< hides nothing but water
  uint32_t flags = 0;                    ///< schema::OccludeModelFlags
  std::span<const std::byte> vertices;   ///< three little-endian floats each, not aligned
  std::span<const std::byte> triangles;  ///< three vertex indices each

  uint32_t vertex_count() const { return static_cast<uint32_t>(vertices.size() / 12); }    ///< <= 256
  uint32_t triangle_count() const { return static_cast<uint32_t>(triangles.size() / 3); }  ///< <= 32767
  /// Requires: index < vertex_count(); otherwise zero.
  Vec3 vertex(uint32_t index) const;
  /// Requires: index < triangle_count(); otherwise all zero.
  MeshTriangle triangle(uint32_t index) const;
};

// --- LOD lights --------------------------------------------------------------------------------------

enum class LodLightFlag : uint32_t { street_light = 1u << 24, corona_only = 1u << 25, not_in_cutscene = 1u << 31 };

/// Other numbers are data that nobody knows the meaning of.
enum class LodLightType : uint8_t { none = 0, point = 1, spot = 2, capsule = 4 };

/// Lights that are drawn from afar in place of the real ones, one span an array, as stored. Light i stands where light
/// i of the parent map's DistantLights does.
struct LodLights {
  std::span<const Vec3> directions;           ///< unit vectors
  std::span<const float> falloffs;            ///< distance at which each ends [m]
  std::span<const float> falloff_exponents;   ///< how fast each fades
  std::span<const uint32_t> flags;            ///< bit h: lit in [h:00, h+1:00); LodLightFlag; LodLightType in 26 to 28
  std::span<const uint32_t> hashes;           ///< which real light each stands for, see lod_light_hash
  std::span<const uint8_t> inner_angles;      ///< [180/255 degree]
  std::span<const uint8_t> outer_angles;      ///< [180/255 degree]; of capsules the length [140/255 m]
  std::span<const uint8_t> corona_strengths;  ///< [32/255]
  uint32_t count() const { return static_cast<uint32_t>(hashes.size()); }
};

/// One of them in plain units.
struct LodLight {
  Vec3 direction;              ///< unit vector
  float falloff = 0;           ///< [m]
  float falloff_exponent = 0;  ///< how fast it fades with distance
  uint32_t hash = 0;           ///< see lod_light_hash
  uint32_t hours = 0;          ///< bit h: lit in [h:00, h+1:00); 24 bits
  Flags<LodLightFlag> flags;   ///< bits of LodLightFlag only
  LodLightType type = LodLightType::none;
  float inner_angle = 0;     ///< full brightness within [0, kPi] [rad]
  float outer_angle = 0;     ///< dark beyond; 0 for capsules [0, kPi] [rad]
  float capsule_length = 0;  ///< 0 for others [0, 140] [m]
  float corona = 0;          ///< brightness of the corona [0, 32]

  /// Requires: hour < 24; otherwise false.
  bool is_lit(uint32_t hour) const;
};
/// Requires: index < lights.count(); otherwise a light that is never lit.
LodLight lod_light(const LodLights& lights, uint32_t index);

enum class LightCategory : uint16_t { small = 0, medium = 1, large = 2 };

/// Places and colours of the lights of child maps, as stored.
struct DistantLights {
  std::span<const Vec3> positions;  ///< [m]
  std::span<const uint32_t> rgbi;   ///< blue in bits 0 to 7, green 8 to 15, red 16 to 23, intensity 24 to 31 [48/255]
  uint32_t street_light_count = 0;  ///< the first so many; may be more than there are
  LightCategory category = LightCategory::small;  ///< a number beyond the three is bad data, kept as it is
  uint32_t count() const { return static_cast<uint32_t>(positions.size()); }
};

/// One of them in plain units.
struct DistantLight {
  Vec3 position;        ///< [m]
  Rgb8 color;           ///< see color_of
  float intensity = 0;  ///< [0, 48]
  bool is_street_light = false;
};
/// Requires: index < lights.count(); otherwise a dark light.
DistantLight distant_light(const DistantLights& lights, uint32_t index, const WorldOrigin& offset = {});

/// How many lights of a map have a place in its parent: those that both know. Different counts are an author's slip.
uint32_t paired_light_count(const LodLights& lights, const DistantLights& of_parent);

/// The number by which a LOD light finds the real one: light `index` of an entity whose model fills `box` in the world,
/// as placed by the author. Counts tenths of a metre, multiplied in single precision and cut towards zero.
/// Requires: box is finite and within +- 2^31 tenths; beyond, the nearest limit counts, and for NaN 0.
/// Source:   Bob Jenkins, lookup3.c, 2006: hashword of min x, y, z, max x, y, z and index, initial value 0.
uint32_t lod_light_hash(const Aabb& box, uint32_t index);

// --- car generators ----------------------------------------------------------------------------------

enum class CarGeneratorFlag : uint32_t {
  force_spawn = 1u << 0,
  ignore_density = 1u << 1,
  police = 1u << 2,
  firetruck = 1u << 3,
  ambulance = 1u << 4,
  during_day = 1u << 5,
  at_night = 1u << 6,
  align_left = 1u << 7,
  align_right = 1u << 8,
  single_player = 1u << 9,
  network_player = 1u << 10,
  low_priority = 1u << 11,
  prevent_entry = 1u << 12,
};

/// Which vehicles a generator may make. 13 to 15 have no meaning.
enum class CreationRule : uint8_t {
  all = 0,
  only_sports = 1,
  no_sports = 2,
  only_big = 3,
  no_big = 4,
  only_bikes = 5,
  no_bikes = 6,
  only_delivery = 7,
  no_delivery = 8,
  boats = 9,
  only_poor = 10,
  no_poor = 11,
  can_be_broken_down = 12,
};

/// A parking slot that makes vehicles. Members are those of schema::CarGen.
struct CarGenerator {
  Vec3 position;                               ///< middle of the slot [m]
  Vec2 orient;                                 ///< heading, as long as the slot [m]
  float width = 0;                             ///< of the slot [m]
  NameHash model;                              ///< 0: one of vehicle_set
  Flags<CarGeneratorFlag> flags;               ///< unknown bits and the creation rule among them
  int32_t color_remaps[4] = {-1, -1, -1, -1};  ///< -1 any
  NameHash vehicle_set;                        ///< to take one from
  int8_t livery = -1;                          ///< -1 any
  uint8_t pad0 = 0;
  uint16_t pad1 = 0;

  constexpr CreationRule creation_rule() const { return static_cast<CreationRule>(flags.bits() >> 28); }
};

/// Where a vehicle is put. A generator without heading has zero directions and length.
struct CarSlot {
  Vec3 centre;
  Vec3 forward;                 ///< level, length 1: where the vehicle looks
  Vec3 right;                   ///< level, length 1: along the width
  float length = 0, width = 0;  ///< [m]
};
CarSlot car_slot(const CarGenerator& generator, const WorldOrigin& offset = {});

// --- time-cycle boxes --------------------------------------------------------------------------------

/// A box in which light and weather look different. Members are those of schema::TimeCycleModifier.
struct TimeCycleBox {
  NameHash name;            ///< of the modifier
  Aabb box;                 ///< see moved(); may be inside out [m]
  float percentage = 0;     ///< strength [0, 100] [%]
  float range = 0;          ///< over which it blends in around the box, presumably [>= 0] [m]
  uint32_t start_hour = 0;  ///< first hour at which it holds [0, 23] [h]
  uint32_t end_hour = 0;    ///< last hour at which it holds, that is until end_hour:59 [0, 23] [h]

  /// From the first to the last hour, over midnight where the last is the smaller one: {22, 3} are six hours.
  /// Requires: hour < 24; otherwise false.
  bool holds_at(uint32_t hour) const;
};

// --- instances ---------------------------------------------------------------------------------------

/// One tuft of a grass batch. Members are those of schema::GrassInstance.
struct GrassInstance {
  uint16_t position[3] = {};           ///< 0 the batch's smallest corner, 65535 its largest
  uint8_t normal_x = 0, normal_y = 0;  ///< of the ground's normal: value / 255 * 2 - 1
  Rgb8 color;                          ///< tint, see color_of
  uint8_t scale = 0;                   ///< 0 the batch's smallest, 255 its largest
  uint8_t ao = 0;                      ///< 255 is open sky
  uint8_t padding[3] = {};
};

/// Many instances of one plant inside one box.
struct GrassBatch {
  Aabb box;                       ///< that positions count in; zero if absent [m]
  float min_scale = 0.7f;         ///< of the smallest instance
  float max_scale = 1;            ///< of the largest instance
  float random_scale = 0.2f;      ///< random part of the size, of max_scale; the drawing side's to add
  NameHash archetype;             ///< the plant
  uint32_t lod_distance = 0;      ///< [m]
  float fade_start = 0;           ///< instances begin to thin out [m]
  float instance_fade_range = 0;  ///< part of the distance over which one instance fades [0, 1]
  float orient_to_terrain = 0;    ///< 0 upright, 1 along the normal [0, 1]
  std::span<const GrassInstance> instances;
};

/// A tuft in the world.
struct GrassTuft {
  Vec3 position;
  Vec3 normal;      ///< of the ground, length 1, never pointing down
  float scale = 0;  ///< before the random part
  float sky = 0;    ///< ambient occlusion, 1 is open sky [0, 1]
};
/// Requires: `instance` is one of the batch's.
GrassTuft grass_tuft(const GrassBatch& batch, const GrassInstance& instance, const WorldOrigin& offset = {});

// --- all of it ---------------------------------------------------------------------------------------

/// How many there are. Lights whose arrays do not fit count as none.
struct MapPartCounts {
  uint32_t container_lods = 0, box_occluders = 0, occluder_meshes = 0, physics_dictionaries = 0;
  uint32_t prop_lists = 0, grass_batches = 0, grass_instances = 0, time_cycle_boxes = 0, car_generators = 0;
  uint32_t lod_lights = 0, distant_lights = 0;
  friend bool operator==(const MapPartCounts&, const MapPartCounts&) = default;
};

/// A view of one map. What the map does not have is empty.
class MapParts {
 public:
  MapParts() = default;  ///< of a map without anything

  MapPartCounts counts() const;
  MapHead head() const;
  bool has_block() const;
  BlockInfo block() const;  ///< empty without one

  std::span<const ContainerLod> container_lods() const;
  std::span<const BoxOccluder> box_occluders() const;
  uint32_t occluder_mesh_count() const;
  /// Looks at every vertex and triangle, once for each call: keep the view.
  /// Requires: index < occluder_mesh_count(); otherwise not_found.
  /// Errors:   bad_structure (sizes do not fit, vertices are not floats), too_large (more than 256 vertices), bad_value
  ///           (a triangle uses a vertex that is not there, a vertex is not finite); detail = byte, vertex or triangle.
  Result<OccluderMesh> occluder_mesh(uint32_t index) const;

  /// Archetypes or files whose collision the map needs.
  std::span<const NameHash> physics_dictionaries() const;

  /// Errors: bad_structure (arrays differ in length; detail = the length of the one that differs from `hashes`).
  Result<LodLights> lod_lights() const;
  /// Errors: bad_structure (arrays differ in length; detail = the length of `rgbi`).
  Result<DistantLights> distant_lights() const;
  std::span<const CarGenerator> car_generators() const;
  std::span<const TimeCycleBox> time_cycle_boxes() const;

  NameHash instance_link() const;    ///< a map that instances are linked to; 0 in all known files
  uint32_t prop_list_count() const;  ///< prop lists have no members that are known; their number is all there is
  uint32_t grass_batch_count() const;
  /// Requires: index < grass_batch_count(); otherwise an empty batch.
  GrassBatch grass_batch(uint32_t index) const;

 private:
  friend MapParts map_parts(const schema::MapData& map);
  const schema::MapData* map_ = nullptr;
};

/// Requires: the map was opened by open_resource, or is trusted to be what it would have taken.
MapParts map_parts(const schema::MapData& map);

}  // namespace meridian
