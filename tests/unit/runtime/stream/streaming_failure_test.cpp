// SPDX-License-Identifier: MIT
// Rules: STR-4 (a failed read or a damaged resource leaves its slot failed, with a message and a policy), STR-6
// (unmounting asks for everything to leave first; loose files, sources), STR-5 (load_now).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "meridian/stream/streaming.h"
#include "support/captured.h"
#include "support/stream_kit.h"
#include "support/temp_dir.h"

namespace meridian {
namespace {

using test::ManualIo;
using test::StreamKit;
using test::StreamThings;

constexpr auto kCode = StreamKeeper::code;

// STR-4: four more times, after pauses that double; one message for all.
TEST(StreamingFailure, AFailedReadIsTriedAgainAfterPauses) {
  test::CapturedLog log;
  ManualIo io;
  StreamKit kit({.io = &io, .retry = {.io_retries = 3, .first_pause = 1}});
  kit.add("Things", {.slots = 1});
  kit.mount_all();
  kit.start();
  kit.engine.keep(0, kCode);
  double now = 0;
  std::vector<double> begun;
  for (int i = 0; i < 200; ++i) {
    now += 0.25;
    kit.engine.update({.seconds = 0.25f});
    if (io.count() == 0) continue;
    begun.push_back(now);
    io.fail_at(0);
  }
  // Seen 0.25 s after each: pauses of 1, 2 and 4 s.
  EXPECT_EQ(begun, (std::vector<double>{0.25, 1.5, 3.75, 8}));
  EXPECT_EQ(kit.engine.state(0), StreamState::failed);
  EXPECT_EQ(kit.engine.why(0).status.code, StatusCode::io_error);
  EXPECT_EQ(log.count(), 1u) << log.all();
  EXPECT_EQ(log.said()[0].name, hash_name("thing0"));
  kit.engine.request(0);
  kit.updates(20);
  EXPECT_EQ(kit.engine.state(0), StreamState::failed);  // until something is mounted
  kit.engine.retry_failed();
  kit.update();
  io.finish_all();
  kit.update();
  EXPECT_TRUE(kit.engine.is_loaded(0));
}

// STR-4: also where it was only requested once, and where what depends on it comes meanwhile.
TEST(StreamingFailure, APauseFailsNobodyElse) {
  const test::CapturedLog log;
  ManualIo io;
  StreamKit kit({.io = &io, .retry = {.io_retries = 3, .first_pause = 1}});
  StreamThings& things = kit.add("Things", {.slots = 2});
  things.at(1).on = {{0, false}};
  kit.mount_all();
  kit.start();
  kit.engine.request(0);
  kit.update();
  io.fail_at(0);
  kit.update();
  EXPECT_EQ(kit.engine.state(0), StreamState::failed);
  kit.engine.cancel(0);
  kit.engine.keep(1, kCode);
  kit.update();
  io.finish_all();
  kit.update();
  EXPECT_EQ(kit.engine.why(1).reason, StreamReason::waits_for);
  kit.engine.update({.seconds = 2});
  io.finish_all();
  kit.updates(2);
  EXPECT_TRUE(kit.engine.is_loaded(0));
  EXPECT_TRUE(kit.engine.is_loaded(1));

  kit.engine.reload(0);
  kit.engine.drop(1, kCode);
  kit.updates(2);
  kit.engine.request(0);
  kit.update();
  io.fail_at(0);
  kit.update();
  kit.engine.update({.seconds = 2});
  io.finish_all();
  kit.update();
  EXPECT_TRUE(kit.engine.is_loaded(0));
}

struct Fault {
  const char* name;
  void (*make)(StreamKit& kit, StreamThings& things);
  StatusCode code;
};

// STR-4: what fails for good, and what depends on it.
TEST(StreamingFailure, BadDataFailsItsSlotAndWhatDependsOnIt) {
  const Fault faults[] = {
      {"missing", [](StreamKit&, StreamThings& things) { things.at(0).name = "nowhere"; }, StatusCode::not_found},
      {"damaged",
       [](StreamKit& kit, StreamThings&) {
         const std::string_view text(reinterpret_cast<const char*>(kit.pack_bytes(0).data()), kit.pack_bytes(0).size());
         kit.pack_bytes(0)[text.find("thing0:")] = std::byte{'T'};
       },
       StatusCode::bad_checksum},
      {"not liked", [](StreamKit&, StreamThings& things) { things.at(0).prepared = StatusCode::too_small; },
       StatusCode::too_small},
      {"not placed",
       [](StreamKit&, StreamThings& things) {
         things.at(0).places = {StreamStep::Kind::more, StreamStep::Kind::failed};
       },
       StatusCode::bad_structure},
  };
  for (const Fault& fault : faults) {
    for (const bool in_place : {true, false}) {
      SCOPED_TRACE(fault.name);
      test::CapturedLog log;
      StreamKit kit;
      StreamThings& things = kit.add("Things", {.slots = 3});
      things.at(1).on = {{0, false}};
      things.at(2).on = {{1, false}};
      kit.mount_all(64, in_place);
      kit.start();
      fault.make(kit, things);
      kit.engine.keep(2, kCode);
      kit.updates(8);
      for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(kit.engine.state(i), StreamState::failed);
      EXPECT_EQ(kit.engine.why(0).status.code, fault.code);
      EXPECT_EQ(kit.engine.why(0).status.name, things.slot_name(0));
      EXPECT_EQ(kit.engine.why(1).cause, 0u);
      EXPECT_EQ(kit.engine.why(2).cause, 1u);
      EXPECT_EQ(things.live(), 0u);
      EXPECT_EQ(kit.engine.resident_bytes(), 0u);
      EXPECT_EQ(log.count(), 3u) << log.all();
      EXPECT_EQ(kit.engine.statistics(0).failures, 3u);
      kit.updates(20);
      EXPECT_EQ(log.count(), 3u);  // told once
      if (fault.code == StatusCode::bad_checksum) continue;
      things.at(0).name = "thing0";
      things.at(0).prepared = StatusCode::ok;
      kit.engine.retry_failed();
      kit.updates(4);
      EXPECT_TRUE(kit.engine.is_loaded(2));
    }
  }
}

// STR-4
TEST(StreamingFailure, ADeviceMayRefuse) {
  const test::CapturedLog log;
  ManualIo io;
  StreamKit kit({.io = &io});
  kit.add("Things", {.slots = 1});
  kit.mount_all();
  kit.start();
  io.refuses = {StatusCode::out_of_slots, "the device is full"};
  kit.engine.keep(0, kCode);
  kit.updates(2);
  EXPECT_EQ(kit.engine.state(0), StreamState::failed);
  EXPECT_EQ(kit.engine.why(0).status.code, StatusCode::out_of_slots);
  EXPECT_EQ(kit.engine.statistics().in_flight, 0u);
  io.refuses = {};
  kit.engine.retry_failed();
  kit.update();
  io.finish_all();
  kit.update();
  EXPECT_TRUE(kit.engine.is_loaded(0));
}

// STR-6: from each state that a slot of the mount may be in, kept or not, with a dependant from another mount.
TEST(StreamingFailure, AMountIsEmptiedBeforeItGoes) {
  for (uint32_t stage = 0; stage < 6; ++stage) {
    for (const bool in_place : {true, false}) {
      SCOPED_TRACE(testing::Message() << "stage " << stage);
      ManualIo io;
      StreamKit kit({.io = &io});
      StreamThings& things = kit.add("Things", {.slots = 2});
      things.at(1).on = {{0, false}};
      things.at(0).chunks = 2;
      kit.mount({{"thing0", "old"}, {"thing1", "map"}}, in_place);
      const MountId patch = kit.mount({{"thing0", "newer"}}, in_place);
      kit.start();
      things.at(0).text = "newer";
      kit.engine.keep(stage == 5 ? 0 : 1, kCode);  // 0: before the first update
      if (stage >= 1) kit.update();                // 1: is read
      if (stage >= 2) io.finish_all();             // 2: was read, and nobody saw it
      if (stage == 3) kit.update(1);               // 3: half placed
      if (stage >= 4) kit.updates(3);              // 4: loaded, with a dependant
      if (stage == 5) kit.engine.drop(0, kCode);   // 5: idle
      if (stage == 4) {
        EXPECT_TRUE(kit.engine.is_loaded(1));
      }
      things.hide(patch);
      things.at(0).text = stage == 0 ? "old" : "";
      bool is_empty = false;
      for (int i = 0; i < 6 && !is_empty; ++i) {
        is_empty = kit.engine.evacuate(patch);
        if (is_empty) break;
        kit.update();
        if (i == 3) io.finish_all();
      }
      ASSERT_TRUE(is_empty);
      ASSERT_TRUE(kit.mounts.unmount(patch).ok());
      things.at(0).text = "old";  // it shows again
      for (int i = 0; i < 6; ++i) {
        io.finish_all();
        kit.update();
      }
      EXPECT_EQ(kit.engine.is_loaded(1), stage != 5);
    }
  }
}

/// Makes text of a length that nobody knows before.
class Generated final : public SourceProvider {
 public:
  void list(void (*found)(void*, PackKey), void* user) override {
    found(user, {test::kThingKind, hash_name("thing0")});
  }
  Status load(PackKey, Allocator& memory, std::span<std::byte>& out) override {
    void* const block = memory.allocate(size, kPackAlignment);
    out = {static_cast<std::byte*>(block), size};
    std::memset(block, 'x', size);
    return {};
  }
  size_t size = 300;
};

// STR-6, STR-9: a source's resource is counted when it is there, and lives as long as its slot.
TEST(StreamingFailure, SourcesTellSizesLate) {
  Generated source;
  StreamKit kit;
  StreamThings& things = kit.add("Things", {.slots = 1, .leaves_at_once = true});
  ASSERT_TRUE(kit.mounts.mount_source(source, "generated").ok());
  kit.start();
  for (const uint32_t guess : {0u, 10u, 1000u}) {
    things.at(0).cost.bytes = guess;
    kit.engine.keep(0, kCode);
    kit.update();
    kit.update();
    EXPECT_TRUE(kit.engine.is_loaded(0));
    EXPECT_EQ(kit.engine.bytes_of(0).size(), 300u);
    EXPECT_EQ(kit.engine.resident_bytes(), 300u);
    kit.engine.drop(0, kCode);
    kit.update();
    EXPECT_EQ(kit.engine.statistics(0).cached, 1u);
    kit.engine.reload(0);  // nobody wants it: the bytes go
    EXPECT_EQ(kit.engine.resident_bytes(), 0u);
  }
}

// STR-6, STR-9: a loose file's size is looked at by the loader; the second time there is room for it, within budgets.
TEST(StreamingFailure, LooseFilesAreReadOnceTheirSizeIsKnown) {
  const test::TempDir dir;
  constexpr uint32_t kMap = kind_of("IMAP");
  dir.write("town.imap", test::sealed(kMap, std::string(500, 't')));
  const size_t size = test::sealed(kMap, std::string(500, 't')).size();
  ResourceMounts mounts;
  ASSERT_TRUE(mounts.init({}).ok());
  const Result<MountId> folder = mounts.mount_folder(dir.path().c_str());
  ASSERT_TRUE(folder.ok());
  const ResourceLocation town = mounts.find(kMap, hash_name("town"));
  const Result<ResourceShape> shape = mounts.shape(town);  // of the kind, and nothing else
  ASSERT_TRUE(shape.ok());
  EXPECT_EQ(shape.value().kind, MountKind::folder);
  EXPECT_FALSE(shape.value().is_in_place);
  EXPECT_EQ(shape.value().raw_size, 0u);

  struct Towns final : StreamModule {
    explicit Towns(const ResourceMounts& all) : StreamModule("Towns"), mounts(all) {}
    NameHash slot_name(uint32_t) const override { return hash_name("town"); }
    ResourceLocation locate(uint32_t) const override { return mounts.find(kind_of("IMAP"), hash_name("town")); }
    StreamCost cost(uint32_t) const override { return {.bytes = guess}; }
    StreamStep place(uint32_t, const StreamPayload& payload) override {
      placed = payload.bytes.size();
      return {};
    }
    StreamStep remove(uint32_t) override { return {}; }
    const ResourceMounts& mounts;
    uint32_t guess = 0;
    size_t placed = 0;
  };
  for (const uint32_t guess : {0u, 40u, 5000u}) {
    SCOPED_TRACE(guess);
    Towns towns(mounts);
    towns.guess = guess;
    test::CheckedMemory memory;
    SerialIo io;
    StreamingEngine engine;
    ASSERT_TRUE(engine.init({.mounts = &mounts, .io = &io, .budget = {.bytes = 6000}}, memory).ok());
    ASSERT_TRUE(engine.add_module(towns, {.slots = 1}).ok());
    ASSERT_TRUE(engine.start().ok());
    engine.keep(0, kCode);
    for (int i = 0; i < 4; ++i) engine.update({});
    EXPECT_TRUE(engine.is_loaded(0));
    EXPECT_EQ(towns.placed, size);
    EXPECT_EQ(engine.resident_bytes(), guess > size ? guess : size);  // as much as was taken for it
    engine.shutdown();
    EXPECT_EQ(memory.bytes(), 0u);

    // A budget that does not bear its true size.
    ASSERT_TRUE(engine.init({.mounts = &mounts, .io = &io, .budget = {.bytes = size - 1}}, memory).ok());
    ASSERT_TRUE(engine.add_module(towns, {.slots = 1}).ok());
    ASSERT_TRUE(engine.start().ok());
    engine.keep(0, kCode);
    for (int i = 0; i < 6; ++i) engine.update({});
    EXPECT_EQ(engine.why(0).denial, StreamDenial::bytes);
    EXPECT_LT(engine.resident_bytes(), size);
  }
  EXPECT_TRUE(mounts.unmount(folder.value()).ok());
  EXPECT_EQ(mounts.shape(town).status().code, StatusCode::not_found);
  EXPECT_EQ(mounts.shape({}).status().code, StatusCode::not_found);
}

TEST(StreamingFailure, ShapesOfEntriesAreThoseOfTheirPack) {
  StreamKit kit;
  kit.mount({{"a", "12345"}});
  kit.mount({{"b", "123"}}, /*in_place=*/false);
  const Result<ResourceShape> a = kit.mounts.shape(kit.mounts.find(test::kThingKind, hash_name("a")));
  const Result<ResourceShape> b = kit.mounts.shape(kit.mounts.find(test::kThingKind, hash_name("b")));
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_TRUE(a.value().is_in_place);
  EXPECT_EQ(a.value().raw_size, 5u);
  EXPECT_FALSE(b.value().is_in_place);
  EXPECT_EQ(b.value().raw_size, 3u);
  EXPECT_EQ(b.value().kind, MountKind::pack);
}

// STR-5
TEST(StreamingFailure, LoadNowLoadsBeforeItReturns) {
  for (const bool leaves : {false, true}) {
    StreamKit kit;
    StreamThings& things = kit.add("Things", {.slots = 2, .leaves_at_once = leaves});
    things.at(1).on = {{0, false}};
    things.at(1).chunks = 5;
    kit.mount_all();
    kit.start();
    EXPECT_TRUE(kit.engine.load_now(1).ok());
    EXPECT_TRUE(things.at(1).is_live);
    EXPECT_TRUE(kit.engine.is_loaded(1));
    EXPECT_EQ(kit.engine.statistics().stalls, 1u);
    EXPECT_TRUE(kit.engine.load_now(1).ok());
    EXPECT_EQ(kit.engine.statistics().stalls, 1u);
    kit.engine.keep(1, kCode);
    kit.engine.drop(1, kCode);
    kit.updates(3);
    EXPECT_EQ(kit.engine.is_loaded(1), !leaves);
  }
}

// STR-5, STR-9: or says why not, and takes its request back.
TEST(StreamingFailure, LoadNowSaysWhyNot) {
  const test::CapturedLog log;
  StreamKit kit({.budget = {.bytes = 150}});
  StreamThings& things = kit.add("Things", {.slots = 5});
  kit.mount_all(100);
  kit.start();
  kit.engine.keep(0, kCode);
  kit.updates(2);
  Status status = kit.engine.load_now(1);
  EXPECT_EQ(status.code, StatusCode::out_of_slots);
  EXPECT_EQ(status.detail, static_cast<uint64_t>(StreamDenial::bytes));
  EXPECT_EQ(kit.engine.state(1), StreamState::not_loaded);
  kit.engine.set_budget({});
  things.at(1).prepared = StatusCode::wrong_kind;
  EXPECT_EQ(kit.engine.load_now(1).code, StatusCode::wrong_kind);
  things.at(2).on = {{3, false}};
  things.at(3).on = {{2, false}};
  EXPECT_FALSE(kit.engine.load_now(2).ok());
  things.at(4).places.assign(20, StreamStep::Kind::blocked);
  EXPECT_EQ(kit.engine.load_now(4).code, StatusCode::in_use);
  test::BrokenContracts contracts;
  EXPECT_EQ(kit.engine.load_now(99).code, StatusCode::bad_value);
  EXPECT_TRUE(test::broke(contracts, 1));
}

}  // namespace
}  // namespace meridian
