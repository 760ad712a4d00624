// SPDX-License-Identifier: MIT
// Makes a pack of resources on disk: where the packs in golden cases and fuzz corpora come from.
//
//   pack_files OUT.mpk [--level=N] [--dictionary] [--no-names] [--base=PACK.mpk] RESOURCE...
//
// A resource's kind is that of its trailer, its name that of its file without extension (%XX stands for a byte), its
// place the order of the command line. With --base the pack is a patch.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/tools/pack_view.h"
#include "meridian/tools/pack_writer.h"

namespace {

using namespace meridian;
using namespace meridian::tools;

std::string decoded(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%' || i + 2 >= name.size()) {
      out += name[i];
      continue;
    }
    out += static_cast<char>(std::strtoul(std::string(name.substr(i + 1, 2)).c_str(), nullptr, 16));
    i += 2;
  }
  return out;
}

int fail(const std::string& message) {
  std::fprintf(stderr, "pack_files: %s\n", message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string out, base, error;
  PackWriteOptions options;
  std::vector<PackInput> inputs;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--level=")) {
      options.level = std::atoi(argv[i] + 8);
    } else if (argument == "--dictionary") {
      options.train_dictionaries = true;
    } else if (argument == "--no-names") {
      options.names = false;
    } else if (argument.starts_with("--base=")) {
      base = argument.substr(7);
    } else if (out.empty()) {
      out = argument;
    } else {
      std::string bytes;
      if (read_file(argv[i], bytes) != 0) return fail("cannot read " + std::string(argument));
      ResourceTrailer trailer;
      if (bytes.size() < sizeof trailer) return fail("no resource: " + std::string(argument));
      bytes.copy(reinterpret_cast<char*>(&trailer), sizeof trailer, bytes.size() - sizeof trailer);
      inputs.push_back(pack_input(trailer.kind, decoded(std::filesystem::path(argument).stem().string()),
                                  {bytes.begin(), bytes.end()}, inputs.size()));
    }
  }
  if (out.empty()) return fail("no output");
  int code = 0;
  const auto old = base.empty() ? nullptr : PackFile::open(base, error, code);
  if (!base.empty() && !old) return fail(base + ": " + error);
  const PackWriteResult result =
      old ? write_patch_pack(out, old->pack(), inputs, options) : write_pack(out, inputs, options);
  return result.outcome == WriteOutcome::failed ? fail(result.message) : 0;
}
