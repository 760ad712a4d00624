// SPDX-License-Identifier: MIT
#pragma once
/// Waits until something changes below some files and folders.
///
///   FolderWatch watch({.without = {output}});
///   do {
///     watch.cover(roots);   // before anything is read: what changes from here on is seen
///     build();
///     watch.look();         // before anybody is told that it is done
///   } while (watch.wait(cancel));
///
/// The system tells of changes (inotify). Where it does not (its limit of watches is reached, or `poll` is set), sizes,
/// times and inodes are looked at now and then. Files and folders whose names begin with a dot are left out.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace meridian::tools {

struct FolderWatchOptions {
  std::vector<std::string> without;          ///< folders that are not looked at, wherever they are
  bool poll = false;                         ///< for network file systems, whose other users inotify does not see
  std::chrono::milliseconds quiet{100};      ///< a change is told when nothing more has followed for so long
  std::chrono::milliseconds patience{2000};  ///< but told at last, if changes never end
  std::chrono::milliseconds poll_every{500};
};

/// Threads: main.
class FolderWatch {
 public:
  explicit FolderWatch(FolderWatchOptions options);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  /// What to look at from now on: files, and folders with all that is below them. One that is not there is waited
  /// for. What is covered already goes on without a gap, and a change before this call is still told.
  void cover(const std::vector<std::string>& roots);

  /// Where it looks for changes itself: notes one that is undone before wait() looks again, such as a folder that was
  /// away just while it was read.
  void look();

  /// Sleeps until something has changed since it was covered. False: `cancel` was set.
  bool wait(const std::atomic<bool>* cancel);

  /// Whether it looks for changes instead of being told.
  bool is_polling() const { return inotify_ < 0; }

 private:
  /// A folder that the system tells of.
  struct Watched {
    std::string path;
    bool is_whole = false;  ///< anything in it counts; else only `names`
    std::set<std::string> names;
  };

  void watch_root(const std::string& root);
  void watch_tree(const std::string& folder, int depth);
  void watch_name(const std::string& path);
  int add(const std::string& folder);
  void start_polling();
  bool is_left_out(const std::string& path) const;
  /// Reads what the system has to tell. True: something of ours changed.
  bool read_events();
  bool wait_for_events(const std::atomic<bool>* cancel);
  bool wait_by_polling(const std::atomic<bool>* cancel);
  uint64_t snapshot() const;

  FolderWatchOptions options_;
  std::vector<std::string> without_;  // identities
  std::vector<std::string> roots_;
  int inotify_ = -1;
  std::map<int, Watched> watched_, fresh_;  // by watch descriptor; `fresh_` while cover() collects
  uint64_t seen_ = 0;                       // polling: hash of what was there
  bool is_told_ = true;                     // polling: `seen_` is not older than the last wait()
  bool is_changed_ = false;                 // polling: look() saw a change
};

}  // namespace meridian::tools
