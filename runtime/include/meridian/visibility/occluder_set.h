// SPDX-License-Identifier: MIT
#pragma once
/// The boxes and small meshes of loaded maps that hide what stands behind them, in world space. An OcclusionBuffer
/// (visibility/occlusion_buffer.h) draws them. Maps fill the set as they come into the world and empty it as they go,
/// where MapWorldConfig names one; a program may do the same for things of its own, under slots that no map has.
///
///   OccluderSet occluders;
///   if (const Status ready = occluders.init({.occluders = 4096}); !ready.ok()) return ready;
///   const OccludingBox wall{.centre = {0, 40, 5}, .half = {20, 0.5f, 5}};
///   if (!occluders.add_box({.imap = 17, .index = 0}, wall).ok()) std::puts("this wall hides nothing");
///   occluders.remove_map(17);
///
/// An occluder is known by the map it is of, what it is, and its index in the file: that is what explanations show, and
/// it is the same each time the map is loaded. Where it stands in the set is not: the last one takes a removed one's
/// place.
///
/// Boxes hide as they are seen from outside. Meshes hide from both sides of their triangles. A mesh is closed if each
/// edge, by the indices of its ends, is one of an even number of triangles; only such a mesh has an inside.
///
/// Threads: main; readers while nobody changes it. While a buffer draws, the set is held: changes are refused.
/// Memory:  two blocks in init(), the second for meshes; nothing later.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/log.h"
#include "meridian/base/math.h"
#include "meridian/base/memory.h"
#include "meridian/base/region_allocator.h"
#include "meridian/base/status.h"
#include "meridian/entity/model_id.h"

namespace meridian {

enum class OccluderKind : uint8_t { box, mesh };
/// A word for it ("box"). Threads: immutable.
const char* to_string(OccluderKind kind);

/// Which occluder: of which map, and the index among the map's occluders of that kind.
struct OccluderId {
  ImapSlot imap = kNoImap;
  uint32_t index = 0;
  OccluderKind kind = OccluderKind::box;
  friend constexpr bool operator==(const OccluderId&, const OccluderId&) = default;
};

/// A box in any direction. What is 0 wide on one axis is a wall or a floor; on two, it hides nothing.
struct OccludingBox {
  Vec3 centre{};                                           ///< [m]
  Vec3 x_axis{1, 0, 0}, y_axis{0, 1, 0}, z_axis{0, 0, 1};  ///< length 1, square to each other or nearly so
  Vec3 half{};                                             ///< half extents along the axes, >= 0 [m]
};

/// A mesh whose data the set copies.
struct OccludingMesh {
  std::span<const Vec3> vertices{};      ///< at most 256 [m]
  std::span<const uint8_t> triangles{};  ///< three vertex indices each
  bool water_only = false;               ///< hides nothing but water: only buffers made for water draw it
};

/// One of the set, as it is kept.
struct Occluder {
  OccluderId id;
  bool water_only = false;
  Vec3 centre;       ///< of a sphere around it, and of the box [m]
  float radius = 0;  ///< of that sphere, rounded up [m]
  OccludingBox box;  ///< of boxes; its axes are right-handed
  // Of meshes:
  const Vec3* vertices = nullptr;
  const uint8_t* triangles = nullptr;  ///< three indices each
  uint32_t vertex_count = 0, triangle_count = 0;
  bool is_closed = false;

 private:
  friend class OccluderSet;
  uint32_t next = 0, previous = 0;  // of the same map
};

struct OccluderSetConfig {
  const char* name = "Occluders";    ///< in reports and messages; lives as long as the set
  uint32_t occluders = 8192;         ///< boxes and meshes at once [> 0] [count]
  uint32_t mesh_bytes = 2u << 20;    ///< vertices and triangles of meshes; a few percent get lost [bytes]
  uint32_t imap_slots = 16384;       ///< slots are below [> 0] [count]
  MemoryTracker* tracker = nullptr;  ///< whose report has a row for meshes; null: default_memory_tracker()
};

class OccluderSet {
 public:
  OccluderSet() = default;
  ~OccluderSet();
  OccluderSet(const OccluderSet&) = delete;
  OccluderSet& operator=(const OccluderSet&) = delete;

  /// Takes the memory. `allocator` outlives the set. Requires: called once (asserted; otherwise in_use).
  /// Errors: bad_value (a number that must be > 0 is 0), out_of_memory.
  Status init(const OccluderSetConfig& config = {}, Allocator& allocator = default_allocator());

  /// Adds an occluder of the map `id.imap`; the set knows itself what kind it is. O(1); a mesh is copied.
  /// Requires: is_held() is false (asserted; otherwise in_use); the map has no such occluder in the set.
  /// Errors:   bad_value (not finite, a negative extent, axes that span no space, an index of a vertex that is not
  ///           there, more than 256 vertices, a slot that the set has no room for), out_of_slots (full, which is logged
  ///           once until clear() or reset_messages()).
  Status add_box(OccluderId id, const OccludingBox& box);
  Status add_mesh(OccluderId id, const OccludingMesh& mesh);

  /// Removes all that a map has in the set, in time that depends on their number only. Nothing for one that has none.
  /// Requires: is_held() is false. Errors: in_use (held): nothing has changed.
  Status remove_map(ImapSlot imap);
  /// Removes everything. Errors: as remove_map.
  Status clear();
  void reset_messages() { is_full_told_ = false; }

  uint32_t count() const { return count_; }
  uint32_t capacity() const { return capacity_; }
  /// Of one map. Walks them. [count]
  uint32_t count_of(ImapSlot imap) const;
  /// In an order that changes with each removal. Requires: index < count().
  const Occluder& operator[](uint32_t index) const { return occluders_[index]; }
  std::span<const Occluder> all() const { return {occluders_, count_}; }
  /// Occluders that found no room since the start. [count]
  uint64_t left_out() const { return left_out_; }

  /// A buffer draws: nothing may change. Threads: internal.
  bool is_held() const { return holders_.load(std::memory_order_acquire) != 0; }
  /// For those who read while other things go on. Counted. Threads: internal.
  void hold() const { holders_.fetch_add(1, std::memory_order_relaxed); }
  void let_go() const { holders_.fetch_sub(1, std::memory_order_release); }

 private:
  Status check(const OccluderId& id) const;
  Status full(const OccluderId& id, const char* what);
  Occluder& append(const OccluderId& id);
  void remove_at(uint32_t index);

  Allocator* allocator_ = nullptr;
  size_t block_bytes_ = 0;
  Occluder* occluders_ = nullptr;
  uint32_t* first_ = nullptr;  // by slot: its first occluder
  RegionAllocator meshes_;
  const char* name_ = "";
  uint32_t capacity_ = 0, imap_slots_ = 0, count_ = 0;
  uint64_t left_out_ = 0;
  bool is_full_told_ = false;
  mutable std::atomic<uint32_t> holders_{0};
};

}  // namespace meridian
