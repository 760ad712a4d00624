// SPDX-License-Identifier: MIT
// What may be done in every frame allocates nothing once things are set up. The parts whose own tests count (pools,
// references, extensions, decorators) are here too, all in one frame.
#include <gtest/gtest.h>

#include "meridian/base/arena.h"
#include "meridian/base/random.h"
#include "meridian/core/counted_ref.h"
#include "meridian/core/decorator.h"
#include "meridian/core/fixed_list.h"
#include "meridian/core/fsm.h"
#include "meridian/core/game_config.h"
#include "meridian/core/name_registrar.h"
#include "meridian/core/paged_pool.h"
#include "meridian/core/quad_tree.h"
#include "meridian/core/timer.h"
#include "meridian/core/world_grid.h"
#include "support/counting_allocator.h"

namespace meridian {
namespace {

struct Thing : Extensible {
  int value = 0;
};

/// Goes back and forth between two states, with a message now and then.
class Blinker final : public Fsm {
 public:
  Blinker() : Fsm(0) {}
  int updates = 0;

 private:
  FsmResult handle(int32_t state, int32_t, FsmEvent event) override {
    if (event == FsmEvent::message) return FsmResult::handled;
    if (event != FsmEvent::update) return FsmResult::unhandled;
    ++updates;
    set_state(1 - state);
    return FsmResult::handled;
  }
};

// Warm up, a hundred frames, none may allocate. POOL-1, TREF-1, EXTN-2, DEC-4, TIME-1, FSM-1, UTIL-1, UTIL-3, UTIL-5,
// CONF-4
TEST(Frame, AllocatesNothingOnceThingsAreSetUp) {
  Allocator& memory = default_allocator();
  Pool<Thing> things;
  ASSERT_TRUE(things.init({.name = "Thing", .capacity = 64}).ok());
  PagedPool<Thing> paged;
  ASSERT_TRUE(paged.init({.name = "PagedThing", .capacity = 64}, 16).ok());
  KnownRefs known;
  ASSERT_TRUE(known.init(64).ok());
  DecoratorRegistry registry;
  Decorators decorators(registry);
  ASSERT_TRUE(decorators.begin_session({.decorators = 64, .decorated_objects = 64}).ok());
  const NameHash bounty = hash_name("Bounty");
  ASSERT_TRUE(registry.add(bounty, DecoratorKind::integer, "test").ok());
  Arena arena("frame", 1 << 16, memory, default_memory_tracker());
  FixedList<int> list;
  ASSERT_TRUE(list.init(32, memory).ok());
  NameRegistrar names;
  ASSERT_TRUE(names.init(32, memory).ok());
  QuadTree tree;
  ASSERT_TRUE(tree.init({.bounds = {{-100, -100}, {100, 100}}, .max_items = 64}, memory).ok());
  WorldGrid grid;
  ASSERT_TRUE(grid.init({}, memory).ok());
  constexpr PoolSizeRow kSizes[] = {{hash_name("Thing"), 64}};
  const ConfigSource sources[] = {{.filter = {"any", "any", ""}, .pools = kSizes}};
  GameConfig config;
  ASSERT_TRUE(config.load(sources, {}).ok());
  Timer timer;
  Blinker blinker;
  Random random(1);
  uint32_t order[5];
  SemiShuffledSequence voices(order, random);

  uint64_t before = 0;
  uint64_t sum = 0;
  for (int frame = 0; frame < 120; ++frame) {
    if (frame == 20) before = test::allocation_count();  // after the warm-up
    timer.update(1.0 / 60.0);
    timer.set_warp(WarpSource::script, frame % 3 == 0 ? 0.5 : 1.0);
    if (frame % 4 == 0) blinker.set_message(1);
    blinker.update(timer.time(TimeDomain::game).step_s);
    arena.reset();
    sum += arena.make_array<uint32_t>(1000).size();

    Thing* made[40];
    TrackedRef<Thing> references[40];
    for (int i = 0; i < 40; ++i) {
      made[i] = things.create();
      ASSERT_NE(made[i], nullptr);
      references[i] = made[i];
      ASSERT_TRUE(decorators.set(*made[i], bounty, DecoratorValue::of_int(i)).ok());
      sum += things.get(things.handle_of(*made[i])) != nullptr;
    }
    CountedRef<Thing> counted(known, made[3]);
    int32_t value = 0;
    ASSERT_TRUE(decorators.get(*made[7], bounty, value).ok());
    ASSERT_EQ(value, 7);
    Thing* const in_page = paged.create();
    ASSERT_NE(in_page, nullptr);
    paged.destroy(*in_page);
    for (Thing* thing : made) things.destroy(*thing);
    for (const TrackedRef<Thing>& reference : references) ASSERT_FALSE(reference);

    const uint32_t node = list.push_front(frame);
    list.move_to_front(node);
    list.remove(node);
    ASSERT_TRUE(names.insert(hash_name("lamp"), 3).ok());
    sum += names.find(hash_name("lamp"));
    names.remove(hash_name("lamp"));
    const float at = static_cast<float>(random.below(90));
    const Result<QuadTreeHandle> item = tree.insert({{at, at}, {at + 1, at + 1}}, 7);
    ASSERT_TRUE(item.ok());
    uint32_t found[8];
    ASSERT_EQ(tree.query_rect({{at, at}, {at, at}}, found), 1u);
    tree.remove(item.value());
    sum += grid.cell_at({at, at}) != nullptr;
    sum += config.size_of_pool(hash_name("Thing"), 1).value();
    sum += voices.next(random);
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_EQ(blinker.updates, 90);  // in 30 of 120 frames the message is what was handled
  EXPECT_GT(sum, 100u * 1000u);
}

}  // namespace
}  // namespace meridian
