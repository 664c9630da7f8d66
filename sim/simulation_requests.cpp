// Requests and sessions: from arrival to the last token, and what stays until the next turn.
#include <algorithm>
#include <utility>

#include "sim/simulation.h"

namespace memwall::sim {
namespace {

constexpr std::size_t kMostWaiting = 100'000;  // beyond, requests are refused: an endless run stays bounded
constexpr std::size_t kMostSlices = 200'000;

}  // namespace

std::uint32_t Simulation::new_record() {
    if (free_records_.empty()) {
        records_.emplace_back();
        return static_cast<std::uint32_t>(records_.size() - 1);
    }
    const std::uint32_t i = free_records_.back();
    free_records_.pop_back();
    records_[i] = {};
    return i;
}

std::uint32_t Simulation::new_session() {
    if (free_sessions_.empty()) {
        sessions_.emplace_back();
        return static_cast<std::uint32_t>(sessions_.size() - 1);
    }
    const std::uint32_t i = free_sessions_.back();
    free_sessions_.pop_back();
    sessions_[i] = {};
    return i;
}

void Simulation::arrive(std::uint32_t which) {
    const App& app = setup_.scenario.apps[which];
    const std::uint64_t number = sessions_begun_[which]++;
    if (!app.trace)
        schedule(std::max(events_.now(), streams_[which].next()), What::arrival, which);
    else if (number + 1 < app.trace->size())
        schedule((*app.trace)[static_cast<std::size_t>(number) + 1].arrival, What::arrival, which);
    const std::uint32_t slot = new_session();
    sessions_[slot].app = which;
    sessions_[slot].session.emplace(app, which, number, options_.seed);
    ask(slot);
}

/// A turn arrives: its text becomes tokens, then it queues.
void Simulation::ask(std::uint32_t session) {
    const std::uint32_t i = new_record();
    Record& r = records_[i];
    r.app = sessions_[session].app;
    r.session = session;
    r.turn = sessions_[session].session->next();
    r.number = next_number_++;
    r.arrival = events_.now();
    r.open = true;
    ++in_system_;
    AppResult& app = result_.apps[r.app];
    ++app.arrived;
    if (off() || scheduler_.waiting() >= kMostWaiting || !scheduler_.refusal(r.turn).empty()) {
        refuse(r);
        close_record(i);
        return;
    }
    app.prompt_tokens += r.turn.prompt;
    const double tokens = static_cast<double>(r.turn.prompt);
    const Nanoseconds at = after(events_.now(), nanoseconds_of(tokens * setup_.tokenization));
    at == events_.now() ? queue(i) : schedule(at, What::queue, i);
}

void Simulation::refuse(Record& r) {
    ++result_.apps[r.app].refused;
    end_session(r.session);
}

void Simulation::close_record(std::uint32_t i) {
    Record& r = records_[i];
    --in_system_;
    stays_ += static_cast<std::uint64_t>(events_.now() - r.arrival);
    r.open = false;
    free_records_.push_back(i);
}

void Simulation::end_session(std::uint32_t slot) {
    Live& l = sessions_[slot];
    if (l.idle_order) idle_.erase(l.idle_order);
    store_->release(l.holding);
    swap_used_ -= l.swapped;
    ++sessions_ended_;
    l = {};
    free_sessions_.push_back(slot);
}

void Simulation::queue(std::uint32_t i) {
    Record& r = records_[i];
    r.queued = true;
    Request request;
    request.ticket = i + 1;
    request.priority = setup_.scenario.apps[r.app].priority;
    request.turn = r.turn;
    request.acceptance = Random(options_.seed, "acceptance", r.number);
    Live& l = sessions_[r.session];
    Holding kept;
    if (l.idle_order) {
        idle_.erase(l.idle_order);
        l.idle_order = 0;
        if (l.packed > 0) {  // unpacked into its full size, or computed again when there is no room for it
            store_->release(l.holding);
            if (store_->grow(kept, l.packed))
                extra_ +=
                    static_cast<double>(l.packed) * setup_.token_bytes / setup_.scenario.kv.compress_rate;
            l.packed = 0;
        } else {
            kept = std::move(l.holding);
        }
        l.holding = {};
    } else if (l.swapped > 0) {
        if (store_->grow(kept, l.swapped)) {
            const double bytes = static_cast<double>(l.swapped) * setup_.token_bytes;
            result_.swapped_bytes += bytes;
            // The request waits for its cache; others do not.
            const Nanoseconds back = swap_.send(events_.now(), bytes);
            l.holding = std::move(kept);
            swap_used_ -= l.swapped;
            l.swapped = 0;
            l.idle_order = next_idle_++;
            idle_[l.idle_order] = r.session;
            schedule(back, What::queue, i);
            return;
        }
        swap_used_ -= l.swapped;
        l.swapped = 0;
    }
    scheduler_.submit(std::move(request), std::move(kept));
    try_step();
}

void Simulation::started(std::uint64_t ticket, std::int64_t) {
    Record& r = record(ticket);
    r.begun = events_.now();
    result_.apps[r.app].queue.add(seconds_of(r.begun - r.arrival));
    slice(r, "queued", r.arrival, r.begun);
}

void Simulation::produced(std::uint64_t ticket, std::int64_t tokens) {
    Record& r = record(ticket);
    AppResult& app = result_.apps[r.app];
    const Nanoseconds now = events_.now();
    app.output_tokens += tokens;
    if (r.first < 0) {
        r.first = now;
        app.ttft.add(seconds_of(now - r.arrival));
        slice(r, "prompt", r.begun, now);
        if (tokens > 1) app.itl.add(0, tokens - 1);
    } else {
        app.itl.add(seconds_of(now - r.last));
        if (tokens > 1) app.itl.add(0, tokens - 1);  // several of one round come together
    }
    r.last = now;
    r.emitted += tokens;
}

void Simulation::finished(std::uint64_t ticket, std::int64_t output, bool complete, Holding& holding) {
    Record& r = record(ticket);
    AppResult& app = result_.apps[r.app];
    const Nanoseconds now = events_.now();
    ++(complete ? app.finished : app.cut_short);
    if (output > 0) {
        app.e2e.add(seconds_of(r.last - r.arrival));
        if (output > 1) app.tpot.add(seconds_of(r.last - r.first) / static_cast<double>(output - 1));
        slice(r, "decode", r.first, r.last);
        const Objectives& o = setup_.scenario.objectives;
        const auto within = [](double limit, double value) { return limit <= 0 || value <= limit; };
        const double ttft = seconds_of(r.first - r.arrival);
        app.good += complete && within(o.ttft_p95, ttft) && within(o.ttft_p99, ttft) &&
                    within(o.e2e_p95, seconds_of(r.last - r.arrival)) &&
                    (output < 2 ||
                     within(o.tpot_p95, seconds_of(r.last - r.first) / static_cast<double>(output - 1)));
    }
    const std::uint32_t session = r.session;
    Live& l = sessions_[session];
    l.session->answered(r.turn.prompt, output);
    close_record(static_cast<std::uint32_t>(ticket - 1));
    if (l.session->over()) {
        end_session(session);
        return;
    }
    keep(session, holding);
    schedule(after(now, nanoseconds_of(l.session->think())), What::turn, session);
}

/// What the session's cache becomes until the next turn.
void Simulation::keep(std::uint32_t session, Holding& holding) {
    Live& l = sessions_[session];
    const KvScenario& kv = setup_.scenario.kv;
    if (!setup_.scenario.apps[l.app].keeps_history || holding.tokens == 0) return;
    switch (kv.between) {
        case Between::drop:
            return;
        case Between::keep:
            l.holding = std::exchange(holding, {});
            break;
        case Between::compress: {
            const std::int64_t tokens = holding.tokens;
            store_->release(holding);
            const auto small = std::max<std::int64_t>(
                1, static_cast<std::int64_t>(static_cast<double>(tokens) * kv.compressed_share));
            if (!store_->grow(l.holding, small)) return;
            l.packed = tokens;
            extra_ += static_cast<double>(tokens) * setup_.token_bytes / kv.compress_rate;
            break;
        }
        case Between::swap: {
            if (!can_swap(holding.tokens)) return;
            const double bytes = static_cast<double>(holding.tokens) * setup_.token_bytes;
            l.swapped = holding.tokens;
            swap_used_ += l.swapped;
            result_.swapped_bytes += bytes;
            swap_.send(events_.now(), bytes);
            ++result_.sessions_kept;
            return;
        }
    }
    ++result_.sessions_kept;
    l.idle_order = next_idle_++;
    idle_[l.idle_order] = session;
}

/// The session that has been idle longest gives up its cache.
bool Simulation::make_room() {
    if (idle_.empty()) return false;
    const auto oldest = idle_.begin();
    Live& l = sessions_[oldest->second];
    store_->release(l.holding);
    l.packed = 0;
    l.idle_order = 0;
    idle_.erase(oldest);
    ++result_.sessions_evicted;
    return true;
}

void Simulation::preempted(std::uint64_t, std::int64_t tokens, bool swapped) {
    if (!swapped) return;
    swap_used_ += tokens;
    const double bytes = static_cast<double>(tokens) * setup_.token_bytes;
    result_.swapped_bytes += bytes;
    swap_.send(events_.now(), bytes);
}

bool Simulation::can_swap(std::int64_t tokens) {
    return static_cast<double>(swap_used_ + tokens) * setup_.token_bytes <=
           static_cast<double>(setup_.scenario.kv.swap_bytes);
}

Nanoseconds Simulation::swapped_in(std::uint64_t, std::int64_t tokens) {
    swap_used_ -= tokens;
    const double bytes = static_cast<double>(tokens) * setup_.token_bytes;
    result_.swapped_bytes += bytes;
    return swap_.send(events_.now(), bytes);
}

void Simulation::slice(const Record& r, std::string_view what, Nanoseconds from, Nanoseconds to) {
    if (!options_.slices) return;
    if (result_.slices.size() >= kMostSlices)
        ++result_.slices_left_out;
    else
        result_.slices.push_back({r.app, r.number, what, from, to});
}

}  // namespace memwall::sim
