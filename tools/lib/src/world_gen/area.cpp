// SPDX-License-Identifier: MIT
#include "world_gen/area.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "world_gen/interiors.h"

namespace meridian::tools::world {
namespace {

using schema::EntityFlags;
using schema::LodLevel;
using schema::PriorityLevel;

const EntityFlags kShadows = EntityFlags::cast_static_shadows | EntityFlags::cast_dynamic_shadows;
/// How far away an interior is seen, and its stand-in's children with it. [m]
constexpr float kInteriorRange = 120;

class Filler {
 public:
  Filler(const Plan& plan, const Area& area)
      : plan_(plan), area_(area), random_(plan.options.seed, Stream::area, {area.index, 1}) {}

  AreaContents run() {
    lay_lots();
    add_interiors();
    add_lods();
    add_linked();
    add_orphans();
    return std::move(out_);
  }

 private:
  /// Roads take a fifth of a lot, at most 4 m on each side.
  void lay_lots() {
    const double width = area_.x1 - area_.x0, height = area_.y1 - area_.y0;
    const uint32_t count = area_.lots();
    const auto columns = static_cast<uint32_t>(std::max(1.0, std::ceil(std::sqrt(count * width / height))));
    const uint32_t rows = (count + columns - 1) / columns;
    const double w = width / columns, h = height / rows;
    const double road_x = std::min(4.0, w / 5), road_y = std::min(4.0, h / 5);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t row = i / columns;
      const double x = area_.x0 + w * (i % columns), y = area_.y0 + h * row;
      out_.lots.push_back({x + road_x, y + road_y, x + w - road_x, y + h - road_y, plan_.ground(x + w / 2, y + h / 2)});
    }
  }

  double between(double low, double high) { return low + (high - low) * random_.below(10001) / 10000; }

  /// Instances, clear of the area's edge where it is wide enough: occluders of other areas then cannot cover them.
  void add_interiors() {
    for (uint32_t i = 0; i < area_.interiors; ++i) {
      const double edge_x = std::min(20.0, (area_.x1 - area_.x0) / 2),
                   edge_y = std::min(20.0, (area_.y1 - area_.y0) / 2);
      const double x = between(area_.x0 + edge_x, area_.x1 - edge_x), y = between(area_.y0 + edge_y, area_.y1 - edge_y);
      Placed p;
      p.archetype = plan_.type_files[plan_.first_interior_file + area_.interior_first + i].first;
      p.position = centimetres(Point{x, y, plan_.ground(x, y) + 0.1});
      p.orientation = heading(random_.below(64));
      p.flags = kShadows | EntityFlags::lod_in_parent;
      p.parent = static_cast<int32_t>(area_.lots() + i);
      p.lod_dist = kInteriorRange;
      p.range = static_cast<double>(kInteriorRange);
      p.level = LodLevel::HD;
      p.guid = random_.next();
      out_.interiors.push_back(p);
    }
  }

  void add_lods() {
    const auto [lod, lod_count] = plan_.own_range(area_.types, Role::lod);
    const auto [slod, slod_count] = plan_.own_range(area_.types, Role::slod1);
    std::vector<Placed> slods(area_.slod1);
    std::vector<Bounds> ground(area_.slod1);
    for (Placed& s : slods) s.child_lod_dist = static_cast<float>(400 + 100 * random_.below(3));
    for (uint32_t i = 0; i < area_.lods; ++i) {
      const bool is_lot = i < area_.lots();
      Placed& s = slods[i / kLodsPerSlod1];
      Placed p;
      p.archetype = lod + random_.below(lod_count);
      p.position = is_lot ? centimetres(out_.lots[i].centre()) : out_.interiors[i - area_.lots()].position;
      p.orientation = is_lot ? heading(16 * random_.below(4)) : out_.interiors[i - area_.lots()].orientation;
      p.flags = EntityFlags::cast_static_shadows | (is_lot ? EntityFlags{} : EntityFlags::interior_lod);
      p.parent = static_cast<int32_t>(area_.lods + i / kLodsPerSlod1);
      p.lod_dist = s.child_lod_dist;
      p.range = static_cast<double>(p.lod_dist);
      p.child_lod_dist = !is_lot      ? kInteriorRange
                         : i % 5 == 0 ? static_cast<float>(150 + 10 * random_.below(8))
                                      : static_cast<float>(60 + 10 * random_.below(9));
      p.level = LodLevel::LOD;
      p.children = is_lot ? 0 : 1;
      p.guid = random_.next();
      ++s.children;
      ground[i / kLodsPerSlod1].add(p.position);
      out_.lods.push_back(p);
    }
    const Region& region = plan_.regions[area_.region];
    for (uint32_t i = 0; i < area_.slod1; ++i) {
      Placed& s = slods[i];
      s.archetype = slod + random_.below(slod_count);
      s.position = centimetres(ground[i].centre());
      s.flags = EntityFlags::lod_in_parent;
      s.parent = static_cast<int32_t>(area_.index - region.first);
      s.lod_dist = 1200;
      s.range = 1200;
      s.level = LodLevel::SLOD1;
      s.guid = random_.next();
      out_.lods.push_back(s);
    }
  }

  /// Each lot gets one first, then they fall anywhere.
  void add_linked() {
    const uint32_t far_lots = area_.far_lots(), near_lots = area_.lots() - far_lots;
    for (uint32_t i = 0; i < area_.linked; ++i) {
      const bool far = i < area_.far_linked;
      const uint32_t n = far ? i : i - area_.far_linked, of = far ? far_lots : near_lots;
      const uint32_t k = n < of ? n : random_.below(of);
      // Far lots are 0, 5, 10 ...; the k-th of the others skips them.
      add_linked(far ? k * 5 : k / 4 * 5 + k % 4 + 1, n < of);
    }
  }

  void add_linked(uint32_t lot, bool first) {
    const Lot& l = out_.lots[lot];
    Placed& lod = out_.lods[lot];
    ++lod.children;
    auto [own, count] = plan_.own_range(area_.types, lot % 5 == 0 && first ? Role::tower : Role::building);
    if (count == 0) std::tie(own, count) = plan_.own_range(area_.types, Role::building);
    Placed p;
    const bool is_building = first || !random_.one_in(3);
    p.archetype = is_building ? own + random_.below(count) : shared(random_.one_in(4) ? Role::timed : Role::prop);
    p.position = centimetres(Point{between(l.x0, l.x1), between(l.y0, l.y1), l.z});
    p.orientation = heading(is_building ? 16 * random_.below(4) : random_.below(64));
    p.flags = kShadows | EntityFlags::lod_in_parent;
    p.parent = static_cast<int32_t>(lot);
    p.lod_dist = lod.child_lod_dist;
    p.range = static_cast<double>(lod.child_lod_dist);
    p.level = LodLevel::HD;
    p.tint = random_.below(8);
    p.guid = random_.next();
    p.lot = lot;
    out_.details.push_back(p);
  }

  uint32_t shared(Role role) { return plan_.pick_shared(area_.palette[random_.below(3)], role, random_); }

  void add_orphans() {
    for (uint32_t i = 0; i < area_.orphans; ++i) {
      const uint32_t dice = random_.below(100);
      // The first one is a lamp, so that no area is without light.
      add_orphan(i == 0 || dice < 10 ? Role::lamp
                 : dice < 30         ? Role::tree
                 : dice < 35         ? Role::timed
                 : dice < 37         ? Role::door
                 : dice < 50         ? Role::rubble
                                     : Role::prop);
    }
  }

  void add_orphan(Role role) {
    const uint32_t lot = random_.below(area_.lots());
    const Lot& l = out_.lots[lot];
    const uint32_t side = random_.below(4);
    Placed p;
    p.archetype = shared(role);
    // Lamps and the like line the road; what grows or lies about is anywhere.
    if (role == Role::tree || role == Role::rubble)
      p.position = {between(l.x0, l.x1), between(l.y0, l.y1), l.z};
    else
      p.position = {side == 0   ? l.x0
                    : side == 1 ? l.x1
                                : between(l.x0, l.x1),
                    side == 2   ? l.y0
                    : side == 3 ? l.y1
                                : between(l.y0, l.y1),
                    l.z};
    p.position = centimetres(p.position);
    p.orientation = heading(role == Role::lamp ? 16 * side : random_.below(64));
    if (role == Role::rubble) {
      p.orientation = leaning(random_.below(64), random_.between(-9, 9));
      p.flags = p.flags | EntityFlags::allow_full_rotation;
    }
    if (role == Role::tree) {  // without full rotation the game ignores a scale
      p.flags = p.flags | EntityFlags::allow_full_rotation;
      p.scale_xy = static_cast<float>(80 + random_.below(41)) / 100;
      p.scale_z = static_cast<float>(80 + random_.below(41)) / 100;
    }
    const float natural = plan_.archetypes[p.archetype].lod_dist();
    p.lod_dist = random_.one_in(3) ? -1.0f : static_cast<float>(random_.between(3, 14) * 10);
    p.range = static_cast<double>(p.lod_dist > 0 ? p.lod_dist : natural);
    p.priority = role == Role::prop || role == Role::rubble ? static_cast<PriorityLevel>(random_.below(4))
                                                            : PriorityLevel::REQUIRED;
    p.tint = random_.below(8);
    p.guid = random_.next();
    p.lot = lot;
    out_.details.push_back(p);
  }

  const Plan& plan_;
  const Area& area_;
  Random random_;
  AreaContents out_;
};

}  // namespace

AreaContents fill_area(const Plan& plan, const Area& area) { return Filler(plan, area).run(); }

std::vector<std::vector<uint32_t>> cut_in_groups(const std::vector<Placed>& entities, std::vector<uint32_t> chosen,
                                                 uint32_t parts) {
  std::vector<std::vector<uint32_t>> groups(parts);
  const uint64_t count = chosen.size();
  // Group g takes [count g / parts, count (g + 1) / parts), so no group is larger than the average rounded up.
  const auto begin_of = [&](uint32_t group) { return count * group / parts; };
  const auto cut = [&](const auto& self, uint32_t first, uint32_t last) -> void {
    const auto begin = chosen.begin() + static_cast<std::ptrdiff_t>(begin_of(first));
    const auto end = chosen.begin() + static_cast<std::ptrdiff_t>(begin_of(last));
    if (last - first == 1) {
      groups[first].assign(begin, end);
      std::sort(groups[first].begin(), groups[first].end());
      return;
    }
    Bounds box;
    for (auto i = begin; i != end; ++i) box.add(entities[*i].position);
    const bool by_x = box.max.x - box.min.x >= box.max.y - box.min.y;
    const uint32_t middle = first + (last - first) / 2;
    // Ties by number: what falls on which side does not depend on the library's algorithm.
    std::nth_element(begin, chosen.begin() + static_cast<std::ptrdiff_t>(begin_of(middle)), end,
                     [&](uint32_t a, uint32_t b) {
                       const Point &p = entities[a].position, &q = entities[b].position;
                       const double u = by_x ? p.x : p.y, v = by_x ? q.x : q.y;
                       return u < v || (u == v && a < b);
                     });
    self(self, first, middle);
    self(self, middle, last);
  };
  cut(cut, 0, parts);
  return groups;
}

}  // namespace meridian::tools::world
