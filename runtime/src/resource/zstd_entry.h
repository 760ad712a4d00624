// SPDX-License-Identifier: MIT
#pragma once
/// One compressed entry with a given context: what all decompressors have in common.

#include <cstddef>
#include <span>

#include <zstd.h>

#include "meridian/base/status.h"
#include "meridian/resource/pack.h"

namespace meridian::detail {

/// What can be done without a context: room, the stored hash, and a stored entry as a whole (then `done`).
Status begin_entry(const Pack& pack, const PackEntry& entry, std::span<std::byte> to, bool& done);

/// The rest. `dictionary` is null where the entry needs none, or it was not prepared.
Status decompress_entry(ZSTD_DCtx* context, const ZSTD_DDict* dictionary, const Pack& pack, const PackEntry& entry,
                        std::span<std::byte> to);

}  // namespace meridian::detail
