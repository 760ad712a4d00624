// SPDX-License-Identifier: MIT
#include "meridian/tools/json_reader.h"

#include <charconv>
#include <optional>
#include <utility>

#include "text_values.h"

namespace meridian::tools {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Bytes of the UTF-8 sequence that begins here, 0 if it is none (overlong, surrogate, beyond U+10FFFF, cut off).
size_t utf8_size(std::string_view text) {
  const auto at = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](size_t i) { return (at(i) & 0xC0u) == 0x80u; };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool fits = (first != 0xE0 || at(1) >= 0xA0) && (first != 0xED || at(1) < 0xA0);
    return fits && follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool fits = (first != 0xF0 || at(1) >= 0x90) && (first != 0xF4 || at(1) < 0x90);
    return fits && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

class JsonReader {
 public:
  JsonReader(std::string_view text, JsonError& error) : text_(text), error_(error) {}

  bool document(JsonValue& out) {
    if (!value(out, 0)) return false;
    skip_blanks();
    return at_ == text_.size() || fail("something stands behind the end of the document");
  }

 private:
  bool fail(std::string message) { return fail(at_, std::move(message)); }
  bool fail(size_t offset, std::string message) {
    error_ = {offset, std::move(message)};
    return false;
  }
  /// What is wrong with something that should be `wanted`.
  bool unexpected(std::string_view wanted) {
    if (at_ >= text_.size()) return fail(std::string(wanted) + " is missing: the text ends here");
    if (text_.substr(at_).starts_with("//") || text_.substr(at_).starts_with("/*") || text_[at_] == '#')
      return fail("JSON has no comments");
    return fail(std::string(wanted) + " is expected here");
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void skip_blanks() {
    while (at_ < text_.size() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) ++at_;
  }

  bool value(JsonValue& out, int depth) {
    skip_blanks();
    out.offset = at_;
    if (depth > kMaxJsonDepth) return fail("values are nested too deep");
    switch (peek()) {
      case '{':
        return object(out, depth);
      case '[':
        return array(out, depth);
      case '"':
        out.kind = JsonValue::Kind::string;
        return string(out.text);
      default:
        if (peek() == '-' || is_digit(peek())) return number(out);
        return word(out);
    }
  }

  bool word(JsonValue& out) {
    using enum JsonValue::Kind;
    static constexpr std::pair<std::string_view, JsonValue::Kind> kWords[] = {
        {"true", boolean}, {"false", boolean}, {"null", null}};
    for (const auto& [text, kind] : kWords) {
      if (!text_.substr(at_).starts_with(text)) continue;
      at_ += text.size();
      out.kind = kind;
      out.boolean = text == "true";
      return true;
    }
    return unexpected("a value");
  }

  bool object(JsonValue& out, int depth) {
    out.kind = JsonValue::Kind::object;
    ++at_;
    skip_blanks();
    if (take('}')) return true;
    for (;;) {
      skip_blanks();
      JsonMember member;
      member.offset = at_;
      if (peek() == '}') return fail("a comma stands before the closing brace");
      if (peek() != '"') return unexpected("a name in quotes");
      if (!string(member.name)) return false;
      if (out.find(member.name) != nullptr) return fail(member.offset, "'" + member.name + "' stands here twice");
      skip_blanks();
      if (!take(':')) return unexpected("a colon");
      if (!value(member.value, depth + 1)) return false;
      out.members.push_back(std::move(member));
      skip_blanks();
      if (take('}')) return true;
      if (!take(',')) return unexpected("a comma or a closing brace");
    }
  }

  bool array(JsonValue& out, int depth) {
    out.kind = JsonValue::Kind::array;
    ++at_;
    skip_blanks();
    if (take(']')) return true;
    for (;;) {
      skip_blanks();
      if (peek() == ']') return fail("a comma stands before the closing bracket");
      if (!value(out.items.emplace_back(), depth + 1)) return false;
      skip_blanks();
      if (take(']')) return true;
      if (!take(',')) return unexpected("a comma or a closing bracket");
    }
  }

  bool number(JsonValue& out) {
    const size_t begin = at_;
    const auto digits = [&] {
      const size_t first = at_;
      while (is_digit(peek())) ++at_;
      return at_ > first;
    };
    (void)take('-');
    if (take('0')) {
      if (is_digit(peek())) return fail(begin, "a number begins with a needless zero");
    } else if (!digits()) {
      return unexpected("a digit");
    }
    if (take('.') && !digits()) return unexpected("a digit");
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!digits()) return unexpected("a digit");
    }
    out.kind = JsonValue::Kind::number;
    out.text = text_.substr(begin, at_ - begin);
    const auto [end, ec] = std::from_chars(out.text.data(), out.text.data() + out.text.size(), out.number);
    if (ec != std::errc() || end != out.text.data() + out.text.size())
      return fail(begin, "the number has too large an exponent");
    return true;
  }

  bool string(std::string& out) {
    const size_t begin = at_;
    ++at_;
    for (;;) {
      if (at_ >= text_.size() || peek() == '\n') return fail(begin, "a string without its closing quote");
      const char c = peek();
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\\') {
        if (!escape(out)) return false;
        continue;
      }
      if (static_cast<unsigned char>(c) < 0x20) return fail("a control character in a string");
      const size_t size = utf8_size(text_.substr(at_));
      if (size == 0) return fail("bytes that are no UTF-8");
      out += text_.substr(at_, size);
      at_ += size;
    }
  }

  bool escape(std::string& out) {
    const size_t begin = at_;
    ++at_;
    static constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const size_t index = at_ < text_.size() ? kLetters.find(peek()) : kLetters.npos;
    if (index != kLetters.npos) {
      out += kMeanings[index];
      ++at_;
      return true;
    }
    if (!take('u')) return fail(begin, "no such escape; a backslash is written twice");
    std::optional<uint32_t> code = hex4();
    if (code && *code >= 0xD800 && *code < 0xDC00) {
      std::optional<uint32_t> low;
      if (take('\\') && take('u')) low = hex4();
      if (!low || *low < 0xDC00 || *low > 0xDFFF) return fail(begin, "half of a surrogate pair");
      code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
    } else if (code && *code >= 0xDC00 && *code <= 0xDFFF) {
      return fail(begin, "half of a surrogate pair");
    }
    if (!code) return fail(begin, "\\u takes four hexadecimal digits");
    append_utf8(out, *code);
    return true;
  }

  std::optional<uint32_t> hex4() {
    if (text_.size() - at_ < 4) return std::nullopt;
    uint32_t code = 0;
    const char* const first = text_.data() + at_;
    const auto [end, ec] = std::from_chars(first, first + 4, code, 16);
    if (ec != std::errc() || end != first + 4) return std::nullopt;
    at_ += 4;
    return code;
  }

  std::string_view text_;
  JsonError& error_;
  size_t at_ = 0;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  for (const JsonMember& member : members)
    if (member.name == name) return &member.value;
  return nullptr;
}

std::string_view JsonValue::kind_text() const {
  switch (kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "true or false";
    case Kind::number:
      return "a number";
    case Kind::string:
      return "a string";
    case Kind::array:
      return "an array";
    case Kind::object:
      return "an object";
  }
  return "";
}

bool read_json(std::string_view text, JsonValue& out, JsonError& error) {
  out = {};
  return JsonReader(text, error).document(out);
}

}  // namespace meridian::tools
