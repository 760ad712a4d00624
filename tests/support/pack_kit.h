// SPDX-License-Identifier: MIT
#pragma once
/// Packs as maps, for tests of what writes them.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meridian/tools/pack_view.h"
#include "meridian/tools/pack_writer.h"

namespace meridian::test {

/// (kind, name hash) -> the whole resource; dictionaries left out.
using PackContents = std::map<std::pair<uint32_t, uint32_t>, std::string>;

inline tools::PackInput text_input(uint32_t kind, std::string name, std::string_view bytes, uint64_t order = 0) {
  return tools::pack_input(kind, std::move(name), {bytes.begin(), bytes.end()}, order);
}

inline PackContents contents_of(const Pack& pack) {
  PackContents out;
  tools::PackEntryReader reader(pack);
  for (const PackEntry& entry : pack.entries()) {
    std::span<const std::byte> bytes;
    std::string error;
    EXPECT_TRUE(reader.read(entry, bytes, error)) << error;
    if (entry.kind != kPackDictionaryKind)
      out[{entry.kind, entry.name.value}] = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  return out;
}

inline std::unique_ptr<tools::PackFile> open_file(const std::string& path) {
  std::string error;
  int code = 0;
  auto file = tools::PackFile::open(path, error, code);
  EXPECT_NE(file, nullptr) << error;
  return file;
}

inline PackContents contents_of(const std::string& path) {
  const auto file = open_file(path);
  return file ? contents_of(file->pack()) : PackContents();
}

}  // namespace meridian::test
