// When sessions begin.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/event/clock.h"
#include "sim/event/random.h"

namespace memwall::sim {

struct Arrivals {
    enum class Kind : std::uint8_t {
        poisson,
        gamma,    ///< gaps of a gamma law with coefficient of variation `cv`
        fixed,    ///< every 1 / per_second, the first at once
        diurnal,  ///< a Poisson stream whose rate follows `hours`
        trace     ///< from the app's trace
    };
    Kind kind = Kind::poisson;
    double per_second = 0;  ///< mean rate, of one user
    double cv = 1;
    std::array<double, 24> hours{};  ///< weights of the hours of the day, any scale; diurnal only
};

std::string_view arrivals_name(Arrivals::Kind kind);

/// A phone's day in 24 weights: nearly nothing at night, a morning, a noon and a long evening. Ours: no trace
/// of use on devices is public (SPEED_AND_SIM A.4).
std::array<double, 24> waking_hours();

/// One stream of arrivals.
class ArrivalStream {
  public:
    /// `start_hour`: time of day at the start of the run.
    ArrivalStream(const Arrivals& arrivals, double users, double start_hour, Random random);
    /// The next arrival after the one before; kNever when the rate is 0.
    Nanoseconds next();

  private:
    Arrivals arrivals_;
    double rate_ = 0, start_hour_ = 0, peak_ = 1, total_ = 1, at_ = 0;  // at_: seconds
    bool first_ = true;
    Random random_;
};

}  // namespace memwall::sim
