// SPDX-License-Identifier: MIT
#include "resource/game_config_rows.h"

#include <cstring>
#include <new>

#include "meridian/resource/fingerprint.h"
#include "meridian/schemas/gameconfig_generated.h"
#include "resource/data_view.h"
#include "resource/schema_view.h"

namespace meridian::detail {
namespace {

// Entries are used where they lie.
static_assert(sizeof(PoolSizeRow) == sizeof(schema::PoolSize) && alignof(PoolSizeRow) == alignof(schema::PoolSize));
static_assert(offsetof(PoolSizeRow, name) == 0 && offsetof(PoolSizeRow, size) == 4);

constexpr std::string_view kPoolSizes = "pool_sizes";  // has rows of its own
constexpr std::string_view kKey = "key";               // the member that names a table of a list

/// Walks a table by the schema and writes a row for each value that is there. First with nothing to write to, to count.
class ValueWalk {
 public:
  ValueWalk(std::span<const std::byte> payload, const reflection::Schema& schema, ConfigValue* out)
      : view_(payload), schema_(schema), out_(out) {}

  void config(uint32_t table, const reflection::Object& object) {
    for (const reflection::Field* field : *object.fields())
      if (text_of(field->name()) != kPoolSizes) member(table, *field);
  }
  size_t count() const { return count_; }

 private:
  /// Puts a word behind the path as long as it lives.
  class Step {
   public:
    Step(ValueWalk& walk, std::string_view word) : walk_(walk), old_size_(walk.path_size_) {
      if (old_size_ != 0) walk.append(".");
      walk.append(word);
    }
    ~Step() { walk_.path_size_ = old_size_; }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    ValueWalk& walk_;
    size_t old_size_;
  };

  void append(std::string_view text) {
    // Beyond the room, the size still grows; add() then knows that the path is not whole.
    if (path_size_ < sizeof path_)
      std::memcpy(path_ + path_size_, text.data(), std::min(text.size(), sizeof path_ - path_size_));
    path_size_ += text.size();
  }

  void member(uint32_t table, const reflection::Field& field) {
    const uint32_t at = view_.field(table, field.offset());
    if (at == 0) return;  // absent: what an earlier configuration gave stays
    const Step step(*this, text_of(field.name()));
    const reflection::BaseType base = field.type()->base_type();
    const int32_t index = field.type()->index();
    if (is_float(base)) {
      add({.kind = ConfigValueKind::number,
           .number = base == reflection::Float ? double{view_.load<float>(at)} : view_.load<double>(at)});
    } else if (is_scalar(base)) {
      add({.kind = ConfigValueKind::integer, .integer = view_.integer(base, at)});
    } else if (base == reflection::String) {
      const uint32_t text = view_.follow(at);
      add({.kind = ConfigValueKind::text, .bytes = {view_.data(text + 4), view_.load<uint32_t>(text)}});
    } else if (is_struct(schema_, base, index)) {
      add_list(at, 1, extent_of(schema_, base, index).size);
    } else if (base == reflection::Obj) {
      members(view_.follow(at), object_at(schema_, index));
    } else {
      MERIDIAN_ASSERT(base == reflection::Vector, "the schema has a kind of member that configurations cannot hold");
      if (base == reflection::Vector) list(view_.follow(at), *field.type());
    }
  }

  void members(uint32_t table, const reflection::Object& object) {
    for (const reflection::Field* field : *object.fields()) member(table, *field);
  }

  void list(uint32_t vector, const reflection::Type& type) {
    const uint32_t count = view_.load<uint32_t>(vector), first = vector + 4;
    const reflection::BaseType element = type.element();
    if (is_scalar(element) || is_struct(schema_, element, type.index()))
      return add_list(first, count, extent_of(schema_, element, type.index()).size);
    const reflection::Field* key = nullptr;
    if (element == reflection::Obj) {
      for (const reflection::Field* field : *object_at(schema_, type.index()).fields())
        if (text_of(field->name()) == kKey && field->type()->base_type() == reflection::String) key = field;
    }
    MERIDIAN_ASSERT(key != nullptr, "the schema has a list that configurations cannot hold");
    if (key == nullptr) return;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t table = view_.follow(first + 4 * i);
      const uint32_t at = view_.field(table, key->offset());
      if (at == 0) continue;  // without a key, nobody can ask for it
      const uint32_t text = view_.follow(at);
      const Step step(*this, {reinterpret_cast<const char*>(view_.data(text + 4)), view_.load<uint32_t>(text)});
      members(table, object_at(schema_, type.index()));
    }
  }

  void add_list(uint32_t first, uint32_t count, uint32_t element_bytes) {
    add({.kind = ConfigValueKind::list,
         .element_bytes = element_bytes,
         .bytes = {view_.data(first), size_t{count} * element_bytes}});
  }

  void add(ConfigValue value) {
    if (path_size_ > sizeof path_) {
      if (out_ != nullptr)
        log_message(LogLevel::warning, {}, "a value of the game configuration is left out: its path '%.40s...' is long",
                    path_);  // filled by append, as far as it goes
      return;
    }
    value.path = hash_type({path_, path_size_});
    if (out_ != nullptr) new (out_ + count_) ConfigValue(value);
    ++count_;
  }

  DataView view_;
  const reflection::Schema& schema_;
  ConfigValue* out_;
  size_t count_ = 0;
  size_t path_size_ = 0;
  char path_[256] = {};
};

const reflection::Object& config_object(const reflection::Schema& schema) {
  for (const reflection::Object* object : *schema.objects())
    if (short_name(object->name()) == "GameConfig") return *object;
  return *schema.root_table();  // not reached: the schema is the built-in one
}

ConfigSource source_of(const schema::ConfigItem& item) {
  ConfigSource source;
  source.filter = {text_of(item.build()), text_of(item.platforms()), text_of(item.param())};
  if (item.config() == nullptr || item.config()->pool_sizes() == nullptr) return source;
  if (const auto* entries = item.config()->pool_sizes()->entries())
    source.pools = {reinterpret_cast<const PoolSizeRow*>(entries->Data()), entries->size()};
  return source;
}

template <class T>
bool allocate(Allocator& allocator, size_t count, std::span<T>& out) {
  if (count == 0) return true;
  auto* const data = static_cast<T*>(allocator.allocate(count * sizeof(T), alignof(T)));
  if (data == nullptr) return false;
  out = {data, count};
  return true;
}

template <class T>
void release(Allocator& allocator, std::span<T> array) {
  if (!array.empty()) allocator.deallocate(array.data(), array.size_bytes(), alignof(T));
}

}  // namespace

GameConfigRows::~GameConfigRows() {
  release(allocator_, values_);
  release(allocator_, sources_);
}

Status GameConfigRows::read(const Resource& resource) {
  const auto* const items = resource.root<schema::GameConfigSet>()->config_array();
  if (items == nullptr) return {};
  const reflection::Schema& schema = schema_of(find_builtin_schema(kind_of("GCFG"))->bfbs);
  const reflection::Object& object = config_object(schema);
  const auto walk = [&](ValueWalk& values, const schema::ConfigItem& item) {
    if (item.config() == nullptr) return;
    const auto* const table = reinterpret_cast<const std::byte*>(item.config());
    values.config(static_cast<uint32_t>(table - resource.payload().data()), object);
  };

  ValueWalk counting(resource.payload(), schema, nullptr);
  for (const schema::ConfigItem* item : *items) walk(counting, *item);
  if (!allocate(allocator_, items->size(), sources_) || !allocate(allocator_, counting.count(), values_))
    return {StatusCode::out_of_memory, "no memory to read a game configuration; detail = values", counting.count()};

  ValueWalk writing(resource.payload(), schema, values_.data());
  for (uint32_t i = 0; i < items->size(); ++i) {
    const size_t first = writing.count();
    walk(writing, *items->Get(i));
    auto* const source = new (&sources_[i]) ConfigSource(source_of(*items->Get(i)));
    source->values = values_.subspan(first, writing.count() - first);
  }
  return {};
}

}  // namespace meridian::detail
