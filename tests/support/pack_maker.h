// SPDX-License-Identifier: MIT
#pragma once
/// Lays out packs by the book (docs/packs.md), row by row, without the pack writer: what readers are tested with, sound
/// and unsound.
///
///   PackMaker maker;
///   maker.store(kind, "town", bytes);
///   maker.frame(kind, "hills", raw, zstd_frame);
///   maker.rows()[0].raw_size = 7;                  // a lie
///   const PackBuffer pack = maker.make();

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/resource/pack.h"
#include "meridian/schemas/pack_generated.h"

namespace meridian::test {

inline uint64_t xxh3(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

/// Bytes at an address that is a multiple of 64, as of a mapped file, that end where their memory ends but for less
/// than 64 bytes.
class PackBuffer {
 public:
  explicit PackBuffer(std::string_view bytes) : lines_((bytes.size() + 63) / 64), size_(bytes.size()) {
    if (size_ > 0) std::memcpy(lines_.data(), bytes.data(), size_);
  }
  std::span<std::byte> span() { return {reinterpret_cast<std::byte*>(lines_.data()), size_}; }
  std::span<const std::byte> span() const { return {reinterpret_cast<const std::byte*>(lines_.data()), size_}; }
  std::string text() const { return {reinterpret_cast<const char*>(lines_.data()), size_}; }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
  size_t size_;
};

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

class PackMaker {
 public:
  PackMaker() : file_(sizeof(PackHeader), '\0') {}

  /// An entry as it is. Gives its row, which may be changed until the next call.
  PackEntry& store(uint32_t kind, std::string_view name, std::string_view raw) {
    file_.resize((file_.size() + 63) / 64 * 64);
    return add(kind, name, raw, raw, 0);
  }
  /// An entry whose bytes in the file are `frame`.
  PackEntry& frame(uint32_t kind, std::string_view name, std::string_view raw, std::string_view frame) {
    return add(kind, name, raw, frame, PackEntry::kZstd);
  }
  PackEntry& dictionary(std::string_view bytes) {
    PackEntry& row = store(kPackDictionaryKind, "", bytes);
    row.name = {static_cast<uint32_t>(xxh3(bytes))};
    return row;
  }

  std::vector<PackEntry>& rows() { return rows_; }             ///< in the order of the file
  std::map<uint32_t, std::string>& names() { return names_; }  ///< hash -> text
  std::vector<PackKey>& removed() { return removed_; }
  void set_base(uint64_t content) { base_ = content; }
  void set_sorted(bool sorted) { sorted_ = sorted; }  ///< false: rows stay in the order of the file
  void set_order(std::vector<uint32_t> order) { order_ = std::move(order); }

  PackBuffer make() const {
    std::vector<uint32_t> by_key(rows_.size()), order(rows_.size());
    for (uint32_t i = 0; i < by_key.size(); ++i) by_key[i] = i;
    if (sorted_) {
      std::stable_sort(by_key.begin(), by_key.end(),
                       [&](uint32_t a, uint32_t b) { return rows_[a].key() < rows_[b].key(); });
    }
    flatbuffers::FlatBufferBuilder builder;
    std::vector<schema::PackEntry> entries;
    for (uint32_t i = 0; i < by_key.size(); ++i) {
      const PackEntry& e = rows_[by_key[i]];
      order[by_key[i]] = i;
      entries.emplace_back(e.kind, e.name.value, e.offset, e.stored_hash, e.raw_hash, e.stored_size, e.raw_size,
                           e.dictionary.value, static_cast<schema::PackFlags>(e.flags));
    }
    std::vector<flatbuffers::Offset<schema::NameEntry>> names;
    for (const auto& [hash, text] : names_)
      names.push_back(schema::CreateNameEntry(builder, hash, builder.CreateString(text)));
    std::vector<schema::PackKey> removed;
    for (const PackKey& key : removed_) removed.emplace_back(key.kind, key.name.value);
    const auto rows = builder.CreateVectorOfStructs(entries);
    const auto in_order = builder.CreateVector(order_.empty() ? order : order_);
    const auto all_names = builder.CreateVector(names);
    const auto all_removed = builder.CreateVectorOfStructs(removed);
    schema::FinishPackIndexBuffer(builder,
                                  schema::CreatePackIndex(builder, rows, in_order, all_names, base_, all_removed));
    std::string file = file_;
    file.resize((file.size() + 15) / 16 * 16);
    PackHeader header{.magic = kPackMagic, .version = kPackVersion};
    header.table_offset = file.size();
    file.append(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
    header.table_size = builder.GetSize();
    std::memcpy(file.data(), &header, sizeof header);
    PackBuffer out(file);
    seal(out.span());
    return out;
  }

  /// Puts sizes and checksums of header and table right, after a test or fuzzer changed bytes. Nothing where the
  /// header has no room or its table lies outside.
  static void seal(std::span<std::byte> bytes) {
    PackHeader header;
    if (bytes.size() < sizeof header) return;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.table_offset > bytes.size()) return;
    header.magic = kPackMagic;
    header.version = kPackVersion;
    header.file_size = bytes.size();
    header.table_size = bytes.size() - header.table_offset;
    const auto table = bytes.subspan(static_cast<size_t>(header.table_offset));
    header.table_checksum = XXH3_64bits(table.data(), table.size());
    header.reserved[0] = header.reserved[1] = 0;
    header.checksum = XXH3_64bits(&header, offsetof(PackHeader, checksum));
    std::memcpy(bytes.data(), &header, sizeof header);
  }

 private:
  PackEntry& add(uint32_t kind, std::string_view name, std::string_view raw, std::string_view stored, uint32_t flags) {
    PackEntry row{.kind = kind, .name = hash_name(name), .offset = file_.size()};
    row.stored_hash = xxh3(stored);
    row.raw_hash = xxh3(raw);
    row.stored_size = static_cast<uint32_t>(stored.size());
    row.raw_size = static_cast<uint32_t>(raw.size());
    row.flags = flags;
    file_ += stored;
    if (stored.empty()) file_ += '\0';
    rows_.push_back(row);
    return rows_.back();
  }

  std::string file_;
  std::vector<PackEntry> rows_;
  std::vector<uint32_t> order_;
  std::map<uint32_t, std::string> names_;
  std::vector<PackKey> removed_;
  uint64_t base_ = 0;
  bool sorted_ = true;
};

}  // namespace meridian::test
