// One run of a scenario, and several.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/result/result.h"
#include "sim/setup.h"

namespace memwall::sim {

/// A step as it ended: what was computed, and the pool when its tokens were counted and who was done had
/// left.
struct StepRecord {
    Nanoseconds from = 0, to = 0;
    std::int64_t prompt_tokens = 0, decodes = 0;
    std::int64_t blocks = 0;  ///< held by sequences or set aside for them
    std::int64_t cached = 0;  ///< blocks that only the prefix cache keeps
    bool operator==(const StepRecord&) const = default;
};
StepRecord record_step(const StepWork& work, const KvStore& store, Nanoseconds from, Nanoseconds to);

struct RunOptions {
    std::uint64_t seed = 1;
    bool slices = false;                       ///< keep what a trace viewer shows
    const std::atomic<bool>* stop = nullptr;   ///< ends the run early, with what it has
    StepExecutor* executor = nullptr;          ///< says how long steps take, instead of the setup's plan
    std::vector<StepRecord>* steps = nullptr;  ///< every step is added here; grows with the run
#ifdef NDEBUG
    bool checked = false;  ///< every invariant after every event; slow
#else
    bool checked = true;
#endif
};

/// Deterministic: the same setup and seed give the same result anywhere.
RunResult run(const Setup& setup, const RunOptions& options);

/// `count` runs with seeds of their own that follow from `seed` (the first is `seed` itself), on `threads`
/// threads (0 = all cores), in order. Runs not begun when `stop` is set are left out.
std::vector<RunResult> replicate(const Setup& setup, std::int64_t count, const RunOptions& options,
                                 const std::function<void(std::size_t, std::size_t)>& progress = {},
                                 unsigned threads = 0);

}  // namespace memwall::sim
