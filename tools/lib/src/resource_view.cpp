// SPDX-License-Identifier: MIT
#include "meridian/tools/resource_view.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "meridian/compat/released_schemas.h"
#include "meridian/resource/convert.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/schemas/resource_info_generated.h"

namespace meridian::tools {
namespace {

std::string describe(const Status& s) {
  std::string text = std::string(s.message) + " [" + to_string(s.code) + "]";
  if (s.detail != 0) text += ", detail " + std::to_string(s.detail);
  return text;
}

std::shared_ptr<const Binding> bind(std::span<const std::byte> bfbs, std::string& error) {
  if (const Status s = verify_schema(bfbs); !s.ok()) {
    error = "the schema is not valid: " + describe(s);
    return nullptr;
  }
  const auto* const data = reinterpret_cast<const uint8_t*>(bfbs.data());
  return Binding::create(std::vector<uint8_t>(data, data + bfbs.size()), error);
}

void read_info(LoadedResource& out) {
  if (out.resource.info().empty()) return;
  const auto* const info = flatbuffers::GetRoot<schema::ResourceInfo>(out.resource.info().data());
  out.format_version = info->format_version();
  if (info->names() != nullptr)
    for (const schema::NameEntry* n : *info->names()) out.names.emplace(n->hash(), n->text()->string_view());
  if (info->kept() != nullptr)
    for (const schema::KeptXml* k : *info->kept())
      out.kept[k->path()->str()].push_back({static_cast<uint8_t>(k->kind()), k->name() ? k->name()->string_view() : std::string_view(),
                                            k->text() ? k->text()->string_view() : std::string_view()});
}

bool read_file(const std::string& path, std::vector<uint64_t>& storage, size_t& size, std::string& error) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff end = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (end < 0 || end > std::streamoff{1} << 40) {
    error = std::strerror(errno != 0 ? errno : EIO);
    return false;
  }
  size = static_cast<size_t>(end);
  storage.assign(size / 8 + 1, 0);
  file.seekg(0);
  if (size > 0 && !file.read(reinterpret_cast<char*>(storage.data()), end)) {
    error = std::strerror(errno != 0 ? errno : EIO);
    return false;
  }
  return true;
}

// Opens what lies in out.storage.
bool open_stored(LoadedResource& out, size_t size, const LoadOptions& options, std::string& error) {
  out.bytes = std::as_bytes(std::span(out.storage)).first(size);

  const Result<ResourceSections> sections = read_sections(out.bytes);
  if (!sections.ok()) {
    error = describe(sections.status());
    return false;
  }
  const uint32_t kind = sections.value().trailer.kind;
  const BuiltinSchema* const builtin = find_builtin_schema(kind);
  const std::span<const std::byte> supplied = std::as_bytes(std::span(options.schema));
  std::span<const std::byte> embedded = embedded_schema(out.bytes);

  // What to read by: a schema from the command line, else ours, else the file's own.
  if (!supplied.empty()) out.binding = bind(supplied, error);
  else if (builtin != nullptr) out.binding = {Binding::builtin(kind), [](const Binding*) {}};
  else if (!embedded.empty()) out.binding = bind(embedded, error);
  else error = "no schema for this kind: give --schema, or compile with --embed-schema";
  if (out.binding == nullptr) return false;
  const auto current = std::as_bytes(out.binding->bfbs());

  OpenOptions open{.kind = kind, .schema = builtin != nullptr && supplied.empty() ? std::span<const std::byte>() : current};
  Result<Resource> opened = open_resource(out.bytes, open);
  if (!opened.ok() && opened.status().code == StatusCode::layout_differs) {
    if (embedded.empty()) embedded = find_released_schema(kind, sections.value().trailer.layout_fingerprint);
    if (!embedded.empty()) {
      Result<Converted> converted = convert_resource(out.bytes, embedded, current);
      if (!converted.ok()) {
        error = "cannot be converted: " + describe(converted.status());
        return false;
      }
      out.warning = "written by another layout and converted: " + std::string(converted.value().differences());
      const std::span<const std::byte> bytes = converted.value().bytes();
      out.storage.assign(bytes.size() / 8 + 1, 0);
      std::memcpy(out.storage.data(), bytes.data(), bytes.size());
      out.bytes = std::as_bytes(std::span(out.storage)).first(bytes.size());
      opened = open_resource(out.bytes, open);
    }
  }
  if (!opened.ok()) {
    error = describe(opened.status());
    return false;
  }
  out.resource = opened.value();
  read_info(out);
  return true;
}

}  // namespace

bool load_resource(const std::string& path, const LoadOptions& options, LoadedResource& out, std::string& error, int& exit_code) {
  out = LoadedResource();
  out.path = path;
  size_t size = 0;
  errno = 0;
  exit_code = 3;
  if (!read_file(path, out.storage, size, error)) return false;
  exit_code = 1;
  return open_stored(out, size, options, error);
}

bool view_resource(const std::string& name, std::span<const uint8_t> bytes, const LoadOptions& options, LoadedResource& out,
                   std::string& error) {
  out = LoadedResource();
  out.path = name;
  out.storage.assign(bytes.size() / 8 + 1, 0);
  if (!bytes.empty()) std::memcpy(out.storage.data(), bytes.data(), bytes.size());
  return open_stored(out, bytes.size(), options, error);
}

}  // namespace meridian::tools
