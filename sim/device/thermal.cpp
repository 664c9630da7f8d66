#include "sim/device/thermal.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace memwall::sim {

Thermal::Thermal(const ThermalSettings& settings) : settings_(settings), temperature_(settings.start) {
    if (simulated()) govern();
}

void Thermal::pass(double seconds, double watts) {
    if (!simulated()) return;
    const double target = settings_.ambient + watts * settings_.resistance;
    temperature_ = target + (temperature_ - target) * std::exp(-seconds / settings_.time_constant);
    govern();
}

void Thermal::govern() {
    if (!settings_.levels.empty()) {
        while (level_ < settings_.levels.size() && temperature_ >= settings_.levels[level_].enter) ++level_;
        while (level_ > 0 && temperature_ < settings_.levels[level_ - 1].leave) --level_;
        speed_ = level_ > 0 ? settings_.levels[level_ - 1].speed : 1;
    } else {
        speed_ = std::clamp(1 - (temperature_ - settings_.from) / settings_.span, settings_.floor, 1.0);
    }
    if (temperature_ >= settings_.cut_off) cut_ = true;
    if (cut_ && temperature_ < settings_.resume) cut_ = false;
}

double Thermal::until_resume(double watts) const {
    const double target = settings_.ambient + watts * settings_.resistance;
    if (!cut_) return 0;
    if (target >= settings_.resume) return std::numeric_limits<double>::infinity();
    // A hair below the threshold, so that rounding does not leave it above.
    return settings_.time_constant *
           std::log((temperature_ - target) / ((settings_.resume - target) * (1 - 1e-6)));
}

}  // namespace memwall::sim
