#include "kernels/verify.h"

#include <cstdint>

#include "core/base/error.h"
#include "kernels/verify_between.h"
#include "kernels/verify_predict.h"
#include "tests/catch.h"
#include "tests/kernels/engine/small_models.h"

using namespace memwall;
using namespace memwall::kernels;
using namespace memwall::kernels::test;

namespace {

VerifyItem item(double low, double predicted, double high, double from, double median, double to, bool timed,
                bool quiet) {
    VerifyItem i;
    i.low = low;
    i.predicted = predicted;
    i.high = high;
    i.achieved.low = from;
    i.achieved.median = median;
    i.achieved.high = to;
    i.timed = timed;
    i.quiet = quiet;
    return i;
}

/// Rates where nothing costs anything, for the formats of a model.
HostRates free_of_charge(const RatesRequest& r) {
    HostRates rates;
    for (const PanelLayout& layout : kPanelLayouts) {
        rates.elements.quantize[layout.format] = {};
        for (const model::Tensor& t : r.model.tensors)
            rates.matmul[{layout.format, t.dims[0], t.dims[2] > 1}].prefill = {{1, 0.0}, {8, 0.0}};
    }
    return rates;
}

}  // namespace

TEST_CASE("a verdict needs an interval that leaves no choice", "[kernels][verify]") {
    CHECK(judge(item(93, 100, 107, 90, 94, 120, true, true)) == Verdict::holds);
    CHECK(judge(item(93, 100, 107, 80, 85, 92, true, true)) == Verdict::missed);
    CHECK(judge(item(93, 100, 107, 108, 110, 112, true, true)) == Verdict::missed);
    CHECK(judge(item(93, 100, 107, 80, 90, 95, true, true)) == Verdict::inconclusive);
    CHECK(judge(item(93, 100, 107, 99, 100, 101, true, false)) == Verdict::inconclusive);
    CHECK(judge(item(100, 100, 100, 100, 100, 100, false, false)) == Verdict::holds);
    CHECK(judge(item(100, 100, 100, 101, 101, 101, false, false)) == Verdict::missed);
    CHECK(judge(item(0, 0, 0, 1, 1, 1, false, true)) == Verdict::measured);
    VerifyRun run;
    run.items = {item(1, 1, 1, 1, 1, 1, false, true)};
    run.items[0].verdict = Verdict::holds;
    CHECK(run.exit_status() == 0);
    run.items.push_back(run.items[0]);
    run.items[1].verdict = Verdict::inconclusive;
    CHECK(run.exit_status() == 3);
    run.items[0].verdict = Verdict::missed;
    CHECK(run.exit_status() == 1);
}

TEST_CASE("a prediction sums what the parts cost", "[kernels][verify]") {
    EngineSettings s;
    s.context = 4096;
    s.chunk = 96;
    s.kv = find_kv_kind("int8");
    for (const model::Model& m : {llama_like(), windowed_like(128)}) {
        INFO(m.id);
        const auto source = synthetic_weights(s, 1, 2);
        const Decoder d = decoder_of(m, s);
        const WorkingSet none;
        const RatesRequest r{d, m, *source, s, 0, none};
        HostRates rates = free_of_charge(r);
        const auto layers = static_cast<double>(d.layers.size());
        CHECK(predict_decode(r, rates, 2, 100).seconds == 0);

        // One token reads every matrix but the token table, which it reads when it is the output too.
        std::int64_t bytes = 0;
        for (const model::Tensor& t : m.tensors) {
            const Matrix matrix{source->format(t), t.dims[1], t.dims[0], 1, nullptr, nullptr};
            if (t.dims[1] > 1 && (t.role != model::Role::token_embedding || d.output == d.token_table))
                bytes += static_cast<std::int64_t>(matrix.bytes());
        }
        CHECK(predict_decode(r, rates, 1, 100).weight_bytes == static_cast<double>(bytes));
        for (auto& [key, rate] : rates.matmul) rate.decode = 1e-9;
        CHECK(predict_decode(r, rates, 1, 100).seconds == Approx(1e-9 * static_cast<double>(bytes)));
        for (auto& [key, rate] : rates.matmul) rate.decode = 0, rate.decode_start = 1;
        CHECK(predict_decode(r, rates, 2, 100).seconds == 7 * layers + 1);  // a start for each matrix
        for (auto& [key, rate] : rates.matmul) rate.decode_start = 0, rate.decode_restart = 1;
        // Queries, keys and values follow each other without a barrier, and so do gates and ups.
        CHECK(predict_decode(r, rates, 2, 100).seconds == 4 * layers + 1);
        for (auto& [key, rate] : rates.matmul) rate.decode_restart = 0;

        rates.barrier = 1;
        CHECK(predict_decode(r, rates, 2, 100).seconds == 10 * layers + 2);
        CHECK(predict_prefill(r, rates, 2, 3 * 96) == 3 * 10 * layers + 2);
        rates.barrier = 0;

        // The first row after weights costs more than those that follow it; two threads share both.
        rates.elements.gate = {5, 1};
        const auto width = static_cast<double>(d.layers.front().width);
        CHECK(predict_decode(r, rates, 2, 100).seconds == layers * width * 5 / 2);
        CHECK(predict_prefill(r, rates, 2, 96) == layers * width * (5 + 95) / 2);
        rates.elements.gate = {};

        // Pages: position 1000 sees 16 of them, 1000 - 127 to 1000 lie in 3.
        rates.decode_pages.page = 1;
        const double full = d.caches.size() == 1 ? layers : 1, windowed = layers - full;
        CHECK(predict_decode(r, rates, 2, 1000).seconds == full * 16 + windowed * 3);
        const double page_bytes = static_cast<double>(d.caches[0].page().bytes());
        CHECK(predict_decode(r, rates, 2, 1000).kv_bytes ==
              (full * 16 + windowed * 3) * page_bytes * static_cast<double>(d.caches[0].kv_heads));
    }
}

TEST_CASE("what is read between layers is as much as a layer has, and lies in the memory there is",
          "[kernels][verify]") {
    EngineSettings s;
    const model::Model m = llama_like();
    const auto source = synthetic_weights(s, 1, 2);
    const Decoder d = decoder_of(m, s);
    const auto layers = static_cast<std::int64_t>(d.layers.size());
    ThreadTeam team(2);
    constexpr std::int64_t kMiB = std::int64_t{1} << 20;
    const auto bytes = [&](std::int64_t memory, std::int64_t layer, std::size_t turns) {
        WorkingSet other;
        if (memory > 0) other = make_working_set(static_cast<std::size_t>(memory), team);
        const Between between({d, m, *source, s, layer * layers, other}, team.threads());
        const auto read = between.memory(turns);
        if (memory > 0) team.run([&](int t) { between.read(t, turns); });
        CHECK(read.data() == other.buffer.data());
        return static_cast<std::int64_t>(read.size());
    };
    CHECK(bytes(32 * kMiB, 3 * kMiB, 1) == 3 * kMiB);
    CHECK(bytes(32 * kMiB, 3 * kMiB, 4) == 12 * kMiB);
    CHECK(bytes(32 * kMiB, 3 * kMiB, 100) == 30 * kMiB);  // whole parts
    CHECK(bytes(32 * kMiB, 1, 1) == 2 * kMiB);            // an L2 for each thread
    CHECK(bytes(32 * kMiB, 100 * kMiB, 1) == 16 * kMiB);
    CHECK(bytes(2 * kMiB, 3 * kMiB, 5) == 2 * kMiB);
    CHECK(bytes(0, 3 * kMiB, 5) == 0);
}

TEST_CASE("rates between measured numbers of rows lie between", "[kernels][verify]") {
    MatmulRate rate;
    rate.prefill = {{1, 1.0}, {8, 8.0}, {16, 12.0}};
    CHECK(rate.at(0.5) == 1);
    CHECK(rate.at(8) == 8);
    CHECK(rate.at(12) == 10);
    CHECK(rate.at(32) == 24);
}

TEST_CASE("options of verify out of range are refused", "[kernels][verify]") {
    VerifyOptions o;
    o.runs = 0;
    CHECK_THROWS_AS(verify(o), Error);
    o = {};
    o.contexts = {0};
    CHECK_THROWS_AS(verify(o), Error);
    o = {};
    o.kv = {"q8_0"};
    CHECK_THROWS_AS(verify(o), Error);
    o = {};
    o.models = {"whisper-large-v3"};
    CHECK_THROWS_AS(verify(o), Error);
    o.models = {"no-such-model"};
    CHECK_THROWS_AS(verify(o), Error);
}
