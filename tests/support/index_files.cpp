// SPDX-License-Identifier: MIT
// Writes the world indices that the fuzz corpora hold: `index_files tests/fuzz/corpus/world_index`. Run again after a
// change of the schema.

#include <cstdio>
#include <fstream>
#include <string>

#include "support/world_index_maker.h"

namespace {

using namespace meridian;

bool write(const std::string& path, const test::IndexParts& parts) {
  test::SealedIndex sealed(parts);
  const Result<WorldIndex> opened = open_world_index(sealed.bytes());
  if (!opened.ok() || !test::use_index(opened.value())) {
    std::fprintf(stderr, "%s: error: not a good index: %s\n", path.c_str(), opened.status().message);
    return false;
  }
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(sealed.bytes().data()), static_cast<std::streamsize>(sealed.bytes().size()));
  file.close();
  if (!file) std::fprintf(stderr, "%s: error: cannot write\n", path.c_str());
  return static_cast<bool>(file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: index_files DIR\n");
    return 2;
  }
  const std::string folder = argv[1];
  return write(folder + "/empty.widx", test::row_of_maps(0)) && write(folder + "/one.widx", test::row_of_maps(1)) &&
                 write(folder + "/small.widx", test::small_index()) &&
                 write(folder + "/row.widx", test::row_of_maps(40))
             ? 0
             : 3;
}
