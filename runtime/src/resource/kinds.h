// SPDX-License-Identifier: MIT
#pragma once
/// Kinds of resources that several files look for.

#include <cstdint>

#include "meridian/resource/resource.h"

namespace meridian::detail {

inline constexpr uint32_t kMapKind = kind_of("IMAP"), kTypesKind = kind_of("ITYP");

}  // namespace meridian::detail
