// SPDX-License-Identifier: MIT
#pragma once
/// A source file as UTF-8 text, with byte offsets that turn into lines and columns.
/// A byte order mark is left out (it counts for no column); UTF-16 is converted. The text is the file's mapping
/// wherever it can be, so a large file costs no private memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace meridian::tools {

struct LineColumn {
  uint32_t line = 0;    ///< from 1; 0 where there is none
  uint32_t column = 0;  ///< from 1, bytes of UTF-8 text
};

class SourceText {
 public:
  /// Takes text that is already in memory (tests, standard input). `path` is what messages show.
  static std::shared_ptr<const SourceText> from_memory(std::string path, std::string bytes);
  /// Maps a file. Null on failure, with errno's value in `error`.
  static std::shared_ptr<const SourceText> open(const std::string& path, int& error);

  ~SourceText();
  SourceText(const SourceText&) = delete;
  SourceText& operator=(const SourceText&) = delete;

  const std::string& path() const { return path_; }
  std::string_view text() const { return text_; }      ///< UTF-8, without byte order mark
  uint64_t file_bytes() const { return file_bytes_; }  ///< as read, before any conversion
  /// The bytes were not UTF-8: an offset into the text is none into the file.
  bool is_converted() const { return is_converted_; }
  bool has_mark() const { return has_mark_; }  ///< a byte order mark stood before the text
  /// Empty, or why the bytes could not become text ("UTF-16 with an odd number of bytes").
  const std::string& encoding_error() const { return encoding_error_; }

  /// Line and column of a byte offset; offsets past the end give the end. Lines end at LF, CR or CRLF.
  /// Threads: internal (the line table is made once, under a lock).
  LineColumn place_of(size_t offset) const;
  /// The same column in UTF-16 code units. Counts the line from its start.
  uint32_t utf16_column_of(size_t offset) const;
  /// The text of a line, without its end, at most `limit` bytes.
  std::string_view line_text(uint32_t line, size_t limit = 400) const;

 private:
  SourceText() = default;
  void decode(std::string_view bytes);
  void build_lines() const;

  std::string path_;
  std::string owned_;
  const void* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  std::string_view text_;
  uint64_t file_bytes_ = 0;
  std::string encoding_error_;
  bool is_converted_ = false, has_mark_ = false;
  mutable std::once_flag lines_once_;
  mutable std::vector<size_t> line_starts_;
};

}  // namespace meridian::tools
