#include "core/model/catalog.h"

#include <chrono>

#include "core/base/embedded.h"
#include "core/model/hugging_face.h"
#include "core/model/model_yaml.h"
#include "tests/catch.h"
#include "tests/model/facts.h"

using namespace memwall;
using namespace memwall::model;

namespace {

std::int64_t cache_elements(const Attention& a) {
    return a.latent_rank > 0 ? a.latent_rank + a.latent_rope_dim : a.kv_heads * (a.key_dim + a.value_dim);
}

/// Recurrent state of one sequence in elements, convolution apart.
std::int64_t state_elements(const Recurrent& r) {
    switch (r.kind) {
        case RecurrentKind::mamba1:
        case RecurrentKind::mamba2:
            return r.inner * r.state;
        case RecurrentKind::delta_net:
        case RecurrentKind::lightning:
            return r.inner * r.state;  // value heads x value dim x key dim
        case RecurrentKind::rwkv:
            return r.inner * r.state + 2 * r.inner;  // and two shifted tokens
        case RecurrentKind::short_conv:
            return 0;
    }
    return 0;
}

std::int64_t conv_elements(const Recurrent& r) {
    const std::int64_t kept = r.conv_kernel - 1;
    switch (r.kind) {
        case RecurrentKind::mamba1:
        case RecurrentKind::short_conv:
            return kept * r.inner;
        case RecurrentKind::mamba2:
        case RecurrentKind::delta_net:
            return kept * (r.inner + 2 * r.groups * r.state);
        case RecurrentKind::rwkv:
        case RecurrentKind::lightning:
            return 0;
    }
    return 0;
}

/// The cache facts as far as they can be read off the layers of a model.
nlohmann::json cache_of(const Model& m) {
    std::int64_t full = 0, windowed = 0, reusing = 0, recurrent = 0, conv = 0;
    std::int64_t full_elements = 0, window_elements = 0, state = 0, conv_state = 0, window = 0, latent = 0;
    std::int64_t expanded = 0;
    for (const Layer& layer : m.layers) {
        if (const auto& a = layer.attention) {
            const std::int64_t elements = cache_elements(*a);
            if (a->shared_with >= 0) {
                ++reusing;
            } else if (a->window > 0) {
                ++windowed;
                window_elements += elements;
                window = a->window;
            } else {
                ++full;
                full_elements += elements;
            }
            if (a->latent_rank > 0) {
                latent = elements;
                expanded = a->heads * (a->key_dim + a->value_dim);
            }
        }
        if (const auto& r = layer.recurrent) {
            (r->kind == RecurrentKind::short_conv ? conv : recurrent) += 1;
            state += state_elements(*r);
            conv_state += conv_elements(*r);
        }
    }
    nlohmann::json facts = {{"attention_layers", full + windowed + reusing},
                            {"full_layers_with_own_cache", full},
                            {"window_layers_with_own_cache", windowed},
                            {"layers_reusing_cache", reusing},
                            {"recurrent_layers", recurrent},
                            {"conv_layers", conv},
                            {"window", window},
                            {"window_bytes_f16", 2 * window_elements * window},
                            {"kv_bytes_per_token_f16", 2 * full_elements},
                            {"kv_bytes_per_token_f16_beyond_window", 2 * full_elements},
                            {"latent_elements_per_token_per_layer", latent},
                            {"latent_bytes_per_token_f16", 2 * full_elements},
                            {"expanded_elements_per_token_per_layer", expanded},
                            {"conv_elements_per_sequence", conv_state}};
    // Models that only recur state both together.
    facts["state_elements_per_sequence"] = full + windowed == 0 ? state + conv_state : state;
    if (full > 0) {
        facts["kv_elements_per_token_per_layer"] = full_elements / full;
        facts["kv_elements_per_token_per_attention_layer"] = full_elements / full;
        facts["kv_elements_per_token_full_layer"] = full_elements / full;
    }
    if (windowed > 0) facts["kv_elements_per_token_window_layer"] = window_elements / windowed;
    return facts;
}

}  // namespace

TEST_CASE("the catalogue holds every descriptor and its published count", "[catalog]") {
    int exact = 0;
    for (const auto& fact : model_facts()) {
        INFO(fact["id"]);
        const auto m = load_catalog_model(fact["id"].get<std::string>());
        REQUIRE(m);
        CHECK(m->id == fact["id"]);
        CHECK(m->warnings.empty());
        CHECK_FALSE(m->family.empty());
        CHECK_FALSE(m->licence.empty());
        CHECK((!m->references.empty() || !m->published_source.empty()));
        CHECK(m->source("hidden").rfind("catalogue: ", 0) == 0);
        if (m->published_parameters > 0) CHECK(checkpoint_parameters(*m) == m->published_parameters);
        if (fact.contains("published")) {
            CHECK(m->published_parameters == fact["published"]);
            ++exact;
        }
    }
    CHECK(exact == 129);
    CHECK(catalog_ids().size() >= 154);
}

TEST_CASE("the catalogue agrees with the published configurations layer by layer", "[catalog]") {
    for (const auto& fact : model_facts()) {
        INFO(fact["id"]);
        const Model from_config = read_hf_config(fact["config"].dump(), "config.json");
        const Model m = *load_catalog_model(fact["id"].get<std::string>());
        CHECK(m.layers.size() == from_config.layers.size());
        CHECK(m.trained_context == from_config.trained_context);
        // Gemma-4 stores projections that no layer uses; its config does not say so.
        std::int64_t unused = 0;
        if (fact.contains("stored_extra"))
            unused = fact["stored_extra"].value("unused_kv_of_shared_layers", std::int64_t{0});
        CHECK(text_parameters(m) == text_parameters(from_config) + unused);
    }
}

TEST_CASE("cache sizes follow from the layers", "[catalog]") {
    for (const auto& fact : model_facts()) {
        INFO(fact["id"]);
        const Model m = *load_catalog_model(fact["id"].get<std::string>());
        const nlohmann::json facts = cache_of(m);
        for (const auto& [key, value] : fact["cache"].items()) {
            if (!facts.contains(key)) continue;
            INFO(key);
            CHECK(facts[key] == value);
        }
    }
    const Model whisper = *load_catalog_model("whisper-large-v3");
    CHECK(whisper.cross_attention);
    CHECK(whisper.encoder_positions * 32 * cache_elements(*whisper.layers[0].attention) == 122880000);
}

TEST_CASE("every catalogue file is what the writer writes", "[catalog]") {
    for (const std::string_view id : catalog_ids()) {
        INFO(id);
        const EmbeddedFile* file = embedded_models().find("models/" + std::string(id) + ".yaml");
        REQUIRE(file != nullptr);
        const std::string text(file->text());
        CHECK(write_model_yaml(read_model_yaml(text, std::string(id))) == text);
        CHECK(text.size() < 6000);
    }
}

TEST_CASE("GLM-4.7-Flash with its prediction layer is the 31.22 B that the hub prints", "[catalog]") {
    CHECK(checkpoint_parameters(*load_catalog_model("glm-4.7-flash")) / 10'000'000 == 3122);
}

TEST_CASE("FP8 checkpoints of DeepSeek store one scale a block of 128 x 128", "[catalog]") {
    const Model m = *load_catalog_model("deepseek-v3");
    const auto blocks = [](std::int64_t n) { return (n + 127) / 128; };
    std::int64_t scales = 0;
    for (const Tensor& t : m.tensors) {
        const bool linear = t.role != Role::token_embedding && t.role != Role::output &&
                            t.role != Role::router && t.dims[1] > 1 &&
                            t.name.find("eh_proj") == std::string::npos;
        if (!linear || t.role == Role::attn_k_b || t.role == Role::attn_v_b) continue;
        scales += blocks(t.dims[0]) * blocks(t.dims[1]) * t.dims[2];
    }
    // kv_b is one matrix in the checkpoint: 512 inputs, 128 heads of 128 + 128 outputs.
    scales += static_cast<std::int64_t>(m.layers.size() + m.prediction_layers.size()) * blocks(512) *
              blocks(128 * 256);
    CHECK(scales == m.stored_scales);
}

TEST_CASE("names find their model", "[catalog]") {
    const auto id = [](const char* name) { return std::string(find_catalog_id(name).value_or("")); };
    CHECK(id("qwen2.5-7b") == "qwen2.5-7b");
    CHECK(id("Qwen2.5-7B-Instruct") == "qwen2.5-7b");
    CHECK(id("Qwen/Qwen2.5-7B") == "qwen2.5-7b");
    CHECK(id("mistralai/Mistral-7B-Instruct-v0.3") == "mistral-7b-v0.3");
    CHECK(id("google/gemma-3-4b-it") == "gemma-3-4b");
    CHECK(id("meta-llama/Meta-Llama-3-8B-Instruct") == "llama-3-8b");
    CHECK(id("qwen2.5-coder-7b-instruct") == "qwen2.5-7b");
    CHECK(id("gpt2-small") == "gpt2");
    CHECK(id("") == "");
    CHECK(id("qwen2.5") == "");
    CHECK(id("../../etc/passwd") == "");
}

TEST_CASE("a misspelt name suggests near ones", "[catalog]") {
    const auto first = [](const char* name) {
        const auto all = suggest_catalog_ids(name);
        return all.empty() ? std::string() : std::string(all.front());
    };
    CHECK(first("qwen2.5-7") == "qwen2.5-7b");
    CHECK(first("lama-3.1-8b") == "llama-3.1-8b");
    CHECK(first("gemma-3-4") == "gemma-3-4b");
    CHECK(first("mxitral-8x7b") == "mixtral-8x7b");
    CHECK(first("completely-different-name") == "");
    CHECK(suggest_catalog_ids("qwen2.5", 5).size() == 5);
}
