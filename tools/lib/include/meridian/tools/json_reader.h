// SPDX-License-Identifier: MIT
#pragma once
/// Small JSON documents that people write by hand: strict, and every value knows where it stands, so that whoever
/// makes sense of them can point at what is wrong.
///
///   JsonValue root;
///   JsonError error;
///   if (!read_json(source.text(), root, error)) return complain(source.place_of(error.offset), error.message);
///   if (const JsonValue* const name = root.find("name")) use(name->text);
///
/// The whole document is a tree in memory; it is not meant for large data.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace meridian::tools {

struct JsonMember;

struct JsonValue {
  enum class Kind : uint8_t { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;
  size_t offset = 0;                ///< of its first character [byte]
  std::string text;                 ///< of a string, without escapes; of a number, as written
  std::vector<JsonValue> items;     ///< of an array
  std::vector<JsonMember> members;  ///< of an object, in the order of the text; names are distinct

  /// The member of this name, or null.
  const JsonValue* find(std::string_view name) const;
  /// "a string", "an array": what messages call it.
  std::string_view kind_text() const;
};

struct JsonMember {
  std::string name;
  size_t offset = 0;  ///< of the name's quote [byte]
  JsonValue value;
};

struct JsonError {
  size_t offset = 0;  ///< [byte]
  std::string message;
};

/// Deeper values are refused: the reader calls itself. [levels]
inline constexpr int kMaxJsonDepth = 64;

/// Reads one document (RFC 8259). `text` is UTF-8 without a byte order mark.
/// False: what else stands there, with its place: a comma too many, a comment, a name twice in one object, a control
/// character or bad UTF-8 in a string, a number that is too large, something behind the end.
/// Threads: reentrant.
bool read_json(std::string_view text, JsonValue& out, JsonError& error);

}  // namespace meridian::tools
