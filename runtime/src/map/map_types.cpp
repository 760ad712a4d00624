// SPDX-License-Identifier: MIT
#include "meridian/map/map_types.h"

#include "map/extension_type.h"
#include "meridian/schemas/ityp_generated.h"
#include "resource/flat_vector.h"

namespace meridian {
namespace {

using detail::ByOwner;
using detail::size_of;

constexpr TypeHash kBase = hash_type("CBaseArchetypeDef");
constexpr TypeHash kTime = hash_type("CTimeArchetypeDef");
constexpr TypeHash kInterior = hash_type("CMloArchetypeDef");
constexpr TypeHash kComposite = hash_type("CCompositeEntityType");

/// Walks the archetypes of a file with what they have beyond ArchetypeDef.
class ArchetypeWalk {
 public:
  explicit ArchetypeWalk(const schema::MapTypes& types, uint32_t first = 0)
      : list_(types.archetypes()),
        times_(types.time_archetypes(), first),
        interiors_(types.mlo_archetypes(), first),
        at_(first) {}
  /// False after the last one.
  bool next() {
    if (at_ >= size_of(list_)) return false;
    source = {list_->Get(at_), times_.last(at_), interiors_.last(at_), nullptr};
    structure = source.interior != nullptr ? kInterior : source.time != nullptr ? kTime : kBase;
    index = at_++;
    return true;
  }
  ArchetypeSource source;
  TypeHash structure{};
  uint32_t index = 0;

 private:
  const flatbuffers::Vector<const schema::ArchetypeDef*>* list_;
  ByOwner<schema::TimeArchetypeDef> times_;
  ByOwner<schema::MloArchetypeDef> interiors_;
  uint32_t at_;
};

void add_effects(ArchetypeStore& store, Archetype* archetype, uint32_t owner, ByOwner<schema::Extension>& effects) {
  const EffectReader& reader = store.effect_reader();
  while (const schema::Extension* const definition = effects.next(owner)) {
    if (archetype == nullptr) continue;  // left out, and so are its extensions
    if (definition->definition_type() == schema::ExtensionDef::SpawnPointDef) archetype->set_has_spawn_points(true);
    Extension* const effect = store.add_effect(*archetype, detail::extension_structure(*definition));
    if (effect != nullptr && reader.read != nullptr) reader.read(reader.user, *effect, *archetype, *definition);
  }
}

NameHash composite_name(const schema::CompositeEntityType& composite) {
  const flatbuffers::String* const text = composite.name();
  return text != nullptr ? hash_name({text->c_str(), text->size()}) : NameHash{};
}

}  // namespace

Status begin_map_types(ArchetypeStore& store, const Resource& resource, const TypesPlacement& placement) {
  if (resource.kind() != kind_of("ITYP")) {
    return {StatusCode::wrong_kind, "the resource is no type file; detail = its kind", resource.kind(), placement.file};
  }
  const auto& types = *resource.root<schema::MapTypes>();

  KindCount kinds[] = {{kBase, 0}, {kTime, 0}, {kInterior, 0}, {kComposite, size_of(types.composite_entity_types())}};
  for (ArchetypeWalk walk(types); walk.next();) {
    for (KindCount& kind : kinds) kind.count += kind.structure == walk.structure ? 1u : 0u;
  }
  KindCount effects[ArchetypeStore::kMaxEffectSilos];
  const std::span<KindCount> silos(effects, store.effect_silo_count());
  for (uint32_t i = 0; i < silos.size(); ++i) silos[i].structure = store.effect_silo(i);
  for (uint32_t i = 0; i < size_of(types.archetype_extensions()) && !silos.empty(); ++i) {
    const TypeHash structure = detail::extension_structure(*types.archetype_extensions()->Get(i));
    for (KindCount& silo : silos) silo.count += silo.structure == structure ? 1u : 0u;
  }
  return store.open_types(placement, kinds, silos);
}

TypesProgress step_map_types(ArchetypeStore& store, const Resource& resource, ItypSlot slot, uint32_t from,
                             uint32_t max_archetypes) {
  const auto& types = *resource.root<schema::MapTypes>();
  const uint32_t archetypes = size_of(types.archetypes());
  const uint32_t total = archetypes + size_of(types.composite_entity_types());
  const uint32_t to = max_archetypes < total - from ? from + max_archetypes : total;
  ByOwner<schema::Extension> definitions(types.archetype_extensions(), from);
  for (ArchetypeWalk walk(types, from); from < to && from < archetypes && walk.next(); ++from) {
    Archetype* const archetype = store.create(slot, walk.structure, NameHash{walk.source.base->name()}, walk.source);
    add_effects(store, archetype, walk.index, definitions);
  }
  for (; from < to; ++from) {
    const schema::CompositeEntityType& composite = *types.composite_entity_types()->Get(from - archetypes);
    store.create(slot, kComposite, composite_name(composite), {.composite = &composite});
  }
  return {to, to == total};
}

Status load_map_types(ArchetypeStore& store, const Resource& resource, const TypesPlacement& placement) {
  if (const Status status = begin_map_types(store, resource, placement); !status.ok()) return status;
  (void)step_map_types(store, resource, placement.slot, 0, UINT32_MAX);
  return store.publish_types(placement.slot);
}

Status unload_map_types(ArchetypeStore& store, ItypSlot types) { return store.close_types(types); }

}  // namespace meridian
