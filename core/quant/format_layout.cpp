#include "core/quant/format_layout.h"

#include <algorithm>

namespace memwall::quant {
namespace {

template <class... Bits>
constexpr std::uint64_t widths(Bits... bits) {
    return ((std::uint64_t{1} << bits) | ...);
}

// Tensors of a quantized linear layer as each family's own files store them (safetensors, .pte, Core ML and
// QNN packages). Sources: the layouts of AutoGPTQ/GPTQModel and AutoAWQ as exported by intel/auto-round;
// bitsandbytes state dicts; DeepSeek-V3 README_WEIGHTS; compressed-tensors; mobiusml/hqq; exllamav2 and
// exllamav3 loaders; mlx.core.quantize; coremltools palettization guide; QNN encodings; ExecuTorch's Llama
// export (its published .pte sizes need 4-byte scales).
// clang-format off
constexpr Layout kLayouts[] = {
    {.family = Family::gptq, .name = "gptq-#bit[-@g|-nogroup]", .whole_bits = widths(2, 3, 4, 8),
     .group = 128, .scale_bits = 16, .zero_code = true, .input_bytes = 4, .in_multiple = 32,
     .out_multiple = 32},
    {.family = Family::awq, .name = "awq-#bit[-@g]", .whole_bits = widths(4), .group = 128,
     .scale_bits = 16, .zero_code = true, .out_multiple = 8, .whole_groups = true},
    // 16 f32 code points a matrix; blocks of the flattened weight, so rows may share one.
    {.family = Family::bnb4, .name = "bnb-nf4", .whole_bits = widths(4), .group = 64, .span = Span::flat,
     .scale_bits = 32, .matrix_bytes = 64},
    // Absmax in 8 bits, with an f32 absmax per 256 of those and a second table of 256 code points.
    {.family = Family::bnb4_double, .name = "bnb-nf4-dq", .whole_bits = widths(4), .group = 64,
     .span = Span::flat, .scale_bits = 8, .matrix_bytes = 64 + 1024},
    {.family = Family::bnb8, .name = "bnb-int8", .whole_bits = widths(8), .output_bytes = 4},
    // Weight and static input scale.
    {.family = Family::fp8_tensor, .name = "fp8-tensor", .whole_bits = widths(8), .matrix_bytes = 8},
    {.family = Family::fp8_channel, .name = "fp8-channel", .whole_bits = widths(8), .output_bytes = 4},
    {.family = Family::fp8_block, .name = "fp8-block128", .whole_bits = widths(8), .group = 128,
     .span = Span::square, .scale_bits = 32},
    // The shape as two int64.
    {.family = Family::packed_int, .name = "w#a16[-g@]", .whole_bits = widths(4, 8), .scale_bits = 16,
     .matrix_bytes = 16, .whole_groups = true},
    {.family = Family::int_channel, .name = "int#-channel", .whole_bits = widths(4, 8), .output_bytes = 2},
    {.family = Family::int_tensor, .name = "int#-tensor", .whole_bits = widths(4, 8), .matrix_bytes = 4},
    // E4M3 scales and two f32 a matrix.
    {.family = Family::nvfp4, .name = "nvfp4-pack", .whole_bits = widths(4), .group = 16, .scale_bits = 8,
     .matrix_bytes = 8, .whole_groups = true},
    {.family = Family::mxfp4, .name = "mxfp4-pack", .whole_bits = widths(4), .group = 32, .scale_bits = 8,
     .whole_groups = true},
    {.family = Family::hqq, .name = "hqq-#bit[-@g]", .whole_bits = widths(1, 2, 3, 4, 8), .group = 64,
     .span = Span::flat, .scale_bits = 32},
    {.family = Family::hqq_int_zero, .name = "hqq-#bit-int-zero[-@g]", .whole_bits = widths(1, 2, 3, 4, 8),
     .group = 64, .span = Span::flat, .scale_bits = 24, .matrix_bytes = 4},
    {.family = Family::exl2, .name = "exl2-#", .group = 32, .scale_bits = 4, .group_bytes = 6,
     .input_bytes = 4, .in_multiple = 32, .out_multiple = 8},
    {.family = Family::exl3, .name = "exl3-#", .input_bytes = 2, .output_bytes = 2, .matrix_bytes = 4,
     .in_multiple = 128, .out_multiple = 128},
    {.family = Family::mlx, .name = "mlx-#bit[-@g]", .whole_bits = widths(2, 3, 4, 5, 6, 8), .group = 64,
     .scale_bits = 32, .whole_groups = true},
    {.family = Family::executorch_group, .name = "8da#w[-g@]", .whole_bits = widths(4, 8), .group = 32,
     .scale_bits = 32, .whole_groups = true},
    {.family = Family::sparse24, .name = "sparse24-#bit", .whole_bits = widths(4, 8, 16), .in_multiple = 4},
    {.family = Family::raw, .name = "raw-#bit", .whole_bits = widths(1, 2, 3, 4, 5, 6, 8, 16, 32)},
    {.family = Family::int_group, .name = "int#-g@", .whole_bits = widths(4, 8), .group = 32,
     .scale_bits = 16, .whole_groups = true},
    {.family = Family::palette, .name = "palette-#bit[-c@]", .whole_bits = widths(1, 2, 3, 4, 6, 8)},
    {.family = Family::qnn_channel, .name = "qnn-int#", .whole_bits = widths(4, 8), .output_bytes = 8},
    {.family = Family::qnn_block, .name = "qnn-block#[-g@]", .whole_bits = widths(4), .group = 64,
     .scale_bits = 8, .output_bytes = 8},
};
// clang-format on

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return a / b + (a % b != 0);
}

/// ceil(count x milli_bits / 8000) without overflow for counts up to 2^56 and 64 bits.
constexpr std::int64_t bits_to_bytes(std::int64_t count, std::int64_t milli_bits) {
    return count / 8000 * milli_bits + ceil_div(count % 8000 * milli_bits, 8000);
}

std::int64_t code_bytes(Format format, std::int64_t values) {
    const bool hqq = format.family == Family::hqq || format.family == Family::hqq_int_zero;
    if (hqq && format.milli_bits == 3000) return ceil_div(values, 10) * 4;  // ten codes an int32
    // Half of the values, and two bits of position for each of them.
    if (format.family == Family::sparse24) return bits_to_bytes(values, format.milli_bits / 2 + 1000);
    return bits_to_bytes(values, format.milli_bits);
}

}  // namespace

std::span<const Layout> layouts() {
    return kLayouts;
}

const Layout* find_layout(Family family) {
    const auto it = std::find_if(std::begin(kLayouts), std::end(kLayouts),
                                 [&](const Layout& l) { return l.family == family; });
    return it == std::end(kLayouts) ? nullptr : it;
}

std::int64_t group_length(const Layout& layout, Format format, std::int64_t in) {
    const std::int32_t group = format.group != 0 ? format.group : layout.group;
    return group > 0 ? group : std::max<std::int64_t>(in, 1);
}

std::int64_t matrix_bytes(const Layout& layout, Format format, std::int64_t in, std::int64_t out) {
    const std::int64_t group = group_length(layout, format, in);
    const std::int64_t values = in * out;
    const std::int64_t input_groups = ceil_div(in, group);
    const std::int64_t groups = layout.span == Span::row    ? input_groups * out
                                : layout.span == Span::flat ? ceil_div(values, group)
                                                            : input_groups * ceil_div(out, group);
    const int scale_bits = layout.scale_bits + (layout.zero_code ? format.milli_bits / 1000 : 0);
    std::int64_t bytes = code_bytes(format, values) + bits_to_bytes(groups, scale_bits * 1000) +
                         input_groups * layout.group_bytes + in * layout.input_bytes +
                         out * layout.output_bytes + layout.matrix_bytes;
    if (format.family == Family::bnb4_double) bytes += ceil_div(groups, 256) * 4;
    if (format.family == Family::palette) {
        const std::int64_t tables = format.group > 0 ? ceil_div(out, format.group) : 1;
        bytes += tables * 2 * (std::int64_t{1} << (format.milli_bits / 1000));  // f16 entries
    }
    return bytes;
}

}  // namespace memwall::quant
