#include "sim/schedule/scheduler.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace memwall::sim {
std::string_view batching_name(Batching b) {
    constexpr std::array<std::string_view, 2> kNames{"continuous", "static"};
    return kNames[static_cast<std::size_t>(b)];
}
std::string_view preemption_name(Preemption p) {
    constexpr std::array<std::string_view, 2> kNames{"recompute", "swap"};
    return kNames[static_cast<std::size_t>(p)];
}
std::string_view admission_name(Admission a) {
    constexpr std::array<std::string_view, 2> kNames{"current", "reserve"};
    return kNames[static_cast<std::size_t>(a)];
}

Scheduler::Scheduler(const SchedulerSettings& settings, KvStore& store, SchedulerListener& listener)
    : settings_(settings), store_(store), listener_(listener) {}

/// The longest a sequence may get, as far as the scheduler may know.
std::int64_t Scheduler::longest(const Turn& turn) const {
    return turn.limit > 0 ? std::min(settings_.context, turn.prompt + turn.limit) : settings_.context;
}

std::string_view Scheduler::refusal(const Turn& turn) const {
    if (turn.prompt >= settings_.context) return "the prompt leaves no token of the context";
    if (!store_.could_hold(sets_all_aside() ? longest(turn) : turn.prompt + 1))
        return "larger than the KV pool";
    return {};
}

std::uint32_t Scheduler::new_slot() {
    if (free_slots_.empty()) {
        slots_.emplace_back();
        return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
}

void Scheduler::submit(Request request, Holding kept) {
    const std::uint32_t slot = new_slot();
    Sequence& s = slots_[slot];
    s = {};
    s.request = std::move(request);
    s.order = next_order_++;
    s.goal = s.request.turn.prompt;
    s.holding = std::move(kept);
    s.state = State::waiting;
    if (s.holding.tokens >= s.goal) store_.cut(s.holding, s.goal - 1);  // its last token is always computed
    s.computed = s.cached = s.holding.tokens;
    waiting_.emplace(key(s), slot);
    ++counts_.submitted;
}

void Scheduler::emit(Sequence& s, std::int64_t tokens) {
    tokens = std::min(tokens, s.request.turn.output - s.emitted);
    s.emitted += tokens;
    counts_.output_tokens += tokens;
    preempted_in_a_row_ = 0;
    if (tokens > 0) listener_.produced(s.request.ticket, tokens);
}

void Scheduler::leave(std::uint32_t slot) {
    Sequence& s = slots_[slot];
    store_.release(s.holding);
    s.names.clear();
    free_slots_.push_back(slot);
}

/// The answer is over. In a static batch its place stays taken until the others are done.
void Scheduler::end(std::uint32_t slot, bool complete) {
    Sequence& s = slots_[slot];
    s.state = State::over;
    ++counts_.finished;
    running_.erase(std::find(running_.begin(), running_.end(), slot));
    if (fixed()) {
        Holding none;
        listener_.finished(s.request.ticket, s.emitted, complete, none);
        answered_.push_back(slot);
        if (running_.empty()) close_batch();
        return;
    }
    name_blocks(s.request.turn, s.computed, store_.block_tokens(), s.names);
    store_.publish(s.holding, s.names);
    listener_.finished(s.request.ticket, s.emitted, complete, s.holding);
    leave(slot);
}

void Scheduler::close_batch() {
    for (const std::uint32_t slot : answered_) leave(slot);
    answered_.clear();
}

void Scheduler::complete(const StepWork& work, Nanoseconds) {
    for (const StepWork::Prompt& p : work.prompts) {
        Sequence& s = slots_[p.slot];
        s.planned = false;
        s.computed = p.to;
        (s.recomputing ? counts_.recomputed_tokens : counts_.prompt_tokens) += p.to - p.from;
        if (!s.decoding()) continue;
        store_.publish(s.holding, s.names);
        // Computed again or not: its last token's logits are there.
        if (settings_.first_token_from_prompt) emit(s, 1);
        s.recomputing = false;
    }
    for (const StepWork::Decode& d : work.decodes) {
        Sequence& s = slots_[d.slot];
        s.planned = false;
        const std::int64_t produced = std::min(d.produced, s.granted);
        counts_.drafted += s.granted - 1;
        counts_.accepted += produced - 1;
        s.computed += produced;
        if (produced < s.granted) store_.cut(s.holding, s.computed);
        emit(s, produced);
    }
    const auto settle = [&](std::uint32_t slot) {
        const Sequence& s = slots_[slot];
        if (s.emitted >= s.request.turn.output)
            end(slot, true);
        else if (s.decoding() && s.computed >= settings_.context)
            end(slot, false);
    };
    for (const StepWork::Prompt& p : work.prompts) settle(p.slot);
    for (const StepWork::Decode& d : work.decodes) settle(d.slot);
}

void Scheduler::lose_everything() {
    const auto start_again = [&](Sequence& s) {
        store_.release(s.holding);
        s.recomputing |= s.started;
        s.computed = s.cached = s.swapped = 0;
        s.goal = s.request.turn.prompt + s.emitted;
    };
    for (const std::uint32_t slot : running_) {
        Sequence& s = slots_[slot];
        start_again(s);
        s.state = State::waiting;
        s.planned = false;
        waiting_.emplace(key(s), slot);
    }
    running_.clear();
    close_batch();
    for (const auto& [k, slot] : waiting_) start_again(slots_[slot]);
    store_.forget();
    blocked_order_ = 0;
}

std::uint64_t Scheduler::largest_holder() const {
    const Sequence* largest = nullptr;
    for (const std::uint32_t slot : running_)
        if (!largest || slots_[slot].holding.tokens > largest->holding.tokens) largest = &slots_[slot];
    return largest ? largest->request.ticket : 0;
}

std::int64_t Scheduler::held_tokens() const {
    std::int64_t sum = 0;
    for (const std::uint32_t slot : running_) sum += store_.stored(slots_[slot].holding);
    for (const std::uint32_t slot : answered_) sum += store_.stored(slots_[slot].holding);
    for (const auto& [k, slot] : waiting_) sum += store_.stored(slots_[slot].holding);
    return sum;
}

void Scheduler::check() const {
    const auto expect = [](bool holds, const char* what) {
        if (!holds) throw std::logic_error(std::string("scheduler: ") + what);
    };
    store_.check();
    expect(
        counts_.submitted == counts_.finished + static_cast<std::int64_t>(waiting_.size() + running_.size()),
        "submitted = finished + waiting + running");
    expect(static_cast<std::int64_t>(running_.size()) <= settings_.max_sequences, "no more run than may");
    for (const std::uint32_t slot : running_) {
        const Sequence& s = slots_[slot];
        expect(s.state == State::running, "what runs is marked so");
        expect(s.holding.tokens >= s.computed, "what is computed is held");
        expect(s.emitted <= s.request.turn.output, "no answer is longer than it is");
    }
    for (const auto& [k, slot] : waiting_)
        expect(slots_[slot].state == State::waiting, "what waits is marked so");
}

}  // namespace memwall::sim
