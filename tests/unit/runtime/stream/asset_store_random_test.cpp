// SPDX-License-Identifier: MIT
// Rules: STORE-3 (slots at run time, garbage), STR-2 (parents first), STR-3 (nothing that is needed leaves).
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "meridian/stream/asset_store.h"
#include "support/asset_kit.h"
#include "support/captured.h"

namespace meridian {
namespace {

using test::AssetWorld;
using test::kTextureKind;
using Store = AssetStore<CountedAsset>;

constexpr StreamKeeper kScript = StreamKeeper::script;

// STORE-3, STR-2, STR-3: random calls against lists that say who is whose parent.
TEST(AssetStoreRandom, CallsAgreeWithAPlainModel) {
  const test::CapturedLog log;
  constexpr uint32_t kNames = 24, kSlots = 12;
  size_t with_parents = 0, collected = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    Store store("Random");
    AssetWorld world;
    std::vector<test::AssetFile> files;
    for (uint32_t i = 0; i < kNames; ++i) {
      if (i % 3 != 0) files.push_back({kTextureKind, "n" + std::to_string(i), std::string(i + 1, 'x')});
    }
    world.mount(files);
    const auto name_of = [](uint32_t i) { return hash_name("n" + std::to_string(i)); };
    ASSERT_TRUE(
        store.init({.slots = kSlots, .mounts = &world.mounts, .kind = kTextureKind, .parents = &store}, world.loader())
            .ok());
    world.start({{&store, 6}});
    struct Thing {
      bool is_temporary = false, is_kept = false;
      uint32_t parent = kNames;
    };
    std::map<uint32_t, Thing> things;  // by number of the name
    const auto index = [&](uint32_t i) { return store.find_index(name_of(i)); };
    const auto is_above = [&](uint32_t top, uint32_t from) {
      for (uint32_t at = from; at != kNames; at = things[at].parent) {
        if (at == top) return true;
      }
      return false;
    };
    const auto has_children = [&](uint32_t i) {
      for (const auto& [other, thing] : things) {
        if (thing.parent == i) return true;
      }
      return false;
    };
    for (int step = 0; step < 300; ++step) {
      const uint32_t i = below(kNames), j = below(kNames);
      switch (below(7)) {
        case 0: {
          const bool is_temporary = below(2) == 0;
          const Result<uint32_t> slot = is_temporary ? store.add_temporary(name_of(i)) : store.add(name_of(i));
          ASSERT_EQ(slot.ok(), things.count(i) != 0 || things.size() < kSlots);
          if (slot.ok() && things.count(i) == 0) things[i].is_temporary = is_temporary;
          break;
        }
        case 1:
          if (things.count(i) == 0 || things.count(j) == 0) break;
          if (below(4) == 0) {
            ASSERT_TRUE(store.set_parent(store.find(name_of(i)), kNoStream).ok());
            things[i].parent = kNames;
          } else {
            const bool is_circle = is_above(i, j);
            ASSERT_EQ(store.set_parent(store.find(name_of(i)), index(j)).ok(), !is_circle);
            if (!is_circle) things[i].parent = j;
          }
          break;
        case 2:
          if (things.count(i) == 0) break;
          world.engine.keep(index(i), kScript);
          things[i].is_kept = true;
          break;
        case 3:
          if (things.count(i) == 0) break;
          world.engine.drop(index(i), kScript);
          things[i].is_kept = false;
          break;
        case 4:
          // Parents that were set meanwhile count from the next load: all go, and those that are kept come back.
          for (const auto& [number, thing] : things) {
            world.engine.drop(index(number), kScript);
            world.engine.reload(index(number));
          }
          world.settle();
          ASSERT_EQ(store.loaded(), 0u);
          for (const auto& [number, thing] : things) {
            if (thing.is_kept) world.engine.keep(index(number), kScript);
          }
          world.settle();
          for (const auto& [number, thing] : things) {
            if (thing.parent == kNames || store.find_object(name_of(number)) == nullptr) continue;
            ASSERT_NE(store.find_object(name_of(thing.parent)), nullptr);
            ++with_parents;
          }
          break;
        case 5: {
          for (const auto& [number, thing] : things) {
            if (!thing.is_kept) world.engine.reload(index(number));  // nothing of it is left
          }
          world.settle();
          std::set<uint32_t> gone;
          for (bool any = true; any;) {
            any = false;
            for (auto at = things.begin(); at != things.end(); ++at) {
              if (!at->second.is_temporary || at->second.is_kept || at->first % 3 != 0) continue;
              if (has_children(at->first) || world.engine.bytes_of(index(at->first)).data() != nullptr) continue;
              gone.insert(at->first);
              things.erase(at);
              any = true;
              break;
            }
          }
          ASSERT_EQ(store.collect_garbage(world.engine), gone.size());
          collected += gone.size();
          for (const uint32_t number : gone) ASSERT_EQ(store.find(name_of(number)), kNoStreamSlot);
          break;
        }
        default:
          world.engine.update({.seconds = 0.01f});
      }
      ASSERT_EQ(store.used(), things.size());
      uint32_t live = 0;
      for (const auto& [number, thing] : things) {
        const uint32_t slot = store.find(name_of(number));
        ASSERT_NE(slot, kNoStreamSlot);
        ASSERT_EQ(store.is_temporary(slot), thing.is_temporary);
        ASSERT_EQ(store.parent(slot), thing.parent != kNames ? index(thing.parent) : kNoStream);
        const CountedAsset* const there = store.get(slot);
        live += there != nullptr ? 1u : 0u;
        if (there != nullptr) {
          ASSERT_NE(number % 3, 0u);
          ASSERT_EQ(there->bytes, number + 1);
        }
      }
      ASSERT_EQ(live, world.counter.live());
      ASSERT_EQ(live, store.loaded());
    }
    world.finish();
    ASSERT_EQ(world.counter.live(), 0u);
  }
  EXPECT_GT(with_parents, 100u);
  EXPECT_GT(collected, 100u);
}

}  // namespace
}  // namespace meridian
