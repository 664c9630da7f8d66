// The laboratory as a whole: what was asked, what was measured, and the choice the numbers support.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/lab/kv_error.h"
#include "kernels/lab/layer_error.h"
#include "kernels/lab/method.h"
#include "kernels/lab/weight_error.h"

namespace memwall::lab {

struct LabRequest {
    std::string source;  ///< a file, or "synthetic:..." of random_weights.h
    std::vector<Method> methods;
    std::string tensors;           ///< name pattern; empty = all
    std::uint64_t rows = 0;        ///< of each tensor; 0 = as many as fit a fixed amount of work
    std::uint64_t columns = 4096;  ///< synthetic weights
    std::uint64_t seed = 1;
    bool layer = false, kv = false;
    std::string activations;      ///< file with inputs [tokens, channels] for `layer`; empty = synthetic
    std::uint64_t tokens = 1024;  ///< inputs for `layer`; half of them calibrate
    double limit_db = 20;         ///< the loss that "good enough" means: 20 dB is an error of a tenth
    std::function<void(std::size_t done, std::size_t total, const std::string& name)> progress;
};

struct TensorReport {
    std::string name, stored;  ///< stored: its format in the file
    std::uint64_t total_rows = 0, cols = 0;
    std::size_t rows = 0;  ///< measured
    Outliers outliers;
    std::vector<WeightError> errors;  ///< one a method
    std::optional<LayerReport> layer;
};

struct KvReport {
    std::string head;  ///< "plain keys", "keys with 4 offset channels"
    std::vector<KvError> errors;
};

struct LabReport {
    std::string source;
    std::uint64_t seed = 0;
    double limit_db = 0;
    bool synthetic_inputs = true;
    std::vector<Method> methods;
    std::vector<TensorReport> tensors;
    std::vector<KvReport> kv;
    std::vector<std::string> notes;
    std::vector<std::string> choices;  ///< sentences, see choice.h
};

/// Throws Error for a bad source, a pattern that no readable tensor matches, and rows or columns out of
/// range.
LabReport run_lab(const LabRequest& request);

}  // namespace memwall::lab
