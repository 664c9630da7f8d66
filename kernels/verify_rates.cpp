#include "kernels/verify_rates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>

#include "kernels/engine/matmul_step.h"
#include "kernels/engine/weights.h"
#include "kernels/verify_between.h"

namespace memwall::kernels {
namespace {

/// Matrices of a kind, bytes of panels.
struct Sizes {
    std::int64_t large = 0, small = 0;  ///< that one token reads at a time: of experts one a thread
    std::int64_t prompt = 0;            ///< the largest that several tokens see at once; 0: none does
};

/// Products with consecutive pieces of a tall matrix, a barrier after each, as in a model.
class Chain {
  public:
    /// Pieces of each of the sizes, either way `bytes` in all.
    Chain(const MatmulKind& kind, std::int64_t bytes, const Sizes& sizes, const EngineSettings& like,
          ThreadTeam& team)
        : team_(team), parts_(static_cast<std::size_t>(team.threads())) {
        EngineSettings s = like;
        s.linear = kind.format;
        const auto source = synthetic_weights(s, 17, 8);
        const model::Model model = tall_matrix(kind.format, kind.k, bytes);
        weights_ = std::make_unique<Weights>(model, *source, team);
        large = cut(sizes.large);
        small = cut(sizes.small);
        prompt = cut(sizes.prompt);
        digits_ = s.digits;
    }

    using Pieces = std::vector<Matrix>;
    Pieces large, small, prompt;

    std::span<const std::byte> memory() const { return weights_->memory(); }

    /// One row of the first thread times all pieces. `interrupted`: quantized before each, which is not part
    /// of the time.
    RunTime one_token(const Pieces& pieces, bool interrupted) {
        quantize(0, 1, pieces.front());
        for (std::size_t t = 1; t < parts_.size(); ++t) parts_[t].m = 0;
        return run(pieces, pieces.size(), interrupted, [&](int t) {
            if (t == 0) quantize(0, 1, pieces.front());
        });
    }

    /// `rows` rows of every thread times the next `count` pieces. Before each, which is not part of the time,
    /// threads take their rows of the last result and quantize others, so that both lie in the caches of
    /// their cores, as in a layer.
    RunTime many_tokens(std::int64_t rows, std::size_t count) {
        for (int t = 0; t < team_.threads(); ++t) quantize(t, rows, prompt.front());
        y_.resize(static_cast<std::size_t>(rows * prompt.front().rows) * parts_.size());
        return run(prompt, count, true, [&](int t) {
            const std::size_t mine = y_.size() / parts_.size();
            const float* y = y_.data() + static_cast<std::size_t>(t) * mine;
            const float sum = std::accumulate(y, y + mine, 0.0f);
            __asm__ volatile("" ::"m"(sum));
            quantize(t, rows, prompt.front());
        });
    }

  private:
    Pieces cut(std::int64_t size) const {
        Pieces pieces;
        if (size == 0) return pieces;
        const Matrix& all = weights_->matrix(0);
        const std::int64_t panels =
            std::clamp<std::int64_t>(size / static_cast<std::int64_t>(all.panel_bytes()), 1, all.panels());
        for (std::int64_t first = 0; first + panels <= all.panels(); first += panels) {
            Matrix piece = all;
            piece.rows = panels * kPanelRows;
            piece.data += static_cast<std::size_t>(first) * all.panel_bytes();
            if (all.format == PanelFormat::w8) piece.row_scales += first * kPanelRows;
            pieces.push_back(piece);
        }
        return pieces;
    }
    void quantize(int thread, std::int64_t rows, const Matrix& like) {
        const auto n = static_cast<std::size_t>(rows * like.k);
        if (x_.size() < n) x_ = noise(n);
        quantize_activations(std::span(x_).first(n), rows, like.format, digits_,
                             parts_[static_cast<std::size_t>(thread)]);
    }
    template <class Before>
    RunTime run(const Pieces& pieces, std::size_t count, bool interrupted, Before before) {
        y_.resize(std::max(y_.size(), static_cast<std::size_t>(pieces.front().rows)));
        double seconds = 0;  // of products
        RunTime time = team_.run([&](int t) {
            double start = 0;
            for (std::size_t i = 0; i < count; ++i) {
                const auto at = [&](std::size_t j) {
                    return MatmulTask{&pieces[(start_ + j) % pieces.size()], 0, parts_, y_.data()};
                };
                if (interrupted) {
                    before(t);
                    team_.barrier();
                    start = wall_seconds();
                }
                const MatmulTask task = at(i), next = at(i + 1);
                multiply_share(best_kernels(), {&task, 1}, t, team_.threads(),
                               start_of_share({&next, 1}, t, team_.threads()));
                team_.barrier();
                if (interrupted && t == 0) seconds += wall_seconds() - start;
            }
        });
        if (interrupted) time.wall = seconds;
        start_ += count;
        return time;
    }

    ThreadTeam& team_;
    std::unique_ptr<Weights> weights_;
    std::vector<Activations> parts_;
    std::vector<float> x_, y_;
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

void measure_barrier(const RatesRequest& r, ThreadTeam& team, Stopwatch& watch, HostRates& rates) {
    constexpr int kMany = 2000;
    rates.barrier = watch.median("barrier", "between barriers of the team", kMany, [&] {
        return team.run([&](int) {
            for (int i = 0; i < kMany; ++i) team.barrier();
        });
    });
    // A run that streams, as steps do: caches then hold little of what waking takes.
    constexpr std::size_t kTurns = 4;
    const Between between(r, team.threads());
    const auto step = [&] {
        const double start = wall_seconds();
        RunTime time = team.run([&](int t) {
            for (std::size_t i = 0; i < kTurns; ++i) between.read(t, i);
        });
        time.wall = std::max(0.0, wall_seconds() - start - time.wall);
        return time;
    };
    rates.wake = watch.median("wake", "a run of the team beyond its work", 1, step,
                              settled(r.streams, {between.memory(kTurns)}, team, step));
}

namespace {

struct Shapes {
    std::map<MatmulKind, Sizes> kinds;
    std::int64_t bytes_a_token = 0;  ///< of weights, that a decode step reads
};

Shapes shapes_of(const RatesRequest& r, int threads) {
    Shapes shapes;
    const auto add = [&](int tensor, std::int64_t used, bool prefill) {
        const model::Tensor& t = r.model.tensors[static_cast<std::size_t>(tensor)];
        const PanelFormat format = r.source.format(t);
        const auto one = static_cast<std::int64_t>(Matrix{format, t.dims[1], t.dims[0], 1, {}, {}}.bytes());
        shapes.bytes_a_token += one * used;
        const std::int64_t at_once = one * std::min<std::int64_t>(used, threads);
        Sizes& sizes = shapes.kinds[{format, t.dims[0], t.dims[2] > 1}];
        sizes.large = std::max(sizes.large, at_once);
        sizes.small = sizes.small == 0 ? at_once : std::min(sizes.small, at_once);
        if (prefill) sizes.prompt = std::max(sizes.prompt, one);
    };
    for (const DecoderLayer& l : r.decoder.layers) {
        const LayerTensors& t = l.tensors;
        for (const int tensor : {t.q, t.k, t.v, t.output}) add(tensor, 1, true);
        for (const int tensor : {t.gate, t.up, t.down}) add(tensor, std::max<std::int64_t>(1, l.used), true);
        if (t.router >= 0) add(t.router, 1, true);
    }
    add(r.decoder.output, 1, false);
    return shapes;
}

void measure_kind(const MatmulKind& kind, const Sizes& sizes, std::int64_t bytes, const RatesRequest& r,
                  ThreadTeam& team, Stopwatch& watch, HostRates& rates) {
    MatmulRate& rate = rates.matmul[kind];
    Chain chain(kind, bytes, sizes, r.settings, team);
    const std::string how = std::string(panel_layout(kind.format).name) + ", rows of " +
                            std::to_string(kind.k) + (kind.experts ? " of experts" : "");
    const auto bytes_of = [](const Chain::Pieces& pieces) {
        return static_cast<double>(pieces.front().bytes());
    };
    // Seconds of one piece, barrier aside.
    const auto one_token = [&](const Chain::Pieces& pieces, const char* which, bool interrupted) {
        const auto work = [&] { return chain.one_token(pieces, interrupted); };
        const double seconds = watch.streamed("gemv", how + which, static_cast<double>(pieces.size()), work,
                                              settled(r.streams, {chain.memory()}, team, work));
        return std::max(0.0, seconds - rates.barrier);  // a disturbed barrier may look longer than a piece
    };
    constexpr double kApart = 2;  // sizes closer to each other say too little of what a start costs
    const double large = bytes_of(chain.large), small = bytes_of(chain.small);
    const double part = one_token(chain.small, ", small", false);
    rate.decode = part / small;
    if (large > kApart * small) {
        const double whole = one_token(chain.large, ", large", false);
        rate.decode = std::clamp((whole - part) / (large - small), 0.0, whole / large);
    }
    rate.decode_start = std::max(0.0, part - rate.decode * small);
    rate.decode_restart = std::max(0.0, one_token(chain.small, ", small, interrupted", true) - part);
    if (chain.prompt.empty() || !rate.prefill.empty()) return;
    constexpr double kSample = 12 << 20;  // bytes
    const double prompt = bytes_of(chain.prompt);
    const double count =
        std::clamp(std::floor(kSample / prompt), 1.0, static_cast<double>(chain.prompt.size()));
    for (const std::int64_t rows : prefill_rows(r, team.threads()))
        rate.prefill[rows] =
            (watch.median("gemm", how + ", " + std::to_string(rows) + " tokens a thread", count,
                          [&] { return chain.many_tokens(rows, static_cast<std::size_t>(count)); }) -
             rates.barrier) /
            prompt;
}

}  // namespace

void measure_matmul(const RatesRequest& r, ThreadTeam& team, Stopwatch& watch, HostRates& rates) {
    // What is evicted need not be longer, what is warm not than what holds several last caches.
    const std::int64_t longest = r.streams == Streams::cold
                                     ? std::int64_t{128} << 20
                                     : static_cast<std::int64_t>(r.other.buffer.bytes());
    const Shapes shapes = shapes_of(r, team.threads());
    for (const auto& [kind, sizes] : shapes.kinds) {
        const std::int64_t bytes = std::min(kind.experts ? r.weight_bytes : shapes.bytes_a_token, longest);
        measure_kind(kind, sizes, std::max(bytes, 2 * sizes.large), r, team, watch, rates);
    }
}

}  // namespace memwall::kernels
