// SPDX-License-Identifier: MIT
#include "meridian/resource/resource.h"

#include "flatbuffers/flatbuffers.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/world_index_generated.h"
#include "resource/builtin.h"
#include "resource/checksum.h"
#include "resource/cooked_check.h"
#include "resource/index_check.h"
#include "resource/schema_view.h"
#include "resource/semantic.h"
#include "resource/structure.h"

namespace meridian {
namespace detail {
namespace {

/// Every table has its own vtable offset and somebody's offset to it, 8 bytes; beyond that, tables are shared so often
/// that following them is an attack and not data.
bool verify_flatbuffer(std::span<const std::byte> bytes, uint32_t kind) {
  flatbuffers::Verifier::Options options;
  options.max_depth = kMaxTableDepth;
  options.max_tables = static_cast<flatbuffers::uoffset_t>(bytes.size() / 8 + 64);
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), options);
  return verify_root(kind, verifier);
}

Status layout_differs(uint64_t fingerprint) {
  return {StatusCode::layout_differs, "written by another layout; needs conversion (detail = its layout fingerprint)",
          fingerprint};
}

}  // namespace
}  // namespace detail

const BuiltinSchema* find_builtin_schema(uint32_t kind) {
  for (const BuiltinSchema& schema : builtin_schemas()) {
    if (schema.kind == kind) return &schema;
  }
  return nullptr;
}

Result<Resource> open_resource(std::span<const std::byte> bytes, const OpenOptions& options) {
  const bool size_fits = bytes.size() >= sizeof(ResourceTrailer) && bytes.size() <= kMaxResourceBytes;
  const uintptr_t misaligned = reinterpret_cast<uintptr_t>(bytes.data()) % kResourceAlignment;
  if (size_fits && misaligned != 0) {  // a size that does not fit is read_sections' to report, without reading
    return Status{StatusCode::misaligned, "resource bytes are not 16-aligned; copy them (detail = address mod 16)",
                  misaligned};
  }
  Result<ResourceSections> read = read_sections(bytes);
  if (!read.ok()) return read.status();
  const ResourceSections& sections = read.value();
  const uint32_t kind = sections.trailer.kind;
  const bool own_schema = !options.schema.empty();
  const BuiltinSchema* builtin = own_schema ? nullptr : find_builtin_schema(kind);
  if ((options.kind != 0 && kind != options.kind) || (!own_schema && builtin == nullptr)) {
    return Status{StatusCode::wrong_kind, "resource of another kind; detail = its kind", kind};
  }
  if (!options.trusted && detail::checksum(bytes.first(bytes.size() - sizeof(uint64_t))) != sections.trailer.checksum) {
    return Status{StatusCode::bad_checksum, "checksum does not match: bytes were changed; detail = size", bytes.size()};
  }

  Resource out;
  out.payload_ = sections.payload;
  out.info_ = sections.info;
  out.kind_ = kind;
  out.layout_fingerprint_ = sections.trailer.layout_fingerprint;
  if (builtin != nullptr) {
    if (out.layout_fingerprint_ != builtin->layout_fingerprint) {
      for (const uint64_t known : builtin->compatible) out.older_layout_ |= known == out.layout_fingerprint_;
      if (!out.older_layout_) return detail::layout_differs(out.layout_fingerprint_);
    }
  } else if (layout_fingerprint(options.schema) != out.layout_fingerprint_) {
    return detail::layout_differs(out.layout_fingerprint_);
  }
  if (options.trusted) return out;

  if (builtin == nullptr) {
    if (Status status = detail::check_structure(out.payload_, options.schema); !status.ok()) return status;
  } else if (!detail::verify_flatbuffer(out.payload_, kind)) {
    return Status{StatusCode::bad_structure, "payload has offsets or sizes that do not fit; detail = payload size",
                  out.payload_.size()};
  }
  if (!out.info_.empty() && !detail::verify_flatbuffer(out.info_, detail::info_kind())) {
    return Status{StatusCode::bad_structure, "info section has offsets that do not fit; detail = its offset",
                  static_cast<uint64_t>(out.info_.data() - bytes.data())};
  }
  const std::span<const std::byte> schema = builtin != nullptr ? builtin->bfbs : options.schema;
  if (Status status = detail::check_meaning(out.payload_, schema); !status.ok()) return status;
  if (builtin != nullptr && kind == detail::kMapKind) {
    if (Status status = detail::check_cooked(*out.root<schema::MapData>()); !status.ok()) return status;
  }
  if (builtin != nullptr && kind == detail::kIndexKind) {
    const Status status = detail::check_world_index(*out.root<schema::WorldIndex>(), out.payload_.size());
    if (!status.ok()) return status;
  }
  return out;
}

}  // namespace meridian
