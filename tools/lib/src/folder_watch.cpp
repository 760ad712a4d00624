// SPDX-License-Identifier: MIT
#include "meridian/tools/folder_watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>
#include <thread>

#include <dirent.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meridian/tools/file_io.h"
#include "world_build/digest.h"
#include "world_build/sources.h"

namespace meridian::tools {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr uint32_t kEvents = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_MODIFY |
                             IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr int kMaxWatchDepth = 64;  // as find_sources()
/// How long a sleep may be: a signal may be taken by another thread, which wakes nobody.
constexpr milliseconds kNap{200};

std::string joined(const std::string& folder, const std::string& name) {
  return folder + (folder.ends_with('/') ? "" : "/") + name;
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// Names in a folder, sorted, without those that begin with a dot.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  DIR* const handle = ::opendir(folder.c_str());
  if (handle == nullptr) return out;
  while (const dirent* entry = ::readdir(handle))
    if (entry->d_name[0] != '.') out.emplace_back(entry->d_name);
  ::closedir(handle);
  std::sort(out.begin(), out.end());
  return out;
}

/// A file without a name shows as # and its inode where it is written.
bool is_nameless(const std::string& name) {
  return name.size() > 1 && name[0] == '#' && name.find_first_not_of("0123456789", 1) == std::string::npos;
}

bool is_cancelled(const std::atomic<bool>* cancel) {
  return cancel != nullptr && cancel->load(std::memory_order_relaxed);
}

}  // namespace

FolderWatch::FolderWatch(FolderWatchOptions options) : options_(std::move(options)) {
  for (const std::string& path : options_.without)
    if (!path.empty()) without_.push_back(file_identity(without_slashes(path)));
  if (!options_.poll) inotify_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

FolderWatch::~FolderWatch() {
  if (inotify_ >= 0) ::close(inotify_);
}

bool FolderWatch::is_left_out(const std::string& path) const {
  // Last names first: they cost nothing, and the identity of a path does.
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  return std::any_of(without_.begin(), without_.end(), [&](const std::string& other) {
    return std::string_view(other).substr(other.rfind('/') + 1) == name && file_identity(path) == other;
  });
}

// The set is made anew each time, which costs a walk and finds folders that are new, were moved or replaced. Watches
// belong to inodes, so what is watched already stays watched under the same number.
void FolderWatch::cover(const std::vector<std::string>& roots) {
  roots_ = roots;
  fresh_.clear();
  for (const std::string& root : roots_)
    if (!is_polling()) watch_root(without_slashes(root));
  if (is_polling()) {
    if (is_told_) seen_ = snapshot();
    is_told_ = false;
    return;
  }
  for (const auto& [descriptor, watched] : watched_)
    if (!fresh_.contains(descriptor)) ::inotify_rm_watch(inotify_, descriptor);
  watched_ = std::move(fresh_);
}

void FolderWatch::watch_root(const std::string& root) {
  watch_name(root);
  if (is_folder(root)) watch_tree(root, 0);
}

/// The folder above, for the day when the root itself comes, goes or is replaced.
void FolderWatch::watch_name(const std::string& path) {
  std::string folder = parent_folder(path), name = path.substr(path.rfind('/') + 1);
  // Of a path that is not there, the first part that is missing.
  while (!is_folder(folder) && folder != "." && folder != "/") {
    name = folder.substr(folder.rfind('/') + 1);
    folder = parent_folder(folder);
  }
  const int descriptor = add(folder);
  if (descriptor >= 0) fresh_[descriptor].names.insert(name);
}

void FolderWatch::watch_tree(const std::string& folder, int depth) {
  if (is_polling() || depth > kMaxWatchDepth) return;
  const int descriptor = add(folder);
  if (descriptor < 0) return;
  if (fresh_[descriptor].is_whole) return;  // by another root, or a link that leads back
  fresh_[descriptor].is_whole = true;
  // Asked for after the folder is watched: a folder that is made meanwhile is either listed or told of.
  for (const std::string& name : names_in(folder)) {
    const std::string path = joined(folder, name);
    if (is_folder(path) && !is_left_out(path)) watch_tree(path, depth + 1);
  }
}

int FolderWatch::add(const std::string& folder) {
  if (is_polling()) return -1;
  const int descriptor = ::inotify_add_watch(inotify_, folder.c_str(), kEvents);
  if (descriptor >= 0) {
    fresh_[descriptor].path = folder;
  } else if (errno == ENOSPC || errno == ENOMEM) {
    start_polling();
  }
  return descriptor;  // what went away meanwhile, or may not be read, is told of by the folder above
}

void FolderWatch::start_polling() {
  ::close(inotify_);
  inotify_ = -1;
  watched_.clear();
  fresh_.clear();
}

bool FolderWatch::read_events() {
  alignas(inotify_event) std::array<char, 64 * (sizeof(inotify_event) + NAME_MAX + 1)> buffer{};
  bool is_ours = false;
  for (;;) {
    const ssize_t size = ::read(inotify_, buffer.data(), buffer.size());
    if (size <= 0) return is_ours;  // EAGAIN: all is read
    for (const char* at = buffer.data(); at < buffer.data() + size;) {
      inotify_event event{};
      std::memcpy(&event, at, sizeof event);
      const std::string name = event.len == 0 ? "" : std::string(at + sizeof event);
      at += sizeof event + event.len;
      if ((event.mask & IN_Q_OVERFLOW) != 0) is_ours = true;
      const auto watched = watched_.find(event.wd);
      if (watched == watched_.end() || (event.mask & IN_IGNORED) != 0) continue;
      const Watched& folder = watched->second;
      const bool counts = name.empty() ? folder.is_whole : folder.is_whole || folder.names.contains(name);
      if (!counts || is_nameless(name) || (name.starts_with('.') && !folder.names.contains(name))) continue;
      // Of a folder, its own attributes are its neighbours' affair; and what is written into the output is none.
      if (!name.empty() && is_left_out(joined(folder.path, name))) continue;
      is_ours = true;
    }
  }
}

void FolderWatch::look() {
  if (is_polling() && !is_changed_) is_changed_ = snapshot() != seen_;
}

bool FolderWatch::wait(const std::atomic<bool>* cancel) {
  return is_polling() ? wait_by_polling(cancel) : wait_for_events(cancel);
}

bool FolderWatch::wait_for_events(const std::atomic<bool>* cancel) {
  bool is_changed = false;
  Clock::time_point first, last;
  for (;;) {
    milliseconds nap = kNap;
    if (is_changed) {
      const Clock::time_point now = Clock::now(), end = std::min(last + options_.quiet, first + options_.patience);
      if (now >= end) return true;
      nap = std::min(nap, std::chrono::duration_cast<milliseconds>(end - now) + milliseconds(1));
    }
    if (is_cancelled(cancel)) return false;
    pollfd waited{inotify_, POLLIN, 0};
    (void)::poll(&waited, 1, static_cast<int>(nap.count()));
    if (!read_events()) continue;
    last = Clock::now();
    if (!is_changed) first = last;
    is_changed = true;
  }
}

bool FolderWatch::wait_by_polling(const std::atomic<bool>* cancel) {
  is_told_ = true;
  const auto sleep = [&](milliseconds time) {
    for (const Clock::time_point end = Clock::now() + time; Clock::now() < end && !is_cancelled(cancel);)
      std::this_thread::sleep_for(
          std::min(kNap, std::chrono::duration_cast<milliseconds>(end - Clock::now()) + milliseconds(1)));
  };
  uint64_t now = snapshot();
  while (now == seen_ && !is_changed_) {
    if (is_cancelled(cancel)) return false;
    sleep(options_.poll_every);
    now = snapshot();
  }
  is_changed_ = false;
  for (const Clock::time_point first = Clock::now(); Clock::now() < first + options_.patience;) {
    if (is_cancelled(cancel)) return false;
    sleep(options_.quiet);
    if (seen_ = now, now = snapshot(); now == seen_) break;
  }
  seen_ = now;
  return !is_cancelled(cancel);
}

uint64_t FolderWatch::snapshot() const {
  DigestBuilder hash;
  const auto look = [&](const std::string& path, struct stat& status) {
    hash.add_text(path);
    if (::stat(path.c_str(), &status) != 0) return hash.add(errno), false;
    hash.add(uint64_t{status.st_ino});
    if (S_ISDIR(status.st_mode)) return true;  // its time changes with files that are left out
    hash.add(int64_t{status.st_size});
    hash.add(time_of(status));
    return false;
  };
  const auto walk = [&](const auto& self, const std::string& path, int depth) -> void {
    struct stat status {};
    if (!look(path, status) || depth > kMaxWatchDepth) return;
    for (const std::string& name : names_in(path))
      if (const std::string below = joined(path, name); !is_left_out(below)) self(self, below, depth + 1);
  };
  for (const std::string& root : roots_) walk(walk, without_slashes(root), 0);
  return hash.value();
}

}  // namespace meridian::tools
