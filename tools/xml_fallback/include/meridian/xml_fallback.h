// SPDX-License-Identifier: MIT
#pragma once
/// Loose XML in a game that is being made: a folder of .ymap.xml, .ytyp.xml and so on is mounted, and each file is
/// compiled when it is first asked for, and again when it has changed. In a target of its own, meridian::xml_fallback;
/// a game that ships does not link it.
///
///   XmlFallback sources;
///   Status status = sources.scan("data/maps");
///   if (status.ok()) status = mounts.mount_source(sources, "data/maps").status();
///
/// What the compilers would say of a file goes to the log (base/log.h), line for line as they say it. A file with
/// errors is a Status for who loads it, and breaks nothing else.
///
/// Files are compiled alone: nothing is linked across them, and archetypes are not looked up. `worldc` does that.
///
/// Threads: internal for load (a mutex for each file, so one file is compiled once). scan and list are main,
///          and nothing loads meanwhile.
/// Memory:  the heap; what was compiled is kept. The result is in the caller's allocator.

#include <map>
#include <memory>
#include <string>

#include "meridian/resource/source_provider.h"
#include "meridian/tools/compile.h"
#include "meridian/tools/diagnostics.h"

namespace meridian {

struct XmlFallbackOptions {
  tools::CompileOptions compile{};        ///< `stem` is each file's own
  tools::DiagnosticPolicy diagnostics{};  ///< what is said, and what counts as an error
  /// A file that changed less than this ago is compiled at each load: FAT counts times in steps of two seconds, network
  /// file systems in seconds of another machine's clock. [>= 0] [ms]
  uint32_t settle_ms = 2500;
};

class XmlFallback final : public SourceProvider {
 public:
  explicit XmlFallback(XmlFallbackOptions options = {});
  ~XmlFallback() override;
  XmlFallback(const XmlFallback&) = delete;
  XmlFallback& operator=(const XmlFallback&) = delete;

  /// Looks for sources in a folder and all below it, except hidden ones and folders behind links. Kinds are told by the
  /// root element, and by the name where the text has none. The resource's name is the file's, without .ymap.xml and
  /// the like. Of two of one kind and name the first by path stays, with a warning. Replaces what was found before, so
  /// unmount first. Files that come later are seen by the next scan.
  /// Errors: not_found, wrong_kind (no folder), io_error; then nothing is known.
  Status scan(const std::string& folder);
  size_t count() const { return sources_.size(); }  ///< sources found [count]

  void list(void (*found)(void* user, PackKey key), void* user) override;
  /// Compares the file's times, size and inode with those at its last compilation, and compiles it where they differ.
  /// Errors: not_found (not listed, or the file is gone), io_error, wrong_kind (it has another root now), bad_value (it
  ///         has errors, which are in the log once; detail = their number), out_of_memory.
  Status load(PackKey key, Allocator& memory, std::span<std::byte>& out) override;

  uint64_t compilations() const;  ///< since the scan, failed ones too [count]

 private:
  struct Source;
  Status find_sources(const std::string& folder);
  void compile(Source& source, PackKey key) const;

  XmlFallbackOptions options_;
  std::map<PackKey, std::unique_ptr<Source>> sources_;
};

}  // namespace meridian
