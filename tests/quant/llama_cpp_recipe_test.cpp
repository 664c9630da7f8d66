#include <chrono>
#include <map>

#include "core/base/error.h"
#include "core/model/catalog.h"
#include "core/quant/recipe.h"
#include "tests/catch.h"
#include "tests/quant/dense_model.h"

using namespace memwall;
using namespace memwall::quant;
using model::DenseShape;
using model::Model;

namespace {

const DenseShape kLlama8B{32, 4096, 14336, 32, 8, 128, 128256};
const DenseShape kQwenHalfB{24, 896, 4864, 14, 2, 64, 151936, true, true};
const DenseShape kMixtral{32, 4096, 14336, 32, 8, 128, 32000, false, false, 8};

Format format_of(const Model& m, std::string_view recipe, std::string_view tensor,
                 AssignOptions options = {}) {
    const auto formats = assign(parse_recipe(recipe), m, options);
    for (std::size_t i = 0; i < formats.size(); ++i)
        if (m.tensors[i].name == tensor) return formats[i];
    FAIL("no tensor " << tensor);
    return {};
}

std::string name_of(const Model& m, std::string_view recipe, std::string_view tensor,
                    AssignOptions options = {}) {
    return format_name(format_of(m, recipe, tensor, std::move(options)));
}

}  // namespace

TEST_CASE("bits per weight of Llama-3.1-8B equal the published table", "[quant]") {
    // llama.cpp tools/quantize/README; made with an importance matrix except for the two IQ4 types.
    const std::map<std::string, double> published{
        {"IQ1_S", 2.0042},  {"IQ1_M", 2.1460},   {"IQ2_XXS", 2.3824}, {"IQ2_XS", 2.5882}, {"IQ2_S", 2.7403},
        {"IQ2_M", 2.9294},  {"IQ3_XXS", 3.2548}, {"IQ3_XS", 3.4977},  {"IQ3_S", 3.6606},  {"IQ3_M", 3.7628},
        {"IQ4_XS", 4.4597}, {"IQ4_NL", 4.6818},  {"Q2_K_S", 2.9697},  {"Q2_K", 3.1593},   {"Q3_K_S", 3.6429},
        {"Q3_K_M", 3.9960}, {"Q3_K_L", 4.2979},  {"Q4_K_S", 4.6672},  {"Q4_K_M", 4.8944}, {"Q5_K_S", 5.5704},
        {"Q5_K_M", 5.7036}, {"Q6_K", 6.5633},    {"Q8_0", 8.5008},    {"F16", 16.0005}};
    Model m = model::dense_model("llama", kLlama8B);
    m.rope_factors = 64;
    model::generate_tensors(m);
    for (const auto& [name, bits] : published) {
        INFO(name);
        AssignOptions options;
        options.imatrix = !name.starts_with("IQ4");
        CHECK(bits_per_weight(m, assign(parse_recipe(name), m, options)) == Approx(bits).margin(5.1e-5));
    }
    AssignOptions with_imatrix;
    with_imatrix.imatrix = true;
    CHECK(bits_per_weight(m, assign(parse_recipe("IQ4_XS"), m, with_imatrix)) ==
          Approx(4.4231).margin(5.1e-5));
    CHECK(bits_per_weight(m, assign(parse_recipe("IQ4_NL"), m, with_imatrix)) ==
          Approx(4.6526).margin(5.1e-5));
}

TEST_CASE("rows of 896 values fall back to 32-wide types", "[quant]") {
    const Model m = model::dense_model("qwen2", kQwenHalfB);
    const double mib = weights_bytes(m, assign(parse_recipe("Q4_K_M"), m)).as_double() / kMiB;
    CHECK(mib == Approx(373.7).margin(0.1));
    // Bits a weight of the layers alone, where next to nothing keeps its nominal type.
    const std::map<std::string, double> layer_bits{
        {"Q4_K_M", 5.52}, {"Q6_K", 7.93}, {"Q2_K", 4.20}, {"IQ2_XXS", 3.82}};
    for (const auto& [name, bits] : layer_bits) {
        INFO(name);
        const auto formats = assign(parse_recipe(name), m);
        double bytes = 0, values = 0;
        for (std::size_t i = 0; i < formats.size(); ++i) {
            const model::Tensor& t = m.tensors[i];
            if (t.layer < 0 || t.dims[1] == 1) continue;
            bytes += tensor_bytes(formats[i], t.dims).as_double();
            values += static_cast<double>(t.elements());
        }
        CHECK(bytes * 8 / values == Approx(bits).margin(0.006));
    }
    CHECK(name_of(m, "Q4_K_M", "blk.0.attn_q.weight") == "Q5_0");
    CHECK(name_of(m, "Q4_K_M", "blk.0.attn_v.weight") == "Q8_0");
    CHECK(name_of(m, "Q4_K_M", "token_embd.weight") == "Q8_0");
    CHECK(name_of(m, "IQ3_XS", "blk.0.attn_q.weight") == "IQ4_NL");
}

TEST_CASE("eight experts give attention more bits", "[quant]") {
    const Model m = model::dense_model("llama", kMixtral);
    const std::map<std::string, double> gib{
        {"Q4_K_M", 26.49}, {"Q4_K_S", 24.91}, {"Q3_K_M", 21.00}, {"Q2_K", 16.12}, {"IQ2_XXS", 11.69}};
    for (const auto& [name, size] : gib) {
        INFO(name);
        CHECK(weights_bytes(m, assign(parse_recipe(name), m)).as_double() / kGiB ==
              Approx(size).margin(0.0051));
    }
    CHECK(name_of(m, "Q4_K_M", "blk.0.attn_v.weight") == "Q8_0");
    CHECK(name_of(m, "Q4_K_M", "blk.0.attn_k.weight") == "Q8_0");
    CHECK(name_of(m, "Q4_K_M", "blk.0.attn_output.weight") == "Q5_K");
    CHECK(name_of(m, "Q3_K_L", "blk.0.attn_output.weight") == "Q3_K");
    CHECK(name_of(m, "Q4_K_M", "blk.0.ffn_gate_inp.weight") == "F32");
}

TEST_CASE("use_more_bits takes the first and last eighth and every third between", "[quant]") {
    const Model m = model::dense_model("llama", kLlama8B);
    for (int i = 0; i < 32; ++i) {
        const bool more = i < 4 || i >= 28 || (i - 4) % 3 == 2;
        CHECK(name_of(m, "Q4_K_M", "blk." + std::to_string(i) + ".ffn_down.weight") ==
              (more ? "Q6_K" : "Q4_K"));
    }
}

TEST_CASE("the rule asks for labels, architecture, ties and the importance matrix", "[quant]") {
    const Model llama70 = model::dense_model("llama", {80, 8192, 28672, 64, 8, 128, 128256});
    const Model other80 = model::dense_model("internlm2", {80, 8192, 28672, 64, 8, 128, 128256});
    CHECK(name_of(llama70, "Q4_K_M", "blk.20.attn_v.weight") == "Q5_K");
    CHECK(name_of(other80, "Q4_K_M", "blk.20.attn_v.weight") == "Q4_K");
    CHECK(name_of(llama70, "IQ2_XS", "blk.20.attn_v.weight") == "Q4_K");  // not in the low-bit branch

    const Model falcon = model::dense_model("falcon", kLlama8B);
    CHECK(name_of(falcon, "Q4_K_M", "output.weight") == "Q8_0");
    CHECK(name_of(falcon, "Q4_K_M", "blk.2.ffn_down.weight") == "Q5_K");
    CHECK(name_of(falcon, "Q3_K_L", "blk.2.attn_output.weight") == "Q4_K");

    const Model m = model::dense_model("llama", kLlama8B);
    CHECK(name_of(m, "Q4_0", "output.weight") == "Q6_K");
    CHECK(name_of(m, "Q4_0", "token_embd.weight") == "Q4_0");
    CHECK(name_of(m, "IQ2_M", "output.weight") == "Q5_K");
    CHECK(name_of(m, "IQ2_M", "token_embd.weight") == "IQ3_S");
    CHECK(name_of(m, "TQ2_0", "token_embd.weight") == "Q4_K");
    CHECK(name_of(m, "Q4_K_M", "blk.0.attn_norm.weight") == "F32");
    DenseShape tied = kLlama8B;
    tied.tied = true;
    CHECK(name_of(model::dense_model("llama", tied), "Q4_0", "token_embd.weight") == "Q6_K");

    AssignOptions imatrix, no_imatrix;
    imatrix.imatrix = true;
    no_imatrix.imatrix = false;
    CHECK(name_of(m, "Q4_0", "blk.0.ffn_down.weight", imatrix) == "Q4_1");
    CHECK(name_of(m, "Q4_0", "blk.4.ffn_down.weight", imatrix) == "Q4_0");
    CHECK(name_of(m, "Q4_0", "blk.0.ffn_down.weight", no_imatrix) == "Q4_0");
    CHECK(name_of(m, "IQ3_XXS", "blk.0.ffn_down.weight", no_imatrix) == "Q4_K");
    CHECK(name_of(m, "IQ3_XXS", "blk.9.ffn_down.weight", no_imatrix) == "Q3_K");
}

TEST_CASE("MXFP4_MOE takes the experts, Q8_0 the rest", "[quant]") {
    const Model m = model::dense_model("gpt-oss", {24, 2880, 2880, 64, 8, 64, 201088, false, true, 32});
    CHECK(name_of(m, "MXFP4_MOE", "blk.3.ffn_up_exps.weight") == "MXFP4");
    CHECK(name_of(m, "MXFP4_MOE", "blk.3.attn_q.weight") == "Q8_0");
    CHECK(name_of(m, "MXFP4_MOE", "token_embd.weight") == "Q8_0");
    CHECK(name_of(m, "MXFP4_MOE", "blk.3.ffn_gate_inp.weight") == "F32");
}

// https://huggingface.co/unsloth/gpt-oss-120b-GGUF, GiB as listed; headers are about 0.02 GiB.
TEST_CASE("gpt-oss files of every label keep the experts they were trained with", "[quant]") {
    const Model m = model::load_catalog_model("gpt-oss-120b").value();
    const std::pair<const char*, double> published[] = {{"F16", 60.88},    {"Q8_0", 59.03},   {"Q6_K", 58.94},
                                                        {"Q5_K_M", 58.57}, {"Q4_K_M", 58.46}, {"Q4_0", 58.32},
                                                        {"Q3_K_M", 58.33}, {"Q2_K", 58.27}};
    for (const auto& [name, size] : published) {
        const auto formats = assign(parse_recipe(name), m);
        const double gib = weights_bytes(m, formats).as_double() / (1 << 30);
        INFO(name << " " << gib << " published " << size);
        CHECK(gib < size);
        CHECK(gib > size - 0.12);
        CHECK(name_of(m, name, "blk.3.ffn_down_exps.weight") == "MXFP4");
    }
    AssignOptions asked;  // llama-quantize --allow-requantize --tensor-type
    asked.overrides = {parse_override("ffn_down_exps=Q8_0", "--set")};
    CHECK(name_of(m, "Q4_K_M", "blk.3.ffn_down_exps.weight", asked) == "Q8_0");

    // A fine-tune whose file holds BF16 experts is quantized like any other mixture.
    Model tuned = m;
    for (model::Tensor& t : tuned.tensors) t.format = ggml("BF16");
    CHECK(name_of(tuned, "Q8_0", "blk.3.ffn_down_exps.weight") == "Q8_0");
}

TEST_CASE("large variants keep both ends in Q8_0", "[quant]") {
    const Model m = model::dense_model("llama", kLlama8B);
    for (const auto& [large, base] :
         {std::pair{"Q4_K_L", "Q4_K_M"}, {"Q3_K_XL", "Q3_K_L"}, {"Q6_K_L", "Q6_K"}}) {
        INFO(large);
        CHECK(name_of(m, large, "output.weight") == "Q8_0");
        CHECK(name_of(m, large, "token_embd.weight") == "Q8_0");
        CHECK(format_of(m, large, "blk.0.ffn_down.weight") == format_of(m, base, "blk.0.ffn_down.weight"));
    }
}

TEST_CASE("overrides and options of the quantizer", "[quant]") {
    const Model m = model::dense_model("llama", kLlama8B);
    AssignOptions options;
    options.overrides = {parse_override("blk\\.[0-3]\\.ffn_down=Q6_K", "--set"),
                         parse_override("ffn_down=q5_0", "--set"), parse_override("norm=Q8_0", "--set")};
    CHECK(name_of(m, "Q4_K_S", "blk.3.ffn_down.weight", options) == "Q6_K");
    CHECK(name_of(m, "Q4_K_S", "blk.4.ffn_down.weight", options) == "Q5_0");
    CHECK(name_of(m, "Q4_K_S", "blk.4.attn_norm.weight", options) == "F32");  // vectors are never quantized
    options = {};
    options.output = ggml("F16");
    options.embedding = ggml("Q8_0");
    CHECK(name_of(m, "Q4_K_M", "output.weight", options) == "F16");
    CHECK(name_of(m, "Q4_K_M", "token_embd.weight", options) == "Q8_0");
    // The engine does not count tensors whose type is given, so the places of the others shift.
    options = {};
    options.overrides = {parse_override("blk.0.attn_v=Q8_0", "--set")};
    CHECK(name_of(m, "Q4_K_S", "blk.4.attn_v.weight", options) == "Q5_K");
    CHECK(name_of(m, "Q4_K_S", "blk.4.attn_v.weight") == "Q4_K");
    for (const char* bad : {"", "=Q8_0", "attn_v", "attn_v=Q9", "blk[=Q8_0"}) {
        INFO(bad);
        CHECK_THROWS_AS(parse_override(bad, "--set"), Error);
    }
}

TEST_CASE("the order of tensors in a file does not change the choice", "[quant]") {
    Model m = model::dense_model("llama", kLlama8B);
    const auto formats = assign(parse_recipe("Q3_K_M"), m);
    std::map<std::string, Format> by_name;
    for (std::size_t i = 0; i < formats.size(); ++i) by_name[m.tensors[i].name] = formats[i];
    std::sort(m.tensors.begin(), m.tensors.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    const auto shuffled = assign(parse_recipe("Q3_K_M"), m);
    for (std::size_t i = 0; i < shuffled.size(); ++i) CHECK(by_name[m.tensors[i].name] == shuffled[i]);
}

TEST_CASE("a descriptor is cut to what a GGUF holds, a file is not", "[quant]") {
    Model m = model::dense_model("llama", {2, 256, 512, 4, 4, 64, 1000});
    m.gguf_vocabulary = 900;
    m.prediction_layers.push_back(m.layers.front());
    m.prediction_in_gguf = false;
    model::generate_tensors(m);
    Model gguf = m, torch = m, file = m;
    file.tensors_from_file = true;
    shape_for_recipe(parse_recipe("Q8_0"), gguf);
    shape_for_recipe(parse_recipe("gptq"), torch);
    shape_for_recipe(parse_recipe("Q8_0"), file);
    CHECK(gguf.tensors.front().dims[1] == 900);
    CHECK(gguf.tensors.back().layer == 1);
    for (const Model& kept : {torch, file}) {
        CHECK(kept.tensors.front().dims[1] == 1000);
        CHECK(kept.tensors.back().layer == 2);
    }
}

TEST_CASE("assigning a thousand tensors takes well under a millisecond", "[quant]") {
    const Model m = model::dense_model("llama", {126, 16384, 53248, 128, 8, 128, 128256});
    REQUIRE(m.tensors.size() > 1000);
    const Recipe recipe = parse_recipe("Q4_K_M");
    double best = 1;
    for (int i = 0; i < 20; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const auto formats = assign(recipe, m);
        best =
            std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        REQUIRE(formats.size() == m.tensors.size());
    }
    INFO("best of 20: " << best * 1e6 << " us");
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
    CHECK(best < 0.5e-3);
#endif
}
