// SPDX-License-Identifier: MIT
// Embree: boxes as user geometry; point queries for spheres, rays that go on after each hit for segments.
#include "peers/spatial_peer.h"

#if MERIDIAN_HAS_EMBREE

#include <embree3/rtcore.h>

#include <limits>

namespace meridian::bench {
namespace {

class EmbreeScene final : public SpatialPeer {
 public:
  explicit EmbreeScene(std::span<const Aabb> boxes) : boxes_(boxes) {
    device_ = rtcNewDevice("threads=1,set_affinity=0");
    scene_ = rtcNewScene(device_);
    rtcSetSceneBuildQuality(scene_, RTC_BUILD_QUALITY_HIGH);
    const RTCGeometry geometry = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_USER);
    rtcSetGeometryUserPrimitiveCount(geometry, static_cast<unsigned>(boxes.size()));
    rtcSetGeometryUserData(geometry, this);
    rtcSetGeometryBoundsFunction(
        geometry,
        [](const RTCBoundsFunctionArguments* arguments) {
          const Aabb& box = static_cast<EmbreeScene*>(arguments->geometryUserPtr)->boxes_[arguments->primID];
          *arguments->bounds_o = {box.min.x, box.min.y, box.min.z, 0, box.max.x, box.max.y, box.max.z, 0};
        },
        nullptr);
    rtcSetGeometryIntersectFunction(geometry, [](const RTCIntersectFunctionNArguments* arguments) {
      auto& self = *static_cast<EmbreeScene*>(arguments->geometryUserPtr);
      if (self.ray_->touches(self.boxes_[arguments->primID])) self.out_[self.count_++] = arguments->primID;
    });
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene_, geometry);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(scene_);
  }
  ~EmbreeScene() override {
    rtcReleaseScene(scene_);
    rtcReleaseDevice(device_);
  }

  bool has_frusta() const override { return false; }
  uint32_t frustum(std::span<const Plane>, const Aabb&, std::vector<uint32_t>&) override { return 0; }
  bool has_boxes() const override { return false; }
  uint32_t sphere(const Vec3& centre, float radius, std::vector<uint32_t>& found) override {
    RTCPointQuery query{centre.x, centre.y, centre.z, 0, radius};
    RTCPointQueryContext context;
    rtcInitPointQueryContext(&context);
    begin(found);
    rtcPointQuery(
        scene_, &query, &context,
        [](RTCPointQueryFunctionArguments* arguments) {
          auto& self = *static_cast<EmbreeScene*>(arguments->userPtr);
          const RTCPointQuery& q = *arguments->query;
          if (touches_sphere(self.boxes_[arguments->primID], {q.x, q.y, q.z}, q.radius))
            self.out_[self.count_++] = arguments->primID;
          return false;  // the radius stays
        },
        this);
    return count_;
  }
  uint32_t box(const Aabb&, std::vector<uint32_t>&) override { return 0; }
  uint32_t segment(const Vec3& a, const Vec3& b, std::vector<uint32_t>& found) override {
    const Ray ray(a, b);
    ray_ = &ray;
    begin(found);
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    RTCRayHit hit{};
    hit.ray = {a.x, a.y, a.z, 0, b.x - a.x, b.y - a.y, b.z - a.z, 0, 1, std::numeric_limits<unsigned>::max(), 0, 0};
    hit.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(scene_, &context, &hit);
    return count_;
  }

 private:
  void begin(std::vector<uint32_t>& found) {
    out_ = found.data();
    count_ = 0;
  }

  std::span<const Aabb> boxes_;
  RTCDevice device_;
  RTCScene scene_;
  const Ray* ray_ = nullptr;
  uint32_t* out_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace

std::unique_ptr<SpatialPeer> make_embree_scene(std::span<const Aabb> boxes) {
  return std::make_unique<EmbreeScene>(boxes);
}

}  // namespace meridian::bench

#else

std::unique_ptr<meridian::bench::SpatialPeer> meridian::bench::make_embree_scene(std::span<const Aabb>) { return {}; }

#endif
