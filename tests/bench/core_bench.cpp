// SPDX-License-Identifier: MIT
// Pools and tracked references beside what else a program could use for the same work.
#include <benchmark/benchmark.h>

#include <boost/pool/object_pool.hpp>
#include <boost/pool/pool_alloc.hpp>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <numeric>
#include <utility>
#include <vector>

#include "meridian/core/pool.h"
#include "meridian/core/tracked_ref.h"

namespace {

using namespace meridian;

constexpr uint32_t kSlots = 100'000;

/// 64 bytes that a constructor writes.
struct Element {
  explicit Element(uint64_t n) : words{n, 1, 2, 3, 4, 5, 6, 7} {}
  uint64_t words[8];
};
static_assert(sizeof(Element) == 64);

/// xorshift32: cheap, and the same for all.
struct Random {
  uint32_t state = 2463534242u;
  uint32_t operator()(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return static_cast<uint32_t>(uint64_t{state} * below >> 32);
  }
};

// Each peer makes and unmakes elements; begin() gives it room for all of them, as far as it can be told.
struct Meridian {
  Pool<Element> pool;
  Meridian() { (void)pool.init({.name = "Element", .capacity = kSlots, .size_from = PoolSizeFrom::code}); }
  Element* make(uint64_t n) { return pool.create(n); }
  void unmake(Element* e) { pool.destroy(*e); }
};
struct BoostObjectPool {
  boost::object_pool<Element> pool{kSlots};
  Element* make(uint64_t n) { return pool.construct(n); }
  void unmake(Element* e) { pool.destroy(e); }
};
/// Without its mutex, as ours.
struct BoostFastPool {
  boost::fast_pool_allocator<Element, boost::default_user_allocator_new_delete, boost::details::pool::null_mutex,
                             kSlots>
      allocator;
  Element* make(uint64_t n) { return ::new (allocator.allocate()) Element(n); }
  void unmake(Element* e) {
    e->~Element();
    allocator.deallocate(e);
  }
};
struct PmrPool {
  std::pmr::unsynchronized_pool_resource pool{{.max_blocks_per_chunk = kSlots, .largest_required_pool_block = 64}};
  Element* make(uint64_t n) { return ::new (pool.allocate(sizeof(Element), alignof(Element))) Element(n); }
  void unmake(Element* e) {
    e->~Element();
    pool.deallocate(e, sizeof(Element), alignof(Element));
  }
};
struct Malloc {
  Element* make(uint64_t n) { return new Element(n); }
  void unmake(Element* e) { delete e; }
};

/// Makes all, unmakes all in the order in which they were made. One round before, so that pages are there.
template <class Peer>
void fill_drain(benchmark::State& state, size_t count = kSlots) {
  const auto peer = std::make_unique<Peer>();
  std::vector<Element*> all(count);
  const auto round = [&] {
    for (size_t i = 0; i < count; ++i) all[i] = peer->make(i);
    benchmark::DoNotOptimize(all.data());
    for (Element* e : all) peer->unmake(e);
  };
  round();
  for (auto _ : state) round();
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * count));
}

/// 75 000 live; unmakes a random one and makes another.
template <class Peer>
void churn(benchmark::State& state) {
  const auto peer = std::make_unique<Peer>();
  std::vector<Element*> live(kSlots * 3 / 4);
  for (size_t i = 0; i < live.size(); ++i) live[i] = peer->make(i);
  Random random;
  const auto round = [&] {
    Element*& e = live[random(static_cast<uint32_t>(live.size()))];
    peer->unmake(e);
    e = peer->make(random.state);
  };
  if constexpr (!std::is_same_v<Peer, BoostObjectPool>) {
    for (uint32_t i = 0; i < 4 * kSlots; ++i) round();  // until the free ones are in no order
  }
  for (auto _ : state) round();
  state.SetItemsProcessed(state.iterations());
  for (Element* e : live) peer->unmake(e);
}

void BM_pool_fill_drain(benchmark::State& s) { fill_drain<Meridian>(s); }
void BM_boost_fast_pool_fill_drain(benchmark::State& s) { fill_drain<BoostFastPool>(s); }
void BM_pmr_fill_drain(benchmark::State& s) { fill_drain<PmrPool>(s); }
void BM_malloc_fill_drain(benchmark::State& s) { fill_drain<Malloc>(s); }
// Looks for each element's place in its list of free ones, which is quadratic: a tenth of the elements must do.
void BM_boost_object_pool_fill_drain(benchmark::State& s) { fill_drain<BoostObjectPool>(s, kSlots / 10); }

void BM_pool_churn(benchmark::State& s) { churn<Meridian>(s); }
void BM_boost_fast_pool_churn(benchmark::State& s) { churn<BoostFastPool>(s); }
void BM_pmr_churn(benchmark::State& s) { churn<PmrPool>(s); }
void BM_malloc_churn(benchmark::State& s) { churn<Malloc>(s); }
void BM_boost_object_pool_churn(benchmark::State& s) { churn<BoostObjectPool>(s); }

/// Looks up handles that are warm in the cache, in random order; one of sixteen is stale.
void BM_pool_get(benchmark::State& state) {
  Meridian peer;
  constexpr uint32_t kHandles = 256;
  std::vector<Handle<Element>> handles(kHandles);
  Random random;
  for (auto& handle : handles) handle = peer.pool.handle_of(*peer.make(1));
  for (uint32_t i = kHandles; i > 1; --i) std::swap(handles[i - 1], handles[random(i)]);
  for (uint32_t i = 0; i < kHandles; i += 16) (void)peer.pool.destroy(handles[i]);
  uint64_t sum = 0;
  for (auto _ : state) {
    for (const Handle<Element> handle : handles) {
      if (const Element* const e = peer.pool.get(handle)) sum += e->words[0];
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kHandles));
}

// --- tracked references: 1 000 to one object, a random one is let go and another takes its place -----------

constexpr uint32_t kReferences = 1000;

struct Ped : Trackable {};

/// As engines of old did it: the object has a list of who holds it, from a pool; letting go walks the list.
struct ListedPed {
  struct Holder {
    ListedPed** pointer = nullptr;
    Holder* next = nullptr;
  };
  Holder* first = nullptr;
};
struct ListedRefs {
  Pool<ListedPed::Holder> holders;
  ListedRefs() { (void)holders.init({.name = "Known Refs", .capacity = kReferences, .size_from = PoolSizeFrom::code}); }
  void assign(ListedPed*& pointer, ListedPed* to) {
    if (pointer != nullptr) {
      for (ListedPed::Holder** link = &pointer->first; *link != nullptr; link = &(*link)->next) {
        ListedPed::Holder* const holder = *link;
        if (holder->pointer != &pointer) continue;
        *link = holder->next;
        holders.destroy(*holder);
        break;
      }
    }
    pointer = to;
    if (to == nullptr) return;
    ListedPed::Holder* const holder = holders.create();
    *holder = {&pointer, to->first};
    to->first = holder;
  }
};

void BM_tracked_ref(benchmark::State& state) {
  Ped ped;
  std::vector<TrackedRef<Ped>> references(kReferences, TrackedRef<Ped>(&ped));
  Random random;
  for (auto _ : state) {
    TrackedRef<Ped>& reference = references[random(kReferences)];
    reference.reset();
    reference = &ped;
    benchmark::DoNotOptimize(reference.get());
  }
  state.SetItemsProcessed(state.iterations());
}
void BM_listed_ref(benchmark::State& state) {
  ListedRefs refs;
  ListedPed ped;
  std::vector<ListedPed*> references(kReferences);
  for (ListedPed*& reference : references) refs.assign(reference, &ped);
  Random random;
  for (auto _ : state) {
    ListedPed*& reference = references[random(kReferences)];
    refs.assign(reference, nullptr);
    refs.assign(reference, &ped);
    benchmark::DoNotOptimize(reference);
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(BM_pool_fill_drain);
BENCHMARK(BM_boost_fast_pool_fill_drain);
BENCHMARK(BM_pmr_fill_drain);
BENCHMARK(BM_malloc_fill_drain);
BENCHMARK(BM_boost_object_pool_fill_drain);
BENCHMARK(BM_pool_churn);
BENCHMARK(BM_boost_fast_pool_churn);
BENCHMARK(BM_pmr_churn);
BENCHMARK(BM_malloc_churn);
BENCHMARK(BM_boost_object_pool_churn);
BENCHMARK(BM_pool_get);
BENCHMARK(BM_tracked_ref);
BENCHMARK(BM_listed_ref);

}  // namespace

BENCHMARK_MAIN();
