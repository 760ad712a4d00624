// SPDX-License-Identifier: MIT
#pragma once
/// LOD sets: a parent and the children that change places with it as one. A set has a record that says where it is, how
/// far its children are drawn, and whether they are all ready; whoever wants to know how much of an entity is seen asks
/// for its *weight*.
///
///   SceneGraph graph;
///   LodSetTable sets;
///   Status ready = sets.init({.capacity = 1000, .graph = &graph});
///   const Result<uint32_t> block = sets.create({10, 20, 0}, 120.0f, 0);   // HD children, seen up to 120 m
///   ready = sets.set_ready(block.value(), true);                           // all are there: they are ramped in
///   ready = sets.update(0.016f);                                           // once a frame
///   const float scales[kLodLevels] = {1, 1, 1, 1, 1, 1, 1};
///   const uint32_t house = lod_weight(sets, block.value(), false, camera, scales);   // of each child
///   const uint32_t far = lod_weight(sets, block.value(), true, camera, scales);      // of the parent: 255 - house
///
/// Weights count from 0 to 255. A set that is not ready has its parent drawn, as if it had no children. In one that is,
/// with `d` the distance from the camera to the pivot, `near` = D * s (s the scale of the children's level) and `fade`:
///
/// - d <= near: the children only;
/// - d >= near + fade: the parent only;
/// - between: the children get a = floor(255 * ((near + fade) - d) / fade), the parent the rest;
///
/// and `a` is multiplied by the ramp, which rises from 0 to 255 after the set became ready. A parent that is a child in
/// a set above has a weight W itself, and hands it down: its children get floor(W * a / 255), it keeps W minus that. So
/// nothing is lost by rounding: on each chain from a root to a leaf weights add up to 255 exactly, whatever is ready,
/// wherever the camera is. What has no parent that is there begins with 255, and fades by its own distance alone.
///
/// Threads: main writes, while the scene is not locked; readers, while it is.
/// Memory:  one pool and one block in init(): 52 bytes a set.
/// Source:  own.

#include <cmath>
#include <cstdint>
#include <span>

#include "meridian/base/math.h"
#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/core/pool.h"
#include "meridian/scene/desc_block.h"

namespace meridian {

class SceneGraph;

inline constexpr uint32_t kNoLodSetId = 0xFFFFFFFF;
inline constexpr float kLodFade = 20.0f;  ///< over which children and parent change places [m]
inline constexpr uint32_t kFullWeight = 255;

/// What readers know of a set.
struct LodSetRecord {
  Vec3 pivot;                 ///< distances count from here [m]
  float distance = 0;         ///< D: up to which the children are drawn [> 0] [m]
  uint32_t up = kNoLodSetId;  ///< the set in which the parent is a child, if that set's parent is there
  uint8_t level = 0;          ///< schema::LodLevel of the children
  uint8_t ramp = 0;           ///< how far the children are faded in; 0 while not ready [0, 255]
  bool is_ready = false;      ///< all children are there: the parent may give way
  uint8_t reserved = 0;
};
static_assert(sizeof(LodSetRecord) <= 32);
static_assert(detail::slot_stride(sizeof(LodSetRecord), alignof(LodSetRecord)) == sizeof(LodSetRecord));

struct LodSetConfig {
  uint32_t capacity = 16384;          ///< sets whose parents are in the world at once [count]
  float ramp_seconds = 0.25f;         ///< from ready to all there; 0: at once [>= 0] [s]
  const SceneGraph* graph = nullptr;  ///< whose lock forbids writing; null: nobody locks
  const char* name = "LodSet";        ///< of the pool; lives as long as the table
  MemoryTracker* tracker = nullptr;   ///< null: default_memory_tracker()
};

/// The records, by ids that are dense: [0, capacity). The id of a set that was released is used again.
/// All that writes has Errors: in_use (the scene is locked, which is asserted; nothing has changed), not_found (no such
/// set), beside what is said.
class LodSetTable {
 public:
  LodSetTable() = default;
  ~LodSetTable() { shutdown(); }
  LodSetTable(const LodSetTable&) = delete;
  LodSetTable& operator=(const LodSetTable&) = delete;

  /// Requires: called once, until shutdown (asserted; otherwise in_use).
  /// Errors: out_of_memory, too_large (capacity), bad_value (ramp_seconds is negative or not finite).
  Status init(const LodSetConfig& config, Allocator& allocator = default_allocator());
  /// Releases all sets, and the memory.
  void shutdown();

  /// A set that is not ready and stands below no other. `level` is that of its children.
  /// Errors: out_of_slots (the pool says so once), bad_value (not finite, distance <= 0, no level), in_use.
  Result<uint32_t> create(const Vec3& pivot, float distance, uint8_t level);
  /// Requires: it is `up` of no set (asserted; otherwise in_use).
  Status release(uint32_t id);

  /// Pivot and distance are others now. Errors: bad_value, as in create.
  Status place(uint32_t id, const Vec3& pivot, float distance);
  /// Errors: bad_value (no level).
  Status set_level(uint32_t id, uint8_t level);
  /// Says in which set the parent is a child; kNoLodSetId: in none that is there.
  /// Errors: too_large (more than kMaxLodChain sets would stand above each other, or in a circle): it is in none then.
  Status set_up(uint32_t id, uint32_t up);
  /// A set that becomes ready has its children faded in, from 0; one that is no more has them gone at once.
  Status set_ready(uint32_t id, bool ready);
  /// Time passes for those that are faded in. Requires: seconds >= 0 (asserted; otherwise nothing happens).
  Status update(float seconds);

  /// Null: there is no such set. Threads: readers.
  const LodSetRecord* find(uint32_t id) const { return pool_.at(id); }
  /// All records, by id, for readers that gather; only those of sets that exist may be looked at. Null while there
  /// never was one. Threads: readers.
  const LodSetRecord* records() const { return records_; }
  uint32_t used() const { return pool_.used(); }
  uint32_t capacity() const { return pool_.capacity(); }
  /// Sets whose children are all there; in the others the parent stands for them. [count]
  uint32_t ready() const { return ready_count_; }
  /// Sets that are being faded in. [count]
  uint32_t ramping() const { return ramping_count_; }
  const Pool<LodSetRecord>& pool() const { return pool_; }

 private:
  struct Side;
  Status check(uint32_t id) const;
  bool refuse() const;
  void stop_ramp(uint32_t id);
  void leave_up(uint32_t id);

  LodSetConfig config_;
  Allocator* allocator_ = nullptr;
  Pool<LodSetRecord> pool_;
  const LodSetRecord* records_ = nullptr;
  Side* sides_ = nullptr;        // by id: what readers need not know
  uint32_t* ramping_ = nullptr;  // ids
  uint32_t ramping_count_ = 0, ready_count_ = 0;
  mutable const void* owner_ = nullptr;
};

// --- from descriptors to sets ------------------------------------------------------------------------

/// Where an entity stands among the sets.
struct LodPlace {
  uint32_t set = kNoLodSetId;  ///< none: it fades alone
  bool is_parent = false;      ///< of `set`; else one of the children
};

/// The place of a descriptor: `rows` and `set_ids` are those of its container (ContainerTable::links), `row` is its
/// lod_set, `is_parent` its kDescSetParent. One that is a parent without a set is a child still, of the set above.
/// Threads: readers.
inline LodPlace lod_place(std::span<const LodLinkRow> rows, std::span<const uint32_t> set_ids, uint16_t row,
                          bool is_parent) {
  if (is_parent && row < rows.size() && row < set_ids.size() && set_ids[row] == kNoLodSetId) {
    row = rows[row].up;
    is_parent = false;
  }
  return row < set_ids.size() ? LodPlace{set_ids[row], is_parent} : LodPlace{};
}

// --- weights -----------------------------------------------------------------------------------------
// Single precision in exactly this order, nothing fused: wide code that does the same operations gets the same bits.

/// From the camera to the point that a set's distances count from. [m]
inline float lod_set_distance(const Vec3& pivot, const Vec3& camera) {
  const float x = camera.x - pivot.x, y = camera.y - pivot.y, z = camera.z - pivot.z;
  return std::sqrt((x * x + y * y) + z * z);
}

/// How much of the children is drawn at a distance, before what is handed down from above. `scale` is that of the
/// children's level, `fade` >= 0. What cannot be compared (NaN) shows the parent.
inline uint32_t child_alpha(const LodSetRecord& set, float distance, float scale, float fade = kLodFade) {
  if (!set.is_ready) return 0;
  const float near = set.distance * scale, far = near + fade;
  uint32_t alpha = 0;
  if (distance <= near) {
    alpha = kFullWeight;
  } else if (distance < far) {
    const float part = ((far - distance) * 255.0f) / fade;  // far is rounded: it may come out above 255
    alpha = part < 255.0f ? static_cast<uint32_t>(part) : kFullWeight;
  }
  return alpha * set.ramp / 255;
}

/// What a parent of weight W and each of its children get.
struct LodShare {
  uint32_t children = 0, parent = 0;
  friend constexpr bool operator==(LodShare, LodShare) = default;
};
/// Requires: both in [0, 255].
constexpr LodShare split(uint32_t weight, uint32_t alpha) {
  const uint32_t children = weight * alpha / 255;
  return {children, weight - children};
}

/// How much of an entity is to be seen, [0, 255]: the parent of `set`, or a child in it. 255 if there is no such set.
/// `scales` by schema::LodLevel. Threads: readers. Cost: a square root for each set of the chain.
inline uint32_t lod_weight(const LodSetTable& table, uint32_t set, bool is_parent, const Vec3& camera,
                           std::span<const float, kLodLevels> scales, float fade = kLodFade) {
  const LodSetRecord* chain[kMaxLodChain];
  uint32_t count = 0;
  for (const LodSetRecord* at = table.find(set); at != nullptr && count < kMaxLodChain; at = table.find(at->up)) {
    chain[count++] = at;
  }
  uint32_t weight = kFullWeight;
  while (count-- > 0) {
    const LodSetRecord& at = *chain[count];
    const LodShare share = split(weight, child_alpha(at, lod_set_distance(at.pivot, camera), scales[at.level], fade));
    weight = count == 0 && is_parent ? share.parent : share.children;
  }
  return weight;
}

}  // namespace meridian
