// SPDX-License-Identifier: MIT
#include "world_build/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace meridian::tools {

Digest digest_of(const void* data, size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  return {hash.low64, hash.high64};
}

}  // namespace meridian::tools
