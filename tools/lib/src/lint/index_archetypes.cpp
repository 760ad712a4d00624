// SPDX-License-Identifier: MIT
#include "lint/index_archetypes.h"

#include "meridian/tools/inputs.h"

namespace meridian::tools {
namespace {

schema::Vec3 stored(const Vec3& v) { return {v.x, v.y, v.z}; }

schema::ArchetypeDef definition_of(const ArchetypeRow& row) {
  return {row.lod_distance,
          static_cast<schema::ArchetypeFlags>(row.flags),
          schema::SpecialAttribute::none,
          stored(row.box.min),
          stored(row.box.max),
          stored(row.sphere_centre),
          row.sphere_radius,
          0.0f,
          row.name.value,
          0,
          0,
          0,
          0,
          schema::AssetType::UNINITIALIZED,
          0};
}

}  // namespace

IndexArchetypes::IndexArchetypes(std::unique_ptr<const LoadedResource> resource)
    : resource_(std::move(resource)), index_(resource_->resource) {
  defs_.reserve(index_.archetypes().size());
  for (const ArchetypeRow& row : index_.archetypes()) defs_.push_back(definition_of(row));
}

void IndexArchetypes::add_to(LintWorld& world) const {
  LintUnit unit;
  unit.path = resource_->path;
  unit.stem = resource_stem(resource_->path);
  unit.names = NameTexts({resource_->names.begin(), resource_->names.end()});
  unit.is_context = true;
  const LintUnit& file = world.add(std::move(unit));
  std::vector<ArchetypeRef> refs;
  refs.reserve(defs_.size());
  for (uint32_t i = 0; i < defs_.size(); ++i) {
    ArchetypeRef& ref = refs.emplace_back();
    ref.unit = &file;
    ref.index = i;
    ref.def = &defs_[i];
    ref.is_composite = index_.archetypes()[i].kind == ArchetypeKind::composite;
    ref.is_interior = index_.archetypes()[i].kind == ArchetypeKind::mlo;
  }
  world.add_indexed(std::move(refs), static_cast<uint32_t>(index_.types().size()));
}

}  // namespace meridian::tools
