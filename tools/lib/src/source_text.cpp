// SPDX-License-Identifier: MIT
#include "meridian/tools/source_text.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "text_values.h"

namespace meridian::tools {
namespace {

/// Closes a file descriptor at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Reads all that is left. False with errno set.
bool read_all(int fd, size_t expected, std::string& out) {
  constexpr size_t kStep = size_t{64} * 1024;
  size_t used = 0;
  // One byte more than expected, so that the usual case ends with two reads and no growth.
  out.resize(expected > 0 ? expected + 1 : kStep);
  for (;;) {
    if (used == out.size()) out.resize(out.size() * 2);
    const ssize_t got = ::read(fd, out.data() + used, out.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  out.resize(used);
  if (out.capacity() / 2 > used) out.shrink_to_fit();  // thousands of small sources live at once
  return true;
}

enum class Encoding { utf8, utf16_le, utf16_be, utf32 };

struct Detected {
  Encoding encoding;
  size_t mark_bytes;
};

/// By the byte order mark, or else by how the first '<' is written (XML 1.0, appendix F).
Detected detect(std::string_view bytes) {
  using namespace std::string_view_literals;
  // UTF-32 first: its little-endian mark starts with that of UTF-16.
  for (const std::string_view start : {"\xFF\xFE\0\0"sv, "\0\0\xFE\xFF"sv, "<\0\0\0"sv, "\0\0\0<"sv})
    if (bytes.starts_with(start)) return {Encoding::utf32, 0};
  if (bytes.starts_with("\xEF\xBB\xBF"sv)) return {Encoding::utf8, 3};
  if (bytes.starts_with("\xFF\xFE"sv)) return {Encoding::utf16_le, 2};
  if (bytes.starts_with("\xFE\xFF"sv)) return {Encoding::utf16_be, 2};
  if (bytes.starts_with("<\0"sv)) return {Encoding::utf16_le, 0};
  if (bytes.starts_with("\0<"sv)) return {Encoding::utf16_be, 0};
  return {Encoding::utf8, 0};
}

/// Converts until the first error, which is returned; empty: none.
std::string utf16_to_utf8(std::string_view bytes, bool big_endian, size_t first_offset, std::string& out) {
  const size_t units = bytes.size() / 2;
  const auto unit = [&](size_t i) -> uint32_t {
    const auto a = static_cast<unsigned char>(bytes[2 * i]), b = static_cast<unsigned char>(bytes[2 * i + 1]);
    return big_endian ? static_cast<uint32_t>(a << 8 | b) : static_cast<uint32_t>(b << 8 | a);
  };
  out.reserve(units + units / 8);
  for (size_t i = 0; i < units; ++i) {
    uint32_t code = unit(i);
    if (code >= 0xD800 && code <= 0xDFFF) {
      const uint32_t low = code < 0xDC00 && i + 1 < units ? unit(i + 1) : 0;
      if (low < 0xDC00 || low > 0xDFFF)
        return "UTF-16 with an unpaired surrogate at byte " + std::to_string(first_offset + 2 * i);
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      ++i;
    }
    append_utf8(out, code);
  }
  return bytes.size() % 2 != 0 ? "UTF-16 with an odd number of bytes" : "";
}

}  // namespace

std::shared_ptr<const SourceText> SourceText::from_memory(std::string path, std::string bytes) {
  const std::shared_ptr<SourceText> source(new SourceText);
  source->path_ = std::move(path);
  source->owned_ = std::move(bytes);
  source->decode(source->owned_);
  return source;
}

std::shared_ptr<const SourceText> SourceText::open(const std::string& path, int& error) {
  const auto fail = [&](int code) {
    error = code;
    return nullptr;
  };
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return fail(errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail(errno);
  if (S_ISDIR(info.st_mode)) return fail(EISDIR);

  const std::shared_ptr<SourceText> source(new SourceText);
  source->path_ = path;
  error = 0;
  // Small files are copied: that is no slower, and a file that an editor cuts short under us can't raise SIGBUS.
  // A large file that is rewritten in place while we read it is not protected against.
  constexpr off_t kMapFrom = off_t{64} * 1024;
  if (S_ISREG(info.st_mode) && info.st_size >= kMapFrom) {
    const auto size = static_cast<size_t>(info.st_size);
    void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (mapping != MAP_FAILED) {
      source->mapping_ = mapping;
      source->mapping_bytes_ = size;
      source->decode({static_cast<const char*>(mapping), size});
      return source;
    }  // some file systems can't map: read instead
  }
  const size_t expected = S_ISREG(info.st_mode) ? static_cast<size_t>(info.st_size) : 0;
  if (!read_all(file.get(), expected, source->owned_)) return fail(errno);
  source->decode(source->owned_);
  return source;
}

SourceText::~SourceText() {
  if (mapping_ != nullptr) ::munmap(const_cast<void*>(mapping_), mapping_bytes_);
}

void SourceText::decode(std::string_view bytes) {
  file_bytes_ = bytes.size();
  const Detected detected = detect(bytes);
  has_mark_ = detected.mark_bytes != 0;
  is_converted_ = detected.encoding != Encoding::utf8;
  const std::string_view body = bytes.substr(detected.mark_bytes);
  switch (detected.encoding) {
    case Encoding::utf8:
      text_ = body;
      return;
    case Encoding::utf32:
      encoding_error_ = "UTF-32 is not supported; save the file as UTF-8";
      return;
    case Encoding::utf16_le:
    case Encoding::utf16_be:
      break;
  }
  std::string converted;
  encoding_error_ = utf16_to_utf8(body, detected.encoding == Encoding::utf16_be, detected.mark_bytes, converted);
  // `bytes` may be owned_ itself, so it is replaced only now; a mapping is of no more use.
  owned_ = std::move(converted);
  text_ = owned_;
  if (mapping_ != nullptr) ::munmap(const_cast<void*>(mapping_), mapping_bytes_);
  mapping_ = nullptr;
  mapping_bytes_ = 0;
}

/// Two searches run side by side, each by memchr; a file without CR pays for that search once.
void SourceText::build_lines() const {
  line_starts_.push_back(0);
  size_t lf = text_.find('\n'), cr = text_.find('\r');
  for (;;) {
    const size_t end = std::min(lf, cr);
    if (end == std::string_view::npos) return;
    const size_t next = end == cr && cr + 1 == lf ? end + 2 : end + 1;
    line_starts_.push_back(next);
    if (lf < next) lf = text_.find('\n', next);
    if (cr < next) cr = text_.find('\r', next);
  }
}

LineColumn SourceText::place_of(size_t offset) const {
  std::call_once(lines_once_, [this] { build_lines(); });
  offset = std::min(offset, text_.size());
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto narrow = [](size_t n) {
    return static_cast<uint32_t>(std::min<size_t>(n, std::numeric_limits<uint32_t>::max()));
  };
  return {narrow(static_cast<size_t>(after - line_starts_.begin())), narrow(offset - *(after - 1) + 1)};
}

uint32_t SourceText::utf16_column_of(size_t offset) const {
  offset = std::min(offset, text_.size());
  uint32_t units = 0;
  for (size_t at = offset - (place_of(offset).column - 1); at < offset; ++at) {
    const auto byte = static_cast<unsigned char>(text_[at]);
    if ((byte & 0xC0u) != 0x80u) units += byte >= 0xF0 ? 2 : 1;
  }
  return units + 1;
}

std::string_view SourceText::line_text(uint32_t line, size_t limit) const {
  std::call_once(lines_once_, [this] { build_lines(); });
  if (line == 0 || line > line_starts_.size()) return {};
  const size_t begin = line_starts_[line - 1];
  const size_t end = line < line_starts_.size() ? line_starts_[line] : text_.size();
  std::string_view text = text_.substr(begin, end - begin);
  if (text.size() > limit + 2) text = text.substr(0, limit + 2);  // two for the line's own end, which goes next
  text = text.substr(0, text.find_first_of("\r\n"));
  if (text.size() <= limit) return text;
  size_t cut = limit;  // not in the middle of a character
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0u) == 0x80u) --cut;
  return text.substr(0, cut);
}

}  // namespace meridian::tools
