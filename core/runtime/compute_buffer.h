// The compute buffer of llama.cpp: exact where the operator tables know the architecture, an interval that
// says why elsewhere. Nothing but the model's layers and switches and the settings goes in.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/interval.h"
#include "core/base/units.h"
#include "core/model/model.h"
#include "core/runtime/engine_cells.h"
#include "core/runtime/graph_symbols.h"
#include "core/runtime/operator_tables.h"

namespace memwall::runtime {

/// A tensor, or the holes between them (name "unused"), at the moment the buffer is fullest.
struct LiveTensor {
    std::string_view name;  ///< of the variable in the operator table, else of the operator; lives as long as
                            ///< the tables
    int layer = -1;         ///< -1 = outside the layers
    Bytes bytes;            ///< rounded up as allocated
    Part part = Part::other;
};

struct ComputeBuffer {
    Interval<Bytes> bytes;   ///< the basis names the step taken: exact, or what had to be assumed
    std::int32_t nodes = 0;  ///< operators of the prompt graph, as the engine logs them
    /// Largest first; the sum is the central value of `bytes`.
    std::vector<LiveTensor> at_peak;
    /// How much of the buffer a prompt touches that asks for one row of logits a sequence. The rest is
    /// allocated but never resident on a CPU.
    Bytes touched;
    bool token_graph_decides = false;  ///< the graph for one token of each sequence is the larger one
};

/// All that settings change of a model's compute buffer: equal keys, equal buffers.
struct ReplayKey {
    BatchValues prompt{};
    bool operator==(const ReplayKey&) const = default;
    std::size_t hash() const;
};

/// A model as operator tables see it. Make it once, ask it for many settings, from any thread. The tables
/// must outlive it; the model need not.
class ReplayModel {
  public:
    /// `release`: of the engine that is planned for, "0.5.0"; empty = that of the tables.
    ReplayModel(const OperatorTables& tables, const model::Model& model, std::string_view release = {});

    EngineCells cells(const EngineSettings& settings) const;
    ReplayKey key(const EngineSettings& settings) const;
    /// Throws Error for settings the engine refuses (see resolve_cells) and for models that no table can
    /// describe (sizes beyond any machine, more than 100,000 tensors).
    ComputeBuffer compute_buffer(const EngineSettings& settings) const;
    /// What the graph for one token of each sequence takes by itself: the part of the buffer that decoding
    /// alone touches.
    Bytes token_graph_bytes(const EngineSettings& settings) const;

    bool known_architecture() const { return known_; }

  private:
    struct Scratch;
    /// Both graphs of one table; `unmet` becomes the condition that its exactness lacks, if any.
    ComputeBuffer replay(Scratch& scratch, int def, const LayerValues& layers, const EngineCells& cells,
                         const EngineSettings& settings, std::string& unmet) const;
    /// Bytes only; 0 if the table cannot describe the model.
    Bytes try_replay(Scratch& scratch, int def, const LayerValues& layers, const EngineCells& cells,
                     const EngineSettings& settings) const;
    void add_recurrent_bounds(Scratch& scratch, const EngineCells& cells, const EngineSettings& settings,
                              Interval<Bytes>& bytes) const;

    const OperatorTables* tables_;
    CellModel cell_model_;
    std::string architecture_;
    std::string unknown_release_;  ///< empty if the tables are of the release planned for
    bool known_ = true;
    OperatorTables::Family family_;  ///< the stand-in, or the architecture's own table with no margin
    std::int64_t vocabulary_ = 0;
    std::vector<std::int64_t> model_values_;
    LayerValues layers_;
    LayerValues attention_only_;  ///< without the recurrent parts; empty unless they are of an unknown kind
};

ComputeBuffer compute_buffer(const OperatorTables& tables, const model::Model& model,
                             const EngineSettings& settings, std::string_view release = {});

/// Remembers results by key. Thread-safe. Forgets everything when it holds `capacity` results.
class ComputeBufferMemo {
  public:
    explicit ComputeBufferMemo(ReplayModel model, std::size_t capacity = 4096)
        : model_(std::move(model)), capacity_(capacity) {}
    std::shared_ptr<const ComputeBuffer> at(const EngineSettings& settings);
    const ReplayModel& model() const { return model_; }

  private:
    struct Hash {
        std::size_t operator()(const ReplayKey& key) const { return key.hash(); }
    };
    ReplayModel model_;
    std::size_t capacity_;
    std::mutex mutex_;
    std::unordered_map<ReplayKey, std::shared_ptr<const ComputeBuffer>, Hash> known_;
};

}  // namespace memwall::runtime
