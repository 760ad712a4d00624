// SPDX-License-Identifier: MIT
#pragma once
/// Stores for all that archetypes need, with a real engine that reads packs in memory.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "meridian/map/archetype_models.h"
#include "meridian/map/map_types.h"
#include "support/asset_kit.h"
#include "support/schema_text.h"
#include "types_file.h"

namespace meridian::test {

inline constexpr uint32_t kTypesKind = kind_of("ITYP");

/// Type files as a module: what the archetypes are made of, and nothing else.
class TypesModule final : public NamedModule {
 public:
  explicit TypesModule(ArchetypeStore& store) : NamedModule("MapTypesStore"), store_(store) {}
  Status prepare(uint32_t, StreamPayload& payload) const override {
    const Result<Resource> opened = open_resource(payload.bytes, {.kind = kTypesKind});
    if (opened.ok()) payload.resource = opened.value();
    return opened.status();
  }
  StreamStep place(uint32_t slot, const StreamPayload& payload) override {
    const Status made =
        load_map_types(store_, payload.resource, {.slot = static_cast<ItypSlot>(slot), .file = payload.name});
    return {made.ok() ? StreamStep::Kind::done : StreamStep::Kind::failed, made};
  }
  StreamStep remove(uint32_t slot) override {
    const Status gone = unload_map_types(store_, static_cast<ItypSlot>(slot));
    EXPECT_TRUE(gone.ok()) << gone.message;
    return {};
  }

 private:
  ArchetypeStore& store_;
};

inline std::string file_with(TypesMaker& maker, const char* name) {
  const TypesFile file = maker.finish(name);
  const Bytes bytes = seal(file.resource().payload(), {}, kTypesKind, file.resource().layout_fingerprint());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline Definition model_of(schema::AssetType type, const char* asset, const char* dictionary = "",
                           const char* textures = "") {
  Definition out;
  out.type = type;
  out.asset = hash_name(asset).value;
  out.dictionary = hash_name(dictionary).value;
  out.textures = hash_name(textures).value;
  return out;
}

/// Stores for everything, and an engine. A dictionary's text is the names of its models, a blank between.
struct Host {
  ArchetypeStore store;
  TypesModule types{store};
  AssetStore<CountedAsset> textures{kTxdStore.module}, drawables{kDrawableStore.module},
      dictionaries{kDrawableDictionaryStore.module}, fragments{kFragmentStore.module};
  ArchetypeModels models;
  AssetWorld world;                                   // last: its engine goes first
  std::map<uint32_t, std::vector<NameHash>> entries;  // by the dictionary's name

  explicit Host(uint32_t archetypes = 20, uint32_t most_drawables = 0) {
    EXPECT_TRUE(store.init({.slots = {4, archetypes}, .types = 10, .components = 4}).ok());
    EXPECT_TRUE(types.init_names({.slots = 10, .mounts = &world.mounts, .kind = kTypesKind}).ok());
    const auto make = [&](AssetStore<CountedAsset>& made, uint32_t kind) {
      const AssetStoreConfig config{.slots = 16, .mounts = &world.mounts, .kind = kind, .parents = &textures};
      EXPECT_TRUE(made.init(config, world.loader()).ok());
    };
    make(textures, kTextureKind);
    make(drawables, kModelKind);
    make(dictionaries, kModelsKind);
    make(fragments, kFragmentKind);
    EXPECT_TRUE(models.init(config(archetypes + 4)).ok());
    world.start({{&types}, {&textures}, {&drawables, most_drawables}, {&dictionaries}, {&fragments}},
                [&](StreamingEngine& engine) {
                  EXPECT_TRUE(engine.add_module(models, {.slots = models.capacity(), .leaves_at_once = true}).ok());
                });
  }

  ArchetypeModelsConfig config(uint32_t slots) {
    ArchetypeModelsConfig out{.store = &store, .slots = slots, .type_slots = 10, .types = &types};
    out.fragments = &fragments;
    out.drawables = &drawables;
    out.dictionaries = &dictionaries;
    out.entries = [](void* user, uint32_t slot) {
      const auto& self = *static_cast<Host*>(user);
      EXPECT_NE(self.dictionaries.get(slot), nullptr);  // asked only while it is loaded
      const auto at = self.entries.find(self.dictionaries.name_of(slot).value);
      return at != self.entries.end() ? std::span<const NameHash>(at->second) : std::span<const NameHash>();
    };
    out.adopt = [](void* user, DrawableKind kind, uint32_t slot, NameHash wanted) {
      auto& self = *static_cast<Host*>(user);
      AssetStore<CountedAsset>& of = kind == DrawableKind::drawable   ? self.drawables
                                     : kind == DrawableKind::fragment ? self.fragments
                                                                      : self.dictionaries;
      return of.adopt(slot, wanted);
    };
    out.user = this;
    return out;
  }

  /// Mounts these, and gives all of them slots.
  void bring(const std::vector<AssetFile>& files) {
    world.mount(files);
    for (const AssetFile& file : files) {
      NamedModule& module = file.kind == kTypesKind     ? static_cast<NamedModule&>(types)
                            : file.kind == kTextureKind ? textures
                            : file.kind == kModelKind   ? drawables
                            : file.kind == kModelsKind  ? dictionaries
                                                        : static_cast<NamedModule&>(fragments);
      EXPECT_TRUE(module.add(hash_name(file.name)).ok());
    }
  }
  StreamingEngine& engine() { return world.engine; }
  Archetype& archetype(const char* name) {
    Archetype* const found = store.find(hash_name(name));
    EXPECT_NE(found, nullptr) << name;
    return *found;
  }
  StreamIndex index(const char* name) { return models.index_of(archetype(name)); }
  void load_types(const char* name) { EXPECT_TRUE(engine().load_now(types.find_index(hash_name(name))).ok()); }
  /// Leaves at once, with its bytes.
  void unload(StreamIndex index) {
    engine().reload(index);
    world.settle();
  }
};

}  // namespace meridian::test
