// SPDX-License-Identifier: MIT
// Rules: STR-6 (loose files and sources mounted like packs), P089 (overrides undone).
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "meridian/base/log.h"
#include "meridian/resource/mount.h"
#include "support/mount_kit.h"
#include "support/temp_dir.h"

namespace meridian {
namespace {

using test::contents;
using test::PackBuffer;
using test::PackMaker;
using test::sealed;
using test::TempDir;

constexpr uint32_t kMap = kind_of("IMAP"), kTypes = kind_of("ITYP"), kOwn = kind_of("WPNS");

/// What is logged while it lives.
class LogCapture {
 public:
  LogCapture() {
    set_log_sink({[](void* user, const LogMessage& message) {
                    static_cast<LogCapture*>(user)->lines.emplace_back(message.text);
                  },
                  this});
  }
  ~LogCapture() { set_log_sink({}); }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;
  std::vector<std::string> lines;
};

struct Mounts : ResourceMounts {
  Mounts() { EXPECT_TRUE(init({}).ok()); }
};

// STR-6
TEST(MountFolder, FilesAreFoundByNameAndTrailer) {
  const TempDir folder;
  const std::string town = sealed(kMap, "town"), props = sealed(kTypes, "props"), own = sealed(kOwn, "own");
  folder.write("Town.imap", town);
  folder.write("deep/down/props.ityp", props);
  folder.write("weapons.WPNS.mmeta", own);
  folder.write("other.mmeta", own);
  folder.write("hash_0000ABCD.imap", town);
  folder.write("dotted.name.imap", town);
  folder.write("notes.txt", "no resource");
  folder.write(".hidden.imap", town);
  folder.write(".git/x.imap", town);
  LogCapture log;
  Mounts mounts;
  const Result<MountId> id = mounts.mount_folder((folder.path() + "/").c_str());
  ASSERT_TRUE(id.ok()) << id.status().message;
  EXPECT_TRUE(log.lines.empty());
  const MountInfo info = mounts.info(id.value()).value();
  EXPECT_EQ(info.kind, MountKind::folder);
  EXPECT_EQ(info.entries, 6u);
  EXPECT_EQ(info.pack, nullptr);
  EXPECT_EQ(contents(mounts, kMap, "town"), town);
  EXPECT_EQ(contents(mounts, kTypes, "props"), props);
  EXPECT_EQ(contents(mounts, kOwn, "weapons"), own);
  EXPECT_EQ(contents(mounts, kOwn, "other"), own);
  EXPECT_EQ(contents(mounts, mounts.find(kMap, {0xABCD})), town);
  EXPECT_EQ(contents(mounts, kMap, "dotted.name"), town);
  EXPECT_EQ(contents(mounts, kMap, "x"), "-");
}

TEST(MountFolder, WhatIsNoResourceIsLeftOutAndSaid) {
  const TempDir folder;
  folder.write("short.imap", "short");
  folder.write("other.imap", sealed(kTypes, "types"));
  folder.write("a/twice.imap", sealed(kMap, "first"));
  folder.write("b/twice.imap", sealed(kMap, "second"));
  std::filesystem::create_directory(folder.path("folder.imap"));
  std::filesystem::create_symlink(folder.path("nowhere"), folder.path("dangling.imap"));
  std::filesystem::create_directory_symlink(folder.path(), folder.path("a/loop"));
  LogCapture log;
  Mounts mounts;
  const Result<MountId> id = mounts.mount_folder(folder.path().c_str());
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(mounts.info(id.value()).value().entries, 1u);
  EXPECT_EQ(contents(mounts, kMap, "twice"), sealed(kMap, "first"));
  std::sort(log.lines.begin(), log.lines.end());
  const std::string left_out = ": left out: ";
  const std::vector<std::string> expected = {
      folder.path("b/twice.imap") + left_out + folder.path("a/twice.imap") + " has the same kind and name",
      folder.path("dangling.imap") + left_out + "no such file; detail = errno",
      folder.path("other.imap") + left_out + "a resource of another kind than its extension",
      folder.path("short.imap") + left_out + "no Meridian resource"};
  EXPECT_EQ(log.lines, expected);
}

TEST(MountFolder, SaysWhyThereIsNone) {
  const TempDir folder;
  Mounts mounts;
  EXPECT_EQ(mounts.mount_folder(folder.path("absent").c_str()).status().code, StatusCode::not_found);
  EXPECT_EQ(mounts.mount_folder(folder.write("file", "x").c_str()).status().code, StatusCode::wrong_kind);
  for (const char* name : {"a.imap", "b.imap", "c.imap"}) folder.write(name, sealed(kMap, name));
  const Status status = mounts.mount_folder(folder.path().c_str(), {.max_files = 2}).status();
  EXPECT_EQ(status.code, StatusCode::too_large);
  EXPECT_EQ(status.detail, 2u);
  EXPECT_EQ(mounts.count(), 0u);
  EXPECT_TRUE(mounts.mount_folder(folder.path().c_str(), {.max_files = 3}).ok());
}

// STR-6, P089
TEST(MountFolder, OverridesAPackAndGivesItBack) {
  const TempDir folder;
  folder.write("town.imap", sealed(kMap, "loose"));
  PackMaker maker;
  maker.store(kMap, "town", "packed");
  const PackBuffer pack = maker.make();
  Mounts mounts;
  ASSERT_TRUE(mounts.mount_pack(pack.span()).ok());
  const MountId loose = mounts.mount_folder(folder.path().c_str()).value();
  EXPECT_EQ(contents(mounts, kMap, "town"), sealed(kMap, "loose"));
  {
    const Result<PinnedResource> pin = mounts.pin(mounts.find(kMap, hash_name("town")));
    ASSERT_TRUE(pin.ok());
    EXPECT_FALSE(pin.value().is_in_place());
    EXPECT_EQ(mounts.unmount(loose).code, StatusCode::in_use);
  }
  ASSERT_TRUE(mounts.unmount(loose).ok());
  EXPECT_EQ(contents(mounts, kMap, "town"), "packed");
}

// Files change under our feet: another size is seen at the next pin, one that is gone at once.
TEST(MountFolder, FilesMayChangeWhileTheyAreMounted) {
  const TempDir folder;
  folder.write("x.imap", sealed(kMap, "short"));
  Mounts mounts;
  ASSERT_TRUE(mounts.mount_folder(folder.path().c_str()).ok());
  const ResourceLocation x = mounts.find(kMap, hash_name("x"));
  {
    const Result<PinnedResource> pin = mounts.pin(x);
    const std::string longer = sealed(kMap, std::string(100, 'l'));
    folder.write("x.imap", longer);
    std::string memory(1000, '\0');
    const Status status = mounts.read(pin.value(), std::as_writable_bytes(std::span(memory)));
    EXPECT_EQ(status.code, StatusCode::too_small);
    EXPECT_EQ(status.detail, longer.size());
    EXPECT_EQ(status.name, hash_name("x"));
    EXPECT_EQ(contents(mounts, x), longer);
    std::filesystem::remove(folder.path("x.imap"));
    EXPECT_EQ(mounts.read(pin.value(), std::as_writable_bytes(std::span(memory))).code, StatusCode::not_found);
  }
  const Status gone = mounts.pin(x).status();
  EXPECT_EQ(gone.code, StatusCode::not_found);
  EXPECT_EQ(gone.name, hash_name("x"));
}

/// Gives the texts that it was made of.
class Texts final : public SourceProvider {
 public:
  explicit Texts(std::vector<std::pair<PackKey, std::string>> texts) : texts_(std::move(texts)) {}
  void list(void (*found)(void* user, PackKey key), void* user) override {
    for (const auto& [key, text] : texts_) found(user, key);
  }
  Status load(PackKey key, Allocator& memory, std::span<std::byte>& out) override {
    for (const auto& [k, text] : texts_) {
      if (k != key) continue;
      if (text.empty()) return {StatusCode::bad_value, "nothing", 0, key.name};
      out = {static_cast<std::byte*>(memory.allocate(text.size(), kPackAlignment)), text.size()};
      std::memcpy(out.data(), text.data(), text.size());
      return {};
    }
    return {StatusCode::not_found, "never asked for", 0, key.name};
  }

 private:
  std::vector<std::pair<PackKey, std::string>> texts_;
};

// STR-6: what is made when it is asked for.
TEST(MountSource, OverridesByWhatItLists) {
  Texts texts({{{kMap, hash_name("town")}, "made"}, {{kMap, hash_name("broken")}, ""}});
  PackMaker maker;
  maker.store(kMap, "town", "packed");
  maker.store(kMap, "hills", "hills");
  const PackBuffer pack = maker.make();
  Mounts mounts;
  ASSERT_TRUE(mounts.mount_pack(pack.span()).ok());
  const MountId id = mounts.mount_source(texts, "texts").value();
  EXPECT_EQ(mounts.info(id).value().kind, MountKind::source);
  EXPECT_EQ(mounts.info(id).value().path, "texts");
  EXPECT_EQ(contents(mounts, kMap, "town"), "made");
  EXPECT_EQ(contents(mounts, kMap, "hills"), "hills");
  EXPECT_EQ(contents(mounts, kMap, "broken"), "!bad_value");
  {
    const Result<PinnedResource> pin = mounts.pin(mounts.find(kMap, hash_name("town")));
    EXPECT_EQ(pin.value().raw_size(), 0u);
    std::byte memory[10];
    EXPECT_EQ(mounts.read(pin.value(), memory).code, StatusCode::bad_value);
    EXPECT_EQ(mounts.unmount(id).name, hash_name("town"));
  }
  ASSERT_TRUE(mounts.unmount(id).ok());
  EXPECT_EQ(contents(mounts, kMap, "town"), "packed");
}

TEST(MountSource, ListingANameTwiceIsRefused) {
  Texts texts({{{kMap, {7}}, "a"}, {{kMap, {3}}, "b"}, {{kMap, {7}}, "c"}});
  Mounts mounts;
  const Status status = mounts.mount_source(texts, "texts").status();
  EXPECT_EQ(status.code, StatusCode::bad_structure);
  EXPECT_EQ(status.name.value, 7u);
  EXPECT_EQ(mounts.count(), 0u);
}

}  // namespace
}  // namespace meridian
