// SPDX-License-Identifier: MIT
#pragma once
/// Which structure a definition of an extension was in its source: the name that ExtensionRegistry knows kinds by.

#include <iterator>

#include "meridian/base/name_hash.h"
#include "meridian/schemas/extensions_generated.h"

namespace meridian::detail {

/// Structures by the numbers of schema::ExtensionDef. Those that the schema lacks have a name of their own.
inline constexpr TypeHash kExtensionStructures[] = {
    {},
    hash_type("CExtensionDefParticleEffect"),
    hash_type("CExtensionDefAudioCollisionSettings"),
    hash_type("CExtensionDefAudioEmitter"),
    hash_type("CExtensionDefExplosionEffect"),
    hash_type("CExtensionDefLightEffect"),
    hash_type("CExtensionDefLightShaft"),
    hash_type("CExtensionDefDoor"),
    hash_type("CExtensionDefLadder"),
    hash_type("CExtensionDefSpawnPoint"),
    hash_type("CExtensionDefSpawnPointOverride"),
    hash_type("CExtensionDefBuoyancy"),
    hash_type("CExtensionDefExpression"),
    hash_type("CExtensionDefWindDisturbance"),
    hash_type("CExtensionDefProcObject"),
};
static_assert(std::size(kExtensionStructures) == static_cast<size_t>(schema::ExtensionDef::UnknownExtension));

/// 0 for a definition that is not there.
inline TypeHash extension_structure(const schema::Extension& extension) {
  if (const schema::UnknownExtension* const unknown = extension.definition_as_UnknownExtension()) {
    return TypeHash{unknown->type()};
  }
  const auto number = static_cast<size_t>(extension.definition_type());
  return number < std::size(kExtensionStructures) ? kExtensionStructures[number] : TypeHash{};
}

}  // namespace meridian::detail
