// Block formats as code: one table that encodes and decodes a block of each. Names, lengths and bytes are
// those of core/quant/format.h; this adds what the bytes mean.
//
// Layouts: ggml's block structures, snapshot d99724f2 (2026-08-21), little-endian. Decoding follows the order
// of ggml's own float operations, so it yields the same bits. FP4 formats: OCP Microscaling 1.0 (MXFP4) and
// ggml's NVFP4. NF4: bitsandbytes' codes and thresholds (nf4.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/quant/format.h"

namespace memwall::quantize {

/// A row of the table. All values must be finite; scales beyond f16 saturate.
struct BlockCodec {
    std::string_view name;  ///< "Q4_K", as in core/quant; "NF4"
    int block_len;
    int block_bytes;
    /// One block. `weights` says how much the square of each error counts; null = all alike. Formats that
    /// store the plain rounding of a fixed scale ignore it. Null for formats that are only read.
    void (*encode)(const float* x, const float* weights, std::byte* out);
    void (*decode)(const std::byte* in, float* out);
    /// Factor that a whole tensor is divided by before encoding, from its largest magnitude; null = 1.
    float (*tensor_scale)(float largest) = nullptr;
};

std::span<const BlockCodec> block_codecs();
/// nullptr where we have no code for the format. Names match in any case.
const BlockCodec* find_codec(std::string_view name);
const BlockCodec* find_codec(quant::Format format);

/// Bytes of `values` values, which must be a multiple of the block.
std::size_t encoded_bytes(const BlockCodec& codec, std::size_t values);
/// Whole blocks. Throws Error when x is no multiple of the block; `out` holds encoded_bytes(). `weights` is
/// empty or as long as x.
void encode(const BlockCodec& codec, std::span<const float> x, std::span<std::byte> out,
            std::span<const float> weights = {});
/// The inverse. Throws Error when the lengths do not belong together.
void decode(const BlockCodec& codec, std::span<const std::byte> in, std::span<float> out);

}  // namespace memwall::quantize
