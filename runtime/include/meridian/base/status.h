// SPDX-License-Identifier: MIT
#pragma once
/// How the runtime reports bad data and a bad environment: by value, without exceptions, allocation or printing.
///
///   Result<Resource> opened = open_resource(bytes, {.kind = kind_of("IMAP")});
///   if (!opened.ok()) std::printf("%s (%llu)", opened.status().message, 0ull + opened.status().detail);

#include <cstdint>
#include <utility>

#include "meridian/base/assert.h"
#include "meridian/base/name_hash.h"

namespace meridian {

/// What went wrong. Numbers are stable.
enum class StatusCode : uint16_t {
  ok = 0,
  too_small = 1,        ///< fewer bytes than the smallest valid thing, or a span too short for the result
  too_large = 2,        ///< beyond a limit of the format or of the caller
  misaligned = 3,       ///< address not aligned as required
  bad_magic = 4,        ///< not such a file at all
  wrong_kind = 5,       ///< such a file, of another kind
  bad_version = 6,      ///< a version that this build does not know
  bad_checksum = 7,     ///< bytes were changed or cut
  bad_structure = 8,    ///< offsets or sizes that do not fit
  bad_value = 9,        ///< a value outside its meaning: index, enum, not finite
  layout_differs = 10,  ///< another layout and no schema at hand to convert by
  bad_schema = 11,      ///< the schema itself is not valid
  no_conversion = 12,   ///< layouts cannot be matched without loss
  out_of_memory = 13,   ///< the allocator gave none
  not_found = 14,
  in_use = 15,
  out_of_slots = 16,
};

/// A kebab-free, stable word for a code ("bad_checksum"). Threads: immutable.
const char* to_string(StatusCode code);

struct [[nodiscard]] Status {
  StatusCode code = StatusCode::ok;
  const char* message = "";  ///< static text, never null
  uint64_t detail = 0;       ///< offset, count or id; the message says which
  NameHash name{};           ///< resource, pool or field that it is about, 0 if none

  bool ok() const { return code == StatusCode::ok; }
};

/// A value or the Status that says why there is none.
/// Requires: value() only after ok() (asserted).
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor): both ways are the point
  Result(Status status) : status_(status) { MERIDIAN_ASSERT(!status.ok(), "a Result without value needs a reason"); }

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  T& value() {
    MERIDIAN_ASSERT(ok(), "Result has no value");
    return value_;
  }
  const T& value() const {
    MERIDIAN_ASSERT(ok(), "Result has no value");
    return value_;
  }

 private:
  T value_{};
  Status status_{};
};

}  // namespace meridian
