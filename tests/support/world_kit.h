// SPDX-License-Identifier: MIT
#pragma once
/// A whole world for a test, whose memory is counted: table, classes, scene, archetypes, maps.
///
///   test::WorldKit kit;
///   kit.scene_capacities.streamed_nodes = 2;
///   ASSERT_TRUE(kit.init().ok());
///   ... kit.world.add(entity) ...
///
/// After its end CheckedMemory fails the test for each byte that was not given back.

#include <memory>

#include "meridian/meridian.h"
#include "support/checked_memory.h"

namespace meridian::test {

struct WorldKit {
  CheckedMemory memory;
  MemoryTracker tracker;
  SceneCapacities scene_capacities;
  EntityTableConfig table_config{.groups = 256, .singles = 4096};
  ArchetypeStoreConfig archetype_config;
  MapWorldConfig map_config;
  uint32_t deferred_changes = 64;
  float extent = kDefaultWorldExtent;

  EntityTable table;
  EntityClassRegistry classes;
  SceneGraph graph;
  SceneRepresentation scene;
  World world;
  ArchetypeStore archetypes;
  MapWorld maps;

  Status init() {
    if (const Status s = table.init(table_config, memory); !s.ok()) return s;
    if (const Status s = graph.init(scene_capacities, memory, &tracker); !s.ok()) return s;
    if (const Status s = scene.init({.graph = &graph, .table = &table, .classes = &classes}); !s.ok()) return s;
    scene.set_search(&search_scene);
    const WorldConfig config{.table = &table, .deferred_changes = deferred_changes, .extent = extent};
    if (const Status s = world.init(config, memory); !s.ok()) return s;
    if (const Status s = world.add_representation(scene); !s.ok()) return s;
    if (const Status s = archetypes.init(archetype_config, memory); !s.ok()) return s;
    map_config.world = &world;
    map_config.scene = &scene;
    map_config.archetypes = &archetypes;
    map_config.tracker = &tracker;
    return maps.init(map_config, memory);
  }
};

}  // namespace meridian::test
