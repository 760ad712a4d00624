// SPDX-License-Identifier: MIT
#pragma once
/// A small world that streams from files which change (layer_text.h), for tests of swaps and new versions. Memory is
/// counted, and a device may hold its reads back.
///
///   test::ReloadKit kit;
///   kit.types({.name = "props", .archetypes = {{"house", 100}}});
///   kit.map({.name = "town", .entities = {{"house", {0, 0, 0}}}});
///   kit.start();
///   kit.settle();
///   EXPECT_EQ(kit.seen(), test::Seen({{"town", 1}}));
///   kit.map({.name = "town", .version = 2, .entities = {{"house", {0, 0, 0}}}});       // the file is another one now
///   EXPECT_TRUE(kit.streaming.reload_map(hash_name("town")).ok());
///
/// What is seen is asked of a search, not of those who stream: each entity says by its tint which version of its map it
/// is of.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "meridian/meridian.h"
#include "support/captured.h"
#include "support/checked_memory.h"
#include "unit/runtime/map/layer_text.h"

namespace meridian::test {

/// Reads are done in the next update, or, while it holds, when the test says so.
class HeldIo final : public StreamIo {
 public:
  Status submit(StreamJob& job) override {
    jobs_.push_back(&job);
    return {};
  }
  void pump(float /*seconds*/) override {
    if (!holds) finish();
  }
  void wait() override { finish(1); }
  void finish(size_t most = SIZE_MAX) {
    for (; most > 0 && !jobs_.empty(); --most) {
      StreamJob* const job = jobs_.front();
      jobs_.pop_front();
      job->run();
    }
  }
  void fail() {
    for (; !jobs_.empty(); jobs_.pop_front()) jobs_.front()->fail({StatusCode::io_error, "the test's device failed"});
  }
  size_t waiting() const { return jobs_.size(); }
  bool holds = false;

 private:
  std::deque<StreamJob*> jobs_;
};

/// Maps of which something is seen, and of which version; of a map with two versions in the world, both.
using Seen = std::multimap<std::string, uint32_t>;

struct ReloadConfig {
  uint32_t maps = 64, streamed_nodes = 64, lod_sets = 64, containers = 256;
  uint32_t max_maps = 0;
  float lod_ramp_seconds = 0;
  EntityHost host{};
  ModelSlots model_slots{};
};

struct ReloadKit {
  CheckedMemory memory;
  LayerText base;
  HeldIo io;
  ResourceMounts mounts;
  EntityTable table;
  EntityClassRegistry classes;
  SceneGraph graph;
  SceneRepresentation scene;
  World world;
  ArchetypeStore archetypes;
  MapWorld maps;
  WorldStreaming streaming;
  MountId base_mount;
  StreamSource camera;
  uint32_t max_chunks = 0xFFFFFFFF;
  std::vector<const LayerText*> layers{&base};  ///< whose names are known

  void map(const MapText& text) { base.put(text); }
  void types(const TypesText& text) { base.put(text); }
  void group(const GroupText& text) { base.groups.push_back(text); }

  void start(const ReloadConfig& config = {}) {
    base.put_index();
    ASSERT_TRUE(mounts.init({.max_mounts = 8}).ok());
    ASSERT_TRUE(table.init({.groups = 256, .singles = 64}, memory).ok());
    const SceneCapacities scene_capacities{.streamed_nodes = config.streamed_nodes,
                                           .interior_nodes = 16,
                                           .room_nodes = 64,
                                           .portal_nodes = 16,
                                           .containers = config.containers,
                                           .soa_containers = config.containers};
    ASSERT_TRUE(graph.init(scene_capacities, memory).ok());
    ASSERT_TRUE(scene.init({.graph = &graph, .table = &table, .classes = &classes}).ok());
    scene.set_search(&search_scene);
    ASSERT_TRUE(world.init({.table = &table}, memory).ok());
    ASSERT_TRUE(world.add_representation(scene).ok());
    ArchetypeStoreConfig store;
    store.types = 64;
    if (config.model_slots.streamed != 0) store.slots = config.model_slots;
    ASSERT_TRUE(archetypes.init(store, memory).ok());
    const MapWorldConfig map_config{.world = &world,
                                    .scene = &scene,
                                    .archetypes = &archetypes,
                                    .host = config.host,
                                    .maps = config.maps,
                                    .lod_sets = config.lod_sets,
                                    .lod_ramp_seconds = config.lod_ramp_seconds};
    ASSERT_TRUE(maps.init(map_config, memory).ok());
    const WorldStreamingConfig all{.mounts = &mounts,
                                   .io = &io,
                                   .maps = &maps,
                                   .map_slots = 64,
                                   .types_slots = 32,
                                   .max_maps = config.max_maps,
                                   .max_resident = 256,
                                   .streamer = {.release_margin = 0, .min_residence = 0, .look_ahead = 0}};
    ASSERT_TRUE(streaming.init(all, memory).ok());
    const Result<MountId> mounted = mounts.mount_source(base.files, "base");
    ASSERT_TRUE(mounted.ok()) << mounted.status().message;
    base_mount = mounted.value();
    const Status s = streaming.mount(base_mount, true);
    ASSERT_TRUE(s.ok()) << s.message << ' ' << s.detail;
  }
  MountId mount(LayerText& layer) {
    if (std::find(layers.begin(), layers.end(), &layer) == layers.end()) layers.push_back(&layer);
    layer.put_index();
    const Result<MountId> mounted = mounts.mount_source(layer.files, "layer");
    EXPECT_TRUE(mounted.ok());
    const Status s = streaming.mount(mounted.value());
    EXPECT_TRUE(s.ok()) << s.message;
    return mounted.value();
  }
  void unmount(MountId mount) {
    EXPECT_TRUE(streaming.begin_unmount(mount).ok());
    for (int i = 0; i < 100 && streaming.is_unmounting(); ++i) update();
    EXPECT_FALSE(streaming.is_unmounting());
  }

  void update(float seconds = 0.1f) {
    const Status s = streaming.update({.sources = {&camera, 1}, .seconds = seconds, .max_chunks = max_chunks});
    EXPECT_TRUE(s.ok()) << s.message;
  }
  /// Until nothing moves any more.
  void settle(int updates = 12) {
    for (int i = 0; i < updates; ++i) update();
  }

  /// By a search through the world.
  Seen seen() const {
    EntityHandle found[4096];
    SearchResult result;
    const EntityQuery all{.volume = box_volume({{-9000, -9000, -9000}, {9000, 9000, 9000}})};
    EXPECT_TRUE(world.search_now(all, found, result).ok());
    std::map<std::pair<uint32_t, uint32_t>, bool> once;
    for (uint32_t i = 0; i < result.stored; ++i) {
      const Entity* const entity = table.get(found[i]);
      if (entity == nullptr) {
        ADD_FAILURE() << "an entity that is not alive is found";
        continue;
      }
      once[{entity->imap(), entity->tint()}] = true;
    }
    Seen out;
    for (const auto& [key, seen] : once) out.emplace(name_of(key.first), key.second);
    return out;
  }
  bool sees(const char* map) const { return seen().contains(map); }
  std::string name_of(uint32_t slot) const {
    const NameHash name = streaming.maps().name_of(slot);
    for (const LayerText* layer : layers) {
      for (const auto& [text, map] : layer->maps) {
        if (hash_name(text) == name) return text;
      }
    }
    return "slot " + std::to_string(slot);
  }

  /// All that readers may know of the maps that are there, but for handles and slots: the same for the same files,
  /// whatever happened before.
  std::vector<std::string> picture() {
    std::vector<std::string> out;
    for (const LayerText* layer : layers) {
      for (const auto& [name, text] : layer->maps) {
        const MapContents* const in = contents(name.c_str());
        if (in == nullptr) continue;
        out.push_back(name + (in->is_shown() ? " shown" : " hidden") + ", below " +
                      (in->parent() != nullptr ? name_of(in->parent()->slot()) : "nothing"));
        for (uint32_t i = 0; i < in->entity_count(); ++i) {
          out.push_back(name + ' ' + std::to_string(i) + picture_of(*in, i));
        }
      }
    }
    return out;
  }
  std::string picture_of(const MapContents& in, uint32_t i) {
    const Entity* const entity = in.entity(i);
    if (entity == nullptr) return " left out";
    const auto text = [](std::initializer_list<float> numbers) {
      std::string line;
      for (const float n : numbers) line += ' ' + std::to_string(n);
      return line;
    };
    const Vec4& at = entity->transform().position;
    std::string out = " imap " + name_of(entity->imap()) + " tint " + std::to_string(entity->tint()) + " at" +
                      text({at.x, at.y, at.z}) + " children " + std::to_string(entity->lod().bound_children) +
                      (entity->archetype()->is_in_force() ? "" : " old") + " flags " +
                      std::to_string(entity->flags().bits());
    if (const Entity* const above = in.lod_parent(*entity)) out += " parent tint " + std::to_string(above->tint());
    const ContainerTag tag = entity->container();
    if (!tag.is_in_container()) return out + " in no container";
    const bool is_there = (graph.containers().views[tag.container()].flags & kContainerInWorld) != 0;
    const EntityDesc desc = graph.read({tag.container(), tag.slot()});
    out += is_there ? " in the world" : " not in the world";
    out += " box" + text({desc.centre.x, desc.centre.y, desc.centre.z, desc.half.x, desc.half.y, desc.half.z});
    out += " pivot" + text({desc.pivot.x, desc.pivot.y, desc.pivot.z}) + " within" + text({desc.distance});
    const LodPlace place = in.lod_place(i);
    if (const LodSetRecord* const set = maps.lod_sets().find(place.set)) {
      out += " set" + text({set->pivot.x, set->pivot.y, set->pivot.z, set->distance}) +
             (set->is_ready ? " ready " : " not ready ") + std::to_string(set->ramp) + (place.is_parent ? " over" : "");
    }
    return out;
  }

  uint32_t slot(const char* map) const { return streaming.maps().find(hash_name(map)); }
  StreamIndex index(const char* map) const { return streaming.maps().find_index(hash_name(map)); }
  MapContents* contents(const char* map) const { return streaming.maps().contents(slot(map)); }
  StreamState state(const char* map) const { return streaming.engine().state(index(map)); }
  bool is_off(const char* map, MapOff why) const { return streaming.maps().is_off(slot(map), why); }
  void damage(uint32_t kind, const char* name) {
    std::vector<std::byte>& bytes = base.files.at(kind, hash_name(name));
    for (size_t i = 0; i < bytes.size() / 2; ++i) bytes[i] = std::byte{0xEE};
  }
  void damage_map(const char* name) { damage(kind_of("IMAP"), name); }
  void damage_types(const char* name) { damage(kind_of("ITYP"), name); }
};

/// Messages that hold a text.
inline size_t count_said(const CapturedLog& log, std::string_view text) {
  size_t count = 0;
  for (const Said& said : log.said()) count += said.text.find(text) != std::string::npos ? 1 : 0;
  return count;
}

}  // namespace meridian::test
