#include "sim/event/station.h"

#include <algorithm>

namespace memwall::sim {
namespace {

enum class Kind : std::uint8_t { arrival, departure };

}  // namespace

StationCounts run_station(const StationSettings& settings, std::int64_t jobs,
                          const std::function<double()>& gap, const std::function<double()>& service) {
    EventQueue<Kind> events;
    StationCounts c;
    std::deque<Nanoseconds> waiting;  // arrival times
    std::int64_t busy = 0;
    Nanoseconds last = 0;
    Carry gaps;
    const auto account = [&] {
        const auto dt = static_cast<long double>(events.now() - last);
        c.waiting_integral += dt * static_cast<long double>(waiting.size());
        c.busy_integral += dt * static_cast<long double>(busy);
        last = events.now();
    };
    const auto begin = [&](Nanoseconds arrived) {
        const Nanoseconds duration = nanoseconds_of(service());
        c.waited += static_cast<long double>(events.now() - arrived);
        c.in_service += static_cast<long double>(duration);
        ++busy;
        events.schedule(after(events.now(), duration), Kind::departure);
    };
    if (jobs > 0) events.schedule(gaps.round(gap()), Kind::arrival);
    while (!events.empty()) {
        const Kind kind = events.pop();
        account();
        if (kind == Kind::arrival) {
            ++c.arrived;
            const auto inside = static_cast<std::int64_t>(waiting.size()) + busy;
            if (settings.room > 0 && inside >= settings.room)
                ++c.turned_away;
            else if (busy < settings.servers)
                begin(events.now());
            else
                waiting.push_back(events.now());
            if (c.arrived < jobs) events.schedule(after(events.now(), gaps.round(gap())), Kind::arrival);
        } else {
            --busy;
            ++c.served;
            if (!waiting.empty()) {
                const Nanoseconds arrived = waiting.front();
                waiting.pop_front();
                begin(arrived);
            }
        }
    }
    c.end = events.now();
    return c;
}

Nanoseconds Carrier::send(Nanoseconds now, double bytes) {
    const Nanoseconds start = std::max(now, free_at_);
    const Nanoseconds duration = carry_.round(bytes / rate_);
    free_at_ = after(start, duration);
    busy_ += duration;
    bytes_ += bytes;
    return after(free_at_, nanoseconds_of(latency_));
}

}  // namespace memwall::sim
