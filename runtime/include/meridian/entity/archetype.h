// SPDX-License-Identifier: MIT
#pragma once
/// What many entities share: bounds, draw distance, the model and its textures, and what else a definition in a type
/// file says. An Archetype lives in the array of its type file; an ArchetypeStore makes it, names it and takes it away.
///
///   ArchetypeStore store;                                           // filled from type files
///   if (Archetype* lamp = store.find(hash_name("prop_lamp"))) {
///     lamp->add_reference();                                        // an entity uses it
///     const float distance = lamp->lod_distance();
///     const TimeArchetype* timed = lamp->as<TimeArchetype>();       // null: it is there at all hours
///     const bool is_there = timed == nullptr || timed->is_there_at(23);
///     lamp->remove_reference();
///   }
///
/// Archetypes are not Extensible: nothing tracks them and they carry no decorators. They have a list of extensions all
/// the same, the 2D effects of their definition, which come from a registry of their own.
///
/// A host derives its own kinds from Archetype or from one of the kinds below, and gives the store a factory for them.
/// There are no virtual functions: a kind that takes more from its definition declares a read() of its own, which calls
/// that of its base first.
///
/// Threads: main; readers while nobody changes it.
/// Memory:  112 bytes and what a kind adds; 48 more only where animations or collisions have dictionaries.

#include <cstdint>
#include <type_traits>

#include "meridian/base/assert.h"
#include "meridian/base/name_hash.h"
#include "meridian/core/extension.h"
#include "meridian/entity/archetype_traits.h"
#include "meridian/entity/model_id.h"

namespace meridian {

namespace schema {
struct CompositeEntityType;
struct MloArchetypeDef;
struct TimeArchetypeDef;
}  // namespace schema

/// Draw distance of an archetype that no definition gives one. [m]
inline constexpr float kDefaultLodDistance = 100;

/// What kind of file the model is in. Numbers are those of schema::AssetType.
enum class DrawableKind : uint8_t {
  none = 0,                 ///< not said yet
  fragment = 1,             ///< a model with parts that move or break
  drawable = 2,             ///< a single model
  drawable_dictionary = 3,  ///< one model of a dictionary
  assetless = 4,            ///< no model, as for interiors
};
/// The host did not say yet which slot its model has.
inline constexpr uint32_t kNoDrawableSlot = 0xFFFFFF;
/// The model was not looked up in its dictionary yet, or is not there.
inline constexpr uint8_t kNoDictionaryEntry = 0xFF;

/// What only some archetypes have. Made by ArchetypeStore::component() on first use.
struct ArchetypeComponent {
  NameHash clip_dictionary{};        ///< animations
  NameHash blend_shapes{};           ///< shapes of faces
  NameHash expression_dictionary{};  ///< movements that follow others
  NameHash expression{};             ///< the one in that dictionary
  NameHash physics_dictionary{};     ///< collision; the archetype's own name if it is inside the model
  uint32_t physics_references = 0;   ///< the host's count of uses of `physics`
  void* physics = nullptr;           ///< the host's collision
};
static_assert(sizeof(ArchetypeComponent) <= 48);

/// The parts of a definition in a file. Those that its kind does not have are null; all are for an archetype that is
/// made in code. Archetypes point into them, so they live as long.
struct ArchetypeSource {
  const schema::ArchetypeDef* base = nullptr;
  const schema::TimeArchetypeDef* time = nullptr;
  const schema::MloArchetypeDef* interior = nullptr;
  const schema::CompositeEntityType* composite = nullptr;
};

class TimeArchetype;
class InteriorArchetype;
class CompositeArchetype;

class Archetype {
 public:
  static constexpr ArchetypeForm kForm = ArchetypeForm::base;

  Archetype() : Archetype(kForm) {}
  Archetype(const Archetype&) = delete;
  Archetype& operator=(const Archetype&) = delete;
  ~Archetype() { MERIDIAN_ASSERT(component_ == nullptr, "an archetype is taken away by its store"); }

  /// Takes what the definition says; nothing where it has no `base`. Called once, before the archetype is published.
  void read(const ArchetypeSource& source);

  NameHash name() const { return name_; }
  ModelId model_id() const { return model_id_; }
  ArchetypeForm form() const { return static_cast<ArchetypeForm>(state_ & kFormMask); }
  /// As a TimeArchetype, InteriorArchetype or CompositeArchetype; null if it is another kind. For other T it does not
  /// compile: only the host knows which archetypes are of its own kinds.
  template <class T>
  T* as() {
    static_assert(kHasForm<T>, "one of the runtime's kinds");
    return form() == T::kForm ? static_cast<T*>(this) : nullptr;
  }
  template <class T>
  const T* as() const {
    static_assert(kHasForm<T>, "one of the runtime's kinds");
    return form() == T::kForm ? static_cast<const T*>(this) : nullptr;
  }

  /// What entities that place it take from it. Its `flags` are all that the definition has, not only kTraitFlags; the
  /// hash of traits is the same either way.
  const ArchetypeTraits& traits() const { return traits_; }
  /// For archetypes that are made in code. Requires: not published yet, as descriptors are built from traits (asserted;
  /// otherwise nothing happens).
  void set_traits(const ArchetypeTraits& traits) {
    MERIDIAN_ASSERT(!is_published(), "traits are set before an archetype is published");
    if (!is_published()) traits_ = traits;
  }
  const Aabb& box() const { return traits_.box; }                     ///< of the model [m]
  Vec3 sphere_centre() const { return traits_.sphere_centre; }        ///< of the model [m]
  float sphere_radius() const { return traits_.sphere_radius; }       ///< [m]
  float lod_distance() const { return traits_.lod_distance; }         ///< as the definition has it, even if <= 0 [m]
  float hd_texture_distance() const { return hd_texture_distance_; }  ///< nearer, high-detail textures are used [m]
  void set_hd_texture_distance(float distance) { hd_texture_distance_ = distance; }
  uint32_t flags() const { return traits_.flags; }  ///< bits of schema::ArchetypeFlags
  /// A number of schema::SpecialAttribute. Those above 65535, which mean nothing, are read as 0.
  uint32_t special_attribute() const { return special_attribute_; }
  void set_special_attribute(uint16_t attribute) { special_attribute_ = attribute; }

  // --- the model ---

  DrawableKind drawable_kind() const { return static_cast<DrawableKind>(drawable_ >> kDrawableBits); }
  /// The slot that the host keeps the model in, or its dictionary; kNoDrawableSlot until it says so. [index]
  uint32_t drawable_slot() const { return drawable_ & kNoDrawableSlot; }
  /// Requires: slot <= kNoDrawableSlot (asserted; otherwise kNoDrawableSlot).
  void set_drawable(DrawableKind kind, uint32_t slot = kNoDrawableSlot);
  /// Name of the model: that of the archetype unless the definition says otherwise.
  NameHash asset_name() const { return asset_name_; }
  NameHash drawable_dictionary() const { return drawable_dictionary_; }  ///< the dictionary that holds it; 0: none
  NameHash texture_dictionary() const { return texture_dictionary_; }    ///< 0: none
  /// Requires: not published yet, as the store knows which archetypes share a dictionary (asserted; otherwise nothing
  /// happens).
  void set_model_names(NameHash asset, NameHash drawable_dictionary, NameHash texture_dictionary);
  /// Place of the model in its dictionary, or kNoDictionaryEntry. ArchetypeStore::resolve_dictionary_entry finds it.
  uint8_t dictionary_entry() const { return dictionary_entry_; }
  /// The dictionary is there, the model is not in it: there is nothing to wait for.
  bool is_model_missing() const { return (state_ & kMissing) != 0; }

  /// Its definition has spawn points, or points at which others come to be.
  bool has_spawn_points() const { return (state_ & kSpawnPoints) != 0; }
  void set_has_spawn_points(bool on) { set_state(kSpawnPoints, on); }

  // --- the rest ---

  /// 2D effects. The archetype owns them.
  ExtensionList& extensions() { return extensions_; }
  const ExtensionList& extensions() const { return extensions_; }
  /// Null: it has none.
  ArchetypeComponent* component() { return component_; }
  const ArchetypeComponent* component() const { return component_; }
  NameHash clip_dictionary() const { return component_ != nullptr ? component_->clip_dictionary : NameHash{}; }
  NameHash physics_dictionary() const { return component_ != nullptr ? component_->physics_dictionary : NameHash{}; }

  /// Uses by entities, and by whoever else needs that it stays. [count]
  uint32_t references() const { return references_; }
  void add_reference() {
    MERIDIAN_ASSERT(references_ != UINT32_MAX, "too many references to an archetype");
    references_ += references_ != UINT32_MAX ? 1u : 0u;
  }
  /// Requires: add_reference() was called for it (asserted; otherwise nothing happens).
  void remove_reference() {
    MERIDIAN_ASSERT(references_ != 0, "a reference is removed once");
    references_ -= references_ != 0 ? 1u : 0u;
  }

  /// Its type file's definitions count.
  bool is_published() const { return (state_ & kPublished) != 0; }
  /// It is what its name means now: no other definition stands before it.
  bool is_in_force() const { return (state_ & kInForce) != 0; }
  /// Every map may use it: its type file is permanent, or its content context is open.
  bool is_permanent() const { return (state_ & kPermanent) != 0; }

 protected:
  explicit Archetype(ArchetypeForm form) : state_(static_cast<uint8_t>(form)) {
    traits_.lod_distance = kDefaultLodDistance;
  }

 private:
  friend class ArchetypeStore;
  template <class T>
  static constexpr bool kHasForm =
      std::is_same_v<T, TimeArchetype> || std::is_same_v<T, InteriorArchetype> || std::is_same_v<T, CompositeArchetype>;
  static constexpr uint32_t kDrawableBits = 24;
  static constexpr uint8_t kFormMask = 0x07, kMissing = 0x08, kPermanent = 0x10, kPublished = 0x20, kInForce = 0x40,
                           kSpawnPoints = 0x80;
  void set_state(uint8_t bit, bool on) { state_ = static_cast<uint8_t>(on ? state_ | bit : state_ & ~bit); }

  ArchetypeTraits traits_;
  NameHash name_{};
  ExtensionList extensions_;
  ArchetypeComponent* component_ = nullptr;
  NameHash asset_name_{}, drawable_dictionary_{}, texture_dictionary_{};
  float hd_texture_distance_ = 0;
  uint32_t drawable_ = kNoDrawableSlot;  // the slot; above it the kind
  uint32_t references_ = 0;
  ModelId model_id_;
  uint16_t special_attribute_ = 0;
  uint8_t dictionary_entry_ = kNoDictionaryEntry;
  uint8_t state_;  // the form; above it switches
};
static_assert(sizeof(void*) != 8 || sizeof(Archetype) <= 112);

/// There at certain hours only.
class TimeArchetype : public Archetype {
 public:
  static constexpr ArchetypeForm kForm = ArchetypeForm::time;
  TimeArchetype() : Archetype(kForm) {}
  void read(const ArchetypeSource& source);

  uint32_t hours() const { return hours_ & 0xFFFFFF; }  ///< bit h: there in [h:00, h+1:00)
  bool is_there_at(uint32_t hour) const { return hour < 24 && (hours_ >> hour & 1) != 0; }
  /// It may come and go while someone looks at it.
  bool may_swap_while_visible() const { return (hours_ >> 24 & 1) != 0; }
  /// Bits of schema::TimeFlags.
  void set_time_flags(uint32_t flags) { hours_ = flags; }

 private:
  uint32_t hours_ = 0;
};

/// Rooms and portals, and what stands inside.
class InteriorArchetype : public Archetype {
 public:
  static constexpr ArchetypeForm kForm = ArchetypeForm::interior;
  InteriorArchetype() : Archetype(kForm) {}
  void read(const ArchetypeSource& source);

  /// In the file. Null where the archetype was made in code.
  const schema::MloArchetypeDef* definition() const { return definition_; }

 private:
  const schema::MloArchetypeDef* definition_ = nullptr;
};

/// Changes from one model to another, by animations in between.
class CompositeArchetype : public Archetype {
 public:
  static constexpr ArchetypeForm kForm = ArchetypeForm::composite;
  CompositeArchetype() : Archetype(kForm) {}
  void read(const ArchetypeSource& source);

  /// In the file, animations included. Null where the archetype was made in code.
  const schema::CompositeEntityType* definition() const { return definition_; }
  NameHash start_model() const { return start_model_; }  ///< before; 0: none
  NameHash end_model() const { return end_model_; }      ///< after; 0: none
  NameHash start_map() const { return start_map_; }      ///< the map that is there before; 0: none
  NameHash end_map() const { return end_map_; }          ///< the one that is there after; 0: none

 private:
  const schema::CompositeEntityType* definition_ = nullptr;
  NameHash start_model_{}, end_model_{}, start_map_{}, end_map_{};
};

}  // namespace meridian
