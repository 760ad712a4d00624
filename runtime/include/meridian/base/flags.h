// SPDX-License-Identifier: MIT
#pragma once
/// A set of options that are bits of an enum, with the enum's type: flags of another kind don't mix in, and a number
/// has to be asked for.
///
///   enum class DoorFlag : uint32_t { locked = 1, double_sided = 2, automatic = 4 };
///
///   Flags<DoorFlag> flags{DoorFlag::locked, DoorFlag::automatic};
///   flags.set(DoorFlag::locked, false);
///   const bool opens_itself = flags.has(DoorFlag::automatic);
///   const uint32_t stored = flags.bits();
///
/// An enumerator may also be a mask of several bits.
///
/// Threads: immutable; a value as large as the enum.

#include <type_traits>

namespace meridian {

template <class E>
class Flags {
  static_assert(std::is_enum_v<E> && std::is_unsigned_v<std::underlying_type_t<E>>, "an enum over unsigned bits");

 public:
  using Bits = std::underlying_type_t<E>;

  constexpr Flags() = default;
  template <class... More>
  requires(std::is_same_v<More, E>&&...) constexpr Flags(
      E first, More... more)  // NOLINT(google-explicit-constructor): one flag is a set
      : bits_(static_cast<Bits>((static_cast<Bits>(first) | ... | static_cast<Bits>(more)))) {}

  /// From a stored number. Bits that the enum doesn't name are kept.
  static constexpr Flags from_bits(Bits bits) {
    Flags flags;
    flags.bits_ = bits;
    return flags;
  }
  constexpr Bits bits() const { return bits_; }

  constexpr bool is_empty() const { return bits_ == 0; }
  /// Whether all of `flags` are set. True for none.
  constexpr bool has(Flags flags) const { return (bits_ & flags.bits_) == flags.bits_; }
  /// Whether at least one of `flags` is set. False for none.
  constexpr bool has_any(Flags flags) const { return (bits_ & flags.bits_) != 0; }

  constexpr Flags& set(Flags flags, bool on = true) {
    bits_ = static_cast<Bits>(on ? bits_ | flags.bits_ : bits_ & ~flags.bits_);
    return *this;
  }
  constexpr Flags& clear(Flags flags) { return set(flags, false); }
  constexpr Flags& clear_all() { return *this = Flags(); }
  constexpr Flags& toggle(Flags flags) { return *this ^= flags; }

  constexpr Flags& operator|=(Flags other) { return *this = *this | other; }
  constexpr Flags& operator&=(Flags other) { return *this = *this & other; }
  constexpr Flags& operator^=(Flags other) { return *this = *this ^ other; }
  friend constexpr Flags operator|(Flags a, Flags b) { return from_bits(static_cast<Bits>(a.bits_ | b.bits_)); }
  friend constexpr Flags operator&(Flags a, Flags b) { return from_bits(static_cast<Bits>(a.bits_ & b.bits_)); }
  friend constexpr Flags operator^(Flags a, Flags b) { return from_bits(static_cast<Bits>(a.bits_ ^ b.bits_)); }
  /// All bits of the enum's type, unnamed ones too. Good for masks.
  friend constexpr Flags operator~(Flags a) { return from_bits(static_cast<Bits>(~a.bits_)); }
  friend constexpr bool operator==(Flags, Flags) = default;

 private:
  Bits bits_ = 0;
};

}  // namespace meridian
