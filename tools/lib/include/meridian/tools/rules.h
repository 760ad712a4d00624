// SPDX-License-Identifier: MIT
#pragma once
/// The rules that a diagnostic can name: a stable code (`XML005`) and a kebab-case name (`not-a-number`).
/// Codes are never reused. Each rule has a page in docs/rules/<CODE>.md and a golden case.

#include <span>
#include <string_view>

namespace meridian::tools {

enum class Severity : unsigned char { note, warning, error };

struct Rule {
  std::string_view code;      ///< "XML005"
  std::string_view name;      ///< "not-a-number"
  Severity severity;          ///< what it is unless options or the single finding say otherwise
  bool on;                    ///< reported without -W<rule>
  std::string_view summary;   ///< one line for --list-rules
  bool looks_around = false;  ///< what it finds depends on other files
};

namespace rules {
extern const Rule archetype_box;               // ARC001
extern const Rule archetype_sphere;            // ARC002
extern const Rule empty_hours;                 // ARC004
extern const Rule car_direction;               // CAR001
extern const Rule pool_overflow;               // CFG001
extern const Rule unknown_pool;                // CFG002
extern const Rule duplicate_pool;              // CFG003
extern const Rule bad_pool_size;               // CFG004
extern const Rule bad_rotation;                // ENT001
extern const Rule bad_scale;                   // ENT002
extern const Rule flattened_rotation;          // ENT003
extern const Rule duplicate_guid;              // ENT004
extern const Rule duplicate_entity;            // ENT005
extern const Rule environment_error;           // ENV001
extern const Rule extents;                     // EXT001
extern const Rule inverted_extents;            // EXT002
extern const Rule content_flags;               // FLG001
extern const Rule map_flags;                   // FLG002
extern const Rule contradictory_render_flags;  // FLG003
extern const Rule scripted_mismatch;           // FLG004
extern const Rule resource_too_large;          // FMT001
extern const Rule refused_resource;            // FMT002
extern const Rule converted_resource;          // FMT003
extern const Rule grass_box;                   // GRS001
extern const Rule internal_error;              // INT001
extern const Rule light_arrays;                // LGT001
extern const Rule light_pairing;               // LGT002
extern const Rule light_header;                // LGT003
extern const Rule parent_index;                // LOD001
extern const Rule lod_cycle;                   // LOD002
extern const Rule lod_level;                   // LOD003
extern const Rule child_count;                 // LOD004
extern const Rule lod_range;                   // LOD005
extern const Rule odd_lod_distance;            // LOD006
extern const Rule lod_size;                    // LOD007
extern const Rule interior_lod;                // LOD008
extern const Rule portal_rooms;                // MLO001
extern const Rule portal_corners;              // MLO002
extern const Rule attached_objects;            // MLO003
extern const Rule unattached_objects;          // MLO004
extern const Rule entity_set;                  // MLO005
extern const Rule limbo_room;                  // MLO006
extern const Rule portal_count;                // MLO007
extern const Rule unknown_entity_set;          // MLO008
extern const Rule exit_portal_count;           // MLO009
extern const Rule room_bounds;                 // MLO010
extern const Rule interior_limits;             // MLO011
extern const Rule portal_direction;            // MLO012
extern const Rule opposing_portals;            // MLO013
extern const Rule duplicate_part_name;         // MLO014
extern const Rule name_collision;              // NAM001
extern const Rule suspicious_name;             // NAM002
extern const Rule missing_name;                // NAM003
extern const Rule duplicate_map;               // NAM004
extern const Rule duplicate_archetype;         // NAM005
extern const Rule illegal_file_name;           // NAM006
extern const Rule conflicting_overlays;        // NAM007
extern const Rule occluder_size;               // OCC001
extern const Rule occluder_orientation;        // OCC002
extern const Rule occluder_covers_portal;      // OCC003
extern const Rule occluder_mesh;               // OCC004
extern const Rule missing_archetype;           // REF001
extern const Rule manifest_dependency;         // REF002
extern const Rule missing_parent_map;          // REF003
extern const Rule unknown_file;                // REF004
extern const Rule time_cycle;                  // TCM001
extern const Rule usage_error;                 // USE001
extern const Rule bad_waiver;                  // WVR001
extern const Rule malformed_xml;               // XML001
extern const Rule unknown_name;                // XML002
extern const Rule unknown_type;                // XML003
extern const Rule duplicate_element;           // XML004
extern const Rule not_a_number;                // XML005
extern const Rule integer_range;               // XML006
extern const Rule float_range;                 // XML007
extern const Rule not_an_integer;              // XML008
extern const Rule limit_exceeded;              // XML009
extern const Rule wrong_root;                  // XML010
extern const Rule unfilled_placeholder;        // XML011
extern const Rule unknown_value;               // XML012
extern const Rule missing_element;             // XML013
}  // namespace rules

/// All rules, sorted by code. Threads: immutable.
std::span<const Rule* const> all_rules();

/// The rule with this code or name (case-insensitive), or null.
const Rule* find_rule(std::string_view code_or_name);

}  // namespace meridian::tools
