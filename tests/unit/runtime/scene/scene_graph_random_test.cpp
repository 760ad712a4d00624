// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "unit/runtime/scene/scene_kit.h"

// SG-2 to SG-7, DESC-1 to DESC-5: random changes against a plain model, in a scene that is full most of the time.

namespace meridian {
namespace {

using test::handle_of;
using test::MapBlocks;
using test::Stored;

constexpr SceneCapacities kTiny{.streamed_nodes = 6,
                                .interior_nodes = 3,
                                .room_nodes = 5,
                                .portal_nodes = 4,
                                .containers = 10,
                                .fixed_containers = 1,
                                .soa_containers = 5,
                                .lights = 40,
                                .light_updates = 8,
                                .descriptors = 4096};
constexpr uint32_t kHostSlotBytes = 44 + 8;

/// What a scene holds, in the simplest words.
struct Model {
  struct Container {
    SceneNode* node = nullptr;  // null: loose
    ContainerUse use = ContainerUse::placed;
    bool is_map = false, is_chunk = false;
    uint32_t capacity = 0;
    std::span<const LodLinkRow> links;
    std::map<uint32_t, EntityDesc> slots;  // as they must be read back
    std::map<uint32_t, EntityHandle> owners;
  };
  struct Node {
    SceneNode* parent = nullptr;
    std::vector<SceneNode*> children;
    std::vector<uint32_t> chain;  // without those of lights
    bool is_enabled = true;
  };
  std::map<SceneNode*, Node> nodes;
  std::map<uint32_t, Container> containers;
  std::map<uint64_t, EntityDesc> lights;  // slot first
  uint32_t locks = 0;

  bool is_in_world(const SceneNode* node, const SceneNode* root) {
    while (node != nullptr && node != root) node = nodes.at(const_cast<SceneNode*>(node)).parent;
    return node == root;
  }
  bool is_below(const SceneNode* node, const SceneNode* top) {
    while (node != nullptr && node != top) node = nodes.at(const_cast<SceneNode*>(node)).parent;
    return node == top;
  }
  uint32_t count(bool is_map, bool is_chunk) const {
    uint32_t out = 0;
    for (const auto& [c, at] : containers) out += at.is_map == is_map && at.is_chunk == is_chunk ? 1 : 0;
    return out;
  }
  void forget(SceneNode* node) {
    const Node gone = nodes.at(node);
    for (SceneNode* child : gone.children) forget(child);
    for (const uint32_t c : gone.chain) containers.erase(c);
    nodes.erase(node);
  }
};

class RandomScene {
 public:
  explicit RandomScene(uint64_t seed) : random_(seed) {
    EXPECT_TRUE(graph_.init(kTiny, memory_, &tracker_).ok());
    model_.nodes[graph_.root()] = {};
  }
  ~RandomScene() {
    while (model_.locks-- > 0) graph_.unlock();
  }

  void step(bool fills) {
    const uint32_t what = random_.below(100);
    const uint32_t inserts = fills ? 45 : 12;
    if (what < 4) return create();
    if (what < 8) return append();
    if (what < 10) return unlink();
    if (what < 11) return destroy();
    if (what < 13) return enable();
    if (what < 13 + inserts) return insert();
    if (what < 63) return erase();
    if (what < 70) return change();
    if (what < 74) return add_blocks();
    if (what < 78) return unlink_container();
    if (what < 81) return link_container();
    if (what < 82) return destroy_container();
    if (what < 90) return light();
    if (what < 93) return graph_.pre_scan(random_.below(2) == 0 ? 1024 : 64 * 1024);
    lock_or_unlock(what < 96);
  }

  /// Everything against the model.
  void check() {
    for (const auto& [node, wanted] : model_.nodes) {
      EXPECT_EQ(node->parent(), wanted.parent);
      EXPECT_EQ(node->is_enabled(), wanted.is_enabled);
      EXPECT_EQ(node->is_in_world(), model_.is_in_world(node, graph_.root()));
      EXPECT_EQ(graph_.node_at(node->index()), node);
      std::vector<SceneNode*> children;
      for (SceneNode* child = node->first_child(); child != nullptr; child = child->next()) children.push_back(child);
      EXPECT_EQ(children, wanted.children);
      std::vector<uint32_t> chain = test::chain_of(graph_, *node);
      std::erase_if(chain, [this](uint32_t c) { return is_of_lights(c); });
      EXPECT_EQ(chain, wanted.chain);
    }
    uint32_t used = 0, lights = 0;
    for (uint32_t c = 0; c < graph_.containers().views.size(); ++c) {
      const ContainerView& view = graph_.containers().views[c];
      if (is_of_lights(c)) {
        ++lights;
        continue;
      }
      const auto at = model_.containers.find(c);
      ASSERT_EQ((view.flags & kContainerUsed) != 0, at != model_.containers.end()) << c;
      if (at == model_.containers.end()) continue;
      ++used;
      const Model::Container& wanted = at->second;
      EXPECT_EQ(graph_.node_of(c), wanted.node);
      EXPECT_EQ(view.capacity, wanted.capacity);
      EXPECT_EQ((view.flags & kContainerDynamic) != 0, wanted.use != ContainerUse::placed);
      EXPECT_EQ((view.flags & kContainerStraddling) != 0, wanted.use == ContainerUse::straddling);
      const std::vector<uint32_t> slots = test::used_slots(graph_, c);
      ASSERT_EQ(slots.size(), wanted.slots.size()) << c;
      for (const uint32_t slot : slots) {
        ASSERT_EQ(wanted.slots.count(slot), 1u) << c << " " << slot;
        test::expect_same(graph_.read({c, slot}), wanted.slots.at(slot));
        EXPECT_EQ(entity_in(view, slot), wanted.owners.at(slot));
      }
    }
    EXPECT_LE(lights, 1u);
    const uint32_t chunks = model_.count(false, true) / kChunkContainers;
    EXPECT_EQ(graph_.used_containers(), used - chunks * (kChunkContainers - 1) + lights);
    EXPECT_LE(graph_.hierarchy().depth(), 3u);
    test::check_bounds(graph_, false);
    EXPECT_EQ(tracker_.total_bytes(), memory_.bytes());
  }

  uint64_t full = 0, refused = 0;  ///< so that it is known that the test reached them

 private:
  template <class Map>
  auto pick(Map& map) {
    auto at = map.begin();
    std::advance(at, random_.below(static_cast<uint32_t>(map.size())));
    return at;
  }
  SceneNode* pick_node() { return pick(model_.nodes)->first; }
  bool is_of_lights(uint32_t c) const { return (graph_.containers().views[c].flags & kContainerLights) != 0; }
  uint32_t light_containers() const {
    uint32_t out = 0;
    for (uint32_t c = 0; c < kTiny.containers; ++c) out += is_of_lights(c) ? 1 : 0;
    return out;
  }
  bool is_guarded(const SceneNode* node) {
    return model_.locks > 0 && node != nullptr && model_.is_in_world(node, graph_.root());
  }
  /// A change of what readers see, under the lock: refused, and nothing else.
  template <class Change>
  bool is_refused(bool is_guarded, Change change) {
    if (!is_guarded) return false;
    ++refused;
    const bool looks = random_.below(24) == 0;
    const auto before = looks ? test::seen_by_readers(graph_) : std::vector<std::byte>();
    EXPECT_EQ(change().code, StatusCode::in_use);
    EXPECT_TRUE(!looks || test::seen_by_readers(graph_) == before);
    contracts_.take();
    return true;
  }

  void create() {
    SceneNode* node = nullptr;
    uint32_t type = random_.below(4), most = 0, there = 0;
    const NodeType types[] = {NodeType::streamed, NodeType::interior, NodeType::room, NodeType::portal};
    for (const auto& [n, unused] : model_.nodes) there += n->type() == types[type] ? 1 : 0;
    const bool has_room = graph_.has_room_for(type == 0, type == 1, type == 2, type == 3);
    if (type == 0) node = graph_.create_streamed(), most = kTiny.streamed_nodes;
    if (type == 1) node = graph_.create_interior(), most = kTiny.interior_nodes;
    if (type == 2) node = graph_.create_room(), most = kTiny.room_nodes;
    if (type == 3) node = graph_.create_portal(), most = kTiny.portal_nodes;
    ASSERT_EQ(node != nullptr, there < most);
    ASSERT_EQ(has_room, there < most);
    if (node != nullptr) model_.nodes[node] = {};
    full += node == nullptr ? 1 : 0;
  }
  void append() {
    SceneNode *parent = pick_node(), *child = pick_node();
    if (child == graph_.root() || model_.nodes[child].parent != nullptr || model_.is_below(parent, child)) return;
    if (is_refused(is_guarded(parent), [&] { return graph_.append(*parent, *child); })) return;
    ASSERT_TRUE(graph_.append(*parent, *child).ok());
    model_.nodes[child].parent = parent;
    model_.nodes[parent].children.push_back(child);
  }
  void unlink() {
    SceneNode* const child = pick_node();
    if (model_.nodes[child].parent == nullptr) {
      EXPECT_EQ(graph_.unlink(*child).code, StatusCode::not_found);
      return;
    }
    if (is_refused(is_guarded(child), [&] { return graph_.unlink(*child); })) return;
    ASSERT_TRUE(graph_.unlink(*child).ok());
    std::erase(model_.nodes[model_.nodes[child].parent].children, child);
    model_.nodes[child].parent = nullptr;
  }
  void destroy() {
    SceneNode* const node = pick_node();
    if (node == graph_.root() || model_.nodes.size() < 4) return;
    if (is_refused(is_guarded(node), [&] { return graph_.destroy(*node); })) return;
    if (SceneNode* const parent = model_.nodes[node].parent) std::erase(model_.nodes[parent].children, node);
    ASSERT_TRUE(graph_.destroy(*node).ok());
    model_.forget(node);
  }
  void enable() {
    SceneNode* const node = pick_node();
    const bool on = random_.below(3) != 0;
    const bool changes = model_.nodes[node].is_enabled != on;
    if (is_refused(changes && is_guarded(node), [&] { return graph_.set_enabled(*node, on); })) return;
    ASSERT_TRUE(graph_.set_enabled(*node, on).ok());
    model_.nodes[node].is_enabled = on;
  }

  void insert() {
    SceneNode* const node = pick_node();
    auto use = ContainerUse::placed;
    if (random_.below(2) == 0) use = static_cast<ContainerUse>(random_.below(node == graph_.root() ? 3 : 2));
    for (uint32_t more = 1 + random_.below(40); more > 0; --more) {
      if (!insert_one(node, use)) return;
    }
  }
  bool insert_one(SceneNode* node, ContainerUse use) {
    const EntityDesc desc = test::random_desc(random_);
    const EntityHandle entity = handle_of(random_.next() >> 1);
    const auto put = [&] { return graph_.insert(*node, use, entity, desc); };
    if (is_refused(is_guarded(node), [&] { return put().status(); })) return false;
    // One of its containers that has room, its lowest free slot.
    std::set<uint32_t> roomy;
    uint32_t held = 0;
    for (const uint32_t c : model_.nodes[node].chain) {
      const Model::Container& at = model_.containers.at(c);
      if (at.is_map || at.use != use) continue;
      held += at.capacity;
      if (at.slots.size() < at.capacity) roomy.insert(c);
    }
    uint32_t capacity = 320;
    bool fits = true, may_be_scattered = false;
    const bool is_chunk = use == ContainerUse::dynamic && node == graph_.root();
    if (roomy.empty()) {
      if (use == ContainerUse::straddling) {
        capacity = 64;
      } else if (!is_chunk) {
        const uint32_t least = node == graph_.root() ? 100 : 16;
        capacity = std::min((std::max(held / 2, least) + 15) / 16 * 16, 320u);
      }
      const size_t bytes = size_t{capacity} * kHostSlotBytes * (is_chunk ? kChunkContainers : 1);
      fits = (bytes + 63) / 64 * 64 <= graph_.desc_pool().stats().free_bytes;
      const uint32_t there = model_.count(false, is_chunk);
      fits = fits && (is_chunk ? there == 0 : there + light_containers() < kTiny.containers);
      if (use == ContainerUse::straddling) fits = fits && held == 0;
      may_be_scattered = model_.locks > 0;
    }
    const Result<SceneSlot> slot = put();
    if (!slot.ok()) {
      EXPECT_TRUE(!fits || may_be_scattered) << slot.status().message;
      EXPECT_EQ(slot.status().code, StatusCode::out_of_slots);
      ++full;
      return false;
    }
    EXPECT_TRUE(fits);
    const SceneSlot at = slot.value();
    if (roomy.empty()) {
      const uint32_t count = is_chunk ? kChunkContainers : 1;
      for (uint32_t i = 0; i < count; ++i) {
        EXPECT_EQ(model_.containers.count(at.container + i), 0u);
        model_.containers[at.container + i] = {node, use, false, is_chunk, capacity, {}, {}, {}};
        model_.nodes[node].chain.push_back(at.container + i);
      }
      roomy.insert(at.container);
    }
    EXPECT_EQ(roomy.count(at.container), 1u);
    Model::Container& container = model_.containers.at(at.container);
    uint32_t lowest = is_chunk ? at.slot / kSubBlockSlots * kSubBlockSlots : 0;  // of the block that it was put into
    while (container.slots.count(lowest) != 0) ++lowest;
    EXPECT_EQ(at.slot, lowest);
    container.slots[at.slot] = Stored(desc, at.slot).desc;
    container.owners[at.slot] = entity;
    return true;
  }
  /// A used slot; false if there is none.
  bool pick_slot(SceneSlot& out) {
    if (model_.containers.empty()) return false;
    const auto c = pick(model_.containers);
    if (c->second.slots.empty()) return false;
    out = {c->first, pick(c->second.slots)->first};
    return true;
  }
  void erase() {
    SceneSlot at;
    for (uint32_t more = 1 + random_.below(40); more > 0; --more) {
      if (!pick_slot(at)) continue;
      Model::Container& container = model_.containers.at(at.container);
      if (is_refused(is_guarded(container.node), [&] { return graph_.erase(at); })) return;
      ASSERT_TRUE(graph_.erase(at).ok());
      ASSERT_EQ(graph_.erase(at).code, StatusCode::not_found);
      container.slots.erase(at.slot);
      if (container.slots.empty() && !container.is_map && !container.is_chunk) drop(at.container);
    }
  }
  void drop(uint32_t c) {
    if (SceneNode* const node = model_.containers.at(c).node) std::erase(model_.nodes[node].chain, c);
    model_.containers.erase(c);
  }
  void change() {
    SceneSlot at;
    if (!pick_slot(at)) return;
    Model::Container& container = model_.containers.at(at.container);
    EntityDesc& wanted = container.slots.at(at.slot);
    const EntityDesc desc = test::random_desc(random_);
    const auto flags = static_cast<uint16_t>(random_.next()),
               mask = static_cast<uint16_t>(random_.next() & ~uint32_t{kDescLodChild | kDescSetParent});
    const uint32_t which = random_.below(4);
    const auto apply = [&] {
      if (which == 0) return graph_.write(at, desc);
      if (which == 1) return graph_.set_mask(at, desc.mask);
      if (which == 2) return graph_.set_alpha(at, desc.alpha);
      return graph_.set_flags(at, mask, flags);
    };
    if (is_refused(is_guarded(container.node), apply)) return;
    ASSERT_TRUE(apply().ok());
    if (which == 0) wanted = Stored(desc, static_cast<uint32_t>(wanted.handle), container.links, container.is_map).desc;
    if (which == 1) wanted.mask = desc.mask;
    if (which == 2) wanted.alpha = desc.alpha;
    if (which == 3) wanted.flags = (wanted.flags & ~uint32_t{mask}) | (flags & mask);
    test::expect_same(graph_.read(at), wanted);
  }

  void add_blocks() {
    SceneNode* const node = pick_node();
    maps_.push_back(std::make_unique<MapBlocks>(test::random_map(random_, 1 + random_.below(700))));
    const MapBlocks& map = *maps_.back();
    const EntityHandle group{.generation = 5, .slot = random_.next() >> 8};
    const auto add = [&] { return graph_.add_blocks(*node, map.view(group)); };
    if (is_refused(is_guarded(node), add)) return;
    size_t bytes = 0;
    for (const DescContainer& c : map.containers) bytes += (lane_bytes(padded_slots(c.count)) + 63) / 64 * 64;
    const bool fits = model_.count(true, false) + map.containers.size() <= kTiny.soa_containers &&
                      bytes <= graph_.desc_pool().stats().free_bytes;
    const uint32_t before = node->container_count();
    const uint64_t used = graph_.desc_pool().stats().used_bytes;
    const Status added = add();
    if (!added.ok()) {
      EXPECT_TRUE(!fits || model_.locks > 0) << added.message;
      EXPECT_EQ(added.code, StatusCode::out_of_slots);
      EXPECT_EQ(node->container_count(), before);
      EXPECT_EQ(graph_.desc_pool().stats().used_bytes, used);
      ++full;
      return;
    }
    EXPECT_TRUE(fits);
    std::vector<uint32_t> chain = test::chain_of(graph_, *node);
    chain.erase(chain.begin(), chain.end() - static_cast<std::ptrdiff_t>(map.containers.size()));
    for (size_t i = 0; i < chain.size(); ++i) {
      const DescContainer& from = map.containers[i];
      Model::Container& to = model_.containers[chain[i]];
      to = {node, ContainerUse::placed, true, false, padded_slots(from.count), map.links, {}, {}};
      for (uint32_t e = 0; e < map.descs.size(); ++e) {
        const uint32_t slot = map.slot_of[e] - from.first_slot;
        if (map.slot_of[e] < from.first_slot || slot >= from.count || map.descs[e].distance == 0) continue;
        to.slots[slot] = Stored(map.descs[e], e, map.links, true).desc;
        to.owners[slot] = entity_of_group(group, e);
      }
      model_.nodes[node].chain.push_back(chain[i]);
    }
  }
  void unlink_container() {
    if (model_.containers.empty()) return;
    const auto at = pick(model_.containers);
    SceneNode* const node = random_.below(4) == 0 ? pick_node() : at->second.node;
    if (node == nullptr || node != at->second.node) {
      SceneNode& other = node != nullptr ? *node : *graph_.root();
      EXPECT_EQ(graph_.unlink_container(other, at->first).code, StatusCode::not_found);
      return;
    }
    if (at->second.is_chunk) return;  // the outside would get a second chunk
    if (is_refused(is_guarded(node), [&] { return graph_.unlink_container(*node, at->first); })) return;
    ASSERT_TRUE(graph_.unlink_container(*node, at->first).ok());
    std::erase(model_.nodes[node].chain, at->first);
    at->second.node = nullptr;
  }
  void link_container() {
    if (model_.containers.empty()) return;
    const auto at = pick(model_.containers);
    SceneNode* const node = at->second.use == ContainerUse::straddling ? graph_.root() : pick_node();
    const auto link = [&] { return graph_.link_container(*node, at->first); };
    if (at->second.node != nullptr) {
      EXPECT_EQ(link().code, StatusCode::in_use);
      return;
    }
    if (is_refused(is_guarded(node), link)) return;
    ASSERT_TRUE(link().ok());
    at->second.node = node;
    model_.nodes[node].chain.push_back(at->first);
  }
  void destroy_container() {
    if (model_.containers.empty()) return;
    const auto at = pick(model_.containers);
    if (at->second.is_chunk) {
      EXPECT_EQ(graph_.destroy_container(at->first).code, StatusCode::in_use);
      return;
    }
    if (is_refused(is_guarded(at->second.node), [&] { return graph_.destroy_container(at->first); })) return;
    ASSERT_TRUE(graph_.destroy_container(at->first).ok());
    drop(at->first);
  }

  void light() {
    const EntityHandle light = handle_of(random_.below(60));
    const EntityDesc desc = test::random_desc(random_);
    const bool sets = random_.below(3) != 0, is_there = model_.lights.count(light.slot) != 0;
    const Status done = sets ? graph_.set_light(light, desc) : graph_.remove_light(light);
    if (!done.ok()) {  // many wait, there are too many, or no container was free for them when they were merged
      EXPECT_TRUE(done.code == StatusCode::in_use ? model_.locks > 0 : done.code == StatusCode::out_of_slots);
      ++full;
      return;
    }
    EXPECT_TRUE(!sets || is_there || model_.lights.size() < kTiny.lights);
    if (sets) {
      model_.lights[light.slot] = desc;
    } else {
      model_.lights.erase(light.slot);
    }
  }
  void check_lights() {
    EXPECT_EQ(graph_.light_count(), model_.lights.size());
    for (uint32_t c = 0; c < kTiny.containers; ++c) {
      if (!is_of_lights(c)) continue;
      const ContainerView& view = graph_.containers().views[c];
      ASSERT_EQ(view.slots, model_.lights.size());
      uint32_t slot = 0;
      for (const auto& [key, desc] : model_.lights) {
        EXPECT_EQ(view.handles[slot], handle_of(static_cast<uint32_t>(key)));
        test::expect_same(graph_.read({c, slot}), Stored(desc, slot).desc);
        ++slot;
      }
      return;
    }
    // None for them: there was no room.
    const bool is_full =
        model_.count(false, false) == kTiny.containers || graph_.desc_pool().stats().free_bytes < 320 * kHostSlotBytes;
    EXPECT_TRUE(model_.lights.empty() || is_full);
  }
  void lock_or_unlock(bool locks) {
    if (locks && model_.locks < 3) {
      graph_.lock();
      if (++model_.locks > 1) return;
      check_lights();
      test::check_bounds(graph_, true);
    } else if (model_.locks > 0) {
      graph_.unlock();
      --model_.locks;
    }
    EXPECT_EQ(graph_.is_locked(), model_.locks > 0);
  }

  test::CapturedLog log_;
  test::BrokenContracts contracts_;
  test::CheckedMemory memory_;
  MemoryTracker tracker_;
  Random random_;
  std::vector<std::unique_ptr<MapBlocks>> maps_;
  Model model_;
  SceneGraph graph_;
};

TEST(SceneGraphRandom, IsAlwaysLikeThePlainModel) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomScene scene(seed);
    for (int step = 0; step < 20000; ++step) {
      scene.step(/*fills=*/step / 400 % 2 == 0);
      if (step % 64 == 0) scene.check();
      if (testing::Test::HasFailure()) {
        FAIL() << "at step " << step;
      }
    }
    scene.check();
    EXPECT_GT(scene.full, 200u);
    EXPECT_GT(scene.refused, 200u);
  }
}

}  // namespace
}  // namespace meridian
