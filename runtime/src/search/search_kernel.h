// SPDX-License-Identifier: MIT
#pragma once
/// Between the search's interface and its loops, which exist once for each width and kind of volume.

#include <cstdint>

#include "meridian/base/simd.h"
#include "meridian/scene/box_hierarchy.h"
#include "meridian/scene/container_table.h"
#include "meridian/scene/query.h"
#include "search/search_volume.h"

namespace meridian {

/// A query, prepared once.
struct PreparedQuery {
  SearchVolume volume;
  // Containers that are looked at have all of the first, none of the second and one at least of the third.
  uint32_t needed_flags = 0, unwanted_flags = 0, any_flags = 0;  ///< ContainerFlags
  bool is_filtered = false;                                      ///< the rest says something
  uint16_t needed_desc_flags = 0;                                ///< DescFlags
  uint16_t unwanted_desc_flags = 0;
  uint32_t types = kAllTypes;
  uint8_t levels = kAllLevels;
};

/// Where what is found goes: an array, and beyond its end only the count. A visitor takes what is in the array before
/// it is full and at the end, and has it emptied; it has room for a sub-block at least.
struct SearchSink {
  EntityHandle* out = nullptr;
  uint32_t capacity = 0;
  uint32_t found = 0;                        ///< since the array was emptied
  bool (*take)(SearchSink& sink) = nullptr;  ///< null: no visitor. False: enough
};

using SearchKernel = void (*)(const ContainerTable& table, const BoxHierarchy& hierarchy, const PreparedQuery& query,
                              SearchSink& sink);
/// Which of 16 boxes, laid out as WideBoxes and 4-aligned, the loops let pass: a bit a lane.
using BoxesKernel = uint32_t (*)(const SearchVolume& volume, const float* boxes);

/// By VolumeKind.
struct SearchKernels {
  SearchKernel search[6];
  BoxesKernel boxes[6];
};

const SearchKernels& scalar_search_kernels();
/// Requires: has_simd_width(width), and not scalar.
const SearchKernels& wide_search_kernels(SimdWidth width);

inline const SearchKernels& search_kernels() {
  const SimdWidth width = simd_width();
  return width == SimdWidth::scalar ? scalar_search_kernels() : wide_search_kernels(width);
}

/// Of the slots in `mask`, which count from `first`, those that touches() lets pass.
uint32_t exact_hits(const SearchVolume& volume, const ContainerView& view, uint32_t first, uint32_t mask);

}  // namespace meridian
