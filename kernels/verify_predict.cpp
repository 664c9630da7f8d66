#include "kernels/verify_predict.h"

#include <algorithm>
#include <cmath>

#include "kernels/engine/weights.h"

namespace memwall::kernels {
namespace {

/// Sums up one pass of m tokens from position `first` on.
class Pass {
  public:
    Pass(const RatesRequest& r, const HostRates& rates, int threads, std::int64_t m, std::int64_t first)
        : r_(r), rates_(rates), threads_(threads), m_(m), first_(first) {
        own_ = static_cast<double>((m + threads - 1) / threads);
    }

    double seconds = 0, weight_bytes = 0, kv_bytes = 0;

    void run(bool logits) {
        const ElementCosts& c = rates_.elements;
        const Decoder& d = r_.decoder;
        seconds += rates_.wake;
        const double angles = d.conventions.window_rope_base > 0 ? 2 : 1;
        seconds +=
            c.read_row.rows(own_) * hidden() + angles * c.angle.rows(own_) * d.layers.front().key_dim / 2;
        for (const DecoderLayer& l : d.layers) {
            attention(l);
            if (l.experts == 0)
                dense(l);
            else if (m_ == 1)
                experts_of_one(l);
            else
                experts_of_many(l);
            seconds += (c.add.rows(own_) + (l.tensors.post_ffn_norm >= 0 ? c.norm.rows(own_) : 0)) * hidden();
        }
        if (!logits) return;
        seconds += c.norm.first * hidden() + quantize({d.output}, 1, hidden());
        barriers(2);
        seconds += product(d.output, 1, 1);
    }

  private:
    double hidden() const { return static_cast<double>(r_.decoder.hidden); }
    void barriers(double n) { seconds += n * rates_.barrier; }
    PanelFormat format(int tensor) const {
        return r_.source.format(r_.model.tensors[static_cast<std::size_t>(tensor)]);
    }

    /// `rows` rows a thread times one matrix (of a stack); one row in all when the pass has one token.
    /// `again`: right after another product, without a barrier.
    double product(int tensor, double rows, double matrices, bool even_panels = false, bool again = false) {
        const model::Tensor& t = r_.model.tensors[static_cast<std::size_t>(tensor)];
        const Matrix m{format(tensor), t.dims[1], t.dims[0], 1, nullptr, nullptr};
        double bytes = matrices * static_cast<double>(m.bytes());
        weight_bytes += bytes;
        // The thread with most panels sets the pace.
        if (even_panels)
            bytes *= std::ceil(static_cast<double>(m.panels()) / threads_) * threads_ /
                     static_cast<double>(m.panels());
        const MatmulRate& rate = rates_.matmul.at({m.format, m.k, t.dims[2] > 1});
        if (m_ == 1 || rows <= 0 || tensor == r_.decoder.output)
            return bytes * rate.decode + std::ceil(matrices / threads_) * rate.decode_start +
                   (again ? 0 : rate.decode_restart);
        return bytes * rate.at(rows);
    }
    double quantize(std::initializer_list<int> tensors, double rows, double width) const {
        double each = 0;
        std::vector<PanelFormat> done;
        for (const int tensor : tensors) {
            if (std::find(done.begin(), done.end(), format(tensor)) != done.end()) continue;
            done.push_back(format(tensor));
            each += rates_.elements.quantize.at(format(tensor)).rows(rows);
        }
        return width * each;
    }

    /// Pages that a query at `position` sees.
    double pages_at(const DecoderLayer& l, double position) const {
        const auto window = static_cast<double>(r_.decoder.caches[static_cast<std::size_t>(l.group)].window);
        if (window == 0 || position < window) return std::floor(position / kPageTokens) + 1;
        return std::floor(position / kPageTokens) - std::floor((position - window + 1) / kPageTokens) + 1;
    }

    void attention(const DecoderLayer& l) {
        const ElementCosts& c = rates_.elements;
        const LayerTensors& t = l.tensors;
        const auto heads = static_cast<double>(l.heads), kv_heads = static_cast<double>(l.kv_heads);
        seconds += c.norm.rows(own_) * hidden() + quantize({t.q, t.k, t.v}, own_, hidden());
        seconds +=
            product(t.q, own_, 1) + product(t.k, own_, 1, false, true) + product(t.v, own_, 1, false, true);
        // Heads are shared as whole KV heads.
        const double mine = std::ceil(kv_heads / threads_), tokens = static_cast<double>(m_);
        const double group = heads / kv_heads;
        seconds += mine * c.rotate.rows(tokens) * l.key_dim * (1 + group);
        if (m_ > 1)
            seconds += mine * c.store.rows(tokens) * (l.key_dim + l.value_dim);  // of one token: decode_pages
        if (t.q_norm >= 0) seconds += mine * c.head_norm.rows(tokens) * l.key_dim * (1 + group);
        if (t.q_bias >= 0) seconds += mine * c.add.rows(tokens) * (l.key_dim * (1 + group) + l.value_dim);
        const double page_bytes =
            static_cast<double>(kv_page_layout(r_.settings.kv.format, l.key_dim, l.value_dim).bytes());
        if (m_ == 1) {
            const double pages = pages_at(l, static_cast<double>(first_));
            seconds += rates_.decode_pages.at(pages);
            kv_bytes += pages * page_bytes * kv_heads;
        } else {
            const double run = std::max(1.0, std::floor(kHighestHeads / group));
            const double units = std::ceil(std::ceil(static_cast<double>(m_) / run) * kv_heads / threads_);
            // The middle of the chunk, without rounding up to pages: that is how the cost was measured.
            double pages = (static_cast<double>(first_) + static_cast<double>(m_) / 2) / kPageTokens;
            const auto window =
                static_cast<double>(r_.decoder.caches[static_cast<std::size_t>(l.group)].window);
            if (window > 0) pages = std::min(pages, window / kPageTokens + 0.5);
            seconds += units * rates_.prefill_pages.at(pages);
        }
        seconds += quantize({t.output}, own_, heads * l.value_dim) + product(t.output, own_, 1);
        seconds += (c.add.rows(own_) + (t.post_attn_norm >= 0 ? c.norm.rows(own_) : 0)) * hidden();
        barriers(6);
    }

    void dense(const DecoderLayer& l) {
        const ElementCosts& c = rates_.elements;
        const LayerTensors& t = l.tensors;
        const auto width = static_cast<double>(l.width);
        seconds += c.norm.rows(own_) * hidden() + quantize({t.gate, t.up}, own_, hidden());
        seconds += product(t.gate, own_, 1, true) + product(t.up, own_, 1, true, true);
        seconds += c.gate.rows(static_cast<double>(m_)) * width / threads_;
        seconds += quantize({t.down}, own_, width) + product(t.down, own_, 1);
        barriers(4);
    }

    void route(const DecoderLayer& l) {
        const ElementCosts& c = rates_.elements;
        const LayerTensors& t = l.tensors;
        seconds += c.norm.rows(own_) * hidden() + quantize({t.router, t.gate, t.up}, own_, hidden());
        seconds += product(t.router, own_, 1) + c.choose.rows(own_);
        barriers(3);
    }

    void experts_of_one(const DecoderLayer& l) {
        const ElementCosts& c = rates_.elements;
        const LayerTensors& t = l.tensors;
        route(l);
        const auto used = static_cast<double>(l.used), width = static_cast<double>(l.width);
        seconds += product(t.gate, 1, used) + product(t.up, 1, used, false, true) +
                   c.gate.first * width * used / threads_;
        seconds += quantize({t.down}, std::ceil(used / threads_), width) + product(t.down, 1, used);
        seconds += c.add.rows(used) * hidden();
        barriers(3);
    }

    void experts_of_many(const DecoderLayer& l) {
        const ElementCosts& c = rates_.elements;
        const LayerTensors& t = l.tensors;
        route(l);
        const auto used = static_cast<double>(l.used), count = static_cast<double>(l.experts);
        const auto m = static_cast<double>(m_), width = static_cast<double>(l.width);
        // Experts that somebody visits, and how many visit each: routing taken as uniform.
        const double visited = count * (1 - std::pow(1 - used / count, m));
        const double each = m * used / visited, own = std::max(1.0, each / threads_);
        seconds += visited * (quantize({t.gate, t.up}, own, hidden()) + 2 * own * c.add.further * hidden());
        seconds += product(t.gate, own, visited, true) + product(t.up, own, visited, true);
        seconds += visited * (c.gate.further * width * each / threads_ + quantize({t.down}, own, width));
        seconds += product(t.down, own, visited);
        barriers(2 + 4 * visited);
    }

    const RatesRequest& r_;
    const HostRates& rates_;
    int threads_;
    std::int64_t m_, first_;
    double own_;  // tokens of the busiest thread
};

}  // namespace

DecodePrediction predict_decode(const RatesRequest& r, const HostRates& rates, int threads,
                                std::int64_t position) {
    Pass pass(r, rates, threads, 1, position);
    pass.run(true);
    return {pass.seconds, pass.weight_bytes, pass.kv_bytes};
}

double predict_prefill(const RatesRequest& r, const HostRates& rates, int threads, std::int64_t n,
                       std::int64_t first) {
    double seconds = 0;
    for (std::int64_t done = 0; done < n;) {
        const std::int64_t m = std::min(r.settings.chunk, n - done);
        Pass pass(r, rates, threads, m, first + done);
        pass.run(done + m == n);
        seconds += pass.seconds;
        done += m;
    }
    return seconds;
}

}  // namespace memwall::kernels
