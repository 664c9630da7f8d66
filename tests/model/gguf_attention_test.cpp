// Attention of each layer: windows, rotation, shared caches, latents.
#include "tests/catch.h"
#include "tests/model/gguf_writer.h"

using namespace memwall;
using namespace memwall::model;
using memwall::test::blk;
using memwall::test::decoder;
using memwall::test::GgufWriter;
using memwall::test::read;

namespace {

/// "10110": 1 where the layer has a window.
std::string windows(const Model& m) {
    std::string s;
    for (const Layer& layer : m.layers) s += layer.attention && layer.attention->window > 0 ? '1' : '0';
    return s;
}

std::string rotating(const Model& m) {
    std::string s;
    for (const Layer& layer : m.layers) s += layer.attention->rope ? '1' : '0';
    return s;
}

const Attention& attention(const Model& m, int layer) {
    return m.layers.at(static_cast<std::size_t>(layer)).attention.value();
}

}  // namespace

TEST_CASE("windows by the table of architectures, by array and by period", "[gguf]") {
    const auto windowed = [](const std::string& arch, int layers) {
        return decoder(arch, layers).integer(arch + ".attention.sliding_window", 512);
    };
    CHECK(windows(read(windowed("gemma3", 26))) == "11111011111011111011111011");
    CHECK(windows(read(windowed("gpt-oss", 4))) == "1010");
    CHECK(windows(read(windowed("cohere2", 8))) == "11101110");
    CHECK(windows(read(windowed("smallthinker", 8))) == "01110111");
    CHECK(windows(read(windowed("llama", 3))) == "111");  // Mistral v0.1
    CHECK(windows(read(windowed("phi3", 2).integer("x", 0))) == "11");
    CHECK(windows(read(decoder("gemma3", 6))) == "000000");  // larger EmbeddingGemma-likes: no key, no window
    CHECK(windows(read(decoder("phi3", 2).integer("phi3.attention.sliding_window", 0))) == "00");

    const Model gemma2 = read(decoder("gemma2", 4));  // old files carry no window
    CHECK(windows(gemma2) == "1010");
    CHECK(attention(gemma2, 0).window == 4096);
    CHECK(gemma2.final_softcap == 30);
    CHECK(gemma2.attention_softcap == 50);
    CHECK_THAT(gemma2.source("window"), Catch::Contains("default: gemma2"));

    GgufWriter array = windowed("gemma3", 4);
    array.integers("gemma3.attention.sliding_window_pattern", {0, 1, 1, 0}, GgufType::boolean);
    CHECK(windows(read(array)) == "0110");
    GgufWriter period = windowed("gemma3", 6).integer("gemma3.attention.sliding_window_pattern", 3);
    CHECK(windows(read(period)) == "110110");
    CHECK(windows(read(windowed("gemma3", 3).integer("gemma3.attention.sliding_window_pattern", 1))) ==
          "000");
}

TEST_CASE("which layers rotate", "[gguf]") {
    CHECK(rotating(read(decoder("smollm3", 8))) == "11101110");
    CHECK(rotating(read(decoder("cohere2", 4).integer("cohere2.attention.sliding_window", 4096))) == "1110");
    CHECK(rotating(read(decoder("llama4", 4).integer("llama4.attention.sliding_window", 0))) == "1111");
    CHECK(rotating(read(decoder("granite", 2))) == "11");
    CHECK(rotating(read(decoder("granite", 2).flag("granite.rope.scaling.finetuned", false))) == "00");
    // Others carry the same key about their scaling only.
    CHECK(rotating(read(decoder("llama", 2).flag("llama.rope.scaling.finetuned", false))) == "11");
    CHECK(rotating(read(decoder("gpt2", 2))) == "00");
}

TEST_CASE("Llama-4 attends in chunks, every second layer has experts", "[gguf]") {
    GgufWriter w = decoder("llama4", 4);
    w.integer("llama4.expert_count", 16).integer("llama4.expert_used_count", 1);
    w.integer("llama4.expert_feed_forward_length", 256).integer("llama4.interleave_moe_layer_step", 2);
    const Model m = read(w);
    CHECK(windows(m) == "1110");
    CHECK(attention(m, 0).chunked);
    CHECK(attention(m, 0).window == 8192);
    CHECK_FALSE(attention(m, 3).chunked);
    CHECK_FALSE(m.layers[0].experts);
    CHECK(m.layers[0].feed_forward->width == 2048);
    REQUIRE(m.layers[1].experts);
    CHECK_FALSE(m.layers[1].feed_forward);
    CHECK(m.layers[1].experts->sigmoid);
    CHECK(m.layers[1].experts->width == 256);
}

TEST_CASE("Gemma-4: two head widths, shared caches, per-layer embeddings, keys as values", "[gguf]") {
    GgufWriter w;
    const std::string a = "gemma4.";
    w.text("general.architecture", "gemma4")
        .integer(a + "block_count", 4)
        .integer(a + "context_length", 131072);
    w.integer(a + "embedding_length", 512).integers(a + "feed_forward_length", {1024, 1024, 2048, 2048});
    w.integer(a + "attention.head_count", 8).integers(a + "attention.head_count_kv", {4, 2, 4, 2});
    w.integer(a + "attention.key_length", 256).integer(a + "attention.value_length", 256);
    w.integer(a + "attention.key_length_swa", 128).integer(a + "attention.value_length_swa", 128);
    w.integer(a + "attention.sliding_window", 512).integer(a + "attention.shared_kv_layers", 2);
    w.integers(a + "attention.sliding_window_pattern", {1, 0, 1, 0}, GgufType::boolean);
    w.integer(a + "embedding_length_per_layer_input", 64);
    w.tensor("token_embd.weight", {512, 1000}).tensor("per_layer_token_embd.weight", {256, 900});
    w.tensor(blk(1, "attn_q.weight"), {512, 2048}).tensor(blk(1, "attn_k.weight"), {512, 512});
    w.tensor(blk(1, "ffn_down.weight"), {1024, 512}).tensor(blk(1, "layer_output_scale.weight"), {1});
    w.tensor(blk(2, "attn_q.weight"), {512, 1024}).tensor(blk(2, "ffn_down.weight"), {2048, 512});
    const Model m = read(w);
    CHECK(windows(m) == "1010");
    CHECK(attention(m, 0).key_dim == 128);
    CHECK(attention(m, 1).key_dim == 256);
    CHECK(attention(m, 0).kv_heads == 4);
    CHECK(attention(m, 1).kv_heads == 2);
    CHECK(attention(m, 0).shared_with == -1);
    CHECK(attention(m, 2).shared_with == 0);  // the windowed layer with a cache
    CHECK(attention(m, 3).shared_with == 1);  // the full one
    CHECK(attention(m, 1).keys_as_values);
    CHECK_FALSE(attention(m, 2).keys_as_values);
    CHECK(m.layers[3].feed_forward->width == 2048);
    CHECK(m.per_layer_embedding_dim == 64);
    CHECK(m.per_layer_vocabulary == 900);
    CHECK(m.layer_output_scale);
    CHECK(m.embedding_scale);
    CHECK(m.final_softcap == 30);
}

TEST_CASE("Gemma-3n: the first 20 layers own caches when no key says so", "[gguf]") {
    const Model m = read(decoder("gemma3n", 30).integer("gemma3n.attention.sliding_window", 512));
    int own = 0;
    for (const Layer& layer : m.layers) own += layer.attention->shared_with < 0;
    CHECK(own == 20);
    CHECK(attention(m, 24).shared_with == 19);
    CHECK(attention(m, 25).shared_with == 18);
    CHECK(m.source("shared_with") == "default: the first 20 layers own caches");
}

TEST_CASE("latent attention follows the rank, not the name", "[gguf]") {
    GgufWriter w = decoder("deepseek2", 2, 2048, 16, 1);
    w.integer("deepseek2.attention.kv_lora_rank", 512).integer("deepseek2.attention.q_lora_rank", 1536);
    w.integer("deepseek2.attention.key_length", 576).integer("deepseek2.attention.value_length", 512);
    w.integer("deepseek2.attention.key_length_mla", 192).integer("deepseek2.attention.value_length_mla", 128);
    w.integer("deepseek2.rope.dimension_count", 64);
    w.tensor(blk(0, "attn_q_a.weight"), {2048, 1536}).tensor(blk(0, "attn_k_b.weight"), {128, 512, 16});
    w.tensor(blk(1, "attn_q.weight"), {2048, 3072}).tensor(blk(1, "attn_kv_b.weight"), {512, 4096});
    const Model m = read(w);
    const Attention& a = attention(m, 0);
    CHECK(a.latent_rank == 512);
    CHECK(a.latent_rope_dim == 64);
    CHECK(a.nope_dim == 128);
    CHECK(a.key_dim == 192);
    CHECK(a.value_dim == 128);
    CHECK(a.kv_heads == 16);
    CHECK(a.query_rank == 1536);
    CHECK_FALSE(a.fused_kv_b);
    CHECK(attention(m, 1).query_rank == 0);
    CHECK(attention(m, 1).fused_kv_b);

    // A DeepSeek distill of Qwen-32B carries a rank of 0: 64 layers x 8 heads x 128, 512 MiB at 2,048 tokens
    // f16.
    GgufWriter distill = decoder("deepseek2", 64, 5120, 40, 8);
    distill.integer("deepseek2.attention.kv_lora_rank", 0).integer("deepseek2.rope.dimension_count", 128);
    const Model d = read(distill);
    std::int64_t elements = 0;
    for (const Layer& layer : d.layers) {
        CHECK(layer.attention->latent_rank == 0);
        elements += layer.attention->kv_heads * (layer.attention->key_dim + layer.attention->value_dim);
    }
    CHECK(elements * 2 * 2048 == std::int64_t{512} << 20);
}

TEST_CASE("old files keep the query and key widths of a latent under the plain names", "[gguf]") {
    GgufWriter w = decoder("deepseek2", 1, 2048, 16, 16);
    w.integer("deepseek2.attention.kv_lora_rank", 512).integer("deepseek2.rope.dimension_count", 64);
    w.integer("deepseek2.attention.key_length", 192).integer("deepseek2.attention.value_length", 128);
    const Attention a = attention(read(w), 0);
    CHECK(a.nope_dim == 128);
    CHECK(a.value_dim == 128);
}

TEST_CASE("per-layer head counts", "[gguf]") {
    GgufWriter w;
    w.text("general.architecture", "deci")
        .integer("deci.block_count", 3)
        .integer("deci.embedding_length", 512);
    w.integer("deci.attention.key_length", 64).integer("deci.attention.value_length", 64);
    w.integers("deci.attention.head_count", {8, 8, 0}).integers("deci.attention.head_count_kv", {4, 0, 0});
    w.integers("deci.feed_forward_length", {1024, 0, 512});
    const Model m = read(w);
    CHECK(attention(m, 0).kv_heads == 4);
    CHECK_FALSE(m.layers[1].attention);
    CHECK_FALSE(m.layers[1].feed_forward);
    CHECK_FALSE(m.layers[2].attention);
    CHECK(m.layers[2].feed_forward->width == 512);
}
