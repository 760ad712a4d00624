// SPDX-License-Identifier: MIT
#include "meridian/tools/pack_view.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <sys/mman.h>
#include <sys/stat.h>

#include "meridian/tools/cli.h"
#include "meridian/tools/file_io.h"
#include "meridian/tools/json_writer.h"
#include "pack_names.h"
#include "posix_file.h"
#include "status_text.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

std::string name_text(const Pack& pack, NameHash name) {
  std::string out(pack.text_of(name));
  if (out.empty()) append_hash_literal(out, name.value);
  return out;
}

std::string hex(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::string how_stored(const PackEntry& entry) {
  if (entry.is_stored()) return "stored";
  if (entry.dictionary.value == 0) return "zstd";
  std::string out = "zstd, dictionary ";
  append_hash_literal(out, entry.dictionary.value);
  return out;
}

/// Names of "removed" rows and of a patch's base; nothing for a pack that is none.
void diff_patch_rows(const Pack& a, const Pack& b, std::vector<std::string>& lines) {
  if (a.base_content() != b.base_content()) lines.emplace_back("patches of different packs");
  const auto in = [](const Pack& pack, PackKey key) {
    return std::binary_search(pack.removed().begin(), pack.removed().end(), key);
  };
  for (const PackKey& key : a.removed())
    if (!in(b, key)) lines.push_back(entry_text(a, key) + ": removed by the first only");
  for (const PackKey& key : b.removed())
    if (!in(a, key)) lines.push_back(entry_text(b, key) + ": removed by the second only");
}

}  // namespace

std::unique_ptr<PackFile> PackFile::open(const std::string& path, std::string& error, int& exit_code) {
  exit_code = kExitEnvironment;
  const File file(open_retrying(path.c_str(), O_RDONLY));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.descriptor(), &status) != 0) {
    error = error_text(errno);
    return nullptr;
  }
  if (S_ISDIR(status.st_mode)) {
    error = error_text(EISDIR);
    return nullptr;
  }
  auto out = std::unique_ptr<PackFile>(new PackFile);  // NOLINT(modernize-make-unique): the constructor is private
  out->path_ = path;
  const auto size = static_cast<size_t>(status.st_size);
  std::span<const std::byte> bytes;
  if (size > 0) {
    void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (at == MAP_FAILED) {
      error = error_text(errno);
      return nullptr;
    }
    out->owner_ = std::shared_ptr<const void>(at, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
    bytes = {static_cast<const std::byte*>(at), size};
  }
  exit_code = kExitRejected;
  return out->adopt(bytes, error) ? std::move(out) : nullptr;
}

std::unique_ptr<PackFile> PackFile::from_bytes(std::string name, std::string_view bytes, std::string& error) {
  auto out = std::unique_ptr<PackFile>(new PackFile);  // NOLINT(modernize-make-unique): the constructor is private
  out->path_ = std::move(name);
  struct alignas(kPackAlignment) Line {
    std::byte bytes[kPackAlignment];
  };
  const auto lines = std::make_shared<std::vector<Line>>(bytes.size() / sizeof(Line) + 1);
  std::memcpy(lines->data(), bytes.data(), bytes.size());
  out->owner_ = lines;
  return out->adopt(std::as_bytes(std::span(*lines)).first(bytes.size()), error) ? std::move(out) : nullptr;
}

bool PackFile::adopt(std::span<const std::byte> bytes, std::string& error) {
  const Result<Pack> opened = open_pack(bytes);
  if (opened.ok()) {
    pack_ = opened.value();
    return true;
  }
  const Status& status = opened.status();
  if (status.name.value != 0) {
    error = "entry ";
    append_hash_literal(error, status.name.value);
    error += ": ";
  }
  error += describe(status);
  return false;
}

bool is_pack_file(const std::string& path) {
  const File file(open_retrying(path.c_str(), O_RDONLY));
  struct stat status {};
  PackHeader header;
  if (!file.is_open() || ::fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  return read_retrying(file.descriptor(), &header, sizeof header) == ssize_t{sizeof header} &&
         looks_like_pack(std::as_bytes(std::span(&header, 1)));
}

std::string entry_text(const Pack& pack, PackKey key) {
  return pack_name_text(key.kind, key.name, pack.text_of(key.name));
}

std::string pack_list_text(const Pack& pack) {
  constexpr size_t kColumns = 5;
  std::vector<std::vector<std::string>> rows = {{"kind", "name", "bytes", "in pack", "how"}};
  uint64_t raw = 0, stored = 0;
  for (const uint32_t i : pack.order()) {
    const PackEntry& e = pack.entries()[i];
    rows.push_back({kind_text(e.kind), printable(name_text(pack, e.name)), std::to_string(e.raw_size),
                    std::to_string(e.stored_size), how_stored(e)});
    raw += e.raw_size;
    stored += e.stored_size;
  }
  for (const PackKey& key : pack.removed())
    rows.push_back({kind_text(key.kind), printable(name_text(pack, key.name)), "", "", "removed"});
  size_t width[kColumns] = {};
  for (const auto& row : rows)
    for (size_t c = 0; c < kColumns; ++c) width[c] = std::max(width[c], row[c].size());
  std::string out;
  for (const auto& row : rows) {
    for (size_t c = 0; c + 1 < kColumns; ++c) {
      const std::string gap(width[c] - row[c].size(), ' ');
      const bool is_number = c == 2 || c == 3;
      out += (is_number ? gap + row[c] : row[c] + gap) + "  ";
    }
    out += row.back() + "\n";
  }
  out += std::to_string(pack.entries().size()) + " entries, " + std::to_string(raw) + " bytes, " +
         std::to_string(stored) + " in the pack";
  if (pack.is_patch()) out += "; a patch of content " + hex(pack.base_content());
  return out + "\n";
}

std::string pack_list_json(const Pack& pack) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("version", kPackVersion);
  json.member("content_hash", std::string_view(hex(pack.content_hash())));
  if (pack.is_patch()) json.member("base_content_hash", std::string_view(hex(pack.base_content())));
  json.key("entries");
  json.begin_array();
  for (const uint32_t i : pack.order()) {
    const PackEntry& e = pack.entries()[i];
    json.begin_object();
    json.member("kind", std::string_view(kind_text(e.kind)));
    json.member("name", std::string_view(name_text(pack, e.name)));
    json.member("offset", e.offset);
    json.member("stored_size", e.stored_size);
    json.member("raw_size", e.raw_size);
    json.member("stored_hash", std::string_view(hex(e.stored_hash)));
    json.member("raw_hash", std::string_view(hex(e.raw_hash)));
    json.member("compression", e.is_stored() ? "none" : "zstd");
    if (e.dictionary.value != 0) json.member("dictionary", std::string_view(name_text(pack, e.dictionary)));
    json.end_object();
  }
  json.end_array();
  json.key("removed");
  json.begin_array();
  for (const PackKey& key : pack.removed()) {
    json.begin_object();
    json.member("kind", std::string_view(kind_text(key.kind)));
    json.member("name", std::string_view(name_text(pack, key.name)));
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return out + "\n";
}

std::vector<std::string> pack_diff_lines(const Pack& a, const Pack& b) {
  std::vector<std::string> lines;
  const auto sizes = [](const PackEntry& e) { return std::to_string(e.raw_size) + " bytes"; };
  size_t i = 0, j = 0;
  const std::span<const PackEntry> x = a.entries(), y = b.entries();
  while (i < x.size() || j < y.size()) {
    const bool only_a = j == y.size() || (i < x.size() && x[i].key() < y[j].key());
    const bool only_b = !only_a && (i == x.size() || y[j].key() < x[i].key());
    const PackEntry& e = only_b ? y[j] : x[i];
    if (e.kind == kPackDictionaryKind) {
    } else if (only_a) {
      lines.push_back(entry_text(a, e.key()) + ": only in the first (" + sizes(e) + ")");
    } else if (only_b) {
      lines.push_back(entry_text(b, e.key()) + ": only in the second (" + sizes(e) + ")");
    } else if (e.raw_size != y[j].raw_size || e.raw_hash != y[j].raw_hash) {
      const Pack& named = a.text_of(e.name).empty() ? b : a;
      lines.push_back(entry_text(named, e.key()) + ": differs (" + sizes(e) + " -> " + sizes(y[j]) + ")");
    }
    if (!only_b) ++i;
    if (!only_a) ++j;
  }
  diff_patch_rows(a, b, lines);
  return lines;
}

}  // namespace meridian::tools
