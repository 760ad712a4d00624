// SPDX-License-Identifier: MIT
// The threads that read windows, and what becomes of all that was read. See xml_reader.h.
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <deque>
#include <iterator>

#include "reader.h"
#include "text_values.h"
#include "xml_reader.h"

namespace meridian::tools {
namespace {

// The first byte where a tag is not `name = "value"` and so on; npos if every tag is fine. tinyxml2 says only the line,
// so this is asked when it has refused a document.
size_t find_bad_attribute(std::string_view text) {
  for (size_t p = text.find('<'); p != npos; p = text.find('<', p)) {
    const std::string_view rest = text.substr(p);
    if (rest.starts_with("<!--")) {
      p = text.find("-->", p);
    } else if (rest.starts_with("<![CDATA[")) {
      p = text.find("]]>", p);
    } else if (rest.starts_with("</") || rest.starts_with("<?") || rest.starts_with("<!")) {
      p = text.find('>', p);
    } else {
      while (p < text.size() && !is_blank(text[p]) && text[p] != '/' && text[p] != '>') ++p;
      std::vector<std::string_view> names;
      while (true) {
        while (p < text.size() && is_blank(text[p])) ++p;
        if (p >= text.size()) return npos;
        if (text[p] == '>') break;
        if (text[p] == '/') {
          if (p + 1 < text.size() && text[p + 1] == '>') break;
          return p;
        }
        const size_t name = p;
        while (p < text.size() && !is_blank(text[p]) && text[p] != '=' && text[p] != '>' && text[p] != '/' &&
               text[p] != '"' && text[p] != '\'')
          ++p;
        if (p == name || (text[name] >= '0' && text[name] <= '9')) return name;
        const size_t name_end = p;
        const std::string_view attribute = text.substr(name, name_end - name);
        if (std::find(names.begin(), names.end(), attribute) != names.end()) return name;  // no attribute stands twice
        names.push_back(attribute);
        while (p < text.size() && is_blank(text[p])) ++p;
        if (p >= text.size() || text[p] != '=') return name_end;
        ++p;
        while (p < text.size() && is_blank(text[p])) ++p;
        if (p >= text.size() || (text[p] != '"' && text[p] != '\'')) return p;
        p = text.find(text[p], p + 1);
        if (p == npos) return name;
        ++p;
        if (p < text.size() && !is_blank(text[p]) && text[p] != '/' && text[p] != '>') return p;
      }
    }
    if (p == npos) return npos;
  }
  return npos;
}

// One note for all that only RDR 2 files have, or findings of their own.
void settle_dialect(std::vector<ForeignFinding>& foreign, const CompileOptions& options,
                    std::vector<Finding>& findings) {
  const bool rdr3 = options.dialect == Dialect::rdr3 ||
                    std::any_of(foreign.begin(), foreign.end(), [](const ForeignFinding& f) { return f.by_pattern; });
  if (foreign.empty()) return;
  if (!rdr3) {
    for (ForeignFinding& f : foreign) findings.push_back(std::move(f.finding));
    return;
  }
  const auto first = std::min_element(
      foreign.begin(), foreign.end(),
      [](const ForeignFinding& a, const ForeignFinding& b) { return a.finding.offset < b.finding.offset; });
  findings.push_back({&rules::unknown_name,
                      Severity::note,
                      first->finding.offset,
                      {},
                      "an RDR 2 file: " + std::to_string(foreign.size()) +
                          (foreign.size() == 1 ? " member or type that only RDR 2 has is kept as it is"
                                               : " members or types that only RDR 2 has are kept as they are"),
                      {}});
}

// The array that the path leads to, if nothing on the way or in it depends on more than names. What it cannot know
// (an element may stand twice) the skeleton finds out.
bool find_array(const Binding& binding, const std::vector<std::string_view>& path, WindowTask& task) {
  const TypePlan* plan = &binding.root();
  for (size_t i = 1; i < path.size(); ++i) {
    bool alias = false;
    const int index = plan->find(path[i], alias);
    if (index < 0) return false;
    const FieldPlan& f = plan->fields[static_cast<size_t>(index)];
    if (i + 1 == path.size()) {
      task.owner = plan;
      task.field = &f;
      return reads_in_parallel(f);
    }
    if (f.kind != FieldKind::table) return false;
    plan = f.type;
  }
  return false;
}

// Puts the lists of the skeleton together, once all their windows are there. Task order is document order.
void join_lists(const std::vector<WindowTask>& tasks, std::vector<ItemList>& lists) {
  for (size_t i = 0; i < tasks.size(); ++i) (*tasks[i].parts)[tasks[i].part].items = std::move(lists[i]);
  for (const WindowTask& task : tasks) {
    std::vector<ListPart>& parts = *task.parts;
    if (parts.size() < 2) continue;
    ItemList whole = std::move(parts[0].items);
    size_t bytes = whole.bytes.size();
    for (const ListPart& p : parts) bytes += p.items.bytes.size();
    whole.bytes.reserve(bytes);
    for (size_t p = 1; p < parts.size(); ++p) whole.append(std::move(parts[p].items));
    parts.resize(1);
    parts[0].items = std::move(whole);
  }
}

bool cancelled(const CompileOptions& options) {
  return options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed);
}

}  // namespace

void ItemList::append(ItemList&& next) {
  for (Kept& k : next.kept) {
    k.item += count;
    kept.push_back(std::move(k));
  }
  if (next.hoisted.size() > hoisted.size()) hoisted.resize(next.hoisted.size());
  for (size_t h = 0; h < next.hoisted.size(); ++h)
    for (TableValue& record : next.hoisted[h]) {
      record.owner += count;
      hoisted[h].push_back(std::move(record));
    }
  bytes.insert(bytes.end(), next.bytes.begin(), next.bytes.end());
  std::move(next.strings.begin(), next.strings.end(), std::back_inserter(strings));
  std::move(next.tables.begin(), next.tables.end(), std::back_inserter(tables));
  places.insert(places.end(), next.places.begin(), next.places.end());
  count += next.count;
  next = ItemList();
}

struct XmlRead::EarlyRead {
  WindowTask task;  // what the path says; not yet a place in a list
  Window window;
  ItemList items;
};

struct XmlRead::Threads {
  Threads(std::string_view text, const Binding& binding, const CompileOptions& options)
      : arena(options.jobs == 0 ? tbb::task_arena::automatic : static_cast<int>(options.jobs)),
        readers([this, text, &binding, &options] { return Reader(text, no_scan, binding, options); }) {}

  const ScanResult no_scan;  // what early readers know of it: they meet neither windows nor processing instructions
  tbb::task_arena arena;
  tbb::task_group group;
  tbb::enumerable_thread_specific<Reader> readers;
  std::deque<EarlyRead> early;  // a deque: what tasks write to stays where it is
};

XmlRead::XmlRead(std::string_view text, const Binding& binding, const CompileOptions& options)
    : text_(text), binding_(binding), options_(options) {}

XmlRead::~XmlRead() {
  if (threads_ == nullptr) return;
  // Something is still being read only if the scan failed, and then nobody wants it, nor what went wrong with it.
  try {
    threads_->arena.execute([&] {
      threads_->group.cancel();
      threads_->group.wait();
    });
  } catch (...) {
  }
}

const ScanResult& XmlRead::scan() {
  const size_t window_bytes = text_.size() <= options_.window_bytes ? 0 : options_.window_bytes;
  if (options_.jobs == 1 || window_bytes == 0) {
    scan_ = scan_xml(text_, options_.limits, window_bytes);
    return scan_;
  }
  threads_ = std::make_unique<Threads>(text_, binding_, options_);
  threads_->arena.execute([&] {
    scan_ = scan_xml(text_, options_.limits, window_bytes, [&](EarlyWindow&& early) { read_early(std::move(early)); });
  });
  return scan_;
}

void XmlRead::read_early(EarlyWindow&& early) {
  WindowTask task;
  task.first_index = early.first_item;
  if (!find_array(binding_, early.path, task)) return;
  EarlyRead& read = threads_->early.emplace_back(EarlyRead{std::move(task), early.window, {}});
  threads_->group.run([this, &read] {
    if (!cancelled(options_)) threads_->readers.local().read_window(read.task, read.window, read.items);
  });
}

// Waits for what was read early, and moves it to where the tasks want it. Gives which tasks are done. If some of it is
// not wanted, or not as it was read, then all of it is dropped: findings and names are not kept by window.
std::vector<bool> XmlRead::take_early(const std::vector<WindowTask>& tasks, std::vector<ItemList>& lists,
                                      std::vector<Reader>& readers) {
  std::vector<bool> done(tasks.size());
  if (threads_ == nullptr) return done;
  threads_->arena.execute([&] { threads_->group.wait(); });
  size_t i = 0;
  for (EarlyRead& read : threads_->early) {  // both are in document order
    const auto begin = [&] { return scan_.windows[static_cast<size_t>(tasks[i].window)].begin; };
    while (i < tasks.size() && begin() < read.window.begin) ++i;
    if (i == tasks.size() || begin() != read.window.begin || tasks[i].owner != read.task.owner ||
        tasks[i].field != read.task.field || tasks[i].first_index != read.task.first_index || !tasks[i].label.empty())
      return std::vector<bool>(tasks.size());
    lists[i] = std::move(read.items);
    done[i] = true;
  }
  for (Reader& r : threads_->readers) readers.push_back(std::move(r));
  return done;
}

void XmlRead::read_rest(const std::vector<WindowTask>& tasks, const std::vector<bool>& done,
                        std::vector<ItemList>& lists, std::vector<Reader>& readers) {
  std::vector<size_t> left;
  for (size_t i = 0; i < tasks.size(); ++i)
    if (!done[i]) left.push_back(i);
  const auto read_task = [&](Reader& reader, size_t i) {
    if (cancelled(options_)) return;
    lists[i] = {};  // may hold what was read early and dropped
    reader.read_window(tasks[i], scan_.windows[static_cast<size_t>(tasks[i].window)], lists[i]);
  };
  if (threads_ == nullptr || left.size() < 2) {
    Reader& reader = readers.emplace_back(text_, scan_, binding_, options_);
    for (const size_t i : left) read_task(reader, i);
    return;
  }
  tbb::enumerable_thread_specific<Reader> local([&] { return Reader(text_, scan_, binding_, options_); });
  threads_->arena.execute(
      [&] { tbb::parallel_for(size_t{0}, left.size(), [&](size_t i) { read_task(local.local(), left[i]); }); });
  for (Reader& r : local) readers.push_back(std::move(r));
}

ReadResult XmlRead::read() {
  ReadResult result;
  std::vector<WindowTask> tasks;
  Reader skeleton(text_, scan_, binding_, options_);
  skeleton.read_skeleton(result.root, tasks);

  std::vector<ItemList> lists(tasks.size());
  std::vector<Reader> readers;
  const std::vector<bool> done = take_early(tasks, lists, readers);
  read_rest(tasks, done, lists, readers);
  skeleton.met.resize(scan_.windows.size());
  for (const WindowTask& task : tasks) skeleton.met[static_cast<size_t>(task.window)] = true;
  for (size_t i = 0; i < scan_.windows.size(); ++i)
    if (!skeleton.met[i]) skeleton.check_window(static_cast<int>(i));
  readers.push_back(std::move(skeleton));
  result.cancelled = cancelled(options_);
  join_lists(tasks, lists);

  std::vector<ForeignFinding> foreign;
  for (Reader& r : readers) {
    result.malformed = result.malformed || r.malformed;
    std::move(r.findings.begin(), r.findings.end(), std::back_inserter(result.findings));
    std::move(r.foreign.begin(), r.foreign.end(), std::back_inserter(foreign));
    result.names.merge(r.names);
    result.items += r.items;
  }
  settle_dialect(foreign, options_, result.findings);

  // A refused document leaves holes, so nothing else that was found is reliable: say only where the fault is.
  if (result.malformed) {
    const std::string_view root = text_.substr(scan_.root.begin, scan_.root.end - scan_.root.begin);
    const size_t bad = find_bad_attribute(root);
    result.findings.clear();
    result.findings.push_back({&rules::malformed_xml,
                               Severity::error,
                               scan_.root.begin + (bad == npos ? 0 : bad),
                               {},
                               "a tag is not well formed (attributes are written name=\"value\", each once)",
                               {}});
  }
  return result;
}

}  // namespace meridian::tools
