// SPDX-License-Identifier: MIT
#pragma once
/// zstd as the pack writer uses it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <zstd.h>

namespace meridian::tools {

/// A dictionary in the form that compression wants. Threads: immutable.
class PackDictionary {
 public:
  /// False where libzstd refuses the bytes.
  bool prepare(std::vector<uint8_t> bytes, int level);

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }
  const ZSTD_CDict* prepared() const { return prepared_.get(); }

 private:
  struct Free {
    void operator()(ZSTD_CDict* p) const { ZSTD_freeCDict(p); }
  };
  std::vector<uint8_t> bytes_;
  std::unique_ptr<ZSTD_CDict, Free> prepared_;
};

/// A context for one thread. What it makes depends on its arguments only, not on what it compressed before.
class PackCompressor {
 public:
  PackCompressor();
  /// One frame, with its content size, into `out`, which is replaced. Throws std::bad_alloc.
  void compress(std::span<const std::byte> raw, int level, const PackDictionary* dictionary,
                std::vector<std::byte>& out);

 private:
  struct Free {
    void operator()(ZSTD_CCtx* p) const { ZSTD_freeCCtx(p); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context_;
};

/// What a dictionary hangs on: samples, level, libzstd. Hexadecimal digits, for PackDictionaryStore.
std::string dictionary_key(std::span<const std::span<const std::byte>> samples, int level);

}  // namespace meridian::tools
