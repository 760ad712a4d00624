// SPDX-License-Identifier: MIT
#pragma once
/// What a map's linked fields must hold so that they can be used without looking again: every index inside its array,
/// the permutation one to one, numbers finite. Whether bounds enclose what they should is not asked: wrong ones hide
/// things, and do no other harm.

#include "meridian/base/status.h"
#include "meridian/resource/resource.h"
#include "resource/kinds.h"

namespace meridian {
namespace schema {
struct MapData;
}
namespace detail {

/// Requires: the payload passed the verifier and check_meaning.
/// Errors:   bad_value; `detail` is the index of the set, container, slot or row; `name` the field.
/// Memory:   none.
Status check_cooked(const schema::MapData& map);

}  // namespace detail
}  // namespace meridian
