// SPDX-License-Identifier: MIT
#pragma once
/// Tracked references that remember who holds them: for tools and debug builds that ask why an object is still wanted.
///
///   struct Ped : Trackable {};
///   KnownRefs known;
///   Status ready = known.init(8192);                     // "Known Refs" in the gameconfig
///   Ped ped;
///   CountedRef<Ped> driver(known, &ped);                 // remembers this line
///   known.for_each(&ped, [](void*, const RefHolder& holder) {
///     std::printf("held by %s:%u\n", holder.file, holder.line);
///   });
///
/// Behaves like TrackedRef otherwise. A full KnownRefs pool says so once; such references work, and are not listed.
///
/// Threads: main. Memory: a record for each reference that points to something, from the pool "Known Refs".

#include <cstdint>

#include "meridian/core/pool.h"
#include "meridian/core/tracked_ref.h"

namespace meridian {

/// A line of the program. As a default argument it is the caller's; clang 14 has no std::source_location.
struct CallSite {
  const char* file = "";
  const char* function = "";
  uint32_t line = 0;  ///< [from 1]
  static constexpr CallSite current(const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                                    uint32_t line = __builtin_LINE()) {
    return {file, function, line};
  }
};

/// Where a reference was last pointed at its object.
struct RefHolder {
  const Trackable* object = nullptr;
  const TrackedRefBase* reference = nullptr;
  const char* file = "";
  const char* function = "";
  uint32_t line = 0;  ///< [from 1]
};

/// All holders that are known. Outlives the references made with it.
class KnownRefs {
 public:
  /// Errors: as Pool::init.
  Status init(uint32_t capacity, Allocator& allocator = default_allocator(), MemoryTracker* tracker = nullptr) {
    return holders_.init({.name = "Known Refs", .capacity = capacity, .tracker = tracker}, allocator);
  }
  /// References that were pointed at something, are listed, and were not cleared since. [count]
  uint32_t count() const { return holders_.used(); }
  /// Calls `visit` for each holder of `object`, or of anything for null. Walks the pool.
  void for_each(const Trackable* object, void (*visit)(void* user, const RefHolder& holder),
                void* user = nullptr) const {
    for (const RefHolder& holder : holders_) {
      const bool is_alive = static_cast<bool>(*holder.reference);  // objects that died told their references only
      if (is_alive && (object == nullptr || holder.object == object)) visit(user, holder);
    }
  }

 private:
  template <class>
  friend class CountedRef;
  Pool<RefHolder> holders_;
};

/// A TrackedRef that is listed in a KnownRefs while it points to something.
template <class T>
class CountedRef {
 public:
  explicit CountedRef(KnownRefs& known, T* object = nullptr, CallSite at = CallSite::current()) : known_(&known) {
    set(object, at);
  }
  CountedRef(const CountedRef& other, CallSite at = CallSite::current()) : known_(other.known_) {
    set(other.get(), at);
  }
  CountedRef& operator=(const CountedRef&) = delete;  ///< set() knows the line, an operator would not
  ~CountedRef() { set(nullptr); }

  /// Points at `object`, or at nothing for null.
  void set(T* object, CallSite at = CallSite::current()) {
    reference_ = object;
    RefHolder* holder = known_->holders_.get(holder_);
    if (object == nullptr) {
      if (holder != nullptr) known_->holders_.destroy(*holder);
      holder_ = {};
      return;
    }
    if (holder == nullptr) {
      holder = known_->holders_.create();
      if (holder == nullptr) return;
      holder_ = known_->holders_.handle_of(*holder);
    }
    *holder = {object, &reference_, at.file, at.function, at.line};
  }
  T* get() const { return reference_.get(); }
  T* operator->() const { return reference_.operator->(); }
  T& operator*() const { return *reference_; }
  explicit operator bool() const { return static_cast<bool>(reference_); }

 private:
  KnownRefs* known_;
  TrackedRef<T> reference_;
  Handle<RefHolder> holder_;
};

}  // namespace meridian
