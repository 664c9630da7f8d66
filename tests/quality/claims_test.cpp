// Popular claims that a plan can answer (QUALITY part c).
#include <cmath>

#include "core/quality/estimate.h"
#include "core/quality/scores.h"
#include "tests/catch.h"
#include "tests/quality/weighed.h"

using namespace memwall;
using namespace memwall::quality;
using test::weigh;

TEST_CASE("grouped 4 bits do not lose 3 to 8 points, nor 8 bits 1 to 3", "[quality]") {
    // c.2: 114 rows at 3.95 to 5.05 bits, median -1.15; c.1: 15 rows at 8 bits, median -0.4.
    const Lane pro = Lane::mmlu_pro_written;
    for (const char* recipe : {"Q4_K_M", "IQ4_XS", "gptq-4bit-128g", "awq-4bit-128g"})
        CHECK(quantized_band(pro, weigh("llama-3.1-8b", recipe).quality, {}).points <= 3);
    CHECK(quantized_band(pro, weigh("llama-3.1-8b", "Q8_0").quality, {}).points <= 1);
    const auto w = weigh("llama-3-8b", "Q4_K_M");
    const Estimate e = explain(w.model, w.quality, w.recipe, {});
    REQUIRE_FALSE(e.tasks.empty());  // MMLU 65.2 -> 64.6 of Llama-3-8B-Instruct
}

TEST_CASE("a mixture of experts is not taken as more robust", "[quality]") {
    // c.4: coefficient -0.09 with no gain; the same types of one class lose the same.
    const auto dense = weigh(test::unknown_model("qwen3-32b"), "Q4_K_M");
    const auto experts = weigh(test::unknown_model("qwen3-30b-a3b"), "Q4_K_M");
    REQUIRE(dense.quality.loss.known());
    REQUIRE(experts.quality.loss.known());
    CHECK(std::abs(std::log(dense.quality.loss.ln_ppl.central / experts.quality.loss.ln_ppl.central)) < 0.2);
}

TEST_CASE("Q8_0 and Q6_K are nearly lossless, but not quite", "[quality]") {
    // c.8: Q8_0 KLD 0.0004 to 0.0023 and 1.2 to 2.3 % other top tokens; Q6_K +0.1 to +0.65 %.
    const Loss q8 = weigh("llama-3-8b", "Q8_0").quality.loss,
               q6 = weigh(test::unknown_model("llama-3-8b"), "Q6_K").quality.loss;
    CHECK(q8.top1_disagreement.central > 0.01);
    CHECK(q8.top1_disagreement.central < 0.025);
    CHECK(q6.ln_ppl.high <= 0.0065);
}

TEST_CASE("one label does not mean one thing", "[quality]") {
    // c.9: Q4_K_M of Qwen3.5-9B, KLD 0.0087 to 0.0353 by uploader; and 0.5B models store 5.5 bits under it.
    const Loss nine = weigh("qwen3.5-9b", "Q4_K_M").quality.loss;
    CHECK(nine.status == Status::measured);
    CHECK(nine.flags & kOtherFile);
    CHECK(nine.kld.low < 0.0087);
    CHECK(nine.kld.high > 0.0353);
    const auto half = weigh("qwen2.5-0.5b", "Q4_K_M"), seven = weigh("qwen2.5-7b", "Q4_K_M");
    CHECK(half.quality.bits > seven.quality.bits + 0.5);
}

TEST_CASE("a perplexity below the unquantized one proves nothing", "[quality]") {
    // c.10: Qwen3-30B-A3B rows fall to -2.1 %; KLD shows the loss.
    const Loss l = weigh("qwen3-30b-a3b", "Q4_K_M").quality.loss;
    CHECK(l.status == Status::measured);
    CHECK(l.kld.central > 0.005);
    CHECK(l.top1_disagreement.central > 0.02);
}

TEST_CASE("a cache of 4 bits is not free and its halves are not alike", "[quality]") {
    const auto w = weigh("qwen3-30b-a3b", "Q4_K_M");  // c.11: +11 % with 4-bit keys, without rotation
    KvChoice keys, rotated, values;
    keys.keys = rotated.keys = KvClass::q4;
    rotated.rotation = true;
    values.values = KvClass::q4;
    const Loss k = combine(w.quality, keys), r = combine(w.quality, rotated), v = combine(w.quality, values);
    REQUIRE(k.known());  // measured on this very model
    CHECK(k.kld.central > 0.1);
    CHECK(r.kld.central < 0.1);
    CHECK(v.kld.central < k.kld.central);
    CHECK(combine(weigh("phi-4", "Q4_K_M").quality, keys).reason == Reason::kv_keys_unrotated);
}
