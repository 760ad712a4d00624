// SPDX-License-Identifier: MIT
#include "meridian/tools/fix.h"

#include <algorithm>

#include <sys/stat.h>
#include <set>

#include "meridian/tools/file_io.h"
#include "meridian/tools/source_map.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for_each_word(text, [&](std::string_view word) { words.push_back(word); });
  return words;
}

/// The blanks that stand before a byte on its line, with the line break before them.
std::string_view indentation(std::string_view source, size_t tag) {
  size_t begin = tag;
  while (begin > 0 && (source[begin - 1] == ' ' || source[begin - 1] == '\t')) --begin;
  if (begin > 0 && source[begin - 1] == '\n') --begin;
  if (begin > 0 && source[begin - 1] == '\r') --begin;
  return source.substr(begin, tag - begin);
}

std::vector<TextEdit> insert_element(SourceMap& places, std::string_view source, std::string_view path,
                                     std::string_view text) {
  const size_t dot = path.rfind('.');
  const std::string_view parent_path = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
  const std::string_view name = dot == std::string_view::npos ? path : path.substr(dot + 1);
  const SourceMap::Place parent = places.find(parent_path);
  if (!parent.exact || name.find('[') != std::string_view::npos) return {};
  const std::optional<size_t> end = places.end_tag(parent.element);
  if (!end) return {};
  const std::vector<std::string_view> words = words_of(text);
  std::string element = "<" + std::string(name);
  if (words.size() == 3)
    element +=
        " x=\"" + std::string(words[0]) + "\" y=\"" + std::string(words[1]) + "\" z=\"" + std::string(words[2]) + "\"";
  else
    element += " value=\"" + std::string(text) + "\"";
  element += " />";
  const std::vector<size_t>& siblings = places.children(parent.element);
  if (siblings.empty()) return {{*end, 0, std::move(element)}};
  const size_t last = siblings.back();
  const std::optional<size_t> last_end = places.end_tag(last);
  const size_t behind = source.find('>', last_end ? *last_end : places.tag_end(last) - 1) + 1;
  return {{behind, 0, std::string(indentation(source, last - 1)) + element}};
}

}  // namespace

std::vector<TextEdit> edits_for_value(SourceMap& places, std::string_view source, std::string_view path,
                                      std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  std::vector<TextEdit> edits;
  if (words.size() == 3) {
    // A vector may stand as text too.
    if (const SourceMap::Place whole = places.find(path); whole.exact && whole.has_value) {
      if (words_of(source.substr(whole.value, whole.value_end - whole.value)) == words) return {};
      return {{whole.value, whole.value_end - whole.value, std::string(text)}};
    }
    for (int axis = 0; axis < 3; ++axis) {
      const SourceMap::Place at = places.find(std::string(path) + "." + "xyz"[axis]);
      if (!at.exact)
        return places.find(path).exact ? std::vector<TextEdit>{} : insert_element(places, source, path, text);
      if (source.substr(at.value, at.value_end - at.value) != words[static_cast<size_t>(axis)])
        edits.push_back({at.value, at.value_end - at.value, std::string(words[static_cast<size_t>(axis)])});
    }
    return edits;
  }
  const SourceMap::Place at = places.find(path);
  if (!at.exact) return insert_element(places, source, path, text);
  if (!at.has_value) return {};
  return {{at.value, at.value_end - at.value, std::string(text)}};
}

std::string apply_edits(std::string_view source, std::vector<TextEdit> edits) {
  // An insertion touches no bytes: it goes before the edit of those that it stands at.
  std::stable_sort(edits.begin(), edits.end(), [](const TextEdit& a, const TextEdit& b) {
    return a.offset != b.offset ? a.offset < b.offset : (a.size == 0) > (b.size == 0);
  });
  std::string out;
  size_t at = 0;
  std::set<std::string_view> inserted;  // here: two findings may ask for the same element
  for (size_t i = 0; i < edits.size(); ++i) {
    const TextEdit& edit = edits[i];
    if (i == 0 || edits[i - 1].offset != edit.offset) inserted.clear();
    if (edit.offset < at || (edit.size == 0 && !inserted.insert(edit.text).second)) continue;
    out.append(source.substr(at, edit.offset - at)).append(edit.text);
    at = edit.offset + edit.size;
  }
  return out.append(source.substr(at));
}

bool rewrite_source(const SourceText& source, std::string_view text, std::string& problem) {
  if (source.is_converted()) {
    problem = "a UTF-16 source cannot be rewritten (--fix); store it as UTF-8 first";
    return false;
  }
  struct stat status {};
  const bool has_mode = ::stat(source.path().c_str(), &status) == 0;
  const std::string bytes = (source.has_mark() ? "\xEF\xBB\xBF" : "") + std::string(text);
  const WriteResult written = write_file(source.path(), bytes, WriteMode::if_changed);
  // A source stays as shared as it was.
  if (written.outcome == WriteOutcome::written && has_mode) ::chmod(source.path().c_str(), status.st_mode & 07777);
  if (written.outcome != WriteOutcome::failed) return true;
  problem = "cannot rewrite (--fix): " + error_text(written.error);
  return false;
}

std::string unified_diff(std::string_view path, std::string_view before, std::string_view after) {
  const auto lines_of = [](std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
      lines.push_back(text.substr(0, end));
      text.remove_prefix(end);
    }
    return lines;
  };
  const std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  // Edits change values or insert lines; they never move any. So a greedy walk that looks for the next equal line finds
  // the same hunks as a longest common subsequence, in linear time.
  struct Hunk {
    size_t a0, a1, b0, b1;
  };
  std::vector<Hunk> hunks;
  for (size_t i = 0, k = 0; i < a.size() || k < b.size();) {
    if (i < a.size() && k < b.size() && a[i] == b[k]) {
      ++i, ++k;
      continue;
    }
    size_t di = 0, dk = 0;
    bool found = false;
    for (size_t reach = 1; !found && reach < 64; ++reach)
      for (size_t x = 0; x <= reach && !found; ++x)
        if (i + x < a.size() && k + (reach - x) < b.size() && a[i + x] == b[k + (reach - x)])
          di = x, dk = reach - x, found = true;
    if (!found) di = a.size() - i, dk = b.size() - k;
    hunks.push_back({i, i + di, k, k + dk});
    i += di, k += dk;
  }
  if (hunks.empty()) return {};
  constexpr size_t kAround = 3;
  std::string out = "--- " + std::string(path) + "\n+++ " + std::string(path) + "\n";
  const auto put = [&](char mark, std::string_view line) {
    out.append(1, mark).append(line);
    if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
  };
  for (size_t h = 0; h < hunks.size();) {
    size_t last = h;
    while (last + 1 < hunks.size() && hunks[last + 1].a0 - hunks[last].a1 <= 2 * kAround) ++last;
    const size_t before_lines = std::min(kAround, hunks[h].a0);
    const size_t after_lines = std::min(kAround, a.size() - hunks[last].a1);
    const size_t a0 = hunks[h].a0 - before_lines, b0 = hunks[h].b0 - before_lines;
    out += "@@ -" + std::to_string(a0 + 1) + "," + std::to_string(hunks[last].a1 + after_lines - a0) + " +" +
           std::to_string(b0 + 1) + "," + std::to_string(hunks[last].b1 + after_lines - b0) + " @@\n";
    size_t at = a0;
    for (size_t k = h; k <= last; ++k) {
      for (; at < hunks[k].a0; ++at) put(' ', a[at]);
      for (; at < hunks[k].a1; ++at) put('-', a[at]);
      for (size_t n = hunks[k].b0; n < hunks[k].b1; ++n) put('+', b[n]);
    }
    for (; at < hunks[last].a1 + after_lines; ++at) put(' ', a[at]);
    h = last + 1;
  }
  return out;
}

}  // namespace meridian::tools
