#include "core/model/checkpoint_tensors.h"

#include <map>

#include "core/model/checkpoint_name.h"
#include "tests/catch.h"
#include "tests/model/safetensors_writer.h"

using namespace memwall;
using namespace memwall::model;
using namespace memwall::test;

namespace {

SafetensorsSet set_of(const std::vector<WrittenTensor>& tensors) {
    const std::string header = safetensors_header(tensors);
    SafetensorsSet set;
    set.files.push_back(parse_safetensors(*bytes_source(std::as_bytes(std::span(header)), "x")));
    return set;
}

std::int64_t stored_bytes(const Model& model) {
    std::int64_t sum = 0;
    for (const Tensor& t : model.tensors) sum += quant::tensor_bytes(t.format, t.dims).value;
    return sum;
}

/// Elements of weights: what the matrices have before packing.
std::int64_t parameters(const Model& model) {
    std::int64_t sum = 0;
    for (const Tensor& t : model.tensors) sum += t.auxiliary ? 0 : t.elements();
    return sum;
}

/// qwen2.5-0.5b with its linear layers replaced by what `quantize` makes of them.
template <class Quantize>
std::vector<WrittenTensor> quantized_qwen(Quantize quantize) {
    std::vector<WrittenTensor> tensors;
    for (const WrittenTensor& t : qwen_tensors(kQwen25_05b)) {
        const std::size_t at = t.name.find("_proj.weight");
        if (at == std::string::npos) {
            tensors.push_back(t);
            continue;
        }
        for (WrittenTensor& part : quantize(t.name.substr(0, at + 5), t.shape[1], t.shape[0]))
            tensors.push_back(std::move(part));
    }
    return tensors;
}

QuantizationConfig quantization(std::string recipe, int bits) {
    QuantizationConfig q;
    q.recipe = std::move(recipe);
    q.bits = bits;
    return q;
}

Model model_of(int layers) {
    Model m;
    m.layers.resize(static_cast<std::size_t>(layers));
    return m;
}

}  // namespace

TEST_CASE("names of many families tell role and layer", "[checkpoint]") {
    struct Row {
        const char* name;
        Role role;
        int layer;
        bool auxiliary = false;
    };
    // Names as they stand in published checkpoints; 61 decoder layers.
    const Row rows[] = {
        {"model.embed_tokens.weight", Role::token_embedding, -1},
        {"lm_head.weight", Role::output, -1},
        {"model.norm.weight", Role::norm, -1},
        {"model.layers.3.self_attn.q_proj.weight", Role::attn_q, 3},
        {"model.layers.3.self_attn.q_proj.bias", Role::bias, 3},
        {"model.layers.3.self_attn.k_norm.weight", Role::norm, 3},
        {"model.layers.0.input_layernorm.bias", Role::norm, 0},
        {"model.layers.10.mlp.gate_proj.qweight", Role::ffn_gate, 10},
        {"model.layers.10.mlp.gate_proj.qzeros", Role::ffn_gate, 10, true},
        {"model.layers.10.mlp.gate_proj.g_idx", Role::ffn_gate, 10, true},
        {"model.layers.10.mlp.down_proj.weight_scale_inv", Role::ffn_down, 10, true},
        {"model.layers.1.self_attn.v_proj.weight_packed", Role::attn_v, 1},
        {"model.layers.1.mlp.up_proj.weight.absmax", Role::ffn_up, 1, true},
        {"model.layers.1.mlp.up_proj.weight.quant_state.bitsandbytes__nf4", Role::ffn_up, 1, true},
        {"model.layers.1.mlp.up_proj.SCB", Role::ffn_up, 1, true},
        // DeepSeek, GLM
        {"model.layers.5.self_attn.kv_a_proj_with_mqa.weight", Role::attn_kv_a, 5},
        {"model.layers.5.self_attn.kv_b_proj.weight", Role::attn_kv_b, 5},
        {"model.layers.5.mlp.gate.weight", Role::router, 5},
        {"model.layers.5.mlp.gate.e_score_correction_bias", Role::bias, 5},
        {"model.layers.5.mlp.experts.17.up_proj.weight", Role::expert_up, 5},
        {"model.layers.5.mlp.shared_experts.down_proj.weight", Role::shared_down, 5},
        {"model.layers.61.eh_proj.weight", Role::other, 61},
        // Mixtral, gpt-oss, Llama-4, Granite, Qwen3-Next
        {"model.layers.2.block_sparse_moe.experts.7.w2.weight", Role::expert_down, 2},
        {"model.layers.2.block_sparse_moe.gate.weight", Role::router, 2},
        {"model.layers.2.mlp.experts.gate_up_proj_blocks", Role::expert_up, 2},
        {"model.layers.2.mlp.experts.gate_up_proj_scales", Role::expert_up, 2, true},
        {"model.layers.2.mlp.experts.down_proj_bias", Role::bias, 2},
        {"model.layers.2.self_attn.sinks", Role::sinks, 2},
        {"language_model.model.layers.2.feed_forward.experts.gate_up_proj", Role::expert_up, 2},
        {"language_model.model.layers.2.feed_forward.router.weight", Role::router, 2},
        {"model.layers.2.block_sparse_moe.input_linear.weight", Role::ffn_up, 2},
        {"model.layers.2.shared_mlp.output_linear.weight", Role::shared_down, 2},
        {"model.layers.2.mlp.shared_expert_gate.weight", Role::shared_expert_gate, 2},
        {"model.layers.2.linear_attn.in_proj_qkvz.weight", Role::recurrent_in, 2},
        {"model.layers.2.linear_attn.A_log", Role::recurrent_small, 2},
        {"model.layers.2.linear_attn.dt_bias", Role::recurrent_small, 2},
        {"model.layers.2.linear_attn.out_proj.weight", Role::recurrent_out, 2},
        {"mtp.layers.0.mlp.experts.3.gate_proj.weight", Role::expert_gate, 61},
        {"mtp.fc.weight", Role::other, 61},
        // Mamba, LFM2, OPT, GPT-2, NeoX, Falcon, Phi, T5, BERT, Gemma
        {"backbone.embeddings.weight", Role::token_embedding, -1},
        {"backbone.layers.4.mixer.conv1d.weight", Role::recurrent_small, 4},
        {"backbone.layers.4.mixer.in_proj.weight", Role::recurrent_in, 4},
        {"model.layers.4.conv.out_proj.weight", Role::recurrent_out, 4},
        {"model.decoder.layers.4.self_attn.out_proj.weight", Role::attn_output, 4},
        {"model.decoder.embed_positions.weight", Role::position_embedding, -1},
        {"h.4.attn.c_attn.weight", Role::attn_qkv, 4},
        {"h.4.attn.c_proj.weight", Role::attn_output, 4},
        {"h.4.mlp.c_proj.weight", Role::ffn_down, 4},
        {"h.4.ln_1.weight", Role::norm, 4},
        {"gpt_neox.layers.4.attention.dense.weight", Role::attn_output, 4},
        {"embed_out.weight", Role::output, -1},
        {"transformer.h.4.self_attention.query_key_value.weight", Role::attn_qkv, 4},
        {"transformer.word_embeddings.weight", Role::token_embedding, -1},
        {"model.layers.4.mlp.fc1.weight", Role::ffn_up, 4},
        {"decoder.block.4.layer.1.EncDecAttention.k.weight", Role::cross_attention, 4},
        {"encoder.block.4.layer.0.SelfAttention.q.weight", Role::attn_q, -1},
        {"encoder.layer.4.attention.output.dense.weight", Role::attn_output, -1},
        {"model.language_model.embed_tokens_per_layer.weight", Role::per_layer_embedding, -1},
        {"model.visual.blocks.4.attn.qkv.weight", Role::vision, -1},
        {"vision_tower.vision_model.encoder.layers.4.mlp.fc1.weight", Role::vision, -1},
        // Nobody's
        {"", Role::other, -1},
        {"...", Role::other, -1},
        {"weight", Role::other, -1},
        {"model.layers.99999999999.self_attn.q_proj.weight", Role::attn_q, -1},
    };
    for (const Row& row : rows) {
        INFO(row.name);
        const CheckpointName name = read_checkpoint_name(row.name, 61);
        CHECK(static_cast<int>(name.role) == static_cast<int>(row.role));
        CHECK(name.layer == row.layer);
        CHECK(name.auxiliary == row.auxiliary);
    }
}

TEST_CASE("a 16-bit checkpoint's tensors are the model's", "[checkpoint]") {
    Model model = model_of(24);
    model.output = TiedOutput::tied;
    const auto set = set_of(qwen_tensors(kQwen25_05b));
    take_checkpoint_tensors(model, set, nullptr);
    CHECK(model.tensors_from_file);
    CHECK(parameters(model) == 494032768);
    CHECK(stored_bytes(model) == 2 * 494032768);
    CHECK(model.output == TiedOutput::tied);
    CHECK(model.file_bytes == set.file_bytes());
    CHECK(model.file_bytes == model.metadata_bytes + 2 * 494032768);
    CHECK(model.warnings.empty());
    for (const Tensor& t : model.tensors) {
        INFO(t.name);
        CHECK(t.role != Role::other);
        CHECK(t.format == quant::ggml("BF16"));
    }
    CHECK(model.tensors.front().dims == std::array<std::int64_t, 4>{896, 151936, 1, 1});  // rows of inputs
}

TEST_CASE("what the files store decides how the output matrix is tied", "[checkpoint]") {
    const auto output_after = [](TiedOutput config, bool stores_head) {
        Model model = model_of(28);
        model.output = config;
        QwenShape shape = kQwen3_06b;
        shape.stores_head = stores_head;
        take_checkpoint_tensors(model, set_of(qwen_tensors(shape)), nullptr);
        return model.output;
    };
    CHECK(output_after(TiedOutput::tied, true) == TiedOutput::tied_stored_twice);
    CHECK(output_after(TiedOutput::tied, false) == TiedOutput::tied);
    CHECK(output_after(TiedOutput::tied_stored_twice, false) == TiedOutput::tied);
    CHECK(output_after(TiedOutput::untied, true) == TiedOutput::untied);
    CHECK(output_after(TiedOutput::untied, false) == TiedOutput::tied);
}

TEST_CASE("packed matrices keep the file's bytes and the model's parameters", "[checkpoint]") {
    const auto take = [](const std::vector<WrittenTensor>& tensors, const QuantizationConfig& q) {
        Model model = model_of(24);
        take_checkpoint_tensors(model, set_of(tensors), &q);
        CHECK(stored_bytes(model) == data_bytes(tensors));
        CHECK(parameters(model) == 494032768);
        return model;
    };
    const auto of = [](const Model& model, const std::string& name) {
        for (const Tensor& t : model.tensors)
            if (t.name == name) return t;
        FAIL("no tensor " << name);
        return Tensor{};
    };
    // q_proj 896 x 896, down_proj 4864 -> 896: dims are inputs x outputs whatever the packing.
    const std::array<std::int64_t, 4> down{4864, 896, 1, 1};
    const std::string down_name = "model.layers.7.mlp.down_proj.";
    const quant::Format four{.family = quant::Family::raw, .ggml_type = 0, .milli_bits = 4000, .group = 0};

    for (const int bits : {2, 3, 4, 8}) {
        const auto model =
            take(quantized_qwen([&](const std::string& name, std::int64_t in, std::int64_t out) {
                     return gptq_linear(name, in, out, bits, 128);
                 }),
                 quantization("gptq", bits));
        CHECK(of(model, down_name + "qweight").dims == down);
        CHECK(of(model, down_name + "qweight").format.milli_bits == bits * 1000);
        CHECK(of(model, down_name + "scales").auxiliary);
        CHECK(of(model, down_name + "scales").role == Role::ffn_down);
        CHECK(of(model, down_name + "scales").layer == 7);
    }
    const auto awq = take(quantized_qwen([](const std::string& name, std::int64_t in, std::int64_t out) {
                              return awq_linear(name, in, out, 128);
                          }),
                          quantization("awq-4bit-128g", 4));
    CHECK(of(awq, down_name + "qweight").elements() == 4864 * 896);
    CHECK(of(awq, down_name + "qweight").format == four);

    const auto fp8 = take(quantized_qwen(fp8_block_linear), quantization("fp8-block128", 8));
    CHECK(of(fp8, down_name + "weight").dims == down);
    CHECK(of(fp8, down_name + "weight").format.milli_bits == 8000);

    const auto packed =
        take(quantized_qwen([](const std::string& name, std::int64_t in, std::int64_t out) {
                 return std::vector<WrittenTensor>{{name + ".weight_packed", "I32", {out, in / 8}},
                                                   {name + ".weight_scale", "BF16", {out, in / 128}},
                                                   {name + ".weight_shape", "I64", {2}}};
             }),
             quantization("w4a16-g128", 4));
    CHECK(of(packed, down_name + "weight_packed").dims == down);

    const auto bnb =
        take(quantized_qwen([](const std::string& name, std::int64_t in, std::int64_t out) {
                 return std::vector<WrittenTensor>{{name + ".weight", "U8", {in * out / 2, 1}},
                                                   {name + ".weight.absmax", "F32", {in * out / 64}},
                                                   {name + ".weight.quant_map", "F32", {16}}};
             }),
             quantization("bnb-nf4", 4));
    CHECK(of(bnb, down_name + "weight").elements() == 4864 * 896);

    const auto mlx = take(quantized_qwen([](const std::string& name, std::int64_t in, std::int64_t out) {
                              return std::vector<WrittenTensor>{{name + ".weight", "U32", {out, in / 8}},
                                                                {name + ".scales", "BF16", {out, in / 64}},
                                                                {name + ".biases", "BF16", {out, in / 64}}};
                          }),
                          quantization("mlx-4bit-64g", 4));
    CHECK(of(mlx, down_name + "weight").dims == down);
}

TEST_CASE("stacked MXFP4 experts are matrices of their codes", "[checkpoint]") {
    // gpt-oss: [experts, rows, blocks of a row, bytes of a block], one scale a block of 32 values.
    const std::vector<WrittenTensor> tensors{
        {"model.layers.0.mlp.experts.gate_up_proj_blocks", "U8", {32, 5760, 90, 16}},
        {"model.layers.0.mlp.experts.gate_up_proj_scales", "U8", {32, 5760, 90}},
        {"model.layers.0.mlp.router.weight", "BF16", {32, 2880}}};
    Model model = model_of(1);
    model.layers[0].experts = Experts{.count = 32, .used = 4, .width = 2880};
    const auto q = quantization("mxfp4-experts", 4);
    take_checkpoint_tensors(model, set_of(tensors), &q);
    CHECK(model.tensors[0].dims == std::array<std::int64_t, 4>{2880, 5760, 32, 1});
    CHECK(model.tensors[0].role == Role::expert_up);
    CHECK(stored_bytes(model) == 32 * 5760 * 90 * 17 + 2 * 32 * 2880);  // 17 bytes per 32 values
}

TEST_CASE("tensors that do not fit the configuration count but mislead nobody", "[checkpoint]") {
    Model model = model_of(2);
    take_checkpoint_tensors(model,
                            set_of({{"model.layers.0.mlp.experts.0.up_proj.weight", "BF16", {8, 4}},
                                    {"model.layers.9.self_attn.q_proj.weight", "BF16", {4, 4}},
                                    {"five", "F32", {2, 3, 4, 5, 6}},
                                    {"odd", "F4", {2, 3}},
                                    {"none", "F32", {7, 0, 5}}}),
                            nullptr);
    // No experts in layer 0 and no layer 9: code that follows roles into the layers would find nothing there.
    CHECK(model.tensors[0].role == Role::other);
    CHECK(model.tensors[1].layer == -1);
    REQUIRE_FALSE(model.warnings.empty());
    CHECK_THAT(model.warnings[0],
               Catch::Contains("1 stored tensors belong to layers that config.json does not have"));
    CHECK(model.tensors[2].elements() == 720);
    CHECK(stored_bytes(model) == 2 * 32 + 2 * 16 + 4 * 720 + 3);
}

TEST_CASE("data of missing shards is one tensor of bytes", "[checkpoint]") {
    Model model = model_of(28);
    SafetensorsSet set = set_of({{"model.embed_tokens.weight", "BF16", {10, 4}}});
    set.missing_shards = {"model-00002-of-00002.safetensors"};
    set.missing_shard_bytes = 1000;
    take_checkpoint_tensors(model, set, nullptr);
    CHECK(stored_bytes(model) == 80 + 1000);
    CHECK(model.output == TiedOutput::untied);  // the missing shard may hold the output
}
