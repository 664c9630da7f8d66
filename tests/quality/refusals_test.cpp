// Every trigger of QUALITY a.9 refuses; a context beyond the measured one widens and flags instead.
#include <algorithm>

#include "core/quality/estimate.h"
#include "core/quality/scores.h"
#include "tests/catch.h"
#include "tests/quality/weighed.h"

using namespace memwall;
using namespace memwall::quality;
using test::unknown_model;
using test::weigh;

namespace {

void check_refused(const test::Weighed& w, Reason reason) {
    INFO(w.model.id << " " << w.recipe.name << ": " << reason_code(w.quality.loss.reason));
    CHECK(w.quality.loss.status == Status::refused);
    CHECK(w.quality.loss.reason == reason);
    CHECK_FALSE(combine(w.quality, {}).known());
    // A refusal is still useful: it says why.
    CHECK(reason_text(reason).size() > 20);
}

Loss cached(const test::Weighed& w, KvClass keys, KvClass values, bool rotation = false) {
    KvChoice c;
    c.keys = keys;
    c.values = values;
    c.rotation = rotation;
    return combine(w.quality, c);
}

}  // namespace

TEST_CASE("a body below 3 bits is refused without rows of the model", "[quality]") {
    for (const char* recipe : {"Q2_K", "IQ2_M", "IQ1_S", "Q2_K_S"})
        check_refused(weigh(unknown_model("llama-3-8b"), recipe), Reason::low_bits);
    check_refused(weigh("phi-4", "Q2_K"), Reason::low_bits);
    check_refused(weigh("llama-3.1-8b", "gptq-3bit-128g"), Reason::low_bits);
    CHECK(weigh("llama-3-8b", "Q2_K").quality.loss.status == Status::measured);
}

TEST_CASE("an i-quant of 3.1 bits or less without importance matrix is refused", "[quality]") {
    check_refused(weigh(unknown_model("llama-3-8b"), "IQ3_XXS", Imatrix::without),
                  Reason::iquant_without_imatrix);
    CHECK(weigh(unknown_model("llama-3-8b"), "IQ3_XXS", Imatrix::with).quality.loss.known());
    CHECK(weigh(unknown_model("llama-3-8b"), "IQ4_XS", Imatrix::without).quality.loss.known());
}

TEST_CASE("a recorded cliff is refused", "[quality]") {
    check_refused(weigh("qwen2.5-3b", "Q3_K_M"), Reason::recorded_cliff);
    check_refused(weigh(unknown_model("qwen2.5-3b"), "Q3_K_L"), Reason::recorded_cliff);
    CHECK(weigh("qwen2.5-14b", "Q3_K_M").quality.loss.known());
    CHECK(weigh("qwen2.5-3b", "IQ3_M").quality.loss.known());
}

TEST_CASE("small models are refused", "[quality]") {
    check_refused(weigh("qwen3-0.6b", "Q4_K_M"), Reason::small_model);
    check_refused(weigh("smollm2-360m", "Q8_0"), Reason::small_model);
    check_refused(weigh("llama-3.2-1b", "Q3_K_M"), Reason::small_model);
    check_refused(weigh("qwen3-1.7b", "gptq-4bit-128g"), Reason::small_model);
    check_refused(weigh("llama-3.2-1b", "8da4w"), Reason::small_model);
    CHECK(weigh("qwen3-1.7b", "Q4_K_M").quality.loss.known());
    CHECK(weigh("qwen2.5-0.5b", "Q4_K_M").quality.loss.status == Status::measured);
}

TEST_CASE("models trained in few bits are refused in any other", "[quality]") {
    check_refused(weigh("gpt-oss-20b", "Q4_K_M"), Reason::trained_quantized);
    check_refused(weigh("deepseek-v3", "Q4_K_M"), Reason::trained_quantized);
    check_refused(weigh(unknown_model("gemma-3-27b", "gemma-3-27b-it-qat"), "IQ4_XS"),
                  Reason::trained_quantized);
    CHECK(weigh(unknown_model("gemma-3-27b", "gemma-3-27b-it"), "IQ4_XS").quality.loss.known());
}

TEST_CASE("activations below 8 bits and 4 bits with one scale a channel are refused", "[quality]") {
    RecipeInfo w4a4;
    w4a4.activation_bits = 4;
    check_refused(weigh(unknown_model("llama-3-8b"), "gptq-4bit-128g", Imatrix::unknown, w4a4),
                  Reason::low_bit_activations);
    check_refused(weigh("llama-3-70b", "int4-channel"), Reason::int4_per_channel);
    check_refused(weigh("qwen3-8b", "qnn-int4"), Reason::int4_per_channel);
    check_refused(weigh("qwen3-8b", "gptq-4bit-nogroup"), Reason::int4_per_channel);
    CHECK(weigh("qwen3-8b", "int8-channel").quality.loss.known());
}

TEST_CASE("a cache below 8 bits is refused on fragile families", "[quality]") {
    // Large key biases, sinks, hybrids, small models.
    for (const auto& [id, recipe] : {std::pair{"qwen2.5-7b", "Q8_0"}, std::pair{"gpt-oss-20b", "MXFP4_MOE"},
                                     std::pair{"falcon-h1-7b", "Q8_0"}, std::pair{"qwen3.5-9b", "Q8_0"},
                                     std::pair{"smollm2-360m", "BF16"}}) {
        const auto w = weigh(id, recipe);
        INFO(id);
        REQUIRE(w.quality.loss.known());
        for (const KvClass type : {KvClass::q4, KvClass::q5}) {
            const Loss l = cached(w, type, type, true);
            CHECK(l.reason == Reason::kv_fragile_family);
            CHECK_FALSE(l.known());
        }
        const Loss eight = cached(w, KvClass::q8, KvClass::q8);
        CHECK(eight.known());
        CHECK(eight.flags & kKvFragile);
    }
}

TEST_CASE("a cache measured on the model itself is shown, collapse and all", "[quality]") {
    // Qwen3-0.6B with rotated 4-bit keys and values: perplexity 13.5 to 47.8.
    const Loss l = cached(weigh("qwen3-0.6b", "BF16"), KvClass::q4, KvClass::q4, true);
    REQUIRE(l.known());
    CHECK(l.kld.central > 1);
    CHECK(l.top1_disagreement.central > 0.3);
}

TEST_CASE("keys of 4 bits need a rotation, values do not", "[quality]") {
    const auto w = weigh("llama-3.1-8b", "Q4_K_M");
    CHECK(cached(w, KvClass::q4, KvClass::q4).reason == Reason::kv_keys_unrotated);
    CHECK(cached(w, KvClass::int4, KvClass::full).reason == Reason::kv_keys_unrotated);
    CHECK(cached(w, KvClass::q4, KvClass::q4, true).status == Status::bounded);
    CHECK(cached(w, KvClass::q8, KvClass::q4).status == Status::bounded);
    CHECK(cached(w, KvClass::full, KvClass::int4).reason == Reason::kv_without_rows);
    // Keys are the fragile half.
    CHECK(cached(w, KvClass::q5, KvClass::full).kld.central >
          cached(w, KvClass::full, KvClass::q5).kld.central);
}

TEST_CASE("q8_0 keys and values add 0.001 to 0.007 of KLD", "[quality]") {
    const auto w = weigh("llama-3.1-8b", "Q4_K_M");
    const Loss plain = combine(w.quality, {}), q8 = cached(w, KvClass::q8, KvClass::q8);
    CHECK(std::abs(q8.kld.low - plain.kld.low - 0.001) < 1e-6);
    CHECK(std::abs(q8.kld.high - plain.kld.high - 0.007) < 1e-6);
    // Measured on the model itself: Llama-3-8B 0.00098.
    const auto own = weigh("llama-3-8b", "BF16");
    CHECK(std::abs(cached(own, KvClass::q8, KvClass::q8).kld.central - 0.00098) < 1e-6);
    CHECK(cached(own, KvClass::q8, KvClass::q8).status == Status::measured);
}

TEST_CASE("a plain window is refused unless the model was trained with it", "[quality]") {
    KvChoice window;
    window.context = 4096;
    window.window = 1024;
    const auto llama = weigh("llama-2-7b", "Q8_0");
    REQUIRE(llama.quality.loss.known());
    CHECK(combine(llama.quality, window).reason == Reason::window_without_sinks);
    window.sinks = 4;
    const Loss kept = combine(llama.quality, window);
    CHECK(kept.known());
    CHECK(kept.flags & kWindowForgets);
    window.sinks = 0;
    const auto mistral = weigh("mistral-7b-v0.1", "Q8_0");  // every layer has a window of 4096
    CHECK(combine(mistral.quality, window).known());
}

TEST_CASE("pruning is refused", "[quality]") {
    check_refused(weigh("llama-2-7b", "sparse24-16bit"), Reason::pruned);
}

TEST_CASE("derivatives are refused", "[quality]") {
    for (const char* id : {"Llama-3.1-8B-Instruct-abliterated", "DeepSeek-R1-Distill-Llama-8B",
                           "Hermes-3-Llama-3.1-8B", "llama3-8b-MERGE-slerp", "Llama-3.1-Minitron-pruned"})
        check_refused(weigh(unknown_model("llama-3.1-8b", id), "Q4_K_M"), Reason::derivative);
    CHECK(weigh(unknown_model("llama-3.1-8b", "Llama-3.1-Emerge-8B"), "Q4_K_M").quality.loss.known());
    CHECK(weigh(unknown_model("llama-3.1-8b", "x-abliterated"), "F16").quality.loss.known());
}

TEST_CASE("images, speech and embedders are refused", "[quality]") {
    RecipeInfo images;
    images.images = 1;
    check_refused(weigh("gemma-3-4b", "Q4_K_M", Imatrix::unknown, images), Reason::other_modality);
    check_refused(weigh("whisper-large-v3", "Q8_0"), Reason::other_modality);
    check_refused(weigh("flan-t5-xl", "Q8_0"), Reason::other_modality);
    CHECK(weigh("gemma-3-4b", "Q4_K_M").quality.loss.known());
}

TEST_CASE("methods without rows are refused", "[quality]") {
    for (const char* recipe : {"exl2-4", "exl3-4", "palette-4bit-c16"})
        check_refused(weigh("llama-3.1-8b", recipe), Reason::method_without_rows);
}

TEST_CASE("other models, and tasks without a row, are not answered from perplexity", "[quality]") {
    const Loss a = weigh("llama-3-8b", "IQ4_XS").quality.loss,
               b = weigh("llama-3-70b", "IQ4_XS").quality.loss;
    REQUIRE(a.known());
    REQUIRE(b.known());
    CHECK(compare_losses("llama-3-8b", a, "llama-3-70b", b) == Order::not_comparable);
    const auto w = weigh("qwen2.5-14b", "IQ3_M");
    const Estimate e = explain(w.model, w.quality, w.recipe, {});
    CHECK(e.tasks.empty());
    CHECK(e.not_claimed.front().find("task scores") != std::string::npos);
}

TEST_CASE("a context beyond the measured one widens and flags, and does not refuse", "[quality]") {
    const auto w = weigh("llama-3.1-8b", "Q4_K_M");
    KvChoice near, far;
    near.context = 4096;
    far.context = 32768;
    const Loss a = combine(w.quality, near), b = combine(w.quality, far);
    CHECK_FALSE(a.flags & kContextBeyond);
    REQUIRE(b.known());
    CHECK(b.flags & kContextBeyond);
    CHECK(b.status == a.status);
    CHECK(b.kld.central == a.kld.central);
    CHECK(b.kld.high > 2 * a.kld.high);
    CHECK(b.top1_disagreement.high > a.top1_disagreement.high);
}

TEST_CASE("a refusal shows the row it names", "[quality]") {
    const auto w = weigh("qwen2.5-3b", "Q3_K_M");
    const Estimate e = explain(w.model, w.quality, w.recipe, {});
    REQUIRE_FALSE(e.evidence.empty());
    CHECK(e.evidence.front().id == "q1838");
    for (std::size_t i = 1; i < kReasons; ++i) {
        const auto reason = static_cast<Reason>(i);
        INFO(reason_code(reason));
        CHECK_FALSE(reason_code(reason).empty());
    }
}
