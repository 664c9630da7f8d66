#include "kernels/engine/decoder.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "core/base/error.h"

namespace memwall::kernels {
namespace {

struct ConventionRow {
    std::string_view architecture;
    Conventions conventions;
};
// Read from the graphs of llama.cpp v0.5.0 (src/models): converters of llama-like files permute queries and
// keys so that pairs are neighbours. 10,000 for Gemma-3's windowed layers: its configuration's
// rope_local_base_freq.
constexpr ConventionRow kConventions[] = {
    {"llama", {true, false, 0}},
    {"granite", {true, false, 0}},
    {"qwen2", {}},
    {"qwen3", {}},
    {"qwen3moe", {}},
    {"mistral3", {true, false, 0}},
    {"gemma", {false, true, 0}},
    {"gemma3", {false, true, 1e4}},
};

class Reader {
  public:
    explicit Reader(const model::Model& m) : model_(m) {
        for (std::size_t i = 0; i < m.tensors.size(); ++i)
            names_.emplace(m.tensors[i].name, static_cast<int>(i));
    }

    [[noreturn]] void refuse(const std::string& what) const {
        throw Error(model_.id, what,
                    "a decoder of RMS norms, rotary positions, plain grouped attention and gated "
                    "feed-forwards or experts");
    }

    /// Index of a tensor of that shape; -1 when there is none and it is optional.
    int take(const std::string& name, std::int64_t inputs, std::int64_t outputs, std::int64_t count = 1,
             bool optional = false) {
        const auto it = names_.find(name);
        if (it == names_.end()) {
            if (optional) return -1;
            refuse("no tensor '" + name + "'");
        }
        const auto& dims = model_.tensors[static_cast<std::size_t>(it->second)].dims;
        if (dims != std::array<std::int64_t, 4>{inputs, outputs, count, 1})
            refuse("tensor '" + name + "' of unexpected shape");
        const int index = it->second;
        names_.erase(it);
        return index;
    }
    int optional_vector(const std::string& name, std::int64_t n) { return take(name, n, 1, 1, true); }

    /// Tensors that nobody took would be left out of the computation.
    void check_all_taken() const {
        if (!names_.empty()) refuse("tensor '" + names_.begin()->first + "'");
    }

  private:
    const model::Model& model_;
    std::map<std::string, int> names_;
};

DecoderLayer read_layer(Reader& r, const model::Model& m, const model::Layer& layer, const std::string& blk) {
    if (!layer.attention || layer.recurrent) r.refuse(blk + " is not plain attention");
    const model::Attention& a = *layer.attention;
    if (a.latent_rank > 0 || a.shared_with >= 0 || a.keys_as_values || a.chunked || a.gated_output ||
        a.sinks || a.fused_qkv || !a.rope || a.output_bias ||
        a.qk_norm == model::Attention::QkNorm::full_row || layer.norm_bias)
        r.refuse(blk + "attention of a kind this engine has not");
    if (a.heads < 1 || a.kv_heads < 1 || a.heads % a.kv_heads != 0) r.refuse(blk + "heads in uneven groups");
    DecoderLayer d;
    d.heads = a.heads;
    d.kv_heads = a.kv_heads;
    d.key_dim = static_cast<int>(a.key_dim);
    d.value_dim = static_cast<int>(a.value_dim);
    d.windowed = a.window > 0;
    LayerTensors& t = d.tensors;
    t.attn_norm = r.take(blk + "attn_norm.weight", m.hidden, 1);
    t.post_attn_norm = r.optional_vector(blk + "post_attention_norm.weight", m.hidden);
    t.ffn_norm = r.take(blk + "ffn_norm.weight", m.hidden, 1);
    t.post_ffn_norm = r.optional_vector(blk + "post_ffw_norm.weight", m.hidden);
    t.q = r.take(blk + "attn_q.weight", m.hidden, a.heads * a.key_dim);
    t.k = r.take(blk + "attn_k.weight", m.hidden, a.kv_heads * a.key_dim);
    t.v = r.take(blk + "attn_v.weight", m.hidden, a.kv_heads * a.value_dim);
    t.output = r.take(blk + "attn_output.weight", a.heads * a.value_dim, m.hidden);
    t.q_bias = r.optional_vector(blk + "attn_q.bias", a.heads * a.key_dim);
    t.k_bias = r.optional_vector(blk + "attn_k.bias", a.kv_heads * a.key_dim);
    t.v_bias = r.optional_vector(blk + "attn_v.bias", a.kv_heads * a.value_dim);
    t.q_norm = r.optional_vector(blk + "attn_q_norm.weight", a.key_dim);
    t.k_norm = r.optional_vector(blk + "attn_k_norm.weight", a.key_dim);
    if (layer.feed_forward) {
        d.width = layer.feed_forward->width;
        t.gate = r.take(blk + "ffn_gate.weight", m.hidden, d.width);
        t.up = r.take(blk + "ffn_up.weight", m.hidden, d.width);
        t.down = r.take(blk + "ffn_down.weight", d.width, m.hidden);
    } else if (layer.experts) {
        const model::Experts& x = *layer.experts;
        if (x.sigmoid || x.shared_width > 0 || x.groups != 1 || x.scale != 1 || x.used < 1 ||
            x.used > x.count)
            r.refuse(blk + "experts of a kind this engine has not");
        d.experts = x.count;
        d.used = x.used;
        d.width = x.width;
        d.normalized = x.normalized || x.softmax_of_chosen;  // the same numbers
        t.router = r.take(blk + "ffn_gate_inp.weight", m.hidden, x.count);
        t.gate = r.take(blk + "ffn_gate_exps.weight", m.hidden, d.width, x.count);
        t.up = r.take(blk + "ffn_up_exps.weight", m.hidden, d.width, x.count);
        t.down = r.take(blk + "ffn_down_exps.weight", d.width, m.hidden, x.count);
    } else {
        r.refuse(blk + "a layer without feed-forward");
    }
    return d;
}

}  // namespace

std::int64_t Decoder::widest_ffn() const {
    std::int64_t width = 0;
    for (const DecoderLayer& l : layers) width = std::max(width, l.width);
    return width;
}

Decoder decoder_of(const model::Model& m, const EngineSettings& s) {
    Reader r(m);
    const auto* row = std::find_if(std::begin(kConventions), std::end(kConventions),
                                   [&](const ConventionRow& c) { return c.architecture == m.architecture; });
    if (row == std::end(kConventions)) r.refuse("architecture '" + m.architecture + "'");
    if (m.embedder || m.cross_attention || !m.encoder.empty() || !m.prediction_layers.empty() ||
        m.position_embeddings > 0 || m.final_softcap > 0 || m.attention_softcap > 0 || m.residual_scale ||
        m.logit_scale || m.layer_output_scale || m.output_bias || m.layers.empty())
        r.refuse("a model with parts beside the decoder, or scales and caps");
    if (s.context < 1 || s.sequences < 1 || s.chunk < 1 || s.chunk > 4096 || s.context > 1 << 24)
        throw Error("engine",
                    std::to_string(s.sequences) + " sequences of " + std::to_string(s.context) +
                        " tokens in chunks of " + std::to_string(s.chunk),
                    "at least one each, up to 2^24 tokens and chunks of 4,096");
    Decoder d;
    d.hidden = m.hidden;
    d.vocabulary = m.vocabulary;
    d.conventions = row->conventions;
    if (m.embedding_scale) d.embedding_scale = std::sqrt(static_cast<double>(m.hidden));
    d.token_table = r.take("token_embd.weight", m.hidden, m.vocabulary);
    d.output = r.take("output.weight", m.hidden, m.vocabulary, 1, true);
    if (d.output < 0) d.output = d.token_table;
    d.output_norm = r.take("output_norm.weight", m.hidden, 1);
    if (m.rope_factors > 0) d.rope_factors = r.take("rope_freqs.weight", m.rope_factors, 1);
    for (std::size_t i = 0; i < m.layers.size(); ++i) {
        DecoderLayer l = read_layer(r, m, m.layers[i], "blk." + std::to_string(i) + ".");
        const KvShape shape{1, l.kv_heads, l.key_dim, l.value_dim, m.layers[i].attention->window, 0, s.kv};
        shape.page();  // throws for widths that no page has
        if (m.rope_factors > 0 && 2 * m.rope_factors != l.key_dim) r.refuse("rope factors of another width");
        if (!d.layers.empty() && d.layers.front().key_dim != l.key_dim) r.refuse("heads of several widths");
        std::size_t g = 0;
        for (; g < d.caches.size(); ++g) {
            const KvShape& c = d.caches[g];
            if (c.kv_heads == shape.kv_heads && c.key_dim == shape.key_dim &&
                c.value_dim == shape.value_dim && c.window == shape.window)
                break;
        }
        if (g == d.caches.size())
            d.caches.push_back(shape);
        else
            ++d.caches[g].layers;
        l.group = static_cast<int>(g);
        l.layer_in_group = d.caches[g].layers - 1;
        d.layers.push_back(l);
    }
    r.check_all_taken();
    return d;
}

}  // namespace memwall::kernels
