// SPDX-License-Identifier: MIT
#include "meridian/tools/pack_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "meridian/schemas/pack_generated.h"
#include "meridian/tools/staged_file.h"
#include "pack_codec.h"
#include "pack_names.h"
#include "posix_file.h"
#include "raw_hash.h"
#include "text_values.h"
#include "world_build/digest.h"

namespace meridian::tools {
namespace {

constexpr uint64_t kBatchBytes = uint64_t{64} << 20;
constexpr size_t kBatchEntries = 1024;
/// What a table below 2 GiB has room for, with order and names of usual length.
constexpr size_t kMaxEntries = size_t{16} << 20;

/// Ends a write; its message and errno go to the result.
struct Failure {
  std::string message;
  int error = 0;
};

[[noreturn]] void fail(std::string message, int error = 0) { throw Failure{std::move(message), error}; }

/// An entry on its way into the pack.
struct Job {
  const PackInput* input = nullptr;
  PackBytes raw{};
  std::vector<std::byte> frame{};
  PackEntry entry{};
  std::string error{};  ///< of reading
};

class PackWriter {
 public:
  PackWriter(std::span<const PackInput> inputs, const PackWriteOptions& options) : options_(options) {
    for (const PackInput& input : inputs) inputs_.push_back(&input);
    std::sort(inputs_.begin(), inputs_.end(), [](const PackInput* a, const PackInput* b) {
      return PackKey{a->kind, a->name} < PackKey{b->kind, b->name};
    });
    check_inputs();
  }

  /// Makes this a patch.
  void patch(const Pack& base) {
    std::vector<const PackInput*> changed;
    size_t next = 0;
    for (const PackEntry& old : base.entries()) {
      for (; next < inputs_.size() && key(*inputs_[next]) < old.key(); ++next) changed.push_back(inputs_[next]);
      const bool kept = next < inputs_.size() && key(*inputs_[next]) == old.key();
      if (!kept) {
        if (old.kind != kPackDictionaryKind) remove(base, old);
        continue;
      }
      const PackInput& input = *inputs_[next++];
      Job job{.input = &input};
      read(job);
      if (!job.error.empty()) fail(pack_name_text(input) + ": " + job.error);
      if (job.raw.bytes.size() != old.raw_size || raw_hash(job.raw.bytes) != old.raw_hash) {
        changed.push_back(&input);
      } else {
        ++report_.unchanged;
      }
    }
    changed.insert(changed.end(), inputs_.begin() + static_cast<ptrdiff_t>(next), inputs_.end());
    inputs_ = std::move(changed);
    report_.removed = removed_.size();
    base_content_ = base.content_hash();
  }

  WriteResult write(const std::string& path) {
    prepare_dictionaries();
    std::stable_sort(inputs_.begin(), inputs_.end(),
                     [](const PackInput* a, const PackInput* b) { return a->order < b->order; });
    StagedFile file(path);
    const PackHeader room{};
    file.append(std::as_bytes(std::span(&room, 1)));
    for (const auto& [kind, dictionary] : dictionaries_) write_dictionary(file, dictionary);
    for (size_t first = 0; first < inputs_.size();) {
      const size_t last = end_of_batch(first);
      std::vector<Job> jobs(last - first);
      for (size_t i = first; i < last; ++i) jobs[i - first].input = inputs_[i];
      run(jobs);
      for (Job& job : jobs) put(file, job);
      first = last;
    }
    finish(file);
    // Told before the rename, which a failed or cancelled write does not get to.
    if (file.error() == 0 && cancelled()) fail("cancelled", ECANCELED);
    report_.pack_bytes = file.size();
    return file.commit(options_.mode);
  }

  PackReport& report() { return report_; }

 private:
  void remove(const Pack& base, const PackEntry& old) {
    removed_.emplace_back(old.kind, old.name.value);
    const std::string_view text = base.text_of(old.name);
    if (options_.names && !text.empty()) names_.push_back({old.name.value, std::string(text)});
  }

  static PackKey key(const PackInput& input) { return {input.kind, input.name}; }
  bool cancelled() const { return options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed); }

  void check_inputs() {
    if (inputs_.size() > kMaxEntries) fail("a pack holds at most " + std::to_string(kMaxEntries) + " entries");
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const PackInput& input = *inputs_[i];
      if (i > 0 && key(*inputs_[i - 1]) == key(input)) fail("two inputs are " + pack_name_text(input));
      if (input.kind == kPackDictionaryKind) fail(pack_name_text(input) + ": dictionaries are made, not given");
      if (input.size > std::min(options_.max_resource_bytes, kMaxResourceBytes))
        fail(pack_name_text(input) + ": " + std::to_string(input.size) + " bytes are more than a resource may have");
      if (!input.text.empty() && hash_name(input.text) != input.name)
        fail(pack_name_text(input) + ": the name has another hash than was given");
    }
  }

  void read(Job& job) const {
    if (!job.input->read(job.raw, job.error)) {
      if (job.error.empty()) job.error = "cannot be read";
    } else if (job.raw.bytes.size() != job.input->size) {
      job.error = "has " + std::to_string(job.raw.bytes.size()) + " bytes, not " + std::to_string(job.input->size);
    }
  }

  bool wants_dictionary(const PackInput& input) const {
    return may_compress(input) && input.size < options_.dictionary_below;
  }
  /// A schema is used in place, whatever its size.
  bool may_compress(const PackInput& input) const {
    return options_.level > 0 && input.size >= std::max(options_.store_below, 1u) && input.kind != kPackSchemaKind;
  }

  // Inputs are still in the order of kind and name, which is the order of samples.
  void prepare_dictionaries() {
    if (options_.level == 0) return;
    for (size_t first = 0, last = 0; first < inputs_.size(); first = last) {
      const uint32_t kind = inputs_[first]->kind;
      while (last < inputs_.size() && inputs_[last]->kind == kind) ++last;
      std::vector<uint8_t> bytes;
      if (const auto given = options_.dictionaries.find(kind); given != options_.dictionaries.end())
        bytes = given->second;
      else if (options_.train_dictionaries)
        bytes = train(first, last);
      if (bytes.empty()) continue;
      if (dictionaries_.size() == kMaxPackDictionaries) return;
      if (bytes.size() > kMaxPackDictionaryBytes || !dictionaries_[kind].prepare(std::move(bytes), options_.level))
        fail("the dictionary for " + kind_text(kind) + " is no zstd dictionary, or too large");
    }
  }

  std::vector<uint8_t> train(size_t first, size_t last) const {
    std::vector<PackBytes> owners;
    std::vector<std::span<const std::byte>> samples;
    for (size_t i = first; i < last && samples.size() < kBatchBytes / kMaxDictionarySample; ++i) {
      if (!wants_dictionary(*inputs_[i]) || inputs_[i]->size > kMaxDictionarySample) continue;
      if (cancelled()) fail("cancelled", ECANCELED);
      Job job{.input = inputs_[i]};
      read(job);
      if (!job.error.empty()) fail(pack_name_text(*job.input) + ": " + job.error);
      samples.push_back(job.raw.bytes);
      owners.push_back(std::move(job.raw));
    }
    if (options_.dictionary_store == nullptr) return train_pack_dictionary(samples, options_.level);
    const std::string key = dictionary_key(samples, options_.level);
    std::vector<uint8_t> out;
    if (options_.dictionary_store->find(key, out)) return out;
    out = train_pack_dictionary(samples, options_.level);
    options_.dictionary_store->keep(key, out);
    return out;
  }

  size_t end_of_batch(size_t first) const {
    uint64_t bytes = 0;
    size_t last = first;
    do bytes += inputs_[last++]->size;
    while (last < inputs_.size() && last - first < kBatchEntries && bytes + inputs_[last]->size <= kBatchBytes);
    return last;
  }

  /// Reads and compresses. Only jobs are written to, each by one thread.
  void run(std::vector<Job>& jobs) {
    if (options_.jobs == 1 || jobs.size() == 1) {
      for (Job& job : jobs) compress(job, compressors_.local());
      return;
    }
    const size_t threads = options_.jobs != 0 ? options_.jobs : std::max(1u, std::thread::hardware_concurrency());
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    tbb::task_arena arena(static_cast<int>(threads));
    arena.execute(
        [&] { tbb::parallel_for(size_t{0}, jobs.size(), [&](size_t i) { compress(jobs[i], compressors_.local()); }); });
  }

  void compress(Job& job, PackCompressor& compressor) const {
    if (cancelled()) return;
    read(job);
    if (!job.error.empty()) return;
    const std::span<const std::byte> raw = job.raw.bytes;
    PackEntry& entry = job.entry;
    entry.kind = job.input->kind;
    entry.name = job.input->name;
    entry.raw_size = entry.stored_size = static_cast<uint32_t>(raw.size());
    entry.raw_hash = entry.stored_hash = raw_hash(raw);
    if (!may_compress(*job.input)) return;
    const auto found = wants_dictionary(*job.input) ? dictionaries_.find(entry.kind) : dictionaries_.end();
    const PackDictionary* const dictionary = found == dictionaries_.end() ? nullptr : &found->second;
    compressor.compress(raw, options_.level, dictionary, job.frame);
    if (job.frame.size() > raw.size() * uint64_t{100 - std::min(options_.min_saving_percent, 100u)} / 100) {
      job.frame = {};
      return;
    }
    job.frame.shrink_to_fit();  // the bound is what was reserved
    entry.flags = PackEntry::kZstd;
    entry.stored_size = static_cast<uint32_t>(job.frame.size());
    entry.stored_hash = raw_hash(job.frame);
    if (dictionary != nullptr) entry.dictionary = {static_cast<uint32_t>(raw_hash(dictionary->bytes()))};
  }

  void write_dictionary(StagedFile& file, const PackDictionary& dictionary) {
    PackEntry entry{.kind = kPackDictionaryKind};
    entry.raw_hash = entry.stored_hash = raw_hash(dictionary.bytes());
    entry.raw_size = entry.stored_size = static_cast<uint32_t>(dictionary.bytes().size());
    entry.name = {static_cast<uint32_t>(entry.raw_hash)};
    // Two kinds may have been given the same one.
    for (const PackEntry& other : entries_)
      if (other.key() == entry.key()) return;
    append(file, entry, dictionary.bytes());
  }

  void put(StagedFile& file, Job& job) {
    if (cancelled()) fail("cancelled", ECANCELED);
    if (!job.error.empty()) fail(pack_name_text(*job.input) + ": " + job.error);
    append(file, job.entry, job.entry.is_stored() ? job.raw.bytes : std::span<const std::byte>(job.frame));
    ++report_.entries;
    report_.raw_bytes += job.entry.raw_size;
    report_.stored_bytes += job.entry.stored_size;
    ++(job.entry.is_stored() ? report_.stored : report_.compressed);
    if (job.entry.dictionary.value != 0) {
      ++report_.with_dictionary;
      report_.dictionaries[job.entry.kind] = job.entry.dictionary;
    }
    if (options_.names && !job.input->text.empty()) names_.push_back({job.entry.name.value, job.input->text});
    job = {};  // its memory
  }

  void append(StagedFile& file, PackEntry& entry, std::span<const std::byte> bytes) {
    if (entry.is_stored()) file.pad_to(kPackAlignment);
    // Places are distinct: behind an empty entry, the next one begins further on.
    if (!entries_.empty() && entries_.back().offset == file.size()) file.pad_to(file.size() + 1);
    if (entry.is_stored()) file.pad_to(kPackAlignment);
    entry.offset = file.size();
    file.append(bytes);
    entries_.push_back(entry);
    if (file.error() != 0) fail("cannot write: " + error_text(file.error()), file.error());
  }

  void finish(StagedFile& file) {
    // The order of the file, as indices into the order of keys.
    std::vector<uint32_t> sorted(entries_.size()), order(entries_.size());
    for (uint32_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
    std::sort(sorted.begin(), sorted.end(),
              [&](uint32_t a, uint32_t b) { return entries_[a].key() < entries_[b].key(); });
    std::vector<schema::PackEntry> rows;
    rows.reserve(sorted.size());
    for (uint32_t i = 0; i < sorted.size(); ++i) {
      const PackEntry& e = entries_[sorted[i]];
      order[sorted[i]] = i;
      rows.emplace_back(e.kind, e.name.value, e.offset, e.stored_hash, e.raw_hash, e.stored_size, e.raw_size,
                        e.dictionary.value, static_cast<schema::PackFlags>(e.flags));
    }
    flatbuffers::FlatBufferBuilder builder(rows.size() * 64 + 1024);
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::NameEntry>>> names;
    if (options_.names)
      names = build_pack_names(builder, names_, [](std::string message) { fail(std::move(message)); });
    const auto entries = builder.CreateVectorOfStructs(rows);
    const auto in_order = builder.CreateVector(order);
    flatbuffers::Offset<flatbuffers::Vector<const schema::PackKey*>> removed;
    if (!removed_.empty()) removed = builder.CreateVectorOfStructs(removed_);
    schema::FinishPackIndexBuffer(builder,
                                  schema::CreatePackIndex(builder, entries, in_order, names, base_content_, removed));
    const auto table = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));

    file.pad_to(kResourceAlignment);
    PackHeader header{.magic = kPackMagic, .version = kPackVersion};
    header.table_offset = file.size();
    header.table_size = table.size();
    header.table_checksum = raw_hash(table);
    file.append(table);
    header.file_size = file.size();
    header.checksum = raw_hash(std::as_bytes(std::span(&header, 1)).first(offsetof(PackHeader, checksum)));
    file.write_at(0, std::as_bytes(std::span(&header, 1)));
  }

  const PackWriteOptions& options_;
  std::vector<const PackInput*> inputs_;  ///< by key; from write() on in streaming order
  std::map<uint32_t, PackDictionary> dictionaries_;
  tbb::enumerable_thread_specific<PackCompressor> compressors_;
  std::vector<PackEntry> entries_;  ///< in the order of the file
  std::vector<PackName> names_;
  std::vector<schema::PackKey> removed_;
  uint64_t base_content_ = 0;
  PackReport report_;
};

PackWriteResult write(const std::string& path, const Pack* base, std::span<const PackInput> inputs,
                      const PackWriteOptions& options) {
  PackWriteResult result;
  try {
    PackWriter writer(inputs, options);
    if (base != nullptr) writer.patch(*base);
    const WriteResult written = writer.write(path);
    result.outcome = written.outcome;
    result.error = written.error;
    if (written.outcome == WriteOutcome::failed) result.message = "cannot write: " + error_text(written.error);
    result.report = std::move(writer.report());
  } catch (const Failure& failure) {
    result.message = failure.message;
    result.error = failure.error;
  }
  return result;
}

}  // namespace

PackInput pack_input(uint32_t kind, std::string text, std::vector<uint8_t> bytes, uint64_t order) {
  const NameHash name = hash_name(text);
  const auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  return {kind, name, std::move(text), order, owner->size(), [owner](PackBytes& out, std::string&) {
            out = {std::as_bytes(std::span(*owner)), owner};
            return true;
          }};
}

PackInput pack_file_input(uint32_t kind, std::string text, const std::string& path, uint64_t order) {
  const NameHash name = hash_name(text);
  struct stat status {};
  const bool known = ::stat(path.c_str(), &status) == 0;
  const uint64_t size = known ? static_cast<uint64_t>(status.st_size) : 0;
  return {kind, name, std::move(text), order, size, [path](PackBytes& out, std::string& error) {
            const File file(open_retrying(path.c_str(), O_RDONLY));
            struct stat now {};
            if (!file.is_open() || ::fstat(file.descriptor(), &now) != 0) {
              error = path + ": " + error_text(errno);
              return false;
            }
            const auto bytes = static_cast<size_t>(now.st_size);
            if (bytes == 0) return true;
            void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
            if (at == MAP_FAILED) {
              error = path + ": " + error_text(errno);
              return false;
            }
            out.owner =
                std::shared_ptr<const void>(at, [bytes](const void* p) { ::munmap(const_cast<void*>(p), bytes); });
            out.bytes = {static_cast<const std::byte*>(at), bytes};
            return true;
          }};
}

PackWriteResult write_pack(const std::string& path, std::span<const PackInput> inputs,
                           const PackWriteOptions& options) {
  return write(path, nullptr, inputs, options);
}

PackWriteResult write_patch_pack(const std::string& path, const Pack& base, std::span<const PackInput> inputs,
                                 const PackWriteOptions& options) {
  return write(path, &base, inputs, options);
}

}  // namespace meridian::tools
