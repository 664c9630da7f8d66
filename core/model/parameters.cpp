#include "core/model/model.h"

namespace memwall::model {
namespace {

bool in_prediction_layer(const Model& model, const Tensor& t) {
    return t.layer >= static_cast<int>(model.layers.size());
}

/// What a GGUF adds to the checkpoint's parameters does not count as one.
bool counts(const Tensor& t) {
    return t.role != Role::rope_factors;
}

}  // namespace

std::int64_t text_parameters(const Model& model) {
    std::int64_t sum = 0;
    for (const Tensor& t : model.tensors)
        if (counts(t) && t.role != Role::vision && !in_prediction_layer(model, t)) sum += t.elements();
    return sum;
}

std::int64_t checkpoint_parameters(const Model& model) {
    std::int64_t sum = 0;
    for (const Tensor& t : model.tensors)
        if (counts(t)) sum += t.elements();
    for (const Component& c : model.components) sum += c.parameters;
    if (model.output == TiedOutput::tied_stored_twice) sum += model.vocabulary * model.hidden;
    return sum;
}

std::int64_t active_parameters(const Model& model) {
    const bool tied = model.output != TiedOutput::untied;
    std::int64_t sum = 0;
    for (const Tensor& t : model.tensors) {
        if (!counts(t) || t.role == Role::vision || in_prediction_layer(model, t)) continue;
        std::int64_t elements = t.elements();
        switch (t.role) {
            case Role::token_embedding:
                if (!tied) elements = 0;
                break;
            case Role::position_embedding:
            case Role::per_layer_embedding:
                elements = 0;  // one row a token
                break;
            case Role::expert_gate:
            case Role::expert_up:
            case Role::expert_down: {
                const Experts& x = *model.layers[static_cast<std::size_t>(t.layer)].experts;
                elements = elements / x.count * x.used;
                break;
            }
            default:
                break;
        }
        sum += elements;
    }
    return sum;
}

}  // namespace memwall::model
