// SPDX-License-Identifier: MIT
// A library that a program loads, uses and unloads: it brings an engine and loader threads.
#include "meridian/stream/streaming.h"
#include "meridian/stream/thread_io.h"

namespace {

using namespace meridian;  // NOLINT(google-build-using-namespace): a small program of its own

/// Two bytes for each of its keys.
class Pairs final : public SourceProvider {
 public:
  void list(void (*found)(void*, PackKey), void* user) override {
    for (uint32_t i = 0; i < 8; ++i) found(user, {1, NameHash{i + 1}});
  }
  Status load(PackKey key, Allocator& memory, std::span<std::byte>& out) override {
    out = {static_cast<std::byte*>(memory.allocate(2, kPackAlignment)), 2};
    out[0] = out[1] = static_cast<std::byte>(key.name.value);
    return {};
  }
};

class Things final : public StreamModule {
 public:
  explicit Things(const ResourceMounts& mounts) : StreamModule("Things"), mounts_(mounts) {}
  NameHash slot_name(uint32_t slot) const override { return NameHash{slot + 1}; }
  ResourceLocation locate(uint32_t slot) const override { return mounts_.find(1, slot_name(slot)); }
  StreamStep place(uint32_t, const StreamPayload& payload) override {
    sum += static_cast<uint32_t>(payload.bytes[0]) + static_cast<uint32_t>(payload.bytes[1]);
    return {};
  }
  StreamStep remove(uint32_t) override { return {}; }
  uint32_t sum = 0;

 private:
  const ResourceMounts& mounts_;
};

Pairs g_pairs;
ResourceMounts g_mounts;
ThreadIo g_io;
StreamingEngine g_engine;
Things g_things(g_mounts);

// Under the loader's lock, where waiting for a thread would hang.
[[maybe_unused]] const bool g_started = g_io.start({.threads = 3}).ok();

}  // namespace

/// The sum over the first `count` things, of 8 that are asked for. 0 if nothing works.
extern "C" uint32_t plugin_sum(uint32_t count) {
  if (!g_started || !g_mounts.init({}).ok() || !g_mounts.mount_source(g_pairs, "pairs").ok() ||
      !g_engine.init({.mounts = &g_mounts, .io = &g_io}).ok() || !g_engine.add_module(g_things, {.slots = 8}).ok() ||
      !g_engine.start().ok()) {
    return 0;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (!g_engine.load_now(i).ok()) return 0;
  }
  const uint32_t sum = g_things.sum;
  for (uint32_t i = count; i < 8; ++i) g_engine.keep(i, StreamKeeper::code);
  g_engine.update({});  // some are read now
  return sum;
}

/// Shuts down with reads under way. 1 if all threads have ended.
extern "C" int plugin_shutdown() {
  g_engine.shutdown();
  g_io.stop();
  return g_io.is_running() ? 0 : 1;
}
