// The table of architectures.
#include "core/model/architectures.h"

#include <set>
#include <sstream>

#include "tests/catch.h"
#include "tests/model/gguf_writer.h"

using namespace memwall;
using namespace memwall::model;
using memwall::test::decoder;
using memwall::test::read;

TEST_CASE("every architecture of the table reads from generic keys without a warning about itself",
          "[gguf]") {
    for (const Architecture& a : architectures()) {
        if (a.name == "clip") continue;
        INFO(std::string(a.name));
        const Model m = read(decoder(std::string(a.name), 4));
        CHECK(m.layers.size() + m.encoder.size() == 4);
        for (const std::string& text : m.warnings) CHECK_THAT(text, !Catch::Contains("unknown"));
        CHECK(m.architecture == a.name);
    }
}

TEST_CASE("names in the table of architectures are unique and findable", "[gguf]") {
    std::set<std::string_view> names;
    for (const Architecture& a : architectures()) {
        INFO(std::string(a.name));
        CHECK(names.insert(a.name).second);
        CHECK(find_architecture(a.name) == &a);
        CHECK_FALSE(a.source.empty());
    }
    // model_type values of the 154 published descriptors
    const char* types =
        "llama llama4 mistral mistral3 mixtral qwen2 qwen2_moe qwen2_5_vl qwen3 qwen3_moe qwen3_next qwen3_5 "
        "qwen3_5_moe gemma gemma2 gemma3 gemma3_text gemma3n_text gemma4_text phi phi3 phimoe smollm3 "
        "minicpm "
        "minicpm3 chatglm glm glm4 glm4_moe glm4_moe_lite deepseek_v2 deepseek_v3 kimi_k2 gpt_oss olmo2 "
        "granite "
        "granitemoehybrid falcon falcon_h1 falcon_mamba mamba rwkv5 jamba lfm2 lfm2_moe stablelm internlm2 "
        "baichuan "
        "bloom opt gpt2 gpt_neox starcoder2 cohere cohere2 ernie4_5 ernie4_5_moe hunyuan_v1_dense "
        "hunyuan_v1_moe "
        "whisper t5";
    std::istringstream in(types);
    for (std::string type; in >> type;) {
        INFO(type);
        int rows = 0;
        for (const Architecture& a : architectures()) {
            std::istringstream words{std::string(a.hf_types)};
            for (std::string word; words >> word;) rows += word == type;
        }
        CHECK(rows == 1);
        CHECK(find_hugging_face_type(type) != nullptr);
    }
    CHECK(find_hugging_face_type("") == nullptr);
    CHECK(find_hugging_face_type("qwen3 qwen3") == nullptr);
}
