// Who computes next: admission, chunked prefill under a token budget, decoding, preemption. One scheduler for
// the simulator and for a real engine; it knows neither the clock nor how long a step takes.
//
// Requests wait by priority, then in the order they came; a preempted one keeps its place, so it is ahead of
// those that came after it. In every step running sequences come first, then waiting ones are let in.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/event/clock.h"
#include "sim/kv/store.h"
#include "sim/schedule/step.h"
#include "sim/workload/app.h"

namespace memwall::sim {

enum class Batching : std::uint8_t {
    continuous,   ///< sequences join and leave at every step
    static_batch  ///< a batch is filled, runs to the end of its longest answer, then the next one
};
enum class Preemption : std::uint8_t { recompute, swap };
enum class Admission : std::uint8_t {
    current,  ///< room for the prompt is enough; the answer may have to preempt (vLLM)
    reserve   ///< prompt and longest answer are set aside; nothing is preempted for room (TensorRT-LLM)
};

struct SchedulerSettings {
    Batching batching = Batching::continuous;
    std::int64_t max_sequences = 1;
    std::int64_t token_budget = 512;   ///< of one step: decode rows and prompt tokens together
    bool chunked = true;               ///< false: a prompt is computed in one step, whatever the budget
    std::int64_t partial_prompts = 1;  ///< prompts that may be unfinished at a time
    std::int64_t context = 4096;       ///< tokens of a sequence at most
    Preemption preemption = Preemption::recompute;
    Admission admission = Admission::current;
    bool priorities = true;                ///< false: first come, first served
    bool first_token_from_prompt = false;  ///< the prompt's last step yields a token (false: as plans count)
};

/// A turn on its way; `ticket` is the caller's.
struct Request {
    std::uint64_t ticket = 0;
    int priority = 0;
    Turn turn;
    Random acceptance;
};

/// What the scheduler tells whoever runs it.
class SchedulerListener {
  public:
    virtual ~SchedulerListener() = default;
    virtual void started(std::uint64_t, std::int64_t /*cached tokens*/) {}
    virtual void produced(std::uint64_t ticket, std::int64_t tokens) = 0;
    /// `output` tokens came out. `complete` false: cut short, because context or memory ended. The holding is
    /// the listener's to keep; left alone it is released.
    virtual void finished(std::uint64_t ticket, std::int64_t output, bool complete, Holding& holding) = 0;
    virtual void preempted(std::uint64_t, std::int64_t /*tokens lost or moved*/, bool /*swapped*/) {}
    /// Whether the swap space takes so many more; else they are computed again.
    virtual bool can_swap(std::int64_t /*tokens*/) { return true; }
    /// A swapped sequence wants its tokens back: until when that takes.
    virtual Nanoseconds swapped_in(std::uint64_t, std::int64_t /*tokens*/) { return 0; }
    /// Frees what can be freed outside the scheduler (kept sessions). False when nothing is left.
    virtual bool make_room() { return false; }
};

struct SchedulerCounts {
    std::int64_t submitted = 0, finished = 0, preemptions = 0, swaps = 0;
    std::int64_t prompt_tokens = 0, recomputed_tokens = 0, hit_tokens = 0, output_tokens = 0;
    std::int64_t drafted = 0, accepted = 0;
};

class Scheduler {
  public:
    Scheduler(const SchedulerSettings& settings, KvStore& store, SchedulerListener& listener);

    /// Why this request can never run; empty when it can.
    std::string_view refusal(const Turn& turn) const;
    /// `kept`: what the session still holds; it is given back when the request starts or is dropped.
    void submit(Request request, Holding kept = {});
    /// The next step; empty when nothing can be done now.
    void plan(StepWork& work, std::int64_t tokens_each, Nanoseconds now);
    /// The step is done: tokens are counted, sequences end.
    void complete(const StepWork& work, Nanoseconds now);
    /// Everything computed is lost (the process died); requests start again. Not while a step is planned.
    void lose_everything();

    std::size_t waiting() const { return waiting_.size(); }
    std::size_t running() const { return running_.size(); }
    bool idle() const { return waiting_.empty() && running_.empty(); }
    /// When a swapped sequence is back; kNever if none is on its way.
    Nanoseconds wakes_at() const { return wakes_at_; }
    const SchedulerCounts& counts() const { return counts_; }
    /// Tokens that running and waiting sequences hold in the store.
    std::int64_t held_tokens() const;
    /// Ticket of the running sequence that holds most; 0 if there is none.
    std::uint64_t largest_holder() const;
    /// Throws std::logic_error when requests or tokens do not add up.
    void check() const;

  private:
    enum class State : std::uint8_t { waiting, running, over };
    struct Sequence {
        Request request;
        Holding holding;
        std::vector<std::uint64_t> names;  ///< of full blocks of prompt and answer
        std::uint64_t order = 0;
        std::int64_t computed = 0;  ///< tokens in the cache
        std::int64_t cached = 0;    ///< of those, found when its computation began
        std::int64_t emitted = 0;
        std::int64_t goal = 0;     ///< tokens to compute before it decodes
        std::int64_t swapped = 0;  ///< tokens that lie outside
        std::int64_t granted = 0;  ///< room made for the round that is planned
        Nanoseconds ready = 0;
        State state = State::over;
        bool planned = false, recomputing = false, started = false;
        bool decoding() const { return computed >= goal; }
    };
    using Key = std::pair<int, std::uint64_t>;  ///< (-priority, order)
    Key key(const Sequence& s) const { return {settings_.priorities ? -s.request.priority : 0, s.order}; }
    bool fixed() const { return settings_.batching == Batching::static_batch; }
    bool sets_all_aside() const { return fixed() || settings_.admission == Admission::reserve; }
    std::int64_t longest(const Turn& turn) const;
    std::int64_t chunk(const Sequence& s, std::int64_t budget) const;
    bool grow(std::uint32_t slot, std::int64_t tokens, bool may_preempt);
    bool free_elsewhere(std::uint32_t beneficiary);
    bool preempt_one(std::uint32_t beneficiary);
    void preempt(std::uint32_t slot);
    bool admit(std::uint32_t slot, std::int64_t budget, std::int64_t& tokens);
    bool seat_for(std::uint32_t slot);
    void plan_running(StepWork& work, std::int64_t& budget, std::int64_t tokens_each, Nanoseconds now);
    void plan_decode(StepWork& work, std::uint32_t slot, std::int64_t& budget, std::int64_t tokens_each);
    void plan_waiting(StepWork& work, std::int64_t& budget, Nanoseconds now);
    void plan_prompt(StepWork& work, std::uint32_t slot, std::int64_t tokens);
    void emit(Sequence& s, std::int64_t tokens);
    void end(std::uint32_t slot, bool complete);
    void leave(std::uint32_t slot);
    void close_batch();
    std::uint32_t new_slot();

    SchedulerSettings settings_;
    KvStore& store_;
    SchedulerListener& listener_;
    std::vector<Sequence> slots_;
    std::vector<std::uint32_t> free_slots_, running_, turn_;
    std::vector<std::uint32_t> answered_;  ///< of a static batch: over, but in their places
    std::map<Key, std::uint32_t> waiting_;
    std::uint64_t next_order_ = 1;
    std::int64_t preempted_in_a_row_ = 0;
    std::uint64_t blocked_order_ =
        0;  ///< the waiting one that found no room when `blocked_cells_` were taken
    std::int64_t blocked_cells_ = 0;
    Nanoseconds wakes_at_ = kNever;
    SchedulerCounts counts_;
};

std::string_view batching_name(Batching batching);
std::string_view preemption_name(Preemption preemption);
std::string_view admission_name(Admission admission);

}  // namespace memwall::sim
