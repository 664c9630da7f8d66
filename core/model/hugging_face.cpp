#include "core/model/hugging_face.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/model/check_model.h"
#include "core/model/config_text.h"
#include "core/model/hugging_face/text.h"

namespace memwall::model {

using namespace hugging_face;

namespace {

/// The object that describes the language model, and what leads to it ("text_config.").
const nlohmann::json* find_text(const nlohmann::json& config, std::string& path) {
    const nlohmann::json* from = &config;
    if (const auto thinker = config.find("thinker_config"); thinker != config.end() && thinker->is_object()) {
        from = &*thinker;
        path = "thinker_config.";
    }
    for (const char* key : {"text_config", "llm_config", "language_config"}) {
        const auto it = from->find(key);
        if (it == from->end() || !it->is_object()) continue;
        // CLIP-like configs and copies for old readers keep the sizes at the top.
        if (from->contains("num_hidden_layers") && !it->contains("num_hidden_layers")) continue;
        path += std::string(key) + ".";
        return &*it;
    }
    return from;
}

/// YaRN multiplies the context it starts from; most configs state the product, Qwen2.5's only the factors.
void stretch_context(const ConfigObject& keys, Model& m) {
    const nlohmann::json* scaling = keys.object({"rope_scaling", "rope_parameters"});
    if (scaling == nullptr) return;
    const ConfigObject rope(*scaling, keys.place(), m);
    if (rope.text({"rope_type", "type"}) != "yarn") return;
    const double factor = rope.number({"factor"}).value_or(1.0);
    const auto from = rope.integer({"original_max_position_embeddings"}).value_or(m.trained_context);
    if (!(factor > 1) || factor > 4096) return;
    const auto stretched = static_cast<std::int64_t>(factor * static_cast<double>(from));
    if (stretched <= m.trained_context) return;
    m.trained_context = stretched;
    m.sources["trained_context"] = "config.json:rope_scaling, yarn factor times original context";
}

/// Embeddings, context and what else a decoder has once.
void read_globals(const ConfigObject& keys, const CheckpointLayout& layout, Model& m) {
    m.hidden = keys.required(kHiddenKeys, "hidden");

    m.vocabulary = keys.integer({"vocab_size", "padded_vocab_size"}, "vocabulary").value_or(0);
    if (m.vocabulary == 0)
        m.warnings.push_back("config.json has no vocab_size: token table and output are not counted");
    m.trained_context =
        keys.integer({"max_position_embeddings", "n_positions", "seq_length", "max_sequence_length",
                      "max_seq_len", "model_max_length", "n_ctx", "context_length", "max_context_length",
                      "max_position_embedding", "max_target_positions"},
                     "trained_context")
            .value_or(0);
    stretch_context(keys, m);
    const auto tied = keys.flag({"tie_word_embeddings", "share_input_output_layers", "tie_embeddings"});
    m.sources["output"] =
        tied ? "config.json:tie_word_embeddings" : "default: as checkpoints of this type have";
    m.output = tied.value_or(layout.has(kTied)) ? TiedOutput::tied : TiedOutput::untied;
}

/// Embedders and reward models made of a decoder keep no output matrix: "MistralModel",
/// "LlamaForSequenceClassification". (ChatGLM's only class is a "Model", and has one.)
void drop_unused_output(const ConfigObject& outer, Model& m) {
    const auto classes = outer.texts({"architectures"});
    if (!classes || classes->empty() || m.architecture == "chatglm" || m.output == TiedOutput::tied) return;
    const std::string& name = classes->front();
    if (!name.ends_with("Model") && !name.ends_with("ForSequenceClassification")) return;
    m.output = TiedOutput::tied;
    m.sources["output"] = "config.json:architectures, " + name + " has no output matrix";
}

void read_decoder(const TextConfig& c) {
    c.model.layers.resize(static_cast<std::size_t>(c.layers));
    const std::vector<Mixer> mixers = read_mixers(c);
    read_attention(c, mixers);
    read_recurrent(c, mixers);
    read_feed_forward(c, mixers);
    read_layer_extras(c);
    read_prediction(c);
}

/// Cells that the largest picture takes in layers that attend to it: tiles of patches and a class token.
std::int64_t picture_cells(const nlohmann::json& config) {
    const nlohmann::json* vision = part_of(config, "vision_config");
    if (vision == nullptr) return 0;
    const auto whole = [&](const char* key, std::int64_t fallback) {
        const auto it = vision->find(key);
        const bool number = it != vision->end() && it->is_number_integer();
        const std::int64_t value = number ? it->get<std::int64_t>() : fallback;
        return std::clamp<std::int64_t>(value, 1, 1 << 14);
    };
    const std::int64_t side = whole("image_size", 560) / whole("patch_size", 14);
    return whole("max_num_tiles", 4) * (side * side + 1);
}

/// A type that no table lists is read like Llama only where every key that shapes the model was understood:
/// numbers that look right and are not would be worse than none.
void refuse_unread(const TextConfig& c, const std::string& type, bool known, bool sure) {
    if (known && sure) return;
    std::string keys;
    int count = 0;
    for (const std::string& key : c.keys.unread())
        if (++count <= 4) keys += (keys.empty() ? "" : ", ") + key.substr(0, 40);
    if (count == 0) return;
    if (count > 4) keys += " and " + std::to_string(count - 4) + " more";
    if (!known)
        c.keys.fail("unknown model_type \"" + type.substr(0, 40) + "\" with keys not understood: " + keys,
                    "a type that memwall knows, or keys like Llama's",
                    "give a GGUF of it, or describe its layers in a memwall model YAML");
    c.model.warnings.push_back("keys of config.json not understood: " + keys);
}

/// Types of which some keys look like a language model's.
struct Refused {
    std::string_view types, what;
};
constexpr Refused kRefused[] = {
    {"bart mbart m2m_100 marian pegasus pegasus_x prophetnet led blenderbot blenderbot-small fsmt nllb-moe "
     "plbart "
     "seamless_m4t seamless_m4t_v2 bigbird_pegasus longt5 switch_transformers speech_to_text encoder-decoder "
     "vision-encoder-decoder t5gemma",
     "an encoder-decoder other than T5 and Whisper"},
    {"deberta deberta-v2 electra albert xlnet xlm flaubert convbert funnel squeezebert longformer big_bird "
     "reformer "
     "mobilebert roformer nystromformer fnet canine esm",
     "an encoder other than BERT's kind"},
    {"clip clip_vision_model clip_text_model chinese_clip siglip siglip2 siglip_vision_model vit vit_mae "
     "deit swin "
     "swinv2 dinov2 dinov3_vit beit convnext convnextv2 resnet detr rt_detr yolos sam sam2 segformer "
     "mask2former "
     "blip blip-2 align depth_anything dpt",
     "a vision model"},
    {"wav2vec2 wav2vec2-bert hubert wavlm unispeech sew encodec dac musicgen bark vits speecht5 clap mimi "
     "audio-spectrogram-transformer",
     "an audio model"},
};

void refuse_other_models(const ConfigObject& config, const std::string& type) {
    const auto refuse = [&](const std::string& name, std::string_view what) {
        config.fail("model_type \"" + name + "\", " + std::string(what),
                    "a decoder, T5, Whisper or an encoder like BERT");
    };
    for (const Refused& refused : kRefused)
        if (!type.empty() &&
            (" " + std::string(refused.types) + " ").find(" " + type + " ") != std::string::npos)
            refuse(type, refused.what);
    if (const std::string diffuser = config.text({"_class_name"}); !diffuser.empty())
        config.fail("_class_name \"" + diffuser.substr(0, 40) + "\", part of an image generator",
                    "the config.json of a language model");
}

/// The files of state-spaces (mamba-2.8b, mamba2-2.7b) name a few sizes and leave the rest to the code: the
/// same in the words of transformers.
void translate_state_spaces(nlohmann::json& config, const std::string& place) {
    const nlohmann::json* part = part_of(config, "ssm_cfg");
    if (part == nullptr || config.contains("model_type") || !config.contains("d_model")) return;
    const nlohmann::json ssm = *part;
    if (const auto it = config.find("attn_layer_idx"); it != config.end() && it->is_array() && !it->empty())
        throw Error(place, "attn_layer_idx with attention layers", "a Mamba without attention",
                    "describe its layers in a memwall model YAML");
    const auto whole = [&](const nlohmann::json& in, const char* key, std::int64_t fallback) {
        const auto it = in.find(key);
        const bool good = it != in.end() && it->is_number_integer();
        return good ? std::clamp<std::int64_t>(it->get<std::int64_t>(), 1, 1 << 24) : fallback;
    };
    const std::int64_t inner = whole(ssm, "expand", 2) * whole(config, "d_model", 1);
    const auto layer = ssm.find("layer");
    const bool second = layer != ssm.end() && *layer == "Mamba2";
    config["model_type"] = second ? "mamba2" : "mamba";
    config["intermediate_size"] = inner;
    config["state_size"] = whole(ssm, "d_state", second ? 128 : 16);
    config["conv_kernel"] = whole(ssm, "d_conv", 4);
    if (second) {
        config["head_dim"] = whole(ssm, "headdim", 64);
        config["num_heads"] = inner / whole(ssm, "headdim", 64);
        config["n_groups"] = whole(ssm, "ngroups", 1);
    }
    const std::int64_t multiple = whole(config, "pad_vocab_size_multiple", 8);
    config["vocab_size"] = (whole(config, "vocab_size", 1) + multiple - 1) / multiple * multiple;
}

}  // namespace

Model read_hf_config(const std::string& json_text, const std::string& place) {
    nlohmann::json json = parse_config_text(json_text, place);
    translate_state_spaces(json, place);
    Model m;
    m.default_source = "config.json";
    const ConfigObject outer(json, place, m);
    std::string path;
    const nlohmann::json* text = find_text(json, path);
    const bool nested = text != &json;

    std::string type = outer.text({"model_type"});
    refuse_other_models(outer, type);
    std::string text_type = type;
    if (nested) {
        if (const auto it = text->find("model_type"); it != text->end() && it->is_string())
            text_type = it->get<std::string>();
        if (find_hugging_face_type(type) == nullptr) type = text_type;
    }
    if (type.empty() && outer.has({"n_embd"})) {
        type = text_type = "gpt2";
        m.warnings.push_back("config.json has no model_type: n_embd is a name of GPT-2, assumed its layers");
    }
    const Architecture* architecture = find_hugging_face_type(type);
    if (!has_layout(text_type))
        m.warnings.push_back("model_type \"" + text_type.substr(0, 40) +
                             "\" is unknown: assumed layers like Llama's (two norms, gated feed-forward, "
                             "no biases but those the config names)");
    static const ArchitectureDefaults none;
    const CheckpointLayout& layout = find_layout(text_type);
    const ConfigObject keys =
        nested ? ConfigObject(*text, json, path, text_type, place, m) : ConfigObject(json, place, m);

    read_globals(keys, layout, m);
    m.architecture = architecture != nullptr ? std::string(architecture->name) : type;
    m.family = type;
    if (!nested) drop_unused_output(outer, m);
    TextConfig config{keys, architecture, architecture != nullptr ? architecture->defaults : none, layout, m};
    if (keys.has({"encoder_layers"}) && keys.has({"num_mel_bins"})) {
        read_whisper(config);
    } else if (keys.has({"d_kv"}) && keys.has({"d_ff"})) {
        read_t5(config);
    } else {
        config.layers = static_cast<int>(count_layers(keys, layout));
        config.picture_cells = picture_cells(json);
        read_decoder(config);
        if (config.defaults.embedder) read_embedder(config);
        refuse_unread(config, text_type, has_layout(text_type), architecture != nullptr && !nested);
    }
    read_components(outer, m);
    complete_model(m, place);
    return m;
}

}  // namespace memwall::model
