#include "kernels/verify_rates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "kernels/engine/attention.h"
#include "kernels/engine/elementwise.h"
#include "kernels/engine/engine_memory.h"
#include "kernels/engine/matmul_step.h"
#include "kernels/engine/weights.h"
#include "kernels/host/evict.h"
#include "kernels/lab/random_weights.h"

namespace memwall::kernels {
namespace {

std::vector<float> noise(std::size_t n) {
    std::vector<float> x(n);
    lab::Random random(11);
    for (float& v : x) v = random.gaussian();
    return x;
}

/// One tall matrix of a format, as long as the model's weights.
model::Model tall_matrix(PanelFormat format, std::int64_t k, std::int64_t bytes) {
    Matrix like{format, kPanelRows, k, 1, nullptr, nullptr};
    const std::int64_t panels =
        std::max<std::int64_t>(64, bytes / static_cast<std::int64_t>(like.panel_bytes()));
    model::Model m;
    model::Tensor t;
    t.name = "calibration.weight";
    t.dims = {k, panels * kPanelRows, 1, 1};
    t.role = model::Role::attn_q;
    m.tensors.push_back(t);
    return m;
}

/// Products with consecutive pieces of the matrix, a barrier after each, as in a model.
class Chain {
  public:
    Chain(PanelFormat format, std::int64_t k, std::int64_t bytes, const EngineSettings& like,
          ThreadTeam& team)
        : team_(team), parts_(static_cast<std::size_t>(team.threads())) {
        EngineSettings s = like;
        s.linear = format;
        const auto source = synthetic_weights(s, 17, 8);
        const model::Model model = tall_matrix(format, k, bytes);
        weights_ = std::make_unique<Weights>(model, *source, team);
        const Matrix& all = weights_->matrix(0);
        for (const std::size_t size : {kLong, kShort}) {
            std::vector<Matrix>& pieces = pieces_[size == kShort];
            const std::int64_t panels = std::clamp<std::int64_t>(
                static_cast<std::int64_t>(size / all.panel_bytes()), 1, all.panels());
            for (std::int64_t first = 0; first + panels <= all.panels(); first += panels) {
                Matrix piece = all;
                piece.rows = panels * kPanelRows;
                piece.data += static_cast<std::size_t>(first) * all.panel_bytes();
                if (format == PanelFormat::w8) piece.row_scales += first * kPanelRows;
                pieces.push_back(piece);
            }
        }
        digits_ = s.digits;
    }

    /// Pieces come long, as large layers, and short, as small ones.
    double bytes(bool in_short) const { return static_cast<double>(pieces_[in_short].front().bytes()); }
    std::size_t pieces(bool in_short) const { return pieces_[in_short].size(); }
    std::span<const std::byte> memory() const { return weights_->memory(); }

    /// Work of one thread before each product, while the others wait: quantizing its row. Nothing, that
    /// alone, or that and the product.
    enum class Before : std::uint8_t { nothing, alone, quantizing };
    /// `rows` activation rows on every thread (only_first: on the first alone) times `pieces` pieces.
    RunTime run(std::int64_t rows, bool only_first, std::size_t pieces, bool in_short,
                Before before = Before::nothing) {
        const std::vector<Matrix>& all = pieces_[in_short];
        const Matrix& like = all.front();
        const std::vector<float> x = noise(static_cast<std::size_t>(rows * like.k));
        for (std::size_t t = 0; t < parts_.size(); ++t) {
            if (only_first && t > 0)
                parts_[t].m = 0;
            else
                quantize_activations(x, rows, like.format, digits_, parts_[t]);
        }
        y_.resize(static_cast<std::size_t>(rows * like.rows) * parts_.size());
        const RunTime time = team_.run([&](int t) {
            for (std::size_t i = 0; i < pieces; ++i) {
                const auto at = [&](std::size_t j) {
                    return MatmulTask{&all[(start_ + j) % all.size()], 0, parts_, y_.data()};
                };
                if (before != Before::nothing) {
                    if (t == 0) quantize_activations(x, rows, like.format, digits_, parts_[0]);
                    team_.barrier();
                    if (before == Before::alone) continue;
                }
                const MatmulTask task = at(i), next = at(i + 1);
                multiply_share(best_kernels(), {&task, 1}, t, team_.threads(),
                               start_of_share({&next, 1}, t, team_.threads()));
                team_.barrier();
            }
        });
        start_ += pieces;
        return time;
    }

  private:
    static constexpr std::size_t kLong = std::size_t{3} << 20, kShort = std::size_t{384} << 10;
    ThreadTeam& team_;
    std::unique_ptr<Weights> weights_;
    std::array<std::vector<Matrix>, 2> pieces_;
    std::vector<Activations> parts_;
    std::vector<float> y_;
    std::size_t start_ = 0;
    int digits_ = 1;
};

/// Rows a thread brings in a full chunk, in what is left of usual prompts, and a range for experts.
std::vector<std::int64_t> prefill_rows(const RatesRequest& r, int threads) {
    std::vector<std::int64_t> rows = {1, 2, 4, 8, 12, 16, 24};
    rows.push_back((r.settings.chunk + threads - 1) / threads);
    rows.push_back(std::max<std::int64_t>(1, 32 / threads));
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
}

/// Makes `streamed`, memory that `work` streams, as cold or warm before a sample as decode finds it.
template <class Work>
auto settled(Streams streams, std::vector<std::span<const std::byte>> streamed, ThreadTeam& team, Work work) {
    return [=, &team] {
        if (streams == Streams::cold)
            for (const auto memory : streamed) evict(memory, team);
        else
            for (int i = 0; i < Stopwatch::kWarmPasses; ++i) work();
    };
}

/// One thread's time of n repetitions, the others idle.
template <class F>
double alone(ThreadTeam& team, Stopwatch& watch, const char* what, std::int64_t n, double elements, F f) {
    return watch.median("element", what, static_cast<double>(n) * elements, [&] {
        return run_together(team, 1, [&](int) {
            for (std::int64_t i = 0; i < n; ++i) f();
        });
    });
}

}  // namespace

double MatmulRate::at(double rows) const {
    const auto above = std::find_if(prefill.begin(), prefill.end(),
                                    [&](const auto& p) { return static_cast<double>(p.first) >= rows; });
    if (above == prefill.end())
        return prefill.rbegin()->second * rows / static_cast<double>(prefill.rbegin()->first);
    if (above == prefill.begin()) return above->second;
    const auto below = std::prev(above);
    const double share =
        (rows - static_cast<double>(below->first)) / static_cast<double>(above->first - below->first);
    return below->second + share * (above->second - below->second);
}

void measure_barrier(ThreadTeam& team, Stopwatch& watch, HostRates& rates) {
    constexpr int kMany = 2000;
    rates.barrier = watch.median("barrier", "between barriers of the team", kMany, [&] {
        return team.run([&](int) {
            for (int i = 0; i < kMany; ++i) team.barrier();
        });
    });
    // As long as a short step: threads that slept for less, or did nothing, wake in another time.
    constexpr double kStep = 1e-3;
    const auto step = [&] {
        const double start = wall_seconds();
        RunTime time = team.run([&](int) {
            for (const double from = wall_seconds(); wall_seconds() - from < kStep;) {
            }
        });
        time.wall = std::max(0.0, wall_seconds() - start - time.wall);
        return time;
    };
    rates.wake = watch.median("wake", "a run of the team beyond its work", 1, step, step);
}

namespace {
/// Of weights, that a decode step reads.
std::int64_t bytes_a_token(const RatesRequest& r) {
    const auto bytes = [&](int tensor) {
        const model::Tensor& t = r.model.tensors[static_cast<std::size_t>(tensor)];
        return static_cast<std::int64_t>(
            Matrix{r.source.format(t), t.dims[1], t.dims[0], 1, nullptr, nullptr}.bytes());
    };
    std::int64_t all = bytes(r.decoder.output);
    for (const DecoderLayer& l : r.decoder.layers) {
        const LayerTensors& t = l.tensors;
        for (const int tensor : {t.q, t.k, t.v, t.output}) all += bytes(tensor);
        for (const int tensor : {t.gate, t.up, t.down})
            all += bytes(tensor) * std::max<std::int64_t>(1, l.used);
        if (t.router >= 0) all += bytes(t.router);
    }
    return all;
}
}  // namespace

void measure_matmul(const RatesRequest& r, ThreadTeam& team, Stopwatch& watch, HostRates& rates) {
    const std::int64_t a_token = bytes_a_token(r);
    std::set<MatmulKind> done;
    const auto measure = [&](int tensor, bool prefill) {
        const model::Tensor& t = r.model.tensors[static_cast<std::size_t>(tensor)];
        const PanelFormat format = r.source.format(t);
        const MatmulKind kind{format, t.dims[0], t.dims[2] > 1};
        MatmulRate& rate = rates.matmul[kind];
        prefill = prefill && rate.prefill.empty();
        if (!done.insert(kind).second && !prefill) return;
        Chain chain(format, kind.k, kind.experts ? r.weight_bytes : a_token, r.settings, team);
        const std::string how = std::string(panel_layout(format).name) + ", rows of " +
                                std::to_string(kind.k) + (kind.experts ? " of experts" : "");
        using Before = Chain::Before;
        // Seconds of one piece, barrier aside.
        const auto timed = [&](std::int64_t rows, bool first, std::size_t pieces, bool in_short,
                               Before before = Before::nothing) {
            const char* const notes[] = {"", "quantizing alone, ", "quantizing before, "};
            const std::string what = how + (in_short ? ", short, " : ", ") + notes[static_cast<int>(before)] +
                                     std::to_string(rows) + " tokens a thread";
            const auto work = [&] { return chain.run(rows, first, pieces, in_short, before); };
            const double seconds =
                first ? watch.median("gemv", what, 1, work, settled(r.streams, {chain.memory()}, team, work))
                      : watch.median("gemm", what, 1, work);
            return seconds / static_cast<double>(pieces) - rates.barrier;
        };
        const double whole = timed(1, true, chain.pieces(false), false),
                     part = timed(1, true, chain.pieces(true), true);
        rate.decode = chain.bytes(false) > chain.bytes(true)
                          ? std::max(0.0, (whole - part) / (chain.bytes(false) - chain.bytes(true)))
                          : whole / chain.bytes(false);
        rate.decode_start = std::max(0.0, part - rate.decode * chain.bytes(true));
        const double interrupted = timed(1, true, chain.pieces(true), true, Before::quantizing),
                     quantizing = timed(1, true, chain.pieces(true), true, Before::alone);
        // Both hold the barrier after quantizing; `timed` takes off that after a product.
        rate.decode_restart = std::max(0.0, interrupted - (quantizing + rates.barrier) - part);
        if (!prefill) return;
        for (const std::int64_t rows : prefill_rows(r, team.threads()))
            rate.prefill[rows] =
                timed(rows, false, std::min<std::size_t>(chain.pieces(false), rows > 8 ? 4 : 8), false) /
                chain.bytes(false);
    };
    for (const DecoderLayer& l : r.decoder.layers) {
        const LayerTensors& t = l.tensors;
        for (const int tensor : {t.q, t.k, t.v, t.output, t.gate, t.up, t.down}) measure(tensor, true);
        if (t.router >= 0) measure(t.router, true);
    }
    measure(r.decoder.output, false);
}

void measure_elements(const RatesRequest& r, ThreadTeam& team, Stopwatch& watch, HostRates& rates) {
    const Decoder& d = r.decoder;
    const auto n = static_cast<std::size_t>(d.hidden);
    const auto hidden = static_cast<double>(d.hidden);
    std::vector<float> x = noise(n), y = noise(n), ones(n, 1.0f);
    ElementCosts& c = rates.elements;
    c.norm = alone(team, watch, "norm", 64, hidden, [&] { rms_norm(x, ones, 1e-5f, y); });
    c.add = alone(team, watch, "add", 64, hidden, [&] { add_to(y, ones); });
    const auto width = static_cast<std::size_t>(d.widest_ffn());
    std::vector<float> up(width, 1.0f), gate = noise(width);
    c.gate = alone(team, watch, "gate", 32, static_cast<double>(width),
                   [&] { gate_times(gate, up, d.conventions.gelu); });
    const DecoderLayer& l = d.layers.front();
    const auto dim = static_cast<std::size_t>(l.key_dim);
    const auto frequencies = rope_frequencies(l.key_dim, 10000, {});
    std::vector<float> angles(dim), head = noise(dim), value = noise(static_cast<std::size_t>(l.value_dim));
    std::int64_t position = 1000;
    c.angle = alone(team, watch, "angles", 64, static_cast<double>(dim) / 2,
                    [&] { rope_angles(++position, frequencies, angles); });
    c.rotate = alone(team, watch, "rotate", 256, static_cast<double>(dim),
                     [&] { rotate(head, angles, d.conventions.interleaved_rope); });
    c.head_norm = alone(team, watch, "head norm", 256, static_cast<double>(dim),
                        [&] { rms_norm(head, std::span(ones).first(dim), 1e-5f, head); });
    for (const QuantizedNeed& need : quantized_needs(d, r.model, r.source)) {
        Activations a;
        c.quantize[need.format] = alone(team, watch, "quantize", 32, hidden, [&] {
            quantize_activations(x, 1, need.format, r.settings.digits, a);
        });
    }
    const KvShape shape{1, 1, l.key_dim, l.value_dim, 0, 0, r.settings.kv};
    const auto cache = make_kv_cache(shape, {KvSettings::Layout::paged, kPageTokens, 1, ""});
    const SequenceId id = cache->add();
    cache->extend(id, kPageTokens);
    std::int64_t token = 0;
    c.store = alone(team, watch, "store", 64, static_cast<double>(l.key_dim + l.value_dim), [&] {
        cache->store(id, 0, 0, token++ % kPageTokens, 1, head.data(), 0, value.data(), 0);
    });
    {
        EngineSettings s = r.settings;
        s.linear = r.source.format(r.model.tensors[static_cast<std::size_t>(d.token_table)]);
        const auto source = synthetic_weights(s, 3, 8);
        const Weights table(tall_matrix(s.linear, d.hidden, 1 << 20), *source, team);
        std::int64_t row = 0;
        c.read_row = alone(team, watch, "read row", 16, hidden,
                           [&] { read_row(table.matrix(0), ++row % table.matrix(0).rows, x); });
    }
    if (l.experts > 0) {
        std::vector<float> logits = noise(static_cast<std::size_t>(l.experts));
        std::vector<float> weights(static_cast<std::size_t>(l.used));
        std::vector<std::int32_t> chosen(weights.size());
        c.choose = alone(team, watch, "choose experts", 64, 1,
                         [&] { choose_experts(logits, l.normalized, chosen, weights); });
    }
}

void measure_pages(const RatesRequest& r, ThreadTeam& team, Stopwatch& watch, HostRates& rates) {
    constexpr std::size_t kBetween = std::size_t{1} << 20, kProbeGrain = 4096;  // a thread: an L2
    const DecoderLayer& l = r.decoder.layers.front();
    // Enough layers that a page is in no cache when its turn comes again.
    constexpr std::int64_t kPages = 32, kTokens = kPages * kPageTokens;
    const KvPageLayout layout = kv_page_layout(r.settings.kv.format, l.key_dim, l.value_dim);
    const std::int64_t layers = std::clamp<std::int64_t>(
        r.weight_bytes / (kPages * l.kv_heads * static_cast<std::int64_t>(layout.bytes())), 1, 64);
    const KvShape shape{layers, l.kv_heads, l.key_dim, l.value_dim, 0, 0, r.settings.kv};
    const auto cache = make_kv_cache(shape, {KvSettings::Layout::paged, kTokens, 1, ""});
    const SequenceId id = cache->add();
    cache->extend(id, kTokens);
    const auto width = static_cast<std::int64_t>(std::max(l.key_dim, l.value_dim));
    const std::vector<float> kv = noise(static_cast<std::size_t>(kPageTokens * width));
    team.run([&](int t) {
        const Range mine = share_of(static_cast<std::size_t>(shape.streams()), t, team.threads());
        for (std::size_t s = mine.first; s < mine.last; ++s)
            for (std::int64_t from = 0; from < kTokens; from += kPageTokens)
                cache->store(id, static_cast<std::int64_t>(s) / l.kv_heads,
                             static_cast<std::int64_t>(s) % l.kv_heads, from, kPageTokens, kv.data(), width,
                             kv.data(), width);
    });
    const std::int64_t run = std::max<std::int64_t>(1, kHighestHeads / l.group_heads());
    const std::int64_t many =
        run * 4 * team.threads();  // tokens of a prefill step: four runs a thread and head
    const std::vector<float> q = noise(static_cast<std::size_t>(many * l.heads * l.key_dim));
    std::vector<float> out(static_cast<std::size_t>(many * l.heads * l.value_dim));
    std::vector<AttentionScratch> scratch;
    for (int t = 0; t < team.threads(); ++t)
        scratch.emplace_back(kPages + 1, l.group_heads(), l.key_dim, l.value_dim);
    SharedParts parts(l.kv_heads, team.threads(), l.group_heads(), l.value_dim);
    AttentionStep step;
    step.kernels = &best_kernels();
    step.cache = cache.get();
    step.sequence = id;
    step.group_heads = l.group_heads();
    step.digits = r.settings.kv_digits;
    step.q = q.data();
    step.out = out.data();
    // A layer's products leave nothing of its attention in the caches, and are not part of it.
    const std::size_t set = r.other.buffer.bytes();
    const std::size_t slice =
        std::min(kBetween * static_cast<std::size_t>(team.threads()), set) / kProbeGrain * kProbeGrain;
    const auto between = [&](int t, std::int64_t layer) {
        const Range mine = share_of(slice / kProbeGrain, t, team.threads());
        const std::byte* start =
            r.other.buffer.data() + static_cast<std::size_t>(layer) % (set / slice) * slice;
        const std::uint64_t sum =
            best_kernels().read(start + mine.first * kProbeGrain, mine.size() * kProbeGrain, Access::streams);
        __asm__ volatile("" ::"r"(sum));
    };
    const auto other = std::span<const std::byte>(r.other.buffer.data(), set)
                           .first(std::min(set / slice, static_cast<std::size_t>(layers)) * slice);
    const auto only_between = [&] {
        return team.run([&](int t) {
            for (std::int64_t layer = 0; layer < layers; ++layer) {
                between(t, layer);
                team.barrier();
            }
        });
    };
    const double without = watch.median("attend", "reading between layers", 1, only_between,
                                        settled(r.streams, {other}, team, only_between));
    const auto one_token = [&](std::int64_t pages) {
        const auto work = [&] {
            return team.run([&](int t) {
                AttentionStep mine = step;
                mine.m = 1;
                mine.first = pages * kPageTokens - 1;
                for (mine.layer = 0; mine.layer < layers; ++mine.layer) {
                    between(t, mine.layer);
                    team.barrier();
                    attend_one(mine, t, scratch[static_cast<std::size_t>(t)], parts);
                    team.barrier();
                    if (t == 0) merge_one(mine, parts);
                    team.barrier();
                }
            });
        };
        const double seconds = watch.median(
            "attend", std::string(r.settings.kv.name) + ", one token, " + std::to_string(pages) + " pages", 1,
            work, settled(r.streams, {other, cache->arena().memory()}, team, work));
        return (seconds - without) / static_cast<double>(layers) - 2 * rates.barrier;
    };
    const auto prompt = [&](std::int64_t first) {
        const std::int64_t some = std::min<std::int64_t>(layers, 4);
        const double seconds = watch.median(
            "attend", std::string(r.settings.kv.name) + ", a prompt from " + std::to_string(first), 1, [&] {
                return team.run([&](int t) {
                    AttentionStep mine = step;
                    mine.m = many;
                    mine.first = first;
                    for (mine.layer = 0; mine.layer < some; ++mine.layer) {
                        attend_many(mine, t, team.threads(), scratch[static_cast<std::size_t>(t)]);
                        team.barrier();
                    }
                });
            });
        const double units = static_cast<double>(many / run * l.kv_heads) / team.threads();
        return (seconds / static_cast<double>(some) - rates.barrier) / units;
    };
    const auto line = [](double x1, double y1, double x2, double y2) {
        const double page = (y2 - y1) / (x2 - x1);
        return PageCost{std::max(0.0, y1 - page * x1), page};
    };
    const double few = 2, all = kPages;
    rates.decode_pages = line(few, one_token(2), all, one_token(kPages));
    const std::int64_t late = kTokens - many;
    const auto pages_at = [&](std::int64_t first) {
        return static_cast<double>(first) / kPageTokens + static_cast<double>(many) / 2 / kPageTokens;
    };
    rates.prefill_pages = line(pages_at(0), prompt(0), pages_at(late), prompt(late));
}

}  // namespace memwall::kernels
