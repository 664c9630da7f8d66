#include "sim/workload/as_trace.h"

#include <algorithm>

namespace memwall::sim {
namespace {

/// Turns of one app; sessions that begin later than `count` of them cannot be among the first.
void add_turns(const App& app, std::size_t index, std::int64_t count, std::uint64_t seed, double start_hour,
               std::vector<TraceRequest>& all) {
    if (app.trace) {
        const auto n = std::min(app.trace->size(), static_cast<std::size_t>(count));
        all.insert(all.end(), app.trace->begin(), app.trace->begin() + static_cast<std::ptrdiff_t>(n));
        return;
    }
    ArrivalStream stream(app.arrivals, app.users, start_hour, Random(seed, "arrivals " + app.name));
    for (std::int64_t number = 0; number < count; ++number) {
        Nanoseconds at = stream.next();
        Session session(app, index, static_cast<std::uint64_t>(number), seed);
        for (std::int64_t turn = 0; turn < count && !session.over() && at != kNever; ++turn) {
            const Turn t = session.next();
            all.push_back({at, t.prompt, t.output, {}});
            session.answered(t.prompt, t.output);
            at = after(at, nanoseconds_of(session.think()));
        }
    }
}

}  // namespace

std::vector<TraceRequest> as_trace(const std::vector<App>& apps, std::int64_t count, std::uint64_t seed,
                                   double start_hour) {
    std::vector<TraceRequest> all;
    for (std::size_t i = 0; i < apps.size(); ++i) add_turns(apps[i], i, count, seed, start_hour, all);
    std::stable_sort(all.begin(), all.end(),
                     [](const TraceRequest& a, const TraceRequest& b) { return a.arrival < b.arrival; });
    if (all.size() > static_cast<std::size_t>(count)) all.resize(static_cast<std::size_t>(count));
    const Nanoseconds first = all.empty() ? 0 : all.front().arrival;
    for (TraceRequest& r : all) r.arrival -= first;
    return all;
}

}  // namespace memwall::sim
