// SPDX-License-Identifier: MIT
// Linking a compiled map: what is added is right, what was there stays, and bad bytes are refused.
#include "meridian/tools/cook.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>

#include "meridian/schemas/imap_generated.h"
#include "support/compile_kit.h"
#include "support/random_map.h"
#include "support/test_paths.h"

namespace meridian::test {
namespace {

using tools::CookInput;
using tools::CookReport;

ArchetypeTraits crate() {
  ArchetypeTraits t;
  t.box = {{-1, -2, 0}, {3, 2, 5}};
  t.sphere_radius = 6;
  t.lod_distance = 70;
  return t;
}

/// Every name is a crate of its own size.
class Types {
 public:
  const ArchetypeTraits* find(NameHash name) {
    ArchetypeTraits& t = made_[name.value];
    t = crate();
    t.box.max.z += static_cast<float>(name.value % 7);
    return &t;
  }

 private:
  std::map<uint32_t, ArchetypeTraits> made_;
};

CookInput every_archetype(Types& types) {
  CookInput in;
  in.archetype = [&](NameHash name) { return types.find(name); };
  return in;
}

std::vector<uint8_t> cook(const std::vector<uint8_t>& bytes, const CookInput& in, CookReport* report = nullptr) {
  const auto loaded = load(bytes);
  std::vector<uint8_t> out;
  CookReport unused;
  std::string error;
  EXPECT_TRUE(tools::cook_map(*loaded, in, out, report != nullptr ? *report : unused, error)) << error;
  return out;
}

std::string error_of(const std::vector<uint8_t>& bytes, const CookInput& in) {
  const auto loaded = load(bytes);
  std::vector<uint8_t> out;
  CookReport report;
  std::string error;
  EXPECT_FALSE(tools::cook_map(*loaded, in, out, report, error));
  EXPECT_TRUE(out.empty());
  return error;
}

std::string at(int x, std::string_view more = "") {
  return entity("<position x=\"" + std::to_string(x) + "\" y=\"0\" z=\"0\"/>" + std::string(more));
}

/// Three children, two parents and one interior, with names, kept XML and an extension.
std::string linked_xml() {
  return map_of("<parent>qa_parent</parent><entities>" +
                at(10, "<parentIndex value=\"3\"/><lodDist value=\"90\"/><qaOdd/>") +
                at(20,
                   "<parentIndex value=\"3\"/><extensions><Item "
                   "type=\"CExtensionDefBuoyancy\"><name>qa_e</name></Item></extensions>") +
                at(30, "<parentIndex value=\"6\"/><flags value=\"8\"/>") +
                at(40, "<lodLevel>LODTYPES_DEPTH_LOD</lodLevel><lodDist value=\"600\"/>") +
                "<Item type=\"CMloInstanceDef\"><archetypeName>qa_mlo</archetypeName><groupId value=\"4\"/></Item>" +
                "</entities><block><qaKept/></block>");
}

/// Bytes of a resource that can be changed and sealed again.
struct Editable {
  std::vector<Vec4> memory;
  size_t size = 0;
  explicit Editable(const std::vector<uint8_t>& bytes) : memory(bytes.size() / 16 + 1), size(bytes.size()) {
    if (!bytes.empty()) std::memcpy(memory.data(), bytes.data(), bytes.size());
  }
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(memory)).first(size); }
  schema::MapData& map() { return *schema::GetMutableMapData(memory.data()); }
  Status open() {
    const ResourceSections sections = read_sections(bytes()).value();
    const std::vector<std::byte> payload(sections.payload.begin(), sections.payload.end());
    const std::vector<std::byte> info(sections.info.begin(), sections.info.end());
    seal_resource(bytes(), payload, info, sections.trailer.kind, sections.trailer.layout_fingerprint);
    return open_resource(bytes()).status();
  }
};

template <class Root = schema::MapData>
const Root& root(const std::vector<uint8_t>& bytes, Editable& memory) {
  memory = Editable(bytes);
  return *open_resource(memory.bytes()).value().root<Root>();
}

// DESC-3, DESC-4: what is stored is what the runtime would build, and can be copied as it lies.
TEST(Cook, StoresWhatTheRuntimeWouldBuild) {
  const Compiled c = compile(kImap, linked_xml());
  Types types;
  CookInput in = every_archetype(types);
  in.parent = [](uint32_t index) { return index == 6 ? LodParent{{7, 8, 9}, 333} : LodParent{}; };
  CookReport report;
  const std::vector<uint8_t> cooked = cook(c.result.bytes, in, &report);
  Editable memory({});
  const schema::MapData& map = root(cooked, memory);
  ASSERT_NE(map.cooked(), nullptr);
  EXPECT_TRUE(cooked_blocks_match(map, report.fingerprint));
  EXPECT_FALSE(cooked_blocks_match(map, report.fingerprint + 1));
  const CookedView view = cooked_view(map);

  std::vector<const ArchetypeTraits*> archetypes;
  for (const schema::EntityDef* e : *map.entities()) archetypes.push_back(types.find({e->archetype_name()}));
  std::vector<LodParent> parents(5);
  parents[2] = {{7, 8, 9}, 333};
  const MapDescInput input{&map, archetypes, parents};
  EXPECT_EQ(descriptor_fingerprint(input), report.fingerprint);
  const BuiltBlocks built = build(input);
  EXPECT_TRUE(
      std::equal(view.containers.begin(), view.containers.end(), built.containers.begin(), built.containers.end()));
  EXPECT_TRUE(
      std::equal(view.sub_blocks.begin(), view.sub_blocks.end(), built.sub_blocks.begin(), built.sub_blocks.end()));
  EXPECT_TRUE(std::equal(view.links.begin(), view.links.end(), built.links.begin(), built.links.end()));
  EXPECT_TRUE(std::equal(view.slot_of.begin(), view.slot_of.end(), built.slot_of.begin(), built.slot_of.end()));
  const auto lanes = std::as_bytes(std::span(built.lanes));
  EXPECT_TRUE(std::equal(view.lanes.begin(), view.lanes.end(), lanes.begin(), lanes.end()));

  // By hand: the set of entity 3, whose children reach 90 m, and the set of the parent map's entity 6.
  ASSERT_EQ(view.links.size(), 2u);
  EXPECT_EQ(view.links[0].parent_index, 3u);
  EXPECT_EQ(view.links[0].distance, 90);
  EXPECT_EQ(view.links[0].pivot, (Vec3{40, 0, 0}));
  EXPECT_EQ(view.links[1].parent_index, 6u);
  EXPECT_TRUE(view.links[1].in_parent);
  EXPECT_EQ(view.links[1].distance, 333);
  const DescBounds& b = view.containers[0].bounds;
  EXPECT_EQ(b.pivot_max, (Vec3{40, 8, 9}));
  EXPECT_EQ(b.pivot_min, (Vec3{0, 0, 0})) << "children stand at their parents' pivots";
  EXPECT_EQ(b.distance[0], 333);
  EXPECT_EQ(b.distance[1], 600);
  EXPECT_EQ(report.entities, 5u);
  EXPECT_TRUE(report.findings.empty());
}

// What was there stays: values, names, kept XML; and linking twice is linking once.
TEST(Cook, KeepsEverythingElse) {
  const Compiled c = compile(kImap, linked_xml());
  Types types;
  const CookInput in = every_archetype(types);
  const std::vector<uint8_t> cooked = cook(c.result.bytes, in);
  EXPECT_EQ(dump_of(cooked), dump_of(c.result.bytes)) << "cooked fields are not in XML";
  EXPECT_TRUE(cook(cooked, in) == cooked);
  const Compiled again = compile(kImap, dump_of(cooked));
  EXPECT_TRUE(again.result.bytes == c.result.bytes) << "the way back leads to the map before it was linked";
}

// The same for all our sample maps, which hold every kind of content.
TEST(Cook, SampleMapsComeBackUnchanged) {
  size_t maps = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(MERIDIAN_SOURCE_DIR) + "/samples/data/maps")) {
    SCOPED_TRACE(file.path().string());
    std::ifstream stream(file.path(), std::ios::binary);
    std::stringstream text;
    text << stream.rdbuf();
    const Compiled c = compile(kImap, text.str());
    ASSERT_FALSE(c.result.bytes.empty());
    Types types;
    CookReport report;
    const std::vector<uint8_t> cooked = cook(c.result.bytes, every_archetype(types), &report);
    EXPECT_EQ(dump_of(cooked), dump_of(c.result.bytes));
    EXPECT_TRUE(compile(kImap, dump_of(cooked)).result.bytes == compile(kImap, dump_of(c.result.bytes)).result.bytes);
    EXPECT_TRUE(cook(cooked, every_archetype(types)) == cooked);
    ++maps;
  }
  EXPECT_GT(maps, 10u);
}

// SCAN-8: LOD sets come from the linker; D and the rows stand in the map, and links go by them.
TEST(Cook, TakesLodSets) {
  const Compiled c = compile(kImap, linked_xml());
  Types types;
  CookInput in = every_archetype(types);
  in.lod_sets = {{1, 55, {{hash_name("qa_child"), 3, 0, 1, 2}}}, {3, 250, {}}};
  Editable memory({});
  const std::vector<uint8_t> cooked = cook(c.result.bytes, in);
  const schema::MapData& map = root(cooked, memory);
  ASSERT_EQ(map.lod_sets()->size(), 2u);
  const schema::LodSet& set = *map.lod_sets()->Get(0);
  EXPECT_EQ(set.parent_index(), 1u);
  EXPECT_EQ(set.distance(), 55);
  ASSERT_EQ(set.children()->size(), 1u);
  const schema::LodSetChildren& row = *set.children()->Get(0);
  EXPECT_EQ(row.map(), hash_name("qa_child").value);
  EXPECT_EQ(row.required(), 3u);
  EXPECT_EQ(row.optional_high(), 0u);
  EXPECT_EQ(row.optional_medium(), 1u);
  EXPECT_EQ(row.optional_low(), 2u);
  const CookedView view = cooked_view(map);
  ASSERT_EQ(view.links.size(), 2u);
  EXPECT_EQ(view.links[0].parent_index, 1u);
  EXPECT_EQ(view.links[0].distance, 55);
  EXPECT_EQ(view.links[0].up, 1) << "entity 1 is a child of entity 3";
  EXPECT_EQ(view.links[1].distance, 250);
  CookInput keep = every_archetype(types);
  EXPECT_TRUE(cook(cooked, keep) == cooked) << "not given: kept";
  keep.lod_sets.emplace();
  EXPECT_TRUE(cook(cooked, keep) == cook(c.result.bytes, every_archetype(types))) << "given none: gone";
}

TEST(Cook, SaysWhatIsWrong) {
  const Compiled c = compile(kImap, linked_xml());
  Types types;
  CookInput in = every_archetype(types);
  in.lod_sets = {{9, 55, {}}};
  EXPECT_EQ(error_of(c.result.bytes, in), "LOD set 0: parent 9 is none of 5 entities");
  in.lod_sets = {{3, 55, {}}, {3, 55, {}}};
  EXPECT_EQ(error_of(c.result.bytes, in), "LOD set 1: sets do not ascend by parent");
  for (const float bad : {0.f, -1.f, HUGE_VALF, std::nanf("")}) {
    in.lod_sets = {{3, bad, {}}};
    EXPECT_EQ(error_of(c.result.bytes, in), "LOD set 0: the switch distance is not above 0");
  }
  EXPECT_EQ(error_of(compile(kItyp, types_of(archetype(""))).result.bytes, in), "not a map of this version");
}

// CORE-11: what is not known never shows, and is told.
TEST(Cook, UnknownArchetypesAreNeverVisible) {
  const Compiled c = compile(kImap, entities(at(1) + at(2, "<scaleZ value=\"0\"/>") + at(3)));
  const ArchetypeTraits known = crate();
  CookInput in;
  in.archetype = [](NameHash) { return nullptr; };
  CookReport report;
  Editable memory({});
  const std::vector<uint8_t> cooked = cook(c.result.bytes, in, &report);
  EXPECT_EQ(cooked_view(root(cooked, memory)).containers[0].bounds, DescBounds{});
  ASSERT_EQ(report.findings.size(), 3u);
  EXPECT_EQ(report.findings[0].status, DescStatus::unknown_archetype);
  in.archetype = [&](NameHash) { return &known; };
  const uint64_t before = report.fingerprint;
  cook(c.result.bytes, in, &report);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].entity, 1u);
  EXPECT_EQ(report.findings[0].status, DescStatus::bad_scale);
  EXPECT_NE(report.fingerprint, before);
}

TEST(Cook, MapWithoutEntities) {
  const Compiled c = compile(kImap, map_of(""));
  Types types;
  Editable memory({});
  const std::vector<uint8_t> cooked = cook(c.result.bytes, every_archetype(types));
  EXPECT_EQ(cooked_view(root(cooked, memory)).containers.size(), 0u);
}

// FMT-2: the attribute `cooked`. An element of this name is not read; JSON and differences show the field.
TEST(Cook, CookedFieldsAreNotInXml) {
  const Compiled c = compile(kImap, map_of("<cooked><slots>1</slots></cooked><lod_sets/>"));
  EXPECT_EQ(c.places().size(), 2u) << c.all();
  for (const std::string& place : c.places()) EXPECT_TRUE(contains(place, "XML002")) << place;
  ASSERT_FALSE(c.result.bytes.empty());
  Editable memory({});
  EXPECT_EQ(root(c.result.bytes, memory).cooked(), nullptr);

  const Compiled map = compile(kImap, linked_xml());
  Types types;
  const auto plain = load(map.result.bytes), linked = load(cook(map.result.bytes, every_archetype(types)));
  EXPECT_FALSE(contains(tools::dump_json(*plain), "\"layout_version\""));
  EXPECT_TRUE(contains(tools::dump_json(*linked), "\"layout_version\": 1"));
  using Lines = std::vector<std::string>;
  EXPECT_EQ(tools::diff_lines(*plain, *linked), (Lines{"cooked: (none) -> (made)"}));
  EXPECT_EQ(tools::diff_lines(*linked, *linked), Lines{});
  CookInput in = every_archetype(types);
  in.parent = [](uint32_t) { return LodParent{{1, 2, 3}, 44}; };
  const auto other = load(cook(map.result.bytes, in));
  const Lines lines = tools::diff_lines(*linked, *other);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_TRUE(contains(lines[0], "cooked.fingerprint: "));
  EXPECT_EQ(lines[1], "cooked.containers: (1 elements) -> (1 elements)");
  EXPECT_EQ(lines[4], "cooked.links: (1 elements) -> (2 elements)");
}

// FMT-21, REL-4: each kind of index that lies is refused, with the name of its field.
TEST(CookedCheck, LyingIndicesAreRefused) {
  const Compiled c = compile(kImap, linked_xml());
  Types types;
  CookInput in = every_archetype(types);
  in.lod_sets = {{1, 55, {}}, {3, 250, {}}};
  const std::vector<uint8_t> cooked = cook(c.result.bytes, in);
  const auto refused = [&](const std::function<void(schema::MapData&)>& change) {
    Editable bytes(cooked);
    EXPECT_TRUE(bytes.open().ok());
    change(bytes.map());
    const Status status = bytes.open();
    EXPECT_EQ(status.code, StatusCode::bad_value);
    return status.name.value;
  };
  const auto name = [](const char* field) { return hash_type(field).value; };
  const auto container = [](schema::MapData& m) {
    return m.mutable_cooked()->mutable_containers()->GetMutableObject(0);
  };
  const auto lanes = [](schema::MapData& m) { return m.mutable_cooked()->mutable_lanes(); };
  using Map = schema::MapData;
  EXPECT_EQ(refused([&](Map& m) { container(m)->mutate_count(6); }), name("slots")) << "filler taken in";
  EXPECT_EQ(refused([&](Map& m) { container(m)->mutate_count(4); }), name("lanes"));
  EXPECT_EQ(refused([&](Map& m) { container(m)->mutate_count(0); }), name("containers"));
  EXPECT_EQ(refused([&](Map& m) { container(m)->mutate_count(321); }), name("containers"));
  EXPECT_EQ(refused([&](Map& m) { container(m)->mutate_first_slot(16); }), name("containers"));
  EXPECT_EQ(refused([&](Map& m) { container(m)->mutate_first_sub_block(1); }), name("containers"));
  EXPECT_EQ(refused([&](Map& m) { container(m)->mutate_sub_block_count(2); }), name("containers"));
  EXPECT_EQ(refused([&](Map& m) { m.mutable_cooked()->mutable_slots()->Mutate(0, 77); }), name("slots"));
  const auto put = [&](Map& m, uint32_t lane_byte, uint32_t slot, uint32_t size, uint32_t value) {
    std::memcpy(reinterpret_cast<uint8_t*>(lanes(m)->data()) + lane_byte * 16 + slot * size, &value, size);
  };
  EXPECT_EQ(refused([&](Map& m) { put(m, 24, 0, 4, 5); }), name("slots")) << "entity outside";
  EXPECT_EQ(refused([&](Map& m) {
              put(m, 24, 0, 4, 1);
              put(m, 24, 1, 4, 1);
            }),
            name("slots"))
      << "one entity twice";
  EXPECT_EQ(refused([&](Map& m) { put(m, 24, 15, 4, 0); }), name("lanes")) << "filler with an entity";
  EXPECT_EQ(refused([&](Map& m) { put(m, 36, 15, 2, 9); }), name("lanes")) << "filler with a distance";
  EXPECT_EQ(refused([&](Map& m) { put(m, 38, 15, 2, 2); }), name("lanes")) << "filler with a mask";
  EXPECT_EQ(refused([&](Map& m) { put(m, 34, 0, 2, 2); }), name("lanes")) << "LOD set outside";
  EXPECT_EQ(refused([&](Map& m) { put(m, 0, 3, 4, 0x7FC00000); }), name("lanes")) << "NaN";
  EXPECT_EQ(refused([&](Map& m) { put(m, 28, 3, 2, 0x7C00); }), name("lanes")) << "infinite pivot";
  EXPECT_EQ(refused([&](Map& m) { put(m, 12, 3, 4, 0xBF800000); }), name("lanes")) << "negative half extent";
  EXPECT_EQ(refused([&](Map& m) { put(m, 42, 3, 1, 7 << 5); }), name("lanes")) << "level 7";
  const auto link = [](Map& m, uint32_t i) { return m.mutable_cooked()->mutable_links()->GetMutableObject(i); };
  EXPECT_EQ(refused([&](Map& m) { link(m, 0)->mutate_parent_index(5); }), name("links"));
  EXPECT_EQ(refused([&](Map& m) { link(m, 0)->mutate_up(2); }), name("links"));
  EXPECT_EQ(refused([&](Map& m) { link(m, 1)->mutate_up(0); }), name("links")) << "a circle";
  EXPECT_EQ(refused([&](Map& m) { link(m, 0)->mutate_up(0); }), name("links")) << "its own";
  EXPECT_EQ(refused([&](Map& m) { link(m, 0)->mutate_distance(0); }), name("links"));
  const auto set = [](Map& m, uint32_t i) { return m.mutable_lod_sets()->GetMutableObject(i); };
  EXPECT_EQ(refused([&](Map& m) { set(m, 1)->mutate_parent_index(5); }), name("lod_sets"));
  EXPECT_EQ(refused([&](Map& m) { set(m, 1)->mutate_parent_index(1); }), name("lod_sets"));
  EXPECT_EQ(refused([&](Map& m) { set(m, 1)->mutate_distance(-1); }), name("lod_sets"));
  // Another version is nobody's to read, so nobody checks it.
  Editable other(cooked);
  other.map().mutable_cooked()->mutate_layout_version(kCookedLayoutVersion + 1);
  container(other.map())->mutate_count(0);
  EXPECT_TRUE(other.open().ok());
}

// REL-4: every single bit of the payload, sealed again: refused, or all that it leads to lies inside.
TEST(CookedCheck, EveryBitFlipIsRefusedOrHarmless) {
  const Compiled c = compile(kImap, linked_xml());
  Types types;
  CookInput in = every_archetype(types);
  in.lod_sets = {{1, 55, {{NameHash{5}, 1, 0, 0, 0}}}, {3, 250, {}}};
  Editable bytes(cook(c.result.bytes, in));
  const size_t payload = read_sections(bytes.bytes()).value().payload.size();
  size_t refused = 0;
  for (size_t bit = 0; bit < payload * 8; ++bit) {
    std::byte& byte = bytes.bytes()[bit / 8];
    byte ^= static_cast<std::byte>(1u << bit % 8);
    if (!bytes.open().ok()) {
      ++refused;
    } else if (const schema::MapData& map = bytes.map();
               map.cooked() != nullptr && cooked_blocks_match(map, map.cooked()->fingerprint())) {
      const CookedView view = cooked_view(map);
      std::vector<uint32_t> lanes(view.lanes.size() / 4);
      if (!lanes.empty()) std::memcpy(lanes.data(), view.lanes.data(), view.lanes.size());
      for (const DescContainer& container : view.containers) {
        const DescLanes l = desc_lanes(reinterpret_cast<std::byte*>(lanes.data()) + lane_bytes(container.first_slot),
                                       padded_slots(container.count));
        ASSERT_LE(size_t{container.first_sub_block} + container.sub_block_count, view.sub_blocks.size());
        for (uint32_t i = 0; i < container.count; ++i) {
          ASSERT_LT(l.entity[i], view.slot_of.size());
          ASSERT_EQ(view.slot_of[l.entity[i]], container.first_slot + i);
          if (l.lod_set[i] != kNoLodSet) {
            ASSERT_LT(l.lod_set[i], view.links.size());
          }
        }
      }
    }
    byte ^= static_cast<std::byte>(1u << bit % 8);
  }
  EXPECT_GT(refused, payload);
}

}  // namespace
}  // namespace meridian::test
