// SPDX-License-Identifier: MIT
// Rules: PACK-1 (layout), PACK-2 (what is compressed how), PACK-3 and REL-3 (kills), PACK-4 (size and count),
// PACK-5 (patches), REL-6 (same bytes).
#include "meridian/tools/pack_writer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/pack_kit.h"
#include "support/temp_dir.h"
#include "support/zstd_frames.h"

namespace meridian::tools {
namespace {

using test::contents_of;
using test::noisy_text;
using test::open_file;
using test::PackContents;
using test::TempDir;
using test::text_input;
using test::wordy_text;

constexpr uint32_t kMap = kind_of("IMAP"), kTypes = kind_of("ITYP");

PackWriteResult written(const std::string& path, std::span<const PackInput> inputs,
                        const PackWriteOptions& options = {}) {
  PackWriteResult result = write_pack(path, inputs, options);
  EXPECT_NE(result.outcome, WriteOutcome::failed) << result.message;
  return result;
}

/// Many small maps and some types, as of a world.
std::vector<PackInput> small_world(uint32_t maps = 60) {
  std::vector<PackInput> inputs;
  for (uint32_t i = 0; i < maps; ++i)
    inputs.push_back(text_input(kMap, "map_" + std::to_string(i), wordy_text(300 + 40 * i, i), 1 + i * 7 % 60));
  inputs.push_back(text_input(kTypes, "props", wordy_text(40'000, 77), 0));
  inputs.push_back(text_input(kTypes, "noise", noisy_text(5'000, 78), 0));
  return inputs;
}

const PackEntry& entry_of(const Pack& pack, uint32_t kind, std::string_view name) {
  const PackEntry* const entry = pack.find(kind, hash_name(name));
  EXPECT_NE(entry, nullptr) << name;
  return *entry;
}

// PACK-1
TEST(PackWriter, LaysOutInStreamingOrder) {
  const TempDir dir;
  const std::vector<PackInput> inputs = small_world();
  written(dir.path("w.mpk"), inputs);
  const auto file = open_file(dir.path("w.mpk"));
  const Pack& pack = file->pack();
  std::vector<std::pair<uint64_t, PackKey>> expected;
  for (const PackInput& input : inputs) expected.push_back({input.order, {input.kind, input.name}});
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(pack.order().size(), expected.size());
  uint64_t end = 64;
  for (size_t i = 0; i < expected.size(); ++i) {
    const PackEntry& entry = pack.entries()[pack.order()[i]];
    EXPECT_EQ(entry.key(), expected[i].second) << i;
    EXPECT_GE(entry.offset, end);
    EXPECT_LT(entry.offset, end + 64);
    EXPECT_TRUE(!entry.is_stored() || entry.offset % 64 == 0);
    end = entry.offset + entry.stored_size;
  }
  EXPECT_EQ(pack.text_of(hash_name("map_3")), "map_3");
}

// PACK-2
TEST(PackWriter, CompressesWhatIsLargeEnoughAndShrinks) {
  const TempDir dir;
  const std::vector<PackInput> inputs = {text_input(kMap, "tiny", wordy_text(255, 1)),
                                         text_input(kMap, "small", wordy_text(256, 2)),
                                         text_input(kMap, "noise", noisy_text(10'000, 3)),
                                         text_input(kMap, "large", wordy_text(1 << 20, 4)),
                                         text_input(kMap, "empty", ""),
                                         text_input(kPackSchemaKind, "schema", wordy_text(10'000, 5))};
  const PackWriteResult result = written(dir.path("w.mpk"), inputs);
  const auto file = open_file(dir.path("w.mpk"));
  const Pack& pack = file->pack();
  for (const char* name : {"tiny", "noise", "empty"}) EXPECT_TRUE(entry_of(pack, kMap, name).is_stored()) << name;
  for (const char* name : {"small", "large"}) EXPECT_FALSE(entry_of(pack, kMap, name).is_stored()) << name;
  EXPECT_TRUE(entry_of(pack, kPackSchemaKind, "schema").is_stored());
  EXPECT_EQ(result.report.stored, 4u);
  EXPECT_EQ(result.report.compressed, 2u);
  EXPECT_EQ(result.report.raw_bytes, 255u + 256 + 10'000 + (1 << 20) + 10'000);
  EXPECT_EQ(result.report.pack_bytes, std::filesystem::file_size(dir.path("w.mpk")));
  EXPECT_EQ(contents_of(pack).size(), 6u);

  written(dir.path("s.mpk"), inputs, {.level = 0});
  const auto stored = open_file(dir.path("s.mpk"));
  for (const PackEntry& entry : stored->pack().entries()) EXPECT_TRUE(entry.is_stored());
  written(dir.path("h.mpk"), std::vector{inputs[1], text_input(kMap, "even", std::string(10'000, 'x'))},
          {.store_below = 0, .min_saving_percent = 99});
  EXPECT_FALSE(entry_of(open_file(dir.path("h.mpk"))->pack(), kMap, "even").is_stored());
  EXPECT_TRUE(entry_of(open_file(dir.path("h.mpk"))->pack(), kMap, "small").is_stored());
}

// PACK-2
TEST(PackWriter, TrainsADictionaryForEachKindWithEnoughSamples) {
  const TempDir dir;
  const std::vector<PackInput> inputs = small_world(200);
  const PackWriteResult plain = written(dir.path("plain.mpk"), inputs);
  const PackWriteResult with = written(dir.path("with.mpk"), inputs, {.train_dictionaries = true});
  EXPECT_EQ(plain.report.with_dictionary, 0u);
  EXPECT_EQ(with.report.with_dictionary, 200u);
  EXPECT_LT(with.report.pack_bytes, plain.report.pack_bytes);
  ASSERT_EQ(with.report.dictionaries.size(), 1u);  // two samples of types are too few
  const auto file = open_file(dir.path("with.mpk"));
  const Pack& pack = file->pack();
  ASSERT_EQ(pack.of_kind(kPackDictionaryKind).size(), 1u);
  const PackEntry& dictionary = pack.of_kind(kPackDictionaryKind)[0];
  EXPECT_EQ(with.report.dictionaries.at(kMap), dictionary.name);
  EXPECT_EQ(entry_of(pack, kMap, "map_5").dictionary, dictionary.name);
  EXPECT_EQ(pack.order()[0], static_cast<uint32_t>(&dictionary - pack.entries().data()));
  EXPECT_EQ(contents_of(pack), contents_of(dir.path("plain.mpk")));

  // The same dictionary as an input, as of a cache.
  const auto bytes = pack.stored_bytes(dictionary);
  const auto* const first = reinterpret_cast<const uint8_t*>(bytes.data());
  PackWriteOptions options;
  options.dictionaries[kMap] = {first, first + bytes.size()};
  written(dir.path("given.mpk"), inputs, options);
  EXPECT_EQ(dir.read("given.mpk"), dir.read("with.mpk"));
}

// PACK-2
TEST(PackWriter, DictionaryThatDoesNotPayIsLeftOut) {
  std::vector<std::string> noise, few;
  for (uint32_t i = 0; i < 40; ++i) noise.push_back(noisy_text(2000, i));
  for (uint32_t i = 0; i < kMinDictionarySamples - 1; ++i) few.push_back(wordy_text(2000, i));
  const auto trained = [](const std::vector<std::string>& texts) {
    std::vector<std::span<const std::byte>> samples;
    for (const std::string& text : texts) samples.push_back(std::as_bytes(std::span(text)));
    return train_pack_dictionary(samples, 9).size();
  };
  EXPECT_EQ(trained(noise), 0u);
  EXPECT_EQ(trained(few), 0u);
  for (uint32_t i = 0; i < 200; ++i) few.push_back(wordy_text(500, 100 + i));
  EXPECT_GT(trained(few), 0u);
}

// REL-6, PACK-2: threads, order of inputs and a second run change nothing.
TEST(PackWriter, SameBytesForAnyThreadCountAndInputOrder) {
  const TempDir dir;
  std::vector<PackInput> inputs = small_world(200);
  written(dir.path("1.mpk"), inputs, {.train_dictionaries = true, .jobs = 1});
  std::mt19937 random(5);
  for (const uint32_t jobs : {2u, 3u, 8u, 0u}) {
    std::shuffle(inputs.begin(), inputs.end(), random);
    const std::string name = "n" + std::to_string(jobs) + ".mpk";
    written(dir.path(name), inputs, {.train_dictionaries = true, .jobs = jobs});
    EXPECT_TRUE(dir.read(name) == dir.read("1.mpk")) << jobs << " threads";
  }
  EXPECT_EQ(written(dir.path("1.mpk"), inputs, {.train_dictionaries = true}).outcome, WriteOutcome::unchanged);
  EXPECT_EQ(written(dir.path("1.mpk"), inputs).outcome, WriteOutcome::written);
}

TEST(PackWriter, FileInputsAreMapped) {
  const TempDir dir;
  const std::string text = wordy_text(30'000, 1);
  const std::vector<PackInput> inputs = {pack_file_input(kMap, "a", dir.write("a.imap", text)),
                                         pack_file_input(kMap, "b", dir.write("b.imap", ""))};
  written(dir.path("w.mpk"), inputs);
  const PackContents expected = {{{kMap, hash_name("a").value}, text}, {{kMap, hash_name("b").value}, ""}};
  EXPECT_EQ(contents_of(dir.path("w.mpk")), expected);
}

struct Refusal {
  const char* message;
  std::vector<PackInput> inputs;
};

TEST(PackWriter, RefusesWhatCannotBeAPackAndLeavesTheOld) {
  const TempDir dir;
  PackInput wrong_name = text_input(kMap, "a", "x"), liar = text_input(kMap, "a", "x"), large = liar, broken = liar;
  wrong_name.name = hash_name("b");
  liar.size = 2;
  large.size = kMaxResourceBytes + 1;
  broken.read = [](PackBytes&, std::string& error) {
    error = "the disk is gone";
    return false;
  };
  const Refusal refusals[] = {
      {"two inputs are IMAP 'A'", {text_input(kMap, "a", "x"), text_input(kMap, "A", "y")}},
      {"another hash", {wrong_name}},
      {"has 1 bytes, not 2", {liar}},
      {"more than a resource may have", {large}},
      {"IMAP 'a': the disk is gone", {broken}},
      {"dictionaries are made", {text_input(kPackDictionaryKind, "d", "x")}},
      {"gone.imap: No such file", {pack_file_input(kMap, "a", dir.path("gone.imap"))}},
  };
  dir.write("w.mpk", "the old one");
  for (const Refusal& refusal : refusals) {
    const PackWriteResult result = write_pack(dir.path("w.mpk"), refusal.inputs, {});
    EXPECT_EQ(result.outcome, WriteOutcome::failed) << refusal.message;
    EXPECT_NE(result.message.find(refusal.message), std::string::npos) << result.message;
    EXPECT_EQ(result.error, 0);
  }
  EXPECT_EQ(dir.read("w.mpk"), "the old one");
  EXPECT_EQ(dir.files(), std::set<std::string>{"w.mpk"});
  PackWriteOptions options;
  options.dictionaries[kMap] = {0x37, 0xA4, 0x30, 0xEC, 1, 2, 3, 4};
  EXPECT_NE(write_pack(dir.path("w.mpk"), small_world(), options).message.find("no zstd dictionary"),
            std::string::npos);
}

TEST(PackWriter, EnvironmentFailuresAreErrno) {
  const TempDir dir;
  const std::vector<PackInput> inputs = small_world();
  EXPECT_EQ(write_pack(dir.path("no/w.mpk"), inputs, {}).error, ENOENT);
  EXPECT_EQ(write_pack(dir.path(), inputs, {}).error, EISDIR);
  EXPECT_EQ(write_pack("/dev/null", inputs, {}).error, ESPIPE);
  const std::atomic<bool> cancel{true};
  const PackWriteResult cancelled = write_pack(dir.path("w.mpk"), inputs, {.cancel = &cancel});
  EXPECT_EQ(cancelled.error, ECANCELED);
  EXPECT_TRUE(dir.files().empty());
}

// PACK-4: more entries than 16 bits count.
TEST(PackWriter, PACK4_MoreThan65536Entries) {
  const TempDir dir;
  constexpr uint32_t kCount = 70'000;
  std::vector<PackInput> inputs;
  for (uint32_t i = 0; i < kCount; ++i) {
    PackInput input = text_input(kMap, "", std::to_string(i), kCount - i);
    input.name = {i * 2654435761u};  // odd factor: all different
    inputs.push_back(std::move(input));
  }
  written(dir.path("w.mpk"), inputs);
  const auto file = open_file(dir.path("w.mpk"));
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(file->pack().entries().size(), kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    const PackEntry* const entry = file->pack().find(kMap, {i * 2654435761u});
    ASSERT_NE(entry, nullptr) << i;
    const auto bytes = file->pack().in_place(*entry).value();
    ASSERT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), std::to_string(i));
  }
}

// PACK-4: more bytes than 32 bits count, most of them holes.
TEST(PackWriter, PACK4_MoreThan4GiB) {
  const TempDir dir;
  constexpr size_t kHole = size_t{1} << 28;
  constexpr uint32_t kCount = 17;
  // Pages that nobody writes are all one and the same page of zeros.
  void* const zeros = ::mmap(nullptr, kHole, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(zeros, MAP_FAILED);
  std::vector<PackInput> inputs;
  for (uint32_t i = 0; i < kCount; ++i) {
    PackInput hole{kMap, hash_name("hole_" + std::to_string(i)), "hole_" + std::to_string(i), 2 * i, kHole, {}};
    hole.read = [zeros](PackBytes& out, std::string&) {
      out.bytes = {static_cast<const std::byte*>(zeros), kHole};
      return true;
    };
    inputs.push_back(std::move(hole));
    inputs.push_back(text_input(kTypes, "after_" + std::to_string(i), "small " + std::to_string(i), 2 * i + 1));
  }
  const PackWriteResult result = written(dir.path("w.mpk"), inputs, {.level = 0, .jobs = 1});
  ::munmap(zeros, kHole);
  EXPECT_GT(result.report.pack_bytes, uint64_t{kCount} << 28);
  struct stat status {};
  ASSERT_EQ(::stat(dir.path("w.mpk").c_str(), &status), 0);
  EXPECT_EQ(static_cast<uint64_t>(status.st_size), result.report.pack_bytes);
  EXPECT_LT(status.st_blocks, 4096);  // of 512 bytes
  const auto file = open_file(dir.path("w.mpk"));
  ASSERT_NE(file, nullptr);
  for (uint32_t i = 0; i < kCount; ++i) {
    const PackEntry& entry = entry_of(file->pack(), kTypes, "after_" + std::to_string(i));
    EXPECT_EQ(entry.offset, 64 + (uint64_t{i} + 1) * kHole + uint64_t{i} * 64);
    const auto bytes = file->pack().in_place(entry).value();
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "small " + std::to_string(i));
  }
}

// PACK-5
TEST(PackWriter, PatchHoldsOnlyWhatChanged) {
  const TempDir dir;
  std::vector<PackInput> before = small_world(), after = small_world();
  after[3] = text_input(kMap, "map_3", "another content", 4);
  after[4] = text_input(kMap, "map_4", wordy_text(300 + 40 * 4, 4), 99);  // only its order is another
  after.erase(after.begin() + 10);                                        // map_10
  after.push_back(text_input(kMap, "new", "new content"));
  written(dir.path("base.mpk"), before, {.train_dictionaries = true});
  const auto base = open_file(dir.path("base.mpk"));
  const PackWriteResult result = write_patch_pack(dir.path("patch.mpk"), base->pack(), after, {});
  ASSERT_EQ(result.outcome, WriteOutcome::written) << result.message;
  EXPECT_EQ(result.report.entries, 2u);
  EXPECT_EQ(result.report.unchanged, after.size() - 2);
  EXPECT_EQ(result.report.removed, 1u);
  const auto patch = open_file(dir.path("patch.mpk"));
  const PackContents expected = {{{kMap, hash_name("map_3").value}, "another content"},
                                 {{kMap, hash_name("new").value}, "new content"}};
  EXPECT_EQ(contents_of(patch->pack()), expected);
  ASSERT_EQ(patch->pack().removed().size(), 1u);
  EXPECT_EQ(patch->pack().removed()[0], (PackKey{kMap, hash_name("map_10")}));
  EXPECT_EQ(patch->pack().text_of(hash_name("map_10")), "map_10");
  EXPECT_EQ(patch->pack().base_content(), base->pack().content_hash());

  // Laid over its base it is the new pack.
  PackContents patched = contents_of(base->pack());
  for (const PackKey& key : patch->pack().removed()) patched.erase({key.kind, key.name.value});
  for (const auto& [key, content] : contents_of(patch->pack())) patched[key] = content;
  written(dir.path("after.mpk"), after);
  EXPECT_EQ(patched, contents_of(dir.path("after.mpk")));

  ASSERT_EQ(write_patch_pack(dir.path("none.mpk"), base->pack(), before, {.level = 0}).outcome, WriteOutcome::written);
  EXPECT_TRUE(open_file(dir.path("none.mpk"))->pack().entries().empty());
  EXPECT_TRUE(open_file(dir.path("none.mpk"))->pack().is_patch());
}

// PACK-3, REL-3: whenever the writer is killed, the old pack stands, or the new one.
TEST(PackWriter, REL3_KilledWriterLeavesTheOldPackOrTheNew) {
  const TempDir dir;
  const std::string path = dir.path("w.mpk");
  const std::vector<PackInput> old_world = small_world(10), new_world = small_world(400);
  const PackWriteOptions options = {.level = 3, .jobs = 1, .mode = WriteMode::always};
  written(dir.path("new.mpk"), new_world, options);
  written(dir.path("old.mpk"), old_world, options);
  const std::string old_bytes = dir.read("old.mpk"), new_bytes = dir.read("new.mpk");
  using Clock = std::chrono::steady_clock;
  // Writes in a process of its own, and kills it after a while; gives how long it lived.
  const auto write_for = [&](Clock::duration life) {
    std::filesystem::copy_file(dir.path("old.mpk"), path, std::filesystem::copy_options::overwrite_existing);
    const Clock::time_point begin = Clock::now();
    const pid_t child = ::fork();
    if (child == 0) {
      write_pack(path, new_world, options);
      ::_exit(0);
    }
    if (life != Clock::duration::max()) {
      std::this_thread::sleep_for(life);
      ::kill(child, SIGKILL);
    }
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    return Clock::now() - begin;
  };
  const Clock::duration whole = write_for(Clock::duration::max());
  ASSERT_EQ(dir.read("w.mpk"), new_bytes);

  std::mt19937 random(9);
  size_t old_count = 0, new_count = 0;
  for (int kill = 0; kill < 40; ++kill) {
    (void)write_for(whole * static_cast<int>(random() % 200) / 100);
    const std::string now = dir.read("w.mpk");
    ASSERT_TRUE(now == old_bytes || now == new_bytes) << "kill " << kill;
    ++(now == old_bytes ? old_count : new_count);
  }
  // Both were met, or the test looked at one side only.
  EXPECT_GT(old_count, 0u);
  EXPECT_GT(new_count, 0u);
  // The next run equals a clean one.
  written(path, new_world, options);
  EXPECT_EQ(dir.read("w.mpk"), new_bytes);
}

}  // namespace
}  // namespace meridian::tools
