#include "devices/check.h"

#include "core/base/error.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::devices;

namespace {

plan::BudgetFile budgets(const std::string& body) {
    return plan::read_budgets("schema: memwall/budgets/1\n" + body, "budgets.yaml");
}

const char* kTwo = R"(devices: ["raspberry-pi-5:8GiB"]
defaults: {generate: 64}
checks:
  - name: small
    model: llama-3.2-1b
    quant: Q8_0
    context: [2048, 4096]
    limits: {min_headroom: 1GiB}
  - name: large
    model: llama-3.1-70b
    quant: Q4_K_M
    expect: must_not_fit
)";

}  // namespace

TEST_CASE("budget files multiply lists out and judge each point", "[check]") {
    const plan::BudgetFile file = budgets(kTwo);
    REQUIRE(file.checks.size() == 3);
    CHECK(file.checks[1].where == "raspberry-pi-5:8GiB, context 4096");
    CHECK(file.checks[0].line == 5);
    const auto results = run_checks(file);
    for (const CheckResult& r : results) {
        INFO(r.check->name << " " << r.error);
        CHECK(r.outcome == Outcome::passed);
    }
    CHECK(results[0].figures.bytes.at("needed") < results[1].figures.bytes.at("needed"));
}

TEST_CASE(
    "a limit of exactly what is needed passes, one byte less fails, and inside the interval is undecided",
    "[check]") {
    const std::string body =
        "checks:\n  - {name: x, model: qwen2.5-7b, quant: Q8_0, context: 2048, device: "
        "'ram=16GiB,bandwidth=50GB/s,"
        "class=pc_cpu,isa=avx512f', limits: {max_memory: ";
    const auto with = [&](std::int64_t bytes) {
        const plan::BudgetFile file = budgets(body + std::to_string(bytes) + "}}\n");
        return run_checks(file).front();
    };
    const CheckResult wide = with(std::int64_t{1} << 40);
    CHECK(wide.outcome == Outcome::passed);
    const std::int64_t needed = wide.figures.bytes.at("needed");
    CHECK(with(needed).outcome == Outcome::passed);
    CHECK(with(needed - 1).outcome == Outcome::undecided);  // overhead is an interval: its upper end is above
    CHECK(with(needed / 2).outcome == Outcome::failed);
}

TEST_CASE("speed limits are undecided inside their interval and decided by a confidence", "[check]") {
    const auto run = [](const std::string& limits) {
        static plan::BudgetFile file;
        file = budgets(
            "checks:\n  - {model: llama-3.2-3b, quant: Q4_K_M, device: 'raspberry-pi-5:8GiB', limits: {" +
            limits + "}}\n");
        return run_checks(file).front();
    };
    const auto with = [&](const std::string& limits) { return run(limits).outcome; };
    const double central = run("min_decode: 0.1").figures.rates.at("decode_tokens_per_second");
    CHECK(with("min_decode: " + std::to_string(central)) == Outcome::undecided);
    CHECK(with("min_decode: 0.5") == Outcome::passed);
    CHECK(with("min_decode: 50") == Outcome::failed);
    CHECK(with("min_decode: 3, confidence: central") == Outcome::passed);
    CHECK(with("min_decode: 50, confidence: central") == Outcome::failed);
}

TEST_CASE("deployments that run together share the budget", "[check]") {
    const char* body = R"(checks:
  - name: both
    device: ram=8GiB,usable=6GiB,bandwidth=50GB/s,class=pc_cpu,isa=none
    together:
      - {model: llama-3.2-3b, quant: Q8_0}
      - {model: qwen2.5-3b, quant: Q8_0}
  - name: alone
    device: ram=8GiB,usable=6GiB,bandwidth=50GB/s,class=pc_cpu,isa=none
    model: llama-3.2-3b
    quant: Q8_0
)";
    std::string text = body;
    for (std::size_t at; (at = text.find(",isa=none")) != std::string::npos;) text.erase(at, 9);
    const plan::BudgetFile file = budgets(text);
    const auto results = run_checks(file);
    CHECK(results[0].outcome == Outcome::failed);
    CHECK(results[1].outcome == Outcome::passed);
}

TEST_CASE("a baseline shows one byte, says what changed, and names data as data", "[check]") {
    const plan::BudgetFile file = budgets(kTwo);
    auto results = run_checks(file);
    Baseline baseline = read_baseline(write_baseline(results), "baseline.json");
    CHECK(compare(results, baseline).empty());

    results[0].figures.bytes["needed"] += 1;
    auto changes = compare(results, baseline);
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].regression);
    CHECK_FALSE(changes[0].data);
    CHECK_THAT(changes[0].text, Catch::Contains("+1 B needed"));

    results[0].figures.bytes["weights"] += 37 << 20;
    results[0].figures.facts["vocabulary"] = "151,936";
    baseline.data_version = "2020-01-01";
    changes = compare(results, baseline);
    REQUIRE(changes.size() == 1);
    CHECK_THAT(changes[0].text,
               Catch::Contains("weights +37.0 MiB") && Catch::Contains("vocabulary 128,256 -> 151,936"));
    CHECK(changes[0].data);  // the same catalogue id, another catalogue

    results[0].figures.facts["recipe"] = "F16";
    CHECK_FALSE(compare(results, baseline)[0].data);  // the user's own change
    CHECK_THROWS_AS(read_baseline("{}", "b.json"), Error);
    CHECK_THROWS_AS(read_baseline(R"({"schema": "memwall/baseline/1", "checks": 3})", "b.json"), Error);
}

TEST_CASE("limits: none drops those of the defaults", "[check]") {
    const plan::BudgetFile file = budgets(
        "devices: ['raspberry-pi-5:8GiB']\ndefaults: {limits: {min_decode: 4, min_headroom: 1GiB}}\nchecks:\n"
        "  - {name: kept, model: llama-3.2-1b, context: 2048}\n"
        "  - {name: dropped, model: llama-3.1-70b, expect: must_not_fit, limits: none}\n");
    CHECK(file.checks[0].limits.min_decode == 4);
    CHECK(file.checks[1].limits.min_decode == 0);
    CHECK(file.checks[1].min_headroom.value == 0);
    CHECK(run_checks(file)[1].outcome == Outcome::passed);
}

TEST_CASE("a broken budget file names its line", "[check]") {
    const std::pair<const char*, const char*> cases[] = {
        {"checks:\n  - model: x\n", "budgets.yaml:3"},               // no device
        {"devices: [a]\nchecks:\n  - name: x\n", "budgets.yaml:4"},  // no model
        {"devices: [a]\nchecks:\n  - model: x\n    contekst: 3\n", "budgets.yaml:5"},
        {"devices: [a]\nchecks:\n  - model: x\n    context: nine\n", "budgets.yaml:5"},
        {"devices: [a]\nchecks:\n  - model: x\n    limits: {max_memory: 3 apples}\n", "budgets.yaml:5"},
        {"devices: [a]\nchecks:\n  - model: x\n    limits: {speed: 3}\n", "budgets.yaml:5"},
        {"devices: [a]\nchecks:\n  - model: x\n    expect: maybe\n", "budgets.yaml:5"},
        {"devices: [a]\nchecks:\n  - model: x\n    margin: 2\n", "budgets.yaml:5"},
        {"devices: [a]\nchecks: []\n", "budgets.yaml"},
        {"devices: [a]\nchecks:\n  - {name: x, model: m}\n  - {name: x, model: m}\n", "budgets.yaml:5"},
        {"devices: [a]\nchecks:\n  - model: [x\n", "budgets.yaml:"},
        {"budget: 3\n", "budgets.yaml:2"},
    };
    for (const auto& [body, place] : cases) {
        INFO(body);
        CHECK_THROWS_WITH(budgets(body), Catch::StartsWith(place));
    }
    CHECK_NOTHROW(plan::read_budgets(plan::first_budgets({"llama-3.2-1b"}, {"pixel-9-pro"}), "first.yaml"));
}
