// SPDX-License-Identifier: MIT
// Places by path, in the text as the author wrote it (CLI-3). Expected places are found by hand-set marks.
#include "meridian/tools/source_map.h"

#include <gtest/gtest.h>

#include <string>

namespace meridian::tools {
namespace {

/// The text between the marks [ and ] of `marked` must be the value at `path`.
void expect_value(std::string marked, std::string_view path) {
  const size_t begin = marked.find('{');
  marked.erase(begin, 1);
  const size_t end = marked.find('}');
  marked.erase(end, 1);
  const SourceMap::Place place = SourceMap(marked).find(path);
  EXPECT_TRUE(place.exact) << marked << " " << path;
  ASSERT_TRUE(place.has_value) << marked << " " << path;
  EXPECT_EQ(place.value, begin) << marked << " " << path;
  EXPECT_EQ(place.value_end, end) << marked << " " << path;
  EXPECT_EQ(place.point(), begin);
}

/// The path must end at the element whose name begins at the mark `@`; `exact`: or at its parent, if it is missing.
void expect_element(std::string marked, std::string_view path, bool exact) {
  const size_t at = marked.find('@');
  marked.erase(at, 1);
  const SourceMap::Place place = SourceMap(marked).find(path);
  EXPECT_EQ(place.exact, exact) << marked << " " << path;
  EXPECT_FALSE(place.has_value) << marked << " " << path;
  EXPECT_EQ(place.point(), at) << marked << " " << path;
}

TEST(SourceMap, FindsValuesInAttributesAndText) {
  expect_value("<r><a value=\"{12}\"/></r>", "a");
  expect_value("<r><a value='{12}'/></r>", "a");
  expect_value("<r><a  value = \"{12}\" ></a></r>", "a");
  expect_value("<r><a>{some text}</a></r>", "a");
  expect_value("<r><a>\r\n\t {1 2\n3} \n</a></r>", "a");
  expect_value("<r><p x=\"1\" y=\"{2}\" z=\"3\"/></r>", "p.y");
  expect_value("<r><p z=\"3\" x='{1}'/></r>", "p.x");
  expect_value("<r><p><x value=\"{4}\"/></p></r>", "p.x");  // FloatXYZ has elements
  expect_value("<r><a value=\"{}\"/></r>", "a");
}

TEST(SourceMap, TakesQuotesAndBracketsAsTheyStand) {
  expect_value("<r><b note=\"a > b / 'c'\"><a value=\"{1}\"/></b></r>", "b.a");
  expect_value("<r><b note='<a value=\"9\"/>'/><a value=\"{1}\"/></r>", "a");
  expect_value("<r><a other=\"value='9'\" value=\"{1}\"/></r>", "a");
  expect_value("<r><a avalue=\"9\" value=\"{1}\"/></r>", "a");
}

TEST(SourceMap, PassesOverCommentsCDataAndInstructions) {
  expect_value("<?xml version=\"1.0\"?><!-- <r><a value='9'/></r> --><r><a value=\"{1}\"/></r>", "a");
  expect_value("<r><!-- <a value=\"9\"/> --><a value=\"{1}\"/></r>", "a");
  expect_value("<r><![CDATA[<a value=\"9\"/>]]><a value=\"{1}\"/></r>", "a");
  expect_value("<r><?p <a value=\"9\"/> ?><a value=\"{1}\"/></r>", "a");
  expect_value("<r><a><!-- 9 --> {1}<!-- 8 --></a></r>", "a");
  expect_value("\n\n<?xml version=\"1.0\"?>\n<r><a value=\"{1}\"/></r>", "a");
}

TEST(SourceMap, CountsItems) {
  expect_value("<r><v><Item value=\"9\"/><Item value=\"{1}\"/></v></r>", "v[1]");
  expect_value("<r><v><Item><a value=\"9\"/></Item><!-- - --><Item><a value=\"{1}\"/></Item></v></r>", "v[1].a");
  expect_value("<r><v><Item><w><Item/><Item><a><b>{1}</b></a></Item></w></Item></v></r>", "v[0].w[1].a.b");
}

// An unknown element among Items is kept, and has no index.
TEST(SourceMap, DoesNotCountWhatIsNoItem) {
  expect_value("<r><v><Other value=\"9\"/><Item value=\"{1}\"/><item value=\"8\"/></v></r>", "v[0]");
  expect_element("<r><@v><Item/><Other/></v></r>", "v[1]", false);
}

TEST(SourceMap, TakesTheFirstOfDuplicates) { expect_value("<r><a value=\"{1}\"/><a value=\"9\"/></r>", "a"); }

// The reader takes names as written: <A> is unknown where <a> is meant.
TEST(SourceMap, TakesNamesAsWritten) {
  expect_value("<r><A value=\"9\"/><a value=\"{1}\"/></r>", "a");
  expect_value("<r><ab value=\"9\"/><a value=\"{1}\"/></r>", "a");
  expect_element("<@r><A value=\"9\"/></r>", "a", false);
}

TEST(SourceMap, PointsAtTheParentOfWhatIsMissing) {
  expect_element("<@r/>", "", true);
  expect_element("<@r/>", "a", false);
  expect_element("<r><@a/></r>", "a", true);
  expect_element("<r><@a></a></r>", "a", true);
  expect_element("<r><v><@Item/></v></r>", "v[0].a", false);
  expect_element("<r><v><@Item/></v></r>", "v[0].a.b", false);
  expect_element("<r><@v><Item/></v></r>", "v[7].a", false);
  expect_element("<r><@p x=\"1\"/></r>", "p.y", false);
  expect_element("<r><@v/></r>", "v[0]", false);
  expect_element("<r><@v>\n<Item/></v></r>", "v", true);  // of a container the element is meant
}

TEST(SourceMap, KnowsChildrenAndEndTags) {
  const std::string text = "<r><a/><b><c></c></b><!-- <d/> --><e x='>'/></r>";
  SourceMap map(text);
  const size_t root = map.find("").element;
  const std::vector<size_t> children = map.children(root);
  ASSERT_EQ(children.size(), 3u);
  EXPECT_EQ(map.name_at(children[0]), "a");
  EXPECT_EQ(map.name_at(children[1]), "b");
  EXPECT_EQ(map.name_at(children[2]), "e");
  EXPECT_EQ(map.end_tag(children[0]), std::nullopt);
  EXPECT_EQ(map.end_tag(children[1]), text.find("</b>"));
  EXPECT_EQ(map.end_tag(root), text.find("</r>"));
  EXPECT_EQ(map.tag_end(children[2]), text.find("</r>"));
}

TEST(SourceMap, GoesDeepWithoutRecursion) {
  std::string text = "<r>", path;
  for (int i = 0; i < 90; ++i) text += "<a>", path += i == 0 ? "a" : ".a";
  const size_t at = text.size();
  text += "deep";
  for (int i = 0; i < 90; ++i) text += "</a>";
  text += "</r>";
  const SourceMap::Place place = SourceMap(text).find(path);
  EXPECT_TRUE(place.exact);
  EXPECT_EQ(place.value, at);
}

}  // namespace
}  // namespace meridian::tools
