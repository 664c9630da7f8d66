// One run of a scenario, and several.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/result/result.h"
#include "sim/setup.h"

namespace memwall::sim {

struct RunOptions {
    std::uint64_t seed = 1;
    bool slices = false;                      ///< keep what a trace viewer shows
    const std::atomic<bool>* stop = nullptr;  ///< ends the run early, with what it has
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
