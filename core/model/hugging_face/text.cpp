// What surrounds attention and feed-forward: norms, embeddings, scales, prediction layers.
#include "core/model/hugging_face/text.h"

namespace memwall::model::hugging_face {
namespace {

/// Falcon and OPT decide by flags which norms exist.
int norms_of_layers(const TextConfig& c) {
    // Falcon-2 has the new arrangement with one norm for both branches.
    if (const auto norms = c.keys.integer({"num_ln_in_parallel_attn"}); norms && *norms > 0 && *norms < 3)
        return static_cast<int>(*norms);
    if (c.keys.has({"parallel_attn"}))
        return c.keys.flag_or({"parallel_attn"}, false) &&
                       !c.keys.flag_or({"new_decoder_architecture"}, false)
                   ? 1
                   : 2;
    return c.layout.norms;
}

/// Gemma-3n's alternating updates and low-rank residuals.
void add_altup(const TextConfig& c) {
    const std::int64_t inputs = c.keys.integer({"altup_num_inputs"}).value_or(0);
    const std::int64_t rank = c.keys.integer({"laurel_rank"}).value_or(0);
    if (inputs < 2 || inputs > 64 || rank == 0) return;
    const std::int64_t h = c.model.hidden;
    for (const char* name : {"altup_proj.weight", "altup_unembd_proj.weight"})
        c.model.extra_tensors.push_back({name, {h, h, inputs - 1, 1}});
    for (Layer& layer : c.model.layers)
        layer.extra_tensors = {{"altup_correct_coef.weight", {inputs, inputs, 1, 1}},
                               {"altup_correct_scale.weight", {h, 1, 1, 1}},
                               {"altup_predict_coef.weight", {inputs, inputs * inputs, 1, 1}},
                               {"altup_router.weight", {h, inputs, 1, 1}},
                               {"altup_router_norm.weight", {h, 1, 1, 1}},
                               {"laurel_l.weight", {h, rank, 1, 1}},
                               {"laurel_r.weight", {rank, h, 1, 1}},
                               {"laurel_post_norm.weight", {h, 1, 1, 1}}};
}

/// Gemma-4 norms both feed-forwards before and after, and scales router inputs and experts.
void add_beside(const TextConfig& c, Layer& layer) {
    layer.norms += 3;
    layer.extra_tensors.push_back({"ffn_gate_inp.scale", {c.model.hidden, 1, 1, 1}});
    layer.extra_tensors.push_back({"ffn_down_exps.scale", {layer.experts->count, 1, 1, 1}});
}

/// The GGUF converter writes the frequency factors of two kinds of rope scaling as tensors.
std::int64_t rope_factors(const TextConfig& c) {
    const nlohmann::json* scaling = c.keys.object({"rope_scaling", "rope_parameters"});
    if (scaling == nullptr) return 0;
    const ConfigObject keys(*scaling, c.keys.place(), c.model);
    const std::string type = keys.text({"rope_type", "type"});
    std::int64_t head_dim = 0;
    for (const Layer& layer : c.model.layers)
        if (layer.attention) head_dim = layer.attention->key_dim;
    const double rotated = c.keys.number({"partial_rotary_factor"}).value_or(1.0);
    if (!(rotated > 0) || rotated > 1) c.keys.fail("partial_rotary_factor out of range", "0 to 1");
    if (type == "llama3") return head_dim / 2;
    if (type == "longrope" || type == "su")  // long and short
        return static_cast<std::int64_t>(rotated * static_cast<double>(head_dim));
    return 0;
}

/// Norms, gates and scalars that only some families have.
void add_small_tensors(const TextConfig& c, Layer& layer) {
    const std::int64_t h = c.model.hidden;
    if (c.layout.has(kSubNorms) && layer.attention && layer.feed_forward) {
        layer.extra_tensors.push_back(
            {"attn_sub_norm.weight", {layer.attention->heads * layer.attention->value_dim, 1, 1, 1}});
        layer.extra_tensors.push_back({"ffn_sub_norm.weight", {layer.feed_forward->width, 1, 1, 1}});
    }
    if (c.layout.has(kActivationScalars)) layer.extra_tensors.push_back({"ffn_activation", {2, 1, 1, 1}});
    if (layer.attention && c.keys.flag_or({"use_head_wise_attn_gate"}, c.layout.has(kHeadGate)))
        layer.extra_tensors.push_back({"attn_head_gate.weight", {h, layer.attention->heads, 1, 1}});
    if (const std::int64_t idle = c.keys.integer({"zero_expert_num"}).value_or(0);
        idle > 0 && layer.experts) {
        layer.extra_tensors.push_back({"ffn_gate_inp_idle.weight", {h, idle, 1, 1}});
        layer.extra_tensors.push_back({"exp_probs_b_idle.bias", {idle, 1, 1, 1}});
    }
}

bool scaled(const TextConfig& c, Keys keys, bool fallback) {
    const auto factor = c.keys.number(keys);
    return factor ? *factor != 1.0 : fallback;
}

}  // namespace

void read_layer_extras(const TextConfig& c) {
    Model& m = c.model;
    const int norms = norms_of_layers(c);
    for (Layer& layer : m.layers) {
        // A layer with one block only (Nemotron-H) has one norm.
        const bool one_block = !layer.feed_forward && !layer.experts;
        layer.norms = one_block || (!layer.attention && !layer.recurrent) ? std::min(norms, 1) : norms;
        layer.norm_bias = c.layout.has(kLayerNormBias);
        if (layer.feed_forward && layer.experts && c.layout.has(kNormsBeside)) add_beside(c, layer);
        if (c.keys.flag_or({"parallel_attn_mlp_res"}, false) && layer.experts) ++layer.norms;  // Arctic
        add_small_tensors(c, layer);
    }
    m.extra_norms = c.keys.flag({"do_layer_norm_before"}) == false ? 0 : c.layout.extra_norms;
    m.extra_norm_bias = c.layout.has(kLayerNormBias);
    m.layer_output_scale = c.layout.has(kLayerScale);
    m.per_layer_embedding_dim =
        c.keys.integer({"hidden_size_per_layer_input"}, "per_layer_embedding_dim").value_or(0);
    const auto rows = c.keys.integer({"vocab_size_per_layer_input"}, "per_layer_vocabulary");
    if (m.per_layer_embedding_dim > 0) m.per_layer_vocabulary = rows.value_or(0);
    add_altup(c);
    if (c.layout.learned_positions >= 0)
        m.position_embeddings = m.trained_context + c.layout.learned_positions;
    const std::int64_t embedding = c.keys.integer({"word_embed_proj_dim"}).value_or(m.hidden);
    if (embedding != m.hidden) m.embedding_dim = embedding;
    m.rope_factors = rope_factors(c);
    if (c.layout.has(kAlwaysUntied)) m.output = TiedOutput::untied;
    if (c.keys.has(
            {"cross_attention_layers"}))  // Llama-3.2-Vision: rows for pictures, in the input table only
        m.extra_tensors.push_back({"token_embd_picture.weight", {m.hidden, 8, 1, 1}});
    for (Layer& layer : m.layers)
        if (layer.attention) layer.attention->unused_kv_stored = c.layout.has(kUnusedKvStored);
    m.output_bias = c.keys.flag_or({"lm_head_bias"}, c.layout.has(kHeadBias));
    m.embedding_scale = scaled(c, {"embedding_multiplier", "scale_emb"}, c.defaults.embedding_scale);
    m.residual_scale = scaled(c, {"residual_multiplier", "scale_depth"}, c.defaults.residual_scale);
    m.logit_scale = scaled(c, {"logits_scaling", "logit_scale", "lm_head_multiplier", "dim_model_base"},
                           c.defaults.logit_scale);
    m.final_softcap = c.keys.number({"final_logit_softcapping"}).value_or(c.defaults.final_softcap);
    m.attention_softcap = c.keys.number({"attn_logit_softcapping"}).value_or(c.defaults.attention_softcap);
}

void read_prediction(const TextConfig& c) {
    Model& m = c.model;
    const std::int64_t count = c.keys.integer_or(
        {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers", "mtp_num_layers"},
        "prediction_layers", c.layout.has(kPrediction) ? 1 : 0, "as checkpoints of this type have");
    if (count > 64) c.keys.fail("num_nextn_predict_layers = " + std::to_string(count), "at most 64");
    if (count == 0) return;
    const Layer* source = nullptr;
    for (const Layer& layer : m.layers)
        if (layer.attention && layer.attention->window == 0) source = &layer;
    if (source == nullptr) return;
    Layer copy = *source;
    // Where a layer is one block (Nemotron-H), a prediction layer is an attention and experts.
    const bool whole = c.keys.text({"mtp_hybrid_override_pattern"}).find('E') != std::string::npos ||
                       c.keys.has({"mtp_layers_block_type"});
    for (const Layer& layer : m.layers)
        if (whole && layer.experts && !copy.experts) {
            copy.experts = layer.experts;
            copy.norms += layer.norms;
        }
    m.prediction_layers.assign(static_cast<std::size_t>(count), copy);
    m.prediction_has_embeddings =
        c.keys.flag_or({"mtp_use_dedicated_embeddings"}, c.layout.has(kPredictionHasEmbeddings));
}

}  // namespace memwall::model::hugging_face
