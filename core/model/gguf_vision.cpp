#include "core/model/gguf_vision.h"

#include <algorithm>

#include "core/model/gguf_keys.h"

namespace memwall::model {
namespace {

struct Projector {
    std::string_view type;   ///< clip.projector_type
    std::int64_t merge;      ///< patches merged along one side when no key says so
    std::int64_t fixed = 0;  ///< tokens of every image, whatever its size; 0 = by patches
};

// How many patches become one token: tools/mtmd/clip.cpp of llama.cpp v0.5.0 (loading of hyperparameters and
// the count of output tokens).
constexpr Projector kProjectors[] = {
    {"mlp", 1},
    {"mlp_norm", 1},
    {"phi4", 1},
    {"janus_pro", 1},
    {"ldp", 2},
    {"ldpv2", 2},
    {"adapter", 2},
    {"gemma3", 4},
    {"gemma3nv", 1, 256},
    {"gemma4v", 3},
    {"qwen2vl_merger", 2},
    {"qwen2.5vl_merger", 2},
    {"qwen3vl_merger", 2},
    {"glm4v", 2},
    {"pixtral", 1},
    {"lightonocr", 1},
    {"resampler", 1, 64},
    {"idefics3", 1},
    {"internvl", 1},
    {"llama4", 1},
    {"lfm2", 1},
    {"kimivl", 1},
};

/// Tokens of one image of the size the encoder was made for; models that take any size need more or fewer.
std::int64_t tokens_per_image(GgufKeys& keys, const GgufFile& file, Model& model) {
    std::string_view type = gguf_text(file, "clip.vision.projector_type");
    if (type.empty()) type = gguf_text(file, "clip.projector_type");
    const auto* row = std::find_if(std::begin(kProjectors), std::end(kProjectors),
                                   [&](const Projector& p) { return p.type == type; });
    const auto image = keys.integer("image_size", "vision.image_size").value_or(0);
    const auto patch = keys.integer("patch_size", "vision.patch_size").value_or(0);
    if (row == std::end(kProjectors) || patch == 0) {
        model.warnings.push_back("tokens per image are unknown for projector '" + std::string(type) + "'");
        return 0;
    }
    if (row->fixed > 0) return row->fixed;
    auto merge = keys.integer("projector_merge", "vision.projector.scale_factor");
    if (!merge) merge = keys.integer("projector_merge", "vision.spatial_merge_size");
    const std::int64_t side = image / patch / std::max<std::int64_t>(merge.value_or(row->merge), 1);
    return side * side;
}

}  // namespace

void read_vision(const GgufFile& file, Model& model) {
    GgufKeys keys(file, model.architecture, model);
    Component vision{.name = "vision"}, audio{.name = "audio"};
    for (const GgufTensor& t : file.tensors) {
        const bool heard = t.name.starts_with("a.") || t.name.starts_with("mm.a.");
        (heard ? audio : vision).parameters += t.elements();
        Tensor out;
        out.name = t.name;
        out.dims = t.dims;
        out.role = Role::vision;
        out.format = t.format;
        out.offset = t.offset;
        model.tensors.push_back(std::move(out));
    }
    model.tensors_from_file = true;
    model.hidden = keys.integer("hidden", "vision.projection_dim").value_or(0);
    if (model.hidden == 0) model.hidden = keys.integer("hidden", "audio.projection_dim").value_or(0);
    if (vision.parameters > 0) {
        vision.tokens_per_image = tokens_per_image(keys, file, model);
        model.components.push_back(vision);
    }
    if (audio.parameters > 0) model.components.push_back(audio);
}

}  // namespace memwall::model
