#include "kernels/engine/engine_memory.h"

#include <algorithm>

#include "core/memory/kv_cache.h"
#include "core/quant/kv_type.h"
#include "kernels/engine/attention.h"

namespace memwall::kernels {
namespace {

std::int64_t padded(std::int64_t n, std::int64_t step) {
    return (n + step - 1) / step * step;
}

/// Bytes of a panel format as core counts formats: blocks of values with their scales.
struct StoredFormat {
    PanelFormat format;
    std::int64_t block_len, block_bytes, row_bytes;
};
constexpr StoredFormat kStored[] = {
    {PanelFormat::w4g32, 32, 18, 0},    // = ggml Q4_0
    {PanelFormat::w4g128, 128, 68, 0},  // 64 of codes, 2 of scale, 1 of zero point, 1 unused
    {PanelFormat::q4k, 256, 144, 0},    // = ggml Q4_K
    {PanelFormat::w8, 1, 1, 4},         // and a float a row
    {PanelFormat::w8g32, 32, 34, 0},    // = ggml Q8_0
    {PanelFormat::f16, 1, 2, 0},
};

std::int64_t matrix_bytes(PanelFormat format, std::int64_t rows, std::int64_t k) {
    const StoredFormat& f = kStored[static_cast<std::size_t>(format)];
    const std::int64_t all_rows = padded(rows, kPanelRows), all_k = padded(k, panel_layout(format).block);
    return all_rows * (all_k / f.block_len * f.block_bytes + f.row_bytes);
}

std::int64_t weights_bytes(const model::Model& model, const WeightSource& source) {
    std::int64_t all = 0;
    for (const model::Tensor& t : model.tensors) {
        const std::int64_t matrices = t.dims[2] * t.dims[3];
        const bool vector = t.dims[1] * matrices == 1;
        all += padded(
            vector ? t.elements() * 4 : matrices * matrix_bytes(source.format(t), t.dims[1], t.dims[0]),
            kLineBytes);
    }
    return all;
}

std::int64_t kv_bytes(const Decoder& d, const EngineSettings& s) {
    // Core has no row for keys scaled by channel in pages that keep token scales as well: a plain integer
    // cache and the channels' scales.
    const std::string_view name = s.kv.format == KvFormat::f16    ? "f16"
                                  : s.kv.format == KvFormat::int8 ? "int8"
                                                                  : "int4";
    const quant::KvType type = *quant::parse_kv_type(name);
    std::int64_t all = 0;
    for (const KvShape& shape : d.caches) {
        const memory::KvGroup group{
            static_cast<int>(shape.layers), shape.kv_heads, shape.key_dim, shape.value_dim, shape.window, 0};
        memory::KvCells cells;
        cells.full = padded(s.context, kPageTokens);
        cells.padding = kPageTokens;
        cells.window_extra = s.chunk + kPageTokens - 2;  // the chunk, and where in a page the window starts
        cells.streams = s.sequences;
        cells.windows_full = s.layout == KvSettings::Layout::contiguous;
        all += memory::kv_cache_bytes({&group, 1}, cells, type, type).value;
        if (s.kv.channel_keys) all += 2 * shape.streams() * shape.key_dim;
    }
    return all;
}

}  // namespace

KvSettings cache_settings(const KvShape& shape, const EngineSettings& s) {
    KvSettings k;
    k.layout = s.layout;
    k.sequences = s.sequences;
    k.folder = s.kv_folder;
    k.tokens = s.context;
    if (s.layout == KvSettings::Layout::paged) {
        std::int64_t pages = (s.context + kPageTokens - 1) / kPageTokens;
        if (shape.window > 0) pages = std::min(pages, window_pages(shape, s.chunk));
        k.tokens = pages * kPageTokens * s.sequences;
    }
    return k;
}

std::int64_t most_pages(const Decoder& d, const EngineSettings& s) {
    const std::int64_t all = (s.context + kPageTokens - 1) / kPageTokens;
    std::int64_t most = 1;
    for (const KvShape& shape : d.caches)
        most = std::max(most, shape.window > 0 ? std::min(all, window_pages(shape, 1)) : all);
    return most;
}

std::int64_t most_used(const Decoder& d) {
    std::int64_t most = 0;
    for (const DecoderLayer& l : d.layers) most = std::max(most, l.used);
    return most;
}

std::size_t cut_buffers(const Decoder& d, const EngineSettings& s, std::byte* memory, ActivationBuffers& b) {
    std::size_t used = 0;
    const auto cut = [&](std::span<float>& to, std::int64_t rows, std::int64_t width) {
        const auto n = static_cast<std::size_t>(rows * width);
        if (memory != nullptr) to = {reinterpret_cast<float*>(memory + used), n};
        used += static_cast<std::size_t>(padded(static_cast<std::int64_t>(n * sizeof(float)), kLineBytes));
    };
    std::int64_t q = 0, k = 0, v = 0, attended = 0, key_dim = 0, experts = 0;
    for (const DecoderLayer& l : d.layers) {
        q = std::max(q, l.heads * l.key_dim);
        k = std::max(k, l.kv_heads * l.key_dim);
        v = std::max(v, l.kv_heads * l.value_dim);
        attended = std::max(attended, l.heads * l.value_dim);
        key_dim = std::max<std::int64_t>(key_dim, l.key_dim);
        experts = std::max(experts, l.experts);
    }
    const std::int64_t slots = std::max(s.chunk, most_used(d));
    cut(b.x, s.chunk, d.hidden);
    cut(b.h, s.chunk, d.hidden);
    cut(b.y, s.chunk, d.hidden);
    cut(b.q, s.chunk, q);
    cut(b.k, s.chunk, k);
    cut(b.v, s.chunk, v);
    cut(b.attended, s.chunk, attended);
    cut(b.gate, slots, d.widest_ffn());
    cut(b.up, slots, d.widest_ffn());
    cut(b.angles, s.chunk, key_dim);
    cut(b.window_angles, d.conventions.window_rope_base > 0 ? s.chunk : 0, key_dim);
    cut(b.logits, 1, d.vocabulary);
    cut(b.routed, s.chunk, experts);
    cut(b.weights, s.chunk, most_used(d));
    cut(b.gathered, experts > 0 ? s.chunk : 0, d.hidden);
    cut(b.results, experts > 0 ? slots : 0, d.hidden);
    return used;
}

std::size_t quantized_bytes(const QuantizedNeed& need, std::int64_t rows, int digits) {
    const PanelLayout& layout = panel_layout(need.format);
    const std::int64_t k = padded(need.k, layout.block);
    if (need.format == PanelFormat::f16) return static_cast<std::size_t>(rows * k) * sizeof(float);
    const std::int64_t groups = layout.group == 0 ? 1 : k / layout.group;
    const std::int64_t sums = need.format == PanelFormat::q4k ? 1 : 0;
    return static_cast<std::size_t>(rows * (digits * k + groups * 4 * (1 + digits + sums)));
}

namespace {
/// By format, the widest k among `tensors`.
class NeedList {
  public:
    NeedList(const model::Model& model, const WeightSource& source) : model_(model), source_(source) {}
    void add(int tensor) {
        if (tensor < 0) return;
        const model::Tensor& t = model_.tensors[static_cast<std::size_t>(tensor)];
        const PanelFormat format = source_.format(t);
        const auto same = std::find_if(needs.begin(), needs.end(),
                                       [&](const QuantizedNeed& n) { return n.format == format; });
        if (same == needs.end())
            needs.push_back({format, t.dims[0]});
        else
            same->k = std::max(same->k, t.dims[0]);
    }
    std::vector<QuantizedNeed> needs;

  private:
    const model::Model& model_;
    const WeightSource& source_;
};
}  // namespace

std::vector<QuantizedNeed> quantized_needs(const Decoder& d, const model::Model& model,
                                           const WeightSource& source) {
    NeedList list(model, source);
    for (const DecoderLayer& l : d.layers) {
        const LayerTensors& t = l.tensors;
        for (const int tensor : {t.q, t.k, t.v, t.output, t.gate, t.up, t.down, t.router}) list.add(tensor);
    }
    list.add(d.output);
    return list.needs;
}

std::vector<QuantizedNeed> slot_needs(const Decoder& d, const model::Model& model,
                                      const WeightSource& source) {
    NeedList list(model, source);
    for (const DecoderLayer& l : d.layers)
        if (l.experts > 0) list.add(l.tensors.down);
    return list.needs;
}

EngineBytes engine_bytes(const model::Model& model, const EngineSettings& s, const WeightSource& source,
                         int threads) {
    const Decoder d = decoder_of(model, s);
    EngineBytes bytes;
    bytes.weights = Bytes(weights_bytes(model, source));
    bytes.kv_cache = Bytes(kv_bytes(d, s));
    ActivationBuffers none;
    std::size_t all = cut_buffers(d, s, nullptr, none);
    const std::int64_t rows = (s.chunk + threads - 1) / threads;
    for (const QuantizedNeed& need : quantized_needs(d, model, source))
        all += static_cast<std::size_t>(threads) * quantized_bytes(need, rows, s.digits);
    if (const std::int64_t used = most_used(d); used > 0) {
        for (const QuantizedNeed& need : slot_needs(d, model, source))
            all += static_cast<std::size_t>(used) * quantized_bytes(need, 1, s.digits);
        std::int64_t experts = 0;
        for (const DecoderLayer& l : d.layers) experts = std::max(experts, l.experts);
        all += static_cast<std::size_t>(2 * s.chunk * used + experts + 1) * sizeof(std::int32_t);
    }
    std::int64_t kv_heads = 0, group_heads = 0;
    int key_dim = 0, value_dim = 0;
    for (const DecoderLayer& l : d.layers) {
        kv_heads = std::max(kv_heads, l.kv_heads);
        group_heads = std::max(group_heads, l.group_heads());
        key_dim = std::max(key_dim, l.key_dim);
        value_dim = std::max(value_dim, l.value_dim);
    }
    all += static_cast<std::size_t>(threads) *
           AttentionScratch::bytes(most_pages(d, s), group_heads, key_dim, value_dim);
    all += SharedParts::bytes(kv_heads, threads, group_heads, value_dim);
    const auto pairs = static_cast<std::size_t>(key_dim) / 2;
    all += pairs * sizeof(double) * (d.conventions.window_rope_base > 0 ? 2 : 1);
    bytes.activations = Bytes(static_cast<std::int64_t>(all));
    return bytes;
}

}  // namespace memwall::kernels
