// Keys and tensors as a model: sources, refusals, assumptions, experts, what tensors tell.
#include <algorithm>

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/model/gguf_writer.h"

using namespace memwall;
using namespace memwall::model;
using memwall::test::blk;
using memwall::test::decoder;
using memwall::test::GgufWriter;
using memwall::test::read;

namespace {

const Attention& attention(const Model& m, int layer) {
    return m.layers.at(static_cast<std::size_t>(layer)).attention.value();
}

}  // namespace

TEST_CASE("a plain decoder, and where its numbers came from", "[gguf]") {
    const Model m = test::read_whole(test::small_llama());
    CHECK(m.architecture == "llama");
    CHECK(m.hidden == 64);
    CHECK(m.vocabulary == 100);
    CHECK(m.trained_context == 2048);
    CHECK(m.stored_recipe == "Q4_K_M");
    CHECK(m.output == TiedOutput::tied);
    CHECK(m.extra_norms == 1);
    CHECK(m.warnings.empty());
    REQUIRE(m.layers.size() == 2);
    const Layer& layer = m.layers[1];
    CHECK(layer.attention->heads == 4);
    CHECK(layer.attention->kv_heads == 2);
    CHECK(layer.attention->key_dim == 16);
    CHECK(layer.attention->value_dim == 16);
    CHECK(layer.attention->window == 0);
    CHECK(layer.feed_forward->width == 96);
    CHECK(layer.feed_forward->gated);
    CHECK(layer.norms == 2);
    CHECK_FALSE(layer.experts);
    CHECK_FALSE(layer.recurrent);
    CHECK(m.source("kv_heads") == "gguf:llama.attention.head_count_kv");
    CHECK(m.source("key_dim") == "default: head_dim = hidden/heads");
    CHECK(m.source("vocabulary") == "gguf: shape of token_embd.weight");
    CHECK(m.source("output") == "default: no output.weight, so the token table serves as output");

    const auto q = std::find_if(m.tensors.begin(), m.tensors.end(),
                                [](const Tensor& t) { return t.name == "blk.1.attn_q.weight"; });
    REQUIRE(q != m.tensors.end());
    CHECK(q->role == Role::attn_q);
    CHECK(q->layer == 1);
    CHECK(q->offset > 0);
}

TEST_CASE("a big-endian file of version 2 is the same model", "[gguf]") {
    const Model little = test::read_whole(test::small_llama()),
                big = test::read_whole(test::small_llama(2, true));
    CHECK(big.sources == little.sources);
    CHECK(big.tensors.size() == little.tensors.size());
    CHECK(big.layers[1].attention->kv_heads == 2);
    CHECK(big.stored_recipe == "Q4_K_M");
}

TEST_CASE("a missing head count is refused, not guessed from the layer count", "[gguf]") {
    // TinyLlama has 22 layers, 32 heads and 4 KV heads: no such guess is right.
    GgufWriter w;
    w.text("general.architecture", "llama").integer("llama.block_count", 22);
    w.integer("llama.embedding_length", 2048).tensor(blk(0, "attn_q.weight"), {2048, 2048});
    CHECK_THROWS_WITH(read(w), Catch::Contains("no key 'llama.attention.head_count'") &&
                                   Catch::Contains("convert the model again"));
}

TEST_CASE("an unknown architecture plans from its generic keys and says so", "[gguf]") {
    GgufWriter w = decoder("brandnew", 3, 512, 8, 4);
    w.integer("brandnew.attention.sliding_window", 1024);
    const Model m = read(w);
    REQUIRE(m.layers.size() == 3);
    CHECK(attention(m, 2).kv_heads == 4);
    CHECK(m.layers[0].feed_forward->width == 2048);
    CHECK(attention(m, 0).window == 0);
    std::string all;
    for (const std::string& text : m.warnings) all += text + "\n";
    CHECK_THAT(all, Catch::Contains("architecture 'brandnew' is unknown"));
    CHECK_THAT(all, Catch::Contains("a window but not its layers"));
}

TEST_CASE("keys that cannot be true are refused", "[gguf]") {
    const auto with = [](const char* key, std::int64_t v) {
        GgufWriter w;
        w.text("general.architecture", "llama").integer("llama.embedding_length", 64);
        if (std::string_view(key) != "block_count") w.integer("llama.block_count", 2);
        w.integer("llama.attention.head_count", 4).integer(std::string("llama.") + key, v, GgufType::i64);
        return w;
    };
    for (const char* key : {"block_count", "attention.head_count_kv", "expert_count", "vocab_size"})
        for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{1} << 40}) {
            INFO(key << " = " << bad);
            CHECK_THROWS_WITH(read(with(key, bad)), Catch::Contains(key) && Catch::Contains("expected 0 to"));
        }
    CHECK_THROWS_WITH(read(GgufWriter().integer("general.file_type", 1)),
                      Catch::Contains("general.architecture"));
    CHECK_THROWS_WITH(read(GgufWriter().text("general.type", "adapter")), Catch::Contains("LoRA adapter"));

    GgufWriter text;
    text.text("general.architecture", "llama").text("llama.embedding_length", "64");
    CHECK_THROWS_WITH(read(text), Catch::Contains("llama.embedding_length is a string; expected an integer"));
    GgufWriter empty;
    empty.text("general.architecture", "llama").integer("llama.embedding_length", 64);
    CHECK_THROWS_WITH(read(empty.integer("llama.block_count", 0)), Catch::Contains("llama.block_count = 0"));
    CHECK_THROWS_WITH(read(decoder("llama", 1, 4, 8, 8)), Catch::Contains("heads of 0 x 0 values"));
    CHECK_THROWS_WITH(read(GgufWriter().text("general.architecture", std::string(100, 'x'))),
                      Catch::Contains("100 bytes"));
    GgufWriter short_array;
    short_array.text("general.architecture", "llama").integer("llama.block_count", 4);
    short_array.integer("llama.embedding_length", 64).integers("llama.attention.head_count", {4, 4});
    CHECK_THROWS_WITH(read(short_array), Catch::Contains("one for each of the 4 layers"));
}

TEST_CASE("experts: shared ones, biases, gating and old single matrices", "[gguf]") {
    GgufWriter q = decoder("qwen2moe", 1);
    q.integer("qwen2moe.expert_count", 60).integer("qwen2moe.expert_used_count", 4);
    q.tensor(blk(0, "ffn_gate_inp.weight"), {512, 60}).tensor(blk(0, "ffn_gate_exps.weight"), {512, 176, 60});
    q.tensor(blk(0, "ffn_up_exps.weight"), {512, 176, 60})
        .tensor(blk(0, "ffn_down_exps.weight"), {176, 512, 60});
    q.tensor(blk(0, "ffn_down_shexp.weight"), {704, 512}).tensor(blk(0, "ffn_gate_inp_shexp.weight"), {512});
    const Experts qwen = read(q).layers[0].experts.value();
    CHECK(qwen.count == 60);
    CHECK(qwen.used == 4);
    CHECK(qwen.width == 176);  // feed_forward_length says 2048
    CHECK(qwen.shared_width == 704);
    CHECK(qwen.shared_gate);
    CHECK_FALSE(qwen.normalized);
    CHECK_FALSE(qwen.sigmoid);
    CHECK_FALSE(read(q).layers[0].feed_forward);
    CHECK_THAT(read(q).source("expert_width"), Catch::Contains("ffn_down_exps.weight"));

    GgufWriter g = decoder("glm4moe", 2).integer("glm4moe.expert_count", 8);
    g.integer("glm4moe.expert_used_count", 2).integer("glm4moe.expert_feed_forward_length", 128);
    g.integer("glm4moe.expert_shared_count", 1).integer("glm4moe.leading_dense_block_count", 1);
    g.flag("glm4moe.expert_weights_norm", true).real("glm4moe.expert_weights_scale", 2.5);
    g.integer("glm4moe.expert_group_count", 4).integer("glm4moe.expert_group_used_count", 2);
    const Model glm = read(g);
    CHECK(glm.layers[0].feed_forward->width == 2048);
    CHECK_FALSE(glm.layers[0].experts);
    const Experts e = glm.layers[1].experts.value();
    CHECK(e.sigmoid);
    CHECK(e.normalized);
    CHECK(e.scale == 2.5);
    CHECK(e.shared_width == 128);
    CHECK(e.groups == 4);
    CHECK(e.groups_used == 2);
    CHECK(glm.source("expert_gating") == "default: as glm4moe does");

    GgufWriter old =
        decoder("llama", 1).integer("llama.expert_count", 2).integer("llama.expert_used_count", 2);
    for (const char* name : {"ffn_gate.0.weight", "ffn_gate.1.weight"}) old.tensor(blk(0, name), {512, 2048});
    for (const char* name : {"ffn_down.0.weight", "ffn_down.1.weight"}) old.tensor(blk(0, name), {2048, 512});
    const Model mixtral = read(old);
    REQUIRE(mixtral.layers[0].experts);
    CHECK(mixtral.layers[0].experts->width == 2048);
    CHECK(mixtral.layers[0].experts->gated);
    CHECK_FALSE(mixtral.layers[0].feed_forward);
    CHECK(mixtral.tensors[2].role == Role::expert_gate);

    GgufWriter merged = decoder("gemma4", 1).integer("gemma4.expert_count", 4);
    merged.integer("gemma4.expert_used_count", 2).tensor(blk(0, "ffn_down.weight"), {1024, 512});
    merged.tensor(blk(0, "ffn_gate_up_exps.weight"), {512, 512, 4});
    merged.tensor(blk(0, "ffn_down_exps.weight"), {256, 512, 4});
    const Layer both = read(merged).layers[0];
    CHECK(both.experts->merged_gate_up);
    CHECK(both.experts->gated);
    CHECK(both.feed_forward->width == 1024);  // Gemma-4-26B runs both
}

TEST_CASE("what tensors tell: biases, norms, fused matrices, sinks, scales", "[gguf]") {
    GgufWriter w = decoder("gpt-oss", 1);
    w.tensor(blk(0, "attn_norm.weight"), {512}).tensor(blk(0, "post_attention_norm.weight"), {512});
    w.tensor(blk(0, "attn_q.weight"), {512, 512}).tensor(blk(0, "attn_q.bias"), {512});
    w.tensor(blk(0, "attn_k.bias"), {128}).tensor(blk(0, "attn_output.bias"), {512});
    w.tensor(blk(0, "attn_sinks.weight"), {8}).tensor("output.weight", {512, 1000});
    w.tensor("output.bias", {1000})
        .tensor("rope_freqs.weight", {32})
        .tensor("position_embd.weight", {512, 2048});
    const Model m = read(w);
    const Attention& a = attention(m, 0);
    CHECK(a.query_bias);
    CHECK(a.key_bias);
    CHECK_FALSE(a.value_bias);
    CHECK(a.output_bias);
    CHECK(a.sinks);
    CHECK(m.layers[0].norms == 2);
    CHECK(m.output == TiedOutput::untied);
    CHECK(m.output_bias);
    CHECK(m.rope_factors == 32);
    CHECK(m.position_embeddings == 2048);

    GgufWriter fused = decoder("phi3", 1).tensor(blk(0, "attn_qkv.weight"), {512, 768});
    fused.tensor(blk(0, "ffn_up.weight"), {512, 4096}).tensor(blk(0, "ffn_down.weight"), {2048, 512});
    const Layer phi = read(fused).layers[0];
    CHECK(phi.attention->fused_qkv);
    CHECK_FALSE(phi.attention->keys_as_values);
    CHECK(phi.feed_forward->fused_gate_up);
    CHECK(phi.feed_forward->gated);

    GgufWriter row = decoder("olmo2", 1).tensor(blk(0, "attn_q_norm.weight"), {512});
    row.tensor(blk(0, "attn_norm.bias"), {512});
    CHECK(attention(read(row), 0).qk_norm == Attention::QkNorm::full_row);
    CHECK(read(row).layers[0].norms == 0);
    CHECK(read(row).layers[0].norm_bias);

    const Model granite =
        read(decoder("granite", 1).real("granite.embedding_scale", 12).real("granite.logit_scale", 8));
    CHECK(granite.embedding_scale);
    CHECK(granite.logit_scale);
    CHECK_FALSE(granite.residual_scale);
    const Model minicpm = read(decoder("minicpm", 1));
    CHECK((minicpm.embedding_scale && minicpm.residual_scale && minicpm.logit_scale));
    CHECK(minicpm.source("residual_scale") == "default: part of the architecture");
}

TEST_CASE("Qwen 1 doubles its feed-forward length; the tensor's shape wins", "[gguf]") {
    const Model m = read(decoder("qwen", 1).tensor(blk(0, "ffn_down.weight"), {1024, 512}));
    CHECK(m.layers[0].feed_forward->width == 1024);
    CHECK(m.source("feed_forward_width") == "gguf: shape of blk.0.ffn_down.weight");
}
