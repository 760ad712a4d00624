// SPDX-License-Identifier: MIT
// Rule: STR-6 (loose XML mounted in development builds).
#include "meridian/xml_fallback.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "meridian/base/log.h"
#include "meridian/resource/mount.h"
#include "meridian/schemas/imap_generated.h"
#include "support/pack_maker.h"
#include "support/temp_dir.h"

namespace meridian {
namespace {

using test::TempDir;

constexpr uint32_t kMap = kind_of("IMAP");

/// A map whose flags are `flags`.
std::string map_of(int flags) {
  return "<CMapData>\n <name>town</name>\n <flags value=\"" + std::to_string(flags) +
         "\"/>\n <entities/>\n</CMapData>\n";
}

/// Local files, whose times are fine enough for tests.
XmlFallbackOptions quick() {
  XmlFallbackOptions options;
  options.settle_ms = 20;
  return options;
}

/// Old enough that its times count, and another one for each call.
void age(const std::string& path) {
  static time_t seconds = 1'700'000'000;
  const timespec times[2] = {{++seconds, 0}, {seconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(40));  // its change time is now
}

/// What is logged while it lives. Threads: one.
class LogCapture {
 public:
  LogCapture() {
    set_log_sink({[](void* user, const LogMessage& message) {
                    auto& self = *static_cast<LogCapture*>(user);
                    self.lines.emplace_back(message.text);
                    self.names.push_back(message.name);
                  },
                  this});
  }
  ~LogCapture() { set_log_sink({}); }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;
  std::vector<std::string> lines;
  std::vector<NameHash> names;
};

/// The flags of a map by find, pin, load and open_resource; or the status.
Result<uint32_t> flags_of(const ResourceMounts& mounts, std::string_view name) {
  const Result<PinnedResource> pin = mounts.pin(mounts.find(kMap, hash_name(name)));
  if (!pin.ok()) return pin.status();
  std::span<const std::byte> bytes = pin.value().bytes();
  Result<std::span<std::byte>> loaded = std::span<std::byte>();
  if (!pin.value().is_in_place()) {
    loaded = mounts.load(pin.value(), default_allocator());
    if (!loaded.ok()) return loaded.status();
    bytes = loaded.value();
  }
  const Result<Resource> opened = open_resource(bytes, {.kind = kMap});
  EXPECT_TRUE(opened.ok()) << opened.status().message;
  const Result<uint32_t> out =
      opened.ok() ? Result<uint32_t>(static_cast<uint32_t>(opened.value().root<schema::MapData>()->flags()))
                  : Result<uint32_t>(opened.status());
  if (!pin.value().is_in_place()) default_allocator().deallocate(loaded.value().data(), bytes.size(), kPackAlignment);
  return out;
}

struct Mounts : ResourceMounts {
  Mounts() { EXPECT_TRUE(init({}).ok()); }
};

// STR-6
TEST(XmlFallback, SourcesOverrideAPackAndLeaveAgain) {
  const TempDir folder;
  age(folder.write("sub/Town.ymap.xml", map_of(3)));
  folder.write("props.ytyp.xml", "<CMapTypes><name>props</name><archetypes/></CMapTypes>");
  folder.write("notes.xml", "<notes/>");
  folder.write(".hidden.ymap.xml", map_of(1));
  folder.write("hash_0000ABCD.ymap.xml", map_of(5));
  XmlFallback sources(quick());
  ASSERT_TRUE(sources.scan(folder.path()).ok());
  EXPECT_EQ(sources.count(), 3u);
  EXPECT_EQ(sources.compilations(), 0u);  // not before it is asked for

  // The same map packed, from the source as it was before.
  const TempDir older;
  older.write("town.ymap.xml", map_of(1));
  XmlFallback old(quick());
  ASSERT_TRUE(old.scan(older.path()).ok());
  std::span<std::byte> bytes;
  ASSERT_TRUE(old.load({kMap, hash_name("town")}, default_allocator(), bytes).ok());
  test::PackMaker maker;
  maker.store(kMap, "town", test::text_of(bytes));
  default_allocator().deallocate(bytes.data(), bytes.size(), kPackAlignment);
  const test::PackBuffer pack = maker.make();

  Mounts mounts;
  ASSERT_TRUE(mounts.mount_pack(pack.span()).ok());
  EXPECT_EQ(flags_of(mounts, "town").value(), 1u);
  const MountId id = mounts.mount_source(sources, folder.path().c_str()).value();
  EXPECT_EQ(flags_of(mounts, "town").value(), 3u);
  EXPECT_TRUE(mounts.find(kMap, {0xABCD}));
  EXPECT_TRUE(mounts.find(kind_of("ITYP"), hash_name("props")));
  EXPECT_EQ(sources.compilations(), 1u);
  ASSERT_TRUE(mounts.unmount(id).ok());
  EXPECT_EQ(flags_of(mounts, "town").value(), 1u);
}

// STR-6
TEST(XmlFallback, AFileIsCompiledAgainWhenItChanged) {
  const TempDir folder;
  const std::string path = folder.write("town.ymap.xml", map_of(3));
  age(path);
  XmlFallback sources(quick());
  ASSERT_TRUE(sources.scan(folder.path()).ok());
  Mounts mounts;
  ASSERT_TRUE(mounts.mount_source(sources, "xml").ok());
  for (int round = 0; round < 3; ++round) EXPECT_EQ(flags_of(mounts, "town").value(), 3u);
  EXPECT_EQ(sources.compilations(), 1u);
  folder.write("town.ymap.xml", map_of(7));  // of the same size
  age(path);
  for (int round = 0; round < 3; ++round) EXPECT_EQ(flags_of(mounts, "town").value(), 7u);
  EXPECT_EQ(sources.compilations(), 2u);
}

// A file so fresh that its next change may have the same time is not taken from memory.
TEST(XmlFallback, QuickChangesOfOneSizeAreSeen) {
  const TempDir folder;
  folder.write("town.ymap.xml", map_of(0));
  XmlFallback sources(quick());
  ASSERT_TRUE(sources.scan(folder.path()).ok());
  Mounts mounts;
  ASSERT_TRUE(mounts.mount_source(sources, "xml").ok());
  for (int flags = 1; flags <= 8; flags *= 2) {
    folder.write("town.ymap.xml", map_of(flags));
    EXPECT_EQ(flags_of(mounts, "town").value(), static_cast<uint32_t>(flags));
  }
}

TEST(XmlFallback, ErrorsAreSaidOnceWithTheirPlaceAndBreakNothingElse) {
  const TempDir folder;
  // flags at line 3, column 15; the other file is sound.
  const std::string path = folder.write(
      "bad.ymap.xml", "<CMapData>\n <name>bad</name>\n <flags value=\"many\"/>\n <entities/>\n</CMapData>\n");
  age(path);
  folder.write("broken.ymap.xml", "<CMapData");
  folder.write("good.ymap.xml", map_of(9));
  XmlFallback sources(quick());
  ASSERT_TRUE(sources.scan(folder.path()).ok());
  EXPECT_EQ(sources.count(), 3u);
  Mounts mounts;
  ASSERT_TRUE(mounts.mount_source(sources, "xml").ok());
  LogCapture log;
  for (int round = 0; round < 2; ++round) {
    const Status status = flags_of(mounts, "bad").status();
    EXPECT_EQ(status.code, StatusCode::bad_value);
    EXPECT_EQ(status.detail, 1u);
    EXPECT_EQ(status.name, hash_name("bad"));
  }
  const auto is_error = [&](const std::string& line) { return line.find(path + ":3:") == 0; };
  EXPECT_EQ(std::count_if(log.lines.begin(), log.lines.end(), is_error), 1);
  const auto line = std::find_if(log.lines.begin(), log.lines.end(), is_error);
  ASSERT_NE(line, log.lines.end());
  EXPECT_NE(line->find(": error: "), std::string::npos) << *line;
  EXPECT_NE(line->find("[XML005 not-a-number]"), std::string::npos) << *line;
  EXPECT_EQ(log.names[static_cast<size_t>(line - log.lines.begin())], hash_name("bad"));
  EXPECT_EQ(flags_of(mounts, "broken").status().code, StatusCode::bad_value);
  EXPECT_EQ(flags_of(mounts, "good").value(), 9u);
  folder.write("bad.ymap.xml", map_of(2));  // put right while it is mounted
  EXPECT_EQ(flags_of(mounts, "bad").value(), 2u);
}

TEST(XmlFallback, FilesThatGoOrBecomeSomethingElseAreSaid) {
  const TempDir folder;
  folder.write("goes.ymap.xml", map_of(1));
  folder.write("turns.ymap.xml", map_of(1));
  XmlFallback sources(quick());
  ASSERT_TRUE(sources.scan(folder.path()).ok());
  Mounts mounts;
  ASSERT_TRUE(mounts.mount_source(sources, "xml").ok());
  std::filesystem::remove(folder.path("goes.ymap.xml"));
  folder.write("turns.ymap.xml", "<CMapTypes><name>turns</name><archetypes/></CMapTypes>");
  LogCapture log;
  EXPECT_EQ(flags_of(mounts, "goes").status().code, StatusCode::not_found);
  EXPECT_EQ(flags_of(mounts, "turns").status().code, StatusCode::wrong_kind);
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_EQ(log.lines[0].find(folder.path("turns.ymap.xml") + ": error: "), 0u) << log.lines[0];
  EXPECT_EQ(sources.load({kMap, {1}}, default_allocator(), *std::make_unique<std::span<std::byte>>()).code,
            StatusCode::not_found);
}

TEST(XmlFallback, SaysWhyThereAreNoSourcesAndOfTwins) {
  const TempDir folder;
  XmlFallback sources(quick());
  EXPECT_EQ(sources.scan(folder.path("absent")).code, StatusCode::not_found);
  EXPECT_EQ(sources.scan(folder.write("file.xml", "")).code, StatusCode::wrong_kind);
  folder.write("a/town.ymap.xml", map_of(1));
  folder.write("b/town.ymap.xml", map_of(2));
  LogCapture log;
  EXPECT_TRUE(sources.scan(folder.path()).ok());
  EXPECT_EQ(sources.count(), 1u);
  const std::vector<std::string> expected = {
      folder.path("b/town.ymap.xml") + ": left out: " + folder.path("a/town.ymap.xml") + " has the same kind and name"};
  EXPECT_EQ(log.lines, expected);
}

// Several loaders at once: each file is compiled once.
TEST(XmlFallback, LoadersShareWhatOneCompiled) {
  const TempDir folder;
  for (int i = 0; i < 4; ++i) age(folder.write("map_" + std::to_string(i) + ".ymap.xml", map_of(i)));
  XmlFallback sources(quick());
  ASSERT_TRUE(sources.scan(folder.path()).ok());
  Mounts mounts;
  ASSERT_TRUE(mounts.mount_source(sources, "xml").ok());
  std::atomic<uint32_t> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; i < t + 20; ++i) {
        const Result<uint32_t> flags = flags_of(mounts, "map_" + std::to_string(i % 4));
        if (!flags.ok() || flags.value() != static_cast<uint32_t>(i % 4)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_EQ(sources.compilations(), 4u);
}

}  // namespace
}  // namespace meridian
