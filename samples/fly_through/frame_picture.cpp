// SPDX-License-Identifier: MIT
#include "frame_picture.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#if FLY_THROUGH_HAS_PNG
#include <png.h>
#endif

using namespace meridian;  // NOLINT(google-build-using-namespace): a program of one purpose

namespace {

constexpr int kSize = 1000;  // [pixels]

struct Colour {
  uint8_t red, green, blue;
};
// In the order of the legend.
constexpr Colour kVisible{80, 200, 90}, kOccluded{245, 150, 40}, kTooFar{120, 120, 125}, kOutside{40, 62, 120},
    kOtherLevel{140, 85, 160}, kMaps{125, 125, 60}, kPortals{235, 60, 200};
constexpr Colour kOfPhase[kPhases] = {{255, 255, 255}, {255, 235, 80},  {90, 230, 230},
                                      {70, 130, 255},  {190, 255, 190}, {255, 80, 70}};
constexpr Colour kGround{18, 20, 26};

/// North is up.
class Canvas {
 public:
  Canvas(const Vec3& middle, float reach)
      : pixels_(size_t{kSize} * kSize, kGround), middle_(middle), scale_(kSize / (2 * reach)) {}

  int x(float at) const { return to_pixel((at - middle_.x) * scale_); }
  int y(float at) const { return to_pixel((middle_.y - at) * scale_); }
  /// Of the middle of a pixel, at the height of the middle of the picture.
  Vec3 place(int x, int y) const {
    const auto off = [this](int at) { return (static_cast<float>(at - kSize / 2) + 0.5f) / scale_; };
    return {middle_.x + off(x), middle_.y - off(y), middle_.z};
  }

  void dot(int x, int y, Colour colour) {
    if (x >= 0 && y >= 0 && x < kSize && y < kSize)
      pixels_[static_cast<size_t>(y) * kSize + static_cast<size_t>(x)] = colour;
  }
  void fill(int x0, int y0, int x1, int y1, Colour colour) {
    for (int y = std::max(y0, 0); y <= std::min(y1, kSize - 1); ++y)
      for (int x = std::max(x0, 0); x <= std::min(x1, kSize - 1); ++x) dot(x, y, colour);
  }
  void frame(int x0, int y0, int x1, int y1, Colour colour) {
    fill(x0, y0, x1, y0, colour);
    fill(x0, y1, x1, y1, colour);
    fill(x0, y0, x0, y1, colour);
    fill(x1, y0, x1, y1, colour);
  }
  /// What is large would hide all else: only its border is drawn.
  void box(const Aabb& box, Colour colour, bool is_frame = false) {
    const int x0 = x(box.min.x), x1 = x(box.max.x), y0 = y(box.max.y), y1 = y(box.min.y);
    if (x1 < 0 || y1 < 0 || x0 >= kSize || y0 >= kSize) return;
    if (is_frame || x1 - x0 > kSize / 25 || y1 - y0 > kSize / 25) return frame(x0, y0, x1, y1, colour);
    fill(x0, y0, x1, y1, colour);
  }
  void line(const Vec3& from, const Vec3& to, Colour colour) {
    const int x0 = x(from.x), y0 = y(from.y), x1 = x(to.x), y1 = y(to.y);
    const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
    for (int i = 0; i <= steps; ++i) dot(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps, colour);
  }

  bool write(const std::string& path) const {
#if FLY_THROUGH_HAS_PNG
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = image.height = kSize;
    image.format = PNG_FORMAT_RGB;
    return png_image_write_to_file(&image, path.c_str(), 0, pixels_.data(), 0, nullptr) != 0;
#else
    (void)path;
    return false;
#endif
  }

 private:
  static int to_pixel(float off) {
    return static_cast<int>(std::clamp(off, -1e6f, 1e6f) + 2e6f) - 2000000 + kSize / 2;  // rounded down
  }
  std::vector<Colour> pixels_;
  Vec3 middle_;
  float scale_;
};
static_assert(sizeof(Colour) == 3);

/// In which order entities are drawn: those that matter last. 0: not at all.
int rank_of(VisibilityCause cause, Colour& colour) {
  switch (cause) {
    case VisibilityCause::too_far:
    case VisibilityCause::window:
    case VisibilityCause::range:
    case VisibilityCause::cap:
    case VisibilityCause::faded:
      colour = kTooFar;
      return 1;
    case VisibilityCause::plane:
    case VisibilityCause::sphere:
    case VisibilityCause::quad:
    case VisibilityCause::node_not_seen:
      colour = kOutside;
      return 2;
    case VisibilityCause::lod_set:
    case VisibilityCause::no_alpha:
      colour = kOtherLevel;
      return 3;
    case VisibilityCause::visible:
      colour = kVisible;
      return 4;
    case VisibilityCause::occluded:
      colour = kOccluded;
      return 5;
    default:
      return 0;
  }
}

void draw_entities(Canvas& canvas, const Sight& sight, float reach) {
  struct Drawn {
    int rank;
    Colour colour;
    Aabb box;
  };
  std::vector<Drawn> all;
  const SceneGraph& graph = *sight.scan().config().graph;
  const std::span<const ContainerView> views = graph.containers().views;
  const Vec3& middle = sight.camera().at;
  for (uint32_t c = 0; c < views.size(); ++c) {
    for (uint32_t slot = 0; slot < views[c].slots; ++slot) {
      if (!graph.is_used({c, slot})) continue;
      const EntityDesc desc = graph.read({c, slot});
      const Vec3 off = desc.centre - middle;
      if (std::max(std::abs(off.x) - desc.half.x, std::abs(off.y) - desc.half.y) > reach) continue;
      Drawn drawn{0, {}, {desc.centre - desc.half, desc.centre + desc.half}};
      drawn.rank = rank_of(sight.explain(kGbuffer, SceneSlot{c, slot}).cause, drawn.colour);
      if (drawn.rank != 0) all.push_back(drawn);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Drawn& a, const Drawn& b) { return a.rank < b.rank; });
  for (const Drawn& drawn : all) canvas.box(drawn.box, drawn.colour);
}

void draw_maps(Canvas& canvas, const WorldStreaming& streaming) {
  for (const MapSlot& map : streaming.layers().layer(0).index.maps())
    if (streaming.maps().is_in_world(streaming.maps().find(map.name))) canvas.box(map.entities, kMaps, true);
}

void draw_portals(Canvas& canvas, const SceneGraph& graph) {
  for (uint32_t i = 0; i < graph.node_capacity(); ++i) {
    const SceneNode* const node = graph.node_at(i);
    if (node == nullptr || node->type() != NodeType::portal || !node->is_in_world()) continue;
    const PortalCorners& corners = static_cast<const PortalNode*>(node)->corners;
    for (int k = 0; k < 4; ++k) canvas.line(corners.point(k), corners.point((k + 1) % 4), kPortals);
  }
}

bool is_inside(const CullShape& shape, const Vec3& p) {
  if ((shape.flags & kCullUseFrustum) != 0) {
    const auto all_hold = [&](const Plane& plane) { return dot(plane.normal, p) + plane.d >= 0; };
    return std::all_of(shape.planes, shape.planes + shape.plane_count, all_hold);
  }
  const Vec3 off = p - shape.sphere_centre;
  return dot(off, off) <= shape.sphere_radius * shape.sphere_radius;
}

/// The border of what a shape holds at the height of the camera.
void draw_shape(Canvas& canvas, const CullShape& shape) {
  std::vector<uint8_t> inside(size_t{kSize} * kSize);
  const auto at = [&](int x, int y) -> uint8_t& {
    return inside[static_cast<size_t>(y) * kSize + static_cast<size_t>(x)];
  };
  for (int y = 0; y < kSize; ++y)
    for (int x = 0; x < kSize; ++x) at(x, y) = is_inside(shape, canvas.place(x, y)) ? 1 : 0;
  for (int y = 1; y < kSize; ++y)
    for (int x = 1; x < kSize; ++x)
      if (at(x, y) != at(x - 1, y) || at(x, y) != at(x, y - 1)) canvas.dot(x, y, kOfPhase[shape.phase]);
}

void draw_legend(Canvas& canvas) {
  std::vector<Colour> all{kVisible, kOccluded, kTooFar, kOutside, kOtherLevel, kMaps, kPortals};
  all.insert(all.end(), std::begin(kOfPhase), std::end(kOfPhase));
  int top = 8;
  for (const Colour& colour : all) {
    canvas.fill(7, top - 1, 23, top + 15, kGround);
    canvas.fill(8, top, 22, top + 14, colour);
    top += 20;
  }
}

}  // namespace

bool has_frame_pictures() {
#if FLY_THROUGH_HAS_PNG
  return true;
#else
  return false;
#endif
}

bool write_frame_picture(const Sight& sight, const WorldStreaming& streaming, float reach, const std::string& path) {
  const Vec3& eye = sight.camera().at;
  Canvas canvas(eye, reach);
  draw_maps(canvas, streaming);
  draw_entities(canvas, sight, reach);
  draw_portals(canvas, *sight.scan().config().graph);
  for (uint32_t i = 0; i < sight.scan().shape_count(); ++i) draw_shape(canvas, sight.scan().shape(i));
  canvas.fill(canvas.x(eye.x) - 3, canvas.y(eye.y) - 3, canvas.x(eye.x) + 3, canvas.y(eye.y) + 3, kOfPhase[kGbuffer]);
  draw_legend(canvas);
  return canvas.write(path);
}
