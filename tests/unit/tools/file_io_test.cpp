// SPDX-License-Identifier: MIT
// Rules: CLI-4, PIPE-4, REL-3 (killed and failing writers leave the old output), P048, P057, P059, P060.
#include "meridian/tools/file_io.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temp_dir.h"

namespace meridian::tools {
namespace {

namespace fs = std::filesystem;
using test::TempDir;

struct stat status_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status;
}

bool same_time_and_inode(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

TEST(WriteFile, PIPE4_NewFileHasTheUsualModeAndStandsAlone) {
  const TempDir dir;
  const mode_t old_mask = ::umask(027);
  const WriteResult result = write_file(dir.path("a"), "text", WriteMode::if_changed);
  ::umask(old_mask);
  EXPECT_EQ(result.outcome, WriteOutcome::written);
  EXPECT_EQ(dir.read("a"), "text");
  EXPECT_EQ(status_of(dir.path("a")).st_mode & 07777u, 0640u);
  EXPECT_EQ(dir.files(), std::set<std::string>{"a"});
}

TEST(WriteFile, P057_SameBytesKeepTimeAndInodeUnlessAlways) {
  const TempDir dir;
  // Three blocks of comparison, with the difference in the last byte.
  std::string text(200'000, 'x');
  const std::string path = dir.write("a", text);
  const struct stat before = status_of(path);
  EXPECT_EQ(write_file(path, text, WriteMode::if_changed).outcome, WriteOutcome::unchanged);
  EXPECT_TRUE(same_time_and_inode(before, status_of(path)));
  EXPECT_EQ(write_file(path, text, WriteMode::always).outcome, WriteOutcome::written);
  EXPECT_FALSE(same_time_and_inode(before, status_of(path)));
  text.back() = 'y';
  EXPECT_EQ(write_file(path, text, WriteMode::if_changed).outcome, WriteOutcome::written);
  EXPECT_EQ(dir.read("a"), text);
  EXPECT_EQ(write_file(path, "", WriteMode::if_changed).outcome, WriteOutcome::written);
  EXPECT_EQ(write_file(path, "", WriteMode::if_changed).outcome, WriteOutcome::unchanged);
}

TEST(WriteFile, P048_AFolderInTheWayIsAnError) {
  const TempDir dir;
  fs::create_directory(dir.path("out"));
  EXPECT_EQ(write_file(dir.path("out"), "x", WriteMode::always).error, EISDIR);
  EXPECT_EQ(write_file(dir.path("no/out"), "x", WriteMode::always).error, ENOENT);
  const std::string file = dir.write("file", "");
  EXPECT_EQ(write_file(file + "/out", "x", WriteMode::always).error, ENOTDIR);
  EXPECT_EQ(dir.files(), std::set<std::string>{"file"});
}

TEST(WriteFile, P059_LongPathsWorkAndTooLongNamesAreErrors) {
  const TempDir dir;
  std::string deep = dir.path();
  for (int i = 0; i < 12; ++i) deep += "/" + std::string(100, static_cast<char>('a' + i));
  const std::string path = deep + "/" + std::string(255, 'n');  // as long as a name can be
  ASSERT_EQ(create_parent_folders(path), 0);
  EXPECT_EQ(write_file(path, "x", WriteMode::always).outcome, WriteOutcome::written);
  EXPECT_EQ(write_file(dir.path(std::string(300, 'n')), "x", WriteMode::always).error, ENAMETOOLONG);
  EXPECT_EQ(dir.files().size(), 1u);
}

TEST(WriteFile, P060_AMappedOutputCanBeReplacedAndTheViewStays) {
  const TempDir dir;
  const std::string path = dir.write("a", "old content");
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const char* const view = static_cast<const char*>(::mmap(nullptr, 11, PROT_READ, MAP_SHARED, descriptor, 0));
  ASSERT_NE(view, MAP_FAILED);
  ::close(descriptor);
  EXPECT_EQ(write_file(path, "new", WriteMode::always).outcome, WriteOutcome::written);
  EXPECT_EQ(std::string_view(view, 11), "old content");
  EXPECT_EQ(dir.read("a"), "new");
  ::munmap(const_cast<char*>(view), 11);
}

TEST(WriteFile, ALinkStaysOne) {
  const TempDir dir;
  dir.write("real/a", "old");
  fs::create_symlink("real/a", dir.path("link"));
  EXPECT_EQ(write_file(dir.path("link"), "new", WriteMode::always).outcome, WriteOutcome::written);
  EXPECT_TRUE(fs::is_symlink(dir.path("link")));
  EXPECT_EQ(dir.read("real/a"), "new");
  EXPECT_EQ(dir.files(), (std::set<std::string>{"link", "real/a"}));
}

TEST(WriteFile, P042_ADeviceIsWrittenAndNotReplaced) {
  EXPECT_EQ(write_file("/dev/null", "x", WriteMode::always).outcome, WriteOutcome::written);
  EXPECT_EQ(write_file("/dev/full", "x", WriteMode::always).error, ENOSPC);
  EXPECT_TRUE(S_ISCHR(status_of("/dev/null").st_mode));
  EXPECT_TRUE(S_ISCHR(status_of("/dev/full").st_mode));
}

/// A disk that is soon full: a file system of 64 KiB for root, a limit on file sizes for others. Both fail in the
/// middle of a write.
TEST(WriteFile, P042_AFullDiskLeavesTheOldFileAndNothingElse) {
  const TempDir dir;
  fs::create_directory(dir.path("disk"));
  const bool mounted = ::mount("none", dir.path("disk").c_str(), "tmpfs", 0, "size=64k") == 0;
  rlimit old_limit{};
  ::getrlimit(RLIMIT_FSIZE, &old_limit);
  void (*const old_handler)(int) = std::signal(SIGXFSZ, SIG_IGN);
  dir.write("disk/a", "old");
  if (!mounted) {
    const rlimit small{64 * 1024, old_limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  const WriteResult result = write_file(dir.path("disk/a"), std::string(300'000, 'x'), WriteMode::if_changed);
  const WriteResult fresh = write_file(dir.path("disk/b"), std::string(300'000, 'x'), WriteMode::if_changed);
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(result.outcome, WriteOutcome::failed);
  EXPECT_EQ(result.error, mounted ? ENOSPC : EFBIG);
  EXPECT_EQ(fresh.error, mounted ? ENOSPC : EFBIG);
  EXPECT_EQ(dir.read("disk/a"), "old");
  EXPECT_EQ(dir.files(), std::set<std::string>{"disk/a"});
  if (mounted) {
    EXPECT_EQ(::umount(dir.path("disk").c_str()), 0);
  }
}

/// A place that may not be written: a read-only mount where we may mount, else a folder without write permission.
TEST(WriteFile, P042_AClosedFolderIsAnErrorWithItsReason) {
  const TempDir dir;
  fs::create_directory(dir.path("closed"));
  const std::string folder = dir.path("closed");
  const bool mounted = ::mount("none", folder.c_str(), "tmpfs", 0, "size=64k") == 0;
  dir.write("closed/a", "old");
  if (mounted) {
    ASSERT_EQ(::mount("none", folder.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=64k"), 0);
  } else {
    ASSERT_EQ(::chmod(folder.c_str(), 0555), 0);
  }
  EXPECT_EQ(write_file(dir.path("closed/a"), "new", WriteMode::always).error, mounted ? EROFS : EACCES);
  EXPECT_EQ(dir.read("closed/a"), "old");
  EXPECT_EQ(dir.files(), std::set<std::string>{"closed/a"});
  if (mounted) {
    EXPECT_EQ(::umount(folder.c_str()), 0);
  } else {
    ::chmod(folder.c_str(), 0755);
  }
}

TEST(WriteFile, PIPE4_ManyWritersOfOneFileLeaveOneWholeFile) {
  const TempDir dir;
  const std::string path = dir.path("a");
  std::vector<std::thread> writers;
  for (int w = 0; w < 8; ++w) {
    writers.emplace_back([&, w] {
      const std::string text(50'000 + static_cast<size_t>(w), static_cast<char>('a' + w));
      for (int i = 0; i < 40; ++i)
        EXPECT_NE(write_file(path, text, WriteMode::if_changed).outcome, WriteOutcome::failed);
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string text = dir.read("a");
  ASSERT_GE(text.size(), 50'000u);
  EXPECT_EQ(text, std::string(50'000 + static_cast<size_t>(text[0] - 'a'), text[0]));
  EXPECT_EQ(dir.files(), std::set<std::string>{"a"});
}

TEST(WriteFile, P048_KilledAtAnyTimeItLeavesTheOldFileOrTheNew) {
  const TempDir dir;
  const std::string path = dir.path("a"), even(400'000, 'e'), odd(300'000, 'o');
  ASSERT_EQ(write_file(path, even, WriteMode::always).outcome, WriteOutcome::written);
  std::mt19937 random(48);
  for (int round = 0; round < 60; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int i = 0;; ++i) (void)write_file(path, i % 2 != 0 ? odd : even, WriteMode::always);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500 + random() % 5000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const std::string text = dir.read("a");
    EXPECT_TRUE(text == even || text == odd) << "round " << round << ", " << text.size() << " bytes";
  }
  EXPECT_EQ(write_file(path, even, WriteMode::if_changed).error, 0);
  EXPECT_EQ(dir.read("a"), even);
}

TEST(ReadStream, StopsJustAboveTheLimit) {
  std::FILE* const stream = std::tmpfile();
  std::fputs("0123456789", stream);
  std::rewind(stream);
  std::string text;
  const auto never = [](const void*) { return false; };
  EXPECT_EQ(read_stream(stream, 4, never, nullptr, text), 0);
  EXPECT_GT(text.size(), 4u);
  std::rewind(stream);
  EXPECT_EQ(read_stream(stream, 1000, never, nullptr, text), 0);
  EXPECT_EQ(text, "0123456789");
  EXPECT_EQ(read_stream(
                stream, 1000, [](const void*) { return true; }, nullptr, text),
            EINTR);
  std::fclose(stream);
}

TEST(WriteStream, CLI2_AFailedWriteIsSeen) {
  std::FILE* const full = std::fopen("/dev/full", "w");
  EXPECT_EQ(write_stream(full, "x"), ENOSPC);
  std::fclose(full);
}

TEST(FileIdentity, IsOneForEachFile) {
  const TempDir dir;
  dir.write("m/a", "");
  fs::create_directory_symlink(dir.path("m"), dir.path("n"));
  EXPECT_EQ(file_identity(dir.path("m/a")), file_identity(dir.path("m/../n/./a")));
  EXPECT_NE(file_identity(dir.path("m/a")), file_identity(dir.path("m/b")));
  EXPECT_EQ(parent_folder("a"), ".");
  EXPECT_EQ(parent_folder("/a"), "/");
  EXPECT_EQ(parent_folder("a/b/c"), "a/b");
}

}  // namespace
}  // namespace meridian::tools
