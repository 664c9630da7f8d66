#include "kernels/calibrate.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <ctime>

#include "core/base/error.h"
#include "core/base/version.h"
#include "devices/host.h"
#include "kernels/probe/bandwidth.h"
#include "kernels/probe/choose_loops.h"
#include "kernels/probe/compute.h"
#include "kernels/probe/steal.h"
#include "kernels/probe/storage.h"

namespace memwall::kernels {
namespace {

/// Shares of the time. Reading gets most: decode hangs on it.
constexpr double kRead = 0.45, kCopy = 0.07, kTriad = 0.07, kPeak = 0.06, kBarrier = 0.04, kStorage = 0.25;

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

std::string kernel_name() {
    utsname name{};
    return uname(&name) == 0 ? fmt::format("{} {}", name.sysname, name.release) : "";
}

/// Runs probes one after another: keeps their samples and the best way of each, and tells how far it is.
class Recorder {
  public:
    Recorder(CalibrationRun& run, device::Calibration& calibration, const Progress& progress, double seconds)
        : run_(run), calibration_(calibration), progress_(progress), seconds_(seconds) {}

    /// `probe(seconds)` returns sample sets of one quantity, of which the best counts.
    template <class Probe>
    void best(const std::string& what, double share, bool least, Probe probe) {
        const std::vector<SampleSet> sets = timed(what, share, probe);
        calibration_.results.push_back(summarise(best_of(sets, least)));
        run_.sets.insert(run_.sets.end(), sets.begin(), sets.end());
    }
    /// The same where every set is a quantity of its own.
    template <class Probe>
    void each(const std::string& what, double share, Probe probe) {
        for (const SampleSet& set : timed(what, share, probe)) {
            calibration_.results.push_back(summarise(set));
            run_.sets.push_back(set);
        }
    }

  private:
    template <class Probe>
    std::vector<SampleSet> timed(const std::string& what, double share, Probe probe) {
        if (progress_) progress_(what, done_);
        done_ += share;
        return probe(share * seconds_);
    }
    CalibrationRun& run_;
    device::Calibration& calibration_;
    const Progress& progress_;
    double seconds_, done_ = 0;
};

std::string threads_text(int threads) {
    return threads == 1 ? "1 thread" : fmt::format("{} threads", threads);
}

}  // namespace

void apply_calibration(device::Device& host, device::Calibration calibration) {
    device::Pool& ram = host.pools.front();
    device::Processor& cpu = host.processors.front();
    // What was true of one moment, or only while nothing was measured, has no place in a profile.
    host.notes.clear();
    std::erase_if(ram.variants, [](const device::UsableVariant& v) { return v.name == "available_now"; });
    const std::string source = fmt::format("measured on this host, memwall calibrate, {}", calibration.date);
    const BytesPerSecond reads = calibration.read_bandwidth(calibration.threads);
    if (reads.value > 0) {
        ram.bandwidth = ram.measured_bandwidth = reads;
        ram.bandwidth_deviation = 0;
        ram.measured_scope = "cpu_all";
        ram.measured_how = "read probe of memwall calibrate";
        host.sources["bandwidth"] = host.sources["measured_bandwidth"] = source;
    }
    cpu.cores = std::min(cpu.cores, std::max(calibration.threads, 1));
    const auto rate = [&](const char* probe, OpsPerSecond& to) {
        const device::ProbeResult* result = calibration.widest(probe);
        if (!result) return;
        to = OpsPerSecond(result->median);
        cpu.rate_deviation = 0;
        host.sources[fmt::format("cpu.{}", probe)] = source;
    };
    rate("fp32", cpu.fp32);
    rate("int8", cpu.int8);
    if (const device::ProbeResult* storage = calibration.find("storage_buffered", 1)) {
        host.storage.type = "storage of this host";
        host.storage.read = BytesPerSecond(storage->median);
        host.sources["storage"] = source;
    }
    const int unclean =
        static_cast<int>(std::count_if(calibration.results.begin(), calibration.results.end(),
                                       [](const device::ProbeResult& r) { return r.unclean > 0; }));
    if (unclean > 0)
        host.notes.push_back(
            fmt::format("{} of {} calibrated quantities rest on disturbed samples: calibrate again when the "
                        "machine is quiet",
                        unclean, calibration.results.size()));
    host.confidence = unclean > 0 ? "medium" : "high";
    host.calibration = std::move(calibration);
}

CalibrationRun calibrate(const CalibrateOptions& options, const Progress& progress) {
    constexpr double kMostSeconds = 3600;
    if (!(options.seconds > 0 && options.seconds <= kMostSeconds))
        throw Error("--seconds", fmt::format("{}", options.seconds), "above 0, up to 3600");
    CalibrationRun run;
    run.device = devices::describe_host();
    const Topology topology = read_topology();
    ThreadTeam team(options.threads, topology);
    const ProbeLoops& loops = probe_loops();
    const int most = team.threads();

    device::Calibration calibration;
    calibration.date = today();
    calibration.version = kVersion;
    calibration.kernel = kernel_name();
    calibration.isa = loops.isa;
    calibration.threads = most;
    const CpuTicks before = read_cpu_ticks();

    // Storage first: its file may push others out of the page cache, not the other way round.
    Recorder record(run, calibration, progress, options.seconds);
    const std::string folder = options.storage.empty() ? default_storage_directory() : options.storage;
    std::vector<std::string> notes;
    record.each("storage in " + folder, kStorage, [&](double seconds) {
        constexpr double kPerSecond = 8.0 * (std::int64_t{1} << 20), kMost = 512.0 * (std::int64_t{1} << 20);
        const double wanted = std::min(kMost, std::max(16.0, seconds / kStorage) * kPerSecond);
        StorageProbe storage = probe_storage(folder, static_cast<std::uint64_t>(wanted), seconds);
        notes = storage.notes;
        return storage.sets;
    });

    const device::UsableVariant* now = run.device.pools.front().variant("available_now");
    const WorkingSet set = make_working_set(
        working_set_bytes(topology.last_cache(), now ? now->usable : run.device.pools.front().usable), team);
    calibration.pages = set.huge ? "huge" : "small";
    const std::vector<int> counts = thread_counts(most);
    for (const int threads : counts)
        record.best("read, " + threads_text(threads), kRead / static_cast<double>(counts.size()), false,
                    [&](double seconds) { return probe_read(set, team, threads, loops, seconds); });
    std::vector<int> ends = {1};
    if (most > 1) ends.push_back(most);
    const auto part = [&](double share) { return share / static_cast<double>(ends.size()); };
    for (const int threads : ends) {
        const std::string with = ", " + threads_text(threads);
        record.best("copy" + with, part(kCopy), false,
                    [&](double seconds) { return probe_copy(set, team, threads, loops, seconds); });
        record.best("triad" + with, part(kTriad), false,
                    [&](double seconds) { return probe_triad(set, team, threads, loops, seconds); });
        record.best("fp32 peak" + with, part(kPeak / 2), false,
                    [&](double seconds) { return std::vector{probe_fp32(team, threads, loops, seconds)}; });
        record.best("int8 peak" + with, part(kPeak / 2), false,
                    [&](double seconds) { return std::vector{probe_int8(team, threads, loops, seconds)}; });
    }
    record.best("barrier", kBarrier, true,
                [&](double seconds) { return std::vector{probe_barrier(team, seconds)}; });
    calibration.steal = steal_between(before, read_cpu_ticks());
    apply_calibration(run.device, std::move(calibration));
    run.device.notes.insert(run.device.notes.end(), notes.begin(), notes.end());
    if (progress) progress("done", 1);
    return run;
}

}  // namespace memwall::kernels
