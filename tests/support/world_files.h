// SPDX-License-Identifier: MIT
#pragma once
/// A compiled world, loaded whole: every map, type file and manifest below a folder, found by name.

#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "meridian/base/name_hash.h"
#include "meridian/schemas/gameconfig_generated.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "meridian/schemas/manifest_generated.h"
#include "meridian/tools/resource_view.h"

namespace meridian::test {

/// Where an archetype is defined.
struct DefinedArchetype {
  const schema::MapTypes* file = nullptr;
  uint32_t index = 0;
  const schema::ArchetypeDef& def() const { return *file->archetypes()->Get(index); }
  const schema::MloArchetypeDef* interior() const {
    if (file->mlo_archetypes() != nullptr)
      for (const schema::MloArchetypeDef* m : *file->mlo_archetypes())
        if (m->owner() == index) return m;
    return nullptr;
  }
};

struct WorldFiles {
  std::vector<std::unique_ptr<tools::LoadedResource>> files;
  std::map<uint32_t, const schema::MapData*> maps;       ///< by name
  std::map<uint32_t, const schema::MapTypes*> types;     ///< by name
  std::multimap<uint32_t, DefinedArchetype> archetypes;  ///< by name
  std::vector<const schema::PackFileMetaData*> manifests;
  const schema::GameConfigSet* config = nullptr;
  std::string index;  ///< path of the world index

  explicit WorldFiles(const std::string& folder) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) add(entry.path().string());
  }

  std::string name(uint32_t hash) const {
    for (const auto& file : files)
      if (const auto it = file->names.find(hash); it != file->names.end()) return std::string(it->second);
    return "?";
  }
  const DefinedArchetype& archetype(uint32_t hash) const {
    const auto it = archetypes.find(hash);
    if (it == archetypes.end()) throw std::runtime_error("no archetype " + name(hash));
    return it->second;
  }

 private:
  void add(const std::string& path) {
    auto file = std::make_unique<tools::LoadedResource>();
    std::string error;
    int code = 0;
    if (!tools::load_resource(path, {}, *file, error, code)) throw std::runtime_error(path + ": " + error);
    const uint32_t kind = file->resource.kind();
    if (kind == kind_of("IMAP")) {
      const auto* map = file->resource.root<schema::MapData>();
      if (!maps.emplace(map->name(), map).second) throw std::runtime_error(path + ": second map of this name");
    } else if (kind == kind_of("ITYP")) {
      const auto* file_types = file->resource.root<schema::MapTypes>();
      if (!types.emplace(file_types->name(), file_types).second)
        throw std::runtime_error(path + ": second type file of this name");
      for (uint32_t i = 0; i < file_types->archetypes()->size(); ++i)
        archetypes.emplace(file_types->archetypes()->Get(i)->name(), DefinedArchetype{file_types, i});
    } else if (kind == kind_of("YMFM")) {
      manifests.push_back(file->resource.root<schema::PackFileMetaData>());
    } else if (kind == kind_of("WIDX")) {
      index = path;
    } else {
      config = file->resource.root<schema::GameConfigSet>();
    }
    files.push_back(std::move(file));
  }
};

}  // namespace meridian::test
