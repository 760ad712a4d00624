// SPDX-License-Identifier: MIT
#include "meridian/core/factory.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/captured.h"
#include "support/checked_memory.h"
#include "support/counting_allocator.h"

namespace meridian {
namespace {

struct Part {
  virtual ~Part() = default;
};
struct Wheel : Part {
  Wheel() { ++g_alive; }
  ~Wheel() override {
    --g_alive;
    g_gone.push_back(number);
  }
  uint64_t number = 0;
  char rest[20] = {};
  static inline int g_alive = 0;
  static inline std::vector<uint64_t> g_gone;
};
using Silo = SiloFactory<Wheel, Part>;

Wheel* made(Part* part, uint64_t number) {
  auto* const wheel = static_cast<Wheel*>(part);
  if (wheel != nullptr) wheel->number = number;
  return wheel;
}

// EXTN-3: bounded, null when full; the file does not matter.
TEST(PoolFactory, MakesABoundedNumberForAllFiles) {
  test::CapturedLog log;
  PoolFactory<Wheel, Part> factory;
  ASSERT_TRUE(factory.init({.name = "Wheel", .capacity = 2}).ok());
  Factory<Part>& base = factory;
  Part* const a = base.create(1);
  Part* const b = base.create(70000);
  ASSERT_TRUE(a != nullptr && b != nullptr);
  EXPECT_EQ(base.create(1), nullptr);
  EXPECT_EQ(log.all(), "Wheel pool full (capacity 2): raise PoolSize 'Wheel' in gameconfig\n");
  EXPECT_EQ(factory.pool().used(), 2u);
  base.destroy(*a);
  EXPECT_EQ(Wheel::g_alive, 1);
  EXPECT_NE(base.create(2), nullptr);
}

// EXTN-3: one contiguous array for each file, freed as a whole.
TEST(SiloFactory, KeepsOneArrayForEachFile) {
  test::CheckedMemory memory;
  {
    Silo silo;
    EXPECT_EQ(silo.create(0), nullptr);
    EXPECT_FALSE(silo.is_open(0));
    ASSERT_TRUE(silo.init(10, memory).ok());
    EXPECT_EQ(memory.blocks(), 1u);
    EXPECT_EQ(silo.create(7), nullptr);
    ASSERT_TRUE(silo.open(7, 3).ok());
    EXPECT_TRUE(silo.is_open(7));
    EXPECT_EQ(memory.blocks(), 2u);
    ASSERT_TRUE(silo.open(2, 2).ok());
    Wheel* const a = made(silo.create(7), 1);
    Wheel* const x = made(silo.create(2), 10);
    Wheel* const b = made(silo.create(7), 2);
    Wheel* const c = made(silo.create(7), 3);
    EXPECT_EQ(b, a + 1);
    EXPECT_EQ(c, a + 2);
    EXPECT_EQ(silo.create(7), nullptr);  // all of it was handed out
    EXPECT_EQ(memory.blocks(), 3u);
    EXPECT_EQ(silo.elements(7).data(), a);
    EXPECT_EQ(silo.elements(7).size(), 3u);
    EXPECT_EQ(silo.elements(2).size(), 1u);
    EXPECT_EQ(silo.used(7), 3u);

    silo.destroy(*b);
    EXPECT_EQ(silo.used(7), 2u);
    EXPECT_FALSE(silo.is_alive(7, 1));
    EXPECT_TRUE(silo.is_alive(7, 0) && silo.is_alive(7, 2));
    EXPECT_FALSE(silo.is_alive(7, 3));
    EXPECT_EQ(silo.create(7), nullptr);  // the place stays empty until the file leaves
    EXPECT_EQ(silo.elements(7).size(), 3u);
    EXPECT_EQ(x->number, 10u);

    Wheel::g_gone.clear();
    silo.close(7);
    EXPECT_EQ(Wheel::g_gone, (std::vector<uint64_t>{1, 3}));  // in the order of making
    EXPECT_EQ(memory.blocks(), 2u);
    EXPECT_FALSE(silo.is_open(7));
    EXPECT_TRUE(silo.elements(7).empty());
    EXPECT_EQ(silo.used(7), 0u);
    silo.close(7);
    silo.close(99);
    EXPECT_EQ(x->number, 10u);
    ASSERT_TRUE(silo.open(7, 1).ok());
    EXPECT_NE(silo.create(7), nullptr);
  }
  EXPECT_EQ(Wheel::g_alive, 0);
  EXPECT_EQ(memory.bytes(), 0u);
}

TEST(SiloFactory, ReportsWhatItCannotDo) {
  test::CheckedMemory memory;
  Silo silo;
  memory.fail_after(0);
  EXPECT_EQ(silo.init(10, memory).code, StatusCode::out_of_memory);
  EXPECT_EQ(silo.create(0), nullptr);
  memory.fail_after(1);
  ASSERT_TRUE(silo.init(10, memory).ok());
  const Status refused = silo.open(3, 4);
  EXPECT_EQ(refused.code, StatusCode::out_of_memory);
  EXPECT_EQ(refused.detail, 4 * (sizeof(Wheel) + 1));
  EXPECT_FALSE(silo.is_open(3));
  EXPECT_EQ(silo.create(3), nullptr);
  memory.fail_after(-1);
  ASSERT_TRUE(silo.open(3, 4).ok());
  test::BrokenContracts contracts;
  const Status again = silo.open(3, 4);
  EXPECT_EQ(again.code, StatusCode::bad_value);
  EXPECT_EQ(again.detail, 3u);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(silo.open(10, 4).code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_NE(silo.create(3), nullptr);
}

struct Spoke {
  ~Spoke() { ++g_gone; }
  int number = 0;
  static inline int g_gone = 0;
};
TEST(SiloFactory, BrokenContractsDoNoHarm) {
  if (!test::kAsserts) GTEST_SKIP() << "undefined without asserts";
  SiloFactory<Spoke> silo;
  ASSERT_TRUE(silo.init(4).ok());
  Spoke loose;
  test::BrokenContracts contracts;
  silo.destroy(loose);
  EXPECT_TRUE(test::broke(contracts));
  ASSERT_TRUE(silo.open(1, 2).ok());
  Spoke* const spoke = silo.create(1);
  silo.destroy(loose);
  EXPECT_TRUE(test::broke(contracts));
  silo.destroy(*spoke);
  EXPECT_TRUE(test::broke(contracts, 0));
  silo.destroy(*spoke);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(Spoke::g_gone, 1);
  EXPECT_EQ(silo.used(1), 0u);
  EXPECT_TRUE(silo.open(2, 0).ok());
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_EQ(silo.create(2), nullptr);
  EXPECT_EQ(silo.init(9).code, StatusCode::in_use);
  EXPECT_TRUE(test::broke(contracts));
  EXPECT_TRUE(silo.is_open(1));
}

TEST(SiloFactory, StrictAlignmentIsKept) {
  struct alignas(64) Wide : Part {
    char bytes[70] = {};
  };
  SiloFactory<Wide, Part> silo;
  ASSERT_TRUE(silo.init(1).ok());
  ASSERT_TRUE(silo.open(0, 5).ok());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(static_cast<Wide*>(silo.create(0))) % 64, 0u);
  }
}

TEST(SiloFactory, RandomFilesComeAndGoAsInTheModel) {
  for (const uint32_t seed : {61u, 62u}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    test::CheckedMemory memory;
    struct File {
      bool is_open = false;
      uint32_t capacity = 0, used = 0;
      std::vector<Wheel*> made;  // null: destroyed
      std::vector<uint64_t> numbers;
    };
    std::vector<File> files(20);
    Silo silo;
    ASSERT_TRUE(silo.init(20, memory).ok());
    uint64_t number = 0;
    for (int i = 0; i < 60000; ++i) {
      const auto f = static_cast<uint32_t>(random() % files.size());
      File& file = files[f];
      const uint32_t what = random() % 16;
      if (!file.is_open) {
        ASSERT_EQ(silo.create(f), nullptr);
        if (what > 1) continue;
        file.capacity = 1 + static_cast<uint32_t>(random() % 12);
        ASSERT_TRUE(silo.open(f, file.capacity).ok());
        file.is_open = true;
      } else if (what == 0 && random() % 3 == 0) {
        silo.close(f);
        file = {};
      } else if (what < 9) {
        Wheel* const wheel = made(silo.create(f), ++number);
        ASSERT_EQ(wheel != nullptr, file.made.size() < file.capacity);
        if (wheel == nullptr) continue;
        file.made.push_back(wheel);
        file.numbers.push_back(number);
        ++file.used;
      } else if (!file.made.empty()) {
        const size_t k = random() % file.made.size();
        if (file.made[k] == nullptr) continue;
        silo.destroy(*file.made[k]);
        file.made[k] = nullptr;
        --file.used;
      }
      ASSERT_EQ(silo.used(f), file.used);
      ASSERT_EQ(silo.elements(f).size(), file.made.size());
      if (i % 31 != 0) continue;
      int alive = 0;
      uint64_t open = 0;
      for (uint32_t k = 0; k < files.size(); ++k) {
        ASSERT_EQ(silo.is_open(k), files[k].is_open);
        open += files[k].is_open ? 1 : 0;
        for (uint32_t n = 0; n < files[k].made.size(); ++n) {
          const Wheel* const wheel = files[k].made[n];
          ASSERT_EQ(silo.is_alive(k, n), wheel != nullptr);
          if (wheel == nullptr) continue;
          ASSERT_EQ(wheel, &silo.elements(k)[n]);
          ASSERT_EQ(wheel->number, files[k].numbers[n]);
          ++alive;
        }
      }
      ASSERT_EQ(Wheel::g_alive, alive);
      ASSERT_EQ(memory.blocks(), open + 1);
      Wheel::g_gone.clear();
    }
  }
  EXPECT_EQ(Wheel::g_alive, 0);
}

TEST(SiloFactory, NothingAllocatesBetweenOpenAndClose) {
  struct Plain : Part {};
  SiloFactory<Plain, Part> silo;
  ASSERT_TRUE(silo.init(4).ok());
  ASSERT_TRUE(silo.open(1, 100).ok());
  const uint64_t before = test::allocation_count();
  for (int i = 0; i < 100; ++i) {
    Part* const part = silo.create(1);
    ASSERT_NE(part, nullptr);
    if (i % 2 == 0) silo.destroy(*part);
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
}

}  // namespace
}  // namespace meridian
