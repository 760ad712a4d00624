// SPDX-License-Identifier: MIT
#pragma once
/// Type files with interiors whose rooms, portals, entities and entity sets a test says in full.
///
///   test::InteriorItem shop{.name = hash_name("shop")};
///   shop.rooms = {{}, {.min = {0, 0, 0}, .max = {4, 4, 3}, .objects = {0}}};
///   shop.entities = {{.archetype = hash_name("chair"), .at = {1, 1, 0}}};
///   test::TypesItem types;
///   types.base(hash_name("chair"));
///   types.interiors.push_back(shop);
///   const test::TypesFile file = types.finish("props");

#include <string>
#include <vector>

#include "unit/runtime/map/map_maker.h"
#include "unit/runtime/map/types_file.h"

namespace meridian::test {

struct RoomItem {
  Vec3 min{}, max{};
  uint32_t flags = 0;
  int32_t depth = -1;
  std::vector<uint32_t> objects{};
};
struct PortalItem {
  uint32_t from = 0, to = 0;
  uint32_t flags = 0;
  std::vector<Vec3> corners{};
  std::vector<uint32_t> objects{};
  uint32_t opacity = 0, priority = 0;
};
struct EntitySetItem {
  NameHash name{};
  std::vector<EntityItem> entities{};
  std::vector<uint32_t> locations{};  ///< a room, or with bit 31 a portal
  std::vector<ExtensionItem> extensions{};
};
struct InteriorItem {
  NameHash name{};
  Definition archetype{};
  std::vector<RoomItem> rooms{};
  std::vector<PortalItem> portals{};
  std::vector<EntityItem> entities{};
  std::vector<EntitySetItem> sets{};
  std::vector<ExtensionItem> extensions{};
};

struct TypesItem {
  struct Base {
    NameHash name{};
    Definition definition{};
    uint32_t hours = 0;  ///< not 0: a time archetype
  };
  std::vector<Base> bases{};
  std::vector<InteriorItem> interiors{};
  std::vector<ExtensionItem> extensions{};  ///< of archetypes; interiors come behind the others

  TypesItem& base(NameHash name, const Definition& definition = {}) {
    bases.push_back({name, definition, 0});
    return *this;
  }
  TypesItem& time(NameHash name, uint32_t hours, const Definition& definition = {}) {
    bases.push_back({name, definition, hours});
    return *this;
  }
  /// What a linker knows of these archetypes.
  TraitsByName traits() const {
    TraitsByName out;
    for (const Base& b : bases) {
      out[b.name.value] = archetype_traits(definition_of(b.name, b.definition),
                                           b.hours != 0 ? ArchetypeForm::time : ArchetypeForm::base);
    }
    for (const InteriorItem& i : interiors) {
      out[i.name.value] = archetype_traits(definition_of(i.name, i.archetype), ArchetypeForm::interior);
    }
    return out;
  }

  TypesFile finish(const char* name) const {
    flatbuffers::FlatBufferBuilder b;
    std::vector<schema::ArchetypeDef> archetypes;
    std::vector<flatbuffers::Offset<schema::TimeArchetypeDef>> times;
    std::vector<flatbuffers::Offset<schema::MloArchetypeDef>> mlos;
    for (const Base& base : bases) {
      const auto owner = static_cast<uint32_t>(archetypes.size());
      archetypes.push_back(definition_of(base.name, base.definition));
      if (base.hours == 0) continue;
      times.push_back(schema::CreateTimeArchetypeDef(b, owner, static_cast<schema::TimeFlags>(base.hours)));
    }
    for (const InteriorItem& item : interiors) {
      const auto owner = static_cast<uint32_t>(archetypes.size());
      archetypes.push_back(definition_of(item.name, item.archetype));
      mlos.push_back(write(b, item, owner));
    }
    const auto effects = write_extensions(b, extensions);
    const auto archetype_vector = b.CreateVectorOfStructs(archetypes);
    const auto time_vector = b.CreateVector(times);
    const auto mlo_vector = b.CreateVector(mlos);
    schema::MapTypesBuilder types(b);
    types.add_archetypes(archetype_vector);
    types.add_time_archetypes(time_vector);
    types.add_mlo_archetypes(mlo_vector);
    types.add_archetype_extensions(effects);
    types.add_name(hash_name(name).value);
    schema::FinishMapTypesBuffer(b, types.Finish());
    return TypesFile({b.GetBufferPointer(), b.GetSize()}, hash_name(name));
  }

 private:
  static schema::Vec3 vec(const Vec3& v) { return {v.x, v.y, v.z}; }

  static flatbuffers::Offset<schema::MloArchetypeDef> write(flatbuffers::FlatBufferBuilder& b, const InteriorItem& item,
                                                            uint32_t owner) {
    std::vector<flatbuffers::Offset<schema::MloRoomDef>> rooms;
    for (const RoomItem& from : item.rooms) {
      const auto objects = b.CreateVector(from.objects);
      const schema::Vec3 low = vec(from.min), high = vec(from.max);
      schema::MloRoomDefBuilder room(b);
      room.add_bb_min(&low);
      room.add_bb_max(&high);
      room.add_flags(static_cast<schema::RoomFlags>(from.flags));
      room.add_exterior_visibility_depth(from.depth);
      room.add_attached_objects(objects);
      rooms.push_back(room.Finish());
    }
    std::vector<flatbuffers::Offset<schema::MloPortalDef>> portals;
    for (const PortalItem& from : item.portals) {
      std::vector<schema::Vec3> corners;
      for (const Vec3& corner : from.corners) corners.push_back(vec(corner));
      const auto corner_vector = b.CreateVectorOfStructs(corners);
      const auto objects = b.CreateVector(from.objects);
      schema::MloPortalDefBuilder portal(b);
      portal.add_room_from(from.from);
      portal.add_room_to(from.to);
      portal.add_flags(static_cast<schema::PortalFlags>(from.flags));
      portal.add_opacity(from.opacity);
      portal.add_mirror_priority(from.priority);
      portal.add_corners(corner_vector);
      portal.add_attached_objects(objects);
      portals.push_back(portal.Finish());
    }
    std::vector<flatbuffers::Offset<schema::MloEntitySet>> sets;
    for (const EntitySetItem& from : item.sets) {
      const auto locations = b.CreateVector(from.locations);
      const auto entities = b.CreateVectorOfStructs(stored(from.entities));
      const auto extensions = write_extensions(b, from.extensions);
      schema::MloEntitySetBuilder set(b);
      set.add_name(from.name.value);
      set.add_locations(locations);
      set.add_entities(entities);
      set.add_entity_extensions(extensions);
      sets.push_back(set.Finish());
    }
    const auto entities = b.CreateVectorOfStructs(stored(item.entities));
    const auto extensions = write_extensions(b, item.extensions);
    const auto room_vector = b.CreateVector(rooms);
    const auto portal_vector = b.CreateVector(portals);
    const auto set_vector = b.CreateVector(sets);
    schema::MloArchetypeDefBuilder mlo(b);
    mlo.add_owner(owner);
    mlo.add_entities(entities);
    mlo.add_entity_extensions(extensions);
    mlo.add_rooms(room_vector);
    mlo.add_portals(portal_vector);
    mlo.add_entity_sets(set_vector);
    return mlo.Finish();
  }
};

}  // namespace meridian::test
