// SPDX-License-Identifier: MIT
// Rules: STR-6 (mounting), P089 (overrides undone): random operations against a model, and threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "meridian/resource/decompressor_set.h"
#include "meridian/resource/mount.h"
#include "support/mount_kit.h"
#include "support/temp_dir.h"
#include "support/zstd_frames.h"

namespace meridian {
namespace {

using test::PackBuffer;
using test::PackMaker;
using test::sealed;
using test::TempDir;

constexpr uint32_t kKinds[] = {kind_of("IMAP"), kind_of("ITYP")};
constexpr const char* kExtensions[] = {".imap", ".ityp"};
constexpr uint32_t kNames = 40;

std::string name_of(uint32_t i) { return "thing_" + std::to_string(i); }

/// In [0, limit).
uint32_t pick(std::mt19937& random, uint32_t limit) { return static_cast<uint32_t>(random() % limit); }

/// What one layer holds, as the model sees it: text by key; removed keys have none.
struct Layer {
  std::map<PackKey, std::string> texts;
  std::vector<PackKey> removed;
  std::unique_ptr<PackBuffer> pack;  ///< null: a folder
  std::string folder;
};

/// Five packs, two of which are patches, and two folders.
std::vector<Layer> make_layers(std::mt19937& random, const TempDir& files) {
  std::vector<Layer> layers(7);
  for (size_t l = 0; l < layers.size(); ++l) {
    Layer& layer = layers[l];
    PackMaker maker;
    for (uint32_t i = 0; i < kNames; ++i) {
      for (size_t k = 0; k < 2; ++k) {
        const PackKey key{kKinds[k], hash_name(name_of(i))};
        const uint32_t what = pick(random, 6);
        if (what < 3) {
          const std::string text =
              "layer " + std::to_string(l) + " " + test::wordy_text(pick(random, 200), pick(random, 9999));
          const std::string whole = l < 5 ? text : sealed(key.kind, text);
          layer.texts[key] = whole;
          if (l >= 5) {
            files.write("folder" + std::to_string(l) + "/" + name_of(i) + kExtensions[k], whole);
          } else if (what == 0) {
            maker.frame(key.kind, name_of(i), text, test::zstd_frame(text));
          } else {
            maker.store(key.kind, name_of(i), text);
          }
        } else if (what == 3 && l >= 3 && l < 5) {
          layer.removed.push_back(key);
        }
      }
    }
    std::sort(layer.removed.begin(), layer.removed.end());
    if (l >= 5) {
      layer.folder = files.path("folder" + std::to_string(l));
      continue;
    }
    if (l >= 3) maker.set_base(1234);
    maker.removed() = layer.removed;
    layer.pack = std::make_unique<PackBuffer>(maker.make());
  }
  return layers;
}

/// Which layer shows a key, or -1. Layers from the lowest to the highest.
int model_find(const std::vector<Layer>& layers, const std::vector<size_t>& mounted, PackKey key) {
  int found = -1;
  for (const size_t l : mounted) {
    if (std::binary_search(layers[l].removed.begin(), layers[l].removed.end(), key)) found = -1;
    if (layers[l].texts.count(key) != 0) found = static_cast<int>(l);
  }
  return found;
}

// STR-6, P089
TEST(MountRandom, AgreesWithAModel) {
  constexpr uint32_t kSeed = 20'260'301;
  constexpr int kOperations = 200'000;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  const TempDir files;
  const std::vector<Layer> layers = make_layers(random, files);
  DecompressorSet decompressors;
  ASSERT_TRUE(decompressors.init(1).ok());
  ResourceMounts mounts;
  ASSERT_TRUE(mounts.init({.max_mounts = 7, .decompressor = &decompressors}).ok());

  struct Held {
    PinnedResource pin;
    size_t layer;
    PackKey key;
  };
  std::vector<size_t> mounted;  // layers, lowest first
  std::map<size_t, MountId> ids;
  std::vector<MountId> stale;
  std::vector<Held> held;
  uint64_t loads = 0, refused = 0;
  for (int step = 0; step < kOperations && !HasFailure(); ++step) {
    const uint32_t what = pick(random, 100);
    const size_t l = random() % layers.size();
    const PackKey key{kKinds[random() % 2], hash_name(name_of(pick(random, kNames + 3)))};
    if (what < 3) {
      if (ids.count(l) != 0) continue;
      const Result<MountId> id = layers[l].pack ? mounts.mount_pack(layers[l].pack->span(), {.any_base = true})
                                                : mounts.mount_folder(layers[l].folder.c_str());
      ASSERT_TRUE(id.ok()) << id.status().message;
      ids[l] = id.value();
      mounted.push_back(l);
    } else if (what < 6) {
      if (ids.count(l) == 0) continue;
      const auto pins = std::count_if(held.begin(), held.end(), [&](const Held& h) { return h.layer == l; });
      const Status status = mounts.unmount(ids[l]);
      EXPECT_EQ(status.ok(), pins == 0);
      if (status.ok()) {
        stale.push_back(ids[l]);
        ids.erase(l);
        mounted.erase(std::find(mounted.begin(), mounted.end(), l));
      } else {
        ++refused;
        EXPECT_EQ(status.code, StatusCode::in_use);
        EXPECT_EQ(status.detail, static_cast<uint64_t>(pins));
        EXPECT_TRUE(std::any_of(held.begin(), held.end(),
                                [&](const Held& h) { return h.layer == l && h.key.name == status.name; }));
      }
    } else if (what < 70) {
      const ResourceLocation found = mounts.find(key.kind, key.name);
      const int expected = model_find(layers, mounted, key);
      ASSERT_EQ(bool(found), expected >= 0);
      if (!found) continue;
      ASSERT_EQ(found.mount, ids[static_cast<size_t>(expected)]);
      ASSERT_EQ(mounts.key_at(found.mount, found.index), key);
    } else if (what < 82) {
      const ResourceLocation found = mounts.find(key.kind, key.name);
      const int expected = model_find(layers, mounted, key);
      if (!found || held.size() > 12) continue;
      Result<PinnedResource> pin = mounts.pin(found);
      ASSERT_TRUE(pin.ok());
      held.push_back({std::move(pin.value()), static_cast<size_t>(expected), key});
    } else if (what < 96) {
      if (held.empty()) continue;
      std::swap(held[random() % held.size()], held.back());
      const std::string& text = layers[held.back().layer].texts.at(held.back().key);
      if (held.back().pin.is_in_place()) {
        EXPECT_EQ(test::text_of(held.back().pin.bytes()), text);
      }
      ASSERT_EQ(held.back().pin.raw_size(), text.size());
      if (random() % 4 == 0) {
        std::string out(text.size(), '\0');
        EXPECT_TRUE(mounts.read(held.back().pin, std::as_writable_bytes(std::span(out))).ok());
        EXPECT_EQ(out, text);
        ++loads;
      }
      held.pop_back();
    } else if (!stale.empty()) {
      EXPECT_EQ(mounts.unmount(stale[random() % stale.size()]).code, StatusCode::not_found);
    }
    ASSERT_EQ(mounts.count(), mounted.size());
    for (uint32_t i = 0; i < mounted.size(); ++i) ASSERT_EQ(mounts.at(i), ids[mounted[i]]);
  }
  EXPECT_GT(loads, 1000u);
  EXPECT_GT(refused, 100u);
  held.clear();
  while (mounts.count() > 0) ASSERT_TRUE(mounts.unmount(mounts.at(mounts.count() / 2)).ok());
}

/// A pack of stored and compressed entries, each of its name's number of a letter.
PackBuffer letters_pack(char letter) {
  PackMaker maker;
  for (uint32_t i = 0; i < kNames; ++i) {
    const std::string text(1 + i * 50, letter);
    if (i % 3 == 0) {
      maker.frame(kKinds[0], name_of(i), text, test::zstd_frame(text));
    } else {
      maker.store(kKinds[0], name_of(i), text);
    }
  }
  return maker.make();
}

// Look-ups, first checks, reads and letting go on three threads at once. Clean under TSan.
TEST(MountThreads, ReadersPinAndReadAtOnce) {
  const PackBuffer low = letters_pack('l'), high = letters_pack('h');
  DecompressorSet decompressors;
  ASSERT_TRUE(decompressors.init(2).ok());
  ResourceMounts mounts;
  ASSERT_TRUE(mounts.init({.decompressor = &decompressors}).ok());
  ASSERT_TRUE(mounts.mount_pack(low.span()).ok());
  ASSERT_TRUE(mounts.mount_pack(high.span()).ok());
  std::atomic<uint32_t> wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      std::string memory(50 * kNames, '\0');
      for (int round = 0; round < 3000; ++round) {
        const uint32_t i = pick(random, kNames);
        const Result<PinnedResource> pin = mounts.pin(mounts.find(kKinds[0], hash_name(name_of(i))));
        const auto to = std::as_writable_bytes(std::span(memory));
        const bool good = pin.ok() && pin.value().raw_size() == 1 + i * 50 && mounts.read(pin.value(), to).ok() &&
                          memory[i * 50] == 'h';
        if (!good) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
  for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(mounts.info(mounts.at(i)).value().pins, 0u);
}

// What is pinned on the owner's thread is read and let go by loaders, while the owner mounts and unmounts others, and
// tries to unmount this one until it is free.
TEST(MountThreads, LoadersKeepTheirPinsWhileOthersComeAndGo) {
  const PackBuffer loaded = letters_pack('a'), other = letters_pack('b');
  DecompressorSet decompressors;
  ASSERT_TRUE(decompressors.init(1).ok());
  ResourceMounts mounts;
  ASSERT_TRUE(mounts.init({.decompressor = &decompressors}).ok());
  std::atomic<uint32_t> wrong{0};
  for (int round = 0; round < 20; ++round) {
    const MountId id = mounts.mount_pack(loaded.span()).value();
    std::vector<std::thread> loaders;
    for (uint32_t t = 0; t < 3; ++t) {
      std::vector<PinnedResource> pins;
      for (uint32_t i = t; i < kNames; i += 3)
        pins.push_back(std::move(mounts.pin(mounts.find(kKinds[0], hash_name(name_of(i)))).value()));
      loaders.emplace_back([&, work = std::move(pins)]() mutable {
        std::string memory(50 * kNames, '\0');
        for (PinnedResource& pin : work) {
          const bool good = mounts.read(pin, std::as_writable_bytes(std::span(memory))).ok() && memory[0] == 'a';
          if (!good) ++wrong;
          pin.release();
        }
      });
    }
    for (Status status{StatusCode::in_use}; !status.ok(); status = mounts.unmount(id)) {
      const MountId passing = mounts.mount_pack(other.span()).value();
      EXPECT_TRUE(mounts.unmount(passing).ok());
    }
    for (std::thread& loader : loaders) loader.join();
  }
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_EQ(mounts.count(), 0u);
}

}  // namespace
}  // namespace meridian
