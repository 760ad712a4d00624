// SPDX-License-Identifier: MIT
// Rules: PACK-5 (list, compare, verify), P063 (names as file names).
#include "meridian/tools/pack_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/compile_kit.h"
#include "support/pack_kit.h"
#include "support/pack_maker.h"
#include "support/temp_dir.h"
#include "support/zstd_frames.h"

namespace meridian::tools {
namespace {

using namespace std::string_view_literals;
using test::PackBuffer;
using test::PackMaker;
using test::TempDir;
using test::wordy_text;

constexpr uint32_t kMap = kind_of("IMAP"), kOwn = kind_of("WPNS");

// P063: the expected names are spelt by hand.
TEST(PackView, P063_EveryNameIsOneFileInTheFolder) {
  const std::pair<std::string_view, std::string_view> names[] = {
      {"town", "town.imap"},
      {"a|b:c", "a%7Cb%3Ac.imap"},
      {"../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd.imap"},
      {"..", "%2E%2E.imap"},
      {".hidden", "%2Ehidden.imap"},
      {"100%", "100%25.imap"},
      {"back\\slash*?\"<>", "back%5Cslash%2A%3F%22%3C%3E.imap"},
      {"tab\there\x7F", "tab%09here%7F.imap"},
      {"nul\0inside"sv, "nul%00inside.imap"},
      {"ends.", "ends%2E.imap"},
      {"blank ", "blank%20.imap"},
      {"in the middle. yes", "in the middle. yes.imap"},
      {"NUL", "%4EUL.imap"},
      {"com1.old", "%63om1.old.imap"},
      {"com10", "com10.imap"},
      {"caf\xC3\xA9", "caf\xC3\xA9.imap"},
      {"caf\xE9", "caf%E9.imap"},
      {"over\xC0\xAFlong", "over%C0%AFlong.imap"},
      {"half\xED\xA0\x80", "half%ED%A0%80.imap"},
  };
  PackMaker maker;
  for (const auto& [name, file] : names) {
    maker.store(kMap, name, "x");
    maker.names()[hash_name(name).value] = name;
  }
  const std::string long_name(300, 'n');
  maker.store(kMap, long_name, "x");
  maker.names()[hash_name(long_name).value] = long_name;
  maker.store(kMap, "unnamed", "x").name = {0x1A2B3C4D};
  maker.store(kOwn, "town", "x");
  maker.store(0x01020304, "town", "x");
  maker.store(kPackSchemaKind, "", "x").name = {kOwn};
  const PackBuffer made = maker.make();
  const Result<Pack> opened = open_pack(made.span());
  ASSERT_TRUE(opened.ok()) << opened.status().message;
  const Pack& pack = opened.value();
  const auto name_of = [&](uint32_t kind, NameHash name) {
    const PackEntry* const entry = pack.find(kind, name);
    return entry == nullptr ? EntryFileName() : entry_file_name(pack, *entry);
  };
  for (const auto& [name, file] : names) {
    const EntryFileName got = name_of(kMap, hash_name(name));
    EXPECT_EQ(got.name, file);
    EXPECT_EQ(got.changed, file != std::string(name) + ".imap") << name;
  }
  EXPECT_TRUE(name_of(kMap, hash_name(long_name)).changed);
  EXPECT_TRUE(name_of(kMap, hash_name(long_name)).name.starts_with("hash_"));
  EXPECT_EQ(name_of(kMap, {0x1A2B3C4D}).name, "hash_1A2B3C4D.imap");
  EXPECT_FALSE(name_of(kMap, {0x1A2B3C4D}).changed);
  EXPECT_EQ(name_of(kOwn, hash_name("town")).name, "town.WPNS.mmeta");
  EXPECT_EQ(name_of(0x01020304, hash_name("town")).name, "town.0x01020304.mmeta");
  std::set<std::string> files;
  for (const PackEntry& entry : pack.entries()) files.insert(entry_file_name(pack, entry).name);
  EXPECT_EQ(files.size(), pack.entries().size());
}

TEST(PackView, EntriesAreCalledByNameHashOrFile) {
  PackMaker maker;
  maker.store(kMap, "v1.2", "x");
  maker.names()[hash_name("v1.2").value] = "v1.2";
  const PackBuffer made = maker.make();
  const Pack pack = open_pack(made.span()).value();
  char literal[16];
  std::snprintf(literal, sizeof literal, "0x%08x", hash_name("v1.2").value);
  for (const std::string_view called :
       std::initializer_list<std::string_view>{"v1.2", "V1.2", "v1.2.imap", "V1.2.IMAP", literal})
    EXPECT_TRUE(is_entry_called(pack, pack.entries()[0], called)) << called;
  for (const std::string_view called : {"v1"sv, "v1.2.ityp"sv, ".imap"sv, ""sv, "0x1"sv})
    EXPECT_FALSE(is_entry_called(pack, pack.entries()[0], called)) << called;
}

// PACK-5
TEST(PackView, DifferencesAreOfContent) {
  PackMaker a, b;
  const std::string text = wordy_text(500, 1);
  a.store(kMap, "same", text), b.frame(kMap, "same", text, test::zstd_frame(text));
  b.dictionary("a dictionary is no content");
  a.store(kMap, "changed", "before"), b.store(kMap, "changed", "behind");
  a.store(kMap, "grown", "1"), b.store(kMap, "grown", "22");
  a.store(kMap, "gone", "123"), b.store(kOwn, "gone", "1234");
  for (PackMaker* maker : {&a, &b})
    for (const char* name : {"changed", "gone", "grown", "same"}) maker->names()[hash_name(name).value] = name;
  const PackBuffer x = a.make(), y = b.make();
  std::vector<std::string> lines = pack_diff_lines(open_pack(x.span()).value(), open_pack(y.span()).value());
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "IMAP 'changed': differs (6 bytes -> 6 bytes)", "IMAP 'gone': only in the first (3 bytes)",
                       "IMAP 'grown': differs (1 bytes -> 2 bytes)", "WPNS 'gone': only in the second (4 bytes)"}));
  EXPECT_TRUE(pack_diff_lines(open_pack(x.span()).value(), open_pack(x.span()).value()).empty());
}

std::string map_bytes(const std::string& name) {
  const auto result = test::compile(test::kImap, "<CMapData><name>" + name + "</name></CMapData>").result;
  return {result.bytes.begin(), result.bytes.end()};
}

// PACK-5, PACK-3: what is wrong in one entry is said of it, and the others are looked at all the same.
TEST(PackView, VerifyNamesEachBadEntry) {
  PackMaker maker;
  const std::string good = map_bytes("good"), raw = map_bytes("packed");
  std::string damaged = map_bytes("damaged");
  damaged[40] = static_cast<char>(damaged[40] ^ 1);  // behind the entry's own hash
  maker.store(kMap, "good", good);
  maker.frame(kMap, "packed", raw, test::zstd_frame(raw));
  maker.store(kMap, "damaged", damaged);
  maker.store(kOwn, "wrong_kind", good);
  maker.store(kOwn, "no_schema", "no resource");
  ++maker.frame(kMap, "hash", raw, test::zstd_frame(raw)).raw_hash;
  maker.store(kPackSchemaKind, "", "no schema").name = {7};
  maker.dictionary("\x37\xA4\x30\xEC\1\2\3\4"sv);
  const PackBuffer made = maker.make();
  const Pack pack = open_pack(made.span()).value();
  std::set<uint32_t> bad;
  const auto found = [&](const PackEntry& entry, const std::string& message, bool is_error) {
    EXPECT_TRUE(is_error) << message;
    bad.insert(entry.name.value);
  };
  verify_pack_entries(pack, {}, found, [] { return false; });
  // The damaged dictionary makes everything that is compressed unreadable.
  std::set<uint32_t> expected = {7, pack.of_kind(kPackDictionaryKind)[0].name.value};
  for (const char* name : {"packed", "damaged", "wrong_kind", "no_schema", "hash"})
    expected.insert(hash_name(name).value);
  EXPECT_EQ(bad, expected);
}

TEST(PackView, OpensFilesAndMemoryAndTellsFaults) {
  const TempDir dir;
  PackMaker maker;
  maker.store(kMap, "a", "x").flags = 8;
  const std::string broken = maker.make().text(), good = PackMaker().make().text();
  std::string error;
  int code = 0;
  EXPECT_NE(PackFile::open(dir.write("good.mpk", good), error, code), nullptr) << error;
  EXPECT_NE(PackFile::from_bytes("<stdin>", good, error), nullptr) << error;
  EXPECT_EQ(PackFile::open(dir.write("broken.mpk", broken), error, code), nullptr);
  EXPECT_EQ(code, 1);
  EXPECT_TRUE(error.starts_with("entry hash_") && error.find("unknown flags (flags 8) [bad_value]") != error.npos)
      << error;
  EXPECT_EQ(PackFile::open(dir.write("empty.mpk", ""), error, code), nullptr);
  EXPECT_EQ(code, 1);
  EXPECT_EQ(PackFile::open(dir.path("none.mpk"), error, code), nullptr);
  EXPECT_EQ(code, 3);
  EXPECT_EQ(PackFile::open(dir.path(), error, code), nullptr);
  EXPECT_EQ(code, 3);
  EXPECT_TRUE(is_pack_file(dir.path("good.mpk")));
  EXPECT_FALSE(is_pack_file(dir.path("empty.mpk")));
  EXPECT_FALSE(is_pack_file(dir.path("none.mpk")));
}

}  // namespace
}  // namespace meridian::tools
