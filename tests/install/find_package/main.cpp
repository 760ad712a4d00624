// SPDX-License-Identifier: MIT
// Opens a resource with what is installed: headers, generated accessors, libraries.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>
#include <span>
#include <vector>

#include "meridian/compat/released_schemas.h"
#include "meridian/meridian.h"
#include "meridian/schemas/gameconfig_generated.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "meridian/schemas/manifest_generated.h"

int main(int argc, char** argv) {
  std::ifstream file(argc > 1 ? argv[1] : "", std::ios::binary);
  const std::vector<char> read{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // malloc, and so vector, gives the alignment that open_resource asks for.
  const auto opened = meridian::open_resource(std::as_bytes(std::span(read)), {.kind = meridian::kind_of("IMAP")});
  if (!opened.ok()) {
    std::fprintf(stderr, "cannot open: %s\n", opened.status().message);
    return EXIT_FAILURE;
  }
  const auto* map = opened.value().root<meridian::schema::MapData>();
  const bool right = map->name() == meridian::hash_name("town").value && map->entities()->size() == 1 &&
                     map->entities()->Get(0)->archetype_name() == meridian::hash_name("LAMP").value;
  if (!right) std::fprintf(stderr, "the map holds something else than its source\n");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
