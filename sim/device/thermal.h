// Heat: one thermal resistance and time constant between the chip and the air, and a governor that trades
// speed for temperature.
#pragma once

#include <cstdint>
#include <vector>

namespace memwall::sim {

struct ThermalSettings {
    double ambient = 25;         ///< degrees Celsius
    double start = 25;           ///< of the chip at the start of the run
    double resistance = 0;       ///< kelvin per watt; 0 = heat is not simulated
    double time_constant = 150;  ///< seconds: resistance x heat capacity

    /// Governor, proportional: speed falls by one over `span` kelvin above `from`, not below `floor`.
    double from = 1e9, span = 40, floor = 0.1;
    /// Governor in steps, instead: at or above `enter` the speed is at most `speed` until the chip is below
    /// `leave`.
    struct Level {
        double enter = 0, leave = 0, speed = 1;
    };
    std::vector<Level> levels;
    double cut_off = 1e9;  ///< at this temperature nothing runs until the chip is below `resume`
    double resume = 1e9;
};

class Thermal {
  public:
    Thermal() = default;
    explicit Thermal(const ThermalSettings& settings);

    /// `watts` for `seconds`: the exact answer of the network to constant power,
    /// T(t) = Ta + P R + (T0 - Ta - P R) exp(-t / tau).
    void pass(double seconds, double watts);
    double temperature() const { return temperature_; }
    /// Share of the cold speed that the governor grants now.
    double speed() const { return speed_; }
    bool cut_off() const { return cut_; }
    /// Seconds at no load (`watts`) until it runs again; infinite if it never cools that far.
    double until_resume(double watts) const;
    bool simulated() const { return settings_.resistance > 0; }
    const ThermalSettings& settings() const { return settings_; }

  private:
    void govern();
    ThermalSettings settings_;
    double temperature_ = 25, speed_ = 1;
    std::size_t level_ = 0;  // of settings_.levels, 0 = none
    bool cut_ = false;
};

}  // namespace memwall::sim
