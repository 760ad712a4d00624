// SPDX-License-Identifier: MIT
#pragma once
/// Where the parts of an XML source stand, by path: `entities[3].parentIndex`. Rules that look at compiled resources
/// use it to point at what the author wrote, and fixes to know which bytes to change.
///
/// Nothing is parsed until something is asked for; then only the way to it is walked, and what was walked is kept. A
/// source without findings costs nothing.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace meridian::tools {

class SourceMap {
 public:
  /// `text` is well-formed XML (it has been compiled) and outlives the map.
  explicit SourceMap(std::string_view text);

  struct Place {
    size_t element = 0;               ///< first letter of the element's name [byte]
    size_t value = 0, value_end = 0;  ///< its value: attribute `value` or the trimmed text; [begin, end)
    bool has_value = false;
    bool exact = false;  ///< false: something on the way is missing, and this is the last that was found

    /// Where a message points: the value if there is one, else the element.
    size_t point() const { return has_value ? value : element; }
  };

  /// Looks a path up, from below the root element: names of elements, `[n]` for the n-th Item of an array, and
  /// at the end possibly the name of an attribute (`position.x`). An empty path is the root.
  /// Threads: main (it keeps what it walked).
  Place find(std::string_view path);

  /// Behind the `>` of an element's start tag.
  size_t tag_end(size_t element) const { return tag_at(element).end; }
  /// The end tag of an element, as the byte where `</` begins; nothing for `<a/>`.
  std::optional<size_t> end_tag(size_t element) const;
  /// Child elements, by first letter of their names, in order.
  const std::vector<size_t>& children(size_t element);
  std::string_view name_at(size_t element) const;

 private:
  struct Tag {
    size_t name_end = 0;  ///< behind the name
    size_t end = 0;       ///< behind `>`
    bool closes_itself = false;
  };
  Tag tag_at(size_t element) const;
  /// Those children that are an array's: other elements among them are unknown and kept, and have no index.
  const std::vector<size_t>& items(size_t element);
  /// The next tag from `at` on: position of its `<`; comments, instructions and CDATA are passed over.
  size_t next_tag(size_t at) const;
  bool find_attribute(size_t element, std::string_view name, size_t& begin, size_t& end) const;
  void find_value(Place& place);

  std::string_view text_;
  size_t root_ = 0;
  std::unordered_map<size_t, std::vector<size_t>> children_, items_;
};

}  // namespace meridian::tools
