#include "core/model/quantization_config.h"

#include "core/base/error.h"
#include "core/model/hugging_face.h"
#include "core/model/module_formats.h"
#include "core/quant/recipe.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::model;

namespace {

/// `block` as the quantization_config of a config.json.
QuantizationConfig read(const std::string& block) {
    const auto q = read_quantization_config(R"({"model_type":"llama","quantization_config":)" + block + "}",
                                            "config.json");
    REQUIRE(q);
    return *q;
}

/// One config group of compressed-tensors.
std::string compressed(const std::string& format, const std::string& weights, const std::string& inputs) {
    return R"({"quant_method":"compressed-tensors","format":")" + format +
           R"(","config_groups":{"group_0":{"weights":)" + weights + R"(,"input_activations":)" + inputs +
           R"(,"targets":["Linear"]}},"ignore":["lm_head"]})";
}

}  // namespace

TEST_CASE("what checkpoints say of their quantization becomes a recipe", "[quantization_config]") {
    struct Row {
        std::string block, recipe;
        int bits, group;
    };
    const std::string int8_inputs = R"({"num_bits":8,"type":"int","dynamic":true,"strategy":"token"})";
    // Spellings as transformers, AutoGPTQ, AutoAWQ, llm-compressor, ModelOpt and mlx-lm write them.
    const Row rows[] = {
        {R"({"quant_method":"gptq","bits":4,"group_size":128,"desc_act":true,"sym":true})", "gptq-4bit-128g",
         4, 128},
        {R"({"quant_method":"gptq","bits":8,"group_size":32})", "gptq-8bit-32g", 8, 32},
        {R"({"quant_method":"gptq","bits":3,"group_size":-1})", "gptq-3bit-nogroup", 3, 0},
        {R"({"quant_method":"GPTQ","bits":"4","group_size":"64"})", "gptq-4bit-64g", 4, 64},
        {R"({"quant_method":"awq","bits":4,"group_size":128,"zero_point":true,"version":"gemm"})",
         "awq-4bit-128g", 4, 128},
        {R"({"quant_method":"awq","w_bit":4,"q_group_size":64})", "awq-4bit-64g", 4, 64},
        {R"({"quant_method":"auto-round","bits":4,"group_size":128,"packing_format":"auto_round:auto_gptq"})",
         "gptq-4bit-128g", 4, 128},
        {R"({"quant_method":"auto-round","bits":4,"group_size":128,"packing_format":"auto_round:auto_awq"})",
         "awq-4bit-128g", 4, 128},
        {R"({"load_in_4bit":true,"load_in_8bit":false,"bnb_4bit_quant_type":"nf4","bnb_4bit_use_double_quant":true})",
         "bnb-nf4-dq", 4, 64},
        {R"({"quant_method":"bitsandbytes","load_in_4bit":true,"bnb_4bit_quant_type":"nf4"})", "bnb-nf4", 4,
         64},
        {R"({"quant_method":"bitsandbytes","load_in_8bit":true,"load_in_4bit":false})", "bnb-int8", 8, 0},
        {R"({"quant_method":"fp8","fmt":"e4m3","activation_scheme":"dynamic","weight_block_size":[128,128]})",
         "fp8-block128", 8, 0},
        {R"({"quant_method":"fp8","activation_scheme":"static"})", "fp8-tensor", 8, 0},
        {R"({"quant_method":"fbgemm_fp8","activation_scale_ub":1200.0})", "fp8-channel", 8, 0},
        {R"({"quant_method":"mxfp4","modules_to_not_convert":["lm_head"]})", "mxfp4-experts", 4, 32},
        {R"({"quant_method":"modelopt","quant_algo":"NVFP4","group_size":16})", "nvfp4", 4, 16},
        {R"({"quant_method":"modelopt","quant_algo":"FP8"})", "fp8-tensor", 8, 0},
        {R"({"quant_method":"hqq","quant_config":{"weight_quant_params":{"nbits":4,"group_size":64}}})",
         "hqq-4bit-64g", 4, 64},
        {R"({"quant_method":"quanto","weights":"int8"})", "w8a16", 8, 0},
        {R"({"quant_method":"exl2","bits":4.25})", "exl2-4.25", 0, 0},
        {R"({"quant_method":"exl3","bits":3.0})", "exl3-3", 0, 0},
        {compressed("pack-quantized", R"({"num_bits":4,"type":"int","strategy":"group","group_size":128})",
                    "null"),
         "w4a16-g128", 4, 128},
        {compressed("pack-quantized", R"({"num_bits":8,"type":"int","strategy":"channel","group_size":null})",
                    "null"),
         "w8a16", 8, 0},
        {compressed("int-quantized", R"({"num_bits":8,"type":"int","strategy":"channel"})", int8_inputs),
         "w8a8", 8, 0},
        {compressed("pack-quantized", R"({"num_bits":4,"type":"int","strategy":"group","group_size":128})",
                    int8_inputs),
         "w4a8-g128", 4, 128},
        {compressed("float-quantized", R"({"num_bits":8,"type":"float","strategy":"channel"})", "null"),
         "fp8-channel", 8, 0},
        {compressed("float-quantized", R"({"num_bits":8,"type":"float","strategy":"tensor"})", "null"),
         "fp8-tensor", 8, 0},
        {compressed("float-quantized",
                    R"({"num_bits":8,"type":"float","strategy":"block","block_structure":[128,128]})",
                    "null"),
         "fp8-block128", 8, 0},
        {compressed("nvfp4-pack-quantized",
                    R"({"num_bits":4,"type":"float","strategy":"tensor_group","group_size":16})", "null"),
         "nvfp4", 4, 16},
        {compressed("mxfp4-pack-quantized",
                    R"({"num_bits":4,"type":"float","strategy":"group","group_size":32})", "null"),
         "mxfp4", 4, 32},
    };
    for (const Row& row : rows) {
        INFO(row.block);
        const auto q = read(row.block);
        CHECK(q.recipe == row.recipe);
        CHECK(q.bits == row.bits);
        CHECK(q.group == row.group);
        CHECK_FALSE(q.text.empty());
        CHECK(quant::parse_recipe(q.recipe).name == q.recipe);  // a name that --quant takes
    }
}

TEST_CASE("a quantization says what it is in words, and what it leaves alone", "[quantization_config]") {
    CHECK(read(R"({"quant_method":"gptq","bits":4,"group_size":128,"desc_act":true,"sym":false})").text ==
          "GPTQ, 4 bit, groups of 128, activation order, asymmetric");
    const auto fp8 = read(
        R"({"quant_method":"fp8","weight_block_size":[128,128],"modules_to_not_convert":["lm_head","re:.*gate"]})");
    CHECK(fp8.text == "FP8 e4m3, blocks of [128,128]");
    CHECK(fp8.unquantized == std::vector<std::string>{"lm_head", "re:.*gate"});
    const auto ct = read(compressed("float-quantized", R"({"num_bits":8,"type":"float","strategy":"tensor"})",
                                    R"({"num_bits":8,"type":"float"})"));
    CHECK(ct.text ==
          "compressed-tensors float-quantized: float 8 bit, one scale a tensor, 8 bit activations");
    CHECK(ct.unquantized == std::vector<std::string>{"lm_head"});
    CHECK(read(R"({"quant_method":"compressed-tensors","kv_cache_scheme":{"num_bits":8,"type":"float"}})")
              .kv_cache == "fp8");
}

TEST_CASE("what has no recipe is said in words and is no error", "[quantization_config]") {
    CHECK(read(R"({"quant_method":"vptq","bits":2})").text == "unknown method 'vptq'");
    CHECK(read(R"({"bits":2})").text == "a quantization without quant_method");
    for (const char* block :
         {R"({"quant_method":"vptq","bits":2})", R"({"quant_method":"gptq","bits":5,"group_size":128})",
          R"({"quant_method":"fp8","weight_block_size":[64,64]})",
          R"({"quant_method":"fp8","weight_block_size":128})",
          R"({"quant_method":"modelopt","quant_algo":"MIXED_PRECISION"})",
          R"({"quant_method":"compressed-tensors"})", R"({"quant_method":"quanto","weights":"int2"})",
          R"({"quant_method":{"a":1}})"}) {
        INFO(block);
        CHECK(read(block).recipe.empty());
        CHECK_FALSE(read(block).text.empty());
    }
    // Two groups of different formats: no single recipe says what is stored.
    const auto mixed =
        read(R"({"quant_method":"compressed-tensors","format":"mixed-precision","config_groups":{)"
             R"("group_0":{"weights":{"num_bits":4,"type":"int","strategy":"group","group_size":32}},)"
             R"("group_1":{"weights":{"num_bits":8,"type":"int","strategy":"channel"}}}})");
    CHECK(mixed.recipe.empty());
    CHECK(mixed.bits == 0);
    CHECK_THAT(mixed.text,
               Catch::Contains("integer 4 bit, groups of 32") && Catch::Contains("; integer 8 bit"));
}

TEST_CASE("the quantization is found wherever configs keep it", "[quantization_config]") {
    const auto recipe = [](const std::string& config) {
        const auto q = read_quantization_config(config, "config.json");
        return q ? q->recipe : "none";
    };
    CHECK(recipe("{}") == "none");
    CHECK(recipe(R"({"quantization_config":null})") == "none");
    CHECK(recipe(R"({"quantization_config":{}})") == "none");
    CHECK(recipe(R"({"text_config":{"quantization_config":{"quant_method":"mxfp4"}}})") == "mxfp4-experts");
    CHECK(
        recipe(
            R"({"compression_config":{"config_groups":{"g":{"weights":{"num_bits":4,"group_size":128}}}}})") ==
        "w4a16-g128");
    // mlx-lm writes the block under two names and neither holds a method.
    CHECK(recipe(R"({"quantization":{"group_size":64,"bits":4}})") == "mlx-4bit-64g");
    CHECK(
        recipe(
            R"({"quantization":{"group_size":32,"bits":8},"quantization_config":{"group_size":32,"bits":8}})") ==
        "mlx-8bit-32g");
}

TEST_CASE("a config that is none, and impossible numbers, are errors", "[quantization_config]") {
    for (const char* text : {"", "[]", "7", "{", R"({"a":444444444e44444})", "{\"\xff\":1}"}) {
        INFO(text);
        CHECK_THROWS_AS(read_quantization_config(text, "config.json"), Error);
    }
    const std::string deep = R"({"a":)" + std::string(100000, '[') + std::string(100000, ']') + "}";
    CHECK_THROWS_WITH(read_quantization_config(deep, "config.json"),
                      Catch::Contains("nested deeper than 64 levels"));
    CHECK_THROWS_WITH(read(R"({"quant_method":"gptq","bits":4000})"),
                      "config.json: bits: 4000; expected a number from 1 to 32");
    CHECK_THROWS_WITH(read(R"({"quant_method":"gptq","group_size":[]})"), Catch::Contains("group_size: []"));
    CHECK_THROWS_WITH(read(R"({"quant_method":"gptq","group_size":"x"})"), Catch::Contains("group_size"));
}

TEST_CASE("a module list covers names, parts of paths, globs and plain regular expressions",
          "[quantization_config]") {
    const std::string q = "model.layers.10.self_attn.q_proj", gate = "model.layers.3.mlp.gate_proj",
                      expert = "model.layers.3.mlp.experts.0.gate_proj";
    CHECK(covers_module(q, q));
    CHECK(covers_module("self_attn", q));
    CHECK(covers_module("model.layers.10.self_attn", q));
    CHECK_FALSE(covers_module("model.layers.1.self_attn", q));
    CHECK_FALSE(covers_module("mlp.gate", gate));  // the router, not the gate projection
    CHECK(covers_module("model.layers.10.self_attn*", q));
    CHECK(covers_module("*.self_attn.*", q));
    CHECK_FALSE(covers_module("model.layers.1.self_attn*", q));
    CHECK(covers_module("re:.*self_attn.*", q));
    CHECK(covers_module(R"(re:.*mlp\.(gate|up|gate_up|down)_proj.*)", gate));
    CHECK_FALSE(covers_module(R"(re:.*mlp\.(gate|up|gate_up|down)_proj.*)", expert));
    CHECK(covers_module(R"(re:model\.layers\.\d+\.self_attn\.q_proj$)", q));
    // More than we understand covers nothing, at once.
    CHECK_FALSE(covers_module("re:(a+)+b", q));
    CHECK_FALSE(covers_module("", q));
    CHECK_FALSE(covers_module(std::string(300, '*'), q));
}

TEST_CASE("what a quantizer left alone stays in 16 bits", "[quantization_config]") {
    const Model m = read_hf_config(
        R"({"model_type": "qwen3_moe", "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4,
            "num_key_value_heads": 2, "head_dim": 64, "intermediate_size": 512, "moe_intermediate_size": 128,
            "num_experts": 8, "num_experts_per_tok": 2, "vocab_size": 1000, "mlp_only_layers": [0]})",
        "config.json");
    using Names = std::vector<std::string>;
    QuantizationConfig q;
    CHECK(module_overrides(m, q).empty());
    q.unquantized = {"lm_head", "re:.*self_attn.*"};
    CHECK(module_overrides(m, q) ==
          Names{"attn_q.weight=BF16", "attn_k.weight=BF16", "attn_v.weight=BF16", "attn_output.weight=BF16"});
    // Three of four layers are most of them, one is not.
    q.unquantized = {"model.layers.0.self_attn.o_proj", "model.layers.1.self_attn.k_proj",
                     "model.layers.2.self_attn.k_proj", "model.layers.3.self_attn.k_proj"};
    CHECK(module_overrides(m, q) == Names{"attn_k.weight=BF16"});
    q.unquantized.clear();
    for (const int layer : {1, 2, 3})
        q.modules.emplace_back("model.layers." + std::to_string(layer) + ".mlp.experts.0.up_proj",
                               "nvfp4-pack");
    CHECK(module_overrides(m, q) == Names{"ffn_up_exps.weight=nvfp4-pack"});
}

TEST_CASE("ModelOpt's own file and its mixed precisions", "[quantization_config]") {
    const auto read_own = [](const std::string& text) {
        return read_hf_quant_config(text, "hf_quant_config.json");
    };
    const auto fp8 = read_own(R"({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8",
                                  "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}})");
    REQUIRE(fp8);
    CHECK(fp8->recipe == "fp8-tensor");
    CHECK(fp8->kv_cache == "FP8");
    CHECK(fp8->unquantized == std::vector<std::string>{"lm_head"});
    CHECK_FALSE(read_own(R"({"producer": {}})"));
    const auto mixed = read_own(R"({"quantization": {"quant_algo": "MIXED_PRECISION", "quantized_layers": {
        "model.layers.0.mlp.up_proj": {"quant_algo": "NVFP4"}, "model.layers.1.mlp.up_proj": {"quant_algo": "NVFP4"},
        "model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"}}}})");
    REQUIRE(mixed);
    CHECK(mixed->recipe == "nvfp4");
    CHECK(mixed->modules.size() == 3);
    // A precision without a format here leaves no recipe: then 16 bits, and said so.
    CHECK(read_own(R"({"quantization": {"quant_algo": "MIXED_PRECISION", "quantized_layers": {
        "model.layers.0.mlp.up_proj": {"quant_algo": "MXFP8"}}}})")
              ->recipe.empty());
}
