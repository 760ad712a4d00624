// SPDX-License-Identifier: MIT
// One spelling for each hash, the first in document order, whatever the order in which threads meet them (READ-4).
#include "name_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "meridian/base/name_hash.h"

namespace meridian::tools {
namespace {

void add(NameTable& t, std::string_view text, size_t offset) {
  t.add(hash_name(text).value, text, [&] { return offset; });
}

TEST(NameTable, TheFirstSpellingInDocumentOrderWins) {
  NameTable t;
  add(t, "qa_Box", 50);
  add(t, "QA_BOX", 10);
  add(t, "qa_box", 90);
  const std::vector<NameUse> uses = t.take();
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].text, "QA_BOX");
  EXPECT_EQ(uses[0].offset, 10u);
  EXPECT_EQ(uses[0].hash, hash_name("qa_box").value);
}

TEST(NameTable, TwoNamesWithOneHashStayApart) {
  NameTable t;
  ASSERT_EQ(hash_name("qa_coral_wall_401").value, 0xC87100DBu);
  add(t, "qa_maple_pipe_090", 7);
  add(t, "qa_coral_wall_401", 3);
  const std::vector<NameUse> uses = t.take();
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].text, "qa_coral_wall_401");  // by first use
  EXPECT_EQ(uses[1].text, "qa_maple_pipe_090");
}

TEST(NameTable, OnlyAsciiCaseIsOneName) {
  NameTable t;
  add(t, "\xC3\x84", 1);  // capital and small a with diaeresis: other bytes, another name
  add(t, "\xC3\xA4", 2);
  EXPECT_EQ(t.take().size(), 2u);
}

TEST(NameTable, AnySplitOverThreadsGivesTheSame) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    struct Use {
      std::string text;
      size_t offset;
    };
    std::vector<Use> uses;
    for (size_t i = 0; i < 300; ++i) {
      std::string text = "n" + std::to_string(random() % 80);
      if (random() % 2 == 0) text[0] = 'N';
      uses.push_back({text, i * 10});
    }
    // By hand: for each hash the use with the smallest offset.
    std::map<uint32_t, Use> expected;
    for (const Use& u : uses) expected.try_emplace(hash_name(u.text).value, u);
    std::shuffle(uses.begin(), uses.end(), random);
    std::vector<NameTable> parts(1 + random() % 5);
    for (const Use& u : uses) add(parts[random() % parts.size()], u.text, u.offset);
    NameTable whole;
    for (const NameTable& p : parts) whole.merge(p);
    const std::vector<NameUse> got = whole.take();
    ASSERT_EQ(got.size(), expected.size());
    auto it = expected.begin();
    for (const NameUse& g : got) {
      EXPECT_EQ(g.hash, it->first);
      EXPECT_EQ(g.text, it->second.text);
      EXPECT_EQ(g.offset, it->second.offset);
      ++it;
    }
  }
}

TEST(NameTable, ManyNamesWithNearHashes) {
  NameTable t;
  for (uint32_t i = 0; i < 50000; ++i) t.add(i * 64, "x" + std::to_string(i), [&] { return size_t{i}; });
  EXPECT_EQ(t.take().size(), 50000u);
}

}  // namespace
}  // namespace meridian::tools
