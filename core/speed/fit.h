// The fit of the class priors: all families and laws at once, robust (errors count by their size, not their
// square), each device weighted by the square root of its rows, each family shrunk to the pool.
// Deterministic.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/speed/points.h"

namespace memwall::speed {

/// One predicted quantity of one point, in seconds (a token, or the whole prompt).
struct Prediction {
    const MeasuredPoint* point = nullptr;
    bool prefill = false;
    double predicted = 0, measured = 0;
    double low = 0, high = 0;  ///< interval of the prediction
    RateVector gradient{};     ///< d ln(predicted) / d ln(rate)

    double log_error() const;                                        ///< ln(predicted / measured)
    double speed_error() const { return measured / predicted - 1; }  ///< of the predicted rate
    bool held() const { return low <= measured && measured <= high; }
};

/// Decode and prefill of a point whose weights are resident; nothing for other regimes.
std::vector<Prediction> predict(const MeasuredPoint& point, const PriorBook& book);
std::vector<Prediction> predict(const MeasuredPoint& point, const Machine& machine);

/// Centres: laws and families. Widths stay those of the skeleton. Points of Set::cases and of other regimes
/// than resident are ignored, as are those of the device `without`. `start` speeds the fit up.
PriorBook fit_centres(const PointSet& set, const std::string& without = {}, const PriorBook* start = nullptr);

/// Widths from honest residuals (each made without its own device): deviations of the rates, scales of the
/// families shrunk to 1, and the quantiles that hold `level` of the rows. Residuals of the device `without`
/// are ignored.
void fit_widths(PriorBook& book, const std::vector<Prediction>& honest, const std::string& without = {});

struct Validation {
    std::vector<Prediction>
        predictions;  ///< every resident point, its own device left out of centres and widths
    std::map<std::string, PriorBook> books;  ///< by the device that was left out
    PriorBook book;                          ///< fitted on all devices, widths from the honest residuals
};

/// Leaves each device of the set out in turn.
Validation validate(const PointSet& set);

/// Which runs of a device are given away as measured.
enum class Anchors : std::uint8_t {
    smallest_and_largest,  ///< decode of the models with the fewest and the most bytes, short contexts
    one_prompt,            ///< one prefill run: the model of median size, shortest prompt
    one_long               ///< one decode run at the longest context
};

/// Predictions of the other scored rows of each device that has any, by machines calibrated on its anchors.
/// Engines of different years on one device count as different machines.
std::vector<Prediction> predict_calibrated(const PointSet& set, const Validation& v, Anchors anchors);

struct Score {
    int rows = 0, devices = 0;
    double median = 0, mean = 0, device_median = 0;  ///< of |speed error|
    double within_10 = 0, within_20 = 0, held = 0;   ///< shares of rows
};
Score score(const std::vector<Prediction>& predictions);

}  // namespace memwall::speed
