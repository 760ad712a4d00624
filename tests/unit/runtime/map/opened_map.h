// SPDX-License-Identifier: MIT
#pragma once
/// Maps that tests build by the generated builders and read through MapParts, and the occluder meshes in them.

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "meridian/map/map_parts.h"
#include "meridian/schemas/imap_generated.h"
#include "unit/runtime/resource/small_map.h"

namespace meridian::test {

using Builder = flatbuffers::FlatBufferBuilder;

/// A finished builder's map, sealed and opened twice: checked, and trusted.
class OpenedMap {
 public:
  explicit OpenedMap(const Builder& builder) {
    const Bytes payload = to_bytes(builder.GetBufferPointer(), builder.GetSize());
    bytes_ = seal(payload, small_info(), kMapKind, layout_fingerprint(map_schema().bfbs));
    for (const bool trusted : {false, true}) {
      const Result<Resource> opened = open_resource(bytes_, {.kind = kMapKind, .schema = {}, .trusted = trusted});
      EXPECT_TRUE(opened.ok()) << opened.status().message;
      if (opened.ok()) parts_[trusted ? 1 : 0] = map_parts(*opened.value().root<schema::MapData>());
    }
  }
  const MapParts& checked() const { return parts_[0]; }
  const MapParts& trusted() const { return parts_[1]; }

 private:
  Bytes bytes_;
  MapParts parts_[2];
};

/// An occluder mesh before it is stored.
struct Mesh {
  std::vector<uint8_t> bytes;
  uint32_t data_size = 0;
  uint16_t vertex_bytes = 0, triangles = 0;
  uint32_t flags = 0;
};

inline Mesh mesh_of(const std::vector<Vec3>& vertices, const std::vector<uint8_t>& indices) {
  Mesh out;
  for (const Vec3& v : vertices) {
    uint8_t raw[12];
    std::memcpy(raw, &v, sizeof(raw));
    out.bytes.insert(out.bytes.end(), std::begin(raw), std::end(raw));
  }
  out.vertex_bytes = static_cast<uint16_t>(out.bytes.size());
  out.bytes.insert(out.bytes.end(), indices.begin(), indices.end());
  out.data_size = static_cast<uint32_t>(out.bytes.size());
  out.triangles = static_cast<uint16_t>(indices.size() / 3 | 0x8000u);
  return out;
}

inline flatbuffers::Offset<schema::OccludeModel> add_mesh(Builder& b, const Mesh& mesh) {
  const schema::Vec3 low(-9, -9, -9), high(9, 9, 9);
  return schema::CreateOccludeModelDirect(b, &low, &high, mesh.data_size, &mesh.bytes, mesh.vertex_bytes,
                                          mesh.triangles, static_cast<schema::OccludeModelFlags>(mesh.flags));
}

/// Four corners, one of them below the others.
inline const std::vector<Vec3> kQuad = {{1, 2, 3}, {5, 2, 3}, {5, 6, 3}, {1, 6, -4}};

}  // namespace meridian::test
