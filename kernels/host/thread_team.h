// Threads that stay: pinned once, woken for every run, joined at the end. A barrier inside a run spins, so
// that a chain of small steps costs no system call; thread CPU time beside wall time tells whether somebody
// else used the core meanwhile (KERNELS section 5, "Preemption").
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/host/topology.h"

namespace memwall::kernels {

double wall_seconds();        ///< monotonic clock
double thread_cpu_seconds();  ///< CPU time of the calling thread, user and system

/// How one run() went. Spinning at a barrier counts as CPU time.
struct RunTime {
    double wall = 0;          ///< from the first thread's start to the last one's end, seconds
    std::vector<double> cpu;  ///< a thread
    std::vector<double> own;  ///< wall time of each thread's own part

    /// Smallest CPU / wall time of a thread: 1 when nobody was preempted. Below 0.97 the sample is not clean.
    double share() const;
    bool clean() const { return share() >= kCleanShare; }
    /// One run after the other, of the same threads.
    RunTime& operator+=(const RunTime& next);
    static constexpr double kCleanShare = 0.97;
};

/// Persistent worker threads; thread i is pinned to the i-th CPU of the topology's order, round again when
/// there are more threads than CPUs. run() may be called by one thread at a time.
class ThreadTeam {
  public:
    /// 0 threads: default_threads(). Throws Error above 4096 threads or when a thread cannot be made.
    explicit ThreadTeam(int threads = 0);
    ThreadTeam(int threads, const Topology& topology);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    int threads() const { return static_cast<int>(workers_.size()); }
    /// True when the system pinned every thread where it belongs.
    bool pinned() const { return pinned_.load(std::memory_order_relaxed) == threads(); }

    /// Calls fn(0) ... fn(threads - 1), each on its own thread, while the caller sleeps. Waking the team
    /// costs microseconds: put many steps into one run with barrier() between them. When a call throws, the
    /// others leave their next barrier, and the first exception is thrown here.
    RunTime run(const std::function<void(int thread)>& fn);

    /// Inside a run: waits until every thread of the team has arrived. What was written before it is seen by
    /// all after it.
    void barrier();

  private:
    struct Broken {};  // thrown out of barrier() when another thread failed
    struct alignas(64) Slot {
        double start = 0, end = 0, cpu = 0;
    };

    void serve(int thread, int os_index);
    void await_run(std::uint32_t seen);
    void stop();
    void fail(std::exception_ptr error);

    std::vector<Slot> slots_;
    const std::function<void(int)>* job_ = nullptr;
    std::mutex error_mutex_;
    std::exception_ptr error_;
    // Written by different threads at different times: a line each.
    alignas(64) std::atomic<std::uint32_t> run_{0};
    alignas(64) std::atomic<int> working_{0};
    alignas(64) std::atomic<int> arrived_{0};
    alignas(64) std::atomic<std::uint32_t> phase_{0};
    alignas(64) std::atomic<bool> broken_{false};
    std::atomic<bool> stopping_{false};
    std::atomic<int> pinned_{0};
    std::vector<std::thread> workers_;
};

/// Runs `work` on the first `threads` of the team after all have met, while the others wait: the time of the
/// work alone, not of waking up. `wall` is from the first start to the last end.
RunTime run_together(ThreadTeam& team, int threads, const std::function<void(int thread)>& work);

/// The half-open range of `count` items that `thread` of `threads` takes: contiguous, in order, sizes
/// differing by at most one.
struct Range {
    std::size_t first = 0, last = 0;
    std::size_t size() const { return last - first; }
};
constexpr Range share_of(std::size_t count, int thread, int threads) {
    const auto i = static_cast<std::size_t>(thread), n = static_cast<std::size_t>(threads);
    const std::size_t each = count / n, rest = count % n;
    const std::size_t first = i * each + (i < rest ? i : rest);
    return {first, first + each + (i < rest ? 1 : 0)};
}

}  // namespace memwall::kernels
