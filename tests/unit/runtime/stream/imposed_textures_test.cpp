// SPDX-License-Identifier: MIT
// Rule: STORE-3 (up to 8 textures are imposed on a dictionary without owning them).
#include "meridian/stream/imposed_textures.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

#include "support/captured.h"
#include "support/checked_memory.h"

namespace meridian {
namespace {

struct Texture {
  int alive = 1;
  ~Texture() { alive = 0; }
};
using Imposed = ImposedTextures<Texture>;

NameHash name_of(uint32_t i) { return {1000 + i}; }

TEST(ImposedTextures, EightFitIntoADictionary) {
  test::CheckedMemory memory;
  Texture textures[10];
  {
    Imposed imposed;
    ASSERT_TRUE(imposed.init(2, memory).ok());
    for (uint32_t i = 0; i < 8; ++i) EXPECT_TRUE(imposed.impose(5, name_of(i), textures[i]).ok());
    const Status ninth = imposed.impose(5, name_of(8), textures[8]);
    EXPECT_EQ(ninth.code, StatusCode::too_large);
    EXPECT_EQ(ninth.detail, 5u);
    EXPECT_TRUE(imposed.impose(5, name_of(3), textures[9]).ok());  // in place of another
    EXPECT_EQ(imposed.find(5, name_of(3)), &textures[9]);
    EXPECT_EQ(imposed.find(5, name_of(7)), &textures[7]);
    EXPECT_EQ(imposed.find(5, name_of(8)), nullptr);
    EXPECT_EQ(imposed.find(6, name_of(3)), nullptr);
    EXPECT_EQ(imposed.entries(5).size(), 8u);
    EXPECT_TRUE(imposed.remove(5, name_of(0)));
    EXPECT_FALSE(imposed.remove(5, name_of(0)));
    EXPECT_TRUE(imposed.impose(5, name_of(8), textures[8]).ok());
    EXPECT_EQ(imposed.entries(5)[0].name, name_of(1));
    EXPECT_EQ(imposed.entries(5)[7].name, name_of(8));
  }
  for (const Texture& texture : textures) EXPECT_EQ(texture.alive, 1);  // nobody took them
}

TEST(ImposedTextures, ListsAreTakenAtInitAndUsedAgain) {
  test::CheckedMemory memory;
  Texture texture;
  Imposed imposed;
  memory.fail_after(0);
  EXPECT_EQ(imposed.init(2, memory).code, StatusCode::out_of_memory);
  EXPECT_EQ(imposed.impose(1, name_of(0), texture).code, StatusCode::out_of_slots);
  memory.fail_after(1);
  ASSERT_TRUE(imposed.init(2, memory).ok());
  EXPECT_TRUE(imposed.impose(1, name_of(0), texture).ok());
  EXPECT_TRUE(imposed.impose(2, name_of(0), texture).ok());
  EXPECT_EQ(imposed.impose(3, name_of(0), texture).code, StatusCode::out_of_slots);
  imposed.clear(1);
  imposed.clear(1);
  EXPECT_TRUE(imposed.impose(3, name_of(0), texture).ok());
  EXPECT_EQ(imposed.find(2, name_of(0)), &texture);
  EXPECT_EQ(imposed.forget(texture), 2u);
  EXPECT_EQ(imposed.used(), 0u);
}

TEST(ImposedTextures, RandomCallsAgreeWithAPlainModel) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    test::CheckedMemory memory;
    Texture textures[4];
    Imposed imposed;
    ASSERT_TRUE(imposed.init(3, memory).ok());
    std::map<uint32_t, std::vector<std::pair<uint32_t, Texture*>>> model;
    for (int step = 0; step < 500; ++step) {
      const uint32_t slot = below(5), name = below(11);
      Texture& texture = textures[below(4)];
      const uint32_t what = below(20);
      if (what < 13) {
        auto* const list = model.count(slot) != 0 ? &model[slot] : nullptr;
        StatusCode expected = StatusCode::ok;
        if (list == nullptr && model.size() == 3) {
          expected = StatusCode::out_of_slots;
        } else {
          auto& entries = model[slot];
          auto at = entries.begin();
          while (at != entries.end() && at->first != name) ++at;
          if (at != entries.end()) {
            at->second = &texture;
          } else if (entries.size() == 8) {
            expected = StatusCode::too_large;
          } else {
            entries.emplace_back(name, &texture);
          }
        }
        ASSERT_EQ(imposed.impose(slot, name_of(name), texture).code, expected);
      } else if (what < 17) {
        bool was_there = false;
        if (model.count(slot) != 0) {
          auto& entries = model[slot];
          for (auto at = entries.begin(); at != entries.end() && !was_there; ++at) {
            if (at->first != name) continue;
            entries.erase(at);
            was_there = true;
            break;
          }
          if (entries.empty()) model.erase(slot);
        }
        ASSERT_EQ(imposed.remove(slot, name_of(name)), was_there);
      } else if (what == 17) {
        model.erase(slot);
        imposed.clear(slot);
      } else if (what == 18) {
        uint32_t places = 0;
        for (auto list = model.begin(); list != model.end();) {
          places += static_cast<uint32_t>(
              std::erase_if(list->second, [&](const auto& entry) { return entry.second == &texture; }));
          list = list->second.empty() ? model.erase(list) : std::next(list);
        }
        ASSERT_EQ(imposed.forget(texture), places);
      }
      ASSERT_EQ(imposed.used(), model.size());
      for (uint32_t s = 0; s < 5; ++s) {
        const auto entries = imposed.entries(s);
        ASSERT_EQ(entries.size(), model.count(s) != 0 ? model[s].size() : 0);
        for (size_t i = 0; i < entries.size(); ++i) {
          ASSERT_EQ(entries[i].name, name_of(model[s][i].first));
          ASSERT_EQ(entries[i].texture, model[s][i].second);
          ASSERT_EQ(imposed.find(s, entries[i].name), entries[i].texture);
        }
      }
    }
  }
}

}  // namespace
}  // namespace meridian
