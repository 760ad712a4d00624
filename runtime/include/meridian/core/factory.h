// SPDX-License-Identifier: MIT
#pragma once
/// Where things of kinds come from that are known only at run time: extensions of entities, archetypes of a type file.
/// A factory makes things of one kind, in memory that it owns.
///
///   struct Part { virtual ~Part() = default; };
///   struct Wheel : Part { float radius = 0; };
///   SiloFactory<Wheel, Part> wheels;
///   Status ready = wheels.init(/*files=*/100);
///   ready = wheels.open(/*file=*/7, /*count=*/4);          // file 7 brings four wheels: one array for them
///   Part* wheel = wheels.create(7);
///   wheels.close(7);                                       // the file leaves: all four at once
///
/// PoolFactory: a bounded number for the whole world, whichever file they came from. SiloFactory: as many as the files
/// say, one contiguous array for each file, freed as a whole.
///
/// Threads: main. Memory: a pool in init(); a silo's array in open().

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>

#include "meridian/core/pool.h"

namespace meridian {

/// Makes things of one kind. A Base has a virtual destructor.
template <class Base>
class Factory {
 public:
  virtual ~Factory() = default;
  /// A new thing that belongs to the file in slot `file`, or null if there is no room for it.
  virtual Base* create(uint32_t file) = 0;
  /// Requires: made by this factory, and not destroyed yet.
  virtual void destroy(Base& thing) = 0;
  /// True if create() tells the log itself what is full.
  virtual bool says_when_full() const { return false; }
};

/// Makes T's in a pool; the file does not matter.
template <class T, class Base>
class PoolFactory final : public Factory<Base> {
 public:
  /// Errors: as Pool::init.
  Status init(const PoolConfig& config, Allocator& allocator = default_allocator()) {
    return pool_.init(config, allocator);
  }
  Base* create(uint32_t) override { return pool_.create(); }
  void destroy(Base& thing) override { pool_.destroy(static_cast<T&>(thing)); }
  bool says_when_full() const override { return true; }
  Pool<T>& pool() { return pool_; }
  const Pool<T>& pool() const { return pool_; }

 private:
  Pool<T> pool_;
};

/// Makes T's in one array for each file.
template <class T, class Base = T>
class SiloFactory final : public Factory<Base> {
 public:
  SiloFactory() = default;
  SiloFactory(const SiloFactory&) = delete;
  SiloFactory& operator=(const SiloFactory&) = delete;
  ~SiloFactory() override {
    for (uint32_t file = 0; file < files_; ++file) close(file);
    if (silos_ != nullptr) allocator_->deallocate(silos_, table_bytes(files_), alignof(Silo));
  }

  /// Makes room for the arrays of files in slots [0, files). Requires: called once (asserted; otherwise in_use).
  /// Errors: out_of_memory.
  Status init(uint32_t files, Allocator& allocator = default_allocator()) {
    MERIDIAN_ASSERT(silos_ == nullptr, "a factory is initialised once");
    if (silos_ != nullptr) return {StatusCode::in_use, "a factory is initialised once", 0};
    silos_ = static_cast<Silo*>(allocator.allocate(table_bytes(files), alignof(Silo)));
    if (silos_ == nullptr) return {StatusCode::out_of_memory, "no memory for a table of silos; detail = files", files};
    allocator_ = &allocator;
    files_ = files;
    for (uint32_t i = 0; i < files; ++i) ::new (&silos_[i]) Silo;
    by_address_ = reinterpret_cast<uint32_t*>(silos_ + files);
    return {};
  }

  /// Takes the array for the `count` things of a file.
  /// Requires: file < files, not open; count > 0. Errors: out_of_memory (detail = bytes), bad_value (no such slot).
  Status open(uint32_t file, uint32_t count) {
    MERIDIAN_ASSERT(file < files_ && silos_[file].elements == nullptr, "a silo is opened once for its file");
    MERIDIAN_ASSERT(count > 0, "a silo has room for something");
    if (file >= files_ || is_open(file)) return {StatusCode::bad_value, "no such file slot; detail = the slot", file};
    const size_t bytes = block_bytes(count);
    void* const block = allocator_->allocate(bytes, alignof(T));
    if (block == nullptr) return {StatusCode::out_of_memory, "no memory for a file's silo; detail = its bytes", bytes};
    silos_[file] = {static_cast<T*>(block), static_cast<uint8_t*>(block) + size_t{count} * sizeof(T), count, 0, 0};
    std::memset(silos_[file].alive, 0, count);
    const uint32_t place = place_of(silos_[file].elements);
    std::memmove(by_address_ + place + 1, by_address_ + place, (open_ - place) * sizeof(uint32_t));
    by_address_[place] = file;
    ++open_;
    return {};
  }
  bool is_open(uint32_t file) const { return file < files_ && silos_[file].elements != nullptr; }

  /// The next element of the file's array; null if the silo is not open, or all of it was handed out.
  Base* create(uint32_t file) override {
    if (!is_open(file) || silos_[file].made == silos_[file].capacity) return nullptr;
    Silo& silo = silos_[file];
    T* const element = ::new (static_cast<void*>(&silo.elements[silo.made])) T;
    silo.alive[silo.made++] = 1;
    ++silo.used;
    return element;
  }
  /// The place stays empty until the file leaves. A binary search over the open silos.
  void destroy(Base& thing) override {
    T* const element = &static_cast<T&>(thing);
    const uint32_t after = place_of(element);
    Silo* const silo = after == 0 ? nullptr : &silos_[by_address_[after - 1]];
    const bool is_ours = silo != nullptr && element < silo->elements + silo->made;
    MERIDIAN_ASSERT(is_ours, "the thing is of no silo of this factory");
    if (is_ours) destroy_at(*silo, static_cast<uint32_t>(element - silo->elements));
  }

  /// What was made for a file so far, in order. Elements destroyed one by one are among them: ask is_alive().
  std::span<T> elements(uint32_t file) const {
    return is_open(file) ? std::span<T>(silos_[file].elements, silos_[file].made) : std::span<T>();
  }
  bool is_alive(uint32_t file, uint32_t index) const {
    return is_open(file) && index < silos_[file].made && silos_[file].alive[index] != 0;
  }
  /// Elements of a file that live. [count]
  uint32_t used(uint32_t file) const { return is_open(file) ? silos_[file].used : 0; }

  /// Destroys what the file still has, in the order of making, and frees its array. Does nothing if it is not open.
  void close(uint32_t file) {
    if (!is_open(file)) return;
    Silo& silo = silos_[file];
    for (uint32_t i = 0; i < silo.made; ++i) {
      if (silo.alive[i] != 0) destroy_at(silo, i);
    }
    const uint32_t after = place_of(silo.elements);
    std::memmove(by_address_ + after - 1, by_address_ + after, (open_ - after) * sizeof(uint32_t));
    --open_;
    allocator_->deallocate(silo.elements, block_bytes(silo.capacity), alignof(T));
    silo = {};
  }

 private:
  struct Silo {
    T* elements = nullptr;
    uint8_t* alive = nullptr;  // behind the elements, in the same block
    uint32_t capacity = 0, made = 0, used = 0;
  };
  static size_t block_bytes(uint32_t count) { return size_t{count} * (sizeof(T) + 1); }
  static size_t table_bytes(uint32_t files) { return files * (sizeof(Silo) + sizeof(uint32_t)); }
  /// Open silos that begin at `address` or before it. [count]
  uint32_t place_of(const T* address) const {
    const auto begins_after = [this](const T* at, uint32_t file) { return at < silos_[file].elements; };
    return static_cast<uint32_t>(std::upper_bound(by_address_, by_address_ + open_, address, begins_after) -
                                 by_address_);
  }
  static void destroy_at(Silo& silo, uint32_t index) {
    MERIDIAN_ASSERT(silo.alive[index] != 0, "a thing is destroyed once");
    if (silo.alive[index] == 0) return;
    silo.alive[index] = 0;
    --silo.used;
    silo.elements[index].~T();
  }

  Silo* silos_ = nullptr;
  uint32_t* by_address_ = nullptr;  // the files of open silos, in the order of their arrays in memory
  uint32_t files_ = 0, open_ = 0;
  Allocator* allocator_ = nullptr;
};

}  // namespace meridian
