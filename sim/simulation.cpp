// A run: its events, its beginning and its end.
#include "sim/simulation.h"

#include <algorithm>
#include <stdexcept>

#include "core/base/parallel.h"

namespace memwall::sim {
namespace {

constexpr std::size_t kTimelinePoints = 1000;

}  // namespace

Simulation::Simulation(const Setup& setup, const RunOptions& options)
    : setup_(setup),
      options_(options),
      own_steps_(options.executor
                     ? nullptr
                     : std::make_unique<PlannedSteps>(setup.planned.prepared, setup.planned.knobs,
                                                      setup.planned.target, setup.scenario.conditions)),
      executor_(options.executor ? *options.executor : *own_steps_),
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
        if (other.opens_per_second > 0 && (pressure_.simulated() || pressure_.card_simulated()))
            schedule(nanoseconds_of(other_random_.back().exponential() / other.opens_per_second), What::open,
                     static_cast<std::uint32_t>(i));
    }
    schedule(end_, What::end);
    if (battery_.present() && s.battery.plug_hour != s.battery.unplug_hour) schedule(0, What::hour);
    loaded_ = s.load.warm;
    file_cached_ = loaded_ ? setup.file_bytes : 0;
    result_.timeline.resize(kTimelinePoints);
    result_.memory = pressure_.simulated();
    result_.card = pressure_.card_simulated();
    result_.thermal = thermal_.simulated();
    result_.battery = battery_.present();
    result_.battery_joules = battery_.capacity();
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
        if (options_.checked) check();
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
            file_cached_ = setup_.file_bytes;
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
            if (!room_on_card(other.card)) {  // its buffers cannot be made; it gives up
                ++result_.card_refusals;
                break;
            }
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
            try_step();  // for which it may have been in the way
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

/// Requests, sessions, tokens and bytes are somewhere, exactly once.
void Simulation::check() const {
    const auto expect = [](bool holds, const char* what) {
        if (!holds) throw std::logic_error(std::string("simulation: ") + what);
    };
    scheduler_.check();
    std::int64_t open = 0, arrived = 0, over = 0, output = 0, emitted = 0;
    for (const Record& r : records_) {
        open += r.open;
        if (r.open) emitted += r.emitted;
    }
    for (const AppResult& a : result_.apps) {
        arrived += a.arrived;
        over += a.finished + a.cut_short + a.refused;
        output += a.output_tokens;
    }
    expect(open == in_system_ && arrived == over + open, "arrived = finished + refused + still there");
    expect(output == scheduler_.counts().output_tokens && output >= emitted,
           "tokens that came out were counted");
    std::int64_t held = scheduler_.held_tokens(), swapped = 0;
    std::uint64_t begun = 0, alive = 0;
    for (const Live& l : sessions_) {
        held += store_->stored(l.holding);
        swapped += l.swapped;
        alive += l.session.has_value();
        expect(l.swapped == 0 || l.holding.tokens == 0, "a session is in one place");
    }
    for (const std::uint64_t n : sessions_begun_) begun += n;
    expect(begun == sessions_ended_ + alive, "each session ended once or is there");
    expect(held == store_->tokens(), "tokens held by sequences and sessions are those of the store");
    expect(swapped <= swap_used_, "the swap space holds what was moved there");
    expect(store_->occupied() <= store_->cells(), "the pool is not overfull");
    if (pressure_.card_simulated() && (loaded_ || loading_))
        expect(setup_.card_bytes <= pressure_.card_left(), "nobody has what another has of the card");
}

RunResult Simulation::finish() {
    result_.seconds = seconds_of(events_.now());
    for (const Record& r : records_)
        if (r.open) {
            ++result_.apps[r.app].unfinished;
            slice(r,
                  r.first >= 0   ? "decode"
                  : r.begun >= 0 ? "prompt"
                                 : "queued",
                  r.first >= 0   ? r.first
                  : r.begun >= 0 ? r.begun
                                 : r.arrival,
                  events_.now());
            if (r.first < 0) result_.apps[r.app].pending.add(seconds_of(events_.now() - r.arrival));
            stays_ += static_cast<std::uint64_t>(events_.now() - r.arrival);
        }
    // Little's law on the sample path: the integral of the number in the system is the sum of all stays.
    if (stays_ != occupancy_) throw std::logic_error("simulation: stays and occupancy do not add up");
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
    if (result_.interrupted) {  // the last interval ends where the run does
        auto& line = result_.timeline;
        while (line.size() > 1 && line[line.size() - 2].seconds >= result_.seconds) line.pop_back();
        line.back().seconds = std::min(line.back().seconds, result_.seconds);
    }
    const auto mean = [&](double byte_seconds) {
        return result_.seconds > 0 ? static_cast<std::int64_t>(byte_seconds / result_.seconds) : 0;
    };
    result_.mean = {mean(mean_bytes_[0]), mean(mean_bytes_[1]), mean(mean_bytes_[2]), mean(mean_bytes_[3]),
                    0};
    result_.mean.system = setup_.fixed.system;
    return std::move(result_);
}

StepRecord record_step(const StepWork& work, const KvStore& store, Nanoseconds from, Nanoseconds to) {
    StepRecord r{from, to, 0, static_cast<std::int64_t>(work.decodes.size()), 0, 0};
    for (const StepWork::Prompt& p : work.prompts) r.prompt_tokens += p.to - p.from;
    r.blocks = store.occupied() / store.block_tokens();
    r.cached = store.cached() / store.block_tokens();
    return r;
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
