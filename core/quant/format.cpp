#include "core/quant/format.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"

namespace memwall::quant {
namespace {

// name, id in GGUF files, values a block, bytes a block, usable for KV.
constexpr BlockFormat kBlockFormats[] = {
    {"F32", 0, 1, 4, true},        {"F16", 1, 1, 2, true},          {"BF16", 30, 1, 2, true},
    {"F64", 28, 1, 8, false},      {"I8", 24, 1, 1, false},         {"I16", 25, 1, 2, false},
    {"I32", 26, 1, 4, false},      {"I64", 27, 1, 8, false},        {"Q4_0", 2, 32, 18, true},
    {"Q4_1", 3, 32, 20, true},     {"Q5_0", 6, 32, 22, true},       {"Q5_1", 7, 32, 24, true},
    {"Q8_0", 8, 32, 34, true},     {"Q8_1", 9, 32, 36, false},      {"Q2_K", 10, 256, 84, false},
    {"Q3_K", 11, 256, 110, false}, {"Q4_K", 12, 256, 144, false},   {"Q5_K", 13, 256, 176, false},
    {"Q6_K", 14, 256, 210, false}, {"Q8_K", 15, 256, 292, false},   {"IQ1_S", 19, 256, 50, false},
    {"IQ1_M", 29, 256, 56, false}, {"IQ2_XXS", 16, 256, 66, false}, {"IQ2_XS", 17, 256, 74, false},
    {"IQ2_S", 22, 256, 82, false}, {"IQ3_XXS", 18, 256, 98, false}, {"IQ3_S", 21, 256, 110, false},
    {"IQ4_NL", 20, 32, 18, true},  {"IQ4_XS", 23, 256, 136, false}, {"TQ1_0", 34, 256, 54, false},
    {"TQ2_0", 35, 256, 66, false}, {"MXFP4", 39, 32, 17, false},    {"NVFP4", 40, 64, 36, false},
    {"Q1_0", 41, 128, 18, false},  {"Q2_0", 42, 64, 18, false},
};

constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;

}  // namespace

std::span<const BlockFormat> block_formats() {
    return kBlockFormats;
}

const BlockFormat* find_block_format(std::uint32_t ggml_type) {
    for (const BlockFormat& f : kBlockFormats)
        if (f.ggml_type == ggml_type) return &f;
    return nullptr;
}

Format ggml(std::string_view name) {
    for (const BlockFormat& f : kBlockFormats)
        if (f.name == name)
            return {.family = Family::ggml, .ggml_type = f.ggml_type, .milli_bits = 0, .group = 0};
    throw Error("", fmt::format("unknown block format '{}'", name), "a ggml type such as Q4_K or F16");
}

std::optional<Format> parse_format(std::string_view name) {
    for (const BlockFormat& f : kBlockFormats)
        if (f.name == name) return ggml(name);
    return std::nullopt;
}

std::string format_name(Format format) {
    if (format.family != Family::ggml) return "unknown";
    const BlockFormat* f = find_block_format(format.ggml_type);
    return f ? std::string(f->name) : fmt::format("type {}", format.ggml_type);
}

Bytes tensor_bytes(Format format, const std::array<std::int64_t, 4>& dims) {
    std::int64_t rows = 1;
    for (std::size_t i = 1; i < dims.size(); ++i) {
        if (dims[i] < 0 || (dims[i] > 0 && rows > kMaxElements / dims[i]))
            throw Error(
                "", fmt::format("a tensor of {} x {} x {} x {} values", dims[0], dims[1], dims[2], dims[3]),
                "at most 2^56 values");
        rows *= dims[i];
    }
    const BlockFormat* f = format.family == Family::ggml ? find_block_format(format.ggml_type) : nullptr;
    if (!f) throw Error("", fmt::format("no size rule for format {}", format_name(format)));
    if (dims[0] < 0 || dims[0] % f->block_len != 0)
        throw Error("", fmt::format("a row of {} values in {}", dims[0], f->name),
                    fmt::format("a multiple of {}", f->block_len));
    const std::int64_t row = dims[0] / f->block_len * f->block_bytes;
    if (rows > 0 && row > (std::int64_t{1} << 62) / rows)
        throw Error("", fmt::format("a tensor of {} rows of {} bytes", rows, row), "less than 2^62 bytes");
    return Bytes(row * rows);
}

double bits_per_weight(Format format) {
    return tensor_bytes(format, {4096, 4096, 1, 1}).as_double() * 8 / (4096.0 * 4096.0);
}

}  // namespace memwall::quant
