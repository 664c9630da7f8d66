// The rule table of llama_cpp_recipe.cpp: category of a tensor, file types, conditions, format.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/quant/llama_cpp_recipe.h"

namespace memwall::quant {

/// What the quantizer takes a tensor for; bits, so that a rule can name several.
enum Category : std::uint16_t {
    kOutput = 1 << 0,  ///< output.weight, and token_embd when there is none
    kEmbedding = 1 << 1,
    kAttnV = 1 << 2,  ///< attn_v, fused attn_qkv and the latent attn_kv_b
    kAttnK = 1 << 3,
    kAttnQ = 1 << 4,
    kAttnOutput = 1 << 5,
    kFfnDown = 1 << 6,  ///< of experts and shared experts too
    kFfnUp = 1 << 7,
    kFfnGate = 1 << 8,
    kOther = 1 << 9,
    kAnyCategory = (1 << 10) - 1,
};

/// What may be true of a tensor; a rule holds when all that it asks for is true.
enum Condition : std::uint16_t {
    kAlways = 0,
    kGqa4 = 1 << 0,  ///< at least 4 query heads a KV head
    kExperts4 = 1 << 1,
    kExperts8 = 1 << 2,  ///< exactly 8
    kImatrix = 1 << 3,
    kNoImatrix = 1 << 4,
    kFalcon = 1 << 5,
    kNotFalcon = 1 << 6,
    kMoreBits = 1 << 7,  ///< first and last eighth of the layers, and every third between
    kFirstEighth = 1 << 8,
    kFirstSixteenth = 1 << 9,
    kMiddle = 1 << 10,  ///< neither the first nor the last eighth
    kFirst2 = 1 << 11,
    kFirst4 = 1 << 12,
    kRagged = 1 << 13,   ///< rows do not divide into blocks of the default type
    kStacked = 1 << 14,  ///< more than one matrix: experts
};

using Conditions = std::uint16_t;

/// Format of the first rule that holds, nullopt where the default type stays.
std::optional<Format> find_rule(FileTypeId type, Category category, Conditions conditions);

/// IQ1 and IQ2 types have a branch of their own: layers are always counted, 70B models get nothing extra.
bool is_low_bit(FileTypeId type);

/// The quantizer's substitute for `wanted` when rows of `row` values do not divide into its blocks.
/// Throws Error for types that have none.
Format shape_fallback(Format wanted, std::int64_t row);

}  // namespace memwall::quant
