// SPDX-License-Identifier: MIT
#pragma once
/// References that become null when their object dies. For whoever points at an object that another part of the program
/// may destroy, and wants a pointer, not a handle and its pool.
///
///   struct Ped : Trackable { int health = 100; };
///   struct Car { TrackedRef<Ped> driver; };
///   Car car;
///   {
///     Ped ped;
///     car.driver = &ped;                  // links the reference into the object's list
///   }
///   assert(!car.driver);                  // the object took it back when it died
///
/// The links lie in the references themselves: assigning, clearing and destroying one takes the same few instructions
/// whether the object has one or a thousand, and there is nothing to run out of. Death takes a step for each reference.
///
/// Threads: main; the object and all that refer to it belong to one thread.
/// Memory:  none. 8 bytes in the object, 24 in a reference.
/// Source:  own; the list whose links point at links is an old trick.

#include <cstddef>
#include <type_traits>

#include "meridian/base/assert.h"

namespace meridian {

class TrackedRefBase;

/// Base of what can be referred to. Copies of an object begin without references.
class Trackable {
 public:
  Trackable() = default;
  Trackable(const Trackable&) {}
  Trackable& operator=(const Trackable&) { return *this; }  // NOLINT(bugprone-unhandled-self-assignment): links stay

  bool is_referenced() const { return first_ != nullptr; }
  /// Walks the list. [count]
  size_t reference_count() const;

 protected:
  /// All references become null. Not virtual: objects are destroyed by their own type.
  ~Trackable() { clear_references(); }
  /// Makes all references null before the object dies, for instance when it is pooled.
  void clear_references();

 private:
  friend class TrackedRefBase;
  TrackedRefBase* first_ = nullptr;
};

/// The part of a reference that knows no type.
class TrackedRefBase {
 public:
  TrackedRefBase(const TrackedRefBase&) = delete;  // TrackedRef copies: by linking, not member by member
  TrackedRefBase& operator=(const TrackedRefBase&) = delete;

  explicit operator bool() const { return object_ != nullptr; }
  /// Refers to nothing from now on.
  void reset() {
    if (object_ == nullptr) return;
    *link_ = next_;
    if (next_ != nullptr) next_->link_ = link_;
    object_ = nullptr;
  }

 protected:
  TrackedRefBase() = default;
  ~TrackedRefBase() { reset(); }
  void point_to(Trackable* object) {
    if (object == object_) return;
    reset();
    if (object == nullptr) return;
    object_ = object;
    link_ = &object->first_;
    next_ = object->first_;
    if (next_ != nullptr) next_->link_ = &next_;
    *link_ = this;
  }
  Trackable* object() const { return object_; }

 private:
  friend class Trackable;
  Trackable* object_ = nullptr;
  TrackedRefBase* next_ = nullptr;   // in the object's list
  TrackedRefBase** link_ = nullptr;  // what points at this: the object's first_, or the next_ before
};

inline void Trackable::clear_references() {
  TrackedRefBase* reference = first_;
  first_ = nullptr;
  while (reference != nullptr) {
    TrackedRefBase* const next = reference->next_;
    reference->object_ = nullptr;
    reference = next;
  }
}

inline size_t Trackable::reference_count() const {
  size_t count = 0;
  for (const TrackedRefBase* reference = first_; reference != nullptr; reference = reference->next_) ++count;
  return count;
}

/// A pointer to a T that becomes null when the T dies. T derives from Trackable, not virtually.
template <class T>
class TrackedRef : public TrackedRefBase {
 public:
  TrackedRef() = default;
  TrackedRef(T* object) { point_to(object); }  // NOLINT(google-explicit-constructor): stands where pointers stood
  TrackedRef(const TrackedRef& other) : TrackedRefBase() { point_to(other.object()); }
  ~TrackedRef() = default;
  TrackedRef& operator=(const TrackedRef& other) {
    point_to(other.object());
    return *this;
  }
  TrackedRef& operator=(T* object) {
    point_to(object);
    return *this;
  }

  /// The object, or null.
  T* get() const { return static_cast<T*>(object()); }
  T* operator->() const {
    MERIDIAN_ASSERT(object() != nullptr, "the object is gone");
    return get();
  }
  T& operator*() const {
    MERIDIAN_ASSERT(object() != nullptr, "the object is gone");
    return *get();
  }
  friend bool operator==(const TrackedRef& a, const TrackedRef& b) { return a.object() == b.object(); }
  friend bool operator==(const TrackedRef& a, const T* b) { return a.get() == b; }
};

static_assert(sizeof(TrackedRef<Trackable>) == 3 * sizeof(void*));

}  // namespace meridian
