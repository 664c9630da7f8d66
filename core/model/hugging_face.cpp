#include "core/model/hugging_face.h"

#include "core/base/error.h"
#include "core/model/check_model.h"
#include "core/model/hugging_face/text.h"

namespace memwall::model {

using namespace hugging_face;

namespace {

constexpr std::size_t kLargestText = std::size_t{16} << 20;
constexpr int kDeepest = 64;

std::size_t line_of(const std::string& text, std::size_t byte) {
    std::size_t line = 1;
    for (std::size_t i = 0; i < byte && i < text.size(); ++i) line += text[i] == '\n' ? 1 : 0;
    return line;
}

nlohmann::json parse(const std::string& text, const std::string& place) {
    if (text.size() > kLargestText)
        throw Error(place, std::to_string(text.size()) + " bytes", "a config.json of at most 16 MiB");
    const auto shallow = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        if (depth > kDeepest) throw Error(place, "values nested deeper than 64 levels", "a config.json");
        return true;
    };
    try {
        nlohmann::json json = nlohmann::json::parse(text, shallow);
        if (!json.is_object()) throw Error(place, "no JSON object", "a config.json");
        return json;
    } catch (const nlohmann::json::parse_error& e) {
        throw Error(place + ":" + std::to_string(line_of(text, e.byte)), "text that is no JSON",
                    "a config.json");
    } catch (const nlohmann::json::out_of_range&) {  // well-formed, but beyond a double: 1e99999
        throw Error(place, "a number too large to hold", "a config.json");
    }
}

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

/// Embeddings, context and what else a decoder has once.
void read_globals(const ConfigObject& keys, const CheckpointLayout& layout, Model& m) {
    m.hidden = keys.required(kHiddenKeys, "hidden");
    m.vocabulary = keys.integer({"vocab_size", "padded_vocab_size"}, "vocabulary").value_or(0);
    if (m.vocabulary == 0)
        m.warnings.push_back("config.json has no vocab_size: token table and output are not counted");
    m.trained_context =
        keys.integer({"max_position_embeddings", "n_positions", "seq_length", "max_sequence_length",
                      "max_seq_len", "model_max_length", "n_ctx", "context_length", "max_target_positions"},
                     "trained_context")
            .value_or(0);
    const auto tied = keys.flag({"tie_word_embeddings"});
    m.sources["output"] =
        tied ? "config.json:tie_word_embeddings" : "default: as checkpoints of this type have";
    m.output = tied.value_or(layout.has(kTied)) ? TiedOutput::tied : TiedOutput::untied;
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

}  // namespace

Model read_hf_config(const std::string& json_text, const std::string& place) {
    const nlohmann::json json = parse(json_text, place);
    Model m;
    m.default_source = "config.json";
    const ConfigObject outer(json, place, m);
    std::string path;
    const nlohmann::json* text = find_text(json, path);
    const bool nested = text != &json;

    std::string type = outer.text({"model_type"});
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
    if (architecture == nullptr)
        m.warnings.push_back("model_type \"" + type.substr(0, 40) +
                             "\" is unknown: assumed layers like Llama's (two norms, gated feed-forward, "
                             "no biases but those the config names)");
    static const ArchitectureDefaults none;
    const CheckpointLayout& layout = find_layout(text_type);
    const ConfigObject keys =
        nested ? ConfigObject(*text, json, path, text_type, place, m) : ConfigObject(json, place, m);

    read_globals(keys, layout, m);
    m.architecture = architecture != nullptr ? std::string(architecture->name) : type;
    m.family = type;
    TextConfig config{keys, architecture, architecture != nullptr ? architecture->defaults : none, layout, m};
    if (keys.has({"encoder_layers"}) && keys.has({"num_mel_bins"})) {
        read_whisper(config);
    } else if (keys.has({"d_kv"}) && keys.has({"d_ff"})) {
        read_t5(config);
    } else {
        const std::int64_t layers = keys.required(kLayerKeys, "layers");
        if (layers > kMostLayers)
            keys.fail("num_hidden_layers = " + std::to_string(layers),
                      "at most " + std::to_string(kMostLayers));
        config.layers = static_cast<int>(layers);
        read_decoder(config);
        if (config.defaults.embedder) read_embedder(config);
    }
    read_components(outer, m);
    complete_model(m, place);
    return m;
}

}  // namespace memwall::model
