// SPDX-License-Identifier: MIT
// Rule: PACK-2 (dictionaries in the cache).
#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/pack_kit.h"
#include "support/temp_dir.h"
#include "world_makers.h"

namespace meridian::tools {
namespace {

namespace fs = std::filesystem;
using test::build;
using test::map_of;
using test::open_file;
using test::TempDir;
using test::types_of;
using Words = std::vector<std::string>;

/// So many maps that a dictionary pays for them.
void write_many_maps(const TempDir& dir) {
  std::mt19937 random(1);
  const auto place = [&] { return static_cast<double>(random() % 18000) / 100 - 90; };
  for (int i = 0; i < 500; ++i) {
    std::vector<test::Placed> placed;
    for (int e = 0; e < 12; ++e) placed.push_back({"qa_bench", place(), place(), place()});
    dir.write("m" + std::to_string(i) + ".ymap.xml", map_of(placed));
  }
  dir.write("t.ytyp.xml", types_of({"qa_bench"}));
}

std::vector<std::string> dictionaries_in(const TempDir& cache) {
  std::vector<std::string> out;
  for (const std::string& file : cache.files())
    if (file.ends_with(".dict")) out.push_back(file);
  return out;
}

TEST(CachedDictionaries, AreTrainedOnceAndGiveTheSameBytes) {  // PACK-2
  const TempDir sources, cache, one, two, damaged, none;
  write_many_maps(sources);
  const Words with = {"--dictionaries", "--cache", cache.path()};
  ASSERT_EQ(build(sources, one, with).exit, 0);
  const std::vector<std::string> entries = dictionaries_in(cache);
  ASSERT_EQ(entries.size(), 3u);  // maps, type files and the index: too few of these, which is known now too
  ASSERT_GT(open_file(one.path("world.mpk"))->pack().of_kind(kPackDictionaryKind).size(), 0u);
  const auto time = fs::last_write_time(cache.path(entries[0])) - std::chrono::hours(1);
  for (const std::string& entry : entries) fs::last_write_time(cache.path(entry), time);
  const auto bytes = cache.read(entries[0]);
  ASSERT_EQ(build(sources, two, with).exit, 0);
  EXPECT_EQ(two.read("world.mpk"), one.read("world.mpk"));
  EXPECT_GT(fs::last_write_time(cache.path(entries[0])), time);  // used
  EXPECT_EQ(dictionaries_in(cache), entries);
  ASSERT_EQ(build(sources, none, {"--dictionaries"}).exit, 0);
  EXPECT_EQ(none.read("world.mpk"), one.read("world.mpk"));
  for (const std::string& entry : entries) {
    std::string broken = cache.read(entry);
    broken[broken.size() / 2] = static_cast<char>(broken[broken.size() / 2] ^ 1);
    cache.write(entry, broken);
  }
  ASSERT_EQ(build(sources, damaged, with).exit, 0);
  EXPECT_EQ(damaged.read("world.mpk"), one.read("world.mpk"));
  EXPECT_EQ(cache.read(entries[0]), bytes);  // made anew
}

TEST(CachedDictionaries, OneUnderAnothersNameIsIgnored) {
  const TempDir sources, cache, one, two;
  write_many_maps(sources);
  const Words with = {"--dictionaries", "--cache", cache.path()};
  ASSERT_EQ(build(sources, one, with).exit, 0);
  const std::vector<std::string> entries = dictionaries_in(cache);
  ASSERT_EQ(entries.size(), 3u);
  const std::string first = cache.read(entries[0]);
  cache.write(entries[0], cache.read(entries[1]));
  cache.write(entries[1], first);
  ASSERT_EQ(build(sources, two, with).exit, 0);
  EXPECT_EQ(two.read("world.mpk"), one.read("world.mpk"));
}

}  // namespace
}  // namespace meridian::tools
