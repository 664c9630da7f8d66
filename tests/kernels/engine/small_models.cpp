#include "tests/kernels/engine/small_models.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <random>
#include <string>

namespace memwall::kernels::test {
namespace {

model::Model decoder(const char* architecture, int layers, std::int64_t heads, std::int64_t kv_heads,
                     std::int64_t head_dim) {
    model::Model m;
    m.id = std::string("small ") + architecture;
    m.architecture = architecture;
    m.hidden = 128;
    m.vocabulary = 300;
    for (int i = 0; i < layers; ++i) {
        model::Layer l;
        model::Attention a;
        a.heads = heads;
        a.kv_heads = kv_heads;
        a.key_dim = a.value_dim = head_dim;
        l.attention = a;
        model::FeedForward f;
        f.width = 208;
        l.feed_forward = f;
        m.layers.push_back(l);
    }
    return m;
}

using Row = std::vector<double>;

/// The model's tensors as numbers.
class Numbers {
  public:
    Numbers(const model::Model& m, const WeightSource& source) : source_(source) {
        for (const model::Tensor& t : m.tensors) tensors_.emplace(t.name, &t);
    }
    bool has(const std::string& name) const { return tensors_.count(name) > 0; }
    Row vector(const std::string& name) const {
        const std::vector<float> v = source_.vector(*tensors_.at(name));
        return {v.begin(), v.end()};
    }
    /// Matrix `index` of a stack, times x.
    Row times(const std::string& name, const Row& x, std::int64_t index = 0) {
        const model::Tensor& t = *tensors_.at(name);
        std::vector<float>& w = cache_[name + "#" + std::to_string(index)];
        if (w.empty()) w = dequantize(source_.rows(t, index, 0, t.dims[1]));
        Row y(static_cast<std::size_t>(t.dims[1]));
        for (std::size_t r = 0; r < y.size(); ++r)
            for (std::size_t c = 0; c < x.size(); ++c) y[r] += double{w[r * x.size() + c]} * x[c];
        return y;
    }
    Row row(const std::string& name, std::int64_t r) const {
        const std::vector<float> w = dequantize(source_.rows(*tensors_.at(name), 0, r, 1));
        return {w.begin(), w.end()};
    }

  private:
    const WeightSource& source_;
    std::map<std::string, const model::Tensor*> tensors_;
    std::map<std::string, std::vector<float>> cache_;
};

Row normed(const Row& x, const Row& weight, double epsilon) {
    double square = 0;
    for (const double v : x) square += v * v;
    Row y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
        y[i] = x[i] / std::sqrt(square / static_cast<double>(x.size()) + epsilon) * weight[i];
    return y;
}

void add(Row& x, const Row& y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

Row turned(const Row& head, double position, double base, bool neighbours) {
    Row y = head;
    const std::size_t n = head.size();
    for (std::size_t i = 0; i < n / 2; ++i) {
        const double angle = position / std::pow(base, 2.0 * static_cast<double>(i) / static_cast<double>(n));
        const std::size_t a = neighbours ? 2 * i : i, b = neighbours ? 2 * i + 1 : i + n / 2;
        y[a] = head[a] * std::cos(angle) - head[b] * std::sin(angle);
        y[b] = head[a] * std::sin(angle) + head[b] * std::cos(angle);
    }
    return y;
}

Row gated(Numbers& n, const std::string& blk, const std::string& suffix, const Row& h, bool gelu,
          std::int64_t index) {
    Row g = n.times(blk + "ffn_gate" + suffix + ".weight", h, index);
    const Row u = n.times(blk + "ffn_up" + suffix + ".weight", h, index);
    for (std::size_t i = 0; i < g.size(); ++i) {
        const double x = g[i];
        const double active =
            gelu ? 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)))
                 : x / (1 + std::exp(-x));
        g[i] = active * u[i];
    }
    return n.times(blk + "ffn_down" + suffix + ".weight", g, index);
}

Row experts(Numbers& n, const std::string& blk, const Row& h, const model::Experts& x, bool gelu,
            double& margin) {
    const Row logits = n.times(blk + "ffn_gate_inp.weight", h);
    std::vector<std::size_t> order(logits.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
    const auto used = static_cast<std::size_t>(x.used);
    if (used < order.size()) margin = std::min(margin, logits[order[used - 1]] - logits[order[used]]);
    double all = 0, chosen = 0;
    for (const double l : logits) all += std::exp(l);
    for (std::int64_t i = 0; i < x.used; ++i)
        chosen += std::exp(logits[order[static_cast<std::size_t>(i)]]) / all;
    Row y(h.size());
    for (std::int64_t i = 0; i < x.used; ++i) {
        const std::size_t e = order[static_cast<std::size_t>(i)];
        const double weight = std::exp(logits[e]) / all / (x.normalized ? chosen : 1);
        const Row part = gated(n, blk, "_exps", h, gelu, static_cast<std::int64_t>(e));
        for (std::size_t d = 0; d < y.size(); ++d) y[d] += weight * part[d];
    }
    return y;
}

/// What a page keeps of a token.
void round_as_cached(const KvKind& kind, const model::Attention& a, Row& keys, Row& values) {
    const KvPageLayout layout =
        kv_page_layout(kind.format, static_cast<int>(a.key_dim), static_cast<int>(a.value_dim));
    std::vector<std::byte> page(layout.bytes());
    for (std::int64_t head = 0; head < a.kv_heads; ++head) {
        const auto from = static_cast<std::ptrdiff_t>(head * a.key_dim);
        std::vector<float> k(keys.begin() + from, keys.begin() + from + a.key_dim),
            v(values.begin() + from, values.begin() + from + a.value_dim);
        store_token(layout, page.data(), 0, k, v);
        load_token(layout, page.data(), 0, k, v);
        std::copy(k.begin(), k.end(), keys.begin() + from);
        std::copy(v.begin(), v.end(), values.begin() + from);
    }
}

}  // namespace

model::Model llama_like() {
    model::Model m = decoder("llama", 3, 4, 2, 32);
    generate_tensors(m);
    return m;
}

model::Model qwen_like() {
    model::Model m = decoder("qwen2", 2, 7, 1, 16);
    m.output = model::TiedOutput::tied;
    for (model::Layer& l : m.layers)
        l.attention->query_bias = l.attention->key_bias = l.attention->value_bias = true;
    generate_tensors(m);
    return m;
}

model::Model moe_like() {
    model::Model m = decoder("qwen3moe", 2, 4, 2, 32);
    for (model::Layer& l : m.layers) {
        l.attention->qk_norm = model::Attention::QkNorm::per_head;
        l.feed_forward.reset();
        model::Experts x;
        x.count = 8;
        x.used = 2;
        x.width = 80;
        l.experts = x;
    }
    generate_tensors(m);
    return m;
}

model::Model windowed_like(std::int64_t window) {
    model::Model m = decoder("gemma3", 3, 2, 1, 64);
    m.output = model::TiedOutput::tied;
    m.embedding_scale = true;
    for (std::size_t i = 0; i < 3; ++i) {
        m.layers[i].norms = 4;
        m.layers[i].attention->qk_norm = model::Attention::QkNorm::per_head;
        if (i != 1) m.layers[i].attention->window = window;
    }
    generate_tensors(m);
    return m;
}

Reference reference_logits(const model::Model& m, const EngineSettings& s, const WeightSource& source,
                           const std::vector<std::int32_t>& tokens, bool exact_cache) {
    Reference reference;
    Numbers n(m, source);
    const bool gemma = m.architecture == "gemma3", neighbours = m.architecture == "llama";
    const double epsilon = source.epsilon() > 0 ? source.epsilon() : 1e-5;
    const double base = source.rope_base() > 0 ? source.rope_base() : 10000;
    std::vector<Row> xs;
    for (const std::int32_t token : tokens) {
        xs.push_back(n.row("token_embd.weight", token));
        if (gemma)
            for (double& v : xs.back()) v *= std::sqrt(static_cast<double>(m.hidden));
    }
    for (std::size_t l = 0; l < m.layers.size(); ++l) {
        const std::string blk = "blk." + std::to_string(l) + ".";
        const model::Attention& a = *m.layers[l].attention;
        const auto dim = static_cast<std::size_t>(a.key_dim);
        const auto projected = [&](const char* what, const Row& h) {
            Row y = n.times(blk + what + ".weight", h);
            if (n.has(blk + what + ".bias")) add(y, n.vector(blk + what + ".bias"));
            return y;
        };
        const auto head_of = [&](const Row& row, std::int64_t head, const char* norm, std::size_t position) {
            Row h(row.begin() + head * a.key_dim, row.begin() + (head + 1) * a.key_dim);
            if (n.has(blk + norm)) h = normed(h, n.vector(blk + norm), epsilon);
            return turned(h, static_cast<double>(position), base, neighbours);
        };
        std::vector<Row> ks, vs;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            const Row h = normed(xs[i], n.vector(blk + "attn_norm.weight"), epsilon);
            const Row q = projected("attn_q", h), k = projected("attn_k", h);
            vs.push_back(projected("attn_v", h));
            Row turned_k;
            for (std::int64_t head = 0; head < a.kv_heads; ++head) {
                const Row one = head_of(k, head, "attn_k_norm.weight", i);
                turned_k.insert(turned_k.end(), one.begin(), one.end());
            }
            ks.push_back(turned_k);
            if (!exact_cache) round_as_cached(s.kv, a, ks.back(), vs.back());
            Row attended;
            for (std::int64_t head = 0; head < a.heads; ++head) {
                const Row one = head_of(q, head, "attn_q_norm.weight", i);
                const auto kv = static_cast<std::size_t>(head / (a.heads / a.kv_heads)) * dim;
                const std::size_t from = a.window > 0 && static_cast<std::int64_t>(i) >= a.window
                                             ? i + 1 - static_cast<std::size_t>(a.window)
                                             : 0;
                Row p;
                double sum = 0;
                for (std::size_t j = from; j <= i; ++j) {
                    double score = 0;
                    for (std::size_t d = 0; d < dim; ++d) score += one[d] * ks[j][kv + d];
                    p.push_back(std::exp(score / std::sqrt(static_cast<double>(dim))));
                    sum += p.back();
                }
                Row out(dim);
                for (std::size_t j = from; j <= i; ++j)
                    for (std::size_t d = 0; d < dim; ++d) out[d] += p[j - from] / sum * vs[j][kv + d];
                attended.insert(attended.end(), out.begin(), out.end());
            }
            Row y = n.times(blk + "attn_output.weight", attended);
            if (n.has(blk + "post_attention_norm.weight"))
                y = normed(y, n.vector(blk + "post_attention_norm.weight"), epsilon);
            add(xs[i], y);
            const Row f = normed(xs[i], n.vector(blk + "ffn_norm.weight"), epsilon);
            y = m.layers[l].experts ? experts(n, blk, f, *m.layers[l].experts, gemma, reference.margin)
                                    : gated(n, blk, "", f, gemma, 0);
            if (n.has(blk + "post_ffw_norm.weight"))
                y = normed(y, n.vector(blk + "post_ffw_norm.weight"), epsilon);
            add(xs[i], y);
        }
    }
    for (const Row& x : xs)
        reference.logits.push_back(n.times(n.has("output.weight") ? "output.weight" : "token_embd.weight",
                                           normed(x, n.vector("output_norm.weight"), epsilon)));
    return reference;
}

double relative_error(std::span<const float> a, const std::vector<double>& b) {
    double most = 0, scale = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        most = std::max(most, std::fabs(a[i] - b[i]));
        scale = std::max(scale, std::fabs(b[i]));
    }
    return std::isfinite(most) ? most / scale : 1e9;
}

std::vector<std::int32_t> random_tokens(std::size_t n, std::int64_t vocabulary, std::uint32_t seed) {
    std::mt19937 rng(seed);
    std::vector<std::int32_t> tokens(n);
    for (std::int32_t& t : tokens)
        t = static_cast<std::int32_t>(rng() % static_cast<std::uint32_t>(vocabulary));
    return tokens;
}

}  // namespace memwall::kernels::test
