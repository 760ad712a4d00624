// SPDX-License-Identifier: MIT
#include "report/html_text.h"

#include "text_values.h"

namespace meridian::tools {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --bad: #c22; --warn: #b70; --ink: #246; }
@media (prefers-color-scheme: dark) { :root { --bad: #f77; --warn: #fb5; --ink: #9cf; } }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; color: var(--ink); }
table { border-collapse: collapse; width: 100%; font-size: 14px; } p.none { opacity: .7; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { border-bottom-width: 2px; font-weight: 600; } .n { text-align: right; font-variant-numeric: tabular-nums; }
tr.error td:first-child { color: var(--bad); font-weight: 600; }
tr.warning td:first-child { color: var(--warn); font-weight: 600; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: .8rem; margin: 1rem 0; }
dl div { background: var(--soft); border-radius: .4rem; padding: .5rem .8rem; }
dt { font-size: 12.5px; opacity: .8; } dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
figure { margin: 1rem 0; } svg { width: 100%; max-height: 40rem; background: var(--soft); }
figcaption { font-size: 13px; opacity: .8; }
)css";

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  append_escaped(out, text, true);
  return out;
}

HtmlTable::HtmlTable(std::initializer_list<std::string_view> titles) {
  body_ = "<table>\n<tr>";
  for (std::string_view title : titles) {
    is_number_.push_back(title.starts_with('#'));
    if (is_number_.back()) title.remove_prefix(1);
    body_ += (is_number_.back() ? "<th class=\"n\">" : "<th>") + escape_html(title) + "</th>";
  }
  body_ += "</tr>\n";
}

void HtmlTable::row(const std::vector<std::string>& cells, std::string_view css_class) {
  body_ += css_class.empty() ? "<tr>" : "<tr class=\"" + std::string(css_class) + "\">";
  for (size_t i = 0; i < cells.size(); ++i)
    body_ += (is_number_[i] ? "<td class=\"n\">" : "<td>") + escape_html(cells[i]) + "</td>";
  body_ += "</tr>\n";
  ++rows_;
}

std::string HtmlTable::text() const { return rows_ == 0 ? "<p class=\"none\">none</p>\n" : body_ + "</table>\n"; }

std::string html_page(std::string_view title, std::string_view body) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         escape_html(title) + "</title>\n<style>" + std::string(kStyle) + "</style>\n</head>\n<body>\n" +
         std::string(body) + "</body>\n</html>\n";
}

}  // namespace meridian::tools
