// SPDX-License-Identifier: MIT
// A program of its own that does not link Meridian: unloading the library unloads it.
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

// P082: starts threads while it is loaded, streams, shuts down with reads under way, is unloaded.
TEST(StreamPlugin, P082_IsLoadedUsedAndUnloadedAThousandTimes) {
  std::thread([] {}).join();  // a sanitizer may start one of its own with the first
  const int64_t threads_before = thread_count();
  for (int round = 0; round < MERIDIAN_STREAM_PLUGIN_ROUNDS; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    void* const plugin = dlopen(MERIDIAN_STREAM_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(plugin, nullptr) << dlerror();
    auto* const sum = reinterpret_cast<uint32_t (*)(uint32_t)>(dlsym(plugin, "plugin_sum"));
    auto* const shutdown = reinterpret_cast<int (*)()>(dlsym(plugin, "plugin_shutdown"));
    ASSERT_TRUE(sum != nullptr && shutdown != nullptr);
    // Every third time without work: then most threads have not even come at shutdown.
    if (round % 3 != 0) {
      ASSERT_EQ(sum(4), 20u);
    }
    ASSERT_EQ(shutdown(), 1);
    ASSERT_TRUE(has_threads(threads_before));
    ASSERT_EQ(dlclose(plugin), 0);
    ASSERT_FALSE(is_loaded(MERIDIAN_STREAM_PLUGIN));
  }
}

}  // namespace
