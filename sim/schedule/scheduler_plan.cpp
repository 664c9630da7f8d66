// What goes into the next step.
#include <algorithm>

#include "core/base/error.h"
#include "sim/schedule/scheduler.h"

namespace memwall::sim {
namespace {

/// Preemptions without a token in between: far more than sequences that could take turns.
constexpr std::int64_t kLivelock = 100'000;

}  // namespace

void Scheduler::plan(StepWork& work, std::int64_t tokens_each, Nanoseconds now) {
    work.clear();
    while (true) {
        wakes_at_ = kNever;
        const std::int64_t preemptions = counts_.preemptions, finished = counts_.finished;
        std::int64_t budget = settings_.token_budget;
        if (!fixed() || !running_.empty()) plan_running(work, budget, tokens_each, now);
        // Who was sent away for room must not come back for it in the same step.
        const bool may_enter = fixed() ? running_.empty() : counts_.preemptions == preemptions;
        if (may_enter && (!fixed() || work.empty())) plan_waiting(work, budget, now);
        // An answer that was cut short, a sequence that made way or came back: others may go now.
        const bool changed =
            counts_.preemptions != preemptions || counts_.finished != finished || wakes_at_ <= now;
        if (!work.empty() || !changed) return;
    }
}

std::int64_t Scheduler::chunk(const Sequence& s, std::int64_t budget) const {
    const std::int64_t left = s.goal - s.computed;
    return settings_.chunked ? std::min(left, budget) : left;
}

void Scheduler::preempt(std::uint32_t slot) {
    Sequence& s = slots_[slot];
    const bool swap =
        settings_.preemption == Preemption::swap && s.decoding() && listener_.can_swap(s.computed);
    listener_.preempted(s.request.ticket, s.computed, swap);
    if (swap) {
        s.swapped = s.computed;
        ++counts_.swaps;
    } else {
        s.recomputing = true;
        s.goal = s.request.turn.prompt + s.emitted;
    }
    store_.publish(s.holding, s.names);
    store_.release(s.holding);
    s.computed = s.cached = 0;
    s.state = State::waiting;
    ++counts_.preemptions;
    if (++preempted_in_a_row_ > kLivelock)
        throw Error("watchdog", "sequences preempt each other and none advances", "a larger KV pool");
    running_.erase(std::find(running_.begin(), running_.end(), slot));
    waiting_.emplace(key(s), slot);
}

/// The victim is the running sequence that waits best: lowest priority, latest order, and not part of this
/// step yet.
bool Scheduler::preempt_one(std::uint32_t beneficiary) {
    const std::uint32_t* victim = nullptr;
    for (const std::uint32_t& slot : running_) {
        if (slot == beneficiary || slots_[slot].planned) continue;
        if (key(slots_[slot]) < key(slots_[beneficiary])) continue;
        if (!victim || key(slots_[*victim]) < key(slots_[slot])) victim = &slot;
    }
    if (!victim) return false;
    preempt(*victim);
    return true;
}

/// Kept sessions go first, then what waiting requests still hold, the last in line first.
bool Scheduler::free_elsewhere(std::uint32_t beneficiary) {
    if (listener_.make_room()) return true;
    for (auto it = waiting_.rbegin(); it != waiting_.rend(); ++it) {
        Sequence& s = slots_[it->second];
        if (it->second == beneficiary || !s.holding.holds_anything()) continue;
        store_.release(s.holding);
        s.computed = s.cached = 0;
        return true;
    }
    return false;
}

bool Scheduler::grow(std::uint32_t slot, std::int64_t tokens, bool may_preempt) {
    while (!store_.grow(slots_[slot].holding, tokens)) {
        if (free_elsewhere(slot)) continue;
        if (!may_preempt || !preempt_one(slot)) return false;
    }
    return true;
}

/// Room for a waiting sequence: it adopts what is cached, then takes what the policy asks for. `tokens`
/// becomes what it may compute in this step.
bool Scheduler::admit(std::uint32_t slot, std::int64_t budget, std::int64_t& tokens) {
    Sequence& s = slots_[slot];
    if (s.swapped == 0) {
        name_blocks(s.request.turn, s.goal, store_.block_tokens(), s.names);
        if (s.computed == 0) {
            // The last token is always computed: its logits are wanted.
            const auto most = static_cast<std::size_t>((s.goal - 1) / store_.block_tokens());
            s.computed = s.cached =
                store_.adopt(s.holding, std::span(s.names).first(std::min(most, s.names.size())));
        }
    }
    bool fits = true;
    const std::int64_t aside = sets_all_aside()                          ? longest(s.request.turn)
                               : store_.layout() == KvLayout::contiguous ? std::max(s.goal, s.swapped) + 1
                                                                         : 0;
    if (aside > 0)
        while (!(fits = store_.promise(s.holding, aside)) && free_elsewhere(slot)) {
        }
    tokens = s.swapped > 0 ? s.swapped : fixed() && budget <= 0 ? 0 : chunk(s, budget);
    if (fits && grow(slot, tokens, false)) return true;
    if (s.holding.holds_anything()) {
        store_.release(s.holding);
        s.computed = s.cached = 0;
    }
    return false;
}

/// Whether one more may run; a higher priority takes the place of a lower one.
bool Scheduler::seat_for(std::uint32_t slot) {
    if (static_cast<std::int64_t>(running_.size()) < settings_.max_sequences) return true;
    if (fixed() || !settings_.priorities) return false;
    const std::uint32_t* lowest = nullptr;
    for (const std::uint32_t& r : running_)
        if (!slots_[r].planned && (!lowest || key(slots_[*lowest]) < key(slots_[r]))) lowest = &r;
    if (!lowest || slots_[*lowest].request.priority >= slots_[slot].request.priority) return false;
    preempt(*lowest);
    return true;
}

void Scheduler::plan_prompt(StepWork& work, std::uint32_t slot, std::int64_t tokens) {
    Sequence& s = slots_[slot];
    work.prompts.push_back({slot, s.cached, s.computed, s.computed + tokens, s.request.ticket});
    s.planned = true;
}

void Scheduler::plan_decode(StepWork& work, std::uint32_t slot, std::int64_t& budget,
                            std::int64_t tokens_each) {
    Sequence& s = slots_[slot];
    s.granted = std::min(tokens_each, settings_.context - s.computed);
    if (!grow(slot, s.granted, true)) {
        if (running_.size() == 1)
            end(slot, false);  // alone and still too large: the answer is cut short
        else
            preempt(slot);
        return;
    }
    budget -= s.granted;
    work.decodes.push_back({slot, s.computed, &s.request.acceptance, 1, s.request.ticket});
    s.planned = true;
}

void Scheduler::plan_running(StepWork& work, std::int64_t& budget, std::int64_t tokens_each,
                             Nanoseconds now) {
    bool prompts_open = false;
    if (fixed())
        for (const std::uint32_t slot : running_) prompts_open |= !slots_[slot].decoding();
    if (settings_.priorities && settings_.batching == Batching::continuous && !waiting_.empty()) {
        // A waiting request of higher priority takes a seat before the step is filled.
        const std::uint32_t first = waiting_.begin()->second;
        if (static_cast<std::int64_t>(running_.size()) >= settings_.max_sequences) seat_for(first);
    }
    turn_ = running_;  // preemption changes the list on the way
    for (const std::uint32_t slot : turn_) {
        if (budget <= 0) break;
        Sequence& s = slots_[slot];
        if (s.state != State::running) continue;
        if (s.ready > now) {
            wakes_at_ = std::min(wakes_at_, s.ready);
            continue;
        }
        if (s.decoding()) {
            if (!prompts_open) plan_decode(work, slot, budget, tokens_each);
            continue;
        }
        const std::int64_t tokens = chunk(s, budget);
        if (!grow(slot, tokens, true)) {
            running_.size() == 1 ? end(slot, false) : preempt(slot);
            continue;
        }
        budget -= tokens;
        plan_prompt(work, slot, tokens);
    }
}

void Scheduler::plan_waiting(StepWork& work, std::int64_t& budget, Nanoseconds now) {
    std::int64_t open = 0;
    for (const StepWork::Prompt& p : work.prompts) open += p.to < slots_[p.slot].goal;
    while (!waiting_.empty() && (budget > 0 || fixed())) {
        const std::uint32_t slot = waiting_.begin()->second;
        Sequence& s = slots_[slot];
        if (!fixed() && open >= settings_.partial_prompts && s.swapped == 0) return;
        if (s.order == blocked_order_ && store_.occupied() >= blocked_cells_ && !running_.empty()) return;
        if (!seat_for(slot)) return;
        std::int64_t tokens = 0;
        if (!admit(slot, budget, tokens)) {
            blocked_order_ = s.order;
            blocked_cells_ = store_.occupied();
            return;
        }
        waiting_.erase(key(s));
        running_.push_back(slot);
        s.state = State::running;
        if (!s.started) {
            s.started = true;
            counts_.hit_tokens += s.cached;
            listener_.started(s.request.ticket, s.cached);
        }
        if (s.swapped > 0) {  // decodes once it is back
            s.ready = listener_.swapped_in(s.request.ticket, s.swapped);
            s.computed = s.swapped;
            s.swapped = 0;
            wakes_at_ = std::min(wakes_at_, std::max(s.ready, now));
            continue;
        }
        if (tokens == 0) continue;
        budget -= tokens;
        plan_prompt(work, slot, tokens);
        open += s.computed + tokens < s.goal;
    }
}

}  // namespace memwall::sim
