// SPDX-License-Identifier: MIT
// What the archetypes are: roles, sizes, distances, dictionaries.
#include <array>
#include <cstdio>

#include "world_gen/interiors.h"
#include "world_gen/plan.h"

namespace meridian::tools::world {
namespace {

using schema::ArchetypeFlags;
using schema::AssetType;
using schema::SpecialAttribute;

/// Roles within a shared file, over and over.
constexpr std::array<Role, 16> kSharedRoles = {
    Role::lamp, Role::grass, Role::door, Role::furniture, Role::tree, Role::prop, Role::timed, Role::furniture,
    Role::prop, Role::tree,  Role::prop, Role::rubble,    Role::prop, Role::prop, Role::prop,  Role::furniture};

/// Sizes in decimetres and what else a role decides.
struct Kind {
  const char* name;
  int32_t width[2], height[2];  ///< least and most [dm]
  float lod_dist[2];
  ArchetypeFlags flags;
  SpecialAttribute attribute;
  bool has_collision;
};

constexpr ArchetypeFlags kStatic = ArchetypeFlags::is_static;

Kind kind_of_role(Role role) {
  switch (role) {
    case Role::lamp:
      return {"lamp", {5, 9}, {60, 75}, {80, 120}, kStatic, SpecialAttribute::street_light, true};
    case Role::grass:
      return {"grass", {3, 8}, {2, 7}, {40, 80}, ArchetypeFlags::double_sided, SpecialAttribute::none, false};
    case Role::door:
      return {"door",
              {9, 12},
              {20, 22},
              {40, 60},
              ArchetypeFlags::enable_door_physics | ArchetypeFlags::dynamic,
              SpecialAttribute::normal_door,
              true};
    case Role::furniture:
      return {"furn", {4, 16}, {4, 18}, {20, 40}, kStatic, SpecialAttribute::none, true};
    case Role::tree:
      return {"tree", {30, 70}, {60, 150}, {100, 200}, kStatic | ArchetypeFlags::double_sided, SpecialAttribute::none,
              true};
    case Role::timed:
      return {"sign", {10, 40}, {10, 30}, {60, 140}, ArchetypeFlags::use_ambient_scale, SpecialAttribute::none, false};
    case Role::prop:
      return {"prop", {3, 25}, {4, 25}, {40, 100}, kStatic, SpecialAttribute::none, true};
    case Role::rubble:
      return {"rock",
              {5, 30},
              {3, 15},
              {40, 120},
              kStatic | ArchetypeFlags::is_fixed_for_navigation,
              SpecialAttribute::none,
              true};
    case Role::building:
      return {"bld", {40, 160}, {40, 200}, {100, 140}, kStatic, SpecialAttribute::none, true};
    case Role::tower:
      return {"tower", {100, 250}, {300, 1200}, {160, 260}, kStatic, SpecialAttribute::none, true};
    case Role::lod:
      return {"lod", {80, 260}, {60, 900}, {400, 600}, kStatic, SpecialAttribute::none, false};
    case Role::slod1:
      return {"slod1", {300, 900}, {100, 900}, {1200, 1200}, kStatic, SpecialAttribute::none, false};
    case Role::slod2:
      return {"slod2", {900, 2500}, {200, 900}, {3000, 3000}, kStatic, SpecialAttribute::none, false};
    case Role::slod3:
      return {"slod3", {2500, 6000}, {400, 900}, {6000, 6000}, kStatic, SpecialAttribute::none, false};
    case Role::slod4:
      return {"slod4", {6000, 9000}, {600, 900}, {15000, 15000}, kStatic, SpecialAttribute::none, false};
    default:
      return {"shell", {10, 10}, {10, 10}, {60, 60}, kStatic, SpecialAttribute::none, true};
  }
}

/// The role of archetype `i` of the `count` in an area's own file: a fifth are LODs, a sixteenth are SLOD1s.
Role area_role(uint32_t i, uint32_t count) {
  const uint32_t lods = std::max(1u, count / 5), slods = std::max(1u, count / 16);
  const uint32_t rest = count - lods - slods, towers = rest >= 2 ? std::max(1u, rest / 4) : 0;
  return i < lods                    ? Role::lod
         : i < lods + slods          ? Role::slod1
         : i < lods + slods + towers ? Role::tower
                                     : Role::building;
}

std::string indexed(const std::string& stem, const char* middle, uint32_t n) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "%03u", n);
  return stem + middle + digits;
}

class Maker {
 public:
  explicit Maker(Plan& plan) : plan_(plan) {}

  void run() {
    plan_.archetypes.reserve(plan_.options.archetypes);
    plan_.roles.reserve(plan_.options.archetypes);
    for (uint32_t f = 0; f < plan_.type_files.size(); ++f) file(f);
  }

 private:
  Role role(uint32_t f, uint32_t i) const {
    if (f >= plan_.first_interior_file) return i == 0 ? Role::interior : Role::shell;
    if (f >= plan_.first_area_file) return area_role(i, plan_.type_files[f].count);
    if (f >= plan_.first_shared) return kSharedRoles[i % kSharedRoles.size()];
    return f == 0 ? Role::slod4 : i == 3 ? Role::slod3 : Role::slod2;
  }

  void file(uint32_t f) {
    const TypeFile& types = plan_.type_files[f];
    stem_ = plan_.names.text(types.name);
    stem_.erase(stem_.rfind("_types") != std::string::npos ? stem_.rfind("_types") : stem_.size());
    dictionary_ = textures_ = clips_ = 0;
    for (uint32_t i = 0; i < types.count; ++i) {
      if (i % 8 == 0) textures_ = plan_.names.add(indexed(stem_, "_txd_", i / 8));
      const Role r = role(f, i);
      plan_.roles.push_back(r);
      if (r == Role::interior || r == Role::shell)
        interior(f - plan_.first_interior_file, r);
      else
        plain(r, types.first + i, i);
    }
  }

  void interior(uint32_t number, Role r) {
    const Bounds box = make_interior_shape(plan_.options.seed, number).bounds;
    const uint32_t name = plan_.names.add(r == Role::interior ? stem_ : stem_ + "_shell");
    push(box, {r == Role::interior ? 120.0f : 60.0f, kStatic, SpecialAttribute::none}, name,
         r == Role::interior ? AssetType::ASSETLESS : AssetType::DRAWABLE, name, 0, 0);
  }

  void plain(Role r, uint32_t id, uint32_t i) {
    const Kind kind = kind_of_role(r);
    Random random(plan_.options.seed, Stream::archetype, {id});
    const double x = random.between(kind.width[0], kind.width[1]) / 10.0;
    const double y = r == Role::door ? 0.1 : random.between(kind.width[0], kind.width[1]) / 10.0;
    const double z = random.between(kind.height[0], kind.height[1]) / 10.0;
    const auto far = static_cast<int32_t>(kind.lod_dist[1]), near = static_cast<int32_t>(kind.lod_dist[0]);
    const auto lod_dist = static_cast<float>(random.between(near / 10, far / 10) * 10);
    // Stands on the ground; its middle need not be its origin.
    const double shift = static_cast<double>(random.between(-2, 2)) / 10;
    const Bounds box{{-x / 2 + x * shift, -y / 2, 0}, {x / 2 + x * shift, y / 2, z}};

    Head head{lod_dist, kind.flags, kind.attribute};
    AssetType asset = AssetType::DRAWABLE;
    uint32_t dictionary = 0, clips = 0;
    if (r == Role::prop && random.one_in(4)) {
      asset = AssetType::FRAGMENT;
      head.flags = ArchetypeFlags::dynamic | ArchetypeFlags::auto_start_anim;
    } else if (r == Role::prop && random.one_in(4)) {
      asset = AssetType::DRAWABLEDICTIONARY;
      if (dictionary_ == 0) dictionary_ = plan_.names.add(stem_ + "_dwd");
      dictionary = dictionary_;
    } else if (r == Role::prop && random.one_in(12)) {
      if (clips_ == 0) clips_ = plan_.names.add(stem_ + "_ycd");
      clips = clips_;
      head.flags = ArchetypeFlags::has_anim | ArchetypeFlags::auto_start_anim;
    }
    const uint32_t name = plan_.names.add(indexed(stem_, ("_" + std::string(kind.name) + "_").c_str(), i));
    push(box, head, name, asset, kind.has_collision ? name : 0, dictionary, clips);
  }

  struct Head {
    float lod_dist;
    ArchetypeFlags flags;
    SpecialAttribute attribute;
  };

  void push(const Bounds& box, const Head& head, uint32_t name, AssetType asset, uint32_t collision,
            uint32_t dictionary, uint32_t clips) {
    const schema::Vec3 min = stored(centimetres(box.min)), max = stored(centimetres(box.max));
    const Point d = point_of(max) - point_of(min);
    const schema::Vec3 centre = stored((point_of(min) + point_of(max)) * 0.5);
    // Up to the next centimetre and one more: the sphere holds all corners, whatever the floats round off.
    const double radius = std::ceil(std::sqrt(d.x * d.x + d.y * d.y + d.z * d.z) / 2 * 100 + 1) / 100;
    plan_.archetypes.emplace_back(head.lod_dist, head.flags, head.attribute, min, max, centre,
                                  static_cast<float>(radius), head.lod_dist / 2, name, textures_, clips, dictionary,
                                  collision, asset, name);
  }

  Plan& plan_;
  std::string stem_;
  uint32_t textures_ = 0, dictionary_ = 0, clips_ = 0;
};

}  // namespace

void make_archetypes(Plan& plan) { Maker(plan).run(); }

uint32_t Plan::pick_shared(uint32_t file, Role role, Random& random) const {
  std::array<uint32_t, kSharedRoles.size()> places{};
  uint32_t count = 0;
  for (uint32_t i = 0; i < kSharedRoles.size(); ++i)
    if (kSharedRoles[i] == role) places[count++] = i;
  const TypeFile& f = type_files[file];
  const uint32_t place = places[random.below(count)];
  const uint32_t rounds = (f.count - place + static_cast<uint32_t>(kSharedRoles.size()) - 1) / kSharedRoles.size();
  return f.first + place + random.below(rounds) * static_cast<uint32_t>(kSharedRoles.size());
}

}  // namespace meridian::tools::world
