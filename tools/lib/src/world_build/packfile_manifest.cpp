// SPDX-License-Identifier: MIT
#include "meridian/tools/packfile_manifest.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lint/dependencies.h"
#include "meridian/base/name_hash.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "meridian/schemas/manifest_generated.h"
#include "meridian/tools/file_io.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

using Texts = std::vector<std::string>;  // sorted, without repeats, unless said otherwise

/// Sorted by folded text: names are the same in any case, and lists must not depend on how they are hashed.
void sort_texts(Texts& texts) {
  std::sort(texts.begin(), texts.end(), [](const std::string& a, const std::string& b) {
    const std::string x = fold(a), y = fold(b);
    return x != y ? x < y : a < b;
  });
  texts.erase(std::unique(texts.begin(), texts.end(),
                          [](const std::string& a, const std::string& b) { return fold(a) == fold(b); }),
              texts.end());
}

/// What hashes stand for, over all units: files by their stems, all else by its first spelling.
class AllNames {
 public:
  explicit AllNames(const LintWorld& world) {
    for (const auto& unit : world.units())
      if (unit->map != nullptr || unit->types != nullptr) texts_.try_emplace(unit->name, unit->stem);
    for (const auto& unit : world.units())
      for (const auto& [hash, text] : unit->names.all())
        if (!text.empty()) texts_.try_emplace(hash, text);
  }
  std::string operator()(uint32_t hash) const {
    const auto found = texts_.find(hash);
    if (found != texts_.end()) return std::string(found->second);
    std::string literal;
    append_hash_literal(literal, hash);
    return literal;
  }
  Texts texts(const flatbuffers::Vector<uint32_t>* hashes) const {
    Texts out;
    if (hashes != nullptr)
      for (const uint32_t hash : *hashes) out.push_back((*this)(hash));
    return out;
  }

 private:
  std::unordered_map<uint32_t, std::string_view> texts_;
};

/// The sources' manifests, the latest layer first.
std::vector<const schema::PackFileMetaData*> manifests_of(const LintWorld& world) {
  std::vector<const LintUnit*> units;
  for (const auto& unit : world.units())
    if (unit->manifest != nullptr) units.push_back(unit.get());
  std::stable_sort(units.begin(), units.end(),
                   [](const LintUnit* a, const LintUnit* b) { return a->layer > b->layer; });
  std::vector<const schema::PackFileMetaData*> out;
  out.reserve(units.size());
  for (const LintUnit* unit : units) out.push_back(unit->manifest);
  return out;
}

struct Group {
  std::string name;
  Texts bounds;
  bool has_hours = false, has_weathers = false;
  uint32_t hours = 0;
  Texts weathers;  // in the order of their source
};

struct Dependency {
  std::string name;
  bool is_interior = false;
  Texts files;
};

class ManifestMaker {
 public:
  ManifestMaker(const LintWorld& world, const WorldManifest* manifest)
      : world_(world), names_(world), manifests_(manifests_of(world)) {
    collect_groups(manifest);
    collect_dependencies();
    collect_bindings();
    collect_interiors();
  }

  std::string text() {
    out_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<CPackFileMetaData>\n";
    array("MapDataGroups", groups_, [&](const auto& entry) {
      const Group& g = entry.second;
      line(3, "Name", g.name);
      list("Bounds", g.bounds);
      std::string flags = g.has_hours ? "TIME_DEPENDENT" : "";
      if (g.has_weathers) flags += flags.empty() ? "WEATHER_DEPENDENT" : ", WEATHER_DEPENDENT";
      line(3, "Flags", flags);
      list("WeatherTypes", g.weathers);
      out_ += "   <HoursOnOff value=\"" + std::to_string(g.hours) + "\" />\n";
    });
    array("HDTxdBindingArray", bindings_, [&](const auto& entry) {
      line(3, "assetType", kAssetTypes[entry.first.second]);
      line(3, "targetAsset", entry.second.first);
      line(3, "HDTxd", entry.second.second);
    });
    out_ += " <imapDependencies />\n";
    dependencies("imapDependencies_2", "imapName", maps_);
    dependencies("itypDependencies_2", "itypName", types_);
    array("Interiors", interiors_, [&](const auto& entry) {
      line(3, "Name", entry.second.first);
      list("Bounds", entry.second.second);
    });
    return out_ += "</CPackFileMetaData>\n";
  }

 private:
  static constexpr std::string_view kAssetTypes[] = {"AT_TXD", "AT_DRB", "AT_DWD", "AT_FRG"};

  void collect_groups(const WorldManifest* manifest) {
    for (const schema::PackFileMetaData* m : manifests_) {
      if (m->map_data_groups() == nullptr) continue;
      for (const schema::MapDataGroup* from : *m->map_data_groups()) {
        const std::string name = names_(from->name());
        const auto [it, is_new] = groups_.try_emplace(fold(name));
        Group& group = it->second;
        Texts bounds = names_.texts(from->bounds());
        group.bounds.insert(group.bounds.end(), bounds.begin(), bounds.end());
        sort_texts(group.bounds);
        if (!is_new) continue;
        group.name = name;
        const auto flags = static_cast<uint32_t>(from->flags());
        group.has_hours = (flags & static_cast<uint32_t>(schema::MapDataGroupFlags::TIME_DEPENDENT)) != 0;
        group.has_weathers = (flags & static_cast<uint32_t>(schema::MapDataGroupFlags::WEATHER_DEPENDENT)) != 0;
        group.hours = static_cast<uint32_t>(from->hours_on_off());
        group.weathers = names_.texts(from->weather_types());
      }
    }
    if (manifest == nullptr) return;
    for (const WorldGroup& from : manifest->groups)
      for (const PlacedName& map : from.maps) {
        Group& group = groups_[fold(map.text)];
        group.name = map.text;
        group.has_hours = from.hours.has_value();
        group.hours = from.hours.value_or(0);
        group.has_weathers = !from.weathers.empty();
        group.weathers = from.weathers;
      }
  }

  void collect_dependencies() {
    for (const auto& unit : world_.units()) {
      const bool is_map = unit->map != nullptr && world_.find_map(unit->name) == unit.get();
      const bool is_types = unit->types != nullptr && world_.find_types(unit->name) == unit.get();
      if (!is_map && !is_types) continue;
      Dependency dependency{unit->stem, is_types || places_interiors(*unit), {}};
      for (const auto& [types, user] : needed_types(world_, *unit)) dependency.files.push_back(types->stem);
      if (is_map && places_strangers(*unit)) add_listed_strangers(*unit, dependency.files);
      if (dependency.files.empty()) continue;
      sort_texts(dependency.files);
      (is_map ? maps_ : types_).emplace(fold(unit->stem), std::move(dependency));
    }
  }

  bool places_interiors(const LintUnit& unit) const {
    const schema::MapData& map = *unit.map;
    if (map.mlo_instances() != nullptr && map.mlo_instances()->size() > 0) return true;
    if (map.entities() == nullptr) return false;
    return std::any_of(map.entities()->begin(), map.entities()->end(), [&](const schema::EntityDef* e) {
      const ArchetypeRef* const ref = world_.find_archetype(e->archetype_name());
      return ref != nullptr && ref->mlo != nullptr;
    });
  }

  /// Whether the map uses an archetype that no type file of this world defines.
  bool places_strangers(const LintUnit& unit) const {
    const schema::MapData& map = *unit.map;
    const auto is_strange = [&](uint32_t name) { return name != 0 && world_.find_archetype(name) == nullptr; };
    if (map.entities() != nullptr)
      for (const schema::EntityDef* e : *map.entities())
        if (is_strange(e->archetype_name())) return true;
    const auto* const grass = map.instanced_data() == nullptr ? nullptr : map.instanced_data()->grass_instance_list();
    if (grass != nullptr)
      for (const auto* batch : *grass)
        if (is_strange(batch->archetype_name())) return true;
    return false;
  }

  void add_listed_strangers(const LintUnit& unit, Texts& out) const {
    const auto add = [&](uint32_t types) {
      if (world_.find_types(types) == nullptr) out.push_back(names_(types));
    };
    for (const schema::PackFileMetaData* m : manifests_) {
      if (m->imap_dependencies() != nullptr)
        for (const schema::ImapDependency* d : *m->imap_dependencies())
          if (d->imap_name() == unit.name) add(d->ityp_name());
      if (m->imap_dependencies_2() != nullptr)
        for (const schema::ImapDependencies* d : *m->imap_dependencies_2())
          if (d->imap_name() == unit.name && d->ityp_dep_array() != nullptr)
            for (const uint32_t types : *d->ityp_dep_array()) add(types);
    }
  }

  void collect_bindings() {
    for (const schema::PackFileMetaData* m : manifests_) {
      if (m->hd_txd_bindings() == nullptr) continue;
      for (const schema::HdTxdAssetBinding* b : *m->hd_txd_bindings()) {
        const std::string target = b->target_asset() == nullptr ? "" : b->target_asset()->str();
        const std::string hd = b->hd_txd() == nullptr ? "" : b->hd_txd()->str();
        bindings_.try_emplace({fold(target), static_cast<uint32_t>(b->asset_type())}, target, hd);
      }
    }
  }

  void collect_interiors() {
    for (const schema::PackFileMetaData* m : manifests_) {
      if (m->interiors() == nullptr) continue;
      for (const schema::InteriorBoundsFiles* from : *m->interiors()) {
        const std::string name = names_(from->name());
        Texts& bounds = interiors_.try_emplace(fold(name), name, Texts()).first->second.second;
        const Texts more = names_.texts(from->bounds());
        bounds.insert(bounds.end(), more.begin(), more.end());
        sort_texts(bounds);
      }
    }
  }

  void dependencies(std::string_view element, std::string_view name, const std::map<std::string, Dependency>& from) {
    array(element, from, [&](const auto& entry) {
      line(3, name, entry.second.name);
      line(3, "manifestFlags", entry.second.is_interior ? "INTERIOR_DATA" : "");
      list("itypDepArray", entry.second.files);
    });
  }

  template <class Items, class Function>
  void array(std::string_view element, const Items& items, Function&& write) {
    out_.append(" <").append(element);
    if (items.empty()) {
      out_ += " />\n";
      return;
    }
    out_ += ">\n";
    for (const auto& item : items) {
      out_ += "  <Item>\n";
      write(item);
      out_ += "  </Item>\n";
    }
    out_.append(" </").append(element).append(">\n");
  }

  void list(std::string_view element, const Texts& texts) {
    if (texts.empty()) return line(3, element, "");
    out_.append("   <").append(element).append(">\n");
    for (const std::string& text : texts) line(4, "Item", text);
    out_.append("   </").append(element).append(">\n");
  }

  void line(size_t level, std::string_view element, std::string_view text) {
    out_.append(level, ' ').append("<").append(element);
    if (text.empty()) {
      out_ += " />\n";
      return;
    }
    out_ += '>';
    append_escaped(out_, text, false);
    out_.append("</").append(element).append(">\n");
  }

  const LintWorld& world_;
  AllNames names_;
  std::vector<const schema::PackFileMetaData*> manifests_;
  // By folded name, which is the order of the file.
  std::map<std::string, Group> groups_;
  std::map<std::string, Dependency> maps_, types_;
  std::map<std::pair<std::string, uint32_t>, std::pair<std::string, std::string>> bindings_;
  std::map<std::string, std::pair<std::string, Texts>> interiors_;
  std::string out_;
};

}  // namespace

std::string packfile_manifest_text(const LintWorld& world, const WorldManifest* manifest) {
  return ManifestMaker(world, manifest).text();
}

void write_packfile_manifest(WorldBuildOptions options, const WorldManifest* manifest, const std::string& path,
                             ToolIo& io, Report& report) {
  std::string text;
  options.output.clear();
  options.inspect = [&, also = options.inspect](const LintWorld& world) {
    text = packfile_manifest_text(world, manifest);
    return also ? also(world) : std::vector<Diagnostic>();
  };
  // What a manifest lacks is what this one is to have.
  options.policy.configure(rules::manifest_dependency, std::nullopt);
  (void)build_world(options, io, report);
  if (report.exit_code() != kExitDone) return;
  write_text(path, text, report);
}

}  // namespace meridian::tools
