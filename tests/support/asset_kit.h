// SPDX-License-Identifier: MIT
#pragma once
/// Asset stores in a real engine that reads packs in memory, and a journal of what came and went.
///
///   AssetStore<CountedAsset> textures("TxdStore");                // before the world, whose engine goes first
///   test::AssetWorld world;
///   world.mount({{kTextureKind, "bark", "brown"}});
///   ASSERT_TRUE(textures.init({.slots = 8, .mounts = &world.mounts, .kind = kTextureKind}, world.loader()).ok());
///   world.start({{&textures}});

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <string>
#include <vector>

#include "meridian/stream/asset_store.h"
#include "meridian/stream/counting_loader.h"
#include "meridian/stream/stream_io.h"
#include "meridian/stream/streaming.h"
#include "support/mount_kit.h"
#include "support/pack_maker.h"

namespace meridian::test {

inline constexpr uint32_t kTextureKind = kind_of("TXDR"), kModelKind = kind_of("DRWB"), kModelsKind = kind_of("DWDR"),
                          kFragmentKind = kind_of("FRGM");

struct AssetFile {
  uint32_t kind = 0;
  std::string name, text;
};
struct AssetModule {
  NamedModule* module = nullptr;
  uint32_t max_loaded = 0;
};

/// The engine goes before what it reads from. Stores that are declared after the world need finish() before they go.
struct AssetWorld {
  ResourceMounts mounts;
  std::list<PackBuffer> packs;
  CountingLoader counter;
  std::vector<std::string> journal;       ///< "+name" and "-name", in order
  std::map<uint32_t, std::string> texts;  ///< of all names in packs
  SerialIo io;
  StreamingEngine engine;

  AssetWorld() {
    EXPECT_TRUE(mounts.init({}).ok());
    EXPECT_TRUE(counter.init(1000, default_allocator()).ok());
    EXPECT_TRUE(engine.init({.mounts = &mounts, .io = &io}).ok());
  }
  AssetWorld(const AssetWorld&) = delete;
  AssetWorld& operator=(const AssetWorld&) = delete;
  ~AssetWorld() { finish(); }

  MountId mount(const std::vector<AssetFile>& files) {
    PackMaker maker;
    for (const AssetFile& file : files) {
      maker.store(file.kind, file.name, file.text);
      texts[hash_name(file.name).value] = file.name;
    }
    packs.push_back(maker.make());
    const Result<MountId> id = mounts.mount_pack(packs.back().span());
    EXPECT_TRUE(id.ok()) << id.status().message;
    return id.ok() ? id.value() : MountId{};
  }

  /// Counts, and writes into the journal.
  AssetLoader<CountedAsset> loader() {
    AssetLoader<CountedAsset> out = counter.loader();
    out.load = [](void* user, NameHash name, std::span<const std::byte> bytes) -> CountedAsset* {
      auto& self = *static_cast<AssetWorld*>(user);
      self.journal.push_back("+" + self.texts[name.value]);
      const AssetLoader<CountedAsset> inner = self.counter.loader();
      return inner.load(inner.user, name, bytes);
    };
    out.unload = [](void* user, CountedAsset& asset) {
      auto& self = *static_cast<AssetWorld*>(user);
      self.journal.push_back("-" + self.texts[asset.name.value]);
      const AssetLoader<CountedAsset> inner = self.counter.loader();
      inner.unload(inner.user, asset);
    };
    out.prepare = [](void* user, NameHash name, std::span<const std::byte> bytes) {
      const AssetLoader<CountedAsset> inner = static_cast<AssetWorld*>(user)->counter.loader();
      return inner.prepare(inner.user, name, bytes);
    };
    out.user = this;
    return out;
  }

  template <class More>
  void start(const std::vector<AssetModule>& modules, More&& more) {
    for (const AssetModule& m : modules) {
      EXPECT_TRUE(engine.add_module(*m.module, {.slots = m.module->capacity(), .max_loaded = m.max_loaded}).ok());
    }
    more(engine);  // modules without names
    EXPECT_TRUE(engine.start().ok());
  }
  void start(const std::vector<AssetModule>& modules) {
    start(modules, [](StreamingEngine&) {});
  }
  /// Updates until nothing moves.
  void settle() {
    for (int i = 0; i < 50; ++i) {
      const StreamProgress progress = engine.update({.seconds = 0.01f});
      if (progress.chunks == 0 && progress.started == 0 && progress.left == 0) return;
    }
  }
  std::vector<std::string> take_journal() {
    std::vector<std::string> out;
    out.swap(journal);
    return out;
  }
  void finish() { engine.shutdown(); }
};

}  // namespace meridian::test
