// SPDX-License-Identifier: MIT
#include "pack_codec.h"

#include <new>
#include <utility>

#define ZDICT_STATIC_LINKING_ONLY  // the trainer that takes its number of threads
#include <zdict.h>

#include "meridian/tools/pack_writer.h"
#include "world_build/digest.h"

namespace meridian::tools {
namespace {

constexpr uint32_t kTrainerVersion = 1;         // raised with any change of how samples become a dictionary
constexpr size_t kDictionaryBytes = 64 * 1024;  // 110 KiB, zstd's habit, gains 1 % more on maps
/// Training looks at a hundred times a dictionary's size with profit, says zstd's manual.
constexpr size_t kMaxSampleBytes = 100 * kDictionaryBytes;

size_t checked(size_t result) {
  // Sizes are right by construction, so memory is all that can be wrong.
  if (ZSTD_isError(result) != 0) throw std::bad_alloc();
  return result;
}

}  // namespace

bool PackDictionary::prepare(std::vector<uint8_t> bytes, int level) {
  bytes_ = std::move(bytes);
  prepared_.reset(ZSTD_createCDict(bytes_.data(), bytes_.size(), level));
  return prepared_ != nullptr;
}

PackCompressor::PackCompressor() : context_(ZSTD_createCCtx()) {
  if (!context_) throw std::bad_alloc();
}

void PackCompressor::compress(std::span<const std::byte> raw, int level, const PackDictionary* dictionary,
                              std::vector<std::byte>& out) {
  checked(ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_and_parameters));
  checked(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level));
  if (dictionary != nullptr) checked(ZSTD_CCtx_refCDict(context_.get(), dictionary->prepared()));
  out.resize(ZSTD_compressBound(raw.size()));
  out.resize(checked(ZSTD_compress2(context_.get(), out.data(), out.size(), raw.data(), raw.size())));
}

std::string dictionary_key(std::span<const std::span<const std::byte>> samples, int level) {
  DigestBuilder key;
  key.add(uint32_t{kTrainerVersion});
  key.add(ZSTD_versionNumber());
  key.add(level);
  for (const std::span<const std::byte> sample : samples) {
    const Digest digest = digest_of(sample.data(), sample.size());
    key.add(digest.low);
    key.add(digest.high);
  }
  return key.digest().hex();
}

std::vector<uint8_t> train_pack_dictionary(std::span<const std::span<const std::byte>> samples, int level) {
  std::vector<std::byte> joined;
  std::vector<size_t> sizes;
  for (const std::span<const std::byte> sample : samples) {
    if (sample.empty() || sample.size() > kMaxDictionarySample) continue;
    if (joined.size() + sample.size() > kMaxSampleBytes) break;
    joined.insert(joined.end(), sample.begin(), sample.end());
    sizes.push_back(sample.size());
  }
  if (sizes.size() < kMinDictionarySamples) return {};
  std::vector<uint8_t> trained(kDictionaryBytes);
  ZDICT_fastCover_params_t parameters{};  // zero: what zstd's own trainer finds best
  parameters.d = 8;
  parameters.steps = 4;
  parameters.nbThreads = 1;
  parameters.zParams.compressionLevel = level;
  const size_t size = ZDICT_optimizeTrainFromBuffer_fastCover(
      trained.data(), trained.size(), joined.data(), sizes.data(), static_cast<unsigned>(sizes.size()), &parameters);
  if (ZDICT_isError(size) != 0) return {};  // too little to learn
  trained.resize(size);

  PackDictionary dictionary;
  if (!dictionary.prepare(trained, level)) return {};
  PackCompressor compressor;
  std::vector<std::byte> frame;
  size_t plain = 0, with = trained.size();
  std::span<const std::byte> rest(joined);
  for (const size_t sample : sizes) {
    compressor.compress(rest.first(sample), level, nullptr, frame);
    plain += frame.size();
    compressor.compress(rest.first(sample), level, &dictionary, frame);
    with += frame.size();
    rest = rest.subspan(sample);
  }
  return with < plain ? trained : std::vector<uint8_t>();
}

}  // namespace meridian::tools
