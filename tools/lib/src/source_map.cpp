// SPDX-License-Identifier: MIT
#include "meridian/tools/source_map.h"

#include <charconv>

#include "text_values.h"

namespace meridian::tools {
SourceMap::SourceMap(std::string_view text) : text_(text) {
  const size_t tag = next_tag(0);
  root_ = tag == npos ? 0 : tag + 1;
}

size_t SourceMap::next_tag(size_t at) const {
  while ((at = text_.find('<', at)) != npos) {
    const std::string_view rest = text_.substr(at);
    if (rest.starts_with("<!--"))
      at = text_.find("-->", at + 4);
    else if (rest.starts_with("<![CDATA["))
      at = text_.find("]]>", at);
    else if (rest.starts_with("<?"))
      at = text_.find("?>", at);
    else if (rest.starts_with("<!"))
      at = text_.find('>', at);
    else
      return at;
    if (at == npos) break;
  }
  return npos;
}

SourceMap::Tag SourceMap::tag_at(size_t element) const {
  Tag tag;
  tag.name_end = std::min(text_.find_first_of(" \t\r\n/>", element), text_.size());
  // A `>` inside quotes belongs to a value.
  char quote = 0;
  size_t at = tag.name_end;
  for (; at < text_.size(); ++at) {
    const char c = text_[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      break;
    }
  }
  tag.end = std::min(at + 1, text_.size());
  tag.closes_itself = at > 0 && at < text_.size() && text_[at - 1] == '/';
  return tag;
}

std::string_view SourceMap::name_at(size_t element) const {
  const size_t end = std::min(text_.find_first_of(" \t\r\n/>", element), text_.size());
  return text_.substr(element, end - element);
}

const std::vector<size_t>& SourceMap::children(size_t element) {
  const auto [it, is_new] = children_.try_emplace(element);
  std::vector<size_t>& out = it->second;
  if (!is_new) return out;
  const Tag own = tag_at(element);
  if (own.closes_itself) return out;
  size_t depth = 0;
  for (size_t at = next_tag(own.end); at != npos; at = next_tag(at)) {
    if (at + 1 < text_.size() && text_[at + 1] == '/') {
      if (depth == 0) break;
      --depth;
      at = std::min(text_.find('>', at), text_.size());
      continue;
    }
    if (depth == 0) out.push_back(at + 1);
    const Tag tag = tag_at(at + 1);
    if (!tag.closes_itself) ++depth;
    at = tag.end;
  }
  return out;
}

const std::vector<size_t>& SourceMap::items(size_t element) {
  const auto [it, is_new] = items_.try_emplace(element);
  if (is_new)
    for (const size_t child : children(element))
      if (name_at(child) == "Item") it->second.push_back(child);
  return it->second;
}

std::optional<size_t> SourceMap::end_tag(size_t element) const {
  const Tag own = tag_at(element);
  if (own.closes_itself) return std::nullopt;
  size_t depth = 0;
  for (size_t at = next_tag(own.end); at != npos; at = next_tag(at)) {
    if (at + 1 < text_.size() && text_[at + 1] == '/') {
      if (depth == 0) return at;
      --depth;
      at = std::min(text_.find('>', at), text_.size());
      continue;
    }
    const Tag tag = tag_at(at + 1);
    if (!tag.closes_itself) ++depth;
    at = tag.end;
  }
  return std::nullopt;
}

bool SourceMap::find_attribute(size_t element, std::string_view name, size_t& begin, size_t& end) const {
  const Tag tag = tag_at(element);
  for (size_t at = tag.name_end; at < tag.end;) {
    while (at < tag.end && is_blank(text_[at])) ++at;
    const size_t first = at;
    while (at < tag.end && !is_blank(text_[at]) && text_[at] != '=' && text_[at] != '>' && text_[at] != '/') ++at;
    const std::string_view found = text_.substr(first, at - first);
    const size_t quote = text_.find_first_of("\"'", at);
    if (found.empty() || quote == npos || quote >= tag.end) return false;
    const size_t close = text_.find(text_[quote], quote + 1);
    if (close == npos || close >= tag.end) return false;
    if (found == name) {
      begin = quote + 1;
      end = close;
      return true;
    }
    at = close + 1;
  }
  return false;
}

void SourceMap::find_value(Place& place) {
  if (find_attribute(place.element, "value", place.value, place.value_end)) {
    place.has_value = true;
    return;
  }
  const Tag tag = tag_at(place.element);
  if (tag.closes_itself) return;
  size_t begin = tag.end;
  // Comments before the text are no part of it.
  while (begin < text_.size()) {
    while (begin < text_.size() && is_blank(text_[begin])) ++begin;
    if (!text_.substr(begin).starts_with("<!--")) break;
    const size_t close = text_.find("-->", begin);
    if (close == npos) return;
    begin = close + 3;
  }
  size_t end = std::min(text_.find('<', begin), text_.size());
  while (end > begin && is_blank(text_[end - 1])) --end;
  if (begin == end) return;
  place.value = begin;
  place.value_end = end;
  place.has_value = true;
}

SourceMap::Place SourceMap::find(std::string_view path) {
  Place place;
  place.element = root_;
  while (!path.empty()) {
    const size_t stop = std::min(path.find_first_of(".["), path.size());
    const std::string_view name = path.substr(0, stop);
    path.remove_prefix(stop);
    if (!name.empty()) {
      size_t found = 0;
      for (const size_t child : children(place.element)) {
        if (name_at(child) != name) continue;  // as the reader does: other capitals are another name
        found = child;
        break;
      }
      if (found == 0) {
        place.has_value = path.empty() && find_attribute(place.element, name, place.value, place.value_end);
        place.exact = place.has_value;
        return place;
      }
      place.element = found;
    }
    if (path.starts_with("[")) {
      size_t index = 0;
      const size_t close = path.find(']');
      std::from_chars(path.data() + 1, path.data() + close, index);
      path.remove_prefix(close + 1);
      const std::vector<size_t>& items_here = items(place.element);
      if (index >= items_here.size()) return place;
      place.element = items_here[index];
    }
    if (path.starts_with(".")) path.remove_prefix(1);
  }
  place.exact = true;
  find_value(place);
  return place;
}

}  // namespace meridian::tools
