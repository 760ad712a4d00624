// SPDX-License-Identifier: MIT
#pragma once
/// How checks of rows name what is wrong.

#include <cstdint>

#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"

namespace meridian::detail {

/// bad_value with the name of the field. `at` is what the message calls its detail.
inline Status bad_field(const char* message, uint64_t at, const char* field) {
  return {StatusCode::bad_value, message, at, NameHash{hash_type(field).value}};
}

}  // namespace meridian::detail
