// SPDX-License-Identifier: MIT
// SCAN-8, P064, P094, MAP-4: whatever comes and goes in whatever order, on each chain from a root to a leaf there is
// one whole entity to be seen, no more and no less.
#include <cmath>
#include <map>
#include <set>

#include "unit/runtime/flight/flight_kit.h"

namespace meridian::test {
namespace {

constexpr float kScales[kLodLevels] = {1, 1, 1, 1, 1, 1, 1};
constexpr float kRamp = 0.25f;

/// A host that is ready with an entity some frames after it was made.
struct SlowHost {
  std::map<const Entity*, uint32_t> made;  ///< in which frame
  uint32_t frame = 0;

  static uint32_t delay(const Entity& entity) {
    const Vec3 at = entity.position();
    return (static_cast<uint32_t>(at.x) * 7 + static_cast<uint32_t>(at.y) * 13) % 9;
  }
  bool is_ready(const Entity& entity) const { return frame >= made.at(&entity) + delay(entity); }
  EntityHost host() {
    EntityHost out{.user = this};
    out.is_ready = [](void* self, const Entity& e) { return static_cast<SlowHost*>(self)->is_ready(e); };
    out.on_create = [](void* self, Entity& e) {
      auto& host = *static_cast<SlowHost*>(self);
      EXPECT_TRUE(host.made.emplace(&e, host.frame).second);
    };
    out.on_destroy = [](void* self, Entity& e) { EXPECT_EQ(static_cast<SlowHost*>(self)->made.erase(&e), 1u); };
    return out;
  }
};

/// Walks definitions and what is resident, and knows nothing of links, rows and records, but for how far a set is faded
/// in.
class Walker {
 public:
  Walker(const FlightKit& kit, const WorldPlan& plan, const SlowHost& host, const Vec3& camera)
      : kit_(kit), plan_(plan), host_(host), camera_(camera) {
    for (const PlanMap& map : plan.maps) {
      if (kit.has(map.name)) shown_[map.name] = kit.contents(map.name);
    }
  }

  struct Node {
    const PlanMap* map = nullptr;
    uint32_t index = 0;
    explicit operator bool() const { return map != nullptr; }
    friend bool operator<(const Node& a, const Node& b) { return a.map != b.map ? a.map < b.map : a.index < b.index; }
  };

  /// The number of chains.
  uint32_t check() {
    std::set<Node> parents;
    std::vector<Node> all;
    for (const auto& [name, contents] : shown_) {
      const PlanMap& map = *plan_.find(hash_name(name));
      for (uint32_t i = 0; i < map.entities.size(); ++i) {
        if (contents->entity(i) == nullptr) continue;
        const Node node{&map, i};
        all.push_back(node);
        if (const Node up = parent_of(node)) parents.insert(up);
      }
    }
    uint32_t chains = 0;
    for (const Node& leaf : all) {
      if (parents.contains(leaf)) continue;
      ++chains;
      uint32_t sum = 0;
      for (Node at = leaf; at; at = parent_of(at)) {
        const uint32_t seen = seen_weight(at), expected = expected_weight(at);
        EXPECT_EQ(seen, expected) << at.map->name << ' ' << at.index;
        sum += seen;
      }
      EXPECT_EQ(sum, 255u) << "on the chain of " << leaf.map->name << ' ' << leaf.index;
    }
    return chains;
  }

  /// All children are there and the host has them.
  bool is_ready(const Node& parent) const {
    bool any = false;
    for (const PlanSet& set : parent.map->sets) {
      if (set.parent != parent.index) continue;
      for (const PlanSet::Row& row : set.children) {
        const PlanMap& in = *plan_.find(hash_name(row.map));
        const auto at = shown_.find(row.map);
        const uint32_t slot = kit_.slot(row.map);
        if (kit_.streaming.maps().is_off(slot) && &in != parent.map) continue;
        if (at == shown_.end()) return false;
        for (uint32_t i = 0; i < in.entities.size(); ++i) {
          const PlanEntity& e = in.entities[i];
          const bool is_child = e.parent == static_cast<int32_t>(parent.index) && e.in_parent == (&in != parent.map);
          const Entity* const child = at->second->entity(i);
          if (!is_child || child == nullptr) continue;
          any = true;
          const bool is_on = (hours_of(e.archetype) >> kit_.scene.hour() & 1) != 0;
          if (is_on && !host_.is_ready(*child)) return false;
        }
      }
    }
    return any;
  }

 private:
  uint32_t hours_of(const std::string& archetype) const {
    for (const PlanTypes& types : plan_.types) {
      for (const PlanArchetype& a : types.archetypes) {
        if (a.name == archetype) return a.hours;
      }
    }
    return 0;
  }
  Node parent_of(const Node& node) const {
    const PlanEntity& e = node.map->entities[node.index];
    if (e.parent < 0) return {};
    const PlanMap* const in = e.in_parent ? plan_.find(hash_name(node.map->parent)) : node.map;
    if (in == nullptr) return {};
    const auto at = shown_.find(in->name);
    const auto index = static_cast<uint32_t>(e.parent);
    if (at == shown_.end() || at->second->entity(index) == nullptr) return {};
    return {in, index};
  }
  /// As a scan finds it: from the descriptor.
  uint32_t seen_weight(const Node& node) const {
    const Entity& entity = *shown_.at(node.map->name)->entity(node.index);
    const ContainerTag tag = entity.container();
    if (!tag.is_in_container()) {
      ADD_FAILURE() << "an entity without a descriptor";
      return 0;
    }
    const ContainerLinks& links = kit_.graph.containers().links[tag.container()];
    const DescLanes lanes = desc_lanes(kit_.graph.containers().views[tag.container()]);
    const LodPlace place = lod_place(links.rows, links.set_ids, lanes.lod_set[tag.slot()],
                                     (lanes.flags[tag.slot()] & kDescSetParent) != 0);
    return lod_weight(kit_.maps.lod_sets(), place.set, place.is_parent, camera_, kScales);
  }
  uint32_t ramp_of(const Node& parent) const {
    const LodPlace place = shown_.at(parent.map->name)->lod_place(parent.index);
    const LodSetRecord* const set = place.is_parent ? kit_.maps.lod_sets().find(place.set) : nullptr;
    if (set == nullptr) {
      ADD_FAILURE() << "no record of " << parent.map->name << ' ' << parent.index;
      return 0;
    }
    return set->ramp;
  }
  /// How much of the children of a parent is seen of what the parent has, by hand.
  uint32_t alpha(const Node& parent) const {
    if (!is_ready(parent)) return 0;
    float distance = 0;
    for (const PlanSet& set : parent.map->sets) distance = set.parent == parent.index ? set.distance : distance;
    const Vec3 away = camera_ - parent.map->entities[parent.index].at;
    const float d = std::sqrt(away.x * away.x + away.y * away.y + away.z * away.z);
    const float part = d <= distance ? 255.0f : d >= distance + 20 ? 0.0f : (distance + 20 - d) * 255.0f / 20;
    return static_cast<uint32_t>(part) * ramp_of(parent) / 255;
  }
  bool is_parent(const Node& node) const {
    for (const PlanSet& set : node.map->sets) {
      if (set.parent == node.index) return true;
    }
    return false;
  }
  /// What all of the chain down to this one has to share.
  uint32_t whole(const Node& node) const {
    const Node up = parent_of(node);
    return up ? whole(up) * alpha(up) / 255 : 255;
  }
  uint32_t expected_weight(const Node& node) const {
    const uint32_t all = whole(node);
    return is_parent(node) ? all - all * alpha(node) / 255 : all;
  }

  const FlightKit& kit_;
  const WorldPlan& plan_;
  const SlowHost& host_;
  Vec3 camera_;
  std::map<std::string, const MapContents*> shown_;
};

struct LodFlight {
  SlowHost host;  // outlives the world
  FlightKit kit;
};

struct Course {
  uint64_t seed = 1;
  uint32_t frames = MERIDIAN_FLIGHT_FRAMES;
  float failure_rate = 0;
  uint32_t chunks = 8;
  uint32_t max_maps = 0;
  bool has_changes = false;  ///< hours, manual maps, entities that are destroyed
};

void fly(const Course& course) {
  const auto [seed, frames, failure_rate, chunks, max_maps, has_changes] = course;
  SCOPED_TRACE("seed " + std::to_string(seed));
  const CapturedLog log;  // of failed reads
  WorldPlan plan = grid_world({});
  plan.map("hd_3_3").is_corrupt = true;  // never comes: its parent stays
  plan.type_file("near").archetypes.push_back({"clock", 60, 0xFFF});
  for (const char* const timed : {"hd_2_2", "hd_2_3", "hd_5_4", "hd_1_1"})
    plan.map(timed).entities[1].archetype = "clock";
  plan.map("hd_4_4").flags = kPlanManual;
  plan.groups.push_back({"hd_4_3", 0xFF00FF});
  for (const char* const large : {"hd_2_4", "lod_1_1"}) add_many(plan.map(large), 1200);
  LodFlight flight;
  FlightKit& kit = flight.kit;
  kit.shuffled.set_seed(seed);
  kit.shuffled.failure_rate = failure_rate;
  kit.map_config.host = flight.host.host();
  kit.map_config.lod_ramp_seconds = kRamp;
  kit.config.retry = {.io_retries = 50, .first_pause = 0.05f};
  kit.config.streamer.min_residence = 0.5f;
  kit.config.max_maps = max_maps;
  kit.start();
  kit.mount(plan, true);
  Random random(seed);
  Vec3 eye{200, 200, 2}, velocity{};
  uint64_t chains = 0, ready = 0;
  for (uint32_t f = 0; f < frames && !testing::Test::HasFailure(); ++f) {
    flight.host.frame = f;
    if (random.chance(0.02f)) velocity = {random.between(-60.0f, 60.0f), random.between(-60.0f, 60.0f), 0};
    eye = eye + velocity * FlightKit::kDt;
    if (random.chance(0.01f)) eye = {random.between(-100.0f, 500.0f), random.between(-100.0f, 500.0f), 2};
    if (eye.x < -300 || eye.x > 700 || eye.y < -300 || eye.y > 700) eye = {200, 200, 2};
    kit.shuffled.per_update = random.below(4);
    kit.max_chunks = 1 + random.below(chunks);
    if (has_changes && random.chance(0.03f)) {
      ASSERT_TRUE(kit.streaming.set_hour(random.below(24)).ok());
    }
    if (has_changes && random.chance(0.02f)) {
      ASSERT_TRUE(kit.streaming.maps().set_active(hash_name("hd_4_4"), random.chance(0.5f)).ok());
    }
    if (has_changes && random.chance(0.1f)) {
      MapContents* const in = kit.contents(plan.maps[random.below(static_cast<uint32_t>(plan.maps.size()))].name);
      const uint32_t index = random.below(8);
      if (in != nullptr && in->entity(index) != nullptr) {
        ASSERT_TRUE(in->destroy_entity(index).ok());
      }
    }
    ASSERT_TRUE(kit.frame(eye, velocity).ok());
    Walker walker(kit, plan, flight.host, eye);
    SCOPED_TRACE("frame " + std::to_string(f));
    chains += walker.check();
    for (const LodSetRecord& set : kit.maps.lod_sets().pool()) ready += set.is_ready ? 1 : 0;
  }
  EXPECT_GT(chains, frames * 4ull);
  EXPECT_GT(ready, frames / 4ull);
  EXPECT_FALSE(kit.has("hd_3_3"));
  if (failure_rate > 0) {
    EXPECT_GT(kit.shuffled.failed, 0u);
  }
  kit.streaming.shutdown();
  EXPECT_TRUE(flight.host.made.empty());
}

}  // namespace

// P064, SCAN-8
TEST(LodFlight, EachChainIsWholeInEachFrameOfARandomFlight) {
  for (const uint64_t seed : {1u, 2u, 3u}) fly({.seed = seed});
}

TEST(LodFlight, EachChainIsWholeWhereReadsFailAndAreTriedAgain) {
  for (const uint64_t seed : {11u, 12u, 13u}) fly({.seed = seed, .failure_rate = 0.2f, .chunks = 3});
}

// P094: parents are displaced before their children.
TEST(LodFlight, EachChainIsWholeWhereOnlyAFewMapsMayBeThere) {
  for (const uint64_t seed : {21u, 22u, 23u}) fly({.seed = seed, .max_maps = 11});
}

TEST(LodFlight, EachChainIsWholeWhenHoursAndMapsChangeAndEntitiesDie) {
  for (const uint64_t seed : {31u, 32u, 33u}) fly({.seed = seed, .failure_rate = 0.05f, .has_changes = true});
}

// P064: children come one by one, one of them never: the parent stays.
TEST(LodFlight, AChildThatNeverComesKeepsTheParent) {
  const CapturedLog log;
  WorldPlan plan = grid_world({.columns = 4, .rows = 4});
  plan.map("hd_0_0").is_corrupt = true;
  LodFlight flight;
  FlightKit& kit = flight.kit;
  kit.map_config.host = flight.host.host();
  kit.start();
  kit.mount(plan, true);
  const Vec3 eye{50, 50, 2};  // where four HD maps meet
  for (; flight.host.frame < 100; ++flight.host.frame) {
    ASSERT_TRUE(kit.frame(eye).ok());
    Walker(kit, plan, flight.host, eye).check();
  }
  const PlanMap& lod = plan.map("lod_0_0");
  const Walker walker(kit, plan, flight.host, eye);
  EXPECT_FALSE(walker.is_ready({&lod, 0}));
  for (const uint32_t other : {1u, 2u, 3u, 4u}) EXPECT_TRUE(walker.is_ready({&lod, other}));
}

}  // namespace meridian::test
