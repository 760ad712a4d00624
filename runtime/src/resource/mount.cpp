// SPDX-License-Identifier: MIT
#include "meridian/resource/mount.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "resource/mount_slot.h"
#include "resource/pack_content.h"

namespace meridian {

using detail::Mount;

namespace {

constexpr uint32_t kMaxMounts = 256;

/// Compares every entry with its stored hash, in the order of the file.
Status check_all(const Pack& pack) {
  for (const uint32_t index : pack.order()) {
    if (const Status status = pack.check_stored(pack.entries()[index]); !status.ok()) return status;
  }
  return {};
}

/// The first entry that is compressed, or null.
const PackEntry* first_compressed(const Pack& pack) {
  const auto found = std::find_if(pack.entries().begin(), pack.entries().end(),
                                  [](const PackEntry& entry) { return !entry.is_stored(); });
  return found == pack.entries().end() ? nullptr : &*found;
}

}  // namespace

Status ResourceMounts::init(const ResourceMountsConfig& config) {
  MERIDIAN_ASSERT(mounts_ == nullptr, "mounts are initialised once");
  if (mounts_ != nullptr) return {StatusCode::in_use, "mounts were initialised before"};
  if (config.max_mounts == 0 || config.max_mounts > kMaxMounts) {
    return {StatusCode::bad_value, "a number of mounts that is not in [1, 256]; detail = it", config.max_mounts};
  }
  Allocator& memory = config.allocator != nullptr ? *config.allocator : default_allocator();
  void* const slots = memory.allocate(sizeof(Mount) * config.max_mounts, alignof(Mount));
  void* const order = memory.allocate(sizeof(uint16_t) * config.max_mounts, alignof(uint16_t));
  if (slots == nullptr || order == nullptr) {
    memory.deallocate(slots, sizeof(Mount) * config.max_mounts, alignof(Mount));
    memory.deallocate(order, sizeof(uint16_t) * config.max_mounts, alignof(uint16_t));
    return {StatusCode::out_of_memory, "no memory for mounts; detail = their number", config.max_mounts};
  }
  allocator_ = &memory;
  decompressor_ = config.decompressor;
  capacity_ = config.max_mounts;
  mounts_ = static_cast<Mount*>(slots);
  for (uint32_t i = 0; i < capacity_; ++i) new (&mounts_[i]) Mount;
  order_ = static_cast<uint16_t*>(order);
  return {};
}

ResourceMounts::~ResourceMounts() {
  if (mounts_ == nullptr) return;
  for (uint32_t i = 0; i < capacity_; ++i) {
    MERIDIAN_ASSERT(mounts_[i].pins.load(std::memory_order_acquire) == 0, "mounts outlive what is pinned");
    clear(mounts_[i]);
    mounts_[i].~Mount();
  }
  allocator_->deallocate(mounts_, sizeof(Mount) * capacity_, alignof(Mount));
  allocator_->deallocate(order_, sizeof(uint16_t) * capacity_, alignof(uint16_t));
}

Result<uint32_t> ResourceMounts::take_slot() {
  MERIDIAN_ASSERT(mounts_ != nullptr, "init() comes first");
  for (uint32_t i = 0; i < capacity_; ++i) {
    // A slot whose generation cannot grow is worn out; old ids must not come alive again.
    if (!mounts_[i].used && mounts_[i].generation < UINT32_MAX) return i;
  }
  return Status{StatusCode::out_of_slots, "too many mounts: raise max_mounts; detail = limit", capacity_};
}

Status ResourceMounts::make_counts(Mount& mount, size_t entries) {
  if (entries > UINT32_MAX) return {StatusCode::too_large, "too many entries in a mount; detail = number", entries};
  using Word = std::atomic<uint32_t>;
  auto* const words = static_cast<Word*>(allocator_->allocate(entries * sizeof(Word), alignof(Word)));
  if (words == nullptr) return {StatusCode::out_of_memory, "no memory for a mount; detail = its entries", entries};
  for (size_t i = 0; i < entries; ++i) new (&words[i]) Word(0);
  mount.words = words;
  mount.entries = static_cast<uint32_t>(entries);
  return {};
}

Status ResourceMounts::keep_path(Mount& mount, const char* path) {
  const size_t bytes = std::strlen(path) + 1;
  mount.path = static_cast<char*>(allocator_->allocate(bytes, 1));
  if (mount.path == nullptr) return {StatusCode::out_of_memory, "no memory for a mount's path; detail = size", bytes};
  mount.path_bytes = bytes;
  std::memcpy(mount.path, path, bytes);
  return {};
}

/// Puts a slot that is filled on top, or clears it where that failed.
Result<MountId> ResourceMounts::finish(uint32_t slot, const Status& status) {
  Mount& mount = mounts_[slot];
  if (!status.ok()) {
    clear(mount);
    return status;
  }
  mount.used = true;
  ++mount.generation;
  order_[count_++] = static_cast<uint16_t>(slot);
  return MountId{mount.generation, slot};
}

void ResourceMounts::clear(Mount& mount) {
  if (mount.prepared) decompressor_->release(mount.pack);
  mount.prepared = mount.leaving = false;
  mount.pack = {};
  mount.file.close();
  mount.folder.free(*allocator_);
  mount.keys.free(*allocator_);
  mount.source = nullptr;
  mount.content = 0;
  mount.base = {};
  allocator_->deallocate(mount.words, mount.entries * sizeof(std::atomic<uint32_t>), alignof(std::atomic<uint32_t>));
  mount.words = nullptr;
  mount.entries = 0;
  allocator_->deallocate(mount.path, mount.path_bytes, 1);
  mount.path = nullptr;
  mount.path_bytes = 0;
  mount.used = false;
}

// ---- packs

Result<MountId> ResourceMounts::mount_pack(const char* path, const PackMountOptions& options) {
  const Result<uint32_t> slot = take_slot();
  if (!slot.ok()) return slot.status();
  Mount& mount = mounts_[slot.value()];
  Result<FileMapping> file = FileMapping::open(path);
  if (!file.ok()) return file.status();
  mount.file = std::move(file.value());
  Status status = keep_path(mount, path);
  if (status.ok()) status = adopt_pack(mount, mount.file.bytes(), options);
  return finish(slot.value(), status);
}

Result<MountId> ResourceMounts::mount_pack(std::span<const std::byte> bytes, const PackMountOptions& options) {
  const Result<uint32_t> slot = take_slot();
  if (!slot.ok()) return slot.status();
  Mount& mount = mounts_[slot.value()];
  return finish(slot.value(), adopt_pack(mount, bytes, options));
}

Status ResourceMounts::adopt_pack(Mount& mount, std::span<const std::byte> bytes, const PackMountOptions& options) {
  const Result<Pack> pack =
      open_pack(bytes, {.max_resource_bytes = options.max_resource_bytes, .trusted = options.trusted});
  if (!pack.ok()) return pack.status();
  mount.kind = MountKind::pack;
  mount.pack = pack.value();
  mount.check = options.trusted ? PackCheck::never : options.check;
  if (const Status status = check_base(mount, options.any_base); !status.ok()) return status;
  const PackEntry* const compressed = decompressor_ == nullptr ? first_compressed(mount.pack) : nullptr;
  if (compressed != nullptr) {
    return {StatusCode::bad_value, "pack has compressed entries, and mounts have no decompressor; detail = offset",
            compressed->offset, compressed->name};
  }
  if (mount.check == PackCheck::at_mount) {
    if (const Status status = check_all(mount.pack); !status.ok()) return status;
  }
  if (const Status status = make_counts(mount, mount.pack.entries().size()); !status.ok()) return status;
  if (decompressor_ == nullptr) return {};
  const Status status = decompressor_->prepare(mount.pack);
  mount.prepared = status.ok();
  return status;
}

/// True if a pack is one by itself, or all that it is a patch of is still mounted.
bool ResourceMounts::is_whole(const Mount& mount) const {
  const Mount* at = &mount;
  while (at != nullptr && at->pack.is_patch()) at = live(at->base);
  return at != nullptr;
}

/// Looks for what a patch changes. The newest that fits is taken: a pack, or a patch that amounts to such a pack.
Status ResourceMounts::check_base(Mount& mount, bool any_base) {
  if (!mount.pack.is_patch()) return {};
  const uint64_t wanted = mount.pack.base_content();
  const Mount* base = nullptr;
  for (uint32_t position = count_; position-- > 0 && base == nullptr;) {
    Mount& below = mounts_[order_[position]];
    if (below.kind != MountKind::pack) continue;
    if (below.content == 0 && !below.pack.is_patch()) below.content = below.pack.content_hash();
    if (below.content != wanted || !is_whole(below)) continue;
    base = &below;
    mount.base = {below.generation, order_[position]};
  }
  if (base == nullptr) {
    if (any_base) return {};
    return {StatusCode::not_found, "the pack that this patch changes is not mounted; detail = its content hash",
            wanted};
  }
  const Pack* layers[detail::kMaxPatchChain] = {&mount.pack};
  size_t count = 1;
  for (; base != nullptr && count < detail::kMaxPatchChain; base = live(base->base)) layers[count++] = &base->pack;
  // No other patch can be put on one at the end of a chain that is too long.
  if (base == nullptr) mount.content = detail::merged_content_hash({layers, count});
  return {};
}

// ---- folders and sources

Result<MountId> ResourceMounts::mount_folder(const char* path, const FolderMountOptions& options) {
  const Result<uint32_t> slot = take_slot();
  if (!slot.ok()) return slot.status();
  Mount& mount = mounts_[slot.value()];
  mount.kind = MountKind::folder;
  Status status = keep_path(mount, path);
  if (status.ok()) status = detail::scan_loose_folder(path, options.max_files, *allocator_, mount.folder);
  if (status.ok()) status = make_counts(mount, mount.folder.files.count);
  return finish(slot.value(), status);
}

Result<MountId> ResourceMounts::mount_source(SourceProvider& source, const char* label) {
  const Result<uint32_t> slot = take_slot();
  if (!slot.ok()) return slot.status();
  Mount& mount = mounts_[slot.value()];
  mount.kind = MountKind::source;
  mount.source = &source;
  Status status = keep_path(mount, label);
  struct Listing {
    Allocator& memory;
    detail::GrowingBlock<PackKey>& keys;
    bool complete = true;
  } listing{*allocator_, mount.keys};
  if (status.ok()) {
    source.list(
        [](void* user, PackKey key) {
          Listing& to = *static_cast<Listing*>(user);
          to.complete = to.complete && to.keys.append(to.memory, &key, 1);
        },
        &listing);
  }
  if (!listing.complete) status = {StatusCode::out_of_memory, "no memory for the names of a source"};
  const std::span<PackKey> keys = mount.keys.all();
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (status.ok() && twice != keys.end()) {
    status = {StatusCode::bad_structure, "a source lists one kind and name twice; detail = kind", twice->kind,
              twice->name};
  }
  if (status.ok()) status = make_counts(mount, keys.size());
  return finish(slot.value(), status);
}

// ---- unmounting

Status ResourceMounts::unmount(MountId id) {
  Mount* const mount = live(id);
  if (mount == nullptr) return {StatusCode::not_found, "no such mount; detail = slot", id.slot};
  if (const uint64_t pins = mount->pins.load(std::memory_order_acquire); pins != 0) {
    Status status{StatusCode::in_use, "a mount has pinned resources; detail = their number", pins};
    for (uint32_t i = 0; i < mount->entries; ++i) {
      if ((mount->words[i].load(std::memory_order_relaxed) & ~detail::kEntryChecked) == 0) continue;
      status.name = mount->key_at(i).name;
      break;
    }
    return status;
  }
  uint16_t* const end = order_ + count_;
  uint16_t* const place = std::find(order_, end, static_cast<uint16_t>(id.slot));
  std::copy(place + 1, end, place);
  --count_;
  clear(*mount);
  return {};
}

}  // namespace meridian
