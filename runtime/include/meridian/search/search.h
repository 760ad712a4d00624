// SPDX-License-Identifier: MIT
#pragma once
/// Which entities are there? Searches find what stands in a volume, in the hierarchy of a scene's containers and their
/// descriptors. No entity is touched, nothing is allocated, and any number of searches may run at the same time.
///
///   EntityHandle found[64];
///   SearchResult result;
///   const EntityQuery near_camera{.volume = sphere_volume(camera, 30.0f)};
///   Status done = search_now(scene, near_camera, found, result);     // found[0 .. result.stored)
///
/// On another thread, while this one goes on with what does not change the scene:
///
///   Search search;
///   done = search.start(scene, near_camera, jobs, found);            // locks the scene
///   if (search.is_finished()) { /* finish() will not wait */ }
///   done = search.finish(result);                                    // waits if need be, and unlocks
///
/// What "in" means stands in scene/query.h. With lo and hi for the corners of an entity's box and p, r for centre and
/// radius, in single precision, rounded after each operation in this order:
/// - sphere: d = max(max(lo - p, p - hi), 0) on each axis; in if (dx * dx + dy * dy) + dz * dz <= r * r.
/// - box: in if lo <= max and hi >= min on each axis.
/// - frustum: v is hi where a component of the normal is >= 0, else lo; in unless, for one of the planes,
///   ((nx * vx + ny * vy) + nz * vz) + d < 0.
/// - segment from a to b: near and far are lo and hi where it runs upwards, else hi and lo; enter and back are the
///   largest of 0, (near - a) * (1 / (b - a)) and (b - far) * (1 / (b - a)) over the axes, those left out on which that
///   inverse is not finite; in if the extents touch and enter + back <= 1 + 2^-21. So it misses nothing that it
///   touches, and may take in what it misses by less than 2^-20 of its length.
/// Oriented boxes and swept spheres are decided in double precision, on the safe side: what is missed by less than
/// 2^-44 of the numbers involved counts as in. Never-visible descriptors are in nothing.
///
/// The order of what is found is open, but is the same for the same scene.
///
/// A scene is anything that has containers() and hierarchy(), and for Search also lock() and unlock(), as SceneGraph.
///
/// Threads: search_now and search_visit run on any thread, while nobody changes the scene: its owner holds a lock, or
///          is the one who searches. Search: see there.
/// Memory:  none; stack < 6 KiB.
/// Source:  own.

#include <cstdint>
#include <span>

#include "meridian/base/status.h"
#include "meridian/jobs/job_system.h"
#include "meridian/scene/box_hierarchy.h"
#include "meridian/scene/container_table.h"
#include "meridian/scene/query.h"

namespace meridian {

// --- at once -----------------------------------------------------------------------------------------

/// Finds the entities that `query` asks for, and stores them in `out`, as many as it has room for. The full number is
/// in `result` all the same, so that a caller can size and retry.
/// Errors: bad_value (see check(EntityQuery)); then nothing is found.
template <class Scene>
Status search_now(const Scene& scene, const EntityQuery& query, std::span<EntityHandle> out, SearchResult& result);

/// Calls `visitor` for each entity that `query` asks for, until it returns false. `result` counts the calls, as found
/// and as stored.
/// Requires: `visitor` is not null (asserted; otherwise nothing is found) and does not change the scene.
/// Errors:   bad_value, as search_now.
template <class Scene>
Status search_visit(const Scene& scene, const EntityQuery& query, EntityVisitor visitor, void* user,
                    SearchResult& result);

/// The same in the tables that scenes are made of. These *add* to `result`, and store from out[result.stored] on, so
/// that several scenes can be searched one after the other; SceneRepresentation::set_search takes the first. Nothing
/// changes on an error.
/// Requires: result.stored <= out.size() (asserted; otherwise nothing is stored).
Status search_scene(const ContainerTable& containers, const BoxHierarchy& hierarchy, const EntityQuery& query,
                    std::span<EntityHandle> out, SearchResult& result);
Status visit_scene(const ContainerTable& containers, const BoxHierarchy& hierarchy, const EntityQuery& query,
                   EntityVisitor visitor, void* user, SearchResult& result);

// --- beside other work -------------------------------------------------------------------------------

/// A search that a job does. It holds the scene's lock from start() to finish(). May be used again after that.
/// Threads: main: start and finish belong to the owner of the scene; is_finished to any thread between them.
class Search {
 public:
  Search() = default;
  /// Requires: finished (asserted; otherwise it is finished here, and its result lost).
  ~Search();
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  /// Locks `scene` and has the search done by a job. `scene` and what `out` points to must live until finish(); `query`
  /// is copied.
  /// Requires: not started (asserted; otherwise in_use, and the search that runs goes on).
  /// Errors:   bad_value, see check(EntityQuery): nothing is locked, and finish() is not due.
  template <class Scene>
  Status start(Scene& scene, const EntityQuery& query, JobSystem& jobs, std::span<EntityHandle> out,
               JobPriority priority = JobPriority::normal) {
    constexpr LockCall kLock = [](void* s) { static_cast<Scene*>(s)->lock(); };
    constexpr LockCall kUnlock = [](void* s) { static_cast<Scene*>(s)->unlock(); };
    const Status usable = prepare(query);
    if (!usable.ok()) return usable;
    kLock(&scene);  // before its arrays are looked at: locking may make them anew
    run(scene.containers(), scene.hierarchy(), kUnlock, &scene, jobs, out, priority);
    return {};
  }

  bool is_started() const { return jobs_ != nullptr; }
  /// True if the search is done: finish() will not wait, and `out` is filled. False while it runs, or if none was
  /// started. A search that a program without workers never waits for is never done.
  bool is_finished() const { return is_started() && counter_.is_done(); }

  /// Waits until the search is done, doing it itself if no other thread has begun, and unlocks the scene.
  /// Requires: started (asserted; otherwise not_found, and `result` is zero).
  Status finish(SearchResult& result);

 private:
  using LockCall = void (*)(void* scene);

  Status prepare(const EntityQuery& query);
  void run(const ContainerTable& containers, const BoxHierarchy& hierarchy, LockCall unlock, void* scene,
           JobSystem& jobs, std::span<EntityHandle> out, JobPriority priority);

  EntityQuery query_;
  std::span<EntityHandle> out_;
  SearchResult result_;
  Status status_;
  const ContainerTable* containers_ = nullptr;
  const BoxHierarchy* hierarchy_ = nullptr;
  JobSystem* jobs_ = nullptr;  // null: not started
  LockCall unlock_ = nullptr;
  void* scene_ = nullptr;
  JobCounter counter_;
};

// --- statistics --------------------------------------------------------------------------------------

/// What was searched for on behalf of a module, in all scenes, since the program began.
struct SearchCounts {
  uint64_t searches = 0;  ///< done without an error [count]
  uint64_t found = 0;     ///< entities found by them [count]
};
/// Threads: internal (atomics).
SearchCounts search_counts(SearchModule module);

// --- how templates do it -----------------------------------------------------------------------------

template <class Scene>
Status search_now(const Scene& scene, const EntityQuery& query, std::span<EntityHandle> out, SearchResult& result) {
  result = {};
  return search_scene(scene.containers(), scene.hierarchy(), query, out, result);
}

template <class Scene>
Status search_visit(const Scene& scene, const EntityQuery& query, EntityVisitor visitor, void* user,
                    SearchResult& result) {
  result = {};
  return visit_scene(scene.containers(), scene.hierarchy(), query, visitor, user, result);
}

}  // namespace meridian
