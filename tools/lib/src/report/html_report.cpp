// SPDX-License-Identifier: MIT
#include "meridian/tools/html_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "diagnostics_render.h"
#include "forecast/forecast_words.h"
#include "grouped_number.h"
#include "lint/entity_links.h"
#include "lint/lint_context.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "report/html_text.h"
#include "report/map_costs.h"

namespace meridian::tools {
namespace {

constexpr size_t kShownRows = 25, kShownFindings = 200;
constexpr uint32_t kGridSide = 96;

std::string kilometres(double square_metres) { return shown(square_metres / 1e6) + " km²"; }

class Page {
 public:
  Page(const CheckedWorld& checked, ForecastOptions options)
      : checked_(checked), world_(checked.world), costs_(map_costs(checked.world)) {
    options.grid_side = kGridSide;
    forecast_ = forecast_world(world_, options);
    for (MapCost& cost : costs_)
      if (checked.resource_bytes) cost.bytes = checked.resource_bytes(*cost.unit);
  }

  std::string make() {
    body_ = "<h1>World report</h1>\n";
    counts();
    findings();
    pools();
    ground_plan();
    maps_by_cost();
    streaming_boxes();
    lod_levels();
    map_trees();
    type_files();
    return html_page("World report", body_);
  }

 private:
  void section(std::string_view title, std::string_view what) {
    body_ += "<h2>" + escape_html(title) + "</h2>\n<p>" + escape_html(what) + "</p>\n";
  }

  void counts() {
    uint64_t interiors = 0, bytes = 0;
    for (const MapCost& cost : costs_) {
      const auto* const instances = cost.unit->map->mlo_instances();
      interiors += instances == nullptr ? 0 : instances->size();
    }
    for (const auto& unit : world_.units())
      if (checked_.resource_bytes && !unit->is_shadowed) bytes += checked_.resource_bytes(*unit);
    const WorldBuildTotals& t = checked_.totals;
    const std::pair<const char*, std::string> all[] = {{"maps", grouped(t.maps)},
                                                       {"type files", grouped(t.types)},
                                                       {"entities", grouped(t.entities)},
                                                       {"archetypes", grouped(t.archetypes)},
                                                       {"placed interiors", grouped(interiors)},
                                                       {"sources", bytes_text(t.source_bytes)},
                                                       {"resources", bytes_text(bytes)}};
    body_ += "<dl>\n";
    for (const auto& [name, value] : all)
      body_ += "<div><dt>" + escape_html(name) + "</dt><dd>" + value + "</dd></div>\n";
    body_ += "</dl>\n";
  }

  void findings() {
    section("Findings", "What the rules say, most frequent first; the list below has the first places.");
    struct Group {
      const Diagnostic* first = nullptr;
      uint64_t count = 0;
    };
    std::map<std::pair<std::string_view, Severity>, Group> groups;
    for (const Diagnostic& d : checked_.diagnostics) {
      Group& group = groups[{d.rule->code, d.severity}];
      if (group.count++ == 0) group.first = &d;
    }
    std::vector<std::pair<std::pair<std::string_view, Severity>, Group>> sorted(groups.begin(), groups.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      const auto key = [](const auto& g) { return std::pair(-static_cast<int>(g.first.second), ~g.second.count); };
      return key(a) < key(b);
    });
    HtmlTable by_rule({"severity", "rule", "what it says", "#times"});
    for (const auto& [key, group] : sorted)
      by_rule.row(
          {std::string(severity_word(key.second)), std::string(key.first) + " " + std::string(group.first->rule->name),
           std::string(group.first->rule->summary), grouped(group.count)},
          severity_word(key.second));
    body_ += by_rule.text();
    if (by_rule.empty()) return;
    HtmlTable list({"severity", "where", "rule", "message"});
    size_t shown_count = 0;
    for (const Severity wanted : {Severity::error, Severity::warning, Severity::note})
      for (const Diagnostic& d : checked_.diagnostics) {
        if (d.severity != wanted || shown_count == kShownFindings) continue;
        ++shown_count;
        const std::string where =
            d.line == 0 ? d.file : d.file + ":" + std::to_string(d.line) + ":" + std::to_string(d.column);
        list.row({std::string(severity_word(d.severity)), where, std::string(d.rule->code), d.message},
                 severity_word(d.severity));
      }
    body_ += list.text();
    if (checked_.diagnostics.size() > shown_count)
      body_ += "<p>" + grouped(checked_.diagnostics.size() - shown_count) + " more are not shown.</p>\n";
  }

  void pools() {
    section("Pools",
            "What is needed at once where most is needed, each pool at its own worst place, against the game "
            "configurations of the world.");
    HtmlTable table({"pool", "#most", "#of", "near", "most of it from"});
    for (const ForecastRow& row : forecast_.rows) {
      std::string users;
      for (const ForecastUser& user : row.heaviest)
        users += (users.empty() ? "" : ", ") + user.unit->stem + " " + amount_text(row, user.amount);
      table.row({std::string(row.name), most_text(row), limit_text(row), place_text(row), users},
                row.overflows() ? "error" : "");
    }
    body_ += table.text();
  }

  /// Entities that are needed at once, as a picture from above: north is up.
  void ground_plan() {
    const ForecastGrid& grid = forecast_.grid;
    if (grid.entities.empty()) return;
    const uint64_t most = *std::max_element(grid.entities.begin(), grid.entities.end());
    char text[256];
    body_ += "<figure>\n<svg viewBox=\"0 0 " + std::to_string(grid.columns) + " " + std::to_string(grid.rows) +
             "\" role=\"img\" aria-label=\"entities needed at once\">\n<g fill=\"#d33\">\n";
    for (uint32_t r = 0; r < grid.rows; ++r)
      for (uint32_t c = 0; c < grid.columns;) {
        const auto level = [&](uint32_t column) {
          const uint64_t n = grid.entities[size_t{r} * grid.columns + column];
          return n == 0 || most == 0
                     ? 0
                     : std::max(
                           1, static_cast<int>(std::lround(20.0 * static_cast<double>(n) / static_cast<double>(most))));
        };
        uint32_t end = c + 1;  // runs of one colour are one rectangle
        while (end < grid.columns && level(end) == level(c)) ++end;
        if (level(c) != 0) {
          std::snprintf(text, sizeof text,
                        "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"1\" fill-opacity=\"%.2f\"/>\n", c,
                        grid.rows - 1 - r, end - c, level(c) / 20.0);
          body_ += text;
        }
        c = end;
      }
    body_ += "</g>\n<g fill=\"none\" stroke=\"currentColor\" stroke-width=\"0.4\">\n";
    for (const ForecastRow& row : forecast_.rows) {
      if (row.is_everywhere) continue;
      const double x = (row.place.x - grid.min_x) / grid.cell, y = (row.place.y - grid.min_y) / grid.cell;
      std::snprintf(text, sizeof text, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"1.2\"><title>", x,
                    static_cast<double>(grid.rows) - y);
      body_ += text + escape_html(std::string(row.name) + ": " + amount_text(row, row.most)) + "</title></circle>\n";
    }
    body_ += "</g>\n</svg>\n<figcaption>Entities needed at once, at most " + grouped(most) + "; one square is " +
             shown(std::round(grid.cell)) + " m, south-west corner (" + shown(std::round(grid.min_x)) + ", " +
             shown(std::round(grid.min_y)) + "). Circles: where each pool needs most.</figcaption>\n</figure>\n";
  }

  template <class Key>
  std::vector<const MapCost*> top(const Key& key) const {
    std::vector<const MapCost*> sorted;
    for (const MapCost& cost : costs_)
      if (key(cost) > 0) sorted.push_back(&cost);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const MapCost* a, const MapCost* b) { return key(*a) > key(*b); });
    if (sorted.size() > kShownRows) sorted.resize(kShownRows);
    return sorted;
  }

  void maps_by_cost() {
    section("Heaviest maps", "By what they are compiled to.");
    HtmlTable table({"map", "#bytes", "#entities", "#streaming box", "source"});
    for (const MapCost* cost : top([](const MapCost& c) { return c.bytes; }))
      table.row({cost->unit->stem, grouped(cost->bytes), grouped(cost->entities), kilometres(cost->streamed_area),
                 cost->unit->path});
    body_ += table.text();
  }

  void streaming_boxes() {
    section("Streaming boxes",
            "Maps whose box would shrink most without one part: a single far-drawn thing keeps all of the map loaded.");
    HtmlTable table({"map", "#without it smaller by", "#streaming box", "part"});
    for (const MapCost* cost : top([](const MapCost& c) { return c.area_saved; }))
      table.row({cost->unit->stem, kilometres(cost->area_saved), kilometres(cost->streamed_area), cost->widest_part});
    body_ += table.text();
  }

  void lod_levels() {
    section("LOD levels", "Entities by level; 'roots' have no parent.");
    struct Level {
      uint64_t entities = 0, roots = 0, linked = 0;
      double nearest = 0, farthest = 0;
    };
    std::map<uint32_t, Level> levels;
    for (const MapCost& cost : costs_) {
      if (cost.entities == 0) continue;
      for (const schema::EntityDef* e : *cost.unit->map->entities()) {
        Level& level = levels[static_cast<uint32_t>(e->lod_level())];
        const double distance = static_cast<double>(own_lod_distance(world_, *e));
        level.nearest = level.entities == 0 ? distance : std::min(level.nearest, distance);
        level.farthest = std::max(level.farthest, distance);
        ++level.entities;
        ++(e->parent_index() < 0 ? level.roots : level.linked);
      }
    }
    HtmlTable table({"level", "#entities", "#with a parent", "#roots", "#drawn to"});
    for (const auto& [number, level] : levels) {
      const char* const name = schema::EnumNameLodLevel(static_cast<schema::LodLevel>(number));
      table.row({*name == '\0' ? std::to_string(number) : std::string(name), grouped(level.entities),
                 grouped(level.linked), grouped(level.roots),
                 shown(level.nearest) + " to " + shown(level.farthest) + " m"});
    }
    body_ += table.text();
  }

  void map_trees() {
    section("LOD trees", "Maps without a parent, with all the maps below them.");
    struct Tree {
      const LintUnit* root = nullptr;
      uint64_t maps = 0, entities = 0, depth = 0;
    };
    std::vector<Tree> trees;
    for (const MapCost& cost : costs_) {
      if (world_.parent_of(*cost.unit) != nullptr || world_.children_of(*cost.unit).empty()) continue;
      Tree& tree = trees.emplace_back();
      tree.root = cost.unit;
      std::set<const LintUnit*> seen;  // maps may name each other in circles
      std::vector<std::pair<const LintUnit*, uint64_t>> open{{cost.unit, 1}};
      while (!open.empty()) {
        const auto [unit, depth] = open.back();
        open.pop_back();
        if (!seen.insert(unit).second) continue;
        ++tree.maps;
        tree.depth = std::max(tree.depth, depth);
        tree.entities += unit->map->entities() == nullptr ? 0 : unit->map->entities()->size();
        for (const LintUnit* child : world_.children_of(*unit)) open.emplace_back(child, depth + 1);
      }
    }
    std::stable_sort(trees.begin(), trees.end(), [](const Tree& a, const Tree& b) { return a.entities > b.entities; });
    const size_t all = trees.size();
    if (trees.size() > kShownRows) trees.resize(kShownRows);
    HtmlTable table({"root", "#maps", "#levels of maps", "#entities"});
    for (const Tree& tree : trees)
      table.row({tree.root->stem, grouped(tree.maps), grouped(tree.depth), grouped(tree.entities)});
    body_ += table.text();
    if (all > trees.size()) body_ += "<p>" + grouped(all - trees.size()) + " smaller ones are not shown.</p>\n";
  }

  void type_files() {
    section("Type files", "Archetypes, and how many of them no map or interior places.");
    std::set<uint32_t> used;
    const auto use = [&](const auto* entities) {
      if (entities == nullptr) return;
      for (const schema::EntityDef* e : *entities) used.insert(e->archetype_name());
    };
    for (const MapCost& cost : costs_) {
      use(cost.unit->map->entities());
      const auto* const batches = cost.unit->map->instanced_data();
      if (batches == nullptr || batches->grass_instance_list() == nullptr) continue;
      for (const schema::GrassInstanceListDef* grass : *batches->grass_instance_list())
        used.insert(grass->archetype_name());
    }
    std::vector<const LintUnit*> files;
    for (const auto& unit : world_.units()) {
      if (unit->types == nullptr || unit->is_shadowed || unit->is_context) continue;
      files.push_back(unit.get());
      if (unit->types->mlo_archetypes() == nullptr) continue;
      for (const schema::MloArchetypeDef* mlo : *unit->types->mlo_archetypes()) {
        use(mlo->entities());
        if (mlo->entity_sets() == nullptr) continue;
        for (const schema::MloEntitySet* set : *mlo->entity_sets()) use(set->entities());
      }
    }
    const auto size = [](const LintUnit* u) {
      return u->types->archetypes() == nullptr ? 0u : u->types->archetypes()->size();
    };
    std::stable_sort(files.begin(), files.end(), [&](const LintUnit* a, const LintUnit* b) {
      return size(a) != size(b) ? size(a) > size(b) : a->stem < b->stem;
    });
    const size_t all = files.size();
    if (files.size() > kShownRows) files.resize(kShownRows);
    HtmlTable table({"type file", "#archetypes", "#never placed", "#bytes", "source"});
    for (const LintUnit* file : files) {
      uint64_t unplaced = 0;
      if (file->types->archetypes() != nullptr)
        for (const schema::ArchetypeDef* def : *file->types->archetypes())
          unplaced += used.contains(def->name()) ? 0 : 1;
      table.row({file->stem, grouped(size(file)), grouped(unplaced),
                 checked_.resource_bytes ? grouped(checked_.resource_bytes(*file)) : "-", file->path});
    }
    body_ += table.text();
    if (all > files.size()) body_ += "<p>" + grouped(all - files.size()) + " smaller ones are not shown.</p>\n";
  }

  const CheckedWorld& checked_;
  const LintWorld& world_;
  std::vector<MapCost> costs_;
  Forecast forecast_;
  std::string body_;
};

}  // namespace

std::string html_report(const CheckedWorld& world, const ForecastOptions& options) {
  return Page(world, options).make();
}

}  // namespace meridian::tools
