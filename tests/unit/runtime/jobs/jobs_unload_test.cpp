// SPDX-License-Identifier: MIT
// A program of its own that links neither Meridian nor oneTBB: unloading the library unloads both.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <thread>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace {

int64_t thread_count() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

/// The kernel lists a thread for a moment after it was joined, so a number may be right a little late.
bool has_threads(int64_t count) {
  for (int i = 0; i < 2000 && thread_count() != count; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return thread_count() == count;
}

bool is_loaded(const char* library) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

// P082: starts jobs while it is loaded, uses them, shuts down, is unloaded; MERIDIAN_JOBS_PLUGIN_ROUNDS times.
TEST(JobsPlugin, P082_IsLoadedUsedAndUnloadedAThousandTimes) {
  std::thread([] {}).join();  // a sanitizer may start one of its own with the first
  const int64_t threads_before = thread_count();
  const bool had_tbb = is_loaded("libtbb.so.12");
  for (int round = 0; round < MERIDIAN_JOBS_PLUGIN_ROUNDS; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    void* const plugin = dlopen(MERIDIAN_JOBS_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(plugin, nullptr) << dlerror();
    auto* const sum = reinterpret_cast<uint64_t (*)(uint32_t)>(dlsym(plugin, "plugin_sum"));
    auto* const shutdown = reinterpret_cast<int (*)()>(dlsym(plugin, "plugin_shutdown"));
    ASSERT_TRUE(sum != nullptr && shutdown != nullptr);
    // Every third time without work: then most workers haven't even come at shutdown.
    if (round % 3 != 0) {
      ASSERT_EQ(sum(1000), 499'500u);
    }
    ASSERT_EQ(shutdown(), 1);
    ASSERT_TRUE(has_threads(threads_before));
    ASSERT_EQ(dlclose(plugin), 0);
    ASSERT_FALSE(is_loaded(MERIDIAN_JOBS_PLUGIN));
    ASSERT_EQ(is_loaded("libtbb.so.12"), had_tbb);
  }
}

}  // namespace
