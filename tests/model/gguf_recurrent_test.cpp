// What is no plain decoder layer: state, prediction blocks, encoders, vision parts.
#include "tests/catch.h"
#include "tests/model/gguf_shapes.h"
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

TEST_CASE("multi-token prediction blocks are no layers", "[gguf]") {
    GgufWriter w = decoder("glm4moe", 3).integer("glm4moe.nextn_predict_layers", 1);
    w.tensor(blk(2, "attn_q.weight"), {512, 512}).tensor(blk(2, "nextn.eh_proj.weight"), {1024, 512});
    w.tensor(blk(2, "nextn.embed_tokens.weight"), {512, 1000});
    const Model m = read(w);
    CHECK(m.layers.size() == 2);
    CHECK(m.prediction_layers.size() == 1);
    CHECK(m.prediction_has_embeddings);
    CHECK(m.tensors.back().layer == 2);

    // The key may stay while the converter drops the block.
    GgufWriter dropped = decoder("glm4moe", 3).integer("glm4moe.nextn_predict_layers", 1);
    CHECK(read(dropped).layers.size() == 2);
    CHECK(read(dropped).prediction_layers.empty());
}

TEST_CASE("recurrent layers by interval, by list and by missing KV heads", "[gguf]") {
    const auto kinds = [](const Model& m) {
        std::string s;
        for (const Layer& layer : m.layers)
            s += layer.attention && layer.recurrent ? 'B'
                 : layer.attention                  ? 'A'
                 : layer.recurrent                  ? 'R'
                                                    : '-';
        return s;
    };
    const auto state = [](GgufWriter w, const std::string& arch) {
        w.integer(arch + ".ssm.conv_kernel", 4).integer(arch + ".ssm.inner_size", 1024);
        return w.integer(arch + ".ssm.state_size", 128).integer(arch + ".ssm.time_step_rank", 8);
    };
    const Model next =
        read(state(decoder("qwen3next", 8), "qwen3next").integer("qwen3next.ssm.group_count", 4));
    CHECK(kinds(next) == "RRRARRRA");
    CHECK(next.layers[0].recurrent->kind == RecurrentKind::delta_net);
    CHECK(next.layers[0].recurrent->groups == 4);
    GgufWriter listed = state(decoder("qwen35", 3), "qwen35");
    listed.integers("qwen35.attention.recurrent_layers", {0, 1, 0}, GgufType::boolean);
    CHECK(kinds(read(listed)) == "ARA");

    GgufWriter jamba = state(decoder("jamba", 3, 512, 8, 0), "jamba");
    jamba.integers("jamba.attention.head_count_kv", {0, 8, 0});
    CHECK(kinds(read(jamba)) == "RAR");
    CHECK(read(jamba).layers[0].recurrent->kind == RecurrentKind::mamba1);
    CHECK_FALSE(attention(read(jamba), 1).rope);

    // Nemotron-H has layers of one part: state, attention or feed-forward; only tensors tell the last two.
    GgufWriter lone = state(decoder("nemotron_h", 3, 512, 8, 0), "nemotron_h");
    lone.integer("nemotron_h.ssm.group_count", 2);
    lone.integers("nemotron_h.attention.head_count_kv", {0, 2, 0});
    lone.tensor(blk(0, "ssm_in.weight"), {512, 100}).tensor(blk(1, "attn_q.weight"), {512, 512});
    lone.tensor(blk(2, "ffn_down.weight"), {2048, 512}).tensor(blk(2, "ffn_up.weight"), {512, 2048});
    const Model nemotron = read(lone);
    CHECK(kinds(nemotron) == "RA-");
    CHECK_FALSE(nemotron.layers[0].feed_forward);
    CHECK_FALSE(nemotron.layers[2].feed_forward->gated);

    GgufWriter kimi = decoder("kimi-linear", 2, 512, 4, 0).integer("kimi-linear.kda.head_dim", 128);
    kimi.integer("kimi-linear.ssm.conv_kernel", 4);
    kimi.integers("kimi-linear.attention.head_count_kv", {0, 4});
    const Model kda = read(kimi);
    CHECK(kinds(kda) == "RA");
    CHECK(kda.layers[0].recurrent->inner == 512);

    GgufWriter rwkv = decoder("rwkv6", 2, 512, 0, 0).integer("rwkv6.wkv.head_size", 64);
    rwkv.tensor(blk(0, "time_mix_key.weight"), {512, 512})
        .tensor(blk(0, "channel_mix_value.weight"), {1792, 512});
    const Model r = read(rwkv);
    CHECK(kinds(r) == "RR");
    CHECK(r.layers[0].recurrent->heads == 8);
    CHECK(r.layers[0].feed_forward->width == 1792);
}

TEST_CASE("state of the measured shapes", "[gguf]") {
    const auto shape = [](const char* arch, const nlohmann::json& fields) {
        return read(test::shape_gguf("x", arch, fields, "F16"));
    };
    const nlohmann::json ssm = {{"n_layer", 2},   {"n_embd", 768}, {"d_inner", 1536},
                                {"d_conv", 4},    {"d_state", 16}, {"dt_rank", 48},
                                {"n_vocab", 300}, {"tied", 1},     {"n_ctx_train", 1}};
    const Model mamba = shape("mamba", ssm);
    REQUIRE(mamba.layers[0].recurrent);
    CHECK(mamba.layers[0].recurrent->kind == RecurrentKind::mamba1);
    CHECK(mamba.source("recurrent") == "gguf:mamba.ssm.*");
    CHECK_FALSE(mamba.layers[0].recurrent->norm);
    CHECK_FALSE(mamba.layers[0].attention);
    CHECK_FALSE(mamba.layers[0].feed_forward);

    nlohmann::json h1 = ssm;
    h1.update({{"n_ff", 512}, {"n_head", 8}, {"n_head_kv", 2}, {"n_group", 1}, {"dt_rank", 24}});
    const Model falcon = shape("falcon-h1", h1);
    REQUIRE(falcon.layers[1].recurrent);
    CHECK(falcon.layers[1].recurrent->kind == RecurrentKind::mamba2);
    CHECK(falcon.layers[1].recurrent->heads == 24);
    CHECK_FALSE(falcon.layers[1].recurrent->norm);
    CHECK(falcon.layers[1].attention->kv_heads == 2);

    nlohmann::json next = h1;
    next.update({{"full_attn_interval", 2},
                 {"n_group", 4},
                 {"dt_rank", 8},
                 {"d_inner", 128},
                 {"n_expert", 4},
                 {"n_expert_used", 2},
                 {"n_ff_exp", 64},
                 {"n_ff_shexp", 64}});
    const Model qwen = shape("qwen3next", next);
    CHECK(qwen.layers[0].recurrent->split_ba);
    CHECK_FALSE(qwen.layers[0].attention);
    CHECK(attention(qwen, 1).gated_output);
    CHECK(attention(qwen, 1).qk_norm == Attention::QkNorm::per_head);
    CHECK(qwen.layers[1].experts->shared_gate);

    const Model lfm = shape("lfm2", {{"n_layer", 2},
                                     {"n_embd", 256},
                                     {"n_ff", 512},
                                     {"n_head", 4},
                                     {"n_head_kv", 2},
                                     {"attn_layers", "1"},
                                     {"l_cache", 3},
                                     {"n_vocab", 300},
                                     {"tied", 1},
                                     {"n_ctx_train", 1}});
    CHECK(lfm.layers[0].recurrent->kind == RecurrentKind::short_conv);
    CHECK(lfm.layers[0].recurrent->conv_kernel == 3);
    CHECK_FALSE(lfm.layers[1].recurrent);
}

TEST_CASE("encoders, encoder-decoders and vision parts", "[gguf]") {
    GgufWriter b = decoder("bert", 2, 512, 8, 0);
    b.tensor(blk(0, "attn_q.weight"), {512, 512}).tensor(blk(1, "attn_q.weight"), {512, 512});
    const Model bert = read(b);
    CHECK(bert.embedder);
    CHECK(bert.layers.empty());
    CHECK(bert.encoder.size() == 2);

    GgufWriter t = decoder("t5", 3, 512, 8, 0).integer("t5.decoder_block_count", 2);
    t.tensor("enc.blk.0.attn_q.weight", {512, 512}).tensor("enc.blk.2.ffn_down.weight", {2048, 512});
    t.tensor("dec.blk.1.attn_q.weight", {512, 512}).tensor("dec.blk.1.cross_attn_k.weight", {512, 512});
    const Model t5 = read(t);
    CHECK(t5.encoder.size() == 3);
    CHECK(t5.layers.size() == 2);
    CHECK(t5.cross_attention);
    CHECK_FALSE(t5.embedder);

    GgufWriter v;
    v.text("general.architecture", "clip").text("general.type", "mmproj").integer("general.file_type", 1);
    v.text("clip.projector_type", "gemma3").integer("clip.vision.image_size", 896);
    v.integer("clip.vision.patch_size", 14).integer("clip.vision.projection_dim", 2560);
    v.tensor("v.patch_embd.weight", {14, 14, 3, 1152}).tensor("mm.input_projection.weight", {2560, 1152});
    v.tensor("a.conv1d.0.weight", {3, 80});
    const Model clip = read(v);
    REQUIRE(clip.components.size() == 2);
    CHECK(clip.components[0].name == "vision");
    CHECK(clip.components[0].parameters == 14 * 14 * 3 * 1152 + 2560 * 1152);
    CHECK(clip.components[0].tokens_per_image == 256);
    CHECK(clip.components[1].parameters == 240);
    CHECK(clip.layers.empty());
    CHECK(clip.tensors[0].role == Role::vision);
}
