// SPDX-License-Identifier: MIT
#pragma once
/// What is it really? A class knows its own name's hash and its base class, so that an object can be asked for its kind
/// and turned into it, in a runtime that is built without RTTI.
///
///   class Thing : public Rtti {
///     MERIDIAN_RTTI(Thing, Rtti)
///   };
///   class Door : public Thing {
///     MERIDIAN_RTTI(Door, Thing)
///   };
///
///   Door door;
///   Thing& thing = door;
///   const bool is_door = thing.is<Door>();      // a Door, or what derives from it
///   Door* const found = thing.as<Door>();       // null if it is something else; a const object gives const
///   const TypeHash kind = thing.type_hash();    // hash_type("Door"), of what it really is
///
/// The macro stands first in the class and leaves access private. Every class of a hierarchy carries it: is<T> and
/// as<T> don't compile for a T that has only its base's. Names are taken as written in the macro, so two classes of one
/// hierarchy must not share a name across namespaces: a class that has the hash of one of its bases does not compile;
/// of two siblings, one would pass for the other.
///
/// Threads: immutable.
/// Memory:  a pointer to the table of virtual functions in each object.
/// Cost:    of is and as: one virtual call, which compares a number for each level of the object's class.
/// Limits:  non-virtual inheritance, from one base that derives from Rtti. Others may stand beside it.

#include <type_traits>

#include "meridian/base/name_hash.h"

namespace meridian {

namespace detail {
/// T itself carries the macro, not only its base.
template <class T>
concept HasOwnRtti = std::is_same_v<typename T::RttiSelf, T>;
}  // namespace detail

/// The root of every hierarchy.
class Rtti {
 public:
  virtual ~Rtti() = default;

  /// Whether the object is a T, or of a class that derives from T.
  template <class T>
  bool is() const {
    static_assert(detail::HasOwnRtti<T>, "the class needs a MERIDIAN_RTTI of its own");
    return is_a(T::rtti_hash());
  }
  /// The object as a T, or null.
  template <class T>
  T* as() {
    return is<T>() ? static_cast<T*>(this) : nullptr;
  }
  template <class T>
  const T* as() const {
    return is<T>() ? static_cast<const T*>(this) : nullptr;
  }

  /// Whether its class, or one of the bases of that, has this name.
  virtual bool is_a(TypeHash name) const = 0;
  /// Name of its class.
  virtual TypeHash type_hash() const = 0;

  // For MERIDIAN_RTTI.
  using RttiSelf = Rtti;
  static constexpr bool rtti_has(TypeHash) { return false; }

 protected:
  Rtti() = default;
  Rtti(const Rtti&) = default;
  Rtti& operator=(const Rtti&) = default;
};

}  // namespace meridian

/// First in a class that derives from `Base`: Rtti, or a class that has this macro.
/// Functions and no constants, so that classes inside of functions may have it too.
#define MERIDIAN_RTTI(Class, Base)                                                                              \
 public:                                                                                                        \
  static_assert(::meridian::detail::HasOwnRtti<Base>, "the base class needs a MERIDIAN_RTTI of its own");       \
  static_assert(!Base::rtti_has(::meridian::hash_type(#Class)), "a base class has the same name, or its hash"); \
  using RttiSelf [[maybe_unused]] = Class;                                                                      \
  static constexpr ::meridian::TypeHash rtti_hash() { return ::meridian::hash_type(#Class); }                   \
  static constexpr bool rtti_has(::meridian::TypeHash name) {                                                   \
    constexpr ::meridian::TypeHash own = ::meridian::hash_type(#Class);                                         \
    return name == own || Base::rtti_has(name);                                                                 \
  }                                                                                                             \
  bool is_a(::meridian::TypeHash name) const override { return rtti_has(name); }                                \
  ::meridian::TypeHash type_hash() const override {                                                             \
    constexpr ::meridian::TypeHash own = ::meridian::hash_type(#Class);                                         \
    return own;                                                                                                 \
  }                                                                                                             \
                                                                                                                \
 private:
