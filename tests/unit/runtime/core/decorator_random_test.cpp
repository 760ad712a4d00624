// SPDX-License-Identifier: MIT
// core/decorator.h against a list of pairs for each object, with pools that run full.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "meridian/core/decorator.h"
#include "support/captured.h"

namespace meridian {
namespace {

struct Ped : Extensible {};
using Entries = std::vector<DecoratorEntry>;

constexpr uint32_t kKeys = 12;  // of these the last two are not registered
constexpr uint32_t kRegistered = 10;
NameHash key_of(uint32_t i) { return {i * 0x9E3779B9u + 5}; }
DecoratorKind kind_of_key(uint32_t i) { return static_cast<DecoratorKind>(i % 5); }
DecoratorValue value_of(DecoratorKind kind, uint32_t n) {
  switch (kind) {
    case DecoratorKind::real:
      return DecoratorValue::of_float(static_cast<float>(n) / 3);
    case DecoratorKind::boolean:
      return DecoratorValue::of_bool(n % 2 == 0);
    case DecoratorKind::integer:
      return DecoratorValue::of_int(static_cast<int32_t>(n) - 50);
    case DecoratorKind::string:
      return DecoratorValue::of_string({n});
    case DecoratorKind::time:
      break;
  }
  return DecoratorValue::of_time(n);
}

class Model {
 public:
  Model(uint32_t decorators, uint32_t objects, size_t peds) : decorators_(decorators), objects_(objects), has(peds) {}

  StatusCode set(size_t ped, uint32_t key, DecoratorValue value) {
    if (const StatusCode code = check(key, value); code != StatusCode::ok) return code;
    Entries& entries = has[ped];
    const auto at = std::find_if(entries.begin(), entries.end(), [&](auto& e) { return e.key == key_of(key); });
    if (at != entries.end()) {
      at->value = value;
      return StatusCode::ok;
    }
    if (used() == decorators_ || (entries.empty() && holders() == objects_)) return StatusCode::out_of_slots;
    entries.insert(entries.begin(), {key_of(key), value});
    return StatusCode::ok;
  }
  StatusCode replace(size_t ped, const std::vector<uint32_t>& keys, const Entries& entries) {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (const StatusCode code = check(keys[i], entries[i].value); code != StatusCode::ok) return code;
    }
    if (entries.size() > decorators_ - used() + has[ped].size()) return StatusCode::out_of_slots;
    if (has[ped].empty() && !entries.empty() && holders() == objects_) return StatusCode::out_of_slots;
    has[ped].assign(entries.rbegin(), entries.rend());
    return StatusCode::ok;
  }
  size_t used() const {
    size_t n = 0;
    for (const Entries& entries : has) n += entries.size();
    return n;
  }

 private:
  static StatusCode check(uint32_t key, DecoratorValue value) {
    if (key >= kRegistered) return StatusCode::not_found;
    return value.kind() == kind_of_key(key) ? StatusCode::ok : StatusCode::wrong_kind;
  }
  size_t holders() const {
    return static_cast<size_t>(std::count_if(has.begin(), has.end(), [](const Entries& e) { return !e.empty(); }));
  }
  size_t decorators_, objects_;

 public:
  std::vector<Entries> has;  // latest first
};

// DEC-1, DEC-2, DEC-3, DEC-4
TEST(DecoratorsRandom, DoAsListsOfPairs) {
  uint32_t seed = 90;
  for (const auto& [decorators, objects] : {std::pair{20u, 30u}, {60u, 3u}, {200u, 30u}}) {
    SCOPED_TRACE("seed " + std::to_string(++seed));
    std::mt19937 random(seed);
    const test::CapturedLog log;
    DecoratorRegistry registry;
    for (uint32_t i = 0; i < kRegistered; ++i) ASSERT_TRUE(registry.add(key_of(i), kind_of_key(i), "test").ok());
    std::vector<std::unique_ptr<Ped>> peds;
    for (int i = 0; i < 6; ++i) peds.push_back(std::make_unique<Ped>());
    Decorators d(registry);
    ASSERT_TRUE(d.begin_session({.decorators = decorators, .decorated_objects = objects}).ok());
    Model model(decorators, objects, peds.size());
    uint32_t refused = 0;
    for (int i = 0; i < 35000; ++i) {
      const size_t p = random() % peds.size();
      const auto k = static_cast<uint32_t>(random() % kKeys);
      const auto number = static_cast<uint32_t>(random() % 100);
      const DecoratorKind kind = random() % 8 != 0 ? kind_of_key(k) : static_cast<DecoratorKind>(random() % 5);
      Entries& entries = model.has[p];
      const auto at = std::find_if(entries.begin(), entries.end(), [&](auto& e) { return e.key == key_of(k); });
      switch (random() % 10) {
        case 0:
        case 1:
        case 2:
        case 3: {
          const DecoratorValue value = value_of(kind, number);
          const StatusCode expected = model.set(p, k, value);
          ASSERT_EQ(d.set(*peds[p], key_of(k), value).code, expected);
          refused += expected == StatusCode::out_of_slots ? 1 : 0;
          break;
        }
        case 4:
          ASSERT_EQ(d.remove(*peds[p], key_of(k)), at != entries.end());
          if (at != entries.end()) entries.erase(at);
          break;
        case 5: {
          std::vector<uint32_t> keys;
          Entries with;
          for (uint32_t n = 0; n < kKeys; ++n) {
            if (random() % 2 == 0 || (n >= kRegistered && random() % 4 != 0)) continue;
            keys.push_back(n);
          }
          std::shuffle(keys.begin(), keys.end(), random);
          for (const uint32_t n : keys) {
            with.push_back({key_of(n), value_of(random() % 40 != 0 ? kind_of_key(n) : DecoratorKind::time, number)});
          }
          const StatusCode expected = model.replace(p, keys, with);
          ASSERT_EQ(d.replace_all(*peds[p], with).code, expected);
          refused += expected == StatusCode::out_of_slots ? 1 : 0;
          break;
        }
        case 6:
          if (random() % 4 == 0) {
            d.remove_all(*peds[p]);
            entries.clear();
          } else if (random() % 4 == 0) {
            peds[p] = std::make_unique<Ped>();
            entries.clear();
          } else if (random() % 64 == 0) {
            d.end_session();
            ASSERT_TRUE(d.begin_session({.decorators = decorators, .decorated_objects = objects}).ok());
            for (Entries& all : model.has) all.clear();
          }
          break;
        default: {
          const DecoratorValue before = DecoratorValue::of_time(4711);
          DecoratorValue out = before;
          const Status status = d.get(*peds[p], key_of(k), kind, out);
          const bool is_there = at != entries.end() && kind == kind_of_key(k);
          ASSERT_EQ(status.ok(), is_there);
          ASSERT_EQ(out, is_there ? at->value : before);
          ASSERT_EQ(d.exists(*peds[p], key_of(k)), at != entries.end());
        }
      }
      ASSERT_EQ(d.used(), model.used());
      if (i % 3 != 0) continue;
      Entries listed(16);
      size_t found = 0;
      ASSERT_TRUE(d.list(*peds[p], listed, found).ok());
      listed.resize(found);
      ASSERT_EQ(listed, model.has[p]);
      ASSERT_EQ(peds[p]->extensions().has(kDecoratorExtension), !model.has[p].empty());
    }
    if (decorators < 200) {
      EXPECT_GT(refused, 100u);  // the pools did run full
    }
  }
}

}  // namespace
}  // namespace meridian
