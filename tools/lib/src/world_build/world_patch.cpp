// SPDX-License-Identifier: MIT
#include "meridian/tools/world_patch.h"

#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

#include "meridian/tools/file_io.h"
#include "meridian/tools/pack_writer.h"
#include "world_build/output_lock.h"
#include "world_build/unit_cache.h"

namespace meridian::tools {
namespace {

/// Entries of an open pack as inputs of another. One reader serves all threads: decompressing is fast beside what is
/// done with the bytes.
class PackSource {
 public:
  explicit PackSource(const Pack& pack) : pack_(pack), reader_(pack) {}

  std::vector<PackInput> inputs() {
    std::vector<PackInput> out;
    uint64_t order = 0;
    for (const uint32_t row : pack_.order()) {
      const PackEntry& entry = pack_.entries()[row];
      if (entry.kind == kPackDictionaryKind) continue;
      out.push_back({entry.kind, entry.name, std::string(pack_.text_of(entry.name)), order++, entry.raw_size,
                     [this, &entry](PackBytes& bytes, std::string& error) { return read(entry, bytes, error); }});
    }
    return out;
  }

 private:
  bool read(const PackEntry& entry, PackBytes& out, std::string& error) {
    const std::lock_guard lock(mutex_);
    std::span<const std::byte> bytes;
    if (!reader_.read(entry, bytes, error)) return false;
    const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
    out = {*copy, copy};
    return true;
  }

  const Pack& pack_;
  std::mutex mutex_;
  PackEntryReader reader_;
};

}  // namespace

std::unique_ptr<PackFile> open_patch_base(const std::string& path, const std::string& output, Report& report) {
  if (file_identity(path) == file_identity(output + "/world.mpk")) {
    report.usage("--patch-from: " + path + " is what this build replaces; keep the pack of a release in another place");
    return nullptr;
  }
  std::string error;
  int code = kExitDone;
  std::unique_ptr<PackFile> out = PackFile::open(path, error, code);
  if (out != nullptr && out->pack().is_patch()) {
    error = "this is a patch itself; a patch starts from a whole pack";
    code = kExitRejected;
    out = nullptr;
  }
  if (out != nullptr) return out;
  if (code == kExitEnvironment) return report.environment(path, error), nullptr;
  report.log().add(placeless(rules::refused_resource, path, error));
  report.raise(code);
  return nullptr;
}

PackReport write_world_patch(const PackFile& base, const WorldBuildOptions& options, ToolIo& io, Report& report) {
  const std::string world = options.output + "/world.mpk", path = options.output + "/patch.mpk";
  // Another build may wait for the folder: the patch and the pack that it is made from must be of one world.
  OutputLock lock;
  const int locked = lock.take(options.output + "/.worldc/lock", io);
  if (locked == EINTR) return report.raise(kExitInterrupted), PackReport();
  if (locked != 0) return report.environment(options.output, "cannot write here: " + error_text(locked)), PackReport();
  std::string error;
  int code = kExitDone;
  const std::unique_ptr<PackFile> now = PackFile::open(world, error, code);
  if (now == nullptr) return report.environment(world, error), PackReport();
  PackSource source(now->pack());
  const BuildCache cache(!options.cache.empty() ? options.cache : options.output + "/.worldc/cache");
  CachedDictionaries dictionaries(cache);
  PackWriteOptions how = options.pack_options;
  how.jobs = options.jobs;
  how.cancel = io.cancel;
  how.dictionary_store = &dictionaries;
  const PackWriteResult result = write_patch_pack(path, base.pack(), source.inputs(), how);
  if (io.cancelled()) return report.raise(kExitInterrupted), PackReport();
  if (result.outcome == WriteOutcome::failed) return report.environment(path, result.message), PackReport();
  return result.report;
}

}  // namespace meridian::tools
