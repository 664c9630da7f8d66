// Parameter counts of vision towers and of what joins them to a text model, from their dimensions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace memwall::model {

/// The kinds whose published totals are reproduced exactly (tests/model/vision_test.cpp).
enum class VisionKind : std::uint8_t {
    siglip,
    clip,
    pixtral,
    llama4,
    qwen2_vl,
    qwen2_5_vl,
    qwen3_vl,
    intern_vit,
    mllama
};

/// What joins a tower to the text model; the tower's own kind says which where a config does not.
enum class ProjectorKind : std::uint8_t { of_tower, one_matrix_bias, two_matrices };

/// The kind of a `vision_config.model_type`, or of the whole model's type where the former is absent.
std::optional<VisionKind> vision_kind(std::string_view model_type);

struct VisionTower {
    VisionKind kind = VisionKind::siglip;
    std::int64_t layers = 0, hidden = 0, width = 0;
    std::int64_t patch = 0, channels = 3;
    std::int64_t image = 0;      ///< pixels a side; only where positions are learned for every patch
    std::int64_t positions = 0;  ///< rows of a position table given by itself (Qwen3-VL)
    std::int64_t merge = 1;      ///< patches a side that become one token
    std::int64_t temporal_patch = 1;
    std::int64_t text_hidden = 0;
    std::int64_t adapter_width = 0;  ///< Llama-4: projector_input_dim; Llama-3.2: vision_output_dim
    std::int64_t deep_mergers = 0;   ///< Qwen3-VL: mergers that feed earlier text layers
    std::int64_t global_layers = 0, tiles = 0, aspect_ratios = 0;  ///< Llama-3.2
    ProjectorKind projector = ProjectorKind::of_tower;
    bool newline = false;  ///< LLaVA: one learned vector ends a row of patches
};

/// Tower including mergers that belong to it in the checkpoint.
std::int64_t vision_parameters(const VisionTower& tower);
/// What maps its output to text_hidden; 0 where the tower's merger does it.
std::int64_t projector_parameters(const VisionTower& tower);

}  // namespace memwall::model
