// SPDX-License-Identifier: MIT
#pragma once
/// A small map of the built-in kind, with one of everything that the semantic pass looks at.

#include "support/schema_text.h"

namespace meridian::test {

inline constexpr uint32_t kMapKind = kind_of("IMAP");
inline const BuiltinSchema& map_schema() { return *find_builtin_schema(kMapKind); }

inline std::string entity_json(const std::string& changes = {}) {
  std::string json =
      "{archetype_name:1, flags:0, guid:7, position:{x:1,y:2,z:3}, rotation:{x:0,y:0,z:0,w:1}, scale_xy:1, scale_z:1,"
      "parent_index:-1, lod_dist:100, child_lod_dist:0, lod_level:0, num_children:0, priority_level:0,"
      "ambient_occlusion_multiplier:255, artificial_ambient_occlusion:255, tint_value:0}";
  // "key:value" replaces the value of that key.
  const size_t colon = changes.find(':');
  if (colon != std::string::npos) {
    const std::string key = changes.substr(0, colon + 1);
    const size_t at = json.find(key);
    json.replace(at, json.find_first_of(",}", at) - at, changes);
  }
  return json;
}

/// `second` changes the second of two entities; `owner` is that of the second extension.
inline std::string small_map_json(const std::string& second = {}, const std::string& owner = "1") {
  return "{name:42, entities:[" + entity_json() + "," + entity_json(second) +
         "], mlo_instances:[{owner:1, group_id:3, default_entity_sets:[5,6]}],"
         "entity_extensions:[{owner:0, definition_type:'BuoyancyDef', definition:{name:9}},"
         "{owner:" +
         owner +
         ", definition_type:'DoorDef', definition:{limit_angle:0.5}}],"
         "physics_dictionaries:[1,2,3], block:{version:1, name:'town', owner:'us'}}";
}

inline Bytes small_info() {
  return payload_of(compile_schema(R"(namespace meridian.schema;
    table NameEntry { hash:uint (key); text:string (required); }
    table KeptXml { path:string (required); position:uint; kind:ubyte; name:string; text:string; }
    table ResourceInfo { format_version:uint; schema_fingerprint:ulong; names:[NameEntry]; kept:[KeptXml]; schema:[ubyte]; }
    root_type ResourceInfo; file_identifier "MINF";)"),
                    "{format_version:1, schema_fingerprint:99, names:[{hash:1, text:'lamp'}],"
                    "kept:[{path:'entities[0]', position:2, text:'<x/>'}]}");
}

inline Bytes small_map(const std::string& second = {}, const std::string& owner = "1") {
  return resource_of(map_schema().bfbs, small_map_json(second, owner), kMapKind, small_info());
}

}  // namespace meridian::test
