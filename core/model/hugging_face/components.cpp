// vision_config and audio_config: what stands beside the text model.
#include <algorithm>

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
    // Qwen2-VL's hidden_size is that of the text.
    t.hidden = kind == VisionKind::qwen2_vl ? dimension(keys, {"embed_dim"}, 1280, kWide)
                                            : dimension(keys, {"hidden_size"}, 0, kWide);
    t.width = dimension(keys, {"intermediate_size"}, 4 * t.hidden, kWide);
    t.patch = dimension(keys, {"patch_size"}, 14, 1024);
    t.channels = dimension(keys, {"num_channels", "in_chans", "in_channels"}, 3, 64);
    t.image = dimension(keys, {"image_size"}, 0, 16384);
    t.positions = dimension(keys, {"num_position_embeddings"}, 0, kWide);
    t.merge = dimension(keys, {"spatial_merge_size"}, 1, 16);
    t.temporal_patch = dimension(keys, {"temporal_patch_size"}, 1, 16);
    t.adapter_width = dimension(keys, {"projector_input_dim", "vision_output_dim"}, t.hidden, kWide);
    if (const auto list = keys.integers({"deepstack_visual_indexes"})) {
        constexpr std::size_t kMostMergers = 8;  // keeps the sum of their matrices below 2^63
        if (list->size() > kMostMergers)
            keys.fail("deepstack_visual_indexes has " + std::to_string(list->size()) + " entries",
                      "at most 8");
        t.deep_mergers = static_cast<std::int64_t>(list->size());
    }
    if (kind == VisionKind::mllama) {
        t.global_layers = dimension(keys, {"num_global_layers"}, 8, 1024);
        t.tiles = dimension(keys, {"max_num_tiles"}, 4, 64);
        const nlohmann::json* ratios = keys.list({"supported_aspect_ratios"});
        t.aspect_ratios =
            ratios != nullptr ? static_cast<std::int64_t>(std::min<std::size_t>(ratios->size(), 64)) : 8;
    }
    t.text_hidden = text_hidden;
    return t;
}

/// Cells that one picture takes, where the config or the tower's geometry fixes them.
std::int64_t tokens_per_image(const ConfigObject& outer, const VisionTower& t) {
    if (const auto given = outer.integer({"mm_tokens_per_image"})) return *given;
    if (const auto given = outer.object({"text_config"}); given != nullptr)
        if (const auto it = given->find("num_image_tokens"); it != given->end() && it->is_number_unsigned())
            return std::min<std::int64_t>(it->get<std::int64_t>(), 1 << 20);  // PaliGemma
    if (t.kind == VisionKind::clip && t.patch > 0) return (t.image / t.patch) * (t.image / t.patch);
    if (t.kind == VisionKind::intern_vit && t.patch > 0)
        return (t.image / t.patch) * (t.image / t.patch) / 4;  // of one tile
    return 0;                                                  // depends on the picture's size
}

}  // namespace

void read_components(const ConfigObject& keys, Model& model) {
    if (const nlohmann::json* vision = keys.object({"vision_config", "vision_model_config"})) {
        static const nlohmann::json nothing = nlohmann::json::object();
        const std::string tower_type = ConfigObject(*vision, keys.place(), model).text({"model_type"});
        const std::string type = keys.text({"model_type"});
        // What equals the class default of transformers is left out; only nested objects have defaults.
        const ConfigObject tower_keys(*vision, nothing, "vision_config.", tower_type, keys.place(), model);
        auto kind = vision_kind(tower_type);
        if (!kind) kind = vision_kind(type);
        if (kind) {
            // spatial_merge_size stands outside the tower in Mistral-3.
            VisionTower tower = read_tower(tower_keys, *kind, model.hidden);
            if (!tower_keys.has({"spatial_merge_size"}))
                tower.merge = dimension(keys, {"spatial_merge_size"}, 1, 16);
            if (type == "paligemma") tower.projector = ProjectorKind::one_matrix_bias;
            if (type.starts_with("llava")) tower.projector = ProjectorKind::two_matrices;
            tower.newline = type == "llava_next" || type == "llava_onevision" || type == "llava_next_video";
            model.components.push_back(
                {"vision", vision_parameters(tower), true, tokens_per_image(keys, tower)});
            if (const std::int64_t projector = projector_parameters(tower); projector > 0)
                model.components.push_back({"projector", projector, true, 0});
        } else {
            model.warnings.push_back("the vision tower is of an unknown type: its weights are not counted");
        }
    }
    const std::string named = keys.text({"mm_vision_tower"});  // LLaVA before transformers had it
    if (!named.empty())
        model.warnings.push_back("the vision tower " + named.substr(0, 80) +
                                 " has files of its own: its weights are not counted");
    if (keys.object({"img_processor", "embd_layer"}) != nullptr)  // Phi-3-vision
        model.warnings.push_back("the vision tower is of an unknown type: its weights are not counted");
    if (keys.object({"audio_processor"}) != nullptr)
        model.warnings.push_back("config.json has an audio_processor: the audio encoder is not counted");
    if (keys.object({"audio_config"}) != nullptr)
        model.warnings.push_back("config.json has an audio_config: the audio encoder is not counted");
}

}  // namespace memwall::model::hugging_face
