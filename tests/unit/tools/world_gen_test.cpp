// SPDX-License-Identifier: MIT
// Worlds are read back and checked by brute force: nothing here uses what the generator knows about them.
#include "meridian/tools/world_gen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/temp_dir.h"
#include "support/world_files.h"

namespace meridian::tools {
namespace {

using schema::EntityDef;
using schema::LodLevel;
using schema::MapData;
using test::DefinedArchetype;
using test::TempDir;
using test::WorldFiles;
using P3 = std::array<double, 3>;

/// Two worlds: one area only, and one with several regions that reaches every branch.
WorldOptions options_of(const std::string& which) {
  if (which == "small") return *world_preset("small");
  return {.seed = 5, .maps = 1100, .entities = 40000, .archetypes = 2500, .interiors = 40};
}

const WorldFiles& world(const std::string& which) {
  static std::map<std::string, std::pair<std::unique_ptr<TempDir>, std::unique_ptr<WorldFiles>>> made;
  auto& [dir, files] = made[which];
  if (files == nullptr) {
    dir = std::make_unique<TempDir>();
    const WorldResult result = write_world(options_of(which), {.folder = dir->path(), .compiled = true});
    EXPECT_EQ(result.error, "");
    files = std::make_unique<WorldFiles>(dir->path());
  }
  return *files;
}

class World : public ::testing::TestWithParam<const char*> {
 protected:
  const WorldFiles& w = world(GetParam());
  const WorldOptions options = options_of(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Sizes, World, ::testing::Values("small", "wide"),
                         [](const auto& size) { return std::string(size.param); });

bool has(uint32_t flags, uint32_t bit) { return (flags >> bit & 1) != 0; }

template <class T>
size_t size_of(const T* vector) {
  return vector == nullptr ? 0 : vector->size();
}

bool is_interior(const MapData& map, uint32_t entity) {
  if (map.mlo_instances() != nullptr)
    for (const schema::MloInstanceDef* m : *map.mlo_instances())
      if (m->owner() == entity) return true;
  return false;
}

/// Position + R(q) (scale * p), by the rotation matrix of the quaternion.
P3 to_world(const EntityDef& e, bool interior, double x, double y, double z) {
  const double s = interior ? 1 : -1;  // all but interior instances store the inverse
  const double qx = s * e.rotation().x(), qy = s * e.rotation().y(), qz = s * e.rotation().z(), qw = e.rotation().w();
  const double vx = x * e.scale_xy(), vy = y * e.scale_xy(), vz = z * e.scale_z();
  return {e.position().x() + (1 - 2 * (qy * qy + qz * qz)) * vx + 2 * (qx * qy - qz * qw) * vy +
              2 * (qx * qz + qy * qw) * vz,
          e.position().y() + 2 * (qx * qy + qz * qw) * vx + (1 - 2 * (qx * qx + qz * qz)) * vy +
              2 * (qy * qz - qx * qw) * vz,
          e.position().z() + 2 * (qx * qz - qy * qw) * vx + 2 * (qy * qz + qx * qw) * vy +
              (1 - 2 * (qx * qx + qy * qy)) * vz};
}

const EntityDef* parent_of(const WorldFiles& w, const MapData& map, const EntityDef& e, uint32_t* in_map = nullptr) {
  if (e.parent_index() < 0) return nullptr;
  const uint32_t name = has(static_cast<uint32_t>(e.flags()), 3) ? map.parent() : map.name();
  if (in_map != nullptr) *in_map = name;
  const auto it = w.maps.find(name);
  if (it == w.maps.end() || static_cast<size_t>(e.parent_index()) >= size_of(it->second->entities())) return nullptr;
  return it->second->entities()->Get(static_cast<uint32_t>(e.parent_index()));
}

TEST_P(World, HasTheNumbersAskedFor) {
  size_t entities = 0, interiors = 0;
  for (const auto& [name, map] : w.maps) {
    entities += size_of(map->entities());
    interiors += size_of(map->mlo_instances());
  }
  EXPECT_EQ(w.maps.size(), options.maps);
  EXPECT_EQ(entities, options.entities);
  EXPECT_EQ(w.archetypes.size(), options.archetypes);
  EXPECT_EQ(interiors, options.interiors);
}

TEST_P(World, EveryEntityHasItsArchetypeInATypeFileThatTheManifestNames) {
  std::map<uint32_t, std::set<uint32_t>> map_needs, type_needs;
  for (const schema::PackFileMetaData* m : w.manifests) {
    if (m->imap_dependencies_2() != nullptr)
      for (const schema::ImapDependencies* d : *m->imap_dependencies_2())
        for (const uint32_t file : *d->ityp_dep_array()) map_needs[d->imap_name()].insert(file);
    if (m->ityp_dependencies_2() != nullptr)
      for (const schema::ItypDependencies* d : *m->ityp_dependencies_2())
        for (const uint32_t file : *d->ityp_dep_array()) type_needs[d->ityp_name()].insert(file);
  }
  for (const auto& [name, map] : w.maps) {
    std::set<uint32_t> used;
    const auto use = [&, in = name](uint32_t archetype) {
      ASSERT_EQ(w.archetypes.count(archetype), 1u) << w.name(archetype) << " in " << w.name(in);
      used.insert(w.archetype(archetype).file->name());
    };
    if (map->entities() != nullptr)
      for (const EntityDef* e : *map->entities()) use(e->archetype_name());
    if (map->instanced_data() != nullptr)
      for (const auto* batch : *map->instanced_data()->grass_instance_list()) use(batch->archetype_name());
    EXPECT_EQ(used, map_needs[name]) << w.name(map->name());
  }
  for (const auto& [name, file] : w.types) {
    if (file->mlo_archetypes() == nullptr) continue;
    std::set<uint32_t> known = type_needs[name];
    known.insert(name);
    const auto check = [&, in = name](const auto* entities) {
      if (entities == nullptr) return;
      for (const EntityDef* e : *entities)
        EXPECT_TRUE(known.contains(w.archetype(e->archetype_name()).file->name())) << w.name(in);
    };
    for (const schema::MloArchetypeDef* m : *file->mlo_archetypes()) {
      check(m->entities());
      if (m->entity_sets() != nullptr)
        for (const schema::MloEntitySet* s : *m->entity_sets()) check(s->entities());
    }
  }
}

TEST_P(World, LodLinksGoUpOneLevelAndCountsAgree) {
  // HD, LOD, SLOD1 ... SLOD4 in order of detail.
  const auto step_of = [](LodLevel level) {
    switch (level) {
      case LodLevel::ORPHANHD:
        return -1;
      case LodLevel::SLOD4:
        return 5;
      default:
        return static_cast<int>(level);
    }
  };
  std::map<const EntityDef*, uint32_t> counted;
  std::map<LodLevel, size_t> levels;
  for (const auto& [name, map] : w.maps) {
    if (map->entities() == nullptr) continue;
    for (const EntityDef* e : *map->entities()) {
      ++levels[e->lod_level()];
      const EntityDef* const parent = parent_of(w, *map, *e);
      const bool top = e->lod_level() == LodLevel::ORPHANHD || e->lod_level() == LodLevel::SLOD4;
      ASSERT_EQ(parent == nullptr, top) << w.name(name);
      ASSERT_EQ(e->parent_index() < 0, top);
      if (parent == nullptr) continue;
      ++counted[parent];
      EXPECT_EQ(step_of(parent->lod_level()), step_of(e->lod_level()) + 1);
      // The parent gives way where the child appears, and is itself seen from further away.
      EXPECT_EQ(e->lod_dist(), parent->child_lod_dist());
      EXPECT_GT(parent->lod_dist(), parent->child_lod_dist());
    }
  }
  for (const auto& [name, map] : w.maps) {
    if (map->entities() == nullptr) continue;
    for (const EntityDef* e : *map->entities()) EXPECT_EQ(e->num_children(), counted[e]) << w.name(name);
  }
  for (const LodLevel level : {LodLevel::HD, LodLevel::LOD, LodLevel::SLOD1, LodLevel::SLOD2, LodLevel::SLOD3,
                               LodLevel::ORPHANHD, LodLevel::SLOD4})
    EXPECT_GT(levels[level], 0u) << static_cast<int>(level);
}

TEST_P(World, MapsFormTreesAndAreFlaggedAsParents) {
  std::set<uint32_t> parents;
  for (const auto& [name, map] : w.maps) {
    uint32_t at = name;
    for (int depth = 0; at != 0; ++depth) {
      ASSERT_LT(depth, 8) << w.name(name);
      ASSERT_TRUE(w.maps.contains(at)) << w.name(at);
      at = w.maps.at(at)->parent();
    }
    if (map->parent() != 0) parents.insert(map->parent());
  }
  for (const auto& [name, map] : w.maps)
    EXPECT_EQ(static_cast<uint32_t>(map->flags()), parents.contains(name) ? 2u : 0u) << w.name(name);
}

TEST_P(World, ContentFlagsSayWhatIsInAMap) {
  size_t longs = 0, most = 0;
  for (const auto& [name, map] : w.maps) {
    uint32_t flags = 0;
    size_t details = 0;
    if (map->entities() != nullptr)
      for (const EntityDef* e : *map->entities()) {
        const LodLevel l = e->lod_level();
        const bool detail = l == LodLevel::HD || l == LodLevel::ORPHANHD;
        flags |= detail ? 1 : l == LodLevel::LOD ? 2 : l == LodLevel::SLOD1 ? 2 | 16 : 4 | 16;
        details += detail ? 1 : 0;
      }
    if (map->block() != nullptr) flags |= 16;
    if (size_of(map->mlo_instances()) != 0) flags |= 8;
    if (size_of(map->box_occluders()) + size_of(map->occlude_models()) != 0) flags |= 32;
    if (size_of(map->physics_dictionaries()) != 0) flags |= 64;
    if (map->lod_lights_soa() != nullptr) flags |= 128;
    if (map->distant_lod_lights_soa() != nullptr) flags |= 256;
    if (map->instanced_data() != nullptr) flags |= 1024;
    EXPECT_EQ(static_cast<uint32_t>(map->content_flags()), flags) << w.name(name);
    EXPECT_LE(details, 512u) << w.name(name);
    EXPECT_NE(flags, 0u) << w.name(name);
    most = std::max(most, details);
    longs += w.name(name).find("_long_") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(most, 0u);
  EXPECT_GT(longs, 0u);
}

TEST_P(World, ExtentsContainEverything) {
  for (const auto& [name, map] : w.maps) {
    const auto check = [&, map = map](const P3& p, double range, const char* what) {
      const auto inside = [&](const schema::Vec3& min, const schema::Vec3& max, double by) {
        return p[0] - by >= min.x() && p[0] + by <= max.x() && p[1] - by >= min.y() && p[1] + by <= max.y() &&
               p[2] - by >= min.z() && p[2] + by <= max.z();
      };
      EXPECT_TRUE(inside(*map->entities_extents_min(), *map->entities_extents_max(), 0)) << w.name(map->name()) << what;
      EXPECT_TRUE(inside(*map->streaming_extents_min(), *map->streaming_extents_max(), range))
          << w.name(map->name()) << what;
    };
    for (uint32_t i = 0; i < size_of(map->entities()); ++i) {
      const EntityDef& e = *map->entities()->Get(i);
      const schema::ArchetypeDef& a = w.archetype(e.archetype_name()).def();
      const EntityDef* const parent = parent_of(w, *map, e);
      const double range = parent != nullptr && parent->child_lod_dist() != 0 ? parent->child_lod_dist()
                           : e.lod_dist() > 0                                 ? e.lod_dist()
                                                                              : a.lod_dist();
      ASSERT_GT(range, 1);
      for (int corner = 0; corner < 8; ++corner)
        check(to_world(e, is_interior(*map, i), (corner & 1 ? a.bb_max() : a.bb_min()).x(),
                       (corner & 2 ? a.bb_max() : a.bb_min()).y(), (corner & 4 ? a.bb_max() : a.bb_min()).z()),
              range, " entity");
    }
    if (map->car_generators() != nullptr)
      for (const schema::CarGen* c : *map->car_generators())
        check({c->position().x(), c->position().y(), c->position().z()}, 0, " car generator");
    if (map->time_cycle_modifiers() != nullptr)
      for (const schema::TimeCycleModifier* t : *map->time_cycle_modifiers()) {
        check({t->min_extents().x(), t->min_extents().y(), t->min_extents().z()}, 0, " time box");
        check({t->max_extents().x(), t->max_extents().y(), t->max_extents().z()}, 0, " time box");
      }
    if (map->box_occluders() != nullptr)
      for (const schema::BoxOccluder* o : *map->box_occluders()) {
        ASSERT_EQ(o->sin_z(), 0);  // lengths along y
        const P3 half = {o->width() / 8.0, o->length() / 8.0, o->height() / 8.0};
        for (const double s : {-1.0, 1.0})
          check(
              {o->center_x() / 4.0 + s * half[0], o->center_y() / 4.0 + s * half[1], o->center_z() / 4.0 + s * half[2]},
              100, " occluder");
      }
    if (map->occlude_models() != nullptr)
      for (const schema::OccludeModel* o : *map->occlude_models()) {
        check({o->bmin()->x(), o->bmin()->y(), o->bmin()->z()}, 100, " occluder mesh");
        check({o->bmax()->x(), o->bmax()->y(), o->bmax()->z()}, 100, " occluder mesh");
      }
    if (map->instanced_data() != nullptr)
      for (const schema::GrassInstanceListDef* g : *map->instanced_data()->grass_instance_list()) {
        const schema::Box& b = *g->batch_aabb();
        ASSERT_LT(b.min().x(), b.max().x());
        ASSERT_LT(b.min().y(), b.max().y());
        ASSERT_LT(b.min().z(), b.max().z());
        check({b.min().x(), b.min().y(), b.min().z()}, g->lod_dist(), " grass");
        check({b.max().x(), b.max().y(), b.max().z()}, g->lod_dist(), " grass");
      }
    const bool holds_lights = map->lod_lights_soa() != nullptr || map->distant_lod_lights_soa() != nullptr;
    if (holds_lights) {
      const auto& lights =
          *w.maps.at(map->lod_lights_soa() != nullptr ? map->parent() : name)->distant_lod_lights_soa();
      const double margins[2][3] = {{450, 300, 2700}, {450, 950, 2700}};
      for (const schema::FloatXYZ* p : *lights.position())
        check({p->x(), p->y(), p->z()},
              margins[map->lod_lights_soa() != nullptr ? 1 : 0][static_cast<size_t>(lights.category())], " light");
    }
  }
}

TEST_P(World, LodLightsHaveADistantTwinAndStandAtLamps) {
  size_t pairs = 0;
  for (const auto& [name, map] : w.maps) {
    const schema::LodLightsSoa* const near = map->lod_lights_soa();
    if (near == nullptr) continue;
    ++pairs;
    const schema::DistantLodLightsSoa& far = *w.maps.at(map->parent())->distant_lod_lights_soa();
    const size_t count = far.position()->size();
    EXPECT_GT(count, 0u);
    EXPECT_LE(count, far.category() == schema::LodLightCategory::small_lights    ? 1000u
                     : far.category() == schema::LodLightCategory::medium_lights ? 3500u
                                                                                 : 100u);
    EXPECT_EQ(far.rgbi()->size(), count);
    for (const size_t size :
         {near->direction()->size(), near->falloff()->size(), near->falloff_exponent()->size(),
          near->time_and_state_flags()->size(), near->hash()->size(), near->cone_inner_angle()->size(),
          near->cone_outer_angle_or_cap_ext()->size(), near->corona_intensity()->size()})
      EXPECT_EQ(size, count);
    // Lamps of the area: all entities with a light, in maps whose name begins like this one's.
    const std::string stem = w.name(name).substr(0, w.name(name).find('_'));
    std::vector<P3> lamps;
    for (const auto& [other, details] : w.maps) {
      if (!w.name(other).starts_with(stem + "_") || details->entity_extensions() == nullptr) continue;
      for (const schema::Extension* x : *details->entity_extensions())
        if (const auto* light = x->definition_as_LightEffectDef()) {
          const schema::Float3& at = light->instances()->Get(0)->posn();
          lamps.push_back(to_world(*details->entities()->Get(x->owner()), false, at.x(), at.y(), at.z()));
        }
    }
    EXPECT_EQ(count,
              std::min<size_t>(lamps.size(), far.category() == schema::LodLightCategory::large_lights ? 100 : 1000));
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_EQ(has(near->time_and_state_flags()->Get(i), 24), i < far.num_street_lights());
      if (i > 0 && i != far.num_street_lights()) {
        EXPECT_LE(near->hash()->Get(i - 1), near->hash()->Get(i));
      }
      const schema::FloatXYZ& p = *far.position()->Get(i);
      EXPECT_TRUE(std::any_of(lamps.begin(), lamps.end(), [&](const P3& l) {
        return std::abs(l[0] - p.x()) + std::abs(l[1] - p.y()) + std::abs(l[2] - p.z()) < 0.03;
      }));
    }
  }
  EXPECT_GT(pairs, 0u);
}

TEST_P(World, BoundingSpheresHoldTheBoxes) {
  for (const auto& [name, defined] : w.archetypes) {
    const schema::ArchetypeDef& a = defined.def();
    for (int corner = 0; corner < 8; ++corner) {
      const double x = (corner & 1 ? a.bb_max() : a.bb_min()).x() - a.bs_centre().x(),
                   y = (corner & 2 ? a.bb_max() : a.bb_min()).y() - a.bs_centre().y(),
                   z = (corner & 4 ? a.bb_max() : a.bb_min()).z() - a.bs_centre().z();
      EXPECT_LE(std::sqrt(x * x + y * y + z * z), a.bs_radius()) << w.name(name);
    }
    // PIPE-1: the middle of the box as stored, which an optimiser that skips the rounding to float misses.
    EXPECT_EQ(a.bs_centre().x(), static_cast<float>((double{a.bb_min().x()} + double{a.bb_max().x()}) * 0.5));
    EXPECT_GT(a.bb_max().x(), a.bb_min().x());
    EXPECT_GT(a.lod_dist(), 1);
  }
}

TEST_P(World, NoTwoNamesShareAHash) {
  std::map<uint32_t, std::string> texts;
  const auto add = [&](uint32_t hash, std::string_view text) {
    EXPECT_EQ(hash_name(text).value, hash) << text;
    EXPECT_EQ(texts.try_emplace(hash, text).first->second, text);
  };
  for (const auto& file : w.files)
    for (const auto& [hash, text] : file->names) add(hash, text);
  for (const auto& [name, defined] : w.archetypes)
    if (const schema::MloArchetypeDef* interior = defined.interior())
      for (const schema::MloRoomDef* room : *interior->rooms())
        add(hash_name(room->name()->string_view()).value, room->name()->string_view());
  EXPECT_GT(texts.size(), options.archetypes);
}

TEST_P(World, PoolsTakeWhatAnyPlaceNeeds) {
  std::map<std::string, int64_t> pools;
  for (const schema::PoolSize* p : *w.config->config_array()->Get(0)->config()->pool_sizes()->entries())
    pools[w.name(p->name())] = p->size();
  EXPECT_GE(pools.at("MapDataStore"), static_cast<int64_t>(w.maps.size()));
  EXPECT_GE(pools.at("MapTypesStore"), static_cast<int64_t>(w.types.size()));
  EXPECT_GE(pools.at("fwArchetypePooledMap"), static_cast<int64_t>(w.archetypes.size()));
  // The middle of each map, where all its neighbours are wanted too.
  for (const auto& [name, at] : w.maps) {
    const double x = (at->entities_extents_min()->x() + at->entities_extents_max()->x()) / 2,
                 y = (at->entities_extents_min()->y() + at->entities_extents_max()->y()) / 2;
    int64_t maps = 0, entities = 0, cars = 0, interiors = 0;
    for (const auto& [other, map] : w.maps) {
      if (x < map->streaming_extents_min()->x() || x > map->streaming_extents_max()->x() ||
          y < map->streaming_extents_min()->y() || y > map->streaming_extents_max()->y())
        continue;
      ++maps;
      entities += static_cast<int64_t>(size_of(map->entities()));
      cars += static_cast<int64_t>(size_of(map->car_generators()));
      if (map->mlo_instances() == nullptr) continue;
      ++interiors;
      const auto* interior = w.archetype(map->entities()->Get(0)->archetype_name()).interior();
      entities += static_cast<int64_t>(size_of(interior->entities()));
      if (interior->entity_sets() != nullptr)
        for (const auto* set : *interior->entity_sets()) entities += static_cast<int64_t>(size_of(set->entities()));
    }
    EXPECT_GE(pools.at("MapDataLoadedNode"), maps);
    EXPECT_GE(pools.at("Building"), entities);
    EXPECT_GE(pools.at("CCargen"), cars);
    EXPECT_GE(pools.at("InteriorInst"), interiors);
  }
}

}  // namespace
}  // namespace meridian::tools
