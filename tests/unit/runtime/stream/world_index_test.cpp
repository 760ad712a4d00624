// SPDX-License-Identifier: MIT
// WIDX-1, BOX-1, BOX-3, P078: an index by hand is read as it was written; a wrong one is refused, whatever is wrong.
#include "meridian/stream/world_index.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/traverse.h"
#include "support/world_index_maker.h"

namespace meridian {
namespace {

using test::IndexParts;
using test::row_of_maps;
using test::SealedIndex;
using test::small_index;

std::vector<uint32_t> values(std::span<const NameHash> names) {
  std::vector<uint32_t> out;
  for (const NameHash name : names) out.push_back(name.value);
  return out;
}
std::vector<uint32_t> values(std::span<const uint32_t> v) { return {v.begin(), v.end()}; }
using Values = std::vector<uint32_t>;

TEST(WorldIndex, WIDX1_IsReadAsItWasWritten) {
  SealedIndex sealed(small_index());
  const Result<WorldIndex> opened = open_world_index(sealed.bytes());
  ASSERT_TRUE(opened.ok()) << opened.status().message << " " << opened.status().detail;
  const WorldIndex& index = opened.value();
  ASSERT_EQ(index.maps().size(), 4u);
  const MapSlot* const parent = index.find_map(NameHash{30});
  ASSERT_EQ(parent, &index.maps()[2]);
  EXPECT_EQ(parent->size, 1030u);
  EXPECT_EQ(parent->entity_count, 30u);
  EXPECT_EQ(parent->asset, BoxAsset::map_medium);
  EXPECT_EQ(parent->streaming.max, (Vec3{360, 110, 110}));
  EXPECT_EQ(values(index.children(*parent)), (Values{0, 1}));
  EXPECT_EQ(values(index.dependencies(*parent)), (Values{200}));
  EXPECT_EQ(values(index.dependencies(index.maps()[0])), (Values{100, 300}));
  EXPECT_EQ(values(index.dependencies(index.maps()[1])), (Values{100, 300}));
  EXPECT_TRUE(index.dependencies(index.maps()[3]).empty());
  EXPECT_TRUE(index.children(index.maps()[3]).empty());
  const TypesSlot* const types = index.find_types(NameHash{100});
  ASSERT_NE(types, nullptr);
  EXPECT_TRUE(types->is_permanent());
  EXPECT_EQ(values(index.dependencies(*types)), (Values{300}));
  EXPECT_FALSE(index.find_types(NameHash{200})->is_permanent());
  const ArchetypeRow* const row = index.find_archetype(NameHash{1020});
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->kind, ArchetypeKind::mlo);
  EXPECT_EQ(index.types()[row->types].name, NameHash{200});
  EXPECT_EQ(row->box.max, (Vec3{1, 2, 3}));
  for (const uint32_t none : {0u, 5u, 15u, 45u, 0xFFFFFFFFu}) {
    EXPECT_EQ(index.find_map(NameHash{none}), nullptr);
    EXPECT_EQ(index.find_types(NameHash{none}), nullptr);
    EXPECT_EQ(index.find_archetype(NameHash{none}), nullptr);
  }
}

TEST(WorldIndex, WIDX1_GroupsHaveTheirHoursWeathersMapsAndCollision) {
  SealedIndex sealed(small_index());
  const WorldIndex index = open_world_index(sealed.bytes()).value();
  MapGroup group;
  ASSERT_EQ(index.group_count(), 2u);
  ASSERT_TRUE(index.find_group(NameHash{10}, group));
  EXPECT_EQ(group.flags, MapGroup::kTimeDependent);
  EXPECT_EQ(group.hours, 0xFFu);
  EXPECT_EQ(values(group.maps), Values{0});
  EXPECT_EQ(values(group.bounds), (Values{7, 8}));
  ASSERT_TRUE(index.find_group(NameHash{30}, group));
  EXPECT_EQ(values(group.weather_types), (Values{1, 2, 3}));
  EXPECT_EQ(values(group.maps), (Values{0, 1, 2}));
  EXPECT_FALSE(index.find_group(NameHash{20}, group));
  EXPECT_FALSE(index.find_group(NameHash{31}, group));
}

TEST(WorldIndex, BOX3_HasATreeOfContentsAndOneOfStreamingRanges) {
  SealedIndex sealed(small_index());
  const WorldIndex index = open_world_index(sealed.bytes()).value();
  uint32_t found[4];
  // Between maps 10 and 30: near both, inside neither.
  EXPECT_EQ(query_sphere(index.entities_tree(), {130, 5, 5}, 0, found), 0u);
  ASSERT_EQ(query_sphere(index.streaming_tree(), {105, 5, 5}, 0, found), 1u);
  EXPECT_EQ(index.maps()[found[0]].name, NameHash{10});
  EXPECT_EQ(values(index.entities_tree().outside), Values{3});  // P078: no contents, yet a streaming range
  EXPECT_TRUE(index.streaming_tree().outside.empty());
  EXPECT_TRUE(test::use_index(index));
}

TEST(WorldIndex, EmptyAndOneSlotWorldsOpen) {
  IndexParts parts;
  parts.lists = {0};
  parts.make_trees();
  SealedIndex empty(parts);
  ASSERT_TRUE(open_world_index(empty.bytes()).ok());
  EXPECT_EQ(open_world_index(empty.bytes()).value().find_map(NameHash{1}), nullptr);
  EXPECT_TRUE(test::use_index(open_world_index(empty.bytes()).value()));

  parts.lists = {0, 0};
  parts.maps.resize(1);
  parts.maps[0].name = NameHash{1};
  parts.make_trees();
  SealedIndex one(parts);
  const Result<WorldIndex> opened = open_world_index(one.bytes());
  ASSERT_TRUE(opened.ok()) << opened.status().message;
  EXPECT_EQ(opened.value().streaming_tree().node_count(), 1u);
  EXPECT_TRUE(test::use_index(opened.value()));
  EXPECT_EQ(WorldIndex().group_count(), 0u);
  EXPECT_EQ(WorldIndex().find_map(NameHash{1}), nullptr);
}

TEST(WorldIndex, BOX1_AssetKindFollowsFromTheContentFlags) {
  // Bits as in schema::MapContentFlags: 0 HD, 1 LOD, 2 SLOD2, 3 interior, 5 occluders, 7 LOD lights, 8 distant, 9
  // critical.
  EXPECT_EQ(map_asset(1), BoxAsset::map_high);
  EXPECT_EQ(map_asset(1 | 2 | 4), BoxAsset::map_high);
  EXPECT_EQ(map_asset(1 | 1 << 9), BoxAsset::map_high_critical);
  EXPECT_EQ(map_asset(1 << 3), BoxAsset::map_high);
  EXPECT_EQ(map_asset(2), BoxAsset::map_medium);
  EXPECT_EQ(map_asset(2 | 4 | 1 << 9), BoxAsset::map_medium);
  EXPECT_EQ(map_asset(1 << 7), BoxAsset::map_medium);
  EXPECT_EQ(map_asset(4), BoxAsset::map_low);
  EXPECT_EQ(map_asset(1 << 8), BoxAsset::map_low);
  EXPECT_EQ(map_asset(1 << 5), BoxAsset::map_high);
  EXPECT_EQ(map_asset(0), BoxAsset::map_high);
}

struct Fault {
  const char* message;  // part of what is said
  std::function<void(IndexParts&)> make;
};

TEST(WorldIndex, EveryFaultIsRefusedAndNamed) {
  const auto no_trees = [](auto&& change) {
    return [change](IndexParts& p) {
      change(p);
      p.make_trees();
    };
  };
  const std::vector<Fault> faults = {
      // rows
      {"rows do not ascend by name", no_trees([](IndexParts& p) { std::swap(p.maps[0].name, p.maps[1].name); })},
      {"rows do not ascend by name", no_trees([](IndexParts& p) { p.maps[1].name = p.maps[0].name; })},
      {"row has no name", no_trees([](IndexParts& p) { p.maps[0].name = NameHash{}; })},
      {"rows do not ascend by name", [](IndexParts& p) { p.types[2].name = NameHash{150}; }},
      {"row has no name", [](IndexParts& p) { p.types[0].name = NameHash{}; }},
      {"rows do not ascend by name", [](IndexParts& p) { p.archetypes[4].name = NameHash{1}; }},
      {"row has no name", [](IndexParts& p) { p.archetypes[0].name = NameHash{}; }},
      {"rows do not ascend by name", [](IndexParts& p) { p.groups[0].name = 30; }},
      {"row has no name", [](IndexParts& p) { p.groups[0].name = 0; }},
      {"asset is none of a map", [](IndexParts& p) { p.maps[0].asset = BoxAsset::bounds_material; }},
      {"asset is none of a map", [](IndexParts& p) { p.maps[3].asset = BoxAsset::metadata; }},
      {"none of its enumeration", [](IndexParts& p) { p.maps[0].asset = static_cast<BoxAsset>(8); }},
      {"none of its enumeration", [](IndexParts& p) { p.archetypes[0].kind = static_cast<ArchetypeKind>(4); }},
      {"archetype's type file is none", [](IndexParts& p) { p.archetypes[4].types = 3; }},
      {"infinite or NaN",
       [](IndexParts& p) { p.archetypes[1].lod_distance = std::numeric_limits<float>::quiet_NaN(); }},
      {"infinite or NaN", [](IndexParts& p) { p.archetypes[1].box.min.z = std::numeric_limits<float>::infinity(); }},
      // dependencies
      {"list of dependencies is none", [](IndexParts& p) { p.maps[3].dependencies = 4; }},
      {"list of dependencies is none", [](IndexParts& p) { p.types[0].dependencies = 0xFFFFFFFF; }},
      {"lists are not all", [](IndexParts& p) { p.lists.clear(); }},
      {"lists are not all", [](IndexParts& p) { p.lists.front() = 1; }},
      {"lists are not all", [](IndexParts& p) { p.lists.back() = 5; }},
      {"list ends before it begins", [](IndexParts& p) { p.lists[2] = 9; }},
      {"does not ascend; detail = index of the name", [](IndexParts& p) { p.dependencies[1] = 100; }},
      // children
      {"children do not follow each other", [](IndexParts& p) { p.maps[2].first_child = 1; }},
      {"children do not follow each other", [](IndexParts& p) { p.maps[2].child_count = 3; }},
      {"children do not follow each other", [](IndexParts& p) { p.maps[2].child_count = 0xFFFFFFFF; }},
      {"child belongs to no map", [](IndexParts& p) { p.children.push_back(3); }},
      {"children do not ascend",
       [](IndexParts& p) {
         p.children = {1, 0};
       }},
      {"child is no map or names another parent", [](IndexParts& p) { p.children[1] = 3; }},
      {"child is no map or names another parent", [](IndexParts& p) { p.children[1] = 4; }},
      {"child is no map or names another parent",
       [](IndexParts& p) {
         p.maps[2].parent = NameHash{30};
         p.children[1] = 2;
       }},
      // groups
      {"array of a group does not ascend",
       [](IndexParts& p) {
         p.groups[1].weather_types = {2, 1};
       }},
      {"array of a group does not ascend",
       [](IndexParts& p) {
         p.groups[0].bounds = {7, 7};
       }},
      {"array of a group does not ascend",
       [](IndexParts& p) {
         p.groups[1].maps = {1, 0};
       }},
      {"group has a map that is none",
       [](IndexParts& p) {
         p.groups[1].maps = {0, 4};
       }},
      // trees
      {"tree's arrays do not fit", [](IndexParts& p) { p.entities.bounds.pop_back(); }},
      {"tree's arrays do not fit", [](IndexParts& p) { p.streaming.children.push_back(kBoxTreeNone); }},
      {"not one place for each map", [](IndexParts& p) { p.streaming.places.pop_back(); }},
      {"child's box is not that of its map", [](IndexParts& p) { p.entities.bounds[0] -= 1; }},
      {"child's box is not that of its map", [](IndexParts& p) { p.maps[1].streaming.max.z += 1; }},
      {"infinite or NaN", [](IndexParts& p) { p.streaming.bounds[17] = std::numeric_limits<float>::quiet_NaN(); }},
      {"unused child could be found", [](IndexParts& p) { p.streaming.children[15] = kBoxTreeItem | 1; }},
      {"unused child could be found",
       [](IndexParts& p) {
         for (uint32_t k = 0; k < 6; ++k) p.streaming.bounds[k * kBoxTreeWidth + 9] = 0;
       }},
      {"child and map do not name each other", [](IndexParts& p) { p.streaming.children[0] = kBoxTreeItem | 100; }},
      {"child and map do not name each other",
       [](IndexParts& p) { p.streaming.children[0] = p.streaming.children[1]; }},
      {"child and map do not name each other", [](IndexParts& p) { p.streaming.places[0] = 3; }},
      {"nodes are not in order", [](IndexParts& p) { p.streaming.children[0] = 0; }},  // a circle
      {"nodes are not in order", [](IndexParts& p) { p.streaming.children[0] = 1; }},  // of one node only
      {"not every map is in the tree or outside", [](IndexParts& p) { p.entities.outside.clear(); }},
      {"map outside is none, or belongs inside", [](IndexParts& p) { p.entities.outside = {4}; }},
      {"map outside is none, or belongs inside", [](IndexParts& p) { p.entities.outside = {0}; }},
      {"maps outside do not ascend",
       [](IndexParts& p) {
         p.entities.outside = {3, 3};
       }},
      {"map outside is none, or belongs inside",
       [](IndexParts& p) {
         p.streaming.outside = {3};  // a box that could be found
         p.streaming.places[3] = kBoxTreeNone;
       }},
  };
  for (size_t i = 0; i < faults.size(); ++i) {
    IndexParts parts = small_index();
    faults[i].make(parts);
    SealedIndex sealed(parts);
    const Result<WorldIndex> opened = open_world_index(sealed.bytes());
    ASSERT_FALSE(opened.ok()) << "fault " << i << ": " << faults[i].message;
    EXPECT_NE(std::string(opened.status().message).find(faults[i].message), std::string::npos)
        << "fault " << i << ": " << opened.status().message;
    EXPECT_NE(opened.status().name.value, 0u) << i;
  }
}

TEST(WorldIndex, TreesThatAreNoTreesAreRefused) {
  ASSERT_GT(row_of_maps(40).streaming.view().node_count(), 2u);
  ASSERT_EQ(row_of_maps(40).streaming.children[0], 1u);
  const std::vector<Fault> faults = {
      {"nodes are not in order", [](IndexParts& p) { std::swap(p.streaming.children[0], p.streaming.children[1]); }},
      {"nodes are not in order", [](IndexParts& p) { p.streaming.children[1] = 1; }},
      {"nodes are not in order", [](IndexParts& p) { p.streaming.children[1] = 0; }},
      {"nodes are not in order", [](IndexParts& p) { p.streaming.children[1] = 0x7FFFFFFF; }},
      {"node's box is not that of its children", [](IndexParts& p) { p.streaming.bounds[0] += 1; }},
      {"node's box is not that of its children", [](IndexParts& p) { p.streaming.bounds[5 * kBoxTreeWidth] += 1; }},
      {"node has no child",
       [](IndexParts& p) {
         const size_t last = p.streaming.children.size() - kBoxTreeWidth;
         for (size_t i = last; i < last + kBoxTreeWidth; ++i) p.streaming.children[i] = kBoxTreeNone;
         for (float& f : std::span(p.streaming.bounds).last(kBoxTreeFloats / 2)) f = -1e30f;
       }},
      {"node is named by none",
       [](IndexParts& p) {  // two nodes more, which name each other in order
         const size_t nodes = p.streaming.children.size() / kBoxTreeWidth;
         p.streaming.children.resize((nodes + 1) * kBoxTreeWidth, kBoxTreeNone);
         p.streaming.bounds.resize((nodes + 1) * kBoxTreeFloats);
         p.streaming.children[nodes * kBoxTreeWidth] = static_cast<uint32_t>(nodes + 1);
       }},
  };
  for (size_t i = 0; i < faults.size(); ++i) {
    IndexParts parts = row_of_maps(40);
    faults[i].make(parts);
    SealedIndex sealed(parts);
    const Result<WorldIndex> opened = open_world_index(sealed.bytes());
    ASSERT_FALSE(opened.ok()) << "fault " << i;
    const std::string message = opened.status().message;
    // A node that lost its children may be seen first from above, by its box.
    EXPECT_TRUE(message.find(faults[i].message) != std::string::npos || i == 6) << "fault " << i << ": " << message;
  }
}

TEST(WorldIndex, TreeIsAtMostAsDeepAsAQueryCanGo) {
  const auto chain = [](uint32_t depth) {
    IndexParts p;
    p.lists = {0, 0};
    p.maps.resize(1);
    p.maps[0].name = NameHash{1};
    p.maps[0].streaming = {{0, 0, 0}, {1, 1, 1}};
    p.make_trees();
    const std::vector<uint32_t> leaf_children = p.streaming.children;
    const std::vector<float> leaf_bounds = p.streaming.bounds;
    p.streaming.children.clear();
    p.streaming.bounds.clear();
    for (uint32_t level = 0; level < depth; ++level) {
      const size_t at = p.streaming.children.size();
      p.streaming.children.insert(p.streaming.children.end(), leaf_children.begin(), leaf_children.end());
      p.streaming.bounds.insert(p.streaming.bounds.end(), leaf_bounds.begin(), leaf_bounds.end());
      if (level + 1 < depth)
        p.streaming.children[at] = level + 1;
      else
        p.streaming.places[0] = static_cast<uint32_t>(at);
    }
    return p;
  };
  SealedIndex good(chain(kMaxBoxTreeDepth)), bad(chain(kMaxBoxTreeDepth + 1));
  const Result<WorldIndex> opened = open_world_index(good.bytes());
  ASSERT_TRUE(opened.ok()) << opened.status().message;
  EXPECT_EQ(opened.value().streaming_tree().depth(), kMaxBoxTreeDepth);
  EXPECT_TRUE(test::use_index(opened.value()));
  EXPECT_STREQ(open_world_index(bad.bytes()).status().message, "tree is too deep; detail = node");
}

TEST(WorldIndex, EveryFlippedBitIsRefusedOrHarmless) {
  SealedIndex sealed(small_index());
  const std::span<const std::byte> schema = find_builtin_schema(kWorldIndexKind)->bfbs;
  size_t refused = 0, taken = 0;
  for (size_t at = 0; at < sealed.payload().size(); ++at) {
    for (int bit = 0; bit < 8; bit += at % 3 == 0 ? 1 : 3) {
      const std::byte before = sealed.payload()[at];
      sealed.payload()[at] ^= std::byte{1} << bit;
      sealed.seal_again();
      const Result<Resource> opened = open_resource(sealed.bytes());
      if (opened.ok()) {
        ++taken;
        EXPECT_TRUE(test::Traversal(opened.value().payload(), schema).run()) << at;
        EXPECT_TRUE(test::use_index(WorldIndex(opened.value()))) << at;
      } else {
        ++refused;
      }
      sealed.payload()[at] = before;
    }
  }
  EXPECT_GT(refused, 2000u);
  EXPECT_GT(taken, 100u);  // sizes, counts, flags, filler of unused boxes
}

TEST(WorldIndex, CutOtherAndTrustedBytes) {
  SealedIndex sealed(small_index());
  for (size_t size = 0; size < sealed.bytes().size(); size += 16)
    EXPECT_FALSE(open_world_index(sealed.bytes().first(size)).ok()) << size;
  EXPECT_TRUE(open_world_index(sealed.bytes(), /*trusted=*/true).ok());
  sealed.bytes()[100] ^= std::byte{1};
  EXPECT_EQ(open_world_index(sealed.bytes()).status().code, StatusCode::bad_checksum);
  const uint32_t other = kind_of("IMAP");
  std::memcpy(sealed.bytes().data() + sealed.bytes().size() - sizeof(ResourceTrailer) + 4, &other, sizeof other);
  EXPECT_EQ(open_world_index(sealed.bytes()).status().code, StatusCode::wrong_kind);
}

TEST(WorldIndex, RandomWorldsOpenAndAnswer) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int world = 0; world < 50; ++world) {
    IndexParts parts;
    parts.lists = {0, 0};
    const size_t count = random() % 700;
    const std::vector<Aabb> boxes = test::random_boxes(random, count), ranges = test::random_boxes(random, count);
    for (uint32_t i = 0; i < count; ++i) {
      MapSlot m;
      m.name = NameHash{(i + 1) * 7};
      m.entities = boxes[i];
      m.streaming = ranges[i];
      parts.maps.push_back(m);
    }
    parts.make_trees();
    SealedIndex sealed(parts);
    const Result<WorldIndex> opened = open_world_index(sealed.bytes());
    ASSERT_TRUE(opened.ok()) << opened.status().message << " " << opened.status().detail;
    EXPECT_TRUE(test::use_index(opened.value()));
  }
}

}  // namespace
}  // namespace meridian
