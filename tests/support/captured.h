// SPDX-License-Identifier: MIT
#pragma once
/// What the runtime says and which contracts are broken, kept for a test to look at. One of each at a time.
///
///   test::CapturedLog log;
///   test::BrokenContracts contracts;                    // failed asserts are kept, and the program goes on
///   lamps.destroy(of_another_pool);
///   EXPECT_EQ(contracts.count(), test::kAsserts ? 1u : 0u);
///
/// Threads: main, but messages and breaks may come from any thread.

#include <mutex>
#include <string>
#include <vector>

#include "meridian/base/assert.h"
#include "meridian/base/log.h"

namespace meridian::test {

#if defined(MERIDIAN_ENABLE_ASSERTS) && MERIDIAN_ENABLE_ASSERTS
inline constexpr bool kAsserts = true;
#else
inline constexpr bool kAsserts = false;
#endif

struct Said {
  LogLevel level = LogLevel::info;
  NameHash name{};
  std::string text;
};

class CapturedLog {
 public:
  CapturedLog() {
    set_log_sink({[](void* user, const LogMessage& m) {
                    auto* const self = static_cast<CapturedLog*>(user);
                    const std::lock_guard lock(self->mutex_);
                    self->said_.push_back({m.level, m.name, std::string(m.text)});
                  },
                  this});
  }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;
  ~CapturedLog() { set_log_sink({}); }

  const std::vector<Said>& said() const { return said_; }
  size_t count() const { return said_.size(); }
  /// The texts, one a line.
  std::string all() const {
    std::string out;
    for (const Said& s : said_) out += s.text + '\n';
    return out;
  }
  void clear() { said_.clear(); }

 private:
  std::mutex mutex_;
  std::vector<Said> said_;
};

class BrokenContracts {
 public:
  BrokenContracts() {
    messages().clear();
    set_assert_handler([](const char*, const char* message, const char*, int) {
      const std::lock_guard lock(mutex());
      messages().emplace_back(message);
      return false;
    });
  }
  BrokenContracts(const BrokenContracts&) = delete;
  BrokenContracts& operator=(const BrokenContracts&) = delete;
  ~BrokenContracts() { set_assert_handler(nullptr); }

  size_t count() const { return messages().size(); }
  /// Breaks since the last call.
  size_t take() {
    const size_t n = messages().size();
    messages().clear();
    return n;
  }

 private:
  static std::vector<std::string>& messages() {
    static std::vector<std::string> all;
    return all;
  }
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
};

/// Whether `breaks` asserts failed where asserts are on, and none elsewhere. Forgets them.
inline bool broke(BrokenContracts& contracts, size_t breaks = 1) { return contracts.take() == (kAsserts ? breaks : 0); }

}  // namespace meridian::test
