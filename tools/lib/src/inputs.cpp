// SPDX-License-Identifier: MIT
#include "meridian/tools/inputs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fnmatch.h>
#include <sys/stat.h>

#include "meridian/tools/file_io.h"

namespace meridian::tools {
namespace {

namespace fs = std::filesystem;

const std::string kStdinName = "<stdin>";
constexpr int kMaxGlobDepth = 64;  ///< of folders that `**` goes down

std::string join(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder.back() == '/' ? folder + name : folder + "/" + name;
}

std::string bare_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Names in a folder in byte order, whatever the file system or locale says.
int list_folder(const std::string& folder, std::vector<std::string>& names) {
  std::error_code ec;
  fs::directory_iterator it(folder, ec), end;
  for (; !ec && it != end; it.increment(ec)) names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return ec.value();
}

bool has_pattern(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

class InputSearch {
 public:
  InputSearch(const InputFilter& filter, std::string_view tool) : filter_(filter), tool_(tool) {}

  void operand(const std::string& operand) {
    struct stat status {};
    if (operand == "-") {
      add("-", "-", false);
    } else if (::stat(operand.c_str(), &status) == 0) {
      existing(operand, S_ISDIR(status.st_mode));
    } else if (const int error = errno; has_pattern(operand)) {
      pattern(operand);
    } else {
      problem(operand, "cannot read: " + error_text(error));
    }
  }

  InputList take() { return std::move(list_); }

 private:
  void problem(const std::string& path, std::string message) { list_.problems.push_back({path, std::move(message)}); }

  void existing(const std::string& path, bool is_folder) {
    if (!is_folder) return add(path, bare_name(path), false);
    const size_t before = found_in_folders_;
    walk(path, "");
    if (found_in_folders_ == before) problem(path, "nothing in this folder is a source for " + std::string(tool_));
  }

  void add(const std::string& path, std::string relative, bool in_folder) {
    if (in_folder) ++found_in_folders_;
    if (!seen_.insert(identity(path)).second) return;
    list_.files.push_back({path, std::move(relative), "", in_folder});
  }

  /// file_identity() with the folder's part kept: a folder of ten thousand files is resolved once.
  std::string identity(const std::string& path) {
    if (path == "-") return path;
    const std::string folder = parent_folder(path);
    const auto [it, is_new] = real_folders_.try_emplace(folder);
    if (is_new) it->second = parent_folder(file_identity(path));
    return join(it->second, bare_name(path));
  }

  void walk(const std::string& folder, const std::string& relative) {
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0) return problem(folder, "cannot read: " + error_text(errno));
    // A link back up would never end. The same folder reached twice side by side is read twice; add() sorts it out.
    const std::pair<uint64_t, uint64_t> id{status.st_dev, status.st_ino};
    if (std::find(above_.begin(), above_.end(), id) != above_.end()) return;
    above_.push_back(id);
    list_.folders.push_back(folder);
    std::vector<std::string> names;
    if (const int error = list_folder(folder, names); error != 0) problem(folder, "cannot read: " + error_text(error));
    for (const std::string& name : names) {
      const std::string path = join(folder, name);
      if (::stat(path.c_str(), &status) != 0) continue;  // a link to nothing, or gone since
      if (S_ISDIR(status.st_mode)) {
        walk(path, join(relative, name));
      } else if (S_ISREG(status.st_mode) && filter_(path)) {
        add(path, join(relative, name), true);
      }
    }
    above_.pop_back();
  }

  void pattern(const std::string& text) {
    const bool is_absolute = text[0] == '/';
    std::vector<std::string> parts;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('/', at), text.size());
      if (end > at) parts.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    matches_.clear();
    match(is_absolute ? "/" : "", parts, 0, 0);
    if (matches_.empty()) return problem(text, "no file matches this pattern");
    // `**` may reach one path in two ways; a set would also lose the order of folders, so sort by whole path.
    std::sort(matches_.begin(), matches_.end());
    matches_.erase(std::unique(matches_.begin(), matches_.end()), matches_.end());
    for (const std::string& path : std::exchange(matches_, {})) {
      struct stat status {};
      if (::stat(path.c_str(), &status) == 0) existing(path, S_ISDIR(status.st_mode));
    }
  }

  void match(const std::string& base, const std::vector<std::string>& parts, size_t index, int depth) {
    if (index == parts.size()) {
      matches_.push_back(base);
      return;
    }
    const std::string& part = parts[index];
    const std::string folder = base.empty() ? "." : base;
    struct stat status {};
    if (!has_pattern(part)) {
      const std::string path = join(base, part);
      if (::stat(path.c_str(), &status) == 0) match(path, parts, index + 1, depth);
      return;
    }
    const bool any_depth = part == "**";
    if (any_depth && index + 1 == parts.size()) {  // the folder with all below it
      matches_.push_back(folder);
      return;
    }
    if (any_depth) match(base, parts, index + 1, depth);
    std::vector<std::string> names;
    (void)list_folder(folder, names);  // not a folder, or closed to us: it has no matches
    for (const std::string& name : names) {
      const std::string path = join(base, name);
      if (any_depth) {
        if (name[0] != '.' && depth < kMaxGlobDepth && ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
          match(path, parts, index, depth + 1);
      } else if (::fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0) {
        match(path, parts, index + 1, depth);
      }
    }
  }

  const InputFilter& filter_;
  std::string_view tool_;
  InputList list_;
  size_t found_in_folders_ = 0;
  std::unordered_set<std::string> seen_;
  std::unordered_map<std::string, std::string> real_folders_;
  std::vector<std::pair<uint64_t, uint64_t>> above_;
  std::vector<std::string> matches_;
};

bool drop_suffix(std::string_view& name, std::string_view suffix) {
  const size_t base = name.rfind('/') + 1;  // npos + 1 is 0
  if (name.size() - base <= suffix.size()) return false;
  const std::string_view end = name.substr(name.size() - suffix.size());
  for (size_t i = 0; i < suffix.size(); ++i) {
    const char c = end[i] >= 'A' && end[i] <= 'Z' ? static_cast<char>(end[i] - 'A' + 'a') : end[i];
    if (c != suffix[i]) return false;
  }
  name.remove_suffix(suffix.size());
  return true;
}

std::string_view without_suffixes(std::string_view path) {
  drop_suffix(path, ".xml");
  for (const std::string_view suffix : {".ymap", ".ytyp", ".ymf"})
    if (drop_suffix(path, suffix)) break;
  return path;
}

}  // namespace

const std::string& InputFile::shown() const { return is_stdin() ? kStdinName : path; }

InputList find_inputs(std::span<const std::string> operands, const InputFilter& filter, std::string_view tool) {
  InputSearch search(filter, tool);
  for (const std::string& operand : operands) search.operand(operand);
  return search.take();
}

bool parse_batch(std::string_view path, std::string_view text, std::vector<InputFile>& out, std::string& error) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos || tab == 0 || tab + 1 == line.size() ||
        line.find('\t', tab + 1) != std::string_view::npos) {
      error = std::string(path) + ":" + std::to_string(number) + ": a batch line is IN<TAB>OUT";
      return false;
    }
    std::string input(line.substr(0, tab));
    std::string relative = bare_name(input);
    out.push_back({std::move(input), std::move(relative), std::string(line.substr(tab + 1))});
  }
  return true;
}

std::string input_stem(std::string_view path) {
  path = without_suffixes(path);
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string resource_stem(std::string_view path) {
  path = path.substr(path.rfind('/') + 1);
  return std::string(path.substr(0, path.rfind('.')));
}

std::string output_name(std::string_view input, std::string_view extension) {
  std::string_view stem = without_suffixes(input);
  const std::string suffix = "." + std::string(extension);
  drop_suffix(stem, suffix);  // a.imap.xml, as `resinfo dump --xml` may be stored, gives a.imap
  return std::string(stem) + suffix;
}

}  // namespace meridian::tools
