#include "core/model/checkpoint_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/model/checkpoint_name.h"

namespace memwall::model {
namespace {

constexpr std::string_view kBlocks = "_blocks";  // gpt-oss: codes of MXFP4 experts

bool is_expert(Role role) {
    return role == Role::expert_gate || role == Role::expert_up || role == Role::expert_down;
}

/// Files list the outermost dimension first; ours starts with the row. Dimensions beyond four are folded.
std::array<std::int64_t, 4> dims_of(const std::vector<std::int64_t>& shape) {
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return {0, 1, 1, 1};
    std::array<std::int64_t, 4> dims{1, 1, 1, 1};
    for (std::size_t i = 0; i < shape.size(); ++i)
        dims[std::min<std::size_t>(i, 3)] *= shape[shape.size() - 1 - i];
    return dims;
}

/// Integer words that hold several codes: the matrix that the codes stand for.
void unpack(Tensor& t, const SafetensorsTensor& stored, const QuantizationConfig& q) {
    const std::string_view dtype = stored.dtype->name;
    const bool words = dtype == "I32" || dtype == "U32" || dtype == "U8";
    if (!words || t.auxiliary || q.bits <= 0 || q.bits >= stored.dtype->bits || stored.shape.size() < 2)
        return;
    auto dims = t.dims;
    if (stored.name.ends_with(kBlocks) && stored.shape.size() >= 3)
        dims = {dims[0] * dims[1], dims[2], dims[3], 1};  // [..., blocks of a row, bytes of a block]
    // GPTQ packs along the inputs, which it keeps in columns; all others along the row they keep.
    const bool columns = stored.name.ends_with(".qweight") && !q.recipe.starts_with("awq");
    if (columns || dims[0] == 1) std::swap(dims[0], dims[1]);
    if (dims[0] * stored.dtype->bits % q.bits != 0) return;
    dims[0] = dims[0] * stored.dtype->bits / q.bits;
    t.dims = dims;
    t.format = {.family = quant::Family::raw,
                .ggml_type = 0,
                .milli_bits = static_cast<std::uint16_t>(q.bits * 1000),
                .group = 0};
}

Tensor stored_tensor(const SafetensorsTensor& stored, int decoder_layers,
                     const QuantizationConfig* quantization) {
    const CheckpointName name = read_checkpoint_name(stored.name, decoder_layers);
    Tensor t;
    t.name = stored.name;
    t.dims = dims_of(stored.shape);
    t.role = name.role;
    t.layer = name.layer;
    t.format = storage_format(*stored.dtype);
    t.offset = stored.begin;
    t.auxiliary = name.auxiliary;
    if (quantization) unpack(t, stored, *quantization);
    return t;
}

Tensor bytes_tensor(std::string name, std::uint64_t bytes) {
    Tensor t;
    t.name = std::move(name);
    t.dims[0] = static_cast<std::int64_t>(bytes);
    t.format = {.family = quant::Family::raw, .ggml_type = 0, .milli_bits = 8000, .group = 0};
    t.auxiliary = true;
    return t;
}

/// Roles that other code follows into the layers must find there what they promise.
bool fit_into_layers(Tensor& t, const Model& model) {
    const auto decoder = static_cast<int>(model.layers.size());
    const auto all = decoder + static_cast<int>(std::max<std::size_t>(1, model.prediction_layers.size()));
    const bool known = t.layer < all;
    if (!known) t.layer = -1;
    const bool has_experts =
        t.layer >= decoder || (t.layer >= 0 && model.layers[static_cast<std::size_t>(t.layer)].experts);
    if (is_expert(t.role) && !has_experts) t.role = Role::other;
    return known;
}

}  // namespace

void take_checkpoint_tensors(Model& model, const SafetensorsSet& set,
                             const QuantizationConfig* quantization) {
    const auto decoder_layers = static_cast<int>(model.layers.size());
    std::vector<Tensor> tensors;
    std::size_t strangers = 0;
    bool has_output = false;
    for (const SafetensorsFile& file : set.files)
        for (const SafetensorsTensor& stored : file.tensors) {
            Tensor t = stored_tensor(stored, decoder_layers, quantization);
            strangers += !fit_into_layers(t, model);
            has_output = has_output || (t.role == Role::output && t.layer < 0);
            // Odd numbers of values below a byte; whatever happens, the bytes are the file's.
            if (static_cast<std::uint64_t>(quant::tensor_bytes(t.format, t.dims).value) != stored.bytes())
                t.dims = {static_cast<std::int64_t>(stored.bytes()), 1, 1, 1},
                t.format = bytes_tensor("", 0).format;
            tensors.push_back(std::move(t));
        }
    if (set.missing_shard_bytes > 0)
        tensors.push_back(bytes_tensor("(missing shards)", set.missing_shard_bytes));
    if (strangers > 0)
        model.warnings.push_back(
            fmt::format("{} stored tensors belong to layers that config.json does not have; they are counted",
                        strangers));
    model.warnings.insert(model.warnings.end(), set.warnings.begin(), set.warnings.end());
    std::set<int> seen;  // LongCat stores two of our layers under one number
    for (const Tensor& t : tensors)
        if (t.layer >= 0 && t.layer < decoder_layers) seen.insert(t.layer);
    if (set.missing_shards.empty() && set.missing_shard_bytes == 0 && !seen.empty() &&
        static_cast<int>(seen.size()) < decoder_layers && 2 * static_cast<int>(seen.size()) != decoder_layers)
        model.warnings.push_back(fmt::format("config.json has {} layers, the files hold tensors of {}",
                                             decoder_layers, seen.size()));

    if (model.output != TiedOutput::untied)
        model.output = has_output ? TiedOutput::tied_stored_twice : TiedOutput::tied;
    else if (!has_output && set.missing_shards.empty() && !model.embedder) {
        model.output = TiedOutput::tied;
        model.warnings.push_back(
            "config.json has an output matrix of its own, the files have none: taken as tied");
    }
    model.tensors = std::move(tensors);
    model.tensors_from_file = true;
    model.file_bytes = set.file_bytes() + set.missing_shard_bytes;
    model.metadata_bytes = set.header_bytes();
    model.sources["tensors"] = "safetensors headers";
}

}  // namespace memwall::model
