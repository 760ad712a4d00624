// SPDX-License-Identifier: MIT
#include "meridian/core/pool_base.h"

namespace meridian {

void PoolBase::register_pool(const PoolConfig& config, uint32_t element_bytes, Allocator& allocator) {
  config_ = config;
  element_bytes_ = element_bytes;
  allocator_ = &allocator;
  queued_ = watch_ = slots_ready_ = retired_ = peak_ = 0;
  denied_ = bytes_ = 0;
  said_full_ = false;
  detach();
  attach(config.tracker != nullptr ? *config.tracker : default_memory_tracker());
}

void PoolBase::count_slots(uint32_t slots, uint32_t queued, uint64_t bytes) {
  store(slots_ready_, slots);
  store(queued_, queued);
  store(bytes_, bytes);
  watch_ = slots_ready_ - retired_ - peak_;
}

void PoolBase::count_peak() {
  const uint32_t now = used();
  const uint32_t before = peak_;
  if (now > before) store(peak_, now);
  watch_ = slots_ready_ - retired_ - peak_;
  const bool enters = before < config_.red_zone && peak_ >= config_.red_zone;
  if (enters && config_.on_red_zone != nullptr) config_.on_red_zone(config_.user, *this);
}

void PoolBase::count_from_now() {
  store(peak_, used());
  store(denied_, uint64_t{0});
  store(said_full_, false);
  watch_ = slots_ready_ - retired_ - peak_;
}

void PoolBase::report_full() {
  __atomic_fetch_add(&denied_, 1, __ATOMIC_RELAXED);
  if (__atomic_exchange_n(&said_full_, true, __ATOMIC_RELAXED)) return;
  if (config_.size_from == PoolSizeFrom::game_config) {
    log_message(LogLevel::warning, name_hash(), "%s pool full (capacity %u): raise PoolSize '%s' in gameconfig",
                config_.name, config_.capacity, config_.name);
  } else {
    log_message(LogLevel::warning, name_hash(), "%s pool full (capacity %u): its size is fixed in code", config_.name,
                config_.capacity);
  }
}

MemoryRow PoolBase::row() const {
  const uint64_t bytes = __atomic_load_n(&bytes_, __ATOMIC_RELAXED);
  return {.name = config_.name,
          .within = allocator_ != nullptr ? allocator_->memory_class() : nullptr,
          .kind = MemoryKind::pool,
          .element_bytes = element_bytes_,
          .capacity = config_.capacity,
          .used = used(),
          .peak = peak(),
          .bytes = bytes,
          .peak_bytes = bytes};  // pools keep what they took
}

}  // namespace meridian
