// SPDX-License-Identifier: MIT
#pragma once
/// Rules about what compiled resources mean: links, distances, boxes, flags, interiors, lights. They read resources,
/// not XML, so that one set of rules serves the compilers, worldc and binary inputs.
///
///   LintWorld world;
///   world.add_types({...}); world.add_map({...});    // everything that rules may look at
///   world.link();
///   std::vector<LintFinding> findings = lint_unit(world, unit);
///
/// A finding names its place by a path into the source ("entities[3].parentIndex"); to_finding() makes it a byte offset
/// once somebody wants to see it.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "meridian/entity/archetype_traits.h"
#include "meridian/tools/compile.h"
#include "meridian/tools/diagnostics.h"

namespace meridian::schema {
struct MapData;
struct MapTypes;
struct PackFileMetaData;
struct GameConfigSet;
struct ArchetypeDef;
struct TimeArchetypeDef;
struct MloArchetypeDef;
}  // namespace meridian::schema

namespace meridian::tools {

class SourceMap;

/// The names of one resource: hash to text.
class NameTexts {
 public:
  NameTexts() = default;
  /// Views must outlive it. Need not be sorted.
  explicit NameTexts(std::vector<std::pair<uint32_t, std::string_view>> names);
  /// From the info section of a resource; empty if it holds no names.
  static NameTexts of_resource(std::span<const std::byte> info);

  /// Empty if unknown.
  std::string_view find(uint32_t hash) const;
  /// 'text', or the hash literal.
  std::string quoted(uint32_t hash) const;
  std::span<const std::pair<uint32_t, std::string_view>> all() const { return names_; }

 private:
  std::vector<std::pair<uint32_t, std::string_view>> names_;  // sorted by hash
};

/// One resource that rules look at. The payload must outlive the world.
struct LintUnit {
  std::string path;   ///< of the source, as messages show it
  std::string stem;   ///< what others call it: the file's name without suffixes
  uint32_t name = 0;  ///< hash of the stem
  int layer = 0;      ///< later layers override earlier ones
  const schema::MapData* map = nullptr;
  const schema::MapTypes* types = nullptr;
  const schema::PackFileMetaData* manifest = nullptr;
  const schema::GameConfigSet* config = nullptr;
  NameTexts names;
  bool is_context = false;                ///< looked at, but not reported on (`--types`)
  bool is_shadowed = false;               ///< a later layer has one of the same name
  const LintUnit* shadowed_by = nullptr;  ///< that one
};

/// An archetype where it is defined. A composite entity type is one too: `def` then holds what both have.
struct ArchetypeRef {
  const LintUnit* unit = nullptr;
  uint32_t index = 0;  ///< in the type file's archetypes or composite entity types
  bool is_composite = false;
  const schema::ArchetypeDef* def = nullptr;
  const schema::TimeArchetypeDef* time = nullptr;
  const schema::MloArchetypeDef* mlo = nullptr;  ///< null also where an index tells of an interior and no more
  bool is_interior = false;

  ArchetypeForm form() const {
    return is_composite      ? ArchetypeForm::composite
           : mlo != nullptr  ? ArchetypeForm::interior
           : time != nullptr ? ArchetypeForm::time
                             : ArchetypeForm::base;
  }
  /// Where it stands in its source.
  std::string path() const {
    return (is_composite ? "compositeEntityTypes[" : "archetypes[") + std::to_string(index) + "]";
  }
};

/// Something found, with places as paths.
struct LintFinding {
  const Rule* rule = nullptr;
  Severity severity = Severity::error;
  std::string path;    ///< see SourceMap::find
  std::string object;  ///< "entity 3"
  std::string message;
  struct Related {
    const LintUnit* unit = nullptr;
    std::string path;
    std::string message;
  };
  std::vector<Related> related;
  /// The right value where there is one: what to write at which path.
  struct Fix {
    std::string path;
    std::string text;
  };
  std::vector<Fix> fixes;
};

struct LintOptions {
  bool types_are_known = false;  ///< all type files are in the world: a missing archetype is REF001
  bool maps_are_known = false;   ///< all maps are in the world: parents and child counts can be judged
  bool allow_missing_archetypes = false;
  bool lod_size = false;  ///< LOD007 is wanted
  /// Names of type files that are never unloaded, and whether maps get computed boxes: for CFG001.
  std::unordered_set<uint32_t> permanent_types = {};
  Repair extents = Repair::keep;
};

/// Everything that rules may look at, and what links it.
/// Threads: building is main; afterwards immutable.
class LintWorld {
 public:
  explicit LintWorld(LintOptions options = {}) : options_(std::move(options)) {}

  /// Archetypes that are not in this world are looked for in `types`, which is linked and outlives it: many small
  /// worlds of one map each share one table of types.
  void use_types_of(const LintWorld& types) { shared_ = &types; }
  /// The unit's address stays.
  LintUnit& add(LintUnit unit);
  /// Archetypes of which no type file is at hand, only what a world index says of them; `def`s must outlive the world.
  /// They count where no type file of this world defines the name. `type_files`: from how many files they are.
  void add_indexed(std::vector<ArchetypeRef> archetypes, uint32_t type_files);
  /// Makes the tables. Call once, after the last add().
  void link();

  const LintOptions& options() const { return options_; }
  std::span<const std::unique_ptr<LintUnit>> units() const { return units_; }

  const ArchetypeRef* find_archetype(uint32_t name) const;
  /// The name of an archetype that looks like this text, or empty.
  std::string_view nearest_archetype(std::string_view text) const;
  uint32_t type_file_count() const { return type_files_ + (shared_ == nullptr ? 0 : shared_->type_files_); }
  /// The map that is in force under this name, or null.
  const LintUnit* find_map(uint32_t name) const;
  const LintUnit* find_types(uint32_t name) const;
  /// The map that holds the LOD parents of `map`, or null.
  const LintUnit* parent_of(const LintUnit& map) const;
  /// Maps that name this one as parent, in order of their names.
  std::span<const LintUnit* const> children_of(const LintUnit& map) const;
  /// The maps of this one's name, one a layer, the lowest layer first; empty where there is no other.
  std::span<const LintUnit* const> versions_of(const LintUnit& map) const;
  /// Children that entities really have, counted over all maps; empty for maps without any.
  std::span<const uint32_t> child_counts(const LintUnit& map) const;

  /// Units that share a name within one layer, and archetypes defined more than once: filled by link().
  struct Clash {
    const LintUnit* unit = nullptr;
    const LintUnit* first = nullptr;
    uint32_t index = 0, first_index = 0;  ///< of the archetype
    bool archetype = false, identical = false;
  };
  std::span<const Clash> clashes() const { return clashes_; }

 private:
  /// Of files of one name, the latest layer's; two in one layer clash.
  void put_in_force(std::vector<LintUnit*>& files, std::unordered_map<uint32_t, const LintUnit*>& by_name);
  void link_configs();
  void link_archetypes();
  void add_composites(const LintUnit& file);
  void link_maps();
  void count_children();

  LintOptions options_;
  const LintWorld* shared_ = nullptr;
  std::vector<std::unique_ptr<LintUnit>> units_;
  std::unordered_map<uint32_t, ArchetypeRef> archetypes_;
  std::vector<ArchetypeRef> indexed_;
  std::vector<std::shared_ptr<const schema::ArchetypeDef>> composites_;
  std::unordered_map<uint32_t, const LintUnit*> maps_, types_;
  std::unordered_map<uint32_t, std::vector<const LintUnit*>> versions_;  ///< by name, of maps in several layers
  std::unordered_map<const LintUnit*, std::vector<const LintUnit*>> children_;
  std::unordered_map<const LintUnit*, std::vector<uint32_t>> child_counts_;
  std::vector<Clash> clashes_;
  uint32_t type_files_ = 0, indexed_type_files_ = 0;
};

/// All rules that concern one unit. Threads: reentrant on a linked world.
std::vector<LintFinding> lint_unit(const LintWorld& world, const LintUnit& unit);

/// The other files that the findings of one unit point into: opened when first asked for, and walked once for all of
/// them. Threads: main.
class RelatedSources {
 public:
  /// `open` may give null: places there have no line then.
  using Open = std::function<std::shared_ptr<const SourceText>(const LintUnit& unit)>;
  explicit RelatedSources(Open open);
  ~RelatedSources();
  RelatedSources(const RelatedSources&) = delete;
  RelatedSources& operator=(const RelatedSources&) = delete;

  struct File {
    std::shared_ptr<const SourceText> text;  ///< null: not there
    std::unique_ptr<SourceMap> places;
  };
  File& of(const LintUnit& unit);

 private:
  Open open_;
  std::unordered_map<const LintUnit*, File> files_;
};

/// Turns paths into places, and fixes into edits. `places` is of the finding's own `source`; `others` null: related
/// places in other files have no line.
Finding to_finding(LintFinding finding, const LintUnit& unit, std::string_view source, SourceMap& places,
                   RelatedSources* others);

}  // namespace meridian::tools
