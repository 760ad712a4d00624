// SPDX-License-Identifier: MIT
#pragma once
// HTML as text: escaped cells, tables, and the style sheet of reports.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace meridian::tools {

std::string escape_html(std::string_view text);

/// A table that grows row by row. Columns whose title begins with '#' hold numbers and stand to the right.
class HtmlTable {
 public:
  explicit HtmlTable(std::initializer_list<std::string_view> titles);
  /// Cells are escaped.
  void row(const std::vector<std::string>& cells, std::string_view css_class = {});
  bool empty() const { return rows_ == 0; }
  /// The whole table; a line that says "none" if it has no rows.
  std::string text() const;

 private:
  std::vector<bool> is_number_;
  std::string body_;
  size_t rows_ = 0;
};

/// A whole page around a body.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace meridian::tools
