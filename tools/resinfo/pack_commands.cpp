// SPDX-License-Identifier: MIT
#include "pack_commands.h"

#include <optional>

namespace meridian::tools {
namespace {

Diagnostic about(const PackFile& file, const PackEntry& entry, const Rule& rule, std::string message) {
  Diagnostic diagnostic = placeless(rule, file.path(), std::move(message));
  diagnostic.object = entry_text(file.pack(), entry.key());
  return diagnostic;
}

class Extraction {
 public:
  Extraction(const PackFile& file, const std::string& folder, const DiagnosticPolicy& policy, Report& report)
      : file_(file), folder_(folder), policy_(policy), report_(report), reader_(file.pack()) {}

  void put(const PackEntry& entry) {
    const EntryFileName name = entry_file_name(file_.pack(), entry);
    if (name.changed && !may_change(entry, name.name)) return;
    std::span<const std::byte> bytes;
    std::string error;
    if (!reader_.read(entry, bytes, error)) {
      report_.log().add(about(file_, entry, rules::refused_resource, error));
      return report_.raise(kExitRejected);
    }
    const std::string path = folder_.back() == '/' ? folder_ + name.name : folder_ + "/" + name.name;
    const std::span<const uint8_t> raw(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    const int folder_error = create_parent_folders(path);
    const WriteResult result = folder_error != 0 ? WriteResult{WriteOutcome::failed, folder_error}
                                                 : write_file(path, raw, WriteMode::if_changed);
    if (result.outcome == WriteOutcome::failed) report_.environment(path, "cannot write: " + error_text(result.error));
  }

 private:
  bool may_change(const PackEntry& entry, const std::string& name) {
    const std::optional<Severity> severity = policy_.severity_of(rules::illegal_file_name, Severity::warning);
    if (!severity) return true;
    Diagnostic diagnostic = about(file_, entry, rules::illegal_file_name, "");
    diagnostic.severity = *severity;
    const bool refused = *severity == Severity::error;
    diagnostic.message = refused ? "the name is no file name everywhere; not written"
                                 : "the name is no file name everywhere; written to '" + name + "'";
    report_.log().add(std::move(diagnostic));
    if (refused) report_.raise(kExitRejected);
    return !refused;
  }

  const PackFile& file_;
  const std::string& folder_;
  const DiagnosticPolicy& policy_;
  Report& report_;
  PackEntryReader reader_;
};

}  // namespace

void verify_pack(const PackFile& file, const LoadOptions& load, const ToolIo& io, Report& report) {
  const auto found = [&](const PackEntry& entry, std::string message, bool is_error) {
    const Rule& rule = is_error ? rules::refused_resource : rules::converted_resource;
    report.log().add(about(file, entry, rule, std::move(message)));
    if (is_error) report.raise(kExitRejected);
  };
  verify_pack_entries(file.pack(), load, found, [&] { return io.cancelled(); });
  if (io.cancelled()) report.raise(kExitInterrupted);
}

void extract_pack(const PackFile& file, const std::vector<std::string>& names, const std::string& folder,
                  const DiagnosticPolicy& policy, const ToolIo& io, Report& report) {
  const Pack& pack = file.pack();
  Extraction extraction(file, folder, policy, report);
  std::vector<bool> found(names.size());
  for (const uint32_t i : pack.order()) {
    if (io.cancelled()) return report.raise(kExitInterrupted);
    const PackEntry& entry = pack.entries()[i];
    bool wanted = names.empty() && entry.kind != kPackDictionaryKind;
    for (size_t n = 0; n < names.size(); ++n) {
      if (!is_entry_called(pack, entry, names[n])) continue;
      wanted = found[n] = true;
    }
    if (wanted) extraction.put(entry);
  }
  for (size_t n = 0; n < names.size(); ++n)
    if (!found[n]) report.environment(file.path(), "no entry is called '" + names[n] + "'");
}

}  // namespace meridian::tools
