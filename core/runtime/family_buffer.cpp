#include "core/runtime/family_buffer.h"

#include <algorithm>
#include <cmath>

namespace memwall::runtime {
namespace {

struct Widest {
    std::int64_t feed_forward = 0, attention = 0, heads = 0;
    bool windows = false;
};

Widest widest(const model::Model& m) {
    Widest w;
    for (const model::Layer& l : m.layers) {
        if (l.feed_forward) w.feed_forward = std::max(w.feed_forward, l.feed_forward->width);
        if (l.experts)
            w.feed_forward =
                std::max(w.feed_forward, l.experts->used * l.experts->width + l.experts->shared_width);
        if (l.recurrent) w.feed_forward = std::max(w.feed_forward, 2 * l.recurrent->inner);
        if (!l.attention) continue;
        w.heads = std::max(w.heads, l.attention->heads);
        w.attention = std::max(w.attention,
                               l.attention->heads * std::max(l.attention->key_dim, l.attention->latent_rank));
        w.windows = w.windows || l.attention->window > 0;
    }
    return w;
}

}  // namespace

Interval<Bytes> family_buffer(const model::Model& m, const EngineSettings& s) {
    const Widest w = widest(m);
    const std::int64_t cells = s.n_ctx / std::max<std::int64_t>(1, s.n_seq);
    const std::int64_t u = std::min({s.n_ubatch > 0 ? s.n_ubatch : s.n_batch, s.n_batch, s.n_ctx});
    std::int64_t layer = 4 * u * (3 * w.feed_forward + 3 * m.hidden + w.attention) + 2 * u * cells;
    if (!s.flash_attention) layer += 4 * u * cells * w.heads;
    const std::int64_t logits = m.embedder ? 0 : 4 * m.vocabulary;
    return {Bytes(layer / 2), Bytes(layer + logits * s.n_seq), Bytes(2 * layer + logits * u), 0.9,
            "closed form of the family; this runtime was not measured"};
}

Bytes host_input_bytes(const model::Model& m, const EngineCells& c) {
    const std::int64_t t = c.prompt_tokens;
    const std::int64_t columns = c.cells + (c.windows ? c.window_cells : 0);
    return Bytes(8 * m.hidden * t + 2 * columns * t + 16 * t);
}

}  // namespace memwall::runtime
