// SPDX-License-Identifier: MIT
#pragma once
/// Packs, loose folders and generated resources as one: mounted one over the other, and a later mount overrides an
/// earlier one by kind and name. Nothing is merged, so unmounting, in any order, shows again exactly what was covered.
///
///   ResourceMounts mounts;
///   Status status = mounts.init({.decompressor = &decompressor});
///   Result<MountId> world = mounts.mount_pack("world.mpk");
///   Result<MountId> patch = mounts.mount_pack("patch.mpk");
///   const ResourceLocation town = mounts.find(kind_of("IMAP"), hash_name("town"));
///   if (town) {
///     Result<PinnedResource> pin = mounts.pin(town);              // until it goes, the mount stays
///     if (pin.ok() && pin.value().is_in_place()) {
///       Result<Resource> map = open_resource(pin.value().bytes(), {.trusted = pin.value().trusted()});
///     }
///   }
///
/// A patch (Pack::is_patch) also takes away: names in its removed() are not found in any mount below it. So mount it
/// right over its base. It is refused where its base is not below: a pack of that content hash, or a pack and patches
/// of it (up to 30) that amount to one.
///
/// Threads: readers for look-ups (any number at once, none beside mount and unmount, which are main). pin() and what it
///          allows are internal: read, load and letting go, from any thread at any time, also beside mounts and unmounts
///          of others (atomic counts). A mount is not unmounted while a pin of it may be under way.
/// Memory:  init and mounts through the given Allocator: 4 bytes for each entry, and for each file of a folder 12 more
///          and its path, in tables that grow by doubling. Look-ups, pins and reads of packs allocate nothing.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/core/handle.h"
#include "meridian/resource/entry_decompressor.h"
#include "meridian/resource/pack.h"
#include "meridian/resource/source_provider.h"

namespace meridian {

namespace detail {
struct Mount;
}

struct ResourceMount;  ///< only a tag
using MountId = Handle<ResourceMount>;

struct ResourceMountsConfig {
  uint32_t max_mounts = 32;                   ///< at once [1, 256] [count]
  Allocator* allocator = nullptr;             ///< null: default_allocator()
  EntryDecompressor* decompressor = nullptr;  ///< null: packs with compressed entries are refused. Outlives the mounts
};

/// When a pack's entries are compared with their hashes. Compressed ones of untrusted packs always are, when read.
enum class PackCheck : uint8_t {
  at_first_use,  ///< a stored entry when it is first pinned, once for each mount
  at_mount,      ///< all entries; one damaged entry refuses the pack. Reads the whole file
  never,
};

struct PackMountOptions {
  PackCheck check = PackCheck::at_first_use;
  /// The pack was verified before (`resinfo verify --deep`): nothing but its header is checked, now or later, and a pin
  /// says that open_resource may trust its bytes.
  bool trusted = false;
  /// Takes a patch whose base is not below.
  bool any_base = false;
  uint64_t max_resource_bytes = kMaxResourceBytes;  ///< as PackOptions
};

struct FolderMountOptions {
  uint32_t max_files = 1u << 20;  ///< more are refused [count]
};

/// The name that a file's name without extension stands for: its hash, or the number of `hash_1A2B3C4D`.
/// Threads: immutable.
NameHash name_of_file(std::string_view stem);

/// Where a resource is found. Goes stale with its mount; pin() says so.
struct ResourceLocation {
  MountId mount;       ///< null: nowhere
  uint32_t index = 0;  ///< in the mount's table
  PackKey key;
  explicit operator bool() const { return bool(mount); }
  friend bool operator==(const ResourceLocation&, const ResourceLocation&) = default;
};

enum class MountKind : uint8_t { pack, folder, source };

struct MountInfo {
  MountKind kind = MountKind::pack;
  std::string_view path;       ///< as given; until the unmount
  uint32_t entries = 0;        ///< [count]
  uint64_t pins = 0;           ///< now [count]
  const Pack* pack = nullptr;  ///< null for folders and sources; until the unmount
};

/// What is known of a resource without touching its bytes.
struct ResourceShape {
  MountKind kind = MountKind::pack;
  bool is_in_place = false;  ///< pin() gives the bytes where they lie; otherwise read() or, for a source, load()
  uint32_t raw_size = 0;     ///< of a pack's entry; 0 for files and sources, which pin() and load() learn [bytes]
};

/// Keeps a resource's mount from leaving. Lets go at the end of its scope. Only moves.
/// Threads: one object serves one thread at a time, any one; see above. Requires: the ResourceMounts outlives it.
class PinnedResource {
 public:
  PinnedResource() = default;
  ~PinnedResource() { release(); }
  PinnedResource(PinnedResource&& other) noexcept;
  PinnedResource& operator=(PinnedResource&& other) noexcept;
  PinnedResource(const PinnedResource&) = delete;
  PinnedResource& operator=(const PinnedResource&) = delete;

  explicit operator bool() const { return mount_ != nullptr; }
  PackKey key() const { return key_; }
  /// True if bytes() is the resource where it lies in the pack, without a copy.
  bool is_in_place() const { return in_place_; }
  /// The resource, 64-aligned in a mapped pack; empty unless in place. Good until this object lets go.
  std::span<const std::byte> bytes() const { return bytes_; }
  /// What read() wants room for; 0 for a source, which is not made yet. [bytes]
  uint32_t raw_size() const { return raw_size_; }
  /// Of a trusted pack: OpenOptions::trusted may be set.
  bool trusted() const { return trusted_; }
  /// Lets go now.
  void release();

 private:
  friend class ResourceMounts;
  detail::Mount* mount_ = nullptr;
  uint32_t index_ = 0;
  uint32_t raw_size_ = 0;
  PackKey key_;
  std::span<const std::byte> bytes_;
  bool in_place_ = false, trusted_ = false;
};

/// One of several versions of a resource, see for_each_version.
struct ResourceVersion {
  ResourceLocation location;
  bool hidden = false;  ///< a patch above it takes the name away
};

class ResourceMounts {
 public:
  ResourceMounts() = default;
  /// Unmounts all. Requires: nothing is pinned.
  ~ResourceMounts();
  ResourceMounts(const ResourceMounts&) = delete;
  ResourceMounts& operator=(const ResourceMounts&) = delete;

  /// Requires: not initialised. Errors: bad_value (max_mounts), out_of_memory.
  Status init(const ResourceMountsConfig& config);

  /// Maps a pack and puts it over all others.
  /// Errors: as FileMapping::open, open_pack and EntryDecompressor::prepare; bad_checksum (check at_mount; `name`
  ///         is the damaged entry's, `detail` its offset); not_found (a patch without its base; detail = the content
  ///         hash); bad_value (compressed entries and no decompressor; `name` is the first one's); out_of_slots,
  ///         out_of_memory. A refused mount leaves everything as it was.
  Result<MountId> mount_pack(const char* path, const PackMountOptions& options = {});
  /// The same with bytes that the caller keeps; 16-aligned, as open_pack says.
  Result<MountId> mount_pack(std::span<const std::byte> bytes, const PackMountOptions& options = {});

  /// Loose resources (.imap, .ityp, .gcfg, .ymfm, .widx, .mmeta) in a folder and all below it, except hidden ones and
  /// folders behind links. The name is the file's, without extension; `hash_1A2B3C4D` is that hash. The kind is the
  /// trailer's; a file without one, of another kind than its extension, or that cannot be read is left out with a
  /// warning; of two files of one kind and name the first by path stays. Files are looked for now, and read when they
  /// are asked for: they are not mapped, because files in such folders change, and a shrunk mapping is a SIGBUS.
  /// Errors: not_found, wrong_kind (no folder), io_error, too_large (max_files), out_of_slots, out_of_memory.
  Result<MountId> mount_folder(const char* path, const FolderMountOptions& options = {});

  /// What `source` lists. Requires: it outlives the mount; `label` is text for messages.
  /// Errors: bad_structure (a key twice; `name`), out_of_slots, out_of_memory.
  Result<MountId> mount_source(SourceProvider& source, const char* label);

  /// Takes a mount away; what it covered is found again.
  /// Errors: not_found (not mounted); in_use (detail = number of pins, `name` = one that is pinned), and all stays.
  Status unmount(MountId id);

  /// A mount is about to be unmounted: from now on find() passes over it, and what it hides or takes away is found
  /// again. What is pinned there stays. Errors: not_found.
  Status begin_leaving(MountId id);
  uint32_t count() const { return count_; }
  /// Mounts from the lowest, which is the oldest, to the highest. Requires: position < count().
  MountId at(uint32_t position) const;
  /// Errors: not_found.
  Result<MountInfo> info(MountId id) const;
  /// Kind and name of a mount's entry, sorted. Dictionaries are among them, though no look-up finds those.
  /// Requires: id is mounted; index < info().entries.
  PackKey key_at(MountId id, uint32_t index) const;

  /// The version that counts. A binary search in each mount from the highest down, until one has it.
  ResourceLocation find(uint32_t kind, NameHash name) const;
  /// The version of one mount, whatever lies over it.
  ResourceLocation find_in(MountId id, uint32_t kind, NameHash name) const;
  /// A patch that takes the name away from all mounts below it. False for what is no mount.
  bool removes(MountId id, uint32_t kind, NameHash name) const;
  /// All versions, from the highest mount to the lowest. The first that is not hidden is the one that find() gives.
  void for_each_version(uint32_t kind, NameHash name, void (*visit)(void* user, const ResourceVersion& version),
                        void* user) const;

  /// Looks at the table only. Errors: not_found (stale location).
  Result<ResourceShape> shape(const ResourceLocation& location) const;

  /// Keeps the mount of a resource, and gives the bytes where they can be used in place. Otherwise read() or load().
  /// A file of a folder is looked at for its size.
  /// Errors: not_found (stale location, or a loose file is gone), bad_checksum (first use; `name`, `detail` = offset),
  ///         io_error, too_large (a loose file of 2 GiB or more).
  Result<PinnedResource> pin(const ResourceLocation& location) const;

  /// Copies or decompresses the whole resource into the first raw_size() bytes of `to`.
  /// Requires: pinned here.
  /// Errors:   too_small (`to`), as EntryDecompressor::read, io_error or too_small (a loose file failed, or changed its
  ///           size since it was pinned), bad_value (a source has no size before load()).
  Status read(const PinnedResource& pin, std::span<std::byte> to) const;
  /// The same in memory of its own, and for sources too. Give it back by `memory.deallocate(data, size,
  /// kPackAlignment)`. Errors: as read() and SourceProvider::load, out_of_memory.
  Result<std::span<std::byte>> load(const PinnedResource& pin, Allocator& memory) const;

 private:
  detail::Mount* live(MountId id) const;
  Result<uint32_t> take_slot();
  Status adopt_pack(detail::Mount& mount, std::span<const std::byte> bytes, const PackMountOptions& options);
  bool is_whole(const detail::Mount& mount) const;
  Status check_base(detail::Mount& mount, bool any_base);
  Status make_counts(detail::Mount& mount, size_t entries);
  Status keep_path(detail::Mount& mount, const char* path);
  Result<MountId> finish(uint32_t slot, const Status& status);
  void clear(detail::Mount& mount);
  ResourceLocation locate(uint32_t slot, PackKey key) const;

  Allocator* allocator_ = nullptr;
  EntryDecompressor* decompressor_ = nullptr;
  detail::Mount* mounts_ = nullptr;  ///< slots; they stay where they are, so pins point at them
  uint16_t* order_ = nullptr;        ///< slots of mounts, lowest first
  uint32_t capacity_ = 0;
  uint32_t count_ = 0;
};

}  // namespace meridian
