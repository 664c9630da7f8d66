#include "core/model/quantization_config.h"

#include "core/base/error.h"
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
                      Catch::Contains("nested more than 32 deep"));
    CHECK_THROWS_WITH(read(R"({"quant_method":"gptq","bits":4000})"),
                      "config.json: bits: 4000; expected a number from 1 to 32");
    CHECK_THROWS_WITH(read(R"({"quant_method":"gptq","group_size":[]})"), Catch::Contains("group_size: []"));
    CHECK_THROWS_WITH(read(R"({"quant_method":"gptq","group_size":"x"})"), Catch::Contains("group_size"));
}
