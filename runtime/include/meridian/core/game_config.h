// SPDX-License-Identifier: MIT
#pragma once
/// Sizes of pools and other limits that data may change without a new build. A game configuration is a list of partial
/// configurations, each with filters (core/config_target.h). load() takes those that match, in order, and merges them:
/// of each pool, and of each other value, the last one counts; what a configuration leaves out stays as it was.
///
///   constexpr PoolSizeRow kPools[] = {{hash_name("Building"), 32000}};
///   const ConfigSource sources[] = {{.filter = {"any", "x64", ""}, .pools = kPools}};
///   ConfigTarget target;
///   GameConfig config;
///   (void)config.lock_pool(hash_name("fwLodNode"));  // its size is the code's business
///   Status loaded = config.load(sources, target);
///   Result<uint32_t> buildings = config.size_of_pool(hash_name("Building"), 21000);  // 32000
///   int64_t peds = config.find_int("population.max_total_peds").value_or(128);
///
/// Load it before anything that has a pool; resource/game_config_resource.h does so from a .gcfg. A GameConfig that was
/// never loaded gives every default.
///
/// Threads: main. Queries remember what they warned of; what other threads need is copied out.
/// Memory:  one block while loaded, and scratch inside load(); queries allocate nothing. load() copies what it keeps:
///          the sources may go.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "meridian/base/log.h"
#include "meridian/base/memory.h"
#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"
#include "meridian/core/config_target.h"

namespace meridian {

/// As default of size_of_pool(): this pool's size must come from the configuration.
inline constexpr uint32_t kFromConfig = 1;

/// One entry for a pool.
struct PoolSizeRow {
  NameHash name{};
  int32_t size = 0;  ///< [>= 0] [count]
};

enum class ConfigValueKind : uint8_t { integer, number, text, list };

/// One value that is no pool size.
struct ConfigValue {
  TypeHash path{};  ///< of members with dots between, as in the schema: hash_type("population.max_total_peds")
  ConfigValueKind kind = ConfigValueKind::integer;
  uint32_t element_bytes = 0;  ///< of a list; bytes.size() is a multiple [bytes]
  int64_t integer = 0;
  double number = 0;
  std::span<const std::byte> bytes{};  ///< of a text, without 0 at its end, or of the elements of a list
};

/// One configuration of the list.
struct ConfigSource {
  ConfigFilter filter{};
  std::span<const PoolSizeRow> pools{};
  std::span<const ConfigValue> values{};
};

/// Model ids have 16 bits, and 0xFFFF is none: permanent and streamed archetypes share this many.
inline constexpr uint32_t kMaxModelSlots = 0xFFFE;
inline constexpr uint32_t kMaxStreamedModelSlots = 35000;
/// Enough where only the types of interiors stream.
inline constexpr uint32_t kInteriorStreamedModelSlots = 2000;
/// Permanent archetypes where no configuration says otherwise.
inline constexpr uint32_t kDefaultMaxModelInfos = 32200;
/// The pool whose size is the number of permanent archetypes.
inline constexpr NameHash kModelInfoPool = hash_name("fwArchetypePooledMap");

/// A configuration that keeps more than this is no honest one: a real one keeps 20 KiB. [bytes]
inline constexpr size_t kMaxConfigBytes = size_t{64} << 20;

struct GameConfigOptions {
  /// Of an entry and the code's default the larger counts, instead of the entry.
  bool prefer_larger = false;
  /// Slots for streamed archetypes; 0: as many as fit, up to kMaxStreamedModelSlots. [0, kMaxStreamedModelSlots]
  uint32_t streamed_model_slots = 0;
};

struct ModelSlots {
  uint32_t permanent = kDefaultMaxModelInfos;  ///< `max_model_infos` [count]
  uint32_t streamed = kMaxModelSlots - kDefaultMaxModelInfos;
};

/// A pool that the configuration has an entry for.
struct ConfiguredPool {
  NameHash name{};
  uint32_t size = 0;    ///< [count]
  uint32_t source = 0;  ///< which configuration gave it [index]
};

class GameConfig {
 public:
  static constexpr size_t kMaxLockedPools = 64;

  explicit GameConfig(Allocator& allocator = default_allocator()) : allocator_(allocator) {}
  ~GameConfig() { release(); }
  GameConfig(const GameConfig&) = delete;
  GameConfig& operator=(const GameConfig&) = delete;

  /// From now on the code's default is the size of this pool, whatever a configuration says. An entry for it is said
  /// through the log: by load(), or here where it is loaded already. Errors: out_of_slots after kMaxLockedPools.
  Status lock_pool(NameHash name);
  bool is_locked(NameHash name) const;

  /// Selects and merges. Replaces what an earlier load() gave; locks stay. On failure nothing is changed.
  /// Said through the log: unknown words in filters (each once), entries for locked pools, negative sizes (the entry is
  /// left out), and fewer streamed slots than asked for.
  /// Errors:   too_large (more permanent archetypes than kMaxModelSlots, then detail = slots and `name` =
  ///           kModelInfoPool; or more than kMaxConfigBytes), out_of_memory.
  /// Requires: values of kind list have a size that is a multiple of element_bytes, which is not 0. Sources are not
  ///           what this object keeps itself.
  Status load(std::span<const ConfigSource> sources, const ConfigTarget& target, const GameConfigOptions& options = {});

  /// The size that a pool should get: the entry, or `default_size` where there is none or the pool is locked. An entry
  /// below the default is said through the log, once for each pool, and used, unless GameConfigOptions::prefer_larger.
  /// Errors: not_found (no entry, and `default_size` is kFromConfig; also said through the log, by name). [count]
  Result<uint32_t> size_of_pool(NameHash name, uint32_t default_size) const;

  /// Slots for archetypes, as the size of kModelInfoPool and the options give them. permanent + streamed <=
  /// kMaxModelSlots.
  ModelSlots model_slots() const { return slots_; }

  /// Values by path: members of the schema with dots between ("streaming_engine.archive_count"); a table of a list goes
  /// by its key ("threads.Render.priority"). Empty where no configuration gives it, or gives something of another kind.
  /// A whole list is one value: a later list replaces it. Texts and lists live until the next load().
  std::optional<int64_t> find_int(std::string_view path) const;
  std::optional<double> find_number(std::string_view path) const;
  std::optional<std::string_view> find_text(std::string_view path) const;
  /// T is the generated struct (schema::ScriptStackSize), or the scalar. A struct that is no list is a list of one.
  template <class T>
  std::optional<std::span<const T>> find_list(std::string_view path) const {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kListAlignment);
    const ConfigValue* const value = find(path, ConfigValueKind::list);
    if (value == nullptr || value->element_bytes != sizeof(T)) return std::nullopt;
    return std::span<const T>(reinterpret_cast<const T*>(value->bytes.data()), value->bytes.size() / sizeof(T));
  }

  /// All entries, ascending by name; of locked pools, too. Live until the next load().
  std::span<const ConfiguredPool> pools() const { return pools_; }
  /// All other values, ascending by path.
  std::span<const ConfigValue> values() const { return values_; }

 private:
  static constexpr size_t kListAlignment = 8;
  const ConfiguredPool* find_entry(NameHash name) const;
  const ConfigValue* find(std::string_view path, ConfigValueKind kind) const;
  void report_locked(const ConfiguredPool& entry) const;
  void release();

  Allocator& allocator_;
  std::byte* block_ = nullptr;
  size_t block_bytes_ = 0;
  std::span<ConfiguredPool> pools_{};
  std::span<ConfigValue> values_{};
  ModelSlots slots_{};
  uint32_t wanted_streamed_ = 0;
  bool prefer_larger_ = false;
  uint32_t locked_count_ = 0;
  NameHash locked_[kMaxLockedPools] = {};
  OnceSet unknown_words_;
  mutable OnceSet small_entries_;
};

}  // namespace meridian
