// The fitted loss (QUALITY a.3 and a.4): data/fit.yaml, written by core/quality/bench/quality_fit.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/quality/weight_quality.h"

namespace memwall::quality {

/// ln(PPLq/PPL0) = class x small x imatrix x sum over block linears of share(type) x loss(type); where a type
/// is missing, a curve on the mean bits.
struct FitBook {
    std::string version;
    double sensitive = 1;       ///< class factor; ordinary models have 1
    double small_below = 3;     ///< billions of parameters
    double small_exponent = 0;  ///< factor (small_below / P)^exponent below it
    double no_imatrix = 1;      ///< factor without importance matrix
    double new_family = 1.2;    ///< widens the band of a family nobody measured (QUALITY d.2)
    std::map<std::string, double, std::less<>> types;  ///< L by ggml name, with importance matrix

    // Bands: factors on the loss. Spread is one standard deviation of the logarithm, leave-one-model-out.
    struct Spread {
        double sigma = 0, at80 = 1, at95 = 1;
    };
    Spread additive, interpolated, curve;
    double other_file = 1.3;  ///< measured: another file of the same label (QUALITY a.2)

    // ln ln ratio = c0 + c1 (b - 4.5) + c2 (b - 4.5)^2 + terms
    double c0 = 0, c1 = 0, c2 = 0, c_k = 0, c_legacy = 0, c_no_imatrix = 0, c_sensitive = 0;
};

const FitBook& fit_book();
FitBook read_fit(std::string_view yaml, const std::string& name);
std::string write_fit(const FitBook& book);

/// L of a ggml type; NaN for what the fit does not hold. F16, BF16 and F32 lose nothing.
double type_loss(const FitBook& book, quant::Format format);
double small_factor(const FitBook& book, double billions);

/// The curve on mean bits, with `family` one of i-quant, k-quant, legacy (Qn_0, Qn_1).
enum class TypeFamily : std::uint8_t { i_quant, k_quant, legacy };
TypeFamily type_family(std::string_view type);
double curve_loss(const FitBook& book, double bits, TypeFamily family, bool sensitive, bool imatrix);

}  // namespace memwall::quality
