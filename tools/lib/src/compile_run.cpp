// SPDX-License-Identifier: MIT
#include "compile_run.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include <sys/stat.h>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include "meridian/resource/fingerprint.h"
#include "meridian/resource/resource.h"
#include "meridian/tools/binding.h"
#include "meridian/tools/fix.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string_view compiler_of(uint32_t kind) {
  switch (kind) {
    case kind_of("IMAP"):
      return "imapc";
    case kind_of("ITYP"):
      return "itypc";
    case kind_of("GCFG"):
      return "gameconfigc";
    default:
      return "metac";
  }
}

/// One input on its way through the pipeline.
struct Item {
  const CompileJob* job = nullptr;
  std::shared_ptr<const SourceText> source;
  std::vector<Diagnostic> diagnostics;
  std::vector<uint8_t> bytes;
  std::vector<NameUse> names;
  CompileStats stats;
  int exit = kExitDone;
  bool skipped = false;  ///< found in a folder and not for this tool
  bool dropped = false;  ///< interrupted, or after the first failure with --fail-fast
  std::string preview;   ///< of --fix=preview
  WriteOutcome written = WriteOutcome::failed;
  double write_seconds = 0;

  void fail(const Rule& rule, std::string message, int code) {
    diagnostics.push_back(placeless(rule, job->file.shown(), std::move(message)));
    exit = worse_exit(exit, code);
    bytes.clear();
  }
};

class Pipeline {
 public:
  Pipeline(std::span<const CompileJob> jobs, const RunSettings& settings, ToolIo& io, Report& report,
           std::vector<DepfileRule>& rules)
      : jobs_(jobs),
        settings_(settings),
        io_(io),
        report_(report),
        rules_(rules),
        progress_(io.err, settings.progress, settings.tool, jobs.size()) {}

  RunTotals run() {
    const Clock::time_point start = Clock::now();
    const size_t threads = settings_.jobs != 0 ? settings_.jobs : std::max(1u, std::thread::hardware_concurrency());
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    tbb::task_arena arena(static_cast<int>(threads));
    arena.execute([&] { pipe(threads * 2); });
    progress_.finish();
    totals_.total_seconds = seconds_since(start);
    return totals_;
  }

 private:
  using ItemPtr = std::shared_ptr<Item>;

  /// Collisions are looked for between compile and write, in input order: what they refuse is never written, and which
  /// of two names is the later one does not depend on threads.
  void pipe(size_t tokens) {
    using tbb::filter_mode;
    tbb::parallel_pipeline(
        tokens,
        tbb::make_filter<void, ItemPtr>(filter_mode::serial_in_order, [&](tbb::flow_control& flow) {
          return next(flow);
        }) & tbb::make_filter<ItemPtr, ItemPtr>(filter_mode::parallel, [&](ItemPtr i) {
          return guarded(i, [&] { compile(*i); });
        }) & tbb::make_filter<ItemPtr, ItemPtr>(filter_mode::serial_in_order, [&](ItemPtr i) {
          return guarded(i, [&] { check(*i); });
        }) & tbb::make_filter<ItemPtr, ItemPtr>(filter_mode::parallel, [&](ItemPtr i) {
          return guarded(i, [&] { write(*i); });
        }) & tbb::make_filter<ItemPtr, void>(filter_mode::serial_in_order, [&](const ItemPtr& i) { finish(*i); }));
  }

  /// A fault in one input is that input's failure; the others go on.
  template <class Step>
  ItemPtr guarded(ItemPtr item, Step&& step) {
    try {
      step();
    } catch (const std::bad_alloc&) {
      item->fail(rules::environment_error, "out of memory", kExitEnvironment);
    } catch (const std::exception& e) {
      item->fail(rules::internal_error, std::string("internal fault: ") + e.what(), kExitInternal);
    }
    return item;
  }

  ItemPtr next(tbb::flow_control& flow) {
    if (next_ == jobs_.size() || io_.cancelled() || (settings_.fail_fast && failed_.load())) {
      flow.stop();
      return nullptr;
    }
    auto item = std::make_shared<Item>();
    item->job = &jobs_[next_++];
    return item;
  }

  void compile(Item& item) {
    if (!item.job->blocked.empty()) return item.fail(rules::environment_error, item.job->blocked, kExitEnvironment);
    int error = 0;
    item.source = open(item.job->file, error);
    if (item.source == nullptr) {
      item.dropped = io_.cancelled();
      return item.fail(rules::environment_error, "cannot read: " + error_text(error), kExitEnvironment);
    }
    const SourceText& source = *item.source;
    if (const std::string_view what = sniff_binary(source.text()); !what.empty()) {
      item.skipped = item.job->file.in_folder;
      item.fail(rules::wrong_root, "this is " + std::string(what) + ", not XML", kExitRejected);
      item.diagnostics.back().line = item.diagnostics.back().column = 1;
      return;
    }
    const Binding* binding = settings_.roots->find(sniff_root(source.text()));
    if (binding == nullptr) binding = &settings_.roots->fallback();  // says what else may be wrong with it

    compile_source(item, *binding);
    if (settings_.fix != FixMode::none) fix_source(item, *binding);
  }

  /// Rewrites the source as far as its rules know what is right, and compiles what came of it. One fix may uncover the
  /// next, so that a second run would find nothing.
  void fix_source(Item& item, const Binding& binding) {
    const std::shared_ptr<const SourceText> original = item.source;
    std::optional<Item> untouched;
    if (settings_.fix == FixMode::preview) untouched = item;
    constexpr int kRounds = 8;
    for (int round = 0; round < kRounds && !item.dropped; ++round) {
      std::vector<TextEdit> edits;
      for (Diagnostic& d : item.diagnostics) edits.insert(edits.end(), d.edits.begin(), d.edits.end());
      if (edits.empty()) break;
      std::string text = apply_edits(item.source->text(), std::move(edits));
      if (text == item.source->text()) break;
      item.source = SourceText::from_memory(original->path(), std::move(text));
      item.diagnostics.clear();
      item.exit = kExitDone;
      compile_source(item, binding);
    }
    if (item.source == original || item.dropped) return;
    if (settings_.fix == FixMode::preview) {
      // The source stays as it is, and so must what is said of it and made from it.
      std::string preview = unified_diff(original->path(), original->text(), item.source->text());
      item = std::move(*untouched);
      item.preview = std::move(preview);
      return;
    }
    std::string problem;
    if (item.job->file.is_stdin())
      item.fail(rules::environment_error, "standard input cannot be rewritten (--fix)", kExitEnvironment);
    else if (!rewrite_source(*original, item.source->text(), problem))
      item.fail(rules::environment_error, std::move(problem), kExitEnvironment);
  }

  void compile_source(Item& item, const Binding& binding) {
    const SourceText& source = *item.source;
    CompileOptions options = settings_.compile->compile;
    options.jobs = settings_.jobs;
    options.cancel = io_.cancel;
    options.stem = stem_of(item.job->file);
    options.note_missing = settings_.diag->policy.severity_of(rules::missing_element, Severity::note).has_value();
    // Isolated: while it waits for its own windows this thread must not start on another input, whose memory would
    // then count twice.
    CompileResult result = tbb::this_task_arena::isolate([&] { return compile_xml(source, binding, options); });
    if (result.cancelled) {
      item.dropped = true;
      return;
    }
    if (result.other_root) return wrong_root(item, result.root);
    item.stats = result.stats;
    item.names = std::move(result.names);
    item.bytes = std::move(result.bytes);
    item.diagnostics = resolve(source, std::move(result.findings), result.waivers, settings_.diag->policy);
    // A waiver that hits nothing is no news when nothing was looked for.
    if (!options.lint)
      std::erase_if(item.diagnostics, [](const Diagnostic& d) { return d.rule == &rules::bad_waiver; });
    for (const Diagnostic& diagnostic : item.diagnostics)
      if (diagnostic.severity == Severity::error) item.exit = worse_exit(item.exit, kExitRejected);
    if (item.exit == kExitDone && item.bytes.empty())
      item.fail(rules::internal_error, "internal fault: nothing was found wrong, but there is no resource",
                kExitInternal);
  }

  std::shared_ptr<const SourceText> open(const InputFile& file, int& error) {
    if (file.is_stdin()) return read_stdin(io_, settings_.compile->compile.limits.max_bytes, error);
    struct stat status {};
    if (::stat(file.path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
      error = EISDIR;
      return nullptr;
    }
    return SourceText::open(file.path, error);
  }

  /// What a resource without a name is called. Standard input has no name, and the output's must not be part of the
  /// bytes.
  static std::string stem_of(const InputFile& file) { return file.is_stdin() ? std::string() : input_stem(file.path); }

  void wrong_root(Item& item, std::string_view root) {
    item.skipped = item.job->file.in_folder;
    std::string message = "the root element is '" + std::string(root) + "'";
    const BuiltinSchema* known = nullptr;
    for (const BuiltinSchema& schema : builtin_schemas())
      if (const Binding* binding = Binding::builtin(schema.kind); binding != nullptr && binding->reads_root(root))
        known = &schema;
    if (known != nullptr)
      message += ", which " + std::string(compiler_of(known->kind)) + " compiles";
    else if (settings_.tool != "metac")
      message += ", which belongs to no built-in schema (metac --schema takes your own)";
    message += "; " + settings_.tool + " takes " + settings_.roots->names();
    item.fail(rules::wrong_root, std::move(message), kExitRejected);
    // sniff_root() gives a view into the text; a name that came by another way stands at the start.
    Diagnostic& diagnostic = item.diagnostics.back();
    const std::string_view found = sniff_root(item.source->text());
    const size_t offset = found.empty() ? 0 : static_cast<size_t>(found.data() - item.source->text().data());
    place(diagnostic, *item.source, offset);
  }

  static void place(Diagnostic& diagnostic, const SourceText& source, size_t offset) {
    const LineColumn at = source.place_of(offset);
    diagnostic.line = at.line;
    diagnostic.column = at.column;
    diagnostic.source_line = source.line_text(at.line);
  }

  void check(Item& item) {
    if (item.dropped || item.skipped) return;
    if (settings_.fail_fast && failed_.load()) {
      item.dropped = true;
      return;
    }
    const size_t index = static_cast<size_t>(item.job - jobs_.data());
    for (NameUse& use : item.names) {
      const auto [it, is_new] = names_.try_emplace(use.hash);
      if (is_new) {
        it->second = {std::move(use.text), index, use.offset};
        if (item.job->file.is_stdin()) stdin_source_ = item.source;
      } else if (it->second.index != index && fold(it->second.text) != fold(use.text)) {
        collision(item, use, it->second);
      }
    }
    item.names = {};
    if (item.exit != kExitDone) failed_ = true;
  }

  struct FirstUse {
    std::string text;
    size_t index = 0;
    size_t offset = 0;
  };

  void collision(Item& item, const NameUse& use, const FirstUse& first) {
    std::string hash;
    append_hash_literal(hash, use.hash);
    Diagnostic diagnostic = placeless(rules::name_collision, item.job->file.shown(),
                                      "'" + use.text + "' has the same hash as '" + first.text + "' (" + hash + ")");
    place(diagnostic, *item.source, use.offset);
    RelatedPlace related{jobs_[first.index].file.shown(), 0, 0, "'" + first.text + "' is first used here"};
    // Opened again: to keep a place for each name of a world would cost more than this rare case.
    int error = 0;
    const InputFile& file = jobs_[first.index].file;
    const auto source = file.is_stdin() ? stdin_source_ : SourceText::open(file.path, error);
    if (source != nullptr) {
      const LineColumn at = source->place_of(first.offset);
      related.line = at.line;
      related.column = at.column;
    }
    diagnostic.related.push_back(std::move(related));
    item.diagnostics.push_back(std::move(diagnostic));
    item.exit = worse_exit(item.exit, kExitRejected);
    item.bytes.clear();
  }

  void write(Item& item) {
    item.source.reset();
    item.dropped = item.dropped || io_.cancelled();
    if (item.exit != kExitDone || item.dropped || item.skipped) return;
    const Clock::time_point start = Clock::now();
    const std::string& output = item.job->file.output;
    int error = 0;
    if (output == "-") {
      error = write_stream(io_.out, {reinterpret_cast<const char*>(item.bytes.data()), item.bytes.size()});
      item.written = WriteOutcome::written;
    } else {
      if (item.job->make_parents) error = create_parent_folders(output);
      if (error == 0) {
        const WriteResult result = write_file(output, item.bytes, settings_.write);
        item.written = result.outcome;
        error = result.error;
      }
    }
    item.write_seconds = seconds_since(start);
    if (error != 0) {
      item.diagnostics.push_back(placeless(rules::environment_error, output == "-" ? "<stdout>" : output,
                                           "cannot write: " + error_text(error)));
      item.exit = kExitEnvironment;
      item.written = WriteOutcome::failed;
      failed_ = true;
    }
    item.bytes = {};
  }

  void finish(Item& item) {
    if (item.dropped) return;
    if (!item.preview.empty()) report_.print(item.preview);
    if (item.skipped) {
      progress_.advance(item.job->file.shown() + ": not for " + settings_.tool);
      return;
    }
    const InputFile& file = item.job->file;
    ++totals_.inputs;
    add_stats(item);
    if (settings_.diag->quiet && settings_.diag->format == DiagnosticFormat::text)
      std::erase_if(item.diagnostics, [](const Diagnostic& d) { return d.severity == Severity::note; });
    report_.log().add(std::move(item.diagnostics));
    report_.raise(item.exit);
    if (item.exit != kExitDone) {
      report_.log().add_failed(file.shown());
      progress_.advance(file.shown() + " failed");
      return;
    }
    const bool is_unchanged = item.written == WriteOutcome::unchanged;
    ++(is_unchanged ? totals_.unchanged : totals_.written);
    if (is_unchanged && !settings_.diag->quiet) report_.log().add_unchanged(file.output);
    if (file.output != "-")
      rules_.push_back({file.output, file.is_stdin() ? std::vector<std::string>{} : std::vector{file.path}});
    progress_.advance(file.shown() + " -> " + file.output + (is_unchanged ? " (unchanged)" : ""));
  }

  void add_stats(const Item& item) {
    CompileStats& sum = totals_.sum;
    sum.source_bytes += item.stats.source_bytes;
    sum.resource_bytes += item.stats.resource_bytes;
    sum.elements += item.stats.elements;
    sum.items += item.stats.items;
    sum.windows += item.stats.windows;
    sum.names += item.stats.names;
    sum.kept += item.stats.kept;
    sum.scan_seconds += item.stats.scan_seconds;
    sum.read_seconds += item.stats.read_seconds;
    sum.build_seconds += item.stats.build_seconds;
    totals_.write_seconds += item.write_seconds;
  }

  std::span<const CompileJob> jobs_;
  const RunSettings& settings_;
  ToolIo& io_;
  Report& report_;
  std::vector<DepfileRule>& rules_;
  Progress progress_;
  RunTotals totals_;
  size_t next_ = 0;
  std::atomic<bool> failed_{false};
  std::unordered_map<uint32_t, FirstUse> names_;
  std::shared_ptr<const SourceText> stdin_source_;
};

}  // namespace

const Binding* RootTable::find(std::string_view root) const {
  for (const Binding* binding : bindings_)
    if (binding->reads_root(root)) return binding;
  return nullptr;
}

bool RootTable::has_extension(std::string_view extension) const {
  return std::any_of(bindings_.begin(), bindings_.end(), [&](const Binding* b) { return b->extension() == extension; });
}

std::string RootTable::names() const {
  std::string out;
  for (const Binding* binding : bindings_) out += (out.empty() ? "'" : ", '") + binding->root().xml + "'";
  return out;
}

RunTotals run_jobs(std::span<const CompileJob> jobs, const RunSettings& settings, ToolIo& io, Report& report,
                   std::vector<DepfileRule>& rules) {
  return Pipeline(jobs, settings, io, report, rules).run();
}

std::shared_ptr<const SourceText> read_stdin(ToolIo& io, uint64_t max_bytes, int& error) {
  std::string text;
  const auto cancelled = [](const void* context) { return static_cast<const ToolIo*>(context)->cancelled(); };
  error = read_stream(io.in, max_bytes, cancelled, &io, text);
  // One byte more than allowed is enough for the reader to refuse it.
  return error == 0 ? SourceText::from_memory("<stdin>", std::move(text)) : nullptr;
}

}  // namespace meridian::tools
