// SPDX-License-Identifier: MIT
#include "lint/repair.h"

#include <cstring>

#include "lint/map_flags.h"
#include "meridian/schemas/imap_generated.h"

namespace meridian::tools {

MapRepair plan_repair(const LintWorld& world, const LintUnit& unit, Repair extents, Repair flags) {
  MapRepair out;
  if (extents != Repair::keep) {
    const MapExtents computed = compute_extents(world, unit);
    if (!computed.entities.empty()) {
      out.has_extents = true;
      out.entities = computed.entities;
      out.streaming = computed.streaming;
      if (extents == Repair::unite || computed.unknown_archetypes != 0) {
        const Bounds declared = declared_entities_box(*unit.map), streaming = declared_streaming_box(*unit.map);
        out.entities.add(declared);
        out.streaming.add(streaming);
      }
    }
  }
  if (flags != Repair::keep) {
    out.content_flags = fixed_content_flags(unit);
    out.has_content_flags = out.content_flags != static_cast<uint32_t>(unit.map->content_flags());
    if (const std::optional<uint32_t> map_flags = fixed_map_flags(world, unit)) {
      out.map_flags = *map_flags;
      out.has_map_flags = out.map_flags != static_cast<uint32_t>(unit.map->flags());
    }
  }
  return out;
}

Bounds streaming_box(const MapRepair& repair, const schema::MapData& map) {
  return repair.has_extents ? repair.streaming : declared_streaming_box(map);
}

void apply_repair(const MapRepair& repair, TableValue& map) {
  const auto field = [&](std::string_view name) -> FieldValue& {
    const int index = map.type->field_index(name);
    if (FieldValue* const found = map.find(index)) return *found;
    FieldValue& added = map.fields.emplace_back();
    added.field = static_cast<uint16_t>(index);
    return added;
  };
  const auto set_point = [&](std::string_view name, Point p, bool above) {
    FieldValue& v = field(name);
    v.present = true;
    v.bytes.resize(3 * sizeof(float));
    for (int axis = 0; axis < 3; ++axis) {
      const float f = above ? float_above(p[axis]) : float_below(p[axis]);
      std::memcpy(v.bytes.data() + static_cast<size_t>(axis) * sizeof f, &f, sizeof f);
    }
  };
  if (repair.has_extents) {
    set_point("streaming_extents_min", repair.streaming.min, false);
    set_point("streaming_extents_max", repair.streaming.max, true);
    set_point("entities_extents_min", repair.entities.min, false);
    set_point("entities_extents_max", repair.entities.max, true);
  }
  const auto set_word = [&](std::string_view name, uint32_t value) {
    FieldValue& v = field(name);
    v.present = true;
    v.bits = value;
  };
  if (repair.has_content_flags) set_word("content_flags", repair.content_flags);
  if (repair.has_map_flags) set_word("flags", repair.map_flags);
}

void apply_repair(const MapRepair& repair, MapSlot& slot) {
  const auto stored = [](const Bounds& b) {
    return Aabb{{float_below(b.min.x), float_below(b.min.y), float_below(b.min.z)},
                {float_above(b.max.x), float_above(b.max.y), float_above(b.max.z)}};
  };
  if (repair.has_extents) {
    slot.entities = stored(repair.entities);
    slot.streaming = stored(repair.streaming);
  }
  if (repair.has_content_flags) slot.content_flags = repair.content_flags;
  if (repair.has_map_flags) slot.flags = repair.map_flags;
}

void settle_findings(const MapRepair& repair, std::vector<LintFinding>& findings) {
  for (LintFinding& f : findings) {
    const bool settled = (repair.has_extents && (f.rule == &rules::extents || f.rule == &rules::inverted_extents)) ||
                         (repair.has_content_flags && f.rule == &rules::content_flags) ||
                         (repair.has_map_flags && f.rule == &rules::map_flags);
    if (!settled || f.severity == Severity::error) continue;
    f.severity = Severity::note;
    f.message += "; put right in the output";
  }
}

}  // namespace meridian::tools
