#include "core/quality/scores.h"

#include "tests/catch.h"
#include "tests/quality/weighed.h"

using namespace memwall;
using namespace memwall::quality;

namespace {

Score made(Lane lane, double value, ReportedBy by = ReportedBy::third_party,
           std::string_view reporter = "one", Variant variant = Variant::instruct) {
    Score s;
    s.lane = lane;
    s.value = value;
    s.reported_by = by;
    s.reporter = reporter;
    s.variant = variant;
    return s;
}

}  // namespace

TEST_CASE("scores are as published, by lane and variant", "[quality]") {
    // mmlu_pro_axis of the collection of November 2026
    const auto written = score("qwen3-8b", Lane::mmlu_pro_written);
    REQUIRE(written);
    CHECK(written->value == 64.3);
    CHECK(written->reporter == "Artificial Analysis");
    CHECK(written->row == "s1550");
    CHECK(score("qwen3-8b", Lane::mmlu_pro_written, Variant::thinking)->value == 74.3);
    CHECK(score("qwen3-8b", Lane::mmlu_pro_next_token, Variant::base)->value == 47.27);
    // gpt-oss has no score without a reasoning trace, and no default stands in for it.
    CHECK_FALSE(score("gpt-oss-20b", Lane::mmlu_pro_written));
    CHECK(score("gpt-oss-20b", Lane::mmlu_pro_written, Variant::thinking)->value == 74.8);
    CHECK_FALSE(score("whisper-large-v3", Lane::mmlu_pro_written));
    CHECK_FALSE(score("my-own-qwen3-8b.gguf", Lane::mmlu_pro_written));
    CHECK(scores("llama-3.1-8b").size() >= 4);
}

TEST_CASE("only the same lane and variant are ranked, and only beyond the threshold", "[quality]") {
    const Lane pro = Lane::mmlu_pro_written;
    CHECK(compare(made(pro, 60), made(pro, 56)).order == Order::better);
    CHECK(compare(made(pro, 56), made(pro, 60)).order == Order::worse);
    CHECK(compare(made(pro, 60), made(pro, 57.5)).order == Order::not_distinguishable);
    const auto vendor = [&](double v, const char* who) { return made(pro, v, ReportedBy::vendor, who); };
    CHECK(compare(made(pro, 60), vendor(56, "A")).order == Order::not_distinguishable);
    CHECK(compare(made(pro, 60), vendor(54, "A")).order == Order::better);
    CHECK(compare(vendor(60, "A"), vendor(54, "A")).order == Order::better);
    CHECK(compare(vendor(60, "A"), vendor(51, "B")).order == Order::not_distinguishable);
    CHECK(compare(vendor(60, "A"), vendor(49, "B")).order == Order::better);

    CHECK(compare(made(pro, 60), made(Lane::mmlu_pro_next_token, 30)).order == Order::not_comparable);
    CHECK(compare(made(pro, 60), made(pro, 30, {}, "one", Variant::base)).order == Order::not_comparable);
    CHECK(compare(made(Lane::humaneval, 60), made(Lane::humaneval, 52)).order == Order::not_distinguishable);
    CHECK(compare(made(Lane::aa_lcr, 40), made(Lane::aa_lcr, 28)).order == Order::not_distinguishable);
    CHECK(compare(made(Lane::math_500, 99), made(Lane::math_500, 95.5)).order == Order::not_distinguishable);
    Score chance = made(pro, 11);
    chance.at_chance = true;
    CHECK(compare(made(pro, 60), chance).order == Order::not_comparable);
    CHECK_FALSE(compare(made(pro, 60), chance).reason.empty());
}

TEST_CASE("scores at the level of guessing are marked", "[quality]") {
    const auto s = score("tinyllama-1.1b", Lane::mmlu_pro_next_token, Variant::base);
    REQUIRE(s);
    CHECK(s->value == 11.2);
    CHECK(s->at_chance);
}

TEST_CASE("quantization takes a band off below a score, never a point", "[quality]") {
    const auto four = test::weigh("llama-3.1-8b", "Q4_K_M"), eight = test::weigh("llama-3.1-8b", "Q8_0"),
               three = test::weigh("llama-3.1-8b", "IQ3_M"), whole = test::weigh("llama-3.1-8b", "BF16");
    const Lane pro = Lane::mmlu_pro_written;
    CHECK(quantized_band(pro, eight.quality, {}).points == 1);
    CHECK(quantized_band(pro, four.quality, {}).points == 3);
    CHECK(quantized_band(Lane::ifeval, four.quality, {}).points == 6);
    CHECK(quantized_band(Lane::math_500, four.quality, {}).points == 12);
    CHECK(quantized_band(pro, whole.quality, {}).points == 0);
    CHECK_FALSE(quantized_band(pro, four.quality, {}).measured_method);
    CHECK(quantized_band(pro, three.quality, {}).open);
    KvChoice low;
    low.keys = KvClass::q4;
    CHECK(quantized_band(pro, whole.quality, low).open);

    // A bigger model at 4 bits against a smaller one at 8: threshold plus the band of the one ahead.
    const ScoreBand at4 = quantized_band(pro, four.quality, {}), at8 = quantized_band(pro, eight.quality, {});
    CHECK(compare(made(pro, 65), at4, made(pro, 60), at8).order == Order::not_distinguishable);
    CHECK(compare(made(pro, 66), at4, made(pro, 60), at8).order == Order::better);
    CHECK(compare(made(pro, 60), at8, made(pro, 66), at4).order == Order::worse);
    CHECK(compare(made(pro, 66), quantized_band(pro, three.quality, {}), made(pro, 20), at8).order ==
          Order::not_comparable);
}
