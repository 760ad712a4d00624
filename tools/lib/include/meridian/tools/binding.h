// SPDX-License-Identifier: MIT
#pragma once
/// How a schema looks in XML: for each struct and table a plan with its fields, their element names, converters and
/// defaults, made once from the reflection schema. Reader, writer, dump and diff all work from it.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/base/status.h"

namespace meridian::tools {

struct TypePlan;
struct EnumPlan;

/// What a field holds.
enum class FieldKind : uint8_t {
  scalar,         ///< one number in a table or struct
  string,         ///< text
  structure,      ///< inline struct
  table,          ///< sub-table
  scalar_vector,  ///< [number], also names and bytes
  string_vector,
  struct_vector,
  table_vector,
  union_value,  ///< only inside an item_union table
};

/// The reflection base type, with our own numbering so that this header needs no FlatBuffers.
enum class Scalar : uint8_t { none, u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, boolean };

/// How the text of a value is read and written.
enum class Converter : uint8_t {
  plain,        ///< numbers, booleans; text for strings
  name,         ///< joaat
  hash_number,  ///< decimal, but a name or hash literal is read too
  color,        ///< 0xAARRGGBB
  enum_text,
  flag_text,
  text_lanes,   ///< struct lanes as text
  attributes,   ///< struct lanes as XML attributes
  named_lanes,  ///< struct lanes as child elements named by a pattern
  vectors,      ///< vector of structs of floats, as Items or lines
  hex_bytes,
};

/// Function that computes a missing value.
enum class Derive : uint8_t { none, stem, lod_level, asset_name, box_centre, box_radius };

struct FieldPlan {
  std::string name;  ///< FlatBuffers name
  std::string xml;   ///< element or attribute name
  std::vector<std::string> aliases;
  std::string item = "Item";  ///< name of a vector's children
  std::string lanes_pattern;  ///< named_lanes
  std::string rule_code;      ///< rule for a bad value, if not the usual one
  std::string known_list;
  std::string size_element;  ///< hex_bytes: sibling element that says how many bytes there are
  FieldKind kind = FieldKind::scalar;
  Scalar scalar = Scalar::none;  ///< of the value or of a vector's elements
  Converter converter = Converter::plain;
  Derive derive = Derive::none;
  bool is_xml_attribute = false, optional = false, required_name = false, in_xml = true, required = false;
  bool cooked = false;  ///< made by the linker: not in XML, one line in differences
  uint16_t id = 0;      ///< table field id
  uint16_t offset = 0;  ///< vtable offset of a table field, byte offset of a struct field
  uint32_t size = 0;    ///< bytes of a scalar or struct value, or of a vector's element
  uint32_t align = 1;
  const TypePlan* type = nullptr;  ///< struct or table, also of vector elements and of union wrappers
  const EnumPlan* enumeration = nullptr;
  uint64_t default_bits = 0;             ///< scalar default as the value's own bits
  std::vector<uint8_t> default_bytes;    ///< struct default
  int64_t range_min = 0, range_max = 0;  ///< integers
  uint32_t max_bytes = 0;
  int hoist_from = -1;       ///< index of the host field in the same table
  std::string item_type;     ///< hoisted by Item type
  std::vector<int> hoisted;  ///< for a host: indices of the fields that are hoisted out of it
  std::string index_of;
};

struct EnumValue {
  std::string name;                ///< FlatBuffers name
  std::string xml;                 ///< prefix + name
  int64_t value = 0;               ///< for bit flags: the bit's value
  const TypePlan* type = nullptr;  ///< union member
};

struct EnumPlan {
  std::string name;
  std::vector<EnumValue> values;
  bool closed = false, flags = false, is_union = false;
  const EnumValue* find(std::string_view xml_name) const;
  const EnumValue* find(int64_t value) const;
};

struct TypePlan {
  std::string name;  ///< short FlatBuffers name
  std::string full_name;
  std::string xml;  ///< Item type, or root element
  std::vector<std::string> aliases;
  std::string noun;
  bool is_typed = false;  ///< the schema gives an XML type name, which elements carry as `type`
  bool cooked = false;    ///< a root that the linker makes: no XML source has it
  bool is_struct = false, sparse = false, lanes_are_attributes = false, lanes_are_text = false, unknown_item = false;
  uint32_t size = 0, align = 1;   ///< structs
  std::vector<FieldPlan> fields;  ///< XML order: struct offsets, table ids
  int owner_field = -1;           ///< record tables
  int union_field = -1;           ///< item_union wrappers: index of the union value field
  std::vector<std::string> checks;
  std::vector<uint8_t> default_struct;  ///< struct with every default filled in

  /// Field by element name, or -1. Aliases are found too; `alias` says so.
  int find(std::string_view element, bool& alias) const;
  int find_attribute(std::string_view attribute) const;
  /// By FlatBuffers name ("parent_index"), or -1. For set-up and rare paths: it compares in sequence.
  int field_index(std::string_view field) const;
  /// The same, or null.
  const FieldPlan* field_named(std::string_view field) const;
  /// Names that an element of this type may have, for "did you mean".
  void names(std::vector<std::string_view>& out) const;

  /// A name that leads to a field, in an open-addressed table made once.
  struct NameSlot {
    uint64_t hash = 0;
    int16_t field = -1;
    bool alias = false;
    std::string_view text;
  };
  std::vector<NameSlot> slots;
  uint32_t slot_mask = 0;
};

/// The plans of a whole schema. Immutable once made.
class Binding {
 public:
  /// Requires: verify_schema(bfbs).ok(). Null and `error` if the schema cannot be bound (no root type, no identifier,
  /// an attribute on a field of the wrong type).
  static std::unique_ptr<const Binding> create(std::vector<uint8_t> bfbs, std::string& error);
  /// Built-in binding by kind (made once, kept), or null. Threads: internal.
  static const Binding* builtin(uint32_t kind);

  ~Binding();
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;
  const TypePlan& root() const { return *root_; }
  /// Whether a source with this root element is one of ours.
  bool reads_root(std::string_view element) const;
  uint32_t kind() const { return kind_; }
  const std::string& extension() const { return extension_; }
  uint64_t layout_fingerprint() const { return layout_fingerprint_; }
  uint64_t schema_fingerprint() const { return schema_fingerprint_; }
  std::span<const uint8_t> bfbs() const { return bfbs_; }
  std::span<const std::unique_ptr<TypePlan>> types() const { return types_; }

 private:
  Binding();
  friend class BindingMaker;
  std::vector<uint8_t> bfbs_;
  std::vector<std::unique_ptr<TypePlan>> types_;
  std::vector<std::unique_ptr<EnumPlan>> enums_;
  const TypePlan* root_ = nullptr;
  uint32_t kind_ = 0;
  std::string extension_;
  uint64_t layout_fingerprint_ = 0, schema_fingerprint_ = 0;
};

/// Compiles a .fbs file with the FlatBuffers parser library. `read` lists every file that was read.
/// Empty result and `error` (with the place) on failure.
std::vector<uint8_t> compile_schema_file(const std::string& path, const std::vector<std::string>& include_dirs,
                                         std::vector<std::string>& read, std::string& error);

}  // namespace meridian::tools
