// SPDX-License-Identifier: MIT
// Rules: PACK-3 (old or new), CLI-4 (an unchanged output is left alone).
#include "meridian/tools/staged_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <string>

#include "support/temp_dir.h"

namespace meridian::tools {
namespace {

using test::TempDir;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(StagedFile, NothingIsThereBeforeCommit) {
  const TempDir dir;
  {
    StagedFile file(dir.path("a"));
    file.append(bytes_of("text"));
    EXPECT_FALSE(dir.exists("a"));
  }
  EXPECT_TRUE(dir.files().empty());
  StagedFile file(dir.path("a"));
  file.append(bytes_of("....body"));
  file.pad_to(16);
  file.append(bytes_of("end"));
  file.write_at(0, bytes_of("head"));
  EXPECT_EQ(file.size(), 19u);
  EXPECT_EQ(file.commit(WriteMode::if_changed).outcome, WriteOutcome::written);
  EXPECT_EQ(dir.read("a"), std::string("headbody\0\0\0\0\0\0\0\0end", 19));
  EXPECT_EQ(dir.files(), std::set<std::string>{"a"});
}

TEST(StagedFile, CLI4_EqualTargetIsLeftAlone) {
  const TempDir dir;
  const std::string text(200'000, 'x');
  dir.write("a", text);
  struct stat before {
  }, after{};
  ::stat(dir.path("a").c_str(), &before);
  const auto write = [&](std::string_view now, WriteMode mode) {
    StagedFile file(dir.path("a"));
    file.append(bytes_of(now));
    return file.commit(mode).outcome;
  };
  EXPECT_EQ(write(text, WriteMode::if_changed), WriteOutcome::unchanged);
  ::stat(dir.path("a").c_str(), &after);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(write(text.substr(1), WriteMode::if_changed), WriteOutcome::written);
  EXPECT_EQ(write(text.substr(2) + "y", WriteMode::if_changed), WriteOutcome::written);
  EXPECT_EQ(write(text.substr(2) + "y", WriteMode::always), WriteOutcome::written);
  EXPECT_EQ(dir.read("a"), text.substr(2) + "y");
  EXPECT_EQ(dir.files(), std::set<std::string>{"a"});
}

// Blocks are 64 KiB; whichever mixture of zeros and others is appended, the bytes are those of a plain file.
TEST(StagedFile, HolesReadAsTheZerosTheyWere) {
  const TempDir dir;
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    StagedFile file(dir.path("a"));
    std::string expected;
    for (int part = 0; part < 6; ++part) {
      std::string text;
      for (uint32_t piece = 0; piece < random() % 5; ++piece)
        text += std::string(random() % 150'000, random() % 2 == 0 ? '\0' : 'x');
      file.append(bytes_of(text));
      expected += text;
    }
    ASSERT_EQ(file.commit(WriteMode::always).outcome, WriteOutcome::written);
    ASSERT_TRUE(dir.read("a") == expected) << "round " << round;
  }
}

TEST(StagedFile, FollowsLinksAndRefusesWhatHasNoPlaces) {
  const TempDir dir;
  dir.write("real", "old");
  ASSERT_EQ(::symlink("real", dir.path("link").c_str()), 0);
  StagedFile file(dir.path("link"));
  file.append(bytes_of("new"));
  EXPECT_EQ(file.commit(WriteMode::always).outcome, WriteOutcome::written);
  EXPECT_EQ(dir.read("real"), "new");
  EXPECT_EQ(StagedFile(dir.path()).error(), EISDIR);
  EXPECT_EQ(StagedFile("/dev/null").error(), ESPIPE);
  StagedFile nowhere(dir.path("no/a"));
  nowhere.append(bytes_of("text"));
  EXPECT_EQ(nowhere.commit(WriteMode::always).error, ENOENT);
}

}  // namespace
}  // namespace meridian::tools
