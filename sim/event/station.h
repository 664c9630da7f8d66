// A queue before k equal servers, first come first served: what the closed forms of queueing theory speak of,
// and what a link or a disk is.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "sim/event/event_queue.h"

namespace memwall::sim {

struct StationSettings {
    int servers = 1;
    std::int64_t room = 0;  ///< jobs waiting and served at most; further ones are turned away. 0 = no limit
};

/// What was seen; integrals are over time in job-nanoseconds, so Little's law can be checked as an identity.
struct StationCounts {
    std::int64_t arrived = 0, turned_away = 0, served = 0;
    long double waiting_integral = 0;        ///< of jobs in the queue
    long double busy_integral = 0;           ///< of busy servers
    long double waited = 0, in_service = 0;  ///< nanoseconds, summed over the jobs
    Nanoseconds end = 0;
};

/// Runs `jobs` arrivals to the end of the last service. `gap` and `service` draw seconds.
StationCounts run_station(const StationSettings& settings, std::int64_t jobs,
                          const std::function<double()>& gap, const std::function<double()>& service);

/// One carrier of bytes: transfers queue in order, each takes latency + bytes / bandwidth, and only latency
/// overlaps the next one.
class Carrier {
  public:
    Carrier(double bytes_per_second, double latency_seconds)
        : rate_(bytes_per_second), latency_(latency_seconds) {}
    /// When a transfer asked for at `now` has arrived.
    Nanoseconds send(Nanoseconds now, double bytes);
    Nanoseconds busy_until() const { return free_at_; }
    double bytes() const { return bytes_; }
    Nanoseconds busy() const { return busy_; }

  private:
    double rate_, latency_, bytes_ = 0;
    Nanoseconds free_at_ = 0, busy_ = 0;
    Carry carry_;
};

}  // namespace memwall::sim
