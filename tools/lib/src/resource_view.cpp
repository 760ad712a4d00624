// SPDX-License-Identifier: MIT
#include "meridian/tools/resource_view.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "meridian/compat/released_schemas.h"
#include "meridian/resource/convert.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/schemas/resource_info_generated.h"
#include "status_text.h"

namespace meridian::tools {
namespace {

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
      out.kept[k->path()->str()].push_back({static_cast<uint8_t>(k->kind()),
                                            k->name() ? k->name()->string_view() : std::string_view(),
                                            k->text() ? k->text()->string_view() : std::string_view()});
}

// Reads to the end, so that pipes work too. "-" is standard input.
bool read_file(const std::string& path, std::vector<uint64_t>& storage, size_t& size, std::string& error) {
  errno = 0;
  std::FILE* const file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  bool good = file != nullptr;
  size = 0;
  while (good) {
    if (storage.size() * 8 - size < (size_t{1} << 16))
      storage.resize(std::max<size_t>(storage.size() * 2, size_t{1} << 14));
    const size_t got = std::fread(reinterpret_cast<char*>(storage.data()) + size, 1, storage.size() * 8 - size, file);
    size += got;
    if (got > 0) continue;
    good = std::ferror(file) == 0;
    break;
  }
  if (!good) error = std::strerror(errno != 0 ? errno : EIO);
  if (file != nullptr && file != stdin) std::fclose(file);
  return good;
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
  if (!supplied.empty())
    out.binding = bind(supplied, error);
  else if (builtin != nullptr)
    out.binding = {Binding::builtin(kind), [](const Binding*) {}};
  else if (!embedded.empty())
    out.binding = bind(embedded, error);
  else
    error = "no schema for this kind: give --schema, or compile with --embed-schema";
  if (out.binding == nullptr) return false;
  const auto current = std::as_bytes(out.binding->bfbs());

  OpenOptions open{.kind = kind,
                   .schema = builtin != nullptr && supplied.empty() ? std::span<const std::byte>() : current};
  Result<Resource> opened = open_resource(out.bytes, open);
  if (!opened.ok() && opened.status().code == StatusCode::layout_differs) {
    if (embedded.empty()) embedded = find_released_schema(kind, sections.value().trailer.layout_fingerprint);
    if (!embedded.empty()) {
      Result<Converted> converted = convert_resource(out.bytes, embedded, current);
      if (!converted.ok()) {
        error = "cannot be converted: " + describe(converted.status());
        return false;
      }
      std::string differences = converted.value().differences();
      while (!differences.empty() && differences.back() == '\n') differences.pop_back();
      for (size_t p = differences.find('\n'); p != std::string::npos; p = differences.find('\n', p))
        differences.replace(p, 1, "; ");
      out.warning = "written by another layout and converted: " + differences;
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

bool load_resource(const std::string& path, const LoadOptions& options, LoadedResource& out, std::string& error,
                   int& exit_code) {
  out = LoadedResource();
  out.path = path;
  size_t size = 0;
  errno = 0;
  exit_code = 3;
  if (!read_file(path, out.storage, size, error)) return false;
  exit_code = 1;
  return open_stored(out, size, options, error);
}

bool view_resource(const std::string& name, std::span<const uint8_t> bytes, const LoadOptions& options,
                   LoadedResource& out, std::string& error) {
  out = LoadedResource();
  out.path = name;
  out.storage.assign(bytes.size() / 8 + 1, 0);
  if (!bytes.empty()) std::memcpy(out.storage.data(), bytes.data(), bytes.size());
  return open_stored(out, bytes.size(), options, error);
}

}  // namespace meridian::tools
