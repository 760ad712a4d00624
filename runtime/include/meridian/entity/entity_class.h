// SPDX-License-Identifier: MIT
#pragma once
/// The classes that entities are made of: which C++ type stands behind a number, how large it is, how one is made and
/// destroyed. The runtime's own are there from the start, all as plain entities; a host puts its types in their place,
/// and adds classes of its own.
///
///   struct Tree : Entity { float sway = 0; };
///   EntityClassRegistry classes;
///   constexpr EntityClass kTree{kFirstHostClass};
///   classes.add<Tree>(kTree, "Tree");
///   classes.set_chooser({[](void*, const ClassQuery& query) {
///     return query.name == hash_name("oak") ? kTree : query.by_rule;
///   }});
///   void* at = allocator.allocate(classes.info(kTree).size, classes.info(kTree).alignment);
///   Entity& oak = classes.construct(kTree, at);
///   classes.destroy(oak);
///
/// Arrays of one class are contiguous: element i stands at first + i * size, which is a multiple of the alignment.
///
/// Threads: main; readers once all is registered.
/// Memory:  none but itself, 1.8 KiB.

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "meridian/base/assert.h"
#include "meridian/base/name_hash.h"
#include "meridian/entity/archetype_traits.h"
#include "meridian/entity/entity.h"

namespace meridian {

struct EntityDesc;

/// Numbers are below this: a descriptor has 5 bits for the class. [count]
inline constexpr unsigned kMaxEntityClasses = 32;

/// Switches of a class.
enum class ClassFlag : uint8_t {
  is_dynamic = 1 << 0,  ///< its entities begin with BaseFlag::is_dynamic
  is_light = 1 << 1,    ///< goes into containers of lights
};

/// Fills in what the host knows better than the entity, such as wider bounds. `out` holds the entity's state already.
struct DescHook {
  void (*fill)(void* user, const Entity& entity, EntityDesc& out) = nullptr;
  void* user = nullptr;
};

struct EntityClassInfo {
  const char* name = nullptr;  ///< null: no such class
  uint32_t size = 0;           ///< a multiple of the alignment [bytes]
  uint32_t alignment = 0;      ///< [bytes]
  Entity* (*construct)(void* at) = nullptr;
  void (*destroy)(Entity& entity) = nullptr;
  DescHook desc;  ///< empty: descriptors hold what the entity knows
  Flags<ClassFlag> flags;
};

/// What a chooser may go by.
struct ClassQuery {
  EntityClass by_rule = EntityClass::building;  ///< what the runtime would take
  NameHash name{};                              ///< of the archetype
  TypeHash structure{};                         ///< name of the structure that defines it
  uint32_t flags = 0;                           ///< schema::ArchetypeFlags, all of them
};
struct ClassChooser {
  EntityClass (*choose)(void* user, const ClassQuery& query) = nullptr;
  void* user = nullptr;
};

class EntityClassRegistry {
 public:
  /// The runtime's classes, 0 to 6. Animated buildings and interior instances are not dynamic: maps own them.
  EntityClassRegistry();

  /// Class `number` consists of T's. Replaces one of the runtime's own. `name` lives as long as the registry.
  /// Requires: number is of the runtime's or >= kFirstHostClass, < kMaxEntityClasses, not given by the host before;
  ///           no entity of the class lives (asserted as far as can be told; otherwise nothing).
  template <class T>
  void add(EntityClass number, const char* name, Flags<ClassFlag> flags = {}, DescHook desc = {}) {
    static_assert(std::is_base_of_v<Entity, T>, "entities derive from Entity");
    static_assert(!std::is_polymorphic_v<T>, "an entity has no virtual functions: Entity must stand at its begin");
    static_assert(std::is_default_constructible_v<T>);
    add(number, {.name = name,
                 .size = static_cast<uint32_t>(sizeof(T)),
                 .alignment = static_cast<uint32_t>(alignof(T)),
                 .construct = [](void* at) -> Entity* { return ::new (at) T; },
                 .destroy = [](Entity& entity) { static_cast<T&>(entity).~T(); },
                 .desc = desc,
                 .flags = flags});
  }

  bool has(EntityClass number) const {
    return static_cast<unsigned>(number) < kMaxEntityClasses && infos_[static_cast<unsigned>(number)].name != nullptr;
  }
  /// Requires: has(number) (asserted; otherwise that of buildings).
  const EntityClassInfo& info(EntityClass number) const {
    MERIDIAN_ASSERT(has(number), "no such class of entities");
    return infos_[has(number) ? static_cast<unsigned>(number) : 0];
  }

  /// Has a say in choose() from now on; an empty one has none.
  void set_chooser(ClassChooser chooser) { chooser_ = chooser; }
  /// The class for entities of an archetype: by_rule, unless the chooser says otherwise. What it says that is not
  /// registered is a fault of the host (asserted; otherwise by_rule).
  EntityClass choose(const ClassQuery& query) const;

  /// Makes an entity of a class. Requires: has(number); `at` is aligned, and has room.
  Entity& construct(EntityClass number, void* at) const {
    const EntityClassInfo& of = info(number);
    MERIDIAN_ASSERT(reinterpret_cast<uintptr_t>(at) % of.alignment == 0,
                    "memory of an entity is aligned for its class");
    Entity& entity = *of.construct(at);
    MERIDIAN_ASSERT(static_cast<void*>(&entity) == at, "Entity is the first base of an entity's class");
    entity.set_type(&of == &infos_[0] ? EntityClass::building : number);
    if (of.flags.has(ClassFlag::is_dynamic)) entity.set_flags(BaseFlag::is_dynamic);
    return entity;
  }
  /// Destroys an entity by its class; the memory is the caller's.
  void destroy(Entity& entity) const { info(entity.type()).destroy(entity); }
  /// Lets the host fill in a descriptor, if the class has a hook for it.
  void fill_desc(const Entity& entity, EntityDesc& out) const {
    const DescHook& hook = info(entity.type()).desc;
    if (hook.fill != nullptr) hook.fill(hook.user, entity, out);
  }

 private:
  void add(EntityClass number, const EntityClassInfo& info);

  EntityClassInfo infos_[kMaxEntityClasses];
  uint32_t by_host_ = 0;  // one bit for each class that the host gave
  ClassChooser chooser_;
};

}  // namespace meridian
