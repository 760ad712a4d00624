// SPDX-License-Identifier: MIT
#pragma once
/// The nodes of a scene: one for the outside, one for each loaded map, and one for each interior with its rooms and
/// portals. A node is a place in a tree and a chain of containers; what stands in containers are descriptors
/// (scene/container_table.h). Nodes are made and linked by a SceneGraph.
///
///   uint32_t rooms = 0;
///   for (SceneWalk walk(scene.root()); walk.node() != nullptr;) {
///     const bool is_interior = walk.node()->type() == NodeType::interior;
///     if (is_interior) ++rooms;
///     if (is_interior) walk.skip_children();                // rooms and portals are not looked at
///     else walk.next();
///   }
///
/// Threads: readers; the scene's owner writes while the scene is not locked.

#include <cstdint>

#include "meridian/base/math.h"
#include "meridian/base/portal_corners.h"
#include "meridian/entity/entity_handle.h"

namespace meridian {

/// In the order of their dense indices.
enum class NodeType : uint8_t { exterior, streamed, interior, room, portal };
inline constexpr uint32_t kNodeTypes = 5;

/// Bits of a node's flags.
enum NodeFlags : uint8_t {
  kNodeInWorld = 1 << 0,      ///< below the root
  kNodeEnabled = 1 << 1,      ///< a node that is not hides itself and all below it
  kNodeSpawnPoints = 1 << 2,  ///< an entity at least has spawn points
  kNodeHd = 1 << 3,           ///< of a map with HD entities
  kNodeClosed = 1 << 4,       ///< a portal whose door is shut
};

inline constexpr uint32_t kNoContainer = 0xFFFFFFFF;

/// A node, as far as all kinds are alike.
class SceneNode {
 public:
  NodeType type() const { return type_; }
  /// Unique among all nodes, [0, SceneGraph::node_capacity()): exterior, streamed, interior, room, portal in this
  /// order.
  uint16_t index() const { return index_; }
  uint8_t flags() const { return flags_; }
  bool is_in_world() const { return (flags_ & kNodeInWorld) != 0; }
  bool is_enabled() const { return (flags_ & kNodeEnabled) != 0; }
  SceneNode* parent() const { return parent_; }
  SceneNode* first_child() const { return first_child_; }
  SceneNode* last_child() const { return last_child_; }
  SceneNode* next() const { return next_; }  ///< sibling
  SceneNode* previous() const { return previous_; }
  uint32_t first_container() const { return first_container_; }  ///< or kNoContainer; see SceneGraph::next_container
  uint32_t container_count() const { return container_count_; }

 protected:
  explicit SceneNode(NodeType type) : type_(type) {}
  ~SceneNode() = default;

 private:
  friend class SceneGraph;
  SceneNode* parent_ = nullptr;
  SceneNode *next_ = nullptr, *previous_ = nullptr, *first_child_ = nullptr, *last_child_ = nullptr;
  uint32_t first_container_ = kNoContainer, last_container_ = kNoContainer, container_count_ = 0;
  uint32_t roomy_container_ = kNoContainer;  // where a free slot is likely; may be of another node by now
  uint16_t index_ = 0;
  NodeType type_;
  uint8_t flags_ = kNodeEnabled;
};

/// The outside. There is one, the root.
class ExteriorNode final : public SceneNode {
 public:
  ExteriorNode() : SceneNode(NodeType::exterior) {}
};

/// What one loaded map placed outside of interiors.
class StreamedNode final : public SceneNode {
 public:
  StreamedNode() : SceneNode(NodeType::streamed) {}
  uint32_t imap = 0xFFFFFFFF;  ///< slot of the map
};

/// A placed interior; its rooms and portals are its children.
class InteriorNode final : public SceneNode {
 public:
  InteriorNode() : SceneNode(NodeType::interior) {}
  int16_t interior = -1;  ///< index, as in InteriorLocation
  EntityHandle instance;  ///< the entity that stands for the whole
  Transform at;           ///< from the interior's space to the world
};

/// A room. Room 0 of an interior is the outside, "limbo".
class RoomNode final : public SceneNode {
 public:
  RoomNode() : SceneNode(NodeType::room) {}
  uint32_t room_flags = 0;                 ///< schema::RoomFlags
  int32_t exterior_visibility_depth = -1;  ///< portals through which the outside is seen from here; -1: no limit
  uint8_t room = 0;                        ///< index in the interior
};

/// An opening between two rooms, or between a room and the outside.
class PortalNode final : public SceneNode {
 public:
  PortalNode() : SceneNode(NodeType::portal) {}
  PortalCorners corners;  ///< clockwise as seen from room_from; flags are schema::PortalFlags [m]
  uint8_t room_from = 0;  ///< index in the interior
  uint8_t room_to = 0;    ///< 0: the outside
  uint16_t portal = 0;    ///< index in the interior
  uint32_t priority = 0;  ///< of a mirror

  bool is_closed() const { return (flags() & kNodeClosed) != 0; }
  bool leads_outside() const { return room_from == 0 || room_to == 0; }
};

/// Walks a node and all below it, parents first, children in the order in which they were appended. Needs no stack:
/// nodes know their parents.
class SceneWalk {
 public:
  explicit SceneWalk(SceneNode* top) : top_(top), at_(top) {}
  /// Null at the end.
  SceneNode* node() const { return at_; }
  /// Goes on with the first child, if there is one.
  void next() {
    if (at_ != nullptr && at_->first_child() != nullptr) {
      at_ = at_->first_child();
    } else {
      skip_children();
    }
  }
  /// Goes on behind all that is below this node.
  void skip_children() {
    while (at_ != nullptr && at_ != top_ && at_->next() == nullptr) at_ = at_->parent();
    at_ = at_ == nullptr || at_ == top_ ? nullptr : at_->next();
  }

 private:
  SceneNode* top_;
  SceneNode* at_;
};

}  // namespace meridian
