// The engine behind the simulator's scheduler: requests of a trace are served in real time, step by step, and
// what happened can be simulated again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/engine/engine.h"
#include "kernels/verify_rates.h"
#include "sim/run.h"

namespace memwall::kernels {

/// Who may run at a time, and the pool. Both sides get the same.
struct ServeSettings {
    std::int64_t sequences = 4;
    std::int64_t pool_tokens = 0;  ///< of the scheduler's pool; 0 = the engine's: every sequence in full
    bool prefix_cache = true;      ///< equal blocks of prompts are computed once; not with windowed layers
};

/// The scenario of a replay on this engine: one app that asks what the trace says, and a pool of its pages.
/// `bytes` is what the engine allocates. Such a setup has no plan; runs need an executor of their own.
sim::Setup replay_setup(const std::vector<sim::TraceRequest>& trace, const Decoder& decoder,
                        const EngineSettings& engine, const ServeSettings& serve, const EngineBytes& bytes);

/// Computes steps on the engine and says how long they took. Texts are made up; equal blocks of a trace have
/// equal tokens, and answers are what the model makes of them.
class EngineSteps : public sim::StepExecutor {
  public:
    /// Tickets are places in the app's trace, from 1.
    EngineSteps(Engine& engine, const sim::App& app, const sim::StoreSettings& store);
    sim::StepCost run(sim::StepWork& work) override;
    /// The request goes out of the cache: done, or to be computed again later.
    void leave(std::uint64_t ticket, bool comes_back);
    /// Pages that sequences refer to, of layers that see everything; -1 if groups of them disagree.
    std::int64_t pages_in_use() const;
    /// CPU / wall time of the slowest thread, over all steps.
    double cpu_share() const { return wall_ > 0 ? own_ / wall_ : 1; }

  private:
    struct Text {
        SequenceId sequence = -1;  ///< -1 = not in the cache
        sim::Turn turn;
        std::vector<std::int32_t> tokens;  ///< prompt, and of the answer what was put in again
        std::optional<std::int32_t> next;  ///< drawn, not put in yet
        std::vector<std::uint64_t> names;  ///< of full blocks
    };
    Text& text_of(std::uint64_t ticket);
    void begin(Text& text, std::int64_t cached);
    void advance(Text& text, std::int64_t to);
    void publish(Text& text, std::int64_t tokens);

    Engine& engine_;
    const sim::App& app_;
    sim::StoreSettings store_;
    std::map<std::uint64_t, Text> texts_;
    double own_ = 0, wall_ = 0;
};

/// Says how long the engine should take: what `verify` predicts of each pass.
class PredictedSteps : public sim::StepExecutor {
  public:
    PredictedSteps(const RatesRequest& request, const HostRates& rates, int threads)
        : request_(request), rates_(rates), threads_(threads) {}
    sim::StepCost run(sim::StepWork& work) override;

  private:
    const RatesRequest& request_;
    const HostRates& rates_;
    int threads_;
};

/// Steps of a kind: how long they took together, and how long the same work should have taken.
struct StepSum {
    std::int64_t steps = 0;
    double achieved = 0, predicted = 0;  ///< seconds
};

/// Says how long recorded steps took, in their order.
class RecordedSteps : public sim::StepExecutor {
  public:
    /// `predicted` is asked about each step as well, unless it is null.
    explicit RecordedSteps(const std::vector<sim::StepRecord>& steps, sim::StepExecutor* predicted = nullptr)
        : steps_(steps), predicted_(predicted) {}
    sim::StepCost run(sim::StepWork& work) override;
    const StepSum& decoding() const { return decoding_; }    ///< steps that only decode
    const StepSum& prompting() const { return prompting_; }  ///< steps with a part of a prompt

  private:
    const std::vector<sim::StepRecord>& steps_;
    sim::StepExecutor* predicted_;
    StepSum decoding_, prompting_;
    std::size_t next_ = 0;
};

/// A trace as it was served.
struct Served {
    std::vector<sim::StepRecord> steps;
    std::vector<std::int64_t> pages;  ///< of the engine's cache, beside each step
    sim::AppResult requests;          ///< the simulator's metrics, of the wall clock
    sim::SchedulerCounts scheduler;
    double cpu_share = 1;
};

/// Serves the setup's trace in real time. A step begins when the one before has ended, or with the arrival
/// that wakes an idle engine; what happens in between (sampling, scheduling, waking) is a part of it.
Served serve(const sim::Setup& setup, Engine& engine);

/// How many steps have the same times, tokens and blocks in the record, in the engine's cache and in the
/// simulation that is given the recorded durations.
std::int64_t steps_alike(const Served& served, const std::vector<sim::StepRecord>& simulated);

}  // namespace memwall::kernels
