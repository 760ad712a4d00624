// SPDX-License-Identifier: MIT
// Interiors of generated worlds, read back and checked against what loaders expect of rooms and portals.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "meridian/tools/world_gen.h"
#include "support/temp_dir.h"
#include "support/world_files.h"

namespace meridian::tools {
namespace {

using test::TempDir;
using test::WorldFiles;
using P3 = std::array<double, 3>;

/// Enough interiors that each number of rooms occurs.
class Interiors : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = std::make_unique<TempDir>();
    const WorldOptions options{.seed = 3, .maps = 160, .entities = 9000, .archetypes = 900, .interiors = 60};
    ASSERT_EQ(write_world(options, {.folder = dir_->path(), .compiled = true}).error, "");
    world_ = std::make_unique<WorldFiles>(dir_->path());
    for (const auto& [name, archetype] : world_->archetypes)
      if (const schema::MloArchetypeDef* interior = archetype.interior()) all_.emplace(name, interior);
  }
  static void TearDownTestSuite() {
    world_.reset();
    dir_.reset();
  }

  static std::unique_ptr<TempDir> dir_;
  static std::unique_ptr<WorldFiles> world_;
  static std::map<uint32_t, const schema::MloArchetypeDef*> all_;
};
std::unique_ptr<TempDir> Interiors::dir_;
std::unique_ptr<WorldFiles> Interiors::world_;
std::map<uint32_t, const schema::MloArchetypeDef*> Interiors::all_;

P3 point(const schema::Vec3& v) { return {v.x(), v.y(), v.z()}; }
P3 minus(const P3& a, const P3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
P3 cross(const P3& a, const P3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const P3& a, const P3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
P3 middle(const schema::MloRoomDef& r) {
  return {(r.bb_min()->x() + r.bb_max()->x()) / 2, (r.bb_min()->y() + r.bb_max()->y()) / 2,
          (r.bb_min()->z() + r.bb_max()->z()) / 2};
}

TEST_F(Interiors, HaveTwoToEightRoomsOfWhichTheFirstIsLimbo) {
  std::set<size_t> sizes;
  for (const auto& [name, m] : all_) {
    sizes.insert(m->rooms()->size());
    EXPECT_EQ(m->rooms()->Get(0)->name()->str(), "limbo");
    for (uint32_t r = 1; r < m->rooms()->size(); ++r) EXPECT_NE(m->rooms()->Get(r)->name()->str(), "limbo");
  }
  EXPECT_EQ(all_.size(), 60u);
  EXPECT_EQ(sizes, (std::set<size_t>{2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(Interiors, PortalsAreFlatAndLookFromRoomToRoom) {
  for (const auto& [name, m] : all_)
    for (const schema::MloPortalDef* p : *m->portals()) {
      ASSERT_EQ(p->corners()->size(), 4u);
      ASSERT_LT(p->room_from(), m->rooms()->size());
      ASSERT_LT(p->room_to(), m->rooms()->size());
      ASSERT_NE(p->room_from(), 0u) << "portals to the outside go from the inside";
      const P3 c0 = point(*p->corners()->Get(0)), c1 = point(*p->corners()->Get(1)), c2 = point(*p->corners()->Get(2)),
               c3 = point(*p->corners()->Get(3));
      const P3 normal = cross(minus(c1, c0), minus(c2, c0));
      EXPECT_GT(dot(normal, normal), 0.1);
      EXPECT_NEAR(dot(normal, minus(c3, c0)), 0, 1e-4) << "coplanar";
      // Left bottom, left top, right top, right bottom: looking along the normal, left is up x normal.
      EXPECT_GT(c1[2], c0[2]);
      EXPECT_GT(c2[2], c3[2]);
      EXPECT_GT(dot(cross({0, 0, 1}, normal), minus(c0, c3)), 0);
      const P3 from = middle(*m->rooms()->Get(p->room_from()));
      const P3 target = p->room_to() == 0 ? c0 : middle(*m->rooms()->Get(p->room_to()));
      EXPECT_GT(dot(normal, minus(target, from)), 0);
      // The opening is in the wall: the corners lie on the room's boundary.
      for (const P3& c : {c0, c1, c2, c3})
        for (size_t k = 0; k < 3; ++k) {
          const schema::MloRoomDef& r = *m->rooms()->Get(p->room_from());
          EXPECT_GE(c[k], point(*r.bb_min())[k] - 0.011);
          EXPECT_LE(c[k], point(*r.bb_max())[k] + 0.011);
        }
    }
}

TEST_F(Interiors, CountPortalsAndAttachEachEntityOnce) {
  for (const auto& [name, m] : all_) {
    std::vector<int> attached(m->entities()->size());
    const auto attach = [&](const auto* objects) {
      if (objects != nullptr)
        for (const uint32_t e : *objects) {
          ASSERT_LT(e, attached.size());
          ++attached[e];
        }
    };
    for (uint32_t r = 0; r < m->rooms()->size(); ++r) {
      uint32_t count = 0;
      for (const schema::MloPortalDef* p : *m->portals()) count += p->room_from() == r || p->room_to() == r ? 1 : 0;
      EXPECT_EQ(m->rooms()->Get(r)->portal_count(), count);
      EXPECT_GT(count, 0u) << "a room without a way in";
      attach(m->rooms()->Get(r)->attached_objects());
    }
    for (const schema::MloPortalDef* p : *m->portals()) attach(p->attached_objects());
    EXPECT_EQ(attached, std::vector<int>(attached.size(), 1));
    if (m->entity_sets() == nullptr) continue;
    for (const schema::MloEntitySet* s : *m->entity_sets()) {
      ASSERT_EQ(s->locations()->size(), s->entities()->size());
      for (const uint32_t l : *s->locations())
        EXPECT_LT(l & 0x7FFFFFFF, l >> 31 != 0 ? m->portals()->size() : m->rooms()->size());
    }
  }
}

TEST_F(Interiors, EachIsPlacedOnceWithItsExitsAndSets) {
  std::map<uint32_t, int> placed;
  size_t with_sets = 0;
  for (const auto& [name, map] : world_->maps) {
    if (map->mlo_instances() == nullptr) continue;
    ASSERT_EQ(map->mlo_instances()->size(), 1u);
    const schema::MloInstanceDef& instance = *map->mlo_instances()->Get(0);
    const uint32_t archetype = map->entities()->Get(instance.owner())->archetype_name();
    ++placed[archetype];
    ASSERT_TRUE(all_.contains(archetype));
    const schema::MloArchetypeDef& m = *all_.at(archetype);
    uint32_t exits = 0;
    for (const schema::MloPortalDef* p : *m.portals())
      exits += p->room_to() == 0 && (static_cast<uint32_t>(p->flags()) & 2) == 0 ? 1 : 0;
    EXPECT_EQ(instance.num_exit_portals(), exits);
    EXPECT_GT(exits, 0u);
    std::set<uint32_t> sets;
    if (m.entity_sets() != nullptr)
      for (const schema::MloEntitySet* s : *m.entity_sets()) sets.insert(s->name());
    if (instance.default_entity_sets() != nullptr)
      for (const uint32_t s : *instance.default_entity_sets()) {
        EXPECT_TRUE(sets.contains(s));
        ++with_sets;
      }
  }
  EXPECT_EQ(placed.size(), all_.size());
  for (const auto& [name, count] : placed) EXPECT_EQ(count, 1);
  EXPECT_GT(with_sets, 0u);
}

TEST_F(Interiors, NoOccluderCoversAnExitPortal) {
  struct Occluder {
    P3 min, max;
  };
  std::vector<Occluder> occluders;
  for (const auto& [name, map] : world_->maps) {
    if (map->box_occluders() != nullptr)
      for (const schema::BoxOccluder* o : *map->box_occluders()) {
        const P3 c = {o->center_x() / 4.0, o->center_y() / 4.0, o->center_z() / 4.0},
                 half = {o->width() / 8.0, o->length() / 8.0, o->height() / 8.0};
        occluders.push_back({minus(c, half), {c[0] + half[0], c[1] + half[1], c[2] + half[2]}});
      }
    if (map->occlude_models() != nullptr)
      for (const schema::OccludeModel* o : *map->occlude_models()) {
        occluders.push_back({point(*o->bmin()), point(*o->bmax())});
        // 8 corners of 12 bytes, 12 triangles of 3 indices.
        ASSERT_EQ(o->verts()->size(), 132u);
        EXPECT_EQ(o->data_size(), 132u);
        EXPECT_EQ(o->num_verts_in_bytes(), 96u);
        EXPECT_EQ(o->num_tris(), 0x8000 | 12);
        for (uint32_t i = 96; i < 132; ++i) EXPECT_LT(o->verts()->Get(i), 8);
      }
  }
  EXPECT_GT(occluders.size(), 20u);
  size_t exits = 0;
  for (const auto& [name, map] : world_->maps) {
    if (map->mlo_instances() == nullptr) continue;
    const schema::EntityDef& e = *map->entities()->Get(0);
    // Only a heading: cos = 1 - 2 z^2, sin = 2 z w; instances store the orientation itself.
    const double qz = e.rotation().z(), qw = e.rotation().w(), c = 1 - 2 * qz * qz, s = 2 * qz * qw;
    ASSERT_EQ(e.rotation().x(), 0);
    ASSERT_EQ(e.rotation().y(), 0);
    for (const schema::MloPortalDef* p : *all_.at(e.archetype_name())->portals()) {
      if (p->room_to() != 0) continue;
      ++exits;
      for (const schema::Vec3* corner : *p->corners()) {
        const P3 at = {e.position().x() + c * corner->x() - s * corner->y(),
                       e.position().y() + s * corner->x() + c * corner->y(), e.position().z() + corner->z()};
        for (const Occluder& o : occluders)
          EXPECT_FALSE(at[0] > o.min[0] && at[0] < o.max[0] && at[1] > o.min[1] && at[1] < o.max[1] &&
                       at[2] > o.min[2] && at[2] < o.max[2]);
      }
    }
  }
  EXPECT_GT(exits, all_.size());
}

}  // namespace
}  // namespace meridian::tools
