// SPDX-License-Identifier: MIT
// Links what reads packs.
#include <cstdlib>

#include "meridian/resource/pack_decompressor.h"

int main() {
  alignas(16) const std::byte no_pack[64] = {};
  const bool refused = meridian::open_pack(no_pack).status().code == meridian::StatusCode::bad_magic;
  meridian::PackDecompressor decompressor;
  return refused && decompressor.prepare({}).ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}
