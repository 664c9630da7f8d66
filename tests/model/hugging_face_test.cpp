#include "core/model/hugging_face.h"

#include <algorithm>

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/model/facts.h"

using namespace memwall;
using namespace memwall::model;

namespace {

Model read(const std::string& text) {
    return read_hf_config(text, "config.json");
}

/// A small valid config with `more` (", \"key\": value") appended.
std::string small(const std::string& more) {
    return R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 8,
               "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100,
               "max_position_embeddings": 512, "tie_word_embeddings": true)" +
           more + "}";
}

std::string message(const std::string& text) {
    try {
        read(text);
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

std::int64_t component_parameters(const Model& m) {
    std::int64_t sum = 0;
    for (const Component& c : m.components) sum += c.parameters;
    return sum;
}

}  // namespace

TEST_CASE("every published parameter count follows from its config.json to the last digit",
          "[hugging_face]") {
    int published = 0, derived = 0;
    for (const auto& fact : model_facts()) {
        INFO(fact["id"]);
        const Model m = read(fact["config"].dump());
        if (fact.contains("published")) {
            // What no config mentions is added here and stands in the catalogue: second copies, FP8 scales.
            CHECK(checkpoint_parameters(m) + stored_beside(fact) == fact["published"]);
            ++published;
        }
        // A re-derivation by hand from the same config, text model and vision apart.
        CHECK(text_parameters(m) == fact["computed"].get<std::int64_t>() -
                                        fact["beside"].get<std::int64_t>() - fact["mtp"].get<std::int64_t>());
        CHECK(component_parameters(m) == fact["beside"]);
        ++derived;
    }
    CHECK(published == 129);
    CHECK(derived == 154);
}

TEST_CASE("active parameters leave out what a token does not touch", "[hugging_face]") {
    for (const auto& fact : model_facts()) {
        INFO(fact["id"]);
        const Model m = read(fact["config"].dump());
        // The facts count the untied input table, towers, prediction layers and every looked-up table too.
        std::int64_t lookups = 0;
        for (const Tensor& t : m.tensors) {
            const bool encoder = m.cross_attention && t.name.rfind("enc.", 0) == 0;
            if (t.role == Role::position_embedding || t.role == Role::per_layer_embedding || encoder ||
                (t.role == Role::token_embedding && t.layer < 0 && m.output == TiedOutput::untied))
                lookups += t.elements();
        }
        CHECK(active_parameters(m) + lookups + component_parameters(m) + fact["mtp"].get<std::int64_t>() ==
              fact["active"]);
    }
    // Vendors print: Qwen3-30B-A3B 3.3B with the input table, gpt-oss-20b 3.6B without.
    const auto& facts = model_facts();
    const auto gpt_oss =
        std::find_if(facts.begin(), facts.end(), [](const auto& f) { return f["id"] == "gpt-oss-20b"; });
    CHECK(active_parameters(read((*gpt_oss)["config"].dump())) == 3608307264);
}

TEST_CASE("names of GPT-2's time without a model type are those of GPT-2", "[hugging_face]") {
    const Model m = read(R"({"n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 1024,
                             "vocab_size": 50257})");
    CHECK(text_parameters(m) == 124439808);
    CHECK(m.layers.size() == 12);
    CHECK(m.layers[0].attention->kv_heads == 12);
    CHECK(m.output == TiedOutput::tied);
    CHECK(m.warnings.size() == 1);
}

TEST_CASE("a null head_dim is an absent one", "[hugging_face]") {
    const Model m = read(R"({"hidden_size": 6144, "num_attention_heads": 48, "num_key_value_heads": 8,
                             "num_hidden_layers": 56, "head_dim": null})");
    REQUIRE(m.layers.size() == 56);
    CHECK(m.layers[0].attention->key_dim == 128);
    CHECK(m.source("head_dim") == "default: head_dim = hidden/heads");
    CHECK(m.source("kv_heads") == "config.json:num_key_value_heads");
    // Unknown type, no vocabulary, no width: each said aloud.
    CHECK(m.warnings.size() == 3);
}

TEST_CASE("a language model nested in another config is found", "[hugging_face]") {
    // Kimi-K2.5 keeps every size under text_config.
    const Model kimi = read(R"({"model_type": "kimi_k25", "text_config": {"model_type": "kimi_k2",
        "hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 64, "num_key_value_heads": 64,
        "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 384,
        "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 1, "kv_lora_rank": 512,
        "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "vocab_size": 163840, "tie_word_embeddings": false, "max_position_embeddings": 262144}})");
    CHECK(text_parameters(kimi) == 1026408232448);
    CHECK(kimi.layers[0].experts.has_value() == false);
    CHECK(kimi.layers[1].experts->count == 384);
    CHECK(kimi.source("hidden") == "config.json:text_config.hidden_size");
    // LLaVA-1.5 as published: what equals the class default of transformers is left out.
    const Model llava = read(R"({"model_type": "llava", "text_config": {"model_type": "llama",
        "max_position_embeddings": 4096, "vocab_size": 32064}, "vision_config": {"hidden_size": 1024,
        "image_size": 336, "intermediate_size": 4096, "model_type": "clip_vision_model",
        "num_attention_heads": 16, "num_hidden_layers": 24, "patch_size": 14}})");
    CHECK(checkpoint_parameters(llava) == 7063427072);
    CHECK(llava.source("hidden") == "default: of class llama");
    CHECK(llava.components.at(0).tokens_per_image == 576);
}

TEST_CASE("rope scaling never multiplies the trained context", "[hugging_face]") {
    for (const char* name : {"type", "rope_type"}) {
        const Model m = read(small(std::string(R"(, "rope_scaling": {")") + name +
                                   R"(": "yarn", "factor": 40, "original_max_position_embeddings": 12})"));
        CHECK(m.trained_context == 512);
    }
    // Llama-3.1's kind of scaling becomes a tensor of half a head in GGUF files, and no parameter.
    const Model m = read(small(R"(, "rope_scaling": {"rope_type": "llama3", "factor": 8.0})"));
    CHECK(m.rope_factors == 4);
    CHECK(text_parameters(m) == text_parameters(read(small(""))));
    CHECK(std::any_of(m.tensors.begin(), m.tensors.end(),
                      [](const Tensor& t) { return t.name == "rope_freqs.weight" && t.dims[0] == 4; }));
}

TEST_CASE("windows follow layer types, periods and opt-in flags", "[hugging_face]") {
    const auto windows = [](const std::string& more) {
        std::vector<std::int64_t> result;
        for (const Layer& layer : read(small(more)).layers) result.push_back(layer.attention->window);
        return result;
    };
    using W = std::vector<std::int64_t>;
    CHECK(windows(R"(, "sliding_window": 64)") == W{64, 64, 64, 64});
    CHECK(windows(R"(, "sliding_window": null)") == W{0, 0, 0, 0});
    CHECK(windows(R"(, "sliding_window": 512)") == W{0, 0, 0, 0});  // as long as the context
    CHECK(windows(R"(, "sliding_window": 64, "use_sliding_window": false)") == W{0, 0, 0, 0});
    CHECK(windows(R"(, "sliding_window": 64, "use_sliding_window": true, "max_window_layers": 3)") ==
          W{0, 0, 0, 64});
    CHECK(windows(R"(, "sliding_window": 64, "sliding_window_pattern": 3)") == W{64, 64, 0, 64});
    CHECK(windows(R"(, "sliding_window": 64, "layer_types": ["full_attention", "sliding_attention",
                     "full_attention", "sliding_attention"])") == W{0, 64, 0, 64});
    const Model chunked = read(small(R"(, "attention_chunk_size": 32, "no_rope_layers": [1, 1, 1, 0])"));
    CHECK(chunked.layers[0].attention->chunked);
    CHECK(chunked.layers[0].attention->rope);
    CHECK(chunked.layers[3].attention->window == 0);
    CHECK_FALSE(chunked.layers[3].attention->rope);
}

TEST_CASE("layers that share a cache point at the last owner of their kind", "[hugging_face]") {
    const Model m = read(small(R"(, "sliding_window": 64, "num_kv_shared_layers": 2, "layer_types":
        ["sliding_attention", "full_attention", "full_attention", "sliding_attention"])"));
    CHECK(m.layers[1].attention->shared_with == -1);
    CHECK(m.layers[2].attention->shared_with == 1);
    CHECK(m.layers[3].attention->shared_with == 0);
}

TEST_CASE("which layers have experts is read from every family's keys", "[hugging_face]") {
    const auto experts = [](const std::string& more) {
        std::string result;
        for (const Layer& layer :
             read(small(R"(, "num_experts": 4, "num_experts_per_tok": 2)" + more)).layers)
            result += layer.experts ? 'x' : '-';
        return result;
    };
    CHECK(experts("") == "xxxx");
    CHECK(experts(R"(, "first_k_dense_replace": 1)") == "-xxx");
    CHECK(experts(R"(, "num_dense_layers": 2)") == "--xx");
    CHECK(experts(R"(, "decoder_sparse_step": 2)") == "-x-x");
    CHECK(experts(R"(, "mlp_only_layers": [0, 3])") == "-xx-");
    CHECK(experts(R"(, "interleave_moe_layer_step": 2)") == "-x-x");
    CHECK(experts(R"(, "expert_layer_period": 2, "expert_layer_offset": 0)") == "x-x-");
    CHECK(experts(R"(, "moe_layer_start_index": 1, "moe_layer_end_index": 2)") == "-xx-");
    CHECK(experts(R"(, "moe_layer_freq": [0, 1, 1, 0])") == "-xx-");
    // Hunyuan writes one number a layer where all are equal.
    const Model m = read(small(R"(, "num_experts": 4, "moe_topk": [2, 2, 2, 2],
                                   "moe_intermediate_size": [32, 32, 32, 32])"));
    CHECK(m.layers[0].experts->used == 2);
    CHECK(m.layers[0].experts->width == 32);
}

TEST_CASE("an embedder has an encoder and neither cache nor output", "[hugging_face]") {
    // all-MiniLM-L6-v2: 22,713,216 parameters.
    const Model m = read(R"({"model_type": "bert", "hidden_size": 384, "num_hidden_layers": 6,
        "num_attention_heads": 12, "intermediate_size": 1536, "vocab_size": 30522,
        "max_position_embeddings": 512, "type_vocab_size": 2})");
    CHECK(m.embedder);
    CHECK(m.layers.empty());
    CHECK(m.encoder.size() == 6);
    CHECK(checkpoint_parameters(m) == 22713216);
}

TEST_CASE("bad configs end in one line with place and key", "[hugging_face]") {
    using Catch::Contains;
    CHECK_THAT(message(""), Contains("config.json:1: text that is no JSON"));
    CHECK_THAT(message("{\n\n \"a\": }"), Contains("config.json:3:"));
    CHECK_THAT(message("[1, 2]"), Contains("no JSON object"));
    CHECK_THAT(message(std::string(100000, '[')), Contains("nested deeper"));
    CHECK_THAT(message("{}"), Contains("no hidden_size"));
    CHECK_THAT(message(R"({"hidden_size": 64, "vocab_size": 10})"), Contains("no num_hidden_layers"));
    CHECK_THAT(message(small(R"(, "n_layer": 2)")), Contains("no error"));
    const auto with = [&](const std::string& key, const std::string& value) {
        nlohmann::json config = nlohmann::json::parse(small(""));
        config[key] = nlohmann::json::parse(value);
        return message(config.dump());
    };
    CHECK_THAT(with("hidden_size", "64.5"), Contains("hidden_size = 64.5"));
    CHECK_THAT(with("hidden_size", "-64"), Contains("hidden_size = -64"));
    CHECK_THAT(with("hidden_size", "0"), Contains("hidden_size = 0"));
    CHECK_THAT(with("hidden_size", "1e300"), Contains("hidden_size = 1e+300"));
    CHECK_THAT(with("hidden_size", "\"64\""), Contains("hidden_size = \"64\""));
    CHECK_THAT(with("hidden_size", "2147483648"), Contains("hidden = 2147483648"));
    CHECK_THAT(with("num_hidden_layers", "1000000"), Contains("num_hidden_layers = 1000000"));
    CHECK_THAT(with("num_attention_heads", "7"), Contains("does not divide into 7 heads"));
    CHECK_THAT(with("tie_word_embeddings", "\"yes\""), Contains("tie_word_embeddings"));
    CHECK_THAT(with("layer_types", "[\"full_attention\"]"), Contains("layer_types has 1 entries"));
    CHECK_THAT(with("num_kv_shared_layers", "4"), Contains("num_kv_shared_layers = 4"));
    CHECK_THAT(message(small(R"(, "num_experts": 65536, "num_experts_per_tok": 2,
                                 "moe_intermediate_size": 16777216)")),
               Contains("no error"));  // 2^47 elements a layer: absurd, yet countable
    CHECK_THAT(message(R"({"model_type": "llama", "hidden_size": 16777216, "num_hidden_layers": 1024,
        "num_attention_heads": 65536, "head_dim": 65536, "intermediate_size": 16777216, "vocab_size": 1000,
        "num_experts": 65536, "num_experts_per_tok": 1})"),
               Contains("2^60"));
}

TEST_CASE("a number beyond a double is an error with its place, not a crash", "[descriptors]") {
    CHECK_THROWS_WITH(
        model::read_hf_config(R"({"model_type": "llama", "hidden_size": 1e99999})", "c/config.json"),
        "c/config.json: a number too large to hold; expected a config.json");
}
