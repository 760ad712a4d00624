// SPDX-License-Identifier: MIT
#include "xml_scan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "text_values.h"

namespace meridian::tools {
namespace {

// What a byte may be inside a tag, by one look instead of a comparison for each.
enum ByteClass : uint8_t {
  name_start = 1,
  name_end = 2,   // blank > / <
  tag_stop = 4,   // > < and both quotes
  value_stop = 8  // < and both quotes
};

constexpr std::array<uint8_t, 256> kByteClass = [] {
  std::array<uint8_t, 256> classes{};
  for (unsigned b = 0; b < 256; ++b)
    if ((b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || b == '_' || b == ':' || b >= 0x80) classes[b] = name_start;
  for (const size_t b : {0x20u, 0x09u, 0x0Au, 0x0Du, 0x2Fu})  // blank, tab, line feed, return, slash
    classes[b] = name_end;
  for (const size_t b : {0x22u, 0x27u})  // quotes
    classes[b] = tag_stop | value_stop;
  classes['>'] = name_end | tag_stop;
  classes['<'] = name_end | tag_stop | value_stop;
  return classes;
}();

bool is(char c, ByteClass wanted) { return (kByteClass[static_cast<unsigned char>(c)] & wanted) != 0; }

// Length of a valid UTF-8 sequence at p, or 0. Follows table 3-7 of the Unicode standard.
size_t utf8_length(const unsigned char* p, const unsigned char* end) {
  const size_t left = static_cast<size_t>(end - p);
  const auto tail = [&](size_t i, unsigned lo = 0x80, unsigned hi = 0xBF) {
    return i < left && p[i] >= lo && p[i] <= hi;
  };
  if (p[0] < 0x80) return 1;
  if (p[0] >= 0xC2 && p[0] <= 0xDF) return tail(1) ? 2 : 0;
  if (p[0] == 0xE0) return tail(1, 0xA0) && tail(2) ? 3 : 0;
  if (p[0] == 0xED) return tail(1, 0x80, 0x9F) && tail(2) ? 3 : 0;
  if (p[0] >= 0xE1 && p[0] <= 0xEF) return tail(1) && tail(2) ? 3 : 0;
  if (p[0] == 0xF0) return tail(1, 0x90) && tail(2) && tail(3) ? 4 : 0;
  if (p[0] >= 0xF1 && p[0] <= 0xF3) return tail(1) && tail(2) && tail(3) ? 4 : 0;
  if (p[0] == 0xF4) return tail(1, 0x80, 0x8F) && tail(2) && tail(3) ? 4 : 0;
  return 0;
}

// An open element, with the run of small Items among its children that may become a window.
struct Frame {
  const char* name;
  uint32_t name_size;
  bool is_item;
  size_t begin;
  size_t windows_before;  // windows known when it opened: what comes after is inside it
  size_t run_begin = 0, run_end = 0;
  uint32_t run_items = 0;
  uint32_t items = 0;            // closed so far, those of the run among them
  size_t pending_waiver = npos;  // index of a waiver that waits for the next child
};

class Scanner {
 public:
  Scanner(std::string_view text, const CompileLimits& limits, size_t window_bytes, const EarlyWindowSink& early)
      : text_(text),
        limits_(limits),
        window_bytes_(window_bytes),
        early_(early),
        has_references_(text.find('&') != npos) {}

  ScanResult run() {
    stack_.reserve(limits_.max_depth + 1);
    while (ok_) {
      const size_t open = find_char('<', pos_);
      check_text(pos_, open == npos ? text_.size() : open);
      if (!ok_ || open == npos) break;
      pos_ = open;
      markup();
    }
    if (ok_) finish();
    std::sort(out_.windows.begin(), out_.windows.end(),
              [](const Window& a, const Window& b) { return a.begin < b.begin; });
    return std::move(out_);
  }

 private:
  size_t find_char(char c, size_t from) const {
    if (from >= text_.size()) return npos;
    const void* hit = std::memchr(text_.data() + from, c, text_.size() - from);
    return hit == nullptr ? npos : static_cast<size_t>(static_cast<const char*>(hit) - text_.data());
  }

  void fail(const Rule& rule, size_t offset, std::string message) {
    out_.findings.push_back({&rule, Severity::error, offset, {}, std::move(message), {}});
    ok_ = false;
  }

  void fail_truncated(const char* inside) {
    fail(rules::malformed_xml, text_.size(), std::string("the file ends inside ") + inside);
  }

  void check_text(size_t begin, size_t end) {
    if (stack_.empty()) {
      for (size_t i = begin; i < end; ++i) {
        if (is_blank(text_[i])) continue;
        // Blanks may stand before the declaration (some tools write a line there); text would be lost data.
        return fail(rules::malformed_xml, i,
                    saw_root_ ? "text after the root element" : "text before the root element");
      }
    }
    // Text between Items belongs to the array, not to a window of them.
    if (!stack_.empty() && stack_.back().run_items > 0)
      for (size_t i = begin; i < end; ++i)
        if (!is_blank(text_[i])) {
          end_run(stack_.back());
          break;
        }
    if (has_references_) check_references(begin, end);
  }

  void check_references(size_t begin, size_t end) {
    for (size_t amp = text_.find('&', begin); amp != npos && amp < end; amp = text_.find('&', amp + 1)) {
      const size_t semicolon = text_.find(';', amp);
      const std::string_view name =
          semicolon == npos || semicolon >= end ? std::string_view() : text_.substr(amp + 1, semicolon - amp - 1);
      if (name == "lt" || name == "gt" || name == "amp" || name == "quot" || name == "apos") continue;
      if (!name.empty() && name[0] == '#' && valid_character(name.substr(1))) continue;
      if (!name.empty() && name[0] == '#')
        return fail(rules::malformed_xml, amp,
                    "'&" + std::string(name.substr(0, 40)) + ";' is no character that XML may hold");
      return fail(rules::malformed_xml, amp,
                  name.empty() ? "'&' that begins no entity (write '&amp;')"
                               : "undefined entity '&" + std::string(name.substr(0, 40)) + ";'");
    }
  }

  static bool valid_character(std::string_view digits) {
    const bool hex = !digits.empty() && digits[0] == 'x';
    if (hex) digits.remove_prefix(1);
    if (digits.empty() || digits.size() > 8) return false;
    uint64_t code = 0;
    for (const char c : digits) {
      int digit = -1;
      if (c >= '0' && c <= '9') digit = c - '0';
      if (hex && c >= 'a' && c <= 'f') digit = c - 'a' + 10;
      if (hex && c >= 'A' && c <= 'F') digit = c - 'A' + 10;
      if (digit < 0) return false;
      code = code * (hex ? 16u : 10u) + static_cast<uint64_t>(digit);
    }
    return code == 9 || code == 10 || code == 13 || (code >= 0x20 && code <= 0xD7FF) ||
           (code >= 0xE000 && code <= 0xFFFD) || (code >= 0x10000 && code <= 0x10FFFF);
  }

  void markup() {
    const std::string_view rest = text_.substr(pos_);
    if (rest.size() < 2) return fail_truncated("a tag");
    switch (rest[1]) {
      case '!':
        if (rest.starts_with("<!--")) return comment();
        if (rest.starts_with("<![CDATA[")) return cdata();
        if (rest.starts_with("<!DOCTYPE"))
          return fail(rules::malformed_xml, pos_, "a DOCTYPE is refused: documents define no entities here");
        return fail(rules::malformed_xml, pos_, "unknown markup '<!'");
      case '?': {
        const size_t end = text_.find("?>", pos_ + 2);
        if (end == npos) return fail_truncated("a processing instruction");
        if (!stack_.empty()) out_.instructions.push_back({pos_, end + 2});
        pos_ = end + 2;
        return;
      }
      case '/':
        return close_tag();
      default:
        return open_tag();
    }
  }

  void comment() {
    const size_t end = text_.find("-->", pos_ + 4);
    if (end == npos) return fail_truncated("a comment");
    waiver(text_.substr(pos_ + 4, end - pos_ - 4));
    pos_ = end + 3;
  }

  void waiver(std::string_view body) {
    while (!body.empty() && is_blank(body.front())) body.remove_prefix(1);
    while (!body.empty() && is_blank(body.back())) body.remove_suffix(1);
    if (!body.starts_with("lint-ok")) return;
    body.remove_prefix(7);
    Waiver waiver{pos_, npos, npos, body};  // begin npos: no element yet
    if (stack_.empty()) {
      if (!saw_root_) {  // before the root: the whole file
        waiver.begin = 0;
        waiver.end = text_.size();
      }
    } else {
      // Several waivers may stand before one element; each waits, linked through its `end`.
      waiver.end = stack_.back().pending_waiver;
      stack_.back().pending_waiver = out_.waivers.size();
    }
    out_.waivers.push_back(waiver);
  }

  // Gives the waivers of a chain the element [begin, end).
  void cover(size_t first_waiver, size_t begin, size_t end) {
    for (size_t i = first_waiver; i != npos;) {
      Waiver& w = out_.waivers[i];
      const size_t next = w.end;
      w.begin = begin;
      w.end = end;
      i = next;
    }
  }

  void cdata() {
    if (stack_.empty()) return fail(rules::malformed_xml, pos_, "text outside the root element");
    const size_t end = text_.find("]]>", pos_ + 9);
    if (end == npos) return fail_truncated("a CDATA section");
    end_run(stack_.back());
    pos_ = end + 3;
  }

  void open_tag() {
    const size_t begin = pos_;
    const char* const text = text_.data();
    const size_t size = text_.size();
    size_t p = begin + 1;
    if (!is(text[p], name_start)) return fail(rules::malformed_xml, begin, "'<' that begins no tag");
    while (p < size && !is(text[p], name_end)) ++p;
    const size_t behind_name = p;
    // To the closing '>', past quoted values.
    bool closed = false;
    while (true) {
      while (p < size && !is(text[p], tag_stop)) ++p;
      if (p == size) break;
      const char c = text[p];
      if (c == '>') {
        closed = true;
        break;
      }
      if (c == '<') return fail(rules::malformed_xml, p, "'<' inside a tag");
      // Values are short: a loop of our own beats two calls of memchr.
      const size_t opening = p++;
      while (p < size && (!is(text[p], value_stop) || (text[p] != c && text[p] != '<'))) ++p;
      if (p == size) return fail_truncated("an attribute value");
      if (text[p] == '<')
        return fail(rules::malformed_xml, opening, "'<' inside an attribute value (a quotation mark is missing?)");
      ++p;
    }
    if (!closed) return fail_truncated("a tag");
    if (has_references_) check_references(begin, p);
    if (!ok_) return;
    if (stack_.empty()) {
      if (saw_root_) return fail(rules::malformed_xml, begin + 1, "a second root element");
      saw_root_ = true;
      out_.root.begin = begin;
    }
    if (++out_.elements > limits_.max_elements)
      return fail(rules::limit_exceeded, begin + 1,
                  "more than " + std::to_string(limits_.max_elements) + " elements (--max-elements)");
    if (stack_.size() >= std::min(limits_.max_depth, kMaxDepth))
      return fail(rules::limit_exceeded, begin + 1,
                  "elements are nested deeper than " + std::to_string(std::min(limits_.max_depth, kMaxDepth)) +
                      " (--max-depth)");

    Frame frame{text + begin + 1, static_cast<uint32_t>(behind_name - begin - 1), false, begin, out_.windows.size()};
    frame.is_item = frame.name_size == 4 && std::memcmp(frame.name, "Item", 4) == 0;
    pos_ = p + 1;
    if (!stack_.empty() && !frame.is_item) {
      end_run(stack_.back());
      // Most elements are members without content: nothing that close() does concerns them.
      if (text[p - 1] == '/' && stack_.back().pending_waiver == npos) return;
    }
    stack_.push_back(frame);
    if (text[p - 1] == '/') close(pos_);
  }

  void close_tag() {
    const size_t begin = pos_;
    const size_t end = find_char('>', begin);
    if (end == npos) return fail_truncated("a closing tag");
    std::string_view name = text_.substr(begin + 2, end - begin - 2);
    while (!name.empty() && is_blank(name.back())) name.remove_suffix(1);
    if (stack_.empty())
      return fail(rules::malformed_xml, begin + 2, "'</" + std::string(name.substr(0, 60)) + ">' closes nothing");
    const Frame& top = stack_.back();
    if (name.size() != top.name_size || std::memcmp(name.data(), top.name, name.size()) != 0) {
      fail(rules::malformed_xml, begin + 2,
           "'</" + std::string(name.substr(0, 60)) + ">' where '</" +
               std::string(top.name, std::min<size_t>(top.name_size, 60)) + ">' is expected");
      out_.findings.back().related.push_back({top.begin + 1, "opened here"});
      return;
    }
    pos_ = end + 1;
    close(pos_);
  }

  void end_run(Frame& frame) {
    if (frame.run_items == 0) return;
    // Runs far below the target are left in the skeleton: a document of their own would cost more than it saves.
    if (frame.run_end - frame.run_begin >= window_bytes_ / 8) {
      out_.windows.push_back(
          {frame.run_begin, frame.run_end, frame.run_items, static_cast<uint32_t>(frame_depth(frame)) + 1});
      if (early_ && out_.instructions.empty()) tell(frame);
    }
    frame.run_items = 0;
  }

  // Tells the last window, which the run of this frame became. A window inside an Item may yet become part of another.
  void tell(const Frame& frame) {
    EarlyWindow early{out_.windows.back(), {}, frame.items - frame.run_items};
    for (const Frame* f = stack_.data(); f <= &frame; ++f) {
      if (f->is_item) return;
      early.path.emplace_back(f->name, f->name_size);
    }
    early_(std::move(early));
  }

  size_t frame_depth(const Frame& frame) const { return static_cast<size_t>(&frame - stack_.data()) + 1; }

  // The top element ends before `end`.
  void close(size_t end) {
    Frame& top = stack_.back();
    end_run(top);
    if (stack_.size() == 1) {
      out_.root.end = end;
      stack_.pop_back();
      return;
    }
    Frame& parent = stack_[stack_.size() - 2];
    if (top.is_item && window_bytes_ > 0) {
      const size_t size = end - top.begin;
      if (size <= window_bytes_ || out_.windows.size() == top.windows_before) {
        out_.windows.resize(top.windows_before);  // what was cut inside it is part of it again
        if (parent.run_items > 0 && end - parent.run_begin > window_bytes_) end_run(parent);
        if (parent.run_items == 0) parent.run_begin = top.begin;
        parent.run_end = end;
        ++parent.run_items;
      } else {
        end_run(parent);
      }
      ++parent.items;
    }
    if (parent.pending_waiver != npos) {
      cover(parent.pending_waiver, top.begin, end);
      parent.pending_waiver = npos;
    }
    stack_.pop_back();
  }

  void finish() {
    if (!stack_.empty()) {
      const Frame& top = stack_.back();
      fail(rules::malformed_xml, text_.size(),
           "the file ends inside '" + std::string(top.name, std::min<size_t>(top.name_size, 60)) + "'");
      out_.findings.back().related.push_back({top.begin + 1, "opened here"});
    } else if (!saw_root_) {
      fail(rules::wrong_root, 0, "no root element");
    }
    // Waivers with no element after them cover nothing.
    for (Waiver& w : out_.waivers)
      if (w.begin == npos) w.begin = w.end = w.offset;
  }

  std::string_view text_;
  const CompileLimits& limits_;
  size_t window_bytes_;
  const EarlyWindowSink& early_;
  bool has_references_;
  bool ok_ = true, saw_root_ = false;
  size_t pos_ = 0;
  std::vector<Frame> stack_;
  ScanResult out_;
};

}  // namespace

ScanResult scan_xml(std::string_view text, const CompileLimits& limits, size_t window_bytes,
                    const EarlyWindowSink& early) {
  return Scanner(text, limits, window_bytes, early).run();
}

size_t find_bad_text(std::string_view text) {
  const auto* const begin = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = begin + text.size();
  const auto* p = begin;
  constexpr int kBlock = 64;
  while (p < end) {
    // A block at a time while it is ASCII and not NUL: then neither b nor b - 1 has the high bit. Compilers make a few
    // vector instructions of the loop.
    for (; end - p >= kBlock; p += kBlock) {
      unsigned char any = 0;
      for (int i = 0; i < kBlock; ++i) any |= static_cast<unsigned char>(p[i] | (p[i] - 1));
      if (any >= 0x80) break;
    }
    for (int i = 0; i < kBlock && p < end; ++i) {
      const size_t length = *p == 0 ? 0 : utf8_length(p, end);
      if (length == 0) return static_cast<size_t>(p - begin);
      p += length;
    }
  }
  return npos;
}

std::vector<size_t> find_placeholders(std::string_view text) {
  std::vector<size_t> places;
  // Each mark is searched for once over the text, so that many placeholders cost no more than few.
  size_t place = text.find("${"), brace = 0;
  const auto collect = [&](size_t begin, size_t end) {
    while (place < begin) place = text.find("${", place + 1);
    while (place < end) {
      if (brace != npos && brace < place) brace = text.find('}', place);
      if (brace == npos) return;
      places.push_back(place);
      place = text.find("${", place + 2);
    }
  };
  size_t from = 0;
  while (place != npos && brace != npos) {
    const size_t mark = text.find("<!", from);
    if (mark == npos) {
      collect(from, npos);
      break;
    }
    const std::string_view rest = text.substr(mark);
    if (rest.starts_with("<!--")) {
      collect(from, mark);
      const size_t end = text.find("-->", mark + 4);
      if (end == npos) break;
      from = end + 3;
    } else {
      // What looks like a comment inside CDATA is text.
      const size_t end = rest.starts_with("<![CDATA[") ? std::min(text.find("]]>", mark), text.size()) : mark + 2;
      collect(from, end);
      from = end;
    }
  }
  return places;
}

}  // namespace meridian::tools
