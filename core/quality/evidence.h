// Published measurements: data/evidence/MODEL.yaml, one small file a model, embedded and parsed only when
// that model is asked for. A user's own rows have the same shape (docs/quality.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/quality/weight_quality.h"

namespace memwall::quality {

enum class RowGroup : std::uint8_t { weights, kv, window, pruning };

struct EvidenceRow {
    std::string id;     ///< "q0031"
    std::string model;  ///< as the source names it: base and instruct variants apart
    RowGroup group = RowGroup::weights;
    std::string method;  ///< file type or method; cache rows "KV k/v"
    std::string metric;  ///< "ppl wikitext2", "KLD mean", "MMLU 5-shot" ...
    double value = 0;
    std::optional<double> baseline;   ///< the same metric of the unquantized model
    bool baseline_estimated = false;  ///< not read from the same table
    double bits = 0;                  ///< a weight; 0 = not given
    std::int64_t context = 0;         ///< tokens of the measurement; 0 = not given
    Imatrix imatrix = Imatrix::unknown;
    std::string weak;    ///< why it is weaker than a direct reading; empty = it is not
    std::string source;  ///< URL, or the user's file
    bool user = false;
};

struct EvidenceFile {
    std::string id;         ///< catalogue id where there is one
    std::string shape;      ///< catalogue model of the same tensors; empty = none
    double parameters = 0;  ///< billions; 0 = not given
    std::vector<EvidenceRow> rows;
};

/// Throws Error with file and line for anything that is not such a document.
EvidenceFile read_evidence(std::string_view yaml, const std::string& name);

/// Built-in rows of the model with that evidence id; nullptr when there are none. Thread-safe, parsed once.
std::shared_ptr<const EvidenceFile> find_evidence(std::string_view id);
/// All built-in rows, for searches over models and for the fit.
std::vector<std::shared_ptr<const EvidenceFile>> all_evidence();

/// The evidence id of a model: its catalogue id, also for files named so, when the size agrees within 3 %: a
/// fine-tune of the same shape must not inherit rows. Empty = none.
std::string evidence_id(const model::Model& model);

/// ln(PPL / PPL unquantized); nullopt for other metrics or without baseline. Word-level perplexity is divided
/// by the tokens a word, 1.3 (QUALITY a.6).
std::optional<double> ln_ppl_ratio(const EvidenceRow& row);
std::optional<double> mean_kld(const EvidenceRow& row);
/// Share 0..1 of positions with another most likely token.
std::optional<double> top1_disagreement(const EvidenceRow& row);
/// A score of a task (MMLU, GSM8K, ...), neither perplexity nor divergence.
bool is_task(const EvidenceRow& row);

/// "perplexity +2.4 %", "KLD 0.031", "MMLU 66.6 -> 66.0".
std::string row_text(const EvidenceRow& row);

}  // namespace memwall::quality
