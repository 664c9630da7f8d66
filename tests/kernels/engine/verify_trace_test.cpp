#include "kernels/verify_trace.h"

#include "core/base/error.h"
#include "kernels/verify_predict.h"
#include "tests/catch.h"
#include "tests/kernels/engine/small_models.h"

using namespace memwall;
using namespace memwall::kernels;
using namespace memwall::kernels::test;

namespace {

EngineSettings small_engine(std::int64_t context, std::int64_t sequences) {
    EngineSettings s;
    s.context = context;
    s.sequences = sequences;
    s.chunk = 48;
    return s;
}

/// Requests that come faster than the engine can answer, of lengths that share no multiple.
std::vector<sim::TraceRequest> crowd(std::int64_t count, std::int64_t shortest) {
    std::vector<sim::TraceRequest> all;
    for (std::int64_t i = 0; i < count; ++i)
        all.push_back({i * 1'500'000, shortest + i * 37 % 150, 20 + i * 13 % 60, {}});
    return all;
}

sim::RunResult simulate_again(const sim::Setup& setup, const Served& served,
                              std::vector<sim::StepRecord>& steps) {
    RecordedSteps recorded(served.steps);
    sim::RunOptions options;
    options.executor = &recorded;
    options.steps = &steps;
    return sim::run(setup, options);
}

/// Serves on the engine, simulates the recorded durations, and expects the same at every step.
Served expect_alike(const model::Model& m, const EngineSettings& s,
                    const std::vector<sim::TraceRequest>& trace, const ServeSettings& settings) {
    ThreadTeam team(2);
    const auto source = synthetic_weights(s, 1, 2);
    Engine engine(m, s, *source, team);
    const sim::Setup setup = replay_setup(trace, engine.decoder(), s, settings, engine.allocated());
    const Served served = serve(setup, engine);
    std::vector<sim::StepRecord> simulated;
    const sim::RunResult again = simulate_again(setup, served, simulated);

    CHECK(served.steps == simulated);
    CHECK(steps_alike(served, simulated) == static_cast<std::int64_t>(served.steps.size()));
    CHECK(again.scheduler.preemptions == served.scheduler.preemptions);
    CHECK(again.scheduler.hit_tokens == served.scheduler.hit_tokens);
    CHECK(again.scheduler.recomputed_tokens == served.scheduler.recomputed_tokens);
    const sim::AppResult all = again.all();
    CHECK(all.finished == served.requests.finished);
    CHECK(all.refused == served.requests.refused);
    CHECK(all.output_tokens == served.requests.output_tokens);
    // The same nanoseconds in, the same metrics out.
    CHECK(all.ttft.mean() == Approx(served.requests.ttft.mean()).epsilon(1e-12));
    CHECK(all.e2e.mean() == Approx(served.requests.e2e.mean()).epsilon(1e-12));
    CHECK(all.tpot.mean() == Approx(served.requests.tpot.mean()).epsilon(1e-12));
    CHECK(served.requests.finished + served.requests.cut_short + served.requests.refused ==
          static_cast<std::int64_t>(trace.size()));
    CHECK(served.pages.back() == 0);  // everything was given back
    return served;
}

}  // namespace

TEST_CASE("what the engine served is simulated with the same blocks at every step", "[kernels][verify]") {
    const EngineSettings s = small_engine(256, 4);
    const Served roomy = expect_alike(llama_like(), s, crowd(16, 20), {4, 0, true});
    CHECK(roomy.requests.finished == 16);
    CHECK(roomy.scheduler.preemptions == 0);
    // Seven pages for four sequences that need up to four each: some are sent away and computed again.
    const Served tight = expect_alike(llama_like(), s, crowd(16, 60), {4, 7 * 64, true});
    CHECK(tight.requests.finished + tight.requests.cut_short == 16);
    CHECK(tight.scheduler.preemptions > 0);
    CHECK(tight.scheduler.recomputed_tokens + tight.scheduler.hit_tokens > 0);
    // Longer than the context: refused by both, and an answer that fills it is cut short.
    auto odd = crowd(3, 20);
    odd[1].prompt = 300;
    odd[2].prompt = 200;
    odd[2].output = 100;
    const Served refused = expect_alike(llama_like(), s, odd, {2, 0, true});
    CHECK(refused.requests.refused == 1);
    CHECK(refused.requests.cut_short == 1);
}

TEST_CASE("windowed and expert models are simulated alike", "[kernels][verify]") {
    const EngineSettings s = small_engine(256, 3);
    for (const model::Model& m : {windowed_like(), moe_like()}) {
        INFO(m.id);
        CHECK(expect_alike(m, s, crowd(8, 40), {3, 8 * 64, true}).requests.finished > 0);
    }
}

TEST_CASE("equal blocks of a trace are computed once, in the engine as in the simulator",
          "[kernels][verify]") {
    // Two documents of 512 tokens, asked about again and again, and a pool that cannot keep both beside two
    // sequences: eight pages a document, 26 in all.
    std::vector<sim::TraceRequest> trace;
    for (std::int64_t i = 0; i < 8; ++i)
        trace.push_back(
            {i * 2'000'000, 512 + 20 + 31 * i % 100, 12, {sim::mixed(static_cast<std::uint64_t>(i % 3))}});
    const EngineSettings s = small_engine(832, 2);
    const Served shared = expect_alike(llama_like(), s, trace, {2, 26 * 64, true});
    CHECK(shared.scheduler.hit_tokens > 0);
    CHECK(shared.scheduler.hit_tokens % 64 == 0);
    CHECK(expect_alike(llama_like(), s, trace, {2, 26 * 64, false}).scheduler.hit_tokens == 0);
}

TEST_CASE("one user alone is simulated as verify predicts it", "[kernels][verify]") {
    const model::Model m = llama_like();
    const EngineSettings s = small_engine(512, 1);
    const auto source = synthetic_weights(s, 1, 2);
    const Decoder d = decoder_of(m, s);
    const WorkingSet none;
    const RatesRequest request{d, m, *source, s, 0, none};
    HostRates rates;
    for (const PanelLayout& layout : kPanelLayouts) {
        rates.elements.quantize[layout.format] = {2e-9, 1e-9};
        for (const model::Tensor& t : m.tensors)
            rates.matmul[{layout.format, t.dims[0], t.dims[2] > 1}] = {
                1e-10, 0, 0, {{1, 1e-10}, {24, 3e-10}}};
    }
    rates.barrier = 1e-6;
    rates.decode_pages = {1e-6, 1e-5};
    rates.prefill_pages = {2e-6, 3e-5};
    PredictedSteps steps(request, rates, 2);
    sim::RunOptions options;
    options.executor = &steps;
    const sim::AppResult r =
        sim::run(replay_setup({{0, 200, 30, {}}}, d, s, {1, 0, true}, {}), options).all();
    double answer = 0;
    for (std::int64_t at = 200; at < 229; ++at) answer += predict_decode(request, rates, 2, at).seconds;
    // Every chunk ends with logits here; verify's own prompts have them once.
    double prompt = 0;
    for (std::int64_t at = 0; at < 200; at += 48)
        prompt += predict_prefill(request, rates, 2, std::min<std::int64_t>(48, 200 - at), at);
    CHECK(r.ttft.mean() == Approx(prompt).epsilon(1e-6));
    CHECK(r.tpot.mean() == Approx(answer / 29).epsilon(1e-6));
    CHECK(r.e2e.mean() == Approx(prompt + answer).epsilon(1e-6));
    std::vector<sim::TraceRequest> one = {{0, 200, 30, {}}, {sim::nanoseconds_of(7), 200, 30, {}}};
    const double busy = busy_seconds(one, 48, steps);
    CHECK(busy == Approx(2 * (prompt + answer)).epsilon(1e-9));
    spread(one, busy, 0.5);
    CHECK(sim::seconds_of(one.back().arrival) == Approx(2 * busy).epsilon(1e-6));
}

TEST_CASE("workloads to replay are found by name", "[kernels][verify]") {
    TraceOptions o;
    o.source = "default";
    CHECK(open_workload(o).size() == 12);
    CHECK(load_of(o) == 0.3);
    o.source = "rag-box";
    o.requests = 30;
    const auto rag = open_workload(o);
    REQUIRE(rag.size() == 30);
    CHECK(rag.front().arrival == 0);
    for (std::size_t i = 1; i < rag.size(); ++i) CHECK(rag[i - 1].arrival <= rag[i].arrival);
    o.source = "no-such";
    CHECK_THROWS_AS(open_workload(o), Error);
    o.source = "/nowhere/trace.csv";
    CHECK_THROWS_AS(open_workload(o), Error);
    CHECK(load_of(o) == 0);
    VerifyOptions v;
    v.trace.source = "default";
    v.trace.load = 1;
    CHECK_THROWS_AS(verify(v), Error);
    v.trace.load = 0.5;
    v.trace.sequences = 0;
    CHECK_THROWS_AS(verify(v), Error);
    v.trace.sequences = 1;
    v.trace.pool_tokens = 10;
    CHECK_THROWS_AS(verify(v), Error);
}
