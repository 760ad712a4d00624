// SPDX-License-Identifier: MIT
#include "resource/pack_check.h"

#include <algorithm>

namespace meridian::detail {
namespace {

// Rows are used where they lie; tests compare the members one by one.
static_assert(sizeof(PackEntry) == sizeof(schema::PackEntry) && alignof(PackEntry) == alignof(schema::PackEntry));
static_assert(sizeof(PackKey) == sizeof(schema::PackKey) && alignof(PackKey) == alignof(schema::PackKey));

Status fault(StatusCode code, const char* message, uint64_t where, NameHash name) {
  return {code, message, where, name};
}

/// The verifier of FlatBuffers 2.0.8 does not look at the alignment of rows. Without rows there is none.
template <class Row>
bool is_aligned(std::span<const Row> rows) {
  return rows.empty() || reinterpret_cast<uintptr_t>(rows.data()) % alignof(Row) == 0;
}

/// One entry by itself. Its neighbours, its dictionary and its place come later.
Status check_entry(const PackEntry& e, uint64_t max_resource_bytes) {
  if ((e.flags & ~PackEntry::kZstd) != 0) {
    return fault(StatusCode::bad_value, "entry has unknown flags; detail = flags", e.flags, e.name);
  }
  if (e.raw_size > max_resource_bytes || e.stored_size > max_resource_bytes) {
    return fault(StatusCode::too_large, "entry is larger than the limit for a resource; detail = its size",
                 std::max(e.raw_size, e.stored_size), e.name);
  }
  if (e.is_stored()) {
    if (e.stored_size != e.raw_size || e.stored_hash != e.raw_hash) {
      return fault(StatusCode::bad_value, "stored entry has two sizes or hashes; detail = its offset", e.offset,
                   e.name);
    }
    if (e.dictionary.value != 0) {
      return fault(StatusCode::bad_value, "stored entry names a dictionary; detail = the dictionary's name",
                   e.dictionary.value, e.name);
    }
    if (e.offset % kPackAlignment != 0) {
      return fault(StatusCode::misaligned, "stored entry does not begin at a multiple of 64; detail = its offset",
                   e.offset, e.name);
    }
  }
  if (e.kind != kPackDictionaryKind && e.kind != kPackSchemaKind) return {};
  if (!e.is_stored()) {
    return fault(StatusCode::bad_value, "dictionary or schema is compressed; detail = its offset", e.offset, e.name);
  }
  if (e.kind == kPackSchemaKind) return {};
  if (e.raw_size > kMaxPackDictionaryBytes) {
    return fault(StatusCode::too_large, "dictionary is larger than 1 MiB; detail = its size", e.raw_size, e.name);
  }
  if (e.name.value != static_cast<uint32_t>(e.raw_hash)) {
    return fault(StatusCode::bad_value, "dictionary's name is not that of its hash; detail = its hash", e.raw_hash,
                 e.name);
  }
  return {};
}

Status check_entries(std::span<const PackEntry> entries, uint64_t max_resource_bytes) {
  size_t dictionaries = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const PackEntry& e = entries[i];
    if (i > 0 && entries[i - 1].key() == e.key()) {
      return fault(StatusCode::bad_structure, "two entries have one kind and name; detail = index", i, e.name);
    }
    if (i > 0 && entries[i - 1].key() > e.key()) {
      return fault(StatusCode::bad_structure, "entries are not sorted; detail = index", i, e.name);
    }
    if (const Status status = check_entry(e, max_resource_bytes); !status.ok()) return status;
    if (e.kind == kPackDictionaryKind && ++dictionaries > kMaxPackDictionaries) {
      return fault(StatusCode::too_large, "pack has too many dictionaries; detail = index", i, e.name);
    }
    if (e.dictionary.value != 0 && find_entry(entries, {kPackDictionaryKind, e.dictionary}) == nullptr) {
      return fault(StatusCode::not_found,
                   "entry needs a dictionary that the pack lacks; detail = the dictionary's name", e.dictionary.value,
                   e.name);
    }
  }
  return {};
}

/// Places in the file. Walking them in their own order finds overlaps without memory, and since each begins behind the
/// one before, no index can come twice: the walk meets all entries or fails.
Status check_places(std::span<const PackEntry> entries, std::span<const uint32_t> order, uint64_t entries_end) {
  if (order.size() != entries.size()) {
    return fault(StatusCode::bad_structure, "order of entries has another length than they; detail = its length",
                 order.size(), {});
  }
  uint64_t free_from = sizeof(PackHeader);
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] >= entries.size()) {
      return fault(StatusCode::bad_structure, "order of entries names one that does not exist; detail = index", i, {});
    }
    const PackEntry& e = entries[order[i]];
    if (e.offset > entries_end || e.stored_size > entries_end - e.offset) {
      return fault(StatusCode::bad_structure, "entry lies outside the pack; detail = its offset", e.offset, e.name);
    }
    if (e.offset < free_from) {
      return fault(StatusCode::bad_structure, "entry lies over another, or order is wrong; detail = its offset",
                   e.offset, e.name);
    }
    // An empty entry takes a byte of room here, so that a second one can't have its place.
    free_from = e.offset + std::max<uint64_t>(e.stored_size, 1);
  }
  return {};
}

Status check_removed(std::span<const PackEntry> entries, std::span<const PackKey> removed) {
  for (size_t i = 0; i < removed.size(); ++i) {
    if (i > 0 && removed[i - 1] >= removed[i]) {
      return fault(StatusCode::bad_structure, "removed entries are not sorted; detail = index", i, removed[i].name);
    }
    if (find_entry(entries, removed[i]) != nullptr) {
      return fault(StatusCode::bad_value, "entry is both there and removed; detail = index", i, removed[i].name);
    }
  }
  return {};
}

Status check_names(const schema::PackIndex& index) {
  if (index.names() == nullptr) return {};
  uint32_t i = 0;
  uint32_t last = 0;
  for (const schema::NameEntry* entry : *index.names()) {
    if (i > 0 && entry->hash() <= last) {
      return fault(StatusCode::bad_structure, "names are not sorted; detail = index", i, {entry->hash()});
    }
    if (hash_name(entry->text()->string_view()).value != entry->hash()) {
      return fault(StatusCode::bad_value, "a name's text has another hash; detail = index", i, {entry->hash()});
    }
    last = entry->hash();
    ++i;
  }
  return {};
}

}  // namespace

Status check_pack_index(const schema::PackIndex& index, uint64_t entries_end, uint64_t max_resource_bytes) {
  const auto entries = rows<PackEntry>(index.entries());
  const auto order = rows<uint32_t>(index.order());
  const auto removed = rows<PackKey>(index.removed());
  if (!is_aligned(entries) || !is_aligned(order) || !is_aligned(removed)) {
    return {StatusCode::misaligned, "table of contents has misaligned rows; detail = number of entries",
            entries.size()};
  }
  if (Status s = check_entries(entries, max_resource_bytes); !s.ok()) return s;
  if (Status s = check_places(entries, order, entries_end); !s.ok()) return s;
  if (!removed.empty() && index.base_content() == 0) {
    return {StatusCode::bad_value, "pack removes entries but is no patch; detail = their number", removed.size()};
  }
  if (Status s = check_removed(entries, removed); !s.ok()) return s;
  return check_names(index);
}

}  // namespace meridian::detail
