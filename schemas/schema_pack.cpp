// SPDX-License-Identifier: MIT
// Build-time tool: turns binary schemas into C++ sources, so that no table of formats is kept by hand.
//
//   schema_pack OUT_DIR --root imap.bfbs ... --info resource_info.bfbs --released released/v1/imap.bfbs ...
//
// writes OUT_DIR/builtin_schemas.cpp   reflection schemas, fingerprints, compatible layouts
//        OUT_DIR/builtin_verifiers.cpp generated verifiers by kind
//        OUT_DIR/released_schemas.cpp  schemas of released layouts, by kind and fingerprint
//
// and fails where a current schema does not read in place what the same format version was released with: whoever
// breaks a layout raises kFormatVersion, and old files are converted from then on.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "meridian/base/version.h"
#include "meridian/resource/fingerprint.h"
#include "resource/schema_view.h"
#include "strip_schema.h"

namespace {

struct Packed {
  std::string stem;       // "imap", from the file's name
  std::string array;      // name of the byte array
  std::string root;       // "meridian::schema::MapData"
  std::string extension;  // without dot
  std::string path;
  uint32_t kind = 0;
  uint64_t layout = 0, full = 0;
  std::vector<uint8_t> bytes;
  std::span<const std::byte> span() const { return std::as_bytes(std::span(bytes)); }
};

std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llX", static_cast<unsigned long long>(value));
  return text;
}

bool load(const std::string& path, bool needs_kind, Packed& out) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> raw{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(raw));
  const meridian::Status status = meridian::verify_schema(bytes);
  if (!status.ok()) {
    std::fprintf(stderr, "%s: error: %s (%llu)\n", path.c_str(), status.message,
                 static_cast<unsigned long long>(status.detail));
    return false;
  }
  out.path = path;
  out.bytes = meridian::strip_schema(bytes);
  const reflection::Schema& schema = meridian::detail::schema_of(out.span());
  out.stem = std::filesystem::path(path).stem().string();
  out.kind = meridian::detail::kind_of_schema(schema);
  out.extension = meridian::detail::text_of(schema.file_ext());
  for (const char c : meridian::detail::text_of(schema.root_table()->name())) {
    if (c == '.')
      out.root += "::";
    else
      out.root += c;
  }
  out.layout = meridian::layout_fingerprint(out.span());
  out.full = meridian::schema_fingerprint(out.span());
  if (needs_kind && out.kind == 0) {
    std::fprintf(stderr, "%s: error: the schema has no file_identifier\n", path.c_str());
    return false;
  }
  return true;
}

// The N of ".../released/vN/bfbs/imap.bfbs", or 0.
uint32_t released_version(const std::filesystem::path& path) {
  for (const std::filesystem::path& part : path) {
    const std::string text = part.string();
    if (text.size() > 1 && text[0] == 'v' && text.find_first_not_of("0123456789", 1) == std::string::npos)
      return static_cast<uint32_t>(std::stoul(text.substr(1)));
  }
  return 0;
}

// Also of enumerations that no field has as its type: names of flags, which XML uses.
bool keeps_enumerators(const Packed& root, const Packed& old) {
  using meridian::detail::text_of;
  const auto* const enums = meridian::detail::schema_of(root.span()).enums();
  for (const reflection::Enum* older : *meridian::detail::schema_of(old.span()).enums()) {
    const auto same_enum = [&](const reflection::Enum* e) { return text_of(e->name()) == text_of(older->name()); };
    const auto newer = std::find_if(enums->begin(), enums->end(), same_enum);
    if (newer == enums->end()) return false;
    for (const reflection::EnumVal* value : *older->values()) {
      const auto same_value = [&](const reflection::EnumVal* v) {
        return v->value() == value->value() && text_of(v->name()) == text_of(value->name());
      };
      if (std::none_of((*newer)->values()->begin(), (*newer)->values()->end(), same_value)) return false;
    }
  }
  return true;
}

bool keeps_released_layouts(const std::vector<Packed>& roots, const std::vector<Packed>& released) {
  bool good = true;
  for (const Packed& old : released) {
    if (released_version(old.path) != meridian::kFormatVersion) continue;
    for (const Packed& root : roots) {
      if (root.kind != old.kind) continue;
      if (meridian::reads_in_place(root.span(), old.span()) && keeps_enumerators(root, old)) continue;
      std::fprintf(stderr,
                   "%s: error: does not read in place what format version %u was released with (%s); add only table "
                   "fields, enumerators and union members, or raise kFormatVersion (meridian/base/version.h)\n",
                   root.path.c_str(), meridian::kFormatVersion, old.path.c_str());
      good = false;
    }
  }
  return good;
}

void write_array(std::ostream& out, const Packed& packed) {
  out << "alignas(16) const unsigned char " << packed.array << "[] = {";
  char text[8];
  for (size_t i = 0; i < packed.bytes.size(); ++i) {
    std::snprintf(text, sizeof text, "%u,", unsigned{packed.bytes[i]});
    out << (i % 32 == 0 ? "\n" : "") << text;
  }
  out << "};\n";
}

constexpr const char* kHead =
    "// SPDX-License-Identifier: MIT\n// Generated by schema_pack from schemas/. Do not edit.\n";
constexpr const char* kBytesFunction =
    "template <size_t kSize>\nstd::span<const std::byte> bytes_of(const unsigned char (&array)[kSize]) {\n"
    "  return {reinterpret_cast<const std::byte*>(array), kSize};\n}\n";

void write_builtins(std::ostream& out, const std::vector<Packed>& roots, const Packed& info,
                    const std::vector<Packed>& released) {
  out << kHead << "#include \"meridian/resource/fingerprint.h\"\n#include \"resource/builtin.h\"\n\n"
      << "namespace meridian {\nnamespace {\n\n"
      << kBytesFunction;
  for (const Packed& root : roots) {
    write_array(out, root);
    out << "constexpr uint64_t k_compatible_" << root.stem << "[] = {";
    for (const Packed& old : released) {
      if (old.kind == root.kind && old.layout != root.layout && meridian::reads_in_place(root.span(), old.span())) {
        out << hex(old.layout) << ", ";
      }
    }
    out << "0};  // ends with 0, because an array cannot be empty\n";
  }
  write_array(out, info);
  out << "\n}  // namespace\n\nstd::span<const BuiltinSchema> builtin_schemas() {\n"
      << "  static const BuiltinSchema schemas[] = {\n";
  for (const Packed& root : roots) {
    out << "      {\"" << root.stem << "\", \"" << root.extension << "\", " << hex(root.kind) << ", bytes_of("
        << root.array << "),\n       " << hex(root.layout) << "u, " << hex(root.full) << "u, {k_compatible_"
        << root.stem << ", std::size(k_compatible_" << root.stem << ") - 1}},\n";
  }
  out << "  };\n  return schemas;\n}\n\nnamespace detail {\n"
      << "std::span<const std::byte> info_schema() { return bytes_of(" << info.array << "); }\n"
      << "uint32_t info_kind() { return " << hex(info.kind)
      << "; }\n}  // namespace detail\n}  // namespace meridian\n";
}

void write_verifiers(std::ostream& out, const std::vector<Packed>& roots, const Packed& info) {
  out << kHead;
  for (const Packed& root : roots) out << "#include \"meridian/schemas/" << root.stem << "_generated.h\"\n";
  out << "#include \"meridian/schemas/" << info.stem << "_generated.h\"\n#include \"resource/builtin.h\"\n\n"
      << "namespace meridian::detail {\n\n"
      << "bool verify_root(uint32_t kind, flatbuffers::Verifier& verifier) {\n  switch (kind) {\n";
  const auto one = [&](const Packed& root) {
    const auto* letters = reinterpret_cast<const char*>(&root.kind);
    out << "    case " << hex(root.kind) << ": return verifier.VerifyBuffer<" << root.root << ">(\""
        << std::string(letters, 4) << "\");\n";
  };
  for (const Packed& root : roots) one(root);
  one(info);
  out << "    default: return false;\n  }\n}\n\n}  // namespace meridian::detail\n";
}

void write_released(std::ostream& out, const std::vector<Packed>& released) {
  out << kHead << "#include \"meridian/compat/released_schemas.h\"\n\nnamespace meridian {\n";
  if (!released.empty()) out << "namespace {\n\n" << kBytesFunction;
  for (const Packed& old : released) write_array(out, old);
  if (!released.empty()) out << "\n}  // namespace\n";
  out << "\nstd::span<const std::byte> find_released_schema([[maybe_unused]] uint32_t kind,\n"
      << "                                                [[maybe_unused]] uint64_t layout_fingerprint) {\n";
  for (const Packed& old : released) {
    out << "  if (kind == " << hex(old.kind) << " && layout_fingerprint == " << hex(old.layout) << "u) return bytes_of("
        << old.array << ");\n";
  }
  out << "  return {};\n}\n\n}  // namespace meridian\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: schema_pack OUT_DIR --root FILE... --info FILE --released FILE...\n");
    return 2;
  }
  std::vector<Packed> roots, infos, released;
  std::vector<Packed>* group = &roots;
  for (int i = 2; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--root")
      group = &roots;
    else if (arg == "--info")
      group = &infos;
    else if (arg == "--released")
      group = &released;
    else {
      Packed packed;
      if (!load(arg, group != &released, packed)) return 1;
      if (packed.kind == 0) continue;  // a released file that others include
      packed.array = (group == &released ? "k_released_" : "k_") + packed.stem + std::to_string(group->size());
      group->push_back(std::move(packed));
    }
  }
  if (infos.size() != 1) {
    std::fprintf(stderr, "schema_pack: error: needs one --info schema\n");
    return 2;
  }
  if (!keeps_released_layouts(roots, released)) return 1;
  const std::filesystem::path dir = argv[1];
  std::ofstream builtins(dir / "builtin_schemas.cpp"), verifiers(dir / "builtin_verifiers.cpp"),
      compat(dir / "released_schemas.cpp");
  write_builtins(builtins, roots, infos[0], released);
  write_verifiers(verifiers, roots, infos[0]);
  write_released(compat, released);
  builtins.close();
  verifiers.close();
  compat.close();
  if (builtins && verifiers && compat) return 0;
  std::fprintf(stderr, "schema_pack: error: cannot write to %s\n", argv[1]);
  return 3;
}
