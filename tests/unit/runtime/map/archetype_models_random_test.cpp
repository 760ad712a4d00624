// SPDX-License-Identifier: MIT
// Rules: STR-2 (what is needed comes first), STR-8 (archetypes are dummies), ARCH-5 (missing entries).
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "models_kit.h"
#include "support/captured.h"

namespace meridian {
namespace {

using test::file_with;
using test::Host;
using test::kFragmentKind;
using test::kModelKind;
using test::kModelsKind;
using test::kTextureKind;
using test::kTypesKind;
using test::model_of;
using Store = AssetStore<CountedAsset>;

constexpr StreamKeeper kScript = StreamKeeper::script;

// STR-2, STR-8, ARCH-5: type files and models come and go at random, and slots of archetypes go round.
TEST(ArchetypeModelsRandom, WishesAgreeWithAPlainModel) {
  const test::CapturedLog log;
  constexpr uint32_t kFiles = 4, kPerFile = 5;
  uint32_t shown = 0, missing = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    Host h(13);  // fewer than archetypes: at most two files at once
    struct Plain {
      std::string name, model, dictionary, textures;
      uint32_t kind = 0, file = 0;
      int entry = -1;
      bool is_kept = false;
    };
    std::vector<Plain> all;
    std::vector<test::AssetFile> files;
    for (uint32_t d = 0; d < 2; ++d) {
      files.push_back({kModelsKind, "dict" + std::to_string(d), "d"});
      files.push_back({kTextureKind, "tex" + std::to_string(d), "t"});
    }
    for (uint32_t f = 0; f < kFiles; ++f) {
      test::TypesMaker maker;
      for (uint32_t i = 0; i < kPerFile; ++i) {
        Plain plain;
        const std::string id = std::to_string(f) + "_" + std::to_string(i);
        plain.name = "a" + id;
        plain.model = "m" + id;
        plain.file = f;
        plain.kind = 1 + below(4);
        const std::string d = std::to_string(below(2));
        if (plain.kind == 3) plain.dictionary = "dict" + d;
        plain.textures = "tex" + d;
        if (plain.kind == 3 && below(3) != 0) {
          auto& entries = h.entries[hash_name(plain.dictionary).value];
          plain.entry = static_cast<int>(entries.size());
          entries.push_back(hash_name(plain.model));
        }
        if (plain.kind == 1) files.push_back({kFragmentKind, plain.model, "f"});
        if (plain.kind == 2) files.push_back({kModelKind, plain.model, "m"});
        maker.base(plain.name.c_str(), model_of(static_cast<schema::AssetType>(plain.kind), plain.model.c_str(),
                                                plain.dictionary.c_str(), plain.textures.c_str()));
        all.push_back(plain);
      }
      files.push_back({kTypesKind, "file" + std::to_string(f), file_with(maker, "file")});
    }
    h.bring(files);
    h.engine().set_max_loaded(0, 2);
    const auto file_index = [&](uint32_t f) { return h.types.find_index(hash_name("file" + std::to_string(f))); };
    for (int step = 0; step < 200; ++step) {
      Plain& plain = all[below(static_cast<uint32_t>(all.size()))];
      Archetype* const there = h.store.find(hash_name(plain.name));
      switch (below(6)) {
        case 0:
          h.engine().request(file_index(plain.file));
          break;
        case 1:
        case 2:
          if (there == nullptr) break;
          h.engine().keep(h.models.index_of(*there), kScript);
          plain.is_kept = true;
          break;
        case 3:
          if (!plain.is_kept || there == nullptr) break;
          h.engine().drop(h.models.index_of(*there), kScript);
          plain.is_kept = false;
          break;
        case 4:
          h.engine().update({.seconds = 0.01f, .max_chunks = 1 + below(3)});
          break;
        default:
          h.world.settle();
          for (const Plain& p : all) {
            const Archetype* const a = h.store.find(hash_name(p.name));
            ASSERT_TRUE(a != nullptr || !p.is_kept);  // a kept model keeps its type file
            if (a == nullptr) continue;
            ASSERT_EQ(h.engine().is_loaded(h.models.index_of(*a)), p.is_kept) << p.name;
          }
      }
      for (const Plain& p : all) {
        const Archetype* const a = h.store.find(hash_name(p.name));
        if (a == nullptr || !h.engine().is_loaded(h.models.index_of(*a))) continue;
        ASSERT_TRUE(h.engine().is_loaded(file_index(p.file)));
        const NameHash file = hash_name(p.kind == 3 ? p.dictionary : p.model);
        const Store* const store = p.kind == 1 ? &h.fragments : p.kind == 2 ? &h.drawables : &h.dictionaries;
        if (p.kind != 4) {
          ASSERT_NE(store->find_object(file), nullptr) << p.name;
          ASSERT_NE(h.textures.find_object(hash_name(p.textures)), nullptr) << p.name;
          ASSERT_EQ(a->drawable_slot(), store->find(file));
          ++shown;
        }
        ASSERT_EQ(a->dictionary_entry(), p.entry >= 0 ? static_cast<uint32_t>(p.entry) : kNoDictionaryEntry);
        ASSERT_EQ(a->is_model_missing(), p.kind == 3 && p.entry < 0);
        missing += a->is_model_missing() ? 1u : 0u;
      }
    }
    h.world.finish();
    ASSERT_EQ(h.world.counter.live(), 0u);
  }
  EXPECT_GT(shown, 1000u);
  EXPECT_GT(missing, 100u);
}

}  // namespace
}  // namespace meridian
