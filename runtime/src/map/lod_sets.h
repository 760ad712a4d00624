// SPDX-License-Identifier: MIT
#pragma once
/// The LOD sets of loaded maps: which records there are, what the rows of link tables point at, which sets are ready.
///
/// A map that is shown has a record for each parent among its entities. Rows of a shown map point at its own records,
/// or at those of its parent map while it is bound to that and that is shown; a row that points nowhere makes its
/// entities fade alone. A map that is not shown has no records, and its rows point nowhere: so all of this begins in show() and
/// ends in hide(). One that is bound and not shown says one thing only: its priority cap, by which it is waited for.
///
/// Binding and unbinding under a lock must not change what readers see: it only leaves the sets *stale*, and everything
/// is looked at anew before anything else happens, at the unlock at the latest.
///
/// lod_sets.cpp: records and rows. lod_readiness.cpp: which sets are ready.
///
/// Threads: main. Memory: one block in make().

#include <cstdint>

#include "meridian/map/map_world.h"
#include "meridian/schemas/imap_generated.h"

namespace meridian {

class MapLodSets {
 public:
  static Status make(MapWorld& maps);
  static void destroy(MapWorld& maps);

  // --- what happens to maps -----------------------------------------------------------------------------
  void shown(MapContents& map);
  /// Before it leaves the world: first the sets in which it has children are ready no more.
  void hiding(MapContents& map);
  void bound(MapContents& child);
  void unbound(MapContents& child, MapContents& parent);
  /// Its link table is about to become another one, and is.
  void rebuilding() { sync(); }
  void rebuilt(MapContents& map);
  /// An entity was destroyed by itself.
  void left(MapContents& map, uint32_t entity);

  // --- what is asked for --------------------------------------------------------------------------------
  void update(float seconds);
  void refresh(const Entity& entity);
  void recount(NameHash map);
  void hold() { ++held_; }
  void let_go();

 private:
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  /// What a record stands for.
  struct Home {
    MapContents* map = nullptr;
    uint32_t parent_index = 0;
    uint32_t next = kNoLodSetId;  // of the same map
    uint32_t place = kNone;       // in asking_
  };
  /// What the definitions and the maps that are there say of a set.
  struct Verdict {
    bool is_complete = false;  ///< nothing lacks but, perhaps, the host's word
    bool is_ready = false;
    uint8_t level = 0;
  };

  explicit MapLodSets(MapWorld& maps) : maps_(maps) {}
  bool is_locked() const { return maps_.config_.scene->graph().is_locked(); }

  // Rows and records.
  bool make_stale_if_locked();
  void sync();
  void make_records(MapContents& map);
  void release(uint32_t id);
  void release_all(MapContents& map);
  void resolve(MapContents& map);
  void detach(MapContents& map);
  static uint32_t id_of(const MapContents& map, uint32_t parent_index);
  static uint16_t child_row(const MapContents& map, uint32_t entity);
  static void list_children(MapContents& map);

  // Readiness.
  void judge(uint32_t id, const MapContents* leaving = nullptr);
  void judge_all(MapContents& map);
  void judge_naming(MapContents& map, const MapContents& child, const MapContents* leaving = nullptr);
  Verdict look(const Home& home, const MapContents* leaving) const;
  bool look_at_children(MapContents& in, bool in_parent, uint32_t parent_index, Verdict& verdict, bool& any) const;
  static MapContents* find_child(const MapContents& map, const schema::LodSetChildren& row);
  bool counts(const MapContents& map, const schema::LodSetChildren& row) const;
  void ask(uint32_t id);
  void stop_asking(uint32_t id);

  MapWorld& maps_;
  Home* homes_ = nullptr;       // by id
  uint32_t* asking_ = nullptr;  // sets that wait for nothing but the host
  uint32_t asking_count_ = 0;
  uint32_t hour_ = 0;
  bool is_stale_ = false, is_sync_deferred_ = false;
  bool lacks_records_ = false;  // of some map: there were none left
  bool has_missed_ = false;     // something was to be judged while they were held
  uint32_t held_ = 0;
};

}  // namespace meridian
