#include "kernels/host/thread_team.h"

#include <sched.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/error.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace memwall::kernels {
namespace {

double seconds_of(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void pause_cpu() {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");  // "yield" does nothing on most cores
#endif
}

constexpr int kMostThreads = 4096;

}  // namespace

double wall_seconds() {
    return seconds_of(CLOCK_MONOTONIC);
}

double thread_cpu_seconds() {
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

double RunTime::share() const {
    double least = 1;
    for (std::size_t i = 0; i < cpu.size(); ++i)
        if (own[i] > 0) least = std::min(least, cpu[i] / own[i]);
    return least;
}

RunTime& RunTime::operator+=(const RunTime& next) {
    wall += next.wall;
    cpu.resize(next.cpu.size());
    own.resize(next.own.size());
    for (std::size_t i = 0; i < cpu.size(); ++i) {
        cpu[i] += next.cpu[i];
        own[i] += next.own[i];
    }
    return *this;
}

ThreadTeam::ThreadTeam(int threads) : ThreadTeam(threads, read_topology()) {}

ThreadTeam::ThreadTeam(int threads, const Topology& topology) {
    if (threads == 0) threads = default_threads(topology);
    if (threads < 0 || threads > kMostThreads)
        throw Error("--threads", std::to_string(threads), "1 to " + std::to_string(kMostThreads));
    slots_.resize(static_cast<std::size_t>(threads));
    working_ = threads;  // until every thread has pinned itself
    try {
        for (int i = 0; i < threads; ++i) {
            const Cpu& cpu = topology.cpus[static_cast<std::size_t>(i) % topology.cpus.size()];
            workers_.emplace_back([this, i, os_index = cpu.os_index] { serve(i, os_index); });
        }
    } catch (const std::system_error&) {
        stop();
        throw Error("--threads", "the system gives no more than " + std::to_string(workers_.size()),
                    "fewer threads");
    }
    for (int left; (left = working_.load(std::memory_order_acquire)) > 0;) working_.wait(left);
}

ThreadTeam::~ThreadTeam() {
    stop();
}

void ThreadTeam::stop() {
    stopping_ = true;
    run_.fetch_add(1, std::memory_order_release);
    run_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

void ThreadTeam::fail(std::exception_ptr error) {
    {
        const std::lock_guard lock(error_mutex_);
        if (!error_) error_ = std::move(error);
    }
    broken_.store(true, std::memory_order_release);
}

/// Returns when there is a run after the `seen`-th. The next one often follows at once, and a virtual core
/// that was put to sleep takes 50 to 100 us to wake (KVM on a Xeon, measured): engines look for work before
/// they sleep, and so does this. Somebody else who wants the core gets it meanwhile.
void ThreadTeam::await_run(std::uint32_t seen) {
    constexpr double kLook = 200e-6;
    constexpr int kPauses = 64;
    const double start = wall_seconds();
    do {
        for (int i = 0; i < kPauses; ++i) {
            if (run_.load(std::memory_order_acquire) != seen) return;
            pause_cpu();
        }
        sched_yield();
    } while (wall_seconds() - start < kLook);
    run_.wait(seen, std::memory_order_acquire);
}

void ThreadTeam::serve(int thread, int os_index) {
    if (pin_this_thread(os_index)) pinned_.fetch_add(1, std::memory_order_relaxed);
    Slot& slot = slots_[static_cast<std::size_t>(thread)];
    std::uint32_t seen = 0;
    for (;;) {
        if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1) working_.notify_all();
        await_run(seen);
        ++seen;
        if (stopping_) return;
        const double cpu = thread_cpu_seconds();
        slot.start = wall_seconds();
        try {
            (*job_)(thread);
        } catch (const Broken&) {
        } catch (...) {
            fail(std::current_exception());
        }
        slot.end = wall_seconds();
        slot.cpu = thread_cpu_seconds() - cpu;
    }
}

RunTime ThreadTeam::run(const std::function<void(int)>& fn) {
    job_ = &fn;
    arrived_ = 0;
    broken_ = false;
    working_ = threads();
    run_.fetch_add(1, std::memory_order_release);
    run_.notify_all();
    for (int left; (left = working_.load(std::memory_order_acquire)) > 0;) working_.wait(left);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));

    RunTime time;
    double first = slots_.front().start, last = slots_.front().end;
    for (const Slot& slot : slots_) {
        time.cpu.push_back(slot.cpu);
        time.own.push_back(slot.end - slot.start);
        first = std::min(first, slot.start);
        last = std::max(last, slot.end);
    }
    time.wall = last - first;
    return time;
}

void ThreadTeam::barrier() {
    // Long enough for any step of the kernels; after it somebody else holds a core we wait for.
    constexpr int kSpins = 1 << 14;
    const std::uint32_t phase = phase_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads()) {
        arrived_.store(0, std::memory_order_relaxed);
        phase_.store(phase + 1, std::memory_order_release);
        return;
    }
    for (int spins = 0; phase_.load(std::memory_order_acquire) == phase;) {
        if (broken_.load(std::memory_order_acquire)) throw Broken{};
        if (++spins < kSpins)
            pause_cpu();
        else
            sched_yield();
    }
}

RunTime run_together(ThreadTeam& team, int threads, const std::function<void(int)>& work) {
    struct Part {
        double start = 0, end = 0, cpu = 0;
    };
    std::vector<Part> parts(static_cast<std::size_t>(std::clamp(threads, 1, team.threads())));
    team.run([&](int thread) {
        team.barrier();
        if (static_cast<std::size_t>(thread) >= parts.size()) return;
        Part part;
        part.cpu = -thread_cpu_seconds();
        part.start = wall_seconds();
        work(thread);
        part.end = wall_seconds();
        part.cpu += thread_cpu_seconds();
        parts[static_cast<std::size_t>(thread)] = part;
    });
    RunTime time;
    double first = parts.front().start, last = parts.front().end;
    for (const Part& part : parts) {
        time.cpu.push_back(part.cpu);
        time.own.push_back(part.end - part.start);
        first = std::min(first, part.start);
        last = std::max(last, part.end);
    }
    time.wall = last - first;
    return time;
}

}  // namespace memwall::kernels
