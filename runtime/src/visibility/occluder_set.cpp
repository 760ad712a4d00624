// SPDX-License-Identifier: MIT
#include "meridian/visibility/occluder_set.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "base/double3.h"
#include "meridian/base/assert.h"

namespace meridian {
namespace {

constexpr uint32_t kNone = 0xFFFFFFFF;
constexpr uint32_t kMaxVertices = 256;

Double3 times(const Vec3& axis, float half) { return Double3(axis) * static_cast<double>(half); }

/// Rounded up, and a little more: what is computed from it in double precision stays inside.
float radius_around(double squared) { return round_up(std::sqrt(squared) * (1 + 0x1p-40)); }

/// Whether each edge is one of an even number of triangles: a bit an edge, the other way each time that it comes.
bool is_closed_mesh(std::span<const uint8_t> triangles) {
  uint64_t odd[kMaxVertices][kMaxVertices / 64] = {};
  for (size_t i = 0; i + 2 < triangles.size(); i += 3) {
    for (size_t side = 0; side < 3; ++side) {
      const auto [low, high] = std::minmax(triangles[i + side], triangles[i + (side + 1) % 3]);
      odd[low][high / 64] ^= uint64_t{1} << (high % 64);
    }
  }
  for (const auto& row : odd) {
    for (const uint64_t bits : row) {
      if (bits != 0) return false;
    }
  }
  return !triangles.empty();
}

size_t mesh_bytes(uint32_t vertices, uint32_t triangles) {
  return size_t{vertices} * sizeof(Vec3) + size_t{triangles} * 3;
}

}  // namespace

const char* to_string(OccluderKind kind) { return kind == OccluderKind::box ? "box" : "mesh"; }

OccluderSet::~OccluderSet() {
  if (allocator_ == nullptr) return;
  MERIDIAN_ASSERT(!is_held(), "a set of occluders outlives who draws it");
  while (count_ > 0) remove_at(count_ - 1);
  allocator_->deallocate(occluders_, block_bytes_, alignof(Occluder));
}

Status OccluderSet::init(const OccluderSetConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(allocator_ == nullptr, "a set of occluders is made once");
  if (allocator_ != nullptr) return {StatusCode::in_use, "the set of occluders was made before", 0};
  if (config.occluders == 0 || config.imap_slots == 0) {
    return {StatusCode::bad_value, "a set of occluders without room", 0};
  }
  const size_t slots_at = size_t{config.occluders} * sizeof(Occluder);
  const size_t bytes = slots_at + size_t{config.imap_slots} * sizeof(uint32_t);
  if (config.mesh_bytes > 0) {
    const size_t region = std::max(size_t{config.mesh_bytes}, RegionAllocator::kMinBytes);
    const Status s =
        meshes_.init({.name = config.name, .bytes = region, .allocator = &allocator, .tracker = config.tracker});
    if (!s.ok()) return s;
  }
  void* const block = allocator.allocate(bytes, alignof(Occluder));
  if (block == nullptr) {
    return {StatusCode::out_of_memory, "no memory for occluders; detail = bytes", bytes};
  }
  occluders_ = new (block) Occluder[config.occluders];
  first_ = new (static_cast<std::byte*>(block) + slots_at) uint32_t[config.imap_slots];
  std::fill_n(first_, config.imap_slots, kNone);
  allocator_ = &allocator;
  block_bytes_ = bytes;
  name_ = config.name;
  capacity_ = config.occluders;
  imap_slots_ = config.imap_slots;
  return {};
}

Status OccluderSet::check(const OccluderId& id) const {
  MERIDIAN_ASSERT(!is_held(), "occluders don't change while a buffer draws them");
  if (is_held()) return {StatusCode::in_use, "occluders are being drawn; detail = slot of the map", id.imap};
  if (id.imap >= imap_slots_) {
    return {StatusCode::bad_value, "a map's slot beyond those of the set of occluders; detail = slot", id.imap};
  }
  return {};
}

Status OccluderSet::full(const OccluderId& id, const char* what) {
  ++left_out_;
  if (!is_full_told_) {
    log_message(LogLevel::warning, {}, "%s: no room for %s: %s %u of the map in slot %u and others hide nothing", name_,
                what, to_string(id.kind), id.index, id.imap);
  }
  is_full_told_ = true;
  return {StatusCode::out_of_slots, "no room for an occluder; detail = its index", id.index};
}

Occluder& OccluderSet::append(const OccluderId& id) {
  Occluder& out = occluders_[count_];
  out = Occluder();
  out.id = id;
  out.next = first_[id.imap];
  out.previous = kNone;
  if (out.next != kNone) occluders_[out.next].previous = count_;
  first_[id.imap] = count_++;
  return out;
}

void OccluderSet::remove_at(uint32_t index) {
  Occluder& out = occluders_[index];
  if (out.vertices != nullptr) {
    // The block is the set's own, and as long as it was asked for.
    auto* const block = const_cast<Vec3*>(out.vertices);
    meshes_.deallocate(block, mesh_bytes(out.vertex_count, out.triangle_count), alignof(Vec3));
  }
  if (out.next != kNone) occluders_[out.next].previous = out.previous;
  (out.previous != kNone ? occluders_[out.previous].next : first_[out.id.imap]) = out.next;
  const Occluder& last = occluders_[--count_];
  if (&last == &out) return;
  out = last;
  if (out.next != kNone) occluders_[out.next].previous = index;
  (out.previous != kNone ? occluders_[out.previous].next : first_[out.id.imap]) = index;
}

Status OccluderSet::add_box(OccluderId id, const OccludingBox& box) {
  id.kind = OccluderKind::box;
  if (const Status s = check(id); !s.ok()) return s;
  const Vec3& half = box.half;
  const bool is_good = is_finite(box.centre) && is_finite(box.x_axis) && is_finite(box.y_axis) &&
                       is_finite(box.z_axis) && is_finite(half) && half.x >= 0 && half.y >= 0 && half.z >= 0;
  const Double3 x(box.x_axis), y(box.y_axis), z(box.z_axis);
  const double volume = dot(x, cross(y, z));
  if (!is_good || !(volume * volume > 1e-6 * dot(x, x) * dot(y, y) * dot(z, z))) {
    return {StatusCode::bad_value, "an occluder that is no box; detail = its index", id.index};
  }
  if (count_ == capacity_) return full(id, "more occluders");
  Occluder& out = append(id);
  out.box = box;
  if (volume < 0) out.box.x_axis = box.x_axis * -1.0f;
  out.centre = box.centre;
  double farthest = 0;
  for (uint32_t corner = 0; corner < 4; ++corner) {  // the other four are opposite
    const Double3 at = times(box.x_axis, (corner & 1) != 0 ? half.x : -half.x) +
                       times(box.y_axis, (corner & 2) != 0 ? half.y : -half.y) + times(box.z_axis, half.z);
    farthest = std::max(farthest, dot(at, at));
  }
  out.radius = radius_around(farthest);
  return {};
}

Status OccluderSet::add_mesh(OccluderId id, const OccludingMesh& mesh) {
  id.kind = OccluderKind::mesh;
  if (const Status s = check(id); !s.ok()) return s;
  const Status bad{StatusCode::bad_value, "an occluder that is no mesh; detail = its index", id.index};
  if (mesh.vertices.size() > kMaxVertices || mesh.triangles.size() % 3 != 0) return bad;
  if (mesh.triangles.size() / 3 > 0xFFFFFF) return bad;
  for (const Vec3& vertex : mesh.vertices) {
    if (!is_finite(vertex)) return bad;
  }
  for (const uint8_t vertex : mesh.triangles) {
    if (vertex >= mesh.vertices.size()) return bad;
  }
  if (count_ == capacity_) return full(id, "more occluders");
  const auto vertices = static_cast<uint32_t>(mesh.vertices.size());
  const auto triangles = static_cast<uint32_t>(mesh.triangles.size() / 3);
  void* block = nullptr;
  if (vertices > 0) {
    block = meshes_.allocate(mesh_bytes(vertices, triangles), alignof(Vec3));
    if (block == nullptr) return full(id, "more meshes");
  }
  Occluder& out = append(id);
  out.water_only = mesh.water_only;
  if (vertices == 0) return {};  // an empty one is there, and hides nothing
  auto* const points = new (block) Vec3[vertices];
  std::copy(mesh.vertices.begin(), mesh.vertices.end(), points);
  auto* const indices = new (static_cast<std::byte*>(block) + vertices * sizeof(Vec3)) uint8_t[mesh.triangles.size()];
  std::copy(mesh.triangles.begin(), mesh.triangles.end(), indices);
  out.vertices = points;
  out.triangles = indices;
  out.vertex_count = vertices;
  out.triangle_count = triangles;
  out.is_closed = is_closed_mesh(mesh.triangles);
  Aabb bounds{points[0], points[0]};
  for (const Vec3& p : mesh.vertices) bounds = {min(bounds.min, p), max(bounds.max, p)};
  const Double3 centre = (Double3(bounds.min) + Double3(bounds.max)) * 0.5;
  out.centre = {static_cast<float>(centre.x), static_cast<float>(centre.y), static_cast<float>(centre.z)};
  double farthest = 0;
  for (const Vec3& p : mesh.vertices) {
    const Double3 at = Double3(p) - Double3(out.centre);
    farthest = std::max(farthest, dot(at, at));
  }
  out.radius = radius_around(farthest);
  return {};
}

Status OccluderSet::remove_map(ImapSlot imap) {
  MERIDIAN_ASSERT(!is_held(), "occluders don't change while a buffer draws them");
  if (is_held()) return {StatusCode::in_use, "occluders are being drawn; detail = slot of the map", imap};
  if (imap >= imap_slots_) return {};
  while (first_[imap] != kNone) remove_at(first_[imap]);
  return {};
}

Status OccluderSet::clear() {
  MERIDIAN_ASSERT(!is_held(), "occluders don't change while a buffer draws them");
  if (is_held()) return {StatusCode::in_use, "occluders are being drawn", 0};
  while (count_ > 0) remove_at(count_ - 1);
  is_full_told_ = false;
  return {};
}

uint32_t OccluderSet::count_of(ImapSlot imap) const {
  uint32_t count = 0;
  if (imap >= imap_slots_) return 0;
  for (uint32_t at = first_[imap]; at != kNone; at = occluders_[at].next) ++count;
  return count;
}

}  // namespace meridian
