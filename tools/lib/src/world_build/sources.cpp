// SPDX-License-Identifier: MIT
#include "world_build/sources.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <tuple>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <oneapi/tbb/parallel_for.h>

#include "meridian/resource/fingerprint.h"
#include "meridian/tools/binding.h"
#include "meridian/tools/compile.h"
#include "meridian/tools/file_io.h"
#include "meridian/tools/source_text.h"

namespace meridian::tools {
namespace {

constexpr int64_t kTick = 2'000'000'000;  // the coarsest clock of a file system that is still in use [ns]

/// Layer, device, inode and name of what was found: roots may overlap, and a file is one source of its layer.
using Found = std::set<std::tuple<int, dev_t, ino_t, std::string>>;

class Walk {
 public:
  Walk(const WorldRoot& root, const std::vector<std::string>& without, Found& found, std::vector<WorldSource>& out,
       std::vector<InputProblem>& problems)
      : root_(root), without_(without), found_(found), out_(out), problems_(problems) {}

  void run() {
    struct stat status {};
    if (::stat(root_.path.c_str(), &status) != 0) return fail(root_.path, "cannot read: " + error_text(errno));
    if (!S_ISDIR(status.st_mode)) {
      add(root_.path, root_.path.substr(root_.path.rfind('/') + 1), status);
      return;
    }
    folder(root_.path, "", 0);
  }

 private:
  void fail(std::string path, std::string message) { problems_.push_back({std::move(path), std::move(message)}); }

  void add(std::string path, std::string relative, const struct stat& status) {
    const std::string name = relative.substr(relative.rfind('/') + 1);
    if (!found_.emplace(root_.layer, status.st_dev, status.st_ino, name).second) return;
    WorldSource& source = out_.emplace_back();
    source.path = std::move(path);
    source.relative = std::move(relative);
    source.layer = root_.layer;
    source.size = static_cast<uint64_t>(status.st_size);
    source.time = time_of(status);
    source.node = status.st_ino;
  }

  void folder(const std::string& path, const std::string& relative, int depth) {
    if (depth > 64) return fail(path, "folders nested too deep");
    DIR* const handle = ::opendir(path.c_str());
    if (handle == nullptr) return fail(path, "cannot read: " + error_text(errno));
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(handle))
      if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
    std::sort(names.begin(), names.end());
    const int fd = ::dirfd(handle);
    for (const std::string& name : names) {
      struct stat status {};
      const std::string full = path + (path.ends_with('/') ? "" : "/") + name;
      if (::fstatat(fd, name.c_str(), &status, 0) != 0) {
        if (errno != ENOENT) fail(full, "cannot read: " + error_text(errno));  // gone meanwhile, or a dangling link
        continue;
      }
      const std::string below = relative.empty() ? name : relative + "/" + name;
      if (S_ISDIR(status.st_mode)) {
        if (std::find(without_.begin(), without_.end(), file_identity(full)) == without_.end())
          folder(full, below, depth + 1);
      } else if (S_ISREG(status.st_mode)) {
        add(full, below, status);
      }
    }
    ::closedir(handle);
  }

  const WorldRoot& root_;
  const std::vector<std::string>& without_;
  Found& found_;
  std::vector<WorldSource>& out_;
  std::vector<InputProblem>& problems_;
};

/// Format by the root element, or by the name where the content says nothing: a broken source is to be reported.
uint32_t kind_of_text(const std::string& path, std::string_view text) {
  if (!sniff_binary(text).empty()) return 0;
  const std::string_view root = sniff_root(text);
  for (const BuiltinSchema& schema : builtin_schemas()) {
    const Binding* const binding = Binding::builtin(schema.kind);
    if (binding != nullptr && !root.empty() && binding->reads_root(root)) return schema.kind;
  }
  if (!root.empty()) return 0;
  static constexpr std::pair<std::string_view, std::string_view> kSuffixes[] = {
      {".ymap.xml", "IMAP"}, {".ytyp.xml", "ITYP"}, {".ymf.xml", "YMFM"}, {"gameconfig.xml", "GCFG"}};
  for (const auto& [suffix, kind] : kSuffixes)
    if (path.ends_with(suffix))
      for (const BuiltinSchema& schema : builtin_schemas())
        if (std::string_view(reinterpret_cast<const char*>(&schema.kind), 4) == kind) return schema.kind;
  return 0;
}

}  // namespace

int64_t time_of(const struct stat& status) {
  return int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec;
}

std::vector<WorldSource> find_sources(const std::vector<WorldRoot>& roots, const std::vector<std::string>& without,
                                      const KnownSources& known, int64_t known_since,
                                      std::vector<InputProblem>& problems, const std::atomic<bool>* cancel) {
  std::vector<WorldSource> out;
  Found found;
  for (const WorldRoot& root : roots) Walk(root, without, found, out, problems).run();
  std::vector<int> errors(out.size(), 0);
  tbb::parallel_for(size_t{0}, out.size(), [&](size_t i) {
    WorldSource& source = out[i];
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) return;
    const auto before = known.find(source.path);
    if (before != known.end() && before->second.size == source.size && before->second.time == source.time &&
        before->second.node == source.node && source.time < known_since - kTick) {
      source.hash = before->second.hash;
      source.kind = before->second.kind;
      return;
    }
    source.is_fresh = true;
    const auto text = SourceText::open(source.path, errors[i]);
    if (text == nullptr) return;
    source.kind = kind_of_text(source.path, text->text());
    // Hashed for what is not ours too: it may become ours.
    source.hash = source.kind == 0 ? Digest{} : digest_of(text->text());
  });
  for (size_t i = 0; i < out.size(); ++i)
    if (errors[i] != 0 && errors[i] != ENOENT)
      problems.push_back({out[i].path, "cannot read: " + error_text(errors[i])});
  return out;
}

}  // namespace meridian::tools
