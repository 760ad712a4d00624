// SPDX-License-Identifier: MIT
#pragma once
/// Resources from schema text and JSON, for tests that need a layout of their own. The FlatBuffers parser makes them,
/// so nothing here shares code with what is tested.

#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "flatbuffers/idl.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/resource/resource.h"

namespace meridian::test {

using Bytes = std::vector<std::byte>;  // malloc gives 16-byte alignment

inline Bytes to_bytes(const uint8_t* data, size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  return {begin, begin + size};
}

inline flatbuffers::IDLOptions schema_options() {
  flatbuffers::IDLOptions options;
  options.binary_schema_builtins = true;
  options.binary_schema_comments = true;
  return options;
}

/// Binary schema of .fbs text. Declares our attributes first.
inline Bytes compile_schema(const std::string& fbs) {
  std::string text;
  for (const char* name : {"closed", "hoist_from", "owner", "default", "sparse", "pad", "xml"}) {
    text += std::string("attribute \"") + name + "\";\n";
  }
  flatbuffers::Parser parser(schema_options());
  if (!parser.Parse((text + fbs).c_str())) throw std::runtime_error(parser.error_);
  parser.Serialize();
  return to_bytes(parser.builder_.GetBufferPointer(), parser.builder_.GetSize());
}

/// FlatBuffer of the schema's root, from JSON.
inline Bytes payload_of(std::span<const std::byte> bfbs, const std::string& json) {
  flatbuffers::Parser parser;
  if (!parser.Deserialize(reinterpret_cast<const uint8_t*>(bfbs.data()), bfbs.size())) {
    throw std::runtime_error("schema cannot be read back");
  }
  if (!parser.Parse(json.c_str())) throw std::runtime_error(parser.error_);
  return to_bytes(parser.builder_.GetBufferPointer(), parser.builder_.GetSize());
}

/// Payload, info and trailer.
inline Bytes seal(std::span<const std::byte> payload, std::span<const std::byte> info, uint32_t kind, uint64_t layout) {
  Bytes out(static_cast<size_t>(sealed_size(payload.size(), info.size())));
  seal_resource(out, payload, info, kind, layout);
  return out;
}

/// A resource of the schema's root, from JSON.
inline Bytes resource_of(std::span<const std::byte> bfbs, const std::string& json, uint32_t kind,
                         std::span<const std::byte> info = {}) {
  return seal(payload_of(bfbs, json), info, kind, layout_fingerprint(bfbs));
}

/// Computes the checksum anew, after a test changed bytes.
inline void fix_checksum(std::span<std::byte> bytes) {
  const ResourceSections sections = read_sections(bytes).value();
  Bytes payload(sections.payload.begin(), sections.payload.end()), info(sections.info.begin(), sections.info.end());
  seal_resource(bytes, payload, info, sections.trailer.kind, sections.trailer.layout_fingerprint);
}

}  // namespace meridian::test
