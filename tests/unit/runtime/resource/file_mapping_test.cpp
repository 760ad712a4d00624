// SPDX-License-Identifier: MIT
#include "meridian/resource/file_mapping.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "support/counting_allocator.h"
#include "support/temp_dir.h"

namespace meridian {
namespace {

using test::TempDir;

std::string text_of(const FileMapping& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(FileMapping, HoldsTheWholeFileAtAPage) {
  const TempDir folder;
  const std::string text(10'000, 'x'), path = folder.write("a.bin", text);
  const Result<FileMapping> file = FileMapping::open(path.c_str());
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(text_of(file.value()), text);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(file.value().bytes().data()) % 4096, 0u);
}

TEST(FileMapping, SaysWhyThereIsNone) {
  const TempDir folder;
  const auto code = [](const std::string& path) { return FileMapping::open(path.c_str()).status().code; };
  EXPECT_EQ(code(folder.path("absent")), StatusCode::not_found);
  EXPECT_EQ(code(folder.write("file", "x") + "/below"), StatusCode::not_found);
  EXPECT_EQ(code(folder.path()), StatusCode::wrong_kind);
  EXPECT_EQ(code(folder.write("empty", "")), StatusCode::too_small);
  EXPECT_EQ(code(""), StatusCode::not_found);
  EXPECT_EQ(code(std::string(5000, 'n')), StatusCode::io_error);  // ENAMETOOLONG
}

// A pipe without a writer would keep a plain open() waiting for ever.
TEST(FileMapping, PipesAreRefusedAtOnce) {
  const TempDir folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(FileMapping::open(folder.path("pipe").c_str()).status().code, StatusCode::wrong_kind);
}

TEST(FileMapping, UnreadableFilesAreRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const TempDir folder;
  const std::string path = folder.write("secret", "x");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  const Status status = FileMapping::open(path.c_str()).status();
  EXPECT_EQ(status.code, StatusCode::io_error);
  EXPECT_EQ(status.detail, static_cast<uint64_t>(EACCES));
}

TEST(FileMapping, MovesAndCloses) {
  const TempDir folder;
  const std::string path = folder.write("a", "one"), other = folder.write("b", "two");
  FileMapping a = std::move(FileMapping::open(path.c_str()).value());
  FileMapping b(std::move(a));
  EXPECT_TRUE(a.bytes().empty());  // NOLINT(bugprone-use-after-move): what is left is defined
  EXPECT_EQ(text_of(b), "one");
  b = std::move(FileMapping::open(other.c_str()).value());
  EXPECT_EQ(text_of(b), "two");
  FileMapping& same = b;
  b = std::move(same);
  EXPECT_EQ(text_of(b), "two");
  b.close();
  EXPECT_TRUE(b.bytes().empty());
}

// A writer that replaces the file by rename leaves the mapping alone.
TEST(FileMapping, KeepsTheFileThatItOpened) {
  const TempDir folder;
  const std::string path = folder.write("a", "old bytes");
  const Result<FileMapping> file = FileMapping::open(path.c_str());
  ASSERT_TRUE(file.ok());
  std::filesystem::rename(folder.write("b", "new"), path);
  EXPECT_EQ(text_of(file.value()), "old bytes");
}

TEST(FileMapping, OpensWithoutHeap) {
  const TempDir folder;
  const std::string path = folder.write("a", "bytes");
  const uint64_t before = test::allocation_count();
  const bool ok = FileMapping::open(path.c_str()).ok();
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_TRUE(ok);
}

}  // namespace
}  // namespace meridian
