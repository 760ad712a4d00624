// SPDX-License-Identifier: MIT
#pragma once
/// Type files for tests, made by the generated builders.
///
///   test::TypesMaker maker;
///   maker.base("lamp", {.lod = 60});
///   maker.door(0);                                     // of archetype 0
///   const test::TypesFile file = maker.finish("props");
///   EXPECT_TRUE(load_map_types(store, file.resource(), {.slot = 1}).ok());

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "meridian/resource/fingerprint.h"
#include "meridian/resource/resource.h"
#include "meridian/schemas/ityp_generated.h"

namespace meridian::test {

/// A sealed resource, opened like any other.
class TypesFile {
 public:
  explicit TypesFile(std::span<const uint8_t> payload, NameHash name) : name_(name) {
    const uint32_t kind = kind_of("ITYP");
    const auto data = std::as_bytes(payload);
    bytes_.resize(static_cast<size_t>(sealed_size(data.size(), 0)));
    seal_resource(bytes_, data, {}, kind, layout_fingerprint(find_builtin_schema(kind)->bfbs));
    const Result<Resource> opened = open_resource(bytes_, {.kind = kind});
    EXPECT_TRUE(opened.ok()) << opened.status().message << ' ' << opened.status().detail;
    if (opened.ok()) resource_ = opened.value();
  }
  const Resource& resource() const { return resource_; }
  const schema::MapTypes& types() const { return *resource_.root<schema::MapTypes>(); }
  NameHash name() const { return name_; }

 private:
  std::vector<std::byte> bytes_;  // malloc gives 16-byte alignment; moving a vector keeps its bytes where they are
  Resource resource_;
  NameHash name_;
};

/// What tests change of a definition.
struct Definition {
  float lod = 100;
  uint32_t flags = 0;
  schema::SpecialAttribute attribute = schema::SpecialAttribute::none;
  uint32_t textures = 0, clips = 0, dictionary = 0, physics = 0;
  schema::AssetType type = schema::AssetType::DRAWABLE;
  uint32_t asset = 0;
  schema::Vec3 bb_min{-1, -2, -3}, bb_max{4, 5, 6};
};

inline schema::ArchetypeDef definition_of(NameHash name, const Definition& d) {
  return {d.lod,       static_cast<schema::ArchetypeFlags>(d.flags),
          d.attribute, d.bb_min,
          d.bb_max,    schema::Vec3(1.5f, 1.5f, 1.5f),
          7,           30,
          name.value,  d.textures,
          d.clips,     d.dictionary,
          d.physics,   d.type,
          d.asset};
}

class TypesMaker {
 public:
  /// All return the index of the archetype.
  uint32_t base(NameHash name, const Definition& definition = {}) {
    archetypes_.push_back(definition_of(name, definition));
    return static_cast<uint32_t>(archetypes_.size() - 1);
  }
  uint32_t base(const char* name, const Definition& definition = {}) { return base(hash_name(name), definition); }
  uint32_t time(NameHash name, uint32_t hours, const Definition& definition = {}) {
    const uint32_t owner = base(name, definition);
    times_.push_back(schema::CreateTimeArchetypeDef(builder_, owner, static_cast<schema::TimeFlags>(hours)));
    return owner;
  }
  /// An interior with so many rooms.
  uint32_t interior(NameHash name, uint32_t rooms, const Definition& definition = {}) {
    const uint32_t owner = base(name, definition);
    std::vector<flatbuffers::Offset<schema::MloRoomDef>> list;
    for (uint32_t i = 0; i < rooms; ++i) {
      const auto text = builder_.CreateString("room " + std::to_string(i));
      schema::MloRoomDefBuilder room(builder_);
      room.add_name(text);
      list.push_back(room.Finish());
    }
    const auto vector = builder_.CreateVector(list);
    schema::MloArchetypeDefBuilder mlo(builder_);
    mlo.add_owner(owner);
    mlo.add_rooms(vector);
    interiors_.push_back(mlo.Finish());
    return owner;
  }
  /// Null: no name.
  void composite(const char* name, const char* start = "before", const char* end = "after", float lod = 80) {
    const auto text = name != nullptr ? builder_.CreateString(name) : flatbuffers::Offset<flatbuffers::String>();
    const auto before = builder_.CreateString(start), after = builder_.CreateString(end);
    const schema::Vec3 low(-9, -9, 0), high(9, 9, 20), centre(0, 0, 10);
    schema::CompositeEntityTypeBuilder made(builder_);
    if (name != nullptr) made.add_name(text);
    made.add_lod_dist(lod);
    made.add_special_attribute(schema::SpecialAttribute::clock);
    made.add_bb_min(&low);
    made.add_bb_max(&high);
    made.add_bs_centre(&centre);
    made.add_bs_radius(15);
    made.add_start_model(before);
    made.add_end_model(after);
    made.add_start_imap_file(71);
    made.add_end_imap_file(72);
    composites_.push_back(made.Finish());
  }
  /// Extensions come in the order of owners.
  void door(uint32_t owner, float limit = 1) {
    schema::DoorDefBuilder made(builder_);
    made.add_limit_angle(limit);
    const auto definition = made.Finish();
    effect(owner, schema::ExtensionDef::DoorDef, definition.Union());
  }
  void ladder(uint32_t owner) {
    schema::LadderDefBuilder made(builder_);
    const auto definition = made.Finish();
    effect(owner, schema::ExtensionDef::LadderDef, definition.Union());
  }
  void unknown(uint32_t owner, TypeHash type) {
    const auto definition = schema::CreateUnknownExtension(builder_, type.value);
    effect(owner, schema::ExtensionDef::UnknownExtension, definition.Union());
  }

  /// The maker is used up.
  TypesFile finish(const char* name) {
    const auto root = schema::CreateMapTypesDirect(builder_, nullptr, &archetypes_, &times_, &interiors_, &effects_,
                                                   hash_name(name).value, nullptr, &composites_);
    schema::FinishMapTypesBuffer(builder_, root);
    return TypesFile({builder_.GetBufferPointer(), builder_.GetSize()}, hash_name(name));
  }

 private:
  void effect(uint32_t owner, schema::ExtensionDef type, flatbuffers::Offset<void> definition) {
    schema::ExtensionBuilder made(builder_);
    made.add_owner(owner);
    made.add_definition_type(type);
    made.add_definition(definition);
    effects_.push_back(made.Finish());
  }
  flatbuffers::FlatBufferBuilder builder_;
  std::vector<schema::ArchetypeDef> archetypes_;
  std::vector<flatbuffers::Offset<schema::TimeArchetypeDef>> times_;
  std::vector<flatbuffers::Offset<schema::MloArchetypeDef>> interiors_;
  std::vector<flatbuffers::Offset<schema::Extension>> effects_;
  std::vector<flatbuffers::Offset<schema::CompositeEntityType>> composites_;
};

}  // namespace meridian::test
