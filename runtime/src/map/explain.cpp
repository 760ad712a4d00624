// SPDX-License-Identifier: MIT
#include "meridian/map/explain.h"

#include <cstdio>
#include <cstring>
#include <iterator>

#include "meridian/base/assert.h"
#include "meridian/base/log.h"
#include "meridian/base/math.h"

namespace meridian {

const char* to_string(ExplainReason reason) {
  static constexpr const char* kWords[] = {"present",
                                           "unknown",
                                           "removed",
                                           "not_required",
                                           "manual",
                                           "group_off",
                                           "swapped_out",
                                           "not_swapped_in",
                                           "queued",
                                           "denied",
                                           "reading",
                                           "waits_for",
                                           "to_be_placed",
                                           "blocked",
                                           "leaving",
                                           "failed",
                                           "archetype_unknown",
                                           "archetype_elsewhere",
                                           "above_cap",
                                           "bad_definition",
                                           "destroyed",
                                           "map_absent",
                                           "hidden",
                                           "off_hours",
                                           "lod_parent_shows",
                                           "no_such_entity"};
  static_assert(std::size(kWords) == static_cast<size_t>(ExplainReason::no_such_entity) + 1);
  const auto at = static_cast<unsigned>(reason);
  return at < std::size(kWords) ? kWords[at] : "?";
}

namespace {

const char* first_part(const Explanation& why, std::span<char> text) {
  const NameText subject = name_text(why.subject), cause = name_text(why.cause);
  const auto say = [&](const char* format, const auto&... values) {
    (void)std::snprintf(text.data(), text.size(), format, values...);
    return text.data();
  };
  switch (why.reason) {
    case ExplainReason::present:
      return say("%s is there", subject.text);
    case ExplainReason::unknown:
      return say("no layer knows %s", subject.text);
    case ExplainReason::removed:
      return say("no mount has %s, though an index knows it", subject.text);
    case ExplainReason::not_required:
      if (!is_finite(why.distance)) return say("nothing asks for %s", subject.text);
      return say("nothing asks for %s; the nearest source is %.0f m away", subject.text,
                 static_cast<double>(why.distance));
    case ExplainReason::manual:
      return say("%s streams only while it is active", subject.text);
    case ExplainReason::group_off:
      return say("the group of %s is off at this hour or in this weather", subject.text);
    case ExplainReason::swapped_out:
      return say("%s is swapped out: other maps stand in its place", subject.text);
    case ExplainReason::not_swapped_in:
      return say("%s waits to be swapped in (swap %u)", subject.text, why.number);
    case ExplainReason::queued:
      return say("%s is requested, and its turn has not come", subject.text);
    case ExplainReason::denied:
      return say("%s is held back by a budget: %s%s%s", subject.text, to_string(why.denial),
                 why.status.ok() ? "" : ", ", why.status.message);
    case ExplainReason::reading:
      return say("%s is being read", subject.text);
    case ExplainReason::waits_for:
      return say("%s waits for %s", subject.text, cause.text);
    case ExplainReason::to_be_placed:
      return say("%s is read, and is placed by the next updates", subject.text);
    case ExplainReason::blocked:
      return say("%s cannot be placed now: %s", subject.text, why.status.message);
    case ExplainReason::leaving:
      return say("%s is leaving", subject.text);
    case ExplainReason::failed:
      return say("%s failed: %s", subject.text, why.status.message);
    case ExplainReason::archetype_unknown:
      return say("%s: no loaded type file has its archetype %s", subject.text, cause.text);
    case ExplainReason::archetype_elsewhere:
      return say("%s: its archetype is in %s, which the map does not depend on", subject.text, cause.text);
    case ExplainReason::above_cap:
      return say("%s: its priority is above the cap of %u", subject.text, why.number);
    case ExplainReason::bad_definition:
      return say("%s: its rotation, scale, distance or box cannot be used", subject.text);
    case ExplainReason::destroyed:
      return say("%s was destroyed after it was made", subject.text);
    case ExplainReason::map_absent:
      return say("%s: its map is not in the world (%s)", subject.text, to_string(why.inner));
    case ExplainReason::hidden:
      return say("%s is hidden", subject.text);
    case ExplainReason::off_hours:
      return say("%s is not there at this hour", subject.text);
    case ExplainReason::lod_parent_shows:
      return say("%s is not shown yet: its siblings are not all ready, so its LOD parent stands for it", subject.text);
    case ExplainReason::no_such_entity:
      return say("%s has %u entities", subject.text, why.number);
  }
  return say("%s: ?", subject.text);
}

}  // namespace

const char* to_text(const Explanation& why, std::span<char> text) {
  MERIDIAN_ASSERT(!text.empty(), "room for at least the end");
  if (text.empty()) return "";
  (void)first_part(why, text);
  // What causes it is always named.
  const NameText cause = name_text(why.cause);
  const size_t length = std::strlen(text.data());
  if (why.cause.value != 0 && std::strstr(text.data(), cause.text) == nullptr) {
    (void)std::snprintf(text.data() + length, text.size() - length, " (%s)", cause.text);
  }
  return text.data();
}

}  // namespace meridian
