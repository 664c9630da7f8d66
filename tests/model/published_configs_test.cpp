// Configurations that are not in the catalogue, as published: parameters to the last digit, the cache of a
// token and the state of a sequence. tests/data/published_configs.json names the source of every row.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/memory/kv_cache.h"
#include "core/model/hugging_face.h"
#include "core/quant/kv_type.h"
#include "tests/catch.h"
#include "tests/runtime/shapes.h"

using namespace memwall;
using namespace memwall::model;

namespace {

Model read(const std::string& text) {
    return read_hf_config(text, "config.json");
}

std::int64_t f16_bytes_per_token(const Model& m) {
    const quant::KvType f16 = *quant::parse_kv_type("f16");
    Bytes total;
    for (const memory::KvGroup& g : memory::kv_groups(m, true))
        if (g.window == 0 && g.fixed_cells == 0) total += memory::kv_token_bytes(g, f16, f16) * g.layers;
    return total.value;
}

std::string message(const std::string& text) {
    try {
        read(text);
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

/// A small config of `type` with `more` (", \"key\": value") appended.
std::string small(const std::string& type, const std::string& more) {
    return R"({"model_type": ")" + type + R"(", "hidden_size": 64, "num_hidden_layers": 4,
               "num_attention_heads": 8, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100,
               "max_position_embeddings": 512)" +
           more + "}";
}

}  // namespace

TEST_CASE("published configurations outside the catalogue come out to the last digit",
          "[hugging_face][published]") {
    std::size_t hub = 0;
    const auto data = test::read_json("published_configs.json");
    for (const auto& row : data["rows"]) {
        const std::string id = row["id"];
        INFO(id << ", " << row["source"].get<std::string>());
        const Model m = read(row["config"].dump());
        std::int64_t parameters = text_parameters(m);
        for (const Component& c : m.components) parameters += c.parameters;
        CHECK(parameters == row["parameters"]);
        CHECK(f16_bytes_per_token(m) == row["kv_f16_bytes_per_token"]);
        CHECK(memory::recurrent_state_bytes(m).value == row["recurrent_bytes"]);
        CHECK(m.warnings.empty());
        hub += row["by"] == "hub total" ? 1 : 0;
    }
    CHECK(data["rows"].size() >= 60);
    CHECK(hub >= 45);
}

TEST_CASE("an unknown type is read like Llama only when every key that shapes it is understood",
          "[hugging_face][published]") {
    // Nothing but Llama's keys: planned, and said aloud.
    const Model plain = read(small("newllama", R"(, "rope_theta": 10000, "pretraining_tp": 1)"));
    REQUIRE(plain.warnings.size() == 1);
    CHECK(plain.warnings[0].rfind("model_type \"newllama\" is unknown", 0) == 0);
    // Keys that speak of something else than Llama has: refused, with what to do.
    const std::string refused =
        message(small("newkind", R"(, "compress_ratios": [0, 4, 4, 0], "o_lora_rank": 64)"));
    CHECK(refused.find(
              "unknown model_type \"newkind\" with keys not understood: compress_ratios, o_lora_rank") !=
          std::string::npos);
    CHECK(refused.find("GGUF") != std::string::npos);
    // A known type with a key of the same sort keeps its numbers.
    CHECK(message(small("qwen3", R"(, "compress_ratios": [0, 4, 4, 0])")) == "no error");
    // A wrapper that nobody lists around a known text model warns of what it does not understand.
    const Model nested = read(R"({"model_type": "newvision", "text_config": )" +
                              small("qwen3", R"(, "memory_layers": [1, 2])") + "}");
    REQUIRE(nested.warnings.size() == 1);
    CHECK(nested.warnings[0] == "keys of config.json not understood: memory_layers");
}

TEST_CASE("models that are no language models are refused in one line", "[hugging_face][published]") {
    struct Case {
        const char* type;
        const char* what;
    };
    for (const Case& c : {Case{"bart", "an encoder-decoder other than T5 and Whisper"},
                          Case{"deberta-v2", "an encoder other than BERT's kind"},
                          Case{"clip_vision_model", "a vision model"}, Case{"wav2vec2", "an audio model"}}) {
        const std::string text = message(small(c.type, ""));
        INFO(text);
        CHECK(text.find(fmt::format("model_type \"{}\", {}", c.type, c.what)) != std::string::npos);
        CHECK(text.find('\n') == std::string::npos);
    }
    CHECK(message(R"({"_class_name": "UNet2DConditionModel", "sample_size": 64})")
              .find("part of an image generator") != std::string::npos);
}

TEST_CASE("Python's numbers that JSON lacks are read as null", "[hugging_face][published]") {
    const Model m = read(small("llama", R"(, "time_step_limit": [0.0, Infinity], "note": "-Infinity \" NaN",
                                            "sliding_window": NaN, "rope_theta": -Infinity)"));
    CHECK(m.layers.size() == 4);
    CHECK(m.layers[0].attention->window == 0);
    // Outside of values they stay errors, at their line.
    CHECK(message("{\n\"hidden_size\": Infinite}").rfind("config.json:2: ", 0) == 0);
}

TEST_CASE("a window of -1 is none", "[hugging_face][published]") {
    CHECK(read(small("mistral", R"(, "sliding_window": -1)")).layers[0].attention->window == 0);
    CHECK(read(small("mistral", R"(, "sliding_window": 64)")).layers[0].attention->window == 64);
}

TEST_CASE("layers of Nemotron-NAS have heads and widths of their own, or nothing",
          "[hugging_face][published]") {
    // Widths: the multiple of 256 at or above the whole part of 2/3 x ffn_mult x hidden.
    const Model m = read(R"({"model_type": "nemotron-nas", "hidden_size": 8192, "num_hidden_layers": 4,
        "num_attention_heads": 64, "num_key_value_heads": null, "intermediate_size": null, "vocab_size": 128256,
        "tie_word_embeddings": false, "block_configs": [
        {"attention": {"n_heads_in_group": 8, "no_op": false}, "ffn": {"ffn_mult": 2.625, "no_op": false}},
        {"attention": {"n_heads_in_group": 16, "no_op": false}, "ffn": {"ffn_mult": 5.25, "no_op": false}},
        {"attention": {"n_heads_in_group": null, "no_op": true}, "ffn": {"ffn_mult": 1.0, "no_op": false}},
        {"attention": {"n_heads_in_group": null, "replace_with_linear": true}, "ffn": {"no_op": true}}]})");
    CHECK(m.layers[0].attention->kv_heads == 8);
    CHECK(m.layers[0].feed_forward->width == 14336);
    CHECK(m.layers[1].attention->kv_heads == 4);
    CHECK(m.layers[1].feed_forward->width == 28672);
    CHECK_FALSE(m.layers[2].attention);
    CHECK(m.layers[2].feed_forward->width == 5632);
    CHECK_FALSE(m.layers[3].attention);
    CHECK_FALSE(m.layers[3].feed_forward);
    CHECK(f16_bytes_per_token(m) == 2 * 2 * 128 * (8 + 4));
    CHECK(m.warnings.empty());
}

TEST_CASE("prediction layers of Nemotron-H are an attention and experts", "[hugging_face][published]") {
    const Model m = read(R"({"model_type": "nemotron_h", "hidden_size": 64, "vocab_size": 100, "head_dim": 16,
        "num_attention_heads": 4, "num_key_value_heads": 1, "layers_block_type": ["mamba", "moe", "attention",
        "moe", "mlp"], "mamba_num_heads": 4, "mamba_head_dim": 32, "ssm_state_size": 16, "n_groups": 2,
        "intermediate_size": 48, "moe_intermediate_size": 32, "moe_latent_size": 24, "n_routed_experts": 8,
        "num_experts_per_tok": 2, "moe_shared_expert_intermediate_size": 40, "num_nextn_predict_layers": 1,
        "mtp_layers_block_type": ["attention", "moe"], "tie_word_embeddings": false})");
    REQUIRE(m.layers.size() == 5);
    CHECK(m.layers[0].recurrent->inner == 128);
    CHECK(m.layers[1].experts->latent == 24);
    CHECK(m.layers[1].experts->shared_width == 40);
    CHECK_FALSE(m.layers[1].experts->gated);
    CHECK_FALSE(m.layers[2].feed_forward);
    CHECK(m.layers[4].feed_forward->width == 48);
    REQUIRE(m.prediction_layers.size() == 1);
    CHECK(m.prediction_layers[0].attention);
    CHECK(m.prediction_layers[0].experts->count == 8);
    // One expert: 24 x 32 up and down.
    for (const Tensor& t : m.tensors)
        if (t.name == "blk.1.ffn_up_exps.weight") CHECK(t.dims == std::array<std::int64_t, 4>{24, 32, 8, 1});
}

TEST_CASE("bare decoders keep no output matrix", "[hugging_face][published]") {
    const auto matrices = [](const std::string& more) {
        return text_parameters(read(small("mistral", more)));
    };
    const std::int64_t whole = matrices(R"(, "architectures": ["MistralForCausalLM"])");
    CHECK(whole - matrices(R"(, "architectures": ["MistralModel"])") == 100 * 64);
    CHECK(whole - matrices(R"(, "architectures": ["MistralForSequenceClassification"])") == 100 * 64);
    CHECK(read(small("mistral", R"(, "architectures": ["MistralModel"])")).source("output") ==
          "config.json:architectures, MistralModel has no output matrix");
}

TEST_CASE("an indexer caches one key of its own a token in every layer that has one",
          "[hugging_face][published]") {
    const std::string config = R"({"model_type": "glm_moe_dsa", "hidden_size": 64, "num_hidden_layers": 4,
        "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 100, "kv_lora_rank": 32,
        "q_lora_rank": 48, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16,
        "index_head_dim": 24, "index_n_heads": 2, "index_topk": 64)";
    CHECK(f16_bytes_per_token(read(config + "}")) == 4 * 2 * (40 + 24));
    const Model shared = read(config + R"(, "indexer_types": ["full", "shared", "shared", "full"]})");
    CHECK(f16_bytes_per_token(shared) == 4 * 2 * 40 + 2 * 2 * 24);
}

TEST_CASE("KV heads divide the heads", "[hugging_face][published]") {
    CHECK(message(small("llama", "")) == "no error");
    const std::string three = R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 8, "num_key_value_heads": 3, "vocab_size": 100, "intermediate_size": 128})";
    CHECK(message(three) == "config.json: num_key_value_heads = 3; expected a divisor of the 8 heads");
}

TEST_CASE("YaRN stretches the context that a config starts from", "[hugging_face][published]") {
    const auto context = [](const std::string& scaling) {
        const Model m = read(small("qwen2", R"(, "rope_scaling": )" + scaling));
        return m.trained_context;
    };
    // Qwen2.5: the factor alone, from max_position_embeddings on; DeepSeek: max_position_embeddings is the
    // product.
    CHECK(context(R"({"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512})") == 2048);
    CHECK(context(R"({"type": "yarn", "factor": 4.0})") == 2048);
    CHECK(context(R"({"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128})") == 512);
    // The other kinds state the whole context already.
    CHECK(context(R"({"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 64})") ==
          512);
    CHECK(context(R"({"type": "linear", "factor": 4.0})") == 512);
}
