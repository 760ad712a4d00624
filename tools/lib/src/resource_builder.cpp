// SPDX-License-Identifier: MIT
#include "resource_builder.h"

#include <algorithm>
#include <cstring>

#include "flatbuffers/flatbuffers.h"
#include "meridian/base/version.h"
#include "meridian/resource/resource.h"
#include "meridian/schemas/resource_info_generated.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

using Offset = flatbuffers::Offset<void>;

struct KeptEntry {
  std::string path;
  uint32_t position = 0;
  const Kept* kept = nullptr;
};

std::string join(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : name.empty() ? path : path + "." + std::string(name);
}

// Bytes that a value needs, more or less: exact for vectors of structs, generous for tables.
struct SizeEstimate {
  uint64_t total = 0;
  uint64_t largest = 0;
  std::string largest_array;

  void add(const TableValue& t, const std::string& path) {
    total += 32;
    for (const FieldValue& v : t.fields) {
      const FieldPlan& f = t.type->fields[v.field];
      total += 12 + v.text.size() + v.bytes.size();
      if (v.table) add(*v.table, join(path, f.name));
      if (!v.parts) continue;
      const uint64_t before = total;
      const std::string array = join(path, f.xml);
      for (const ListPart& p : *v.parts) add(p.items, array);
      if (total - before > largest && (f.kind == FieldKind::struct_vector || f.kind == FieldKind::scalar_vector)) {
        largest = total - before;
        largest_array = array;
      }
    }
  }

 private:
  void add(const ItemList& l, const std::string& path) {
    total += l.bytes.size();
    for (const std::string& s : l.strings) total += s.size() + 12;
    for (const TableValue& t : l.tables) add(t, path);
    for (const auto& records : l.hoisted)
      for (const TableValue& t : records) add(t, path);
  }
};

class Builder {
 public:
  explicit Builder(size_t bytes) : fbb_(bytes + 1024) {}

  // The table, or a null offset if nothing in it is stored (an absent table means the same).
  Offset table(TableValue& t, const std::string& path, bool keep_empty) {
    for (const Kept& k : t.kept) kept_.push_back({join(path, k.sub_path), 0, &k});
    const TypePlan& plan = *t.type;
    struct Stored {
      const FieldPlan* plan;
      FieldValue* value;
      Offset offset;
      uint64_t bits;
    };
    std::vector<Stored> stored;
    bool anything = false;
    for (size_t i = 0; i < plan.fields.size(); ++i) {
      const FieldPlan& f = plan.fields[i];
      FieldValue* const v = t.find(static_cast<int>(i));
      if (f.hoist_from >= 0) {
        ItemList* const host = t.list(f.hoist_from);
        if (host == nullptr) continue;
        const std::vector<int>& fields = plan.fields[static_cast<size_t>(f.hoist_from)].hoisted;
        const size_t h =
            static_cast<size_t>(std::find(fields.begin(), fields.end(), static_cast<int>(i)) - fields.begin());
        if (h >= host->hoisted.size() || host->hoisted[h].empty()) continue;
        stored.push_back({&f, nullptr, tables(host->hoisted[h], join(path, f.name)), 0});
        anything = true;
        continue;
      }
      if (static_cast<int>(i) == plan.owner_field) {
        stored.push_back({&f, nullptr, 0, t.owner});
        continue;
      }
      if (v == nullptr || !v->present) {
        // A reader of the schema relies on required members, so an empty one stands for what is missing.
        if (f.required) stored.push_back({&f, nullptr, empty(f), 0});
        continue;
      }
      switch (f.kind) {
        case FieldKind::scalar:
          if (!f.optional && v->bits == f.default_bits) continue;
          stored.push_back({&f, v, 0, v->bits});
          anything = true;
          continue;
        case FieldKind::structure:
          stored.push_back({&f, v, 0, 0});
          anything = anything || v->bytes != f.default_bytes;
          continue;
        case FieldKind::string:
          if (v->text.empty() && !f.required) continue;
          stored.push_back({&f, v, fbb_.CreateString(v->text).Union(), 0});
          break;
        case FieldKind::table: {
          const Offset o = table(*v->table, join(path, f.name), f.required);
          if (o.IsNull()) continue;
          stored.push_back({&f, v, o, 0});
          break;
        }
        case FieldKind::union_value: {
          const Offset o = table(*v->table, join(path, f.name), true);
          stored.push_back({&f, v, o, 0});
          break;
        }
        default: {
          ItemList* const list = t.list(static_cast<int>(i));
          if (list == nullptr && !f.required) continue;
          if (list == nullptr) {
            stored.push_back({&f, v, empty(f), 0});
            break;
          }
          const Offset o = vector(*list, f, join(path, f.name));
          if (o.IsNull() && !f.required) continue;
          stored.push_back({&f, v, o.IsNull() ? empty(f) : o, 0});
        }
      }
      anything = true;
    }
    if (!anything && !keep_empty && !t.stored && t.kept.empty()) return 0;

    // Largest first, as flatc's own builders do: no padding between.
    std::stable_sort(stored.begin(), stored.end(),
                     [](const Stored& a, const Stored& b) { return a.plan->align > b.plan->align; });
    const flatbuffers::uoffset_t start = fbb_.StartTable();
    for (const Stored& s : stored) {
      const FieldPlan& f = *s.plan;
      if (f.kind == FieldKind::structure) {
        fbb_.Align(f.align);
        fbb_.PushBytes(s.value->bytes.data(), s.value->bytes.size());
        fbb_.AddStructOffset(f.offset, fbb_.GetSize());
      } else if (f.kind == FieldKind::scalar) {
        scalar(f, s.bits);
      } else {
        fbb_.AddOffset(f.offset, s.offset);
      }
      if (f.kind == FieldKind::union_value)  // its type stands in the field before
        fbb_.AddElement<uint8_t>(static_cast<flatbuffers::voffset_t>(f.offset - 2),
                                 static_cast<uint8_t>(s.value->member->value), 0);
    }
    return fbb_.EndTable(start);
  }

  void finish(Offset root, uint32_t kind) {
    char id[5] = {static_cast<char>(kind), static_cast<char>(kind >> 8), static_cast<char>(kind >> 16),
                  static_cast<char>(kind >> 24), 0};
    fbb_.Finish(flatbuffers::Offset<flatbuffers::Table>(root.o), id);
  }

  std::span<const std::byte> payload() const {
    return std::as_bytes(std::span(fbb_.GetBufferPointer(), fbb_.GetSize()));
  }

  // By path; what has one owner stays in document order. Dump and compile then agree on the order, whatever order the
  // source had its members in.
  std::vector<KeptEntry>& kept() {
    std::stable_sort(kept_.begin(), kept_.end(),
                     [](const KeptEntry& a, const KeptEntry& b) { return a.path < b.path; });
    for (size_t i = 1; i < kept_.size(); ++i)
      if (kept_[i].path == kept_[i - 1].path) kept_[i].position = kept_[i - 1].position + 1;
    return kept_;
  }

 private:
  void scalar(const FieldPlan& f, uint64_t bits) {
    // Written as unsigned of the same size: the bits are what matters, and a default was left out before.
    switch (f.size) {
      case 1:
        fbb_.AddElement<uint8_t>(f.offset, static_cast<uint8_t>(bits));
        break;
      case 2:
        fbb_.AddElement<uint16_t>(f.offset, static_cast<uint16_t>(bits));
        break;
      case 4:
        fbb_.AddElement<uint32_t>(f.offset, static_cast<uint32_t>(bits));
        break;
      default:
        fbb_.AddElement<uint64_t>(f.offset, bits);
    }
  }

  Offset empty(const FieldPlan& f) {
    if (f.kind == FieldKind::string) return fbb_.CreateString("").Union();
    if (f.kind == FieldKind::table) {
      TableValue nothing;
      nothing.type = f.type;
      return table(nothing, {}, true);
    }
    fbb_.StartVector(0, f.align);
    return fbb_.EndVector(0);
  }

  Offset tables(std::vector<TableValue>& values, const std::string& path) {
    std::vector<flatbuffers::Offset<flatbuffers::Table>> offsets;
    offsets.reserve(values.size());
    for (size_t i = 0; i < values.size(); ++i)
      offsets.emplace_back(table(values[i], path + "[" + std::to_string(i) + "]", true).o);
    return fbb_.CreateVector(offsets).Union();
  }

  Offset vector(ItemList& list, const FieldPlan& f, const std::string& path) {
    for (const Kept& k : list.kept)
      kept_.push_back({join(path + "[" + std::to_string(k.item) + "]", k.sub_path), 0, &k});
    if (list.count == 0) return 0;
    if (f.kind == FieldKind::table_vector) return tables(list.tables, path);
    if (f.kind == FieldKind::string_vector) return fbb_.CreateVectorOfStrings(list.strings).Union();
    // As FlatBufferBuilder::CreateVectorOfStructs: element size in units of its alignment.
    fbb_.StartVector(list.bytes.size() / f.align, f.align);
    fbb_.PushBytes(list.bytes.data(), list.bytes.size());
    return fbb_.EndVector(list.count);
  }

  flatbuffers::FlatBufferBuilder fbb_;
  std::vector<KeptEntry> kept_;
};

std::vector<uint8_t> build_info(const std::vector<KeptEntry>& kept, const std::vector<NameUse>& names,
                                const Binding& binding, const CompileOptions& options) {
  flatbuffers::FlatBufferBuilder fbb;
  std::vector<flatbuffers::Offset<schema::NameEntry>> name_entries;
  if (options.names)
    for (size_t i = 0; i < names.size(); ++i)
      if (i == 0 || names[i].hash != names[i - 1].hash)
        name_entries.push_back(schema::CreateNameEntry(fbb, names[i].hash, fbb.CreateString(names[i].text)));
  std::vector<flatbuffers::Offset<schema::KeptXml>> kept_entries;
  for (const KeptEntry& k : kept) {
    const auto path = fbb.CreateString(k.path);
    const auto name = k.kept->name.empty() ? 0 : fbb.CreateString(k.kept->name);
    const auto text = k.kept->text.empty() ? 0 : fbb.CreateString(k.kept->text);
    kept_entries.push_back(
        schema::CreateKeptXml(fbb, path, k.position, static_cast<schema::KeptKind>(k.kept->kind), name, text));
  }
  const auto names_vector = name_entries.empty() ? 0 : fbb.CreateVector(name_entries);
  const auto kept_vector = kept_entries.empty() ? 0 : fbb.CreateVector(kept_entries);
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> schema_vector;
  if (options.embed_schema) {
    fbb.ForceVectorAlignment(binding.bfbs().size(), 1, 16);
    schema_vector = fbb.CreateVector(binding.bfbs().data(), binding.bfbs().size());
  }
  schema::FinishResourceInfoBuffer(fbb, schema::CreateResourceInfo(fbb, kFormatVersion, binding.schema_fingerprint(),
                                                                   names_vector, kept_vector, schema_vector));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

}  // namespace

BuildResult build_resource(TableValue& root, const Binding& binding, const std::vector<NameUse>& names,
                           const CompileOptions& options) {
  BuildResult result;
  SizeEstimate estimate;
  estimate.add(root, {});
  const uint64_t limit = std::min<uint64_t>(options.limits.max_resource_bytes, kMaxResourceBytes);
  const auto refuse = [&](uint64_t bytes) {
    result.too_large = bytes;
    result.largest_array = estimate.largest_array;
    return result;
  };
  // The estimate is within a few per cent; near the format's own limit it decides, since the builder asserts there.
  if (estimate.total > kMaxResourceBytes / 10 * 9 || estimate.total / 2 > limit) return refuse(estimate.total);
  Builder builder(estimate.total);
  builder.finish(builder.table(root, {}, true), binding.kind());
  const std::vector<KeptEntry>& kept = builder.kept();
  const std::vector<uint8_t> info = build_info(kept, names, binding, options);
  const uint64_t size = sealed_size(builder.payload().size(), info.size());
  if (size > limit) return refuse(size);
  result.bytes.resize(size);
  seal_resource(std::as_writable_bytes(std::span(result.bytes)), builder.payload(), std::as_bytes(std::span(info)),
                binding.kind(), binding.layout_fingerprint());
  result.kept = kept.size();
  return result;
}

std::vector<uint8_t> seal_payload(std::span<const std::byte> payload, const std::vector<NameUse>& names,
                                  const Binding& binding, const CompileOptions& options) {
  const std::vector<uint8_t> info = build_info({}, names, binding, options);
  const uint64_t size = sealed_size(payload.size(), info.size());
  if (size > kMaxResourceBytes) return {};
  std::vector<uint8_t> out(size);
  seal_resource(std::as_writable_bytes(std::span(out)), payload, std::as_bytes(std::span(info)), binding.kind(),
                binding.layout_fingerprint());
  return out;
}

std::vector<uint8_t> build_payload(TableValue& root, const Binding& binding) {
  SizeEstimate estimate;
  estimate.add(root, {});
  if (estimate.total > kMaxResourceBytes / 10 * 9) return {};
  Builder builder(estimate.total);
  builder.finish(builder.table(root, {}, true), binding.kind());
  const auto* const data = reinterpret_cast<const uint8_t*>(builder.payload().data());
  return {data, data + builder.payload().size()};
}

}  // namespace meridian::tools
