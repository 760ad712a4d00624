// SPDX-License-Identifier: MIT
// Lanes that were chosen, side by side. Included once for each width, inside its namespace, behind base/packed_lanes.h;
// so there is no guard.

/// Brings those of up to 16 lanes to the front that have a bit, in their order; what stands behind them is not told.
/// Highway's Compress copies its table to the stack with GCC 12, a kilobyte each time.
template <class Words>
class LanePacker {
 public:
  static constexpr bool kHasTable = hn::MaxLanes(Words()) <= 8;

  HWY_INLINE explicit LanePacker(uint32_t bits) : which_(start(bits)) {}

  /// Of vectors of words, or of floats.
  template <class Tag>
  HWY_INLINE hn::Vec<Tag> operator()(Tag tag, hn::Vec<Tag> v) const {
    if constexpr (kHasTable) {
      return hn::TableLookupLanes(v, hn::IndicesFromVec(tag, which_));
    } else {
      return hn::Compress(v, hn::RebindMask(tag, which_));
    }
  }

 private:
  static HWY_INLINE auto start(uint32_t bits) {
    constexpr Words kTag;
    if constexpr (kHasTable) {
      const auto shifts = hn::ShiftLeft<2>(hn::Iota(kTag, 0));
      return hn::And(hn::Shr(hn::Set(kTag, kPackedLanes.of[bits]), shifts), hn::Set(kTag, 7));
    } else {
      const uint8_t bytes[8] = {static_cast<uint8_t>(bits), static_cast<uint8_t>(bits >> 8)};
      return hn::LoadMaskBits(kTag, bytes);
    }
  }
  const decltype(start(0)) which_;
};
