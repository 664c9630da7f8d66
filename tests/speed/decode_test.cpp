// Decode and prefill estimates against closed forms of a made-up model and machine.
#include "core/speed/decode.h"

#include <cmath>

#include "tests/catch.h"

using namespace memwall;

namespace {

model::Model small_dense() {
    model::Model m;
    m.hidden = 1024;
    m.vocabulary = 4096;
    const auto tensor = [&](std::string name, std::int64_t in, std::int64_t out, model::Role role,
                            int layer) {
        m.tensors.push_back({.name = std::move(name),
                             .dims = {in, out, 1, 1},
                             .role = role,
                             .layer = layer,
                             .format = quant::ggml("F16"),
                             .offset = 0});
    };
    tensor("token_embd.weight", 1024, 4096, model::Role::token_embedding, -1);
    tensor("output.weight", 1024, 4096, model::Role::output, -1);
    for (int i = 0; i < 2; ++i) {
        model::Layer layer;
        layer.attention = model::Attention{.heads = 8, .kv_heads = 2, .key_dim = 128, .value_dim = 128};
        layer.feed_forward = model::FeedForward{.width = 2048};
        m.layers.push_back(layer);
        tensor("attn_q", 1024, 1024, model::Role::attn_q, i);
        tensor("attn_k", 1024, 256, model::Role::attn_k, i);
        tensor("attn_v", 1024, 256, model::Role::attn_v, i);
        tensor("attn_output", 1024, 1024, model::Role::attn_output, i);
        tensor("ffn_up", 1024, 2048, model::Role::ffn_up, i);
        tensor("ffn_down", 2048, 1024, model::Role::ffn_down, i);
    }
    return m;
}

}  // namespace

TEST_CASE("touched weights leave out an untied input table and read a tied one", "[speed]") {
    model::Model m = small_dense();
    const double layer = 1024 * 1024 * 2 + 1024 * 256 * 2 + 1024 * 2048 * 2;
    const double head = 1024 * 4096;
    const speed::Workload untied = speed::prepare_workload(m, {});
    CHECK(untied.touched_bytes(1) == 2 * (2 * layer + head) + 2 * 1024);
    CHECK(untied.matrix_ops(1, 1) == 2 * (2 * layer + head));
    CHECK(untied.stored_bytes == 2 * (2 * layer + 2 * head));

    m.tensors.erase(m.tensors.begin() + 1);  // no head: the input table is it
    const speed::Workload tied = speed::prepare_workload(m, {});
    CHECK(tied.touched_bytes(1) == untied.touched_bytes(1));
    CHECK(tied.matrix_ops(1, 1) == untied.matrix_ops(1, 1));
}

TEST_CASE("a decode step adds weights, cache and overhead", "[speed]") {
    const speed::Workload w = speed::prepare_workload(small_dense(), {});
    const speed::KvTraffic kv = speed::plain_traffic(small_dense());
    CHECK(speed::kv_bytes_read(kv, 1000) == 1000.0 * 2 * 2 * (128 + 128) * 2);

    speed::Machine m;
    m.bandwidth = 100e9;
    m.decode.mean = {std::log(0.5), std::log(0.25), std::log(1e-4)};
    const speed::TimeTerms t = speed::decode_step(w, m, kv, {.context = 1000});
    CHECK(t.weights.value == Approx(w.touched_bytes(1) / 50e9));
    CHECK(t.kv.value == Approx(speed::kv_bytes_read(kv, 1000) / 25e9));
    CHECK(t.overhead.value == Approx(2e-4));
    CHECK(t.total.central.value == Approx(t.weights.value + t.kv.value + t.overhead.value));
}
