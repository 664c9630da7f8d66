#include <algorithm>

#include "tests/catch.h"
#include "tests/plan/planned.h"

using namespace memwall;
using namespace memwall::plan;
using test::make_test_plan;

TEST_CASE("weights beyond memory are paged in: 20 GB over 16 GB at 1 GB/s is up to 20 s a token", "[plan]") {
    const char* device = "ram=64GiB,bandwidth=1000GB/s,storage=1GB/s,class=pc_cpu,isa=neon";
    const auto all = make_test_plan("qwen3-32b", device, {{"quant", "Q4_K_M"}});
    const double gigabytes = all.prepared.weights.total.central.as_double() / 1e9;
    CHECK(gigabytes == Approx(19.76).margin(0.1));
    const auto paged = make_test_plan("qwen3-32b", device, {{"quant", "Q4_K_M"}, {"budget", "16GB"}});
    CHECK(paged.plan.verdict == Verdict::does_not_fit);
    CHECK(paged.plan.speed.bound == "storage");
    // Scanned in a cycle everything is read again: the weights over 1 GB/s, and the step itself.
    const double slowest = 1 / paged.plan.speed.decode.low.value, own = 1 / all.plan.speed.decode.low.value;
    CHECK(slowest == Approx(gigabytes + own).epsilon(0.05));
    CHECK(1 / paged.plan.speed.decode.high.value < gigabytes / 2);
}

TEST_CASE("fewer layers on the card are never faster, and memory moves with them", "[plan]") {
    double before = 1e30;
    Bytes device_before(std::int64_t{1} << 60);
    for (const char* layers : {"33", "24", "12", "1", "0"}) {
        const auto t =
            make_test_plan("llama-3.1-8b", "rtx-4090", {{"quant", "Q4_K_M"}, {"gpu-layers", layers}});
        INFO(layers);
        CHECK(t.plan.speed.decode.central.value <= before);
        const Bytes device = t.plan.memory.pools[0].items[static_cast<std::size_t>(Item::weights)].central;
        CHECK(device < device_before);
        before = t.plan.speed.decode.central.value;
        device_before = device;
    }
    CHECK(device_before.value == 0);
}

TEST_CASE("a cache or experts in host memory free the card and cost speed", "[plan]") {
    const auto plain =
        make_test_plan("qwen3-30b-a3b", "rtx-4090", {{"quant", "Q4_K_M"}, {"context", "32768"}});
    for (const char* option : {"kv-pool", "expert-pool"}) {
        const auto moved = make_test_plan("qwen3-30b-a3b", "rtx-4090",
                                          {{"quant", "Q4_K_M"}, {"context", "32768"}, {option, "host"}});
        INFO(option);
        CHECK(moved.plan.memory.pools[0].used.central < plain.plan.memory.pools[0].used.central);
        CHECK(moved.plan.memory.pools[1].used.central > plain.plan.memory.pools[1].used.central);
        CHECK(moved.plan.memory.total.central == plain.plan.memory.total.central);
        CHECK(moved.plan.speed.decode.central < plain.plan.speed.decode.central);
    }
}

TEST_CASE("time to first token is the sum of its parts, and a job adds the other tokens", "[plan]") {
    const auto t = make_test_plan("qwen2.5-7b", "apple-m4:16GiB", {{"prompt", "1000"}, {"generate", "100"}});
    const Speed& s = t.plan.speed;
    CHECK(s.first_token.central.value ==
          Approx((s.tokenization.central + s.prefill_time.central + s.first_decode.central).value));
    CHECK(s.job.central.value == Approx(s.first_token.central.value + 99 / s.decode.central.value));
    CHECK(s.prefill.central.value == Approx(1000 / s.prefill_time.central.value));
    const auto cached =
        make_test_plan("qwen2.5-7b", "apple-m4:16GiB", {{"prompt", "1000"}, {"cached-prompt", "900"}});
    CHECK(cached.plan.speed.first_token.central.value < s.first_token.central.value / 3);
}

TEST_CASE("what an architect asks: bandwidth never hurts, grouped heads shrink the cache", "[plan]") {
    double before = 0;
    for (const char* rate : {"20GB/s", "40GB/s", "80GB/s", "160GB/s"}) {
        const auto t =
            make_test_plan("llama-3.2-3b", std::string("ram=8GiB,class=phone_cpu,bandwidth=") + rate);
        CHECK(t.plan.speed.decode.central.value >= before);
        before = t.plan.speed.decode.central.value;
    }
    const auto grouped = make_test_plan("llama-3.1-8b", "apple-m4:32GiB");
    const auto full = make_test_plan("llama-3.1-8b", "apple-m4:32GiB", {{"set", "model.kv_heads=32"}});
    const auto kv = [](const test::TestPlan& t) {
        return t.plan.memory.items[static_cast<std::size_t>(Item::kv_cache)].central.value;
    };
    CHECK(kv(full) == 4 * kv(grouped));
}

TEST_CASE("energy of a Pi 5 is its joules per gigabyte times what a token reads", "[plan]") {
    // 1.10 to 1.21 J/GB at the wall over three models (geerlingguy/ai-benchmarks).
    const auto t =
        make_test_plan("llama-3.2-3b", "raspberry-pi-5:8GiB", {{"quant", "Q4_K_M"}, {"context", "256"}});
    const double gigabytes = t.prepared.workload.touched_bytes(1) / 1e9;
    CHECK(t.plan.speed.energy_per_token.low.value < 1.10 * gigabytes);
    CHECK(t.plan.speed.energy_per_token.high.value > 1.21 * gigabytes);
}
