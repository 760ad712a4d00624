// SPDX-License-Identifier: MIT
// Cutting a source into windows and reading them on several threads changes nothing that can be seen: bytes, findings
// with rule, severity, place, object and message, waivers, names.
#include <gtest/gtest.h>

#include <string>

#include "property/random_document.h"
#include "support/compile_kit.h"

namespace meridian::test {
namespace {

std::string seen(const Compiled& c) {
  std::string out = c.all();
  out += c.result.root + (c.result.other_root ? " other\n" : "\n");
  for (const tools::Waiver& w : c.result.waivers)
    out += "waiver " + std::to_string(w.offset) + " " + std::to_string(w.begin) + " " + std::to_string(w.end) + " " +
           std::string(w.text) + "\n";
  for (const tools::NameUse& n : c.result.names)
    out += "name " + std::to_string(n.hash) + " " + n.text + " " + std::to_string(n.offset) + "\n";
  return out;
}

class WindowProperty : public ::testing::TestWithParam<uint32_t> {};

TEST_P(WindowProperty, AnySizeAndThreadCountGivesTheSame) {
  const tools::Binding& binding = *tools::Binding::builtin(GetParam());
  int failures = 0;
  for (int i = 0; i < property_cases() && failures < 5; ++i) {
    const uint64_t seed = property_seed() + 2000000 + static_cast<uint64_t>(i);
    const std::string xml =
        RandomDocument(binding, seed, {.errors = i % 3 == 0, .unknown = i % 5 != 0, .long_lists = i % 4 == 0}).make();
    tools::CompileOptions options;
    options.stem = "qa_stem";
    options.note_missing = i % 10 == 0;
    options.window_bytes = 0;
    options.jobs = 1;
    const Compiled whole = compile_with(binding, xml, options);
    for (const size_t window : {1u, 64u, 300u, 1000u, 4096u, 65536u})
      for (const uint32_t jobs : {1u, 3u}) {
        options.window_bytes = window;
        options.jobs = jobs;
        const Compiled cut = compile_with(binding, xml, options);
        const bool same = cut.result.bytes == whole.result.bytes && seen(cut) == seen(whole);
        if (same) continue;
        ++failures;
        ADD_FAILURE() << "seed " << seed << ", window " << window << ", jobs " << jobs
                      << (cut.result.bytes == whole.result.bytes ? "" : ": other bytes") << "\nwhole\n"
                      << seen(whole) << "\ncut\n"
                      << seen(cut) << "\nsource\n"
                      << xml;
        goto next;
      }
  next:;
  }
}

std::string name_of(const ::testing::TestParamInfo<uint32_t>& info) {
  return {static_cast<char>(info.param), static_cast<char>(info.param >> 8), static_cast<char>(info.param >> 16),
          static_cast<char>(info.param >> 24)};
}
INSTANTIATE_TEST_SUITE_P(Kinds, WindowProperty, ::testing::Values(kImap, kItyp, kGcfg, kYmfm), name_of);

TEST(WindowProperty, StrayTextBetweenItemsIsSeenInAnyWindow) {
  std::string items;
  for (int i = 0; i < 50; ++i) items += entity("") + (i == 25 ? "stray" : "\n");
  tools::CompileOptions options;
  options.window_bytes = 0;
  const Compiled whole = compile(kImap, entities(items), options);
  EXPECT_EQ(whole.diagnostics.size(), 1u);
  options.window_bytes = 1000;
  const Compiled cut = compile(kImap, entities(items), options);
  EXPECT_EQ(seen(cut), seen(whole));
  EXPECT_TRUE(cut.result.bytes == whole.result.bytes);
}

TEST(WindowProperty, DepthCountsFromTheRootInAnyWindow) {
  for (int depth = 90; depth <= 101; ++depth) {
    std::string open, close;
    for (int i = 0; i < depth - 3; ++i) {
      open += "<e>";
      close += "</e>";
    }
    std::string items;
    for (int i = 0; i < 20; ++i) items += entity("");
    items += entity(open + "x" + close);
    tools::CompileOptions options;
    options.window_bytes = 0;
    const Compiled whole = compile(kImap, entities(items), options);
    options.window_bytes = 300;
    const Compiled cut = compile(kImap, entities(items), options);
    EXPECT_EQ(seen(cut), seen(whole)) << depth;
    EXPECT_EQ(whole.result.has_errors(), depth > 98) << depth << whole.all();
  }
}

TEST(WindowProperty, AMalformedTagInWhatIsNotReadIsStillAnError) {
  std::string items;
  for (int i = 0; i < 30; ++i) items += entity(i == 20 ? "<flags value=5/>" : "");
  for (const std::string& xml : {"<CMapData><name>m</name><entities/><entities>" + items + "</entities></CMapData>",
                                 map_of("<qaOdd>" + items + "</qaOdd>"), entities(items)}) {
    tools::CompileOptions options;
    options.window_bytes = 0;
    const Compiled whole = compile(kImap, xml, options);
    options.window_bytes = 300;
    const Compiled cut = compile(kImap, xml, options);
    EXPECT_EQ(seen(cut), seen(whole));
    EXPECT_TRUE(whole.result.has_errors());
  }
}

// Windows are read while the scan goes on, by where they stand. Each of these has windows that then turn out to be
// something else: unwanted, in a source that has an error behind them, or with a processing instruction in it.
TEST(WindowProperty, WhatWasReadBeforeTheScanEndedLeavesNoTrace) {
  std::string items;
  for (int i = 0; i < 200; ++i) items += entity(i % 7 == 0 ? "<qaOdd value=\"1\"/>" : "");
  const std::string list = "<entities>" + items + "</entities>";
  const std::string head = "<CMapData><name>m</name>";
  for (const std::string& xml :
       {head + list + list + "</CMapData>", head + "<entities/>" + list + "</CMapData>",
        head + list + "<block><x></block></CMapData>", head + list, head + list + "&nothing;</CMapData>",
        head + list + "<flags value=5/></CMapData>", head + list + "<?pi?>" + list + "</CMapData>",
        head + "<entities>" + items + "<?pi <Item>?>" + items + "</entities></CMapData>",
        head + "<entities>" + items + "<Other/>" + items + "text" + items + "</entities></CMapData>",
        head + "<entities>" + items + entity("<flags value=5/>") + items + "</entities></CMapData>",
        head + "<carGenerators>" + items + "</carGenerators>" + list + "</CMapData>"}) {
    tools::CompileOptions options;
    options.window_bytes = 0;
    options.jobs = 1;
    const Compiled whole = compile(kImap, xml, options);
    for (const uint32_t jobs : {1u, 2u, 3u}) {
      options.window_bytes = 300;
      options.jobs = jobs;
      const Compiled cut = compile(kImap, xml, options);
      EXPECT_EQ(seen(cut), seen(whole)) << jobs << " threads, " << xml.substr(0, 60) << "..."
                                        << xml.substr(xml.size() - 60);
      EXPECT_TRUE(cut.result.bytes == whole.result.bytes);
    }
  }
}

}  // namespace
}  // namespace meridian::test
