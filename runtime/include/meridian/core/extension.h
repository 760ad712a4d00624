// SPDX-License-Identifier: MIT
#pragma once
/// Optional parts of objects. What only some entities need (a ladder, a light, decorators) hangs on them as an
/// extension, so that an entity itself stays small.
///
///   constexpr ExtensionKind kLadder{3};
///   struct Ladder final : Extension {
///     Ladder() : Extension(kLadder) {}
///     float height = 0;
///   };
///   struct Thing : Extensible {};
///   PoolFactory<Ladder, Extension> ladders;
///   Status ready = ladders.init({.name = "LadderExtension", .capacity = 500});
///   ExtensionRegistry registry;
///   registry.add_factory(kLadder, "LadderExtension", ladders);
///   registry.associate(hash_type("CExtensionDefLadder"), kLadder);
///   Thing thing;
///   Extension* made = registry.create(hash_type("CExtensionDefLadder"), /*file=*/7);
///   if (made != nullptr) thing.extensions().add(*made);
///   Ladder* ladder = thing.extensions().find<Ladder>(kLadder);          // null if it has none
///
/// An object's list is linked through the extensions themselves: attaching allocates nothing. Kinds below 32 have a bit
/// in the object, so "it has none" needs no walk; give the frequent ones the low numbers.
///
/// Threads: main. Memory: the list is 16 bytes; extensions are their factory's, or the caller's.

#include <cstdint>

#include "meridian/base/name_hash.h"
#include "meridian/core/factory.h"
#include "meridian/core/tracked_ref.h"

namespace meridian {

/// Number of a kind of extension, unique in the program. The program hands them out, but for those of the runtime.
struct ExtensionKind {
  uint32_t id = UINT32_MAX;  ///< [0, kMaxExtensionKinds)
  friend constexpr bool operator==(ExtensionKind, ExtensionKind) = default;
};
inline constexpr uint32_t kMaxExtensionKinds = 256;
/// Kinds with a bit in each list. [count]
inline constexpr uint32_t kMaskedExtensionKinds = 32;
/// The runtime's own kinds, the last two with a bit: for core/decorator.h and for entity/entity_visibility.h. The very
/// last is that of entity/entity_batch.h.
inline constexpr ExtensionKind kRuntimeExtension{kMaskedExtensionKinds - 1};
inline constexpr ExtensionKind kVisibilityExtension{kMaskedExtensionKinds - 2};

/// Base of all extensions. Copies are in no list.
class Extension {
 public:
  /// Requires: in no list (asserted).
  virtual ~Extension() { MERIDIAN_ASSERT(!is_listed_, "an extension is taken out of its list before it dies"); }
  ExtensionKind kind() const { return kind_; }
  /// The next in the object's list, or null.
  Extension* next() const { return next_; }
  /// Who destroys it when its object dies; null: the caller. ExtensionRegistry::create sets it.
  void set_factory(Factory<Extension>* factory) { factory_ = factory; }

 protected:
  explicit Extension(ExtensionKind kind) : kind_(kind) {
    MERIDIAN_ASSERT(kind.id < kMaxExtensionKinds, "kinds of extensions are numbered below kMaxExtensionKinds");
  }
  Extension(const Extension& other) : kind_(other.kind_) {}
  Extension& operator=(const Extension&) { return *this; }  // NOLINT(bugprone-unhandled-self-assignment): links stay

 private:
  friend class ExtensionList;
  Extension* next_ = nullptr;
  Factory<Extension>* factory_ = nullptr;  // whose it is; null: the caller's
  ExtensionKind kind_;
  bool is_listed_ = false;
};

/// The extensions of one object. Several of one kind may be there; the one that came last is found first.
class ExtensionList {
 public:
  ExtensionList() = default;
  ExtensionList(const ExtensionList&) = delete;
  ExtensionList& operator=(const ExtensionList&) = delete;
  ~ExtensionList() { clear(); }

  /// Requires: in no list (asserted).
  void add(Extension& extension);
  /// Takes it out and leaves it to the caller. Requires: in this list (asserted).
  void unlink(Extension& extension);
  /// Takes out the first of a kind, or returns null.
  Extension* unlink(ExtensionKind kind);
  /// Takes it out and gives it back to its factory. Requires: in this list, made by a factory (asserted).
  void destroy(Extension& extension);
  /// Destroys all. Those of no factory are only taken out: they are the caller's.
  void clear();

  bool has(ExtensionKind kind) const {
    return kind.id < kMaskedExtensionKinds ? (mask_ >> kind.id & 1) != 0 : walk(kind) != nullptr;
  }
  /// The first of a kind, or null.
  Extension* find(ExtensionKind kind) const {
    if (kind.id < kMaskedExtensionKinds && (mask_ >> kind.id & 1) == 0) return nullptr;
    return walk(kind);
  }
  /// The same, as what it is. Requires: extensions of that kind are T's.
  template <class T>
  T* find(ExtensionKind kind) const {
    return static_cast<T*>(find(kind));
  }
  Extension* first() const { return first_; }
  bool empty() const { return first_ == nullptr; }
  /// One bit for each of the first 32 kinds that is there.
  uint32_t mask() const { return mask_; }

 private:
  Extension* walk(ExtensionKind kind) const;
  /// False: it is not in this list.
  bool take_out(Extension& extension);
  void take_out(Extension** link);

  Extension* first_ = nullptr;
  uint32_t mask_ = 0;
};
static_assert(sizeof(ExtensionList) == 16);

/// Base of what can have extensions, and be referred to by TrackedRef.
class Extensible : public Trackable {
 public:
  ExtensionList& extensions() { return extensions_; }
  const ExtensionList& extensions() const { return extensions_; }

 protected:
  Extensible() = default;
  ~Extensible() = default;

 private:
  ExtensionList extensions_;
};
static_assert(sizeof(Extensible) == 24);

/// Which factory makes which kind, and which structures of data files mean which kind. Filled at start-up.
class ExtensionRegistry {
 public:
  static constexpr uint32_t kMaxDefinitions = 256;

  /// `name` and `factory` outlive the registry. Requires: one factory for a
  /// kind, which is none of the runtime's own (asserted).
  void add_factory(ExtensionKind kind, const char* name, Factory<Extension>& factory);
  /// Extensions whose definition is a structure of this name are of `kind`.
  /// Requires: the kind has a factory, the structure has no kind yet, fewer than kMaxDefinitions (asserted).
  void associate(TypeHash definition, ExtensionKind kind);

  /// An extension for a definition in the file in slot `file`; the caller adds it to an object, which owns it then.
  /// Null for an unknown structure or a full factory: the object goes without, and the log says so once for each.
  Extension* create(TypeHash definition, uint32_t file);
  /// The same by kind. Null also where the kind has no factory.
  Extension* create(ExtensionKind kind, uint32_t file);

  /// Extensions that were left out since the start. [count]
  uint64_t left_out() const { return left_out_; }
  /// What was said once may be said again, as at the start of a session.
  void reset_messages() {
    unknown_.clear();
    full_.clear();
  }

 private:
  struct Definition {
    TypeHash name{};
    ExtensionKind kind{};
  };
  const Definition* find(TypeHash name) const;

  struct Kind {
    const char* name = nullptr;
    Factory<Extension>* factory = nullptr;
  };
  Kind kinds_[kMaxExtensionKinds];
  Definition definitions_[kMaxDefinitions];  // sorted by name
  uint32_t definition_count_ = 0;
  OnceSet unknown_, full_;
  uint64_t left_out_ = 0;
};

}  // namespace meridian
