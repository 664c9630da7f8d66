#include "core/model/vision.h"

#include <array>

namespace memwall::model {
namespace {

/// How the transformer blocks of a kind are built; every number is a count of vectors or matrices.
struct TowerShape {
    std::string_view model_types;
    VisionKind kind;
    int feed_forward_matrices;  ///< 3 = gated
    bool attention_bias, feed_forward_bias;
    int norm_vectors;  ///< hidden-sized ones a norm: 1 = scale only, 2 = with bias
    int outer_norms;   ///< outside the layers, the merger's not counted
    bool patch_bias, class_token;
};

// From the modelling code of transformers 5.x, models/TYPE.
constexpr std::array<TowerShape, 9> kShapes{{
    {"siglip_vision_model", VisionKind::siglip, 2, true, true, 2, 1, true, false},
    {"clip_vision_model", VisionKind::clip, 2, true, true, 2, 2, false, true},
    {"pixtral", VisionKind::pixtral, 3, false, false, 1, 1, false, false},
    {"llama4_vision_model", VisionKind::llama4, 2, true, true, 2, 2, false, true},
    {"qwen2_vl", VisionKind::qwen2_vl, 2, true, true, 2, 0, false, false},
    {"intern_vit_6b", VisionKind::intern_vit, 2, true, true, 2, 0, true, true},
    {"mllama_vision_model", VisionKind::mllama, 2, false, true, 2, 2, false, true},
    {"qwen2_5_vl", VisionKind::qwen2_5_vl, 3, true, true, 1, 0, false, false},
    {"qwen3_vl", VisionKind::qwen3_vl, 2, true, true, 2, 0, true, false},
}};

const TowerShape& shape_of(VisionKind kind) {
    for (const TowerShape& shape : kShapes)
        if (shape.kind == kind) return shape;
    return kShapes[0];
}

std::int64_t linear(std::int64_t inputs, std::int64_t outputs, bool bias) {
    return inputs * outputs + (bias ? outputs : 0);
}

/// Qwen: merge x merge patches become one token through two layers; the merger is part of the tower.
std::int64_t merger(const VisionTower& t, int norm_vectors) {
    const std::int64_t joined = t.hidden * t.merge * t.merge;
    return norm_vectors * t.hidden + linear(joined, joined, true) + linear(joined, t.text_hidden, true);
}

/// Qwen3-VL's other mergers norm the joined patches instead of each one.
std::int64_t deep_merger(const VisionTower& t, int norm_vectors) {
    const std::int64_t joined = t.hidden * t.merge * t.merge;
    return norm_vectors * joined + linear(joined, joined, true) + linear(joined, t.text_hidden, true);
}

}  // namespace

std::optional<VisionKind> vision_kind(std::string_view model_type) {
    for (const TowerShape& shape : kShapes)
        if (shape.model_types == model_type) return shape.kind;
    // Qwen3.5 keeps the tower of Qwen3-VL.
    if (model_type == "qwen3_5" || model_type == "qwen3_5_moe" || model_type == "qwen3_vl_moe")
        return VisionKind::qwen3_vl;
    return std::nullopt;
}

std::int64_t vision_parameters(const VisionTower& t) {
    const TowerShape& s = shape_of(t.kind);
    const std::int64_t h = t.hidden;
    const std::int64_t attention = 4 * linear(h, h, s.attention_bias);
    const std::int64_t feed_forward =
        (s.feed_forward_matrices - 1) * linear(h, t.width, s.feed_forward_bias) +
        linear(t.width, h, s.feed_forward_bias);
    const std::int64_t layer = attention + feed_forward + 2 * s.norm_vectors * h;
    const std::int64_t patches = linear(t.channels * t.patch * t.patch * t.temporal_patch, h, s.patch_bias);
    const std::int64_t side = t.patch > 0 ? t.image / t.patch : 0;
    const std::int64_t class_token = s.class_token ? 1 : 0;
    std::int64_t sum = t.layers * layer + patches + s.outer_norms * s.norm_vectors * h + class_token * h;
    switch (t.kind) {
        case VisionKind::siglip:
        case VisionKind::clip:
            return sum + (side * side + class_token) * h;
        case VisionKind::llama4:
            sum += (side * side + class_token) * h;
            // Pixel shuffle makes four patches one, then two layers widen it.
            return sum + linear(4 * h, t.adapter_width, false) +
                   linear(t.adapter_width, t.adapter_width, false);
        case VisionKind::pixtral:
            return sum;
        case VisionKind::intern_vit:  // two vectors scale the branches of every layer
            return sum + (side * side + class_token) * h + 2 * t.layers * h;
        case VisionKind::mllama: {
            const std::int64_t patches_of_tile = side * side + class_token;
            // One learned position a patch, one a tile before, within and after the layers; gates.
            const std::int64_t aspects = t.aspect_ratios + 1;
            return sum + t.global_layers * (layer + 2) + patches_of_tile * h + 3 +
                   aspects * t.tiles * (patches_of_tile + 2) * h;
        }
        case VisionKind::qwen2_vl:
        case VisionKind::qwen2_5_vl:
        case VisionKind::qwen3_vl:
            return sum + t.positions * h + merger(t, s.norm_vectors) +
                   t.deep_mergers * deep_merger(t, s.norm_vectors);
    }
    return sum;
}

std::int64_t projector_parameters(const VisionTower& t) {
    const std::int64_t newline = t.newline ? t.text_hidden : 0;
    if (t.projector == ProjectorKind::one_matrix_bias)  // PaliGemma
        return linear(t.hidden, t.text_hidden, true) + newline;
    if (t.projector == ProjectorKind::two_matrices)  // LLaVA
        return linear(t.hidden, t.text_hidden, true) + linear(t.text_hidden, t.text_hidden, true) + newline;
    switch (t.kind) {
        case VisionKind::intern_vit: {  // four patches become one: norm and two layers
            const std::int64_t joined = 4 * t.hidden;
            return 2 * joined + linear(joined, t.text_hidden, true) +
                   linear(t.text_hidden, t.text_hidden, true);
        }
        case VisionKind::mllama:
            return linear(t.adapter_width, t.text_hidden, true);
        case VisionKind::siglip:  // Gemma-3: one matrix and a norm
            return linear(t.hidden, t.text_hidden, false) + t.hidden;
        case VisionKind::clip:  // LLaVA: two layers
            return linear(t.hidden, t.text_hidden, true) + linear(t.text_hidden, t.text_hidden, true);
        case VisionKind::pixtral:  // Mistral-3: norm, patch merger, two layers
            return t.hidden + linear(t.hidden * t.merge * t.merge, t.hidden, false) +
                   linear(t.hidden, t.text_hidden, false) + linear(t.text_hidden, t.text_hidden, false);
        case VisionKind::llama4:
            return linear(t.adapter_width, t.text_hidden, false);
        case VisionKind::qwen2_vl:
        case VisionKind::qwen2_5_vl:
        case VisionKind::qwen3_vl:
            return 0;
    }
    return 0;
}

}  // namespace memwall::model
