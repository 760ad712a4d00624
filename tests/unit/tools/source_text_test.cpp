// SPDX-License-Identifier: MIT
#include "meridian/tools/source_text.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace meridian::tools {
namespace {

using namespace std::string_literals;
namespace fs = std::filesystem;

std::shared_ptr<const SourceText> text_of(std::string bytes) {
  return SourceText::from_memory("qa.ymap.xml", std::move(bytes));
}

void expect_place(const SourceText& source, size_t offset, uint32_t line, uint32_t column) {
  const LineColumn place = source.place_of(offset);
  EXPECT_EQ(place.line, line) << "at byte " << offset;
  EXPECT_EQ(place.column, column) << "at byte " << offset;
}

class SourceFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("meridian_source_text_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes) {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }

  fs::path folder_;
};

TEST(SourceText, KeepsUtf8AsItIs) {
  const auto source = text_of("<a>\xC3\xA9</a>");
  EXPECT_EQ(source->path(), "qa.ymap.xml");
  EXPECT_EQ(source->text(), "<a>\xC3\xA9</a>");
  EXPECT_EQ(source->file_bytes(), 9u);
  EXPECT_EQ(source->encoding_error(), "");
}

// CLI-3: a column does not count the byte order mark. CLI-6: BOMs work.
TEST(SourceText, LeavesOutTheUtf8ByteOrderMark) {
  const auto source = text_of("\xEF\xBB\xBF<a/>");
  EXPECT_EQ(source->text(), "<a/>");
  EXPECT_EQ(source->file_bytes(), 7u);
  expect_place(*source, 0, 1, 1);
}

TEST(SourceText, WorksWhenEmpty) {
  for (const std::string& bytes : {""s, "\xEF\xBB\xBF"s, "\xFF\xFE"s}) {
    const auto source = text_of(bytes);
    EXPECT_EQ(source->text(), "");
    EXPECT_EQ(source->encoding_error(), "");
    expect_place(*source, 0, 1, 1);
    expect_place(*source, 100, 1, 1);
    EXPECT_EQ(source->line_text(1), "");
  }
}

// CLI-6: UTF-16 sources
TEST(SourceText, ConvertsUtf16OfEitherOrderWithOrWithoutMark) {
  EXPECT_EQ(text_of("\xFF\xFE<\0a\0/\0>\0"s)->text(), "<a/>");
  EXPECT_EQ(text_of("\xFE\xFF\0<\0a\0/\0>"s)->text(), "<a/>");
  EXPECT_EQ(text_of("<\0a\0/\0>\0"s)->text(), "<a/>");
  EXPECT_EQ(text_of("\0<\0a\0/\0>"s)->text(), "<a/>");
  EXPECT_EQ(text_of("<\0a\0/\0>\0"s)->file_bytes(), 8u);
}

TEST(SourceText, ConvertsEachLengthOfUtf8) {
  // z, e acute, euro sign, U+1F600 as a pair of surrogates, U+FFFD
  const auto source = text_of("\xFF\xFEz\0\xE9\0\xAC\x20\x3D\xD8\x00\xDE\xFD\xFF"s);
  EXPECT_EQ(source->encoding_error(), "");
  EXPECT_EQ(source->text(), "z\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBD");
}

TEST(SourceText, ReportsUnpairedSurrogatesWithTheirPlaceInTheFile) {
  const std::string message = "UTF-16 with an unpaired surrogate at byte ";
  EXPECT_EQ(text_of("\xFF\xFE<\0\x3D\xD8<\0"s)->encoding_error(), message + "4");  // high, then no low
  EXPECT_EQ(text_of("\xFF\xFE<\0\x3D\xD8"s)->encoding_error(), message + "4");     // high at the end
  EXPECT_EQ(text_of("<\0\x00\xDE<\0"s)->encoding_error(), message + "2");          // low alone
}

TEST(SourceText, ReportsAnOddNumberOfUtf16Bytes) {
  EXPECT_EQ(text_of("<\0a"s)->encoding_error(), "UTF-16 with an odd number of bytes");
  EXPECT_EQ(text_of("\xFF\xFE<"s)->encoding_error(), "UTF-16 with an odd number of bytes");
}

TEST(SourceText, RefusesUtf32) {
  EXPECT_NE(text_of("\xFF\xFE\0\0<\0\0\0"s)->encoding_error(), "");
  EXPECT_NE(text_of("\0\0\xFE\xFF\0\0\0<"s)->encoding_error(), "");
  EXPECT_NE(text_of("<\0\0\0"s)->encoding_error(), "");
}

// CLI-3: lines and columns start at 1. CLI-6: CRLF.
TEST(SourceText, EndsLinesAtLfCrAndCrLf) {
  //                         0  1   2   3  4   5  6   7   8
  const auto source = text_of("a\nb\r\nc\rd\n\r");
  expect_place(*source, 0, 1, 1);
  expect_place(*source, 1, 1, 2);  // the line's own end belongs to it
  expect_place(*source, 2, 2, 1);
  expect_place(*source, 4, 2, 3);  // the LF of CRLF
  expect_place(*source, 5, 3, 1);
  expect_place(*source, 7, 4, 1);
  expect_place(*source, 9, 5, 1);   // LF CR are two line ends
  expect_place(*source, 10, 6, 1);  // the end, after the last line end
  EXPECT_EQ(source->line_text(2), "b");
  EXPECT_EQ(source->line_text(3), "c");
  EXPECT_EQ(source->line_text(5), "");
  EXPECT_EQ(source->line_text(6), "");
}

TEST(SourceText, CountsColumnsInBytes) { expect_place(*text_of("\xE2\x82\xACx"), 3, 1, 4); }

TEST(SourceText, PlacesOffsetsPastTheEndAtTheEnd) { expect_place(*text_of("ab\ncd"), 1000, 2, 3); }

TEST(SourceText, AgreesWithCountingLineEndsOneByOne) {
  std::string bytes;
  uint32_t seed = 12345;
  for (int i = 0; i < 5000; ++i) {
    seed = seed * 1664525u + 1013904223u;
    bytes += "ab\r\n"[seed >> 30];
  }
  const auto source = text_of(bytes);
  uint32_t line = 1, column = 1;
  for (size_t i = 0; i < bytes.size(); ++i) {
    expect_place(*source, i, line, column);
    const bool ends = bytes[i] == '\n' || (bytes[i] == '\r' && (i + 1 == bytes.size() || bytes[i + 1] != '\n'));
    line = ends ? line + 1 : line;
    column = ends ? 1 : column + 1;
  }
}

TEST(SourceText, HasNoTextForLinesThatDoNotExist) {
  const auto source = text_of("a\nb");
  EXPECT_EQ(source->line_text(0), "");
  EXPECT_EQ(source->line_text(3), "");
}

TEST(SourceText, CutsLongLinesBetweenCharacters) {
  const auto source = text_of("ab\xE2\x82\xAC\nz");
  EXPECT_EQ(source->line_text(1, 5), "ab\xE2\x82\xAC");
  EXPECT_EQ(source->line_text(1, 4), "ab");
  EXPECT_EQ(source->line_text(1, 3), "ab");
  EXPECT_EQ(source->line_text(1, 1), "a");
}

TEST(SourceText, AnswersSeveralThreadsAtOnce) {
  const auto source = text_of(std::string(100000, '\n'));
  std::vector<std::thread> threads;
  std::vector<uint32_t> lines(4);
  for (size_t t = 0; t < lines.size(); ++t)
    threads.emplace_back([&, t] { lines[t] = source->place_of(50000 + t).line; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lines, (std::vector<uint32_t>{50001, 50002, 50003, 50004}));
}

TEST_F(SourceFile, ReadsSmallAndLargeFilesAlike) {
  // 64 KiB is where mapping starts; sizes of whole pages have no zero byte behind them.
  for (const size_t size : {size_t{1}, size_t{4096}, size_t{65535}, size_t{65536}, size_t{65537}, size_t{1} << 20}) {
    std::string bytes(size, 'x');
    bytes.back() = '\n';
    int error = -1;
    const auto source = SourceText::open(write("qa.xml", bytes), error);
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(error, 0);
    EXPECT_EQ(source->text(), bytes);
    EXPECT_EQ(source->file_bytes(), size);
    expect_place(*source, size, 2, 1);
  }
}

TEST_F(SourceFile, ReadsAnEmptyFile) {
  int error = -1;
  const auto source = SourceText::open(write("qa.xml", ""), error);
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->text(), "");
}

TEST_F(SourceFile, ConvertsALargeMappedUtf16File) {
  std::string bytes = "\xFF\xFE"s;
  for (int i = 0; i < 100000; ++i) bytes += "<\0"s;
  int error = -1;
  const auto source = SourceText::open(write("qa.xml", bytes), error);
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->text(), std::string(100000, '<'));
  EXPECT_EQ(source->file_bytes(), 200002u);
}

TEST_F(SourceFile, ReadsAPipe) {
  const std::string path = (folder_ / "qa.fifo").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string bytes(200000, 'p');
  std::thread writer([&] { std::ofstream(path, std::ios::binary) << bytes; });
  int error = -1;
  const auto source = SourceText::open(path, error);
  writer.join();
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->text(), bytes);
}

// CLI-6: paths with spaces and UTF-8
TEST_F(SourceFile, OpensPathsWithBlanksAndUtf8) {
  int error = -1;
  const std::string path = write("qa donn\xC3\xA9\x65s.xml", "<a/>");
  const auto source = SourceText::open(path, error);
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->path(), path);
}

TEST_F(SourceFile, RefusesAFolderWithItsOwnError) {
  int error = 0;
  EXPECT_EQ(SourceText::open(folder_.string(), error), nullptr);
  EXPECT_EQ(error, EISDIR);
}

TEST_F(SourceFile, GivesTheSystemErrorForAMissingFile) {
  int error = 0;
  EXPECT_EQ(SourceText::open((folder_ / "none.xml").string(), error), nullptr);
  EXPECT_EQ(error, ENOENT);
}

}  // namespace
}  // namespace meridian::tools
