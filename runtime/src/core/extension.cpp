// SPDX-License-Identifier: MIT
#include "meridian/core/extension.h"

#include <algorithm>

namespace meridian {

void ExtensionList::add(Extension& extension) {
  MERIDIAN_ASSERT(!extension.is_listed_, "an extension is in one list at a time");
  if (extension.is_listed_) return;
  extension.next_ = first_;
  extension.is_listed_ = true;
  first_ = &extension;
  if (extension.kind_.id < kMaskedExtensionKinds) mask_ |= uint32_t{1} << extension.kind_.id;
}

Extension* ExtensionList::walk(ExtensionKind kind) const {
  Extension* extension = first_;
  while (extension != nullptr && extension->kind_ != kind) extension = extension->next_;
  MERIDIAN_ASSERT(kind.id >= kMaskedExtensionKinds || (extension != nullptr) == ((mask_ >> kind.id & 1) != 0),
                  "mask and list of extensions differ");
  return extension;
}

void ExtensionList::take_out(Extension** link) {
  Extension* const extension = *link;
  *link = extension->next_;
  extension->next_ = nullptr;
  extension->is_listed_ = false;
  const ExtensionKind kind = extension->kind_;
  if (kind.id >= kMaskedExtensionKinds) return;
  mask_ &= ~(uint32_t{1} << kind.id);
  for (const Extension* other = first_; other != nullptr; other = other->next_) {
    if (other->kind_ == kind) mask_ |= uint32_t{1} << kind.id;
  }
}

bool ExtensionList::take_out(Extension& extension) {
  Extension** link = &first_;
  while (*link != nullptr && *link != &extension) link = &(*link)->next_;
  if (*link == nullptr) return false;
  take_out(link);
  return true;
}

void ExtensionList::unlink(Extension& extension) {
  [[maybe_unused]] const bool was_here = take_out(extension);
  MERIDIAN_ASSERT(was_here, "the extension is not in this list");
}

Extension* ExtensionList::unlink(ExtensionKind kind) {
  Extension* const extension = find(kind);
  if (extension != nullptr) unlink(*extension);
  return extension;
}

void ExtensionList::destroy(Extension& extension) {
  const bool was_here = take_out(extension);
  MERIDIAN_ASSERT(was_here, "the extension is not in this list");
  if (!was_here) return;  // another list still holds it
  MERIDIAN_ASSERT(extension.factory_ != nullptr, "an extension of no factory is the caller's to destroy");
  if (extension.factory_ != nullptr) extension.factory_->destroy(extension);
}

void ExtensionList::clear() {
  while (first_ != nullptr) {
    Extension* const extension = first_;
    take_out(&first_);  // one by one: a destructor may look at the list
    if (extension->factory_ != nullptr) extension->factory_->destroy(*extension);
  }
}

void ExtensionRegistry::add_factory(ExtensionKind kind, const char* name, Factory<Extension>& factory) {
  MERIDIAN_ASSERT(kind.id < kMaxExtensionKinds && kinds_[kind.id].factory == nullptr, "a kind has one factory");
  MERIDIAN_ASSERT(kind != kRuntimeExtension && kind != kVisibilityExtension && kind.id != kMaxExtensionKinds - 1,
                  "this kind of extension is the runtime's");
  if (kind.id >= kMaxExtensionKinds) return;
  kinds_[kind.id] = {name, &factory};
}

void ExtensionRegistry::associate(TypeHash definition, ExtensionKind kind) {
  MERIDIAN_ASSERT(kind.id < kMaxExtensionKinds && kinds_[kind.id].factory != nullptr, "the kind has no factory");
  MERIDIAN_ASSERT(find(definition) == nullptr, "a structure means one kind of extension");
  MERIDIAN_ASSERT(definition_count_ < kMaxDefinitions, "too many kinds of definitions");
  if (kind.id >= kMaxExtensionKinds || find(definition) != nullptr || definition_count_ == kMaxDefinitions) return;
  Definition* const end = definitions_ + definition_count_++;
  Definition* const place =
      std::lower_bound(definitions_, end, definition, [](const Definition& a, TypeHash b) { return a.name < b; });
  std::move_backward(place, end, end + 1);
  *place = {definition, kind};
}

const ExtensionRegistry::Definition* ExtensionRegistry::find(TypeHash name) const {
  const Definition* const end = definitions_ + definition_count_;
  const Definition* const place =
      std::lower_bound(definitions_, end, name, [](const Definition& a, TypeHash b) { return a.name < b; });
  return place != end && place->name == name ? place : nullptr;
}

Extension* ExtensionRegistry::create(TypeHash definition, uint32_t file) {
  const Definition* const found = find(definition);
  if (found != nullptr) return create(found->kind, file);
  ++left_out_;
  if (unknown_.first(definition.value)) {
    log_message(LogLevel::warning, {}, "extensions of the unknown structure 0x%08X are left out", definition.value);
  }
  return nullptr;
}

Extension* ExtensionRegistry::create(ExtensionKind kind, uint32_t file) {
  Kind* const known = kind.id < kMaxExtensionKinds ? &kinds_[kind.id] : nullptr;
  Extension* const extension = known != nullptr && known->factory != nullptr ? known->factory->create(file) : nullptr;
  if (extension != nullptr) {
    MERIDIAN_ASSERT(extension->kind() == kind, "a factory makes the kind that it was added for");
    extension->set_factory(known->factory);
    return extension;
  }
  ++left_out_;
  if (known == nullptr || (known->factory != nullptr && known->factory->says_when_full())) return nullptr;
  const bool is_known = known->factory != nullptr;
  if (!full_.first((kind.id + 1) << 20 ^ (is_known ? file : 0))) return nullptr;
  if (!is_known) {
    log_message(LogLevel::warning, {}, "extensions of kind %u are left out: it has no factory", kind.id);
  } else {
    log_message(LogLevel::warning, hash_name(known->name),
                "no room for more %s of the file in slot %u: such extensions are left out", known->name, file);
  }
  return nullptr;
}

}  // namespace meridian
