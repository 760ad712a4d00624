// SPDX-License-Identifier: MIT
// SCAN-11: which width is in use.
#include "meridian/base/simd.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

namespace meridian {
namespace {

constexpr SimdWidth kAll[] = {SimdWidth::scalar, SimdWidth::bits128, SimdWidth::bits256, SimdWidth::bits512};

#if defined(__x86_64__) && defined(__linux__)
/// What the system says that the first processor has.
std::set<std::string> processor_flags() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

TEST(SimdWidth, IsTheWidestThatTheProcessorHas) {
  const std::set<std::string> flags = processor_flags();
  ASSERT_FALSE(flags.empty());
  const auto has = [&](std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (!flags.contains(name)) return false;
    return true;
  };
  const bool has_avx2 = has({"avx2", "bmi1", "bmi2", "fma"});
  const bool has_avx512 = has_avx2 && has({"avx512f", "avx512vl", "avx512dq", "avx512bw"});
  EXPECT_TRUE(has_simd_width(SimdWidth::scalar));
  EXPECT_TRUE(has_simd_width(SimdWidth::bits128));
  EXPECT_EQ(has_simd_width(SimdWidth::bits256), has_avx2);
  EXPECT_EQ(has_simd_width(SimdWidth::bits512), has_avx512);
  EXPECT_EQ(best_simd_width(), has_avx512 ? SimdWidth::bits512 : has_avx2 ? SimdWidth::bits256 : SimdWidth::bits128);
  EXPECT_STREQ(to_string(SimdWidth::bits128), "SSE4");
}
#endif

TEST(SimdWidth, OnlyWhatIsThereCanBeSet) {
  EXPECT_EQ(simd_width(), best_simd_width());
  for (const SimdWidth width : kAll) {
    const SimdWidth before = simd_width();
    EXPECT_EQ(set_simd_width(width), has_simd_width(width));
    EXPECT_EQ(simd_width(), has_simd_width(width) ? width : before);
  }
  EXPECT_TRUE(set_simd_width(best_simd_width()));
}

TEST(SimdWidth, EachHasANameOfItsOwn) {
  std::set<std::string> names;
  for (const SimdWidth width : kAll) names.insert(to_string(width));
  EXPECT_EQ(names.size(), kSimdWidths);
}

}  // namespace
}  // namespace meridian
