// SPDX-License-Identifier: MIT
// MLO001 to MLO007, MLO010 to MLO014, LOD008: rooms, portals, what is attached to them, entity sets.
#include <algorithm>
#include <set>

#include "lint/geometry.h"
#include "lint/lint_context.h"
#include "meridian/schemas/ityp_generated.h"
#include "vector_size.h"

namespace meridian::tools {
namespace {

constexpr uint32_t kMaxRooms = 32, kMaxPortals = 256;  // of one interior at run time
constexpr uint32_t kPortalBit = 1u << 31;              // of an entity set's location

class Interior {
 public:
  Interior(LintContext& c, const schema::MloArchetypeDef& mlo)
      : c_(c),
        mlo_(mlo),
        base_(indexed("archetypes", mlo.owner())),
        label_("archetype " + std::to_string(mlo.owner())),
        name_(c.unit.names.quoted(c.unit.types->archetypes()->Get(mlo.owner())->name())),
        rooms_(size_of(mlo.rooms())),
        portals_(size_of(mlo.portals())),
        entities_(size_of(mlo.entities())) {}

  void run() {
    check_rooms();
    check_portals();
    check_attached();
    check_sets();
    check_entities();
  }

 private:
  std::string room_path(uint32_t i) const { return base_ + "." + indexed("rooms", i); }
  std::string portal_path(uint32_t i) const { return base_ + "." + indexed("portals", i); }
  std::string room_label(uint32_t i) const { return label_ + ", room " + std::to_string(i); }
  std::string portal_label(uint32_t i) const { return label_ + ", portal " + std::to_string(i); }
  std::string room_name(uint32_t i) const {
    const auto* const name = mlo_.rooms()->Get(i)->name();
    return name == nullptr || name->size() == 0 ? "room " + std::to_string(i) : "room '" + name->str() + "'";
  }

  void check_rooms() {
    if (rooms_ == 0) {
      c_.report(rules::limbo_room, base_, label_, name_ + " has no rooms; room 0, the outside, is needed at least");
      return;
    }
    if (rooms_ > kMaxRooms)
      c_.report(rules::interior_limits, base_ + ".rooms", label_,
                name_ + " has " + std::to_string(rooms_) + " rooms; at most " + std::to_string(kMaxRooms) + " fit");
    if (portals_ > kMaxPortals)
      c_.report(
          rules::interior_limits, base_ + ".portals", label_,
          name_ + " has " + std::to_string(portals_) + " portals; at most " + std::to_string(kMaxPortals) + " fit");
    const auto* const first = mlo_.rooms()->Get(0)->name();
    if (first == nullptr || first->string_view() != "limbo")
      c_.report(
          rules::limbo_room, room_path(0) + ".name", room_label(0),
          "room 0 stands for the outside and is called 'limbo', not '" + (first == nullptr ? "" : first->str()) + "'");
    std::vector<uint32_t> touches(rooms_, 0);
    for (uint32_t p = 0; p < portals_; ++p) {
      const schema::MloPortalDef& portal = *mlo_.portals()->Get(p);
      if (portal.room_from() < rooms_) ++touches[portal.room_from()];
      if (portal.room_to() < rooms_ && portal.room_to() != portal.room_from()) ++touches[portal.room_to()];
    }
    std::set<std::string_view> names;
    for (uint32_t i = 0; i < rooms_; ++i) {
      const schema::MloRoomDef& room = *mlo_.rooms()->Get(i);
      const std::string_view name = room.name() == nullptr ? std::string_view() : room.name()->string_view();
      if (!name.empty() && !names.insert(name).second)
        c_.report(rules::duplicate_part_name, room_path(i) + ".name", room_label(i),
                  "a second room is called '" + std::string(name) + "'");
      const uint32_t touching = touches[i];
      if (room.portal_count() != touching)
        c_.report(rules::portal_count, room_path(i) + ".portalCount", room_label(i),
                  "portalCount is " + std::to_string(room.portal_count()) + ", but " + std::to_string(touching) +
                      " portals touch " + room_name(i))
            .fixes.push_back({room_path(i) + ".portalCount", std::to_string(touching)});
      check_room_box(i, room);
    }
  }

  /// MLO010: a note, because a room's box grows by what stands in it when loaded.
  void check_room_box(uint32_t i, const schema::MloRoomDef& room) {
    if (i == 0 || room.attached_objects() == nullptr || room.bb_min() == nullptr || room.bb_max() == nullptr) return;
    const Point min = point_of(*room.bb_min()), max = point_of(*room.bb_max());
    if (min.x == max.x && min.y == max.y && min.z == max.z) return;  // left to the game
    double worst = 0.05;
    std::string side;
    for (const uint32_t index : *room.attached_objects()) {
      if (index >= entities_) continue;
      const schema::EntityDef& e = *mlo_.entities()->Get(index);
      const ArchetypeRef* const ref = c_.world.find_archetype(e.archetype_name());
      if (ref == nullptr) continue;
      const Bounds box =
          placed_box(point_of(ref->def->bb_min()), point_of(ref->def->bb_max()), e, Turn(e.rotation(), true));
      for (int axis = 0; axis < 3; ++axis) {
        if (min[axis] - box.min[axis] > worst) worst = min[axis] - box.min[axis], side = std::string("-") + "xyz"[axis];
        if (box.max[axis] - max[axis] > worst) worst = box.max[axis] - max[axis], side = std::string("+") + "xyz"[axis];
      }
    }
    if (!side.empty())
      c_.report(rules::room_bounds, room_path(i) + ".bbMin", room_label(i),
                room_name(i) + " grows by " + shown(worst) + " m on " + side + " for what is attached to it");
  }

  void check_portals() {
    uint32_t lost = 0;
    for (uint32_t i = 0; i < portals_; ++i) {
      const schema::MloPortalDef& p = *mlo_.portals()->Get(i);
      if (p.room_from() == 0 && p.room_to() == 0) ++lost;
      if (p.room_from() == p.room_to())
        c_.report(
            rules::portal_rooms, portal_path(i) + ".roomTo", portal_label(i),
            name_ + " portal " + std::to_string(i) + " joins room " + std::to_string(p.room_from()) + " to itself");
      for (const auto& [room, member] : {std::pair(p.room_from(), "roomFrom"), std::pair(p.room_to(), "roomTo")})
        if (room >= rooms_)
          c_.report(rules::portal_rooms, portal_path(i) + "." + member, portal_label(i),
                    std::string(member) + " is " + std::to_string(room) + ", but " + name_ + " has " +
                        std::to_string(rooms_) + " rooms");
      if (p.room_from() == 0 && p.room_to() != 0)
        c_.report(rules::portal_direction, portal_path(i) + ".roomFrom", portal_label(i),
                  "leads from the outside (room 0) in; portals to the outside go from the room to room 0");
      check_corners(i, p);
    }
    if (lost > 1 && lost == portals_)
      c_.report(rules::portal_rooms, base_ + ".portals", label_,
                "all " + std::to_string(portals_) + " portals of " + name_ +
                    " join room 0 to room 0: this looks like a lost export");
    check_opposing();
  }

  void check_corners(uint32_t i, const schema::MloPortalDef& p) {
    const uint32_t count = size_of(p.corners());
    if (count != 4) {
      c_.report(rules::portal_corners, portal_path(i) + ".corners", portal_label(i),
                "has " + std::to_string(count) + " corners; a portal has 4");
      return;
    }
    Point q[4];
    for (uint32_t k = 0; k < 4; ++k) q[k] = point_of(*p.corners()->Get(k));
    const Point normal = cross(q[1] - q[0], q[2] - q[0]);
    const double area = length(normal);
    const double size = std::max(length(q[2] - q[0]), length(q[3] - q[1]));
    if (area < 1e-4 * std::max(1e-6, size * size)) {
      c_.report(rules::portal_corners, Severity::warning, portal_path(i) + ".corners", portal_label(i),
                "the corners lie on a line, so that nothing is seen through it");
      return;
    }
    const double off = std::abs(dot(q[3] - q[0], normal)) / area;
    if (off > 0.01 + 0.01 * size)
      c_.report(rules::portal_corners, Severity::warning, portal_path(i) + ".corners", portal_label(i),
                "the fourth corner lies " + shown(off) + " m off the plane of the others");
  }

  /// MLO013: two portals of the same two rooms, turned against each other, in one opening.
  void check_opposing() {
    if (portals_ > kMaxPortals) return;  // MLO011 says it; each is held against each
    const auto centre = [&](const schema::MloPortalDef& p) {
      Point sum;
      for (const schema::Vec3* v : *p.corners()) sum = sum + point_of(*v);
      return sum * 0.25;
    };
    for (uint32_t a = 0; a < portals_; ++a)
      for (uint32_t b = a + 1; b < portals_; ++b) {
        const schema::MloPortalDef &p = *mlo_.portals()->Get(a), &q = *mlo_.portals()->Get(b);
        if (p.room_from() != q.room_to() || p.room_to() != q.room_from() || size_of(p.corners()) != 4 ||
            size_of(q.corners()) != 4)
          continue;
        const double size = length(point_of(*p.corners()->Get(2)) - point_of(*p.corners()->Get(0)));
        if (length(centre(p) - centre(q)) > 0.1 * size) continue;
        LintFinding& f = c_.report(
            rules::opposing_portals, portal_path(b), portal_label(b),
            "stands in the opening of portal " + std::to_string(a) + " and leads back: one portal serves both ways");
        f.related.push_back({&c_.unit, portal_path(a), "the other one"});
      }
  }

  void check_attached() {
    // The room and the portal that each entity hangs on first, from 1; 0 none. One of each is how doors hang.
    std::vector<uint32_t> in_room(entities_, 0), in_portal(entities_, 0);
    uint32_t from_rooms = 0;
    const auto attach = [&](uint32_t entity, std::vector<uint32_t>& places, uint32_t place, const std::string& path,
                            const std::string& label, const std::string& who, const std::string& other) {
      if (entity >= entities_) {
        c_.report(rules::attached_objects, path, label,
                  who + " attaches entity " + std::to_string(entity) + " of " + std::to_string(entities_));
        return;
      }
      if (places[entity] != 0)
        c_.report(rules::attached_objects, Severity::warning, path, label,
                  "entity " + std::to_string(entity) + " is attached twice" +
                      (places[entity] == place ? "" : ": to " + other + " too"));
      else
        places[entity] = place;
    };
    const auto first_of = [](const std::vector<uint32_t>& places, uint32_t entity, uint32_t place) {
      return entity < places.size() && places[entity] != 0 ? places[entity] - 1 : place;
    };
    for (uint32_t r = 0; r < rooms_; ++r)
      if (const auto* const list = mlo_.rooms()->Get(r)->attached_objects()) {
        from_rooms += list->size();
        for (const uint32_t e : *list)
          attach(e, in_room, 1 + r, room_path(r) + ".attachedObjects", room_label(r), room_name(r),
                 room_name(first_of(in_room, e, r)));
      }
    for (uint32_t p = 0; p < portals_; ++p)
      if (const auto* const list = mlo_.portals()->Get(p)->attached_objects())
        for (const uint32_t e : *list)
          attach(e, in_portal, 1 + p, portal_path(p) + ".attachedObjects", portal_label(p),
                 "portal " + std::to_string(p), "portal " + std::to_string(first_of(in_portal, e, p)));
    uint32_t loose = 0;
    std::string first;
    for (uint32_t e = 0; e < entities_; ++e) {
      if (in_room[e] != 0 || in_portal[e] != 0) continue;
      if (++loose <= 5)
        first += (first.empty() ? "" : ", ") + std::to_string(e) + " " +
                 c_.unit.names.quoted(mlo_.entities()->Get(e)->archetype_name());
    }
    if (loose == 0) return;
    const bool all = from_rooms == 0 && loose == entities_;
    c_.report(rules::unattached_objects, all ? Severity::error : rules::unattached_objects.severity,
              base_ + ".entities", label_,
              std::to_string(loose) + " of " + std::to_string(entities_) + " entities attached to nothing (" + first +
                  (loose > 5 ? ", ..." : "") + ")" + (all ? "; no room lists any: this looks like a lost export" : ""));
  }

  void check_sets() {
    std::set<uint32_t> names;
    for (uint32_t s = 0; s < size_of(mlo_.entity_sets()); ++s) {
      const schema::MloEntitySet& set = *mlo_.entity_sets()->Get(s);
      const std::string path = base_ + "." + indexed("entitySets", s),
                        label = label_ + ", entity set " + std::to_string(s);
      const std::string who = name_ + " set " + c_.unit.names.quoted(set.name());
      if (set.name() != 0 && !names.insert(set.name()).second)
        c_.report(rules::duplicate_part_name, path + ".name", label,
                  "a second entity set is called " + c_.unit.names.quoted(set.name()));
      const uint32_t entities = size_of(set.entities()), locations = size_of(set.locations());
      if (entities != locations)
        c_.report(rules::entity_set, path + ".locations", label,
                  who + ": " + std::to_string(entities) + " entities, " + std::to_string(locations) + " location" +
                      (locations == 1 ? "" : "s"));
      for (uint32_t i = 0; i < locations; ++i) {
        const uint32_t at = set.locations()->Get(i);
        const bool is_portal = (at & kPortalBit) != 0;
        const uint32_t index = at & ~kPortalBit, count = is_portal ? portals_ : rooms_;
        if (index >= count)
          c_.report(rules::entity_set, path + ".locations", label,
                    who + ": entity " + std::to_string(i) + " stands in " + (is_portal ? "portal " : "room ") +
                        std::to_string(index) + " of " + std::to_string(count));
      }
      if (set.entities() != nullptr)
        for (uint32_t i = 0; i < set.entities()->size(); ++i)
          lint_entity(c_, *set.entities()->Get(i), {path + ".", label, i});
    }
  }

  void check_entities() {
    for (uint32_t i = 0; i < entities_; ++i) {
      const schema::EntityDef& e = *mlo_.entities()->Get(i);
      const std::string prefix = base_ + ".";
      const EntityPlace place{prefix, label_, i};
      lint_entity(c_, e, place);
      // Entities of interiors have no LODs: a link would be read as one into some map.
      if (e.parent_index() >= 0 || e.num_children() != 0)
        c_.report(rules::interior_lod, place.path(e.parent_index() >= 0 ? ".parentIndex" : ".numChildren"),
                  place.object(),
                  "an entity of an interior has no LOD parent and no LOD children; the link is not used");
    }
  }

  LintContext& c_;
  const schema::MloArchetypeDef& mlo_;
  std::string base_, label_, name_;
  uint32_t rooms_, portals_, entities_;
};

}  // namespace

void lint_interiors(LintContext& c) {
  const auto* const mlos = c.unit.types->mlo_archetypes();
  const uint32_t archetypes = size_of(c.unit.types->archetypes());
  if (mlos == nullptr) return;
  for (const schema::MloArchetypeDef* mlo : *mlos)
    if (mlo->owner() < archetypes) Interior(c, *mlo).run();
}

}  // namespace meridian::tools
