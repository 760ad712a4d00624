// SPDX-License-Identifier: MIT
// Documents, places and kept XML. Structures are in xml_reader_structs.cpp, values in xml_reader_values.cpp, threads in
// xml_reader_windows.cpp.
#include "xml_reader.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "reader.h"
#include "text_values.h"

namespace meridian::tools {
std::string_view trim_layout(std::string_view t) {
  const auto layout = [](std::string_view blanks) { return blanks.find_first_of("\n\r") != npos; };
  size_t begin = 0;
  while (begin < t.size() && is_blank(t[begin])) ++begin;
  if (begin == t.size()) return {};
  size_t end = t.size();
  while (is_blank(t[end - 1])) --end;
  // A blank on the text's own line belongs to it.
  const size_t from = layout(t.substr(0, begin)) ? begin : 0;
  const size_t to = layout(t.substr(end)) ? end : t.size();
  return t.substr(from, to - from);
}

// --- places ----------------------------------------------------------------------------------------------------------

size_t Reader::offset(const char* p) const {
  if (text_place_ != nullptr && p >= text_place_ && p <= text_place_ + text_size_)
    return offset_in_text(static_cast<size_t>(p - text_place_));
  const size_t copy = static_cast<size_t>(p - mapping_.base);
  const auto after = std::upper_bound(mapping_.segments.begin(), mapping_.segments.end(), copy,
                                      [](size_t c, const Segment& s) { return c < s.copy; });
  const Segment& s = *(after - 1);
  return s.source + (copy - s.copy);
}

// Walks the source as tinyxml2 decoded it. Asked only for findings and new names.
size_t Reader::offset_in_text(size_t index) const {
  const TextPiece* piece = &text_pieces_.front();
  for (const TextPiece& p : text_pieces_)
    if (p.begin <= index) piece = &p;
  size_t at = piece->source;
  for (size_t left = index - piece->begin; left > 0 && at < text_.size();) {
    size_t source = 1, decoded = 1;
    const char c = text_[at];
    const char next = at + 1 < text_.size() ? text_[at + 1] : '\0';
    if ((c == '\r' && next == '\n') || (c == '\n' && next == '\r')) {
      source = 2;
    } else if (c == '&' && !piece->cdata) {
      const size_t end = text_.find(';', at);
      if (end != npos) source = end - at + 1;
      if (next == '#' && end != npos) {
        const bool hex = text_[at + 2] == 'x';
        uint32_t code = 0;
        std::from_chars(text_.data() + at + (hex ? 3 : 2), text_.data() + end, code, hex ? 16 : 10);
        decoded = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      }
    }
    at += source;
    left -= std::min(left, decoded);
  }
  return at;
}

std::string_view Reader::blanked(std::string_view bytes, size_t begin, std::string& storage) const {
  for (const ByteRange& r : scan_.instructions) {
    if (r.end <= begin || r.begin >= begin + bytes.size()) continue;
    if (storage.empty()) storage = bytes;
    const size_t from = std::max(r.begin, begin) - begin;
    std::fill(storage.begin() + static_cast<std::ptrdiff_t>(from),
              storage.begin() + static_cast<std::ptrdiff_t>(std::min(r.end - begin, bytes.size())), ' ');
  }
  return storage.empty() ? bytes : std::string_view(storage);
}

std::unique_ptr<tinyxml2::XMLDocument> Reader::parse(std::string_view bytes, Mapping& mapping, size_t source_begin) {
  text_place_ = nullptr;  // pointed into a document that may be gone
  auto document = std::make_unique<tinyxml2::XMLDocument>(true, tinyxml2::PRESERVE_WHITESPACE);
  if (document->Parse(bytes.data(), bytes.size()) != tinyxml2::XML_SUCCESS ||
      document->FirstChildElement() == nullptr) {
    malformed = true;
    return nullptr;
  }
  // The first element's name is the second byte of the copy: that is where the copy lies.
  mapping.base = document->FirstChildElement()->Name() - 1;
  if (mapping.segments.empty()) mapping.segments.push_back({0, source_begin});
  return document;
}

int Reader::window_of(const tinyxml2::XMLNode& node) {
  const tinyxml2::XMLUnknown* marker = node.ToUnknown();
  // The scan refuses `<!` in sources, so an unknown can only be ours: `<!w17>`.
  return marker == nullptr ? -1 : std::atoi(marker->Value() + 1);
}

bool Reader::has_child_elements(const Element& e) {
  for (const tinyxml2::XMLNode* node = e.FirstChild(); node != nullptr; node = node->NextSibling())
    if (node->ToElement() != nullptr || window_of(*node) >= 0) return true;
  return false;
}

// --- messages --------------------------------------------------------------------------------------------------------

std::string Reader::label() const {
  std::string out = label_prefix_;
  for (const Step& s : steps_) {
    if (!out.empty()) out += ", ";
    out.append(s.noun).append(" ").append(std::to_string(s.index));
  }
  return out;
}

void Reader::report(const Rule& rule, Severity severity, size_t at, std::string message) {
  findings.push_back({&rule, severity, at, label(), std::move(message), {}});
}

namespace {

// `redm_loves_you_<hex>` and `<name>_0x<8 hex>`: names that only RDR 2 tools write.
bool is_rdr3_name(std::string_view name) {
  if (name.starts_with("redm_loves_you_")) return true;
  if (name.size() < 11) return false;
  const std::string_view tail = name.substr(name.size() - 11);
  return tail.starts_with("_0x") && std::all_of(tail.begin() + 3, tail.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
         });
}

// Members that RDR 2 files have under a readable name. Found in published files.
bool is_known_rdr3_name(std::string_view name) {
  static constexpr std::string_view names[] = {
      "powerGridId",          "txdRelationships",           "id", "drawableDictionaryName",
      "visibilityDictionary", "CExtensionDefScriptEntityId"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

void Reader::report_foreign(const Rule& rule, size_t at, std::string message, std::string_view name) {
  Finding finding{&rule, rule.severity, at, label(), std::move(message), {}};
  const bool by_pattern = is_rdr3_name(name);
  if (options_.dialect != Dialect::gta5 && (by_pattern || is_known_rdr3_name(name)))
    foreign.push_back({std::move(finding), by_pattern});
  else
    findings.push_back(std::move(finding));
}

// --- kept XML --------------------------------------------------------------------------------------------------------

bool Reader::ignorable_attribute(std::string_view name) {
  // What other tools add and nobody needs: the type of an array's elements, the kind of its text, an explicit null.
  return name == "itemType" || name == "content" || name == "nil" || name.ends_with(":nil") || name == "xmlns" ||
         name.starts_with("xmlns:");
}

void Reader::keep(KeptKind kind, std::string name, std::string text) {
  std::string path;
  for (const PathPart& part : sub_path_) {
    if (!path.empty()) path += '.';
    path += part.name;
    if (part.index >= 0) path += '[' + std::to_string(part.index) + ']';
  }
  owner_.kept->push_back({kind, owner_.item, std::move(path), std::move(name), std::move(text)});
}

void Reader::canonical(const Element& e, std::string& out) {
  out.append("<").append(e.Name());
  for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next()) {
    out.append(" ").append(a->Name()).append("=\"");
    append_escaped(out, a->Value(), true);
    out += '"';
  }
  std::string inner, text;
  const auto flush = [&] {
    append_escaped(inner, trim_layout(text), false);
    text.clear();
  };
  for (const tinyxml2::XMLNode* node = e.FirstChild(); node != nullptr; node = node->NextSibling()) {
    if (node->ToText() != nullptr) {
      text += node->Value();
    } else if (const Element* child = node->ToElement()) {
      flush();
      canonical(*child, inner);
    } else if (window_of(*node) >= 0) {
      flush();
      each_in_window(window_of(*node), [&](const Element& item) { canonical(item, inner); });
    }
  }
  flush();
  if (inner.empty()) {
    out += "/>";
    return;
  }
  out.append(">").append(inner).append("</").append(e.Name()).append(">");
}

void Reader::keep_element(const Element& e, std::string_view what, const TypePlan* plan) {
  const std::string_view name = e.Name();
  std::string message = "unknown " + std::string(what) + " '" + std::string(name) + "' kept as is";
  if (plan != nullptr) {
    std::vector<std::string_view> known;
    plan->names(known);
    const std::string_view near = nearest(name, known);
    if (!near.empty()) message += "; did you mean '" + std::string(near) + "'?";
  }
  report_foreign(rules::unknown_name, offset(e), std::move(message), name);
  std::string text;
  canonical(e, text);
  keep(KeptKind::element, {}, std::move(text));
}

void Reader::keep_attribute(const tinyxml2::XMLAttribute& a) {
  if (ignorable_attribute(a.Name())) return;
  // Some tools write the structure's own name on every member. It says nothing new, but it is the author's: kept.
  if (std::string_view(a.Name()) != "type")
    report_foreign(rules::unknown_name, offset(a.Name()),
                   "unknown attribute '" + std::string(a.Name()) + "' kept as is", a.Name());
  keep(KeptKind::attribute, a.Name(), a.Value());
}

// All stray text of an element is kept as one: between the members it belongs to none of them, and once written back it
// stands in one piece.
void Reader::keep_stray_text(const Element& e) {
  std::string all;
  for (const tinyxml2::XMLNode* node = e.FirstChild(); node != nullptr; node = node->NextSibling()) {
    const tinyxml2::XMLText* text = node->ToText();
    if (text == nullptr) continue;
    const std::string_view t = trim(text->Value());
    if (t.empty()) continue;
    report(rules::unknown_name, offset(t.data()),
           "text '" + std::string(t.substr(0, 40)) + "' in '" + e.Name() + "' has no meaning here; kept as is");
    all.append(all.empty() ? "" : " ").append(t);
  }
  if (!all.empty()) keep(KeptKind::text, {}, std::move(all));
}

// --- skeleton and windows --------------------------------------------------------------------------------------------

void Reader::read_skeleton(TableValue& root, std::vector<WindowTask>& tasks) {
  tasks_ = &tasks;
  Mapping mapping;
  std::string skeleton;
  std::string storage;
  std::string_view bytes = text_.substr(scan_.root.begin, scan_.root.end - scan_.root.begin);
  if (scan_.windows.empty()) {
    bytes = blanked(bytes, scan_.root.begin, storage);
  } else {
    // The root element with each window replaced by a marker, and where the pieces came from.
    size_t from = scan_.root.begin;
    for (size_t i = 0; i <= scan_.windows.size(); ++i) {
      const size_t to = i < scan_.windows.size() ? scan_.windows[i].begin : scan_.root.end;
      mapping.segments.push_back({skeleton.size(), from});
      std::string piece;
      skeleton += blanked(text_.substr(from, to - from), from, piece);
      if (i == scan_.windows.size()) break;
      mapping.segments.push_back({skeleton.size(), to});
      skeleton += "<!w" + std::to_string(i) + ">";
      from = scan_.windows[i].end;
    }
    bytes = skeleton;
  }
  const auto document = parse(bytes, mapping, scan_.root.begin);
  if (document == nullptr) return;
  mapping_ = std::move(mapping);
  const Element& e = *document->RootElement();
  root.type = &binding_.root();
  owner_ = {&root.kept, 0};
  read_table(e, binding_.root(), root);
}

void Reader::read_window(const WindowTask& task, const Window& w, ItemList& out) {
  std::string storage;
  Mapping mapping;
  const auto document = parse(blanked(text_.substr(w.begin, w.end - w.begin), w.begin, storage), mapping, w.begin);
  if (document == nullptr) return;
  mapping_ = std::move(mapping);
  label_prefix_ = task.label;
  // Structs and scalars of this window have about the size of its first Items; one growth is enough mostly.
  if (task.field->kind == FieldKind::struct_vector) out.bytes.reserve(size_t{w.items} * task.field->size);
  uint32_t index = task.first_index;
  for (const Element* e = document->FirstChildElement(); e != nullptr; e = e->NextSiblingElement())
    read_item(*e, *task.owner, *task.field, out, index++);
}

void Reader::check_window(int window) {
  const Window& w = scan_.windows[static_cast<size_t>(window)];
  std::string storage;
  Mapping mapping;
  (void)parse(blanked(text_.substr(w.begin, w.end - w.begin), w.begin, storage), mapping, w.begin);
}

size_t locate_value(std::string_view text, size_t element, std::string_view child) {
  if (element == 0 || element > text.size()) return element;
  // The element alone, by a scan that ends at its closing tag: read as a document of its own.
  const std::string_view from = text.substr(element - 1);
  size_t depth = 0, end = npos;
  for (size_t p = 0; p < from.size();) {
    const size_t open = from.find('<', p);
    if (open == npos) break;
    if (from.substr(open).starts_with("<!--")) {
      const size_t close = from.find("-->", open);
      if (close == npos) break;
      p = close + 3;
      continue;
    }
    const size_t close = from.find('>', open);
    if (close == npos) break;
    if (from[open + 1] == '/')
      --depth;
    else if (from[close - 1] != '/')
      ++depth;
    p = close + 1;
    if (depth == 0) {
      end = p;
      break;
    }
  }
  if (end == npos) return element;
  tinyxml2::XMLDocument document(true, tinyxml2::PRESERVE_WHITESPACE);
  if (document.Parse(from.data(), end) != tinyxml2::XML_SUCCESS || document.RootElement() == nullptr) return element;
  const char* const base = document.RootElement()->Name() - 1;
  const tinyxml2::XMLElement* found = document.RootElement()->FirstChildElement(std::string(child).c_str());
  if (found == nullptr) return element;
  const char* at = found->Name();
  if (const tinyxml2::XMLAttribute* value = found->FindAttribute("value"))
    at = value->Value();
  else if (found->GetText() != nullptr)
    at = trim(found->GetText()).data();
  return element - 1 + static_cast<size_t>(at - base);
}

}  // namespace meridian::tools
