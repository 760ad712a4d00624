// SPDX-License-Identifier: MIT
#include "meridian/base/name_hash.h"

#include <gtest/gtest.h>

namespace meridian {
namespace {

// CORE-1. Values published by others, or computed apart from this code.
TEST(NameHash, MatchesPublishedValuesInLowerCase) {
  EXPECT_EQ(hash_name("adder").value, 0xB779A091u);
  EXPECT_EQ(hash_name("Dummy Object").value, 0xF17288D6u);
  EXPECT_EQ(hash_name("AnimStore").value, 0x938C2EA1u);
  EXPECT_EQ(hash_name("CWeaponComponentInfo").value, 0xBAE33CCFu);
  EXPECT_EQ(hash_name("NoAmbientmult").value, 2633803310u);
  EXPECT_EQ(hash_name("INT_NoAmbientMult").value, 2003616884u);
}

TEST(NameHash, MatchesPublishedValuesAsWritten) {
  EXPECT_EQ(hash_type("a").value, 0xCA2E9442u);
  EXPECT_EQ(hash_type("The quick brown fox jumps over the lazy dog").value, 0x519E91F5u);
  EXPECT_EQ(hash_type("CMapData").value, 3545841574u);
  EXPECT_EQ(hash_type("Name").value, 2901156542u);
  EXPECT_EQ(hash_type("name").value, 3873537812u);
  EXPECT_EQ(hash_type("PRI_REQUIRED").value, 1943361227u);
  EXPECT_EQ(hash_type("exteriorVisibiltyDepth").value, 552849982u);
  EXPECT_EQ(hash_type("CGameConfig").value, 0xFBC958E3u);
  EXPECT_EQ(hash_type("Dummy Object").value, 0xE09970B4u);
  EXPECT_EQ(hash_type("AnimStore").value, 0x6D1ACC7Eu);
}

TEST(NameHash, FoldsOnlyAsciiLetters) {
  EXPECT_EQ(hash_name("Prop_Lamp"), hash_name("prop_lamp"));
  EXPECT_NE(hash_type("Prop_Lamp"), hash_type("prop_lamp"));
  EXPECT_NE(hash_name("\xC3\x84"), hash_name("\xC3\xA4"));  // A and a with dots are two names
  EXPECT_NE(hash_name("@["), hash_name("`{"));              // neighbours of A and Z
}

TEST(NameHash, EmptyNameIsZero) {
  EXPECT_EQ(hash_name("").value, 0u);
  EXPECT_EQ(hash_type("").value, 0u);
}

TEST(NameHash, BytesAboveAsciiAreUnsigned) {
  // By hand: b = 0xFF; h = 0xFF + 0xFF << 10; h ^= h >> 6; then the three closing steps.
  uint32_t h = 0xFF;
  h += h << 10;
  h ^= h >> 6;
  h += h << 3;
  h ^= h >> 11;
  h += h << 15;
  EXPECT_EQ(hash_type("\xFF").value, h);
}

static_assert(hash_name("A") == hash_name("a"), "hashes are compile-time constants");

}  // namespace
}  // namespace meridian
