// SPDX-License-Identifier: MIT
#pragma once
/// What a world index must hold so that it can be used without looking again: names ascending, every index and range
/// inside its array, trees that are trees.

#include "meridian/base/status.h"
#include "meridian/resource/resource.h"

namespace meridian {
namespace schema {
struct WorldIndex;
}
namespace detail {

inline constexpr uint32_t kIndexKind = kind_of("WIDX");

/// Requires: the payload, `payload_bytes` long, passed the verifier and check_meaning.
/// Errors:   bad_value; bad_structure where groups share their arrays too often. `detail` is the index of the row, list
///           or child; `name` the field.
/// Memory:   none.
Status check_world_index(const schema::WorldIndex& index, uint64_t payload_bytes);

}  // namespace detail
}  // namespace meridian
