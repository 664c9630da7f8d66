// Keys and tensors of a GGUF file as a Model.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/model/gguf_layers.h"
#include "core/model/gguf_vision.h"

namespace memwall::model {
namespace {

using Block = TensorName::Block;

/// Tensors sorted by what they belong to. Views point into the file's tensors.
struct TensorIndex {
    std::vector<LayerTensors> layers, encoder, decoder;
    LayerTensors outside;
    bool has_attention = false;

    const LayerTensors& of(const std::vector<LayerTensors>& group, std::int64_t i) const {
        static const LayerTensors none;
        return static_cast<std::size_t>(i) < group.size() ? group[static_cast<std::size_t>(i)] : none;
    }
};

void refuse_wide(const GgufFile& file, const GgufTensor& t, std::int64_t most) {
    for (const std::int64_t d : t.dims)
        if (d > most)
            throw Error(file.name, fmt::format("tensor '{}' with a dimension of {}", t.name, d),
                        fmt::format("at most {}", most));
}

/// Fills the model's tensors and sorts them by layer.
TensorIndex read_tensors(const GgufFile& file, Model& model) {
    TensorIndex index;
    model.tensors.reserve(file.tensors.size());
    for (const GgufTensor& t : file.tensors) {
        const TensorName n = parse_tensor_name(t.name);
        std::vector<LayerTensors>* group = n.block == Block::layer     ? &index.layers
                                           : n.block == Block::encoder ? &index.encoder
                                           : n.block == Block::decoder ? &index.decoder
                                                                       : nullptr;
        const bool in_layer = group && n.layer < GgufKeys::kMaxLayers;
        refuse_wide(file, t, in_layer ? GgufKeys::kMaxWidth : GgufKeys::kMaxTokens);
        if (in_layer) {
            const auto i = static_cast<std::size_t>(n.layer);
            if (group->size() <= i) group->resize(i + 1);
            (*group)[i].add(n.rest, n.role, &t);
        } else {
            index.outside.add(n.rest, n.role, &t);
        }
        index.has_attention |=
            n.role == Role::attn_q || n.role == Role::attn_qkv || n.role == Role::attn_kv_a;
        Tensor out;
        out.name = t.name;
        out.dims = t.dims;
        out.role = n.role;
        out.layer = in_layer ? n.layer : -1;
        out.format = t.format;
        out.offset = t.offset;
        model.tensors.push_back(std::move(out));
    }
    model.tensors_from_file = true;
    return index;
}

/// Text of the file that messages and tables will show.
std::string printable(std::string_view text) {
    std::string s(text);
    for (char& c : s)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return s;
}

std::uint64_t token_count(const GgufFile& file) {
    const GgufEntry* tokens = file.find("tokenizer.ggml.tokens");
    return tokens && tokens->value.type == GgufType::array ? tokens->value.count : 0;
}

void read_vocabulary(GgufKeys& keys, const GgufFile& file, const TensorIndex& index, Model& model) {
    const auto tokens = static_cast<std::int64_t>(token_count(file));
    const auto given = keys.integer("vocabulary", "vocab_size", GgufKeys::kMaxTokens);
    if (const GgufTensor* table = index.outside.find("token_embd.weight")) {
        model.vocabulary = table->dims[1];
        keys.from_tensor("vocabulary", table->name);
        if (table->dims[0] != model.hidden) model.embedding_dim = table->dims[0];
        if (tokens > 0 && tokens != model.vocabulary)
            model.warnings.push_back(fmt::format("the token table has {} rows, the tokenizer {} tokens",
                                                 model.vocabulary, tokens));
    } else {
        model.vocabulary = given.value_or(tokens);
        if (!given) model.sources["vocabulary"] = "gguf:tokenizer.ggml.tokens";
        model.warnings.push_back("the file holds no token table (token_embd.weight)");
    }
    // Equal pre-tokenizers mean equal vocabularies; the unnamed kinds are told apart by their size.
    const std::string_view kind = gguf_text(file, "tokenizer.ggml.pre");
    model.family = kind.empty() || kind == "default"
                       ? fmt::format("{}-{}", printable(gguf_text(file, "tokenizer.ggml.model")), tokens)
                       : printable(kind);
    model.sources["family"] = "gguf:tokenizer.ggml.pre";
}

void read_output(GgufKeys& keys, const TensorIndex& index, bool complete, Model& model) {
    const bool separate = index.outside.has("output.weight");
    model.output = separate ? TiedOutput::untied : TiedOutput::tied;
    model.output_bias = index.outside.has("output.bias");
    if (separate)
        keys.from_tensor("output", "output.weight");
    else
        keys.assume("output", "no output.weight, so the token table serves as output");
    if (!separate && !complete)
        model.warnings.push_back("output.weight may be in a missing shard; the output is taken to be tied");
}

void read_outside(GgufKeys& keys, const TensorIndex& index, Model& model) {
    model.extra_norms = 0;
    for (const LayerTensors::Row& row : index.outside.rows()) {
        const bool bias = row.rest.ends_with(".bias");
        if (row.role == Role::norm && row.tensor->dims[0] == model.hidden) {
            model.extra_norms += bias ? 0 : 1;
            model.extra_norm_bias |= bias;
        }
        if (row.role == Role::rope_factors) model.rope_factors += row.tensor->elements();
        if (row.role == Role::other) model.extra_parameters += row.tensor->elements();
    }
    if (const GgufTensor* positions = index.outside.find("position_embd.weight"))
        model.position_embeddings = positions->dims[1];
    model.per_layer_embedding_dim =
        keys.integer("per_layer_embedding_dim", "embedding_length_per_layer_input").value_or(0);
    if (const GgufTensor* table = index.outside.find("per_layer_token_embd.weight")) {
        const auto layers = static_cast<std::int64_t>(model.layers.size());
        if (model.per_layer_embedding_dim == 0 && layers > 0)
            model.per_layer_embedding_dim = table->dims[0] / layers;
        if (table->dims[1] != model.vocabulary) model.per_layer_vocabulary = table->dims[1];
    }
}

/// A scale that the graph applies: by its key unless that says 0, else where the architecture always does.
bool scaled(GgufKeys& keys, std::string_view name, bool always) {
    const auto given = keys.real(name, name);
    if (!given && always) keys.assume(name, "part of the architecture");
    return given ? *given != 0 : always;
}

double softcap(GgufKeys& keys, std::string_view field, std::string_view key, double fallback) {
    const auto given = keys.real(field, key);
    if (!given && fallback > 0) keys.assume(field, fmt::format("{} in this architecture", fallback));
    return given.value_or(fallback);
}

void read_switches(GgufKeys& keys, const ArchitectureDefaults& defaults, Model& model) {
    model.embedding_scale = scaled(keys, "embedding_scale", defaults.embedding_scale);
    model.residual_scale = scaled(keys, "residual_scale", defaults.residual_scale);
    model.logit_scale = scaled(keys, "logit_scale", defaults.logit_scale);
    model.final_softcap = softcap(keys, "final_softcap", "final_logit_softcapping", defaults.final_softcap);
    model.attention_softcap =
        softcap(keys, "attention_softcap", "attn_logit_softcapping", defaults.attention_softcap);
}

void read_prediction_layers(const LayerKeys& k, const Architecture& architecture, const TensorIndex& index,
                            bool complete, Model& model) {
    for (std::int64_t i = k.blocks - k.prediction; i < k.blocks; ++i) {
        const LayerTensors& t = index.of(index.layers, i);
        if (t.empty() && complete) continue;  // announced, but left out by the converter
        model.prediction_layers.push_back(read_layer(k, architecture, t, static_cast<int>(i)));
        model.prediction_has_embeddings |=
            t.has("nextn.embed_tokens.weight") || t.has("nextn.shared_head_head.weight");
    }
}

void read_layers(const LayerKeys& k, const Architecture& architecture, const TensorIndex& index,
                 bool complete, Model& model) {
    const bool encoder_decoder = !index.encoder.empty() || !index.decoder.empty();
    const auto read = [&](std::vector<Layer>& out, const std::vector<LayerTensors>& group,
                          std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i)
            out.push_back(read_layer(k, architecture, index.of(group, i), static_cast<int>(i)));
    };
    const std::int64_t layers = k.blocks - k.prediction;
    if (encoder_decoder) {
        read(model.encoder, index.encoder, k.encoder_blocks);
        if (!model.embedder) read(model.layers, index.decoder, k.decoder_blocks);
        model.cross_attention =
            std::any_of(index.decoder.begin(), index.decoder.end(),
                        [](const LayerTensors& t) { return t.has(Role::cross_attention); });
    } else if (model.embedder) {
        read(model.encoder, index.layers, layers);
    } else {
        read(model.layers, index.layers, layers);
        read_prediction_layers(k, architecture, index, complete, model);
    }
    for (const LayerTensors& t : index.layers) model.layer_output_scale |= t.has("layer_output_scale.weight");
}

/// Tensor shapes win over keys; say so where they disagree (Qwen 1 doubles its feed-forward length).
void note_widths(GgufKeys& keys, const LayerKeys& k, const Model& model) {
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        const Layer& layer = model.layers[i];
        if (layer.feed_forward && layer.feed_forward->width != k.widths[i])
            keys.from_tensor("feed_forward_width", fmt::format("blk.{}.ffn_down.weight", i));
        if (layer.experts && layer.experts->width != k.expert_widths[i])
            keys.from_tensor("expert_width", fmt::format("blk.{}.ffn_down_exps.weight", i));
    }
}

/// The architecture's name; files that are no model at all are told apart here.
std::string read_architecture(const GgufFile& file) {
    const std::string_view type = gguf_text(file, "general.type");
    if (type == "adapter")
        throw Error(file.name, "a LoRA adapter", "a model", "pass adapters with --lora beside their model");
    if (type == "imatrix") throw Error(file.name, "an importance matrix", "a model");
    const std::string_view name = gguf_text(file, "general.architecture");
    constexpr std::size_t most = 64;
    if (name.size() > most)
        throw Error(file.name, fmt::format("an architecture name of {} bytes", name.size()),
                    fmt::format("at most {}", most));
    if (!name.empty()) return printable(name);
    if (file.find("split.no"))
        throw Error(file.name, "a shard without the keys of its model", "",
                    "put the first shard (NAME-00001-of-0000N.gguf) into the same folder");
    throw Error(file.name, "no key 'general.architecture'", "a language model in GGUF form");
}

void read_file_facts(const GgufFile& file, Model& model) {
    model.file_bytes = file.header_bytes + file.data_bytes;
    model.metadata_bytes = file.header_bytes;
    model.licence = printable(gguf_text(file, "general.license"));
    model.default_source = "gguf";
    model.warnings = file.warnings;
    model.importance_matrix =
        file.find("quantize.imatrix.file") || file.find("quantize.imatrix.entries_count");
    if (const GgufEntry* type = file.find("general.file_type"))
        if (const auto* number = std::get_if<std::int64_t>(&type->value.value)) {
            model.stored_recipe = gguf_file_type_name(*number);
            model.sources["stored_recipe"] = "gguf:general.file_type";
        }
}

}  // namespace

Model model_from_gguf(const GgufFile& file, const std::string& id) {
    Model model;
    model.id = id;
    model.architecture = read_architecture(file);
    model.sources["architecture"] = "gguf:general.architecture";
    read_file_facts(file, model);
    if (model.architecture == "clip") {
        read_vision(file, model);
        return model;
    }

    const Architecture* found = find_architecture(model.architecture);
    const Architecture architecture = found ? *found : Architecture{model.architecture, "", ""};
    if (!found)
        model.warnings.push_back(fmt::format(
            "architecture '{}' is unknown: read from its generic keys, assuming attention without a window "
            "pattern, rotated positions and softmax routing",
            model.architecture));
    GgufKeys keys(file, model.architecture, model);
    const TensorIndex index = read_tensors(file, model);
    const bool complete = file.missing_shards == 0;
    const LayerKeys k = read_layer_keys(keys, file, architecture, index.has_attention, model);

    model.hidden = k.hidden;
    model.trained_context =
        keys.integer("trained_context", "context_length", GgufKeys::kMaxTokens).value_or(0);
    model.embedder = architecture.defaults.embedder;
    read_vocabulary(keys, file, index, model);
    if (!model.embedder) read_output(keys, index, complete, model);
    read_layers(k, architecture, index, complete, model);
    read_outside(keys, index, model);
    read_switches(keys, architecture.defaults, model);
    note_widths(keys, k, model);
    return model;
}

}  // namespace memwall::model
