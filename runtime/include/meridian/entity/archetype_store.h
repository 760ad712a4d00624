// SPDX-License-Identifier: MIT
#pragma once
/// All archetypes that are loaded, by name. They come and go with type files, and more than one file may define a name:
/// a higher layer hides what lower ones define, and what was hidden is back, the same object, when it leaves.
///
///   GameConfig config;                                          // loaded by the host
///   ArchetypeStore store;
///   Status ready = store.init({.slots = config.model_slots(), .types = 4000});
///   // What load and unload are: map/map_types.h.
///   ready = load_map_types(store, resource, {.slot = 40, .layer = 0, .file = hash_name("props")});
///   Archetype* lamp = store.find(hash_name("prop_lamp"));     // null: no loaded file defines it
///   const ModelId id = store.model_id(hash_name("prop_lamp"));
///   assert(store.at(id) == lamp);
///   ready = unload_map_types(store, 40);                      // in_use while an entity is of one of its archetypes
///
/// A name means one definition: that of the highest layer; within a layer that of the file that came first, and the log
/// names both files. The others wait. Listeners are told whenever a name changes its meaning, so that entities that are
/// there already can go on with the new one. A file that entities refer to is not unloaded; to take away an override
/// that is in use, withdraw_types() takes its names out of force and listeners move the entities, then it can go.
///
/// Files are loaded in three steps, which load_map_types() does for compiled ones; a host does them itself for
/// archetypes that it makes in code:
///
///   const KindCount kinds[] = {{hash_type("CBaseArchetypeDef"), 2}};
///   ready = store.open_types({.slot = 41, .file = hash_name("from_code")}, kinds);   // memory for all, or nothing
///   Archetype* box = store.create(41, hash_type("CBaseArchetypeDef"), hash_name("box"));
///   ready = store.publish_types(41);                          // its names count
///
/// Threads: main; find(), at() and the other queries by any number of readers while nobody changes the store.
/// Memory:  about 64 bytes for each slot of an archetype and 200 for each slot of a file in init(); the arrays of a
///          file and a pointer for each of its archetypes in open_types().

#include <cstdint>
#include <span>

#include "meridian/base/log.h"
#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/core/factory.h"
#include "meridian/core/game_config.h"
#include "meridian/entity/archetype.h"

namespace meridian {

namespace schema {
struct Extension;
}

/// How long a type file's archetypes stay.
enum class Permanence : uint8_t {
  streamed,    ///< until it is unloaded
  permanent,   ///< for good, in slots of their own
  in_context,  ///< until its content context is closed; streamed from then on, and in such slots from the start
};

/// Where a type file belongs.
struct TypesPlacement {
  ItypSlot slot = kNoItyp;  ///< [0, ArchetypeStoreConfig::types)
  LayerId layer = 0;        ///< higher ones hide lower ones
  Permanence permanence = Permanence::streamed;
  uint32_t context = 0;  ///< with Permanence::in_context
  NameHash file{};       ///< for messages
};

/// How many things a file has that a structure of this name defines.
struct KindCount {
  TypeHash structure{};
  uint32_t count = 0;
};

/// Takes what a definition says of an extension. `user` comes back in each call.
struct EffectReader {
  void (*read)(void* user, Extension& effect, const Archetype& owner, const schema::Extension& definition) = nullptr;
  void* user = nullptr;
};

/// Is told that a name has another meaning. Null `before`: nothing defined it; null `now`: nothing does any more. Both
/// are alive during the call. It must not open, publish, withdraw or close types. `settled`, if there is one, is called
/// after each row of such calls: the names of a file change together.
struct ArchetypeListener {
  void (*changed)(void* user, NameHash name, Archetype* before, Archetype* now) = nullptr;
  void* user = nullptr;
  void (*settled)(void* user) = nullptr;
  friend bool operator==(const ArchetypeListener&, const ArchetypeListener&) = default;
};

struct ArchetypeStoreConfig {
  ModelSlots slots{};          ///< of archetypes, GameConfig::model_slots()
  uint32_t types = 4000;       ///< slots of type files [1, 0xFFFF] [count]
  uint32_t components = 2900;  ///< capacity of pool "fwDynamicArchetypeComponent", from the gameconfig [count]
  bool all_types_permanent = false;
  ExtensionRegistry* effects = nullptr;  ///< for extensions of archetypes, not of entities; null: there are none
  EffectReader read_effect{};
  MemoryTracker* tracker = nullptr;  ///< as PoolConfig::tracker
};

class ArchetypeStore {
 public:
  static constexpr uint32_t kMaxKinds = 32;
  static constexpr uint32_t kMaxEffectSilos = 64;
  static constexpr uint32_t kMaxListeners = 8;

  ArchetypeStore() = default;
  ArchetypeStore(const ArchetypeStore&) = delete;
  ArchetypeStore& operator=(const ArchetypeStore&) = delete;
  ~ArchetypeStore() { shutdown(); }

  /// Takes the memory and makes the factories of the four known structures: CBaseArchetypeDef, CTimeArchetypeDef,
  /// CMloArchetypeDef, CCompositeEntityType. Until then the store is empty.
  /// Requires: not initialised (asserted; otherwise in_use).
  /// Errors: too_large (slots or types), out_of_memory; the store is as before.
  Status init(const ArchetypeStoreConfig& config, Allocator& allocator = default_allocator());
  /// Takes all types away, permanent ones too, tells no listener, and gives the memory back. Factories of the host and
  /// listeners are forgotten; init() may follow. Requires: nobody refers to an archetype (asserted).
  void shutdown();

  /// Archetypes that a structure of this name defines are T's from `factory`, a kind of the host's, or a larger one in
  /// place of the store's own: then T derives from the kind that it replaces (asserted; otherwise nothing happens). The
  /// factory is initialised for as many files as the store, and outlives it. One factory may serve several structures.
  /// Requires: initialised; no types are loaded; at most kMaxKinds structures (asserted; otherwise nothing happens).
  template <class T>
  void set_factory(TypeHash structure, SiloFactory<T, Archetype>& factory) {
    set_kind(kind_row<T>(structure, factory));
  }
  /// The extensions that such structures define come from `factory`, which is also the registry's: its array for a file
  /// is opened and closed with the file. The rest as set_factory; at most kMaxEffectSilos structures.
  template <class T>
  void add_effect_silo(TypeHash structure, SiloFactory<T, Extension>& factory) {
    add_silo(silo_row<T, Extension>(structure, factory));
  }
  /// The structures that were given to add_effect_silo.
  uint32_t effect_silo_count() const { return effect_count_; }
  TypeHash effect_silo(uint32_t index) const { return effects_[index].structure; }

  /// Errors: out_of_slots after kMaxListeners, in_use if it is one already.
  Status add_listener(ArchetypeListener listener);
  /// Requires: it was added (asserted).
  void remove_listener(ArchetypeListener listener);

  // --- questions ---

  /// What a name means; null if no published file defines it. About 10 ns.
  Archetype* find(NameHash name) const {
    for (uint32_t at = home(name);; at = (at + 1) & name_mask_) {
      const Name& entry = names_[at];
      if (entry.name == name) return entry.archetype;  // null for the name 0
      if (entry.name.value == 0) return nullptr;
    }
  }
  /// The same for a map that depends on these type files: null too if none of them defines the name and no permanent
  /// file does. Which definition is in force does not matter, so that an override serves the maps of what it hides.
  /// As fast as find() where a dependency defines what is in force; there are few of them.
  Archetype* find_for(NameHash name, std::span<const ItypSlot> dependencies) const;
  /// This very definition is permanent, or of one of these type files.
  static bool is_available_to(const Archetype& archetype, std::span<const ItypSlot> dependencies);
  /// Null if there is none now; another one if both slots were used again.
  Archetype* at(ModelId id) const {
    if (id.archetype >= slot_count_) return nullptr;
    Archetype* const archetype = slots_[id.archetype].archetype;
    return archetype != nullptr && archetype->model_id() == id ? archetype : nullptr;
  }
  /// Of what the name means; none if it means nothing.
  ModelId model_id(NameHash name) const {
    const Archetype* const archetype = find(name);
    return archetype != nullptr ? archetype->model_id() : ModelId{};
  }

  uint32_t types_capacity() const { return type_count_; }  ///< ArchetypeStoreConfig::types
  bool is_loaded(ItypSlot types) const { return types < type_count_ && types_[types].state != TypesState::none; }
  bool is_published(ItypSlot types) const {
    return types < type_count_ && types_[types].state == TypesState::published;
  }
  /// As the types were opened, but streamed where their context is closed. Requires: is_loaded() (asserted; otherwise
  /// an empty one).
  TypesPlacement placement(ItypSlot types) const;
  /// In the order of creation; those that wait are among them. Empty if the types are not loaded.
  std::span<Archetype* const> archetypes(ItypSlot types) const {
    return is_loaded(types) ? std::span<Archetype* const>(types_[types].list, types_[types].count)
                            : std::span<Archetype* const>();
  }
  /// Protections of the types that hold still: not taken back, or the renderer did not get there.
  bool is_protected(ItypSlot types) const {
    return is_loaded(types) && (types_[types].protections != 0 || types_[types].fence > completed_fence_);
  }

  uint32_t name_count() const { return name_count_; }  ///< names that mean something [count]
  uint32_t permanent_used() const { return permanent_.capacity - permanent_.free; }  ///< slots [count]
  uint32_t streamed_used() const { return streamed_.capacity - streamed_.free; }     ///< slots [count]
  bool all_types_permanent() const { return config_.all_types_permanent; }
  uint32_t permanent_free() const { return permanent_.free; }  ///< slots [count]
  uint32_t streamed_free() const { return streamed_.free; }    ///< slots [count]
  uint32_t streamed_capacity() const { return streamed_.capacity; }
  const Pool<ArchetypeComponent>& components() const { return components_; }
  /// Archetypes that got no slot or have no name, since init(). [count]
  uint64_t left_out() const { return left_out_; }

  // --- loading ---

  /// Takes memory for all archetypes of a type file, and for those extensions that have silos. Counts may be more than
  /// what comes. Structures that stand twice add up.
  /// Requires: initialised; slot < types (asserted; otherwise bad_value), not loaded (asserted; otherwise in_use).
  /// Errors: not_found (no factory for a structure; detail = the structure), out_of_memory, and what the factories
  ///         say; the store is then as before.
  Status open_types(const TypesPlacement& placement, std::span<const KindCount> kinds,
                    std::span<const KindCount> effects = {});
  /// Makes an archetype and has it read its definition. Null where it is left out: no slot is free, or the name is 0;
  /// the log says so once for each. Dictionaries of clips and collisions go to its component.
  /// Requires: the types are open and not published yet, and have room for one more of this structure (asserted;
  /// otherwise null).
  Archetype* create(ItypSlot types, TypeHash structure, NameHash name, const ArchetypeSource& source = {});
  /// Its component, made now if it has none. Null if the pool is full, which the log says.
  ArchetypeComponent* component(Archetype& archetype);
  /// Gives it an extension that a structure of this name defines; null where it is left out
  /// (ExtensionRegistry::create).
  Extension* add_effect(Archetype& archetype, TypeHash structure);
  const EffectReader& effect_reader() const { return config_.read_effect; }
  /// The names of the types count from now on. A name that the same file had already is reported, and its second
  /// archetype never comes into force.
  /// Requires: loaded, not published (asserted; otherwise not_found, in_use).
  Status publish_types(ItypSlot types);

  // --- unloading ---

  /// Takes the names out of force; the archetypes stay, at() still finds them, and publish_types() may follow.
  /// Errors: in_use (permanent), not_found (not published).
  Status withdraw_types(ItypSlot types);
  /// Has a new version of a type file, which is loaded and not published, take the old one's place: each name that both
  /// define goes from one to the other without meaning nothing or a third one's in between. The old one is withdrawn,
  /// and can be closed when nobody refers to it, even if it was permanent.
  /// Requires: both were opened in the same layer (asserted; otherwise bad_value).
  /// Errors: not_found (`old` is not published, or `with` not loaded), in_use (`with` is published, or was).
  Status replace_types(ItypSlot old, ItypSlot with);
  /// Destroys all archetypes of a type file with their extensions and components, and frees its arrays. Types that are
  /// published are withdrawn first; those that are only open are given up, whatever their permanence.
  /// `ends_permanence`: permanent ones go as well, because another file stands in their place, or the world ends.
  /// Errors: in_use (permanent; protected; an archetype with references, then detail = how many archetypes), not_found.
  ///         Nothing has changed then.
  Status close_types(ItypSlot types, bool ends_permanence = false);
  /// Ends the permanence of all types in a content context, and unloads those that nobody uses.
  /// Errors: in_use (detail = types that are still there; they stream now: close_types() takes them when it can).
  Status close_context(uint32_t context);

  /// For an entity that did not come from a map: the archetype's types stay until unprotect(). Counted.
  void protect(const Archetype& archetype);
  /// Takes one protection back, once the renderer has done with frame `fence`; 0: it never saw the entity. Until
  /// release_fenced() says so, the types stay. Requires: protect() was called for it (asserted).
  void unprotect(const Archetype& archetype, uint64_t fence);
  /// The renderer has done with all frames up to this one.
  void release_fenced(uint64_t completed_fence);

  // --- models and dictionaries ---

  /// Finds the model of an archetype in its dictionary, which is loaded; the entries are names of models. If it is not
  /// there, or beyond the 255th, the archetype's model is missing: there is nothing to wait for, the log says so once.
  /// Requires: kind drawable_dictionary (asserted; otherwise wrong_kind). Errors: not_found.
  Status resolve_dictionary_entry(Archetype& archetype, std::span<const NameHash> entries);
  /// The dictionary leaves: the model has to be looked up again.
  void forget_dictionary_entry(Archetype& archetype);
  /// The textures that a drawable dictionary's models share: those of the first archetype in force that has its model
  /// there and asks for textures; 0 if none does. Where another one asks for others, the log says so once.
  NameHash parent_textures(NameHash drawable_dictionary) const;

  /// What was said once may be said again, as at the start of a session.
  void reset_messages();

 private:
  /// A name and what it means. Empty: name 0.
  struct Name {
    NameHash name{};
    ArchetypeSlot top = kNoArchetype;  // the first of the definitions
    ItypSlot types = kNoItyp;          // that it is of; here so that find_for() looks no further most of the time
    Archetype* archetype = nullptr;    // in that slot
  };
  struct Slot {
    Archetype* archetype = nullptr;      // null: free
    ArchetypeSlot below = kNoArchetype;  // the next definition of the name
    LayerId layer = 0;
    ArchetypeSlot next = kNoArchetype, previous = kNoArchetype;  // those with a model in the same dictionary
  };
  /// A drawable dictionary and the archetypes that have their models there, in the order of publishing. Empty: name 0.
  struct Dictionary {
    NameHash name{};
    ArchetypeSlot first = kNoArchetype, last = kNoArchetype;
  };
  enum class TypesState : uint8_t { none, open, published, withdrawn };
  struct Types {
    TypesPlacement placement;
    TypesState state = TypesState::none;
    Archetype** list = nullptr;
    uint32_t count = 0, capacity = 0;
    uint32_t protections = 0;
    uint64_t fence = 0;  // the latest frame that may show one of which the protection was taken back
  };
  /// Free slots, a ring: one that was released is used again last of all.
  struct FreeSlots {
    ArchetypeSlot* ring = nullptr;
    uint32_t capacity = 0, head = 0, free = 0;
    ArchetypeSlot take();
    void give_back(ArchetypeSlot slot);
  };
  struct Silo {
    TypeHash structure{};
    void* factory = nullptr;
    Status (*open)(void* factory, uint32_t file, uint32_t count) = nullptr;
    void (*close)(void* factory, uint32_t file) = nullptr;
  };
  struct Kind : Silo {
    Archetype* (*create)(void* factory, uint32_t file) = nullptr;
    void (*read)(Archetype& archetype, const ArchetypeSource& source) = nullptr;
    ArchetypeForm form = ArchetypeForm::base;
  };
  struct OwnFactories;
  struct Layout;

  template <class T, class Base>
  static Silo silo_row(TypeHash structure, SiloFactory<T, Base>& factory) {
    using Factory = SiloFactory<T, Base>;
    return {structure, &factory,
            [](void* self, uint32_t file, uint32_t count) { return static_cast<Factory*>(self)->open(file, count); },
            [](void* self, uint32_t file) { static_cast<Factory*>(self)->close(file); }};
  }
  template <class T>
  static Kind kind_row(TypeHash structure, SiloFactory<T, Archetype>& factory) {
    Kind kind;
    static_cast<Silo&>(kind) = silo_row<T, Archetype>(structure, factory);
    kind.create = [](void* self, uint32_t file) { return static_cast<SiloFactory<T, Archetype>*>(self)->create(file); };
    kind.read = [](Archetype& archetype, const ArchetypeSource& source) { static_cast<T&>(archetype).read(source); };
    kind.form = T::kForm;
    return kind;
  }
  void set_kind(const Kind& kind);
  void add_silo(const Silo& silo);
  const Kind* find_kind(TypeHash structure) const;
  template <class Row>
  Status open_silos(std::span<const Row> rows, std::span<const KindCount> counts, ItypSlot types);
  void close_silos(ItypSlot types);

  /// An odd constant spreads names that follow one another.
  uint32_t home(NameHash name) const { return name.value * 0x9E3779B1u >> 15 & name_mask_; }
  uint32_t place_of(NameHash name) const;
  bool is_hidden_one_available(const Name& entry, std::span<const ItypSlot> dependencies) const;
  bool stack(Archetype& archetype);
  bool take_place(Archetype& archetype, ItypSlot old);
  void unstack(Archetype& archetype);
  void set_meaning(Name& entry, ArchetypeSlot top);
  void tell_settled();
  void erase_name(uint32_t at);
  uint32_t dictionary_place(NameHash name) const;
  void join_dictionary(Archetype& archetype);
  void leave_dictionary(Archetype& archetype);
  ArchetypeSlot first_in_force(const Dictionary& dictionary) const;
  void report_textures(const Archetype& archetype);

  bool may_change() const;
  Types* loaded(ItypSlot types) { return is_loaded(types) ? &types_[types] : nullptr; }
  static uint32_t referenced(const Types& types);
  void withdraw(Types& types);
  void destroy(Types& types);

  Name no_name_{};
  Name* names_ = &no_name_;  // open addressing, never more than half full
  uint32_t name_mask_ = 0;
  uint32_t slot_count_ = 0;
  Slot* slots_ = nullptr;
  Dictionary* dictionaries_ = nullptr;  // open addressing, as large as names_
  Types* types_ = nullptr;
  uint32_t type_count_ = 0, loaded_ = 0, name_count_ = 0;
  uint64_t completed_fence_ = 0;
  FreeSlots permanent_, streamed_;
  OwnFactories* own_ = nullptr;
  Kind kinds_[kMaxKinds];
  Silo effects_[kMaxEffectSilos];
  ArchetypeListener listeners_[kMaxListeners];
  uint32_t kind_count_ = 0, effect_count_ = 0, listener_count_ = 0;
  bool is_telling_ = false;
  Pool<ArchetypeComponent> components_;
  ArchetypeStoreConfig config_;
  Allocator* allocator_ = nullptr;
  void* block_ = nullptr;
  size_t block_bytes_ = 0;
  uint64_t left_out_ = 0;
  OnceSet full_, nameless_, twice_, textures_, missing_;
};

}  // namespace meridian
