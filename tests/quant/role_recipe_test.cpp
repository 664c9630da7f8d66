#include <set>

#include "core/base/error.h"
#include "core/quant/recipe.h"
#include "tests/catch.h"
#include "tests/quant/dense_model.h"

using namespace memwall;
using namespace memwall::quant;
using model::Model;

namespace {

const model::DenseShape kLlama1B{16, 2048, 8192, 32, 8, 64, 128256, true};
const model::DenseShape kLlama3B{28, 3072, 8192, 24, 8, 128, 128256, true};
const model::DenseShape kLlama8B{32, 4096, 14336, 32, 8, 128, 128256};

std::string name_of(const Model& m, std::string_view recipe, std::string_view tensor,
                    AssignOptions options = {}) {
    const auto formats = assign(parse_recipe(recipe), m, options);
    for (std::size_t i = 0; i < formats.size(); ++i)
        if (m.tensors[i].name == tensor) return format_name(formats[i]);
    return "no such tensor";
}

double stored_mib(const Model& m, std::string_view recipe) {
    const Recipe r = parse_recipe(recipe);
    return (weights_bytes(m, assign(r, m)) + output_copy_bytes(r, m)).as_double() / kMiB;
}

}  // namespace

TEST_CASE("ExecuTorch's 8da4w files have their published size", "[quant]") {
    // .pte files of Llama-3.2 (SpinQuant, groups of 32): 1083 and 2435 MiB; the graph is the rest.
    CHECK(stored_mib(model::dense_model("llama", kLlama1B), "8da4w-g32") == Approx(1083).epsilon(0.003));
    CHECK(stored_mib(model::dense_model("llama", kLlama3B), "8da4w-g32") == Approx(2435).epsilon(0.003));
    const Model m = model::dense_model("llama", kLlama1B);
    CHECK(name_of(m, "8da4w", "token_embd.weight") == "int8-channel");
    CHECK(name_of(m, "8da4w", "blk.0.attn_norm.weight") == "F32");
    CHECK(output_copy_bytes(parse_recipe("8da4w"), model::dense_model("llama", kLlama8B)).value == 0);
}

TEST_CASE("each recipe leaves its own layers unquantized", "[quant]") {
    struct {
        const char *recipe, *linear, *embedding, *output, *norm;
    } rows[] = {
        {"gptq-4bit-128g", "gptq-4bit-128g", "BF16", "BF16", "BF16"},
        {"gptq", "gptq-4bit-128g", "BF16", "BF16", "BF16"},
        {"AWQ", "awq-4bit-128g", "BF16", "BF16", "BF16"},
        {"nf4", "bnb-nf4", "BF16", "BF16", "BF16"},
        {"bnb-nf4-dq", "bnb-nf4-dq", "BF16", "BF16", "BF16"},
        {"LLM.int8", "bnb-int8", "BF16", "BF16", "BF16"},
        {"fp8", "fp8-channel", "BF16", "BF16", "BF16"},
        {"fp8-block128", "fp8-block128", "BF16", "BF16", "BF16"},
        {"nvfp4", "nvfp4-pack", "BF16", "BF16", "BF16"},
        {"mxfp4", "mxfp4-pack", "BF16", "BF16", "BF16"},
        {"w4a16", "w4a16-g128", "BF16", "BF16", "BF16"},
        {"w4a8-g64", "w4a16-g64", "BF16", "BF16", "BF16"},
        {"w8a16", "w8a16", "BF16", "BF16", "BF16"},
        {"w8a8", "int8-channel", "BF16", "BF16", "BF16"},
        {"hqq-2bit-16g", "hqq-2bit-16g", "BF16", "BF16", "BF16"},
        {"exl2-4.0", "exl2-3.867", "BF16", "exl2-6", "BF16"},
        {"exl3-2.5", "exl3-2.5", "BF16", "exl3-6", "BF16"},
        {"mlx-4bit", "mlx-4bit-64g", "mlx-4bit-64g", "mlx-4bit-64g", "BF16"},
        {"8da4w", "8da4w-g32", "int8-channel", "int8-channel", "F32"},
        {"int8", "int8-channel", "int8-channel", "int8-channel", "BF16"},
        {"int4-tensor", "int4-tensor", "int4-tensor", "int4-tensor", "BF16"},
        {"qnn-int4", "qnn-int4", "BF16", "qnn-int4", "BF16"},
        {"palette-4bit", "palette-4bit", "palette-4bit", "palette-4bit", "BF16"},
        {"2:4", "sparse24-16bit", "BF16", "BF16", "BF16"},
        {"16bit", "BF16", "BF16", "BF16", "BF16"},
        {"4bit", "raw-4bit", "raw-4bit", "raw-4bit", "BF16"},
    };
    const Model m = model::dense_model("llama", kLlama8B);
    for (const auto& r : rows) {
        INFO(r.recipe);
        CHECK(name_of(m, r.recipe, "blk.5.ffn_down.weight") == r.linear);
        CHECK(name_of(m, r.recipe, "token_embd.weight") == r.embedding);
        CHECK(name_of(m, r.recipe, "output.weight") == r.output);
        CHECK(name_of(m, r.recipe, "output_norm.weight") == r.norm);
    }
}

TEST_CASE("routers stay, and some recipes take the experts alone", "[quant]") {
    const Model m = model::dense_model("llama", {2, 4096, 14336, 32, 8, 128, 32000, false, false, 8});
    CHECK(name_of(m, "gptq", "blk.0.ffn_gate_inp.weight") == "BF16");
    CHECK(name_of(m, "mlx-4bit", "blk.0.ffn_gate_inp.weight") == "mlx-4bit-64g");
    CHECK(name_of(m, "gptq", "blk.0.ffn_down_exps.weight") == "gptq-4bit-128g");
    CHECK(name_of(m, "mxfp4-experts", "blk.0.ffn_down_exps.weight") == "mxfp4-pack");
    CHECK(name_of(m, "mxfp4-experts", "blk.0.attn_q.weight") == "BF16");
}

TEST_CASE("layers whose shape a kernel cannot take stay in 16 bits", "[quant]") {
    const Model m = model::dense_model("llama", {2, 576, 1536, 9, 3, 64, 49152, true});
    CHECK(name_of(m, "w4a16-g128", "blk.0.attn_q.weight") == "BF16");
    CHECK(name_of(m, "w4a16-g128", "blk.0.ffn_down.weight") == "w4a16-g128");
    CHECK(name_of(m, "exl3-4", "blk.0.attn_q.weight") == "BF16");
}

TEST_CASE("EXL2's bits a weight include its scales", "[quant]") {
    const Model m = model::dense_model("llama", kLlama8B);
    const auto formats = assign(parse_recipe("exl2-4.0"), m);
    double bytes = 0, values = 0;
    for (std::size_t i = 0; i < formats.size(); ++i)
        if (m.tensors[i].layer >= 0 && m.tensors[i].dims[1] > 1) {
            bytes += tensor_bytes(formats[i], m.tensors[i].dims).as_double();
            values += static_cast<double>(m.tensors[i].elements());
        }
    CHECK(bytes * 8 / values == Approx(4.0).margin(0.005));
}

TEST_CASE("the group size is an option of recipes with groups", "[quant]") {
    const Model m = model::dense_model("llama", kLlama8B);
    AssignOptions options;
    options.group_size = 32;
    CHECK(name_of(m, "gptq-4bit-128g", "blk.0.attn_q.weight", options) == "gptq-4bit-32g");
    CHECK(name_of(m, "mlx-4bit", "token_embd.weight", options) == "mlx-4bit-32g");
    for (const char* none : {"Q4_K_M", "fp8", "nvfp4", "as-stored"}) {
        INFO(none);
        CHECK_THROWS_WITH(assign(parse_recipe(none), m, options), Catch::Contains("--group-size"));
    }
    options = {};
    options.overrides = {parse_override("attn_v=int8-channel", "--set")};
    options.output = ggml("Q8_0");
    CHECK(name_of(m, "gptq", "blk.0.attn_v.weight", options) == "int8-channel");
    CHECK(name_of(m, "gptq", "output.weight", options) == "Q8_0");
    options.overrides = {parse_override("ffn_down=mlx-4bit-1024g", "--set")};
    CHECK(name_of(m, "gptq", "blk.0.ffn_down.weight", options) == "mlx-4bit-1024g");
    options.overrides = {parse_override("ffn_down=mlx-4bit-1000g", "--set")};
    CHECK_THROWS_AS(assign(parse_recipe("gptq"), m, options), Error);
}

TEST_CASE("as-stored gives what the file holds", "[quant]") {
    Model m = model::dense_model("llama", kLlama1B);
    CHECK_THROWS_WITH(assign(parse_recipe("as-stored"), m),
                      Catch::Contains("choose a recipe such as Q4_K_M"));
    const auto formats = assign(parse_recipe("Q4_K_M"), m);
    for (std::size_t i = 0; i < formats.size(); ++i) m.tensors[i].format = formats[i];
    m.tensors_from_file = true;
    CHECK(assign(parse_recipe("as-stored"), m) == formats);
    CHECK(weights_bytes(m, formats) == weights_bytes(m, assign(parse_recipe("stored"), m)));
    CHECK_THROWS_AS(weights_bytes(m, {}), Error);
}

TEST_CASE("recipes are found in any case, listed once each, and suggested when misspelt", "[quant]") {
    CHECK(parse_recipe("q4_k_m").name == "Q4_K_M");
    CHECK(parse_recipe("GPTQ-3BIT-64G").name == "gptq-3bit-64g");
    CHECK(parse_recipe("gptq-4bit-nogroup").name == "gptq-4bit-nogroup");
    CHECK(parse_recipe("exl2-4.25").name == "exl2-4.25");
    CHECK_THROWS_WITH(parse_recipe("Q4_K_N"),
                      Catch::StartsWith("--quant: unknown recipe 'Q4_K_N'; expected one like Q4_K_"));
    for (const char* bad : {"", "gptq-5bit-128g", "exl2-0.1", "int8-g0", "Q4_K_M ", "w3a16"}) {
        INFO(bad);
        CHECK_THROWS_AS(parse_recipe(bad), Error);
    }
    std::set<std::string> names;
    for (const RecipeInfo& info : recipes()) {
        INFO(info.name);
        CHECK(parse_recipe(info.name).name == info.name);
        CHECK(names.insert(info.name).second);
        CHECK_FALSE(info.description.empty());
        CHECK_FALSE(info.runtimes.empty());
    }
}
