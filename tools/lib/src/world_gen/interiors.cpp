// SPDX-License-Identifier: MIT
#include "world_gen/interiors.h"

#include <utility>

#include "world_gen/entities.h"

namespace meridian::tools::world {
namespace {

using schema::PortalFlags;

const PortalFlags kDoor = PortalFlags::hide_when_door_closed | PortalFlags::use_light_bleed;
const PortalFlags kWindow = PortalFlags::one_way | PortalFlags::disable_timecycle_modifier;
/// Set in an entity set's location: the low bits are a portal, not a room.
constexpr uint32_t kAtPortal = uint32_t{1} << 31;

constexpr uint32_t kMaxFurniture = 5, kMaxSets = 3, kMaxSetMembers = 4;

constexpr Point kEast{1, 0, 0}, kWest{-1, 0, 0}, kNorth{0, 1, 0}, kSouth{0, -1, 0};

/// The middle of a room's wall, on the floor.
Point wall_foot(const Bounds& room, const Point& direction) {
  const Point c = room.centre();
  return centimetres(Point{c.x + direction.x * (room.max.x - room.min.x) / 2,
                           c.y + direction.y * (room.max.y - room.min.y) / 2, room.min.z});
}

/// Somewhere in a room, not in its walls.
Point in_room(const Bounds& room, Random& random) {
  const auto along = [&](double low, double high) {
    return low + 0.5 + (high - low - 1) * static_cast<double>(random.below(1001)) / 1000;
  };
  return centimetres(Point{along(room.min.x, room.max.x), along(room.min.y, room.max.y), room.min.z + 0.02});
}

}  // namespace

std::vector<schema::Vec3> Portal::corners() const {
  // Looking along the normal with z up, left is up x normal.
  const Point left{-normal.y * width / 2, normal.x * width / 2, 0}, up{0, 0, height};
  return {stored(centimetres(foot + left)), stored(centimetres(foot + left + up)),
          stored(centimetres(foot - left + up)), stored(centimetres(foot - left))};
}

uint32_t InteriorShape::exits() const {
  uint32_t count = 0;
  for (const Portal& p : portals)
    count += p.to == 0 && (p.flags & PortalFlags::link_interiors_together) == PortalFlags{} ? 1 : 0;
  return count;
}

InteriorShape make_interior_shape(uint64_t seed, uint32_t interior) {
  Random random(seed, Stream::interior, {interior, 0});
  InteriorShape shape;
  const uint32_t count = 1 + random.below(7);
  const uint32_t rows = count >= 4 ? 2 : 1, columns = (count + rows - 1) / rows;
  const double width = random.between(30, 60) / 10.0, depth = random.between(30, 60) / 10.0,
               height = random.between(28, 35) / 10.0;
  const Point corner{-width * columns / 2, -depth * rows / 2, 0};
  for (uint32_t r = 0; r < count; ++r) {
    const uint32_t column = r / rows;
    const Point min = corner + Point{width * column, depth * (r % rows), 0};
    shape.rooms.push_back({centimetres(min), centimetres(min + Point{width, depth, height})});
    shape.bounds.add(shape.rooms.back());
  }
  const auto open = [&](uint32_t from, uint32_t to, const Point& direction, bool door) {
    const Bounds& room = shape.rooms[from - 1];
    Point foot = wall_foot(room, direction);
    if (!door) foot = centimetres(foot + Point{0, 0, 1});
    shape.portals.push_back({from, to, door ? kDoor : kWindow, foot, direction, 1.2, door ? 2.1 : 1.2});
  };
  for (uint32_t r = 0; r < count; ++r) {
    if (r + rows < count) open(r + 1, r + rows + 1, kEast, true);
    if (rows == 2 && r % 2 == 0 && r + 1 < count) open(r + 1, r + 2, kNorth, true);
  }
  open(1, 0, kWest, true);
  if (count >= 3) open(count, 0, kEast, true);  // the last room is at the end of its row
  for (uint32_t r = 0; r < count; r += rows)
    if (random.one_in(2)) open(r + 1, 0, kSouth, false);
  return shape;
}

uint32_t entity_set_count(uint64_t seed, uint32_t interior) {
  return Random(seed, Stream::interior, {interior, 1}).below(kMaxSets + 1);
}

uint32_t max_interior_entities(const InteriorShape& shape) {
  return 1 + kMaxFurniture * static_cast<uint32_t>(shape.rooms.size()) + static_cast<uint32_t>(shape.portals.size()) +
         kMaxSets * kMaxSetMembers;
}

TableMaker make_interior(const Plan& plan, const Area& area, uint32_t interior, const TypePlan& record,
                         InteriorCounts& counts) {
  using schema::MloArchetypeDef;
  const InteriorShape shape = make_interior_shape(plan.options.seed, interior);
  Random random(plan.options.seed, Stream::interior, {interior, 2});
  const TypeFile& file = plan.type_files[plan.first_interior_file + interior];

  std::vector<schema::EntityDef> entities;
  std::vector<std::vector<uint32_t>> in_rooms(shape.rooms.size() + 1), at_portals(shape.portals.size());
  std::vector<std::pair<uint32_t, TableMaker>> extensions;
  const TypePlan& extension_plan = *TableMaker::plan_of(record, MloArchetypeDef::VT_ENTITY_EXTENSIONS).type;
  const auto place = [&](uint32_t archetype, const Point& position, uint32_t step, std::vector<uint32_t>& attached,
                         size_t room) {
    attached.push_back(static_cast<uint32_t>(entities.size()));
    Placed p;
    p.archetype = archetype;
    p.position = position;
    p.orientation = heading(step);
    p.guid = 0;
    if (room != 0) {  // nothing stands in a wall
      const Bounds b = p.bounds(plan), &walls = shape.rooms[room - 1];
      const auto shift = [](double low, double high, double from, double to) {
        return low < from ? from - low : high > to ? to - high : 0.0;
      };
      p.position = centimetres(p.position + Point{shift(b.min.x, b.max.x, walls.min.x, walls.max.x),
                                                  shift(b.min.y, b.max.y, walls.min.y, walls.max.y), 0});
    }
    entities.push_back(p.stored(plan));
  };
  const auto furniture = [&] { return plan.pick_shared(area.palette[0], Role::furniture, random); };

  place(file.first + 1, {0, 0, 0}, 0, in_rooms[0], 0);  // the shell is seen from outside too
  for (size_t r = 1; r <= shape.rooms.size(); ++r)
    for (uint32_t n = 2 + random.below(kMaxFurniture - 1); n > 0; --n)
      place(furniture(), in_room(shape.rooms[r - 1], random), random.below(64), in_rooms[r], r);
  for (size_t p = 0; p < shape.portals.size(); ++p) {
    if (!shape.portals[p].is_door()) continue;
    extensions.emplace_back(static_cast<uint32_t>(entities.size()), door_extension(plan, extension_plan, random));
    place(plan.pick_shared(area.palette[0], Role::door, random), shape.portals[p].foot,
          shape.portals[p].normal.x != 0 ? 16 : 0, at_portals[p], 0);
  }
  counts.entities += entities.size();
  counts.portals += shape.portals.size();
  counts.extensions += extensions.size();

  std::vector<TableMaker> rooms;
  const auto first_word = random.below(8);  // no two rooms of an interior share a name
  for (uint32_t r = 0; r <= shape.rooms.size(); ++r) {
    using schema::MloRoomDef;
    const Bounds& box = r == 0 ? shape.bounds : shape.rooms[r - 1];
    uint32_t portals = 0;
    for (const Portal& p : shape.portals) portals += p.from == r || p.to == r ? 1 : 0;
    const uint32_t name = r == 0 ? plan.words.limbo : plan.words.rooms[(first_word + r) % 8];
    TableMaker& room = rooms.emplace_back(record, static_cast<uint16_t>(MloArchetypeDef::VT_ROOMS));
    room.text(MloRoomDef::VT_NAME, std::string(plan.names.text(name)))
        .structure(MloRoomDef::VT_BB_MIN, stored(box.min))
        .structure(MloRoomDef::VT_BB_MAX, stored(box.max))
        .number(MloRoomDef::VT_FLAGS,
                r == 0 ? schema::RoomFlags{} : schema::RoomFlags::freeze_vehicles | schema::RoomFlags::reduce_cars)
        .number(MloRoomDef::VT_PORTAL_COUNT, portals)
        .items(MloRoomDef::VT_ATTACHED_OBJECTS, in_rooms[r]);
    if (r != 0) room.number(MloRoomDef::VT_TIMECYCLE_NAME, plan.words.time_cycles[4 + random.below(2)]);
  }
  std::vector<TableMaker> portals;
  for (size_t i = 0; i < shape.portals.size(); ++i) {
    using schema::MloPortalDef;
    const Portal& p = shape.portals[i];
    portals.emplace_back(record, static_cast<uint16_t>(MloArchetypeDef::VT_PORTALS))
        .number(MloPortalDef::VT_ROOM_FROM, p.from)
        .number(MloPortalDef::VT_ROOM_TO, p.to)
        .number(MloPortalDef::VT_FLAGS, p.flags)
        .items(MloPortalDef::VT_CORNERS, p.corners())
        .items(MloPortalDef::VT_ATTACHED_OBJECTS, at_portals[i]);
  }
  std::vector<TableMaker> sets;
  for (uint32_t s = 0; s < entity_set_count(plan.options.seed, interior); ++s) {
    using schema::MloEntitySet;
    std::vector<uint32_t> locations;
    std::vector<schema::EntityDef> members;
    for (uint32_t n = 2 + random.below(kMaxSetMembers - 1); n > 0; --n) {
      const bool at_portal = random.one_in(4);
      const uint32_t portal = random.below(static_cast<uint32_t>(shape.portals.size()));
      const uint32_t room = 1 + random.below(static_cast<uint32_t>(shape.rooms.size()));
      locations.push_back(at_portal ? kAtPortal | portal : room);
      Placed p;
      p.archetype = furniture();
      p.position = at_portal ? shape.portals[portal].foot : in_room(shape.rooms[room - 1], random);
      p.orientation = heading(random.below(64));
      p.guid = 0;
      members.push_back(p.stored(plan));
    }
    counts.entities += members.size();
    sets.emplace_back(record, static_cast<uint16_t>(MloArchetypeDef::VT_ENTITY_SETS))
        .number(MloEntitySet::VT_NAME, plan.words.sets[s])
        .items(MloEntitySet::VT_LOCATIONS, locations)
        .items(MloEntitySet::VT_ENTITIES, members);
  }
  std::vector<schema::MloTimeCycleModifier> spheres;
  if (random.one_in(2)) {
    const Point c = centimetres(shape.rooms[0].centre());
    spheres.emplace_back(plan.words.time_cycles[4],
                         schema::Vec4(static_cast<float>(c.x), static_cast<float>(c.y), static_cast<float>(c.z), 4.0f),
                         60.0f, 2.0f, 0u, 23u);
  }

  TableMaker out(record);
  out.number(MloArchetypeDef::VT_MLO_FLAGS, random.one_in(3) ? schema::MloFlags::office : schema::MloFlags::allow_run)
      .items(MloArchetypeDef::VT_ENTITIES, entities)
      .records(MloArchetypeDef::VT_ENTITY_EXTENSIONS, MloArchetypeDef::VT_ENTITIES, std::move(extensions))
      .tables(MloArchetypeDef::VT_ROOMS, std::move(rooms))
      .tables(MloArchetypeDef::VT_PORTALS, std::move(portals))
      .tables(MloArchetypeDef::VT_ENTITY_SETS, std::move(sets))
      .items(MloArchetypeDef::VT_TIME_CYCLE_MODIFIERS, spheres);
  return out;
}

}  // namespace meridian::tools::world
