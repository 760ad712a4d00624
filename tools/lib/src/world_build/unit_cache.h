// SPDX-License-Identifier: MIT
#pragma once
/// The cache of worldc: a folder of files named by the hash of what they were made from. Any number of builds, on any
/// number of machines, may share one; losing it costs time only.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/tools/compile.h"
#include "meridian/tools/pack_writer.h"
#include "world_build/digest.h"

namespace meridian::tools {

/// What compiling one source gave. Views live as long as it does.
struct CompiledUnit {
  std::span<const uint8_t> resource;  ///< 16-aligned; empty: the source has errors
  std::vector<Finding> findings;
  std::vector<Waiver> waivers;                          ///< text is set once the source is at hand (see waiver_texts)
  std::vector<std::pair<size_t, size_t>> waiver_texts;  ///< offset and size of each waiver's text
  std::vector<std::pair<uint32_t, std::string_view>> names;
  std::vector<size_t> name_offsets;  ///< parallel to names

  std::shared_ptr<const void> owner;
};

class BuildCache {
 public:
  /// An empty folder name: no cache. Errors show when something is written.
  explicit BuildCache(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }

  /// A compiled source, or null. A damaged entry is as good as none.
  std::shared_ptr<const CompiledUnit> find_unit(const Digest& key) const;
  /// Packs a result, puts it into the cache, and gives it back as an entry. `error`: errno's value if it was not
  /// stored.
  std::shared_ptr<const CompiledUnit> store_unit(const Digest& key, const CompileResult& result,
                                                 const SourceText& source, int& error) const;

  /// A trained dictionary by its key (hexadecimal digits), possibly an empty one. False: none, or a damaged one.
  bool find_dictionary(std::string_view key, std::vector<uint8_t>& out) const;
  /// Returns errno's value.
  int store_dictionary(std::string_view key, std::span<const uint8_t> dictionary) const;

  /// Deletes what was not used longest until at most `limit` bytes are left. Returns the bytes deleted.
  uint64_t trim(uint64_t limit) const;

 private:
  std::string path_of(std::string_view hex, std::string_view extension) const;

  std::string folder_;
};

/// The cache as the writer of packs sees it. What cannot be stored is trained again next time.
class CachedDictionaries : public PackDictionaryStore {
 public:
  explicit CachedDictionaries(const BuildCache& cache) : cache_(cache) {}
  bool find(std::string_view key, std::vector<uint8_t>& out) override { return cache_.find_dictionary(key, out); }
  void keep(std::string_view key, std::span<const uint8_t> dictionary) override {
    (void)cache_.store_dictionary(key, dictionary);
  }

 private:
  const BuildCache& cache_;
};

}  // namespace meridian::tools
