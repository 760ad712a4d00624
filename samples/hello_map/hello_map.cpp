// SPDX-License-Identifier: MIT
// Finds an entity in a compiled map by the name of its archetype, without copying or unpacking the file.

#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <span>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meridian/meridian.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/resource_info_generated.h"

namespace {

/// Maps a file into memory, read-only. Empty if it cannot be opened. Pages begin at multiples of 4096, so the bytes are
/// aligned as open_resource wants them. They stay mapped until the program ends.
std::span<const std::byte> map_file(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  struct stat info {};
  const bool known = ::fstat(file, &info) == 0 && info.st_size > 0;
  const auto size = known ? static_cast<size_t>(info.st_size) : 0;
  void* pages = known ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  ::close(file);
  if (pages == MAP_FAILED) return {};
  return {static_cast<const std::byte*>(pages), size};
}

/// The text behind a hash, from the tool data behind the payload. A game would not need it.
const char* text_of(const meridian::Resource& resource, meridian::NameHash name) {
  if (resource.info().empty()) return "(no names)";
  const auto* info = meridian::schema::GetResourceInfo(resource.info().data());
  const auto* entry = info->names() != nullptr ? info->names()->LookupByKey(name.value) : nullptr;
  return entry != nullptr ? entry->text()->c_str() : "(unknown)";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: hello_map FILE.imap ARCHETYPE\n");
    return 2;
  }
  const std::span<const std::byte> bytes = map_file(argv[1]);
  if (bytes.empty()) {
    std::fprintf(stderr, "hello_map: cannot read %s\n", argv[1]);
    return 3;
  }
  const auto opened = meridian::open_resource(bytes, {.kind = meridian::kind_of("IMAP")});
  if (!opened.ok()) {
    std::fprintf(stderr, "hello_map: %s: %s (%" PRIu64 ")\n", argv[1], opened.status().message, opened.status().detail);
    return 1;
  }
  // From here on everything was checked: reading is pointer arithmetic in the mapped file.
  const auto* map = opened.value().root<meridian::schema::MapData>();
  const meridian::NameHash wanted = meridian::hash_name(argv[2]);
  const auto* entities = map->entities();
  const uint32_t count = entities != nullptr ? entities->size() : 0;
  for (uint32_t i = 0; i < count; ++i) {
    const meridian::schema::EntityDef* entity = entities->Get(i);
    if (entity->archetype_name() != wanted.value) continue;
    const meridian::schema::Vec3& at = entity->position();
    std::printf("entity %u of %u: %s (0x%08X) at (%.2f, %.2f, %.2f) m\n", i, count,
                text_of(opened.value(), {entity->archetype_name()}), entity->archetype_name(),
                static_cast<double>(at.x()), static_cast<double>(at.y()), static_cast<double>(at.z()));
    return 0;
  }
  std::fprintf(stderr, "hello_map: none of %u entities is a '%s' (0x%08X)\n", count, argv[2], wanted.value);
  return 1;
}
