// SPDX-License-Identifier: MIT
#pragma once
/// What the structure of a FlatBuffer cannot say: closed enums and union members known, floats finite, hoisted records
/// in order and owned by an existing host Item, element data aligned. Driven by the reflection schema alone.

#include <cstddef>
#include <span>

#include "meridian/base/status.h"

namespace meridian::detail {

/// Requires: `payload` passed a verifier for this schema; payload is 16-aligned.
/// Errors:   bad_value, bad_structure (misaligned elements, tables shared too often); `detail` is a byte offset in the
///           payload or, for owners, the record's index; `name` is the field.
/// Memory:   none.
Status check_meaning(std::span<const std::byte> payload, std::span<const std::byte> bfbs);

}  // namespace meridian::detail
