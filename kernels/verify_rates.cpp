#include "kernels/verify_rates.h"

#include <algorithm>
#include <array>
#include <set>

#include "kernels/engine/matmul_step.h"
#include "kernels/engine/weights.h"
#include "kernels/verify_between.h"

namespace memwall::kernels {
namespace {

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

    /// `rows` activation rows on every thread (only_first: on the first alone) times `pieces` pieces.
    /// `interrupted`: one thread quantizes its row before each product, which is not part of the time.
    RunTime run(std::int64_t rows, bool only_first, std::size_t pieces, bool in_short,
                bool interrupted = false) {
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
        // Seconds of one piece, barrier aside.
        const auto timed = [&](std::int64_t rows, bool first, std::size_t pieces, bool in_short,
                               bool interrupted = false) {
            const std::string what = how + (in_short ? ", short, " : ", ") +
                                     (interrupted ? "interrupted, " : "") + std::to_string(rows) +
                                     " tokens a thread";
            const auto work = [&] { return chain.run(rows, first, pieces, in_short, interrupted); };
            const double seconds =
                first ? watch.median("gemv", what, 1, work, settled(r.streams, {chain.memory()}, team, work)) *
                            watch.pace()
                      : watch.median("gemm", what, 1, work);
            return seconds / static_cast<double>(pieces) - rates.barrier;
        };
        const double whole = timed(1, true, chain.pieces(false), false),
                     part = timed(1, true, chain.pieces(true), true);
        rate.decode = chain.bytes(false) > chain.bytes(true)
                          ? std::max(0.0, (whole - part) / (chain.bytes(false) - chain.bytes(true)))
                          : whole / chain.bytes(false);
        rate.decode_start = std::max(0.0, part - rate.decode * chain.bytes(true));
        rate.decode_restart = std::max(0.0, timed(1, true, chain.pieces(true), true, true) - part);
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

}  // namespace memwall::kernels
