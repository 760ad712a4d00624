// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstring>
#include <iterator>

#include "meridian/base/assert.h"
#include "meridian/visibility/scan_explain.h"

namespace meridian {
namespace {

using Cause = VisibilityCause;

const char* level_name(uint32_t level) {
  static constexpr const char* kNames[kLodLevels] = {"HD", "LOD", "SLOD1", "SLOD2", "SLOD3", "ORPHANHD", "SLOD4"};
  return level < kLodLevels ? kNames[level] : "?";
}

const char* stop_text(PortalStop stop) {
  switch (stop) {
    case PortalStop::none:
    case PortalStop::no_way:
      return "no portals lead there from what is seen";
    case PortalStop::no_traversal:
      return "the shape looks through no portals";
    case PortalStop::one_way:
      return "nothing is seen through it from this side";
    case PortalStop::shut:
      return "it is shut or off";
    case PortalStop::room_off:
      return "the room behind it is off";
    case PortalStop::interior_closed:
      return "its interior is closed to views from outside";
    case PortalStop::no_entrance:
      return "no entrance of its interior is in the volume";
    case PortalStop::wrong_side:
      return "the camera is on its other side";
    case PortalStop::volume:
      return "it is outside of the volume";
    case PortalStop::rectangle:
      return "it is beside what is seen of the room before it";
    case PortalStop::depth:
      return "too many portals lie before it";
  }
  return "?";
}

/// Writes at the end of what is there.
class Line {
 public:
  explicit Line(std::span<char> text) : text_(text) { text_[0] = 0; }
  void add(const char* text) { add("%s", text); }
  template <class... Values>
  requires(sizeof...(Values) > 0) void add(const char* format, const Values&... values) {
    if (used_ + 1 >= text_.size()) return;
    const int length = std::snprintf(text_.data() + used_, text_.size() - used_, format, values...);
    if (length > 0) used_ += static_cast<size_t>(length);
    if (used_ >= text_.size()) used_ = text_.size() - 1;
  }

 private:
  std::span<char> text_;
  size_t used_ = 0;
};

void add_distance(Line& line, const VisibilityReason& why) {
  line.add("%.1f m away, %s up to %.1f m (%s, %.0f m x %g)", double{why.distance},
           why.cause == Cause::asked_for ? "asked for" : "seen", double{why.reach}, level_name(why.level),
           double{why.lod_distance}, double{why.scale});
}

void add_portals(Line& line, const VisibilityReason& why) {
  const unsigned node = why.node, seen = why.seen_node, portal = why.portal, apart = why.portals_apart;
  line.add("node %u is not seen: ", node);
  if (why.portal == 0) return line.add("%s", stop_text(why.portal_stop));
  line.add("%u portal%s away, from node %u, portal %u stops it: %s", apart, apart == 1 ? "" : "s", seen, portal,
           stop_text(why.portal_stop));
}

void add_set(Line& line, const VisibilityReason& why) {
  line.add("LOD set %u ", why.set);
  if (!why.is_set_ready) return line.add("is not ready, so its parent stands for the children");
  if (why.is_set_parent) return line.add("shows its children instead (%u of 255)", unsigned{why.child_alpha});
  line.add("shows no children from here (%u of 255 of what comes from above)", unsigned{why.child_alpha});
}

void add_occluders(Line& line, const VisibilityReason& why) {
  line.add("it is hidden");
  const uint32_t named = why.occluder_count < kExplainedOccluders ? why.occluder_count : kExplainedOccluders;
  for (uint32_t i = 0; i < named; ++i) {
    const OccluderId& id = why.occluders[i];
    line.add("%s %s %u of map %u", i == 0 ? " by" : ",", to_string(id.kind), id.index, id.imap);
  }
  if (named < why.occluder_count) line.add(" and %u more", why.occluder_count - named);
}

void add_cause(Line& line, const VisibilityReason& why) {
  static constexpr const char* kSides[] = {"left", "right", "bottom", "top"};
  switch (why.cause) {
    case Cause::visible:
      line.add("alpha %u, ", unsigned{why.alpha});
      return add_distance(line, why);
    case Cause::asked_for:
    case Cause::too_far:
      return add_distance(line, why);
    case Cause::no_scan:
      return line.add("no scan of that shape was joined");
    case Cause::not_in_world:
      return line.add("it is not in the world");
    case Cause::exterior_not_asked_for:
      return line.add("it stands outside, which the shape does not look at");
    case Cause::interior_not_asked_for:
      return line.add("it stands inside, which the shape does not look at");
    case Cause::exterior_not_in_picture:
      return line.add("the picture does not show the outside, and this is a height map");
    case Cause::only_if_primary_renders:
      return line.add("the primary phase does not see node %u", unsigned{why.node});
    case Cause::node_not_seen:
      return add_portals(line, why);
    case Cause::never_visible:
      return line.add("it was left out, or taken out: its LOD distance is 0");
    case Cause::hidden:
      return line.add("it is switched off");
    case Cause::off_hours:
      return line.add("it is not there at this hour");
    case Cause::window:
      return line.add("cull window %u hides it at %.1f m", why.index, double{why.distance});
    case Cause::mask:
      return line.add("it is not drawn for that kind of picture");
    case Cause::type:
      return line.add("the shape leaves out class %u", static_cast<unsigned>(why.type));
    case Cause::level:
      return line.add("the shape leaves out level %s", level_name(why.level));
    case Cause::filter:
      return line.add("the frame leaves out level %s", level_name(why.level));
    case Cause::plane:
      return line.add("%.2f m outside of plane %u", double{why.outside}, why.index);
    case Cause::sphere:
      return line.add("%.2f m outside of the sphere", double{why.outside});
    case Cause::quad:
      return line.add("%.2f m beside what portals show of node %u, at the %s", double{why.outside}, unsigned{why.node},
                      kSides[why.index % 4]);
    case Cause::range:
      return line.add("%.1f m away, outside of the shape's range for %s", double{why.distance}, level_name(why.level));
    case Cause::cap:
      return line.add("%.1f m away, beyond distance cap %u", double{why.distance}, why.index);
    case Cause::faded:
      line.add("faded out, only asked for: ");
      return add_distance(line, why);
    case Cause::lod_set:
      return add_set(line, why);
    case Cause::no_alpha:
      return line.add("its alpha is 0, with a weight of %u", unsigned{why.weight});
    case Cause::occluded:
      return add_occluders(line, why);
  }
}

}  // namespace

const char* to_string(VisibilityCause cause) {
  static constexpr const char* kWords[] = {"visible",
                                           "asked_for",
                                           "no_scan",
                                           "not_in_world",
                                           "exterior_not_asked_for",
                                           "interior_not_asked_for",
                                           "exterior_not_in_picture",
                                           "only_if_primary_renders",
                                           "node_not_seen",
                                           "never_visible",
                                           "hidden",
                                           "off_hours",
                                           "too_far",
                                           "window",
                                           "mask",
                                           "type",
                                           "level",
                                           "filter",
                                           "plane",
                                           "sphere",
                                           "quad",
                                           "range",
                                           "cap",
                                           "faded",
                                           "lod_set",
                                           "no_alpha",
                                           "occluded"};
  static_assert(std::size(kWords) == kVisibilityCauses);
  const auto at = static_cast<unsigned>(cause);
  return at < std::size(kWords) ? kWords[at] : "?";
}

const char* to_string(PortalStop stop) {
  static constexpr const char* kWords[] = {"none",       "no_way",   "no_traversal",    "one_way",
                                           "shut",       "room_off", "interior_closed", "no_entrance",
                                           "wrong_side", "volume",   "rectangle",       "depth"};
  static_assert(std::size(kWords) == static_cast<size_t>(PortalStop::depth) + 1);
  const auto at = static_cast<unsigned>(stop);
  return at < std::size(kWords) ? kWords[at] : "?";
}

const char* to_text(const VisibilityReason& why, std::span<char> text) {
  MERIDIAN_ASSERT(!text.empty(), "room for at least the end");
  if (text.empty()) return "";
  Line line(text);
  const char* verdict = "does not see";
  if (why.is_visible) verdict = "sees";
  if (why.cause == Cause::asked_for) verdict = "asks for";
  line.add("phase %u %s %u/%u: ", unsigned{why.phase}, verdict, why.entity.slot, why.entity.generation);
  add_cause(line, why);
  return text.data();
}

}  // namespace meridian
