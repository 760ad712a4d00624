// SPDX-License-Identifier: MIT
#pragma once
/// Something that makes resources when they are asked for, mounted beside packs and folders (resource/mount.h). The one
/// that ships is meridian::xml_fallback, for development builds: it compiles loose XML. The runtime knows only this
/// interface, so it links no compiler.
///
///   class Generated final : public SourceProvider {
///     void list(void (*found)(void*, PackKey), void* user) override {
///       found(user, {kind_of("IMAP"), hash_name("town")});
///     }
///     Status load(PackKey key, Allocator& memory, std::span<std::byte>& out) override {
///       return make_town(key, memory, out);
///     }
///   };
///
/// Threads: list is called by the owner of the mounts, load by every thread that loads, so it must be internal, or the
///          host loads on one thread.

#include <cstddef>
#include <span>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/resource/pack.h"

namespace meridian {

class SourceProvider {
 public:
  virtual ~SourceProvider() = default;
  /// Names what there is, in any order, each once; once for each mount. `found` must not be kept.
  virtual void list(void (*found)(void* user, PackKey key), void* user) = 0;
  /// Makes a whole resource in `memory.allocate(size, kPackAlignment)`; `out` is that block, which the caller gives
  /// back. Faults in the source go to the log, with their place; the Status says that there were some.
  virtual Status load(PackKey key, Allocator& memory, std::span<std::byte>& out) = 0;
};

}  // namespace meridian
