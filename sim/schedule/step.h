// One step of an engine: what the scheduler asks for, and who carries it out. The simulator answers with
// predicted times; a real engine computes and measures.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/event/random.h"

namespace memwall::sim {

struct StepWork {
    /// Tokens [from, to) of a prompt. `cached` of them were found in the cache when its computation began.
    struct Prompt {
        std::uint32_t slot = 0;
        std::int64_t cached = 0, from = 0, to = 0;
        std::uint64_t ticket = 0;  ///< of the request, for whoever computes its tokens
    };
    /// One round of decoding for a sequence with `context` tokens in the cache.
    struct Decode {
        std::uint32_t slot = 0;
        std::int64_t context = 0;
        Random* acceptance = nullptr;  ///< decides which drafts are accepted
        std::int64_t produced = 1;     ///< by the executor: tokens that came out, 1 .. drafts + 1
        std::uint64_t ticket = 0;
    };
    std::vector<Prompt> prompts;
    std::vector<Decode> decodes;

    bool empty() const { return prompts.empty() && decodes.empty(); }
    void clear() {
        prompts.clear();
        decodes.clear();
    }
};

struct StepCost {
    double seconds = 0;
    double weight_bytes = 0;  ///< read of the weights
    double host_bytes = 0;    ///< of those, from the host's memory: what a page cache may lack
    double joules = 0;        ///< without what is drawn at rest; 0 = unknown
};

class StepExecutor {
  public:
    virtual ~StepExecutor() = default;
    virtual StepCost run(StepWork& work) = 0;
    /// Most tokens that one decode round may add to a cache.
    virtual std::int64_t tokens_each() const { return 1; }
};

}  // namespace memwall::sim
