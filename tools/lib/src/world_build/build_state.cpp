// SPDX-License-Identifier: MIT
#include "world_build/build_state.h"

#include "meridian/schemas/build_state_generated.h"
#include "meridian/tools/file_io.h"

namespace meridian::tools {
namespace {

std::string text_of(const flatbuffers::String* s) { return s == nullptr ? std::string() : s->str(); }

bool read_diagnostic(const schema::StoredDiagnostic& d, Diagnostic& out) {
  out.rule = find_rule(d.rule()->string_view());
  if (out.rule == nullptr || d.severity() > 2) return false;
  out.severity = static_cast<Severity>(d.severity());
  out.file = text_of(d.file());
  out.line = d.line();
  out.column = d.column();
  out.utf16_column = d.utf16_column();
  out.object = text_of(d.object());
  out.message = text_of(d.message());
  out.source_line = text_of(d.source_line());
  if (d.related() != nullptr)
    for (const schema::StoredRelated* r : *d.related())
      out.related.push_back({text_of(r->file()), r->line(), r->column(), text_of(r->message()), r->utf16_column()});
  return true;
}

flatbuffers::Offset<schema::StoredDiagnostic> write_diagnostic(flatbuffers::FlatBufferBuilder& fbb,
                                                               const Diagnostic& d) {
  std::vector<flatbuffers::Offset<schema::StoredRelated>> related;
  for (const RelatedPlace& r : d.related)
    related.push_back(schema::CreateStoredRelated(fbb, fbb.CreateString(r.file), 0, r.line, r.column,
                                                  fbb.CreateString(r.message), r.utf16_column));
  const auto related_vector = fbb.CreateVector(related);
  const auto rule = fbb.CreateString(d.rule->code.data(), d.rule->code.size());
  const auto file = fbb.CreateSharedString(d.file), object = fbb.CreateString(d.object),
             message = fbb.CreateString(d.message), line = fbb.CreateString(d.source_line);
  return schema::CreateStoredDiagnostic(fbb, rule, static_cast<uint8_t>(d.severity), file, d.line, d.column,
                                        d.utf16_column, object, message, line, related_vector);
}

}  // namespace

bool load_state(const std::string& path, BuildStateData& out) {
  std::string bytes;
  if (read_file(path, bytes) != 0 || bytes.size() <= sizeof(Digest)) return false;
  // Behind the buffer its hash: what was cut or changed is not believed.
  const size_t size = bytes.size() - sizeof(Digest);
  const Digest digest = digest_of(bytes.data(), size);
  if (std::memcmp(bytes.data() + size, &digest, sizeof digest) != 0) return false;
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), size, 64, UINT32_MAX);
  if (!schema::VerifyBuildStateBuffer(verifier)) return false;
  const auto& state = *flatbuffers::GetRoot<schema::BuildState>(bytes.data());
  out = {};
  out.settings = state.settings();
  out.checks = state.checks();
  out.started = state.started();
  if (state.sources() != nullptr)
    for (const schema::StoredSource* s : *state.sources()) {
      WorldSource& source = out.sources.emplace_back();
      source.path = s->path()->str();
      source.size = s->size();
      source.time = s->time();
      source.node = s->node();
      source.hash = {s->hash(), s->hash_high()};
      source.kind = s->kind();
    }
  if (state.outputs() != nullptr)
    for (const schema::StoredOutput* o : *state.outputs())
      out.outputs.push_back({o->path()->str(),
                             o->size(),
                             o->time(),
                             {o->source(), o->archetypes(), o->parents(), o->children(), o->repair()}});
  if (state.archetypes() != nullptr)
    for (const schema::StoredArchetype* a : *state.archetypes()) out.archetypes.emplace_back(a->name(), a->hash());
  if (state.diagnostics() != nullptr)
    for (const schema::StoredDiagnostic* d : *state.diagnostics())
      if (!read_diagnostic(*d, out.diagnostics.emplace_back())) return false;
  return true;
}

int save_state(const std::string& path, const BuildStateData& state) {
  flatbuffers::FlatBufferBuilder fbb(1 << 16);
  std::vector<flatbuffers::Offset<schema::StoredSource>> sources;
  for (const WorldSource& s : state.sources)
    sources.push_back(schema::CreateStoredSource(fbb, fbb.CreateString(s.path), s.size, s.time, s.node, s.hash.low,
                                                 s.hash.high, s.kind));
  std::vector<flatbuffers::Offset<schema::StoredOutput>> outputs;
  for (const BuiltOutput& o : state.outputs)
    outputs.push_back(schema::CreateStoredOutput(fbb, fbb.CreateString(o.path), o.size, o.time, o.parts.source,
                                                 o.parts.archetypes, o.parts.parents, o.parts.children,
                                                 o.parts.repair));
  std::vector<schema::StoredArchetype> archetypes;
  for (const auto& [name, hash] : state.archetypes) archetypes.emplace_back(name, 0, hash);
  std::vector<flatbuffers::Offset<schema::StoredDiagnostic>> diagnostics;
  for (const Diagnostic& d : state.diagnostics) diagnostics.push_back(write_diagnostic(fbb, d));
  const auto source_vector = fbb.CreateVector(sources);
  const auto output_vector = fbb.CreateVector(outputs);
  const auto archetype_vector = fbb.CreateVectorOfStructs(archetypes);
  const auto diagnostic_vector = fbb.CreateVector(diagnostics);
  schema::FinishBuildStateBuffer(
      fbb, schema::CreateBuildState(fbb, state.settings, state.started, source_vector, output_vector, archetype_vector,
                                    diagnostic_vector, state.checks));
  std::vector<uint8_t> bytes(fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize());
  const Digest digest = digest_of(bytes.data(), bytes.size());
  const auto* const seal = reinterpret_cast<const uint8_t*>(&digest);
  bytes.insert(bytes.end(), seal, seal + sizeof digest);
  return write_file(path, bytes, WriteMode::always).error;
}

}  // namespace meridian::tools
