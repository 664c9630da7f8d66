#include "kernels/verify_rates.h"

#include <algorithm>
#include <array>
#include <map>

#include "kernels/engine/matmul_step.h"
#include "kernels/engine/weights.h"
#include "kernels/verify_between.h"

namespace memwall::kernels {
namespace {

/// Products with consecutive pieces of a tall matrix, a barrier after each, as in a model.
class Chain {
  public:
    /// Pieces of about `large` bytes and of about `small` ones, either way `bytes` in all.
    Chain(PanelFormat format, std::int64_t k, std::int64_t bytes, std::int64_t large, std::int64_t small,
          const EngineSettings& like, ThreadTeam& team)
        : team_(team), parts_(static_cast<std::size_t>(team.threads())) {
        EngineSettings s = like;
        s.linear = format;
        const auto source = synthetic_weights(s, 17, 8);
        const model::Model model = tall_matrix(format, k, bytes);
        weights_ = std::make_unique<Weights>(model, *source, team);
        const Matrix& all = weights_->matrix(0);
        for (const std::int64_t size : {large, small}) {
            std::vector<Matrix>& pieces = pieces_[pieces_[0].empty() ? 0 : 1];
            const std::int64_t panels = std::clamp<std::int64_t>(
                size / static_cast<std::int64_t>(all.panel_bytes()), 1, all.panels());
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

    double bytes(bool small) const { return static_cast<double>(pieces_[small].front().bytes()); }
    std::size_t pieces(bool small) const { return pieces_[small].size(); }
    std::span<const std::byte> memory() const { return weights_->memory(); }

    /// `rows` activation rows on every thread (only_first: on the first alone) times `pieces` pieces.
    /// `interrupted`: one thread quantizes its row before each product, which is not part of the time.
    RunTime run(std::int64_t rows, bool only_first, std::size_t pieces, bool small,
                bool interrupted = false) {
        const std::vector<Matrix>& all = pieces_[small];
        const Matrix& like = all.front();
        const std::vector<float> x = noise(static_cast<std::size_t>(rows * like.k));
        for (std::size_t t = 0; t < parts_.size(); ++t) {
            if (only_first && t > 0)
                parts_[t].m = 0;
            else
                quantize_activations(x, rows, like.format, digits_, parts_[t]);
        }
        y_.resize(static_cast<std::size_t>(rows * like.rows) * parts_.size());
        double seconds = 0;  // of products
        RunTime time = team_.run([&](int t) {
            double start = 0;
            for (std::size_t i = 0; i < pieces; ++i) {
                const auto at = [&](std::size_t j) {
                    return MatmulTask{&all[(start_ + j) % all.size()], 0, parts_, y_.data()};
                };
                if (interrupted) {
                    if (t == 0) quantize_activations(x, rows, like.format, digits_, parts_[0]);
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
        start_ += pieces;
        return time;
    }

  private:
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

/// Matrices of a kind, bytes of panels: of the largest and the smallest one (of experts as many as threads
/// take at a time).
struct Sizes {
    std::int64_t large = 0, small = 0;
    bool prefill = false;  ///< sees several tokens at once
};

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
        sizes.prefill = sizes.prefill || prefill;
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
    Chain chain(kind.format, kind.k, bytes, sizes.large, sizes.small, r.settings, team);
    const std::string how = std::string(panel_layout(kind.format).name) + ", rows of " +
                            std::to_string(kind.k) + (kind.experts ? " of experts" : "");
    // Seconds of one piece, barrier aside.
    const auto timed = [&](std::int64_t rows, bool first, std::size_t pieces, bool small,
                           bool interrupted = false) {
        const std::string what = how + (small ? ", small, " : ", ") + (interrupted ? "interrupted, " : "") +
                                 std::to_string(rows) + " tokens a thread";
        const auto work = [&] { return chain.run(rows, first, pieces, small, interrupted); };
        const double seconds =
            first ? watch.median("gemv", what, 1, work, settled(r.streams, {chain.memory()}, team, work)) *
                        watch.pace()
                  : watch.median("gemm", what, 1, work);
        return seconds / static_cast<double>(pieces) - rates.barrier;
    };
    constexpr double kApart = 2;  // sizes closer to each other say too little of what a start costs
    const double large = chain.bytes(false), small = chain.bytes(true);
    const double part = timed(1, true, chain.pieces(true), true);
    rate.decode = part / small;
    if (large > kApart * small) {
        const double whole = timed(1, true, chain.pieces(false), false);
        rate.decode = std::clamp((whole - part) / (large - small), 0.0, whole / large);
    }
    rate.decode_start = part - rate.decode * small;
    rate.decode_restart = std::max(0.0, timed(1, true, chain.pieces(true), true, true) - part);
    if (!sizes.prefill || !rate.prefill.empty()) return;
    constexpr double kAtOnce = 12 << 20;  // bytes of a sample
    const auto pieces = static_cast<std::size_t>(std::clamp(
        kAtOnce / large, 1.0, static_cast<double>(chain.pieces(false))));
    for (const std::int64_t rows : prefill_rows(r, team.threads()))
        rate.prefill[rows] = timed(rows, false, pieces, false) / large;
}

}  // namespace

void measure_matmul(const RatesRequest& r, ThreadTeam& team, Stopwatch& watch, HostRates& rates) {
    constexpr std::int64_t kLong = std::int64_t{128} << 20;  // what is evicted need not be longer
    const Shapes shapes = shapes_of(r, team.threads());
    for (const auto& [kind, sizes] : shapes.kinds) {
        std::int64_t bytes = kind.experts ? r.weight_bytes : shapes.bytes_a_token;
        if (r.streams == Streams::cold) bytes = std::min(bytes, kLong);
        measure_kind(kind, sizes, std::max(bytes, 4 * sizes.large), r, team, watch, rates);
    }
}

}  // namespace memwall::kernels
