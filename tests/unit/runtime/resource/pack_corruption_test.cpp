// SPDX-License-Identifier: MIT
// REL-4, PACK-3: every single-bit flip and every truncation of a small pack is refused, with the entry's name where it
// is in one, or harmless.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "meridian/resource/pack_decompressor.h"
#include "support/pack_maker.h"
#include "support/zstd_frames.h"

namespace meridian {
namespace {

using test::PackBuffer;
using test::PackMaker;

constexpr uint32_t kMap = kind_of("IMAP"), kOwn = kind_of("WPNS");

/// One entry of each sort.
PackBuffer small_pack() {
  static const std::string dictionary = test::wordy_dictionary().substr(0, 4096);
  PackMaker maker;
  const NameHash name = maker.dictionary(dictionary).name;
  const std::string a = test::wordy_text(300, 1), b = test::wordy_text(300, 2);
  maker.frame(kMap, "a", a, test::zstd_frame(a, true, dictionary)).dictionary = name;
  maker.frame(kMap, "b", b, test::zstd_frame(b));
  maker.store(kOwn, "c", "stored as it is");
  maker.names() = {{hash_name("a").value, "a"}};
  return maker.make();
}

using Contents = std::map<std::pair<uint32_t, uint32_t>, std::string>;

/// Everything that can be read; what is refused must say its own name, and goes to `refused`.
Contents contents(const Pack& pack, size_t& refused) {
  Contents out;
  PackDecompressor decompressor;
  const Status ready = decompressor.prepare(pack);
  for (const PackEntry& entry : pack.entries()) {
    std::string memory(entry.raw_size, '\0');
    Status status = ready;
    if (status.ok() || entry.is_stored())
      status = decompressor.read(pack, entry, std::as_writable_bytes(std::span(memory)));
    if (status.ok()) {
      out[{entry.kind, entry.name.value}] = memory;
    } else {
      ++refused;
      EXPECT_TRUE(status.name == entry.name || !ready.ok()) << status.message;
    }
  }
  return out;
}

TEST(PackCorruption, EverySingleBitFlipIsRefusedOrHarmless) {
  const PackBuffer good = small_pack();
  const std::string text = good.text();
  size_t none = 0;
  const Contents all = contents(open_pack(good.span()).value(), none);
  ASSERT_EQ(all.size(), 4u);
  ASSERT_EQ(none, 0u);
  const Pack layout = open_pack(good.span()).value();
  PackHeader header;
  std::memcpy(&header, text.data(), sizeof header);
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    // The dictionary makes most of the pack, and its bytes are all alike to a checksum.
    if (bit / 8 > 128 && bit / 8 < 64 + 4000 && bit % 64 != 0) continue;
    PackBuffer bad(text);
    bad.span()[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const Result<Pack> opened = open_pack(bad.span());
    const PackEntry* hit = nullptr;  // the entry that the bit is in
    for (const PackEntry& e : layout.entries())
      if (bit / 8 >= e.offset && bit / 8 < e.offset + e.stored_size) hit = &e;
    if (bit / 8 < 64 || bit / 8 >= header.table_offset) {
      EXPECT_FALSE(opened.ok()) << "bit " << bit;
      continue;
    }
    ASSERT_TRUE(opened.ok()) << "bit " << bit;
    if (hit != nullptr) {
      const Status status = opened.value().check_stored(*opened.value().find(hit->kind, hit->name));
      EXPECT_EQ(status.code, StatusCode::bad_checksum) << "bit " << bit;
      EXPECT_EQ(status.name, hit->name);
    }
    size_t refused = 0;
    for (const auto& [key, content] : contents(opened.value(), refused))
      EXPECT_EQ(content, all.at(key)) << "bit " << bit;
    EXPECT_EQ(refused > 0, hit != nullptr) << "bit " << bit;
  }
}

TEST(PackCorruption, EveryTruncationIsRefused) {
  const std::string text = small_pack().text();
  for (size_t size = 0; size < text.size(); ++size) {
    const PackBuffer cut(text.substr(0, size));
    EXPECT_EQ(open_pack(cut.span()).status().code, StatusCode::too_small) << "size " << size;
    // Whoever cuts a file may put the header right, too.
    PackBuffer sealed(text.substr(0, size));
    PackMaker::seal(sealed.span());
    const Result<Pack> opened = open_pack(sealed.span());
    size_t refused = 0;
    if (opened.ok()) (void)contents(opened.value(), refused);
  }
}

/// Whoever makes a bad table also makes a good checksum: what still opens must be safe to read.
TEST(PackCorruption, BitFlipsBehindTheChecksumAreRefusedOrHarmless) {
  const PackBuffer good = small_pack();
  const std::string text = good.text();
  PackHeader header;
  std::memcpy(&header, text.data(), sizeof header);
  size_t opened_count = 0, refused = 0;
  const size_t bits = static_cast<size_t>(header.table_size) * 8;
  for (size_t bit = 0; bit < bits; ++bit) {
    PackBuffer bad(text);
    bad.span()[static_cast<size_t>(header.table_offset) + bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    PackMaker::seal(bad.span());
    const Result<Pack> opened = open_pack(bad.span(), {.max_resource_bytes = 1 << 20});
    if (!opened.ok()) continue;
    ++opened_count;
    (void)contents(opened.value(), refused);
    for (const PackEntry& entry : opened.value().entries()) {
      const auto bytes = opened.value().stored_bytes(entry);
      EXPECT_GE(bytes.data(), bad.span().data() + 64);
      EXPECT_LE(bytes.data() + bytes.size(), bad.span().data() + bad.span().size());
    }
  }
  EXPECT_GT(opened_count, bits / 20);  // hashes of compressed entries are values
  EXPECT_LT(opened_count, bits);
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace meridian
