// SPDX-License-Identifier: MIT
#include "world_build/unit_cache.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meridian/schemas/build_state_generated.h"
#include "meridian/tools/file_io.h"

namespace meridian::tools {
namespace {

namespace fs = std::filesystem;

struct Mapping {
  void* at = nullptr;
  size_t size = 0;
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (at != nullptr) ::munmap(at, size);
  }
};

/// Bytes of an entry, 16-aligned, and what keeps them alive.
struct Blob {
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> bytes;
};

/// Maps a file and marks it as used now.
Blob map_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  struct stat status {};
  auto mapping = std::make_shared<Mapping>();
  if (::fstat(fd, &status) == 0 && status.st_size > 0) {
    mapping->size = static_cast<size_t>(status.st_size);
    void* const at = ::mmap(nullptr, mapping->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at != MAP_FAILED) mapping->at = at;
  }
  ::futimens(fd, nullptr);
  ::close(fd);
  if (mapping->at == nullptr) return {};
  const std::span<const uint8_t> bytes(static_cast<const uint8_t*>(mapping->at), mapping->size);
  return {std::move(mapping), bytes};
}

// Every entry ends with the hash of all before it: a half-written or damaged one must not become an output.
constexpr size_t kSealSize = 16;

bool is_sealed(std::span<const uint8_t> bytes) {
  if (bytes.size() < kSealSize) return false;
  const Digest digest = digest_of(bytes.data(), bytes.size() - kSealSize);
  return std::memcmp(bytes.data() + bytes.size() - kSealSize, &digest, kSealSize) == 0;
}

std::vector<uint8_t> sealed(std::span<const uint8_t> bytes) {
  std::vector<uint8_t> out(bytes.begin(), bytes.end());
  const Digest digest = digest_of(bytes.data(), bytes.size());
  const auto* const seal = reinterpret_cast<const uint8_t*>(&digest);
  out.insert(out.end(), seal, seal + kSealSize);
  return out;
}

constexpr std::string_view kUnitExtension = ".unit", kDictionaryExtension = ".dict";

constexpr int64_t kStrayAge = 3600;  // no write of an entry takes so long [s]

std::string_view view(const flatbuffers::String* s) { return s == nullptr ? std::string_view() : s->string_view(); }

std::shared_ptr<const CompiledUnit> read_unit(const Digest& key, Blob blob) {
  const std::span<const uint8_t> bytes = blob.bytes.first(blob.bytes.size() - kSealSize);
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  if (!verifier.VerifyBuffer<schema::CachedUnit>(nullptr)) return nullptr;
  const auto& stored = *flatbuffers::GetRoot<schema::CachedUnit>(bytes.data());
  if (stored.key() != key.low || stored.key_high() != key.high) return nullptr;
  auto unit = std::make_shared<CompiledUnit>();
  if (stored.resource() != nullptr) unit->resource = {stored.resource()->data(), stored.resource()->size()};
  if (stored.findings() != nullptr)
    for (const schema::StoredFinding* f : *stored.findings()) {
      Finding& finding = unit->findings.emplace_back();
      finding.rule = find_rule(view(f->rule()));
      if (finding.rule == nullptr) return nullptr;
      finding.severity = static_cast<Severity>(f->severity());
      finding.offset = f->offset();
      finding.object = view(f->object());
      finding.message = view(f->message());
      if (f->related() != nullptr)
        for (const schema::StoredRelated* r : *f->related())
          finding.related.push_back({static_cast<size_t>(r->offset()), std::string(view(r->message())), {}, {}});
    }
  if (stored.waivers() != nullptr)
    for (const schema::StoredWaiver* w : *stored.waivers()) {
      unit->waivers.push_back({w->offset(), w->begin(), w->end(), {}});
      unit->waiver_texts.emplace_back(w->text_begin(), w->text_size());
    }
  if (stored.names() != nullptr) {
    unit->names.reserve(stored.names()->size());
    for (const schema::StoredName* n : *stored.names()) {
      unit->names.emplace_back(n->hash(), view(n->text()));
      unit->name_offsets.push_back(n->offset());
    }
  }
  unit->owner = std::move(blob.owner);
  return unit;
}

std::vector<uint8_t> pack_unit(const Digest& key, const CompileResult& result, const SourceText& source) {
  flatbuffers::FlatBufferBuilder fbb(result.bytes.size() + 4096);
  std::vector<flatbuffers::Offset<schema::StoredFinding>> findings;
  for (const Finding& f : result.findings) {
    std::vector<flatbuffers::Offset<schema::StoredRelated>> related;
    for (const Finding::Related& r : f.related)
      related.push_back(schema::CreateStoredRelated(fbb, 0, r.offset, 0, 0, fbb.CreateString(r.message)));
    const auto related_vector = fbb.CreateVector(related);
    findings.push_back(
        schema::CreateStoredFinding(fbb, fbb.CreateString(std::string(f.rule->code)), static_cast<uint8_t>(f.severity),
                                    f.offset, fbb.CreateString(f.object), fbb.CreateString(f.message), related_vector));
  }
  std::vector<schema::StoredWaiver> waivers;
  for (const Waiver& w : result.waivers)
    waivers.emplace_back(w.offset, w.begin, w.end, static_cast<uint64_t>(w.text.data() - source.text().data()),
                         w.text.size());
  std::vector<flatbuffers::Offset<schema::StoredName>> names;
  for (const NameUse& n : result.names)
    names.push_back(schema::CreateStoredName(fbb, n.hash, fbb.CreateString(n.text), n.offset));
  const auto finding_vector = fbb.CreateVector(findings);
  const auto waiver_vector = fbb.CreateVectorOfStructs(waivers);
  const auto name_vector = fbb.CreateVector(names);
  fbb.ForceVectorAlignment(result.bytes.size(), 1, 16);
  const auto resource = fbb.CreateVector(result.bytes);
  fbb.Finish(schema::CreateCachedUnit(fbb, key.low, key.high, resource, finding_vector, waiver_vector, name_vector));
  return sealed({fbb.GetBufferPointer(), fbb.GetSize()});
}

}  // namespace

std::string BuildCache::path_of(std::string_view hex, std::string_view extension) const {
  return folder_ + "/" + std::string(hex.substr(0, 2)) + "/" + std::string(hex.substr(2)) + std::string(extension);
}

// Key and dictionary under one seal: an entry under another's name is as good as a damaged one.
bool BuildCache::find_dictionary(std::string_view key, std::vector<uint8_t>& out) const {
  if (folder_.empty()) return false;
  const Blob blob = map_file(path_of(key, kDictionaryExtension));
  if (!is_sealed(blob.bytes) || blob.bytes.size() < kSealSize + key.size()) return false;
  if (std::memcmp(blob.bytes.data(), key.data(), key.size()) != 0) return false;
  out.assign(blob.bytes.begin() + static_cast<ptrdiff_t>(key.size()), blob.bytes.end() - kSealSize);
  return true;
}

int BuildCache::store_dictionary(std::string_view key, std::span<const uint8_t> dictionary) const {
  if (folder_.empty()) return 0;
  const std::string path = path_of(key, kDictionaryExtension);
  std::vector<uint8_t> bytes(key.begin(), key.end());
  bytes.insert(bytes.end(), dictionary.begin(), dictionary.end());
  if (const int error = create_parent_folders(path); error != 0) return error;
  return write_file(path, sealed(bytes), WriteMode::always).error;
}

std::shared_ptr<const CompiledUnit> BuildCache::find_unit(const Digest& key) const {
  if (folder_.empty()) return nullptr;
  Blob blob = map_file(path_of(key.hex(), kUnitExtension));
  return is_sealed(blob.bytes) ? read_unit(key, std::move(blob)) : nullptr;
}

std::shared_ptr<const CompiledUnit> BuildCache::store_unit(const Digest& key, const CompileResult& result,
                                                           const SourceText& source, int& error) const {
  const std::vector<uint8_t> bytes = pack_unit(key, result, source);
  error = 0;
  if (!folder_.empty()) {
    const std::string path = path_of(key.hex(), kUnitExtension);
    error = create_parent_folders(path);
    if (error == 0) error = write_file(path, bytes, WriteMode::always).error;
  }
  // Kept in memory the way that it would be mapped: aligned.
  struct alignas(16) Block {
    uint8_t bytes[16];
  };
  auto memory = std::make_shared<std::vector<Block>>((bytes.size() + 15) / 16);
  std::memcpy(memory->data(), bytes.data(), bytes.size());
  const std::span<const uint8_t> view_of_memory(memory->data()->bytes, bytes.size());
  return read_unit(key, {std::move(memory), view_of_memory});
}

uint64_t BuildCache::trim(uint64_t limit) const {
  if (folder_.empty()) return 0;
  struct Entry {
    fs::file_time_type time;
    uint64_t size;
    fs::path path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code ec;
  for (fs::recursive_directory_iterator it(folder_, ec), end; !ec && it != end; it.increment(ec)) {
    std::error_code one;
    if (it->is_directory(one)) remove_stray_files(it->path().string(), kStrayAge);
    if (!it->is_regular_file(one) || one) continue;
    const std::string extension = it->path().extension().string();
    if (extension != kUnitExtension && extension != kDictionaryExtension) continue;  // nothing of ours
    const uint64_t size = it->file_size(one);
    const auto time = it->last_write_time(one);
    if (one) continue;
    total += size;
    entries.push_back({time, size, it->path()});
  }
  if (total <= limit) return 0;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.time < b.time; });
  uint64_t deleted = 0;
  for (const Entry& entry : entries) {
    if (total - deleted <= limit) break;
    if (fs::remove(entry.path, ec) && !ec) deleted += entry.size;
  }
  return deleted;
}

}  // namespace meridian::tools
