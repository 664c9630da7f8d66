// What a decoder does between its matrices.
#include <algorithm>

#include "kernels/engine/elementwise.h"
#include "kernels/engine/engine_memory.h"
#include "kernels/engine/weights.h"
#include "kernels/panels/activations.h"
#include "kernels/verify_between.h"

namespace memwall::kernels {
namespace {

class Elements {
  public:
    Elements(const RatesRequest& request, ThreadTeam& team, Stopwatch& watch)
        : rows(std::max<std::size_t>(
              kTurns, share_of(static_cast<std::size_t>(request.settings.chunk), 0, team.threads()).size())),
          request_(request),
          team_(team),
          watch_(watch),
          between_(request, team.threads()) {}

    const std::size_t rows;  ///< that every thread has buffers of: its share of a chunk

    /// Seconds an element of f(thread, row), which works on `elements`; `streamed` is what it reads of the
    /// weights. First: on one thread, the others wait. Further: on all, row by row, again and again.
    template <class F>
    ElementCost cost(const char* what, double elements, F f, std::span<const std::byte> streamed = {}) {
        constexpr std::size_t kTimes = 3;
        ElementCost cost;
        cost.further = watch_.median("element", what, kTimes * static_cast<double>(rows) * elements, [&] {
            return run_together(team_, team_.threads(), [&](int t) {
                for (std::size_t i = 0; i < kTimes * rows; ++i) f(static_cast<std::size_t>(t), i % rows);
            });
        });
        const auto first = [&] {
            double seconds = 0;  // without what is between
            RunTime time = team_.run([&](int t) {
                for (std::size_t i = 0; i < kTurns; ++i) {
                    between_.read(t, i);
                    team_.barrier();
                    if (t == 0) {
                        const double start = wall_seconds();
                        f(std::size_t{0}, i);
                        seconds += wall_seconds() - start;
                    }
                    team_.barrier();  // the others wait, as in a layer
                }
            });
            time.wall = seconds;
            return time;
        };
        cost.first =
            watch_.median("element", std::string(what) + ", after weights", kTurns * elements, first,
                          settled(request_.streams, {between_.memory(kTurns), streamed}, team_, first));
        return cost;
    }

  private:
    static constexpr std::size_t kTurns = 8;
    const RatesRequest& request_;
    ThreadTeam& team_;
    Stopwatch& watch_;
    Between between_;
};

/// Floats that a thread alone works on: rows of `width`.
class Rows {
  public:
    Rows(int threads, std::size_t rows, std::size_t width) : width_(width) {
        for (int t = 0; t < threads; ++t) all_.push_back(noise(rows * width));
    }
    std::span<float> operator()(std::size_t thread, std::size_t row) {
        return std::span(all_[thread]).subspan(row * width_, width_);
    }

  private:
    std::size_t width_;
    std::vector<std::vector<float>> all_;
};

}  // namespace

void measure_elements(const RatesRequest& r, ThreadTeam& team, Stopwatch& watch, HostRates& rates) {
    const Decoder& d = r.decoder;
    const auto n = static_cast<std::size_t>(d.hidden);
    const auto hidden = static_cast<double>(d.hidden);
    ElementCosts& c = rates.elements;
    Elements measured(r, team, watch);
    Rows x(team.threads(), measured.rows, n), y(team.threads(), measured.rows, n);

    // Vectors come with the weights, from as far apart as no prefetcher looks.
    const std::size_t apart = (n * sizeof(float) / 4096 + 5) * 4096, count = 8;
    const HugeBuffer vectors(count * apart);
    const std::span<const std::byte> all_vectors(vectors.data(), vectors.bytes());
    const auto vector = [&](std::size_t i) {
        return std::span<float>(reinterpret_cast<float*>(vectors.data() + i % count * apart), n);
    };
    for (std::size_t i = 0; i < count; ++i) std::ranges::fill(vector(i), 1.0f);
    c.norm = measured.cost(
        "norm", hidden, [&](std::size_t t, std::size_t i) { rms_norm(x(t, i), vector(i), 1e-5f, y(t, i)); },
        all_vectors);
    c.add = measured.cost("add", hidden, [&](std::size_t t, std::size_t i) { add_to(y(t, i), x(t, i)); });
    const auto width = static_cast<std::size_t>(d.widest_ffn());
    // Fresh values each time: what is gated again and again becomes zero, whose exponential costs less.
    Rows up(team.threads(), 1, width), gate(team.threads(), 1, width);
    c.gate = measured.cost("gate", static_cast<double>(width), [&](std::size_t t, std::size_t) {
        std::ranges::copy(up(t, 0), gate(t, 0).begin());
        gate_times(gate(t, 0), up(t, 0), d.conventions.gelu);
    });
    const DecoderLayer& l = d.layers.front();
    const auto dim = static_cast<std::size_t>(l.key_dim);
    const auto frequencies = rope_frequencies(l.key_dim, 10000, {});
    Rows angles(team.threads(), 1, dim);
    c.angle = measured.cost("angles", static_cast<double>(dim) / 2, [&](std::size_t t, std::size_t i) {
        rope_angles(1000 + static_cast<std::int64_t>(i), frequencies, angles(t, 0));
    });
    // Heads as many as a layer has of queries and keys.
    const auto heads = static_cast<std::size_t>(l.heads + l.kv_heads);
    Rows all(team.threads(), measured.rows, heads * dim);
    const auto each_head = [&](std::size_t t, std::size_t i, auto f) {
        for (std::size_t j = 0; j < heads; ++j) f(all(t, i).subspan(j * dim, dim));
    };
    c.rotate = measured.cost("rotate", static_cast<double>(heads * dim), [&](std::size_t t, std::size_t i) {
        each_head(t, i,
                  [&](std::span<float> head) { rotate(head, angles(t, 0), d.conventions.interleaved_rope); });
    });
    c.head_norm = measured.cost(
        "head norm", static_cast<double>(heads * dim),
        [&](std::size_t t, std::size_t i) {
            each_head(t, i,
                      [&](std::span<float> head) { rms_norm(head, vector(i).first(dim), 1e-5f, head); });
        },
        all_vectors);
    for (const QuantizedNeed& need : quantized_needs(d, r.model, r.source)) {
        std::vector<Activations> a(static_cast<std::size_t>(team.threads()));
        c.quantize[need.format] = measured.cost("quantize", hidden, [&](std::size_t t, std::size_t i) {
            quantize_activations(x(t, i), 1, need.format, r.settings.digits, a[t]);
        });
    }
    // A head for each thread.
    const KvShape shape{1, team.threads(), l.key_dim, l.value_dim, 0, 0, r.settings.kv};
    const auto cache =
        make_kv_cache(shape, {KvSettings::Layout::paged, static_cast<std::int64_t>(measured.rows), 1, ""});
    const SequenceId id = cache->add();
    cache->extend(id, static_cast<std::int64_t>(measured.rows));
    Rows values(team.threads(), 1, static_cast<std::size_t>(l.value_dim));
    c.store = measured.cost(
        "store", static_cast<double>(l.key_dim + l.value_dim), [&](std::size_t t, std::size_t i) {
            cache->store(id, 0, static_cast<std::int64_t>(t), static_cast<std::int64_t>(i), 1,
                         all(t, i).data(), 0, values(t, 0).data(), 0);
        });
    {
        EngineSettings s = r.settings;
        s.linear = r.source.format(r.model.tensors[static_cast<std::size_t>(d.token_table)]);
        const auto source = synthetic_weights(s, 3, 8);
        const Weights table(tall_matrix(s.linear, d.hidden, 1 << 20), *source, team);
        const Matrix& embeddings = table.matrix(0);
        c.read_row = measured.cost(
            "read row", hidden,
            [&](std::size_t t, std::size_t i) {
                read_row(embeddings, static_cast<std::int64_t>(i + t) * 17 % embeddings.rows, y(t, i));
            },
            table.memory());
    }
    if (l.experts > 0) {
        Rows logits(team.threads(), 1, static_cast<std::size_t>(l.experts)),
            weights(team.threads(), 1, static_cast<std::size_t>(l.used));
        std::vector<std::vector<std::int32_t>> chosen(
            static_cast<std::size_t>(team.threads()),
            std::vector<std::int32_t>(static_cast<std::size_t>(l.used)));
        c.choose = measured.cost("choose experts", 1, [&](std::size_t t, std::size_t) {
            choose_experts(logits(t, 0), l.normalized, chosen[t], weights(t, 0));
        });
    }
}

}  // namespace memwall::kernels
