// SPDX-License-Identifier: MIT
#include "forecast/config_pools.h"

#include <algorithm>
#include <map>

#include "meridian/base/name_hash.h"
#include "meridian/schemas/gameconfig_generated.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

std::string filter_word(const flatbuffers::String* text) {
  const std::string word = text == nullptr ? "" : fold(text->string_view());
  return word == "any" ? "" : word;
}

std::string filter_of(const schema::ConfigItem& item) {
  return filter_word(item.build()) + "\n" + filter_word(item.platforms()) + "\n" + filter_word(item.param());
}

template <class Function>
void for_each_entry(const LintUnit& unit, const schema::ConfigItem& item, size_t index, const Function& function) {
  if (item.config() == nullptr || item.config()->pool_sizes() == nullptr) return;
  const auto* const entries = item.config()->pool_sizes()->entries();
  if (entries == nullptr) return;
  for (uint32_t i = 0; i < entries->size(); ++i)
    function(PoolEntry{
        &unit,
        "ConfigArray[" + std::to_string(index) + "].Config.PoolSizes.Entries[" + std::to_string(i) + "].PoolSize",
        entries->Get(i)->name(), entries->Get(i)->size()});
}

std::string_view view_of(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : text->string_view();
}

}  // namespace

ConfigPools::ConfigPools(const LintWorld& world, const ParsedTarget* target) {
  std::vector<const LintUnit*> configs;
  for (const auto& unit : world.units())
    if (unit->config != nullptr && !unit->is_shadowed) configs.push_back(unit.get());
  std::stable_sort(configs.begin(), configs.end(),
                   [](const LintUnit* a, const LintUnit* b) { return a->layer < b->layer; });
  for (const LintUnit* unit : configs) {
    if (unit->config->config_array() == nullptr) continue;
    for (uint32_t i = 0; i < unit->config->config_array()->size(); ++i) {
      const schema::ConfigItem& item = *unit->config->config_array()->Get(i);
      const bool applies =
          target == nullptr ? filter_of(item) == "\n\n"
                            : config_matches({view_of(item.build()), view_of(item.platforms()), view_of(item.param())},
                                             target->target());
      if (applies)
        for_each_entry(*unit, item, i, [&](PoolEntry entry) {
          const uint32_t name = entry.name;
          entries_.insert_or_assign(name, std::move(entry));
        });
    }
  }
}

const PoolEntry* ConfigPools::find(uint32_t name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

std::optional<uint64_t> ConfigPools::size_of(std::string_view name) const {
  const PoolEntry* const entry = find(hash_name(name).value);
  if (entry == nullptr || entry->size < 0) return std::nullopt;
  return static_cast<uint64_t>(entry->size);
}

std::vector<PoolEntry> effective_entries(const LintUnit& config) {
  std::map<std::pair<std::string, uint32_t>, PoolEntry> last;
  if (config.config->config_array() == nullptr) return {};
  for (uint32_t i = 0; i < config.config->config_array()->size(); ++i) {
    const schema::ConfigItem& item = *config.config->config_array()->Get(i);
    const std::string filter = filter_of(item);
    for_each_entry(config, item, i, [&](PoolEntry entry) {
      last.insert_or_assign({filter, entry.name}, std::move(entry));
    });
  }
  std::vector<PoolEntry> out;
  out.reserve(last.size());
  for (auto& [key, entry] : last) out.push_back(std::move(entry));
  return out;
}

}  // namespace meridian::tools
