// SPDX-License-Identifier: MIT
#include "meridian/resource/convert.h"

#include <cstdlib>
#include <utility>

#include "meridian/resource/fingerprint.h"
#include "meridian/resource/resource.h"
#include "resource/builtin.h"
#include "resource/checksum.h"
#include "resource/convert_run.h"
#include "resource/semantic.h"
#include "resource/structure.h"

namespace meridian {

/// The only way into Converted's members.
struct ConvertedAccess {
  static void set(Converted& out, Allocator& allocator, std::byte* data, size_t size,
                  detail::ConvertArray<char>& differences, uint32_t count) {
    out.allocator_ = &allocator;
    out.data_ = data;
    out.size_ = out.capacity_ = size;
    out.differences_ = differences.release(out.differences_size_);
    out.difference_count_ = count;
  }
};

namespace detail {
namespace {

/// Tables that are shared in the source are written once for each use, and small values can grow into large ones; both
/// are bounded by this many bytes out for one byte in.
constexpr uint64_t kMaxGrowth = 64;
constexpr uint64_t kMinLimit = uint64_t{1} << 20;

/// Schema bytes at an address that 64-bit loads may use; copied only if they must be.
class AlignedSchema {
 public:
  AlignedSchema(std::span<const std::byte> bfbs, Allocator& allocator) : copy_(allocator), bytes_(bfbs) {
    if (reinterpret_cast<uintptr_t>(bfbs.data()) % 8 == 0) return;
    bytes_ =
        copy_.append(bfbs.data(), bfbs.size()) ? std::span(copy_.data(), copy_.size()) : std::span<const std::byte>();
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  ConvertArray<std::byte> copy_;
  std::span<const std::byte> bytes_;
};

/// Id of a field of ResourceInfo, by name: the info section has no other code that knows its fields.
uint32_t info_field(std::string_view name) {
  const reflection::Schema& schema = schema_of(info_schema());
  for (const reflection::Field* field : *schema.root_table()->fields()) {
    if (text_of(field->name()) == name) return field->id();
  }
  return 0xFFFFFFFF;
}

/// Names and kept XML are copied; the fingerprint and an embedded schema become those of the new layout.
Status rewrite_info(std::span<const std::byte> info, std::span<const std::byte> to, FlatWriter& writer,
                    Allocator& allocator, std::span<const std::byte>& out) {
  if (info.empty()) return {};
  const std::span<const std::byte> bfbs = info_schema();
  if (Status status = check_structure(info, bfbs); !status.ok()) return status;
  ConvertPlan plan(schema_of(bfbs), schema_of(bfbs), allocator);
  if (Status status = plan.make(); !status.ok()) return status;
  TypePair& root = plan.root();
  for (uint32_t i = 0; i < root.field_count; ++i) {
    FieldPlan& field = root.fields[i];
    if (field.id == info_field("schema_fingerprint")) {
      field.constant = true;
      field.absent_bits = schema_fingerprint(to);
    } else if (field.id == info_field("schema")) {
      field.action = FieldAction::bytes;  // written only where the old one had a schema
      field.bytes = to;
    }
  }
  ConvertRun run(info, writer, allocator);
  out = run.run(root, info_kind());
  return out.empty() ? run.status() : Status{};
}

Status check_schemas(const ResourceSections& sections, std::span<const std::byte> from, std::span<const std::byte> to) {
  if (Status status = verify_schema(from); !status.ok()) return status;
  if (Status status = verify_schema(to); !status.ok()) return status;
  if (layout_fingerprint(from) != sections.trailer.layout_fingerprint) {
    return {StatusCode::bad_schema, "schema is not the one that the resource was written by; detail = its fingerprint",
            layout_fingerprint(from)};
  }
  const uint32_t kind = kind_of_schema(schema_of(to));
  if (kind != 0 && kind != sections.trailer.kind) {
    return {StatusCode::wrong_kind, "schema to convert to is of another kind; detail = the resource's kind",
            sections.trailer.kind};
  }
  return {};
}

}  // namespace
}  // namespace detail

Converted::Converted(Converted&& other) noexcept { *this = std::move(other); }

Converted& Converted::operator=(Converted&& other) noexcept {
  std::swap(allocator_, other.allocator_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(differences_, other.differences_);
  std::swap(differences_size_, other.differences_size_);
  std::swap(difference_count_, other.difference_count_);
  return *this;
}

Converted::~Converted() {
  if (data_ != nullptr) allocator_->deallocate(data_, capacity_, kResourceAlignment);
  if (differences_ != nullptr) allocator_->deallocate(differences_, differences_size_, kResourceAlignment);
}

Result<Converted> convert_resource(std::span<const std::byte> bytes, std::span<const std::byte> from,
                                   std::span<const std::byte> to, Allocator& allocator) {
  using namespace detail;
  const Result<ResourceSections> read = read_sections(bytes);
  if (!read.ok()) return read.status();
  const ResourceSections& sections = read.value();
  if (checksum(bytes.first(bytes.size() - sizeof(uint64_t))) != sections.trailer.checksum) {
    return Status{StatusCode::bad_checksum, "checksum does not match: bytes were changed; detail = size", bytes.size()};
  }
  const AlignedSchema from_schema(from, allocator), to_schema(to, allocator);
  from = from_schema.bytes();
  to = to_schema.bytes();
  if (Status status = check_schemas(sections, from, to); !status.ok()) return status;
  if (Status status = check_structure(sections.payload, from); !status.ok()) return status;
  // Also the meaning: an unknown union member must be refused and not vanish.
  if (Status status = check_meaning(sections.payload, from); !status.ok()) return status;

  ConvertPlan plan(schema_of(from), schema_of(to), allocator);
  if (Status status = plan.make(); !status.ok()) return status;
  const uint64_t growth = kMaxGrowth * sections.payload.size();
  const uint64_t limit = growth < kMinLimit ? kMinLimit : growth > kMaxResourceBytes ? kMaxResourceBytes : growth;
  FlatWriter payload_writer(allocator, limit);
  ConvertRun run(sections.payload, payload_writer, allocator);
  const std::span<const std::byte> payload = run.run(plan.root(), sections.trailer.kind);
  if (payload.empty()) return run.status();

  FlatWriter info_writer(allocator, kMaxResourceBytes);
  std::span<const std::byte> info;
  if (Status status = rewrite_info(sections.info, to, info_writer, allocator, info); !status.ok()) return status;
  const uint64_t size = sealed_size(payload.size(), info.size());
  if (size > kMaxResourceBytes)
    return Status{StatusCode::too_large, "converted resource is too large; detail = size", size};
  auto* data = static_cast<std::byte*>(allocator.allocate(static_cast<size_t>(size), kResourceAlignment));
  if (data == nullptr) {
    return Status{StatusCode::out_of_memory, "no memory for the converted resource; detail = size", size};
  }
  seal_resource({data, static_cast<size_t>(size)}, payload, info, sections.trailer.kind, layout_fingerprint(to));
  Converted out;
  ConvertedAccess::set(out, allocator, data, static_cast<size_t>(size), plan.differences(), plan.difference_count());
  return out;
}

std::span<const std::byte> embedded_schema(std::span<const std::byte> bytes) {
  const Result<ResourceSections> read = read_sections(bytes);
  if (!read.ok() || read.value().info.empty()) return {};
  const std::span<const std::byte> info = read.value().info;
  if (!detail::check_structure(info, detail::info_schema()).ok()) return {};
  const detail::DataView view(info);
  const uint32_t at = view.field(view.root(), 4 + 2 * detail::info_field("schema"));
  if (at == 0) return {};
  const uint32_t vector = view.follow(at);
  return info.subspan(vector + 4, view.load<uint32_t>(vector));
}

}  // namespace meridian
