// SPDX-License-Identifier: MIT
#pragma once
/// The reader's state for one thread. Private to xml_reader*.cpp.

#include <tinyxml2.h>

#include <bitset>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "xml_reader.h"

namespace meridian::tools {

/// Restores a value at the end of a scope.
template <class T>
class Restore {
 public:
  explicit Restore(T& at) : at_(at), saved_(at) {}
  ~Restore() { at_ = std::move(saved_); }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& at_;
  T saved_;
};

/// A window met in the skeleton: where its items go, and what a message needs to know of the place.
struct WindowTask {
  int window = 0;
  const TypePlan* owner = nullptr;
  const FieldPlan* field = nullptr;
  uint32_t first_index = 0;  ///< of its first Item in the whole array
  std::string label;         ///< of the owner
  std::vector<ListPart>* parts = nullptr;
  size_t part = 0;
};

/// Whether windows among this field's elements may be read by other threads: what Items they are, and which ones, does
/// not depend on what is in them.
inline bool reads_in_parallel(const FieldPlan& f) {
  return f.item == "Item" && (f.kind == FieldKind::struct_vector || f.kind == FieldKind::table_vector) &&
         f.converter != Converter::vectors;
}

/// What may become part of the one note about a dialect, or stay a finding of its own.
struct ForeignFinding {
  Finding finding;
  bool by_pattern = false;  ///< the name itself says that it is RDR 2
};

class Reader {
 public:
  Reader(std::string_view text, const ScanResult& scan, const Binding& binding, const CompileOptions& options)
      : text_(text), scan_(scan), binding_(binding), options_(options) {}

  void read_skeleton(TableValue& root, std::vector<WindowTask>& tasks);
  /// `w` is the task's window.
  void read_window(const WindowTask& task, const Window& w, ItemList& out);
  /// Only looks whether tinyxml2 takes it: for windows in elements that nothing reads (a second `entities`).
  void check_window(int window);

  std::vector<Finding> findings;
  std::vector<ForeignFinding> foreign;
  NameTable names;
  uint64_t items = 0;
  bool malformed = false;  ///< tinyxml2 refused a document; what was read has holes
  std::vector<bool> met;   ///< skeleton: windows that were read where they were met

 private:
  using Element = tinyxml2::XMLElement;
  using Seen = std::bitset<256>;

  // --- places: a pointer into tinyxml2's copy of the text becomes an offset into the source -----------------------
  struct Segment {
    size_t copy = 0, source = 0;  ///< from `copy` on, source offset is source + (offset - copy)
  };
  struct Mapping {
    const char* base = nullptr;
    std::vector<Segment> segments;  ///< sorted by copy
  };
  size_t offset(const char* p) const;
  size_t offset_in_text(size_t index) const;
  size_t offset(const Element& e) const { return offset(e.Name()); }

  /// Parses bytes as one document. Null (with a finding) if tinyxml2 refuses them.
  std::unique_ptr<tinyxml2::XMLDocument> parse(std::string_view bytes, Mapping& mapping, size_t source_begin);
  std::string_view blanked(std::string_view bytes, size_t begin, std::string& storage) const;
  static int window_of(const tinyxml2::XMLNode& node);
  /// Elements, or a window that holds some.
  static bool has_child_elements(const Element& e);

  /// Calls f(element) for each child element; a window among the children is read in place.
  template <class F>
  void each_child(const Element& e, F&& f);
  template <class F>
  void each_in_window(int window, F&& f);

  // --- messages ---------------------------------------------------------------------------------------------------
  struct Step {
    std::string_view noun;
    uint32_t index;
  };
  std::string label() const;
  void report(const Rule& rule, Severity severity, size_t at, std::string message);
  void report(const Rule& rule, size_t at, std::string message) { report(rule, rule.severity, at, std::move(message)); }
  void report_foreign(const Rule& rule, size_t at, std::string message, std::string_view name);

  // --- what the schema lacks ----------------------------------------------------------------------------------------
  struct PathPart {
    std::string_view name;
    int64_t index = -1;                        ///< of an element that is no object of its own
    PathPart(std::string_view n) : name(n) {}  // NOLINT(google-explicit-constructor): a name is a path part
  };
  struct Owner {
    std::vector<Kept>* kept = nullptr;
    uint32_t item = 0;
  };
  void keep(KeptKind kind, std::string name, std::string text);
  void keep_element(const Element& e, std::string_view why_not, const TypePlan* plan);
  void keep_attribute(const tinyxml2::XMLAttribute& a);
  void keep_stray_text(const Element& e);
  void canonical(const Element& e, std::string& out);
  static bool ignorable_attribute(std::string_view name);

  // --- structures ---------------------------------------------------------------------------------------------------
  void read_table(const Element& e, const TypePlan& plan, TableValue& out);
  bool read_table_child(const Element& child, const TypePlan& plan, TableValue& out, Seen& seen);
  void finish_table(size_t at, const TypePlan& plan, TableValue& out, const Seen& seen);
  void read_field(const Element& e, const TypePlan& owner, const FieldPlan& f, FieldValue& out);
  void read_struct(const Element& e, const TypePlan& plan, uint8_t* at);
  bool read_struct_child(const Element& child, const TypePlan& plan, uint8_t* at, int& expected, Seen& seen);
  void read_struct_field(const Element& e, const FieldPlan& f, uint8_t* at);
  void finish_struct(size_t at, const TypePlan& plan, uint8_t* bytes, const Seen& seen, bool needs_name = true);
  void read_lanes(std::string_view text, const char* place, const TypePlan& plan, uint8_t* at, bool extra_allowed,
                  std::string_view what);
  void read_attribute_lanes(const Element& e, const FieldPlan& f, uint8_t* at);
  void read_named_lanes(const Element& e, const FieldPlan& f, uint8_t* at);
  void table_attributes(const Element& e, const TypePlan& plan, TableValue& out);
  void note_missing(size_t at, const FieldPlan& f, const uint8_t* bytes);
  void apply_derive(const TypePlan& plan, uint8_t* bytes, const Seen& seen);

  // --- vectors ------------------------------------------------------------------------------------------------------
  void read_vector(const Element& e, const TypePlan& owner, const FieldPlan& f, FieldValue& out);
  void read_item(const Element& e, const TypePlan& owner, const FieldPlan& f, ItemList& list, uint32_t index);
  void read_struct_item(const Element& e, const TypePlan& owner, const FieldPlan& f, ItemList& list);
  void read_union_item(const Element& e, const TypePlan& wrapper, TableValue& out);
  void read_hoisted_items(const Element& e, const FieldPlan& hoisted, std::vector<TableValue>& records, uint32_t owner);
  void read_number_text(const Element& e, const FieldPlan& f, ItemList& list);
  void read_vector_lines(const Element& e, const FieldPlan& f, ItemList& list);
  void read_hex(const Element& e, const FieldPlan& f, ItemList& list);

  // --- scalars ------------------------------------------------------------------------------------------------------
  /// The text of a scalar element and where it stands; unknown attributes and children are kept.
  std::string_view content(const Element& e, bool text_first, const char*& place);
  std::string_view own_text(const Element& e, const char*& place, std::string& joined);
  /// False: it has another form. Needs no path, because it keeps nothing.
  bool read_plain_scalar(const Element& e, const FieldPlan& f, uint64_t& bits);
  void read_scalar(const Element& e, const FieldPlan& f, uint64_t& bits);
  void scalar_from_text(std::string_view text, const char* place, const Element& e, const FieldPlan& f, uint64_t& bits);
  void number_from_text(std::string_view text, const char* place, const FieldPlan& f, uint64_t& bits,
                        std::string_view what);
  uint32_t name_from_text(std::string_view text, const char* place, const FieldPlan& f);
  void enum_from_text(std::string_view text, const char* place, const FieldPlan& f, uint64_t& bits);
  void flags_from_text(std::string_view text, const char* place, const FieldPlan& f, uint64_t& bits);
  void string_from_element(const Element& e, const FieldPlan& f, std::string& out);
  void check_known(std::string_view text, const char* place, const FieldPlan& f);

  std::string_view text_;
  const ScanResult& scan_;
  const Binding& binding_;
  const CompileOptions& options_;
  Mapping mapping_;
  std::vector<WindowTask>* tasks_ = nullptr;  // null: windows are read where they are met
  std::string label_prefix_;
  std::vector<Step> steps_;
  Owner owner_;
  std::vector<PathPart> sub_path_;
  std::string joined_;  // storage of content()
  // The text that is being read, as pieces of the source: tinyxml2 decodes entities and line ends in place, so what
  // stands at `place + i` need not stand i bytes behind the text's begin in the source.
  struct TextPiece {
    size_t begin = 0;   ///< in the joined text
    size_t source = 0;  ///< offset of its first byte
    bool cdata = false;
  };
  const char* text_place_ = nullptr;
  size_t text_size_ = 0;
  std::vector<TextPiece> text_pieces_;
};

/// Where the text begins after layout white space is taken off both ends (see READ-1 in the format docs).
std::string_view trim_layout(std::string_view text);

template <class F>
void Reader::each_in_window(int window, F&& f) {
  const Window& w = scan_.windows[static_cast<size_t>(window)];
  met.resize(scan_.windows.size());
  met[static_cast<size_t>(window)] = true;
  std::string storage;
  Mapping inner;
  const auto document = parse(blanked(text_.substr(w.begin, w.end - w.begin), w.begin, storage), inner, w.begin);
  if (document == nullptr) return;
  std::swap(mapping_, inner);
  for (const Element* e = document->FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) f(*e);
  std::swap(mapping_, inner);
}

template <class F>
void Reader::each_child(const Element& e, F&& f) {
  for (const tinyxml2::XMLNode* node = e.FirstChild(); node != nullptr; node = node->NextSibling()) {
    if (const Element* child = node->ToElement())
      f(*child);
    else if (const int window = window_of(*node); window >= 0)
      each_in_window(window, f);
  }
}

}  // namespace meridian::tools
