// SPDX-License-Identifier: MIT
#pragma once
/// A world in which anything may happen, and the plain list that knows what did.

#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "property/flat_scene.h"
#include "support/map_maker.h"
#include "support/world_kit.h"

namespace meridian::test {

/// Of the archetypes of a random scene.
inline constexpr ItypSlot kRandomTypesSlot = 1;
constexpr NameHash random_type_name(uint32_t i) { return NameHash{0x1000u + i}; }
inline constexpr EntityClass kMapClasses[] = {EntityClass::building, EntityClass::animated_building,
                                              EntityClass::dummy_object};

class RandomScene {
 public:
  static constexpr EntityClass kLamp{kFirstHostClass};
  static constexpr uint32_t kTypes = 16, kMaps = 5, kInteriors = 2;
  static constexpr float kReach = 300;  ///< of what is random about the middle [m]

  WorldKit kit;
  FlatScene flat;
  uint64_t found = 0, loads = 0;

  RandomScene(uint32_t seed, const Vec3& middle) : dice_(seed), middle_(middle), now_{middle.x, middle.y, middle.z} {}
  ~RandomScene() { set_simd_width(best_simd_width()); }

  Status init();
  /// Does one thing.
  void step();
  /// Compares all that can be compared.
  void check();
  /// Takes everything away.
  void end();

  void rebase(const Vec3& delta);
  /// Tries to put an entity of such an archetype into the world; it stays out.
  Status add_of(const ArchetypeTraits& traits);
  Volume random_volume(VolumeKind kind);

  Listed& any_in_world() {
    return any([](const Listed&) { return true; });
  }
  Listed& any_in_container() {
    return any([](const Listed& e) { return !e.is_light; });
  }
  Listed& any_host_in_world() {
    return any([](const Listed& e) { return e.map == kHost && !e.is_light; });
  }

 private:
  static constexpr uint32_t kHost = 0xFFFFFFFF;
  struct Map {
    MadeMap made;
    std::vector<schema::EntityDef> entities;
    MapContents* contents = nullptr;  ///< null: not loaded
    bool is_enabled = true;
  };

  template <class Test>
  Listed& any(Test test) {
    for (;;) {
      Listed& e = flat.in_world[dice_.below(static_cast<uint32_t>(flat.in_world.size()))];
      if (test(e)) return e;
    }
  }
  Vec3 now() const { return {static_cast<float>(now_[0]), static_cast<float>(now_[1]), static_cast<float>(now_[2])}; }

  void make_archetypes();
  void make_maps();
  schema::EntityDef random_definition(uint32_t index, uint32_t count);
  Transform random_transform();
  InteriorLocation random_location(bool dynamic);
  bool is_shown_at(InteriorLocation location, bool straddling) const;

  void add_host();
  void put_in(Listed e);
  void take_out(Listed& e);
  void move_one();
  void hide_one(Listed& e);
  void load_or_unload();
  void load(uint32_t map);
  void list(uint32_t map);
  void unlist(uint32_t map);
  void show_or_hide_map();
  void destroy_one_of_map();
  void switch_node();
  void refresh_shown();
  void while_locked();
  void check_definition(const schema::EntityDef& definition, const Listed& e) const;
  void check_descriptors();
  void check_bounds();
  void check_searches();
  EntityQuery random_query(VolumeKind kind);

  Dice dice_;
  Vec3 middle_;          ///< as maps count
  Real now_[3];          ///< the same place by the world's origin
  Real origin_[3] = {};  ///< what was added so far
  EntityVisibility visibility_;
  std::vector<TypeToMake> types_;
  std::vector<std::unique_ptr<Entity>> entities_;  ///< of hosts
  std::vector<Listed> outside_;                    ///< made, and not in the world
  Map maps_[kMaps];
  InteriorNode* interiors_[kInteriors] = {};
  bool lights_wait_ = false;
};

}  // namespace meridian::test
