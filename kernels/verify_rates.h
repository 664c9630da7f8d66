// What the parts of the engine cost on this host, each measured alone and in this process: the inputs of
// verify's predictions (KERNELS section 6). Nothing here runs the engine.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/engine/decoder.h"
#include "kernels/engine/settings.h"
#include "kernels/engine/weight_source.h"
#include "kernels/host/thread_team.h"
#include "kernels/panels/formats.h"
#include "kernels/probe/samples.h"
#include "kernels/probe/steady_read.h"

namespace memwall::kernels {

/// Median, or mean, of what `work` takes, seconds, over clean samples where there are any; every sample is
/// kept in `sets`. `work` returns how its threads ran. A sample is clean when they had their cores and memory
/// was as fast as its reference before and after. Tries end (Patience), then `steady` is lost.
class Stopwatch {
  public:
    /// Through what fits into the last cache, until it is there: a large one that many share (480 MiB, a Xeon
    /// of 2026) keeps little of the first pass after other reads.
    static constexpr int kWarmPasses = 3;
    static constexpr int kSamples = 15;
    static constexpr auto kNothing = [] {};
    Stopwatch(int threads, std::vector<SampleSet>& sets, SteadyRead& steady)
        : threads_(threads), sets_(sets), steady_(steady) {}
    /// `before` comes before each sample and is none of it, as caches hold what the reads left.
    template <class Work, class Before = decltype(kNothing)>
    double median(const std::string& probe, const std::string& how, double per_sample, Work work,
                  Before before = {}) {
        return summarise(collect(kSamples, probe, how, per_sample, work, before)).median;
    }
    /// For what memory limits: the time it would have taken at the pace of SteadyRead's first reference. The
    /// mean, as a host that regulates its guests' share of memory gives every run one of two speeds, a sixth
    /// apart (a Xeon of 2026), and a median jumps between them.
    template <class Work, class Before>
    double streamed(const std::string& probe, const std::string& how, double per_sample, Work work,
                    Before before) {
        return mean(collect(2 * kSamples, probe, how, per_sample, work, before)) * steady_.pace();
    }

  private:
    template <class Work, class Before>
    SampleSet collect(int wanted, const std::string& probe, const std::string& how, double per_sample,
                      Work work, Before before) {
        SampleSet set{probe, "s", how, threads_, 0, {}};
        work();  // warms up
        RunTime time;
        steady_.sample(
            wanted,
            [&] {
                before();
                time = work();
                return time.clean();
            },
            [&](bool clean) {
                set.samples.push_back({time.wall / per_sample, clean});
            });
        sets_.push_back(set);
        return set;
    }

    int threads_;
    std::vector<SampleSet>& sets_;
    SteadyRead& steady_;
};

/// Where decode finds its weights and cache.
enum class Streams : std::uint8_t {
    cold,  ///< in memory: they are evicted before, as if the model were larger than any cache
    warm,  ///< where steps leave them for the next ones, in the last cache as far as they fit
};

/// Products with panels of one format and row length.
struct MatmulRate {
    /// One activation row: seconds a byte of panels, seconds that a thread needs to get going on a further
    /// matrix, and seconds more when it did something else before and memory stood still.
    double decode = 0, decode_start = 0, decode_restart = 0;
    /// Rows a thread brings -> seconds a byte of panels, all threads bringing as many.
    std::map<std::int64_t, double> prefill;
    double at(double rows) const;  ///< between measured rows; beyond the last one in proportion
};

/// a + b x pages: for one layer and one token (decode), which is stored before, or one run of tokens and KV
/// head on every thread (prefill).
struct PageCost {
    double fixed = 0, page = 0;
    double at(double pages) const { return fixed + page * pages; }
};

/// Seconds an element of work that is done row by row: for the first row after weights went through the
/// caches, with a vector of weights of its own where there is one, and for each row that follows.
struct ElementCost {
    double first = 0, further = 0;
    double rows(double n) const { return first + (n - 1) * further; }
};

/// Elementwise work of a thread: first while the others wait, further beside theirs (a pair of rope for
/// angles).
struct ElementCosts {
    ElementCost norm, add, gate, angle, rotate, head_norm, read_row, choose;
    std::map<PanelFormat, ElementCost> quantize;
    ElementCost store;  ///< keys and values of one token and KV head, an element of both
};

/// Matrices that cost the same a byte. Those of experts are read one a thread, and warm they come back less
/// often: the last cache keeps less of them.
struct MatmulKind {
    PanelFormat format;
    std::int64_t k = 0;
    bool experts = false;
    auto operator<=>(const MatmulKind&) const = default;
};

struct HostRates {
    double barrier = 0;  ///< seconds
    double wake = 0;     ///< of a run of the team beyond its work
    std::map<MatmulKind, MatmulRate> matmul;
    ElementCosts elements;
    PageCost decode_pages, prefill_pages;  ///< of the cache the settings ask for
};

/// Everything a prediction of this decoder needs. `weight_bytes` are all the model's: warm rates are those of
/// a stream as long as what one token reads of them, or for experts as long as all, since a cache keeps more
/// of a short one; cold ones need no such length.
struct RatesRequest {
    const Decoder& decoder;
    const model::Model& model;
    const WeightSource& source;
    const EngineSettings& settings;
    std::int64_t weight_bytes = 0;
    const WorkingSet& other;  ///< memory to read between layers, as weights are
    Streams streams = Streams::warm;
};

void measure_barrier(const RatesRequest& request, ThreadTeam& team, Stopwatch& watch, HostRates& rates);
/// Decode rates anew, for bandwidth drifts from minute to minute; prefill rates, which do not, once.
void measure_matmul(const RatesRequest& request, ThreadTeam& team, Stopwatch& watch, HostRates& rates);
void measure_elements(const RatesRequest& request, ThreadTeam& team, Stopwatch& watch, HostRates& rates);
void measure_pages(const RatesRequest& request, ThreadTeam& team, Stopwatch& watch, HostRates& rates);

}  // namespace memwall::kernels
