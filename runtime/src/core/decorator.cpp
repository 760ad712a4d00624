// SPDX-License-Identifier: MIT
#include "meridian/core/decorator.h"

#include <algorithm>

namespace meridian {

const char* to_string(DecoratorKind kind) {
  switch (kind) {
    case DecoratorKind::real:
      return "real";
    case DecoratorKind::boolean:
      return "boolean";
    case DecoratorKind::integer:
      return "integer";
    case DecoratorKind::string:
      return "string";
    case DecoratorKind::time:
      return "time";
  }
  return "unknown";
}

Status DecoratorRegistry::add(NameHash key, DecoratorKind kind, const char* who) {
  if (const Key* const known = find(key)) {
    if (known->kind == kind) return {};
    log_message(LogLevel::error, key, "decorator %s is %s for %s, and can't be %s for %s", name_text(key).text,
                to_string(known->kind), known->who, to_string(kind), who);
    return {StatusCode::wrong_kind, "the decorator is registered with another kind; detail = that kind",
            static_cast<uint64_t>(known->kind), key};
  }
  if (is_locked_) return {StatusCode::in_use, "no decorator can be registered while the registry is locked", 0, key};
  if (count_ == kMaxKeys) {
    return {StatusCode::out_of_slots, "too many decorators are registered; detail = the limit", kMaxKeys, key};
  }
  Key* const end = keys_ + count_++;
  Key* const place = std::lower_bound(keys_, end, key, [](const Key& a, NameHash b) { return a.key < b; });
  std::move_backward(place, end, end + 1);
  *place = {key, kind, who};
  return {};
}

const DecoratorRegistry::Key* DecoratorRegistry::find(NameHash key) const {
  const Key* const end = keys_ + count_;
  const Key* const place = std::lower_bound(keys_, end, key, [](const Key& a, NameHash b) { return a.key < b; });
  return place != end && place->key == key ? place : nullptr;
}

Status DecoratorRegistry::check(NameHash key, DecoratorKind kind) const {
  const Key* const known = find(key);
  if (known == nullptr) return {StatusCode::not_found, "no such decorator is registered", 0, key};
  if (known->kind == kind) return {};
  return {StatusCode::wrong_kind, "the decorator is of another kind; detail = that kind",
          static_cast<uint64_t>(known->kind), key};
}

Status Decorators::begin_session(const DecoratorSession& session, Allocator& allocator) {
  MERIDIAN_ASSERT(!is_in_session_, "one session at a time");
  end_session();
  Status status =
      values_.init({.name = "Decorator", .capacity = session.decorators, .tracker = session.tracker}, allocator);
  if (status.ok()) {
    status = holders_.init(
        {.name = "DecoratorExtension", .capacity = session.decorated_objects, .tracker = session.tracker}, allocator);
  }
  is_in_session_ = status.ok();
  if (!status.ok()) values_.shutdown();
  return status;
}

void Decorators::end_session() {
  if (!is_in_session_) return;
  for (Holder& holder : holders_.pool()) holder.object->extensions().destroy(holder);
  holders_.pool().shutdown();
  values_.shutdown();
  registry_.unlock();
  is_in_session_ = false;
}

Decorators::Node* Decorators::find(const Extensible& object, NameHash key) {
  const Holder* const holder = holder_of(object);
  Node* node = holder != nullptr ? holder->first : nullptr;
  while (node != nullptr && node->entry.key != key) node = node->next;
  return node;
}

bool Decorators::may_hold(const Extensible& object) const {
  const Holder* const holder = holder_of(object);
  const bool is_ours = holder == nullptr || holder->owner == this;
  MERIDIAN_ASSERT(is_ours, "an object has decorators of one Decorators");
  return is_ours;
}

Decorators::Holder* Decorators::hold(Extensible& object) {
  if (Holder* const holder = holder_of(object)) return holder;
  Holder* const holder = holders_.pool().create();
  if (holder == nullptr) return nullptr;
  holder->owner = this;
  holder->object = &object;
  holder->set_factory(&holders_);
  object.extensions().add(*holder);
  return holder;
}

void Decorators::free_values(Holder& holder) {
  while (holder.first != nullptr) {
    Node* const node = holder.first;
    holder.first = node->next;
    values_.destroy(*node);
  }
  holder.count = 0;
}

Status Decorators::set(Extensible& object, NameHash key, DecoratorValue value) {
  MERIDIAN_ASSERT(is_in_session_, "decorators live in a session");
  if (const Status status = registry_.check(key, value.kind()); !status.ok()) return status;
  if (!may_hold(object)) return {StatusCode::in_use, "the object has decorators of another Decorators", 0, key};
  if (Node* const known = find(object, key)) {
    known->entry.value = value;
    return {};
  }
  Node* const node = values_.create();
  if (node == nullptr)
    return {StatusCode::out_of_slots, "no more decorators; detail = capacity", values_.capacity(), key};
  Holder* const holder = hold(object);
  if (holder == nullptr) {
    values_.destroy(*node);
    return {StatusCode::out_of_slots, "no more objects can have decorators; detail = capacity",
            holders_.pool().capacity(), key};
  }
  *node = {{key, value}, holder->first};
  holder->first = node;
  ++holder->count;
  return {};
}

Status Decorators::get(const Extensible& object, NameHash key, DecoratorKind kind, DecoratorValue& out) const {
  if (const Status status = registry_.check(key, kind); !status.ok()) return status;
  const Node* const node = find(object, key);
  if (node == nullptr) return {StatusCode::not_found, "the object has no such decorator", 0, key};
  // What another Decorators has set here may be of another kind than this one's registry says.
  const DecoratorKind there = node->entry.value.kind();
  if (there != kind) {
    return {StatusCode::wrong_kind, "the decorator is of another kind; detail = that kind",
            static_cast<uint64_t>(there), key};
  }
  out = node->entry.value;
  return {};
}

template <class T>
Status Decorators::get_as(const Extensible& object, NameHash key, DecoratorKind kind, T (DecoratorValue::*as)() const,
                          T& out) const {
  DecoratorValue value;
  const Status status = get(object, key, kind, value);
  if (status.ok()) out = (value.*as)();
  return status;
}

Status Decorators::get(const Extensible& object, NameHash key, float& out) const {
  return get_as(object, key, DecoratorKind::real, &DecoratorValue::as_float, out);
}
Status Decorators::get(const Extensible& object, NameHash key, bool& out) const {
  return get_as(object, key, DecoratorKind::boolean, &DecoratorValue::as_bool, out);
}
Status Decorators::get(const Extensible& object, NameHash key, int32_t& out) const {
  return get_as(object, key, DecoratorKind::integer, &DecoratorValue::as_int, out);
}
Status Decorators::get(const Extensible& object, NameHash key, NameHash& out) const {
  return get_as(object, key, DecoratorKind::string, &DecoratorValue::as_string, out);
}
Status Decorators::get_time(const Extensible& object, NameHash key, uint32_t& out) const {
  return get_as(object, key, DecoratorKind::time, &DecoratorValue::as_time, out);
}

bool Decorators::exists(const Extensible& object, NameHash key) const { return find(object, key) != nullptr; }

bool Decorators::remove(Extensible& object, NameHash key) {
  Holder* const holder = holder_of(object);
  if (holder == nullptr) return false;
  for (Node** link = &holder->first; *link != nullptr; link = &(*link)->next) {
    Node* const node = *link;
    if (node->entry.key != key) continue;
    *link = node->next;
    holder->owner->values_.destroy(*node);
    if (--holder->count == 0) object.extensions().destroy(*holder);
    return true;
  }
  return false;
}

void Decorators::remove_all(Extensible& object) {
  if (Holder* const holder = holder_of(object)) object.extensions().destroy(*holder);
}

Status Decorators::replace_all(Extensible& object, std::span<const DecoratorEntry> entries) {
  MERIDIAN_ASSERT(is_in_session_, "decorators live in a session");
  // Everything that can fail is looked at before anything is taken away.
  for (const DecoratorEntry& entry : entries) {
    if (const Status status = registry_.check(entry.key, entry.value.kind()); !status.ok()) return status;
  }
  if (!may_hold(object)) return {StatusCode::in_use, "the object has decorators of another Decorators"};
  const Holder* const holder = holder_of(object);
  const uint64_t own = holder != nullptr ? holder->count : 0;
  if (entries.size() > values_.capacity() - values_.used() + own) {
    values_.report_full();
    return {StatusCode::out_of_slots, "no more decorators; detail = capacity", values_.capacity(), {}};
  }
  if (holder == nullptr && !entries.empty() && holders_.pool().used() == holders_.pool().capacity()) {
    holders_.pool().report_full();
    return {StatusCode::out_of_slots,
            "no more objects can have decorators; detail = capacity",
            holders_.pool().capacity(),
            {}};
  }
  remove_all(object);
  for (const DecoratorEntry& entry : entries) {
    MERIDIAN_ASSERT(!exists(object, entry.key), "a key stands once in a list of decorators");
    if (const Status status = set(object, entry.key, entry.value); !status.ok()) return status;
  }
  return {};
}

Status Decorators::list(const Extensible& object, std::span<DecoratorEntry> out, size_t& found) const {
  const Holder* const holder = holder_of(object);
  found = 0;
  for (const Node* node = holder != nullptr ? holder->first : nullptr; node != nullptr; node = node->next) {
    if (found < out.size()) out[found] = node->entry;
    ++found;
  }
  if (found <= out.size()) return {};
  return {StatusCode::too_small, "the object has more decorators than there is room for; detail = their number", found};
}

}  // namespace meridian
