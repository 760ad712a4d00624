// SPDX-License-Identifier: MIT
#pragma once
/// Numbers by which loaded things are known: files by the slots that streaming gives them, archetypes by model ids.
///
///   ModelId id;                                      // none
///   id = {.archetype = 812, .types = 40};            // ArchetypeStore gives such a value
///   const uint32_t for_scripts = id.packed();        // 0x0028032C
///   const bool same = ModelId::unpack(for_scripts) == id;
///
/// An archetype that streams has another id each time that its type file is loaded: never keep one, keep the name.
///
/// Threads: immutable.
/// Memory:  none; a model id has 4 bytes.

#include <cstdint>

namespace meridian {

/// Slot of a type file (ITYP). [0, 0xFFFE]
using ItypSlot = uint16_t;
inline constexpr ItypSlot kNoItyp = 0xFFFF;

/// Slot of a map (IMAP).
using ImapSlot = uint32_t;
inline constexpr ImapSlot kNoImap = 0xFFFFFFFF;

/// Place of a pack in the order of overriding: what a higher one defines hides what lower ones do.
using LayerId = uint16_t;

/// Slot of an archetype. [0, kMaxModelSlots)
using ArchetypeSlot = uint16_t;
inline constexpr ArchetypeSlot kNoArchetype = 0xFFFF;

/// Names a loaded archetype: its slot, and that of the type file that defines it.
struct ModelId {
  ArchetypeSlot archetype = kNoArchetype;
  ItypSlot types = kNoItyp;

  constexpr bool is_valid() const { return archetype != kNoArchetype && types != kNoItyp; }
  /// In 32 bits: the archetype's slot in the lower half, the type file's in the upper one.
  constexpr uint32_t packed() const { return uint32_t{archetype} | uint32_t{types} << 16; }
  static constexpr ModelId unpack(uint32_t packed) {
    return {static_cast<ArchetypeSlot>(packed & 0xFFFF), static_cast<ItypSlot>(packed >> 16)};
  }
  friend constexpr bool operator==(ModelId, ModelId) = default;
};
static_assert(sizeof(ModelId) == 4);

}  // namespace meridian
