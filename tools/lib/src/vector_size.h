// SPDX-License-Identifier: MIT
#pragma once
// Vectors of tables may be absent.

#include <cstdint>

namespace meridian::tools {

/// Elements of a FlatBuffers vector; 0 for one that is not there.
template <class Vector>
uint32_t size_of(const Vector* vector) {
  return vector == nullptr ? 0 : vector->size();
}

}  // namespace meridian::tools
