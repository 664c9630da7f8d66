#include "kernels/lab/lab.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "kernels/lab/choice.h"
#include "kernels/lab/tensor_file.h"

namespace memwall::lab {
namespace {

constexpr std::string_view kSynthetic = "synthetic:";
constexpr std::uint64_t kSyntheticRows = 256;
constexpr std::uint64_t kMaxValues = std::uint64_t{1} << 28;  // 1 GiB of floats, three times
// Values measured: at most the first number a tensor and, where there are many, the second over all of them.
constexpr std::uint64_t kTensorValues = 1 << 24, kAllValues = 1 << 26;
constexpr std::uint64_t kMinSide = 32;     // smaller ones are no matrices: convolutions, norms
constexpr std::uint64_t kLayerRows = 256;  // of a tensor, for the layer's output
constexpr std::uint64_t kLayerChannels = 8192;

std::vector<quantize::UniformFormat> layer_formats() {
    std::vector<quantize::UniformFormat> formats;
    for (const char* name : {"int4-g128", "int4-asym-g128", "int3-g128", "int3-asym-g128"})
        formats.push_back(*quantize::parse_uniform(name));
    return formats;
}

/// Inputs of `channels` channels from a file, nullopt when no tensor has them.
std::optional<Matrix> stored_inputs(const TensorFile& file, std::uint64_t channels, std::uint64_t tokens) {
    for (const StoredTensor& t : file.tensors)
        if (t.cols == channels && t.codec && t.rows >= 2) return read_rows(file, t, tokens);
    return std::nullopt;
}

TensorReport described(const std::string& name, const std::string& stored, std::uint64_t rows,
                       std::uint64_t cols) {
    TensorReport tensor;
    tensor.name = name;
    tensor.stored = stored;
    tensor.total_rows = rows;
    tensor.cols = cols;
    return tensor;
}

void measure(const LabRequest& request, const TensorFile* inputs, const Matrix& w, TensorReport& tensor,
             LabReport& report) {
    tensor.rows = w.rows;
    tensor.outliers = outliers(w.view());
    for (const Method& m : request.methods) tensor.errors.push_back(weight_error(m, w.view()));
    if (!request.layer) return;
    if (w.cols > kLayerChannels) {
        report.notes.push_back(
            fmt::format("{}: {} inputs, layers are measured up to {}", tensor.name, w.cols, kLayerChannels));
        return;
    }
    const std::optional<Matrix> x = inputs ? stored_inputs(*inputs, w.cols, request.tokens)
                                           : synthetic_inputs(request.tokens, w.cols, request.seed + 1);
    if (!x) {
        report.notes.push_back(fmt::format("{}: no tensor of {} holds inputs of {} channels", tensor.name,
                                           inputs->name, w.cols));
        return;
    }
    const MatrixView rows{w.data.data(), std::min<std::size_t>(w.rows, kLayerRows), w.cols};
    tensor.layer = layer_errors(rows, x->view(), layer_formats());
}

void measure_synthetic(const LabRequest& request, const TensorFile* inputs, LabReport& report) {
    const std::string what = request.source.substr(kSynthetic.size());
    const Synthetic synthetic = parse_synthetic(what);
    const std::uint64_t rows = request.rows ? request.rows : kSyntheticRows;
    if (request.columns < kMinSide || request.columns > kMaxValues || rows > kMaxValues / request.columns)
        throw Error("--rows, --columns", fmt::format("{} x {}", rows, request.columns),
                    fmt::format("at least {} columns and at most 2^28 values", kMinSide));
    if (request.progress) request.progress(0, 1, what);
    TensorReport tensor = described(what, "F32", rows, request.columns);
    measure(request, inputs, random_weights(synthetic, rows, request.columns, request.seed), tensor, report);
    report.tensors.push_back(std::move(tensor));
}

void measure_file(const LabRequest& request, const TensorFile* inputs, LabReport& report) {
    const TensorFile file = open_tensors(request.source);
    report.notes.insert(report.notes.end(), file.warnings.begin(), file.warnings.end());
    std::vector<const StoredTensor*> chosen;
    std::size_t matching = 0, unreadable = 0;
    for (const StoredTensor& t : file.tensors) {
        if (!name_matches(request.tensors, t.name) || t.rows < kMinSide || t.cols < kMinSide) continue;
        ++matching;
        if (t.codec)
            chosen.push_back(&t);
        else if (unreadable++ == 0)
            report.notes.push_back(
                fmt::format("{} is stored in {}, which is not decoded here; it is left out, "
                            "and others like it",
                            t.name, t.format));
    }
    if (chosen.empty())
        throw Error(request.source,
                    matching > 0 ? fmt::format("{} matrices in formats that are not decoded here", matching)
                                 : fmt::format("no matrix that matches '{}'", request.tensors),
                    "matrices of at least 32 x 32; 'memwall inspect FILE --tensors' lists them");
    const std::uint64_t values = std::min(kTensorValues, kAllValues / chosen.size());
    bool again = false;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const StoredTensor& t = *chosen[i];
        if (request.progress) request.progress(i, chosen.size(), t.name);
        std::uint64_t rows = request.rows ? request.rows : std::max(values / t.cols, kMinSide);
        rows = std::min(rows, std::max<std::uint64_t>(1, kMaxValues / t.cols));
        const Matrix w = read_rows(file, t, rows);
        if (std::all_of(w.data.begin(), w.data.end(), [](float x) { return x == 0; })) {
            report.notes.push_back(t.name + " is all zero and left out");
            continue;
        }
        TensorReport tensor = described(t.name, t.format, t.rows, t.cols);
        measure(request, inputs, w, tensor, report);
        again |= t.codec->block_len > 1;
        report.tensors.push_back(std::move(tensor));
    }
    if (again)
        report.notes.push_back(
            "the file is quantized already: these are the errors of quantizing it once more");
}

}  // namespace

LabReport run_lab(const LabRequest& request) {
    LabReport report;
    report.source = request.source;
    report.seed = request.seed;
    report.limit_db = request.limit_db;
    report.synthetic_inputs = request.activations.empty();
    report.methods = request.methods;
    if (request.tokens < 2 || request.tokens > 1 << 20)
        throw Error("--tokens", fmt::format("{}", request.tokens), "2 to 1048576");
    std::optional<TensorFile> inputs;
    if (!request.activations.empty()) inputs = open_tensors(request.activations);
    const TensorFile* given = inputs ? &*inputs : nullptr;
    if (request.source.starts_with(kSynthetic))
        measure_synthetic(request, given, report);
    else
        measure_file(request, given, report);
    if (request.kv)
        for (const std::size_t channels : {0, 4})
            report.kv.push_back({channels == 0 ? "plain keys" : "keys with 4 offset channels",
                                 kv_errors(synthetic_head({.offset_channels = channels}, request.seed))});
    report.choices = choices(report);
    return report;
}

}  // namespace memwall::lab
