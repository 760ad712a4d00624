// SPDX-License-Identifier: MIT
// Type files that come, go, hide one another and are in use, in random order, against a plain model: a list of what is
// published, searched from end to end for each question.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "meridian/map/map_types.h"
#include "support/captured.h"
#include "support/checked_memory.h"
#include "unit/runtime/map/types_file.h"

namespace meridian {
namespace {

constexpr uint32_t kNames = 40, kFiles = 14, kTypeSlots = 10, kDictionaries = 3;
constexpr uint32_t kPermanentSlots = 60, kStreamedSlots = 90;

struct Door final : Extension {
  static constexpr ExtensionKind kKind{2};
  Door() : Extension(kKind) {}
};

/// What a file says of one archetype.
struct Said {
  NameHash name;
  float lod = 0;
  NameHash dictionary, textures;
  bool has_door = false, has_clips = false;
};
struct File {
  std::vector<Said> said;
  test::TypesFile types;
};

/// One archetype of loaded types.
struct ModelArchetype {
  Said said;
  Archetype* archetype = nullptr;
  ModelId id;
  uint32_t references = 0;
  bool is_second = false;  // its file has the name already
};
struct ModelTypes {
  LayerId layer = 0;
  Permanence permanence = Permanence::streamed;
  uint32_t context = 0;
  std::vector<ModelArchetype> archetypes;
  uint64_t arrival = 0;  // 0: withdrawn
  uint32_t protections = 0;
  std::vector<uint64_t> fences;
};

File make_file(std::mt19937& random, uint32_t number) {
  test::TypesMaker maker;
  std::vector<Said> said;
  const uint32_t count = random() % 16;
  for (uint32_t i = 0; i < count; ++i) {
    Said s;
    s.name = NameHash{1 + static_cast<uint32_t>(random() % kNames)};
    s.lod = static_cast<float>(number * 100 + i);
    s.dictionary = NameHash{static_cast<uint32_t>(random() % (kDictionaries + 1))};
    s.textures = NameHash{static_cast<uint32_t>(random() % 4)};
    s.has_door = random() % 3 == 0;
    s.has_clips = random() % 3 == 0;
    const test::Definition definition{
        .lod = s.lod, .textures = s.textures.value, .clips = s.has_clips ? 9u : 0u, .dictionary = s.dictionary.value};
    const uint32_t owner = random() % 4 == 0 ? maker.time(s.name, 5, definition) : maker.base(s.name, definition);
    if (s.has_door) maker.door(owner);
    said.push_back(s);
  }
  return {said, maker.finish(("file " + std::to_string(number)).c_str())};
}

class ModelRun {
 public:
  ModelRun(uint32_t seed, bool with_permanent) : random_(seed), with_permanent_(with_permanent) {
    for (uint32_t i = 0; i < kFiles; ++i) files_.push_back(make_file(random_, i));
    EXPECT_TRUE(doors_.init(kTypeSlots, memory_).ok());
    effects_.add_factory(Door::kKind, "Door", doors_);
    effects_.associate(hash_type("CExtensionDefDoor"), Door::kKind);
    EXPECT_TRUE(store_
                    .init({.slots = {kPermanentSlots, kStreamedSlots},
                           .types = kTypeSlots,
                           .components = 500,
                           .effects = &effects_},
                          memory_)
                    .ok());
    store_.add_effect_silo(hash_type("CExtensionDefDoor"), doors_);
    bytes_ = memory_.bytes();
    EXPECT_TRUE(store_
                    .add_listener({[](void* user, NameHash name, Archetype* before, Archetype* now) {
                                     static_cast<ModelRun*>(user)->hear(name, before, now);
                                   },
                                   this})
                    .ok());
  }
  ModelRun(const ModelRun&) = delete;
  ModelRun& operator=(const ModelRun&) = delete;
  ~ModelRun() {
    for (auto& [slot, types] : types_) {
      for (ModelArchetype& a : types.archetypes) {
        for (; a.references != 0; --a.references) a.archetype->remove_reference();
      }
    }
    store_.shutdown();
  }

  void step() {
    const auto slot = static_cast<ItypSlot>(below(kTypeSlots));
    switch (below(20)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
        load(slot);
        break;
      case 6:
      case 7:
      case 8:
      case 9:
        unload(slot);
        break;
      case 10:
        withdraw(slot);
        break;
      case 11:
        publish(slot);
        break;
      case 12:
        close_context(1 + below(2));
        break;
      case 13:
      case 14:
        refer(slot);
        break;
      case 15:
        release_all(slot);
        break;
      case 16:
        protect(slot);
        break;
      case 17:
      case 18:
        unprotect(slot);
        break;
      default:
        completed_ += below(3);
        store_.release_fenced(completed_);
    }
  }

  /// All questions, answered twice.
  void compare() {
    uint32_t meanings = 0, streamed = 0, permanent = 0, components = 0;
    for (uint32_t i = 0; i <= kNames + 1; ++i) {
      const NameHash name{i};
      const ModelArchetype* const expected = in_force(name);
      Archetype* const archetype = expected != nullptr ? expected->archetype : nullptr;
      ASSERT_EQ(store_.find(name), archetype) << "name " << i;
      ASSERT_EQ(heard_[name], archetype) << "name " << i;
      ASSERT_EQ(store_.model_id(name), expected != nullptr ? expected->id : ModelId{});
      meanings += expected != nullptr ? 1u : 0u;
      const ItypSlot needs[] = {static_cast<ItypSlot>(below(kTypeSlots)), static_cast<ItypSlot>(below(kTypeSlots))};
      ASSERT_EQ(store_.find_for(name, needs), is_defined_for(name, needs) ? archetype : nullptr) << "name " << i;
    }
    for (const auto& [slot, types] : types_) {
      ASSERT_EQ(store_.archetypes(slot).size(), types.archetypes.size());
      ASSERT_EQ(store_.is_published(slot), types.arrival != 0);
      ASSERT_EQ(store_.is_protected(slot), is_protected(types));
      uint32_t doors = 0;
      for (size_t i = 0; i < types.archetypes.size(); ++i) {
        const ModelArchetype& a = types.archetypes[i];
        ASSERT_EQ(store_.archetypes(slot)[i], a.archetype);
        ASSERT_EQ(store_.at(a.id), a.archetype) << "slots are stable";
        ASSERT_EQ(a.archetype->model_id(), a.id);
        ASSERT_EQ(a.archetype->name(), a.said.name);
        ASSERT_EQ(a.archetype->lod_distance(), a.said.lod);
        ASSERT_EQ(a.archetype->is_in_force(), in_force(a.said.name) == &a);
        ASSERT_EQ(a.archetype->is_permanent(), types.permanence != Permanence::streamed);
        ASSERT_EQ(a.archetype->extensions().has(Door::kKind), a.said.has_door);
        doors += a.said.has_door ? 1u : 0u;
        components += a.said.has_clips ? 1u : 0u;
      }
      ASSERT_EQ(doors_.used(slot), doors);
      (types.permanence == Permanence::permanent ? permanent : streamed) +=
          static_cast<uint32_t>(types.archetypes.size());
    }
    for (ItypSlot slot = 0; slot < kTypeSlots; ++slot) ASSERT_EQ(store_.is_loaded(slot), types_.contains(slot));
    for (uint32_t d = 1; d <= kDictionaries; ++d) ASSERT_EQ(store_.parent_textures(NameHash{d}), textures(NameHash{d}));
    ASSERT_EQ(store_.name_count(), meanings);
    ASSERT_EQ(store_.streamed_used(), streamed);
    ASSERT_EQ(store_.permanent_used(), permanent);
    ASSERT_EQ(store_.components().used(), components);
    if (types_.empty()) {
      ASSERT_EQ(memory_.bytes(), bytes_);
      ++times_empty_;
    }
  }
  uint32_t times_empty() const { return times_empty_; }
  uint32_t refusals() const { return refusals_; }
  uint64_t left_out() const { return left_out_; }
  /// Unloads all that can go, so that the model is empty now and then.
  void clear() {
    completed_ = std::max(completed_, fence_);
    store_.release_fenced(completed_);
    for (ItypSlot slot = 0; slot < kTypeSlots; ++slot) {
      release_all(slot);
      while (types_.contains(slot) && types_[slot].protections != 0) unprotect(slot);
    }
    completed_ = std::max(completed_, fence_);
    store_.release_fenced(completed_);
    for (uint32_t context = 1; context <= 2; ++context) close_context(context);
    for (ItypSlot slot = 0; slot < kTypeSlots; ++slot) unload(slot);
  }

 private:
  uint32_t below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }

  void hear(NameHash name, Archetype* before, Archetype* now) {
    EXPECT_EQ(heard_[name], before);
    EXPECT_NE(before, now);
    EXPECT_EQ(store_.find(name), now);
    heard_[name] = now;
  }

  /// Of all published definitions that of the highest layer, and there of the earliest file.
  const ModelArchetype* in_force(NameHash name) const {
    const ModelArchetype* best = nullptr;
    const ModelTypes* of = nullptr;
    for (const auto& [slot, types] : types_) {
      if (types.arrival == 0) continue;
      for (const ModelArchetype& a : types.archetypes) {
        if (a.said.name != name || a.is_second) continue;
        if (of != nullptr && std::tuple(types.layer, of->arrival) < std::tuple(of->layer, types.arrival)) continue;
        best = &a;
        of = &types;
      }
    }
    return best;
  }
  bool is_defined_for(NameHash name, std::span<const ItypSlot> needs) const {
    for (const auto& [slot, types] : types_) {
      const bool counts = types.permanence != Permanence::streamed || std::ranges::find(needs, slot) != needs.end();
      if (types.arrival == 0 || !counts) continue;
      for (const ModelArchetype& a : types.archetypes) {
        if (a.said.name == name) return true;
      }
    }
    return false;
  }
  /// Of the archetypes in force that ask for textures, the one that was published first.
  NameHash textures(NameHash dictionary) const {
    uint64_t first = UINT64_MAX;
    NameHash found{};
    for (const auto& [slot, types] : types_) {
      if (types.arrival == 0 || types.arrival >= first) continue;
      for (const ModelArchetype& a : types.archetypes) {
        if (a.said.dictionary != dictionary || a.said.textures.value == 0 || in_force(a.said.name) != &a) continue;
        first = types.arrival;
        found = a.said.textures;
        break;
      }
    }
    return found;
  }
  bool is_protected(const ModelTypes& types) const {
    return types.protections != 0 ||
           std::ranges::any_of(types.fences, [this](uint64_t fence) { return fence > completed_; });
  }
  bool is_used(const ModelTypes& types) const {
    return is_protected(types) ||
           std::ranges::any_of(types.archetypes, [](const ModelArchetype& a) { return a.references != 0; });
  }

  void load(ItypSlot slot) {
    if (types_.contains(slot)) return;
    const File& file = files_[below(kFiles)];
    ModelTypes types;
    types.layer = static_cast<LayerId>(below(4));
    const uint32_t dice = below(with_permanent_ ? 60 : 59);
    types.permanence = dice < 40 ? Permanence::streamed : dice < 59 ? Permanence::in_context : Permanence::permanent;
    types.context = 1 + below(2);
    const bool is_permanent = types.permanence == Permanence::permanent;
    const uint32_t used = is_permanent ? store_.permanent_used() : store_.streamed_used();
    const size_t room = (is_permanent ? kPermanentSlots : kStreamedSlots) - used;
    ASSERT_TRUE(load_map_types(store_, file.types.resource(),
                               {.slot = slot,
                                .layer = types.layer,
                                .permanence = types.permanence,
                                .context = types.context,
                                .file = file.types.name()})
                    .ok());
    for (size_t i = 0; i < file.said.size() && i < room; ++i) {
      ModelArchetype a;
      a.said = file.said[i];
      a.archetype = store_.archetypes(slot)[i];
      a.id = a.archetype->model_id();
      ASSERT_EQ(a.id.types, slot);
      ASSERT_EQ(a.id.archetype < kPermanentSlots, is_permanent);
      a.is_second = std::ranges::any_of(types.archetypes,
                                        [&](const ModelArchetype& other) { return other.said.name == a.said.name; });
      types.archetypes.push_back(a);
    }
    left_out_ += file.said.size() - types.archetypes.size();
    ASSERT_EQ(store_.left_out(), left_out_);
    types.arrival = ++arrivals_;
    types_[slot] = types;
  }
  void unload(ItypSlot slot) {
    const auto found = types_.find(slot);
    const StatusCode code = unload_map_types(store_, slot).code;
    if (found == types_.end()) {
      ASSERT_EQ(code, StatusCode::not_found);
    } else if (found->second.permanence == Permanence::permanent || is_used(found->second)) {
      ASSERT_EQ(code, StatusCode::in_use);
      ++refusals_;
    } else {
      ASSERT_EQ(code, StatusCode::ok);
      types_.erase(found);
    }
  }
  void withdraw(ItypSlot slot) {
    const auto found = types_.find(slot);
    const StatusCode code = store_.withdraw_types(slot).code;
    if (found == types_.end() || found->second.arrival == 0) {
      ASSERT_EQ(code, StatusCode::not_found);
    } else if (found->second.permanence == Permanence::permanent) {
      ASSERT_EQ(code, StatusCode::in_use);
    } else {
      ASSERT_EQ(code, StatusCode::ok);
      found->second.arrival = 0;
    }
  }
  void publish(ItypSlot slot) {
    const auto found = types_.find(slot);
    if (found == types_.end() || found->second.arrival != 0) return;
    ASSERT_TRUE(store_.publish_types(slot).ok());
    found->second.arrival = ++arrivals_;
  }
  void close_context(uint32_t context) {
    const Status status = store_.close_context(context);
    uint32_t left = 0;
    for (auto at = types_.begin(); at != types_.end();) {
      ModelTypes& types = at->second;
      const bool ends = types.permanence == Permanence::in_context && types.context == context;
      if (ends) types.permanence = Permanence::streamed;
      left += ends && is_used(types) ? 1u : 0u;
      at = ends && !is_used(types) ? types_.erase(at) : std::next(at);
    }
    ASSERT_EQ(status.code, left == 0 ? StatusCode::ok : StatusCode::in_use);
    ASSERT_EQ(status.detail, left);
  }
  void refer(ItypSlot slot) {
    const auto found = types_.find(slot);
    if (found == types_.end() || found->second.archetypes.empty()) return;
    ModelArchetype& a = found->second.archetypes[below(static_cast<uint32_t>(found->second.archetypes.size()))];
    a.archetype->add_reference();
    ++a.references;
  }
  void release_all(ItypSlot slot) {
    const auto found = types_.find(slot);
    if (found == types_.end()) return;
    for (ModelArchetype& a : found->second.archetypes) {
      for (; a.references != 0; --a.references) a.archetype->remove_reference();
    }
  }
  void protect(ItypSlot slot) {
    const auto found = types_.find(slot);
    if (found == types_.end() || found->second.archetypes.empty()) return;
    store_.protect(*found->second.archetypes[0].archetype);
    ++found->second.protections;
  }
  void unprotect(ItypSlot slot) {
    const auto found = types_.find(slot);
    if (found == types_.end() || found->second.protections == 0) return;
    const uint64_t fence = below(3) == 0 ? 0 : completed_ + below(6);
    fence_ = std::max(fence_, fence);
    store_.unprotect(*found->second.archetypes.back().archetype, fence);
    --found->second.protections;
    found->second.fences.push_back(fence);
  }

  std::mt19937 random_;
  bool with_permanent_;
  std::vector<File> files_;
  test::CheckedMemory memory_;
  SiloFactory<Door, Extension> doors_;
  ExtensionRegistry effects_;
  ArchetypeStore store_;
  std::map<ItypSlot, ModelTypes> types_;
  std::map<NameHash, Archetype*> heard_;
  uint64_t arrivals_ = 0, completed_ = 0, fence_ = 0, left_out_ = 0, bytes_ = 0;
  uint32_t times_empty_ = 0, refusals_ = 0;
};

// ARCH-3, ARCH-4, ARCH-5, ARCH-6, ARCH-7, EXTN-5, MAP-2, P089
TEST(MapTypesRandom, DoesAsTheModel) {
  const test::CapturedLog log;
  uint32_t times_empty = 0, refusals = 0;
  uint64_t left_out = 0;
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ModelRun run(seed, seed % 2 == 0);
    for (int step = 0; step < 3000; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      if (step % 200 == 199) {
        run.clear();
      } else {
        run.step();
      }
      run.compare();
      if (testing::Test::HasFailure()) return;
    }
    times_empty += run.times_empty();
    refusals += run.refusals();
    left_out += run.left_out();
  }
  // That the interesting things happened at all.
  EXPECT_GT(times_empty, 50u);
  EXPECT_GT(refusals, 100u);
  EXPECT_GT(left_out, 100u);
}

}  // namespace
}  // namespace meridian
