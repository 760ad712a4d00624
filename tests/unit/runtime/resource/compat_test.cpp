// SPDX-License-Identifier: MIT
// FMT-31, REL-7: resources written by released versions open for ever. The files in tests/golden/compat/v1 are never
// made anew; what is expected of them was counted in their XML sources by another program.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "meridian/compat/released_schemas.h"
#include "meridian/resource/convert.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/resource/resource.h"
#include "meridian/schemas/gameconfig_generated.h"
#include "meridian/schemas/imap_generated.h"
#include "meridian/schemas/ityp_generated.h"
#include "meridian/schemas/manifest_generated.h"
#include "support/test_paths.h"

namespace meridian {
namespace {

// A file in 16-aligned memory, converted if its layout is no longer the current one.
class ReleasedFile {
 public:
  explicit ReleasedFile(const std::string& name) {
    const std::filesystem::path path = std::filesystem::path(MERIDIAN_SOURCE_DIR) / "tests/golden/compat/v1" / name;
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    EXPECT_FALSE(bytes.empty()) << path;
    storage_.resize((bytes.size() + 15) / 16);
    std::memcpy(storage_.data(), bytes.data(), bytes.size());
    bytes_ = std::as_bytes(std::span(storage_)).first(bytes.size());
    opened_ = open_resource(bytes_);
    if (opened_.status().code != StatusCode::layout_differs) return;
    const ResourceTrailer trailer = read_sections(bytes_).value().trailer;
    Result<Converted> converted =
        convert_resource(bytes_, find_released_schema(trailer.kind, trailer.layout_fingerprint),
                         find_builtin_schema(trailer.kind)->bfbs);
    EXPECT_TRUE(converted.ok()) << converted.status().message;
    if (!converted.ok()) return;
    converted_ = std::move(converted.value());
    opened_ = open_resource(converted_.bytes());
  }

  template <class Root>
  const Root* root() const {
    EXPECT_TRUE(opened_.ok()) << opened_.status().message;
    return opened_.ok() ? opened_.value().root<Root>() : nullptr;
  }

 private:
  struct alignas(16) Block {
    std::byte bytes[16];
  };
  std::vector<Block> storage_;
  std::span<const std::byte> bytes_;
  Converted converted_;
  Result<Resource> opened_ = Status{StatusCode::not_found, "not read"};
};

TEST(Compat, MapDataOfVersion1Opens) {
  const ReleasedFile file("hv_harbour_strm_0.imap");
  const auto* const map = file.root<schema::MapData>();
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(map->name(), hash_name("hv_harbour_strm_0").value);
  EXPECT_EQ(map->parent(), hash_name("hv_harbour").value);
  ASSERT_EQ(map->entities()->size(), 73u);
  const schema::EntityDef& crate = *map->entities()->Get(36);
  EXPECT_EQ(crate.archetype_name(), hash_name("hv_prop_crate").value);
  EXPECT_EQ(crate.position().x(), 10.53f);
  EXPECT_EQ(crate.rotation().w(), 0.9335804f);
  EXPECT_EQ(crate.parent_index(), -1);
  EXPECT_EQ(map->car_generators()->size(), 3u);
  EXPECT_EQ(map->entity_extensions()->size(), 3u);
}

TEST(Compat, GrassAndOccludersOfVersion1Open) {
  const ReleasedFile grass("hv_hills_grass_0.imap");
  const auto* const hills = grass.root<schema::MapData>();
  ASSERT_NE(hills, nullptr);
  const auto* const batches = hills->instanced_data()->grass_instance_list();
  ASSERT_EQ(batches->size(), 3u);
  EXPECT_EQ(batches->Get(0)->instance_list()->size(), 30u);
  EXPECT_EQ(batches->Get(1)->instance_list()->size(), 22u);
  EXPECT_EQ(batches->Get(2)->instance_list()->size(), 24u);

  const ReleasedFile occluders("hv_harbour_occl.imap");
  const auto* const harbour = occluders.root<schema::MapData>();
  ASSERT_NE(harbour, nullptr);
  EXPECT_EQ(harbour->box_occluders()->size(), 18u);
  ASSERT_EQ(harbour->occlude_models()->size(), 3u);
  EXPECT_EQ(harbour->occlude_models()->Get(0)->verts()->size(), 132u);
}

TEST(Compat, MapTypesOfVersion1Open) {
  const ReleasedFile file("hv_harbour_office_int.ityp");
  const auto* const types = file.root<schema::MapTypes>();
  ASSERT_NE(types, nullptr);
  ASSERT_EQ(types->archetypes()->size(), 21u);
  EXPECT_EQ(types->archetypes()->Get(20)->name(), hash_name("hv_harbour_office_int").value);
  EXPECT_EQ(types->archetypes()->Get(0)->bb_max().x(), 8.0f);
  ASSERT_EQ(types->mlo_archetypes()->size(), 1u);
  EXPECT_EQ(types->mlo_archetypes()->Get(0)->owner(), 20u);
}

TEST(Compat, GameConfigAndManifestOfVersion1Open) {
  const ReleasedFile config("gameconfig.gcfg");
  const auto* const set = config.root<schema::GameConfigSet>();
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->config_array()->size(), 9u);

  const ReleasedFile manifest("_manifest.ymfm");
  const auto* const meta = manifest.root<schema::PackFileMetaData>();
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->map_data_groups()->size(), 4u);
  EXPECT_EQ(meta->imap_dependencies_2()->size(), 15u);
}

TEST(Compat, EachReleasedLayoutHasItsSchema) {
  for (const char* name : {"hv_harbour_strm_0.imap", "hv_props.ityp", "gameconfig.gcfg", "_manifest.ymfm"}) {
    std::ifstream file(std::filesystem::path(MERIDIAN_SOURCE_DIR) / "tests/golden/compat/v1" / name,
                       std::ios::binary | std::ios::ate);
    ASSERT_TRUE(file) << name;
    ResourceTrailer trailer;
    file.seekg(-static_cast<std::streamoff>(sizeof trailer), std::ios::end);
    file.read(reinterpret_cast<char*>(&trailer), sizeof trailer);
    EXPECT_FALSE(find_released_schema(trailer.kind, trailer.layout_fingerprint).empty()) << name;
  }
}

}  // namespace
}  // namespace meridian
