// SPDX-License-Identifier: MIT
#include "meridian/resource/pack.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "meridian/schemas/pack_generated.h"
#include "resource/checksum.h"
#include "resource/pack_check.h"
#include "resource/pack_content.h"

static_assert(std::endian::native == std::endian::little, "packs are read in place, and are little endian");

namespace meridian {

/// What a Pack is made of, for open_pack.
struct PackAccess {
  static Pack make(std::span<const std::byte> bytes, const schema::PackIndex& index, bool trusted) {
    Pack pack;
    pack.bytes_ = bytes;
    pack.entries_ = detail::rows<PackEntry>(index.entries());
    pack.order_ = detail::rows<uint32_t>(index.order());
    pack.removed_ = detail::rows<PackKey>(index.removed());
    pack.names_ = index.names();
    pack.base_content_ = index.base_content();
    pack.trusted_ = trusted;
    return pack;
  }
};

namespace {

/// Size, alignment and header; the rest of the bytes is not touched.
Result<PackHeader> read_header(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(PackHeader)) {
    return Status{StatusCode::too_small, "pack is shorter than its header; detail = size", bytes.size()};
  }
  const uintptr_t misaligned = reinterpret_cast<uintptr_t>(bytes.data()) % kResourceAlignment;
  if (misaligned != 0) {
    return Status{StatusCode::misaligned, "pack bytes are not 16-aligned; map the file (detail = address mod 16)",
                  misaligned};
  }
  PackHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kPackMagic)
    return Status{StatusCode::bad_magic, "no Meridian pack; detail = magic", header.magic};
  if (header.version != kPackVersion) {
    return Status{StatusCode::bad_version, "pack version is not known; detail = version", header.version};
  }
  if (detail::checksum(bytes.first(offsetof(PackHeader, checksum))) != header.checksum) {
    return Status{StatusCode::bad_checksum, "checksum of the pack's header does not match; detail = size",
                  bytes.size()};
  }
  if (bytes.size() < header.file_size) {
    return Status{StatusCode::too_small, "pack is cut off; detail = size that it should have", header.file_size};
  }
  if (bytes.size() > header.file_size) {
    return Status{StatusCode::bad_structure, "bytes follow the pack's end; detail = size that it should have",
                  header.file_size};
  }
  if (header.table_size > kMaxResourceBytes) {
    return Status{StatusCode::too_large, "table of contents is 2 GiB or larger; detail = its size", header.table_size};
  }
  const bool fits = header.table_offset >= sizeof(PackHeader) && header.table_offset <= header.file_size &&
                    header.table_size == header.file_size - header.table_offset &&
                    header.table_offset % kResourceAlignment == 0 && header.reserved[0] == 0 && header.reserved[1] == 0;
  if (!fits) {
    return Status{StatusCode::bad_structure, "table of contents does not fit the pack; detail = its offset",
                  header.table_offset};
  }
  return header;
}

bool verify_table(std::span<const std::byte> table) {
  flatbuffers::Verifier::Options options;
  options.max_depth = 8;
  // As for resources: tables that are shared more often than this are an attack.
  options.max_tables = static_cast<flatbuffers::uoffset_t>(table.size() / 8 + 64);
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(table.data()), table.size(), options);
  return schema::VerifyPackIndexBuffer(verifier);
}

}  // namespace

Result<Pack> open_pack(std::span<const std::byte> bytes, const PackOptions& options) {
  const Result<PackHeader> read = read_header(bytes);
  if (!read.ok()) return read.status();
  const PackHeader& header = read.value();
  const std::span<const std::byte> table = bytes.subspan(static_cast<size_t>(header.table_offset));
  if (!options.trusted) {
    if (detail::checksum(table) != header.table_checksum) {
      return Status{StatusCode::bad_checksum, "checksum of the table of contents does not match; detail = its offset",
                    header.table_offset};
    }
    if (!verify_table(table)) {
      return Status{StatusCode::bad_structure, "table of contents has offsets that do not fit; detail = its offset",
                    header.table_offset};
    }
  }
  const schema::PackIndex& index = *schema::GetPackIndex(table.data());
  const Pack pack = PackAccess::make(bytes, index, options.trusted);
  if (!options.trusted) {
    const Status status = detail::check_pack_index(index, header.table_offset, options.max_resource_bytes);
    if (!status.ok()) return status;
  }
  return pack;
}

bool looks_like_pack(std::span<const std::byte> bytes) {
  uint32_t magic = 0;
  if (bytes.size() < sizeof(PackHeader)) return false;
  std::memcpy(&magic, bytes.data(), sizeof magic);
  return magic == kPackMagic;
}

std::span<const PackEntry> Pack::of_kind(uint32_t kind) const {
  const auto [first, last] = std::equal_range(entries_.begin(), entries_.end(), PackEntry{.kind = kind},
                                              [](const PackEntry& a, const PackEntry& b) { return a.kind < b.kind; });
  return {first, last};
}

const PackEntry* Pack::find(uint32_t kind, NameHash name) const { return detail::find_entry(entries_, {kind, name}); }

std::span<const std::byte> Pack::stored_bytes(const PackEntry& entry) const {
  MERIDIAN_ASSERT(&entry >= entries_.data() && &entry < entries_.data() + entries_.size(),
                  "the entry belongs to another pack, or is a copy");
  return bytes_.subspan(static_cast<size_t>(entry.offset), entry.stored_size);
}

Status Pack::check_stored(const PackEntry& entry) const {
  if (trusted_ || detail::checksum(stored_bytes(entry)) == entry.stored_hash) return {};
  return {StatusCode::bad_checksum, "checksum of an entry does not match: bytes were changed; detail = its offset",
          entry.offset, entry.name};
}

Result<std::span<const std::byte>> Pack::in_place(const PackEntry& entry) const {
  if (!entry.is_stored()) {
    return Status{StatusCode::bad_value, "entry is compressed and can't be used in place; detail = its offset",
                  entry.offset, entry.name};
  }
  if (const Status status = check_stored(entry); !status.ok()) return status;
  return stored_bytes(entry);
}

Result<std::span<const std::byte>> Pack::schema(uint32_t kind) const {
  const PackEntry* const entry = find(kPackSchemaKind, {kind});
  if (entry == nullptr) return std::span<const std::byte>();
  return in_place(*entry);
}

std::string_view Pack::text_of(NameHash name) const {
  const auto* const names = static_cast<const flatbuffers::Vector<flatbuffers::Offset<schema::NameEntry>>*>(names_);
  const schema::NameEntry* const found = names == nullptr ? nullptr : names->LookupByKey(name.value);
  return found == nullptr ? std::string_view() : found->text()->string_view();
}

uint64_t Pack::content_hash() const {
  detail::ContentHash hash;
  for (const PackEntry& entry : entries_) hash.add(entry);
  return hash.value();
}

}  // namespace meridian
