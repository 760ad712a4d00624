// SPDX-License-Identifier: MIT
// Compiles a user's .fbs with the FlatBuffers parser, which is also flatc's.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include "flatbuffers/idl.h"
#include "flatbuffers/util.h"
#include "meridian/tools/binding.h"

namespace meridian::tools {

extern const char kXmlAttributesFbs[];  // schemas/meridian/xml.fbs, embedded by CMake

namespace {

// `include "meridian/xml.fbs"` works in any schema, wherever the tool stands: if no file of that name is found, the
// parser gets the embedded one. The hooks are global in FlatBuffers, so one schema is compiled at a time.
class XmlAttributesFile {
 public:
  XmlAttributesFile() : lock_(mutex()) {
    load() = flatbuffers::SetLoadFileFunction([](const char* name, bool binary, std::string* out) {
      if (load()(name, binary, out)) return true;
      if (!is_it(name)) return false;
      *out = kXmlAttributesFbs;
      return true;
    });
    exists() = flatbuffers::SetFileExistsFunction([](const char* name) { return exists()(name) || is_it(name); });
  }
  ~XmlAttributesFile() {
    flatbuffers::SetLoadFileFunction(load());
    flatbuffers::SetFileExistsFunction(exists());
  }
  XmlAttributesFile(const XmlAttributesFile&) = delete;
  XmlAttributesFile& operator=(const XmlAttributesFile&) = delete;

 private:
  static bool is_it(std::string_view name) { return name.ends_with("meridian/xml.fbs"); }
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  static flatbuffers::LoadFileFunction& load() {
    static flatbuffers::LoadFileFunction f;
    return f;
  }
  static flatbuffers::FileExistsFunction& exists() {
    static flatbuffers::FileExistsFunction f;
    return f;
  }
  std::lock_guard<std::mutex> lock_;
};

// The parser says "/absolute/own.fbs:4: 9: error: ..."; the rest of the tools "own.fbs:4:9: error: ...", as given.
std::string readable(std::string message, const std::string& path) {
  const size_t mark = message.find(": error: ");
  if (mark == std::string::npos) return message;
  std::string place = message.substr(0, mark);
  place.erase(std::remove(place.begin(), place.end(), ' '), place.end());
  const size_t line = place.find(':', place.rfind('/') == std::string::npos ? 0 : place.rfind('/'));
  const std::string file = place.substr(0, line);
  const std::string name = file.substr(file.rfind('/') + 1);
  const bool same = std::filesystem::path(path).filename().string() == name;
  return (same ? path : name) + (line == std::string::npos ? "" : place.substr(line)) + message.substr(mark);
}

}  // namespace

std::vector<uint8_t> compile_schema_file(const std::string& path, const std::vector<std::string>& include_dirs,
                                         std::vector<std::string>& read, std::string& error) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) {
    error = path + ": cannot be read";
    return {};
  }
  flatbuffers::IDLOptions options;
  options.binary_schema_comments = true;
  options.binary_schema_builtins = true;
  flatbuffers::Parser parser(options);
  std::vector<const char*> dirs;
  const std::string own = std::filesystem::path(path).parent_path().string();
  dirs.push_back(own.c_str());
  for (const std::string& d : include_dirs) dirs.push_back(d.c_str());
  dirs.push_back(nullptr);
  const XmlAttributesFile xml_attributes;
  std::string source = text.str();
  if (!parser.Parse(source.c_str(), dirs.data(), path.c_str())) {
    error = readable(parser.error_, path);
    return {};
  }
  parser.Serialize();
  read.push_back(path);
  for (const auto& included : parser.GetIncludedFilesRecursive(path))
    if (std::filesystem::exists(included)) read.push_back(included);  // not the embedded one
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  return {parser.builder_.GetBufferPointer(), parser.builder_.GetBufferPointer() + parser.builder_.GetSize()};
}

}  // namespace meridian::tools
