// SPDX-License-Identifier: MIT
#include "meridian/tools/rules.h"

#include <algorithm>
#include <iterator>

namespace meridian::tools {

// Each is a constant, so that a rule can be named in static initialisers and compared by address.
namespace rules {
using enum Severity;

constinit const Rule archetype_box{"ARC001", "archetype-box", error, true,
                                   "an archetype's box is inverted, or a point"};
constinit const Rule archetype_sphere{"ARC002", "archetype-sphere", warning, true,
                                      "an archetype's sphere and box do not enclose each other"};
constinit const Rule empty_hours{"ARC004", "empty-hours", warning, true,
                                 "a time archetype is visible at no hour, or has unknown hour bits"};
constinit const Rule car_direction{"CAR001", "car-direction", error, true,
                                   "a car generator's direction vector is zero (odd length: warning)"};
constinit const Rule pool_overflow{
    "CFG001", "pool-overflow", error, true, "a pool of the game configuration is too small for the world", true};
constinit const Rule unknown_pool{"CFG002", "unknown-pool", warning, true, "a pool name that nothing is known to use"};
constinit const Rule duplicate_pool{"CFG003", "duplicate-pool", error, true,
                                    "one configuration gives a pool two different sizes"};
constinit const Rule bad_pool_size{"CFG004", "bad-pool-size", error, true,
                                   "a pool size is no integer from 0 to 2147483647"};
constinit const Rule bad_rotation{"ENT001", "bad-rotation", warning, true, "a rotation is no unit quaternion"};
constinit const Rule bad_scale{"ENT002", "bad-scale", error, true, "a scale is zero (negative: warning)"};
constinit const Rule flattened_rotation{"ENT003", "flattened-rotation", note, true,
                                        "an entity leans without the flag that lets it"};
constinit const Rule duplicate_guid{"ENT004", "duplicate-guid", note, true, "two entities of a map have one guid"};
constinit const Rule duplicate_entity{"ENT005", "duplicate-entity", warning, true,
                                      "the same archetype is placed twice at one spot"};
constinit const Rule environment_error{"ENV001", "environment-error", error, true,
                                       "a file could not be read or written"};
constinit const Rule extents{"EXT001",
                             "extents-miss-content",
                             warning,
                             true,
                             "the declared extents do not cover what is in the map, or from where it is seen",
                             true};
constinit const Rule inverted_extents{"EXT002", "inverted-extents", warning, true,
                                      "an extent box is inverted, or the streaming box leaves out the contents' box"};
constinit const Rule content_flags{"FLG001", "content-flags", warning, true,
                                   "contentFlags differ from what the map holds"};
constinit const Rule map_flags{"FLG002", "map-flags", warning, true, "flags differ from what the map is to other maps",
                               true};
constinit const Rule contradictory_render_flags{"FLG003", "contradictory-render-flags", warning, true,
                                                "an entity is said to be both not in and only in a kind of picture"};
constinit const Rule scripted_mismatch{
    "FLG004", "scripted-mismatch", warning, true, "a map and its parent differ in the scripted flag", true};
constinit const Rule resource_too_large{"FMT001", "resource-too-large", error, true,
                                        "the resource would be larger than its format or a limit allows"};
constinit const Rule refused_resource{"FMT002", "refused-resource", error, true,
                                      "a compiled resource is damaged, or nothing at hand says how to read it"};
constinit const Rule converted_resource{"FMT003", "converted-resource", warning, true,
                                        "a resource was written by another layout and had to be converted"};
constinit const Rule grass_box{"GRS001", "grass-box", error, true,
                               "a grass batch's box is inverted (flat, or without instances: warning)"};
constinit const Rule internal_error{"INT001", "internal-error", error, true, "a fault in the tool itself"};
constinit const Rule light_arrays{"LGT001", "light-arrays", error, true, "the arrays of LOD lights differ in length"};
constinit const Rule light_pairing{"LGT002",
                                   "light-pairing",
                                   warning,
                                   true,
                                   "LOD lights and the parent map's distant LOD lights do not belong together",
                                   true};
constinit const Rule light_header{"LGT003", "light-header", error, true,
                                  "more street lights than lights, or an unknown category of LOD lights"};
constinit const Rule parent_index{
    "LOD001", "parent-index", error, true, "a LOD link leads outside the entities of the map that it means", true};
constinit const Rule lod_cycle{"LOD002", "lod-cycle", error, true, "LOD parents, or parents of maps, form a circle",
                               true};
constinit const Rule lod_level{
    "LOD003", "lod-level", error, true, "a LOD parent is not coarser than its child (skipped level, orphan: warning)",
    true};
constinit const Rule child_count{
    "LOD004", "child-count", warning, true, "numChildren differs from the children that all maps have", true};
constinit const Rule lod_range{"LOD005", "lod-range", warning, true, "a child is seen from farther than its LOD parent",
                               true};
constinit const Rule odd_lod_distance{"LOD006", "odd-lod-distance", warning, true,
                                      "a LOD distance below zero that is none of the usual ones, taken as unset"};
constinit const Rule lod_size{
    "LOD007", "lod-size", warning, false, "a LOD distance is out of proportion to the size of the model", true};
constinit const Rule interior_lod{"LOD008", "interior-lod", warning, true,
                                  "an entity of an interior has LOD links, which are not used"};
constinit const Rule portal_rooms{"MLO001", "portal-rooms", error, true,
                                  "a portal joins a room to itself, or to one that does not exist"};
constinit const Rule portal_corners{"MLO002", "portal-corners", error, true,
                                    "a portal has not four corners (on a line, or off one plane: warning)"};
constinit const Rule attached_objects{
    "MLO003", "attached-objects", error, true,
    "a room or portal attaches an entity that does not exist (attached twice: warning)"};
constinit const Rule unattached_objects{"MLO004", "unattached-objects", warning, true,
                                        "entities of an interior hang on no room and no portal (all of them: error)"};
constinit const Rule entity_set{"MLO005", "entity-set", error, true,
                                "an entity set's locations do not fit its entities, or lead to no room"};
constinit const Rule limbo_room{"MLO006", "limbo-room", warning, true,
                                "an interior has no rooms, or room 0 is not the outside"};
constinit const Rule portal_count{"MLO007", "portal-count", warning, true,
                                  "a room's portalCount differs from the portals that touch it"};
constinit const Rule unknown_entity_set{
    "MLO008", "unknown-entity-set", error, true, "an instance turns on an entity set that its interior has not", true};
constinit const Rule exit_portal_count{
    "MLO009", "exit-portal-count", warning, true, "numExitPortals differs from the portals that lead outside", true};
constinit const Rule room_bounds{"MLO010", "room-bounds", note, true, "things attached to a room stick out of its box",
                                 true};
constinit const Rule interior_limits{"MLO011", "interior-limits", error, true,
                                     "an interior has more rooms or portals than fit"};
constinit const Rule portal_direction{"MLO012", "portal-direction", warning, true,
                                      "a portal to the outside is turned the wrong way"};
constinit const Rule opposing_portals{"MLO013", "opposing-portals", warning, true,
                                      "two portals stand against each other in one opening"};
constinit const Rule duplicate_part_name{"MLO014", "duplicate-part-name", warning, true,
                                         "two rooms or two entity sets of an interior share a name"};
constinit const Rule name_collision{"NAM001", "name-collision", error, true, "two different names have the same hash",
                                    true};
constinit const Rule suspicious_name{"NAM002", "suspicious-name", warning, true,
                                     "a name with a tool's suffix, blanks, capitals or characters outside ASCII"};
constinit const Rule missing_name{"NAM003", "missing-name", error, true,
                                  "an archetype has no name, or an entity names no archetype"};
constinit const Rule duplicate_map{
    "NAM004", "duplicate-map", error, true, "two inputs of one name without an order of layers", true};
constinit const Rule duplicate_archetype{
    "NAM005", "duplicate-archetype", error, true, "an archetype is defined twice, and differently (identical: warning)",
    true};
constinit const Rule illegal_file_name{"NAM006", "illegal-file-name", warning, true,
                                       "an entry of a pack has a name that is no file name on some system"};
constinit const Rule conflicting_overlays{"NAM007",
                                          "conflicting-overlays",
                                          warning,
                                          true,
                                          "two overlays change one entity of the lowest layer, and not the same way",
                                          true};
constinit const Rule occluder_size{"OCC001", "occluder-size", error, true,
                                   "an occluder's size is negative (flat on two axes, or lost: warning)"};
constinit const Rule occluder_orientation{"OCC002", "occluder-orientation", error, true,
                                          "an occluder's sine and cosine are no direction"};
constinit const Rule occluder_covers_portal{
    "OCC003", "occluder-covers-portal", warning, true, "an occluder stands in the doorway of an interior", true};
constinit const Rule occluder_mesh{"OCC004", "occluder-mesh", error, true,
                                   "sizes or indices of an occluder mesh do not fit its data"};
constinit const Rule missing_archetype{
    "REF001", "missing-archetype", error, true, "an archetype is defined in none of the type files", true};
constinit const Rule manifest_dependency{
    "REF002", "manifest-dependency", warning, true, "a manifest lists other type files than a map needs", true};
constinit const Rule missing_parent_map{
    "REF003", "missing-parent-map", warning, true, "a map's parent is not among the maps of the world", true};
constinit const Rule unknown_file{
    "REF004", "unknown-file", note, true, "a manifest names a map or type file that is not in the world", true};
constinit const Rule time_cycle{"TCM001", "time-cycle", warning, true,
                                "a time-cycle box is inverted, or its hours or strength are out of range"};
constinit const Rule usage_error{"USE001", "usage-error", error, true, "the command line is wrong"};
constinit const Rule bad_waiver{
    "WVR001", "bad-waiver", warning, true,
    "a lint-ok comment names an unknown rule or an error, gives no reason, or hits nothing"};
constinit const Rule malformed_xml{
    "XML001", "malformed-xml", error, true,
    "the text is no well-formed XML: truncated, bad UTF-8, NUL, a second root, a DOCTYPE"};
constinit const Rule unknown_name{"XML002", "unknown-name", warning, true,
                                  "an element or stray text that the schema does not know; kept as it is"};
constinit const Rule unknown_type{"XML003", "unknown-type", warning, true,
                                  "an Item of a type that the schema does not know; kept as it is"};
constinit const Rule duplicate_element{"XML004", "duplicate-element", warning, true,
                                       "an element that can stand once is there again; the first wins"};
constinit const Rule not_a_number{"XML005", "not-a-number", error, true,
                                  "a number field holds something else, such as a decimal comma"};
constinit const Rule integer_range{"XML006", "integer-range", error, true,
                                   "an integer is outside the range of its field"};
constinit const Rule float_range{"XML007", "float-range", error, true,
                                 "a number is not finite or too large for 32-bit floating point"};
constinit const Rule not_an_integer{"XML008", "not-an-integer", warning, true,
                                    "an integer field holds a fraction or an exponent (error where it is not exact)"};
constinit const Rule limit_exceeded{"XML009", "limit-exceeded", error, true,
                                    "the file is deeper, longer or larger than a limit allows"};
constinit const Rule wrong_root{"XML010", "wrong-root", error, true,
                                "the file has no root, another root than is read here, or is no XML at all"};
constinit const Rule unfilled_placeholder{"XML011", "unfilled-placeholder", error, true,
                                          "a template placeholder ${...} was never filled in"};
constinit const Rule unknown_value{"XML012", "unknown-value", error, true,
                                   "an enum, flag or boolean has a value that does not exist"};
constinit const Rule missing_element{"XML013", "missing-element", note, false,
                                     "an element is missing; says which value was assumed"};
}  // namespace rules

namespace {

constexpr const Rule* kAll[] = {
    &rules::archetype_box,
    &rules::archetype_sphere,
    &rules::empty_hours,
    &rules::car_direction,
    &rules::pool_overflow,
    &rules::unknown_pool,
    &rules::duplicate_pool,
    &rules::bad_pool_size,
    &rules::bad_rotation,
    &rules::bad_scale,
    &rules::flattened_rotation,
    &rules::duplicate_guid,
    &rules::duplicate_entity,
    &rules::environment_error,
    &rules::extents,
    &rules::inverted_extents,
    &rules::content_flags,
    &rules::map_flags,
    &rules::contradictory_render_flags,
    &rules::scripted_mismatch,
    &rules::resource_too_large,
    &rules::refused_resource,
    &rules::converted_resource,
    &rules::grass_box,
    &rules::internal_error,
    &rules::light_arrays,
    &rules::light_pairing,
    &rules::light_header,
    &rules::parent_index,
    &rules::lod_cycle,
    &rules::lod_level,
    &rules::child_count,
    &rules::lod_range,
    &rules::odd_lod_distance,
    &rules::lod_size,
    &rules::interior_lod,
    &rules::portal_rooms,
    &rules::portal_corners,
    &rules::attached_objects,
    &rules::unattached_objects,
    &rules::entity_set,
    &rules::limbo_room,
    &rules::portal_count,
    &rules::unknown_entity_set,
    &rules::exit_portal_count,
    &rules::room_bounds,
    &rules::interior_limits,
    &rules::portal_direction,
    &rules::opposing_portals,
    &rules::duplicate_part_name,
    &rules::name_collision,
    &rules::suspicious_name,
    &rules::missing_name,
    &rules::duplicate_map,
    &rules::duplicate_archetype,
    &rules::illegal_file_name,
    &rules::conflicting_overlays,
    &rules::occluder_size,
    &rules::occluder_orientation,
    &rules::occluder_covers_portal,
    &rules::occluder_mesh,
    &rules::missing_archetype,
    &rules::manifest_dependency,
    &rules::missing_parent_map,
    &rules::unknown_file,
    &rules::time_cycle,
    &rules::usage_error,
    &rules::bad_waiver,
    &rules::malformed_xml,
    &rules::unknown_name,
    &rules::unknown_type,
    &rules::duplicate_element,
    &rules::not_a_number,
    &rules::integer_range,
    &rules::float_range,
    &rules::not_an_integer,
    &rules::limit_exceeded,
    &rules::wrong_root,
    &rules::unfilled_placeholder,
    &rules::unknown_value,
    &rules::missing_element,
};

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::span<const Rule* const> all_rules() { return kAll; }

const Rule* find_rule(std::string_view code_or_name) {
  const auto* found = std::find_if(std::begin(kAll), std::end(kAll), [&](const Rule* rule) {
    return same_word(rule->code, code_or_name) || same_word(rule->name, code_or_name);
  });
  return found == std::end(kAll) ? nullptr : *found;
}

}  // namespace meridian::tools
