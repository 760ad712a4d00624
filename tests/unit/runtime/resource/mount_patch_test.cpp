// SPDX-License-Identifier: MIT
// Rules: PACK-5 (patches), STR-6 (mount order), P089 (overrides undone).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "meridian/resource/mount.h"
#include "support/mount_kit.h"

namespace meridian {
namespace {

using test::contents;
using test::PackBuffer;
using test::PackMaker;

constexpr uint32_t kMap = kind_of("IMAP");

uint64_t content_of(const PackBuffer& pack) { return open_pack(pack.span()).value().content_hash(); }

PackBuffer base_pack() {
  PackMaker maker;
  maker.store(kMap, "stays", "stays");
  maker.store(kMap, "changes", "old");
  maker.store(kMap, "goes", "goes");
  return maker.make();
}

/// What base_pack() becomes.
PackMaker first_patch(uint64_t base) {
  PackMaker maker;
  maker.set_base(base);
  maker.store(kMap, "changes", "new");
  maker.store(kMap, "comes", "comes");
  maker.removed().push_back({kMap, hash_name("goes")});
  return maker;
}

struct Mounts : ResourceMounts {
  Mounts() { EXPECT_TRUE(init({}).ok()); }
  /// "stays changes goes comes" as they are found.
  std::string all() const {
    std::string out;
    for (const char* name : {"stays", "changes", "goes", "comes"}) out += contents(*this, kMap, name) + " ";
    return out;
  }
};

// PACK-5, P089
TEST(MountPatch, ChangesItsBaseAndUndoesItAll) {
  const PackBuffer base = base_pack(), patch = first_patch(content_of(base)).make();
  Mounts mounts;
  ASSERT_TRUE(mounts.mount_pack(base.span()).ok());
  EXPECT_EQ(mounts.all(), "stays old goes - ");
  const Result<MountId> id = mounts.mount_pack(patch.span());
  ASSERT_TRUE(id.ok()) << id.status().message;
  EXPECT_EQ(mounts.all(), "stays new - comes ");
  ASSERT_TRUE(mounts.unmount(id.value()).ok());
  EXPECT_EQ(mounts.all(), "stays old goes - ");
}

// PACK-5
TEST(MountPatch, WithoutItsBaseIsRefusedUnlessAskedFor) {
  const PackBuffer base = base_pack(), patch = first_patch(content_of(base)).make();
  PackMaker other_maker;
  other_maker.store(kMap, "goes", "other");
  const PackBuffer other = other_maker.make();
  Mounts mounts;
  ASSERT_TRUE(mounts.mount_pack(other.span()).ok());
  const Status status = mounts.mount_pack(patch.span()).status();
  EXPECT_EQ(status.code, StatusCode::not_found);
  EXPECT_EQ(status.detail, content_of(base));
  EXPECT_EQ(mounts.all(), "- - other - ");
  const Result<MountId> forced = mounts.mount_pack(patch.span(), {.any_base = true});
  ASSERT_TRUE(forced.ok());
  EXPECT_EQ(mounts.all(), "- new - comes ");
}

TEST(MountPatch, SaysWhatItTakesAway) {
  const PackBuffer base = base_pack(), patch = first_patch(content_of(base)).make();
  Mounts mounts;
  const Result<MountId> below = mounts.mount_pack(base.span()), above = mounts.mount_pack(patch.span());
  ASSERT_TRUE(below.ok() && above.ok());
  EXPECT_TRUE(mounts.removes(above.value(), kMap, hash_name("goes")));
  EXPECT_FALSE(mounts.removes(above.value(), kMap, hash_name("changes")));
  EXPECT_FALSE(mounts.removes(below.value(), kMap, hash_name("goes")));
  ASSERT_TRUE(mounts.unmount(above.value()).ok());
  EXPECT_FALSE(mounts.removes(above.value(), kMap, hash_name("goes")));
}

// PACK-5: the hash of what a pack and its patch amount to is that of a pack made of it at once.
TEST(MountPatch, PatchesStandOnPatches) {
  const PackBuffer base = base_pack(), patch = first_patch(content_of(base)).make();
  PackMaker whole;
  whole.store(kMap, "stays", "stays");
  whole.store(kMap, "changes", "new");
  whole.store(kMap, "comes", "comes");
  const PackBuffer after_first = whole.make();
  PackMaker second;  // brings back what went, takes away what stayed
  second.set_base(content_of(after_first));
  second.store(kMap, "goes", "back");
  second.removed().push_back({kMap, hash_name("stays")});
  const PackBuffer second_patch = second.make();
  PackMaker third;
  whole = PackMaker();
  whole.store(kMap, "changes", "new");
  whole.store(kMap, "comes", "comes");
  whole.store(kMap, "goes", "back");
  third.set_base(content_of(whole.make()));
  third.store(kMap, "stays", "again");
  const PackBuffer third_patch = third.make();

  Mounts mounts;
  ASSERT_TRUE(mounts.mount_pack(base.span()).ok());
  EXPECT_EQ(mounts.mount_pack(second_patch.span()).status().code, StatusCode::not_found);
  ASSERT_TRUE(mounts.mount_pack(patch.span()).ok());
  ASSERT_TRUE(mounts.mount_pack(second_patch.span()).ok());
  EXPECT_EQ(mounts.all(), "- new back comes ");
  ASSERT_TRUE(mounts.mount_pack(third_patch.span()).ok());
  EXPECT_EQ(mounts.all(), "again new back comes ");
  // The lowest leaves first: what is above stays as it is, and no fault follows.
  ASSERT_TRUE(mounts.unmount(mounts.at(0)).ok());
  EXPECT_EQ(mounts.all(), "again new back comes ");
  ASSERT_TRUE(mounts.unmount(mounts.at(2)).ok());
  EXPECT_EQ(mounts.all(), "- new back comes ");
  // What the third wants is not there any more: two patches without their base.
  EXPECT_EQ(mounts.mount_pack(third_patch.span()).status().code, StatusCode::not_found);
}

// STR-6: a patch hides in all that lies below it, and in nothing above.
TEST(MountPatch, HidesBelowAndNotAbove) {
  const PackBuffer base = base_pack(), patch = first_patch(content_of(base)).make();
  PackMaker maker;
  maker.store(kMap, "goes", "extra");
  const PackBuffer extra = maker.make();
  Mounts mounts;
  ASSERT_TRUE(mounts.mount_pack(base.span()).ok());
  ASSERT_TRUE(mounts.mount_pack(patch.span()).ok());
  ASSERT_TRUE(mounts.mount_pack(extra.span()).ok());
  EXPECT_EQ(contents(mounts, kMap, "goes"), "extra");
  std::vector<ResourceVersion> found;
  mounts.for_each_version(
      kMap, hash_name("goes"),
      [](void* user, const ResourceVersion& v) { static_cast<std::vector<ResourceVersion>*>(user)->push_back(v); },
      &found);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_FALSE(found[0].hidden);
  EXPECT_TRUE(found[1].hidden);
  EXPECT_EQ(contents(mounts, found[1].location), "goes");
  ASSERT_TRUE(mounts.unmount(mounts.at(2)).ok());
  EXPECT_EQ(contents(mounts, kMap, "goes"), "-");
}

}  // namespace
}  // namespace meridian
