// How long the compute buffer takes: a first plan of a model (prepared and replayed), a further setting of a
// prepared model, a setting that is known already, and the parts of a replay.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

#include "core/base/embedded.h"
#include "core/runtime/allocator.h"
#include "core/runtime/compute_buffer.h"
#include "core/runtime/graph_interpreter.h"

namespace {

using namespace memwall;
using namespace memwall::runtime;

model::Model plain(const std::string& architecture, std::int64_t hidden, std::int64_t vocabulary) {
    model::Model m;
    m.id = m.architecture = architecture;
    m.hidden = hidden;
    m.vocabulary = vocabulary;
    return m;
}

model::Attention attention(std::int64_t heads, std::int64_t kv_heads, std::int64_t dim) {
    model::Attention a;
    a.heads = heads;
    a.kv_heads = kv_heads;
    a.key_dim = a.value_dim = dim;
    return a;
}

model::Experts experts(std::int64_t count, std::int64_t used, std::int64_t width, std::int64_t shared) {
    model::Experts e;
    e.count = count;
    e.used = used;
    e.width = width;
    e.shared_width = shared;
    return e;
}

model::Model qwen25_7b() {
    model::Model m = plain("qwen2", 3584, 152064);
    model::Layer l;
    l.attention = attention(28, 4, 128);
    l.attention->query_bias = l.attention->key_bias = l.attention->value_bias = true;
    l.feed_forward = model::FeedForward{.width = 18944};
    m.layers.assign(28, l);
    return m;
}

model::Model qwen3_next_80b() {
    model::Model m = plain("qwen3next", 2048, 151936);
    for (int i = 0; i < 48; ++i) {
        model::Layer l;
        l.experts = experts(512, 10, 512, 512);
        l.experts->shared_gate = true;
        if (i % 4 == 3) {
            l.attention = attention(16, 2, 256);
            l.attention->gated_output = true;
        } else {
            model::Recurrent r;
            r.kind = model::RecurrentKind::delta_net;
            r.inner = 4096;
            r.state = 128;
            r.conv_kernel = 4;
            r.heads = 32;
            r.groups = 16;
            r.split_ba = true;
            l.recurrent = r;
        }
        m.layers.push_back(l);
    }
    return m;
}

model::Model deepseek_v3() {
    model::Model m = plain("deepseek2", 7168, 129280);
    for (int i = 0; i < 61; ++i) {
        model::Layer l;
        l.attention = attention(128, 1, 192);
        l.attention->value_dim = 128;
        l.attention->latent_rank = 512;
        l.attention->latent_rope_dim = 64;
        l.attention->nope_dim = 128;
        l.attention->query_rank = 1536;
        if (i < 3) {
            l.feed_forward = model::FeedForward{.width = 18432};
        } else {
            l.experts = experts(256, 8, 2048, 2048);
            l.experts->sigmoid = l.experts->router_bias = true;
            l.experts->scale = 2.5;
            l.experts->groups = 8;
            l.experts->groups_used = 4;
        }
        m.layers.push_back(l);
    }
    return m;
}

using Maker = model::Model (*)();

void first_plan(benchmark::State& state, Maker make) {
    const model::Model m = make();
    std::int32_t nodes = 0;
    for (auto _ : state) {
        const ComputeBuffer b = compute_buffer(operator_tables(), m, EngineSettings{});
        nodes = b.nodes;
        benchmark::DoNotOptimize(b.bytes);
    }
    state.counters["nodes"] = nodes;
}

void further_setting(benchmark::State& state, Maker make) {
    const ReplayModel m(operator_tables(), make());
    EngineSettings s;
    for (auto _ : state) {
        s.n_ctx = s.n_ctx % 65536 + 256;
        benchmark::DoNotOptimize(m.compute_buffer(s).bytes);
    }
}

void known_setting(benchmark::State& state, Maker make) {
    ComputeBufferMemo memo{ReplayModel(operator_tables(), make())};
    for (auto _ : state) benchmark::DoNotOptimize(memo.at(EngineSettings{}));
}

struct Prepared {
    explicit Prepared(Maker make)
        : model(make()), values(model_values(model, false)), layers(layer_values(model, false)) {
        const CellRules& rules = operator_tables().cell_rules();
        const EngineSettings s;
        const BatchValues batch = prompt_batch(resolve_cells(model, s, rules), s);
        std::copy(batch.begin(), batch.end(), values.begin());
    }
    GraphInput input() const {
        return {operator_tables().program(), operator_tables().table_of(model.architecture), values, layers};
    }
    model::Model model;
    std::vector<std::int64_t> values;
    LayerValues layers;
};

void build_graph(benchmark::State& state, Maker make) {
    const Prepared p(make);
    Interpreter interpreter;
    Graph graph;
    for (auto _ : state) {
        interpreter.build(p.input(), graph);
        benchmark::DoNotOptimize(graph.size());
    }
    state.counters["tensors"] = graph.size();
}

void interpret_every_layer(benchmark::State& state, Maker make) {
    const Prepared p(make);
    Interpreter interpreter;
    Graph graph;
    for (auto _ : state) {
        interpreter.build(p.input(), graph, false);
        benchmark::DoNotOptimize(graph.size());
    }
}

void replay_graph(benchmark::State& state, Maker make) {
    const Prepared p(make);
    Interpreter interpreter;
    Graph graph;
    interpreter.build(p.input(), graph);
    Replay replay;
    for (auto _ : state) {
        replay.run(graph, 32);
        benchmark::DoNotOptimize(replay.peak());
    }
}

void parse_tables(benchmark::State& state) {
    const EmbeddedFile* file = embedded_runtimes().find("runtimes/llama.cpp-0.5.0.graphs.txt");
    for (auto _ : state) benchmark::DoNotOptimize(OperatorTables::parse(file->text(), "tables"));
}

#define MEMWALL_REPLAY_BENCH(function)                                                      \
    BENCHMARK_CAPTURE(function, qwen25_7b, qwen25_7b)->Unit(benchmark::kMicrosecond);       \
    BENCHMARK_CAPTURE(function, qwen3_next, qwen3_next_80b)->Unit(benchmark::kMicrosecond); \
    BENCHMARK_CAPTURE(function, deepseek_v3, deepseek_v3)->Unit(benchmark::kMicrosecond)

MEMWALL_REPLAY_BENCH(first_plan);
MEMWALL_REPLAY_BENCH(further_setting);
MEMWALL_REPLAY_BENCH(known_setting);
MEMWALL_REPLAY_BENCH(build_graph);
MEMWALL_REPLAY_BENCH(interpret_every_layer);
MEMWALL_REPLAY_BENCH(replay_graph);
BENCHMARK(parse_tables)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
