// SPDX-License-Identifier: MIT
#include "meridian/tools/world_manifest.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <sys/stat.h>

#include "meridian/base/name_hash.h"
#include "meridian/schemas/manifest_generated.h"
#include "meridian/tools/file_io.h"
#include "meridian/tools/json_reader.h"
#include "text_values.h"
#include "world_build/digest.h"

namespace meridian::tools {
namespace {

using Kind = JsonValue::Kind;

/// "; did you mean 'x'?", or nothing.
std::string did_you_mean(std::string_view text, const std::vector<std::string_view>& candidates) {
  const std::string_view near = nearest(text, candidates);
  return near.empty() ? std::string() : "; did you mean '" + std::string(near) + "'?";
}

std::string joined(std::span<const std::string_view> words) {
  std::string out;
  for (const std::string_view word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

/// A path of the file as the process sees it.
std::string beside(const std::string& manifest, const std::string& path) {
  const size_t slash = manifest.rfind('/');
  if (path.starts_with('/') || slash == std::string::npos) return path;
  return manifest.substr(0, slash + 1) + path;
}

class ManifestReader {
 public:
  ManifestReader(WorldManifest& out, std::vector<Finding>& findings) : out_(out), findings_(findings) {}

  void run(const JsonValue& root) {
    if (!is(root, Kind::object, "a world manifest", "an object")) return;
    for (const JsonMember& member : root.members) {
      const JsonValue& value = member.value;
      if (member.name == "layers")
        each(value, "layers", [&](const JsonValue& v) { layer(v); });
      else if (member.name == "groups")
        each(value, "groups", [&](const JsonValue& v) { group(v); });
      else if (member.name == "permanent")
        permanent(value);
      else if (member.name == "rules")
        severities(value);
      else if (member.name == "extents")
        repair(value, "extents", {"keep", "fix", "union"}, out_.extents);
      else if (member.name == "flags")
        repair(value, "flags", {"keep", "fix"}, out_.flags);
      else
        unknown(member, "a world manifest", {"layers", "groups", "permanent", "rules", "extents", "flags"});
    }
  }

 private:
  void say(size_t offset, std::string message, const Rule& rule = rules::usage_error) {
    Finding& finding = findings_.emplace_back();
    finding.rule = &rule;
    finding.offset = offset;
    finding.message = std::move(message);
  }

  bool is(const JsonValue& value, Kind kind, std::string_view what, std::string_view wanted) {
    if (value.kind == kind) return true;
    say(value.offset, std::string(what) + " is " + std::string(wanted) + ", not " + std::string(value.kind_text()));
    return false;
  }

  void unknown(const JsonMember& member, std::string_view where, const std::vector<std::string_view>& keys) {
    const std::string near = did_you_mean(member.name, keys);
    say(member.offset, "'" + member.name + "' is no key of " + std::string(where) +
                           (near.empty() ? "; there are: " + joined(keys) : near));
  }

  template <class Function>
  void each(const JsonValue& value, std::string_view what, Function&& f) {
    if (!is(value, Kind::array, what, "an array")) return;
    for (const JsonValue& item : value.items) f(item);
  }

  /// A text that is not empty; files end with the NUL that one would be.
  std::optional<PlacedName> name(const JsonValue& value, const std::string& what) {
    if (!is(value, Kind::string, what, "a string")) return std::nullopt;
    if (value.text.empty() || value.text.find('\0') != std::string::npos)
      return say(value.offset, what + (value.text.empty() ? " is empty" : " has a NUL in it")), std::nullopt;
    return PlacedName{value.text, value.offset};
  }

  std::optional<int> integer(const JsonValue& value, const std::string& what, int min, int max) {
    const bool fits = value.kind == Kind::number && value.number >= min && value.number <= max &&
                      value.number == std::floor(value.number);
    if (fits) return static_cast<int>(value.number);
    say(value.offset, what + " is a whole number from " + std::to_string(min) + " to " + std::to_string(max) +
                          ", not " + (value.kind == Kind::number ? value.text : std::string(value.kind_text())));
    return std::nullopt;
  }

  void layer(const JsonValue& value) {
    if (!is(value, Kind::object, "a layer", "an object")) return;
    std::optional<PlacedName> layer_name, path;
    std::optional<int> order;
    for (const JsonMember& member : value.members) {
      if (member.name == "name")
        layer_name = name(member.value, "a layer's name");
      else if (member.name == "path")
        path = name(member.value, "a layer's path");
      else if (member.name == "order")
        order = integer(member.value, "a layer's order", -1'000'000, 1'000'000);
      else
        unknown(member, "a layer", {"name", "path", "order"});
    }
    if (value.find("path") == nullptr) say(value.offset, "a layer needs a path");
    if (!path) return;
    if (!layer_name) layer_name = path;
    WorldLayer& layer = out_.layers.emplace_back();
    layer.name = layer_name->text;
    layer.path = beside(out_.path, path->text);
    layer.order = order ? *order : out_.layers.size() > 1 ? out_.layers[out_.layers.size() - 2].order + 1 : 0;
    if (!layer_names_.insert(layer.name).second)
      say(layer_name->offset, "two layers have the name '" + layer.name + "'");
    struct stat status {};
    if (::stat(layer.path.c_str(), &status) != 0)
      return say(path->offset, "layer '" + layer.name + "': cannot read " + layer.path + ": " + error_text(errno),
                 rules::environment_error);
    const auto [first, is_new] = layer_files_.emplace(std::pair(status.st_dev, status.st_ino), layer.name);
    if (!is_new)
      say(path->offset, "layer '" + layer.name + "' is the folder of layer '" + first->second + "' once more");
  }

  void group(const JsonValue& value) {
    if (!is(value, Kind::object, "a group", "an object")) return;
    WorldGroup group;
    size_t name_offset = value.offset;
    if (value.find("name") == nullptr) say(value.offset, "a group needs a name");
    for (const JsonMember& member : value.members) {
      if (member.name == "name") {
        if (const auto given = name(member.value, "a group's name")) group.name = given->text;
        name_offset = member.value.offset;
      } else if (member.name == "maps") {
        each(member.value, "maps", [&](const JsonValue& v) {
          if (auto map = name(v, "the name of a map")) group.maps.push_back(std::move(*map));
        });
      } else if (member.name == "hours") {
        group.hours = 0;
        each(member.value, "hours", [&](const JsonValue& v) { hour(v, *group.hours); });
      } else if (member.name == "weathers") {
        each(member.value, "weathers", [&](const JsonValue& v) {
          const auto weather = name(v, "the name of a weather");
          if (!weather) return;
          const bool is_known = std::any_of(group.weathers.begin(), group.weathers.end(),
                                            [&](const std::string& w) { return fold(w) == fold(weather->text); });
          if (is_known) return say(weather->offset, "weather '" + weather->text + "' is given twice");
          group.weathers.push_back(weather->text);
        });
      } else {
        unknown(member, "a group", {"name", "maps", "hours", "weathers"});
      }
    }
    if (group.name.empty()) return;
    if (!group_names_.insert(fold(group.name)).second)
      say(name_offset, "two groups have the name '" + group.name + "'");
    if (value.find("maps") == nullptr) group.maps.push_back({group.name, name_offset});
    for (const PlacedName& map : group.maps) {
      const auto [first, is_new] = group_of_map_.emplace(fold(map.text), group.name);
      if (!is_new)
        say(map.offset, "map '" + map.text + "' is in group '" + first->second + "' already; one group switches a map");
    }
    out_.groups.push_back(std::move(group));
  }

  void hour(const JsonValue& value, uint32_t& hours) {
    const auto hour = integer(value, "an hour", 0, 23);
    if (!hour) return;
    if ((hours >> *hour & 1u) != 0) say(value.offset, "hour " + std::to_string(*hour) + " stands here twice");
    hours |= 1u << *hour;
  }

  void permanent(const JsonValue& value) {
    std::set<std::string> seen;
    each(value, "permanent", [&](const JsonValue& v) {
      auto file = name(v, "the name of a type file");
      if (!file) return;
      if (!seen.insert(fold(file->text)).second) return say(file->offset, "'" + file->text + "' stands here twice");
      out_.permanent.push_back(std::move(*file));
    });
  }

  void severities(const JsonValue& value) {
    if (!is(value, Kind::object, "rules", "an object of rules and severities")) return;
    std::vector<std::string_view> known;
    for (const Rule* rule : all_rules()) known.insert(known.end(), {rule->code, rule->name});
    std::set<const Rule*> seen;
    for (const JsonMember& member : value.members) {
      const Rule* const rule = find_rule(member.name);
      if (rule == nullptr) {
        say(member.offset, "'" + member.name + "' is no rule" + did_you_mean(member.name, known));
        continue;
      }
      if (!seen.insert(rule).second)
        say(member.offset, "rule " + std::string(rule->code) + " stands here twice, by code and by name");
      if (!is(member.value, Kind::string, "a severity", "a string")) continue;
      const std::string& word = member.value.text;
      static constexpr std::string_view kWords[] = {"note", "warning", "error", "off"};
      const auto* const at = std::find(std::begin(kWords), std::end(kWords), word);
      if (at == std::end(kWords)) {
        say(member.value.offset, "'" + word + "' is no severity; there are: error, warning, note, off");
        continue;
      }
      std::optional<Severity> severity;
      if (at != std::end(kWords) - 1) severity = static_cast<Severity>(at - kWords);
      out_.rules.push_back({rule, severity});
    }
  }

  void repair(const JsonValue& value, const std::string& key, std::vector<std::string_view> words,
              std::optional<Repair>& out) {
    if (!is(value, Kind::string, key, "a string")) return;
    if (std::find(words.begin(), words.end(), value.text) == words.end())
      return say(value.offset,
                 key + " is one of " + joined(words) + ", not '" + value.text + "'" + did_you_mean(value.text, words));
    out = repair_of(value.text);
  }

  WorldManifest& out_;
  std::vector<Finding>& findings_;
  std::set<std::string> layer_names_, group_names_;
  std::map<std::pair<dev_t, ino_t>, std::string> layer_files_;
  std::map<std::string, std::string> group_of_map_;
};

bool is_json_file(const std::string& path) { return path.ends_with(".json"); }

}  // namespace

uint64_t WorldManifest::content_hash() const {
  DigestBuilder hash;
  hash.add_text(path);  // messages show it, and the places in them
  hash.add_text(source->text());
  return hash.value();
}

std::shared_ptr<const WorldManifest> read_world_manifest(const std::string& path, Report& report,
                                                         std::vector<std::string>* layer_paths) {
  int error = 0;
  auto out = std::make_shared<WorldManifest>();
  out->path = path;
  out->source = SourceText::open(path, error);
  if (out->source == nullptr) return report.environment(path, "cannot read: " + error_text(error)), nullptr;
  std::vector<Finding> findings;
  JsonValue root;
  JsonError wrong;
  if (!out->source->encoding_error().empty())
    wrong.message = out->source->encoding_error();
  else if (read_json(out->source->text(), root, wrong))
    ManifestReader(*out, findings).run(root);
  if (layer_paths != nullptr)
    for (const WorldLayer& layer : out->layers) layer_paths->push_back(layer.path);
  if (!wrong.message.empty()) {
    Finding& finding = findings.emplace_back();
    finding.rule = &rules::usage_error;
    finding.offset = wrong.offset;
    finding.message = wrong.message;
  }
  if (findings.empty()) return out;
  for (const Finding& f : findings) report.raise(f.rule == &rules::environment_error ? kExitEnvironment : kExitUsage);
  report.log().add(resolve(*out->source, std::move(findings), {}, {}));
  return nullptr;
}

static bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool find_world_manifest(std::span<const std::string> sources, std::string& path, std::string& error) {
  std::vector<std::string> found;
  for (const std::string& source : sources)
    if (is_json_file(source) && !is_folder(source)) found.push_back(source);
  if (found.empty())
    for (const std::string& source : sources) {
      std::string file = source;
      file += source.ends_with('/') ? "" : "/";
      file += kWorldManifestName;
      struct stat status {};
      if (::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode)) found.push_back(std::move(file));
    }
  if (found.size() > 1)
    return error = "two world manifests: " + found[0] + ", " + found[1] + "; a world has one", false;
  path = found.empty() ? "" : found.front();
  return true;
}

std::vector<WorldLayer> world_layers(const WorldManifest* manifest, std::span<const std::string> sources,
                                     std::span<const std::string> overlays) {
  std::vector<WorldLayer> out;
  int lowest = 0, highest = 0;
  if (manifest != nullptr && !manifest->layers.empty()) {
    lowest = highest = manifest->layers.front().order;
    for (const WorldLayer& layer : manifest->layers) {
      lowest = std::min(lowest, layer.order);
      highest = std::max(highest, layer.order);
    }
  }
  const std::string home = manifest == nullptr ? "" : without_slashes(parent_folder(manifest->path));
  bool is_by_name = false;
  for (const std::string& source : sources) {
    if (manifest != nullptr && source == manifest->path) {
      is_by_name = true;
      continue;
    }
    const bool is_home = manifest != nullptr && without_slashes(source) == home;
    if (is_home && !manifest->layers.empty()) continue;
    out.push_back({source, source, lowest});
  }
  if (is_by_name && manifest->layers.empty()) out.insert(out.begin(), {home, home, lowest});
  if (manifest != nullptr) out.insert(out.end(), manifest->layers.begin(), manifest->layers.end());
  for (const std::string& overlay : overlays) out.push_back({overlay, overlay, ++highest});
  std::stable_sort(out.begin(), out.end(), [](const WorldLayer& a, const WorldLayer& b) { return a.order < b.order; });
  return out;
}

void use_world_manifest(const std::shared_ptr<const WorldManifest>& manifest, WorldBuildOptions& options) {
  for (const WorldManifest::RuleSetting& setting : manifest->rules)
    options.policy.configure(*setting.rule, setting.severity);
  for (const PlacedName& file : manifest->permanent) options.index.permanent_types.insert(hash_name(file.text).value);
  for (const WorldGroup& from : manifest->groups)
    for (const PlacedName& map : from.maps) {
      WorldIndexGroup& group = options.index.groups.emplace_back();
      group.name = hash_name(map.text);
      if (from.hours) group.flags |= static_cast<uint32_t>(schema::MapDataGroupFlags::TIME_DEPENDENT);
      if (!from.weathers.empty()) group.flags |= static_cast<uint32_t>(schema::MapDataGroupFlags::WEATHER_DEPENDENT);
      group.hours = from.hours.value_or(0);
      for (const std::string& weather : from.weathers) group.weather_types.push_back(hash_name(weather).value);
    }
  options.inspect_key = manifest->content_hash();
  options.inspect = [manifest, policy = options.policy](const LintWorld& world) {
    return check_world_manifest(*manifest, world, policy);
  };
}

std::vector<Diagnostic> check_world_manifest(const WorldManifest& manifest, const LintWorld& world,
                                             const DiagnosticPolicy& policy) {
  std::vector<Finding> findings;
  const auto lacks = [&](const PlacedName& name, std::string message, bool is_map) {
    std::vector<std::string_view> stems;
    for (const auto& unit : world.units())
      if ((is_map ? unit->map != nullptr : unit->types != nullptr) && !unit->is_shadowed) stems.push_back(unit->stem);
    std::sort(stems.begin(), stems.end());
    Finding& finding = findings.emplace_back();
    finding.rule = &rules::unknown_file;
    finding.severity = Severity::warning;
    finding.offset = name.offset;
    finding.message = std::move(message) + did_you_mean(name.text, stems);
  };
  for (const WorldGroup& group : manifest.groups)
    for (const PlacedName& map : group.maps)
      if (world.find_map(hash_name(map.text).value) == nullptr)
        lacks(map, "group '" + group.name + "' switches map '" + map.text + "', which is not in this world", true);
  for (const PlacedName& file : manifest.permanent)
    if (world.find_types(hash_name(file.text).value) == nullptr)
      lacks(file, "permanent type file '" + file.text + "' is not in this world", false);
  return resolve(*manifest.source, std::move(findings), {}, policy);
}

}  // namespace meridian::tools
