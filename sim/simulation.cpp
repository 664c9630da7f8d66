// Requests: from arrival to the last token.
#include "sim/simulation.h"

#include <algorithm>
#include <stdexcept>

#include "core/base/parallel.h"

namespace memwall::sim {
namespace {

constexpr std::size_t kMostWaiting = 100'000;  // beyond, requests are refused: an endless run stays bounded
constexpr std::size_t kMostSlices = 200'000;
constexpr std::size_t kTimelinePoints = 1000;

}  // namespace

Simulation::Simulation(const Setup& setup, const RunOptions& options)
    : setup_(setup),
      options_(options),
      executor_(setup.planned.prepared, setup.planned.knobs, setup.planned.target,
                setup.scenario.taken_bandwidth, setup.scenario.kv.tier),
      store_(make_store(setup.store)),
      scheduler_(setup.scenario.scheduler, *store_, *this),
      swap_(std::max(setup.scenario.kv.swap_bandwidth, 1.0), setup.scenario.kv.swap_latency),
      pressure_(setup.scenario.pressure),
      thermal_(setup.scenario.thermal),
      battery_(setup.scenario.battery) {
    const Scenario& s = setup.scenario;
    end_ = nanoseconds_of(s.seconds);
    for (std::size_t i = 0; i < s.apps.size(); ++i) {
        const App& app = s.apps[i];
        result_.apps.push_back({});
        result_.apps.back().name = app.name;
        sessions_begun_.push_back(0);
        streams_.emplace_back(app.arrivals, app.users, s.start_hour,
                              Random(options.seed, "arrivals " + app.name));
        const auto which = static_cast<std::uint32_t>(i);
        schedule(app.trace ? app.trace->front().arrival : streams_.back().next(), What::arrival, which);
    }
    for (std::size_t i = 0; i < s.pressure.others.size(); ++i) {
        const OtherApp& other = s.pressure.others[i];
        other_random_.emplace_back(options.seed, "other app " + other.name, i);
        other_epoch_.push_back(0);
        if (other.opens_per_second > 0 && pressure_.simulated())
            schedule(nanoseconds_of(other_random_.back().exponential() / other.opens_per_second), What::open,
                     static_cast<std::uint32_t>(i));
    }
    schedule(end_, What::end);
    if (battery_.present() && s.battery.plug_hour != s.battery.unplug_hour) schedule(0, What::hour);
    loaded_ = s.load.warm;
    result_.timeline.resize(kTimelinePoints);
    result_.memory = pressure_.simulated();
    result_.thermal = thermal_.simulated();
    result_.battery = battery_.present();
    result_.objectives = s.objectives.any();
    result_.hottest = thermal_.temperature();
    result_.pool_tokens = store_->cells();
    result_.prefix_note = setup.prefix_note;
}

RunResult Simulation::run() {
    note_memory();
    while (!events_.empty()) {
        if (options_.stop && options_.stop->load(std::memory_order_relaxed)) {
            result_.interrupted = true;
            break;
        }
        const Event event = events_.pop();
        account();
        if (event.what == What::end) break;
        handle(event);
        if (options_.checked) scheduler_.check();
    }
    return finish();
}

void Simulation::handle(const Event& e) {
    switch (e.what) {
        case What::arrival:
            arrive(e.which);
            break;
        case What::turn:
            ask(e.which);
            break;
        case What::queue:
            queue(e.which);
            break;
        case What::step:
            if (e.epoch == epoch_) step_done();
            break;
        case What::loaded:
            if (e.epoch != epoch_) break;
            loading_ = false;
            loaded_ = true;
            idle_since_ = events_.now();
            note_memory();
            try_step();
            break;
        case What::open: {
            const OtherApp& other = setup_.scenario.pressure.others[e.which];
            Random& random = other_random_[e.which];
            schedule(after(events_.now(), nanoseconds_of(random.exponential() / other.opens_per_second)),
                     What::open, e.which);
            if (pressure_.present(e.which)) break;
            pressure_.open(e.which);
            if (other.stays > 0)
                schedule(after(events_.now(), nanoseconds_of(random.exponential() * other.stays)),
                         What::close, e.which, ++other_epoch_[e.which]);
            note_memory();
            look_for_victim();
            break;
        }
        case What::close:
            if (e.epoch != other_epoch_[e.which]) break;
            pressure_.close(e.which);
            note_memory();
            break;
        case What::kill:
            kill_scheduled_ = false;
            look_for_victim();
            break;
        case What::wake:
            wake_ = kNever;
            try_step();
            break;
        case What::unload:
            if (e.epoch == epoch_ && loaded_ && !stepping_ && scheduler_.idle() &&
                events_.now() >= after(idle_since_, nanoseconds_of(setup_.scenario.load.unload_after)))
                lose_process(false);
            break;
        case What::hour: {
            // The charger goes in and out at whole positions of the day: account() has used the state before.
            const double now = hour(), a = battery_.settings().plug_hour, b = battery_.settings().unplug_hour;
            const auto until = [&](double h) { return h > now + 1e-9 ? h - now : h + 24 - now; };
            schedule(after(events_.now(), nanoseconds_of(std::min(until(a), until(b)) * 3600)), What::hour);
            try_step();
            break;
        }
        case What::end:
            break;
    }
}

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
    sojourns_ += static_cast<long double>(events_.now() - r.arrival);
    r.open = false;
    free_records_.push_back(i);
}

void Simulation::end_session(std::uint32_t slot) {
    Live& l = sessions_[slot];
    if (l.idle_order) idle_.erase(l.idle_order);
    store_->release(l.holding);
    swap_used_ -= l.swapped;
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
            const double bytes = static_cast<double>(holding.tokens) * setup_.token_bytes;
            if (static_cast<double>(swap_used_) * setup_.token_bytes + bytes >
                static_cast<double>(kv.swap_bytes))
                return;
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
    const double bytes = static_cast<double>(tokens) * setup_.token_bytes;
    result_.swapped_bytes += bytes;
    swap_.send(events_.now(), bytes);
}

Nanoseconds Simulation::swapped_in(std::uint64_t, std::int64_t tokens) {
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

RunResult Simulation::finish() {
    result_.seconds = seconds_of(events_.now());
    for (const Record& r : records_)
        if (r.open) {
            ++result_.apps[r.app].unfinished;
            if (r.first < 0) result_.apps[r.app].pending.add(seconds_of(events_.now() - r.arrival));
            sojourns_ += static_cast<long double>(events_.now() - r.arrival);
        }
    // Little's law on the sample path: the integral of the number in the system is the sum of all stays.
    if (sojourns_ != in_system_integral_)
        throw std::logic_error("simulation: stays and occupancy do not add up");
    for (const AppResult& a : result_.apps)
        if (a.arrived != a.finished + a.cut_short + a.refused + a.unfinished)
            throw std::logic_error("simulation: requests were lost");
    result_.in_system_integral = static_cast<double>(in_system_integral_) / kPerSecond;
    result_.scheduler = scheduler_.counts();
    result_.evicted_tokens = store_->evicted();
    result_.copied_tokens = store_->copied();
    result_.battery_end = battery_.share();
    // Points of the timeline that nothing happened in stay at what was before them.
    for (std::size_t i = 0; i < result_.timeline.size(); ++i) {
        TimelinePoint& p = result_.timeline[i];
        if (p.seconds == 0 && i > 0) p = result_.timeline[i - 1];
        p.seconds =
            seconds_of(end_) * static_cast<double>(i + 1) / static_cast<double>(result_.timeline.size());
    }
    while (!result_.timeline.empty() && result_.interrupted &&
           result_.timeline.back().seconds > result_.seconds)
        result_.timeline.pop_back();
    const auto mean = [&](double byte_seconds) {
        return result_.seconds > 0 ? static_cast<std::int64_t>(byte_seconds / result_.seconds) : 0;
    };
    result_.mean = {mean(mean_bytes_[0]), mean(mean_bytes_[1]), mean(mean_bytes_[2]), mean(mean_bytes_[3]),
                    0};
    result_.mean.system = setup_.fixed.system;
    return std::move(result_);
}

RunResult run(const Setup& setup, const RunOptions& options) {
    return Simulation(setup, options).run();
}

std::vector<RunResult> replicate(const Setup& setup, std::int64_t count, const RunOptions& options,
                                 const std::function<void(std::size_t, std::size_t)>& progress,
                                 unsigned threads) {
    const auto n = static_cast<std::size_t>(count);
    std::vector<std::optional<RunResult>> slots(n);
    std::atomic<std::size_t> done{0};
    parallel_for(
        n,
        [&](std::size_t i) {
            if (i > 0 && options.stop && options.stop->load()) return;
            RunOptions own = options;
            own.slices = options.slices && i == 0;
            if (i > 0) own.seed = mixed(options.seed + i * 0x9e3779b97f4a7c15u);
            slots[i] = run(setup, own);
            if (progress) progress(++done, n);
        },
        threads);
    std::vector<RunResult> results;
    for (std::optional<RunResult>& r : slots)
        if (r) results.push_back(std::move(*r));
    return results;
}

}  // namespace memwall::sim
