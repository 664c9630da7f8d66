// Fits the additive loss and the curve on the embedded rows, and scores both on models and families left out.
#pragma once

#include <string>
#include <vector>

#include "core/quality/fit.h"

namespace memwall::quality {

/// A row of a model whose tensors are known, so that the share of each type is known too.
struct FitRow {
    std::string id, model, family, method;
    double ratio = 0;  ///< measured ln(PPL/PPL0), at least 0.003: below that the logarithm is noise
    double parameters = 0;
    double bits = 0;       ///< mean of the block linears
    double body_bits = 0;  ///< of the type with the largest share
    bool sensitive = false, imatrix = false;
    TypeFamily type_family = TypeFamily::i_quant;
    std::vector<std::pair<std::string, double>> shares;

    /// Models of 3 billion and more, body of 3 bits and more.
    bool in_valid_domain() const { return parameters >= 3 && body_bits >= 3; }
};

/// File types and pure types of llama.cpp at 512 tokens, made with its current quantizer code, of models with
/// a published baseline. Kept out: cliffs and families that the rules refuse.
std::vector<FitRow> fit_rows();
/// The same of one model, by its evidence id, empty when its tensors are not known.
std::vector<FitRow> fit_rows_of_model(const std::string& evidence_id);
/// The same of models without a published baseline; `ratio` is the perplexity itself.
std::vector<FitRow> relative_rows();

/// Robust least squares of the logarithm (Huber), with an intercept a model that is shrunk to zero, so that a
/// model with many rows does not decide alone, types shrunk to a parabola in their bits, so that a type seen
/// on one model does not run away, and the exponent of small models shrunk to zero: four models show it.
/// Bands stay as they are in `book`.
void fit_additive(FitBook& book, const std::vector<FitRow>& rows);
void fit_curve(FitBook& book, const std::vector<FitRow>& rows);

double predict_additive(const FitBook& book, const FitRow& row);
double predict_curve(const FitBook& book, const FitRow& row);

enum class LeaveOut : std::uint8_t { model, family };
enum class Form : std::uint8_t { additive, curve };

struct LeftOut {
    const FitRow* row = nullptr;
    double log_error = 0;  ///< ln(predicted / measured) by a fit without the row's model or family
    double at80 = 1;       ///< band that the other models' errors suggest
    bool held() const;
};
std::vector<LeftOut> leave_out(const std::vector<FitRow>& rows, LeaveOut what, Form form);

struct FitScore {
    std::size_t rows = 0, groups = 0;
    double rms = 0, bias = 0;                   ///< of the logarithm
    double p50 = 0, p80 = 0, p90 = 0, p95 = 0;  ///< of its absolute value
    double held80 = 0;                          ///< share inside the 80 % band
};
FitScore score(const std::vector<LeftOut>& rows, bool valid_domain_only);

/// Interpolation between two rows of the same model (QUALITY a.2, T1): each row predicted from its neighbours
/// in bits.
FitScore score_interpolation(const FitBook& book, const std::vector<FitRow>& rows);

/// Models the fit never saw, each row against the model's own Q4_K_M, whose loss is taken as predicted.
std::vector<LeftOut> out_of_sample(const FitBook& book, const std::vector<FitRow>& relative);

/// Everything: terms, bands and their scores.
FitBook fit_all(const std::vector<FitRow>& rows, const FitBook& constants);

}  // namespace memwall::quality
