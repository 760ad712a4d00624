// SPDX-License-Identifier: MIT
#pragma once
/// A pool that begins small and grows by pages up to a limit. Elements never move. For what is mostly few and sometimes
/// many; where the number is known, Pool is smaller and faster.
///
///   struct Note { int text = 0; };
///   PagedPool<Note> notes;
///   Status ready = notes.init({.name = "Note", .capacity = 10000}, 256);   // pages of 256, at most 10000 notes
///   Note* note = notes.create();                                          // allocates once in 256 times, at first
///
/// All else is as in core/pool.h; a pool whose limit is reached, or that gets no memory for a page, is full.
/// Threads: as there. Memory: a table of pages in init(), a page when all slots are taken; pages stay until shutdown().

#include "meridian/core/pool.h"

namespace meridian {

template <class T, class Threading = OwnerThread>
class PagedPool final : public BasicPool<T, detail::PagedSlots<sizeof(T), alignof(T)>, Threading> {
 public:
  /// `config.capacity` is the limit, `page` the number of elements in a page. Allocates the table, no page yet.
  /// Requires: page is a power of two (asserted; otherwise bad_value). Errors: as Pool::init.
  Status init(const PoolConfig& config, uint32_t page, Allocator& allocator = default_allocator()) {
    MERIDIAN_ASSERT(page != 0 && (page & (page - 1)) == 0, "a page holds a power of two of elements");
    if (const Status status = this->check(config); !status.ok()) return status;
    if (page == 0 || (page & (page - 1)) != 0) {
      return {StatusCode::bad_value, "a page holds a power of two of elements; detail = that number", page,
              hash_name(config.name)};
    }
    return this->finish(config, sizeof(T),
                        this->slots_.init(config.capacity, page, this->first_generation(config), allocator), allocator);
  }
  /// Slots that have memory now. [count]
  uint32_t paged_in() const { return this->slots_.count(); }
};

}  // namespace meridian
