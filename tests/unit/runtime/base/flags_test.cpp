// SPDX-License-Identifier: MIT
// UTIL-1: flags.
#include "meridian/base/flags.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace meridian {
namespace {

enum class Small : uint8_t { a = 1, b = 2, c = 4, top = 0x80, a_and_b = 3 };
enum class Wide : uint64_t { first = 1, last = 1ull << 63 };
using SmallFlags = Flags<Small>;

static_assert(sizeof(SmallFlags) == 1 && sizeof(Flags<Wide>) == 8);
static_assert(std::is_trivially_copyable_v<SmallFlags>);
static_assert(!std::is_convertible_v<Wide, SmallFlags> && !std::is_convertible_v<uint8_t, SmallFlags>);
static_assert(SmallFlags{Small::a, Small::c}.bits() == 5, "usable in constants");

TEST(Flags, StartEmpty) {
  const SmallFlags flags;
  EXPECT_TRUE(flags.is_empty());
  EXPECT_EQ(flags.bits(), 0);
  EXPECT_FALSE(flags.has(Small::a));
}

TEST(Flags, AreSetAndClearedOneByOne) {
  SmallFlags flags;
  flags.set(Small::b);
  EXPECT_EQ(flags.bits(), 2);
  flags.set(Small::top).set(Small::a);
  EXPECT_EQ(flags.bits(), 0x83);
  flags.set(Small::b, false);
  EXPECT_EQ(flags.bits(), 0x81);
  flags.clear(Small::a);
  EXPECT_EQ(flags.bits(), 0x80);
  flags.toggle(Small::top).toggle(Small::c);
  EXPECT_EQ(flags.bits(), 4);
  flags.clear_all();
  EXPECT_TRUE(flags.is_empty());
}

TEST(Flags, HasAsksForAllAndHasAnyForOne) {
  const SmallFlags flags{Small::a, Small::c};
  EXPECT_TRUE(flags.has(Small::a));
  EXPECT_TRUE(flags.has({Small::a, Small::c}));
  EXPECT_FALSE(flags.has(Small::a_and_b));
  EXPECT_TRUE(flags.has_any(Small::a_and_b));
  EXPECT_FALSE(flags.has_any({Small::b, Small::top}));
  EXPECT_TRUE(flags.has({}));
  EXPECT_FALSE(flags.has_any({}));
}

TEST(Flags, CombineAsSets) {
  const SmallFlags x{Small::a, Small::b};
  const SmallFlags y{Small::b, Small::c};
  EXPECT_EQ((x | y).bits(), 7);
  EXPECT_EQ((x & y).bits(), 2);
  EXPECT_EQ((x ^ y).bits(), 5);
  EXPECT_EQ((~x).bits(), 0xFC);
  EXPECT_EQ((x | Small::top).bits(), 0x83);
  EXPECT_EQ(x & ~SmallFlags(Small::a), SmallFlags(Small::b));
  SmallFlags z = x;
  z |= y;
  z &= ~SmallFlags(Small::a);
  z ^= Small::top;
  EXPECT_EQ(z.bits(), 0x86);
  EXPECT_NE(z, x);
}

TEST(Flags, KeepAllBitsOfAStoredNumber) {
  EXPECT_EQ(SmallFlags::from_bits(0x58).bits(), 0x58);
  EXPECT_TRUE((Flags<Wide>{Wide::first, Wide::last}.has(Wide::last)));
  EXPECT_EQ(Flags<Wide>(Wide::last).bits(), 0x8000000000000000u);
}

}  // namespace
}  // namespace meridian
