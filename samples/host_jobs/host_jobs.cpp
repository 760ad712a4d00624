// SPDX-License-Identifier: MIT
// Runs Meridian's work on the host's own thread pool: a JobSystem on top of it, and a check that it does all of it.

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "meridian/entity/transform.h"
#include "meridian/jobs/queued_jobs.h"
#include "meridian/jobs/serial_jobs.h"

namespace {

/// What a host may have: threads that run tasks, first come, first served. It knows nothing of Meridian.
class Pool {
 public:
  struct Task {
    void (*run)(void* context);
    void* context;
  };

  explicit Pool(uint32_t threads) {
    for (uint32_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run_tasks(); });
  }
  ~Pool() { finish(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void post(Task task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(task);
    changed_.notify_one();
  }
  /// Runs all that was posted, and ends the threads.
  void finish() {
    {
      const std::lock_guard lock(mutex_);
      is_finishing_ = true;
      changed_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  void run_tasks() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !tasks_.empty() || is_finishing_; });
      if (tasks_.empty()) return;
      const Task task = tasks_.front();
      tasks_.pop_front();
      lock.unlock();
      task.run(task.context);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool is_finishing_ = false;
  std::vector<std::thread> threads_;
};

/// Meridian's jobs as tasks of the pool. A task isn't tied to a job: it runs what is ready when its turn comes, so
/// Meridian's priorities hold, and a job that a waiting thread took leaves a task with nothing to do, and no harm.
class HostJobs final : public meridian::QueuedJobs {
 public:
  HostJobs(Pool& pool, uint32_t threads) : pool_(pool), threads_(threads) {}

  meridian::Status start() { return open(/*capacity=*/1024, meridian::default_allocator()); }
  /// Between the two calls the pool must finish the tasks that still point here.
  void begin_shutdown() { stop(); }
  void end_shutdown() { close(); }
  uint32_t worker_count() const override { return threads_; }

 private:
  void on_ready(uint32_t count) override {
    for (uint32_t i = 0; i < count && i < threads_; ++i) {
      pool_.post({[](void* self) { static_cast<HostJobs*>(self)->run_ready(); }, this});
    }
  }

  Pool& pool_;
  uint32_t threads_;
};

/// Places entities along a spiral, and computes the box of each in the world.
struct Placement {
  const std::vector<meridian::PlaceInput>* inputs;
  std::vector<meridian::CentredBox>* boxes;

  static void place(void* context, uint32_t begin, uint32_t end) {
    const Placement& self = *static_cast<const Placement*>(context);
    for (uint32_t i = begin; i < end; ++i) {
      const meridian::Placed placed = meridian::place_entity((*self.inputs)[i]);
      (*self.boxes)[i] = meridian::world_box(placed.transform, {{-1, -1, 0}, {1, 1, 3}});
    }
  }
};

std::vector<meridian::PlaceInput> spiral(uint32_t count) {
  std::vector<meridian::PlaceInput> inputs(count);
  for (uint32_t i = 0; i < count; ++i) {
    const float step = static_cast<float>(i % 1000) * 0.01f;
    inputs[i].position = {step * 10, static_cast<float>(i) * 0.1f, step};
    inputs[i].rotation = {0, 0, step - 5, 1};
  }
  return inputs;
}

}  // namespace

int main() {
  constexpr uint32_t kCount = 100'000, kThreads = 3, kFrames = 20;
  const std::vector<meridian::PlaceInput> inputs = spiral(kCount);

  // The same work without threads is what the results are compared with.
  std::vector<meridian::CentredBox> expected(kCount);
  Placement plain{&inputs, &expected};
  meridian::SerialJobs serial;
  if (!serial.start().ok()) return 3;
  meridian::JobCounter serial_counter;
  serial.parallel_for(kCount, 512, Placement::place, &plain, meridian::JobPriority::normal, serial_counter);
  serial.wait(serial_counter);
  serial.shutdown();

  Pool pool(kThreads);
  HostJobs jobs(pool, kThreads);
  if (!jobs.start().ok()) return 3;
  std::vector<meridian::CentredBox> boxes(kCount);
  Placement placement{&inputs, &boxes};
  uint32_t differences = 0, helped = 0;
  for (uint32_t frame = 0; frame < kFrames; ++frame) {
    std::memset(static_cast<void*>(boxes.data()), 0, boxes.size() * sizeof boxes[0]);
    meridian::JobCounter counter;
    jobs.parallel_for(kCount, 512, Placement::place, &placement, meridian::JobPriority::high, counter);
    // The thread of the frame helps, and may look at something else between two jobs.
    while (jobs.try_run_one(counter)) ++helped;
    jobs.wait(counter);
    if (std::memcmp(boxes.data(), expected.data(), boxes.size() * sizeof boxes[0]) != 0) ++differences;
  }

  jobs.begin_shutdown();
  pool.finish();
  jobs.end_shutdown();
  std::printf("%u frames of %u entities on %u threads of the host; the frame's own thread ran %u of %u jobs\n", kFrames,
              kCount, kThreads, helped, kFrames * ((kCount + 511) / 512));
  if (differences != 0) std::fprintf(stderr, "host_jobs: %u frames differ from the serial result\n", differences);
  return differences == 0 ? 0 : 1;
}
