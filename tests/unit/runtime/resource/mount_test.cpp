// SPDX-License-Identifier: MIT
// Rules: STR-6 (mounting), PACK-1 (look-up), PACK-2 (in place, zstd), PACK-3 (damaged packs), PACK-4 (large packs),
// PACK-5 (patches), P083 (alignment), P086 (sizes), P089 (overrides undone).
#include "meridian/resource/mount.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "meridian/resource/decompressor_set.h"
#include "support/counting_allocator.h"
#include "support/mount_kit.h"
#include "support/temp_dir.h"
#include "support/zstd_frames.h"

namespace meridian {
namespace {

using test::contents;
using test::PackBuffer;
using test::PackMaker;
using test::TempDir;

constexpr uint32_t kMap = kind_of("IMAP"), kTypes = kind_of("ITYP");

PackBuffer pack_of(std::initializer_list<std::pair<const char*, const char*>> maps) {
  PackMaker maker;
  for (const auto& [name, text] : maps) maker.store(kMap, name, text);
  return maker.make();
}

struct Mounts : ResourceMounts {
  explicit Mounts(EntryDecompressor* decompressor = nullptr, uint32_t max_mounts = 8) {
    EXPECT_TRUE(init({.max_mounts = max_mounts, .decompressor = decompressor}).ok());
  }
  MountId add(const PackBuffer& pack, const PackMountOptions& options = {}) {
    const Result<MountId> id = mount_pack(pack.span(), options);
    EXPECT_TRUE(id.ok()) << id.status().message;
    return id.ok() ? id.value() : MountId();
  }
};

// STR-6, PACK-1
TEST(Mount, LaterMountsOverrideByKindAndName) {
  PackMaker two;
  two.store(kMap, "town", "new town");
  two.store(kTypes, "hills", "types");
  const PackBuffer low = pack_of({{"town", "old town"}, {"hills", "old hills"}}), high = two.make();
  Mounts mounts;
  EXPECT_EQ(contents(mounts, kMap, "town"), "-");
  mounts.add(low);
  mounts.add(high);
  EXPECT_EQ(contents(mounts, kMap, "Town"), "new town");
  EXPECT_EQ(contents(mounts, kMap, "hills"), "old hills");  // another kind overrides nothing
  EXPECT_EQ(contents(mounts, kTypes, "hills"), "types");
  EXPECT_EQ(contents(mounts, kTypes, "town"), "-");
}

// P089, STR-6: in any order.
TEST(Mount, UnmountingShowsAgainWhatWasCovered) {
  const PackBuffer a = pack_of({{"x", "a"}}), b = pack_of({{"x", "b"}}), c = pack_of({{"x", "c"}});
  Mounts mounts;
  const MountId low = mounts.add(a), middle = mounts.add(b), high = mounts.add(c);
  EXPECT_EQ(contents(mounts, kMap, "x"), "c");
  EXPECT_TRUE(mounts.unmount(middle).ok());
  EXPECT_EQ(contents(mounts, kMap, "x"), "c");
  EXPECT_EQ(mounts.count(), 2u);
  EXPECT_EQ(mounts.at(0), low);
  EXPECT_EQ(mounts.at(1), high);
  EXPECT_TRUE(mounts.unmount(high).ok());
  EXPECT_EQ(contents(mounts, kMap, "x"), "a");
  const MountId again = mounts.add(b);
  EXPECT_EQ(contents(mounts, kMap, "x"), "b");
  EXPECT_TRUE(mounts.unmount(low).ok());
  EXPECT_TRUE(mounts.unmount(again).ok());
  EXPECT_EQ(contents(mounts, kMap, "x"), "-");
}

// STR-6
TEST(Mount, IdsAndLocationsOfAMountThatLeftAreStale) {
  const PackBuffer a = pack_of({{"x", "a"}});
  Mounts mounts;
  const MountId id = mounts.add(a);
  const ResourceLocation x = mounts.find(kMap, hash_name("x"));
  ASSERT_TRUE(mounts.unmount(id).ok());
  const MountId next = mounts.add(a);
  EXPECT_EQ(next.slot, id.slot);
  EXPECT_NE(next, id);
  EXPECT_EQ(mounts.unmount(id).code, StatusCode::not_found);
  EXPECT_EQ(mounts.unmount({}).code, StatusCode::not_found);
  EXPECT_EQ(mounts.info(id).status().code, StatusCode::not_found);
  EXPECT_EQ(mounts.pin(x).status().code, StatusCode::not_found);
  EXPECT_EQ(mounts.pin({}).status().code, StatusCode::not_found);
  EXPECT_FALSE(mounts.find_in(id, kMap, hash_name("x")));
  EXPECT_TRUE(mounts.find_in(next, kMap, hash_name("x")));
}

// STR-6
TEST(Mount, PinnedResourcesKeepTheirMount) {
  const PackBuffer a = pack_of({{"x", "a"}, {"y", "b"}, {"z", "c"}});
  Mounts mounts;
  const MountId id = mounts.add(a);
  PinnedResource y = std::move(mounts.pin(mounts.find(kMap, hash_name("y"))).value());
  PinnedResource twice = std::move(mounts.pin(mounts.find(kMap, hash_name("y"))).value());
  Status status = mounts.unmount(id);
  EXPECT_EQ(status.code, StatusCode::in_use);
  EXPECT_EQ(status.detail, 2u);
  EXPECT_EQ(status.name, hash_name("y"));
  EXPECT_EQ(mounts.info(id).value().pins, 2u);
  y.release();
  y.release();
  EXPECT_FALSE(y);
  PinnedResource moved(std::move(twice));
  EXPECT_FALSE(twice);  // NOLINT(bugprone-use-after-move): what is left is defined
  EXPECT_EQ(mounts.unmount(id).detail, 1u);
  EXPECT_EQ(test::text_of(moved.bytes()), "b");
  PinnedResource& same = moved;
  moved = std::move(same);
  EXPECT_TRUE(moved);
  moved = PinnedResource();
  EXPECT_TRUE(mounts.unmount(id).ok());
}

TEST(Mount, VersionsComeFromTheHighestDown) {
  const PackBuffer a = pack_of({{"x", "a"}}), b = pack_of({{"y", "b"}}), c = pack_of({{"x", "c"}});
  Mounts mounts;
  for (const PackBuffer* pack : {&a, &b, &c}) mounts.add(*pack);
  std::vector<ResourceVersion> found;
  const auto collect = [](void* user, const ResourceVersion& version) {
    static_cast<std::vector<ResourceVersion>*>(user)->push_back(version);
  };
  mounts.for_each_version(kMap, hash_name("x"), collect, &found);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].location, mounts.find(kMap, hash_name("x")));
  EXPECT_EQ(found[1].location.mount, mounts.at(0));
  EXPECT_FALSE(found[0].hidden || found[1].hidden);
  EXPECT_EQ(contents(mounts, found[1].location), "a");
}

TEST(Mount, SaysWhatIsMounted) {
  const TempDir folder;
  const std::string path = folder.write("a.mpk", pack_of({{"x", "a"}, {"y", ""}}).text());
  Mounts mounts;
  const MountId id = mounts.mount_pack(path.c_str()).value();
  const MountInfo info = mounts.info(id).value();
  EXPECT_EQ(info.kind, MountKind::pack);
  EXPECT_EQ(info.path, path);
  EXPECT_EQ(info.entries, 2u);
  EXPECT_EQ(info.pins, 0u);
  ASSERT_NE(info.pack, nullptr);
  EXPECT_EQ(info.pack->entries().size(), 2u);
  const PackKey first = mounts.key_at(id, 0), second = mounts.key_at(id, 1);
  EXPECT_LT(first, second);
  EXPECT_EQ(contents(mounts, kMap, "y"), "");  // empty and there
}

// P083: the bytes' own address, and that of every entry.
TEST(Mount, MisalignedBytesAreRefusedAndEntriesAre64Aligned) {
  const TempDir folder;
  const PackBuffer made = pack_of({{"x", "a"}, {"y", "bb"}, {"z", "ccc"}});
  std::vector<std::byte> shifted(made.span().size() + 32);
  const size_t to_4 = (20 - reinterpret_cast<uintptr_t>(shifted.data()) % 16) % 16;
  std::memcpy(shifted.data() + to_4, made.span().data(), made.span().size());
  Mounts mounts;
  EXPECT_EQ(mounts.mount_pack(std::span(shifted).subspan(to_4, made.span().size())).status().code,
            StatusCode::misaligned);
  EXPECT_EQ(mounts.count(), 0u);
  ASSERT_TRUE(mounts.mount_pack(folder.write("a.mpk", made.text()).c_str()).ok());
  for (const char* name : {"x", "y", "z"}) {
    const Result<PinnedResource> pin = mounts.pin(mounts.find(kMap, hash_name(name)));
    ASSERT_TRUE(pin.ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pin.value().bytes().data()) % 64, 0u);
  }
}

// PACK-3: every byte of a small pack, cut or flipped, and the one that was there stays.
TEST(Mount, DamagedPacksAreRefusedAndOthersStay) {
  const PackBuffer sound = pack_of({{"x", "sound"}});
  Mounts mounts;
  mounts.add(sound);
  PackMaker maker;
  for (const char* name : {"a", "x"}) maker.store(kMap, name, std::string(64, *name));  // no gaps: each byte counts
  const std::string good = maker.make().text();
  const auto refused = [&](const std::string& bytes) {
    const PackBuffer bad(bytes);
    const Result<MountId> id = mounts.mount_pack(bad.span(), {.check = PackCheck::at_mount});
    EXPECT_EQ(mounts.count(), 1u);
    EXPECT_EQ(contents(mounts, kMap, "x"), "sound");
    return id.status();
  };
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    const Status status = refused(bad);
    EXPECT_FALSE(status.ok()) << i;
    if (i < 64 || i >= 192) continue;
    EXPECT_EQ(status.code, StatusCode::bad_checksum);
    EXPECT_EQ(status.name, hash_name(i < 128 ? "a" : "x")) << i;
    EXPECT_EQ(status.detail, i < 128 ? 64u : 128u);
  }
  for (size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(refused(good.substr(0, size)).ok()) << size;
}

// PACK-3: an entry over another is named.
TEST(Mount, OverlappingEntriesAreRefusedByName) {
  PackMaker maker;
  maker.store(kMap, "first", std::string(100, 'f'));
  maker.store(kMap, "second", std::string(100, 's')).offset = 128;
  const PackBuffer made = maker.make();
  Mounts mounts;
  const Status status = mounts.mount_pack(made.span()).status();
  EXPECT_EQ(status.code, StatusCode::bad_structure);
  EXPECT_EQ(status.name, hash_name("second"));
}

// PACK-3
TEST(Mount, AnEntryIsCheckedWhenItIsFirstUsedAndOnlyThen) {
  PackMaker maker;
  maker.store(kMap, "good", "good");
  maker.store(kMap, "bad", "bad");
  PackBuffer made = maker.make();
  made.span()[128] ^= std::byte{1};
  Mounts mounts;
  const MountId id = mounts.add(made);
  for (int round = 0; round < 2; ++round) {
    const Status status = mounts.pin(mounts.find(kMap, hash_name("bad"))).status();
    EXPECT_EQ(status.code, StatusCode::bad_checksum);
    EXPECT_EQ(status.name, hash_name("bad"));
    EXPECT_EQ(status.detail, 128u);
  }
  EXPECT_EQ(contents(mounts, kMap, "good"), "good");
  made.span()[64] ^= std::byte{1};  // seen no more in this mount
  EXPECT_NE(contents(mounts, kMap, "good").front(), '!');
  ASSERT_TRUE(mounts.unmount(id).ok());  // a refused pin holds nothing
  mounts.add(made);
  EXPECT_EQ(contents(mounts, kMap, "good"), "!bad_checksum");
}

TEST(Mount, TrustedAndNeverCheckedPacksSkipTheHashes) {
  PackMaker maker;
  maker.store(kMap, "x", "bytes");
  PackBuffer made = maker.make();
  made.span()[64] = std::byte{'B'};
  for (const PackMountOptions& options :
       {PackMountOptions{.trusted = true}, PackMountOptions{.check = PackCheck::never},
        PackMountOptions{.check = PackCheck::at_mount, .trusted = true}}) {
    Mounts mounts;
    mounts.add(made, options);
    const Result<PinnedResource> pin = mounts.pin(mounts.find(kMap, hash_name("x")));
    ASSERT_TRUE(pin.ok());
    EXPECT_EQ(test::text_of(pin.value().bytes()), "Bytes");
    EXPECT_EQ(pin.value().trusted(), options.trusted);
  }
}

// PACK-2
TEST(Mount, CompressedEntriesAreReadIntoMemory) {
  const std::string raw = test::wordy_text(5000, 1), dictionary = test::wordy_dictionary();
  PackMaker maker;
  const NameHash name = maker.dictionary(dictionary).name;
  maker.frame(kMap, "plain", raw, test::zstd_frame(raw));
  maker.frame(kMap, "with", raw, test::zstd_frame(raw, true, dictionary)).dictionary = name;
  maker.store(kMap, "stored", raw);
  const PackBuffer made = maker.make();
  DecompressorSet decompressors;
  ASSERT_TRUE(decompressors.init(1).ok());
  Mounts mounts(&decompressors);
  const MountId id = mounts.add(made);
  for (const char* entry : {"plain", "with", "stored"}) {
    EXPECT_EQ(contents(mounts, kMap, entry), raw);
    const Result<PinnedResource> pin = mounts.pin(mounts.find(kMap, hash_name(entry)));
    ASSERT_TRUE(pin.ok());
    EXPECT_EQ(pin.value().is_in_place(), entry == std::string("stored"));
    ASSERT_EQ(pin.value().raw_size(), 5000u);
    std::string memory(5001, '#');
    const std::span<std::byte> to = std::as_writable_bytes(std::span(memory));
    EXPECT_TRUE(mounts.read(pin.value(), to).ok());
    EXPECT_EQ(memory, raw + "#");
    EXPECT_EQ(mounts.read(pin.value(), to.first(4999)).code, StatusCode::too_small);
  }
  EXPECT_FALSE(mounts.find(kPackDictionaryKind, name));  // the pack's own
  ASSERT_TRUE(mounts.unmount(id).ok());
  ASSERT_TRUE(mounts.mount_pack(made.span()).ok());  // prepared once more
  EXPECT_EQ(contents(mounts, kMap, "with"), raw);
}

TEST(Mount, CompressedPacksNeedADecompressor) {
  PackMaker maker;
  maker.frame(kMap, "x", "raw", test::zstd_frame("raw"));
  const PackBuffer made = maker.make();
  Mounts mounts;
  const Status status = mounts.mount_pack(made.span()).status();
  EXPECT_EQ(status.code, StatusCode::bad_value);
  EXPECT_EQ(status.name, hash_name("x"));
  EXPECT_EQ(mounts.count(), 0u);
}

// P086: a terabyte that a frame asks for is refused by the table's size, before memory.
TEST(Mount, SizesOfFramesAreNotBelieved) {
  using namespace std::string_view_literals;
  PackMaker maker;
  maker.frame(kMap, "x", "", "\x28\xB5\x2F\xFD\xE0\0\0\0\0\0\1\0\0"sv).raw_size = 100;
  const PackBuffer made = maker.make();
  DecompressorSet decompressors;
  ASSERT_TRUE(decompressors.init(1).ok());
  Mounts mounts(&decompressors);
  mounts.add(made);
  const Result<PinnedResource> pin = mounts.pin(mounts.find(kMap, hash_name("x")));
  std::byte memory[100];
  const uint64_t before = test::allocation_count();
  const Status status = mounts.read(pin.value(), memory);
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_EQ(status.code, StatusCode::bad_value);
  EXPECT_EQ(status.detail, uint64_t{1} << 40);
  EXPECT_EQ(status.name, hash_name("x"));
}

TEST(Mount, LimitsAreSaid) {
  const PackBuffer a = pack_of({{"x", "a"}}), large = pack_of({{"big", "123456789"}});
  Mounts mounts(nullptr, 2);
  const Status limit = mounts.mount_pack(large.span(), {.max_resource_bytes = 8}).status();
  EXPECT_EQ(limit.code, StatusCode::too_large);
  EXPECT_EQ(limit.name, hash_name("big"));
  mounts.add(a);
  mounts.add(a);
  EXPECT_EQ(mounts.mount_pack(a.span()).status().code, StatusCode::out_of_slots);
  EXPECT_EQ(mounts.mount_folder("/").status().code, StatusCode::out_of_slots);
  EXPECT_EQ(mounts.mount_pack("/no/such/pack").status().code, StatusCode::out_of_slots);
  ASSERT_TRUE(mounts.unmount(mounts.at(0)).ok());
  EXPECT_EQ(mounts.mount_pack("/no/such/pack").status().code, StatusCode::not_found);
  ResourceMounts none;
  EXPECT_EQ(none.init({.max_mounts = 0}).code, StatusCode::bad_value);
  EXPECT_EQ(none.init({.max_mounts = 257}).code, StatusCode::bad_value);
}

/// Gives memory `left` times.
class ScarceAllocator final : public Allocator {
 public:
  void* allocate(size_t bytes, size_t alignment) override {
    if (left == 0) return nullptr;
    --left;
    ++live;
    return default_allocator().allocate(bytes, alignment);
  }
  void deallocate(void* pointer, size_t bytes, size_t alignment) override {
    if (pointer != nullptr) --live;
    default_allocator().deallocate(pointer, bytes, alignment);
  }
  int left = 0, live = 0;
};

TEST(Mount, WithoutMemoryAllStaysAsItWas) {
  const TempDir folder;
  const std::string path = folder.write("a.mpk", pack_of({{"x", "a"}}).text());
  folder.write("loose/x.imap", test::sealed(kMap, "loose"));
  ScarceAllocator memory;
  for (int left = 0; left <= 8; ++left) {
    ResourceMounts mounts;
    memory.left = left;
    const Status init = mounts.init({.max_mounts = 2, .allocator = &memory});
    EXPECT_EQ(init.ok(), left >= 2);
    if (!init.ok()) continue;
    const Result<MountId> pack = mounts.mount_pack(path.c_str());  // two blocks: path, counts
    EXPECT_EQ(pack.ok(), left >= 4);
    const Result<MountId> loose = mounts.mount_folder(folder.path("loose").c_str());  // four: also table and texts
    EXPECT_EQ(loose.ok(), left >= 8);
    EXPECT_EQ(pack.status().code, pack.ok() ? StatusCode::ok : StatusCode::out_of_memory);
    EXPECT_EQ(loose.status().code, loose.ok() ? StatusCode::ok : StatusCode::out_of_memory);
    EXPECT_EQ(mounts.count(), uint32_t{pack.ok()} + uint32_t{loose.ok()});
  }
  EXPECT_EQ(memory.live, 0);
}

// PERF-5: zero heap allocations.
TEST(Mount, LookUpsPinsAndReadsAllocateNothing) {
  const std::string raw = test::wordy_text(3000, 1);
  PackMaker maker;
  maker.store(kMap, "stored", raw);
  maker.frame(kMap, "frame", raw, test::zstd_frame(raw));
  const PackBuffer made = maker.make();
  DecompressorSet decompressors;
  ASSERT_TRUE(decompressors.init(1).ok());
  Mounts mounts(&decompressors);
  mounts.add(made);
  mounts.add(made, {.trusted = true});
  std::string memory(3000, '\0');
  uint32_t found = 0, good = 0;
  const uint64_t before = test::allocation_count();
  for (int round = 0; round < 100; ++round) {
    for (const char* name : {"stored", "frame"}) {
      mounts.for_each_version(
          kMap, hash_name(name), [](void* user, const ResourceVersion&) { ++*static_cast<uint32_t*>(user); }, &found);
      const Result<PinnedResource> pin = mounts.pin(mounts.find(kMap, hash_name(name)));
      good += mounts.read(pin.value(), std::as_writable_bytes(std::span(memory))).ok();
    }
    good += mounts.pin(mounts.find_in(mounts.at(0), kMap, hash_name("stored"))).ok();  // checks it the first time
    found += bool(mounts.find(kMap, hash_name("none")));
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_EQ(found, 400u);
  EXPECT_EQ(good, 300u);
}

/// Writes a pack with a hole of 5 GiB before its last entry. False: the file system has no holes or no room.
bool write_sparse(const std::string& path, uint64_t hole, std::string_view text) {
  PackMaker maker;
  maker.store(kMap, "near", "near");
  PackEntry& far = maker.store(kMap, "far", text);
  const uint64_t near_end = far.offset;
  far.offset += hole;
  // The maker's file with the hole put in front of the far entry.
  const std::string dense = maker.make().text();
  PackHeader header;
  std::memcpy(&header, dense.data(), sizeof header);
  header.file_size += hole;
  header.table_offset += hole;
  header.checksum = XXH3_64bits(&header, offsetof(PackHeader, checksum));
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  file.write(dense.data() + sizeof header, static_cast<std::streamsize>(near_end - sizeof header));
  file.seekp(static_cast<std::streamoff>(near_end + hole));
  file.write(dense.data() + near_end, static_cast<std::streamsize>(dense.size() - near_end));
  return bool(file.flush());
}

// PACK-4: a pack of more than 4 GiB.
TEST(Mount, EntriesBehind4GiBArePinned) {
  constexpr uint64_t kHole = uint64_t{5} << 30;
  const TempDir folder;
  const std::string path = folder.path("large.mpk");
  if (!write_sparse(path, kHole, "far away")) GTEST_SKIP() << "no sparse file of 5 GiB here";
  Mounts mounts;
  const Result<MountId> id = mounts.mount_pack(path.c_str(), {.check = PackCheck::at_mount});
  ASSERT_TRUE(id.ok()) << id.status().message;
  EXPECT_GT(mounts.info(id.value()).value().pack->find(kMap, hash_name("far"))->offset, kHole);
  EXPECT_EQ(contents(mounts, kMap, "near"), "near");
  EXPECT_EQ(contents(mounts, kMap, "far"), "far away");
}

// PACK-4: more than 65 536 entries.
TEST(Mount, ManyEntriesAreFound) {
  PackMaker maker;
  for (uint32_t i = 0; i < 70'000; ++i) maker.store(kMap, "", "").name = {i * 2 + 1};
  maker.store(kMap, "", "the last").name = {140'001};
  const PackBuffer made = maker.make();
  Mounts mounts;
  mounts.add(made);
  for (const uint32_t name : {1u, 65'535u, 65'537u, 131'073u, 139'999u, 140'001u})
    EXPECT_TRUE(mounts.find(kMap, {name})) << name;
  for (const uint32_t name : {0u, 2u, 65'536u, 140'003u}) EXPECT_FALSE(mounts.find(kMap, {name})) << name;
  EXPECT_EQ(contents(mounts, mounts.find(kMap, {140'001})), "the last");
}

}  // namespace
}  // namespace meridian
