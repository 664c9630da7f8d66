#include "core/runtime/compute_buffer.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/error.h"
#include "core/model/catalog.h"
#include "tests/catch.h"
#include "tests/runtime/shapes.h"

using namespace memwall;
using namespace memwall::runtime;

namespace {

/// Compares every row of a file; each model is prepared once.
template <class Check>
void check_rows(const test::EngineRows& rows, Check check) {
    std::map<std::string, ReplayModel> models;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string name = rows.text(i, "model");
        auto known = models.find(name);
        if (known == models.end())
            known = models.emplace(name, ReplayModel(operator_tables(), rows.model(i))).first;
        INFO("row " << i << ", " << name);
        check(i, known->second);
    }
}

}  // namespace

TEST_CASE("every measured compute buffer is equal to the byte", "[replay]") {
    const test::EngineRows rows("llamacpp_memory.json");
    REQUIRE(rows.size() == 647);
    check_rows(rows, [&](std::size_t i, const ReplayModel& model) {
        const ComputeBuffer b = model.compute_buffer(rows.settings(i));
        CHECK(b.bytes.is_exact());
        CHECK(b.bytes.basis == kExact);
        CHECK(b.bytes.central.value == rows.number(i, "compute_bytes"));
        CHECK(b.nodes == rows.number(i, "graph_nodes"));
    });
}

TEST_CASE("random shapes give what an independent replay gives", "[replay]") {
    const test::EngineRows rows("compute_buffers_random.json");
    REQUIRE(rows.size() >= 200);
    check_rows(rows, [&](std::size_t i, const ReplayModel& model) {
        const ComputeBuffer b = model.compute_buffer(rows.settings(i));
        CHECK(b.bytes.basis == kExact);
        CHECK(b.bytes.central.value == rows.number(i, "compute_bytes"));
        CHECK(b.nodes == rows.number(i, "graph_nodes"));
        CHECK(model.token_graph_bytes(rows.settings(i)).value == rows.number(i, "token_graph_bytes"));
    });
}

TEST_CASE("the breakdown at the peak adds up and shows what fills the buffer", "[replay]") {
    const test::EngineRows rows("compute_buffers_random.json");
    check_rows(rows, [&](std::size_t i, const ReplayModel& model) {
        const ComputeBuffer b = model.compute_buffer(rows.settings(i));
        Bytes sum;
        for (const LiveTensor& t : b.at_peak) sum += t.bytes;
        CHECK(sum == b.bytes.central);
        CHECK(std::is_sorted(b.at_peak.begin(), b.at_peak.end(),
                             [](const LiveTensor& x, const LiveTensor& y) { return x.bytes > y.bytes; }));
        CHECK(b.touched <= b.bytes.central);
        CHECK(b.touched > Bytes(0));
    });

    // Qwen2.5-0.5B: the logits of a whole micro-batch; with one output the feed-forward.
    const nlohmann::json shape = {{"arch", "qwen2"}, {"n_layer", 24},  {"n_embd", 896},    {"n_ff", 4864},
                                  {"n_head", 14},    {"n_head_kv", 2}, {"n_vocab", 151936}};
    EngineSettings s;
    ComputeBuffer b = compute_buffer(operator_tables(), test::model_from_shape(shape), s);
    CHECK(b.at_peak[0].name == "logits");
    CHECK(b.at_peak[0].part == Part::logits);
    CHECK(b.at_peak[0].bytes == Bytes(std::int64_t{4} * 512 * 151936));
    s.n_outputs_max = 1;
    b = compute_buffer(operator_tables(), test::model_from_shape(shape), s);
    CHECK(b.at_peak[0].part == Part::feed_forward);
    s.flash_attention = false;
    s.n_ctx = 32768;
    b = compute_buffer(operator_tables(), test::model_from_shape(shape), s);
    CHECK(b.at_peak[0].name == "scores");
    CHECK(b.at_peak[0].bytes == Bytes(std::int64_t{4} * 512 * 32768 * 14));
    CHECK(b.at_peak[1].part == Part::masks);
}

TEST_CASE("what a prompt touches is what the process grows by", "[replay]") {
    // Rows that decoded a whole micro-batch with one row of logits. A decode adds up to 4 MiB of its own.
    const test::EngineRows rows("llamacpp_memory.json");
    int seen = 0;
    check_rows(rows, [&](std::size_t i, const ReplayModel& model) {
        if (rows.number(i, "decoded_tokens") != 512) return;
        ++seen;
        const double grown = rows.real(i, "rss_mib") - rows.real(i, "rss_after_ctx_mib");
        const double touched = model.compute_buffer(rows.settings(i)).touched.as_double() / kMiB;
        CHECK(touched > grown - 4);
        CHECK(touched < grown + 4);
    });
    CHECK(seen == 6);
}

TEST_CASE("an architecture without a table gets a stand-in and an interval that holds", "[replay]") {
    const test::EngineRows rows("llamacpp_memory.json");
    const std::map<std::string, std::string> families = {{"llama", "plain"},
                                                         {"qwen2", "plain"},
                                                         {"qwen3", "plain"},
                                                         {"qwen3moe", "plain"},
                                                         {"gemma3", "plain"},
                                                         {"phi3", "fused"},
                                                         {"deepseek2", "latent"},
                                                         {"gpt-oss", "biased_experts"},
                                                         {"granitehybrid", "recurrent"},
                                                         {"lfm2", "recurrent"},
                                                         {"qwen3next", "recurrent"},
                                                         {"mamba", "recurrent_only"},
                                                         {"mamba2", "recurrent_only"},
                                                         {"falcon-h1", "parallel"}};
    for (std::size_t i = 0; i < rows.size(); i += 3) {
        model::Model m = rows.model(i);
        const std::string family = families.at(m.architecture);
        INFO("row " << i << ", " << m.architecture);
        m.architecture = "unheard-of";
        const ReplayModel unknown(operator_tables(), m);
        CHECK_FALSE(unknown.known_architecture());
        const ComputeBuffer b = unknown.compute_buffer(rows.settings(i));
        const Bytes real(rows.number(i, "compute_bytes"));
        CHECK(b.bytes.low <= real);
        CHECK(real <= b.bytes.high);
        CHECK(b.bytes.low < b.bytes.high);
        CHECK(b.bytes.basis ==
              "operator table of llama.cpp 0.5.0 for " + family + " decoders in place of unheard-of");
    }
}

TEST_CASE("recurrent parts of an unknown kind and encoders are estimates, not failures", "[replay]") {
    model::Model m;
    m.id = m.architecture = "unheard-of";
    m.hidden = 1024;
    m.vocabulary = 30000;
    model::Layer l;
    l.recurrent =
        model::Recurrent{.kind = model::RecurrentKind::rwkv, .inner = 1024, .state = 64, .heads = 16};
    l.feed_forward = model::FeedForward{.width = 4096, .gated = false};
    m.layers.assign(4, l);
    const ComputeBuffer rwkv = compute_buffer(operator_tables(), m, {});
    CHECK(rwkv.bytes.low > Bytes(0));
    CHECK(rwkv.bytes.high > rwkv.bytes.central);

    l.recurrent.reset();
    l.attention = model::Attention{.heads = 16, .kv_heads = 16, .key_dim = 64, .value_dim = 64};
    m.layers.clear();
    m.encoder.assign(4, l);
    m.embedder = true;
    const ComputeBuffer bert = compute_buffer(operator_tables(), m, {});
    CHECK(bert.bytes.central < Bytes(std::int64_t{4} * 512 * 30000));  // no logits
    CHECK(bert.bytes.basis.find("encoder") != std::string_view::npos);
}

TEST_CASE("other releases and switches that a table does not know widen the result", "[replay]") {
    const test::EngineRows rows("llamacpp_memory.json");
    model::Model m = rows.model(0);
    const Bytes exact(rows.number(0, "compute_bytes"));
    const ComputeBuffer other = compute_buffer(operator_tables("0.7"), m, rows.settings(0), "0.7");
    CHECK(other.bytes.low == exact);
    CHECK(other.bytes.high.as_double() == Approx(1.05 * exact.as_double()).margin(1));
    CHECK(other.bytes.basis == "operator table of llama.cpp 0.5.0, not checked for 0.7");

    m.layers[3].attention->output_bias = true;
    const ComputeBuffer biased = compute_buffer(operator_tables(), m, rows.settings(0));
    CHECK_FALSE(biased.bytes.is_exact());
    CHECK(biased.bytes.basis ==
          "operator table of llama.cpp 0.5.0 for llama where it is not exact: not (output_bias or ff_bias or "
          "norm_bias)");
}

TEST_CASE("models that no table can describe are errors", "[replay]") {
    model::Model m;
    m.id = m.architecture = "llama";
    CHECK_THROWS_AS(ReplayModel(operator_tables(), m), Error);
    m.layers.resize(5000);
    CHECK_THROWS_AS(ReplayModel(operator_tables(), m), Error);
    m.layers.resize(2);
    m.hidden = std::int64_t{1} << 60;
    CHECK_THROWS_AS(compute_buffer(operator_tables(), m, {}), Error);
    m.hidden = -5;
    CHECK_THROWS_AS(compute_buffer(operator_tables(), m, {}), Error);
}

TEST_CASE("the memo gives the same result for the same key, from any thread", "[replay]") {
    const test::EngineRows rows("llamacpp_memory.json");
    ComputeBufferMemo memo(ReplayModel(operator_tables(), rows.model(0)), 8);
    EngineSettings s;
    const auto first = memo.at(s);
    CHECK(memo.at(s) == first);
    s.n_batch = 1 << 20;
    s.n_ctx = 3841;  // rounded up to the same cells; fewer tokens than n_batch either way
    s.n_outputs_max = 2048;
    CHECK(memo.model().key(s) == memo.model().key(EngineSettings{}));
    CHECK(memo.at(s) == first);
    s.flash_attention = false;
    CHECK_FALSE(memo.model().key(s) == memo.model().key(EngineSettings{}));
    CHECK(memo.at(s)->bytes.central != first->bytes.central);

    std::vector<std::thread> threads;
    std::vector<int> wrong(4, 0);
    for (std::size_t t = 0; t < wrong.size(); ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 50; ++i) {
                EngineSettings own;
                own.n_ctx = 256 * (1 + i % 13);
                const auto expected = memo.model().compute_buffer(own).bytes.central;
                wrong[t] += memo.at(own)->bytes.central != expected;
            }
        });
    for (std::thread& t : threads) t.join();
    CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("every model of the catalogue has a compute buffer", "[replay]") {
    int exact = 0;
    for (const std::string_view id : model::catalog_ids()) {
        INFO(id);
        const model::Model m = *model::load_catalog_model(id);
        EngineSettings s;
        ComputeBuffer b = compute_buffer(operator_tables(), m, s);
        CHECK(b.bytes.low > Bytes(0));
        CHECK(b.bytes.low <= b.bytes.central);
        CHECK(b.bytes.central <= b.bytes.high);
        CHECK(b.bytes.high.as_double() < 2.0 * b.bytes.low.as_double());
        exact += b.bytes.is_exact();
        s.flash_attention = false;
        s.n_seq = 3;
        s.n_ctx = 50000;
        CHECK(compute_buffer(operator_tables(), m, s).bytes.central > Bytes(0));
    }
    CHECK(exact >= 100);  // the others have no table of their own, or switches that theirs does not know
}
