// SPDX-License-Identifier: MIT
// Random forests of maps that come and go in any order, against a walker over definitions that knows only what was
// asked for: SCAN-8, MAP-4, MAP-5, P064, P092, P094. Weights on each chain add up, no set is ready with a child absent, none
// waits with all there.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "meridian/entity/entity_visibility.h"
#include "unit/runtime/map/lod_kit.h"

namespace meridian {
namespace {

constexpr uint32_t kMaps = 9;
constexpr uint32_t kDeepest = 6;  // entities above each other
constexpr float kRamp = 0.25f;
constexpr uint32_t kNight = 0xFC0000;  // 18:00 to 24:00
constexpr float kScales[kLodLevels] = {1, 1.5f, 0.75f, 1.25f, 1, 0.5f, 2};

struct Id {
  uint32_t map = 0, entity = 0;
  friend auto operator<=>(const Id&, const Id&) = default;
};

/// A map as it is defined.
struct Definition {
  test::MapMaker maker;
  int parent = -1;  ///< map
  bool is_linked = false;
};

/// A map as it was asked for.
struct Live {
  MapContents* contents = nullptr;  ///< null: not loaded
  bool is_shown = false, is_bound = false, counts = true;
  uint32_t cap = 3;
  std::set<uint32_t> gone, hidden;
};

/// What the definitions say of a set.
struct Truth {
  bool is_ready = false;
  uint32_t level = 0;
};

NameHash map_name(uint32_t m) { return hash_name(("map_" + std::to_string(m)).c_str()); }

struct Forest {
  explicit Forest(uint32_t seed) : engine(seed) {
    props.base(hash_name("house"), {.lod = 60}).base(hash_name("block"), {.lod = 300});
    props.time(hash_name("sign"), kNight, {.lod = 90});
    maps.resize(kMaps);
    for (uint32_t m = 0; m < kMaps; ++m) make(m);
    for (uint32_t m = 0; m < kMaps; ++m) {
      if (below(3) != 0) link(m);
    }
  }
  uint32_t below(uint32_t end) { return static_cast<uint32_t>(engine() % end); }
  float number(float low, float high) { return low + (high - low) * static_cast<float>(engine() % 4096) / 4096; }

  void make(uint32_t m) {
    Definition& out = maps[m];
    out.maker.name = map_name(m);
    if (m >= 2) out.parent = static_cast<int>(below(m < 5 ? 2 : m));  // some far below, some beside each other
    const uint32_t count = 5 + below(8);
    const char* const names[] = {"house", "block", "sign", "nowhere"};
    for (uint32_t i = 0; i < count; ++i) {
      test::EntityItem e{.archetype = hash_name(names[below(8) == 0 ? 3 : below(3)])};
      e.at = {number(-300, 300), number(-300, 300), number(0, 50)};
      e.level = static_cast<schema::LodLevel>(below(kLodLevels));
      e.child_lod = number(40, 400);
      e.children = 1000;
      e.priority = static_cast<schema::PriorityLevel>(below(4));
      if (below(6) == 0) e.flags = test::flag(schema::EntityFlags::is_static);
      const uint32_t how = below(10);
      if (how < 4 && i > 0) {
        e.parent = static_cast<int32_t>(below(i));
      } else if (how < 9 && out.parent >= 0) {
        e.flags |= test::kInParent;
        e.parent = static_cast<int32_t>(below(static_cast<uint32_t>(entities(static_cast<uint32_t>(out.parent)))));
      }
      const uint32_t index = out.maker.add(e);
      if (depth({m, index}) > kDeepest) out.maker.entities[index].parent = -1;
    }
  }
  /// As a linker does: each set lists the maps that name its parent, with their counts.
  void link(uint32_t m) {
    maps[m].is_linked = true;
    for (uint32_t j = 0; j < entities(m); ++j) {
      test::MapMaker::Set set{j, maps[m].maker.entities[j].child_lod};
      for (uint32_t c = 0; c < kMaps; ++c) {
        const uint32_t at = (m + c) % kMaps;  // its own first
        uint32_t counts[4] = {};
        for (const Id child : children_in(at, {m, j})) ++counts[static_cast<uint32_t>(of(child).priority)];
        if (counts[0] + counts[1] + counts[2] + counts[3] == 0) continue;
        set.children.push_back({map_name(at).value, counts[0], counts[1], counts[2], counts[3]});
      }
      if (!set.children.empty()) maps[m].maker.lod_sets.push_back(set);
    }
  }
  size_t entities(uint32_t m) const { return maps[m].maker.entities.size(); }
  const test::EntityItem& of(Id id) const { return maps[id.map].maker.entities[id.entity]; }
  /// The entity that the definition names. Requires: it names one.
  Id parent_of(Id id) const {
    const bool is_elsewhere = (of(id).flags & test::kInParent) != 0;
    return {is_elsewhere ? static_cast<uint32_t>(maps[id.map].parent) : id.map, static_cast<uint32_t>(of(id).parent)};
  }
  uint32_t depth(Id id) const { return of(id).parent < 0 ? 1 : 1 + depth(parent_of(id)); }
  std::vector<Id> children_in(uint32_t m, Id parent) const {
    std::vector<Id> out;
    for (uint32_t i = 0; i < entities(m); ++i) {
      if (of({m, i}).parent >= 0 && parent_of({m, i}) == parent) out.push_back({m, i});
    }
    return out;
  }
  /// There is a set for it, once it is in the world: the linker knew of children, or its own map names it.
  bool has_set(Id id) const {
    if (!children_in(id.map, id).empty()) return true;
    if (!maps[id.map].is_linked) return false;
    for (uint32_t m = 0; m < kMaps; ++m) {
      if (!children_in(m, id).empty()) return true;
    }
    return false;
  }
  test::MapFile file(uint32_t m, bool is_cooked) const {
    if (!is_cooked) return maps[m].maker.finish();
    std::vector<LodParent> parents(entities(m));
    for (uint32_t i = 0; i < entities(m); ++i) {
      if ((of({m, i}).flags & test::kInParent) == 0) continue;
      const Id parent = parent_of({m, i});
      if (has_set(parent)) parents[i] = {of(parent).at, of(parent).child_lod};
    }
    return maps[m].maker.finish(props.traits(), parents);
  }

  std::mt19937 engine;
  test::TypesItem props;
  std::vector<Definition> maps;
};

class RandomLodSets : public testing::TestWithParam<uint32_t> {
 protected:
  RandomLodSets() : forest(GetParam()) {
    kit.map_config.lod_ramp_seconds = kRamp;
    kit.map_config.lod_sets = GetParam() % 3 == 2 ? 12 : 200;  // not enough for all, or plenty
    kit.map_config.is_counted_user = this;
    kit.map_config.is_counted = [](void* user, NameHash name) {
      const auto& self = *static_cast<RandomLodSets*>(user);
      for (uint32_t m = 0; m < kMaps; ++m) {
        if (map_name(m) == name) return self.live[m].counts;
      }
      ADD_FAILURE() << "asked for a map that is not there";
      return true;
    };
  }

  // --- the model ---

  bool is_alive(Id id) const {  // made, and not gone since
    const test::EntityItem& e = forest.of(id);
    const bool is_fixed = (e.flags & test::flag(schema::EntityFlags::is_static)) != 0;
    return e.archetype != hash_name("nowhere") && !live[id.map].gone.contains(id.entity) &&
           (static_cast<uint32_t>(e.priority) <= live[id.map].cap || is_fixed);
  }
  bool is_resident(Id id) const { return live[id.map].contents != nullptr && live[id.map].is_shown && is_alive(id); }
  uint32_t record_of(Id id) const {
    const MapContents& map = *live[id.map].contents;
    const LodLinkRow* const row = find_link(map.links(), false, id.entity);
    return row != nullptr ? map.lod_set_id(static_cast<uint32_t>(row - map.links().data())) : kNoLodSetId;
  }
  bool should_have_record(Id id) const { return is_resident(id) && forest.has_set(id); }
  /// The parent that stands for it now, if any.
  bool find_parent(Id id, Id& parent) const {
    if (forest.of(id).parent < 0) return false;
    parent = forest.parent_of(id);
    if (parent.map != id.map && !live[id.map].is_bound) return false;
    return should_have_record(parent) && record_of(parent) != kNoLodSetId;
  }
  Truth truth(Id set) const {
    Truth out;
    uint32_t living = 0;
    bool all = true;
    for (uint32_t c = 0; c < kMaps; ++c) {
      const uint32_t m = (set.map + c) % kMaps;
      const bool is_own = m == set.map;
      const std::vector<Id> children = forest.children_in(m, set);
      if (children.empty() || (!is_own && (!forest.maps[set.map].is_linked || !live[m].counts))) continue;
      const bool is_bound = live[m].contents != nullptr && live[m].is_bound;
      if (!is_own && !(is_bound && live[m].is_shown)) {
        const uint32_t cap = is_bound ? live[m].cap : live[set.map].cap;
        for (const Id child : children) {
          if (static_cast<uint32_t>(forest.of(child).priority) <= cap) return {};
        }
        continue;
      }
      for (const Id child : children) {
        if (!is_alive(child)) continue;
        if (living++ == 0) out.level = static_cast<uint32_t>(forest.of(child).level);
        const bool is_off = forest.of(child).archetype == hash_name("sign") && (kNight >> hour & 1) == 0;
        if (is_off || live[m].hidden.contains(child.entity)) continue;
        all = all && !kit.lacking.contains({m, child.entity});
      }
    }
    out.is_ready = living > 0 && all;
    return out;
  }

  /// Weights of an entity and of its children, handed down from the root, without rounding.
  struct Handed {
    double own = 0, children = 0;
  };
  Handed handed(Id id, const Vec3& camera) const {
    Id parent;
    const double all = find_parent(id, parent) ? handed(parent, camera).children : 1;
    if (!should_have_record(id) || record_of(id) == kNoLodSetId) return {all, 0};
    const LodSetRecord& set = *kit.sets().find(record_of(id));
    if (!set.is_ready) return {all, 0};
    const Vec3& at = live[id.map].contents->entity(id.entity)->position();
    const double x = double(at.x) - double(camera.x), y = double(at.y) - double(camera.y),
                 z = double(at.z) - double(camera.z);
    const double far = double(forest.of(id).child_lod) * double(kScales[truth(id).level]) + 20;
    const double part = std::min(1.0, std::max(0.0, (far - std::sqrt(x * x + y * y + z * z)) / 20));
    const double ramp = std::min(1.0, double(since_ready.at(id)) / double(kRamp));
    return {all * (1 - part * ramp), all * part * ramp};
  }

  // --- what is checked ---

  /// `is_settled`: the host was asked since something changed.
  void check(bool is_settled, const std::string& what) {
    uint32_t wanted = 0, there = 0;
    std::map<Id, float> now;
    for (uint32_t m = 0; m < kMaps; ++m) {
      if (live[m].contents == nullptr) continue;
      ASSERT_EQ(live[m].contents->is_shown(), live[m].is_shown);
      for (uint32_t i = 0; i < forest.entities(m); ++i) {
        const Id id{m, i};
        ASSERT_EQ(live[m].contents->entity(i) != nullptr, is_alive(id)) << what;
        const uint32_t record = record_of(id);
        if (!should_have_record(id)) {
          ASSERT_EQ(record, kNoLodSetId) << what << ": " << m << '.' << i;
          continue;
        }
        ++wanted;
        if (record == kNoLodSetId) continue;
        ++there;
        const LodSetRecord& set = *kit.sets().find(record);
        const Truth true_state = truth(id);
        if (is_settled) {
          ASSERT_EQ(set.is_ready, true_state.is_ready) << what << ": " << m << '.' << i;
        } else {
          ASSERT_TRUE(!set.is_ready || true_state.is_ready) << what << ": " << m << '.' << i;
        }
        ASSERT_EQ(set.pivot, live[m].contents->entity(i)->position());
        ASSERT_EQ(set.distance, forest.of(id).child_lod);
        if (!set.is_ready) continue;
        ASSERT_EQ(set.level, true_state.level) << what << ": " << m << '.' << i;
        now[id] = since_ready.contains(id) ? since_ready[id] : 0.0f;
        ASSERT_NEAR(set.ramp, std::min(255.0f, now[id] / kRamp * 255), 1) << what << ": " << m << '.' << i;
      }
    }
    since_ready = now;
    ASSERT_EQ(kit.sets().used(), there) << what;
    if (is_settled) {
      ASSERT_EQ(there, std::min(wanted, kit.map_config.lod_sets)) << what;
    }
    for (int cameras = 0; cameras < 3; ++cameras) check_weights(what);
  }
  void check_weights(const std::string& what) {
    const float far = forest.below(4) == 0 ? 3000.0f : 300.0f;  // a teleport every time
    const Vec3 camera{forest.number(-far, far), forest.number(-far, far), forest.number(0, 100)};
    const auto weight = [&](Id id) {
      const LodPlace at = kit.place(*live[id.map].contents, id.entity);
      return lod_weight(kit.sets(), at.set, at.is_parent, camera, kScales);
    };
    for (uint32_t m = 0; m < kMaps; ++m) {
      for (uint32_t i = 0; i < forest.entities(m); ++i) {
        const Id id{m, i};
        if (!is_resident(id)) continue;
        ASSERT_NEAR(weight(id), handed(id, camera).own * 255, 2.0 * kDeepest) << what << ": " << m << '.' << i;
        const uint32_t own = record_of(id);
        if (own != kNoLodSetId && kit.sets().find(own)->is_ready) continue;  // chains through it end further down
        uint32_t sum = weight(id);
        Id at = id, parent;
        while (find_parent(at, parent)) {
          sum += weight(parent);
          at = parent;
        }
        ASSERT_EQ(sum, 255u) << what << ": the chain of " << m << '.' << i;
        ++chains;
      }
    }
  }

  // --- operations ---

  uint32_t pick_loaded() {
    const uint32_t from = forest.below(kMaps);
    for (uint32_t i = 0; i < kMaps; ++i) {
      if (live[(from + i) % kMaps].contents != nullptr) return (from + i) % kMaps;
    }
    return kMaps;
  }
  MapContents* parent_contents(uint32_t m) const {
    const int parent = forest.maps[m].parent;
    return parent >= 0 ? live[static_cast<uint32_t>(parent)].contents : nullptr;
  }
  void load(uint32_t m) {
    MapPlacement placement{.slot = m};
    placement.priority_cap = static_cast<uint8_t>(forest.below(4));
    placement.postponed = forest.below(4) == 0;
    if (forest.below(2) == 0) placement.parent = parent_contents(m);
    Live& to = live[m];
    to.cap = placement.priority_cap;
    to.contents = kit.load(files[2 * m + forest.below(2)], placement);
    ASSERT_NE(to.contents, nullptr);
    to.is_shown = !placement.postponed;
    to.is_bound = placement.parent != nullptr;
  }
  void unload(uint32_t m) {
    kit.unload(live[m].contents);
    for (uint32_t c = 0; c < kMaps; ++c) {
      if (forest.maps[c].parent == static_cast<int>(m)) live[c].is_bound = false;
    }
    // A set that did without the map by the parent's cap becomes unready with it, and ready again.
    for (auto& [id, since] : since_ready) {
      if (static_cast<int>(id.map) != forest.maps[m].parent || live[id.map].contents == nullptr) continue;
      if (kit.sets().find(record_of(id))->ramp == 0) since = 0;
    }
    const bool counts = live[m].counts;
    live[m] = {};
    live[m].counts = counts;
  }
  void bind_or_unbind(uint32_t m) {
    Live& map = live[m];
    if (map.is_bound) {
      map.contents->unbind_parent();
      map.is_bound = false;
    } else if (MapContents* const parent = parent_contents(m)) {
      const Status s = map.contents->bind_parent(*parent);
      map.is_bound = s.ok();
      ASSERT_TRUE(s.ok() || kit.world.is_locked());
    }
  }
  void toggle_readiness(uint32_t m) {
    const auto count = static_cast<uint32_t>(forest.entities(m)), from = forest.below(count);
    for (uint32_t n = 0; n < 4; ++n) {
      const uint32_t i = (from + n) % count;  // none twice
      if (kit.lacking.erase({m, i}) > 0) continue;
      kit.lacking.insert({m, i});
      Entity* const entity = live[m].contents->entity(i);
      if (entity == nullptr) continue;
      ASSERT_TRUE(kit.MapKit::maps.refresh_lod_set(*entity).ok());
    }
  }
  void toggle_visibility(uint32_t m, uint32_t i) {
    Entity* const entity = live[m].contents->entity(i);
    if (entity == nullptr) return;
    const bool is_visible = live[m].hidden.erase(i) > 0;
    if (!is_visible) live[m].hidden.insert(i);
    ASSERT_TRUE(visibility.set_visible(*entity, VisibilityModule::script, is_visible).ok());
    ASSERT_TRUE(kit.MapKit::maps.refresh_lod_set(*entity).ok());
  }
  void update(float seconds) {
    kit.update(seconds);
    for (auto& [id, since] : since_ready) since += seconds;
  }
  std::string step() {
    const uint32_t m = pick_loaded(), what = forest.below(20);
    const std::string name = " of map " + std::to_string(m);
    if (m == kMaps || what < 4) {
      const uint32_t other = forest.below(kMaps);
      if (live[other].contents == nullptr) load(other);
      return "load of map " + std::to_string(other);
    }
    if (what < 6) {
      unload(m);
      return "unload" + name;
    }
    if (what < 9) {
      const Status s = live[m].is_shown ? live[m].contents->hide() : live[m].contents->show();
      EXPECT_TRUE(s.ok()) << s.message;
      live[m].is_shown = !live[m].is_shown;
      return (live[m].is_shown ? "show" : "hide") + name;
    }
    if (what < 12) {
      bind_or_unbind(m);
      return "bind" + name;
    }
    if (what < 13) {
      const uint32_t other = pick_loaded();
      kit.world.lock();
      bind_or_unbind(m);
      bind_or_unbind(other);
      kit.world.unlock();
      return "binds under a lock" + name + " and " + std::to_string(other);
    }
    if (what < 15) {
      toggle_readiness(m);
      return "readiness" + name;
    }
    const uint32_t i = forest.below(static_cast<uint32_t>(forest.entities(m)));
    if (what < 16) {
      toggle_visibility(m, i);
      return "visibility" + name;
    }
    if (what < 17) {
      if (live[m].contents->entity(i) != nullptr && forest.below(3) == 0) {
        EXPECT_TRUE(live[m].contents->destroy_entity(i).ok());
        live[m].gone.insert(i);
      }
      return "death of " + std::to_string(i) + name;
    }
    if (what < 18) {
      const uint32_t other = forest.below(kMaps);  // loaded or not
      live[other].counts = !live[other].counts;
      EXPECT_TRUE(kit.MapKit::maps.recount(map_name(other)).ok());
      return "recount of map " + std::to_string(other);
    }
    if (what < 19) {
      hour = forest.below(kHours);
      EXPECT_TRUE(kit.scene.set_hour(hour).ok());
      update(0);
      return "hour";
    }
    EXPECT_TRUE(kit.world.rebase({forest.number(-60, 60), 0, 0}).ok());
    return "rebase";
  }

  Forest forest;
  EntityVisibility visibility;  // outlives what it hides
  Live live[kMaps];
  test::LodKit kit;
  std::vector<test::MapFile> files;
  std::map<Id, float> since_ready;
  uint32_t hour = 0;
  uint64_t chains = 0;
};

TEST_P(RandomLodSets, AddUpAndWaitForNothingThatIsThere) {
  SCOPED_TRACE(GetParam());
  test::CapturedLog log;
  kit.start(forest.props);
  ASSERT_TRUE(visibility.init({}).ok());
  for (uint32_t m = 0; m < kMaps; ++m) {
    files.push_back(forest.file(m, false));
    files.push_back(forest.file(m, true));
  }
  uint64_t ready = 0;
  for (int n = 0; n < 600; ++n) {
    const std::string what = std::to_string(n) + ": " + step();
    if (HasFatalFailure()) return;
    check(false, what);
    if (HasFatalFailure()) return;
    update(forest.number(0, 0.2f));
    check(true, what + ", updated");
    if (HasFatalFailure()) return;
    ready += since_ready.size();
  }
  EXPECT_GT(chains, 1000u);
  EXPECT_GT(ready, 100u) << "some sets were ready at times";
  for (uint32_t m = 0; m < kMaps; ++m) {
    if (live[m].contents != nullptr) unload(m);
  }
  EXPECT_EQ(kit.sets().used(), 0u);
  EXPECT_EQ(kit.sets().ramping(), 0u);
  EXPECT_EQ(kit.account(), kit.before);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomLodSets, testing::Range(0u, 12u));

}  // namespace
}  // namespace meridian
