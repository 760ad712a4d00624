// SPDX-License-Identifier: MIT
#include "resource/convert_run.h"

namespace meridian::detail {

std::span<const std::byte> ConvertRun::run(const TypePair& root, uint32_t identifier) {
  const Ref table_ref = table(root, view_.root(), 1);
  return table_ref != 0 ? writer_.finish(table_ref, identifier) : std::span<const std::byte>();
}

uint64_t ConvertRun::bits(reflection::BaseType base, uint32_t at) const {
  uint64_t value = 0;
  std::memcpy(&value, view_.data(at), scalar_size(base));
  return value;
}

/// Writes a new struct from an old struct or table: the image with all defaults, then what the old one has.
void ConvertRun::structure(const TypePair& pair, uint32_t at, std::byte* out) const {
  const auto size = static_cast<size_t>(pair.to->bytesize());
  std::memcpy(out, pair.identical ? view_.data(at) : pair.image, size);
  if (pair.identical) return;
  for (uint32_t i = 0; i < pair.field_count; ++i) {
    const FieldPlan& plan = pair.fields[i];
    const uint32_t from = source(pair, plan, at);
    if (plan.action == FieldAction::structure) {
      if (from != 0) structure(*plan.pair, plan.from_is_table ? view_.follow(from) : from, out + plan.to_slot);
      continue;
    }
    if (from == 0 && plan.optional) continue;
    const uint64_t value =
        from != 0 ? widen(plan.from_base, plan.to_base, bits(plan.from_base, from)) : plan.absent_bits;
    std::memcpy(out + plan.to_slot, &value, plan.size);
  }
}

FlatWriter::Ref ConvertRun::string(uint32_t at) {
  const uint32_t text = view_.follow(at);
  return writer_.string(view_.data(text + 4), view_.load<uint32_t>(text));
}

FlatWriter::Ref ConvertRun::vector(const FieldPlan& plan, uint32_t at, uint32_t depth) {
  const uint32_t from = view_.follow(at);
  const uint32_t count = view_.load<uint32_t>(from);
  Ref out_ref = 0;
  if (plan.action == FieldAction::scalar_vector || plan.action == FieldAction::struct_vector) {
    std::byte* out = writer_.begin_vector(count, plan.size, plan.align, out_ref);
    if (out == nullptr) return 0;
    const bool as_is = plan.action == FieldAction::scalar_vector ? plan.from_base == plan.to_base
                                                                 : !plan.from_is_table && plan.pair->identical;
    if (as_is) {
      if (count != 0) std::memcpy(out, view_.data(from + 4), size_t{count} * plan.size);
      return out_ref;
    }
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t element = from + 4 + i * plan.from_size;
      std::byte* to = out + size_t{i} * plan.size;
      if (plan.action == FieldAction::scalar_vector) {
        const uint64_t value = widen(plan.from_base, plan.to_base, bits(plan.from_base, element));
        std::memcpy(to, &value, plan.size);
      } else {
        structure(*plan.pair, plan.from_is_table ? view_.follow(element) : element, to);
      }
    }
    return out_ref;
  }
  const size_t first = refs_.size();
  if (!refs_.grow(count)) {
    return fail(StatusCode::out_of_memory, "no memory for a conversion; detail = bytes written", writer_.size());
  }
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t element = from + 4 + i * plan.from_size;
    const Ref ref = plan.action == FieldAction::string_vector
                        ? string(element)
                        : table(*plan.pair, plan.from_is_table ? view_.follow(element) : element, depth + 1);
    if (ref == 0) return 0;
    refs_[first + i] = ref;
  }
  out_ref = writer_.vector_of_refs(refs_.data() + first, count);
  refs_.shrink(first);
  return out_ref;
}

/// What a field refers to, written before its table. `member`: number of a union's member, 0 if it was dropped.
FlatWriter::Ref ConvertRun::child(const FieldPlan& plan, uint32_t at, uint32_t depth, uint8_t& member) {
  switch (plan.action) {
    case FieldAction::string:
      return string(at);
    case FieldAction::table:
      return table(*plan.pair, plan.from_is_table ? view_.follow(at) : at, depth + 1);
    case FieldAction::union_value: {
      const UnionMember& to = plan.members[member];
      member = to.number;
      return to.pair != nullptr ? table(*to.pair, view_.follow(at), depth + 1) : 0;
    }
    case FieldAction::bytes: {
      Ref ref = 0;
      std::byte* out = writer_.begin_vector(static_cast<uint32_t>(plan.bytes.size()), 1, kResourceAlign, ref);
      if (out != nullptr) std::memcpy(out, plan.bytes.data(), plan.bytes.size());
      return ref;
    }
    default:
      return vector(plan, at, depth);
  }
}

/// What stands for a required member that the old data lacks: nothing, as far as its type knows nothing.
FlatWriter::Ref ConvertRun::filler(const FieldPlan& plan) {
  if (plan.action == FieldAction::string) return writer_.string(nullptr, 0);
  if (plan.action == FieldAction::table || plan.action == FieldAction::union_value) {
    return fail(StatusCode::no_conversion, "a required member is missing in the old data; detail = its field id",
                plan.id);
  }
  Ref ref = 0;
  const bool inline_elements = plan.action == FieldAction::scalar_vector || plan.action == FieldAction::struct_vector;
  writer_.begin_vector(0, 1, inline_elements ? plan.align : 4, ref);
  return ref;
}

Status ConvertRun::status() const {
  if (!status_.ok()) return status_;
  if (writer_.state() == StatusCode::too_large) {
    return {StatusCode::too_large, "converted resource is too large; detail = bytes written", writer_.size()};
  }
  return {StatusCode::out_of_memory, "no memory for the converted resource; detail = bytes written", writer_.size()};
}

void ConvertRun::write_inline(const TypePair& pair, const FieldPlan& plan, uint32_t at) {
  const uint32_t from = source(pair, plan, at);
  if (plan.action == FieldAction::structure) {
    if (from == 0 && !plan.required) return;
    std::byte* out = writer_.add_inline(plan.id, plan.size, plan.align);
    if (out == nullptr) return;
    if (from != 0)
      structure(*plan.pair, plan.from_is_table ? view_.follow(from) : from, out);
    else
      std::memcpy(out, plan.bytes.data(), plan.size);
    return;
  }
  if (from == 0 && plan.absent_is_same && !plan.constant) return;
  std::byte* out = writer_.add_inline(plan.id, plan.size, plan.align);
  const uint64_t value =
      from != 0 && !plan.constant ? widen(plan.from_base, plan.to_base, bits(plan.from_base, from)) : plan.absent_bits;
  if (out != nullptr) std::memcpy(out, &value, plan.size);
}

FlatWriter::Ref ConvertRun::table(const TypePair& pair, uint32_t at, uint32_t depth) {
  // check_structure() bounded the depth of tables, but structs that become tables add to it.
  if (depth > kMaxTableDepth) {
    return fail(StatusCode::bad_structure, "converted tables are nested too deep; detail = byte offset", at);
  }
  // Two entries a field: what it refers to, and a union's member.
  const size_t first = refs_.size();
  if (!refs_.grow(2 * size_t{pair.field_count})) {
    return fail(StatusCode::out_of_memory, "no memory for a conversion; detail = bytes written", writer_.size());
  }
  for (uint32_t i = 0; i < pair.field_count; ++i) {
    const FieldPlan& plan = pair.fields[i];
    Ref ref = 0;
    uint8_t member = 0;
    if (plan.action != FieldAction::scalar && plan.action != FieldAction::structure) {
      const uint32_t from = source(pair, plan, at);
      if (plan.action == FieldAction::union_value && from != 0) {
        const uint32_t tag = view_.field(at, plan.from_slot - 2);
        member = tag != 0 ? view_.load<uint8_t>(tag) : uint8_t{0};
      }
      if (from != 0) ref = child(plan, from, depth, member);
      const bool dropped = plan.action == FieldAction::union_value && member == 0;
      if (from != 0 && ref == 0 && !dropped) return 0;
      if (ref == 0 && plan.required) {
        ref = filler(plan);
        if (ref == 0) return 0;
      }
    }
    refs_[first + 2 * i] = ref;
    refs_[first + 2 * i + 1] = member;
  }
  writer_.begin_table(pair.table_fields);
  for (uint32_t i = 0; i < pair.field_count; ++i) {
    const FieldPlan& plan = pair.fields[i];
    const Ref ref = refs_[first + 2 * i];
    if (ref != 0) {
      writer_.add_ref(plan.id, ref);
    } else if (plan.action == FieldAction::scalar || plan.action == FieldAction::structure) {
      write_inline(pair, plan, at);
    }
  }
  // The numbers of unions last: single bytes need no filling before them.
  for (uint32_t i = 0; i < pair.field_count; ++i) {
    const FieldPlan& plan = pair.fields[i];
    if (plan.action != FieldAction::union_value || refs_[first + 2 * i] == 0) continue;
    std::byte* out = writer_.add_inline(plan.id - 1, 1, 1);
    if (out != nullptr) *out = static_cast<std::byte>(refs_[first + 2 * i + 1]);
  }
  refs_.shrink(first);
  return writer_.end_table();
}

}  // namespace meridian::detail
