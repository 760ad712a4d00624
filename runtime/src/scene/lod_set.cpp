// SPDX-License-Identifier: MIT
#include "meridian/scene/lod_set.h"

#include <new>

#include "meridian/base/assert.h"
#include "meridian/scene/scene_graph.h"

namespace meridian {
namespace {

constexpr uint32_t kNone = 0xFFFFFFFF;

bool is_place(const Vec3& pivot, float distance) { return is_finite(pivot) && is_finite(distance) && distance > 0; }
constexpr Status kBadPlace{StatusCode::bad_value, "a LOD set has a finite pivot and a distance above 0", 0};

}  // namespace

/// `height`: sets that stand below, at most, in one chain. It is never too small, and exact again once none is below.
struct LodSetTable::Side {
  float seconds = 0;       // since it became ready
  uint32_t place = kNone;  // in ramping_
  uint32_t below = 0;      // sets whose `up` this is
  uint32_t height = 0;
};

Status LodSetTable::init(const LodSetConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(allocator_ == nullptr, "a table of LOD sets is initialised once");
  if (allocator_ != nullptr) return {StatusCode::in_use, "a table of LOD sets is initialised once", 0};
  if (!is_finite(config.ramp_seconds) || config.ramp_seconds < 0) {
    return {StatusCode::bad_value, "LOD sets are faded in within a time that is not negative", 0};
  }
  const PoolConfig pool{
      .name = config.name, .capacity = config.capacity, .size_from = PoolSizeFrom::code, .tracker = config.tracker};
  if (const Status s = pool_.init(pool, allocator); !s.ok()) return s;
  const size_t bytes = size_t{config.capacity} * (sizeof(Side) + sizeof(uint32_t));
  if (bytes > 0) {
    sides_ = static_cast<Side*>(allocator.allocate(bytes, alignof(Side)));
    if (sides_ == nullptr) {
      pool_.shutdown();
      return {StatusCode::out_of_memory, "no memory for LOD sets; detail = bytes", bytes};
    }
    ramping_ = reinterpret_cast<uint32_t*>(sides_ + config.capacity);
  }
  config_ = config;
  allocator_ = &allocator;
  owner_ = nullptr;
  return {};
}

void LodSetTable::shutdown() {
  if (allocator_ == nullptr) return;
  if (sides_ != nullptr) {
    const size_t bytes = size_t{config_.capacity} * (sizeof(Side) + sizeof(uint32_t));
    allocator_->deallocate(sides_, bytes, alignof(Side));
  }
  pool_.shutdown();
  sides_ = nullptr;
  ramping_ = nullptr;
  ramping_count_ = ready_count_ = 0;
  records_ = nullptr;
  allocator_ = nullptr;
}

bool LodSetTable::refuse() const {
#if defined(MERIDIAN_ENABLE_ASSERTS) && MERIDIAN_ENABLE_ASSERTS
  static thread_local char mark;
  if (owner_ == nullptr) owner_ = &mark;
  MERIDIAN_ASSERT(owner_ == &mark, "LOD sets are written by the thread that owns them");
#endif
  const bool is_locked = config_.graph != nullptr && config_.graph->is_locked();
  MERIDIAN_ASSERT(!is_locked, "LOD sets are not written while the scene is locked");
  return is_locked;
}

Status LodSetTable::check(uint32_t id) const {
  if (refuse()) return {StatusCode::in_use, "the scene is locked: write LOD sets after the unlock", 0};
  if (pool_.at(id) == nullptr) return {StatusCode::not_found, "no such LOD set; detail = its id", id};
  return {};
}

Result<uint32_t> LodSetTable::create(const Vec3& pivot, float distance, uint8_t level) {
  if (refuse()) return Status{StatusCode::in_use, "the scene is locked: write LOD sets after the unlock", 0};
  if (!is_place(pivot, distance)) return kBadPlace;
  if (level >= kLodLevels) return Status{StatusCode::bad_value, "not a level of detail; detail = it", level};
  LodSetRecord* const made = pool_.create();
  if (made == nullptr) {
    return Status{StatusCode::out_of_slots, "no LOD set is free; detail = how many there are", pool_.capacity()};
  }
  made->pivot = pivot;
  made->distance = distance;
  made->level = level;
  const uint32_t id = pool_.handle_of(*made).slot;
  records_ = made - id;  // slots are an array: see the assertion on their stride
  ::new (static_cast<void*>(sides_ + id)) Side();
  return id;
}

Status LodSetTable::release(uint32_t id) {
  if (const Status s = check(id); !s.ok()) return s;
  MERIDIAN_ASSERT(sides_[id].below == 0, "a LOD set goes after those below it");
  if (sides_[id].below != 0) return {StatusCode::in_use, "sets stand below this one; detail = sets", sides_[id].below};
  leave_up(id);
  stop_ramp(id);
  if (pool_.at(id)->is_ready) --ready_count_;
  pool_.destroy(*pool_.at(id));
  return {};
}

Status LodSetTable::place(uint32_t id, const Vec3& pivot, float distance) {
  if (const Status s = check(id); !s.ok()) return s;
  if (!is_place(pivot, distance)) return kBadPlace;
  LodSetRecord& set = *pool_.at(id);
  set.pivot = pivot;
  set.distance = distance;
  return {};
}

Status LodSetTable::set_level(uint32_t id, uint8_t level) {
  if (const Status s = check(id); !s.ok()) return s;
  if (level >= kLodLevels) return {StatusCode::bad_value, "not a level of detail; detail = it", level};
  pool_.at(id)->level = level;
  return {};
}

void LodSetTable::leave_up(uint32_t id) {
  LodSetRecord& set = *pool_.at(id);
  if (set.up == kNoLodSetId) return;
  Side& above = sides_[set.up];
  if (--above.below == 0) above.height = 0;
  set.up = kNoLodSetId;
}

/// Readers climb without counting on anything, so chains stay short: the heights below and the sets above are added up
/// before a set is hung below another. Those above may hold heights from before; that can only refuse what is bad data.
Status LodSetTable::set_up(uint32_t id, uint32_t up) {
  if (const Status s = check(id); !s.ok()) return s;
  if (pool_.at(id)->up == up) return {};
  if (up != kNoLodSetId && pool_.at(up) == nullptr) {
    return {StatusCode::not_found, "no such LOD set; detail = its id", up};
  }
  leave_up(id);
  uint32_t sets = 1 + sides_[id].height;
  for (uint32_t at = up; at != kNoLodSetId; at = pool_.at(at)->up) {
    if (at == id || ++sets > kMaxLodChain) {
      return {StatusCode::too_large, "LOD sets stand above each other in a circle, or too many; detail = most",
              kMaxLodChain};
    }
  }
  if (up == kNoLodSetId) return {};
  pool_.at(id)->up = up;
  ++sides_[up].below;
  uint32_t height = sides_[id].height + 1;
  for (uint32_t at = up; at != kNoLodSetId && sides_[at].height < height; at = pool_.at(at)->up) {
    sides_[at].height = height++;
  }
  return {};
}

void LodSetTable::stop_ramp(uint32_t id) {
  const uint32_t place = sides_[id].place;
  if (place == kNone) return;
  const uint32_t last = ramping_[--ramping_count_];
  ramping_[place] = last;
  sides_[last].place = place;
  sides_[id].place = kNone;
}

Status LodSetTable::set_ready(uint32_t id, bool ready) {
  if (const Status s = check(id); !s.ok()) return s;
  LodSetRecord& set = *pool_.at(id);
  if (set.is_ready == ready) return {};
  set.is_ready = ready;
  ready_count_ += ready ? 1u : ~0u;
  const bool is_ramped = ready && config_.ramp_seconds > 0;
  set.ramp = ready && !is_ramped ? 255 : 0;
  if (is_ramped) {
    sides_[id].seconds = 0;
    sides_[id].place = ramping_count_;
    ramping_[ramping_count_++] = id;
  } else {
    stop_ramp(id);
  }
  return {};
}

Status LodSetTable::update(float seconds) {
  if (refuse()) return {StatusCode::in_use, "the scene is locked: write LOD sets after the unlock", 0};
  MERIDIAN_ASSERT(seconds >= 0, "time passes forwards");
  if (!(seconds >= 0)) return {};
  for (uint32_t i = ramping_count_; i-- > 0;) {  // from the end: the last takes the place of one that is done
    const uint32_t id = ramping_[i];
    Side& side = sides_[id];
    side.seconds += seconds;
    const bool is_done = side.seconds >= config_.ramp_seconds;
    LodSetRecord& set = *pool_.at(id);
    set.ramp = is_done ? uint8_t{255} : static_cast<uint8_t>(side.seconds * 255.0f / config_.ramp_seconds);
    if (is_done) stop_ramp(id);
  }
  return {};
}

}  // namespace meridian
