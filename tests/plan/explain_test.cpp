#include "core/plan/explain.h"

#include <cmath>
#include <random>

#include "tests/catch.h"
#include "tests/plan/planned.h"

using namespace memwall;
using namespace memwall::plan;
using test::make_test_plan;

namespace {

/// Every item whose value is a sum of bytes equals its children's.
void check_sums(const LedgerItem& item) {
    if (item.unit == Unit::bytes && item.formula.empty() && !item.children.empty()) {
        Interval<double> sum{0, 0, 0, 1, kExact};
        for (const LedgerItem& child : item.children) {
            sum.low += child.value.low;
            sum.central += child.value.central;
            sum.high += child.value.high;
        }
        INFO(item.name);
        CHECK(sum.central == item.value.central);
        CHECK(sum.low == item.value.low);
        CHECK(sum.high == item.value.high);
    }
    for (const LedgerItem& child : item.children) check_sums(child);
}

}  // namespace

TEST_CASE("the ledger adds up to the plan it explains, for any configuration", "[plan]") {
    const char* models[] = {"qwen2.5-7b",   "gemma-3-4b",     "deepseek-v2-lite", "qwen3-next-80b-a3b",
                            "llama-3.2-1b", "falcon-h1-1.5b", "whisper-large-v3", "gpt-oss-20b"};
    const char* devices[] = {"raspberry-pi-5:8GiB", "rtx-4090", "apple-m4:32GiB",
                             "ram=16GiB,bandwidth=50GB/s,class=pc_cpu"};
    const char* types[] = {"f16", "q8_0", "f32"};
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto pick = [&](const auto& list) { return list[random() % std::size(list)]; };
    for (int i = 0; i < 40; ++i) {
        const std::string model = pick(models), device = pick(devices), type = pick(types);
        test::Options options{{"kv", type},
                              {"context", std::to_string(256 + random() % 8000)},
                              {"sequences", std::to_string(1 + random() % 4)},
                              {"ubatch", std::to_string(16 + random() % 600)}};
        if (random() % 3 == 0) options.push_back({"draft", "qwen2.5-0.5b:Q4_K_M"});
        if (random() % 3 == 0) options.push_back({"gpu-layers", std::to_string(random() % 40)});
        INFO(model << " on " << device << " " << type);
        const auto t = make_test_plan(model, device, options);
        const LedgerItem root = explain(t.prepared, t.knobs, t.target, t.plan);
        const LedgerItem* memory = find_item(root, "memory");
        REQUIRE(memory);
        CHECK(memory->value.central == t.plan.memory.total.central.as_double());
        check_sums(root);
        for (const PoolUse* pool = t.plan.memory.pools.data();
             pool != t.plan.memory.pools.data() + t.plan.memory.pool_count; ++pool) {
            CHECK(pool->needed.low <= pool->needed.central);
            CHECK(pool->needed.central <= pool->needed.high);
            CHECK(pool->needed.high <= pool->used.high);
        }
    }
}

TEST_CASE("batching is explained for small batches and few rows of logits too", "[plan]") {
    for (const auto& [option, value] : {std::pair("batch", "1"), {"runtime-option", "n_outputs_max=1"}}) {
        const auto t = make_test_plan("phi-4-mini", "apple-m4:16GiB", {{option, value}});
        const LedgerItem ledger = explain(t.prepared, t.knobs, t.target, t.plan);
        CHECK(find_item(ledger, "batching")->children.size() > 3);
    }
}

TEST_CASE("the speed chapter: operators sum up, batching ends at the memory, no cache is quadratic",
          "[plan]") {
    const auto speed_of = [](const char* context) {
        const auto t = make_test_plan("qwen3-30b-a3b", "apple-m4:32GiB", {{"context", context}});
        return *find_item(explain(t.prepared, t.knobs, t.target, t.plan), "speed");
    };
    const LedgerItem speed = speed_of("4096");
    for (const char* phase : {"decode_operators", "prefill_operators"}) {
        const LedgerItem* all = find_item(speed, phase);
        REQUIRE(all);
        double sum = 0;
        for (const LedgerItem& row : all->children) sum += row.value.central;
        CHECK(sum == Approx(all->value.central));
        CHECK(all->children.size() >= 5);
    }
    // Launches come on top of the operators' own time.
    const double step = 1 / find_item(speed, "decode")->value.central;
    CHECK(find_item(speed, "decode_operators")->value.central < step);
    CHECK(find_item(speed, "decode_operators")->value.central > step / 2);

    const LedgerItem* batching = find_item(speed, "batching");
    REQUIRE(batching);
    REQUIRE(batching->children.size() >= 2);
    CHECK(batching->children[0].value.central == Approx(1 / step));
    CHECK(batching->children[1].value.central > batching->children[0].value.central);
    for (std::size_t i = 0; i < batching->children.size(); ++i)  // only the last row is beyond the memory
        CHECK((batching->children[i].inputs.back().source == "fits") == (i + 1 < batching->children.size()));

    const double whole = find_item(speed, "decode_without_cache")->value.central;
    CHECK(whole < find_item(speed, "decode")->value.central / 20);
    CHECK(whole / find_item(speed_of("8192"), "decode_without_cache")->value.central > 2);
}
