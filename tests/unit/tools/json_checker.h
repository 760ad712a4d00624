// SPDX-License-Identifier: MIT
#pragma once
/// A strict little JSON reader (RFC 8259) for tests: what it accepts is JSON in UTF-8, and values can be looked up.
/// Kept apart from the code under test, and so simple that it's right at a glance; recursion is not bounded.

#include <cctype>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meridian::test {

struct Json {
  enum class Kind { null, boolean, number, string, array, object } kind = Kind::null;
  std::string name;         ///< where it's the member of an object
  std::string text;         ///< string: decoded; number, boolean: as written
  std::vector<Json> items;  ///< of an array or object, in order

  size_t size() const { return items.size(); }
  const Json& operator[](size_t i) const { return items.at(i); }
  /// The member of this name, or a null value.
  const Json& operator[](std::string_view key) const {
    static const Json none;
    for (const Json& item : items)
      if (item.name == key) return item;
    return none;
  }
  bool has(std::string_view key) const {
    for (const Json& item : items)
      if (item.name == key) return true;
    return false;
  }
  /// Names of an object's members in order, joined by commas.
  std::string keys() const {
    std::string out;
    for (const Json& item : items) out += (out.empty() ? "" : ",") + item.name;
    return out;
  }
};

class JsonReader {
 public:
  /// The value, or nothing if the text is not exactly one JSON value (white space around it is allowed).
  static std::optional<Json> read(std::string_view text) {
    JsonReader reader(text);
    Json value;
    if (!reader.value(value)) return std::nullopt;
    reader.blanks();
    if (reader.at_ != text.size()) return std::nullopt;
    return value;
  }

 private:
  explicit JsonReader(std::string_view text) : text_(text) {}

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) { return peek() == c && at_ < text_.size() ? (++at_, true) : false; }
  void blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }

  bool value(Json& out) {
    blanks();
    const size_t begin = at_;
    switch (peek()) {
      case '{':
        return container(out, Json::Kind::object, '}');
      case '[':
        return container(out, Json::Kind::array, ']');
      case '"':
        out.kind = Json::Kind::string;
        return string(out.text);
      case 'n':
        return word("null");
      case 't':
      case 'f':
        out.kind = Json::Kind::boolean;
        if (!word("true") && !word("false")) return false;
        break;
      default:
        out.kind = Json::Kind::number;
        if (!number()) return false;
    }
    out.text = text_.substr(begin, at_ - begin);
    return true;
  }

  bool container(Json& out, Json::Kind kind, char close) {
    out.kind = kind;
    ++at_;
    blanks();
    if (take(close)) return true;
    do {
      Json& item = out.items.emplace_back();
      blanks();
      if (kind == Json::Kind::object) {
        if (peek() != '"' || !string(item.name)) return false;
        blanks();
        if (!take(':')) return false;
      }
      if (!value(item)) return false;
      blanks();
    } while (take(','));
    return take(close);
  }

  bool digits() {
    const size_t begin = at_;
    while (std::isdigit(static_cast<unsigned char>(peek())) != 0) ++at_;
    return at_ > begin;
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }

  bool string(std::string& out) {
    ++at_;
    while (at_ < text_.size()) {
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (byte == '"') return ++at_, true;
      if (byte < 0x20) return false;
      if (byte == '\\') {
        if (!escape(out)) return false;
      } else if (!character(out)) {
        return false;
      }
    }
    return false;
  }

  /// Surrogate pairs are not needed here: the writer escapes control characters and U+FFFD only.
  bool escape(std::string& out) {
    ++at_;
    const char c = peek();
    ++at_;
    constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
    if (const size_t i = kNames.find(c); i != std::string_view::npos) return out += kValues[i], true;
    if (c != 'u' || at_ + 4 > text_.size()) return false;
    const std::string hex(text_.substr(at_, 4));
    if (hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return false;
    at_ += 4;
    const unsigned long code = std::strtoul(hex.c_str(), nullptr, 16);
    if (code < 0x80)
      out += static_cast<char>(code);
    else
      out += "<U+" + hex + ">";
    return true;
  }

  bool character(std::string& out) {
    const auto lead = static_cast<unsigned char>(text_[at_]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (length == 0 || at_ + length > text_.size()) return false;
    for (size_t i = 1; i < length; ++i)
      if ((static_cast<unsigned char>(text_[at_ + i]) & 0xC0u) != 0x80u) return false;
    out += text_.substr(at_, length);
    at_ += length;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace meridian::test
