// SPDX-License-Identifier: MIT
#pragma once
/// A world with maps whose host is not ready with everything, for tests of LOD sets.
///
///   test::LodKit kit;
///   kit.start(props);
///   kit.lacking.insert({17, 3});                        // the host cannot draw entity 3 of the map in slot 17
///   ...
///   EXPECT_EQ(kit.weight(*map, 3, camera), 0u);         // as a scan has it, from the descriptor

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "unit/runtime/map/map_kit.h"

namespace meridian::test {

/// A host that is ready with all entities but some. Stands in front of the world, and so outlives it.
struct LodHost : HostRecord {
  std::set<std::pair<ImapSlot, uint32_t>> lacking;  ///< map and index
  mutable uint64_t asked = 0;
  const MapWorld* maps = nullptr;
  /// Called for each entity that dies.
  void (*dying)(LodHost& self, const Entity& entity) = nullptr;

  static uint32_t index_of(const MapContents& map, const Entity& entity) {
    return entity.handle().slot - map.handle(0).slot;
  }
  static EntityHost host(LodHost& self) {
    EntityHost out = HostRecord::host(self);
    out.is_ready = [](void* user, const Entity& entity) {
      const auto& host = *static_cast<const LodHost*>(static_cast<const HostRecord*>(user));
      ++host.asked;
      const MapContents* const map = host.maps->find(entity.imap());
      return !host.lacking.contains({entity.imap(), index_of(*map, entity)});
    };
    out.on_destroy = [](void* user, Entity& entity) {
      auto& host = *static_cast<LodHost*>(static_cast<HostRecord*>(user));
      if (host.dying != nullptr) host.dying(host, entity);
      EXPECT_EQ(host.alive.erase(&entity), 1u);
      (void)entity.clear_physics();
      (void)entity.clear_draw();
    };
    return out;
  }
};

struct LodKit : LodHost, MapKit {
  void start(const TypesItem& types_item, ItypSlot slot = 3) {
    LodHost::table = &(MapKit::table);
    LodHost::maps = &(MapKit::maps);
    map_config.host = LodHost::host(*this);
    ASSERT_TRUE(init().ok());
    types_file.emplace(types_item.finish("props"));
    types(*types_file, slot);
    before = account();
  }
  const LodSetTable& sets() const { return MapKit::maps.lod_sets(); }
  void update(float seconds = 0) { EXPECT_TRUE(MapKit::maps.update_lod_sets(seconds).ok()); }

  /// What a reader of descriptors finds.
  LodPlace place(const MapContents& map, uint32_t index) const {
    const ContainerTag tag = map.entity(index)->container();
    if (!tag.is_in_container()) return {};
    const ContainerLinks& links = graph.containers().links[tag.container()];
    const DescLanes lanes = desc_lanes(graph.containers().views[tag.container()]);
    return lod_place(links.rows, links.set_ids, lanes.lod_set[tag.slot()],
                     (lanes.flags[tag.slot()] & kDescSetParent) != 0);
  }
  uint32_t weight(const MapContents& map, uint32_t index, const Vec3& camera) const {
    const LodPlace at = place(map, index);
    return lod_weight(sets(), at.set, at.is_parent, camera, kScales);
  }
  /// The set whose parent is entity `index`, or null.
  const LodSetRecord* set_of(const MapContents& map, uint32_t index) const {
    const LodPlace at = place(map, index);
    return at.is_parent ? sets().find(at.set) : nullptr;
  }
  bool is_ready(const MapContents& map, uint32_t index) const {
    const LodSetRecord* const set = set_of(map, index);
    return set != nullptr && set->is_ready;
  }

  static constexpr float kScales[kLodLevels] = {1, 1, 1, 1, 1, 1, 1};
  std::optional<TypesFile> types_file;
  Account before;
};

}  // namespace meridian::test
