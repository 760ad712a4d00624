// SPDX-License-Identifier: MIT
#include "meridian/map/metadata_store.h"

#include <new>
#include <utility>

#include "meridian/base/assert.h"
#include "meridian/resource/convert.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/stream/streaming.h"

namespace meridian {

/// A resource in the layout of this program, in place of one in another.
struct MetaDataStore::Conversion {
  Converted converted;
};

Status MetaDataStore::init(const MetaDataStoreConfig& config, Allocator& allocator) {
  MERIDIAN_ASSERT(records_ == nullptr, "initialised once");
  if (records_ != nullptr) return {StatusCode::in_use, "the metadata store is initialised"};
  MERIDIAN_ASSERT(config.mounts != nullptr && config.engine != nullptr, "mounts and engine are given");
  if (config.mounts == nullptr || config.engine == nullptr || config.slots == 0) {
    return {StatusCode::bad_value, "a metadata store needs slots, mounts and an engine"};
  }
  if (config.kinds.empty() || config.kinds.size() > kMaxKinds) {
    return {StatusCode::bad_value, "kinds of metadata; detail = how many", config.kinds.size()};
  }
  for (size_t i = 0; i < config.kinds.size(); ++i) {
    MetaDataKind row = config.kinds[i];
    if (row.schema.empty()) {
      const BuiltinSchema* const builtin = find_builtin_schema(row.kind);
      if (builtin == nullptr) {
        return {StatusCode::bad_value, "a kind of metadata that is not built in has a schema; detail = kind", row.kind};
      }
    } else if (const Status valid = verify_schema(row.schema); !valid.ok()) {
      return valid;
    }
    kinds_[i] = row;
  }
  const size_t bytes = size_t{config.slots} * sizeof(Record);
  auto* const records = static_cast<Record*>(allocator.allocate(bytes, alignof(Record)));
  if (records == nullptr) return {StatusCode::out_of_memory, "no memory for metadata; detail = slots", config.slots};
  BoxStreamerConfig boxes{.capacity = config.slots, .max_trees = 0, .max_dynamic_boxes = config.max_boxes};
  boxes.pre_stream_distance[static_cast<unsigned>(BoxAsset::metadata)] = kPreStreamDistance;
  boxes.priority_radius[static_cast<unsigned>(BoxAsset::metadata)] = kPriorityRadius;
  boxes.ignores_all = true;
  Status made = streamer_.init(boxes, *this, allocator);
  const NamedModuleConfig names{.slots = config.slots, .mounts = config.mounts, .kind = config.kinds[0].kind};
  if (made.ok()) made = init_names(names, allocator);
  if (!made.ok()) {
    allocator.deallocate(records, bytes, alignof(Record));
    return made;
  }
  for (uint32_t i = 0; i < config.slots; ++i) new (&records[i]) Record;
  records_ = records;
  config_ = config;
  config_.kinds = {kinds_, config.kinds.size()};
  if (config_.conversion_memory == nullptr) config_.conversion_memory = &default_allocator();
  return {};
}

void MetaDataStore::release_all() {
  if (records_ == nullptr) return;
  for (uint32_t i = 0; i < capacity(); ++i) {
    MERIDIAN_ASSERT(!records_[i].is_placed, "the engine is shut down before its modules go");
    drop_conversion(records_[i]);
    records_[i].~Record();
  }
  allocator().deallocate(records_, size_t{capacity()} * sizeof(Record), alignof(Record));
  records_ = nullptr;
}

void MetaDataStore::free_slot(uint32_t slot) {
  MERIDIAN_ASSERT(is_used(slot) && get(slot) == nullptr, "a slot that is used, and not loaded");
  if (!is_used(slot) || get(slot) != nullptr) return;
  streamer_.ignore(slot, true);
  streamer_.remove_box(slot);
  NamedModule::free_slot(slot);
}

// --- on loader threads ---------------------------------------------------------------------------------

const MetaDataKind* MetaDataStore::row_of(uint32_t kind) const {
  for (const MetaDataKind& row : config_.kinds) {
    if (row.kind == kind) return &row;
  }
  return nullptr;
}

/// Only one read of a slot is under way at a time, and none while its bytes are used: as far as conversions go, its
/// record is this thread's.
Status MetaDataStore::open(uint32_t slot, StreamPayload& payload) const {
  const Result<ResourceSections> sections = read_sections(payload.bytes);
  if (!sections.ok()) return sections.status();
  const uint32_t kind = sections.value().trailer.kind;
  const MetaDataKind* const row = row_of(kind);
  if (row == nullptr) return {StatusCode::wrong_kind, "metadata of a kind that nobody reads; detail = its kind", kind};
  const Result<Resource> opened =
      open_resource(payload.bytes, {.kind = kind, .schema = row->schema, .trusted = payload.trusted});
  if (opened.ok()) {
    drop_conversion(records_[slot]);  // of what the slot had before
    payload.resource = opened.value();
    return {};
  }
  if (opened.status().code != StatusCode::layout_differs) return opened.status();
  return convert(slot, payload, *row, opened.status());
}

Status MetaDataStore::convert(uint32_t slot, StreamPayload& payload, const MetaDataKind& row, const Status& why) const {
  std::span<const std::byte> from = embedded_schema(payload.bytes);
  if (from.empty() && config_.schema_of != nullptr) {
    from = config_.schema_of(config_.user, row.kind, read_sections(payload.bytes).value().trailer.layout_fingerprint);
  }
  if (from.empty()) return why;
  const std::span<const std::byte> to = row.schema.empty() ? find_builtin_schema(row.kind)->bfbs : row.schema;
  Allocator& memory = *config_.conversion_memory;
  Result<Converted> converted = convert_resource(payload.bytes, from, to, memory);
  if (!converted.ok()) return converted.status();
  const Result<Resource> opened = open_resource(converted.value().bytes(), {.kind = row.kind, .schema = row.schema});
  if (!opened.ok()) return opened.status();
  void* const block = memory.allocate(sizeof(Conversion), alignof(Conversion));
  if (block == nullptr) return {StatusCode::out_of_memory, "no memory for converted metadata", 0, payload.name};
  drop_conversion(records_[slot]);
  // Moving it leaves its bytes where they are, and so what was opened.
  records_[slot].conversion.store(new (block) Conversion{std::move(converted.value())}, std::memory_order_release);
  conversions_.fetch_add(1, std::memory_order_relaxed);
  payload.resource = opened.value();
  return {};
}

void MetaDataStore::drop_conversion(Record& record) const {
  Conversion* const gone = record.conversion.exchange(nullptr, std::memory_order_acq_rel);
  if (gone == nullptr) return;
  gone->~Conversion();
  config_.conversion_memory->deallocate(gone, sizeof(Conversion), alignof(Conversion));
  conversions_.fetch_sub(1, std::memory_order_relaxed);
}

// --- on the owner's ------------------------------------------------------------------------------------

ResourceLocation MetaDataStore::find_version(uint32_t slot) const {
  if (!is_used(slot)) return {};
  for (const MetaDataKind& row : config_.kinds) {
    if (const ResourceLocation found = mounts().find(row.kind, name_of(slot))) return found;
  }
  return {};
}

StreamStep MetaDataStore::show(uint32_t slot, const StreamPayload& payload) {
  Record& record = records_[slot];
  record.resource = payload.resource;
  record.is_placed = true;
  const Conversion* const conversion = record.conversion.load(std::memory_order_acquire);
  if (conversion != nullptr && converted_.first(payload.name.value)) {
    log_message(LogLevel::info, payload.name,
                "metadata %s was written by another layout and is converted (%u differences): compile it again",
                name_text(payload.name).text, conversion->converted.difference_count());
  }
  return {};
}

/// The engine does not say when it gives bytes up, so it is asked. What is being read is the loader thread's.
void MetaDataStore::trim() {
  for (uint32_t i = 0; i < slot_count() && i < capacity() && conversions() != 0; ++i) {
    Record& record = records_[i];
    if (record.conversion.load(std::memory_order_relaxed) == nullptr) continue;
    const StreamState state = config_.engine->state(index(i));
    const bool is_at_rest = state == StreamState::not_loaded || state == StreamState::failed;
    if (is_at_rest && config_.engine->payload_of(index(i)) == nullptr) drop_conversion(record);
  }
}

bool MetaDataStore::is_idle_slot(uint32_t slot) const { return config_.engine->is_idle(index(slot)); }
void MetaDataStore::keep_slot(uint32_t slot, bool priority) {
  config_.engine->keep(index(slot), StreamKeeper::box_streamer, priority);
}
void MetaDataStore::drop_slot(uint32_t slot) { config_.engine->drop(index(slot), StreamKeeper::box_streamer); }

Status MetaDataStore::make_streamable(NameHash name, const Aabb& box) {
  const bool is_new = find(name) == kNoStreamSlot;
  const Result<uint32_t> slot = add(name);
  if (!slot.ok()) return slot.status();
  const Status set = streamer_.set_box(slot.value(), box, box, BoxAsset::metadata);
  if (set.ok()) {
    streamer_.ignore(slot.value(), false);
  } else if (is_new) {
    free_slot(slot.value());
  }
  return set;
}

bool MetaDataStore::stop_streaming(NameHash name) {
  const uint32_t slot = find(name);
  if (slot == kNoStreamSlot || streamer_.is_ignored(slot)) return false;
  streamer_.ignore(slot, true);
  streamer_.remove_box(slot);
  return true;
}

Status MetaDataStore::update(std::span<const StreamSource> sources, std::span<const StreamSearch> searches,
                             float seconds) {
  const Status updated = streamer_.update(sources, searches, seconds);
  if (config_.engine->is_started()) trim();
  return updated;
}

}  // namespace meridian
