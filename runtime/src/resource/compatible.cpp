// SPDX-License-Identifier: MIT
#include "meridian/resource/fingerprint.h"
#include "resource/schema_view.h"

namespace meridian {
namespace detail {
namespace {

/// Follows both schemas from their roots at once. Each older type has one newer partner.
class InPlaceCheck {
 public:
  InPlaceCheck(const reflection::Schema& newer, const reflection::Schema& older) : newer_(newer), older_(older) {
    for (int16_t& partner : partner_) partner = -1;
  }

  bool run() {
    if (!pair_objects(root_index(newer_), root_index(older_))) return false;
    while (pending_) {
      pending_ = false;
      for (uint32_t i = 0; i < older_.objects()->size(); ++i) {
        if (partner_[i] < 0 || done_[i]) continue;
        done_[i] = true;
        if (!same_object(object_at(newer_, partner_[i]), *older_.objects()->Get(i))) return false;
      }
    }
    return true;
  }

 private:
  bool pair_objects(int32_t newer, int32_t older) {
    int16_t& partner = partner_[older];
    if (partner >= 0) return partner == newer;
    partner = static_cast<int16_t>(newer);
    pending_ = true;
    return true;
  }

  bool same_type(const reflection::Type& newer, const reflection::Type& older) {
    if (newer.base_type() != older.base_type() || newer.element() != older.element()) return false;
    if ((newer.index() < 0) != (older.index() < 0)) return false;
    if (newer.index() < 0) return true;
    const reflection::BaseType base = newer.base_type() == reflection::Vector ? newer.element() : newer.base_type();
    if (base == reflection::Obj) return pair_objects(newer.index(), older.index());
    return same_enum(enum_at(newer_, newer.index()), enum_at(older_, older.index()));
  }

  bool same_enum(const reflection::Enum& newer, const reflection::Enum& older) {
    if (text_of(newer.name()) != text_of(older.name()) || newer.is_union() != older.is_union()) return false;
    if (newer.underlying_type()->base_type() != older.underlying_type()->base_type()) return false;
    for (const reflection::EnumVal* value : *older.values()) {
      const reflection::EnumVal* found = nullptr;
      for (const reflection::EnumVal* candidate : *newer.values()) {
        if (candidate->value() == value->value()) found = candidate;
      }
      if (found == nullptr || text_of(found->name()) != text_of(value->name())) return false;
      const reflection::Type *a = found->union_type(), *b = value->union_type();
      const bool table_a = a != nullptr && a->base_type() == reflection::Obj;
      const bool table_b = b != nullptr && b->base_type() == reflection::Obj;
      if (newer.is_union() && (table_a != table_b || (table_a && !pair_objects(a->index(), b->index())))) return false;
    }
    return true;
  }

  bool same_object(const reflection::Object& newer, const reflection::Object& older) {
    if (text_of(newer.name()) != text_of(older.name()) || newer.is_struct() != older.is_struct()) return false;
    if (newer.fields()->size() < older.fields()->size()) return false;
    if (newer.is_struct() && (newer.bytesize() != older.bytesize() || newer.minalign() != older.minalign() ||
                              newer.fields()->size() != older.fields()->size())) {
      return false;
    }
    const FieldOrder newer_order(newer), older_order(older);
    for (uint32_t i = 0; i < newer_order.size(); ++i) {
      const reflection::Field& a = newer_order.field(newer, i);
      if (i >= older_order.size()) {
        if (a.required()) return false;  // old files lack it
        continue;
      }
      const reflection::Field& b = older_order.field(older, i);
      if (text_of(a.name()) != text_of(b.name()) || a.offset() != b.offset()) return false;
      if (a.default_integer() != b.default_integer() || a.optional() != b.optional()) return false;
      if (!(a.default_real() == b.default_real()) || a.deprecated() != b.deprecated()) return false;
      if ((a.required() && !b.required()) || !same_type(*a.type(), *b.type())) return false;
    }
    return true;
  }

  const reflection::Schema &newer_, &older_;
  int16_t partner_[kMaxObjects];
  bool done_[kMaxObjects] = {};
  bool pending_ = false;
};

}  // namespace
}  // namespace detail

bool reads_in_place(std::span<const std::byte> newer, std::span<const std::byte> older) {
  return detail::InPlaceCheck(detail::schema_of(newer), detail::schema_of(older)).run();
}

}  // namespace meridian
