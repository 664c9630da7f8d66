#include "kernels/probe/bandwidth.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "kernels/probe/deadline.h"
#include "kernels/probe/steal.h"

namespace memwall::kernels {
namespace {

constexpr std::size_t kPage = std::size_t{2} << 20;
constexpr std::size_t kSampleBytes = std::size_t{128} << 20;  ///< of all threads together
constexpr std::size_t kGrain = 4096;

/// Where each thread reads next: windows that walk through its part of the buffer, so that no sample meets
/// what the one before it left in a cache.
class Windows {
  public:
    /// `arrays` equal arrays side by side in the buffer.
    Windows(const WorkingSet& set, int threads, std::size_t arrays)
        : base_(set.buffer.data()), array_(set.buffer.bytes() / arrays / kGrain * kGrain), threads_(threads) {
        const std::size_t part = array_ / static_cast<std::size_t>(threads) / kGrain * kGrain;
        window_ = std::min(part, kSampleBytes / arrays / static_cast<std::size_t>(threads) / kGrain * kGrain);
        window_ = std::max(window_, std::min(part, kGrain));
        count_ = std::max<std::size_t>(1, part / std::max<std::size_t>(window_, 1));
        part_ = part;
    }
    std::size_t bytes() const { return window_; }
    std::byte* at(std::size_t array, int thread, std::size_t turn) const {
        return base_ + array * array_ + static_cast<std::size_t>(thread) * part_ + turn % count_ * window_;
    }
    std::size_t all_bytes() const { return window_ * static_cast<std::size_t>(threads_); }

  private:
    std::byte* base_;
    std::size_t array_, part_ = 0, window_ = 0, count_ = 1;
    int threads_;
};

/// One way of doing the work of a probe on a window.
struct Way {
    const char* name;
    std::function<void(int thread, std::size_t turn)> work;
};

/// Every way once a round, in an order of chance: bandwidth drifts, and each way gets its share of every
/// drift.
std::vector<SampleSet> sample(const char* probe, const std::vector<Way>& ways, double moved_bytes,
                              ThreadTeam& team, int threads, double seconds) {
    constexpr int kLeast = 3, kMost = 400;
    std::vector<SampleSet> sets(ways.size());
    for (std::size_t i = 0; i < ways.size(); ++i) {
        sets[i].probe = probe;
        sets[i].unit = "B/s";
        sets[i].how = ways[i].name;
        sets[i].threads = threads;
    }
    std::vector<std::size_t> order(ways.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 random(1);  // any order will do, the same one helps to compare runs
    const CpuTicks before = read_cpu_ticks();
    std::size_t turn = 0;
    const auto once = [&](const Way& way) {
        const RunTime time = run_together(team, threads, [&](int thread) { way.work(thread, turn); });
        ++turn;
        return Sample{moved_bytes / std::max(time.wall, 1e-9), time.clean()};
    };
    for (const Way& way : ways) once(way);  // page tables and clocks warm up
    for (Rounds rounds(seconds, kLeast, kMost); rounds.next();) {
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t i : order) sets[i].samples.push_back(once(ways[i]));
    }
    const double steal = steal_between(before, read_cpu_ticks());
    for (SampleSet& set : sets) set.steal = steal;
    return sets;
}

}  // namespace

std::size_t working_set_bytes(Bytes last_cache, Bytes available) {
    constexpr std::int64_t kLeast = 256 * kMiB, kMost = 2 * kGiB, kSmallest = 8 * kMiB;
    std::int64_t bytes = std::clamp(8 * last_cache.value, kLeast, kMost);
    if (available.value > 0) bytes = std::min(bytes, available.value / 4);
    bytes = std::max(bytes, kSmallest);
    return static_cast<std::size_t>(bytes) / kPage * kPage;
}

WorkingSet make_working_set(std::size_t bytes, ThreadTeam& team) {
    WorkingSet set{HugeBuffer(bytes), false};
    team.run([&](int thread) {
        // Any bytes but zeros, which some memory controllers need not move.
        const Range pages = share_of(bytes / kPage, thread, team.threads());
        for (std::size_t page = pages.first; page < pages.last; ++page) {
            std::uint32_t* words = reinterpret_cast<std::uint32_t*>(set.buffer.data() + page * kPage);
            for (std::size_t i = 0; i < kPage / 4; ++i)
                words[i] = 0x3f000000u | (static_cast<std::uint32_t>(i * 2654435761u) & 0x7fffffu);
        }
    });
    set.huge = set.buffer.huge_bytes() >= bytes / 2;
    return set;
}

std::vector<int> thread_counts(int most) {
    std::vector<int> counts;
    for (int n = 1; n < most; n += n < 8 ? 1 : n / 2) counts.push_back(n);
    counts.push_back(most);
    return counts;
}

std::vector<SampleSet> probe_read(const WorkingSet& set, ThreadTeam& team, int threads,
                                  const ProbeLoops& loops, double seconds) {
    const Windows windows(set, threads, 1);
    std::vector<Way> ways;
    for (const ReadPattern& pattern : kReadPatterns)
        ways.push_back({pattern.name, [&windows, &loops, &pattern](int thread, std::size_t turn) {
                            const std::uint64_t sum =
                                loops.read(windows.at(0, thread, turn), windows.bytes(), pattern);
                            __asm__ volatile("" ::"r"(sum));
                        }});
    return sample("read", ways, static_cast<double>(windows.all_bytes()), team, threads, seconds);
}

std::vector<SampleSet> probe_copy(const WorkingSet& set, ThreadTeam& team, int threads,
                                  const ProbeLoops& loops, double seconds) {
    const Windows windows(set, threads, 2);
    std::vector<Way> ways;
    for (const bool streaming : {false, true})
        if (!streaming || loops.streams)
            ways.push_back({streaming ? "streaming stores" : "plain stores",
                            [&windows, &loops, streaming](int thread, std::size_t turn) {
                                loops.copy(windows.at(1, thread, turn), windows.at(0, thread, turn),
                                           windows.bytes(), streaming);
                            }});
    return sample("copy", ways, 2 * static_cast<double>(windows.all_bytes()), team, threads, seconds);
}

std::vector<SampleSet> probe_triad(const WorkingSet& set, ThreadTeam& team, int threads,
                                   const ProbeLoops& loops, double seconds) {
    const Windows windows(set, threads, 3);
    const auto floats = [&](std::size_t array, int thread, std::size_t turn) {
        return reinterpret_cast<float*>(windows.at(array, thread, turn));
    };
    std::vector<Way> ways;
    for (const bool streaming : {false, true})
        if (!streaming || loops.streams)
            ways.push_back({streaming ? "streaming stores" : "plain stores",
                            [&floats, &windows, &loops, streaming](int thread, std::size_t turn) {
                                loops.triad(floats(2, thread, turn), floats(0, thread, turn),
                                            floats(1, thread, turn), windows.bytes(), streaming);
                            }});
    return sample("triad", ways, 3 * static_cast<double>(windows.all_bytes()), team, threads, seconds);
}

}  // namespace memwall::kernels
