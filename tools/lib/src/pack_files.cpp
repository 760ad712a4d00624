// SPDX-License-Identifier: MIT
// Entries of packs one by one: read, verified, named as files.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "meridian/resource/fingerprint.h"
#include "meridian/tools/pack_view.h"
#include "pack_names.h"
#include "status_text.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

/// File systems take 255 bytes; the rest is for the extension.
constexpr size_t kMaxStemBytes = 200;

/// How many bytes at `at` are one character of UTF-8; 0: they are none.
size_t utf8_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0)) return 0;
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90)) return 0;
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

void append_escape(std::string& out, char c) {
  char escape[4];
  std::snprintf(escape, sizeof escape, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
  out += escape;
}

/// Names that Windows takes for a device, with any extension.
bool is_device(std::string_view stem) {
  const std::string name = fold(stem.substr(0, stem.find('.')));
  for (const std::string_view device : {"con", "prn", "aux", "nul"})
    if (name == device) return true;
  const bool numbered = name.size() == 4 && (name.starts_with("com") || name.starts_with("lpt"));
  return numbered && name[3] >= '0' && name[3] <= '9';
}

std::string encoded_stem(std::string_view text) {
  constexpr std::string_view kForbidden = "/\\:*?\"<>|%";
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text, at);
    const char c = text[at];
    const bool ascii = length == 1;
    const bool bad =
        length == 0 ||
        (ascii && (static_cast<unsigned char>(c) < 0x20 || c == 0x7F || kForbidden.find(c) != std::string_view::npos));
    const bool edge = (at == 0 && (c == '.' || is_device(text))) || (at + 1 == text.size() && (c == '.' || c == ' '));
    if (bad || edge) {
      append_escape(out, c);
      ++at;
    } else {
      out += text.substr(at, length);
      at += length;
    }
  }
  return out;
}

std::string extension_of(uint32_t kind) {
  if (kind == kPackDictionaryKind) return "zdict";
  if (kind == kPackSchemaKind) return "bfbs";
  if (const BuiltinSchema* const builtin = find_builtin_schema(kind)) return builtin->extension;
  return kind_text(kind) + ".mmeta";
}

}  // namespace

bool PackEntryReader::read(const PackEntry& entry, std::span<const std::byte>& out, std::string& error) {
  // Stored ones need nothing that could have failed.
  if (!ready_.ok() && !entry.is_stored()) {
    error = describe(ready_);
    return false;
  }
  buffer_.resize(entry.raw_size / sizeof(uint64_t) + 1);
  const std::span<std::byte> to = std::as_writable_bytes(std::span(buffer_)).first(entry.raw_size);
  if (const Status status = decompressor_.read(pack_, entry, to); !status.ok()) {
    error = describe(status);
    return false;
  }
  out = to;
  return true;
}

void verify_pack_entries(const Pack& pack, const LoadOptions& options,
                         const std::function<void(const PackEntry&, std::string message, bool is_error)>& found,
                         const std::function<bool()>& cancelled) {
  PackEntryReader reader(pack);
  std::string error;
  LoadedResource resource;
  for (const uint32_t i : pack.order()) {
    if (cancelled()) return;
    const PackEntry& entry = pack.entries()[i];
    std::span<const std::byte> bytes;
    if (!reader.read(entry, bytes, error)) {
      found(entry, error, true);
      continue;
    }
    if (entry.kind == kPackDictionaryKind) {
      // Whether it serves is seen where entries use it; preparing all of them tells of the first that does not.
      PackDecompressor decompressor;
      const Status status = decompressor.prepare(pack);
      if (!status.ok() && status.name == entry.name) found(entry, describe(status), true);
      continue;
    }
    if (entry.kind == kPackSchemaKind) {
      if (const Status status = verify_schema(bytes); !status.ok()) found(entry, describe(status), true);
      continue;
    }
    LoadOptions load = options;
    if (load.schema.empty() && find_builtin_schema(entry.kind) == nullptr) {
      const Result<std::span<const std::byte>> shared = pack.schema(entry.kind);
      if (shared.ok()) {
        const auto* const first = reinterpret_cast<const uint8_t*>(shared.value().data());
        load.schema.assign(first, first + shared.value().size());
      }
    }
    const std::span<const uint8_t> raw(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    if (!view_resource(entry_text(pack, entry.key()), raw, load, resource, error)) {
      found(entry, error, true);
    } else if (resource.resource.kind() != entry.kind) {
      found(entry, "holds a resource of kind " + kind_text(resource.resource.kind()), true);
    } else if (!resource.warning.empty()) {
      found(entry, resource.warning, false);
    }
  }
}

EntryFileName entry_file_name(const Pack& pack, const PackEntry& entry) {
  EntryFileName out;
  const std::string_view text = pack.text_of(entry.name);
  out.name = encoded_stem(text);
  out.changed = out.name != text || text.size() > kMaxStemBytes;
  if (out.name.empty() || out.name.size() > kMaxStemBytes) {
    out.name.clear();
    append_hash_literal(out.name, entry.name.value);
  }
  out.name += "." + extension_of(entry.kind);
  return out;
}

bool is_entry_called(const Pack& pack, const PackEntry& entry, std::string_view called) {
  const auto names_it = [&](std::string_view text) {
    uint32_t hash = 0;
    return (parse_hash_literal(text, hash) && entry.name.value == hash) || entry.name == hash_name(text);
  };
  if (names_it(called)) return true;
  const std::string folded = fold(called), extension = fold("." + extension_of(entry.kind));
  if (folded.ends_with(extension) && names_it(called.substr(0, called.size() - extension.size()))) return true;
  return folded == fold(entry_file_name(pack, entry).name);
}

}  // namespace meridian::tools
