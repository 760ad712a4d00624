// SPDX-License-Identifier: MIT
// Rules: PACK-1 (header, table, search), PACK-2 (in place), PACK-5 (patches: what they hold), FMT-22 (alignment).
#include "meridian/resource/pack.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <tuple>

#include "meridian/resource/pack_decompressor.h"

#define MERIDIAN_DEFINE_COUNTING_ALLOCATOR
#include "support/counting_allocator.h"
#include "support/pack_maker.h"
#include "support/test_paths.h"

namespace meridian {
namespace {

using test::bytes_of;
using test::PackBuffer;
using test::PackMaker;
using test::text_of;

constexpr uint32_t kMap = kind_of("IMAP"), kTypes = kind_of("ITYP"), kOwn = kind_of("WPNS");

/// In the order of the file: types, then maps from west to east.
PackMaker small_world() {
  PackMaker maker;
  maker.store(kTypes, "props", std::string(100, 'p'));
  maker.store(kMap, "west", "the west");
  maker.store(kMap, "middle", std::string(64, 'm'));
  maker.store(kMap, "east", "");
  maker.store(kOwn, "props", "weapons");
  return maker;
}

template <class T>
T load(std::span<const std::byte> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// PACK-1
TEST(Pack, HeaderLiesAsDocumented) {
  const PackBuffer made = small_world().make();
  const auto bytes = made.span();
  EXPECT_EQ(text_of(bytes.first(4)), "MPAK");
  EXPECT_EQ(load<uint32_t>(bytes, 4), 1u);
  EXPECT_EQ(load<uint64_t>(bytes, 8), bytes.size());
  // 100 bytes from 64, 8 from 192, 64 from 256, none at 320, 7 from 384; then the next multiple of 16.
  EXPECT_EQ(load<uint64_t>(bytes, 16), 400u);
  EXPECT_EQ(load<uint64_t>(bytes, 24), bytes.size() - 400);
  EXPECT_EQ(load<uint64_t>(bytes, 32), test::xxh3(text_of(bytes.subspan(400))));
  EXPECT_EQ(load<uint64_t>(bytes, 56), test::xxh3(text_of(bytes.first(56))));
  EXPECT_TRUE(looks_like_pack(bytes));
  EXPECT_FALSE(looks_like_pack(bytes.first(63)));
  EXPECT_FALSE(looks_like_pack(bytes.subspan(64)));
  EXPECT_TRUE(open_pack(bytes).ok());
}

// PACK-1
TEST(Pack, RowsAreThoseOfTheGeneratedAccessor) {
  const schema::PackEntry row(1, 2, 3, 4, 5, 6, 7, 8, static_cast<schema::PackFlags>(9));
  PackEntry entry;
  std::memcpy(static_cast<void*>(&entry), &row, sizeof entry);
  EXPECT_EQ(entry.kind, 1u);
  EXPECT_EQ(entry.name.value, 2u);
  EXPECT_EQ(entry.offset, 3u);
  EXPECT_EQ(entry.stored_hash, 4u);
  EXPECT_EQ(entry.raw_hash, 5u);
  EXPECT_EQ(entry.stored_size, 6u);
  EXPECT_EQ(entry.raw_size, 7u);
  EXPECT_EQ(entry.dictionary.value, 8u);
  EXPECT_EQ(entry.flags, 9u);
  EXPECT_EQ(PackEntry::kZstd, static_cast<uint32_t>(schema::PackFlags::zstd));
  const schema::PackKey key_row(1, 2);
  PackKey key;
  std::memcpy(static_cast<void*>(&key), &key_row, sizeof key);
  EXPECT_EQ(key, (PackKey{1, {2}}));
}

// PACK-1
TEST(Pack, FindsEachByKindAndName) {
  const PackBuffer made = small_world().make();
  const Pack pack = open_pack(made.span()).value();
  ASSERT_EQ(pack.entries().size(), 5u);
  const auto content = [&](uint32_t kind, std::string_view name) {
    const PackEntry* const entry = pack.find(kind, hash_name(name));
    return entry == nullptr ? "nothing" : std::string(text_of(pack.in_place(*entry).value()));
  };
  EXPECT_EQ(content(kMap, "West"), "the west");  // names fold capitals
  EXPECT_EQ(content(kMap, "middle"), std::string(64, 'm'));
  EXPECT_EQ(content(kMap, "east"), "");
  EXPECT_EQ(content(kTypes, "props"), std::string(100, 'p'));
  EXPECT_EQ(content(kOwn, "props"), "weapons");
  EXPECT_EQ(content(kMap, "props"), "nothing");
  EXPECT_EQ(content(kMap, "north"), "nothing");
  EXPECT_EQ(pack.of_kind(kMap).size(), 3u);
  EXPECT_EQ(pack.of_kind(kOwn).size(), 1u);
  EXPECT_TRUE(pack.of_kind(kind_of("GCFG")).empty());
  std::string in_file_order;
  for (const uint32_t i : pack.order()) in_file_order += std::to_string(pack.entries()[i].offset) + " ";
  EXPECT_EQ(in_file_order, "64 192 256 320 384 ");
}

// PACK-2
TEST(Pack, StoredEntriesAreUsedWhereTheyLieWithoutMemory) {
  const PackBuffer made = small_world().make();
  const uint64_t before = test::allocation_count();
  const Result<Pack> pack = open_pack(made.span());
  const PackEntry* const entry = pack.value().find(kMap, hash_name("west"));
  const Result<std::span<const std::byte>> bytes = pack.value().in_place(*entry);
  const uint64_t content = pack.value().content_hash();
  const std::string_view text = pack.value().text_of(entry->name);
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_NE(content, 0u);
  EXPECT_EQ(text, "");
  EXPECT_EQ(bytes.value().data(), made.span().data() + 192);
}

TEST(Pack, EmptyPackOpens) {
  const PackBuffer made = PackMaker().make();
  const Result<Pack> pack = open_pack(made.span());
  ASSERT_TRUE(pack.ok()) << pack.status().message;
  EXPECT_TRUE(pack.value().entries().empty());
  EXPECT_EQ(pack.value().find(kMap, hash_name("west")), nullptr);
  EXPECT_FALSE(pack.value().is_patch());
}

TEST(Pack, NamesHaveTexts) {
  PackMaker maker = small_world();
  maker.names() = {{hash_name("west").value, "West"}, {hash_name("props").value, "props"}};
  const PackBuffer made = maker.make();
  const Pack pack = open_pack(made.span()).value();
  EXPECT_EQ(pack.text_of(hash_name("west")), "West");
  EXPECT_EQ(pack.text_of(hash_name("middle")), "");
}

// PACK-5
TEST(Pack, PatchTellsItsBaseAndWhatIsGone) {
  PackMaker maker = small_world();
  maker.removed() = {{kMap, hash_name("north")}};
  maker.set_base(77);
  const PackBuffer made = maker.make();
  const Pack pack = open_pack(made.span()).value();
  EXPECT_TRUE(pack.is_patch());
  EXPECT_EQ(pack.base_content(), 77u);
  ASSERT_EQ(pack.removed().size(), 1u);
  EXPECT_EQ(pack.removed()[0], (PackKey{kMap, hash_name("north")}));
}

// PACK-5
TEST(Pack, ContentHashIsOfContentOnly) {
  const auto hash = [](const PackMaker& maker) {
    const PackBuffer made = maker.make();
    return open_pack(made.span()).value().content_hash();
  };
  PackMaker a, b, c, d;
  a.store(kMap, "x", "one"), a.store(kMap, "y", "two");
  b.dictionary("anything"), b.store(kMap, "y", "two"), b.frame(kMap, "x", "one", "a frame of it");
  c.store(kMap, "x", "one"), c.store(kMap, "y", "Two");
  d.store(kMap, "x", "one"), d.store(kOwn, "y", "two");
  EXPECT_EQ(hash(a), hash(b));
  EXPECT_NE(hash(a), hash(c));
  EXPECT_NE(hash(a), hash(d));
  EXPECT_NE(hash(PackMaker()), 0u);
}

// PACK-1
TEST(Pack, GivesSharedSchemas) {
  PackMaker maker = small_world();
  maker.store(kPackSchemaKind, "", "schema bytes").name = {kOwn};
  PackBuffer made = maker.make();
  const Pack pack = open_pack(made.span()).value();
  EXPECT_EQ(text_of(pack.schema(kOwn).value()), "schema bytes");
  EXPECT_TRUE(pack.schema(kMap).value().empty());
  made.span()[static_cast<size_t>(pack.find(kPackSchemaKind, {kOwn})->offset)] ^= std::byte{1};
  EXPECT_EQ(pack.schema(kOwn).status().code, StatusCode::bad_checksum);
}

struct Fault {
  const char* what;
  StatusCode code;
  std::string_view message;  ///< a part of it
  NameHash name;
  std::function<void(PackMaker&)> make;
};

// PACK-3, PACK-1: each fault of the table has its own words and the entry's name.
TEST(Pack, RefusesWhatTheTableCannotMean) {
  const NameHash west = hash_name("west"), middle = hash_name("middle"), props = hash_name("props");
  const Fault faults[] = {
      {"flags", StatusCode::bad_value, "unknown flags", west, [](PackMaker& m) { m.rows()[1].flags = 2; }},
      {"two sizes", StatusCode::bad_value, "two sizes", west, [](PackMaker& m) { m.rows()[1].raw_size = 9; }},
      {"two hashes", StatusCode::bad_value, "two sizes or hashes", west, [](PackMaker& m) { ++m.rows()[1].raw_hash; }},
      {"needless dictionary", StatusCode::bad_value, "names a dictionary", west,
       [](PackMaker& m) { m.rows()[1].dictionary = {5}; }},
      {"alignment", StatusCode::misaligned, "multiple of 64", west, [](PackMaker& m) { m.rows()[1].offset += 16; }},
      {"outside", StatusCode::bad_structure, "outside", hash_name("last"),
       [](PackMaker& m) { m.store(kMap, "last", "").offset = 1 << 20; }},
      {"reaches into the table", StatusCode::bad_structure, "outside", props,
       [](PackMaker& m) { m.rows()[4].stored_size = m.rows()[4].raw_size = 1000; }},
      {"far outside", StatusCode::bad_structure, "outside", west,
       [](PackMaker& m) { m.rows()[1].offset = ~uint64_t{63}; }},
      {"overlap", StatusCode::bad_structure, "over another", middle,
       [](PackMaker& m) { m.rows()[1].stored_size = m.rows()[1].raw_size = 65; }},
      {"same place", StatusCode::bad_structure, "over another", middle,
       [](PackMaker& m) { m.rows()[2].offset = m.rows()[1].offset; }},
      {"over the header", StatusCode::bad_structure, "over another", props,
       [](PackMaker& m) { m.rows()[0].offset = 0; }},
      {"duplicate", StatusCode::bad_structure, "two entries", west,
       [](PackMaker& m) { m.store(kMap, "west", "again"); }},
      {"order too short", StatusCode::bad_structure, "another length", {}, [](PackMaker& m) { m.set_order({0}); }},
      {"order outside",
       StatusCode::bad_structure,
       "does not exist",
       {},
       [](PackMaker& m) {
         m.set_order({5, 0, 1, 2, 3});
       }},
      {"lacking dictionary", StatusCode::not_found, "lacks", hash_name("x"),
       [](PackMaker& m) { m.frame(kMap, "x", "raw", "frame").dictionary = {5}; }},
      {"dictionary's name",
       StatusCode::bad_value,
       "not that of its hash",
       {1},
       [](PackMaker& m) { m.dictionary("d").name = {1}; }},
      {"compressed dictionary",
       StatusCode::bad_value,
       "is compressed",
       {1},
       [](PackMaker& m) { m.frame(kPackDictionaryKind, "", "d", "f").name = {1}; }},
      {"compressed schema",
       StatusCode::bad_value,
       "is compressed",
       {kOwn},
       [](PackMaker& m) { m.frame(kPackSchemaKind, "", "d", "f").name = {kOwn}; }},
      {"huge dictionary",
       StatusCode::too_large,
       "1 MiB",
       {static_cast<uint32_t>(test::xxh3(std::string(1048577, 'x')))},
       [](PackMaker& m) { m.dictionary(std::string(1048577, 'x')); }},
      {"removes without a base",
       StatusCode::bad_value,
       "no patch",
       {},
       [](PackMaker& m) {
         m.removed() = {{kMap, hash_name("north")}};
       }},
      {"removes what is there", StatusCode::bad_value, "both there and removed", west,
       [](PackMaker& m) {
         m.set_base(1);
         m.removed() = {{kMap, hash_name("west")}};
       }},
      {"removes twice",
       StatusCode::bad_structure,
       "not sorted",
       {9},
       [](PackMaker& m) {
         m.set_base(1);
         m.removed() = {{kMap, {9}}, {kMap, {9}}};
       }},
      {"a name of another hash", StatusCode::bad_value, "another hash", west,
       [](PackMaker& m) {
         m.names() = {{hash_name("west").value, "East"}};
       }},
  };
  for (const Fault& fault : faults) {
    PackMaker maker = small_world();
    fault.make(maker);
    const PackBuffer made = maker.make();
    const Result<Pack> opened = open_pack(made.span());
    ASSERT_FALSE(opened.ok()) << fault.what;
    EXPECT_EQ(to_string(opened.status().code), std::string(to_string(fault.code))) << fault.what;
    EXPECT_NE(std::string_view(opened.status().message).find(fault.message), std::string_view::npos)
        << fault.what << ": " << opened.status().message;
    EXPECT_EQ(opened.status().name.value, fault.name.value) << fault.what;
  }
}

TEST(Pack, RefusesUnsortedEntriesAndTooManyDictionaries) {
  PackMaker unsorted = small_world();
  unsorted.set_sorted(false);
  EXPECT_EQ(open_pack(unsorted.make().span()).status().message, std::string("entries are not sorted; detail = index"));
  for (const int count : {16, 17}) {
    PackMaker maker;
    for (int i = 0; i < count; ++i) maker.dictionary("dictionary " + std::to_string(i));
    EXPECT_EQ(open_pack(maker.make().span()).ok(), count == 16);
  }
}

// P086: the cap holds for what an entry says, whatever the file's size.
TEST(Pack, CapIsTheCallers) {
  PackMaker maker = small_world();
  maker.frame(kMap, "big", "", "0123").raw_size = 1001;
  const PackBuffer made = maker.make();
  EXPECT_TRUE(open_pack(made.span(), {.max_resource_bytes = 1001}).ok());
  const Status refused = open_pack(made.span(), {.max_resource_bytes = 1000}).status();
  EXPECT_EQ(refused.code, StatusCode::too_large);
  EXPECT_EQ(refused.name, hash_name("big"));
  EXPECT_EQ(refused.detail, 1001u);
  maker.rows().back().raw_size = 0x80000000u;  // beyond any resource
  EXPECT_EQ(open_pack(maker.make().span()).status().code, StatusCode::too_large);
}

TEST(Pack, RefusesAHeaderThatDoesNotFit) {
  PackBuffer good = small_world().make();
  const std::string text = good.text();
  const auto opened = [&](size_t at, auto value, bool sealed) {
    PackBuffer bad(text);
    std::memcpy(bad.span().data() + at, &value, sizeof value);
    const uint64_t checksum = XXH3_64bits(bad.span().data(), 56);
    if (sealed) std::memcpy(bad.span().data() + 56, &checksum, sizeof checksum);
    return open_pack(bad.span()).status().code;
  };
  EXPECT_EQ(opened(0, uint32_t{1}, true), StatusCode::bad_magic);
  EXPECT_EQ(opened(4, uint32_t{2}, true), StatusCode::bad_version);
  EXPECT_EQ(opened(8, uint64_t{1}, false), StatusCode::bad_checksum);
  EXPECT_EQ(opened(8, uint64_t{text.size() + 1}, true), StatusCode::too_small);
  EXPECT_EQ(opened(8, uint64_t{text.size() - 1}, true), StatusCode::bad_structure);
  EXPECT_EQ(opened(16, uint64_t{416}, true), StatusCode::bad_structure);
  EXPECT_EQ(opened(16, ~uint64_t{0}, true), StatusCode::bad_structure);
  EXPECT_EQ(opened(24, uint64_t{1} << 40, true), StatusCode::too_large);
  EXPECT_EQ(opened(32, uint64_t{0}, true), StatusCode::bad_checksum);
  EXPECT_EQ(opened(40, uint64_t{1}, true), StatusCode::bad_structure);
  EXPECT_EQ(opened(48, uint64_t{1}, true), StatusCode::bad_structure);
  EXPECT_EQ(open_pack(PackBuffer(text + '\0').span()).status().code, StatusCode::bad_structure);
  EXPECT_EQ(open_pack(PackBuffer("x" + text).span().subspan(1)).status().code, StatusCode::misaligned);
  EXPECT_EQ(open_pack({}).status().code, StatusCode::too_small);
}

TEST(Pack, TrustedSkipsHashesButNotTheHeader) {
  PackBuffer made = small_world().make();
  made.span()[192] ^= std::byte{1};  // in "west"
  const Pack checked = open_pack(made.span()).value(), trusted = open_pack(made.span(), {.trusted = true}).value();
  EXPECT_EQ(checked.in_place(*checked.find(kMap, hash_name("west"))).status().code, StatusCode::bad_checksum);
  EXPECT_EQ(checked.in_place(*checked.find(kMap, hash_name("west"))).status().name, hash_name("west"));
  EXPECT_TRUE(checked.in_place(*checked.find(kMap, hash_name("middle"))).ok());
  EXPECT_TRUE(trusted.in_place(*trusted.find(kMap, hash_name("west"))).ok());
  made.span()[9] ^= std::byte{1};
  EXPECT_EQ(open_pack(made.span(), {.trusted = true}).status().code, StatusCode::bad_checksum);
}

// PACK-1, REL-7: a pack of version 1 opens for ever. The file is never written again.
TEST(Pack, REL7_ReleasedPackOpens) {
  std::ifstream stream(MERIDIAN_SOURCE_DIR "/tests/golden/compat/v1/world.mpk", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const PackBuffer made(text);
  const Result<Pack> opened = open_pack(made.span());
  ASSERT_TRUE(opened.ok()) << opened.status().message;
  const Pack& pack = opened.value();
  // What it was made of: two of the resources beside it, and the first one's name.
  for (const auto& [kind, name, file] : {std::tuple(kMap, "hv_hills_grass_0", "hv_hills_grass_0.imap"),
                                         std::tuple(kTypes, "hv_props", "hv_props.ityp")}) {
    const PackEntry* const entry = pack.find(kind, hash_name(name));
    ASSERT_NE(entry, nullptr) << name;
    std::ifstream source(std::string(MERIDIAN_SOURCE_DIR "/tests/golden/compat/v1/") + file, std::ios::binary);
    const std::string raw{std::istreambuf_iterator<char>(source), {}};
    std::string out(raw.size(), '\0');
    PackDecompressor decompressor;
    ASSERT_TRUE(decompressor.prepare(pack).ok());
    EXPECT_TRUE(decompressor.read(pack, *entry, std::as_writable_bytes(std::span(out))).ok());
    EXPECT_TRUE(out == raw) << name;
    EXPECT_EQ(pack.text_of(entry->name), name);
    EXPECT_TRUE(open_resource(bytes_of(out), {.kind = kind}).ok());
  }
}

}  // namespace
}  // namespace meridian
