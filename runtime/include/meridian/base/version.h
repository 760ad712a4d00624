// SPDX-License-Identifier: MIT
#pragma once
/// Versions of the library and of the formats.

#include <cstdint>

namespace meridian {

inline constexpr const char* kVersionString = "0.1.0";
/// Version of the resource trailer. A reader refuses others.
inline constexpr uint32_t kTrailerVersion = 1;
/// Version of the meaning of payloads and info sections, stored in ResourceInfo.
inline constexpr uint32_t kFormatVersion = 1;

}  // namespace meridian
