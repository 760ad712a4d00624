// SPDX-License-Identifier: MIT
#include "meridian/entity/entity_class.h"

namespace meridian {
namespace {

constexpr const char* kOwnNames[] = {"building",         "animated building", "dummy object", "interior instance",
                                     "composite entity", "prop batch",        "grass batch"};
constexpr unsigned kOwnClasses = 7;
static_assert(static_cast<unsigned>(EntityClass::grass_batch) + 1 == kOwnClasses);

}  // namespace

EntityClassRegistry::EntityClassRegistry() {
  for (unsigned i = 0; i < kOwnClasses; ++i) add<Entity>(static_cast<EntityClass>(i), kOwnNames[i]);
  by_host_ = 0;  // a host may still put its own in their place
}

void EntityClassRegistry::add(EntityClass number, const EntityClassInfo& info) {
  const auto at = static_cast<unsigned>(number);
  const bool is_number = at < kOwnClasses || (at >= kFirstHostClass && at < kMaxEntityClasses);
  const bool is_right = is_number && (by_host_ >> at & 1) == 0 && info.name != nullptr;
  MERIDIAN_ASSERT(is_right, "a host gives each class once, by a number of the runtime's or of its own");
  if (!is_right) return;
  infos_[at] = info;
  by_host_ |= 1u << at;
}

EntityClass EntityClassRegistry::choose(const ClassQuery& query) const {
  if (chooser_.choose == nullptr) return query.by_rule;
  const EntityClass chosen = chooser_.choose(chooser_.user, query);
  MERIDIAN_ASSERT(has(chosen), "a chooser names classes that are registered");
  return has(chosen) ? chosen : query.by_rule;
}

}  // namespace meridian
