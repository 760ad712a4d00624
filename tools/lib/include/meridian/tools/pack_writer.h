// SPDX-License-Identifier: MIT
#pragma once
/// Writes packs (.mpk, see meridian/resource/pack.h): from a list of resources to one file, laid out in the order
/// given, each entry compressed where that pays.
///
///   std::vector<PackInput> inputs;
///   inputs.push_back(pack_file_input(kind_of("IMAP"), "town", "build/town.imap", /*order=*/0));
///   PackWriteResult result = write_pack("world.mpk", inputs, {.level = 9});
///   if (result.outcome == WriteOutcome::failed) complain(result.message);
///
/// The same inputs, options and version of libzstd give the same bytes for any number of threads and order of `inputs`.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/resource/pack.h"
#include "meridian/tools/file_io.h"

namespace meridian::tools {

/// Bytes, and what keeps them alive: a buffer, a mapping, or nothing.
struct PackBytes {
  std::span<const std::byte> bytes{};
  std::shared_ptr<const void> owner{};
};

/// One resource to pack.
struct PackInput {
  uint32_t kind = 0;
  NameHash name{};
  std::string text;    ///< the name; empty: only its hash is known. Requires: its hash is `name`
  uint64_t order = 0;  ///< streaming order: lower ones lie first; equal ones by kind and name
  uint64_t size = 0;   ///< of the bytes that `read` gives [bytes]
  /// Gives the bytes. Called more than once, on several threads. False: `error` says why.
  std::function<bool(PackBytes& out, std::string& error)> read;
};

/// A resource in memory.
PackInput pack_input(uint32_t kind, std::string text, std::vector<uint8_t> bytes, uint64_t order = 0);
/// A file, mapped while the writer is at it. One that can't be read is reported when it is its turn.
PackInput pack_file_input(uint32_t kind, std::string text, const std::string& path, uint64_t order = 0);

/// Where trained dictionaries are kept from one pack to the next: training costs more than all compression. What it
/// gives must be what was kept under that key; the pack's bytes are then those of a training.
/// Threads: called by the writer's own thread only.
class PackDictionaryStore {
 public:
  virtual ~PackDictionaryStore() = default;
  /// The dictionary of these samples and settings, of which `key` is the hash; empty where none pays. False: not known.
  virtual bool find(std::string_view key, std::vector<uint8_t>& out) = 0;
  virtual void keep(std::string_view key, std::span<const uint8_t> dictionary) = 0;
};

/// Defaults are argued with figures in docs/packs.md.
struct PackWriteOptions {
  int level = 9;                          ///< of zstd; 0: everything is stored. [0, 22]
  uint32_t store_below = 256;             ///< smaller entries are stored [bytes]
  uint32_t min_saving_percent = 10;       ///< an entry that compression does not shrink by this much is stored [0, 100]
  bool train_dictionaries = false;        ///< for each kind that has none in `dictionaries`
  uint32_t dictionary_below = 32 * 1024;  ///< larger entries are compressed without one [bytes]
  std::map<uint32_t, std::vector<uint8_t>> dictionaries{};  ///< by kind, from train_pack_dictionary(); e.g. of a cache
  PackDictionaryStore* dictionary_store = nullptr;          ///< asked before training; null: none
  bool names = true;                                        ///< keep the texts of names
  uint32_t jobs = 0;                                        ///< threads that compress; 0: all, 1: none but the caller's
  uint64_t max_resource_bytes = kMaxResourceBytes;          ///< a larger input is refused
  WriteMode mode = WriteMode::if_changed;
  const std::atomic<bool>* cancel = nullptr;  ///< looked at between entries
};

/// What the writer decided, for reports.
struct PackReport {
  uint64_t entries = 0, stored = 0, compressed = 0, with_dictionary = 0;  ///< of the inputs [count]
  uint64_t raw_bytes = 0, stored_bytes = 0, pack_bytes = 0;               ///< inputs, their bytes in the pack, the file
  uint64_t unchanged = 0, removed = 0;                                    ///< patches only [count]
  std::map<uint32_t, NameHash> dictionaries;                              ///< by kind, those in the pack
};

struct PackWriteResult {
  WriteOutcome outcome = WriteOutcome::failed;
  int error = 0;        ///< errno's value where the environment failed, ECANCELED where `cancel` was set; else 0
  std::string message;  ///< empty unless failed
  PackReport report;
};

/// Writes a whole pack beside its target, flushes it to disk and renames it: a writer that is killed or fails leaves
/// the old pack or none. Memory holds the table, and 64 MiB or one entry of what is being compressed, whichever is
/// more. Refused: two inputs of one kind and name, a name that is not its text's hash, two texts of one hash, inputs
/// larger than allowed or of another size than they said, inputs of the kind of dictionaries. Threads: reentrant; up to
/// `jobs` inside.
PackWriteResult write_pack(const std::string& path, std::span<const PackInput> inputs, const PackWriteOptions& options);

/// Writes a pack that turns `base` into what write_pack() would make of `inputs`: only entries that are new or differ
/// by raw size or raw hash, and the list of those that are gone. Reads each input once more than write_pack().
/// Compression of the base does not matter; dictionaries are made anew for what is in the patch.
PackWriteResult write_patch_pack(const std::string& path, const Pack& base, std::span<const PackInput> inputs,
                                 const PackWriteOptions& options);

/// Samples larger than this teach a dictionary little and cost much. [bytes]
inline constexpr size_t kMaxDictionarySample = 32 * 1024;
/// With fewer samples there is no dictionary. [count]
inline constexpr size_t kMinDictionarySamples = 16;

/// Trains a dictionary for resources like the samples, on this thread. The order of samples matters: give them sorted
/// by name. Empty where there are too few, or a dictionary would cost more than it saves on them at this level.
std::vector<uint8_t> train_pack_dictionary(std::span<const std::span<const std::byte>> samples, int level);

}  // namespace meridian::tools
