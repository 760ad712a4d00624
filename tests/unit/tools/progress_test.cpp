// SPDX-License-Identifier: MIT
// Rules: CLI-5.
#include "meridian/tools/progress.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace meridian::tools {
namespace {

using std::chrono::milliseconds;

std::string shown(ProgressStyle style, int count, milliseconds each) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* stream = ::open_memstream(&text, &size);
  {
    Progress::Clock::time_point now{};
    Progress progress(stream, style, "imapc", static_cast<size_t>(count), now);
    for (int i = 0; i < count; ++i) progress.advance("f" + std::to_string(i), now += each);
  }
  std::fclose(stream);
  std::string out(text, size);
  std::free(text);
  return out;
}

TEST(Progress, CLI5_ShortWorkShowsNoBar) { EXPECT_EQ(shown(ProgressStyle::bar, 9, milliseconds(100)), ""); }

TEST(Progress, CLI5_LongWorkShowsABarAndTakesItAway) {
  const std::string text = shown(ProgressStyle::bar, 4, milliseconds(1000));
  EXPECT_NE(text.find("1/4  1.0/s  0:03 left"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\r\x1b[K")) << text;
}

TEST(Progress, CLI5_APipeGetsLines) {
  EXPECT_EQ(shown(ProgressStyle::lines, 2, milliseconds(1)), "imapc: 1/2 f0\nimapc: 2/2 f1\n");
  EXPECT_EQ(shown(ProgressStyle::none, 2, milliseconds(5000)), "");
}

TEST(Progress, BarFitsALine) {
  EXPECT_EQ(progress_bar(1, 2, 4.0), "[############------------] 1/2  0.3/s  0:04 left");
  EXPECT_LT(progress_bar(123456789, 987654321, 1e6).size(), 80u);
  EXPECT_EQ(progress_bar(0, 2, 0.0), "[------------------------] 0/2");
}

}  // namespace
}  // namespace meridian::tools
