// SPDX-License-Identifier: MIT
#pragma once
/// A small archetype store for tests, and types made in code.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "meridian/entity/archetype_store.h"
#include "support/captured.h"
#include "support/checked_memory.h"

namespace meridian::test {

inline constexpr TypeHash kBase = hash_type("CBaseArchetypeDef");
inline constexpr NameHash kLamp = hash_name("lamp"), kBox = hash_name("box"), kTree = hash_name("tree");

struct World {
  CheckedMemory memory;
  ArchetypeStore store;
  explicit World(ArchetypeStoreConfig config = {.slots = {20, 100}, .types = 50, .components = 4}) {
    EXPECT_TRUE(store.init(config, memory).ok());
  }
  /// Types made in code, with these names in this order.
  Status load(const TypesPlacement& placement, const std::vector<NameHash>& names) {
    const KindCount kinds[] = {{kBase, static_cast<uint32_t>(names.size())}};
    if (const Status status = store.open_types(placement, kinds); !status.ok()) return status;
    for (const NameHash name : names) store.create(placement.slot, kBase, name);
    return store.publish_types(placement.slot);
  }
};

inline size_t lines_with(const CapturedLog& log, const std::string& what) {
  size_t lines = 0;
  for (const Said& said : log.said()) lines += said.text.find(what) != std::string::npos ? 1u : 0u;
  return lines;
}

/// The texts of names, for messages.
struct Texts {
  Texts() {
    set_name_lookup({[](void*, NameHash name) -> std::string_view {
      for (const char* text :
           {"lamp", "box", "tree", "town", "props", "woods", "lods", "bark", "leaves", "lamp_model"}) {
        if (hash_name(text) == name) return text;
      }
      return {};
    }});
  }
  Texts(const Texts&) = delete;
  Texts& operator=(const Texts&) = delete;
  ~Texts() { set_name_lookup({}); }
};

}  // namespace meridian::test
