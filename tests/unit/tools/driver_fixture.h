// SPDX-License-Identifier: MIT
#pragma once
/// What the tests of the compilers share: a working folder of their own and small sources.

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "tool_runner.h"

namespace meridian::test {

using Words = std::vector<std::string>;
using Files = std::set<std::string>;

inline constexpr std::string_view kMap = "<CMapData><name>qa_map</name></CMapData>\n";
inline constexpr std::string_view kTypes = "<CMapTypes><name>qa_types</name></CMapTypes>\n";
inline constexpr std::string_view kBad = "<CMapData>\n <flags value=\"zz\"/>\n</CMapData>\n";  // XML005
inline constexpr std::string_view kDoubtful = "<CMapData>\n <qaUnknown/>\n</CMapData>\n";      // XML002, a warning

inline std::string map_named(std::string_view name) {
  return "<CMapData><name>" + std::string(name) + "</name></CMapData>\n";
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// A folder that is the working folder, so that paths in messages are short and relative.
class DriverTest : public ::testing::Test {
 protected:
  DriverTest() : before_(std::filesystem::current_path()) { std::filesystem::current_path(dir.path()); }
  ~DriverTest() override { std::filesystem::current_path(before_); }

  TempDir dir;

 private:
  std::filesystem::path before_;
};

}  // namespace meridian::test
