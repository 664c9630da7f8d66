#include "sim/workload/arrivals.h"

#include <algorithm>
#include <numeric>

namespace memwall::sim {

std::string_view arrivals_name(Arrivals::Kind kind) {
    constexpr std::array<std::string_view, 5> kNames{"poisson", "gamma", "fixed", "diurnal", "trace"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::array<double, 24> waking_hours() {
    return {0.2, 0.1, 0.05, 0.05, 0.05, 0.2, 0.6, 1.2, 1.4, 1.2, 1.1, 1.1,
            1.3, 1.2, 1.0,  1.0,  1.1,  1.3, 1.5, 1.7, 1.8, 1.7, 1.2, 0.6};
}

ArrivalStream::ArrivalStream(const Arrivals& arrivals, double users, double start_hour, Random random)
    : arrivals_(arrivals), rate_(arrivals.per_second * users), start_hour_(start_hour), random_(random) {
    if (arrivals_.kind == Arrivals::Kind::diurnal) {
        total_ = std::accumulate(arrivals_.hours.begin(), arrivals_.hours.end(), 0.0) / 24;
        peak_ = *std::max_element(arrivals_.hours.begin(), arrivals_.hours.end());
    }
}

Nanoseconds ArrivalStream::next() {
    if (!(rate_ > 0)) return kNever;
    switch (arrivals_.kind) {
        case Arrivals::Kind::poisson:
            at_ += random_.exponential() / rate_;
            break;
        case Arrivals::Kind::gamma:
            at_ += random_.gamma(arrivals_.cv) / rate_;
            break;
        case Arrivals::Kind::fixed:
            if (!first_) at_ += 1 / rate_;
            break;
        case Arrivals::Kind::diurnal:
            if (!(total_ > 0)) return kNever;
            while (true) {  // thinning of a stream at the peak rate
                at_ += random_.exponential() * total_ / (rate_ * peak_);
                const double hour = std::fmod(start_hour_ + at_ / 3600, 24);
                if (random_.uniform() * peak_ < arrivals_.hours[static_cast<std::size_t>(hour)]) break;
                if (at_ > 9e9) return kNever;
            }
            break;
        case Arrivals::Kind::trace:
            return kNever;
    }
    first_ = false;
    return nanoseconds_of(at_);
}

}  // namespace memwall::sim
