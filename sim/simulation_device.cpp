// The engine and the device it runs on: steps, loads, memory, heat and charge.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/simulation.h"

namespace memwall::sim {

double Simulation::hour() const {
    return std::fmod(setup_.scenario.start_hour + seconds_of(events_.now()) / 3600, 24);
}

/// Everything that passes with time, from the last event to this one. Power is constant in between.
void Simulation::account() {
    const Nanoseconds now = events_.now();
    if (now == last_) return;
    const double dt = seconds_of(now - last_);
    occupancy_ += static_cast<std::uint64_t>(now - last_) * static_cast<std::uint64_t>(in_system_);
    in_system_integral_ += static_cast<long double>(now - last_) * static_cast<long double>(in_system_);
    result_.occupancy_integral += dt * static_cast<double>(store_->occupied());
    result_.waste_integral += dt * static_cast<double>(store_->wasted());
    result_.cached_integral += dt * static_cast<double>(store_->cached());
    if (store_->layout() == KvLayout::contiguous) {
        const auto free = static_cast<double>(store_->cells() - store_->occupied());
        result_.free_integral += dt * free;
        result_.unusable_integral += dt * (free - static_cast<double>(store_->largest_hole()));
    }
    const MemoryClasses m = memory();
    mean_bytes_[0] += dt * static_cast<double>(m.weights);
    mean_bytes_[1] += dt * static_cast<double>(m.kv);
    mean_bytes_[2] += dt * static_cast<double>(m.scratch);
    mean_bytes_[3] += dt * static_cast<double>(m.others);
    if (stepping_) {
        result_.busy_seconds += dt;
        if (thermal_.speed() < 1) result_.throttled_seconds += dt;
        result_.speed_seconds[static_cast<std::size_t>(thermal_.speed() * 10)] += dt;
    }
    if (loading_) result_.loading_seconds += dt;
    if (waits_for_card_) result_.card_wait_seconds += dt;
    const bool was_off = off();
    bool went_off = false;
    if (!battery_.present()) {
        draw(dt, false);
    } else {
        const bool plugged = battery_.plugged(std::fmod(hour() - dt / 7200 + 24, 24));
        for (double left = dt; left > 0;) {  // it may go off, or on, between two events
            const bool to_on = off();
            // A charger that is too weak for what is drawn at rest would switch it on and off without end.
            const bool never = to_on && battery_.settings().charger_watts <= setup_.scenario.idle_watts;
            const double until =
                never ? std::numeric_limits<double>::infinity() : battery_.until_switch(watts(), plugged);
            const double part = std::min(left, until);
            draw(part, plugged);
            if (until <= left) battery_.switch_to(to_on);
            went_off |= off();
            left -= part;
        }
    }
    if (went_off && !was_off) lose_process(false);  // what waits goes on waiting
    last_ = now;
}

double Simulation::watts() const {
    return off() ? 0 : setup_.scenario.idle_watts + (stepping_ ? step_watts_ : 0);
}

/// The power of now for `seconds`.
void Simulation::draw(double seconds, bool plugged) {
    const double power = watts();
    if (off()) result_.off_seconds += seconds;
    result_.joules += power * seconds;
    if (thermal_.simulated()) {
        thermal_.pass(seconds, power);
        result_.hottest = std::max(result_.hottest, thermal_.temperature());
        result_.slowest = std::min(result_.slowest, thermal_.speed());
        if (thermal_.speed() < 1 && result_.first_throttle_seconds < 0)
            result_.first_throttle_seconds = seconds_of(events_.now());
    }
    battery_.pass(seconds, power, plugged);
}

OwnMemory Simulation::own() const {
    if (!loaded_ && !loading_) return {0, 0, !scheduler_.idle()};
    const auto cache = static_cast<double>(memory().kv);
    return {setup_.host_fixed + static_cast<std::int64_t>(cache * setup_.host_cache), setup_.mapped,
            stepping_ || !scheduler_.idle()};
}

/// The file's pages stay after the process has gone, until others want the room.
void Simulation::note_page_cache() {
    if (!pressure_.simulated()) return;
    const std::int64_t room = std::max<std::int64_t>(0, pressure_.available(own()));
    file_cached_ = std::min(loaded_ && setup_.mapped > 0 ? setup_.file_bytes : file_cached_, room);
}

bool Simulation::room_on_card(std::int64_t bytes) const {
    if (!pressure_.card_simulated() || bytes == 0) return true;
    return bytes <= pressure_.card_left() - (loaded_ || loading_ ? setup_.card_bytes : 0);
}

MemoryClasses Simulation::memory() const {
    MemoryClasses m;
    m.system = setup_.fixed.system;
    m.others = pressure_.others() + pressure_.card_others();
    if (!loaded_ && !loading_) return m;
    m.weights = setup_.fixed.weights;
    m.scratch = setup_.fixed.scratch;
    m.kv = static_cast<std::int64_t>(static_cast<double>(store_->in_use()) * setup_.token_bytes) +
           setup_.sequence_bytes * setup_.scenario.scheduler.max_sequences;
    return m;
}

void Simulation::note_memory() {
    note_page_cache();
    const MemoryClasses m = memory();
    const double now = seconds_of(events_.now());
    if (m.ours() > result_.peak.ours()) {
        // Only when KV is a part of it: an idle model has no owner.
        const std::uint64_t holder = scheduler_.largest_holder();
        result_.peak = m;
        result_.peak_seconds = now;
        result_.peak_owner = holder ? setup_.scenario.apps[record(holder).app].name : std::string();
    }
    auto& line = result_.timeline;
    const auto i = std::min(line.size() - 1, static_cast<std::size_t>(static_cast<double>(line.size()) *
                                                                      static_cast<double>(events_.now()) /
                                                                      static_cast<double>(end_)));
    TimelinePoint& p = line[i];
    if (p.seconds == 0 || m.total() >= p.memory.total()) p.memory = m;
    p.seconds = std::max(now, 1e-9);
    p.temperature = thermal_.temperature();
    p.speed = thermal_.speed();
    p.battery = battery_.share();
    p.running = std::max(p.running, static_cast<std::int64_t>(scheduler_.running()));
    p.waiting = std::max(p.waiting, static_cast<std::int64_t>(scheduler_.waiting()));
}

void Simulation::begin_load() {
    waits_for_card_ = !room_on_card(setup_.card_bytes);
    if (waits_for_card_) return;  // until somebody leaves it
    loading_ = true;
    ++result_.loads;
    note_memory();
    look_for_victim();
    if (!loading_) return;  // killed at once
    Record none;
    none.app = UINT32_MAX;  // of no app
    const LoadScenario& load = setup_.scenario.load;
    double seconds = setup_.load_seconds + (result_.loads == 1 && !load.warm ? load.first : 0);
    if (pressure_.simulated() && setup_.storage > 0) {
        // One pass: what is there is found, unless the rest of the file pushes it out on the way.
        const bool stays = pressure_.available(own()) >= setup_.file_bytes;
        const double file = static_cast<double>(setup_.file_bytes),
                     found = stays ? static_cast<double>(file_cached_)
                                   : file * (1 - pressure_.miss_of(setup_.file_bytes, file_cached_));
        seconds -= found / setup_.storage;
        result_.load_cached_bytes += found;
    }
    const Nanoseconds until = after(events_.now(), load_carry_.round(seconds));
    slice(none, "load", events_.now(), until);
    schedule(until, What::loaded, 0, epoch_);
}

/// The process is gone, by itself (idle for long) or killed: everything computed is lost.
void Simulation::lose_process(bool killed) {
    ++epoch_;
    stepping_ = loaded_ = loading_ = waits_for_card_ = false;
    if (killed) ++result_.own_kills;
    while (make_room()) {
    }
    scheduler_.lose_everything();
    swap_used_ = 0;  // what preempted sequences had there is of no use any more; sessions are taken up again
    for (const Live& l : sessions_) swap_used_ += l.swapped;
    note_memory();
    if (killed && !scheduler_.idle() && wake_ == kNever) {
        // The app is started again; not at once, or the killer and it would take turns for ever.
        wake_ = after(events_.now(), nanoseconds_of(1));
        schedule(wake_, What::wake);
    }
}

void Simulation::look_for_victim() {
    if (!pressure_.simulated() || kill_scheduled_) return;
    const int victim = pressure_.victim(own(), refault_rate_);
    if (victim == -1) return;
    Record none;
    none.app = UINT32_MAX;  // of no app
    const bool own_process = victim == Pressure::kOurselves;
    slice(none, own_process ? "model killed" : "other app killed", events_.now(), events_.now());
    if (own_process) {
        lose_process(true);
    } else {
        pressure_.close(static_cast<std::size_t>(victim));
        ++other_epoch_[static_cast<std::size_t>(victim)];
        ++result_.kills;
        note_memory();
    }
    kill_scheduled_ = true;  // the killer pauses before it looks again
    schedule(after(events_.now(), nanoseconds_of(kKillPause)), What::kill);
}

void Simulation::try_step() {
    if (off()) {  // on a charger it is looked at again every minute
        if (battery_.plugged(std::fmod(hour() + 1e-6, 24)) && wake_ == kNever)
            schedule(wake_ = after(events_.now(), nanoseconds_of(60)), What::wake);
        return;
    }
    if (stepping_ || loading_ || scheduler_.idle()) return;
    if (!loaded_) {
        if (wake_ == kNever || wake_ <= events_.now()) begin_load();
        return;
    }
    const Nanoseconds now = events_.now();
    if (thermal_.cut_off()) {
        const Nanoseconds until = after(
            now, std::max<Nanoseconds>(1, nanoseconds_of(thermal_.until_resume(setup_.scenario.idle_watts))));
        if (until < wake_) schedule(wake_ = until, What::wake);
        return;
    }
    scheduler_.plan(work_, executor_.tokens_each(), now);
    if (work_.empty()) {
        const Nanoseconds wake = scheduler_.wakes_at();
        if (wake != kNever && wake > now && wake < wake_) schedule(wake_ = wake, What::wake);
        return;
    }
    StepCost cost = executor_.run(work_);
    if (setup_.scenario.active_watts > 0) cost.joules = setup_.scenario.active_watts * cost.seconds;
    double seconds = cost.seconds / thermal_.speed() + extra_;
    extra_ = 0;
    if (store_->copied() > copied_seen_) {  // read and written once
        seconds += 2 * static_cast<double>(store_->copied() - copied_seen_) * setup_.token_bytes /
                   setup_.copy_bandwidth;
        copied_seen_ = store_->copied();
    }
    refault_rate_ = 0;
    if (pressure_.simulated()) {
        const double miss = pressure_.miss(own());
        if (miss > 0 && setup_.storage > 0) {
            const double bytes = miss * setup_.mapped_share * cost.host_bytes,
                         paging = bytes / setup_.storage;
            seconds += paging;
            result_.fault_bytes += bytes;
            result_.paging_seconds += paging;
            refault_rate_ = bytes / seconds;
        }
    }
    step_watts_ = seconds > 0 ? cost.joules / seconds : 0;
    ++result_.steps;
    if (!work_.decodes.empty()) {
        ++result_.decode_rows;
        result_.batch_integral += static_cast<double>(work_.decodes.size());
    }
    stepping_ = true;
    step_began_ = now;
    note_memory();
    schedule(after(now, std::max<Nanoseconds>(1, carry_.round(seconds))), What::step, 0, epoch_);
    look_for_victim();
}

void Simulation::step_done() {
    stepping_ = false;
    scheduler_.complete(work_, events_.now());
    if (options_.steps) options_.steps->push_back(record_step(work_, *store_, step_began_, events_.now()));
    if (scheduler_.idle()) {
        idle_since_ = events_.now();
        refault_rate_ = 0;
        if (setup_.scenario.load.unload_after > 0)
            schedule(after(idle_since_, nanoseconds_of(setup_.scenario.load.unload_after)), What::unload, 0,
                     epoch_);
        note_memory();
        return;
    }
    try_step();
}

}  // namespace memwall::sim
