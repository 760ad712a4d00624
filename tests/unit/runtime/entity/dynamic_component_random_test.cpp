// SPDX-License-Identifier: MIT
// entity/dynamic_component.h against a plain model: after each step of a random sequence, places and visibility are
// those of a computation from scratch.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "meridian/entity/dynamic_component.h"
#include "meridian/entity/entity_visibility.h"
#include "support/captured.h"
#include "support/checked_memory.h"

namespace meridian {
namespace {

constexpr int kEntities = 200, kCapacity = 150, kSteps = 3000;

/// A rotation, a scale and a place in doubles: columns of the rotation are [0] to [2].
struct Frame {
  std::array<std::array<double, 3>, 3> turn{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  std::array<double, 3> at{};
  double scale_xy = 1, scale_z = 1;
};

/// `inner` in the space of `outer`, whose scale has no say.
Frame within(const Frame& outer, const Frame& inner) {
  Frame out = inner;
  for (size_t row = 0; row < 3; ++row) {
    out.at[row] = outer.at[row];
    for (size_t k = 0; k < 3; ++k) out.at[row] += outer.turn[k][row] * inner.at[k];
    for (size_t column = 0; column < 3; ++column) {
      out.turn[column][row] = 0;
      for (size_t k = 0; k < 3; ++k) out.turn[column][row] += outer.turn[k][row] * inner.turn[column][k];
    }
  }
  return out;
}

Transform to_transform(const Frame& frame) {
  const auto column = [&](size_t i, double scale, double w) {
    const auto& c = frame.turn[i];
    return Vec4{static_cast<float>(c[0] * scale), static_cast<float>(c[1] * scale), static_cast<float>(c[2] * scale),
                static_cast<float>(w)};
  };
  return {column(0, frame.scale_xy, 0),
          column(1, frame.scale_xy, frame.scale_xy),
          column(2, frame.scale_z, frame.scale_z),
          {static_cast<float>(frame.at[0]), static_cast<float>(frame.at[1]), static_cast<float>(frame.at[2]), 1}};
}

/// What a float transform means.
Frame from_transform(const Transform& t) {
  Frame frame;
  frame.scale_xy = t.scale_xy();
  frame.scale_z = t.scale_z();
  const auto column = [](const Vec4& v, double scale) {
    return std::array<double, 3>{v.x / scale, v.y / scale, v.z / scale};
  };
  frame.turn = {column(t.x, frame.scale_xy), column(t.y, frame.scale_xy), column(t.z, frame.scale_z)};
  frame.at = {t.position.x, t.position.y, t.position.z};
  return frame;
}

struct Node {
  int parent = -1;
  Frame frame;  // of the world without a parent, otherwise the offset
  bool keeps_visible = false, allows_move = false, has_host_data = false;
  uint32_t hidden = 0;
};

class AttachmentModel {
 public:
  explicit AttachmentModel(uint32_t seed) : random_(seed) {
    EXPECT_TRUE(components_.init({.capacity = kCapacity}, memory_).ok());
    EXPECT_TRUE(visibility_.init({.capacity = kEntities}, memory_).ok());
    components_.set_listener({.user = this,
                              .on_moved = [](void* user, Entity& e) { self(user).moved_.insert(&e); },
                              .on_visibility = [](void* user, Entity& e) { self(user).shown_.insert(&e); }});
    for (auto& entity : entities_) entity = std::make_unique<Entity>();
    calls_ = memory_.calls();
  }
  AttachmentModel(const AttachmentModel&) = delete;
  AttachmentModel& operator=(const AttachmentModel&) = delete;
  ~AttachmentModel() {
    components_.set_listener({});
    EXPECT_EQ(memory_.calls(), calls_) << "nothing is allocated but in init";
  }

  void step() {
    subject_ = static_cast<int>(random_() % kEntities);
    remember();
    switch (random_() % 12) {
      case 0:
      case 1:
      case 2:
      case 3:
        attach(random_() % 4 == 0);
        break;
      case 4:
        detach();
        break;
      case 5:
      case 6:
        hide();
        break;
      case 7:
      case 8:
        place_one();
        break;
      case 9:
        set_offset();
        break;
      case 10:
        if (random_() % 4 == 0) remove();
        break;
      default:
        host_data();
        break;
    }
    if (!::testing::Test::HasFatalFailure()) check();
  }
  int refused() const { return refused_; }
  int circles() const { return circles_; }
  int deepest() const { return deepest_; }

 private:
  static AttachmentModel& self(void* user) { return *static_cast<AttachmentModel*>(user); }
  Entity& entity(int i) { return *entities_[static_cast<size_t>(i)]; }
  Node& node(int i) { return nodes_[static_cast<size_t>(i)]; }

  double number(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  /// A random turn, from a random axis and angle.
  Frame random_frame(double reach) {
    Frame frame;
    for (double& at : frame.at) at = number(-reach, reach);
    std::array<double, 3> axis{number(-1, 1), number(-1, 1), number(-1, 1)};
    const double length = std::hypot(axis[0], axis[1], axis[2]) + 1e-9;
    for (double& a : axis) a /= length;
    const double angle = random_() % 3 == 0 ? 0 : number(-3, 3), c = std::cos(angle), s = std::sin(angle);
    for (size_t i = 0; i < 3; ++i) {  // Rodrigues, for each axis e: e c + (axis x e) s + axis (axis . e) (1 - c)
      const size_t j = (i + 1) % 3, k = (i + 2) % 3;
      frame.turn[i][i] = c + axis[i] * axis[i] * (1 - c);
      frame.turn[i][j] = axis[k] * s + axis[j] * axis[i] * (1 - c);
      frame.turn[i][k] = -axis[j] * s + axis[k] * axis[i] * (1 - c);
    }
    if (random_() % 4 == 0) {
      frame.scale_xy = number(0.5, 2) * (random_() % 2 == 0 ? -1 : 1);
      frame.scale_z = number(0.5, 2);
    }
    return frame;
  }

  // --- from scratch ---
  /// Each is computed once a check: known_ is cleared before.
  const Frame& world(int i) {
    const auto at = static_cast<size_t>(i);
    if (!known_[at]) worlds_[at] = node(i).parent < 0 ? node(i).frame : within(world(node(i).parent), node(i).frame);
    known_[at] = true;
    return worlds_[at];
  }
  bool is_visible(int i) {
    const Node& n = node(i);
    if (n.hidden != 0) return false;
    return n.parent < 0 || n.keeps_visible || is_visible(n.parent);
  }
  int depth(int i) { return node(i).parent < 0 ? 0 : 1 + depth(node(i).parent); }
  bool is_below(int i, int top) { return i == top || (node(i).parent >= 0 && is_below(node(i).parent, top)); }
  void count_children() {
    children_.fill(0);
    for (const Node& n : nodes_) {
      if (n.parent >= 0) ++children_[static_cast<size_t>(n.parent)];
    }
  }
  bool has_component(int i) {
    return node(i).parent >= 0 || node(i).has_host_data || children_[static_cast<size_t>(i)] != 0;
  }
  int components() {
    int count = 0;
    for (int i = 0; i < kEntities; ++i) count += has_component(i) ? 1 : 0;
    return count;
  }
  /// It stands by itself from now on, where it stands.
  void let_go(int i) {
    node(i).parent = -1;
    node(i).keeps_visible = node(i).allows_move = false;
    node(i).frame = from_transform(entity(i).transform());
  }

  // --- steps ---
  void attach(bool in_place) {
    const int to = static_cast<int>(random_() % kEntities);
    Flags<AttachFlag> flags;
    flags.set(AttachFlag::keep_visible, random_() % 4 == 0).set(AttachFlag::allow_move, random_() % 2 == 0);
    const Frame offset = random_frame(3);
    const bool is_circle = is_below(to, subject_);
    const int needed = (has_component(to) ? 0 : 1) + (has_component(subject_) ? 0 : 1);
    const bool fits = components() + needed <= kCapacity;
    const Status status =
        in_place ? components_.attach_in_place(entity(subject_), entity(to), flags)
                 : components_.attach(entity(subject_), entity(to), {.offset = to_transform(offset), .flags = flags});
    ASSERT_EQ(status.code, is_circle ? StatusCode::bad_value : fits ? StatusCode::ok : StatusCode::out_of_slots);
    if (is_circle) ++circles_;
    if (!is_circle && !fits) ++refused_;
    if (!status.ok()) return;
    Node& n = node(subject_);
    n.parent = to;
    n.keeps_visible = flags.has(AttachFlag::keep_visible);
    n.allows_move = flags.has(AttachFlag::allow_move);
    if (in_place) expect_at(subject_, before_[static_cast<size_t>(subject_)]);
    // What the float offset means, so that its rounding is no matter of the test.
    n.frame = from_transform(entity(subject_).dynamic()->offset());
  }
  void detach() {
    const bool was_attached = node(subject_).parent >= 0;
    ASSERT_EQ(components_.detach(entity(subject_)), was_attached);
    if (was_attached) let_go(subject_);
  }
  void hide() {
    const auto module = static_cast<VisibilityModule>(random_() % 3);
    const bool on = random_() % 2 == 0;
    ASSERT_TRUE(visibility_.set_visible(entity(subject_), module, on).ok());
    const uint32_t bit = 1u << static_cast<unsigned>(module);
    node(subject_).hidden = on ? node(subject_).hidden & ~bit : node(subject_).hidden | bit;
  }
  void place_one() {
    Node& n = node(subject_);
    if (n.parent >= 0 && !n.allows_move) return;  // a fault; dynamic_component_test.cpp has it
    const Transform to = to_transform(random_frame(100));
    place(entity(subject_), to);
    expect_at(subject_, to);
    n.frame = from_transform(n.parent < 0 ? to : entity(subject_).dynamic()->offset());
  }
  void set_offset() {
    if (node(subject_).parent < 0) return;
    const Transform offset = to_transform(random_frame(3));
    components_.set_offset(entity(subject_), offset);
    node(subject_).frame = from_transform(offset);
  }
  void host_data() {
    const bool on = random_() % 2 == 0;
    const bool fits = !on || has_component(subject_) || components() < kCapacity;
    ASSERT_EQ(components_.set_host_data(entity(subject_), on ? this : nullptr).ok(), fits);
    if (fits) node(subject_).has_host_data = on;
  }
  void remove() {
    const bool dies = random_() % 2 == 0;
    if (dies || random_() % 2 == 0) {
      if (dies) {
        entity(subject_).~Entity();
        for (int i = 0; i < kEntities; ++i) {
          if (node(i).parent == subject_) let_go(i);
        }
        ::new (static_cast<void*>(&entity(subject_))) Entity;
        node(subject_) = {};
        return;
      }
      components_.remove(entity(subject_));
      for (int i = 0; i < kEntities; ++i) {
        if (node(i).parent == subject_) let_go(i);
      }
    } else {
      gone_.clear();
      components_.remove(entity(subject_), RemovePolicy::destroy_children,
                         {[](void* user, Entity& e) { self(user).gone_.push_back(&e); }, this});
      for (int i = 0; i < kEntities; ++i) {
        const auto at = std::find(gone_.begin(), gone_.end(), &entity(i));
        ASSERT_EQ(at != gone_.end(), i != subject_ && is_below(i, subject_));
        const int parent = node(i).parent;
        if (at == gone_.end() || parent == subject_) continue;
        ASSERT_LT(at, std::find(gone_.begin(), gone_.end(), &entity(parent))) << "children before their parents";
      }
      for (Entity* const gone : gone_) {
        const int i = index_of(gone);
        gone->~Entity();
        ::new (static_cast<void*>(gone)) Entity;
        node(i) = {};
      }
    }
    let_go(subject_);
    node(subject_).has_host_data = false;
  }
  int index_of(const Entity* entity) const {
    for (size_t i = 0; i < entities_.size(); ++i) {
      if (entities_[i].get() == entity) return static_cast<int>(i);
    }
    return -1;
  }

  // --- what is checked ---
  void remember() {
    moved_.clear();
    shown_.clear();
    gone_.clear();
    for (size_t i = 0; i < kEntities; ++i) {
      before_[i] = entities_[i]->transform();
      was_visible_[i] = entities_[i]->is_visible();
    }
  }
  void expect_at(int i, const Transform& wanted) {
    const Transform& got = entity(i).transform();
    const float* const a = &got.x.x;
    const float* const b = &wanted.x.x;
    for (int k = 0; k < 16; ++k) {
      if (std::abs(a[k] - b[k]) <= 2e-3f) continue;  // an assertion each would take most of the test's time
      FAIL() << "entity " << i << ", number " << k << ": " << a[k] << ", not " << b[k];
    }
  }
  void check() {
    count_children();
    known_.fill(false);
    for (int i = 0; i < kEntities; ++i) {
      const auto at = static_cast<size_t>(i);
      ASSERT_EQ(entity(i).is_visible(), is_visible(i)) << "entity " << i;
      expect_at(i, to_transform(world(i)));
      ASSERT_EQ(attached_to(entity(i)), node(i).parent < 0 ? nullptr : &entity(node(i).parent));
      ASSERT_EQ(entity(i).dynamic() != nullptr, has_component(i));
      deepest_ = std::max(deepest_, depth(i));
      // Whoever else changed was told of, and nobody was that did not. Those that died are new.
      const Entity* const e = &entity(i);
      if (i == subject_ || std::find(gone_.begin(), gone_.end(), e) != gone_.end()) continue;
      const bool moved = std::memcmp(&before_[at], &e->transform(), sizeof(Transform)) != 0;
      ASSERT_TRUE(!moved || moved_.count(e) != 0) << "entity " << i;
      ASSERT_EQ(shown_.count(e) != 0, was_visible_[at] != e->is_visible()) << "entity " << i;
    }
    ASSERT_EQ(components_.used(), static_cast<uint32_t>(components()));
    ASSERT_EQ(moved_.count(&entity(subject_)), 0u);
  }

  std::mt19937 random_;
  test::CheckedMemory memory_;
  EntityVisibility visibility_;
  DynamicComponents components_;
  std::array<std::unique_ptr<Entity>, kEntities> entities_;
  std::array<Node, kEntities> nodes_;
  std::array<Frame, kEntities> worlds_;
  std::array<bool, kEntities> known_{};
  std::array<int, kEntities> children_{};  // as of the last step
  std::array<Transform, kEntities> before_;
  std::array<bool, kEntities> was_visible_{};
  std::set<const Entity*> moved_, shown_;
  std::vector<Entity*> gone_;
  uint64_t calls_ = 0;
  int subject_ = 0, refused_ = 0, circles_ = 0, deepest_ = 0;
};

// P092, ENTY-8, ENTY-6
TEST(DynamicComponentsRandom, AlwaysEqualsRecomputation) {
  const test::CapturedLog log;
  for (uint32_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    AttachmentModel model(seed);
    for (int step = 0; step < kSteps; ++step) {
      SCOPED_TRACE(step);
      model.step();
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(model.refused(), 0) << "the pool was never full";
    EXPECT_GT(model.circles(), 0);
    EXPECT_GT(model.deepest(), 4);
  }
}

}  // namespace
}  // namespace meridian
