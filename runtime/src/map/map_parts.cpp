// SPDX-License-Identifier: MIT
#include "meridian/map/map_parts.h"

#include <cstring>

#include "meridian/base/assert.h"
#include "meridian/schemas/imap_generated.h"
#include "resource/flat_vector.h"

namespace meridian {
namespace {

using detail::records;
using detail::size_of;

// Rows are read where they lie, as the structs of the header. That members follow each other in the schema's order is
// what the test proves, by values.
static_assert(sizeof(NameHash) == sizeof(uint32_t) && sizeof(Flags<CarGeneratorFlag>) == sizeof(uint32_t));
static_assert(offsetof(BoxOccluder, cos_z) == 6 && offsetof(BoxOccluder, sin_z) == 14);
static_assert(offsetof(CarGenerator, orient) == 12 && offsetof(CarGenerator, model) == 24 &&
              offsetof(CarGenerator, color_remaps) == 32 && offsetof(CarGenerator, livery) == 52);
static_assert(offsetof(TimeCycleBox, box) == 4 && offsetof(TimeCycleBox, percentage) == 28 &&
              offsetof(TimeCycleBox, end_hour) == 40);
static_assert(offsetof(GrassInstance, normal_x) == 6 && offsetof(GrassInstance, color) == 8 &&
              offsetof(GrassInstance, ao) == 12);

static_assert(static_cast<uint32_t>(LodLightFlag::street_light) ==
                  static_cast<uint32_t>(schema::LodLightFlags::street_light) &&
              static_cast<uint32_t>(LodLightFlag::corona_only) ==
                  static_cast<uint32_t>(schema::LodLightFlags::corona_only) &&
              static_cast<uint32_t>(LodLightFlag::not_in_cutscene) ==
                  static_cast<uint32_t>(schema::LodLightFlags::not_in_cutscene));
static_assert(
    static_cast<uint32_t>(LodLightType::point) << 26 == static_cast<uint32_t>(schema::LodLightFlags::type_point) &&
    static_cast<uint32_t>(LodLightType::spot) << 26 == static_cast<uint32_t>(schema::LodLightFlags::type_spot) &&
    static_cast<uint32_t>(LodLightType::capsule) << 26 == static_cast<uint32_t>(schema::LodLightFlags::type_capsule));
static_assert(static_cast<uint32_t>(LightCategory::large) ==
              static_cast<uint32_t>(schema::LodLightCategory::large_lights));
static_assert(static_cast<uint32_t>(CarGeneratorFlag::prevent_entry) ==
                  static_cast<uint32_t>(schema::CarGenFlags::prevent_entry) &&
              static_cast<uint32_t>(schema::CarGenFlags::creation_rule_bit_0) == 1u << 28 &&
              static_cast<uint32_t>(CreationRule::can_be_broken_down) ==
                  static_cast<uint32_t>(schema::CarGenCreationRule::can_be_broken_down));

constexpr uint32_t kVertexBytes = 3 * sizeof(float);
constexpr uint32_t kMaxMeshVertices = 256;     // what an index of one byte reaches
constexpr uint32_t kFloatVertices = 1u << 15;  // bit of num_tris

/// A vector of numbers, as they are or as strong types of the same size.
template <class To, class From>
std::span<const To> numbers(const flatbuffers::Vector<From>* vector) {
  static_assert(sizeof(To) == sizeof(From) && alignof(To) == alignof(From));
  if (vector == nullptr) return {};
  return {reinterpret_cast<const To*>(vector->data()), vector->size()};
}

template <class Point>
Vec3 point_of(const Point* p) {
  return p == nullptr ? Vec3{} : Vec3{p->x(), p->y(), p->z()};
}

std::string_view text_of(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view{} : std::string_view{text->c_str(), text->size()};
}

Vec3 load_vertex(std::span<const std::byte> vertices, uint32_t index) {
  float v[3];
  std::memcpy(v, vertices.data() + size_t{index} * kVertexBytes, sizeof(v));
  return {v[0], v[1], v[2]};
}

/// Everything about vertices and triangles that readers of an OccluderMesh rely on.
Status check_mesh(const OccluderMesh& mesh) {
  for (uint32_t i = 0; i < mesh.vertex_count(); ++i)
    if (!is_finite(load_vertex(mesh.vertices, i)))
      return {StatusCode::bad_value, "occluder mesh has a vertex that is not finite; detail = vertex", i};
  for (size_t i = 0; i < mesh.triangles.size(); ++i)
    if (static_cast<uint32_t>(mesh.triangles[i]) >= mesh.vertex_count())
      return {StatusCode::bad_value, "occluder mesh uses a vertex that is not there; detail = triangle", i / 3};
  return {};
}

}  // namespace

Vec3 OccluderMesh::vertex(uint32_t index) const {
  MERIDIAN_ASSERT(index < vertex_count(), "a vertex's index is below vertex_count()");
  return index < vertex_count() ? load_vertex(vertices, index) : Vec3{};
}

MeshTriangle OccluderMesh::triangle(uint32_t index) const {
  MERIDIAN_ASSERT(index < triangle_count(), "a triangle's index is below triangle_count()");
  MeshTriangle out;
  if (index < triangle_count()) std::memcpy(out.vertex, triangles.data() + size_t{index} * 3, sizeof(out.vertex));
  return out;
}

MapParts map_parts(const schema::MapData& map) {
  MapParts out;
  out.map_ = &map;
  return out;
}

MapPartCounts MapParts::counts() const {
  MapPartCounts out;
  if (map_ == nullptr) return out;
  out.container_lods = size_of(map_->container_lods());
  out.box_occluders = size_of(map_->box_occluders());
  out.occluder_meshes = occluder_mesh_count();
  out.physics_dictionaries = size_of(map_->physics_dictionaries());
  out.prop_lists = prop_list_count();
  out.grass_batches = grass_batch_count();
  for (uint32_t i = 0; i < out.grass_batches; ++i)
    out.grass_instances += size_of(map_->instanced_data()->grass_instance_list()->Get(i)->instance_list());
  out.time_cycle_boxes = size_of(map_->time_cycle_modifiers());
  out.car_generators = size_of(map_->car_generators());
  if (const Result<LodLights> lights = lod_lights(); lights.ok()) out.lod_lights = lights.value().count();
  if (const Result<DistantLights> lights = distant_lights(); lights.ok()) out.distant_lights = lights.value().count();
  return out;
}

MapHead MapParts::head() const {
  MapHead out;
  if (map_ == nullptr) return out;
  out.name = NameHash{map_->name()};
  out.parent = NameHash{map_->parent()};
  out.flags = static_cast<uint32_t>(map_->flags());
  out.content_flags = static_cast<uint32_t>(map_->content_flags());
  out.streaming = {point_of(map_->streaming_extents_min()), point_of(map_->streaming_extents_max())};
  out.contents = {point_of(map_->entities_extents_min()), point_of(map_->entities_extents_max())};
  return out;
}

bool MapParts::has_block() const { return map_ != nullptr && map_->block() != nullptr; }

BlockInfo MapParts::block() const {
  if (!has_block()) return {};
  const schema::BlockDesc& block = *map_->block();
  return {block.version(),        block.flags(),        text_of(block.name()), text_of(block.exported_by()),
          text_of(block.owner()), text_of(block.time())};
}

std::span<const ContainerLod> MapParts::container_lods() const {
  return map_ == nullptr ? std::span<const ContainerLod>{} : records<ContainerLod>(map_->container_lods());
}
std::span<const BoxOccluder> MapParts::box_occluders() const {
  return map_ == nullptr ? std::span<const BoxOccluder>{} : records<BoxOccluder>(map_->box_occluders());
}
std::span<const NameHash> MapParts::physics_dictionaries() const {
  return map_ == nullptr ? std::span<const NameHash>{} : numbers<NameHash>(map_->physics_dictionaries());
}
std::span<const CarGenerator> MapParts::car_generators() const {
  return map_ == nullptr ? std::span<const CarGenerator>{} : records<CarGenerator>(map_->car_generators());
}
std::span<const TimeCycleBox> MapParts::time_cycle_boxes() const {
  return map_ == nullptr ? std::span<const TimeCycleBox>{} : records<TimeCycleBox>(map_->time_cycle_modifiers());
}

uint32_t MapParts::occluder_mesh_count() const { return map_ == nullptr ? 0 : size_of(map_->occlude_models()); }

Result<OccluderMesh> MapParts::occluder_mesh(uint32_t index) const {
  MERIDIAN_ASSERT(index < occluder_mesh_count(), "a mesh's index is below occluder_mesh_count()");
  if (index >= occluder_mesh_count())
    return Status{StatusCode::not_found, "no such occluder mesh; detail = index", index};
  const schema::OccludeModel& model = *map_->occlude_models()->Get(index);
  const std::span<const std::byte> bytes = numbers<std::byte>(model.verts());
  const uint32_t vertex_bytes = model.num_verts_in_bytes(), triangles = model.num_tris() & (kFloatVertices - 1);
  if ((model.num_tris() & kFloatVertices) == 0)
    return Status{StatusCode::bad_structure, "occluder mesh's vertices are not floats; detail = its num_tris",
                  model.num_tris()};
  if (model.data_size() != bytes.size() || vertex_bytes % kVertexBytes != 0 ||
      vertex_bytes + 3 * triangles != bytes.size())
    return Status{StatusCode::bad_structure, "occluder mesh's sizes do not fit its data; detail = bytes of data",
                  bytes.size()};
  if (vertex_bytes / kVertexBytes > kMaxMeshVertices)
    return Status{StatusCode::too_large, "occluder mesh has more than 256 vertices; detail = vertices",
                  vertex_bytes / kVertexBytes};

  OccluderMesh out;
  out.vertices = bytes.first(vertex_bytes);
  out.triangles = bytes.subspan(vertex_bytes);
  out.flags = static_cast<uint32_t>(model.flags());
  out.water_only = (out.flags & static_cast<uint32_t>(schema::OccludeModelFlags::water_only)) != 0;
  out.authored_bounds = {point_of(model.bmin()), point_of(model.bmax())};
  if (const Status status = check_mesh(out); !status.ok()) return status;
  for (uint32_t i = 0; i < out.vertex_count(); ++i) {
    const Vec3 v = load_vertex(out.vertices, i);
    out.bounds = i == 0 ? Aabb{v, v} : Aabb{min(out.bounds.min, v), max(out.bounds.max, v)};
  }
  return out;
}

Result<LodLights> MapParts::lod_lights() const {
  LodLights out;
  if (map_ == nullptr || map_->lod_lights_soa() == nullptr) return out;
  const schema::LodLightsSoa& soa = *map_->lod_lights_soa();
  out.directions = records<Vec3>(soa.direction());
  out.falloffs = numbers<float>(soa.falloff());
  out.falloff_exponents = numbers<float>(soa.falloff_exponent());
  out.flags = numbers<uint32_t>(soa.time_and_state_flags());
  out.hashes = numbers<uint32_t>(soa.hash());
  out.inner_angles = numbers<uint8_t>(soa.cone_inner_angle());
  out.outer_angles = numbers<uint8_t>(soa.cone_outer_angle_or_cap_ext());
  out.corona_strengths = numbers<uint8_t>(soa.corona_intensity());
  for (const size_t size : {out.directions.size(), out.falloffs.size(), out.falloff_exponents.size(), out.flags.size(),
                            out.inner_angles.size(), out.outer_angles.size(), out.corona_strengths.size()}) {
    if (size != out.hashes.size())
      return Status{StatusCode::bad_structure, "arrays of LOD lights differ in length; detail = one of the lengths",
                    size, NameHash{map_->name()}};
  }
  return out;
}

Result<DistantLights> MapParts::distant_lights() const {
  DistantLights out;
  if (map_ == nullptr || map_->distant_lod_lights_soa() == nullptr) return out;
  const schema::DistantLodLightsSoa& soa = *map_->distant_lod_lights_soa();
  out.positions = records<Vec3>(soa.position());
  out.rgbi = numbers<uint32_t>(soa.rgbi());
  out.street_light_count = soa.num_street_lights();
  out.category = static_cast<LightCategory>(soa.category());
  if (out.rgbi.size() != out.positions.size())
    return Status{StatusCode::bad_structure, "arrays of distant LOD lights differ in length; detail = colours",
                  out.rgbi.size(), NameHash{map_->name()}};
  return out;
}

NameHash MapParts::instance_link() const {
  if (map_ == nullptr || map_->instanced_data() == nullptr) return {};
  return NameHash{map_->instanced_data()->imap_link()};
}

uint32_t MapParts::prop_list_count() const {
  if (map_ == nullptr || map_->instanced_data() == nullptr) return 0;
  return size_of(map_->instanced_data()->prop_instance_list());
}

uint32_t MapParts::grass_batch_count() const {
  if (map_ == nullptr || map_->instanced_data() == nullptr) return 0;
  return size_of(map_->instanced_data()->grass_instance_list());
}

GrassBatch MapParts::grass_batch(uint32_t index) const {
  MERIDIAN_ASSERT(index < grass_batch_count(), "a batch's index is below grass_batch_count()");
  GrassBatch out;
  if (index >= grass_batch_count()) return out;
  const schema::GrassInstanceListDef& batch = *map_->instanced_data()->grass_instance_list()->Get(index);
  if (const schema::Box* const box = batch.batch_aabb()) out.box = {point_of(&box->min()), point_of(&box->max())};
  if (const schema::Vec3* const range = batch.scale_range()) {
    out.min_scale = range->x();
    out.max_scale = range->y();
    out.random_scale = range->z();
  }
  out.archetype = NameHash{batch.archetype_name()};
  out.lod_distance = batch.lod_dist();
  out.fade_start = batch.lod_fade_start_dist();
  out.instance_fade_range = batch.lod_inst_fade_range();
  out.orient_to_terrain = batch.orient_to_terrain();
  out.instances = records<GrassInstance>(batch.instance_list());
  return out;
}

}  // namespace meridian
