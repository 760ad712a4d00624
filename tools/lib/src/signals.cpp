// SPDX-License-Identifier: MIT
#include "signals.h"

#include <csignal>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "meridian/tools/cli.h"

namespace meridian::tools {
namespace {

std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not take a lock");

// Fixed storage, because a signal handler may not follow pointers that another thread is freeing.
constexpr int kSlots = 64;
constexpr size_t kSlotBytes = 4096;  // PATH_MAX
enum SlotState : int { kFree, kFilling, kNamed };
struct Slot {
  std::atomic<int> state{kFree};
  char path[kSlotBytes];
};
Slot g_slots[kSlots];

/// The first signal asks for an orderly end, the second takes it.
void on_signal(int) {
  if (!g_interrupted.exchange(true)) return;
  for (Slot& slot : g_slots)
    if (slot.state.load(std::memory_order_acquire) == kNamed) ::unlink(slot.path);
  ::_exit(kExitInterrupted);
}

}  // namespace

const std::atomic<bool>& install_signal_handlers() {
  static const bool installed = [] {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction old {};
      ::sigaction(signal, nullptr, &old);
      if (old.sa_handler == SIG_IGN) continue;  // nohup and background jobs of a shell
      struct sigaction action {};
      action.sa_handler = on_signal;
      sigemptyset(&action.sa_mask);  // no SA_RESTART: a read from a pipe shall end
      ::sigaction(signal, &action, nullptr);
    }
    // A reader that went away is a failed write with an exit code, not a sudden death with a temporary file left.
    std::signal(SIGPIPE, SIG_IGN);
    return true;
  }();
  (void)installed;
  return g_interrupted;
}

TemporaryFileName::TemporaryFileName(const std::string& path) {
  if (path.size() >= kSlotBytes) return;
  for (int i = 0; i < kSlots; ++i) {
    int expected = kFree;
    if (!g_slots[i].state.compare_exchange_strong(expected, kFilling)) continue;
    std::memcpy(g_slots[i].path, path.c_str(), path.size() + 1);
    g_slots[i].state.store(kNamed, std::memory_order_release);
    slot_ = i;
    return;
  }
}

TemporaryFileName::~TemporaryFileName() {
  if (slot_ >= 0) g_slots[slot_].state.store(kFree, std::memory_order_release);
}

ToolIo standard_io() {
  ToolIo io{.in = stdin, .out = stdout, .err = stderr};
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  io.no_color = no_color != nullptr && *no_color != '\0';
  const bool is_dumb = terminal != nullptr && std::strcmp(terminal, "dumb") == 0;  // no cursor, no colour
  io.stderr_is_terminal = ::isatty(STDERR_FILENO) != 0 && !is_dumb;
  io.cancel = &install_signal_handlers();
  return io;
}

}  // namespace meridian::tools
