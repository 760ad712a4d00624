// SPDX-License-Identifier: MIT
#pragma once
/// A pool of a base type and all that derives from it: buildings, doors and peds share the storage of entities, in
/// slots as large as the largest of them.
///
///   struct Entity { virtual ~Entity() = default; };
///   struct Door : Entity { float angle = 0; };
///   DerivedPool<Entity> entities;
///   entities.register_type<Door>();                    // before init(), so that the slots are large enough
///   Status ready = entities.init({.name = "Entity", .capacity = 100});
///   Door* door = entities.create<Door>();
///   entities.destroy(*door);                           // by the virtual destructor
///
/// All else is as in core/pool.h. Threads: as there. Memory: one block in init(); see largest_bytes().

#include "meridian/core/pool.h"

namespace meridian {

template <class Base, class Threading = OwnerThread>
class DerivedPool final : public BasicPool<Base, detail::FlatSlots<0>, Threading> {
  static_assert(std::has_virtual_destructor_v<Base>, "elements are destroyed through their base");

 public:
  /// Makes the slots large enough for a D. Requires: before init() (asserted).
  template <class D>
  void register_type() {
    static_assert(std::is_base_of_v<Base, D>);
    MERIDIAN_ASSERT(this->slots_.count() == 0, "types are registered before the pool is made");
    if (sizeof(D) > size_) size_ = sizeof(D);
    if (alignof(D) > alignment_) alignment_ = alignof(D);
  }
  /// Size of the largest registered type. [bytes]
  size_t largest_bytes() const { return size_; }

  /// As Pool::init.
  Status init(const PoolConfig& config, Allocator& allocator = default_allocator()) {
    return this->start(config, size_, alignment_, allocator);
  }

  /// Makes a D, or returns null without a word if there is no free slot.
  /// Requires: D was registered, or is no larger and no stricter aligned than what was (asserted; otherwise null).
  template <class D, class... Arguments>
  D* try_create(Arguments&&... arguments) {
    static_assert(std::is_base_of_v<Base, D>);
    const size_t stride = this->slots_.stride();
    if (this->slots_.count() == 0) return nullptr;
    const bool fits = sizeof(D) <= stride && alignof(D) <= this->slots_.alignment() && stride % alignof(D) == 0;
    MERIDIAN_ASSERT(fits, "a type that is larger than the pool's slots was not registered");
    return fits ? this->template make<D>(std::forward<Arguments>(arguments)...) : nullptr;
  }
  /// As try_create; a full pool reports itself as in Pool::create.
  template <class D, class... Arguments>
  D* create(Arguments&&... arguments) {
    D* const element = try_create<D>(std::forward<Arguments>(arguments)...);
    if (element == nullptr) this->report_full();
    return element;
  }

 private:
  size_t size_ = sizeof(Base), alignment_ = alignof(Base);
};

}  // namespace meridian
