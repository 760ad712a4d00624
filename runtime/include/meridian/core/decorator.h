// SPDX-License-Identifier: MIT
#pragma once
/// Small named values that scripts and network code hang on objects: "Stolen" = true, "Bounty" = 500. Names have a
/// kind, registered once for all.
///
///   struct Ped : Extensible {};
///   DecoratorRegistry registry;
///   Decorators decorators(registry);
///   Status ready = decorators.begin_session({.decorators = 600, .decorated_objects = 200});
///   ready = registry.add(hash_name("Bounty"), DecoratorKind::integer, "police.sc");
///   Ped ped;
///   Status set = decorators.set(ped, hash_name("Bounty"), DecoratorValue::of_int(500));
///   int32_t bounty = 0;
///   if (decorators.get(ped, hash_name("Bounty"), bounty).ok()) bounty *= 2;
///   decorators.end_session();                                  // objects that still live lose theirs
///
/// Threads: main. Memory: two pools in begin_session(), "Decorator" and "DecoratorExtension"; nothing afterwards.

#include <bit>
#include <cstdint>
#include <span>

#include "meridian/core/extension.h"

namespace meridian {

/// The extension that holds an object's decorators. Theirs alone: it has no factory in a registry, and is never
/// unlinked.
inline constexpr ExtensionKind kDecoratorExtension = kRuntimeExtension;

enum class DecoratorKind : uint8_t { real, boolean, integer, string, time };

/// A stable word for a kind ("integer"). Threads: immutable.
const char* to_string(DecoratorKind kind);

/// A value and its kind. 8 bytes.
class DecoratorValue {
 public:
  constexpr DecoratorValue() = default;
  static constexpr DecoratorValue of_float(float v) { return {DecoratorKind::real, std::bit_cast<uint32_t>(v)}; }
  static constexpr DecoratorValue of_bool(bool v) { return {DecoratorKind::boolean, v ? 1u : 0u}; }
  static constexpr DecoratorValue of_int(int32_t v) { return {DecoratorKind::integer, static_cast<uint32_t>(v)}; }
  /// Only the hash is kept.
  static constexpr DecoratorValue of_string(NameHash v) { return {DecoratorKind::string, v.value}; }
  /// A moment of the game's clock. [ms]
  static constexpr DecoratorValue of_time(uint32_t ms) { return {DecoratorKind::time, ms}; }

  constexpr DecoratorKind kind() const { return kind_; }
  /// Each requires its kind (asserted).
  float as_float() const { return std::bit_cast<float>(bits_of(DecoratorKind::real)); }
  bool as_bool() const { return bits_of(DecoratorKind::boolean) != 0; }
  int32_t as_int() const { return static_cast<int32_t>(bits_of(DecoratorKind::integer)); }
  NameHash as_string() const { return {bits_of(DecoratorKind::string)}; }
  uint32_t as_time() const { return bits_of(DecoratorKind::time); }
  /// By bits: a NaN equals itself, and -0 is not 0.
  friend constexpr bool operator==(const DecoratorValue&, const DecoratorValue&) = default;

 private:
  constexpr DecoratorValue(DecoratorKind kind, uint32_t bits) : bits_(bits), kind_(kind) {}
  uint32_t bits_of([[maybe_unused]] DecoratorKind kind) const {
    MERIDIAN_ASSERT(kind_ == kind, "a decorator is read as the kind that it is");
    return bits_;
  }
  uint32_t bits_ = 0;
  DecoratorKind kind_ = DecoratorKind::real;
};

/// A name and its value.
struct DecoratorEntry {
  NameHash key{};
  DecoratorValue value{};
  friend constexpr bool operator==(const DecoratorEntry&, const DecoratorEntry&) = default;
};

/// Which names there are, and of which kind. Memory: 8 KiB, inside.
class DecoratorRegistry {
 public:
  static constexpr uint32_t kMaxKeys = 512;

  /// Makes a name known. Again with the same kind is fine. `who` says who asks, for messages; it outlives the registry.
  /// Errors: wrong_kind (it has another; the log names both who asked), in_use (locked), out_of_slots. `name` is the
  /// key.
  Status add(NameHash key, DecoratorKind kind, const char* who);
  /// From now on nothing can be added, until the session ends (DecoratorRegistry::unlock).
  void lock() { is_locked_ = true; }
  void unlock() { is_locked_ = false; }
  bool is_locked() const { return is_locked_; }
  uint32_t count() const { return count_; }

  bool knows(NameHash key) const { return find(key) != nullptr; }
  /// Errors: not_found (nobody registered it), wrong_kind; `name` is the key.
  Status check(NameHash key, DecoratorKind kind) const;

 private:
  struct Key {
    NameHash key{};
    DecoratorKind kind{};
    const char* who = "";
  };
  const Key* find(NameHash key) const;

  Key keys_[kMaxKeys];  // sorted by key
  uint32_t count_ = 0;
  bool is_locked_ = false;
};

struct DecoratorSession {
  uint32_t decorators = 600;         ///< capacity of pool "Decorator", from the gameconfig [count]
  uint32_t decorated_objects = 600;  ///< capacity of pool "DecoratorExtension", from the gameconfig [count]
  MemoryTracker* tracker = nullptr;  ///< as PoolConfig::tracker
};

/// Reads and writes the decorators of objects.
class Decorators {
 public:
  explicit Decorators(DecoratorRegistry& registry) : registry_(registry) {}
  Decorators(const Decorators&) = delete;
  Decorators& operator=(const Decorators&) = delete;
  ~Decorators() { end_session(); }

  /// Makes the pools. Requires: no session. Errors: as Pool::init.
  Status begin_session(const DecoratorSession& session, Allocator& allocator = default_allocator());
  /// Takes all decorators off all objects, frees the pools and unlocks the registry.
  void end_session();
  bool in_session() const { return is_in_session_; }

  /// Sets or replaces.
  /// Requires: a session; the object has no decorators of another Decorators (asserted; otherwise in_use).
  /// Errors: not_found (unregistered), wrong_kind, out_of_slots (a pool is full; nothing changed). `name` is the key.
  Status set(Extensible& object, NameHash key, DecoratorValue value);

  /// Reads. Errors: not_found (unregistered, or not on this object), wrong_kind; `out` is then as it was.
  Status get(const Extensible& object, NameHash key, DecoratorKind kind, DecoratorValue& out) const;
  Status get(const Extensible& object, NameHash key, float& out) const;
  Status get(const Extensible& object, NameHash key, bool& out) const;
  Status get(const Extensible& object, NameHash key, int32_t& out) const;
  Status get(const Extensible& object, NameHash key, NameHash& out) const;       ///< a string's
  Status get_time(const Extensible& object, NameHash key, uint32_t& out) const;  ///< [ms]

  bool exists(const Extensible& object, NameHash key) const;
  /// False: it was not there.
  bool remove(Extensible& object, NameHash key);
  void remove_all(Extensible& object);

  /// Makes the object's decorators these, as replication wants it. All or nothing.
  /// Requires: no key twice (asserted: the last wins otherwise). Errors: as set.
  Status replace_all(Extensible& object, std::span<const DecoratorEntry> entries);

  /// Copies what the object has; the order is that of setting, latest first, where a name that is set again keeps its
  /// place. If `out` is too small, it is filled and `found` is still the full number.
  /// Errors: too_small when found > out.size().
  Status list(const Extensible& object, std::span<DecoratorEntry> out, size_t& found) const;

  uint32_t used() const { return values_.used(); }  ///< decorators on all objects [count]

 private:
  struct Node {
    DecoratorEntry entry{};
    Node* next = nullptr;
  };
  struct Holder final : Extension {
    Holder() : Extension(kDecoratorExtension) {}
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    ~Holder() override {
      if (owner != nullptr) owner->free_values(*this);
    }
    Decorators* owner = nullptr;
    Extensible* object = nullptr;
    Node* first = nullptr;
    uint32_t count = 0;
  };
  static Holder* holder_of(const Extensible& object) { return object.extensions().find<Holder>(kDecoratorExtension); }
  static Node* find(const Extensible& object, NameHash key);
  /// get() of one kind, read by the accessor of that kind.
  template <class T>
  Status get_as(const Extensible& object, NameHash key, DecoratorKind kind, T (DecoratorValue::*as)() const,
                T& out) const;
  /// The object's decorators, if it has any, are in these pools.
  bool may_hold(const Extensible& object) const;
  /// The object's holder, made if it has none; null if the pool is full.
  Holder* hold(Extensible& object);
  void free_values(Holder& holder);

  DecoratorRegistry& registry_;
  Pool<Node> values_;
  PoolFactory<Holder, Extension> holders_;
  bool is_in_session_ = false;
};

}  // namespace meridian
