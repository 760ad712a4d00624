// SPDX-License-Identifier: MIT
// PACK-1, PACK-2, PACK-5: random packs hold what a plain map holds, whatever the options, and a patch leads from one
// map to the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include "support/pack_kit.h"
#include "support/temp_dir.h"
#include "support/zstd_frames.h"

namespace meridian::test {
namespace {

using Model = PackContents;

uint32_t first_seed() {
  const char* const given = std::getenv("MERIDIAN_PROPERTY_SEED");
  return given != nullptr ? static_cast<uint32_t>(std::strtoul(given, nullptr, 10)) : 1;
}

class PackProperty : public ::testing::Test {
 protected:
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

  std::string random_content() {
    const uint32_t sizes[] = {0, 1, 15, 64, 300, 2000, 40'000};
    const size_t size = below(sizes[below(7)] + 1);
    switch (below(4)) {
      case 0:
        return noisy_text(size, below(1000));
      case 1:
        return std::string(size, '\0');
      default:
        return wordy_text(size, below(1000));
    }
  }

  Model random_model() {
    const uint32_t kinds[] = {kind_of("IMAP"), kind_of("ITYP"), kind_of("WPNS"), 0, 0xFFFFFFFF, kPackSchemaKind};
    Model model;
    for (uint32_t count = below(60); count > 0; --count)
      model[{kinds[below(6)], hash_name("n" + std::to_string(below(40))).value}] = random_content();
    return model;
  }

  std::vector<tools::PackInput> inputs_of(const Model& model) {
    std::vector<tools::PackInput> inputs;
    for (const auto& [key, content] : model) {
      tools::PackInput input = text_input(key.first, "", content, below(5));
      input.name = {key.second};
      for (int i = 0; i < 40 && below(3) != 0; ++i)
        if (hash_name("n" + std::to_string(i)) == input.name) input.text = "n" + std::to_string(i);
      inputs.push_back(std::move(input));
    }
    std::shuffle(inputs.begin(), inputs.end(), random_);
    return inputs;
  }

  tools::PackWriteOptions random_options() {
    tools::PackWriteOptions options;
    options.level = static_cast<int>(below(7));
    options.store_below = below(3) * 200;
    options.min_saving_percent = below(101);
    options.train_dictionaries = below(4) == 0;
    options.names = below(2) == 0;
    options.jobs = below(4);
    return options;
  }

  std::mt19937 random_;
};

TEST_F(PackProperty, RandomPacksHoldWhatAMapHolds) {
  const TempDir dir;
  for (uint32_t seed = first_seed(); seed < first_seed() + 150; ++seed) {
    SCOPED_TRACE("MERIDIAN_PROPERTY_SEED=" + std::to_string(seed));
    random_.seed(seed);
    const Model before = random_model();
    Model after = before;
    for (const auto& [key, content] : random_model()) {
      if (below(3) == 0)
        after.erase(key);
      else
        after[key] = content;
    }
    const auto write = [&](const char* name, const Model& model) {
      const auto result = tools::write_pack(dir.path(name), inputs_of(model), random_options());
      ASSERT_NE(result.outcome, tools::WriteOutcome::failed) << result.message;
    };
    write("a.mpk", before);
    write("b.mpk", after);
    if (HasFatalFailure()) return;
    const auto a = open_file(dir.path("a.mpk")), b = open_file(dir.path("b.mpk"));
    ASSERT_TRUE(a && b);
    ASSERT_EQ(contents_of(a->pack()), before);
    ASSERT_EQ(contents_of(b->pack()), after);
    EXPECT_EQ(a->pack().content_hash() == b->pack().content_hash(), before == after);

    size_t different = 0;
    for (const auto& [key, content] : before) different += after.count(key) == 0 || after.at(key) != content ? 1 : 0;
    for (const auto& [key, content] : after) different += before.count(key) == 0 ? 1 : 0;
    EXPECT_EQ(tools::pack_diff_lines(a->pack(), b->pack()).size(), different);

    const auto result = tools::write_patch_pack(dir.path("p.mpk"), a->pack(), inputs_of(after), random_options());
    ASSERT_NE(result.outcome, tools::WriteOutcome::failed) << result.message;
    const auto patch = open_file(dir.path("p.mpk"));
    ASSERT_TRUE(patch);
    EXPECT_EQ(contents_of(patch->pack()).size() + patch->pack().removed().size(), different);
    Model patched = before;
    for (const PackKey& key : patch->pack().removed()) patched.erase({key.kind, key.name.value});
    for (const auto& [key, content] : contents_of(patch->pack())) patched[key] = content;
    ASSERT_EQ(patched, after);
  }
}

}  // namespace
}  // namespace meridian::test
