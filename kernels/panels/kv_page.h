// A page of a KV cache: 64 tokens of one layer and one KV head, keys and values together, in the panels that
// attention reads (KERNELS section 3). Keys: 4 panels whose 16 rows are tokens and whose k are dims; values:
// value_dim / 16 panels whose rows are dims and whose k are tokens.
//
//   f16    keys [4 panels][dim][16 tokens], values [panel of 16 dims][64 tokens][16 dims]; no scales
//   int8   64 key scales, 64 value scales (fp16), keys [4][dim / 4][16 tokens][4 dims] as value + 128,
//          values [panel][16 quads of tokens][16 dims][4 tokens]
//   int4   the same in nibbles around 8, two quads a line, the even one in the low nibbles
//
// int8 and int4 keep one scale a token for the head's keys and one for its values. Keys quantized per channel
// use the same page: multiply the query by the channel scales and store token scales of 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/panels/formats.h"

namespace memwall::kernels {

struct KvPageLayout {
    KvFormat format = KvFormat::f16;
    int key_dim = 0, value_dim = 0;
    std::size_t scales = 0;            ///< bytes of scales in front: 0 or 256
    std::size_t keys = 0, values = 0;  ///< bytes of each
    std::size_t bytes() const { return scales + keys + values; }
    bool operator==(const KvPageLayout&) const = default;
};

/// Throws Error unless both dims are multiples of 16 from 16 to kHighestHeadDim.
KvPageLayout kv_page_layout(KvFormat format, int key_dim, int value_dim);

/// Writes token 0..63 of a page. `key` and `value` hold key_dim and value_dim floats. Int8 and int4 use the
/// scale max|x| / 127 or / 7, rounded to fp16.
void store_token(const KvPageLayout& layout, std::byte* page, int token, std::span<const float> key,
                 std::span<const float> value);
/// What store_token left of a token.
void load_token(const KvPageLayout& layout, const std::byte* page, int token, std::span<float> key,
                std::span<float> value);
/// Copies the bytes of a token (codes and scales) from one page to another, for copy-on-write and compaction.
void copy_token(const KvPageLayout& layout, const std::byte* from, int from_token, std::byte* to,
                int to_token);

}  // namespace memwall::kernels
