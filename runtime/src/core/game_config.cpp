// SPDX-License-Identifier: MIT
#include "meridian/core/game_config.h"

#include <algorithm>
#include <compare>
#include <cstring>
#include <new>

namespace meridian {
namespace {

/// Where one row stands. Sorted by key, then by place, the last one of each key counts.
struct Pick {
  uint32_t key = 0, source = 0, row = 0;
  friend constexpr auto operator<=>(const Pick&, const Pick&) = default;
};

/// Scratch memory of load(): filled, then reduced to the rows that count.
class Picks {
 public:
  Picks(Allocator& allocator, size_t capacity) : allocator_(allocator), capacity_(capacity) {
    if (capacity_ != 0) data_ = static_cast<Pick*>(allocator_.allocate(capacity_ * sizeof(Pick), alignof(Pick)));
  }
  ~Picks() {
    if (data_ != nullptr) allocator_.deallocate(data_, capacity_ * sizeof(Pick), alignof(Pick));
  }
  Picks(const Picks&) = delete;
  Picks& operator=(const Picks&) = delete;

  bool has_memory() const { return capacity_ == 0 || data_ != nullptr; }
  void add(const Pick& pick) { new (data_ + size_++) Pick(pick); }
  void keep_last() {
    std::sort(data_, data_ + size_);
    size_t kept = 0;
    for (size_t i = 0; i < size_; ++i)
      if (i + 1 == size_ || data_[i + 1].key != data_[i].key) data_[kept++] = data_[i];
    size_ = kept;
  }
  std::span<const Pick> rows() const { return {data_, size_}; }

 private:
  Allocator& allocator_;
  size_t capacity_;
  size_t size_ = 0;
  Pick* data_ = nullptr;
};

constexpr size_t round_up(size_t bytes, size_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

/// The size that counts where there is an entry and the pool is not locked.
uint32_t chosen_size(uint32_t entry, uint32_t default_size, bool prefer_larger) {
  return prefer_larger ? std::max(entry, default_size) : entry;
}

/// Streamed archetypes get what permanent ones leave, so a model id never needs more than its 16 bits.
ModelSlots share_slots(uint32_t permanent, uint32_t wanted_streamed) {
  const uint32_t room = std::min(kMaxStreamedModelSlots, kMaxModelSlots - permanent);
  if (wanted_streamed == 0) return {permanent, room};
  if (wanted_streamed > room) {
    log_message(LogLevel::warning, kModelInfoPool,
                "only %u of %u configured slots for streamed archetypes are used: there may be %u at most, and pool %s "
                "takes %u of the %u that model ids can tell apart",
                room, wanted_streamed, kMaxStreamedModelSlots, name_text(kModelInfoPool).text, permanent,
                kMaxModelSlots);
  }
  return {permanent, std::min(wanted_streamed, room)};
}

}  // namespace

Status GameConfig::lock_pool(NameHash name) {
  if (is_locked(name)) return {};
  if (locked_count_ == kMaxLockedPools)
    return {StatusCode::out_of_slots, "too many locked pools; detail = how many there may be", kMaxLockedPools, name};
  locked_[locked_count_++] = name;
  if (const ConfiguredPool* entry = find_entry(name)) report_locked(*entry);
  if (name == kModelInfoPool) slots_ = share_slots(kDefaultMaxModelInfos, wanted_streamed_);
  return {};
}

bool GameConfig::is_locked(NameHash name) const {
  return std::find(locked_, locked_ + locked_count_, name) != locked_ + locked_count_;
}

Status GameConfig::load(std::span<const ConfigSource> sources, const ConfigTarget& target,
                        const GameConfigOptions& options) {
  const auto for_each_match = [&](auto&& visit) {
    for (size_t i = 0; i < sources.size(); ++i)
      if (config_matches(sources[i].filter, target, &unknown_words_)) visit(sources[i], static_cast<uint32_t>(i));
  };
  size_t pool_rows = 0, value_rows = 0;
  for_each_match([&](const ConfigSource& source, uint32_t) {
    pool_rows += source.pools.size();
    value_rows += source.values.size();
  });
  if (sources.size() > UINT32_MAX || pool_rows > UINT32_MAX || value_rows > UINT32_MAX)
    return {StatusCode::too_large, "more entries than a configuration can have; detail = entries",
            uint64_t{pool_rows} + value_rows};

  Picks pool_picks(allocator_, pool_rows), value_picks(allocator_, value_rows);
  if (!pool_picks.has_memory() || !value_picks.has_memory())
    return {StatusCode::out_of_memory, "no memory to merge a game configuration; detail = rows",
            uint64_t{pool_rows} + value_rows};
  for_each_match([&](const ConfigSource& source, uint32_t index) {
    for (uint32_t row = 0; row < source.pools.size(); ++row) {
      const PoolSizeRow& entry = source.pools[row];
      if (entry.size >= 0)
        pool_picks.add({entry.name.value, index, row});
      else
        log_message(LogLevel::warning, entry.name, "the size of pool %s is negative (%d); this entry is left out",
                    name_text(entry.name).text, entry.size);
    }
    for (uint32_t row = 0; row < source.values.size(); ++row)
      value_picks.add({source.values[row].path.value, index, row});
  });
  pool_picks.keep_last();
  value_picks.keep_last();

  uint32_t permanent = kDefaultMaxModelInfos;
  for (const Pick& pick : pool_picks.rows())
    if (pick.key == kModelInfoPool.value && !is_locked(kModelInfoPool))
      permanent = chosen_size(static_cast<uint32_t>(sources[pick.source].pools[pick.row].size), permanent,
                              options.prefer_larger);
  if (permanent > kMaxModelSlots) {
    log_message(LogLevel::error, kModelInfoPool, "pool %s has %u slots, but model ids can tell only %u apart",
                name_text(kModelInfoPool).text, permanent, kMaxModelSlots);
    return {StatusCode::too_large, "more permanent archetypes than model ids can tell apart; detail = slots", permanent,
            kModelInfoPool};
  }

  // One block: pools, values, then texts and lists.
  const size_t values_at = round_up(pool_picks.rows().size() * sizeof(ConfiguredPool), alignof(ConfigValue));
  size_t bytes_at = round_up(values_at + value_picks.rows().size() * sizeof(ConfigValue), kListAlignment);
  size_t total = bytes_at;
  for (const Pick& pick : value_picks.rows())
    total += round_up(sources[pick.source].values[pick.row].bytes.size(), kListAlignment);
  if (total > kMaxConfigBytes)
    return {StatusCode::too_large, "a game configuration that needs too much memory; detail = bytes", total};
  constexpr size_t kBlockAlignment = std::max(kListAlignment, alignof(ConfigValue));
  std::byte* block = nullptr;
  if (total != 0) {
    block = static_cast<std::byte*>(allocator_.allocate(total, kBlockAlignment));
    if (block == nullptr)
      return {StatusCode::out_of_memory, "no memory for a game configuration; detail = bytes", total};
  }

  // Nothing fails from here on.
  release();
  block_ = block;
  block_bytes_ = total;
  prefer_larger_ = options.prefer_larger;
  small_entries_.clear();
  auto* const pools = reinterpret_cast<ConfiguredPool*>(block);
  auto* const values = block == nullptr ? nullptr : reinterpret_cast<ConfigValue*>(block + values_at);
  for (const Pick& pick : pool_picks.rows()) {
    const PoolSizeRow& row = sources[pick.source].pools[pick.row];
    const ConfiguredPool entry{row.name, static_cast<uint32_t>(row.size), pick.source};
    new (pools + pools_.size()) ConfiguredPool(entry);
    pools_ = {pools, pools_.size() + 1};
    if (is_locked(entry.name)) report_locked(entry);
  }
  for (const Pick& pick : value_picks.rows()) {
    ConfigValue value = sources[pick.source].values[pick.row];
    MERIDIAN_ASSERT(value.kind != ConfigValueKind::list ||
                        (value.element_bytes != 0 && value.bytes.size() % value.element_bytes == 0),
                    "a list's size is a multiple of its element's");
    if (!value.bytes.empty()) std::memcpy(block + bytes_at, value.bytes.data(), value.bytes.size());
    value.bytes = {block + bytes_at, value.bytes.size()};
    bytes_at += round_up(value.bytes.size(), kListAlignment);
    new (values + values_.size()) ConfigValue(value);
    values_ = {values, values_.size() + 1};
  }
  wanted_streamed_ = options.streamed_model_slots;
  slots_ = share_slots(permanent, wanted_streamed_);
  return {};
}

Result<uint32_t> GameConfig::size_of_pool(NameHash name, uint32_t default_size) const {
  const ConfiguredPool* const entry = is_locked(name) ? nullptr : find_entry(name);
  if (entry == nullptr) {
    if (default_size != kFromConfig || is_locked(name)) return default_size;
    log_message(LogLevel::error, name, "pool %s has no size in the game configuration, and must have one",
                name_text(name).text);
    return Status{StatusCode::not_found, "a pool must have its size in the game configuration", 0, name};
  }
  const uint32_t size = chosen_size(entry->size, default_size, prefer_larger_);
  if (size < default_size && small_entries_.first(name.value)) {
    log_message(LogLevel::warning, name,
                "the game configuration gives pool %s a size of %u, the code expects %u or more; %u is used",
                name_text(name).text, size, default_size, size);
  }
  return size;
}

std::optional<int64_t> GameConfig::find_int(std::string_view path) const {
  const ConfigValue* const value = find(path, ConfigValueKind::integer);
  return value == nullptr ? std::nullopt : std::optional(value->integer);
}

std::optional<double> GameConfig::find_number(std::string_view path) const {
  const ConfigValue* const value = find(path, ConfigValueKind::number);
  return value == nullptr ? std::nullopt : std::optional(value->number);
}

std::optional<std::string_view> GameConfig::find_text(std::string_view path) const {
  const ConfigValue* const value = find(path, ConfigValueKind::text);
  if (value == nullptr) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(value->bytes.data()), value->bytes.size());
}

const ConfiguredPool* GameConfig::find_entry(NameHash name) const {
  const auto at = std::lower_bound(pools_.begin(), pools_.end(), name,
                                   [](const ConfiguredPool& entry, NameHash key) { return entry.name < key; });
  return at != pools_.end() && at->name == name ? &*at : nullptr;
}

const ConfigValue* GameConfig::find(std::string_view path, ConfigValueKind kind) const {
  const auto at = std::lower_bound(values_.begin(), values_.end(), hash_type(path),
                                   [](const ConfigValue& value, TypeHash key) { return value.path < key; });
  return at != values_.end() && at->path == hash_type(path) && at->kind == kind ? &*at : nullptr;
}

void GameConfig::report_locked(const ConfiguredPool& entry) const {
  log_message(LogLevel::warning, entry.name,
              "the game configuration gives pool %s a size of %u, but the code has locked it; the entry is not used",
              name_text(entry.name).text, entry.size);
}

void GameConfig::release() {
  if (block_ != nullptr) allocator_.deallocate(block_, block_bytes_, std::max(kListAlignment, alignof(ConfigValue)));
  block_ = nullptr;
  block_bytes_ = 0;
  pools_ = {};
  values_ = {};
}

}  // namespace meridian
