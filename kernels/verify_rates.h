// What the parts of the engine cost on this host, each measured alone and in this process: the inputs of
// verify's predictions (KERNELS section 6). Nothing here runs the engine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/engine/decoder.h"
#include "kernels/engine/settings.h"
#include "kernels/engine/weight_source.h"
#include "kernels/host/thread_team.h"
#include "kernels/panels/formats.h"
#include "kernels/probe/samples.h"

namespace memwall::kernels {

/// Median of what `work` takes, seconds, over clean samples where there are any; every sample is kept in
/// `sets`. `work` returns how its threads ran.
class Stopwatch {
  public:
    Stopwatch(int threads, int samples, std::vector<SampleSet>& sets)
        : threads_(threads), samples_(samples), sets_(sets) {}
    template <class Work>
    double median(const std::string& probe, const std::string& how, double per_sample, Work work) {
        SampleSet set{probe, "s", how, threads_, 0, {}};
        work();  // warms up
        for (int i = 0; i < samples_; ++i) {
            const RunTime time = work();
            set.samples.push_back({time.wall / per_sample, time.clean()});
        }
        sets_.push_back(set);
        return summarise(set).median;
    }

  private:
    int threads_, samples_;
    std::vector<SampleSet>& sets_;
};

/// Products with panels of one format and row length.
struct MatmulRate {
    /// One activation row: seconds a byte of panels, and seconds that a thread needs to get going on a
    /// matrix, whose first lines nobody fetched.
    double decode = 0, decode_start = 0;
    /// Rows a thread brings -> seconds a byte of panels, all threads bringing as many.
    std::map<std::int64_t, double> prefill;
    double at(double rows) const;  ///< between measured rows; beyond the last one in proportion
};

/// a + b x pages: for one layer and one token (decode), or one run of tokens and KV head on every thread
/// (prefill).
struct PageCost {
    double fixed = 0, page = 0;
    double at(double pages) const { return fixed + page * pages; }
};

/// Elementwise work on one thread, seconds an element (a pair of rope for angles).
struct ElementCosts {
    double norm = 0, add = 0, gate = 0, angle = 0, rotate = 0, head_norm = 0, read_row = 0, choose = 0;
    std::map<PanelFormat, double> quantize;
    double store = 0;  ///< keys and values of one token and KV head, seconds an element of both
};

struct HostRates {
    double barrier = 0;  ///< seconds
    double wake = 0;     ///< of a run of the team beyond its work
    std::map<std::pair<PanelFormat, std::int64_t>, MatmulRate> matmul;
    ElementCosts elements;
    PageCost decode_pages, prefill_pages;  ///< of the cache the settings ask for
};

/// Everything a prediction of this decoder needs. `weight_bytes` is the working set: rates are those of a
/// stream as long as the model's own.
struct RatesRequest {
    const Decoder& decoder;
    const model::Model& model;
    const WeightSource& source;
    const EngineSettings& settings;
    std::int64_t weight_bytes = 0;
};

void measure_barrier(ThreadTeam& team, Stopwatch& watch, HostRates& rates);
/// Decode rates anew, for bandwidth drifts from minute to minute; prefill rates, which do not, once.
void measure_matmul(const RatesRequest& request, ThreadTeam& team, Stopwatch& watch, HostRates& rates);
void measure_elements(const RatesRequest& request, ThreadTeam& team, Stopwatch& watch, HostRates& rates);
void measure_pages(const RatesRequest& request, ThreadTeam& team, Stopwatch& watch, HostRates& rates);

}  // namespace memwall::kernels
