// What a row of the KV cache takes: all K (or V) heads of one token in one layer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/units.h"

namespace memwall::quant {

/// A row of the table of KV types.
struct KvType {
    std::string_view name;
    std::int32_t block_len;    ///< values a block
    std::int32_t block_bytes;  ///< bytes a block, its scales included
    std::int32_t head_bytes;   ///< once a token and head: the scale of the integer types
    /// Once a channel for the whole cache, whatever its length: see kv_channel_bytes.
    std::int32_t channel_bytes;
    bool operator==(const KvType&) const = default;
};

/// f32 f16 bf16 fp8, llama.cpp's block formats q8_0 q5_1 q5_0 q4_1 q4_0 iq4_nl, and int8 int4 int8-channel.
std::span<const KvType> kv_types();

/// In any case; nullopt if unknown.
std::optional<KvType> parse_kv_type(std::string_view name);

/// Bytes of `kv_heads` x `head_dim` values: blocks run over the whole row, int8 and int4 add a 2-byte scale a
/// head. For a latent cache (MLA) kv_heads = 1 and head_dim = latent rank (+ rope part).
/// Throws Error (place "--kv") when head_dim does not divide into blocks, as the engine refuses it.
Bytes kv_row_bytes(const KvType& type, std::int64_t kv_heads, std::int64_t head_dim);

/// Bytes of the scales that a cache keeps once for all its tokens: 2 a channel for int8-channel, else 0.
Bytes kv_channel_bytes(const KvType& type, std::int64_t kv_heads, std::int64_t head_dim);

}  // namespace memwall::quant
