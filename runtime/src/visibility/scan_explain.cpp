// SPDX-License-Identifier: MIT
// The stages of a scan for one entity and one shape, one after the other, by the functions that jobs use. Boxes around
// blocks and containers are not looked at: they let pass whatever passes alone.
#include "meridian/visibility/scan_explain.h"

#include <bit>
#include <cmath>

#include "base/float_mode.h"
#include "meridian/base/assert.h"
#include "meridian/visibility/occlusion_buffer.h"
#include "scene/desc_bounds.h"
#include "visibility/portal_walk.h"
#include "visibility/scan_state.h"

namespace meridian {

/// A scan that was joined.
class ScanExplainer {
 public:
  /// Null: there is none, or no such shape.
  static ScanState* state_of(const Scan& scan, uint32_t shape) {
    if (scan.is_started() || scan.state_ == nullptr) return nullptr;
    ScanState* const state = scan.state_;
    return state->epoch != 0 && !state->has_frame && shape < state->shape_count ? state : nullptr;
  }
};

namespace {

/// Whether something is described there, be it as what is never visible.
bool is_somebody(const SceneGraph& graph, SceneSlot at) {
  const std::span<const ContainerView> views = graph.containers().views;
  if (at.container >= views.size()) return false;
  const ContainerView& view = views[at.container];
  if ((view.flags & kContainerUsed) == 0 || at.slot >= view.slots) return false;
  return graph.is_used(at) || (view.handles == nullptr && desc_lanes(view).entity[at.slot] != kNoEntity);
}

class Stages {
 public:
  Stages(ScanState& state, uint32_t index, SceneSlot at, const OccluderSet* occluders)
      : state_(state),
        in_(state.input),
        index_(index),
        shape_(state.shapes[index]),
        bit_(1u << shape_.phase),
        is_streaming_((shape_.flags & kCullOnlyStreamEntities) != 0),
        at_(at),
        occluders_(occluders) {}

  VisibilityReason run() {
    out_.phase = shape_.phase;
    if (stands_in_world() && is_node_seen() && look_at_entity()) {
      out_.cause = is_streaming_ ? VisibilityCause::asked_for : VisibilityCause::visible;
      out_.is_visible = !is_streaming_;
    }
    return out_;
  }

 private:
  bool has(uint32_t flags) const { return (shape_.flags & flags) != 0; }
  bool stop(VisibilityCause cause) {
    out_.cause = cause;
    return false;
  }
  bool stop(VisibilityCause cause, uint32_t index) {
    out_.index = index;
    return stop(cause);
  }
  uint32_t phases(uint32_t node) const { return state_.sight.phases[node]; }

  bool stands_in_world() {
    if (!is_somebody(*state_.graph, at_)) return stop(VisibilityCause::not_in_world);
    view_ = in_.containers->views[at_.container];
    out_.entity = entity_in(view_, at_.slot);
    out_.node = view_.node;
    if ((view_.flags & kContainerInWorld) == 0) return stop(VisibilityCause::not_in_world);
    const SceneCapacities& capacities = state_.graph->capacities();
    is_straddling_ = (view_.flags & kContainerStraddling) != 0;
    is_inside_ = view_.node > capacities.streamed_nodes + capacities.interior_nodes;
    sees_primary_ = is_straddling_ ? in_.primary_bit != 0 : (phases(view_.node) & in_.primary_bit) != 0;
    return true;
  }

  bool is_node_seen() {
    if (has(kCullOnlyIfPrimaryRenders) && !sees_primary_) return stop(VisibilityCause::only_if_primary_renders);
    const bool is_stopped = has(kCullHeightMap) && !state_.results.exterior_visible;
    if (is_straddling_) return !is_stopped || stop(VisibilityCause::exterior_not_in_picture);
    if (!is_inside_ && !has(kCullRenderExterior)) return stop(VisibilityCause::exterior_not_asked_for);
    const uint32_t node = is_inside_ ? view_.node : 0;
    if ((phases(node) & bit_) != 0) return true;
    out_.node = static_cast<uint16_t>(node);
    if (is_inside_ && !has(kCullRenderInterior)) return stop(VisibilityCause::interior_not_asked_for);
    if (is_stopped) return stop(VisibilityCause::exterior_not_in_picture);
    explain_portals(node);
    return stop(VisibilityCause::node_not_seen);
  }

  void explain_portals(uint32_t node) {
    PortalTable& table = state_.table;
    table.update(*state_.graph);
    uint16_t targets[2] = {kOutsideRoom, kOutsideRoom};
    uint32_t count = 1;
    const SceneNode* const at = state_.graph->node_at(node);
    if (at == nullptr) return;
    if (at->type() == NodeType::room) {
      targets[0] = table.room_of(*static_cast<const RoomNode*>(at));
    } else if (at->type() == NodeType::portal) {
      for (const TablePortal& portal : table.portals()) {
        if (portal.node != node) continue;
        targets[0] = portal.rooms[0];
        targets[1] = portal.rooms[1];
        count = 2;
      }
    }
    const PortalWalkInput walk{state_.graph, &table, state_.frame.closed_interiors, state_.portal_depth};
    ScanResults unused;
    PortalWalk again(walk, {state_.shapes, state_.shape_count}, index_, state_.sight, unused);
    const PortalBlock block = again.block_before({targets, count});
    out_.portal_stop = block.stop;
    out_.seen_node = table.rooms()[block.seen_room].node;
    out_.portal = block.portal == kNoTableIndex ? 0 : table.portals()[block.portal].node;
    out_.portals_apart = block.portals;
  }

  bool look_at_entity() {
    lanes_ = desc_lanes(view_);
    type_level_ = lanes_.type_level[at_.slot];
    out_.type = type_of(type_level_);
    out_.level = level_of(type_level_);
    ready_ = is_inside_ || is_straddling_ ? ready_in_room(state_, index_, is_straddling_ ? 0 : view_.node)
                                          : state_.outside[index_];
    centre_ = {lanes_.centre_x[at_.slot], lanes_.centre_y[at_.slot], lanes_.centre_z[at_.slot]};
    half_ = {lanes_.half_x[at_.slot], lanes_.half_y[at_.slot], lanes_.half_z[at_.slot]};
    if (!is_shown()) return false;
    measure();
    if (!is_near() || (!is_streaming_ && !passes_all_windows())) return false;
    if (!is_included() || !is_in_volume() || !is_in_ranges()) return false;
    out_.is_wanted = true;
    return is_streaming_ || (has_weight() && is_open_to_view());
  }

  bool is_shown() {
    const uint16_t flags = lanes_.flags[at_.slot];
    if (lanes_.distance[at_.slot] == 0) return stop(VisibilityCause::never_visible);
    if ((flags & kDescHidden) != 0) return stop(VisibilityCause::hidden);
    if ((flags & kDescActive) == 0) return stop(VisibilityCause::off_hours);
    return true;
  }

  /// Distance, scale and reach by the LOD view that counts.
  void measure() {
    const ReadyLod& lod = is_streaming_ ? ready_.lod : in_.lod;
    const bool is_grass = out_.type == EntityClass::grass_batch;
    const bool is_child =
        (lanes_.flags[at_.slot] & kDescLodChild) != 0 && !in_.containers->links[at_.container].rows.empty();
    const bool has_level_scale = is_streaming_ || sees_primary_ || is_child;
    const float scale = has_level_scale ? lod.scales[out_.level] : lod.default_scale;
    out_.lod_distance = static_cast<float>(lanes_.distance[at_.slot]);
    out_.scale = is_grass ? scale * lod.grass_scale : scale;
    near_ = near_distance(out_.lod_distance, scale, lod.grass_scale, is_grass);
    fade_ = fade_of(out_.lod_distance, out_.level);
    const float far = near_ + fade_;
    out_.reach = is_streaming_ || sees_primary_ ? far + lod.pre_stream : far;
    const Vec3 pivot = detail::pivot_of(lanes_, at_.slot, in_.containers->links[at_.container].rows);
    squared_ = distance_squared(pivot, lod.camera);
    out_.distance = std::sqrt(squared_);
  }
  bool is_near() { return squared_ <= out_.reach * out_.reach || stop(VisibilityCause::too_far); }

  bool passes_all_windows() {
    if ((lanes_.flags[at_.slot] & kDescMaybeInCullBox) == 0) return true;
    const Aabb box{centre_ - half_, centre_ + half_};
    for (uint32_t i = 0; i < in_.windows.size(); ++i)
      if (!passes_windows(in_.windows.subspan(i, 1), box, out_.distance)) return stop(VisibilityCause::window, i);
    return true;
  }

  bool is_included() {
    const uint32_t level = 1u << out_.level;
    if ((lanes_.mask[at_.slot] & ready_.visibility) == 0) return stop(VisibilityCause::mask);
    if ((ready_.types & type_bit(out_.type)) == 0) return stop(VisibilityCause::type);
    if ((ready_.levels & level) == 0) return stop(VisibilityCause::level);
    if (((is_streaming_ ? in_.stream_filter : in_.level_filter) & level) == 0) return stop(VisibilityCause::filter);
    return true;
  }

  bool is_in_volume() {
    const ReadyBox box = ready_slot(centre_, half_, in_.lod.camera);
    if (touches(ready_, box)) return true;
    if (!has(kCullUseFrustum)) {
      const Vec3 lo{box.lo[0], box.lo[1], box.lo[2]}, hi{box.hi[0], box.hi[1], box.hi[2]};
      const Vec3 d = max(max(lo - ready_.sphere, ready_.sphere - hi), Vec3{});
      out_.outside = static_cast<float>(length(d) - std::sqrt(double{ready_.sphere_r2}));
      return stop(VisibilityCause::sphere);
    }
    uint32_t worst = 0;
    for (uint32_t i = 0; i < ready_.plane_count; ++i) {
      const Vec3& n = ready_.planes[i].normal;
      const Vec3 v{n.x >= 0 ? box.hi[0] : box.lo[0], n.y >= 0 ? box.hi[1] : box.lo[1],
                   n.z >= 0 ? box.hi[2] : box.lo[2]};
      const auto outside = static_cast<float>(-(double{dot(n, v)} + ready_.planes[i].d) / length(n));
      if (i != 0 && outside <= out_.outside) continue;
      out_.outside = outside;
      worst = i;
    }
    if (worst < shape_.plane_count) return stop(VisibilityCause::plane, worst);
    return stop(VisibilityCause::quad, worst - shape_.plane_count);
  }

  bool is_in_ranges() {
    if (!ready_.has_ranges || is_in_range(shape_, type_level_, out_.distance)) return true;
    const LodRange& range = shape_.ranges[out_.level % kLodLevels];
    if (!(out_.distance >= range.min && out_.distance <= range.max)) return stop(VisibilityCause::range);
    uint32_t cap = 0;
    while ((shape_.caps[cap].types & type_bit(out_.type)) == 0 || out_.distance <= shape_.caps[cap].distance) ++cap;
    return stop(VisibilityCause::cap, cap);
  }

  bool has_weight() {
    const ContainerLinks& links = in_.containers->links[at_.container];
    WeightCache weights;
    const SlotFate fate = slot_fate(in_, links, lanes_, at_.slot, fade_alpha(out_.distance, near_, fade_), weights);
    out_.alpha = static_cast<uint8_t>(fate.alpha);
    bool fades = true;
    if (lanes_.lod_set[at_.slot] != kNoLodSet) {
      const uint16_t flags = lanes_.flags[at_.slot], row = lanes_.lod_set[at_.slot];
      const SlotWeight own = weights.weight(in_, links, row, flags);
      fades = own.fades;
      out_.weight = static_cast<uint8_t>(own.weight);
      const LodPlace place = lod_place(links.rows, links.set_ids, row, (flags & kDescSetParent) != 0);
      const LodSetRecord* const set = in_.sets != nullptr ? in_.sets->find(place.set) : nullptr;
      if (set != nullptr) {
        out_.set = place.set;
        out_.is_set_parent = place.is_parent;
        out_.is_set_ready = set->is_ready;
        const float distance = lod_set_distance(set->pivot, in_.lod.camera);
        out_.child_alpha = static_cast<uint8_t>(child_alpha(*set, distance, in_.lod.scales[set->level]));
      }
    }
    if (fate.alpha != 0) return true;
    if (out_.weight == 0) return stop(VisibilityCause::lod_set);
    if (fades && fade_alpha(out_.distance, near_, fade_) == 0) return stop(VisibilityCause::faded);
    return stop(VisibilityCause::no_alpha);
  }

  bool is_open_to_view() {
    if (!in_.has_occlusion || is_inside_ || is_straddling_) return true;
    OcclusionSlots slots;
    slots.set(0, lanes_, at_.slot);
    slots.phases[0] = bit_;
    if (occluded_slots(in_, {state_.outside, state_.shape_count}, 1u << index_, 1, slots) == 0) return true;
    if (occluders_ != nullptr) {
      const OcclusionBuffer& picture = *in_.occlusion[shape_.occlusion_buffer];
      out_.occluder_count = occluders_over(*occluders_, picture, {centre_ - half_, centre_ + half_}, out_.occluders);
    }
    return stop(VisibilityCause::occluded);
  }

  ScanState& state_;
  const ScanInput& in_;
  const uint32_t index_;
  const CullShape& shape_;
  const uint32_t bit_;
  const bool is_streaming_;
  const SceneSlot at_;
  const OccluderSet* const occluders_;
  ContainerView view_;
  DescLanes lanes_{};
  ReadyShape ready_;
  bool is_straddling_ = false, is_inside_ = false, sees_primary_ = false;
  uint8_t type_level_ = 0;
  Vec3 centre_, half_;
  float near_ = 0, fade_ = 0, squared_ = 0;
  VisibilityReason out_;
};

}  // namespace

VisibilityReason explain_visibility(const Scan& scan, uint32_t shape, SceneSlot at, const OccluderSet* occluders) {
  ScanState* const state = ScanExplainer::state_of(scan, shape);
  MERIDIAN_ASSERT(state != nullptr, "a scan is joined before it is explained, and has that shape");
  if (state == nullptr) return {};
  const FloatMode mode;
  return Stages(*state, shape, at, occluders).run();
}

VisibilityReason explain_visibility(const Scan& scan, uint32_t shape, EntityHandle entity,
                                    const OccluderSet* occluders) {
  const SceneSlot at = scan.config().graph != nullptr ? find_slot(*scan.config().graph, entity) : SceneSlot{};
  VisibilityReason out = explain_visibility(scan, shape, at, occluders);
  out.entity = entity;
  return out;
}

SceneSlot find_slot(const SceneGraph& graph, EntityHandle entity) {
  const std::span<const ContainerView> views = graph.containers().views;
  for (uint32_t c = 0; c < views.size(); ++c)
    for (uint32_t slot = 0; slot < views[c].slots; ++slot)
      if (is_somebody(graph, {c, slot}) && entity_in(views[c], slot) == entity) return {c, slot};
  return {};
}

}  // namespace meridian
