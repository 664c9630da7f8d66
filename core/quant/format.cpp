#include "core/quant/format.h"

#include <fmt/format.h>

#include <bit>

#include "core/base/error.h"
#include "core/quant/format_layout.h"
#include "core/quant/name_pattern.h"

namespace memwall::quant {
namespace {

// name, id in GGUF files, values a block, bytes a block.
constexpr BlockFormat kBlockFormats[] = {
    {"F32", 0, 1, 4},         {"F16", 1, 1, 2},         {"BF16", 30, 1, 2},       {"F64", 28, 1, 8},
    {"I8", 24, 1, 1},         {"I16", 25, 1, 2},        {"I32", 26, 1, 4},        {"I64", 27, 1, 8},
    {"Q4_0", 2, 32, 18},      {"Q4_1", 3, 32, 20},      {"Q5_0", 6, 32, 22},      {"Q5_1", 7, 32, 24},
    {"Q8_0", 8, 32, 34},      {"Q8_1", 9, 32, 36},      {"Q2_K", 10, 256, 84},    {"Q3_K", 11, 256, 110},
    {"Q4_K", 12, 256, 144},   {"Q5_K", 13, 256, 176},   {"Q6_K", 14, 256, 210},   {"Q8_K", 15, 256, 292},
    {"IQ1_S", 19, 256, 50},   {"IQ1_M", 29, 256, 56},   {"IQ2_XXS", 16, 256, 66}, {"IQ2_XS", 17, 256, 74},
    {"IQ2_S", 22, 256, 82},   {"IQ3_XXS", 18, 256, 98}, {"IQ3_S", 21, 256, 110},  {"IQ4_NL", 20, 32, 18},
    {"IQ4_XS", 23, 256, 136}, {"TQ1_0", 34, 256, 54},   {"TQ2_0", 35, 256, 66},   {"MXFP4", 39, 32, 17},
    {"NVFP4", 40, 64, 36},    {"Q1_0", 41, 128, 18},    {"Q2_0", 42, 64, 18},
};

// ... and bytes a row.
constexpr BlockFormat kForkBlockFormats[] = {
    {"Q6_0", 133, 32, 26, 0, true},      {"IQ1_BN", 134, 64, 13, 2, true},
    {"IQ2_BN", 135, 64, 16, 4, true},    {"IQ2_K", 137, 256, 76, 0, true},
    {"IQ3_K", 138, 256, 110, 0, true},   {"IQ4_K", 139, 256, 144, 0, true},
    {"IQ5_K", 140, 256, 176, 0, true},   {"IQ6_K", 141, 256, 212, 0, true},
    {"IQ4_KS", 144, 256, 136, 4, true},  {"IQ2_KS", 145, 256, 70, 2, true},
    {"IQ4_KSS", 146, 256, 128, 4, true}, {"Q8_KV", 151, 32, 32, 8, true},
    {"IQ5_KS", 152, 256, 168, 4, true},  {"IQ2_KT", 153, 256, 68, 4, true},
    {"IQ3_KT", 154, 256, 100, 4, true},  {"IQ4_KT", 155, 256, 128, 4, true},
    {"IQ3_KS", 156, 256, 102, 2, true},  {"IQ2_KL", 157, 256, 86, 2, true},
    {"IQ1_KT", 158, 256, 56, 4, true},
};

/// Row of a type id, -1 where there is none; ids above 127 are the fork's.
constexpr auto kRowOfType = [] {
    std::array<std::int8_t, 256> rows{};
    rows.fill(-1);
    std::int8_t row = 0;
    for (const BlockFormat& f : kBlockFormats) rows[f.ggml_type] = row++;
    row = 0;
    for (const BlockFormat& f : kForkBlockFormats) rows[f.ggml_type] = row++;
    return rows;
}();

constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;

std::string dims_text(const std::array<std::int64_t, 4>& dims) {
    return fmt::format("{} x {} x {} x {}", dims[0], dims[1], dims[2], dims[3]);
}

/// Product of the sides. Throws Error above 2^56 or for a negative side.
std::int64_t checked_elements(const std::array<std::int64_t, 4>& dims) {
    std::int64_t elements = 1;
    for (const std::int64_t d : dims) {
        if (d < 0 || (d > 0 && elements > kMaxElements / d))
            throw Error("", fmt::format("a tensor of {} values", dims_text(dims)), "at most 2^56 values");
        elements *= d;
    }
    return elements;
}

/// What the sides of a tensor must be multiples of; nullopt for a format without a size rule.
struct Multiples {
    std::int64_t in, out;
};

std::optional<Multiples> required_multiples(Format format, std::int64_t in) {
    if (format.family == Family::ggml) {
        const BlockFormat* f = find_block_format(format.ggml_type);
        if (!f) return std::nullopt;
        return Multiples{f->block_len, 1};
    }
    const Layout* layout = find_layout(format.family);
    if (!layout || format.milli_bits == 0) return std::nullopt;
    return Multiples{layout->whole_groups ? group_length(*layout, format, in) : layout->in_multiple,
                     layout->out_multiple};
}

bool divides(const Multiples& m, const std::array<std::int64_t, 4>& dims) {
    return dims[0] % m.in == 0 && dims[1] % m.out == 0;
}

}  // namespace

std::span<const BlockFormat> block_formats() {
    return kBlockFormats;
}

std::span<const BlockFormat> fork_block_formats() {
    return kForkBlockFormats;
}

const BlockFormat* find_block_format(std::uint32_t ggml_type) {
    if (ggml_type >= kRowOfType.size() || kRowOfType[ggml_type] < 0) return nullptr;
    const auto row = static_cast<std::size_t>(kRowOfType[ggml_type]);
    return ggml_type < 128 ? &kBlockFormats[row] : &kForkBlockFormats[row];
}

Format ggml(std::string_view name) {
    for (const auto table : {block_formats(), fork_block_formats()})
        for (const BlockFormat& f : table)
            if (f.name == name)
                return {.family = Family::ggml, .ggml_type = f.ggml_type, .milli_bits = 0, .group = 0};
    throw Error("", fmt::format("unknown block format '{}'", name), "a ggml type such as Q4_K or F16");
}

std::optional<Format> parse_format(std::string_view name) {
    for (const auto table : {block_formats(), fork_block_formats()})
        for (const BlockFormat& f : table)
            if (match_name(f.name, name)) return ggml(f.name);
    for (const Layout& layout : layouts()) {
        const auto fields = match_name(layout.name, name);
        if (!fields) continue;
        const bool named_bits = layout.name.find('#') != std::string_view::npos;
        Format format{.family = layout.family, .ggml_type = 0, .milli_bits = fields->milli_bits, .group = 0};
        if (!named_bits)
            format.milli_bits = static_cast<std::uint16_t>(std::countr_zero(layout.whole_bits) * 1000);
        if (format.milli_bits == 0) return std::nullopt;
        const bool whole = format.milli_bits % 1000 == 0;
        if (layout.whole_bits != 0 && (!whole || !(layout.whole_bits >> (format.milli_bits / 1000) & 1)))
            return std::nullopt;
        format.group = fields->group != 0 ? fields->group : layout.group;
        return format;
    }
    return std::nullopt;
}

std::string format_name(Format format) {
    if (format.family == Family::ggml) {
        const BlockFormat* f = find_block_format(format.ggml_type);
        return f ? std::string(f->name) : fmt::format("type {}", format.ggml_type);
    }
    const Layout* layout = find_layout(format.family);
    return layout ? fill_name(layout->name, {format.milli_bits, format.group}) : "unknown";
}

bool fits(Format format, const std::array<std::int64_t, 4>& dims) {
    const auto multiples = required_multiples(format, dims[0]);
    return multiples && divides(*multiples, dims);
}

Bytes tensor_bytes(Format format, const std::array<std::int64_t, 4>& dims) {
    const std::int64_t elements = checked_elements(dims);
    const auto multiples = required_multiples(format, dims[0]);
    if (!multiples) throw Error("", fmt::format("no size rule for format '{}'", format_name(format)));
    if (!divides(*multiples, dims))
        throw Error(
            "", fmt::format("a tensor of {} values in {}", dims_text(dims), format_name(format)),
            fmt::format("rows of a multiple of {} and a multiple of {} rows", multiples->in, multiples->out));
    if (elements == 0) return Bytes(0);
    const std::int64_t stack = dims[2] * dims[3];
    if (format.family != Family::ggml)
        return Bytes(matrix_bytes(*find_layout(format.family), format, dims[0], dims[1]) * stack);
    const BlockFormat& f = *find_block_format(format.ggml_type);
    return Bytes((dims[0] / f.block_len * f.block_bytes + f.row_bytes) * dims[1] * stack);
}

double bits_per_weight(Format format) {
    return tensor_bytes(format, {4096, 4096, 1, 1}).as_double() * 8 / (4096.0 * 4096.0);
}

}  // namespace memwall::quant
