#include "devices/require.h"

#include <random>

#include "core/base/error.h"
#include "core/plan/auto_placement.h"
#include "core/plan/options.h"
#include "devices/device_fields.h"
#include "devices/sweep.h"
#include "tests/catch.h"

using namespace memwall;

namespace {

/// The plan on the device that `set` makes, and on one with a little less of one resource.
plan::Candidate plan_with(const devices::Opened& base, const std::vector<std::string>& set) {
    plan::Deployment d = base.deployment;
    for (const std::string& s : set) d.set.push_back(s);
    const devices::Opened o = devices::open_deployment(d);
    const plan::Prepared p = plan::prepare(o.model, o.deployment, devices::open_named_model);
    const plan::Target t = plan::aim(p, o.device);
    const plan::Knobs k = plan::place_automatically(p, t, plan::resolve_knobs(p, t));
    return plan::candidate_of(plan::evaluate(p, k, t), k);
}

}  // namespace

TEST_CASE("require is the inverse of plan, and two percent less misses", "[require]") {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const char* models[] = {"qwen2.5-7b", "llama-3.2-3b", "qwen3-30b-a3b", "gemma-3-4b"};
    const char* places[] = {"raspberry-pi-5:8GiB", "pixel-9-pro", "apple-m4:16GiB", "rtx-3060-12gb",
                            "jetson-agx-orin-64gb:64GiB"};
    int reached = 0;
    for (int n = 0; n < 30; ++n) {
        plan::Deployment d;
        d.model = models[random() % std::size(models)];
        d.device = places[random() % std::size(places)];
        d.quant = random() % 2 ? "Q4_K_M" : "Q8_0";
        d.context = 2048;
        plan::Constraints limits;
        limits.min_decode = 1 + static_cast<double>(random() % 40);
        if (random() % 2) limits.max_ttft = 0.2 + 0.1 * static_cast<double>(random() % 50);
        if (random() % 3 == 0) limits.confidence = 0.95;
        const devices::Opened o = devices::open_deployment(d);
        INFO(d.model << " " << d.quant << " on " << d.device << ", " << limits.min_decode << " tokens/s, "
                     << limits.max_ttft << " s, confidence " << limits.confidence);
        const devices::Requirement r = devices::require(o, limits);
        if (r.unreachable) continue;
        ++reached;
        const auto holds = [&](const std::vector<std::string>& set) {
            return plan::broken(plan_with(o, set), {.min_decode = limits.min_decode,
                                                    .max_ttft = limits.max_ttft,
                                                    .confidence = limits.confidence,
                                                    .allow_unknown_quality = true}) == 0;
        };
        CHECK(holds(r.set));
        // Which of them binds differs; less of memory must not fit, less of both rates must be too slow.
        std::vector<std::string> less = r.set;
        less.front() = less.front().substr(0, less.front().find('=') + 1) +
                       std::to_string(static_cast<std::int64_t>(0.98 * r.memory.as_double()));
        CHECK_FALSE(holds(less));
        const auto with_less = [&](std::size_t first, std::size_t last) {
            std::vector<std::string> set = r.set;
            for (std::size_t k = first; k < last; ++k)
                set.push_back(r.set[k].substr(0, r.set[k].find('=')) + "=x0.98");
            return set;
        };
        // Bandwidth and unpacking can bind at once; then their spreads differ, and less of the one whose is
        // wider moves the far end up: the other one misses.
        const bool bandwidth = holds(with_less(1, 2));
        const bool compute = r.compute.value > 0 && holds(with_less(2, r.set.size()));
        CHECK_FALSE((bandwidth && (compute || r.compute.value == 0)));
        CHECK_FALSE(holds(with_less(1, r.set.size())));
    }
    CHECK(reached > 10);
}

TEST_CASE("sweep axes: lists, steps, factors and what-ifs; bad ones say what is expected", "[sweep]") {
    using devices::parse_axis;
    CHECK(parse_axis("context=1024..8192*2", "--axis").values ==
          std::vector<std::string>{"1024", "2048", "4096", "8192"});
    CHECK(parse_axis("sequences=1..4+1", "--axis").values == std::vector<std::string>{"1", "2", "3", "4"});
    CHECK(parse_axis("device.bandwidth=+0GB/s,+8GB/s", "--axis").values.size() == 2);
    for (const char* bad : {"context", "context=", "contekst=1", "context=1,,2", "context=8..1*2",
                            "context=1..8", "context=0..8*2", "context=1..8*1"})
        CHECK_THROWS_AS(parse_axis(bad, "--axis"), Error);

    plan::Deployment d;
    d.model = "llama-3.2-1b";
    d.device = "raspberry-pi-5:8GiB";
    const auto points = devices::sweep(
        d,
        {parse_axis("quant=Q4_K_M,Q4_K_X", "--axis"), parse_axis("device.bandwidth=+0GB/s,+8GB/s", "--axis")},
        {});
    REQUIRE(points.size() == 4);
    CHECK(points[0].failure.empty());
    CHECK(points[1].candidate.decode.central.value > points[0].candidate.decode.central.value);
    CHECK_THAT(points[2].failure, Catch::Contains("Q4_K_X"));
}

TEST_CASE("a sweep shares what does not change, and each point is still the plan of its options", "[sweep]") {
    using devices::parse_axis;
    plan::Deployment d;
    d.model = "qwen3-4b";
    d.device = "rtx-3060-12gb";
    d.draft = "qwen3-0.6b";
    const std::vector<devices::Axis> axes{
        parse_axis("sequences=1,3", "--axis"),    parse_axis("quant=Q4_K_M,Q8_0", "--axis"),
        parse_axis("kv=f16,q8_0/q4_0", "--axis"), parse_axis("prompt=64,2000", "--axis"),
        parse_axis("generate=10,300", "--axis"),  parse_axis("context=512..40960*4", "--axis")};
    for (const devices::SweepPoint& p : devices::sweep(d, axes, {})) {
        INFO(plan::command_line(p.deployment));
        REQUIRE(p.failure.empty());
        const devices::Planned alone = devices::make_plan(p.deployment);
        const plan::Candidate c = plan::candidate_of(alone.plan, alone.knobs);
        CHECK(p.candidate.needed.central == c.needed.central);
        CHECK(p.candidate.needed.high == c.needed.high);
        CHECK(p.candidate.first_token.central == c.first_token.central);
        CHECK(p.candidate.job.central == c.job.central);
        CHECK(p.candidate.context == c.context);
    }
}
