// Replays remembered: sweeps of a context or a batch meet the same graphs again and again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/interval.h"
#include "core/model/model.h"
#include "core/runtime/compute_buffer.h"
#include "core/runtime/engine_cells.h"

namespace memwall::runtime {

/// What evaluate() needs of a replay.
struct ReplayResult {
    Interval<Bytes> bytes;
    Bytes untouched;  ///< allocated for logits but never touched while one output is asked for
};

/// Bytes of one part of the graph that were live when the arena was fullest.
struct LiveShare {
    std::string name;
    Bytes bytes;
};

class ReplayMemo {
  public:
    ReplayMemo();
    ~ReplayMemo();
    ReplayMemo(const ReplayMemo&) = delete;
    ReplayMemo& operator=(const ReplayMemo&) = delete;

    ReplayResult find_or_replay(const OperatorTables& tables, const model::Model& model, const EngineSettings& settings,
                                bool release_known);
    std::vector<LiveShare> at_peak(const OperatorTables& tables, const model::Model& model, const EngineSettings& settings);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace memwall::runtime
