// What a user sees of runs: one screen of text, JSON, CSV, a trace for Perfetto.
#pragma once

#include <string>
#include <vector>

#include "sim/capacity.h"

namespace memwall::sim {

/// One screen. `width` in columns; `definitions` adds what each metric means.
std::string simulate_text(const Setup& setup, const std::vector<RunResult>& runs, bool colour, int width,
                          bool definitions);
/// memwall/simulate/1
std::string simulate_json(const Setup& setup, const std::vector<RunResult>& runs, std::uint64_t seed,
                          const std::vector<CapacityAnswer>& answers = {});
/// metric, unit, mean, half width, then a column for each run.
std::string metrics_csv(const std::vector<RunResult>& runs);
/// The timeline of the first run.
std::string timeline_csv(const RunResult& run);
/// Trace Event Format, which ui.perfetto.dev opens: slices of requests by app, counters of memory and heat.
std::string perfetto_json(const RunResult& run);
std::string answer_text(const CapacityAnswer& answer, bool colour);

}  // namespace memwall::sim
