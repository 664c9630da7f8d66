// A battery: energy drawn with the losses of its resistance, a cut-off, and a charger.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace memwall::sim {

struct BatterySettings {
    double watt_hours = 0;                  ///< 0 = runs from the wall
    double start = 1;                       ///< charged share at the start
    double cut_off = 0;                     ///< share at which the device switches off
    double resistance = 0;                  ///< ohms
    double volts = 3.85;                    ///< nominal of one lithium cell
    double charger_watts = 0;               ///< while plugged in
    double plug_hour = 0, unplug_hour = 0;  ///< hours of the day; equal = never plugged in
};

class Battery {
  public:
    Battery() = default;
    explicit Battery(const BatterySettings& s) : settings_(s), joules_(s.watt_hours * 3600 * s.start) {}

    /// What leaves the cell to deliver `watts`: losses are I^2 r with I = P / V.
    double drawn(double watts) const {
        const double current = watts / settings_.volts;
        return watts + current * current * settings_.resistance;
    }
    void pass(double seconds, double watts, bool plugged) {
        if (!present()) return;
        const double net = plugged ? settings_.charger_watts - watts : -drawn(watts);
        joules_ = std::clamp(joules_ + net * seconds, 0.0, capacity());
    }
    /// Seconds at constant power until it switches the device off, or a charger lets it on again.
    double until_switch(double watts, bool plugged) const {
        const double net = plugged ? settings_.charger_watts - watts : -drawn(watts);
        const double above = joules_ - settings_.cut_off * capacity();

        const bool crosses = present() && (empty() ? net > 0 : net < 0);
        return crosses ? std::abs(above / net) : std::numeric_limits<double>::infinity();
    }
    /// When that time has passed; rounding must not decide which side it is on.
    void switch_to(bool on) {
        const double edge = settings_.cut_off * capacity();
        joules_ = on ? std::nextafter(edge, 2 * capacity()) : edge;
    }
    bool present() const { return settings_.watt_hours > 0; }
    double capacity() const { return settings_.watt_hours * 3600; }
    double share() const { return present() ? joules_ / capacity() : 1; }
    bool empty() const { return present() && joules_ <= settings_.cut_off * capacity(); }
    /// `hour` of the day, 0..24.
    bool plugged(double hour) const {
        const double a = settings_.plug_hour, b = settings_.unplug_hour;
        if (a == b) return false;
        return a < b ? hour >= a && hour < b : hour >= a || hour < b;
    }
    const BatterySettings& settings() const { return settings_; }

  private:
    BatterySettings settings_;
    double joules_ = 0;
};

}  // namespace memwall::sim
