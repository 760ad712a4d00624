// SPDX-License-Identifier: MIT
#pragma once
/// Writes JSON as it goes: no tree in memory, keys in the order written, floats in their shortest exact form.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace meridian::tools {

/// Appends JSON text to a string. Calls must nest properly (asserted). Threads: reentrant.
class JsonWriter {
 public:
  /// `indent` spaces a level; 0 writes one line.
  explicit JsonWriter(std::string& out, int indent = 2) : out_(out), indent_(indent) {}

  void begin_object();
  void end_object();
  void begin_array(bool one_line = false);  ///< one_line: its elements stand on one line
  void end_array();
  void key(std::string_view name);

  void value(std::string_view text);  ///< escaped; bytes that are no UTF-8 become U+FFFD
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool b);
  void value(int64_t number);
  void value(uint64_t number);
  void value(int number) { value(static_cast<int64_t>(number)); }
  void value(uint32_t number) { value(static_cast<uint64_t>(number)); }
  void value(float number);  ///< shortest text that reads back to the same bits; not finite: null
  void value(double number);
  void null();

  template <class T>
  void member(std::string_view name, const T& v) {
    key(name);
    value(v);
  }

 private:
  void before_value();
  void newline();
  struct Level {
    bool is_object, one_line;
    bool empty = true;
  };
  std::string& out_;
  int indent_;
  bool after_key_ = false;
  std::vector<Level> levels_;
};

}  // namespace meridian::tools
