// SPDX-License-Identifier: MIT
#include <bit>

#include "meridian/visibility/occlusion_buffer.h"
#include "visibility/scan_kernel.h"

namespace meridian {

uint32_t occluded_slots(const ScanInput& in, std::span<const ReadyShape> shapes, uint32_t wanted, uint32_t mask,
                        OcclusionSlots& slots) {
  uint32_t out = 0;
  for (uint32_t buffer = 0; buffer < kScanOcclusionBuffers; ++buffer) {
    if (in.occlusion[buffer] == nullptr) continue;
    // Which slots are to be tested for any of the phases that use this buffer.
    uint32_t users = 0, user_phases = 0;
    for (uint32_t left = wanted; left != 0; left &= left - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(left));
      const ReadyShape& shape = shapes[i];
      if ((shape.flags & kCullUseOcclusion) == 0 || shape.shape->occlusion_buffer != buffer) continue;
      users |= 1u << i;
      user_phases |= shape.bit;
    }
    uint32_t tested = 0;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(left));
      if ((slots.phases[i] & user_phases) != 0) tested |= 1u << i;
    }
    if (tested == 0) continue;
    const OcclusionBoxes boxes{slots.boxes[0], slots.boxes[1], slots.boxes[2],
                               slots.boxes[3], slots.boxes[4], slots.boxes[5]};
    for (uint32_t left = in.occlusion[buffer]->hidden(boxes, tested); left != 0; left &= left - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(left));
      const uint32_t type = type_bit(type_of(slots.type_level[i]));
      uint32_t from = 0;
      for (uint32_t shape = users; shape != 0; shape &= shape - 1) {
        const ReadyShape& user = shapes[static_cast<uint32_t>(std::countr_zero(shape))];
        if ((user.shape->never_occluded & type) == 0) from |= user.bit;
      }
      from &= slots.phases[i];
      if (from == 0) continue;
      slots.hidden[i] = (out >> i & 1) != 0 ? slots.hidden[i] | from : from;
      out |= 1u << i;
    }
  }
  return out;
}

}  // namespace meridian
