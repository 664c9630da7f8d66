#include "core/quality/weight_quality.h"

#include <cmath>
#include <random>

#include "core/quality/estimate.h"
#include "core/quality/fit.h"
#include "tests/catch.h"
#include "tests/quality/weighed.h"

using namespace memwall;
using namespace memwall::quality;
using test::unknown_model;
using test::weigh;

TEST_CASE("a row of the model itself is measured, with the published value", "[quality]") {
    // Llama-3-8B with importance matrix, from the table of llama.cpp's perplexity tool (QUALITY a.3).
    struct {
        const char* recipe;
        double percent;
    } const published[] = {{"Q4_K_M", 2.4}, {"IQ4_XS", 3.7}, {"IQ3_M", 10.7}, {"IQ3_XXS", 19.7}};
    for (const auto& row : published) {
        INFO(row.recipe);
        const auto w = weigh("llama-3-8b", row.recipe, Imatrix::with);
        CHECK(w.quality.loss.status == Status::measured);
        CHECK(std::abs(100 * std::expm1(w.quality.loss.ln_ppl.central) - row.percent) < 0.15);
        CHECK(w.quality.loss.flags & kOtherFile);
        CHECK_FALSE(w.quality.evidence.empty());
    }
    // KLD of Q8_0 there: 0.001355.
    CHECK(std::abs(weigh("llama-3-8b", "Q8_0").quality.loss.kld.central - 0.001355) < 1e-5);
}

TEST_CASE("a recipe between two rows of the model is interpolated more narrowly than estimated",
          "[quality]") {
    const auto w = weigh("llama-3-8b", "Q4_K_L");
    CHECK(w.quality.loss.status == Status::interpolated);
    CHECK(w.quality.evidence.size() == 2);
    const auto e = weigh(unknown_model("llama-3-8b"), "Q4_K_L");
    REQUIRE(e.quality.loss.status == Status::estimated);
    const auto width = [](const Loss& l) { return std::log(l.ln_ppl.high / l.ln_ppl.low); };
    CHECK(width(w.quality.loss) < width(e.quality.loss));
}

TEST_CASE("an unknown model gets the additive loss of its types", "[quality]") {
    const auto w = weigh(unknown_model("llama-3-8b"), "Q4_K_M", Imatrix::with);
    REQUIRE(w.quality.loss.status == Status::estimated);
    const FitBook& book = fit_book();
    double sum = 0, shares = 0;
    for (const TypeShare& t : w.quality.types) {
        shares += t.share;
        sum += t.share * book.types.at(quant::format_name(t.format));
    }
    CHECK(std::abs(shares - 1) < 1e-9);
    CHECK(std::abs(w.quality.loss.ln_ppl.central / (book.sensitive * sum) - 1) < 1e-9);
    // QUALITY a.3: the band of a sensitive 8B at Q4_K_M is 1.4 to 4.3 %.
    CHECK(w.quality.loss.ln_ppl.central > 0.014);
    CHECK(w.quality.loss.ln_ppl.central < 0.043);
    CHECK(w.quality.loss.flags & kMeasureMe);
}

TEST_CASE("without importance matrix more is lost, and not knowing covers both", "[quality]") {
    const auto with = weigh(unknown_model("llama-3-8b"), "Q4_K_M", Imatrix::with).quality.loss;
    const auto without = weigh(unknown_model("llama-3-8b"), "Q4_K_M", Imatrix::without).quality.loss;
    const auto unknown = weigh(unknown_model("llama-3-8b"), "Q4_K_M").quality.loss;
    CHECK(without.ln_ppl.central > with.ln_ppl.central);
    CHECK(unknown.ln_ppl.low <= with.ln_ppl.low * 1.000001);
    CHECK(unknown.ln_ppl.high >= without.ln_ppl.high * 0.999999);
}

TEST_CASE("an unlisted family is taken as sensitive and widened", "[quality]") {
    const auto known = weigh(unknown_model("llama-3-8b"), "Q4_K_M").quality.loss;
    auto model = unknown_model("llama-3-8b");
    model.architecture = "nobody";
    const auto other = weigh(std::move(model), "Q4_K_M").quality.loss;
    CHECK(other.flags & kNewFamily);
    CHECK(other.ln_ppl.central == known.ln_ppl.central);
    CHECK(other.ln_ppl.high > known.ln_ppl.high);
}

TEST_CASE("nothing quantized loses nothing, also in the format it was trained in", "[quality]") {
    for (const auto& [id, recipe] : {std::pair{"qwen3-0.6b", "BF16"}, std::pair{"gpt-oss-20b", "MXFP4_MOE"},
                                     std::pair{"gpt-oss-20b", "mxfp4-experts"}}) {
        const auto w = weigh(id, recipe);
        INFO(id << " " << recipe);
        CHECK(w.quality.loss.status == Status::measured);
        CHECK(w.quality.loss.ln_ppl.central == 0);
        CHECK(w.quality.loss.top1_disagreement.high < 0.01);
    }
}

TEST_CASE("bands are ordered, whatever the model, recipe and cache", "[quality]") {
    const char* models[] = {"llama-3-8b",       "qwen2.5-7b",    "gemma-3-4b",
                            "deepseek-v2-lite", "qwen3-30b-a3b", "falcon-h1-3b",
                            "llama-2-7b",       "gpt-oss-20b",   "phi-4"};
    const char* recipes[] = {"Q8_0",  "Q6_K",           "Q5_K_M",   "Q4_K_M", "Q4_0",          "IQ3_M",
                             "IQ2_M", "gptq-4bit-128g", "mlx-4bit", "nvfp4",  "awq-4bit-128g", "fp8-block128",
                             "BF16"};
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (const char* model : models)
        for (int i = 0; i < 6; ++i) {
            const char* recipe = recipes[random() % std::size(recipes)];
            const auto w = weigh(model, recipe);
            KvChoice c;
            c.keys = static_cast<KvClass>(random() % kKvClasses);
            c.values = static_cast<KvClass>(random() % kKvClasses);
            c.rotation = random() % 2;
            c.context = 1 << (9 + random() % 9);
            const Loss l = combine(w.quality, c);
            INFO(model << " " << recipe << " " << int(c.keys) << "/" << int(c.values) << " " << c.context);
            if (!l.known()) {
                CHECK(l.reason != Reason::none);
                CHECK(l.kld.high == 0);
                continue;
            }
            for (const Band& b : {l.ln_ppl, l.kld, l.top1_disagreement}) {
                CHECK(b.low <= b.central);
                CHECK(b.central <= b.high);
            }
            CHECK(l.top1_disagreement.high <= 1);
            CHECK(l.ln_ppl_high95 >= l.ln_ppl.high * 0.999);
            CHECK(l.status >= w.quality.loss.status);
            const Loss plain = combine(w.quality, {});
            CHECK(l.kld.high >= plain.kld.high);
            CHECK(l.kld.central >= plain.kld.central);
        }
}

TEST_CASE("fewer bits never look better on an unknown model", "[quality]") {
    const char* ladder[] = {"Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q3_K_M"};
    for (const char* shape : {"llama-3-8b", "llama-2-13b", "qwen3-30b-a3b", "phi-4"}) {
        double last = 0;
        for (const char* recipe : ladder) {
            INFO(shape << " " << recipe);
            const Loss l = weigh(unknown_model(shape), recipe).quality.loss;
            REQUIRE(l.known());
            CHECK(l.ln_ppl.central > last);
            last = l.ln_ppl.central;
        }
    }
}

TEST_CASE("top-1 disagreement follows the published examples", "[quality]") {
    // QUALITY a.5: KLD 0.001 -> 1.8 %, 0.01 -> 4.8 %, 0.03 -> 7.6 %, 0.1 -> 13 %, 0.5 -> 25 %
    for (const auto& [kld, share] : {std::pair{0.001, 0.018}, std::pair{0.01, 0.048}, std::pair{0.03, 0.076},
                                     std::pair{0.1, 0.13}, std::pair{0.5, 0.25}})
        CHECK(std::abs(top1_from_kld(kld) / share - 1) < 0.03);
    CHECK(one_token_in(0.0763) == "one token in 13");
    CHECK(one_token_in(0.5) == "one token in 2");
}

TEST_CASE("an answer names its nearest rows, and claims no task", "[quality]") {
    const auto w = weigh("qwen2.5-7b", "Q4_K_M");
    const Estimate e = explain(w.model, w.quality, w.recipe, {});
    REQUIRE(e.evidence.size() >= 1);
    CHECK(e.evidence.size() <= 3);
    CHECK(e.evidence.front().distance.find("same model") == 0);
    CHECK(e.evidence.front().source.find("http") == 0);
    CHECK(e.not_claimed.front().find("task scores") == 0);
    CHECK(e.tasks.empty());
    // Llama-3-8B has an MMLU row for Q4_K_M; it stands beside, the loss does not come from it.
    const auto l = weigh("llama-3-8b", "Q4_K_M");
    const Estimate with_task = explain(l.model, l.quality, l.recipe, {});
    REQUIRE_FALSE(with_task.tasks.empty());
    CHECK(with_task.tasks.front().says.find("MMLU") == 0);
    CHECK(with_task.not_claimed.front() == "task scores other than the rows shown");
}

TEST_CASE("losses order configurations of one model only", "[quality]") {
    const Loss q8 = weigh("llama-3-8b", "Q8_0").quality.loss,
               q3 = weigh("llama-3-8b", "IQ3_XXS").quality.loss;
    CHECK(compare_losses("llama-3-8b", q8, "llama-3-8b", q3) == Order::better);
    CHECK(compare_losses("llama-3-8b", q3, "llama-3-8b", q8) == Order::worse);
    CHECK(compare_losses("llama-3-8b", q8, "llama-3-8b", q8) == Order::not_distinguishable);
    CHECK(compare_losses("llama-3-8b", q8, "llama-3-70b", q3) == Order::not_comparable);
}
