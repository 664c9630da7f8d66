#include "core/plan/measured.h"

#include "tests/catch.h"
#include "tests/plan/planned.h"

using namespace memwall;
using namespace memwall::plan;
using test::make_test_plan;

TEST_CASE("rows of measured runs", "[plan]") {
    const auto m = parse_measurement("llama-3.2-3b Q4_K_M pp=55.5 tg=4.88 context=512", "--measured");
    CHECK(m.model == "llama-3.2-3b");
    CHECK(m.quant == "Q4_K_M");
    CHECK(m.prefill_per_second == 55.5);
    CHECK(m.decode_per_second == 4.88);
    CHECK(m.context == 512);
    for (const char* bad :
         {"", "llama-3.2-3b", "llama-3.2-3b tg=4", "llama-3.2-3b Q4_K_M", "llama-3.2-3b Q4_K_M tg=-1",
          "llama-3.2-3b Q4_K_M tg=nan", "llama-3.2-3b Q4_K_M tg=4 foo=1", "llama-3.2-3b Q4_K_M tg"}) {
        INFO(bad);
        CHECK_THROWS_AS(parse_measurement(bad, "--measured"), Error);
    }
}

TEST_CASE("llama-bench JSON and engine logs become measured runs", "[plan]") {
    const auto bench = import_measurements(
        R"([{"model_filename": "models/x.gguf", "model_type": "llama 3B Q4_K", "n_prompt": 512, "n_gen": 0, "avg_ts": 55.2},
            {"model_filename": "models/x.gguf", "model_type": "llama 3B Q4_K", "n_prompt": 0, "n_gen": 128, "n_depth": 1024, "avg_ts": 4.88}])",
        "bench.json", "llama-3.2-3b", "Q4_K_M");
    REQUIRE(bench.size() == 2);
    CHECK(bench[0].prefill_per_second == 55.2);
    CHECK(bench[0].prompt == 512);
    CHECK(bench[1].decode_per_second == 4.88);
    CHECK(bench[1].context == 1024 + 64);
    CHECK(bench[1].model == "llama-3.2-3b");

    const auto log = import_measurements(
        "load time = 900.00 ms\n"
        "prompt eval time =    1234.56 ms /   512 tokens (    2.41 ms per token,   414.72 tokens per "
        "second)\n"
        "       eval time =   26229.51 ms /   128 runs   (  204.92 ms per token,     4.88 tokens per "
        "second)\n",
        "run.log", "m", "q");
    REQUIRE(log.size() == 2);
    CHECK(log[0].prefill_per_second == 414.72);
    CHECK(log[1].decode_per_second == 4.88);

    for (const char* bad : {"", "[", "[1]", "{}", "[{\"avg_ts\": 1}]", "nothing here"}) {
        INFO(bad);
        CHECK_THROWS_AS(import_measurements(bad, "x", "m", "q"), Error);
    }
}

TEST_CASE("a run of the same model is reproduced and narrows the interval", "[plan]") {
    const test::Options quant{{"quant", "Q4_K_M"}, {"context", "128"}};
    const auto prior = make_test_plan("llama-3.2-3b", "raspberry-pi-5:8GiB", quant);
    test::Options with = quant;
    with.push_back({"measured", "llama-3.2-3b Q4_K_M tg=7.5"});  // faster than the prior says
    const auto measured = make_test_plan("llama-3.2-3b", "raspberry-pi-5:8GiB", with);
    CHECK(measured.plan.speed.decode.central.value == Approx(7.5).epsilon(0.05));
    CHECK(measured.plan.speed.decode.basis == "one run");
    const auto width = [](const Interval<PerSecond>& r) { return r.high.value / r.low.value; };
    CHECK(width(measured.plan.speed.decode) < width(prior.plan.speed.decode));
}
