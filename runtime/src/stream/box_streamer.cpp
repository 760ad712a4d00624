// SPDX-License-Identifier: MIT
// Setting up, and which box a slot has.
#include "meridian/stream/box_streamer.h"

#include <algorithm>
#include <bit>
#include <new>

#include "meridian/base/assert.h"
#include "stream/box_streamer_state.h"

namespace meridian {
namespace {

constexpr Aabb kEmpty{{kMostFloat, kMostFloat, kMostFloat}, {-kMostFloat, -kMostFloat, -kMostFloat}};

bool is_length(float v) { return is_finite(v) && v >= 0; }

bool is_usable(const BoxStreamerConfig& c) {
  bool usable = c.capacity >= 1 && c.capacity <= 1u << 30 && c.max_trees <= 1024 && c.max_dynamic_boxes <= 65536 &&
                c.max_sources <= 1024 && c.max_searches <= 1024 && c.max_pins <= 1024 && is_length(c.release_margin) &&
                is_length(c.min_residence) && is_length(c.look_ahead);
  for (const float v : c.pre_stream_distance) usable = usable && is_length(v);
  for (const float v : c.priority_radius) usable = usable && is_length(v);
  return usable;
}

}  // namespace

BoxStreamer::~BoxStreamer() {
  if (block_ == nullptr) return;
  for (uint32_t i = 0; i < tree_count_; ++i) {
    const Layer& layer = layers_[order_[i]];
    allocator_->deallocate(layer.block, layer.block_bytes, kStreamerAlignment);
  }
  allocator_->deallocate(block_, block_bytes_, kStreamerAlignment);
}

void BoxStreamer::carve(void* block, size_t& bytes) {
  BlockCutter cutter(block);
  const BoxStreamerConfig& c = config_;
  const uint32_t nodes = (c.max_dynamic_boxes + kBoxTreeWidth - 1) / kBoxTreeWidth, words = mark_words(nodes);
  layers_ = cutter.take<Layer>(size_t{c.max_trees} + 1);
  const size_t most_asked = size_t{c.max_sources} * group_count_ * 2 + c.max_searches;
  asked_ = cutter.take<Asked>(most_asked);
  asked_wide_ = cutter.take<Asked>(most_asked);
  since_ = cutter.take<double>(c.capacity);
  uint64_t* bits[5 + kBoxAssets];
  for (uint64_t*& b : bits) b = cutter.take<uint64_t>(words);
  candidates_ = cutter.take<Candidate>(c.capacity);
  for (uint32_t** list : {&place_of_, &touched_, &lingering_, &waiting_}) *list = cutter.take<uint32_t>(c.capacity);
  uint32_t* const dynamic_slots = cutter.take<uint32_t>(c.max_dynamic_boxes);
  dynamic_bounds_ = cutter.take<float>(size_t{nodes} * kBoxTreeFloats);
  dynamic_contents_ = cutter.take<Aabb>(c.max_dynamic_boxes);
  sources_ = cutter.take<StreamSource>(c.max_sources);
  searches_ = cutter.take<StreamSearch>(c.max_searches);
  pins_ = cutter.take<Pin>(c.max_pins);
  state_ = cutter.take<uint16_t>(c.capacity);
  layer_of_ = cutter.take<uint16_t>(c.capacity);
  order_ = cutter.take<uint16_t>(c.max_trees);
  bytes = cutter.used();
  if (block == nullptr) return;
  Layer& layer = dynamic();
  layer.is_dynamic = true;
  layer.range.bounds = {dynamic_bounds_, size_t{nodes} * kBoxTreeFloats};
  layer.slots = dynamic_slots;
  layer.words = words;
  uint64_t** const named[5] = {&layer.now, &layer.scratch, &layer.current, &layer.allowed, &layer.pinned};
  for (uint32_t i = 0; i < 5; ++i) *named[i] = bits[i];
  for (uint32_t i = 0; i < kBoxAssets; ++i) layer.of_kind[i] = bits[5 + i];
  for (uint32_t i = 0; i < nodes * kBoxTreeWidth; ++i) set_lane(dynamic_bounds_, i, kEmpty);
  for (uint32_t i = 0; i < c.max_dynamic_boxes; ++i) dynamic_slots[i] = kNoStreamSlot;
}

Status BoxStreamer::init(const BoxStreamerConfig& config, BoxStreamerTarget& target, Allocator& allocator) {
  MERIDIAN_ASSERT(block_ == nullptr, "a box streamer is initialised once");
  if (block_ != nullptr) return {StatusCode::in_use, "the box streamer is initialised already"};
  if (!is_usable(config)) return {StatusCode::bad_value, "a box streamer's configuration is out of its ranges"};
  Group groups[kBoxAssets];
  uint32_t group_count = 0;
  for (uint32_t kind = 0; kind < kBoxAssets; ++kind) {
    uint32_t group = 0;
    while (group < group_count && groups[group].distance != config.pre_stream_distance[kind]) ++group;
    if (group == group_count) groups[group_count++] = {0, config.pre_stream_distance[kind]};
    groups[group].kinds |= 1u << kind;
  }
  config_ = config;
  group_count_ = group_count;
  std::copy(groups, groups + kBoxAssets, groups_);
  size_t bytes = 0;
  carve(nullptr, bytes);
  void* const block = allocator.allocate(bytes, kStreamerAlignment);
  if (block == nullptr) {
    config_ = {};
    return {StatusCode::out_of_memory, "no memory for a box streamer; detail = bytes", bytes};
  }
  carve(block, bytes);
  block_ = block;
  block_bytes_ = bytes;
  target_ = &target;
  allocator_ = &allocator;
  for (uint32_t slot = 0; slot < config.capacity; ++slot) {
    layer_of_[slot] = kNoLayer;
    place_of_[slot] = kBoxTreeNone;
    state_[slot] = config.ignores_all ? kIgnored : 0;
  }
  return {};
}

BoxStreamer::Layer& BoxStreamer::dynamic() const { return layers_[config_.max_trees]; }

bool BoxStreamer::check(uint32_t slot, bool is_change) const {
  MERIDIAN_ASSERT(slot < config_.capacity, "slots are below the streamer's capacity");
  MERIDIAN_ASSERT(!is_change || !is_updating_, "a target changes no boxes during an update");
  return slot < config_.capacity && !(is_change && is_updating_);
}

// --- where a slot's box is --------------------------------------------------------------------------------

bool BoxStreamer::has_box(uint32_t slot) const { return place_of_[slot] != kBoxTreeNone; }

/// Requires: has_box(slot).
Aabb BoxStreamer::range_box(uint32_t slot) const {
  return lane_of(layers_[layer_of_[slot]].range.bounds, place_of_[slot]);
}

/// Requires: has_box(slot).
Aabb BoxStreamer::content_box(uint32_t slot) const {
  const Layer& layer = layers_[layer_of_[slot]];
  const uint32_t place = place_of_[slot];
  if (layer.is_dynamic) {
    const Aabb& content = dynamic_contents_[place];
    return meridian::is_usable(content) ? content : range_box(slot);
  }
  if (!layer.has_content) return range_box(slot);
  const uint32_t at = layer.content.places[layer.range.children[place] & ~kBoxTreeItem];
  return at != kBoxTreeNone ? lane_of(layer.content.bounds, at) : range_box(slot);
}

uint32_t BoxStreamer::slot_at(const Layer& layer, uint32_t place) const {
  return layer.slots[layer.is_dynamic ? place : layer.range.children[place] & ~kBoxTreeItem];
}

/// Has the next update look at the slot, whatever queries say.
void BoxStreamer::touch(uint32_t slot) {
  if ((state_[slot] & kTouched) != 0) return;
  state_[slot] |= kTouched;
  touched_[touched_count_++] = slot;
}

void BoxStreamer::set_allowed(uint32_t slot) {
  if (has_box(slot)) set_bit(layers_[layer_of_[slot]].allowed, place_of_[slot], (state_[slot] & kIgnored) == 0);
}

/// Gives the slot the box at that place, which no other slot has then; kBoxTreeNone: it has none, though the layer is
/// its own. The next queries say whether it is wanted there.
void BoxStreamer::locate(uint32_t slot, uint32_t layer, uint32_t place, BoxAsset asset) {
  if (has_box(slot)) {
    set_bit(layers_[layer_of_[slot]].allowed, place_of_[slot], false);
    set_bit(layers_[layer_of_[slot]].current, place_of_[slot], false);
  }
  layer_of_[slot] = static_cast<uint16_t>(layer);
  place_of_[slot] = place;
  const uint32_t flags = state_[slot] & ((1u << kAssetShift) - 1);
  state_[slot] = static_cast<uint16_t>(flags | static_cast<uint32_t>(asset) << kAssetShift);
  set_allowed(slot);
  if ((state_[slot] & kHeld) != 0) touch(slot);
}

namespace {
BoxAsset kind_at(const uint64_t* const* of_kind, uint32_t place) {
  for (uint32_t kind = 0; kind < kBoxAssets; ++kind)
    if (of_kind[kind] != nullptr && test_bit(of_kind[kind], place)) return static_cast<BoxAsset>(kind);
  return BoxAsset::map_high;  // it is nowhere, so its kind matters to nobody
}
}  // namespace

/// Gives the slot the box of the last tree that it is in; none if there is no such tree.
void BoxStreamer::locate_static(uint32_t slot) {
  for (uint32_t i = tree_count_; i-- > 0;) {
    const Layer& layer = layers_[order_[i]];
    const std::span<const uint32_t> slots(layer.slots, layer.range.item_count());
    const auto at = std::find(slots.begin(), slots.end(), slot);
    if (at == slots.end()) continue;
    const uint32_t place = layer.range.places[static_cast<size_t>(at - slots.begin())];
    locate(slot, order_[i], place,
           place != kBoxTreeNone ? kind_at(layer.of_kind, place) : static_cast<BoxAsset>(asset_of(slot)));
    return;
  }
  locate(slot, kNoLayer, kBoxTreeNone, static_cast<BoxAsset>(asset_of(slot)));
}

// --- trees ------------------------------------------------------------------------------------------------

Status BoxStreamer::check_layer(const BoxTreeLayer& source) {
  const uint32_t items = source.range.item_count();
  if (source.slots.size() != items || (source.content != nullptr && source.content->item_count() != items))
    return {StatusCode::bad_value, "a tree's ranges, contents and slots are of different numbers; detail = ranges",
            items};
  if (source.assets.size() != items && !(source.assets.empty() && source.asset_of != nullptr))
    return {StatusCode::bad_value, "a tree's assets are of another number than its ranges; detail = assets",
            source.assets.size()};
  Status status;
  uint32_t seen = 0;
  for (; seen < items && status.ok(); ++seen) {
    const BoxAsset asset = !source.assets.empty() ? source.assets[seen] : source.asset_of(source.user, seen);
    if (static_cast<uint32_t>(asset) >= kBoxAssets)
      status = {StatusCode::bad_value, "unknown kind of asset; detail = item", seen};
    const uint32_t slot = source.slots[seen];
    if (slot == kNoStreamSlot) continue;
    if (slot >= config_.capacity) {
      status = {StatusCode::bad_value, "slot beyond the streamer's capacity; detail = item", seen};
    } else if ((state_[slot] & kMark) != 0) {
      status = {StatusCode::bad_value, "slot named twice by a tree; detail = item", seen};
    } else {
      state_[slot] |= kMark;
    }
  }
  for (uint32_t i = 0; i < seen; ++i)
    if (source.slots[i] < config_.capacity) state_[source.slots[i]] &= static_cast<uint16_t>(~kMark);
  return status;
}

Result<BoxTreeId> BoxStreamer::add_tree(const BoxTreeLayer& source) {
  MERIDIAN_ASSERT(block_ != nullptr && !is_updating_, "trees are added after init and not during an update");
  if (block_ == nullptr || is_updating_) return Status{StatusCode::in_use, "the box streamer takes no trees now"};
  if (tree_count_ == config_.max_trees)
    return Status{StatusCode::out_of_slots, "too many trees; detail = max_trees", config_.max_trees};
  if (const Status status = check_layer(source); !status.ok()) return status;

  uint32_t index = 0;
  while (layers_[index].is_used) ++index;
  const uint32_t items = source.range.item_count(), words = mark_words(source.range.node_count());
  const auto kind_of = [&](uint32_t item) {
    return static_cast<uint32_t>(!source.assets.empty() ? source.assets[item] : source.asset_of(source.user, item));
  };
  uint32_t kinds = 0;
  for (uint32_t item = 0; item < items; ++item) kinds |= 1u << kind_of(item);

  const auto kind_count = static_cast<size_t>(std::popcount(kinds));
  const size_t bytes = (5 + kind_count) * words * sizeof(uint64_t) + items * sizeof(uint32_t);
  void* const block = allocator_->allocate(bytes, kStreamerAlignment);
  if (block == nullptr) return Status{StatusCode::out_of_memory, "no memory for a tree; detail = bytes", bytes};
  BlockCutter cutter(block);
  const uint32_t generation = layers_[index].generation + 1;
  Layer& layer = layers_[index] = Layer{};
  layer.generation = generation;
  layer.range = source.range;
  layer.has_content = source.content != nullptr;
  if (layer.has_content) layer.content = *source.content;
  layer.is_used = true;
  layer.words = words;
  layer.kinds = kinds;
  layer.block = block;
  layer.block_bytes = bytes;
  for (uint64_t** bits : {&layer.now, &layer.scratch, &layer.current, &layer.allowed, &layer.pinned})
    *bits = cutter.take<uint64_t>(words);
  for (uint32_t kind = 0; kind < kBoxAssets; ++kind)
    if ((kinds >> kind & 1) != 0) layer.of_kind[kind] = cutter.take<uint64_t>(words);
  layer.slots = cutter.take<uint32_t>(items);
  order_[tree_count_++] = static_cast<uint16_t>(index);

  for (uint32_t item = 0; item < items; ++item) {
    const uint32_t slot = layer.slots[item] = source.slots[item], place = layer.range.places[item];
    const uint32_t kind = kind_of(item);
    if (place != kBoxTreeNone) set_bit(layer.of_kind[kind], place, true);
    if (slot != kNoStreamSlot && (state_[slot] & kDynamic) == 0)
      locate(slot, index, place, static_cast<BoxAsset>(kind));
  }
  return BoxTreeId{.generation = generation, .slot = index};
}

void BoxStreamer::remove_tree(BoxTreeId id) {
  const bool is_there = block_ != nullptr && id.slot < config_.max_trees && layers_[id.slot].is_used &&
                        layers_[id.slot].generation == id.generation;
  MERIDIAN_ASSERT(is_there && !is_updating_, "a tree is removed once, and not during an update");
  if (!is_there || is_updating_) return;
  Layer& layer = layers_[id.slot];
  uint16_t* const end = std::remove(order_, order_ + tree_count_, static_cast<uint16_t>(id.slot));
  tree_count_ = static_cast<uint32_t>(end - order_);

  // All at once, from the last tree down: by slot it would be a search in each tree.
  const std::span<const uint32_t> slots(layer.slots, layer.range.item_count());
  uint32_t orphans = 0;
  for (const uint32_t slot : slots) {
    if (slot == kNoStreamSlot || layer_of_[slot] != id.slot) continue;
    locate(slot, kNoLayer, kBoxTreeNone, static_cast<BoxAsset>(asset_of(slot)));
    state_[slot] |= kMark;
    ++orphans;
  }
  for (uint32_t i = tree_count_; i-- > 0 && orphans != 0;) {
    const Layer& below = layers_[order_[i]];
    for (uint32_t item = 0; item < below.range.item_count(); ++item) {
      const uint32_t slot = below.slots[item];
      if (slot == kNoStreamSlot || (state_[slot] & kMark) == 0) continue;
      state_[slot] &= static_cast<uint16_t>(~kMark);
      --orphans;
      const uint32_t place = below.range.places[item];
      locate(slot, order_[i], place,
             place != kBoxTreeNone ? kind_at(below.of_kind, place) : static_cast<BoxAsset>(asset_of(slot)));
    }
  }
  for (const uint32_t slot : slots)
    if (slot != kNoStreamSlot) state_[slot] &= static_cast<uint16_t>(~kMark);
  allocator_->deallocate(layer.block, layer.block_bytes, kStreamerAlignment);
  const uint32_t generation = layer.generation;
  layer = Layer{};
  layer.generation = generation;
}

// --- dynamic boxes ----------------------------------------------------------------------------------------

Status BoxStreamer::set_box(uint32_t slot, const Aabb& range, const Aabb& content, BoxAsset asset) {
  if (!check(slot, true)) return {StatusCode::bad_value, "slot beyond the streamer's capacity; detail = slot", slot};
  if (!meridian::is_usable(range) || !is_finite(content.min) || !is_finite(content.max) ||
      static_cast<uint32_t>(asset) >= kBoxAssets)
    return {StatusCode::bad_value, "a slot's box is inside out or not finite; detail = slot", slot};
  Layer& layer = dynamic();
  const bool is_moved = (state_[slot] & kDynamic) != 0;
  uint32_t place = place_of_[slot];
  if (!is_moved) {
    if (dynamic_count_ == config_.max_dynamic_boxes)
      return {StatusCode::out_of_slots, "too many dynamic boxes; detail = max_dynamic_boxes",
              config_.max_dynamic_boxes};
    place = static_cast<uint32_t>(std::find(layer.slots, layer.slots + config_.max_dynamic_boxes, kNoStreamSlot) -
                                  layer.slots);
    layer.slots[place] = slot;
    ++dynamic_count_;
    layer.kinds = kAllBoxAssets;
    state_[slot] |= kDynamic;
  }
  set_lane(dynamic_bounds_, place, range);
  dynamic_contents_[place] = content;
  for (uint32_t kind = 0; kind < kBoxAssets; ++kind)
    set_bit(layer.of_kind[kind], place, kind == static_cast<uint32_t>(asset));
  layer.is_pinned_stale = true;
  // A box that has only moved stays what it was until queries say otherwise.
  const bool was_current = is_moved && test_bit(layer.current, place);
  locate(slot, config_.max_trees, place, asset);
  set_bit(layer.current, place, was_current);
  return {};
}

void BoxStreamer::remove_box(uint32_t slot) {
  if (!check(slot, true) || (state_[slot] & kDynamic) == 0) return;
  Layer& layer = dynamic();
  const uint32_t place = place_of_[slot];
  state_[slot] &= static_cast<uint16_t>(~kDynamic);
  locate_static(slot);
  layer.slots[place] = kNoStreamSlot;
  set_lane(dynamic_bounds_, place, kEmpty);
  for (uint64_t* bits : layer.of_kind) set_bit(bits, place, false);
  layer.is_pinned_stale = true;
  if (--dynamic_count_ == 0) layer.kinds = 0;
}

// --- state of slots ---------------------------------------------------------------------------------------

namespace {
uint16_t with(uint16_t state, uint16_t flag, bool value) {
  return static_cast<uint16_t>(value ? state | flag : state & ~flag);
}
}  // namespace

void BoxStreamer::ignore(uint32_t slot, bool is_ignored) {
  if (!check(slot, true)) return;
  state_[slot] = with(state_[slot], kIgnored, is_ignored);
  set_allowed(slot);
  touch(slot);
}

bool BoxStreamer::is_ignored(uint32_t slot) const { return check(slot, false) && (state_[slot] & kIgnored) != 0; }

void BoxStreamer::lock_in(uint32_t slot, bool is_locked) {
  if (!check(slot, true)) return;
  state_[slot] = with(state_[slot], kLocked, is_locked);
  touch(slot);
}

void BoxStreamer::set_in_world(uint32_t slot, bool is_in_world) {
  MERIDIAN_ASSERT(!is_asking_, "is_idle only answers");
  if (!check(slot, false) || is_asking_) return;
  state_[slot] = with(state_[slot], kInWorld, is_in_world);
  if (!is_in_world && is_required(slot)) wait_for(slot);
}

bool BoxStreamer::is_in_world(uint32_t slot) const { return check(slot, false) && (state_[slot] & kInWorld) != 0; }

}  // namespace meridian
