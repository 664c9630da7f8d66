// Very short real probes: structure and sanity, never speed.
#include <algorithm>

#include "core/base/error.h"
#include "kernels/probe/bandwidth.h"
#include "kernels/probe/choose_loops.h"
#include "kernels/probe/compute.h"
#include "kernels/probe/deadline.h"
#include "kernels/probe/steal.h"
#include "kernels/probe/storage.h"
#include "tests/catch.h"
#include "tests/devices/temporary_folder.h"

namespace memwall::kernels {
namespace {

void check(const SampleSet& set, const char* probe, const char* unit, int threads) {
    INFO(set.probe << " " << set.how);
    CHECK(set.probe == probe);
    CHECK(set.unit == unit);
    CHECK(set.threads == threads);
    CHECK(set.samples.size() >= 3);
    for (const Sample& s : set.samples) CHECK(s.value > 0);
}

TEST_CASE("Every probe brings samples of every way", "[kernels]") {
    ThreadTeam team(2);
    const WorkingSet set = make_working_set(std::size_t{16} << 20, team);
    // Filled with floats that are normal numbers.
    const float* floats = set.buffer.as<float>();
    CHECK(
        std::all_of(floats, floats + (std::size_t{4} << 20), [](float f) { return f >= 0.5f && f < 1.0f; }));
    const ProbeLoops& loops = probe_loops();
    for (const int threads : {1, 2}) {
        const std::vector<SampleSet> reads = probe_read(set, team, threads, loops, 0);
        CHECK(reads.size() == std::size(kReadPatterns));
        for (const SampleSet& s : reads) check(s, "read", "B/s", threads);
        for (const SampleSet& s : probe_copy(set, team, threads, loops, 0)) check(s, "copy", "B/s", threads);
        for (const SampleSet& s : probe_triad(set, team, threads, loops, 0))
            check(s, "triad", "B/s", threads);
        check(probe_fp32(team, threads, loops, 0), "fp32", "ops/s", threads);
        check(probe_int8(team, threads, loops, 0), "int8", "ops/s", threads);
    }
    check(probe_barrier(team, 0), "barrier", "s", 2);
}

TEST_CASE("A small working set works with more threads than it has windows for", "[kernels]") {
    ThreadTeam team(7);
    const WorkingSet set = make_working_set(std::size_t{2} << 20, team);
    for (const SampleSet& s : probe_triad(set, team, 7, kGenericLoops, 0)) check(s, "triad", "B/s", 7);
}

TEST_CASE("The working set leaves most of the memory to others", "[kernels]") {
    CHECK(working_set_bytes(Bytes(32 * kMiB), Bytes(16 * kGiB)) == 256u << 20);
    CHECK(working_set_bytes(Bytes(100 * kMiB), Bytes(16 * kGiB)) == 800u << 20);
    CHECK(working_set_bytes(Bytes(kGiB), Bytes(64 * kGiB)) == 2ull << 30);
    CHECK(working_set_bytes(Bytes(32 * kMiB), Bytes(512 * kMiB)) == 128u << 20);
    CHECK(working_set_bytes(Bytes(0), Bytes(0)) == 256u << 20);
    CHECK(working_set_bytes(Bytes(0), Bytes(kMiB)) == 8u << 20);
}

TEST_CASE("Thread counts rise from one to the most", "[kernels]") {
    CHECK(thread_counts(1) == std::vector<int>{1});
    CHECK(thread_counts(4) == std::vector<int>{1, 2, 3, 4});
    CHECK(thread_counts(16) == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 12, 16});
    CHECK(thread_counts(192).size() < 20);
}

TEST_CASE("Rounds are at least, at most, and in time", "[kernels]") {
    int n = 0;
    for (Rounds rounds(0, 3, 10); rounds.next();) ++n;
    CHECK(n == 3);
    n = 0;
    for (Rounds rounds(1e9, 3, 10); rounds.next();) ++n;
    CHECK(n == 10);
}

TEST_CASE("Storage is read in every way the folder allows, and left as it was", "[kernels]") {
    const TemporaryFolder folder;
    const StorageProbe probe = probe_storage(folder.path, std::uint64_t{16} << 20, 0);
    CHECK(probe.bytes >= std::uint64_t{8} << 20);
    CHECK(probe.sets.size() + probe.notes.size() >= 4);
    for (const SampleSet& s : probe.sets) check(s, s.probe.c_str(), "B/s", 1);
    CHECK(std::any_of(probe.sets.begin(), probe.sets.end(),
                      [](const SampleSet& s) { return s.probe == "storage_buffered"; }));
    CHECK(std::filesystem::is_empty(folder.path));
    folder.write("file", "not a folder");
    CHECK_THROWS_AS(probe_storage(folder.path + "/file", 1 << 24, 0), Error);
}

TEST_CASE("Steal is the eighth number of the first line", "[kernels]") {
    const TemporaryFolder root;
    CHECK(read_cpu_ticks(root.path).all == 0);
    root.write("proc/stat", "cpu  100 0 50 800 10 0 5 35 7 0\ncpu0 1 2 3\n");
    const CpuTicks before = read_cpu_ticks(root.path);
    CHECK(before.all == 1000);
    CHECK(before.stolen == 35);
    CHECK(steal_between(before, {2000, 135}) == Approx(0.1));
    CHECK(steal_between(before, before) == 0);
    CHECK(steal_between({2000, 135}, before) == 0);
    root.write("proc/stat", "cpu 1 two\n");
    CHECK(read_cpu_ticks(root.path).all == 0);
}

}  // namespace
}  // namespace memwall::kernels
