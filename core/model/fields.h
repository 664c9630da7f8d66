// Names of the model's fields: the vocabulary of model YAML and of --set, one table a type. Members that need
// more than a number or a flag (bias, qk_norm, kind, output, components, layers) are handled by their users.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/model.h"

namespace memwall::model {

template <class Owner, class Value>
struct Field {
    std::string_view key;  ///< inside its own mapping
    Value Owner::*member;
    std::string_view name = key;  ///< among all fields of a model: in Model::sources and --set
};
template <class Owner>
using IntegerField = Field<Owner, std::int64_t>;
template <class Owner>
using FlagField = Field<Owner, bool>;

template <class Enum>
struct Named {
    std::string_view name;
    Enum value;
};
inline constexpr Named<Attention::QkNorm> kQkNormNames[] = {
    {"none", Attention::QkNorm::none},
    {"per_head", Attention::QkNorm::per_head},
    {"full_row", Attention::QkNorm::full_row},
};
inline constexpr Named<RecurrentKind> kRecurrentNames[] = {
    {"mamba1", RecurrentKind::mamba1},       {"mamba2", RecurrentKind::mamba2},
    {"delta_net", RecurrentKind::delta_net}, {"short_conv", RecurrentKind::short_conv},
    {"rwkv", RecurrentKind::rwkv},           {"lightning", RecurrentKind::lightning},
};
inline constexpr Named<TiedOutput> kOutputNames[] = {
    {"untied", TiedOutput::untied},
    {"tied", TiedOutput::tied},
    {"tied_stored_twice", TiedOutput::tied_stored_twice},
};

// `head_dim` stands for key_dim and value_dim where they are equal.
inline constexpr IntegerField<Attention> kAttentionIntegers[] = {
    {"heads", &Attention::heads},
    {"kv_heads", &Attention::kv_heads},
    {"key_dim", &Attention::key_dim},
    {"value_dim", &Attention::value_dim},
    {"window", &Attention::window},
    {"latent_rank", &Attention::latent_rank},
    {"latent_rope_dim", &Attention::latent_rope_dim},
    {"nope_dim", &Attention::nope_dim},
    {"query_rank", &Attention::query_rank},
    {"index_heads", &Attention::index_heads},
    {"index_dim", &Attention::index_dim},
    {"picture_cells", &Attention::picture_cells},
};
inline constexpr FlagField<Attention> kAttentionFlags[] = {
    {"chunked", &Attention::chunked},
    {"keys_as_values", &Attention::keys_as_values},
    {"gated_output", &Attention::gated_output},
    {"sinks", &Attention::sinks},
    {"fused_qkv", &Attention::fused_qkv},
    {"rope", &Attention::rope},
    {"unused_kv_stored", &Attention::unused_kv_stored},
    {"fused_kv_b", &Attention::fused_kv_b},
};

inline constexpr IntegerField<Recurrent> kRecurrentIntegers[] = {
    {"inner", &Recurrent::inner, "recurrent_inner"},
    {"state", &Recurrent::state, "recurrent_state"},
    {"conv_kernel", &Recurrent::conv_kernel},
    {"heads", &Recurrent::heads, "recurrent_heads"},
    {"groups", &Recurrent::groups, "recurrent_groups"},
    {"decay_rank", &Recurrent::decay_rank},
    {"gate_rank", &Recurrent::gate_rank},
    {"generation", &Recurrent::generation},
};
inline constexpr FlagField<Recurrent> kRecurrentFlags[] = {
    {"norm", &Recurrent::norm},
    {"conv_bias", &Recurrent::conv_bias},
    {"proj_bias", &Recurrent::proj_bias},
    {"split_ba", &Recurrent::split_ba},
};

inline constexpr IntegerField<FeedForward> kFeedForwardIntegers[] = {{"width", &FeedForward::width}};
inline constexpr FlagField<FeedForward> kFeedForwardFlags[] = {
    {"gated", &FeedForward::gated},
    {"bias", &FeedForward::bias},
    {"fused_gate_up", &FeedForward::fused_gate_up},
};

inline constexpr IntegerField<Experts> kExpertIntegers[] = {
    {"count", &Experts::count, "experts"},
    {"used", &Experts::used, "experts_used"},
    {"width", &Experts::width, "expert_width"},
    {"latent", &Experts::latent, "expert_latent"},
    {"shared_width", &Experts::shared_width},
    {"groups", &Experts::groups, "expert_groups"},
    {"groups_used", &Experts::groups_used, "expert_groups_used"},
};
inline constexpr FlagField<Experts> kExpertFlags[] = {
    {"gated", &Experts::gated},
    {"shared_gate", &Experts::shared_gate},
    {"bias", &Experts::bias},
    {"router_bias", &Experts::router_bias},
    {"sigmoid", &Experts::sigmoid},
    {"softmax_of_chosen", &Experts::softmax_of_chosen},
    {"normalized", &Experts::normalized},
    {"merged_gate_up", &Experts::merged_gate_up},
};

// In the order in which they are written.
inline constexpr Field<Model, std::string> kModelTexts[] = {
    {"id", &Model::id},         {"hf_repo", &Model::hf_repo}, {"architecture", &Model::architecture},
    {"family", &Model::family}, {"licence", &Model::licence},
};
inline constexpr IntegerField<Model> kModelIntegers[] = {
    {"hidden", &Model::hidden},
    {"vocabulary", &Model::vocabulary},
    {"gguf_vocabulary", &Model::gguf_vocabulary},
    {"trained_context", &Model::trained_context},
    {"embedding_dim", &Model::embedding_dim},
    {"position_embeddings", &Model::position_embeddings},
    {"per_layer_embedding_dim", &Model::per_layer_embedding_dim},
    {"per_layer_vocabulary", &Model::per_layer_vocabulary},
    {"rope_factors", &Model::rope_factors},
    {"encoder_positions", &Model::encoder_positions},
    {"extra_parameters", &Model::extra_parameters},
    {"stored_scales", &Model::stored_scales},
};
inline constexpr FlagField<Model> kModelFlags[] = {
    {"output_bias", &Model::output_bias},
    {"extra_norm_bias", &Model::extra_norm_bias},
    {"prediction_has_embeddings", &Model::prediction_has_embeddings},
    {"prediction_in_gguf", &Model::prediction_in_gguf},
    {"cross_attention", &Model::cross_attention},
    {"embedder", &Model::embedder},
    {"embedding_scale", &Model::embedding_scale},
    {"residual_scale", &Model::residual_scale},
    {"logit_scale", &Model::logit_scale},
    {"layer_output_scale", &Model::layer_output_scale},
};
inline constexpr Field<Model, double> kModelNumbers[] = {
    {"final_softcap", &Model::final_softcap},
    {"attention_softcap", &Model::attention_softcap},
};
/// What is said about the model besides its shape; written last.
inline constexpr Field<Model, std::string> kModelRemarks[] = {
    {"published_source", &Model::published_source},
    {"published_active", &Model::published_active},
    {"config_source", &Model::config_source},
    {"notes", &Model::notes},
};

}  // namespace memwall::model
