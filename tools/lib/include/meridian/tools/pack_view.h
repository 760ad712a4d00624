// SPDX-License-Identifier: MIT
#pragma once
/// Packs seen by tools: mapped, checked, listed, read entry by entry, compared.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/resource/pack.h"
#include "meridian/resource/pack_decompressor.h"
#include "meridian/tools/resource_view.h"

namespace meridian::tools {

/// An opened pack and its bytes.
/// Threads: immutable.
class PackFile {
 public:
  /// Maps a file. Null: `error` says why and `exit_code` is 1 (refused) or 3 (cannot be read).
  static std::unique_ptr<PackFile> open(const std::string& path, std::string& error, int& exit_code);
  /// From memory, which is copied; `name` is what messages show.
  static std::unique_ptr<PackFile> from_bytes(std::string name, std::string_view bytes, std::string& error);

  const std::string& path() const { return path_; }
  const Pack& pack() const { return pack_; }

 private:
  bool adopt(std::span<const std::byte> bytes, std::string& error);

  std::string path_;
  std::shared_ptr<const void> owner_;
  Pack pack_;
};

/// True if the file begins as a pack does. False for what can't be read, too.
bool is_pack_file(const std::string& path);

/// Reads entries one after the other into memory that it reuses.
class PackEntryReader {
 public:
  explicit PackEntryReader(const Pack& pack) : pack_(pack), ready_(decompressor_.prepare(pack)) {}
  /// The whole resource, until the next call. False: `error` says why.
  bool read(const PackEntry& entry, std::span<const std::byte>& out, std::string& error);

 private:
  const Pack& pack_;
  PackDecompressor decompressor_;
  Status ready_;
  std::vector<uint64_t> buffer_;
};

/// "IMAP 'town'", or "IMAP hash_1A2B3C4D" where the pack has no text.
std::string entry_text(const Pack& pack, PackKey key);

/// A line for each entry in the order of the file: kind, name, sizes, how it is stored; then sums.
std::string pack_list_text(const Pack& pack);
std::string pack_list_json(const Pack& pack);

/// A line for each entry that is not the same in both, by raw size and raw hash, sorted by kind and name hash. How
/// entries are compressed, ordered and named makes no difference, and dictionaries are no content. Empty: equal.
std::vector<std::string> pack_diff_lines(const Pack& a, const Pack& b);

/// Reads every entry and looks at it as a loader does: hashes, decompression, then open_resource, or verify_schema
/// for a shared schema. Resources that are not built in are read by `options.schema`, else by the pack's shared schema
/// of their kind, else by the one inside. `found` is told of each fault, in the order of the file, and of conversions
/// (is_error false). Stops early where `cancelled` says so.
void verify_pack_entries(const Pack& pack, const LoadOptions& options,
                         const std::function<void(const PackEntry&, std::string message, bool is_error)>& found,
                         const std::function<bool()>& cancelled);

/// The name of the file for an entry: the text, or hash_1A2B3C4D, and the extension of its kind; kinds that are not
/// built in have their letters before `.mmeta`. Different entries have different names.
/// Bytes that some system does not take in a file name become %XX, so that it is one name in one folder everywhere:
/// control characters, `/ \ : * ? " < > | %`, bytes that are no UTF-8, a dot at the start, a dot or blank at the end
/// of the text, the first letter of a device's name (`nul`). A text that is too long gives way to the hash.
struct EntryFileName {
  std::string name;
  bool changed = false;  ///< the text could not be taken as it is
};
EntryFileName entry_file_name(const Pack& pack, const PackEntry& entry);

/// True if a person may call the entry so: its name or hash literal, either with its file's extension behind it, or
/// the name of its file. Capitals make no difference.
bool is_entry_called(const Pack& pack, const PackEntry& entry, std::string_view called);

}  // namespace meridian::tools
