// SPDX-License-Identifier: MIT
#pragma once
/// zstd frames made with libzstd itself, for tests of what reads and writes packs.

#include <zdict.h>
#include <zstd.h>

#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace meridian::test {

/// One frame. `content_size` false: as of a stream that did not know how long it would be.
inline std::string zstd_frame(std::string_view raw, bool content_size = true, std::string_view dictionary = {}) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 5);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, content_size ? 1 : 0);
  if (!dictionary.empty()) ZSTD_CCtx_loadDictionary(context, dictionary.data(), dictionary.size());
  std::string out(ZSTD_compressBound(raw.size()), '\0');
  const size_t size = ZSTD_compress2(context, out.data(), out.size(), raw.data(), raw.size());
  ZSTD_freeCCtx(context);
  if (ZSTD_isError(size) != 0) throw std::runtime_error(ZSTD_getErrorName(size));
  out.resize(size);
  return out;
}

/// Text that compresses, another for each seed, of words that all seeds share.
inline std::string wordy_text(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string out;
  while (out.size() < size) out += "entity_" + std::to_string(random() % 50) + " rotation 0 0 0 1 scale 1; ";
  out.resize(size);
  return out;
}

/// Text that does not.
inline std::string noisy_text(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random() & 0xFF);
  return out;
}

/// A dictionary for wordy texts.
inline std::string wordy_dictionary() {
  std::string joined;
  std::vector<size_t> sizes;
  for (uint32_t seed = 1000; seed < 1200; ++seed) {
    joined += wordy_text(500, seed);
    sizes.push_back(500);
  }
  std::string out(4096, '\0');
  const size_t size =
      ZDICT_trainFromBuffer(out.data(), out.size(), joined.data(), sizes.data(), static_cast<unsigned>(sizes.size()));
  if (ZDICT_isError(size) != 0) throw std::runtime_error(ZDICT_getErrorName(size));
  out.resize(size);
  return out;
}

}  // namespace meridian::test
