// SPDX-License-Identifier: MIT
#include "resource/semantic.h"

#include "resource/data_view.h"
#include "resource/struct_scan.h"

namespace meridian::detail {
namespace {

class MeaningCheck {
 public:
  MeaningCheck(std::span<const std::byte> payload, const reflection::Schema& schema)
      : view_(payload), budget_(4 * payload.size() + 1024), schema_(schema) {}

  Status run() { return check_table(view_.root(), *schema_.root_table(), 1); }

 private:
  static Status bad(const char* message, uint64_t at, const reflection::Field& field,
                    StatusCode code = StatusCode::bad_value) {
    return {code, message, at, NameHash{hash_type(text_of(field.name())).value}};
  }
  static Status shared_too_often(uint64_t at, const reflection::Field& field) {
    return bad("data is shared too often; detail = byte offset", at, field, StatusCode::bad_structure);
  }
  bool spend(uint64_t bytes) {
    // An honest file is looked at once. Without a limit, a small file whose tables all share one big vector costs
    // the square of its size.
    if (bytes > budget_) return false;
    budget_ -= bytes;
    return true;
  }

  Status check_table(uint32_t table, const reflection::Object& object, uint32_t depth);
  Status check_field(uint32_t table, uint32_t at, const reflection::Object& object, const reflection::Field& field,
                     uint32_t depth);
  Status check_union(uint32_t table, uint32_t at, const reflection::Field& field, uint32_t depth);
  Status check_scalar(uint32_t at, reflection::BaseType base, int32_t index, const reflection::Field& field) const;
  Status check_struct(uint32_t at, const reflection::Object& object) const;
  Status check_vector(uint32_t vector, const reflection::Field& field, uint32_t depth);
  Status check_owners(uint32_t table, uint32_t vector, const reflection::Object& object, const reflection::Field& field,
                      std::string_view host) const;

  DataView view_;
  uint64_t budget_;
  const reflection::Schema& schema_;
};

Status MeaningCheck::check_scalar(uint32_t at, reflection::BaseType base, int32_t index,
                                  const reflection::Field& field) const {
  if (is_float(base)) {
    if (!view_.finite(base, at)) return bad("number is infinite or NaN; detail = byte offset", at, field);
  } else if (index >= 0 && base != reflection::UType) {
    const reflection::Enum& item = enum_at(schema_, index);
    if (is_closed(item) && !is_known(item, view_.integer(base, at))) {
      return bad("value is none of its enumeration; detail = byte offset", at, field);
    }
  }
  return {};
}

Status MeaningCheck::check_struct(uint32_t at, const reflection::Object& object) const {
  for (const reflection::Field* field : *object.fields()) {
    const reflection::Type& type = *field->type();
    const Status status = type.base_type() == reflection::Obj
                              ? check_struct(at + field->offset(), object_at(schema_, type.index()))
                              : check_scalar(at + field->offset(), type.base_type(), type.index(), *field);
    if (!status.ok()) return status;
  }
  return {};
}

Status MeaningCheck::check_vector(uint32_t vector, const reflection::Field& field, uint32_t depth) {
  const reflection::Type& type = *field.type();
  const reflection::BaseType base = type.element();
  const Extent element = extent_of(schema_, base, type.index());
  const uint32_t count = view_.load<uint32_t>(vector), first = vector + 4;
  // Verifiers check only that the length is aligned. 8- and 16-byte elements need more.
  if (first % element.align != 0 && count != 0) {
    return bad("vector's elements are misaligned; detail = byte offset", first, field, StatusCode::bad_structure);
  }
  if (base == reflection::String) return {};
  if (is_scalar(base)) {
    if (!is_float(base) && (type.index() < 0 || !is_closed(enum_at(schema_, type.index())))) return {};
    if (!spend(uint64_t{count} * element.size)) return shared_too_often(first, field);
    for (uint32_t i = 0; i < count; ++i) {
      if (Status status = check_scalar(first + i * element.size, base, type.index(), field); !status.ok())
        return status;
    }
    return {};
  }
  if (!spend(uint64_t{count} * element.size)) return shared_too_often(first, field);
  const reflection::Object& object = object_at(schema_, type.index());
  if (object.is_struct()) {
    constexpr uint32_t kWorthAPlan = 8;
    if (count >= kWorthAPlan && StructScan(schema_, object).all_good(view_.data(first), count)) return {};
    for (uint32_t i = 0; i < count; ++i) {
      if (Status status = check_struct(first + i * element.size, object); !status.ok()) return status;
    }
    return {};
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (Status status = check_table(view_.follow(first + 4 * i), object, depth + 1); !status.ok()) return status;
  }
  return {};
}

/// Records that were taken out of the Items of `host` say whose they are. Readers use that as an index without looking,
/// and search it: inside the array, and ascending.
Status MeaningCheck::check_owners(uint32_t table, uint32_t vector, const reflection::Object& object,
                                  const reflection::Field& field, std::string_view host) const {
  uint64_t host_count = 0;
  for (const reflection::Field* sibling : *object.fields()) {
    if (text_of(sibling->name()) != host || sibling->type()->base_type() != reflection::Vector) continue;
    const uint32_t at = view_.field(table, sibling->offset());
    if (at != 0) host_count = view_.load<uint32_t>(view_.follow(at));
  }
  const reflection::Object& record = object_at(schema_, field.type()->index());
  const reflection::Field* owner_field = nullptr;
  for (const reflection::Field* candidate : *record.fields()) {
    const reflection::BaseType base = candidate->type()->base_type();
    if (is_scalar(base) && !is_float(base) && find_attribute(candidate->attributes(), "owner") != nullptr) {
      owner_field = candidate;
    }
  }
  if (owner_field == nullptr) return {};
  const reflection::BaseType base = owner_field->type()->base_type();
  const uint32_t count = view_.load<uint32_t>(vector);
  const uint32_t element_size = extent_of(schema_, reflection::Obj, field.type()->index()).size;
  uint64_t previous = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t element = vector + 4 + i * element_size;
    const uint32_t at = record.is_struct() ? element + owner_field->offset()
                                           : view_.field(view_.follow(element), owner_field->offset());
    // A negative owner becomes a huge one.
    const auto owner = static_cast<uint64_t>(at != 0 ? view_.integer(base, at) : owner_field->default_integer());
    if (owner >= host_count)
      return bad("owner is outside the array it indexes; detail = index of the record", i, field);
    if (owner < previous) return bad("records are not sorted by owner; detail = index of the record", i, field);
    previous = owner;
  }
  return {};
}

Status MeaningCheck::check_union(uint32_t table, uint32_t at, const reflection::Field& field, uint32_t depth) {
  const uint32_t tag = view_.field(table, field.offset() - 2u);
  const uint8_t member = tag != 0 ? view_.load<uint8_t>(tag) : uint8_t{0};
  if (member == 0) return {};
  for (const reflection::EnumVal* value : *enum_at(schema_, field.type()->index()).values()) {
    if (value->value() != member) continue;
    return check_table(view_.follow(at), object_at(schema_, value->union_type()->index()), depth + 1);
  }
  return bad("union member is not known; detail = byte offset of its number", tag, field);
}

Status MeaningCheck::check_field(uint32_t table, uint32_t at, const reflection::Object& object,
                                 const reflection::Field& field, uint32_t depth) {
  const reflection::Type& type = *field.type();
  switch (type.base_type()) {
    case reflection::String:
      return {};
    case reflection::Union:
      return check_union(table, at, field, depth);
    case reflection::Obj: {
      const reflection::Object& member = object_at(schema_, type.index());
      return member.is_struct() ? check_struct(at, member) : check_table(view_.follow(at), member, depth + 1);
    }
    case reflection::Vector: {
      const uint32_t vector = view_.follow(at);
      if (type.element() == reflection::Obj) {
        const reflection::KeyValue* host = find_attribute(field.attributes(), "hoist_from");
        if (host != nullptr) {
          Status status = check_owners(table, vector, object, field, text_of(host->value()));
          if (!status.ok()) return status;
        }
      }
      return check_vector(vector, field, depth);
    }
    case reflection::UType: {
      // The member itself is checked with the union field, which may be missing.
      const uint8_t member = view_.load<uint8_t>(at);
      if (member == 0) return {};
      if (!is_known(enum_at(schema_, type.index()), member)) {
        return bad("union member is not known; detail = byte offset of its number", at, field);
      }
      if (view_.field(table, field.offset() + 2u) == 0) {
        return bad("union has a member's number and no member; detail = byte offset", at, field);
      }
      return {};
    }
    default:
      return check_scalar(at, type.base_type(), type.index(), field);
  }
}

Status MeaningCheck::check_table(uint32_t table, const reflection::Object& object, uint32_t depth) {
  // Depth and number of tables were limited by the verifier; the depth again, because its limit is not ours to know.
  if (depth > kMaxTableDepth || !spend(8)) {
    return {StatusCode::bad_structure, "tables are nested too deep or shared too often; detail = byte offset", table};
  }
  for (const reflection::Field* field : *object.fields()) {
    const uint32_t at = view_.field(table, field->offset());
    if (at == 0 || field->deprecated()) continue;  // absent ones first: most are
    if (Status status = check_field(table, at, object, *field, depth); !status.ok()) return status;
  }
  return {};
}

}  // namespace

Status check_meaning(std::span<const std::byte> payload, std::span<const std::byte> bfbs) {
  return MeaningCheck(payload, schema_of(bfbs)).run();
}

}  // namespace meridian::detail
