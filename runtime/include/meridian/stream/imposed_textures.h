// SPDX-License-Identifier: MIT
#pragma once
/// Textures that are put into a dictionary from outside, such as the picture of a crew or of a streamed advertisement.
/// They come before those of the dictionary, and stay whose they are.
///
///   struct Texture { int width = 0; };
///   Texture picture;
///   ImposedTextures<Texture> imposed;
///   Status done = imposed.init(64, allocator);                       // dictionaries that have some at once
///   done = imposed.impose(17, hash_name("poster"), picture);         // slot 17 of the texture dictionaries
///   const Texture* shown = imposed.find(17, hash_name("poster"));    // null: look into the dictionary
///   imposed.clear(17);                                               // before the picture goes
///
/// Threads: main; readers while nobody changes them.
/// Memory:  136 bytes for each list, in init().

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "meridian/base/assert.h"
#include "meridian/base/memory.h"
#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"

namespace meridian {

/// In one dictionary. [count]
inline constexpr uint32_t kMaxImposedTextures = 8;

template <class Texture>
class ImposedTextures {
 public:
  struct Entry {
    NameHash name{};
    Texture* texture = nullptr;
  };

  ImposedTextures() = default;
  ~ImposedTextures() {
    if (lists_ != nullptr) allocator_->deallocate(lists_, size_t{capacity_} * sizeof(List), alignof(List));
  }
  ImposedTextures(const ImposedTextures&) = delete;
  ImposedTextures& operator=(const ImposedTextures&) = delete;

  /// For so many dictionaries at once. Look-ups walk them, so it is tens, not thousands.
  /// Requires: called once. Errors: out_of_memory.
  Status init(uint32_t lists, Allocator& allocator) {
    MERIDIAN_ASSERT(lists_ == nullptr, "initialised once");
    if (lists_ != nullptr) return {StatusCode::in_use, "imposed textures are initialised"};
    void* const block = allocator.allocate(size_t{lists} * sizeof(List), alignof(List));
    if (block == nullptr) return {StatusCode::out_of_memory, "no memory for imposed textures; detail = lists", lists};
    lists_ = static_cast<List*>(block);
    for (uint32_t i = 0; i < lists; ++i) new (&lists_[i]) List;
    allocator_ = &allocator;
    capacity_ = lists;
    return {};
  }
  uint32_t capacity() const { return capacity_; }
  /// Dictionaries that have some now. [count]
  uint32_t used() const { return used_; }

  /// Shows `texture` under this name in the dictionary; replaces one that was imposed under the same name.
  /// Requires: the texture lives until it is taken out.
  /// Errors: too_large (the dictionary has kMaxImposedTextures), out_of_slots (no list is free; detail = capacity).
  Status impose(uint32_t dictionary, NameHash name, Texture& texture) {
    List* list = list_of(dictionary);
    if (list == nullptr) {
      if (used_ == capacity_) {
        return {StatusCode::out_of_slots, "too many dictionaries with imposed textures; detail = most", capacity_,
                name};
      }
      list = &lists_[used_++];
      *list = {.dictionary = dictionary};
    }
    for (uint32_t i = 0; i < list->count; ++i) {
      if (list->entries[i].name != name) continue;
      list->entries[i].texture = &texture;
      return {};
    }
    if (list->count == kMaxImposedTextures) {
      return {StatusCode::too_large, "too many imposed textures in a dictionary; detail = its slot", dictionary, name};
    }
    list->entries[list->count++] = {name, &texture};
    return {};
  }
  /// Takes one out, the others keep their order. False if there is none of that name.
  bool remove(uint32_t dictionary, NameHash name) {
    List* const list = list_of(dictionary);
    if (list == nullptr) return false;
    uint32_t at = 0;
    while (at < list->count && list->entries[at].name != name) ++at;
    if (at == list->count) return false;
    for (--list->count; at < list->count; ++at) list->entries[at] = list->entries[at + 1];
    if (list->count == 0) free_list(*list);
    return true;
  }
  /// Takes all of a dictionary out, as when its slot is freed.
  void clear(uint32_t dictionary) {
    if (List* const list = list_of(dictionary)) free_list(*list);
  }
  /// Takes a texture out wherever it is, as before it goes. Gives from how many places.
  uint32_t forget(const Texture& texture) {
    uint32_t places = 0;
    for (uint32_t l = used_; l-- > 0;) {  // from the last: freeing moves the last list into the gap
      List& list = lists_[l];
      uint32_t kept = 0;
      for (uint32_t i = 0; i < list.count; ++i) {
        if (list.entries[i].texture != &texture) list.entries[kept++] = list.entries[i];
      }
      places += list.count - kept;
      list.count = kept;
      if (kept == 0) free_list(list);
    }
    return places;
  }

  /// Null if none is imposed under that name.
  Texture* find(uint32_t dictionary, NameHash name) const {
    for (const Entry& entry : entries(dictionary)) {
      if (entry.name == name) return entry.texture;
    }
    return nullptr;
  }
  /// In the order in which they came; until the next change.
  std::span<const Entry> entries(uint32_t dictionary) const {
    const List* const list = list_of(dictionary);
    return list != nullptr ? std::span<const Entry>(list->entries, list->count) : std::span<const Entry>();
  }

 private:
  struct List {
    uint32_t dictionary = 0;
    uint32_t count = 0;
    Entry entries[kMaxImposedTextures] = {};
  };
  List* list_of(uint32_t dictionary) const {
    for (uint32_t i = 0; i < used_; ++i) {
      if (lists_[i].dictionary == dictionary) return &lists_[i];
    }
    return nullptr;
  }
  void free_list(List& list) { list = lists_[--used_]; }

  Allocator* allocator_ = nullptr;
  List* lists_ = nullptr;  // those in use come first
  uint32_t capacity_ = 0, used_ = 0;
};

}  // namespace meridian
