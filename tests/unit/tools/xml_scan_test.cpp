// SPDX-License-Identifier: MIT
// The pass over the bytes before the parser: windows, waivers, bad text, placeholders (READ-3).
#include "xml_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>

namespace meridian::tools {
namespace {

constexpr size_t npos = std::string_view::npos;

std::string items(int count, int bytes, std::string_view name = "Item") {
  std::string out;
  for (int i = 0; i < count; ++i)
    out +=
        "<" + std::string(name) + ">" + std::string(static_cast<size_t>(bytes), 'x') + "</" + std::string(name) + ">";
  return out;
}

TEST(XmlScan, CountsElementsAndFindsTheRoot) {
  const std::string xml = "<?xml version='1.0'?><!-- c --> <r><a/><b><c/></b></r> <!-- end -->";
  const ScanResult r = scan_xml(xml, {}, 0);
  EXPECT_TRUE(r.findings.empty());
  EXPECT_EQ(r.elements, 4u);
  EXPECT_EQ(xml.substr(r.root.begin, r.root.end - r.root.begin), "<r><a/><b><c/></b></r>");
  EXPECT_TRUE(r.windows.empty());
}

TEST(XmlScan, WindowsAreWholeSiblingItemsSortedAndDisjoint) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    std::string xml = "<r>";
    for (int k = 0; k < 6; ++k) {
      const std::string inner =
          random() % 3 == 0
              ? "<list>" + items(static_cast<int>(random() % 20), static_cast<int>(random() % 60)) + "</list>"
              : "";
      xml += "<a>";
      for (int n = static_cast<int>(random() % 12); n > 0; --n) {
        xml += "<Item>" + std::string(random() % 50, 'y') + inner + "</Item>";
        if (random() % 4 == 0) xml += "<!-- <Item> -->";
        if (random() % 6 == 0) xml += "<Other/>";
      }
      xml += "</a>";
    }
    xml += "</r>";
    for (const size_t bytes : {1u, 64u, 300u, 1000u, 100000u}) {
      const ScanResult r = scan_xml(xml, {}, bytes);
      ASSERT_TRUE(r.findings.empty());
      size_t end = 0;
      for (const Window& w : r.windows) {
        EXPECT_GE(w.begin, end);
        end = w.end;
        const std::string_view text = std::string_view(xml).substr(w.begin, w.end - w.begin);
        EXPECT_TRUE(text.starts_with("<Item"));
        EXPECT_TRUE(text.ends_with("</Item>"));
        // Count the top-level elements by hand: all are Items, and as many as it says.
        int depth = 0;
        uint32_t top = 0;
        for (size_t p = text.find('<'); p != npos; p = text.find('<', p + 1)) {
          if (text.substr(p).starts_with("<!--")) {
            p = text.find("-->", p);
            continue;
          }
          if (text[p + 1] == '/') {
            --depth;
            continue;
          }
          if (depth == 0) {
            EXPECT_TRUE(text.substr(p).starts_with("<Item>"));
            ++top;
          }
          const size_t close = text.find('>', p);
          if (text[close - 1] != '/') ++depth;
        }
        EXPECT_EQ(depth, 0);
        EXPECT_EQ(top, w.items);
      }
    }
  }
}

TEST(XmlScan, EarlyWindowsAreTheOnesOfTheResultThatStandInNoItem) {
  const auto early_of = [](const std::string& xml, size_t bytes, ScanResult& result) {
    std::vector<EarlyWindow> early;
    result = scan_xml(xml, {}, bytes, [&](EarlyWindow&& w) { early.push_back(std::move(w)); });
    return early;
  };
  ScanResult r;
  const std::string arrays = "<r><a><Item/><b>" + items(4, 10) + "</b>" + items(10, 40) + "<odd/>" + items(3, 40) +
                             "</a><c>" + items(1, 400) + "</c></r>";
  const std::vector<EarlyWindow> early = early_of(arrays, 100, r);
  ASSERT_EQ(early.size(), r.windows.size());
  uint32_t of_a = 1;  // the first Item is too small to be a window
  for (size_t i = 0; i < early.size(); ++i) {
    EXPECT_EQ(early[i].window.begin, r.windows[i].begin);
    EXPECT_EQ(early[i].window.end, r.windows[i].end);
    EXPECT_EQ(early[i].window.items, r.windows[i].items);
    EXPECT_EQ(early[i].window.depth, early[i].path.size() + 1);
    EXPECT_EQ(early[i].path[0], "r");
    if (early[i].path.back() != "a") continue;
    EXPECT_EQ(early[i].first_item, of_a);
    of_a += early[i].window.items;
  }
  EXPECT_EQ(of_a, 14u);
  EXPECT_EQ(early.front().path, (std::vector<std::string_view>{"r", "a", "b"}));
  EXPECT_EQ(early.back().path, (std::vector<std::string_view>{"r", "c"}));

  // Windows inside an Item become part of it again if it is small, so nothing is said of them.
  EXPECT_TRUE(early_of("<r><a><Item><b>" + items(20, 40) + "</b></Item></a></r>", 100, r).empty());
  EXPECT_FALSE(r.windows.empty());
  // Processing instructions must be blanked before a parse, and the list of them is not complete yet.
  EXPECT_TRUE(early_of("<r><?p?><a>" + items(20, 40) + "</a></r>", 100, r).empty());
  EXPECT_FALSE(r.windows.empty());
}

TEST(XmlScan, ManySmallItemsMakeSeveralWindowsNearTheTarget) {
  const std::string xml = "<r><a>" + items(1000, 87) + "</a></r>";  // 100 bytes each
  const ScanResult r = scan_xml(xml, {}, 4096);
  ASSERT_GE(r.windows.size(), 20u);
  uint32_t total = 0;
  for (const Window& w : r.windows) {
    EXPECT_LE(w.end - w.begin, 2u * 4096u);
    EXPECT_EQ(w.depth, 3u);
    total += w.items;
  }
  EXPECT_LE(1000u - total, 41u);  // what is left in the skeleton is less than a window
}

TEST(XmlScan, OneHugeItemAmongSmallOnesIsCutInside) {
  const std::string xml = "<r><a><Item/><Item><list>" + items(500, 87) + "</list></Item><Item/></a></r>";
  const ScanResult r = scan_xml(xml, {}, 4096);
  ASSERT_TRUE(r.findings.empty());
  size_t covered = 0;
  for (const Window& w : r.windows) covered += w.end - w.begin;
  EXPECT_GT(covered, 40000u);
}

TEST(XmlScan, WaiversCoverTheNextElementOrTheFile) {
  const std::string xml =
      "<!-- lint-ok A: file --><r><!-- lint-ok B: one --> <!-- lint-ok C: two --><a><x/></a><b/><!-- lint-ok D: none "
      "--></r><!-- lint-ok E: behind -->";
  const ScanResult r = scan_xml(xml, {}, 0);
  ASSERT_EQ(r.waivers.size(), 5u);
  const auto text = [&](size_t i) { return xml.substr(r.waivers[i].begin, r.waivers[i].end - r.waivers[i].begin); };
  EXPECT_EQ(text(0), xml);
  EXPECT_EQ(text(1), "<a><x/></a>");
  EXPECT_EQ(text(2), "<a><x/></a>");
  EXPECT_EQ(text(3), "");
  EXPECT_EQ(text(4), "");
  EXPECT_EQ(xml.substr(r.waivers[1].offset, 12), "<!-- lint-ok");
}

TEST(XmlScan, AWaiverInsideAWindowIsFoundWithTheSameRange) {
  std::string xml = "<r><a>" + items(50, 50) + "<!-- lint-ok B: one --><Item>z</Item>" + items(50, 50) + "</a></r>";
  const ScanResult whole = scan_xml(xml, {}, 0), cut = scan_xml(xml, {}, 300);
  ASSERT_EQ(whole.waivers.size(), 1u);
  ASSERT_EQ(cut.waivers.size(), 1u);
  EXPECT_EQ(whole.waivers[0].begin, cut.waivers[0].begin);
  EXPECT_EQ(xml.substr(cut.waivers[0].begin, cut.waivers[0].end - cut.waivers[0].begin), "<Item>z</Item>");
}

// A decoder of its own: the first byte that is not valid UTF-8, or NUL.
size_t bad_by_decoding(std::string_view t) {
  for (size_t i = 0; i < t.size();) {
    const auto b = [&](size_t k) -> uint32_t {
      return i + k < t.size() ? static_cast<unsigned char>(t[i + k]) : 0x100u;
    };
    const uint32_t c = b(0);
    size_t n = 0;
    uint32_t code = 0, least = 0;
    if (c == 0) return i;
    if (c < 0x80) {
      ++i;
      continue;
    }
    if (c >= 0xC0 && c < 0xE0)
      n = 1, code = c & 31, least = 0x80;
    else if (c >= 0xE0 && c < 0xF0)
      n = 2, code = c & 15, least = 0x800;
    else if (c >= 0xF0 && c < 0xF8)
      n = 3, code = c & 7, least = 0x10000;
    else
      return i;
    for (size_t k = 1; k <= n; ++k) {
      if (b(k) < 0x80 || b(k) > 0xBF) return i;
      code = code << 6 | (b(k) & 63);
    }
    if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return i;
    i += n + 1;
  }
  return npos;
}

TEST(FindBadText, AgreesWithADecoderOnRandomBytes) {
  std::mt19937 random(5);
  const unsigned char edges[] = {0x00, 0x7F, 0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0x9F, 0xA0,
                                 0xED, 0xEE, 0xEF, 0xF0, 0x8F, 0x90, 0xF4, 0xF5, 0xFF, 'a'};
  for (int i = 0; i < 200000; ++i) {
    std::string text(random() % 20, 'a');
    for (size_t n = random() % 5; n > 0; --n) text += static_cast<char>(edges[random() % sizeof edges]);
    text.append(random() % 12, 'b');
    ASSERT_EQ(find_bad_text(text), bad_by_decoding(text)) << ::testing::PrintToString(text);
  }
}

TEST(FindPlaceholders, ACommentInsideCdataIsText) {  // READ-3
  const std::string text = "<a><![CDATA[<!-- ${x} -->]]><!-- ${y} --></a>";
  EXPECT_EQ(find_placeholders(text), std::vector<size_t>{text.find("${x}")});
}

TEST(FindPlaceholders, OutsideCommentsOnly) {
  const std::string text = "a ${B} <!-- ${C} --> ${D}${E} $F {G} <!-- ${H}";
  const std::vector<size_t> places = find_placeholders(text);
  EXPECT_EQ(places, (std::vector<size_t>{text.find("${B"), text.find("${D"), text.find("${E")}));
  EXPECT_TRUE(find_placeholders("$ { x }").empty());
}

TEST(XmlScan, NothingElseIsSaidAfterTheFirstFault) {
  EXPECT_EQ(scan_xml("<r><a></b><c></d></r>", {}, 0).findings.size(), 1u);
}

}  // namespace
}  // namespace meridian::tools
