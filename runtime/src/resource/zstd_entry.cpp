// SPDX-License-Identifier: MIT
#include "resource/zstd_entry.h"

#include <cstring>

#include "resource/checksum.h"

namespace meridian::detail {
namespace {

Status fault(StatusCode code, const char* message, uint64_t where, NameHash name) {
  return {code, message, where, name};
}

}  // namespace

Status begin_entry(const Pack& pack, const PackEntry& entry, std::span<std::byte> to, bool& done) {
  done = false;
  if (to.size() < entry.raw_size) {
    return fault(StatusCode::too_small, "memory is smaller than the entry; detail = its raw size", entry.raw_size,
                 entry.name);
  }
  if (const Status status = pack.check_stored(entry); !status.ok()) return status;
  if (!entry.is_stored()) return {};
  const std::span<const std::byte> stored = pack.stored_bytes(entry);
  if (!stored.empty()) std::memcpy(to.data(), stored.data(), stored.size());
  done = true;
  return {};
}

Status decompress_entry(ZSTD_DCtx* context, const ZSTD_DDict* dictionary, const Pack& pack, const PackEntry& entry,
                        std::span<std::byte> to) {
  const std::span<const std::byte> stored = pack.stored_bytes(entry);
  const unsigned long long claimed = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (claimed == ZSTD_CONTENTSIZE_ERROR) {
    return fault(StatusCode::bad_value, "entry is no zstd frame; detail = its offset", entry.offset, entry.name);
  }
  if (claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed != entry.raw_size) {
    return fault(StatusCode::bad_value, "frame claims another size than the table; detail = that size", claimed,
                 entry.name);
  }
  if (entry.dictionary.value != 0 && dictionary == nullptr) {
    return fault(StatusCode::not_found, "the dictionary was not prepared; detail = its name", entry.dictionary.value,
                 entry.name);
  }
  // In one pass straight into `to`: no window is allocated, whatever the frame asks for.
  const size_t size =
      ZSTD_decompress_usingDDict(context, to.data(), entry.raw_size, stored.data(), stored.size(), dictionary);
  if (ZSTD_isError(size) != 0 || size != entry.raw_size) {
    return fault(StatusCode::bad_structure, "frame is damaged, or has another size; detail = its offset", entry.offset,
                 entry.name);
  }
  if (!pack.trusted() && checksum(to.first(entry.raw_size)) != entry.raw_hash) {
    return fault(StatusCode::bad_checksum, "checksum of the decompressed bytes does not match; detail = its offset",
                 entry.offset, entry.name);
  }
  return {};
}

}  // namespace meridian::detail
