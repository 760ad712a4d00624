// SPDX-License-Identifier: MIT
#pragma once
/// Many parts of a game hide things, each for its own reasons. An entity is visible only while all agree, so that a
/// cutscene that ends does not show what a script still hides.
///
///   EntityVisibility visibility;
///   Status ready = visibility.init({.capacity = 1000});
///   Entity lamp;
///   Status hidden = visibility.set_visible(lamp, VisibilityModule::script, false);
///   hidden = visibility.set_visible(lamp, VisibilityModule::cutscene, false);
///   hidden = visibility.set_visible(lamp, VisibilityModule::cutscene, true);
///   assert(!lamp.is_visible());                         // the script still hides it
///
/// Who hides what stands in an extension that exists only while somebody does. What is attached to a hidden entity is
/// hidden with it (entity/dynamic_component.h), unless it was attached with AttachFlag::keep_visible.
///
/// Threads: main; readers while nobody changes it.
/// Memory:  a pool, "EntityVisibility", in init().

#include <cstdint>

#include "meridian/base/status.h"
#include "meridian/core/extension.h"
#include "meridian/entity/entity.h"

namespace meridian {

/// Who may hide an entity. One bit each.
enum class VisibilityModule : uint8_t {
  debug = 0,
  camera,
  script,
  cutscene,
  gameplay,
  frontend,
  vfx,
  network,
  dummy_conversion,  ///< a dummy while the object stands in its place
  composite,         ///< a composite entity while another of its models is shown
  map_swap,          ///< a set of maps that waits for its turn
  interior,
  first_person,
  vehicle,
  replay,
  editor,
  host,
};
inline constexpr unsigned kVisibilityModules = 17;
static_assert(static_cast<unsigned>(VisibilityModule::host) + 1 == kVisibilityModules);

struct EntityVisibilityConfig {
  uint32_t capacity = 1000;          ///< entities that are hidden at once [count]
  MemoryTracker* tracker = nullptr;  ///< as PoolConfig::tracker
};

class EntityVisibility {
 public:
  EntityVisibility() = default;
  EntityVisibility(const EntityVisibility&) = delete;
  EntityVisibility& operator=(const EntityVisibility&) = delete;
  /// Requires: no entity is hidden by it any more, or none of them lives.
  ~EntityVisibility() = default;

  /// Errors: as Pool::init.
  Status init(const EntityVisibilityConfig& config, Allocator& allocator = default_allocator());

  /// A module's word about an entity. The descriptor of `entity` is the caller's to renew; for what is attached to it,
  /// the listener of DynamicComponents is called.
  /// Errors: out_of_slots: too many are hidden, this one stays visible; the log says so the first time.
  Status set_visible(Entity& entity, VisibilityModule module, bool is_visible);
  /// All modules agree from now on.
  void show(Entity& entity);

  /// One bit for each module that hides it; 0 if none does.
  uint32_t hidden_by(const Entity& entity) const;
  bool is_visible_to(const Entity& entity, VisibilityModule module) const {
    return (hidden_by(entity) >> static_cast<unsigned>(module) & 1) == 0;
  }
  /// Entities that somebody hides. [count]
  uint32_t hidden() const { return holders_.pool().used(); }

 private:
  struct Holder final : Extension {
    Holder() : Extension(kVisibilityExtension) {}
    uint32_t modules = 0;  // that hide it
  };
  static Holder* holder_of(const Entity& entity) { return entity.extensions().find<Holder>(kVisibilityExtension); }
  static void release(Entity& entity, Holder& holder);
  static void set_hidden(Entity& entity, bool is_hidden);

  PoolFactory<Holder, Extension> holders_;
};

}  // namespace meridian
