// vision_config and audio_config: what stands beside the text model.
#include "core/model/hugging_face/text.h"
#include "core/model/vision.h"

namespace memwall::model::hugging_face {
namespace {

/// A dimension of a tower, small enough that products of three stay far below 2^63.
std::int64_t dimension(const ConfigObject& keys, Keys names, std::int64_t fallback, std::int64_t largest) {
    const std::int64_t value = keys.integer(names).value_or(fallback);
    if (value > largest)
        keys.fail(std::string("vision_config.") + *names.begin() + " = " + std::to_string(value),
                  "at most " + std::to_string(largest));
    return value;
}

VisionTower read_tower(const ConfigObject& keys, VisionKind kind, std::int64_t text_hidden) {
    constexpr std::int64_t kWide = std::int64_t{1} << 20;
    VisionTower t;
    t.kind = kind;
    t.layers = dimension(keys, {"num_hidden_layers", "depth"}, 0, 1024);
    t.hidden = dimension(keys, {"hidden_size"}, 0, kWide);
    t.width = dimension(keys, {"intermediate_size"}, 4 * t.hidden, kWide);
    t.patch = dimension(keys, {"patch_size"}, 14, 1024);
    t.channels = dimension(keys, {"num_channels", "in_chans", "in_channels"}, 3, 64);
    t.image = dimension(keys, {"image_size"}, 0, 16384);
    t.positions = dimension(keys, {"num_position_embeddings"}, 0, kWide);
    t.merge = dimension(keys, {"spatial_merge_size"}, 1, 16);
    t.temporal_patch = dimension(keys, {"temporal_patch_size"}, 1, 16);
    t.adapter_width = dimension(keys, {"projector_input_dim"}, t.hidden, kWide);
    t.text_hidden = text_hidden;
    return t;
}

/// Cells that one picture takes, where the config or the tower's geometry fixes them.
std::int64_t tokens_per_image(const ConfigObject& outer, const VisionTower& t) {
    if (const auto given = outer.integer({"mm_tokens_per_image"})) return *given;
    if (t.kind == VisionKind::clip && t.patch > 0) return (t.image / t.patch) * (t.image / t.patch);
    return 0;  // depends on the picture's size
}

}  // namespace

void read_components(const ConfigObject& keys, Model& model) {
    if (const nlohmann::json* vision = keys.object({"vision_config", "vision_model_config"})) {
        const ConfigObject tower_keys(*vision, keys.place(), model);
        auto kind = vision_kind(tower_keys.text({"model_type"}));
        if (!kind) kind = vision_kind(keys.text({"model_type"}));
        if (kind) {
            // spatial_merge_size stands outside the tower in Mistral-3.
            VisionTower tower = read_tower(tower_keys, *kind, model.hidden);
            if (!tower_keys.has({"spatial_merge_size"}))
                tower.merge = dimension(keys, {"spatial_merge_size"}, 1, 16);
            model.components.push_back(
                {"vision", vision_parameters(tower), true, tokens_per_image(keys, tower)});
            if (const std::int64_t projector = projector_parameters(tower); projector > 0)
                model.components.push_back({"projector", projector, true, 0});
        } else {
            model.warnings.push_back("the vision tower is of an unknown type: its weights are not counted");
        }
    }
    if (keys.object({"audio_config"}) != nullptr)
        model.warnings.push_back("config.json has an audio_config: the audio encoder is not counted");
}

}  // namespace memwall::model::hugging_face
