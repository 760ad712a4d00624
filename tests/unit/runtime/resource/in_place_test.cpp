// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "meridian/schemas/imap_generated.h"
#include "unit/runtime/resource/small_map.h"

// FMT-32 and P091: mapped files are read only and stay as they are; owned copies may be changed in place, also fields
// that equal their default.

namespace meridian {
namespace {

using test::Bytes;

TEST(InPlace, ReadingNeverWritesIntoMappedPages) {  // FMT-32
  const Bytes good = test::small_map();
  char path[] = "/tmp/meridian_in_place_XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  ASSERT_EQ(write(file, good.data(), good.size()), static_cast<ssize_t>(good.size()));
  void* pages = mmap(nullptr, good.size(), PROT_READ, MAP_SHARED, file, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(pages), good.size());
  const Result<Resource> opened = open_resource(bytes);
  ASSERT_TRUE(opened.ok());
  const auto* map = opened.value().root<schema::MapData>();
  EXPECT_EQ(map->name(), 42u);
  EXPECT_EQ(map->entities()->Get(1)->position().z(), 3.0f);
  EXPECT_EQ(map->entity_extensions()->Get(1)->definition_as_DoorDef()->limit_angle(), 0.5f);
  EXPECT_EQ(map->block()->name()->str(), "town");
  Bytes after(good.size());
  ASSERT_EQ(pread(file, after.data(), after.size(), 0), static_cast<ssize_t>(after.size()));
  EXPECT_EQ(after, good);  // P091: the file is unchanged after a session
  munmap(pages, good.size());
  close(file);
  unlink(path);
}

TEST(InPlaceDeathTest, WritingIntoReadOnlyPagesFaults) {  // FMT-32: why it must not be tried
  const Bytes good = test::small_map();
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t size = (good.size() + page - 1) / page * page;
  void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  std::memcpy(pages, good.data(), good.size());
  ASSERT_EQ(mprotect(pages, size, PROT_READ), 0);
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(pages), good.size());
  ASSERT_TRUE(open_resource(bytes).ok());
  auto* map = flatbuffers::GetMutableRoot<schema::MapData>(pages);
  EXPECT_DEATH(map->mutable_entities()->GetMutableObject(0)->mutate_lod_dist(5.0f), "");
  munmap(pages, size);
}

TEST(InPlace, OwnedCopiesMayBeChangedThroughAccessors) {  // FMT-32, P091
  Bytes bytes = test::small_map();
  auto* map = flatbuffers::GetMutableRoot<schema::MapData>(bytes.data());
  schema::EntityDef* entity = map->mutable_entities()->GetMutableObject(0);
  // Values equal to their defaults: in structs they are stored all the same.
  EXPECT_EQ(entity->tint_value(), 0u);
  EXPECT_EQ(entity->parent_index(), -1);
  entity->mutate_tint_value(17);
  entity->mutate_parent_index(1);
  entity->mutable_position().mutate_x(-8.0f);
  const auto* again = flatbuffers::GetRoot<schema::MapData>(bytes.data())->entities()->Get(0);
  EXPECT_EQ(again->tint_value(), 17u);
  EXPECT_EQ(again->parent_index(), 1);
  EXPECT_EQ(again->position().x(), -8.0f);
  EXPECT_EQ(open_resource(bytes).status().code, StatusCode::bad_checksum);
  test::fix_checksum(bytes);
  EXPECT_TRUE(open_resource(bytes).ok());
}

TEST(InPlace, DefaultFieldsOfTablesSayThatTheyCannotBeChanged) {  // P091: the accessor tells, nothing is lost silently
  Bytes bytes = test::small_map();
  auto* map = flatbuffers::GetMutableRoot<schema::MapData>(bytes.data());
  ASSERT_EQ(map->parent(), 0u);
  EXPECT_FALSE(map->mutate_parent(5));
}

}  // namespace
}  // namespace meridian
