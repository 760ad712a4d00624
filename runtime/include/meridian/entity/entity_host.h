// SPDX-License-Identifier: MIT
#pragma once
/// What a host is asked and told about entities. Pointers to functions, so that a host need not derive from anything;
/// what is null has a default.
///
///   struct Renderer { bool has(const void* draw) const; };
///   Renderer* renderer = nullptr;
///   EntityHost host{.user = renderer};
///   host.is_ready = [](void* user, const Entity& thing) { return static_cast<Renderer*>(user)->has(thing.draw()); };
///   host.on_create = [](void*, Entity& thing) { thing.set_population(PopulationType::random_permanent); };
///
/// Threads: as each says.

#include "meridian/entity/entity.h"

namespace meridian {

struct EntityHost {
  void* user = nullptr;  ///< comes back in each call

  /// Whether all is there that drawing needs, so that its LOD parent may give way. Null: always.
  /// Threads: any, while nobody changes entities.
  bool (*is_ready)(void* user, const Entity& entity) = nullptr;
  /// A new entity, which stands at its place. That of a map has its descriptor and is not in the world yet: what this
  /// changes and descriptors show - place, mask, alpha - is handed on by SceneRepresentation::update; hiding is seen.
  /// Threads: main.
  void (*on_create)(void* user, Entity& entity) = nullptr;
  /// An entity is about to die: clear its physics and draw data. Its handle is good until this returns. Threads: main.
  void (*on_destroy)(void* user, Entity& entity) = nullptr;

  bool ready(const Entity& entity) const { return is_ready == nullptr || is_ready(user, entity); }
  void created(Entity& entity) const {
    if (on_create != nullptr) on_create(user, entity);
  }
  void destroyed(Entity& entity) const {
    if (on_destroy != nullptr) on_destroy(user, entity);
  }
};

/// What others learn of entities that change because of something that they are attached to: the scene renews
/// descriptors, physics lets go of constraints. The functions must not attach, detach, move, hide or destroy anything.
/// Threads: main.
struct EntityListener {
  void* user = nullptr;
  /// It moved along; transform() is the new one.
  void (*on_moved)(void* user, Entity& entity) = nullptr;
  /// is_visible() changed.
  void (*on_visibility)(void* user, Entity& entity) = nullptr;
  /// It is about to come off; parent and constraints can still be asked for.
  void (*on_detach)(void* user, Entity& entity) = nullptr;
};

}  // namespace meridian
