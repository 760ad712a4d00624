// SPDX-License-Identifier: MIT
// Rule: WORLD-3.
#include "meridian/tools/folder_watch.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace meridian::tools {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using test::TempDir;

/// Each test runs both ways: told by the system, and looking.
class FolderWatchTest : public testing::TestWithParam<bool> {
 protected:
  FolderWatchOptions options() const {
    FolderWatchOptions out;
    out.poll = GetParam();
    out.quiet = milliseconds(20);
    out.poll_every = milliseconds(20);
    return out;
  }

  /// Whether a change is told; gives up after a while where `wanted` is false.
  static bool is_told(FolderWatch& watch, bool wanted = true) {
    std::atomic<bool> cancel{false}, done{false};
    std::thread timer([&] {
      const auto end = std::chrono::steady_clock::now() + (wanted ? milliseconds(20'000) : milliseconds(300));
      while (!done && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(5));
      cancel = true;
    });
    const bool told = watch.wait(&cancel);
    done = true;
    timer.join();
    return told;
  }

  TempDir dir_;
};

TEST_P(FolderWatchTest, TellsOfEachKindOfChange) {
  dir_.write("maps/a.xml", "1");
  dir_.write("maps/deep/er/b.xml", "1");
  FolderWatch watch(options());
  EXPECT_EQ(watch.is_polling(), GetParam());
  const std::vector<std::string> roots = {dir_.path("maps")};
  const auto change = [&](const char* what, auto&& f) {
    watch.cover(roots);
    f();
    EXPECT_TRUE(is_told(watch)) << what;
  };
  change("written", [&] { dir_.write("maps/a.xml", "22"); });
  change("written below", [&] { dir_.write("maps/deep/er/b.xml", "22"); });
  change("new", [&] { dir_.write("maps/deep/c.xml", "1"); });
  change("gone", [&] { fs::remove(dir_.path("maps/deep/c.xml")); });
  change("renamed", [&] { fs::rename(dir_.path("maps/a.xml"), dir_.path("maps/a2.xml")); });
  change("a new folder", [&] { fs::create_directories(dir_.path("maps/new/er")); });
  change("in the new folder", [&] { dir_.write("maps/new/er/d.xml", "1"); });
  change("a folder gone", [&] { fs::remove_all(dir_.path("maps/new")); });
  change("the root renamed", [&] { fs::rename(dir_.path("maps"), dir_.path("old")); });
  change("the root is back", [&] { fs::create_directory(dir_.path("maps")); });
  change("in the new root", [&] { dir_.write("maps/e.xml", "1"); });
  watch.cover(roots);
  dir_.write("old/a2.xml", "333");  // no longer ours
  EXPECT_FALSE(is_told(watch, false));
}

TEST_P(FolderWatchTest, SeesWhatHappensBetweenCoverAndWait) {
  dir_.write("maps/a.xml", "1");
  FolderWatch watch(options());
  watch.cover({dir_.path("maps")});
  dir_.write("maps/sub/b.xml", "1");
  dir_.write("maps/a.xml", "22");
  EXPECT_TRUE(is_told(watch));
  watch.cover({dir_.path("maps")});
  EXPECT_FALSE(is_told(watch, false));  // many changes are told once
}

// Whoever read the folder just then found nothing, and must read it again, though all is as it was.
TEST_P(FolderWatchTest, SeesWhatWasAwayWhileItWasRead) {
  dir_.write("maps/a.xml", "1");
  FolderWatch watch(options());
  watch.cover({dir_.path("maps")});
  fs::rename(dir_.path("maps"), dir_.path("away"));
  watch.look();
  fs::rename(dir_.path("away"), dir_.path("maps"));
  EXPECT_TRUE(is_told(watch));
  watch.cover({dir_.path("maps")});
  watch.look();
  EXPECT_FALSE(is_told(watch, false));
}

TEST_P(FolderWatchTest, LeavesOutOutputsHiddenFilesAndNeighbours) {
  dir_.write("maps/a.xml", "1");
  dir_.write("maps/out/x", "1");
  dir_.write("world.json", "{}");
  FolderWatchOptions how = options();
  how.without = {dir_.path("maps/out"), dir_.path("maps/log.txt")};
  FolderWatch watch(how);
  watch.cover({dir_.path("maps"), dir_.path("world.json")});
  dir_.write("maps/out/x", "22");
  dir_.write("maps/out/y/z", "1");
  dir_.write("maps/log.txt", "1");
  dir_.write("maps/.swap", "1");
  dir_.write("neighbour.json", "1");
  EXPECT_FALSE(is_told(watch, false));
  dir_.write("world.json", "{ }");
  EXPECT_TRUE(is_told(watch));
}

TEST_P(FolderWatchTest, WaitsForWhatIsNotThere) {
  FolderWatch watch(options());
  const std::vector<std::string> roots = {dir_.path("a/b/maps")};
  watch.cover(roots);
  for (const char* folder : {"a", "a/b", "a/b/maps"}) {
    fs::create_directory(dir_.path(folder));
    // Looking tells of the root alone; being told takes one folder after the other.
    const bool is_told_of = !GetParam() || std::string(folder) == "a/b/maps";
    if (is_told_of) {
      EXPECT_TRUE(is_told(watch)) << folder;
    }
    watch.cover(roots);
  }
  dir_.write("a/b/maps/m.xml", "1");
  EXPECT_TRUE(is_told(watch));
}

INSTANTIATE_TEST_SUITE_P(BothWays, FolderWatchTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "Polling" : "Told"; });

}  // namespace
}  // namespace meridian::tools
