// Storage formats: how many bytes a row, a matrix or a stack of matrices takes. Two tables, no model names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/units.h"

namespace memwall::quant {

/// Families of storage. `ggml` formats come from the block table; the others are given by bits and group
/// size (format_layout.cpp has one row for each).
enum class Family : std::uint8_t {
    unknown,
    ggml,  ///< block of `block_len` values in `block_bytes`; covers F32, F16, BF16 and the integers too
    gptq,  ///< qweight + qzeros + scales + g_idx
    awq,   ///< qweight + qzeros + scales
    bnb4,  ///< bitsandbytes NF4/FP4, f32 absmax per 64
    bnb4_double,  ///< the same with quantized absmax
    bnb8,         ///< LLM.int8()
    fp8_tensor,
    fp8_channel,
    fp8_block,    ///< 128 x 128 blocks with an f32 scale
    packed_int,   ///< compressed-tensors W4A16 / W8A16 group-wise or per channel
    int_channel,  ///< int8/int4 values and one 2-byte scale an output channel
    int_tensor,   ///< int8/int4 values and one scale a tensor
    nvfp4,
    mxfp4,
    hqq,
    exl2,
    exl3,
    mlx,               ///< affine, f16 scale and bias a group
    executorch_group,  ///< 8da4w: f32 scale a group
    sparse24,          ///< 2:4: half the values and 2-bit indices
    raw,               ///< `bits` a value, no scales
    int_group,         ///< int4/int8 values and one f16 scale a group (Core ML blockwise)
    hqq_int_zero,      ///< HQQ with 8-bit zero points
    palette,           ///< Core ML look-up table; group = output channels a table, 0 = one table
    qnn_channel,       ///< int8/int4 values, 4-byte scale and offset an output channel
    qnn_block,         ///< the same with one-byte multipliers a block of inputs (LPBQ)
};

/// One storage format. A small value: compare and copy freely.
struct Format {
    Family family = Family::unknown;
    std::uint8_t ggml_type = 0;    ///< Family::ggml: the id in GGUF files
    std::uint16_t milli_bits = 0;  ///< thousandths of a bit a value for parametric families (4000 = 4 bit)
    std::int32_t group = 0;  ///< values a scale; 0 = per channel or not applicable, -1 = one group a column
    bool operator==(const Format&) const = default;
};

/// A row of the ggml table.
struct BlockFormat {
    std::string_view name;  ///< as the engine prints it: "Q4_K"
    std::uint8_t ggml_type;
    std::int32_t block_len;
    std::int32_t block_bytes;
    std::int32_t row_bytes = 0;  ///< once a row, before its blocks
    bool fork = false;           ///< only ik_llama.cpp reads it
};

/// All ggml types that can occur in a GGUF file of llama.cpp. Sizes: block structures of ggml, snapshot
/// d99724f2 (2026-08-21).
std::span<const BlockFormat> block_formats();
/// Types of ik_llama.cpp, snapshot 8337e4cd: rows of `row_bytes` and blocks. Mainline cannot read them.
std::span<const BlockFormat> fork_block_formats();
/// From either table; nullptr for ids that were removed or never published.
const BlockFormat* find_block_format(std::uint32_t ggml_type);

Format ggml(std::string_view name);  ///< throws Error for an unknown name; exact spelling
/// "Q4_K", "gptq-4bit-128g", "fp8-block128", ... in any case; nullopt if unknown.
std::optional<Format> parse_format(std::string_view name);
std::string format_name(Format format);

/// Whether a tensor of that shape can be stored so: its rows divide into blocks or groups, and its sides suit
/// the family's packing.
bool fits(Format format, const std::array<std::int64_t, 4>& dims);
/// Bytes of a tensor whose rows have dims[0] values (GGUF order; dims[0] = inputs, dims[1] = outputs, further
/// dims stack matrices), scales and index tensors included. Throws Error when it does not fit (see fits), has
/// more than 2^56 values or a negative side.
Bytes tensor_bytes(Format format, const std::array<std::int64_t, 4>& dims);
/// bytes x 8 / values for a 4096 x 4096 matrix.
double bits_per_weight(Format format);

}  // namespace memwall::quant
