#include "core/model/model.h"

namespace memwall::model {
namespace {

bool in_prediction_layer(const Model& model, const Tensor& t) {
    return t.layer >= static_cast<int>(model.layers.size());
}

/// What a GGUF adds to the checkpoint's parameters, or a packed matrix to its weights, does not count as one.
bool counts(const Tensor& t) {
    return t.role != Role::rope_factors && !t.auxiliary;
}

/// Files list the copy of a tied output and the vision tower among their tensors; generated lists do not.
bool stores_output_copy(const Model& model) {
    return model.tensors_from_file && model.output == TiedOutput::tied_stored_twice;
}

/// Tensors of which a token reads `used` of `count` slices; nullptr for all others.
const Experts* experts_of(const Model& model, const Tensor& t) {
    const bool stacked = t.role == Role::expert_gate || t.role == Role::expert_up ||
                         t.role == Role::expert_down || t.name.find("_exps.bias") != std::string::npos;
    if (!stacked || t.layer < 0) return nullptr;
    const auto& experts = model.layers[static_cast<std::size_t>(t.layer)].experts;
    return experts ? &*experts : nullptr;
}

/// Of these a token reads one row.
bool is_lookup(const Model& model, const Tensor& t) {
    return t.role == Role::position_embedding || t.role == Role::per_layer_embedding ||
           (t.role == Role::token_embedding &&
            (model.output == TiedOutput::untied || stores_output_copy(model)));
}

/// The encoder of an encoder-decoder runs once a prompt, not once a token.
bool in_encoder(const Model& model, const Tensor& t) {
    return model.cross_attention && t.name.rfind("enc.", 0) == 0;
}

}  // namespace

std::int64_t text_parameters(const Model& model) {
    std::int64_t sum = 0;
    for (const Tensor& t : model.tensors)
        if (counts(t) && t.role != Role::vision && !in_prediction_layer(model, t)) sum += t.elements();
    return sum;
}

std::int64_t checkpoint_parameters(const Model& model) {
    std::int64_t sum = model.stored_scales;
    for (const Tensor& t : model.tensors)
        if (counts(t)) sum += t.elements();
    if (model.tensors_from_file) return sum;
    for (const Component& c : model.components) sum += c.parameters;
    if (model.output == TiedOutput::tied_stored_twice)
        sum += model.vocabulary * (model.embedding_dim > 0 ? model.embedding_dim : model.hidden);
    return sum;
}

std::int64_t active_parameters(const Model& model) {
    std::int64_t sum = 0;
    for (const Tensor& t : model.tensors) {
        if (!counts(t) || t.role == Role::vision || in_prediction_layer(model, t)) continue;
        if (is_lookup(model, t) || in_encoder(model, t)) continue;
        const Experts* experts = experts_of(model, t);
        sum += experts != nullptr ? t.elements() / experts->count * experts->used : t.elements();
    }
    return sum;
}

}  // namespace memwall::model
