// SPDX-License-Identifier: MIT
#include "base/large_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "meridian/base/region_allocator.h"
#include "meridian/scene/desc_pool.h"

namespace meridian {
namespace {

struct Free {
  void operator()(unsigned char* block) const { std::free(block); }
};

// The advice is about whole large pages inside the block, wherever it begins; what is in it and beside it stays.
TEST(LargePages, TheContentStays) {
  constexpr size_t kBlock = 3 * kLargePage, kOffsets[] = {0, 64, kLargePage / 2, kLargePage - 64, kLargePage};
  const std::unique_ptr<unsigned char, Free> memory(
      static_cast<unsigned char*>(std::aligned_alloc(kLargePage, kBlock + kLargePage)));
  ASSERT_NE(memory, nullptr);
  unsigned char* const bytes = memory.get();
  for (size_t i = 0; i < kBlock + kLargePage; ++i) bytes[i] = static_cast<unsigned char>(i % 251);
  for (const size_t offset : kOffsets) prefer_large_pages(bytes + offset, kBlock);
  size_t wrong = 0;
  for (size_t i = 0; i < kBlock + kLargePage; ++i) wrong += bytes[i] != i % 251 ? 1 : 0;
  EXPECT_EQ(wrong, 0u);
}

/// How many of the pages of a mapping the system has given.
size_t resident_pages(unsigned char* begin, size_t pages, size_t page) {
  std::vector<unsigned char> are(pages);
  EXPECT_EQ(mincore(begin, pages * page, are.data()), 0);
  return static_cast<size_t>(std::count_if(are.begin(), are.end(), [](unsigned char is) { return (is & 1) != 0; }));
}

// A block that begins and ends somewhere in pages has each of them at once, and keeps what is in it.
TEST(LargePages, PrefaultHasEachPageThere) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  constexpr size_t kPages = 600;
  void* const mapped = mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const bytes = static_cast<unsigned char*>(mapped);
  bytes[page + 100] = 7;
  ASSERT_EQ(resident_pages(bytes, kPages, page), 1u);
  prefault(bytes + page + 100, (kPages - 2) * page);  // ends within the last page
  EXPECT_EQ(resident_pages(bytes, kPages, page), kPages - 1);
  EXPECT_EQ(bytes[page + 100], 7);
  prefault(nullptr, 0);
  munmap(mapped, kPages * page);
}

// What asks for it: regions, and pools of descriptors.
TEST(LargePages, RegionsAndDescriptorsHaveAllPagesIfAskedTo) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  constexpr size_t kPages = 300;
  struct Mapped final : Allocator {
    void* allocate(size_t bytes, size_t) override {
      length = bytes;
      at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      return at;
    }
    void deallocate(void* block, size_t bytes, size_t) override { munmap(block, bytes); }
    void* at = nullptr;
    size_t length = 0;
  };
  for (const bool is_asked : {false, true}) {
    Mapped mapped;
    const auto resident = [&] {
      return resident_pages(static_cast<unsigned char*>(mapped.at), mapped.length / page, page);
    };
    {
      MemoryTracker tracker;
      RegionAllocator region;
      ASSERT_TRUE(
          region.init({.bytes = kPages * page, .allocator = &mapped, .prefault = is_asked, .tracker = &tracker}).ok());
      EXPECT_TRUE(is_asked ? resident() == kPages : resident() < kPages / 2) << resident();
    }
    MemoryTracker tracker;
    DescPool pool;
    ASSERT_TRUE(
        pool.init({.bytes = kPages * page, .max_blocks = 1, .prefault = is_asked, .tracker = &tracker}, mapped).ok());
    EXPECT_TRUE(is_asked ? resident() >= kPages : resident() < kPages / 2) << resident();
  }
}

TEST(LargePages, NothingAndLittleAreLeftAlone) {
  errno = 0;
  prefer_large_pages(nullptr, size_t{1} << 30);
  unsigned char small[64] = {7};
  prefer_large_pages(small, sizeof small);
  EXPECT_EQ(errno, 0) << "the system was not asked";
  EXPECT_EQ(small[0], 7);
}

}  // namespace
}  // namespace meridian
