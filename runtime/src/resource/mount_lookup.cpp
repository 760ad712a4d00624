// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>

#include "base/posix_file.h"
#include "meridian/resource/mount.h"
#include "resource/mount_slot.h"

namespace meridian {

using detail::Mount;

namespace {

/// Index of a key in a mount, or -1.
int64_t index_of(const Mount& mount, PackKey key) {
  switch (mount.kind) {
    case MountKind::pack: {
      if (key.kind == kPackDictionaryKind) return -1;  // the pack's own
      const PackEntry* const entry = mount.pack.find(key.kind, key.name);
      return entry == nullptr ? -1 : entry - mount.pack.entries().data();
    }
    case MountKind::folder: {
      const auto files = mount.folder.files.all();
      const auto found = std::lower_bound(files.begin(), files.end(), key,
                                          [](const detail::LooseFile& file, PackKey k) { return file.key < k; });
      return found == files.end() || found->key != key ? -1 : found - files.begin();
    }
    case MountKind::source:
      break;
  }
  const auto keys = mount.keys.all();
  const auto found = std::lower_bound(keys.begin(), keys.end(), key);
  return found == keys.end() || *found != key ? -1 : found - keys.begin();
}

bool takes_away(const Mount& mount, PackKey key) {
  if (mount.kind != MountKind::pack) return false;
  const std::span<const PackKey> removed = mount.pack.removed();
  return !removed.empty() && std::binary_search(removed.begin(), removed.end(), key);
}

Result<size_t> loose_size(const char* path, NameHash name) {
  struct stat status {};
  Status fault;
  if (::stat(path, &status) != 0) {
    fault = detail::file_error(errno);
  } else if (!S_ISREG(status.st_mode)) {
    fault = {StatusCode::wrong_kind, "a loose resource is no file any more"};
  } else if (static_cast<uint64_t>(status.st_size) > kMaxResourceBytes) {
    fault = {StatusCode::too_large, "a loose resource is 2 GiB or larger; detail = size",
             static_cast<uint64_t>(status.st_size)};
  } else {
    return static_cast<size_t>(status.st_size);
  }
  fault.name = name;
  return fault;
}

Status read_loose(const char* path, std::span<std::byte> to, NameHash name) {
  const detail::Descriptor file(detail::open_to_read(path));
  const Result<size_t> size = file.is_open() ? detail::regular_size(file.number()) : detail::file_error(errno);
  Status status = size.status();
  if (status.ok() && size.value() != to.size()) {
    status = {StatusCode::too_small, "a loose file changed since it was pinned; detail = its size now", size.value()};
  }
  if (status.ok()) status = detail::read_start(file.number(), to);
  if (status.ok()) {
    const Result<size_t> after = detail::regular_size(file.number());
    if (!after.ok() || after.value() != to.size()) {
      status = {StatusCode::too_small, "a loose file changed while it was read; detail = the size it had", to.size()};
    }
  }
  status.name = name;
  return status;
}

}  // namespace

// ---- pins

PinnedResource::PinnedResource(PinnedResource&& other) noexcept
    : mount_(std::exchange(other.mount_, nullptr)),
      index_(other.index_),
      raw_size_(std::exchange(other.raw_size_, 0)),
      key_(std::exchange(other.key_, {})),
      bytes_(std::exchange(other.bytes_, {})),
      in_place_(std::exchange(other.in_place_, false)),
      trusted_(std::exchange(other.trusted_, false)) {}

PinnedResource& PinnedResource::operator=(PinnedResource&& other) noexcept {
  if (this == &other) return *this;
  release();
  mount_ = std::exchange(other.mount_, nullptr);
  index_ = other.index_;
  raw_size_ = std::exchange(other.raw_size_, 0);
  key_ = std::exchange(other.key_, {});
  bytes_ = std::exchange(other.bytes_, {});
  in_place_ = std::exchange(other.in_place_, false);
  trusted_ = std::exchange(other.trusted_, false);
  return *this;
}

void PinnedResource::release() {
  if (mount_ == nullptr) return;
  std::exchange(mount_, nullptr)->unpin(index_);
  raw_size_ = 0;
  key_ = {};
  bytes_ = {};
  in_place_ = trusted_ = false;
}

Result<ResourceShape> ResourceMounts::shape(const ResourceLocation& location) const {
  const Mount* const mount = live(location.mount);
  if (mount == nullptr || location.index >= mount->entries) {
    return Status{StatusCode::not_found, "the resource's mount is gone; detail = slot", location.mount.slot,
                  location.key.name};
  }
  if (mount->kind != MountKind::pack) return ResourceShape{.kind = mount->kind};
  const PackEntry& entry = mount->pack.entries()[location.index];
  return ResourceShape{.kind = mount->kind, .is_in_place = entry.is_stored(), .raw_size = entry.raw_size};
}

Result<PinnedResource> ResourceMounts::pin(const ResourceLocation& location) const {
  Mount* const mount = live(location.mount);
  if (mount == nullptr || location.index >= mount->entries) {
    return Status{StatusCode::not_found, "the resource's mount is gone; detail = slot", location.mount.slot,
                  location.key.name};
  }
  PinnedResource pin;
  pin.mount_ = mount;
  pin.index_ = location.index;
  pin.key_ = mount->key_at(location.index);
  mount->pins.fetch_add(1, std::memory_order_relaxed);
  std::atomic<uint32_t>& word = mount->words[location.index];
  const uint32_t before = word.fetch_add(1, std::memory_order_relaxed);
  if (mount->kind == MountKind::folder) {
    const Result<size_t> size = loose_size(mount->folder.path_of(mount->folder.files.data[pin.index_]), pin.key_.name);
    if (!size.ok()) return size.status();
    pin.raw_size_ = static_cast<uint32_t>(size.value());
    return pin;
  }
  if (mount->kind == MountKind::source) return pin;
  const PackEntry& entry = mount->pack.entries()[pin.index_];
  pin.raw_size_ = entry.raw_size;
  pin.trusted_ = mount->pack.trusted();
  if (!entry.is_stored()) return pin;
  if (mount->check == PackCheck::at_first_use && (before & detail::kEntryChecked) == 0) {
    if (const Status status = mount->pack.check_stored(entry); !status.ok()) return status;
    word.fetch_or(detail::kEntryChecked, std::memory_order_relaxed);
  }
  pin.bytes_ = mount->pack.stored_bytes(entry);
  pin.in_place_ = true;
  return pin;
}

// ---- bytes

Status ResourceMounts::read(const PinnedResource& pin, std::span<std::byte> to) const {
  MERIDIAN_ASSERT(pin.mount_ != nullptr, "a resource is pinned before it is read");
  if (pin.mount_ == nullptr) return {StatusCode::not_found, "nothing is pinned"};
  const Mount& mount = *pin.mount_;
  if (mount.kind == MountKind::source) {
    return {StatusCode::bad_value, "a source's resource has no size before load()", 0, pin.key_.name};
  }
  if (to.size() < pin.raw_size_) {
    return {StatusCode::too_small, "memory is smaller than the resource; detail = its raw size", pin.raw_size_,
            pin.key_.name};
  }
  to = to.first(pin.raw_size_);
  if (mount.kind == MountKind::folder) {
    return read_loose(mount.folder.path_of(mount.folder.files.data[pin.index_]), to, pin.key_.name);
  }
  if (!pin.in_place_) return decompressor_->read(mount.pack, mount.pack.entries()[pin.index_], to);
  if (!to.empty()) std::memcpy(to.data(), pin.bytes_.data(), to.size());
  return {};
}

Result<std::span<std::byte>> ResourceMounts::load(const PinnedResource& pin, Allocator& memory) const {
  MERIDIAN_ASSERT(pin.mount_ != nullptr, "a resource is pinned before it is loaded");
  if (pin.mount_ == nullptr) return Status{StatusCode::not_found, "nothing is pinned"};
  std::span<std::byte> out;
  if (pin.mount_->kind == MountKind::source) {
    if (const Status status = pin.mount_->source->load(pin.key_, memory, out); !status.ok()) return status;
    return out;
  }
  void* const block = memory.allocate(pin.raw_size_, kPackAlignment);
  if (block == nullptr) {
    return Status{StatusCode::out_of_memory, "no memory for a resource; detail = its size", pin.raw_size_,
                  pin.key_.name};
  }
  out = {static_cast<std::byte*>(block), pin.raw_size_};
  if (const Status status = read(pin, out); !status.ok()) {
    memory.deallocate(block, pin.raw_size_, kPackAlignment);
    return status;
  }
  return out;
}

// ---- look-ups

Mount* ResourceMounts::live(MountId id) const {
  if (!id || id.slot >= capacity_) return nullptr;
  Mount& mount = mounts_[id.slot];
  return mount.used && mount.generation == id.generation ? &mount : nullptr;
}

MountId ResourceMounts::at(uint32_t position) const {
  MERIDIAN_ASSERT(position < count_, "a position below the number of mounts");
  if (position >= count_) return {};
  return {mounts_[order_[position]].generation, order_[position]};
}

Result<MountInfo> ResourceMounts::info(MountId id) const {
  const Mount* const mount = live(id);
  if (mount == nullptr) return Status{StatusCode::not_found, "no such mount; detail = slot", id.slot};
  return MountInfo{.kind = mount->kind,
                   .path = mount->path == nullptr ? std::string_view() : mount->path,
                   .entries = mount->entries,
                   .pins = mount->pins.load(std::memory_order_relaxed),
                   .pack = mount->kind == MountKind::pack ? &mount->pack : nullptr};
}

PackKey ResourceMounts::key_at(MountId id, uint32_t index) const {
  const Mount* const mount = live(id);
  MERIDIAN_ASSERT(mount != nullptr && index < mount->entries, "an entry of a mount");
  return mount == nullptr || index >= mount->entries ? PackKey() : mount->key_at(index);
}

ResourceLocation ResourceMounts::locate(uint32_t slot, PackKey key) const {
  const int64_t index = index_of(mounts_[slot], key);
  if (index < 0) return {};
  return {{mounts_[slot].generation, slot}, static_cast<uint32_t>(index), key};
}

ResourceLocation ResourceMounts::find(uint32_t kind, NameHash name) const {
  for (uint32_t position = count_; position-- > 0;) {
    if (mounts_[order_[position]].leaving) continue;
    const ResourceLocation found = locate(order_[position], {kind, name});
    if (found || takes_away(mounts_[order_[position]], {kind, name})) return found;
  }
  return {};
}

Status ResourceMounts::begin_leaving(MountId id) {
  Mount* const mount = live(id);
  if (mount == nullptr) return {StatusCode::not_found, "no such mount; detail = slot", id.slot};
  mount->leaving = true;
  return {};
}

ResourceLocation ResourceMounts::find_in(MountId id, uint32_t kind, NameHash name) const {
  return live(id) == nullptr ? ResourceLocation() : locate(id.slot, {kind, name});
}

bool ResourceMounts::removes(MountId id, uint32_t kind, NameHash name) const {
  const Mount* const mount = live(id);
  return mount != nullptr && takes_away(*mount, {kind, name});
}

void ResourceMounts::for_each_version(uint32_t kind, NameHash name,
                                      void (*visit)(void* user, const ResourceVersion& version), void* user) const {
  bool hidden = false;
  for (uint32_t position = count_; position-- > 0;) {
    if (const ResourceLocation found = locate(order_[position], {kind, name})) visit(user, {found, hidden});
    hidden = hidden || takes_away(mounts_[order_[position]], {kind, name});
  }
}

}  // namespace meridian
