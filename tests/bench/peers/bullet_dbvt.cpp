// SPDX-License-Identifier: MIT
// Bullet's dynamic tree of bounding volumes, built from the top.
#include "peers/spatial_peer.h"

#if MERIDIAN_HAS_BULLET

#include <BulletCollision/BroadphaseCollision/btDbvt.h>

namespace meridian::bench {
namespace {

btVector3 vector(const Vec3& v) { return {v.x, v.y, v.z}; }

class BulletDbvt final : public SpatialPeer {
 public:
  explicit BulletDbvt(std::span<const Aabb> boxes) : boxes_(boxes) {
    for (uint32_t i = 0; i < boxes.size(); ++i) {
      const btDbvtVolume volume = btDbvtVolume::FromMM(vector(boxes[i].min), vector(boxes[i].max));
      tree_.insert(volume, nullptr)->dataAsInt = static_cast<int>(i);
    }
    tree_.optimizeTopDown();
  }

  uint32_t sphere(const Vec3& centre, float radius, std::vector<uint32_t>& found) override {
    const Vec3 r{radius, radius, radius};
    const auto is_near = [&](uint32_t i) { return touches_sphere(boxes_[i], centre, radius); };
    Collect collect(found, is_near);
    tree_.collideTV(tree_.m_root, btDbvtVolume::FromMM(vector(centre - r), vector(centre + r)), collect);
    return collect.count;
  }
  uint32_t box(const Aabb& box, std::vector<uint32_t>& found) override {
    const auto all = [](uint32_t) { return true; };
    Collect collect(found, all);
    tree_.collideTV(tree_.m_root, btDbvtVolume::FromMM(vector(box.min), vector(box.max)), collect);
    return collect.count;
  }
  uint32_t segment(const Vec3& a, const Vec3& b, std::vector<uint32_t>& found) override {
    const btVector3 from = vector(a), to = vector(b);
    btVector3 direction = to - from;
    direction.normalize();
    const btScalar length = direction.dot(to - from);
    const btVector3 inverse(1 / direction.x(), 1 / direction.y(), 1 / direction.z());
    unsigned signs[3] = {inverse.x() < 0, inverse.y() < 0, inverse.z() < 0};
    const Ray ray(a, b);
    const auto is_hit = [&](uint32_t i) { return ray.touches(boxes_[i]); };
    Collect collect(found, is_hit);
    tree_.rayTestInternal(tree_.m_root, from, to, inverse, signs, length, btVector3(0, 0, 0), btVector3(0, 0, 0),
                          stack_, collect);
    return collect.count;
  }

  uint32_t frustum(std::span<const Plane> planes, const Aabb&, std::vector<uint32_t>& found) override {
    btVector3 normals[16];
    btScalar offsets[16];
    const auto count = static_cast<int>(planes.size());
    for (int i = 0; i < count; ++i) {
      normals[i] = vector(planes[static_cast<size_t>(i)].normal);
      offsets[i] = planes[static_cast<size_t>(i)].d;
    }
    const auto is_inside = [&](uint32_t i) { return touches_frustum(boxes_[i], planes); };
    Collect collect(found, is_inside);
    tree_.collideKDOP(tree_.m_root, normals, offsets, count, collect);
    return collect.count;
  }

 private:
  template <class Keep>
  struct Collect : btDbvt::ICollide {
    std::vector<uint32_t>& found;
    const Keep& keep;
    uint32_t count = 0;
    Collect(std::vector<uint32_t>& to, const Keep& which) : found(to), keep(which) {}
    void Process(const btDbvtNode* node) {
      const auto item = static_cast<uint32_t>(node->dataAsInt);
      if (keep(item)) found[count++] = item;
    }
  };

  std::span<const Aabb> boxes_;
  btDbvt tree_;
  btAlignedObjectArray<const btDbvtNode*> stack_;
};

}  // namespace

std::unique_ptr<SpatialPeer> make_bullet_dbvt(std::span<const Aabb> boxes) {
  return std::make_unique<BulletDbvt>(boxes);
}

}  // namespace meridian::bench

#else

std::unique_ptr<meridian::bench::SpatialPeer> meridian::bench::make_bullet_dbvt(std::span<const Aabb>) { return {}; }

#endif
