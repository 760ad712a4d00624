// SPDX-License-Identifier: MIT
#include "meridian/xml_fallback.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "meridian/base/log.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/resource/mount.h"
#include "meridian/tools/binding.h"
#include "meridian/tools/file_io.h"
#include "meridian/tools/inputs.h"
#include "meridian/tools/rules.h"

namespace meridian {
namespace {

namespace fs = std::filesystem;

int64_t nanoseconds(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

/// Tells one state of a file from the next.
struct Stamp {
  int64_t modified = 0, changed = 0;
  uint64_t size = 0, node = 0;
  bool operator==(const Stamp&) const = default;
};

Status status_of_errno(int error, NameHash name) {
  const auto detail = static_cast<uint64_t>(error);
  if (error == ENOENT || error == ENOTDIR) {
    return {StatusCode::not_found, "source is gone; detail = errno", detail, name};
  }
  return {StatusCode::io_error, "source cannot be read; detail = errno", detail, name};
}

/// Read, never mapped: whoever edits a mapped file while the game runs can end the game.
std::shared_ptr<const tools::SourceText> read_source(const std::string& path, int& error) {
  std::string bytes;
  error = tools::read_file(path, bytes);
  return error == 0 ? tools::SourceText::from_memory(path, std::move(bytes)) : nullptr;
}

/// 0 for what is no source of a built-in kind.
uint32_t kind_of_source(const std::string& path) {
  static constexpr std::pair<std::string_view, uint32_t> kSuffixes[] = {{".ymap.xml", kind_of("IMAP")},
                                                                        {".ytyp.xml", kind_of("ITYP")},
                                                                        {".ymf.xml", kind_of("YMFM")},
                                                                        {"gameconfig.xml", kind_of("GCFG")}};
  int error = 0;
  const auto text = read_source(path, error);
  const std::string_view root = text == nullptr ? std::string_view() : tools::sniff_root(text->text());
  for (const BuiltinSchema& schema : builtin_schemas()) {
    const tools::Binding* const binding = tools::Binding::builtin(schema.kind);
    if (!root.empty() && binding != nullptr && binding->reads_root(root)) return schema.kind;
  }
  if (!root.empty()) return 0;
  // Broken, or not to be read: whoever asks for it is told so.
  for (const auto& [suffix, kind] : kSuffixes)
    if (path.ends_with(suffix)) return kind;
  return 0;
}

LogLevel level_of(tools::Severity severity) {
  switch (severity) {
    case tools::Severity::error:
      return LogLevel::error;
    case tools::Severity::warning:
      return LogLevel::warning;
    case tools::Severity::note:
      break;
  }
  return LogLevel::info;
}

const char* word_of(tools::Severity severity) {
  switch (severity) {
    case tools::Severity::error:
      return "error";
    case tools::Severity::warning:
      return "warning";
    case tools::Severity::note:
      break;
  }
  return "note";
}

std::string place_text(const std::string& file, uint32_t line, uint32_t column) {
  if (line == 0) return file;
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

void log_diagnostic(const tools::Diagnostic& d, NameHash name) {
  const std::string place = place_text(d.file, d.line, d.column);
  const std::string object = d.object.empty() ? std::string() : d.object + ": ";
  log_message(level_of(d.severity), name, "%s: %s: %s%s [%.*s %.*s]", place.c_str(), word_of(d.severity),
              object.c_str(), d.message.c_str(), static_cast<int>(d.rule->code.size()), d.rule->code.data(),
              static_cast<int>(d.rule->name.size()), d.rule->name.data());
  for (const tools::RelatedPlace& related : d.related) {
    const std::string where = place_text(related.file, related.line, related.column);
    log_message(LogLevel::info, name, "%s: note: %s", where.c_str(), related.message.c_str());
  }
}

}  // namespace

struct XmlFallback::Source {
  std::string path;
  std::mutex mutex;    ///< for all below
  bool known = false;  ///< the rest is of the file as `stamp` says
  Stamp stamp;
  Status status;
  std::vector<uint8_t> bytes;
  std::atomic<uint64_t> compilations{0};
};

XmlFallback::XmlFallback(XmlFallbackOptions options) : options_(std::move(options)) {}
XmlFallback::~XmlFallback() = default;

Status XmlFallback::scan(const std::string& folder) {
  sources_.clear();
  try {
    const Status status = find_sources(folder);
    if (!status.ok()) sources_.clear();
    return status;
  } catch (const std::exception& e) {
    sources_.clear();
    log_message(LogLevel::error, {}, "%s: error: %s", folder.c_str(), e.what());
    return {StatusCode::io_error, "folder of sources cannot be read, see the log"};
  }
}

Status XmlFallback::find_sources(const std::string& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) return {StatusCode::not_found, "no such folder of sources"};
  if (!fs::is_directory(status)) return {StatusCode::wrong_kind, "not a folder of sources"};
  std::vector<std::string> paths;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    if (name.starts_with('.')) {
      at.disable_recursion_pending();
    } else if (name.ends_with(".xml") && at->is_regular_file(ignored)) {
      paths.push_back(at->path().string());
    }
  }
  if (error) {
    return {StatusCode::io_error, "folder of sources cannot be read; detail = errno",
            static_cast<uint64_t>(error.value())};
  }
  std::sort(paths.begin(), paths.end());
  for (std::string& path : paths) {
    const uint32_t kind = kind_of_source(path);
    if (kind == 0) continue;
    const NameHash name = name_of_file(tools::input_stem(path));
    std::unique_ptr<Source>& source = sources_[{kind, name}];
    if (source != nullptr) {
      log_message(LogLevel::warning, name, "%s: left out: %s has the same kind and name", path.c_str(),
                  source->path.c_str());
      continue;
    }
    source = std::make_unique<Source>();
    source->path = std::move(path);
  }
  return {};
}

void XmlFallback::list(void (*found)(void* user, PackKey key), void* user) {
  for (const auto& [key, source] : sources_) found(user, key);
}

uint64_t XmlFallback::compilations() const {
  uint64_t out = 0;
  for (const auto& [key, source] : sources_) out += source->compilations.load(std::memory_order_relaxed);
  return out;
}

Status XmlFallback::load(PackKey key, Allocator& memory, std::span<std::byte>& out) {
  const auto found = sources_.find(key);
  if (found == sources_.end()) return {StatusCode::not_found, "no such source; detail = kind", key.kind, key.name};
  Source& source = *found->second;
  const std::lock_guard lock(source.mutex);
  struct stat file {};
  if (::stat(source.path.c_str(), &file) != 0) {
    source.known = false;
    return status_of_errno(errno, key.name);
  }
  const Stamp stamp{nanoseconds(file.st_mtim), nanoseconds(file.st_ctim), static_cast<uint64_t>(file.st_size),
                    static_cast<uint64_t>(file.st_ino)};
  if (!source.known || stamp != source.stamp) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    // Exceptions of the compiler end here; the runtime knows none.
    try {
      compile(source, key);
    } catch (const std::bad_alloc&) {
      source.status = {StatusCode::out_of_memory, "no memory to compile a source", 0, key.name};
    } catch (const std::exception& e) {
      log_message(LogLevel::error, key.name, "%s: error: internal fault: %s", source.path.c_str(), e.what());
      source.status = {StatusCode::bad_value, "the compiler failed, see the log", 0, key.name};
    }
    source.stamp = stamp;
    // What the file says stays true until it changes; what the machine lacked may be there next time.
    const bool is_of_the_file = source.status.ok() || source.status.code == StatusCode::wrong_kind ||
                                (source.status.code == StatusCode::bad_value && source.status.detail > 0);
    source.known = is_of_the_file &&
                   nanoseconds(now) - std::max(stamp.modified, stamp.changed) > int64_t{options_.settle_ms} * 1'000'000;
  }
  if (!source.status.ok()) return source.status;
  void* const block = memory.allocate(source.bytes.size(), kPackAlignment);
  if (block == nullptr) {
    return {StatusCode::out_of_memory, "no memory for a resource; detail = its size", source.bytes.size(), key.name};
  }
  std::memcpy(block, source.bytes.data(), source.bytes.size());
  out = {static_cast<std::byte*>(block), source.bytes.size()};
  return {};
}

void XmlFallback::compile(Source& source, PackKey key) const {
  source.compilations.fetch_add(1, std::memory_order_relaxed);
  source.bytes.clear();
  int error = 0;
  const auto text = read_source(source.path, error);
  if (text == nullptr) {
    source.status = status_of_errno(error, key.name);
    return;
  }
  tools::CompileOptions options = options_.compile;
  options.stem = tools::input_stem(source.path);
  tools::CompileResult result = tools::compile_xml(*text, *tools::Binding::builtin(key.kind), options);
  if (result.cancelled) {
    source.status = {StatusCode::in_use, "compiling the source was cancelled", 0, key.name};
    return;
  }
  if (result.other_root) {
    log_message(LogLevel::error, key.name, "%s: error: the root element is '%s', another than when it was mounted",
                source.path.c_str(), result.root.c_str());
    source.status = {StatusCode::wrong_kind, "source has another root element now, see the log", 0, key.name};
    return;
  }
  uint64_t errors = 0;
  for (const tools::Diagnostic& d :
       tools::resolve(*text, std::move(result.findings), result.waivers, options_.diagnostics)) {
    // A waiver that hits nothing is no news when nothing was looked for.
    if (!options.lint && d.rule == &tools::rules::bad_waiver) continue;
    log_diagnostic(d, key.name);
    errors += d.severity == tools::Severity::error;
  }
  source.status = {};
  if (errors > 0 || result.bytes.empty()) {
    source.status = {StatusCode::bad_value, "source has errors, see the log; detail = their number", errors, key.name};
    return;
  }
  source.bytes = std::move(result.bytes);
}

}  // namespace meridian
