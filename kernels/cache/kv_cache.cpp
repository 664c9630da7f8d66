#include "kernels/cache/kv_cache.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "kernels/quantize/small_float.h"

namespace memwall::kernels {

const KvKind& find_kv_kind(std::string_view name) {
    std::string known;
    for (const KvKind& kind : kKvKinds) {
        if (kind.name == name) return kind;
        known += (known.empty() ? "" : ", ") + std::string(kind.name);
    }
    throw Error("--kv", "'" + std::string(name) + "'", "one of " + known);
}

std::int64_t window_pages(const KvShape& shape, std::int64_t chunk) {
    // A run of w + chunk - 1 tokens that starts anywhere in a page.
    return (shape.sinks + kPageTokens - 1) / kPageTokens +
           (shape.window + chunk - 2 + kPageTokens - 1) / kPageTokens + 1;
}

KvCache::KvCache(const KvShape& shape, std::int64_t blocks, std::int64_t sequences, const std::string& folder)
    : shape_(shape), layout_(shape.page()), arena_(shape.streams(), blocks, layout_.bytes(), folder) {
    if (sequences < 1 || sequences > 1 << 20)
        throw Error("kv cache", std::to_string(sequences) + " sequences", "1 to 2^20");
    slots_.resize(static_cast<std::size_t>(sequences));
    if (shape.kind.channel_keys)
        channel_scales_.resize(static_cast<std::size_t>(shape.streams()) *
                               static_cast<std::size_t>(shape.key_dim));
}

Bytes KvCache::allocated() const {
    return Bytes(static_cast<std::int64_t>(arena_.bytes() + 2 * channel_scales_.capacity()));
}

memory::PageTable& KvCache::table(SequenceId sequence) {
    return const_cast<memory::PageTable&>(std::as_const(*this).table(sequence));
}
const memory::PageTable& KvCache::table(SequenceId sequence) const {
    const auto i = static_cast<std::size_t>(sequence);
    if (sequence < 0 || i >= slots_.size() || !slots_[i].used)
        throw Error("kv cache", "sequence " + std::to_string(sequence), "one that add() or fork() returned");
    return slots_[i].table;
}

SequenceId KvCache::add() {
    const auto slot = std::find_if(slots_.begin(), slots_.end(), [](const Slot& s) { return !s.used; });
    if (slot == slots_.end())
        throw Error("kv cache", "one sequence more than " + std::to_string(slots_.size()),
                    "as many as the cache was made for");
    slot->used = true;
    slot->table = {};
    return static_cast<SequenceId>(slot - slots_.begin());
}

void KvCache::remove(SequenceId sequence) {
    end(sequence);
    slots_[static_cast<std::size_t>(sequence)] = {};
}

std::int64_t KvCache::stream_of(std::int64_t layer, std::int64_t head) const {
    if (layer < 0 || layer >= shape_.layers || head < 0 || head >= shape_.kv_heads)
        throw Error(
            "kv cache", "layer " + std::to_string(layer) + ", head " + std::to_string(head),
            std::to_string(shape_.layers) + " layers of " + std::to_string(shape_.kv_heads) + " heads");
    return layer * shape_.kv_heads + head;
}

void KvCache::learn_channels(std::int64_t stream, std::int64_t n, const float* keys, std::int64_t stride) {
    const auto dim = static_cast<std::size_t>(shape_.key_dim);
    std::uint16_t* scales = channel_scales_.data() + static_cast<std::size_t>(stream) * dim;
    if (scales[0] != 0) return;
    // A channel's scale is its largest magnitude so far, but never below the mean of all channels': only
    // channels that stand out are brought down, and one that was small by chance cannot blow up later.
    std::vector<float> most(dim);
    float mean = 0;
    for (std::size_t d = 0; d < dim; ++d) {
        for (std::int64_t i = 0; i < n; ++i)
            most[d] = std::max(most[d], std::fabs(keys[i * stride + static_cast<std::int64_t>(d)]));
        mean += most[d] / static_cast<float>(dim);
    }
    for (std::size_t d = 0; d < dim; ++d) {
        const float scale = std::clamp(std::max(most[d], mean), 0x1p-14f, 65504.0f);
        scales[d] = quantize::f32_to_f16(std::isfinite(scale) ? scale : 1.0f);
    }
}

void KvCache::store(SequenceId sequence, std::int64_t layer, std::int64_t head, std::int64_t first,
                    std::int64_t n, const float* keys, std::int64_t key_stride, const float* values,
                    std::int64_t value_stride) {
    const std::int64_t stream = stream_of(layer, head);
    const memory::PageTable& t = table(sequence);
    if (first < 0 || n < 0 || first + n > t.tokens)
        throw Error("kv cache", "tokens " + std::to_string(first) + " to " + std::to_string(first + n),
                    "within the " + std::to_string(t.tokens) + " of the sequence");
    const auto key_dim = static_cast<std::size_t>(shape_.key_dim);
    const auto value_dim = static_cast<std::size_t>(shape_.value_dim);
    float scaled[kHighestHeadDim], inverse[kHighestHeadDim];
    if (shape_.kind.channel_keys && n > 0) {
        learn_channels(stream, n, keys, key_stride);
        for (std::size_t d = 0; d < key_dim; ++d)
            inverse[d] =
                1 / quantize::f16_to_f32(channel_scales_[static_cast<std::size_t>(stream) * key_dim + d]);
    }
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t token = first + i;
        const memory::PageId block = t.pages[static_cast<std::size_t>(token / kPageTokens)];
        if (block == memory::kNoPage)
            throw Error("kv cache", "token " + std::to_string(token), "one inside the window");
        const float* key = keys + i * key_stride;
        if (shape_.kind.channel_keys) {
            for (std::size_t d = 0; d < key_dim; ++d) scaled[d] = key[d] * inverse[d];
            key = scaled;
        }
        store_token(layout_, arena_.page(stream, block), static_cast<int>(token % kPageTokens),
                    {key, key_dim}, {values + i * value_stride, value_dim});
    }
}

void KvCache::pages(SequenceId sequence, std::int64_t layer, std::int64_t head, std::int64_t position,
                    std::vector<PageRef>& into) const {
    const std::int64_t stream = stream_of(layer, head);
    const memory::PageTable& t = table(sequence);
    if (position < 0 || position >= t.tokens)
        throw Error("kv cache", "a query at " + std::to_string(position),
                    "0 to " + std::to_string(t.tokens - 1));
    into.clear();
    const auto add = [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t b = from / kPageTokens; b * kPageTokens < to; ++b) {
            const memory::PageId block = t.pages[static_cast<std::size_t>(b)];
            if (block == memory::kNoPage)
                throw Error("kv cache", "block " + std::to_string(b), "one that the window still holds");
            const std::int64_t start = b * kPageTokens;
            into.push_back({reinterpret_cast<const std::uint8_t*>(arena_.page(stream, block)),
                            static_cast<int>(std::max<std::int64_t>(from - start, 0)),
                            static_cast<int>(std::min<std::int64_t>(to - start, kPageTokens))});
        }
    };
    const std::int64_t end = position + 1;
    const std::int64_t begin = shape_.window > 0 ? std::max<std::int64_t>(end - shape_.window, 0) : 0;
    if (begin > shape_.sinks) {
        if (shape_.sinks > 0) add(0, shape_.sinks);
        add(begin, end);
    } else {
        add(0, end);
    }
}

void KvCache::fold_channel_scales(std::int64_t layer, std::int64_t head, std::span<float> query) const {
    if (!shape_.kind.channel_keys) return;
    const auto dim = static_cast<std::size_t>(shape_.key_dim);
    const std::uint16_t* scales =
        channel_scales_.data() + static_cast<std::size_t>(stream_of(layer, head)) * dim;
    for (std::size_t i = 0; i < query.size(); ++i) query[i] *= quantize::f16_to_f32(scales[i % dim]);
}

}  // namespace memwall::kernels
