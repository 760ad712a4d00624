// SPDX-License-Identifier: MIT
#pragma once
/// How values of one schema become values of another. Made once for each pair of types that meet: fields matched by
/// name, union members by type name. Making it finds every difference and every impossibility before data is read.
///
/// Threads: reentrant. Memory: arena of the conversion.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "meridian/resource/convert.h"
#include "resource/convert_memory.h"
#include "resource/schema_view.h"

namespace meridian::detail {

struct TypePair;

/// What to do for one field of the new type.
enum class FieldAction : uint8_t {
  scalar,
  structure,  ///< new struct from a struct or table
  table,      ///< new table from a struct or table
  string,
  scalar_vector,
  struct_vector,
  table_vector,
  string_vector,
  union_value,
  bytes,  ///< replaced by given bytes, if it is there
};

struct UnionMember {
  TypePair* pair = nullptr;  ///< null: dropped
  uint8_t number = 0;        ///< in the new union
};

struct FieldPlan {
  FieldAction action = FieldAction::scalar;
  reflection::BaseType from_base = reflection::None, to_base = reflection::None;  ///< of the value or the elements
  bool from_is_table = false;    ///< the value or the elements are offsets to tables
  bool missing = false;          ///< the old type has no such field
  bool required = false;         ///< the new one may not lack it
  bool optional = false;         ///< absence means null
  bool absent_is_same = true;    ///< both sides give an absent value the same meaning
  bool constant = false;         ///< always `absent_bits`
  uint32_t id = 0;               ///< in a new table
  uint32_t from_slot = 0;        ///< vtable slot or struct offset
  uint32_t to_slot = 0;          ///< struct offset
  uint32_t size = 0, align = 1;  ///< of the inline value, or of a vector's elements
  uint32_t from_size = 0;        ///< of the old vector's elements
  uint64_t absent_bits = 0;      ///< what an absent scalar means, as bits of the new type
  TypePair* pair = nullptr;
  UnionMember* members = nullptr;      ///< by old number
  std::span<const std::byte> bytes{};  ///< replacement, or the default of a required struct
};

struct TypePair {
  const reflection::Object *from = nullptr, *to = nullptr;
  bool from_is_struct = false, to_is_struct = false;
  bool identical = false;       ///< structs with the same bytes
  bool sparse = false;          ///< absent members mean something
  FieldPlan* fields = nullptr;  ///< largest alignment first
  uint32_t field_count = 0;
  uint32_t table_fields = 0;   ///< of the new table
  std::byte* image = nullptr;  ///< new struct with all defaults
  TypePair* next = nullptr;
};

class ConvertPlan {
 public:
  ConvertPlan(const reflection::Schema& from, const reflection::Schema& to, Allocator& allocator)
      : from_(from), to_(to), arena_(allocator), lines_(allocator) {}

  /// Errors: no_conversion (`name`: the field), out_of_memory.
  Status make();
  TypePair& root() { return *first_; }
  const reflection::Schema& from() const { return from_; }
  const reflection::Schema& to() const { return to_; }

  ConvertArray<char>& differences() { return lines_; }  ///< lines with '\n' between and a 0 at the end
  uint32_t difference_count() const { return line_count_; }

 private:
  TypePair* pair_of(int32_t from, int32_t to);
  void fill(TypePair& pair);
  bool plan_field(const TypePair& pair, const reflection::Field* from, const reflection::Field& to, FieldPlan& out);
  bool plan_missing(const TypePair& pair, const reflection::Field& to, FieldPlan& out);
  bool plan_scalar(const TypePair& pair, const reflection::Field& from, const reflection::Field& to, FieldPlan& out);
  bool plan_vector(const reflection::Field& from, const reflection::Field& to, FieldPlan& out);
  bool plan_union(const reflection::Field& from, const reflection::Field& to, FieldPlan& out);
  void fill_image(const reflection::Object& object, std::byte* out, std::string_view* lanes);
  bool put_default(const reflection::Field& field, std::string_view text, std::byte* out) const;
  bool same_struct(const reflection::Object& a, const reflection::Object& b) const;
  void list_dropped(const TypePair& pair);
  void list_type_change(const TypePair& pair, const reflection::Field& from, const reflection::Field& to);

  void line(std::initializer_list<std::string_view> parts);
  void fail(StatusCode code, const char* message, const reflection::Field* field = nullptr);
  bool no_conversion(const reflection::Field& field);

  const reflection::Schema &from_, &to_;
  ConvertArena arena_;
  ConvertArray<char> lines_;
  uint32_t line_count_ = 0;
  TypePair *first_ = nullptr, *last_ = nullptr;
  uint32_t pair_count_ = 0;
  bool* listed_unions_ = nullptr;
  Status status_;
};

/// A scalar's value in another type that holds every value of the old one. Requires: widens(from, to).
uint64_t widen(reflection::BaseType from, reflection::BaseType to, uint64_t bits);
/// True if `to` holds every value of `from`.
bool widens(reflection::BaseType from, reflection::BaseType to);

}  // namespace meridian::detail
