// SPDX-License-Identifier: MIT
#pragma once
/// Which slots of a streaming module are wanted, by where one is: each slot has a box, and what watches the world asks
/// for all whose box it touches. One update serves all that ask.
///
///   struct Maps final : BoxStreamerTarget {
///     bool is_idle(uint32_t slot) override { return slot == 0; }
///     void request(uint32_t slot, bool priority) override { std::printf("load %u, %d", slot, priority ? 1 : 0); }
///     void keep(uint32_t) override {}
///     void release(uint32_t slot) override { std::printf("%u may go", slot); }
///   } maps;
///   BoxStreamer streamer;
///   Status made = streamer.init({.capacity = 8000}, maps, default_allocator());
///   made = streamer.set_box(0, {{0, 0, 0}, {200, 200, 50}}, {{50, 50, 0}, {150, 150, 20}}, BoxAsset::map_high);
///   const StreamSource camera{.id = 1, .position = {100, 20, 2}, .velocity = {30, 0, 0}};
///   const StreamSearch volume = stream_sphere({1000, 0, 0}, 50);
///   made = streamer.update({&camera, 1}, {&volume, 1}, 1 / 60.0f);      // each frame
///
/// A slot has a *range* box, in which a watcher makes it stream, and may have a *content* box, which says how far away
/// it is. Boxes come from static trees that stand in world indices, layer upon layer: a slot that is in a later tree is
/// masked in those before, until the later one goes. Dynamic boxes replace a slot's static one while they are set.
///
/// It never unloads. It has one bit of the module's, by which a slot may not leave: request and keep set it, release
/// clears it. A slot that is no longer wanted keeps it for a while: until it is `release_margin` away from all that
/// sources and searches ask for, and for `min_residence` seconds from when it was wanted, so that turning on a border
/// loads nothing twice.
///
/// The same input gives the same calls, in the same order, whatever the vectors' width.
///
/// Threads: main.
/// Memory:  one block in init, 40 bytes a slot and what the rest of the config asks for; one block a tree, 4 bytes an
///          item, and of each place 5 bits and one for each kind of asset; none in update.
/// Source:  own; the state machine is the classic one: asked for now, asked for before.

#include <cstddef>
#include <cstdint>
#include <span>

#include "meridian/base/math.h"
#include "meridian/base/memory.h"
#include "meridian/base/status.h"
#include "meridian/core/handle.h"
#include "meridian/stream/box_tree.h"
#include "meridian/stream/stream_module.h"
#include "meridian/stream/world_index.h"

namespace meridian {

inline constexpr uint32_t kBoxAssets = 8;  ///< kinds of BoxAsset
inline constexpr uint8_t kAllBoxAssets = 0xFF;
constexpr uint8_t box_asset_bit(BoxAsset asset) { return static_cast<uint8_t>(1u << static_cast<unsigned>(asset)); }

/// The streaming module. Derive from it. What it does with the bit is its own; see the top.
/// Called from BoxStreamer::update only. It may call set_in_world meanwhile, but in is_idle, and nothing else.
class BoxStreamerTarget {
 public:
  BoxStreamerTarget() = default;
  BoxStreamerTarget(const BoxStreamerTarget&) = delete;
  BoxStreamerTarget& operator=(const BoxStreamerTarget&) = delete;
  BoxStreamerTarget(BoxStreamerTarget&&) = delete;
  BoxStreamerTarget& operator=(BoxStreamerTarget&&) = delete;
  virtual ~BoxStreamerTarget() = default;

  /// Neither loaded nor in flight.
  virtual bool is_idle(uint32_t slot) = 0;
  /// Sets the bit and loads. Again, on every update, while it is wanted and idle.
  virtual void request(uint32_t slot, bool priority) = 0;
  /// Sets the bit of what is loaded or in flight.
  virtual void keep(uint32_t slot) = 0;
  /// Clears the bit.
  virtual void release(uint32_t slot) = 0;
};

struct BoxStreamerConfig {
  uint32_t capacity = 0;             ///< slots are below it [1, 2^30] [count]
  uint32_t max_trees = 16;           ///< static trees at once [0, 1024] [count]
  uint32_t max_dynamic_boxes = 256;  ///< looked at one by one, sixteen at a time [0, 65536] [count]
  uint32_t max_sources = 8;          ///< of an update [0, 1024] [count]
  uint32_t max_searches = 32;        ///< of an update [0, 1024] [count]
  uint32_t max_pins = 16;            ///< at once [0, 1024] [count]
  /// By BoxAsset: how far beyond its radius a source asks. Maps: their range boxes say it already. [>= 0] [m]
  float pre_stream_distance[kBoxAssets] = {0, 0, 0, 0, 0, 0, 0, 50};
  /// By BoxAsset: contents so near to a source are requested with priority. [>= 0] [m]
  float priority_radius[kBoxAssets] = {60, 60, 60, 60, 60, 60, 60, 30};
  float release_margin = 20;  ///< further than asked for, before a slot is released [>= 0] [m]
  float min_residence = 2;    ///< from when a slot was wanted to when it may be released [>= 0] [s]
  float look_ahead = 2.5f;    ///< how long a source's velocity is followed [>= 0] [s]
  bool ignores_all = false;   ///< at first all slots are ignored
};

/// What watches the world: a camera, a player.
struct StreamSource {
  uint32_t id = 0;   ///< for `why`
  Vec3 position;     ///< [m]
  Vec3 velocity;     ///< looked ahead along it where that is longer than 1 m [m/s]
  float radius = 0;  ///< asks for ranges within it, and beyond it as far as the kind of asset says [>= 0] [m]
  float weight = 1;  ///< distances are divided by it: what counts double seems twice as near [> 0]
};

/// A host's question: what a script holds, a streaming volume, a line of sight. No pre-stream distance is added.
struct StreamSearch {
  BoxShape shape = BoxShape::sphere;
  uint8_t assets = kAllBoxAssets;  ///< union of box_asset_bit
  Vec3 a;                          ///< centre; a box's smallest corner; where a segment begins [m]
  Vec3 b;                          ///< a box's largest corner; where a segment ends [m]
  float radius = 0;                ///< of a sphere; what boxes are grown by on a segment [>= 0] [m]
  /// Not zero: slots whose content (range where there is none) lies wholly behind are left out; behind the plane
  /// through a sphere's or box's centre or a segment's begin. Any length.
  Vec3 view;
};
StreamSearch stream_sphere(const Vec3& centre, float radius);
StreamSearch stream_box(const Aabb& box);
StreamSearch stream_segment(const Vec3& a, const Vec3& b, float radius = 0);

/// One static tree to add. What trees point to outlives their place here; slots and assets are copied.
struct BoxTreeLayer {
  BoxTree range;                     ///< where a watcher makes an item stream
  const BoxTree* content = nullptr;  ///< boxes of the same items' contents, or null
  std::span<const uint32_t> slots;   ///< of each item, or kNoStreamSlot
  std::span<const BoxAsset> assets;  ///< of each item; empty: asset_of is called instead
  BoxAsset (*asset_of)(const void* user, uint32_t item) = nullptr;
  const void* user = nullptr;
};
using BoxTreeId = Handle<BoxTreeLayer>;

struct StreamPin;  // only names what a PinId is of
using PinId = Handle<StreamPin>;

enum class BoxReason : uint8_t {
  not_required,
  ignored,
  no_box,      ///< in no tree, or outside the last one that it is in
  source,      ///< touched by a source's sphere
  look_ahead,  ///< touched on a source's way
  search,
  pin,
  locked,
  lingering,  ///< no longer wanted, not yet released
};
/// A stable word ("look_ahead"). Threads: immutable.
const char* to_string(BoxReason reason);

/// Why a slot is wanted, or not.
struct BoxWhy {
  BoxReason reason = BoxReason::not_required;
  uint32_t id = 0;         ///< of the source; index of the search; the pin's slot
  float seconds_left = 0;  ///< of lingering; 0: for as long as something is within the margin [s]
};

struct BoxStreamerStats {
  uint32_t required = 0;   ///< slots that are wanted now [count]
  uint32_t lingering = 0;  ///< slots that will be released [count]
  uint32_t waiting = 0;    ///< of the wanted ones, those that are not in the world [count]
  uint64_t requested = 0;  ///< calls of request for what became wanted [count]
  uint64_t again = 0;      ///< calls of request for what was wanted before, and idle [count]
  uint64_t kept = 0;       ///< calls of keep [count]
  uint64_t released = 0;   ///< calls of release [count]
  uint64_t updates = 0;    ///< [count]
};

/// Called for each slot. False ends it.
using StreamSlotVisitor = bool (*)(void* user, uint32_t slot);

class BoxStreamer {
 public:
  BoxStreamer() = default;
  /// Says nothing to the target: bits that are set stay.
  ~BoxStreamer();
  BoxStreamer(const BoxStreamer&) = delete;
  BoxStreamer& operator=(const BoxStreamer&) = delete;

  /// Both outlive the streamer. Requires: not called before; before all others.
  /// Errors: bad_value for a config out of its ranges, out_of_memory; nothing is kept then.
  Status init(const BoxStreamerConfig& config, BoxStreamerTarget& target, Allocator& allocator);
  uint32_t capacity() const { return config_.capacity; }

  // --- boxes ----------------------------------------------------------------------------------------------

  /// Adds a tree on top of those that are there. Costs a pass over its items.
  /// Errors: out_of_slots beyond max_trees; out_of_memory; bad_value where a slot is beyond the capacity or named
  /// twice, an asset unknown (detail: the item), or the numbers of items differ.
  Result<BoxTreeId> add_tree(const BoxTreeLayer& layer);
  /// Slots go back to the boxes that they had below it. Requires: from add_tree, not removed before.
  void remove_tree(BoxTreeId id);
  /// Replaces the slot's box until remove_box, or the one that was set before. `content` may be inside out: none.
  /// Requires: slot < capacity(), here and below. Errors: bad_value for a range inside out or what is not finite;
  /// out_of_slots beyond max_dynamic_boxes.
  Status set_box(uint32_t slot, const Aabb& range, const Aabb& content, BoxAsset asset);
  /// Nothing if none is set.
  void remove_box(uint32_t slot);

  /// An ignored slot is never wanted, whatever asks, and counts nowhere. What was wanted is released by the next
  /// update, without delay.
  void ignore(uint32_t slot, bool is_ignored);
  bool is_ignored(uint32_t slot) const;
  /// A slot that is locked in is always wanted, also without a box.
  void lock_in(uint32_t slot, bool is_locked);
  /// What the module must tell, for is_resident and so that only what is not there is looked after.
  void set_in_world(uint32_t slot, bool is_in_world);
  bool is_in_world(uint32_t slot) const;

  // --- asking ---------------------------------------------------------------------------------------------

  /// Finds what is wanted, and tells the target what has changed: releases first, then what became wanted and what is
  /// wanted but idle, with priority first, then by distance(), then by slot. `seconds` since the last one.
  /// Errors: bad_value for what is not finite or out of its range (detail: index of the source or search), too_large
  /// beyond max_sources or max_searches; nothing changes then.
  Status update(std::span<const StreamSource> sources, std::span<const StreamSearch> searches, float seconds);

  /// Keeps an area wanted, from the next update on. Errors: bad_value for a box inside out or not finite; out_of_slots.
  Result<PinId> pin(const Aabb& box);
  /// Requires: from pin, not unpinned before.
  void unpin(PinId id);

  /// Whether all slots whose range touches the box, and that are not ignored, are in the world. Needs no update.
  /// Requires: finite, not inside out (otherwise false).
  bool is_resident(const Aabb& box) const;
  /// Those slots that are not in the world. Requires: as is_resident (otherwise none).
  void for_each_missing(const Aabb& box, StreamSlotVisitor visitor, void* user) const;

  /// Wanted slots that are not in the world, as of the last update, in no order. Until the next call that changes it.
  std::span<const uint32_t> waiting() const { return {waiting_, waiting_count_}; }
  /// Where the slot's box is, or was set. Requires: has_box.
  bool has_box(uint32_t slot) const;
  Aabb range_box(uint32_t slot) const;
  Aabb content_box(uint32_t slot) const;
  BoxAsset asset(uint32_t slot) const { return static_cast<BoxAsset>(asset_of(slot)); }

  bool is_required(uint32_t slot) const;  ///< wanted, as of the last update
  bool is_held(uint32_t slot) const;      ///< the target's bit is set: wanted or lingering
  /// To the content box, or the range box where there is none: from the nearest source of the last update, divided by
  /// the source's weight, or from the middle of a search that asks for it. 0 where it is pinned or locked in, infinite
  /// where nothing asks. [m]
  float distance(uint32_t slot) const;
  /// Within the priority radius of a source, pinned or locked in.
  bool is_near(uint32_t slot) const;
  /// As of the last update. Looks at all sources, searches and pins: for people, not for each frame.
  BoxWhy why(uint32_t slot) const;
  const BoxStreamerStats& stats() const { return stats_; }

 private:
  struct Layer;
  struct Asked;
  struct Pin;
  struct Candidate;
  struct Group {  // kinds with the same distance share a query
    uint32_t kinds = 0;
    float distance = 0;
  };

  void carve(void* block, size_t& bytes);
  bool check(uint32_t slot, bool is_change) const;

  void locate(uint32_t slot, uint32_t layer, uint32_t place, BoxAsset asset);
  void locate_static(uint32_t slot);
  void touch(uint32_t slot);
  void set_allowed(uint32_t slot);
  uint32_t slot_at(const Layer& layer, uint32_t place) const;
  uint32_t asset_of(uint32_t slot) const { return static_cast<uint32_t>(state_[slot] >> kAssetShift); }
  Layer& dynamic() const;
  Status check_layer(const BoxTreeLayer& source);

  Status check_input(std::span<const StreamSource> sources, std::span<const StreamSearch> searches,
                     float seconds) const;
  uint32_t prepare(double margin, Asked* out) const;
  bool is_behind(const Asked& asked, uint32_t slot) const;
  bool is_held_fast(uint32_t slot) const;
  void mark_pins(Layer& layer) const;
  void set_pins_stale();
  void find_wanted(Layer& layer);
  void settle(uint32_t slot, uint32_t& candidates);
  bool lingers_on(uint32_t slot, uint32_t wide_count) const;
  void release_lingering();
  void look_after_waiting(uint32_t& candidates);
  void tell(uint32_t count);
  void wait_for(uint32_t slot);
  bool is_wanted_box(uint32_t slot) const;
  bool asks_for(const Asked& asked, uint32_t slot) const;
  template <class Visit>
  void visit_touched(const Aabb& box, Visit&& visit) const;

  // State of a slot; the asset is above kAssetShift.
  static constexpr uint16_t kIgnored = 1, kLocked = 2, kInWorld = 4, kHeld = 8, kLingering = 16, kWaiting = 32,
                            kTouched = 64, kDynamic = 128, kMark = 256;
  static constexpr uint32_t kAssetShift = 12;
  static constexpr uint16_t kNoLayer = 0xFFFF;

  BoxStreamerConfig config_{};
  BoxStreamerTarget* target_ = nullptr;
  Allocator* allocator_ = nullptr;
  void* block_ = nullptr;
  size_t block_bytes_ = 0;
  BoxStreamerStats stats_{};
  double time_ = 0;
  bool is_updating_ = false, is_asking_ = false;

  // By slot.
  uint16_t* state_ = nullptr;
  uint16_t* layer_of_ = nullptr;
  uint32_t* place_of_ = nullptr;  ///< kBoxTreeNone: none
  double* since_ = nullptr;       ///< when it was wanted
  // Lists of slots, each at most once.
  uint32_t *touched_ = nullptr, *lingering_ = nullptr, *waiting_ = nullptr;
  uint32_t touched_count_ = 0, lingering_count_ = 0, waiting_count_ = 0;
  Candidate* candidates_ = nullptr;

  Layer* layers_ = nullptr;    ///< max_trees and the dynamic boxes
  uint16_t* order_ = nullptr;  ///< of trees, from the first to the last
  uint32_t tree_count_ = 0;
  float* dynamic_bounds_ = nullptr;
  Aabb* dynamic_contents_ = nullptr;
  uint32_t dynamic_count_ = 0;

  Group groups_[kBoxAssets];
  uint32_t group_count_ = 0;
  StreamSource* sources_ = nullptr;  ///< of the last update
  StreamSearch* searches_ = nullptr;
  uint32_t source_count_ = 0, search_count_ = 0;
  Asked *asked_ = nullptr, *asked_wide_ = nullptr;
  uint32_t asked_count_ = 0;
  Pin* pins_ = nullptr;
};

}  // namespace meridian
