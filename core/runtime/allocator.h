// Replay of the engine's graph allocator: how many bytes one arena needs for a graph, and what lives in it at
// the peak. The rules are those of ggml's graph allocator as found in llama.cpp 0.5.0; quirks included,
// because the result has to be equal to the byte.
#pragma once

#include <cstdint>
#include <vector>

#include "core/runtime/graph.h"

namespace memwall::runtime {

/// Free memory of one buffer: blocks sorted by address, the last one open-ended.
class Arena {
  public:
    explicit Arena(std::int64_t alignment = 32) { reset(alignment); }
    void reset(std::int64_t alignment);

    /// Offset of `size` bytes (rounded up): from the smallest block that holds them, the highest of equals;
    /// from the open end if none does. Throws Error at 2^62 bytes.
    std::int64_t take(std::int64_t size);
    /// Returns what take() gave out. The first neighbour in address order is extended and then merged with
    /// one more. That is less than full coalescing where empty blocks lie between (0-byte tensors leave
    /// them).
    void give(std::int64_t offset, std::int64_t size);

    std::int64_t peak() const { return peak_; }  ///< largest end ever handed out

    std::int64_t alignment() const { return alignment_; }

    struct Block {
        std::int64_t offset, size;
        std::int64_t end() const { return offset + size; }
        bool operator==(const Block&) const = default;
    };
    const std::vector<Block>& free_blocks() const { return free_; }

  private:
    std::vector<Block> free_;
    std::int64_t alignment_ = 32;
    std::int64_t peak_ = 0;
};

/// What became of a tensor during a replay.
struct Placement {
    std::int64_t offset = -1;       ///< -1 = never placed
    std::int32_t users = 0;         ///< operand slots still to be served
    std::int32_t views = 0;         ///< aliases of it still alive
    TensorId over = -1;             ///< the operand whose memory it took over
    std::int32_t gone_at = kNever;  ///< node number at which it was freed or overwritten
    bool owns = false;              ///< it holds its memory now
    static constexpr std::int32_t kNever = INT32_MAX;
};

/// One replay and its memory, reused from call to call. Not thread-safe; make one a thread.
class Replay {
  public:
    void run(const Graph& graph, std::int64_t alignment);

    std::int64_t peak() const { return arena_.peak(); }
    /// Largest end of any tensor but logits. Pages above it are touched only as far as logits are asked for.
    std::int64_t peak_without_logits() const { return peak_without_logits_; }
    /// Number of the node that raised the peak last; -1 = the inputs did.
    std::int32_t peak_node() const { return peak_node_; }
    const Placement& placement(TensorId t) const { return placements_[static_cast<std::size_t>(t)]; }
    /// The tensors that hold memory while the node at the peak runs, in order of placement.
    std::vector<TensorId> live_at_peak(const Graph& graph) const;

  private:
    void count_uses(const Graph& graph);
    void place(const Graph& graph, TensorId t, std::int32_t node);
    bool take_over(const Graph& graph, TensorId t, std::int32_t node);
    void release(const Graph& graph, TensorId t, std::int32_t node);
    Placement& at(TensorId t) { return placements_[static_cast<std::size_t>(t)]; }

    Arena arena_;
    std::vector<Placement> placements_;
    std::int64_t peak_without_logits_ = 0;
    std::int32_t peak_node_ = -1;
};

}  // namespace memwall::runtime
