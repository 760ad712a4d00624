// SPDX-License-Identifier: MIT
#include "resource/cooked_check.h"

#include <cstring>

#include "meridian/schemas/imap_generated.h"
#include "resource/bad_field.h"
#include "resource/flat_vector.h"

namespace meridian::detail {
namespace {

// The layout that this build knows, written down a second time: scene/, which owns it, stands above this area.
// A unit test holds the two against each other.
constexpr uint32_t kLayoutVersion = 1, kLanes = 16, kContainerSlots = 320, kSubBlockSlots = 32, kSlotBytes = 44;
constexpr uint32_t kMaxChain = 16, kLevels = 7, kNoEntity = 0xFFFFFFFF;
constexpr uint16_t kNoSet = 0xFFFF;

Status check_sets(const schema::MapData& map) {
  const uint32_t entities = size_of(map.entities());
  uint32_t next = 0;
  for (uint32_t i = 0; i < size_of(map.lod_sets()); ++i) {
    const schema::LodSet& set = *map.lod_sets()->Get(i);
    if (set.parent_index() >= entities)
      return bad_field("LOD set's parent is outside the entities; detail = index of the set", i, "lod_sets");
    if (set.parent_index() < next)
      return bad_field("LOD sets do not ascend by parent; detail = index of the set", i, "lod_sets");
    if (!(set.distance() > 0))
      return bad_field("LOD set's distance is not above 0; detail = index of the set", i, "lod_sets");
    next = set.parent_index() + 1;
  }
  return {};
}

Status check_links(const schema::CookedBlocks& cooked, uint32_t entities) {
  const uint32_t rows = size_of(cooked.links());
  if (rows >= kNoSet) return bad_field("link table has too many rows; detail = rows", rows, "links");
  for (uint32_t i = 0; i < rows; ++i) {
    const schema::LodLink& link = *cooked.links()->Get(i);
    if (!link.in_parent() && link.parent_index() >= entities)
      return bad_field("link's parent is outside the entities; detail = index of the row", i, "links");
    if (!(link.distance() > 0))
      return bad_field("link's distance is not above 0; detail = index of the row", i, "links");
    uint32_t steps = 0;
    for (uint16_t up = link.up(); up != kNoSet; up = cooked.links()->Get(up)->up()) {
      if (up >= rows || ++steps >= kMaxChain)
        return bad_field("link leads out of the table or in a circle; detail = index of the row", i, "links");
    }
  }
  return {};
}

/// The lanes of one container; the bytes lie at any multiple of 4.
class Lanes {
 public:
  Lanes(const uint8_t* bytes, uint32_t capacity) : bytes_(bytes), capacity_(capacity) {}
  uint32_t entity(uint32_t i) const { return load<uint32_t>(24 * capacity_ + 4 * i); }
  uint16_t lod_set(uint32_t i) const { return half(3, i); }
  uint16_t distance(uint32_t i) const { return half(4, i); }
  uint16_t mask(uint32_t i) const { return half(5, i); }
  uint32_t level(uint32_t i) const { return bytes_[size_t{42} * capacity_ + i] >> 5; }
  /// Centre and half extents, and the pivot's halves.
  bool finite(uint32_t i) const {
    for (uint32_t lane = 0; lane < 6; ++lane)
      if ((load<uint32_t>((lane * capacity_ + i) * 4) & 0x7F800000u) == 0x7F800000u) return false;
    for (uint32_t lane = 0; lane < 3; ++lane)
      if ((half(lane, i) & 0x7C00u) == 0x7C00u) return false;
    return true;
  }
  bool turned_out(uint32_t i) const {  // a negative half extent; -0 is none
    for (uint32_t lane = 3; lane < 6; ++lane)
      if (load<uint32_t>((lane * capacity_ + i) * 4) > 0x80000000u) return true;
    return false;
  }

 private:
  template <class T>
  T load(size_t at) const {
    T value;
    std::memcpy(&value, bytes_ + at, sizeof value);
    return value;
  }
  uint16_t half(uint32_t lane, uint32_t i) const { return load<uint16_t>(size_t{28 + 2 * lane} * capacity_ + 2 * i); }
  const uint8_t* bytes_;
  uint32_t capacity_;
};

Status check_slots(const schema::CookedBlocks& cooked, const schema::DescContainer& container) {
  const uint32_t capacity = (container.count() + kLanes - 1) / kLanes * kLanes;
  const Lanes lanes(
      reinterpret_cast<const uint8_t*>(cooked.lanes()->data()) + size_t{container.first_slot()} * kSlotBytes, capacity);
  for (uint32_t i = 0; i < capacity; ++i) {
    const uint32_t slot = container.first_slot() + i, entity = lanes.entity(i);
    if (i >= container.count()) {
      if (entity != kNoEntity || lanes.distance(i) != 0 || lanes.mask(i) != 0)
        return bad_field("filler could be visible; detail = slot", slot, "lanes");
    } else if (entity >= size_of(cooked.slots()) || cooked.slots()->Get(entity) != slot) {
      // As many slots as entities, each with an entity that leads back to it: one to one.
      return bad_field("slot and entity do not name each other; detail = slot", slot, "slots");
    }
    if (!lanes.finite(i)) return bad_field("descriptor is infinite or NaN; detail = slot", slot, "lanes");
    if (lanes.turned_out(i)) return bad_field("descriptor's box is inside out; detail = slot", slot, "lanes");
    if (lanes.level(i) >= kLevels) return bad_field("descriptor's level is none; detail = slot", slot, "lanes");
    if (lanes.lod_set(i) != kNoSet && lanes.lod_set(i) >= size_of(cooked.links()))
      return bad_field("descriptor's LOD set is outside the link table; detail = slot", slot, "lanes");
  }
  return {};
}

/// What holds of a block is a box, or all zero.
bool is_box(const schema::DescBlock& block) {
  const auto ascend = [](const schema::Vec3& a, const schema::Vec3& b) {
    return a.x() <= b.x() && a.y() <= b.y() && a.z() <= b.z();
  };
  return ascend(block.box_min(), block.box_max()) && ascend(block.pivot_min(), block.pivot_max());
}

Status check_blocks(const schema::CookedBlocks& cooked, uint32_t entities) {
  if (size_of(cooked.slots()) != entities)
    return bad_field("not one slot for each entity; detail = slots", size_of(cooked.slots()), "slots");
  uint64_t slots = 0, sub_blocks = 0, count = 0;
  const uint64_t bytes = uint64_t{size_of(cooked.lanes())} * 4;
  for (uint32_t i = 0; i < size_of(cooked.containers()); ++i) {
    const schema::DescContainer& container = *cooked.containers()->Get(i);
    if (container.count() == 0 || container.count() > kContainerSlots || container.first_slot() != slots ||
        container.first_sub_block() != sub_blocks ||
        container.sub_block_count() != (container.count() + kSubBlockSlots - 1) / kSubBlockSlots)
      return bad_field("containers do not follow each other; detail = index of the container", i, "containers");
    slots += (container.count() + kLanes - 1) / kLanes * kLanes;
    sub_blocks += container.sub_block_count();
    count += container.count();
    if (slots * kSlotBytes > bytes)
      return bad_field("container is outside the lanes; detail = its index", i, "containers");
    if (!is_box(container.bounds()))
      return bad_field("container's box is inside out; detail = its index", i, "containers");
    if (Status status = check_slots(cooked, container); !status.ok()) return status;
  }
  for (uint32_t i = 0; i < size_of(cooked.sub_blocks()); ++i) {
    if (!is_box(*cooked.sub_blocks()->Get(i)))
      return bad_field("sub-block's box is inside out; detail = its index", i, "sub_blocks");
  }
  if (count != entities)
    return bad_field("not one descriptor for each entity; detail = descriptors", count, "containers");
  if (slots * kSlotBytes != bytes) return bad_field("lanes are of another size; detail = bytes", bytes, "lanes");
  if (sub_blocks != size_of(cooked.sub_blocks()))
    return bad_field("not as many sub-blocks as the containers have; detail = sub-blocks", size_of(cooked.sub_blocks()),
                     "sub_blocks");
  return {};
}

}  // namespace

Status check_cooked(const schema::MapData& map) {
  if (Status status = check_sets(map); !status.ok()) return status;
  const schema::CookedBlocks* const cooked = map.cooked();
  if (cooked == nullptr || cooked->layout_version() != kLayoutVersion) return {};  // nobody reads another version
  const uint32_t entities = size_of(map.entities());
  if (Status status = check_links(*cooked, entities); !status.ok()) return status;
  return check_blocks(*cooked, entities);
}

}  // namespace meridian::detail
