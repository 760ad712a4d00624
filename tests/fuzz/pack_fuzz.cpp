// SPDX-License-Identifier: MIT
// REL-1, PACK-3: any bytes are refused or open as a pack; of what opens, each entry lies inside, is refused by its own
// name, or gives bytes of the hash and size that the table says. Checksums are put right, so that mutations reach what
// stands behind them: first those of header and table, then those of the entries' stored bytes.

#include <cstdlib>
#include <cstring>
#include <vector>

#include "fuzz/resource_input.h"
#include "meridian/resource/pack_decompressor.h"
#include "support/pack_maker.h"

namespace {

using namespace meridian;
using test::require;

constexpr uint32_t kLimit = 1 << 20;

void read_all(const Pack& pack, std::span<const std::byte> bytes) {
  PackDecompressor decompressor;
  const Status ready = decompressor.prepare(pack);
  uint64_t budget = 16 << 20;  // many small frames may claim much together
  for (const PackEntry& entry : pack.entries()) {
    const auto stored = pack.stored_bytes(entry);
    require(stored.data() >= bytes.data() + sizeof(PackHeader) &&
            stored.data() + stored.size() <= bytes.data() + bytes.size());
    require(pack.find(entry.kind, entry.name) == &entry);
    (void)pack.text_of(entry.name);
    (void)pack.schema(entry.name.value);
    if ((!ready.ok() && !entry.is_stored()) || entry.raw_size > budget) continue;
    budget -= entry.raw_size;
    std::vector<std::byte> memory(entry.raw_size);  // of just that size, for the sanitizers
    const Status status = decompressor.read(pack, entry, memory);
    require(status.ok() ? XXH3_64bits(memory.data(), memory.size()) == entry.raw_hash : status.name == entry.name);
    require(!entry.is_stored() || pack.in_place(entry).ok() == status.ok());
  }
  (void)pack.content_hash();
  for (const uint32_t i : pack.order()) require(i < pack.entries().size());
}

/// Stored hashes as the bytes are, so that damaged frames and dictionaries reach libzstd.
void repair_entries(std::span<std::byte> bytes, const Pack& pack) {
  for (const PackEntry& entry : pack.entries()) {
    const auto stored = pack.stored_bytes(entry);
    PackEntry fixed = entry;
    fixed.stored_hash = XXH3_64bits(stored.data(), stored.size());
    if (entry.is_stored()) fixed.raw_hash = fixed.stored_hash;
    const auto at = static_cast<size_t>(reinterpret_cast<const std::byte*>(&entry) - bytes.data());
    std::memcpy(bytes.data() + at, &fixed, sizeof fixed);
  }
  test::PackMaker::seal(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  test::AlignedInput input({data, size});
  const PackOptions options{.max_resource_bytes = kLimit};
  if (const Result<Pack> opened = open_pack(input.bytes(), options); opened.ok())
    read_all(opened.value(), input.bytes());
  test::PackMaker::seal(input.bytes());
  const Result<Pack> sealed = open_pack(input.bytes(), options);
  if (!sealed.ok()) return 0;
  read_all(sealed.value(), input.bytes());
  repair_entries(input.bytes(), sealed.value());
  // Dictionaries are named by their hash, so a changed one may now be refused.
  const Result<Pack> repaired = open_pack(input.bytes(), options);
  if (repaired.ok()) read_all(repaired.value(), input.bytes());
  return 0;
}
