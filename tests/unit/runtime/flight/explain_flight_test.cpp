// SPDX-License-Identifier: MIT
// Why a map, a type file, an archetype or an entity is not there: one case for each reason.
#include <cmath>
#include <functional>

#include "meridian/entity/entity_visibility.h"
#include "unit/runtime/flight/flight_kit.h"

namespace meridian::test {
namespace {

const Vec3 kEye{125, 125, 2};  // in hd_2_2

WorldPlan explained_world() {
  WorldPlan plan = grid_world({});
  plan.type_file("near").archetypes.push_back({"clock", 60, 1u << 12});
  plan.types.push_back({.name = "ruins", .archetypes = {{"ruin", 60}}});
  plan.type_file("ruins").is_corrupt = true;
  PlanMap& town = plan.map("hd_2_2");
  const auto add = [&](const char* archetype) -> PlanEntity& {
    town.entities.push_back({.archetype = archetype, .at = {120, 120, 1}});
    return town.entities.back();
  };
  add("clock");                                                 // 4
  add("nothing_like_it");                                       // 5
  add("fence_7");                                               // 6
  add("house").priority = schema::PriorityLevel::OPTIONAL_LOW;  // 7
  add("house").scale = 0;                                       // 8
  add("house");                                                 // 9: destroyed
  add("house");                                                 // 10: hidden
  plan.map("hd_2_3").entities[0].at.z = 99;                     // the host has no model of it
  plan.map("hd_3_2").flags = kPlanManual;
  plan.map("hd_1_1").is_missing = true;
  plan.map("hd_1_2").is_corrupt = true;
  plan.map("hd_1_3").types.push_back("ruins");
  plan.map("hd_3_3").types.push_back("lost");
  plan.groups.push_back({"hd_2_1", 1u << 3});
  return plan;
}

EntityHost host() {
  EntityHost out;
  out.is_ready = [](void*, const Entity& e) { return e.position().z < 90; };
  return out;
}

struct Case {
  const char* what;
  std::function<Explanation(const FlightKit&)> ask;
  ExplainReason reason;
  const char* subject;
  const char* cause;
};

Explanation map(const FlightKit& kit, const char* name) { return kit.streaming.explain_map(hash_name(name)); }
Explanation entity(const FlightKit& kit, const char* name, uint32_t index) {
  return kit.streaming.explain_entity(hash_name(name), index);
}
Explanation archetype(const FlightKit& kit, const char* name) {
  return kit.streaming.explain_archetype(hash_name(name));
}
Explanation types(const FlightKit& kit, const char* name) { return kit.streaming.explain_types(hash_name(name)); }

void check(const FlightKit& kit, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const Explanation why = c.ask(kit);
    EXPECT_STREQ(to_string(why.reason), to_string(c.reason));
    EXPECT_EQ(why.subject, hash_name(c.subject));
    EXPECT_EQ(why.cause, c.cause != nullptr ? hash_name(c.cause) : NameHash{});
    char line[256];
    const std::string text = to_text(why, line);
    EXPECT_NE(text.find(name_text(why.subject).text), std::string::npos) << text;
    if (c.cause != nullptr) {
      EXPECT_NE(text.find(name_text(why.cause).text), std::string::npos) << text;
    }
    char few[8];
    EXPECT_EQ(to_text(why, few), few);
    EXPECT_LT(std::string(few).size(), sizeof(few));
  }
}

}  // namespace

TEST(ExplainFlight, EachReasonWhenAllHasCome) {
  const CapturedLog log;
  EntityVisibility visibility;  // outlives the entities that it hides
  ASSERT_TRUE(visibility.init({.capacity = 4}).ok());
  FlightKit kit;
  kit.map_config.host = host();
  kit.config.priority_cap = 1;
  kit.start();
  kit.mount(explained_world(), true);
  ASSERT_TRUE(kit.streaming.set_hour(5).ok());
  kit.settle(kEye);
  MapContents& town = *kit.contents("hd_2_2");
  ASSERT_TRUE(town.destroy_entity(9).ok());
  ASSERT_TRUE(visibility.set_visible(*town.entity(10), VisibilityModule::script, false).ok());
  using R = ExplainReason;
  check(
      kit,
      {
          {"map present", [](const FlightKit& k) { return map(k, "hd_2_2"); }, R::present, "hd_2_2", nullptr},
          {"map unknown", [](const FlightKit& k) { return map(k, "nowhere"); }, R::unknown, "nowhere", nullptr},
          {"map removed", [](const FlightKit& k) { return map(k, "hd_1_1"); }, R::removed, "hd_1_1", nullptr},
          {"map far away", [](const FlightKit& k) { return map(k, "hd_7_7"); }, R::not_required, "hd_7_7", nullptr},
          {"map manual", [](const FlightKit& k) { return map(k, "hd_3_2"); }, R::manual, "hd_3_2", nullptr},
          {"map of a group", [](const FlightKit& k) { return map(k, "hd_2_1"); }, R::group_off, "hd_2_1", nullptr},
          {"map corrupt", [](const FlightKit& k) { return map(k, "hd_1_2"); }, R::failed, "hd_1_2", nullptr},
          {"map above a failure", [](const FlightKit& k) { return map(k, "hd_1_3"); }, R::failed, "hd_1_3", "ruins"},
          {"map without a file", [](const FlightKit& k) { return map(k, "hd_3_3"); }, R::present, "hd_3_3", nullptr},
          {"types present", [](const FlightKit& k) { return types(k, "near"); }, R::present, "near", nullptr},
          {"types corrupt", [](const FlightKit& k) { return types(k, "ruins"); }, R::failed, "ruins", nullptr},
          {"types not wanted", [](const FlightKit& k) { return types(k, "edge_7"); }, R::not_required, "edge_7",
           nullptr},
          {"types unknown", [](const FlightKit& k) { return types(k, "lost"); }, R::unknown, "lost", nullptr},
          {"archetype present", [](const FlightKit& k) { return archetype(k, "house"); }, R::present, "house", nullptr},
          {"archetype unknown", [](const FlightKit& k) { return archetype(k, "nothing_like_it"); }, R::unknown,
           "nothing_like_it", nullptr},
          {"archetype not wanted", [](const FlightKit& k) { return archetype(k, "fence_7"); }, R::not_required,
           "fence_7", "edge_7"},
          {"archetype of a damaged file", [](const FlightKit& k) { return archetype(k, "ruin"); }, R::failed, "ruin",
           "ruins"},
          {"entity present", [](const FlightKit& k) { return entity(k, "hd_2_2", 0); }, R::present, "hd_2_2", nullptr},
          {"off hours", [](const FlightKit& k) { return entity(k, "hd_2_2", 4); }, R::off_hours, "hd_2_2", nullptr},
          {"archetype nowhere", [](const FlightKit& k) { return entity(k, "hd_2_2", 5); }, R::archetype_unknown,
           "hd_2_2", "nothing_like_it"},
          {"archetype elsewhere", [](const FlightKit& k) { return entity(k, "hd_2_2", 6); }, R::archetype_elsewhere,
           "hd_2_2", "edge_7"},
          {"above the cap", [](const FlightKit& k) { return entity(k, "hd_2_2", 7); }, R::above_cap, "hd_2_2", "house"},
          {"no scale", [](const FlightKit& k) { return entity(k, "hd_2_2", 8); }, R::bad_definition, "hd_2_2", "house"},
          {"destroyed", [](const FlightKit& k) { return entity(k, "hd_2_2", 9); }, R::destroyed, "hd_2_2", "house"},
          {"hidden", [](const FlightKit& k) { return entity(k, "hd_2_2", 10); }, R::hidden, "hd_2_2", nullptr},
          {"sibling not ready", [](const FlightKit& k) { return entity(k, "hd_2_3", 1); }, R::lod_parent_shows,
           "hd_2_3", nullptr},
          {"no such entity", [](const FlightKit& k) { return entity(k, "hd_2_2", 99); }, R::no_such_entity, "hd_2_2",
           nullptr},
          {"entity of what is off", [](const FlightKit& k) { return entity(k, "hd_3_2", 0); }, R::map_absent, "hd_3_2",
           nullptr},
          {"entity of nothing", [](const FlightKit& k) { return entity(k, "nowhere", 0); }, R::map_absent, "nowhere",
           nullptr},
      });
  EXPECT_EQ(entity(kit, "hd_3_2", 0).inner, ExplainReason::manual);
  EXPECT_EQ(entity(kit, "nowhere", 0).inner, ExplainReason::unknown);
  EXPECT_EQ(entity(kit, "hd_2_2", 99).number, 11u);
  EXPECT_EQ(entity(kit, "hd_2_2", 7).number, 1u);
  // From (125, 125) to the corner (350, 350) of hd_7_7.
  EXPECT_NEAR(map(kit, "hd_7_7").distance, std::sqrt(2 * 225.0f * 225.0f), 0.01f);
  EXPECT_EQ(map(kit, "hd_1_2").status.code, StatusCode::bad_checksum);
  EXPECT_EQ(types(kit, "ruins").status.code, StatusCode::bad_checksum);
  // And when it is as it should be.
  ASSERT_TRUE(kit.streaming.set_hour(12).ok());
  ASSERT_TRUE(kit.streaming.maps().set_active(hash_name("hd_3_2"), true).ok());
  ASSERT_TRUE(visibility.set_visible(*town.entity(10), VisibilityModule::script, true).ok());
  kit.settle(kEye);
  EXPECT_EQ(entity(kit, "hd_2_2", 4).reason, ExplainReason::present);
  EXPECT_EQ(entity(kit, "hd_2_2", 10).reason, ExplainReason::present);
  EXPECT_EQ(map(kit, "hd_3_2").reason, ExplainReason::present);
  ASSERT_TRUE(kit.streaming.set_hour(3).ok());
  kit.settle(kEye);
  EXPECT_EQ(map(kit, "hd_2_1").reason, ExplainReason::present);
}

TEST(ExplainFlight, EachReasonOnTheWay) {
  FlightKit kit;
  kit.config.max_in_flight = 6;
  kit.start();
  const WorldPlan plan = explained_world();
  const CapturedLog log;
  const MountId base = kit.mount(plan);
  const StreamIndex near = kit.streaming.types().find_index(hash_name("near"));
  kit.shuffled.per_update = 0;
  kit.frames(1, kEye);
  uint32_t reading = 0, waiting = 0;
  for (const PlanMap& m : plan.maps) {
    const Explanation why = kit.streaming.explain_map(hash_name(m.name));
    reading += why.reason == ExplainReason::reading ? 1 : 0;
    const bool is_held_back = why.reason == ExplainReason::denied && why.denial == StreamDenial::in_flight;
    waiting += is_held_back || why.reason == ExplainReason::queued || why.reason == ExplainReason::waits_for ? 1 : 0;
    char line[256];
    EXPECT_NE(std::string(to_text(why, line)).find(name_text(hash_name(m.name)).text), std::string::npos);
  }
  EXPECT_LE(reading, 6u);
  EXPECT_GT(waiting, 0u);
  const uint32_t all = reading + (kit.streaming.explain_types(hash_name("near")).reason == ExplainReason::reading);
  EXPECT_GT(all, 0u);

  kit.shuffled.per_update = 100;
  kit.shuffled.held = {near};
  kit.frames(40, kEye);
  check(kit,
        {{"waits", [](const FlightKit& k) { return map(k, "hd_2_2"); }, ExplainReason::waits_for, "hd_2_2", "near"},
         {"is read", [](const FlightKit& k) { return types(k, "near"); }, ExplainReason::reading, "near", nullptr},
         {"its archetypes", [](const FlightKit& k) { return archetype(k, "house"); }, ExplainReason::reading, "house",
          "near"}});
  kit.shuffled.held = {};
  kit.max_chunks = 0;
  kit.frames(1, kEye);
  check(kit, {{"is read", [](const FlightKit& k) { return types(k, "near"); }, ExplainReason::to_be_placed, "near",
               nullptr}});
  kit.max_chunks = 100;
  kit.settle(kEye);
  EXPECT_EQ(map(kit, "hd_2_2").reason, ExplainReason::present);
  kit.max_chunks = 0;
  ASSERT_TRUE(kit.streaming.begin_unmount(base).ok());
  kit.frames(1, kEye);
  check(kit,
        {{"leaves", [](const FlightKit& k) { return types(k, "near"); }, ExplainReason::leaving, "near", nullptr}});
  kit.max_chunks = 100;
  kit.settle(kEye);
  check(kit,
        {{"gone", [](const FlightKit& k) { return map(k, "hd_2_2"); }, ExplainReason::unknown, "hd_2_2", nullptr}});
}

TEST(ExplainFlight, ABudgetIsNamed) {
  FlightKit kit;
  kit.config.max_maps = 6;
  kit.start();
  const CapturedLog log;
  kit.mount(grid_world({}), true);
  kit.frames(100, kEye);
  uint32_t denied = 0;
  for (const PlanMap& m : grid_world({}).maps) {
    const Explanation why = kit.streaming.explain_map(hash_name(m.name));
    if (why.reason != ExplainReason::denied) continue;
    ++denied;
    EXPECT_EQ(why.denial, StreamDenial::slots);
    char line[256];
    EXPECT_NE(std::string(to_text(why, line)).find("slots"), std::string::npos) << line;
  }
  EXPECT_GT(denied, 0u);
}

// Questions may be asked at any time.
TEST(ExplainFlight, QuestionsBeforeAndAfterAreAnswered) {
  FlightKit kit;
  const auto ask = [&](ExplainReason map_reason) {
    EXPECT_EQ(map(kit, "hd_2_2").reason, map_reason);
    EXPECT_EQ(entity(kit, "hd_2_2", 0).reason, ExplainReason::map_absent);
    EXPECT_EQ(types(kit, "edge_1").reason, map_reason);
    EXPECT_FALSE(kit.streaming.maps().is_manual(3));
    EXPECT_EQ(kit.streaming.maps().parent_slot(3), kNoStreamSlot);
    EXPECT_EQ(kit.streaming.maps().init_state(3), MapInit::not_initialised);
  };
  kit.start();
  ask(ExplainReason::unknown);
  EXPECT_EQ(kit.frame(kEye).code, StatusCode::not_found);
  kit.mount(grid_world({}), true);
  kit.settle(kEye);
  EXPECT_EQ(map(kit, "hd_2_2").reason, ExplainReason::present);
  kit.streaming.shutdown();
  ask(ExplainReason::unknown);
  EXPECT_EQ(archetype(kit, "house").reason, ExplainReason::unknown);
  EXPECT_EQ(kit.frame(kEye).code, StatusCode::not_found);
  BrokenContracts contracts;
  EXPECT_FALSE(kit.streaming.mount(kit.mounts.at(0)).ok());
  EXPECT_TRUE(broke(contracts));
  kit.streaming.shutdown();
}

}  // namespace meridian::test
