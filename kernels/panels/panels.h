// Weights the way the kernels read them (KERNELS section 3). A panel is 16 rows of a matrix; a line is 64
// bytes and holds for each of the 16 rows the codes of 4 consecutive k (a quad), so that lane r of a vector
// belongs to row r and no kernel adds across lanes. Two quads of 4-bit codes share a line: the even one in
// the low nibbles. Scales stand inside the stream, in front of their block: one stream a thread.
//
//   format   block, in stream order                                                        bits a weight
//   w4g32    64 k: 16 + 16 fp16 scales (one line), 8 lines; value = scale (code - 8)            4.5
//   w4g128   128 k: 16 fp16 scales, 16 u8 zeros, 16 unused bytes (one line), 16 lines;
//            value = scale (code - zero)                                                        4.25
//   q4k      256 k: 16 fp16 d and 16 fp16 dmin (one line), 6-bit steps (three lines), 32 lines;
//            value = d step code - dmin min_step, groups of 32: ggml's Q4_K, same bits          4.5
//   w8       16 k: 4 lines; value = row_scale (code - 128), row scales in an array of their own 8
//   w8g32    64 k: 16 + 16 fp16 scales (one line), 16 lines; value = scale (code - 128)         8.5
//   f16      4 k: 2 lines of 2 x 16 fp16                                                        16
//
// ggml's Q4_0 is w4g32, its Q8_0 is w8g32, its Q4_K is q4k: repacking changes no value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/host/huge_buffer.h"
#include "kernels/panels/formats.h"

namespace memwall::kernels {

struct PanelLayout {
    const char* name;
    PanelFormat format;
    int block;         ///< k a block; k is padded to whole blocks
    int header_lines;  ///< lines of scales in front of a block's codes
    int code_lines;
    int group;           ///< k that share a scale; 0 = the whole row, or no scale (f16)
    int code_bits;       ///< 4, 8 or 16
    int scales_a_block;  ///< fp16 scales a row and block
};

inline constexpr std::array<PanelLayout, 6> kPanelLayouts = {{
    {"w4g32", PanelFormat::w4g32, 64, 1, 8, 32, 4, 2},
    {"w4g128", PanelFormat::w4g128, 128, 1, 16, 128, 4, 1},
    {"q4k", PanelFormat::q4k, 256, 4, 32, 32, 4, 2},
    {"w8", PanelFormat::w8, 16, 0, 4, 0, 8, 0},
    {"w8g32", PanelFormat::w8g32, 64, 1, 16, 32, 8, 2},
    {"f16", PanelFormat::f16, 4, 0, 2, 0, 16, 0},
}};
constexpr const PanelLayout& panel_layout(PanelFormat format) {
    return kPanelLayouts[static_cast<std::size_t>(format)];
}
constexpr std::size_t block_bytes(const PanelLayout& layout) {
    return static_cast<std::size_t>(layout.header_lines + layout.code_lines) * kLineBytes;
}

/// A quantized matrix in plain row-major arrays: what quantizers and files give, and what tests compare.
struct QuantMatrix {
    PanelFormat format = PanelFormat::w8;
    std::int64_t rows = 0, k = 0;
    std::vector<std::uint8_t> codes;    ///< [rows][k], unsigned: w4 0..15, w8 value + 128; empty for f16
    std::vector<std::uint16_t> scales;  ///< fp16 [rows][groups]; q4k: d, dmin a block of 256
    std::vector<std::uint8_t> zeros;    ///< w4g128: [rows][groups], 0..15
    std::vector<std::uint8_t> steps;    ///< q4k: [rows][k/32][2], 6-bit scale and min steps
    std::vector<float> row_scales;      ///< w8: [rows]
    std::vector<std::uint16_t> halves;  ///< f16: [rows][k]
    bool operator==(const QuantMatrix&) const = default;
};

/// Sizes all arrays of `format` for rows x k, zeroed. Throws Error for negative or huge sides (above 2^40
/// values).
QuantMatrix empty_matrix(PanelFormat format, std::int64_t rows, std::int64_t k);
/// The values, [rows][k], as the formats define them: one rounding to float a product, one for the
/// difference.
std::vector<float> dequantize(const QuantMatrix& matrix);
/// Round to nearest of w [rows][k]: symmetric but for w4g128 and q4k. For synthetic weights and tests; the
/// quantizers proper live in kernels/quantize.
QuantMatrix round_to_nearest(PanelFormat format, std::span<const float> w, std::int64_t rows, std::int64_t k);

/// A matrix packed for the kernels.
struct Panels {
    PanelFormat format = PanelFormat::w8;
    std::int64_t rows = 0, k = 0;
    HugeBuffer data;                ///< panels() panels one after the other
    std::vector<float> row_scales;  ///< w8: padded to whole panels

    std::int64_t panels() const { return (rows + kPanelRows - 1) / kPanelRows; }
    std::int64_t blocks() const { return (k + panel_layout(format).block - 1) / panel_layout(format).block; }
    std::size_t panel_bytes() const {
        return static_cast<std::size_t>(blocks()) * block_bytes(panel_layout(format));
    }
    /// Bytes of the stream, padding included.
    std::size_t stream_bytes() const { return static_cast<std::size_t>(panels()) * panel_bytes(); }
};

/// Rows are padded to 16 and k to the block with weights of value 0. Throws Error when the arrays of `matrix`
/// do not have the sizes its format asks for.
Panels pack(const QuantMatrix& matrix);
/// The inverse of pack, padding dropped.
QuantMatrix unpack(const Panels& panels);

}  // namespace memwall::kernels
