// SPDX-License-Identifier: MIT
#pragma once
/// What a scan has to say of an entity, told in the plainest way: one entity after the other, in double precision and
/// better, without boxes around boxes. Where rounding may decide, more than one answer is right; how often it is,
/// ScanTally says.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "support/scan_views.h"

namespace meridian::test {

enum class Sure { no, maybe, yes };
inline Sure both(Sure a, Sure b) { return std::min(a, b); }
inline Sure either(Sure a, Sure b) { return std::max(a, b); }
inline Sure negated(Sure a) { return a == Sure::yes ? Sure::no : a == Sure::no ? Sure::yes : Sure::maybe; }
inline Sure sure(bool is_so) { return is_so ? Sure::yes : Sure::no; }
/// Whether a <= b, both known to within `slack`.
inline Sure at_most(double a, double b, double slack) {
  return a <= b - slack ? Sure::yes : a <= b + slack ? Sure::maybe : Sure::no;
}

/// What single precision may be wrong by in a distance that is computed from others of that size.
inline double distance_slack(double size) { return 1e-6 * size + 1e-18; }
/// How far beside a volume things may be that are taken for inside, relative to how far they reach from the camera.
inline constexpr long double kBorder = 1e-3L;

/// An alpha that is one number, as a rule.
struct AlphaSpan {
  uint32_t low = 0, high = 0;
};

struct Expected {
  uint32_t seen = 0, may_be_seen = 0;    ///< phases whose stages before the LOD weight let it pass
  uint32_t asked = 0, may_be_asked = 0;  ///< phases that only stream
  uint32_t border = 0;                   ///< phases whose volume it touches only within kBorder
  double distance = 0;
  AlphaSpan alpha;
  uint32_t flags = 0;
};

class ScanOracle {
 public:
  /// `node_phases`: which phases see each node; checked on its own.
  ScanOracle(const ScanFrame& frame, std::span<const CullShape> shapes, std::span<const uint32_t> node_phases)
      : frame_(frame), shapes_(shapes), nodes_(node_phases) {
    for (const CullShape& shape : shapes)
      if ((shape.flags & kCullPrimary) != 0) primary_ = phase_bit(shape.phase);
  }
  uint32_t primary() const { return primary_; }

  Expected expect(const ModelEntity& e) const {
    // Every shape sees what reaches through portals, the primary one too.
    return expect(e, e.is_straddling ? primary_ != 0 : (nodes_[e.node] & primary_) != 0);
  }
  Expected expect(const ModelEntity& e, bool sees_primary) const {
    Expected out;
    const EntityDesc& d = e.desc;
    const LodView& lod = frame_.lod;
    out.distance = distance(d.pivot, lod.camera);
    const bool is_child = (d.flags & kDescLodChild) != 0;
    const double scale = (sees_primary || is_child ? lod.scales[d.level] : lod.default_scale) * double{lod.zoom};
    const double near = near_of(d, scale, lod.grass_scale), fade = fade_of(d);
    const double reach = near + fade + (sees_primary ? double{lod.pre_stream} : 0.0);
    out.alpha = alpha(e, out.distance, near, fade);
    if (e.parent_of != nullptr && e.parent_of->is_there) {
      out.flags = kPvsLodParent;
    } else if (e.child_of != nullptr && e.child_of->is_there) {
      out.flags = kPvsLodChild;
    }
    if (e.is_straddling) out.flags |= kPvsInterior;
    if (!e.is_in_world || d.distance == 0 || (d.flags & kDescHidden) != 0 || (d.flags & kDescActive) == 0) return out;

    const Sure is_near = both(at_most(out.distance, reach, distance_slack(out.distance + reach)),
                              (d.flags & kDescMaybeInCullBox) == 0 ? Sure::yes : passes_windows(e, out.distance));
    for (const CullShape& shape : shapes_) {
      const uint32_t bit = phase_bit(shape.phase);
      const bool only_streams = (shape.flags & kCullOnlyStreamEntities) != 0;
      if (!e.is_straddling && (shape.flags & kCullRenderExterior) == 0) continue;
      if ((shape.flags & kCullOnlyIfPrimaryRenders) != 0 && !sees_primary) continue;
      if ((d.mask >> static_cast<unsigned>(shape.visibility) & 1) == 0) continue;
      if ((shape.types >> static_cast<unsigned>(d.type) & 1) == 0) continue;
      const uint32_t filter = only_streams ? frame_.stream_filter : frame_.level_filter;
      if ((shape.levels & filter & 1u << d.level) == 0) continue;
      const Sure inside = touches(shape, e);
      Sure passes = inside;
      if (only_streams) {
        const double own = distance(d.pivot, shape.lod.camera);
        const double own_scale = double{shape.lod.scales[d.level]} * shape.lod.zoom;
        const double own_reach = near_of(d, own_scale, shape.lod.grass_scale) + fade + shape.lod.pre_stream;
        passes = both(passes, at_most(own, own_reach, distance_slack(own + own_reach)));
        passes = both(passes, in_range(shape, d, own));
      } else {
        passes = both(passes, both(is_near, in_range(shape, d, out.distance)));
      }
      if (passes == Sure::no) continue;
      (only_streams ? out.may_be_asked : out.may_be_seen) |= bit;
      if (passes == Sure::yes) (only_streams ? out.asked : out.seen) |= bit;
      if (inside == Sure::maybe) out.border |= bit;
    }
    return out;
  }

  /// Whether a box touches the volume of a shape: exactly, or within kBorder.
  Sure touches(const CullShape& shape, const ModelEntity& e) const {
    const bool inside = e.is_straddling && (shape.flags & kCullReflections) != 0 && shape.interior_radius > 0;
    return touches(shape, e.box_min, e.box_max, inside);
  }
  Sure touches(const CullShape& shape, const double* lo, const double* hi, bool inside) const {
    const Vec3& camera = frame_.lod.camera;
    const long double at[3] = {camera.x, camera.y, camera.z};
    long double reach = 0;  // how far the box goes from the camera, along all axes together
    for (int i = 0; i < 3; ++i) reach += std::max(std::fabs(lo[i] - at[i]), std::fabs(hi[i] - at[i]));
    Sure out = Sure::no;
    if ((shape.flags & kCullUseFrustum) != 0) {
      out = Sure::yes;
      for (uint32_t p = 0; p < shape.plane_count; ++p) {
        const Plane& plane = shape.planes[p];
        const long double n[3] = {plane.normal.x, plane.normal.y, plane.normal.z};
        long double farthest = plane.d, size = 0;
        for (int i = 0; i < 3; ++i) {
          farthest += std::max(n[i] * lo[i], n[i] * hi[i]);
          size += n[i] * n[i];
        }
        if (farthest >= 0) continue;
        out = both(out, sure(farthest >= -kBorder * std::sqrt(size) * reach) == Sure::yes ? Sure::maybe : Sure::no);
      }
    }
    if ((shape.flags & kCullUseSphere) != 0) {
      const Vec3& c = inside ? shape.interior_centre : shape.sphere_centre;
      const long double centre[3] = {c.x, c.y, c.z}, radius = inside ? shape.interior_radius : shape.sphere_radius;
      long double square = 0, far = 0;
      for (int i = 0; i < 3; ++i) {
        const long double away = std::max({lo[i] - centre[i], centre[i] - hi[i], 0.0L});
        square += away * away;
        far += std::fabs(centre[i] - at[i]);
      }
      const bool is_in = square <= radius * radius;
      const bool is_beside = std::sqrt(square) <= radius + kBorder * (radius + reach + far);
      out = either(out, is_in ? Sure::yes : is_beside ? Sure::maybe : Sure::no);
    }
    return out;
  }

 private:
  static double distance(const Vec3& a, const Vec3& b) {
    const double x = double{a.x} - b.x, y = double{a.y} - b.y, z = double{a.z} - b.z;
    return std::sqrt(x * x + y * y + z * z);
  }
  static double near_of(const EntityDesc& d, double scale, double grass_scale) {
    return d.distance * scale * (d.type == EntityClass::grass_batch ? grass_scale : 1.0);
  }
  /// 5 m for what has no other level and is small, else 20.
  static double fade_of(const EntityDesc& d) { return d.level == 5 && d.distance <= 20 ? 5 : 20; }

  /// How much of 255 is left, from all at `near` to nothing `fade` metres on.
  static AlphaSpan left_over(double d, double near, double fade) {
    const double slack = distance_slack(d + near + fade);
    const auto part = [&](double at) {
      return static_cast<uint32_t>(std::floor(std::clamp(255 * (near + fade - at) / fade, 0.0, 255.0)));
    };
    return {part(d + slack), part(d - slack)};
  }
  /// What the children of a set are drawn with, of 255 that their parent would be.
  AlphaSpan own_part(const ModelSet& set) const {
    if (!set.is_ready) return {};
    const double scale = double{frame_.lod.scales[set.level]} * frame_.lod.zoom;
    const AlphaSpan part = left_over(distance(set.pivot, frame_.lod.camera), set.distance * scale, 20);
    return {part.low * set.ramp / 255, part.high * set.ramp / 255};
  }
  /// What is handed down to the parent of a set.
  AlphaSpan handed_to(const ModelSet& set) const {
    return set.up != nullptr && set.up->is_there ? weight_of_children(*set.up) : AlphaSpan{255, 255};
  }
  AlphaSpan weight_of_children(const ModelSet& set) const {
    const AlphaSpan handed = handed_to(set), part = own_part(set);
    return {handed.low * part.low / 255, handed.high * part.high / 255};
  }
  AlphaSpan weight_of_parent(const ModelSet& set) const {
    const AlphaSpan handed = handed_to(set), part = own_part(set);
    return {handed.low - handed.low * part.high / 255, handed.high - handed.high * part.low / 255};
  }
  AlphaSpan alpha(const ModelEntity& e, double d, double near, double fade) const {
    AlphaSpan weight{255, 255};
    bool fades = true;
    if (e.parent_of != nullptr && e.parent_of->is_there) {
      weight = weight_of_parent(*e.parent_of);
      fades = e.child_of == nullptr || !e.child_of->is_there;
    } else if (e.child_of != nullptr && e.child_of->is_there) {
      weight = weight_of_children(*e.child_of);
      fades = false;
    }
    const AlphaSpan own = fades ? left_over(d, near, fade) : AlphaSpan{255, 255};
    const uint32_t entity = e.desc.alpha;
    return {weight.low * own.low / 255 * entity / 255, weight.high * own.high / 255 * entity / 255};
  }

  Sure passes_windows(const ModelEntity& e, double d) const {
    Sure out = Sure::yes;
    for (const CullWindow& window : frame_.windows) {
      const double lo[3] = {window.box.min.x, window.box.min.y, window.box.min.z};
      const double hi[3] = {window.box.max.x, window.box.max.y, window.box.max.z};
      Sure meets = Sure::yes;
      for (int i = 0; i < 3; ++i) {
        const double slack = distance_slack(std::fabs(e.box_min[i]) + std::fabs(e.box_max[i]));
        meets = both(meets, both(at_most(e.box_min[i], hi[i], slack), at_most(lo[i], e.box_max[i], slack)));
      }
      const Sure passes = both(at_most(window.min, d, distance_slack(d)), at_most(d, window.max, distance_slack(d)));
      out = both(out, either(negated(meets), passes));
    }
    return out;
  }
  static Sure in_range(const CullShape& shape, const EntityDesc& d, double at) {
    const double slack = distance_slack(at);
    const LodRange& range = shape.ranges[d.level];
    Sure out = range.min == 0 ? Sure::yes : at_most(range.min, at, slack);
    out = both(out, at_most(at, range.max, slack));
    for (const DistanceCap& cap : shape.caps)
      if ((cap.types >> static_cast<unsigned>(d.type) & 1) != 0) out = both(out, at_most(at, cap.distance, slack));
    return out;
  }

  const ScanFrame& frame_;
  std::span<const CullShape> shapes_;
  std::span<const uint32_t> nodes_;
  uint32_t primary_ = 0;
};

/// What was compared, so that a test can say that it was worth it.
struct ScanTally {
  uint64_t entities = 0, entries = 0;
  uint64_t seen = 0;           ///< entities times phases that see or want them
  uint64_t false_visible = 0;  ///< of those, the ones that touch the volume only nearly
  uint64_t exact_alphas = 0, loose_alphas = 0;
  uint64_t partial_alphas = 0;  ///< of the exact ones, those between 0 and 255
  uint64_t in_sets = 0, too_far = 0, drawn_nowhere = 0;
};

inline std::string text_of(const ModelEntity& e) {
  const EntityDesc& d = e.desc;
  return "entity " + std::to_string(e.handle.slot) + "/" + std::to_string(e.handle.generation) + " of node " +
         std::to_string(e.node) + ", LOD distance " + std::to_string(d.distance) + ", level " +
         std::to_string(d.level) + ", at " + std::to_string(d.centre.x) + " " + std::to_string(d.centre.y) + " " +
         std::to_string(d.centre.z);
}

/// Holds a scan that was joined against the list.
inline void compare(std::span<const ModelEntity> entities, const ScanView& view, const Scan& scan,
                    std::span<const PvsEntry> entries, ScanTally& tally) {
  const ScanOracle oracle(view.frame, view.shapes, scan.node_phases());
  std::map<std::pair<uint32_t, uint32_t>, const PvsEntry*> by_entity;
  for (const PvsEntry& entry : entries) {
    const bool is_new = by_entity.emplace(std::pair(entry.entity.generation, entry.entity.slot), &entry).second;
    EXPECT_TRUE(is_new) << "entity " << entry.entity.slot << " comes twice";
  }
  std::map<uint32_t, uint32_t> phases_due;  // by node
  std::map<uint32_t, std::pair<std::array<double, 3>, std::array<double, 3>>> around;
  for (const ModelEntity& e : entities) {
    ++tally.entities;
    const Expected want = oracle.expect(e);
    const auto found = by_entity.find({e.handle.generation, e.handle.slot});
    const PvsEntry* const entry = found != by_entity.end() ? found->second : nullptr;
    if (entry != nullptr) by_entity.erase(found);
    if (e.is_in_world && e.desc.distance != 0 && !e.is_straddling) {
      phases_due[e.node] |= want.seen | want.asked | (oracle.expect(e, true).seen & oracle.primary());
      const auto is_first = around.count(e.node) == 0;
      auto& [lo, hi] = around[e.node];
      for (size_t i = 0; i < 3; ++i) {
        lo[i] = is_first ? e.box_min[i] : std::min(lo[i], e.box_min[i]);
        hi[i] = is_first ? e.box_max[i] : std::max(hi[i], e.box_max[i]);
      }
    }
    if (entry == nullptr) {
      EXPECT_EQ(want.seen | want.asked, 0u) << text_of(e) << ": not there, at " << want.distance;
      ++tally.too_far;
      continue;
    }
    ++tally.entries;
    const uint32_t streamed = entry->stream_phases, visible = entry->visible_phases;
    EXPECT_EQ((want.seen | want.asked) & ~streamed, 0u) << text_of(e) << ": hidden though it is there";
    EXPECT_EQ(streamed & ~(want.may_be_seen | want.may_be_asked), 0u) << text_of(e) << ": far from any border";
    EXPECT_NE(streamed, 0u) << text_of(e) << ": nobody wants it";
    // Drawn by those that see it and do not only stream, if anything is left of it.
    EXPECT_EQ(visible, entry->alpha != 0 ? streamed & ~want.may_be_asked : 0u) << text_of(e);
    EXPECT_GE(entry->alpha, want.alpha.low) << text_of(e) << " at " << want.distance;
    EXPECT_LE(entry->alpha, want.alpha.high) << text_of(e) << " at " << want.distance;
    EXPECT_NEAR(double{entry->distance}, want.distance, distance_slack(want.distance)) << text_of(e);
    EXPECT_EQ(uint32_t{entry->type}, static_cast<uint32_t>(e.desc.type)) << text_of(e);
    EXPECT_EQ(uint32_t{entry->level}, uint32_t{e.desc.level}) << text_of(e);
    // SLOD4 is 6; then SLOD3 to LOD are 4 to 1, and HD 0 and ORPHANHD 5 come last.
    static constexpr uint32_t kSort[kLodLevels] = {5, 4, 3, 2, 1, 5, 0};
    EXPECT_EQ(uint32_t{entry->sort}, kSort[e.desc.level]) << text_of(e);
    EXPECT_EQ(uint32_t{entry->flags}, want.flags) << text_of(e);
    tally.seen += static_cast<uint64_t>(std::popcount(streamed));
    tally.false_visible += static_cast<uint64_t>(std::popcount(streamed & want.border));
    ++(want.alpha.low == want.alpha.high ? tally.exact_alphas : tally.loose_alphas);
    if (want.alpha.low == want.alpha.high && want.alpha.low != 0 && want.alpha.low != 255) ++tally.partial_alphas;
    if ((want.flags & (kPvsLodChild | kPvsLodParent)) != 0) ++tally.in_sets;
    if (visible == 0) ++tally.drawn_nowhere;
  }
  for (const auto& [handle, entry] : by_entity) ADD_FAILURE() << "no such entity: " << handle.second;

  // Nodes: seen where an entity of theirs is, not seen where all together touch nothing.
  const std::span<const uint32_t> nodes = scan.node_phases();
  for (uint32_t node = 0; node < nodes.size(); ++node) {
    EXPECT_EQ(phases_due[node] & ~nodes[node], 0u) << "node " << node;
    for (const CullShape& shape : view.shapes) {
      if ((nodes[node] >> shape.phase & 1) == 0) continue;
      EXPECT_NE(shape.flags & kCullRenderExterior, 0u);
      if (node == 0) continue;
      const auto at = around.find(node);
      ASSERT_NE(at, around.end()) << "node " << node << " has nothing to see";
      EXPECT_NE(oracle.touches(shape, at->second.first.data(), at->second.second.data(), false), Sure::no) << node;
    }
  }
}

}  // namespace meridian::test
