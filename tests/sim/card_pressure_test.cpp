// Memory pressure on a host with a card: what others have of the card, and of the memory beside it.
#include <cmath>

#include "core/base/error.h"
#include "core/plan/placement.h"
#include "core/speed/page_cache.h"
#include "sim/run.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::sim;

namespace {

Setup setup_of(const std::string& more_deployment, const std::string& rest,
               const std::string& app = "rate: 60/h}, prompt: 100, output: 10") {
    return prepare(read_scenario(
        "schema: memwall/scenario/1\nduration: 1h\n"
        "deployment: {model: llama-3.1-8b, device: rtx-4060, quant: Q4_K_M, context: "
        "4096, sequences: 2, set: [device.ram=16GiB, device.storage=2GB/s]" +
            more_deployment + "}\napps: [{name: user, arrivals: {law: fixed, " + app + "}]\n" + rest,
        "test.yaml"));
}

std::string message(const std::string& rest) {
    try {
        setup_of("", rest);
    } catch (const Error& e) {
        return e.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("a display and another process shrink the pool on the card", "[sim][card]") {
    // Long contexts, so that the card and not the sequences decide how large the pool is.
    const std::string many = ", budget: 7GiB";
    const std::string at_a_time = "serving: {max_sequences: 32, token_budget: 512}\n";
    const Setup alone = setup_of(many, at_a_time);
    const Setup shared =
        setup_of(many, at_a_time + "memory: {card: 500MiB, others: [{name: tool, card: 300MiB}]}\n");
    const double fewer = static_cast<double>(alone.store.cells - shared.store.cells) * alone.token_bytes;
    CHECK(fewer == Approx(800.0 * (1 << 20)).margin(16 * alone.token_bytes));
    // The whole of what is left, and not more.
    CHECK(shared.card_bytes <= (std::int64_t{7} << 30) - (std::int64_t{800} << 20));
    CHECK(shared.card_bytes > (std::int64_t{7} << 30) - (std::int64_t{801} << 20));
    const RunResult r = run(shared, {});
    CHECK(r.card);
    CHECK_FALSE(r.memory);
    CHECK(r.all().finished == 60);
    CHECK(r.card_refusals == 0);
}

TEST_CASE("who comes to a full card is turned away, and a model waits for room", "[sim][card]") {
    // First come, first served: while the model is there the game finds no room.
    const std::string game = "memory: {card: 500MiB, others: [{name: game, card: 4GiB, opens: 60/h}]}\n";
    const RunResult stays = run(setup_of("", game), {});
    CHECK(stays.all().finished == 60);
    CHECK(stays.card_refusals > 30);
    CHECK(stays.card_wait_seconds == 0);
    // Unloaded after 10 s, the game takes the card in the first pause that it opens in, and never leaves.
    const RunResult left = run(setup_of("", game + "load: {start: cold, unload_after: 10s}\n"), {});
    CHECK(left.card_wait_seconds > 0);
    CHECK(left.all().finished == left.loads);  // one a minute, until the game came
    CHECK(left.all().finished + left.all().unfinished == 60);
    CHECK(left.card_wait_seconds == Approx(60.0 * static_cast<double>(left.all().unfinished)).epsilon(1e-6));
    // It leaves after half a minute or so: the requests that waited are answered then.
    const RunResult again =
        run(setup_of("",
                     "memory: {card: 500MiB, others: [{name: game, card: 4GiB, opens: 60/h, stays: 30s}]}\n"
                     "load: {start: cold, unload_after: 10s}\n"),
            {});
    CHECK(again.all().finished >= 58);
    CHECK(again.card_wait_seconds > 30);
    CHECK(again.all().ttft.largest() > 10);
}

TEST_CASE("the host's share of the weights is read again when others fill the memory", "[sim][card]") {
    const std::string layers = ", gpu_layers: 16", long_answers = "rate: 6/h}, prompt: 100, output: 100";
    const auto with = [&](const std::string& memory) {
        return setup_of(layers, "kv: {prefix_cache: off}\n" + memory, long_answers);
    };
    const Setup calm = with("memory: {system: 2GiB}\n");
    const plan::Prepared& p = calm.planned.prepared;
    const plan::Placement at = plan::place(p, calm.planned.knobs, calm.planned.target);
    CHECK(calm.mapped == at.host_layer_weights.value);
    CHECK(calm.mapped > std::int64_t{3} << 29);
    const double undisturbed = run(calm, {}).all().tpot.mean();
    CHECK(run(setup_of(layers, "", long_answers), {}).all().tpot.mean() == Approx(undisturbed).epsilon(1e-9));
    // 12.5 of 14 GiB are taken. The cache's share there is part of what the pages have to leave.
    const double moved = plan::host_part(p, calm.planned.knobs, at, 1).moved;
    const double room = (16 - 2 - 12.5) * (1 << 30) - static_cast<double>(calm.host_fixed) -
                        150 * calm.token_bytes * calm.host_cache;
    REQUIRE(room > 0);
    REQUIRE(room < static_cast<double>(calm.mapped));
    const std::string vm = "memory: {system: 2GiB, others: [{name: vm, size: 12.5GiB}], page_cache: ";
    const Bytes size(calm.mapped), cached(static_cast<std::int64_t>(room));
    for (const auto& [law, miss] : {std::pair{"lru", speed::lru_miss(size, cached)},
                                    {"random", speed::random_miss(size, cached)},
                                    {"pinned", speed::pinned_miss(size, cached)}}) {
        INFO(law);
        const RunResult r = run(with(vm + law + "}\n"), {});
        CHECK(r.all().tpot.mean() == Approx(undisturbed + miss * moved / 2e9).epsilon(1e-3));
    }
    // A model whose layers are all on the card reads single rows of the table: nothing is missed.
    const RunResult whole = run(setup_of("", vm + "lru}\n", long_answers), {});
    CHECK(whole.fault_bytes == 0);
    // Nothing is gained by killing while pages give way; a system that is full without them kills the larger.
    std::string full = vm + "lru, killer: oom}\n";
    CHECK(run(with(full), {}).kills == 0);
    full.replace(full.find("12.5"), 4, "13.99");
    const RunResult killed = run(with(full), {});
    CHECK(killed.kills == 1);
    CHECK(killed.own_kills == 0);
    CHECK(killed.all().tpot.mean() == Approx(undisturbed).epsilon(0.05));  // most of it after the kill
}

TEST_CASE("a process of the host that is killed loads again", "[sim][card]") {
    // Ours has the host's layers in memory of its own (no mapping), and is the largest that may be killed.
    const std::string unmapped = ", gpu_layers: 8, runtime_options: {mmap: off}";
    const RunResult r =
        run(setup_of(unmapped,
                     "memory: {system: 2GiB, killer: oom, adj_busy: 900, adj_idle: 900, others: "
                     "[{name: vm, size: 11.5GiB, adj: -1000}]}\n"),
            {});
    CHECK(r.kills == 0);
    CHECK(r.own_kills > 10);
    CHECK(r.loads >= r.own_kills - 1);
    CHECK(r.all().finished == 0);
    CHECK(r.fault_bytes == 0);  // nothing of it is mapped
    const RunResult fits = run(setup_of(unmapped,
                                        "memory: {system: 2GiB, killer: oom, others: "
                                        "[{name: vm, size: 8GiB, adj: -1000}]}\n"),
                               {});
    CHECK(fits.own_kills == 0);
    CHECK(fits.all().finished == 60);
}

TEST_CASE("a file that is still in the page cache is not read again by a load", "[sim][card]") {
    const std::string load = "load: {start: cold, unload_after: 10s, fixed: 1s}\n";
    const auto with = [&](const std::string& others) {
        return setup_of("", "memory: {system: 2GiB, page_cache: lru, others: [" + others + "]}\n" + load);
    };
    const Setup s = with("");
    const double file = static_cast<double>(s.file_bytes), seconds = file / 2e9;
    CHECK(s.load_seconds == Approx(seconds + 1));
    const RunResult warm = run(s, {});
    REQUIRE(warm.loads == 60);
    CHECK(warm.load_cached_bytes == Approx(59 * file));
    CHECK(warm.loading_seconds == Approx(60 + seconds));
    // 16 - 2 - 11 GiB are too few for the file: each pass pushes out what the next one wants first.
    const RunResult full = run(with("{name: vm, size: 11GiB}"), {});
    CHECK(full.load_cached_bytes == 0);
    CHECK(full.loading_seconds == Approx(60 * (seconds + 1)));
    // Without a memory section nothing is known of the page cache: every load reads.
    const RunResult blind = run(setup_of("", load), {});
    CHECK(blind.loading_seconds == Approx(60 * (seconds + 1)));
}

TEST_CASE("pressure that has no meaning on this device is refused", "[sim][card]") {
    using Catch::Contains;
    CHECK_THAT(message("memory: {system: 2GiB, killer: jetsam}\n"),
               Contains("jetsam") && Contains("none or oom"));
    CHECK_THAT(message("memory: {system: 2GiB, killer: lmkd}\n"), Contains("lmkd"));
    CHECK_THAT(message("memory: {system: 20GiB}\n"), Contains("less than 16"));
    CHECK_THAT(message("memory: {card: 9GiB}\n"), Contains("9.00 GiB taken by others"));
    CHECK_THAT(message("memory: {card: 4GiB}\n"), Contains("weights and buffers need"));
    CHECK_THAT(message("memory: {card: 1GiB, others: [{name: a, size: 1GiB}]}\n"), Contains("'system'"));
    CHECK_THAT(message("memory: {system: 1GiB, others: [{name: a}]}\n"), Contains("no 'size'"));
    CHECK_THAT(message("memory: {}\n"), Contains("no 'system'"));
    CHECK_THAT(message("memory: {card: 1GiB}\nkv: {pool: 6GiB}\n"), Contains("beside weights and buffers"));
    CHECK_THAT(message("kv: {pool: 6GiB}\n"), Contains("beside weights and buffers"));
    CHECK(message("memory: {card: 1GiB}\nkv: {pool: 128MiB}\n") == "accepted");
}
