// Quality as part of a plan: the terms of evaluate(), the ledger, and what the screen says.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/plan/explain.h"
#include "core/quality/estimate.h"
#include "core/view/quality_view.h"
#include "tests/catch.h"
#include "tests/plan/planned.h"

using namespace memwall;
using quality::Reason;
using quality::Status;
using test::make_test_plan;
using test::TestPlan;

TEST_CASE("a plan carries the loss of its recipe and its cache", "[quality][plan]") {
    const char* pi = "raspberry-pi-5:8GiB";
    const auto plain = make_test_plan("phi-4", pi, {{"quant", "Q4_K_M"}});
    CHECK(plain.plan.loss.status == Status::estimated);
    const auto q8 = make_test_plan("phi-4", pi, {{"quant", "Q4_K_M"}, {"kv", "q8_0"}});
    CHECK(q8.plan.loss.kld.central > plain.plan.loss.kld.central);
    const auto keys = make_test_plan("phi-4", pi, {{"quant", "Q4_K_M"}, {"kv", "q4_0"}});
    CHECK(keys.plan.loss.known());  // llama.cpp rotates heads of a multiple of 64 before it quantizes them
    CHECK(keys.plan.loss.kld.central > q8.plan.loss.kld.central);
    const auto odd =
        make_test_plan("phi-3-mini-4k", pi, {{"quant", "Q4_K_M"}, {"kv", "q4_0"}});  // heads of 96
    CHECK(odd.plan.loss.reason == Reason::kv_keys_unrotated);
    const auto values = make_test_plan("phi-4", pi, {{"quant", "Q4_K_M"}, {"kv-v", "q4_0"}});
    CHECK(values.plan.loss.known());
    const auto window = make_test_plan("phi-4", pi, {{"quant", "Q4_K_M"}, {"window", "1024"}});
    CHECK(window.plan.loss.reason == Reason::window_without_sinks);
    const auto sinks = make_test_plan("phi-4", pi, {{"quant", "Q4_K_M"}, {"window", "1024"}, {"sinks", "4"}});
    CHECK(sinks.plan.loss.flags & quality::kWindowForgets);
    const auto far = make_test_plan("phi-4", pi, {{"quant", "Q4_K_M"}, {"context", "16384"}});
    CHECK(far.plan.loss.flags & quality::kContextBeyond);
}

TEST_CASE("a quantized cache on 16-bit weights is not spoken of as nothing quantized", "[quality][plan]") {
    const auto basis = [](const TestPlan& t) {
        return quality::explain(t.prepared.model, t.prepared.quality, t.prepared.recipe_info,
                                plan::kv_choice(t.prepared, t.knobs))
            .basis;
    };
    const auto whole = make_test_plan("qwen2.5-7b", "apple-m4:32GiB", {{"quant", "F16"}});
    CHECK_THAT(basis(whole), Catch::Contains("nothing is quantized"));
    CHECK(whole.plan.loss.flags & quality::kBelowNoise);
    for (const auto& [runtime, kv] : {std::pair{"llama.cpp", "q8_0"}, {"vllm", "fp8"}}) {
        INFO(runtime << " " << kv);
        const auto t =
            make_test_plan("qwen2.5-7b", "rtx-4090", {{"quant", "F16"}, {"runtime", runtime}, {"kv", kv}});
        REQUIRE(t.plan.loss.known());
        CHECK(t.plan.loss.kld.high > 0.01);
        CHECK_THAT(basis(t), Catch::Contains("cache alone"));
        CHECK_FALSE(t.plan.loss.flags & quality::kBelowNoise);
    }
}

TEST_CASE("a latent cache has no values, a model without attention no cache", "[quality][plan]") {
    const auto latent = make_test_plan("deepseek-v2-lite", "apple-m4:32GiB", {{"quant", "Q4_K_M"}});
    CHECK(plan::kv_choice(latent.prepared, latent.knobs).values == quality::KvClass::full);
    plan::Knobs knobs = latent.knobs;
    knobs.kv_k = knobs.kv_v = quant::parse_kv_type("q8_0").value();
    CHECK(plan::kv_choice(latent.prepared, knobs).keys == quality::KvClass::q8);
    CHECK(plan::kv_choice(latent.prepared, knobs).values == quality::KvClass::full);
    const auto mamba = make_test_plan("falcon-mamba-7b", "apple-m4:32GiB", {{"quant", "Q8_0"}});
    knobs = mamba.knobs;
    knobs.kv_k = knobs.kv_v = quant::parse_kv_type("q4_0").value();
    CHECK(plan::kv_choice(mamba.prepared, knobs).keys == quality::KvClass::full);
}

TEST_CASE("cache types are told apart by their bytes", "[quality]") {
    using quality::KvClass;
    const std::pair<const char*, KvClass> types[] = {
        {"f32", KvClass::full},         {"f16", KvClass::full},  {"bf16", KvClass::full},
        {"fp8", KvClass::fp8},          {"q8_0", KvClass::q8},   {"q5_1", KvClass::q5},
        {"q5_0", KvClass::q5},          {"q4_1", KvClass::q4},   {"q4_0", KvClass::q4},
        {"iq4_nl", KvClass::q4},        {"int8", KvClass::int8}, {"int4", KvClass::int4},
        {"int8-channel", KvClass::int8}};
    CHECK(std::size(types) == quant::kv_types().size());
    for (const auto& [name, type] : types) {
        INFO(name);
        CHECK(quality::kv_class(quant::parse_kv_type(name).value()) == type);
    }
}

TEST_CASE("--evidence reaches the plan", "[quality][plan]") {
    const std::string path = (std::filesystem::temp_directory_path() / "memwall-plan-evidence.yaml").string();
    std::ofstream(path) << "schema: memwall/quality-evidence/1\nid: phi-4\nsources: [here]\ntables:\n"
                           "- head: {model: phi-4, metric: ppl own text, baseline: 5, source: 0}\n"
                           "  rows: |\n    mine - ? 5.1 Q4_K_M\n";
    const auto t = make_test_plan("phi-4", "raspberry-pi-5:8GiB", {{"quant", "Q4_K_M"}, {"evidence", path}});
    std::filesystem::remove(path);
    CHECK(t.plan.loss.status == Status::measured);
    CHECK(t.plan.loss.flags & quality::kUserRow);
    CHECK(std::abs(t.plan.loss.ln_ppl.central - std::log(1.02)) < 1e-12);
    CHECK_THROWS_AS(make_test_plan("phi-4", "raspberry-pi-5:8GiB", {{"evidence", "no-such-file.yaml"}}),
                    Error);
}

TEST_CASE("the ledger has a chapter on quality with evidence and sources", "[quality][plan]") {
    const auto t = make_test_plan("qwen2.5-7b", "raspberry-pi-5:8GiB", {{"quant", "Q4_K_M"}});
    const LedgerItem root = plan::explain(t.prepared, t.knobs, t.target, t.plan);
    const LedgerItem* item = plan::find_item(root, "quality");
    REQUIRE(item);
    CHECK(item->value.central == t.plan.loss.ln_ppl.central);
    const LedgerItem* rows = plan::find_item(*item, "evidence");
    REQUIRE(rows);
    CHECK(rows->inputs.size() >= 1);
    CHECK(rows->inputs.front().source.find("https://") != std::string::npos);
    CHECK(std::any_of(item->inputs.begin(), item->inputs.end(),
                      [](const LedgerInput& i) { return i.name == "not claimed"; }));
}

TEST_CASE("the screen speaks of tokens, with two digits and a band", "[quality]") {
    quality::Loss loss;
    loss.status = Status::estimated;
    loss.flags = quality::kMeasureMe;
    loss.ln_ppl = {0.0159, 0.02437, 0.0372};
    loss.top1_disagreement = {0.045, 0.0763, 0.18};
    const view::QualityBlock block = view::quality_block(loss);
    REQUIRE(block.lines.size() == 2);
    CHECK(block.heading == "Quality (estimated, 80 % band)");
    CHECK(block.lines[0] == "about one token in 13 would have been another one (1 in 22 to 1 in 6)");
    CHECK(block.lines[1] == "perplexity up by 2.5 % (1.6 % to 3.8 %)");
    CHECK_FALSE(block.note.empty());

    loss = {};
    loss.reason = Reason::low_bits;
    const view::QualityBlock refused = view::quality_block(loss);
    CHECK(refused.lines.empty());
    CHECK(refused.note == quality::reason_text(Reason::low_bits));
}
