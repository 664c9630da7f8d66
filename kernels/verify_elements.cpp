// What a decoder does between its matrices, timed on one thread.
#include <algorithm>

#include "kernels/engine/elementwise.h"
#include "kernels/engine/engine_memory.h"
#include "kernels/engine/matmul_step.h"
#include "kernels/engine/weights.h"
#include "kernels/verify_between.h"

namespace memwall::kernels {
namespace {

class Elements {
  public:
    Elements(const RatesRequest& request, ThreadTeam& team, Stopwatch& watch)
        : request_(request), team_(team), watch_(watch), between_(request, team.threads()) {}

    /// Seconds an element of f(i), which works on `elements`; `streamed` is what it reads of the weights by i.
    template <class F>
    ElementCost cost(const char* what, double elements, F f, std::span<const std::byte> streamed = {}) {
        constexpr std::size_t kMany = 64, kTurns = 8;
        ElementCost cost;
        cost.further = watch_.median("element", what, kMany * elements, [&] {
            return run_together(team_, 1, [&](int) {
                for (std::size_t i = 0; i < kMany; ++i) f(0);
            });
        });
        const auto first = [&] {
            double seconds = 0;  // without what is between
            RunTime time = team_.run([&](int t) {
                for (std::size_t i = 0; i < kTurns; ++i) {
                    between_.read(t, i);
                    team_.barrier();
                    if (t > 0) continue;
                    const double start = wall_seconds();
                    f(i);
                    seconds += wall_seconds() - start;
                }
            });
            time.wall = seconds;
            return time;
        };
        cost.first = watch_.median("element", std::string(what) + ", after weights", kTurns * elements, first,
                                   settled(request_.streams, {between_.memory(kTurns), streamed}, team_, first));
        return cost;
    }

  private:
    const RatesRequest& request_;
    ThreadTeam& team_;
    Stopwatch& watch_;
    Between between_;
};

}  // namespace

void measure_elements(const RatesRequest& r, ThreadTeam& team, Stopwatch& watch, HostRates& rates) {
    const Decoder& d = r.decoder;
    const auto n = static_cast<std::size_t>(d.hidden);
    const auto hidden = static_cast<double>(d.hidden);
    ElementCosts& c = rates.elements;
    Elements measured(r, team, watch);
    std::vector<float> x = noise(n), y = noise(n);

    // Vectors come with the weights, from as far apart as no prefetcher looks.
    const std::size_t apart = (n * sizeof(float) / 4096 + 5) * 4096;
    const HugeBuffer vectors(8 * apart);
    const std::span<const std::byte> all_vectors(vectors.data(), vectors.bytes());
    const auto vector = [&](std::size_t i) {
        return std::span<float>(reinterpret_cast<float*>(vectors.data() + i * apart), n);
    };
    for (std::size_t i = 0; i < 8; ++i) std::ranges::fill(vector(i), 1.0f);
    c.norm = measured.cost(
        "norm", hidden, [&](std::size_t i) { rms_norm(x, vector(i), 1e-5f, y); }, all_vectors);
    c.add = measured.cost("add", hidden, [&](std::size_t) { add_to(y, x); });
    const auto width = static_cast<std::size_t>(d.widest_ffn());
    // Fresh values each time: what is gated again and again becomes zero, whose exponential costs less.
    std::vector<float> up = noise(width), gate(width);
    c.gate = measured.cost("gate", static_cast<double>(width), [&](std::size_t) {
        std::ranges::copy(up, gate.begin());
        gate_times(gate, up, d.conventions.gelu);
    });
    const DecoderLayer& l = d.layers.front();
    const auto dim = static_cast<std::size_t>(l.key_dim);
    const auto frequencies = rope_frequencies(l.key_dim, 10000, {});
    std::vector<float> angles(dim), value = noise(static_cast<std::size_t>(l.value_dim));
    std::int64_t position = 1000;
    c.angle = measured.cost("angles", static_cast<double>(dim) / 2,
                            [&](std::size_t) { rope_angles(++position, frequencies, angles); });
    // Heads as many as a layer has of queries and keys.
    const auto heads = static_cast<std::size_t>(l.heads + l.kv_heads);
    std::vector<float> all = noise(heads * dim);
    const auto head = [&](std::size_t i) { return std::span<float>(all).subspan(i * dim, dim); };
    c.rotate = measured.cost("rotate", static_cast<double>(heads * dim), [&](std::size_t) {
        for (std::size_t i = 0; i < heads; ++i) rotate(head(i), angles, d.conventions.interleaved_rope);
    });
    c.head_norm = measured.cost(
        "head norm", static_cast<double>(heads * dim),
        [&](std::size_t i) {
            for (std::size_t j = 0; j < heads; ++j) rms_norm(head(j), vector(i).first(dim), 1e-5f, head(j));
        },
        all_vectors);
    for (const QuantizedNeed& need : quantized_needs(d, r.model, r.source)) {
        Activations a;
        c.quantize[need.format] = measured.cost("quantize", hidden, [&](std::size_t) {
            quantize_activations(x, 1, need.format, r.settings.digits, a);
        });
    }
    const KvShape shape{1, 1, l.key_dim, l.value_dim, 0, 0, r.settings.kv};
    const auto cache = make_kv_cache(shape, {KvSettings::Layout::paged, kPageTokens, 1, ""});
    const SequenceId id = cache->add();
    cache->extend(id, kPageTokens);
    std::int64_t token = 0;
    c.store = measured.cost("store", static_cast<double>(l.key_dim + l.value_dim), [&](std::size_t) {
        cache->store(id, 0, 0, token++ % kPageTokens, 1, all.data(), 0, value.data(), 0);
    });
    {
        EngineSettings s = r.settings;
        s.linear = r.source.format(r.model.tensors[static_cast<std::size_t>(d.token_table)]);
        const auto source = synthetic_weights(s, 3, 8);
        const Weights table(tall_matrix(s.linear, d.hidden, 1 << 20), *source, team);
        const Matrix& rows = table.matrix(0);
        c.read_row = measured.cost(
            "read row", hidden,
            [&](std::size_t i) { read_row(rows, static_cast<std::int64_t>(i) * 17 % rows.rows, y); },
            table.memory());
    }
    if (l.experts > 0) {
        std::vector<float> logits = noise(static_cast<std::size_t>(l.experts));
        std::vector<float> weights(static_cast<std::size_t>(l.used));
        std::vector<std::int32_t> chosen(weights.size());
        c.choose = measured.cost("choose experts", 1, [&](std::size_t) {
            choose_experts(logits, l.normalized, chosen, weights);
        });
    }
}

}  // namespace memwall::kernels
