// What measurements of the engine's parts share: caches as a decode step finds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/model.h"
#include "kernels/host/evict.h"
#include "kernels/host/thread_team.h"
#include "kernels/verify_rates.h"

namespace memwall::kernels {

/// Normally distributed, always the same.
std::vector<float> noise(std::size_t n);

/// A model of one tall matrix of about so many bytes of panels.
model::Model tall_matrix(PanelFormat format, std::int64_t k, std::int64_t bytes);

/// Makes `streamed`, memory that `work` streams, as cold or warm before a sample as decode finds it.
template <class Work>
auto settled(Streams streams, std::vector<std::span<const std::byte>> streamed, ThreadTeam& team, Work work) {
    return [=, &team] {
        if (streams == Streams::cold)
            for (const auto memory : streamed) evict(memory, team);
        else
            for (int i = 0; i < Stopwatch::kWarmPasses; ++i) work();
    };
}

/// Other memory, to read as much of it as a layer has weights, 1 to 8 MiB a thread: between what happens once
/// a layer, so that nothing of it is left in the caches of a core.
class Between {
  public:
    Between(const RatesRequest& request, int threads);
    /// This thread's share of the part of a turn.
    void read(int thread, std::size_t turn) const;
    /// What so many turns read.
    std::span<const std::byte> memory(std::size_t turns) const;

  private:
    std::span<const std::byte> other_;
    std::size_t part_ = 0, parts_ = 1;
    int threads_;
};

}  // namespace memwall::kernels
